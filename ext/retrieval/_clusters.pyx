"""Cluster pruning: the nearest leaders of documents and of queries, and search among the followers of leaders.

The followers of each leader have consecutive positions, and there are postings of positions: the postings of a term
that belong to a cluster follow one another, and are found by a binary search. The score of a follower is the sum, over
the terms in their order, of query_weight · weight.
"""
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption
from tieaware.kernels._top cimport Best, Results, close_best, leave_out, offer, open_best

cdef extern from "retrieval/accumulators.h":
    void tieaware_add(
        int kind, double *scores, const void *weights, ptrdiff_t first, ptrdiff_t n, double query_weight
    ) nogil
    void tieaware_prefetch_bytes(const char *start, ptrdiff_t n) nogil
    void tieaware_prefetch_each(const void *array, size_t size, const int64_t *indices, int64_t n) nogil

cnp.import_array()

cdef enum:
    # The number of postings of each term that are fetched from memory while the query before is searched. The processor
    # foresees that others follow.
    FETCHED = 128


# The postings of terms: those of term t are starts[t] to starts[t + 1]. A number is that of a leader or a position.
cdef struct Postings:
    int64_t n_terms
    int64_t n
    const int64_t* starts
    const int32_t* numbers
    const float* weights


# The clusters: those of leader l have the positions from starts[l] to starts[l + 1]. `scores` has room for the leaders
# and for the positions of any cluster; `visited` for the leaders; `begins` for two numbers for each term of a query;
# and `marks`, unless it is NULL, has a bit for each document, which is 0 before and after each query.
cdef struct Clusters:
    int64_t n_leaders
    int64_t n_documents
    const int64_t* starts
    const int32_t* documents
    double* scores
    int64_t* visited
    int64_t* begins
    uint64_t* marks


cdef Postings postings_from(
    const int64_t[::1] starts, const int32_t[::1] numbers, const float[::1] weights
) except *:
    cdef Postings postings
    postings.n_terms, postings.n = starts.shape[0] - 1, numbers.shape[0]
    if postings.n_terms < 0 or weights.shape[0] != postings.n:
        raise ValueError("there must be a start for each term, and a weight for each posting")
    postings.starts = &starts[0]
    postings.numbers = &numbers[0] if postings.n else NULL
    postings.weights = &weights[0] if postings.n else NULL
    return postings


cdef void find_begins(
    const Postings* postings, const int64_t* terms, int64_t n_terms, int64_t least, int64_t* begins
) noexcept nogil:
    """begins[i] = the index of the first number of term i that is at least `least`, or the end of its postings.

    Binary searches of all terms take their steps together, so that several postings are fetched from memory at a time.
    """
    cdef int64_t i, half, left, most = 0
    cdef int64_t* lengths = begins + n_terms
    for i in range(n_terms):
        begins[i], lengths[i] = postings.starts[terms[i]], postings.starts[terms[i] + 1] - postings.starts[terms[i]]
        # The arrays belong to the caller, who may have changed them.
        if not 0 <= begins[i] <= begins[i] + lengths[i] <= postings.n:
            begins[i] = lengths[i] = 0
        most = max(most, lengths[i])
    # Invariant: all numbers of term i before begins[i] are smaller, and the index that is sought is at most lengths[i]
    # after it.
    while most > 0:
        for i in range(n_terms):
            half = lengths[i] >> 1
            left = lengths[i] - half - 1
            if lengths[i] > 0 and postings.numbers[begins[i] + half] < least:
                begins[i] += half + 1
                lengths[i] = left
            else:
                lengths[i] = half
        most >>= 1


cdef int64_t add(
    const Postings* postings, int64_t term, double query_weight, int64_t begin, int64_t first, int64_t size,
    double* scores
) noexcept nogil:
    """scores[number - first] += query_weight · weight for the term's postings in a range; return their number.

    The postings in the range begin at index `begin`.
    """
    cdef int64_t i = begin, stop = postings.starts[term + 1]
    cdef uint64_t at
    # The arrays belong to the caller, who may have changed them.
    if not 0 <= i <= stop <= postings.n:
        return 0
    while i < stop:
        at = <uint64_t>(<int64_t>postings.numbers[i] - first)
        if at >= <uint64_t>size:
            break
        scores[at] += query_weight * <double>postings.weights[i]
        i += 1
    return i - begin


cdef int64_t choose(Clusters* clusters, Best* best, int64_t b2) noexcept nogil:
    """List the nearest leaders, and then those without a score that have the lowest numbers; return how many there are.

    Only leaders with a score above 0 were offered.
    """
    cdef int64_t n = 0, leader
    if best.heap.size > best.k:
        leave_out(best)
    for n in range(best.heap.size):
        clusters.visited[n] = best.heap.entries[n].document
    n = best.heap.size
    leader = 0
    while n < b2 and leader < clusters.n_leaders:
        if not clusters.scores[leader] > 0.0:
            clusters.visited[n] = leader
            n += 1
        leader += 1
    return n


cdef void offer_followers(Clusters* clusters, int64_t leader, Best* best) noexcept nogil:
    """Offer the followers of a leader that have a score above 0, and clear the scores."""
    cdef int64_t first = clusters.starts[leader], size = clusters.starts[leader + 1] - first, i
    cdef double score
    cdef int32_t document
    cdef uint64_t bit
    for i in range(size):
        score = clusters.scores[i]
        clusters.scores[i] = 0.0
        if not score > 0.0:
            continue
        document = clusters.documents[first + i]
        if clusters.marks != NULL:
            if not 0 <= document < clusters.n_documents:
                continue
            bit = <uint64_t>1 << (document & 63)
            if clusters.marks[document >> 6] & bit:
                continue
            clusters.marks[document >> 6] |= bit
        best.documents += 1
        offer(best, document, score)


cdef void clear_marks(Clusters* clusters, int64_t n_visited) noexcept nogil:
    cdef int64_t i, j
    cdef int32_t document
    for i in range(n_visited):
        for j in range(clusters.starts[clusters.visited[i]], clusters.starts[clusters.visited[i] + 1]):
            document = clusters.documents[j]
            if 0 <= document < clusters.n_documents:
                clusters.marks[document >> 6] = 0


cdef inline int64_t fetch(
    const Postings* of_leaders, const Postings* of_followers, const int64_t* terms, const int64_t* offsets, int64_t n
) noexcept nogil:
    """Fetch from memory what the next of n queries need, while the query before is searched.

    For the next query but one, where the postings of its terms are; for the next query, the first leaders of its terms.
    GCC deletes calls of functions that only fetch, so this one returns a number, which is negative only if the arrays
    are invalid.
    """
    cdef int64_t i, start, size, fetched = 0
    if n > 2:
        tieaware_prefetch_each(of_leaders.starts, sizeof(int64_t), terms + offsets[2], offsets[3] - offsets[2])
        tieaware_prefetch_each(of_followers.starts, sizeof(int64_t), terms + offsets[2], offsets[3] - offsets[2])
    if n > 1:
        for i in range(offsets[1], offsets[2]):
            if 0 <= terms[i] < of_leaders.n_terms:
                start = of_leaders.starts[terms[i]]
                size = min(of_leaders.starts[terms[i] + 1] - start, FETCHED)
                fetched |= size
                if not 0 <= start <= of_leaders.n:
                    continue
                tieaware_prefetch_bytes(<const char*>(of_leaders.numbers + start), size * <int64_t>sizeof(int32_t))
                tieaware_prefetch_bytes(<const char*>(of_leaders.weights + start), size * <int64_t>sizeof(float))
    return fetched


cdef int search_one(
    Clusters* clusters, const Postings* of_leaders, const Postings* of_followers, const int64_t* terms,
    const double* query_weights, int64_t n_terms, int64_t b2, int64_t k, bint whole_ties, Results results
) except -1 nogil:
    """Search for one query, and add its top documents to the results."""
    cdef Best nearest, best
    cdef int64_t i, m, n_visited, n_read = 0, n_followers = 0, first, n_scored
    memset(&nearest, 0, sizeof(nearest))
    memset(&best, 0, sizeof(best))
    try:
        for i in range(n_terms):
            if not (0 <= terms[i] < of_leaders.n_terms and terms[i] < of_followers.n_terms):
                with gil:
                    raise ValueError("there is no term with this number")
        open_best(&nearest, b2, clusters.n_leaders, False, False)
        nearest.ascending = True
        memset(clusters.scores, 0, clusters.n_leaders * sizeof(double))
        for i in range(n_terms):
            n_read += add(of_leaders, terms[i], query_weights[i], of_leaders.starts[terms[i]], 0, clusters.n_leaders,
                          clusters.scores)
        for i in range(clusters.n_leaders):
            nearest.documents += clusters.scores[i] > 0.0
            offer(&nearest, <int32_t>i, clusters.scores[i])
        n_scored = nearest.documents
        n_visited = choose(clusters, &nearest, b2)
        memset(clusters.scores, 0, clusters.n_leaders * sizeof(double))
        for m in range(n_visited):
            n_followers += clusters.starts[clusters.visited[m] + 1] - clusters.starts[clusters.visited[m]]
        open_best(&best, k, n_followers, whole_ties, False)
        best.ascending = n_visited == 1
        for m in range(n_visited):
            first = clusters.starts[clusters.visited[m]]
            find_begins(of_followers, terms, n_terms, first, clusters.begins)
            for i in range(n_terms):
                n_read += add(of_followers, terms[i], query_weights[i], clusters.begins[i], first,
                              clusters.starts[clusters.visited[m] + 1] - first, clusters.scores)
            offer_followers(clusters, clusters.visited[m], &best)
        if clusters.marks != NULL:
            clear_marks(clusters, n_visited)
        best.documents += n_scored
        best.n_unbounded += n_scored
        return results.add(&best, whole_ties, n_read, nearest.heap.comparisons + max(0, n_scored - nearest.n_unbounded))
    finally:
        close_best(&nearest)
        close_best(&best)


def search(
    const int64_t[::1] leader_starts not None, const int32_t[::1] leaders not None,
    const float[::1] leader_weights not None, const int64_t[::1] cluster_starts not None,
    const int32_t[::1] documents not None, int64_t n_documents, const int64_t[::1] starts not None,
    const int32_t[::1] positions not None, const float[::1] weights not None, const int64_t[::1] terms not None,
    const double[::1] query_weights not None, const int64_t[::1] offsets not None, int64_t b2, int64_t k,
    bint whole_ties, bint has_duplicates
):
    """Search the clusters of the b2 nearest leaders of each query, and find the top k.

    Parameters
    ----------
    leader_starts, leaders, leader_weights : int64[n_terms + 1], int32[n_leader_postings], float32[n_leader_postings]
        The postings of the leaders: those of term t are leader_starts[t] to leader_starts[t + 1].
    cluster_starts, documents : int64[n_leaders + 1] and int32[n_positions]
        The positions of each leader's followers, and the document of each position, ascending within a cluster.
    n_documents : int
        The number of documents in the collection.
    starts, positions, weights : int64[n_terms + 1], int32[n_postings] and float32[n_postings]
        The postings of the positions: those of term t are starts[t] to starts[t + 1], in ascending order.
    terms, query_weights, offsets : int64[m], float64[m] and int64[n_queries + 1]
        The terms of query i are those from offsets[i] to offsets[i + 1].
    b2, k, whole_ties : int, int, bool
        The number of leaders to visit and of documents to find, and whether to find all that tie with the k-th.
    has_duplicates : bool
        Whether a document may be in several clusters.

    Returns
    -------
    (int64[n_queries + 1], int32[n], float64[n], int64[n_queries, 3])
        Offsets of the queries; their documents, best first; the scores; and for each query, the number of postings
        read, of leaders and documents with a score, and of comparisons. A posting counts each time it is read.
    """
    cdef Postings of_leaders = postings_from(leader_starts, leaders, leader_weights)
    cdef Postings of_followers = postings_from(starts, positions, weights)
    cdef Clusters clusters
    cdef Interruption interruption = no_interruption()
    cdef Py_ssize_t n_queries = offsets.shape[0] - 1, i
    cdef int64_t largest, most_terms = 0, fetched = 0
    cdef const int64_t* first_term = &terms[0] if terms.shape[0] else NULL
    cdef const double* first_weight = &query_weights[0] if query_weights.shape[0] else NULL
    memset(&clusters, 0, sizeof(clusters))
    clusters.n_leaders, clusters.n_documents = cluster_starts.shape[0] - 1, n_documents
    if not (0 <= n_documents <= 0x7fffffff and 0 <= clusters.n_leaders <= 0x7fffffff and b2 >= 1 and k >= 1):
        raise ValueError("n_documents, b2 or k is out of its range, or there are too many leaders or none")
    if query_weights.shape[0] != terms.shape[0] or n_queries < 0:
        raise ValueError("each term must have a query weight")
    largest = clusters.n_leaders
    for i in range(clusters.n_leaders):
        if not 0 <= cluster_starts[i] <= cluster_starts[i + 1] <= documents.shape[0]:
            raise ValueError("cluster_starts: a cluster is outside the positions")
        largest = max(largest, cluster_starts[i + 1] - cluster_starts[i])
    for i in range(n_queries):
        if not 0 <= offsets[i] <= offsets[i + 1] <= terms.shape[0]:
            raise ValueError("offsets: a query has terms outside the array")
        most_terms = max(most_terms, offsets[i + 1] - offsets[i])
    clusters.starts = &cluster_starts[0]
    clusters.documents = &documents[0] if documents.shape[0] else NULL
    cdef Results results = Results(n_queries)
    try:
        clusters.scores = <double*>calloc(<size_t>largest + 1, sizeof(double))
        clusters.visited = <int64_t*>malloc((<size_t>clusters.n_leaders + 1) * sizeof(int64_t))
        clusters.begins = <int64_t*>malloc((<size_t>(2 * most_terms) + 1) * sizeof(int64_t))
        if has_duplicates:
            clusters.marks = <uint64_t*>calloc(<size_t>n_documents // 64 + 1, sizeof(uint64_t))
        if not (clusters.scores and clusters.visited and clusters.begins and (clusters.marks or not has_duplicates)):
            raise MemoryError
        with nogil:
            for i in range(n_queries):
                fetched |= fetch(&of_leaders, &of_followers, first_term, &offsets[i], n_queries - i)
                search_one(&clusters, &of_leaders, &of_followers, first_term + offsets[i], first_weight + offsets[i],
                           offsets[i + 1] - offsets[i], min(b2, clusters.n_leaders), k, whole_ties, results)
                if interrupted(&interruption, 2 * results.all_costs[3 * i] + clusters.n_leaders + 100):
                    break
        if fetched < 0:
            raise ValueError("leader_starts: starts must not descend")
        check_interruption(&interruption)
        return results.arrays()
    finally:
        free(clusters.scores)
        free(clusters.visited)
        free(clusters.begins)
        free(clusters.marks)


cdef void insert(double product, int32_t leader, int32_t* nearest, double* products, Py_ssize_t b) noexcept nogil:
    """Insert a leader among the b nearest so far, after leaders with the same product."""
    cdef Py_ssize_t i = b - 1
    while i > 0 and products[i - 1] < product:
        products[i] = products[i - 1]
        nearest[i] = nearest[i - 1]
        i -= 1
    products[i] = product
    nearest[i] = leader


def nearest(
    const int64_t[::1] offsets, const int32_t[::1] terms, const float[::1] weights, const int64_t[::1] starts,
    const int32_t[::1] leaders, const float[::1] leader_weights, Py_ssize_t n_leaders, const int64_t[::1] rows,
    const float[:, ::1] dense_weights, Py_ssize_t b, int32_t[:, ::1] out
):
    """Find the b nearest leaders of each document, those with the largest products of vectors.

    The products are sums over the terms of the document in ascending order. They are computed document by document, so
    that they stay in the first-level cache.

    Parameters
    ----------
    offsets, terms, weights : int64[n_documents + 1], int32[n_entries] and float32[n_entries]
        The terms of document d, ascending, with their weights, are those from offsets[d] to offsets[d + 1].
    starts, leaders, leader_weights : int64[n_terms + 1], int32[n_leader_postings] and float32[n_leader_postings]
        The postings of the leaders: those of term t are starts[t] to starts[t + 1].
    n_leaders : int
        The number of leaders.
    rows, dense_weights : int64[n_terms] and float32[n_rows, n_leaders]
        The row of each term in dense_weights, or -1. A row has a weight for each leader, 0 for a missing posting.
    b : int
        The number of leaders to find, from 1 to n_leaders.
    out : int32[n_documents, b]
        The nearest leaders of each document; if products tie, those with the lowest numbers come first.
    """
    cdef Py_ssize_t n_documents = offsets.shape[0] - 1, n_terms = starts.shape[0] - 1, d, i, m
    cdef int64_t j, steps, row
    cdef int32_t t, leader
    cdef double weight, least
    cdef double* products
    cdef double* best
    cdef Interruption interruption = no_interruption()
    if not 1 <= b <= n_leaders <= 0x7fffffff or out.shape[0] != n_documents or out.shape[1] != b:
        raise ValueError("b must be from 1 to the number of leaders, and out must have b leaders for each document")
    if weights.shape[0] != terms.shape[0] or leader_weights.shape[0] != leaders.shape[0] or rows.shape[0] != n_terms:
        raise ValueError("each entry and each posting must have a weight, and each term a row")
    if dense_weights.shape[1] != n_leaders:
        raise ValueError("dense_weights must have a column for each leader")
    for d in range(n_documents):
        if not 0 <= offsets[d] <= offsets[d + 1] <= terms.shape[0]:
            raise ValueError("offsets: a document has terms outside the array")
    for i in range(n_terms):
        if not (0 <= starts[i] <= starts[i + 1] <= leaders.shape[0] and -1 <= rows[i] < dense_weights.shape[0]):
            raise ValueError("starts: a term has postings outside the array, or rows: a row is outside dense_weights")
    products = <double*>malloc(<size_t>(n_leaders + b + 1) * sizeof(double))
    if products == NULL:
        raise MemoryError
    best = products + n_leaders
    try:
        with nogil:
            for d in range(n_documents):
                memset(products, 0, n_leaders * sizeof(double))
                steps = n_leaders
                for i in range(offsets[d], offsets[d + 1]):
                    t = terms[i]
                    if not 0 <= t < n_terms:
                        continue
                    weight = <double>weights[i]
                    row = rows[t]
                    if row >= 0:
                        tieaware_add(sizeof(float), products, &dense_weights[row, 0], 0, n_leaders, weight)
                        steps += n_leaders // 4
                        continue
                    for j in range(starts[t], starts[t + 1]):
                        leader = leaders[j]
                        if 0 <= leader < n_leaders:
                            products[leader] += weight * <double>leader_weights[j]
                    steps += starts[t + 1] - starts[t]
                # No product is below 0, so the first leaders are the nearest until others are inserted.
                for m in range(b):
                    best[m] = -1.0
                    out[d, m] = <int32_t>m
                least = -1.0
                for m in range(n_leaders):
                    if products[m] > least:
                        insert(products[m], <int32_t>m, &out[d, 0], best, b)
                        least = best[b - 1]
                if interrupted(&interruption, steps):
                    break
        check_interruption(&interruption)
    finally:
        free(products)
