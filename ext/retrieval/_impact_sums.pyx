"""Impact order: sums of integer impacts in 16 bits, and the top k documents.

Sums of small integers do not depend on the order, so they are computed chunk by chunk of documents, and within a chunk
segment by segment (a segment is a sequence of postings of one term that have equal impact). Some segments lead: they
are chosen so that only documents in a leading segment can be among the best. Other documents get no score, so the
segments that do not lead are added only to documents in leading segments. The scores of a chunk are never accessed
outside their array, even if the postings are invalid.
"""
import numpy as np
from libc.math cimport floor
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memset

cimport tieaware.kernels._numpy as cnp
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
    # The number of documents of a chunk: its scores take 512 KB, which fit in the second-level cache. With smaller
    # chunks, going from segment to segment would take more time.
    CHUNK = 1 << 18
    # The number of bits of a document number that one pass of the radix sort uses.
    DIGIT_BITS = 10
    DIGITS = 1 << DIGIT_BITS


cdef struct Entry:
    int32_t document
    uint16_t score


cdef class Accumulators:
    """The memory of a search: an array for the scores of a chunk, and two for documents that may be among the best.

    The scores are 0 before and after each search. Reusing the memory is faster, because it is still in the cache.
    """

    cdef uint16_t* scores
    cdef Entry* entries
    cdef Entry* spare
    cdef int64_t room

    def __cinit__(self):
        self.scores = <uint16_t*>calloc(CHUNK, sizeof(uint16_t))
        if self.scores == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.scores)
        free(self.entries)
        free(self.spare)

    cdef int make_room(self, int64_t n) except -1 nogil:
        """Enlarge the arrays to at least n entries, and keep the existing entries."""
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


# A segment. Its unread postings are those from i to stop, and each of them adds `impact` to a score. The postings from
# `start` to i were read for the current chunk.
cdef struct Segment:
    int64_t start
    int64_t i
    int64_t stop
    uint16_t impact


cdef int64_t lay_out(
    int64_t i, int64_t stop, int64_t s, int64_t last, const int64_t* starts, const uint8_t* weights, uint16_t q,
    Segment* segments
) noexcept nogil:
    """Write the segments of a list's postings from i to stop, except those with impact 0; return how many are written.

    The list's segments are those from s to last.
    """
    cdef int64_t n = 0
    while s < last and i < stop:
        s += 1
        segments[n].i = i
        segments[n].impact = <uint16_t>(q * weights[i])
        # Clamp the index, because another thread may change the starts after they were checked.
        i = min(stop, max(i + 1, starts[s]))
        segments[n].stop = i
        n += segments[n].impact > 0
    return n


# The segments of a list with an impact above 0, in descending order of impact. The first `leads` segments lead.
# `passed_over` is the highest impact of the other segments.
cdef struct TermList:
    Segment* segments
    int64_t n
    int64_t leads
    int64_t passed_over


cdef void choose_leads(TermList* lists, int64_t n, int64_t reached) noexcept nogil:
    """Choose the leading segments, given a score `reached` that at least k documents reach.

    Invariant: a document that is in no leading segment has at most the sum of `passed_over` of all lists as its score,
    and this sum is below `reached`. A segment that does not lead is passed over. Passing over as many postings as
    possible is a knapsack problem, which is solved greedily: the segments with the most postings per unit of impact are
    passed over first.
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
    """Add the postings of the leading segments in a chunk; return how many were read."""
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
    """Add the postings of the other segments in a chunk to documents that have a score; return how many were read."""
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
    """Copy the documents of a chunk with a score of at least `least` to the entries, and return how many there are.

    All scores of the chunk are cleared, so a document in two leading segments is copied once. No branch depends on a
    score, because such branches are mispredicted.
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
                # Check the range, because another thread may change the documents.
                if at >= size:
                    continue
                score = scores[at]
                scores[at] = 0
                entries[n_entries].document, entries[n_entries].score = <int32_t>(first + at), score
                n_entries += score >= least
                n_scored[0] += score > 0
    return n_entries


# The state of the selection. The entries are documents that may be among the best; they are stored chunk after chunk,
# and in any order within a chunk. `size` is the number of entries, counts[s] the number of entries with score s. Scores
# are small integers, so the counts show which score k documents have reached, and they sort the best documents without
# comparisons.
cdef struct Selection:
    int64_t size
    int64_t* counts
    int64_t highest
    int64_t k
    bint whole_ties
    # The lowest score that fewer than k entries reach, and the number of entries that reach it.
    int64_t least
    int64_t n_above
    # The number of documents that have a score.
    int64_t documents


cdef int open_best(Selection* best, int64_t k, int64_t highest, bint whole_ties) except -1:
    best.k, best.highest, best.whole_ties, best.least = k, highest, whole_ties, 1
    best.counts = <int64_t*>calloc(<size_t>(highest + 2), sizeof(int64_t))
    if best.counts == NULL:
        raise MemoryError
    return 0


cdef inline uint16_t lowest_let_in(const Selection* best) noexcept nogil:
    """Return the lowest score that an entry of the next chunk needs to be among the best.

    Documents ascend from chunk to chunk, so a document of the next chunk that ties with the k-th comes after it, and is
    needed only with whole ties.
    """
    return <uint16_t>min(<int64_t>65535, max(1, best.least - 1 if best.whole_ties else best.least))


cdef void count(Selection* best, Entry* entries, int64_t n) noexcept nogil:
    """Count n further entries, and raise `least` and n_above accordingly.

    Invariant: n_above is the sum of the counts from `least` on, and below k.
    """
    cdef int64_t* counts = best.counts
    cdef int64_t i, score, least = best.least, n_above = best.n_above
    for i in range(n):
        # Clamp the score, because another thread may change the postings.
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
    """Sort entries by some bits of their document numbers, in a stable pass of a radix sort."""
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


cdef int64_t last_of_the_tied(const Selection* best, const Entry* entries, int64_t n_tied, int shift) noexcept nogil:
    """Return the smallest limit of the upper bits of document numbers that at least n_tied tied entries do not exceed.

    A tied entry has the same score as the k-th. The upper bits are those from `shift` on.
    """
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


cdef const Entry* leave_out(Selection* best, Entry* entries, Entry* spare, int64_t n_documents) noexcept nogil:
    """Drop the entries that are not among the best, and return the others in ascending order of document."""
    cdef int64_t i, n = 0, n_tied = best.size if best.whole_ties else best.k - best.n_above, last
    cdef int shift = 0
    while n_documents - 1 >> shift >= DIGITS:
        shift += 1
    last = last_of_the_tied(best, entries, n_tied, shift)
    for i in range(best.size):
        entries[n] = entries[i]
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
        # The last chunk can extend beyond the collection, so an invalid document number can have an entry.
        if entries[i].document < n_documents:
            entries[best.size] = entries[i]
            best.size += 1
    return entries


cdef tuple found(Selection* best, Accumulators accumulators, int64_t n_documents):
    """Return the best documents in order, their scores, the number of documents scored, and that of comparisons."""
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
        # Replace each count by the index where the next document with this score is written.
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
    # Each document that has a score was compared once, with the lowest score that can be among the best.
    return documents, scores, best.documents, best.documents


cdef bint set_factors(const double[::1] query_weights, uint16_t* factors):
    """Store the query's weights as integers; return False if they are not integers, or a score may exceed 16 bits."""
    cdef Py_ssize_t i
    cdef double total = 0.0
    for i in range(query_weights.shape[0]):
        total += query_weights[i]
        if not (query_weights[i] >= 0.0 and total * 255.0 <= 65535.0 and query_weights[i] == floor(query_weights[i])):
            return False
        factors[i] = <uint16_t>query_weights[i]
    return True


def search(
    const int64_t[::1] terms, const double[::1] query_weights, const int64_t[:, ::1] ranges not None,
    const int64_t[::1] term_starts, const int64_t[::1] segments, const int32_t[::1] documents,
    const uint8_t[::1] weights, int64_t n_documents, int64_t k, bint whole_ties, Accumulators accumulators not None
):
    """Sum the impacts of the first postings of the terms, and find the top k.

    Parameters
    ----------
    terms, query_weights, ranges : int64[n], float64[n] and int64[2, n]
        The terms, their weights, and the ranges of their postings, as `_prefixes.choose` returns them.
    term_starts : int64[n_terms + 1]
        The segments of term t are term_starts[t] to term_starts[t + 1].
    segments : int64[n_segments + 1]
        The postings of segment s are segments[s] to segments[s + 1].
    documents, weights : int32[n_postings] and uint8[n_postings]
        The document and the weight of each posting. Documents ascend within a segment.
    n_documents, k : int
        The number of documents in the collection, and the number of documents to find, at least 1.
    whole_ties : bool
        Whether to find all documents that tie with the k-th as well.
    accumulators : Accumulators
        Memory that no other thread is using. It must not be used again if this function raises.

    Returns
    -------
    (int32[n], float64[n], int, int) or None
        The documents, best first; their scores; the number of documents in leading segments, which have a score; the
        number of comparisons between scores. None if the query's weights are not small integers.
    """
    cdef Selection best
    cdef Interruption interruption = no_interruption()
    cdef Py_ssize_t n = terms.shape[0], i
    cdef int64_t first = 0, size = 1, n_segments = 0, highest = 0, n_added, room, a, b, s, last
    cdef Entry* entries
    cdef uint16_t* factors = NULL
    cdef TermList* lists = NULL
    cdef Segment* laid_out = NULL
    cdef const uint8_t* impacts = &weights[0] if weights.shape[0] else NULL
    cdef const int32_t* documents_at = &documents[0] if documents.shape[0] else NULL
    if documents.shape[0] != weights.shape[0]:
        raise ValueError("weights must have a weight for each posting")
    if query_weights.shape[0] != n or ranges.shape[0] != 2 or ranges.shape[1] != n:
        raise ValueError("each term must have a weight and a range of postings")
    if not (0 <= n_documents <= 0x7fffffff and k >= 1):
        raise ValueError("n_documents or k is out of its range")
    memset(&best, 0, sizeof(best))
    try:
        factors = <uint16_t*>malloc(<size_t>(n + 1) * sizeof(uint16_t))
        lists = <TermList*>malloc(<size_t>(n + 1) * sizeof(TermList))
        if factors == NULL or lists == NULL:
            raise MemoryError
        if not set_factors(query_weights, factors):
            return None
        for i in range(n):
            if not (0 <= terms[i] < term_starts.shape[0] - 1 and 0 <= ranges[0, i] <= ranges[1, i] <= weights.shape[0]):
                raise ValueError("terms: a term number is out of range, or a term has postings outside the array")
            if not 0 <= term_starts[terms[i]] <= term_starts[terms[i] + 1] < segments.shape[0]:
                raise ValueError("term_starts: a term has segments outside the array")
            highest += 255 * factors[i]
            # A segment that is laid out has at least one posting.
            n_segments += min(term_starts[terms[i] + 1] - term_starts[terms[i]], ranges[1, i] - ranges[0, i])
        laid_out = <Segment*>malloc(<size_t>(n_segments + 1) * sizeof(Segment))
        if laid_out == NULL:
            raise MemoryError
        open_best(&best, min(k, n_documents), highest, whole_ties)
        room, n_segments = n_segments, 0
        for i in range(n):
            # The arrays belong to the caller, who may have changed them.
            a, b = max(0, ranges[0, i]), min(ranges[1, i], weights.shape[0])
            s = max(0, term_starts[terms[i]])
            last = min(term_starts[terms[i] + 1], s + room - n_segments, segments.shape[0] - 1)
            lists[i].segments = laid_out + n_segments
            lists[i].n = lay_out(a, b, s, last, &segments[0], impacts, factors[i], lists[i].segments)
            n_segments += lists[i].n
            if k <= b - a:
                # The list's k-th largest impact is a score that at least k documents reach.
                best.least = max(best.least, <int64_t>factors[i] * impacts[a + k - 1])
        # The size of a chunk must be a power of two; a small collection is one chunk.
        while size < min(<int64_t>CHUNK, n_documents):
            size *= 2
        with nogil:
            choose_leads(lists, n, best.least)
            while first < n_documents and n_segments > 0:
                n_added = add_leads(lists, n, documents_at, accumulators.scores, <uint32_t>first, <uint32_t>size)
                # Each entry of this chunk comes from a posting of a leading segment, so there are at most n_added.
                accumulators.make_room(best.size + n_added)
                n_added += add_others(lists, n, documents_at, accumulators.scores, <uint32_t>first, <uint32_t>size)
                entries = accumulators.entries + best.size
                count(&best, entries, gather(lists, n, documents_at, accumulators.scores, <uint32_t>first,
                                             <uint32_t>size, lowest_let_in(&best), entries, &best.documents))
                first += size
                if interrupted(&interruption, size // 16 + n_added):
                    break
        check_interruption(&interruption)
        return found(&best, accumulators, n_documents)
    finally:
        free(factors)
        free(lists)
        free(laid_out)
        free(best.counts)
