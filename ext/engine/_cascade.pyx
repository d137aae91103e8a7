"""Expected reciprocal rank (ERR) under ties: mean and variance over the orders of tied documents.

iRBU is the same with the utility p^j of rank j instead of 1/j.

In the model of ERR, the user stops at each document with a probability that depends on its grade. Notation:
q = 1 - stop[c] is the probability that the user goes on after a document of weighting c; it is 1 for ungraded
documents. A_x is the mean product of q over x random documents of a group: the probability that the user goes on beyond
the first x slots. S_x = A_{x-1} - A_x is the probability that the user stops at slot x. It is not computed as a
difference, which would lose digits if users seldom stop. P is the product of q over all documents of the groups before.
The numbers of a group are computed as coefficients of polynomials, or, where these would overflow, by adding documents
one at a time, in ascending order of grade.

In a large group, almost no user gets far: A_x is at most (1 - s)^x, where s is the mean stopping probability of the
group's documents. So a group is cut off after 45/s slots, where A_x is below 2^-64 and no later slot changes the sum.
"""
from libc.stdint cimport int64_t

from tieaware.kernels._groups cimport Groups
from tieaware.kernels._interruption cimport interrupted
from tieaware.kernels._measure cimport TOO_MANY, Query

cdef extern from "engine/cascade.h" nogil:
    enum:
        TIEAWARE_FEW_TIED
        TIEAWARE_MOST_IN_POLYNOMIAL
    double tieaware_write_few_stops(const double* weights, Py_ssize_t stride, const double* stop, int n_weightings,
                                    int64_t n, double* stops)
    Py_ssize_t tieaware_spare_stops(Py_ssize_t n_weightings)
    double tieaware_write_stops(const double* weights, Py_ssize_t stride, const double* stop, int n_weightings, int n,
                                int m, double* stops)
    Py_ssize_t tieaware_covariances_row(int64_t m)
    void tieaware_join_products(double* products, int m, int64_t i, double q)
    void tieaware_join_stops(double* stops, const double* products, int m, int64_t i, double q, double stop)
    void tieaware_join_falls(double* falls, int m, int64_t i, double q)
    void tieaware_join_covariances(double* covariances, const double* falls, double* work, int m, int64_t i, double q,
                                   bint is_first)
    void tieaware_sum_covariances(const double* covariances, const double* steps, double* sums, int m)

# The memory for the variance grows with the square of the number of slots. This many slots need 32 MB.
cdef enum:
    MOST_SLOTS = 2000

# The kernel refuses to compute a value that takes more steps than this, which would last a few seconds.
cdef double MOST_STEPS = 3e9

# Slots after the first REACH/s of a group are ignored: there, (1 - s)^(REACH/s) is negligible for any s.
cdef double REACH = 45.0


cdef inline const double* stops_of(const Query* q) noexcept nogil:
    """Return the probabilities of a stop by weighting. iRBU has them in the second lookup array."""
    return q.measure.lookup if q.measure.of_queries == NULL else q.measure.of_queries


cdef double mean_of_cascade(const Query* query) noexcept nogil:
    """Return Σ P Σ_{x≤m} S_x/(t+x), divided by the norm. The workspace holds S_m … S_1."""
    cdef const Groups* groups = query.groups
    cdef const double* stop = stops_of(query)
    cdef double[TIEAWARE_FEW_TIED] few
    cdef int64_t t, m, x, k = query.measure.cutoff
    cdef Py_ssize_t g, c
    cdef double own, rest, goes_on = 1.0, total = 0.0
    for g in range(groups.count):
        t = groups.start[g]
        if t >= k or goes_on < 1e-30 * total:
            break
        if groups.size[g] == 1:
            # A_0 is 1, and A_1 is q. One weight is not 0. Do not branch on it: the processor cannot predict the grade.
            own = 0.0
            for c in range(query.measure.n_weightings):
                own += stop[c] * query.weight[c * groups.stride + g]
            total += over_rank(query, goes_on * own, t + 1)
            goes_on *= 1.0 - own
        elif groups.size[g] <= TIEAWARE_FEW_TIED:
            rest = tieaware_write_few_stops(query.weight + g, groups.stride, stop, query.measure.n_weightings,
                                            groups.size[g], few)
            m = min(groups.size[g], k - t)
            for x in range(TIEAWARE_FEW_TIED):
                # Slots beyond the group or the cut-off count 0 times.
                total += over_rank(query, goes_on * few[x], t + 1 + x * (x < m)) * (x < m)
            goes_on *= rest
        elif graded_of(query, g) > 0.0:
            m = reached(query, g)
            rest = write_stops(query, g, m)
            for x in range(1, m + 1):
                total += over_rank(query, goes_on * query.workspace[m - x], t + x)
            goes_on *= rest
    return total / query.norm


cdef double write_stops(const Query* query, Py_ssize_t g, int64_t m) noexcept nogil:
    """Write S_m … S_1 of a group to the workspace, and return the product of q over its documents."""
    cdef const Groups* groups = query.groups
    cdef const double* stop = stops_of(query)
    cdef double* stops = query.workspace
    cdef double* products = stops + m + 1
    cdef int64_t x, graded = <int64_t>graded_of(query, g), i = groups.size[g] - graded
    cdef Py_ssize_t c, _copy
    cdef double rest = 1.0
    if groups.size[g] <= TIEAWARE_MOST_IN_POLYNOMIAL:
        if interrupted(query.interruption, graded * m):
            return 0.0
        return tieaware_write_stops(query.weight + g, groups.stride, stop, query.measure.n_weightings,
                                    <int>groups.size[g], <int>m, stops)
    for x in range(m + 1):
        # For x above the number of ungraded documents, any numbers would do: A_x and S_x will be multiplied by 0.
        products[x] = 1.0
        stops[x] = 0.0
    for c in range(query.measure.n_weightings):
        for _copy in range(<Py_ssize_t>query.weight[c * groups.stride + g]):
            if interrupted(query.interruption, 2 * m):
                return 0.0
            i += 1
            rest *= 1.0 - stop[c]
            tieaware_join_stops(stops, products, <int>m, i, 1.0 - stop[c], stop[c])
            tieaware_join_products(products, <int>m, i, 1.0 - stop[c])
    return rest


cdef double variance_of_cascade(const Query* query) noexcept nogil:
    """Return Σ P² Σ_x Σ_y δ_x δ_y K_xy, divided by the squared norm.

    K_xy = Cov(T_x, T_y), where T_x is the product of q over the first x documents of the group. The sum of ERR over
    the group is 1/(t+1) - Σ T_x δ_x, with δ_x = 1/(t+x) - 1/(t+x+1), or 1/(t+x) for the last slot within a cut-off.
    Adding the i-th document, which may stand at any place, turns K_xy, x ≤ y, into
    ((i-y) K_xy + (y-x) q K_x,y-1 + x q² K_x-1,y-1)/i + x (i-y)/i² F_x F_y. Here F_x = A_x - q A_{x-1} is the decrease
    of the mean of T_x if the new document stands within the first x. No term is negative, because no earlier document
    has a higher grade. F_x is also the mean of T_{x-1} times the difference between the q of the x-th document and the
    q of the current grade. Adding a document turns F_x into ((i-x) F_x + (x-1) q F_{x-1})/i. When the next grade has
    the probability q instead of q', F_x becomes F_x + (q' - q) A_{x-1}.
    """
    cdef const Groups* groups = query.groups
    cdef Py_ssize_t g, c
    cdef int _copy
    cdef double goes_on = 1.0, total = 0.0
    for g in range(groups.count):
        if groups.start[g] >= query.measure.cutoff or goes_on < 1e-150:
            break
        if differ(query, g):
            total += goes_on * goes_on * variance_of_group(query, g)
        for c in range(query.measure.n_weightings):
            for _copy in range(<int>query.weight[c * groups.stride + g]):
                goes_on *= 1.0 - stops_of(query)[c]
    return total / query.norm / query.norm


cdef double variance_of_group(const Query* query, Py_ssize_t g) noexcept nogil:
    """Return the variance inside one group.

    The workspace holds K, three rows of working memory, A and F. The rows of K are in ascending order of x, and the
    numbers of a row in descending order of y, from m.
    """
    cdef const Groups* groups = query.groups
    cdef const double* stop = stops_of(query)
    cdef int64_t t = groups.start[g], m = reached(query, g), x
    cdef int64_t n_ungraded = groups.size[g] - <int64_t>graded_of(query, g), i = n_ungraded
    cdef Py_ssize_t row = tieaware_covariances_row(m)
    cdef double* covariances = query.workspace
    cdef double* work = covariances + (m + 1) * row
    cdef double* products = work + 3 * row
    cdef double* falls = products + m + 1
    cdef Py_ssize_t c, _copy
    cdef double lower = 0.0, total = 0.0
    for x in range(m + 1):
        products[x] = 1.0
        falls[x] = 0.0
    for c in range(query.measure.n_weightings):
        for _copy in range(<Py_ssize_t>query.weight[c * groups.stride + g]):
            if interrupted(query.interruption, m * m):
                return 0.0
            if stop[c] > lower:
                for x in range(m):
                    falls[x] += (stop[c] - lower) * products[x + 1]
                lower = stop[c]
            i += 1
            tieaware_join_covariances(covariances, falls, work, <int>m, i, 1.0 - stop[c], i == n_ungraded + 1)
            tieaware_join_products(products, <int>m, i, 1.0 - stop[c])
            tieaware_join_falls(falls, <int>m, i, 1.0 - stop[c])
    for x in range(1, m + 1):
        # This is δ_x. For the last slot of a group that is wholly within the cut-off, any number would do, because T_x
        # is then the same for all orders.
        work[m - x] = fall_of_utility(query, t + x)
    tieaware_sum_covariances(covariances, work, falls, <int>m)
    for x in range(m):
        total += work[x] * (work[x] * covariances[(m - x) * row + x] + 2.0 * falls[x])
    return total


cdef double mean_of_cascade_to_ideal(const Query* query) noexcept nogil:
    # If the ranking is ideal and has ties, rounding errors may make its sum slightly larger than its norm.
    return min(mean_of_cascade(query), 1.0)


cdef inline double over_rank(const Query* q, double chance, int64_t j) noexcept nogil:
    """Return `chance` times the utility of rank j: 1/j, or with a parameter p the value p^j from the lookup array."""
    if q.measure.measure_number == 0.0:
        return chance / j
    return chance * q.measure.lookup[j - 1]


cdef inline double fall_of_utility(const Query* q, int64_t j) noexcept nogil:
    """Return the utility of rank j minus that of rank j+1, which is 0 below the cut-off."""
    cdef double p = q.measure.measure_number
    if p != 0.0:
        return over_rank(q, 1.0 if j == q.measure.cutoff else 1.0 - p, j)
    return 1.0 / (j * (j + 1.0)) if j < q.measure.cutoff else 1.0 / j


cdef inline double graded_of(const Query* q, Py_ssize_t g) noexcept nogil:
    """Return the number of graded documents of a group."""
    cdef double graded = 0.0
    cdef int c
    for c in range(q.measure.n_weightings):
        graded += q.weight[c * q.groups.stride + g]
    return graded


cdef inline bint differ(const Query* q, Py_ssize_t g) noexcept nogil:
    """Return whether the documents of a group have different grades; ungraded counts as a grade."""
    cdef int c
    for c in range(q.measure.n_weightings):
        if q.weight[c * q.groups.stride + g] == q.groups.size[g]:
            return False
    return graded_of(q, g) > 0.0


cdef inline int64_t reached(const Query* q, Py_ssize_t g) noexcept nogil:
    """Return m, the number of slots of a group that are within the cut-off and not negligible.

    The group must have a graded document.
    """
    cdef int64_t n = q.groups.size[g], m = min(n, q.measure.cutoff - q.groups.start[g])
    cdef double stops = 0.0
    cdef int c
    if m <= REACH:
        return m
    for c in range(q.measure.n_weightings):
        stops += stops_of(q)[c] * q.weight[c * q.groups.stride + g]
    if stops * m > REACH * n:
        m = <int64_t>(REACH * n / stops) + 1
    return m


cdef int64_t size_of_cascade(const Query* q, bint spread) noexcept nogil:
    cdef Py_ssize_t g
    cdef int64_t n, m, most = 0, k = q.measure.cutoff
    cdef double steps = 0.0
    for g in range(q.groups.count):
        n = q.groups.size[g]
        # A group of one document needs no working memory.
        if n == 1 or q.groups.start[g] >= k or (spread and not differ(q, g)):
            continue
        m = reached(q, g)
        most = max(most, m)
        if m > REACH:
            steps += graded_of(q, g) * m * (0.5 * m if spread else 1.0)
    if steps > MOST_STEPS or most > (MOST_SLOTS if spread else 0x7ffffffe):
        return TOO_MANY
    if spread:
        return (most + 4) * tieaware_covariances_row(most) + 2 * (most + 1)
    return 2 * (most + 1) + tieaware_spare_stops(q.measure.n_weightings)
