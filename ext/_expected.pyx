"""Groups into measures: the expectation of each measure over the orderings that the ties allow.

One function a kernel, each a sum over the groups of a query of what the group contributes within the cut-off k. For a
group that starts after t documents, holds n of them and weighs r (the relevant ones) or G (their gain):
m = clamp(k - t, 0, n) of its slots lie inside the cut-off.
"""
cimport numpy as cnp
from libc.math cimport sqrt
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from tieaware._exact cimport pair, two_product
from tieaware._groups cimport Bands, Groups, Lists, band, best_first, condense, worst_first
from tieaware._interpolated cimport eleven_points, interpolated_precision, wanted_at
from tieaware._measure cimport (
    AVERAGE_PRECISION, CASCADE, CONSTANT, HITS, HITS_AT_R, INFERRED_PRECISION, INTERPOLATED, INTERPOLATED_11, PAIRS,
    PREFERENCE, Q_MEASURE, RECIPROCAL_RANK, RESIDUAL, SEARCH_LENGTH, SLOTS, SLOTS_OF_IDEAL, SQUARED_HITS, Measure,
    between, gain_weight,
)
from tieaware._pairs cimport pairs
from tieaware._spread cimport extremes, variance

cnp.import_array()

# The kernels, as measures.py names them.
KERNELS = (
    "hits", "hits_at_r", "slots", "slots_of_ideal", "average_precision", "reciprocal_rank", "success", "constant",
    "squared_hits", "pairs", "search_length", "residual", "preference", "cascade", "interpolated", "interpolated_11",
    "inferred_precision", "q_measure",
)

cdef int64_t NO_CUTOFF = 0x7fffffffffffffff


cdef double hits(const Groups* groups, const double* weight, int64_t k) noexcept nogil:
    """Σ m r / n."""
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


cdef double slots(const Groups* groups, const double* weight, int64_t k, const double* table) noexcept nogil:
    """Σ G/n Σ_{j=t+1…t+m} d_j: the group's mean gain in each of its slots."""
    cdef Py_ssize_t g
    cdef int64_t t, n
    cdef pair d
    cdef double total = 0.0
    for g in range(groups.count):
        t = groups.start[g]
        n = groups.size[g]
        if t >= k:
            break
        if weight[g] != 0.0:
            d = between(table, t, min(n, k - t))
            total += weight[g] * (d.high + d.low) / n
    return total


cdef double average_precision(const Groups* groups, const double* weight, int64_t k,
                              const double* table) noexcept nogil:
    """Σ (r/n) Σ_{j=t+1…t+m} (R + 1 + a (j-t-1)) / j, with a = (r-1)/(n-1) and R relevant documents before the group.

    The inner sum is (R + 1) ΔH + a (m - (t+1) ΔH). Its last difference cancels when t is large, hence the pairs.
    """
    cdef Py_ssize_t g
    cdef int64_t t, n, m
    cdef pair d, product
    cdef double r, part, before = 0.0, total = 0.0
    for g in range(groups.count):
        r = weight[g]
        if r == 0.0:
            continue
        t = groups.start[g]
        n = groups.size[g]
        if t >= k:
            break
        if n == 1:
            total += (before + 1.0) / (t + 1)
        else:
            m = min(n, k - t)
            d = between(table, t, m)
            part = (before + 1.0) * (d.high + d.low)
            if r > 1.0 and m > 1:
                product = two_product(d.high, <double>(t + 1))
                part += (r - 1.0) / (n - 1) * (((m - product.high) - product.low) - (t + 1) * d.low)
            total += r / n * part
        before += r
    return total


cdef double reciprocal_rank(const Groups* groups, const double* weight, int64_t k, const double* table) noexcept nogil:
    """E[1/(t+X)], X the place of the first relevant document within the first group that holds one."""
    cdef Py_ssize_t g = first_group(groups, weight)
    cdef int64_t t, n, m
    cdef double r, value
    if g < 0 or groups.start[g] >= k:
        return 0.0
    r = weight[g]
    t = groups.start[g]
    n = groups.size[g]
    if r == n:
        return 1.0 / (t + 1)
    m = min(min(n, k - t), <int64_t>(n - r) + 1)
    # The direct sum has about 40 n/r terms, and the recurrence r.
    if min(<double>m, 40.0 * n / r) > 8.0 * r + 64.0:
        value = reciprocal_rank_by_recurrence(t, n, r, m, between(table, t, m))
        if value >= 0.0:
            return value
    return reciprocal_rank_by_terms(t, n, r, m)


cdef inline Py_ssize_t first_group(const Groups* groups, const double* weight) noexcept nogil:
    cdef Py_ssize_t g
    for g in range(groups.count):
        if weight[g] != 0.0:
            return g
    return -1


cdef double reciprocal_rank_by_terms(int64_t t, int64_t n, double r, int64_t m) noexcept nogil:
    """Σ_{x=1…m} p_x / (t+x), p_x = S_{x-1} r/(n-x+1), S_x = S_{x-1} (n-r-x+1)/(n-x+1), S_0 = 1.

    S_x is the probability that none of the first x is relevant; once S_x/(t+x+1), more than all that is left, cannot
    change the sum, the sum is complete.
    """
    cdef int64_t x
    cdef double part, survival = 1.0, total = 0.0
    for x in range(1, m + 1):
        part = survival / (n - x + 1)
        total += part * r / (t + x)
        survival = part * (n - r - x + 1)
        if survival < 1e-17 * total * (t + x + 1):
            break
    return total


cdef double reciprocal_rank_by_recurrence(int64_t t, int64_t n, double r, int64_t m, pair harmonic) noexcept nogil:
    """The same sum E_r over m slots from the sums for fewer relevant documents; -1 if that would lose precision.

    With C(n-x, s) = C(n-x, s-1) (n-x-s+1)/s and n-x-s+1 = (n+t-s+1) - (t+x):
    E_1 = ΔH/n,  E_s = s/((s-1)(n-s+1)) [(n+t-s+2) E_{s-1} - (1 - C(n-m, s-1)/C(n, s-1))].
    The difference magnifies the relative error; it is given up where it has done so by more than a thousand.
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


cdef double success(const Groups* groups, const double* weight, int64_t k) noexcept nogil:
    """1 - C(n-r, m)/C(n, m): the probability that the cut-off leaves a relevant document in.

    It is Σ_x p_x as in the reciprocal rank, over the m slots or, by symmetry, over the r relevant documents.
    """
    cdef Py_ssize_t g = first_group(groups, weight)
    cdef int64_t x, m, n, terms
    cdef double r, part, survival = 1.0, total = 0.0
    if g < 0 or groups.start[g] >= k:
        return 0.0
    r = weight[g]
    n = groups.size[g]
    m = min(n, k - groups.start[g])
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


cdef double search_length(const Groups* groups, const double* weight, double wanted, int64_t n_docs) noexcept nogil:
    """j + i (n-r)/(r+1): j nonrelevant before the group of the wanted relevant document, which is its i-th.

    All nonrelevant documents, where there are fewer relevant ones.
    """
    cdef Py_ssize_t g
    cdef double n, r, before = 0.0
    for g in range(groups.count):
        n = groups.size[g]
        r = weight[g]
        if before + r >= wanted:
            return groups.start[g] - before + (wanted - before) * (n - r) / (r + 1.0)
        before += r
    return n_docs - before


cdef double preference(const Groups* groups, const double* relevant, const double* nonrelevant,
                       double most) noexcept nogil:
    """Σ r mean f(x) over x = 0 … s, f(x) = 1 - min(B + x, M)/M: s judged nonrelevant in the group, B before it."""
    cdef Py_ssize_t g
    cdef double s, below, before = 0.0, total = 0.0
    for g in range(groups.count):
        s = nonrelevant[g]
        if most == 0.0:
            total += relevant[g]
        elif relevant[g] > 0.0:
            # f falls by 1/M from 1 - B/M, over `below` values, and is 0 from there on.
            below = min(max(most - before, 0.0), s + 1.0)
            total += relevant[g] * below * (2.0 * (most - before) - below + 1.0) / (2.0 * most * (s + 1.0))
        before += s
    return total


cdef double inferred_precision(const Groups* groups, const double* weight) noexcept nogil:
    """Σ over the judged documents of a group, in their order, of (r/v) [h + ((p + y) h + c (1 - (y+1+t) h)) s].

    v = r + b of the group's documents are judged and u only pooled; R, B and U are those before it, p = R + B + U. Any
    judged document is relevant with probability r/v. The (y+1)-th, with y before it in the group, stands at rank j,
    h = E[1/j]; of the j-t-y-2 others before it the share c = u/(n-v) is pooled, and s is the share of relevant ones
    among the judged before it, from R + y (r-1)/(v-1) relevant ones.
    """
    cdef Py_ssize_t g
    cdef int64_t t, n, y, judged
    cdef double r, b, u, h, c, a, found, epsilon = 0.00001
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
            part = 0.0
            for y in range(judged):
                h = mean_reciprocal(t, n, judged, y + 1)
                found = (relevant + nonrelevant + unjudged + y) * h + c * (1.0 - (y + 1.0 + t) * h)
                part += h + found * ((relevant + y * a + epsilon) / (relevant + nonrelevant + y + 2.0 * epsilon))
            total += r / judged * part
        relevant += r
        nonrelevant += b
        unjudged += u
    return total


cdef double mean_reciprocal(int64_t t, int64_t n, int64_t r, int64_t q) noexcept nogil:
    """E[1/(t+X)], X the place of the q-th of r documents among n.

    P(X = x) is C(x-1, q-1) C(n-x, r-q), up to a factor: here relative to that of the likeliest place, and going down
    from there on both sides.
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


cdef double q_measure(const Groups* groups, const double* weight, int64_t k, double beta, const double* ideal,
                      int64_t n_relevant) noexcept nogil:
    """Σ (1/n) Σ_x w_x [r (R + 1) + β (r C + G) + x (r-1)/(n-1) (r + β G)] over the m slots x = 0 … m-1.

    G is the gain of the group, C that of those before it, and w = 1/(j + β C*_j) with the ideal gain C*_j to rank j.
    """
    cdef Py_ssize_t g
    cdef int64_t t, n, m, x
    cdef double r, gain, w, weights, placed, hits = 0.0, cumulated = 0.0, total = 0.0
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
            total += weights / n * (r * (hits + 1.0) + beta * (r * cumulated + gain))
            if n > 1:
                total += placed / n * (r - 1.0) / (n - 1) * (r + beta * gain)
        hits += r
        cumulated += gain
    return total


cdef double cascade(const Measure* measure, const Groups* groups, int64_t k, double* work) noexcept nogil:
    """Σ P Σ_{x≤m} (A_{x-1} - A_x)/(t+x), A_x the mean product of q over x documents of the group, P = Π q before it.

    q = 1 - table[c] for the documents of weighting c, 1 for others. A document more, the i-th, makes of A_x
    ((i-x)/i) A_x + (x/i) q A_{x-1}: no term is negative. work holds m+1 numbers.
    """
    cdef Py_ssize_t g, c, _copy, i
    cdef int64_t t, n, m, x
    cdef double q, graded, rest, goes_on = 1.0, total = 0.0
    for g in range(groups.count):
        t = groups.start[g]
        n = groups.size[g]
        if t >= k or goes_on < 1e-30 * total:
            break
        graded = 0.0
        for c in range(measure.n_weights):
            graded += groups.weight[(measure.weight + c) * groups.stride + g]
        if graded == 0.0:
            continue
        m = min(n, k - t)
        i = n - <Py_ssize_t>graded
        rest = 1.0
        for x in range(m + 1):
            # More documents than there are without a grade are never met: their weight below is 0.
            work[x] = 1.0
        for c in range(measure.n_weights):
            q = 1.0 - measure.table[c]
            for _copy in range(<Py_ssize_t>groups.weight[(measure.weight + c) * groups.stride + g]):
                i += 1
                rest *= q
                for x in range(min(m, i), 0, -1):
                    work[x] = ((i - x) * work[x] + x * q * work[x - 1]) / i
        for x in range(1, m + 1):
            total += goes_on * (work[x - 1] - work[x]) / (t + x)
        goes_on *= rest
    return total


cdef double expected(const Measure* measure, const Groups* groups, int64_t n_docs, double norm, double second,
                     double undefined, double* work) noexcept nogil:
    """The value of one measure for one query, whose list holds n_docs."""
    cdef const double* weight = groups.weight + measure.weight * groups.stride
    cdef int kernel = measure.kernel
    cdef double sum_of_hits
    cdef int64_t wanted
    if kernel == CONSTANT:
        return norm
    if norm == 0.0:
        return undefined
    if kernel == HITS:
        return hits(groups, weight, measure.cutoff) / norm
    if kernel == HITS_AT_R:
        return hits(groups, weight, <int64_t>norm) / norm
    if kernel == SLOTS:
        return slots(groups, weight, measure.cutoff, measure.table) / norm
    if kernel == SLOTS_OF_IDEAL:
        # Two roundings of the ideal ranking may differ in the last bit, and no ranking is better.
        return min(slots(groups, weight, measure.cutoff, measure.table) / norm, 1.0)
    if kernel == AVERAGE_PRECISION:
        return average_precision(groups, weight, measure.cutoff, measure.table) / norm
    if kernel == RECIPROCAL_RANK:
        return reciprocal_rank(groups, weight, measure.cutoff, measure.table) / norm
    if kernel == SQUARED_HITS:
        sum_of_hits = hits(groups, weight, measure.cutoff)
        return sum_of_hits * sum_of_hits / norm
    if kernel == PAIRS:
        return pairs(groups, weight, measure.cutoff, n_docs).mean
    if kernel == SEARCH_LENGTH:
        return search_length(groups, weight, measure.number, n_docs)
    if kernel == RESIDUAL:
        return max(1.0 - slots(groups, weight, measure.cutoff, measure.table), 0.0)
    if kernel == PREFERENCE:
        return preference(groups, weight, weight + groups.stride, second) / norm
    if kernel == CASCADE:
        return cascade(measure, groups, measure.cutoff, work) / norm
    if kernel == INTERPOLATED:
        wanted = wanted_at(measure.number, norm)
        return interpolated_precision(groups, weight, &wanted, 1).mean
    if kernel == INTERPOLATED_11:
        return eleven_points(groups, weight, norm).mean
    if kernel == INFERRED_PRECISION:
        return inferred_precision(groups, weight) / norm
    if kernel == Q_MEASURE:
        return q_measure(groups, weight, measure.cutoff, measure.number, measure.table + <int64_t>second,
                         <int64_t>norm) / norm
    return success(groups, weight, measure.cutoff) / norm


cdef const double* data_of(table) except? NULL:
    """What a table holds, which lives as long as its measure; NULL for None."""
    cdef cnp.ndarray array
    if table is None:
        return NULL
    array = table
    return <const double*>cnp.PyArray_DATA(array)


cdef class Engine:
    """Lists and measures, prepared: scores in, the value of every measure for every query out.

    `measures` has one dict per measure, with the fields of _measure.pxd's struct: the names of kernels for their
    numbers, -1 for no cut-off, None for no table. `norms` is float64[n_queries, n_measures], what the sum over a
    query's groups is divided by; 0 marks a query where the measure has no meaning, whose value is `undefined`. The
    kernel "constant" is the norm itself. `seconds`, of the same shape, is another number that kernels need of a query.
    `judged` is the weighting by 1 of all judged documents, or -1 where no measure takes the others out; the list of
    query q holds lengths[q] of them, int64[n_queries].
    Engines are immutable, and may be called from several threads.
    """
    cdef Lists lists
    cdef readonly Py_ssize_t n_measures
    cdef object arguments
    cdef const double* norms
    cdef const double* seconds
    cdef double undefined
    cdef int judged
    cdef const int64_t* lengths
    cdef Measure* measures
    # How many numbers a kernel may need to work with.
    cdef Py_ssize_t work

    def __cinit__(self, Lists lists not None, list measures not None, cnp.ndarray norms not None,
                  cnp.ndarray seconds not None, double undefined, int judged, cnp.ndarray lengths not None,
                  Py_ssize_t work):
        cdef Py_ssize_t i
        cdef Measure* measure
        self.lists = lists
        self.arguments = (lists, measures, norms, seconds, undefined, judged, lengths, work)
        self.n_measures = len(measures)
        self.norms = <const double*>cnp.PyArray_DATA(norms)
        self.seconds = <const double*>cnp.PyArray_DATA(seconds)
        self.undefined = undefined
        self.judged = judged
        self.lengths = <const int64_t*>cnp.PyArray_DATA(lengths)
        self.work = work
        self.measures = <Measure*>malloc(max(self.n_measures, 1) * sizeof(Measure))
        if self.measures == NULL:
            raise MemoryError("no memory for the measures")
        for i, fields in enumerate(measures):
            measure = &self.measures[i]
            measure.kernel = KERNELS.index(fields["kernel"])
            measure.cutoff = fields["cutoff"] if fields["cutoff"] >= 0 else NO_CUTOFF
            measure.number = fields["number"]
            measure.weight = fields["weight"]
            measure.n_weights = fields["n_weights"]
            measure.square = fields["square"]
            measure.table = data_of(fields["table"])
            measure.squares = data_of(fields["squares"])
            measure.judged_only = fields["judged_only"]
            measure.less_is_better = fields["less_is_better"]

    def __dealloc__(self):
        free(self.measures)

    def __reduce__(self):
        return Engine, self.arguments

    def call(self, scores, out):
        """Evaluate all queries in this thread, if both arrays are as `evaluate` needs them; else return None.

        Returns what `evaluate` returns. This is the short way in for an optimiser's inner loop.
        """
        if not (cnp.PyArray_Check(scores) and cnp.PyArray_Check(out)):
            return None
        cdef cnp.ndarray s = scores, o = out
        cdef int dtype = cnp.PyArray_TYPE(s)
        if not ((dtype == cnp.NPY_DOUBLE or dtype == cnp.NPY_FLOAT)
                and cnp.PyArray_IS_C_CONTIGUOUS(s) and cnp.PyArray_ISALIGNED(s) and cnp.PyArray_ISNOTSWAPPED(s)
                and cnp.PyArray_NDIM(s) == 1 and cnp.PyArray_SIZE(s) == self.lists.n_docs
                and cnp.PyArray_TYPE(o) == cnp.NPY_DOUBLE
                and cnp.PyArray_IS_C_CONTIGUOUS(o) and cnp.PyArray_ISALIGNED(o) and cnp.PyArray_ISNOTSWAPPED(o)
                and cnp.PyArray_ISWRITEABLE(o) and cnp.PyArray_NDIM(o) == 2
                and cnp.PyArray_DIM(o, 0) == self.lists.n_queries and cnp.PyArray_DIM(o, 1) == self.n_measures):
            return None
        return self.evaluate(s, o, 0, self.lists.n_queries)

    cpdef Py_ssize_t evaluate(self, cnp.ndarray scores, cnp.ndarray out, Py_ssize_t first, Py_ssize_t last) except -2:
        """Write the values of the queries first … last-1 into their rows of out.

        scores is float64[n_docs] or float32[n_docs], out float64[n_queries, n_measures], both contiguous, aligned, and
        native. Returns the first query with a NaN among its scores, or -1.
        """
        cdef const char* data = <const char*>cnp.PyArray_DATA(scores)
        cdef bint single = cnp.PyArray_TYPE(scores) == cnp.NPY_FLOAT
        cdef double* values = <double*>cnp.PyArray_DATA(out)
        cdef Groups* groups = self.scratch()
        cdef Py_ssize_t query, failed = -1
        with nogil:
            for query in range(first, last):
                if not self.query(query, data, single, groups, values + query * self.n_measures):
                    failed = query
                    break
        release(groups)
        return failed

    def sweep(self, cnp.ndarray scores not None, list bands not None, cnp.ndarray out not None, Py_ssize_t first,
              Py_ssize_t last):
        """Write the values of banded rankings: one pass over the scores, whatever the number of bandings.

        The lists must be prepared in run order. bands is a list of int64 arrays of first ranks, each from 1 and
        ascending; out is float64[len(bands), n_queries, n_measures]. Returns what `evaluate` returns.
        """
        cdef const char* data = <const char*>cnp.PyArray_DATA(scores)
        cdef bint single = cnp.PyArray_TYPE(scores) == cnp.NPY_FLOAT
        cdef double* values = <double*>cnp.PyArray_DATA(out)
        cdef Py_ssize_t n_bands = len(bands), n_queries = self.lists.n_queries, b, query, failed = -1
        cdef int64_t n
        cdef cnp.ndarray starts
        cdef Groups* ranked = NULL
        cdef Groups* banded = NULL
        cdef Bands* banding = <Bands*>malloc(max(n_bands, 1) * sizeof(Bands))
        if banding == NULL:
            raise MemoryError("no memory for the bands")
        try:
            for b in range(n_bands):
                starts = bands[b]
                banding[b].count = starts.shape[0]
                banding[b].start = <const int64_t*>cnp.PyArray_DATA(starts)
            ranked = self.scratch()
            banded = self.scratch()
            with nogil:
                for query in range(first, last):
                    if not self.group(query, data, single, ranked):
                        failed = query
                        break
                    n = self.length(query)
                    if self.judged >= 0:
                        condense(ranked, self.judged, ranked.condensed)
                    for b in range(n_bands):
                        band(ranked, banding[b], n, self.lists.n_weights, banded)
                        if self.judged >= 0:
                            band(ranked.condensed, banding[b], self.lengths[query], self.lists.n_weights,
                                 banded.condensed)
                        self.sum_up(query, banded, values + (b * n_queries + query) * self.n_measures)
        finally:
            release(ranked)
            release(banded)
            free(banding)
        return failed

    def spread(self, cnp.ndarray scores not None, cnp.ndarray out not None, Py_ssize_t first, Py_ssize_t last):
        """Write the mean, standard deviation, least and largest value over the orders that the ties allow.

        The lists must be prepared for the average, with the keys of each query by label, descending, and the measures
        with their squares. out is float64[4, n_queries, n_measures]. Returns what `evaluate` returns.
        """
        cdef const char* data = <const char*>cnp.PyArray_DATA(scores)
        cdef bint single = cnp.PyArray_TYPE(scores) == cnp.NPY_FLOAT
        cdef double* means = <double*>cnp.PyArray_DATA(out)
        cdef Py_ssize_t n_values = self.lists.n_queries * self.n_measures
        cdef Groups* tied = self.scratch()
        cdef Groups* ordered = NULL
        cdef Py_ssize_t query, i, at, failed = -1
        cdef double* mean
        cdef double* most
        cdef double* least
        try:
            ordered = self.scratch()
            with nogil:
                for query in range(first, last):
                    at = query * self.n_measures
                    mean = means + at
                    least = means + 2 * n_values + at
                    most = means + 3 * n_values + at
                    if not self.query(query, data, single, tied, mean):
                        failed = query
                        break
                    worst_first(self.lists, query, tied, ordered)
                    self.expect(query, ordered, least)
                    best_first(self.lists, query, tied, ordered)
                    self.expect(query, ordered, most)
                    for i in range(self.n_measures):
                        means[n_values + at + i] = sqrt(variance(
                            &self.measures[i], tied.condensed if self.measures[i].judged_only else tied,
                            self.lengths[query] if self.measures[i].judged_only else self.length(query),
                            self.norms[at + i], self.seconds[at + i], tied.work))
                        if self.measures[i].less_is_better:
                            least[i], most[i] = most[i], least[i]
                        if self.norms[at + i] != 0.0:
                            extremes(&self.measures[i], tied.condensed if self.measures[i].judged_only else tied,
                                     self.lengths[query] if self.measures[i].judged_only else self.length(query),
                                     &least[i], &most[i])
                        # The mean of equal values may differ from them in the last bit.
                        least[i] = min(least[i], mean[i])
                        most[i] = max(most[i], mean[i])
        finally:
            release(tied)
            release(ordered)
        return failed

    def means(self, cnp.ndarray scores not None, cnp.ndarray out not None, Py_ssize_t first, Py_ssize_t last):
        """Write the means over all queries of the candidates first … last-1 into their rows of out.

        scores is float64 or float32[n_candidates, n_docs], out float64[n_candidates, n_measures]. The sum runs in the
        order of the queries. Returns (candidate, query) of the first NaN, or None.
        """
        cdef const char* data = <const char*>cnp.PyArray_DATA(scores)
        cdef bint single = cnp.PyArray_TYPE(scores) == cnp.NPY_FLOAT
        cdef Py_ssize_t size = (4 if single else 8) * self.lists.n_docs
        cdef double* means = <double*>cnp.PyArray_DATA(out)
        cdef double* mean
        cdef double* values = <double*>malloc(max(self.n_measures, 1) * sizeof(double))
        cdef Groups* groups = NULL
        cdef Py_ssize_t candidate, query, i, failed = -1
        if values == NULL:
            raise MemoryError("no memory for the values of a query")
        try:
            groups = self.scratch()
            with nogil:
                for candidate in range(first, last):
                    mean = means + candidate * self.n_measures
                    for i in range(self.n_measures):
                        mean[i] = 0.0
                    for query in range(self.lists.n_queries):
                        if not self.query(query, data + candidate * size, single, groups, values):
                            failed = query
                            break
                        for i in range(self.n_measures):
                            mean[i] += values[i]
                    if failed >= 0:
                        break
                    for i in range(self.n_measures):
                        mean[i] /= self.lists.n_queries
        finally:
            release(groups)
            free(values)
        return None if failed < 0 else (candidate, failed)

    cdef bint query(self, Py_ssize_t query, const char* scores, bint single, Groups* groups,
                    double* values) noexcept nogil:
        if not self.group(query, scores, single, groups):
            return False
        self.expect(query, groups, values)
        return True

    cdef bint group(self, Py_ssize_t query, const char* scores, bint single, Groups* groups) noexcept nogil:
        cdef int64_t start = self.lists.offsets[query]
        if single:
            return self.lists.group_float(query, <const float*>scores + start, groups)
        return self.lists.group_double(query, <const double*>scores + start, groups)

    cdef void expect(self, Py_ssize_t query, Groups* groups, double* values) noexcept nogil:
        if self.judged >= 0:
            condense(groups, self.judged, groups.condensed)
        self.sum_up(query, groups, values)

    cdef void sum_up(self, Py_ssize_t query, const Groups* groups, double* values) noexcept nogil:
        """Write the values of all measures, of groups that are condensed already if any measure asks for that."""
        cdef Py_ssize_t i, at = query * self.n_measures
        cdef const Measure* measure
        for i in range(self.n_measures):
            measure = &self.measures[i]
            values[i] = expected(measure, groups.condensed if measure.judged_only else groups,
                                 self.lengths[query] if measure.judged_only else self.length(query),
                                 self.norms[at + i], self.seconds[at + i], self.undefined, groups.work)

    cdef inline int64_t length(self, Py_ssize_t query) noexcept nogil:
        return self.lists.offsets[query + 1] - self.lists.offsets[query]

    cdef Groups* scratch(self) except NULL:
        """Memory for the groups of a query, and for the condensed ones, to be released by the caller."""
        cdef Groups* groups = self.lists.scratch(self.work)
        if self.judged >= 0:
            try:
                groups.condensed = self.lists.scratch(0)
            except MemoryError:
                free(groups)
                raise
        return groups


cdef void release(Groups* groups) noexcept:
    if groups != NULL:
        free(groups.condensed)
        free(groups)
