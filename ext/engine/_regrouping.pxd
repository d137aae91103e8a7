from libc.stdint cimport int64_t

from tieaware.kernels._groups cimport Groups


# The bands of a banded ranking: band b begins at rank start[b], ascending from 1, and ends before start[b+1], the last
# with the list.
cdef struct Bands:
    Py_ssize_t count
    const int64_t* start


cdef void band(const Groups* ranked, Bands bands, int64_t n, Py_ssize_t n_weightings, Groups* banded) noexcept nogil

# The groups of the list without its unjudged documents; `judged` is the weighting by 1 of the judged ones.
cdef void condense(const Groups* groups, int judged, Groups* condensed) noexcept nogil
