"""O-measure and P+ under ties: blended ratios down to the first relevant, or to the first of the best, documents.

The blended ratio at rank j, as in the Q-measure, is w_j (h_j + β G_j), with h_j relevant documents and the gain G_j at
the ranks 1 … j, and w_j = 1/(j + β C*_j) for the ideal cumulated gain C*_j. O is that at the first relevant document.
P+ is the mean over the relevant documents down to the first document with the highest label of the list.

The weightings of a group are the number of its relevant documents r, and their gain; for P+, these are followed by the
number of documents of each label from 1.
"""
from libc.math cimport INFINITY
from libc.stdint cimport int64_t

cimport tieaware.kernels._expected as _expected
cimport tieaware.kernels._spread as _spread
from tieaware.kernels._exact cimport double_double
from tieaware.kernels._groups cimport Groups
from tieaware.kernels._interruption cimport interrupted
from tieaware.kernels._measure cimport TOO_MANY, Query, first_group, gain_weight

cdef enum:
    # The weightings before the numbers of documents of each label.
    BEFORE_LABELS = 2

# The kernel refuses to compute a value that takes more steps than this, which would last about a second.
cdef double MOST_STEPS = 3e8

# Numbers of documents and places that are less likely than this are left out.
cdef double NEGLIGIBLE = 1e-30


cdef inline double weight_of_rank(const Query* q, int64_t j) noexcept nogil:
    return gain_weight(q.measure.lookup + q.lookup_start, <int64_t>q.norm, q.measure.measure_number, j)


cdef double deviations_of_first(const Query* q, Py_ssize_t g, double center, int power) noexcept nogil:
    """Return the mean of (w - center)^power, with the power 1 or 2, where w is the weight of the first relevant rank.

    The place x of the first relevant document has the probability S_{x-1} r/(n-x+1), S_x = S_{x-1} (n-r-x+1)/(n-x+1).
    Below the cut-off, w counts as 0.
    """
    cdef int64_t t = q.groups.start[g], n = q.groups.size[g], x, m = min(n, q.measure.cutoff - t)
    cdef double r = q.weight[g], part, w, survival = 1.0, total = 0.0
    for x in range(1, min(m, <int64_t>(n - r) + 1) + 1):
        part = survival / (n - x + 1)
        w = weight_of_rank(q, t + x) - center
        total += part * r * (w if power == 1 else w * w)
        survival = part * (n - r - x + 1)
        if survival < NEGLIGIBLE:
            return total
    return total + survival * (-center if power == 1 else center * center)


cdef double mean_of_first(const Query* q) noexcept nogil:
    """Return (1 + β ḡ) E[w], where ḡ is the mean gain of the relevant documents of the first group that has one."""
    cdef Py_ssize_t g = first_group(q)
    cdef double gain
    if g < 0 or q.groups.start[g] >= q.measure.cutoff:
        return 0.0
    gain = q.weight[q.groups.stride + g] / q.weight[g]
    return (1.0 + q.measure.measure_number * gain) * deviations_of_first(q, g, 0.0, 1)


cdef double variance_of_first(const Query* q) noexcept nogil:
    """Return (1 + β ḡ)² Var(w) + β² Var(g) E[w²]: the gain g of the first relevant document does not depend on w."""
    cdef Py_ssize_t g = first_group(q)
    cdef double r, gain, f, mean, beta = q.measure.measure_number
    cdef double_double varied
    if g < 0 or q.groups.start[g] >= q.measure.cutoff:
        return 0.0
    r = q.weight[g]
    gain = q.weight[q.groups.stride + g]
    f = 1.0 + beta * gain / r
    # This is r² times the variance of the gains.
    varied = _spread.sample_deviations(q, q.measure.weighting + 1, g, r)
    mean = deviations_of_first(q, g, 0.0, 1)
    return (f * f * (deviations_of_first(q, g, mean, 2) if r < q.groups.size[g] else 0.0)
            + beta * beta * ((varied.high + varied.low) / r / r) * deviations_of_first(q, g, 0.0, 2))


# The group with the first document of the highest label, and the groups before it.
cdef struct Preferred:
    # The index of the group, or -1 if no document of the list is relevant, and the highest label.
    Py_ssize_t g
    double highest
    # t documents come before the group. It has n documents: `best` have the highest label, `others` have a lower label
    # from 1, and the rest is not relevant.
    int64_t t
    int64_t n
    int64_t best
    int64_t others
    # The mean gain of the others, and the sum of the squared deviations from it.
    double gain
    double deviations
    # The relevant documents of the groups before, and their gain.
    double found
    double cumulated


cdef Preferred preferred_of(const Query* q) noexcept nogil:
    cdef Preferred p
    cdef Py_ssize_t g, label, stride = q.groups.stride
    cdef double r, count
    p.g = -1
    p.highest = p.found = p.cumulated = p.gain = p.deviations = 0.0
    p.t = p.n = p.best = p.others = 0
    for label in range(q.measure.n_weightings - BEFORE_LABELS, 0, -1):
        for g in range(q.groups.count):
            if q.weight[(BEFORE_LABELS + label - 1) * stride + g] > 0.0:
                p.g = g
                break
        if p.g >= 0:
            p.highest = label
            break
    for g in range(p.g):
        p.found += q.weight[g]
        p.cumulated += q.weight[stride + g]
    if p.g >= 0:
        g = p.g
        p.t = q.groups.start[g]
        p.n = q.groups.size[g]
        p.best = <int64_t>q.weight[(BEFORE_LABELS + <Py_ssize_t>p.highest - 1) * stride + g]
        r = q.weight[g] - p.best
        p.others = <int64_t>r
        if r > 0.0:
            p.gain = (q.weight[stride + g] - p.best * p.highest) / r
            for label in range(1, <Py_ssize_t>p.highest):
                count = q.weight[(BEFORE_LABELS + label - 1) * stride + g]
                p.deviations += count * (label - p.gain) * (label - p.gain)
    return p


cdef int64_t size_down_to_preferred(const Query* q, bint spread) noexcept nogil:
    """Return how many weights of slots the variance of the groups before needs."""
    cdef Preferred p = preferred_of(q)
    cdef Groups before = q.groups[0]
    cdef Query of_before = q[0]
    if p.g < 0:
        return 0
    if <double>p.n * (p.others + 1.0) > MOST_STEPS:
        return TOO_MANY
    before.count = p.g
    of_before.groups = &before
    return _spread.size_of_q_measure(&of_before, spread)


# Sums over the slots before the current place: with the index x from 0, of w, w², x w, x w² and x² w², and over pairs
# of slots y < x of w_y w_x and y w_y w_x.
cdef struct SlotSums:
    double w
    double ww
    double xw
    double xww
    double xxww
    double pairs
    double ypairs


cdef inline void add_slot(SlotSums* s, double x, double w) noexcept nogil:
    s.pairs += s.w * w
    s.ypairs += s.xw * w
    s.w += w
    s.ww += w * w
    s.xw += x * w
    s.xww += x * w * w
    s.xxww += x * x * (w * w)


# The mean of a sum over relevant slots, and the mean of its square.
cdef struct Moments:
    double mean
    double square


cdef inline Moments of_relevant(const SlotSums* s, double n, double r, double c) noexcept nogil:
    """Return the moments of Σ_x w_x X_x (c + N_x), if r of the n slots hold relevant documents.

    X_x is 1 if slot x does, else 0, and N_x is the number of relevant documents before slot x. p_i is the probability
    that i given slots all hold relevant documents.
    """
    cdef Moments found
    cdef double p1 = r / n, p2 = p1 * (r - 1.0) / max(n - 1.0, 1.0)
    cdef double p3 = p2 * (r - 2.0) / max(n - 2.0, 1.0), p4 = p3 * (r - 3.0) / max(n - 3.0, 1.0)
    found.mean = c * p1 * s.w + p2 * s.xw
    found.square = (
        c * c * (p1 * s.ww + 2.0 * p2 * s.pairs)
        + 2.0 * c * (p2 * (s.xww + s.pairs) + p3 * (s.w * s.xw - s.xww - s.pairs))
        + p2 * s.xww + p3 * (s.xxww - s.xww + 4.0 * s.ypairs) + p4 * (s.xw * s.xw - s.xxww - 4.0 * s.ypairs)
    )
    return found


cdef inline double of_gains(const SlotSums* s, double n, double r, double last) noexcept nogil:
    """Return the mean of Σ U², where U is the weight of a relevant slot and of all later ones, and of the last rank."""
    cdef double p1 = r / n, p2 = p1 * (r - 1.0) / max(n - 1.0, 1.0), p3 = p2 * (r - 2.0) / max(n - 2.0, 1.0)
    return (p1 * (s.ww + 2.0 * last * s.w + n * last * last) + 2.0 * p2 * (s.pairs + last * s.xw) + p2 * s.xww
            + 2.0 * p3 * s.ypairs)


cdef inline double at_place(const Query* q, const Preferred* p, const SlotSums* s, Moments before, double x, double y,
                            double last, double center, int power) noexcept nogil:
    """Return the mean of (value - center)^power if y of the others are above the first best document, at place x.

    `last` is the weight of this rank. `before` has the mean and the variance of the sum over the groups before.
    """
    cdef double beta = q.measure.measure_number, f = 1.0 + beta * p.gain, count = p.found + 1.0 + y
    cdef double mean = before.mean + last * (count + beta * (p.cumulated + y * p.gain + p.highest))
    cdef double varied = before.square, differences
    cdef Moments found, once
    if y > 0.0:
        found = of_relevant(s, x - 1.0, y, (p.found + 1.0 + beta * (p.cumulated + p.gain)) / f)
        mean += f * found.mean
        if power == 2:
            varied += f * f * max(found.square - found.mean * found.mean, 0.0)
            if p.deviations > 0.0:
                # The deviation of each gain counts at its own rank and at all later relevant ranks.
                once = of_relevant(s, x - 1.0, y, 1.0)
                differences = (of_gains(s, x - 1.0, y, last)
                               - (once.square + 2.0 * y * last * once.mean + y * y * last * last) / p.others)
                varied += beta * beta * p.deviations / max(p.others - 1.0, 1.0) * max(differences, 0.0)
    mean = mean / count - center
    return mean if power == 1 else varied / count / count + mean * mean


cdef double over_places(const Query* q, const Preferred* p, Moments before, double center, int power) noexcept nogil:
    """Return the mean of (value - center)^power over the place x of the first best document, and the others above it.

    P(x) = S_{x-1} a/(n-x+1), where a documents are the best ones. Given x, the number y of others above has a
    hypergeometric distribution. Its sum starts at the likeliest y and goes on in both directions.
    """
    cdef double n = p.n, a = p.best, r = p.others, survival = 1.0, part, total = 0.0, within, chance, chances, y, start
    cdef double least, most, last
    cdef int64_t x
    cdef SlotSums sums
    sums.w = sums.ww = sums.xw = sums.xww = sums.xxww = sums.pairs = sums.ypairs = 0.0
    for x in range(1, p.n - p.best + 2):
        if interrupted(q.interruption, 20 * (p.others + 1)):
            return 0.0
        part = survival / (n - x + 1.0)
        last = weight_of_rank(q, p.t + x)
        least = max(x - 1.0 - (n - a - r), 0.0)
        most = min(r, x - 1.0)
        start = min(max(<double><int64_t>(x * (r + 1.0) / (n - a + 2.0)), least), most)
        chance = chances = 1.0
        within = at_place(q, p, &sums, before, x, start, last, center, power)
        y = start
        while y < most and chance > NEGLIGIBLE:
            chance *= (r - y) / (y + 1.0) * ((x - 1.0 - y) / (n - a - r - x + 2.0 + y))
            y += 1.0
            chances += chance
            within += chance * at_place(q, p, &sums, before, x, y, last, center, power)
        y = start
        chance = 1.0
        while y > least and chance > NEGLIGIBLE:
            chance *= y / (r - y + 1.0) * ((n - a - r - x + 1.0 + y) / (x - y))
            y -= 1.0
            chances += chance
            within += chance * at_place(q, p, &sums, before, x, y, last, center, power)
        total += part * a * (within / chances)
        survival = part * (n - a - x + 1.0)
        if survival < NEGLIGIBLE:
            break
        add_slot(&sums, x - 1.0, last)
    return total


cdef Moments of_groups_before(const Query* q, const Preferred* p, bint spread) noexcept nogil:
    """Return the mean of the sum of the blended ratios of the groups before; its variance takes the square's place."""
    cdef Groups before = q.groups[0]
    cdef Query of_before = q[0]
    cdef Moments found
    before.count = p.g
    of_before.groups = &before
    found.mean = _expected.q_measure(&of_before) * q.norm
    found.square = _spread.q_measure(&of_before) * q.norm * q.norm if spread else 0.0
    return found


cdef double mean_down_to_preferred(const Query* q) noexcept nogil:
    cdef Preferred p = preferred_of(q)
    return over_places(q, &p, of_groups_before(q, &p, False), 0.0, 1) if p.g >= 0 else 0.0


cdef double variance_down_to_preferred(const Query* q) noexcept nogil:
    """Return the mean of the variance given the place and the number of documents above, plus that of their means."""
    cdef Preferred p = preferred_of(q)
    cdef Moments before
    cdef double least, most
    if p.g < 0:
        return 0.0
    extremes_down_to_preferred(q, &least, &most)
    if least >= most:
        return 0.0
    before = of_groups_before(q, &p, True)
    return over_places(q, &p, before, over_places(q, &p, before, 0.0, 1), 2)


# A walk over the relevant documents of a group by label, one document after the other.
cdef struct ByLabel:
    # The label of the next document, and how many documents of this label are left.
    Py_ssize_t label
    double left


cdef inline double next_label(const Query* q, Py_ssize_t g, ByLabel* at, int step) noexcept nogil:
    """Return the label of the next document; the labels ascend if `step` is 1, and descend if it is -1."""
    while at.left == 0.0:
        at.label += step
        at.left = q.weight[(BEFORE_LABELS + at.label - 1) * q.groups.stride + g]
    at.left -= 1.0
    return at.label


cdef inline ByLabel by_label(const Query* q, int step) noexcept nogil:
    cdef ByLabel at
    at.label = 0 if step > 0 else q.measure.n_weightings - BEFORE_LABELS + 1
    at.left = 0.0
    return at


cdef double in_order(const Query* q, Py_ssize_t g, double found, double cumulated, int step) noexcept nogil:
    """Return the sum of the blended ratios in a group: worst documents first if `step` is 1, best first if it is -1."""
    cdef ByLabel at = by_label(q, step)
    cdef int64_t i, r = <int64_t>q.weight[g], rank = q.groups.start[g]
    cdef double total = 0.0
    if step > 0:
        rank += q.groups.size[g] - r
    for i in range(1, r + 1):
        cumulated += next_label(q, g, &at, step)
        total += weight_of_rank(q, rank + i) * (found + i + q.measure.measure_number * cumulated)
    return total


cdef double extreme(const Query* q, const Preferred* p, int step) noexcept nogil:
    """Return the smallest value if `step` is 1, or the largest value if it is -1.

    In the groups before, the order by label has it. In the group of the preferred document, try each number y of the
    others above it. Given y, the value is smallest if these have the lowest labels, and follow all documents that are
    not relevant. It is largest if they have the highest labels, and come first.
    """
    cdef ByLabel at = by_label(q, step)
    cdef double beta = q.measure.measure_number, found = 0.0, cumulated = 0.0, total = 0.0, last, value, best = INFINITY
    cdef int64_t y, rank = p.t + (p.n - p.best - p.others if step > 0 else 0)
    cdef Py_ssize_t g
    for g in range(p.g):
        total += in_order(q, g, found, cumulated, step)
        found += q.weight[g]
        cumulated += q.weight[q.groups.stride + g]
    if step < 0:
        # The others have lower labels than this.
        at.label = <Py_ssize_t>p.highest
    for y in range(p.others + 1):
        last = weight_of_rank(q, rank + y + 1)
        value = (total + last * (found + y + 1.0 + beta * (cumulated + p.highest))) / (found + y + 1.0)
        best = min(best, step * value)
        if y < p.others:
            cumulated += next_label(q, p.g, &at, step)
            total += last * (found + y + 1.0 + beta * cumulated)
    return step * best


cdef void extremes_down_to_preferred(const Query* q, double* least, double* most) noexcept nogil:
    cdef Preferred p = preferred_of(q)
    least[0] = extreme(q, &p, 1) if p.g >= 0 else 0.0
    most[0] = extreme(q, &p, -1) if p.g >= 0 else 0.0
