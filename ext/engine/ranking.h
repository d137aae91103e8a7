/* Ranking of a list by sorting: finds its weighted documents in rank order, or its tie groups.
 *
 * Each score becomes a key, which has all its bits, and a word, which has as many as fit beside the place of the
 * document: see narrow_sorting.h. Only the words are sorted. If they were too narrow, the keys do not ascend along the
 * sorted words, and `settle` mends that. So the keys decide whether documents tie.
 *
 * Places are in the order in which the tie rule puts tied documents, so sorting applies the rule, too. No loop has a
 * branch that depends on the scores: the processor would mispredict half of such branches.
 */
#ifndef TIEAWARE_RANKING_H
#define TIEAWARE_RANKING_H

#include <stddef.h>
#include <stdint.h>

#include "engine/narrow_sorting.h"

/* Results of `rank` besides a number of groups. NO_ORDER: a score is NaN. TOO_CLOSE: sorting by keys would take too
 * long, because too many words are out of order.
 */
enum { TIEAWARE_NO_ORDER = -1, TIEAWARE_TOO_CLOSE = -2 };

typedef int (*tieaware_sort_function)(void *, intptr_t, void *);

/* A list of n > 0 documents and the results of its ranking. `order` is as in sorting.h. `words`, `spare` and `keys` are
 * working memory for all chunks of sorting.h; `end` and `sums`, for n numbers each.
 *
 * `sorts` has NumPy's sorts of uint32 and of doubles, and `narrow_chunk` the size of chunks of narrow words.
 *
 * The weighted documents among the first `depth` documents in rank order are found: for each of them, its index is
 * written to document[g], and the number of documents before it to start[g]. weighted_at[place] is the index of the
 * weighted document at a place, or n_weighted if the document there has no weight.
 *
 * If `packs` is not NULL and documents tie, the groups of equal scores are found instead that begin among the first
 * `depth` documents and hold a weighted document: for each group, the number of documents before it is written to
 * start[g], its size to size[g], and the sum of its packs to total[g]. packs[place] is 0 if the document at a place has
 * no weight. If `numbering`, the weighted documents of these groups are written to `document`, in rank order. `grouped`
 * is set if groups were found.
 *
 * The arrays of results have room for n_weighted + 1 numbers.
 */
typedef struct {
    ptrdiff_t n, narrow_chunk;
    int64_t depth;
    tieaware_sort_function sort_narrow, sort_wide;
    const int64_t *order;
    int64_t *words, *spare, *keys, *end;
    uint64_t *sums;
    const uint16_t *weighted_at;
    uint32_t n_weighted;
    const uint64_t *packs;
    int64_t *document, *start, *size;
    uint64_t *total;
    int numbering, grouped;
} tieaware_ranking;

/* wide_words: writes the words of sorting.h and the keys of n scores; returns 0 if a score is NaN. */
#define TIEAWARE_WIDE_WORDS(NAME, SCORE, WORDS)                                                                \
    TIEAWARE_CLONES static int NAME(const SCORE *scores, const int64_t *order, ptrdiff_t n,                    \
                                    int64_t place_bits, int64_t *restrict keys, int64_t *words) {              \
        if (WORDS(scores, order, n, place_bits, words) > 0) return 0;                                          \
        for (ptrdiff_t i = 0; i < n; i++)                                                                      \
            keys[i] = tieaware_narrow_words_double_key(0.0 - scores[order == NULL ? i : order[i]]);            \
        return 1;                                                                                              \
    }

TIEAWARE_WIDE_WORDS(tieaware_wide_words_double, double, tieaware_words_double)
TIEAWARE_WIDE_WORDS(tieaware_wide_words_float, float, tieaware_words_float)

/* The functions for words of the type WORD and keys of the type KEY:
 *
 * settle: sorts words by their keys, where the words were equal apart from their places. Returns 0 if too many are out
 * of order. Invariant: the words before index i are in order.
 *
 * repeat: returns whether words are equal to the words before them, apart from their places.
 *
 * documents, groups: find the weighted documents before the word `stop`, or the groups, along the sorted words; return
 * their number, or -1 if the keys do not ascend. If words do not repeat, `documents` need not compare keys. Invariant of `documents`:
 * document[g] and start[g] may be overwritten, the elements before them are final. `groups` first finds all runs of
 * equal keys: run r ends before the word with index end[r], and sums[r] is the sum of all packs up to there.
 *
 * walk: calls `groups` or `documents`, with constants for `repeats`, so that the compiler makes a loop for each.
 *
 * rank: ranks a list; returns the number of documents or groups.
 */
#define TIEAWARE_RANKING(NAME, SCORE, WORD, KEY, WRITE, SORT)                                                  \
    static int NAME##_settle(const KEY *keys, ptrdiff_t n, WORD place_bits, WORD *words) {                     \
        ptrdiff_t moves = 0;                                                                                   \
        for (ptrdiff_t i = 1; i < n; i++) {                                                                    \
            const WORD word = words[i];                                                                        \
            const KEY key = keys[word & place_bits];                                                           \
            ptrdiff_t j = i;                                                                                   \
            while (j > 0 && keys[words[j - 1] & place_bits] > key) {                                           \
                words[j] = words[j - 1];                                                                       \
                j--;                                                                                           \
            }                                                                                                  \
            words[j] = word;                                                                                   \
            moves += i - j;                                                                                    \
            if (moves > 4 * n) return 0;                                                                       \
        }                                                                                                      \
        return 1;                                                                                              \
    }                                                                                                          \
    TIEAWARE_CLONES static int NAME##_repeat(const WORD *words, ptrdiff_t n, WORD place_bits) {                \
        WORD repeats = 0;                                                                                      \
        for (ptrdiff_t i = 1; i < n; i++) repeats += (words[i] ^ words[i - 1]) <= place_bits;                  \
        return repeats > 0;                                                                                    \
    }                                                                                                          \
    TIEAWARE_INLINED ptrdiff_t NAME##_documents(const tieaware_ranking *list, const WORD *restrict words,      \
                                                const KEY *restrict keys, WORD place_bits, int repeats,        \
                                                int64_t stop, int64_t *restrict start) {                       \
        const uint16_t *restrict weighted_at = list->weighted_at;                                              \
        int64_t *restrict document = list->document;                                                           \
        const ptrdiff_t n = list->n;                                                                           \
        const uint32_t n_weighted = list->n_weighted;                                                          \
        KEY before = keys[words[0] & place_bits];                                                              \
        int unsettled = 0;                                                                                     \
        int64_t g = 0;                                                                                         \
        ptrdiff_t i = 0;                                                                                       \
        for (; i < stop; i++) {                                                                                \
            const WORD place = words[i] & place_bits;                                                          \
            const uint32_t k = weighted_at[place];                                                             \
            if (repeats) {                                                                                     \
                unsettled |= keys[place] < before;                                                             \
                before = keys[place];                                                                          \
            }                                                                                                  \
            start[g] = i;                                                                                      \
            document[g] = k;                                                                                   \
            g += k < n_weighted;                                                                               \
        }                                                                                                      \
        /* A later document belongs above the last one at most if their words are equal. */                    \
        for (; i > 0 && i < n && ((words[i] ^ words[i - 1]) & ~place_bits) == 0; i++)                          \
            unsettled |= keys[words[i] & place_bits] < keys[words[i - 1] & place_bits];                        \
        return unsettled ? -1 : (ptrdiff_t)g;                                                                  \
    }                                                                                                          \
    static ptrdiff_t NAME##_groups(const tieaware_ranking *list, const WORD *restrict words,                   \
                                   const KEY *restrict keys, WORD place_bits) {                                \
        const uint64_t *restrict packs = list->packs;                                                          \
        int64_t *restrict end = list->end, *restrict start = list->start, *restrict size = list->size;         \
        uint64_t *restrict sums = list->sums, *restrict total = list->total;                                   \
        KEY before = keys[words[0] & place_bits];                                                              \
        int unsettled = 0;                                                                                     \
        uint64_t sum = packs[words[0] & place_bits], last = 0;                                                 \
        int64_t begin = 0;                                                                                     \
        ptrdiff_t r = 0, g = 0;                                                                                \
        for (ptrdiff_t i = 1; i < list->n; i++) {                                                              \
            const WORD place = words[i] & place_bits;                                                          \
            const KEY key = keys[place];                                                                       \
            end[r] = i;                                                                                        \
            sums[r] = sum;                                                                                     \
            r += key != before;                                                                                \
            unsettled |= key < before;                                                                         \
            before = key;                                                                                      \
            sum += packs[place];                                                                               \
        }                                                                                                      \
        if (unsettled) return -1;                                                                              \
        end[r] = list->n;                                                                                      \
        sums[r++] = sum;                                                                                       \
        for (ptrdiff_t i = 0; i < r && begin < list->depth; i++) {                                             \
            start[g] = begin;                                                                                  \
            size[g] = end[i] - begin;                                                                          \
            total[g] = sums[i] - last;                                                                         \
            g += sums[i] != last;                                                                              \
            begin = end[i];                                                                                    \
            last = sums[i];                                                                                    \
        }                                                                                                      \
        return g;                                                                                              \
    }                                                                                                          \
    static ptrdiff_t NAME##_walk(tieaware_ranking *list, const WORD *words, const KEY *keys, WORD place_bits) {\
        const int64_t stop = list->depth < list->n ? list->depth : list->n;                                    \
        const int repeats = NAME##_repeat(words, list->n, place_bits);                                         \
        list->grouped = repeats && list->packs != NULL;                                                        \
        if (!repeats) return NAME##_documents(list, words, keys, place_bits, 0, stop, list->start);            \
        if (!list->grouped) return NAME##_documents(list, words, keys, place_bits, 1, stop, list->start);      \
        const ptrdiff_t count = NAME##_groups(list, words, keys, place_bits);                                  \
        if (list->numbering && count > 0)                                                                      \
            NAME##_documents(list, words, keys, place_bits, 0, list->start[count - 1] + list->size[count - 1], \
                             list->end);                                                                       \
        return count;                                                                                          \
    }                                                                                                          \
    static ptrdiff_t NAME(const SCORE *scores, tieaware_ranking *list) {                                       \
        const WORD place_bits = (WORD)tieaware_place_bits(list->n);                                            \
        KEY *keys = (KEY *)list->keys;                                                                         \
        WORD *words = (WORD *)list->words;                                                                     \
        if (!WRITE(scores, list->order, list->n, place_bits, keys, words)) return TIEAWARE_NO_ORDER;           \
        words = SORT(words, list);                                                                             \
        const ptrdiff_t count = NAME##_walk(list, words, keys, place_bits);                                    \
        if (count >= 0) return count;                                                                          \
        if (!NAME##_settle(keys, list->n, place_bits, words)) return TIEAWARE_TOO_CLOSE;                       \
        return NAME##_walk(list, words, keys, place_bits);                                                     \
    }

static inline uint32_t *tieaware_narrow_sort(uint32_t *words, const tieaware_ranking *list) {
    return tieaware_narrow_sort_chunks(list->sort_narrow, words, list->n, list->narrow_chunk, (uint32_t *)list->spare);
}

static inline int64_t *tieaware_wide_sort(int64_t *words, const tieaware_ranking *list) {
    return tieaware_sort(list->sort_wide, words, list->n, list->spare);
}

TIEAWARE_RANKING(tieaware_rank_narrow_double, double, uint32_t, int64_t, tieaware_narrow_words_double,
                 tieaware_narrow_sort)
TIEAWARE_RANKING(tieaware_rank_narrow_float, float, uint32_t, int32_t, tieaware_narrow_words_float,
                 tieaware_narrow_sort)
TIEAWARE_RANKING(tieaware_rank_wide_double, double, int64_t, int64_t, tieaware_wide_words_double, tieaware_wide_sort)
TIEAWARE_RANKING(tieaware_rank_wide_float, float, int64_t, int64_t, tieaware_wide_words_float, tieaware_wide_sort)

static ptrdiff_t tieaware_rank_double(const double *scores, tieaware_ranking *list) {
    if (list->n <= TIEAWARE_LONGEST_NARROW) {
        const ptrdiff_t count = tieaware_rank_narrow_double(scores, list);
        if (count != TIEAWARE_TOO_CLOSE) return count;
    }
    return tieaware_rank_wide_double(scores, list);
}

static ptrdiff_t tieaware_rank_float(const float *scores, tieaware_ranking *list) {
    if (list->n <= TIEAWARE_LONGEST_NARROW) {
        const ptrdiff_t count = tieaware_rank_narrow_float(scores, list);
        if (count != TIEAWARE_TOO_CLOSE) return count;
    }
    return tieaware_rank_wide_float(scores, list);
}

#endif
