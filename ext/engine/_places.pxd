from libc.stdint cimport int32_t, int64_t

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


# Bands of ranks, for example the ranks 1 to 10 and the ranks 11 to 30. Band b begins at rank start[b] and ends before
# rank start[b+1]; the last band ends with the list. start[0] is 1, and the starts ascend.
cdef struct Bands:
    Py_ssize_t count
    const int64_t* start


# Merge the groups of a list of n documents whose ranks lie in the same band. In the input (`ranked`), each weighted
# document must be a group of its own, and the groups must be in rank order. Write to merged[g] the index of the band of
# group g.
cdef void band(const Groups* ranked, Bands bands, int64_t n, Py_ssize_t n_weightings, Groups* banded,
               int64_t* merged) noexcept nogil

# Write the groups that remain when all unjudged documents are removed from the list. `judged` is the index of the
# weighting that gives each judged document the weight 1.
cdef void condense(const Groups* groups, int judged, Groups* condensed) noexcept nogil

# Complete the weights that are real numbers, in place. Their digits were added up exactly, each in a weighting of its
# own; this adds up the digits of each group, rounded once. See `Query.carry` for `carries`. Afterwards, the first
# weighting of further digits holds what rounding left out.
cdef void carry(const int32_t* carries, Py_ssize_t n_weightings, Groups* groups) noexcept nogil
