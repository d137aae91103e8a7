"""The terms of several queries, one query after the other: those of query i are from offsets[i] to offsets[i + 1].

Queries are short, so one call of NumPy for each of them would take longer than the work.
"""
import numpy as np
from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

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


def are_bounded(const double[::1] weights not None):
    """Return whether all weights are finite and at least 0."""
    cdef Py_ssize_t i
    for i in range(weights.shape[0]):
        if not 0.0 <= weights[i] < INFINITY:
            return False
    return True


def sum_of_products(const double[::1] query_weights not None, const double[::1] weights not None):
    """Return Σ query_weight · weight, added in this order."""
    cdef Py_ssize_t i
    cdef double total = 0.0
    if weights.shape[0] != query_weights.shape[0]:
        raise ValueError("each query weight must have a weight")
    for i in range(query_weights.shape[0]):
        total += query_weights[i] * weights[i]
    return total


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


def factors_times_idf(
    const double[::1] factors not None, const int64_t[::1] frequencies not None, const double[::1] idf not None,
    const int64_t[::1] terms not None
):
    """Return factors[frequency - 1] · idf[term] for each term; None if a frequency has no factor.

    Raises
    ------
    IndexError
        A term has no idf.
    """
    cdef Py_ssize_t n = terms.shape[0], i
    cdef int64_t frequency, term
    cdef cnp.ndarray weights = np.empty(n)
    cdef double* out = <double*>cnp.PyArray_DATA(weights)
    if frequencies.shape[0] != n:
        raise ValueError("each term must have a frequency")
    for i in range(n):
        frequency, term = frequencies[i], terms[i]
        if not 1 <= frequency <= factors.shape[0]:
            return None
        if not 0 <= term < idf.shape[0]:
            raise IndexError("terms: there is no term with this number")
        out[i] = factors[frequency - 1] * idf[term]
    return weights


def ranges(const int64_t[::1] starts not None, const int64_t[::1] sizes not None):
    """Return the numbers of several ranges, one after the other, given their first numbers and sizes."""
    cdef Py_ssize_t n = starts.shape[0], i
    cdef int64_t j, size, total = 0
    cdef cnp.ndarray numbers
    cdef int64_t* out
    if sizes.shape[0] != n:
        raise ValueError("each range must have a size")
    for i in range(n):
        if not 0 <= sizes[i] <= 1 << 48:
            raise ValueError("sizes: a size is out of its range")
        total += sizes[i]
    numbers = np.empty(total, np.int64)
    out = <int64_t*>cnp.PyArray_DATA(numbers)
    for i in range(n):
        # The array belongs to the caller, who may have changed it.
        size = max(0, min(sizes[i], total))
        total -= size
        for j in range(size):
            out[j] = <int64_t>(<uint64_t>starts[i] + <uint64_t>j)
        out += size
    return numbers


def divide_by_norms(double[::1] weights not None, const int64_t[::1] offsets not None):
    """Divide the weights of each query by the square root of the sum of their squares, unless this is 0; in place."""
    cdef Py_ssize_t n = offsets.shape[0] - 1, i
    cdef int64_t j
    cdef double total, norm
    for i in range(n):
        if not 0 <= offsets[i] <= offsets[i + 1] <= weights.shape[0]:
            raise ValueError("offsets: a query is outside the weights")
        total = 0.0
        for j in range(offsets[i], offsets[i + 1]):
            total += weights[j] * weights[j]
        norm = sqrt(total)
        if norm != 0.0:
            for j in range(offsets[i], offsets[i + 1]):
                weights[j] /= norm


cdef int64_t length_of(object values) except -2:
    """Return the length of an int64 array in one dimension that is contiguous; -1 for any other object."""
    if not isinstance(values, np.ndarray):
        return -1
    cdef cnp.ndarray array = values
    if array.ndim != 1 or cnp.PyArray_TYPE(array) != cnp.NPY_INT64 or not (
        cnp.PyArray_IS_C_CONTIGUOUS(array) and cnp.PyArray_ISALIGNED(array) and cnp.PyArray_ISNOTSWAPPED(array)
    ):
        return -1
    return cnp.PyArray_DIM(array, 0)


def concatenated(tuple arrays not None):
    """Return int64[n] arrays one after the other, and int64[n_arrays + 1] offsets; None if one is not int64[n]."""
    cdef Py_ssize_t i
    cdef int64_t size, n = 0
    cdef cnp.ndarray offsets = np.zeros(len(arrays) + 1, np.int64), all_of_them
    cdef int64_t* ends = <int64_t*>cnp.PyArray_DATA(offsets) + 1
    for i in range(len(arrays)):
        size = length_of(arrays[i])
        if size < 0:
            return None
        n += size
        ends[i] = n
    all_of_them = np.empty(n, np.int64)
    n = 0
    for i in range(len(arrays)):
        size = ends[i] - n
        if size > 0:
            memcpy(<int64_t*>cnp.PyArray_DATA(all_of_them) + n, cnp.PyArray_DATA(<cnp.ndarray>arrays[i]),
                   <size_t>size * sizeof(int64_t))
        n = ends[i]
    return all_of_them, offsets
