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

/* Writes S_1 … S_4 of a group of n documents, at most FEW_TIED, and returns the product of all q. Documents of
 * weighting c have the probability of a stop stop[c], and weights[c * stride] says how many they are.
 *
 * If M_k is the mean product of the stops of k documents, S_x is the sum of (-1)^j C(x-1,j) M_(j+1) for j < x. The sums
 * of powers p_k give the elementary symmetric sums e_k (Newton), and M_k is e_k / C(n,k). Rounding errors are relative
 * to the largest term, M_1, which is S_1. No branch depends on the weights, which processors cannot predict.
 */
enum { TIEAWARE_FEW_TIED = 4 };

static inline double tieaware_write_few_stops(const double *weights, ptrdiff_t stride, const double *stop,
                                              int n_weightings, int64_t n, double *stops) {
    static const double shares[5][4] = {
        {0.0}, {1.0}, {1.0 / 2.0, 1.0}, {1.0 / 3.0, 1.0 / 3.0, 1.0}, {1.0 / 4.0, 1.0 / 6.0, 1.0 / 4.0, 1.0}};
    double p1 = 0.0, p2 = 0.0, p3 = 0.0, p4 = 0.0;
    for (int c = 0; c < n_weightings; c++) {
        const double s = stop[c], w = weights[c * stride] * s, square = s * s;
        p1 += w;
        p2 += w * s;
        p3 += w * square;
        p4 += w * s * square;
    }
    const double e2 = 0.5 * (p1 * p1 - p2), e3 = (1.0 / 3.0) * (p1 * e2 - p2 * p1 + p3);
    const double e4 = 0.25 * (p1 * e3 - p2 * e2 + p3 * p1 - p4);
    const double *share = shares[n];
    const double m1 = share[0] * p1, m2 = share[1] * e2, m3 = share[2] * e3, m4 = share[3] * e4;
    stops[0] = m1;
    stops[1] = m1 - m2;
    stops[2] = m1 - 2.0 * m2 + m3;
    stops[3] = m1 - 3.0 * (m2 - m3) - m4;
    return 1.0 - p1 + e2 - e3 + e4;
}

/* Polynomials. The product of 1 + q z over the documents of a group has the coefficients C(n,x) A_x. If T is the sum,
 * over the documents, of their probability of a stop times the product over all others, its coefficients are
 * n C(n-1,x-1) S_x for z^(x-1). With w documents of each grade, T is the product of (1 + q z)^(w-1) over the grades,
 * times a polynomial of as many terms as there are grades. No term is negative. Coefficients are below n 2^n.
 */
enum { TIEAWARE_MOST_IN_POLYNOMIAL = 1000 };

/* Multiplies a polynomial of this degree by (1 + q z)^times, up to z^(m-1). The coefficient of z^x is at index m-1-x;
 * eight zeros follow. Up to eight factors are multiplied at a time.
 */
static inline void tieaware_multiply_few(double *p, int m, int degree, double q, int times) {
    for (; times > 0; times -= 8) {
        static const double binomials[9][8] = {
            {0}, {1}, {2, 1}, {3, 3, 1}, {4, 6, 4, 1}, {5, 10, 10, 5, 1}, {6, 15, 20, 15, 6, 1},
            {7, 21, 35, 35, 21, 7, 1}, {8, 28, 56, 70, 56, 28, 8, 1}};
        const int factors = times < 8 ? times : 8;
        const double q2 = q * q, q4 = q2 * q2, *b = binomials[factors];
        const double c[8] = {b[0] * q,        b[1] * q2,        b[2] * (q2 * q),        b[3] * q4,
                             b[4] * (q4 * q), b[5] * (q4 * q2), b[6] * (q4 * q2 * q), b[7] * (q4 * q4)};
        degree += factors;
        const int first = degree < m ? m - 1 - degree : 0;
        if (factors <= 4) {
            for (int e = first; e < m; e++) {
                p[e] += (c[0] * p[e + 1] + c[1] * p[e + 2]) + (c[2] * p[e + 3] + c[3] * p[e + 4]);
            }
        } else {
            for (int e = first; e < m; e++) {
                p[e] += ((c[0] * p[e + 1] + c[1] * p[e + 2]) + (c[2] * p[e + 3] + c[3] * p[e + 4])) +
                        ((c[4] * p[e + 5] + c[5] * p[e + 6]) + (c[6] * p[e + 7] + c[7] * p[e + 8]));
            }
        }
    }
}

static TIEAWARE_CLONES void tieaware_multiply_many(double *p, int m, int degree, double q, int times) {
    tieaware_multiply_few(p, m, degree, q, times);
}

/* Writes S_1 … S_m of a group of n documents, at most MOST_IN_POLYNOMIAL, and returns the product of all q. Documents
 * of weighting c have the probability of a stop stop[c], and weights[c * stride] says how many they are. S_x is written
 * to stops[m-x]. After `stops` there is room for spare_stops numbers.
 */
static inline ptrdiff_t tieaware_spare_stops(ptrdiff_t n_weightings) { return 3 * n_weightings + 11; }

static inline double tieaware_write_stops(const double *weights, ptrdiff_t stride, const double *stop, int n_weightings,
                                          int n, int m, double *stops) {
    double *linear = stops + m + n_weightings + 8, *product = linear + n_weightings + 1, rest = 1.0, number = 1.0;
    int degree = n, n_grades = 0;
    for (int c = 0; c < n_weightings; c++) degree -= (int)weights[c * stride];
    for (int e = 0; e < m + (int)tieaware_spare_stops(n_weightings); e++) stops[e] = 0.0;
    /* Documents without a grade: (1 + z)^degree. */
    for (int x = 0; x < m && x <= degree; x++) {
        stops[m - 1 - x] = number;
        number *= (double)(degree - x) / (double)(x + 1);
    }
    product[0] = 1.0;
    for (int c = 0; c < n_weightings; c++) {
        const int w = (int)weights[c * stride];
        const double q = 1.0 - stop[c], own = w * stop[c];
        if (w == 0) continue;
        if (m < 16) tieaware_multiply_few(stops, m, degree, q, w - 1);
        else tieaware_multiply_many(stops, m, degree, q, w - 1);
        degree += w - 1;
        for (int i = n_grades; i > 0; i--) linear[i] += q * linear[i - 1] + own * product[i];
        linear[0] += own;
        n_grades++;
        for (int i = n_grades; i > 0; i--) product[i] += q * product[i - 1];
        double power = q;
        for (int left = w; left; left >>= 1) {
            if (left & 1) rest *= power;
            power *= power;
        }
    }
    for (int e = 0; e < m; e++) {
        double sum = linear[0] * stops[e];
        for (int i = 1; i < n_grades; i++) sum += linear[i] * stops[e + i];
        stops[e] = sum;
    }
    double share = 1.0 / n;
    for (int x = 1; x <= m; x++) {
        stops[m - x] *= share;
        share *= (double)x / (double)(x < n ? n - x : 1);
    }
    return rest;
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
