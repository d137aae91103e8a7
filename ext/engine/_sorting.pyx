"""Sorting of numbers: a few numbers are sorted by insertion here, and many numbers by NumPy's sort.

These are all sorts and selections of the kernels, each with the benchmark that shows that it is worth its lines:

- `sort`: the scores of the weighted documents (bench_engines);
- `sort_crossings`, by digits: the crossings of lines of scores, with the numbers of their units (bench_lines);
- words of score and place, of 32 bits (narrow_sorting.h) and of 64 bits (sorting.h): whole lists (bench_engines);
- a hash table of few scores: whole lists (tabulating.h, bench_engines), and exposures (_exposure.pyx, bench_exposure);
- NumPy's argsorts: lists that are too long for words (bench_exposure, bench_lambdas);
- buckets, few of them sorted: ranks by band (banding.h, bench_precision);
- words of 64 bits, too: near ties (near_ties.h, bench_precision);
- a merge sort of prefixes: documents by identifier (_identifiers.pyx, bench_peers);
- a selection by bounds of a part: quantiles of resamples (_resamples.pyx, bench_intervals);
- a heap and a quickselect: the top k documents and the champions of terms (retrieval/_top.pyx, bench_retrieval).
"""
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy, memset

cimport tieaware.kernels._numpy as cnp

cnp.import_array()

cdef extern from *:
    """
    static PyArray_SortFunc *tieaware_sort_of(int dtype) {
        PyArray_Descr *descr = PyArray_DescrFromType(dtype);
        PyArray_SortFunc *sort = PyDataType_GetArrFuncs(descr)->sort[NPY_QUICKSORT];
        Py_DECREF(descr);
        return sort;
    }
    static PyArray_ArgSortFunc *tieaware_argsort_of_doubles(NPY_SORTKIND kind) {
        PyArray_Descr *descr = PyArray_DescrFromType(NPY_DOUBLE);
        PyArray_ArgSortFunc *argsort = PyDataType_GetArrFuncs(descr)->argsort[kind];
        Py_DECREF(descr);
        return argsort;
    }
    static int tieaware_wide(void) {
    #if defined(__x86_64__) && defined(__GNUC__)
        return __builtin_cpu_supports("avx512dq") != 0;
    #else
        return 0;
    #endif
    }
    """
    Sort tieaware_sort_of(int)
    ArgSort tieaware_argsort_of_doubles(cnp.NPY_SORTKIND)
    bint tieaware_wide()

# True if NumPy's sort uses vectors of 512 bits.
WIDE = tieaware_wide()
narrow_chunk = 512 if WIDE else 256

# NumPy's sorts are looked up once, when this module is imported, because the lookup needs the GIL. Calls do not.
sort_doubles = tieaware_sort_of(cnp.NPY_DOUBLE)
sort_narrow = tieaware_sort_of(cnp.NPY_UINT32)
argsort_doubles = tieaware_argsort_of_doubles(cnp.NPY_QUICKSORT)
stable_argsort_doubles = tieaware_argsort_of_doubles(cnp.NPY_MERGESORT)

cdef enum:
    # Up to this many numbers, insertion is cheaper than calling NumPy's sort.
    FEW = 16
    # A pass of sorting crossings uses at most this many buckets.
    BUCKETS = 2048


cdef void sort(double* values, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef double x
    if n > FEW:
        sort_doubles(values, n, NULL)
        return
    for i in range(1, n):
        x = values[i]
        j = i
        # Invariant: the numbers before index i are sorted, and values[j] may be overwritten.
        while j > 0 and values[j - 1] > x:
            values[j] = values[j - 1]
            j -= 1
        values[j] = x


cdef Py_ssize_t distinct(double* values, Py_ssize_t n) noexcept nogil:
    """Keep the first of each run of equal values in the sorted values[:n]; return how many values are kept."""
    cdef Py_ssize_t i, kept = 0
    for i in range(n):
        if kept == 0 or values[i] != values[kept - 1]:
            values[kept] = values[i]
            kept += 1
    return kept


cdef void sort_crossings(uint64_t* key, uint32_t* change, uint64_t* spare_key, uint32_t* spare_change, Py_ssize_t n,
                         bint into_spare) noexcept nogil:
    """Sort by the highest digit, and each bucket in the same way.

    One pass distributes the crossings by the highest bits in which their keys differ from the least key; then each
    bucket is sorted in the same way. So each level uses up at least six bits.
    """
    cdef uint32_t stop_of[BUCKETS]
    cdef uint64_t least, most, k
    cdef uint32_t c
    cdef Py_ssize_t i, j, digit, buckets
    cdef uint32_t before, here
    cdef int shift = 0
    cdef uint64_t* to_key = spare_key if into_spare else key
    cdef uint32_t* to_change = spare_change if into_spare else change
    if n <= FEW:
        for i in range(n):
            k, c = key[i], change[i]
            j = i
            while j > 0 and to_key[j - 1] > k:
                to_key[j], to_change[j] = to_key[j - 1], to_change[j - 1]
                j -= 1
            to_key[j], to_change[j] = k, c
        return
    least = most = key[0]
    for i in range(n):
        least, most = min(least, key[i]), max(most, key[i])
    if least == most:
        if into_spare:
            memcpy(spare_key, key, n * sizeof(uint64_t))
            memcpy(spare_change, change, n * sizeof(uint32_t))
        return
    buckets = 64
    while buckets < BUCKETS and buckets < n:
        buckets *= 2
    while (most - least) >> shift >= <uint64_t>buckets:
        shift += 1
    memset(stop_of, 0, buckets * sizeof(uint32_t))
    for i in range(n):
        stop_of[(key[i] - least) >> shift] += 1
    before = 0
    for digit in range(buckets):
        here = stop_of[digit]
        stop_of[digit] = before
        before += here
    for i in range(n):
        digit = (key[i] - least) >> shift
        j = stop_of[digit]
        stop_of[digit] += 1
        spare_key[j], spare_change[j] = key[i], change[i]
    # Now stop_of[digit] is the end of each bucket.
    i = 0
    for digit in range(buckets):
        if stop_of[digit] > <uint32_t>i:
            sort_crossings(spare_key + i, spare_change + i, key + i, change + i, stop_of[digit] - i, not into_spare)
            i = stop_of[digit]
