from libc.stdint cimport int64_t, uint16_t, uint64_t

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._interruption cimport Interruption
from tieaware.kernels._sorting cimport TIEAWARE_LONGEST_SORTED


# How a tie rule places tied documents; src/tieaware/ties.py imports these values.
cpdef enum:
    AVERAGE = 0
    IN_ORDER = 1
    BEST_FIRST = 2
    WORST_FIRST = 3


# The tie groups of one query that hold a weighted document, in rank order. Measures need no other groups.
cdef struct Groups:
    Py_ssize_t count
    # Group g contains size[g] documents, and start[g] documents are ranked above it. Under weighting c, the documents
    # of group g have the total weight weight[c * stride + g].
    Py_ssize_t stride
    int64_t* start
    int64_t* size
    double* weight
    # The same groups after unjudged documents were removed from them, if a measure has judged_only; else NULL.
    Groups* condensed


# Working memory for the grouping of scores. It is allocated once per call, large enough for the list with the most
# weighted documents, and used for one query after another.
cdef struct GroupingScratch:
    # The score of each weighted document, and the index of its group, or -1 if the document is in no group.
    double* score
    int64_t* group
    # The n_values distinct scores of the weighted documents, ascending. Scores so low that no measure looks at them are
    # left out. For each distinct score, `greater` and `equal` are the numbers of documents of the list with a higher
    # score and with this score. The documents of group g have the score value[n_values - 1 - g].
    Py_ssize_t n_values
    double* value
    int64_t* greater
    int64_t* equal
    # Working memory of `locate`. Later it holds the places of the weighted documents in their groups, or their order.
    int64_t* histogram
    # first[g] is the number of weighted documents in the tied groups before group g. taken[g] is the number of weighted
    # documents of group g that already have a place.
    int64_t* first
    int64_t* taken
    # True if the weighted documents of tied groups will be ordered by label. Then sorting has to write `group`, or
    # `document` and `first`, which takes time; it sets `ranked` in the second case.
    bint numbering, ranked
    # If the tie rule orders documents, document[g] is the index of the document of group g. If `ranked`, `document` has
    # the weighted documents of all tied groups, group after group, and in each group by label, descending.
    int64_t* document
    # For bands: the index of the band of each ranked document.
    int64_t* merged
    # Working memory for sorting, with room for the words of a whole list.
    int64_t* words
    int64_t* spare
    int64_t* keys
    int64_t* ends
    uint64_t* sums
    # The sum of the packs of each group.
    uint64_t* total
    # The scores of the excluded documents, as float64 or float32, like the other scores.
    void* excluded
    Interruption* interruption


# Where packs have the weight under one weighting: (pack >> shift) & bits.
cdef struct Field:
    int shift
    uint64_t bits


cdef class PreparedLists:
    cdef readonly Py_ssize_t n_queries, n_docs, n_weighted, n_weightings
    # The largest number of weighted documents in a list, of excluded documents in a list, and of words that sorting a
    # list needs.
    cdef Py_ssize_t most_weighted, most_excluded, most_words
    cdef Py_ssize_t counting_limit
    cdef int64_t depth
    cdef bint first_group
    cdef int placement
    # For AVERAGE: true if lists to sort are sorted by score and then by label, best first, for a spread.
    cdef bint spread
    cdef object arrays, options
    cdef const int64_t* offsets
    cdef const int64_t* weighted_offsets
    cdef const int64_t* weighted_position
    cdef const int64_t* weighted_rank
    # The indices of the weighted documents, sorted by label in each list; NULL if they are in this order themselves.
    cdef const int64_t* by_label
    cdef const double* weight
    cdef const int64_t* order
    # True if `order` has the length of one list and applies to every list.
    cdef bint one_order
    cdef const int64_t* excluded_offsets
    cdef const int64_t* excluded_position
    cdef const int64_t* excluded_before
    cdef const cnp.npy_bool* sorted_lists
    # For each list to sort, and each place in the order of tied documents: the index of the weighted document at this
    # place. If the document at this place has no weight, the array holds the number of weighted documents of the list.
    cdef uint16_t* weighted_at
    # For averages: a word for each place of a list to sort, which packs several whole numbers. The first is 1 if the
    # document there is weighted. If `packed`, its weights follow, one for each weighting. Each number has enough bits
    # for the sum over a list; `count_bits` are those of the first number.
    cdef bint packed
    cdef uint64_t count_bits
    cdef const uint64_t* packs
    cdef const Field* fields
    cdef int use_sorting(self, tuple sorting) except -1
    cdef Groups* new_groups(self) noexcept nogil
    cdef GroupingScratch* new_scratch(self, Interruption* interruption) noexcept nogil


# Return the number of excluded documents of a list.
cdef inline int64_t n_excluded(PreparedLists lists, Py_ssize_t query) noexcept nogil:
    if lists.excluded_offsets == NULL:
        return 0
    return lists.excluded_offsets[query + 1] - lists.excluded_offsets[query]


# Return the number of ranked documents of a list: all documents but the excluded ones.
cdef inline int64_t length(PreparedLists lists, Py_ssize_t query) noexcept nogil:
    return lists.offsets[query + 1] - lists.offsets[query] - n_excluded(lists, query)


# Return the positions of a list in the order of tied documents; NULL if tied documents keep the list's order.
cdef inline const int64_t* order_of(PreparedLists lists, Py_ssize_t query) noexcept nogil:
    if lists.order == NULL or lists.one_order:
        return lists.order
    return lists.order + lists.offsets[query]


# Return whether a list is grouped by sorting: it was chosen for that, is short, and has no excluded documents.
cdef inline bint is_sorted(PreparedLists lists, Py_ssize_t query) noexcept nogil:
    return (lists.sorted_lists != NULL and lists.sorted_lists[query] and n_excluded(lists, query) == 0
            and length(lists, query) <= TIEAWARE_LONGEST_SORTED)
