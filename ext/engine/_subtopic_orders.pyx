"""Measures of diversity under ties: their smallest and largest values over the orders of tied documents.

The contribution of a group depends on which documents are in earlier groups, and not on their order. So each group is
searched by itself. Only the number of its documents with each combination of subtopics matters.

For cascades and average precision, a state says how many documents of each combination stand at the first slots of the
group. The best value of each state follows from those with one document less. Documents without a subtopic stand last
in the best order and first in the worst one, since the weights of slots fall, so they are not part of a state.
"""
from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint64_t

from tieaware.kernels._exact cimport double_double
from tieaware.kernels._interruption cimport interrupted
from tieaware.kernels._measure cimport Query, between
from tieaware.kernels._subtopics cimport Subtopics, power, subtopics_in, subtopics_of

# The kernel refuses to search more states than this, or to take more steps, which would last about a second.
cdef double MOST_STATES = 4e6
cdef double MOST_STEPS = 1e9
cdef double TOO_LARGE = INFINITY

# The most subtopics that a group may add to those found before, for the extremes of subtopic recall.
cdef enum:
    MOST_NEW = 20


cdef Combinations no_combinations(const Subtopics* subtopics, double* work) noexcept nogil:
    """Divide the working memory, which has room for 5 numbers of each combination and one of each subtopic."""
    cdef Combinations all
    cdef int64_t n = subtopics.n_combinations
    all.n = 0
    all.documents = 0.0
    all.set = <uint64_t*>work
    all.count = work + n
    all.step = <int64_t*>(work + 2 * n)
    all.placed = <int64_t*>(work + 3 * n)
    all.taken = work + 4 * n
    all.power = work + 4 * n + subtopics.n
    all.value = all.power
    return all


cdef void collect(const Query* q, const Subtopics* subtopics, Py_ssize_t g, uint64_t counted,
                  Combinations* all) noexcept nogil:
    """Write the combinations of a group, restricted to the subtopics in `counted`; equal ones are merged."""
    cdef const double* counts = counts_of(q, g)
    cdef uint64_t of_one
    cdef int64_t c, e
    all.n = 0
    all.documents = 0.0
    for c in range(subtopics.n_combinations):
        of_one = subtopics_in(subtopics, c) & counted
        if of_one == 0 or counts[c * q.groups.stride] == 0.0:
            continue
        e = 0
        while e < all.n and all.set[e] != of_one:
            e += 1
        if e == all.n:
            all.set[e] = of_one
            all.count[e] = 0.0
            all.n += 1
        all.count[e] += counts[c * q.groups.stride]
        all.documents += counts[c * q.groups.stride]


cdef uint64_t counted_in(const Subtopics* subtopics, const double* left) noexcept nogil:
    """Return the set of the subtopics for which left[i] is not 0."""
    cdef uint64_t counted = 0
    cdef int64_t i
    for i in range(subtopics.n):
        if left[i] > 0.0:
            counted |= <uint64_t>1 << i
    return counted


cdef double states_of(Combinations* all, double slots) noexcept nogil:
    """Return the number of states with up to `slots` documents of each combination, and write the steps."""
    cdef double states = 1.0
    cdef int64_t c
    for c in range(all.n):
        all.step[c] = <int64_t>min(states, 9e18)
        states *= min(all.count[c], slots) + 1.0
    return states


cdef double search(const Query* q, const Subtopics* subtopics, Combinations* all, int64_t t, int64_t slots,
                   const double* left, const double* before, bint most) noexcept nogil:
    """Return the largest or the smallest sum over `slots` slots after rank t, all with documents of a combination.

    If `before` is NULL, subtopic i gains left[i] (1 - α)^C where C documents of the group were before; otherwise
    left[i] (before[i] + C + 1).
    """
    cdef double best = -INFINITY if most else INFINITY
    cdef double gain, value
    cdef int64_t states = <int64_t>states_of(all, <double>slots), state, c, i, placed
    cdef uint64_t rest
    cdef double_double d
    if slots == 0 or all.n == 0:
        return 0.0
    all.value = all.power + slots + 1
    all.power[0] = 1.0
    for i in range(slots):
        all.power[i + 1] = all.power[i] * (1.0 - q.measure.measure_number)
    for state in range(states):
        all.value[state] = best
    all.value[0] = 0.0
    for c in range(all.n):
        all.placed[c] = 0
    for i in range(subtopics.n):
        all.taken[i] = 0.0
    placed = 0
    for state in range(states):
        if interrupted(q.interruption, 10 * all.n):
            return 0.0
        if placed == slots:
            best = max(best, all.value[state]) if most else min(best, all.value[state])
        elif placed < slots:
            d = between(q.measure.lookup, t + placed, 1)
            for c in range(all.n):
                if all.placed[c] == all.count[c] or all.placed[c] == slots:
                    continue
                gain = 0.0
                rest = all.set[c]
                i = 0
                while rest:
                    if rest & 1:
                        if before == NULL:
                            gain += left[i] * all.power[<int64_t>all.taken[i]]
                        else:
                            gain += left[i] * (before[i] + all.taken[i] + 1.0)
                    rest >>= 1
                    i += 1
                value = all.value[state] + gain * (d.high + d.low)
                if most:
                    all.value[state + all.step[c]] = max(all.value[state + all.step[c]], value)
                else:
                    all.value[state + all.step[c]] = min(all.value[state + all.step[c]], value)
        placed += advance(all, slots)
    return best


cdef inline int64_t advance(Combinations* all, int64_t slots) noexcept nogil:
    """Go on to the next state; return how many more documents it has than this one."""
    cdef int64_t c, change = 0
    for c in range(all.n):
        if all.placed[c] < min(<int64_t>all.count[c], slots):
            all.placed[c] += 1
            take(all, c, 1.0)
            return change + 1
        take(all, c, -<double>all.placed[c])
        change -= all.placed[c]
        all.placed[c] = 0
    return change


cdef inline void take(Combinations* all, int64_t c, double documents) noexcept nogil:
    cdef uint64_t rest = all.set[c]
    cdef int64_t i = 0
    while rest:
        if rest & 1:
            all.taken[i] += documents
        rest >>= 1
        i += 1


cdef Range over_groups(const Query* q, double* left, double* before, double* work) noexcept nogil:
    """Add up the ranges of all groups. `left` and `before` are as in `search`; both change with each group."""
    cdef Subtopics subtopics = subtopics_of(q)
    cdef Combinations all = no_combinations(&subtopics, work)
    cdef int64_t t, n, m, i, slots, none
    cdef Py_ssize_t g
    cdef double r
    cdef Range total
    total.least = total.most = 0.0
    for g in range(q.groups.count):
        t = q.groups.start[g]
        n = q.groups.size[g]
        if t >= q.measure.cutoff:
            break
        m = min(n, q.measure.cutoff - t)
        collect(q, &subtopics, g, counted_in(&subtopics, left), &all)
        slots = <int64_t>min(<double>m, all.documents)
        total.most += search(q, &subtopics, &all, t, slots, left, before, True)
        none = n - <int64_t>all.documents
        slots = max(m - none, 0)
        total.least += search(q, &subtopics, &all, t + none, slots, left, before, False)
        for i in range(subtopics.n):
            r = q.weight[i * q.groups.stride + g]
            if before != NULL:
                before[i] += r
            elif r > 0.0:
                left[i] *= power(1.0 - q.measure.measure_number, r)
    total.least /= q.norm
    total.most /= q.norm
    return total


cdef Range range_of_novelty(const Query* q, double* left, double* work) noexcept nogil:
    cdef Subtopics subtopics = subtopics_of(q)
    cdef int64_t i
    for i in range(subtopics.n):
        left[i] = subtopics.weight[i]
    return over_groups(q, left, NULL, work)


cdef Range range_of_precision(const Query* q, double* before, double* work) noexcept nogil:
    """Return the range of intent-aware average precision; `before` has room for two numbers of each subtopic."""
    cdef Subtopics subtopics = subtopics_of(q)
    cdef int64_t i
    for i in range(subtopics.n):
        before[i] = 0.0
        before[subtopics.n + i] = subtopics.weight[i]
    return over_groups(q, before + subtopics.n, before, work)


cdef double size_of_orders(const Query* q) noexcept nogil:
    """Return how many numbers of working memory the search needs, or TOO_LARGE if it would take too long.

    Merging combinations, and those without a weight, can only make it shorter.
    """
    cdef Subtopics subtopics = subtopics_of(q)
    cdef double states, steps = 0.0, most = 0.0, documents, m, count, deepest = 0.0
    cdef const double* counts
    cdef uint64_t counted = counted_in(&subtopics, subtopics.weight)
    cdef Py_ssize_t g
    cdef int64_t c, kinds
    for g in range(q.groups.count):
        if q.groups.start[g] >= q.measure.cutoff:
            break
        m = min(q.groups.size[g], q.measure.cutoff - q.groups.start[g])
        counts = counts_of(q, g)
        states = 1.0
        kinds = 0
        documents = 0.0
        for c in range(subtopics.n_combinations):
            count = counts[c * q.groups.stride]
            if count == 0.0 or subtopics_in(&subtopics, c) & counted == 0:
                continue
            states *= min(count, m) + 1.0
            kinds += 1
            documents += count
        most = max(most, states)
        deepest = max(deepest, min(m, documents))
        steps += states * kinds * subtopics.n
    if most > MOST_STATES or steps > MOST_STEPS:
        return TOO_LARGE
    return 4.0 * subtopics.n_combinations + subtopics.n + deepest + 1.0 + most


# Hits.


cdef Range range_of_hits(const Query* q, double* work) noexcept nogil:
    """Return the range of Σ v over the documents within the cut-off; v is the total weight of a document's subtopics.

    Only the group that the cut-off divides has a choice: it takes its documents with the largest or smallest v.
    """
    cdef Subtopics subtopics = subtopics_of(q)
    cdef Combinations all = no_combinations(&subtopics, work)
    cdef double* worth = all.taken
    cdef int64_t c, i, m, n
    cdef uint64_t everything = counted_in(&subtopics, subtopics.weight)
    cdef Py_ssize_t g
    cdef double part
    cdef Range total
    total.least = total.most = 0.0
    for g in range(q.groups.count):
        if q.groups.start[g] >= q.measure.cutoff:
            break
        n = q.groups.size[g]
        m = min(n, q.measure.cutoff - q.groups.start[g])
        if m == n:
            part = 0.0
            for i in range(subtopics.n):
                part += subtopics.weight[i] * q.weight[i * q.groups.stride + g]
            total.least += part
            total.most += part
            continue
        collect(q, &subtopics, g, everything, &all)
        for c in range(all.n):
            worth[c] = 0.0
            for i in range(subtopics.n):
                if all.set[c] >> i & 1:
                    worth[c] += subtopics.weight[i]
        total.most += extreme_sum(&all, worth, <double>m, True)
        # The documents beyond the cut-off are then the best ones.
        part = 0.0
        for c in range(all.n):
            part += all.count[c] * worth[c]
        total.least += extreme_sum(&all, worth, max(m - (n - all.documents), 0.0), False)
    total.least /= q.norm
    total.most /= q.norm
    return total


cdef double extreme_sum(Combinations* all, const double* worth, double slots, bint most) noexcept nogil:
    """Return the largest or the smallest sum of the worths of a number of documents of one combination."""
    cdef int64_t c, best
    cdef double total = 0.0, taken
    for c in range(all.n):
        all.placed[c] = 0
    while slots > 0.0:
        best = -1
        for c in range(all.n):
            if all.placed[c] == 0 and (best < 0 or (worth[c] > worth[best] if most else worth[c] < worth[best])):
                best = c
        if best < 0:
            break
        all.placed[best] = 1
        taken = min(slots, all.count[best])
        total += taken * worth[best]
        slots -= taken
    return total


cdef double size_of_hits(const Query* q) noexcept nogil:
    cdef Subtopics subtopics = subtopics_of(q)
    return 5.0 * subtopics.n_combinations + subtopics.n


# Subtopic recall.


cdef Py_ssize_t divided(const Query* q) noexcept nogil:
    """Return the index of the group that the cut-off divides, or -1."""
    cdef Py_ssize_t g
    for g in range(q.groups.count):
        if q.groups.start[g] >= q.measure.cutoff:
            return -1
        if q.groups.start[g] + q.groups.size[g] > q.measure.cutoff:
            return g
    return -1


cdef uint64_t missing_before(const Query* q, const Subtopics* subtopics, Py_ssize_t last) noexcept nogil:
    """Return the subtopics with a weight that no document has in the groups before `last` and within the cut-off."""
    cdef uint64_t missing = counted_in(subtopics, subtopics.weight)
    cdef Py_ssize_t g
    cdef int64_t i
    for g in range(q.groups.count if last < 0 else last):
        if q.groups.start[g] >= q.measure.cutoff:
            break
        for i in range(subtopics.n):
            if q.weight[i * q.groups.stride + g] > 0.0:
                missing &= ~(<uint64_t>1 << i)
    return missing


cdef uint64_t new_in(const Query* q, const Subtopics* subtopics, Py_ssize_t g) noexcept nogil:
    """Return the subtopics with a weight that a group may be the first to cover."""
    cdef uint64_t found = missing_before(q, subtopics, g)
    cdef int64_t i
    for i in range(subtopics.n):
        if q.weight[i * q.groups.stride + g] == 0.0:
            found &= ~(<uint64_t>1 << i)
    return found


cdef inline int64_t packed(uint64_t set, uint64_t within) noexcept nogil:
    """Return the bits of `set` that are in `within`, next to each other."""
    cdef int64_t bits = 0, place = 0
    while within:
        if within & 1:
            bits |= <int64_t>(set & 1) << place
            place += 1
        within >>= 1
        set >>= 1
    return bits


cdef Range range_of_success(const Query* q, double* work) noexcept nogil:
    """Return the range of the total weight of the subtopics within the cut-off.

    The group that the cut-off divides has m slots within it. At most, they cover the sets that m documents can have
    together: needed[A] is the least number of documents that cover A. At least, all of them have only subtopics of a
    set A, so within[A] of them, those that do, are m or more.
    """
    cdef Subtopics subtopics = subtopics_of(q)
    cdef Py_ssize_t g = divided(q)
    cdef Combinations all = no_combinations(&subtopics, work)
    cdef uint64_t missing = missing_before(q, &subtopics, g), found = 0
    cdef double* weight = all.taken
    cdef double* needed
    cdef double* within
    cdef int64_t i, c, n = 0, states, state, m
    cdef double before = 0.0, gain
    cdef Range total
    for i in range(subtopics.n):
        if subtopics.weight[i] > 0.0 and not missing >> i & 1:
            before += subtopics.weight[i]
    total.least = total.most = before
    if g < 0:
        return total
    found = new_in(q, &subtopics, g)
    for i in range(subtopics.n):
        if found >> i & 1:
            weight[n] = subtopics.weight[i]
            n += 1
    collect(q, &subtopics, g, found, &all)
    m = q.measure.cutoff - q.groups.start[g]
    states = <int64_t>1 << n
    needed = all.power
    within = needed + states
    for state in range(states):
        needed[state] = INFINITY
        within[state] = 0.0
    needed[0] = 0.0
    within[0] = q.groups.size[g] - all.documents
    for c in range(all.n):
        all.step[c] = packed(all.set[c], found)
        within[all.step[c]] += all.count[c]
    for state in range(states):
        if interrupted(q.interruption, all.n + n):
            return total
        for c in range(all.n):
            needed[state | all.step[c]] = min(needed[state | all.step[c]], needed[state] + 1.0)
    for i in range(n):
        for state in range(states):
            if state >> i & 1:
                within[state] += within[state ^ (<int64_t>1 << i)]
    total.least = INFINITY
    for state in range(states):
        gain = 0.0
        for i in range(n):
            if state >> i & 1:
                gain += weight[i]
        if needed[state] <= m:
            total.most = max(total.most, before + gain)
        if within[state] >= m:
            total.least = min(total.least, before + gain)
    return total


cdef double size_of_success(const Query* q) noexcept nogil:
    cdef Subtopics subtopics = subtopics_of(q)
    cdef Py_ssize_t g = divided(q)
    cdef uint64_t found
    cdef int64_t n = 0
    if g >= 0:
        found = new_in(q, &subtopics, g)
        while found:
            n += <int64_t>(found & 1)
            found >>= 1
    if n > MOST_NEW:
        return TOO_LARGE
    return 4.0 * subtopics.n_combinations + subtopics.n + 2.0 * <double>(<int64_t>1 << n)
