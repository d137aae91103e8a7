"""Conversion of decimal numbers in text to correctly rounded doubles.

The functions read the bytes [p, end). A blank must follow these bytes, and at least eight bytes before them and after
them must be readable.
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
    /* TENS: all powers of ten that doubles represent exactly. INTEGER_TENS: 10^k up to k = 8. FIVES: all powers of five
       that fit in 64 bits. */
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
    # The largest k for which 5^k fits in 64 bits.
    LARGEST_FIVE = 27

# The outcome of reading a number. DONE: the number was converted. BAD: the text is not a number. LATER: a slower
# conversion must read the number, because the functions here cannot round it correctly. ROUNDED, which only the slower
# conversion finds: double does not represent the number. It is an integer from 2^53 on, written without an exponent,
# that would be rounded; or too large; or too small to differ from 0. Such a number is rejected, because rounding could
# make it equal to another one and so create a tie.
cdef enum Text:
    BAD, DONE, LATER, ROUNDED


cdef inline uint64_t eight_digits(uint64_t word) noexcept nogil:
    # Return the number whose decimal digits are the bytes of the word. Each byte has a value from 0 to 9; the lowest
    # byte is the most significant digit. Digits are combined into pairs, pairs into groups of four, and both groups
    # into the number.
    word = (word * (10 * 256 + 1)) >> 8 & <uint64_t>0x00ff00ff00ff00ff
    word = (word * (100 * 65536 + 1)) >> 16 & <uint64_t>0x0000ffff0000ffff
    return (word * (10000 * (<uint64_t>1 << 32) + 1)) >> 32


cdef inline uint64_t above_9(uint64_t word) noexcept nogil:
    # Return a word in which the top bit of a byte is set if and only if this byte of the argument exceeds 9.
    return ((word & <uint64_t>0x7f7f7f7f7f7f7f7f) + <uint64_t>0x7676767676767676 | word) & <uint64_t>0x8080808080808080


cdef inline const uint8_t *read_digits(const uint8_t *p, uint64_t *value) noexcept nogil:
    # Append the decimal digits at p to those of `value`, modulo 2^64, and return the address after the digits.
    cdef uint64_t word, beyond
    cdef int n
    while True:
        # This turns the character of a digit into its value, and any other character into a number above 9.
        word = first_byte_lowest(load_8(p)) ^ <uint64_t>0x3030303030303030
        beyond = above_9(word)
        if beyond == 0:
            value[0] = value[0] * 100000000 + eight_digits(word)
            p += 8
            continue
        n = lowest_bit(beyond) >> 3
        if n:
            # The shift removes the bytes after the digits, and puts zeros before the digits.
            value[0] = value[0] * INTEGER_TENS[n] + eight_digits(word << (64 - 8 * n))
        return p + n


cdef inline bint read_plain(
    const uint8_t *p, const uint8_t *end, uint64_t *mantissa, int *exponent
) noexcept nogil:
    """Read a number of a common form: up to seven digits, a point, and further digits; at most 16 digits in total.

    Return False if the text does not have this form; otherwise the number is mantissa times 10^exponent.

    If at least eight digits follow the point, the last eight of them are read as one word. The remaining digits, at
    most eight, are combined into another word from two overlapping reads of eight bytes:

        digits after the point    from the eight bytes at `last`
        digits before the point   from the eight bytes at `last` - 1, so that no gap is left where the point was

    The other bytes of each read are cleared. Neither read has to wait for the result of the other.
    """
    cdef const uint8_t *last = end - 8
    cdef uint64_t point = first_byte_lowest(load_8(p)) ^ <uint64_t>0x2e2e2e2e2e2e2e2e
    cdef uint64_t word, low = 0, behind, all_digits
    cdef Py_ssize_t n_before, n_behind
    # Afterwards, the lowest set bit is the top bit of the first byte that is a decimal point ('.').
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
    # A shift by 64 bits would be undefined, so it is written as a shift by one (in ~1) and a shift by up to 63.
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

    10^k is 5^k 2^k. Let m be the mantissa and d be 5^k, both shifted left so that their top bit, bit 63, is set. The
    quotient q = floor(m 2^62 / d) then has 62 or 63 bits. If the division has a remainder, the lowest bit of q is set.
    This bit is below the bit that decides the rounding to 53 bits, so q is rounded as the exact quotient would be. At
    the end, q is multiplied by a power of two, which is exact.
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
    """Read [p, end) as mantissa times 10^exponent. Return LATER if there may be too many digits for either of them."""
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
            # The exponent could overflow if more digits followed the point. A slower conversion reads such a number.
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
    """Read [p, end) as a number. Return LATER if only the slower conversion by Python rounds it correctly."""
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
        # Doubles represent the mantissa and the power of ten exactly, so only the result of the operation is rounded.
        value = <double>mantissa
        if exponent < 0:
            value /= TENS[-exponent]
        else:
            value *= TENS[exponent]
    elif exponent == 0:
        value = <double>mantissa
        # The mantissa may have been rounded up to 2^64, which cannot be converted back to 64 bits.
        if value == 18446744073709551616.0 or <uint64_t>value != mantissa:
            return LATER
    elif -LARGEST_FIVE <= exponent < 0:
        value = divide_exactly(mantissa, -exponent)
        if value >= 9007199254740992.0:
            # Without its decimals, the number may be an integer that double does not represent.
            return LATER
    else:
        return LATER
    score[0] = -value if negative else value
    return DONE


cdef inline Text read_label(const uint8_t *p, const uint8_t *end, double *label) noexcept nogil:
    """Read [p, end) as a signed integer of 32 bits, which is stored as a double. Return DONE or BAD."""
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
