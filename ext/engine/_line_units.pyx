"""Preparation of a line of scores: the units of each query, and where the lines of other documents cross theirs.

A document that is below every cut-off for every t changes no value, so it is left out.
"""
from libc.math cimport fabs, isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._crossings cimport Crossings, crossing, key_of, make_room
from tieaware.kernels._engine cimport Engine
from tieaware.kernels._groups cimport AVERAGE, BEST_FIRST, PreparedLists

cnp.import_array()

cdef extern from "engine/crossings.h" nogil:
    enum:
        TIEAWARE_CROSSED
    int64_t tieaware_cross(const double*, const double*, const double*, Py_ssize_t, double, double, double,
                           const tieaware_bounds*, tieaware_tile*, Py_ssize_t*, int64_t*, int64_t*)
    void tieaware_round_crossings(double, double, double, Py_ssize_t, tieaware_tile*)
    void tieaware_reaching(const double*, const double*, Py_ssize_t, double, double, int64_t, double*, double*,
                           uint8_t*)


cdef Py_ssize_t write_units(PreparedLists lists, Py_ssize_t query, const Pencil* pencil, int placement, Units* units,
                            uint8_t* seen) noexcept nogil:
    """Write the units of a query with their weights; return how many there are.

    seen[i] is working memory for each weighted document. Until `start` is final, it holds how many documents of the
    same line are before the unit, or, if it is negative, -1 minus how many are after.
    """
    cdef Py_ssize_t begin = lists.weighted_offsets[query], n = lists.weighted_offsets[query + 1] - begin
    cdef Py_ssize_t first = units.first[query], count = 0, u, w, c, j
    cdef const int64_t* position = lists.weighted_position + begin
    cdef const double* a = pencil.a + lists.offsets[query]
    cdef const double* d = pencil.d + lists.offsets[query]
    cdef const double* e = pencil.e + lists.offsets[query]
    cdef double* weight
    cdef double a_u, d_u, e_u
    for w in range(n):
        seen[w] = not pencil.reaches[lists.offsets[query] + position[w]]
    for w in range(n):
        if seen[w]:
            continue
        a_u, d_u, e_u = a[position[w]], d[position[w]], e[position[w]]
        u = 0
        for j in range(w, n):
            if seen[j] or a[position[j]] != a_u or d[position[j]] != d_u or e[position[j]] != e_u:
                continue
            seen[j] = 1
            if placement != AVERAGE or u == 0:
                units.unit[first + count] = <int32_t>position[j]
                units.start[first + count] = 0
                if placement == BEST_FIRST:
                    units.start[first + count] = u
                elif placement != AVERAGE:
                    units.start[first + count] = -1 - u
                weight = units.weight + first * lists.n_weightings + count
                # The rows of weights are `n` apart until the number of units is known.
                for c in range(lists.n_weightings):
                    weight[c * n] = 0.0
                count += 1
            weight = units.weight + first * lists.n_weightings + count - 1
            for c in range(lists.n_weightings):
                weight[c * n] += lists.weight[c * lists.n_weighted + begin + j]
            u += 1
    # Move the rows together.
    for c in range(1, lists.n_weightings):
        for u in range(count):
            units.weight[first * lists.n_weightings + c * count + u] = (
                units.weight[first * lists.n_weightings + c * n + u]
            )
    return count


cdef inline double widened(double bound, double sign) noexcept nogil:
    """Return a bound moved outward by more than the error of an approximate crossing."""
    return bound + sign * (fabs(bound) * 1e-15 + 1e-300) if isfinite(bound) else bound


cdef void gather(PreparedLists lists, Py_ssize_t query, const Pencil* pencil, Others* others) noexcept nogil:
    """Write the documents of a query that may be above a cut-off. There is room for one more than the list has."""
    cdef Py_ssize_t j
    others.n = 0
    for j in range(lists.offsets[query], lists.offsets[query + 1]):
        others.a[others.n], others.d[others.n], others.e[others.n] = pencil.a[j], pencil.d[j], pencil.e[j]
        # Do not branch: the next document overwrites one that is left out.
        others.n += pencil.reaches[j]


cdef bint write_crossings(PreparedLists lists, Py_ssize_t query, const Pencil* pencil, const Others* others,
                          Units* units, Crossings* crossings, tieaware_tile* tile, int64_t* blurred) noexcept nogil:
    """Add the crossings of a query between the bounds, and complete its units as they are just above the lower one."""
    cdef Py_ssize_t n = others.n, u, j, i, count = 0, at
    cdef const double* a = others.a
    cdef const double* d = others.d
    cdef const double* e = others.e
    cdef double a_u, d_u, e_u, t, low = pencil.bounds.low, high = pencil.bounds.high
    cdef tieaware_bounds wide = pencil.bounds
    cdef int64_t above, same
    wide.low, wide.high = widened(low, -1.0), widened(high, 1.0)
    for u in range(units.first[query], units.first[query + 1]):
        if not make_room(crossings, n):
            return False
        i = lists.offsets[query] + units.unit[u]
        a_u, d_u, e_u = pencil.a[i], pencil.d[i], pencil.e[i]
        above = same = 0
        at = crossings.count
        j = 0
        while j < n:
            above += tieaware_cross(a + j, d + j, e + j, min(n - j, <Py_ssize_t>TIEAWARE_CROSSED), a_u, d_u, e_u, &wide,
                                    tile, &count, &same, blurred)
            tieaware_round_crossings(a_u, d_u, e_u, count, tile)
            for i in range(count):
                t = tile.t[i]
                if not tile.sure[i]:
                    t = crossing(a_u, d_u, e_u, tile.a[i], tile.d[i], tile.e[i])
                if t <= low:
                    # `above` counts the documents just before their crossing.
                    above += 1 if tile.fall[i] < 0.0 else -1
                else:
                    crossings.key[at] = key_of(t)
                    crossings.change[at] = <uint32_t>(2 * u + (tile.fall[i] > 0.0))
                    at += t < high
            j += TIEAWARE_CROSSED
        crossings.count = at
        units.start[u] += above + (same if units.start[u] < 0 else 0)
        units.size[u] = same if lists.placement == AVERAGE else 1
    return True


cdef Py_ssize_t longest(PreparedLists lists) noexcept nogil:
    """Return how many documents the longest list has."""
    cdef Py_ssize_t query, most = 0
    for query in range(lists.n_queries):
        most = max(most, lists.offsets[query + 1] - lists.offsets[query])
    return most


def reaching(Engine engine not None, cnp.ndarray a not None, cnp.ndarray d not None, double low, double high):
    """Mark the documents that may be above a cut-off of the engine's measures for some t; the others change no value.

    Parameters
    ----------
    engine, a, d, low, high
        As for `Line`.

    Returns
    -------
    uint8[n_docs]
    """
    cdef PreparedLists lists = engine.lists
    cdef cnp.npy_intp n = lists.offsets[lists.n_queries]
    cdef cnp.ndarray found = cnp.PyArray_EMPTY(1, &n, cnp.NPY_UINT8, False)
    cdef const double* starts = <const double*>cnp.PyArray_DATA(a)
    cdef const double* directions = <const double*>cnp.PyArray_DATA(d)
    cdef uint8_t* reaches = <uint8_t*>cnp.PyArray_DATA(found)
    cdef double* scratch = <double*>malloc(2 * (longest(lists) + 1) * sizeof(double))
    cdef Py_ssize_t query, begin, size
    # A document after `depth` others may tie with the last of them.
    cdef int64_t depth = lists.depth + 1
    if scratch == NULL:
        raise MemoryError("no memory for the line")
    with nogil:
        for query in range(lists.n_queries):
            begin, size = lists.offsets[query], lists.offsets[query + 1] - lists.offsets[query]
            tieaware_reaching(starts + begin, directions + begin, size, low, high, depth, scratch, scratch + size,
                              reaches + begin)
    free(scratch)
    return found
