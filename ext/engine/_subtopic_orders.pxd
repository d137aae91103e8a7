from libc.stdint cimport int64_t, uint64_t

from tieaware.kernels._measure cimport Query
from tieaware.kernels._subtopics cimport Subtopics


# The smallest and the largest value over all orders.
cdef struct Range:
    double least
    double most


# Working memory for the combinations of one group, and for the search. `set[c]` are the subtopics that count of
# combination c, `count[c]` its documents, `step[c]` the number by which a document of it raises the number of a state,
# and placed[c] the documents of it that a state has. `taken[i]` are the documents of a state with subtopic i.
cdef struct Combinations:
    int64_t n
    double documents
    uint64_t* set
    double* count
    int64_t* step
    int64_t* placed
    double* taken
    double* power
    double* value


cdef Range range_of_novelty(const Query* q, double* left, double* work) noexcept nogil
cdef Range range_of_precision(const Query* q, double* before, double* work) noexcept nogil
cdef Range range_of_hits(const Query* q, double* work) noexcept nogil
cdef Range range_of_success(const Query* q, double* work) noexcept nogil
cdef Py_ssize_t divided(const Query* q) noexcept nogil
cdef uint64_t new_in(const Query* q, const Subtopics* subtopics, Py_ssize_t g) noexcept nogil
cdef double size_of_orders(const Query* q) noexcept nogil
cdef double size_of_hits(const Query* q) noexcept nogil
cdef double size_of_success(const Query* q) noexcept nogil


cdef inline double* counts_of(const Query* q, Py_ssize_t g) noexcept nogil:
    """Return a pointer to the number of documents of a group with the first combination; the others are `stride` apart.
    """
    return q.groups.weight + q.measure.squared_weighting * q.groups.stride + g
