from libc.stdint cimport int64_t

cimport tieaware.kernels._numpy as cnp

cdef choose_into(
    const int64_t[::1] terms, const int64_t[::1] term_starts, const int64_t[::1] starts, cnp.ndarray weights,
    const double[::1] query_weights, double share_read, int64_t most, double share, bint by_term, int64_t[:, ::1] ranges
)
