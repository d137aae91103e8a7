"""Impact order: how much is read of each term's postings, and what they add up to where impacts are whole numbers.

The postings of a term lie by descending weight, in segments of equal weight, within which documents ascend: what is
read of them lies at their beginning. Sums of small whole numbers are the same in any order; so they are made in 16
bits, of one block of documents after the other, by going on in each segment. Some segments lead: only their documents
can be among the best, and have a score; what else is read is added to these alone. No document is written beyond the
scores of a block, whatever the postings say.
"""
cimport numpy as cnp
import numpy as np
from libc.math cimport ceil, fabs, floor
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memset

from tieaware._interruption cimport Interruption, check_interruption, interrupted, no_interruption

cdef extern from "accumulators.h":
    ptrdiff_t tieaware_lead(
        uint16_t *scores, const int32_t *documents, ptrdiff_t n, uint32_t first, uint32_t size, uint16_t impact
    ) nogil
    ptrdiff_t tieaware_follow(
        uint16_t *scores, const int32_t *documents, ptrdiff_t n, uint32_t first, uint32_t size, uint16_t impact
    ) nogil

cnp.import_array()

cdef enum:
    # So many documents have a score at a time: 512 KB, which stay in the second-level cache. With fewer, to go from
    # segment to segment would take longer.
    BLOCK = 1 << 18
    # Documents are sorted by so many bits of their numbers at a time.
    DIGIT_BITS = 10
    DIGITS = 1 << DIGIT_BITS


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
    """Find how much is read of each term's postings: `parts` is what `choose` returns."""
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
            parts[3, i], parts[4, i] = segment[i], last[i]
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
    int64[5, n_lists]
        Where the postings of each list begin, where what is read of them ends, and where they end; where the segments
        of each list begin, and end.
    """
    parts = np.empty((5, terms.shape[0]), np.int64)
    choose_into(terms, of_terms, starts, weights, query_weights, share_read, most, share, by_term, parts)
    return parts


cdef struct Entry:
    int32_t document
    uint16_t score


cdef class Accumulators:
    """What a search needs: of a block of documents scores, which are 0 before a search, and after it again.

    And room for those that may be among the best: what the last search has used, the processor still has at hand.
    """

    cdef uint16_t* scores
    cdef Entry* entries
    cdef Entry* spare
    cdef int64_t room

    def __cinit__(self):
        self.scores = <uint16_t*>calloc(BLOCK, sizeof(uint16_t))
        if self.scores == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.scores)
        free(self.entries)
        free(self.spare)

    cdef int make_room(self, int64_t n) except -1 nogil:
        """Make room for so many entries, and keep those that there are."""
        cdef int64_t room = n + n // 2
        cdef Entry* entries
        if n <= self.room:
            return 0
        entries = <Entry*>realloc(self.entries, <size_t>room * sizeof(Entry))
        if entries != NULL:
            self.entries = entries
            free(self.spare)
            self.spare = <Entry*>malloc(<size_t>room * sizeof(Entry))
        if entries == NULL or self.spare == NULL:
            self.room = 0
            with gil:
                raise MemoryError
        self.room = room
        return 0


# What is to be read yet of a segment: the postings from i to stop, each of which adds the same; the last block has read
# those from `start` on.
cdef struct Segment:
    int64_t start
    int64_t i
    int64_t stop
    uint16_t impact


cdef int64_t lay_out(
    int64_t i, int64_t stop, int64_t s, int64_t last, const int64_t* starts, const uint8_t* weights, uint16_t q,
    Segment* segments
) noexcept nogil:
    """Write the segments from s on of what is read of a list, from i to its stop; return how many add anything."""
    cdef int64_t n = 0
    while s < last and i < stop:
        s += 1
        segments[n].i = i
        segments[n].impact = <uint16_t>(q * weights[i])
        # Where somebody changes starts meanwhile, too.
        i = min(stop, max(i + 1, starts[s]))
        segments[n].stop = i
        n += segments[n].impact > 0
    return n


# The segments of a list that add anything, by descending impact. Those before `leads` lead, the highest impact of the
# others is `passed_over`.
cdef struct TermList:
    Segment* segments
    int64_t n
    int64_t leads
    int64_t passed_over


cdef void choose_leads(TermList* lists, int64_t n, int64_t reached) noexcept nogil:
    """Find the segments that have to lead, if k documents reach so high a score.

    Invariant: without one of these, a document has at most the sum of the highest impacts passed over, which is less
    than that. To pass over most postings is a knapsack problem: whatever comes at the least a posting comes next.
    """
    cdef int64_t slack = reached - 1, i, s, which, until, n_postings, cost
    cdef double gain, most
    cdef TermList* one
    for i in range(n):
        lists[i].leads, lists[i].passed_over = lists[i].n, 0
    while True:
        most, which, until = 0.0, -1, 0
        for i in range(n):
            one, n_postings, s = &lists[i], 0, lists[i].leads
            while s > 0:
                s -= 1
                n_postings += one.segments[s].stop - one.segments[s].i
                cost = one.segments[s].impact - one.passed_over
                if cost > slack:
                    break
                gain = <double>n_postings / cost if cost > 0 else 0.0
                if gain > most:
                    most, which, until = gain, i, s
        if which < 0:
            return
        one = &lists[which]
        slack -= one.segments[until].impact - one.passed_over
        one.passed_over, one.leads = one.segments[until].impact, until


cdef int64_t add_leads(
    TermList* lists, int64_t n, const int32_t* documents, uint16_t* scores, uint32_t first, uint32_t size
) noexcept nogil:
    """Add the postings of a block, which come next in each segment that leads; return how many."""
    cdef int64_t i, s, total = 0
    cdef Segment* segment
    for i in range(n):
        for s in range(lists[i].leads):
            segment = &lists[i].segments[s]
            segment.start = segment.i
            segment.i += tieaware_lead(scores, documents + segment.i, segment.stop - segment.i, first, size,
                                       segment.impact)
            total += segment.i - segment.start
    return total


cdef int64_t add_others(
    TermList* lists, int64_t n, const int32_t* documents, uint16_t* scores, uint32_t first, uint32_t size
) noexcept nogil:
    """Add the postings of the other segments, where a document has a score; return how many were read."""
    cdef int64_t i, s, n_added, total = 0
    cdef Segment* segment
    for i in range(n):
        for s in range(lists[i].leads, lists[i].n):
            segment = &lists[i].segments[s]
            n_added = tieaware_follow(scores, documents + segment.i, segment.stop - segment.i, first, size,
                                      segment.impact)
            segment.i += n_added
            total += n_added
    return total


cdef int64_t gather(
    const TermList* lists, int64_t n, const int32_t* documents, uint16_t* scores, uint32_t first, uint32_t size,
    uint16_t least, Entry* entries, int64_t* n_scored
) noexcept nogil:
    """Take the scores of a block that are at least so high, and clear all; return how many these are.

    Without a branch that depends on a score. A document of two segments that lead has none the second time.
    """
    cdef int64_t i, s, p, n_entries = 0
    cdef const Segment* segment
    cdef uint32_t at
    cdef uint16_t score
    for i in range(n):
        for s in range(lists[i].leads):
            segment = &lists[i].segments[s]
            for p in range(segment.start, segment.i):
                at = <uint32_t>documents[p] - first
                # Where somebody changes documents meanwhile, too.
                if at >= size:
                    continue
                score = scores[at]
                scores[at] = 0
                entries[n_entries].document, entries[n_entries].score = <int32_t>(first + at), score
                n_entries += score >= least
                n_scored[0] += score > 0
    return n_entries


# Those that have come and may be among the best: documents of one block after the other, in any order within a block;
# and how many have each score. As scores are small whole numbers, what k documents have reached is known at any time,
# and the best are put in order without a comparison.
cdef struct Best:
    int64_t size
    int64_t* counts
    int64_t highest
    int64_t k
    bint whole_ties
    # Fewer than k that came have this score or more; so many.
    int64_t least
    int64_t n_above
    # How many documents have a score.
    int64_t documents


cdef int open_best(Best* best, int64_t k, int64_t highest, bint whole_ties) except -1:
    best.k, best.highest, best.whole_ties, best.least = k, highest, whole_ties, 1
    best.counts = <int64_t*>calloc(<size_t>(highest + 2), sizeof(int64_t))
    if best.counts == NULL:
        raise MemoryError
    return 0


cdef inline uint16_t lowest_let_in(const Best* best) noexcept nogil:
    """The first k of those that tie with the k-th have come already, as blocks ascend."""
    return <uint16_t>min(<int64_t>65535, max(1, best.least - 1 if best.whole_ties else best.least))


cdef void count(Best* best, Entry* entries, int64_t n) noexcept nogil:
    """Take so many more entries, and find what k documents have reached by now.

    Invariant: n_above is the sum of the counts from `least` on, less than k.
    """
    cdef int64_t* counts = best.counts
    cdef int64_t i, score, least = best.least, n_above = best.n_above
    for i in range(n):
        # Where somebody changes the postings meanwhile, too.
        score = min(<int64_t>entries[i].score, best.highest)
        entries[i].score = <uint16_t>score
        counts[score] += 1
        n_above += score >= least
    while n_above >= best.k:
        n_above -= counts[least]
        least += 1
    best.size += n
    best.least, best.n_above = least, n_above


cdef void sort_by_digit(const Entry* entries, Entry* into, int64_t n, int shift) noexcept nogil:
    """Sort entries by some bits of their documents' numbers; of the same bits, they stay in order."""
    cdef int32_t[DIGITS] n_below
    cdef int32_t below = 0, n_same
    cdef int64_t i, digit
    memset(n_below, 0, sizeof(n_below))
    for i in range(n):
        n_below[entries[i].document >> shift & (DIGITS - 1)] += 1
    for digit in range(DIGITS):
        n_same = n_below[digit]
        n_below[digit] = below
        below += n_same
    for i in range(n):
        digit = entries[i].document >> shift & (DIGITS - 1)
        into[n_below[digit]] = entries[i]
        n_below[digit] += 1


cdef int64_t last_of_the_tied(const Best* best, const Entry* entries, int64_t n_tied, int shift) noexcept nogil:
    """Return the upper bits of documents, up to which those are that tie with the k-th, and as many come first."""
    cdef int32_t[DIGITS] n_same
    cdef int64_t i, digit
    memset(n_same, 0, sizeof(n_same))
    for i in range(best.size):
        n_same[entries[i].document >> shift & (DIGITS - 1)] += entries[i].score == best.least - 1
    for digit in range(DIGITS):
        n_tied -= n_same[digit]
        if n_tied <= 0:
            return digit
    return DIGITS


cdef const Entry* leave_out(Best* best, Entry* entries, Entry* spare, int64_t n_documents) noexcept nogil:
    """Return what is among the best, ascending by document."""
    cdef int64_t i, n = 0, n_tied = best.size if best.whole_ties else best.k - best.n_above, last
    cdef int shift = 0
    while n_documents - 1 >> shift >= DIGITS:
        shift += 1
    last = last_of_the_tied(best, entries, n_tied, shift)
    for i in range(best.size):
        entries[n] = entries[i]
        # Where there are no such documents, too.
        n += (entries[i].score >= best.least) | (
            (entries[i].score == best.least - 1) & (entries[i].document >> shift <= last)
        )
    shift = 0
    while n_documents - 1 >> shift > 0:
        sort_by_digit(entries, spare, n, shift)
        entries, spare = spare, entries
        shift += DIGIT_BITS
    best.size = 0
    for i in range(n):
        if entries[i].score < best.least:
            if n_tied == 0:
                continue
            n_tied -= 1
        # Where there are no such documents, too.
        if entries[i].document < n_documents:
            entries[best.size] = entries[i]
            best.size += 1
    return entries


cdef tuple found(Best* best, Accumulators accumulators, int64_t n_documents):
    """Return the documents and scores of the best, how many were scored, and how often scores were compared."""
    cdef int64_t i, at = 0, score, n
    cdef const Entry* entries
    cdef Entry entry
    with nogil:
        entries = leave_out(best, accumulators.entries, accumulators.spare, n_documents)
    documents = np.empty(best.size, np.int32)
    scores = np.empty(best.size)
    cdef int32_t[::1] d = documents
    cdef double[::1] s = scores
    with nogil:
        # From now on, counts say where the next one with a score goes.
        for score in range(best.highest, best.least - 2, -1):
            n = best.counts[score]
            best.counts[score] = at
            at += n
        for i in range(best.size):
            entry = entries[i]
            at = best.counts[entry.score]
            if at < best.size:
                d[at] = entry.document
                s[at] = <double>entry.score
            best.counts[entry.score] = at + 1
    # Each was compared to the lowest score that is let in.
    return documents, scores, best.documents, best.documents


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
    const int32_t[::1] documents, cnp.ndarray[uint8_t, ndim=1, mode="c"] weights, const double[::1] query_weights,
    double share_read, int64_t most, double share, bint by_term, int64_t n_documents, int64_t k, bint whole_ties,
    Accumulators accumulators not None
):
    """Choose what is read, score its documents, and find the top k.

    Parameters
    ----------
    terms, of_terms, segments, weights, query_weights, share_read, most, share, by_term
        As `choose` takes them.
    documents : int32[n_postings]
        The document of each posting, ascending within a segment.
    n_documents, k : int
        How many documents there are, and how many are wanted, at least 1.
    whole_ties : bool
        Whether all that tie with the k-th are wanted, too.
    accumulators : Accumulators
        Which nobody else uses meanwhile; nor afterwards, if this raises.

    Returns
    -------
    (int32[n], float64[n], int, int, int) or None
        The documents, the best first; their scores; how many documents had a score, which are those of the segments
        that lead; how often scores were compared; how many postings were read. None, if a query's weights are not whole
        numbers that are small.
    """
    cdef Best best
    cdef Interruption interruption = no_interruption()
    cdef Py_ssize_t n = terms.shape[0], i
    cdef int64_t first = 0, span = 1, n_read = 0, n_segments = 0, highest = 0, n_added
    cdef Entry* entries
    cdef uint16_t* factors = NULL
    cdef TermList* lists = NULL
    cdef Segment* laid_out = NULL
    cdef int64_t[:, ::1] parts = np.empty((5, n), np.int64)
    cdef int64_t[::1] starts = parts[0], stops = parts[1]
    cdef const uint8_t* impacts = <const uint8_t*>cnp.PyArray_DATA(weights)
    if documents.shape[0] != weights.shape[0]:
        raise ValueError("there is not a weight for each posting")
    if not (0 <= n_documents <= 0x7fffffff and k >= 1):
        raise ValueError("a number is out of its range")
    memset(&best, 0, sizeof(best))
    try:
        factors = <uint16_t*>malloc(<size_t>(n + 1) * sizeof(uint16_t))
        lists = <TermList*>malloc(<size_t>(n + 1) * sizeof(TermList))
        if factors == NULL or lists == NULL:
            raise MemoryError
        if not set_factors(query_weights, factors):
            return None
        choose_into(terms, of_terms, segments, weights, query_weights, share_read, most, share, by_term, parts)
        for i in range(n):
            highest += 255 * factors[i]
            n_read += stops[i] - starts[i]
            n_segments += min(parts[4, i] - parts[3, i], stops[i] - starts[i])
        laid_out = <Segment*>malloc(<size_t>(n_segments + 1) * sizeof(Segment))
        if laid_out == NULL:
            raise MemoryError
        open_best(&best, min(k, n_documents), highest, whole_ties)
        n_segments = 0
        for i in range(n):
            lists[i].segments = laid_out + n_segments
            lists[i].n = lay_out(starts[i], stops[i], parts[3, i], parts[4, i], &segments[0], impacts, factors[i],
                                 lists[i].segments)
            n_segments += lists[i].n
            if k <= stops[i] - starts[i]:
                # So many documents have this impact, or more.
                best.least = max(best.least, <int64_t>factors[i] * impacts[starts[i] + k - 1])
        # A power of two: whole blocks, or one of which the documents are more than half.
        while span < min(<int64_t>BLOCK, n_documents):
            span *= 2
        with nogil:
            choose_leads(lists, n, best.least)
            while first < n_documents and n_segments > 0:
                n_added = add_leads(lists, n, &documents[0], accumulators.scores, <uint32_t>first, <uint32_t>span)
                # Each entry comes of such a posting.
                accumulators.make_room(best.size + n_added)
                n_added += add_others(lists, n, &documents[0], accumulators.scores, <uint32_t>first, <uint32_t>span)
                entries = accumulators.entries + best.size
                count(&best, entries, gather(lists, n, &documents[0], accumulators.scores, <uint32_t>first,
                                             <uint32_t>span, lowest_let_in(&best), entries, &best.documents))
                first += span
                if interrupted(&interruption, span // 16 + n_added):
                    break
        check_interruption(&interruption)
        return *found(&best, accumulators, n_documents), n_read
    finally:
        free(factors)
        free(lists)
        free(laid_out)
        free(best.counts)
