/* Sorting of a list of scores. Each score and its place in the list are packed into one 64-bit word, and the words are
 * sorted.
 *
 * If many documents of a list are weighted, sorting the whole list is cheaper than counting, for each weighted
 * document, the documents above it. This is only true because the sort moves single words, and because the code after
 * the sort has no branch that depends on the scores: the processor would mispredict half of such branches.
 */
#ifndef TIEAWARE_SORTING_H
#define TIEAWARE_SORTING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/counting.h"

/* Only lists up to TIEAWARE_LONGEST_SORTED documents are sorted. Their places need at most 16 bits, and two different
 * doubles are rarely equal in the bits that remain for the score.
 *
 * NumPy sorts a few hundred words by a sorting network. It partitions longer arrays first, at a cost that differs widely
 * between processors. So a longer list is sorted in chunks, and the chunks are merged here.
 */
enum { TIEAWARE_LONGEST_SORTED = 1 << 16, TIEAWARE_SORTED_CHUNK = 256 };

/* Each word is at least TIEAWARE_LEAST_WORD and less than TIEAWARE_NO_WORD. Read as doubles, both are positive. */
static const int64_t TIEAWARE_LEAST_WORD = INT64_C(1) << 60, TIEAWARE_NO_WORD = INT64_C(3) << 61;

/* The division of a list into chunks of `size` words each. The number of chunks is a power of two, and `n` is the
 * number of words in all chunks, including the padding after the last word of the list.
 */
typedef struct {
    ptrdiff_t size, n;
} tieaware_chunks;

/* divide: divides a list of n words into as few chunks as possible, each of at most `longest` words. */
static inline tieaware_chunks tieaware_divide(ptrdiff_t n, ptrdiff_t longest) {
    ptrdiff_t count = 1;
    while (count * longest < n) count *= 2;
    const ptrdiff_t size = (n + count - 1) / count;
    return (tieaware_chunks){size, size * count};
}

static inline tieaware_chunks tieaware_chunks_of(ptrdiff_t n) { return tieaware_divide(n, TIEAWARE_SORTED_CHUNK); }

static inline int64_t tieaware_place_bits(ptrdiff_t n) {
    int64_t bits = 0;
    while (bits + 1 < n) bits = 2 * bits + 1;
    return bits;
}

/* word: returns an integer that is smaller for a higher score and, among equal scores, smaller for a lower place.
 *
 * The bits of the negated score, read as an integer, must ascend with the negated score. So all bits of a negative
 * number are inverted; of any other number, only the sign bit is. (0 - x gives the same zero for both zeros.) The place
 * replaces the last bits of the score. Different scores may become equal by this; `close` counts such scores. The bits
 * are shifted and offset so that the word, read as a double, is positive, neither NaN nor subnormal, and in the same
 * order as the integers: doubles sort faster than integers, above all with AVX2.
 */
static inline int64_t tieaware_word(double score, int64_t place, int64_t place_bits) {
    const double x = 0.0 - score;
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits ^= bits < 0 ? -1 : INT64_MIN;
    return (((int64_t)((uint64_t)bits >> 2) + TIEAWARE_LEAST_WORD) & ~place_bits) | place;
}

/* words: writes the words of n scores; returns the number of NaNs. `order` holds the positions of the scores in the
 * order in which equal scores are to be sorted; NULL means the order of the list.
 */
#define TIEAWARE_WORDS(NAME, SCORE)                                                                            \
    TIEAWARE_CLONES static int64_t NAME(const SCORE *scores, const int64_t *order, ptrdiff_t n,                \
                                        int64_t place_bits, int64_t *words) {                                  \
        int64_t nan = 0;                                                                                       \
        if (order == NULL) {                                                                                   \
            for (ptrdiff_t i = 0; i < n; i++) {                                                                \
                const double score = scores[i];                                                                \
                nan += score != score;                                                                         \
                words[i] = tieaware_word(score, i, place_bits);                                                \
            }                                                                                                  \
        } else {                                                                                               \
            for (ptrdiff_t i = 0; i < n; i++) {                                                                \
                const double score = scores[order[i]];                                                         \
                nan += score != score;                                                                         \
                words[i] = tieaware_word(score, i, place_bits);                                                \
            }                                                                                                  \
        }                                                                                                      \
        return nan;                                                                                            \
    }

TIEAWARE_WORDS(tieaware_words_double, double)
TIEAWARE_WORDS(tieaware_words_float, float)

/* The functions of words of the type WORD:
 *
 * same: returns whether words i - 1 and i are equal apart from their places.
 *
 * merge: merges two adjacent sorted halves of `half` words each into `out`. Each step writes the smallest and the
 * greatest word that remain, without a branch. After `half` steps, all words are written, and no step can read beyond a
 * half. Invariant: of the `step` smallest words, `taken` came from the lower half; of the `step` greatest words, `last`
 * came from the lower half.
 *
 * sort_chunks: sorts n words: first each chunk of at most `longest` words, with the function `sort`, then all words by
 * merging the chunks. Returns the sorted words, which are in the array `words` or in the array `spare`. Both arrays must
 * have room for all chunks. The padding is NO_WORD, which no word exceeds.
 */
#define TIEAWARE_WORDS_OF(NAME, WORD, NO_WORD)                                                                 \
    static inline ptrdiff_t NAME##_same(const WORD *words, ptrdiff_t i, WORD place_bits) {                     \
        return ((words[i] ^ words[i - 1]) & ~place_bits) == 0;                                                 \
    }                                                                                                          \
    static inline void NAME##_merge(const WORD *restrict low, ptrdiff_t half, WORD *restrict out) {            \
        const WORD *high = low + half, *low_end = high - 1, *high_end = high + half - 1;                       \
        WORD *out_end = out + 2 * half - 1;                                                                    \
        ptrdiff_t taken = 0, last = 0;                                                                         \
        for (ptrdiff_t step = 0; step < half; step++) {                                                        \
            const WORD a = low[taken], b = high[step - taken], c = low_end[-last], d = high_end[last - step];  \
            out[step] = a < b ? a : b;                                                                         \
            out_end[-step] = c > d ? c : d;                                                                    \
            taken += a < b;                                                                                    \
            last += c > d;                                                                                     \
        }                                                                                                      \
    }                                                                                                          \
    static inline WORD *NAME##_sort_chunks(int (*sort)(void *, intptr_t, void *), WORD *words,                 \
                                               ptrdiff_t n, ptrdiff_t longest, WORD *spare) {                  \
        const tieaware_chunks chunks = tieaware_divide(n, longest);                                            \
        for (ptrdiff_t i = n; i < chunks.n; i++) words[i] = NO_WORD;                                           \
        for (ptrdiff_t at = 0; at < chunks.n; at += chunks.size) sort(words + at, chunks.size, NULL);          \
        for (ptrdiff_t half = chunks.size; half < chunks.n; half *= 2) {                                       \
            WORD *merged = spare;                                                                              \
            for (ptrdiff_t at = 0; at < chunks.n; at += 2 * half)                                              \
                NAME##_merge(words + at, half, merged + at);                                                   \
            spare = words;                                                                                     \
            words = merged;                                                                                    \
        }                                                                                                      \
        return words;                                                                                          \
    }

TIEAWARE_WORDS_OF(tieaware, int64_t, TIEAWARE_NO_WORD)

static inline int64_t *tieaware_sort(int (*sort)(void *, intptr_t, void *), int64_t *words, ptrdiff_t n,
                                     int64_t *spare) {
    return tieaware_sort_chunks(sort, words, n, TIEAWARE_SORTED_CHUNK, spare);
}

/* repeats: counts the sorted words that are equal to the word before them, apart from their places. */
TIEAWARE_CLONES static int64_t tieaware_repeats(const int64_t *words, ptrdiff_t n, int64_t place_bits) {
    int64_t repeats = 0;
    for (ptrdiff_t i = 1; i < n; i++) repeats += tieaware_same(words, i, place_bits);
    return repeats;
}

/* close: counts the sorted words that are equal to the word before them, apart from their places, although their scores
 * differ.
 */
static inline int64_t tieaware_close(const double *scores, const int64_t *order, const int64_t *words, ptrdiff_t n,
                                     int64_t place_bits) {
    int64_t close = 0;
    double last = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const int64_t place = words[i] & place_bits;
        const double score = scores[order == NULL ? place : order[place]];
        close += (i > 0 && tieaware_same(words, i, place_bits)) & (score != last);
        last = score;
    }
    return close;
}

#endif
