"""Means of a measure over queries. All averages over queries use this one implementation.

The sum is kept in double-double precision, and the mean is rounded only once. So the mean depends neither on the order
of the queries nor on how the queries are divided among threads. A value is NaN where the measure is undefined; NaN
values are skipped.
"""
from libc.math cimport NAN
from libc.stdint cimport int64_t

from tieaware.kernels._exact cimport double_double, exp2_exact, log2_exact, two_product, two_sum


# A mean that is being computed: the sum and the number of the values added so far. Two means over disjoint sets of
# queries are merged by adding their sums and their numbers of values.
cdef struct Mean:
    # The sum of the values, or of their base-2 logarithms if the mean is geometric.
    double_double sum
    int64_t count
    bint geometric


cdef inline Mean mean_of_none(bint geometric) noexcept nogil:
    cdef Mean mean
    mean.sum.high = mean.sum.low = 0.0
    mean.count = 0
    mean.geometric = geometric
    return mean


cdef inline void extend(Mean* mean, double value) noexcept nogil:
    cdef double_double sum
    if value != value:
        return
    if mean.geometric:
        # Values below 0.00001 count as 0.00001, as in trec_eval: the logarithm of 0 is not finite.
        value = log2_exact(max(value, 0.00001))
    sum = two_sum(mean.sum.high, value)
    mean.sum.high = sum.high
    mean.sum.low += sum.low
    mean.count += 1


cdef inline void add(Mean* mean, const Mean* other) noexcept nogil:
    """Merge another mean, over other queries, into this mean. Both means must be arithmetic, or both geometric."""
    cdef double_double sum = two_sum(mean.sum.high, other.sum.high)
    mean.sum.high = sum.high
    mean.sum.low += other.sum.low + sum.low
    mean.count += other.count


cdef inline double rounded(const Mean* mean) noexcept nogil:
    """Return the mean of the values added so far, as a double, or NaN if there are none."""
    cdef double_double sum, product
    cdef double quotient
    if mean.count == 0:
        return NAN
    sum = two_sum(mean.sum.high, mean.sum.low)
    quotient = sum.high / mean.count
    if -1e290 < sum.high < 1e290:
        product = two_product(quotient, <double>mean.count)
        quotient += (((sum.high - product.high) - product.low) + sum.low) / mean.count
    else:
        # The sum is infinite or too large for exact products.
        quotient = mean.sum.high / mean.count
    return exp2_exact(quotient) if mean.geometric else quotient
