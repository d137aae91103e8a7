/* Bit masks of the blanks and of the ends of lines in 64 bytes of text.
 *
 * Blanks separate fields. They are space, \t, \n, \v, \f and \r. Every other byte belongs to a field, so an identifier
 * may contain every byte that is not a blank. A newline or a carriage return ends a line. Bit i of a mask is set if byte i
 * is a blank, or ends a line. */
#ifndef TIEAWARE_BLANKS_H
#define TIEAWARE_BLANKS_H

#include <stdint.h>
#include <string.h>

#include "engine/portable.h"

#if defined(TIEAWARE_SSE2)
#include <emmintrin.h>
#endif

/* A version of byte_masks without vector instructions. It tests the eight bytes of a 64-bit word at a time: the top bit
 * of each byte becomes the result for this byte. */
static inline void portable_masks(const uint8_t *bytes, uint64_t *blanks, uint64_t *ends)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = UINT64_C(0x8080808080808080);
    uint64_t blank_bits = 0, end_bits = 0;
    for (int i = 0; i < 8; i++) {
        uint64_t word = 0;
        for (int j = 0; j < 8; j++)
            word |= (uint64_t)bytes[8 * i + j] << (8 * j);
        /* No addition below carries into the next byte, because each byte of `low` is at most 0x7f. */
        uint64_t low = word & ~tops;
        uint64_t at_least_9 = low + ones * (0x80 - 9), at_least_14 = low + ones * (0x80 - 14);
        uint64_t not_space = (low ^ ones * 0x20) + ones * 0x7f;
        uint64_t not_newline = (low ^ ones * 0x0a) + ones * 0x7f;
        uint64_t not_return = (low ^ ones * 0x0d) + ones * 0x7f;
        uint64_t blank = ((at_least_9 & ~at_least_14) | ~not_space) & ~word & tops;
        uint64_t end = ~(not_newline & not_return) & ~word & tops;
        /* The shift moves the result for byte j to bit 8 j, and the product moves it to bit 56 + j. */
        blank_bits |= ((blank >> 7) * UINT64_C(0x0102040810204080) >> 56) << (8 * i);
        end_bits |= ((end >> 7) * UINT64_C(0x0102040810204080) >> 56) << (8 * i);
    }
    *blanks = blank_bits;
    *ends = end_bits;
}

/* Set the masks of the 64 bytes at `bytes`. */
static inline void byte_masks(const uint8_t *bytes, uint64_t *blanks, uint64_t *ends)
{
#if defined(TIEAWARE_SSE2)
    uint64_t blank_bits = 0, end_bits = 0;
    for (int i = 0; i < 4; i++) {
        __m128i text = _mm_loadu_si128((const __m128i *)(const void *)(bytes + 16 * i));
        __m128i after_9 = _mm_sub_epi8(text, _mm_set1_epi8(9));
        __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(after_9, _mm_set1_epi8(4)), after_9);
        __m128i blank = _mm_or_si128(control, _mm_cmpeq_epi8(text, _mm_set1_epi8(' ')));
        __m128i end = _mm_or_si128(_mm_cmpeq_epi8(text, _mm_set1_epi8('\n')), _mm_cmpeq_epi8(text, _mm_set1_epi8('\r')));
        blank_bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(blank) << (16 * i);
        end_bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(end) << (16 * i);
    }
    *blanks = blank_bits;
    *ends = end_bits;
#else
    portable_masks(bytes, blanks, ends);
#endif
}

#endif
