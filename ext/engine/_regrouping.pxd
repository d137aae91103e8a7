from libc.stdint cimport int32_t, int64_t

from tieaware.kernels._groups cimport Groups


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
