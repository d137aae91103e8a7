from libc.stdint cimport int64_t

from tieaware.kernels._measure cimport Query


# Return the mean or the variance of the interpolated precision at one recall.
cdef double mean_at_recall(const Query* q) noexcept nogil
cdef double variance_at_recall(const Query* q) noexcept nogil
cdef int64_t size_at_recall(const Query* q, bint spread) noexcept nogil

# Return the mean or the variance of the average interpolated precision over the recalls 0, 0.1 … 1. The variance is
# infinite if it would take too long.
cdef double mean_at_eleven_recalls(const Query* q) noexcept nogil
cdef double variance_at_eleven_recalls(const Query* q) noexcept nogil
cdef int64_t size_at_eleven_recalls(const Query* q, bint spread) noexcept nogil

# Return the mean or the variance of the greatest F within the cut-off.
cdef double mean_of_greatest_f(const Query* q) noexcept nogil
cdef double variance_of_greatest_f(const Query* q) noexcept nogil
cdef int64_t size_of_greatest_f(const Query* q, bint spread) noexcept nogil
