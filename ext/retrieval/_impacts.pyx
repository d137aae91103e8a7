"""Impact order: how much is read of each term's postings.

The postings of a term lie by descending weight, in segments of equal weight, within which documents ascend: what is
read of them lies at their beginning.
"""
cimport numpy as cnp
import numpy as np
from libc.math cimport ceil, fabs
from libc.stdint cimport int64_t, uint8_t, uint16_t
from libc.stdlib cimport free, malloc

cnp.import_array()


ctypedef fused Weight:
    float
    uint8_t
    uint16_t


# The next segment of a list: what comes first, and of those that tie, what comes next; then by the list.
cdef struct Next:
    double first
    double second
    int64_t which
    double impact


cdef inline bint comes_before(Next a, Next b) noexcept nogil:
    if a.first != b.first:
        return a.first < b.first
    if a.second != b.second:
        return a.second < b.second
    return a.which < b.which


cdef void sink(Next* heap, int64_t size, int64_t i) noexcept nogil:
    """Bring the entry i of a heap, the first at the root, to its place below."""
    cdef Next entry = heap[i]
    cdef int64_t child = 2 * i + 1
    while child < size:
        if child + 1 < size and comes_before(heap[child + 1], heap[child]):
            child += 1
        if not comes_before(heap[child], entry):
            break
        heap[i] = heap[child]
        i = child
        child = 2 * i + 1
    heap[i] = entry


cdef void read_in_order(
    Next* heap, int64_t n, int64_t* segment, const int64_t* last, const int64_t* starts, const Weight* weights,
    const double* query_weights, int64_t limit, double share, bint by_term, int64_t* stops
) noexcept nogil:
    """Go from segment to segment, those that come first in the heap, until so many postings are read."""
    cdef int64_t size = 0, i, s, take
    cdef double least = 0.0
    for i in range(n):
        if segment[i] < last[i]:
            heap[size] = heap[i]
            heap[size].impact = fabs(query_weights[i] * <double>weights[starts[segment[i]]])
            least = max(least, heap[size].impact)
            size += 1
    least *= share
    for i in range(size):
        set_order(&heap[i], by_term)
    i = size >> 1
    while i > 0:
        i -= 1
        sink(heap, size, i)
    while size > 0 and limit > 0:
        i = heap[0].which
        s = segment[i]
        if heap[0].impact >= least:
            take = min(limit, starts[s + 1] - starts[s])
            limit -= take
            stops[i] = starts[s] + take
            segment[i] = s + 1
        if heap[0].impact < least or segment[i] >= last[i]:
            # Further segments of the list add no more.
            size -= 1
            heap[0] = heap[size]
        else:
            heap[0].impact = fabs(query_weights[i] * <double>weights[starts[s + 1]])
            set_order(&heap[0], by_term)
        sink(heap, size, 0)


cdef bint ascend(const int64_t* starts, int64_t first, int64_t last) noexcept nogil:
    cdef int64_t s
    for s in range(first, last):
        if not starts[s] < starts[s + 1]:
            return False
    return True


cdef inline void set_order(Next* entry, bint by_term) noexcept nogil:
    """By impact: of those that tie, the rarer term first. By term: the rarest first, then by impact."""
    if by_term:
        entry.second = -entry.impact
    else:
        entry.first = -entry.impact


cdef choose_into(
    const int64_t[::1] terms, const int64_t[::1] of_terms, const int64_t[::1] starts, cnp.ndarray weights,
    const double[::1] query_weights, double share_read, int64_t most, double share, bint by_term, int64_t[:, ::1] parts
):
    """Find how much is read of each term's postings: `parts` is what `choose` returns."""
    cdef Py_ssize_t n = terms.shape[0], i
    cdef int64_t t, a, b, limit, total = 0
    cdef Next* heap = NULL
    cdef int64_t* segment
    cdef int64_t* last
    if query_weights.shape[0] != n or weights.ndim != 1 or not weights.flags.c_contiguous:
        raise ValueError("there is not a weight for each list, or posting")
    heap = <Next*>malloc(<size_t>(n + 1) * (sizeof(Next) + 2 * sizeof(int64_t)))
    if heap == NULL:
        raise MemoryError
    try:
        segment = <int64_t*>(heap + n + 1)
        last = segment + n
        for i in range(n):
            t = terms[i]
            if not 0 <= t < of_terms.shape[0] - 1:
                raise ValueError("there is no such term")
            segment[i], last[i] = of_terms[t], of_terms[t + 1]
            if not 0 <= segment[i] <= last[i] < starts.shape[0]:
                raise ValueError("a term has segments beyond the others")
            a, b = starts[segment[i]], starts[last[i]]
            if not (0 <= a <= b <= weights.shape[0] and ascend(&starts[0], segment[i], last[i])):
                raise ValueError("a segment is empty, or lies beyond the postings")
            parts[0, i] = parts[1, i] = a
            parts[2, i] = b
            parts[3, i], parts[4, i] = segment[i], last[i]
            total += b - a
            heap[i].first = heap[i].second = <double>(b - a)
            heap[i].which = i
        if total == 0:
            return
        # What a product is above a whole number by rounding alone does not count.
        limit = min(most, <int64_t>ceil(share_read * <double>total - 1e-9))
        if weights.dtype == np.float32:
            read_in_order(heap, n, segment, last, &starts[0], <const float*>cnp.PyArray_DATA(weights),
                          &query_weights[0], limit, share, by_term, &parts[1, 0])
        elif weights.dtype == np.uint8:
            read_in_order(heap, n, segment, last, &starts[0], <const uint8_t*>cnp.PyArray_DATA(weights),
                          &query_weights[0], limit, share, by_term, &parts[1, 0])
        elif weights.dtype == np.uint16:
            read_in_order(heap, n, segment, last, &starts[0], <const uint16_t*>cnp.PyArray_DATA(weights),
                          &query_weights[0], limit, share, by_term, &parts[1, 0])
        else:
            raise ValueError("weights are neither float32 nor uint8 nor uint16")
    finally:
        free(heap)


def choose(
    const int64_t[::1] terms, const int64_t[::1] of_terms, const int64_t[::1] starts, cnp.ndarray weights,
    const double[::1] query_weights, double share_read, int64_t most, double share, bint by_term
):
    """Find how much is read of each term's postings.

    Parameters
    ----------
    terms : int64[n_lists]
        The terms of the query.
    of_terms : int64[n_terms + 1]
        The segments of term t are of_terms[t] to of_terms[t + 1].
    starts : int64[n_segments + 1]
        The postings of segment s are starts[s] to starts[s + 1].
    weights : float32[n_postings], uint8[n_postings] or uint16[n_postings]
        The weight of each posting.
    query_weights : float64[n_lists]
        What the weights of each list are multiplied with.
    share_read, most : float, int
        Which share of all postings is read, rounded up, and how many at most.
    share : float
        Segments below this share of the largest impact are not read.
    by_term : bool
        Whether a term is read after the other, the rarest first; else segments by impact.

    Returns
    -------
    int64[5, n_lists]
        Where the postings of each list begin, where what is read of them ends, and where they end; where the segments
        of each list begin, and end.
    """
    parts = np.empty((5, terms.shape[0]), np.int64)
    choose_into(terms, of_terms, starts, weights, query_weights, share_read, most, share, by_term, parts)
    return parts
