"""The candidates of a query: the documents that are in some of its lists."""
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from tieaware.kernels._term_lists cimport Lists


# The candidates, in ascending order, with the sums of their weights. `bits` is NULL, or a bitmap of the candidates with
# the ranks of its words.
cdef struct Candidates:
    int64_t n
    int32_t* documents
    double* sums
    uint64_t* bits
    uint32_t* ranks
    uint32_t n_documents


# Each of these functions adds the documents of lists to the candidates, each once and in ascending order. Invalid
# document numbers are skipped, so that they are not used as an index. A spare array has room for all entries.

# Keep the documents that are in at least `at_least` of the lists.
cdef void merge_counted(Candidates* candidates, Lists* entries, int64_t at_least) noexcept nogil

# Keep all documents, and fetch their bases from memory.
cdef void merge(Candidates* candidates, Lists* entries, int32_t* spare, const double* base) noexcept nogil

# Keep all documents of lists that are not in ascending order.
cdef void sort(Candidates* candidates, const Lists* entries, int32_t* spare) noexcept nogil

# Keep the documents whose counter, which begins at `initial` and has n_planes binary digits, overflows; mark them in
# the bitmap of the candidates.
cdef void unite(
    Candidates* candidates, Lists* entries, uint64_t initial, int n_planes, uint64_t* planes, Py_ssize_t n_words
) noexcept nogil
