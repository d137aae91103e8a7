"""The point at which the scores of two documents cross, rounded correctly, and a key by which points are sorted."""
from libc.math cimport INFINITY, fabs, frexp, isfinite, ldexp, nextafter
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from tieaware.kernels._exact cimport double_double, rounded_sum, two_product, two_sum


cdef inline uint64_t key_of(double t) noexcept nogil:
    """Return a key whose order, as an unsigned number, is that of t."""
    cdef uint64_t bits
    # Adding 0 turns -0.0 into 0.0.
    t = t + 0.0
    memcpy(&bits, &t, 8)
    return ~bits if bits >> 63 else bits | (<uint64_t>1 << 63)


cdef inline double t_of(uint64_t key) noexcept nogil:
    cdef uint64_t bits = key & ~(<uint64_t>1 << 63) if key >> 63 else ~key
    cdef double t
    memcpy(&t, &bits, 8)
    return t


cdef inline bint is_odd(double t) noexcept nogil:
    cdef uint64_t bits
    memcpy(&bits, &t, 8)
    return bits & 1


cdef inline int shift_of(double n, double t) noexcept nogil:
    """Return a power of two for n and t: products of the shifted numbers lose no digits to underflow or overflow."""
    cdef int of_n, of_t
    frexp(n, &of_n)
    frexp(t, &of_t)
    return max(0, min(600 - of_n, 900 - of_t))


cdef inline double beyond_middle(double_double n, double_double d, double t, double other, int shift) noexcept nogil:
    """Return a number above 0 if n / d is nearer to `other` than to t, 0 if it is halfway, and else below 0: exact."""
    cdef double part[12]
    cdef double_double p
    cdef double ends[2]
    cdef double sum
    cdef int i
    ends[0], ends[1] = 0.5 * ldexp(t, shift), 0.5 * ldexp(other, shift)
    part[0], part[1] = ldexp(n.high, shift), ldexp(n.low, shift)
    for i in range(2):
        p = two_product(ends[i], d.high)
        part[2 + 4 * i], part[3 + 4 * i] = -p.high, -p.low
        p = two_product(ends[i], d.low)
        part[4 + 4 * i], part[5 + 4 * i] = -p.high, -p.low
    sum = rounded_sum(part, 1, 10)
    # The sign of n - (t + other) / 2 * d, for the direction from t to `other` and the sign of d.
    return sum if (d.high > 0.0) == (other > t) else -sum


cdef inline double decided(double_double n, double_double d, double t) noexcept nogil:
    """Return the double nearest to n / d, the even one of two equally near ones; t is a few doubles away at most."""
    cdef int shift = shift_of(n.high, t), _step, i
    cdef double other, side
    for _step in range(8):
        for i in range(2):
            other = nextafter(t, -INFINITY if i == 0 else INFINITY)
            side = beyond_middle(n, d, t, other, shift)
            if side > 0.0 or (side == 0.0 and is_odd(t)):
                t = other
                break
        else:
            break
    return t


cdef inline double corrected(double_double n, double_double d, double t) noexcept nogil:
    """Return n / d, rounded correctly, given an approximation t."""
    cdef double_double p, s
    cdef double part[6]
    cdef double gap, doubt
    if not isfinite(t):
        return t
    if fabs(n.high) < 1e-250 or t == 0.0:
        # Products with t would underflow.
        return decided(n, d, t)
    # The rest n - t d, divided by d, is what t lacks.
    p = two_product(t, d.high)
    part[0], part[1], part[2], part[3] = n.high, n.low, -p.high, -p.low
    p = two_product(t, d.low)
    part[4], part[5] = -p.high, -p.low
    s = two_sum(t, rounded_sum(part, 1, 6) / d.high)
    gap = nextafter(fabs(s.high), INFINITY) - fabs(s.high)
    doubt = fabs(fabs(s.low) - 0.5 * gap)
    if doubt > gap * 1e-6 and fabs(s.low) > 0.0:
        return s.high
    return decided(n, d, s.high)


cdef inline double crossing(double a_u, double d_u, double a_j, double d_j) noexcept nogil:
    """Return the t with a_u + t d_u = a_j + t d_j, rounded correctly; d_u and d_j differ."""
    cdef double_double n = two_sum(a_j, -a_u), d = two_sum(d_u, -d_j)
    cdef double t = n.high / d.high
    if n.low == 0.0 and d.low == 0.0:
        return t
    return corrected(n, d, t)
