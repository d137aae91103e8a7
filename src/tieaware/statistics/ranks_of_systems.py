"""Simultaneous confidence intervals of the ranks of systems."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import checked_seed, number, whole_number
from tieaware.checks.arrays import Integers, Values
from tieaware.checks.rounding import ROUNDING, differences, without_rounding
from tieaware.errors import InputError
from tieaware.statistics.intervals import draws, whole_numbers
from tieaware.statistics.values import finite

# The most differences, of values or of resampled means, that are held at a time.
_CHUNK = 2**21


class RankIntervals(NamedTuple):
    """The ranks that each system may have; rank 1 is the largest mean.

    Attributes
    ----------
    low, high : int64[n_systems]
        The best and the worst rank of the interval.
    separated : bool[n_systems, n_systems]
        Whether the mean of the row's system is certainly larger than that of the column's.
    """

    low: Integers
    high: Integers
    separated: npt.NDArray[np.bool_]


def rank_intervals(
    values: npt.ArrayLike, *, level: float = 0.95, resamples: int = 10_000, seed: int = 0
) -> RankIntervals:
    """Return intervals that together contain the true ranks of all systems with the given probability.

    A system's best rank is one more than the number of systems that are certainly better; its worst rank leaves out
    those that are certainly worse. Systems are certainly different if their difference over the topics, divided by its
    standard error, is beyond the quantile of the largest of all such statistics in bootstrap resamples of the topics.
    Then the pairs that are certain are left out, and the quantile is computed again, until no further pair is certain.

    The topics are assumed to be drawn independently; nothing is assumed about the distribution of the values.

    Parameters
    ----------
    values : float[n_systems, n_topics]
        At least one system and two topics; larger is better.
    level : float
        The probability, between 0 and 1, that all intervals contain the true ranks.
    resamples, seed : int
        As for `mean_interval`.

    References
    ----------
    Mogstad, M., Romano, J. P., Shaikh, A. M. and Wilhelm, D. (2024). Inference for ranks with applications to mobility
    across neighbourhoods and academic achievement across countries. Review of Economic Studies 91(1).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = rank_intervals(rng.normal([[0.0], [0.1], [0.9]], 0.5, (3, 50)))
    >>> found.low, found.high
    (array([2, 2, 1]), array([3, 3, 1]))
    """
    matrix = finite(values, "values")
    level = number("level", level, 0, 1, ends=False)
    resamples, seed = whole_number("resamples", resamples, 100, 10**7), checked_seed(seed)
    if matrix.ndim != 2 or not len(matrix) or matrix.shape[1] < 2:
        raise InputError("values", f"must have a system and at least two topics; the shape is {matrix.shape}")
    if np.abs(matrix).max() > 1e150:
        raise InputError("values", f"must be numbers of at most 1e150, found {np.abs(matrix).max()}")
    separated = _separated(matrix, level, resamples, seed)
    return RankIntervals(1 + separated.sum(axis=0), len(matrix) - separated.sum(axis=1), separated)


def _separated(values: Values, level: float, resamples: int, seed: int) -> npt.NDArray[np.bool_]:
    """Return for each pair whether the first system is certainly better."""
    n_systems = len(values)
    first, second = np.triu_indices(n_systems, 1)
    separated = np.zeros((n_systems, n_systems), dtype=np.bool_)
    difference, error = _of_pairs(values, first, second)
    # Pairs whose difference is constant need no resamples.
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(difference == 0.0, 0.0, np.abs(difference) / error)
    is_certain = np.isinf(statistic)
    while True:
        left = np.flatnonzero(~is_certain & (error > 0.0))
        if not len(left):
            break
        largest = _largest(values, first[left], second[left], resamples, seed)
        critical = np.quantile(largest, level, method="higher")
        # The statistic of a resample can equal that of the values themselves, up to rounding.
        found = left[statistic[left] > critical * (1.0 + ROUNDING)]
        if not len(found):
            break
        is_certain[found] = True
    better = is_certain & (difference > 0.0)
    worse = is_certain & (difference < 0.0)
    separated[first[better], second[better]] = True
    separated[second[worse], first[worse]] = True
    return separated


def _of_pairs(values: Values, first: Integers, second: Integers) -> tuple[Values, Values]:
    """Return the mean differences of pairs, and their standard errors; a constant difference has no error."""
    n = values.shape[1]
    mean, error = np.empty(len(first)), np.empty(len(first))
    step = max(1, _CHUNK // n)
    for start in range(0, len(first), step):
        some = slice(start, start + step)
        each, rounding = differences(values[first[some]], values[second[some]])
        mean[some] = without_rounding(each.mean(axis=1), rounding)
        error[some] = without_rounding(each.std(axis=1, ddof=1), rounding) / np.sqrt(n)
    return mean, error


def _largest(values: Values, first: Integers, second: Integers, resamples: int, seed: int) -> Values:
    """Return the largest statistic of the pairs in each resample: the distance from the difference of the means."""
    n = values.shape[1]
    largest = np.zeros(resamples)
    at = 0
    for counts in draws(n, resamples, seed):
        here = slice(at, at + len(counts))
        step = max(1, _CHUNK // max(n, len(counts)))
        for start in range(0, len(first), step):
            some = slice(start, start + step)
            found = _largest_statistics(values[first[some]] - values[second[some]], counts)
            np.maximum(largest[here], found, out=largest[here])
        at += len(counts)
    return largest


def _largest_statistics(differences: Values, counts: Values) -> Values:
    """Return the largest of the t statistics of some pairs in each resample.

    `differences` is float64[n_pairs, n], and `counts`, float64[n_resamples, n], says how often each topic is in a
    resample.
    """
    n = counts.shape[1]
    deviations = differences - differences.mean(axis=1, keepdims=True)
    numbers, unit = whole_numbers(deviations)
    shifts = numbers @ counts.T
    shifts *= unit / n
    numbers, unit = whole_numbers(deviations**2)
    variances = numbers @ counts.T
    variances *= unit / n
    variances -= shifts**2
    # If all topics of a resample have the same difference, its variance is 0 up to rounding, and its t is not defined.
    some = variances > ROUNDING * (deviations**2).max(axis=1, keepdims=True)
    np.divide(shifts**2, variances, out=variances, where=some)
    variances[~some] = 0.0
    largest: Values = np.sqrt(variances.max(axis=0) * (n - 1))
    return largest
