from libc.stdint cimport int64_t

from tieaware.kernels._interruption cimport Interruption

ctypedef fused score_t:
    double
    float

# LANES: the number of scores that `locate` in counting.h searches for at the same time. CHUNK: the number of scores
# between two polls for interruption (such as Ctrl-C), a multiple of LANES. After an interruption, all results of the
# functions below are arbitrary.
cdef enum:
    LANES = 16
    CHUNK = 1 << 16

# For each of the ascending values, count the scores of a list that are above the value (`greater`) and equal to it
# (`equal`). Return the number of NaNs in the list. For a value with at least `limit` scores above it, the count in
# `greater` may be too small, but it is at least `limit`.
cdef int64_t count(const score_t* scores, Py_ssize_t n, const double* values, Py_ssize_t n_values, int64_t limit,
                   int64_t* greater, int64_t* equal, Interruption* interruption) noexcept nogil
# Do the same as `count`, but faster, for values that all occur among the scores of the list.
cdef int64_t count_own(const score_t* scores, Py_ssize_t n, const double* values, Py_ssize_t n_values, int64_t limit,
                       int64_t* greater, int64_t* equal, Interruption* interruption) noexcept nogil
# For each of n_values documents, given by score and position in the list, count the documents of the list that precede
# it. Documents with equal scores keep the order of the list. `limit` and the return value are as for `count`.
cdef int64_t precede(const score_t* scores, Py_ssize_t n, const double* values, const int64_t* positions,
                     Py_ssize_t n_values, int64_t limit, int64_t* before, Interruption* interruption) noexcept nogil
# Count how many of the first n documents have this score. `order` holds the positions of the documents, from the first
# document to the last; NULL means the order of the list.
cdef int64_t count_equal(const score_t* scores, const int64_t* order, Py_ssize_t n, double value,
                         Interruption* interruption) noexcept nogil

# For each of LANES scores, find how many of the ascending values are lower than the score.
cdef void find(const score_t* lanes, const double* values, int64_t n_values, int64_t* below) noexcept nogil

# Write the same numbers as `count` without a limit, by a binary search for each score among the values. `values` must
# have room for n_values + 1 numbers, and `histogram` for 2 * n_values + 2 numbers.
cdef int64_t locate(const score_t* scores, Py_ssize_t n, double* values, Py_ssize_t n_values, int64_t* histogram,
                    int64_t* greater, int64_t* equal, Interruption* interruption) noexcept nogil

# Write the index of the tie group of each weighted document; group 0 has the highest score. No score may be NaN.
# `assign_few` takes at most LANES documents and finds their distinct scores, which it writes to `values`; it writes to
# first[g] the number of documents in the groups before g, and after the last group the number of all. `assign_many` is
# given the distinct scores in `values`, from which the lowest scores may be missing: a document with a missing score
# gets -1, for no group. `scores` must have room for n_weighted + LANES numbers.
cdef Py_ssize_t assign_few(double* scores, Py_ssize_t n_weighted, double* values, int64_t* group,
                           int64_t* first) noexcept nogil
cdef void assign_many(double* scores, Py_ssize_t n_weighted, const double* values, Py_ssize_t n_values,
                      int64_t* group, Interruption* interruption) noexcept nogil
