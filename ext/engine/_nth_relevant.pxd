from tieaware.kernels._measure cimport Query


# Return the mean or the variance of i/j, where j is the rank of the i-th relevant document.
cdef double mean_of_precision(const Query* q) noexcept nogil
cdef double variance_of_precision(const Query* q) noexcept nogil

# Return i/j, with the mean of j over the orders of tied documents.
cdef double relevance_when_retrieved(const Query* q) noexcept nogil
