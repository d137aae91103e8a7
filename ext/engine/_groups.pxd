cimport numpy as cnp
from libc.stdint cimport int64_t, uint16_t

from tieaware.kernels._counting cimport score_t
from tieaware.kernels._interruption cimport Interruption


# The tie groups of one query that hold a weighted document, in rank order: all that a measure sees of the query.
cdef struct Groups:
    Py_ssize_t count
    # Group g holds size[g] documents and starts after start[g] documents. Its weighted documents together weigh
    # weight[c * stride + g] under weighting c.
    Py_ssize_t stride
    int64_t* start
    int64_t* size
    double* weight
    # The same groups without unjudged documents, if a measure has judged_only; else NULL.
    Groups* condensed


# Working memory to make the groups of one query after another. It is allocated once per call, for the list with the
# most weighted documents.
cdef struct GroupingScratch:
    # The scores of the weighted documents, and the group of each; -1 for a document in no group.
    double* score
    int64_t* group
    # The n_values distinct scores of the weighted documents, ascending, down to the lowest that a measure looks at; and
    # how many documents of the list are above and equal to each. Group g has the value n_values - 1 - g.
    Py_ssize_t n_values
    double* value
    int64_t* greater
    int64_t* equal
    # Working memory of `locate`; later the places of the weighted documents in their groups.
    int64_t* histogram
    # The number of weighted documents in the tied groups before group g, and how many of group g already have a place.
    int64_t* first
    int64_t* taken
    # True if each group is a single weighted document, document[g]; `group` is then not written.
    bint untied
    int64_t* document
    # Working memory of sorting, with room for a whole list.
    int64_t* words
    int64_t* spare
    # The scores of the excluded documents, in the type of the scores: float64 or float32.
    void* excluded
    Interruption* interruption


cdef class PreparedLists:
    cdef readonly Py_ssize_t n_queries, n_docs, n_weighted, n_weightings
    # The largest numbers of weighted and of excluded documents in a list, and of words to sort a list.
    cdef Py_ssize_t most_weighted, most_excluded, most_words
    cdef Py_ssize_t counting_limit
    cdef int64_t depth
    cdef int placement
    cdef object arrays, options
    cdef const int64_t* offsets
    cdef const int64_t* weighted_offsets
    cdef const int64_t* weighted_position
    cdef const int64_t* weighted_rank
    cdef const double* weight
    cdef const int64_t* order
    # True if `order` has the length of one list and is the order of every list.
    cdef bint one_order
    cdef const int64_t* excluded_offsets
    cdef const int64_t* excluded_position
    cdef const int64_t* excluded_before
    cdef const cnp.npy_bool* sorted_lists
    # For the lists to sort: which weighted document stands at each place of the order in which tied documents are
    # sorted. The number of weighted documents stands for any other document.
    cdef uint16_t* weighted_at
    cdef Groups* new_groups(self) noexcept
    cdef GroupingScratch* new_scratch(self, Interruption* interruption) noexcept


# The number of excluded documents of a list.
cdef inline int64_t n_excluded(PreparedLists lists, Py_ssize_t query) noexcept nogil:
    if lists.excluded_offsets == NULL:
        return 0
    return lists.excluded_offsets[query + 1] - lists.excluded_offsets[query]


# The number of ranked documents of a list.
cdef inline int64_t length(PreparedLists lists, Py_ssize_t query) noexcept nogil:
    return lists.offsets[query + 1] - lists.offsets[query] - n_excluded(lists, query)


# Write the groups of one query, whose list starts at scores[0]. Returns False if the score of a ranked document is NaN,
# or if the call was interrupted.
cdef bint group(PreparedLists self, Py_ssize_t query, const score_t* scores, Groups* groups,
                GroupingScratch* scratch) noexcept nogil

# Write the best and the worst order of the tied groups that `group` has just written: each weighted document becomes a
# group, and inside a tied group the highest label comes first, or last.
cdef void order_by_label(PreparedLists lists, Py_ssize_t query, const Groups* tied, GroupingScratch* scratch,
                         Groups* best, Groups* worst) noexcept nogil
