from tieaware.kernels._measure cimport Query


# Return the mean or the variance of a measure of the confusion matrix, whose norm is the number of documents of the
# collection (accuracy) or of its nonrelevant documents (specificity, fall-out).
cdef double mean_of_accuracy(const Query* q) noexcept nogil
cdef double variance_of_accuracy(const Query* q) noexcept nogil
cdef double mean_of_specificity(const Query* q) noexcept nogil
cdef double mean_of_fall_out(const Query* q) noexcept nogil
