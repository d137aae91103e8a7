"""The means of all measures along a line of scores, a + t d: where they change, and their values in between.

The order of two documents changes once, at the t where their scores cross. Only crossings of weighted documents matter,
and a crossing only changes the number of documents before a tie group. So one pass over the sorted crossings yields
every value: at each crossing, the numbers of the query's groups are updated and its measures evaluated anew.

A *unit* is a set of documents of a query that are tied for every t, with a weighted document among them; or, if the tie
rule orders tied documents, one weighted document. Crossings are rounded correctly to a double. So crossings that
coincide have equal doubles, and no t lies between different crossings that do.
"""
cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memset

from tieaware.kernels._crossings cimport crossing, key_of, t_of
from tieaware.kernels._engine cimport Engine, Workspace, end
from tieaware.kernels._exact cimport double_double, two_sum
from tieaware.kernels._groups cimport AVERAGE, BEST_FIRST, Groups, PreparedLists
from tieaware.kernels._interruption cimport interrupted
from tieaware.kernels._means cimport Mean, extend, mean_of_none, rounded
from tieaware.kernels._measure cimport Measure

cnp.import_array()

# Crossings are sorted by 11 bits of their key at a time.
cdef enum:
    BITS = 11
    BUCKETS = 2048


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


# The crossings: the sortable key of t, and twice the unit plus 1 if a document falls behind the unit.
cdef struct Crossings:
    Py_ssize_t count, room
    uint64_t* key
    uint32_t* change


cdef bint append(Crossings* crossings, double t, Py_ssize_t unit, bint falls) noexcept nogil:
    crossings.key[crossings.count] = key_of(t)
    crossings.change[crossings.count] = <uint32_t>(2 * unit + falls)
    crossings.count += 1
    return True


cdef bint make_room(Crossings* crossings, Py_ssize_t more) noexcept nogil:
    """Make room for more crossings; return False if there is no memory."""
    cdef Py_ssize_t room = max(crossings.count + more, 2 * crossings.room)
    cdef void* grown
    if crossings.count + more <= crossings.room:
        return True
    grown = realloc(crossings.key, room * sizeof(uint64_t))
    if grown == NULL:
        return False
    crossings.key = <uint64_t*>grown
    grown = realloc(crossings.change, room * sizeof(uint32_t))
    if grown == NULL:
        return False
    crossings.change = <uint32_t*>grown
    crossings.room = room
    return True


cdef bint sort(Crossings* crossings) noexcept nogil:
    """Sort the crossings by their keys; return False if there is no memory.

    The highest 44 bits are sorted by radix, from the lowest digit on. What they leave unsorted is next to each other.
    """
    cdef Py_ssize_t n = crossings.count, i, j
    cdef uint64_t* key = <uint64_t*>malloc(max(n, 1) * sizeof(uint64_t))
    cdef uint32_t* change = <uint32_t*>malloc(max(n, 1) * sizeof(uint32_t))
    cdef uint64_t* from_key = crossings.key
    cdef uint32_t* from_change = crossings.change
    cdef int64_t count[4][BUCKETS]
    cdef int64_t before, here
    cdef int digit, shift
    cdef uint64_t k
    cdef uint32_t c
    if key == NULL or change == NULL:
        free(key)
        free(change)
        return False
    memset(count, 0, sizeof(count))
    for i in range(n):
        for digit in range(4):
            count[digit][(from_key[i] >> (64 - BITS * (4 - digit))) & (BUCKETS - 1)] += 1
    for digit in range(4):
        shift = 64 - BITS * (4 - digit)
        before = 0
        for i in range(BUCKETS):
            here = count[digit][i]
            count[digit][i] = before
            before += here
        for i in range(n):
            k = from_key[i]
            j = count[digit][(k >> shift) & (BUCKETS - 1)]
            count[digit][(k >> shift) & (BUCKETS - 1)] += 1
            key[j] = k
            change[j] = from_change[i]
        from_key, key = key, from_key
        from_change, change = change, from_change
    # After four exchanges, the sorted crossings are in their own arrays again.
    free(key)
    free(change)
    for i in range(1, n):
        k = from_key[i]
        if k >= from_key[i - 1]:
            continue
        c = from_change[i]
        j = i
        while j > 0 and from_key[j - 1] > k:
            from_key[j] = from_key[j - 1]
            from_change[j] = from_change[j - 1]
            j -= 1
        from_key[j] = k
        from_change[j] = c
    return True


cdef Py_ssize_t write_units(PreparedLists lists, Py_ssize_t query, const double* a, const double* d, int placement,
                            Units* units, uint8_t* seen) noexcept nogil:
    """Write the units of a query with their sizes and weights; return how many there are.

    `a` and `d` are those of the list. seen[i] is working memory for each weighted document. Until `start` is final, it
    holds how many documents of the same line are before the unit.
    """
    cdef Py_ssize_t begin = lists.weighted_offsets[query], n = lists.weighted_offsets[query + 1] - begin
    cdef Py_ssize_t first = units.first[query], count = 0, u, w, c, same
    cdef Py_ssize_t n_docs = lists.offsets[query + 1] - lists.offsets[query], j
    cdef const int64_t* position = lists.weighted_position + begin
    cdef double* weight
    cdef double a_u, d_u
    for w in range(n):
        seen[w] = 0
    for w in range(n):
        if seen[w]:
            continue
        a_u, d_u = a[position[w]], d[position[w]]
        same = 0
        for j in range(n_docs):
            same += a[j] == a_u and d[j] == d_u
        u = 0
        for j in range(w, n):
            if seen[j] or a[position[j]] != a_u or d[position[j]] != d_u:
                continue
            seen[j] = 1
            if placement != AVERAGE or u == 0:
                units.unit[first + count] = <int32_t>position[j]
                units.size[first + count] = same if placement == AVERAGE else 1
                units.start[first + count] = 0
                if placement == BEST_FIRST:
                    units.start[first + count] = u
                elif placement != AVERAGE:
                    units.start[first + count] = same - 1 - u
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


cdef bint write_crossings(PreparedLists lists, Py_ssize_t query, const double* a, const double* d, double low,
                          double high, Units* units, Crossings* crossings) noexcept nogil:
    """Add the crossings of a query between `low` and `high`, and complete the starts of its units just above `low`."""
    cdef Py_ssize_t n = lists.offsets[query + 1] - lists.offsets[query], u, j
    cdef double a_u, d_u, t
    cdef int64_t above
    cdef int32_t document
    for u in range(units.first[query], units.first[query + 1]):
        if not make_room(crossings, n):
            return False
        document = units.unit[u]
        a_u, d_u = a[document], d[document]
        above = 0
        for j in range(n):
            if d[j] == d_u:
                above += a[j] > a_u
                continue
            t = crossing(a_u, d_u, a[j], d[j])
            # Before the crossing, the document with the smaller d is above the other.
            if t <= low:
                above += d[j] > d_u
            else:
                above += d[j] < d_u
                if t < high:
                    append(crossings, t, u, d[j] < d_u)
        units.start[u] += above
    return True


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
    a, d : float64[n_docs]
        The scores at t = 0 and their direction; finite, C-contiguous.
    low, high : float
        The ends of the line; they may be infinite.
    included : uint8[n_queries]
        Which queries count.
    centre : float64[n_queries, n_measures], optional
        What is subtracted from the values in `sums`; without it, these are not computed.

    Attributes
    ----------
    breaks : float64[n]
        Where a mean changes, ascending.
    means : float64[n + 1, n_measures]
        The means before the first break, between breaks, and after the last.
    sums : float64[n + 1, n_measures, 2]
        The sums over the queries of the values minus the centre, and of their squares.
    """
    cdef double* breaks_data
    cdef double* means_data
    cdef double* sums_data
    cdef Py_ssize_t count, room, n_measures
    cdef readonly Py_ssize_t n_crossings

    def __init__(self, Engine engine not None, cnp.ndarray a not None, cnp.ndarray d not None, double low, double high,
                 cnp.ndarray included not None, cnp.ndarray centre=None):
        cdef Units units
        cdef Crossings crossings
        cdef Workspace workspace
        cdef Groups* condensed = engine.begin(&workspace)
        cdef Py_ssize_t n = engine.lists.n_weighted, queries = engine.lists.n_queries, m = engine.n_measures
        cdef void* memory = NULL
        cdef double* values = NULL
        cdef bint good = False
        cdef Py_ssize_t words = (queries + 2) + 2 * n + (3 * n) // 2 + 4 + n * engine.lists.n_weightings
        cdef Py_ssize_t state = (queries + 6) * m + queries + 2
        self.n_measures = m
        crossings.count = crossings.room = 0
        crossings.key = NULL
        crossings.change = NULL
        try:
            memory = malloc(words * 8 + max(engine.lists.most_weighted, 1))
            values = <double*>malloc(state * 8 + m * sizeof(Mean))
            if memory == NULL or values == NULL:
                raise MemoryError("no memory for the line")
            units.first = <int64_t*>memory
            units.start = units.first + queries + 2
            units.size = units.start + n
            units.weight = <double*>(units.size + n)
            units.unit = <int32_t*>(units.weight + n * engine.lists.n_weightings)
            units.place = units.unit + n
            units.query = units.place + n
            with nogil:
                good = self.prepare(engine, engine.lists, <const double*>cnp.PyArray_DATA(a),
                                    <const double*>cnp.PyArray_DATA(d), low,
                                    high, <const uint8_t*>cnp.PyArray_DATA(included), &units, &crossings, &workspace,
                                    <uint8_t*>(<char*>memory + words * 8))
                if good:
                    good = sort(&crossings)
                    self.n_crossings = crossings.count
                if good and not workspace.failed:
                    good = self.run(engine, engine.lists, &units, &crossings, &workspace, condensed,
                                    <const uint8_t*>cnp.PyArray_DATA(included),
                                    <const double*>cnp.PyArray_DATA(centre) if centre is not None else NULL, values)
            engine.check(&workspace)
            if not good:
                raise MemoryError("no memory for the crossings of the line")
        finally:
            free(memory)
            free(values)
            free(crossings.key)
            free(crossings.change)
            end(&workspace, condensed)

    def __dealloc__(self):
        free(self.breaks_data)
        free(self.means_data)
        free(self.sums_data)

    cdef bint prepare(self, Engine engine, PreparedLists lists, const double* a, const double* d, double low,
                      double high, const uint8_t* included, Units* units, Crossings* crossings, Workspace* workspace,
                      uint8_t* seen) noexcept nogil:
        """Write the units and the crossings of all queries; return False if there is no memory."""
        cdef Py_ssize_t query, u, count
        cdef int64_t at
        cdef Groups groups
        units.first[0] = 0
        for query in range(lists.n_queries):
            at = lists.offsets[query]
            count = 0
            if included[query]:
                count = write_units(lists, query, a + at, d + at, lists.placement, units, seen)
            units.first[query + 1] = units.first[query] + count
            if not write_crossings(lists, query, a + at, d + at, low, high, units, crossings):
                return False
            if interrupted(&workspace.interruption, count * (lists.offsets[query + 1] - at)):
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

    cdef bint run(self, Engine engine, PreparedLists lists, Units* units, Crossings* crossings, Workspace* workspace,
                  Groups* condensed,
                  const uint8_t* included, const double* centre, double* values) noexcept nogil:
        """Go through the crossings and write the breaks and means; return False if there is no memory."""
        cdef Py_ssize_t m = engine.n_measures, n = lists.n_queries, query, i, e = 0, k
        cdef double* sums = values + n * m
        cdef double* last = sums + 3 * m
        cdef int64_t* touched = <int64_t*>(last + m)
        cdef Mean* means = <Mean*>(touched + n + 1)
        cdef Py_ssize_t g
        cdef int64_t depth = lists.depth
        cdef uint64_t key
        cdef uint32_t change
        cdef bint is_single, changed
        cdef double old, new
        cdef const Measure* measure
        cdef Groups groups
        for i in range(m):
            means[i] = mean_of_none(False)
        memset(sums, 0, 3 * m * sizeof(double))
        for query in range(n):
            touched[query] = -1
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
        if not self.emit(0.0, last, sums, m, centre != NULL):
            return False
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
            if changed and not self.emit(t_of(key), last, sums, m, centre != NULL):
                return False
        return True

    cdef inline void view(self, Units* units, Py_ssize_t query, Py_ssize_t n_weightings, const Groups* condensed,
                          Groups* groups) noexcept nogil:
        """Write the groups of a query, whose units are in rank order."""
        groups.count = groups.stride = units.first[query + 1] - units.first[query]
        groups.start = units.start + units.first[query]
        groups.size = units.size + units.first[query]
        groups.weight = units.weight + units.first[query] * n_weightings
        groups.condensed = condensed.condensed

    cdef bint emit(self, double t, const double* means, const double* sums, Py_ssize_t m,
                   bint with_sums) noexcept nogil:
        """Append the means after the break t; the first call appends those before all breaks."""
        cdef Py_ssize_t i, count = self.count, room = max(2 * self.room, 256)
        cdef void* grown
        if count == self.room:
            grown = realloc(self.breaks_data, room * sizeof(double))
            if grown == NULL:
                return False
            self.breaks_data = <double*>grown
            grown = realloc(self.means_data, room * m * sizeof(double))
            if grown == NULL:
                return False
            self.means_data = <double*>grown
            if with_sums:
                grown = realloc(self.sums_data, room * 2 * m * sizeof(double))
                if grown == NULL:
                    return False
                self.sums_data = <double*>grown
            self.room = room
        self.breaks_data[count] = t
        for i in range(m):
            self.means_data[count * m + i] = means[i]
            if with_sums:
                self.sums_data[(count * m + i) * 2] = sums[3 * i] + sums[3 * i + 1]
                self.sums_data[(count * m + i) * 2 + 1] = sums[3 * i + 2]
        self.count = count + 1
        return True

    @property
    def breaks(self):
        return view(self, self.breaks_data + 1 if self.breaks_data != NULL else NULL, 1, self.count - 1, 0, 0)

    @property
    def means(self):
        return view(self, self.means_data, 2, self.count, self.n_measures, 0)

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
