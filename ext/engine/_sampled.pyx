"""Mean and variance of measures of one positive that is ranked among a sample of its negatives.

A positive has n negatives; G of them score higher and T tie with it. Its place among all of them is that of X negatives
above it, X uniform on G … G+T. A sample has m of the n negatives, and Y of these are above the positive: its rank in
the sample is 1 + Y. Given X, the law of Y is hypergeometric, or binomial if the negatives are sampled with replacement.
"""
import numpy as np
from libc.stdint cimport int64_t

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption

cnp.import_array()

# Probabilities below this share of the largest one are left out.
cdef double NEGLIGIBLE = 1e-30

# Up to about this number of steps, the laws of Y for all X are added up. Above, the mixture is computed in closed form.
# That subtracts cumulative probabilities, and loses digits if (n+1)/((m+1)(T+1)) is large, which many ties prevent.
cdef double MOST_ADDED = 1 << 18

# With replacement there is no closed form of the mixture. The function refuses more steps than this, some seconds.
cdef double MOST_STEPS = 3e9


def moments(const int64_t[::1] above, const int64_t[::1] tied, const int64_t[::1] n, int64_t m,
            const double[:, ::1] values, bint replacement):
    """Return the mean and the variance of each measure for each positive.

    Parameters
    ----------
    above, tied, n : int64[n_positives]
        G, T and n of each positive: G, T ≥ 0, G + T ≤ n, 1 ≤ n < 2^31.
    m : int
        The number of sampled negatives, 0 … 2^31 - 1; without replacement at most the smallest n.
    values : float64[n_measures, m + 1]
        The value of each measure if the positive has rank 1, 2 … m + 1.
    replacement : bool
        Whether a negative may be sampled more than once.

    Returns
    -------
    float64[n_positives, n_measures], float64[n_positives, n_measures], int
        The means, the variances, and -1; or the index of a positive whose ties would take too long.
    """
    cdef Py_ssize_t count = above.shape[0], n_measures = values.shape[0], i, j, refused = -1
    cdef int64_t y, low, high
    cdef double mean, deviation, varied
    cdef Interruption interruption = no_interruption()
    if tied.shape[0] != count or n.shape[0] != count or values.shape[1] != m + 1:
        raise ValueError("the arrays differ in length, or the measures do not have m + 1 values")
    means_array, variances_array = np.zeros((count, n_measures)), np.zeros((count, n_measures))
    cdef double[:, ::1] means = means_array, variances = variances_array
    # Probabilities of Y = 0 … m, and two laws on 0 … m + 1.
    room = np.zeros((3, m + 2))
    cdef double[:, ::1] rows = room
    cdef double* chance = &rows[0, 0]
    with nogil:
        for i in range(count):
            if replacement and (tied[i] + 1.0) * (m + 1.0) > MOST_STEPS:
                refused = i
                break
            if not replacement and (tied[i] + 1.0) * min(m + 1.0, 64.0) > MOST_ADDED:
                in_closed_form(chance, &rows[1, 0], &rows[2, 0], n[i], above[i], tied[i], m, &low, &high)
            else:
                added_up(chance, &rows[1, 0], n[i], above[i], tied[i], m, replacement, &low, &high, &interruption)
            if interrupted(&interruption, (high - low) * (n_measures + 2)):
                break
            for j in range(n_measures):
                mean = varied = 0.0
                for y in range(low, high + 1):
                    mean += chance[y] * values[j, y]
                for y in range(low, high + 1):
                    deviation = values[j, y] - mean
                    varied += chance[y] * (deviation * deviation)
                means[i, j] = mean
                variances[i, j] = varied
    check_interruption(&interruption)
    return means_array, variances_array, refused


cdef void law_of(double* p, int64_t n, int64_t x, int64_t m, bint replacement,
                 int64_t* low, int64_t* high) noexcept nogil:
    """Write P(Y = y) for y = low … high, where x of the n negatives are above the positive, and m are sampled.

    The probabilities are computed from the likeliest y on, in both directions, by their ratios
    P(y+1)/P(y) = (x-y) (m-y) / ((y+1) (n-x-m+y+1)), with replacement (m-y) x / ((y+1) (n-x)). All are then divided by
    their sum. Invariant: p[low … high] are the probabilities so far, relative to that of the likeliest y.
    """
    cdef int64_t least, most, likeliest, y
    cdef double one, total = 1.0
    if replacement:
        least = m if x == n else 0
        most = 0 if x == 0 else m
        likeliest = <int64_t>((m + 1.0) * x / n)
    else:
        least = max(m - (n - x), 0)
        most = min(m, x)
        likeliest = <int64_t>((m + 1.0) * (x + 1.0) / (n + 2.0))
    likeliest = max(least, min(most, likeliest))
    p[likeliest] = one = 1.0
    high[0] = low[0] = likeliest
    for y in range(likeliest, most):
        if replacement:
            one *= (m - y) / (y + 1.0) * (<double>x / (n - x))
        else:
            one *= (m - y) / (y + 1.0) * ((x - y) / (n - x - m + y + 1.0))
        if one < NEGLIGIBLE:
            break
        p[y + 1] = one
        high[0] = y + 1
        total += one
    one = 1.0
    for y in range(likeliest - 1, least - 1, -1):
        if replacement:
            one *= (y + 1.0) / (m - y) * ((n - x) / <double>x)
        else:
            one *= (y + 1.0) / (m - y) * ((n - x - m + y + 1.0) / (x - y))
        if one < NEGLIGIBLE:
            break
        p[y] = one
        low[0] = y
        total += one
    for y in range(low[0], high[0] + 1):
        p[y] /= total


cdef void added_up(double* chance, double* p, int64_t n, int64_t above, int64_t tied, int64_t m, bint replacement,
                   int64_t* low, int64_t* high, Interruption* interruption) noexcept nogil:
    """Write the probabilities of Y = low … high: the mean of its laws for X = above … above + tied."""
    cdef int64_t x, y, first, last
    if tied == 0:
        law_of(chance, n, above, m, replacement, low, high)
        return
    law_of(p, n, above, m, replacement, low, &last)
    law_of(p, n, above + tied, m, replacement, &first, high)
    # Negligible probabilities are cut off, so neither end of a law is exactly monotone in x.
    low[0] = max(min(low[0], first) - 2, 0)
    high[0] = min(max(high[0], last) + 2, m)
    for y in range(low[0], high[0] + 1):
        chance[y] = 0.0
    for x in range(above, above + tied + 1):
        law_of(p, n, x, m, replacement, &first, &last)
        if interrupted(interruption, 4 * (last - first + 1)):
            return
        for y in range(max(first, low[0]), min(last, high[0]) + 1):
            chance[y] += p[y]
    for y in range(low[0], high[0] + 1):
        chance[y] /= tied + 1.0


cdef void in_closed_form(double* chance, double* p, double* q, int64_t n, int64_t above, int64_t tied, int64_t m,
                         int64_t* low, int64_t* high) noexcept nogil:
    """Write the same probabilities as `added_up`, without replacement, by the law of an order statistic.

    If m + 1 of n + 1 places are drawn, C(x, y) C(n-x, m-y) / C(n+1, m+1) is the probability that x places precede the
    one that y drawn places precede. Summing over x = G … G+T gives
    P(Y = y) = (n+1)/((m+1)(T+1)) [P(Z ≤ y) - P(Z' ≤ y)], where Z and Z' count the drawn places among the first G and
    the first G+T+1. Where both probabilities are near 1, their complements are subtracted.
    """
    cdef int64_t y, first, last, first_after, last_after, middle
    cdef double scale = (n + 1.0) / (m + 1.0) / (tied + 1.0), before = 0.0, after = 0.0
    law_of(p, n + 1, above, m + 1, False, &first, &last)
    law_of(q, n + 1, above + tied + 1, m + 1, False, &first_after, &last_after)
    low[0] = min(min(first, first_after), m)
    high[0] = min(max(last, last_after), m)
    middle = (first + last_after) // 2
    for y in range(low[0], min(middle, high[0]) + 1):
        if first <= y <= last:
            before += p[y]
        if first_after <= y <= last_after:
            after += q[y]
        chance[y] = max(scale * (before - after), 0.0)
    before = after = 0.0
    for y in range(max(last, last_after), max(middle, low[0] - 1), -1):
        if y <= m:
            chance[y] = max(scale * (after - before), 0.0)
        if first <= y <= last:
            before += p[y]
        if first_after <= y <= last_after:
            after += q[y]
