from libc.stdint cimport int64_t

from tieaware.kernels._measure cimport Query


cdef double variance_of_novelty(const Query* q) noexcept nogil
cdef double variance_of_intents_hits(const Query* q) noexcept nogil
cdef double variance_of_intents_precision(const Query* q) noexcept nogil
cdef double variance_of_intents_success(const Query* q) noexcept nogil
cdef void extremes(const Query* q, double* least, double* most) noexcept nogil
cdef int64_t size_of_novelty(const Query* q, bint spread) noexcept nogil
cdef int64_t size_of_intents_hits(const Query* q, bint spread) noexcept nogil
cdef int64_t size_of_intents_precision(const Query* q, bint spread) noexcept nogil
cdef int64_t size_of_intents_success(const Query* q, bint spread) noexcept nogil
