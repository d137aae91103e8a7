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
from tieaware._groups cimport Bands, Groups, Lists, band, best_first, worst_first
from tieaware._measure cimport (
    AVERAGE_PRECISION, CONSTANT, HITS, HITS_AT_R, RECIPROCAL_RANK, SLOTS, SLOTS_OF_IDEAL, Measure, between,
)
from tieaware._spread cimport variance

cnp.import_array()

# The kernels, as measures.py names them.
KERNELS = (
    "hits", "hits_at_r", "slots", "slots_of_ideal", "average_precision", "reciprocal_rank", "success", "constant",
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


cdef double expected(const Measure* measure, const Groups* groups, double norm, double undefined) noexcept nogil:
    """The value of one measure for one query."""
    cdef const double* weight = groups.weight + measure.weight * groups.stride
    cdef int kernel = measure.kernel
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
    return success(groups, weight, measure.cutoff) / norm


cdef class Engine:
    """Lists and measures, prepared: scores in, the value of every measure for every query out.

    `measures` is one (kernel, weighting, cut-off or -1, table or None, weighting by squares, table of squares or None)
    per measure; the last two are for the spread alone. `norms` is float64[n_queries,
    n_measures], what the sum over a query's groups is divided by; 0 marks a query where the measure has no meaning,
    whose value is `undefined`. The kernel "constant" is the norm itself. Engines are immutable, and may be called from
    several threads.
    """
    cdef Lists lists
    cdef readonly Py_ssize_t n_measures
    cdef object arguments
    cdef const double* norms
    cdef double undefined
    cdef Measure* measures

    def __cinit__(self, Lists lists not None, list measures not None, cnp.ndarray norms not None, double undefined):
        cdef Py_ssize_t i
        cdef cnp.ndarray table
        self.lists = lists
        self.arguments = (lists, measures, norms, undefined)
        self.n_measures = len(measures)
        self.norms = <const double*>cnp.PyArray_DATA(norms)
        self.undefined = undefined
        self.measures = <Measure*>malloc(max(self.n_measures, 1) * sizeof(Measure))
        if self.measures == NULL:
            raise MemoryError("no memory for the measures")
        for i, (kernel, weight, cutoff, prefix, square, prefix_of_squares) in enumerate(measures):
            self.measures[i].kernel = KERNELS.index(kernel)
            self.measures[i].weight = weight
            self.measures[i].cutoff = cutoff if cutoff >= 0 else NO_CUTOFF
            self.measures[i].table = NULL
            if prefix is not None:
                table = prefix
                self.measures[i].table = <const double*>cnp.PyArray_DATA(table)
            self.measures[i].square = square
            self.measures[i].squares = NULL
            if prefix_of_squares is not None:
                table = prefix_of_squares
                self.measures[i].squares = <const double*>cnp.PyArray_DATA(table)

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
        cdef Groups* groups = self.lists.scratch()
        cdef Py_ssize_t query, failed = -1
        with nogil:
            for query in range(first, last):
                if not self.query(query, data, single, groups, values + query * self.n_measures):
                    failed = query
                    break
        free(groups)
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
            ranked = self.lists.scratch()
            banded = self.lists.scratch()
            with nogil:
                for query in range(first, last):
                    if not self.group(query, data, single, ranked):
                        failed = query
                        break
                    n = self.lists.offsets[query + 1] - self.lists.offsets[query]
                    for b in range(n_bands):
                        band(ranked, banding[b], n, self.lists.n_weights, banded)
                        self.expect(query, banded, values + (b * n_queries + query) * self.n_measures)
        finally:
            free(ranked)
            free(banded)
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
        cdef Groups* tied = self.lists.scratch()
        cdef Groups* ordered = NULL
        cdef Py_ssize_t query, i, at, failed = -1
        cdef double* mean
        cdef double* most
        cdef double* least
        try:
            ordered = self.lists.scratch()
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
                        means[n_values + at + i] = sqrt(variance(&self.measures[i], tied, self.norms[at + i]))
                        # The mean of equal values may differ from them in the last bit.
                        least[i] = min(least[i], mean[i])
                        most[i] = max(most[i], mean[i])
        finally:
            free(tied)
            free(ordered)
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
            groups = self.lists.scratch()
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
            free(groups)
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

    cdef void expect(self, Py_ssize_t query, const Groups* groups, double* values) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.n_measures):
            values[i] = expected(&self.measures[i], groups, self.norms[query * self.n_measures + i], self.undefined)
