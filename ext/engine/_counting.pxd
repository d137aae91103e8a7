from libc.stdint cimport int64_t

from tieaware.kernels._interruption cimport Interruption

ctypedef fused score_t:
    double
    float

# LANES: the number of scores that `locate` in counting.h takes at a time. CHUNK: the number of scores between two polls
# for interruption, a multiple of LANES. After an interruption, all results are arbitrary.
cdef enum:
    LANES = 16
    CHUNK = 1 << 16

# Count the scores above and equal to each of the ascending values; return the number of NaNs. For a value with at least
# `limit` scores above it, `greater` may be too small, but it is at least `limit`.
cdef int64_t count(const score_t* scores, Py_ssize_t n, const double* values, Py_ssize_t n_values, int64_t limit,
                   int64_t* greater, int64_t* equal, Interruption* interruption) noexcept nogil
# The same for values that are all among the scores.
cdef int64_t count_own(const score_t* scores, Py_ssize_t n, const double* values, Py_ssize_t n_values, int64_t limit,
                       int64_t* greater, int64_t* equal, Interruption* interruption) noexcept nogil
# Count the documents that precede each of some documents, which are given by their scores and positions. Equal scores
# keep the order of the list.
cdef int64_t precede(const score_t* scores, Py_ssize_t n, const double* values, const int64_t* positions,
                     Py_ssize_t n_values, int64_t limit, int64_t* before, Interruption* interruption) noexcept nogil
# Count how many of the first n scores in an order (NULL: the order of the list) equal a value.
cdef int64_t count_equal(const score_t* scores, const int64_t* order, Py_ssize_t n, double value,
                         Interruption* interruption) noexcept nogil

# For each of LANES scores, find the number of ascending values below it.
cdef void find(const score_t* lanes, const double* values, int64_t n_values, int64_t* below) noexcept nogil

# Count as `count` does, without a limit, by finding each score among the values. `values` has room for one more value,
# `histogram` for two numbers per value and two more.
cdef int64_t locate(const score_t* scores, Py_ssize_t n, double* values, Py_ssize_t n_values, int64_t* histogram,
                    int64_t* greater, int64_t* equal, Interruption* interruption) noexcept nogil

# Assign documents to groups by score, descending, given their scores. `assign_few` also finds the distinct values, for
# at most LANES scores. `assign_many` is given the values, which may lack the lowest: a document below all values is in
# no group, -1. After the scores there is room for LANES more.
cdef Py_ssize_t assign_few(double* scores, Py_ssize_t n_weighted, double* values, int64_t* group) noexcept nogil
cdef void assign_many(double* scores, Py_ssize_t n_weighted, const double* values, Py_ssize_t n_values,
                      int64_t* group, Interruption* interruption) noexcept nogil
