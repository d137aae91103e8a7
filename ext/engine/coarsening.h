/* Loops that make scores coarser: rounding to binary formats, to decimals, to significant digits, and to levels.
 *
 * Every function rounds as if in one step, halfway cases to even, and gives the same bits with every instruction set:
 * it uses only operations whose results IEEE 754 defines exactly. NaN stays NaN, and infinities stay infinite.
 *
 * Rounding to decimals can write *keys* instead of values. A key is a whole number that grows with the coarse value and
 * is equal for equal coarse values. Keys need no division, and small keys are compared as floats, which is faster. Of
 * two lists that are compared, both must hold keys, or both values.
 */
#ifndef TIEAWARE_COARSENING_H
#define TIEAWARE_COARSENING_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/counting.h"

/* Large functions must be compiled for the instruction set of their caller, and so inside it. */
#if defined(TIEAWARE_GNU_C)
#define TIEAWARE_INLINE static inline __attribute__((always_inline))
#else
#define TIEAWARE_INLINE static inline
#endif

/* Scores are rounded in tiles of this many. A tile fits in the first-level cache. */
enum { TIEAWARE_COARSE_TILE = 1024 };

/* Adding this number to x and subtracting it again rounds x to a whole number, for |x| < TIEAWARE_MOST_SCALED. */
static const double TIEAWARE_WHOLE = 6755399441055744.0; /* 3 * 2^51 */
static const double TIEAWARE_MOST_SCALED = 2251799813685248.0; /* 2^51 */

static inline double tieaware_whole(double x) { return (x + TIEAWARE_WHOLE) - TIEAWARE_WHOLE; }

static inline uint64_t tieaware_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double tieaware_double(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Returns a number that is 0 or has the sign of x, with the sign of x. */
static inline double tieaware_signed(double number, double x) {
    return tieaware_double(tieaware_bits(number) | (tieaware_bits(x) & UINT64_C(1) << 63));
}

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

/* plain_decimals: does what decimals does, unless a score is near enough to a half, or so large, that it needs more
 * care: then returns a number other than 0.
 */
TIEAWARE_INLINE int64_t tieaware_plain_decimals(const double *restrict scores, ptrdiff_t n, double power, double most,
                                                int64_t keys, double *restrict out) {
    int64_t other = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const double x = scores[i], scaled = x * power, whole = tieaware_whole(scaled);
        other |= -(int64_t)((fabs(scaled - whole) == 0.5) | !(fabs(scaled) < most));
        out[i] = tieaware_signed(keys ? whole : whole / power, x);
    }
    return other;
}

/* decimals: rounds scores to multiples of 1/power, where power = 10^digits. If `exact`, the power has no rounding error.
 *
 * Returns how many scores it left because doubles do not suffice to round them. If it left any, the keys are unusable;
 * among the values, the scores that were left are NaN.
 */
TIEAWARE_INLINE int64_t tieaware_decimals(const double *restrict scores, ptrdiff_t n, double power, int64_t exact,
                                          int64_t keys, double *restrict out) {
    const double most = exact ? TIEAWARE_MOST_SCALED : 0.25;
    int64_t halves = 0, left = 0;
    if (!tieaware_plain_decimals(scores, n, power, most, keys, out)) return 0;
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

TIEAWARE_CLONES static int64_t tieaware_decimal_values(const double *restrict scores, ptrdiff_t n, double power,
                                                       int64_t exact, double *restrict out) {
    return tieaware_decimals(scores, n, power, exact, 0, out);
}

TIEAWARE_CLONES static int64_t tieaware_decimal_keys(const double *restrict scores, ptrdiff_t n, double power,
                                                     int64_t exact, double *restrict out) {
    return tieaware_decimals(scores, n, power, exact, 1, out);
}

/* How to round numbers of each decade, from 10^k up to 10^(k+1), to significant digits, in ascending order.
 *
 * from[d] is the least double of decade d. x * times[d] / over[d] has all its digits before the point, where both are
 * powers of ten, and one of them is 1. Both are NaN if doubles do not suffice, as in the first and the last decade.
 * first[e] is the decade of the lowest number with the biased exponent e. The other numbers with this exponent are in
 * that decade or the next.
 */
enum { TIEAWARE_DECADES = 47, TIEAWARE_EXPONENTS = 2048 };

typedef struct {
    double from[TIEAWARE_DECADES + 1], times[TIEAWARE_DECADES + 1], over[TIEAWARE_DECADES + 1];
    int64_t first[TIEAWARE_EXPONENTS];
} tieaware_decades;

/* nearly_significant: does what significant does, but unless `carefully`, it may round scores that are nearly halfway
 * to the wrong side. Writes to `near` how many scores are that.
 */
TIEAWARE_INLINE int64_t tieaware_nearly_significant(const double *restrict scores, ptrdiff_t n,
                                                    const tieaware_decades *restrict decades, int64_t carefully,
                                                    double *restrict out, int64_t *near) {
    int64_t left = 0, halves = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const double x = scores[i], size = fabs(x);
        const int64_t lowest = decades->first[tieaware_bits(size) >> 52];
        const int64_t decade = lowest + (size >= decades->from[lowest + 1]);
        const double times = decades->times[decade], over = decades->over[decade];
        const double product = size * times, scaled = product / over, back = scaled * over;
        double whole = tieaware_whole(scaled);
        /* One of these errors is 0, because a factor is 1. */
        if (carefully)
            whole = tieaware_settle(scaled, whole, tieaware_product_error(size, times, product) - (back - product) -
                                                       tieaware_product_error(scaled, over, back));
        const double coarse = (size == 0.0) | (size == INFINITY) ? x : copysign(whole * over / times, x);
        /* The relative error of `scaled` is at most 2^-53. */
        halves += fabs(fabs(scaled - whole) - 0.5) <= 0x1p-51 * scaled;
        left += (coarse != coarse) & (x == x);
        out[i] = coarse;
    }
    *near = halves;
    return left;
}

/* significant: rounds scores to significant digits. Returns how many scores it left, as for decimals. */
TIEAWARE_CLONES static int64_t tieaware_significant(const double *restrict scores, ptrdiff_t n,
                                                    const tieaware_decades *restrict decades, double *restrict out) {
    int64_t near, left = tieaware_nearly_significant(scores, n, decades, 0, out, &near);
    return near ? tieaware_nearly_significant(scores, n, decades, 1, out, &near) : left;
}

/* extreme: extends the range from `low` to `high` so that it holds half of a score, if that is finite. */
static inline void tieaware_extreme(double score, double *low, double *high) {
    const double half = 0.5 * score;
    *low = (half < *low) & (half > -INFINITY) ? half : *low;
    *high = (half > *high) & (half < INFINITY) ? half : *high;
}

/* range: finds the least and the greatest of n scores that are not NaN. There are several ranges until the end, so that
 * the inner loop is vectorised.
 */
TIEAWARE_CLONES static void tieaware_range(const double *restrict scores, ptrdiff_t n, double *low, double *high) {
    enum { RANGES = 32 };
    double lows[RANGES], highs[RANGES];
    ptrdiff_t i = 0;
    for (int r = 0; r < RANGES; r++) {
        lows[r] = INFINITY;
        highs[r] = -INFINITY;
    }
    for (; i + RANGES <= n; i += RANGES)
        for (int r = 0; r < RANGES; r++) {
            const double x = scores[i + r];
            lows[r] = x < lows[r] ? x : lows[r];
            highs[r] = x > highs[r] ? x : highs[r];
        }
    for (; i < n; i++) {
        lows[0] = scores[i] < lows[0] ? scores[i] : lows[0];
        highs[0] = scores[i] > highs[0] ? scores[i] : highs[0];
    }
    for (int r = 1; r < RANGES; r++) {
        lows[0] = lows[r] < lows[0] ? lows[r] : lows[0];
        highs[0] = highs[r] > highs[0] ? highs[r] : highs[0];
    }
    *low = lows[0];
    *high = highs[0];
}

/* extremes: extends the range from `low` to `high` so that it holds the halves of all finite scores. (The difference of
 * two halves cannot overflow.) Returns whether a score is infinite.
 */
static int64_t tieaware_extremes(const double *restrict scores, ptrdiff_t n, double *low, double *high) {
    double least, most;
    tieaware_range(scores, n, &least, &most);
    if (least > -INFINITY && most < INFINITY) {
        tieaware_extreme(least, low, high);
        tieaware_extreme(most, low, high);
        return 0;
    }
    for (ptrdiff_t i = 0; i < n; i++) tieaware_extreme(scores[i], low, high);
    return least == -INFINITY || most == INFINITY;
}

/* plain_levels: writes the number of the step of each score above the finite score `low`, where 1/scale is the width of
 * a step, and none of these numbers is extremely large or small. Numbers are limited to those of the steps of the numbers
 * `first` and `last`. `far` is the greatest distance from the middle of a step at which the error of a number cannot
 * matter: returns a number other than 0 if one is further away.
 */
TIEAWARE_CLONES static int64_t tieaware_plain_levels(const double *restrict scores, ptrdiff_t n, double low,
                                                     double scale, double first, double last, double far,
                                                     double *restrict out) {
    int64_t near = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const double exact = (scores[i] - low) * scale;
        /* These choices keep a NaN, and the compiler has an instruction for each. */
        const double limited = last < exact ? last : exact, step = first > limited ? first : limited;
        const double level = floor(step);
        near |= -(int64_t)(fabs(step - level - 0.5) > far);
        out[i] = level;
    }
    return near;
}

/* levels: replaces each finite score by the number of its step between two halves of scores. */
TIEAWARE_CLONES static void tieaware_divided_levels(const double *scores, ptrdiff_t n, double low, double high,
                                            double n_levels, double *restrict out) {
    const double range = high > low ? high - low : INFINITY;
    for (ptrdiff_t i = 0; i < n; i++) {
        /* Adding 0 makes the negative zero of the lowest level positive. */
        const double x = scores[i], step = floor((0.5 * x - low) / range * n_levels) + 0.0;
        const double level = step < n_levels - 1.0 ? step : n_levels - 1.0;
        out[i] = fabs(x) < INFINITY ? level : x;
    }
}

/* levels: does the same, where `finite` says that all scores are finite or NaN. */
static void tieaware_levels(const double *restrict scores, ptrdiff_t n, double low, double high, int64_t finite,
                            double n_levels, double *restrict out) {
    const double range = high - low, scale = 0.5 * (n_levels / range);
    /* The relative error of a step is below 2^-50. It cannot matter at the ends of the range, where an edge of a step may
     * be, so numbers are limited to the middle of the first and the last step.
     */
    if (finite && range > 0x1p-900 && range < 0x1p900 && n_levels < 0x1p40 &&
        !tieaware_plain_levels(scores, n, 2.0 * low, scale, 0.5, n_levels - 0.5, 0.5 - 0x1p-50 * n_levels, out))
        return;
    tieaware_divided_levels(scores, n, low, high, n_levels, out);
}

#endif
