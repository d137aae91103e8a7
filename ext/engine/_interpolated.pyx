"""Interpolated precision under ties, and the greatest F: maxima over relevant documents, with exact mean and variance.

The precision at the h-th relevant document is h/j, where j is its rank. The interpolated precision is the maximum of
h/j over the wanted h-th relevant document and all later ones. The distribution of such a maximum is computed from the
end of the list, group by group; see _maxima.pyx. The mean over several recalls is the mean of the means.

The greatest F at any cut-off is found in the same way: F is (1 + β²) h/(j + β² N), so `shift` = β² N is added to every
rank, and ranks below the measure's cut-off do not change the maximum.

The variance of a mean over several recalls: the interpolated precisions at two recalls depend on each other, so their
list is walked from its end to its beginning. A state of the walk is a pair: how many relevant documents of the current
group are still to come, and the maximum of h/j so far, which is one of finitely many fractions; the h-th relevant
document has rank j. Whenever h reaches a wanted number, the maximum is added to the sum of the interpolated precisions.
For each state, three numbers are kept: its probability, and its contributions to the mean and to the second moment of
the sum. A group of n documents, r of them relevant, has up to n r fractions, and each of its n slots takes up to r
times as many steps as there are fractions.
"""
from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from tieaware.kernels._groups cimport Groups
from tieaware.kernels._interruption cimport Interruption, interrupted
from tieaware.kernels._maxima cimport (
    Maxima, join_group, mean_above, new_maxima, size_of_maxima, variance_above, write_group,
)
from tieaware.kernels._measure cimport TOO_MANY, Query
from tieaware.kernels._sorting cimport distinct, sort

cdef enum:
    N_RECALLS = 11

# The kernel refuses to go on after MOST_STEPS steps, which take about a second. It refuses to begin if there would be
# more than MOST_STATES states, which need about 100 MB.
cdef double MOST_STEPS = 5e8
cdef double MOST_STATES = 4e6


cdef struct Walk:
    # The values that the maximum of h/j can have, ascending, beginning with 0: the fractions.
    double* value
    Py_ssize_t n_values
    # Three numbers for each state: its probability, its contribution to the mean, and its contribution to the second
    # moment. In each array, row a is for the states with `a` relevant documents of the group still to come, and has one
    # number for each fraction.
    double* chance
    double* sum
    double* square
    # In row a, only the fractions first[a] … last[a] have a probability above 0. If last[a] < first[a], none has.
    Py_ssize_t* first
    Py_ssize_t* last
    double steps
    Interruption* interruption


cdef inline Py_ssize_t index_of(const Walk* walk, double fraction) noexcept nogil:
    """Return the index of a fraction in `walk.value`, which must contain it."""
    cdef Py_ssize_t low = 0, high = walk.n_values - 1, middle
    while low < high:
        middle = (low + high) // 2
        if walk.value[middle] < fraction:
            low = middle + 1
        else:
            high = middle
    return low


cdef inline void scale_row(Walk* walk, Py_ssize_t a, double by) noexcept nogil:
    cdef Py_ssize_t i, row = a * walk.n_values
    if by <= 0.0:
        walk.first[a] = 0
        walk.last[a] = -1
    for i in range(row + walk.first[a], row + walk.last[a] + 1):
        walk.chance[i] *= by
        walk.sum[i] *= by
        walk.square[i] *= by


cdef void move_up(Walk* walk, Py_ssize_t a, double by, Py_ssize_t at, double times, double floor) noexcept nogil:
    """Take the step in which the next document is relevant: add the states of row a+1, times a factor `by`, to row a.

    The precision at this document is the fraction with index `at`, and maxima below it increase to it. Then the maximum
    minus `floor` is added to the sum `times` times.
    """
    cdef Py_ssize_t n = walk.n_values, i, source, start
    cdef Py_ssize_t from_first = walk.first[a + 1], from_last = walk.last[a + 1]
    cdef double p = 0.0, s = 0.0, q = 0.0, more
    if from_last < from_first:
        return
    start = max(from_first, at)
    widen(walk, a, start, max(from_last, at))
    for source in range((a + 1) * n + from_first, (a + 1) * n + min(at - 1, from_last) + 1):
        p += walk.chance[source]
        s += walk.sum[source]
        q += walk.square[source]
    if from_first < at:
        put(walk, a * n + at, p * by, s * by, q * by, times * (walk.value[at] - floor))
    if times == 0.0:
        for i in range(start, from_last + 1):
            walk.chance[a * n + i] += by * walk.chance[(a + 1) * n + i]
            walk.sum[a * n + i] += by * walk.sum[(a + 1) * n + i]
            walk.square[a * n + i] += by * walk.square[(a + 1) * n + i]
        return
    for i in range(start, from_last + 1):
        source = (a + 1) * n + i
        more = times * (walk.value[i] - floor)
        put(walk, a * n + i, by * walk.chance[source], by * walk.sum[source], by * walk.square[source], more)


cdef inline void put(Walk* walk, Py_ssize_t state, double p, double s, double q, double more) noexcept nogil:
    """Add to a state a probability p with its contributions s and q, after the sum has grown by `more`."""
    walk.chance[state] += p
    walk.sum[state] += s + more * p
    walk.square[state] += q + 2.0 * more * s + more * more * p


cdef inline void widen(Walk* walk, Py_ssize_t a, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Extend the range of fractions of row a to first … last; the states that are new get the probability 0."""
    cdef Py_ssize_t row = a * walk.n_values
    if walk.last[a] < walk.first[a]:
        walk.first[a] = first
        walk.last[a] = first - 1
    while walk.first[a] > first:
        walk.first[a] -= 1
        clear(walk, row + walk.first[a])
    while walk.last[a] < last:
        walk.last[a] += 1
        clear(walk, row + walk.last[a])


cdef inline void clear(Walk* walk, Py_ssize_t state) noexcept nogil:
    walk.chance[state] = walk.sum[state] = walk.square[state] = 0.0


cdef void climb(Walk* walk, int64_t t, int64_t n, int64_t r, int64_t before, const int64_t* wanted, int n_points,
                const double* floors) noexcept nogil:
    """Walk through one group from its last slot to its first. At the beginning, all states are in row r."""
    cdef int64_t x, a, h, lowest = max(wanted[0] - 1 - before, 0)
    cdef Py_ssize_t at
    cdef double times, floor, steps = walk.steps
    cdef int i
    for x in range(n, 0, -1):
        for a in range(max(lowest, r - (n - x) - 1), r + 1):
            # Here, r - a relevant documents of the group are below slot x, and `a` of them are at slot x or above it.
            if a > lowest or lowest == 0:
                scale_row(walk, a, (x - a) / <double>x)
            if a == r:
                continue
            h = before + a + 1
            times = floor = 0.0
            for i in range(n_points):
                if wanted[i] == h:
                    times += 1.0
                    floor = floors[i]
            at = index_of(walk, h / <double>(t + x))
            move_up(walk, a, min(a + 1, x) / <double>x, at, times, floor)
            walk.steps += walk.last[a + 1] - walk.first[a + 1] + 1
        if walk.steps > MOST_STEPS or interrupted(walk.interruption, <int64_t>(4.0 * (walk.steps - steps))):
            walk.steps = INFINITY
            return
        steps = walk.steps


cdef inline void gather(Walk* walk, Py_ssize_t lowest, Py_ssize_t row, Py_ssize_t n_rows) noexcept nogil:
    """Move all states from row `lowest`, where the walk through a group ends, to `row`, where the next walk begins."""
    cdef Py_ssize_t i, a, first = walk.first[lowest], last = walk.last[lowest], n = walk.n_values
    if row != lowest:
        for i in range(first, last + 1):
            walk.chance[row * n + i] = walk.chance[lowest * n + i]
            walk.sum[row * n + i] = walk.sum[lowest * n + i]
            walk.square[row * n + i] = walk.square[lowest * n + i]
    for a in range(n_rows):
        walk.first[a] = 0
        walk.last[a] = -1
    walk.first[row] = first
    walk.last[row] = last


cdef Py_ssize_t count_fractions(const Groups* groups, const double* weight, int64_t wanted) noexcept nogil:
    cdef Py_ssize_t g
    cdef int64_t r, before = 0
    cdef double total = 1.0
    for g in range(groups.count):
        r = <int64_t>weight[g]
        total += <double>max(before + r + 1 - max(before + 1, wanted), 0) * (groups.size[g] - r + 1)
        before += r
    return <Py_ssize_t>total if total < 1e15 else <Py_ssize_t>1e15


cdef void list_fractions(const Groups* groups, const double* weight, int64_t wanted, Walk* walk) noexcept nogil:
    """List the fractions of all places that the h-th relevant document can have."""
    cdef Py_ssize_t g, n = 1
    cdef int64_t h, x, r, before = 0
    walk.value[0] = 0.0
    for g in range(groups.count):
        r = <int64_t>weight[g]
        for h in range(max(before + 1, wanted), before + r + 1):
            for x in range(h - before, groups.size[g] - r + h - before + 1):
                walk.value[n] = h / <double>(groups.start[g] + x)
                n += 1
        before += r
    sort(walk.value, n)
    walk.n_values = distinct(walk.value, n)


cdef struct Extent:
    # The number of retrieved relevant documents, an upper bound of the number of fractions, and the number of rows of
    # states.
    int64_t retrieved
    Py_ssize_t n_values
    Py_ssize_t n_rows


cdef Extent extent_of(const Groups* groups, const double* weight, int64_t wanted) noexcept nogil:
    cdef Py_ssize_t g
    cdef Extent extent
    extent.retrieved = 0
    extent.n_rows = 2
    for g in range(groups.count):
        extent.retrieved += <int64_t>weight[g]
        extent.n_rows = max(extent.n_rows, <Py_ssize_t>weight[g] + 1)
    extent.n_values = count_fractions(groups, weight, wanted)
    return extent


cdef int64_t size_of_walk(const Query* q, int64_t wanted) noexcept nogil:
    """Return how many numbers of working memory `variance_of_sum` needs, or TOO_MANY; `wanted` is the least number."""
    cdef Extent extent = extent_of(q.groups, q.weight, wanted)
    if extent.retrieved < wanted:
        return 0
    if <double>extent.n_values * extent.n_rows > MOST_STATES:
        return TOO_MANY
    return extent.n_values + 3 * extent.n_values * extent.n_rows + 2 * extent.n_rows


cdef double variance_of_sum(const Query* q, const int64_t* wanted, const double* floors, int n_points) noexcept nogil:
    """Return the variance of the sum of the interpolated precisions at several numbers of relevant documents.

    `wanted` has these numbers, ascending, and `floors` the interpolated precisions in the worst order. The variance is
    infinite if it would take too long.
    """
    cdef const Groups* groups = q.groups
    cdef const double* weight = q.weight
    cdef Extent extent = extent_of(groups, weight, wanted[0])
    cdef Py_ssize_t g, a, n_states = extent.n_values * extent.n_rows
    cdef int64_t r, lowest = 0, retrieved = extent.retrieved
    cdef Walk walk
    cdef double total = 0.0, square = 0.0
    if retrieved < wanted[0]:
        return 0.0
    walk.value = q.workspace
    list_fractions(groups, weight, wanted[0], &walk)
    walk.chance = walk.value + extent.n_values
    walk.sum = walk.chance + n_states
    walk.square = walk.sum + n_states
    walk.first = <Py_ssize_t*>(walk.square + n_states)
    walk.last = walk.first + extent.n_rows
    walk.steps = 0.0
    walk.interruption = q.interruption
    # At the end of the list, where the walk begins, the maximum is 0 with probability 1.
    walk.first[0] = walk.last[0] = 0
    walk.chance[0] = 1.0
    walk.sum[0] = walk.square[0] = 0.0
    for g in range(groups.count - 1, -1, -1):
        r = <int64_t>weight[g]
        if r > 0 and retrieved >= wanted[0]:
            gather(&walk, lowest, r, extent.n_rows)
            retrieved -= r
            lowest = max(wanted[0] - 1 - retrieved, 0)
            climb(&walk, groups.start[g], groups.size[g], r, retrieved, wanted, n_points, floors)
            if walk.steps > MOST_STEPS:
                return INFINITY
    for a in range(lowest * walk.n_values + walk.first[lowest], lowest * walk.n_values + walk.last[lowest] + 1):
        total += walk.sum[a]
        square += walk.square[a]
    return max(square - total * total, 0.0)


cdef inline int64_t wanted_at(double recall, double n_relevant) noexcept nogil:
    """Return the number of relevant documents that reaches a recall, rounded as in trec_eval 10, but at least 1."""
    return max(<int64_t>(recall * n_relevant + 0.5), 1)


cdef inline int64_t retrieved_by(const Query* q) noexcept nogil:
    """Return the number of relevant documents of the list."""
    cdef Py_ssize_t g
    cdef int64_t retrieved = 0
    for g in range(q.groups.count):
        retrieved += <int64_t>q.weight[g]
    return retrieved


cdef void write_floors(const Query* q, const int64_t* wanted, int n_points, double shift,
                       double* floors) noexcept nogil:
    """Write the maxima of h/(j + shift) in the worst order of tied documents, a lower bound for all orders.

    In the worst order, the last relevant document of a group is at the end of the group, and as many relevant documents
    as possible are below the cut-off.
    """
    cdef const Groups* groups = q.groups
    cdef int64_t end, r, hits, k = q.measure.cutoff, after = retrieved_by(q)
    cdef Py_ssize_t g
    cdef int i = n_points - 1
    cdef double greatest = 0.0
    for g in range(groups.count - 1, -1, -1):
        r = <int64_t>q.weight[g]
        hits = after
        after -= r
        if groups.start[g] >= k:
            continue
        end = groups.start[g] + groups.size[g]
        if end > k:
            hits -= min(r, end - k)
            end = k
        # Numbers above that of the hits are reached neither in this group nor in those above it.
        while i >= 0 and wanted[i] > hits:
            floors[i] = greatest
            i -= 1
        if r > 0 and i >= 0:
            greatest = max(greatest, hits / (end + shift))
    while i >= 0:
        floors[i] = greatest
        i -= 1


cdef double mean_of_maxima(const Query* q, const int64_t* wanted, int n_points, double shift) noexcept nogil:
    """Return the mean, over several wanted numbers of relevant documents, of the mean of the maximum of h/(j + shift).

    `wanted` is ascending. The last number is computed first, because its maximum is over the fewest groups.
    """
    cdef const Groups* groups = q.groups
    cdef Maxima maxima = new_maxima(q.workspace, groups, q.weight, wanted[0], q.measure.cutoff, shift, q.interruption)
    cdef int64_t r, t, n, lowest, written, before = retrieved_by(q)
    cdef Py_ssize_t g
    cdef int i
    cdef double floors[N_RECALLS]
    cdef double least = 0.0, excess = 0.0, total = 0.0
    write_floors(q, wanted, n_points, shift, floors)
    for i in range(n_points):
        least += floors[i]
    i = n_points - 1
    for g in range(groups.count - 1, -1, -1):
        r = <int64_t>q.weight[g]
        t = groups.start[g]
        n = groups.size[g]
        before -= r
        # The lowest relevant document of the group for which the distribution of its maximum is known; 0 if for none.
        written = 0
        while i >= 0 and wanted[i] > before:
            lowest = wanted[i] - before
            if lowest != written:
                if not write_group(&maxima, t, n, r, before, lowest, floors[i]):
                    return 0.0
                excess = mean_above(&maxima, floors[i])
                written = lowest
            total += excess
            i -= 1
        if i < 0:
            break
        if written != 1 and not write_group(&maxima, t, n, r, before, 1, floors[i]):
            return 0.0
        join_group(&maxima, floors[i])
    return (least + total) / n_points


cdef double variance_of_maximum(const Query* q, int64_t wanted, double shift) noexcept nogil:
    """Return the variance of the maximum of h/(j + shift) over the wanted relevant document and all later ones."""
    cdef const Groups* groups = q.groups
    cdef Maxima maxima = new_maxima(q.workspace, groups, q.weight, wanted, q.measure.cutoff, shift, q.interruption)
    cdef int64_t r, before = retrieved_by(q)
    cdef Py_ssize_t g
    cdef double floor
    write_floors(q, &wanted, 1, shift, &floor)
    for g in range(groups.count - 1, -1, -1):
        if before < wanted:
            break
        r = <int64_t>q.weight[g]
        before -= r
        if not write_group(&maxima, groups.start[g], groups.size[g], r, before, max(wanted - before, 1), floor):
            return 0.0
        join_group(&maxima, floor)
    return variance_above(&maxima.below, floor)


cdef void write_recalls(const Query* q, int64_t* wanted) noexcept nogil:
    cdef int i
    for i in range(N_RECALLS):
        wanted[i] = wanted_at(i / 10.0, q.norm)


cdef double mean_at_recall(const Query* q) noexcept nogil:
    cdef int64_t wanted = wanted_at(q.measure.measure_number, q.norm)
    return mean_of_maxima(q, &wanted, 1, 0.0)


cdef double variance_at_recall(const Query* q) noexcept nogil:
    return variance_of_maximum(q, wanted_at(q.measure.measure_number, q.norm), 0.0)


cdef int64_t size_at_recall(const Query* q, bint spread) noexcept nogil:
    return size_of_maxima(q.groups, q.weight, wanted_at(q.measure.measure_number, q.norm), q.measure.cutoff)


cdef double mean_at_eleven_recalls(const Query* q) noexcept nogil:
    cdef int64_t wanted[N_RECALLS]
    write_recalls(q, wanted)
    return mean_of_maxima(q, wanted, N_RECALLS, 0.0)


cdef bint is_ranking(const Query* q) noexcept nogil:
    """Return whether each group is behind the one before it, within the list, and no smaller than its weight."""
    cdef Py_ssize_t g
    cdef int64_t behind = 0
    for g in range(q.groups.count):
        if q.groups.start[g] < behind or not 0.0 <= q.weight[g] <= q.groups.size[g]:
            return False
        behind = q.groups.start[g] + q.groups.size[g]
    return behind <= q.n_docs


cdef double variance_at_eleven_recalls(const Query* q) noexcept nogil:
    cdef int64_t wanted[N_RECALLS]
    cdef double floors[N_RECALLS]
    write_recalls(q, wanted)
    write_floors(q, wanted, N_RECALLS, 0.0, floors)
    return variance_of_sum(q, wanted, floors, N_RECALLS) / N_RECALLS / N_RECALLS


cdef int64_t size_at_eleven_recalls(const Query* q, bint spread) noexcept nogil:
    if spread:
        # The walk relies on groups that follow one another and hold their relevant documents. If another thread changes
        # the scores meanwhile, they may not.
        return size_of_walk(q, wanted_at(0.0, q.norm)) if is_ranking(q) else TOO_MANY
    return size_of_maxima(q.groups, q.weight, wanted_at(0.0, q.norm), q.measure.cutoff)


cdef double mean_of_greatest_f(const Query* q) noexcept nogil:
    cdef double square = q.measure.measure_number * q.measure.measure_number
    cdef int64_t wanted = 1
    return (1.0 + square) * mean_of_maxima(q, &wanted, 1, square * q.norm)


cdef double variance_of_greatest_f(const Query* q) noexcept nogil:
    cdef double square = q.measure.measure_number * q.measure.measure_number
    return (1.0 + square) * (1.0 + square) * variance_of_maximum(q, 1, square * q.norm)


cdef int64_t size_of_greatest_f(const Query* q, bint spread) noexcept nogil:
    return size_of_maxima(q.groups, q.weight, 1, q.measure.cutoff)
