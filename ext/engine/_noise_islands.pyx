"""Quadrature over *islands*: documents whose noise overlaps. _noise_nodes.pyx has the integrand.

Each document has a window; its noise beyond the window is negligible. If the whole window is above x, the document is
surely above, and only shifts the ranks. Documents without noise are points. Those that tie at a point take their ranks
in any order: this is the noise of a uniform number that is less than any difference of scores.

The range of x in which a weighted document can be is integrated in one of two ways:

1. If all documents that overlap have smooth noise of one size, by trapezoids, whose error falls exponentially. Steps
   are halved until two results agree.
2. Otherwise in panels. The nested rules of Patterson (1968) are compared until two agree; a panel where the last two do
   not is halved. If the chances are polynomials in a panel, as for uniform noise, a rule of their degree is exact. The
   tolerance is shared out by the width of a panel and by its share of the weighted documents.
"""
from libc.math cimport INFINITY, fabs, floor, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._interruption cimport interrupted
from tieaware.kernels._noise_nodes cimport (
    Form, Sum, TIEAWARE_AT_ONCE, TIEAWARE_N_VALUES, Work, at_nodes, deepest, is_weighted, ranked_above, tieaware_above,
)
from tieaware.kernels._sorting cimport argsort_doubles

cdef extern from "engine/noise.h" nogil:
    enum:
        TIEAWARE_RULES
    const double TIEAWARE_NODE[16]
    const double TIEAWARE_NODE_WEIGHT[5][16]
    const int TIEAWARE_DEGREE[5]

cdef enum:
    # The most halvings of a panel, and of a step.
    DEEPEST = 40
    FINEST = 12

# A window that is a smaller share of the scores that it overlaps with is a point.
cdef double NARROWEST = 1.0 / (1 << 30) / 8.0
# An agreement better than this by a factor is not relied upon.
cdef double LEAST_GAIN = 1e-4
# The width of a panel, in sizes of the noise; panels and steps shrink with the number of documents.
cdef double WIDEST = 6.0
cdef double PER_DOCUMENT = 0.06
cdef double EPSILON = 2.220446049250313e-16  # of float64
# Differences below this share of what a panel holds are due to rounding.
cdef double ROUNDING = 4e-15


cdef void pass_by(Work* w, Py_ssize_t i) noexcept nogil:
    """Count a document as surely above all that follow."""
    cdef Py_ssize_t m
    cdef const Form* form
    w.above += 1
    w.judged_above += w.judged[i]
    if not is_weighted(w, i):
        return
    for m in range(w.n_forms):
        form = &w.forms[m]
        if form.judged_only and not w.judged[i]:
            continue
        if form.counted:
            w.sums[m].relevant += form.gain[w.row[i]]
        if form.stays != NULL:
            w.sums[m].goes_on *= form.stays[w.row[i]]


cdef bint is_over(const Work* w) noexcept nogil:
    """Return whether no document that follows adds to a measure."""
    cdef Py_ssize_t m
    for m in range(w.n_forms):
        if ranked_above(w, m) < w.forms[m].depth and w.sums[m].goes_on > 0.0:
            return False
    return True


cdef inline int64_t steps_of_node(const Work* w) noexcept nogil:
    return w.n_active * (8 + min(<int64_t>w.n_active, deepest(w)) * w.n_forms)


cdef bint apply_rule(Work* w, int rule, double middle, double half, bint point) noexcept nogil:
    """Evaluate the nodes that a rule adds, and write its sums and how they differ from those of the rule before.

    Invariant: the values of the nodes of the rules before are known. Return whether to stop.
    """
    cdef Py_ssize_t first = (1 << rule) if rule else 0, last = 2 << rule, i, m, node
    cdef double x[TIEAWARE_AT_ONCE]
    cdef const double* values
    cdef double total
    if interrupted(w.interruption, (last - first) * steps_of_node(w)):
        return True
    # Nodes are computed in multiples of those at once, some of them before their rule.
    i = -(-first // TIEAWARE_AT_ONCE) * TIEAWARE_AT_ONCE
    while i < last:
        for node in range(TIEAWARE_AT_ONCE):
            x[node] = middle + (half if (i + node) % 2 else -half) * TIEAWARE_NODE[(i + node) // 2]
        at_nodes(w, x, point, w.values + i)
        i += TIEAWARE_AT_ONCE
    for m in range(w.n_forms):
        values = w.values + TIEAWARE_N_VALUES * m
        total = TIEAWARE_NODE_WEIGHT[rule][0] * values[0]
        for i in range(1, last // 2):
            total += TIEAWARE_NODE_WEIGHT[rule][i] * (values[2 * i] + values[2 * i + 1])
        total *= half
        w.change[rule * w.n_forms + m] = fabs(total - w.rule[m])
        w.rule[m] = total
    return False


cdef inline double error_of(double change, double before) noexcept nogil:
    """Return the error of a result, given how it differs from the one before, and how that did from its predecessor.

    Both ways of integrating converge faster than geometrically: each error is a smaller share of the one before.
    """
    return change if before <= change else change * max(change / before, LEAST_GAIN)


cdef inline double error_of_rule(const Work* w, int rule, Py_ssize_t m) noexcept nogil:
    cdef double change = w.change[rule * w.n_forms + m]
    return change if rule < 2 else error_of(change, w.change[(rule - 1) * w.n_forms + m])


cdef bint is_exact(const Work* w, int rule, bint point) noexcept nogil:
    """Return whether the integrand is a polynomial that the rule integrates exactly."""
    return (point or w.noise.kinks) and w.n_active <= TIEAWARE_DEGREE[rule] + 1


cdef bint settles(Work* w, int rule, bint point, double share, double held, bint last) noexcept nogil:
    """If the rule is good enough for all measures, or the last, add its sums; return whether they were added."""
    cdef bint exact = is_exact(w, rule, point)
    cdef Py_ssize_t m
    if not exact and not last:
        if rule < 2:
            return False
        for m in range(w.n_forms):
            if error_of_rule(w, rule, m) > max(w.sums[m].tolerance * share, ROUNDING * max(fabs(w.rule[m]), held)):
                return False
    for m in range(w.n_forms):
        w.sums[m].total += w.rule[m]
        w.sums[m].error += ROUNDING * fabs(w.rule[m]) if exact else error_of_rule(w, rule, m)
    return True


cdef double weighted_between(Work* w, double low, double high) noexcept nogil:
    """Return the expected number of active weighted documents between two places."""
    cdef Py_ssize_t n = w.n_active - w.n_plain, k
    cdef double between = 0.0
    cdef double x[TIEAWARE_AT_ONCE]
    cdef int high_too
    for high_too in range(2):
        for k in range(TIEAWARE_AT_ONCE):
            x[k] = high if high_too else low
        tieaware_above(&w.noise.table, x, w.near + w.n_plain, w.per_size + w.n_plain, n, n, w.chance, NULL)
        for k in range(n):
            between += -w.chance[TIEAWARE_AT_ONCE * k] if high_too else w.chance[TIEAWARE_AT_ONCE * k]
    return between


cdef double weighted_at_point(const Work* w) noexcept nogil:
    """Return the number of active weighted documents without noise."""
    cdef Py_ssize_t k
    cdef double n = 0.0
    for k in range(w.n_plain, w.n_active):
        n += w.per_size[k] == 0.0
    return n


cdef bint integrate(Work* w, double low, double high, bint point) noexcept nogil:
    """Add the integrals over a panel, or over the orders of documents that tie in a point; return whether to stop.

    Invariant: the panels on the stack, which are narrower towards its end, are what is left of the panel.
    """
    cdef double lows[DEEPEST + 1]
    cdef double highs[DEEPEST + 1]
    cdef double middle, half, share = 0.0, held = 0.0
    cdef int depth = 0, rule
    lows[0], highs[0] = low, high
    while depth >= 0:
        low, high = lows[depth], highs[depth]
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        if point:
            held = weighted_at_point(w) * half
            share = held / w.n_weighted
        elif not is_exact(w, TIEAWARE_RULES - 1, point):
            held = weighted_between(w, low, high)
            share = 0.5 * (held / w.n_weighted + (high - low) / w.width)
        memset(w.rule, 0, w.n_forms * sizeof(double))
        for rule in range(TIEAWARE_RULES):
            if apply_rule(w, rule, middle, half, point):
                return True
            if settles(w, rule, point, share, held, rule == TIEAWARE_RULES - 1 and depth == DEEPEST):
                depth -= 1
                break
        else:
            highs[depth] = middle
            lows[depth + 1], highs[depth + 1] = middle, high
            depth += 1
    return False


cdef void gather(Work* w) noexcept nogil:
    """Gather what is known of the active documents: those without a weight first, the judged ones of them before.

    They ascend by the upper ends of their windows: the first ones are hardly ever above, so their product is short.
    Those without noise have the number 0 instead of 1/size.
    """
    cdef Py_ssize_t k, i, n = 0
    cdef int kind
    w.n_judged = w.n_plain = 0
    for kind in range(3):
        if kind == 1 and not w.some_judged_only:
            continue
        # Without a branch: the next document of the kind overwrites one of another kind.
        for k in range(w.n_active - 1, -1, -1):
            i = w.active[k]
            w.gathered[n] = i
            w.near[n] = w.place[i]
            w.per_size[n] = w.inverse[i]
            n += (2 if is_weighted(w, i) else 1 - w.judged[i]) == kind
        if kind == 0:
            w.n_judged = n
        if kind < 2:
            w.n_plain = n


cdef bint integrate_point(Work* w, double x) noexcept nogil:
    """Add what the documents without noise at a place earn; the documents with noise there are above by chance."""
    cdef double same[TIEAWARE_AT_ONCE]
    cdef Py_ssize_t node
    for node in range(TIEAWARE_AT_ONCE):
        same[node] = x
    gather(w)
    tieaware_above(&w.noise.table, same, w.near, w.per_size, w.n_active, w.n_active, w.chance, NULL)
    memset(w.density, 0, TIEAWARE_AT_ONCE * w.n_active * sizeof(double))
    return integrate(w, -1.0, 1.0, True)


cdef inline double reach_up(const Work* w, Py_ssize_t i) noexcept nogil:
    """Return the highest place at which a weighted document is integrated; that of one without noise is its own."""
    return w.place[i] + w.size[i] * w.noise.most


cdef inline double reach_down(const Work* w, Py_ssize_t i) noexcept nogil:
    return w.place[i] + w.size[i] * w.noise.least


cdef double bottom_of(Work* w, double x, Py_ssize_t* entered, Py_ssize_t last) noexcept nogil:
    """Return where the panel below x ends, and make the documents active that enter before that.

    It ends where the last weighted document does, where a much narrower one begins, and at kinks.
    """
    cdef Py_ssize_t k, i
    cdef double narrow = INFINITY, lowest = INFINITY, kink = -INFINITY, bottom
    for k in range(w.n_active):
        i = w.active[k]
        narrow = min(narrow, w.size[i])
        if is_weighted(w, i) and reach_down(w, i) < x:
            lowest = min(lowest, reach_down(w, i))
        if w.low[i] < x:
            kink = max(kink, w.low[i])
    bottom = max(lowest, x - narrow * WIDEST / sqrt(1.0 + PER_DOCUMENT * w.n_active))
    if w.noise.kinks:
        bottom = max(lowest, kink)
    while entered[0] < last and w.high[w.order[entered[0]]] > bottom:
        i = w.order[entered[0]]
        if w.noise.kinks or w.size[i] < 0.5 * narrow:
            return w.high[i]
        w.active[w.n_active] = i
        w.n_active += 1
        entered[0] += 1
    return bottom


cdef void leave(Work* w, double x, bint points) noexcept nogil:
    """Count the active documents above x as above; with `points`, also those without noise at x."""
    cdef Py_ssize_t k, i, n = 0
    for k in range(w.n_active):
        i = w.active[k]
        if w.low[i] > x or (w.low[i] == x and (points or w.size[i] > 0.0)):
            pass_by(w, i)
        else:
            w.active[n] = i
            n += 1
    w.n_active = n


cdef double top_of(const Work* w, double x, Py_ssize_t entered, Py_ssize_t last) noexcept nogil:
    """Return the highest place, at most x, down from which a weighted document can be; -INFINITY if there is none."""
    cdef Py_ssize_t k, i
    cdef double top = -INFINITY
    for k in range(w.n_active):
        i = w.active[k]
        if is_weighted(w, i) and (reach_down(w, i) < x or w.size[i] == 0.0):
            top = max(top, min(x, reach_up(w, i)))
    for k in range(entered, last):
        i = w.order[k]
        if w.high[i] <= top:
            break
        if is_weighted(w, i):
            top = max(top, min(x, reach_up(w, i)))
    return top


cdef bint has_point(const Work* w, double x, bint weighted) noexcept nogil:
    """Return whether a document without noise is at x, or, with `weighted`, a weighted one."""
    cdef Py_ssize_t k, i
    for k in range(w.n_active):
        i = w.active[k]
        if w.size[i] == 0.0 and w.place[i] == x and (is_weighted(w, i) or not weighted):
            return True
    return False


cdef bint add_nodes(Work* w, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Add the integrands at the nodes of trapezoids, for an island of documents of one size; return whether to stop.

    Invariant: all nodes above k are added where weighted documents can be, and the documents before `weighted` can be
    only there. The windows of the documents before `gone` are above node k; they are counted as above. The windows of
    those from `entered` on are below the nodes that are added.
    """
    cdef Py_ssize_t weighted = first, gone = first, entered = first, m, node
    cdef int64_t k = <int64_t>floor((w.high[w.order[first]] - w.origin) / w.step)
    cdef double x[TIEAWARE_AT_ONCE]
    cdef double value
    w.spent = False
    while not (is_over(w) or w.spent):
        while weighted < last and not (is_weighted(w, w.order[weighted])
                                       and reach_down(w, w.order[weighted]) < w.origin + k * w.step):
            weighted += 1
        if weighted == last:
            break
        k = min(k, <int64_t>floor((reach_up(w, w.order[weighted]) - w.origin) / w.step))
        for node in range(TIEAWARE_AT_ONCE):
            x[node] = w.origin + (k - node) * w.step
        while entered < last and w.high[w.order[entered]] >= x[TIEAWARE_AT_ONCE - 1]:
            entered += 1
        while gone < entered and w.low[w.order[gone]] > x[0]:
            pass_by(w, w.order[gone])
            gone += 1
        w.n_active = entered - gone
        memcpy(w.active, w.order + gone, w.n_active * sizeof(cnp.npy_intp))
        gather(w)
        if interrupted(w.interruption, TIEAWARE_AT_ONCE * steps_of_node(w)):
            return True
        at_nodes(w, x, False, w.values)
        for m in range(w.n_forms):
            for node in range(TIEAWARE_AT_ONCE):
                value = w.values[TIEAWARE_N_VALUES * m + node]
                if w.origin != 0.0 or (k - node) % 2:
                    w.sums[m].odd += value
                elif (k - node) % 4:
                    w.sums[m].second += value
                else:
                    w.sums[m].fourth += value
        k -= TIEAWARE_AT_ONCE
    for k in range(gone, last):
        pass_by(w, w.order[k])
    return False


cdef bint sweep(Work* w, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Add the parts of an island, which are documents whose windows overlap; return whether to stop.

    Invariant: all is added that weighted documents above x earn; the documents whose windows are above x are counted
    as above; the active documents are the others among those that have entered.
    """
    cdef Py_ssize_t entered = first
    cdef double x = INFINITY, bottom
    w.n_active, w.spent = 0, False
    while not (is_over(w) or w.spent):
        x = top_of(w, x, entered, last)
        if x == -INFINITY:
            break
        while entered < last and w.high[w.order[entered]] >= x:
            w.active[w.n_active] = w.order[entered]
            w.n_active += 1
            entered += 1
        leave(w, x, False)
        if has_point(w, x, False):
            if has_point(w, x, True) and integrate_point(w, x):
                return True
            leave(w, x, True)
        elif top_of(w, x, last, last) == x:
            bottom = bottom_of(w, x, &entered, last)
            gather(w)
            if integrate(w, bottom, x, False):
                return True
            x = bottom
    leave(w, -INFINITY, True)
    while entered < last:
        pass_by(w, w.order[entered])
        entered += 1
    return False


cdef bint agree(Work* w, double share, bint last) noexcept nogil:
    """Add the sums of the trapezoids if those of three steps agree, or if this step is the `last`.

    Return whether they were added.
    """
    cdef Py_ssize_t m
    cdef bint done = True
    for m in range(w.n_forms):
        done = done and (error_of_steps(w, m) <= max(w.sums[m].tolerance * share, ROUNDING * fabs(by_steps(w, m))))
    if done or last:
        for m in range(w.n_forms):
            w.sums[m].error += error_of_steps(w, m)
            w.sums[m].total += by_steps(w, m)
    return done or last


cdef inline double by_steps(const Work* w, Py_ssize_t m) noexcept nogil:
    return w.step * ((w.sums[m].fourth + w.sums[m].second) + w.sums[m].odd)


cdef inline double error_of_steps(const Work* w, Py_ssize_t m) noexcept nogil:
    cdef const Sum* of = &w.sums[m]
    return w.step * error_of(fabs((of.fourth + of.second) - of.odd), 2.0 * fabs(of.fourth - of.second))


cdef bint sweep_by_steps(Work* w, Py_ssize_t first, Py_ssize_t last, double share) noexcept nogil:
    """Add the parts of an island whose documents have smooth noise of one size, by trapezoids; return whether to stop.

    Invariant: `odd` has the nodes between those of the step before, `second` and `fourth` the others by turns.
    """
    cdef double size = w.size[w.order[first]], window = size * (w.noise.high - w.noise.low)
    cdef double extent = w.high[w.order[first]] - w.high[w.order[last - 1]] + window
    cdef int64_t above = w.above, judged_above = w.judged_above
    cdef Py_ssize_t m
    cdef int level
    for m in range(w.n_forms):
        w.sums[m].fourth = w.sums[m].second = w.sums[m].odd = 0.0
        w.sums[m].gone_on, w.sums[m].found = w.sums[m].goes_on, w.sums[m].relevant
    w.step, w.origin = size * w.noise.step / sqrt(1.0 + PER_DOCUMENT * (last - first) * window / extent), 0.0
    for level in range(FINEST):
        if add_nodes(w, first, last):
            return True
        if level:
            w.step *= 0.5
        if agree(w, share, level == FINEST - 1):
            break
        w.above, w.judged_above, w.origin = above, judged_above, 0.5 * w.step
        for m in range(w.n_forms):
            w.sums[m].goes_on, w.sums[m].relevant = w.sums[m].gone_on, w.sums[m].found
            w.sums[m].fourth += w.sums[m].second
            w.sums[m].second, w.sums[m].odd = w.sums[m].odd, 0.0
    return False


cdef void add_certain(Work* w, Py_ssize_t i) noexcept nogil:
    """Add what a document earns whose rank is certain."""
    cdef Py_ssize_t m
    cdef int64_t above
    cdef const Form* form
    for m in range(w.n_forms):
        form, above = &w.forms[m], ranked_above(w, m)
        if above < form.depth and (w.judged[i] or not form.judged_only):
            w.sums[m].total += (form.gain[w.row[i]] * form.slot[above] * w.sums[m].goes_on
                                * (1.0 + w.sums[m].relevant if form.counted else 1.0))


cdef void sort_down(double* key, cnp.npy_intp* order, cnp.npy_intp* spare, cnp.npy_intp* moved,
                    Py_ssize_t n) noexcept nogil:
    """Sort documents in place, ascending by their keys, given in the order of the documents."""
    cdef Py_ssize_t k
    for k in range(n):
        spare[k] = k
    argsort_doubles(key, spare, n, NULL)
    for k in range(n):
        moved[k] = order[spare[k]]
    memcpy(order, moved, n * sizeof(cnp.npy_intp))


cdef void place_island(Work* w, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Compute places relative to one of the scores, so that little noise of large scores keeps its digits."""
    cdef double base = w.score[w.order[first]], lowest = 0.0, highest = 0.0, least = INFINITY
    cdef Py_ssize_t k, i, m
    cdef bint sorted = True
    for k in range(first, last):
        i = w.order[k]
        w.place[i] = w.score[i] - base if w.score[i] != base else 0.0
        lowest = min(lowest, w.place[i] + w.size[i] * w.noise.low)
        highest = max(highest, w.place[i] + w.size[i] * w.noise.high)
    for k in range(first, last):
        i = w.order[k]
        if w.size[i] * (w.noise.high - w.noise.low) < NARROWEST * (highest - lowest):
            w.size[i] = 0.0
        w.inverse[i] = 1.0 / w.size[i] if w.size[i] > 0.0 else 0.0
        w.low[i] = w.place[i] + w.size[i] * w.noise.low
        w.high[i] = w.place[i] + w.size[i] * w.noise.high
        w.key[k - first] = -w.high[i]
        sorted = sorted and (k == first or w.key[k - first] >= w.key[k - first - 1])
        if w.size[i] > 0.0:
            least = min(least, w.size[i])
    # A place is rounded, so that a chance may be wrong by the density, at most 0.5, times half an ulp over the size.
    for m in range(w.n_forms if least < INFINITY else 0):
        w.sums[m].error += EPSILON / 4.0 * (highest - lowest) / least * w.sums[m].tolerance / w.tolerance
    if not sorted:
        sort_down(w.key, w.order + first, w.spare, w.active, last - first)


cdef bint add_islands(Work* w, Py_ssize_t n) noexcept nogil:
    """Add what the documents of a list earn, island after island; return whether to stop.

    Invariant: the documents before `first` are counted as above.
    """
    cdef Py_ssize_t first = 0, last, k
    cdef double lowest
    cdef double weighted
    cdef bint equal
    while first < n and not is_over(w):
        lowest, last, weighted, equal = INFINITY, first, 0.0, not w.noise.kinks
        while last < n and (last == first or w.high[w.order[last]] >= lowest):
            lowest = min(lowest, w.low[w.order[last]])
            weighted += is_weighted(w, w.order[last])
            equal = equal and w.size[w.order[last]] == w.size[w.order[first]]
            last += 1
        if weighted > 0.0 and last > first + 1:
            place_island(w, first, last)
            if equal and w.size[w.order[first]] > 0.0:
                if sweep_by_steps(w, first, last, weighted / w.n_weighted):
                    return True
            elif sweep(w, first, last):
                return True
        else:
            if weighted > 0.0:
                add_certain(w, w.order[first])
            for k in range(first, last):
                pass_by(w, w.order[k])
        first = last
    return False
