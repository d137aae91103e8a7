"""The expectation of measures if each score has independent noise: quadrature over products of polynomials.

Given that a document with noise is at x, every other document j is above it with the chance p_j(x). So the chances of
its ranks are the coefficients of Π (1 - p_j + p_j z). With the density f_i of document i and its gain g_i, a measure
that adds up gains by the weights d of the ranks has the expectation

    ∫ Σ_r d_{r+1} [z^r] B(x) dx,    B = Σ_i g_i f_i Π_{j≠i} (1 - p_j + p_j z).

All documents share the nodes. B is computed together with A = Π_j (1 - p_j + p_j z) for the weighted documents: each
turns B into (1 - p + pz) B + g f A, and A into (1 - p + pz) A. No term is negative. The others have a product of their
own, and the sum over pairs of coefficients of both gives the rank.

- A user who stops at a document i with the chance R_i gets no further: p_j z becomes p_j (1 - R_j) z. So it is for ERR,
  and with R = 1 for relevant documents, for measures of the first relevant document: RR and Success.
- For AP, d is 1/rank, and a document counts as often as there are relevant documents down to it: the coefficient of z^a
  in B counts a + 1 times.

A document whose window, outside of which its noise is negligible, ends above x is surely above, and only shifts the
ranks. Documents without noise are points. Those that tie at a point take their ranks in any order: this is the noise of
a uniform number that is less than any difference of scores.

The range of x in which a weighted document can be is integrated in one of two ways:

1. If all documents that overlap have smooth noise of one size, by trapezoids, whose error falls exponentially. Steps
   are halved until two results agree.
2. Otherwise in panels. The nested rules of Patterson (1968) are compared until two agree; a panel where the last two do
   not is halved. If the chances are polynomials in a panel, as for uniform noise, a rule of their degree is exact. The
   tolerance is shared out by the width of a panel and by its share of the weighted documents.
"""
from libc.math cimport INFINITY, fabs, floor, sqrt
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption
from tieaware.kernels._sorting cimport argsort_doubles

cnp.import_array()

cdef extern from "engine/noise.h" nogil:
    enum:
        TIEAWARE_RULES
        TIEAWARE_HALF_NODES
        TIEAWARE_NODES
        TIEAWARE_AT_ONCE
    ctypedef struct tieaware_noise_table:
        const double* table
        double low, per_cell, n_cells
    const double TIEAWARE_NODE[16]
    const double TIEAWARE_NODE_WEIGHT[5][16]
    const int TIEAWARE_DEGREE[5]
    void tieaware_above(const tieaware_noise_table*, double, const double*, const double*, Py_ssize_t, double*)
    void tieaware_densities(const tieaware_noise_table*, double, const double*, const double*, Py_ssize_t, double*)
    const double TIEAWARE_NEGLIGIBLE
    ctypedef struct tieaware_polynomial:
        double* zero
        Py_ssize_t low, size
    void tieaware_multiply(tieaware_polynomial*, Py_ssize_t, const double*, Py_ssize_t)
    void tieaware_join(double*, double*, Py_ssize_t, double, double, double)
    double tieaware_combine(const double*, Py_ssize_t, const double*, Py_ssize_t, const tieaware_polynomial*, double*)

cdef enum:
    # The most halvings of a panel, and of a step.
    DEEPEST = 40
    FINEST = 12
    # How many arrays of `Work` hold a double or a word for each document, and how many are polynomials.
    N_ARRAYS = 10
    N_WORDS = 5
    N_POLYNOMIALS = 6

# A window that is a smaller share of the scores that it overlaps with is a point.
cdef double NARROWEST = 1.0 / (1 << 30) / 8.0
# An agreement better than this by a factor is not relied upon.
cdef double LEAST_GAIN = 1e-4
# The width of a panel, in sizes of the noise; panels and steps shrink with the number of documents.
cdef double WIDEST = 6.0
cdef double PER_DOCUMENT = 0.06
# Differences below this share of what a panel holds are due to rounding.
cdef double ROUNDING = 4e-15


cdef struct Noise:
    tieaware_noise_table table
    # The ends of the window of a document, in sizes of its noise; those of the smaller range in which it is integrated;
    # the first step of trapezoids; and whether the chances have kinks at the ends, so that there is no step.
    double low, high, least, most, step
    bint kinks


cdef struct Form:
    # A measure: whether a relevant document counts as often as there are relevant documents down to it; whether only
    # judged documents have ranks; the weights of the ranks; and by judged document, its gain and the chance that the
    # user goes on after it, NULL if that is 1.
    bint counted
    bint judged_only
    int64_t depth
    const double* slot
    const double* gain
    const double* stays


cdef struct Sum:
    # What is known of a measure for a list: the sum so far, its error, and the largest error; the chance that the user
    # goes on after the documents above, and how many relevant documents these are.
    double total, error, tolerance
    double goes_on, relevant
    # What they were before an island, and the sums over the nodes of trapezoids by their number modulo 4: 0, 2, odd.
    double gone_on, found
    double fourth, second, odd


cdef struct Work:
    const Noise* noise
    const Form* forms
    Sum* sums
    Py_ssize_t n_forms
    bint some_judged_only
    Interruption* interruption
    # By document of the list: its score and the size of its noise, its place and its window relative to the island, the
    # row of its weights, or -1, and whether it is judged. The order is descending by the upper end of the window.
    double* score
    double* size
    double* place
    double* low
    double* high
    int64_t* row
    uint8_t* judged
    cnp.npy_intp* order
    cnp.npy_intp* spare
    double* key
    # The active documents, whose windows reach into the panel: first those that have no weight and are judged, then
    # those that have no weight and are not, and then the `n_weighted` weighted ones. And what is known of each.
    cnp.npy_intp* active
    cnp.npy_intp* gathered
    Py_ssize_t n_active, n_judged, n_plain
    double* near
    double* per_size
    double* chance
    double* density
    # Of the documents above: how many there are, and how many are judged.
    int64_t above, judged_above
    # Whether so many documents are above that no rank down to a cut-off is left with a chance that matters.
    bint spent
    # The trapezoids: the distance of the nodes, 0 for panels, and the place of node 0.
    double step, origin
    # The number of weighted documents, and the sum of the widths of their windows.
    double n_weighted, width
    # The products of the documents without a weight, and of the judged ones of these; room for one of a measure's own;
    # A and B, by the places of their coefficients of z^0; and memory to combine them.
    tieaware_polynomial common
    tieaware_polynomial common_judged
    tieaware_polynomial own
    double* a
    double* b
    double* products
    # values[i * n_forms + m]: the integrand of measure m at node i; sums and differences of the rules.
    double* values
    double* rule
    double* change


cdef inline bint is_weighted(const Work* w, Py_ssize_t i) noexcept nogil:
    return w.row[i] >= 0


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


cdef inline int64_t ranked_above(const Work* w, Py_ssize_t m) noexcept nogil:
    return w.judged_above if w.forms[m].judged_only else w.above


cdef inline bint counts(const Work* w, Py_ssize_t m, Py_ssize_t i) noexcept nogil:
    """Return whether a weighted document has a weight for a measure."""
    return w.forms[m].gain[w.row[i]] > 0.0


cdef inline bint is_ranked(const Work* w, Py_ssize_t m, Py_ssize_t i) noexcept nogil:
    return w.judged[i] or not w.forms[m].judged_only


cdef const tieaware_polynomial* product_of_others(Work* w, Py_ssize_t m, int64_t most) noexcept nogil:
    """Return the product of the ranked documents that have no weight for the measure."""
    cdef const tieaware_polynomial* common = &w.common_judged if w.forms[m].judged_only else &w.common
    cdef tieaware_polynomial* own = &w.own
    cdef Py_ssize_t k, i
    cdef bint copied = False
    for k in range(w.n_plain, w.n_active):
        i = w.gathered[k]
        if counts(w, m, i) or not is_ranked(w, m, i):
            continue
        if not copied:
            own.low, own.size, copied = common.low, common.size, True
            memcpy(own.zero + 1 - own.size, common.zero + 1 - own.size, own.size * sizeof(double))
        tieaware_multiply(own, most, w.chance + k, 1)
    return own if copied else common


cdef double value_of(Work* w, Py_ssize_t m) noexcept nogil:
    """Return the integrand of a measure at the node whose chances and densities are known.

    Invariant: A and B are those of the weighted documents before k.
    """
    cdef const Form* form = &w.forms[m]
    cdef int64_t above = ranked_above(w, m), most = form.depth - above
    cdef Py_ssize_t size = 1, k, i
    cdef double p
    if most <= 0 or w.sums[m].goes_on == 0.0:
        return 0.0
    w.a[0], w.b[0] = 1.0, 0.0
    for k in range(w.n_plain, w.n_active):
        i = w.gathered[k]
        if not (counts(w, m, i) and is_ranked(w, m, i)):
            continue
        p = w.chance[k] if form.stays == NULL else w.chance[k] * form.stays[w.row[i]]
        if size < most and p > 0.0:
            w.a[-size] = w.b[-size] = 0.0
            size += 1
        tieaware_join(w.a, w.b, size, 1.0 - w.chance[k], p, form.gain[w.row[i]] * w.density[k])
    if form.counted:
        for i in range(size):
            w.b[-i] *= 1.0 + w.sums[m].relevant + i
    return w.sums[m].goes_on * tieaware_combine(w.b, size, form.slot + above, most, product_of_others(w, m, most),
                                                w.products)


cdef void at_node(Work* w, double x, bint point, double* values) noexcept nogil:
    """Write the integrands at a node. In a point, x is a place among the tied documents, from -1 to 1."""
    cdef Py_ssize_t k, m
    cdef int64_t most = deepest(w)
    if point:
        for k in range(w.n_active):
            if w.per_size[k] == 0.0:
                w.chance[k], w.density[k] = 0.5 - 0.5 * x, 0.5
    else:
        tieaware_above(&w.noise.table, x, w.near, w.per_size, w.n_active, w.chance)
        tieaware_densities(&w.noise.table, x, w.near + w.n_plain, w.per_size + w.n_plain, w.n_active - w.n_plain,
                           w.density + w.n_plain)
    w.common.zero[0] = 1.0
    w.common.low, w.common.size = 0, 1
    tieaware_multiply(&w.common, most, w.chance, w.n_judged)
    if w.some_judged_only:
        w.common_judged.low, w.common_judged.size = w.common.low, w.common.size
        memcpy(w.common_judged.zero + 1 - w.common.size, w.common.zero + 1 - w.common.size,
               w.common.size * sizeof(double))
    tieaware_multiply(&w.common, most, w.chance + w.n_judged, w.n_plain - w.n_judged)
    if w.common.size == w.common.low + 1 and w.common.zero[-w.common.low] < TIEAWARE_NEGLIGIBLE:
        w.spent = not (point or w.some_judged_only)
    for m in range(w.n_forms):
        values[m] = value_of(w, m)


cdef int64_t deepest(const Work* w) noexcept nogil:
    """Return the most ranks that a measure still needs."""
    cdef int64_t most = 1
    cdef Py_ssize_t m
    for m in range(w.n_forms):
        most = max(most, w.forms[m].depth - ranked_above(w, m))
    return most


cdef inline int64_t steps_of_node(const Work* w) noexcept nogil:
    return w.n_active * (8 + min(<int64_t>w.n_active, deepest(w)) * w.n_forms)


cdef bint apply_rule(Work* w, int rule, double middle, double half, bint point) noexcept nogil:
    """Evaluate the nodes that a rule adds, and write its sums and how they differ from those of the rule before.

    Invariant: the values of the nodes of the rules before are known. Return whether to stop.
    """
    cdef Py_ssize_t first = 1 << (rule - 1) if rule else 0, last = 1 << rule, i, m
    cdef double total
    if interrupted(w.interruption, (last - first) * 2 * steps_of_node(w)):
        return True
    for i in range(first, last):
        at_node(w, middle - half * TIEAWARE_NODE[i], point, w.values + 2 * i * w.n_forms)
        if i:
            at_node(w, middle + half * TIEAWARE_NODE[i], point, w.values + (2 * i + 1) * w.n_forms)
    for m in range(w.n_forms):
        total = TIEAWARE_NODE_WEIGHT[rule][0] * w.values[m]
        for i in range(1, last):
            total += TIEAWARE_NODE_WEIGHT[rule][i] * (w.values[2 * i * w.n_forms + m]
                                                      + w.values[(2 * i + 1) * w.n_forms + m])
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


cdef double weighted_above(Work* w, double x) noexcept nogil:
    """Return the expected number of active weighted documents above a place."""
    cdef Py_ssize_t k
    cdef double above = 0.0
    tieaware_above(&w.noise.table, x, w.near + w.n_plain, w.per_size + w.n_plain, w.n_active - w.n_plain,
                   w.chance + w.n_plain)
    for k in range(w.n_plain, w.n_active):
        above += w.chance[k]
    return above


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
    cdef double middle, half, share, held
    cdef int depth = 0, rule
    lows[0], highs[0] = low, high
    while depth >= 0:
        low, high = lows[depth], highs[depth]
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        if point:
            held = weighted_at_point(w) * half
            share = held / w.n_weighted
        else:
            held = weighted_above(w, low) - weighted_above(w, high)
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


cdef void gather(Work* w, double x) noexcept nogil:
    """Gather what is known of the active documents: those without a weight first, the judged ones of them before.

    They ascend by the upper ends of their windows: the first ones are hardly ever above, so their product is short.

    For a point x, also compute the chances of documents with noise; those without noise, which tie there, have the
    number 0 instead of 1/size.
    """
    cdef Py_ssize_t k, i, n = 0
    cdef int kind
    for kind in range(3):
        for k in range(w.n_active - 1, -1, -1):
            i = w.active[k]
            if (2 if is_weighted(w, i) else 1 - w.judged[i]) == kind:
                w.gathered[n] = i
                w.near[n] = w.place[i]
                w.per_size[n] = 1.0 / w.size[i] if w.size[i] > 0.0 else 0.0
                n += 1
        if kind == 0:
            w.n_judged = n
        elif kind == 1:
            w.n_plain = n


cdef bint integrate_point(Work* w, double x) noexcept nogil:
    """Add what the documents without noise at a place earn; the documents with noise there are above by chance."""
    cdef Py_ssize_t k
    gather(w, x)
    for k in range(w.n_active):
        tieaware_above(&w.noise.table, x, w.near + k, w.per_size + k, 1, w.chance + k)
        w.density[k] = 0.0
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


cdef bint add_nodes(Work* w, double low, double high) noexcept nogil:
    """Add the integrands at the nodes of the trapezoids above `low` and up to `high`; return whether to stop."""
    cdef int64_t first = <int64_t>floor((low - w.origin) / w.step) + 1, k
    cdef int64_t last = <int64_t>floor((high - w.origin) / w.step) + 1
    cdef Py_ssize_t m
    if interrupted(w.interruption, (last - first) * steps_of_node(w)):
        return True
    for k in range(first, last):
        at_node(w, w.origin + k * w.step, False, w.values)
        for m in range(w.n_forms):
            if w.origin != 0.0 or k % 2:
                w.sums[m].odd += w.values[m]
            elif k % 4:
                w.sums[m].second += w.values[m]
            else:
                w.sums[m].fourth += w.values[m]
    return False


cdef bint sweep(Work* w, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Add the parts of an island, documents of which each window overlaps with the next; return whether to stop.

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
            gather(w, x)
            if add_nodes(w, bottom, x) if w.step > 0.0 else integrate(w, bottom, x, False):
                return True
            x = bottom
    leave(w, -INFINITY, True)
    while entered < last:
        pass_by(w, w.order[entered])
        entered += 1
    return False


cdef bint agree(Work* w, double share, bint last) noexcept nogil:
    """If the trapezoids of three steps show that those of the smallest are good enough, or the last, add their sums.

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
        if sweep(w, first, last):
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
    w.step = 0.0
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
    cdef double base = w.score[w.order[first]], lowest = 0.0, highest = 0.0
    cdef Py_ssize_t k, i
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
        w.low[i] = w.place[i] + w.size[i] * w.noise.low
        w.high[i] = w.place[i] + w.size[i] * w.noise.high
        w.key[k - first] = -w.high[i]
        sorted = sorted and (k == first or w.key[k - first] >= w.key[k - first - 1])
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


cdef struct Lists:
    # The lists as `expectations` takes them.
    const double* scores
    const double* sizes
    bint one_size, shared
    const int64_t* offsets
    const int64_t* judged_offsets
    const int64_t* positions
    const uint8_t* weighted
    const uint8_t* judged
    const int64_t* excluded_offsets
    const int64_t* excluded


cdef Py_ssize_t read_list(Work* w, const Lists* lists, Py_ssize_t q) noexcept nogil:
    """Read the documents of a list that are ranked, and sort them; return how many there are."""
    cdef int64_t start = 0 if lists.shared else lists.offsets[q], n = lists.offsets[q + 1] - lists.offsets[q], i
    cdef int64_t row = lists.judged_offsets[q], gone = 0, n_gone = 0
    cdef Py_ssize_t k = 0
    cdef double score, size
    if lists.excluded_offsets != NULL:
        gone, n_gone = lists.excluded_offsets[q], lists.excluded_offsets[q + 1]
    w.n_weighted = w.width = 0.0
    for i in range(n):
        if gone < n_gone and lists.excluded[gone] == i:
            gone += 1
            continue
        score = lists.scores[start + i]
        size = lists.sizes[0 if lists.one_size else start + i] if fabs(score) < INFINITY else 0.0
        w.score[k], w.size[k], w.row[k], w.judged[k] = score, size, -1, not w.some_judged_only
        w.low[k], w.high[k] = score + size * w.noise.low, score + size * w.noise.high
        if row < lists.judged_offsets[q + 1] and lists.positions[row] == i:
            w.judged[k] = lists.judged[row] or not w.some_judged_only
            if lists.weighted[row]:
                w.row[k] = row
                w.n_weighted += 1.0
                w.width += w.high[k] - w.low[k] if size > 0.0 else 0.0
            row += 1
        w.key[k], w.order[k] = -w.high[k], k
        k += 1
    sort_down(w.key, w.order, w.spare, w.active, k)
    return k


cdef void begin(Work* w, const double* norms, double tolerance, const double* largest) noexcept nogil:
    """Begin the sums of a list. The tolerance is relative to the larger of the norm and the largest gain."""
    cdef Py_ssize_t m
    w.above = w.judged_above = 0
    for m in range(w.n_forms):
        w.sums[m].total = w.sums[m].error = w.sums[m].relevant = 0.0
        w.sums[m].tolerance = tolerance * max(norms[m], largest[m])
        w.sums[m].goes_on = 1.0 if norms[m] > 0.0 else 0.0


cdef Py_ssize_t longest_of(const int64_t* offsets, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    cdef Py_ssize_t longest = 0, q
    for q in range(first, last):
        longest = max(longest, <Py_ssize_t>(offsets[q + 1] - offsets[q]))
    return longest


cdef class Workspace:
    """The memory of `Work`, for lists of up to `longest` documents and measures of up to `depth` ranks."""
    cdef Work work
    cdef void* memory

    def __cinit__(self, Py_ssize_t longest, Py_ssize_t depth, Py_ssize_t n_forms):
        cdef Py_ssize_t n = longest + 1, m = depth + 1 + TIEAWARE_AT_ONCE
        cdef Py_ssize_t of_rules = (2 * TIEAWARE_HALF_NODES + TIEAWARE_RULES + 1) * n_forms
        cdef Work* w = &self.work
        cdef double* at
        self.memory = malloc((N_ARRAYS * n + N_POLYNOMIALS * m + of_rules) * sizeof(double)
                             + N_WORDS * n * 8 + n_forms * sizeof(Sum) + n)
        if self.memory == NULL:
            raise MemoryError("no memory for the products of a list")
        w.sums = <Sum*>self.memory
        at = <double*>(w.sums + n_forms)
        w.score, w.size, w.place, w.low, w.high = at, at + n, at + 2 * n, at + 3 * n, at + 4 * n
        w.key, w.near, w.per_size, w.chance, w.density = at + 5 * n, at + 6 * n, at + 7 * n, at + 8 * n, at + 9 * n
        at += N_ARRAYS * n
        w.row = <int64_t*>at
        w.order, w.spare = <cnp.npy_intp*>(at + n), <cnp.npy_intp*>(at + 2 * n)
        w.active, w.gathered = <cnp.npy_intp*>(at + 3 * n), <cnp.npy_intp*>(at + 4 * n)
        at += N_WORDS * n
        memset(at, 0, (N_POLYNOMIALS * m + of_rules) * sizeof(double))
        at += depth
        w.common.zero, w.common_judged.zero, w.own.zero = at, at + m, at + 2 * m
        w.a, w.b, w.products = at + 3 * m, at + 4 * m, at + 5 * m - depth
        w.common_judged.low, w.common_judged.size, w.step = 0, 1, 0.0
        at += N_POLYNOMIALS * m - depth
        w.values, w.rule = at, at + 2 * TIEAWARE_HALF_NODES * n_forms
        w.change = w.rule + n_forms
        w.judged = <uint8_t*>(at + of_rules)
        w.n_forms = n_forms

    def __dealloc__(self):
        free(self.memory)


cdef class KernelNoise:
    """Noise in the form that the kernel uses. Immutable.

    Parameters
    ----------
    table : float64[n_cells, 8]
        The chance that the noise of a document of size 1 is above z, as a polynomial in each cell. The argument of a
        polynomial is -1/2 … 1/2 inside the cell.
    start, width : float
        The z at which the first cell starts, and the width of a cell.
    step : float
        The first distance of the nodes of trapezoids; 0 if the chance is a polynomial of degree 1 between the ends of
        the table, and has kinks there.
    """
    cdef Noise noise
    cdef cnp.ndarray table
    cdef double start, width

    def __init__(self, cnp.ndarray table not None, double start, double width, double step):
        self.table, self.start, self.width = table, start, width
        self.noise.table.table = <const double*>cnp.PyArray_DATA(table)
        self.noise.table.low = start
        self.noise.table.per_cell = 1.0 / width
        self.noise.table.n_cells = cnp.PyArray_DIM(table, 0)
        self.noise.step, self.noise.kinks = step, step == 0.0

    def above(self, double z):
        """Return the chance that the noise of a document of size 1 is above z."""
        cdef double place = 0.0, per_size = 1.0, chance
        tieaware_above(&self.noise.table, z, &place, &per_size, 1, &chance)
        return chance


cdef class NoisyMeasures:
    """Measures, and the gains of judged documents, in the form that the kernel uses. Immutable.

    Parameters
    ----------
    slots, gains, stays : list of float64[n]
        For each measure, the weights of the ranks; the gain of each judged document; and the chance that the user goes
        on after it, or None if that is 1.
    counted, judged_only : list of bool
        For each measure, whether it is average precision, and whether unjudged documents have no ranks.
    """
    cdef list slots, gains, stays
    cdef Form* forms
    cdef Py_ssize_t n, depth
    cdef bint some_judged_only

    def __cinit__(self, list slots not None, list gains not None, list stays not None, list counted not None,
                  list judged_only not None):
        cdef Py_ssize_t m
        self.n = len(slots)
        self.slots, self.gains, self.stays = slots, gains, stays
        self.some_judged_only = any(judged_only)
        self.forms = <Form*>malloc(max(self.n, 1) * sizeof(Form))
        if self.forms == NULL:
            raise MemoryError("no memory for the measures")
        for m in range(self.n):
            self.forms[m].counted, self.forms[m].judged_only = counted[m], judged_only[m]
            self.forms[m].slot = <const double*>cnp.PyArray_DATA(<cnp.ndarray?>slots[m])
            self.forms[m].gain = <const double*>cnp.PyArray_DATA(<cnp.ndarray?>gains[m])
            self.forms[m].stays = NULL if stays[m] is None else <const double*>cnp.PyArray_DATA(<cnp.ndarray?>stays[m])
            self.forms[m].depth = len(slots[m])
            self.depth = max(self.depth, <Py_ssize_t>self.forms[m].depth)

    def __dealloc__(self):
        free(self.forms)


def expectations(KernelNoise noise not None, tuple window not None, tuple reach not None,
                 NoisyMeasures measures not None, cnp.ndarray scores not None, cnp.ndarray sizes not None,
                 tuple lists not None, cnp.ndarray norms not None, cnp.ndarray largest not None, double tolerance,
                 double undefined, cnp.ndarray values not None, cnp.ndarray errors not None, Py_ssize_t first,
                 Py_ssize_t last):
    """Write the expectations and their errors for the lists first … last - 1.

    All arrays are C-contiguous, aligned and in native byte order.

    Parameters
    ----------
    noise : KernelNoise
    window, reach : tuple of two floats
        The noise of a document is negligible outside of size * low … size * high, and it is integrated in the reach.
    measures : NoisyMeasures
    scores : float64[n_docs]
        The scores, of all lists or of one that all lists share; no NaN.
    sizes : float64[n_docs] or float64[1]
        The sizes of the noise of the documents, at least 0 and finite.
    lists : tuple
        int64[n_lists + 1], where each list starts and the last one ends; int64[n_lists + 1], the same for their judged
        documents; int64[n_judged], the positions of these, ascending; uint8[n_judged], whether each has a weight for a
        measure; uint8[n_judged], whether it is judged; and int64[n_lists + 1], int64[n_excluded], those excluded, or
        None, None.
    norms : float64[n_lists, n_measures]
        The divisor of each measure for each list, 0 where it is undefined.
    largest : float64[n_measures]
        The most that one document earns.
    tolerance : float
        The largest error, relative to the norm or the largest gain.
    undefined : float
        The value where a measure is undefined.
    values, errors : float64[n_lists, n_measures]
    """
    cdef Lists of
    cdef cnp.ndarray array
    cdef Interruption interruption = no_interruption()
    cdef const double* norm = <const double*>cnp.PyArray_DATA(norms)
    cdef const double* gain = <const double*>cnp.PyArray_DATA(largest)
    cdef double* value = <double*>cnp.PyArray_DATA(values)
    cdef double* error = <double*>cnp.PyArray_DATA(errors)
    cdef Py_ssize_t n = measures.n, q, m, n_docs
    cdef Noise of_noise = noise.noise
    cdef Workspace space
    cdef Work* w
    of.scores, of.sizes = <const double*>cnp.PyArray_DATA(scores), <const double*>cnp.PyArray_DATA(sizes)
    array = lists[0]
    of.offsets = <const int64_t*>cnp.PyArray_DATA(array)
    of.one_size = cnp.PyArray_SIZE(sizes) == 1
    of.shared = cnp.PyArray_SIZE(scores) != of.offsets[cnp.PyArray_SIZE(array) - 1]
    array = lists[1]
    of.judged_offsets = <const int64_t*>cnp.PyArray_DATA(array)
    array = lists[2]
    of.positions = <const int64_t*>cnp.PyArray_DATA(array)
    array = lists[3]
    of.weighted = <const uint8_t*>cnp.PyArray_DATA(array)
    array = lists[4]
    of.judged = <const uint8_t*>cnp.PyArray_DATA(array)
    of.excluded_offsets = of.excluded = NULL
    if lists[5] is not None:
        array = lists[5]
        of.excluded_offsets = <const int64_t*>cnp.PyArray_DATA(array)
        array = lists[6]
        of.excluded = <const int64_t*>cnp.PyArray_DATA(array)
    of_noise.low, of_noise.high = window
    of_noise.least, of_noise.most = reach
    space = Workspace(longest_of(of.offsets, first, last), measures.depth, n)
    w = &space.work
    w.noise, w.forms, w.interruption = &of_noise, measures.forms, &interruption
    w.some_judged_only = measures.some_judged_only
    with nogil:
        for q in range(first, last):
            n_docs = read_list(w, &of, q)
            begin(w, norm + q * n, tolerance, gain)
            if interrupted(&interruption, 64 * n_docs) or add_islands(w, n_docs):
                break
            for m in range(n):
                if norm[q * n + m] > 0.0:
                    value[q * n + m] = w.sums[m].total / norm[q * n + m]
                    error[q * n + m] = w.sums[m].error / norm[q * n + m]
                else:
                    value[q * n + m], error[q * n + m] = undefined, 0.0
    check_interruption(&interruption)
