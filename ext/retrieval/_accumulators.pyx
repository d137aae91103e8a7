"""Scoring of all documents in the lists of a query, chunk after chunk, and of the fewest possible if bounds are given.

List i of a query has the postings from starts[i] to stops[i], and adds query_weights[i] times the weight of each
posting to the score of its document. The lists are in the order of their terms, and a score is summed in this order in
float64, so its bits do not depend on the size of the chunks of documents.
"""
from libc.math cimport INFINITY, fabs, isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from tieaware.kernels._chunks cimport (
    TIEAWARE_WORD,
    Chunk,
    add_list,
    begin_counting,
    close_chunk,
    count_list,
    count_row,
    finish,
    open_chunk,
    take,
    take_counted,
    words_of,
)
from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption
from tieaware.kernels._term_lists cimport TermLists, PostingLists, close_lists, gather, score_list
from tieaware.kernels._top cimport Best, bound_by, close_best, found, leave_out, offer, open_best, score_of

cdef extern from "retrieval/accumulators.h":
    int tieaware_lowest(uint64_t word) nogil
    int64_t tieaware_survey(const double *scores, uint64_t *marks, ptrdiff_t n_words, double bound) nogil


cdef enum:
    # The size of the chunks to which a list in dense form is added. Their accumulators take 16 KB, which fit in the
    # first-level cache.
    TILE = 2048
    FIRST_CHUNK = 256
    # Looking up a document in a list takes as long as adding this many postings.
    LOOK = 16


cdef bint is_settled(Best* best, double highest) noexcept nogil:
    """Return whether k documents have a score above the highest score that a further document can have."""
    if best.k == 0:
        # The lists have no postings.
        return True
    if best.heap.size < best.k:
        return False
    leave_out(best)
    return score_of(best.heap.entries[best.k - 1]) > highest


# The state of skipping, which avoids reading some lists. bounds[i] is an upper bound of what list i adds to a score;
# `order` has the lists in ascending order of bounds. The bounds of the first `light` lists in this order have the sum
# `all_light`, which is too low to lift a document above the bound of the best, even with the highest base. Optional
# lists are light lists that are read only for documents that have a score from other lists; the sum of the bounds of
# the optional lists is `rest`.
cdef struct Skipping:
    const double* bounds
    Py_ssize_t* order
    Py_ssize_t light
    double all_light
    uint8_t* is_optional
    double rest
    # The index of the first posting of each list in this chunk, and of the first posting after the chunk.
    int64_t* begins
    int64_t* ends
    # The documents of the chunk that may be among the best, and their sums. n_candidates is an estimate of how many of
    # them the next chunk will have.
    int32_t* candidates
    double* sums
    int64_t n_candidates
    # A number for each document of the collection that is added to its score, or NULL; and the largest of these.
    const double* base
    double highest

# A safety factor for rounding. A sum of fewer than 4096 bounds, added in another order than a score or rounded less
# often, can be below the score by less than this factor.
cdef double ROUNDING = 1.0 + 2.0 ** -40


cdef inline double sum_to_exceed(Best* best, Skipping* skipping) noexcept nogil:
    """Return a number that the sum of the lists must exceed if the document's score exceeds the bound of the best.

    With a base, the difference is rounded, and then lowered by more than that.
    """
    if skipping.base == NULL:
        return best.bound
    return best.bound - skipping.highest - (fabs(best.bound) + fabs(skipping.highest)) * (ROUNDING - 1.0)


cdef bint choose_optional(
    TermLists* lists, Chunk* chunk, Skipping* skipping, double bound, Py_ssize_t n_documents
) noexcept nogil:
    """Find the light lists for a sum that documents must exceed, and the optional ones; return whether there is any.

    A light list is optional only if looking up the candidates takes less time than adding all its postings.
    """
    cdef Py_ssize_t i, which
    cdef double n_postings
    cdef bint any_optional = False
    while skipping.light < lists.n:
        which = skipping.order[skipping.light]
        if not (skipping.all_light + skipping.bounds[which]) * ROUNDING <= bound:
            break
        skipping.all_light += skipping.bounds[which]
        skipping.light += 1
    skipping.rest = 0.0
    for i in range(skipping.light):
        which = skipping.order[i]
        n_postings = <double>(lists.stops[which] - lists.starts[which]) * chunk.size / n_documents
        skipping.is_optional[which] = LOOK * skipping.n_candidates < n_postings
        if skipping.is_optional[which]:
            skipping.rest += skipping.bounds[which]
            any_optional = True
    skipping.n_candidates = skipping.n_candidates // 2
    return any_optional


cdef inline int64_t complete(
    TermLists* lists, Py_ssize_t i, const int32_t* candidates, int64_t n, double* sums
) noexcept nogil:
    """Add the weights of list i to the sums of n candidates; return the number of postings that were added."""
    if lists.rows != NULL and lists.rows[i] >= 0 and isfinite(lists.query_weights[i]):
        return gather(candidates, n, lists, i, sums)
    return score_list(candidates, n, lists, i, sums)


cdef void take_candidates(TermLists* lists, Chunk* chunk, Best* best, Skipping* skipping) noexcept nogil:
    """Offer the documents of a chunk whose score may be above the bound, given the bounds of the optional lists.

    Invariant: a candidate's sum includes all lists that are not optional, and the optional lists read so far. Before
    each optional list is read, candidates that cannot exceed the bound with the remaining lists are dropped. The
    optional lists are read in descending order of their bounds.
    """
    cdef Py_ssize_t i, which
    cdef double rest = skipping.rest
    cdef int64_t n
    for i in range(lists.n):
        if skipping.is_optional[i]:
            count_row(lists, i, chunk, chunk.first)
        skipping.begins[i] = skipping.ends[i] = lists.next[i]
        if not skipping.is_optional[i]:
            skipping.ends[i] = add_list(lists, i, chunk)
    n = lifted(chunk, best, skipping)
    skipping.n_candidates = n
    for i in range(skipping.light - 1, -1, -1):
        which = skipping.order[i]
        if not skipping.is_optional[which]:
            continue
        n = kept(skipping, n, needed(best, skipping, rest))
        lists.n_read += complete(lists, which, skipping.candidates, n, skipping.sums)
        skipping.ends[which] = lists.next[which]
        rest -= skipping.bounds[which]
    n = kept(skipping, n, needed(best, skipping, 0.0))
    # Sum the scores again, in the order of the lists, so that they have the same bits as without skipping.
    memset(skipping.sums, 0, n * sizeof(double))
    for i in range(lists.n):
        lists.next[i] = skipping.begins[i]
        complete(lists, i, skipping.candidates, n, skipping.sums)
        lists.next[i] = skipping.ends[i]
    for i in range(n):
        if skipping.base != NULL:
            skipping.sums[i] += skipping.base[skipping.candidates[i]]
        offer(best, skipping.candidates[i], skipping.sums[i])


cdef inline double needed(Best* best, Skipping* skipping, double rest) noexcept nogil:
    """Return the sum that a document must exceed to be among the best if the remaining lists add at most `rest`."""
    return max(0.0, sum_to_exceed(best, skipping) / ROUNDING - rest * ROUNDING)


cdef int64_t lifted(Chunk* chunk, Best* best, Skipping* skipping) noexcept nogil:
    """Collect the candidates from the accumulators, clear the accumulators, and return the number of candidates."""
    cdef Py_ssize_t n_words = words_of(chunk.size), word, i
    cdef double least = needed(best, skipping, skipping.rest), score
    cdef int64_t n = 0
    cdef uint64_t marks
    if chunk.is_dense:
        best.documents += tieaware_survey(chunk.scores, chunk.marks, n_words, least)
    for word in range(n_words):
        marks = chunk.marks[word]
        while marks:
            i = word * TIEAWARE_WORD + tieaware_lowest(marks)
            marks &= marks - 1
            score = chunk.scores[i]
            if not chunk.is_dense:
                best.documents += score > 0.0
            skipping.candidates[n] = <int32_t>(chunk.first + i)
            skipping.sums[n] = score
            n += score > least
            chunk.scores[i] = 0.0
        chunk.marks[word] = 0
    finish(chunk)
    return n


cdef int64_t kept(Skipping* skipping, int64_t n, double least) noexcept nogil:
    """Drop the candidates whose sum is not above `least`; return the number of the other candidates."""
    cdef int64_t i, m = 0
    cdef double sum
    for i in range(n):
        sum = skipping.sums[i]
        skipping.candidates[m] = skipping.candidates[i]
        skipping.sums[m] = sum
        m += sum > least
    return m


def accumulate(
    PostingLists postings not None, const int64_t[::1] terms, const double[::1] query_weights, Py_ssize_t n_documents,
    int64_t k, const double[::1] base, uint32_t at_least, bint whole_ties, bint all_in_heap, double floor,
    const double[::1] bounds, Py_ssize_t chunk_size, const int32_t[::1] order, double rest, double highest,
    Py_ssize_t until
):
    """Score the documents of the lists, chunk after chunk, and find the top k.

    Parameters
    ----------
    postings : PostingLists
        The posting lists of all terms. The documents of a list must ascend, unless there is only one chunk. Bitmaps are
        used only to count the lists of a document.
    terms : int64[n_lists]
        The numbers of the query's terms.
    query_weights : float64[n_lists]
        The weight of each term in the query.
    n_documents, k : int
        The number of documents in the collection, and the number of documents to find, at least 1.
    base : float64[n_documents] or None
        A number to add to the score of each document that occurs in the lists.
    at_least : int
        The number of lists in which a document must occur, at least 1.
    whole_ties : bool
        Whether to find all documents that tie with the k-th as well.
    all_in_heap : bool
        Whether to build a heap of all documents that have a score, instead of keeping the best k so far.
    floor : float
        A score that at least k documents are known to reach, or 0. Not allowed with a base or at_least > 1.
    bounds : float64[n_lists] or None
        An upper bound of what each list adds to a score, for skipping lists and documents that cannot change the
        result. Not allowed with at_least > 1 or an order; weights must not be negative.
    chunk_size : int
        The number of documents of a chunk, which are scored at a time.
    order : int32[n_documents] or None
        The number with which each document is found. With an order, the base must descend, and the search stops when k
        documents have a score above `rest` plus the base of the next document.
    rest : float
        With an order, an upper bound of what all lists add to a score.
    highest : float
        With a base and bounds, the largest number of the base.
    until : int
        The number of documents to search: documents from this number on are left out.

    Returns
    -------
    int32[n], float64[n], int, int, int
        The documents, best first; their scores; the number of documents that have a score; the number of comparisons
        between scores; the number of postings read.
    """
    cdef TermLists lists
    cdef Chunk chunk
    cdef Best best
    cdef Skipping skipping
    cdef Interruption interruption = no_interruption()
    cdef Py_ssize_t first = 0, i
    cdef bint has_rows = False
    cdef int64_t read = 0, bounded = 0, end, most, edge = 0
    cdef const int32_t* numbers = NULL
    cdef const double* added = NULL
    cdef double least
    if not (0 <= until <= n_documents <= 0x7fffffff and k >= 1 and at_least >= 1 and chunk_size >= 1):
        raise ValueError("n_documents, k, at_least, chunk_size or until is out of its range")
    if order is not None:
        if base is None or order.shape[0] != n_documents:
            raise ValueError("order must have a number for each document, and needs a base")
        numbers = &order[0] if n_documents else NULL
    if base is not None:
        if base.shape[0] != n_documents:
            raise ValueError("base must have a number for each document")
        added = &base[0] if n_documents else NULL
    if (bounds is not None or floor > 0.0) and (order is not None or at_least > 1 or all_in_heap):
        raise ValueError("bounds and floor must not be given with order, at_least or all_in_heap")
    if floor > 0.0 and base is not None:
        raise ValueError("floor must not be given with base")
    if query_weights.shape[0] != terms.shape[0] or (bounds is not None and bounds.shape[0] != terms.shape[0]):
        raise ValueError("each list must have a query weight and, with bounds, a bound")
    chunk_size = min(chunk_size, n_documents)
    memset(&chunk, 0, sizeof(chunk))
    memset(&best, 0, sizeof(best))
    memset(&skipping, 0, sizeof(skipping))
    memset(&lists, 0, sizeof(lists))
    try:
        postings.open_lists(&lists, &terms[0] if terms.shape[0] else NULL, terms.shape[0],
                            &query_weights[0] if terms.shape[0] else NULL, n_documents)
        # A dense row could contain weights of documents that its list lacks, so any document may have a score.
        most = n_documents if lists.rows != NULL else min(n_documents, lists.n_postings)
        for i in range(lists.n):
            has_rows = has_rows or (lists.rows != NULL and lists.rows[i] >= 0)
        open_best(&best, k, most, whole_ties, all_in_heap)
        best.ascending = order is None
        best.bound = 0.0 if base is None else -INFINITY
        if floor > 0.0:
            bound_by(&best, floor)
        open_chunk(&chunk, chunk_size, lists.n, at_least if base is not None or at_least > 1 else 0)
        if bounds is not None and lists.n < 4096:
            open_skipping(&skipping, bounds, chunk_size)
            skipping.base, skipping.highest = added, highest
        with nogil:
            while first < until:
                if first >= edge:
                    if numbers != NULL and is_settled(&best, rest + added[first]):
                        break
                    # Chunks begin at a multiple of 64, where a word of the bitmaps begins.
                    edge = until if numbers == NULL else min(until, first + max(FIRST_CHUNK, first // 256 * 64))
                chunk.first = first
                chunk.size = min(chunk_size, edge - first)
                if skipping.bounds != NULL:
                    # Begin with a small chunk, because nothing can be skipped in the first chunk. Double the size each
                    # time.
                    chunk.size = min(chunk.size, max(first, FIRST_CHUNK))
                least = sum_to_exceed(&best, &skipping)
                if skipping.bounds != NULL and choose_optional(&lists, &chunk, &skipping, least, n_documents):
                    take_candidates(&lists, &chunk, &best, &skipping)
                else:
                    if chunk.reached != NULL:
                        begin_counting(&chunk)
                    elif has_rows:
                        chunk.size = min(chunk.size, TILE)
                    for i in range(lists.n):
                        end = add_list(&lists, i, &chunk)
                        if chunk.reached != NULL:
                            count_list(&lists, i, end, &chunk)
                        lists.next[i] = end
                    if chunk.reached == NULL:
                        take(&chunk, &best)
                    else:
                        take_counted(&chunk, &best, NULL if added == NULL else added + first, numbers)
                # Raise the bound, so that more can be skipped, unless few documents were added since it was last
                # raised.
                if skipping.bounds != NULL and best.heap.size >= max(best.k, bounded + 1 + best.k // 2):
                    leave_out(&best)
                    bounded = best.k
                first += chunk.size
                if interrupted(&interruption, 2 * (lists.n_read - read) + words_of(chunk.size) + lists.n):
                    break
                read = lists.n_read
            for i in range(lists.n):
                count_row(&lists, i, &chunk, <uint32_t>first)
        check_interruption(&interruption)
        return *found(&best, whole_ties), lists.n_read
    finally:
        close_lists(&lists)
        close_chunk(&chunk)
        close_best(&best)
        close_skipping(&skipping)


cdef int open_skipping(Skipping* skipping, const double[::1] bounds, Py_ssize_t chunk_size) except -1:
    """Allocate memory, and sort the lists by their bounds. No list is light yet."""
    cdef Py_ssize_t n = bounds.shape[0], i, j
    cdef size_t n_slots = words_of(chunk_size) * TIEAWARE_WORD + 1
    cdef bint allocated
    if n == 0:
        return 0
    skipping.order = <Py_ssize_t*>calloc(n, sizeof(Py_ssize_t))
    skipping.is_optional = <uint8_t*>calloc(n, sizeof(uint8_t))
    skipping.begins = <int64_t*>calloc(n, sizeof(int64_t))
    skipping.ends = <int64_t*>calloc(n, sizeof(int64_t))
    skipping.candidates = <int32_t*>malloc(n_slots * sizeof(int32_t))
    skipping.sums = <double*>malloc(n_slots * sizeof(double))
    allocated = skipping.order and skipping.is_optional and skipping.begins and skipping.ends and skipping.candidates
    if not (allocated and skipping.sums):
        raise MemoryError
    skipping.bounds = &bounds[0]
    for i in range(n):
        j = i
        while j > 0 and bounds[i] < bounds[skipping.order[j - 1]]:
            skipping.order[j] = skipping.order[j - 1]
            j -= 1
        skipping.order[j] = i
    return 0


cdef void close_skipping(Skipping* skipping) noexcept:
    free(skipping.order)
    free(skipping.is_optional)
    free(skipping.begins)
    free(skipping.ends)
    free(skipping.candidates)
    free(skipping.sums)
