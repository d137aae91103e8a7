from libc.stdint cimport int64_t

from tieaware.kernels._measure cimport Query


# Return the variance of the sum of the interpolated precisions at several numbers of relevant documents; infinite if
# that would take too long. `wanted` contains these numbers, ascending, and `floors` the interpolated precisions in the
# worst order.
cdef double variance_of_sum(const Query* q, const int64_t* wanted, const double* floors, int n_points) noexcept nogil

# Return how many numbers of working memory that needs, or TOO_MANY. `wanted` is the least of the numbers.
cdef int64_t size_of_walk(const Query* q, int64_t wanted) noexcept nogil
