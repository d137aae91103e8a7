"""Impact order for weights of which few are equal: the first postings of each term, and the sums of their impacts.

The postings of a term are in descending order of weight, so those that are read are always its first ones, a prefix.
The impact of a posting is its weight times the term's weight in the query. The lengths of the prefixes are found by a
binary search for the lowest impact that is read; taking one posting after another would need a heap. Scores are summed
in the order of the terms in an array that has a number for each document and is 0 before and after each search: only
the numbers of documents that were read are reset.
"""
from libc.math cimport ceil, fabs, isfinite
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption
from tieaware.kernels._top cimport Best, bound_by, close_best, found, offer, open_best

cnp.import_array()
from tieaware.kernels cimport _numpy as cnp


cdef class Sums:
    """The memory of a search: a sum for each document, which is 0 before and after each search."""

    cdef double* sums
    cdef int64_t n_documents

    def __cinit__(self, int64_t n_documents):
        if not 0 <= n_documents <= 0x7fffffff:
            raise ValueError("n_documents is out of its range")
        self.sums = <double*>calloc(<size_t>(n_documents + 1), sizeof(double))
        self.n_documents = n_documents
        if self.sums == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.sums)


# A list: its postings are those from `start` to `stop`, and those before `taken` are read. `size` is the number of
# postings before those with low impacts were left out. While the lowest impact is sought, all postings before `low` are
# read, and none from `high` on.
cdef struct Prefix:
    int64_t start
    int64_t stop
    int64_t taken
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


cdef int64_t add(
    const Prefix* lists, int64_t n, const int32_t* documents, const float* weights, double* sums, int64_t n_documents
) noexcept nogil:
    """sums[d] += query_weight · weight for the postings that are read; return their number."""
    cdef int64_t i, j, n_read = 0
    cdef double q
    cdef uint64_t document
    for i in range(n):
        q = lists[i].query_weight
        for j in range(lists[i].start, lists[i].taken):
            document = <uint64_t>documents[j]
            if document < <uint64_t>n_documents:
                sums[document] += q * <double>weights[j]
        n_read += lists[i].taken - lists[i].start
    return n_read


cdef void take(
    const Prefix* lists, int64_t n, const int32_t* documents, double* sums, int64_t n_documents, Best* best
) noexcept nogil:
    """Offer the documents that were read, and reset their sums, so that each is offered once."""
    cdef int64_t i, j
    cdef uint64_t document
    cdef double score
    for i in range(n):
        for j in range(lists[i].start, lists[i].taken):
            document = <uint64_t>documents[j]
            if document < <uint64_t>n_documents:
                score = sums[document]
                sums[document] = 0.0
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
                # The first k documents of a list reach the k-th impact, if no weight of the query is negative.
                if rises and lists[i].taken - lists[i].start >= k:
                    reached = max(reached, lists[i].query_weight * <double>weights_at[lists[i].start + k - 1])
        open_best(&best, k, min(total, sums.n_documents), whole_ties, False)
        if reached > 0.0:
            bound_by(&best, reached)
        with nogil:
            n_read = add(lists, n, documents_at, weights_at, sums.sums, sums.n_documents)
            take(lists, n, documents_at, sums.sums, sums.n_documents, &best)
            interrupted(&interruption, 8 * n_read)
        check_interruption(&interruption)
        return *found(&best, whole_ties), n_read
    finally:
        free(lists)
        close_best(&best)
