from libc.stdint cimport int64_t, uint64_t

from tieaware.kernels._measure cimport Query


# The numbers of one query that the kernels of subtopics read, in the array `of_queries` of the measure. Subtopic i of
# the query has weight[i], which is 0 if no document is relevant to it. Combination c of subtopics, as they occur among
# the documents of the query, has the subtopics whose bits are set in the two numbers 2c and 2c + 1 of `sets`, which
# hold the bits 0 … 31 and 32 … 63.
cdef struct Subtopics:
    int64_t n
    int64_t n_combinations
    const double* weight
    const double* sets


cdef inline Subtopics subtopics_of(const Query* q) noexcept nogil:
    cdef const double* numbers = q.measure.of_queries + q.lookup_start
    cdef Subtopics subtopics
    subtopics.n = <int64_t>numbers[0]
    subtopics.n_combinations = <int64_t>numbers[1]
    subtopics.weight = numbers + 2
    subtopics.sets = subtopics.weight + subtopics.n
    return subtopics


cdef inline uint64_t subtopics_in(const Subtopics* subtopics, int64_t c) noexcept nogil:
    """Return the set of the subtopics of a combination, one bit each."""
    return <uint64_t>subtopics.sets[2 * c] | <uint64_t>subtopics.sets[2 * c + 1] << 32


cdef inline double power(double q, double r) noexcept nogil:
    """Return q^r for a whole number r ≥ 1, by repeated squaring."""
    cdef double result = 1.0
    cdef int64_t left = <int64_t>r
    while left > 0:
        if left & 1:
            result *= q
        q *= q
        left >>= 1
    return result


cdef double mean_of_novelty(const Query* q) noexcept nogil
cdef double mean_of_intents_hits(const Query* q) noexcept nogil
cdef double mean_of_intents_precision(const Query* q) noexcept nogil
cdef double mean_of_intents_success(const Query* q) noexcept nogil
cdef int64_t size_of_mean_of_novelty(const Query* q) noexcept nogil
