"""Numbers sorted: few by insertion, many by NumPy."""
cimport numpy as cnp

cnp.import_array()

cdef extern from *:
    """
    static PyArray_SortFunc *tieaware_sort_of_doubles(void) {
        PyArray_Descr *descr = PyArray_DescrFromType(NPY_DOUBLE);
        PyArray_SortFunc *sort = PyDataType_GetArrFuncs(descr)->sort[NPY_QUICKSORT];
        Py_DECREF(descr);
        return sort;
    }
    static int tieaware_wide(void) {
    #if defined(__x86_64__) && defined(__GNUC__)
        return __builtin_cpu_supports("avx512dq") != 0;
    #else
        return 0;
    #endif
    }
    """
    Sort tieaware_sort_of_doubles()
    bint tieaware_wide()

# Whether NumPy's sort has vectors of 512 bits.
WIDE = tieaware_wide()

# It needs no GIL; to look it up does.
sort_doubles = tieaware_sort_of_doubles()

# With up to so many numbers, insertion is cheaper than a call.
cdef enum:
    FEW = 16


cdef void sort(double* values, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef double x
    if n > FEW:
        sort_doubles(values, n, NULL)
        return
    for i in range(1, n):
        x = values[i]
        j = i
        # Invariant: values[:i] is sorted, values[j] is free.
        while j > 0 and values[j - 1] > x:
            values[j] = values[j - 1]
            j -= 1
        values[j] = x


cdef Py_ssize_t distinct(double* values, Py_ssize_t n) noexcept nogil:
    """Keep one of each run of equal values in the sorted values[:n]; return how many there are."""
    cdef Py_ssize_t i, kept = 0
    for i in range(n):
        if kept == 0 or values[i] != values[kept - 1]:
            values[kept] = values[i]
            kept += 1
    return kept
