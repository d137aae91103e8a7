"""The lists of all queries, prepared for any number of scorings, and working memory to group their scores."""
from functools import partial

import numpy as np
from libc.stdint cimport int64_t, uint16_t, uint64_t
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
    spread : bool
        For AVERAGE: whether the documents of tied groups will be ordered by label.
    counting_limit : int
        For lists whose weighted documents have more distinct scores than this, locating is used instead of counting.
    order : int64[n_docs], optional
        For IN_ORDER: for each list, the positions of its documents, sorted in the order of tied documents. By default,
        tied documents keep the order of the list. An array of a length other than n_docs applies to every list. (For
        BEST_FIRST and WORST_FIRST, the orders of the lists to sort are computed here.)
    sorted_lists : bool[n_queries], optional
        Which lists to sort, provided that they are short enough and have no excluded documents; by default none.
    sorting : tuple, optional
        For `rows` only: arrays that were already computed for these lists. By default, they are computed here.
    """

    def __init__(self, cnp.ndarray offsets not None, weighted not None, excluded=None, *, int placement, int64_t depth,
                 Py_ssize_t counting_limit, bint first_group=False, bint spread=False, cnp.ndarray order=None,
                 cnp.ndarray sorted_lists=None, tuple sorting=None):
        cdef cnp.ndarray weighted_offsets, position, weight
        cdef Py_ssize_t query
        self.placement, self.depth, self.counting_limit = placement, depth, counting_limit
        self.first_group, self.spread = first_group, spread
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
            if sorting is None:
                sorting = self.prepare_sorting()
            self.use_sorting(sorting)
        self.arrays = offsets, weighted, excluded, order, sorted_lists, sorting
        self.options = {
            "placement": placement, "depth": depth, "counting_limit": counting_limit, "first_group": first_group,
            "spread": spread,
        }

    def __reduce__(self):
        offsets, weighted, excluded, order, sorted_lists, _ = self.arrays
        make = partial(PreparedLists, order=order, sorted_lists=sorted_lists, **self.options)
        return make, (offsets, weighted, excluded)

    def rows(self, Py_ssize_t first, Py_ssize_t last):
        """Return the lists first … last - 1 as PreparedLists, which share the arrays of all lists."""
        offsets, weighted, excluded, order, sorted_lists, sorting = self.arrays
        documents = slice(offsets[first], offsets[last])
        if sorting is not None:
            label_order, weighted_at, packs, fields = sorting
            label_order = None if label_order is None else label_order[documents]
            packs = None if packs is None else packs[documents]
            sorting = label_order, weighted_at[documents], packs, fields
        return PreparedLists(
            offsets[first:last + 1] - offsets[first],
            (weighted[0][first:last + 1], *weighted[1:]),
            None if excluded is None else (excluded[0][first:last + 1], *excluded[1:]),
            order=order if order is None or self.one_order else order[documents],
            sorted_lists=None if sorted_lists is None else sorted_lists[first:last],
            sorting=sorting,
            **self.options,
        )

    def prepare_sorting(self):
        """Return the orders by label, `weighted_at`, `packs` and `fields`; None for those that are not needed."""
        weighted_at = np.empty(self.n_docs, np.uint16)
        label_order = None
        if self.placement == BEST_FIRST or self.placement == WORST_FIRST or self.spread:
            label_order = np.empty(self.n_docs, np.int64)
            write_label_order(self, <uint16_t*>cnp.PyArray_DATA(weighted_at),
                              <int64_t*>cnp.PyArray_DATA(label_order))
        write_weighted_at(self, <uint16_t*>cnp.PyArray_DATA(weighted_at))
        packs, fields = pack_weights(self) if self.placement == AVERAGE else (None, None)
        return label_order, weighted_at, packs, fields

    cdef int use_sorting(self, tuple sorting) except -1:
        cdef cnp.ndarray label_order, weighted_at, packs, fields
        label_order, weighted_at, packs, fields = sorting
        if label_order is not None:
            self.order = integers(label_order)
        self.weighted_at = <uint16_t*>cnp.PyArray_DATA(weighted_at)
        if packs is not None:
            self.packs = <const uint64_t*>cnp.PyArray_DATA(packs)
            self.fields = <const Field*>cnp.PyArray_DATA(fields)
            self.packed = fields.shape[0] == self.n_weightings + 1
            self.count_bits = self.fields[0].bits
        return 0

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
        cdef Py_ssize_t words = 12 * n + 2 + LANES + self.most_excluded + 5 * self.most_words
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
        scratch.total = <uint64_t*>(scratch.merged + n)
        scratch.histogram = scratch.merged + 2 * n
        scratch.value = <double*>(scratch.histogram + 2 * n + 2)
        # `assign_many` reads LANES scores at a time, and so up to LANES scores beyond the last.
        scratch.score = scratch.value + n
        scratch.excluded = <void*>(scratch.score + n + LANES)
        scratch.words = <int64_t*>(scratch.score + n + LANES) + self.most_excluded
        scratch.spare = scratch.words + self.most_words
        scratch.keys = scratch.spare + self.most_words
        scratch.ends = scratch.keys + self.most_words
        scratch.sums = <uint64_t*>(scratch.ends + self.most_words)
        scratch.numbering = scratch.ranked = False
        scratch.interruption = interruption
        return scratch


cdef void write_label_order(PreparedLists self, uint16_t* is_weighted, int64_t* label_order) noexcept:
    """For each list to sort, write the positions of its documents in the order of tied documents by label.

    For BEST_FIRST and a spread, these are the weighted documents by label, descending, then the others; for
    WORST_FIRST, the reverse. `is_weighted` is working memory for a number for each document.
    """
    cdef const int64_t* position
    cdef const int64_t* offset = self.weighted_offsets
    cdef Py_ssize_t query, i, at, last, step
    for query in range(self.n_queries):
        if not is_sorted(self, query):
            continue
        position, last = self.weighted_position + offset[query], length(self, query) - 1
        for i in range(last + 1):
            is_weighted[i] = False
        at = last if self.placement == WORST_FIRST else 0
        step = -1 if self.placement == WORST_FIRST else 1
        for i in range(offset[query + 1] - offset[query]):
            is_weighted[position[i]] = True
            label_order[self.offsets[query] + at] = position[i]
            at += step
        for i in range(last + 1):
            if not is_weighted[i]:
                label_order[self.offsets[query] + at] = i
                at += step


cdef inline int64_t place_of(PreparedLists self, Py_ssize_t query, Py_ssize_t i) noexcept:
    """Return the place of the i-th weighted document of a list in the order of tied documents."""
    cdef Py_ssize_t document = self.weighted_offsets[query] + i
    if self.placement == WORST_FIRST:
        return length(self, query) - 1 - i
    if self.placement == BEST_FIRST or self.spread:
        return i
    return self.weighted_rank[document] if self.placement == IN_ORDER else self.weighted_position[document]


cdef void write_weighted_at(PreparedLists self, uint16_t* weighted_at) noexcept:
    """For each list to sort and each place in the order of tied documents, write which weighted document is there."""
    cdef Py_ssize_t query, i, n
    for query in range(self.n_queries):
        if not is_sorted(self, query):
            continue
        n = self.weighted_offsets[query + 1] - self.weighted_offsets[query]
        for i in range(length(self, query)):
            weighted_at[self.offsets[query] + i] = <uint16_t>n
        for i in range(n):
            weighted_at[self.offsets[query] + place_of(self, query, i)] = <uint16_t>i


cdef tuple pack_weights(PreparedLists self):
    """Return `packs`, and the fields of its numbers: of the first number, then of each weighting.

    If the weights do not fit into packs, there is only the first number.
    """
    cdef cnp.ndarray fields = np.empty((self.n_weightings + 1, sizeof(Field)), np.uint8)
    cdef cnp.ndarray packs = np.zeros(self.n_docs, np.uint64)
    cdef Field* field = <Field*>cnp.PyArray_DATA(fields)
    cdef uint64_t* pack = <uint64_t*>cnp.PyArray_DATA(packs)
    cdef Py_ssize_t c, query, i, at, first, n_fields = self.n_weightings + 1
    cdef int used = 0
    for c in range(self.n_weightings + 1):
        field[c].shift = used
        field[c].bits = bits_of_sums(self, self.weight + (c - 1) * self.n_weighted if c > 0 else NULL)
        while used < 64 and field[c].bits >> (used - field[c].shift):
            used += 1
        if field[c].bits == 0 or field[c].bits >> (used - field[c].shift):
            n_fields = 1
            break
    for query in range(self.n_queries):
        if is_sorted(self, query):
            first = self.weighted_offsets[query]
            for i in range(self.weighted_offsets[query + 1] - first):
                at = self.offsets[query] + place_of(self, query, i)
                pack[at] = 1
                for c in range(1, n_fields):
                    pack[at] |= <uint64_t>self.weight[(c - 1) * self.n_weighted + first + i] << field[c].shift
    return packs, fields[:n_fields]


cdef uint64_t bits_of_sums(PreparedLists self, const double* weight) noexcept:
    """Return a number with all bits that sums of weights over a sorted list can have; without weights, each is 1.

    Return 0 if a weight is not a whole number, or if a sum has more than 31 bits.
    """
    cdef double total, each
    cdef uint64_t bits = 1
    cdef Py_ssize_t query, i
    for query in range(self.n_queries):
        if not is_sorted(self, query):
            continue
        total = 0.0
        for i in range(self.weighted_offsets[query], self.weighted_offsets[query + 1]):
            each = weight[i] if weight != NULL else 1.0
            if not 0.0 <= each < 2147483648.0 or each != <int64_t>each:
                return 0
            total += each
        if total >= 2147483648.0:
            return 0
        while bits < total:
            bits = 2 * bits + 1
    return bits
