from libc.stdint cimport int64_t

from tieaware._groups cimport Groups
from tieaware._measure cimport Moments


# Mean and variance of the share of pairs in which the relevant document leads, among the first k of n_docs documents.
cdef Moments pairs(const Groups* groups, const double* weight, int64_t k, int64_t n_docs) noexcept nogil

# Its least and greatest value, of groups as they tie.
cdef void extremes_of_pairs(const Groups* groups, const double* weight, int64_t k, int64_t n_docs, double* least,
                            double* most) noexcept nogil
