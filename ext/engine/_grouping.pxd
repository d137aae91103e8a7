from libc.stdint cimport int64_t

from tieaware.kernels._counting cimport score_t
from tieaware.kernels._groups cimport Groups, GroupingScratch, PreparedLists

# Write the tie groups of one query; `scores` points to the first score of its list. Return False if the score of a
# ranked document is NaN, or if the call was interrupted.
cdef bint group(PreparedLists self, Py_ssize_t query, const score_t* scores, Groups* groups,
                GroupingScratch* scratch) noexcept nogil

# Write the only tie group of one query if all its documents have the same score; none if no document is weighted.
cdef void group_all(PreparedLists self, Py_ssize_t query, Groups* groups, GroupingScratch* scratch) noexcept nogil

# Write the tie groups of one query from counts, int64[2, n_counted]: for each weighted document of all queries, the
# number of ranked documents of its list with a higher score, and with its score. Return False if it was interrupted.
cdef bint group_counted(PreparedLists self, Py_ssize_t query, const int64_t* counts, Groups* groups,
                        GroupingScratch* scratch) noexcept nogil

# Return the number of weighted documents of all queries.
cdef Py_ssize_t n_counted(PreparedLists self) noexcept nogil
