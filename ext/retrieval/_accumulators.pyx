"""Accumulators: for each document, the sum of the weights of the query's postings.

List i of a query has the postings from starts[i] to stops[i], and adds query_weights[i] times the weight of each
posting to the score of its document. The lists are in the order of their terms, and a score is summed in this order in
float64, so its bits do not depend on the size of the chunks of documents. An invalid document number ends its list, so
no memory outside the accumulators is read or written.
"""
cimport numpy as cnp
import numpy as np
from libc.math cimport INFINITY, isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from tieaware.kernels._gallop cimport gallop
from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption
from tieaware.kernels._top cimport Best, bound_by, close_best, found, leave_out, offer, open_best

cdef extern from "retrieval/accumulators.h":
    enum: TIEAWARE_WORD
    int tieaware_lowest(uint64_t word) nogil
    void tieaware_add_float(double *scores, const float *weights, ptrdiff_t n, double query_weight) nogil
    void tieaware_add_uint8(double *scores, const uint8_t *weights, ptrdiff_t n, double query_weight) nogil
    void tieaware_add_uint16(double *scores, const uint16_t *weights, ptrdiff_t n, double query_weight) nogil
    int64_t tieaware_survey(const double *scores, uint64_t *marks, ptrdiff_t n_words, double bound) nogil

cnp.import_array()

cdef enum:
    # The number of words to survey at a time. A word stands for 64 accumulators, and all of these accumulators must fit
    # in the first-level cache.
    SURVEYED_WORDS = 64
    # A chunk is dense if a list contains at least one in eight of its documents.
    DENSE = 8
    FIRST_CHUNK = 256
    # Looking up a document in a list takes as long as adding this many postings.
    LOOK = 16

ctypedef fused Weight:
    float
    uint8_t
    uint16_t


# The posting lists of a query. `next` has the index of the first unread posting of each list.
cdef struct Lists:
    Py_ssize_t n
    int64_t* next
    const int64_t* starts
    const int64_t* stops
    const double* query_weights
    const int32_t* documents
    const void* weights
    # The size of a weight in bytes: 4 for float32, 1 for uint8, 2 for uint16.
    int kind
    # For each posting list, its row in dense_weights, or -1 if it has none. A row has a weight for each of the
    # n_documents documents.
    const int64_t* rows
    const void* dense_weights
    Py_ssize_t n_documents
    # The number of postings in the lists, and the number read so far.
    int64_t n_postings
    int64_t n_read


# The accumulators of a chunk of documents, from the document `first` on. Documents with a posting are marked, except in
# a dense chunk. `occurrences` has the number of lists that contain each document; it is counted only if the array is
# allocated.
cdef struct Chunk:
    uint32_t first
    uint32_t size
    bint is_dense
    double* scores
    uint64_t* marks
    uint32_t* occurrences


cdef inline int64_t add(
    const int32_t* documents, const Weight* weights, int64_t i, int64_t stop, double query_weight, Chunk* chunk
) noexcept nogil:
    """scores[d] += query_weight · weight for the postings from i on in this chunk.

    Return the index of the first posting after the chunk.
    """
    cdef uint32_t first = chunk.first, size = chunk.size, at
    cdef double* scores = chunk.scores
    cdef uint64_t* marks = chunk.marks
    if i + size // DENSE < stop and <uint32_t>documents[i + size // DENSE] - first < size:
        chunk.is_dense = True
    if chunk.is_dense:
        while i < stop:
            at = <uint32_t>documents[i] - first
            if at >= size:
                break
            scores[at] += query_weight * <double>weights[i]
            i += 1
        return i
    while i < stop:
        at = <uint32_t>documents[i] - first
        if at >= size:
            break
        scores[at] += query_weight * <double>weights[i]
        marks[at // TIEAWARE_WORD] |= <uint64_t>1 << (at % TIEAWARE_WORD)
        i += 1
    return i


cdef inline Py_ssize_t words_of(Py_ssize_t size) noexcept nogil:
    return (size + TIEAWARE_WORD - 1) // TIEAWARE_WORD


cdef int64_t add_list(Lists* lists, Py_ssize_t i, Chunk* chunk) noexcept nogil:
    """Add the postings of list i in this chunk; return the index of the list's first posting after the chunk."""
    cdef int64_t before = lists.next[i], j
    cdef double q = lists.query_weights[i]
    if before < lists.stops[i] and lists.documents[before] < <int32_t>chunk.first:
        # The list was optional in earlier chunks, so some of its postings there were not read: skip these.
        before = lists.next[i] = gallop(lists.documents, before, lists.stops[i], <int32_t>chunk.first)
    if lists.rows != NULL and lists.rows[i] >= 0 and chunk.occurrences == NULL and isfinite(q):
        add_row(lists, i, chunk)
        j = before
        if j < lists.stops[i] and <uint32_t>lists.documents[j] - chunk.first < chunk.size:
            j = gallop(lists.documents, j, lists.stops[i], <int32_t>(chunk.first + chunk.size))
    elif lists.kind == 4:
        j = add(lists.documents, <const float*>lists.weights, before, lists.stops[i], q, chunk)
    elif lists.kind == 1:
        j = add(lists.documents, <const uint8_t*>lists.weights, before, lists.stops[i], q, chunk)
    else:
        j = add(lists.documents, <const uint16_t*>lists.weights, before, lists.stops[i], q, chunk)
    lists.n_read += j - before
    return j


cdef void add_row(Lists* lists, Py_ssize_t i, Chunk* chunk) noexcept nogil:
    """Add a list in dense form, several documents at a time. Adding 0 for a missing posting does not change a sum."""
    cdef Py_ssize_t at = lists.rows[i] * lists.n_documents + chunk.first
    cdef double q = lists.query_weights[i]
    chunk.is_dense = True
    if lists.kind == 4:
        tieaware_add_float(chunk.scores, <const float*>lists.dense_weights + at, chunk.size, q)
    elif lists.kind == 1:
        tieaware_add_uint8(chunk.scores, <const uint8_t*>lists.dense_weights + at, chunk.size, q)
    else:
        tieaware_add_uint16(chunk.scores, <const uint16_t*>lists.dense_weights + at, chunk.size, q)


cdef void count_list(Lists* lists, Py_ssize_t i, int64_t end, Chunk* chunk) noexcept nogil:
    """Count the postings of list i up to `end` as occurrences of their documents."""
    cdef int64_t j
    cdef uint32_t at
    for j in range(lists.next[i], end):
        at = <uint32_t>lists.documents[j] - chunk.first
        if at < chunk.size:
            chunk.occurrences[at] += 1


cdef int64_t score_list(
    const int32_t* candidates, int64_t size, Lists* lists, Py_ssize_t i, double* sums
) noexcept nogil:
    """Add the weights of list i to the sums of the candidates; return the number of postings that were added."""
    cdef double q = lists.query_weights[i]
    if lists.kind == 4:
        return gallop_through(candidates, size, lists, i, <const float*>lists.weights, q, sums)
    if lists.kind == 1:
        return gallop_through(candidates, size, lists, i, <const uint8_t*>lists.weights, q, sums)
    return gallop_through(candidates, size, lists, i, <const uint16_t*>lists.weights, q, sums)


cdef inline int64_t gallop_through(
    const int32_t* candidates, int64_t size, Lists* lists, Py_ssize_t which, const Weight* weights, double query_weight,
    double* sums
) noexcept nogil:
    cdef const int32_t* documents = lists.documents
    cdef int64_t i = 0, j = lists.next[which], stop = lists.stops[which], n = 0
    while i < size and j < stop:
        if candidates[i] == documents[j]:
            sums[i] += query_weight * <double>weights[j]
            i += 1
            j += 1
            n += 1
        elif candidates[i] < documents[j]:
            i = gallop(candidates, i, size, documents[j])
        else:
            j = gallop(documents, j, stop, candidates[i])
    lists.next[which] = j
    return n


cdef void take(Chunk* chunk, Best* best) noexcept nogil:
    """Offer all documents of a chunk with a score above 0, in ascending order, and clear the accumulators."""
    cdef Py_ssize_t n_words = words_of(chunk.size), word, start = 0, stop
    cdef uint64_t marks
    cdef Py_ssize_t i
    while start < n_words:
        stop = min(n_words, start + SURVEYED_WORDS)
        if chunk.is_dense:
            best.documents += tieaware_survey(
                chunk.scores + start * TIEAWARE_WORD, chunk.marks + start, stop - start, best.bound
            )
        for word in range(start, stop):
            marks = chunk.marks[word]
            while marks:
                i = word * TIEAWARE_WORD + tieaware_lowest(marks)
                marks &= marks - 1
                if not chunk.is_dense:
                    best.documents += chunk.scores[i] > 0.0
                offer(best, <int32_t>(chunk.first + i), chunk.scores[i])
                chunk.scores[i] = 0.0
            chunk.marks[word] = 0
        if chunk.is_dense:
            memset(chunk.scores + start * TIEAWARE_WORD, 0, (stop - start) * TIEAWARE_WORD * sizeof(double))
        start = stop
    chunk.is_dense = False


cdef void take_counted(Chunk* chunk, Best* best, const double* base, uint32_t at_least) noexcept nogil:
    """Offer the documents of a chunk that occur in at least `at_least` lists, and clear the accumulators.

    Without a base, only documents with a score above 0 are offered.
    """
    cdef Py_ssize_t n_words = words_of(chunk.size), word, i
    cdef uint64_t marks
    cdef double score
    for word in range(n_words):
        marks = ~<uint64_t>0 if chunk.is_dense else chunk.marks[word]
        chunk.marks[word] = 0
        while marks:
            i = word * TIEAWARE_WORD + tieaware_lowest(marks)
            marks &= marks - 1
            score = chunk.scores[i]
            if chunk.occurrences[i] >= at_least:
                if base != NULL:
                    score = score + base[chunk.first + i]
                if base != NULL or score > 0.0:
                    best.documents += 1
                    offer(best, <int32_t>(chunk.first + i), score)
            chunk.scores[i] = 0.0
            chunk.occurrences[i] = 0
    chunk.is_dense = False


# The state of skipping, which avoids reading some lists. bounds[i] is an upper bound of what list i adds to a score;
# `order` has the lists in ascending order of bounds. The bounds of the first `light` lists in this order have the sum
# `all_light`, which is too low to lift a document above the bound of the best. Optional lists are light lists that are
# read only for documents that have a score from other lists; the sum of the bounds of the optional lists is `rest`.
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

# A safety factor for rounding. A sum of fewer than 4096 bounds, added in another order than a score or rounded less
# often, can be below the score by less than this factor.
cdef double ROUNDING = 1.0 + 2.0 ** -40


cdef bint choose_optional(
    Lists* lists, Chunk* chunk, Skipping* skipping, double bound, Py_ssize_t n_documents
) noexcept nogil:
    """Find the light lists for the current bound, and which of them are optional; return whether any list is optional.

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


cdef void take_candidates(Lists* lists, Chunk* chunk, Best* best, Skipping* skipping) noexcept nogil:
    """Offer the documents of a chunk whose score may be above the bound, given the bounds of the optional lists.

    Invariant: a candidate's sum includes all lists that are not optional, and the optional lists read so far. Before
    each optional list is read, candidates that cannot exceed the bound with the remaining lists are dropped. The
    optional lists are read in descending order of their bounds.
    """
    cdef Py_ssize_t i, which
    cdef double rest = skipping.rest
    cdef int64_t n
    for i in range(lists.n):
        skipping.begins[i] = skipping.ends[i] = lists.next[i]
        if not skipping.is_optional[i]:
            skipping.ends[i] = add_list(lists, i, chunk)
    n = lifted(chunk, best, skipping)
    skipping.n_candidates = n
    for i in range(skipping.light - 1, -1, -1):
        which = skipping.order[i]
        if not skipping.is_optional[which]:
            continue
        n = kept(skipping, n, needed(best, rest))
        lists.n_read += score_list(skipping.candidates, n, lists, which, skipping.sums)
        skipping.ends[which] = lists.next[which]
        rest -= skipping.bounds[which]
    n = kept(skipping, n, needed(best, 0.0))
    # Sum the scores again, in the order of the lists, so that they have the same bits as without skipping.
    memset(skipping.sums, 0, n * sizeof(double))
    for i in range(lists.n):
        lists.next[i] = skipping.begins[i]
        score_list(skipping.candidates, n, lists, i, skipping.sums)
        lists.next[i] = skipping.ends[i]
    for i in range(n):
        offer(best, skipping.candidates[i], skipping.sums[i])


cdef inline double needed(Best* best, double rest) noexcept nogil:
    """Return the sum that a document must exceed to be among the best if the remaining lists add at most `rest`."""
    return max(0.0, best.bound / ROUNDING - rest * ROUNDING)


cdef int64_t lifted(Chunk* chunk, Best* best, Skipping* skipping) noexcept nogil:
    """Collect the candidates from the accumulators, clear the accumulators, and return the number of candidates."""
    cdef Py_ssize_t n_words = words_of(chunk.size), word, i
    cdef double least = needed(best, skipping.rest), score
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
    if chunk.is_dense:
        memset(chunk.scores, 0, n_words * TIEAWARE_WORD * sizeof(double))
    chunk.is_dense = False
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


cdef int lists_of(
    Lists* lists, const int64_t[::1] starts, int64_t[::1] following, const int64_t[::1] stops,
    const double[::1] query_weights, const int32_t[::1] documents, cnp.ndarray weights
) except -1:
    """Check that all lists are inside the postings, and fill the struct.

    `following` must be a copy of the starts; it is changed to the first unread posting of each list.
    """
    cdef Py_ssize_t i
    if stops.shape[0] != starts.shape[0] or query_weights.shape[0] != starts.shape[0]:
        raise ValueError("each list must have a start, a stop and a query weight")
    if weights.ndim != 1 or not weights.flags.c_contiguous or weights.shape[0] != documents.shape[0]:
        raise ValueError("weights must have a weight for each posting")
    if weights.dtype not in (np.float32, np.uint8, np.uint16):
        raise ValueError("weights must be float32, uint8 or uint16")
    lists.n_postings = lists.n_read = 0
    for i in range(starts.shape[0]):
        if not 0 <= starts[i] <= stops[i] <= documents.shape[0]:
            raise ValueError("a list is outside the postings")
        lists.n_postings += stops[i] - starts[i]
    lists.n = starts.shape[0]
    lists.starts = &starts[0] if lists.n else NULL
    lists.next = &following[0] if lists.n else NULL
    lists.stops = &stops[0] if lists.n else NULL
    lists.query_weights = &query_weights[0] if lists.n else NULL
    lists.documents = &documents[0] if documents.shape[0] else NULL
    lists.weights = cnp.PyArray_DATA(weights)
    lists.kind = weights.dtype.itemsize
    lists.rows = NULL
    return 0


cdef int set_dense(
    Lists* lists, const int64_t[::1] rows, cnp.ndarray dense_weights, dtype, Py_ssize_t n_documents
) except -1:
    """Check the rows of the lists in dense form, and store them."""
    cdef Py_ssize_t i
    if dense_weights.ndim != 2 or not dense_weights.flags.c_contiguous:
        raise ValueError("dense_weights must be a contiguous matrix")
    if dense_weights.dtype != dtype or dense_weights.shape[1] != n_documents:
        raise ValueError("dense_weights must have the type of weights, and a column for each document")
    if rows.shape[0] != lists.n:
        raise ValueError("rows must have a row for each list")
    for i in range(lists.n):
        if not -1 <= rows[i] < dense_weights.shape[0]:
            raise ValueError("rows: a row is outside dense_weights")
    lists.rows = &rows[0] if lists.n else NULL
    lists.dense_weights = cnp.PyArray_DATA(dense_weights)
    lists.n_documents = n_documents
    return 0


def accumulate(
    const int64_t[::1] starts, const int64_t[::1] stops, const double[::1] query_weights,
    const int32_t[::1] documents, cnp.ndarray weights, Py_ssize_t n_documents, int64_t k, const double[::1] base,
    uint32_t at_least, bint whole_ties, bint all_in_heap, double floor, const double[::1] bounds,
    const int64_t[::1] rows, cnp.ndarray dense_weights, Py_ssize_t chunk_size
):
    """Score the documents of the lists, chunk after chunk, and find the top k.

    Parameters
    ----------
    starts, stops : int64[n_lists]
        The range of postings of each list.
    query_weights : float64[n_lists]
        The weight of each list's term in the query.
    documents, weights : int32[n_postings], and float32[n_postings], uint8[n_postings] or uint16[n_postings]
        The document and the weight of each posting. The documents of a list must ascend, unless there is only one
        chunk.
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
        result. Not allowed with a base or at_least > 1; weights must not be negative.
    rows, dense_weights : int64[n_lists], and weights[n_rows, n_documents], or None
        The row of each list in dense_weights, or -1. A row has a weight for each document, 0 for a missing posting.
    chunk_size : int
        The number of documents of a chunk, which are scored at a time.

    Returns
    -------
    int32[n], float64[n], int, int, int
        The documents, best first; their scores; the number of documents that have a score; the number of comparisons
        between scores; the number of postings read.
    """
    cdef Lists lists
    cdef Chunk chunk
    cdef Best best
    cdef Skipping skipping
    cdef Interruption interruption = no_interruption()
    cdef Py_ssize_t first = 0, i
    cdef int64_t read = 0, bounded = 0, end, most
    cdef const double* added = NULL
    cdef int64_t[::1] following = np.array(starts)
    lists_of(&lists, starts, following, stops, query_weights, documents, weights)
    if not (0 <= n_documents <= 0x7fffffff and k >= 1 and at_least >= 1 and chunk_size >= 1):
        raise ValueError("n_documents, k, at_least or chunk_size is out of its range")
    most = min(n_documents, lists.n_postings)
    if rows is not None:
        set_dense(&lists, rows, dense_weights, weights.dtype, n_documents)
        # A row could contain weights of documents that its list lacks, so any document may have a score.
        most = n_documents
    if base is not None:
        if base.shape[0] != n_documents:
            raise ValueError("base must have a number for each document")
        added = &base[0] if n_documents else NULL
    if (bounds is not None or floor > 0.0) and (base is not None or at_least > 1 or all_in_heap):
        raise ValueError("bounds and floor must not be given with base, at_least or all_in_heap")
    if bounds is not None and bounds.shape[0] != lists.n:
        raise ValueError("bounds must have a bound for each list")
    chunk_size = min(chunk_size, n_documents)
    memset(&chunk, 0, sizeof(chunk))
    memset(&best, 0, sizeof(best))
    memset(&skipping, 0, sizeof(skipping))
    try:
        open_best(&best, k, most, whole_ties, all_in_heap)
        best.ascending = True
        best.bound = 0.0 if base is None else -INFINITY
        if floor > 0.0:
            bound_by(&best, floor)
        open_chunk(&chunk, chunk_size, base is not None or at_least > 1)
        if bounds is not None and lists.n < 4096:
            open_skipping(&skipping, bounds, chunk_size)
        with nogil:
            while first < n_documents:
                chunk.first = first
                chunk.size = min(chunk_size, n_documents - first)
                if skipping.bounds != NULL:
                    # Begin with a small chunk, because nothing can be skipped in the first chunk. Double the size each
                    # time.
                    chunk.size = min(chunk.size, max(first, FIRST_CHUNK))
                if skipping.bounds != NULL and choose_optional(&lists, &chunk, &skipping, best.bound, n_documents):
                    take_candidates(&lists, &chunk, &best, &skipping)
                else:
                    for i in range(lists.n):
                        end = add_list(&lists, i, &chunk)
                        if chunk.occurrences != NULL:
                            count_list(&lists, i, end, &chunk)
                        lists.next[i] = end
                    if chunk.occurrences == NULL:
                        take(&chunk, &best)
                    else:
                        take_counted(&chunk, &best, added, at_least)
                # Raise the bound, so that more can be skipped, unless few documents were added since it was last
                # raised.
                if skipping.bounds != NULL and best.heap.size >= max(best.k, bounded + 1 + best.k // 8):
                    leave_out(&best)
                    bounded = best.k
                first += chunk.size
                if interrupted(&interruption, 2 * (lists.n_read - read) + words_of(chunk.size) + lists.n):
                    break
                read = lists.n_read
        check_interruption(&interruption)
        return *found(&best, whole_ties), lists.n_read
    finally:
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


cdef int open_chunk(Chunk* chunk, Py_ssize_t size, bint counted) except -1:
    """Allocate zeroed accumulators for `size` documents, rounded up to complete words of marks."""
    cdef size_t n_words = words_of(size) + 1
    chunk.scores = <double*>calloc(n_words * TIEAWARE_WORD, sizeof(double))
    chunk.marks = <uint64_t*>calloc(n_words, sizeof(uint64_t))
    chunk.occurrences = <uint32_t*>calloc(n_words * TIEAWARE_WORD, sizeof(uint32_t)) if counted else NULL
    if chunk.scores == NULL or chunk.marks == NULL or (counted and chunk.occurrences == NULL):
        raise MemoryError
    return 0


cdef void close_chunk(Chunk* chunk) noexcept:
    free(chunk.scores)
    free(chunk.marks)
    free(chunk.occurrences)


def score(
    const int32_t[::1] candidates, const int64_t[::1] starts, const int64_t[::1] stops,
    const double[::1] query_weights, const int32_t[::1] documents, cnp.ndarray weights, double[::1] sums
):
    """Add the weights of all lists to the sums of the candidates; return the number of postings that were added.

    The candidates and the documents of each list must ascend, because both are searched by galloping.
    """
    cdef Lists lists
    cdef Py_ssize_t i
    cdef int64_t n = 0, first
    cdef Interruption interruption = no_interruption()
    cdef int64_t[::1] following = np.array(starts)
    cdef double* out = &sums[0] if sums.shape[0] else NULL
    cdef const int32_t* c = &candidates[0] if candidates.shape[0] else NULL
    cdef int64_t size = candidates.shape[0]
    lists_of(&lists, starts, following, stops, query_weights, documents, weights)
    if sums.shape[0] != size:
        raise ValueError("sums must have a sum for each candidate")
    with nogil:
        for i in range(lists.n):
            first = lists.next[i]
            n += score_list(c, size, &lists, i, out)
            if interrupted(&interruption, 4 * (size + lists.next[i] - first)):
                break
    check_interruption(&interruption)
    return n
