"""INST and NERR under ties: the gain per document of a user who reads on with a probability that depends on the gains.

V_j is the probability that the user views rank j. The value is Σ V_j g_j / Σ V_j. Below the end of the list, no
document has a gain. With a cut-off, the user stops at rank k.

- INST: after rank j, with the gain G so far, the user goes on with the probability ((a-1)/a)², a = j + 2T - G.
- NERR: V_j = D_j Π_{i<j} (1 - g_i), where D_j is the weight of the rank. The lookup array has the prefix sums of these
  weights, and the number of the measure is that of the last rank: infinity if this is the last rank of the list. Nobody
  reads on after a document with the gain 1, so the orders below it need no walk.

Both sums depend on the order, so the mean of their ratio has no closed form. The kernel walks through all orders that
differ in their gains, from one document with a gain to the next. Before such a document, those without gain are passed
one by one, since each of the ranks is tried. After the last document with a gain of a group, they are passed at once:
from rank j on, their views in INST are V b²/(b+i)² for i = 0, 1, …, with b = j - 1 + 2T - G.
"""
from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from tieaware.kernels._exact cimport double_double, two_sum
from tieaware.kernels._interruption cimport interrupted
from tieaware.kernels._measure cimport TOO_MANY, Query, between

# The kernel refuses a query with more orders, or rather with more documents to place in all orders, which would take
# about two seconds.
cdef double MOST_PLACES = 2e7

cdef int64_t NO_CUTOFF = 0x7fffffffffffffff

# The sums over the orders, and the smallest and the largest value.
cdef struct Outcome:
    # The sum is total + low: a walk may add millions of values.
    double total
    double low
    double least
    double most


# The state of a walk after some documents of an order.
cdef struct State:
    # The group of the next document with a gain, and how many documents of this group were passed.
    Py_ssize_t g
    int64_t passed
    # The documents of the group with a gain that are still to come.
    int64_t graded
    # The weighting of the document that is tried at the next rank.
    Py_ssize_t tried
    # The probability of the order so far.
    double chance
    # The probability that the user views the next rank, the sum of these probabilities so far, and the sum of the views
    # times the gains; and the gain so far. For NERR, `views` leaves out the weight of the rank.
    double views
    double viewed
    double gained
    double gain


cdef double trigamma(double x) noexcept nogil:
    """Return Σ 1/(x+i)² over all i from 0, for x > 0, as measures/user_models.py does."""
    cdef double total = 0.0, square, series
    while x < 20.0:
        total += 1.0 / (x * x)
        x += 1.0
    square = 1.0 / (x * x)
    series = (-691.0 / 2730.0) * square
    series = (series + 5.0 / 66.0) * square
    series = (series - 1.0 / 30.0) * square
    series = (series + 1.0 / 42.0) * square
    series = (series - 1.0 / 30.0) * square
    series = (series + 1.0 / 6.0) * square
    return total + (1.0 + 0.5 / x + series) / x


cdef inline bint stops_at_gain(const Query* q) noexcept nogil:
    """Return whether the measure is NERR, whose user surely stops at the gain 1."""
    return q.measure.lookup != NULL


cdef inline double gain_of(const Query* q, Py_ssize_t c) noexcept nogil:
    """Return the gain of a document of weighting c: a multiple of the smallest one, unless labels are real numbers."""
    if q.measure.of_queries != NULL:
        return q.measure.of_queries[q.lookup_start + c]
    return (c + 1.0) / q.measure.n_weightings


cdef inline double graded_of(const Query* q, Py_ssize_t g) noexcept nogil:
    cdef double graded = 0.0
    cdef Py_ssize_t c
    for c in range(q.measure.n_weightings):
        graded += q.weight[c * q.groups.stride + g]
    return graded


cdef double full_of(const Query* q, Py_ssize_t g) noexcept nogil:
    """Return the number of documents of a group at which the user surely stops."""
    cdef double full = 0.0
    cdef Py_ssize_t c
    if stops_at_gain(q):
        for c in range(q.measure.n_weightings):
            if gain_of(q, c) == 1.0:
                full += q.weight[c * q.groups.stride + g]
    return full


cdef inline int64_t n_groups(const Query* q) noexcept nogil:
    """Return the number of groups that begin within the cut-off."""
    cdef Py_ssize_t g = 0
    while g < q.groups.count and q.groups.start[g] < q.measure.cutoff:
        g += 1
    return g


cdef int64_t size_of_reading(const Query* q, bint spread) noexcept nogil:
    """Return the size of the stack of states and of the numbers of documents to place, if the walk is short enough.

    A group has at most n!/(Π n_c!) orders, and at most (kinds of documents)^m if m slots are within the cut-off. If
    the user surely stops at one of some documents of the group, only the order of the others counts, about n/s times
    if s of these have a gain: the user stops somewhere among them.
    """
    cdef Py_ssize_t g, c, groups = n_groups(q)
    cdef int64_t i, m, _slot
    cdef double orders = 1.0, places = 0.0, documents = 0.0, left, n, of_group, by_cutoff, kinds, full, graded
    for g in range(groups):
        full = full_of(q, g)
        graded = graded_of(q, g) - full
        left = q.groups.size[g] - full
        m = min(q.groups.size[g], q.measure.cutoff - q.groups.start[g])
        of_group = by_cutoff = 1.0
        kinds = 1.0 if graded < left else 0.0
        for c in range(q.measure.n_weightings):
            n = q.weight[c * q.groups.stride + g]
            if n == 0.0 or (full > 0.0 and gain_of(q, c) == 1.0):
                continue
            kinds += 1.0
            for i in range(1, <int64_t>min(n, left - n) + 1):
                of_group *= (left - i + 1.0) / i
                if of_group > MOST_PLACES:
                    break
            left -= n
        for _slot in range(m):
            by_cutoff *= kinds
            if kinds == 1.0 or by_cutoff > MOST_PLACES:
                break
        if full > 0.0:
            of_group *= (q.groups.size[g] - full + 1.0) / (graded + 1.0)
            by_cutoff *= m if kinds <= 1.0 else 2.0
        orders *= min(of_group, by_cutoff)
        places += orders * min(graded + 1.0 if full > 0.0 else graded, <double>m)
        documents += min(graded_of(q, g), <double>m)
        if full > 0.0:
            # No order reaches the next group.
            orders = 0.0
        if places > MOST_PLACES:
            return TOO_MANY
    return <int64_t>(documents + 1.0) * <int64_t>(sizeof(State) // sizeof(double)) + groups * q.measure.n_weightings


cdef inline double weight_from(const Query* q, int64_t rank, int64_t n) noexcept nogil:
    """Return the weight of n ranks of NERR; if n is negative, of all ranks from this one on."""
    cdef double_double weight
    if n >= 0:
        weight = between(q.measure.lookup, rank - 1, n)
    elif q.measure.measure_number == INFINITY:
        weight = between(q.measure.lookup, rank - 1, max(q.n_docs - rank + 1, 0))
    else:
        weight = two_sum(q.measure.measure_number, -q.measure.lookup[2 * rank - 2])
        weight.low -= q.measure.lookup[2 * rank - 1]
    return weight.high + weight.low


cdef inline void pass_by(const Query* q, State* state, int64_t rank, int64_t n) noexcept nogil:
    """View n documents without gain from a rank on; a negative n stands for infinitely many."""
    cdef double b = rank - 1.0 + 2.0 * q.measure.measure_number - state.gain, ratio
    cdef int64_t i
    if stops_at_gain(q):
        state.viewed += state.views * weight_from(q, rank, n)
    elif n < 0:
        state.viewed += state.views * b * b * trigamma(b)
    elif n > 16:
        ratio = b / (b + n)
        state.viewed += state.views * b * b * (trigamma(b) - trigamma(b + n))
        state.views *= ratio * ratio
    else:
        for i in range(n):
            state.viewed += state.views
            ratio = (b + i) / (b + i + 1.0)
            state.views *= ratio * ratio


cdef inline void view(const Query* q, State* state, int64_t rank, double gain) noexcept nogil:
    """View one document with a gain."""
    cdef double b = rank - 1.0 + 2.0 * q.measure.measure_number - state.gain
    cdef double ratio = (b - gain) / (b - gain + 1.0), views
    if stops_at_gain(q):
        views = state.views * weight_from(q, rank, 1)
        state.viewed += views
        state.gained += views * gain
        state.views *= 1.0 - gain
        return
    state.viewed += state.views
    state.gained += state.views * gain
    state.gain += gain
    state.views *= ratio * ratio


cdef bint advance(const Query* q, State* state, Py_ssize_t groups) noexcept nogil:
    """Go on to the next group with a document to place, if this group has none left; return whether there is one.

    If there is none, go on to the end, where the user stops. If the user has stopped, there is none.
    """
    cdef int64_t rank, k = q.measure.cutoff, end
    if stops_at_gain(q) and state.views == 0.0:
        return False
    while True:
        rank = q.groups.start[state.g] + state.passed + 1 if state.g >= 0 else 1
        if state.graded > 0 and rank <= k:
            return True
        # Only documents without gain are left in the group, or it is beyond the cut-off. Groups without a gain, which
        # other measures need, are passed at once with the documents around them.
        state.g += 1
        while state.g < groups and graded_of(q, state.g) == 0.0:
            state.g += 1
        end = q.groups.start[state.g] if state.g < groups else k
        if end == NO_CUTOFF or (stops_at_gain(q) and state.g == groups and rank <= k):
            # The lookup array of NERR ends with the list, perhaps above the cut-off.
            pass_by(q, state, rank, -1)
        elif end >= rank:
            pass_by(q, state, rank, end - rank + 1)
        if state.g == groups:
            return False
        state.passed = 0
        state.graded = <int64_t>graded_of(q, state.g)


cdef Outcome walk(const Query* q, double center, int power) noexcept nogil:
    """Return the mean of (value - center)^power, with the power 1 or 2, and the extremes of the value."""
    cdef Py_ssize_t groups = n_groups(q), depth = 0, c, stride = q.groups.stride, n_weightings = q.measure.n_weightings
    cdef State* stack = <State*>q.workspace
    cdef State* state = stack
    cdef double* left
    cdef int64_t rank, n, others
    cdef Outcome outcome
    cdef Py_ssize_t g, documents = 0
    outcome.total = outcome.low = 0.0
    outcome.least = INFINITY
    outcome.most = 0.0
    for g in range(groups):
        documents += <Py_ssize_t>min(graded_of(q, g), <double>(q.measure.cutoff - q.groups.start[g]))
    left = q.workspace + (documents + 1) * (sizeof(State) // sizeof(double))
    for g in range(groups):
        for c in range(n_weightings):
            left[g * n_weightings + c] = q.weight[c * stride + g]
    state.g = -1
    state.passed = state.graded = 0
    state.tried = -1
    state.chance = state.views = 1.0
    state.viewed = state.gained = state.gain = 0.0
    if not advance(q, state, groups):
        reach(&outcome, state, center, power)
        return outcome
    while depth >= 0:
        if interrupted(q.interruption, 40):
            break
        state = stack + depth
        g = state.g
        n = q.groups.size[g] - state.passed
        rank = q.groups.start[g] + state.passed + 1
        if state.tried >= 0:
            # The orders with this document at this rank are done.
            left[g * n_weightings + state.tried] += 1.0
        state.tried += 1
        while state.tried < n_weightings and left[g * n_weightings + state.tried] == 0.0:
            state.tried += 1
        if state.tried < n_weightings:
            stack[depth + 1] = state[0]
            state = stack + depth + 1
            state.chance *= left[g * n_weightings + state.tried] / n
            left[g * n_weightings + state.tried] -= 1.0
            view(q, state, rank, gain_of(q, state.tried))
            state.passed += 1
            state.graded -= 1
            state.tried = -1
            if advance(q, state, groups):
                depth += 1
            else:
                reach(&outcome, state, center, power)
            continue
        # All orders with a gain at this rank are done: pass a document without gain.
        others = n - state.graded
        if others == 0:
            depth -= 1
            continue
        state.tried = -1
        state.chance *= <double>others / n
        pass_by(q, state, rank, 1)
        state.passed += 1
        if rank == q.measure.cutoff:
            reach(&outcome, state, center, power)
            depth -= 1
    return outcome


cdef inline void reach(Outcome* outcome, const State* state, double center, int power) noexcept nogil:
    """Count the value of a complete order."""
    # An empty list has no ranks to view, unless there is a cut-off.
    cdef double value = state.gained / state.viewed if state.viewed > 0.0 else 0.0
    cdef double_double sum = two_sum(
        outcome.total, state.chance * (value - center if power == 1 else (value - center) * (value - center)))
    outcome.total = sum.high
    outcome.low += sum.low
    outcome.least = min(outcome.least, value)
    outcome.most = max(outcome.most, value)


cdef double mean_of_reading(const Query* q) noexcept nogil:
    cdef Outcome outcome = walk(q, 0.0, 1)
    return outcome.total + outcome.low


cdef double variance_of_reading(const Query* q) noexcept nogil:
    """Return the mean squared deviation from the mean: no term is negative."""
    cdef Outcome outcome = walk(q, 0.0, 1)
    # If all orders have the same value, rounding errors must not give it a variance.
    return walk(q, outcome.total + outcome.low, 2).total if outcome.least < outcome.most else 0.0


cdef void extremes_of_reading(const Query* q, double* least, double* most) noexcept nogil:
    cdef Outcome outcome = walk(q, 0.0, 1)
    least[0] = outcome.least
    most[0] = outcome.most
