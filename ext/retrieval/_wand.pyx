"""Document-at-a-time search by WAND and block-max WAND.

bounds[i] is an upper bound of what list i adds to a score. The cursor of a list is at its first posting that was not
passed over. With the lists in the order of the documents at their cursors, the pivot is the first document that can
exceed the bound of the best: the bounds of the lists up to it add up to more. Documents before the pivot are in too few
lists, so the cursors move past them without reading the postings between.
"""
import numpy as np
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._gallop cimport gallop
from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption
from tieaware.kernels._posting_impacts cimport impact, rounding_factor
from tieaware.kernels._top cimport Best, bound_by, close_best, found, leave_out, offer, open_best

cnp.import_array()

cdef enum:
    # The document at the cursor of a list that has no more postings. It is greater than any document number.
    NO_MORE = 0x7fffffff
    # A query may have fewer lists than this; the safety factor for rounding depends on it.
    MOST_LISTS = 4096


cdef struct Cursors:
    Py_ssize_t n
    # The index of the posting at which each cursor is, and its document, or NO_MORE.
    int64_t* at
    int32_t* heads
    # The lists in ascending order of their heads.
    int64_t* order
    const int64_t* starts
    const int64_t* stops
    const double* query_weights
    const double* bounds
    const int32_t* documents
    const void* weights
    int kind
    # With blocks: each list is divided into blocks of block_size postings. List i has the blocks from first_blocks[i]
    # to stop_blocks[i], and blocks[i] is the first of them that does not end before the last pivot. Block b ends with
    # the document lasts[b], and its largest weight is maxima[b].
    int64_t block_size
    const int64_t* first_blocks
    const int64_t* stop_blocks
    int64_t* blocks
    const int32_t* lasts
    const void* maxima
    # A factor by which a sum of bounds may be below the score, because of rounding.
    double rounding
    # The number of postings at which a cursor has been.
    int64_t n_read


cdef inline void put(Cursors* c, int64_t i, int64_t at) noexcept nogil:
    """Put the cursor of list i at a posting, or after the last."""
    c.at[i] = at
    c.heads[i] = c.documents[at] if at < c.stops[i] else NO_MORE
    c.n_read += at < c.stops[i]


cdef inline void to_block(Cursors* c, int64_t i, int32_t document) noexcept nogil:
    """Find the first block of list i that does not end before the document."""
    cdef int64_t block = c.blocks[i]
    if block < c.stop_blocks[i] and c.lasts[block] < document:
        c.blocks[i] = gallop(c.lasts, block, c.stop_blocks[i], document)


cdef inline void advance(Cursors* c, int64_t i, int32_t document) noexcept nogil:
    """Move the cursor of list i, which is before the document, to the first posting that is not before it."""
    cdef int64_t at = c.at[i], block_start
    if at >= c.stops[i]:
        return
    if c.block_size > 0:
        to_block(c, i, document)
        # The posting before the block is also before the document.
        block_start = c.starts[i] + (c.blocks[i] - c.first_blocks[i]) * c.block_size
        at = max(at, min(block_start, c.stops[i]) - 1)
    put(c, i, gallop(c.documents, at, c.stops[i], document))


cdef inline void restore(Cursors* c, Py_ssize_t place) noexcept nogil:
    """Restore the order of the lists after the cursor of the list at this place moved forward."""
    cdef int64_t i = c.order[place]
    cdef int32_t head = c.heads[i]
    while place + 1 < c.n and c.heads[c.order[place + 1]] < head:
        c.order[place] = c.order[place + 1]
        place += 1
    c.order[place] = i


cdef inline Py_ssize_t pivot_place(Cursors* c, double bound) noexcept nogil:
    """Return the last place in the order of a list whose head is the pivot, or -1 if no document exceeds the bound."""
    cdef Py_ssize_t place
    cdef double most = 0.0
    for place in range(c.n):
        if c.heads[c.order[place]] == NO_MORE:
            return -1
        most += c.bounds[c.order[place]]
        if most * c.rounding > bound:
            while place + 1 < c.n and c.heads[c.order[place + 1]] == c.heads[c.order[place]]:
                place += 1
            return place
    return -1


cdef inline int32_t after_blocks(Cursors* c, Py_ssize_t place, double bound) noexcept nogil:
    """Return the next document that may exceed the bound if the pivot's blocks cannot; return the pivot if they can.

    The lists up to `place` are those that may contain the pivot. Until the first of their blocks ends, or another list
    joins them, no document can exceed the bound.
    """
    cdef int32_t pivot = c.heads[c.order[place]]
    cdef int64_t following = NO_MORE, i
    cdef double most = 0.0
    cdef Py_ssize_t p
    for p in range(place + 1):
        i = c.order[p]
        to_block(c, i, pivot)
        if c.blocks[i] < c.stop_blocks[i]:
            most += impact(c.maxima, c.kind, c.blocks[i], c.query_weights[i])
            following = min(following, <int64_t>c.lasts[c.blocks[i]] + 1)
    if most * c.rounding > bound:
        return pivot
    if place + 1 < c.n:
        following = min(following, <int64_t>c.heads[c.order[place + 1]])
    return <int32_t>max(following, <int64_t>pivot + 1)


cdef inline double score(Cursors* c, int32_t document) noexcept nogil:
    """Return the score of the document at the cursors: the sum over the lists in their order."""
    cdef double sum = 0.0
    cdef Py_ssize_t i
    for i in range(c.n):
        if c.heads[i] == document:
            sum += impact(c.weights, c.kind, c.at[i], c.query_weights[i])
    return sum


cdef void search(Cursors* c, Best* best, Py_ssize_t n_documents, Interruption* interruption) noexcept nogil:
    """Offer all documents that may be among the best, in ascending order.

    Invariant: each document before all cursors was offered, or cannot score above the lowest of the best scores so far.
    Each step moves a cursor forward.
    """
    cdef Py_ssize_t place, p, mover
    cdef int64_t bounded = 0
    cdef int32_t pivot, following
    while not interrupted(interruption, 10 + 4 * c.n):
        place = pivot_place(c, best.bound)
        if place < 0:
            break
        pivot = following = c.heads[c.order[place]]
        if c.block_size > 0:
            following = after_blocks(c, place, best.bound)
        if following != pivot:
            # Move the list that can add most, because it is likely to be the one with the fewest postings.
            mover = place
            for p in range(place):
                if c.bounds[c.order[p]] > c.bounds[c.order[mover]]:
                    mover = p
            advance(c, c.order[mover], following)
            restore(c, mover)
        elif c.heads[c.order[0]] == pivot:
            if 0 <= pivot < n_documents:
                best.documents += 1
                offer(best, pivot, score(c, pivot))
                # Raise the bound, unless few documents were added since it was last raised.
                if best.heap.size >= max(best.k, bounded + 1 + best.k // 8):
                    leave_out(best)
                    bounded = best.k
            for p in range(place, -1, -1):
                put(c, c.order[p], c.at[c.order[p]] + 1)
                restore(c, p)
        else:
            mover = place
            while mover > 0 and c.heads[c.order[mover]] == pivot:
                mover -= 1
            advance(c, c.order[mover], pivot)
            restore(c, mover)


def wand(
    const int64_t[::1] starts, const int64_t[::1] stops, const double[::1] query_weights, const double[::1] bounds,
    const int32_t[::1] documents, cnp.ndarray weights, Py_ssize_t n_documents, int64_t k, bint whole_ties, double floor,
    const int64_t[::1] first_blocks, const int32_t[::1] lasts, cnp.ndarray maxima, int64_t block_size
):
    """Find the top k documents, document at a time.

    Parameters
    ----------
    starts, stops : int64[n_lists]
        The range of postings of each list. Its documents must ascend.
    query_weights, bounds : float64[n_lists]
        The weight of each list's term in the query, and an upper bound of what the list adds to a score.
    documents, weights : int32[n_postings], and float32[n_postings], uint8[n_postings] or uint16[n_postings]
        The document and the weight of each posting. No product of a weight and a query weight may be negative.
    n_documents, k : int
        The number of documents in the collection, and the number of documents to find, at least 1.
    whole_ties : bool
        Whether to find all documents that tie with the k-th as well.
    floor : float
        A score that at least k documents are known to reach, or 0.
    first_blocks : int64[n_lists] or None
        The first block of each list, for block-max WAND. A list has one block for every `block_size` postings.
    lasts, maxima : int32[n_blocks] and weights[n_blocks], or None
        The last document and the largest weight of each block.
    block_size : int
        The number of postings of a block, or 0 without blocks.

    Returns
    -------
    int32[n], float64[n], int, int, int
        The documents, best first; their scores; the number of documents scored; the number of comparisons between
        scores; the number of postings at which a cursor stopped.
    """
    cdef Py_ssize_t n = starts.shape[0], i, place
    cdef int64_t n_postings = 0
    cdef Cursors c
    cdef Best best
    cdef Interruption interruption = no_interruption()
    if not (stops.shape[0] == query_weights.shape[0] == bounds.shape[0] == n < MOST_LISTS):
        raise ValueError("each list must have a start, a stop, a query weight and a bound; at most 4095 lists")
    if weights.ndim != 1 or not weights.flags.c_contiguous or weights.shape[0] != documents.shape[0]:
        raise ValueError("weights must have a weight for each posting")
    if weights.dtype not in (np.float32, np.uint8, np.uint16):
        raise ValueError("weights must be float32, uint8 or uint16")
    if not (0 <= n_documents <= NO_MORE and k >= 1 and block_size >= 0):
        raise ValueError("n_documents, k or block_size is out of its range")
    for i in range(n):
        if not 0 <= starts[i] <= stops[i] <= documents.shape[0]:
            raise ValueError("a list is outside the postings")
        n_postings += stops[i] - starts[i]
    memory = np.zeros((4, n + 1), np.int64)
    heads = np.zeros(n + 1, np.int32)
    cdef int64_t[:, ::1] rows = memory
    cdef int32_t[::1] head_row = heads
    memset(&c, 0, sizeof(c))
    c.n, c.at, c.order, c.heads = n, &rows[0, 0], &rows[1, 0], &head_row[0]
    c.documents = &documents[0] if documents.shape[0] else NULL
    c.weights, c.kind = cnp.PyArray_DATA(weights), weights.dtype.itemsize
    if n:
        c.starts, c.stops = &starts[0], &stops[0]
        c.query_weights, c.bounds = &query_weights[0], &bounds[0]
    c.rounding = rounding_factor(c.query_weights, n, c.kind)
    if block_size > 0 and n:
        if first_blocks.shape[0] != n or maxima.ndim != 1 or maxima.dtype != weights.dtype:
            raise ValueError("each list must have a first block, and maxima must have the type of weights")
        if not maxima.flags.c_contiguous or maxima.shape[0] != lasts.shape[0]:
            raise ValueError("maxima must have a maximum for each block")
        for i in range(n):
            rows[2, i] = first_blocks[i]
            rows[3, i] = first_blocks[i] + (stops[i] - starts[i] + block_size - 1) // block_size
            if not 0 <= rows[2, i] <= rows[3, i] <= lasts.shape[0]:
                raise ValueError("a block is outside the blocks")
        c.block_size, c.first_blocks, c.blocks, c.stop_blocks = block_size, &first_blocks[0], &rows[2, 0], &rows[3, 0]
        c.lasts = &lasts[0] if lasts.shape[0] else NULL
        c.maxima = cnp.PyArray_DATA(maxima)
    for i in range(n):
        put(&c, i, starts[i])
        c.order[i] = i
    # Sort the lists by their heads, the last first.
    for place in range(n - 1, -1, -1):
        restore(&c, place)
    memset(&best, 0, sizeof(best))
    try:
        open_best(&best, k, n_postings, whole_ties, False)
        best.ascending = True
        best.bound = 0.0
        if floor > 0.0:
            bound_by(&best, floor)
        with nogil:
            search(&c, &best, n_documents, &interruption)
        check_interruption(&interruption)
        return *found(&best, whole_ties), c.n_read
    finally:
        close_best(&best)
