"""The choice of a t: a number that one can type, inside an interval, at which the evaluator confirms the value.

Scores at t are rounded. They may tie where their lines only pass close to each other, or at a crossing at which the
mean does not change. So a value counts only if a t inside its interval has it, in each form in which scores are
computed.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Values
from tieaware.checks.rounding import ROUNDING
from tieaware.lines.crossings import Runs, Steps, best_first

# How many numbers are tried in all; in an interval, how many of the same length, and how many lengths: scores with d
# digits often meet at decimals with d digits.
_IN_ALL, _OF_LENGTH, _LENGTHS = 240, 4, 6
# How many numbers are tried in each interval of a line on which rounded scores may confuse documents.
_FEW_POINTS = 6


class Break(NamedTuple):
    """A t at which documents tie, and the mean there.

    Attributes
    ----------
    t, value : float
    """

    t: float
    value: float


class _Choice(NamedTuple):
    t: float
    value: float
    interval: tuple[float, float]


class Best(_Choice):
    """The best t of a line for a measure.

    Attributes
    ----------
    t : float
        A decimal in the middle half of the widest interval with the best value, as short as possible. Or an end of the
        line, if its value is higher than that of each interval: the scores of one of two systems may tie.
    value : float
        The mean of the measure at t. It has the same bits as the evaluator's mean of the scores at t.
    interval : tuple of float
        The ends of the interval, on which the value does not change. The ends do not belong to it. If t is an end of
        the line, both are t.
    at_break : Break or None
        The best t at which documents tie, if its value is still better, which is found out when this is first read. The
        interval is the sounder advice: the value at a break is lost if t, or a score, differs in the last digit.
    """

    _find: Callable[[Best], Break | None]

    @cached_property
    def at_break(self) -> Break | None:
        """The best t at which documents tie, if its value is better than that of the best interval."""
        return self._find(self)


class OwnBest(NamedTuple):
    """The best t of each query.

    Attributes
    ----------
    t : float64[n_queries]
        A t inside the widest interval with the query's best value.
    value : float64[n_queries]
        The query's best value.
    low, high : float64[n_queries]
        The ends of that interval.
    """

    t: Values
    value: Values
    low: Values
    high: Values


class CrossValidated(NamedTuple):
    """The value of a choice of t on queries that were not used to choose it.

    Attributes
    ----------
    t : float64[folds]
        The best t of all other folds, for each fold.
    values : float64[n_queries]
        The value of each query at the t that was chosen without it.
    mean : float
        The mean of `values`; undefined values (NaN) are left out.
    standard_error : float
        The standard error of the mean, over the queries.
    """

    t: Values
    values: Values
    mean: float
    standard_error: float


class Plateau(NamedTuple):
    """The values of t around the best one that a paired t-test does not separate from it.

    Attributes
    ----------
    low, high : float
        The ends of the interval around the best t.
    level : float
        The confidence level of the tests, which are not corrected for their number.
    """

    low: float
    high: float
    level: float


def points(low: float, high: float) -> Iterator[float]:
    """Yield decimals in the middle half of an interval: short ones first, of the same length the most central first.

    If the interval has no end, they are about as far from the other end as that is from 0.

    Examples
    --------
    >>> from itertools import islice
    >>> list(islice(points(0.619, 0.621), 3)), next(points(2.0, float("inf")))
    ([0.62, 0.6199, 0.6201], 4.0)
    """
    least, middle, most = _central(low, high)
    if least <= 0.0 <= most:
        yield 0.0
    power = min(math.floor(math.log10(max(abs(least), abs(most)) or 1.0)) + 1, 308)
    lengths = 0
    while lengths < _LENGTHS and power > -308 and abs(scaled := middle / 10.0**power) < 2.0**53:
        near = round(scaled)
        if abs(near - scaled) * 10.0**power <= middle - least or near == 0:
            around = sorted(range(near - _OF_LENGTH, near + _OF_LENGTH + 1), key=lambda n: abs(n - scaled))
            # A multiple of 10 has been yielded as a shorter number.
            decimals = (float(f"{n}e{power}") for n in around if n % 10)
            found = list(islice((t for t in decimals if least <= t <= most), _OF_LENGTH))
            yield from found
            lengths += bool(found)
        power -= 1
    yield middle


def _central(low: float, high: float) -> tuple[float, float, float]:
    """Return the ends and the middle of the middle half of an interval; of a part of it, if it has no end."""
    if math.isinf(low) and math.isinf(high):
        return -1.0, 0.0, 1.0
    if math.isinf(low):
        least, middle, most = _central(-high, -low)
        return -most, -middle, -least
    if math.isinf(high):
        length = min(max(1.0, abs(low)), 0.4 * (sys.float_info.max - low))
        return low + 0.5 * length, low + length, low + length + length
    return 0.75 * low + 0.25 * high, 0.5 * low + 0.5 * high, 0.25 * low + 0.75 * high


def attempts(found: Runs, sign: float) -> Iterator[tuple[int, float]]:
    """Yield intervals and numbers inside them, from the best intervals on."""
    low, high, _ = found
    best = best_first(found, sign, _IN_ALL).tolist()
    return islice(((i, t) for i in best for t in points(float(low[i]), float(high[i]))), _IN_ALL)


def agrees(values: Values, expected: Values) -> npt.NDArray[np.bool_]:
    """Return whether all forms of scores have the same values, and those of the line; NaN is like NaN.

    Parameters
    ----------
    values : float64[n_forms, n]
    expected : float64[n]

    Returns
    -------
    bool[n]
    """
    # The sums of the line and of the evaluator differ in the last bits.
    near = np.abs(values[0] - expected) <= ROUNDING * np.maximum(1.0, np.abs(expected))
    agreeing: npt.NDArray[np.bool_] = (values == values[0]).all(axis=0) & near | np.isnan(values[0])
    return agreeing


def exceeds(values: npt.ArrayLike, others: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Return whether values are higher than others by more than rounding."""
    higher: npt.NDArray[np.bool_] = np.subtract(values, others) > ROUNDING * np.maximum(1.0, np.abs(others))
    return higher


def choose(
    found: Sequence[Runs], sign: float, evaluated: Callable[[Values], Values], bounds: tuple[float, float]
) -> OwnBest:
    """Choose a t for each of several queries, or for a mean: inside the widest of the best intervals, or an end.

    If no value of a query is confirmed, because scores are rounded everywhere, the best one that was found is taken.

    Parameters
    ----------
    found : sequence of Runs
        The intervals of each query.
    sign : float
        -1.0 if less is better.
    evaluated : callable
        Takes a t for each query, and returns the values there: float64[n_forms, n_queries].
    bounds : (float, float)
        The ends of the line. A finite end is chosen if it is better than all intervals.
    """
    tried = [attempts(each, sign) for each in found]
    t = np.empty(len(found))
    best = np.full((4, len(found)), np.nan)
    best[1] = -sign * np.inf
    undecided = list(range(len(found)))
    while undecided:
        intervals = {}
        for query in undecided:
            if (attempt := next(tried[query], None)) is not None:
                intervals[query], t[query] = attempt
        # All queries are evaluated at a time, each at its own t.
        values = evaluated(t)
        undecided = []
        for query, i in intervals.items():
            low, high, means = (array[i] for array in found[query])
            is_confirmed = bool(agrees(values[:, query], means))
            if is_confirmed or not sign * best[1, query] >= sign * values[0, query]:
                best[:, query] = t[query], values[0, query], low, high
            if not is_confirmed:
                undecided.append(query)
    for end in filter(math.isfinite, bounds):
        at_end = evaluated(np.full(len(found), end))[0]
        better = exceeds(sign * at_end, sign * best[1])
        best[0, better] = best[2, better] = best[3, better] = end
        best[1, better] = at_end[better]
    return OwnBest(*best)


def attained(
    steps: Steps, bounds: tuple[float, float], evaluated: Callable[[float], Values]
) -> tuple[Steps, npt.NDArray[np.intp]]:
    """Return the steps whose means a t has, and the positions of their intervals among the given ones.

    If rounded scores may confuse documents, each interval is evaluated. If no t in it has its means, it gets those of a
    t at which all forms of scores agree; if they agree nowhere, it is left out.

    Parameters
    ----------
    steps : Steps
        The means in exact arithmetic.
    bounds : (float, float)
        The ends of the line.
    evaluated : callable
        Takes a t, and returns the means there: float64[n_forms, n_measures].
    """
    every = np.arange(len(steps.means))
    if steps.n_blurred == 0:
        return steps, every
    means, is_kept = steps.means.copy(), np.zeros(len(every), bool)
    for i, ends in enumerate(pairwise([bounds[0], *steps.breaks.tolist(), bounds[1]])):
        for t in islice(points(*ends), _FEW_POINTS):
            found = evaluated(t)
            if agrees(found, steps.means[i]).all():
                means[i], is_kept[i] = steps.means[i], True
                break
            if not is_kept[i] and agrees(found, found[0]).all():
                means[i], is_kept[i] = found[0], True
    kept = np.flatnonzero(is_kept) if is_kept.any() else every[:1]
    return steps._replace(means=means).only(kept), kept
