from libc.stdint cimport int64_t

from tieaware._groups cimport Groups


cdef struct Moments:
    double mean
    double variance


cdef Moments interpolated_precision(const Groups* groups, const double* weight, int64_t wanted,
                                    double* work) noexcept nogil
cdef int64_t wanted_at(double recall, double n_relevant) noexcept nogil
