# The C interface of tieaware for Cython; tieaware.h explains it.
from libc.stdint cimport int32_t, int64_t, uint64_t


cdef extern from "tieaware.h" nogil:
    enum:
        TIEAWARE_ABI_VERSION

    ctypedef uint64_t tieaware_evaluator

    enum:
        TIEAWARE_OK
        TIEAWARE_NO_EVALUATOR
        TIEAWARE_NULL_POINTER
        TIEAWARE_WRONG_SIZE
        TIEAWARE_WRONG_TYPE
        TIEAWARE_UNALIGNED
        TIEAWARE_NAN
        TIEAWARE_NO_SPREAD
        TIEAWARE_NO_QUERIES
        TIEAWARE_REFUSED
        TIEAWARE_NO_MEMORY
        TIEAWARE_FLOAT64
        TIEAWARE_FLOAT32
        TIEAWARE_WITH_SPREAD

    ctypedef struct tieaware_scores:
        const void* data
        int64_t size
        int64_t stride
        int32_t type

    ctypedef struct tieaware_sizes:
        int64_t n_queries
        int64_t n_docs
        int64_t n_measures

    ctypedef struct tieaware_functions:
        int32_t version
        int32_t size
        tieaware_evaluator (*prepare)(object evaluator, int32_t options) except 0 with gil
        int32_t (*sizes)(tieaware_evaluator, tieaware_sizes*) noexcept nogil
        int32_t (*evaluate)(tieaware_evaluator, const tieaware_scores*, double*, int64_t) noexcept nogil
        int32_t (*mean)(tieaware_evaluator, const tieaware_scores*, double*, int64_t) noexcept nogil
        int32_t (*spread)(tieaware_evaluator, const tieaware_scores*, double*, int64_t) noexcept nogil
        int32_t (*release)(tieaware_evaluator) noexcept nogil
        const char* (*message)(int32_t) noexcept nogil

    tieaware_scores tieaware_float64(const double* data, int64_t size)
    tieaware_scores tieaware_float32(const float* data, int64_t size)


cdef extern from "tieaware.h":
    const tieaware_functions* tieaware_import() except NULL
