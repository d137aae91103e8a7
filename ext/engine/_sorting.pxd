from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t

cimport tieaware.kernels._numpy as cnp

# NumPy's sorts of doubles and of uint32 in place, vectorised if the processor allows. Arguments: the numbers, how many
# there are, and NULL.
ctypedef int (*Sort)(void*, cnp.npy_intp, void*) noexcept nogil
cdef Sort sort_doubles
cdef Sort sort_narrow

# The most narrow words that NumPy sorts fast.
cdef Py_ssize_t narrow_chunk

# NumPy's sorts of places by double; they return a negative number if there is no memory.
ctypedef int (*ArgSort)(void*, cnp.npy_intp*, cnp.npy_intp, void*) noexcept nogil
cdef ArgSort argsort_doubles
cdef ArgSort stable_argsort_doubles

# Functions that sort the scores of a list together with their places in the list: see sorting.h.
cdef extern from "engine/sorting.h" nogil:
    enum:
        TIEAWARE_LONGEST_SORTED
    int64_t tieaware_place_bits(Py_ssize_t)
    int64_t tieaware_words_double(const double*, const int64_t*, Py_ssize_t, int64_t, int64_t*)
    int64_t tieaware_words_float(const float*, const int64_t*, Py_ssize_t, int64_t, int64_t*)
    ctypedef struct tieaware_chunks:
        Py_ssize_t n
    tieaware_chunks tieaware_chunks_of(Py_ssize_t)
    int64_t* tieaware_sort(Sort, int64_t*, Py_ssize_t, int64_t*)
    Py_ssize_t tieaware_same(const int64_t*, Py_ssize_t, int64_t)
    int64_t tieaware_repeats(const int64_t*, Py_ssize_t, int64_t)
    int64_t tieaware_close(const double*, const int64_t*, const int64_t*, Py_ssize_t, int64_t)

# `sort` sorts numbers in place, ascending. `distinct` removes repeated numbers from sorted numbers, in place, and
# returns how many numbers remain.
cdef void sort(double* values, Py_ssize_t n) noexcept nogil
cdef Py_ssize_t distinct(double* values, Py_ssize_t n) noexcept nogil

# Sort crossings by their keys, in place or into the spare arrays. Equal keys keep their order.
cdef void sort_crossings(uint64_t* key, uint32_t* change, uint64_t* spare_key, uint32_t* spare_change, Py_ssize_t n,
                         bint into_spare) noexcept nogil
