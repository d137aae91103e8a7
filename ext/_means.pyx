"""Means over the queries: see _means.pxd, which the engine shares."""
cimport numpy as cnp
import numpy as np
from libc.stdlib cimport free, malloc

from tieaware._means cimport Mean, extend, mean_of_none, rounded

cnp.import_array()


def means(values, geometric):
    """Average over the queries.

    Parameters
    ----------
    values : float64[..., n_queries, n_measures]
        NaN is left out.
    geometric : bool[n_measures]
        Whether the mean is the geometric one, of values of at least 0.00001, as in trec_eval.

    Returns
    -------
    float64[..., n_measures]
        NaN where nothing is left.
    """
    cdef cnp.ndarray array = np.ascontiguousarray(values, dtype=np.float64)
    cdef cnp.ndarray kinds = np.ascontiguousarray(geometric, dtype=np.uint8)
    if array.ndim < 2 or kinds.ndim != 1 or kinds.shape[0] != array.shape[array.ndim - 1]:
        raise ValueError(f"values: expected shape (…, n_queries, n_measures) and a kind for each measure, found "
                         f"{values.shape} and {len(kinds)}")
    cdef Py_ssize_t n_queries = array.shape[array.ndim - 2], n_measures = array.shape[array.ndim - 1]
    averages = np.empty(values.shape[:-2] + (n_measures,))
    cdef Py_ssize_t n_tables = averages.size // n_measures if n_measures > 0 else 0, _table, _query, i
    cdef const double* value = <const double*>cnp.PyArray_DATA(array)
    cdef const cnp.npy_uint8* kind = <const cnp.npy_uint8*>cnp.PyArray_DATA(kinds)
    cdef double* average = <double*>cnp.PyArray_DATA(<cnp.ndarray>averages)
    cdef Mean* mean = <Mean*>malloc(max(n_measures, 1) * sizeof(Mean))
    if mean == NULL:
        raise MemoryError("no memory for the means")
    with nogil:
        for _table in range(n_tables):
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
