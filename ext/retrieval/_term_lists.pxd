"""The posting lists of a query's terms, and the bitmaps in which documents of long lists are looked up."""
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

cimport tieaware.kernels._numpy as cnp


# The posting lists of a query. `next` has the index of the first unread posting of each list.
cdef struct TermLists:
    Py_ssize_t n
    int64_t* next
    int64_t* starts
    int64_t* stops
    double* query_weights
    const int32_t* documents
    const void* weights
    # The size of a weight in bytes: 4 for float32, 1 for uint8, 2 for uint16.
    int kind
    # For each posting list, its row in dense_weights, or -1 if it has none. A row has a weight for each of the
    # n_documents documents. NULL if no list has a row.
    int64_t* rows
    const void* dense_weights
    Py_ssize_t n_documents
    # For each posting list, its row in bitmaps and ranks, or -1 if it has none. A row has n_words words of 64 bits, one
    # bit for each document; the rank of a word is the number of bits that are set in the words before it. NULL if no
    # list has a row.
    int64_t* bitmap_rows
    const uint64_t* bitmaps
    const uint32_t* ranks
    Py_ssize_t n_words
    # The number of postings in the lists, and the number read so far.
    int64_t n_postings
    int64_t n_read


# Posting lists; each query needs a few of them. The arrays are checked once, and kept in `arrays`.
cdef class PostingLists:
    cdef object arrays
    cdef const int64_t* starts
    cdef const int64_t* stops
    cdef Py_ssize_t n
    cdef const int32_t* documents
    cdef const void* weights
    cdef int kind
    cdef int64_t n_postings
    cdef const int64_t* rows
    cdef const void* dense_weights
    cdef Py_ssize_t n_rows
    cdef Py_ssize_t n_columns
    cdef const int64_t* bitmap_rows
    cdef const uint64_t* bitmaps
    cdef const uint32_t* ranks
    cdef Py_ssize_t n_bitmaps
    cdef Py_ssize_t n_words

    # Fill the struct with the lists of these n numbers, in this order, and allocate its memory, which close_lists
    # frees. The query weights may be NULL. The lists must fit a collection of n_documents documents.
    cdef int open_lists(
        self, TermLists* lists, const int64_t* numbers, Py_ssize_t n, const double* query_weights,
        Py_ssize_t n_documents
    ) except -1 nogil


cdef void close_lists(TermLists* lists) noexcept nogil

# Add the weights of list i to the sums of the candidates; return the number of postings that were added.
cdef int64_t score_list(
    const int32_t* candidates, int64_t size, TermLists* lists, Py_ssize_t i, double* sums
) noexcept nogil

# The same, by looking up each candidate in the bitmap of the list.
cdef int64_t look_up(
    const int32_t* candidates, int64_t size, TermLists* lists, Py_ssize_t i, double* sums
) noexcept nogil

# The same, by reading the weight of each candidate from the row of the list.
cdef int64_t gather(
    const int32_t* candidates, int64_t size, TermLists* lists, Py_ssize_t i, double* sums
) noexcept nogil
