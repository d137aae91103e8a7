"""Impact order: the choice of how many postings of each term to read for a query.

The postings of a term are in descending order of weight. A segment, as the literature on impact-ordered indexes calls
it, is a sequence of postings of one term that have equal weight; its documents ascend. The postings that are read of a
term are always its first postings. The impact of a posting is its weight times the term's weight in the query.
"""
import numpy as np
from libc.math cimport ceil, fabs
from libc.stdint cimport int64_t, uint8_t, uint16_t
from libc.stdlib cimport free, malloc

cimport tieaware.kernels._numpy as cnp

cnp.import_array()


ctypedef fused Weight:
    float
    uint8_t
    uint16_t


# The next segment of list number `which`, with its impact. Segments are read in ascending order of `first`; if these
# are equal, of `second`; if these are also equal, of `which`.
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
    """Move entry i of a heap down to its place; the root is the entry that comes first."""
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
    """Choose segment after segment, in the order of the heap, until `limit` postings are chosen.

    stops[i] becomes the index after the last chosen posting of list i.

    Segments with an impact below `share` times the largest impact are left out.
    """
    cdef int64_t size = 0, i, s, take
    cdef double least = 0.0
    cdef bint reaches
    for i in range(n):
        if segment[i] < last[i]:
            heap[size] = heap[i]
            heap[size].impact = fabs(query_weights[i] * <double>weights[starts[segment[i]]])
            least = max(least, heap[size].impact)
            size += 1
    # An infinite impact times a share of 0 would not be a number.
    least = least * share if share > 0.0 else 0.0
    for i in range(size):
        set_order(&heap[i], by_term)
    i = size >> 1
    while i > 0:
        i -= 1
        sink(heap, size, i)
    while size > 0 and limit > 0:
        i = heap[0].which
        s = segment[i]
        # False for an impact that is not a number: a weight of 0 times an infinite one.
        reaches = heap[0].impact >= least
        if reaches:
            take = min(limit, starts[s + 1] - starts[s])
            limit -= take
            stops[i] = starts[s] + take
            segment[i] = s + 1
        if not reaches or segment[i] >= last[i]:
            # Remove the list from the heap: its further segments have lower impacts, or it has no further segments.
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
    """Set the keys `first` and `second` of the reading order: the highest impact first, then the rarest term.

    With `by_term`, the keys are exchanged: the rarest term first, then the highest impact. Before the call, both keys
    must be the number of postings of the term; the call replaces one of the keys by the negative impact.
    """
    if by_term:
        entry.second = -entry.impact
    else:
        entry.first = -entry.impact


cdef choose_into(
    const int64_t[::1] terms, const int64_t[::1] term_starts, const int64_t[::1] starts, cnp.ndarray weights,
    const double[::1] query_weights, double share_read, int64_t most, double share, bint by_term, int64_t[:, ::1] ranges
):
    """Write the result of `choose` to `ranges`."""
    cdef Py_ssize_t n = terms.shape[0], i
    cdef int64_t t, a, b, limit, total = 0
    cdef Next* heap = NULL
    cdef int64_t* segment
    cdef int64_t* last
    if query_weights.shape[0] != n or weights.ndim != 1 or not weights.flags.c_contiguous:
        raise ValueError("query_weights must have a weight for each list, and weights one for each posting")
    heap = <Next*>malloc(<size_t>(n + 1) * (sizeof(Next) + 2 * sizeof(int64_t)))
    if heap == NULL:
        raise MemoryError
    try:
        segment = <int64_t*>(heap + n + 1)
        last = segment + n
        for i in range(n):
            t = terms[i]
            if not 0 <= t < term_starts.shape[0] - 1:
                raise ValueError("terms: a term number is out of range")
            segment[i], last[i] = term_starts[t], term_starts[t + 1]
            if not 0 <= segment[i] <= last[i] < starts.shape[0]:
                raise ValueError("term_starts: a term has segments outside the array")
            a, b = starts[segment[i]], starts[last[i]]
            if not (0 <= a <= b <= weights.shape[0] and ascend(&starts[0], segment[i], last[i])):
                raise ValueError("starts: a segment is empty or outside the postings")
            ranges[0, i] = ranges[1, i] = a
            ranges[2, i] = b
            ranges[3, i], ranges[4, i] = segment[i], last[i]
            total += b - a
            heap[i].first = heap[i].second = <double>(b - a)
            heap[i].which = i
        if total == 0:
            return
        # A product that exceeds a whole number by less than 1e-9, because of floating-point error, is rounded down.
        limit = min(most, <int64_t>ceil(share_read * <double>total - 1e-9))
        if weights.dtype == np.float32:
            read_in_order(heap, n, segment, last, &starts[0], <const float*>cnp.PyArray_DATA(weights),
                          &query_weights[0], limit, share, by_term, &ranges[1, 0])
        elif weights.dtype == np.uint8:
            read_in_order(heap, n, segment, last, &starts[0], <const uint8_t*>cnp.PyArray_DATA(weights),
                          &query_weights[0], limit, share, by_term, &ranges[1, 0])
        elif weights.dtype == np.uint16:
            read_in_order(heap, n, segment, last, &starts[0], <const uint16_t*>cnp.PyArray_DATA(weights),
                          &query_weights[0], limit, share, by_term, &ranges[1, 0])
        else:
            raise ValueError("weights must be float32, uint8 or uint16")
    finally:
        free(heap)


def choose(
    const int64_t[::1] terms, const int64_t[::1] term_starts, const int64_t[::1] starts, cnp.ndarray weights,
    const double[::1] query_weights, double share_read, int64_t most, double share, bint by_term
):
    """Choose the postings to read of each term.

    Parameters
    ----------
    terms : int64[n_lists]
        The terms of the query.
    term_starts : int64[n_terms + 1]
        The segments of term t are term_starts[t] to term_starts[t + 1].
    starts : int64[n_segments + 1]
        The postings of segment s are starts[s] to starts[s + 1].
    weights : float32[n_postings], uint8[n_postings] or uint16[n_postings]
        The weight of each posting.
    query_weights : float64[n_lists]
        The weight of each list's term in the query.
    share_read, most : float, int
        The share of all postings to read, rounded up, and the largest number of postings to read.
    share : float
        Segments with an impact below this share of the largest are not read.
    by_term : bool
        Whether to read term after term, the rarest first, instead of all segments in the order of impact.

    Returns
    -------
    int64[5, n_lists]
        For each list: its first posting, the end of the postings to read, the end of its postings, its first segment,
        and the end of its segments.
    """
    ranges = np.empty((5, terms.shape[0]), np.int64)
    choose_into(terms, term_starts, starts, weights, query_weights, share_read, most, share, by_term, ranges)
    return ranges
