"""Swaps: the expected change of a measure if two documents swap their ranks, over the orders of tied documents.

If documents i and j are in different tie groups, the group A of the upper one before the group B of the lower one,
E|ΔM| is |g_i - g_j| (head + share · tail). The first two depend on A only, the third on B only, so all groups take one
pass, and a pair takes constant time. Inside a group, E|ΔM| is |g_i - g_j| · inside. The functions below have the
formulas. With a truncation level T, an order counts only if the upper of the two documents is among the first T.
"""
from libc.stdint cimport int64_t


cdef inline int64_t clamp(int64_t x, int64_t n) noexcept nogil:
    return 0 if x < 0 else (n if x > n else x)


cdef void of_slots(Model* model, Group* g) noexcept nogil:
    """Fill in a group for a measure that adds up gains by slot weights w_1 ≥ w_2 ≥ … of the n slots of the group.

    Different groups: mean w of A - mean w of B. Inside: 2 Σ_x w_x (n + 1 - 2x) / (n (n - 1)), which is not 0. With a
    truncation after h slots of A: Σ_{x ≤ h} w_x / n - h/n mean w of B; 2 Σ_x w_x ([x ≤ h] (n - x) - min(x - 1, h)) / ….
    """
    cdef int64_t m = clamp(model.depth - g.t, g.n), h = clamp(model.truncation - g.t, g.n), x
    cdef double total = 0.0, upper = 0.0, inside = 0.0, w
    for x in range(1, m + 1):
        w = model.weight[g.t + x - 1]
        total += w
        if x <= h:
            upper += w
            inside += w * <double>(g.n + 1 - 2 * x)
        else:
            inside -= w * <double>h
    g.head[0] = g.head[1] = upper / g.n
    g.share[0] = g.share[1] = <double>h / g.n
    g.tail[0] = g.tail[1] = -total / g.n
    g.inside = 2.0 * inside / (<double>g.n * (g.n - 1)) if g.n > 1 else 0.0


cdef double of_average_precision(Model* model, Group* g, double before) noexcept nogil:
    """Fill in a group for AP; return `before` plus the expected Σ 1/rank over the group's relevant documents.

    Swapping the only relevant one of ranks x < y changes AP · N by (C + 1)/x + Σ 1/p - (C + M + 1)/y: C other relevant
    documents are before x, M are between, at the ranks p. Their expectations are linear in the slot: another document
    of a group is relevant with probability ρ = r'/n', r' other relevant ones of n' others. So in A, with v = 1/rank,
    head = Σ_ξ [(R + 1 + ρ (ξ - 1)) v_ξ [ξ ≤ h] + ρ min(ξ - 1, h) v_ξ] / n - h/n U_A, where U_A adds up r v̄ to the end
    of A; in B, tail = U before B + ρ Σ_ξ (n - ξ) v_ξ / n - Σ_ξ (R' + 1 + ρ (ξ - 1)) v_ξ / n, without the upper document
    in R'. Inside: 2/(n (n - 1)) Σ_p v_p [(R + 1 + ρ (p - 1)) (n - p) [p ≤ h] + min(p - 1, h) (ρ (n - p) - R - 1 -
    ρ (p - 2))], with ρ = (r - 1)/(n - 2).
    """
    cdef int64_t m = clamp(model.depth - g.t, g.n), h = clamp(model.truncation - g.t, g.n), x, lower
    cdef double total = 0.0, upper = 0.0, rise = 0.0, upper_rise = 0.0, lowered = 0.0, inside = 0.0, v, after
    cdef double after_upper
    cdef double own = <double>(g.above + 1)
    cdef double pair = <double>(g.r - 1) / (g.n - 2) if g.n > 2 else 0.0
    cdef double other[2]
    cdef int relevant
    other[0] = <double>g.r / (g.n - 1) if g.n > 1 else 0.0
    other[1] = <double>(g.r - 1) / (g.n - 1) if g.n > 1 else 0.0
    for x in range(1, m + 1):
        v = model.weight[g.t + x - 1]
        lower = min(x - 1, h)
        total += v
        rise += (x - 1) * v
        lowered += lower * v
        inside += v * lower * (pair * (g.n - x) - own - pair * (x - 2))
        if x <= h:
            upper += v
            upper_rise += (x - 1) * v
            inside += v * (own + pair * (x - 1)) * (g.n - x)
    after = before + g.r * (total / g.n)
    for relevant in range(2):
        g.share[relevant] = <double>h / g.n
        g.head[relevant] = (own * upper + other[relevant] * (upper_rise + lowered)) / g.n - g.share[relevant] * after
        after_upper = other[relevant] * ((g.n - 1) * total - 2.0 * rise)
        g.tail[relevant] = before + (after_upper - (g.above + relevant) * total) / g.n
    g.inside = 2.0 * inside / (<double>g.n * (g.n - 1)) if g.n > 1 else 0.0
    return after


cdef double first_of(Model* model, Group* g, int64_t c) noexcept nogil:
    """Return the mean of 1/rank of the first of c chosen documents of a group.

    It is Σ_x p_x v_x, p_x = C(n-x, c-1)/C(n, c).
    """
    cdef int64_t m = clamp(model.depth - g.t, g.n), x
    cdef double p = <double>c / g.n, total = 0.0
    for x in range(1, min(m, g.n - c + 1) + 1):
        total += p * model.weight[g.t + x - 1]
        p *= <double>(g.n - x - c + 1) / (g.n - x) if x < g.n else 0.0
    return total


cdef double first_two_of(Model* model, Group* g, int64_t c) noexcept nogil:
    """Return the mean of v(first) - v(second) of c ≥ 2 chosen documents of a group, v = 1/rank.

    The first is at slot x with probability C(n-x, c-1)/C(n, c), the second with (x-1) C(n-x, c-2)/C(n, c). With a
    truncation after h slots, orders with the first one beyond are not counted, so h replaces x-1 where it is less.
    """
    cdef int64_t m = clamp(model.depth - g.t, g.n), h = clamp(model.truncation - g.t, g.n), x
    cdef double p = <double>c / g.n, q = <double>c * (c - 1) / (<double>g.n * (g.n - 1)), total = 0.0, v
    for x in range(1, min(m, g.n - c + 2) + 1):
        v = model.weight[g.t + x - 1]
        if x <= h:
            total += p * v
        p *= <double>(g.n - x - c + 1) / (g.n - x) if x < g.n else 0.0
        if x >= 2:
            total -= q * min(x - 1, h) * v
            q *= <double>(g.n - x - c + 2) / (g.n - x) if x < g.n else 0.0
    return total


cdef Py_ssize_t of_reciprocal_rank(Model* model, Group* group, Py_ssize_t n_groups) noexcept nogil:
    """Fill in all groups for RR; return the number of groups that can hold the upper document of a pair.

    Only the first relevant document counts, so the upper document is above the first group F with r > 0, or in it:
    - nonrelevant, above F: v̄ of its group - the mean of v(first of r in F), for any relevant document;
    - nonrelevant, in F: it must be the first of r + 1 chosen documents, itself and the relevant ones: with v(first) -
      v(second) = D(r + 1), D(r + 1)/(r + 1); in a pair of F, either may be the first: 2 D(r + 1)/(r + 1);
    - relevant, in F: it must be the first of r. If r ≥ 2, D(r)/r. If r = 1, v̄ of F - v of the next among the other
      document and the relevant ones of G, the next group with any: it is the other's v̄ above G, the first of r_G + 1
      in G, and the first of r_G below G.
    """
    cdef Py_ssize_t i, found = n_groups, following = n_groups
    cdef Group* g
    cdef double of_first, of_next = 0.0, of_next_or_other = 0.0, change
    for i in range(n_groups - 1, -1, -1):
        of_slots(model, &group[i])
        if group[i].r:
            following, found = found, i
    if found == n_groups:
        return 0
    g = &group[found]
    of_first = first_of(model, g, g.r)
    if following < n_groups:
        of_next = first_of(model, &group[following], group[following].r)
        if group[following].n > group[following].r:
            of_next_or_other = first_of(model, &group[following], group[following].r + 1)
    for i in range(found, n_groups):
        group[i].tail[1] = -of_first
        if i == following:
            group[i].tail[0] = -of_next_or_other
        elif i > following:
            group[i].tail[0] = -of_next
    g.inside = 0.0
    if g.n > g.r:
        change = first_two_of(model, g, g.r + 1) / (g.r + 1)
        g.inside = 2.0 * change
        g.head[0], g.share[0] = change, 0.0
    if g.r >= 2:
        g.head[1], g.share[1] = first_two_of(model, g, g.r) / g.r, 0.0
    return found + 1


cdef Py_ssize_t fill_in(Model* model, Group* group, Py_ssize_t n_groups) noexcept nogil:
    """Fill in all groups; return the number of groups that can hold the upper document of a pair."""
    cdef int64_t deepest = min(model.depth, model.truncation)
    cdef double before = 0.0
    cdef Py_ssize_t i, n_active = 0
    if model.family == OF_RR:
        return of_reciprocal_rank(model, group, n_groups)
    for i in range(n_groups):
        if model.family == OF_AP:
            before = of_average_precision(model, &group[i], before)
        else:
            of_slots(model, &group[i])
        n_active += group[i].t < deepest
    return n_active
