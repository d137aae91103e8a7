"""Verdicts between systems, by the paired t-test: of all pairs, what changes them, and what ties can make of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import number, unexpected
from tieaware.checks.arrays import Values, as_integers
from tieaware.runtime.extras import load
from tieaware.statistics.paired_tests import PairedTest, paired_test
from tieaware.statistics.values import ROUNDING, finite


class PairTests(NamedTuple):
    """The tests of all pairs of systems, the earlier one against the later: 0 and 1, 0 and 2 …, 1 and 2 ….

    Attributes
    ----------
    difference : float64[n_measures, n_pairs]
        Of the means; 0 where it is rounding.
    p : float64[n_measures, n_pairs]
        Of the paired t-test, two-sided.
    """

    difference: Values
    p: Values

    def verdicts(self, alpha: float) -> Values:
        """Return the sign of each significant difference, and 0 of the others.

        Parameters
        ----------
        alpha : float
            The level of the tests.

        Returns
        -------
        float64, of the shape of ``p``
        """
        return np.where(self.p < alpha, np.sign(self.difference), 0.0)


def all_pairs(values: npt.ArrayLike) -> PairTests:
    """Test the differences of all pairs of systems, by each measure.

    Parameters
    ----------
    values : float64[n_systems, n_topics, n_measures]

    Returns
    -------
    PairTests

    Raises
    ------
    InputError
        If a value is not finite, there are not three axes, or there are fewer than two topics.

    Examples
    --------
    >>> pairs = all_pairs([[[0.5], [0.75], [0.25]], [[0.5], [0.5], [0.0]]])
    >>> pairs.difference.round(4), pairs.p.round(4)
    (array([[0.1667]]), array([[0.1835]]))
    """
    cube = finite(values, "values")
    if cube.ndim != 3 or cube.shape[1] < 2:
        raise unexpected("values", "systems × topics × measures, of at least two topics", f"shape {cube.shape}")
    n_systems, n_topics, n_measures = cube.shape
    first, second = np.triu_indices(n_systems, 1)
    differences = np.empty((n_measures, len(first)))
    p = np.empty_like(differences)
    # So many pairs at a time, that their values stay within the cache's reach.
    step = max(1, 2**20 // n_topics)
    for m in range(n_measures):
        of_measure = np.ascontiguousarray(cube[:, :, m])
        for start in range(0, len(first), step):
            some = slice(start, start + step)
            test = paired_test(of_measure[first[some]], of_measure[second[some]])
            differences[m, some], p[m, some] = test.difference, test.p
    differences[np.abs(differences) < ROUNDING] = 0.0
    return PairTests(differences, p)


#: What may become of a pair: the same verdict; a verdict only after; only before; another sign, both times significant;
#: and another sign of the difference, significant or not.
CHANGES = ("agree", "appear", "vanish", "flip", "signs")


def shares_of_changes(before: PairTests, after: PairTests, alpha: float) -> Values:
    """Count what became of the verdicts between all pairs of systems.

    Parameters
    ----------
    before, after : PairTests
        The same pairs by the same measures, tested with other values.
    alpha : float
        The level at which a difference is called significant.

    Returns
    -------
    float64[5, n_measures]
        The shares of `CHANGES`; NaN without a pair.

    Raises
    ------
    InputError
        If alpha is not between 0 and 1, or the two are not of the same pairs and measures.

    Examples
    --------
    >>> old = PairTests(np.array([[0.2, 0.1]]), np.array([[0.01, 0.5]]))
    >>> new = PairTests(np.array([[0.1, -0.1]]), np.array([[0.06, 0.5]]))
    >>> shares_of_changes(old, new, 0.05)[:, 0].tolist()
    [0.5, 0.0, 0.5, 0.0, 0.5]
    """
    alpha = number("alpha", alpha, 0, 1, ends=False)
    if before.p.shape != after.p.shape:
        raise unexpected("after", f"tests of the same pairs, {before.p.shape}", f"{after.p.shape}")
    if not before.p.shape[1]:
        return np.full((len(CHANGES), len(before.p)), np.nan)
    old, new = before.verdicts(alpha), after.verdicts(alpha)
    signs = before.difference * after.difference < 0
    kinds = (old == new, (old == 0) & (new != 0), (old != 0) & (new == 0), old * new < 0, signs)
    return np.stack([kind.mean(axis=1) for kind in kinds])


@dataclass(frozen=True)
class Resolutions:
    """What the orders of the tied documents make of each pair of runs; every field has one element a pair.

    Attributes
    ----------
    lowest, highest : float64
        The least and the largest difference of means; both occur.
    sign_flips : bool
        Whether an order gives the difference another sign than the average over ties has.
    verdict_flips : int8
        Whether an order changes the verdict: 1 if one was found that does, 0 if none can, -1 if that is open.
    """

    lowest: Values
    highest: Values
    sign_flips: npt.NDArray[np.bool_]
    verdict_flips: npt.NDArray[np.int8]


def resolve_ties(
    test: PairedTest, least: npt.ArrayLike, greatest: npt.ArrayLike, first: Any, second: Any, alpha: float = 0.05
) -> Resolutions:
    """Bound what the orders of tied documents can do to the paired t-tests between systems.

    Parameters
    ----------
    test : PairedTest
        Of all pairs of systems, by the average over the orders: `paired_test` of rows `first` and `second`.
    least, greatest : float64[n_systems, n_topics]
        The least and the greatest value of each system on each topic; both occur, whatever the others do.
    first, second : int64[n_pairs]
        The rows of each pair.
    alpha : float
        The level at which a difference is called significant, between 0 and 1.

    Returns
    -------
    Resolutions

    Raises
    ------
    InputError
        If alpha is out of range, a value is not finite, or the shapes do not fit.

    Examples
    --------
    >>> least, greatest = [[0.5, 0.5, 0.5], [0.0, 0.25, 0.0]], [[0.5, 1.0, 0.5], [0.0, 0.25, 1.0]]
    >>> averages = (np.array(least) + greatest) / 2.0
    >>> outcome = resolve_ties(paired_test(averages[:1], averages[1:]), least, greatest, [0], [1])
    >>> outcome.lowest.round(4), outcome.highest.round(4), outcome.sign_flips, outcome.verdict_flips
    (array([0.0833]), array([0.5833]), array([False]), array([1], dtype=int8))
    """
    alpha = number("alpha", alpha, 0, 1, ends=False)
    least, greatest = finite(least, "least"), finite(greatest, "greatest")
    first, second = as_integers(first, "first"), as_integers(second, "second")
    if least.ndim != 2 or least.shape != greatest.shape:
        raise unexpected("least, greatest", "systems × topics, twice", f"shapes {least.shape} and {greatest.shape}")
    if not test.p.shape == first.shape == second.shape:
        shapes = f"{test.p.shape}, {first.shape} and {second.shape}"
        raise unexpected("test, first, second", "one of each for a pair", f"shapes {shapes}")
    difference = np.where(np.abs(test.difference) < ROUNDING, 0.0, test.difference)
    lowest = (least[first] - greatest[second]).mean(axis=1)
    highest = (greatest[first] - least[second]).mean(axis=1)
    falls, rises = lowest < -ROUNDING, highest > ROUNDING
    sign_flips = np.where(difference > 0, falls, np.where(difference < 0, rises, falls | rises))
    flips = np.zeros(len(first), dtype=np.int8)
    verdict = np.where(test.p < alpha, np.sign(difference), 0.0)
    # Ties that change no value change no verdict.
    open_pairs = np.flatnonzero(highest - lowest > ROUNDING)
    critical = _critical_cosine(least.shape[1], alpha)
    for i in open_pairs:
        a, b = first[i], second[i]
        corners = ((least[a], greatest[b]), (least[a], least[b]), (greatest[a], greatest[b]), (greatest[a], least[b]))
        ends = np.stack([x - y for x, y in corners])
        if verdict[i]:
            flips[i] = _can_lose(ends * verdict[i], critical)
        else:
            flips[i] = max((_can_gain(ends * sign, critical) for sign in (1, -1)), key=(0, -1, 1).index)
    return Resolutions(lowest, highest, sign_flips, flips)


def _critical_cosine(n: int, alpha: float) -> float:
    """The t-test is significant where the cosine of the differences with (1, …, 1) exceeds this."""
    t = float(load("scipy.stats", "analysis").t.ppf(1.0 - alpha / 2.0, n - 1))
    return t / math.sqrt(n - 1 + t * t)


def _cosines(differences: Values) -> Values:
    """The cosine of each row with (1, …, 1), which grows with its t: 0 for the zero vector."""
    length = np.sqrt((differences**2).sum(axis=1) * differences.shape[1])
    cosines: Values = np.divide(differences.sum(axis=1), length, out=np.zeros(len(length)), where=length > 0.0)
    return cosines


def _can_lose(ends: Values, critical: float) -> int:
    """Whether a positive verdict can be lost: 1, 0, or -1 if that is open.

    ends: float64[4, n], values that each topic's difference takes, the least and the largest among them. Where all
    sums T are positive the cosine T / √(n Q), Q the sum of squares, is quasi-concave, so the least is at a corner of
    the box. For any s > 0, √Q ≤ (Q/s + s)/2, so T - k √Q, k = critical √n, is at least
    Σ_i min over the ends of (d - k d²/(2 s)) - k s/2: if that is positive for one s, no corner loses the verdict.
    """
    low, high = ends.min(axis=0), ends.max(axis=0)
    if low.sum() <= 0.0:
        return 1
    n = len(low)
    k = critical * math.sqrt(n)
    middles = np.unique((low + high) / 2.0)
    scales = np.append(k * middles[middles > 0.0], math.sqrt((((low + high) / 2.0) ** 2).sum()))
    of_low, of_high = (end - k * end**2 / (2.0 * scales[:, None]) for end in (low, high))
    corners = np.where(of_low <= of_high, low, high)
    if (_cosines(corners) < critical).any():
        return 1
    bound = np.minimum(of_low, of_high).sum(axis=1) - k * scales / 2.0
    return 0 if (bound > ROUNDING).any() else -1


def _can_gain(ends: Values, critical: float) -> int:
    """Whether a positive verdict can arise: 1, 0, or -1 if that is open.

    The cosine over the whole box is largest where every difference is as near to one level c as it can come: clip(c,
    low, high). Between two ends of intervals, where A and B are the sum and the sum of squares of those that are at an
    end, it is stationary at c = B/A.
    """
    low, high = ends.min(axis=0), ends.max(axis=0)
    levels = np.unique(np.concatenate((low, high)))
    middles = (levels[1:] + levels[:-1]) / 2.0
    at_end = np.clip(middles[:, None], low, high)
    fixed = (middles[:, None] <= low) | (middles[:, None] >= high)
    total, squares = (at_end * fixed).sum(axis=1), (at_end**2 * fixed).sum(axis=1)
    inner = np.divide(squares, total, out=middles.copy(), where=total > 0.0)
    levels = np.concatenate((levels, np.clip(inner, levels[:-1], levels[1:])))
    if _cosines(np.clip(levels[:, None], low, high)).max() < critical - ROUNDING:
        return 0
    # What does occur: for each topic the end that is nearest to the level.
    nearest = np.abs(ends[:, None, :] - levels[:, None]).argmin(axis=0)
    occurring = np.take_along_axis(ends, nearest, axis=0)
    return 1 if (_cosines(occurring) > critical).any() else -1
