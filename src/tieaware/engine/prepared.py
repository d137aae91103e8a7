"""Prepared evaluation of lists: everything that does not depend on the scores is computed once, in advance.

`prepare` looks up the weight of each label (weights.py), selects the documents with a weight (documents.py), chooses
how to group the documents of each list into ties (engine_choice.py), and builds an engine (ext/engine/_engine.pyx). The
result, an instance of `Prepared`, runs the engine on scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Integers, Labels, Offsets, Scores, Values, as_contiguous, as_scores, element
from tieaware.engine import engine_choice
from tieaware.engine.documents import ExcludedDocuments, WeightedDocuments
from tieaware.engine.means import means
from tieaware.engine.spread import Chance, Spread
from tieaware.engine.totals import Totals
from tieaware.engine.views import Pass, View, passes
from tieaware.engine.weights import NO_CUTOFF, Weights
from tieaware.errors import InputError
from tieaware.kernels._coarsening import KernelCoarsening
from tieaware.kernels._engine import Engine
from tieaware.kernels._groups import IN_ORDER, PreparedLists
from tieaware.lists.judgments import Excluded, JudgedLists, Judgments
from tieaware.measures import Measure
from tieaware.precision import Coarsening
from tieaware.precision.coarsening import NamedCoarsening, coarsened
from tieaware.runtime.threads import even_chunks, over_chunks
from tieaware.ties import RULES

# With fewer documents than this, a call uses only one thread: handing chunks to other threads would take longer.
_WORTH_THREADS = 8192
_INT64 = np.dtype(np.int64)
# The size of the copies of scores that lists share, where copies are needed.
COPIED_BYTES = 1 << 22


@dataclass(eq=False)
class Prepared:
    """A prepared evaluation: given the scores of the documents, it computes every measure for every list.

    The lists, their labels, the measures, the tie rule and the precision are fixed.

    Parameters
    ----------
    engine : Engine
    offsets : int64[n_queries + 1]
        The index at which each list starts, and the end of the last list.
    measures : tuple of Measure
    wanted : Pass
        How the scores are rounded and grouped, and which outputs are wanted.
    threads : int
        The largest number of threads of a call.
    bands : tuple of int64[n_bands]
        The divisions of the ranks into bands whose documents tie: for each division, the first rank of each band. Empty
        if documents with equal scores tie instead.
    extremes : _Extremes or None
        The measures for which sorting tied documents by label does not give the best or the worst order, if the tie
        rule wants that order.
    excluded : Excluded or None
        The documents that have scores but are not ranked. Their scores may be NaN.
    unshared : Prepared or None
        If all lists share the same scores, so that an array of scores is that of one list: the evaluation of these
        lists with scores of their own. Otherwise None.
    """

    engine: Engine
    offsets: Offsets
    measures: tuple[Measure, ...]
    wanted: Pass
    threads: int = 1
    bands: tuple[Integers, ...] = ()
    extremes: _Extremes | None = None
    excluded: Excluded | None = None
    unshared: Prepared | None = None

    def sharing_scores(self) -> Prepared:
        """Return the prepared evaluation of these lists, which have the same length, for scores that all of them share.

        It reads the scores of one list, and does not copy them for each list.
        """
        return replace(
            self,
            engine=self.engine.sharing_scores(),
            extremes=self.extremes and self.extremes._replace(engine=self.extremes.engine.sharing_scores()),
            unshared=self,
        )

    def for_scores(self, scores: Scores) -> Prepared:
        """Return the prepared evaluation for scores, or counts, of this number: of all documents, or of one list."""
        return self if scores.ndim == 2 or len(scores) == self.offsets[-1] else self.sharing_scores()

    def rows(self, first: int, last: int) -> Prepared:
        """Return the prepared evaluation of the lists first … last - 1 only, which shares the prepared arrays."""
        return replace(
            self,
            engine=self.engine.rows(first, last),
            offsets=self.offsets[first : last + 1] - self.offsets[first],
            extremes=self.extremes and self.extremes._replace(engine=self.extremes.engine.rows(first, last)),
            excluded=self.excluded and self.excluded.rows(first, last),
            unshared=self.unshared and self.unshared.rows(first, last),
        )

    def evaluate(self, scores: Scores, values: Values) -> int:
        """Write the values of all queries; return the index of the first query with a NaN among its scores, or -1.

        Parameters
        ----------
        scores : float64[n_docs] or float32[n_docs]
            C-contiguous, aligned and in native byte order. If the lists share the scores, those of one list. Or
            int64[2, n_weighted], the counts of `tieaware.engine.device_counts`.
        values : float64[n_outputs, n_queries, n_measures]
            C-contiguous, aligned and in native byte order. There is one output, or one for each division into bands.
            For a spread, each is replaced by four: mean, standard deviation, minimum and maximum. If there is one
            output, the first axis may be left out. A pass of chance has three outputs, and ignores the scores.
        """
        if self.unshared is not None and self.excluded is not None and self.wanted.needs_whole_list:
            return self.unshared._evaluate_copies(scores, values)
        if self.wanted.coarsening is not None:
            scores = self._coarse(scores)
        if self.threads == 1 or self.offsets.item(-1) < _WORTH_THREADS:
            return self._evaluate_chunk(scores, values, 0, len(self.offsets) - 1)
        work = partial(self._evaluate_chunk, scores, values)
        failures = over_chunks(work, self._chunks, self.threads)
        return next((query for query in failures if query >= 0), -1)

    def _evaluate_copies(self, scores: Scores, values: Values) -> int:
        """Do the work of `evaluate` for scores that all lists share, but that are coarsened differently for each list.

        That is so if a coarse score depends on the whole list, and the lists do not exclude the same documents. The
        scores are copied, for a few lists at a time.
        """
        n_lists = len(self.offsets) - 1
        at_once = max(1, COPIED_BYTES // max(1, scores.nbytes))
        for first in range(0, n_lists, at_once):
            last = min(first + at_once, n_lists)
            some = np.empty((*values.shape[:-2], last - first, values.shape[-1]))
            copies: Any = np.tile(scores, last - first)
            failed = self.rows(first, last).evaluate(copies, some)
            values[..., first:last, :] = some
            if failed >= 0:
                return first + failed
        return -1

    def values(self, scores: Scores, name: str = "scores") -> Values:
        """Return the values of all queries, as `evaluate` writes them; raise InputError if a score is NaN."""
        values = np.empty((len(self.offsets) - 1, len(self.measures)))
        self.write(scores, values, name)
        return values

    def write(self, scores: Scores, values: Values, name: str) -> None:
        """Do the work of `evaluate`; raise InputError, which begins with the name, if a score is NaN."""
        failed = self.evaluate(scores, values)
        if failed >= 0:
            raise self.nan_error(self._list_of(scores, failed), failed, name)

    def means(self, candidates: Scores, name: Callable[[int], str] = lambda _: "scores") -> Values:
        """Return the means of each candidate over the queries; raise InputError if a score is NaN or there is no query.

        Parameters
        ----------
        candidates : float64[n_candidates, n_docs] or float32[n_candidates, n_docs]
            C-contiguous, aligned and in native byte order. If the lists share the scores, n_docs is that of one list.
            Or int64[n_candidates, 2, n_weighted], the counts of each candidate.
        name : callable
            Returns the name of the candidate with a given index for error messages.
        """
        if len(self.offsets) == 1:
            raise InputError("mean", "needs at least one query")
        averages = np.empty((len(candidates), len(self.measures)))
        if not self.in_kernel:
            values = np.empty((len(self.offsets) - 1, len(self.measures)))
            for i, candidate in enumerate(candidates):
                self.write(candidate, values, name(i))
                averages[i] = means(values, self.measures)
            return averages
        edges = np.linspace(0, len(candidates), 32 * self.threads + 1).astype(np.int64)
        failures = over_chunks(partial(self.engine.means, candidates, averages), edges, self.threads)
        failure = next(filter(None, failures), None)
        if failure is not None:
            candidate, query = failure
            raise self.nan_error(self._list_of(candidates[candidate], query), query, name(candidate))
        return averages

    def means_of_columns(self, features: npt.NDArray[Any], name: str) -> Values:
        """Return the means of each feature, float64[n_features, n_measures]; errors as for `means`.

        The last axis of `features` is that of the features; the others are those of the documents. `name` is the name
        of the array in error messages.
        """
        n_features, n_docs = features.shape[-1], int(self.offsets[-1])
        rows = features.reshape(n_docs, n_features)
        averages = np.empty((n_features, len(self.measures)))
        all_documents = ":, " * (features.ndim - 1)

        def evaluate(first: int, last: int) -> None:
            def place(i: int) -> str:
                feature, document = divmod(i, n_docs)
                return element(name, features.shape, document * n_features + first + feature)

            columns = as_scores(np.ascontiguousarray(rows[:, first:last].T), name, place)
            averages[first:last] = self.means(columns, lambda i: f"{name}[{all_documents}{first + i}]")

        # Copy only a few columns at a time, so that the copy fits in the processor's cache unless lists are very long.
        edges = np.append(np.arange(0, n_features, 8), n_features)
        over_chunks(evaluate, edges, self.threads)
        return averages

    def chance(self) -> Chance:
        """Return what a random order of each list earns, for a pass of chance."""
        out = np.empty((3, len(self.offsets) - 1, len(self.measures)))
        self.evaluate(np.empty(0), out)
        return Chance(*out)

    def engines(self, with_spread: Prepared | None) -> tuple[Engine, Engine | None, Engine | None, list[int], int]:
        """Return what compiled code calls: the engine of the values, and that of the spread, if wanted.

        If the tie rule seeks extremes that sorting by label does not find, also an engine of the spread of some
        measures, their columns, and which of its outputs they take.
        """
        if not (self.in_engines and (with_spread is None or with_spread.in_engines)):
            precision = self.wanted.bands[0] if self.wanted.bands else self.wanted.coarsening
            problem = f"with precision={precision}, Python computes a part of the values"
            raise InputError("Evaluator", f"cannot be called from compiled code: {problem}")
        some = (None, [], 0) if self.extremes is None else (
            self.extremes.engine, self.extremes.columns, self.extremes.output
        )  # fmt: skip
        return self.engine, None if with_spread is None else with_spread.engine, *some

    def nan_error(self, scores: Scores, query: int, name: str) -> InputError:
        """Return the error for a NaN in the scores of this query; it names the first document with a NaN."""
        missing = np.isnan(scores)
        if self.excluded is not None:
            missing[self.excluded.of(query)] = False
        if not missing.any():
            return InputError(name, f"a NaN of query {query} is now a number: the scores changed while they were read")
        return unexpected(name, "numbers", f"NaN for document {int(missing.argmax())} of query {query}")

    def _list_of(self, scores: Scores, query: int) -> Scores:
        """Return the scores of one list."""
        first, last = self.offsets[query : query + 2] if self.unshared is None else (0, len(scores))
        return scores[first:last]

    @property
    def in_kernel(self) -> bool:
        """True if the engine alone computes the values, without bands and without a search for extremes."""
        return self.in_engines and self.extremes is None

    @property
    def in_engines(self) -> bool:
        """True if the engine computes the values, or two engines if there is a search for extremes; without bands."""
        return not self._coarsens_first and not self.bands

    @property
    def _coarsens_first(self) -> bool:
        """True if scores have to be coarsened before the engine evaluates them."""
        return self.wanted.coarsening is not None and not self.engine.coarsens

    @cached_property
    def _chunks(self) -> Integers:
        return even_chunks(self.offsets, self.threads)

    def _coarse(self, scores: Scores) -> Scores:
        """Return the coarsened scores. Excluded documents do not influence the coarsening; their scores become 0."""
        if not self._coarsens_first:
            return scores
        if self.unshared is not None:
            return self._coarse_shared(scores)
        if self.excluded is None:
            return self._coarse_lists(scores, self.offsets)
        ranked = self.excluded.left(self.offsets)
        coarse = self._coarse_lists(scores[ranked], self.offsets - self.excluded.offsets)
        whole = np.zeros(len(scores), coarse.dtype)
        whole[ranked] = coarse
        return whole

    def _coarse_shared(self, scores: Scores) -> Scores:
        """Return the coarsened scores of one list, which all lists share. NaN stays NaN, because it may be excluded."""
        known = ~np.isnan(scores)
        if known.all():
            return self._coarse_lists(scores, np.array([0, len(scores)]))
        coarse = self._coarse_lists(scores[known], np.array([0, np.count_nonzero(known)]))
        whole = np.full(len(scores), np.nan, coarse.dtype)
        whole[known] = coarse
        return whole

    def _coarse_lists(self, scores: Scores, offsets: Offsets) -> Scores:
        """Return the coarsened scores; if a score is NaN, return all scores unchanged, so that the kernel finds it."""
        coarsening = self.wanted.coarsening
        return scores if coarsening is None or np.isnan(scores).any() else coarsened(coarsening, scores, offsets)

    def _evaluate_chunk(self, scores: Scores, values: Values, first: int, last: int) -> int:
        """Evaluate the queries first … last - 1."""
        if self.wanted.chance:
            self._evaluate_chance(values, first, last)
            return -1
        failed = _run(self.engine, self.wanted, self.bands, scores, values, first, last)
        if self.extremes is not None:
            self.extremes.evaluate(self.bands, scores, values, first, last)
        return failed

    def _evaluate_chance(self, values: Values, first: int, last: int) -> None:
        """Write the mean, standard deviation and best value of the queries first … last - 1 over all orders."""
        spread = np.empty((4, *values.shape[1:]))
        self.engine.spread(None, spread, first, last)
        mean, std, least, most = spread[:, first:last]
        values[0, first:last], values[1, first:last] = mean, std
        less_is_better = [measure.definition.less_is_better for measure in self.measures]
        values[2, first:last] = np.where(less_is_better, least, most)


def _run(
    engine: Engine, wanted: Pass, bands: tuple[Integers, ...], scores: Scores, values: Values, first: int, last: int
) -> int:
    """Run an engine on the queries first … last - 1."""
    if bands:
        return engine.sweep(scores, list(bands), wanted.rule.placement, wanted.spread, values, first, last)
    if wanted.spread:
        return engine.spread(scores, values, first, last)
    return engine.evaluate(scores, values, first, last)


class _Extremes(NamedTuple):
    """The measures for which sorting tied documents by label does not give the best or the worst order.

    The largest or the smallest value of such a measure is taken from its spread over all orders of tied documents.

    Parameters
    ----------
    engine : Engine
        An engine for these measures only, which computes the spread.
    wanted : Pass
        The pass of the engine.
    columns : list of int
        The columns of the values that belong to these measures.
    output : int
        The index of the output of the spread that is wanted: that of the minimum or of the maximum.
    """

    engine: Engine
    wanted: Pass
    columns: list[int]
    output: int

    def evaluate(self, bands: tuple[Integers, ...], scores: Scores, values: Values, first: int, last: int) -> None:
        """Write the values of these measures for the queries first … last - 1 into their columns of `values`."""
        n_divisions = max(1, len(bands))
        spread = np.empty((n_divisions, 4, values.shape[-2], len(self.columns)))
        if _run(self.engine, self.wanted, bands, scores, spread, first, last) == -1:
            outputs = values.reshape(n_divisions, *values.shape[-2:])
            outputs[:, first:last, self.columns] = spread[:, self.output, first:last]


def prepare(
    measures: Sequence[Measure],
    lists: JudgedLists,
    totals: Totals,
    wanted: Pass,
    *,
    order: Integers | None = None,
    undefined: float = 0.0,
    threads: int = 1,
) -> Prepared:
    """Prepare the evaluation of lists, so that only scores are needed to compute the values.

    Parameters
    ----------
    measures : sequence of Measure
    lists : JudgedLists
    totals : Totals
        The totals of each measure over the judged documents of the same queries.
    wanted : Pass
        How the scores are rounded and grouped, and which outputs are wanted.
    order : int64[n_docs], optional
        For a tie rule by document identifier: for each list, the positions of its documents, sorted in the order in
        which the rule puts tied documents. An array of a length other than n_docs applies to every list.
    undefined : float
        The value of a measure for queries whose total is 0.
    threads : int
        The largest number of threads of a call; the values do not depend on it.

    Raises
    ------
    InputError
        If a measure cannot take the labels or the precision.
    """
    measures = tuple(measures)
    return Prepared(
        _engine_of(measures, lists, totals, wanted, order, undefined),
        lists.offsets,
        measures,
        wanted,
        threads,
        tuple([each.starts(lists.longest) for each in wanted.bands]) if wanted.bands else (),
        None if wanted.rule.extreme is None else _extremes_of(measures, lists, totals, wanted, order, undefined),
        lists.excluded,
    )


def _extremes_of(
    measures: tuple[Measure, ...], lists: JudgedLists, totals: Totals, wanted: Pass, order: Integers | None,
    undefined: float,
) -> _Extremes | None:  # fmt: skip
    """Prepare the measures whose extreme is wanted and is not found by sorting by label; None if there are none."""
    columns = [i for i, measure in enumerate(measures) if measure.definition.own_extremes(measure)]
    if not columns:
        return None
    assert wanted.rule.extreme is not None
    over_all_orders = wanted._replace(rule=RULES["average"], spread=True)
    some = tuple(measures[i] for i in columns)
    engine = _engine_of(some, lists, totals.columns(columns), over_all_orders, order, undefined)
    return _Extremes(engine, over_all_orders, columns, Spread._fields.index(wanted.rule.extreme))


def _engine_of(
    measures: tuple[Measure, ...],
    lists: JudgedLists,
    totals: Totals,
    wanted: Pass,
    order: Integers | None,
    undefined: float,
) -> Engine:
    weights, labels = Weights.of(measures, lists.labels, wanted.spread, lists.grades)
    if weights.judged >= 0 and (wanted.needs_whole_list or (wanted.bands and wanted.sorts_by_label)):
        # The kernel can remove unjudged documents from tie groups, but it cannot undo their effect on the coarsened
        # scores of other documents.
        raise InputError(
            f"precision={wanted.bands[0] if wanted.bands else wanted.coarsening}",
            "cannot be used with judged_only, because it coarsens scores of judged and unjudged documents together; "
            "use a precision that rounds each score by itself, or bands with ties='average' and without a spread",
        )
    lengths = lists.lengths
    needs_judged = weights.judged >= 0 or totals.judged is not None
    judged_lengths = lists.judged_lengths if needs_judged else lengths
    return Engine(
        _prepared_lists(lists, labels, lengths, weights, wanted, order),
        weights.measures_for(measures, totals, lists.longest, wanted.spread),
        norms=weights.norms(measures, totals, lengths, judged_lengths),
        query_numbers=totals.query_numbers,
        lookup_starts=totals.lookup_starts,
        undefined=undefined,
        judged=weights.judged,
        judged_lengths=judged_lengths,
        coarsening=None if wanted.coarsening is None else _kernel_of(wanted.coarsening, wanted, lists),
        carries=weights.carries,
    )


def _kernel_of(coarsening: Coarsening, wanted: Pass, lists: JudgedLists) -> KernelCoarsening | None:
    """Return the coarsening with which the engine can do its work list by list; None if there is none."""
    if not isinstance(coarsening, NamedCoarsening):
        return None
    if wanted.needs_whole_list and lists.excluded is not None:
        return None
    kernel = coarsening.kernel()
    return None if kernel is None or lists.longest > kernel.longest else kernel


def _prepared_lists(
    lists: JudgedLists, labels: Labels, lengths: Integers, weights: Weights, wanted: Pass, order: Integers | None
) -> PreparedLists:
    ordering = wanted.ordering
    weighted = WeightedDocuments.of(lists, labels, weights, wanted, order)
    # With bands, documents below the cut-off matter too: they may be in the band that the cut-off divides.
    depth = NO_CUTOFF if wanted.bands else weights.depth
    choice, in_order = engine_choice.CHOICE, ordering.placement == IN_ORDER
    first_group = weights.first_group and ordering.averages and not wanted.bands
    return PreparedLists(
        as_contiguous(lists.offsets, _INT64),
        weighted,
        ExcludedDocuments.of(lists, ordering, order, weighted),
        placement=ordering.placement,
        order=None if order is None else as_contiguous(order, _INT64),
        depth=depth,
        first_group=first_group,
        spread=wanted.spread and not wanted.bands,
        counting_limit=choice.counting_limit,
        sorted_lists=None if first_group else choice.sorted_lists(lengths, weighted.offsets, depth, in_order),
    )


def unanswered(
    judgments: Judgments, measures: tuple[Measure, ...], views: Sequence[View], undefined: float = 0.0
) -> Values:
    """Return the value of every measure for every judged query, for a run that has no document for any query.

    `undefined` is the value of a measure for queries without a relevant judged document.

    Returns
    -------
    float64[n_outputs, n_queries, n_measures]
        The outputs of each view; see `View.outputs`.
    """
    n = judgments.n_queries
    offsets, nothing = np.zeros(n + 1, dtype=np.int64), np.zeros(0, dtype=np.int64)
    lists = JudgedLists(offsets, offsets, nothing, nothing.astype(np.int32), grades=judgments.grades)
    totals = Totals.of(measures, judgments)
    values = np.empty((sum(view.n_outputs for view in views), n, len(measures)))
    for each in passes(views):
        outputs = np.empty((len(each.outputs), n, len(measures)))
        prepare(measures, lists, totals, each, undefined=undefined).evaluate(np.zeros(0), outputs)
        values[list(each.outputs)] = outputs
    return values
