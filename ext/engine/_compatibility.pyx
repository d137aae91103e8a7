"""Compatibility: the rank-biased overlap of the ranking with the best of all ideal rankings, under ties.

An ideal ranking lists the judged documents by descending grade. The best one lists those of a grade in the order of the
ranking, retrieved ones first. At depth d it holds whole grades and the first documents of the *marginal* grade v, of
which it has d - above: `above` documents have a higher grade, and `upto` at least grade v. So the overlap at depth d is
the number of documents of higher grades among the first d of the ranking, plus min(H_v, d - above), where H_v is the
number of those of grade v. Below the last ideal document, it is the number of all. The measure is Σ_d p^(d-1)/d times
the overlap, divided by the norm.

Row c of the weights counts the documents of grade c + 1; grades are numbered from 1. The query's lookup array holds
the highest grade of its judged documents, and then, for the grades from 1 to this one, how many judged documents have
at least that grade.
"""
from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from tieaware.kernels._groups cimport Groups
from tieaware.kernels._interruption cimport interrupted
from tieaware.kernels._measure cimport TOO_MANY, Query

# A depth is left out if it and all deeper ones add less than this share of the sum, or of a group's first depth.
cdef double NEGLIGIBLE = 1e-20

# The kernel refuses to compute a value that takes more steps than this, a few seconds, or more numbers of memory.
cdef double MOST_STEPS = 1e9
cdef double MOST_NUMBERS = 1 << 24


cdef inline int64_t ideal(const Query* q, int64_t grade) noexcept nogil:
    """Return the number of judged documents of at least this grade, which is 1 or higher."""
    cdef const double* counts = q.measure.lookup + q.lookup_start
    return <int64_t>counts[grade] if grade <= counts[0] else 0


cdef inline int64_t deepest(const Query* q) noexcept nogil:
    return max(q.n_docs, ideal(q, 1))


cdef double mean_of_compatibility(const Query* q) noexcept nogil:
    cdef Py_ssize_t c
    cdef double total = 0.0
    for c in range(q.measure.n_weightings - 1, -1, -1):
        if ideal(q, c + 1) > ideal(q, c + 2):
            total = with_grade(q, c, total)
    # The sum of an ideal ranking may exceed its norm by a rounding error.
    return min(total / q.norm, 1.0)


cdef double with_grade(const Query* q, Py_ssize_t c, double total) noexcept nogil:
    """Add Σ_d p^(d-1)/d E min(H, d - above) for the depths above … upto, and E H for all deeper ones, to the total.

    The workspace holds P(H = found + h) for h = 0, 1 …
    """
    cdef const Groups* groups = q.groups
    cdef const double* weight = q.weight + c * groups.stride
    cdef int64_t above = ideal(q, c + 2), upto = ideal(q, c + 1), depth = deepest(q), d = 0, t, n, end, r
    cdef Py_ssize_t g
    cdef double p = q.measure.measure_number, power = 1.0, found = 0.0, expected
    cdef bint is_limited
    for g in range(groups.count + 1):
        t = groups.start[g] if g < groups.count else depth
        while d < t:
            d += 1
            if d > above:
                expected = min(found, <double>(d - above)) if d <= upto else found
                total += power / d * expected
            power *= p
            if power < NEGLIGIBLE * (1.0 - p) * total or power < 1e-300:
                return total
        if g == groups.count:
            break
        n = groups.size[g]
        end = t + n
        r = <int64_t>weight[g]
        # Otherwise, even if all documents of the group's first d - t slots have the grade, H is at most d - above.
        is_limited = 0 < r < n and t < upto and found + above > t
        if is_limited:
            q.workspace[0] = 1.0
        while d < end:
            if is_limited and d < upto:
                if interrupted(q.interruption, 4 * (r + 1)):
                    return 0.0
                next_slot(q.workspace, d - t, n, r)
            d += 1
            if d > above:
                if d > upto or not is_limited:
                    expected = found + <double>r * (d - t) / n
                    if d <= upto:
                        expected = min(expected, <double>(d - above))
                else:
                    expected = limited(q.workspace, min(r, d - t), found, d - above)
                total += power / d * expected
            power *= p
            if power < NEGLIGIBLE * (1.0 - p) * total or power < 1e-300:
                return total
        found += r
    return total


cdef void next_slot(double* chance, int64_t x, int64_t n, int64_t r) noexcept nogil:
    """Turn P(H = h) for the first x slots of a group of n documents, r of them of the grade, into that for x + 1."""
    cdef int64_t h, others = n - r
    cdef double left = n - x
    if x < r:
        chance[x + 1] = 0.0
    for h in range(min(r, x + 1), -1, -1):
        chance[h] = chance[h] * max(others - (x - h), 0) / left if h <= x else 0.0
        if h > 0:
            chance[h] += chance[h - 1] * ((r - h + 1) / left)


cdef double limited(const double* chance, int64_t most, double found, int64_t limit) noexcept nogil:
    """Return E min(found + H, limit)."""
    cdef int64_t h
    cdef double total = 0.0
    for h in range(most + 1):
        total += chance[h] * min(found + h, <double>limit)
    return total


# The depths of one marginal grade within a group; the last stage has the depths below the last ideal document.
cdef struct Stage:
    # The row of the marginal grade; -1 in the last stage. Its documents are those from above + 1 to upto in the ideal
    # ranking.
    Py_ssize_t c
    int64_t above
    int64_t upto
    # The numbers of documents of the group with higher grades, and with the marginal one; and of documents with the
    # marginal grade in earlier groups.
    int64_t higher
    int64_t r
    double found


# The states (a, h) of a stage: a documents of higher grades, and h of the marginal one, are within the slots so far.
# State (a, h) has the index a * (r + 1) + h in each array.
cdef struct States:
    # The probability of each state, and its products with the first and the second moment of the sum so far, which is
    # that of the depths' deviations from their means.
    double* chance
    double* first
    double* second


cdef double variance_of_compatibility(const Query* q) noexcept nogil:
    """Return the sum of the groups' variances, divided by the squared norm.

    Given the composition of the groups, the orders of one do not matter to the depths of another.
    """
    cdef Py_ssize_t g
    cdef double p = q.measure.measure_number, power = 1.0, total = 0.0
    cdef int64_t d = 0
    for g in range(q.groups.count):
        while d < q.groups.start[g]:
            power *= p
            d += 1
        if power < 1e-150:
            break
        if differ(q, g):
            total += variance_of_group(q, g, power)
    return total / q.norm / q.norm


cdef double variance_of_group(const Query* q, Py_ssize_t g, double power) noexcept nogil:
    """Return the variance inside one group, by a pass over its slots; power is p^t.

    At each slot, the next document moves each state to another. Then the deviation of the overlap from its mean, times
    the weight of the depth, is added to the moments. So no large numbers are subtracted.
    """
    cdef Stage stage = stage_at(q, g, 1 + q.groups.start[g]), after
    cdef int64_t t = q.groups.start[g], n = q.groups.size[g], numbers = states_of(q, g), x = 0, i
    cdef double p = q.measure.measure_number, w, first = power / (t + 1), total = 0.0
    cdef States s
    s.chance = q.workspace
    s.first = s.chance + numbers
    s.second = s.first + numbers
    for i in range(3 * numbers):
        q.workspace[i] = 0.0
    s.chance[0] = 1.0
    for x in range(n):
        if t + x + 1 > stage.upto:
            after = stage_at(q, g, t + x + 1)
            change_stage(&s, &stage, &after, n, x, s.second + numbers)
            stage = after
        if interrupted(q.interruption, 6 * (stage.higher + 1) * (stage.r + 1)):
            return 0.0
        move(&s, &stage, n, x)
        w = power / (t + x + 1)
        if w < NEGLIGIBLE * first:
            break
        observe(&s, &stage, x + 1, <double>(t + x + 1 - stage.above), w)
        power *= p
    for i in range((stage.higher + 1) * (stage.r + 1)):
        total += s.second[i]
    return max(total, 0.0)


cdef Stage stage_at(const Query* q, Py_ssize_t g, int64_t d) noexcept nogil:
    """Return the stage of depth d, for documents of group g."""
    cdef Stage stage
    cdef Py_ssize_t c, stride = q.groups.stride, i
    stage.c = -1
    stage.upto = 1 << 62
    stage.above = stage.higher = stage.r = 0
    stage.found = 0.0
    for c in range(q.measure.n_weightings - 1, -1, -1):
        if d <= ideal(q, c + 1):
            stage.c = c
            stage.above = ideal(q, c + 2)
            stage.upto = ideal(q, c + 1)
            stage.r = <int64_t>q.weight[c * stride + g]
            for i in range(g):
                stage.found += q.weight[c * stride + i]
            break
        stage.higher += <int64_t>q.weight[c * stride + g]
    return stage


cdef void move(States* s, const Stage* stage, int64_t n, int64_t x) noexcept nogil:
    """Go from the first x slots to the first x + 1: the next document has a higher, the marginal, or another grade."""
    cdef int64_t a, h, row = stage.r + 1, others = n - stage.higher - stage.r, i
    cdef double left = n - x, stays, up, right
    for a in range(min(stage.higher, x + 1), -1, -1):
        for h in range(min(stage.r, x + 1 - a), -1, -1):
            i = a * row + h
            stays = max(others - (x - a - h), 0) / left if a + h <= x else 0.0
            s.chance[i] *= stays
            s.first[i] *= stays
            s.second[i] *= stays
            if a > 0:
                up = (stage.higher - a + 1) / left
                s.chance[i] += up * s.chance[i - row]
                s.first[i] += up * s.first[i - row]
                s.second[i] += up * s.second[i - row]
            if h > 0:
                right = (stage.r - h + 1) / left
                s.chance[i] += right * s.chance[i - 1]
                s.first[i] += right * s.first[i - 1]
                s.second[i] += right * s.second[i - 1]


cdef void observe(States* s, const Stage* stage, int64_t x, double limit, double w) noexcept nogil:
    """Add w (O - E O) to the sum of each state, where O = a + min(found + h, limit); the last stage has O = a."""
    cdef int64_t a, h, row = stage.r + 1, i
    cdef double mean = 0.0, more, hits, lowest = INFINITY, highest = 0.0
    for a in range(min(stage.higher, x) + 1):
        for h in range(min(stage.r, x - a) + 1):
            hits = min(stage.found + h, limit) if stage.c >= 0 else 0.0
            mean += s.chance[a * row + h] * (a + hits)
            if s.chance[a * row + h] > 0.0:
                lowest = min(lowest, a + hits)
                highest = max(highest, a + hits)
    # If all states have the same overlap, its variance is exactly 0, but `mean` may have a rounding error.
    if lowest >= highest:
        return
    for a in range(min(stage.higher, x) + 1):
        for h in range(min(stage.r, x - a) + 1):
            i = a * row + h
            hits = min(stage.found + h, limit) if stage.c >= 0 else 0.0
            more = w * (a + hits - mean)
            s.second[i] += more * (2.0 * s.first[i] + more * s.chance[i])
            s.first[i] += more * s.chance[i]


cdef void change_stage(States* s, const Stage* before, const Stage* after, int64_t n, int64_t x,
                       double* work) noexcept nogil:
    """Merge the states by a + h, then split them by the number of documents of the next marginal grade.

    Of the o = x - a documents that have neither this nor a higher grade so far, h have the new marginal grade: they are
    drawn without replacement from M = n - `higher`, of which r have it. The probabilities of h are computed from h = 0
    or the least possible one, C(r, h) C(M-r, o-h) / C(M, o), by their ratios from the likeliest one on.
    """
    cdef int64_t a, h, o, row = before.r + 1, new_row = after.r + 1, population = n - after.higher
    cdef int64_t likeliest, least, most
    cdef int64_t i, merged = min(after.higher, x) + 1
    cdef double* chance = work
    cdef double* first = work + merged
    cdef double* second = first + merged
    cdef double* split = second + merged
    cdef double total
    for i in range(3 * merged):
        work[i] = 0.0
    for a in range(min(before.higher, x) + 1):
        for h in range(min(before.r, x - a) + 1):
            i = a * row + h
            chance[a + h] += s.chance[i]
            first[a + h] += s.first[i]
            second[a + h] += s.second[i]
    for i in range((after.higher + 1) * new_row):
        s.chance[i] = s.first[i] = s.second[i] = 0.0
    for a in range(merged):
        o = x - a
        least = max(o - (population - after.r), 0)
        most = min(o, after.r)
        if least > most:
            continue
        likeliest = <int64_t>((o + 1.0) * (after.r + 1.0) / (population + 2.0))
        likeliest = max(least, min(most, likeliest))
        split[likeliest] = total = 1.0
        for h in range(likeliest, most):
            split[h + 1] = split[h] * ((after.r - h) / (h + 1.0) * ((o - h) / (population - after.r - o + h + 1.0)))
            total += split[h + 1]
        for h in range(likeliest - 1, least - 1, -1):
            split[h] = split[h + 1] * ((h + 1.0) / (after.r - h) * ((population - after.r - o + h + 1.0) / (o - h)))
            total += split[h]
        for h in range(least, most + 1):
            i = a * new_row + h
            s.chance[i] = chance[a] * (split[h] / total)
            s.first[i] = first[a] * (split[h] / total)
            s.second[i] = second[a] * (split[h] / total)


cdef inline bint differ(const Query* q, Py_ssize_t g) noexcept nogil:
    """Return whether the documents of a group have different grades; ungraded counts as a grade."""
    cdef double graded = 0.0, most = 0.0
    cdef int c
    for c in range(q.measure.n_weightings):
        graded += q.weight[c * q.groups.stride + g]
        most = max(most, q.weight[c * q.groups.stride + g])
    return graded > 0.0 and most < q.groups.size[g]


cdef int64_t states_of(const Query* q, Py_ssize_t g) noexcept nogil:
    """Return the largest number of states of a group in any stage, or TOO_MANY."""
    cdef double higher = 0.0, r, most = 1.0
    cdef Py_ssize_t c
    for c in range(q.measure.n_weightings - 1, -1, -1):
        r = q.weight[c * q.groups.stride + g]
        if ideal(q, c + 1) > q.groups.start[g]:
            most = max(most, (higher + 1.0) * (r + 1.0))
        higher += r
    most = max(most, higher + 1.0)
    return TOO_MANY if most > MOST_NUMBERS else <int64_t>most


cdef int64_t slots_that_count(const Query* q, Py_ssize_t g) noexcept nogil:
    """Return a number of slots of a group after which depths are negligible."""
    cdef double power = 1.0
    cdef int64_t x = 0
    while x < q.groups.size[g] and power >= NEGLIGIBLE:
        power *= q.measure.measure_number
        x += 1
    return x


cdef int64_t size_of_compatibility(const Query* q, bint spread) noexcept nogil:
    cdef Py_ssize_t g, c
    cdef int64_t states, most = 0
    cdef double steps = 0.0, r, graded
    for g in range(q.groups.count):
        if q.groups.size[g] == 1:
            continue
        graded = 0.0
        for c in range(q.measure.n_weightings):
            r = q.weight[c * q.groups.stride + g]
            graded += r
            if not spread:
                most = max(most, <int64_t>r + 2)
                if r > 0.0 and ideal(q, c + 1) > q.groups.start[g]:
                    steps += (r + 1.0) * min(slots_that_count(q, g), ideal(q, c + 1) - q.groups.start[g])
        if spread and differ(q, g):
            states = states_of(q, g)
            if states == TOO_MANY:
                return TOO_MANY
            most = max(most, 3 * states + 4 * (<int64_t>graded + 2))
            steps += 6.0 * states * slots_that_count(q, g)
    return TOO_MANY if steps > MOST_STEPS else most
