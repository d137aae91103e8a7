from libc.stdint cimport int64_t

from tieaware.kernels._measure cimport Query


cdef double mean_of_cascade(const Query* q) noexcept nogil
cdef double mean_of_cascade_to_ideal(const Query* q) noexcept nogil
cdef double variance_of_cascade(const Query* q) noexcept nogil
cdef int64_t size_of_cascade(const Query* q, bint spread) noexcept nogil
