"""Prefix sums of slot weights: row j is the total weight of the first j ranks, plus a constant, for j = 0 … depth.

A slot is a rank, and its weight is what a measure such as DCG multiplies the gain at this rank by. Prefix sums are
float64[depth + 1, 2]; the two numbers of a row add up to the prefix sum, with a precision of about 104 bits. So the
total weight of the slots t+1 … t+m, a difference of two rows, is correct to nearly all its bits even if t is large. In
plain doubles, this difference would have lost eight digits at t = 10⁴.
"""
import numpy as np
from libc.math cimport INFINITY, NAN
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._allocation cimport new_zeros, zero_matrix
from tieaware.kernels._exact cimport (
    add, double_double, exp2_exact, exp2_minus_one, log1p_exact, log2_exact, product, scale, two_product,
)
from tieaware.kernels._measure cimport between
from tieaware.kernels._sorting cimport sort

cnp.import_array()


cdef double_double reciprocal(double x) noexcept nogil:
    """Return 1 / x to about 104 bits."""
    cdef double_double q, p
    q.high = 1.0 / x
    p = two_product(q.high, x)
    q.low = ((1.0 - p.high) - p.low) / x
    return q


cdef enum Discount:
    RECIPROCAL
    OF_DCG
    OF_LATE_RANKS
    INVERSE_SQUARE


cdef inline double_double weight_of(Discount discount, Py_ssize_t j, double parameter) noexcept nogil:
    """Return the weight of slot j."""
    cdef double_double weight
    if discount == RECIPROCAL:
        return reciprocal(<double>j)
    weight.low = 0.0
    if discount == OF_DCG:
        weight.high = 1.0 / log2_exact(1.0 + j)
    elif discount == OF_LATE_RANKS:
        weight.high = 1.0 if j < parameter else log2_exact(parameter) / log2_exact(<double>j)
    else:
        weight.high = parameter + (j - 1)
        weight.high = 1.0 / (weight.high * weight.high)
    return weight


cdef cnp.ndarray sums_of(Discount discount, Py_ssize_t depth, double parameter):
    """Return the prefix sums of the weights of the slots 1 … depth."""
    cdef cnp.ndarray sums = zero_matrix(depth + 1, 2, cnp.NPY_DOUBLE)
    cdef double* row = <double*>cnp.PyArray_DATA(sums)
    cdef double_double total
    cdef Py_ssize_t j
    total.high = total.low = 0.0
    with nogil:
        for j in range(1, depth + 1):
            total = add(total, weight_of(discount, j, parameter))
            row[2 * j], row[2 * j + 1] = total.high, total.low
    return sums


def harmonic(Py_ssize_t depth):
    """Return the prefix sums of the reciprocal ranks: row j is the harmonic number H_j = Σ_{i ≤ j} 1/i."""
    return sums_of(RECIPROCAL, depth, 0.0)


def logarithmic(Py_ssize_t depth):
    """Return the prefix sums of the discount of DCG: row j is Σ_{i ≤ j} 1 / log2(1 + i)."""
    return sums_of(OF_DCG, depth, 0.0)


def late_logarithmic(double base, Py_ssize_t depth):
    """Return the prefix sums of the discount of Järvelin and Kekäläinen: 1 before rank `base`, then 1 / log_base(rank).

    `base` is greater than 1.
    """
    return sums_of(OF_LATE_RANKS, depth, base)


def inverse_squares(double first, Py_ssize_t depth):
    """Return the prefix sums of the slot weights of INSQ: row j is Σ_{i ≤ j} 1 / (first + i - 1)²."""
    return sums_of(INVERSE_SQUARE, depth, first)


def geometric(double p, Py_ssize_t depth):
    """Return the prefix sums of the slot weights of RBP, minus 1: row j is Σ_{i ≤ j} (1 - p) p^(i-1) - 1 = -p^j.

    Without the -1, the prefix sums would converge to 1, and the weights of deep slots would lose their digits.
    """
    cdef cnp.ndarray sums = zero_matrix(depth + 1, 2, cnp.NPY_DOUBLE)
    cdef double* row = <double*>cnp.PyArray_DATA(sums)
    cdef double_double power
    cdef Py_ssize_t j
    power.high = -1.0
    power.low = 0.0
    with nogil:
        for j in range(depth + 1):
            row[2 * j], row[2 * j + 1] = power.high, power.low
            power = scale(power, p)
    return sums


def powers_minus_one(cnp.ndarray exponents not None):
    """Return 2^x - 1 for float64[n] exponents from 0 to 1000; for whole numbers up to 53, it is exact."""
    cdef cnp.ndarray powers = np.empty(exponents.shape[0])
    cdef const double* exponent = <const double*>cnp.PyArray_DATA(exponents)
    cdef double* power = <double*>cnp.PyArray_DATA(powers)
    cdef Py_ssize_t i
    for i in range(exponents.shape[0]):
        power[i] = exp2_minus_one(exponent[i])
    return powers


def exponentials(const double[::1] exponents):
    """Return e^x for float64[n] exponents up to 0, within |x| + 3 units in the last place.

    Exponents below -750 give 0, and NaN gives NaN.
    """
    cdef cnp.ndarray powers = np.empty(exponents.shape[0])
    cdef double* power = <double*>cnp.PyArray_DATA(powers)
    cdef Py_ssize_t i
    cdef double x
    for i in range(exponents.shape[0]):
        x = exponents[i]
        if -750.0 <= x <= 0.0:
            power[i] = exp2_exact(1.4426950408889634 * x)
        elif x < 0.0:
            power[i] = 0.0
        elif x != x:
            power[i] = x
        else:
            raise ValueError("exponents must not be above 0")
    return powers


def binary_logarithms(const double[::1] numbers):
    """Return log2 x for float64[n] numbers, within two units in the last place: -inf for 0, NaN for x < 0 or NaN."""
    cdef cnp.ndarray logarithms = np.empty(numbers.shape[0])
    cdef double* logarithm = <double*>cnp.PyArray_DATA(logarithms)
    cdef Py_ssize_t i
    cdef double x
    for i in range(numbers.shape[0]):
        x = numbers[i]
        if 0.0 < x < INFINITY:
            logarithm[i] = log2_exact(x)
        else:
            logarithm[i] = -INFINITY if x == 0.0 else x if x > 0.0 else NAN
    return logarithms


def logarithms_of_one_more(const double[::1] numbers):
    """Return ln(1 + x) for float64[n] numbers, within three units in the last place: -inf for -1, NaN for x < -1."""
    cdef cnp.ndarray logarithms = np.empty(numbers.shape[0])
    cdef double* logarithm = <double*>cnp.PyArray_DATA(logarithms)
    cdef Py_ssize_t i
    cdef double x
    for i in range(numbers.shape[0]):
        x = numbers[i]
        if -1.0 < x < INFINITY:
            logarithm[i] = log1p_exact(x)
        else:
            logarithm[i] = -INFINITY if x == -1.0 else x if x > 0.0 else NAN
    return logarithms


def squares(cnp.ndarray slots not None):
    """Return the prefix sums of squared slot weights, Σ_{i ≤ j} d_i², from the prefix sums of the slot weights d."""
    cdef Py_ssize_t depth = slots.shape[0] - 1
    cdef const double* prefix = <const double*>cnp.PyArray_DATA(slots)
    cdef cnp.ndarray sums = zero_matrix(depth + 1, 2, cnp.NPY_DOUBLE)
    cdef double* row = <double*>cnp.PyArray_DATA(sums)
    cdef double_double total, weight
    cdef Py_ssize_t j
    total.high = total.low = 0.0
    with nogil:
        for j in range(1, depth + 1):
            weight = between(prefix, j - 1, 1)
            total = add(total, product(weight, weight))
            row[2 * j], row[2 * j + 1] = total.high, total.low
    return sums


def ideal(cnp.ndarray labels not None, cnp.ndarray gains not None, cnp.ndarray offsets not None,
          cnp.ndarray slots not None, Py_ssize_t depth):
    """Return the ideal gain of each list: Σ g_j d_j, where g_j is the j-th highest gain and d_j the weight of slot j.

    Only the `depth` highest gains count. The sum has the same bits as the sum that _expected.pyx computes for the ideal
    ranking without ties.

    Parameters
    ----------
    labels : int32[n]
    gains : float64[n_labels]
        The gain of each label from 0; no gain is negative. Documents with negative labels have no gain.
    offsets : int64[n_lists + 1]
        Where the labels of each list start.
    slots : float64[depth + 1 or more, 2]
        The prefix sums of the slot weights.
    """
    cdef const int32_t* label = <const int32_t*>cnp.PyArray_DATA(labels)
    cdef const double* gain = <const double*>cnp.PyArray_DATA(gains)
    cdef const int64_t* bound = <const int64_t*>cnp.PyArray_DATA(offsets)
    cdef const double* prefix = <const double*>cnp.PyArray_DATA(slots)
    cdef Py_ssize_t n_lists = offsets.shape[0] - 1, n_labels = gains.shape[0], i, j, n
    cdef bint good = True
    cdef cnp.ndarray sums = new_zeros(n_lists, cnp.NPY_DOUBLE)
    cdef double* into = <double*>cnp.PyArray_DATA(sums)
    cdef double* sorted_gains = <double*>malloc(max(labels.shape[0], 1) * sizeof(double))
    cdef double_double d
    if sorted_gains == NULL:
        raise MemoryError("no memory to sort the gains")
    with nogil:
        for i in range(n_lists):
            n = 0
            for j in range(bound[i], bound[i + 1]):
                # A gain of 0 adds nothing at any rank.
                if label[j] < 0:
                    continue
                if label[j] >= n_labels:
                    good = False
                elif gain[label[j]] != 0.0:
                    sorted_gains[n] = gain[label[j]]
                    n += 1
            sort(sorted_gains, n)
            for j in range(min(depth, n)):
                d = between(prefix, j, 1)
                into[i] += sorted_gains[n - 1 - j] * (d.high + d.low)
    free(sorted_gains)
    if not good:
        raise ValueError("a label has no gain: it is beyond the last of the gains")
    return sums


def ideal_cascade(cnp.ndarray labels not None, cnp.ndarray stops not None, cnp.ndarray offsets not None,
                  Py_ssize_t depth):
    """Return the ideal ERR of each list: that of its graded documents in the best order.

    Only the `depth` highest labels count. The sum has the same bits as the sum that _cascade.pyx computes for the ideal
    ranking without ties.

    Parameters
    ----------
    labels : int32[n]
    stops : float64[n_grades]
        The probability that a user stops at a document of each grade, from grade 1. Lower labels are not graded.
    offsets : int64[n_lists + 1]
        Where the labels of each list start.
    """
    cdef const int32_t* label = <const int32_t*>cnp.PyArray_DATA(labels)
    cdef const double* stop = <const double*>cnp.PyArray_DATA(stops)
    cdef const int64_t* bound = <const int64_t*>cnp.PyArray_DATA(offsets)
    cdef Py_ssize_t n_lists = offsets.shape[0] - 1, n_grades = stops.shape[0], i, j, c, _copy
    cdef int64_t rank
    cdef double goes_on
    cdef bint good = True
    cdef cnp.ndarray sums = np.zeros(n_lists), counts = np.zeros(n_grades + 1, np.int64)
    cdef double* into = <double*>cnp.PyArray_DATA(sums)
    cdef int64_t* count = <int64_t*>cnp.PyArray_DATA(counts)
    with nogil:
        for i in range(n_lists):
            for c in range(n_grades + 1):
                count[c] = 0
            for j in range(bound[i], bound[i + 1]):
                if label[j] > n_grades:
                    good = False
                elif label[j] > 0:
                    count[label[j]] += 1
            rank = 0
            goes_on = 1.0
            for c in range(n_grades, 0, -1):
                for _copy in range(count[c]):
                    if rank >= depth or goes_on < 1e-30 * into[i]:
                        break
                    rank += 1
                    into[i] += goes_on * (1.0 - (1.0 - stop[c - 1])) / rank
                    goes_on *= 1.0 - stop[c - 1]
    if not good:
        raise ValueError("a label is higher than the highest grade")
    return sums
