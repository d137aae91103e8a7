from libc.stdint cimport int64_t

from tieaware._groups cimport Groups
from tieaware._measure cimport Moments


# How many relevant documents reach a recall, rounded as trec_eval 10 does; at least 1.
cdef int64_t wanted_at(double recall, double n_relevant) noexcept nogil

# Mean and variance of the mean interpolated precision at some recalls, where these many relevant documents reach them,
# ascending. The mean is infinite, if it takes too long.
cdef Moments interpolated_precision(const Groups* groups, const double* weight, const int64_t* wanted,
                                    int n_points) noexcept nogil

# The same at the recalls 0, 0.1 … 1.
cdef Moments eleven_points(const Groups* groups, const double* weight, double n_relevant) noexcept nogil
