/* Loops over the accumulators of a chunk of documents.
 *
 * The loops are compiled for several instruction sets, and compute the same bits with each of them.
 */
#ifndef TIEAWARE_ACCUMULATORS_H
#define TIEAWARE_ACCUMULATORS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/counting.h"
#include "retrieval/weights.h"

#if defined(TIEAWARE_SSE2)
#include <emmintrin.h>
#endif

/* A word of marks has a bit for each of 64 documents. */
enum { TIEAWARE_WORD = 64, TIEAWARE_EIGHTH = 8 };

static inline int tieaware_lowest(uint64_t word) { return tieaware_lowest_bit(word); }

/* above: marks the scores above the bound. */
#if defined(TIEAWARE_SSE2)
static inline uint64_t tieaware_above(const double *scores, double bound) {
    const __m128d bounds = _mm_set1_pd(bound);
    uint64_t marks = 0;
    for (int i = 0; i < TIEAWARE_WORD; i += 2) {
        marks |= (uint64_t)_mm_movemask_pd(_mm_cmpgt_pd(_mm_loadu_pd(scores + i), bounds)) << i;
    }
    return marks;
}
#else
static inline uint64_t tieaware_above(const double *scores, double bound) {
    uint64_t marks = 0;
    for (int i = 0; i < TIEAWARE_WORD; i += TIEAWARE_EIGHTH) {
        int64_t above = 0;
        for (int j = i; j < i + TIEAWARE_EIGHTH; j++) {
            above += scores[j] > bound;
        }
        for (int j = i; above && j < i + TIEAWARE_EIGHTH; j++) {
            marks |= (uint64_t)(scores[j] > bound) << j;
        }
    }
    return marks;
}
#endif

/* survey: marks the scores above the bound, and returns the number of scores above 0. */
TIEAWARE_CLONES static int64_t tieaware_survey(const double *scores, uint64_t *marks, ptrdiff_t n_words, double bound) {
    int64_t positive = 0;
    for (ptrdiff_t word = 0; word < n_words; word++, scores += TIEAWARE_WORD) {
        int64_t above_zero = 0, above_bound = 0;
        for (int i = 0; i < TIEAWARE_WORD; i++) {
            above_zero += scores[i] > 0.0;
            above_bound += scores[i] > bound;
        }
        positive += above_zero;
        marks[word] = above_bound ? tieaware_above(scores, bound) : 0;
    }
    return positive;
}

/* Prefetch n bytes into the second-level cache, a line of 64 bytes at a time; invalid addresses are harmless. */
TIEAWARE_INLINED void tieaware_prefetch_bytes(const char *start, ptrdiff_t n) {
#if defined(TIEAWARE_GNU_C)
    for (ptrdiff_t i = 0; i < n; i += 64) __builtin_prefetch(start + i, 0, 2);
#else
    (void)start, (void)n;
#endif
}

/* Prefetch the elements of an array that have these indices, which may be invalid; an element has `size` bytes. */
TIEAWARE_INLINED void tieaware_prefetch_each(const void *array, size_t size, const int64_t *indices, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        tieaware_prefetch((const void *)((uintptr_t)array + (uintptr_t)indices[i] * (uintptr_t)size));
    }
}

/* add: scores[i] += query_weight · weights[first + i] for all documents of a dense list. */
#define TIEAWARE_ADD(NAME, WEIGHT)                                                                                \
    TIEAWARE_CLONES static void NAME(double *scores, const void *all, ptrdiff_t first, ptrdiff_t n,               \
                                     double query_weight) {                                                       \
        const WEIGHT *weights = (const WEIGHT *)all + first;                                                      \
        for (ptrdiff_t i = 0; i < n; i++) scores[i] += query_weight * (double)weights[i];                         \
    }
TIEAWARE_FOR_EACH_KIND(TIEAWARE_ADD, tieaware_add)
#define tieaware_add(KIND, ...) TIEAWARE_OF_KIND(KIND, tieaware_add, __VA_ARGS__)

/* set: scores[i] = 0.0 + query_weight · weights[first + i], which has the bits of adding to a score of 0. */
#define TIEAWARE_SET(NAME, WEIGHT)                                                                                \
    TIEAWARE_CLONES static void NAME(double *scores, const void *all, ptrdiff_t first, ptrdiff_t n,               \
                                     double query_weight) {                                                       \
        const WEIGHT *weights = (const WEIGHT *)all + first;                                                      \
        for (ptrdiff_t i = 0; i < n; i++) scores[i] = 0.0 + query_weight * (double)weights[i];                    \
    }
TIEAWARE_FOR_EACH_KIND(TIEAWARE_SET, tieaware_set)
#define tieaware_set(KIND, ...) TIEAWARE_OF_KIND(KIND, tieaware_set, __VA_ARGS__)

/* gather: sums[i] += query_weight · weights[first + candidates[i]], where `weights` are the weights of a dense list.
 *
 * Returns the number of candidates whose weight is not 0.
 */
#define TIEAWARE_GATHER(NAME, WEIGHT)                                                                             \
    TIEAWARE_CLONES static int64_t NAME(const int32_t *candidates, ptrdiff_t n, const void *all, ptrdiff_t first, \
                                        double query_weight, double *sums) {                                      \
        const WEIGHT *weights = (const WEIGHT *)all + first;                                                      \
        int64_t found = 0;                                                                                        \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                       \
            const WEIGHT weight = weights[candidates[i]];                                                         \
            sums[i] += query_weight * (double)weight;                                                             \
            found += weight != 0;                                                                                 \
        }                                                                                                         \
        return found;                                                                                             \
    }
TIEAWARE_FOR_EACH_KIND(TIEAWARE_GATHER, tieaware_gather)
#define tieaware_gather(KIND, ...) TIEAWARE_OF_KIND(KIND, tieaware_gather, __VA_ARGS__)

/* lead: scores[d] += impact.    follow: scores[d] += impact if scores[d] > 0.
 *
 * lead and follow read the documents of a list that are in a chunk, which has the documents from `first` to
 * first + size - 1; the size must be a power of two. They stop at the first document outside the chunk, and return the
 * number of documents read.
 */
#define TIEAWARE_LEAD(AT) scores[AT] = (uint16_t)(scores[AT] + impact)
#define TIEAWARE_FOLLOW(AT) \
    if (scores[AT]) scores[AT] = (uint16_t)(scores[AT] + impact)
#define TIEAWARE_ADD_WHOLE(NAME, ADD)                                                                                  \
    static inline ptrdiff_t NAME(uint16_t *scores, const int32_t *documents, ptrdiff_t n, uint32_t first,              \
                                 uint32_t size, uint16_t impact) {                                                     \
        ptrdiff_t i = 0;                                                                                               \
        for (; n - i >= 4; i += 4) {                                                                                   \
            const uint32_t a = (uint32_t)documents[i] - first, b = (uint32_t)documents[i + 1] - first;                 \
            const uint32_t c = (uint32_t)documents[i + 2] - first, d = (uint32_t)documents[i + 3] - first;             \
            /* The size is a power of two, so a | b | c | d reaches the size only if one of the four does. */          \
            if ((a | b | c | d) >= size) break;                                                                        \
            ADD(a);                                                                                                    \
            ADD(b);                                                                                                    \
            ADD(c);                                                                                                    \
            ADD(d);                                                                                                    \
        }                                                                                                              \
        for (; i < n; i++) {                                                                                           \
            const uint32_t at = (uint32_t)documents[i] - first;                                                        \
            if (at >= size) break;                                                                                     \
            ADD(at);                                                                                                   \
        }                                                                                                              \
        return i;                                                                                                      \
    }
TIEAWARE_ADD_WHOLE(tieaware_lead, TIEAWARE_LEAD)
TIEAWARE_ADD_WHOLE(tieaware_follow, TIEAWARE_FOLLOW)

#endif
