"""Prepared evaluation of lists: everything that does not depend on the scores is computed ahead of them.

`prepare` weighs the labels (weights.py), selects the weighted documents (documents.py), chooses how to group each list
(engine_choice.py) and builds an engine (ext/engine/_engine.pyx). `Prepared` runs the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Integers, Labels, Offsets, Scores, Values, as_contiguous, as_scores, check_no_nan
from tieaware.engine import engine_choice
from tieaware.engine.documents import ExcludedDocuments, WeightedDocuments
from tieaware.engine.means import means
from tieaware.engine.spread import Spread
from tieaware.engine.totals import Totals
from tieaware.engine.views import Pass
from tieaware.engine.weights import NO_CUTOFF, Weights
from tieaware.errors import InputError
from tieaware.kernels._engine import Engine
from tieaware.kernels._groups import PreparedLists
from tieaware.lists.judgments import Excluded, JudgedLists
from tieaware.measures import Measure
from tieaware.runtime.threads import even_chunks, over_chunks
from tieaware.ties import RULES

# Handing chunks to other threads takes longer than evaluating this many documents.
_WORTH_THREADS = 8192


@dataclass(eq=False)
class Prepared:
    """Lists, measures, a tie rule and a precision, prepared to evaluate scores.

    Parameters
    ----------
    engine : Engine
    offsets : int64[n_queries + 1]
        Where each list starts, and the end of the last.
    measures : tuple of Measure
    wanted : Pass
        How the scores are grouped.
    threads : int
    bands : tuple of int64[n_bands]
        The first rank of each band, one array for each kind of bands, if the kernel groups ranks.
    extremes : _Extremes or None
        The measures whose best or worst order is not by label.
    excluded : Excluded or None
        The documents that have scores but are not ranked. Their scores may be NaN.
    """

    engine: Engine
    offsets: Offsets
    measures: tuple[Measure, ...]
    wanted: Pass
    threads: int = 1
    bands: tuple[Integers, ...] = ()
    extremes: _Extremes | None = None
    excluded: Excluded | None = None

    def rows(self, first: int, last: int) -> Prepared:
        """Return a view of the lists first … last - 1, which shares the prepared arrays."""
        return replace(
            self,
            engine=self.engine.rows(first, last),
            offsets=self.offsets[first : last + 1] - self.offsets[first],
            extremes=self.extremes and self.extremes._replace(engine=self.extremes.engine.rows(first, last)),
            excluded=self.excluded and self.excluded.rows(first, last),
        )

    def evaluate(self, scores: Scores, values: Values) -> int:
        """Write the values of all queries; return the first query with a NaN among its scores, or -1.

        Parameters
        ----------
        scores : float64[n_docs] or float32[n_docs]
            C-contiguous, aligned and in native byte order.
        values : float64[n_outputs, n_queries, n_measures]
            The same. There is one output; or one for each kind of bands; or, for a spread, four: mean, standard
            deviation, minimum and maximum. For one output, the first axis may be left out.
        """
        if self.threads == 1 or len(scores) < _WORTH_THREADS:
            return self._evaluate_chunk(self._coarse(scores), values, 0, len(self.offsets) - 1)
        work = partial(self._evaluate_chunk, self._coarse(scores), values)
        failures = over_chunks(work, self._chunks, self.threads)
        return next((query for query in failures if query >= 0), -1)

    def means(self, candidates: Scores) -> tuple[Values, tuple[int, int] | None]:
        """Return the means of each candidate over the queries, and (candidate, query) of the first NaN, if any.

        Parameters
        ----------
        candidates : float64[n_candidates, n_docs] or float32[n_candidates, n_docs]
            C-contiguous, aligned and in native byte order.
        """
        averages = np.empty((len(candidates), len(self.measures)))
        if not self.in_kernel:
            values = np.empty((len(self.offsets) - 1, len(self.measures)))
            for i, candidate in enumerate(candidates):
                failed = self.evaluate(candidate, values)
                if failed >= 0:
                    return averages, (i, failed)
                averages[i] = means(values, self.measures)
            return averages, None
        edges = np.linspace(0, len(candidates), 32 * self.threads + 1).astype(np.int64)
        failures = over_chunks(partial(self.engine.means, candidates, averages), edges, self.threads)
        return averages, next(filter(None, failures), None)

    @property
    def in_kernel(self) -> bool:
        """True if the engine alone gives the values: there is no coarsening, no bands, and no search for extremes."""
        return self.wanted.coarsening is None and not self.bands and self.extremes is None

    @cached_property
    def _chunks(self) -> Integers:
        return even_chunks(self.offsets, self.threads)

    def _coarse(self, scores: Scores) -> Scores:
        """Return the coarsened scores. The coarsening does not see excluded documents; their scores become 0."""
        if self.wanted.coarsening is None or self.excluded is None:
            return self._coarse_lists(scores, self.offsets)
        ranked = self.excluded.left(self.offsets)
        coarse = self._coarse_lists(scores[ranked], self.offsets - self.excluded.offsets)
        whole = np.zeros(len(scores), coarse.dtype)
        whole[ranked] = coarse
        return whole

    def _coarse_lists(self, scores: Scores, offsets: Offsets) -> Scores:
        """Return the coarsened scores; if a score is NaN, return all scores unchanged, so that the kernel finds it."""
        coarsening = self.wanted.coarsening
        if coarsening is None or np.isnan(scores).any():
            return scores
        # The coarsening may be the caller's own class.
        where = f"precision={coarsening}"
        coarse = as_scores(coarsening.coarsen(scores, offsets), where)
        if coarse.shape != scores.shape:
            raise unexpected(where, f"coarsened scores of shape {scores.shape}", f"shape {coarse.shape}")
        check_no_nan(coarse, where)
        return coarse

    def _evaluate_chunk(self, scores: Scores, values: Values, first: int, last: int) -> int:
        """Evaluate the queries first … last - 1."""
        if self.wanted.spread:
            failed = self.engine.spread(scores, values, first, last)
        elif self.bands:
            failed = self.engine.sweep(scores, list(self.bands), values, first, last)
        else:
            failed = self.engine.evaluate(scores, values, first, last)
        if self.extremes is not None:
            self.extremes.evaluate(scores, values, first, last)
        return failed


class _Extremes(NamedTuple):
    """The measures whose best or worst order of tied documents is not by label.

    Their smallest or largest value is taken from the spread over all orders.

    Parameters
    ----------
    engine : Engine
        The engine of these measures, for the spread.
    columns : list of int
        The columns of these measures among the values.
    output : int
        The output of the spread that holds the wanted extreme.
    """

    engine: Engine
    columns: list[int]
    output: int

    def evaluate(self, scores: Scores, values: Values, first: int, last: int) -> None:
        """Write the values of these measures for the queries first … last - 1."""
        spread = np.empty((4, values.shape[-2], len(self.columns)))
        if self.engine.spread(scores, spread, first, last) == -1:
            values[..., first:last, self.columns] = spread[self.output, first:last]


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
    """Prepare the evaluation of lists whose judged documents are known.

    Parameters
    ----------
    measures : sequence of Measure
    lists : JudgedLists
    totals : Totals
        The totals of the same queries and measures.
    wanted : Pass
        How the scores are grouped.
    order : int64[n_docs], optional
        The positions of each list in the order in which the rule puts tied documents, for a rule by document
        identifier. An order of another length applies to every list.
    undefined : float
        The value where the total is 0.
    threads : int
        How many threads evaluate; the values do not depend on it.

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
        tuple(each.starts(lists.longest) for each in wanted.bands),
        _extremes_of(measures, lists, totals, wanted, undefined),
        lists.excluded,
    )


def _extremes_of(
    measures: tuple[Measure, ...], lists: JudgedLists, totals: Totals, wanted: Pass, undefined: float
) -> _Extremes | None:
    """Prepare the measures whose extreme is wanted and not by label, or None if there are none."""
    if wanted.rule.extreme is None:
        return None
    columns = [i for i, measure in enumerate(measures) if measure.definition.own_extremes(measure)]
    if not columns:
        return None
    over_all_orders = wanted._replace(rule=RULES["average"], spread=True)
    some = tuple(measures[i] for i in columns)
    engine = _engine_of(some, lists, totals.columns(columns), over_all_orders, None, undefined)
    return _Extremes(engine, columns, Spread._fields.index(wanted.rule.extreme))


def _engine_of(
    measures: tuple[Measure, ...],
    lists: JudgedLists,
    totals: Totals,
    wanted: Pass,
    order: Integers | None,
    undefined: float,
) -> Engine:
    weights, labels = Weights.of(measures, lists.labels, wanted.spread)
    if weights.judged >= 0 and wanted.needs_whole_list:
        # The kernel can remove unjudged documents from groups, but not their effect on the coarsened scores.
        raise InputError(
            f"precision={wanted.coarsening}",
            "depends on the whole list, which judged_only shortens; with judged_only, use bands with averaged ties and "
            "without a spread, or a precision that rounds each score by itself",
        )
    lengths = lists.lengths
    judged_lengths = lists.judged_lengths if weights.judged >= 0 else lengths
    return Engine(
        _prepared_lists(lists, labels, lengths, weights, wanted, order),
        weights.measures_for(measures, totals, lists.longest, wanted.spread),
        norms=weights.norms(measures, totals.totals, lengths, judged_lengths),
        query_numbers=totals.query_numbers,
        lookup_starts=totals.lookup_starts,
        undefined=undefined,
        judged=weights.judged,
        judged_lengths=judged_lengths,
    )


def _prepared_lists(
    lists: JudgedLists, labels: Labels, lengths: Integers, weights: Weights, wanted: Pass, order: Integers | None
) -> PreparedLists:
    weighted = WeightedDocuments.of(lists, labels, weights, wanted, order)
    # A document below the cut-off may be in the band that the cut-off divides.
    depth = NO_CUTOFF if wanted.bands else weights.depth
    choice = engine_choice.CHOICE
    return PreparedLists(
        as_contiguous(lists.offsets, np.int64),
        weighted,
        ExcludedDocuments.of(lists, wanted.rule, order, weighted),
        placement=wanted.rule.placement,
        order=None if order is None else as_contiguous(order, np.int64),
        depth=depth,
        counting_limit=choice.counting_limit,
        sorted_lists=choice.sorted_lists(lengths, weighted.offsets, depth),
    )
