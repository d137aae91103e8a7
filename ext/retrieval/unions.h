/* Sorting few documents. The loops are compiled for several instruction sets, and compute the same with each of them. */
#ifndef TIEAWARE_UNIONS_H
#define TIEAWARE_UNIONS_H

#include <stdint.h>
#include <string.h>

#include "engine/counting.h"

/* The largest number of documents that are sorted by counting. */
enum { TIEAWARE_RUN = 64 };

/* sort_run: sorts n documents, 1 to 64, in place. If a document is there twice, the largest one may take its place.
 *
 * The rank of a document is the number of smaller ones. Counting them takes n² steps, but no branch that could be
 * mispredicted, and several steps are taken at a time.
 */
TIEAWARE_CLONES static void tieaware_sort_run(int32_t *documents, int n) {
    int32_t keys[TIEAWARE_RUN], ranks[TIEAWARE_RUN] = {0}, sorted[TIEAWARE_RUN];
    int kept = 0;
    for (int i = 0; i < TIEAWARE_RUN; i++) sorted[i] = -1;
    memset(keys, 0, sizeof(keys));
    memcpy(keys, documents, (size_t)n * sizeof(int32_t));
    for (int j = 0; j < n; j++) {
        const int32_t key = keys[j];
        for (int i = 0; i < TIEAWARE_RUN; i++) ranks[i] += key < keys[i];
    }
    for (int i = 0; i < n; i++) sorted[ranks[i]] = keys[i];
    /* Equal documents have the same rank, and leave the places after it empty. */
    for (int i = 0; i < n; i++) {
        documents[kept] = sorted[i];
        kept += sorted[i] >= 0;
    }
    for (int i = kept; i < n; i++) documents[i] = kept ? documents[kept - 1] : -1;
}

#endif
