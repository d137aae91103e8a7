/* Bands of ranks: each score of a list is replaced by the number of the band that its rank is in.
 *
 * Only few scores need to be ranked for that. The scores are put into buckets of equal width, which are counted. The
 * counts give the ranks of each bucket, and mostly all these ranks are in one band. The documents of the other buckets
 * are sorted. Buckets need not be exact: a score must only never be in a later bucket than a lower score.
 */
#ifndef TIEAWARE_BANDING_H
#define TIEAWARE_BANDING_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/coarsening.h"
#include "engine/sorting.h"

/* Adjacent documents are counted in different counters, so that none waits for the one before. */
enum { TIEAWARE_BUCKETS = 128, TIEAWARE_COUNTERS = 4 };

/* start[b] is the number of documents before band b; the last element, after those of all bands, is INT64_MAX. value[b]
 * is the coarse score of band b, and key[b] a number that is compared faster.
 */
typedef struct {
    const int64_t *start;
    const float *key;
    const double *value;
} tieaware_bands;

/* Working memory for a list of n documents: its places to sort, twice the words of sorting, and its buckets. */
typedef struct {
    int64_t *place, *words, *spare;
    int32_t *bucket;
} tieaware_banding;

static inline size_t tieaware_banding_size(ptrdiff_t n) {
    return (size_t)(2 * tieaware_chunks_of(n).n + n) * sizeof(int64_t) + (size_t)n * sizeof(int32_t);
}

static inline tieaware_banding tieaware_banding_in(void *memory, ptrdiff_t n) {
    tieaware_banding banding;
    banding.words = memory;
    banding.spare = banding.words + tieaware_chunks_of(n).n;
    banding.place = banding.spare + tieaware_chunks_of(n).n;
    banding.bucket = (int32_t *)(banding.place + n);
    return banding;
}

TIEAWARE_CLONES static int tieaware_has_nan(const double *restrict scores, ptrdiff_t n) {
    int64_t nan = 0;
    for (ptrdiff_t i = 0; i < n; i++) nan += scores[i] != scores[i];
    return nan != 0;
}

/* write_buckets: writes the bucket of each score. Every step keeps the order of the scores: subtraction, multiplication
 * and rounding down.
 */
TIEAWARE_CLONES static void tieaware_write_buckets(const double *restrict scores, ptrdiff_t n, double high,
                                                   double scale, int32_t *restrict bucket) {
    for (ptrdiff_t i = 0; i < n; i++) bucket[i] = (int32_t)((high - scores[i]) * scale);
}

/* The buckets of a list: the number of documents before each bucket, the band of its first document, and 1 if its
 * documents are in several bands, else 0.
 */
typedef struct {
    int64_t before[TIEAWARE_BUCKETS];
    int32_t band[TIEAWARE_BUCKETS], several[TIEAWARE_BUCKETS];
} tieaware_buckets;

/* count_buckets: describes the buckets of a list, which has fewer than 2^31 documents. */
static inline void tieaware_count_buckets(const int32_t *bucket, ptrdiff_t n, const int64_t *start,
                                          tieaware_buckets *buckets) {
    int32_t counts[TIEAWARE_COUNTERS][TIEAWARE_BUCKETS], band = 0;
    int64_t at = 0, next = start[1];
    ptrdiff_t i = 0;
    memset(counts, 0, sizeof counts);
    for (; i + TIEAWARE_COUNTERS <= n; i += TIEAWARE_COUNTERS)
        for (int c = 0; c < TIEAWARE_COUNTERS; c++) counts[c][bucket[i + c]]++;
    for (; i < n; i++) counts[0][bucket[i]]++;
    for (int c = 1; c < TIEAWARE_COUNTERS; c++)
        for (int b = 0; b < TIEAWARE_BUCKETS; b++) counts[0][b] += counts[c][b];
    /* Invariant: the document after the first `at` is in this band, and band + 1 starts after `next` documents. */
    for (int b = 0; b < TIEAWARE_BUCKETS; b++) {
        buckets->before[b] = at;
        buckets->band[b] = band;
        at += counts[0][b];
        buckets->several[b] = next < at;
        while (next <= at) next = start[++band + 1];
    }
}

/* find_several: writes the places of the documents in buckets with several bands; returns their number. The element
 * after them may be overwritten, if there is one.
 */
static inline ptrdiff_t tieaware_find_several(const int32_t *restrict bucket, ptrdiff_t n,
                                              const int32_t *restrict several, int64_t *restrict place) {
    ptrdiff_t found = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        place[found] = i;
        found += several[bucket[i]];
    }
    return found;
}

static inline double tieaware_score_at(const double *scores, const int64_t *place, int64_t i) {
    return scores[place == NULL ? i : place[i]];
}

/* sort_places: sorts n places by their scores, descending; equal scores keep their order. For NULL, sorts the places of
 * the whole list. Returns the sorted indices of the places; the other bits, which must be removed with a mask, have no
 * meaning.
 */
static inline const int64_t *tieaware_sort_places(int (*sort)(void *, intptr_t, void *), const double *scores,
                                                  const int64_t *place, ptrdiff_t n, int64_t *words, int64_t *spare,
                                                  int64_t *mask) {
    *mask = tieaware_place_bits(n);
    if (n <= TIEAWARE_LONGEST_SORTED) {
        const int64_t *sorted;
        tieaware_words_double(scores, place, n, *mask, words);
        sorted = tieaware_sort(sort, words, n, spare);
        if (tieaware_repeats(sorted, n, *mask) == 0 || !tieaware_close(scores, place, sorted, n, *mask)) return sorted;
    }
    for (ptrdiff_t i = 0; i < n; i++) words[i] = i;
    /* Merge sorted parts of `half` indices each. */
    for (ptrdiff_t half = 1; half < n; half *= 2) {
        int64_t *merged = spare;
        for (ptrdiff_t from = 0; from < n; from += 2 * half) {
            const ptrdiff_t middle = n - from < half ? n : from + half, end = n - middle < half ? n : middle + half;
            ptrdiff_t left = from, right = middle;
            for (ptrdiff_t to = from; to < end; to++) {
                const int is_right =
                    right < end && (left == middle || tieaware_score_at(scores, place, words[right]) >
                                                          tieaware_score_at(scores, place, words[left]));
                merged[to] = words[is_right ? right++ : left++];
            }
        }
        spare = words;
        words = merged;
    }
    return words;
}

/* write_bands: writes the number of the band of each document of a list without NaN. */
#define TIEAWARE_WRITE_BANDS(NAME, NUMBER)                                                                     \
    TIEAWARE_CLONES static void NAME##_look_up(const int32_t *restrict bucket, ptrdiff_t n,                    \
                                               const NUMBER *restrict of_bucket, NUMBER *restrict out) {       \
        for (ptrdiff_t i = 0; i < n; i++) out[i] = of_bucket[bucket[i]];                                       \
    }                                                                                                          \
    static void NAME(const double *scores, ptrdiff_t n, const int64_t *start, const NUMBER *number,            \
                     int (*sort)(void *, intptr_t, void *), tieaware_banding banding, NUMBER *out) {           \
        tieaware_buckets buckets;                                                                              \
        NUMBER of_bucket[TIEAWARE_BUCKETS];                                                                    \
        double low, high, scale;                                                                               \
        const int64_t *sorted;                                                                                 \
        int64_t mask, rank = 0;                                                                                \
        int32_t last = -1, band = 0;                                                                           \
        ptrdiff_t n_places;                                                                                    \
        tieaware_range(scores, n, &low, &high);                                                                \
        scale = n > TIEAWARE_SORTED_CHUNK ? (TIEAWARE_BUCKETS - 1) / (high - low) : 0.0;                       \
        /* Sort a short list as a whole, and one whose range of scores is 0 or not finite. */                  \
        if (!(scale > 0.0 && scale < INFINITY)) {                                                              \
            sorted = tieaware_sort_places(sort, scores, NULL, n, banding.words, banding.spare, &mask);         \
            for (ptrdiff_t i = 0; i < n; i++) {                                                                \
                while (start[band + 1] <= i) band++;                                                           \
                out[sorted[i] & mask] = number[band];                                                          \
            }                                                                                                  \
            return;                                                                                            \
        }                                                                                                      \
        tieaware_write_buckets(scores, n, high, scale, banding.bucket);                                        \
        tieaware_count_buckets(banding.bucket, n, start, &buckets);                                            \
        for (int b = 0; b < TIEAWARE_BUCKETS; b++) of_bucket[b] = number[buckets.band[b]];                     \
        NAME##_look_up(banding.bucket, n, of_bucket, out);                                                     \
        n_places = tieaware_find_several(banding.bucket, n, buckets.several, banding.place);                   \
        if (n_places == 0) return;                                                                             \
        sorted = tieaware_sort_places(sort, scores, banding.place, n_places, banding.words, banding.spare, &mask); \
        /* Documents of one bucket are adjacent. Invariant: `band` is the band of the document before. */      \
        for (ptrdiff_t i = 0; i < n_places; i++) {                                                             \
            const int64_t place = banding.place[sorted[i] & mask];                                             \
            const int32_t b = banding.bucket[place];                                                           \
            rank = b == last ? rank + 1 : buckets.before[b];                                                   \
            band = b == last ? band : buckets.band[b];                                                         \
            last = b;                                                                                          \
            while (start[band + 1] <= rank) band++;                                                            \
            out[place] = number[band];                                                                         \
        }                                                                                                      \
    }

TIEAWARE_WRITE_BANDS(tieaware_write_band_keys, float)
TIEAWARE_WRITE_BANDS(tieaware_write_band_values, double)

#endif
