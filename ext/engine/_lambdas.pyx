"""LambdaMART's gradients, with the expected change of a measure over the orders of tied documents.

For documents i and j of one list, i with the higher gain, λ = σ E|ΔM| / (1 + exp(σ (s_i - s_j))). ΔM is the change of
the measure if i and j swap their ranks, and E its mean over the orders of tied documents. λ is subtracted from the
gradient of i and added to that of j; both hessians grow by σ λ / (1 + exp(σ (s_j - s_i))).

E|ΔM| is computed from the tie groups of i and j. If they are in different groups, the group A of the upper one before
the group B of the lower one, it is |g_i - g_j| (head + share · tail). The first two depend on A only, the third on B,
so a pair takes constant time. Inside a group, it is |g_i - g_j| · inside. With a truncation level T, an order counts
only if the upper of the two documents is among the first T.

Documents with the same score and gain have the same gradient: they form a class, and pairs of classes are computed. The
classes follow one another by descending score, and by descending gain inside a tie group. No sum depends on the rows.
"""
from libc.math cimport fabs
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._exact cimport exp2_exact, log2_exact
from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption
from tieaware.kernels._sorting cimport (
    TIEAWARE_LONGEST_SORTED, sort_doubles, stable_argsort_doubles, tieaware_chunks_of, tieaware_close,
    tieaware_place_bits, tieaware_repeats, tieaware_sort, tieaware_words_double,
)

cnp.import_array()

cdef extern from "engine/lambdas.h" nogil:
    ctypedef struct tieaware_classes:
        double* gain
        double* score
        double* power
        double* count
        double* head
        double* share
        double* tail
        double* gradient
        double* hessian
    ctypedef struct tieaware_class:
        double gain, score, power, count, head, share, tail
    ctypedef struct tieaware_pushes:
        double gradient, hessian, total
    void tieaware_chances(const double*, Py_ssize_t, double, double*, double*)
    tieaware_pushes tieaware_push(const tieaware_classes*, Py_ssize_t, Py_ssize_t, tieaware_class, int, double, int,
                                  const double*, const double*, double*, double*)

cdef enum:
    # The number of arrays of one double per document that a list needs: see `Scratch`.
    N_ARRAYS = 9 * 2 + 4

# exp(σ s) is computed for each class, relative to the middle score, if 2^±HALF_RANGE is enough; else for each pair.
cdef double HALF_RANGE = 1000.0
cdef double LOG2_E = 1.4426950408889634


# The families of measures.
cpdef enum:
    ADDITIVE = 0
    AVERAGE_PRECISION = 1
    RECIPROCAL_RANK = 2


cdef struct Group:
    # A tie group: the number of documents above it, its size, its documents with a gain, and those above it.
    int64_t t, n, r, above
    # The change by swapping two of its documents, and the numbers for its documents without a gain and with one.
    double inside
    double head[2]
    double share[2]
    double tail[2]


cdef struct Model:
    # The weights of the slots (0 from `depth` on), the truncation level, and the parameters of the loss.
    const double* weight
    int64_t depth, truncation
    double sigma
    bint normalised
    int family


cdef struct Scratch:
    int64_t* words
    int64_t* spare
    # place[i]: the position in the list of the i-th document by score and gain.
    int64_t* place
    # class_of[i]: the class of the i-th document; classes with a gain are numbered from 0, others from -1 down.
    int64_t* class_of
    # The tie group of each class: of those with a gain from the start, and of the others from the end backwards.
    int64_t* group_of
    Group* group
    tieaware_classes gainful
    tieaware_classes worthless
    double* other_first
    double* own_first
    double* changes
    double* bends


cdef inline int64_t clamp(int64_t x, int64_t n) noexcept nogil:
    return max(min(x, n), 0)


cdef void of_slots(Model* model, Group* g) noexcept nogil:
    """Fill in a group for a measure that adds up gains by slot weights w_1 ≥ w_2 ≥ … of the n slots of the group.

    Different groups: mean w of A - mean w of B. Inside: 2 Σ_x w_x (n + 1 - 2x) / (n (n - 1)), which is not 0. With a
    truncation after h slots of A: Σ_{x ≤ h} w_x / n - h/n mean w of B; 2 Σ_x w_x ([x ≤ h] (n - x) - min(x - 1, h)) / ….
    """
    cdef int64_t m = clamp(model.depth - g.t, g.n), h = clamp(model.truncation - g.t, g.n), x
    cdef double total = 0.0, upper = 0.0, inside = 0.0, w
    for x in range(1, m + 1):
        w = model.weight[g.t + x - 1]
        total += w
        if x <= h:
            upper += w
            inside += w * <double>(g.n + 1 - 2 * x)
        else:
            inside -= w * <double>h
    g.head[0] = g.head[1] = upper / g.n
    g.share[0] = g.share[1] = <double>h / g.n
    g.tail[0] = g.tail[1] = -total / g.n
    g.inside = 2.0 * inside / (<double>g.n * (g.n - 1)) if g.n > 1 else 0.0


cdef double of_average_precision(Model* model, Group* g, double before) noexcept nogil:
    """Fill in a group for AP; return `before` plus the expected Σ 1/rank over the group's relevant documents.

    Swapping the only relevant one of ranks x < y changes AP · N by (C + 1)/x + Σ 1/p - (C + M + 1)/y: C other relevant
    documents are before x, M are between, at the ranks p. Their expectations are linear in the slot: another document
    of a group is relevant with probability ρ = r'/n', r' other relevant ones of n' others. So in A, with v = 1/rank,
    head = Σ_ξ [(R + 1 + ρ (ξ - 1)) v_ξ [ξ ≤ h] + ρ min(ξ - 1, h) v_ξ] / n - h/n U_A, where U_A adds up r v̄ to the end
    of A; in B, tail = U before B + ρ Σ_ξ (n - ξ) v_ξ / n - Σ_ξ (R' + 1 + ρ (ξ - 1)) v_ξ / n, without the upper document
    in R'. Inside: 2/(n (n - 1)) Σ_p v_p [(R + 1 + ρ (p - 1)) (n - p) [p ≤ h] + min(p - 1, h) (ρ (n - p) - R - 1 -
    ρ (p - 2))], with ρ = (r - 1)/(n - 2).
    """
    cdef int64_t m = clamp(model.depth - g.t, g.n), h = clamp(model.truncation - g.t, g.n), x, lower
    cdef double total = 0.0, upper = 0.0, rise = 0.0, upper_rise = 0.0, lowered = 0.0, inside = 0.0, v
    cdef double after, after_upper
    cdef double own = <double>(g.above + 1)
    cdef double pair = <double>(g.r - 1) / (g.n - 2) if g.n > 2 else 0.0
    cdef double other[2]
    cdef int relevant
    other[0] = <double>g.r / (g.n - 1) if g.n > 1 else 0.0
    other[1] = <double>(g.r - 1) / (g.n - 1) if g.n > 1 else 0.0
    for x in range(1, m + 1):
        v = model.weight[g.t + x - 1]
        lower = min(x - 1, h)
        total += v
        rise += (x - 1) * v
        lowered += lower * v
        inside += v * lower * (pair * (g.n - x) - own - pair * (x - 2))
        if x <= h:
            upper += v
            upper_rise += (x - 1) * v
            inside += v * (own + pair * (x - 1)) * (g.n - x)
    after = before + g.r * (total / g.n)
    for relevant in range(2):
        g.share[relevant] = <double>h / g.n
        g.head[relevant] = (own * upper + other[relevant] * (upper_rise + lowered)) / g.n - g.share[relevant] * after
        after_upper = other[relevant] * ((g.n - 1) * total - 2.0 * rise)
        g.tail[relevant] = before + (after_upper - (g.above + relevant) * total) / g.n
    g.inside = 2.0 * inside / (<double>g.n * (g.n - 1)) if g.n > 1 else 0.0
    return after


cdef double first_of(Model* model, Group* g, int64_t c) noexcept nogil:
    """Return the mean of 1/rank of the first of c chosen documents of a group.

    It is Σ_x p_x v_x, p_x = C(n-x, c-1)/C(n, c).
    """
    cdef int64_t m = clamp(model.depth - g.t, g.n), x
    cdef double p = <double>c / g.n, total = 0.0
    for x in range(1, min(m, g.n - c + 1) + 1):
        total += p * model.weight[g.t + x - 1]
        p *= <double>(g.n - x - c + 1) / (g.n - x) if x < g.n else 0.0
    return total


cdef double first_two_of(Model* model, Group* g, int64_t c) noexcept nogil:
    """Return the mean of v(first) - v(second) of c ≥ 2 chosen documents of a group, v = 1/rank.

    The first is at slot x with probability C(n-x, c-1)/C(n, c), the second with (x-1) C(n-x, c-2)/C(n, c). With a
    truncation after h slots, orders with the first one beyond are not counted, so h replaces x-1 where it is less.
    """
    cdef int64_t m = clamp(model.depth - g.t, g.n), h = clamp(model.truncation - g.t, g.n), x
    cdef double p = <double>c / g.n, q = <double>c * (c - 1) / (<double>g.n * (g.n - 1)), total = 0.0, v
    for x in range(1, min(m, g.n - c + 2) + 1):
        v = model.weight[g.t + x - 1]
        if x <= h:
            total += p * v
        p *= <double>(g.n - x - c + 1) / (g.n - x) if x < g.n else 0.0
        if x >= 2:
            total -= q * min(x - 1, h) * v
            q *= <double>(g.n - x - c + 2) / (g.n - x) if x < g.n else 0.0
    return total


cdef Py_ssize_t of_reciprocal_rank(Model* model, Group* group, Py_ssize_t n_groups) noexcept nogil:
    """Fill in all groups for RR; return the number of groups that can hold the upper document of a pair.

    Only the first relevant document counts, so the upper document is above the first group F with r > 0, or in it:
    - nonrelevant, above F: v̄ of its group - the mean of v(first of r in F), for any relevant document;
    - nonrelevant, in F: it must be the first of r + 1 chosen documents, itself and the relevant ones: with v(first) -
      v(second) = D(r + 1), D(r + 1)/(r + 1); in a pair of F, either may be the first: 2 D(r + 1)/(r + 1);
    - relevant, in F: it must be the first of r. If r ≥ 2, D(r)/r. If r = 1, v̄ of F - v of the next among the other
      document and the relevant ones of G, the next group with any: it is the other's v̄ above G, the first of r_G + 1
      in G, and the first of r_G below G.
    """
    cdef Py_ssize_t i, found = n_groups, following = n_groups
    cdef Group* g
    cdef double of_first, of_next = 0.0, of_next_or_other = 0.0, change
    for i in range(n_groups - 1, -1, -1):
        of_slots(model, &group[i])
        if group[i].r:
            following, found = found, i
    if found == n_groups:
        return 0
    g = &group[found]
    of_first = first_of(model, g, g.r)
    if following < n_groups:
        of_next = first_of(model, &group[following], group[following].r)
        if group[following].n > group[following].r:
            of_next_or_other = first_of(model, &group[following], group[following].r + 1)
    for i in range(found, n_groups):
        group[i].tail[1] = -of_first
        if i == following:
            group[i].tail[0] = -of_next_or_other
        elif i > following:
            group[i].tail[0] = -of_next
    g.inside = 0.0
    if g.n > g.r:
        change = first_two_of(model, g, g.r + 1) / (g.r + 1)
        g.inside = 2.0 * change
        g.head[0], g.share[0] = change, 0.0
    if g.r >= 2:
        g.head[1], g.share[1] = first_two_of(model, g, g.r) / g.r, 0.0
    return found + 1


cdef Py_ssize_t fill_in(Model* model, Group* group, Py_ssize_t n_groups) noexcept nogil:
    """Fill in `inside`, `head`, `share` and `tail`; return how many groups can hold the upper document of a pair."""
    cdef int64_t deepest = min(model.depth, model.truncation)
    cdef double before = 0.0
    cdef Py_ssize_t i, n_active = 0
    if model.family == RECIPROCAL_RANK:
        return of_reciprocal_rank(model, group, n_groups)
    for i in range(n_groups):
        if model.family == AVERAGE_PRECISION:
            before = of_average_precision(model, &group[i], before)
        else:
            of_slots(model, &group[i])
        n_active += group[i].t < deepest
    return n_active


cdef int by_score_and_gain(const double* scores, const int64_t* order, Py_ssize_t n, Scratch* scratch) noexcept nogil:
    """Write the positions of a list's documents by descending score, ties as in `order`; return -1 without memory."""
    cdef int64_t bits = tieaware_place_bits(n)
    cdef double* key = <double*>scratch.words
    cdef cnp.npy_intp* places = <cnp.npy_intp*>scratch.spare
    cdef const int64_t* words
    cdef Py_ssize_t i
    if n <= TIEAWARE_LONGEST_SORTED:
        tieaware_words_double(scores, order, n, bits, scratch.words)
        words = tieaware_sort(sort_doubles, scratch.words, n, scratch.spare)
        if not (tieaware_repeats(words, n, bits) > 0 and tieaware_close(scores, order, words, n, bits)):
            for i in range(n):
                scratch.place[i] = order[words[i] & bits]
            return 0
    for i in range(n):
        key[i] = 0.0 - scores[order[i]]
        places[i] = i
    if stable_argsort_doubles(key, places, n, NULL) < 0:
        return -1
    for i in range(n):
        scratch.place[i] = order[places[i]]
    return 0


cdef void add_class(tieaware_classes* classes, Py_ssize_t i, double gain, double score) noexcept nogil:
    classes.gain[i], classes.score[i] = gain, score
    classes.count[i] = classes.gradient[i] = classes.hessian[i] = 0.0


cdef inline tieaware_class class_at(const tieaware_classes* classes, Py_ssize_t i) noexcept nogil:
    cdef tieaware_class c
    c.gain, c.score, c.power, c.count = classes.gain[i], classes.score[i], classes.power[i], classes.count[i]
    c.head, c.share, c.tail = classes.head[i], classes.share[i], classes.tail[i]
    return c


cdef struct ClassCounts:
    Py_ssize_t groups, gainful, worthless


cdef ClassCounts classified(const double* scores, const double* gains, Py_ssize_t n, Scratch* scratch) noexcept nogil:
    """Divide a sorted list into tie groups, and into classes with a gain and without; return the number of each.

    A group has at most one class without a gain, its last.
    """
    cdef ClassCounts counts
    cdef Group* g = NULL
    cdef Py_ssize_t i
    cdef double score, gain
    cdef bint new_group
    cdef int64_t above = 0
    counts.groups = counts.gainful = counts.worthless = 0
    for i in range(n):
        score, gain = scores[scratch.place[i]], gains[scratch.place[i]]
        new_group = i == 0 or score != scores[scratch.place[i - 1]]
        if new_group:
            g = &scratch.group[counts.groups]
            g.t, g.n, g.r, g.above = i, 0, 0, above
            counts.groups += 1
        g.n += 1
        if gain > 0.0:
            if new_group or gain != gains[scratch.place[i - 1]]:
                add_class(&scratch.gainful, counts.gainful, gain, score)
                scratch.group_of[counts.gainful] = counts.groups - 1
                counts.gainful += 1
            g.r += 1
            above += 1
            scratch.gainful.count[counts.gainful - 1] += 1.0
            scratch.class_of[i] = counts.gainful - 1
        else:
            if new_group or gains[scratch.place[i - 1]] > 0.0:
                add_class(&scratch.worthless, counts.worthless, 0.0, score)
                # From the other end: with the classes that have a gain, there are at most n.
                scratch.group_of[n - 1 - counts.worthless] = counts.groups - 1
                counts.worthless += 1
            scratch.worthless.count[counts.worthless - 1] += 1.0
            scratch.class_of[i] = -counts.worthless
    return counts


cdef void take_groups(tieaware_classes* classes, const int64_t* group_of, int step, Py_ssize_t n, const Group* group,
                      bint gainful, double middle, double sigma) noexcept nogil:
    """Copy the numbers of its group to each class, and compute exp(σ (s - middle)); not if σ is 0."""
    cdef Py_ssize_t i
    cdef const Group* g
    for i in range(n):
        g = &group[group_of[step * i]]
        classes.head[i], classes.share[i], classes.tail[i] = g.head[gainful], g.share[gainful], g.tail[gainful]
        classes.power[i] = exp2_exact(sigma * LOG2_E * (classes.score[i] - middle)) if sigma else 1.0


cdef double push(const tieaware_classes* own, Py_ssize_t c, const tieaware_classes* others, Py_ssize_t first,
                 Py_ssize_t last, bint above, double inside, const Model* model, bint by_distance, bint far,
                 Scratch* scratch) noexcept nogil:
    """Add the pairs of class c with other classes, of its own group if `inside` is not negative; return Σ |λ|."""
    cdef tieaware_class one
    cdef tieaware_pushes found
    cdef Py_ssize_t i
    cdef double power
    if first >= last:
        return 0.0
    one = class_at(own, c)
    if inside >= 0.0:
        one.head, one.share = inside, 0.0
    if far:
        for i in range(last - first):
            power = min(model.sigma * LOG2_E * fabs(one.score - others.score[first + i]), HALF_RANGE)
            power = 1.0 / (1.0 + exp2_exact(power))
            if one.score > others.score[first + i]:
                scratch.other_first[i], scratch.own_first[i] = power, 1.0 - power
            else:
                scratch.other_first[i], scratch.own_first[i] = 1.0 - power, power
    else:
        tieaware_chances(others.power + first, last - first, one.power, scratch.other_first, scratch.own_first)
    found = tieaware_push(others, first, last, one, above, model.sigma, by_distance, scratch.other_first,
                          scratch.own_first, scratch.changes, scratch.bends)
    own.gradient[c] += found.gradient
    own.hessian[c] += found.hessian
    return found.total


cdef double pairs_of_gainful(const Model* model, ClassCounts counts, Py_ssize_t n_active, Py_ssize_t n, bint with_upper,
                             bint by_distance, bint far, Scratch* scratch, Interruption* interruption) noexcept nogil:
    """Add the pairs of the classes with a gain, with each other and with those without; return Σ |λ|.

    If interrupted, returns -1. Pairs whose upper class has no gain are added only `with_upper`. Invariant: `upper`
    classes without a gain are in groups above that of class c, and `active` of all may be upper.
    """
    cdef const tieaware_classes* gainful = &scratch.gainful
    cdef const tieaware_classes* worthless = &scratch.worthless
    cdef const int64_t* group_of = scratch.group_of
    cdef const int64_t* of_worthless = scratch.group_of + n - 1
    cdef Py_ssize_t c, group, upper = 0, active = 0, own_end = 0
    cdef bint one_gain = True, same
    cdef double total = 0.0, inside
    for c in range(1, counts.gainful):
        one_gain = one_gain and gainful.gain[c] == gainful.gain[0]
    while active < counts.worthless and of_worthless[-active] < n_active:
        active += 1
    for c in range(counts.gainful):
        group = group_of[c]
        if group >= n_active and not with_upper:
            break
        if interrupted(interruption, 4 * (counts.worthless + counts.gainful)):
            return -1.0
        while upper < counts.worthless and of_worthless[-upper] < group:
            upper += 1
        if with_upper:
            total += push(gainful, c, worthless, 0, min(upper, active), True, -1.0, model, by_distance, far, scratch)
        if group >= n_active:
            continue
        inside = max(scratch.group[group].inside, 0.0)
        same = upper < counts.worthless and of_worthless[-upper] == group
        total += push(gainful, c, worthless, upper, upper + same, False, inside, model, by_distance, far, scratch)
        total += push(gainful, c, worthless, upper + same, counts.worthless, False, -1.0, model, by_distance, far,
                      scratch)
        if one_gain:
            continue
        own_end = max(own_end, c + 1)
        while own_end < counts.gainful and group_of[own_end] == group:
            own_end += 1
        total += push(gainful, c, gainful, c + 1, own_end, False, inside, model, by_distance, far, scratch)
        total += push(gainful, c, gainful, own_end, counts.gainful, False, -1.0, model, by_distance, far, scratch)
    return total


cdef double pairs_below_worthless(const Model* model, ClassCounts counts, Py_ssize_t active, Py_ssize_t n,
                                  bint by_distance, bint far, Scratch* scratch,
                                  Interruption* interruption) noexcept nogil:
    """Add the pairs of the first `active` classes without a gain with those in lower groups that have one.

    Returns Σ |λ|, or -1 if interrupted. Invariant: `lower` classes with a gain are not in groups below class c.
    """
    cdef const int64_t* of_worthless = scratch.group_of + n - 1
    cdef Py_ssize_t c, lower = 0
    cdef double total = 0.0
    for c in range(active):
        if interrupted(interruption, 4 * counts.gainful):
            return -1.0
        while lower < counts.gainful and scratch.group_of[lower] <= of_worthless[-c]:
            lower += 1
        total += push(&scratch.worthless, c, &scratch.gainful, lower, counts.gainful, False, -1.0, model, by_distance,
                      far, scratch)
    return total


cdef double all_pairs(const Model* model, ClassCounts counts, Py_ssize_t n_active, Py_ssize_t n, bint by_distance,
                      bint far, Scratch* scratch, Interruption* interruption) noexcept nogil:
    """Add all pairs of a list; return Σ |λ|, or -1 if interrupted.

    The pairs of a class are added in one loop. To make loops long, pairs whose upper class has no gain are added by
    their lower or their upper class, depending on which are fewer.
    """
    cdef Py_ssize_t active = 0
    cdef double total, further = 0.0
    while active < counts.worthless and scratch.group_of[n - 1 - active] < n_active:
        active += 1
    total = pairs_of_gainful(model, counts, n_active, n, counts.gainful <= active, by_distance, far, scratch,
                             interruption)
    if total >= 0.0 and counts.gainful > active:
        further = pairs_below_worthless(model, counts, active, n, by_distance, far, scratch, interruption)
    return -1.0 if total < 0.0 or further < 0.0 else total + further


cdef inline double norm_factor(double total) noexcept nogil:
    """Return log2(1 + x) / x for the sum x of all |λ|; each of them counts for both documents of its pair."""
    cdef double x = 2.0 * total
    if x < 1e-5:
        return LOG2_E * (1.0 - x * (0.5 - x / 3.0))
    return log2_exact(1.0 + x) / x


cdef int of_list(const double* scores, const double* gains, const int64_t* order, Py_ssize_t n, double norm,
                 Model* model, Scratch* scratch, double* gradient, double* hessian,
                 Interruption* interruption) noexcept nogil:
    """Write the gradients and hessians of one list; return -1 without memory, 1 if interrupted."""
    cdef Py_ssize_t i, n_active
    cdef ClassCounts counts
    cdef double high, low, middle, total, factor, sigma = model.sigma
    cdef int64_t c
    cdef bint far
    for i in range(n):
        gradient[i] = hessian[i] = 0.0
    if norm <= 0.0 or n < 2:
        return 0
    if by_score_and_gain(scores, order, n, scratch) < 0:
        return -1
    counts = classified(scores, gains, n, scratch)
    n_active = fill_in(model, scratch.group, counts.groups)
    high, low = scores[scratch.place[0]], scores[scratch.place[n - 1]]
    middle = low + 0.5 * (high - low)
    far = not 0.5 * sigma * LOG2_E * (high - low) < HALF_RANGE
    if far:
        sigma = 0.0
    take_groups(&scratch.gainful, scratch.group_of, 1, counts.gainful, scratch.group, True, middle, sigma)
    take_groups(&scratch.worthless, scratch.group_of + n - 1, -1, counts.worthless, scratch.group, False, middle, sigma)
    # The norm divides each gain: the products |g_i - g_j| / norm are then the same for all pairs of two gains.
    for i in range(counts.gainful):
        scratch.gainful.gain[i] /= norm
    total = all_pairs(model, counts, n_active, n, model.normalised and counts.groups > 1, far, scratch, interruption)
    if total < 0.0:
        return 1
    factor = norm_factor(total) if model.normalised else 1.0
    for i in range(n):
        c = scratch.class_of[i]
        if c >= 0:
            gradient[scratch.place[i]] = factor * scratch.gainful.gradient[c]
            hessian[scratch.place[i]] = factor * scratch.gainful.hessian[c]
        else:
            gradient[scratch.place[i]] = factor * scratch.worthless.gradient[-1 - c]
            hessian[scratch.place[i]] = factor * scratch.worthless.hessian[-1 - c]
    return 0


cdef void divide(Scratch* scratch, char* memory, Py_ssize_t n, Py_ssize_t n_words) noexcept nogil:
    """Divide memory among the arrays of a list of up to n documents."""
    cdef tieaware_classes* classes[2]
    cdef double* at
    cdef int i
    scratch.group = <Group*>memory
    scratch.words = <int64_t*>(scratch.group + n)
    scratch.spare = scratch.words + n_words
    scratch.place = scratch.spare + n_words
    scratch.class_of = scratch.place + n
    scratch.group_of = scratch.class_of + n
    at = <double*>(scratch.group_of + n)
    classes[0], classes[1] = &scratch.gainful, &scratch.worthless
    for i in range(2):
        classes[i].gain, classes[i].score, classes[i].power = at, at + n, at + 2 * n
        classes[i].count, classes[i].head, classes[i].share = at + 3 * n, at + 4 * n, at + 5 * n
        classes[i].tail, classes[i].gradient, classes[i].hessian = at + 6 * n, at + 7 * n, at + 8 * n
        at += 9 * n
    scratch.other_first, scratch.own_first, scratch.changes, scratch.bends = at, at + n, at + 2 * n, at + 3 * n


def lambdas(cnp.ndarray scores not None, cnp.ndarray gains not None, cnp.ndarray order not None,
            cnp.ndarray offsets not None, cnp.ndarray norms not None, cnp.ndarray slots not None, int family,
            int64_t truncation, double sigma, bint normalised, cnp.ndarray gradient not None,
            cnp.ndarray hessian not None, Py_ssize_t first, Py_ssize_t last):
    """Write the gradients and hessians of the documents of the lists first … last - 1.

    All arrays are C-contiguous, aligned and in native byte order.

    Parameters
    ----------
    scores : float64[n_docs]
        Finite.
    gains : float64[n_docs]
        The gain of each document, at least 0 and finite. For AP and RR, all gains above 0 are 1.
    order : int64[n_docs]
        For each list, the positions of its documents by descending gain.
    offsets : int64[n_lists + 1]
        Where each list starts, and where the last one ends.
    norms : float64[n_lists]
        What the sum over the documents is divided by; a list with 0 has no gradient.
    slots : float64[depth]
        The weights of the ranks from 1, none greater than the one before it; ranks beyond have the weight 0. For AP and
        RR, 1 / rank.
    family : int
        ADDITIVE, AVERAGE_PRECISION or RECIPROCAL_RANK.
    truncation : int
        Only orders in which the upper document of a pair is among this many count.
    sigma : float
        The slope of the logistic loss, above 0.
    normalised : bool
        Whether changes are divided by the distance of the scores, and gradients by a function of their sum.
    gradient, hessian : float64[n_docs]
        The results.
    """
    cdef const int64_t* bound = <const int64_t*>cnp.PyArray_DATA(offsets)
    cdef const int64_t* by_gain = <const int64_t*>cnp.PyArray_DATA(order)
    cdef const double* score = <const double*>cnp.PyArray_DATA(scores)
    cdef const double* gain = <const double*>cnp.PyArray_DATA(gains)
    cdef const double* norm = <const double*>cnp.PyArray_DATA(norms)
    cdef double* gradients = <double*>cnp.PyArray_DATA(gradient)
    cdef double* hessians = <double*>cnp.PyArray_DATA(hessian)
    cdef Interruption interruption = no_interruption()
    cdef Py_ssize_t longest = 1, i, at, n, n_words
    cdef int outcome = 0
    cdef Scratch scratch
    cdef Model model
    cdef char* memory
    model.weight = <const double*>cnp.PyArray_DATA(slots)
    model.depth, model.truncation, model.sigma = slots.shape[0], truncation, sigma
    model.normalised, model.family = normalised, family
    for i in range(first, last):
        longest = max(longest, <Py_ssize_t>(bound[i + 1] - bound[i]))
    n_words = max(longest, <Py_ssize_t>tieaware_chunks_of(min(longest, <Py_ssize_t>TIEAWARE_LONGEST_SORTED)).n)
    memory = <char*>malloc(longest * (sizeof(Group) + (3 + N_ARRAYS) * 8) + 2 * n_words * 8)
    if memory == NULL:
        raise MemoryError("no memory to sort a list")
    divide(&scratch, memory, longest, n_words)
    with nogil:
        for i in range(first, last):
            at, n = bound[i], bound[i + 1] - bound[i]
            outcome = of_list(score + at, gain + at, by_gain + at, n, norm[i], &model, &scratch, gradients + at,
                              hessians + at, &interruption)
            if outcome or interrupted(&interruption, 64 * n):
                break
    free(memory)
    check_interruption(&interruption)
    if outcome < 0:
        raise MemoryError("no memory to sort a list")
