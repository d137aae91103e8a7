"""AUC: the share of pairs of a relevant and a nonrelevant document in which the relevant document precedes the other.

A tied pair counts half. With a cut-off, only pairs among the first k documents count. The cut-off may divide a group.
The number x of relevant documents in the upper part of this group has a hypergeometric distribution, and the number of
pairs depends on x. Given x, the groups above and the upper part of the divided group are independent.
"""
from libc.stdint cimport int64_t

from tieaware.kernels._groups cimport Groups
from tieaware.kernels._measure cimport Query


cdef struct Pairs:
    # The number of documents within the cut-off.
    double depth
    # The number of relevant documents above the group that the cut-off divides.
    double relevant
    # The divided group: it has n documents, r of them relevant, and m slots within the cut-off.
    double n
    double r
    double m
    # A pair is led if its relevant document precedes the nonrelevant one. `led` is the mean number of pairs led by a
    # relevant document of the groups above, for the case that all m slots hold nonrelevant documents.
    double led
    # The number of tied pairs in the groups above. Each of them counts half in `led`.
    double tied
    # The variance, over the orders of tied documents, of the number of pairs counted in `led`.
    double variance


cdef Pairs above(const Query* q) noexcept nogil:
    cdef const Groups* groups = q.groups
    cdef const double* weight = q.weight
    cdef int64_t k = q.measure.cutoff
    cdef Py_ssize_t g
    cdef double n, r, before = 0.0
    cdef Pairs found
    found.depth = min(k, q.n_docs)
    found.relevant = found.n = found.r = found.m = found.led = found.tied = found.variance = 0.0
    for g in range(groups.count):
        if groups.start[g] + groups.size[g] <= k:
            found.relevant += weight[g]
        elif groups.start[g] < k:
            found.n = groups.size[g]
            found.r = weight[g]
            found.m = k - groups.start[g]
    for g in range(groups.count):
        if groups.start[g] + groups.size[g] > k:
            break
        n = groups.size[g]
        r = weight[g]
        found.led += r * (found.depth - found.relevant - (groups.start[g] - before) - 0.5 * (n - r))
        found.tied += r * (n - r)
        found.variance += r * (n - r) * (n + 1.0) / 12.0
        before += r
    return found


cdef inline double share(Pairs* found, double x, double led) noexcept nogil:
    """Return AUC if `led` pairs are led and x relevant documents of the divided group are within the cut-off.

    AUC is 0 if no relevant document is within the cut-off. Otherwise it is 1 if no nonrelevant document is.
    """
    cdef double hits = found.relevant + x
    if hits == 0.0:
        return 0.0
    if hits >= found.depth:
        return 1.0
    return led / hits / (found.depth - hits)


cdef inline double fewest(Pairs* found) noexcept nogil:
    return max(found.m - (found.n - found.r), 0.0)


cdef inline double tally(Pairs* found, double x, double center, double chance, double* mean,
                         double* square) noexcept nogil:
    """Add the contribution of the case that x relevant documents of the divided group are within the cut-off.

    `chance` is the probability of this case, up to a constant factor; it is also returned.
    """
    cdef double value = share(found, x, found.led - x * found.relevant + 0.5 * x * (found.m - x)) - center
    cdef double hits = found.relevant + x
    cdef double n_pairs = hits * (found.depth - hits)
    mean[0] += chance * value
    square[0] += chance * value * value
    if n_pairs > 0.0:
        square[0] += chance * ((found.variance + x * (found.m - x) * (found.m + 1.0) / 12.0) / n_pairs / n_pairs)
    return chance


cdef double over_chances(Pairs* found, double center, double* square) noexcept nogil:
    """Return the mean of AUC minus `center`, and write the mean of its square to `square`.

    The sum over x starts at the likeliest x and goes on in both directions. The probabilities are computed relative to
    that of the likeliest x.
    """
    cdef double least = fewest(found), most = min(found.r, found.m)
    cdef double n = found.n, r = found.r, m = found.m
    cdef double likeliest = min(max(<double><int64_t>((m + 1.0) * (r + 1.0) / (n + 2.0)), least), most)
    cdef double x, chance, mean = 0.0, total
    square[0] = 0.0
    total = tally(found, likeliest, center, 1.0, &mean, square)
    x = likeliest
    chance = 1.0
    while x < most and chance > 1e-18:
        chance *= (r - x) / (x + 1.0) * ((m - x) / (n - r - m + x + 1.0))
        x += 1.0
        total += tally(found, x, center, chance, &mean, square)
    x = likeliest
    chance = 1.0
    while x > least and chance > 1e-18:
        chance *= x / (r - x + 1.0) * ((n - r - m + x) / (m - x + 1.0))
        x -= 1.0
        total += tally(found, x, center, chance, &mean, square)
    square[0] /= total
    return mean / total


cdef double mean_of_pairs(const Query* q) noexcept nogil:
    cdef Pairs found = above(q)
    cdef double square
    return over_chances(&found, 0.0, &square)


cdef double variance_of_pairs(const Query* q) noexcept nogil:
    """Return the mean squared deviation of AUC from its mean, computed without a difference of large numbers."""
    cdef Pairs found = above(q)
    cdef double square
    cdef double mean = over_chances(&found, 0.0, &square)
    over_chances(&found, mean, &square)
    return square


cdef void extremes_of_pairs(const Query* q, double* least, double* most) noexcept nogil:
    """Try each number x of relevant documents of the divided group within the cut-off.

    For a given x, AUC is largest if the relevant documents come first in every group, and smallest if they come last.
    """
    cdef Pairs found = above(q)
    cdef double x = fewest(&found), led, value
    least[0] = 1.0
    most[0] = 0.0
    while x <= min(found.r, found.m):
        led = found.led - x * found.relevant
        value = share(&found, x, led - 0.5 * found.tied)
        if value < least[0]:
            least[0] = value
        value = share(&found, x, led + 0.5 * found.tied + x * (found.m - x))
        if value > most[0]:
            most[0] = value
        x += 1.0
