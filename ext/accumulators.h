/* What goes over all accumulators of a block. It is compiled for each instruction set, and the same in all. */
#ifndef TIEAWARE_ACCUMULATORS_H
#define TIEAWARE_ACCUMULATORS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "counting.h"

/* Documents are marked in words of so many. */
enum { TIEAWARE_WORD = 64, TIEAWARE_EIGHTH = 8 };

static inline int tieaware_lowest(uint64_t word) { return tieaware_lowest_bit(word); }

static inline uint64_t tieaware_above(const double *scores, double bound) {
    uint64_t marks = 0;
    for (int i = 0; i < TIEAWARE_WORD; i += TIEAWARE_EIGHTH) {
        int64_t above = 0;
        for (int j = i; j < i + TIEAWARE_EIGHTH; j++) {
            above += scores[j] > bound;
        }
        for (int j = i; above && j < i + TIEAWARE_EIGHTH; j++) {
            marks |= (uint64_t)(scores[j] > bound) << j;
        }
    }
    return marks;
}

/* survey: marks the scores above the bound. Returns how many are above 0. */
TIEAWARE_CLONES static int64_t tieaware_survey(const double *scores, uint64_t *marks, ptrdiff_t n_words, double bound) {
    int64_t positive = 0;
    for (ptrdiff_t word = 0; word < n_words; word++, scores += TIEAWARE_WORD) {
        int64_t above_zero = 0, above_bound = 0;
        for (int i = 0; i < TIEAWARE_WORD; i++) {
            above_zero += scores[i] > 0.0;
            above_bound += scores[i] > bound;
        }
        positive += above_zero;
        marks[word] = above_bound ? tieaware_above(scores, bound) : 0;
    }
    return positive;
}

/* add: scores[i] += query_weight · weights[i], of a dense list. */
#define TIEAWARE_ADD(NAME, WEIGHT)                                                                              \
    TIEAWARE_CLONES static void NAME(double *scores, const WEIGHT *weights, ptrdiff_t n, double query_weight) { \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                     \
            scores[i] += query_weight * (double)weights[i];                                                     \
        }                                                                                                       \
    }
TIEAWARE_ADD(tieaware_add_float, float)
TIEAWARE_ADD(tieaware_add_uint8, uint8_t)
TIEAWARE_ADD(tieaware_add_uint16, uint16_t)

/* The same with whole numbers. add: what has at least this weight; 0 is never added. */
TIEAWARE_CLONES static void tieaware_add_whole(uint16_t *scores, const uint8_t *weights, ptrdiff_t n, uint16_t q,
                                               uint8_t least) {
    for (ptrdiff_t i = 0; i < n; i++) {
        const uint8_t weight = weights[i] >= least ? weights[i] : 0;
        scores[i] = (uint16_t)(scores[i] + q * weight);
    }
}

/* survey: the highest score of fewer than 2^16, as so many fit a lane. Returns how many are above 0. */
TIEAWARE_CLONES static int64_t tieaware_survey_whole(const uint16_t *scores, ptrdiff_t n, uint16_t *highest) {
    uint16_t zeros = 0, most = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        zeros = (uint16_t)(zeros + (scores[i] == 0));
        most = scores[i] > most ? scores[i] : most;
    }
    *highest = most;
    return n - zeros;
}

/* mark: the scores that are at least so high, which few are. */
TIEAWARE_CLONES static void tieaware_mark_whole(const uint16_t *scores, uint64_t *marks, ptrdiff_t n_words,
                                                uint16_t least) {
    for (ptrdiff_t word = 0; word < n_words; word++, scores += TIEAWARE_WORD) {
        uint16_t reached = 0;
        for (int i = 0; i < TIEAWARE_WORD; i++) reached |= scores[i] >= least ? 0xffff : 0;
        marks[word] = 0;
        if (!reached) continue;
        uint8_t each[TIEAWARE_WORD];
        for (int i = 0; i < TIEAWARE_WORD; i++) each[i] = scores[i] >= least;
        for (int i = 0; i < TIEAWARE_WORD; i += TIEAWARE_EIGHTH) {
            uint64_t some;
            memcpy(&some, each + i, sizeof(some));
            for (int j = i; some && j < i + TIEAWARE_EIGHTH; j++) marks[word] |= (uint64_t)each[j] << j;
        }
    }
}

#endif
