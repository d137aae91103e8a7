"""Impact order for weights of which few are equal: the first postings of each term, and the sums of their impacts.

The postings of a term are in descending order of weight, so those that are read are always its first ones, a prefix.
The impact of a posting is its weight times the term's weight in the query. The lengths of the prefixes are found by a
binary search for the lowest impact that is read; taking one posting after another would need a heap. Scores are summed
in the order of the terms in an array that has a number for each document and is 0 before and after each search: only
the numbers of documents that were read are reset.

At least k documents reach the k-th impact of a list. Some postings of each prefix lead: those before a place that is
chosen so that a document without a leading posting cannot reach this impact. Documents with a leading posting are
marked in a bitmap, which fits in the first-level cache, and the other postings are added only to marked documents.
"""
from libc.math cimport ceil, fabs, isfinite
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption
from tieaware.kernels._top cimport Best, bound_by, close_best, found, offer, open_best

cdef extern from "engine/portable.h":
    void tieaware_prefetch(const void *address) nogil

cnp.import_array()

cdef enum:
    # The number of places of a prefix at which the leading postings may end.
    PLACES = 32
    # The number of postings that are looked up among the marked documents at a time.
    TILE = 256
    # For queries with more lists, choosing the leading postings would take longer than it saves.
    MOST_LISTS = 16


cdef class Sums:
    """The memory of a search: a sum for each document, which is 0 before and after each search."""

    cdef double* sums
    # A bit for each document, which is 0 before and after each search.
    cdef uint64_t* marks
    cdef int64_t n_documents

    def __cinit__(self, int64_t n_documents):
        if not 0 <= n_documents <= 0x7fffffff:
            raise ValueError("n_documents is out of its range")
        self.sums = <double*>calloc(<size_t>(n_documents + 1), sizeof(double))
        self.marks = <uint64_t*>calloc(<size_t>(n_documents // 64 + 1), sizeof(uint64_t))
        self.n_documents = n_documents
        if self.sums == NULL or self.marks == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.sums)
        free(self.marks)


# A list: its postings are those from `start` to `stop`; those before `taken` are read, and those before `lead` lead.
# The highest impact of the other postings that are read is `passed_over`. `size` is the number of
# postings before those with low impacts were left out. While the lowest impact is sought, all postings before `low` are
# read, and none from `high` on.
cdef struct Prefix:
    int64_t start
    int64_t stop
    int64_t taken
    int64_t lead
    double passed_over
    int64_t size
    int64_t low
    int64_t high
    int64_t middle
    double query_weight


cdef inline int64_t first_below(
    const float* weights, int64_t low, int64_t high, double query_weight, double impact
) noexcept nogil:
    """Return the index of the first posting from low on whose impact is below the given one; high if there is none."""
    cdef int64_t middle
    while low < high:
        middle = (low + high) >> 1
        if fabs(query_weight * <double>weights[middle]) >= impact:
            low = middle + 1
        else:
            high = middle
    return low


cdef inline double impact_of(uint64_t bits) noexcept nogil:
    cdef double impact
    memcpy(&impact, &bits, sizeof(impact))
    return impact


cdef bint comes_before(const Prefix* lists, int64_t a, int64_t b) noexcept nogil:
    """Return whether list a is shorter than list b or, if they are equally long, comes before it."""
    return lists[a].size < lists[b].size or (lists[a].size == lists[b].size and a < b)


cdef void take_highest(
    Prefix* lists, const int64_t* order, int64_t n, const float* weights, int64_t limit
) noexcept nogil:
    """Read the `limit` postings with the highest impacts of some lists; of equal impacts, those of earlier lists.

    Invariant: fewer than `limit` postings have an impact of at least `above`, and at least `limit` have one of at least
    `below`. Both are the bits of an impact; the order of these integers is that of the impacts.
    """
    cdef uint64_t below = 0, above = <uint64_t>0x7ff << 52, middle
    cdef int64_t i, total
    cdef double impact
    cdef Prefix* one
    for i in range(n):
        one = &lists[order[i]]
        one.low, one.high = one.start, one.stop
    while above - below > 1:
        middle = below + ((above - below) >> 1)
        impact = impact_of(middle)
        total = 0
        for i in range(n):
            one = &lists[order[i]]
            one.middle = first_below(weights, one.low, one.high, one.query_weight, impact)
            total += one.middle - one.start
        for i in range(n):
            one = &lists[order[i]]
            if total >= limit:
                one.high = one.middle
            else:
                one.low = one.middle
        if total >= limit:
            below = middle
        else:
            above = middle
        if total == limit:
            break
    for i in range(n):
        limit -= lists[order[i]].low - lists[order[i]].start
    for i in range(n):
        one = &lists[order[i]]
        one.taken = one.low + min(limit, one.high - one.low)
        limit -= one.taken - one.low


cdef void choose(
    Prefix* lists, int64_t* order, int64_t n, const float* weights, int64_t limit, double share, bint by_term
) noexcept nogil:
    """Choose how many postings of each list are read, in all at most `limit`, as `_impacts.choose` does."""
    cdef int64_t i, j, total, first = 0, last
    cdef double highest = 0.0
    for i in range(n):
        if lists[i].start < lists[i].stop:
            highest = max(highest, fabs(lists[i].query_weight * <double>weights[lists[i].start]))
        j = i
        while j > 0 and comes_before(lists, i, order[j - 1]):
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
    for i in range(n):
        lists[i].stop = first_below(weights, lists[i].start, lists[i].stop, lists[i].query_weight, share * highest)
    while first < n:
        # By term, lists of equal length are read together, and before longer lists.
        last = first + 1 if by_term else n
        while last < n and lists[order[last]].size == lists[order[first]].size:
            last += 1
        total = 0
        for i in range(first, last):
            total += lists[order[i]].stop - lists[order[i]].start
        if total <= limit:
            for i in range(first, last):
                lists[order[i]].taken = lists[order[i]].stop
            limit -= total
        else:
            take_highest(lists, order + first, last - first, weights, limit)
            limit = 0
        first = last


cdef int64_t choose_leads(Prefix* lists, int64_t n, const float* weights, double reached) noexcept nogil:
    """Choose the leading postings, given a score that at least k documents reach; return their number.

    Invariant: a document without a leading posting has at most the sum of `passed_over` of all lists as its score, and
    this sum is below `reached`, even if it is rounded. Where many postings are passed over for each unit of impact,
    they are passed over first. Only some places of each prefix are looked at.
    """
    cdef double slack = reached * (1.0 - 2.0 ** -40), cost, most, gain
    cdef int64_t i, j, which, until, place, total = 0
    cdef Prefix* one
    for i in range(n):
        lists[i].lead, lists[i].passed_over = lists[i].taken, 0.0
    while n <= MOST_LISTS and slack > 0.0:
        most, which, until = 0.0, -1, 0
        for i in range(n):
            one = &lists[i]
            for j in range(PLACES):
                place = one.start + (one.taken - one.start) * j // PLACES
                if place >= one.lead:
                    break
                cost = one.query_weight * <double>weights[place] - one.passed_over
                # A posting with the same impact as those passed over costs nothing.
                gain = <double>(one.lead - place) / max(cost, slack * 2.0 ** -40)
                if cost < slack and gain > most:
                    most, which, until = gain, i, place
        if which < 0:
            break
        one = &lists[which]
        cost = one.query_weight * <double>weights[until]
        slack -= max(0.0, cost - one.passed_over)
        one.passed_over, one.lead = max(cost, one.passed_over), until
    for i in range(n):
        total += lists[i].lead - lists[i].start
    return total


cdef void mark(const Prefix* lists, int64_t n, const int32_t* documents, Sums sums) noexcept nogil:
    """Mark the documents with a leading posting, and prefetch their sums."""
    cdef int64_t i, j
    cdef uint64_t* marks = sums.marks
    cdef uint64_t document
    for i in range(n):
        for j in range(lists[i].start, lists[i].lead):
            document = <uint64_t>documents[j]
            if document < <uint64_t>sums.n_documents:
                marks[document >> 6] |= <uint64_t>1 << (document & 63)
                tieaware_prefetch(&sums.sums[document])


cdef void add_to_marked(
    const Prefix* one, const int32_t* documents, const float* weights, Sums sums
) noexcept nogil:
    """sums[d] += query_weight · weight for the other postings that are read, if document d is marked.

    They are collected first, without a branch that depends on a mark, because such branches are mispredicted.
    """
    cdef int32_t[TILE] which
    cdef int64_t j, first = one.lead, size
    cdef double* own = sums.sums
    cdef int n_marked, i
    cdef uint64_t document, last = <uint64_t>max(<int64_t>0, sums.n_documents - 1)
    while first < one.taken:
        size = min(<int64_t>TILE, one.taken - first)
        n_marked = 0
        for j in range(size):
            document = <uint64_t>documents[first + j]
            which[n_marked] = <int32_t>j
            n_marked += <int>(sums.marks[min(document, last) >> 6] >> (document & 63) & 1)
        for i in range(n_marked):
            j = first + which[i]
            document = <uint64_t>documents[j]
            if document <= last:
                own[document] += one.query_weight * <double>weights[j]
        first += size


cdef int64_t add(
    const Prefix* lists, int64_t n, const int32_t* documents, const float* weights, Sums sums
) noexcept nogil:
    """Add the postings that are read, list after list; return their number."""
    cdef int64_t i, j, n_read = 0
    cdef double q
    cdef double* own = sums.sums
    cdef uint64_t document, n_documents = <uint64_t>sums.n_documents
    for i in range(n):
        q = lists[i].query_weight
        for j in range(lists[i].start, lists[i].lead):
            document = <uint64_t>documents[j]
            if document < n_documents:
                own[document] += q * <double>weights[j]
        add_to_marked(&lists[i], documents, weights, sums)
        n_read += lists[i].taken - lists[i].start
    return n_read


cdef void take(const Prefix* lists, int64_t n, const int32_t* documents, Sums sums, Best* best) noexcept nogil:
    """Offer the documents with a leading posting, and reset their sums and marks, so that each is offered once."""
    cdef int64_t i, j
    cdef uint64_t document
    cdef double score
    for i in range(n):
        for j in range(lists[i].start, lists[i].lead):
            document = <uint64_t>documents[j]
            if document < <uint64_t>sums.n_documents:
                score = sums.sums[document]
                sums.sums[document] = 0.0
                sums.marks[document >> 6] = 0
                best.documents += score > 0.0
                if score > 0.0:
                    offer(best, <int32_t>document, score)


def search(
    const int64_t[::1] terms, const int64_t[::1] starts, const int32_t[::1] documents, const float[::1] weights,
    const double[::1] query_weights, double share_read, int64_t most, double share, bint by_term, int64_t k,
    bint whole_ties, Sums sums not None
):
    """Choose the postings to read, sum their impacts, and find the top k.

    Parameters
    ----------
    terms : int64[n_lists]
        The terms of the query.
    starts : int64[n_terms + 1]
        The postings of term t are starts[t] to starts[t + 1], in descending order of weight.
    documents, weights : int32[n_postings], float32[n_postings]
        The document and the weight of each posting.
    query_weights, share_read, most, share, by_term
        As for `_impacts.choose`.
    k, whole_ties : int, bool
        The number of documents to find, and whether to find all documents that tie with the k-th.
    sums : Sums
        Memory that no other thread is using. It must not be used again if this function raises.

    Returns
    -------
    (int32[n], float64[n], int, int, int) or None
        The documents, best first; their scores; the number of documents with a score; the number of comparisons between
        scores; the number of postings read. None if a weight of the query is not finite.
    """
    cdef Best best
    cdef Interruption interruption = no_interruption()
    cdef Py_ssize_t n = terms.shape[0], i
    cdef int64_t total = 0, limit, n_read = 0, t
    cdef Prefix* lists = NULL
    cdef int64_t* order
    cdef const int32_t* documents_at = &documents[0] if documents.shape[0] else NULL
    cdef const float* weights_at = &weights[0] if weights.shape[0] else NULL
    cdef double reached = 0.0
    cdef bint rises = True
    if query_weights.shape[0] != n or weights.shape[0] != documents.shape[0] or k < 1:
        raise ValueError("each list and each posting must have a weight, and k must be at least 1")
    memset(&best, 0, sizeof(best))
    lists = <Prefix*>malloc(<size_t>(n + 1) * (sizeof(Prefix) + sizeof(int64_t)))
    if lists == NULL:
        raise MemoryError
    order = <int64_t*>(lists + n + 1)
    try:
        for i in range(n):
            t = terms[i]
            if not 0 <= t < starts.shape[0] - 1:
                raise ValueError("terms: a term number is out of range")
            if not 0 <= starts[t] <= starts[t + 1] <= documents.shape[0]:
                raise ValueError("starts: a term has postings outside the array")
            if not isfinite(query_weights[i]):
                return None
            lists[i].start = lists[i].taken = starts[t]
            lists[i].stop = starts[t + 1]
            lists[i].size = lists[i].stop - lists[i].start
            lists[i].query_weight = query_weights[i]
            rises = rises and query_weights[i] >= 0.0
            total += lists[i].size
        # A product that exceeds a whole number by less than 1e-9, because of floating-point error, is rounded down.
        limit = max(0, min(most, <int64_t>ceil(share_read * <double>total - 1e-9)))
        with nogil:
            choose(lists, order, n, weights_at, limit, share, by_term)
            total = 0
            for i in range(n):
                total += lists[i].taken - lists[i].start
                lists[i].lead = lists[i].taken
                # The first k documents of a list reach the k-th impact, if no weight of the query is negative.
                if rises and lists[i].taken - lists[i].start >= k:
                    reached = max(reached, lists[i].query_weight * <double>weights_at[lists[i].start + k - 1])
            if reached > 0.0:
                total = choose_leads(lists, n, weights_at, reached)
        open_best(&best, k, min(total, sums.n_documents), whole_ties, False)
        if reached > 0.0:
            bound_by(&best, reached)
        with nogil:
            if reached > 0.0:
                mark(lists, n, documents_at, sums)
            n_read = add(lists, n, documents_at, weights_at, sums)
            take(lists, n, documents_at, sums, &best)
            interrupted(&interruption, 4 * n_read)
        check_interruption(&interruption)
        return *found(&best, whole_ties), n_read
    finally:
        free(lists)
        close_best(&best)
