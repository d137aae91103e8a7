/* Sorting of a list of scores by words of 32 bits, half as many bits as in sorting.h: they sort about twice as fast.
 *
 * A word has the place of its document in the last bits. The other bits have the score, counted from the highest score
 * of the list in units that are just large enough for all scores of the list. So in most lists, different scores have
 * different words. Where they do not, `settle` in ranking.h looks at all bits of the scores.
 */
#ifndef TIEAWARE_NARROW_SORTING_H
#define TIEAWARE_NARROW_SORTING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/counting.h"
#include "engine/portable.h"
#include "engine/sorting.h"

/* The longest lists that are sorted by narrow words. In longer ones, many different scores would have equal words. */
enum { TIEAWARE_LONGEST_NARROW = 4096 };

TIEAWARE_WORDS_OF(tieaware_narrow, uint32_t, UINT32_MAX)

static inline int tieaware_significant_bits(uint64_t x) { return x == 0 ? 0 : 64 - tieaware_leading_zeros(x); }

/* narrow_words: writes the words of n > 0 scores, and their keys; returns 0 if a score is NaN. `order` is as in
 * sorting.h.
 *
 * The bits of the negated score, x, are read as an integer. If its sign bit is set, the others are inverted. Then the
 * integer, the key, ascends with x. (0 - x gives the same zero for both zeros.) The keys of NaNs are beyond the key of
 * infinity, INFINITE, and that of its negative, -INFINITE - 1.
 *
 * Keys of numbers near 0 are far apart. So if scores have both signs, the range of their keys is so large that little
 * of each key remains. The key of (x - lowest) + (highest - lowest) is better then, unless one number is so large that
 * others become equal: `alike` counts neighbours in the list that do.
 */
#define TIEAWARE_NARROW_WORDS(NAME, SCORE, KEY, UNSIGNED, MOST, INFINITE)                                      \
    static inline KEY NAME##_key(SCORE x) {                                                                    \
        KEY bits;                                                                                              \
        memcpy(&bits, &x, sizeof bits);                                                                        \
        return bits ^ (bits < 0 ? MOST : 0);                                                                   \
    }                                                                                                          \
    static inline SCORE NAME##_number(KEY key) {                                                               \
        const KEY bits = key ^ (key < 0 ? MOST : 0);                                                           \
        SCORE x;                                                                                               \
        memcpy(&x, &bits, sizeof x);                                                                           \
        return x;                                                                                              \
    }                                                                                                          \
    static inline void NAME##_write(const KEY *keys, ptrdiff_t n, KEY least, KEY most, int places,             \
                                    uint32_t *restrict words) {                                                \
        const int surplus = tieaware_significant_bits((UNSIGNED)most - (UNSIGNED)least) - (32 - places);       \
        const int unit = surplus > 0 ? surplus : 0;                                                            \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                    \
            words[i] = (uint32_t)(((UNSIGNED)keys[i] - (UNSIGNED)least) >> unit) << places | (uint32_t)i;      \
        }                                                                                                      \
    }                                                                                                          \
    static inline void NAME##_write_differences(const KEY *keys, ptrdiff_t n, SCORE lowest, SCORE spread,      \
                                                int places, uint32_t *restrict words) {                        \
        const KEY least = NAME##_key(spread), most = NAME##_key(spread + spread);                              \
        const int surplus = tieaware_significant_bits((UNSIGNED)most - (UNSIGNED)least) - (32 - places);       \
        const int unit = surplus > 0 ? surplus : 0;                                                            \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                    \
            const KEY key = NAME##_key((NAME##_number(keys[i]) - lowest) + spread);                            \
            words[i] = (uint32_t)(((UNSIGNED)key - (UNSIGNED)least) >> unit) << places | (uint32_t)i;          \
        }                                                                                                      \
    }                                                                                                          \
    TIEAWARE_WIDE_CLONES static int NAME(const SCORE *scores, const int64_t *order, ptrdiff_t n,               \
                                         uint32_t place_bits, KEY *restrict keys, uint32_t *restrict words) {  \
        const int places = tieaware_significant_bits(place_bits);                                              \
        KEY least = MOST, most = -MOST - 1;                                                                    \
        if (order == NULL) {                                                                                   \
            for (ptrdiff_t i = 0; i < n; i++) keys[i] = NAME##_key(0 - scores[i]);                             \
        } else {                                                                                               \
            for (ptrdiff_t i = 0; i < n; i++) keys[i] = NAME##_key(0 - scores[order[i]]);                      \
        }                                                                                                      \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                    \
            least = keys[i] < least ? keys[i] : least;                                                         \
            most = keys[i] > most ? keys[i] : most;                                                            \
        }                                                                                                      \
        if (least < -INFINITE - 1 || most > INFINITE) return 0;                                                \
        if (least < 0 && most >= 0) {                                                                          \
            const SCORE lowest = NAME##_number(least), spread = NAME##_number(most) - lowest;                  \
            if (NAME##_key(spread + spread) < INFINITE) {                                                      \
                uint32_t alike = 0;                                                                            \
                NAME##_write_differences(keys, n, lowest, spread, places, words);                              \
                for (ptrdiff_t i = 1; i < n; i++) {                                                            \
                    alike += ((words[i] ^ words[i - 1]) <= place_bits) & (keys[i] != keys[i - 1]);             \
                }                                                                                              \
                if (alike <= n / 32) return 1;                                                                 \
            }                                                                                                  \
        }                                                                                                      \
        NAME##_write(keys, n, least, most, places, words);                                                     \
        return 1;                                                                                              \
    }

TIEAWARE_NARROW_WORDS(tieaware_narrow_words_double, double, int64_t, uint64_t, INT64_MAX, INT64_C(0x7ff0000000000000))
TIEAWARE_NARROW_WORDS(tieaware_narrow_words_float, float, int32_t, uint32_t, INT32_MAX, INT32_C(0x7f800000))

#endif
