"""The impact of a posting, which is what it adds to a score, and the safety factor for bounds of scores."""
from libc.math cimport floor
from libc.stdint cimport int64_t, uint8_t, uint16_t


cdef inline double rounding_factor(const double* query_weights, Py_ssize_t n, int kind) noexcept nogil:
    """Return a factor by which a sum of fewer than 4096 impacts may differ from the score, because of rounding.

    The sum may be added in another order than the score, or be rounded less often. Sums of small whole numbers are
    exact, so their factor is 1.
    """
    cdef Py_ssize_t i
    if kind == 4:
        return 1.0 + 9.094947017729282379150390625e-13
    for i in range(n):
        if not (floor(query_weights[i]) == query_weights[i] and query_weights[i] <= 65536.0):
            return 1.0 + 9.094947017729282379150390625e-13
    return 1.0


cdef inline double weight_at(const void* weights, int kind, int64_t i) noexcept nogil:
    """Return weights[i]; `kind` is the size of a weight: 4 for float32, 1 for uint8, 2 for uint16."""
    if kind == 4:
        return <double>(<const float*>weights)[i]
    if kind == 1:
        return <double>(<const uint8_t*>weights)[i]
    return <double>(<const uint16_t*>weights)[i]


cdef inline double impact(const void* weights, int kind, int64_t i, double query_weight) noexcept nogil:
    """Return query_weight · weights[i]."""
    return query_weight * weight_at(weights, kind, i)
