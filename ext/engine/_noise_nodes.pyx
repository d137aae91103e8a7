"""The integrand of expectations under noise, at one node x: products of polynomials.

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
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

cdef extern from "engine/noise.h" nogil:
    const double TIEAWARE_NEGLIGIBLE
    void tieaware_densities(const tieaware_noise_table*, double, const double*, const double*, Py_ssize_t, double*)
    void tieaware_multiply(tieaware_polynomial*, Py_ssize_t, const double*, Py_ssize_t)
    void tieaware_join(double*, double*, Py_ssize_t, double, double, double)
    double tieaware_combine(const double*, Py_ssize_t, const double*, Py_ssize_t, const tieaware_polynomial*, double*)


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
