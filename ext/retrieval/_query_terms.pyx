"""The terms of several queries, one query after the other: those of query i are from offsets[i] to offsets[i + 1].

Queries are short, so one call of NumPy for each of them would take longer than the work.
"""
import numpy as np
from libc.stdint cimport int64_t

cimport tieaware.kernels._numpy as cnp

cnp.import_array()


def largest_products(
    const double[::1] query_weights not None, const double[::1] weights not None, const int64_t[::1] offsets not None
):
    """Return max(0, max query_weight · weight) for each query; 0 if a query weight is below 0 or not a number.

    The weights of query i are those from offsets[i] to offsets[i + 1].
    """
    cdef Py_ssize_t n = offsets.shape[0] - 1, i
    cdef int64_t j
    cdef cnp.ndarray largest = np.zeros(max(n, 0))
    cdef double* out = <double*>cnp.PyArray_DATA(largest)
    if weights.shape[0] != query_weights.shape[0]:
        raise ValueError("each query weight must have a weight")
    for i in range(n):
        if not 0 <= offsets[i] <= offsets[i + 1] <= weights.shape[0]:
            raise ValueError("offsets: a query is outside the weights")
        for j in range(offsets[i], offsets[i + 1]):
            if not query_weights[j] >= 0.0:
                out[i] = 0.0
                break
            out[i] = max(out[i], query_weights[j] * weights[j])
    return largest


def sums(const double[::1] values not None, const int64_t[::1] offsets not None):
    """Return float64[n]: the sums of values[offsets[i]:offsets[i + 1]], each added one after the other."""
    cdef Py_ssize_t n = offsets.shape[0] - 1, i
    cdef int64_t j
    cdef double total
    cdef cnp.ndarray totals = np.empty(max(n, 0))
    cdef double* out = <double*>cnp.PyArray_DATA(totals)
    for i in range(n):
        if not 0 <= offsets[i] <= offsets[i + 1] <= values.shape[0]:
            raise ValueError("offsets: a range is outside the values")
        total = 0.0
        for j in range(offsets[i], offsets[i + 1]):
            total += values[j]
        out[i] = total
    return totals
