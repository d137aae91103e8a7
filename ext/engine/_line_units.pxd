"""The units of a line of scores, which documents cross them, and where. See _lines.pyx for what a unit is."""
from libc.stdint cimport int32_t, int64_t, uint8_t

from tieaware.kernels._crossings cimport Crossings
from tieaware.kernels._groups cimport PreparedLists

cdef extern from "engine/crossings.h" nogil:
    ctypedef struct tieaware_tile:
        double a[512]
        double d[512]
        double e[512]
        double fall[512]
        double t[512]
        int64_t sure[512]
    ctypedef struct tieaware_bounds:
        double low, high, width, relative, far


# The units of all queries, and the state of the pass. Units of a query are adjacent, in rank order.
cdef struct Units:
    Py_ssize_t count
    # The index of each query's first unit, and the end.
    int64_t* first
    # start[g] is how many documents are before the group at place g, size[g] how many it has. `unit` is the unit at
    # each place, and `place` where each unit is.
    int64_t* start
    int64_t* size
    int32_t* unit
    int32_t* place
    int32_t* query
    # The weights of the units of query q begin at n_weightings * first[q]: one row per weighting.
    double* weight


# The line: starts, directions as sums of two doubles, bounds, and which documents may be above a cut-off.
cdef struct Pencil:
    const double* a
    const double* d
    const double* e
    tieaware_bounds bounds
    const uint8_t* reaches


# Those documents of one list, one after the other.
cdef struct Others:
    Py_ssize_t n
    double* a
    double* d
    double* e

cdef Py_ssize_t write_units(PreparedLists lists, Py_ssize_t query, const Pencil* pencil, int placement, Units* units,
                            uint8_t* seen) noexcept nogil
cdef void gather(PreparedLists lists, Py_ssize_t query, const Pencil* pencil, Others* others) noexcept nogil
cdef bint write_crossings(PreparedLists lists, Py_ssize_t query, const Pencil* pencil, const Others* others,
                          Units* units, Crossings* crossings, tieaware_tile* tile, int64_t* blurred) noexcept nogil
cdef Py_ssize_t longest(PreparedLists lists) noexcept nogil
