"""The impact of a posting, which is what it adds to a score."""
from libc.stdint cimport int64_t, uint8_t, uint16_t


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
