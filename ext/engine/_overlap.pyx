"""Rank-biased overlap of rankings with ties: mean, variance and extremes over all orders of the tied items.

X_d is the number of items that both rankings have among the first d. The overlap is Σ w_d X_d, with weights w_d ≥ 0 of
the depths. At depth d, let the group g of the first ranking have m of its n ranks, and the group h of the second m' of
n'. π = m/n and ρ = m'/n'. Let c items be in both groups, and B the items of g that stand above h in the second ranking
(B' the items of h that stand above g in the first). The other N = n - B - c items of g, and N' of h, do not matter. C
items are in groups that have ended in both rankings. Then E X_d = C + B π + B' ρ + c π ρ.

The depths of one pair (g, h) are a *stretch*. At each d, the order in which g begins with the B items, continues with
those of h and ends with the rest is best, if the c items have the same order in both rankings. The reverse is worst, if
the c items then have opposite orders. Neither depends on d, so the extremes of the overlap are Σ w_d of these counts.
"""
import numpy as np
from libc.stdint cimport int64_t

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption

cnp.import_array()


# The cells (pairs of groups with common items) of all queries, and the overlap's parameters.
cdef struct Cells:
    # start[0] and size[0] describe the group of the first ranking, start[1] and size[1] that of the second.
    const int64_t* start[2]
    const int64_t* size[2]
    const int64_t* count
    # order[0] lists the cells of each query by (start[0], start[1]), order[1] by (start[1], start[0]).
    const int64_t* order[2]
    # power[d] = p^d.
    const double* power
    bint extrapolate


# The current group of one ranking, while the depths are visited.
cdef struct Side:
    # Its first cell, the cell that will be visited next, and the end of the query's cells, as indices into `order`.
    int64_t first
    int64_t next
    int64_t end
    # t ranks are above the group, which has n ranks. It is a gap if none of its items is in both rankings.
    int64_t t
    int64_t n
    bint is_gap
    # B, and N of the current stretch.
    double above
    double rest
    # Σ w_d π_d (B + c ρ_d) over the earlier stretches of the group.
    double earlier


# Sums over the depths of a stretch so far, each of the products of w_d with the factors that the name lists: p for π, r
# for ρ, u for 1 - ρ, v for 1 - π.
cdef struct DepthSums:
    double p
    double pr
    double pu
    double r
    double rp
    double rv


# The sums over all depths.
cdef struct Overlap:
    double mean
    double variance
    double least
    double greatest


def moments(
    const int64_t[:, ::1] cells, const int64_t[:, ::1] orders, const int64_t[::1] offsets, const int64_t[::1] depths,
    const int64_t[::1] shorter, const double[::1] power, bint extrapolate
):
    """Return the mean, variance, minimum and maximum of the overlap of each query.

    Parameters
    ----------
    cells : int64[5, n_cells]
        Pairs of groups with common items: the start and the size of the group in the first ranking, the start and the
        size of the group in the second, and the number of common items. The groups of a ranking do not overlap.
    orders : int64[2, n_cells]
        The cells of each query by (first start, second start), and by (second start, first start).
    offsets : int64[n_queries + 1]
        The cells of query ``q`` are those of the indices offsets[q] to offsets[q + 1] of `orders`.
    depths : int64[n_queries]
        The depth to which the rankings are compared, at least 1.
    shorter : int64[n_queries]
        The number of items of the shorter ranking, at least 1.
    power : float64[greatest depth + 1]
        The powers of the persistence p: p^0, p^1 …
    extrapolate : bool
        Whether the agreement is extrapolated beyond the end of a ranking, and beyond the depth.

    Returns
    -------
    float64[4, n_queries]
    """
    cdef Py_ssize_t n_queries = depths.shape[0], n_cells = cells.shape[1], i
    cdef Cells c
    cdef Interruption interruption = no_interruption()
    cdef Overlap overlap
    if orders.shape[1] != n_cells or offsets.shape[0] != n_queries + 1 or shorter.shape[0] != n_queries:
        raise ValueError("the arrays differ in length")
    if n_queries and (offsets[0] != 0 or offsets[n_queries] != n_cells or np.max(depths) >= power.shape[0]):
        raise ValueError("the offsets do not cover the cells, or a depth has no power")
    result = np.zeros((4, n_queries))
    cdef double[:, ::1] out = result
    c.power = &power[0]
    c.extrapolate = extrapolate
    c.count = c.order[0] = c.order[1] = c.start[0] = c.start[1] = c.size[0] = c.size[1] = NULL
    if n_cells:
        c.start[0] = &cells[0, 0]
        c.size[0] = &cells[1, 0]
        c.start[1] = &cells[2, 0]
        c.size[1] = &cells[3, 0]
        c.count = &cells[4, 0]
        c.order[0] = &orders[0, 0]
        c.order[1] = &orders[1, 0]
    with nogil:
        for i in range(n_queries):
            if interrupted(&interruption, 30 * depths[i]):
                break
            overlap = of_query(&c, offsets[i], offsets[i + 1], depths[i], shorter[i])
            out[0, i] = overlap.mean
            out[1, i] = overlap.variance
            out[2, i] = overlap.least
            out[3, i] = overlap.greatest
    check_interruption(&interruption)
    return result


cdef Overlap of_query(const Cells* cells, int64_t first, int64_t end, int64_t depth, int64_t shorter) noexcept nogil:
    """Visit the stretches from the top to the depth.

    Invariant: `ended` is the number of common items whose groups have ended in both rankings.
    """
    cdef Overlap overlap
    cdef Side a, b
    cdef int64_t d = 0, until
    cdef double both, ended = 0.0, at_end = 0.0
    overlap.mean = overlap.variance = overlap.least = overlap.greatest = 0.0
    if cells.extrapolate and depth > shorter:
        at_end = weight_at_end(cells.power, depth, shorter)
    a.first = a.next = b.first = b.next = first
    a.end = b.end = end
    enter(&a, cells, 0, 0)
    enter(&b, cells, 1, 0)
    while d < depth:
        pass_above(&a, cells, 0, b.t)
        pass_above(&b, cells, 1, a.t)
        both = common_items(&a, &b, cells)
        a.rest = a.n - a.above - both
        b.rest = b.n - b.above - both
        until = min(depth, min(a.t + a.n, b.t + b.n))
        over_stretch(&overlap, cells, &a, &b, both, ended, d, until, depth, shorter, at_end)
        d = until
        if d == a.t + a.n:
            ended += a.above
        if d == b.t + b.n:
            ended += b.above
            if d == a.t + a.n:
                ended += both
        if d == a.t + a.n:
            enter(&a, cells, 0, d)
        if d == b.t + b.n:
            enter(&b, cells, 1, d)
    return overlap


cdef double weight_at_end(const double* power, int64_t depth, int64_t shorter) noexcept nogil:
    """Return the weight of X_s that is due to the unknown items below the end s of the shorter ranking.

    Each unknown item is a common one with probability X_s/s, so it is
    (1-p) Σ_{d=s+1…D} p^(d-1) (d-s)/(d s) + p^D (D-s)/(D s) for the depth D.
    """
    cdef double s = shorter, total = 0.0
    cdef int64_t d
    for d in range(shorter + 1, depth + 1):
        total += power[d - 1] * (1.0 - power[1]) * ((d - s) / d)
    return (total + power[depth] * ((depth - s) / depth)) / s


cdef inline void enter(Side* side, const Cells* cells, int which, int64_t d) noexcept nogil:
    """Go to the group, or the gap, that begins after d ranks."""
    cdef int64_t cell
    # Skip the cells of the group that ended.
    while side.next < side.end and cells.start[which][cells.order[which][side.next]] < d:
        side.next += 1
    side.first = side.next
    side.t = d
    side.is_gap = True
    side.above = side.earlier = 0.0
    side.n = 1 << 62
    if side.next < side.end:
        cell = cells.order[which][side.next]
        side.is_gap = cells.start[which][cell] > d
        side.n = cells.start[which][cell] - d if side.is_gap else cells.size[which][cell]


cdef inline void pass_above(Side* side, const Cells* cells, int which, int64_t t) noexcept nogil:
    """Count the items of the group that are in groups of the other ranking which begin before t."""
    cdef int64_t cell
    if side.is_gap:
        return
    while side.next < side.end:
        cell = cells.order[which][side.next]
        if cells.start[which][cell] != side.t or cells.start[1 - which][cell] >= t:
            break
        side.above += cells.count[cell]
        side.next += 1


cdef inline double common_items(const Side* a, const Side* b, const Cells* cells) noexcept nogil:
    """Return c, the number of items that are in both groups."""
    cdef int64_t cell
    if a.is_gap or b.is_gap or a.next == a.end:
        return 0.0
    cell = cells.order[0][a.next]
    if cells.start[0][cell] == a.t and cells.start[1][cell] == b.t:
        return cells.count[cell]
    return 0.0


cdef inline double positive(double x) noexcept nogil:
    return x if x > 0.0 else 0.0


cdef void over_stretch(Overlap* overlap, const Cells* cells, Side* a, Side* b, double both, double ended,
                       int64_t d, int64_t until, int64_t depth, int64_t shorter, double at_end) noexcept nogil:
    """Add the depths d + 1 … until, in which neither group changes.

    The variance is the sum of three uncorrelated parts, each a sum over pairs of depths d ≤ e, in which the pairs of
    different depths count twice:
    - of g, 1/(n-1) Σ w_d w_e π_d (1-π_e) [B N + B c (1-ρ_d)(1-ρ_e) + c N ρ_d ρ_e] within the stretch, and
      1/(n-1) Σ w_d w_e π_d (B + c ρ_d) (1-π_e) (N + c (1-ρ_e)) for d in an earlier stretch of g (B, c, N of each);
    - of h, the same with the rankings exchanged;
    - of the c items, c (1 + (c-1)/((n-1)(n'-1))) Σ w_d w_e π_d ρ_d (1-π_e) (1-ρ_e).
    No term is negative.
    """
    cdef DepthSums s
    cdef int64_t j
    cdef double m, other, w, pi, rho, v, u, seen, least, most
    cdef double of_a = 0.0, of_b = 0.0, of_both = 0.0, added_a = 0.0, added_b = 0.0, n = a.n, k = b.n
    s.p = s.pr = s.pu = s.r = s.rp = s.rv = 0.0
    for j in range(d + 1, until + 1):
        w = cells.power[j - 1] * (1.0 - cells.power[1]) / j
        if cells.extrapolate and j == depth:
            w += cells.power[j] / j
        if j == shorter:
            w += at_end
        m = j - a.t
        other = j - b.t
        pi = m / n
        rho = other / k
        v = (n - m) / n
        u = (k - other) / k
        overlap.mean += w * (ended + a.above * pi + b.above * rho + both * pi * rho)
        most = min(both, min(positive(m - a.above), positive(other - b.above)))
        overlap.greatest += w * (ended + min(a.above, m) + min(b.above, other) + most)
        seen = min(positive(m - a.rest), both) + min(positive(other - b.rest), both)
        least = positive(m - a.rest - both) + positive(other - b.rest - both) + positive(seen - both)
        overlap.least += w * (ended + least)
        of_a += w * v * (a.above * a.rest * (2.0 * s.p + w * pi)
                         + a.above * both * u * (2.0 * s.pu + w * pi * u)
                         + both * a.rest * rho * (2.0 * s.pr + w * pi * rho)
                         + 2.0 * a.earlier * (a.rest + both * u))
        of_b += w * u * (b.above * b.rest * (2.0 * s.r + w * rho)
                         + b.above * both * v * (2.0 * s.rv + w * rho * v)
                         + both * b.rest * pi * (2.0 * s.rp + w * rho * pi)
                         + 2.0 * b.earlier * (b.rest + both * v))
        of_both += w * v * u * (2.0 * s.pr + w * pi * rho)
        s.p += w * pi
        s.pr += w * pi * rho
        s.pu += w * pi * u
        s.r += w * rho
        s.rp += w * pi * rho
        s.rv += w * rho * v
        added_a += w * pi * (a.above + both * rho)
        added_b += w * rho * (b.above + both * pi)
    if n > 1.0:
        overlap.variance += of_a / (n - 1.0)
    if k > 1.0:
        overlap.variance += of_b / (k - 1.0)
    if n > 1.0 and k > 1.0 and both > 0.0:
        overlap.variance += both * (1.0 + (both - 1.0) / (n - 1.0) / (k - 1.0)) * of_both
    a.earlier += added_a
    b.earlier += added_b
