"""Interpolated precision under ties, and the greatest F: maxima over relevant documents, with exact mean and variance.

The precision at the h-th relevant document is h/j, where j is its rank. The interpolated precision is the maximum of
h/j over the wanted h-th relevant document and all later ones. The distribution of such a maximum is computed from the
end of the list, group by group; see _maxima.pyx. The mean over several recalls is the mean of the means.

The greatest F at any cut-off is found in the same way: F is (1 + β²) h/(j + β² N), so `shift` = β² N is added to every
rank, and ranks below the measure's cut-off do not change the maximum.
"""
from libc.stdint cimport int64_t

from tieaware.kernels._groups cimport Groups
from tieaware.kernels._maxima cimport (
    Maxima, join_group, mean_above, new_maxima, size_of_maxima, variance_above, write_group,
)
from tieaware.kernels._measure cimport TOO_MANY, Query
from tieaware.kernels._recalls cimport size_of_walk, variance_of_sum

cdef enum:
    N_RECALLS = 11


cdef inline int64_t wanted_at(double recall, double n_relevant) noexcept nogil:
    """Return the number of relevant documents that reaches a recall, rounded as in trec_eval 10, but at least 1."""
    return max(<int64_t>(recall * n_relevant + 0.5), 1)


cdef inline int64_t retrieved_by(const Query* q) noexcept nogil:
    """Return the number of relevant documents of the list."""
    cdef Py_ssize_t g
    cdef int64_t retrieved = 0
    for g in range(q.groups.count):
        retrieved += <int64_t>q.weight[g]
    return retrieved


cdef void write_floors(const Query* q, const int64_t* wanted, int n_points, double shift,
                       double* floors) noexcept nogil:
    """Write the maxima of h/(j + shift) in the worst order of tied documents, a lower bound for all orders.

    In the worst order, the last relevant document of a group is at the end of the group, and as many relevant documents
    as possible are below the cut-off.
    """
    cdef const Groups* groups = q.groups
    cdef int64_t end, r, hits, k = q.measure.cutoff, after = retrieved_by(q)
    cdef Py_ssize_t g
    cdef int i = n_points - 1
    cdef double greatest = 0.0
    for g in range(groups.count - 1, -1, -1):
        r = <int64_t>q.weight[g]
        hits = after
        after -= r
        if groups.start[g] >= k:
            continue
        end = groups.start[g] + groups.size[g]
        if end > k:
            hits -= min(r, end - k)
            end = k
        # Numbers above that of the hits are reached neither in this group nor in those above it.
        while i >= 0 and wanted[i] > hits:
            floors[i] = greatest
            i -= 1
        if r > 0 and i >= 0:
            greatest = max(greatest, hits / (end + shift))
    while i >= 0:
        floors[i] = greatest
        i -= 1


cdef double mean_of_maxima(const Query* q, const int64_t* wanted, int n_points, double shift) noexcept nogil:
    """Return the mean, over several wanted numbers of relevant documents, of the mean of the maximum of h/(j + shift).

    `wanted` is ascending. The last number is computed first, because its maximum is over the fewest groups.
    """
    cdef const Groups* groups = q.groups
    cdef Maxima maxima = new_maxima(q.workspace, groups, q.weight, wanted[0], q.measure.cutoff, shift, q.interruption)
    cdef int64_t r, t, n, lowest, written, before = retrieved_by(q)
    cdef Py_ssize_t g
    cdef int i
    cdef double floors[N_RECALLS]
    cdef double least = 0.0, excess = 0.0, total = 0.0
    write_floors(q, wanted, n_points, shift, floors)
    for i in range(n_points):
        least += floors[i]
    i = n_points - 1
    for g in range(groups.count - 1, -1, -1):
        r = <int64_t>q.weight[g]
        t = groups.start[g]
        n = groups.size[g]
        before -= r
        # The lowest relevant document of the group for which the distribution of its maximum is known; 0 if for none.
        written = 0
        while i >= 0 and wanted[i] > before:
            lowest = wanted[i] - before
            if lowest != written:
                if not write_group(&maxima, t, n, r, before, lowest, floors[i]):
                    return 0.0
                excess = mean_above(&maxima, floors[i])
                written = lowest
            total += excess
            i -= 1
        if i < 0:
            break
        if written != 1 and not write_group(&maxima, t, n, r, before, 1, floors[i]):
            return 0.0
        join_group(&maxima, floors[i])
    return (least + total) / n_points


cdef double variance_of_maximum(const Query* q, int64_t wanted, double shift) noexcept nogil:
    """Return the variance of the maximum of h/(j + shift) over the wanted relevant document and all later ones."""
    cdef const Groups* groups = q.groups
    cdef Maxima maxima = new_maxima(q.workspace, groups, q.weight, wanted, q.measure.cutoff, shift, q.interruption)
    cdef int64_t r, before = retrieved_by(q)
    cdef Py_ssize_t g
    cdef double floor
    write_floors(q, &wanted, 1, shift, &floor)
    for g in range(groups.count - 1, -1, -1):
        if before < wanted:
            break
        r = <int64_t>q.weight[g]
        before -= r
        if not write_group(&maxima, groups.start[g], groups.size[g], r, before, max(wanted - before, 1), floor):
            return 0.0
        join_group(&maxima, floor)
    return variance_above(&maxima.below, floor)


cdef void write_recalls(const Query* q, int64_t* wanted) noexcept nogil:
    cdef int i
    for i in range(N_RECALLS):
        wanted[i] = wanted_at(i / 10.0, q.norm)


cdef double mean_at_recall(const Query* q) noexcept nogil:
    cdef int64_t wanted = wanted_at(q.measure.measure_number, q.norm)
    return mean_of_maxima(q, &wanted, 1, 0.0)


cdef double variance_at_recall(const Query* q) noexcept nogil:
    return variance_of_maximum(q, wanted_at(q.measure.measure_number, q.norm), 0.0)


cdef int64_t size_at_recall(const Query* q, bint spread) noexcept nogil:
    return size_of_maxima(q.groups, q.weight, wanted_at(q.measure.measure_number, q.norm), q.measure.cutoff)


cdef double mean_at_eleven_recalls(const Query* q) noexcept nogil:
    cdef int64_t wanted[N_RECALLS]
    write_recalls(q, wanted)
    return mean_of_maxima(q, wanted, N_RECALLS, 0.0)


cdef bint is_ranking(const Query* q) noexcept nogil:
    """Return whether each group is behind the one before it, within the list, and no smaller than its weight."""
    cdef Py_ssize_t g
    cdef int64_t behind = 0
    for g in range(q.groups.count):
        if q.groups.start[g] < behind or not 0.0 <= q.weight[g] <= q.groups.size[g]:
            return False
        behind = q.groups.start[g] + q.groups.size[g]
    return behind <= q.n_docs


cdef double variance_at_eleven_recalls(const Query* q) noexcept nogil:
    cdef int64_t wanted[N_RECALLS]
    cdef double floors[N_RECALLS]
    write_recalls(q, wanted)
    write_floors(q, wanted, N_RECALLS, 0.0, floors)
    return variance_of_sum(q, wanted, floors, N_RECALLS) / N_RECALLS / N_RECALLS


cdef int64_t size_at_eleven_recalls(const Query* q, bint spread) noexcept nogil:
    if spread:
        # The walk relies on groups that follow one another and hold their relevant documents. If another thread changes
        # the scores meanwhile, they may not.
        return size_of_walk(q, wanted_at(0.0, q.norm)) if is_ranking(q) else TOO_MANY
    return size_of_maxima(q.groups, q.weight, wanted_at(0.0, q.norm), q.measure.cutoff)


cdef double mean_of_greatest_f(const Query* q) noexcept nogil:
    cdef double square = q.measure.measure_number * q.measure.measure_number
    cdef int64_t wanted = 1
    return (1.0 + square) * mean_of_maxima(q, &wanted, 1, square * q.norm)


cdef double variance_of_greatest_f(const Query* q) noexcept nogil:
    cdef double square = q.measure.measure_number * q.measure.measure_number
    return (1.0 + square) * (1.0 + square) * variance_of_maximum(q, 1, square * q.norm)


cdef int64_t size_of_greatest_f(const Query* q, bint spread) noexcept nogil:
    return size_of_maxima(q.groups, q.weight, 1, q.measure.cutoff)
