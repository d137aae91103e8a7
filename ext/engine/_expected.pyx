"""Means of measures over the orders of tied documents, computed from groups.

Each kernel is one function. It adds up the contributions of the groups of a query within the cut-off k. Notation: t
documents are ranked above a group; the group has n documents, r of them relevant, with total gain G; and
m = clamp(k - t, 0, n) of its slots (ranks) are within the cut-off. The kernels are registered in _kernel_measures.pyx.
"""
from libc.math cimport sqrt
from libc.stdint cimport int64_t

from tieaware.kernels._exact cimport double_double
from tieaware.kernels._groups cimport Groups
from tieaware.kernels._interruption cimport interrupted
from tieaware.kernels._measure cimport Query, between, first_group, gain_weight


cdef extern from "engine/expected.h" nogil:
    enum:
        TIEAWARE_TERMS
    ctypedef struct tieaware_precision_groups:
        double* relevant
        double* rank
        double* size
        double* inside
        double* before
        double* above
        double* above_low
        double* until
        double* until_low
    void tieaware_precisions(const tieaware_precision_groups*, int, double*)
    void tieaware_first_places(int64_t, int64_t, double, int64_t, int, double*, double*)

# The number that infAP adds to the number of relevant documents, so that no share is 0/0.
cdef double EPSILON = 0.00001

cdef enum:
    TERMS = 64
    # After this many ties, average precision no longer branches on single documents: ties seem to be frequent.
    FEW = 4


cdef double hits(const Query* q) noexcept nogil:
    return hits_within(q.groups, q.weight, q.measure.cutoff) / q.norm


cdef double hits_at_r(const Query* q) noexcept nogil:
    return hits_within(q.groups, q.weight, <int64_t>q.norm) / q.norm


cdef double squared_hits(const Query* q) noexcept nogil:
    cdef double found = hits_within(q.groups, q.weight, q.measure.cutoff)
    return found * found / q.norm


cdef double hits_within(const Groups* groups, const double* weight, int64_t k) noexcept nogil:
    """Return the expected number of relevant documents within the cut-off k: Σ m r / n over the groups."""
    cdef Py_ssize_t g
    cdef int64_t t, n
    cdef double total = 0.0
    for g in range(groups.count):
        t = groups.start[g]
        n = groups.size[g]
        if t + n <= k:
            total += weight[g]
        elif t < k:
            total += (k - t) * weight[g] / n
        else:
            break
    return total


cdef double slots(const Query* q) noexcept nogil:
    return sum_over_slots(q) / q.norm


cdef double slots_of_ideal(const Query* q) noexcept nogil:
    # If the ranking is ideal and has ties, rounding errors may make its sum slightly larger than its norm.
    return min(sum_over_slots(q) / q.norm, 1.0)


cdef double residual(const Query* q) noexcept nogil:
    """Return the weight of the ranks without a judged document: 1 minus that of the others, unless this is too small.

    A small difference of numbers near 1 has few digits, but a sum of positive numbers has all.
    """
    cdef double rest = 1.0 - sum_over_slots(q)
    return rest if rest > 1e-3 else sum_over_unjudged(q)


cdef double sum_over_unjudged(const Query* q) noexcept nogil:
    """Return p^N + Σ p^(j-1) (1-p) over the ranks j without a judged document; in a tie, the share of such ranks.

    N is the length of the list. The lookup array has the prefix sums minus 1, which are -p^j.
    """
    cdef const Groups* groups = q.groups
    cdef const double* lookup = q.measure.lookup
    cdef int64_t t, n, end = 0
    cdef Py_ssize_t g
    cdef double_double d
    cdef double total = -lookup[2 * q.n_docs]
    for g in range(groups.count):
        t = groups.start[g]
        n = groups.size[g]
        d = between(lookup, end, t - end)
        total += d.high + d.low
        d = between(lookup, t, n)
        total += (n - q.weight[g]) * (d.high + d.low) / n
        end = t + n
    d = between(lookup, end, q.n_docs - end)
    return total + (d.high + d.low)


cdef double sum_over_slots(const Query* q) noexcept nogil:
    """Return Σ G/n Σ_{j=t+1…t+m} d_j, where d_j is the weight of slot j: each slot has the mean gain of its group."""
    cdef const Groups* groups = q.groups
    cdef const double* weight = q.weight
    cdef int64_t t, n, k = q.measure.cutoff
    cdef Py_ssize_t g
    cdef double_double d
    cdef double total = 0.0
    for g in range(groups.count):
        t = groups.start[g]
        n = groups.size[g]
        if t >= k:
            break
        if weight[g] != 0.0:
            d = between(q.measure.lookup, t, min(n, k - t))
            total += weight[g] * (d.high + d.low) / n
    return total


cdef double average_precision(const Query* q) noexcept nogil:
    """Return Σ (r/n) Σ_{j=t+1…t+m} (R + 1 + a (j-t-1)) / j, divided by the norm.

    R is the number of relevant documents before the group, and a = (r-1)/(n-1). The inner sum is
    (R + 1) ΔH + a (m - (t+1) ΔH), with ΔH = Σ_{j=t+1…t+m} 1/j. If t is large, m - (t+1) ΔH is a small difference of
    large numbers, so it is computed in double-double precision.
    """
    cdef const Groups* groups = q.groups
    cdef Py_ssize_t g
    cdef int tied = 0
    cdef double r, before = 0.0, total = 0.0
    for g in range(groups.count):
        r = q.weight[g]
        if r == 0.0:
            continue
        if groups.start[g] >= q.measure.cutoff:
            break
        if groups.size[g] == 1:
            total += (before + 1.0) / (groups.start[g] + 1)
        elif tied < FEW:
            tied += 1
            total = with_precisions(q, before, total, g, g + 1)
        else:
            total = with_precisions(q, before, total, g, groups.count)
            break
        before += r
    return total / q.norm


cdef double with_precisions(const Query* q, double before, double total, Py_ssize_t g, Py_ssize_t last) noexcept nogil:
    """Return a sum of `average_precision` with the groups g … last - 1, without branches that depend on them."""
    cdef const Groups* groups = q.groups
    cdef const double* lookup = q.measure.lookup
    cdef tieaware_precision_groups chunk
    cdef double terms[TIEAWARE_TERMS]
    cdef int64_t t, m, k = q.measure.cutoff
    cdef int i, j
    while g < last and groups.start[g] < k:
        i = 0
        # Invariant: the groups before index i have relevant documents, and the group at index i may be overwritten.
        while g < last and i < TIEAWARE_TERMS and groups.start[g] < k:
            t = groups.start[g]
            m = min(groups.size[g], k - t)
            chunk.relevant[i], chunk.rank[i], chunk.size[i] = q.weight[g], <double>(t + 1), <double>groups.size[g]
            chunk.inside[i], chunk.before[i] = <double>m, before
            chunk.above[i], chunk.above_low[i] = lookup[2 * t], lookup[2 * t + 1]
            chunk.until[i], chunk.until_low[i] = lookup[2 * (t + m)], lookup[2 * (t + m) + 1]
            before += q.weight[g]
            i += q.weight[g] > 0.0
            g += 1
        tieaware_precisions(&chunk, i, terms)
        for j in range(i):
            total += terms[j]
    return total


cdef double reciprocal_rank(const Query* q) noexcept nogil:
    """Return E[1/(t+X)], where X is the place of the first relevant document in the first group that holds one."""
    cdef Py_ssize_t g = first_group(q)
    cdef int64_t t, n, m, k = q.measure.cutoff
    cdef double r, value
    if g < 0 or q.groups.start[g] >= k:
        return 0.0
    r = q.weight[g]
    t = q.groups.start[g]
    n = q.groups.size[g]
    if r == n:
        return 1.0 / (t + 1)
    m = min(min(n, k - t), <int64_t>(n - r) + 1)
    # The direct sum has at most m terms and needs about 40 n/r of them. The recurrence has r terms, which cost more.
    if min(<double>m, 40.0 * n / r) > 8.0 * r + 64.0:
        value = reciprocal_rank_by_recurrence(t, n, r, m, between(q.measure.lookup, t, m))
        if value >= 0.0:
            return value
    return reciprocal_rank_by_terms(t, n, r, m)


cdef double reciprocal_rank_by_terms(int64_t t, int64_t n, double r, int64_t m) noexcept nogil:
    """Return Σ_{x=1…m} p_x / (t+x), p_x = S_{x-1} r/(n-x+1), S_x = S_{x-1} (n-x+1-r)/(n-x+1), S_0 = 1.

    p_x is the probability that the first relevant document of the group has place x. S_x is the probability that none
    of the first x documents is relevant. The terms after x add up to less than S_x/(t+x+1), so the loop ends when this
    bound is too small to change the sum.
    """
    cdef double shares[TIEAWARE_TERMS]
    cdef double stays[TIEAWARE_TERMS]
    cdef double survival = 1.0, total = 0.0
    cdef int64_t x = 1
    cdef int i, count
    while x <= m:
        count = <int>min(m - x + 1, <int64_t>TIEAWARE_TERMS)
        tieaware_first_places(t, n, r, x, count, shares, stays)
        for i in range(count):
            total += survival * shares[i]
            survival *= stays[i]
            x += 1
            if survival < 1e-17 * total * (t + x):
                return total
    return total


cdef double reciprocal_rank_by_recurrence(int64_t t, int64_t n, double r, int64_t m,
                                          double_double harmonic) noexcept nogil:
    """Return the same sum as `reciprocal_rank_by_terms`, computed by a recurrence; -1 if that would lose precision.

    The group has n documents and comes after t others; x = 1 … m are its places. If s of the n documents are relevant,
    the sum is E_s = Σ_{x=1…m} C(n-x, s-1)/C(n, s) / (t+x), and E_r is wanted. `harmonic` is Σ_{x=1…m} 1/(t+x).
    With C(n-x, s-1) = C(n-x, s-2) (n-x-s+2)/(s-1) and n-x-s+2 = (n+t-s+2) - (t+x):
    E_1 = harmonic/n,  E_s = s/((s-1)(n-s+1)) [(n+t-s+2) E_{s-1} - (1 - C(n-m, s-1)/C(n, s-1))].
    The difference in brackets magnifies the relative error of E_{s-1}. The function gives up when the error has grown
    by a factor of more than a thousand.
    """
    cdef double expectation = (harmonic.high + harmonic.low) / n
    cdef double none = 1.0, minuend, s = 1.0, error = 1.0
    while s < r:
        none *= max(0.0, n - m - s + 1.0) / (n - s + 1.0)
        s += 1.0
        minuend = (n + t - s + 2.0) * expectation
        expectation = minuend - (1.0 - none)
        error = (error * minuend + 1.0) / expectation if expectation > 0.0 else 1e9
        if error > 1e3:
            return -1.0
        expectation *= s / ((s - 1.0) * (n - s + 1.0))
    return expectation


cdef double success(const Query* q) noexcept nogil:
    """Return 1 - C(n-r, m)/C(n, m), the probability that a relevant document is within the cut-off.

    It equals Σ_x p_x over the m slots, with p_x as in `reciprocal_rank_by_terms`. By symmetry, m and r may be swapped,
    so the shorter of the two sums is computed.
    """
    cdef Py_ssize_t g = first_group(q)
    cdef int64_t x, m, n, terms, k = q.measure.cutoff
    cdef double r, part, survival = 1.0, total = 0.0
    if g < 0 or q.groups.start[g] >= k:
        return 0.0
    r = q.weight[g]
    n = q.groups.size[g]
    m = min(n, k - q.groups.start[g])
    if m > n - r:
        return 1.0
    terms = m
    if r < m:
        terms = <int64_t>r
        r = <double>m
    for x in range(1, terms + 1):
        part = survival / (n - x + 1)
        total += part * r
        survival = part * (n - r - x + 1)
        if survival < 1e-17:
            break
    return total


cdef double search_length(const Query* q) noexcept nogil:
    """Return the expected number of nonrelevant documents above the wanted relevant document.

    If the wanted document is the i-th relevant document of its group, and j nonrelevant documents precede the group,
    this is j + i (n-r)/(r+1). If the list has fewer relevant documents than wanted, it is the number of all nonrelevant
    documents of the list.
    """
    cdef double n, r, before = 0.0, wanted = q.measure.measure_number
    cdef Py_ssize_t g
    for g in range(q.groups.count):
        n = q.groups.size[g]
        r = q.weight[g]
        if before + r >= wanted:
            return q.groups.start[g] - before + (wanted - before) * (n - r) / (r + 1.0)
        before += r
    return q.n_docs - before


cdef double rank(const Query* q) noexcept nogil:
    """Return the expected rank of the wanted relevant document; if the list lacks it, the rank after the last document.

    It is i plus the expected search length to the i-th relevant document.
    """
    cdef double found = 0.0, wanted = q.measure.measure_number
    cdef Py_ssize_t g
    for g in range(q.groups.count):
        found += q.weight[g]
    return wanted + search_length(q) if found >= wanted else q.n_docs + 1.0


cdef double preference(const Query* q) noexcept nogil:
    """Return Σ r mean_{x=0…s} f(x), with f(x) = 1 - min(B + x, M)/M, divided by the norm: bpref.

    The group has s judged nonrelevant documents, and B precede it. M is the query's second number.
    """
    cdef const double* relevant = q.weight
    cdef const double* nonrelevant = q.weight + q.groups.stride
    cdef double s, below, before = 0.0, total = 0.0, most = q.query_number
    cdef Py_ssize_t g
    for g in range(q.groups.count):
        s = nonrelevant[g]
        if most == 0.0:
            total += relevant[g]
        elif relevant[g] > 0.0:
            # f falls from 1 - B/M in steps of 1/M for `below` values; the other values are 0.
            below = min(max(most - before, 0.0), s + 1.0)
            total += relevant[g] * below * (2.0 * (most - before) - below + 1.0) / (2.0 * most * (s + 1.0))
        before += s
    return total / q.norm


cdef double inferred_precision(const Query* q) noexcept nogil:
    """Return the mean of infAP: Σ (r/v) [h + ((p + y) h + c (1 - (y+1+t) h)) s] over the groups' judged documents.

    `precisions_of_some` computes the terms of a group, and `precisions_of_judged` if all its documents are judged.

    A group contains r relevant, b judged nonrelevant, and u pooled but unjudged documents; v = r + b. R, B and U are
    the numbers of such documents before the group, and p = R + B + U. A judged document of the group is relevant with
    probability r/v. The (y+1)-th judged document has y judged documents before it in the group; h = E[1/j], where j is
    its rank. A share c = u/(n-v) of the unjudged documents before it in the group is pooled. s is the share of relevant
    documents among all judged documents before it; R + y (r-1)/(v-1) of these are expected to be relevant.
    """
    cdef const Groups* groups = q.groups
    cdef const double* weight = q.weight
    cdef Py_ssize_t g
    cdef int64_t t, n, judged
    cdef double r, b, u, c, a
    cdef double relevant = 0.0, nonrelevant = 0.0, unjudged = 0.0, part, total = 0.0
    for g in range(groups.count):
        t = groups.start[g]
        n = groups.size[g]
        r = weight[g]
        b = weight[groups.stride + g]
        u = weight[2 * groups.stride + g]
        judged = <int64_t>(r + b)
        if r > 0.0:
            a = (r - 1.0) / (judged - 1) if judged > 1 else 0.0
            c = u / (n - judged) if n > judged else 0.0
            if n == judged:
                part = precisions_of_judged(t, n, a, relevant, relevant + nonrelevant, unjudged)
            else:
                if interrupted(q.interruption, 10 * n):
                    return 0.0
                part = precisions_of_some(t, n, judged, c, a, relevant, relevant + nonrelevant, unjudged)
            total += r / judged * part
        relevant += r
        nonrelevant += b
        unjudged += u
    return total / q.norm


cdef double precisions_of_judged(int64_t t, int64_t n, double a, double relevant, double judged,
                                 double unjudged) noexcept nogil:
    """Return the sum over y of `inferred_precision` for a group whose documents are all judged: then j = t + y + 1.

    The terms are computed several at a time, and added one after the other.
    """
    cdef double terms[TERMS]
    cdef int64_t y, first = 0
    cdef int i, width
    cdef double h, part = 0.0
    while first < n:
        width = <int>min(n - first, <int64_t>TERMS)
        for i in range(width):
            y = first + i
            h = 1.0 / (t + y + 1)
            terms[i] = h + (judged + unjudged + y) * h * ((relevant + y * a + EPSILON) / (judged + y + 2.0 * EPSILON))
        for i in range(width):
            part += terms[i]
        first += width
    return part


cdef double precisions_of_some(int64_t t, int64_t n, int64_t v, double c, double a, double relevant, double judged,
                               double unjudged) noexcept nogil:
    """Return the sum over y of `inferred_precision` for a group in which v of the n documents are judged.

    h_q is the mean of 1/(t+X), where X is the place of the q-th judged document. It has the recurrence

        (t + q) (v - q) h_q + q (n + t - v + q + 1) h_{q+1} = v.

    Where the first factor is smaller than the second, h_{q+1} from h_q has no larger error than h_q; elsewhere, h_q
    from h_{q+1} has none. So the recurrence goes in both directions from the document where the factors are equal.
    """
    cdef double free = <double>(n - v), b = n + 2.0 * t - 2.0 * v + 1.0
    cdef double balance = (sqrt(b * b + 8.0 * <double>t * v) - b) / 4.0
    cdef int64_t start = max(min(<int64_t>balance, v), 1), first, q
    cdef double slopes[TERMS]
    cdef double constants[TERMS]
    cdef double shares[TERMS]
    cdef double reciprocal, h = mean_reciprocal(t, n, v, start), of_start = h, part
    cdef int i, width
    part = precision_of(t, start, h, c, judged + unjudged, share_of(start - 1.0, a, relevant, judged))
    first = start
    while first < v:
        width = <int>min(v - first, <int64_t>TERMS)
        for i in range(width):
            q = first + i
            reciprocal = 1.0 / (q * (free + t + q + 1.0))
            constants[i] = v * reciprocal
            slopes[i] = (<double>(t + q)) * (v - q) * reciprocal
            shares[i] = share_of(<double>q, a, relevant, judged)
        for i in range(width):
            h = constants[i] - slopes[i] * h
            part += precision_of(t, first + i + 1, h, c, judged + unjudged, shares[i])
        first += width
    h = of_start
    first = start - 1
    while first > 0:
        width = <int>min(first, <int64_t>TERMS)
        for i in range(width):
            q = first - i
            reciprocal = 1.0 / ((<double>(t + q)) * (v - q))
            constants[i] = v * reciprocal
            slopes[i] = q * (free + t + q + 1.0) * reciprocal
            shares[i] = share_of(q - 1.0, a, relevant, judged)
        for i in range(width):
            h = constants[i] - slopes[i] * h
            part += precision_of(t, first - i, h, c, judged + unjudged, shares[i])
        first -= width
    return part


cdef inline double share_of(double y, double a, double relevant, double judged) noexcept nogil:
    """Return the share of relevant documents among those judged above the (y+1)-th judged document of a group."""
    return (relevant + y * a + EPSILON) / (judged + y + 2.0 * EPSILON)


cdef inline double precision_of(int64_t t, int64_t q, double h, double c, double before, double share) noexcept nogil:
    """Return the precision at the q-th judged document of a group, from the mean h of its reciprocal rank."""
    return h + ((before + (q - 1.0)) * h + c * (1.0 - (<double>q + t) * h)) * share


cdef double mean_reciprocal(int64_t t, int64_t n, int64_t r, int64_t q) noexcept nogil:
    """Return E[1/(t+X)], where X is the place of the q-th of r documents that are randomly placed among n.

    P(X = x) is proportional to C(x-1, q-1) C(n-x, r-q). The sum starts at the likeliest place and goes on in both
    directions. The probabilities are computed relative to that of the likeliest place.
    """
    cdef double likeliest = q + <double><int64_t>((q - 1.0) / max(r - 1.0, 1.0) * (n - r))
    cdef double x = likeliest, chance = 1.0, chances = 1.0, total = 1.0 / (t + likeliest)
    while x < n - r + q and chance > 1e-18:
        chance *= x / (x - q + 1.0) * ((n - x - r + q) / (n - x))
        x += 1.0
        chances += chance
        total += chance / (t + x)
    x = likeliest
    chance = 1.0
    while x > q and chance > 1e-18:
        chance *= (x - q) / (x - 1.0) * ((n - x + 1.0) / (n - x + 1.0 - r + q))
        x -= 1.0
        chances += chance
        total += chance / (t + x)
    return total / chances


cdef double q_measure(const Query* q) noexcept nogil:
    """Return Σ (1/n) Σ_x w_x [r (R + 1) + β (r C + G) + x (r-1)/(n-1) (r + β G)], divided by the norm; x = 0 … m-1.

    R is the number of relevant documents before the group, C the gain of the groups before it, and
    w_x = 1/(j + β C*_j) for the rank j = t+1+x, with the ideal cumulated gain C*_j down to rank j.
    """
    cdef const Groups* groups = q.groups
    cdef const double* weight = q.weight
    cdef const double* ideal = q.measure.lookup + q.lookup_start
    cdef int64_t t, n, m, x, k = q.measure.cutoff, n_relevant = <int64_t>q.norm
    cdef Py_ssize_t g
    cdef double r, gain, w, weights, placed, beta = q.measure.measure_number, found = 0.0, cumulated = 0.0, total = 0.0
    for g in range(groups.count):
        r = weight[g]
        gain = weight[groups.stride + g]
        t = groups.start[g]
        n = groups.size[g]
        if t >= k:
            break
        if r > 0.0:
            m = min(n, k - t)
            weights = placed = 0.0
            for x in range(m):
                w = gain_weight(ideal, n_relevant, beta, t + 1 + x)
                weights += w
                placed += w * x
            total += weights / n * (r * (found + 1.0) + beta * (r * cumulated + gain))
            if n > 1:
                total += placed / n * (r - 1.0) / (n - 1) * (r + beta * gain)
        found += r
        cumulated += gain
    return total / q.norm


cdef double constant(const Query* q) noexcept nogil:
    return q.norm
