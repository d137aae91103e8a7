/* Loops that compare every score of a list with one value or with several sorted values, and count the results.
 *
 * The counts are integers, so they do not depend on how the compiler vectorises the loops. The counting loops are
 * therefore compiled for several instruction sets (with AVX2 they are four to seven times faster than without; AVX-512
 * adds nothing).
 */
#ifndef TIEAWARE_COUNTING_H
#define TIEAWARE_COUNTING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/portable.h"

#if defined(TIEAWARE_GNU_C) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && \
    !defined(TIEAWARE_CHECKED)
#define TIEAWARE_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define TIEAWARE_CLONES
#endif

/* Clones for loops that gain from AVX-512, such as those over 64-bit integers. Older compilers do not know x86-64-v4. */
#if __GNUC__ >= 12 && defined(TIEAWARE_GNU_C) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && \
    !defined(TIEAWARE_CHECKED)
#define TIEAWARE_WIDE_CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define TIEAWARE_WIDE_CLONES TIEAWARE_CLONES
#endif

/* A list is counted in tiles of TIEAWARE_TILE scores. A tile fits in the first-level cache, and its counts fit in 32
 * bits.
 */
enum { TIEAWARE_TILE = 2048, TIEAWARE_LANES = 16 };

/* Tiles of at least this many scores are worth the preparations for comparing four values in one pass. */
enum { TIEAWARE_LONG = 256 };

/* count: adds to greater[i] the number of scores above values[i], and to equal[i] the number of scores equal to
 * values[i], where the values ascend; returns the number of NaNs. For a value with at least `limit` scores above it,
 * greater[i] may be too small, but it is at least `limit`.
 *
 * Each pass over a tile serves four values. The pass for the lowest value also counts the NaNs.
 */
#define TIEAWARE_COUNT(NAME, SCORE, COUNTER)                                                                   \
    static inline int64_t NAME##_one(const SCORE *tile, ptrdiff_t length, double value, int64_t *greater,      \
                                     int64_t *equal) {                                                         \
        const SCORE a = (SCORE)value;                                                                          \
        COUNTER above = 0, at_least = 0, unordered = 0;                                                        \
        for (ptrdiff_t i = 0; i < length; i++) {                                                               \
            above += tile[i] > a;                                                                              \
            at_least += tile[i] >= a;                                                                          \
            unordered += tile[i] != tile[i];                                                                   \
        }                                                                                                      \
        greater[0] += above;                                                                                   \
        equal[0] += at_least - above;                                                                          \
        return unordered;                                                                                      \
    }                                                                                                          \
    static inline void NAME##_four(const SCORE *tile, ptrdiff_t length, const double *values,                  \
                                   int64_t *greater, int64_t *equal) {                                         \
        const SCORE a = (SCORE)values[0], b = (SCORE)values[1], c = (SCORE)values[2], d = (SCORE)values[3];    \
        COUNTER above_a = 0, above_b = 0, above_c = 0, above_d = 0;                                            \
        COUNTER at_least_a = 0, at_least_b = 0, at_least_c = 0, at_least_d = 0;                                \
        for (ptrdiff_t i = 0; i < length; i++) {                                                               \
            above_a += tile[i] > a;                                                                            \
            at_least_a += tile[i] >= a;                                                                        \
            above_b += tile[i] > b;                                                                            \
            at_least_b += tile[i] >= b;                                                                        \
            above_c += tile[i] > c;                                                                            \
            at_least_c += tile[i] >= c;                                                                        \
            above_d += tile[i] > d;                                                                            \
            at_least_d += tile[i] >= d;                                                                        \
        }                                                                                                      \
        greater[0] += above_a, greater[1] += above_b, greater[2] += above_c, greater[3] += above_d;            \
        equal[0] += at_least_a - above_a, equal[1] += at_least_b - above_b;                                    \
        equal[2] += at_least_c - above_c, equal[3] += at_least_d - above_d;                                    \
    }                                                                                                          \
    TIEAWARE_CLONES static int64_t NAME(const SCORE *scores, ptrdiff_t n, const double *values,                \
                                        ptrdiff_t n_values, int64_t limit, int64_t *greater, int64_t *equal) { \
        int64_t nan = 0;                                                                                       \
        ptrdiff_t lowest = 0;                                                                                  \
        for (ptrdiff_t from = 0; from < n; from += TIEAWARE_TILE) {                                            \
            const SCORE *tile = scores + from;                                                                 \
            const ptrdiff_t length = n - from < TIEAWARE_TILE ? n - from : TIEAWARE_TILE;                      \
            ptrdiff_t v;                                                                                       \
            /* The lowest values reach the limit first. */                                                      \
            while (lowest < n_values && greater[lowest] >= limit) lowest++;                                    \
            if (lowest == n_values) {                                                                          \
                for (ptrdiff_t i = 0; i < length; i++) nan += tile[i] != tile[i];                              \
                continue;                                                                                      \
            }                                                                                                  \
            nan += NAME##_one(tile, length, values[lowest], greater + lowest, equal + lowest);                 \
            for (v = lowest + 1; v + 4 <= n_values; v += 4)                                                    \
                NAME##_four(tile, length, values + v, greater + v, equal + v);                                 \
            for (; v < n_values; v++) NAME##_one(tile, length, values[v], greater + v, equal + v);             \
        }                                                                                                      \
        return nan;                                                                                            \
    }

TIEAWARE_COUNT(tieaware_count_double, double, int64_t)
TIEAWARE_COUNT(tieaware_count_float, float, int32_t)

/* count_rounded: does what count does, after rounding scores and values to floats. A vector holds twice as many floats
 * as doubles, so this is faster. Adds to inexact the number of scores that rounding changed.
 */
TIEAWARE_CLONES static int64_t tieaware_count_rounded(const double *scores, ptrdiff_t n, const double *values,
                                                      ptrdiff_t n_values, int64_t limit, int64_t *greater,
                                                      int64_t *equal, int64_t *inexact) {
    float tile[TIEAWARE_TILE];
    int64_t nan = 0, rounded = 0;
    ptrdiff_t lowest = 0;
    for (ptrdiff_t from = 0; from < n; from += TIEAWARE_TILE) {
        const ptrdiff_t length = n - from < TIEAWARE_TILE ? n - from : TIEAWARE_TILE;
        ptrdiff_t v;
        while (lowest < n_values && greater[lowest] >= limit) lowest++;
        if (lowest == n_values) {
            for (ptrdiff_t i = from; i < from + length; i++) nan += scores[i] != scores[i];
            continue;
        }
        for (ptrdiff_t i = 0; i < length; i++) {
            tile[i] = (float)scores[from + i];
            rounded += (double)tile[i] != scores[from + i];
        }
        nan += tieaware_count_float_one(tile, length, values[lowest], greater + lowest, equal + lowest);
        for (v = lowest + 1; v + 4 <= n_values; v += 4)
            tieaware_count_float_four(tile, length, values + v, greater + v, equal + v);
        for (; v < n_values; v++) tieaware_count_float_one(tile, length, values[v], greater + v, equal + v);
    }
    *inexact += rounded;
    return nan;
}

/* count_equal: adds to equal[v] the number of scores that equal values[v]. */
TIEAWARE_CLONES static void tieaware_count_equal(const double *scores, ptrdiff_t n, const double *values,
                                                 ptrdiff_t n_values, int64_t *equal) {
    ptrdiff_t v = 0;
    for (; v + 4 <= n_values; v += 4) {
        const double a = values[v], b = values[v + 1], c = values[v + 2], d = values[v + 3];
        int64_t equal_a = 0, equal_b = 0, equal_c = 0, equal_d = 0;
        for (ptrdiff_t i = 0; i < n; i++) {
            equal_a += scores[i] == a;
            equal_b += scores[i] == b;
            equal_c += scores[i] == c;
            equal_d += scores[i] == d;
        }
        equal[v] += equal_a, equal[v + 1] += equal_b, equal[v + 2] += equal_c, equal[v + 3] += equal_d;
    }
    for (; v < n_values; v++) {
        for (ptrdiff_t i = 0; i < n; i++) equal[v] += scores[i] == values[v];
    }
}

/* rank: writes to above[i] how many of the n scores are greater than scores[i]; n is at most TIEAWARE_LANES.
 *
 * This sorts a few scores without a branch that the processor could mispredict. Scores are read and results are written
 * four at a time, so both arrays are accessed beyond index n - 1; only the first n results are meaningful.
 */
#if defined(TIEAWARE_GNU_C)
typedef double tieaware_four_doubles __attribute__((vector_size(32)));
typedef int64_t tieaware_four_counts __attribute__((vector_size(32)));

TIEAWARE_CLONES static void tieaware_rank(const double *scores, ptrdiff_t n, int64_t *above) {
    for (ptrdiff_t i = 0; i < n; i += 4) {
        tieaware_four_doubles four;
        tieaware_four_counts count = {0, 0, 0, 0};
        memcpy(&four, scores + i, sizeof four);
        /* In vector code, a comparison that is true gives -1, not 1. */
        for (ptrdiff_t j = 0; j < n; j++) count -= scores[j] > four;
        memcpy(above + i, &count, sizeof count);
    }
}
#else
static void tieaware_rank(const double *scores, ptrdiff_t n, int64_t *above) {
    for (ptrdiff_t i = 0; i < n; i++) {
        int64_t count = 0;
        for (ptrdiff_t j = 0; j < n; j++) count += scores[j] > scores[i];
        above[i] = count;
    }
}
#endif

/* above: returns the least number above a score that is not 0. Above infinity, it is NaN: no score is at least that. */
#define TIEAWARE_ABOVE(NAME, SCORE, BITS)                                                                      \
    static inline SCORE NAME(SCORE score) {                                                                    \
        BITS bits;                                                                                             \
        memcpy(&bits, &score, sizeof bits);                                                                    \
        bits = score < 0 ? bits - 1 : bits + 1;                                                                \
        memcpy(&score, &bits, sizeof score);                                                                   \
        return score;                                                                                          \
    }

TIEAWARE_ABOVE(tieaware_above_double, double, uint64_t)
TIEAWARE_ABOVE(tieaware_above_float, float, uint32_t)

/* precede: adds to before[i] how many of n documents precede the document at positions[i], whose score is values[i]. A
 * document precedes it if its score is higher, or if its score is equal and its position lower. `first` is the position
 * of the first of the n documents. Returns the number of NaNs. If at least `limit` documents precede the document,
 * before[i] may be too small, but it is at least `limit`.
 *
 * In a long tile, each pass serves four values. Up to its position, a value is compared with the scores; after it, the
 * least number above the value is. So the positions divide a tile into ranges, in each of which four comparisons do not
 * change. A value of 0 has a pass of its own: the least number above it is denormal, and so it equals 0 if the program
 * has made the processor treat denormal numbers as 0.
 */
#define TIEAWARE_PRECEDE(NAME, SCORE, COUNTER, ABOVE)                                                          \
    static inline void NAME##_four(const SCORE *tile, ptrdiff_t length, const double *values,                  \
                                   const int64_t *positions, ptrdiff_t first, int64_t *before) {               \
        COUNTER count_a = 0, count_b = 0, count_c = 0, count_d = 0;                                            \
        for (ptrdiff_t from = 0, to; from < length; from = to) {                                               \
            SCORE least[4];                                                                                    \
            to = length;                                                                                       \
            for (int v = 0; v < 4; v++) {                                                                      \
                const ptrdiff_t split = positions[v] - first;                                                  \
                least[v] = from < split ? (SCORE)values[v] : ABOVE((SCORE)values[v]);                          \
                to = from < split && split < to ? split : to;                                                  \
            }                                                                                                  \
            const SCORE a = least[0], b = least[1], c = least[2], d = least[3];                                \
            for (ptrdiff_t i = from; i < to; i++) {                                                            \
                count_a += tile[i] >= a;                                                                       \
                count_b += tile[i] >= b;                                                                       \
                count_c += tile[i] >= c;                                                                       \
                count_d += tile[i] >= d;                                                                       \
            }                                                                                                  \
        }                                                                                                      \
        before[0] += count_a, before[1] += count_b, before[2] += count_c, before[3] += count_d;                \
    }                                                                                                          \
    TIEAWARE_CLONES static int64_t NAME(const SCORE *scores, ptrdiff_t first, ptrdiff_t n,                     \
                                        const double *values, const int64_t *positions, ptrdiff_t n_values,    \
                                        int64_t limit, int64_t *before) {                                      \
        int64_t nan = 0;                                                                                       \
        for (ptrdiff_t from = 0; from < n; from += TIEAWARE_TILE) {                                            \
            const SCORE *tile = scores + from;                                                                 \
            const ptrdiff_t length = n - from < TIEAWARE_TILE ? n - from : TIEAWARE_TILE;                      \
            const ptrdiff_t last_four = length < TIEAWARE_LONG ? -1 : n_values - 4;                            \
            COUNTER unordered = 0;                                                                             \
            for (ptrdiff_t i = 0; i < length; i++) unordered += tile[i] != tile[i];                            \
            nan += unordered;                                                                                  \
            for (ptrdiff_t v = 0; v < n_values; v++) {                                                         \
                if (first + from > 0 && before[v] >= limit) continue;                                          \
                if (v <= last_four && values[v] != 0.0 && values[v + 1] != 0.0 && values[v + 2] != 0.0 &&        \
                    values[v + 3] != 0.0) {                                                                    \
                    NAME##_four(tile, length, values + v, positions + v, first + from, before + v);            \
                    v += 3;                                                                                    \
                    continue;                                                                                  \
                }                                                                                              \
                const SCORE value = (SCORE)values[v];                                                          \
                ptrdiff_t split = positions[v] - first - from;                                                 \
                COUNTER count = 0;                                                                             \
                split = split < 0 ? 0 : split > length ? length : split;                                       \
                for (ptrdiff_t i = 0; i < split; i++) count += tile[i] >= value;                               \
                for (ptrdiff_t i = split; i < length; i++) count += tile[i] > value;                           \
                before[v] += count;                                                                            \
            }                                                                                                  \
        }                                                                                                      \
        return nan;                                                                                            \
    }

TIEAWARE_PRECEDE(tieaware_precede_double, double, int64_t, tieaware_above_double)
TIEAWARE_PRECEDE(tieaware_precede_float, float, int32_t, tieaware_above_float)

/* locate: for each of TIEAWARE_LANES scores, finds how many of the n_values ascending values are lower than the score.
 *
 * Invariant of each binary search: values[base-1] < score <= values[base+length], where these elements exist. All
 * searches advance step by step together, so the processor works on one search while another waits for memory.
 */
#define TIEAWARE_LOCATE(NAME, SCORE)                                                                           \
    static void NAME(const SCORE *scores, const double *values, int64_t n_values, int64_t *below) {            \
        int64_t base[TIEAWARE_LANES] = {0};                                                                    \
        int64_t length = n_values;                                                                             \
        while (length > 0) {                                                                                   \
            const int64_t half = (length + 1) / 2;                                                             \
            for (int lane = 0; lane < TIEAWARE_LANES; lane++) {                                                \
                base[lane] += values[base[lane] + half - 1] < (double)scores[lane] ? half : 0;                 \
            }                                                                                                  \
            length -= half;                                                                                    \
        }                                                                                                      \
        for (int lane = 0; lane < TIEAWARE_LANES; lane++) below[lane] = base[lane];                            \
    }

TIEAWARE_LOCATE(tieaware_locate_double, double)
TIEAWARE_LOCATE(tieaware_locate_float, float)

#endif
