/* The pairs of LambdaMART: how one class of documents pushes, and is pushed by, the classes of a range.
 *
 * A class is all documents of a list that have the same score and the same gain: they have the same gradient. So pairs
 * of classes are computed, not pairs of documents. Their numbers are in one array each, so that loops vectorise. Sums
 * have four lanes, and are the same on every processor.
 */
#ifndef TIEAWARE_LAMBDAS_H
#define TIEAWARE_LAMBDAS_H

#include <math.h>
#include <stddef.h>

#include "engine/counting.h"

typedef struct {
    /* For each class: gain, score, exp(sigma score) up to a factor, and the number of its documents. */
    double *gain, *score, *power, *count;
    /* The expected change by swapping a document of class u with one of a lower tie group, of class l, is
     * |gain difference| (head[u] + share[u] tail[l]). */
    double *head, *share, *tail;
    /* The result: the gradient and the hessian of a document of each class. */
    double *gradient, *hessian;
} tieaware_classes;

/* The same numbers, of one class. */
typedef struct {
    double gain, score, power, count, head, share, tail;
} tieaware_class;

/* What the pairs of one class add up to: gradient and hessian of its documents, and the sum of all |lambda|. */
typedef struct {
    double gradient, hessian, total;
} tieaware_pushes;

/* chances: writes the chance that the model ranks one document of each class before one of class c, and the reverse. */
TIEAWARE_CLONES static void tieaware_chances(const double *power, ptrdiff_t n, double own, double *other_first,
                                             double *own_first) {
    for (ptrdiff_t i = 0; i < n; i++) {
        const double scale = 1.0 / (own + power[i]);
        other_first[i] = power[i] * scale;
        own_first[i] = own * scale;
    }
}

/* pushes: adds the pairs of class c with the classes first … last - 1, all above c or all not above it.
 *
 * lambda = sigma |change| P(the document of lower gain is first); the hessian is sigma lambda P(the other is first). If
 * `by_distance`, changes are divided by 0.01 + the distance of the scores. `changes` and `bends` are working memory.
 */
TIEAWARE_CLONES static tieaware_pushes tieaware_push(const tieaware_classes *with, ptrdiff_t first, ptrdiff_t last,
                                                     tieaware_class c, int above, double sigma, int by_distance,
                                                     const double *other_first, const double *own_first,
                                                     double *restrict changes, double *restrict bends) {
    const ptrdiff_t n = last - first;
    const double *gain = with->gain + first, *score = with->score + first, *count = with->count + first;
    const double *head = with->head + first, *share = with->share + first, *tail = with->tail + first;
    double *restrict gradient = with->gradient + first, *restrict hessian = with->hessian + first;
    if (above) {
        for (ptrdiff_t i = 0; i < n; i++) changes[i] = head[i] + share[i] * c.tail;
    } else {
        for (ptrdiff_t i = 0; i < n; i++) changes[i] = c.head + c.share * tail[i];
    }
    if (by_distance) {
        for (ptrdiff_t i = 0; i < n; i++) changes[i] /= 0.01 + fabs(c.score - score[i]);
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        const double gap = c.gain - gain[i];
        /* A rounding error must not make a change negative. */
        const double change = (changes[i] > 0.0 ? changes[i] : 0.0) * fabs(gap) * sigma;
        const double wrong = gap > 0.0 ? other_first[i] : own_first[i];
        const double push = gap > 0.0 ? -(change * wrong) : change * wrong;
        const double bend = sigma * change * other_first[i] * own_first[i];
        gradient[i] -= push * c.count;
        hessian[i] += bend * c.count;
        changes[i] = push * count[i];
        bends[i] = bend * count[i];
    }
    double pushed[4] = {0.0, 0.0, 0.0, 0.0}, bent[4] = {0.0, 0.0, 0.0, 0.0}, size[4] = {0.0, 0.0, 0.0, 0.0};
    ptrdiff_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int lane = 0; lane < 4; lane++) {
            pushed[lane] += changes[i + lane];
            bent[lane] += bends[i + lane];
            size[lane] += fabs(changes[i + lane]);
        }
    }
    for (int lane = 0; i < n; i++, lane++) {
        pushed[lane] += changes[i];
        bent[lane] += bends[i];
        size[lane] += fabs(changes[i]);
    }
    return (tieaware_pushes){(pushed[0] + pushed[1]) + (pushed[2] + pushed[3]),
                             (bent[0] + bent[1]) + (bent[2] + bent[3]),
                             ((size[0] + size[1]) + (size[2] + size[3])) * c.count};
}

#endif
