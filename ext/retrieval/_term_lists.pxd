"""The posting lists of a query's terms, and the bitmaps in which documents of long lists are looked up."""
cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t


# The posting lists of a query. `next` has the index of the first unread posting of each list.
cdef struct Lists:
    Py_ssize_t n
    int64_t* next
    const int64_t* starts
    const int64_t* stops
    const double* query_weights
    const int32_t* documents
    const void* weights
    # The size of a weight in bytes: 4 for float32, 1 for uint8, 2 for uint16.
    int kind
    # For each posting list, its row in dense_weights, or -1 if it has none. A row has a weight for each of the
    # n_documents documents.
    const int64_t* rows
    const void* dense_weights
    Py_ssize_t n_documents
    # For each posting list, its row in bitmaps and ranks, or -1 if it has none. A row has n_words words of 64 bits, one
    # bit for each document; the rank of a word is the number of bits that are set in the words before it.
    const int64_t* bitmap_rows
    const uint64_t* bitmaps
    const uint32_t* ranks
    Py_ssize_t n_words
    # The number of postings in the lists, and the number read so far.
    int64_t n_postings
    int64_t n_read


# Check that all lists are inside the postings, and fill the struct. `following` must be a copy of the starts.
cdef int lists_of(
    Lists* lists, const int64_t[::1] starts, int64_t[::1] following, const int64_t[::1] stops,
    const double[::1] query_weights, const int32_t[::1] documents, cnp.ndarray weights
) except -1

# Check the rows of the lists in dense form, and store them.
cdef int set_dense(
    Lists* lists, const int64_t[::1] rows, cnp.ndarray dense_weights, dtype, Py_ssize_t n_documents
) except -1

# Check the rows of the lists that have a bitmap, and store them.
cdef int set_bitmaps(
    Lists* lists, const int64_t[::1] rows, const uint64_t[:, ::1] bitmaps, const uint32_t[:, ::1] ranks,
    Py_ssize_t n_documents
) except -1

# Add the weights of list i to the sums of the candidates; return the number of postings that were added.
cdef int64_t score_list(
    const int32_t* candidates, int64_t size, Lists* lists, Py_ssize_t i, double* sums
) noexcept nogil

# The same, by looking up each candidate in the bitmap of the list.
cdef int64_t look_up(const int32_t* candidates, int64_t size, Lists* lists, Py_ssize_t i, double* sums) noexcept nogil
