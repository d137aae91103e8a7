"""Lists and measures, prepared: scores in, the value of every measure for every query out.

For each query the scores become groups (_groups.pyx). Each measure looks at these through its kernel (_kernels.pyx),
for its mean, and if the spread is asked for, for its variance and extremes.
"""
cimport numpy as cnp
from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from tieaware.kernels._groups cimport Groups, PreparedLists, length, order_by_label
from tieaware.kernels._interruption cimport Interruption, check_interruption, interrupted, no_interruption
from tieaware.kernels._kernels cimport kernel_named
from tieaware.kernels._means cimport Mean, extend, mean_of_none, rounded
from tieaware.kernels._measure cimport TOO_MANY, Measure, Query, Statistic
from tieaware.kernels._regrouping cimport Bands, band, condense

from tieaware.errors import InputError

cnp.import_array()

cdef int64_t NO_CUTOFF = 0x7fffffffffffffff


# What kernels work with, for one query after another, and what keeps them from it.
cdef struct Workspace:
    double* numbers
    int64_t size
    Interruption interruption
    # Whether more was asked for than could be had; and the measure that was refused, as it takes too long.
    bint exhausted
    const Measure* refused
    # Whether any of this has happened, so that the values do not matter.
    bint failed


cdef Workspace no_workspace() noexcept:
    cdef Workspace workspace
    workspace.numbers = NULL
    workspace.size = 0
    workspace.interruption = no_interruption()
    workspace.exhausted = workspace.failed = False
    workspace.refused = NULL
    return workspace


cdef bint grow(Workspace* workspace, int64_t size) noexcept nogil:
    """Make room for so many numbers, whose values are anything."""
    if size > workspace.size:
        free(workspace.numbers)
        workspace.numbers = <double*>malloc(size * sizeof(double))
        workspace.size = size if workspace.numbers != NULL else 0
        # And stays so, if memory is to be had again: one value is lacking.
        workspace.exhausted |= workspace.numbers == NULL
    return not workspace.exhausted


cdef inline double evaluated(Statistic statistic, Query* q, bint spread, Workspace* workspace) noexcept nogil:
    """The mean, or with the spread the variance; infinite, if there is none, for which the workspace has the reason."""
    cdef int64_t size = 0
    cdef double value = INFINITY
    # Somebody is asked now and then also where each list is short.
    if not workspace.failed and not interrupted(&workspace.interruption, q.n_docs):
        if q.measure.kernel.workspace_size != NULL:
            size = q.measure.kernel.workspace_size(q, spread)
        if size != TOO_MANY and grow(workspace, size):
            q.workspace = workspace.numbers
            q.interruption = &workspace.interruption
            value = statistic(q)
    if value == INFINITY or workspace.interruption.error != NULL:
        workspace.failed = True
        if not workspace.exhausted and workspace.refused == NULL:
            workspace.refused = q.measure
        return INFINITY
    return value


cdef const double* data_of(table) except? NULL:
    """What a table holds, which lives as long as its measure; NULL for None."""
    cdef cnp.ndarray array
    if table is None:
        return NULL
    array = table
    return <const double*>cnp.PyArray_DATA(array)


cdef class Measures:
    """What the kernels know of each measure, whatever the lists.

    `fields` has one dict per measure, with the fields of _measure.pxd's struct: the name of a kernel for its row, -1
    for no cut-off, None for no table; and the limit, what an error says when the kernel refuses. Immutable.
    """
    cdef readonly Py_ssize_t n
    cdef list fields
    cdef Measure* of

    def __cinit__(self, list fields not None):
        cdef Py_ssize_t i
        cdef Measure* measure
        self.n = len(fields)
        self.fields = fields
        self.of = <Measure*>malloc(max(self.n, 1) * sizeof(Measure))
        if self.of == NULL:
            raise MemoryError("no memory for the measures")
        for i, known in enumerate(fields):
            measure = &self.of[i]
            measure.kernel = kernel_named(known["kernel"])
            measure.always_defined = known["always_defined"]
            measure.cutoff = known["cutoff"] if known["cutoff"] >= 0 else NO_CUTOFF
            measure.measure_number = known["measure_number"]
            measure.weight = known["weight"]
            measure.n_weights = known["n_weights"]
            measure.square = known["square"]
            measure.table = data_of(known["table"])
            measure.squares = data_of(known["squares"])
            measure.judged_only = known["judged_only"]
            measure.less_is_better = known["less_is_better"]
            measure.geometric = known["geometric"]

    def __dealloc__(self):
        free(self.of)

    def __reduce__(self):
        return Measures, (self.fields,)


cdef class Engine:
    """Lists and measures, prepared.

    `norms` is float64[n_queries, n_measures], what the sum over a query's groups is divided by; 0 marks a query where
    the measure has no meaning, whose value is `undefined`, unless the measure is
    `always_defined`. `query_numbers`, of the same shape, is what kernels take of a query besides; `table_starts`, as
    int64, is where the query's part of the measure's table begins.
    `judged` is the number of the weighting that gives each judged document a weight of 1, or -1 where no measure leaves
    out unjudged documents; the list of query q holds lengths[q] judged ones, int64[n_queries].
    Engines are immutable, and may be called from several threads.
    """
    cdef PreparedLists lists
    cdef readonly Py_ssize_t n_measures
    cdef object arguments
    cdef const double* norms
    cdef const double* query_numbers
    cdef const int64_t* table_starts
    cdef double undefined
    cdef int judged
    cdef const int64_t* lengths
    cdef const Measure* measures

    def __cinit__(self, PreparedLists lists not None, Measures measures not None, cnp.ndarray norms not None,
                  cnp.ndarray query_numbers not None, cnp.ndarray table_starts not None, double undefined, int judged,
                  cnp.ndarray lengths not None):
        self.lists = lists
        self.arguments = (lists, measures, norms, query_numbers, table_starts, undefined, judged, lengths)
        self.n_measures = measures.n
        self.norms = <const double*>cnp.PyArray_DATA(norms)
        self.query_numbers = <const double*>cnp.PyArray_DATA(query_numbers)
        self.table_starts = <const int64_t*>cnp.PyArray_DATA(table_starts)
        self.undefined = undefined
        self.judged = judged
        self.lengths = <const int64_t*>cnp.PyArray_DATA(lengths)
        self.measures = measures.of

    def __reduce__(self):
        return Engine, self.arguments

    def rows(self, Py_ssize_t first, Py_ssize_t last):
        """The same for the lists first … last-1, which share what is prepared."""
        lists, measures, norms, query_numbers, table_starts, undefined, judged, lengths = self.arguments
        return Engine(
            lists.rows(first, last), measures, norms[first:last], query_numbers[first:last], table_starts[first:last],
            undefined, judged, lengths[first:last],
        )

    def call(self, scores, out, bint in_rows):
        """Evaluate all queries in this thread, if both arrays are as `evaluate` needs them; else return None.

        The scores may also lie in rows, one for each list, if the labels do; a subclass of arrays may have a mask, and
        so has to be looked at. Returns what `evaluate` returns. This is
        the short way in for an optimiser's inner loop.
        """
        if not (cnp.PyArray_CheckExact(scores) and cnp.PyArray_Check(out)):
            return None
        cdef cnp.ndarray s = scores, o = out
        cdef int dtype = cnp.PyArray_TYPE(s)
        if not ((dtype == cnp.NPY_DOUBLE or dtype == cnp.NPY_FLOAT)
                and cnp.PyArray_IS_C_CONTIGUOUS(s) and cnp.PyArray_ISALIGNED(s) and cnp.PyArray_ISNOTSWAPPED(s)
                and cnp.PyArray_SIZE(s) == self.lists.n_docs
                and (cnp.PyArray_NDIM(s) == 1 or (in_rows and cnp.PyArray_NDIM(s) == 2 and self.lists.n_docs > 0
                                                  and cnp.PyArray_DIM(s, 0) == self.lists.n_queries))
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
        cdef Workspace workspace = no_workspace()
        cdef Groups* groups = self.scratch(&workspace)
        cdef Py_ssize_t query, failed = -1
        with nogil:
            for query in range(first, last):
                if not self.evaluate_query(query, data, single, groups, &workspace, values + query * self.n_measures):
                    failed = query
                    break
        release(groups)
        free(workspace.numbers)
        self.check(&workspace)
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
        cdef Workspace workspace = no_workspace()
        cdef Bands* banding = <Bands*>malloc(max(n_bands, 1) * sizeof(Bands))
        if banding == NULL:
            raise MemoryError("no memory for the bands")
        try:
            for b in range(n_bands):
                starts = bands[b]
                banding[b].count = starts.shape[0]
                banding[b].start = <const int64_t*>cnp.PyArray_DATA(starts)
            ranked = self.scratch(&workspace)
            banded = self.scratch(&workspace)
            with nogil:
                for query in range(first, last):
                    if not self.write_groups(query, data, single, ranked):
                        failed = query
                        break
                    n = length(self.lists, query)
                    for b in range(n_bands):
                        band(ranked, banding[b], n, self.lists.n_weights, banded)
                        if self.judged >= 0:
                            band(ranked.condensed, banding[b], self.lengths[query], self.lists.n_weights,
                                 banded.condensed)
                        self.write_means(query, banded, &workspace, values + (b * n_queries + query) * self.n_measures)
                    if workspace.failed:
                        break
        finally:
            release(ranked)
            release(banded)
            free(banding)
            free(workspace.numbers)
        self.check(&workspace)
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
        cdef Workspace workspace = no_workspace()
        cdef Groups* tied = self.scratch(&workspace)
        cdef Groups* best = NULL
        cdef Groups* worst = NULL
        cdef Py_ssize_t query, at, failed = -1
        try:
            best = self.scratch(&workspace)
            worst = self.scratch(&workspace)
            with nogil:
                for query in range(first, last):
                    at = query * self.n_measures
                    if not self.evaluate_query(query, data, single, tied, &workspace, means + at):
                        failed = query
                        break
                    order_by_label(self.lists, query, tied, best, worst)
                    self.write_condensed(best)
                    self.write_condensed(worst)
                    self.write_means(query, worst, &workspace, means + 2 * n_values + at)
                    self.write_means(query, best, &workspace, means + 3 * n_values + at)
                    self.write_spread(query, tied, &workspace, means + at, n_values)
                    if workspace.failed:
                        break
        finally:
            release(tied)
            release(best)
            release(worst)
            free(workspace.numbers)
        self.check(&workspace)
        return failed

    def means(self, cnp.ndarray scores not None, cnp.ndarray out not None, Py_ssize_t first, Py_ssize_t last):
        """Write the means over all queries of the candidates first … last-1 into their rows of out.

        scores is float64 or float32[n_candidates, n_docs], out float64[n_candidates, n_measures]. Returns (candidate,
        query) of the first NaN, or None.
        """
        cdef const char* data = <const char*>cnp.PyArray_DATA(scores)
        cdef bint single = cnp.PyArray_TYPE(scores) == cnp.NPY_FLOAT
        cdef Py_ssize_t size = (4 if single else 8) * self.lists.n_docs
        cdef double* means = <double*>cnp.PyArray_DATA(out)
        cdef double* values = <double*>malloc(max(self.n_measures, 1) * (sizeof(Mean) + sizeof(double)))
        cdef Mean* mean = <Mean*>(values + self.n_measures)
        cdef Groups* groups = NULL
        cdef Workspace workspace = no_workspace()
        cdef Py_ssize_t candidate, query, i, failed = -1
        if values == NULL:
            raise MemoryError("no memory for the values of a query")
        try:
            groups = self.scratch(&workspace)
            with nogil:
                for candidate in range(first, last):
                    for i in range(self.n_measures):
                        mean[i] = mean_of_none(self.measures[i].geometric)
                    for query in range(self.lists.n_queries):
                        if not self.evaluate_query(query, data + candidate * size, single, groups, &workspace, values):
                            failed = query
                            break
                        for i in range(self.n_measures):
                            extend(&mean[i], values[i])
                    if failed >= 0:
                        break
                    for i in range(self.n_measures):
                        means[candidate * self.n_measures + i] = rounded(&mean[i])
        finally:
            release(groups)
            free(values)
            free(workspace.numbers)
        self.check(&workspace)
        return None if failed < 0 else (candidate, failed)

    cdef bint evaluate_query(self, Py_ssize_t query, const char* scores, bint single, Groups* groups,
                             Workspace* workspace, double* values) noexcept nogil:
        """Write the groups of one query and its values; False if a score is NaN, or the workspace has failed."""
        if not self.write_groups(query, scores, single, groups):
            return False
        self.write_means(query, groups, workspace, values)
        return not workspace.failed

    cdef bint write_groups(self, Py_ssize_t query, const char* scores, bint single, Groups* groups) noexcept nogil:
        """Write the groups of one query, and the condensed ones if any measure looks at these; False if one is NaN."""
        cdef int64_t start = self.lists.offsets[query]
        cdef bint good
        if single:
            good = self.lists.group_float(query, <const float*>scores + start, groups)
        else:
            good = self.lists.group_double(query, <const double*>scores + start, groups)
        if good:
            self.write_condensed(groups)
        return good

    cdef inline void write_condensed(self, Groups* groups) noexcept nogil:
        if self.judged >= 0:
            condense(groups, self.judged, groups.condensed)

    cdef void write_means(self, Py_ssize_t query, const Groups* groups, Workspace* workspace,
                          double* values) noexcept nogil:
        """Write the mean of every measure over the orders that the groups leave open: the values of one query."""
        cdef Py_ssize_t i
        cdef Query q
        for i in range(self.n_measures):
            q = self.view_of(query, i, groups)
            if q.norm == 0.0 and not q.measure.always_defined:
                values[i] = self.undefined
            else:
                values[i] = evaluated(q.measure.kernel.mean, &q, False, workspace)

    cdef void write_spread(self, Py_ssize_t query, const Groups* tied, Workspace* workspace, double* mean,
                           Py_ssize_t n_values) noexcept nogil:
        """Write the standard deviation of every measure, and make the values of the orders by label its extremes.

        Mean, standard deviation, minimum and maximum lie n_values apart.
        """
        cdef double* std = mean + n_values
        cdef double* least = std + n_values
        cdef double* most = least + n_values
        cdef Py_ssize_t i
        cdef Query q
        for i in range(self.n_measures):
            q = self.view_of(query, i, tied)
            std[i] = 0.0
            if q.norm != 0.0:
                std[i] = sqrt(evaluated(q.measure.kernel.variance, &q, True, workspace))
            if q.measure.less_is_better:
                least[i], most[i] = most[i], least[i]
            if q.norm != 0.0 and q.measure.kernel.extremes != NULL:
                q.measure.kernel.extremes(&q, &least[i], &most[i])
            # The mean of equal values may differ from them in the last bit.
            least[i] = min(least[i], mean[i])
            most[i] = max(most[i], mean[i])

    cdef inline Query view_of(self, Py_ssize_t query, Py_ssize_t i, const Groups* groups) noexcept nogil:
        """What measure i sees of a query."""
        cdef const Measure* measure = &self.measures[i]
        cdef Query q
        q.measure = measure
        q.groups = groups
        q.n_docs = length(self.lists, query)
        if measure.judged_only:
            q.groups = groups.condensed
            q.n_docs = self.lengths[query]
        q.weight = q.groups.weight + measure.weight * q.groups.stride
        q.norm = self.norms[query * self.n_measures + i]
        q.query_number = self.query_numbers[query * self.n_measures + i]
        q.table_start = self.table_starts[query * self.n_measures + i]
        q.workspace = NULL
        q.interruption = NULL
        return q

    cdef int check(self, Workspace* workspace) except -1:
        """Raise what has kept kernels from their values."""
        check_interruption(&workspace.interruption)
        if workspace.exhausted:
            raise MemoryError("no memory for what a kernel works with")
        if workspace.refused != NULL:
            raise InputError((<Measures>self.arguments[1]).fields[workspace.refused - self.measures]["limit"])
        return 0

    cdef Groups* scratch(self, Workspace* workspace) except NULL:
        """Memory for the groups of a query, and for the condensed ones, to be released by the caller."""
        cdef Groups* groups = self.lists.scratch()
        groups.interruption = &workspace.interruption
        if self.judged >= 0:
            try:
                groups.condensed = self.lists.scratch()
            except MemoryError:
                free(groups)
                raise
        return groups


cdef void release(Groups* groups) noexcept:
    if groups != NULL:
        free(groups.condensed)
        free(groups)
