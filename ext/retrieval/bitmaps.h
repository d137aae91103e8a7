/* Bitmaps of posting lists: a bit for each document of the collection, in words of 64 bits.
 *
 * The loops are compiled for several instruction sets, and compute the same bits with each of them.
 */
#ifndef TIEAWARE_BITMAPS_H
#define TIEAWARE_BITMAPS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/counting.h"
#include "retrieval/weights.h"

static inline int64_t tieaware_bits_set(uint64_t word) {
#ifdef __GNUC__
    return __builtin_popcountll(word);
#else
    word -= (word >> 1) & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (int64_t)((word * 0x0101010101010101u) >> 56);
#endif
}

/* look_up: sums[i] += query_weight · the weight of candidate i, if its bit is set.
 *
 * The posting of a document is the one whose index is the number of bits before the document's bit; the rank of a word
 * is the number of bits in the words before it. An index that is not below `length` is skipped, so no input can lead to
 * an access outside the weights. The candidates are processed in tiles: the first loop collects those that are found
 * without a branch, so that in the second loop, the weights are fetched from memory in parallel. Returns the number of
 * candidates found.
 */
enum { TIEAWARE_LOOK_UP_TILE = 256 };

TIEAWARE_CLONES static int tieaware_find_bits(const int32_t *candidates, int n, const uint64_t *bits,
                                              const uint32_t *ranks, int64_t length, int32_t *which, int64_t *at) {
    int found = 0;
    for (int i = 0; i < n; i++) {
        const uint32_t document = (uint32_t)candidates[i];
        const uint64_t word = bits[document >> 6];
        const uint64_t before = word & (((uint64_t)1 << (document & 63)) - 1);
        which[found] = i;
        at[found] = (int64_t)ranks[document >> 6] + tieaware_bits_set(before);
        found += (int)(word >> (document & 63) & 1) & (at[found] < length);
    }
    return found;
}

#define TIEAWARE_LOOK_UP(NAME, WEIGHT)                                                                           \
    static int64_t NAME(const int32_t *candidates, ptrdiff_t n, const uint64_t *bits, const uint32_t *ranks,     \
                        const void *all, int64_t start, int64_t length, double query_weight, double *sums) {     \
        const WEIGHT *weights = (const WEIGHT *)all + start;                                                     \
        int32_t which[TIEAWARE_LOOK_UP_TILE];                                                                    \
        int64_t at[TIEAWARE_LOOK_UP_TILE];                                                                       \
        int64_t total = 0;                                                                                       \
        for (ptrdiff_t first = 0; first < n; first += TIEAWARE_LOOK_UP_TILE) {                                   \
            const int size = n - first < TIEAWARE_LOOK_UP_TILE ? (int)(n - first) : TIEAWARE_LOOK_UP_TILE;       \
            const int found = tieaware_find_bits(candidates + first, size, bits, ranks, length, which, at);      \
            for (int i = 0; i < found; i++) {                                                                    \
                sums[first + which[i]] += query_weight * (double)weights[at[i]];                                 \
            }                                                                                                    \
            total += found;                                                                                      \
        }                                                                                                        \
        return total;                                                                                            \
    }
TIEAWARE_FOR_EACH_KIND(TIEAWARE_LOOK_UP, tieaware_look_up)
#define tieaware_look_up(KIND, ...) TIEAWARE_OF_KIND(KIND, tieaware_look_up, __VA_ARGS__)

/* probe: looks up each posting of a list among the candidates, whose bits and ranks are given, and adds its weight.
 *
 * A rank that is not below `n` is skipped. Returns the number of postings found.
 */
#define TIEAWARE_PROBE(NAME, WEIGHT)                                                                            \
    TIEAWARE_CLONES static int64_t NAME(const int32_t *documents, const void *all, ptrdiff_t start,             \
                                        ptrdiff_t length, const uint64_t *bits, const uint32_t *ranks,          \
                                        uint32_t n_documents, int64_t n, double query_weight, double *sums) {   \
        const WEIGHT *weights = (const WEIGHT *)all + start;                                                    \
        int64_t found = 0;                                                                                      \
        for (ptrdiff_t i = 0; i < length; i++) {                                                                \
            const uint32_t document = (uint32_t)documents[start + i];                                           \
            const uint64_t word = document < n_documents ? bits[document >> 6] : 0;                             \
            if (word >> (document & 63) & 1) {                                                                  \
                const uint64_t before = word & (((uint64_t)1 << (document & 63)) - 1);                          \
                const int64_t at = (int64_t)ranks[document >> 6] + tieaware_bits_set(before);                   \
                if (at < n) {                                                                                   \
                    sums[at] += query_weight * (double)weights[i];                                              \
                    found++;                                                                                    \
                }                                                                                               \
            }                                                                                                   \
        }                                                                                                       \
        return found;                                                                                           \
    }
TIEAWARE_FOR_EACH_KIND(TIEAWARE_PROBE, tieaware_probe)
#define tieaware_probe(KIND, ...) TIEAWARE_OF_KIND(KIND, tieaware_probe, __VA_ARGS__)

/* count_bits: adds 1 to the counters of all documents of a list, and marks the documents whose counter overflows.
 *
 * Bit i of planes[p * stride + w] is binary digit p of the counter of document 64 w + i.
 */
static inline void tieaware_count_bits(const uint64_t *list, ptrdiff_t n_words, uint64_t *planes, ptrdiff_t stride,
                                       int n_planes, uint64_t *reached) {
    for (ptrdiff_t word = 0; word < n_words; word++) {
        uint64_t carry = list[word];
        for (int p = 0; p < n_planes; p++) {
            const uint64_t plane = planes[p * stride + word];
            planes[p * stride + word] = plane ^ carry;
            carry &= plane;
        }
        reached[word] |= carry;
    }
}

/* survey_among: marks the documents with a score above the bound among those in `reached`, after adding the base.
 *
 * Without a base (NULL), returns the number of documents in `reached` with a score above 0; with a base, the number of
 * documents in `reached`. The base has `n` numbers. If few documents of a word are in `reached`, the others are skipped.
 */
enum { TIEAWARE_FEW_BITS = 16 };

TIEAWARE_CLONES static int64_t tieaware_survey_among(double *scores, const double *base, ptrdiff_t n,
                                                     const uint64_t *reached, uint64_t *marks, ptrdiff_t n_words,
                                                     double bound) {
    int64_t counted = 0;
    for (ptrdiff_t word = 0; word < n_words; word++, scores += 64) {
        const ptrdiff_t last = n - 64 * word < 64 ? n - 64 * word : 64;
        uint64_t above = 0, rest = reached[word];
        int64_t any = 0, all = 0;
        if (tieaware_bits_set(rest) > TIEAWARE_FEW_BITS) {
            if (base) {
                for (ptrdiff_t i = 0; i < last; i++) scores[i] += base[64 * word + i];
            }
            for (int i = 0; i < 64; i++) any += scores[i] > bound;
            for (int i = 0; i < 64; i++) all += scores[i] > 0.0;
            if (base || all == 64) {
                counted += tieaware_bits_set(rest);
                if (!any) rest = 0;
                all = 1;
            } else {
                all = 0;
            }
            for (; rest; rest &= rest - 1) {
                const int i = tieaware_lowest_bit(rest);
                counted += !all && scores[i] > 0.0;
                above |= (uint64_t)(scores[i] > bound) << i;
            }
        } else {
            for (; rest; rest &= rest - 1) {
                const int i = tieaware_lowest_bit(rest);
                if (base && i < last) scores[i] += base[64 * word + i];
                counted += base || scores[i] > 0.0;
                above |= (uint64_t)(scores[i] > bound) << i;
            }
        }
        marks[word] = above;
    }
    return counted;
}

#endif
