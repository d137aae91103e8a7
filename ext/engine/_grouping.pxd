from tieaware.kernels._counting cimport score_t
from tieaware.kernels._groups cimport Groups, GroupingScratch, PreparedLists

# Write the tie groups of one query; `scores` points to the first score of its list. Return False if the score of a
# ranked document is NaN, or if the call was interrupted.
cdef bint group(PreparedLists self, Py_ssize_t query, const score_t* scores, Groups* groups,
                GroupingScratch* scratch) noexcept nogil

# Write the only tie group of one query if all its documents have the same score; none if no document is weighted.
cdef void group_all(PreparedLists self, Py_ssize_t query, Groups* groups, GroupingScratch* scratch) noexcept nogil
