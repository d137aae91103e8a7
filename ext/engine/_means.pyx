"""Means over queries, computed from arrays of values or from partial sums. The arithmetic is in _means.pxd."""
import numpy as np
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._means cimport Mean, add, extend, mean_of_none, rounded

cnp.import_array()


def means(values, geometric):
    """Return the mean of each measure over the queries.

    Parameters
    ----------
    values : float64[..., n_queries, n_measures]
        NaN values are skipped.
    geometric : bool[n_measures]
        Whether the mean of each measure is geometric. In a geometric mean, values below 0.00001 count as 0.00001, as in
        trec_eval.

    Returns
    -------
    float64[..., n_measures]
        NaN where all values are NaN.
    """
    cdef cnp.ndarray array = np.ascontiguousarray(values, dtype=np.float64)
    cdef cnp.ndarray kinds = np.ascontiguousarray(geometric, dtype=np.uint8)
    if array.ndim < 2 or kinds.ndim != 1 or kinds.shape[0] != array.shape[array.ndim - 1]:
        raise ValueError(f"values: expected shape (…, n_queries, n_measures) and as many entries in geometric as "
                         f"measures, found {values.shape} and {len(kinds)}")
    cdef Py_ssize_t n_queries = array.shape[array.ndim - 2], n_measures = array.shape[array.ndim - 1]
    averages = np.empty(values.shape[:-2] + (n_measures,))
    cdef Py_ssize_t n_outputs = averages.size // n_measures if n_measures > 0 else 0, _output, _query, i
    cdef const double* value = <const double*>cnp.PyArray_DATA(array)
    cdef const cnp.npy_uint8* kind = <const cnp.npy_uint8*>cnp.PyArray_DATA(kinds)
    cdef double* average = <double*>cnp.PyArray_DATA(<cnp.ndarray>averages)
    cdef Mean* mean = <Mean*>malloc(max(n_measures, 1) * sizeof(Mean))
    if mean == NULL:
        raise MemoryError("no memory for the means")
    with nogil:
        for _output in range(n_outputs):
            for i in range(n_measures):
                mean[i] = mean_of_none(kind[i])
            for _query in range(n_queries):
                for i in range(n_measures):
                    extend(&mean[i], value[0])
                    value += 1
            for i in range(n_measures):
                average[0] = rounded(&mean[i])
                average += 1
    free(mean)
    return averages


def sums(const double[::1] values not None, const int64_t[::1] groups not None,
         const cnp.npy_bool[::1] geometric not None):
    """Sum up the values of each group. `of_sums` turns the sums into means.

    Parameters
    ----------
    values : float64[n]
        NaN values are skipped.
    groups : int64[n]
        The index of the group of each value.
    geometric : bool[n_groups]
        Whether the mean of each group is geometric.

    Returns
    -------
    sums, counts : float64[n_groups, 2], int64[n_groups]
        The sum of each group in double-double precision, as two numbers (high, low), and the number of its values.
        Where the mean is geometric, the sum of the base-2 logarithms of the values.
    """
    cdef Py_ssize_t n = values.shape[0], n_groups = geometric.shape[0], i
    check_groups(groups, n, n_groups)
    parts, counts = np.zeros((n_groups, 2)), np.zeros(n_groups, np.int64)
    cdef double[:, ::1] part = parts
    cdef int64_t[::1] count = counts
    cdef Mean mean
    cdef Py_ssize_t group
    with nogil:
        for i in range(n):
            group = groups[i]
            if not 0 <= group < n_groups:
                continue
            mean = mean_of(part[group, 0], part[group, 1], count[group], geometric[group])
            extend(&mean, values[i])
            part[group, 0], part[group, 1], count[group] = mean.sum.high, mean.sum.low, mean.count
    return parts, counts


def merged(const double[:, ::1] parts not None, const int64_t[::1] counts not None, const int64_t[::1] groups not None,
           Py_ssize_t n_groups):
    """Add up partial sums and counts, from several calls of `sums`, that belong to the same group.

    groups[i] is the index of the group of row i of `parts` and `counts`.
    """
    cdef Py_ssize_t n = parts.shape[0], i, group
    check_groups(groups, n, n_groups)
    if counts.shape[0] != n or parts.shape[1] != 2:
        raise ValueError(f"parts: expected {n} counts and shape ({n}, 2), found {counts.shape[0]} and {parts.shape[1]}")
    whole, n_values = np.zeros((n_groups, 2)), np.zeros(n_groups, np.int64)
    cdef double[:, ::1] sum = whole
    cdef int64_t[::1] count = n_values
    cdef Mean mean, other
    with nogil:
        for i in range(n):
            group = groups[i]
            if not 0 <= group < n_groups:
                continue
            mean = mean_of(sum[group, 0], sum[group, 1], count[group], False)
            other = mean_of(parts[i, 0], parts[i, 1], counts[i], False)
            add(&mean, &other)
            sum[group, 0], sum[group, 1], count[group] = mean.sum.high, mean.sum.low, mean.count
    return whole, n_values


def of_sums(const double[:, ::1] parts not None, const int64_t[::1] counts not None,
            const cnp.npy_bool[::1] geometric not None):
    """Return the means, float64[n_groups], from the sums and counts that `sums` or `merged` returned."""
    cdef Py_ssize_t n = parts.shape[0], i
    if not n == counts.shape[0] == geometric.shape[0] or parts.shape[1] != 2:
        raise ValueError(f"parts: expected {n} counts and kinds, and shape ({n}, 2), found {counts.shape[0]}, "
                         f"{geometric.shape[0]} and {parts.shape[1]}")
    averages = np.empty(n)
    cdef double[::1] average = averages
    cdef Mean mean
    for i in range(n):
        mean = mean_of(parts[i, 0], parts[i, 1], counts[i], geometric[i])
        average[i] = rounded(&mean)
    return averages


cdef inline Mean mean_of(double high, double low, int64_t count, bint geometric) noexcept nogil:
    cdef Mean mean = mean_of_none(geometric)
    mean.sum.high, mean.sum.low, mean.count = high, low, count
    return mean


cdef int check_groups(const int64_t[::1] groups, Py_ssize_t n, Py_ssize_t n_groups) except -1:
    """Raise ValueError unless `groups` has a valid group index for each value.

    The loops that use the indices check them again, because another thread may change the array after this check.
    """
    if groups.shape[0] != n:
        raise ValueError(f"groups: expected one group per value, {n}, found {groups.shape[0]}")
    cdef Py_ssize_t i
    for i in range(n):
        if not 0 <= groups[i] < n_groups:
            raise ValueError(f"groups[{i}]: expected an integer from 0 to {n_groups - 1}, found {groups[i]}")
    return 0
