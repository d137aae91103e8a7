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
#include "retrieval/weights.h"

#if defined(TIEAWARE_SSE2)
#include <emmintrin.h>
#endif

/* The documents of a block, the blocks of a word of a bitmap, and the blocks of a group, which are tested together. */
enum { TIEAWARE_BLOCK = 16, TIEAWARE_PER_WORD = 64 / TIEAWARE_BLOCK, TIEAWARE_GROUP = 16, TIEAWARE_BINS = 256 };

/* Sixteen numbers of 16 bits, which are added and compared together, in registers.
 *
 * add_where: adds a number to those whose bit in `has` is set.    add_up_to_largest: adds a number to number j, which
 * becomes at most 65535.    where_at_least: marks the numbers that are at least `least`.
 */
#define TIEAWARE_FOUR_LANES(J) 1u << (J), 2u << (J), 4u << (J), 8u << (J)
#define TIEAWARE_LANE_BITS \
    {TIEAWARE_FOUR_LANES(0), TIEAWARE_FOUR_LANES(4), TIEAWARE_FOUR_LANES(8), TIEAWARE_FOUR_LANES(12)}
#if defined(TIEAWARE_GNU_C)
typedef uint16_t tieaware_lanes __attribute__((vector_size(32)));
#define TIEAWARE_FILL(SUMS, NUMBER) ((SUMS) = (tieaware_lanes){0} + (uint16_t)(NUMBER))
#define TIEAWARE_ADD_WHERE(SUMS, HAS, ADDED)                                                        \
    do {                                                                                            \
        const tieaware_lanes lane_bits = TIEAWARE_LANE_BITS;                                        \
        (SUMS) += (tieaware_lanes)(((uint16_t)(HAS) & lane_bits) == lane_bits) & (uint16_t)(ADDED); \
    } while (0)
#define TIEAWARE_ADD_UP_TO_LARGEST(SUMS, J, ADDED)                                                              \
    do {                                                                                                        \
        const tieaware_lanes lane_bits = TIEAWARE_LANE_BITS;                                                    \
        const tieaware_lanes to_add = (tieaware_lanes)(lane_bits == (uint16_t)(1u << (J))) & (uint16_t)(ADDED); \
        (SUMS) += to_add;                                                                                       \
        (SUMS) |= (tieaware_lanes)((SUMS) < to_add);                                                            \
    } while (0)
#if defined(TIEAWARE_SSE2)
#define TIEAWARE_BITS_OF(MARKS, MARKED)                                               \
    do {                                                                              \
        __m128i halves[2];                                                            \
        memcpy(halves, &(MARKED), sizeof(halves));                                    \
        (MARKS) = (uint16_t)_mm_movemask_epi8(_mm_packs_epi16(halves[0], halves[1])); \
    } while (0)
#else
#define TIEAWARE_BITS_OF(MARKS, MARKED)                      \
    do {                                                     \
        const tieaware_lanes lane_bits = TIEAWARE_LANE_BITS; \
        const tieaware_lanes bits = (MARKED) & lane_bits;    \
        uint64_t words[4];                                   \
        memcpy(words, &bits, sizeof(words));                 \
        words[0] |= words[1] | words[2] | words[3];          \
        words[0] |= words[0] >> 32;                          \
        (MARKS) = (uint16_t)(words[0] | words[0] >> 16);     \
    } while (0)
#endif
#define TIEAWARE_WHERE_AT_LEAST(MARKS, NUMBERS, LEAST)                                     \
    do {                                                                                   \
        const tieaware_lanes is_marked = (tieaware_lanes)((NUMBERS) >= (uint16_t)(LEAST)); \
        TIEAWARE_BITS_OF(MARKS, is_marked);                                                \
    } while (0)
#else
typedef struct {
    uint16_t lane[TIEAWARE_BLOCK];
} tieaware_lanes;
#define TIEAWARE_EACH_LANE(J) for (int J = 0; J < TIEAWARE_BLOCK; J++)
#define TIEAWARE_FILL(SUMS, NUMBER) TIEAWARE_EACH_LANE(j) (SUMS).lane[j] = (NUMBER)
#define TIEAWARE_ADD_WHERE(SUMS, HAS, ADDED) \
    TIEAWARE_EACH_LANE(j) (SUMS).lane[j] = (uint16_t)((SUMS).lane[j] + ((HAS) >> j & 1 ? (uint16_t)(ADDED) : 0))
#define TIEAWARE_ADD_UP_TO_LARGEST(SUMS, J, ADDED)                         \
    do {                                                                   \
        const uint32_t sum = (uint32_t)(SUMS).lane[J] + (uint16_t)(ADDED); \
        (SUMS).lane[J] = (uint16_t)(sum < 65535 ? sum : 65535);            \
    } while (0)
#define TIEAWARE_WHERE_AT_LEAST(MARKS, NUMBERS, LEAST)                                                       \
    do {                                                                                                     \
        (MARKS) = 0;                                                                                         \
        TIEAWARE_EACH_LANE(j) (MARKS) = (uint16_t)((MARKS) | (uint16_t)((NUMBERS).lane[j] >= (LEAST)) << j); \
    } while (0)
#endif
#define TIEAWARE_LOAD(NUMBERS, ARRAY) memcpy(&(NUMBERS), (ARRAY), sizeof(NUMBERS))

/* raise: bounds[i] += factor · largest[i]; the first list sets the bounds, so that they need not be cleared. */
TIEAWARE_CLONES static void tieaware_raise(uint16_t *bounds, const uint8_t *largest, ptrdiff_t n, uint16_t factor,
                                           int is_first) {
    if (is_first) {
        for (ptrdiff_t i = 0; i < n; i++) bounds[i] = (uint16_t)(factor * largest[i]);
    } else {
        for (ptrdiff_t i = 0; i < n; i++) bounds[i] = (uint16_t)(bounds[i] + factor * largest[i]);
    }
}

/* count_lists: counts[i] += 1 where the list has a posting; the first list sets the counts.
 * keep: bounds[i] = 0 where counts[i] < at_least.
 */
TIEAWARE_CLONES static void tieaware_count_lists(uint8_t *counts, const uint8_t *largest, ptrdiff_t n, int is_first) {
    if (is_first) {
        for (ptrdiff_t i = 0; i < n; i++) counts[i] = largest[i] != 0;
    } else {
        for (ptrdiff_t i = 0; i < n; i++) counts[i] = (uint8_t)(counts[i] + (largest[i] != 0));
    }
}
TIEAWARE_CLONES static void tieaware_keep(uint16_t *bounds, const uint8_t *counts, ptrdiff_t n, uint8_t at_least) {
    for (ptrdiff_t i = 0; i < n; i++) bounds[i] = counts[i] < at_least ? 0 : bounds[i];
}

/* begin: bounds[i] = the base of block i in units, rounded up: bases[i] of 65535 parts of the largest base, which is at
 * most factor / 65536 · 65535 units.
 */
static inline uint16_t tieaware_base_units(uint16_t base, uint16_t factor) {
    return (uint16_t)(((uint32_t)base * factor >> 16) + 2);
}

TIEAWARE_CLONES static void tieaware_begin(uint16_t *bounds, const uint16_t *bases, ptrdiff_t n, uint16_t factor) {
    for (ptrdiff_t i = 0; i < n; i++) bounds[i] = tieaware_base_units(bases[i], factor);
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
TIEAWARE_CLONES static ptrdiff_t tieaware_collect(const uint16_t *bounds, ptrdiff_t n_groups, const uint16_t *peaks,
                                                  uint32_t least, uint32_t limit, int32_t *blocks) {
    ptrdiff_t found = 0;
    for (ptrdiff_t first = 0; first < n_groups; first += TIEAWARE_BLOCK) {
        tieaware_lanes numbers;
        uint16_t groups, from_least, from_limit = 0;
        TIEAWARE_LOAD(numbers, peaks + first);
        TIEAWARE_WHERE_AT_LEAST(groups, numbers, least);
        /* The array may have older numbers after those of all groups. */
        if (n_groups - first < TIEAWARE_BLOCK) groups &= (uint16_t)((1u << (n_groups - first)) - 1);
        for (uint64_t left = groups; left; left &= left - 1) {
            const ptrdiff_t g = first + tieaware_lowest_bit(left);
            TIEAWARE_LOAD(numbers, bounds + g * TIEAWARE_GROUP);
            TIEAWARE_WHERE_AT_LEAST(from_least, numbers, least);
            if (limit <= 65535) TIEAWARE_WHERE_AT_LEAST(from_limit, numbers, limit);
            for (uint64_t rest = from_least & (uint16_t)~from_limit; rest; rest &= rest - 1) {
                blocks[found++] = (int32_t)(g * TIEAWARE_GROUP + tieaware_lowest_bit(rest));
            }
        }
    }
    return found;
}

/* The postings of a list, and how to find those of a block. A list with `bits` has a bit for each document, and the
 * number of bits before each word; it may have `row`, a weight for each document. Any other list has `places`: the
 * index of the first posting in each block, and `present`: a bit for each block, set if it has a posting; where it has
 * none, any number may stand in `places`. The impact of a posting in block b of a list with `bits` is at most factor ·
 * largest[b] units.
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
    const uint64_t *present;
    const uint8_t *largest;
    uint16_t factor;
} tieaware_block_list;

static inline int tieaware_has_posting(const tieaware_block_list *list, int32_t block) {
    return (int)(list->present[block >> 6] >> (block & 63) & 1);
}

/* place: bounds[b] += the impact of each posting in block b, in units, rounded up and at most 65535 in total; places[b]
 * becomes the index of the first posting in block b, whose bit is set in `present`; counts[b] is raised by 1, unless
 * it is NULL.
 */
#define TIEAWARE_PLACE(NAME, WEIGHT)                                                                                   \
    static void NAME(const tieaware_block_list *list, double per_unit, uint16_t *bounds, int32_t *places,              \
                     uint64_t *present, uint8_t *counts, ptrdiff_t n_blocks) {                                         \
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
                present[block >> 6] |= (uint64_t)1 << (block & 63);                                                    \
                if (counts) counts[block]++;                                                                           \
            }                                                                                                          \
            before = block;                                                                                            \
        }                                                                                                              \
    }
TIEAWARE_FOR_EACH_KIND(TIEAWARE_PLACE, tieaware_place)
#define tieaware_place(KIND, ...) TIEAWARE_OF_KIND(KIND, tieaware_place, __VA_ARGS__)

/* Prefetch, one after the other: which documents of a block the lists have; where the postings are; their weights. */
TIEAWARE_INLINED void tieaware_prefetch_block_bits(const tieaware_block_list *lists, ptrdiff_t n, int32_t block) {
    for (ptrdiff_t i = 0; i < n; i++) {
        if (lists[i].bits) {
            tieaware_prefetch(lists[i].bits + block / TIEAWARE_PER_WORD);
        } else if (tieaware_has_posting(&lists[i], block)) {
            tieaware_prefetch(lists[i].places + block);
        }
    }
}

TIEAWARE_INLINED void tieaware_prefetch_places(const tieaware_block_list *lists, ptrdiff_t n, int32_t block, int size) {
    for (ptrdiff_t i = 0; i < n; i++) {
        if (!lists[i].bits) continue;
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

/* reach: the documents of a block whose bounds reach `least` units. The bound of a document is that of its base plus, for
 * each list that has it, the largest impact of the block or, for a list without bits, its own impact.
 */
#define TIEAWARE_REACH(NAME, WEIGHT)                                                                                   \
    TIEAWARE_CLONES static uint64_t NAME(const tieaware_block_list *lists, ptrdiff_t n, int32_t block,                 \
                                         uint16_t base_units, double per_unit, uint16_t least) {                       \
        tieaware_lanes bounds;                                                                                         \
        uint16_t reached;                                                                                              \
        const uint32_t first = (uint32_t)block * TIEAWARE_BLOCK;                                                       \
        TIEAWARE_FILL(bounds, base_units);                                                                             \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                            \
            const tieaware_block_list *list = lists + i;                                                               \
            if (list->bits) {                                                                                          \
                const uint16_t has = (uint16_t)tieaware_block_bits(list, block);                                       \
                TIEAWARE_ADD_WHERE(bounds, has, list->factor * list->largest[block]);                                  \
            } else if (tieaware_has_posting(list, block)) {                                                            \
                const WEIGHT *weights = (const WEIGHT *)list->weights;                                                 \
                const double factor = list->query_weight * per_unit;                                                   \
                for (int64_t at = list->places[block]; at >= 0 && at < list->length; at++) {                           \
                    const uint32_t j = (uint32_t)list->documents[at] - first;                                          \
                    const double units = factor * (double)weights[at];                                                 \
                    if (j >= TIEAWARE_BLOCK) break;                                                                    \
                    TIEAWARE_ADD_UP_TO_LARGEST(                                                                        \
                        bounds, j, (uint32_t)(units < 65534.0 ? (units > 0.0 ? units : 0.0) : 65534.0) + 1);           \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        TIEAWARE_WHERE_AT_LEAST(reached, bounds, least);                                                               \
        return reached;                                                                                                \
    }
TIEAWARE_FOR_EACH_KIND(TIEAWARE_REACH, tieaware_reach)
#define tieaware_reach(KIND, ...) TIEAWARE_OF_KIND(KIND, tieaware_reach, __VA_ARGS__)

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
                const uint64_t has = tieaware_block_bits(list, block);                                                 \
                carry = has & those;                                                                                   \
                if (list->row) {                                                                                       \
                    const WEIGHT *row = (const WEIGHT *)list->row + first;                                             \
                    for (rest = carry; rest; rest &= rest - 1) {                                                       \
                        const int j = tieaware_lowest(rest);                                                           \
                        sums[j] += q * (double)row[j];                                                                 \
                    }                                                                                                  \
                } else if (carry) {                                                                                    \
                    at = tieaware_first_posting(list, block);                                                          \
                    if (at + TIEAWARE_BLOCK > list->length && at + tieaware_bits_set(has) > list->length) carry = 0;   \
                    for (rest = carry; rest; rest &= rest - 1) {                                                       \
                        const int j = tieaware_lowest(rest);                                                           \
                        /* The bits before that of the document are those of postings before its own. */               \
                        sums[j] += q * (double)weights[at + tieaware_bits_set(has & (((uint64_t)1 << j) - 1))];        \
                    }                                                                                                  \
                }                                                                                                      \
            } else if (tieaware_has_posting(list, block)) {                                                            \
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
TIEAWARE_FOR_EACH_KIND(TIEAWARE_SCORE_BLOCK, tieaware_score_block)
#define tieaware_score_block(KIND, ...) TIEAWARE_OF_KIND(KIND, tieaware_score_block, __VA_ARGS__)

#endif
