"""Accumulators: the scores of documents as the postings of a query's terms add up.

List i of a query holds the postings starts[i] to stops[i] of documents and weights, and adds query_weights[i] times the
weight to the document's score. The lists come in the order of their terms, and a score is summed in that order in
float64; so its bits do not depend on how the documents are cut into blocks. A document beyond the number of documents
ends the list that it is in: none is read or written where there is no accumulator.
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
    # How many accumulators are surveyed at once: no more than the first-level cache holds.
    SURVEYED_WORDS = 64
    # A list with one in so many documents of a block makes it dense.
    DENSE = 8
    FIRST_BLOCK = 256
    # How many postings can be added while a document is looked for in a list.
    LOOK = 16

ctypedef fused Weight:
    float
    uint8_t
    uint16_t


# A query's lists; `next` is the first posting of each that was not yet read.
cdef struct Lists:
    Py_ssize_t n
    int64_t* next
    const int64_t* starts
    const int64_t* stops
    const double* query_weights
    const int32_t* documents
    const void* weights
    # The size of a weight: 4 float32, 1 uint8, 2 uint16.
    int kind
    # The row of each list in the table of those that are dense, or -1; the table has n_documents columns.
    const int64_t* rows
    const void* table
    Py_ssize_t n_documents
    # How many postings there are, and how many were read.
    int64_t n_postings
    int64_t n_read


# The accumulators of the documents from first on. Those that a posting has changed are marked, unless the block is
# dense. Occurrences are counted only if they are asked for.
cdef struct Block:
    uint32_t first
    uint32_t size
    bint is_dense
    double* scores
    uint64_t* marks
    uint32_t* occurrences


cdef inline int64_t add(
    const int32_t* documents, const Weight* weights, int64_t i, int64_t stop, double query_weight, Block* block
) noexcept nogil:
    """score[d] += query weight · weight of the postings from i on in this block; return the first beyond."""
    cdef uint32_t first = block.first, size = block.size, at
    cdef double* scores = block.scores
    cdef uint64_t* marks = block.marks
    if i + size // DENSE < stop and <uint32_t>documents[i + size // DENSE] - first < size:
        block.is_dense = True
    if block.is_dense:
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


cdef int64_t add_list(Lists* lists, Py_ssize_t i, Block* block) noexcept nogil:
    """Add the postings of list i in this block; return where it is to be read on."""
    cdef int64_t before = lists.next[i], j
    cdef double q = lists.query_weights[i]
    if before < lists.stops[i] and lists.documents[before] < <int32_t>block.first:
        # In blocks before, it was optional.
        before = lists.next[i] = gallop(lists.documents, before, lists.stops[i], <int32_t>block.first)
    if lists.rows != NULL and lists.rows[i] >= 0 and block.occurrences == NULL and isfinite(q):
        add_row(lists, i, block)
        j = before
        if j < lists.stops[i] and <uint32_t>lists.documents[j] - block.first < block.size:
            j = gallop(lists.documents, j, lists.stops[i], <int32_t>(block.first + block.size))
    elif lists.kind == 4:
        j = add(lists.documents, <const float*>lists.weights, before, lists.stops[i], q, block)
    elif lists.kind == 1:
        j = add(lists.documents, <const uint8_t*>lists.weights, before, lists.stops[i], q, block)
    else:
        j = add(lists.documents, <const uint16_t*>lists.weights, before, lists.stops[i], q, block)
    lists.n_read += j - before
    return j


cdef void add_row(Lists* lists, Py_ssize_t i, Block* block) noexcept nogil:
    """Add a dense list, which is 0 where there is no posting: the same sums, several at a time."""
    cdef Py_ssize_t at = lists.rows[i] * lists.n_documents + block.first
    cdef double q = lists.query_weights[i]
    block.is_dense = True
    if lists.kind == 4:
        tieaware_add_float(block.scores, <const float*>lists.table + at, block.size, q)
    elif lists.kind == 1:
        tieaware_add_uint8(block.scores, <const uint8_t*>lists.table + at, block.size, q)
    else:
        tieaware_add_uint16(block.scores, <const uint16_t*>lists.table + at, block.size, q)


cdef void count_list(Lists* lists, Py_ssize_t i, int64_t end, Block* block) noexcept nogil:
    """Count the postings that were added as occurrences of their documents."""
    cdef int64_t j
    cdef uint32_t at
    for j in range(lists.next[i], end):
        at = <uint32_t>lists.documents[j] - block.first
        if at < block.size:
            block.occurrences[at] += 1


cdef int64_t score_list(
    const int32_t* candidates, int64_t size, Lists* lists, Py_ssize_t i, double* sums
) noexcept nogil:
    """Add to the candidates' sums what they get from list i, and read it so far; return how many postings that were."""
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


cdef void take(Block* block, Best* best) noexcept nogil:
    """Offer all documents of a block with a score above 0, ascending, and clear its accumulators."""
    cdef Py_ssize_t n_words = words_of(block.size), word, start = 0, stop
    cdef uint64_t marks
    cdef Py_ssize_t i
    while start < n_words:
        stop = min(n_words, start + SURVEYED_WORDS)
        if block.is_dense:
            best.documents += tieaware_survey(
                block.scores + start * TIEAWARE_WORD, block.marks + start, stop - start, best.bound
            )
        for word in range(start, stop):
            marks = block.marks[word]
            while marks:
                i = word * TIEAWARE_WORD + tieaware_lowest(marks)
                marks &= marks - 1
                if not block.is_dense:
                    best.documents += block.scores[i] > 0.0
                offer(best, <int32_t>(block.first + i), block.scores[i])
                block.scores[i] = 0.0
            block.marks[word] = 0
        if block.is_dense:
            memset(block.scores + start * TIEAWARE_WORD, 0, (stop - start) * TIEAWARE_WORD * sizeof(double))
        start = stop
    block.is_dense = False


cdef void take_counted(Block* block, Best* best, const double* base, uint32_t at_least) noexcept nogil:
    """The same, of those alone that occur in so many lists; with a base, whatever their score."""
    cdef Py_ssize_t n_words = words_of(block.size), word, i
    cdef uint64_t marks
    cdef double score
    for word in range(n_words):
        marks = ~<uint64_t>0 if block.is_dense else block.marks[word]
        block.marks[word] = 0
        while marks:
            i = word * TIEAWARE_WORD + tieaware_lowest(marks)
            marks &= marks - 1
            score = block.scores[i]
            if block.occurrences[i] >= at_least:
                if base != NULL:
                    score = score + base[block.first + i]
                if base != NULL or score > 0.0:
                    best.documents += 1
                    offer(best, <int32_t>(block.first + i), score)
            block.scores[i] = 0.0
            block.occurrences[i] = 0
    block.is_dense = False


# What spares the reading of lists. bounds[i] is the most that list i adds; order has the lists by it, ascending. The
# first `light` of them together cannot lift a document above the bound of the best. Of these, the optional ones are
# read only for documents that the others have lifted; they add no more than the rest.
cdef struct Skipping:
    const double* bounds
    Py_ssize_t* order
    Py_ssize_t light
    double all_light
    uint8_t* is_optional
    double rest
    # Where each list begins in this block, and where it is to be read on after it.
    int64_t* begins
    int64_t* ends
    # The block's documents that may be among the best, and the sums of their weights; how many there were last.
    int32_t* candidates
    double* sums
    int64_t n_candidates

# A sum of bounds that are added in another order than a score's, or less often rounded, is below it by less than this
# factor, if there are fewer than 4096 of them.
cdef double ROUNDING = 1.0 + 2.0 ** -40


cdef bint choose_optional(
    Lists* lists, Block* block, Skipping* skipping, double bound, Py_ssize_t n_documents
) noexcept nogil:
    """Find the light lists, as the bound has risen, and which of them are optional; return whether any is.

    To look for a document in a list takes as long as to add a few of its postings: not for many documents at once.
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
        n_postings = <double>(lists.stops[which] - lists.starts[which]) * block.size / n_documents
        skipping.is_optional[which] = LOOK * skipping.n_candidates < n_postings
        if skipping.is_optional[which]:
            skipping.rest += skipping.bounds[which]
            any_optional = True
    skipping.n_candidates = skipping.n_candidates // 2
    return any_optional


cdef void take_candidates(Lists* lists, Block* block, Best* best, Skipping* skipping) noexcept nogil:
    """Offer the documents of a block that may be above the bound with what optional lists add at most.

    Invariant: sums are of all lists that are not optional, and of those optional ones that were read; documents that
    cannot be above the bound with the rest are dropped before the next is read, the one that may add most first.
    """
    cdef Py_ssize_t i, which
    cdef double rest = skipping.rest
    cdef int64_t n
    for i in range(lists.n):
        skipping.begins[i] = skipping.ends[i] = lists.next[i]
        if not skipping.is_optional[i]:
            skipping.ends[i] = add_list(lists, i, block)
    n = lifted(block, best, skipping)
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
    # A score is summed in the order of the lists.
    memset(skipping.sums, 0, n * sizeof(double))
    for i in range(lists.n):
        lists.next[i] = skipping.begins[i]
        score_list(skipping.candidates, n, lists, i, skipping.sums)
        lists.next[i] = skipping.ends[i]
    for i in range(n):
        offer(best, skipping.candidates[i], skipping.sums[i])


cdef inline double needed(Best* best, double rest) noexcept nogil:
    """What a document must have more than, where others add no more than the rest."""
    return max(0.0, best.bound / ROUNDING - rest * ROUNDING)


cdef int64_t lifted(Block* block, Best* best, Skipping* skipping) noexcept nogil:
    """Find the candidates by their accumulators, which are cleared; return how many there are."""
    cdef Py_ssize_t n_words = words_of(block.size), word, i
    cdef double least = needed(best, skipping.rest), score
    cdef int64_t n = 0
    cdef uint64_t marks
    if block.is_dense:
        best.documents += tieaware_survey(block.scores, block.marks, n_words, least)
    for word in range(n_words):
        marks = block.marks[word]
        while marks:
            i = word * TIEAWARE_WORD + tieaware_lowest(marks)
            marks &= marks - 1
            score = block.scores[i]
            if not block.is_dense:
                best.documents += score > 0.0
            skipping.candidates[n] = <int32_t>(block.first + i)
            skipping.sums[n] = score
            n += score > least
            block.scores[i] = 0.0
        block.marks[word] = 0
    if block.is_dense:
        memset(block.scores, 0, n_words * TIEAWARE_WORD * sizeof(double))
    block.is_dense = False
    return n


cdef int64_t kept(Skipping* skipping, int64_t n, double least) noexcept nogil:
    """Keep the candidates that have more than the least; return how many there are."""
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
    """Check that all lists lie within the postings; `following`, a copy of the starts, becomes where to read on."""
    cdef Py_ssize_t i
    if stops.shape[0] != starts.shape[0] or query_weights.shape[0] != starts.shape[0]:
        raise ValueError("lists have other numbers of starts, stops and weights")
    if weights.ndim != 1 or not weights.flags.c_contiguous or weights.shape[0] != documents.shape[0]:
        raise ValueError("there is not a weight for each posting")
    if weights.dtype not in (np.float32, np.uint8, np.uint16):
        raise ValueError("weights are neither float32 nor uint8 nor uint16")
    lists.n_postings = lists.n_read = 0
    for i in range(starts.shape[0]):
        if not 0 <= starts[i] <= stops[i] <= documents.shape[0]:
            raise ValueError("a list lies beyond the postings")
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


cdef int set_dense(Lists* lists, const int64_t[::1] rows, cnp.ndarray table, dtype, Py_ssize_t n_documents) except -1:
    """Check that the rows are those of a table of the same weights."""
    cdef Py_ssize_t i
    if table.ndim != 2 or not table.flags.c_contiguous or table.dtype != dtype or table.shape[1] != n_documents:
        raise ValueError("the table is not one of weights, a column for each document")
    if rows.shape[0] != lists.n:
        raise ValueError("there is not a row for each list")
    for i in range(lists.n):
        if not -1 <= rows[i] < table.shape[0]:
            raise ValueError("a row lies beyond the table")
    lists.rows = &rows[0] if lists.n else NULL
    lists.table = cnp.PyArray_DATA(table)
    lists.n_documents = n_documents
    return 0


def accumulate(
    const int64_t[::1] starts, const int64_t[::1] stops, const double[::1] query_weights,
    const int32_t[::1] documents, cnp.ndarray weights, Py_ssize_t n_documents, int64_t k, const double[::1] base,
    uint32_t at_least, bint whole_ties, bint all_in_heap, double floor, const double[::1] bounds,
    const int64_t[::1] rows, cnp.ndarray table, Py_ssize_t block_size
):
    """Score the documents of the lists, one block of documents after the other, and find the top k.

    Parameters
    ----------
    starts, stops : int64[n_lists]
        The postings of each list.
    query_weights : float64[n_lists]
        What the weights of each list are multiplied with.
    documents, weights : int32[n_postings], and float32[n_postings], uint8[n_postings] or uint16[n_postings]
        The document of each posting, and its weight; the documents of a list ascend, unless one block holds all.
    n_documents, k : int
        How many documents there are, and how many are wanted, at least 1.
    base : float64[n_documents] or None
        Added to the score of each document that occurs in the lists.
    at_least : int
        In how many lists a document must occur, at least 1.
    whole_ties : bool
        Whether all that tie with the k-th are wanted, too.
    all_in_heap : bool
        Whether a heap is built of all documents that have a score, instead of keeping the best k so far.
    floor : float
        A score that k documents are known to reach; 0, if nothing is known. Neither base nor at_least go with it.
    bounds : float64[n_lists] or None
        The most that each list adds to a score. Then lists and documents that cannot matter are passed over; neither
        base nor at_least may be given, and no weight is below 0.
    rows, table : int64[n_lists], and an array of weights[n_rows, n_documents], or None
        The row of each list in the table, or -1; a row has a weight for each document, 0 where there is no posting.
    block_size : int
        How many documents have an accumulator at a time.

    Returns
    -------
    int32[n], float64[n], int, int, int
        The documents, the best first; their scores; how many documents have a score; how often scores were compared;
        how many postings were read.
    """
    cdef Lists lists
    cdef Block block
    cdef Best best
    cdef Skipping skipping
    cdef Interruption interruption = no_interruption()
    cdef Py_ssize_t first = 0, i
    cdef int64_t read = 0, bounded = 0, end, most
    cdef const double* added = NULL
    cdef int64_t[::1] following = np.array(starts)
    lists_of(&lists, starts, following, stops, query_weights, documents, weights)
    if not (0 <= n_documents <= 0x7fffffff and k >= 1 and at_least >= 1 and block_size >= 1):
        raise ValueError("a number is out of its range")
    most = min(n_documents, lists.n_postings)
    if rows is not None:
        set_dense(&lists, rows, table, weights.dtype, n_documents)
        # A row may have what its list lacks.
        most = n_documents
    if base is not None:
        if base.shape[0] != n_documents:
            raise ValueError("there is not a base for each document")
        added = &base[0] if n_documents else NULL
    if (bounds is not None or floor > 0.0) and (base is not None or at_least > 1 or all_in_heap):
        raise ValueError("bounds and a floor go with scores alone")
    if bounds is not None and bounds.shape[0] != lists.n:
        raise ValueError("there is not a bound for each list")
    block_size = min(block_size, n_documents)
    memset(&block, 0, sizeof(block))
    memset(&best, 0, sizeof(best))
    memset(&skipping, 0, sizeof(skipping))
    try:
        open_best(&best, k, most, whole_ties, all_in_heap)
        best.ascending = True
        best.bound = 0.0 if base is None else -INFINITY
        if floor > 0.0:
            bound_by(&best, floor)
        open_block(&block, block_size, base is not None or at_least > 1)
        if bounds is not None and lists.n < 4096:
            open_skipping(&skipping, bounds, block_size)
        with nogil:
            while first < n_documents:
                block.first = first
                block.size = min(block_size, n_documents - first)
                if skipping.bounds != NULL:
                    # Each block is as long as all before, as nothing can be passed over in the first.
                    block.size = min(block.size, max(first, FIRST_BLOCK))
                if skipping.bounds != NULL and choose_optional(&lists, &block, &skipping, best.bound, n_documents):
                    take_candidates(&lists, &block, &best, &skipping)
                else:
                    for i in range(lists.n):
                        end = add_list(&lists, i, &block)
                        if block.occurrences != NULL:
                            count_list(&lists, i, end, &block)
                        lists.next[i] = end
                    if block.occurrences == NULL:
                        take(&block, &best)
                    else:
                        take_counted(&block, &best, added, at_least)
                # A higher bound spares more than it takes to raise it, unless little has come since.
                if skipping.bounds != NULL and best.heap.size >= max(best.k, bounded + 1 + best.k // 8):
                    leave_out(&best)
                    bounded = best.k
                first += block.size
                if interrupted(&interruption, 2 * (lists.n_read - read) + words_of(block.size) + lists.n):
                    break
                read = lists.n_read
        check_interruption(&interruption)
        return *found(&best, whole_ties), lists.n_read
    finally:
        close_block(&block)
        close_best(&best)
        close_skipping(&skipping)


cdef int open_skipping(Skipping* skipping, const double[::1] bounds, Py_ssize_t block_size) except -1:
    """All lists are necessary; the others come by their bounds, ascending."""
    cdef Py_ssize_t n = bounds.shape[0], i, j
    cdef size_t n_slots = words_of(block_size) * TIEAWARE_WORD + 1
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


cdef int open_block(Block* block, Py_ssize_t size, bint counted) except -1:
    """Make accumulators for so many documents, or to the end of their last word: all are 0."""
    cdef size_t n_words = words_of(size) + 1
    block.scores = <double*>calloc(n_words * TIEAWARE_WORD, sizeof(double))
    block.marks = <uint64_t*>calloc(n_words, sizeof(uint64_t))
    block.occurrences = <uint32_t*>calloc(n_words * TIEAWARE_WORD, sizeof(uint32_t)) if counted else NULL
    if block.scores == NULL or block.marks == NULL or (counted and block.occurrences == NULL):
        raise MemoryError
    return 0


cdef void close_block(Block* block) noexcept:
    free(block.scores)
    free(block.marks)
    free(block.occurrences)


def score(
    const int32_t[::1] candidates, const int64_t[::1] starts, const int64_t[::1] stops,
    const double[::1] query_weights, const int32_t[::1] documents, cnp.ndarray weights, double[::1] sums
):
    """Add to each candidate's sum what it gets from each list, and return how many postings that were.

    Candidates ascend, as do the documents of each list, so that both are galloped through.
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
        raise ValueError("there is not a sum for each candidate")
    with nogil:
        for i in range(lists.n):
            first = lists.next[i]
            n += score_list(c, size, &lists, i, out)
            if interrupted(&interruption, 4 * (size + lists.next[i] - first)):
                break
    check_interruption(&interruption)
    return n
