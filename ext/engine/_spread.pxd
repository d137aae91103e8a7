from libc.stdint cimport int64_t

from tieaware.kernels._exact cimport double_double
from tieaware.kernels._measure cimport Query


cdef double average_precision(const Query* q) noexcept nogil
cdef double discounted(const Query* q) noexcept nogil
cdef double inverse_squares(const Query* q) noexcept nogil
cdef double hits(const Query* q) noexcept nogil
cdef double hits_at_r(const Query* q) noexcept nogil
cdef double none(const Query* q) noexcept nogil
cdef double patience(const Query* q) noexcept nogil
cdef double preference(const Query* q) noexcept nogil
cdef double q_measure(const Query* q) noexcept nogil
cdef double reciprocal_rank(const Query* q) noexcept nogil
cdef double search_length(const Query* q) noexcept nogil
cdef double success(const Query* q) noexcept nogil
cdef double unknown(const Query* q) noexcept nogil

cdef void unknown_extremes(const Query* q, double* least, double* most) noexcept nogil

# Return n Σ w² - (Σ w)² for the weights w of a group's n weighted documents, as the variances need it.
cdef double_double sample_deviations(const Query* q, int weighting, Py_ssize_t g, double n) noexcept nogil

# Return how many slot weights `q_measure` stores in its working memory.
cdef int64_t size_of_q_measure(const Query* q, bint spread) noexcept nogil
