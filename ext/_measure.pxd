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

cdef struct Measure:
    int kernel
    int64_t cutoff
    # Which weighting of the groups it sums, and the prefix sums of its slot weights.
    int weight
    const double* table
    # For the variance: the weighting by squared weights, and the prefix sums of squared slot weights.
    int square
    const double* squares


cdef inline pair between(const double* table, int64_t t, int64_t m) noexcept nogil:
    """The weight of the slots t+1 … t+m."""
    cdef const double* after = table + 2 * (t + m)
    cdef const double* before = table + 2 * t
    cdef pair d = two_sum(after[0], -before[0])
    d.low += after[1] - before[1]
    return d
