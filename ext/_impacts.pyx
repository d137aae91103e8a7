"""Impact order: how much is read of each term's postings, and what they add up to where impacts are whole numbers.

The postings of a term lie by descending weight, in segments of equal weight: what is read of them lies at their
beginning. Sums of small whole numbers are the same in any order; so they are made in 16 bits, of one block of documents
after the other, for which such beginnings are divided first. No document is written beyond the scores of a block,
whatever the postings say.
"""
cimport numpy as cnp
import numpy as np
from libc.math cimport ceil, fabs, floor
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from tieaware._interruption cimport Interruption, check_interruption, interrupted, no_interruption
from tieaware._top cimport Best, bound_by, close_best, found, offer, open_best

cdef extern from "accumulators.h":
    enum: TIEAWARE_WORD
    int tieaware_lowest(uint64_t word) nogil
    void tieaware_add_whole(uint16_t *scores, const uint8_t *weights, ptrdiff_t n, uint16_t q, uint8_t least) nogil
    int64_t tieaware_survey_whole(const uint16_t *scores, uint64_t *marks, ptrdiff_t n_words, uint16_t bound) nogil

cnp.import_array()

cdef enum:
    # So many documents have a score at a time: 16 KB, which stay in the first-level cache.
    BLOCK_BITS = 13
    BLOCK = 1 << BLOCK_BITS
    BLOCK_WORDS = BLOCK // 64
    # To add a row takes as long as to add one posting in so many documents.
    ROW = 32

ctypedef fused Weight:
    float
    uint8_t
    uint16_t


# The next segment of a list: what comes first, and of those that tie, what comes next; then by the list.
cdef struct Next:
    double first
    double second
    int64_t which
    double impact


cdef inline bint comes_before(Next a, Next b) noexcept nogil:
    if a.first != b.first:
        return a.first < b.first
    if a.second != b.second:
        return a.second < b.second
    return a.which < b.which


cdef void sink(Next* heap, int64_t size, int64_t i) noexcept nogil:
    """Bring the entry i of a heap, the first at the root, to its place below."""
    cdef Next entry = heap[i]
    cdef int64_t child = 2 * i + 1
    while child < size:
        if child + 1 < size and comes_before(heap[child + 1], heap[child]):
            child += 1
        if not comes_before(heap[child], entry):
            break
        heap[i] = heap[child]
        i = child
        child = 2 * i + 1
    heap[i] = entry


cdef void read_in_order(
    Next* heap, int64_t n, int64_t* segment, const int64_t* last, const int64_t* starts, const Weight* weights,
    const double* query_weights, int64_t limit, double share, bint by_term, int64_t* stops
) noexcept nogil:
    """Go from segment to segment, those that come first in the heap, until so many postings are read."""
    cdef int64_t size = 0, i, s, take
    cdef double least = 0.0
    for i in range(n):
        if segment[i] < last[i]:
            heap[size] = heap[i]
            heap[size].impact = fabs(query_weights[i] * <double>weights[starts[segment[i]]])
            least = max(least, heap[size].impact)
            size += 1
    least *= share
    for i in range(size):
        set_order(&heap[i], by_term)
    i = size >> 1
    while i > 0:
        i -= 1
        sink(heap, size, i)
    while size > 0 and limit > 0:
        i = heap[0].which
        s = segment[i]
        if heap[0].impact >= least:
            take = min(limit, starts[s + 1] - starts[s])
            limit -= take
            stops[i] = starts[s] + take
            segment[i] = s + 1
        if heap[0].impact < least or segment[i] >= last[i]:
            # Further segments of the list add no more.
            size -= 1
            heap[0] = heap[size]
        else:
            heap[0].impact = fabs(query_weights[i] * <double>weights[starts[s + 1]])
            set_order(&heap[0], by_term)
        sink(heap, size, 0)


cdef bint ascend(const int64_t* starts, int64_t first, int64_t last) noexcept nogil:
    cdef int64_t s
    for s in range(first, last):
        if not starts[s] < starts[s + 1]:
            return False
    return True


cdef inline void set_order(Next* entry, bint by_term) noexcept nogil:
    """By impact: of those that tie, the rarer term first. By term: the rarest first, then by impact."""
    if by_term:
        entry.second = -entry.impact
    else:
        entry.first = -entry.impact


cdef choose_into(
    const int64_t[::1] terms, const int64_t[::1] of_terms, const int64_t[::1] starts, cnp.ndarray weights,
    const double[::1] query_weights, double share_read, int64_t most, double share, bint by_term, int64_t[:, ::1] parts
):
    """Find where what is read of each term's postings begins and ends, and where they end: the rows of `parts`."""
    cdef Py_ssize_t n = terms.shape[0], i
    cdef int64_t t, a, b, limit, total = 0
    cdef Next* heap = NULL
    cdef int64_t* segment
    cdef int64_t* last
    if query_weights.shape[0] != n or weights.ndim != 1 or not weights.flags.c_contiguous:
        raise ValueError("there is not a weight for each list, or posting")
    heap = <Next*>malloc(<size_t>(n + 1) * (sizeof(Next) + 2 * sizeof(int64_t)))
    if heap == NULL:
        raise MemoryError
    try:
        segment = <int64_t*>(heap + n + 1)
        last = segment + n
        for i in range(n):
            t = terms[i]
            if not 0 <= t < of_terms.shape[0] - 1:
                raise ValueError("there is no such term")
            segment[i], last[i] = of_terms[t], of_terms[t + 1]
            if not 0 <= segment[i] <= last[i] < starts.shape[0]:
                raise ValueError("a term has segments beyond the others")
            a, b = starts[segment[i]], starts[last[i]]
            if not (0 <= a <= b <= weights.shape[0] and ascend(&starts[0], segment[i], last[i])):
                raise ValueError("a segment is empty, or lies beyond the postings")
            parts[0, i] = parts[1, i] = a
            parts[2, i] = b
            total += b - a
            heap[i].first = heap[i].second = <double>(b - a)
            heap[i].which = i
        if total == 0:
            return
        # What a product is above a whole number by rounding alone does not count.
        limit = min(most, <int64_t>ceil(share_read * <double>total - 1e-9))
        if weights.dtype == np.float32:
            read_in_order(heap, n, segment, last, &starts[0], <const float*>cnp.PyArray_DATA(weights),
                          &query_weights[0], limit, share, by_term, &parts[1, 0])
        elif weights.dtype == np.uint8:
            read_in_order(heap, n, segment, last, &starts[0], <const uint8_t*>cnp.PyArray_DATA(weights),
                          &query_weights[0], limit, share, by_term, &parts[1, 0])
        elif weights.dtype == np.uint16:
            read_in_order(heap, n, segment, last, &starts[0], <const uint16_t*>cnp.PyArray_DATA(weights),
                          &query_weights[0], limit, share, by_term, &parts[1, 0])
        else:
            raise ValueError("weights are neither float32 nor uint8 nor uint16")
    finally:
        free(heap)


def choose(
    const int64_t[::1] terms, const int64_t[::1] of_terms, const int64_t[::1] starts, cnp.ndarray weights,
    const double[::1] query_weights, double share_read, int64_t most, double share, bint by_term
):
    """Find how much is read of each term's postings.

    Parameters
    ----------
    terms : int64[n_lists]
        The terms of the query.
    of_terms : int64[n_terms + 1]
        The segments of term t are of_terms[t] to of_terms[t + 1].
    starts : int64[n_segments + 1]
        The postings of segment s are starts[s] to starts[s + 1].
    weights : float32[n_postings], uint8[n_postings] or uint16[n_postings]
        The weight of each posting.
    query_weights : float64[n_lists]
        What the weights of each list are multiplied with.
    share_read, most : float, int
        Which share of all postings is read, rounded up, and how many at most.
    share : float
        Segments below this share of the largest impact are not read.
    by_term : bool
        Whether a term is read after the other, the rarest first; else segments by impact.

    Returns
    -------
    int64[3, n_lists]
        Where the postings of each list begin, where what is read of them ends, and where they end.
    """
    parts = np.empty((3, terms.shape[0]), np.int64)
    choose_into(terms, of_terms, starts, weights, query_weights, share_read, most, share, by_term, parts)
    return parts


# Postings of lists that are read in part, divided by blocks of documents: those of block b are entries[ends[b - 1]] to
# entries[ends[b]]. An entry is the place in its block and, shifted by BLOCK_BITS, what is added there.
cdef struct Divided:
    uint32_t* entries
    int64_t* ends
    int64_t n


cdef int open_divided(Divided* divided, int64_t n, int64_t n_documents) except -1:
    divided.n = n
    divided.entries = <uint32_t*>calloc(<size_t>(n + 1), sizeof(uint32_t))
    divided.ends = <int64_t*>calloc(<size_t>((n_documents >> BLOCK_BITS) + 2), sizeof(int64_t))
    if divided.entries == NULL or divided.ends == NULL:
        raise MemoryError
    return 0


cdef void close_divided(Divided* divided) noexcept:
    free(divided.entries)
    free(divided.ends)


cdef void count(Divided* divided, const int32_t* documents, int64_t i, int64_t stop, uint32_t n) noexcept nogil:
    """Count the postings of each block, a place further on."""
    cdef uint32_t d
    while i < stop:
        d = <uint32_t>documents[i]
        if d < n:
            divided.ends[(d >> BLOCK_BITS) + 1] += 1
        i += 1


cdef void divide(
    Divided* divided, const int32_t* documents, const uint8_t* weights, int64_t i, int64_t stop, uint16_t q, uint32_t n
) noexcept nogil:
    """Bring postings to those of their blocks; ends[b] goes on from where block b begins."""
    cdef uint32_t d
    cdef int64_t at
    while i < stop:
        d = <uint32_t>documents[i]
        if d < n:
            at = divided.ends[d >> BLOCK_BITS]
            # Where somebody changes documents meanwhile, too.
            if at < divided.n:
                divided.entries[at] = (d & (BLOCK - 1)) | <uint32_t>(<uint16_t>(q * weights[i])) << BLOCK_BITS
                divided.ends[d >> BLOCK_BITS] = at + 1
        i += 1


cdef int64_t add_divided(Divided* divided, int64_t block, uint16_t* scores) noexcept nogil:
    """Add the postings of a block; return how many."""
    cdef int64_t i, first = divided.ends[block - 1] if block else 0
    cdef uint32_t entry
    for i in range(first, divided.ends[block]):
        entry = divided.entries[i]
        scores[entry & (BLOCK - 1)] += <uint16_t>(entry >> BLOCK_BITS)
    return divided.ends[block] - first


cdef int64_t add_ascending(
    const int32_t* documents, const uint8_t* weights, int64_t i, int64_t stop, uint16_t q, uint16_t* scores,
    uint32_t first, uint32_t size
) noexcept nogil:
    """Add the postings from i on of this block; return the first beyond."""
    cdef uint32_t at
    while i < stop:
        at = <uint32_t>documents[i] - first
        if at >= size:
            break
        scores[at] += <uint16_t>(q * weights[i])
        i += 1
    return i


cdef void add_row(
    const uint8_t* row, int64_t first, int64_t size, uint16_t q, uint8_t cut, int64_t last, uint16_t* scores
) noexcept nogil:
    """Add what of a row is above the cut, and up to the last document also what has that weight."""
    cdef int64_t some = min(size, max(0, last + 1 - first))
    tieaware_add_whole(scores, row + first, some, q, cut)
    if cut < 255:
        tieaware_add_whole(scores + some, row + first + some, size - some, q, cut + 1)


cdef void take(uint16_t* scores, int64_t first, int64_t size, Best* best) noexcept nogil:
    """Offer the documents of a block with a score above 0, ascending, and clear its scores."""
    cdef uint64_t[BLOCK_WORDS] words
    cdef Py_ssize_t n_words = (size + TIEAWARE_WORD - 1) // TIEAWARE_WORD, word, i
    cdef uint64_t marks
    cdef uint16_t bound = <uint16_t>min(65535.0, max(0.0, floor(best.bound)))
    best.documents += tieaware_survey_whole(scores, words, n_words, bound)
    for word in range(n_words):
        marks = words[word]
        while marks:
            i = word * TIEAWARE_WORD + tieaware_lowest(marks)
            marks &= marks - 1
            offer(best, <int32_t>(first + i), <double>scores[i])
    memset(scores, 0, BLOCK * sizeof(uint16_t))


cdef bint set_factors(const double[::1] query_weights, uint16_t* factors):
    """Whether the query's weights are whole numbers, and so small that no score is beyond 16 bits."""
    cdef Py_ssize_t i
    cdef double total = 0.0
    for i in range(query_weights.shape[0]):
        total += query_weights[i]
        if not (query_weights[i] >= 0.0 and total * 255.0 <= 65535.0 and query_weights[i] == floor(query_weights[i])):
            return False
        factors[i] = <uint16_t>query_weights[i]
    return True


def search(
    const int64_t[::1] terms, const int64_t[::1] of_terms, const int64_t[::1] segments,
    const int32_t[::1] by_impact, cnp.ndarray[uint8_t, ndim=1, mode="c"] its_weights, const double[::1] query_weights,
    double share_read, int64_t most, double share, bint by_term,
    const int32_t[::1] by_document, const uint8_t[::1] weights, const int64_t[::1] rows, const uint8_t[:, ::1] table,
    int64_t n_documents, int64_t k, bint whole_ties
):
    """Choose what is read, score its documents, and find the top k.

    Parameters
    ----------
    terms, of_terms, segments, its_weights, query_weights, share_read, most, share, by_term
        As `choose` takes them.
    by_impact : int32[n_postings]
        The document of each posting, ascending within a segment.
    by_document, weights : int32[n_postings], uint8[n_postings]
        Document and weight of the same postings; those of a term lie at the same place, by document.
    rows, table : int64[n_terms], uint8[n_rows, n_documents]
        The row of each term in the table, or -1; a row has a weight for each document, 0 where there is no posting.
    n_documents, k : int
        How many documents there are, and how many are wanted, at least 1.
    whole_ties : bool
        Whether all that tie with the k-th are wanted, too.

    Returns
    -------
    (int32[n], float64[n], int, int, int) or None
        The documents, the best first; their scores; how many documents have a score; how often scores were compared;
        how many postings were read. None, if a query's weights are not whole numbers that are small.
    """
    cdef Best best
    cdef Interruption interruption = no_interruption()
    cdef Py_ssize_t n = terms.shape[0], i
    cdef int64_t first = 0, size, n_read = 0, n_in_part = 0, steps, b
    cdef Divided divided
    cdef uint16_t* scores = NULL
    cdef double least = 0.0
    cdef uint16_t* factors = NULL
    cdef int64_t[:, ::1] parts = np.empty((3, n), np.int64)
    cdef int64_t[::1] starts = parts[0], stops = parts[1], ends = parts[2]
    cdef int64_t[::1] following = np.empty(n, np.int64), row = np.empty(n, np.int64)
    cdef uint8_t[::1] in_part = np.empty(n, np.uint8)
    cdef const uint8_t* impacts = <const uint8_t*>cnp.PyArray_DATA(its_weights)
    if not (by_impact.shape[0] == its_weights.shape[0] == by_document.shape[0] == weights.shape[0]):
        raise ValueError("there is not a weight for each posting")
    if not (0 <= n_documents <= 0x7fffffff and k >= 1 and table.shape[1] == n_documents):
        raise ValueError("a number is out of its range")
    if rows.shape[0] != of_terms.shape[0] - 1:
        raise ValueError("there is not a row for each term")
    memset(&best, 0, sizeof(best))
    memset(&divided, 0, sizeof(divided))
    try:
        factors = <uint16_t*>malloc(<size_t>(n + 1) * sizeof(uint16_t))
        scores = <uint16_t*>calloc(BLOCK, sizeof(uint16_t))
        if factors == NULL or scores == NULL:
            raise MemoryError
        if not set_factors(query_weights, factors):
            return None
        choose_into(terms, of_terms, segments, its_weights, query_weights, share_read, most, share, by_term, parts)
        for i in range(n):
            following[i] = starts[i]
            n_read += stops[i] - starts[i]
            row[i] = rows[terms[i]] if (stops[i] - starts[i]) * ROW >= n_documents else -1
            if not -1 <= row[i] < table.shape[0]:
                raise ValueError("a row lies beyond the table")
            # What is read whole, or has a row, is added as its documents come.
            in_part[i] = row[i] < 0 and starts[i] < stops[i] < ends[i]
            n_in_part += stops[i] - starts[i] if in_part[i] else 0
            if k <= stops[i] - starts[i]:
                # So many documents have this impact, or more.
                least = max(least, factors[i] * impacts[starts[i] + k - 1])
        open_divided(&divided, n_in_part, n_documents)
        open_best(&best, k, n_documents, whole_ties, False)
        best.ascending = True
        if least > 0.0:
            bound_by(&best, least)
        with nogil:
            for i in range(n):
                if in_part[i]:
                    count(&divided, &by_impact[0], starts[i], stops[i], <uint32_t>n_documents)
            for b in range((n_documents >> BLOCK_BITS) + 1):
                divided.ends[b + 1] += divided.ends[b]
            for i in range(n):
                if in_part[i]:
                    divide(&divided, &by_impact[0], impacts, starts[i], stops[i], factors[i], <uint32_t>n_documents)
                    if interrupted(&interruption, 4 * (stops[i] - starts[i])):
                        break
            while first < n_documents:
                size = min(<int64_t>BLOCK, n_documents - first)
                steps = size // 16 + add_divided(&divided, first >> BLOCK_BITS, scores)
                for i in range(n):
                    if row[i] >= 0:
                        add_row(&table[row[i], 0], first, size, factors[i], impacts[stops[i] - 1],
                                by_impact[stops[i] - 1], scores)
                    elif stops[i] == ends[i] and following[i] < ends[i]:
                        steps -= following[i]
                        following[i] = add_ascending(&by_document[0], &weights[0], following[i], ends[i], factors[i],
                                                     scores, <uint32_t>first, <uint32_t>size)
                        steps += following[i]
                take(scores, first, size, &best)
                first += size
                if interrupted(&interruption, steps):
                    break
        check_interruption(&interruption)
        return *found(&best, whole_ties), n_read
    finally:
        free(factors)
        free(scores)
        close_divided(&divided)
        close_best(&best)
