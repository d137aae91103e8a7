from tieaware.kernels._measure cimport Query


# Mean and variance of the share of pairs, among the documents within the cut-off, in which the relevant document
# precedes the nonrelevant one.
cdef double mean_of_pairs(const Query* q) noexcept nogil
cdef double variance_of_pairs(const Query* q) noexcept nogil

# The smallest and largest value of this share.
cdef void extremes_of_pairs(const Query* q, double* least, double* most) noexcept nogil
