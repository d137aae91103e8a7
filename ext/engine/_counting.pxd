from libc.stdint cimport int64_t

from tieaware.kernels._interruption cimport Interruption

ctypedef fused score_t:
    double
    float

# The scores that counting.h's locate takes at a time; and those between two questions whether to go on, whole lanes.
cdef enum:
    LANES = 16
    POLL_AFTER = 1 << 16

# Whoever goes through a list asks now and then whether to go on: where a call is interrupted, its results are anything.

# How many scores are above and equal to each of the ascending values; returns the NaNs. Of a value with `limit` scores
# above or more, greater says no more than that.
cdef int64_t count(const score_t* scores, Py_ssize_t n, const double* values, Py_ssize_t n_values, int64_t limit,
                   int64_t* greater, int64_t* equal, Interruption* interruption) noexcept nogil
# The same of values each of which is one of the scores.
cdef int64_t count_own(const score_t* scores, Py_ssize_t n, const double* values, Py_ssize_t n_values, int64_t limit,
                       int64_t* greater, int64_t* equal, Interruption* interruption) noexcept nogil
# How many documents come before the one at each position, of this value; equal scores keep the order of the list.
cdef int64_t precede(const score_t* scores, Py_ssize_t n, const double* values, const int64_t* positions,
                     Py_ssize_t n_values, int64_t limit, int64_t* before, Interruption* interruption) noexcept nogil
# How many of the first n scores, in an order (NULL: as they lie), equal a value.
cdef int64_t count_equal(const score_t* scores, const int64_t* order, Py_ssize_t n, double value,
                         Interruption* interruption) noexcept nogil

# Of each of LANES scores, the number of ascending values below it.
cdef void find(const score_t* lanes, const double* values, int64_t n_values, int64_t* below) noexcept nogil

# The counts of count, without a limit, by finding each score among the values, after which there is room for one more;
# histogram has room for two numbers a value and two more. Returns the NaNs.
cdef int64_t locate(const score_t* scores, Py_ssize_t n, double* values, Py_ssize_t n_values, int64_t* histogram,
                    int64_t* greater, int64_t* equal, Interruption* interruption) noexcept nogil

# The groups of scores, by falling score. Few are given their distinct values as well; of many, these are known, and may
# lack the lowest: such a key is in no group, -1. After the scores there is room for LANES more.
cdef Py_ssize_t assign_few(double* scores, Py_ssize_t n_weighted, double* values, int64_t* group) noexcept nogil
cdef void assign_many(double* scores, Py_ssize_t n_weighted, const double* values, Py_ssize_t n_values,
                      int64_t* group, Interruption* interruption) noexcept nogil
