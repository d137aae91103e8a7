"""Impact order: what the postings that are read add up to, where impacts are whole numbers.

Sums of small whole numbers are the same in any order; so they are made in 16 bits, of one block of documents after the
other, by going on in each segment of equal impact. Some segments lead: only their documents can be among the best, and
have a score; what else is read is added to these alone. No document is written beyond the scores of a block, whatever
the postings say.
"""
cimport numpy as cnp
import numpy as np
from libc.math cimport floor
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memset

from tieaware.kernels._impacts cimport choose_into
from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption

cdef extern from "retrieval/accumulators.h":
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
    # So many bits of the numbers of documents are looked at at a time, to put them in order.
    DIGIT_BITS = 10
    DIGITS = 1 << DIGIT_BITS


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
