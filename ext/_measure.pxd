"""A measure as the kernels know it."""
from libc.stdint cimport int64_t

from tieaware._exact cimport pair, two_sum

# The numbers of the kernels, in the order of KERNELS in _expected.pyx.
cdef enum:
    HITS = 0
    HITS_AT_R = 1
    SLOTS = 2
    SLOTS_OF_IDEAL = 3
    AVERAGE_PRECISION = 4
    RECIPROCAL_RANK = 5
    SUCCESS = 6
    CONSTANT = 7
    SQUARED_HITS = 8
    PAIRS = 9
    SEARCH_LENGTH = 10
    RESIDUAL = 11
    PREFERENCE = 12
    CASCADE = 13
    INTERPOLATED = 14
    INTERPOLATED_11 = 15
    INFERRED_PRECISION = 16
    Q_MEASURE = 17


cdef struct Moments:
    double mean
    double variance


cdef struct Measure:
    int kernel
    int64_t cutoff
    # A number among the measure's parameters that its kernel needs.
    double number
    # Which weightings of the groups it looks at, one after another; mostly one.
    int weight
    int n_weights
    # The prefix sums of its slot weights, or what else each kernel says.
    const double* table
    # For the variance: the weighting by squared weights, and the prefix sums of squared slot weights.
    int square
    const double* squares
    # Whether unjudged documents are taken out of the list first.
    bint judged_only
    # Whether the best order of tied documents gives the least value.
    bint less_is_better


cdef inline pair between(const double* table, int64_t t, int64_t m) noexcept nogil:
    """The weight of the slots t+1 … t+m."""
    cdef const double* after = table + 2 * (t + m)
    cdef const double* before = table + 2 * t
    cdef pair d = two_sum(after[0], -before[0])
    d.low += after[1] - before[1]
    return d


cdef inline double gain_weight(const double* ideal, int64_t n_relevant, double beta, int64_t j) noexcept nogil:
    """1/(j + β C*_j): what the Q-measure divides by at rank j, C*_j being the ideal cumulated gain to there."""
    return 1.0 / (j + beta * ideal[min(j, n_relevant) - 1])
