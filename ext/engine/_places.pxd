from tieaware.kernels._counting cimport score_t
from tieaware.kernels._groups cimport Groups, GroupingScratch, PreparedLists


# Make each weighted document a group of its own, at its place inside its tied group under the tie rule. `group` has
# counted the documents of the tied groups; `first` is the index of the first weighted document of the list.
cdef void split(PreparedLists lists, Py_ssize_t query, const score_t* scores, Py_ssize_t n, Py_ssize_t first,
                Py_ssize_t n_weighted, Groups* groups, GroupingScratch* scratch) noexcept nogil

# From the tied groups that `group` has just written, write the best and the worst order of the tied documents. In both
# orders, each weighted document is a group of its own. Inside a tied group, labels descend in the best order and ascend
# in the worst order.
cdef void order_by_label(PreparedLists lists, Py_ssize_t query, const Groups* tied, GroupingScratch* scratch,
                         Groups* best, Groups* worst) noexcept nogil

# Do the same for documents that tie because their ranks lie in the same band. `group` wrote n_ranked groups, and `band`
# wrote the groups `banded` and the array `merged` of the scratch. `best` or `worst` may be NULL.
cdef void order_bands_by_label(PreparedLists lists, Py_ssize_t query, Py_ssize_t n_ranked, const Groups* banded,
                               GroupingScratch* scratch, Groups* best, Groups* worst) noexcept nogil

# Write to first[g] how many weighted documents are in the tied groups before g, and set taken[g] to 0.
cdef void count_weighted(GroupingScratch* scratch, Py_ssize_t n_weighted) noexcept nogil
