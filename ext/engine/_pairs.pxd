from tieaware.kernels._measure cimport Query


# Mean and variance of the share of pairs in which the relevant document leads, among the documents within the cut-off.
cdef double mean_of_pairs(const Query* q) noexcept nogil
cdef double variance_of_pairs(const Query* q) noexcept nogil

# Its least and greatest value.
cdef void extremes_of_pairs(const Query* q, double* least, double* most) noexcept nogil
