/* Blocks of 16 documents: upper bounds of the scores in each block, and the scores of the documents of a block.
 *
 * The loops are compiled for several instruction sets, and compute the same bits with each of them.
 */
#ifndef TIEAWARE_BLOCKS_H
#define TIEAWARE_BLOCKS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/counting.h"
#include "retrieval/accumulators.h"
#include "retrieval/bitmaps.h"

/* The documents of a block, the blocks of a word of a bitmap, and the blocks of a group, which are tested together. */
enum { TIEAWARE_BLOCK = 16, TIEAWARE_PER_WORD = 64 / TIEAWARE_BLOCK, TIEAWARE_GROUP = 16, TIEAWARE_BINS = 256 };

/* raise: bounds[i] += factor · largest[i] */
TIEAWARE_CLONES static void tieaware_raise(uint16_t *bounds, const uint8_t *largest, ptrdiff_t n, uint16_t factor) {
    for (ptrdiff_t i = 0; i < n; i++) bounds[i] = (uint16_t)(bounds[i] + factor * largest[i]);
}

/* count_lists: counts[i] += 1 where the list has a posting.    keep: bounds[i] = 0 where counts[i] < at_least. */
TIEAWARE_CLONES static void tieaware_count_lists(uint8_t *counts, const uint8_t *largest, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) counts[i] = (uint8_t)(counts[i] + (largest[i] != 0));
}
TIEAWARE_CLONES static void tieaware_keep(uint16_t *bounds, const uint8_t *counts, ptrdiff_t n, uint8_t at_least) {
    for (ptrdiff_t i = 0; i < n; i++) bounds[i] = counts[i] < at_least ? 0 : bounds[i];
}

/* begin: bounds[i] = bases[i] · per_unit, rounded up, from 0 to 65535. */
TIEAWARE_CLONES static void tieaware_begin(uint16_t *bounds, const double *bases, ptrdiff_t n, double per_unit) {
    for (ptrdiff_t i = 0; i < n; i++) {
        const double units = bases[i] * per_unit;
        const double low = units > 0.0 ? units : 0.0;
        bounds[i] = (uint16_t)((int32_t)(low < 65534.0 ? low : 65534.0) + 1);
    }
}

/* peaks: peaks[g] = the largest bound of the blocks in group g; counts the groups by the upper eight bits of it. */
TIEAWARE_CLONES static void tieaware_peaks(const uint16_t *bounds, ptrdiff_t n_groups, uint16_t *peaks, int32_t *bins) {
    for (ptrdiff_t g = 0; g < n_groups; g++) {
        uint16_t largest = 0;
        for (int j = 0; j < TIEAWARE_GROUP; j++) {
            const uint16_t bound = bounds[g * TIEAWARE_GROUP + j];
            largest = bound > largest ? bound : largest;
        }
        peaks[g] = largest;
        bins[largest >> 8]++;
    }
}

/* collect: writes the blocks with least <= bound < limit, and returns their number. */
static inline ptrdiff_t tieaware_collect(const uint16_t *bounds, ptrdiff_t n_groups, const uint16_t *peaks,
                                         uint32_t least, uint32_t limit, int32_t *blocks) {
    ptrdiff_t found = 0;
    for (ptrdiff_t g = 0; g < n_groups; g++) {
        if (peaks[g] < least) continue;
        for (ptrdiff_t i = g * TIEAWARE_GROUP; i < (g + 1) * TIEAWARE_GROUP; i++) {
            blocks[found] = (int32_t)i;
            /* True for least <= bound < limit, with one comparison. */
            found += bounds[i] - least < limit - least;
        }
    }
    return found;
}

/* The postings of a list, and how to find those of a block. A list with `bits` has a bit for each document, and the
 * number of bits before each word; it may have `row`, a weight for each document. Any other list has `places`: the
 * index of the first posting in each block. Where a block has no posting, any number may stand there.
 */
typedef struct {
    const int32_t *documents;
    const void *weights;
    int64_t length;
    double query_weight;
    const uint64_t *bits;
    const uint32_t *ranks;
    const void *row;
    const int32_t *places;
} tieaware_block_list;

/* place: bounds[b] += the impact of each posting in block b, in units, rounded up and at most 65535 in total; places[b]
 * becomes the index of the first posting in block b.
 */
#define TIEAWARE_PLACE(NAME, WEIGHT)                                                                                   \
    static void NAME(const tieaware_block_list *list, double per_unit, uint16_t *bounds, int32_t *places,              \
                     uint8_t *counts, ptrdiff_t n_blocks) {                                                            \
        const WEIGHT *weights = (const WEIGHT *)list->weights;                                                         \
        const double factor = list->query_weight * per_unit;                                                           \
        uint32_t before = UINT32_MAX;                                                                                  \
        for (int64_t i = 0; i < list->length; i++) {                                                                   \
            const uint32_t block = (uint32_t)list->documents[i] / TIEAWARE_BLOCK;                                      \
            const double units = factor * (double)weights[i];                                                          \
            uint32_t bound;                                                                                            \
            if (block >= (uint64_t)n_blocks) continue;                                                                 \
            bound = bounds[block] + (uint32_t)(units < 65534.0 ? (units > 0.0 ? units : 0.0) : 65534.0) + 1;           \
            bounds[block] = (uint16_t)(bound < 65535 ? bound : 65535);                                                 \
            if (block != before) {                                                                                     \
                places[block] = (int32_t)i;                                                                            \
                counts[block]++;                                                                                       \
            }                                                                                                          \
            before = block;                                                                                            \
        }                                                                                                              \
    }
TIEAWARE_PLACE(tieaware_place_float, float)
TIEAWARE_PLACE(tieaware_place_uint8, uint8_t)
TIEAWARE_PLACE(tieaware_place_uint16, uint16_t)

/* Prefetch what shows where the postings of a block are, and the weights of these postings, for which this must be loaded.
 *
 * GCC deletes calls of functions that only prefetch, so the functions are always inlined.
 */
#if defined(TIEAWARE_GNU_C)
#define TIEAWARE_INLINED static inline __attribute__((always_inline))
#else
#define TIEAWARE_INLINED static inline
#endif

TIEAWARE_INLINED void tieaware_prefetch_places(const tieaware_block_list *lists, ptrdiff_t n, int32_t block, int size) {
    for (ptrdiff_t i = 0; i < n; i++) {
        if (!lists[i].bits) continue;
        tieaware_prefetch(lists[i].bits + block / TIEAWARE_PER_WORD);
        if (lists[i].row) {
            const char *weights = (const char *)lists[i].row + (ptrdiff_t)block * TIEAWARE_BLOCK * size;
            tieaware_prefetch(weights);
            tieaware_prefetch(weights + TIEAWARE_BLOCK * size - 1);
        } else {
            tieaware_prefetch(lists[i].ranks + block / TIEAWARE_PER_WORD);
        }
    }
}

TIEAWARE_INLINED void tieaware_prefetch_weights(const tieaware_block_list *lists, ptrdiff_t n, int32_t block, int size) {
    for (ptrdiff_t i = 0; i < n; i++) {
        /* The first posting of the block is one of those of its word, which are seldom in more than two lines. */
        if (lists[i].bits && !lists[i].row && lists[i].bits[block / TIEAWARE_PER_WORD]) {
            const char *weights = (const char *)lists[i].weights;
            const ptrdiff_t at = (ptrdiff_t)lists[i].ranks[block / TIEAWARE_PER_WORD] * size;
            tieaware_prefetch(weights + at);
            tieaware_prefetch(weights + at + 63);
        }
    }
}

static inline uint64_t tieaware_block_bits(const tieaware_block_list *list, int32_t block) {
    return list->bits[block / TIEAWARE_PER_WORD] >> block % TIEAWARE_PER_WORD * TIEAWARE_BLOCK &
           (((uint64_t)1 << TIEAWARE_BLOCK) - 1);
}

/* Returns the index of the first posting that is not before the block. */
static inline int64_t tieaware_first_posting(const tieaware_block_list *list, int32_t block) {
    const ptrdiff_t word = block / TIEAWARE_PER_WORD;
    const uint64_t before = ((uint64_t)1 << block % TIEAWARE_PER_WORD * TIEAWARE_BLOCK) - 1;
    return (int64_t)list->ranks[word] + tieaware_bits_set(list->bits[word] & before);
}

/* score: sums[j] = Σ query_weight · weight over the lists, in their order, for document j of a block.
 *
 * Only documents in `those` are scored, which has a bit for each document of the block. Returns the documents in enough
 * lists: a document is counted in each list, in `n_planes` binary digits beginning at `initial`, and is in enough lists
 * if the counter overflows. Adds the number of postings to n_read.
 */
enum { TIEAWARE_PLANES = 8 };

#define TIEAWARE_SCORE_BLOCK(NAME, WEIGHT)                                                                             \
    TIEAWARE_CLONES static uint64_t NAME(const tieaware_block_list *lists, ptrdiff_t n, int32_t block, uint64_t those, \
                                         int n_planes, uint64_t initial, double *sums, int64_t *n_read) {              \
        uint64_t planes[TIEAWARE_PLANES], reached = 0;                                                                 \
        const uint32_t first = (uint32_t)block * TIEAWARE_BLOCK;                                                       \
        for (int p = 0; p < n_planes; p++) planes[p] = initial >> p & 1 ? ~(uint64_t)0 : 0;                            \
        for (int j = 0; j < TIEAWARE_BLOCK; j++) sums[j] = 0.0;                                                        \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                            \
            const tieaware_block_list *list = lists + i;                                                               \
            const WEIGHT *weights = (const WEIGHT *)list->weights;                                                     \
            const double q = list->query_weight;                                                                       \
            uint64_t carry = 0, rest;                                                                                  \
            int64_t at = 0;                                                                                            \
            if (list->bits) {                                                                                          \
                carry = tieaware_block_bits(list, block) & those;                                                      \
                if (list->row) {                                                                                       \
                    const WEIGHT *row = (const WEIGHT *)list->row + first;                                             \
                    if (those == ((uint64_t)1 << TIEAWARE_BLOCK) - 1) {                                                \
                        for (int j = 0; j < TIEAWARE_BLOCK; j++) sums[j] += q * (double)row[j];                        \
                    } else {                                                                                           \
                        for (rest = carry; rest; rest &= rest - 1) {                                                   \
                            const int j = tieaware_lowest(rest);                                                       \
                            sums[j] += q * (double)row[j];                                                             \
                        }                                                                                              \
                    }                                                                                                  \
                } else if (carry) {                                                                                    \
                    at = tieaware_first_posting(list, block);                                                          \
                    if (at + TIEAWARE_BLOCK > list->length && at + tieaware_bits_set(carry) > list->length) carry = 0; \
                    for (rest = carry; rest; rest &= rest - 1) {                                                       \
                        sums[tieaware_lowest(rest)] += q * (double)weights[at++];                                      \
                    }                                                                                                  \
                }                                                                                                      \
            } else {                                                                                                   \
                for (at = list->places[block]; at >= 0 && at < list->length; at++) {                                   \
                    const uint32_t j = (uint32_t)list->documents[at] - first;                                          \
                    if (j >= TIEAWARE_BLOCK) break;                                                                    \
                    sums[j] += q * (double)weights[at];                                                                \
                    carry |= those & (uint64_t)1 << j;                                                                 \
                }                                                                                                      \
            }                                                                                                          \
            *n_read += tieaware_bits_set(carry);                                                                       \
            for (int p = 0; p < n_planes; p++) {                                                                       \
                const uint64_t plane = planes[p];                                                                      \
                planes[p] = plane ^ carry;                                                                             \
                carry &= plane;                                                                                        \
            }                                                                                                          \
            reached |= carry;                                                                                          \
        }                                                                                                              \
        return reached;                                                                                                \
    }
TIEAWARE_SCORE_BLOCK(tieaware_score_block_float, float)
TIEAWARE_SCORE_BLOCK(tieaware_score_block_uint8, uint8_t)
TIEAWARE_SCORE_BLOCK(tieaware_score_block_uint16, uint16_t)

#endif
