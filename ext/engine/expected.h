/* Terms of sums over tie groups, for _expected.pyx. No branch depends on the groups: the processor would mispredict it.
 *
 * The terms are computed several at a time and added one after the other, so any vectorisation gives the same bits.
 */
#ifndef TIEAWARE_EXPECTED_H
#define TIEAWARE_EXPECTED_H

#include <stddef.h>
#include <stdint.h>

#include "engine/counting.h"
#include "engine/portable.h"

/* How many terms are computed at a time. */
enum { TIEAWARE_TERMS = 64 };

/* Groups with relevant documents, for average precision: see average_precision in _expected.pyx. `before` is R,
 * `inside` is m, and the double-double ΔH is the difference of two prefix sums, `above` and `until`.
 */
typedef struct {
    double relevant[TIEAWARE_TERMS], rank[TIEAWARE_TERMS], size[TIEAWARE_TERMS], inside[TIEAWARE_TERMS];
    double before[TIEAWARE_TERMS], above[TIEAWARE_TERMS], above_low[TIEAWARE_TERMS];
    double until[TIEAWARE_TERMS], until_low[TIEAWARE_TERMS];
} tieaware_precision_groups;

/* precision: returns the term of group g in average precision: (r/n) [(R+1) ΔH + a (m - (t+1) ΔH)]. The first rank of
 * the group, t+1, is rank[g].
 */
TIEAWARE_INLINED double tieaware_precision(const tieaware_precision_groups *groups, int g) {
    const double r = groups->relevant[g], n = groups->size[g], m = groups->inside[g], first = groups->rank[g];
    const double above = groups->above[g], until = groups->until[g], before = groups->before[g];
    /* The difference, as two_sum computes it. */
    const double high = until - above, back = high - until;
    const double low = ((until - (high - back)) + (-above - back)) + (groups->until_low[g] - groups->above_low[g]);
    /* The product (t+1) ΔH, as two_product computes it. */
    const double x = 134217729.0 * high, x1 = x - (x - high), x2 = high - x1;
    const double y = 134217729.0 * first, y1 = y - (y - first), y2 = first - y1;
    const double product = high * first, error = ((x1 * y1 - product) + x1 * y2 + x2 * y1) + x2 * y2;
    const double rest = ((m - product) - error) - first * low;
    const double a = (r - 1.0) / (n > 1.0 ? n - 1.0 : 1.0), sum = (before + 1.0) * (high + low);
    const double part = r > 1.0 && m > 1.0 ? sum + a * rest : sum;
    return n == 1.0 ? r * ((before + 1.0) / first) : r / n * part;
}

/* precisions: writes the terms of the first `count` groups. A few are not worth choosing among the clones. */
static TIEAWARE_CLONES void tieaware_many_precisions(const tieaware_precision_groups *groups, int count,
                                                     double *restrict terms) {
    for (int g = 0; g < count; g++) terms[g] = tieaware_precision(groups, g);
}

static inline void tieaware_precisions(const tieaware_precision_groups *groups, int count, double *restrict terms) {
    if (count > 4) tieaware_many_precisions(groups, count, terms);
    else for (int g = 0; g < count; g++) terms[g] = tieaware_precision(groups, g);
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
