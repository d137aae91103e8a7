"""Groups into variances: how far each measure varies over the orderings that the ties allow.

One function a kernel of _expected.pyx, under its name, with its notation. The groups of a query are independent, so the
variances of what they contribute add up. A group all of whose documents weigh the same contributes none.

A group deep in a list contributes almost the same in every order, and its variance is a small difference of large
numbers. So each function either keeps the numbers as double_doubles, or sums deviations, which need no difference.
"""
from libc.math cimport NAN
from libc.stdint cimport int64_t

from tieaware._exact cimport add, double_double, product, scale, two_product
from tieaware._groups cimport Groups
from tieaware._measure cimport TOO_MANY, Query, between, first_group, gain_weight

# A group that starts after more than so many times its slots is deep.
cdef enum:
    DEEP = 16

# ERR's variance needs twice the square of so many slots and one more: 64 MB.
cdef enum:
    MOST_SLOTS = 2000

# So few slots are added up one by one in less time than a formula takes.
cdef enum:
    SHORT = 6


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


cdef double hits(const Query* q) noexcept nogil:
    return of_hits_within(q, q.measure.cutoff)


cdef double hits_at_r(const Query* q) noexcept nogil:
    return of_hits_within(q, <int64_t>q.norm)


cdef double of_hits_within(const Query* q, int64_t k) noexcept nogil:
    """Σ m r (n-r) (n-m) / (n² (n-1)): the hypergeometric variance."""
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


cdef double slots(const Query* q) noexcept nogil:
    """Σ s² (S2 - S1²/n), s² = (n Σ w² - (Σ w)²) / (n (n-1)), S1 = Σ d_j and S2 = Σ d_j² over the m slots."""
    cdef const Groups* groups = q.groups
    cdef const double* weight = q.weight
    cdef const double* square = groups.weight + q.measure.square * groups.stride
    cdef int64_t t, n, m, k = q.measure.cutoff
    cdef Py_ssize_t g
    cdef double_double s, d
    cdef double total = 0.0
    for g in range(groups.count):
        t = groups.start[g]
        n = groups.size[g]
        if t >= k:
            break
        if n == 1:
            continue
        s = minus(two_product(<double>n, square[g]), two_product(weight[g], weight[g]))
        if s.high + s.low <= 0.0:
            continue
        m = min(n, k - t)
        d = between(q.measure.table, t, m)
        d = minus(scale(between(q.measure.squares, t, m), <double>n), product(d, d))
        total += (s.high + s.low) / (<double>n * (n - 1.0)) * (positive(d.high + d.low) / n)
    return total / q.norm / q.norm


cdef double average_precision(const Query* q) noexcept nogil:
    """Var Σ_j X_j (c + N_j) / j: X_j, whether slot j is relevant; N_j, how many in the group's slots before it are.

    c = R + 1, with R relevant documents before the group.
    """
    cdef const Groups* groups = q.groups
    cdef const double* weight = q.weight
    cdef int64_t t, n, m, k = q.measure.cutoff
    cdef Py_ssize_t g
    cdef double r, before = 0.0, total = 0.0
    for g in range(groups.count):
        r = weight[g]
        t = groups.start[g]
        n = groups.size[g]
        if t >= k:
            break
        if 0.0 < r < n:
            m = min(n, k - t)
            if t > DEEP * m or m <= SHORT:
                total += average_precision_by_terms(t, n, m, r, before + 1.0)
            else:
                total += average_precision_in_closed_form(t, n, m, r, before + 1.0, between(q.measure.table, t, m),
                                                          between(q.measure.squares, t, m))
        before += r
    return total / q.norm / q.norm


cdef struct Placed:
    # Mean and second moment of S = Σ_x w_x X_x (c + N_x) over the slots placed so far, X_x and N_x as above.
    double mean
    double square
    double c
    # The probabilities that two, three and four given slots are all relevant, and one is.
    double p1
    double p2
    double p3
    double p4
    # How many slots, the sum of their weights, and that of each weight times the number of slots before it.
    double slots
    double weights
    double placed


cdef Placed placed_in(int64_t n, double r, double c) noexcept nogil:
    """No slot of a group of n documents, r of them relevant."""
    cdef Placed s
    s.mean = s.square = s.slots = s.weights = s.placed = 0.0
    s.c = c
    s.p1 = r / n
    s.p2 = s.p1 * (r - 1.0) / max(n - 1.0, 1.0)
    s.p3 = s.p2 * (r - 2.0) / max(n - 2.0, 1.0)
    s.p4 = s.p3 * (r - 3.0) / max(n - 3.0, 1.0)
    return s


cdef inline void place(Placed* s, double w) noexcept nogil:
    """One slot more, with weight w: E[S²] = Σ_x w_x² E_xx + 2 Σ_{y<x} w_y w_x E_yx, of terms that are not negative.

    With u slots before x and v before y, and p_i = r(r-1)…(r-i+1) / (n(n-1)…(n-i+1)):
    E_xx = p1 c² + p2 (2c+1) u + p3 u (u-1),  E_yx = p2 c (c+1) + p3 [(c+2) v + c (u-1)] + p4 v (u-2).
    """
    cdef double u = s.slots, c = s.c
    s.mean += w * (s.p1 * c + s.p2 * u)
    s.square += w * w * (s.p1 * c * c + s.p2 * (2.0 * c + 1.0) * u + s.p3 * u * (u - 1.0))
    s.square += 2.0 * w * s.weights * (s.p2 * c * (c + 1.0) + s.p3 * c * (u - 1.0))
    s.square += 2.0 * w * s.placed * (s.p3 * (c + 2.0) + s.p4 * (u - 2.0))
    s.slots += 1.0
    s.weights += w
    s.placed += w * u


cdef double average_precision_by_terms(int64_t t, int64_t n, int64_t m, double r, double c) noexcept nogil:
    """Where the whole group is within the cut-off, Σ X_x (c + N_x) is the same in every order, so that the same number
    may be taken from every weight: the last, 1/(t+m). What is left is small, and so is its square.
    """
    cdef Placed placed = placed_in(n, r, c)
    cdef double last = <double>(t + m)
    cdef int64_t x
    for x in range(m):
        place(&placed, (m - 1.0 - x) / ((t + 1.0 + x) * last) if m == n else 1.0 / (t + 1.0 + x))
    return positive(placed.square - placed.mean * placed.mean)


cdef double average_precision_in_closed_form(int64_t t, int64_t n, int64_t m, double r, double c, double_double w1,
                                             double_double w2) noexcept nogil:
    """c² [p1 W2 + p2 2B] + 2c [p2 (A2+B) + p3 (W1 A1 - A2 - B)] + p2 A2 + p3 (A3+4D) + p4 (A1² - A4 - 4D) - mean².

    W1 = Σ 1/j and W2 = Σ 1/j² over the m slots, s = t+1, A1 = m - s W1, A2 = W1 - s W2, A4 = A1 - s A2, A3 = A4 - A2,
    B = (W1²-W2)/2, D = A1 - s B, mean = p1 c W1 + p2 A1.
    """
    cdef double s = t + 1.0
    cdef double p1 = r / n
    cdef double p2 = p1 * (r - 1.0) / max(n - 1.0, 1.0)
    cdef double p3 = p2 * (r - 2.0) / max(n - 2.0, 1.0)
    cdef double p4 = p3 * (r - 3.0) / max(n - 3.0, 1.0)
    cdef double_double a1 = minus(exactly(<double>m), scale(w1, s))
    cdef double_double a2 = minus(w1, scale(w2, s))
    cdef double_double a4 = minus(a1, scale(a2, s))
    cdef double_double b = scale(minus(product(w1, w1), w2), 0.5)
    cdef double_double d = minus(a1, scale(b, s))
    cdef double W1 = w1.high + w1.low, W2 = w2.high + w2.low, A1 = a1.high + a1.low, A2 = a2.high + a2.low
    cdef double A4 = a4.high + a4.low, B = b.high + b.low, D = d.high + d.low
    cdef double mean = p1 * c * W1 + p2 * A1
    cdef double second = c * c * (p1 * W2 + 2.0 * p2 * B)
    second += 2.0 * c * (p2 * (A2 + B) + p3 * (W1 * A1 - A2 - B))
    second += p2 * A2 + p3 * (A4 - A2 + 4.0 * D) + p4 * (A1 * A1 - A4 - 4.0 * D)
    return positive(second - mean * mean)


cdef double q_measure(const Query* q) noexcept nogil:
    """Σ f² Var Σ_x w_x X_x (c + N_x) + β² D/(r-1) E[Σ_y X_y B_y² - (Σ_y X_y B_y)²/r], B_y = w_y + Σ_{x>y} w_x X_x.

    The gains of a group's relevant documents are their mean ḡ and what they differ from it. The first part is that of
    ḡ, as in average precision with other weights: f = 1 + β ḡ, f c = R + 1 + β (C + ḡ). In the second the differences,
    whose squares add up to D, meet the relevant slots in any order; the sums of both parts do not vary together, as
    the mean of a difference is 0. The workspace holds the w of the slots.
    """
    cdef const Groups* groups = q.groups
    cdef const double* weight = q.weight
    cdef const double* ideal = q.measure.table + q.table_start
    cdef double* slot_weight = q.workspace
    cdef int64_t t, n, m, x, k = q.measure.cutoff, n_relevant = <int64_t>q.norm
    cdef Py_ssize_t g
    cdef double r, gain, f, last, differences, after, squares_after, both_after, of_squares
    cdef double beta = q.measure.measure_number
    cdef double found = 0.0, cumulated = 0.0, total = 0.0
    cdef Placed mean_gains, ones
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
            f = 1.0 + beta * gain / r
            mean_gains = placed_in(n, r, (found + 1.0 + beta * (cumulated + gain / r)) / f)
            for x in range(m):
                slot_weight[x] = gain_weight(ideal, n_relevant, beta, t + 1 + x)
            # As in average precision, the last weight may be taken from all, if the whole group is within the cut-off.
            last = slot_weight[m - 1] if m == n else 0.0
            for x in range(m):
                place(&mean_gains, slot_weight[x] - last)
            if r < n:
                total += f * f * positive(mean_gains.square - mean_gains.mean * mean_gains.mean)
            d = minus(two_product(r, weight[2 * groups.stride + g]), two_product(gain, gain))
            differences = positive(d.high + d.low) / r
            if r > 1.0 and differences > 0.0:
                ones = placed_in(n, r, 1.0)
                of_squares = after = squares_after = both_after = 0.0
                for x in range(m):
                    place(&ones, slot_weight[x])
                for x in range(m - 1, -1, -1):
                    of_squares += ones.p1 * slot_weight[x] * slot_weight[x]
                    of_squares += ones.p2 * (2.0 * slot_weight[x] * after + squares_after) + 2.0 * ones.p3 * both_after
                    both_after += slot_weight[x] * after
                    after += slot_weight[x]
                    squares_after += slot_weight[x] * slot_weight[x]
                total += beta * beta * differences / (r - 1.0) * positive(of_squares - ones.square / r)
        found += r
        cumulated += gain
    return total / q.norm / q.norm


cdef int64_t size_of_q_measure(const Query* q, bint spread) noexcept nogil:
    cdef Py_ssize_t g
    cdef int64_t most = 0, k = q.measure.cutoff
    if spread:
        for g in range(q.groups.count):
            most = max(most, min(q.groups.size[g], k - q.groups.start[g]))
    return most


cdef double reciprocal_rank(const Query* q) noexcept nogil:
    """Var 1/(t+X), X the place of the first relevant document within the first group that holds one; 0 below k."""
    cdef const Groups* groups = q.groups
    cdef const double* weight = q.weight
    cdef int64_t t, n, m, k = q.measure.cutoff
    cdef Py_ssize_t g = first_group(q)
    cdef double r
    cdef double_double d
    if g < 0 or groups.start[g] >= k:
        return 0.0
    r = weight[g]
    t = groups.start[g]
    n = groups.size[g]
    if r == n:
        return 0.0
    m = min(n, k - t)
    if r == 1.0 and t <= DEEP * m:
        # X is uniform: n W2 - W1², over n².
        d = between(q.measure.table, t, m)
        d = minus(scale(between(q.measure.squares, t, m), <double>n), product(d, d))
        return positive(d.high + d.low) / n / n
    return reciprocal_rank_by_terms(t, n, r, m)


cdef double reciprocal_rank_by_terms(int64_t t, int64_t n, double r, int64_t m) noexcept nogil:
    """The variance of Y = 1/(t+1) - 1/(t+X), which has no digits to lose; Y = 1/(t+1) where X lies below the cut-off.

    P(X = x) = S_{x-1} r/(n-x+1), S_x = S_{x-1} (n-r-x+1)/(n-x+1), as for the expectation.
    """
    cdef int64_t x, last = min(m, <int64_t>(n - r) + 1)
    cdef double part, y, survival = 1.0, mean = 0.0, second = 0.0
    cdef double most = 1.0 / (t + 1.0)
    for x in range(1, last + 1):
        part = survival / (n - x + 1)
        y = (x - 1) / ((t + 1.0) * (t + x))
        mean += part * r * y
        second += part * r * y * y
        survival = part * (n - r - x + 1)
        if survival * most * most < 1e-17 * second:
            survival = 0.0
            break
    mean += survival * most
    second += survival * most * most
    return positive(second - mean * mean)


cdef double success(const Query* q) noexcept nogil:
    """q (1-q), where q = Π (n-m-x+1)/(n-x+1) over the r relevant documents is the probability of none; or Π over m."""
    cdef const Groups* groups = q.groups
    cdef const double* weight = q.weight
    cdef int64_t x, m, n, terms, k = q.measure.cutoff
    cdef Py_ssize_t g = first_group(q)
    cdef double r, none = 1.0
    if g < 0 or groups.start[g] >= k:
        return 0.0
    r = weight[g]
    n = groups.size[g]
    m = min(n, k - groups.start[g])
    if m > n - r:
        return 0.0
    terms = min(m, <int64_t>r)
    r = max(<double>m, r)
    for x in range(1, terms + 1):
        none *= (n - r - x + 1) / (n - x + 1.0)
        if none < 1e-300:
            return 0.0
    return none * (1.0 - none)


cdef double search_length(const Query* q) noexcept nogil:
    """i (n-r) (n+1) (r-i+1) / ((r+1)² (r+2)), for the group whose i-th relevant document is the wanted one."""
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
    """r F2/(s+1) + r (r-1) (F1² + F2)/((s+1) (s+2)) - (r F1/(s+1))², F1 = Σ f(x) and F2 = Σ f(x)² over x = 0 … s.

    With y = M - B - x, f = y/M for the `below` values x where y > 0, and 0 for the others.
    """
    cdef const double* relevant = q.weight
    cdef const double* nonrelevant = q.weight + q.groups.stride
    cdef double r, s, below, top, f1, f2, before = 0.0, total = 0.0, most = q.query_number
    cdef Py_ssize_t g
    for g in range(q.groups.count):
        r = relevant[g]
        s = nonrelevant[g]
        if most > 0.0 and r > 0.0 and s > 0.0:
            top = most - before
            below = min(max(top, 0.0), s + 1.0)
            f1 = below * (2.0 * top - below + 1.0) / 2.0 / most
            # Σ y² over below numbers down from top: those up to top, less those up to top - below.
            f2 = (squares_up_to(top) - squares_up_to(top - below)) / most / most if below > 0.0 else 0.0
            total += positive(r * f2 / (s + 1.0) + r * (r - 1.0) * (f1 * f1 + f2) / ((s + 1.0) * (s + 2.0))
                              - (r * f1 / (s + 1.0)) * (r * f1 / (s + 1.0)))
        before += s
    return total / q.norm / q.norm


cdef inline double squares_up_to(double y) noexcept nogil:
    return y * (y + 1.0) * (2.0 * y + 1.0) / 6.0


cdef double cascade(const Query* query) noexcept nogil:
    """Σ P² Var Σ_x T_x δ_x, T_x the product of q over the first x documents of the group, P that over earlier groups.

    ERR's sum is 1/(t+1) - Σ T_x δ_x, with δ_x = 1/(t+x) - 1/(t+x+1), and 1/(t+x) for the last slot; but T_n is the same
    in every order. E[T_x T_{x+d}] is A_{x,d}, of which a document more, the i-th, makes
    ((i-x-d) A_{x,d} + x q² A_{x-1,d} + d q A_{x,d-1})/i: no term is negative. The workspace holds A
    before and after that document.
    """
    cdef const Groups* groups = query.groups
    cdef const double* weights
    cdef const double* stop = query.measure.table
    cdef double* means
    cdef double* others
    cdef int n_grades = query.measure.n_weights
    cdef int64_t t, n, m, x, d, k = query.measure.cutoff
    cdef Py_ssize_t g, c, _copy, i
    cdef double* delta
    cdef double rest, crossed, mean, second, goes_on = 1.0, total = 0.0
    for g in range(groups.count):
        t = groups.start[g]
        n = groups.size[g]
        if t >= k or goes_on < 1e-150:
            break
        weights = query.weight + g
        if not differ(query, g):
            for c in range(n_grades):
                for _copy in range(<Py_ssize_t>weights[c * groups.stride]):
                    goes_on *= 1.0 - stop[c]
            continue
        m = min(n, k - t)
        i = n - graded_of(query, g)
        rest = 1.0
        means = query.workspace
        others = means + (m + 1) * (m + 1)
        for x in range(m + 1):
            for d in range(m - x + 1):
                means[x * (m + 1) + d] = others[x * (m + 1) + d] = 1.0
        for c in range(n_grades):
            for _copy in range(<Py_ssize_t>weights[c * groups.stride]):
                i += 1
                rest *= 1.0 - stop[c]
                one_more(means, others, <int>m, <int>i, 1.0 - stop[c])
                means, others = others, means
        delta = others
        mean = second = 0.0
        for x in range(1, m + 1):
            delta[x] = step(t, x, m, n)
        for x in range(1, m + 1):
            mean += delta[x] * means[x]
            crossed = 0.0
            for d in range(1, m - x + 1):
                crossed += delta[x + d] * means[x * (m + 1) + d]
            second += delta[x] * (delta[x] * means[x * (m + 1)] + 2.0 * crossed)
        total += goes_on * goes_on * positive(second - mean * mean)
        goes_on *= rest
    return total / query.norm / query.norm


cdef inline Py_ssize_t graded_of(const Query* q, Py_ssize_t g) noexcept nogil:
    """How many documents of a group have a grade."""
    cdef double graded = 0.0
    cdef int c
    for c in range(q.measure.n_weights):
        graded += q.weight[c * q.groups.stride + g]
    return <Py_ssize_t>graded


cdef inline bint differ(const Query* q, Py_ssize_t g) noexcept nogil:
    """Whether the documents of a group have different grades, or some a grade and others none."""
    cdef int c
    for c in range(q.measure.n_weights):
        if q.weight[c * q.groups.stride + g] == q.groups.size[g]:
            return False
    return graded_of(q, g) > 0


cdef int64_t size_of_cascade(const Query* q, bint spread) noexcept nogil:
    cdef Py_ssize_t g
    cdef int64_t most = 0, k = q.measure.cutoff
    for g in range(q.groups.count):
        if q.groups.start[g] < k and (not spread or differ(q, g)):
            most = max(most, min(q.groups.size[g], k - q.groups.start[g]))
    if not spread:
        return most + 1
    return 2 * (most + 1) * (most + 1) if most <= MOST_SLOTS else TOO_MANY


cdef void one_more(const double* old, double* means, int m, int i, double q) noexcept nogil:
    """Write A_{x,d} of i documents, from the old ones of i - 1, for x + d <= m."""
    cdef const double* above
    cdef int x, d, row, reach = min(m, i)
    cdef double share = 1.0 / i, squared, left
    for x in range(reach + 1):
        row = x * (m + 1)
        squared = share * x * q * q
        left = i - x
        # No row is above the first: whatever stands there is multiplied by 0.
        above = old + (row - (m + 1) if x > 0 else 0)
        means[row] = share * left * old[row] + squared * above[0]
        # Integers of 32 bits become doubles several at a time.
        for d in range(1, reach - x + 1):
            means[row + d] = share * (left - d) * old[row + d] + squared * above[d] + share * q * d * old[row + d - 1]


cdef inline double step(int64_t t, int64_t x, int64_t m, int64_t n) noexcept nogil:
    """δ_x."""
    if x < m:
        return 1.0 / ((t + x) * (t + x + 1.0))
    return 0.0 if m == n else 1.0 / (t + x)


cdef double none(const Query* q) noexcept nogil:
    """0: no order changes the value."""
    return 0.0


cdef double unknown(const Query* q) noexcept nogil:
    return NAN


cdef void unknown_extremes(const Query* q, double* least, double* most) noexcept nogil:
    least[0] = most[0] = NAN
