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
#include "retrieval/bitmaps.h"

/* impacts: bounds[i] = query_weight · weights[first + i] + bases[i]; without bases (NULL), nothing is added. */
#define TIEAWARE_IMPACTS(NAME, WEIGHT)                                                                        \
    TIEAWARE_CLONES static void NAME(const void *all, ptrdiff_t first, const double *bases, ptrdiff_t n,      \
                                     double query_weight, double *bounds) {                                   \
        const WEIGHT *weights = (const WEIGHT *)all + first;                                                  \
        if (bases) {                                                                                          \
            for (ptrdiff_t i = 0; i < n; i++) bounds[i] = query_weight * (double)weights[i] + bases[i];       \
        } else {                                                                                              \
            for (ptrdiff_t i = 0; i < n; i++) bounds[i] = query_weight * (double)weights[i];                  \
        }                                                                                                     \
    }
TIEAWARE_FOR_EACH_KIND(TIEAWARE_IMPACTS, tieaware_impacts)
#define tieaware_impacts(KIND, ...) TIEAWARE_OF_KIND(KIND, tieaware_impacts, __VA_ARGS__)

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

/* Entries are read in tiles of at most 64. A word has a bit for each entry of a tile. */
enum { TIEAWARE_ENTRIES = 64 };

#define TIEAWARE_FOUR_BITS(I) (uint64_t)1 << (I), (uint64_t)2 << (I), (uint64_t)4 << (I), (uint64_t)8 << (I)
#define TIEAWARE_SIXTEEN_BITS(I) \
    TIEAWARE_FOUR_BITS(I), TIEAWARE_FOUR_BITS(I + 4), TIEAWARE_FOUR_BITS(I + 8), TIEAWARE_FOUR_BITS(I + 12)
static const uint64_t tieaware_bit[TIEAWARE_ENTRIES] = {TIEAWARE_SIXTEEN_BITS(0), TIEAWARE_SIXTEEN_BITS(16),
                                                        TIEAWARE_SIXTEEN_BITS(32), TIEAWARE_SIXTEEN_BITS(48)};

/* see: marks the documents whose bits the filter has, and sets the bits of all.
 *
 * The filter has mask + 1 bits, which several documents may share.
 */
static inline uint64_t tieaware_see(const int32_t *documents, int n, uint64_t *filter, uint32_t mask) {
    uint64_t seen = 0;
    for (int i = 0; i < n; i++) {
        const uint32_t at = (uint32_t)documents[i] & mask;
        const uint64_t word = filter[at >> 6];
        seen |= (word >> (at & 63) & 1) << i;
        filter[at >> 6] = word | (uint64_t)1 << (at & 63);
    }
    return seen;
}

/* bound: bounds[i] = the impact, plus `rest` for a document that was seen or others[i] for any other. Marks the impacts
 * above `least`.    reach: marks the bounds that reach the floor.
 *
 * All arrays have 64 numbers. Words of marks are sums of distinct bits, and each loop does one thing, because compilers
 * vectorise such loops.
 */
TIEAWARE_CLONES static uint64_t tieaware_bound(const double *impacts, const double *others, double rest, uint64_t seen,
                                               double least, double *restrict bounds) {
    uint64_t above = 0;
    double added[TIEAWARE_ENTRIES];
    for (int i = 0; i < TIEAWARE_ENTRIES; i++) added[i] = seen & tieaware_bit[i] ? rest : others[i];
    for (int i = 0; i < TIEAWARE_ENTRIES; i++) bounds[i] = impacts[i] + added[i];
    for (int i = 0; i < TIEAWARE_ENTRIES; i++) above += impacts[i] > least ? tieaware_bit[i] : 0;
    return above;
}

TIEAWARE_CLONES static uint64_t tieaware_reach(const double *bounds, double floor) {
    uint64_t reach = 0;
    for (int i = 0; i < TIEAWARE_ENTRIES; i++) reach += bounds[i] < floor ? 0 : tieaware_bit[i];
    return reach;
}

/* valid: marks the documents below n_documents, which may be used as an index. */
TIEAWARE_CLONES static uint64_t tieaware_valid(const int32_t *documents, int n, uint32_t n_documents) {
    uint64_t valid = 0;
    for (int i = 0; i < n; i++) valid += (uint32_t)documents[i] < n_documents ? tieaware_bit[i] : 0;
    return valid;
}

/* absent: those of the marked documents whose bit is not set.
 *
 * The bits are a bitmap, or a filter of mask + 1 bits, which several documents may share.
 */
static inline uint64_t tieaware_absent(const int32_t *documents, uint64_t marks, const uint64_t *bits, uint32_t mask) {
    uint64_t absent = marks;
    for (; marks; marks &= marks - 1) {
        const int i = tieaware_lowest_bit(marks);
        const uint32_t at = (uint32_t)documents[i] & mask;
        absent ^= (bits[at >> 6] >> (at & 63) & 1) << i;
    }
    return absent;
}

/* Prefetch the bits of the marked documents. */
TIEAWARE_INLINED void tieaware_prefetch_bits(const int32_t *documents, uint64_t marks, const uint64_t *bits,
                                             uint32_t mask) {
    for (; marks; marks &= marks - 1) {
        tieaware_prefetch(bits + (((uint32_t)documents[tieaware_lowest_bit(marks)] & mask) >> 6));
    }
}

/* lower: lowers the bounds of absent documents, and clears the bits of those that no longer reach the floor. The other
 * bits have no meaning. Few documents take less time one by one.
 *
 * The number that is subtracted was added before: `lacking` or, for documents that were seen in several lists,
 * `largest`. With n bases, it is the number that `add_lacking` added.
 */
enum { TIEAWARE_FEW_ABSENT = 20 };

static inline uint64_t tieaware_subtract(double *restrict bounds, const double *lacking, uint64_t absent, uint64_t seen,
                                         double largest, double floor) {
    double impacts[TIEAWARE_ENTRIES];
    uint64_t reach = 0;
    for (int i = 0; i < TIEAWARE_ENTRIES; i++) impacts[i] = seen & tieaware_bit[i] ? largest : lacking[i];
    for (int i = 0; i < TIEAWARE_ENTRIES; i++) impacts[i] = absent & tieaware_bit[i] ? impacts[i] : 0.0;
    for (int i = 0; i < TIEAWARE_ENTRIES; i++) bounds[i] -= impacts[i];
    for (int i = 0; i < TIEAWARE_ENTRIES; i++) reach += bounds[i] < floor ? 0 : tieaware_bit[i];
    return reach;
}

#define TIEAWARE_SUBTRACT_FEW(LACKING)                                         \
    uint64_t below = 0;                                                        \
    for (uint64_t rest = absent; rest; rest &= rest - 1) {                     \
        const int i = tieaware_lowest_bit(rest);                               \
        const double bound = bounds[i] - (seen >> i & 1 ? largest : LACKING);  \
        bounds[i] = bound;                                                     \
        below |= (uint64_t)(bound < floor) << i;                               \
    }                                                                          \
    return ~below;

TIEAWARE_CLONES static uint64_t tieaware_lower(double *bounds, uint64_t absent, uint64_t seen, double largest,
                                               double missing, double floor) {
    if (tieaware_bits_set(absent) > TIEAWARE_FEW_ABSENT) {
        double lacking[TIEAWARE_ENTRIES];
        for (int i = 0; i < TIEAWARE_ENTRIES; i++) lacking[i] = missing;
        return tieaware_subtract(bounds, lacking, absent, seen, largest, floor);
    }
    TIEAWARE_SUBTRACT_FEW(missing)
}

TIEAWARE_CLONES static uint64_t tieaware_lower_with_bases(double *bounds, const double *bases, int n, uint64_t absent,
                                                          uint64_t seen, double largest, double missing,
                                                          double query_weight, double floor) {
    if (tieaware_bits_set(absent) > TIEAWARE_FEW_ABSENT) {
        double lacking[TIEAWARE_ENTRIES];
        for (int i = 0; i < n; i++) lacking[i] = tieaware_lacking(largest, missing, query_weight, bases[i]);
        for (int i = n; i < TIEAWARE_ENTRIES; i++) lacking[i] = 0.0;
        return tieaware_subtract(bounds, lacking, absent, seen, largest, floor);
    }
    TIEAWARE_SUBTRACT_FEW(tieaware_lacking(largest, missing, query_weight, bases[i]))
}

#endif
