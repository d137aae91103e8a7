"""Precision at the i-th relevant document of a list: i/j, where j is the rank of this document.

The document is in the first group with which at least i relevant documents are found. It is the s-th relevant document
of this group, at place X of the group: P(X = x) = C(x-1, s-1) C(n-x, r-s) / C(n, r). Notation as in _expected.pyx.
"""
from libc.stdint cimport int64_t

cimport tieaware.kernels._expected as _expected
from tieaware.kernels._measure cimport Query

# Places that are less likely than this share of the likeliest one are left out.
cdef double NEGLIGIBLE = 1e-30
# A probability this small has lost digits, or will lose them at the next step.
cdef double SMALLEST = 1e-290


# The group that holds the wanted document.
cdef struct Group:
    int64_t t
    int64_t n
    int64_t r
    # The wanted document is the s-th relevant one of the group; 0 if no group holds it.
    int64_t s
    # The number of slots of the group within the cut-off, at least 0.
    int64_t m


# Sums over the places of the wanted document, each times its probability relative to that of the likeliest place.
cdef struct PlaceSums:
    # The probabilities of the places within the cut-off, and of those below it.
    double within
    double below
    # Sums over the places within the cut-off, where V = 1/(t+X): of V, and of the first and second power of 1/rank - V.
    double value
    double less
    double square
    double rank


cdef Group group_of(const Query* q) noexcept nogil:
    cdef Group group
    cdef Py_ssize_t g
    cdef double before = 0.0, wanted = q.measure.measure_number
    group.t = group.n = group.r = group.s = group.m = 0
    for g in range(q.groups.count):
        if before + q.weight[g] >= wanted:
            group.t = q.groups.start[g]
            group.n = q.groups.size[g]
            group.r = <int64_t>q.weight[g]
            group.s = <int64_t>(wanted - before)
            group.m = min(max(q.measure.cutoff - group.t, 0), group.n)
            break
        before += q.weight[g]
    return group


cdef inline void put(const Group* group, PlaceSums* sums, double x, double chance) noexcept nogil:
    """Add place x, which has this probability relative to that of the likeliest place."""
    cdef double y
    if x > group.m:
        sums.below += chance
        return
    # 1/rank - V is not computed as a difference, because it is small in a group deep in the list.
    y = (group.t + x - sums.rank) / sums.rank / (group.t + x)
    sums.within += chance
    sums.value += chance / (group.t + x)
    sums.less += chance * y
    sums.square += chance * y * y


cdef PlaceSums sums_of(const Group* group, double rank) noexcept nogil:
    """Return the sums over all places, from the likeliest place on in both directions."""
    cdef PlaceSums sums
    cdef double n = group.n, r = group.r, s = group.s
    cdef double likeliest = s + <double><int64_t>((s - 1.0) / max(r - 1.0, 1.0) * (n - r))
    cdef double x = likeliest, chance = 1.0
    sums.within = sums.below = sums.value = sums.less = sums.square = 0.0
    sums.rank = rank
    put(group, &sums, x, chance)
    while x < n - r + s and chance > NEGLIGIBLE:
        chance *= x / (x - s + 1.0) * ((n - x - r + s) / (n - x))
        x += 1.0
        put(group, &sums, x, chance)
    x = likeliest
    chance = 1.0
    # If the likeliest place is below the cut-off, unlikely places within it are all that counts.
    while x > s and chance > max(NEGLIGIBLE * sums.within, SMALLEST):
        chance *= (x - s) / (x - 1.0) * ((n - x + 1.0) / (n - x + 1.0 - r + s))
        x -= 1.0
        put(group, &sums, x, chance)
    return sums


cdef double mean_of_precision(const Query* q) noexcept nogil:
    """Return i E[V]; V counts as 0 below the cut-off."""
    cdef Group group = group_of(q)
    cdef PlaceSums sums
    if group.s == 0 or group.m == 0:
        return 0.0
    sums = sums_of(&group, 1.0)
    return q.measure.measure_number * (sums.value / (sums.within + sums.below))


cdef double variance_of_precision(const Query* q) noexcept nogil:
    """Return i² (P Var(V | within) + P (1-P) E[V | within]²), where P is the probability to be within the cut-off.

    A first pass computes E[V | within], and a second one the deviations from it. An error of this mean only adds its
    square to the variance, and is subtracted.
    """
    cdef Group group = group_of(q)
    cdef PlaceSums sums
    cdef double both, mean, varied
    if group.s == 0 or group.m < group.s or group.r == group.n:
        return 0.0
    sums = sums_of(&group, 1.0)
    if sums.within == 0.0:
        return 0.0
    sums = sums_of(&group, sums.within / sums.value)
    both = sums.within + sums.below
    mean = sums.value / sums.within
    varied = max(sums.square - sums.less / sums.within * sums.less, 0.0) / both
    varied += sums.within / both * (sums.below / both) * mean * mean
    return q.measure.measure_number * q.measure.measure_number * varied


cdef double relevance_when_retrieved(const Query* q) noexcept nogil:
    """Return i / (i + E[j - i]). The mean of j - i is the expected search length."""
    cdef Group group = group_of(q)
    cdef double wanted = q.measure.measure_number
    return wanted / (wanted + _expected.search_length(q)) if group.s > 0 else 0.0
