/* Loops over the crossings of one document's line, a_u + t d_u, with the lines of other documents of its list.
 *
 * Directions are sums of two doubles, d + e, as the difference of two systems' scores is. The first loop divides once
 * for each document and finds out on which side of the bounds the crossing is. The second one rounds the crossings
 * between the bounds correctly, all but about one in a million, which it marks as doubtful.
 */
#ifndef TIEAWARE_CROSSINGS_H
#define TIEAWARE_CROSSINGS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/counting.h"

/* A list is read in tiles of this many documents. The arrays of a tile fit in the first-level cache. */
enum { TIEAWARE_CROSSED = 512 };

/* The crossings are counted, and their units numbered, with 32 bits. */
static const ptrdiff_t TIEAWARE_MOST_CROSSINGS = (ptrdiff_t)UINT32_MAX;

typedef struct {
    double a[TIEAWARE_CROSSED], d[TIEAWARE_CROSSED], e[TIEAWARE_CROSSED], fall[TIEAWARE_CROSSED], t[TIEAWARE_CROSSED];
    int64_t sure[TIEAWARE_CROSSED];
} tieaware_tile;

/* The bounds of a line of scores. Intervals that are narrower than `width` + `relative` |t| do not count. `far` is the
 * larger distance of a finite bound from 0, or 0.
 */
typedef struct {
    double low, high, width, relative, far;
} tieaware_bounds;

/* The difference of two sums of two doubles, (d_u + e_u) - (d_j + e_j), as a sum of two: its relative error is about
 * 2^-104, although both may nearly be equal.
 */
static inline double tieaware_fall(double d_u, double e_u, double d_j, double e_j, double *low) {
    const double s = d_u - d_j, p = e_u - e_j;
    double part = s - d_u;
    const double s_low = (d_u - (s - part)) + (-d_j - part);
    part = p - e_u;
    const double p_low = (e_u - (p - part)) + (-e_j - part);
    const double x = s + p;
    part = x - s;
    const double x_low = (s - (x - part)) + (p - part), rest = x_low + (s_low + p_low), fall = x + rest;
    *low = rest - (fall - x);
    return fall;
}

/* cross: returns how many documents of a tile are above u just after t = low, if no crossing is within `tile->a`, `tile->d`
 * and `tile->e`, into which the documents are written whose approximate crossing is between low and high. Adds to `same`
 * how many documents have the same line as u, and to `blurred` how many have a line so close to it that rounded scores
 * may confuse the order of the two in an interval that counts. n is at most TIEAWARE_CROSSED.
 *
 * A score at t is rounded by at most 2^-52 (|a| + |t d|), and by the smallest number, whether it is computed as a + t d
 * or as (1 - t) a + t b.
 */
TIEAWARE_CLONES static int64_t tieaware_cross(const double *a, const double *d, const double *e, ptrdiff_t n, double a_u,
                                              double d_u, double e_u, const tieaware_bounds *bounds,
                                              tieaware_tile *tile, ptrdiff_t *count, int64_t *same, int64_t *blurred) {
    const double low = bounds->low, high = bounds->high, width = bounds->width, relative = bounds->relative;
    const double far = bounds->far;
    int64_t above = 0, equal = 0, unclear = 0;
    ptrdiff_t kept = 0;
    for (ptrdiff_t j = 0; j < n; j++) {
        double fall_low;
        const double fall = tieaware_fall(d_u, e_u, d[j], e[j], &fall_low), rise = a[j] - a_u, t = rise / fall;
        /* Before the crossing, the document with the smaller d is above the other. */
        const int64_t early = t < low, parallel = fall == 0.0, equal_starts = rise == 0.0;
        above += (parallel & (rise > 0.0)) | (early & (fall < 0.0)) | ((early ^ 1) & (fall > 0.0));
        equal += parallel & equal_starts;
        tile->fall[j] = fall;
        tile->t[j] = parallel ? (double)NAN : t;
        /* The t nearest to the crossing, and how far rounding moves two scores there. */
        const double within = t < low ? low : t > high ? high : t, at = parallel ? far : within;
        const double rounding = 0x1p-51 * (fabs(a[j]) + fabs(a_u) + fabs(at) * (fabs(d[j]) + fabs(d_u))) + 0x1p-1072;
        unclear += (fabs(rise - at * fall) <= rounding) & (0.25 * fabs(fall) * (width + relative * fabs(at)) <= rounding) &
                   ((parallel & equal_starts) ^ 1);
    }
    for (ptrdiff_t j = 0; j < n; j++) {
        const double t = tile->t[j];
        tile->a[kept] = a[j];
        tile->d[kept] = d[j];
        tile->e[kept] = e[j];
        tile->fall[kept] = tile->fall[j];
        kept += (t >= low) & (t <= high);
    }
    *count = kept;
    *same += equal;
    *blurred += unclear;
    return above;
}

/* round_crossings: writes into tile->t the crossings of u with the `count` documents of tile->a, tile->d and tile->e,
 * rounded correctly where tile->sure is not 0.
 *
 * The quotient q of the rounded differences is corrected by the rest of the division, in double-double arithmetic. The
 * sum is rounded correctly unless it is next to the middle between two doubles: halfway to the next one, or a quarter
 * of that below a power of two.
 */
TIEAWARE_CLONES static void tieaware_round_crossings(double a_u, double d_u, double e_u, ptrdiff_t count,
                                                     tieaware_tile *tile) {
    for (ptrdiff_t j = 0; j < count; j++) {
        const double a_j = tile->a[j];
        const double n = a_j - a_u;
        double part = n - a_j, d_low;
        const double n_low = (a_j - (n - part)) + (-a_u - part);
        const double d = tieaware_fall(d_u, e_u, tile->d[j], tile->e[j], &d_low);
        const double q = n / d;
        /* q * d, exactly (Dekker). */
        part = 134217729.0 * q;
        const double q1 = part - (part - q), q2 = q - q1;
        part = 134217729.0 * d;
        const double d1 = part - (part - d), d2 = d - d1;
        const double p = q * d, p_low = ((q1 * d1 - p) + q1 * d2 + q2 * d1) + q2 * d2;
        const double rest = ((n - p) + (n_low - p_low)) - q * d_low;
        const double lacks = rest / d, t = q + lacks, t_low = lacks - (t - q);
        uint64_t bits;
        memcpy(&bits, &t, 8);
        bits &= UINT64_C(0x7ff0000000000000);
        double power;
        memcpy(&power, &bits, 8);
        const double gap = power * 0x1p-52, doubt = gap * 1e-6, off = fabs(t_low), size = fabs(t);
        /* With directions of one double each, d + d_low is exact. */
        const int64_t exact = (n_low == 0.0) & (d_low == 0.0) & (e_u == 0.0) & (tile->e[j] == 0.0);
        const int64_t clear = (fabs(off - 0.5 * gap) > doubt) & (fabs(off - 0.25 * gap) > doubt);
        /* Otherwise products overflow, or underflow so that digits are lost. */
        const int64_t normal = (fabs(n) > 1e-250) & (size > 1e-290) & (size < 1e290);
        tile->t[j] = exact ? q : t;
        tile->sure[j] = exact | (clear & normal);
    }
}

/* reaching: marks in `reaches` the documents of a list that may be among the first `depth` for some t between low and
 * high.
 *
 * The directions (1, t) between these are divided into PIECES of equal angles, so that bounds may be infinite. Within a
 * piece, a score lies between its values at both ends. A document is left out if, in every piece, its larger value is
 * below the smaller values of `depth` documents, by more than rounding. No document is left out if `depth` is above
 * MOST_REACHED. The scratch arrays `before` and `after` have a score for each document.
 */
enum { TIEAWARE_PIECES = 16, TIEAWARE_MOST_REACHED = 128 };

TIEAWARE_CLONES static void tieaware_reaching(const double *a, const double *d, ptrdiff_t n, double low, double high,
                                              int64_t depth, double *restrict before, double *restrict after,
                                              uint8_t *restrict reaches) {
    double most_a = 0.0, most_d = 0.0, first[TIEAWARE_MOST_REACHED];
    for (ptrdiff_t j = 0; j < n; j++) {
        most_a = fmax(most_a, fabs(a[j]));
        most_d = fmax(most_d, fabs(d[j]));
    }
    const double scale = most_a / most_d, least = atan(low / scale);
    const double step = (atan(high / scale) - least) / TIEAWARE_PIECES;
    const int all = n <= depth || depth > TIEAWARE_MOST_REACHED || !(scale > 0.0) || !isfinite(scale);
    memset(reaches, all, n);
    if (all) return;
    for (int piece = 0; piece <= TIEAWARE_PIECES; piece++) {
        const double x = cos(least + piece * step), y = scale * sin(least + piece * step);
        for (ptrdiff_t j = 0; j < n; j++) after[j] = x * a[j] + y * d[j];
        if (piece > 0) {
            /* `first` has the largest of the smaller values, ascending. */
            for (ptrdiff_t k = 0; k < depth; k++) first[k] = -INFINITY;
            for (ptrdiff_t j = 0; j < n; j++) {
                const double smaller = before[j] < after[j] ? before[j] : after[j];
                if (smaller <= first[0]) continue;
                ptrdiff_t k = 1;
                for (; k < depth && first[k] < smaller; k++) first[k - 1] = first[k];
                first[k - 1] = smaller;
            }
            const double limit = first[0] - 1e-12 * most_a;
            for (ptrdiff_t j = 0; j < n; j++) reaches[j] |= (before[j] >= limit) | (after[j] >= limit);
        }
        memcpy(before, after, n * sizeof(double));
    }
}

#endif
