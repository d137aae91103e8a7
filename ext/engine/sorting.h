/* Sorting a list of scores, each of which carries its place in the list in the last bits of its own word.
 *
 * Where many documents of a list are keys, a sort of the whole list is cheaper than asking for each key how many
 * documents are above it, provided that the sort moves nothing but words, and what comes after it has no branch that
 * depends on the scores: half of such branches would be mispredicted.
 */
#ifndef TIEAWARE_SORTING_H
#define TIEAWARE_SORTING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/counting.h"

/* Up to so many documents have places of 16 bits: two different doubles then rarely share all the others.
 *
 * NumPy sorts a block of up to 256 words by a network of comparisons. What is longer it partitions first, at a price
 * that differs widely between processors, and blocks are merged here instead.
 */
enum { TIEAWARE_LONGEST_SORTED = 1 << 16, TIEAWARE_SORTED_CHUNK = 256 };

/* All words are from the first to before the second; both are positive doubles. */
static const int64_t TIEAWARE_LEAST_WORD = INT64_C(1) << 60, TIEAWARE_NO_WORD = INT64_C(3) << 61;

/* The blocks of a list: 2^levels of `block` words each, the last ones filled up behind the list. */
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

/* word: an integer that is less for a higher score, and for equal scores by place.
 *
 * It is the bits of the negated score, turned so that they rise with it, those of negative numbers all and of others
 * the sign. (0 - x is the same zero for both zeros.) The last bits, as many as places have, are replaced by the place:
 * what this rounds is what `close` looks for. So that the word is also a double of the same order, neither NaN nor
 * subnormal, the bits are moved into the middle of those of positive numbers: doubles sort faster, above all with AVX2.
 */
static inline int64_t tieaware_word(double score, int64_t place, int64_t place_bits) {
    const double x = 0.0 - score;
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits ^= bits < 0 ? -1 : INT64_MIN;
    return (((int64_t)((uint64_t)bits >> 2) + TIEAWARE_LEAST_WORD) & ~place_bits) | place;
}

/* same: whether two neighbours among the sorted words are equal but for the place. */
static inline int64_t tieaware_same(const int64_t *words, ptrdiff_t i, int64_t place_bits) {
    return ((words[i] ^ words[i - 1]) & ~place_bits) == 0;
}

/* words: writes the words of n scores, which it takes in the given order (NULL: as they lie); returns the NaNs. */
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

/* merge: writes to out the 2 * half words of two sorted halves.
 *
 * From both ends at once, a word a step and end, without a branch: in `half` steps neither end leaves its half. `taken`
 * of the smallest `step` words, and `last` of the greatest, are from the lower half.
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

/* sort: sorts n words, block by block with a sort of doubles; returns them, which lie in words or in spare.
 *
 * Both have room for all blocks.
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

/* repeats: how many of the sorted words are equal to the one before, but for the place. */
TIEAWARE_CLONES static int64_t tieaware_repeats(const int64_t *words, ptrdiff_t n, int64_t place_bits) {
    int64_t repeats = 0;
    for (ptrdiff_t i = 1; i < n; i++) repeats += tieaware_same(words, i, place_bits);
    return repeats;
}

/* close: how many words are equal to the one before, but for the place, though their scores are not. */
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

/* walk_documents: the keys in the order of the words, up to the first `depth`; returns how many.
 *
 * Key g has start[g] documents before it, and is key[g] of n_weighted. weighted_at[place] is the key there; n_weighted, if there is
 * none. Invariant: start[:g] and key[:g] are written, and their next places are free to be written in vain.
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

/* walk_groups: the groups of equal words that hold a key, up to the first `depth`; returns how many.
 *
 * group[k] is the group of key k; group[n_weighted] takes what is written in vain. Invariant: start[:g] and size[:g] are
 * the groups that end before the word; the run of equal words at hand begins at `first`, and will be group g if it
 * holds a key.
 */
static inline ptrdiff_t tieaware_walk_groups(const int64_t *words, ptrdiff_t n, int64_t place_bits,
                                             const uint16_t *weighted_at, int32_t n_weighted, int64_t depth, int64_t *start,
                                             int64_t *size, int64_t *group) {
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
