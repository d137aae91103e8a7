"""The effect of the order of tied documents on the verdicts of multiple comparison procedures."""

from __future__ import annotations

import numpy as np

from tieaware.checks.arrays import Integers, Values
from tieaware.checks.rounding import rounding_of, without_rounding
from tieaware.statistics.multiple_comparisons import levels
from tieaware.statistics.procedures import Procedure, Verdicts
from tieaware.statistics.randomised_tukey import critical_range, p_of_changes
from tieaware.statistics.studentized_range import critical_value
from tieaware.statistics.tukey import residuals_of
from tieaware.statistics.verdicts import Resolutions, ranges, resolve_t_tests


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
    depends on, and the values of the other runs, which Tukey's HSD depends on.

    Parameters
    ----------
    procedure : Procedure
    verdicts : Verdicts
        The verdicts of the procedure on `values`.
    values : float64[n_runs, n_queries]
        The averages over the orders.
    bounds : tuple of two float64[n_runs, n_queries]
        The least and the greatest of each value over the orders; all combinations are possible.
    first, second : int64[n_pairs]
        The runs of each pair, as rows of `values`.
    alpha : float
        The significance level of the corrected p values.
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
