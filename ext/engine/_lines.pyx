"""The means of all measures along a line of scores, a + t d: where they change, and their values in between.

The direction d is given as the sum of two doubles, because the difference of two scores often is no double.

The order of two documents changes once, at the t where their scores cross. Only crossings of weighted documents matter,
and a crossing only changes the number of documents before a tie group. So one pass over the sorted crossings yields
every value: at each crossing, the numbers of the query's groups are updated and its measures evaluated anew.

A *unit* is a set of documents of a query that are tied for every t, with a weighted document among them; or, if the tie
rule orders tied documents, one weighted document. Crossings are rounded correctly to a double. So crossings that
coincide have equal doubles, and no t lies between different crossings that do.

Where two documents cross, they tie, and the value is between those on both sides. Where more documents meet, it may be
above both; these points are listed.
"""
from libc.math cimport fabs, isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memset

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._crossings cimport MOST_CROSSINGS, Crossings, make_room, t_of
from tieaware.kernels._engine cimport Engine, Workspace, end
from tieaware.kernels._exact cimport double_double, two_sum
from tieaware.kernels._groups cimport AVERAGE, Groups, PreparedLists
from tieaware.kernels._interruption cimport interrupted
from tieaware.kernels._line_units cimport (
    Others, Pencil, Units, gather, longest, tieaware_bounds, tieaware_tile, write_crossings, write_units
)
from tieaware.kernels._means cimport Mean, extend, mean_of_none, rounded
from tieaware.kernels._measure cimport Measure
from tieaware.kernels._sorting cimport sort_crossings

cnp.import_array()


cdef inline bint is_close(const tieaware_bounds* bounds, double t, double later) noexcept nogil:
    """Return whether an interval is too narrow to count."""
    return isfinite(later) and later - t <= bounds.width + bounds.relative * fabs(later)


cdef inline void exchange(Units* units, double* weight, Py_ssize_t count, Py_ssize_t n_weightings, Py_ssize_t first,
                          Py_ssize_t g) noexcept nogil:
    """Exchange the groups at the places g and g + 1 of a query, counted from its first."""
    cdef Py_ssize_t i = first + g, c
    units.start[i], units.start[i + 1] = units.start[i + 1], units.start[i]
    units.size[i], units.size[i + 1] = units.size[i + 1], units.size[i]
    units.unit[i], units.unit[i + 1] = units.unit[i + 1], units.unit[i]
    units.place[units.unit[i]] = <int32_t>i
    units.place[units.unit[i + 1]] = <int32_t>(i + 1)
    for c in range(n_weightings):
        weight[c * count + g], weight[c * count + g + 1] = weight[c * count + g + 1], weight[c * count + g]


cdef void order(Units* units, Py_ssize_t query, Py_ssize_t n_weightings) noexcept nogil:
    """Sort the groups of a query by their starts, by insertion: they are nearly sorted."""
    cdef Py_ssize_t first = units.first[query], count = units.first[query + 1] - first, i, j
    cdef double* weight = units.weight + first * n_weightings
    for i in range(1, count):
        j = i
        while j > 0 and units.start[first + j - 1] > units.start[first + j]:
            exchange(units, weight, count, n_weightings, first, j - 1)
            j -= 1


cdef inline Py_ssize_t settle(Units* units, Py_ssize_t query, Py_ssize_t n_weightings, Py_ssize_t g) noexcept nogil:
    """Move the one group of a query whose start has changed from place g to its place in rank order; return that."""
    cdef Py_ssize_t first = units.first[query], after = units.first[query + 1]
    cdef double* weight = units.weight + first * n_weightings
    while g > first and units.start[g - 1] > units.start[g]:
        exchange(units, weight, after - first, n_weightings, first, g - 1 - first)
        g -= 1
    while g + 1 < after and units.start[g] > units.start[g + 1]:
        exchange(units, weight, after - first, n_weightings, first, g - first)
        g += 1
    return g


cdef class Line:
    """The breaks and the means of an engine's measures along a line of scores.

    Parameters
    ----------
    engine : Engine
        Prepared with a tie rule that places tied documents by label or averages over them.
    a, d, e : float64[n_docs]
        The scores at t = 0, and their direction d + e, where |e| is at most half a unit in the last place of d; finite,
        C-contiguous.
    low, high : float
        The ends of the line; they may be infinite.
    width, relative : float
        Intervals that are narrower than width + relative |t| do not count.
    included : uint8[n_queries]
        Which queries count.
    reaches : uint8[n_docs]
        Which documents may be above a cut-off: `reaching` of _line_units.pyx.
    centre : float64[n_queries, n_measures], optional
        What is subtracted from the values in `sums`; without it, these are not computed.
    with_meetings : bool
        Whether to find `meetings`.

    Attributes
    ----------
    breaks : float64[n]
        Where the value of a query changes, ascending.
    means : float64[n + 1, n_measures]
        The means before the first break, between breaks, and after the last.
    sums : float64[n + 1, n_measures, 2]
        The sums over the queries of the values minus the centre, and of their squares.
    meetings : float64[m]
        Where more documents meet than two, ascending: a mean may be higher there than on both sides.
    n_blurred : int
        How many pairs of documents are so close to each other that rounded scores may confuse their order in an
        interval that counts. Without such pairs, a t in each interval that counts has its means.
    """
    cdef double* breaks_data
    cdef double* means_data
    cdef double* sums_data
    cdef double* meetings_data
    cdef Py_ssize_t count, n_meetings, n_measures
    # The t after which the last row begins.
    cdef double latest
    cdef readonly int64_t n_blurred

    def __init__(self, Engine engine not None, cnp.ndarray a not None, cnp.ndarray d not None, cnp.ndarray e not None,
                 double low, double high, double width, double relative, cnp.ndarray included not None,
                 cnp.ndarray reaches not None, cnp.ndarray centre=None, bint with_meetings=False):
        cdef Units units
        cdef Others others
        cdef Crossings crossings, spare
        cdef tieaware_tile tile
        cdef Workspace workspace
        cdef Groups* condensed = engine.begin(&workspace)
        cdef Py_ssize_t n = engine.lists.n_weighted, queries = engine.lists.n_queries, m = engine.n_measures
        cdef Py_ssize_t room = longest(engine.lists) + 1
        cdef void* memory = NULL
        cdef double* values = NULL
        cdef bint good = False
        cdef Py_ssize_t words = (queries + 2) + 2 * n + (3 * n) // 2 + 4 + n * engine.lists.n_weightings
        cdef Py_ssize_t state = (queries + 6) * m + 3 * queries + 4
        cdef Pencil pencil
        pencil.a = <const double*>cnp.PyArray_DATA(a)
        pencil.d = <const double*>cnp.PyArray_DATA(d)
        pencil.e = <const double*>cnp.PyArray_DATA(e)
        pencil.reaches = <const uint8_t*>cnp.PyArray_DATA(reaches)
        pencil.bounds.low, pencil.bounds.high = low, high
        pencil.bounds.width, pencil.bounds.relative = width, relative
        pencil.bounds.far = max(fabs(low) if isfinite(low) else 0.0, fabs(high) if isfinite(high) else 0.0)
        self.n_measures = m
        others.a = NULL
        crossings.count = crossings.room = 0
        crossings.key = NULL
        crossings.change = NULL
        spare = crossings
        try:
            memory = malloc(words * 8 + max(engine.lists.most_weighted, 1))
            values = <double*>malloc(state * 8 + m * sizeof(Mean))
            others.a = <double*>malloc(3 * room * sizeof(double))
            # A unit and a flag share the 32 bits of `change`.
            if memory == NULL or values == NULL or others.a == NULL or n > MOST_CROSSINGS // 2:
                raise MemoryError("no memory for the line")
            others.d, others.e = others.a + room, others.a + 2 * room
            units.first = <int64_t*>memory
            units.start = units.first + queries + 2
            units.size = units.start + n
            units.weight = <double*>(units.size + n)
            units.unit = <int32_t*>(units.weight + n * engine.lists.n_weightings)
            units.place = units.unit + n
            units.query = units.place + n
            with nogil:
                good = self.prepare(engine, engine.lists, &pencil, <const uint8_t*>cnp.PyArray_DATA(included), &others,
                                    &units, &crossings, &workspace, <uint8_t*>(<char*>memory + words * 8), &tile)
                if good:
                    good = make_room(&spare, crossings.count)
                if good:
                    sort_crossings(crossings.key, crossings.change, spare.key, spare.change, crossings.count, False)
                if good and not workspace.failed:
                    good = self.run(engine, engine.lists, &pencil, &units, &crossings, &workspace, condensed,
                                    <const uint8_t*>cnp.PyArray_DATA(included),
                                    <const double*>cnp.PyArray_DATA(centre) if centre is not None else NULL,
                                    with_meetings, values)
            engine.check(&workspace)
            if not good:
                raise MemoryError("no memory for the crossings of the line")
        finally:
            free(memory)
            free(values)
            free(others.a)
            free(crossings.key)
            free(crossings.change)
            free(spare.key)
            free(spare.change)
            end(&workspace, condensed)

    def __dealloc__(self):
        free(self.breaks_data)
        free(self.means_data)
        free(self.sums_data)
        free(self.meetings_data)

    cdef bint prepare(self, Engine engine, PreparedLists lists, const Pencil* pencil, const uint8_t* included,
                      Others* others, Units* units, Crossings* crossings, Workspace* workspace, uint8_t* seen,
                      tieaware_tile* tile) noexcept nogil:
        """Write the units and the crossings of all queries; return False if there is no memory."""
        cdef Py_ssize_t query, u, count
        cdef Groups groups
        units.first[0] = 0
        for query in range(lists.n_queries):
            count = 0
            if included[query]:
                count = write_units(lists, query, pencil, lists.placement, units, seen)
            units.first[query + 1] = units.first[query] + count
            gather(lists, query, pencil, others)
            if not write_crossings(lists, query, pencil, others, units, crossings, tile, &self.n_blurred):
                return False
            if interrupted(&workspace.interruption, others.n + count * others.n):
                workspace.failed = True
                return True
            for u in range(units.first[query], units.first[query + 1]):
                units.unit[u] = <int32_t>u
                units.place[u] = <int32_t>u
                units.query[u] = <int32_t>query
            groups.count = groups.stride = count
            groups.start = units.start + units.first[query]
            groups.size = units.size + units.first[query]
            groups.weight = units.weight + units.first[query] * lists.n_weightings
            groups.condensed = NULL
            engine.carry_digits(&groups)
            order(units, query, lists.n_weightings)
        units.count = units.first[lists.n_queries]
        return True

    cdef bint run(self, Engine engine, PreparedLists lists, const Pencil* pencil, Units* units, Crossings* crossings,
                  Workspace* workspace, Groups* condensed, const uint8_t* included, const double* centre,
                  bint with_meetings, double* values) noexcept nogil:
        """Go through the crossings and write the breaks and means; return False if there is no memory."""
        cdef Py_ssize_t m = engine.n_measures, n = lists.n_queries, query, i, e = 0, k
        cdef double* sums = values + n * m
        cdef double* last = sums + 3 * m
        cdef int64_t* touched = <int64_t*>(last + m)
        cdef Mean* means = <Mean*>(touched + n + 1)
        cdef int64_t* latest = <int64_t*>(means + m)
        cdef int64_t* n_met = latest + n + 1
        cdef Py_ssize_t g
        cdef int64_t depth = lists.depth
        cdef uint64_t key
        cdef uint32_t change
        cdef bint is_single, changed
        cdef double old, new
        cdef const Measure* measure
        cdef Groups groups
        if not self.reserve(crossings.count + 1, centre != NULL):
            return False
        for i in range(m):
            means[i] = mean_of_none(False)
        memset(sums, 0, 3 * m * sizeof(double))
        for query in range(n):
            touched[query] = latest[query] = -1
            if not included[query]:
                continue
            self.view(units, query, lists.n_weightings, condensed, &groups)
            engine.write_condensed(&groups)
            engine.write_means(query, &groups, workspace, values + query * m)
            if workspace.failed:
                return True
            for i in range(m):
                extend(&means[i], values[query * m + i])
                if centre != NULL:
                    add_to(sums + 3 * i, values[query * m + i] - centre[query * m + i], 1.0)
        for i in range(m):
            last[i] = rounded(&means[i])
        self.emit(&pencil.bounds, 0.0, last, sums)
        self.latest = pencil.bounds.low
        if with_meetings:
            self.find_meetings(units, crossings, &pencil.bounds, lists.placement == AVERAGE, latest, n_met)
        # touched[q] is the last crossing at which query q was evaluated anew.
        while e < crossings.count:
            key = crossings.key[e]
            k = e
            changed = False
            # Apply all changes at this t, then evaluate each query that they concern.
            while e < crossings.count and crossings.key[e] == key:
                change = crossings.change[e]
                g = units.place[change >> 1]
                units.start[g] += -1 if change & 1 else 1
                e += 1
            is_single = e == k + 1
            while k < e:
                query = units.query[crossings.change[k] >> 1]
                g = units.place[crossings.change[k] >> 1]
                if touched[query] != e:
                    touched[query] = e
                    if is_single:
                        g = settle(units, query, lists.n_weightings, g)
                        if units.start[g] > depth:
                            break
                    else:
                        order(units, query, lists.n_weightings)
                    self.view(units, query, lists.n_weightings, condensed, &groups)
                    engine.write_condensed(&groups)
                    for i in range(m):
                        # A change beyond the cut-off changes nothing.
                        measure = &engine.measure[i]
                        if is_single and units.start[g] > measure.cutoff and not measure.judged_only:
                            continue
                        old = values[query * m + i]
                        new = engine.mean_of(query, i, &groups, workspace)
                        if new != old and old == old:
                            changed = True
                            values[query * m + i] = new
                            replace(&means[i], old, new)
                            last[i] = rounded(&means[i])
                            if centre != NULL:
                                add_to(sums + 3 * i, old - centre[query * m + i], -1.0)
                                add_to(sums + 3 * i, new - centre[query * m + i], 1.0)
                    if workspace.failed:
                        return True
                k += 1
            if changed:
                self.emit(&pencil.bounds, t_of(key), last, sums)
        # The last interval, too, may be too narrow.
        if self.count > 1 and is_close(&pencil.bounds, self.latest, pencil.bounds.high):
            self.count = self.count - 1
        self.trim()
        return True

    cdef void find_meetings(self, const Units* units, const Crossings* crossings, const tieaware_bounds* bounds,
                            bint is_average, int64_t* latest, int64_t* n_met) noexcept nogil:
        """List where a mean may be higher than on both sides: where more than two documents of a query meet.

        latest[q] is the last crossing of query q, and n_met[q] how many of its crossings in a row are too close to each
        other to count as apart. Two weighted documents that cross have two crossings. If tied documents are placed by
        label, the values of several queries may be at their highest where these have crossings at the same time.
        """
        cdef Py_ssize_t e, query, found = 0
        cdef uint64_t key
        cdef int64_t before
        cdef double t
        cdef bint meets
        for e in range(crossings.count):
            query = units.query[crossings.change[e] >> 1]
            key = crossings.key[e]
            t = t_of(key)
            before = latest[query]
            latest[query] = e
            if before < 0 or not is_close(bounds, t_of(crossings.key[before]), t):
                n_met[query] = 1
                meets = False
            else:
                n_met[query] += 1
                meets = (
                    n_met[query] > 2 or crossings.key[before] != key
                    or (crossings.change[before] ^ crossings.change[e]) & 1 == 0
                    or crossings.change[before] >> 1 == crossings.change[e] >> 1
                )
            if not is_average and e > 0 and units.query[crossings.change[e - 1] >> 1] != query:
                meets = meets or is_close(bounds, t_of(crossings.key[e - 1]), t)
            if meets and (found == 0 or self.meetings_data[found - 1] != t):
                self.meetings_data[found] = t
                found += 1
        self.n_meetings = found

    cdef inline void view(self, Units* units, Py_ssize_t query, Py_ssize_t n_weightings, const Groups* condensed,
                          Groups* groups) noexcept nogil:
        """Write the groups of a query, whose units are in rank order."""
        groups.count = groups.stride = units.first[query + 1] - units.first[query]
        groups.start = units.start + units.first[query]
        groups.size = units.size + units.first[query]
        groups.weight = units.weight + units.first[query] * n_weightings
        groups.condensed = condensed.condensed

    cdef bint reserve(self, Py_ssize_t n, bint with_sums) noexcept nogil:
        """Allocate memory for n rows; pages that are never written to take no memory."""
        self.breaks_data = <double*>malloc(n * sizeof(double))
        self.means_data = <double*>malloc(max(n * self.n_measures, 1) * sizeof(double))
        self.meetings_data = <double*>malloc(n * sizeof(double))
        if with_sums:
            self.sums_data = <double*>malloc(max(n * 2 * self.n_measures, 1) * sizeof(double))
        return (
            self.breaks_data != NULL and self.means_data != NULL and self.meetings_data != NULL
            and (self.sums_data != NULL or not with_sums)
        )

    cdef void trim(self) noexcept nogil:
        """Give back the memory of rows that are not used."""
        cdef void* less = realloc(self.breaks_data, self.count * sizeof(double))
        if less != NULL:
            self.breaks_data = <double*>less
        less = realloc(self.means_data, max(self.count * self.n_measures, 1) * sizeof(double))
        if less != NULL:
            self.means_data = <double*>less
        less = realloc(self.meetings_data, max(self.n_meetings, 1) * sizeof(double))
        if less != NULL:
            self.meetings_data = <double*>less
        if self.sums_data != NULL:
            less = realloc(self.sums_data, max(self.count * 2 * self.n_measures, 1) * sizeof(double))
            if less != NULL:
                self.sums_data = <double*>less

    cdef inline void emit(self, const tieaware_bounds* bounds, double t, const double* means,
                          const double* sums) noexcept nogil:
        """Append the means after the break t; the first call appends those before all breaks.

        If the interval before t is too narrow to count, its row is replaced: the breaks at its ends are one.
        """
        cdef Py_ssize_t i, m = self.n_measures, row = self.count
        if row > 0 and is_close(bounds, self.latest, t):
            row -= 1
        else:
            self.breaks_data[row] = t
        for i in range(m):
            self.means_data[row * m + i] = means[i]
            if self.sums_data != NULL:
                self.sums_data[(row * m + i) * 2] = sums[3 * i] + sums[3 * i + 1]
                self.sums_data[(row * m + i) * 2 + 1] = sums[3 * i + 2]
        self.count = row + 1
        self.latest = t

    @property
    def breaks(self):
        return view(self, self.breaks_data + 1 if self.breaks_data != NULL else NULL, 1, self.count - 1, 0, 0)

    @property
    def means(self):
        return view(self, self.means_data, 2, self.count, self.n_measures, 0)

    @property
    def meetings(self):
        return view(self, self.meetings_data, 1, self.n_meetings, 0, 0)

    @property
    def sums(self):
        return None if self.sums_data == NULL else view(self, self.sums_data, 3, self.count, self.n_measures, 2)


cdef cnp.ndarray view(Line line, double* data, int n_dims, Py_ssize_t i, Py_ssize_t j, Py_ssize_t k):
    """Return an array of data that a line owns and keeps."""
    cdef cnp.npy_intp shape[3]
    cdef cnp.ndarray array
    shape[0], shape[1], shape[2] = i, j, k
    array = cnp.PyArray_SimpleNewFromData(n_dims, shape, cnp.NPY_DOUBLE, data)
    cnp.PyArray_CLEARFLAGS(array, cnp.NPY_ARRAY_WRITEABLE)
    cnp.set_array_base(array, line)
    return array


cdef inline void replace(Mean* mean, double old, double new) noexcept nogil:
    """Replace one value of a mean by another."""
    cdef double_double sum = two_sum(mean.sum.high, -old)
    cdef double low = sum.low
    sum = two_sum(sum.high, new)
    mean.sum.high = sum.high
    mean.sum.low += low + sum.low


cdef inline void add_to(double* sums, double difference, double sign) noexcept nogil:
    """Add a value, or subtract it, to a sum in two parts and to a sum of squares."""
    cdef double_double sum = two_sum(sums[0], sign * difference)
    if difference != difference:
        return
    sums[0] = sum.high
    sums[1] += sum.low
    sums[2] += sign * (difference * difference)
