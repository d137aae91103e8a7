from libc.stdint cimport int64_t

from tieaware.kernels._measure cimport Query


cdef double mean_of_first(const Query* q) noexcept nogil
cdef double variance_of_first(const Query* q) noexcept nogil

cdef double mean_down_to_preferred(const Query* q) noexcept nogil
cdef double variance_down_to_preferred(const Query* q) noexcept nogil
cdef void extremes_down_to_preferred(const Query* q, double* least, double* most) noexcept nogil
cdef int64_t size_down_to_preferred(const Query* q, bint spread) noexcept nogil
