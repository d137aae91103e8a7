from libc.stdint cimport int64_t

from tieaware._groups cimport Groups
from tieaware._measure cimport Measure


cdef double variance(const Measure* measure, const Groups* groups, int64_t n_docs, double norm, double second,
                     double* work) noexcept nogil


# Put right the extremes of a measure, as the orders by label have them, where these orders are not the best and worst.
cdef void extremes(const Measure* measure, const Groups* tied, int64_t n_docs, double* least,
                   double* most) noexcept nogil
