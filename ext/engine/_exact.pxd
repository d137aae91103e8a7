"""Arithmetic that gives the same bits on every processor: double-double sums and products, 2^x and logarithms.

A double-double is a number represented as the sum of two doubles. The C library has several logarithm functions, which
differ in the last bit, and chooses one by processor. The functions here use only operations whose results IEEE 754
defines exactly. (The compiler is told not to turn a*b + c into one operation that rounds once.)
"""
from libc.math cimport floor, frexp, ldexp


cdef struct double_double:
    # The number is high + low, where |low| is at most half a unit in the last place of high.
    double high
    double low


cdef inline double_double two_sum(double a, double b) noexcept nogil:
    """Return a + b exactly, as a double-double (Knuth's algorithm)."""
    cdef double_double s
    cdef double t
    s.high = a + b
    t = s.high - a
    s.low = (a - (s.high - t)) + (b - t)
    return s


cdef inline double_double two_product(double a, double b) noexcept nogil:
    """Return a * b exactly, as a double-double (Dekker's algorithm), for |a|, |b| < 2^996."""
    cdef double_double p
    cdef double t, a1, a2, b1, b2
    t = 134217729.0 * a
    a1 = t - (t - a)
    a2 = a - a1
    t = 134217729.0 * b
    b1 = t - (t - b)
    b2 = b - b1
    p.high = a * b
    p.low = ((a1 * b1 - p.high) + a1 * b2 + a2 * b1) + a2 * b2
    return p


cdef inline double_double add(double_double a, double_double b) noexcept nogil:
    """Return a + b. The error is about 2^-104 times the larger of |a| and |b|."""
    cdef double_double s = two_sum(a.high, b.high)
    cdef double low = s.low + (a.low + b.low)
    cdef double_double r
    r.high = s.high + low
    r.low = low - (r.high - s.high)
    return r


cdef inline double_double scale(double_double a, double b) noexcept nogil:
    """Return a * b to about 104 bits; b is a double."""
    cdef double_double p = two_product(a.high, b)
    cdef double low = p.low + a.low * b
    cdef double_double r
    r.high = p.high + low
    r.low = low - (r.high - p.high)
    return r


cdef inline double_double product(double_double a, double_double b) noexcept nogil:
    """Return a * b to about 104 bits; a and b are double-doubles."""
    cdef double_double p = two_product(a.high, b.high)
    cdef double low = p.low + (a.high * b.low + a.low * b.high)
    cdef double_double r
    r.high = p.high + low
    r.low = low - (r.high - p.high)
    return r


# The most parts of a sum that `rounded_sum` takes.
cdef enum:
    MOST_PARTS = 128


cdef inline double rounded_sum(const double* part, Py_ssize_t stride, Py_ssize_t n) noexcept nogil:
    """Return the sum of n finite parts, rounded once: no order of the parts gives another result (Shewchuk, 1997).

    Part i is at index i * stride; n is at most MOST_PARTS. Invariant: the numbers in `kept` add up exactly to the parts
    so far, ascend in magnitude, and have no bits in common.
    """
    cdef double kept[MOST_PARTS]
    cdef Py_ssize_t n_kept = 0, i, j, k
    cdef double_double s
    cdef double total, twice
    for i in range(n):
        s.high = part[i * stride]
        k = 0
        for j in range(n_kept):
            s = two_sum(s.high, kept[j])
            if s.low != 0.0:
                kept[k] = s.low
                k += 1
        kept[k] = s.high
        n_kept = k + 1
    if n_kept == 0:
        return 0.0
    s.high, s.low = kept[n_kept - 1], 0.0
    k = n_kept - 1
    while k > 0 and s.low == 0.0:
        k -= 1
        s = two_sum(s.high, kept[k])
    # If the rest is exactly half a unit in the last place, the sign of what is below it decides about rounding.
    if k > 0 and ((s.low < 0.0 and kept[k - 1] < 0.0) or (s.low > 0.0 and kept[k - 1] > 0.0)):
        twice = 2.0 * s.low
        total = s.high + twice
        if total - s.high == twice:
            return total
    return s.high


cdef inline double log2_exact(double x) noexcept nogil:
    """Return the base-2 logarithm of x > 0, within two units in the last place; it is exact for powers of two.

    The method: x = 2^e m with m in [sqrt(1/2), sqrt(2)), and log m = 2 artanh(s) with s = (m-1)/(m+1), |s| < 0.1716.
    """
    cdef int exponent
    cdef double m = frexp(x, &exponent)
    if m < 0.7071067811865476:
        m = 2.0 * m
        exponent -= 1
    return exponent + log2_of_ratio((m - 1.0) / (m + 1.0))


cdef inline double log1p_exact(double x) noexcept nogil:
    """Return the natural logarithm of 1 + x for x > -1, within three units in the last place.

    If x is small, 1 + x would lose digits, so the method of `log2_exact` takes s = x/(2+x) instead of (m-1)/(m+1).
    """
    if -0.29 < x < 0.41:
        return 0.6931471805599453 * log2_of_ratio(x / (2.0 + x))
    return 0.6931471805599453 * log2_exact(1.0 + x)


cdef inline double log2_of_ratio(double s) noexcept nogil:
    """Return the base-2 logarithm of (1+s)/(1-s) for |s| < 0.1716."""
    cdef double s2 = s * s, series = 0.0
    cdef int i
    for i in range(23, 1, -2):
        series = (series + 1.0 / i) * s2
    # The constant is 2 / log(2), which turns natural logarithms into base-2 logarithms.
    return 2.8853900817779268 * (s + s * series)


cdef inline double exp2_minus_one(double x) noexcept nogil:
    """Return 2^x - 1 for 0 <= x < 1000, within four units in the last place; it is exact for whole numbers x < 54.

    The method is that of `exp2_exact`, without rounding to 1 + … if x is small.
    """
    cdef double whole = floor(x + 0.5)
    cdef double power = (x - whole) * 0.6931471805599453
    cdef double series = 0.0
    cdef int i
    for i in range(15, 0, -1):
        series = (1.0 + series) * power / i
    return (ldexp(1.0, <int>whole) - 1.0) + ldexp(series, <int>whole)


cdef inline double exp2_exact(double x) noexcept nogil:
    """Return 2^x for |x| < 2^30, within two units in the last place; it is exact for whole numbers x.

    The method: x = whole + r with |r| <= 1/2, and 2^r = Σ (r log 2)^i / i!.
    """
    cdef double whole = floor(x + 0.5)
    cdef double power = (x - whole) * 0.6931471805599453
    cdef double series = 0.0
    cdef int i
    for i in range(15, 0, -1):
        series = (1.0 + series) * power / i
    return ldexp(1.0 + series, <int>whole)
