"""Verdicts of the paired t-test on pairs of systems: how they change, and how ties affect them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import number
from tieaware.checks.arrays import Integers, Values, as_integers
from tieaware.checks.rounding import ROUNDING, rounding_of, without_rounding
from tieaware.errors import InputError
from tieaware.runtime.extras import load
from tieaware.statistics.paired_tests import PairedTest, paired_test
from tieaware.statistics.values import finite


class PairTests(NamedTuple):
    """The tests of pairs of systems; from `all_pairs`, in the order (0, 1), (0, 2) … (1, 2) ….

    Attributes
    ----------
    difference : float64[n_measures, n_pairs]
        The first system's mean minus the second system's mean; 0 if the means differ only by rounding.
    p : float64[n_measures, n_pairs]
        The p values of the two-sided paired t-test.
    """

    difference: Values
    p: Values

    def verdicts(self, alpha: float) -> Values:
        """Return the sign of each significant difference, and 0 for a difference that is not significant.

        Parameters
        ----------
        alpha : float
            The significance level.

        Returns
        -------
        float64, in the shape of ``p``
        """
        return np.where(self.p <= alpha, np.sign(self.difference), 0.0)


def all_pairs(values: npt.ArrayLike) -> PairTests:
    """Test the differences between all pairs of systems for each measure.

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
        raise InputError(
            "values",
            f"must have the axes systems, topics and measures, and at least two topics; the shape is {cube.shape}",
        )
    return pair_tests(cube, *np.triu_indices(len(cube), 1))


def pair_tests(values: Values, first: Integers, second: Integers) -> PairTests:
    """Test the differences between some pairs of systems for each measure.

    Parameters
    ----------
    values : float64[n_systems, n_topics, n_measures]
        Finite, with at least two topics.
    first, second : int64[n_pairs]
        The systems of each pair, along the first axis of `values`.
    """
    _, n_topics, n_measures = values.shape
    differences = np.empty((n_measures, len(first)))
    p = np.empty_like(differences)
    # Test the pairs in batches whose values fit into the cache.
    step = max(1, 2**20 // n_topics)
    for m in range(n_measures):
        of_measure = np.ascontiguousarray(values[:, :, m])
        for start in range(0, len(first), step):
            batch = slice(start, start + step)
            test = paired_test(of_measure[first[batch]], of_measure[second[batch]])
            differences[m, batch], p[m, batch] = test.difference, test.p
    return PairTests(differences, p)


#: The possible changes of the verdict on a pair. "agree": the same verdict. "appear": significant only after.
#: "vanish": significant only before. "flip": significant both times, with opposite signs. "signs": the differences have
#: opposite signs, significant or not.
CHANGES = ("agree", "appear", "vanish", "flip", "signs")


def shares_of_changes(before: PairTests, after: PairTests, alpha: float) -> Values:
    """Return how often the verdicts on pairs of systems change in each way.

    Parameters
    ----------
    before, after : PairTests
        Tests of the same pairs and measures with different values.
    alpha : float
        The significance level, between 0 and 1.

    Returns
    -------
    float64[5, n_measures]
        The share of each of `CHANGES`; NaN if there are no pairs.

    Raises
    ------
    InputError
        If alpha is not between 0 and 1, or the tests are not of the same pairs and measures.

    Examples
    --------
    >>> old = PairTests(np.array([[0.2, 0.1]]), np.array([[0.01, 0.5]]))
    >>> new = PairTests(np.array([[0.1, -0.1]]), np.array([[0.06, 0.5]]))
    >>> shares_of_changes(old, new, 0.05)[:, 0].tolist()
    [0.5, 0.0, 0.5, 0.0, 0.5]
    """
    alpha = number("alpha", alpha, 0, 1, ends=False)
    if before.p.shape != after.p.shape:
        raise InputError("after", f"must test the same pairs as before, {before.p.shape}; the shape is {after.p.shape}")
    if not before.p.shape[1]:
        return np.full((len(CHANGES), len(before.p)), np.nan)
    old, new = before.verdicts(alpha), after.verdicts(alpha)
    signs = before.difference * after.difference < 0
    kinds = (old == new, (old == 0) & (new != 0), (old != 0) & (new == 0), old * new < 0, signs)
    return np.stack([kind.mean(axis=1) for kind in kinds])


@dataclass(frozen=True)
class Resolutions:
    """The influence of the order of tied documents on each pair of runs; every field has one element for each pair.

    Attributes
    ----------
    lowest, highest : float64
        The smallest and the largest difference of means over all orders; some order attains each.
    sign_flips : bool
        Whether some order gives the difference another sign than it has on average over all orders.
    verdict_flips : int8
        1 if some order changes the verdict, 0 if none does, -1 if this is undecided.
    """

    lowest: Values
    highest: Values
    sign_flips: npt.NDArray[np.bool_]
    verdict_flips: npt.NDArray[np.int8]


def resolve_ties(
    test: PairedTest, least: npt.ArrayLike, greatest: npt.ArrayLike, first: Any, second: Any, alpha: float = 0.05
) -> Resolutions:
    """Bound the effect of the order of tied documents on paired t-tests between systems.

    Parameters
    ----------
    test : PairedTest
        The result of `paired_test` for all pairs, from the averages over the orders.
    least, greatest : float64[n_systems, n_topics]
        The least and the greatest value of each system on each topic, over the orders of tied documents. All
        combinations of these values are possible.
    first, second : int64[n_pairs]
        The systems of each pair, as rows of `least` and `greatest`.
    alpha : float
        The level of significance, between 0 and 1.

    Returns
    -------
    Resolutions

    Raises
    ------
    InputError
        If alpha is out of range, a value is not finite, or the shapes do not match.

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
        shapes = f"the shapes are {least.shape} and {greatest.shape}"
        raise InputError(
            "least, greatest", f"must both have a row for each system and a column for each topic; {shapes}"
        )
    if not test.p.shape == first.shape == second.shape:
        shapes = f"{test.p.shape}, {first.shape} and {second.shape}"
        raise InputError("test, first, second", f"must each have one element for each pair; the shapes are {shapes}")
    verdict = np.where(test.p <= alpha, np.sign(test.difference), 0.0)
    levels = np.full(len(first), alpha)
    return resolve_t_tests(test.difference, verdict, least, greatest, first, second, levels)


def ranges(difference: Values, least: Values, greatest: Values, first: Integers, second: Integers) -> Resolutions:
    """Return the ranges of the differences over all orders of tied documents, with no verdict that flips.

    Parameters as for `resolve_t_tests`.
    """
    lowest = (least[first] - greatest[second]).mean(axis=1)
    highest = (greatest[first] - least[second]).mean(axis=1)
    rounding = rounding_of(least, greatest)
    falls, rises = lowest < -rounding, highest > rounding
    sign_flips = np.where(difference > 0, falls, np.where(difference < 0, rises, falls | rises))
    return Resolutions(lowest, highest, sign_flips, np.zeros(len(first), dtype=np.int8))


def resolve_t_tests(
    difference: Values, verdict: Values, least: Values, greatest: Values, first: Integers, second: Integers,
    levels: Values,
) -> Resolutions:  # fmt: skip
    """Bound the effect of the order of tied documents on t-tests, each with a significance level of its own.

    Parameters
    ----------
    difference, verdict : float64[n_pairs]
        The difference of the averages over the orders; the sign of a significant difference, otherwise 0.
    least, greatest, first, second
        As in `resolve_ties`.
    levels : float64[n_pairs]
    """
    effect = ranges(difference, least, greatest, first, second)
    critical = _critical_cosine(least.shape[1], levels)
    rounding = float(rounding_of(least, greatest))
    # A verdict can only change if ties change some value.
    for i in np.flatnonzero(effect.highest - effect.lowest > rounding):
        a, b = first[i], second[i]
        corners = ((least[a], greatest[b]), (least[a], least[b]), (greatest[a], greatest[b]), (greatest[a], least[b]))
        ends = without_rounding(np.stack([x - y for x, y in corners]), rounding)
        if verdict[i]:
            effect.verdict_flips[i] = _can_lose(ends * verdict[i], critical[i], rounding)
        else:
            found = (_can_gain(ends * sign, critical[i]) for sign in (1, -1))
            effect.verdict_flips[i] = max(found, key=(0, -1, 1).index)
    return effect


def _critical_cosine(n: int, levels: Values) -> Values:
    """Return the cosine between the differences and (1, …, 1) above which the t-test is significant at each level."""
    t = np.asarray(load("scipy.stats", "analysis").t.ppf(1.0 - levels / 2.0, n - 1))
    cosines: Values = t / np.sqrt(n - 1 + t * t)
    return cosines


def _cosines(differences: Values) -> Values:
    """Return the cosine between each row and (1, …, 1), which grows with the row's t value; 0 for a row of zeros."""
    length = np.sqrt((differences**2).sum(axis=1) * differences.shape[1])
    cosines: Values = np.divide(differences.sum(axis=1), length, out=np.zeros(len(length)), where=length > 0.0)
    return cosines


def _can_lose(ends: Values, critical: float, rounding: float) -> int:
    """Return 1 if some order of tied documents removes a positive verdict, 0 if none does, -1 if undecided.

    `ends`, float64[4, n], has for each topic four attained values of the difference, among them the least and the
    largest. Let T be the sum of the differences d and Q the sum of their squares. If T is positive in the whole box of
    possible differences, the cosine T / √(n Q) is quasi-concave there, so it is least at a corner of the box. For any
    s > 0, √Q ≤ (Q/s + s)/2. With k = critical √n, T - k √Q is therefore at least Σ_i min(d - k d²/(2 s)) - k s/2, with
    the minimum over the two ends of topic i. If this bound is positive for some s, no corner removes the verdict.
    """
    low, high = ends.min(axis=0), ends.max(axis=0)
    if low.mean() <= rounding:
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
    return 0 if (bound > rounding * n).any() else -1


def _can_gain(ends: Values, critical: float) -> int:
    """Return 1 if some order of tied documents gives a positive verdict, 0 if none does, -1 if undecided.

    `ends` is as in `_can_lose`. The cosine is largest in the box where every difference is as close as possible to one
    level c: clip(c, low, high). Take c between two neighbouring ends of the topics' intervals, and let A and B be the
    sum and the sum of squares of those differences that are at an end of their interval. The cosine is then stationary
    at c = B/A.
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
    # The box may contain combinations that no order attains, so take for each topic the attained value nearest to c.
    nearest = np.abs(ends[:, None, :] - levels[:, None]).argmin(axis=0)
    occurring = np.take_along_axis(ends, nearest, axis=0)
    return 1 if (_cosines(occurring) > critical).any() else -1
