/* Sorting of a list of scores, with the place of each score in the last bits of its own word.
 *
 * If many documents of a list are weighted, sorting the whole list is cheaper than counting, for each of them, the
 * documents above it. That requires that the sort moves nothing but words, and that the code after it has no branch
 * that depends on the scores: half of such branches would be mispredicted.
 */
#ifndef TIEAWARE_SORTING_H
#define TIEAWARE_SORTING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/counting.h"

/* Lists up to this length have places of 16 bits: two different doubles then rarely share all other bits.
 *
 * NumPy sorts up to 256 words by a network of comparisons. It partitions longer arrays first, at a cost that differs
 * widely between processors. So a longer list is sorted in chunks, and the chunks are merged here.
 */
enum { TIEAWARE_LONGEST_SORTED = 1 << 16, TIEAWARE_SORTED_CHUNK = 256 };

/* Words are at least the first number and less than the second. As doubles, both are positive. */
static const int64_t TIEAWARE_LEAST_WORD = INT64_C(1) << 60, TIEAWARE_NO_WORD = INT64_C(3) << 61;

/* The chunks of a list: `size` words each, a power of two of them, n words in all. Padding fills the last chunks. */
typedef struct {
    ptrdiff_t size, n;
} tieaware_chunks;

static inline tieaware_chunks tieaware_chunks_of(ptrdiff_t n) {
    ptrdiff_t count = 1;
    while (count * TIEAWARE_SORTED_CHUNK < n) count *= 2;
    const ptrdiff_t size = (n + count - 1) / count;
    return (tieaware_chunks){size, size * count};
}

static inline int64_t tieaware_place_bits(ptrdiff_t n) {
    int64_t bits = 0;
    while (bits + 1 < n) bits = 2 * bits + 1;
    return bits;
}

/* word: an integer that is smaller for a higher score and, for equal scores, for a lower place.
 *
 * The bits of the negated score are transformed so that they ascend with it: all bits of a negative number are
 * inverted, and only the sign bit of other numbers. (0 - x gives the same zero for both zeros.) The place replaces the
 * last bits. This rounds the score; `close` finds the scores that become equal by it. The bits are then moved into the
 * middle of the positive doubles, so that the word is also a double of the same order, neither NaN nor subnormal:
 * doubles sort faster than integers, above all with AVX2.
 */
static inline int64_t tieaware_word(double score, int64_t place, int64_t place_bits) {
    const double x = 0.0 - score;
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits ^= bits < 0 ? -1 : INT64_MIN;
    return (((int64_t)((uint64_t)bits >> 2) + TIEAWARE_LEAST_WORD) & ~place_bits) | place;
}

/* same: whether two adjacent sorted words are equal apart from the place. */
static inline int64_t tieaware_same(const int64_t *words, ptrdiff_t i, int64_t place_bits) {
    return ((words[i] ^ words[i - 1]) & ~place_bits) == 0;
}

/* words: writes the words of n scores in an order (NULL: the order of the list); returns the number of NaNs. */
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

/* merge: writes to out the 2 * half words of two adjacent sorted halves.
 *
 * It works from both ends at once, one word per step and end, without a branch: in `half` steps, neither end leaves its
 * half. Invariant: `taken` of the `step` smallest words come from the lower half, and `last` of the `step` greatest.
 */
static inline void tieaware_merge(const int64_t *restrict low, ptrdiff_t half, int64_t *restrict out) {
    const int64_t *high = low + half, *low_end = high - 1, *high_end = high + half - 1;
    int64_t *out_end = out + 2 * half - 1;
    ptrdiff_t taken = 0, last = 0;
    for (ptrdiff_t step = 0; step < half; step++) {
        const int64_t a = low[taken], b = high[step - taken], c = low_end[-last], d = high_end[last - step];
        out[step] = a < b ? a : b;
        out_end[-step] = c > d ? c : d;
        taken += a < b;
        last += c > d;
    }
}

/* sort: sorts n words, chunk by chunk, with a sort of doubles; returns the sorted words, which are in words or in
 * spare.
 *
 * Both arrays have room for all chunks.
 */
static inline const int64_t *tieaware_sort(int (*sort)(void *, intptr_t, void *), int64_t *words, ptrdiff_t n,
                                           int64_t *spare) {
    const tieaware_chunks chunks = tieaware_chunks_of(n);
    for (ptrdiff_t i = n; i < chunks.n; i++) words[i] = TIEAWARE_NO_WORD;
    for (ptrdiff_t at = 0; at < chunks.n; at += chunks.size) sort(words + at, chunks.size, NULL);
    for (ptrdiff_t half = chunks.size; half < chunks.n; half *= 2) {
        int64_t *merged = spare;
        for (ptrdiff_t at = 0; at < chunks.n; at += 2 * half) tieaware_merge(words + at, half, merged + at);
        spare = words;
        words = merged;
    }
    return words;
}

/* repeats: counts the sorted words that equal the word before them apart from the place. */
TIEAWARE_CLONES static int64_t tieaware_repeats(const int64_t *words, ptrdiff_t n, int64_t place_bits) {
    int64_t repeats = 0;
    for (ptrdiff_t i = 1; i < n; i++) repeats += tieaware_same(words, i, place_bits);
    return repeats;
}

/* close: counts the sorted words that equal the word before them apart from the place although their scores differ. */
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

/* walk_documents: finds the first `depth` weighted documents in the order of the words; returns their number.
 *
 * The g-th is document[g] of n_weighted, and start[g] documents precede it. weighted_at[place] is the weighted document
 * at a place, or n_weighted. Invariant: start[:g] and document[:g] are final; their next elements may be overwritten.
 */
static inline ptrdiff_t tieaware_walk_documents(const int64_t *words, ptrdiff_t n, int64_t place_bits,
                                                const uint16_t *weighted_at, int32_t n_weighted, int64_t depth,
                                                int64_t *start, int64_t *document) {
    ptrdiff_t g = 0;
    for (ptrdiff_t i = 0; i < n && g < depth; i++) {
        const int32_t k = weighted_at[words[i] & place_bits];
        start[g] = i;
        document[g] = k;
        g += k < n_weighted;
    }
    return g;
}

/* walk_groups: finds the first `depth` groups of equal words that hold a weighted document; returns their number.
 *
 * group[k] is the group of weighted document k; group[n_weighted] is overwritten by all other documents. Invariant:
 * start[:g] and size[:g] are the groups that end before the current word. The current run of equal words begins at
 * `first`, and becomes group g if it holds a weighted document.
 */
static inline ptrdiff_t tieaware_walk_groups(const int64_t *words, ptrdiff_t n, int64_t place_bits,
                                             const uint16_t *weighted_at, int32_t n_weighted, int64_t depth,
                                             int64_t *start, int64_t *size, int64_t *group) {
    ptrdiff_t g = 0, first = 0;
    ptrdiff_t holds = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const ptrdiff_t begins = i > 0 && !tieaware_same(words, i, place_bits);
        const int32_t k = weighted_at[words[i] & place_bits];
        g += begins & holds;
        if (g >= depth) return g;
        holds &= ~begins;
        first = begins ? i : first;
        start[g] = first;
        size[g] = i - first + 1;
        group[k] = g;
        holds |= k < n_weighted;
    }
    return g + holds;
}

#endif
