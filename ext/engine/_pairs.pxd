from tieaware.kernels._measure cimport Query


# Return the mean or the variance of AUC: among the pairs of a relevant and a nonrelevant document within the cut-off,
# the share of pairs in which the relevant document precedes the nonrelevant one.
cdef double mean_of_pairs(const Query* q) noexcept nogil
cdef double variance_of_pairs(const Query* q) noexcept nogil

# Write the smallest and the largest value of AUC over the orders of tied documents.
cdef void extremes_of_pairs(const Query* q, double* least, double* most) noexcept nogil
