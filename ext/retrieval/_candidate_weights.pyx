"""The weights of candidates: for each list, the postings of the candidates are found, and their weights are added.

The cheapest of these ways is taken: looking up the candidates in the bitmap of the list, looking up the postings in a
bitmap of the candidates, or galloping through both. All of them add the same numbers in the same order. With cuts, only
the postings with the highest weights of each list count, as in impact order.
"""
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from tieaware.kernels._entry_bounds cimport Filter
from tieaware.kernels._gallop cimport gallop
from tieaware.kernels._interruption cimport Interruption, interrupted
from tieaware.kernels._posting_impacts cimport weight_at
from tieaware.kernels._term_lists cimport TermLists, look_up, score_list

cdef extern from "retrieval/accumulators.h":
    void tieaware_prefetch(const void *address) nogil
    void tieaware_prefetch_bytes(const char *start, ptrdiff_t n) nogil

cdef extern from "retrieval/bitmaps.h":
    int tieaware_find_bits(const int32_t *candidates, int n, const uint64_t *bits, const uint32_t *ranks,
                           int64_t length, int32_t *which, int64_t *at) nogil
    int64_t tieaware_probe(
        int kind, const int32_t *documents, const void *weights, ptrdiff_t start, ptrdiff_t length,
        const uint64_t *bits, const uint32_t *ranks, uint32_t n_documents, int64_t n, double query_weight, double *sums
    ) nogil

cdef enum:
    # Postings are looked up among the candidates if there are at most this many for each candidate. For longer lists,
    # galloping takes less time.
    POSTINGS_PER_CANDIDATE = 16
    # The number of candidates that are located in a list at a time, and of lists.
    TILE = 64
    LISTS = 16
    # For fewer candidates than this, and for this many postings of a list, the places of postings are prefetched.
    FETCHED = 128


cdef inline bint passes(const Filter* filter, int32_t document) noexcept nogil:
    """Return whether the list of a filter, which may be NULL or empty, may have a document."""
    cdef uint32_t bit
    if filter == NULL or filter.n_words == 0:
        return True
    bit = <uint32_t>document & <uint32_t>(64 * filter.n_words - 1)
    return filter.words[bit >> 6] >> (bit & 63) & 1


cdef int locate(
    const int32_t* documents, int n, TermLists* lists, Py_ssize_t i, const Filter* filter, int32_t* which, int64_t* at
) noexcept nogil:
    """Find the postings of list i with the first n documents; return how many there are.

    Posting at[m], an index from the first posting of the list on, is that of document which[m]. The next posting to
    gallop from is that of the list. The filter may be NULL.
    """
    cdef int32_t[TILE] passed
    cdef int32_t[TILE] found_of
    cdef int m, left = 0, found = 0
    cdef int64_t j = lists.next[i]
    cdef Py_ssize_t row
    for m in range(n):
        which[left] = m
        left += passes(filter, documents[m])
    if lists.bitmap_rows != NULL and lists.bitmap_rows[i] >= 0:
        row = lists.bitmap_rows[i] * lists.n_words
        for m in range(left):
            passed[m] = documents[which[m]]
        found = tieaware_find_bits(passed, left, lists.bitmaps + row, lists.ranks + row,
                                   lists.stops[i] - lists.starts[i], found_of, at)
        for m in range(found):
            which[m] = which[found_of[m]]
        return found
    for m in range(left):
        if j < lists.stops[i] and lists.documents[j] < documents[which[m]]:
            j = gallop(lists.documents, j, lists.stops[i], documents[which[m]])
        which[found], at[found] = which[m], j - lists.starts[i]
        found += j < lists.stops[i] and lists.documents[j] == documents[which[m]]
    lists.next[i] = j
    return found


cdef int64_t add_located(
    Candidates* candidates, TermLists* lists, Py_ssize_t first_list, Py_ssize_t n_lists, const Filter* filters,
    const double* cut_weights, const int32_t* cut_documents
) noexcept nogil:
    """Add the weights of at most LISTS lists to the sums of the candidates; return the number of postings added.

    Only weights above the cut of a list are added and, of those equal to it, the weights of documents up to the cut.
    The filters and the cuts may be NULL. The postings of all lists are found before the first weight is read, so that
    all weights are fetched from memory at the same time.
    """
    cdef int32_t[LISTS][TILE] which
    cdef int64_t[LISTS][TILE] at
    cdef int[LISTS] found
    cdef int64_t first = 0, n = 0
    cdef int32_t document, cut_document = 0
    cdef double weight, cut_weight = -INFINITY
    cdef int m
    cdef Py_ssize_t i, j
    while first < candidates.n:
        for j in range(n_lists):
            i = first_list + j
            found[j] = locate(candidates.documents + first, <int>min(TILE, candidates.n - first), lists, i,
                              NULL if filters == NULL else &filters[i], which[j], at[j])
            for m in range(found[j]):
                tieaware_prefetch(<const char*>lists.weights + (lists.starts[i] + at[j][m]) * lists.kind)
        for j in range(n_lists):
            i = first_list + j
            if cut_weights != NULL:
                cut_weight, cut_document = cut_weights[i], cut_documents[i]
            for m in range(found[j]):
                weight = weight_at(lists.weights, lists.kind, lists.starts[i] + at[j][m])
                document = candidates.documents[first + which[j][m]]
                if weight > cut_weight or (weight == cut_weight and document <= cut_document):
                    candidates.sums[first + which[j][m]] += lists.query_weights[i] * weight
                    n += 1
        first += TILE
    return n


cdef inline int64_t fetch_ranks(
    const Candidates* candidates, const TermLists* lists, const Filter* filters
) noexcept nogil:
    """Fetch from memory what shows where the postings of the candidates are; return how many postings there may be.

    GCC deletes calls of functions that only fetch, so this one returns a number.
    """
    cdef Py_ssize_t i
    cdef int64_t j, row, size, n = 0
    for i in range(lists.n):
        size = min(lists.stops[i] - lists.starts[i], FETCHED)
        n |= size
        if lists.bitmap_rows == NULL or lists.bitmap_rows[i] < 0:
            tieaware_prefetch_bytes(<const char*>(lists.documents + lists.starts[i]), size * <int64_t>sizeof(int32_t))
            continue
        row = lists.bitmap_rows[i] * lists.n_words
        for j in range(candidates.n):
            if passes(NULL if filters == NULL else &filters[i], candidates.documents[j]):
                tieaware_prefetch(lists.bitmaps + row + (candidates.documents[j] >> 6))
                tieaware_prefetch(lists.ranks + row + (candidates.documents[j] >> 6))
    return n


cdef int64_t add_counting(
    Candidates* candidates, TermLists* lists, const Filter* filters, const double* cut_weights,
    const int32_t* cut_documents, Interruption* interruption
) noexcept nogil:
    """Add the weights that count, of all lists; return the number of postings that were added."""
    cdef Py_ssize_t i = 0
    cdef int64_t n = 0
    while i < lists.n:
        n += add_located(candidates, lists, i, min(LISTS, lists.n - i), filters, cut_weights, cut_documents)
        if interrupted(interruption, 4 * LISTS * candidates.n):
            break
        i += LISTS
    return n


cdef int64_t add_weights(
    Candidates* candidates, TermLists* lists, const Filter* filters, const double* cut_weights,
    const int32_t* cut_documents, Interruption* interruption
) noexcept nogil:
    """Add the weights of all lists to the sums of the candidates; return the number of postings that were added.

    The filters and the cuts are those of the lists, or NULL.
    """
    cdef Py_ssize_t i
    cdef int64_t n = 0, first, length
    if candidates.n < FETCHED and fetch_ranks(candidates, lists, filters) <= 0:
        return 0
    if cut_weights != NULL:
        return add_counting(candidates, lists, filters, cut_weights, cut_documents, interruption)
    for i in range(lists.n):
        first, length = lists.next[i], lists.stops[i] - lists.starts[i]
        if lists.bitmap_rows != NULL and lists.bitmap_rows[i] >= 0:
            n += look_up(candidates.documents, candidates.n, lists, i, candidates.sums)
        elif candidates.bits != NULL and length <= POSTINGS_PER_CANDIDATE * candidates.n:
            n += tieaware_probe(lists.kind, lists.documents, lists.weights, lists.starts[i], length, candidates.bits,
                                candidates.ranks, candidates.n_documents, candidates.n, lists.query_weights[i],
                                candidates.sums)
            first -= length
        elif filters != NULL and filters[i].n_words > 0:
            n += add_located(candidates, lists, i, 1, filters, NULL, NULL)
        else:
            n += score_list(candidates.documents, candidates.n, lists, i, candidates.sums)
        if interrupted(interruption, 4 * (candidates.n + lists.next[i] - first)):
            break
    return n
