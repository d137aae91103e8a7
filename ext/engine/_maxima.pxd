from libc.stdint cimport int64_t

from tieaware.kernels._groups cimport Groups
from tieaware.kernels._interruption cimport Interruption


# The upper part of the distribution of a maximum: the values above some floor that it can have, descending, and for
# each the probability that the maximum is at least this value.
cdef struct Tail:
    Py_ssize_t count
    double* value
    double* chance


# Working memory for the distributions of the maxima of h/(j + shift) of one query.
cdef struct Maxima:
    # The number that is added to each rank, and the last rank that counts.
    double shift
    int64_t cutoff
    # The maximum over all groups below, and the maximum of the current group.
    Tail below
    Tail group
    # How many orders j relevant and d nonrelevant documents have: C(j+d, j) in row j and column d, times `taken`^j
    # `left`^d. These factors cancel out; they are not 1 only if the numbers would be too large.
    double* orders
    Py_ssize_t n_columns
    bint filled
    double taken
    double left
    # For each relevant document of a group: the number of nonrelevant documents before it up to which its h/j is at
    # least the current value, -1 if it never is, and the next smaller value of h/j.
    int64_t* reach
    double* following
    # For each step of a path that may be forbidden (see _maxima.pyx): the height up to which it is forbidden, and the
    # numbers of paths to it, and from it, and from it without another forbidden step.
    int64_t* height
    double* to
    double* rest
    double* last
    # The numbers of rows and columns of `orders` that any group needs.
    Py_ssize_t rows
    Py_ssize_t columns
    Interruption* interruption


# Return how many numbers of working memory the distributions need, or TOO_MANY. Only the wanted-th relevant document
# and later ones count.
cdef int64_t size_of_maxima(const Groups* groups, const double* weight, int64_t wanted, int64_t k) noexcept nogil

# Divide the working memory.
cdef Maxima new_maxima(double* workspace, const Groups* groups, const double* weight, int64_t wanted, int64_t k,
                       double shift, Interruption* interruption) noexcept nogil

# Write the distribution of the maximum of group g over the relevant documents from the lowest-th of the group on, above
# a floor, to `maxima.group`. The group has r relevant documents, and `before` precede it. Returns False after an
# interruption.
cdef bint write_group(Maxima* maxima, int64_t t, int64_t n, int64_t r, int64_t before, int64_t lowest,
                      double floor) noexcept nogil

# Replace the distribution of the maximum of the groups below by that of the larger of both maxima, above a floor.
cdef void join_group(Maxima* maxima, double floor) noexcept nogil

# Return the mean of the larger of both maxima minus a floor, or 0 if neither is above the floor.
cdef double mean_above(const Maxima* maxima, double floor) noexcept nogil

# Return the variance of the maximum of the groups below, if all smaller values are replaced by the floor.
cdef double variance_above(const Tail* tail, double floor) noexcept nogil
