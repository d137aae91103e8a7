/* Loops that make scores coarser: rounding to binary formats, to decimals, to significant digits, and to levels.
 *
 * Every function rounds as if in one step, halfway cases to even, and gives the same bits with every instruction set:
 * it uses only operations whose results IEEE 754 defines exactly. NaN stays NaN, and infinities stay infinite.
 *
 * Rounding to decimals and to significant digits can write *keys* instead of values. A key is a whole number that
 * grows with the coarse value and is equal for equal coarse values. Keys need no division, and small keys are compared
 * as floats, which is faster. Of two lists that are compared, both must hold keys, or both values.
 */
#ifndef TIEAWARE_COARSENING_H
#define TIEAWARE_COARSENING_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/counting.h"

/* Scores are rounded in tiles of this many. A tile fits in the first-level cache. */
enum { TIEAWARE_COARSE_TILE = 512 };

/* Adding this number to x and subtracting it again rounds x to a whole number, for 0 <= x < TIEAWARE_MOST_SCALED. */
static const double TIEAWARE_WHOLE = 6755399441055744.0; /* 3 * 2^51 */
static const double TIEAWARE_MOST_SCALED = 2251799813685248.0; /* 2^51 */

static inline double tieaware_whole(double x) { return (x + TIEAWARE_WHOLE) - TIEAWARE_WHOLE; }

/* A binary format: rounding x means adding 2^e * shift to it, where 2^e <= x < 2^(e+1), and subtracting that again.
 * `least` and `most` are the limits of 2^e * shift, for subnormal numbers of the format and against overflow. Numbers
 * that are rounded to `overflow` or more become infinite.
 */
typedef struct {
    double shift, least, most, overflow;
} tieaware_format;

TIEAWARE_CLONES static void tieaware_round_binary(const double *scores, ptrdiff_t n, tieaware_format format,
                                                  float *restrict out) {
    for (ptrdiff_t i = 0; i < n; i++) {
        const double x = scores[i], size = fabs(x);
        double shift, rounded;
        int64_t bits;
        memcpy(&bits, &size, sizeof bits);
        /* Clearing the mantissa leaves 2^e. */
        bits &= INT64_C(0x7ff) << 52;
        memcpy(&shift, &bits, sizeof shift);
        shift *= format.shift;
        shift = shift > format.least ? shift : format.least;
        shift = shift < format.most ? shift : format.most;
        rounded = (size + shift) - shift;
        rounded = rounded >= format.overflow ? INFINITY : rounded;
        out[i] = (float)copysign(rounded, x);
    }
}

/* Returns the error of the product a * b, which is a number of type double (Dekker), for |a|, |b| < 2^996. */
static inline double tieaware_product_error(double a, double b, double product) {
    const double s = 134217729.0 * a, t = 134217729.0 * b;
    const double a1 = s - (s - a), a2 = a - a1, b1 = t - (t - b), b2 = b - b1;
    return ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2;
}

/* Returns a whole number for a number that is nearly `scaled`: the number is greater if above > 0, and smaller if
 * above < 0. `whole` is the whole number nearest to `scaled`, halfway cases to even.
 *
 * The number is on the same side of every half as `scaled`, unless `scaled` is itself a half, because doubles represent
 * halves exactly.
 */
static inline double tieaware_settle(double scaled, double whole, double above) {
    const double rest = scaled - whole;
    whole += rest == 0.5 && above > 0.0 ? 1.0 : 0.0;
    return whole - (rest == -0.5 && above < 0.0 ? 1.0 : 0.0);
}

/* decimals: rounds scores to multiples of 1/power, where power = 10^digits. If `exact`, the power has no rounding error.
 *
 * Returns how many scores it left because doubles do not suffice to round them. If it left any, the keys are unusable;
 * among the values, the scores that were left are NaN.
 */
static inline int64_t tieaware_decimals(const double *scores, ptrdiff_t n, double power, int64_t exact, int64_t keys,
                                        double *restrict out) {
    const double most = exact ? TIEAWARE_MOST_SCALED : 0.25;
    int64_t halves = 0, left = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const double x = scores[i], size = fabs(x), scaled = size * power, whole = tieaware_whole(scaled);
        /* If doubles near the score are further apart than decimal numbers, rounding does not change it. */
        const int64_t is_left = (scaled >= most) & (keys ? size < INFINITY : scaled < 16 * TIEAWARE_MOST_SCALED);
        const double coarse = copysign(keys ? whole : whole / power, x);
        halves += fabs(scaled - whole) == 0.5;
        left += is_left;
        out[i] = is_left ? NAN : scaled < most ? coarse : x;
    }
    if (halves && exact)
        for (ptrdiff_t i = 0; i < n; i++) {
            const double x = scores[i], size = fabs(x), scaled = size * power;
            const double error = tieaware_product_error(size, power, scaled);
            const double whole = tieaware_settle(scaled, tieaware_whole(scaled), error);
            const double coarse = copysign(keys ? whole : whole / power, x);
            out[i] = scaled < most ? coarse : out[i];
        }
    return left;
}

TIEAWARE_CLONES static int64_t tieaware_decimal_values(const double *scores, ptrdiff_t n, double power, int64_t exact,
                                                       double *restrict out) {
    return tieaware_decimals(scores, n, power, exact, 0, out);
}

TIEAWARE_CLONES static int64_t tieaware_decimal_keys(const double *scores, ptrdiff_t n, double power, int64_t exact,
                                                     double *restrict out) {
    return tieaware_decimals(scores, n, power, exact, 1, out);
}

/* A table that says how to round numbers to significant digits, with one row for each biased exponent.
 *
 * All numbers 2^e <= x < 2^(e+1) are in one decade 10^k <= x < 10^(k+1), or the numbers from TIEAWARE_FROM on are in the
 * next one; else that is infinite. For either decade, the row holds these numbers, at TIEAWARE_FIRST or TIEAWARE_SECOND:
 *
 * TIEAWARE_TIMES, TIEAWARE_OVER: powers of ten, one of them 1. x * times / over has all its digits before the point.
 * TIEAWARE_NEARLY: times / over, rounded.
 * TIEAWARE_BEFORE: the key of 10^k, minus the whole number that consists of its digits.
 *
 * They are NaN for decades for which doubles do not suffice.
 */
enum {
    TIEAWARE_FROM, TIEAWARE_FIRST, TIEAWARE_SECOND = 5, TIEAWARE_ROW = 9,
    TIEAWARE_NEARLY = 0, TIEAWARE_BEFORE, TIEAWARE_TIMES, TIEAWARE_OVER
};

/* Returns the index in the table at which the numbers of the decade of `size` begin. */
static inline int64_t tieaware_decade(const double *table, double size) {
    int64_t bits;
    memcpy(&bits, &size, sizeof bits);
    const int64_t row = (bits >> 52) * TIEAWARE_ROW;
    return row + (size >= table[row + TIEAWARE_FROM] ? TIEAWARE_SECOND : TIEAWARE_FIRST);
}

/* Returns the whole number that consists of the significant digits of `size`, for a number of this decade. */
static inline double tieaware_digits(double size, const double *table, int64_t decade) {
    const double times = table[decade + TIEAWARE_TIMES], over = table[decade + TIEAWARE_OVER];
    const double product = size * times, scaled = product / over, back = scaled * over;
    /* One of these errors is 0, because a factor is 1. */
    const double above = tieaware_product_error(size, times, product);
    const double below = back - product + tieaware_product_error(scaled, over, back);
    return tieaware_settle(scaled, tieaware_whole(scaled), above - below);
}

static inline double tieaware_coarse(double x, double whole, const double *table, int64_t decade, int64_t keys) {
    const double size = fabs(x);
    const double coarse = keys ? table[decade + TIEAWARE_BEFORE] + whole
                               : whole * table[decade + TIEAWARE_OVER] / table[decade + TIEAWARE_TIMES];
    return (size > 0.0) & (size < INFINITY) ? copysign(coarse, x) : x;
}

/* significant: rounds scores to significant digits. Returns how many scores it left, as for decimals. */
static inline int64_t tieaware_significant(const double *scores, ptrdiff_t n, const double *restrict table, int64_t keys,
                                           double *restrict out) {
    int64_t halves = 0, left = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const double x = scores[i], size = fabs(x);
        const int64_t decade = tieaware_decade(table, size);
        const double scaled = size * table[decade + TIEAWARE_NEARLY], whole = tieaware_whole(scaled);
        const double coarse = tieaware_coarse(x, whole, table, decade, keys);
        /* `scaled`, whose relative error is at most 2^-52, may be on the wrong side of a half. */
        halves += fabs(fabs(scaled - whole) - 0.5) <= 0x1p-51 * scaled;
        left += (coarse != coarse) & (x == x);
        out[i] = coarse;
    }
    if (halves)
        for (ptrdiff_t i = 0; i < n; i++) {
            const double x = scores[i], size = fabs(x);
            const int64_t decade = tieaware_decade(table, size);
            out[i] = tieaware_coarse(x, tieaware_digits(size, table, decade), table, decade, keys);
        }
    return left;
}

TIEAWARE_CLONES static int64_t tieaware_significant_values(const double *scores, ptrdiff_t n,
                                                           const double *restrict table, double *restrict out) {
    return tieaware_significant(scores, n, table, 0, out);
}

TIEAWARE_CLONES static int64_t tieaware_significant_keys(const double *scores, ptrdiff_t n,
                                                         const double *restrict table, double *restrict out) {
    return tieaware_significant(scores, n, table, 1, out);
}

/* extreme: extends the range from `low` to `high` so that it holds half of a score, if that is finite. */
static inline void tieaware_extreme(double score, double *low, double *high) {
    const double half = 0.5 * score;
    *low = (half < *low) & (half > -INFINITY) ? half : *low;
    *high = (half > *high) & (half < INFINITY) ? half : *high;
}

/* extremes: extends the range from `low` to `high` so that it holds the halves of all finite scores. (The difference of
 * two halves cannot overflow.) There are several ranges until the end, so that the inner loop is vectorised.
 */
TIEAWARE_CLONES static void tieaware_extremes(const double *restrict scores, ptrdiff_t n, double *low, double *high) {
    enum { RANGES = 32 };
    double lows[RANGES], highs[RANGES];
    ptrdiff_t i = 0;
    for (int r = 0; r < RANGES; r++) {
        lows[r] = *low;
        highs[r] = *high;
    }
    for (; i + RANGES <= n; i += RANGES)
        for (int r = 0; r < RANGES; r++) tieaware_extreme(scores[i + r], lows + r, highs + r);
    for (; i < n; i++) tieaware_extreme(scores[i], lows, highs);
    for (int r = 0; r < RANGES; r++) {
        *low = lows[r] < *low ? lows[r] : *low;
        *high = highs[r] > *high ? highs[r] : *high;
    }
}

/* levels: replaces each finite score by the number of its step between two halves of scores. */
TIEAWARE_CLONES static void tieaware_levels(const double *scores, ptrdiff_t n, double low, double high,
                                            double n_levels, double *restrict out) {
    const double range = high > low ? high - low : INFINITY;
    for (ptrdiff_t i = 0; i < n; i++) {
        /* Adding 0 makes the negative zero of the lowest level positive. */
        const double x = scores[i], step = floor((0.5 * x - low) / range * n_levels) + 0.0;
        const double level = step < n_levels - 1.0 ? step : n_levels - 1.0;
        out[i] = fabs(x) < INFINITY ? level : x;
    }
}

#endif
