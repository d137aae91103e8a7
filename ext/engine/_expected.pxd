from libc.stdint cimport int64_t

from tieaware.kernels._groups cimport Groups
from tieaware.kernels._measure cimport Query


cdef double average_precision(const Query* q) noexcept nogil
cdef double constant(const Query* q) noexcept nogil
cdef double hits(const Query* q) noexcept nogil
cdef double hits_at_r(const Query* q) noexcept nogil
cdef double hits_within(const Groups* groups, const double* weight, int64_t k) noexcept nogil
cdef double inferred_precision(const Query* q) noexcept nogil
cdef double preference(const Query* q) noexcept nogil
cdef double q_measure(const Query* q) noexcept nogil
cdef double rank(const Query* q) noexcept nogil
cdef double reciprocal_rank(const Query* q) noexcept nogil
cdef double residual(const Query* q) noexcept nogil
cdef double search_length(const Query* q) noexcept nogil
cdef double slots(const Query* q) noexcept nogil
cdef double slots_of_ideal(const Query* q) noexcept nogil
cdef double squared_hits(const Query* q) noexcept nogil
cdef double success(const Query* q) noexcept nogil
