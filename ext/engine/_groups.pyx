"""Scores into groups: the tied groups of a query that hold a key document, mostly without sorting the list.

A *key* is a document that weighs something to some measure: a relevant one, mostly. A measure needs the start, the
size and the weight of the groups that hold a key, and nothing else. So, for each query:

1. take the keys' scores and sort their distinct values (few);
2. count, for each value, the documents above and equal: one pass over the list;
3. add up the keys' weights by group; or, for a rule that orders the documents inside a tie, give each key a group of
   its own.

Step 2 has two engines that give the same integers: comparing every score with every value, which vectorises, and
finding every score among the sorted values, which does not, but grows with their logarithm. Where so many documents are
keys that a sort costs less, a third engine sorts the list, and finds the same groups by walking along it. Which lists
those are is decided ahead, in preparation.py.

Documents may be excluded: they are in the list of scores, but not in the ranking. They are counted as a list of their
own, few, by the same functions, and their counts are taken off.
"""
cimport numpy as cnp
import numpy as np
from libc.stdint cimport int64_t, uint16_t
from libc.stdlib cimport malloc
from libc.string cimport memset

from tieaware.kernels._counting cimport (
    LANES, PIECE, assign_few, assign_many, count, count_equal, count_own, find, locate, precede, score_t,
)
from tieaware.kernels._interruption cimport Interruption, interrupted
from tieaware.kernels._sorting cimport (
    TIEAWARE_LONGEST_SORTED, distinct, highest, sort_doubles, tieaware_blocks_of, tieaware_close, tieaware_place_bits,
    tieaware_repeats, tieaware_sort, tieaware_walk_documents, tieaware_walk_groups, tieaware_words_double,
    tieaware_words_float,
)

cnp.import_array()

# How a tie rule places the documents inside a tie; ties.py takes them from here.
cpdef enum:
    AVERAGE = 0
    IN_ORDER = 1
    BEST_FIRST = 2
    WORST_FIRST = 3

# What became of a list that was to be sorted: a score is NaN, or two are too close to tell apart in a word.
cdef enum Sorted:
    GROUPED
    UNORDERED
    TOO_CLOSE

# Counting may stop between blocks; in shorter lists there is nothing to gain.
cdef enum:
    SHORT = 2048

# More than there are documents.
cdef int64_t NO_LIMIT = 0x7fffffffffffffff


cdef const int64_t* integers(cnp.ndarray array) except? NULL:
    """What an array of int64 holds, which lives as long as it; NULL for None."""
    return <const int64_t*>cnp.PyArray_DATA(array) if array is not None else NULL


cdef class PreparedLists:
    """The lists of all queries, prepared: everything about them that does not depend on the scores.

    Parameters are C-contiguous arrays that the caller has checked: bool sorted_lists[n_queries], which lists to sort if
    they are short enough and wholly ranked (None: none); int64 offsets[n_queries + 1] of the lists,
    key_offsets[n_queries + 1], key_position[n_keys] (of each key in its list, none twice), float64
    key_weight[n_weights, n_keys], and for a rule that orders the documents inside a tie: key_rank[n_keys], the key's
    place in that order, with the keys of a query ascending in it, and order[n_docs], the positions in that order (None:
    the order of the list); an order of another length is that of every list. For "optimistic", "pessimistic" and the
    spread the keys of a query lie by label, descending. `depth` is a rank below which no measure looks.

    Where documents are excluded: excluded_offsets[n_queries + 1], excluded_position[n_excluded], in the order inside a
    tie, none of them a key; and for a rule that has such an order key_excluded[n_keys], how many excluded documents of
    its query come before the key in it.

    Prepared lists are immutable.
    """

    def __init__(self, int rule, int64_t depth, Py_ssize_t counting_limit, cnp.ndarray sorted_lists,
                 cnp.ndarray offsets not None, cnp.ndarray key_offsets not None, cnp.ndarray key_position not None,
                 cnp.ndarray key_weight not None, cnp.ndarray key_rank=None, cnp.ndarray order=None,
                 cnp.ndarray excluded_offsets=None, cnp.ndarray excluded_position=None,
                 cnp.ndarray key_excluded=None, cnp.ndarray key_at=None):
        cdef Py_ssize_t query, longest = 0
        self.arrays = (rule, depth, counting_limit, sorted_lists, offsets, key_offsets, key_position, key_weight,
                       key_rank, order, excluded_offsets, excluded_position, key_excluded)
        self.rule = rule
        self.depth = depth
        self.counting_limit = counting_limit
        self.sorted_lists = <const cnp.npy_bool*>cnp.PyArray_DATA(sorted_lists) if sorted_lists is not None else NULL
        self.n_queries = offsets.shape[0] - 1
        self.n_weights = key_weight.shape[0]
        self.n_keys = key_weight.shape[1]
        self.offsets = <const int64_t*>cnp.PyArray_DATA(offsets)
        self.key_offsets = <const int64_t*>cnp.PyArray_DATA(key_offsets)
        self.key_position = <const int64_t*>cnp.PyArray_DATA(key_position)
        self.key_weight = <const double*>cnp.PyArray_DATA(key_weight)
        self.key_rank = integers(key_rank)
        self.order = integers(order)
        self.excluded_offsets = integers(excluded_offsets)
        self.excluded_position = integers(excluded_position)
        self.key_excluded = integers(key_excluded)
        self.n_docs = self.offsets[self.n_queries]
        self.one_order = order is not None and order.shape[0] != self.n_docs
        for query in range(self.n_queries):
            longest = max(longest, self.key_offsets[query + 1] - self.key_offsets[query])
        self.most_keys = longest
        longest = 0
        for query in range(self.n_queries):
            longest = max(longest, n_excluded(self, query))
        self.most_excluded = longest
        for query in range(self.n_queries):
            if is_sorted(self, query):
                self.longest_sorted = max(self.longest_sorted, tieaware_blocks_of(length(self, query)).n)
        self.key_at_array = key_at
        if self.longest_sorted > 0:
            if key_at is None:
                self.key_at_array = np.empty(self.n_docs, np.uint16)
            self.key_at = <uint16_t*>cnp.PyArray_DATA(<cnp.ndarray>self.key_at_array)
            if key_at is None:
                find_keys(self)

    def __reduce__(self):
        return PreparedLists, self.arrays

    def rows(self, Py_ssize_t first, Py_ssize_t last):
        """The lists first … last-1, which share all but where they start."""
        (rule, depth, counting_limit, sorted_lists, offsets, key_offsets, key_position, key_weight, key_rank, order,
         excluded_offsets, excluded_position, key_excluded) = self.arrays
        if sorted_lists is not None:
            sorted_lists = sorted_lists[first:last]
        if order is not None and not self.one_order:
            order = order[offsets[first]:offsets[last]]
        key_at = self.key_at_array[offsets[first]:offsets[last]] if self.key_at_array is not None else None
        if excluded_offsets is not None:
            excluded_offsets = excluded_offsets[first:last + 1]
        return PreparedLists(
            rule, depth, counting_limit, sorted_lists, offsets[first:last + 1] - offsets[first],
            key_offsets[first:last + 1], key_position, key_weight, key_rank, order, excluded_offsets, excluded_position,
            key_excluded, key_at,
        )

    cdef Groups* scratch(self) except NULL:
        """Memory for the groups of any query: one block, to be freed by the caller."""
        cdef Py_ssize_t n = self.most_keys + 1
        cdef Py_ssize_t words = 12 * n + 2 + LANES + self.n_weights * n + self.most_excluded + 2 * self.longest_sorted
        cdef char* block = <char*>malloc(sizeof(Groups) + words * 8)
        cdef Groups* groups = <Groups*>block
        cdef int64_t* ints = <int64_t*>(block + sizeof(Groups))
        if block == NULL:
            raise MemoryError("no memory to group the scores")
        groups.stride = n
        groups.start = ints
        groups.size = ints + n
        groups.greater = ints + 2 * n
        groups.equal = ints + 3 * n
        groups.group = ints + 4 * n
        groups.first = ints + 5 * n
        groups.taken = ints + 6 * n
        groups.histogram = ints + 7 * n
        groups.value = <double*>(ints + 9 * n + 2)
        groups.key_score = <double*>(ints + 10 * n + 2)
        groups.key = ints + 11 * n + 2 + LANES
        groups.weight = <double*>(ints + 12 * n + 2 + LANES)
        groups.excluded = <void*>(groups.weight + self.n_weights * n)
        groups.words = <int64_t*>(groups.weight + self.n_weights * n) + self.most_excluded
        groups.spare = groups.words + self.longest_sorted
        groups.condensed = NULL
        return groups

    cdef inline int64_t limit(self, Py_ssize_t query, Py_ssize_t n) noexcept nogil:
        """How many of a list of n must come before a document that no measure looks at; a short list is counted whole.

        No more of them than the excluded have no rank.
        """
        return self.depth + n_excluded(self, query) if n > SHORT else NO_LIMIT

    cdef bint group_double(self, Py_ssize_t query, const double* scores, Groups* groups) noexcept nogil:
        return group[double](self, query, scores, groups)

    cdef bint group_float(self, Py_ssize_t query, const float* scores, Groups* groups) noexcept nogil:
        return group[float](self, query, scores, groups)


cdef void find_keys(PreparedLists self) noexcept:
    """Write which key each document of the lists to sort is, by its place in the order of the sort."""
    cdef const int64_t* place = self.key_rank if self.rule == IN_ORDER else self.key_position
    cdef Py_ssize_t query, i, first, n
    cdef uint16_t* key_at
    for query in range(self.n_queries):
        if not is_sorted(self, query):
            continue
        first, key_at = self.key_offsets[query], self.key_at + self.offsets[query]
        n = self.key_offsets[query + 1] - first
        for i in range(length(self, query)):
            key_at[i] = <uint16_t>n
        for i in range(n):
            key_at[place[first + i]] = <uint16_t>i


cdef int64_t tally(PreparedLists self, const score_t* scores, Py_ssize_t n, Groups* groups, Py_ssize_t n_values,
                   bint own, int64_t limit, int64_t* greater, int64_t* equal) noexcept nogil:
    """Count scores[:n] above and equal to each of the groups' values, by the cheaper engine; return the NaNs.

    Of a value with `limit` scores above or more, greater says no more than that. `own`: each value is a score of them.
    """
    if n_values <= self.counting_limit:
        if own:
            return count_own(scores, n, groups.value, n_values, limit, greater, equal, groups.interruption)
        return count(scores, n, groups.value, n_values, limit, greater, equal, groups.interruption)
    return locate(scores, n, groups.value, n_values, groups.histogram, greater, equal, groups.interruption)


cdef Py_ssize_t gather_excluded(PreparedLists self, Py_ssize_t query, const score_t* scores,
                                Groups* groups) noexcept nogil:
    """Write the scores of the query's excluded documents, in the order inside a tie, and return how many."""
    cdef const int64_t* position
    cdef score_t* excluded = <score_t*>groups.excluded
    cdef Py_ssize_t i, n = n_excluded(self, query)
    if n > 0:
        position = self.excluded_position + self.excluded_offsets[query]
        for i in range(n):
            excluded[i] = scores[position[i]]
    return n


cdef int64_t take_off_excluded(PreparedLists self, Py_ssize_t query, const score_t* scores, Py_ssize_t n_values,
                               Groups* groups) noexcept nogil:
    """Take the excluded documents off the counts; return the NaNs among them."""
    cdef int64_t left = length(self, query)
    # Where the groups will be is free until they are made.
    cdef int64_t* greater = groups.start
    cdef int64_t* equal = groups.size
    cdef Py_ssize_t i, n = gather_excluded(self, query, scores, groups)
    cdef int64_t nan
    if n == 0:
        return 0
    nan = tally(self, <const score_t*>groups.excluded, n, groups, n_values, False, NO_LIMIT, greater, equal)
    for i in range(n_values):
        # Another thread may change the scores meanwhile: the values are then anything, but no group leaves the list.
        groups.greater[i] = max(min(groups.greater[i] - greater[i], left), 0)
        groups.equal[i] = max(min(groups.equal[i] - equal[i], left - groups.greater[i]), 0)
    return nan


cdef bint group(PreparedLists self, Py_ssize_t query, const score_t* scores, Groups* groups) noexcept nogil:
    """Write the groups of one query, whose list is scores[:n].

    False if a score is NaN that is not excluded, or if it was interrupted.
    """
    cdef Py_ssize_t n = self.offsets[query + 1] - self.offsets[query]
    cdef Py_ssize_t first_key = self.key_offsets[query]
    cdef Py_ssize_t n_keys = self.key_offsets[query + 1] - first_key
    cdef const int64_t* position = self.key_position + first_key
    cdef Py_ssize_t i, n_values
    cdef int64_t nan, limit
    cdef Sorted outcome
    groups.untied = False
    if is_sorted(self, query):
        outcome = sort_list(self, query, scores, n, first_key, n_keys, groups)
        if outcome != TOO_CLOSE:
            return outcome == GROUPED
    for i in range(n_keys):
        groups.key_score[i] = scores[position[i]]
    if self.rule == IN_ORDER and self.order == NULL and n_keys <= self.counting_limit:
        return rank_few(self, query, scores, n, first_key, n_keys, groups)
    if n_keys <= LANES:
        n_values = assign_few(groups.key_score, n_keys, groups.value, groups.group)
    else:
        # A key below `depth` other keys lies below every cut-off.
        n_values = distinct(groups.value, highest(groups.value, groups.key_score, n_keys, self.depth))
    limit = self.limit(query, n)
    nan = tally(self, scores, n, groups, n_values, True, limit, groups.greater, groups.equal)
    n_values = drop_lowest(groups, n_keys, n_values, limit)
    nan -= take_off_excluded(self, query, scores, n_values, groups)
    groups.n_values = n_values
    if n_keys > LANES:
        assign_many(groups.key_score, n_keys, groups.value, n_values, groups.group, groups.interruption)
    if nan or groups.interruption.error != NULL:
        return False
    if self.rule == AVERAGE:
        merge(self, first_key, n_keys, n_values, groups)
    else:
        split(self, query, scores, n, first_key, n_keys, n_values, groups)
    return groups.interruption.error == NULL


cdef Py_ssize_t drop_lowest(Groups* groups, Py_ssize_t n_keys, Py_ssize_t n_values, int64_t limit) noexcept nogil:
    """Leave out the values with `limit` scores above or more; return how many are left."""
    cdef Py_ssize_t i, lowest = 0
    while lowest < n_values and groups.greater[lowest] >= limit:
        lowest += 1
    if lowest == 0:
        return n_values
    for i in range(lowest, n_values):
        groups.value[i - lowest] = groups.value[i]
        groups.greater[i - lowest] = groups.greater[i]
        groups.equal[i - lowest] = groups.equal[i]
    # Of many keys, the groups are still to be assigned.
    if n_keys <= LANES:
        for i in range(n_keys):
            if groups.group[i] >= n_values - lowest:
                groups.group[i] = -1
    return n_values - lowest


cdef inline const int64_t* order_of(PreparedLists self, Py_ssize_t query) noexcept nogil:
    """The positions of a list in the order inside a tie; NULL, if that is the order of the list."""
    if self.order == NULL or self.one_order:
        return self.order
    return self.order + self.offsets[query]


cdef inline bint is_sorted(PreparedLists self, Py_ssize_t query) noexcept nogil:
    """Whether the list is to be sorted, short enough for it, and wholly ranked."""
    return (self.sorted_lists != NULL and self.sorted_lists[query] and n_excluded(self, query) == 0
            and length(self, query) <= TIEAWARE_LONGEST_SORTED)


cdef Sorted sort_list(PreparedLists self, Py_ssize_t query, const score_t* scores, Py_ssize_t n, Py_ssize_t first_key,
                      Py_ssize_t n_keys, Groups* groups) noexcept nogil:
    """Write the groups of one query by sorting its list, as sorting.h has it."""
    cdef bint ordered = self.rule == IN_ORDER
    cdef const int64_t* order = order_of(self, query) if ordered else NULL
    cdef const uint16_t* key_at = self.key_at + self.offsets[query]
    cdef int64_t bits = tieaware_place_bits(n)
    cdef int64_t nan, repeats
    cdef const int64_t* words
    if score_t is double:
        nan = tieaware_words_double(scores, order, n, bits, groups.words)
    else:
        nan = tieaware_words_float(scores, order, n, bits, groups.words)
    if nan:
        return UNORDERED
    words = tieaware_sort(sort_doubles, groups.words, n, groups.spare)
    repeats = tieaware_repeats(words, n, bits)
    if score_t is double:
        # A float has no bits where a word has the place.
        if repeats > 0 and tieaware_close(scores, order, words, n, bits):
            return TOO_CLOSE
    if ordered or repeats == 0:
        groups.count = tieaware_walk_documents(words, n, bits, key_at, n_keys, self.depth, groups.start, groups.key)
        take_keys(self, first_key, n_keys, groups)
    else:
        memset(groups.group, -1, n_keys * sizeof(int64_t))
        groups.count = tieaware_walk_groups(words, n, bits, key_at, n_keys, self.depth, groups.start,
                                            groups.size, groups.group)
        add_keys(self, first_key, n_keys, groups)
    if self.rule == BEST_FIRST or self.rule == WORST_FIRST:
        keep_tied(groups, n_keys)
        place_by_label(self, first_key, n_keys, n, groups, groups if self.rule == BEST_FIRST else NULL,
                       groups if self.rule == WORST_FIRST else NULL)
    return GROUPED


cdef void take_keys(PreparedLists self, Py_ssize_t first_key, Py_ssize_t n_keys, Groups* groups) noexcept nogil:
    """Make each key that was found a group of its own."""
    cdef Py_ssize_t g, c
    cdef double* weight
    cdef const double* key_weight
    groups.untied = True
    for g in range(groups.count):
        groups.size[g] = 1
    for c in range(self.n_weights):
        weight = groups.weight + c * groups.stride
        key_weight = self.key_weight + c * self.n_keys + first_key
        for g in range(groups.count):
            weight[g] = key_weight[groups.key[g]]


cdef void add_keys(PreparedLists self, Py_ssize_t first_key, Py_ssize_t n_keys, Groups* groups) noexcept nogil:
    """Add up the weights of the keys of each group."""
    cdef Py_ssize_t i, c
    cdef double* weight
    cdef const double* key_weight
    for c in range(self.n_weights):
        weight = groups.weight + c * groups.stride
        key_weight = self.key_weight + c * self.n_keys + first_key
        for i in range(groups.count):
            weight[i] = 0.0
        for i in range(n_keys):
            if groups.group[i] >= 0:
                weight[groups.group[i]] += key_weight[i]


cdef void keep_tied(Groups* tied, Py_ssize_t n_keys) noexcept nogil:
    """Write greater, equal and group of the tied groups, as place_by_label takes them, from what they were made of."""
    cdef Py_ssize_t g, n = tied.count
    if tied.untied:
        memset(tied.group, -1, n_keys * sizeof(int64_t))
        for g in range(n):
            tied.group[tied.key[g]] = g
    tied.n_values = n
    for g in range(n):
        tied.greater[n - 1 - g] = tied.start[g]
        tied.equal[n - 1 - g] = tied.size[g]


cdef bint rank_few(PreparedLists self, Py_ssize_t query, const score_t* scores, Py_ssize_t n, Py_ssize_t first_key,
                   Py_ssize_t n_keys, Groups* groups) noexcept nogil:
    """Each key its own group, in the order of the list: the rank of few keys in one pass, one comparison for each."""
    cdef int64_t* rank = groups.greater
    cdef int64_t* taken_off = groups.start
    cdef int64_t* keys = groups.group
    cdef Py_ssize_t i, j, c, n_out = n_excluded(self, query)
    cdef int64_t limit = self.limit(query, n)
    cdef int64_t nan = precede(scores, n, groups.key_score, self.key_rank + first_key, n_keys, limit, rank,
                               groups.interruption)
    # After that pass, which brings them into the cache.
    if n_out > 0:
        gather_excluded(self, query, scores, groups)
        nan -= precede(<const score_t*>groups.excluded, n_out, groups.key_score, self.key_excluded + first_key, n_keys,
                       NO_LIMIT, taken_off, groups.interruption)
        for i in range(n_keys):
            rank[i] -= taken_off[i]
    if nan or groups.interruption.error != NULL:
        return False
    for i in range(n_keys):
        j = i
        # Invariant: keys[:i] is sorted by rank, keys[j] is free.
        while j > 0 and rank[keys[j - 1]] > rank[i]:
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = i
    while n > SHORT and n_keys > 0 and rank[keys[n_keys - 1]] >= self.depth:
        n_keys -= 1
    groups.count = n_keys
    for i in range(n_keys):
        # Another thread may change the scores meanwhile: the values are then anything, but no rank leaves the list.
        groups.start[i] = max(min(rank[keys[i]], <int64_t>(n - n_out) - 1), 0)
        groups.size[i] = 1
        for c in range(self.n_weights):
            groups.weight[c * groups.stride + i] = self.key_weight[c * self.n_keys + first_key + keys[i]]
    return True


cdef void merge(PreparedLists self, Py_ssize_t first_key, Py_ssize_t n_keys, Py_ssize_t n_values,
                Groups* groups) noexcept nogil:
    """The tied groups as they are."""
    cdef Py_ssize_t i
    groups.count = n_values
    for i in range(n_values):
        groups.start[i] = groups.greater[n_values - 1 - i]
        groups.size[i] = groups.equal[n_values - 1 - i]
    add_keys(self, first_key, n_keys, groups)


cdef void split(PreparedLists self, Py_ssize_t query, const score_t* scores, Py_ssize_t n, Py_ssize_t first_key,
                Py_ssize_t n_keys, Py_ssize_t n_values, Groups* groups) noexcept nogil:
    """Each key its own group, at the place that the order gives it inside its tied group."""
    cdef const int64_t* order = order_of(self, query)
    cdef int64_t* place = groups.histogram
    cdef int64_t* taken_off = groups.histogram + groups.stride
    cdef Py_ssize_t i, tied = 0, n_out = n_excluded(self, query)
    if self.rule == BEST_FIRST or self.rule == WORST_FIRST:
        place_by_label(self, first_key, n_keys, n - n_out, groups, groups if self.rule == BEST_FIRST else NULL,
                       groups if self.rule == WORST_FIRST else NULL)
        return
    for i in range(n_keys):
        place[i] = taken_off[i] = 0
        tied += shares(groups, i)
    if tied > 0:
        find_places(scores, n, order, self.key_rank + first_key, n_keys, tied <= self.counting_limit, groups, place)
        if n_out > 0:
            find_places(<const score_t*>groups.excluded, n_out, NULL, self.key_excluded + first_key, n_keys,
                        tied <= self.counting_limit, groups, taken_off)
    count_keys(groups, n_keys)
    groups.count = groups.first[n_values]
    for i in range(n_keys):
        if groups.group[i] >= 0:
            put(self, first_key + i, groups.group[i], groups.taken[groups.group[i]],
                place[i] - taken_off[i] if shares(groups, i) else 0, n - n_out, groups, groups)
            groups.taken[groups.group[i]] += 1


cdef inline bint shares(const Groups* groups, Py_ssize_t key) noexcept nogil:
    """Whether another document ties with a key that is in a group."""
    return groups.group[key] >= 0 and groups.equal[groups.n_values - 1 - groups.group[key]] > 1


cdef void count_keys(Groups* tied, Py_ssize_t n_keys) noexcept nogil:
    """first[g] becomes the number of keys in the tied groups before g, taken[g] 0: how many of g have their place."""
    cdef Py_ssize_t i, g
    memset(tied.first, 0, (tied.n_values + 1) * sizeof(int64_t))
    memset(tied.taken, 0, tied.n_values * sizeof(int64_t))
    for i in range(n_keys):
        if tied.group[i] >= 0:
            tied.first[tied.group[i] + 1] += 1
    for g in range(tied.n_values):
        tied.first[g + 1] += tied.first[g]


cdef inline void put(PreparedLists self, Py_ssize_t key, Py_ssize_t g, int64_t nth, int64_t place, Py_ssize_t n,
                     const Groups* tied, Groups* ordered) noexcept nogil:
    """Make a key the nth group of those that tied group g becomes, at a place inside it."""
    cdef Py_ssize_t c, slot = tied.first[g] + nth
    # Another thread may change the scores meanwhile: the values are then anything, but no rank leaves the list.
    ordered.start[slot] = max(min(tied.greater[tied.n_values - 1 - g] + place, <int64_t>n - 1), 0)
    ordered.size[slot] = 1
    for c in range(self.n_weights):
        ordered.weight[c * ordered.stride + slot] = self.key_weight[c * self.n_keys + key]


cdef void place_by_label(PreparedLists self, Py_ssize_t first_key, Py_ssize_t n_keys, Py_ssize_t n, Groups* tied,
                         Groups* best, Groups* worst) noexcept nogil:
    """Each key its own group: the keys, which lie by label, descending, come first in their tied group, or last.

    Either order may be left out: NULL.
    """
    cdef Py_ssize_t i, g
    cdef int64_t taken
    count_keys(tied, n_keys)
    for i in range(n_keys):
        g = tied.group[i]
        if g < 0:
            continue
        taken = tied.taken[g]
        if best != NULL:
            put(self, first_key + i, g, taken, taken, n, tied, best)
        if worst != NULL:
            put(self, first_key + i, g, tied.first[g + 1] - tied.first[g] - 1 - taken,
                tied.equal[tied.n_values - 1 - g] - 1 - taken, n, tied, worst)
        tied.taken[g] += 1
    if best != NULL:
        best.count = tied.first[tied.n_values]
    if worst != NULL:
        worst.count = tied.first[tied.n_values]


cdef void order_by_label(PreparedLists lists, Py_ssize_t query, Groups* tied, Groups* best,
                         Groups* worst) noexcept nogil:
    cdef Py_ssize_t first_key = lists.key_offsets[query], n_keys = lists.key_offsets[query + 1] - first_key
    keep_tied(tied, n_keys)
    place_by_label(lists, first_key, n_keys, length(lists, query), tied, best, worst)


cdef void find_places(const score_t* scores, Py_ssize_t n, const int64_t* order, const int64_t* rank, Py_ssize_t n_keys,
                      bint few, const Groups* groups, int64_t* place) noexcept nogil:
    """place[i]: how many of the first rank[i] documents in the order tie with key i, wherever it shares its group."""
    if few:
        place_by_counting(scores, order, rank, n_keys, groups, place)
    else:
        place_by_sweeping(scores, n, order, rank, n_keys, groups, place)


cdef void place_by_counting(const score_t* scores, const int64_t* order, const int64_t* rank, Py_ssize_t n_keys,
                            const Groups* groups, int64_t* place) noexcept nogil:
    """Key by key."""
    cdef Py_ssize_t i
    for i in range(n_keys):
        if shares(groups, i):
            place[i] = count_equal(scores, order, rank[i], groups.key_score[i], groups.interruption)


cdef void place_by_sweeping(const score_t* scores, Py_ssize_t n, const int64_t* order, const int64_t* rank,
                            Py_ssize_t n_keys, const Groups* groups, int64_t* place) noexcept nogil:
    """The same for all keys in one walk along the order; size[v] counts the documents met that tie at value v."""
    cdef int64_t below[LANES]
    cdef score_t lanes[LANES]
    cdef Py_ssize_t i, width, at = 0, key = 0, n_values = groups.n_values
    cdef int64_t* met = groups.size
    cdef Interruption* interruption = groups.interruption
    # A key in no group, -1, meets nothing.
    memset(met, 0, (n_values + 1) * sizeof(int64_t))
    while at < n:
        width = min(<Py_ssize_t>LANES, n - at)
        for i in range(LANES):
            if order == NULL:
                lanes[i] = scores[at + min(i, width - 1)]
            else:
                lanes[i] = scores[order[at + min(i, width - 1)]]
        find(lanes, groups.value, n_values, below)
        for i in range(width):
            while key < n_keys and rank[key] == at + i:
                place[key] = met[n_values - 1 - groups.group[key]]
                key += 1
            if below[i] < n_values and groups.value[below[i]] == lanes[i]:
                met[below[i]] += 1
        at += width
        if at % PIECE == 0 and interrupted(interruption, 64 * PIECE):
            return
    while key < n_keys:
        place[key] = met[n_values - 1 - groups.group[key]]
        key += 1
