/* Grouping of a list with few distinct scores by a hash table, without sorting the list. */
#ifndef TIEAWARE_TABULATING_H
#define TIEAWARE_TABULATING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A list is tabulated if it has at least TIEAWARE_LEAST_TABULATED documents and at most TIEAWARE_MOST_TABULATED
 * distinct scores. If the first TIEAWARE_TRIAL documents have more than TIEAWARE_MOST_OF_TRIAL distinct scores, most
 * lists have too many, so the table is given up early.
 */
enum {
    TIEAWARE_LEAST_TABULATED = 768,
    TIEAWARE_MOST_TABULATED = 128,
    TIEAWARE_TRIAL = 64,
    TIEAWARE_MOST_OF_TRIAL = 54,
    TIEAWARE_SLOT_BITS = 10,
    TIEAWARE_SLOTS = 1 << TIEAWARE_SLOT_BITS,
    TIEAWARE_EMPTY = 255
};

/* The distinct scores of a list, and the number of documents with each of them. `order` has the indices of the scores
 * from the highest to the lowest.
 */
typedef struct {
    ptrdiff_t n;
    double value[TIEAWARE_MOST_TABULATED];
    int64_t count[TIEAWARE_MOST_TABULATED];
    int order[TIEAWARE_MOST_TABULATED];
} tieaware_scores;

/* tabulate: finds the distinct scores, and writes to number[i] the index of the score of document i. Returns 0 if there
 * are too many distinct scores, or a NaN; then the results are not to be used.
 *
 * Collisions are resolved by the next slot. There are eight times as many slots as scores.
 */
#define TIEAWARE_TABULATE(NAME, SCORE)                                                                         \
    static int NAME(const SCORE *scores, ptrdiff_t n, uint8_t *number, tieaware_scores *found) {               \
        double key[TIEAWARE_SLOTS];                                                                            \
        uint8_t index[TIEAWARE_SLOTS];                                                                         \
        memset(index, TIEAWARE_EMPTY, sizeof index);                                                           \
        found->n = 0;                                                                                          \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                    \
            /* Adding 0 gives both zeros the same bits. */                                                     \
            const double score = (double)scores[i] + 0.0;                                                      \
            uint64_t bits;                                                                                     \
            memcpy(&bits, &score, sizeof bits);                                                                \
            ptrdiff_t slot = (ptrdiff_t)((bits * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - TIEAWARE_SLOT_BITS));  \
            while (index[slot] != TIEAWARE_EMPTY && key[slot] != score) slot = (slot + 1) % TIEAWARE_SLOTS;    \
            if (index[slot] == TIEAWARE_EMPTY) {                                                               \
                const ptrdiff_t most = i < TIEAWARE_TRIAL ? TIEAWARE_MOST_OF_TRIAL : TIEAWARE_MOST_TABULATED;  \
                if (found->n >= most || score != score) return 0;                                              \
                key[slot] = score;                                                                             \
                index[slot] = (uint8_t)found->n;                                                               \
                found->value[found->n] = score;                                                                \
                found->count[found->n++] = 0;                                                                  \
            }                                                                                                  \
            number[i] = index[slot];                                                                           \
            found->count[index[slot]]++;                                                                       \
        }                                                                                                      \
        for (int i = 0; i < found->n; i++) {                                                                   \
            int j = i;                                                                                         \
            for (; j > 0 && found->value[found->order[j - 1]] < found->value[i]; j--)                          \
                found->order[j] = found->order[j - 1];                                                         \
            found->order[j] = i;                                                                               \
        }                                                                                                      \
        return 1;                                                                                              \
    }

TIEAWARE_TABULATE(tieaware_tabulate_double, double)
TIEAWARE_TABULATE(tieaware_tabulate_float, float)

/* tabulated_groups: does what walk_groups in sorting.h does, from the distinct scores. `positions` has the positions of
 * the n_weighted weighted documents.
 */
static ptrdiff_t tieaware_tabulated_groups(const tieaware_scores *found, const uint8_t *number,
                                           const int64_t *positions, ptrdiff_t n_weighted, int64_t depth,
                                           int64_t *start, int64_t *size, int64_t *group) {
    int64_t of_score[TIEAWARE_MOST_TABULATED], above = 0;
    ptrdiff_t g = 0;
    for (ptrdiff_t v = 0; v < found->n; v++) of_score[v] = -1;
    for (ptrdiff_t k = 0; k < n_weighted; k++) of_score[number[positions[k]]] = 0;
    for (ptrdiff_t v = 0; v < found->n; v++) {
        const int score = found->order[v];
        if (of_score[score] == 0 && g < depth) {
            start[g] = above;
            size[g] = found->count[score];
            of_score[score] = g++;
        } else {
            of_score[score] = -1;
        }
        above += found->count[score];
    }
    for (ptrdiff_t k = 0; k < n_weighted; k++) group[k] = of_score[number[positions[k]]];
    return g;
}

#endif
