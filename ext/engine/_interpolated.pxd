from libc.stdint cimport int64_t

from tieaware.kernels._measure cimport Query


# Mean and variance of the interpolated precision at a recall; infinite if the computation would take too long.
cdef double mean_at_recall(const Query* q) noexcept nogil
cdef double variance_at_recall(const Query* q) noexcept nogil
cdef int64_t size_at_recall(const Query* q, bint spread) noexcept nogil

# The same for the mean of the interpolated precisions at the recalls 0, 0.1 … 1.
cdef double mean_at_eleven_recalls(const Query* q) noexcept nogil
cdef double variance_at_eleven_recalls(const Query* q) noexcept nogil
cdef int64_t size_at_eleven_recalls(const Query* q, bint spread) noexcept nogil
