/* Near ties: each score of a list is replaced by the highest score of its group. In descending order, neighbours that
 * differ by no more than a tolerance are in one group.
 */
#ifndef TIEAWARE_NEAR_TIES_H
#define TIEAWARE_NEAR_TIES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/banding.h"

/* The tolerance, at a score s that is the larger of two in absolute value, is absolute + relative * |s|. */
typedef struct {
    double absolute, relative;
} tieaware_tolerance;

/* find_groups: writes whether a group begins with each of n ranked scores but the first, which always begins one. Equal
 * infinities tie, although their distance is NaN. An infinite distance is never within the tolerance, even if the
 * tolerance is infinite, too.
 */
TIEAWARE_CLONES static void tieaware_find_groups(const double *restrict ranked, ptrdiff_t n,
                                                 tieaware_tolerance tolerance, int32_t *restrict begins) {
    for (ptrdiff_t i = 1; i < n; i++) {
        const double higher = ranked[i - 1], lower = ranked[i], distance = higher - lower;
        const double size = fabs(higher) > fabs(lower) ? fabs(higher) : fabs(lower);
        const double most = tolerance.absolute + tolerance.relative * size;
        const int within = (distance <= most) & (distance < INFINITY);
        begins[i] = !((higher == lower) | within);
    }
}

/* chain: writes for each document of a list the highest score of its group; or, if `keys` is not NULL, writes the
 * negated index of its group there, which is compared faster. `ranked` is memory for n scores. No score is NaN.
 */
static void tieaware_chain(const double *scores, ptrdiff_t n, tieaware_tolerance tolerance,
                           int (*sort)(void *, intptr_t, void *), tieaware_banding memory, double *restrict ranked,
                           float *restrict keys, double *restrict values) {
    int32_t *restrict begins = memory.bucket, group = 0;
    int64_t mask;
    ptrdiff_t first = 0;
    const int64_t *sorted = tieaware_sort_places(sort, scores, NULL, n, memory.words, memory.spare, &mask);
    for (ptrdiff_t i = 0; i < n; i++) ranked[i] = scores[sorted[i] & mask];
    tieaware_find_groups(ranked, n, tolerance, begins);
    if (n > 0) begins[0] = 0;
    if (keys)
        for (ptrdiff_t i = 0; i < n; i++) {
            group += begins[i];
            keys[sorted[i] & mask] = (float)-group;
        }
    else
        for (ptrdiff_t i = 0; i < n; i++) {
            first = begins[i] ? i : first;
            values[sorted[i] & mask] = ranked[first];
        }
}

#endif
