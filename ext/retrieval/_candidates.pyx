"""Candidates: the union of some lists of documents, scored by all terms of a query, without an array of all scores.

If the lists of candidates have weights, entries whose documents cannot be among the top
k are left out first (_entry_bounds.pyx). The score of a candidate is the sum, over the posting lists in their order, of
query_weight · weight (_candidate_weights.pyx). Most of the time is waiting for memory, so what the next query needs is
fetched while one query is searched.
"""
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from tieaware.kernels._candidate_weights cimport Candidates, add_weights
from tieaware.kernels._entry_bounds cimport (
    Bounds, Filter, Narrowing, close_narrowing, find_floor, has_bounds, narrow, open_narrowing
)
from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption
from tieaware.kernels._term_lists cimport TermLists, PostingLists, close_lists, score_list
from tieaware.kernels._top cimport Best, Results, close_best, offer, open_best

cdef extern from "retrieval/accumulators.h":
    enum: TIEAWARE_WORD
    int tieaware_lowest(uint64_t word) nogil
    void tieaware_prefetch_bytes(const char *start, ptrdiff_t n) nogil
    void tieaware_prefetch_each(const void *array, size_t size, const int64_t *indices, int64_t n) nogil

cdef extern from "retrieval/unions.h":
    enum: TIEAWARE_RUN
    void tieaware_sort_run(int32_t *documents, int n) nogil

cdef enum:
    # Candidates get a bitmap if they have at least one entry for this many words of the bitmap, or at least this many
    # lists. Clearing and reading the bitmap then takes less time than sorting the entries.
    WORDS_PER_ENTRY = 4
    MANY_LISTS = 16
    # The number of entries of each list that are fetched from memory while the query before is searched.
    FETCHED = 128


cdef void sort(Candidates* candidates, const TermLists* entries, int32_t* spare) noexcept nogil:
    """Add the documents of lists to the candidates, each once and in ascending order.

    The spare array has room for all entries. Runs of 64 documents are sorted by counting, and merged without a branch,
    which would often be mispredicted.
    """
    cdef int32_t* sorted = candidates.documents
    cdef int32_t* merged = spare
    cdef int32_t a, b
    cdef int64_t n = 0, m, width = TIEAWARE_RUN, first = 0, i, j, middle, stop
    cdef Py_ssize_t which
    for which in range(entries.n):
        for i in range(entries.next[which], entries.stops[which]):
            sorted[n] = entries.documents[i]
            n += 1
    while first < n:
        tieaware_sort_run(sorted + first, <int>min(width, n - first))
        first += width
    while width < n:
        first = 0
        while first < n:
            middle, stop = min(first + width, n), min(first + 2 * width, n)
            i, j, m = first, middle, first
            while i < middle and j < stop:
                a, b = sorted[i], sorted[j]
                merged[m] = a if a <= b else b
                i += a <= b
                j += a > b
                m += 1
            memcpy(merged + m, sorted + i, <size_t>(middle - i) * sizeof(int32_t))
            m += middle - i
            memcpy(merged + m, sorted + j, <size_t>(stop - j) * sizeof(int32_t))
            first = stop
        sorted, merged = merged, sorted
        width *= 2
    for i in range(n):
        a = sorted[i]
        # Skip an invalid document number, so that it is not used as an index, and a document that was before.
        if 0 <= a and <uint32_t>a < candidates.n_documents and (
            candidates.n == 0 or candidates.documents[candidates.n - 1] != a
        ):
            candidates.documents[candidates.n] = a
            candidates.n += 1


cdef void unite(
    Candidates* candidates, TermLists* entries, uint64_t initial, int n_planes, uint64_t* planes, Py_ssize_t n_words
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


# Numbers that are added to the sum of each document: `base`, unless it is NULL, and a weight times the document's part,
# unless `parts` is NULL.
cdef struct Added:
    const double* base
    const double* parts
    double part_weight


cdef inline double added_to(const Added* added, int32_t document) noexcept nogil:
    if added.parts == NULL:
        return added.base[document]
    if added.base == NULL:
        return added.part_weight * added.parts[document]
    return added.part_weight * added.parts[document] + added.base[document]


cdef void offer_all(Candidates* candidates, const Added* added, Best* best) noexcept nogil:
    """Offer the candidates with their scores: if nothing is added, only those with a score above 0."""
    cdef int64_t i
    cdef bint is_added = added.base != NULL or added.parts != NULL
    if is_added:
        # A loop of its own has no branches to predict, so that many numbers are fetched at a time.
        for i in range(candidates.n):
            candidates.sums[i] += added_to(added, candidates.documents[i])
    for i in range(candidates.n):
        if is_added or candidates.sums[i] > 0.0:
            best.documents += 1
            offer(best, candidates.documents[i], candidates.sums[i])


# The parameters of `search` that all queries share, and memory that one query after another uses.
cdef struct CandidateSearch:
    int64_t n_documents
    int64_t fewest
    int64_t k
    bint whole_ties
    # True if the documents of a list of candidates ascend.
    bint ascending
    # The last weight of each list that counts, and the last document with this weight; NULL if all count.
    const double* cut_weights
    const int32_t* cut_documents
    # The bounds of all lists of candidates; `largest` is NULL if there are none.
    const double* largest
    const double* missing
    const double* kth
    const double* bases
    double most_base
    bint missing_with_base
    # The filters: filter i has the words from filter_starts[i] to filter_starts[i + 1]. Each list of a query has the
    # filter with the number of its term or, unless this is NULL, that with its number in cut_filters.
    const int64_t* filter_starts
    int64_t n_filters
    const uint64_t* filter_words
    int64_t n_filter_words
    const int64_t* cut_filters
    Narrowing narrowing
    # Room for as many documents, twice, and sums as a query has entries.
    int64_t room
    int32_t* documents
    int32_t* spare
    double* sums
    # Room for a word for each 64 documents, and for the planes of counters.
    Py_ssize_t n_words
    int n_planes
    uint64_t* bits
    uint32_t* ranks
    uint64_t* planes
    # Room for three numbers and a filter for each list of a query.
    double* of_lists
    Filter* filters


cdef int open_search(
    CandidateSearch* search, int64_t most_entries, int64_t most_lists, int64_t most_at_least
) except -1:
    """Allocate the memory for queries with at most this many entries and lists."""
    cdef size_t n_words = (search.n_documents + TIEAWARE_WORD - 1) // TIEAWARE_WORD
    while most_at_least - 1 >> search.n_planes:
        search.n_planes += 1
    search.n_words, search.room = n_words, most_entries
    search.documents = <int32_t*>malloc(<size_t>(most_entries + 1) * sizeof(int32_t))
    search.spare = <int32_t*>malloc(<size_t>(most_entries + 1) * sizeof(int32_t))
    search.sums = <double*>malloc(<size_t>(most_entries + 1) * sizeof(double))
    search.bits = <uint64_t*>malloc((n_words + 1) * sizeof(uint64_t))
    search.ranks = <uint32_t*>malloc((n_words + 1) * sizeof(uint32_t))
    search.planes = <uint64_t*>malloc((n_words * search.n_planes + 1) * sizeof(uint64_t))
    search.of_lists = <double*>malloc(<size_t>(3 * most_lists + 1) * sizeof(double))
    search.filters = <Filter*>malloc(<size_t>(most_lists + 1) * sizeof(Filter))
    if not (
        search.documents and search.spare and search.sums and search.bits and search.ranks and search.planes
        and search.of_lists and search.filters
    ):
        raise MemoryError
    if search.largest != NULL:
        open_narrowing(&search.narrowing, most_entries, most_lists, search.n_documents, search.ascending)
    return 0


cdef void close_search(CandidateSearch* search) noexcept:
    free(search.documents)
    free(search.spare)
    close_narrowing(&search.narrowing)
    free(search.sums)
    free(search.bits)
    free(search.ranks)
    free(search.planes)
    free(search.of_lists)
    free(search.filters)


cdef void filter_of(const CandidateSearch* search, int64_t number, Filter* filter) noexcept nogil:
    """Find the filter with this number. An array that was changed since it was made gives no filter."""
    cdef int64_t start, n
    filter.n_words = 0
    if 0 <= number < search.n_filters:
        start, n = search.filter_starts[number], search.filter_starts[number + 1] - search.filter_starts[number]
        if 0 <= start and 0 < n <= search.n_filter_words - start and n & (n - 1) == 0 and n <= 1 << 25:
            filter.words, filter.n_words = search.filter_words + start, n


cdef inline int64_t fetch(
    const CandidateSearch* search, PostingLists entries, PostingLists postings, const int64_t* which,
    const int64_t* offsets,
    const int64_t* terms, const int64_t* term_offsets, int64_t n
) noexcept nogil:
    """Fetch from memory what the next of n queries need, while the query before is searched.

    For the next query but one, what is known of its lists; for the next query, the first entries of its lists, because
    the processor foresees that others follow. GCC deletes calls of functions that only fetch, so this one returns a
    number, which is negative only if the arrays are invalid.
    """
    cdef const int64_t* numbers
    cdef int64_t i, size, start, stop, fetched = 0
    if n > 2:
        numbers, size = which + offsets[2], offsets[3] - offsets[2]
        tieaware_prefetch_each(entries.starts, sizeof(int64_t), numbers, size)
        tieaware_prefetch_each(entries.stops, sizeof(int64_t), numbers, size)
        if search.largest != NULL:
            tieaware_prefetch_each(search.largest, sizeof(double), numbers, size)
            tieaware_prefetch_each(search.missing, sizeof(double), numbers, size)
            tieaware_prefetch_each(search.kth, sizeof(double), numbers, size)
        numbers, size = terms + term_offsets[2], term_offsets[3] - term_offsets[2]
        tieaware_prefetch_each(
            search.filter_starts, sizeof(int64_t),
            numbers if search.cut_filters == NULL else search.cut_filters + term_offsets[2], size,
        )
        tieaware_prefetch_each(postings.starts, sizeof(int64_t), numbers, size)
        tieaware_prefetch_each(postings.bitmap_rows, sizeof(int64_t), numbers, size)
    if n > 1:
        for i in range(offsets[1], offsets[2]):
            start, stop = entries.starts[which[i]], entries.stops[which[i]]
            size = min(stop - start, FETCHED)
            fetched |= size
            if not 0 <= start <= entries.n_postings:
                continue
            tieaware_prefetch_bytes(<const char*>(entries.documents + start), size * <int64_t>sizeof(int32_t))
            if search.largest != NULL:
                tieaware_prefetch_bytes(<const char*>entries.weights + start * entries.kind, size * entries.kind)
            if search.bases != NULL:
                tieaware_prefetch_bytes(<const char*>(search.bases + start), size * <int64_t>sizeof(double))
    return fetched


cdef int search_one(
    CandidateSearch* search, TermLists* entries, TermLists* lists, const int64_t* which, const int64_t* terms,
    int64_t at_least,
    const Added* added, Results results, Interruption* interruption
) except -1 nogil:
    """Score the candidates of one query, and add its top documents to the results.

    With bounds or cuts, there is a list of candidates for each term, and they have consecutive numbers for cuts.
    """
    cdef Candidates candidates
    cdef Best best, lowest
    cdef Bounds bounds
    cdef double q
    cdef Py_ssize_t i
    cdef int n_planes = 0
    cdef int64_t n_read = entries.n_postings, fewest = search.fewest, number
    cdef const double* cut_weights = NULL
    cdef const int32_t* cut_documents = NULL
    memset(&candidates, 0, sizeof(candidates))
    memset(&best, 0, sizeof(best))
    memset(&lowest, 0, sizeof(lowest))
    memset(&bounds, 0, sizeof(bounds))
    candidates.n_documents = <uint32_t>search.n_documents
    candidates.documents, candidates.sums = search.documents, search.sums
    try:
        if search.largest != NULL and at_least == 1 and fewest <= search.k and has_bounds(lists, entries):
            bounds.largest, bounds.missing = search.of_lists, search.of_lists + entries.n
            bounds.kth = search.of_lists + 2 * entries.n
            for i in range(entries.n):
                q = entries.query_weights[i]
                bounds.largest[i], bounds.missing[i] = q * search.largest[which[i]], q * search.missing[which[i]]
                bounds.kth[i] = q * search.kth[which[i]]
                number = terms[i] if search.cut_filters == NULL else search.cut_filters[which[i]]
                filter_of(search, number, &search.filters[i])
            bounds.filters = search.filters
            bounds.bases, bounds.most_base = search.bases, search.most_base
            bounds.is_with_base = search.missing_with_base
            open_best(&lowest, search.k, entries.n_postings, False, False)
            lowest.bound = -INFINITY
            find_floor(entries, &bounds, &lowest)
            if bounds.floor > 0.0:
                n_read = narrow(entries, lists, &bounds, &search.narrowing, &lowest)
                # At least k candidates reach the floor.
                fewest = 0
        if at_least > 1 or entries.n_postings * WORDS_PER_ENTRY >= search.n_words or entries.n >= MANY_LISTS:
            candidates.bits, candidates.ranks = search.bits, search.ranks
            memset(candidates.bits, 0, search.n_words * sizeof(uint64_t))
            while at_least - 1 >> n_planes:
                n_planes += 1
            unite(&candidates, entries, (<uint64_t>1 << n_planes) - <uint64_t>at_least, n_planes, search.planes,
                  search.n_words)
        else:
            sort(&candidates, entries, search.spare)
        if candidates.n < fewest:
            return results.skip(-1, -1, -1)
        memset(candidates.sums, 0, candidates.n * sizeof(double))
        open_best(&best, search.k, candidates.n, search.whole_ties, False)
        best.ascending = True
        best.bound = 0.0 if added.base == NULL and added.parts == NULL else -INFINITY
        if search.cut_weights != NULL and entries.n > 0:
            cut_weights, cut_documents = search.cut_weights + which[0], search.cut_documents + which[0]
        n_read += add_weights(&candidates, lists, bounds.filters, cut_weights, cut_documents, interruption)
        offer_all(&candidates, added, &best)
        return results.add(&best, search.whole_ties, n_read, lowest.heap.comparisons)
    finally:
        close_best(&lowest)
        close_best(&best)


def search(
    PostingLists candidates not None, const int64_t[::1] which not None, const int64_t[::1] which_offsets not None,
    int64_t at_least, int64_t fewest, int64_t n_documents, PostingLists postings not None,
    const int64_t[::1] terms not None, const double[::1] query_weights not None, const int64_t[::1] offsets not None,
    const double[::1] base, const double[::1] parts, int64_t k, bint whole_ties, bint ascending, object cuts,
    object bounds
):
    """Score the documents that are in some lists of candidates, and find the top k, for each of several queries.

    Parameters
    ----------
    candidates, which, which_offsets : PostingLists, int64[n] and int64[n_queries + 1]
        The lists of candidates, and the numbers of those to unite: for query i, which[which_offsets[i]] up to
        which_offsets[i + 1].
    at_least : int
        The number of lists in which a document must be, at least 1; all lists if a query has fewer.
    fewest : int
        Do not search a query that has fewer candidates.
    n_documents : int
        The number of documents in the collection.
    postings, terms, query_weights, offsets : PostingLists, int64[m], float64[m] and int64[n_queries + 1]
        The posting lists of the terms, those of query i from offsets[i] to offsets[i + 1]. The documents of a list must
        ascend.
    base : float64[n_documents] or None
        A number to add to the score of each candidate. With a base, scores need not be above 0.
    parts : float64[n_documents] or None
        Numbers that are added as a base, times the sum of the query's weights.
    k, whole_ties : int, bool
        The number of documents to find, and whether to find all documents that tie with the k-th.
    ascending : bool
        Whether the documents of the lists of candidates ascend. If not, `at_least` must be 1.
    cuts : (float64[n], int32[n], int64[n]) or None
        For each list of candidates in `which`, whose numbers must be 0 to n - 1: the lowest weight of its term that
        counts, the last document whose posting has this weight and counts, and the number of a filter of the documents
        whose postings count.
    bounds : tuple or None
        With bounds, entries that cannot be among the top k are left out. `which` must then be the terms, and the lists
        of candidates must have the weights of their terms; not allowed with parts. The tuple has

        - float64[n_candidate_lists], three times: for each list of candidates, the largest weight of its term, the
          largest weight of the term in a document that the list lacks, and a weight that at least k entries of the list
          reach, or 0;
        - float64[n_entries] and float, or None and 0: with a base, the base of each entry's document, and the largest
          base. No base may be negative;
        - bool: whether the second array has the largest sums of weight and base instead;
        - int64[n_filters + 1] and uint64[n_words], or None: the filters, made by `fill_filters`: without cuts, one for
          each posting list. Where a filter has no words, the bitmap of the list is used.

    Returns
    -------
    (int64[n_queries + 1], int32[n], float64[n], int64[n_queries, 3])
        Offsets of the queries; their documents, best first; the scores; and for each query, the number of entries and
        postings read, of candidates with a score, and of comparisons. The costs of a query that is not searched are -1.
    """
    cdef TermLists lists, entries
    cdef CandidateSearch shared
    cdef Added added
    cdef Interruption interruption = no_interruption()
    cdef Py_ssize_t n_queries = which_offsets.shape[0] - 1, i
    cdef int64_t j, number, n_entries, fetched = 0, most_entries = 0, most_lists = 0, needed, a, b
    cdef const int64_t* first_which = &which[0] if which.shape[0] else NULL
    cdef const int64_t* first_term = &terms[0] if terms.shape[0] else NULL
    cdef const double* first_weight = &query_weights[0] if query_weights.shape[0] else NULL
    cdef bint has_weights, missing_with_base = False
    cdef double most_base = 0.0
    cdef const double[::1] largest = None, missing = None, kth_largest = None, bases = None, cut_weights = None
    cdef const int64_t[::1] filter_starts = None, cut_filters = None
    cdef const uint64_t[::1] filter_words = None
    cdef const int32_t[::1] cut_documents = None
    if cuts is not None:
        cut_weights, cut_documents, cut_filters = cuts
    if bounds is not None:
        largest, missing, kth_largest, bases, most_base, missing_with_base, filter_starts, filter_words = bounds
    if not (0 <= n_documents <= 0x7fffffff and k >= 1 and 1 <= at_least <= 0x7fffffff):
        raise ValueError("n_documents, k or at_least is out of its range")
    if not ascending and at_least != 1:
        raise ValueError("lists that do not ascend cannot be counted")
    if n_queries < 0 or offsets.shape[0] != n_queries + 1 or query_weights.shape[0] != terms.shape[0]:
        raise ValueError("each query must have its lists and terms, and each term a query weight")
    memset(&shared, 0, sizeof(shared))
    memset(&added, 0, sizeof(added))
    shared.n_documents, shared.fewest, shared.k, shared.whole_ties = n_documents, fewest, k, whole_ties
    if (base is not None and base.shape[0] != n_documents) or (parts is not None and parts.shape[0] != n_documents):
        raise ValueError("base and parts must have a number for each document")
    if n_documents:
        added.base = NULL if base is None else &base[0]
        added.parts = NULL if parts is None else &parts[0]
    if largest is not None:
        if not largest.shape[0] == missing.shape[0] == kth_largest.shape[0] == candidates.n or parts is not None:
            raise ValueError("each list of candidates must have its bounds, and there must be no parts")
        if which.shape[0] != terms.shape[0]:
            raise ValueError("with bounds, each term must have a list of candidates")
        if candidates.kind != postings.kind or (bases is None) != (base is None):
            raise ValueError("the lists of candidates must have weights and bases as the postings")
        if bases is not None and bases.shape[0] != candidates.n_postings:
            raise ValueError("bases must have the base of each entry")
        if candidates.n:
            shared.largest, shared.missing, shared.kth = &largest[0], &missing[0], &kth_largest[0]
        if bases is not None and candidates.n_postings:
            shared.bases, shared.most_base = &bases[0], most_base
        shared.missing_with_base = missing_with_base
        if filter_starts is not None and filter_words is not None and filter_words.shape[0]:
            if filter_starts.shape[0] < 1 or (cut_weights is None and filter_starts.shape[0] != postings.n + 1):
                raise ValueError("each posting list must have a filter")
            shared.filter_starts, shared.n_filters = &filter_starts[0], filter_starts.shape[0] - 1
            shared.filter_words, shared.n_filter_words = &filter_words[0], filter_words.shape[0]
    shared.ascending = ascending
    if cut_weights is not None and which.shape[0]:
        if cut_documents is None or cut_filters is None or candidates.n != which.shape[0] or not (
            cut_weights.shape[0] == cut_documents.shape[0] == cut_filters.shape[0] == which.shape[0] == terms.shape[0]
        ):
            raise ValueError("each list of candidates must have its cut, and each term a list of candidates")
        for j in range(which.shape[0]):
            if which[j] != j:
                raise ValueError("with cuts, the numbers of the lists must be consecutive")
        shared.cut_weights, shared.cut_documents = &cut_weights[0], &cut_documents[0]
        shared.cut_filters = &cut_filters[0]
    for i in range(n_queries):
        if not (0 <= which_offsets[i] <= which_offsets[i + 1] <= which.shape[0]
                and 0 <= offsets[i] <= offsets[i + 1] <= terms.shape[0]):
            raise ValueError("offsets: a query has lists or terms outside the array")
        n_entries = 0
        for j in range(which_offsets[i], which_offsets[i + 1]):
            number = which[j]
            if not 0 <= number < candidates.n:
                raise ValueError("there is no list with this number")
            n_entries += max(0, candidates.stops[number] - candidates.starts[number])
        most_entries = max(most_entries, n_entries)
        most_lists = max(most_lists, which_offsets[i + 1] - which_offsets[i])
    memset(&lists, 0, sizeof(lists))
    memset(&entries, 0, sizeof(entries))
    cdef Results results = Results(n_queries)
    try:
        open_search(&shared, most_entries, most_lists, min(at_least, max(1, most_lists)))
        with nogil:
            for i in range(n_queries):
                fetched |= fetch(&shared, candidates, postings, first_which, &which_offsets[i], first_term, &offsets[i],
                                 n_queries - i)
                a, b = which_offsets[i], which_offsets[i + 1]
                has_weights = shared.largest != NULL and b - a == offsets[i + 1] - offsets[i]
                candidates.open_lists(
                    &entries, first_which + a, b - a, first_weight + offsets[i] if has_weights else NULL, n_documents
                )
                a = offsets[i]
                postings.open_lists(&lists, first_term + a, offsets[i + 1] - a, first_weight + a, n_documents)
                added.part_weight = 0.0
                for j in range(a, offsets[i + 1]):
                    added.part_weight += query_weights[j]
                if entries.n_postings > shared.room:
                    with gil:
                        raise ValueError("a list of candidates has changed")
                # A query with fewer lists than that needs all of them.
                needed = min(at_least, max(1, which_offsets[i + 1] - which_offsets[i]))
                search_one(&shared, &entries, &lists, first_which + which_offsets[i], first_term + a, needed, &added,
                           results, &interruption)
                close_lists(&entries)
                close_lists(&lists)
                if interrupted(&interruption, 100):
                    break
        if fetched < 0:
            raise ValueError("a list of candidates has changed")
        check_interruption(&interruption)
        return results.arrays()
    finally:
        close_lists(&lists)
        close_lists(&entries)
        close_search(&shared)


def score(
    const int32_t[::1] candidates, PostingLists postings not None, const int64_t[::1] terms,
    const double[::1] query_weights, int64_t n_documents, double[::1] sums
):
    """Add the weights of the terms' lists to the sums of some documents; return the number of postings added.

    The candidates and the documents of each list must ascend, because both are searched by galloping.
    """
    cdef TermLists lists
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
        if query_weights.shape[0] != terms.shape[0]:
            raise ValueError("each list must have a query weight")
        postings.open_lists(&lists, &terms[0] if terms.shape[0] else NULL, terms.shape[0],
                            &query_weights[0] if terms.shape[0] else NULL, n_documents)
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
