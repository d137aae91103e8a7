/* Loops over the crossings of one document's line, a_u + t d_u, with the lines of other documents of its list.
 *
 * The first loop divides once for each document and finds out on which side of the bounds the crossing is. The second
 * one rounds the crossings between the bounds correctly, all but about one in a million, which it marks as doubtful.
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

typedef struct {
    double a[TIEAWARE_CROSSED], d[TIEAWARE_CROSSED], t[TIEAWARE_CROSSED];
    int64_t sure[TIEAWARE_CROSSED];
    double near[TIEAWARE_CROSSED];
} tieaware_tile;

/* cross: returns how many documents of a tile are above u just after t = low, if no crossing is within `tile->a` and
 * `tile->d`, into which the documents are written whose approximate crossing is between low and high. Adds to `same`
 * how many documents have the same line as u. n is at most TIEAWARE_CROSSED.
 */
TIEAWARE_CLONES static int64_t tieaware_cross(const double *a, const double *d, ptrdiff_t n, double a_u, double d_u,
                                              double low, double high, tieaware_tile *tile, ptrdiff_t *count,
                                              int64_t *same) {
    int64_t above = 0, equal = 0;
    ptrdiff_t kept = 0;
    for (ptrdiff_t j = 0; j < n; j++) {
        const double fall = d_u - d[j], rise = a[j] - a_u, t = rise / fall;
        /* Before the crossing, the document with the smaller d is above the other. */
        const int64_t early = t < low, parallel = fall == 0.0;
        above += (parallel & (rise > 0.0)) | (early & (fall < 0.0)) | ((early ^ 1) & (fall > 0.0));
        equal += parallel & (rise == 0.0);
        tile->near[j] = parallel ? (double)NAN : t;
    }
    for (ptrdiff_t j = 0; j < n; j++) {
        tile->a[kept] = a[j];
        tile->d[kept] = d[j];
        kept += (tile->near[j] >= low) & (tile->near[j] <= high);
    }
    *count = kept;
    *same += equal;
    return above;
}

/* round_crossings: writes into tile->t the crossings of u with the `count` documents of tile->a and tile->d, rounded
 * correctly where tile->sure is not 0.
 *
 * The quotient q of the rounded differences is corrected by the rest of the division, in double-double arithmetic. The
 * sum is rounded correctly unless it is next to the middle between two doubles: halfway to the next one, or a quarter
 * of that below a power of two.
 */
TIEAWARE_CLONES static void tieaware_round_crossings(double a_u, double d_u, ptrdiff_t count, tieaware_tile *tile) {
    for (ptrdiff_t j = 0; j < count; j++) {
        const double a_j = tile->a[j], d_j = tile->d[j];
        const double n = a_j - a_u, d = d_u - d_j;
        double part = n - a_j;
        const double n_low = (a_j - (n - part)) + (-a_u - part);
        part = d - d_u;
        const double d_low = (d_u - (d - part)) + (-d_j - part);
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
        const int64_t exact = (n_low == 0.0) & (d_low == 0.0);
        const int64_t clear = (fabs(off - 0.5 * gap) > doubt) & (fabs(off - 0.25 * gap) > doubt);
        /* Otherwise products overflow, or underflow so that digits are lost. */
        const int64_t normal = (fabs(n) > 1e-250) & (size > 1e-290) & (size < 1e290);
        tile->t[j] = exact ? q : t;
        tile->sure[j] = exact | (clear & normal);
    }
}

#endif
