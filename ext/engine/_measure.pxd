"""A measure as the kernels know it, and what a kernel sees of one query."""
from libc.stdint cimport int64_t

from tieaware.kernels._exact cimport double_double, two_sum
from tieaware.kernels._groups cimport Groups
from tieaware.kernels._interruption cimport Interruption

cdef struct Measure


# One measure of one query.
cdef struct Query:
    const Measure* measure
    # The groups; for a measure with judged_only, without unjudged documents.
    const Groups* groups
    # The number of documents of the list, including those in no group.
    int64_t n_docs
    # The weight of each group under the measure's first weighting.
    const double* weight
    # The divisor of the sum over the groups, not 0; and a second number of the query, which some kernels need.
    double norm
    double query_number
    # The index in the measure's lookup array where the numbers of the query start.
    int64_t lookup_start
    # Working memory for as many numbers as the kernel's `workspace_size` says.
    double* workspace
    # A kernel whose steps may outnumber the documents of the list polls this.
    Interruption* interruption


# The mean, or the variance, of one measure for one query over the orders of tied documents. It is infinite if the
# kernel refuses because the computation would take too long, and arbitrary after an interruption.
ctypedef double (*Statistic)(const Query*) noexcept nogil

# The smallest and the largest value over the orders of tied documents.
ctypedef void (*Extremes)(const Query*, double* least, double* most) noexcept nogil

# The size of the working memory, in numbers, that the mean (with `spread`, the variance) needs for this query; TOO_MANY
# if the kernel refuses.
ctypedef int64_t (*WorkspaceSize)(const Query*, bint spread) noexcept nogil

cdef enum:
    TOO_MANY = -1


# How a measure sums up the groups of a query: an entry of the registry in _kernels.pyx.
cdef struct Kernel:
    Statistic mean
    Statistic variance
    # NULL if the orders by label, descending and ascending, give the extremes.
    Extremes extremes
    # NULL if the kernel needs no working memory.
    WorkspaceSize workspace_size


cdef struct Measure:
    Kernel kernel
    # The largest integer if there is no cut-off.
    int64_t cutoff
    # A parameter of the measure that some kernels need.
    double measure_number
    # The first of the weightings of the groups that the measure looks at, and their number, mostly one.
    int weighting
    int n_weightings
    # An array that the kernel reads: mostly the prefix sums of slot weights (see _slots.pyx).
    const double* lookup
    # For the variance: the weighting by squared weights, and the prefix sums of squared slot weights.
    int squared_weighting
    const double* squares
    # True if the measure has a value for every query, even where `norm` is 0.
    bint always_defined
    # True if unjudged documents are removed from the list first.
    bint judged_only
    # True if the best order of tied documents gives the smallest value.
    bint less_is_better
    # True if the mean over the queries is the geometric mean.
    bint geometric


cdef inline double_double between(const double* prefix_sums, int64_t t, int64_t m) noexcept nogil:
    """The sum of the weights of the slots t+1 … t+m."""
    cdef const double* after = prefix_sums + 2 * (t + m)
    cdef const double* before = prefix_sums + 2 * t
    cdef double_double d = two_sum(after[0], -before[0])
    d.low += after[1] - before[1]
    return d


cdef inline double gain_weight(const double* ideal, int64_t n_relevant, double beta, int64_t j) noexcept nogil:
    """1/(j + β C*_j), the factor of the Q-measure at rank j, where C*_j is the ideal cumulated gain down to rank j."""
    return 1.0 / (j + beta * ideal[min(j, n_relevant) - 1])


cdef inline Py_ssize_t first_group(const Query* q) noexcept nogil:
    """The first group with a non-zero weight, or -1."""
    cdef Py_ssize_t g
    for g in range(q.groups.count):
        if q.weight[g] != 0.0:
            return g
    return -1
