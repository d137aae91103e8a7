"""Lists, judgments, measures and a way to group, prepared: all that does not depend on the scores, ahead of them.

The path is one: the weights of the judged documents, the lists with those that weigh anything (the keys), the kernels
of the measures, and of these the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Integers, Labels, Offsets, Scores, Values, as_contiguous, as_scores, check_no_nan
from tieaware.engine.means import means
from tieaware.engine.totals import Totals
from tieaware.engine.views import Pass
from tieaware.kernels import _engine, _groups, _labels, _slots, _sorting
from tieaware.lists.judgments import POOLED, Excluded, JudgedLists
from tieaware.measures import Measure
from tieaware.measures.definition import LEAST_INEXACT, check_exact
from tieaware.measures.formulas import HIGHEST_IN_LOOKUP, SMALL_DEPTH, by_total
from tieaware.runtime.threads import even_chunks, over_chunks
from tieaware.ties import RULES, TieRule, by_label

# Up to so many distinct scores of relevant documents, comparing every score with each of them is cheaper than finding
# it among them: measured, and much the same for lists of any length (docs/performance.md).
COUNTING_LIMIT = 110

# So few keys are always counted: their own order costs next to nothing (LANES in ext/engine/_groups.pyx).
_FEW_KEYS = 16

# Of many keys, no more than the cut-off are compared where it is at most this (FEW).
_SELECTED = 24

_NO_CUTOFF = 2**62

# To hand chunks to other threads takes longer than to evaluate so few documents.
_WORTH_THREADS = 8192


@dataclass(eq=False)
class Prepared:
    """Lists, measures, tie rule and precision, prepared: scores in, values out.

    Parameters
    ----------
    engine : Engine
    offsets : int64[n_queries + 1]
        Of the lists.
    measures : tuple of Measure
    wanted : Pass
        How the scores are grouped.
    threads : int
    bands : tuple of int64[n_bands]
        Where the bands start, one array each, if the kernel groups by them.
    extremes : _Extremes or None
        What gives some measures their best or worst values.
    excluded : Excluded or None
        The documents that are not ranked. A NaN among their scores is none.
    """

    engine: _engine.Engine
    offsets: Offsets
    measures: tuple[Measure, ...]
    wanted: Pass
    threads: int = 1
    bands: tuple[Integers, ...] = ()
    extremes: _Extremes | None = None
    excluded: Excluded | None = None

    def rows(self, first: int, last: int) -> Prepared:
        """Return the same for the lists first … last - 1, which share what is prepared."""
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
            Contiguous, aligned and native.
        values : float64[n_tables, n_queries, n_measures]
            The same. One table of values, or one for each of the bands; for a spread four, of mean, standard deviation,
            minimum and maximum. Of one table the first axis may be left out.
        """
        if self.threads == 1 or len(scores) < _WORTH_THREADS:
            return self._some(self._coarse(scores), values, 0, len(self.offsets) - 1)
        work = partial(self._some, self._coarse(scores), values)
        failures = over_chunks(work, self._chunks, self.threads)
        return next((query for query in failures if query >= 0), -1)

    def means(self, candidates: Scores) -> tuple[Values, tuple[int, int] | None]:
        """Return the means of each candidate over the queries, and (candidate, query) of the first NaN, if any.

        Parameters
        ----------
        candidates : float64[n_candidates, n_docs] or float32[n_candidates, n_docs]
            Contiguous, aligned and native.
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
        """Whether the engine alone gives the values: of scores as they are, by this order."""
        return self.wanted.coarsening is None and not self.bands and self.extremes is None

    @cached_property
    def _chunks(self) -> Integers:
        return even_chunks(self.offsets, self.threads)

    def _coarse(self, scores: Scores) -> Scores:
        """Return scores of the wanted precision; those of excluded documents, which it is not to see, are then 0."""
        if self.wanted.coarsening is None or self.excluded is None:
            return self._coarse_lists(scores, self.offsets)
        left = self.excluded.left(self.offsets)
        coarse = self._coarse_lists(scores[left], self.offsets - self.excluded.offsets)
        whole = np.zeros(len(scores), coarse.dtype)
        whole[left] = coarse
        return whole

    def _coarse_lists(self, scores: Scores, offsets: Offsets) -> Scores:
        """Return scores of the wanted precision; as they are where one is NaN, which the kernel is to find."""
        coarsening = self.wanted.coarsening
        if coarsening is None or np.isnan(scores).any():
            return scores
        # A coarsening may be the user's own.
        where = f"precision={coarsening}"
        coarse = as_scores(coarsening.coarsen(scores, offsets), where)
        if coarse.shape != scores.shape:
            raise unexpected(where, f"an array of shape {scores.shape} to come back", f"shape {coarse.shape}")
        check_no_nan(coarse, where)
        return coarse

    def _some(self, scores: Scores, values: Values, first: int, last: int) -> int:
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
    """The measures whose best or worst values other orders have than those by label."""

    engine: _engine.Engine
    columns: list[int]
    # Which of mean, standard deviation, minimum and maximum is wanted.
    table: int

    def evaluate(self, scores: Scores, values: Values, first: int, last: int) -> None:
        """Write their values of the queries first … last - 1."""
        spread = np.empty((4, values.shape[-2], len(self.columns)))
        if self.engine.spread(scores, spread, first, last) == -1:
            values[..., first:last, self.columns] = spread[self.table, first:last]


def prepare(
    measures: Sequence[Measure],
    lists: JudgedLists,
    totals: Totals,
    wanted: Pass,
    *,
    order: Integers | None = None,
    undefined: float = 0.0,
    threads: int = 1,
    counting_limit: int = COUNTING_LIMIT,
    sorting: bool | None = None,
) -> Prepared:
    """Prepare the kernels for lists of which the judged documents are known.

    Parameters
    ----------
    measures : sequence of Measure
    lists : JudgedLists
    totals : Totals
        Of the same queries and measures.
    wanted : Pass
        How the scores are grouped.
    order : int64[n_docs], optional
        The positions of each list in the rule's order of documents, for a rule that has one.
    undefined : float
        The value where the total is 0.
    threads : int
        How many threads evaluate; the values do not depend on it.
    counting_limit : int
        See COUNTING_LIMIT; the values do not depend on it.
    sorting : bool, optional
        Whether to sort every list, or none; by default those of which `sorting_pays` says so. The values do not depend
        on it.

    Raises
    ------
    InputError
        If a measure cannot take the labels or the precision.
    """
    measures = tuple(measures)
    choice = counting_limit, sorting
    engine = _engine_of(measures, lists, totals, wanted, order, undefined, choice)
    extremes = None
    if wanted.rule.extreme:
        columns = [i for i, measure in enumerate(measures) if measure.definition.own_extremes(measure)]
        if columns:
            over_all = wanted._replace(rule=RULES["average"], spread=True)
            some = tuple(measures[i] for i in columns)
            spread = _engine_of(some, lists, totals.columns(columns), over_all, None, undefined, choice)
            extremes = _Extremes(spread, columns, 3 if wanted.rule.extreme == "max" else 2)
    return Prepared(
        engine,
        lists.offsets,
        measures,
        wanted,
        threads,
        tuple(each.starts(lists.longest) for each in wanted.bands),
        extremes,
        lists.excluded,
    )


@lru_cache(maxsize=256)
def weigh_besides(measures: tuple[Measure, ...]) -> dict[str, bool]:
    """Which documents besides those with labels from 1 on weigh anything: those of label 0, those of the pool."""
    weights = _weights_to(measures, 0, False)
    zeros = bool(weights.table[:, -weights.first].any())
    return {"zeros": zeros, "pool": any(measure.definition.needs_pool(measure) for measure in measures)}


def _engine_of(
    measures: tuple[Measure, ...],
    lists: JudgedLists,
    totals: Totals,
    wanted: Pass,
    order: Integers | None,
    undefined: float,
    choice: tuple[int, bool | None],
) -> _engine.Engine:
    weights, labels = _Weights.of(measures, lists.labels, wanted.spread)
    if weights.judged >= 0 and wanted.needs_whole_list:
        # The kernel can take documents out of groups, but not out of what a score was made of.
        raise unexpected(
            f"precision={wanted.coarsening}",
            "one of single scores beside judged_only, or bands that are averaged over, without a spread",
            "one that looks at the whole list, which judged_only shortens",
        )
    lengths = lists.lengths
    judged_lengths = lists.judged_lengths if weights.judged >= 0 else lengths
    return _engine.Engine(
        _keyed_lists(lists, labels, weights, wanted, order, choice),
        _kernels(measures, totals, weights, lists.longest, wanted.spread),
        _norms(measures, weights.not_by_total, totals.totals, lengths, judged_lengths),
        totals.query_numbers,
        totals.table_starts,
        undefined,
        weights.judged,
        judged_lengths,
    )


class _Weights(NamedTuple):
    """What a document of each label is worth, to all measures together; and all else that they alone decide."""

    # float64[n_rows, n_labels], each row but once; and the label of the first column, as which lower ones count.
    table: Values
    first: int
    # For each measure what the kernels know of it: its first row and how many, for a spread the row of squares of the
    # first, and all that depends on the measure alone. The slot weights are those of lists that are not long.
    fields: list[dict[str, Any]]
    kernels: _engine.Measures
    # The row that weighs the documents with a label by 1, where a measure looks at these alone; else -1.
    judged: int
    # The most that a document weighs in any row.
    most: float
    # A rank below which no measure looks.
    deepest: int
    # The columns of the measures whose sums are not divided by the total.
    not_by_total: list[int]

    @classmethod
    def of(cls, measures: tuple[Measure, ...], labels: Labels, squared: bool) -> tuple[_Weights, Labels]:
        """Return the weights of all labels that there are, and those of the documents as the table has them."""
        highest = _labels.highest(labels)
        if highest <= HIGHEST_IN_LOOKUP:
            weights = _weights_to(measures, highest, squared)
        else:
            # The table is of the labels that occur, by their numbers.
            occurring, numbers = np.unique(labels, return_inverse=True)
            weights, labels = cls._of_table(measures, occurring, 0, squared), numbers.astype(np.int32)
        if weights.most * len(labels) >= LEAST_INEXACT:
            columns = np.maximum(labels - weights.first, 0)
            for fields, measure in zip(weights.fields, measures, strict=True):
                rows = slice(fields["weight"], fields["weight"] + fields["n_weights"])
                check_exact(measure, weights.table[rows, columns])
        return weights, labels

    @classmethod
    def _of_table(cls, measures: Sequence[Measure], labels: Labels, first: int, squared: bool) -> _Weights:
        """Weigh each of the labels, ascending, which are those of the columns."""
        rows: list[Values] = []
        known: dict[tuple[Any, ...], tuple[int, int]] = {}
        for measure in measures:
            weighting = measure.definition.weighting
            if weighting.key(measure) not in known:
                weights = weighting.weigh(measure, labels)
                known[weighting.key(measure)] = len(rows), len(weights)
                rows.extend(weights)
        most = max(float(row.max(initial=0.0)) for row in rows)
        judged = -1
        if any(measure.judged_only for measure in measures):
            judged = len(rows)
            rows.append((labels >= 0).astype(np.float64))
        squares = {row: row for row, _ in known.values()}
        if squared:
            for row in squares:
                square = rows[row] ** 2
                if not np.array_equal(square, rows[row]):
                    squares[row] = len(rows)
                    rows.append(square)
        fields = []
        for measure in measures:
            row, n_rows = known[measure.definition.weighting.key(measure)]
            fields.append(_fields(measure, row, n_rows, squares[row]))
        not_by_total = [i for i, measure in enumerate(measures) if measure.definition.norm is not by_total]
        table, kernels, deepest = np.stack(rows), _engine.Measures(fields), _deepest_cutoff(measures)
        return cls(table, first, fields, kernels, judged, most, deepest, not_by_total)


@lru_cache(maxsize=256)
def _weights_to(measures: tuple[Measure, ...], highest: int, squared: bool) -> _Weights:
    """Weigh all labels up to the highest that occurs."""
    return _Weights._of_table(measures, np.arange(POOLED, highest + 1, dtype=np.int32), POOLED, squared)


def _keyed_lists(
    lists: JudgedLists,
    labels: Labels,
    weights: _Weights,
    wanted: Pass,
    order: Integers | None,
    choice: tuple[int, bool | None],
) -> _groups.PreparedLists:
    """Return the lists with their keys, the documents that weigh anything, in the order that the rule wants."""
    key_offsets, positions, key_labels, key_weights = _labels.keys(
        lists.judged_offsets, lists.positions, labels, weights.first, weights.table
    )
    permutation, rank = wanted.rule.arrange(lists.offsets, key_offsets, positions, key_labels, order)
    if wanted.spread:
        permutation = by_label(key_offsets, key_labels)
    if permutation is not None:
        positions, key_weights = positions[permutation], np.ascontiguousarray(key_weights[:, permutation])
    # A document below a cut-off may be in the band across it.
    depth = _NO_CUTOFF if wanted.bands else weights.deepest
    counting_limit, sorting = choice
    return _groups.PreparedLists(
        wanted.rule.placement,
        depth,
        counting_limit,
        _sorted_lists(lists, key_offsets, depth, sorting),
        as_contiguous(lists.offsets, np.int64),
        key_offsets,
        positions,
        key_weights,
        rank,
        None if order is None else as_contiguous(order, np.int64),
        *_excluded_documents(lists, wanted.rule, order, key_offsets, rank),
    )


def _excluded_documents(
    lists: JudgedLists, rule: TieRule, order: Integers | None, key_offsets: Offsets, rank: Integers | None
) -> tuple[Integers | None, Integers | None, Integers | None]:
    """Return the excluded documents as the kernel takes them: offsets, positions, and how many come before each key.

    They are in the order that the rule wants, as the keys are, of which it has the rank.
    """
    excluded = lists.excluded
    if excluded is None:
        return None, None, None
    positions, unlabelled = excluded.positions, np.zeros(len(excluded.positions), dtype=np.int32)
    permutation, place = rule.arrange(lists.offsets, excluded.offsets, positions, unlabelled, order)
    before = None
    if rank is not None and place is not None:
        query = np.repeat(np.arange(len(key_offsets) - 1), np.diff(key_offsets))
        above = np.searchsorted(lists.offsets[excluded.query] + place, lists.offsets[query] + rank)
        before = as_contiguous(above - excluded.offsets[query], np.int64)
    if permutation is not None:
        positions = positions[permutation]
    return as_contiguous(excluded.offsets, np.int64), as_contiguous(positions, np.int64), before


def _sorted_lists(
    lists: JudgedLists, key_offsets: Integers, depth: int, sorting: bool | None
) -> npt.NDArray[np.bool_] | None:
    """Return which lists are sorted; None for none, as is often plain from the number of all keys."""
    if sorting is not None:
        return np.full(len(key_offsets) - 1, sorting)
    if key_offsets[-1] <= _FEW_KEYS:
        return None
    return sorting_pays(lists.lengths, key_offsets[1:] - key_offsets[:-1], depth)


def sorting_pays(lengths: Integers, n_keys: Integers, depth: int) -> npt.NDArray[np.bool_]:
    """Return which lists are cheaper to sort than to count their documents above and equal to each key.

    The costs are nanoseconds a document, and only their ratios matter: those of prepared engines with all but their
    own part in common, on an Intel Xeon with AVX-512, and with that turned off in NumPy, for lists of 24 to 16,000
    documents (benchmarks/bench_engines.py shows the crossing). Counting and merging are the same instructions on every
    processor with AVX2, and NumPy is asked to sort no more than 256 words at a time, which it does by a network of such
    instructions too, so that the ratios hold for other vendors.

    Parameters
    ----------
    lengths, n_keys : int64[n_queries]
        How many documents each list has, and how many of them weigh anything.
    depth : int
        A rank below which no measure looks.
    """
    if not len(n_keys) or n_keys.max() <= _FEW_KEYS:
        return np.zeros(len(n_keys), np.bool_)
    n = np.maximum(lengths, 1.0)
    if depth <= _SELECTED:
        # The highest keys are found first, one by one, and no other is compared, or walked to.
        compared = np.clip(n_keys, 1, max(depth, 1))
        ordering, walking = 9 * n_keys + 30 * compared, 0 * n_keys
    else:
        compared = np.maximum(n_keys, 1)
        ordering, walking = 120 + 16 * n_keys, 4 * n_keys
    counting = 0.25 + 0.065 * compared + ordering / n
    locating = 4.0 + 0.55 * np.log2(compared) + ordering / n
    # Networks have a power of two of wires.
    doublings = np.ceil(np.log2(n))
    network = 1.4 + 1.8 * 2**doublings / n if _sorting.WIDE else 5.2
    sorting = network + 2.2 * np.maximum(doublings - 8, 0) + (20 + walking) / n
    pays: npt.NDArray[np.bool_] = (n_keys > _FEW_KEYS) & (sorting < np.minimum(counting, locating))
    return pays


def _kernels(
    measures: Sequence[Measure], totals: Totals, weights: _Weights, longest: int, spread: bool
) -> _engine.Measures:
    """Return the measures as the kernels know them."""
    if longest <= SMALL_DEPTH and totals.has_no_table and not spread:
        return weights.kernels
    kernels = []
    for i, measure in enumerate(measures):
        definition = measure.definition
        table, squares = totals.tables[i], None
        if definition.slots:
            depth = longest if measure.cutoff is None else min(longest, measure.cutoff)
            table = definition.slots(measure, depth)
            if spread and table.ndim == 2:
                squares = _slots.squares(table[: depth + 1])
        kernels.append({**weights.fields[i], "table": table, "squares": squares})
    return _engine.Measures(kernels)


def _fields(measure: Measure, row: int, n_rows: int, square: int) -> dict[str, Any]:
    """Return the fields of the struct in ext/engine/_measure.pxd, for short lists; and what the kernel refuses."""
    definition = measure.definition
    return {
        "kernel": definition.kernel,
        "weight": row,
        "n_weights": n_rows,
        "square": square,
        "cutoff": -1 if measure.cutoff is None else measure.cutoff,
        "measure_number": float(measure[definition.measure_number]) if definition.measure_number else 0.0,
        "judged_only": measure.judged_only,
        "less_is_better": definition.less_is_better,
        "always_defined": definition.is_count,
        "geometric": definition.summary == "geometric",
        "limit": definition.limit and f"{measure}: {definition.limit}",
        "table": definition.slots(measure, SMALL_DEPTH) if definition.slots else None,
        "squares": None,
    }


def _norms(
    measures: Sequence[Measure], not_by_total: list[int], totals: Values, retrieved: Integers, judged: Integers
) -> Values:
    """Return what the sums are divided by: float64[n_queries, n_measures], 0 where the measure says nothing."""
    norms = totals.copy()
    for i in not_by_total:
        measure = measures[i]
        norms[:, i] = measure.definition.norm(measure, totals[:, i], judged if measure.judged_only else retrieved)
    _labels.clear_undefined(norms, totals)
    return norms


def _deepest_cutoff(measures: Sequence[Measure]) -> int:
    """Return a rank below which no measure looks: 2^62 where there is none.

    A document below a cut-off may be above it in a list that has no unjudged documents.
    """
    if any(measure.cutoff is None or measure.judged_only for measure in measures):
        return _NO_CUTOFF
    return max(measure.cutoff or 0 for measure in measures)
