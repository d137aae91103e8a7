/* Functions for _cascade.pyx that add the i-th document to a group of tied documents. After reading this document, the
 * user goes on with probability q. A_x, S_x, F_x and K_xy are defined in _cascade.pyx.
 *
 * An array with a number for each x <= m holds the number of x at index m-x. So the new value of an element is computed
 * from the old values of this element and the next element, and any vectorisation gives the same bits. Indices have 32
 * bits, because 32-bit integers are converted to doubles several at a time.
 */
#ifndef TIEAWARE_CASCADE_H
#define TIEAWARE_CASCADE_H

#include <stdint.h>

#include "engine/counting.h"

/* Turns the A_x of i - 1 documents into the A_x of i documents: ((i-x) A_x + x q A_{x-1})/i, for x <= i. No term is
 * negative.
 */
static inline void tieaware_join_few(double *products, int m, int64_t i, double q) {
    const double n = (double)i, share = 1.0 / n;
    for (int e = m < i ? 0 : m - (int)i; e < m; e++) {
        const int x = m - e;
        products[e] = share * ((n - x) * products[e] + x * q * products[e + 1]);
    }
}

static TIEAWARE_CLONES void tieaware_join_many(double *products, int m, int64_t i, double q) {
    tieaware_join_few(products, m, i, q);
}

static inline void tieaware_join_products(double *products, int m, int64_t i, double q) {
    /* join_many is compiled for several instruction sets; choosing among these costs a few nanoseconds per call. */
    if (m < 16) tieaware_join_few(products, m, i, q);
    else tieaware_join_many(products, m, i, q);
}

/* Turns the S_x of i - 1 documents into the S_x of i documents, for x <= i: ((i-x) S_x + (x-1) q S_{x-1} + stop
 * A_{x-1})/i, where A_{x-1} is still that of i - 1 documents, and stop = 1 - q. No term is negative.
 */
static inline void tieaware_join_stops_few(double *restrict stops, const double *restrict products, int m, int64_t i,
                                           double q, double stop) {
    const double n = (double)i, share = 1.0 / n;
    for (int e = m < i ? 0 : m - (int)i; e < m; e++) {
        const int x = m - e;
        stops[e] = share * ((n - x) * stops[e] + (x - 1) * q * stops[e + 1] + stop * products[e + 1]);
    }
}

static TIEAWARE_CLONES void tieaware_join_stops_many(double *restrict stops, const double *restrict products, int m,
                                                     int64_t i, double q, double stop) {
    tieaware_join_stops_few(stops, products, m, i, q, stop);
}

static inline void tieaware_join_stops(double *restrict stops, const double *restrict products, int m, int64_t i,
                                       double q, double stop) {
    if (m < 16) tieaware_join_stops_few(stops, products, m, i, q, stop);
    else tieaware_join_stops_many(stops, products, m, i, q, stop);
}

/* Turns the F_x of i - 1 documents into the F_x of i documents: ((i-x) F_x + (x-1) q F_{x-1})/i. */
static TIEAWARE_CLONES void tieaware_join_falls(double *falls, int m, int64_t i, double q) {
    const double n = (double)i, share = 1.0 / n;
    for (int e = m < i ? 0 : m - (int)i; e < m; e++) {
        const int x = m - e;
        falls[e] = share * ((n - x) * falls[e] + (x - 1) * q * falls[e + 1]);
    }
}

/* Returns the length of a row of K for m slots. The numbers of a row are written four at a time, and one number after
 * these is read, so a row is longer than m + 1.
 */
static inline ptrdiff_t tieaware_covariances_row(int64_t m) { return (ptrdiff_t)(((m + 4) & ~(int64_t)3) + 4); }

/* Turns the K_xy of i - 1 documents into the K_xy of i documents, for x <= y <= m: see variance_of_cascade. `is_first`
 * is true for the first graded document: before it, all K_xy are 0, so `covariances` need not be initialised.
 *
 * The new row x depends on the old rows x and x-1, so the loop goes from the last row to the first. The numbers of a
 * row are written four at a time, without computing a remainder singly, which would take longer than the rest of a
 * short row. So some numbers with y < x are written too; they are arbitrary and never used. `work` has room for 3 rows.
 */
static TIEAWARE_CLONES void tieaware_join_covariances(double *covariances, const double *falls, double *work,
                                                      int m, int64_t i, double q, int is_first) {
    const double n = (double)i, share = 1.0 / n, once = share * q;
    const int length = (int)tieaware_covariances_row(m), reach = m < i ? m : (int)i, first = (m - reach) & ~3;
    double *restrict rank = work, *restrict stays = work + length, *restrict factor = work + 2 * length;
    for (int e = 0; e < length; e++) {
        rank[e] = (double)(m - e);
        /* For ranks above i, any finite number will do. */
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
            /* row[e+1] is the number for y-1. For y = x, where it is arbitrary, it is multiplied by 0. */
            for (int e = first; e < end; e++) {
                row[e] = stays[e] * row[e] + once * (rank[e] - at) * row[e + 1] + twice * above[e + 1] + fall * factor[e];
            }
        }
    }
}

/* Writes, for each y, sums[m-y] = Σ_{x<y} steps[m-x] K_xy. */
static TIEAWARE_CLONES void tieaware_sum_covariances(const double *covariances, const double *steps, double *restrict sums,
                                                     int m) {
    for (int e = 0; e <= m; e++) sums[e] = 0.0;
    for (int x = 1; x <= m; x++) {
        const double *row = covariances + x * tieaware_covariances_row(m), step = steps[m - x];
        for (int e = 0; e < m - x; e++) sums[e] += step * row[e];
    }
}

#endif
