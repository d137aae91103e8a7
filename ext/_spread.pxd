from libc.stdint cimport int64_t

from tieaware._groups cimport Groups
from tieaware._measure cimport Measure


cdef double variance(const Measure* measure, const Groups* groups, int64_t n_docs, double norm, double second,
                     double* work) noexcept nogil
