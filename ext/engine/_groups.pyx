"""Grouping of scores: the tie groups of a query that hold a weighted document, mostly without sorting the list.

A *weighted document* has a non-zero weight for some measure; mostly it is a relevant document. A measure needs the
start, size and weight of the groups that hold a weighted document, and nothing else. So, for each query:

1. gather the scores of the weighted documents and sort the distinct scores among them, which are few;
2. for each distinct score, count the documents with a higher score and with this score, in one pass over the list;
3. add up the weights of each group; or, for a rule that orders tied documents, make each weighted document a group.

Step 2 can be done by either of two engines, which give the same integers. Counting compares every score of the list
with every distinct score; it vectorises. Locating finds every score of the list among the sorted distinct scores by
binary search; its cost grows with the logarithm of the number of distinct scores. A third engine replaces all three
steps: it sorts the list and walks along it, which is cheaper if a large share of the documents is weighted. The engine
for each list is chosen in advance, in src/tieaware/engine/engine_choice.py.

Excluded documents have scores but are not ranked. They are first counted with the list, then counted by themselves, and
the second counts are subtracted from the first.
"""
from functools import partial

cimport numpy as cnp
import numpy as np
from libc.stdint cimport int64_t, uint16_t
from libc.stdlib cimport malloc
from libc.string cimport memset

from tieaware.kernels._counting cimport (
    LANES, CHUNK, assign_few, assign_many, count, count_equal, count_own, find, locate, precede,
)
from tieaware.kernels._interruption cimport Interruption, interrupted
from tieaware.kernels._sorting cimport (
    TIEAWARE_LONGEST_SORTED, distinct, highest, sort_doubles, tieaware_chunks_of, tieaware_close, tieaware_place_bits,
    tieaware_repeats, tieaware_sort, tieaware_walk_documents, tieaware_walk_groups, tieaware_words_double,
    tieaware_words_float,
)

cnp.import_array()

# The result of `sort_list`. GROUPED: the groups were written. UNORDERED: a score is NaN. TOO_CLOSE: two scores differ,
# but are equal in the bits by which they are sorted, so the list must be grouped in another way.
cdef enum Sorted:
    GROUPED
    UNORDERED
    TOO_CLOSE

# In lists up to this length, counting does not skip values that are below the cut-off: that would save no time.
cdef enum:
    SHORT = 2048

# A limit that no count reaches: it is larger than any number of documents.
cdef int64_t NO_LIMIT = 0x7fffffffffffffff


cdef const int64_t* integers(cnp.ndarray array) except? NULL:
    """Return a pointer to the data of an int64 array; NULL for None."""
    return <const int64_t*>cnp.PyArray_DATA(array) if array is not None else NULL


cdef Py_ssize_t largest_step(const int64_t* offsets, Py_ssize_t n) noexcept:
    """Return the size of the largest of the n lists that the offsets delimit."""
    cdef Py_ssize_t i, largest = 0
    for i in range(n):
        largest = max(largest, <Py_ssize_t>(offsets[i + 1] - offsets[i]))
    return largest


cdef class PreparedLists:
    """The lists of all queries, with everything about them that does not depend on the scores. Immutable.

    All arrays must be C-contiguous and valid; the caller has checked them.

    Parameters
    ----------
    offsets : int64[n_queries + 1]
    weighted : WeightedDocuments
        No document may occur twice. For BEST_FIRST, WORST_FIRST and the spread, the weighted documents of each list
        are sorted by label, descending, unless there is an array `by_label`.
    excluded : ExcludedDocuments, optional
    placement : int
        How the tie rule places tied documents: AVERAGE, IN_ORDER, BEST_FIRST or WORST_FIRST.
    depth : int
        A rank below which no measure looks.
    counting_limit : int
        For lists whose weighted documents have more distinct scores than this, locating is used instead of counting.
    order : int64[n_docs], optional
        For IN_ORDER: for each list, the positions of its documents, sorted in the order of tied documents. By default,
        tied documents keep the order of the list. An array of a length other than n_docs applies to every list.
    sorted_lists : bool[n_queries], optional
        Which lists to sort, provided that they are short enough and have no excluded documents; by default none.
    weighted_at : uint16[n_docs], optional
        For `rows` only: an array that was already computed for these lists. By default, it is computed here.
    """

    def __init__(self, cnp.ndarray offsets not None, weighted not None, excluded=None, *, int placement, int64_t depth,
                 Py_ssize_t counting_limit, cnp.ndarray order=None, cnp.ndarray sorted_lists=None,
                 cnp.ndarray weighted_at=None):
        cdef cnp.ndarray weighted_offsets, position, weight
        cdef Py_ssize_t query
        cdef bint is_known
        self.placement, self.depth, self.counting_limit = placement, depth, counting_limit
        self.n_queries = offsets.shape[0] - 1
        self.offsets = integers(offsets)
        self.n_docs = self.offsets[self.n_queries]
        weighted_offsets, position, weight, rank, by_label = weighted
        self.n_weightings, self.n_weighted = weight.shape[0], weight.shape[1]
        self.weighted_offsets = integers(weighted_offsets)
        self.weighted_position = integers(position)
        self.weight = <const double*>cnp.PyArray_DATA(weight)
        self.weighted_rank = integers(rank)
        self.by_label = integers(by_label)
        self.most_weighted = largest_step(self.weighted_offsets, self.n_queries)
        if excluded is not None:
            self.excluded_offsets = integers(excluded[0])
            self.excluded_position = integers(excluded[1])
            self.excluded_before = integers(excluded[2])
            self.most_excluded = largest_step(self.excluded_offsets, self.n_queries)
        self.order = integers(order)
        self.one_order = order is not None and order.shape[0] != self.n_docs
        if sorted_lists is not None:
            self.sorted_lists = <const cnp.npy_bool*>cnp.PyArray_DATA(sorted_lists)
            for query in range(self.n_queries):
                if is_sorted(self, query):
                    self.most_words = max(self.most_words, tieaware_chunks_of(length(self, query)).n)
        if self.most_words > 0:
            is_known = weighted_at is not None
            if not is_known:
                weighted_at = np.empty(self.n_docs, np.uint16)
            self.weighted_at = <uint16_t*>cnp.PyArray_DATA(weighted_at)
            if not is_known:
                write_weighted_at(self)
        self.arrays = offsets, weighted, excluded, order, sorted_lists, weighted_at
        self.options = {"placement": placement, "depth": depth, "counting_limit": counting_limit}

    def __reduce__(self):
        offsets, weighted, excluded, order, sorted_lists, _ = self.arrays
        make = partial(PreparedLists, order=order, sorted_lists=sorted_lists, **self.options)
        return make, (offsets, weighted, excluded)

    def rows(self, Py_ssize_t first, Py_ssize_t last):
        """Return the lists first … last - 1 as PreparedLists, which share the arrays of all lists."""
        offsets, weighted, excluded, order, sorted_lists, weighted_at = self.arrays
        documents = slice(offsets[first], offsets[last])
        return PreparedLists(
            offsets[first:last + 1] - offsets[first],
            (weighted[0][first:last + 1], *weighted[1:]),
            None if excluded is None else (excluded[0][first:last + 1], *excluded[1:]),
            order=order if order is None or self.one_order else order[documents],
            sorted_lists=None if sorted_lists is None else sorted_lists[first:last],
            weighted_at=None if weighted_at is None else weighted_at[documents],
            **self.options,
        )

    cdef Groups* new_groups(self) noexcept:
        """Return newly allocated groups, large enough for any query; the caller frees them. NULL if that fails."""
        cdef Py_ssize_t n = self.most_weighted + 1
        cdef Groups* groups = <Groups*>malloc(sizeof(Groups) + (2 + self.n_weightings) * n * 8)
        if groups == NULL:
            return NULL
        groups.stride = n
        groups.start = <int64_t*>(groups + 1)
        groups.size = groups.start + n
        groups.weight = <double*>(groups.size + n)
        groups.condensed = NULL
        return groups

    cdef GroupingScratch* new_scratch(self, Interruption* interruption) noexcept:
        """Return newly allocated working memory to group any query; the caller frees it. NULL if that fails."""
        cdef Py_ssize_t n = self.most_weighted + 1
        cdef Py_ssize_t words = 11 * n + 2 + LANES + self.most_excluded + 2 * self.most_words
        cdef GroupingScratch* scratch = <GroupingScratch*>malloc(sizeof(GroupingScratch) + words * 8)
        if scratch == NULL:
            return NULL
        scratch.greater = <int64_t*>(scratch + 1)
        scratch.equal = scratch.greater + n
        scratch.group = scratch.equal + n
        scratch.first = scratch.group + n
        scratch.taken = scratch.first + n
        scratch.document = scratch.taken + n
        scratch.merged = scratch.document + n
        scratch.histogram = scratch.merged + n
        scratch.value = <double*>(scratch.histogram + 2 * n + 2)
        # `assign_many` reads LANES scores at a time, and so up to LANES scores beyond the last.
        scratch.score = scratch.value + n
        scratch.excluded = <void*>(scratch.score + n + LANES)
        scratch.words = <int64_t*>(scratch.score + n + LANES) + self.most_excluded
        scratch.spare = scratch.words + self.most_words
        scratch.interruption = interruption
        return scratch


cdef inline int64_t limit_of(PreparedLists self, Py_ssize_t query, Py_ssize_t n) noexcept nogil:
    """Return how many higher scores a document of a list of n must have above it for no measure to look at it.

    Some of the higher scores may belong to excluded documents, so their number is added. For a short list, return
    NO_LIMIT.
    """
    return self.depth + n_excluded(self, query) if n > SHORT else NO_LIMIT


cdef void write_weighted_at(PreparedLists self) noexcept:
    """For each list to sort and each place in the order of tied documents, write which weighted document is there."""
    cdef const int64_t* place = self.weighted_rank if self.placement == IN_ORDER else self.weighted_position
    cdef Py_ssize_t query, i, first, n
    cdef uint16_t* weighted_at
    for query in range(self.n_queries):
        if not is_sorted(self, query):
            continue
        first, weighted_at = self.weighted_offsets[query], self.weighted_at + self.offsets[query]
        n = self.weighted_offsets[query + 1] - first
        for i in range(length(self, query)):
            weighted_at[i] = <uint16_t>n
        for i in range(n):
            weighted_at[place[first + i]] = <uint16_t>i


cdef int64_t tally(PreparedLists self, const score_t* scores, Py_ssize_t n, GroupingScratch* scratch,
                   Py_ssize_t n_values, bint own, int64_t limit, int64_t* greater, int64_t* equal) noexcept nogil:
    """For each distinct score in `scratch`, count the scores[:n] above it and equal to it; return the number of NaNs.

    Uses counting or locating, whichever is cheaper. For a distinct score with `limit` or more scores above it,
    `greater` is only known to be at least `limit`. `own` is true if each distinct score occurs among scores[:n].
    """
    if n_values <= self.counting_limit:
        if own:
            return count_own(scores, n, scratch.value, n_values, limit, greater, equal, scratch.interruption)
        return count(scores, n, scratch.value, n_values, limit, greater, equal, scratch.interruption)
    return locate(scores, n, scratch.value, n_values, scratch.histogram, greater, equal, scratch.interruption)


cdef Py_ssize_t gather_excluded(PreparedLists self, Py_ssize_t query, const score_t* scores,
                                GroupingScratch* scratch) noexcept nogil:
    """Write the scores of the query's excluded documents, in the order of tied documents; return how many there are."""
    cdef const int64_t* position
    cdef score_t* excluded = <score_t*>scratch.excluded
    cdef Py_ssize_t i, n = n_excluded(self, query)
    if n > 0:
        position = self.excluded_position + self.excluded_offsets[query]
        for i in range(n):
            excluded[i] = scores[position[i]]
    return n


cdef int64_t subtract_excluded(PreparedLists self, Py_ssize_t query, const score_t* scores, Py_ssize_t n_values,
                               GroupingScratch* scratch) noexcept nogil:
    """Subtract the excluded documents from the counts; return how many of their scores are NaN."""
    cdef int64_t left = length(self, query)
    # The arrays `first` and `taken` are not in use yet, so they serve as working memory here.
    cdef int64_t* greater = scratch.first
    cdef int64_t* equal = scratch.taken
    cdef Py_ssize_t i, n = gather_excluded(self, query, scores, scratch)
    cdef int64_t nan
    if n == 0:
        return 0
    nan = tally(self, <const score_t*>scratch.excluded, n, scratch, n_values, False, NO_LIMIT, greater, equal)
    for i in range(n_values):
        # Clamp the counts: if another thread changes the scores during the call, the results are arbitrary, but no
        # group may extend beyond the list, or kernels would read outside of their lookup arrays.
        scratch.greater[i] = max(min(scratch.greater[i] - greater[i], left), 0)
        scratch.equal[i] = max(min(scratch.equal[i] - equal[i], left - scratch.greater[i]), 0)
    return nan


cdef bint group(PreparedLists self, Py_ssize_t query, const score_t* scores, Groups* groups,
                GroupingScratch* scratch) noexcept nogil:
    cdef Py_ssize_t n = self.offsets[query + 1] - self.offsets[query]
    cdef Py_ssize_t first = self.weighted_offsets[query]
    cdef Py_ssize_t n_weighted = self.weighted_offsets[query + 1] - first
    cdef const int64_t* position = self.weighted_position + first
    cdef Py_ssize_t i, n_values
    cdef int64_t nan, limit
    cdef Sorted outcome
    scratch.untied = False
    if is_sorted(self, query):
        outcome = sort_list(self, query, scores, n, first, n_weighted, groups, scratch)
        if outcome != TOO_CLOSE:
            return outcome == GROUPED
    for i in range(n_weighted):
        scratch.score[i] = scores[position[i]]
    if self.placement == IN_ORDER and self.order == NULL and n_weighted <= self.counting_limit:
        return rank_few(self, query, scores, n, first, n_weighted, groups, scratch)
    if n_weighted <= LANES:
        n_values = assign_few(scratch.score, n_weighted, scratch.value, scratch.group)
    else:
        # Only the `depth` highest scores are kept: a weighted document below `depth` others is below every cut-off.
        n_values = distinct(scratch.value, highest(scratch.value, scratch.score, n_weighted, self.depth))
    limit = limit_of(self, query, n)
    nan = tally(self, scores, n, scratch, n_values, True, limit, scratch.greater, scratch.equal)
    n_values = drop_lowest(scratch, n_weighted, n_values, limit)
    nan -= subtract_excluded(self, query, scores, n_values, scratch)
    scratch.n_values = n_values
    if n_weighted > LANES:
        assign_many(scratch.score, n_weighted, scratch.value, n_values, scratch.group, scratch.interruption)
    if nan or scratch.interruption.error != NULL:
        return False
    if self.placement == AVERAGE:
        groups.count = n_values
        for i in range(n_values):
            groups.start[i] = scratch.greater[n_values - 1 - i]
            groups.size[i] = scratch.equal[n_values - 1 - i]
        add_weights(self, first, n_weighted, groups, scratch)
    else:
        split(self, query, scores, n, first, n_weighted, groups, scratch)
    return scratch.interruption.error == NULL


cdef Py_ssize_t drop_lowest(GroupingScratch* scratch, Py_ssize_t n_weighted, Py_ssize_t n_values,
                            int64_t limit) noexcept nogil:
    """Drop each distinct score with `limit` or more higher scores in the list; return how many remain."""
    cdef Py_ssize_t i, lowest = 0
    while lowest < n_values and scratch.greater[lowest] >= limit:
        lowest += 1
    if lowest == 0:
        return n_values
    for i in range(lowest, n_values):
        scratch.value[i - lowest] = scratch.value[i]
        scratch.greater[i - lowest] = scratch.greater[i]
        scratch.equal[i - lowest] = scratch.equal[i]
    # If there are more than LANES weighted documents, `assign_many` writes their groups later.
    if n_weighted <= LANES:
        for i in range(n_weighted):
            if scratch.group[i] >= n_values - lowest:
                scratch.group[i] = -1
    return n_values - lowest


cdef inline const int64_t* order_of(PreparedLists self, Py_ssize_t query) noexcept nogil:
    """Return the positions of a list in the order of tied documents; NULL if tied documents keep the list's order."""
    if self.order == NULL or self.one_order:
        return self.order
    return self.order + self.offsets[query]


cdef inline bint is_sorted(PreparedLists self, Py_ssize_t query) noexcept nogil:
    """Return whether a list is grouped by sorting: it was chosen for that, is short, and has no excluded documents."""
    return (self.sorted_lists != NULL and self.sorted_lists[query] and n_excluded(self, query) == 0
            and length(self, query) <= TIEAWARE_LONGEST_SORTED)


cdef Sorted sort_list(PreparedLists self, Py_ssize_t query, const score_t* scores, Py_ssize_t n, Py_ssize_t first,
                      Py_ssize_t n_weighted, Groups* groups, GroupingScratch* scratch) noexcept nogil:
    """Write the groups of one query by sorting its list; see sorting.h."""
    cdef bint ordered = self.placement == IN_ORDER
    cdef const int64_t* order = order_of(self, query) if ordered else NULL
    cdef const uint16_t* weighted_at = self.weighted_at + self.offsets[query]
    cdef int64_t bits = tieaware_place_bits(n)
    cdef int64_t nan, repeats
    cdef const int64_t* words
    if score_t is double:
        nan = tieaware_words_double(scores, order, n, bits, scratch.words)
    else:
        nan = tieaware_words_float(scores, order, n, bits, scratch.words)
    if nan:
        return UNORDERED
    words = tieaware_sort(sort_doubles, scratch.words, n, scratch.spare)
    repeats = tieaware_repeats(words, n, bits)
    if score_t is double:
        # Two different doubles can become equal when their last bits are replaced by the place in the list. Floats
        # cannot: when they are converted to doubles, these last bits carry no information.
        if repeats > 0 and tieaware_close(scores, order, words, n, bits):
            return TOO_CLOSE
    if ordered or repeats == 0:
        scratch.untied = True
        groups.count = tieaware_walk_documents(words, n, bits, weighted_at, n_weighted, self.depth, groups.start,
                                               scratch.document)
        copy_weights(self, first, groups, scratch)
    else:
        memset(scratch.group, -1, n_weighted * sizeof(int64_t))
        groups.count = tieaware_walk_groups(words, n, bits, weighted_at, n_weighted, self.depth, groups.start,
                                            groups.size, scratch.group)
        add_weights(self, first, n_weighted, groups, scratch)
    if self.placement == BEST_FIRST or self.placement == WORST_FIRST:
        restore_counts(groups, n_weighted, scratch)
        place_by_label(self, first, n_weighted, n, scratch, groups if self.placement == BEST_FIRST else NULL,
                       groups if self.placement == WORST_FIRST else NULL)
    return GROUPED


cdef void copy_weights(PreparedLists self, Py_ssize_t first, Groups* groups, GroupingScratch* scratch) noexcept nogil:
    """Write the size and the weights of groups that consist of one weighted document each."""
    cdef Py_ssize_t g, c
    cdef double* weight
    cdef const double* document_weight
    for g in range(groups.count):
        groups.size[g] = 1
    for c in range(self.n_weightings):
        weight = groups.weight + c * groups.stride
        document_weight = self.weight + c * self.n_weighted + first
        for g in range(groups.count):
            weight[g] = document_weight[scratch.document[g]]


cdef void add_weights(PreparedLists self, Py_ssize_t first, Py_ssize_t n_weighted, Groups* groups,
                      GroupingScratch* scratch) noexcept nogil:
    """Add up the weights of the weighted documents of each group."""
    cdef Py_ssize_t i, c
    cdef double* weight
    cdef const double* document_weight
    for c in range(self.n_weightings):
        weight = groups.weight + c * groups.stride
        document_weight = self.weight + c * self.n_weighted + first
        for i in range(groups.count):
            weight[i] = 0.0
        for i in range(n_weighted):
            if scratch.group[i] >= 0:
                weight[scratch.group[i]] += document_weight[i]


cdef void restore_counts(const Groups* tied, Py_ssize_t n_weighted, GroupingScratch* scratch) noexcept nogil:
    """Write `greater`, `equal` and `group` in `scratch` as counting would have written them for these tied groups."""
    cdef Py_ssize_t g, n = tied.count
    if scratch.untied:
        memset(scratch.group, -1, n_weighted * sizeof(int64_t))
        for g in range(n):
            scratch.group[scratch.document[g]] = g
    scratch.n_values = n
    for g in range(n):
        scratch.greater[n - 1 - g] = tied.start[g]
        scratch.equal[n - 1 - g] = tied.size[g]


cdef bint rank_few(PreparedLists self, Py_ssize_t query, const score_t* scores, Py_ssize_t n, Py_ssize_t first,
                   Py_ssize_t n_weighted, Groups* groups, GroupingScratch* scratch) noexcept nogil:
    """Find the ranks of a few weighted documents by comparing each of them with every score of the list.

    Tied documents keep the order of the list. Each weighted document becomes a group.
    """
    cdef int64_t* rank = scratch.greater
    cdef int64_t* rank_among_excluded = scratch.equal
    cdef int64_t* by_rank = scratch.group
    cdef Py_ssize_t i, j, c, n_out = n_excluded(self, query)
    cdef int64_t limit = limit_of(self, query, n)
    cdef int64_t nan = precede(scores, n, scratch.score, self.weighted_rank + first, n_weighted, limit, rank,
                               scratch.interruption)
    # Gather the excluded scores now: the pass over the list has just brought them into the processor's cache.
    if n_out > 0:
        gather_excluded(self, query, scores, scratch)
        nan -= precede(<const score_t*>scratch.excluded, n_out, scratch.score, self.excluded_before + first, n_weighted,
                       NO_LIMIT, rank_among_excluded, scratch.interruption)
        for i in range(n_weighted):
            rank[i] -= rank_among_excluded[i]
    if nan or scratch.interruption.error != NULL:
        return False
    for i in range(n_weighted):
        j = i
        # Invariant: the documents in by_rank before index i are sorted by rank, and by_rank[j] may be overwritten.
        while j > 0 and rank[by_rank[j - 1]] > rank[i]:
            by_rank[j] = by_rank[j - 1]
            j -= 1
        by_rank[j] = i
    while n > SHORT and n_weighted > 0 and rank[by_rank[n_weighted - 1]] >= self.depth:
        n_weighted -= 1
    groups.count = n_weighted
    for i in range(n_weighted):
        scratch.document[i] = by_rank[i]
        # Clamp: see subtract_excluded.
        groups.start[i] = max(min(rank[by_rank[i]], <int64_t>(n - n_out) - 1), 0)
        groups.size[i] = 1
        for c in range(self.n_weightings):
            groups.weight[c * groups.stride + i] = self.weight[c * self.n_weighted + first + by_rank[i]]
    return True


cdef void split(PreparedLists self, Py_ssize_t query, const score_t* scores, Py_ssize_t n, Py_ssize_t first,
                Py_ssize_t n_weighted, Groups* groups, GroupingScratch* scratch) noexcept nogil:
    """Make each weighted document a group of its own, at its place inside its tied group under the tie rule."""
    cdef const int64_t* order = order_of(self, query)
    cdef int64_t* place = scratch.histogram
    cdef int64_t* place_among_excluded = scratch.histogram + groups.stride
    cdef Py_ssize_t i, tied = 0, n_out = n_excluded(self, query)
    if self.placement == BEST_FIRST or self.placement == WORST_FIRST:
        place_by_label(self, first, n_weighted, n - n_out, scratch, groups if self.placement == BEST_FIRST else NULL,
                       groups if self.placement == WORST_FIRST else NULL)
        return
    for i in range(n_weighted):
        place[i] = place_among_excluded[i] = 0
        tied += is_tied(scratch, i)
    if tied > 0:
        find_places(scores, n, order, self.weighted_rank + first, n_weighted, tied <= self.counting_limit, scratch,
                    place)
        if n_out > 0:
            find_places(<const score_t*>scratch.excluded, n_out, NULL, self.excluded_before + first, n_weighted,
                        tied <= self.counting_limit, scratch, place_among_excluded)
    count_weighted(scratch, n_weighted)
    groups.count = scratch.first[scratch.n_values]
    for i in range(n_weighted):
        if scratch.group[i] >= 0:
            scratch.document[scratch.first[scratch.group[i]] + scratch.taken[scratch.group[i]]] = i
            put(self, first + i, scratch.group[i], scratch.taken[scratch.group[i]],
                place[i] - place_among_excluded[i] if is_tied(scratch, i) else 0, n - n_out, scratch, groups)
            scratch.taken[scratch.group[i]] += 1


cdef inline bint is_tied(const GroupingScratch* scratch, Py_ssize_t i) noexcept nogil:
    """Return whether weighted document i shares its group with another document."""
    return scratch.group[i] >= 0 and scratch.equal[scratch.n_values - 1 - scratch.group[i]] > 1


cdef void count_weighted(GroupingScratch* scratch, Py_ssize_t n_weighted) noexcept nogil:
    """Write to first[g] how many weighted documents are in the tied groups before g, and set taken[g] to 0."""
    cdef Py_ssize_t i, g
    memset(scratch.first, 0, (scratch.n_values + 1) * sizeof(int64_t))
    memset(scratch.taken, 0, scratch.n_values * sizeof(int64_t))
    for i in range(n_weighted):
        if scratch.group[i] >= 0:
            scratch.first[scratch.group[i] + 1] += 1
    for g in range(scratch.n_values):
        scratch.first[g + 1] += scratch.first[g]


cdef inline void put(PreparedLists self, Py_ssize_t document, Py_ssize_t g, int64_t nth, int64_t place, Py_ssize_t n,
                     const GroupingScratch* scratch, Groups* ordered) noexcept nogil:
    """Write a group that consists of one weighted document of tied group g.

    `place` is the number of documents of group g that are ranked above this document; `nth` is how many of them are
    weighted.
    """
    cdef Py_ssize_t c, slot = scratch.first[g] + nth
    # Clamp: see subtract_excluded.
    ordered.start[slot] = max(min(scratch.greater[scratch.n_values - 1 - g] + place, <int64_t>n - 1), 0)
    ordered.size[slot] = 1
    for c in range(self.n_weightings):
        ordered.weight[c * ordered.stride + slot] = self.weight[c * self.n_weighted + document]


cdef void place_by_label(PreparedLists self, Py_ssize_t first, Py_ssize_t n_weighted, Py_ssize_t n,
                         GroupingScratch* scratch, Groups* best, Groups* worst) noexcept nogil:
    """Make each weighted document a group of its own, in the best and in the worst order of tied documents.

    In `best`, the weighted documents come first in their tied group, by label, descending. In `worst`, they come last,
    by label, ascending. Either of the two may be NULL.
    """
    cdef Py_ssize_t nth, i, g
    cdef int64_t taken
    count_weighted(scratch, n_weighted)
    for nth in range(n_weighted):
        i = nth if self.by_label == NULL else self.by_label[first + nth] - first
        g = scratch.group[i]
        if g < 0:
            continue
        taken = scratch.taken[g]
        if best != NULL:
            put(self, first + i, g, taken, taken, n, scratch, best)
        if worst != NULL:
            put(self, first + i, g, scratch.first[g + 1] - scratch.first[g] - 1 - taken,
                scratch.equal[scratch.n_values - 1 - g] - 1 - taken, n, scratch, worst)
        scratch.taken[g] += 1
    if best != NULL:
        best.count = scratch.first[scratch.n_values]
    if worst != NULL:
        worst.count = scratch.first[scratch.n_values]


cdef void order_by_label(PreparedLists lists, Py_ssize_t query, const Groups* tied, GroupingScratch* scratch,
                         Groups* best, Groups* worst) noexcept nogil:
    cdef Py_ssize_t first = lists.weighted_offsets[query], n_weighted = lists.weighted_offsets[query + 1] - first
    restore_counts(tied, n_weighted, scratch)
    place_by_label(lists, first, n_weighted, length(lists, query), scratch, best, worst)


cdef void order_bands_by_label(PreparedLists lists, Py_ssize_t query, Py_ssize_t n_ranked, const Groups* banded,
                               GroupingScratch* scratch, Groups* best, Groups* worst) noexcept nogil:
    cdef Py_ssize_t first = lists.weighted_offsets[query], n_weighted = lists.weighted_offsets[query + 1] - first, g
    scratch.untied = False
    memset(scratch.group, -1, n_weighted * sizeof(int64_t))
    for g in range(n_ranked):
        scratch.group[scratch.document[g]] = scratch.merged[g]
    restore_counts(banded, n_weighted, scratch)
    place_by_label(lists, first, n_weighted, length(lists, query), scratch, best, worst)


cdef void find_places(const score_t* scores, Py_ssize_t n, const int64_t* order, const int64_t* rank,
                      Py_ssize_t n_weighted, bint few, GroupingScratch* scratch, int64_t* place) noexcept nogil:
    """Write to place[i] how many of the first rank[i] documents in the order have the score of weighted document i.

    The place of a weighted document without ties is not needed and may be left unwritten.
    """
    cdef Py_ssize_t i
    if not few:
        place_by_sweeping(scores, n, order, rank, n_weighted, scratch, place)
        return
    for i in range(n_weighted):
        if is_tied(scratch, i):
            place[i] = count_equal(scores, order, rank[i], scratch.score[i], scratch.interruption)


cdef void place_by_sweeping(const score_t* scores, Py_ssize_t n, const int64_t* order, const int64_t* rank,
                            Py_ssize_t n_weighted, GroupingScratch* scratch, int64_t* place) noexcept nogil:
    """Do the work of `find_places` in one walk along the order. met[v] counts the documents so far with score v."""
    cdef int64_t below[LANES]
    cdef score_t lanes[LANES]
    cdef Py_ssize_t i, width, at = 0, document = 0, n_values = scratch.n_values
    # The array `taken` is not in use yet, so it serves as working memory here. A document in no group has the group -1
    # and reads met[n_values], which stays 0.
    cdef int64_t* met = scratch.taken
    memset(met, 0, (n_values + 1) * sizeof(int64_t))
    while at < n:
        width = min(<Py_ssize_t>LANES, n - at)
        for i in range(LANES):
            if order == NULL:
                lanes[i] = scores[at + min(i, width - 1)]
            else:
                lanes[i] = scores[order[at + min(i, width - 1)]]
        find(lanes, scratch.value, n_values, below)
        for i in range(width):
            while document < n_weighted and rank[document] == at + i:
                place[document] = met[n_values - 1 - scratch.group[document]]
                document += 1
            if below[i] < n_values and scratch.value[below[i]] == lanes[i]:
                met[below[i]] += 1
        at += width
        if at % CHUNK == 0 and interrupted(scratch.interruption, 64 * CHUNK):
            return
    while document < n_weighted:
        place[document] = met[n_values - 1 - scratch.group[document]]
        document += 1
