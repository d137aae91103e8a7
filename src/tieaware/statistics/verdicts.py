"""Verdicts of tests on pairs of systems: how they change, and how the order of tied documents affects them."""

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
from tieaware.statistics.multiple_comparisons import levels
from tieaware.statistics.paired_tests import PairedTest, paired_rows
from tieaware.statistics.procedures import Procedure, Verdicts
from tieaware.statistics.tukey import critical_range, critical_value, p_of_changes, residuals_of
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
        """Return the sign of each significant difference, and 0 for others, in the shape of ``p``.

        Parameters
        ----------
        alpha : float
            The significance level.

        Returns
        -------
        float64
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
    """Test the differences between some pairs of systems for each measure, over at least two topics."""
    _, n_topics, n_measures = values.shape
    differences = np.empty((n_measures, len(first)))
    p = np.empty_like(differences)
    # Test the pairs in batches whose values fit into the cache.
    step = max(1, 2**20 // n_topics)
    for m in range(n_measures):
        of_measure = finite(np.ascontiguousarray(values[:, :, m]), "values")
        for start in range(0, len(first), step):
            batch = slice(start, start + step)
            test = paired_rows(of_measure, first[batch], second[batch])
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
    if not before.p.shape[-1]:
        return np.full((len(CHANGES), *before.p.shape[:-1]), np.nan)
    old, new = before.verdicts(alpha), after.verdicts(alpha)
    signs = before.difference * after.difference < 0
    kinds = (old == new, (old == 0) & (new != 0), (old != 0) & (new == 0), old * new < 0, signs)
    return np.stack([kind.mean(axis=-1) for kind in kinds])


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
    >>> from tieaware.statistics import paired_test
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

    `difference` is that of the averages over the orders, and `verdict` the sign of a significant one, otherwise 0. The
    bounds are as in `resolve_ties`.
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


def _cosines(total: Values, squares: Values, n: int) -> Values:
    """Return the cosine between n differences and (1, …, 1), which grows with their t value; 0 if all are zeros.

    `total` is the sum of the differences, and `squares` that of their squares, for each set of differences.
    """
    length = np.sqrt(np.maximum(squares, 0.0) * n)
    cosines: Values = np.divide(total, length, out=np.zeros_like(length), where=length > 0.0)
    return cosines


def _cosine(differences: Values) -> float:
    """Return the cosine between the differences and (1, …, 1)."""
    total, squares = differences.sum(keepdims=True), (differences**2).sum(keepdims=True)
    return float(_cosines(total, squares, len(differences))[0])


def _switched(before: Values, after: Values) -> Values:
    """Return the sums of `before` in which the first 0, 1, … elements are replaced by those of `after`."""
    sums: Values = np.append(0.0, np.cumsum(after - before)) + before.sum()
    return sums


def _can_lose(ends: Values, critical: float, rounding: float) -> int:
    """Return 1 if some order of tied documents removes a positive verdict, 0 if none does, -1 if undecided.

    `ends`, float64[4, n], has for each topic four attained values of the difference, among them the least and the
    largest. Let T be the sum of the differences d and Q the sum of their squares. If T is positive in the whole box of
    possible differences, the cosine T / √(n Q) is quasi-concave there, so it is least at a corner of the box. For any
    s > 0, √Q ≤ (Q/s + s)/2. With k = critical √n, T - k √Q is therefore at least Σ_i min(d - k d²/(2 s)) - k s/2, with
    the minimum over the two ends of topic i. If this bound is positive for some s, no corner removes the verdict. The
    lower end has the minimum if the middle of the topic's interval is at most s/k, so all corners of such minima come
    from one order of the topics.
    """
    low, high = ends.min(axis=0), ends.max(axis=0)
    if low.mean() <= rounding:
        return 1
    n = len(low)
    k = critical * math.sqrt(n)
    order = np.argsort(low + high)
    low, high = low[order], high[order]
    middles = (low + high) / 2.0
    total, squares = _switched(high, low), _switched(high**2, low**2)
    least = _cosines(total, squares, n).argmin()
    # Running sums only choose: what they choose is summed again.
    if _cosine(np.append(low[:least], high[least:])) < critical:
        return 1
    scales = np.append(k * middles[middles > 0.0], math.sqrt((middles**2).sum()))
    n_low = np.searchsorted(middles, scales / k, side="right")
    best = (total[n_low] - k * (squares[n_low] / scales + scales) / 2.0).argmax()
    corner, scale = np.append(low[: n_low[best]], high[n_low[best] :]), scales[best]
    bound = corner.sum() - k * ((corner**2).sum() / scale + scale) / 2.0
    return 0 if bound > rounding * n else -1


def _can_gain(ends: Values, critical: float) -> int:
    """Return 1 if some order of tied documents gives a positive verdict, 0 if none does, -1 if undecided.

    `ends` is as in `_can_lose`. The cosine is largest in the box where every difference is as close as possible to one
    level c: clip(c, low, high). Take c between two neighbouring ends of the topics' intervals, and let A and B be the
    sum and the sum of squares of those differences that are at an end of their interval. The cosine is then stationary
    at c = B/A.
    """
    low, high = ends.min(axis=0), ends.max(axis=0)
    levels, lows, highs = np.unique(np.concatenate((low, high))), np.sort(low), np.sort(high)
    # Between two levels, as many topics have the upper end below as at the first, and the lower end above.
    n_high, n_above = (np.searchsorted(each, levels, side="right") for each in (highs, lows))
    zeros = np.zeros_like(low)
    total, squares = (
        _switched(zeros, highs**power)[n_high] + _switched(lows**power, zeros)[n_above] for power in (1, 2)
    )
    inner = np.divide(squares, total, out=levels.copy(), where=total > 0.0)
    candidates = np.stack((levels, np.clip(inner, levels, np.append(levels[1:], levels[-1]))))
    n_free = n_above - n_high
    cosines = _cosines(total + n_free * candidates, squares + n_free * candidates**2, len(low))
    level = candidates.flat[cosines.argmax()]
    if _cosine(np.clip(level, low, high)) < critical - ROUNDING:
        return 0
    # The box may contain combinations that no order attains, so each topic takes the attained value nearest to c: the
    # next one as soon as c has passed the middle between both.
    ends = np.sort(ends, axis=0)
    order = np.argsort((ends[:-1] + ends[1:]) / 2.0, axis=None, kind="stable")
    total, squares = (
        np.cumsum(np.append(each[0].sum(), np.diff(each, axis=0).ravel()[order])) for each in (ends, ends**2)
    )
    passed = np.zeros(order.size, dtype=np.intp)
    passed[order[: _cosines(total, squares, len(low)).argmax()]] = 1
    attained = np.take_along_axis(ends, passed.reshape(-1, len(low)).sum(axis=0)[None], axis=0)[0]
    return 1 if _cosine(attained) > critical else -1


def resolve(
    procedure: Procedure,
    verdicts: Verdicts,
    values: Values,
    bounds: tuple[Values, Values],
    first: Integers,
    second: Integers,
    alpha: float,
) -> Resolutions:
    """Find out which verdicts change with the order of the tied documents of the two runs of a pair.

    Everything else stays as it is on average over the orders: the p values of the other pairs, which the correction
    depends on, and the values of the other runs, which Tukey's HSD depends on. `verdicts` are those of the procedure on
    `values`, float64[n_runs, n_queries]. `bounds` are the least and the greatest of each value over the orders; all
    combinations are possible.
    """
    # Where ties change nothing, values must not differ by rounding: the sign test and Wilcoxon's see any difference.
    rounding = float(rounding_of(*bounds))
    fixed = bounds[1] - bounds[0] <= rounding
    least, greatest = (np.where(fixed, values, bound) for bound in bounds)
    difference, signs = verdicts.test.difference, verdicts.signs
    if procedure.test == "t" or (procedure.test == "tukey" and len(values) == 2):
        single = levels(verdicts.test.p, alpha, procedure.correction)
        return resolve_t_tests(difference, signs, least, greatest, first, second, single)
    effect = ranges(difference, least, greatest, first, second)
    some = np.flatnonzero(effect.highest - effect.lowest > rounding)
    if not some.size:
        return effect
    pairs = first[some], second[some]
    if procedure.test == "randomised-tukey" and len(values) > 2:
        effect.verdict_flips[some] = _of_randomised_tukey(signs[some], values, least, greatest, *pairs, alpha)
    elif procedure.test == "tukey":
        effect.verdict_flips[some] = _of_tukey(signs[some], values, least, greatest, *pairs, alpha)
    else:
        single = levels(verdicts.test.p, alpha, procedure.correction)[some]
        flips = _at_extremes(procedure, signs[some], least, greatest, *pairs, single)
        # The sign test and the permutation test, which the randomised Tukey HSD of two runs is too, are monotone: if no
        # query's difference falls, a run that is significantly better stays so. Wilcoxon's test is not, because
        # differences of 0 change the number of ranks.
        known = np.full(len(some), procedure.test != "wilcoxon")
        if procedure.test == "wilcoxon":
            # With few queries, every p value may be above the level.
            known = (2.0 ** (1 - values.shape[1]) > single) | _have_fixed_ranks(least, greatest, *pairs)
        effect.verdict_flips[some] = np.where(flips, 1, np.where(known, 0, -1))
    return effect


def _at_extremes(
    procedure: Procedure,
    signs: Values,
    least: Values,
    greatest: Values,
    first: Integers,
    second: Integers,
    single: Values,
) -> np.ndarray:
    """Return whether a verdict changes if all differences of a pair are the least possible, or the greatest."""
    ends, n = np.concatenate((least, greatest)), len(least)
    flips = np.zeros(len(signs), dtype=np.bool_)
    for a, b in ((first, second + n), (first + n, second)):
        test = procedure.tested(ends, a, b)
        flips |= procedure.signs(ends, a, b, test, test.p <= single) != signs
    return flips


def _have_fixed_ranks(least: Values, greatest: Values, first: Integers, second: Integers) -> np.ndarray:
    """Return for each pair whether all orders of ties give the differences the same signs, and their sizes one order.

    Wilcoxon's test is then the same for all orders.
    """
    rounding = float(rounding_of(least, greatest))
    low, high = least[first] - greatest[second], greatest[first] - least[second]
    is_fixed = ((low > rounding) | (high < -rounding) | (high - low <= rounding)).all(axis=1)
    small, large = np.minimum(np.abs(low), np.abs(high)), np.maximum(np.abs(low), np.abs(high))
    order = np.lexsort((large, small), axis=1)
    small, large = np.take_along_axis(small, order, axis=1), np.take_along_axis(large, order, axis=1)
    is_apart = small[:, 1:] - large[:, :-1] > rounding
    # Sizes that are equal under every order of the ties share their ranks.
    is_tie = np.maximum(large[:, :-1], large[:, 1:]) - small[:, :-1] <= rounding
    return np.asarray(is_fixed & (is_apart | is_tie).all(axis=1))


def _of_tukey(
    signs: Values, values: Values, least: Values, greatest: Values, first: Integers, second: Integers, alpha: float
) -> np.ndarray:
    """Return 1 where the verdict of Tukey's HSD changes at an extreme, 0 where no order changes it, otherwise -1."""
    residuals = residuals_of(values)
    critical = critical_value(alpha, residuals.n_systems, residuals.degrees)
    # The residuals are a projection of the values. Their length changes by no more than that of the values.
    furthest = (np.maximum(greatest - values, values - least) ** 2).sum(axis=1)
    rounding = rounding_of(least, greatest)
    flips = np.zeros(len(signs), dtype=np.int8)
    for i, (a, b, sign) in enumerate(zip(first, second, signs, strict=True)):
        ends = []
        for low, high in ((least, greatest), (greatest, least)):
            changed = values.copy()
            changed[a], changed[b] = low[a], high[b]
            difference = float(without_rounding((changed[a] - changed[b]).mean(), rounding))
            ends.append(difference)
            reach = critical * residuals_of(changed).error()
            if sign != (np.sign(difference) if abs(difference) > reach else 0.0):
                flips[i] = 1
        if not flips[i]:
            length, change = np.sqrt(residuals.squares), np.sqrt(furthest[a] + furthest[b])
            widest = critical * residuals.error((length + change) ** 2)
            narrowest = critical * residuals.error(max(length - change, 0.0) ** 2)
            is_certain = min(sign * end for end in ends) > widest if sign else max(map(abs, ends)) < narrowest
            flips[i] = 0 if is_certain else -1
    return flips


def _of_randomised_tukey(
    signs: Values, values: Values, least: Values, greatest: Values, first: Integers, second: Integers, alpha: float
) -> np.ndarray:
    """Return 1 where the verdict of the randomised Tukey HSD changes at an extreme, 0 where no order changes it, or -1.

    If the values of two runs change on each query, the range of the means of any permutation changes by no more than
    the sum of both mean changes. The critical range, an order statistic of these ranges, changes by no more than that
    either.
    """
    critical = critical_range(values, alpha)
    furthest = np.maximum(greatest - values, values - least).mean(axis=1)
    # The difference is least with the least values of the first run and the greatest of the second.
    ends, means = np.stack((least, greatest)), np.stack((least.mean(axis=1), greatest.mean(axis=1)))
    extremes = np.stack((means[0, first] - means[1, second], means[1, first] - means[0, second]))
    reach = furthest[first] + furthest[second] + rounding_of(least, greatest)
    is_certain = np.where(
        signs != 0.0,
        (signs * extremes).min(axis=0) > critical + reach,
        np.abs(extremes).max(axis=0) < critical - reach,
    )
    flips = np.where(is_certain, 0, -1).astype(np.int8)
    # The tests with changed values take long, so they are only done where they are likely to find a flip.
    likely = np.where(np.abs(extremes) > critical, np.sign(extremes), 0.0) != signs
    extreme, pair = np.nonzero(likely & ~is_certain)
    if pair.size:
        p = p_of_changes(values, ends, np.stack((first[pair], second[pair])), np.stack((extreme, 1 - extreme)))
        found = np.where(p <= alpha, np.sign(extremes[extreme, pair]), 0.0) != signs[pair]
        flips[pair[found]] = 1
    return flips
