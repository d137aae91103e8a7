/* Upper bounds of the scores of documents in lists of candidates.
 *
 * The loops are compiled for several instruction sets, and compute the same bits with each of them. Comparisons keep
 * bounds that are not numbers.
 */
#ifndef TIEAWARE_ENTRY_BOUNDS_H
#define TIEAWARE_ENTRY_BOUNDS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/counting.h"

/* impacts: bounds[i] = query_weight · weights[i] + bases[i]; without bases (NULL), nothing is added. */
#define TIEAWARE_IMPACTS(NAME, WEIGHT)                                                                        \
    TIEAWARE_CLONES static void NAME(const WEIGHT *weights, const double *bases, ptrdiff_t n,                 \
                                     double query_weight, double *bounds) {                                   \
        if (bases) {                                                                                          \
            for (ptrdiff_t i = 0; i < n; i++) bounds[i] = query_weight * (double)weights[i] + bases[i];       \
        } else {                                                                                              \
            for (ptrdiff_t i = 0; i < n; i++) bounds[i] = query_weight * (double)weights[i];                  \
        }                                                                                                     \
    }
TIEAWARE_IMPACTS(tieaware_impacts_float, float)
TIEAWARE_IMPACTS(tieaware_impacts_uint8, uint8_t)
TIEAWARE_IMPACTS(tieaware_impacts_uint16, uint16_t)

/* The largest impact of a term in a document that its list lacks: at most `largest`, and with a sum that is at most
 * `missing` of the impact and query_weight · base. */
static inline double tieaware_lacking(double largest, double missing, double query_weight, double base) {
    double least = missing - query_weight * base;
    least = least > 0.0 ? least : 0.0;
    return least < largest ? least : largest;
}

/* add_lacking: bounds[i] += the largest impact of a term in document i, which the term's list lacks. */
TIEAWARE_CLONES static void tieaware_add_lacking(const double *bases, ptrdiff_t n, double largest, double missing,
                                                 double query_weight, double *bounds) {
    for (ptrdiff_t i = 0; i < n; i++) bounds[i] += tieaware_lacking(largest, missing, query_weight, bases[i]);
}

/* see: seen[i] = whether the filter has the document's bit, which it gets now.
 *
 * The filter has mask + 1 bits, which several documents may share.
 */
static inline void tieaware_see(const int32_t *documents, ptrdiff_t n, uint64_t *filter, uint32_t mask,
                                uint8_t *restrict seen) {
    for (ptrdiff_t i = 0; i < n; i++) {
        const uint32_t at = (uint32_t)documents[i] & mask;
        const uint64_t word = filter[at >> 6];
        seen[i] = (uint8_t)(word >> (at & 63) & 1);
        filter[at >> 6] = word | (uint64_t)1 << (at & 63);
    }
}

/* keep: appends the documents whose impact and others reach the floor; returns their number.
 *
 * An invalid document number is skipped, so that it is not used as an index. The arrays must not overlap.
 */
static inline ptrdiff_t tieaware_keep(const int32_t *documents, const double *impacts, const double *others,
                                      const double *bases, const uint8_t *seen, ptrdiff_t n, double floor,
                                      uint32_t n_documents, int32_t *restrict kept_documents,
                                      double *restrict bounds, double *restrict kept_bases,
                                      uint8_t *restrict kept_seen) {
    ptrdiff_t kept = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const double bound = impacts[i] + others[i];
        kept_documents[kept] = documents[i];
        bounds[kept] = bound;
        kept_seen[kept] = seen[i];
        if (bases) kept_bases[kept] = bases[i];
        kept += !(bound < floor) & ((uint32_t)documents[i] < n_documents);
    }
    return kept;
}

/* test: lowers the bounds of the documents whose bit is not set, and drops those with a bound below the floor.
 *
 * The bits are a bitmap, or a filter of mask + 1 bits, which several documents may share.
 *
 * The number that is subtracted was added before: `lacking` or, for documents that were seen in several lists,
 * `largest`. With bases, it is the number that `add_lacking` added. Returns the number of documents that are left.
 */
#define TIEAWARE_TEST(NAME, LACKING)                                                                         \
    TIEAWARE_CLONES static ptrdiff_t NAME(int32_t *restrict documents, double *restrict bounds,              \
                                          double *restrict bases, uint8_t *restrict seen,                    \
                                          ptrdiff_t n, const uint64_t *bits, uint32_t mask, double largest,  \
                                          double lacking, double query_weight, double floor) {               \
        ptrdiff_t kept = 0;                                                                                  \
        (void)bases, (void)query_weight;                                                                     \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                  \
            const int32_t document = documents[i];                                                           \
            const uint32_t at = (uint32_t)document & mask;                                                   \
            const int has = (int)(bits[at >> 6] >> (at & 63) & 1);                                           \
            const double lower = bounds[i] - (seen[i] ? largest : LACKING), bound = has ? bounds[i] : lower; \
            const uint8_t was_seen = seen[i];                                                                \
            documents[kept] = document;                                                                      \
            bounds[kept] = bound;                                                                            \
            if (bases) bases[kept] = bases[i];                                                               \
            seen[kept] = was_seen;                                                                           \
            kept += !(bound < floor);                                                                        \
        }                                                                                                    \
        return kept;                                                                                         \
    }
TIEAWARE_TEST(tieaware_test, lacking)
TIEAWARE_TEST(tieaware_test_with_bases, tieaware_lacking(largest, lacking, query_weight, bases[i]))

#endif
