/* The search for labels that matter among up to 64 labels, without a branch for each label.
 *
 * Labels are mostly 0 or 1 in no order, so a processor would often predict such a branch wrongly. The result is a word
 * with a bit for each label, and only its set bits are visited.
 */
#ifndef TIEAWARE_LABELS_H
#define TIEAWARE_LABELS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/portable.h"

enum { TIEAWARE_CHUNK = 64 };

/* Returns 1 if TIEAWARE_CHUNK labels of `size` bytes each are 0, as most labels of most long lists are. */
static inline int tieaware_all_zero(const void *labels, ptrdiff_t size) {
    uint64_t word, all = 0;
    for (ptrdiff_t i = 0; i < TIEAWARE_CHUNK / 8 * size; i++) {
        memcpy(&word, (const char *)labels + 8 * i, sizeof word);
        all |= word;
    }
    return all == 0;
}

/* Returns a word whose bit i is set if labels[i] is at least `least` or below `lowest`, for i < n <= TIEAWARE_CHUNK.
 * Adds to `judged` the number of labels that are not negative.
 */
static inline uint64_t tieaware_listed(const int32_t *labels, ptrdiff_t n, int32_t least, int32_t lowest,
                                       int64_t *judged) {
    /* Multiplying eight bytes of 0 or 1 by this number puts them next to each other into the highest byte. */
    const uint64_t gather = UINT64_C(0x0102040810204080);
    uint8_t flags[TIEAWARE_CHUNK] = {0};
    uint64_t bits = 0, word;
    int32_t negative = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        flags[i] = (uint8_t)((labels[i] >= least) | (labels[i] < lowest));
        negative += labels[i] < 0;
    }
    for (int i = 0; i < TIEAWARE_CHUNK; i += 8) {
        memcpy(&word, flags + i, sizeof word);
        bits |= (tieaware_first_byte_lowest(word) * gather >> 56) << i;
    }
    *judged += n - negative;
    return bits;
}

#endif
