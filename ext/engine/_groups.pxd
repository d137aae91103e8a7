cimport numpy as cnp
from libc.stdint cimport int64_t, uint16_t

from tieaware.kernels._interruption cimport Interruption


cdef struct Groups:
    # The groups of one query that hold a key document, in rank order. Group g starts after start[g] documents and holds
    # size[g] of them; its key documents weigh weight[c * stride + g] together, under weighting c.
    Py_ssize_t count
    Py_ssize_t stride
    # How many distinct scores the keys have, as far as any measure looks.
    Py_ssize_t n_values
    int64_t* start
    int64_t* size
    double* weight
    # Whether each group is a single key, key[g], and not written to `group`.
    bint untied
    # Working memory of the grouping, each for `stride` keys and a little more: see PreparedLists.scratch.
    double* key_score
    double* value
    int64_t* greater
    int64_t* equal
    int64_t* histogram
    int64_t* group
    int64_t* first
    int64_t* taken
    int64_t* key
    # And of sorting, for the list.
    int64_t* words
    int64_t* spare
    # The scores of excluded documents, as they are: of float64 or float32.
    void* excluded
    # Whether to go on.
    Interruption* interruption
    # The groups without unjudged documents, where a measure asks for these.
    Groups* condensed


cdef class PreparedLists:
    cdef readonly Py_ssize_t n_queries, n_docs, n_keys, n_weights
    cdef Py_ssize_t most_keys, most_excluded, longest_sorted, counting_limit
    cdef const cnp.npy_bool* sorted_lists
    cdef int64_t depth
    cdef int rule
    cdef readonly object arrays
    cdef const int64_t* offsets
    cdef const int64_t* key_offsets
    cdef const int64_t* key_position
    cdef const int64_t* key_rank
    cdef const double* key_weight
    cdef const int64_t* order
    cdef bint one_order
    cdef const int64_t* excluded_offsets
    cdef const int64_t* excluded_position
    cdef const int64_t* key_excluded
    # Of lists to sort: which key a document is, by its place in the order of the sort; one behind the last for no key.
    cdef uint16_t* key_at
    cdef object key_at_array
    cdef Groups* scratch(self) except NULL
    cdef int64_t limit(self, Py_ssize_t query, Py_ssize_t n) noexcept nogil
    cdef bint group_double(self, Py_ssize_t query, const double* scores, Groups* groups) noexcept nogil
    cdef bint group_float(self, Py_ssize_t query, const float* scores, Groups* groups) noexcept nogil


# How many documents of a list are excluded, and how many are ranked.
cdef inline int64_t n_excluded(PreparedLists lists, Py_ssize_t query) noexcept nogil:
    if lists.excluded_offsets == NULL:
        return 0
    return lists.excluded_offsets[query + 1] - lists.excluded_offsets[query]


cdef inline int64_t length(PreparedLists lists, Py_ssize_t query) noexcept nogil:
    return lists.offsets[query + 1] - lists.offsets[query] - n_excluded(lists, query)


# The documents of each tied group that `tied` was made of, one by one: the best label first, and last.
cdef void order_by_label(PreparedLists lists, Py_ssize_t query, Groups* tied, Groups* best,
                         Groups* worst) noexcept nogil
