"""Distribution of the greatest h/(j + shift) over relevant documents: the h-th relevant document has rank j.

A value v is reached in a group if, for some i, the i-th relevant document of the group has at most d_i nonrelevant
documents of the group before it; d_i depends on v, and does not fall with i by more than 1. The orders of a group are
lattice paths: a relevant document is a step to the right, a nonrelevant one a step upwards. So v is reached if the i-th
step to the right is at height d_i or lower, for some i. Such a step is forbidden. If the i-th step is the last
forbidden one of a path, the path passes through the point (i, d_i), because otherwise the next step to the right would
be forbidden too. So

    paths with a forbidden step = Σ_i C(i+d_i, i) last_i,
    last_i = C(n-i-d_i, r-i) - Σ_{k>i} C(k-i+d_k-d_i, k-i) last_k,

where last_i is the number of paths from (i, d_i) to the end without a forbidden step. If the group has fewer
nonrelevant than relevant documents, the paths are reflected: then steps upwards are forbidden, and there are fewer.

The values of a group are visited in descending order, and each changes few of the d_i. Only values above the maximum of
the worst order are visited, because the maximum is never below it. Groups are independent, so the distributions of
their maxima are joined by multiplying.

Every number of a sum is divided by the number of all paths. Errors do not accumulate: the matrix of the second equation
has an inverse whose rows add up to 2 at most, in absolute numbers, because it consists of probabilities.
"""
from libc.stdint cimport int64_t

from tieaware.kernels._groups cimport Groups
from tieaware.kernels._interruption cimport Interruption, interrupted
from tieaware.kernels._measure cimport TOO_MANY

# A query is refused if the number of its values h/j, times the largest number of relevant documents of a group, is
# above this. It then would take a second, or 100 MB.
cdef double MOST_STATES = 4e6

# Numbers of orders up to this are computed without scaling.
cdef double MOST_ORDERS = 1e250


cdef struct Extent:
    # An upper bound of the number of values, the largest number of relevant documents of a group, and the numbers of
    # rows and columns of `orders`.
    double n_values
    int64_t most_relevant
    int64_t rows
    int64_t columns


cdef Extent extent_of(const Groups* groups, const double* weight, int64_t wanted, int64_t k) noexcept nogil:
    cdef Py_ssize_t g
    cdef int64_t r, n, within, before = 0
    cdef Extent extent
    extent.n_values = 1.0
    extent.most_relevant = 1
    extent.rows = extent.columns = 1
    for g in range(groups.count):
        r = <int64_t>weight[g]
        n = groups.size[g]
        within = max(min(k - groups.start[g], n), 0)
        extent.n_values += (<double>max(before + min(r, within) + 1 - max(before + 1, wanted), 0)
                            * max(min(n - r + 1, within), 0))
        extent.most_relevant = max(extent.most_relevant, r)
        before += r
        if r > 1 and r < n and before >= wanted and within > 0:
            extent.rows = max(extent.rows, min(min(r, n - r), within) + 1)
            extent.columns = max(extent.columns, min(max(r, n - r), within) + 1)
    return extent


cdef int64_t size_of_maxima(const Groups* groups, const double* weight, int64_t wanted, int64_t k) noexcept nogil:
    cdef Extent extent = extent_of(groups, weight, wanted, k)
    if extent.n_values * (extent.most_relevant + 1) > MOST_STATES:
        return TOO_MANY
    return 4 * <int64_t>extent.n_values + extent.rows * extent.columns + 2 * extent.most_relevant + 4 * extent.rows


cdef Maxima new_maxima(double* workspace, const Groups* groups, const double* weight, int64_t wanted, int64_t k,
                       double shift, Interruption* interruption) noexcept nogil:
    cdef Extent extent = extent_of(groups, weight, wanted, k)
    cdef Py_ssize_t n_values = <Py_ssize_t>extent.n_values
    cdef Maxima maxima
    maxima.shift = shift
    maxima.cutoff = k
    maxima.below.value = workspace
    maxima.below.chance = maxima.below.value + n_values
    maxima.group.value = maxima.below.chance + n_values
    maxima.group.chance = maxima.group.value + n_values
    maxima.orders = maxima.group.chance + n_values
    maxima.following = maxima.orders + extent.rows * extent.columns
    maxima.to = maxima.following + extent.most_relevant
    maxima.rest = maxima.to + extent.rows
    maxima.last = maxima.rest + extent.rows
    maxima.reach = <int64_t*>(maxima.last + extent.rows)
    maxima.height = maxima.reach + extent.most_relevant
    maxima.below.count = maxima.group.count = 0
    maxima.rows = extent.rows
    maxima.columns = maxima.n_columns = extent.columns
    maxima.taken = maxima.left = 1.0
    maxima.filled = False
    maxima.interruption = interruption
    return maxima


cdef bint within_range(int64_t rows, int64_t columns) noexcept nogil:
    """Return whether `orders` with these numbers of rows and columns has no number above MOST_ORDERS."""
    cdef double most = 1.0
    cdef int64_t j
    for j in range(1, min(rows, columns)):
        most *= (max(rows, columns) - 1.0 + j) / j
        if most > MOST_ORDERS:
            return False
    return True


cdef void fill_orders(Maxima* maxima, int64_t n, int64_t r, int64_t within) noexcept nogil:
    """Compute `orders`, for all groups at once if none of its numbers is too large, otherwise for one group."""
    cdef Py_ssize_t rows = maxima.rows, columns = maxima.columns, d, _j
    cdef double* row
    if maxima.filled:
        return
    maxima.filled = within_range(rows, columns)
    if not maxima.filled:
        rows = min(min(r, n - r), within) + 1
        columns = min(max(r, n - r), within) + 1
        maxima.taken = maxima.left = 1.0
        if not within_range(rows, columns):
            # If p = taken and left = 1 - p, the numbers are those of a binomial distribution.
            maxima.taken = (rows - 1.0) / (rows + columns - 2.0)
            maxima.left = (columns - 1.0) / (rows + columns - 2.0)
    maxima.n_columns = columns
    row = maxima.orders
    row[0] = 1.0
    for d in range(1, columns):
        row[d] = maxima.left * row[d - 1]
    for _j in range(1, rows):
        row += columns
        row[0] = maxima.taken * row[-columns]
        for d in range(1, columns):
            row[d] = maxima.taken * row[d - columns] + maxima.left * row[d - 1]


cdef double paths_beyond(const Maxima* maxima, int64_t n, int64_t r, int64_t i, int64_t d,
                         bint divided) noexcept nogil:
    """Return C(n-i-d, r-i)/C(n, r), the share of orders that begin with one order of i relevant and d other documents.

    `divided` is true if the cut-off divides the group; then `orders` has only numbers for slots within the cut-off.
    """
    cdef int64_t x
    cdef double share = 1.0
    if not divided:
        if n - r < r:
            return (maxima.orders[(n - r - d) * maxima.n_columns + r - i]
                    / maxima.orders[(n - r) * maxima.n_columns + r])
        return maxima.orders[(r - i) * maxima.n_columns + n - r - d] / maxima.orders[r * maxima.n_columns + n - r]
    for x in range(i):
        share *= (r - x) / ((n - x) * maxima.taken)
    for x in range(d):
        share *= (n - r - x) / ((n - i - x) * maxima.left)
    return share


cdef double chance_of_forbidden(Maxima* maxima, Py_ssize_t changed, Py_ssize_t n_steps) noexcept nogil:
    """Return the share of paths with a forbidden step, after the step with the index `changed` was changed.

    Steps have descending indices along a path. `last` is correct below the index `changed`.
    """
    cdef const int64_t* height = maxima.height
    cdef double* last = maxima.last
    cdef Py_ssize_t a, b
    cdef double passing, total = 0.0
    for a in range(changed, n_steps):
        if height[a] < 0:
            continue
        passing = 0.0
        for b in range(a):
            if height[b] >= height[a]:
                passing += maxima.orders[(a - b) * maxima.n_columns + height[b] - height[a]] * last[b]
        last[a] = max(maxima.rest[a] - passing, 0.0)
    for a in range(n_steps):
        if height[a] >= 0:
            total += maxima.to[a] * last[a]
    return min(total, 1.0)


cdef bint write_group(Maxima* maxima, int64_t t, int64_t n, int64_t r, int64_t before, int64_t lowest,
                      double floor) noexcept nogil:
    cdef int64_t within = min(n, maxima.cutoff - t), top = min(r, within)
    maxima.group.count = 0
    # In the best order, the relevant documents come first. If all documents are relevant, there is no other order.
    if top < lowest or r == n or (before + top) / (t + top + maxima.shift) <= floor:
        return True
    if lowest == r and (r == 1 or within == n):
        write_last(maxima, t, n, r, before, min(n - r, within), floor)
        return True
    fill_orders(maxima, n, r, within)
    return write_several(maxima, t, n, r, before, lowest, floor)


cdef void write_last(Maxima* maxima, int64_t t, int64_t n, int64_t r, int64_t before, int64_t n_places,
                     double floor) noexcept nogil:
    """Write the distribution for a group whose last relevant document alone counts.

    At most d nonrelevant documents of the group are before it in C(r+d, r) of C(n, r) orders. The last place of the
    group is not above the floor.
    """
    cdef Tail* tail = &maxima.group
    cdef Py_ssize_t d
    cdef double chance = 1.0
    for d in range(n_places):
        tail.value[d] = (before + r) / (t + r + d + maxima.shift)
        if tail.value[d] <= floor:
            break
        tail.chance[d] = (d + 1) / <double>n
        tail.count = d + 1
    if r == 1:
        return
    for d in range(n - r - 1, -1, -1):
        chance *= (d + 1.0) / (r + d + 1)
        if d < tail.count:
            tail.chance[d] = chance


cdef bint write_several(Maxima* maxima, int64_t t, int64_t n, int64_t r, int64_t before, int64_t lowest,
                        double floor) noexcept nogil:
    """Write the distribution for a group with several relevant documents.

    Invariant: for each relevant document i, `reach` is d_i for the last value, and `following` the greatest value of
    h/j that is below it.
    """
    cdef Tail* tail = &maxima.group
    cdef int64_t within = min(n, maxima.cutoff - t), top = min(r, within), i, d, a, up
    cdef bint reflected = n - r < r
    cdef Py_ssize_t n_steps = min(n - r, within) if reflected else top - lowest + 1, used = 0, changed
    cdef double* following = maxima.following - lowest
    cdef int64_t* reach = maxima.reach - lowest
    cdef double value, near, far
    for a in range(n_steps):
        maxima.height[a] = -1
    for i in range(lowest, top + 1):
        reach[i] = -1
        following[i] = (before + i) / (t + i + maxima.shift)
    while True:
        value = floor
        for i in range(lowest, top + 1):
            value = max(value, following[i])
        if value <= floor:
            return True
        changed = n_steps
        for i in range(lowest, top + 1):
            if following[i] != value:
                continue
            reach[i] += 1
            d = reach[i]
            # If all other documents of the group may be before it, the value is not above the floor.
            following[i] = (before + i) / (t + i + d + 1 + maxima.shift) if d + 1 < n - r and i + d < within else 0.0
            a, up = (d, r - i) if reflected else (top - i, d)
            if up > maxima.height[a]:
                maxima.height[a] = up
                near = maxima.orders[d * maxima.n_columns + i] if reflected else maxima.orders[i * maxima.n_columns + d]
                far = paths_beyond(maxima, n, r, i, d, within < n)
                maxima.to[a], maxima.rest[a] = (far, near) if reflected else (near, far)
                changed = min(changed, a)
                used = max(used, a + 1)
        tail.value[tail.count] = value
        tail.chance[tail.count] = chance_of_forbidden(maxima, changed, used)
        tail.count += 1
        if interrupted(maxima.interruption, top - lowest + used * used // 2):
            return False


cdef inline double either(double p, double q) noexcept nogil:
    """Return the probability that at least one of two independent events occurs."""
    return p + q * (1.0 - p)


cdef void join_group(Maxima* maxima, double floor) noexcept nogil:
    """Merge both lists of values from their ends, in place.

    Invariant: the numbers up to index i of `below` and up to index j of `group` are still to be merged. The probability
    that a maximum is at least a value belongs to the last number that is not below this value.
    """
    cdef Tail* below = &maxima.below
    cdef const Tail* group = &maxima.group
    cdef Py_ssize_t i, j = group.count - 1
    while below.count > 0 and below.value[below.count - 1] <= floor:
        below.count -= 1
    while j >= 0 and group.value[j] <= floor:
        j -= 1
    i = below.count - 1
    below.count += j + 1
    while j >= 0:
        if i >= 0 and below.value[i] < group.value[j]:
            below.chance[i + j + 1] = either(below.chance[i], group.chance[j])
            below.value[i + j + 1] = below.value[i]
            i -= 1
        else:
            below.chance[i + j + 1] = either(below.chance[i], group.chance[j]) if i >= 0 else group.chance[j]
            below.value[i + j + 1] = group.value[j]
            j -= 1


cdef double mean_above(const Maxima* maxima, double floor) noexcept nogil:
    """Return Σ (v - w) P(maximum ≥ v), where w is the next smaller value, at least the floor."""
    cdef const Tail* below = &maxima.below
    cdef const Tail* group = &maxima.group
    cdef Py_ssize_t i = 0, j = 0
    cdef double p = 0.0, q = 0.0, value = 0.0, smaller, total = 0.0
    while True:
        smaller = floor
        if i < below.count:
            smaller = max(smaller, below.value[i])
        if j < group.count:
            smaller = max(smaller, group.value[j])
        total += (value - smaller) * either(p, q)
        if smaller <= floor:
            return total
        value = smaller
        if i < below.count and below.value[i] == value:
            p = below.chance[i]
            i += 1
        else:
            q = group.chance[j]
            j += 1


cdef double variance_above(const Tail* tail, double floor) noexcept nogil:
    """Return Σ_v Σ_w (v - v') (w - w') Cov(maximum ≥ v, maximum ≥ w), where v' and w' are the next smaller values.

    For v >= w, the covariance is P(maximum ≥ v) P(maximum < w), which is not negative.
    """
    cdef Py_ssize_t i
    cdef double step, part, above = 0.0, total = 0.0
    for i in range(tail.count):
        step = tail.value[i] - (tail.value[i + 1] if i + 1 < tail.count else floor)
        part = step * tail.chance[i]
        total += step * (1.0 - tail.chance[i]) * (part + 2.0 * above)
        above += part
    return total
