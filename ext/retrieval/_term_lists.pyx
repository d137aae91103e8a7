"""Posting lists of a query's terms: checks of their arrays, and the scores of given documents.

The weight of a document in a list is found by galloping through the postings or, for a list with a bitmap, at the index
that is the number of bits before the document's bit.
"""
import numpy as np
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._gallop cimport gallop
from tieaware.kernels._posting_impacts cimport impact

cdef extern from "retrieval/bitmaps.h":
    int64_t tieaware_look_up(
        int kind, const int32_t *candidates, ptrdiff_t n, const uint64_t *bits, const uint32_t *ranks,
        const void *weights, int64_t start, int64_t length, double query_weight, double *sums
    ) nogil

cdef extern from "retrieval/accumulators.h":
    int64_t tieaware_gather(
        int kind, const int32_t *candidates, ptrdiff_t n, const void *weights, ptrdiff_t first, double query_weight,
        double *sums
    ) nogil

cnp.import_array()


cdef int64_t score_list(
    const int32_t* candidates, int64_t size, TermLists* lists, Py_ssize_t i, double* sums
) noexcept nogil:
    """Add the weights of list i to the sums of the candidates; return the number of postings that were added."""
    cdef const int32_t* documents = lists.documents
    cdef int64_t c = 0, j = lists.next[i], stop = lists.stops[i], n = 0
    while c < size and j < stop:
        if candidates[c] == documents[j]:
            sums[c] += impact(lists.weights, lists.kind, j, lists.query_weights[i])
            c += 1
            j += 1
            n += 1
        elif candidates[c] < documents[j]:
            c = gallop(candidates, c, size, documents[j])
        else:
            j = gallop(documents, j, stop, candidates[c])
    lists.next[i] = j
    return n


cdef class PostingLists:
    """Posting lists in the order of their numbers, with what is needed to score documents fast.

    Parameters
    ----------
    starts, stops : int64[n_lists]
        The range of postings of each list.
    documents : int32[n_postings]
        The document of each posting, ascending within a list.
    weights : float32[n_postings], uint8[n_postings] or uint16[n_postings]
        The weight of each posting.
    rows, dense_weights : int64[n_lists], and weights[n_rows, n_documents], or None
        The row of each list in dense_weights, or -1. A row has a weight for each document, 0 for a missing posting.
    bitmap_rows, bitmaps, ranks : int64[n_lists], uint64[n_rows, n_words] and uint32[n_rows, n_words], or None
        The row of each list in bitmaps and ranks, or -1.
    """

    def __cinit__(
        self, const int64_t[::1] starts not None, const int64_t[::1] stops not None,
        const int32_t[::1] documents not None, cnp.ndarray weights not None, const int64_t[::1] rows,
        cnp.ndarray dense_weights, const int64_t[::1] bitmap_rows, const uint64_t[:, ::1] bitmaps,
        const uint32_t[:, ::1] ranks
    ):
        if stops.shape[0] != starts.shape[0]:
            raise ValueError("each list must have a start and a stop")
        if weights.ndim != 1 or not weights.flags.c_contiguous or weights.shape[0] != documents.shape[0]:
            raise ValueError("weights must have a weight for each posting")
        if weights.dtype not in (np.float32, np.uint8, np.uint16):
            raise ValueError("weights must be float32, uint8 or uint16")
        self.arrays = (starts, stops, documents, weights, rows, dense_weights, bitmap_rows, bitmaps, ranks)
        self.n, self.n_postings, self.kind = starts.shape[0], documents.shape[0], weights.dtype.itemsize
        self.starts = &starts[0] if self.n else NULL
        self.stops = &stops[0] if self.n else NULL
        self.documents = &documents[0] if self.n_postings else NULL
        self.weights = cnp.PyArray_DATA(weights)
        if rows is not None and dense_weights is not None:
            if dense_weights.ndim != 2 or not dense_weights.flags.c_contiguous or dense_weights.dtype != weights.dtype:
                raise ValueError("dense_weights must be a contiguous matrix of the type of weights")
            if rows.shape[0] != self.n:
                raise ValueError("rows must have a row for each list")
            self.rows = &rows[0] if self.n else NULL
            self.dense_weights = cnp.PyArray_DATA(dense_weights)
            self.n_rows, self.n_columns = dense_weights.shape[0], dense_weights.shape[1]
        if bitmap_rows is not None and bitmaps is not None and ranks is not None:
            if bitmap_rows.shape[0] != self.n or ranks.shape[0] != bitmaps.shape[0]:
                raise ValueError("each list must have a row in bitmaps and ranks")
            if ranks.shape[1] != bitmaps.shape[1]:
                raise ValueError("each word of bitmaps must have a rank")
            if not (bitmaps.shape[0] and bitmaps.shape[1]):
                raise ValueError("bitmaps must have a bit for each document")
            self.n_bitmaps, self.n_words = bitmaps.shape[0], bitmaps.shape[1]
            self.bitmaps, self.ranks = &bitmaps[0, 0], &ranks[0, 0]
            self.bitmap_rows = &bitmap_rows[0] if self.n else NULL

    cdef int open_lists(
        self, TermLists* lists, const int64_t* numbers, Py_ssize_t n, const double* query_weights,
        Py_ssize_t n_documents
    ) except -1 nogil:
        """Fill the struct with the lists of these n numbers; `query_weights` may be NULL."""
        cdef Py_ssize_t i
        cdef int64_t number
        cdef int64_t* block
        cdef const char* problem = NULL
        memset(lists, 0, sizeof(lists[0]))
        if self.rows != NULL and self.n_columns != n_documents:
            problem = b"dense_weights must have a column for each document"
        if self.bitmap_rows != NULL and self.n_words * 64 < n_documents:
            problem = b"bitmaps must have a bit for each document"
        block = lists.next = <int64_t*>calloc(<size_t>n * 6 + 1, sizeof(int64_t))
        if block == NULL:
            with gil:
                raise MemoryError
        lists.n = n
        lists.starts, lists.stops, lists.query_weights = block + n, block + 2 * n, <double*>(block + 3 * n)
        lists.rows = NULL if self.rows == NULL else block + 4 * n
        lists.bitmap_rows = NULL if self.bitmap_rows == NULL else block + 5 * n
        lists.documents, lists.weights, lists.kind = self.documents, self.weights, self.kind
        lists.dense_weights, lists.n_documents = self.dense_weights, self.n_columns
        lists.bitmaps, lists.ranks, lists.n_words = self.bitmaps, self.ranks, self.n_words
        for i in range(n):
            number = numbers[i]
            if not 0 <= number < self.n:
                problem = b"there is no list with this number"
                break
            # The arrays belong to the caller, who may have changed them.
            lists.starts[i] = lists.next[i] = self.starts[number]
            lists.stops[i] = self.stops[number]
            if not 0 <= lists.starts[i] <= lists.stops[i] <= self.n_postings:
                problem = b"a list is outside the postings"
                break
            lists.n_postings += lists.stops[i] - lists.starts[i]
            if query_weights != NULL:
                lists.query_weights[i] = query_weights[i]
            if lists.rows != NULL:
                lists.rows[i] = self.rows[number]
                if not -1 <= lists.rows[i] < self.n_rows:
                    problem = b"rows: a row is outside dense_weights"
            if lists.bitmap_rows != NULL:
                lists.bitmap_rows[i] = self.bitmap_rows[number]
                if not -1 <= lists.bitmap_rows[i] < self.n_bitmaps:
                    problem = b"bitmap_rows: a row is outside the bitmaps"
        if problem != NULL:
            with gil:
                raise ValueError(problem.decode())
        return 0


cdef void close_lists(TermLists* lists) noexcept nogil:
    """Free the memory of lists that were opened; the struct may be zeroed instead."""
    free(lists.next)
    lists.next = NULL


cdef int64_t gather(
    const int32_t* candidates, int64_t size, TermLists* lists, Py_ssize_t i, double* sums
) noexcept nogil:
    """Add the weights of list i, which has a row, to the sums of the candidates, which must be inside the collection.

    Adding 0 for a missing posting does not change a sum, unless the query weight is infinite. The next posting of the
    list stays where it is. Postings with a weight of 0 are not counted.
    """
    cdef Py_ssize_t at = lists.rows[i] * lists.n_documents
    cdef double q = lists.query_weights[i]
    return tieaware_gather(lists.kind, candidates, size, lists.dense_weights, at, q, sums)


cdef int64_t look_up(
    const int32_t* candidates, int64_t size, TermLists* lists, Py_ssize_t i, double* sums
) noexcept nogil:
    """Add the weights of list i to the sums of the candidates, which must be inside the collection."""
    cdef Py_ssize_t at = lists.bitmap_rows[i] * lists.n_words
    cdef int64_t a = lists.starts[i], n = lists.stops[i] - a
    cdef double q = lists.query_weights[i]
    cdef const uint64_t* bits = lists.bitmaps + at
    cdef const uint32_t* ranks = lists.ranks + at
    return tieaware_look_up(lists.kind, candidates, size, bits, ranks, lists.weights, a, n, q, sums)
