"""Crossings: the t at which the scores of two documents cross, rounded correctly, and growing arrays of them."""
from libc.math cimport INFINITY, fabs, frexp, isfinite, ldexp, nextafter
from libc.stdint cimport uint32_t, uint64_t
from libc.stdlib cimport realloc
from libc.string cimport memcpy

from tieaware.kernels._exact cimport double_double, rounded_sum, two_product, two_sum


cdef extern from "engine/crossings.h" nogil:
    const Py_ssize_t MOST_CROSSINGS "TIEAWARE_MOST_CROSSINGS"


# The crossings: the sortable key of t, and twice the unit plus 1 if a document falls behind the unit.
cdef struct Crossings:
    Py_ssize_t count, room
    uint64_t* key
    uint32_t* change


cdef inline bint make_room(Crossings* crossings, Py_ssize_t more) noexcept nogil:
    """Make room for more crossings; return False if there is no memory, or if there are too many to be counted."""
    cdef Py_ssize_t room = max(crossings.count + more, 2 * crossings.room)
    cdef void* grown
    if crossings.count + more > MOST_CROSSINGS:
        return False
    if crossings.count + more <= crossings.room and crossings.key != NULL:
        return True
    grown = realloc(crossings.key, room * sizeof(uint64_t))
    if grown == NULL:
        return False
    crossings.key = <uint64_t*>grown
    grown = realloc(crossings.change, room * sizeof(uint32_t))
    if grown == NULL:
        return False
    crossings.change = <uint32_t*>grown
    crossings.room = room
    return True


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


# A quotient: the numerator is the sum of two doubles, the denominator that of four.
cdef struct Quotient:
    double n[2]
    double d[4]


cdef inline double beyond_middle(const Quotient* quotient, double t, double other, int shift) noexcept nogil:
    """Return a number above 0 if a quotient is nearer to `other` than to t, 0 if it is halfway, else below 0: exact."""
    cdef double part[18]
    cdef double_double p
    cdef double ends[2]
    cdef double sum
    cdef int i, j
    ends[0], ends[1] = 0.5 * ldexp(t, shift), 0.5 * ldexp(other, shift)
    part[0], part[1] = ldexp(quotient.n[0], shift), ldexp(quotient.n[1], shift)
    for i in range(2):
        for j in range(4):
            p = two_product(ends[i], quotient.d[j])
            part[2 + 8 * i + 2 * j], part[3 + 8 * i + 2 * j] = -p.high, -p.low
    sum = rounded_sum(part, 1, 18)
    # The sign of n - (t + other) / 2 * d, for the direction from t to `other` and the sign of d.
    return sum if (rounded_sum(quotient.d, 1, 4) > 0.0) == (other > t) else -sum


cdef inline double decided(const Quotient* quotient, double t) noexcept nogil:
    """Return the double nearest to a quotient, the even one of two equally near; t is a few doubles away at most."""
    cdef int shift = shift_of(quotient.n[0], t), _step, i
    cdef double other, side
    for _step in range(8):
        for i in range(2):
            other = nextafter(t, -INFINITY if i == 0 else INFINITY)
            side = beyond_middle(quotient, t, other, shift)
            if side > 0.0 or (side == 0.0 and is_odd(t)):
                t = other
                break
        else:
            break
    return t


cdef inline double corrected(const Quotient* quotient, double t) noexcept nogil:
    """Return a quotient, rounded correctly, given an approximation t."""
    cdef double_double p, s
    cdef double part[10]
    cdef double gap, doubt
    cdef int j
    if not isfinite(t):
        return t
    if fabs(quotient.n[0]) < 1e-250 or t == 0.0:
        # Products with t would underflow.
        return decided(quotient, t)
    # The rest n - t d, divided by d, is what t lacks.
    part[0], part[1] = quotient.n[0], quotient.n[1]
    for j in range(4):
        p = two_product(t, quotient.d[j])
        part[2 + 2 * j], part[3 + 2 * j] = -p.high, -p.low
    s = two_sum(t, rounded_sum(part, 1, 10) / rounded_sum(quotient.d, 1, 4))
    gap = nextafter(fabs(s.high), INFINITY) - fabs(s.high)
    doubt = fabs(fabs(s.low) - 0.5 * gap)
    if doubt > gap * 1e-6 and fabs(s.low) > 0.0:
        return s.high
    return decided(quotient, s.high)


cdef inline double crossing(double a_u, double d_u, double e_u, double a_j, double d_j, double e_j) noexcept nogil:
    """Return the t with a_u + t (d_u + e_u) = a_j + t (d_j + e_j), rounded correctly; the directions differ."""
    cdef double_double n = two_sum(a_j, -a_u), d = two_sum(d_u, -d_j), e = two_sum(e_u, -e_j)
    cdef Quotient quotient
    quotient.n[0], quotient.n[1] = n.high, n.low
    quotient.d[0], quotient.d[1], quotient.d[2], quotient.d[3] = d.high, d.low, e.high, e.low
    return corrected(&quotient, n.high / rounded_sum(quotient.d, 1, 4))
