"""The named points of precision–recall curves: break-even point and greatest F1."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from tieaware.checks.arrays import Integers, Values
from tieaware.checks.rounding import ROUNDING

# Returns the precision and the recall within the first k ranks, each float64[n_runs, n_queries, n_ranks].
PrecisionAndRecall: TypeAlias = Callable[[Integers], tuple[Values, Values]]


class NamedPoints(NamedTuple):
    """The named points of one run's average precision–recall curve.

    Attributes
    ----------
    break_even : float
        The value at which precision and recall are equal. For one query, this is R-precision.
    f1 : float
        The greatest harmonic mean of the precision and the recall within the first k ranks, over all k.
    rank : int
        The rank k of the greatest F1.
    precision, recall : float
        The point with the greatest F1.
    """

    break_even: float
    f1: float
    rank: int
    precision: float
    recall: float


def named_points(at_ranks: PrecisionAndRecall, ranks: Integers, values: tuple[Values, Values]) -> list[NamedPoints]:
    """Find the break-even point and the greatest F1 of each run's average curve, over all ranks.

    Parameters
    ----------
    at_ranks : callable
        Returns the precision and the recall at any ranks.
    ranks : int64[n_points]
        Some ranks, in ascending order, from 1 to the length of the longest list.
    values : tuple of two float64[n_runs, n_queries, n_points]
        The precision and the recall at these ranks.
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
    f1: Values = np.divide(2.0 * precision * recall, total, out=np.zeros(len(total)), where=total > 0.0)
    return f1


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
