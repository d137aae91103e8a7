"""Conversion of decimal text to correctly rounded doubles.

A blank must follow the text of a number, and at least eight bytes before and after the text must be readable.
"""

cimport cython
from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

cdef extern from "inputs/identifier.h" nogil:
    uint64_t load_8(const uint8_t *p)

cdef extern from "engine/portable.h" nogil:
    uint64_t quotient_62 "tieaware_quotient_62"(uint64_t a, uint64_t b)
    int lowest_bit "tieaware_lowest_bit"(uint64_t word)
    int leading_zeros "tieaware_leading_zeros"(uint64_t word)
    uint64_t first_byte_lowest "tieaware_first_byte_lowest"(uint64_t word)

cdef extern from *:
    """
    /* The powers 10^k that doubles represent exactly, 10^k up to k = 8, and 5^k that fit in 64 bits. */
    static const double TENS[23] = {
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    };
    static const uint64_t INTEGER_TENS[9] = {
        1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
    };
    static const uint64_t FIVES[28] = {
        UINT64_C(1), UINT64_C(5), UINT64_C(25),
        UINT64_C(125), UINT64_C(625), UINT64_C(3125),
        UINT64_C(15625), UINT64_C(78125), UINT64_C(390625),
        UINT64_C(1953125), UINT64_C(9765625), UINT64_C(48828125),
        UINT64_C(244140625), UINT64_C(1220703125), UINT64_C(6103515625),
        UINT64_C(30517578125), UINT64_C(152587890625), UINT64_C(762939453125),
        UINT64_C(3814697265625), UINT64_C(19073486328125), UINT64_C(95367431640625),
        UINT64_C(476837158203125), UINT64_C(2384185791015625), UINT64_C(11920928955078125),
        UINT64_C(59604644775390625), UINT64_C(298023223876953125), UINT64_C(1490116119384765625),
        UINT64_C(7450580596923828125),
    };
    """
    const double *TENS
    const uint64_t *INTEGER_TENS
    const uint64_t *FIVES

cdef enum:
    # The largest number of decimal digits that always fit in 64 bits.
    DIGITS = 19
    LARGEST_FIVE = 27

# The outcome of reading a number. LATER: a general conversion must read it. ROUNDED: it is a whole number that double
# does not represent, so that two such numbers could tie by rounding.
cdef enum Text:
    BAD, DONE, LATER, ROUNDED


cdef inline uint64_t eight_digits(uint64_t word) noexcept nogil:
    # The bytes have values 0..9, the most significant digit in the lowest byte. They are combined into pairs, then into
    # groups of four, then into one number.
    word = (word * (10 * 256 + 1)) >> 8 & <uint64_t>0x00ff00ff00ff00ff
    word = (word * (100 * 65536 + 1)) >> 16 & <uint64_t>0x0000ffff0000ffff
    return (word * (10000 * (<uint64_t>1 << 32) + 1)) >> 32


cdef inline uint64_t above_9(uint64_t word) noexcept nogil:
    # The result has the top bit set in each byte that exceeds 9.
    return ((word & <uint64_t>0x7f7f7f7f7f7f7f7f) + <uint64_t>0x7676767676767676 | word) & <uint64_t>0x8080808080808080


cdef inline const uint8_t *read_digits(const uint8_t *p, uint64_t *value) noexcept nogil:
    # value := value followed by the digits at p, modulo 2^64. SLACK readable bytes follow the text.
    cdef uint64_t word, beyond
    cdef int n
    while True:
        # The byte of a digit becomes the value of the digit.
        word = first_byte_lowest(load_8(p)) ^ <uint64_t>0x3030303030303030
        beyond = above_9(word)
        if beyond == 0:
            value[0] = value[0] * 100000000 + eight_digits(word)
            p += 8
            continue
        n = lowest_bit(beyond) >> 3
        if n:
            # The shift puts zeros before the digits and removes the bytes after them.
            value[0] = value[0] * INTEGER_TENS[n] + eight_digits(word << (64 - 8 * n))
        return p + n


cdef inline bint read_plain(
    const uint8_t *p, const uint8_t *end, uint64_t *mantissa, int *exponent
) noexcept nogil:
    """Read [p, end) if it is up to seven digits, a point, and more digits, at most 16 in total, like most scores.

    If there are more than eight digits, at least eight follow the point, and the last eight are read as one word. The
    remaining digits (all of them in a shorter number) are combined into a second word from two overlapping reads:

        digits after the point    from the eight bytes at `last`
        digits before the point   from the eight bytes at `last` - 1, which closes the gap of the point

    The other bytes of each read are cleared. Both reads depend only on the position of the point, not on each other.
    """
    cdef const uint8_t *last = end - 8
    cdef uint64_t point = first_byte_lowest(load_8(p)) ^ <uint64_t>0x2e2e2e2e2e2e2e2e
    cdef uint64_t word, low = 0, behind, all_digits
    cdef Py_ssize_t n_before, n_behind
    # The lowest set bit marks the first byte that equals the point.
    point = point - <uint64_t>0x0101010101010101 & ~point & <uint64_t>0x8080808080808080
    if point == 0:
        return False
    n_before = lowest_bit(point) >> 3
    n_behind = end - p - 1 - n_before
    if n_before == 0 or n_behind < 0:
        return False
    exponent[0] = -<int>n_behind
    if n_behind >= 8:
        low = first_byte_lowest(load_8(last)) ^ <uint64_t>0x3030303030303030
        last -= 8
        n_behind -= 8
    if n_before + n_behind > 8:
        return False
    # A shift by 64 would be undefined, so it is divided into two shifts.
    behind = ~<uint64_t>1 << (63 - 8 * n_behind)
    all_digits = ~<uint64_t>0 << (64 - 8 * (n_before + n_behind))
    word = first_byte_lowest(load_8(last)) & behind | first_byte_lowest(load_8(last - 1)) & all_digits & ~behind
    word ^= <uint64_t>0x3030303030303030 & all_digits
    if (above_9(word) | above_9(low)) != 0:
        return False
    mantissa[0] = eight_digits(word)
    if last != end - 8:
        mantissa[0] = mantissa[0] * 100000000 + eight_digits(low)
    return True


@cython.cdivision(True)
cdef inline double divide_exactly(uint64_t mantissa, int k) noexcept nogil:
    """Return mantissa / 10^k correctly rounded, for 0 < mantissa and 0 < k <= LARGEST_FIVE.

    With both operands shifted to 64 bits, the quotient q = floor(m 2^62 / d) has 62 or 63 bits. A remainder sets the
    lowest bit, which is below the bit that decides the rounding to 53 bits, so q rounds as the exact quotient would.
    The remaining factor is a power of two.
    """
    cdef int m_shift = leading_zeros(mantissa), d_shift = leading_zeros(FIVES[k])
    cdef uint64_t d = FIVES[k] << d_shift
    cdef uint64_t q = quotient_62(mantissa << m_shift, d)
    # The remainder is less than d, so it is zero if and only if its lower 64 bits are.
    if mantissa << m_shift << 62 != q * d:
        q |= 1
    # The scale is 2^(d_shift - m_shift - 62 - k), with an exponent between -152 and 1.
    cdef uint64_t bits = <uint64_t>(1023 + d_shift - m_shift - 62 - k) << 52
    cdef double scale
    memcpy(&scale, &bits, 8)
    return <double><int64_t>q * scale


cdef inline bint same_letters(const uint8_t *p, const char *lower, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if p[i] | 0x20 != <uint8_t>lower[i]:
            return False
    return True


cdef inline Text read_parts(const uint8_t *p, const uint8_t *end, uint64_t *mantissa, int *exponent) noexcept nogil:
    """Read [p, end) as digits, point and exponent; return LATER if there are too many digits."""
    cdef const uint8_t *start = p
    cdef const uint8_t *first
    cdef const uint8_t *point
    cdef uint64_t power = 0
    cdef Py_ssize_t n_digits, n_written
    cdef bint divided
    mantissa[0] = 0
    exponent[0] = 0
    while p[0] == c"0":
        p += 1
    n_written = p - start
    point = p
    p = read_digits(p, mantissa)
    n_digits = p - point
    n_written += n_digits
    if p[0] == c".":
        p += 1
        point = p
        if n_digits == 0:
            while p[0] == c"0":
                p += 1
        first = p
        p = read_digits(p, mantissa)
        n_digits += p - first
        n_written += p - point
        if p - point > 1000:
            # More digits could make the exponent overflow.
            n_digits = DIGITS + 1
        else:
            exponent[0] = -<int>(p - point)
    if n_written == 0:
        return BAD
    if p[0] | 0x20 == c"e":
        p += 1
        divided = p[0] == c"-"
        if divided or p[0] == c"+":
            p += 1
        first = p
        p = read_digits(p, &power)
        if p == first:
            return BAD
        if p - first > 8:
            n_digits = DIGITS + 1
        else:
            exponent[0] += -<int>power if divided else <int>power
    if p != end:
        return BAD
    return LATER if n_digits > DIGITS else DONE


cdef inline Text read_score(const uint8_t *p, const uint8_t *end, double *score) noexcept nogil:
    """Read [p, end) as a number; return LATER if only the general conversion rounds it correctly."""
    cdef bint negative = p[0] == c"-"
    if negative or p[0] == c"+":
        p += 1
    cdef uint64_t mantissa = 0
    cdef int exponent = 0
    cdef Text outcome
    cdef double value
    if not read_plain(p, end, &mantissa, &exponent):
        outcome = read_parts(p, end, &mantissa, &exponent)
        if outcome == BAD:
            if end - p == 3 and same_letters(p, "inf", 3) or end - p == 8 and same_letters(p, "infinity", 8):
                score[0] = -INFINITY if negative else INFINITY
                return DONE
        if outcome != DONE:
            return outcome
    if mantissa == 0:
        value = 0.0
    elif mantissa <= <uint64_t>1 << 53 and -22 <= exponent <= 22:
        # Both operands are exact, so the result is rounded only once.
        value = <double>mantissa
        if exponent < 0:
            value /= TENS[-exponent]
        else:
            value *= TENS[exponent]
    elif exponent == 0:
        value = <double>mantissa
        # The value may be rounded up to 2^64, which does not fit in 64 bits.
        if (value == 18446744073709551616.0 or <uint64_t>value != mantissa) and read_digits(p, &mantissa) == end:
            return ROUNDED
    elif -LARGEST_FIVE <= exponent < 0:
        value = divide_exactly(mantissa, -exponent)
    else:
        return LATER
    score[0] = -value if negative else value
    return DONE


cdef inline Text read_label(const uint8_t *p, const uint8_t *end, double *label) noexcept nogil:
    """Read [p, end) as an integer of 32 bits."""
    cdef bint negative = p[0] == c"-"
    if negative or p[0] == c"+":
        p += 1
    cdef const uint8_t *first = p
    cdef uint64_t value = 0
    while p[0] == c"0":
        p += 1
    cdef const uint8_t *significant = p
    p = read_digits(p, &value)
    if p != end or p == first or p - significant > 10 or value > <uint64_t>0x7fffffff + negative:
        return BAD
    label[0] = -<double>value if negative else <double>value
    return DONE
