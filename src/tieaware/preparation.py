"""Everything about lists, judgments and measures that does not depend on the scores: computed once, ahead of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tieaware import _expected, _groups, _slots, ties
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

# The variance of ERR needs the square of so many numbers: 32 MB.
_MOST_SLOTS = 2001

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
        prepared = prepare(
            (dcg,), "optimistic", self.offsets, self.offsets, positions, self.labels, np.ones((n_queries, 1, 2))
        )
        values = np.empty((n_queries, 1))
        prepared.evaluate(self.labels.astype(np.float64), values, 0, n_queries)
        return values[:, 0]

    def totals(self, measures: Sequence[Measure]) -> Values:
        """What all judged documents are worth, 0 where a measure says nothing; and the second number of each query.

        float64[n_queries, n_measures, 2].
        """
        columns = {measure: self._total(measure) for measure in measures}
        return np.stack([columns[measure] for measure in measures], axis=1)

    def _total(self, measure: Measure) -> Values:
        definition = measure.definition
        total = definition.total(measure, self)
        second = definition.second(measure, self) if definition.second else np.zeros_like(total)
        return np.stack((total, second), axis=1)


@dataclass(frozen=True)
class Prepared:
    """Lists, measures, tie rule and precision, prepared: scores in, values out."""

    engine: _expected.Engine
    lists: Integers
    coarsening: Coarsening | None = None
    # The bands, where the kernel groups by them; other precisions change the scores.
    bands: list[Integers] | None = None
    # The columns of measures whose exact value may take too long, and is then infinite.
    polynomial: tuple[int, ...] = ()

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
        self._check(values, first, last)
        return failed

    def spread(self, scores: npt.NDArray[Any], values: Values, first: int, last: int) -> int:
        """Do the same for float64[4, n_queries, n_measures]: mean, standard deviation, minimum and maximum."""
        failed = self.engine.spread(scores, values, first, last)
        self._check(values, first, last)
        return failed

    def _check(self, values: Values, first: int, last: int) -> None:
        if self.polynomial and np.isinf(values[..., first:last, list(self.polynomial)]).any():
            raise InputError(
                "IPrec, IAP11: the tied groups of a query are too large for their exact expectation, which takes the "
                "square of their size; expected another tie rule"
            )


def prepare(
    measures: Sequence[Measure],
    rule: str,
    lists: Integers,
    judged_offsets: Integers,
    positions: Integers,
    labels: Labels,
    totals: Values,
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
    totals : float64[n_queries, n_measures, 2]
        As Judgments.totals gives them.
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
    prepared = _groups.Lists(
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
    kernels = [
        _kernel(measure, *column, square, longest, spread)
        for measure, column, square in zip(measures, columns, squares, strict=True)
    ]
    engine = _expected.Engine(
        prepared,
        kernels,
        _norms(measures, totals[..., 0], lists, labels, judged_offsets),
        np.ascontiguousarray(totals[..., 1]),
        undefined,
        judged,
        _work(measures, longest, spread),
    )
    polynomial = tuple(i for i, measure in enumerate(measures) if _is_interpolated(measure))
    return Prepared(engine, lists, coarsening, bands, polynomial)


def _kernel(
    measure: Measure, weight: int, n_weights: int, square: int, longest: int, spread: bool
) -> dict[str, Any]:
    """Return a measure as the kernels know it: the fields of the struct in ext/_measure.pxd."""
    definition = measure.definition
    table = definition.slots(measure, _depth(measure, longest)) if definition.slots else None
    return {
        "kernel": definition.kernel,
        "cutoff": -1 if measure.cutoff is None else measure.cutoff,
        "number": float(measure[definition.number]) if definition.number else 0.0,
        "weight": weight,
        "n_weights": n_weights,
        "table": table,
        "square": square,
        "squares": _slots.squares(table) if spread and table is not None and table.ndim == 2 else None,
        "judged_only": bool(measure.parameters.get("judged_only", False)),
        "less_is_better": definition.less_is_better,
    }


def _work(measures: Sequence[Measure], longest: int, spread: bool) -> int:
    """How many numbers the kernels need to work with: one for each slot of a group; for ERR's variance the square."""
    interpolated = longest + 2 if any(map(_is_interpolated, measures)) else 0
    slots = [
        min(longest, measure.cutoff or longest) + 1 for measure in measures if measure.definition.kernel == "cascade"
    ]
    deepest = max(slots, default=0)
    if spread and deepest > _MOST_SLOTS:
        raise InputError(
            f"ERR: the spread over lists of {longest} documents, expected a cut-off of at most {_MOST_SLOTS - 1}"
        )
    return max(deepest * deepest if spread else deepest, interpolated)


def _is_interpolated(measure: Measure) -> bool:
    return measure.definition.kernel in ("interpolated", "interpolated_11")


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
        key = (weight, *(measure.parameters.get(name) for name in ("rel", "dcg", "max_rel")))
        if key not in known:
            weights = np.atleast_2d(weight(measure, labels) * (labels >= 0))
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


def _norms(
    measures: Sequence[Measure], totals: Values, lists: Integers, labels: Labels, judged_offsets: Integers
) -> Values:
    retrieved = np.diff(lists).astype(np.float64)
    running = np.concatenate(([0.0], np.cumsum(labels >= 0)))
    judged = running[judged_offsets[1:]] - running[judged_offsets[:-1]]
    norms = np.empty(totals.shape)
    for i, measure in enumerate(measures):
        total = totals[:, i]
        of_list = judged if measure.parameters.get("judged_only", False) else retrieved
        norms[:, i] = np.where(total > 0.0, measure.definition.norm(measure, total, of_list), 0.0)
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
