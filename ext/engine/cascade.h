/* A document more, the i-th, in a group of tied documents that a user reads, who goes on beyond it with the chance q.
 *
 * Of ranks x <= m, each array has that of x at m-x, so that what is written from the one above lies before it. Elements do
 * not depend on one another, and any vectorisation gives the same bits. Integers of 32 bits become doubles several at a
 * time.
 */
#ifndef TIEAWARE_CASCADE_H
#define TIEAWARE_CASCADE_H

#include <stdint.h>

#include "engine/counting.h"

/* Writes A_x of i documents over those of i - 1: ((i-x) A_x + x q A_{x-1})/i, for x <= i; no term is negative. */
static inline void tieaware_join_few(double *products, int m, int64_t i, double q) {
    const double n = (double)i;
    for (int e = m < i ? 0 : m - (int)i; e < m; e++) {
        const int x = m - e;
        products[e] = ((n - x) * products[e] + x * q * products[e + 1]) / n;
    }
}

static TIEAWARE_CLONES void tieaware_join_many(double *products, int m, int64_t i, double q) {
    tieaware_join_few(products, m, i, q);
}

static inline void tieaware_join_products(double *products, int m, int64_t i, double q) {
    /* To choose between instruction sets takes a few nanoseconds. */
    if (m < 16) tieaware_join_few(products, m, i, q);
    else tieaware_join_many(products, m, i, q);
}

/* The same of F_x: ((i-x) F_x + (x-1) q F_{x-1})/i. */
static TIEAWARE_CLONES void tieaware_join_falls(double *falls, int m, int64_t i, double q) {
    const double n = (double)i, share = 1.0 / n;
    for (int e = m < i ? 0 : m - (int)i; e < m; e++) {
        const int x = m - e;
        falls[e] = share * ((n - x) * falls[e] + (x - 1) * q * falls[e + 1]);
    }
}

/* So many numbers are a row of K for m slots: rows are written by whole fours, and one beyond the last is read. */
static inline ptrdiff_t tieaware_covariances_row(int64_t m) { return (ptrdiff_t)(((m + 4) & ~(int64_t)3) + 4); }

/* Writes K_xy of i documents over those of i - 1, for x <= y <= m: see variance_of_cascade. Of those before the first
 * with a grade, all are 0, and none need be there.
 *
 * Row x is written after row x+1, since it is needed for that. Fours have no rest to go through one by one, which in
 * rows as short as these takes longer than they do; what is written of y < x is some number that counts nowhere. `work`
 * is for 3 rows.
 */
static TIEAWARE_CLONES void tieaware_join_covariances(double *covariances, const double *falls, double *work,
                                                      int m, int64_t i, double q, int is_first) {
    const double n = (double)i, share = 1.0 / n, once = share * q;
    const int length = (int)tieaware_covariances_row(m), reach = m < i ? m : (int)i, first = (m - reach) & ~3;
    double *restrict rank = work, *restrict stays = work + length, *restrict factor = work + 2 * length;
    for (int e = 0; e < length; e++) {
        rank[e] = (double)(m - e);
        /* Of more documents than there are, anything that is a number. */
        stays[e] = rank[e] <= n ? share * (n - rank[e]) : 0.0;
        factor[e] = e <= m ? share * stays[e] * falls[e] : 0.0;
    }
    for (int x = is_first ? m : reach; x >= 0; x--) {
        double *restrict row = covariances + x * (ptrdiff_t)length;
        const double at = (double)x, fall = at * falls[m - x], twice = once * q * at;
        const int end = (m - x + 4) & ~3;
        if (is_first) {
            for (int e = 0; e < length; e++) row[e] = fall * factor[e];
        } else if (x > 0) {
            const double *restrict above = row - length;
            /* row[e+1] is that of y-1, which for y = x does not count. */
            for (int e = first; e < end; e++) {
                row[e] = stays[e] * row[e] + once * (rank[e] - at) * row[e + 1] + twice * above[e + 1] + fall * factor[e];
            }
        }
    }
}

/* Writes sums[m-y] = Σ_{x<y} steps[m-x] K_xy. */
static TIEAWARE_CLONES void tieaware_sum_covariances(const double *covariances, const double *steps, double *restrict sums,
                                                     int m) {
    for (int e = 0; e <= m; e++) sums[e] = 0.0;
    for (int x = 1; x <= m; x++) {
        const double *row = covariances + x * tieaware_covariances_row(m), step = steps[m - x];
        for (int e = 0; e < m - x; e++) sums[e] += step * row[e];
    }
}

#endif
