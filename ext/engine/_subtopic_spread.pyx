"""Measures of diversity under ties: variances over the orders of tied documents.

The notation is that of _subtopics.pyx. The value of a group is a sum over subtopics, so its variance is a sum of
covariances over pairs of subtopics (i, j): r_i and r_j of the group's documents have them, and b have both. The orders
of different groups are independent.

The first two numbers of the workspace are the smallest and the largest value, for `extremes`. No variance exceeds the
square of half their distance; this bound keeps rounding errors from giving a variance to a measure that has the same
value in all orders.
"""
from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint64_t

from tieaware.kernels._exact cimport add, double_double, product, scale, two_product, two_sum
from tieaware.kernels._interruption cimport interrupted
from tieaware.kernels._measure cimport TOO_MANY, Query, between
from tieaware.kernels._subtopic_orders cimport (
    Range, counts_of, divided, new_in, range_of_hits, range_of_novelty, range_of_precision, range_of_success,
    size_of_hits, size_of_orders, size_of_success,
)
from tieaware.kernels._subtopics cimport Subtopics, size_of_mean_of_novelty, subtopics_in, subtopics_of

# The kernel refuses to compute a variance that takes more steps than this, which would last a few seconds, or for which
# more slots of a group count: their covariances need 32 MB.
cdef double MOST_STEPS = 3e9
cdef double MOST_SLOTS = 2000.0

# Slots after the first REACH/s of a group are ignored, as in _subtopics.pyx.
cdef double REACH = 45.0


cdef void extremes(const Query* q, double* least, double* most) noexcept nogil:
    least[0] = q.workspace[0]
    most[0] = q.workspace[1]


cdef inline double bounded(const Query* q, Range limits, double variance) noexcept nogil:
    """Write the range for `extremes`; return the variance of the value, at least 0 and at most its bound."""
    cdef double half = 0.5 * (limits.most - limits.least)
    q.workspace[0] = limits.least
    q.workspace[1] = limits.most
    return min(max(variance, 0.0), half * half)


cdef inline int64_t whole(double size) noexcept nogil:
    return TOO_MANY if size == INFINITY else <int64_t>size


cdef inline double_double exactly(double x) noexcept nogil:
    cdef double_double p
    p.high = x
    p.low = 0.0
    return p


cdef inline double_double over(double_double a, double b) noexcept nogil:
    """Return a / b to about 104 bits."""
    cdef double high = a.high / b
    cdef double_double p = two_product(high, b)
    p.high, p.low = -p.high, -p.low
    p = add(a, p)
    return two_sum(high, (p.high + p.low) / b)


cdef double shared(const Query* q, const Subtopics* subtopics, Py_ssize_t g, int64_t i, int64_t j) noexcept nogil:
    """Return b, the number of documents of a group with both subtopics."""
    cdef const double* counts = counts_of(q, g)
    cdef uint64_t both = <uint64_t>1 << i | <uint64_t>1 << j
    cdef int64_t c
    cdef double total = 0.0
    for c in range(subtopics.n_combinations):
        if subtopics_in(subtopics, c) & both == both:
            total += counts[c * q.groups.stride]
    return total


# Hits.


cdef double variance_of_intents_hits(const Query* q) noexcept nogil:
    """Return m (n-m)/n s² of the group that the cut-off divides, divided by the squared norm.

    s² is the sample variance of v, the total weight of the subtopics of a document.
    """
    cdef Subtopics subtopics = subtopics_of(q)
    cdef Range limits = range_of_hits(q, q.workspace + 2)
    cdef const double* counts
    cdef Py_ssize_t g = divided(q)
    cdef int64_t c
    cdef double n, m, mean = 0.0, others, squares = 0.0, deviation
    if g < 0:
        return bounded(q, limits, 0.0)
    n = q.groups.size[g]
    m = q.measure.cutoff - q.groups.start[g]
    counts = counts_of(q, g)
    others = n
    for c in range(subtopics.n_combinations):
        mean += counts[c * q.groups.stride] * worth_of(&subtopics, c) / n
        others -= counts[c * q.groups.stride]
    for c in range(subtopics.n_combinations):
        deviation = worth_of(&subtopics, c) - mean
        squares += counts[c * q.groups.stride] * deviation * deviation
    squares += others * mean * mean
    return bounded(q, limits, m / n * ((n - m) / (n - 1.0)) * squares / q.norm / q.norm)


cdef inline double worth_of(const Subtopics* subtopics, int64_t c) noexcept nogil:
    """Return the total weight of the subtopics of a combination."""
    cdef uint64_t rest = subtopics_in(subtopics, c)
    cdef int64_t i = 0
    cdef double total = 0.0
    while rest:
        if rest & 1:
            total += subtopics.weight[i]
        rest >>= 1
        i += 1
    return total


cdef int64_t size_of_intents_hits(const Query* q, bint spread) noexcept nogil:
    return whole(2.0 + size_of_hits(q)) if spread else 0


# Subtopic recall.


cdef double variance_of_intents_success(const Query* q) noexcept nogil:
    """Return Σ_ij w_i w_j (P_ij - P_i P_j), over the subtopics that the group divided by the cut-off may add.

    P_i = C(n-r_i, m)/C(n, m) is the probability that none of m documents of the group has subtopic i, and P_ij that of
    none with i or j. The differences are computed in double-double precision.
    """
    cdef Subtopics subtopics = subtopics_of(q)
    cdef Range limits = range_of_success(q, q.workspace + 2)
    cdef Py_ssize_t g = divided(q)
    cdef uint64_t found
    cdef int64_t i, j, n, m
    cdef double r_i, r_j
    cdef double_double difference, total = exactly(0.0)
    if g < 0:
        return bounded(q, limits, 0.0)
    found = new_in(q, &subtopics, g)
    n = q.groups.size[g]
    m = q.measure.cutoff - q.groups.start[g]
    for i in range(subtopics.n):
        for j in range(i + 1):
            if not (found >> i & 1 and found >> j & 1):
                continue
            if interrupted(q.interruption, 60 * m):
                return 0.0
            r_i = q.weight[i * q.groups.stride + g]
            r_j = q.weight[j * q.groups.stride + g]
            difference = product(none_within(n, m, r_i), none_within(n, m, r_j))
            difference.high, difference.low = -difference.high, -difference.low
            difference = add(none_within(n, m, r_i + r_j - shared(q, &subtopics, g, i, j)), difference)
            difference = scale(scale(difference, subtopics.weight[i]), subtopics.weight[j])
            total = add(total, difference if i == j else scale(difference, 2.0))
    return bounded(q, limits, total.high)


cdef double_double none_within(int64_t n, int64_t m, double r) noexcept nogil:
    """Return C(n-r, m)/C(n, m), the product of (n-m-x)/(n-x) over x < r, or of (n-r-x)/(n-x) over x < m."""
    cdef double_double chance = exactly(1.0)
    cdef double few = min(r, <double>m), many = max(r, <double>m), x = 0.0
    while x < few and chance.high > 1e-40:
        if n - many - x <= 0.0:
            return exactly(0.0)
        chance = over(scale(chance, n - many - x), n - x)
        x += 1.0
    return chance


cdef int64_t size_of_intents_success(const Query* q, bint spread) noexcept nogil:
    return whole(2.0 + size_of_success(q)) if spread else 0


# Average precision.


# Sums over the slots x = 1 … m of a group, with h_x = 1/(t+x).
cdef struct PlacedSums:
    # Σ h_x, Σ h_x (x-1), Σ h_x², Σ h_x² (x-1), Σ h_x² (x-1)(x-2)
    double_double one
    double_double placed
    double_double squares
    double_double placed_squares
    double_double twice_placed_squares
    # Over pairs y < x: Σ h_y h_x, Σ h_y h_x (y-1), Σ h_y h_x (x-1), Σ h_y h_x (y-1)(x-1)
    double_double pairs
    double_double lower
    double_double upper
    double_double both


cdef bint fill(const Query* q, int64_t t, int64_t m, PlacedSums* sums) noexcept nogil:
    cdef double_double h, square, with_before
    cdef double_double placed_before = exactly(0.0)
    cdef int64_t x
    sums.one = sums.placed = sums.squares = sums.placed_squares = sums.twice_placed_squares = exactly(0.0)
    sums.pairs = sums.lower = sums.upper = sums.both = exactly(0.0)
    for x in range(1, m + 1):
        if interrupted(q.interruption, 200):
            return False
        h = over(exactly(1.0), <double>(t + x))
        # sums.one is still Σ h_y over y < x, and placed_before is Σ h_y (y-1).
        with_before = product(h, sums.one)
        sums.pairs = add(sums.pairs, with_before)
        sums.upper = add(sums.upper, scale(with_before, x - 1.0))
        with_before = product(h, placed_before)
        sums.lower = add(sums.lower, with_before)
        sums.both = add(sums.both, scale(with_before, x - 1.0))
        square = product(h, h)
        sums.one = add(sums.one, h)
        placed_before = add(placed_before, scale(h, x - 1.0))
        sums.squares = add(sums.squares, square)
        square = scale(square, x - 1.0)
        sums.placed_squares = add(sums.placed_squares, square)
        sums.twice_placed_squares = add(sums.twice_placed_squares, scale(square, x - 2.0))
    sums.placed = placed_before
    return True


cdef double_double mean_of_part(const PlacedSums* s, double n, double before, double r) noexcept nogil:
    """Return the mean of S = (R + 1) Σ h_x I_x + Σ_{y<x} h_x I_y I_x, where I_x says if the document at slot x has i.

    R documents of earlier groups have i, and r of this one.
    """
    cdef double_double total = scale(s.one, before + 1.0)
    if n > 1.0:
        total = add(total, over(scale(s.placed, r - 1.0), n - 1.0))
    return over(scale(total, r), n)


cdef double_double mean_of_product(const PlacedSums* s, double n, double c, double u, double e, double v,
                                   double b) noexcept nogil:
    """Return the mean of the product of two such sums: c = R + 1 and u documents for one subtopic, e and v for another.

    b documents have both. The slots of up to four documents coincide or differ; each pattern has a probability and a
    sum over slots.
    """
    cdef double_double uv = two_product(u, v), total, part, pattern
    # Two slots: both documents the same, or different ones.
    total = over(scale(s.squares, b), n)
    total = scale(scale(total, c), e)
    if n == 1.0:
        return total
    pattern = add(product(s.one, s.one), negative(s.squares))
    part = product(pattern, add(uv, exactly(-b)))
    total = add(total, scale(scale(over(over(part, n), n - 1.0), c), e))
    # Three slots, two of them of one sum.
    total = add(total, scale(of_three(s, n, uv, b, v), c))
    total = add(total, scale(of_three(s, n, uv, b, u), e))
    # Four slots: two documents in common.
    part = scale(scale(s.placed_squares, b), b - 1.0)
    total = add(total, over(over(part, n), n - 1.0))
    if n == 2.0:
        return total
    # One document in common.
    part = scale(add(two_product(u - 1.0, v - 1.0), exactly(1.0 - b)), b)
    pattern = add(s.twice_placed_squares, scale(s.lower, 4.0))
    total = add(total, over(over(over(product(pattern, part), n), n - 1.0), n - 2.0))
    if n == 3.0:
        return total
    # None in common.
    part = product(two_product(u, u - 1.0), two_product(v, v - 1.0))
    part = add(part, scale(scale(exactly(-4.0 * b), u - 1.0), v - 1.0))
    part = add(part, scale(exactly(2.0 * b), b - 1.0))
    pattern = scale(add(s.both, scale(s.lower, -2.0)), 2.0)
    return add(total, over(over(over(over(product(pattern, part), n), n - 1.0), n - 2.0), n - 3.0))


cdef double_double of_three(const PlacedSums* s, double n, double_double uv, double b, double v) noexcept nogil:
    """Return the mean of Σ_x h_x I_x Σ_{z<y} h_y J_z J_y, where v documents are counted by J."""
    cdef double_double part = scale(scale(add(s.placed_squares, s.pairs), b), v - 1.0)
    cdef double_double total = over(over(part, n), n - 1.0)
    if n == 2.0:
        return total
    part = scale(add(uv, exactly(-2.0 * b)), v - 1.0)
    part = product(part, add(add(s.lower, s.upper), negative(s.pairs)))
    return add(total, over(over(over(part, n), n - 1.0), n - 2.0))


cdef inline double_double negative(double_double a) noexcept nogil:
    a.high, a.low = -a.high, -a.low
    return a


cdef double variance_of_intents_precision(const Query* q) noexcept nogil:
    """Return Σ_ij w_i w_j Cov(S_i, S_j) over the groups, in double-double precision; see `mean_of_part` for S."""
    cdef Subtopics subtopics = subtopics_of(q)
    cdef double* before = q.workspace + 2
    cdef Range limits = range_of_precision(q, before, before + 2 * subtopics.n)
    cdef Py_ssize_t g
    cdef int64_t i, j, t, n
    cdef double r_i, r_j, w_i, w_j
    cdef PlacedSums sums
    cdef double_double covariance, total = exactly(0.0)
    for i in range(subtopics.n):
        before[i] = 0.0
    for g in range(q.groups.count):
        t = q.groups.start[g]
        n = q.groups.size[g]
        if t >= q.measure.cutoff:
            break
        if n > 1:
            if not fill(q, t, min(n, q.measure.cutoff - t), &sums):
                return 0.0
            for i in range(subtopics.n):
                r_i = q.weight[i * q.groups.stride + g]
                w_i = subtopics.weight[i]
                if w_i == 0.0 or r_i == 0.0 or r_i == n:
                    continue
                for j in range(i + 1):
                    r_j = q.weight[j * q.groups.stride + g]
                    w_j = subtopics.weight[j]
                    if w_j == 0.0 or r_j == 0.0 or r_j == n:
                        continue
                    covariance = negative(product(mean_of_part(&sums, <double>n, before[i], r_i),
                                                  mean_of_part(&sums, <double>n, before[j], r_j)))
                    covariance = add(covariance, mean_of_product(
                        &sums, <double>n, before[i] + 1.0, r_i, before[j] + 1.0, r_j,
                        shared(q, &subtopics, g, i, j)))
                    total = add(total, scale(scale(covariance, w_i), w_j if i == j else 2.0 * w_j))
        for i in range(subtopics.n):
            before[i] += q.weight[i * q.groups.stride + g]
    return bounded(q, limits, total.high)


cdef int64_t size_of_intents_precision(const Query* q, bint spread) noexcept nogil:
    cdef Subtopics subtopics = subtopics_of(q)
    return whole(2.0 + 2.0 * subtopics.n + size_of_orders(q)) if spread else 0


# Cascades.


cdef double variance_of_novelty(const Query* q) noexcept nogil:
    """Return Σ_ij Q_i Q_j Σ_xy δ_x δ_y K_xy over the groups, divided by the squared norm.

    Q_i is the weight of subtopic i times q to the number of earlier documents with it. T_x = q^H, for the H documents
    with the subtopic among the first x of the group, and K_xy is the covariance of T_x for i and T_y for j, divided by
    α². The gain of a group is (d_1 - Σ δ_x T_x)/α, with δ_x = d_{t+x} - d_{t+x+1}, or d_{t+x} for the last slot within
    a cut-off.
    """
    cdef Subtopics subtopics = subtopics_of(q)
    cdef double* left = q.workspace + 2
    cdef double* work = left + subtopics.n
    cdef Range limits = range_of_novelty(q, left, work)
    cdef Py_ssize_t g
    cdef int64_t i, j, m
    cdef double r_i, r_j, n, total = 0.0, part
    for i in range(subtopics.n):
        left[i] = subtopics.weight[i]
    for g in range(q.groups.count):
        n = q.groups.size[g]
        if q.groups.start[g] >= q.measure.cutoff:
            break
        m = reached(q, &subtopics, g)
        if m > 0:
            for i in range(subtopics.n):
                r_i = q.weight[i * q.groups.stride + g]
                if left[i] == 0.0 or r_i == 0.0 or r_i == n:
                    continue
                for j in range(subtopics.n):
                    r_j = q.weight[j * q.groups.stride + g]
                    if left[j] == 0.0 or r_j == 0.0 or r_j == n:
                        continue
                    part = covariance_of(q, g, m, r_i, r_j, shared(q, &subtopics, g, i, j), work)
                    if q.interruption.stopped:
                        return 0.0
                    total += left[i] * left[j] * part
        for i in range(subtopics.n):
            r_i = q.weight[i * q.groups.stride + g]
            while r_i > 0.0 and left[i] > 0.0:
                left[i] *= 1.0 - q.measure.measure_number
                r_i -= 1.0
                if q.measure.measure_number == 0.0:
                    break
    return bounded(q, limits, total / q.norm / q.norm)


cdef double covariance_of(const Query* q, Py_ssize_t g, int64_t m, double r_i, double r_j, double b,
                          double* work) noexcept nogil:
    """Return Σ_x δ_x² K_xx + 2 Σ_{x<y} δ_x δ_y K_xy; over (i, j) and (j, i), this adds up to all pairs of slots.

    Documents are added one at a time to those with neither subtopic. The e-th one, which may stand at any place, turns
    K_xy, x ≤ y, into ((e-y) K_xy + (y-x) q_j K_x,y-1 + x q_i q_j K_x-1,y-1)/e + x (e-y)/e² F_x F_y. q_i is q if it has
    subtopic i, and else 1; F_x is A_x - q_i A_{x-1}, divided by α, for i, and F_y the same for j. With A_{x-1} - A_x =
    α D_x, F_x is A_{x-1} - D_x if it has the subtopic, and else -D_x.
    """
    cdef int64_t row = m + 1, t = q.groups.start[g], n = q.groups.size[g], x, y, e, kind, number, _copy
    cdef double* covariance = work
    cdef double* first = covariance + row * row
    cdef double* second = first + 2 * row
    cdef double* fall = second + 2 * row
    cdef double* other_fall = fall + row
    cdef double goes_on = 1.0 - q.measure.measure_number, q_i, q_j, total = 0.0, part
    cdef double_double d
    for x in range(row * row):
        covariance[x] = 0.0
    for x in range(row):
        first[x] = second[x] = 1.0
        first[row + x] = second[row + x] = 0.0
    e = n - <int64_t>(r_i + r_j - b)
    for kind in range(3):
        # Documents with both, with i only, and with j only.
        number = <int64_t>(b if kind == 0 else r_i - b if kind == 1 else r_j - b)
        q_i = goes_on if kind != 2 else 1.0
        q_j = goes_on if kind != 1 else 1.0
        for _copy in range(number):
            if interrupted(q.interruption, m * m):
                return 0.0
            e += 1
            falls_of(first, row, m, e, kind != 2, fall)
            falls_of(second, row, m, e, kind != 1, other_fall)
            add_covariances(covariance, row, min(m, e), e, q_i, q_j, fall, other_fall)
            add_document(first, row, min(m, e), e, q_i, kind != 2)
            add_document(second, row, min(m, e), e, q_j, kind != 1)
    for x in range(1, row):
        # The δ_x take the place of the A_x.
        d = between(q.measure.lookup, t + x - 1, 1)
        first[x] = d.high + d.low
        if t + x < q.measure.cutoff:
            # Beyond the last slot of a group, any weight would do: T_x is the same in all orders, or negligible.
            d = between(q.measure.lookup, t + x, 1) if x < m else between(q.measure.lookup, t + x - 1, 1)
            first[x] -= d.high + d.low
    for x in range(1, row):
        part = 0.0
        for y in range(x + 1, row):
            part += first[y] * covariance[x * row + y]
        total += first[x] * (first[x] * covariance[x * row + x] + 2.0 * part)
    return total


cdef void falls_of(const double* state, int64_t row, int64_t m, int64_t e, bint has, double* fall) noexcept nogil:
    """Write F_x from A_x, state[x], and D_x, state[row + x]."""
    cdef int64_t x
    for x in range(1, min(m, e) + 1):
        fall[x] = (state[x - 1] if has else 0.0) - state[row + x]


cdef void add_document(double* state, int64_t row, int64_t m, int64_t e, double q, bint has) noexcept nogil:
    """Turn the A_x and D_x of e - 1 documents into those of e documents.

    A_x becomes ((e-x) A_x + x q A_{x-1})/e, and D_x becomes ((e-x) D_x + (x-1) q D_{x-1} + A_{x-1})/e, without the last
    term if the new document does not have the subtopic.
    """
    cdef int64_t x
    for x in range(m, 0, -1):
        state[row + x] = ((e - x) * state[row + x] + (x - 1) * q * state[row + x - 1]
                          + (state[x - 1] if has else 0.0)) / e
        state[x] = ((e - x) * state[x] + x * q * state[x - 1]) / e


cdef void add_covariances(double* covariance, int64_t row, int64_t m, int64_t e, double q_i, double q_j,
                          const double* fall, const double* other_fall) noexcept nogil:
    cdef int64_t x, y
    cdef double* above
    cdef double* here
    cdef double share, n = <double>e
    for x in range(m, 0, -1):
        here = covariance + x * row
        above = here - row
        share = x / (n * n) * fall[x]
        for y in range(m, x - 1, -1):
            here[y] = ((n - y) * here[y] + (y - x) * q_j * here[y - 1] + x * (q_i * q_j) * above[y - 1]) / n + (
                share * (n - y) * other_fall[y])


cdef int64_t reached(const Query* q, const Subtopics* subtopics, Py_ssize_t g) noexcept nogil:
    """Return the number of slots of a group that are within the cut-off and not negligible; 0 if all orders are alike.
    """
    cdef int64_t i, n = q.groups.size[g], m = min(n, q.measure.cutoff - q.groups.start[g])
    cdef double r, least = INFINITY
    for i in range(subtopics.n):
        r = q.weight[i * q.groups.stride + g]
        if subtopics.weight[i] > 0.0 and 0.0 < r < n:
            least = min(least, r)
    if least == INFINITY:
        return 0
    if m > REACH and q.measure.measure_number * least * m > REACH * n:
        m = <int64_t>(REACH * n / (q.measure.measure_number * least)) + 1
    return m


cdef int64_t size_of_novelty(const Query* q, bint spread) noexcept nogil:
    cdef Subtopics subtopics = subtopics_of(q)
    cdef Py_ssize_t g
    cdef int64_t i, j
    cdef double m, most = 0.0, steps = 0.0, r_i, r_j
    if not spread:
        return size_of_mean_of_novelty(q)
    for g in range(q.groups.count):
        if q.groups.start[g] >= q.measure.cutoff:
            break
        m = reached(q, &subtopics, g)
        most = max(most, m)
        for i in range(subtopics.n):
            r_i = q.weight[i * q.groups.stride + g]
            for j in range(subtopics.n):
                r_j = q.weight[j * q.groups.stride + g]
                if r_i > 0.0 and r_j > 0.0:
                    steps += m * m * (1.0 + r_i + r_j)
    if most > MOST_SLOTS or steps > MOST_STEPS:
        return TOO_MANY
    return whole(2.0 + subtopics.n + max(size_of_orders(q), (most + 1.0) * (most + 7.0)))
