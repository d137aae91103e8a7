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

/* How to round numbers of one decade, from 10^k up to 10^(k+1), to significant digits.
 *
 * `from` is the least double of the decade. x * times / over has all its digits before the point, where times and over
 * are powers of ten, and one of them is 1. `nearly` is times / over, rounded. `before` is the key of 10^k, minus the
 * whole number that consists of the digits of 10^k. All but `from` are NaN if doubles do not suffice.
 */
typedef struct {
    double from, nearly, before, times, over;
} tieaware_decade;

/* The decades in ascending order; doubles do not suffice for the first and the last of them. first[e] is the decade of
 * the lowest number with the biased exponent e. The other numbers with this exponent are in that decade or the next.
 */
enum { TIEAWARE_DECADES = 47, TIEAWARE_EXPONENTS = 2048 };

typedef struct {
    tieaware_decade decade[TIEAWARE_DECADES + 1];
    int64_t first[TIEAWARE_EXPONENTS];
} tieaware_decades;

static inline const tieaware_decade *tieaware_decade_of(const tieaware_decades *decades, double size) {
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    const tieaware_decade *decade = decades->decade + decades->first[bits >> 52];
    return decade + (size >= decade[1].from);
}

/* Returns the whole number that consists of the significant digits of `size`. */
TIEAWARE_INLINE double tieaware_digits(double size, double times, double over) {
    const double product = size * times, scaled = product / over, back = scaled * over;
    /* One of these errors is 0, because a factor is 1. */
    const double above = tieaware_product_error(size, times, product);
    const double below = back - product + tieaware_product_error(scaled, over, back);
    return tieaware_settle(scaled, tieaware_whole(scaled), above - below);
}

/* The scores of a tile are mostly in this many decades or fewer. Choosing one of a few is faster than looking it up. */
enum { TIEAWARE_WINDOW = 4 };

/* The bits in which the numbers of a decade differ from those of the decade before it, and the least number of the
 * decade. Changing these bits in the numbers of a score, if it reaches the decade, needs no branch.
 */
typedef struct {
    double from;
    uint64_t nearly, before, times, over;
} tieaware_step;

static inline tieaware_step tieaware_step_to(const tieaware_decade *decade) {
    return (tieaware_step){
        decade->from,
        tieaware_bits(decade->nearly) ^ tieaware_bits(decade[-1].nearly),
        tieaware_bits(decade->before) ^ tieaware_bits(decade[-1].before),
        tieaware_bits(decade->times) ^ tieaware_bits(decade[-1].times),
        tieaware_bits(decade->over) ^ tieaware_bits(decade[-1].over),
    };
}

/* Steps to a decade if `size` reaches it. */
static inline void tieaware_reach(tieaware_step *numbers, double size, tieaware_step step) {
    const uint64_t reached = 0 - (uint64_t)(size >= step.from);
    numbers->nearly ^= reached & step.nearly;
    numbers->before ^= reached & step.before;
    numbers->times ^= reached & step.times;
    numbers->over ^= reached & step.over;
}

/* significant_near: rounds scores to significant digits if they are at least window[0].from; all scores must be below
 * the decade after the window. If not `carefully`, scores near a half may be rounded to the wrong side: returns how many
 * scores are near one.
 */
TIEAWARE_INLINE int64_t tieaware_significant_near(const double *restrict scores, ptrdiff_t n,
                                                const tieaware_decade *window, int64_t keys, int64_t carefully,
                                                double *restrict out) {
    const uint64_t nearly_0 = tieaware_bits(window->nearly), before_0 = tieaware_bits(window->before);
    const uint64_t times_0 = tieaware_bits(window->times), over_0 = tieaware_bits(window->over);
    const tieaware_step b = tieaware_step_to(window + 1), c = tieaware_step_to(window + 2);
    const tieaware_step d = tieaware_step_to(window + 3);
    int64_t near = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const double x = scores[i], size = fabs(x);
        tieaware_step numbers = {0.0, nearly_0, before_0, times_0, over_0};
        tieaware_reach(&numbers, size, b);
        tieaware_reach(&numbers, size, c);
        tieaware_reach(&numbers, size, d);
        const double nearly = tieaware_double(numbers.nearly), before = tieaware_double(numbers.before);
        const double times = tieaware_double(numbers.times), over = tieaware_double(numbers.over);
        const double scaled = size * nearly;
        const double whole = carefully ? tieaware_digits(size, times, over) : tieaware_whole(scaled);
        const double coarse = keys ? before + whole : whole * over / times;
        /* The relative error of `scaled` is at most 2^-52. */
        near += fabs(fabs(scaled - whole) - 0.5) <= 0x1p-51 * scaled;
        out[i] = size == 0.0 ? x : copysign(coarse, x);
    }
    return near;
}

/* below: counts the scores below a limit that are not 0. largest: returns the largest finite absolute value. */
TIEAWARE_INLINE int64_t tieaware_below(const double *scores, ptrdiff_t n, double limit) {
    int64_t below = 0;
    for (ptrdiff_t i = 0; i < n; i++) below += (fabs(scores[i]) < limit) & (scores[i] != 0.0);
    return below;
}

TIEAWARE_INLINE double tieaware_largest(const double *scores, ptrdiff_t n) {
    enum { LANES = 32 };
    double largest[LANES] = {0.0};
    ptrdiff_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            const double size = fabs(scores[i + lane]);
            largest[lane] = size > largest[lane] ? size : largest[lane];
        }
    for (; i < n; i++) largest[0] = fabs(scores[i]) > largest[0] ? fabs(scores[i]) : largest[0];
    for (int lane = 1; lane < LANES; lane++) largest[0] = largest[lane] > largest[0] ? largest[lane] : largest[0];
    if (largest[0] < INFINITY) return largest[0];
    largest[0] = 0.0;
    for (i = 0; i < n; i++) {
        const double size = fabs(scores[i]);
        largest[0] = (size > largest[0]) & (size < INFINITY) ? size : largest[0];
    }
    return largest[0];
}

/* window_of: returns the window that ends with the decade of the largest finite score. */
TIEAWARE_INLINE const tieaware_decade *tieaware_window_of(const double *scores, ptrdiff_t n,
                                                          const tieaware_decades *decades) {
    const tieaware_decade *last = tieaware_decade_of(decades, tieaware_largest(scores, n));
    return last - decades->decade < TIEAWARE_WINDOW ? decades->decade : last - (TIEAWARE_WINDOW - 1);
}

/* significant: rounds scores to significant digits. Returns how many scores it left, as for decimals. */
TIEAWARE_INLINE int64_t tieaware_significant(const double *restrict scores, ptrdiff_t n, const tieaware_decades *decades,
                                           int64_t keys, double *restrict out) {
    const tieaware_decade *window = tieaware_window_of(scores, n, decades);
    int64_t below, left = 0;
    if (tieaware_significant_near(scores, n, window, keys, 0, out))
        tieaware_significant_near(scores, n, window, keys, 1, out);
    below = tieaware_below(scores, n, window->from);
    if (below)
        for (ptrdiff_t i = 0; i < n; i++) {
            const double size = fabs(scores[i]);
            if ((size < window->from) & (size > 0.0)) {
                const tieaware_decade *decade = tieaware_decade_of(decades, size);
                const double whole = tieaware_digits(size, decade->times, decade->over);
                out[i] = copysign(keys ? decade->before + whole : whole * decade->over / decade->times, scores[i]);
            }
        }
    if (below || window->nearly != window->nearly ||
        window[TIEAWARE_WINDOW - 1].nearly != window[TIEAWARE_WINDOW - 1].nearly)
        for (ptrdiff_t i = 0; i < n; i++) left += (out[i] != out[i]) & (scores[i] == scores[i]);
    return left;
}

/* The factors of a window by which numbers are multiplied, and then divided, to round them to significant digits; and
 * the least distance from a whole number at which the product may be rounded to the wrong side of a half.
 */
typedef struct {
    double factor[TIEAWARE_WINDOW], from[TIEAWARE_WINDOW + 1], nearly_half;
} tieaware_factors;

static inline tieaware_factors tieaware_factors_of(const tieaware_decade *window, double power) {
    tieaware_factors factors;
    for (int i = 0; i < TIEAWARE_WINDOW; i++) factors.factor[i] = window[i].times;
    for (int i = 0; i <= TIEAWARE_WINDOW; i++) factors.from[i] = window[i].from;
    /* The products are below power, and their relative error is below 2^-52. */
    factors.nearly_half = 0.5 - 0x1p-51 * power;
    return factors;
}

/* Returns the rounded score. Writes a number that is negative if the score is outside the window or near a half: then
 * the returned number is meaningless. The bits of positive doubles are in the order of the doubles.
 */
TIEAWARE_INLINE double tieaware_by_factor(double x, tieaware_factors factors, int64_t *other) {
    const double size = fabs(x);
    const double a = size >= factors.from[1] ? factors.factor[1] : factors.factor[0];
    const double b = size >= factors.from[2] ? factors.factor[2] : a;
    const double factor = size >= factors.from[3] ? factors.factor[3] : b;
    const double scaled = x * factor, whole = tieaware_whole(scaled);
    const uint64_t near = tieaware_bits(factors.nearly_half - fabs(scaled - whole));
    const uint64_t below = tieaware_bits(size) - tieaware_bits(factors.from[0]);
    const uint64_t above = tieaware_bits(factors.from[4]) - 1 - tieaware_bits(size);
    *other = (int64_t)(near | below | above);
    return whole / factor;
}

/* digits_of: returns a score, rounded to significant digits; NaN if doubles do not suffice. */
static inline double tieaware_digits_of(double x, const tieaware_decades *decades) {
    const double size = fabs(x);
    const tieaware_decade *decade = tieaware_decade_of(decades, size);
    if (!((size > 0.0) & (size < INFINITY))) return x;
    return copysign(tieaware_digits(size, decade->times, decade->over) * decade->over / decade->times, x);
}

/* significant_by_factor: rounds scores to significant digits, those of the window fast. Returns how many scores it left,
 * as for decimals; or -1 if significant is faster, because many scores are outside the window or near a half.
 */
TIEAWARE_CLONES static int64_t tieaware_significant_by_factor(const double *restrict scores, ptrdiff_t n,
                                                              const tieaware_decades *decades,
                                                              tieaware_factors factors, double *restrict out) {
    enum { LANES = 64 };
    int64_t most = n / 16, left = 0;
    for (ptrdiff_t from = 0; from < n; from += LANES) {
        const ptrdiff_t to = from + LANES < n ? from + LANES : n;
        int64_t other, others = 0;
        for (ptrdiff_t i = from; i < to; i++) {
            out[i] = tieaware_by_factor(scores[i], factors, &other);
            others |= other;
        }
        for (ptrdiff_t i = others < 0 ? from : to; i < to; i++) {
            tieaware_by_factor(scores[i], factors, &other);
            if (other >= 0) continue;
            if (most-- == 0) return -1;
            out[i] = tieaware_digits_of(scores[i], decades);
            left += (out[i] != out[i]) & (scores[i] == scores[i]);
        }
    }
    return left;
}

TIEAWARE_CLONES static int64_t tieaware_all_significant(const double *restrict scores, ptrdiff_t n,
                                                        const tieaware_decades *decades,
                                                        const tieaware_decade **window, double *restrict out) {
    *window = tieaware_window_of(scores, n, decades);
    return tieaware_significant(scores, n, decades, 0, out);
}

/* significant_values: rounds a tile of scores to significant digits. Returns how many scores it left, as for decimals.
 * `power` is 10^digits. `window` is that of the tile before, at first the decades; it becomes that of this tile, or NULL
 * if most scores of both tiles are outside.
 */
static int64_t tieaware_significant_values(const double *restrict scores, ptrdiff_t n, const tieaware_decades *decades,
                                           double power, const tieaware_decade **window, double *restrict out) {
    const tieaware_decade *before = *window;
    int64_t left;
    /* Outside these windows, numbers are divided before they are rounded. Of the first and last decade, `over` is NaN. */
    if (before != NULL && before[0].over == 1.0 && before[TIEAWARE_WINDOW - 1].over == 1.0) {
        left = tieaware_significant_by_factor(scores, n, decades, tieaware_factors_of(before, power), out);
        if (left >= 0) return left;
    }
    left = tieaware_all_significant(scores, n, decades, window, out);
    if (before == NULL || before == *window) *window = NULL;
    return left;
}

TIEAWARE_CLONES static int64_t tieaware_significant_keys(const double *restrict scores, ptrdiff_t n,
                                                         const tieaware_decades *decades, double *restrict out) {
    return tieaware_significant(scores, n, decades, 1, out);
}

/* Keys of scores with at most this many significant digits are whole numbers that a float represents. */
enum { TIEAWARE_FLOAT_DIGITS = 5 };

/* float_keys_from: writes the keys of the scores from window[0] on. If `again`, leaves the keys of scores from `end` on.
 * A score that is lower than the window, or that may be rounded to the wrong side of a half, gets NaN instead of a key;
 * returns how many would if there were no `end`. `power` is 10^digits.
 *
 * As long as it is not rounded, a key is a continuous function of the size of a score. It is a line over each decade,
 * and ten times as steep as over the next decade. So the least of the lines of all decades is the line of the decade of
 * the score, which therefore need not be looked up.
 */
TIEAWARE_INLINE int64_t tieaware_float_keys_from(const double *restrict scores, ptrdiff_t n,
                                                 const tieaware_decade *window, int64_t again, double end,
                                                 double power, float *restrict out) {
    const double slope_a = window[0].nearly, slope_b = window[1].nearly, slope_c = window[2].nearly;
    const double slope_d = window[3].nearly, from = window->from, before = window->before;
    /* The number of keys of a decade. */
    const double decade = window[1].before - before;
    /* Near the least line, `exact` is at most 4 * power, and its relative error is at most 2^-51. */
    const double nearly_half = 0.5 - 0x1p-49 * power;
    const uint64_t sign = UINT64_C(1) << 63;
    int64_t without = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const double x = scores[i], size = fabs(x);
        const double a = size * slope_a, b = size * slope_b + decade;
        const double c = size * slope_c + 2.0 * decade, d = size * slope_d + 3.0 * decade;
        const double low = a < b ? a : b, high = c < d ? c : d, exact = low < high ? low : high;
        const double whole = tieaware_whole(exact), key = before + whole;
        const uint64_t is_without = (fabs(exact - whole) >= nearly_half) | (size < from);
        /* The key gets the sign of the score. With all bits set, it is NaN. */
        const uint64_t bits = tieaware_bits(key) | (tieaware_bits(x) & sign) | (0 - is_without);
        const float written = (float)tieaware_double(bits);
        without += (int64_t)is_without;
        out[i] = again && size >= end ? out[i] : written;
    }
    return without;
}

/* float_key: returns the key of a score; NaN if doubles do not suffice to round it. */
static inline float tieaware_float_key(double x, const tieaware_decades *decades) {
    const double size = fabs(x);
    const tieaware_decade *decade = tieaware_decade_of(decades, size);
    if (size == 0.0) return (float)x;
    return (float)copysign(decade->before + tieaware_digits(size, decade->times, decade->over), x);
}

/* significant_float_keys: writes the keys of scores as floats, for at most TIEAWARE_FLOAT_DIGITS significant digits.
 * Returns how many scores it left, as for decimals.
 */
TIEAWARE_CLONES static int64_t tieaware_significant_float_keys(const double *restrict scores, ptrdiff_t n,
                                                               const tieaware_decades *decades, double power,
                                                               float *restrict out) {
    enum { LANES = 32 };
    /* Doubles suffice from the decade `first` to that before the decade `last`. */
    const tieaware_decade *first = decades->decade + 1, *last = decades->decade + TIEAWARE_DECADES - 1;
    const double largest = tieaware_largest(scores, n);
    const tieaware_decade *window = tieaware_decade_of(decades, largest);
    const int64_t many = n / 16;
    int64_t without, left = 0;
    if (window == last) return 1;
    window = window - first < TIEAWARE_WINDOW ? first : window - (TIEAWARE_WINDOW - 1);
    without = tieaware_float_keys_from(scores, n, window, 0, INFINITY, power, out);
    /* Many scores below the window are worth another pass. */
    while (many < without && window > first && many < tieaware_below(scores, n, window->from)) {
        const double end = window->from;
        window = window - first > TIEAWARE_WINDOW ? window - TIEAWARE_WINDOW : first;
        tieaware_float_keys_from(scores, n, window, 1, end, power, out);
    }
    if (many < without)
        for (ptrdiff_t i = 0; i < n; i++) out[i] = scores[i] == 0.0 ? 0.0f : out[i];
    if (without)
        for (ptrdiff_t from = 0; from < n; from += LANES) {
            const ptrdiff_t to = from + LANES < n ? from + LANES : n;
            int32_t some = 0;
            for (ptrdiff_t i = from; i < to; i++) some += out[i] != out[i];
            for (ptrdiff_t i = some ? from : to; i < to; i++)
                if (out[i] != out[i]) {
                    out[i] = tieaware_float_key(scores[i], decades);
                    left += (out[i] != out[i]) & (scores[i] == scores[i]);
                }
        }
    return left;
}

/* extreme: extends the range from `low` to `high` so that it holds half of a score, if that is finite. */
static inline void tieaware_extreme(double score, double *low, double *high) {
    const double half = 0.5 * score;
    *low = (half < *low) & (half > -INFINITY) ? half : *low;
    *high = (half > *high) & (half < INFINITY) ? half : *high;
}

/* extremes: extends the range from `low` to `high` so that it holds the halves of all finite scores. (The difference of
 * two halves cannot overflow.) Returns whether a score is infinite. There are several ranges until the end, so that the
 * inner loop is vectorised.
 */
TIEAWARE_CLONES static int64_t tieaware_extremes(const double *restrict scores, ptrdiff_t n, double *low,
                                                 double *high) {
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
    if (lows[0] > -INFINITY && highs[0] < INFINITY) {
        tieaware_extreme(lows[0], low, high);
        tieaware_extreme(highs[0], low, high);
        return 0;
    }
    for (i = 0; i < n; i++) tieaware_extreme(scores[i], low, high);
    return lows[0] == -INFINITY || highs[0] == INFINITY;
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
