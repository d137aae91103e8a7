"""Candidates: the union of some lists of documents, scored by all terms of a query, without an array of all scores.

The score of a candidate is the sum, over the posting lists in their order, of query_weight · weight. For each list, the
cheapest of three ways is taken: looking up the candidates in the bitmap of the list, looking up the postings in a
bitmap of the candidates, or galloping through both. All of them add the same numbers in the same order.

If the lists of candidates have weights, entries whose documents cannot be among the top k are left out first. The
entries of a single list give a floor, a score that k candidates reach. An entry is left out if its weight and the
largest weights of all other terms add up to less.
"""
from libc.math cimport INFINITY, isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption
from tieaware.kernels._posting_impacts cimport impact
from tieaware.kernels._term_lists cimport Lists, PostingLists, close_lists, look_up, score_list
from tieaware.kernels._top cimport Best, close_best, found, leave_out, offer, open_best, score_of

cdef extern from "retrieval/accumulators.h":
    enum: TIEAWARE_WORD
    int tieaware_lowest(uint64_t word) nogil

cdef extern from "retrieval/bitmaps.h":
    int64_t tieaware_probe_float(const int32_t *documents, const float *weights, ptrdiff_t length, const uint64_t *bits,
                                 const uint32_t *ranks, uint32_t n_documents, int64_t n, double query_weight,
                                 double *sums) nogil
    int64_t tieaware_probe_uint8(const int32_t *documents, const uint8_t *weights, ptrdiff_t length,
                                 const uint64_t *bits, const uint32_t *ranks, uint32_t n_documents, int64_t n,
                                 double query_weight, double *sums) nogil
    int64_t tieaware_probe_uint16(const int32_t *documents, const uint16_t *weights, ptrdiff_t length,
                                  const uint64_t *bits, const uint32_t *ranks, uint32_t n_documents, int64_t n,
                                  double query_weight, double *sums) nogil

cdef enum:
    # Candidates get a bitmap if they have at least one entry for this many words of the bitmap, or at least this many
    # lists. Clearing and reading the bitmap then takes less time than merging the lists.
    WORDS_PER_ENTRY = 4
    MANY_LISTS = 16
    # Postings are looked up among the candidates if there are at most this many for each candidate. For longer lists,
    # galloping takes less time.
    POSTINGS_PER_CANDIDATE = 16


# The candidates, in ascending order, with the sums of their weights. `bits` is NULL, or a bitmap of the candidates with
# the ranks of its words.
cdef struct Candidates:
    int64_t n
    int32_t* documents
    double* sums
    uint64_t* bits
    uint32_t* ranks
    uint32_t n_documents


ctypedef fused Weight:
    float
    uint8_t
    uint16_t


# Bounds of the scores of a query's candidates. The entries of list i have the weights of its term.
cdef struct Bounds:
    # For each list: query_weight · the largest weight of the term, · that of the documents that the list lacks, and ·
    # the k-th largest weight of the entries, 0 if there are fewer.
    double* largest
    double* missing
    double* kth
    # NULL, or the base of the document of each entry; and the largest base of all documents.
    const double* bases
    double most_base
    # Whether `missing` was made from the largest sums of weight and base: query_weight · sum.
    bint is_with_base
    # A score that k candidates reach.
    double floor

# The share of a score by which a sum of fewer than 4096 numbers in another order may be wrong because of rounding.
cdef double ROUNDING = 2.0 ** -40


cdef inline int64_t keep(
    const int32_t* documents, const Weight* weights, const double* bases, int64_t n, double query_weight,
    double needed, int32_t* kept
) noexcept nogil:
    """Copy the documents of the entries whose query_weight · weight + base is at least `needed`; return their number.

    A sum that is not a number counts as large enough.
    """
    cdef int64_t j, m = 0
    if bases == NULL:
        for j in range(n):
            kept[m] = documents[j]
            m += not query_weight * <double>weights[j] < needed
        return m
    for j in range(n):
        kept[m] = documents[j]
        m += not query_weight * <double>weights[j] + bases[j] < needed
    return m


cdef int64_t keep_entries(Lists* entries, Bounds* bounds, int32_t* kept) noexcept nogil:
    """Leave out entries whose documents have a score below the floor; return the number of entries that were read.

    Lists are left out as a whole, in ascending order of their largest weights, as long as a document that is in no
    other list cannot reach the floor.
    """
    cdef Py_ssize_t i, lightest
    cdef int64_t n = 0, n_read = 0, a, length
    cdef double total = bounds.most_base, q, needed, out = 0.0, without_base, with_base
    for i in range(entries.n):
        total += bounds.largest[i]
    # No score can be wrong by more than this.
    bounds.floor -= (bounds.floor + total) * ROUNDING
    while True:
        lightest = -1
        for i in range(entries.n):
            if entries.starts[i] < entries.stops[i] and (
                lightest < 0 or bounds.largest[i] < bounds.largest[lightest]
            ):
                lightest = i
        if lightest < 0:
            break
        # A document that is only in the lists left out has their largest weights and, in other terms, missing weights.
        # If these depend on the base, the sum is largest for the lowest or the highest base.
        without_base = out + bounds.largest[lightest]
        with_base = without_base + bounds.most_base
        for i in range(entries.n):
            if i != lightest and bounds.missing[i] >= 0.0:
                without_base += bounds.missing[i]
                if bounds.is_with_base:
                    with_base += max(0.0, bounds.missing[i] - bounds.most_base * entries.query_weights[i])
                else:
                    with_base += bounds.missing[i]
        if not max(without_base, with_base) < bounds.floor:
            break
        out += bounds.largest[lightest]
        entries.stops[lightest] = entries.starts[lightest]
        # Its missing weights are part of its largest weights.
        bounds.missing[lightest] = -1.0
    for i in range(entries.n):
        a, q = entries.starts[i], entries.query_weights[i]
        length = entries.stops[i] - a
        n_read += length
        needed = bounds.floor - (total - bounds.most_base - bounds.largest[i])
        if bounds.bases == NULL:
            needed -= bounds.most_base
        entries.starts[i] = entries.next[i] = n
        if entries.kind == 4:
            n += keep(entries.documents + a, <const float*>entries.weights + a,
                      NULL if bounds.bases == NULL else bounds.bases + a, length, q, needed, kept + n)
        elif entries.kind == 1:
            n += keep(entries.documents + a, <const uint8_t*>entries.weights + a,
                      NULL if bounds.bases == NULL else bounds.bases + a, length, q, needed, kept + n)
        else:
            n += keep(entries.documents + a, <const uint16_t*>entries.weights + a,
                      NULL if bounds.bases == NULL else bounds.bases + a, length, q, needed, kept + n)
        entries.stops[i] = n
    entries.documents = kept
    entries.n_postings = n
    return n_read


cdef void raise_floor(const Lists* entries, Bounds* bounds, Best* best) noexcept nogil:
    """Find the floor: the k-th highest sum of weight and base in the list with the largest k-th weight."""
    cdef Py_ssize_t i, which = -1
    cdef int64_t j
    bounds.floor = 0.0
    for i in range(entries.n):
        if bounds.kth[i] > bounds.floor:
            which, bounds.floor = i, bounds.kth[i]
    if which < 0 or bounds.bases == NULL:
        return
    for j in range(entries.starts[which], entries.stops[which]):
        offer(best, <int32_t>(j - entries.starts[which]),
              impact(entries.weights, entries.kind, j, entries.query_weights[which]) + bounds.bases[j])
    if best.heap.size >= best.k:
        leave_out(best)
        bounds.floor = max(bounds.floor, score_of(best.heap.entries[best.k - 1]))


cdef bint has_bounds(const Lists* lists, const Lists* entries) noexcept nogil:
    """Return whether the weights of the query allow bounds of scores."""
    cdef Py_ssize_t i
    if lists.n != entries.n or lists.n >= 4096:
        return False
    for i in range(lists.n):
        if not (lists.query_weights[i] >= 0.0 and isfinite(lists.query_weights[i])):
            return False
    return True


cdef void merge(Candidates* candidates, Lists* entries, int64_t at_least) noexcept nogil:
    """Merge lists of documents, and keep the documents that are in at least `at_least` of the lists.

    Invariant: all documents before the heads of the lists are merged.
    """
    cdef Py_ssize_t n_lists = entries.n, i
    cdef int64_t* heads = entries.next
    cdef const int64_t* stops = entries.stops
    cdef const int32_t* documents = entries.documents
    cdef int32_t least
    cdef int64_t times
    while True:
        least, times = 0x7fffffff, 0
        for i in range(n_lists):
            if heads[i] < stops[i]:
                least = min(least, documents[heads[i]])
        for i in range(n_lists):
            if heads[i] < stops[i] and documents[heads[i]] == least:
                heads[i] += 1
                times += 1
        if times == 0:
            return
        candidates.documents[candidates.n] = least
        # Skip an invalid document number, so that it is not used as an index.
        candidates.n += times >= at_least and 0 <= least and <uint32_t>least < candidates.n_documents


cdef void unite(
    Candidates* candidates, Lists* entries, uint64_t initial, int n_planes, uint64_t* planes, Py_ssize_t n_words
) noexcept nogil:
    """Mark the documents of lists in the bitmap if they are in enough lists, and store them as candidates.

    Each document has a counter, whose binary digits are in the planes. It begins at `initial`, and overflows when the
    document has been in enough lists.
    """
    cdef Py_ssize_t i, word, plane
    cdef int64_t j
    cdef uint32_t document
    cdef uint64_t carry, digits
    for plane in range(n_planes):
        memset(planes + plane * n_words, 0xff if initial >> plane & 1 else 0, n_words * sizeof(uint64_t))
    for i in range(entries.n):
        for j in range(entries.starts[i], entries.stops[i]):
            document = <uint32_t>entries.documents[j]
            if document >= candidates.n_documents:
                continue
            word = document // TIEAWARE_WORD
            carry = <uint64_t>1 << (document % TIEAWARE_WORD)
            for plane in range(n_planes):
                digits = planes[plane * n_words + word]
                planes[plane * n_words + word] = digits ^ carry
                carry &= digits
            candidates.bits[word] |= carry
    for word in range(n_words):
        candidates.ranks[word] = <uint32_t>candidates.n
        carry = candidates.bits[word]
        while carry:
            candidates.documents[candidates.n] = <int32_t>(word * TIEAWARE_WORD + tieaware_lowest(carry))
            candidates.n += 1
            carry &= carry - 1


cdef int64_t probe(Candidates* candidates, Lists* lists, Py_ssize_t i) noexcept nogil:
    """Look up the postings of list i among the candidates; return the number of postings that were added."""
    cdef int64_t a = lists.starts[i], length = lists.stops[i] - a
    cdef double q = lists.query_weights[i]
    cdef const int32_t* documents = lists.documents + a
    if lists.kind == 4:
        return tieaware_probe_float(documents, <const float*>lists.weights + a, length, candidates.bits,
                                    candidates.ranks, candidates.n_documents, candidates.n, q, candidates.sums)
    if lists.kind == 1:
        return tieaware_probe_uint8(documents, <const uint8_t*>lists.weights + a, length, candidates.bits,
                                    candidates.ranks, candidates.n_documents, candidates.n, q, candidates.sums)
    return tieaware_probe_uint16(documents, <const uint16_t*>lists.weights + a, length, candidates.bits,
                                 candidates.ranks, candidates.n_documents, candidates.n, q, candidates.sums)


cdef int64_t add_weights(Candidates* candidates, Lists* lists, Interruption* interruption) noexcept nogil:
    """Add the weights of all lists to the sums of the candidates; return the number of postings that were added."""
    cdef Py_ssize_t i
    cdef int64_t n = 0, first, length
    for i in range(lists.n):
        first, length = lists.next[i], lists.stops[i] - lists.starts[i]
        if lists.bitmap_rows != NULL and lists.bitmap_rows[i] >= 0:
            n += look_up(candidates.documents, candidates.n, lists, i, candidates.sums)
        elif candidates.bits != NULL and length <= POSTINGS_PER_CANDIDATE * candidates.n:
            n += probe(candidates, lists, i)
            first -= length
        else:
            n += score_list(candidates.documents, candidates.n, lists, i, candidates.sums)
        if interrupted(interruption, 4 * (candidates.n + lists.next[i] - first)):
            break
    return n


cdef void offer_all(Candidates* candidates, const double* base, Best* best) noexcept nogil:
    """Offer the candidates with their scores: without a base, only those with a score above 0."""
    cdef int64_t i
    cdef double score
    for i in range(candidates.n):
        score = candidates.sums[i]
        if base != NULL:
            score = score + base[candidates.documents[i]]
        elif not score > 0.0:
            continue
        best.documents += 1
        offer(best, candidates.documents[i], score)


def search(
    PostingLists candidates not None, const int64_t[::1] which, int64_t at_least, int64_t fewest, int64_t n_documents,
    PostingLists postings not None, const int64_t[::1] terms, const double[::1] query_weights, const double[::1] base,
    int64_t k, bint whole_ties, const double[::1] largest, const double[::1] missing, const double[::1] kth_largest,
    const double[::1] bases, double most_base, bint missing_with_base
):
    """Score the documents that are in some lists of candidates, and find the top k.

    Parameters
    ----------
    candidates, which : PostingLists and int64[n]
        The lists of candidates, and the numbers of those to unite.
    at_least : int
        The number of lists in which a document must be, at least 1.
    fewest : int
        Return None if there are fewer candidates.
    n_documents : int
        The number of documents in the collection.
    postings, terms, query_weights
        The posting lists of the query's terms, as for `accumulate`. The documents of a list must ascend.
    base : float64[n_documents] or None
        A number to add to the score of each candidate. With a base, scores need not be above 0.
    k, whole_ties : int, bool
        The number of documents to find, and whether to find all documents that tie with the k-th.
    largest, missing, kth_largest : float64[n_candidate_lists] or None
        For each list of candidates: the largest weight of its term, the largest weight of the term in a document that
        the list lacks, and a weight that at least k entries of the list reach, or 0. `which` must then be the terms,
        and the lists of candidates must have the weights of their terms. Entries that cannot be among the top k are
        then left out.
    bases, most_base : float64[n_entries] or None, and float
        With a base: the base of each entry's document, and the largest base. No base may be negative.
    missing_with_base : bool
        Whether `missing` has the largest sums of weight and base instead.

    Returns
    -------
    (int32[n], float64[n], int, int, int) or None
        The documents, best first; their scores; the number of candidates with a score; the number of comparisons
        between scores; the number of entries and postings read.
    """
    cdef Lists lists, entries
    cdef Candidates all_candidates
    cdef Best best, lowest
    cdef Bounds bounds
    cdef int32_t* kept = NULL
    cdef double q
    cdef Py_ssize_t i
    cdef Interruption interruption = no_interruption()
    cdef Py_ssize_t n_words = (n_documents + TIEAWARE_WORD - 1) // TIEAWARE_WORD
    cdef int64_t n_entries, n_read
    cdef int n_planes = 0
    cdef uint64_t* planes = NULL
    cdef const double* added = NULL
    if not (0 <= n_documents <= 0x7fffffff and k >= 1 and 1 <= at_least <= 0x7fffffff):
        raise ValueError("n_documents, k or at_least is out of its range")
    if base is not None:
        if base.shape[0] != n_documents:
            raise ValueError("base must have a number for each document")
        added = &base[0] if n_documents else NULL
    if largest is not None:
        if not largest.shape[0] == missing.shape[0] == kth_largest.shape[0] == candidates.n:
            raise ValueError("each list of candidates must have its bounds")
        if candidates.kind != postings.kind or (bases is None) != (base is None):
            raise ValueError("the lists of candidates must have weights and bases as the postings")
        if bases is not None and bases.shape[0] != candidates.n_postings:
            raise ValueError("bases must have the base of each entry")
    memset(&all_candidates, 0, sizeof(all_candidates))
    memset(&best, 0, sizeof(best))
    memset(&lists, 0, sizeof(lists))
    memset(&entries, 0, sizeof(entries))
    memset(&bounds, 0, sizeof(bounds))
    memset(&lowest, 0, sizeof(lowest))
    all_candidates.n_documents = <uint32_t>n_documents
    try:
        postings.open_lists(&lists, terms, query_weights, n_documents)
        candidates.open_lists(&entries, which, query_weights if largest is not None else None, n_documents)
        n_entries = n_read = entries.n_postings
        if largest is not None and at_least == 1 and fewest <= k and has_bounds(&lists, &entries):
            kept = <int32_t*>malloc(<size_t>(n_entries + 1) * sizeof(int32_t))
            bounds.largest = <double*>malloc(<size_t>(3 * entries.n + 1) * sizeof(double))
            if kept == NULL or bounds.largest == NULL:
                raise MemoryError
            bounds.missing, bounds.kth = bounds.largest + entries.n, bounds.largest + 2 * entries.n
            for i in range(entries.n):
                q = entries.query_weights[i]
                bounds.largest[i], bounds.missing[i] = q * largest[which[i]], q * missing[which[i]]
                bounds.kth[i] = q * kth_largest[which[i]]
            if bases is not None:
                bounds.bases, bounds.most_base = &bases[0] if n_entries else NULL, most_base
                bounds.is_with_base = missing_with_base
            open_best(&lowest, k, n_entries, False, False)
            lowest.bound = -INFINITY
            with nogil:
                raise_floor(&entries, &bounds, &lowest)
                if bounds.floor > 0.0:
                    n_read = keep_entries(&entries, &bounds, kept)
                    # At least k candidates reach the floor.
                    fewest = 0
            n_entries = entries.n_postings
        all_candidates.documents = <int32_t*>malloc(<size_t>(n_entries + 1) * sizeof(int32_t))
        all_candidates.sums = <double*>calloc(<size_t>(n_entries + 1), sizeof(double))
        if all_candidates.documents == NULL or all_candidates.sums == NULL:
            raise MemoryError
        if n_entries * WORDS_PER_ENTRY >= n_words or entries.n >= MANY_LISTS:
            while at_least - 1 >> n_planes:
                n_planes += 1
            all_candidates.bits = <uint64_t*>calloc(n_words + 1, sizeof(uint64_t))
            all_candidates.ranks = <uint32_t*>malloc((n_words + 1) * sizeof(uint32_t))
            planes = <uint64_t*>malloc((n_words * n_planes + 1) * sizeof(uint64_t))
            if not (all_candidates.bits and all_candidates.ranks and planes):
                raise MemoryError
        if n_entries:
            with nogil:
                if all_candidates.bits != NULL:
                    unite(&all_candidates, &entries, (<uint64_t>1 << n_planes) - <uint64_t>at_least, n_planes, planes,
                          n_words)
                else:
                    merge(&all_candidates, &entries, at_least)
        if all_candidates.n < fewest:
            return None
        open_best(&best, k, all_candidates.n, whole_ties, False)
        best.ascending = True
        best.bound = 0.0 if base is None else -INFINITY
        with nogil:
            n_read += add_weights(&all_candidates, &lists, &interruption)
            offer_all(&all_candidates, added, &best)
        check_interruption(&interruption)
        documents, scores, n_scored, n_comparisons = found(&best, whole_ties)
        return documents, scores, n_scored, n_comparisons + lowest.heap.comparisons, n_read
    finally:
        close_best(&lowest)
        free(kept)
        free(bounds.largest)
        close_lists(&lists)
        close_lists(&entries)
        free(all_candidates.documents)
        free(all_candidates.sums)
        free(all_candidates.bits)
        free(all_candidates.ranks)
        free(planes)
        close_best(&best)


def score(
    const int32_t[::1] candidates, PostingLists postings not None, const int64_t[::1] terms,
    const double[::1] query_weights, int64_t n_documents, double[::1] sums
):
    """Add the weights of the terms' lists to the sums of some documents; return the number of postings added.

    The candidates and the documents of each list must ascend, because both are searched by galloping.
    """
    cdef Lists lists
    cdef Py_ssize_t i
    cdef int64_t n = 0, first
    cdef Interruption interruption = no_interruption()
    cdef double* out = &sums[0] if sums.shape[0] else NULL
    cdef const int32_t* c = &candidates[0] if candidates.shape[0] else NULL
    cdef int64_t size = candidates.shape[0]
    if sums.shape[0] != size:
        raise ValueError("sums must have a sum for each candidate")
    memset(&lists, 0, sizeof(lists))
    try:
        postings.open_lists(&lists, terms, query_weights, n_documents)
        with nogil:
            for i in range(lists.n):
                first = lists.next[i]
                n += score_list(c, size, &lists, i, out)
                if interrupted(&interruption, 4 * (size + lists.next[i] - first)):
                    break
        check_interruption(&interruption)
        return n
    finally:
        close_lists(&lists)
