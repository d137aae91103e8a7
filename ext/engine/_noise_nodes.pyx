"""The integrand of expectations under noise, at some nodes x at once: products of polynomials.

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
from libc.string cimport memcpy, memset

cdef extern from "engine/noise.h" nogil:
    bint tieaware_is_negligible(const tieaware_numbers*)
    void tieaware_multiply(tieaware_polynomial*, Py_ssize_t, const double*, Py_ssize_t)
    Py_ssize_t tieaware_join(tieaware_numbers*, tieaware_numbers*, Py_ssize_t, Py_ssize_t, const double*, double,
                             const double*, double)
    void tieaware_combine(tieaware_numbers*, Py_ssize_t, double, double, const double*, Py_ssize_t,
                          const tieaware_polynomial*, double*)


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
            copy(own, common)
            copied = True
        tieaware_multiply(own, most, w.chance + TIEAWARE_AT_ONCE * k, 1)
    return own if copied else common


cdef inline void copy(tieaware_polynomial* own, const tieaware_polynomial* common) noexcept nogil:
    own.low, own.size = common.low, common.size
    memcpy(own.of, common.of, own.size * sizeof(tieaware_numbers))


cdef void write_values(Work* w, Py_ssize_t m, double* values) noexcept nogil:
    """Write the integrand of a measure at the nodes whose chances and densities are known.

    Invariant: A and B are those of the weighted documents before k.
    """
    cdef const Form* form = &w.forms[m]
    cdef int64_t above = ranked_above(w, m), most = form.depth - above
    cdef Py_ssize_t size = 0, k, i
    cdef double stays
    memset(values, 0, TIEAWARE_AT_ONCE * sizeof(double))
    if most <= 0 or w.sums[m].goes_on == 0.0:
        return
    for k in range(w.n_plain, w.n_active):
        i = w.gathered[k]
        if not (counts(w, m, i) and is_ranked(w, m, i)):
            continue
        stays = 1.0 if form.stays == NULL else form.stays[w.row[i]]
        size = tieaware_join(w.a, w.b, size, most, w.chance + TIEAWARE_AT_ONCE * k, stays,
                             w.density + TIEAWARE_AT_ONCE * k, form.gain[w.row[i]])
    tieaware_combine(w.b, size, 1.0 + w.sums[m].relevant if form.counted else 1.0, form.counted, form.slot + above,
                     most, product_of_others(w, m, most), values)
    for k in range(TIEAWARE_AT_ONCE):
        values[k] *= w.sums[m].goes_on


cdef void at_nodes(Work* w, const double* x, bint point, double* values) noexcept nogil:
    """Write the integrands at the nodes. In a point, x is a place among the tied documents, from -1 to 1."""
    cdef Py_ssize_t k, m, node
    cdef int64_t most = deepest(w)
    if point:
        for k in range(w.n_active):
            if w.per_size[k] == 0.0:
                for node in range(TIEAWARE_AT_ONCE):
                    w.chance[TIEAWARE_AT_ONCE * k + node] = 0.5 - 0.5 * x[node]
                    w.density[TIEAWARE_AT_ONCE * k + node] = 0.5
    else:
        tieaware_above(&w.noise.table, x, w.near, w.per_size, w.n_active, w.n_plain, w.chance, w.density)
    w.common.low = w.common.size = 0
    tieaware_multiply(&w.common, most, w.chance, w.n_judged)
    if w.some_judged_only:
        copy(&w.common_judged, &w.common)
    tieaware_multiply(&w.common, most, w.chance + TIEAWARE_AT_ONCE * w.n_judged, w.n_plain - w.n_judged)
    if w.common.size == w.common.low + 1 and tieaware_is_negligible(w.common.of + w.common.low):
        w.spent = not (point or w.some_judged_only)
    for m in range(w.n_forms):
        write_values(w, m, values + TIEAWARE_N_VALUES * m)


cdef int64_t deepest(const Work* w) noexcept nogil:
    """Return the most ranks that a measure still needs."""
    cdef int64_t most = 1
    cdef Py_ssize_t m
    for m in range(w.n_forms):
        most = max(most, w.forms[m].depth - ranked_above(w, m))
    return most
