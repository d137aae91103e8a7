from tieaware._measure cimport Moments, Query


# Mean and variance of the interpolated precision at a recall; the mean is infinite, if it takes too long.
cdef Moments interpolated_precision(const Query* q) noexcept nogil

# The same of its mean at the recalls 0, 0.1 … 1.
cdef Moments eleven_points(const Query* q) noexcept nogil
