from libc.stdint cimport int64_t

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._counting cimport score_t
from tieaware.kernels._interruption cimport Interruption

cdef extern from "engine/coarsening.h" nogil:
    ctypedef struct tieaware_format:
        double shift, least, most, overflow
    ctypedef struct tieaware_decades:
        double* from_ "from"
        double* times
        double* over
        int64_t* first

cdef extern from "engine/near_ties.h" nogil:
    ctypedef struct tieaware_tolerance:
        double absolute, relative


# A way to make scores coarser, with everything that does not depend on the scores.
cdef struct Rounding:
    int kind
    # FORMAT: the binary format.
    tieaware_format format
    # DECIMALS and SIGNIFICANT: the number of digits.
    int digits
    # DECIMALS: 10^digits, and whether it is exact.
    double power
    bint exact
    # SIGNIFICANT: how to round numbers of each decade.
    const tieaware_decades* decades
    # LEVELS: the number of levels.
    double n_levels
    # BANDS: the number of documents before each band, its key and its value (see banding.h), and whether it has a key.
    const int64_t* starts
    const float* keys
    const double* values
    bint has_keys
    # GAP: how far apart neighbours that tie can be.
    tieaware_tolerance tolerance


cdef class KernelCoarsening:
    cdef Rounding rounding
    cdef object arguments
    # The arrays of bands.
    cdef tuple bands
    # True if coarse scores are float32.
    cdef readonly bint single
    # True if the coarse scores depend on the whole list.
    cdef readonly bint whole_list
    # The length of the longest list that can be coarsened.
    cdef readonly Py_ssize_t longest
    cdef int set_bands(self, cnp.ndarray starts) except -1


# Write the coarse scores of one list, and to single[0] whether they are float32 or float64. They are float32 for a
# binary format, else float64. If `keys`, they may instead be other numbers of either type in the same order, of which
# the same are equal; this is faster. `out` must have room for n doubles, and `memory` must have the size that
# `memory_size` returns. Return False if the call has to stop: `check_coarsening` then raises the error.
cdef bint coarsen(const Rounding* rounding, const score_t* scores, Py_ssize_t n, bint keys, void* out, bint* single,
                  void* memory, Interruption* interruption) noexcept nogil

# Raise the error for which a kernel that coarsens scores stopped, if it did.
cdef int check_coarsening(const Rounding* rounding, Interruption* interruption) except -1

# Return how many bytes of working memory it takes to coarsen a list of n documents.
cdef size_t memory_size(const Rounding* rounding, Py_ssize_t n) noexcept nogil
