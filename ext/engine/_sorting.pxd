cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint16_t

# NumPy's own sort, vectorised where the processor can: of doubles in place, how many they are, and NULL.
ctypedef int (*Sort)(void*, cnp.npy_intp, void*) noexcept nogil
cdef Sort sort_doubles

# A list sorted, each score with its place: sorting.h says how.
cdef extern from "engine/sorting.h" nogil:
    enum:
        TIEAWARE_LONGEST_SORTED
    int64_t tieaware_place_bits(Py_ssize_t)
    int64_t tieaware_words_double(const double*, const int64_t*, Py_ssize_t, int64_t, int64_t*)
    int64_t tieaware_words_float(const float*, const int64_t*, Py_ssize_t, int64_t, int64_t*)
    ctypedef struct tieaware_chunks:
        Py_ssize_t n
    tieaware_chunks tieaware_chunks_of(Py_ssize_t)
    const int64_t* tieaware_sort(Sort, int64_t*, Py_ssize_t, int64_t*)
    int64_t tieaware_repeats(const int64_t*, Py_ssize_t, int64_t)
    int64_t tieaware_close(const double*, const int64_t*, const int64_t*, Py_ssize_t, int64_t)
    Py_ssize_t tieaware_walk_documents(const int64_t*, Py_ssize_t, int64_t, const uint16_t*, int32_t, int64_t, int64_t*,
                                       int64_t*)
    Py_ssize_t tieaware_walk_groups(const int64_t*, Py_ssize_t, int64_t, const uint16_t*, int32_t, int64_t, int64_t*,
                                    int64_t*, int64_t*)

# Sort numbers, ascending; write the highest of them, ascending; keep one of each run of equal ones: these two return
# how many they write, and keep.
cdef void sort(double* values, Py_ssize_t n) noexcept nogil
cdef Py_ssize_t highest(double* values, const double* numbers, Py_ssize_t n, int64_t depth) noexcept nogil
cdef Py_ssize_t distinct(double* values, Py_ssize_t n) noexcept nogil
