"""The lists of all queries, prepared for any number of scorings, and working memory to group their scores."""
from functools import partial

import numpy as np
from libc.stdint cimport int64_t, uint16_t
from libc.stdlib cimport malloc

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._counting cimport LANES
from tieaware.kernels._interruption cimport Interruption
from tieaware.kernels._sorting cimport tieaware_chunks_of

cnp.import_array()


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
    first_group : bool
        For AVERAGE: whether no measure looks at groups after the first one.
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
                 Py_ssize_t counting_limit, bint first_group=False, cnp.ndarray order=None,
                 cnp.ndarray sorted_lists=None, cnp.ndarray weighted_at=None):
        cdef cnp.ndarray weighted_offsets, position, weight
        cdef Py_ssize_t query
        cdef bint is_known
        self.placement, self.depth, self.counting_limit = placement, depth, counting_limit
        self.first_group = first_group
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
                    # These words are twice as many as narrow words, and have twice as many bits.
                    self.most_words = max(self.most_words, tieaware_chunks_of(length(self, query)).n)
        if self.most_words > 0:
            is_known = weighted_at is not None
            if not is_known:
                weighted_at = np.empty(self.n_docs, np.uint16)
            self.weighted_at = <uint16_t*>cnp.PyArray_DATA(weighted_at)
            if not is_known:
                write_weighted_at(self)
        self.arrays = offsets, weighted, excluded, order, sorted_lists, weighted_at
        self.options = {
            "placement": placement, "depth": depth, "counting_limit": counting_limit, "first_group": first_group,
        }

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

    cdef Groups* new_groups(self) noexcept nogil:
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

    cdef GroupingScratch* new_scratch(self, Interruption* interruption) noexcept nogil:
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
