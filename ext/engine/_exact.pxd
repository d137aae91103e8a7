"""Arithmetic that gives the same bits on every processor: sums and products with their rounding error, 2^x and log2.

The C library chooses its logarithm by processor, and the choices differ in the last bit; these use only operations that
IEEE 754 fixes. (The build forbids the compiler to contract a*b + c.)
"""
from libc.math cimport floor, frexp, ldexp


cdef struct double_double:
    # The unevaluated sum high + low, |low| <= half a unit in the last place of high.
    double high
    double low


cdef inline double_double two_sum(double a, double b) noexcept nogil:
    """a + b exactly (Knuth)."""
    cdef double_double s
    cdef double t
    s.high = a + b
    t = s.high - a
    s.low = (a - (s.high - t)) + (b - t)
    return s


cdef inline double_double two_product(double a, double b) noexcept nogil:
    """a * b exactly (Dekker), for |a|, |b| < 2^996."""
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
    """a + b to about 104 bits of the larger."""
    cdef double_double s = two_sum(a.high, b.high)
    cdef double low = s.low + (a.low + b.low)
    cdef double_double r
    r.high = s.high + low
    r.low = low - (r.high - s.high)
    return r


cdef inline double_double scale(double_double a, double b) noexcept nogil:
    """a * b to about 104 bits."""
    cdef double_double p = two_product(a.high, b)
    cdef double low = p.low + a.low * b
    cdef double_double r
    r.high = p.high + low
    r.low = low - (r.high - p.high)
    return r


cdef inline double_double product(double_double a, double_double b) noexcept nogil:
    """a * b to about 104 bits."""
    cdef double_double p = two_product(a.high, b.high)
    cdef double low = p.low + (a.high * b.low + a.low * b.high)
    cdef double_double r
    r.high = p.high + low
    r.low = low - (r.high - p.high)
    return r


cdef inline double log2_exact(double x) noexcept nogil:
    """The base-2 logarithm of x > 0, within two units in the last place; exact for powers of two.

    x = 2^e m with m in [sqrt(1/2), sqrt(2)), and log m = 2 artanh(s) with s = (m-1)/(m+1), |s| < 0.1716.
    """
    cdef int exponent, i
    cdef double m = frexp(x, &exponent)
    cdef double s, s2, series = 0.0
    if m < 0.7071067811865476:
        m = 2.0 * m
        exponent -= 1
    s = (m - 1.0) / (m + 1.0)
    s2 = s * s
    for i in range(23, 1, -2):
        series = (series + 1.0 / i) * s2
    # 2 / log(2), so that the sum is in units of the binary exponent.
    return exponent + 2.8853900817779268 * (s + s * series)


cdef inline double exp2_exact(double x) noexcept nogil:
    """2^x for |x| < 2^30, within two units in the last place; exact for whole numbers.

    x = whole + r with |r| <= 1/2, and 2^r = Σ (r log 2)^i / i!.
    """
    cdef double whole = floor(x + 0.5)
    cdef double power = (x - whole) * 0.6931471805599453
    cdef double series = 0.0
    cdef int i
    for i in range(15, 0, -1):
        series = (1.0 + series) * power / i
    return ldexp(1.0 + series, <int>whole)
