"""Variances of measures over the orders of tied documents, computed from groups.

Each function belongs to the kernel of the same name in _expected.pyx and uses the notation explained there. The orders
of different groups are independent, so the variances of their contributions add up. The variance of a group in which
all documents have the same weight is 0.

A group deep in a list, or a group in which nearly all documents have the same weight, contributes almost the same in
every order. Its variance is then a small difference of large numbers. So each function adds up terms that are not
negative, such as squared deviations, or uses double-doubles where these have enough digits to subtract accurately.
"""
from libc.math cimport NAN
from libc.stdint cimport int64_t

from tieaware.kernels._exact cimport add, double_double, log2_exact, product, scale, two_sum
from tieaware.kernels._groups cimport Groups
from tieaware.kernels._measure cimport Query, between, first_group, gain_weight, total_weight

# A group with m slots within the cut-off is called deep if more than DEEP * m documents are ranked above it.
cdef enum:
    DEEP = 16

# For groups with at most this many slots, summing slot by slot is faster than the closed form of the sum.
cdef enum:
    SHORT = 24

# If the lowest and the highest weight of a group's slots differ by less than this share of the highest, the squared
# deviations are summed slot by slot.
cdef double ALIKE = 1e-3

# Real weights whose squared deviations are below this share of their squares count as equal.
cdef double EQUAL = 2.0 ** -99


cdef inline double positive(double x) noexcept nogil:
    return x if x > 0.0 else 0.0


cdef inline double_double minus(double_double a, double_double b) noexcept nogil:
    b.high = -b.high
    b.low = -b.low
    return add(a, b)


cdef inline double_double exactly(double x) noexcept nogil:
    cdef double_double p
    p.high = x
    p.low = 0.0
    return p


cdef inline double_double quotient(double_double a, double_double b) noexcept nogil:
    """Return a / b to about 104 bits."""
    cdef double high = a.high / b.high
    cdef double_double rest = minus(a, scale(b, high))
    cdef double low = (rest.high + rest.low) / b.high
    return two_sum(high, low)


cdef double hits(const Query* q) noexcept nogil:
    return of_hits_within(q, q.measure.cutoff)


cdef double hits_at_r(const Query* q) noexcept nogil:
    return of_hits_within(q, <int64_t>q.norm)


cdef double of_hits_within(const Query* q, int64_t k) noexcept nogil:
    """Return Σ m r (n-r) (n-m) / (n² (n-1)), the hypergeometric variance of each group, divided by the squared norm."""
    cdef const Groups* groups = q.groups
    cdef Py_ssize_t g
    cdef double m, n, r, total = 0.0
    for g in range(groups.count):
        if groups.start[g] >= k:
            break
        n = groups.size[g]
        m = min(groups.size[g], k - groups.start[g])
        r = q.weight[g]
        if n > 1.0:
            total += m / n * (r / n) * (n - r) * ((n - m) / (n - 1.0))
    return total / q.norm / q.norm


# A function that returns the weight of slot j minus the weight of slot j+1.
ctypedef double (*Fall)(const Query* q, int64_t j) noexcept nogil

# A function that returns m times the sum of the squared deviations of the weights of the slots t+1 … t+m from their
# mean. `d` is the sum of these weights.
ctypedef double_double (*Deviations)(const Query* q, int64_t t, int64_t m, double_double d) noexcept nogil


cdef double discounted(const Query* q) noexcept nogil:
    return over_slots(q, discounted_deviations, discounted_fall)


cdef double patience(const Query* q) noexcept nogil:
    return over_slots(q, patient_deviations, patient_fall)


cdef double inverse_squares(const Query* q) noexcept nogil:
    return over_slots(q, discounted_deviations, inverse_square_fall)


cdef double over_slots(const Query* q, Deviations deviations, Fall fall) noexcept nogil:
    """Return Σ s² [V + (n-m)/(n m) (Σ d_j)²] over the groups, divided by the squared norm.

    V = Σ (d_j - d̄)² over the m slots with weights d_j. s² = (n Σ w² - (Σ w)²) / (n (n-1)) is the sample variance of
    the weights w of the group's documents.
    """
    cdef const Groups* groups = q.groups
    cdef int64_t t, n, m, k = q.measure.cutoff
    cdef Py_ssize_t g
    cdef double_double s, d, v
    cdef double first, varied, total = 0.0
    for g in range(groups.count):
        t = groups.start[g]
        n = groups.size[g]
        if t >= k:
            break
        if n == 1:
            continue
        s = sample_deviations(q, q.measure.weighting, g, <double>n)
        if s.high <= 0.0:
            continue
        m = min(n, k - t)
        d = between(q.measure.lookup, t, m)
        first = slot(q, t + 1)
        if first - slot(q, t + m) < ALIKE * first:
            varied = deviations_by_falls(q, t, m, fall)
        else:
            v = deviations(q, t, m, d)
            varied = positive(v.high + v.low) / m
        varied += (n - m) * ((d.high + d.low) / n * ((d.high + d.low) / m))
        total += (s.high + s.low) / (<double>n * (n - 1.0)) * varied
    return total / q.norm / q.norm


cdef double_double sample_deviations(const Query* q, int weighting, Py_ssize_t g, double n) noexcept nogil:
    """Return n Σ w² - (Σ w)² for the weights w of a group's n weighted documents; 0 if the weights are all the same."""
    cdef double_double square = scale(total_weight(q, q.measure.squared_weighting, g), n)
    cdef double_double total = total_weight(q, weighting, g)
    cdef double_double d = minus(square, product(total, total))
    # A difference below the precision of double-doubles means that real weights are equal.
    return d if d.high > EQUAL * square.high else exactly(0.0)


cdef inline double slot(const Query* q, int64_t j) noexcept nogil:
    """Return d_j, the weight of slot j."""
    cdef double_double d = between(q.measure.lookup, j - 1, 1)
    return d.high + d.low


cdef double deviations_by_falls(const Query* q, int64_t t, int64_t m, Fall fall) noexcept nogil:
    """Return Σ (d_j - d̄)², computed from the differences between d_j and the weight of the last slot.

    These differences are sums of falls, so they keep all their digits even if they are small.
    """
    cdef double above = 0.0, total = 0.0, square = 0.0
    cdef int64_t j
    for j in range(t + m - 1, t, -1):
        above += fall(q, j)
        total += above
        square += above * above
    return square - total / m * total


cdef double_double discounted_deviations(const Query* q, int64_t t, int64_t m, double_double d) noexcept nogil:
    return minus(scale(between(q.measure.squares, t, m), <double>m), product(d, d))


cdef double discounted_fall(const Query* q, int64_t j) noexcept nogil:
    """Return d_j - d_{j+1}: (1/d_{j+1} - 1/d_j) d_j d_{j+1}.

    The difference in brackets is log2(1 + 1/(j+1)), or log_base(1 + 1/j) from rank `base` on, or 1 for d_j = 1/j.
    """
    cdef double base = q.measure.measure_number
    if base < 0.0:
        return slot(q, j) * slot(q, j + 1)
    if base == 0.0:
        return log2_of_step(j + 1) * slot(q, j) * slot(q, j + 1)
    if j < base:
        return 1.0 - slot(q, j + 1)
    return log2_of_step(j) / log2_exact(base) * slot(q, j) * slot(q, j + 1)


cdef inline double log2_of_step(int64_t j) noexcept nogil:
    """Return log2(1 + 1/j) = 2 artanh(s) / log(2) with s = 1/(2j+1); the series of artanh is short for large j."""
    cdef double s = 1.0 / (2.0 * j + 1.0)
    return 2.8853900817779268 * (s + s * (s * s) * (1.0 / 3.0 + s * s * (0.2 + s * s / 7.0)))


cdef double inverse_square_fall(const Query* q, int64_t j) noexcept nogil:
    """Return d_j - d_{j+1} = 1/a² - 1/(a+1)² = (2a + 1) d_j d_{j+1}, with a = j - 1 + 2T."""
    return (2.0 * (j - 1.0 + 2.0 * q.measure.measure_number) + 1.0) * slot(q, j) * slot(q, j + 1)


cdef double_double patient_deviations(const Query* q, int64_t t, int64_t m, double_double d) noexcept nogil:
    """Return Σ d_j [m (1-p)/(1+p) (p^t + p^(t+m)) - Σ d_j].

    This closed form replaces prefix sums of squared weights, which would lose the digits of deep slots.
    """
    cdef const double* power = q.measure.lookup
    cdef double_double first = between(power, 0, 1), both = two_sum(-power[2 * t], -power[2 * (t + m)]), ratio
    both.low -= power[2 * t + 1] + power[2 * (t + m) + 1]
    ratio = quotient(scale(product(first, both), <double>m), minus(exactly(2.0), first))
    return product(d, minus(ratio, d))


cdef double patient_fall(const Query* q, int64_t j) noexcept nogil:
    return slot(q, j) * slot(q, 1)


cdef double average_precision(const Query* q) noexcept nogil:
    """Return the sum over the groups of Var Σ_x w_x X_x (c + N_x), divided by the squared norm.

    x is a slot of the group, from 0; w_x = 1/(t+1+x) and c = R + 1. X_x is 1 if slot x holds a relevant document, else
    0. N_x is the number of relevant documents before slot x in the group.
    """
    cdef const Groups* groups = q.groups
    cdef const double* weight = q.weight
    cdef int64_t t, n, m, x, k = q.measure.cutoff
    cdef Py_ssize_t g
    cdef double r, before = 0.0, total = 0.0
    cdef Falls falls
    for g in range(groups.count):
        r = weight[g]
        t = groups.start[g]
        n = groups.size[g]
        if t >= k:
            break
        if 0.0 < r < n:
            m = min(n, k - t)
            if t > DEEP * m or m <= SHORT:
                falls = before_all(n, m, r, before + 1.0)
                for x in range(m - 2, -1, -1):
                    fall_by(&falls, <double>x, 1.0 / ((t + 1.0 + x) * (t + 2.0 + x)))
                total += variance_of(&falls, 1.0 / (t + m) if m < n else 0.0)
            else:
                total += in_closed_form(q, t, n, m, r, before + 1.0)
        before += r
    return total / q.norm / q.norm


# Sums for the variance of a group, while its slots are visited from the last to the first.
cdef struct Falls:
    # The numbers of documents of the group: all (n), within the cut-off (m), below the cut-off, relevant (r), and
    # nonrelevant.
    double n
    double m
    double below
    double r
    double others
    # A relevant document at a slot contributes c times the slot's weight and a times the weight of its pairs.
    double c
    double a
    # The current slot's weight minus the last slot's weight.
    double above
    # The weight of the pairs of the current slot with all other slots, minus that weight for the last slot.
    double pairs
    # Sums over the slots visited so far: of the contributions minus that of the last slot, of the weights of pairs, and
    # of squares of both.
    double added
    double added_square
    double paired
    double paired_square
    double pair_square


cdef Falls before_all(int64_t n, int64_t m, double r, double c) noexcept nogil:
    """Return the sums before any slot is visited; the first slot to be visited is the last of the m slots."""
    cdef Falls f
    f.n = n
    f.m = m
    f.below = n - m
    f.r = r
    f.others = n - r
    f.c = c
    f.a = (r - 1.0) / max(n - 2.0, 1.0)
    f.above = f.pairs = f.added = f.added_square = f.paired = f.paired_square = f.pair_square = 0.0
    return f


cdef inline void fall_by(Falls* f, double x, double fall) noexcept nogil:
    """Go from slot x + 1 to slot x, whose weight is larger than that of slot x + 1 by `fall`."""
    cdef double more
    f.above += fall
    f.pairs += x * fall
    more = f.c * f.above + f.a * f.pairs
    f.added += more
    f.added_square += more * more
    f.paired += f.pairs
    f.paired_square += f.pairs * f.pairs
    f.pair_square += x * f.above * f.above


cdef double variance_of(const Falls* f, double last) noexcept nogil:
    """Return r u/(n(n-1)) Σ (α_x - ᾱ)² + r(r-1) u(u-1)/(n(n-1)(n-2)(n-3)) Σ_{y<x} D_yx², where u = n - r.

    A group of n tied documents, r of them relevant, fills n slots (ranks) in random order. X_x is 1 if slot x holds a
    relevant document, else 0. Slot x has the weight w_x, which is 0 below the cut-off, and c is a constant. The
    variance returned is that of the sum c Σ w_x X_x + Σ_{y<x} w_x X_y X_x.

    A pair of slots y < x has the weight H_yx = w_x, and the pairs of slot x have the total weight h_x = Σ_y H_yx. Each
    H_yx is the mean weight of a pair, plus a deviation (h_x - h̄)/(n-2) for each of its two slots, plus a rest D_yx
    whose rows sum to 0. Since r is fixed, slot x contributes α_x = c w_x + (r-1)/(n-2) h_x, and the rest is
    uncorrelated with every single slot.

    To avoid cancellation, the weight of each slot within the cut-off is split into `last`, the weight of the last of
    these slots, and the excess over `last`. Then no term is negative even if r or u is small, and no difference is much
    smaller than its minuend.
    """
    cdef double n = f.n, m = f.m, below = f.below, r = f.r, u = f.others, pairs, varied
    cdef double mean = last * (f.c + f.a * (m - 1.0)) + f.added / m
    varied = r / n * (u / (n - 1.0)) * (f.added_square - f.added / m * f.added + m * (below / n) * mean * mean)
    if r > 1.0 and u > 1.0:
        pairs = f.pair_square - f.paired / n * (f.paired / (2.0 * (n - 1.0)))
        pairs -= (f.paired_square - f.paired / n * f.paired) / (n - 2.0)
        pairs += last * (below / (n - 1.0)) * ((below - 1.0) / (n - 2.0)) * (f.paired + 0.5 * last * m * (m - 1.0))
        varied += r / n * ((r - 1.0) / (n - 1.0)) * (u / (n - 2.0)) * ((u - 1.0) / (n - 3.0)) * pairs
    return varied


cdef double in_closed_form(const Query* q, int64_t t, int64_t n, int64_t m, double r, double c) noexcept nogil:
    """Return the same variance as `variance_of`, computed from sums with closed forms.

    The sums are Σ w = W1, Σ w² = W2, Σ h = 2 A1, Σ w h = A2 + B, Σ h² = A4 + A2 + 4 D and Σ_{y<x} H² = A2. Here,
    A1 = Σ x w_x = m - s W1, A2 = Σ x w_x² = W1 - s W2 and A4 = Σ x² w_x² = A1 - s A2, with s = t+1; B = Σ_{y<x} w_y w_x
    = (W1²-W2)/2, and D = Σ_{y<x} y w_y w_x = A1 - s B.
    """
    cdef double s = t + 1.0, u = n - r, a = (r - 1.0) / max(n - 2.0, 1.0), varied
    cdef double_double w1 = between(q.measure.lookup, t, m), w2 = between(q.measure.squares, t, m)
    cdef double_double a1 = minus(exactly(<double>m), scale(w1, s))
    cdef double_double a2 = minus(w1, scale(w2, s))
    cdef double_double a4 = minus(a1, scale(a2, s))
    cdef double_double square = product(w1, w1), a1_square = product(a1, a1)
    cdef double_double b = scale(minus(square, w2), 0.5)
    cdef double_double d = minus(a1, scale(b, s))
    # n times three sums over the slots: of the squared deviations of w, of the products of the deviations of w and h,
    # and of the squared deviations of h.
    cdef double_double ww = minus(scale(w2, <double>n), square)
    cdef double_double wh = minus(scale(add(a2, b), <double>n), scale(product(w1, a1), 2.0))
    cdef double_double hh = minus(scale(add(add(a4, a2), scale(d, 4.0)), <double>n), scale(a1_square, 4.0))
    cdef double_double pairs
    varied = c * c * (ww.high + ww.low) + 2.0 * c * a * (wh.high + wh.low) + a * a * (hh.high + hh.low)
    varied *= r / n * (u / n) / (n - 1.0)
    if r > 1.0 and u > 1.0:
        # This is n (n-1) (n-2) times the sum of D².
        pairs = scale(minus(scale(scale(a2, n - 1.0), <double>n), scale(a1_square, 2.0)), n - 2.0)
        pairs = minus(pairs, scale(hh, n - 1.0))
        varied += (r / n * ((r - 1.0) / (n - 1.0)) * (u / (n - 2.0)) * ((u - 1.0) / (n - 3.0))
                   * ((pairs.high + pairs.low) / n / (n - 1.0) / (n - 2.0)))
    return varied


cdef double q_measure(const Query* q) noexcept nogil:
    """Return Σ f² Var Σ_x w_x X_x (c + N_x) + β² D/((r-1) r) E Σ_{y<x} X_y X_x (w_y + Σ_{y<z<x} w_z X_z)².

    The sum over the groups is divided by the squared norm. The gain of each relevant document of a group is the mean
    gain ḡ of the group's relevant documents plus a deviation. The first part is the variance if all gains were ḡ. It is
    computed as for average precision, with other weights w_x and with f = 1 + β ḡ and f c = R + 1 + β (C + ḡ). In the
    second part, the deviations, whose squares sum to D, are assigned to the relevant slots in random order. The
    deviation at slot y is multiplied by β (w_y + Σ_{z>y} w_z X_z), whose squared deviations are a sum over pairs. The
    two parts are uncorrelated, because the mean deviation is 0. The workspace holds the weights w_x of the slots.
    """
    cdef const Groups* groups = q.groups
    cdef const double* weight = q.weight
    cdef const double* ideal = q.measure.lookup + q.lookup_start
    cdef double* slot_weight = q.workspace
    cdef int64_t t, n, m, x, j, k = q.measure.cutoff, n_relevant = <int64_t>q.norm
    cdef Py_ssize_t g
    cdef double r, gain, f, fall, differences
    cdef double beta = q.measure.measure_number
    cdef double found = 0.0, cumulated = 0.0, total = 0.0
    cdef Falls falls
    cdef double_double d
    for g in range(groups.count):
        r = weight[g]
        gain = weight[groups.stride + g]
        t = groups.start[g]
        n = groups.size[g]
        if t >= k:
            break
        if r > 0.0 and n > 1:
            m = min(n, k - t)
            for x in range(m):
                slot_weight[x] = gain_weight(ideal, n_relevant, beta, t + 1 + x)
            if r < n:
                f = 1.0 + beta * gain / r
                falls = before_all(n, m, r, (found + 1.0 + beta * (cumulated + gain / r)) / f)
                for x in range(m - 2, -1, -1):
                    # Here, `fall` is the difference of the denominators j + β C*_j of two adjacent slots: 1 for the
                    # rank, plus β times the ideal gain at the next rank.
                    j = t + 1 + x
                    fall = 1.0
                    if j < n_relevant:
                        fall += beta * (ideal[j] - ideal[j - 1])
                    fall_by(&falls, <double>x, fall * slot_weight[x] * slot_weight[x + 1])
                total += f * f * variance_of(&falls, slot_weight[m - 1] if m < n else 0.0)
            d = sample_deviations(q, q.measure.weighting + 1, g, r)
            differences = (d.high + d.low) / r
            if r > 1.0 and differences > 0.0:
                total += beta * beta * differences / (r - 1.0) / r * between_relevant(slot_weight, n, m, r)
        found += r
        cumulated += gain
    return total / q.norm / q.norm


cdef double between_relevant(const double* w, int64_t n, int64_t m, double r) noexcept nogil:
    """Return E Σ_{y<x} X_y X_x (w_y + Σ_{y<z<x} w_z X_z)² over the slots 0 … n-1; slots from m on have the weight 0.

    The term of each x is p2 Σ w_y² + 2 p3 Σ w_y Z_y + p3 Σ Σ w_z² + 2 p4 Σ Σ_{z<z'} w_z w_z', with Z_y = Σ_{y<z<x} w_z.
    p_i is the probability that i given slots all hold relevant documents. The sums are updated when x advances, and no
    term is negative.
    """
    cdef double p2 = r / n * ((r - 1.0) / (n - 1.0))
    cdef double p3 = p2 * (r - 2.0) / max(n - 2.0, 1.0)
    cdef double p4 = p3 * (r - 3.0) / max(n - 3.0, 1.0)
    cdef double before = 0.0, squares = 0.0, products = 0.0, inner = 0.0, inner_squares = 0.0, inner_products = 0.0
    cdef double total = 0.0
    cdef int64_t x
    for x in range(m):
        total += p2 * squares + p3 * (2.0 * products + inner_squares) + 2.0 * p4 * inner_products
        inner_products += w[x] * inner
        inner_squares += x * (w[x] * w[x])
        inner += x * w[x]
        products += w[x] * before
        before += w[x]
        squares += w[x] * w[x]
    return total + (n - m) * (p2 * squares + p3 * (2.0 * products + inner_squares) + 2.0 * p4 * inner_products)


cdef int64_t size_of_q_measure(const Query* q, bint spread) noexcept nogil:
    cdef Py_ssize_t g
    cdef int64_t most = 0, k = q.measure.cutoff
    if spread:
        for g in range(q.groups.count):
            most = max(most, min(q.groups.size[g], k - q.groups.start[g]))
    return most


cdef double reciprocal_rank(const Query* q) noexcept nogil:
    """Return the variance of 1/(t+X), where X is the place of the first relevant document in its group.

    The value counts as 0 if t+X > k.
    """
    cdef int64_t t, n, m, k = q.measure.cutoff
    cdef Py_ssize_t g = first_group(q)
    cdef double r, value
    cdef double_double d
    if g < 0 or q.groups.start[g] >= k:
        return 0.0
    r = q.weight[g]
    t = q.groups.start[g]
    n = q.groups.size[g]
    if r == n:
        return 0.0
    m = min(n, k - t)
    if r == 1.0 and t <= DEEP * m:
        # X is uniformly distributed, so the variance is (n W2 - W1²) / n², where W1 is the sum of 1/(t+x) over the
        # slots, and W2 the sum of the squares.
        d = between(q.measure.lookup, t, m)
        d = minus(scale(between(q.measure.squares, t, m), <double>n), product(d, d))
        return positive(d.high + d.low) / n / n
    # As in _expected.pyx: the direct sum needs about 45 n/r terms, and the recurrence r terms, which cost more.
    if t * (r + 1.0) <= n and t <= m and min(<double>m, 45.0 * n / r) > 3.0 * r + 64.0:
        value = reciprocal_rank_by_recurrence(q, t, n, r, m)
        if value >= 0.0:
            return value
    return reciprocal_rank_by_terms(t, n, r, m)


cdef double reciprocal_rank_by_recurrence(const Query* q, int64_t t, int64_t n, double r, int64_t m) noexcept nogil:
    """Return D_r - E_r², the second moment minus the squared mean, by recurrences; -1 if that would lose precision.

    E_s is the mean if s documents are relevant, with the recurrence in _expected.pyx. D_s is the sum of the same terms,
    divided by t+x once more: D_s = s/((s-1)(n-s+1)) [(n+t-s+2) D_{s-1} - E_{s-1}]. Each error is a bound in units of
    rounding errors, about 1e-16.
    """
    cdef double_double first = between(q.measure.lookup, t, m), squares = between(q.measure.squares, t, m)
    cdef double mean = (first.high + first.low) / n, second = (squares.high + squares.low) / n
    cdef double none = 1.0, s = 1.0, error = mean, error_of_second = second, variance, factor, by
    while s < r:
        if none > 0.0:
            none *= max(0.0, n - m - s + 1.0) / (n - s + 1.0)
        s += 1.0
        factor = s / ((s - 1.0) * (n - s + 1.0))
        by = n + t - s + 2.0
        second = (by * second - mean) * factor
        error_of_second = (by * error_of_second + error) * factor + second
        mean = (by * mean - (1.0 - none)) * factor
        error = (by * error + 1.0) * factor
    variance = second - mean * mean
    return variance if error_of_second + 2.0 * error * mean < 1e3 * variance and mean > 0.0 else -1.0


cdef double reciprocal_rank_by_terms(int64_t t, int64_t n, double r, int64_t m) noexcept nogil:
    """Return P Var(V | found) + P (1-P) E[V | found]², where V = 1/(t+X).

    `found` is the event that a relevant document is within the m slots, and P its probability. If X is mostly small
    compared with t, the moments of 1/(t+1) - V are computed instead of those of V, so that few digits cancel.
    P(X = x) = S_{x-1} r/(n-x+1) and S_x = S_{x-1} (n-r-x+1)/(n-x+1), as in _expected.pyx.
    """
    cdef int64_t x, last = min(m, <int64_t>(n - r) + 1)
    cdef bint is_deep = t * (r + 1.0) > n or t > m
    cdef double most = 1.0 / (t + 1.0)
    cdef double part, y, survival = 1.0, found = 0.0, mean = 0.0, second = 0.0
    for x in range(1, last + 1):
        part = survival / (n - x + 1)
        y = (x - 1) / (t + 1.0) / (t + x) if is_deep else 1.0 / (t + x)
        found += part * r
        mean += part * r * y
        second += part * r * y * y
        survival = part * (n - r - x + 1)
        if survival * most * most < 1e-20 * second:
            survival = 0.0
            break
    second -= mean / found * mean
    mean = most - mean / found if is_deep else mean / found
    return positive(second) + found * survival * mean * mean


cdef double success(const Query* q) noexcept nogil:
    """Return q (1-q), where q is the probability that no relevant document is within the m slots.

    q = Π_{x=1…r} (n-m-x+1)/(n-x+1). By symmetry, m and r may be swapped, so the shorter product is computed. 1-q is
    computed without cancellation, as the sum of the decreases of the product.
    """
    cdef int64_t x, m, n, terms, k = q.measure.cutoff
    cdef Py_ssize_t g = first_group(q)
    cdef double r, part, none = 1.0, found = 0.0
    if g < 0 or q.groups.start[g] >= k:
        return 0.0
    r = q.weight[g]
    n = q.groups.size[g]
    m = min(n, k - q.groups.start[g])
    if m > n - r:
        return 0.0
    terms = min(m, <int64_t>r)
    r = max(<double>m, r)
    for x in range(1, terms + 1):
        part = none / (n - x + 1)
        found += part * r
        none = part * (n - r - x + 1)
        if none < 1e-300:
            return 0.0
    return none * found


cdef double search_length(const Query* q) noexcept nogil:
    """Return i (n-r) (n+1) (r-i+1) / ((r+1)² (r+2)) for the group whose i-th relevant document is the wanted one."""
    cdef double n, r, i, before = 0.0, wanted = q.measure.measure_number
    cdef Py_ssize_t g
    for g in range(q.groups.count):
        n = q.groups.size[g]
        r = q.weight[g]
        if before + r >= wanted:
            i = wanted - before
            return i * (n - r) * (n + 1.0) * (r - i + 1.0) / ((r + 1.0) * (r + 1.0) * (r + 2.0))
        before += r
    return 0.0


cdef double preference(const Query* q) noexcept nogil:
    """Return Σ r (r+s+1)/((s+1) (s+2)) Σ_{x=0…s} (f(x) - f̄)² over the groups, divided by the squared norm.

    For the first b of these x, f falls in steps of 1/M and has the mean ȳ/M. For the other c of them, f is 0. The inner
    sum is therefore (b (b²-1)/12 + b c/(s+1) ȳ²) / M².
    """
    cdef const double* relevant = q.weight
    cdef const double* nonrelevant = q.weight + q.groups.stride
    cdef double r, s, b, mean, varied, before = 0.0, total = 0.0, most = q.query_number
    cdef Py_ssize_t g
    for g in range(q.groups.count):
        r = relevant[g]
        s = nonrelevant[g]
        if before >= most:
            break
        if r > 0.0 and s > 0.0:
            b = min(most - before, s + 1.0)
            mean = most - before - 0.5 * (b - 1.0)
            varied = (b * (b - 1.0) * (b + 1.0) / 12.0 + b * (s + 1.0 - b) / (s + 1.0) * mean * mean) / most / most
            total += r * (r + s + 1.0) / ((s + 1.0) * (s + 2.0)) * varied
        before += s
    return total / q.norm / q.norm


cdef double none(const Query* q) noexcept nogil:
    """Return 0, for measures whose value does not depend on the order of tied documents."""
    return 0.0


cdef double unknown(const Query* q) noexcept nogil:
    return NAN


cdef void unknown_extremes(const Query* q, double* least, double* most) noexcept nogil:
    least[0] = most[0] = NAN
