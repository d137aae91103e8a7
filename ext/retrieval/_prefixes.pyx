"""Impact order: how many of the first postings of each term are read.

The postings of a term are in descending order of weight, so those that are read are always its first ones, a prefix.
The impact of a posting is its weight times the term's weight in the query. The lengths of the prefixes are found by a
binary search for the lowest impact that is read; taking one posting after another would need a heap.

At least k documents reach the k-th highest of the impacts, if each document is counted once. Some postings of each
prefix lead: those before a place that is chosen so that a document without a leading posting cannot reach this impact.
The documents with a leading posting are candidates, and the other postings need not be read one by one
(_candidates.pyx).
"""
import numpy as np
from libc.math cimport INFINITY, ceil, fabs, isfinite
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption
from tieaware.kernels._posting_impacts cimport weight_at

cdef extern from "retrieval/accumulators.h":
    void tieaware_prefetch(const void *address) nogil
    void tieaware_prefetch_bytes(const char *start, ptrdiff_t n) nogil

cnp.import_array()

cdef enum:
    # The number of places of a prefix at which the leading postings may end, and its logarithm to the base 2.
    PLACES_BITS = 4
    PLACES = 1 << PLACES_BITS
    # For queries with more lists, choosing the leading postings would take longer than it saves.
    MOST_LISTS = 16
    # Every 64th weight of all postings is in an array of its own.
    SAMPLE = 64
    # The most samples of a list that are fetched from memory while the query before is searched.
    FETCHED = 512
    # If k is larger, the k-th highest impact of a single list is taken, because finding duplicates takes k² steps.
    MOST_DISTINCT = 64


# The postings of all terms: their documents, their weights, and every 64th weight. `kind` is the size of a weight.
cdef struct Sorted:
    int64_t n
    int64_t n_terms
    int kind
    const int64_t* starts
    const int32_t* documents
    const void* weights
    const void* samples


# A list: its postings are those from `start` to `stop`; those before `taken` are read, and those before `lead` lead.
# The highest weight and impact of the other postings that are read are `missing` and `passed_over`. `size` is the
# number of postings before those with low impacts were left out. While the lowest impact is sought, all postings before
# `low` are read, and none from `high` on; the place where an impact falls below another is from `middle` to `until`.
# The filters from `first_filter` to `stop_filter` have all postings, their first half, their first quarter and so on.
cdef struct Prefix:
    int64_t start
    int64_t stop
    int64_t taken
    int64_t lead
    double missing
    double passed_over
    int64_t size
    int64_t low
    int64_t high
    int64_t middle
    int64_t until
    double query_weight
    int64_t first_filter
    int64_t stop_filter


cdef inline double impact_at(const Prefix* one, const Sorted* postings, int64_t place) noexcept nogil:
    return fabs(one.query_weight * weight_at(postings.weights, postings.kind, place))


cdef inline int64_t first_below(
    const Prefix* one, const void* weights, int kind, int64_t low, int64_t high, double impact
) noexcept nogil:
    """Return the first place from low on whose impact is not at least the given one; high if there is none."""
    cdef int64_t middle
    while low < high:
        middle = (low + high) >> 1
        if fabs(one.query_weight * weight_at(weights, kind, middle)) >= impact:
            low = middle + 1
        else:
            high = middle
    return low


cdef void find_below(
    Prefix* lists, const int64_t* order, int64_t n, const Sorted* postings, double impact
) noexcept nogil:
    """Set `middle` of each list to the first posting from `low` to `high` whose impact is below the given one.

    The search looks at the sampled weights first, because they fit in the cache. Then it prefetches the postings
    between two samples of every list, so that the lists wait for memory at the same time.
    """
    cdef int64_t i, sample
    cdef int kind = postings.kind
    cdef Prefix* one
    for i in range(n):
        one = &lists[order[i]]
        # The samples of the postings from `low` to `high`.
        sample = first_below(one, postings.samples, kind, (one.low + SAMPLE - 1) // SAMPLE,
                             (one.high + SAMPLE - 1) // SAMPLE, impact)
        one.middle, one.until = max(one.low, (sample - 1) * SAMPLE + 1), min(one.high, sample * SAMPLE)
        tieaware_prefetch_bytes(<const char*>postings.weights + one.middle * kind, (one.until - one.middle) * kind)
    for i in range(n):
        one = &lists[order[i]]
        one.middle = first_below(one, postings.weights, kind, one.middle, one.until, impact)


cdef inline double impact_of(uint64_t bits) noexcept nogil:
    cdef double impact
    memcpy(&impact, &bits, sizeof(impact))
    return impact


cdef inline uint64_t bits_of(double impact) noexcept nogil:
    cdef uint64_t bits
    memcpy(&bits, &impact, sizeof(bits))
    return bits


cdef bint comes_before(const Prefix* lists, int64_t a, int64_t b) noexcept nogil:
    """Return whether list a is shorter than list b or, if they are equally long, comes before it."""
    return lists[a].size < lists[b].size or (lists[a].size == lists[b].size and a < b)


cdef bint enclose(
    const Prefix* lists, const int64_t* order, int64_t n, const Sorted* postings, uint64_t* below, uint64_t* above
) noexcept nogil:
    """Find the lowest impact of the postings from `low` to `high`, and one above the highest; False if all are equal.
    """
    cdef double highest = 0.0, lowest = INFINITY
    cdef int64_t i
    cdef const Prefix* one
    for i in range(n):
        one = &lists[order[i]]
        if one.low < one.high:
            highest = max(highest, impact_at(one, postings, one.low))
            lowest = min(lowest, impact_at(one, postings, one.high - 1))
    below[0], above[0] = bits_of(lowest), bits_of(highest) + 1
    return lowest < highest


cdef void take_highest(
    Prefix* lists, const int64_t* order, int64_t n, const Sorted* postings, int64_t limit
) noexcept nogil:
    """Read the `limit` postings with the highest impacts of some lists; of equal impacts, those of earlier lists.

    Invariant: the postings before `low` have an impact of at least `above`, and fewer than `limit` have one. At least
    `limit` have one of at least `below`, which are those before `high`; beyond the first `limit` of a list, none needs
    to be considered. Both are the bits of an impact; the order of these integers is that of the impacts. The impact
    between the two that is tried next is found by interpolation. If the last one has not halved the postings between
    them, the next one is closer to the middle, so that the number of steps is limited.
    """
    cdef uint64_t below, above, middle
    cdef int64_t i, total, n_above = 0, n_below, before
    cdef bint is_halved = True
    cdef double part
    cdef Prefix* one
    for i in range(n):
        one = &lists[order[i]]
        one.low, one.high = one.start, min(one.stop, one.start + limit)
    while enclose(lists, order, n, postings, &below, &above):
        n_below = n_above
        for i in range(n):
            n_below += lists[order[i]].high - lists[order[i]].low
        before = n_below - n_above
        if before + n_above == limit:
            break
        part = <double>(limit - n_above) / <double>before
        if not is_halved:
            part = (2.0 * part + 0.5) / 3.0
        # The product may be rounded up.
        middle = above - 1 - min(<uint64_t>(<double>(above - below - 2) * part), above - below - 2)
        total = 0
        find_below(lists, order, n, postings, impact_of(middle))
        for i in range(n):
            total += lists[order[i]].middle - lists[order[i]].start
        for i in range(n):
            one = &lists[order[i]]
            if total >= limit:
                one.high = one.middle
            else:
                one.low = one.middle
        if total < limit:
            n_above = total
        is_halved = 2 * (total - n_above if total >= limit else n_below - total) <= before
    for i in range(n):
        limit -= lists[order[i]].low - lists[order[i]].start
    for i in range(n):
        one = &lists[order[i]]
        one.taken = one.low + min(limit, one.high - one.low)
        limit -= one.taken - one.low


cdef void choose_prefixes(
    Prefix* lists, int64_t* order, int64_t n, const Sorted* postings, int64_t limit, double share, bint by_term
) noexcept nogil:
    """Choose how many postings of each list are read, in all at most `limit`."""
    cdef int64_t i, j, total, first = 0, last
    cdef double highest = 0.0
    for i in range(n):
        if not isfinite(lists[i].query_weight):
            # A weight of 0 times an infinite one is no number, and no such impact is read.
            lists[i].stop = first_below(&lists[i], postings.weights, postings.kind, lists[i].start, lists[i].stop, 0.0)
        if lists[i].start < lists[i].stop:
            highest = max(highest, impact_at(&lists[i], postings, lists[i].start))
        j = i
        while j > 0 and comes_before(lists, i, order[j - 1]):
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
    if share > 0.0:
        for i in range(n):
            lists[i].low, lists[i].high = lists[i].start, lists[i].stop
        find_below(lists, order, n, postings, share * highest)
        for i in range(n):
            lists[i].stop = lists[i].middle
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
            take_highest(lists, order + first, last - first, postings, limit)
            limit = 0
        first = last


cdef double reached_by(Prefix* lists, int64_t n, const Sorted* postings, int64_t k) noexcept nogil:
    """Return an impact that at least k documents reach, or 0 if fewer are read.

    It is the k-th highest impact of distinct documents in all lists or, if k is large, in a single list.
    """
    cdef int32_t[MOST_DISTINCT] distinct
    cdef int64_t i, m, which, n_distinct = 0
    cdef double reached = 0.0, most, impact
    cdef int32_t document
    if k > MOST_DISTINCT:
        for i in range(n):
            if lists[i].taken - lists[i].start >= k:
                reached = max(reached, impact_at(&lists[i], postings, lists[i].start + k - 1))
        return reached
    for i in range(n):
        lists[i].middle = lists[i].start
    while n_distinct < k:
        most, which = -1.0, -1
        for i in range(n):
            if lists[i].middle < lists[i].taken:
                impact = impact_at(&lists[i], postings, lists[i].middle)
                if impact > most:
                    most, which = impact, i
        if which < 0:
            return 0.0
        document = postings.documents[lists[which].middle]
        lists[which].middle += 1
        m = 0
        while m < n_distinct and distinct[m] != document:
            m += 1
        if m == n_distinct:
            distinct[m] = document
            n_distinct += 1
    return most


# A place of a prefix at which its leading postings may end: the number of postings that are passed over there, and what
# this adds to the impacts passed over. The place is -1 if there is none.
cdef struct Step:
    int place
    double gain
    double cost


cdef inline Step best_step(
    const Prefix* one, const int64_t* places, const double* found, double slack, double least
) noexcept nogil:
    """Return the place at which most postings are passed over for each unit of impact, of those that cost below slack.
    """
    cdef Step best
    cdef double cost, gain
    cdef int j
    best.place, best.gain, best.cost = -1, 0.0, least
    for j in range(PLACES):
        if places[j] >= one.lead:
            break
        # A posting with the same impact as those passed over costs nothing.
        cost, gain = one.query_weight * found[j] - one.passed_over, <double>(one.lead - places[j])
        if cost < slack and gain * best.cost > best.gain * max(cost, least):
            best.place, best.gain, best.cost = j, gain, max(cost, least)
    return best


cdef void choose_leads(Prefix* lists, int64_t n, const Sorted* postings, double reached) noexcept nogil:
    """Choose the leading postings, given a score that at least k documents reach.

    Invariant: a document without a leading posting has at most the sum of `passed_over` of all lists as its score, and
    this sum is below `reached`, even if it is rounded. Where many postings are passed over for each unit of impact,
    they are passed over first. Only some places of each prefix are looked at, more of them near its beginning.
    """
    cdef int64_t[MOST_LISTS][PLACES] places
    cdef double[MOST_LISTS][PLACES] found
    cdef Step[MOST_LISTS] steps
    cdef double slack = reached * (1.0 - 2.0 ** -40), least = slack * 2.0 ** -40, impact
    cdef int64_t i, j, which, size, place
    cdef int at, kind = postings.kind
    cdef Prefix* one
    for i in range(n):
        one = &lists[i]
        one.lead, one.missing, one.passed_over = one.taken, 0.0, 0.0
    if n > MOST_LISTS or slack <= 0.0:
        return
    for i in range(n):
        size = lists[i].taken - lists[i].start
        for j in range(PLACES):
            places[i][j] = place = lists[i].start + (size * j * j >> 2 * PLACES_BITS)
            if size >= PLACES * SAMPLE and j > 0:
                # The next sampled posting, because its weight is in the cache.
                places[i][j] = min(lists[i].taken - 1, (place + SAMPLE - 1) // SAMPLE * SAMPLE)
            else:
                tieaware_prefetch(<const char*>postings.weights + place * kind)
    for i in range(n):
        for j in range(PLACES if lists[i].start < lists[i].taken else 0):
            place = places[i][j]
            if place % SAMPLE:
                found[i][j] = weight_at(postings.weights, kind, place)
            else:
                found[i][j] = weight_at(postings.samples, kind, place // SAMPLE)
        steps[i] = best_step(&lists[i], places[i], found[i], slack, least)
    while True:
        which = 0
        for i in range(n):
            if not steps[i].cost < slack:
                steps[i] = best_step(&lists[i], places[i], found[i], slack, least)
            if steps[i].gain * steps[which].cost > steps[which].gain * steps[i].cost:
                which = i
        at = steps[which].place
        if at < 0:
            break
        one = &lists[which]
        impact = one.query_weight * found[which][at]
        slack -= max(0.0, impact - one.passed_over)
        one.missing, one.passed_over, one.lead = found[which][at], max(impact, one.passed_over), places[which][at]
        steps[which] = best_step(one, places[which], found[which], slack, least)


# The prefixes of all terms of all queries, as `choose_all` returns them.
cdef struct Chosen:
    int64_t* starts
    int64_t* leads
    int64_t* filters
    double* largest
    double* missing
    double* kth
    double* cut_weights
    int32_t* cut_documents


cdef Sorted sorted_from(
    const int64_t[::1] starts, const int32_t[::1] documents, cnp.ndarray weights, cnp.ndarray samples
) except *:
    cdef Sorted postings
    postings.n, postings.n_terms, postings.kind = documents.shape[0], starts.shape[0] - 1, weights.dtype.itemsize
    if weights.dtype not in (np.float32, np.uint8, np.uint16) or samples.dtype != weights.dtype:
        raise ValueError("weights and samples must be float32, uint8 or uint16")
    for each in (weights, samples):
        if each.ndim != 1 or not each.flags.c_contiguous:
            raise ValueError("weights and samples must be contiguous")
    if weights.shape[0] != postings.n or samples.shape[0] != (postings.n + SAMPLE - 1) // SAMPLE:
        raise ValueError("each posting must have a weight, and samples every 64th weight")
    postings.starts = &starts[0] if starts.shape[0] else NULL
    postings.documents = &documents[0] if postings.n else NULL
    postings.weights, postings.samples = cnp.PyArray_DATA(weights), cnp.PyArray_DATA(samples)
    return postings


cdef int64_t open_prefixes(
    Prefix* lists, const int64_t* terms, const double* query_weights, int64_t n, const Sorted* postings,
    const int64_t* first_filters
) noexcept nogil:
    """Initialise the lists of a query's terms; return the number of their postings, or -1 if one is out of range.

    The first postings and the samples are prefetched, because the query before is searched first. The filters may be
    NULL.
    """
    cdef int64_t i, term, start, stop, total = 0
    cdef int kind = postings.kind
    for i in range(n):
        # The arrays belong to the caller, who may have changed them.
        term = terms[i]
        if not 0 <= term < postings.n_terms:
            return -1
        start, stop = postings.starts[term], postings.starts[term + 1]
        if not 0 <= start <= stop <= postings.n:
            return -1
        lists[i].start = lists[i].taken = start
        lists[i].stop, lists[i].size, lists[i].query_weight = stop, stop - start, query_weights[i]
        if first_filters != NULL:
            lists[i].first_filter, lists[i].stop_filter = first_filters[term], first_filters[term + 1]
        total += stop - start
        tieaware_prefetch(postings.documents + start)
        tieaware_prefetch(<const char*>postings.weights + start * kind)
        tieaware_prefetch_bytes(<const char*>postings.samples + start // SAMPLE * kind,
                                min((stop - start) // SAMPLE, FETCHED) * kind)
    return total


cdef inline int64_t limit_of(int64_t total, double share_read, int64_t most) noexcept nogil:
    """Return the number of postings to read for a query.

    A product that exceeds a whole number by less than 1e-9, because of floating-point error, is rounded down.
    """
    return max(0, min(most, <int64_t>ceil(share_read * <double>total - 1e-9)))


cdef inline int64_t filter_of(const Prefix* one) noexcept nogil:
    """Return the number of the smallest filter that has all postings that are read."""
    cdef int64_t size = one.size >> 1, filter = one.first_filter
    while filter + 1 < one.stop_filter and 0 < size >= one.taken - one.start:
        filter += 1
        size >>= 1
    return filter


cdef int64_t store(
    const Prefix* lists, int64_t n, const Sorted* postings, int64_t k, const Chosen* chosen, int64_t first
) noexcept nogil:
    """Store the prefixes of a query, from index `first` on; return the number of postings that are read."""
    cdef int64_t i, n_read = 0, start
    cdef const float* weights = <const float*>postings.weights
    cdef const int32_t* documents = postings.documents
    for i in range(n):
        start = lists[i].start
        n_read += lists[i].taken - start
        chosen.starts[first + i], chosen.leads[first + i] = start, lists[i].lead
        chosen.filters[first + i] = filter_of(&lists[i])
        chosen.largest[first + i] = <double>weights[start] if start < lists[i].taken else 0.0
        chosen.missing[first + i] = lists[i].missing
        chosen.kth[first + i] = <double>weights[start + k - 1] if lists[i].lead - start >= k else 0.0
        if lists[i].taken == start:
            chosen.cut_weights[first + i], chosen.cut_documents[first + i] = INFINITY, -1
        elif lists[i].taken == start + lists[i].size:
            chosen.cut_weights[first + i], chosen.cut_documents[first + i] = -INFINITY, -1
        else:
            chosen.cut_weights[first + i] = <double>weights[lists[i].taken - 1]
            chosen.cut_documents[first + i] = documents[lists[i].taken - 1]
    return n_read


def choose(
    const int64_t[::1] terms not None, const double[::1] query_weights not None, const int64_t[::1] starts not None,
    const int32_t[::1] documents not None, cnp.ndarray weights not None, cnp.ndarray samples not None,
    double share_read, int64_t most, double share, bint by_term
):
    """Choose the postings to read for a query: of each term the first ones.

    Parameters
    ----------
    terms, query_weights : int64[n] and float64[n]
        The terms of the query, and their weights.
    starts : int64[n_terms + 1]
        The postings of term t are starts[t] to starts[t + 1], in descending order of weight. Postings with equal
        weights are in ascending order of document.
    documents, weights : int32[n_postings], and float32, uint8 or uint16[n_postings]
        The document and the weight of each posting, at least 0.
    samples : weights[⌈n_postings / 64⌉]
        Every 64th weight, beginning with the first.
    share_read, most : float, int
        The share of all postings to read, rounded up, and the largest number of postings to read. Those of highest
        impact are read; if impacts tie, those of rarer terms, and of equally rare terms those of earlier ones.
    share : float
        Postings with an impact below this share of the largest are not read.
    by_term : bool
        Whether to read term after term, the rarest first, instead of all postings in the order of impact.

    Returns
    -------
    int64[2, n]
        For each term, its first posting, and the end of the postings to read.
    """
    cdef Py_ssize_t n = terms.shape[0], i
    cdef int64_t total
    cdef Sorted postings = sorted_from(starts, documents, weights, samples)
    cdef cnp.ndarray ranges = np.zeros((2, n), np.int64)
    cdef int64_t* first = <int64_t*>cnp.PyArray_DATA(ranges)
    cdef Prefix* lists
    if query_weights.shape[0] != n:
        raise ValueError("each list must have a weight")
    if n == 0:
        return ranges
    lists = <Prefix*>malloc(<size_t>n * (sizeof(Prefix) + sizeof(int64_t)))
    if lists == NULL:
        raise MemoryError
    try:
        total = open_prefixes(lists, &terms[0], &query_weights[0], n, &postings, NULL)
        if total < 0:
            raise ValueError("terms: a term is out of range, or has postings outside the array")
        with nogil:
            choose_prefixes(lists, <int64_t*>(lists + n), n, &postings, limit_of(total, share_read, most), share,
                            by_term)
        for i in range(n):
            first[i], first[n + i] = lists[i].start, lists[i].taken
        return ranges
    finally:
        free(lists)


def choose_all(
    const int64_t[::1] terms not None, const double[::1] query_weights not None, const int64_t[::1] offsets not None,
    const int64_t[::1] starts not None, const int32_t[::1] documents not None, cnp.ndarray weights not None,
    cnp.ndarray samples not None, const int64_t[::1] first_filters not None, double share_read, int64_t most,
    double share, bint by_term, int64_t k
):
    """Choose the postings to read for each of several queries, and those of them that lead.

    Parameters
    ----------
    terms, query_weights, offsets : int64[n], float64[n] and int64[n_queries + 1]
        The terms of query i are those from offsets[i] to offsets[i + 1]; their weights are finite and at least 0.
    starts, documents, weights, samples, share_read, most, share, by_term
        As for `choose`; the weights are float32.
    first_filters : int64[n_terms + 1]
        The filters of term t have the numbers first_filters[t] to first_filters[t + 1]. The first one has all of its
        documents, the second one the first half of them, rounded down, and so on.
    k : int
        The number of documents to find.

    Returns
    -------
    (int64[3, n], float64[4, n], int32[n], int64[n_queries])
        For each term: the first posting, the end of the leading ones, and the number of the smallest filter that has
        all postings that are read; the largest weight, the largest weight that is read but does not lead, a weight
        that at least k leading postings reach, or 0, and the weight of the last posting that is read; the document of
        this posting. The weight is infinite if no posting is read, and -infinite if all are. For each query, the number
        of postings that are read.
    """
    cdef Interruption interruption = no_interruption()
    cdef Py_ssize_t n_queries = offsets.shape[0] - 1, i, query
    cdef int64_t total = 0, limit, most_lists = 0, n, first
    cdef Prefix* memory = NULL
    cdef Prefix* lists
    # The lists of the next query, and the number of their postings.
    cdef Prefix* following
    cdef int64_t n_following = 0
    cdef int64_t* order
    cdef Sorted postings = sorted_from(starts, documents, weights, samples)
    cdef const int64_t* first_term = &terms[0] if terms.shape[0] else NULL
    cdef const double* first_weight = &query_weights[0] if query_weights.shape[0] else NULL
    cdef const int64_t* filters_at = &first_filters[0] if first_filters.shape[0] else NULL
    cdef Chosen chosen
    if query_weights.shape[0] != terms.shape[0] or postings.kind != sizeof(float) or k < 1 or n_queries < 0:
        raise ValueError("each list must have a weight, weights must be float32, and k must be at least 1")
    if first_filters.shape[0] != starts.shape[0]:
        raise ValueError("each term must have its filters")
    for i in range(n_queries):
        if not 0 <= offsets[i] <= offsets[i + 1] <= terms.shape[0]:
            raise ValueError("offsets: a query has terms outside the array")
        most_lists = max(most_lists, offsets[i + 1] - offsets[i])
    ranges, numbers = np.zeros((3, terms.shape[0]), np.int64), np.zeros((4, terms.shape[0]))
    cut_documents, n_read = np.zeros(terms.shape[0], np.int32), np.zeros(n_queries, np.int64)
    cdef int64_t* read = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>n_read)
    chosen.starts = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>ranges)
    chosen.leads, chosen.filters = chosen.starts + terms.shape[0], chosen.starts + 2 * terms.shape[0]
    chosen.largest = <double*>cnp.PyArray_DATA(<cnp.ndarray>numbers)
    chosen.missing, chosen.kth = chosen.largest + terms.shape[0], chosen.largest + 2 * terms.shape[0]
    chosen.cut_weights = chosen.largest + 3 * terms.shape[0]
    chosen.cut_documents = <int32_t*>cnp.PyArray_DATA(<cnp.ndarray>cut_documents)
    memory = <Prefix*>malloc(<size_t>(most_lists + 1) * (2 * sizeof(Prefix) + sizeof(int64_t)))
    if memory == NULL:
        raise MemoryError
    lists, following, order = memory, memory + most_lists + 1, <int64_t*>(memory + 2 * (most_lists + 1))
    try:
        with nogil:
            # Before the first query, only the lists of the next one are opened.
            for query in range(-1, n_queries):
                lists, following, total = following, lists, n_following
                if query + 1 < n_queries:
                    first = offsets[query + 1]
                    n = offsets[query + 2] - first
                    n_following = open_prefixes(following, first_term + first, first_weight + first, n, &postings,
                                                filters_at)
                    if n_following < 0:
                        with gil:
                            raise ValueError("terms: a term is out of range, or has postings outside the array")
                if query < 0:
                    continue
                n = offsets[query + 1] - offsets[query]
                limit = limit_of(total, share_read, most)
                choose_prefixes(lists, order, n, &postings, limit, share, by_term)
                choose_leads(lists, n, &postings, reached_by(lists, n, &postings, k))
                read[query] = store(lists, n, &postings, k, &chosen, offsets[query])
                if interrupted(&interruption, 1000 + 100 * n):
                    break
        check_interruption(&interruption)
        return ranges, numbers, cut_documents, n_read
    finally:
        free(memory)
