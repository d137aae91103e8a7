"""Named points of precision–recall curves; points, areas and averages of ROC curves."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from tieaware.checks.arrays import Integers, Values
from tieaware.checks.rounding import ROUNDING
from tieaware.errors import InputError
from tieaware.output.tables import counted

# Returns the precision and the recall within the first k ranks, each float64[n_runs, n_queries, n_ranks].
PrecisionAndRecall: TypeAlias = Callable[[Integers], tuple[Values, Values]]


class NamedPoints(NamedTuple):
    """The break-even point and the point with the greatest F1 of one run's average precision–recall curve.

    At the break-even point, precision and recall are equal; for one query, this is R-precision. `rank` is the rank k
    whose first k documents have the greatest harmonic mean of precision and recall; these follow.
    """

    break_even: float
    f1: float
    rank: int
    precision: float
    recall: float


def named_points(at_ranks: PrecisionAndRecall, ranks: Integers, values: tuple[Values, Values]) -> list[NamedPoints]:
    """Find the break-even point and the greatest F1 of each run's average curve, over all ranks.

    `at_ranks` returns precision and recall at any ranks, and `values` has them at `ranks`, which ascend from 1 to the
    length of the longest list.
    """
    precision, recall = (each.mean(axis=1) for each in values)
    further = [_ranks_to_try(ranks, *of_run) for of_run in zip(precision, recall, strict=True)]
    others = np.unique(np.concatenate(further))
    if len(others):
        every = np.concatenate((ranks, others))
        order = np.argsort(every, kind="stable")
        more = (each.mean(axis=1) for each in at_ranks(others))
        both = zip((precision, recall), more, strict=True)
        precision, recall = (np.concatenate(each, axis=1)[:, order] for each in both)
        ranks = every[order]
    return [_of_run(ranks, *of_run) for of_run in zip(precision, recall, strict=True)]


def _ranks_to_try(ranks: Integers, precision: Values, recall: Values) -> Integers:
    """Return the ranks between the given ones that can be the break-even point or have the greatest F1."""
    # From rank a to rank b, recall is at most that at b, and precision at most the hits at b ÷ (a + 1).
    greatest = _f1(precision[1:] * ranks[1:] / (ranks[:-1] + 1), recall[1:])
    between = greatest > _f1(precision, recall).max(initial=0.0)
    crossing = _crossing(precision, recall)
    if 0 < crossing < len(ranks):
        between[crossing - 1] = True
    gaps = zip(ranks[:-1][between].tolist(), ranks[1:][between].tolist(), strict=True)
    return np.concatenate([np.arange(0), *(np.arange(a + 1, b) for a, b in gaps)]).astype(np.int64)


def _of_run(ranks: Integers, precision: Values, recall: Values) -> NamedPoints:
    f1 = _f1(precision, recall)
    # All numbers here are shares of at most 1, so the tolerance needs no scale.
    best = int(np.argmax(f1 >= f1.max() - ROUNDING))
    at = float(f1[best]), int(ranks[best]), float(precision[best]), float(recall[best])
    return NamedPoints(_break_even(precision, recall), *at)


def _f1(precision: Values, recall: Values) -> Values:
    """Return the harmonic means of precision and recall; 0 if both are 0."""
    total = precision + recall
    return np.divide(2.0 * precision * recall, total, out=np.zeros(len(total)), where=total > 0.0)


def _crossing(precision: Values, recall: Values) -> int:
    """Return the position of the first point with hits whose precision does not exceed its recall; else the number."""
    found = (precision <= recall + ROUNDING) & (recall > 0.0)
    return int(np.argmax(found)) if found.any() else len(found)


def _break_even(precision: Values, recall: Values) -> float:
    """Return the precision at which the curve crosses the diagonal, on a line between the two points beside it."""
    i = _crossing(precision, recall)
    if i == len(recall):
        # After the last rank, recall stays and precision falls.
        return float(recall[-1])
    excess = precision - recall
    if i == 0 or abs(excess[i]) <= ROUNDING:
        return float(precision[i])
    share = excess[i - 1] / (excess[i - 1] - excess[i])
    return float(precision[i - 1] + share * (precision[i] - precision[i - 1]))


# The most positions at which an average curve is computed.
_MOST_POSITIONS = 400


class RetrievedCounts(NamedTuple):
    """The numbers of retrieved documents, of relevant ones among them, and of all relevant ones, by run and query."""

    retrieved: Values
    found: Values
    relevant: Values

    def check(self, collection_size: int, runs: tuple[str, ...], queries: tuple[str | int, ...]) -> None:
        """Raise InputError if a collection of this size cannot hold all retrieved and all relevant documents."""
        least = self.retrieved + self.relevant - self.found
        r, q = np.unravel_index(int(np.argmax(least)), least.shape)
        if least[r, q] <= collection_size:
            return
        others = int(self.relevant[r, q] - self.found[r, q])
        more = f" and misses {counted(others, 'relevant one')}" if others else ""
        problem = f"{runs[r]} retrieves {counted(int(self.retrieved[r, q]), 'document')}{more} for query {queries[q]}"
        raise InputError("collection_size", f"{collection_size:,} is too small: {problem}")


def roc_points(
    counts: RetrievedCounts, ranks: Integers, precision: Values, recall: Values, collection_size: int | None
) -> tuple[Values, Values]:
    """Return the shares of nonrelevant and of relevant documents within the first k ranks, for each of `ranks`.

    The shares are of the retrieved documents, or with a collection size of all documents.
    """
    retrieved, found, relevant = (each[..., None] for each in counts)
    # At the end of a list, use the counts instead of products, which are rounded.
    complete = ranks >= retrieved
    above = np.where(complete, retrieved - found, np.minimum(ranks, retrieved) - precision * ranks)
    if collection_size is not None:
        return above / np.maximum(collection_size - relevant, 1.0), recall
    x = above / np.maximum(retrieved - found, 1.0)
    y = np.where(complete, found > 0.0, recall * (relevant / np.maximum(found, 1.0)))
    return x, y


def roc_areas(counts: RetrievedCounts, auc: Values, collection_size: int | None) -> Values:
    """Return the exact areas under ROC curves, over all ranks: float64[n_runs, n_queries].

    The measure AUC is the area without the documents that are not retrieved. With a collection size, all documents that
    are not retrieved follow the others, tied.
    """
    if collection_size is None:
        return auc
    retrieved, found, relevant = counts
    missed = relevant - found
    rest = collection_size - retrieved - missed
    pairs = relevant * (collection_size - relevant)
    led = found * (retrieved - found) * auc + found * rest + missed * rest / 2.0
    # The same conventions as those of the measure: 0 without relevant documents, 1 if all documents are relevant.
    return np.where(pairs > 0.0, led / np.maximum(pairs, 1.0), relevant > 0.0)


def from_corner_to_corner(x: Values, y: Values, area: float) -> tuple[Values, Values]:
    """Return a ROC curve from (0, 0) to (1, 1), given its points and the area under it."""
    x, y = np.append(0.0, x), np.append(0.0, y)
    if x[-1] == y[-1] == 1.0:
        return x, y
    # If there are no relevant documents, or no others, the shares are undefined. The area decides on the way.
    corner = {0.0: (1.0, 0.0), 1.0: (0.0, 1.0)}.get(area)
    ends = [corner, (1.0, 1.0)] if corner else [(1.0, 1.0)]
    return np.append(x, [end[0] for end in ends]), np.append(y, [end[1] for end in ends])


def average_of(curves: list[tuple[Values, Values]]) -> tuple[Values, Values]:
    """Return the vertical average of curves from (0, 0) to (1, 1): at each x, the mean of their y.

    A curve may rise vertically, so the average has two points for each x, unless they are the same.
    """
    if len(curves) == 1:
        return curves[0]
    positions = np.unique(np.concatenate([x for x, _ in curves]))
    if len(positions) > _MOST_POSITIONS:
        positions = positions[np.linspace(0, len(positions) - 1, _MOST_POSITIONS).round().astype(np.int64)]
    y = np.mean([_both_sides(positions, *curve) for curve in curves], axis=0).ravel()
    x = np.repeat(positions, 2)
    new = np.append(True, (x[1:] != x[:-1]) | (y[1:] != y[:-1]))
    return x[new], y[new]


def _both_sides(positions: Values, x: Values, y: Values) -> Values:
    """Return the y of a curve just before and just after each position: float64[n_positions, 2]."""
    last = len(x) - 1
    before, after = (np.searchsorted(x, positions, side) for side in ("left", "right"))
    first, end = np.maximum(before - 1, 0), np.minimum(after, last)
    return np.stack([_between(positions, x, y, first, before), _between(positions, x, y, after - 1, end)], axis=1)


def _between(positions: Values, x: Values, y: Values, a: Integers, b: Integers) -> Values:
    """Return the y of a curve at positions between its points a and b."""
    width = x[b] - x[a]
    share = np.divide(positions - x[a], width, out=np.ones(len(width)), where=width > 0.0)
    return y[a] + share * (y[b] - y[a])
