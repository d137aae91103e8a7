"""BPM under ties: the gain per document of a user who stops once enough gain is found, or at the cut-off.

Gains are whole numbers of steps: a document of weighting c has c + 1 steps, and n_weightings steps are the gain 1. The
number in the lookup array is the steps that the user wants. The steps of the groups before are the same in all orders.
So the user stops in the same group in all orders: the first one that holds the missing steps, or that the cut-off
divides.

In this group, R of the n documents have a gain. Their places do not depend on the order in which they follow each
other. The user stops at the j-th of them if the first j - 1 have fewer than the missing steps, say u, and the j-th, of
weighting c, completes them. This has the probability (n_c / R) A_{j-1}(u), where n_c of the R documents have weighting
c, and A_j(u) is the probability that j random ones of the other R - 1 documents have u steps in total. The place X of
the j-th of the R documents has the probabilities
P(X = x) = C(x-1, j-1) C(n-x, R-j) / C(n, R).
"""
from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from tieaware.kernels._interruption cimport interrupted
from tieaware.kernels._measure cimport TOO_MANY, Query

# The kernel refuses to compute a value that takes more steps than this, which would last about a second, or that needs
# more numbers of working memory.
cdef double MOST_STEPS = 5e8
cdef double MOST_NUMBERS = 4e6

# Places that are less likely than this share of the likeliest one are left out.
cdef double NEGLIGIBLE = 1e-30


# Without a cut-off, the user reads to the end of the list.
cdef int64_t NO_CUTOFF = 0x7fffffffffffffff


# The group in which the user stops.
cdef struct Last:
    # The index of the group, or -1 if the user does not stop before the end of the list.
    Py_ssize_t g
    # `full` steps are the gain 1; the user stops at rank k at the latest.
    double full
    double k
    # The gain of the groups before, and the gain that the user still wants, in steps.
    double before
    int64_t wanted
    int64_t t
    int64_t n
    int64_t m
    # The number of documents with a gain, and how many of them may complete the wanted gain.
    int64_t graded
    int64_t most
    # completed[j * n_weightings + v] is the probability that the j-th document completes the wanted gain and
    # exceeds it by v; short_of[j * wanted + u] is that of a gain u < wanted of the first j documents.
    double* completed
    double* short_of
    # Working memory for A, and for the probability that j documents with a gain are within the cut-off.
    double* others
    double* within


cdef Last last_of(const Query* q) noexcept nogil:
    cdef Last last
    cdef Py_ssize_t g, c
    cdef double graded, gain, missing = q.measure.lookup[0]
    last.g = -1
    last.full = q.measure.n_weightings
    last.k = q.measure.cutoff if q.measure.cutoff < NO_CUTOFF else max(q.n_docs, 1)
    last.before = 0.0
    last.wanted = last.t = last.n = last.m = last.graded = last.most = 0
    last.completed = last.short_of = last.others = last.within = NULL
    for g in range(q.groups.count):
        if q.groups.start[g] >= last.k:
            break
        graded = gain = 0.0
        for c in range(q.measure.n_weightings):
            graded += q.weight[c * q.groups.stride + g]
            gain += (c + 1) * q.weight[c * q.groups.stride + g]
        if q.groups.start[g] + q.groups.size[g] <= last.k and gain < missing:
            last.before += gain
            missing -= gain
            continue
        last.g = g
        last.t = q.groups.start[g]
        last.n = q.groups.size[g]
        last.m = min(last.n, <int64_t>last.k - last.t)
        last.graded = <int64_t>graded
        # No more documents than these have a gain in all, or are needed.
        last.wanted = <int64_t>min(missing, gain + 1.0)
        last.most = min(last.graded, last.wanted)
        break
    return last


cdef int64_t size_of_gain_reached(const Query* q, bint spread) noexcept nogil:
    cdef Last last = last_of(q)
    cdef double rows = last.most + 1.0, kinds = 1.0
    cdef Py_ssize_t c
    if last.g < 0:
        return 0
    for c in range(q.measure.n_weightings):
        kinds += q.weight[c * q.groups.stride + last.g] > 0.0
    if (rows * (2.0 * last.wanted + q.measure.n_weightings + 1.0) > MOST_NUMBERS
            or rows * (kinds * last.graded * last.wanted + kinds * last.n) > MOST_STEPS):
        return TOO_MANY
    return <int64_t>(rows * (2 * last.wanted + q.measure.n_weightings + 1))


cdef bint fill(const Query* q, Last* last) noexcept nogil:
    """Write the tables of the group; return False if the call was interrupted."""
    cdef const double* weight = q.weight + last.g
    cdef Py_ssize_t stride = q.groups.stride, c, n_weightings = q.measure.n_weightings
    cdef int64_t j, u, wanted = last.wanted, rows = last.most + 1
    cdef double chance
    last.completed = q.workspace
    last.short_of = last.completed + rows * n_weightings
    last.others = last.short_of + rows * wanted
    last.within = last.others + rows * wanted
    if not add_documents(q, last, -1, last.short_of):
        return False
    for j in range(rows * n_weightings):
        last.completed[j] = 0.0
    for c in range(n_weightings):
        if weight[c * stride] == 0.0:
            continue
        if not add_documents(q, last, c, last.others):
            return False
        for j in range(1, rows):
            # c + 1 steps complete the wanted gain.
            for u in range(max(wanted - (c + 1), 0), wanted):
                chance = weight[c * stride] / last.graded * last.others[(j - 1) * wanted + u]
                last.completed[j * n_weightings + u + c + 1 - wanted] += chance
    return True


cdef bint add_documents(const Query* q, Last* last, Py_ssize_t without, double* table) noexcept nogil:
    """Write the probability A_j(u) that j random documents with a gain have the gain u, for u < wanted.

    One document of weighting `without` is left out, unless this is -1. The documents are added one by one: the i-th, of
    gain s, turns A_j(u) into ((i-j) A_j(u) + j A_{j-1}(u-s)) / i.
    """
    cdef const double* weight = q.weight + last.g
    cdef int64_t wanted = last.wanted, rows = last.most + 1, i = 0, j, u, s, _copy
    cdef double* row
    cdef Py_ssize_t c
    for u in range(rows * wanted):
        table[u] = 0.0
    table[0] = 1.0
    for c in range(q.measure.n_weightings):
        s = c + 1
        for _copy in range(<int64_t>weight[c * q.groups.stride] - (1 if c == without else 0)):
            if interrupted(q.interruption, rows * wanted):
                return False
            i += 1
            for j in range(min(i, rows - 1), 0, -1):
                row = table + j * wanted
                for u in range(wanted):
                    row[u] = (i - j) * row[u] / i
                    if u >= s:
                        row[u] += j * row[u - s - wanted] / i
    return True


cdef inline double value_of(const Last* last, double steps, double rank) noexcept nogil:
    """Return the gain per document if the user stops at a rank, given the steps that the last group adds."""
    return (last.before + steps) / (last.full * rank)


cdef double summed(const Query* q, Last* last, double center, int power) noexcept nogil:
    """Return the mean of (value - center)^power, with the power 1 or 2, from the tables."""
    cdef int64_t j, u, n_weightings = q.measure.n_weightings
    cdef double total = 0.0
    for j in range(1, last.most + 1):
        if j > last.m or interrupted(q.interruption, 10 * n_weightings * last.m):
            break
        total += over_places(last, j, last.completed + j * n_weightings, n_weightings, center, power)
    if last.m == last.n:
        return total
    count_within(last)
    for j in range(last.most + 1):
        for u in range(last.wanted):
            total += last.within[j] * last.short_of[j * last.wanted + u] * deviation(
                value_of(last, <double>u, last.k), center, power)
    return total


cdef inline double deviation(double value, double center, int power) noexcept nogil:
    return value - center if power == 1 else (value - center) * (value - center)


cdef double over_places(const Last* last, int64_t j, const double* completed, int64_t n_weightings, double center,
                        int power) noexcept nogil:
    """Sum over the places of the j-th document with a gain, from the likeliest place on in both directions."""
    cdef double n = last.n, r = last.graded, s = j
    cdef double likeliest = s + <double><int64_t>((s - 1.0) / max(r - 1.0, 1.0) * (n - r))
    cdef double x = likeliest, chance = 1.0, chances = 1.0
    cdef double total = at_place(last, x, completed, n_weightings, center, power)
    while x < n - r + s and chance > NEGLIGIBLE:
        chance *= x / (x - s + 1.0) * ((n - x - r + s) / (n - x))
        x += 1.0
        chances += chance
        total += chance * at_place(last, x, completed, n_weightings, center, power)
    x = likeliest
    chance = 1.0
    # If the likeliest place is below the cut-off, unlikely places within it are all that counts.
    while x > s and chance > 1e-290:
        chance *= (x - s) / (x - 1.0) * ((n - x + 1.0) / (n - x + 1.0 - r + s))
        x -= 1.0
        chances += chance
        total += chance * at_place(last, x, completed, n_weightings, center, power)
    return total / chances


cdef inline double at_place(const Last* last, double x, const double* completed, int64_t n_weightings, double center,
                            int power) noexcept nogil:
    cdef double total = 0.0
    cdef int64_t v
    if x > last.m:
        return 0.0
    for v in range(n_weightings):
        if completed[v] > 0.0:
            total += completed[v] * deviation(value_of(last, <double>(last.wanted + v), last.t + x), center, power)
    return total


cdef void count_within(Last* last) noexcept nogil:
    """Write the probability that j of the documents with a gain are among the first m of the group."""
    cdef double n = last.n, r = last.graded, m = last.m
    cdef double least = max(m - (n - r), 0.0), highest = min(r, m)
    cdef double likeliest = min(max(<double><int64_t>((m + 1.0) * (r + 1.0) / (n + 2.0)), least), highest)
    cdef double x = likeliest, chance = 1.0, chances = 1.0
    cdef int64_t j
    for j in range(last.most + 1):
        last.within[j] = 0.0
    if x <= last.most:
        last.within[<int64_t>x] = 1.0
    while x < highest and chance > NEGLIGIBLE:
        chance *= (r - x) / (x + 1.0) * ((m - x) / (n - r - m + x + 1.0))
        x += 1.0
        chances += chance
        if x <= last.most:
            last.within[<int64_t>x] = chance
    x = likeliest
    chance = 1.0
    while x > least and chance > 1e-290:
        chance *= x / (r - x + 1.0) * ((n - r - m + x) / (m - x + 1.0))
        x -= 1.0
        chances += chance
        if x <= last.most:
            last.within[<int64_t>x] = chance
    for j in range(last.most + 1):
        last.within[j] /= chances


cdef double mean_of_gain_reached(const Query* q) noexcept nogil:
    cdef Last last = last_of(q)
    if last.g < 0 or last.graded == 0:
        return value_of(&last, 0.0, last.k)
    if not fill(q, &last):
        return 0.0
    return summed(q, &last, 0.0, 1)


cdef double variance_of_gain_reached(const Query* q) noexcept nogil:
    """Return the mean squared deviation from the mean: no term is negative."""
    cdef Last last = last_of(q)
    cdef double least, most
    if last.g < 0 or last.graded == 0 or not fill(q, &last):
        return 0.0
    bounds(q, &last, &least, &most)
    # If all orders have the same value, rounding errors must not give it a variance.
    return summed(q, &last, summed(q, &last, 0.0, 1), 2) if least < most else 0.0


cdef void extremes_of_gain_reached(const Query* q, double* least, double* most) noexcept nogil:
    cdef Last last = last_of(q)
    if last.g < 0 or last.graded == 0:
        least[0] = most[0] = value_of(&last, 0.0, last.k)
    elif fill(q, &last):
        bounds(q, &last, least, most)


cdef void bounds(const Query* q, const Last* last, double* least, double* most) noexcept nogil:
    """Write the smallest and the largest value: those of the first and the last place of each number of documents."""
    cdef int64_t j, u, v, n_weightings = q.measure.n_weightings, others = last.n - last.graded
    least[0] = INFINITY
    most[0] = 0.0
    for j in range(1, min(last.most, last.m) + 1):
        for v in range(n_weightings):
            if last.completed[j * n_weightings + v] > 0.0:
                most[0] = max(most[0], value_of(last, <double>(last.wanted + v), last.t + j))
                least[0] = min(least[0], value_of(last, <double>(last.wanted + v), last.t + min(last.m, others + j)))
    if last.m == last.n:
        return
    for j in range(max(last.m - others, 0), min(last.most, last.m) + 1):
        for u in range(last.wanted):
            if last.short_of[j * last.wanted + u] > 0.0:
                most[0] = max(most[0], value_of(last, <double>u, last.k))
                least[0] = min(least[0], value_of(last, <double>u, last.k))
