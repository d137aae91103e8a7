/* Portable replacements for compiler-specific functions: positions of bits in a word, 128-bit products and quotients.
 *
 * gcc and clang compile each function to one or two instructions. Other compilers, such as MSVC, compile plain C code
 * with the same results. If TIEAWARE_PLAIN_C is defined, plain C is used with every compiler, without vector types and
 * without versions for several instruction sets, so that tests can compare its results with those of the other code.
 */
#ifndef TIEAWARE_PORTABLE_H
#define TIEAWARE_PORTABLE_H

#include <stdint.h>

#if !defined(TIEAWARE_PLAIN_C)
#if defined(__GNUC__) || defined(__clang__)
#define TIEAWARE_GNU_C
#endif
/* MSVC does not define __SSE2__, although every 64-bit x86 processor has SSE2. */
#if defined(__SSE2__) || defined(_M_X64)
#define TIEAWARE_SSE2
#endif
/* clang for Windows has the type __int128, but its runtime library lacks the function that divides such numbers. */
#if defined(__SIZEOF_INT128__) && !defined(_MSC_VER)
#define TIEAWARE_INT128
#endif
#if defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
#define TIEAWARE_MSVC_X64
#endif
#endif

/* GCC deletes calls of functions that only prefetch, unless they are always inlined. */
#if defined(TIEAWARE_GNU_C)
#define TIEAWARE_INLINED static inline __attribute__((always_inline))
#else
#define TIEAWARE_INLINED static inline
#endif

/* Prefetch memory that will be read soon; an invalid address is harmless. */
TIEAWARE_INLINED void tieaware_prefetch(const void *address)
{
#if defined(TIEAWARE_GNU_C)
    __builtin_prefetch(address);
#else
    (void)address;
#endif
}

/* Returns the number of zeros above the highest bit that is set, for a word that is not 0. */
static inline int tieaware_leading_zeros(uint64_t word)
{
#if defined(TIEAWARE_GNU_C)
    return __builtin_clzll(word);
#elif defined(TIEAWARE_MSVC_X64)
    unsigned long highest;
    _BitScanReverse64(&highest, word);
    return 63 - (int)highest;
#else
    int zeros = 0;
    for (int half = 32; half; half /= 2) {
        /* Invariant: the word is shifted left by `zeros`, and its highest set bit is among the upper 2 * half bits. */
        if (word >> (64 - half) == 0) {
            zeros += half;
            word <<= half;
        }
    }
    return zeros;
#endif
}

/* Returns the index of the lowest bit that is set, for a word that is not 0. */
static inline int tieaware_lowest_bit(uint64_t word)
{
#if defined(TIEAWARE_GNU_C)
    return __builtin_ctzll(word);
#elif defined(TIEAWARE_MSVC_X64)
    unsigned long lowest;
    _BitScanForward64(&lowest, word);
    return (int)lowest;
#else
    return 63 - tieaware_leading_zeros(word & (0 - word));
#endif
}

/* Returns a word that was read from memory, rearranged so that its first byte in memory is its lowest byte. */
static inline uint64_t tieaware_first_byte_lowest(uint64_t word)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(word);
#else
    return word;
#endif
}

/* Computes the 128-bit product a * b: returns its low half and writes its high half to `high`. */
static inline uint64_t tieaware_product(uint64_t a, uint64_t b, uint64_t *high)
{
#if defined(TIEAWARE_INT128)
    const unsigned __int128 product = (unsigned __int128)a * b;
    *high = (uint64_t)(product >> 64);
    return (uint64_t)product;
#elif defined(TIEAWARE_MSVC_X64)
    return _umul128(a, b, high);
#else
    const uint64_t half = UINT64_C(0xffffffff);
    const uint64_t low = (a & half) * (b & half), first = (a >> 32) * (b & half), second = (a & half) * (b >> 32);
    /* This sum of three 32-bit numbers fits in 64 bits. */
    const uint64_t middle = (low >> 32) + (first & half) + (second & half);
    *high = (a >> 32) * (b >> 32) + (first >> 32) + (second >> 32) + (middle >> 32);
    return middle << 32 | (low & half);
#endif
}

/* Returns a 32-bit digit of a quotient: (high 2^32 + next) / b, rounded down, for high < b, next < 2^32, b >= 2^63. */
static inline uint64_t tieaware_digit(uint64_t high, uint64_t next, uint64_t b)
{
    const uint64_t b_high = b >> 32, b_low = b & UINT64_C(0xffffffff);
    uint64_t digit = high / b_high, rest = high % b_high;
    /* Dividing by the upper half of b gives a digit that is too large by at most 2 (Knuth, TAOCP, 4.3.1). */
    while (digit >> 32 || digit * b_low > (rest << 32 | next)) {
        digit--;
        rest += b_high;
        if (rest >> 32)
            break;
    }
    return digit;
}

/* Returns a * 2^62 / b, rounded down; the quotient must fit in 64 bits. */
static inline uint64_t tieaware_quotient_62(uint64_t a, uint64_t b)
{
#if defined(TIEAWARE_INT128)
    return (uint64_t)(((unsigned __int128)a << 62) / b);
#else
    const int shift = tieaware_leading_zeros(b);
    uint64_t high = a >> 2, low = a << 62;
    high = high << shift | low >> 1 >> (63 - shift);
    low <<= shift;
    b <<= shift;
    const uint64_t first = tieaware_digit(high, low >> 32, b);
    const uint64_t rest = (high << 32 | low >> 32) - first * b;
    return first << 32 | tieaware_digit(rest, low & UINT64_C(0xffffffff), b);
#endif
}

#endif
