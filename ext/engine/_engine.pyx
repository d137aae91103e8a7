"""Evaluation of prepared lists: from scores, compute the value of every measure for every query.

The scores of each query are first grouped into ties (_grouping.pyx). From these groups, the kernel of each measure
computes the mean over the orders of tied documents and, for a spread, the variance and the extremes.
"""
from functools import partial

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

cimport tieaware.kernels._numpy as cnp
from tieaware.kernels._coarsening cimport KernelCoarsening, check_coarsening, coarsen, memory_size
from tieaware.kernels._grouping cimport group, group_all, group_counted, n_counted
from tieaware.kernels._groups cimport AVERAGE, BEST_FIRST, Groups, PreparedLists, length
from tieaware.kernels._interruption cimport interrupted, no_interruption
from tieaware.kernels._kernel_measures cimport KernelMeasure, Measures
from tieaware.kernels._means cimport Mean, extend, mean_of_none, rounded
from tieaware.kernels._measure cimport TOO_MANY, Measure, Query, Statistic
from tieaware.kernels._places cimport Bands, band, carry, condense, order_bands_by_label, order_by_label

from tieaware.errors import InputError

cnp.import_array()


cdef enum:
    # How many steps of an interruption it takes to evaluate a measure and to group its weights, beyond those for each
    # document.
    STEPS_OF_MEASURE = 64


cdef bint grow(Workspace* workspace, int64_t size) noexcept nogil:
    """Make room for `size` numbers in the workspace, without keeping its contents; return False if that fails."""
    if size > workspace.size:
        free(workspace.numbers)
        workspace.numbers = <double*>malloc(size * sizeof(double))
        workspace.size = size if workspace.numbers != NULL else 0
        # `exhausted` stays true even if a later allocation succeeds, because one value is already missing.
        workspace.exhausted |= workspace.numbers == NULL
    return not workspace.exhausted


cdef inline double evaluated(Statistic statistic, Query* q, bint spread, Workspace* workspace) noexcept nogil:
    """Return the mean of a measure, or the variance if `spread`; infinite if the call has to stop."""
    cdef int64_t size = 0
    cdef double value = INFINITY
    # Poll for interruption here too, because grouping and kernels do not poll for short lists.
    if not workspace.failed and not interrupted(&workspace.interruption, q.n_docs + STEPS_OF_MEASURE):
        if q.measure.kernel.workspace_size != NULL:
            size = q.measure.kernel.workspace_size(q, spread)
        if size != TOO_MANY and grow(workspace, size):
            q.workspace = workspace.numbers
            q.interruption = &workspace.interruption
            value = statistic(q)
    if value == INFINITY or workspace.interruption.stopped:
        workspace.failed = True
        if not workspace.exhausted and workspace.refused == NULL:
            workspace.refused = q.measure
        return INFINITY
    return value


cdef Form form_of(cnp.ndarray scores):
    """Return whether scores are float64 or float32, or int64[2, n_weighted]: counts in place of scores."""
    cdef int dtype = cnp.PyArray_TYPE(scores)
    return FLOATS if dtype == cnp.NPY_FLOAT else COUNTS if dtype == cnp.NPY_INT64 else DOUBLES


cdef class Engine:
    """Prepared lists and measures, for the evaluation of any number of scorings of the lists.

    An engine is immutable and may be called from several threads at once. All arrays are C-contiguous.

    Parameters
    ----------
    lists : PreparedLists
    measures : Measures
    norms : float64[n_queries, n_measures]
        The divisor of the sum over the groups of a query. 0 means that the measure is undefined for the query; the
        value is then `undefined`, unless the measure has a value for every query.
    query_numbers : float64[n_queries, n_measures]
        A second number for each query, for the kernels that need one, such as that of bpref.
    lookup_starts : int64[n_queries, n_measures]
        The index at which the numbers of each query start in the lookup array of the measure.
    undefined : float
    judged : int
        The index of the weighting that gives each judged document the weight 1; -1 if no measure has judged_only.
    judged_lengths : int64[n_queries]
        The number of judged documents of each list.
    shared_scores : bool
        Whether all lists have the same scores. The lists then have the same length, and the scores of a call are those
        of one list.
    coarsening : KernelCoarsening, optional
        How the scores of each list are coarsened before they are grouped. If coarse scores depend on the whole list, no
        documents may be excluded.
    carries : int32[n_weightings, 2], optional
        For each weighting whose weights are real numbers, in digits (see weights.py): the index of the weighting with
        the second digits, and how many weightings hold further digits. (-1, 0) for other weightings.
    """
    def __cinit__(self, PreparedLists lists not None, Measures measures not None, *, cnp.ndarray norms not None,
                  cnp.ndarray query_numbers not None, cnp.ndarray lookup_starts not None, double undefined, int judged,
                  cnp.ndarray judged_lengths not None, bint shared_scores=False,
                  KernelCoarsening coarsening=None, cnp.ndarray carries=None):
        cdef Py_ssize_t query
        self.lists = lists
        self.measures = measures
        self.arrays = norms, query_numbers, lookup_starts, judged_lengths
        self.n_measures = measures.n
        self.measure = measures.structs
        self.norms = <const double*>cnp.PyArray_DATA(norms)
        self.query_numbers = <const double*>cnp.PyArray_DATA(query_numbers)
        self.lookup_starts = <const int64_t*>cnp.PyArray_DATA(lookup_starts)
        self.judged_lengths = <const int64_t*>cnp.PyArray_DATA(judged_lengths)
        self.undefined = undefined
        self.judged = judged
        self.shared_scores = shared_scores
        self.n_scores = lists.n_docs
        if shared_scores:
            self.n_scores = lists.offsets[1] if lists.n_queries > 0 else 0
        self.carries = carries
        if carries is not None:
            self.carry = <const int32_t*>cnp.PyArray_DATA(carries)
        self.coarsening = coarsening
        if coarsening is not None:
            self.rounding = &coarsening.rounding
            for query in range(lists.n_queries):
                self.longest = max(self.longest, <Py_ssize_t>(lists.offsets[query + 1] - lists.offsets[query]))
            if self.longest > coarsening.longest:
                raise ValueError("a list is longer than the coarsening allows")

    @property
    def coarsens(self):
        """True if the engine coarsens the scores."""
        return self.coarsening is not None

    @property
    def weighted_offsets(self):
        """Where the weighted documents of each list start: int64[n_queries + 1]."""
        return self.lists.arrays[1][0]

    @property
    def weighted_positions(self):
        """The position of each weighted document in its list; see `weighted_offsets`."""
        return self.lists.arrays[1][1]

    def __reduce__(self):
        norms, query_numbers, lookup_starts, judged_lengths = self.arrays
        return partial(
            Engine, norms=norms, query_numbers=query_numbers, lookup_starts=lookup_starts, undefined=self.undefined,
            judged=self.judged, judged_lengths=judged_lengths, shared_scores=self.shared_scores,
            coarsening=self.coarsening, carries=self.carries,
        ), (self.lists, self.measures)

    def sharing_scores(self):
        """Return an engine for the same lists, which must have the same length, with the same scores in every list."""
        norms, query_numbers, lookup_starts, judged_lengths = self.arrays
        return Engine(
            self.lists, self.measures, norms=norms, query_numbers=query_numbers, lookup_starts=lookup_starts,
            undefined=self.undefined, judged=self.judged, judged_lengths=judged_lengths, shared_scores=True,
            coarsening=self.coarsening, carries=self.carries,
        )

    def rows(self, Py_ssize_t first, Py_ssize_t last):
        """Return an engine for the lists first … last - 1 only, which shares the prepared arrays with this engine."""
        norms, query_numbers, lookup_starts, judged_lengths = self.arrays
        return Engine(
            self.lists.rows(first, last), self.measures, norms=norms[first:last],
            query_numbers=query_numbers[first:last], lookup_starts=lookup_starts[first:last],
            undefined=self.undefined, judged=self.judged, judged_lengths=judged_lengths[first:last],
            shared_scores=self.shared_scores, coarsening=self.coarsening, carries=self.carries,
        )

    def call(self, scores, out, bint in_rows):
        """Evaluate all queries in this thread if `scores` and `out` need no conversion; else return None.

        This is a fast path for callers that evaluate in an inner loop, such as an optimiser. If `in_rows`, the scores
        may be two-dimensional, with one list per row. Instances of subclasses of numpy.ndarray are not accepted as
        scores, because they may have a mask. If the queries were evaluated, returns what `evaluate` returns.
        """
        if not (cnp.PyArray_CheckExact(scores) and cnp.PyArray_Check(out)):
            return None
        cdef cnp.ndarray s = scores, o = out
        cdef int dtype = cnp.PyArray_TYPE(s)
        if not ((dtype == cnp.NPY_DOUBLE or dtype == cnp.NPY_FLOAT)
                and cnp.PyArray_IS_C_CONTIGUOUS(s) and cnp.PyArray_ISALIGNED(s) and cnp.PyArray_ISNOTSWAPPED(s)
                and cnp.PyArray_SIZE(s) == self.n_scores
                and (cnp.PyArray_NDIM(s) == 1 or (in_rows and cnp.PyArray_NDIM(s) == 2 and self.lists.n_docs > 0
                                                  and cnp.PyArray_DIM(s, 0) == self.lists.n_queries))
                and cnp.PyArray_TYPE(o) == cnp.NPY_DOUBLE
                and cnp.PyArray_IS_C_CONTIGUOUS(o) and cnp.PyArray_ISALIGNED(o) and cnp.PyArray_ISNOTSWAPPED(o)
                and cnp.PyArray_ISWRITEABLE(o) and cnp.PyArray_NDIM(o) == 2
                and cnp.PyArray_DIM(o, 0) == self.lists.n_queries and cnp.PyArray_DIM(o, 1) == self.n_measures):
            return None
        return self.evaluate(s, o, 0, self.lists.n_queries)

    cpdef Py_ssize_t evaluate(self, cnp.ndarray scores, cnp.ndarray out, Py_ssize_t first, Py_ssize_t last) except -2:
        """Write the values of the queries first … last - 1 into their rows of `out`.

        `scores` is float64[n_docs] or float32[n_docs], or those of one list if all lists share them; or int64[2,
        n_weighted]: for each weighted document, how many ranked documents of its list have a higher score, and how many
        have its score. Counts need a placement other than IN_ORDER. `out` is float64[n_queries, n_measures]. All are
        C-contiguous, aligned and in native byte order. Returns the first query with a NaN among its scores, or -1.
        """
        cdef const char* data = <const char*>cnp.PyArray_DATA(scores)
        cdef Form form = form_of(scores)
        cdef double* values = <double*>cnp.PyArray_DATA(out)
        cdef Workspace workspace
        cdef Groups* groups = self.begin(&workspace)
        cdef Py_ssize_t failed
        with nogil:
            failed = self.write_values(data, form, groups, &workspace, values, first, last)
        end(&workspace, groups)
        self.check(&workspace)
        return failed

    def sweep(self, cnp.ndarray scores not None, list bands not None, int placement, bint spread,
              cnp.ndarray out not None, Py_ssize_t first, Py_ssize_t last):
        """Evaluate with ties between documents whose ranks lie in the same band, for several divisions in one pass.

        The lists must be prepared in run order. Each array in the list `bands` is one division into bands: the first
        rank of each band, int64, ascending from 1. `placement` is AVERAGE, BEST_FIRST or WORST_FIRST; a spread needs
        AVERAGE. For all but averages, the lists need the array `by_label`, and no measure may have judged_only. `out`
        is float64[len(bands), n_queries, n_measures], or float64[len(bands), 4, n_queries, n_measures] for a spread.
        Returns what `evaluate` returns.
        """
        cdef const char* data = <const char*>cnp.PyArray_DATA(scores)
        cdef Form form = form_of(scores)
        cdef double* values = <double*>cnp.PyArray_DATA(out)
        cdef Py_ssize_t n_bands = len(bands), n_values = self.lists.n_queries * self.n_measures, b, query, failed = -1
        cdef Py_ssize_t n_outputs = 4 if spread else 1
        cdef cnp.ndarray starts
        cdef Workspace workspace
        cdef Groups* ranked = self.begin(&workspace)
        cdef Groups* banded = self.new_groups()
        cdef Groups* best = self.new_groups()
        cdef Groups* worst = self.new_groups()
        cdef Bands* banding = <Bands*>malloc(max(n_bands, 1) * sizeof(Bands))
        try:
            if banded == NULL or best == NULL or worst == NULL or banding == NULL:
                raise MemoryError("no memory for the bands")
            for b in range(n_bands):
                starts = bands[b]
                banding[b].count = starts.shape[0]
                banding[b].start = <const int64_t*>cnp.PyArray_DATA(starts)
            with nogil:
                for query in range(first, last):
                    if not self.write_groups(query, data, form, ranked, &workspace):
                        failed = query
                        break
                    for b in range(n_bands):
                        self.write_banded(query, ranked, banding[b], placement, spread, banded, best, worst, &workspace,
                                          values + b * n_outputs * n_values + query * self.n_measures)
                    if workspace.failed:
                        break
        finally:
            release(banded)
            release(best)
            release(worst)
            free(banding)
            end(&workspace, ranked)
        self.check(&workspace)
        return failed

    cdef void write_banded(self, Py_ssize_t query, const Groups* ranked, Bands bands, int placement, bint spread,
                           Groups* banded, Groups* best, Groups* worst, Workspace* workspace,
                           double* values) noexcept nogil:
        """Write the values of one query for one division into bands."""
        cdef int64_t* merged = workspace.grouping.merged
        cdef Py_ssize_t n_values = self.lists.n_queries * self.n_measures
        band(ranked, bands, length(self.lists, query), self.lists.n_weightings, banded, merged)
        if placement == AVERAGE:
            if self.judged >= 0:
                band(ranked.condensed, bands, self.judged_lengths[query], self.lists.n_weightings, banded.condensed,
                     merged)
            self.carry_digits(banded)
            self.write_means(query, banded, workspace, values)
            if not spread:
                return
        order_bands_by_label(self.lists, query, ranked.count, banded, workspace.grouping, best, worst)
        self.carry_digits(best)
        self.carry_digits(worst)
        if placement == AVERAGE:
            self.write_means(query, worst, workspace, values + 2 * n_values)
            self.write_means(query, best, workspace, values + 3 * n_values)
            self.write_spread(query, banded, workspace, values, n_values)
        else:
            self.write_means(query, best if placement == BEST_FIRST else worst, workspace, values)

    def spread(self, cnp.ndarray scores, cnp.ndarray out not None, Py_ssize_t first, Py_ssize_t last):
        """Write the mean, standard deviation, smallest and largest value over the orders of tied documents.

        If `scores` is None, all documents of a list are tied. The lists must be prepared for the placement AVERAGE,
        with the weighted documents of each list sorted by label, descending. The measures must be prepared with squared
        weights. `out` is float64[4, n_queries, n_measures]. Returns what `evaluate` returns.
        """
        cdef const char* data = <const char*>cnp.PyArray_DATA(scores) if scores is not None else NULL
        cdef Form form = form_of(scores) if scores is not None else DOUBLES
        cdef double* means = <double*>cnp.PyArray_DATA(out)
        cdef Workspace workspace
        cdef Groups* tied = self.begin(&workspace)
        cdef Groups* best = self.new_groups()
        cdef Groups* worst = self.new_groups()
        cdef Py_ssize_t failed = -1
        try:
            if best == NULL or worst == NULL:
                raise MemoryError("no memory for the best and the worst order")
            with nogil:
                failed = self.write_spreads(data, form, tied, best, worst, &workspace, means, first, last)
        finally:
            release(best)
            release(worst)
            end(&workspace, tied)
        self.check(&workspace)
        return failed

    cdef void write_extremes(self, Py_ssize_t query, const Groups* tied, Groups* best, Groups* worst,
                             Workspace* workspace, double* mean, Py_ssize_t n_values) noexcept nogil:
        """Write the standard deviation and the extremes of one query, whose means are written; see `write_spread`."""
        cdef Py_ssize_t i
        if self.have_one_order(tied):
            for i in range(self.n_measures):
                mean[n_values + i] = 0.0
                mean[2 * n_values + i] = mean[3 * n_values + i] = mean[i]
            return
        order_by_label(self.lists, query, tied, workspace.grouping, best, worst)
        self.write_condensed(best)
        self.write_condensed(worst)
        self.carry_digits(best)
        self.carry_digits(worst)
        self.write_means(query, worst, workspace, mean + 2 * n_values)
        self.write_means(query, best, workspace, mean + 3 * n_values)
        self.write_spread(query, tied, workspace, mean, n_values)

    cdef bint have_one_order(self, const Groups* tied) noexcept nogil:
        """Return whether no weighted document ties with another, and no measure has a rule of its own for extremes."""
        cdef Py_ssize_t g, i
        cdef int64_t largest = 0
        for g in range(tied.count):
            largest = max(largest, tied.size[g])
        if largest > 1:
            return False
        for i in range(self.n_measures):
            if self.measure[i].kernel.extremes != NULL:
                return False
        return True

    def means(self, cnp.ndarray scores not None, cnp.ndarray out not None, Py_ssize_t first, Py_ssize_t last):
        """Write the means over all queries of the candidates first … last - 1 into their rows of `out`.

        `scores` is float64 or float32[n_candidates, n_scores], where n_scores is n_docs, or the length of a list if all
        lists share the scores; `out` is float64[n_candidates, n_measures]. Returns (candidate, query) of the first NaN,
        or None.
        """
        cdef const char* data = <const char*>cnp.PyArray_DATA(scores)
        cdef Form form = form_of(scores)
        cdef Py_ssize_t size = (16 * n_counted(self.lists) if form == COUNTS
                                else (4 if form == FLOATS else 8) * self.n_scores)
        cdef double* means = <double*>cnp.PyArray_DATA(out)
        cdef double* values
        cdef Mean* mean
        cdef Workspace workspace
        cdef Groups* groups = self.begin(&workspace)
        cdef Py_ssize_t candidate, failed = -1
        try:
            # Memory for the values of one query, and after them for the means over the queries so far.
            values = <double*>malloc(max(self.n_measures, 1) * (sizeof(Mean) + sizeof(double)))
            if values == NULL:
                raise MemoryError("no memory for the values of a query")
            mean = <Mean*>(values + self.n_measures)
            with nogil:
                for candidate in range(first, last):
                    failed = self.write_mean(data + candidate * size, form, groups, &workspace, values, mean,
                                             means + candidate * self.n_measures)
                    if failed >= 0:
                        break
        finally:
            free(values)
            end(&workspace, groups)
        self.check(&workspace)
        return None if failed < 0 else (candidate, failed)

    cdef Py_ssize_t write_values(self, const char* scores, Form form, Groups* groups, Workspace* workspace,
                                 double* values, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """Write the values of the queries first … last - 1; return the first query that failed, or -1."""
        cdef Py_ssize_t query
        for query in range(first, last):
            if not self.evaluate_query(query, scores, form, groups, workspace, values + query * self.n_measures):
                return query
        return -1

    cdef Py_ssize_t write_spreads(self, const char* scores, Form form, Groups* tied, Groups* best, Groups* worst,
                                  Workspace* workspace, double* means, Py_ssize_t first,
                                  Py_ssize_t last) noexcept nogil:
        """Write the four outputs of the queries first … last - 1; return the first query with a NaN, or -1."""
        cdef Py_ssize_t n_values = self.lists.n_queries * self.n_measures, query, at, failed = -1
        workspace.grouping.numbering = True
        for query in range(first, last):
            at = query * self.n_measures
            if not self.evaluate_query(query, scores, form, tied, workspace, means + at):
                failed = query
                break
            self.write_extremes(query, tied, best, worst, workspace, means + at, n_values)
            if workspace.failed:
                break
        workspace.grouping.numbering = False
        return failed

    cdef Py_ssize_t write_mean(self, const char* scores, Form form, Groups* groups, Workspace* workspace,
                               double* values, Mean* sums, double* means) noexcept nogil:
        """Write the means over all queries; return the first query that failed, or -1.

        `values` and `sums` have room for the values of one query and for the means over the queries so far.
        """
        cdef Py_ssize_t query, i
        for i in range(self.n_measures):
            sums[i] = mean_of_none(self.measure[i].geometric)
        for query in range(self.lists.n_queries):
            if not self.evaluate_query(query, scores, form, groups, workspace, values):
                return query
            for i in range(self.n_measures):
                extend(&sums[i], values[i])
        for i in range(self.n_measures):
            means[i] = rounded(&sums[i])
        return -1

    cdef bint evaluate_query(self, Py_ssize_t query, const char* scores, Form form, Groups* groups,
                             Workspace* workspace, double* values) noexcept nogil:
        """Write the groups and the values of one query; return False if a score is NaN or the call has to stop.

        If `scores` is NULL, all documents are tied.
        """
        if scores == NULL:
            group_all(self.lists, query, groups, workspace.grouping)
            self.write_condensed(groups)
        elif not self.write_groups(query, scores, form, groups, workspace):
            return False
        self.carry_digits(groups)
        self.write_means(query, groups, workspace, values)
        return not workspace.failed

    cdef bint write_groups(self, Py_ssize_t query, const char* scores, Form form, Groups* groups,
                           Workspace* workspace) noexcept nogil:
        """Write the groups of one query; return False if a score is NaN or the call was interrupted.

        If a measure has judged_only, also write the groups without unjudged documents.
        """
        cdef bint good, single = form == FLOATS
        if form == COUNTS:
            good = group_counted(self.lists, query, <const int64_t*>scores, groups, workspace.grouping)
        else:
            if not self.shared_scores:
                scores += (4 if single else 8) * self.lists.offsets[query]
            if self.rounding != NULL:
                if not self.write_coarse(query, scores, single, workspace):
                    return False
                scores, single = <const char*>workspace.coarse, workspace.single
            if single:
                good = group(self.lists, query, <const float*>scores, groups, workspace.grouping)
            else:
                good = group(self.lists, query, <const double*>scores, groups, workspace.grouping)
        if good:
            self.write_condensed(groups)
        return good

    cdef bint write_coarse(self, Py_ssize_t query, const char* scores, bint single,
                           Workspace* workspace) noexcept nogil:
        """Write the coarse scores of one query, or their keys; return False if the call was interrupted."""
        cdef Py_ssize_t n = self.lists.offsets[query + 1] - self.lists.offsets[query]
        cdef bint good
        if workspace.coarsened == scores:
            return True
        if single:
            good = coarsen(self.rounding, <const float*>scores, n, True, workspace.coarse, &workspace.single,
                           workspace.memory, &workspace.interruption)
        else:
            good = coarsen(self.rounding, <const double*>scores, n, True, workspace.coarse, &workspace.single,
                           workspace.memory, &workspace.interruption)
        workspace.coarsened = scores if self.shared_scores else NULL
        return good

    cdef void write_condensed(self, Groups* groups) noexcept nogil:
        if self.judged >= 0:
            condense(groups, self.judged, groups.condensed)

    cdef void carry_digits(self, Groups* groups) noexcept nogil:
        """Add up the digits of weights that are real numbers. Until then, sums over documents are exact in each digit.
        """
        if self.carry != NULL:
            carry(self.carry, self.lists.n_weightings, groups)
            if groups.condensed != NULL and groups.condensed.weight != groups.weight:
                carry(self.carry, self.lists.n_weightings, groups.condensed)

    cdef void write_means(self, Py_ssize_t query, const Groups* groups, Workspace* workspace,
                          double* values) noexcept nogil:
        """Write the values of one query: for every measure, its mean over the orders of the documents in each group."""
        cdef Py_ssize_t i
        for i in range(self.n_measures):
            values[i] = self.mean_of(query, i, groups, workspace)

    cdef double mean_of(self, Py_ssize_t query, Py_ssize_t i, const Groups* groups,
                        Workspace* workspace) noexcept nogil:
        """Return the mean of measure i over the orders of the documents in each group."""
        cdef Query q = self.view_of(query, i, groups)
        if q.norm == 0.0 and not q.measure.always_defined:
            return self.undefined
        return evaluated(q.measure.kernel.mean, &q, False, workspace)

    cdef void write_spread(self, Py_ssize_t query, const Groups* tied, Workspace* workspace, double* mean,
                           Py_ssize_t n_values) noexcept nogil:
        """Write the standard deviation, minimum and maximum of every measure for one query.

        The outputs for the minimum and maximum already hold the values of the worst and the best order by label, which
        are the extremes of most measures. Four outputs of n_values numbers each are adjacent in memory: the mean, into
        which `mean` points, the standard deviation, the minimum and the maximum.
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
            # The working memory is that of the variance.
            if q.norm != 0.0 and q.measure.kernel.extremes != NULL and not workspace.failed:
                q.measure.kernel.extremes(&q, &least[i], &most[i])
            # If all orders give the same value, their computed mean may differ from it in the last bit.
            least[i] = min(least[i], mean[i])
            most[i] = max(most[i], mean[i])

    cdef Query view_of(self, Py_ssize_t query, Py_ssize_t i, const Groups* groups) noexcept nogil:
        """Return the argument of the kernel of measure i for one query."""
        cdef const Measure* measure = &self.measure[i]
        cdef Query q
        q.measure = measure
        q.groups = groups
        q.n_docs = length(self.lists, query)
        if measure.judged_only:
            q.groups = groups.condensed
            q.n_docs = self.judged_lengths[query]
        q.weight = q.groups.weight + measure.weighting * q.groups.stride
        q.norm = self.norms[query * self.n_measures + i]
        q.query_number = self.query_numbers[query * self.n_measures + i]
        q.lookup_start = self.lookup_starts[query * self.n_measures + i]
        q.carry = self.carry
        q.workspace = NULL
        q.interruption = NULL
        return q

    cdef int check(self, Workspace* workspace) except -1:
        """Raise the error for which the call stopped early, if any."""
        cdef KernelMeasure refused
        check_coarsening(self.rounding, &workspace.interruption)
        if workspace.exhausted:
            raise MemoryError("no memory for the working memory of a kernel")
        if workspace.refused != NULL:
            refused = self.measures.kernels[workspace.refused - self.measure]
            raise InputError(refused.name, refused.refusal or "the value cannot be computed")
        return 0

    cdef Groups* begin(self, Workspace* workspace) except NULL:
        """Initialise the workspace of a call; return newly allocated groups. `end` frees both."""
        cdef Groups* groups = self.open(workspace)
        if groups == NULL:
            raise MemoryError("no memory to group the scores")
        return groups

    cdef Groups* open(self, Workspace* workspace) noexcept nogil:
        """Do the same as `begin`, but return NULL if there is no memory."""
        cdef Groups* groups = self.new_groups()
        workspace.numbers = NULL
        workspace.size = 0
        workspace.interruption = no_interruption()
        workspace.exhausted = workspace.failed = False
        workspace.refused = NULL
        workspace.coarsened = workspace.coarse = workspace.memory = NULL
        workspace.single = False
        if self.rounding != NULL:
            workspace.coarse = malloc(max(self.longest, 1) * sizeof(double) + memory_size(self.rounding, self.longest))
            if workspace.coarse != NULL:
                workspace.memory = <double*>workspace.coarse + max(self.longest, 1)
        workspace.grouping = self.lists.new_scratch(&workspace.interruption)
        if groups == NULL or workspace.grouping == NULL or (self.rounding != NULL and workspace.coarse == NULL):
            end(workspace, groups)
            return NULL
        return groups

    cdef Groups* new_groups(self) noexcept nogil:
        """Return newly allocated groups, which `release` frees; NULL on failure.

        If a measure has judged_only, also allocate the groups without unjudged documents.
        """
        cdef Groups* groups = self.lists.new_groups()
        if groups != NULL and self.judged >= 0:
            groups.condensed = self.lists.new_groups()
            if groups.condensed == NULL:
                release(groups)
                return NULL
        return groups


cdef void end(Workspace* workspace, Groups* groups) noexcept nogil:
    """Free the groups and the workspace of a call."""
    release(groups)
    free(workspace.grouping)
    free(workspace.coarse)
    free(workspace.numbers)


cdef void release(Groups* groups) noexcept nogil:
    """Free groups and their groups without unjudged documents. `groups` may be NULL."""
    if groups != NULL:
        free(groups.condensed)
        free(groups)
