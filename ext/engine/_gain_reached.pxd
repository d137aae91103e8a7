from libc.stdint cimport int64_t

from tieaware.kernels._measure cimport Query


cdef double mean_of_gain_reached(const Query* q) noexcept nogil
cdef double variance_of_gain_reached(const Query* q) noexcept nogil
cdef void extremes_of_gain_reached(const Query* q, double* least, double* most) noexcept nogil
cdef int64_t size_of_gain_reached(const Query* q, bint spread) noexcept nogil
