"""A measure as the kernels know it, and what they look at of a query."""
from libc.stdint cimport int64_t

from tieaware.kernels._exact cimport double_double, two_sum
from tieaware.kernels._groups cimport Groups
from tieaware.kernels._interruption cimport Interruption

cdef struct Measure


# One measure of one query.
cdef struct Query:
    const Measure* measure
    # The groups, without unjudged documents if the measure takes them out; how many documents they and those between
    # them are; and what each group weighs under the measure's first weighting.
    const Groups* groups
    int64_t n_docs
    const double* weight
    # What the sum over the groups is divided by, not 0; and what else some kernels take of the query.
    double norm
    double query_number
    # Where its part of the measure's table begins.
    int64_t table_start
    # As many numbers to work with as the kernel's row says.
    double* workspace
    # What a kernel asks that may take longer than the list is long.
    Interruption* interruption


# The mean, or the variance, of one measure for one query, over the orders that the ties allow; infinite, where that
# takes too long, and anything, once it is interrupted.
ctypedef double (*Statistic)(const Query*) noexcept nogil

# The least and the greatest value over these orders.
ctypedef void (*Extremes)(const Query*, double* least, double* most) noexcept nogil

# How many numbers the mean, or with the spread the variance, needs to work with for this query; TOO_MANY, where it
# refuses.
ctypedef int64_t (*WorkspaceSize)(const Query*, bint spread) noexcept nogil

cdef enum:
    TOO_MANY = -1


# How a measure sums up the groups of a query: a row of the table in _kernels.pyx.
cdef struct Kernel:
    Statistic mean
    Statistic variance
    # NULL, where the orders by label, descending and ascending, give them.
    Extremes extremes
    # NULL, where the kernel needs none.
    WorkspaceSize workspace_size


cdef struct Measure:
    Kernel kernel
    # The greatest integer, if there is none.
    int64_t cutoff
    # What some kernels take of the measure: one of its parameters.
    double measure_number
    # Which weightings of the groups it looks at, one after another; mostly one.
    int weight
    int n_weights
    # The prefix sums of its slot weights, or what else each kernel says.
    const double* table
    # For the variance: the weighting by squared weights, and the prefix sums of squared slot weights.
    int square
    const double* squares
    # Whether it says something about every query, even where `norm` is 0.
    bint always_defined
    # Whether unjudged documents are taken out of the list first.
    bint judged_only
    # Whether the best order of tied documents gives the least value.
    bint less_is_better
    # Whether the mean over the queries is the geometric one.
    bint geometric


cdef inline double_double between(const double* table, int64_t t, int64_t m) noexcept nogil:
    """The weight of the slots t+1 … t+m."""
    cdef const double* after = table + 2 * (t + m)
    cdef const double* before = table + 2 * t
    cdef double_double d = two_sum(after[0], -before[0])
    d.low += after[1] - before[1]
    return d


cdef inline double gain_weight(const double* ideal, int64_t n_relevant, double beta, int64_t j) noexcept nogil:
    """1/(j + β C*_j): what the Q-measure divides by at rank j, C*_j being the ideal cumulated gain to there."""
    return 1.0 / (j + beta * ideal[min(j, n_relevant) - 1])


cdef inline Py_ssize_t first_group(const Query* q) noexcept nogil:
    """The first group that weighs anything; -1 if none does."""
    cdef Py_ssize_t g
    for g in range(q.groups.count):
        if q.weight[g] != 0.0:
            return g
    return -1
