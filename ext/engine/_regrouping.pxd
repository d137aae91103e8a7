from libc.stdint cimport int64_t

from tieaware.kernels._groups cimport Groups


# Bands of ranks: band b begins at rank start[b] and ends before start[b+1]; the last band ends with the list. start[0]
# is 1, and the starts ascend.
cdef struct Bands:
    Py_ssize_t count
    const int64_t* start


# Join the documents of each band of a list of n documents. Each weighted document must be a group, in rank order.
cdef void band(const Groups* ranked, Bands bands, int64_t n, Py_ssize_t n_weightings, Groups* banded) noexcept nogil

# Write the groups of the list without its unjudged documents. `judged` is the weighting that gives each judged document
# the weight 1.
cdef void condense(const Groups* groups, int judged, Groups* condensed) noexcept nogil
