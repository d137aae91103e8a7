/* Sums over tie groups for _expected.pyx, without branches that depend on the groups: the processor would mispredict them.
 *
 * The terms are computed several at a time and added one after the other, so any vectorisation gives the same bits.
 */
#ifndef TIEAWARE_EXPECTED_H
#define TIEAWARE_EXPECTED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/counting.h"

/* How many terms are computed at a time. */
enum { TIEAWARE_TERMS = 64 };

/* number: returns an integer from 0 to 2^52 as a double; unlike a conversion, this can be vectorised. */
static inline double tieaware_number(int64_t x) {
    const int64_t bits = x | INT64_C(0x4330000000000000);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number - 4503599627370496.0;
}

/* precisions: writes the terms of average precision for `count` groups, at most TIEAWARE_TERMS: (r/n) [(R+1) ΔH + a (m -
 * (t+1) ΔH)], see average_precision in _expected.pyx. R is before[g], and m is inside[g]. The double-double ΔH is the
 * difference of two prefix sums, `above` and `until`, each with its high numbers first.
 */
static TIEAWARE_CLONES void tieaware_precisions(const int64_t *start, const int64_t *size, const double *weight,
                                                const double *before, const int64_t *inside,
                                                const double (*above)[TIEAWARE_TERMS],
                                                const double (*until)[TIEAWARE_TERMS], int count,
                                                double *restrict terms) {
    for (int g = 0; g < count; g++) {
        const double r = weight[g], first = tieaware_number(start[g] + 1), n = tieaware_number(size[g]);
        const double m = tieaware_number(inside[g]);
        /* The difference, as two_sum computes it. */
        const double high = until[0][g] - above[0][g], back = high - until[0][g];
        double low = (until[0][g] - (high - back)) + (-above[0][g] - back);
        low += until[1][g] - above[1][g];
        /* The product (t+1) ΔH, as two_product computes it. */
        const double x = 134217729.0 * high, x1 = x - (x - high), x2 = high - x1;
        const double y = 134217729.0 * first, y1 = y - (y - first), y2 = first - y1;
        const double product = high * first, error = ((x1 * y1 - product) + x1 * y2 + x2 * y1) + x2 * y2;
        const double rest = ((m - product) - error) - first * low;
        const double a = (r - 1.0) / (n > 1.0 ? n - 1.0 : 1.0), sum = (before[g] + 1.0) * (high + low);
        const double part = r > 1.0 && m > 1.0 ? sum + a * rest : sum;
        /* Without unjudged documents, a group may be empty; then r is 0. */
        terms[g] = n <= 1.0 ? r * ((before[g] + 1.0) / first) : r / n * part;
    }
}

/* first_places: for the places x = first, first + 1, … of a group of n documents after t others, r of them relevant,
 * writes r / ((n-x+1) (t+x)) to `shares` and (n-x+1-r) / (n-x+1) to `stays`; see reciprocal_rank_by_terms.
 */
static TIEAWARE_CLONES void tieaware_first_places(int64_t t, int64_t n, double r, int64_t first, int count,
                                                  double *restrict shares, double *restrict stays) {
    const double left = (double)(n - first + 1), rank = (double)(t + first);
    for (int i = 0; i < count; i++) {
        const double rest = left - i;
        shares[i] = r / (rest * (rank + i));
        stays[i] = (rest - r) / rest;
    }
}

#endif
