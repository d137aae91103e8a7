"""Posting lists of a query's terms: checks of their arrays, and the scores of given documents.

The weight of a document in a list is found by galloping through the postings or, for a list with a bitmap, at the index
that is the number of bits before the document's bit.
"""
cimport numpy as cnp
import numpy as np
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from tieaware.kernels._gallop cimport gallop

cdef extern from "retrieval/bitmaps.h":
    int64_t tieaware_look_up_float(const int32_t *candidates, ptrdiff_t n, const uint64_t *bits, const uint32_t *ranks,
                                   const float *weights, int64_t length, double query_weight, double *sums) nogil
    int64_t tieaware_look_up_uint8(const int32_t *candidates, ptrdiff_t n, const uint64_t *bits, const uint32_t *ranks,
                                   const uint8_t *weights, int64_t length, double query_weight, double *sums) nogil
    int64_t tieaware_look_up_uint16(const int32_t *candidates, ptrdiff_t n, const uint64_t *bits, const uint32_t *ranks,
                                    const uint16_t *weights, int64_t length, double query_weight, double *sums) nogil

cnp.import_array()

ctypedef fused Weight:
    float
    uint8_t
    uint16_t


cdef int64_t score_list(
    const int32_t* candidates, int64_t size, Lists* lists, Py_ssize_t i, double* sums
) noexcept nogil:
    """Add the weights of list i to the sums of the candidates; return the number of postings that were added."""
    cdef double q = lists.query_weights[i]
    if lists.kind == 4:
        return gallop_through(candidates, size, lists, i, <const float*>lists.weights, q, sums)
    if lists.kind == 1:
        return gallop_through(candidates, size, lists, i, <const uint8_t*>lists.weights, q, sums)
    return gallop_through(candidates, size, lists, i, <const uint16_t*>lists.weights, q, sums)


cdef inline int64_t gallop_through(
    const int32_t* candidates, int64_t size, Lists* lists, Py_ssize_t which, const Weight* weights, double query_weight,
    double* sums
) noexcept nogil:
    cdef const int32_t* documents = lists.documents
    cdef int64_t i = 0, j = lists.next[which], stop = lists.stops[which], n = 0
    while i < size and j < stop:
        if candidates[i] == documents[j]:
            sums[i] += query_weight * <double>weights[j]
            i += 1
            j += 1
            n += 1
        elif candidates[i] < documents[j]:
            i = gallop(candidates, i, size, documents[j])
        else:
            j = gallop(documents, j, stop, candidates[i])
    lists.next[which] = j
    return n


cdef int lists_of(
    Lists* lists, const int64_t[::1] starts, int64_t[::1] following, const int64_t[::1] stops,
    const double[::1] query_weights, const int32_t[::1] documents, cnp.ndarray weights
) except -1:
    """Check that all lists are inside the postings, and fill the struct.

    `following` must be a copy of the starts; it is changed to the first unread posting of each list.
    """
    cdef Py_ssize_t i
    if stops.shape[0] != starts.shape[0] or query_weights.shape[0] != starts.shape[0]:
        raise ValueError("each list must have a start, a stop and a query weight")
    if weights.ndim != 1 or not weights.flags.c_contiguous or weights.shape[0] != documents.shape[0]:
        raise ValueError("weights must have a weight for each posting")
    if weights.dtype not in (np.float32, np.uint8, np.uint16):
        raise ValueError("weights must be float32, uint8 or uint16")
    lists.n_postings = lists.n_read = 0
    for i in range(starts.shape[0]):
        if not 0 <= starts[i] <= stops[i] <= documents.shape[0]:
            raise ValueError("a list is outside the postings")
        lists.n_postings += stops[i] - starts[i]
    lists.n = starts.shape[0]
    lists.starts = &starts[0] if lists.n else NULL
    lists.next = &following[0] if lists.n else NULL
    lists.stops = &stops[0] if lists.n else NULL
    lists.query_weights = &query_weights[0] if lists.n else NULL
    lists.documents = &documents[0] if documents.shape[0] else NULL
    lists.weights = cnp.PyArray_DATA(weights)
    lists.kind = weights.dtype.itemsize
    lists.rows = lists.bitmap_rows = NULL
    return 0


cdef int set_dense(
    Lists* lists, const int64_t[::1] rows, cnp.ndarray dense_weights, dtype, Py_ssize_t n_documents
) except -1:
    """Check the rows of the lists in dense form, and store them."""
    cdef Py_ssize_t i
    if dense_weights.ndim != 2 or not dense_weights.flags.c_contiguous:
        raise ValueError("dense_weights must be a contiguous matrix")
    if dense_weights.dtype != dtype or dense_weights.shape[1] != n_documents:
        raise ValueError("dense_weights must have the type of weights, and a column for each document")
    if rows.shape[0] != lists.n:
        raise ValueError("rows must have a row for each list")
    for i in range(lists.n):
        if not -1 <= rows[i] < dense_weights.shape[0]:
            raise ValueError("rows: a row is outside dense_weights")
    lists.rows = &rows[0] if lists.n else NULL
    lists.dense_weights = cnp.PyArray_DATA(dense_weights)
    lists.n_documents = n_documents
    return 0


cdef int set_bitmaps(
    Lists* lists, const int64_t[::1] rows, const uint64_t[:, ::1] bitmaps, const uint32_t[:, ::1] ranks,
    Py_ssize_t n_documents
) except -1:
    """Check the rows of the lists that have a bitmap, and store them."""
    cdef Py_ssize_t i
    if rows.shape[0] != lists.n or ranks.shape[0] != bitmaps.shape[0] or ranks.shape[1] != bitmaps.shape[1]:
        raise ValueError("each list must have a row, and each word of a bitmap a rank")
    if bitmaps.shape[1] * 64 < n_documents:
        raise ValueError("bitmaps must have a bit for each document")
    for i in range(lists.n):
        if not -1 <= rows[i] < bitmaps.shape[0]:
            raise ValueError("bitmap_rows: a row is outside the bitmaps")
    if lists.n and bitmaps.shape[0] and bitmaps.shape[1]:
        lists.bitmap_rows, lists.bitmaps, lists.ranks = &rows[0], &bitmaps[0, 0], &ranks[0, 0]
        lists.n_words = bitmaps.shape[1]
    return 0


cdef int64_t look_up(const int32_t* candidates, int64_t size, Lists* lists, Py_ssize_t i, double* sums) noexcept nogil:
    """Add the weights of list i to the sums of the candidates, which must be inside the collection."""
    cdef Py_ssize_t at = lists.bitmap_rows[i] * lists.n_words
    cdef int64_t a = lists.starts[i], n = lists.stops[i] - a
    cdef double q = lists.query_weights[i]
    cdef const uint64_t* bits = lists.bitmaps + at
    cdef const uint32_t* ranks = lists.ranks + at
    if lists.kind == 4:
        return tieaware_look_up_float(candidates, size, bits, ranks, <const float*>lists.weights + a, n, q, sums)
    if lists.kind == 1:
        return tieaware_look_up_uint8(candidates, size, bits, ranks, <const uint8_t*>lists.weights + a, n, q, sums)
    return tieaware_look_up_uint16(candidates, size, bits, ranks, <const uint16_t*>lists.weights + a, n, q, sums)
