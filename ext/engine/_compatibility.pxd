from libc.stdint cimport int64_t

from tieaware.kernels._measure cimport Query


cdef double mean_of_compatibility(const Query* q) noexcept nogil
cdef double variance_of_compatibility(const Query* q) noexcept nogil
cdef int64_t size_of_compatibility(const Query* q, bint spread) noexcept nogil
