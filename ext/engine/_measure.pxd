"""C structs for the arguments of a kernel: a measure (`Measure`), and the data of one query (`Query`)."""
from libc.stdint cimport int32_t, int64_t

from tieaware.kernels._exact cimport double_double, two_sum
from tieaware.kernels._groups cimport Groups
from tieaware.kernels._interruption cimport Interruption

cdef struct Measure


# The argument of a kernel, which computes the value of one measure for one query.
cdef struct Query:
    const Measure* measure
    # The tie groups of the query. For a measure with judged_only, unjudged documents have been removed from the groups.
    const Groups* groups
    # The number of documents of the list, including the documents that are in no group.
    int64_t n_docs
    # The total weight of the documents of each group, under the measure's first weighting.
    const double* weight
    # The divisor of the sum over the groups. It is not 0, unless the measure has a value for every query.
    double norm
    # A second number of the query that some kernels need: for bpref, the number of nonrelevant documents that count.
    double query_number
    # The index in the measure's lookup array, or in its second one, at which the numbers of this query start.
    int64_t lookup_start
    # For each weighting c whose weights are real numbers: carry[2c] is the weighting that holds what rounding left out
    # of the sums, and carry[2c + 1] > 0. For other weightings, carry[2c + 1] is 0. NULL if there are only others.
    const int32_t* carry
    # Working memory for as many numbers as the kernel's `workspace_size` says.
    double* workspace
    # The state of polling for interruption. Kernels that may take more steps than the list has documents poll it.
    Interruption* interruption


# A function that returns the mean or the variance of one measure for one query over the orders of tied documents. The
# result is infinite if the kernel refuses because the computation would take too long. After an interruption, the
# result is arbitrary.
ctypedef double (*Statistic)(const Query*) noexcept nogil

# A function that writes the smallest and the largest value over the orders of tied documents. It is called after the
# function for the variance, with the same working memory.
ctypedef void (*Extremes)(const Query*, double* least, double* most) noexcept nogil

# A function that returns how many numbers of working memory the kernel needs to compute the mean for this query, or,
# with `spread`, the variance. It returns TOO_MANY if the kernel refuses to compute them.
ctypedef int64_t (*WorkspaceSize)(const Query*, bint spread) noexcept nogil

cdef enum:
    TOO_MANY = -1


# The functions that compute a measure from the groups of a query: an entry of the registry in _kernel_measures.pyx.
cdef struct Kernel:
    Statistic mean
    Statistic variance
    # NULL if sorting tied documents by label, descending and ascending, gives the largest and the smallest value.
    Extremes extremes
    # NULL if the kernel needs no working memory.
    WorkspaceSize workspace_size


cdef struct Measure:
    Kernel kernel
    # The cut-off of the measure, or the largest int64 if the measure has no cut-off.
    int64_t cutoff
    # The one parameter of the measure that its kernel needs, such as the recall of interpolated precision; else 0.
    double measure_number
    # The index of the first weighting that the measure uses, and the number of adjacent weightings that it uses: mostly
    # one.
    int weighting
    int n_weightings
    # A lookup array that the kernel reads. For most measures, it holds prefix sums of slot weights (see _slots.pyx).
    const double* lookup
    # A second lookup array, with the numbers of all queries one after another; NULL if the kernel needs none. If it is
    # given, `lookup_start` is an index in this array.
    const double* of_queries
    # Two inputs of the variance: the index of the weighting by squared weights, and the prefix sums of the squared slot
    # weights.
    int squared_weighting
    const double* squares
    # True if the measure has a value for every query, even where `norm` is 0.
    bint always_defined
    # True if unjudged documents are removed from the list before the measure is computed.
    bint judged_only
    # True if the best order of tied documents gives the smallest value.
    bint less_is_better
    # True if the mean over the queries is the geometric mean.
    bint geometric


cdef inline double_double between(const double* prefix_sums, int64_t t, int64_t m) noexcept nogil:
    """Return the sum of the weights of the slots t+1 … t+m, as a difference of two prefix sums."""
    cdef const double* after = prefix_sums + 2 * (t + m)
    cdef const double* before = prefix_sums + 2 * t
    cdef double_double d = two_sum(after[0], -before[0])
    d.low += after[1] - before[1]
    return d


cdef inline double_double total_weight(const Query* q, int weighting, Py_ssize_t g) noexcept nogil:
    """Return the total weight of the documents of a group under a weighting, to about 104 bits."""
    cdef double_double total
    total.high = q.groups.weight[weighting * q.groups.stride + g]
    total.low = 0.0
    if q.carry != NULL and q.carry[2 * weighting + 1] > 0:
        total.low = q.groups.weight[q.carry[2 * weighting] * q.groups.stride + g]
    return total


cdef inline double gain_weight(const double* ideal, int64_t n_relevant, double beta, int64_t j) noexcept nogil:
    """Return 1/(j + β C*_j), the factor of the Q-measure at rank j; C*_j is the ideal cumulated gain down to rank j."""
    return 1.0 / (j + beta * ideal[min(j, n_relevant) - 1])


cdef inline Py_ssize_t first_group(const Query* q) noexcept nogil:
    """Return the index of the first group with a non-zero weight, or -1 if no group has one."""
    cdef Py_ssize_t g
    for g in range(q.groups.count):
        if q.weight[g] != 0.0:
            return g
    return -1
