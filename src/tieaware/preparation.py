"""Everything about lists, judgments and measures that does not depend on the scores: computed once, ahead of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tieaware import _engine, _groups, _slots, ties
from tieaware.errors import InputError
from tieaware.measures import DEFINITIONS, Measure, Values, parse_measure
from tieaware.precision import Bands, Coarsening, Levels

Integers = npt.NDArray[np.int64]
Labels = npt.NDArray[np.int32]

# Up to so many distinct scores of relevant documents, comparing every score with each of them is the cheaper engine:
# measured, and much the same for lists of any length (docs/performance.md).
COUNTING_LIMIT = 48

# What scores are coarsened to; several bands are several averages.
Precision: TypeAlias = Coarsening | Sequence[Bands] | None

_NO_CUTOFF = 2**62

# Sums of gains below this are exact in float64, so that they do not depend on the order of adding.
_EXACT = 2.0**53


def parse_measures(measures: str | Measure | Sequence[str | Measure]) -> tuple[Measure, ...]:
    """Read one measure or several."""
    if isinstance(measures, str | Measure):
        measures = [measures]
    parsed = tuple(parse_measure(measure) for measure in measures)
    if not parsed:
        raise InputError("measures: found none, expected at least one, such as 'nDCG@10'")
    return parsed


@dataclass(frozen=True)
class Totals:
    """What all judged documents of each query are worth to each measure.

    Parameters
    ----------
    numbers : float64[n_queries, n_measures, 3]
        The total, 0 where the measure says nothing; another number that some kernels need of a query; and where its
        part of the measure's table begins.
    tables : sequence of (float64[n] or None)
        For each measure, what its kernel needs of all queries together.
    """

    numbers: Values
    tables: Sequence[Values | None]

    @classmethod
    def of(cls, columns: Sequence[tuple[Values, Values | None]]) -> Totals:
        """Join the totals of several measures, as Judgments.total gives them."""
        return cls(np.stack([numbers for numbers, _ in columns], axis=1), [table for _, table in columns])

    def rows(self, rows: Integers) -> Totals:
        """The totals of some queries; -1 is a query without judgments."""
        numbers = np.zeros((len(rows), *self.numbers.shape[1:]))
        numbers[rows >= 0] = self.numbers[rows[rows >= 0]]
        return Totals(numbers, self.tables)


class Judgments:
    """The labels of all judged documents, query by query, and what the measures' definitions ask about them.

    Parameters
    ----------
    labels : int32[n_judged]
        Negative labels count as unjudged.
    offsets : int64[n_queries + 1]
    """

    def __init__(self, labels: Labels, offsets: Integers) -> None:
        self.labels = labels
        self.offsets = offsets

    def count(self, least: int) -> Values:
        """How many documents have at least this label, by query."""
        running = np.concatenate(([0], np.cumsum(self.labels >= least)))
        return (running[self.offsets[1:]] - running[self.offsets[:-1]]).astype(np.float64)

    def ideal(self, measure: Measure) -> Values:
        """The discounted gain of the labels in descending order, by query: DCG with the labels as scores."""
        dcg = Measure(DEFINITIONS["DCG"], measure.cutoff, dcg=measure["dcg"])
        n_queries = len(self.offsets) - 1
        positions = np.arange(len(self.labels)) - np.repeat(self.offsets[:-1], np.diff(self.offsets))
        totals = Totals(np.ones((n_queries, 1, 3)), [None])
        prepared = prepare((dcg,), "optimistic", self.offsets, self.offsets, positions, self.labels, totals)
        values = np.empty((n_queries, 1))
        prepared.evaluate(self.labels.astype(np.float64), values, 0, n_queries)
        return values[:, 0]

    def cumulated(self, worth: Callable[[Labels], Values]) -> tuple[Values, Values]:
        """The sums of what each query's documents are worth, the best first; and where each query's sums begin.

        Documents that are worth -inf take no part.
        """
        gains = worth(self.labels)
        taken = gains > -np.inf
        query = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))[taken]
        starts = np.concatenate(([0], np.cumsum(taken)))[self.offsets]
        running = np.concatenate(([0.0], np.cumsum(gains[taken][np.lexsort((-gains[taken], query))])))
        return running[1:] - np.repeat(running[starts[:-1]], np.diff(starts)), starts[:-1].astype(np.float64)

    def total(self, measure: Measure) -> tuple[Values, Values | None]:
        """What all judged documents are worth to a measure, as one column of Totals."""
        definition = measure.definition
        total = definition.total(measure, self)
        table, starts = definition.ideal(measure, self) if definition.ideal else (None, np.zeros_like(total))
        second = definition.second(measure, self) if definition.second else np.zeros_like(total)
        return np.stack((total, second, starts), axis=1), table

    def totals(self, measures: Sequence[Measure]) -> Totals:
        """What all judged documents are worth to each measure."""
        columns = {measure: self.total(measure) for measure in measures}
        return Totals.of([columns[measure] for measure in measures])


class _Extremes(NamedTuple):
    """The measures whose best and worst values no order by label has, and which of the two are asked for."""

    engine: _engine.Engine
    columns: list[int]
    # Of mean, standard deviation, minimum and maximum.
    table: int

    def evaluate(self, scores: npt.NDArray[Any], values: Values, first: int, last: int) -> None:
        spread = np.empty((4, values.shape[-2], len(self.columns)))
        if self.engine.spread(scores, spread, first, last) == -1:
            values[..., first:last, self.columns] = spread[self.table, first:last]


@dataclass(frozen=True)
class Prepared:
    """Lists, measures, tie rule and precision, prepared: scores in, values out."""

    engine: _engine.Engine
    lists: Integers
    coarsening: Coarsening | None = None
    # The bands, where the kernel groups by them; other precisions change the scores.
    bands: list[Integers] | None = None
    # The columns of measures whose exact value may take too long and is then infinite; and what was expected then.
    refusals: Mapping[int, str] = field(default_factory=dict)
    extremes: _Extremes | None = None

    @cached_property
    def coarse(self) -> bool:
        """Whether scores are evaluated as anything but what they are."""
        return self.coarsening is not None or self.bands is not None

    def coarsen(self, scores: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return scores of the wanted precision; as they are where one is NaN, which the kernel is to find."""
        if self.coarsening is None or np.isnan(scores).any():
            return scores
        return self.coarsening.coarsen(scores, self.lists)

    def evaluate(self, scores: npt.NDArray[Any], values: Values, first: int, last: int) -> int:
        """Write the values of some queries; return the first query with a NaN, or -1. The scores are coarsened.

        values is float64[n_queries, n_measures], or has an axis before these, of one, or one for each of the bands.
        """
        if self.bands is None:
            failed = self.engine.evaluate(scores, values, first, last)
        else:
            failed = self.engine.sweep(scores, self.bands, values, first, last)
        if self.extremes is not None:
            self.extremes.evaluate(scores, values, first, last)
        if failed == -1:
            self._check(values, first, last)
        return failed

    @property
    def in_kernel(self) -> bool:
        """Whether the engine alone gives the values: of scores as they are, unchecked, by this order."""
        return not self.coarse and not self.refusals and self.extremes is None

    def spread(self, scores: npt.NDArray[Any], values: Values, first: int, last: int) -> int:
        """Do the same for float64[4, n_queries, n_measures]: mean, standard deviation, minimum and maximum."""
        failed = self.engine.spread(scores, values, first, last)
        if failed == -1:
            self._check(values, first, last)
        return failed

    def _check(self, values: Values, first: int, last: int) -> None:
        for column, message in self.refusals.items():
            if np.isinf(values[..., first:last, column]).any():
                raise InputError(message)


def prepare(
    measures: Sequence[Measure],
    rule: str,
    lists: Integers,
    judged_offsets: Integers,
    positions: Integers,
    labels: Labels,
    totals: Totals,
    *,
    order: Integers | None = None,
    undefined: float = 0.0,
    precision: Precision = None,
    spread: bool = False,
    counting_limit: int = COUNTING_LIMIT,
) -> Prepared:
    """Prepare the kernel for lists of which the judged documents are known.

    Parameters
    ----------
    measures : sequence of Measure
    rule : str
        The tie rule.
    lists : int64[n_queries + 1]
        The offsets of the lists.
    judged_offsets : int64[n_queries + 1]
    positions : int64[n_judged]
        The positions in its list of each judged document, ascending, query by query.
    labels : int32[n_judged]
    totals : Totals
        Of the same queries.
    order : int64[n_docs], optional
        For the rule "trec_eval": the positions of each list by document id, descending.
    undefined : float
        The value where the total is 0.
    precision : Coarsening or sequence of Bands, optional
        What the scores are coarsened to first. The average over bands groups ranks in the kernel, and needs no coarser
        scores, so that it can take several bands at once; any other rule over bands orders the documents of a band by
        their coarse scores.
    spread : bool
        Whether the spread over the orders is wanted, of the rule "average".
    counting_limit : int
        See COUNTING_LIMIT; the values do not depend on it.
    """
    placement = ties.placement(rule)
    extremes = _extremes(
        measures, rule, totals,
        partial(
            prepare, rule="average", lists=lists, judged_offsets=judged_offsets, positions=positions, labels=labels,
            undefined=undefined, spread=True, counting_limit=counting_limit,
        ),
    )  # fmt: skip
    coarsening = precision if isinstance(precision, Coarsening) else None
    banded: Sequence[Bands] = precision if isinstance(precision, Sequence) else ()
    if isinstance(coarsening, Bands) and rule == "average" and not spread:
        banded = (coarsening,)
        coarsening = None
    bands = None
    if banded:
        rule, placement = "run_order", ties.placement("run_order")
        bands = [each.starts(int(np.diff(lists).max(initial=0))) for each in banded]
    columns, weights, judged = _weigh(measures, labels)
    if judged >= 0 and isinstance(coarsening, Bands | Levels):
        # The kernel can take documents out of groups, but not out of what a score was made of.
        raise InputError(
            f"precision={coarsening}: looks at the whole list, which judged_only shortens first; only the average over "
            "bands can be computed, without a spread"
        )
    squares = [first for first, _ in columns]
    if spread:
        squares, weights = _square(squares, weights)
    is_key = weights.any(axis=0)
    query = np.repeat(np.arange(len(lists) - 1), np.diff(judged_offsets))[is_key]
    key_offsets = np.concatenate(([0], np.cumsum(is_key)))[judged_offsets]
    permutation, rank = ties.arrange(rule, lists, query, positions[is_key], labels[is_key], order)
    if spread:
        permutation = ties.by_label(query, labels[is_key])
    prepared = _groups.PreparedLists(
        placement,
        # A document below a cut-off may be in the band across it.
        _deepest_cutoff(measures) if bands is None else _NO_CUTOFF,
        counting_limit,
        _contiguous(lists),
        _contiguous(key_offsets),
        _contiguous(positions[is_key][permutation]),
        np.ascontiguousarray(weights[:, is_key][:, permutation]),
        None if rank is None else _contiguous(rank),
        None if order is None else _contiguous(order),
    )
    longest = int(np.diff(lists).max(initial=0))
    lengths = np.diff(np.concatenate(([0], np.cumsum(labels >= 0)))[judged_offsets])
    kernels = [
        _kernel(measure, *column, square, table, longest, spread)
        for measure, column, square, table in zip(measures, columns, squares, totals.tables, strict=True)
    ]
    engine = _engine.Engine(
        prepared,
        kernels,
        _norms(measures, totals.numbers[..., 0], np.diff(lists), lengths),
        np.ascontiguousarray(totals.numbers[..., 1]),
        totals.numbers[..., 2].astype(np.int64),
        undefined,
        judged,
        lengths,
    )
    return Prepared(engine, lists, coarsening, bands, _refusals(measures, spread), extremes)


def _kernel(
    measure: Measure, weight: int, n_weights: int, square: int, table: Values | None, longest: int, spread: bool
) -> dict[str, Any]:
    """Return a measure as the kernels know it: the fields of the struct in ext/_measure.pxd."""
    definition = measure.definition
    if definition.slots:
        table = definition.slots(measure, _depth(measure, longest))
    return {
        "kernel": definition.kernel,
        "cutoff": -1 if measure.cutoff is None else measure.cutoff,
        "measure_number": float(measure[definition.number]) if definition.number else 0.0,
        "always_defined": definition.kernel == "constant",
        "weight": weight,
        "n_weights": n_weights,
        "table": table,
        "square": square,
        "squares": _slots.squares(table) if spread and table is not None and table.ndim == 2 else None,
        "judged_only": bool(measure.parameters.get("judged_only", False)),
        "less_is_better": definition.less_is_better,
        "geometric": definition.summary == "geometric",
    }


def _extremes(
    measures: Sequence[Measure], rule: str, totals: Totals, prepare_spread: Callable[..., Prepared]
) -> _Extremes | None:
    """Return what gives the measures their best or worst values of which these are not the orders by label."""
    if rule not in ("optimistic", "pessimistic"):
        return None
    columns = [
        i
        for i, measure in enumerate(measures)
        if measure.definition.kernel == "area_under_curve" and measure.cutoff is not None
    ]
    if not columns:
        return None
    of_columns = Totals(totals.numbers[:, columns], [totals.tables[i] for i in columns])
    prepared = prepare_spread([measures[i] for i in columns], totals=of_columns)
    return _Extremes(prepared.engine, columns, 3 if rule == "optimistic" else 2)


def _refusals(measures: Sequence[Measure], spread: bool) -> dict[int, str]:
    """What to say, by column, where the kernel of a measure refuses an exact value that would take too long."""
    polynomial = "expected smaller tied groups, or another tie rule, found some whose exact value takes too long"
    reasons = {"interpolated": polynomial, "interpolated_11": polynomial}
    if spread:
        reasons["cascade"] = (
            "expected tied groups of at most 2,000 documents within the cut-off for a spread, found a larger one"
        )
    return {
        i: f"{measure}: {reasons[measure.definition.kernel]}"
        for i, measure in enumerate(measures)
        if measure.definition.kernel in reasons
    }


def _weigh(measures: Sequence[Measure], labels: Labels) -> tuple[list[tuple[int, int]], Values, int]:
    """Return each measure's first row and number of rows among the distinct weightings, and the weightings.

    They are float64[n_weights, n_judged]. Where a measure looks at judged documents alone, the last row weighs these by
    1, and its number is returned as well; else -1.
    """
    rows: list[Values] = []
    known: dict[tuple[Any, ...], tuple[int, int]] = {}
    columns = []
    for measure in measures:
        weight = measure.definition.weight
        parameters = ["rel", "dcg", "max_rel", *(["judged_only"] if measure.definition.of_pool else [])]
        key = (weight, *map(measure.parameters.get, parameters))
        if key not in known:
            weights = np.atleast_2d(weight(measure, labels))
            if (weights.sum(axis=1) >= _EXACT).any():
                raise InputError(f"{measure}: the gains add up to 2^53 or more, too much for exact sums")
            known[key] = len(rows), len(weights)
            rows.extend(weights)
        columns.append(known[key])
    if not any(measure.parameters.get("judged_only", False) for measure in measures):
        return columns, np.stack(rows), -1
    return columns, np.stack([*rows, (labels >= 0).astype(np.float64)]), len(rows)


def _square(columns: list[int], weights: Values) -> tuple[list[int], Values]:
    """Return the row of each measure's squared weights, and all weightings with these."""
    rows = list(weights)
    found: dict[int, int] = {}
    for column in columns:
        if column not in found:
            square = weights[column] ** 2
            found[column] = column if np.array_equal(square, weights[column]) else len(rows)
            if found[column] == len(rows):
                rows.append(square)
    return [found[column] for column in columns], np.stack(rows)


def _norms(measures: Sequence[Measure], totals: Values, retrieved: Integers, judged: Integers) -> Values:
    norms = np.empty(totals.shape)
    for i, measure in enumerate(measures):
        total = totals[:, i]
        lengths = judged if measure.parameters.get("judged_only", False) else retrieved
        norms[:, i] = np.where(total > 0.0, measure.definition.norm(measure, total, lengths.astype(np.float64)), 0.0)
    return norms


def _deepest_cutoff(measures: Sequence[Measure]) -> int:
    """A rank below which no measure looks: 2^62 where one has no cut-off."""
    return max(_NO_CUTOFF if measure.cutoff is None else measure.cutoff for measure in measures)


def _depth(measure: Measure, longest: int) -> int:
    """How deep the measure looks: rounded up, so that tables are shared between calls with similar lists."""
    depth = max(longest if measure.cutoff is None else min(longest, measure.cutoff), 1)
    step = min(1 << (depth - 1).bit_length(), 1 << 16)
    return -(-depth // step) * step


def _contiguous(integers: Integers) -> Integers:
    return np.require(integers, np.int64, ["C", "A"])
