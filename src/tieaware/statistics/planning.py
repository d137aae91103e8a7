"""How many topics an experiment needs: the power of tests, before the values are known."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import number, whole_number
from tieaware.checks.arrays import Values
from tieaware.checks.rounding import rounding_of, without_rounding
from tieaware.errors import InputError
from tieaware.runtime.extras import load
from tieaware.statistics.tukey import residuals_of, systems_by_topics
from tieaware.statistics.values import broadcast_shape, finite

# With fewer topics, the distribution of the test has so heavy tails that SciPy's functions are not accurate.
_FEWEST = 3
_MOST = 10**9
# Beyond this noncentrality, the power is 1 within rounding for every number of topics and level that is allowed.
_LARGEST = 1e14


class TopicVariance(NamedTuple):
    """Variances over topics, for `topics_needed`, `power` and `detectable_difference`.

    Attributes
    ----------
    differences : float
        The variance of the difference between two systems, averaged over all pairs: for a paired t-test.
    systems : float
        The variance of the values of one system, averaged over the systems: for the analysis of `n_systems`.
    """

    differences: float
    systems: float


def topic_variance(*values: npt.ArrayLike) -> TopicVariance:
    """Estimate variances over topics from earlier experiments, such as `result.values[:, :, 0]` of a `Results`.

    Several experiments are pooled: their sums of squares are added, and their degrees of freedom. This assumes that all
    have the measure and the kind of topics and systems that are planned, so that their true variances are the same.

    Errors as for `tukey_hsd`.

    Parameters
    ----------
    *values : float[n_systems, n_topics]
        The values of each experiment, at least one; at least two systems and two topics.

    Returns
    -------
    TopicVariance
        `differences` is twice the residual variance of `anova`. `systems` is the variance within systems of a one-way
        analysis of variance. Twice `systems` would be the variance of the differences if the values of two systems on
        a topic were independent; they rarely are, so it is larger than `differences`.

    References
    ----------
    Sakai, T. (2016). Topic set size design. Information Retrieval Journal 19(3).

    Examples
    --------
    >>> found = topic_variance([[0.5, 0.75, 0.25, 1.0], [0.5, 0.5, 0.0, 0.5], [0.25, 0.75, 0.0, 0.75]])
    >>> print(f"{found.differences:.4f} {found.systems:.4f}")
    0.0382 0.1024
    """
    if not values:
        raise InputError("values", "must have at least one experiment")
    of_systems, of_residuals, degrees, residual_degrees = 0.0, 0.0, 0, 0
    for each in values:
        matrix = systems_by_topics(each)
        residuals = residuals_of(matrix)
        centred = without_rounding(matrix - matrix[:, :1], rounding_of(matrix))
        of_systems += float(((centred - centred.mean(axis=1, keepdims=True)) ** 2).sum())
        degrees += len(matrix) * (matrix.shape[1] - 1)
        of_residuals += residuals.squares
        residual_degrees += residuals.degrees
    return TopicVariance(2.0 * of_residuals / residual_degrees, of_systems / degrees)


def power(
    n_topics: npt.ArrayLike,
    difference: npt.ArrayLike,
    variance: npt.ArrayLike,
    *,
    n_systems: int | None = None,
    alpha: float = 0.05,
) -> Values:
    """Return the probability that a test finds a true difference of means.

    The test is the two-sided paired t-test of two systems. With `n_systems`, it is the F test of a one-way analysis of
    variance, as in Sakai's topic set size design: `difference` is that between the best and the worst system, and the
    others are in the middle, which is the hardest case. Both assume that topics are drawn independently, and that the
    differences, or the values of each system, are normally distributed with the given variance.

    Parameters
    ----------
    n_topics : int[...]
        The number of topics, from 3 to 1,000,000,000.
    difference : float[...]
        The true difference of means, not 0, in the unit of the values.
    variance : float[...]
        The variance over topics, above 0: that of the differences between the two systems, or with `n_systems`, that of
        the values of a system. `topic_variance` estimates both.
    n_systems : int, optional
        The number of systems that are compared at once, at least 2; by default, one pair is compared.
    alpha : float
        The significance level of the test, from 1e-9 to 0.999. If several pairs are compared, choose the level after a
        correction, such as 0.05 / the number of pairs.

    Returns
    -------
    float64[...]
        The powers, `alpha` … 1, for the arguments broadcast against each other.

    Raises
    ------
    InputError
        If an argument is out of range, or the shapes do not broadcast.

    References
    ----------
    Cohen, J. (1988). Statistical power analysis for the behavioral sciences. Second edition. Sakai, T. (2016). Topic
    set size design. Information Retrieval Journal 19(3).

    Examples
    --------
    The standard deviation of the differences is 0.2:

    >>> power([25, 50, 100], 0.05, 0.04).round(3)
    array([0.225, 0.41 , 0.697])
    """
    topics = finite(n_topics, "n_topics")
    wrong = (topics != np.floor(topics)) | (topics < _FEWEST) | (topics > _MOST)
    if wrong.any():
        problem = f"must be whole numbers from {_FEWEST} to {_MOST:,}; found {topics[wrong][0]:g}"
        raise InputError("n_topics", problem)
    effects = _effects(difference, variance)
    broadcast_shape("n_topics, difference", topics, effects)
    return _design(n_systems, alpha)(topics, effects)


def topics_needed(
    difference: float,
    variance: float,
    *,
    n_systems: int | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
) -> int:
    """Return the least number of topics with which a test finds a true difference of means with the given probability.

    Parameters
    ----------
    difference, variance, n_systems, alpha
        As for `power`, which also states the assumptions.
    power : float
        The probability that the test finds the difference, above `alpha` and at most 0.999999.

    Returns
    -------
    int
        At least 3.

    Examples
    --------
    The standard deviation of the differences is 0.2, or that of the values of each of ten systems:

    >>> topics_needed(0.05, 0.04), topics_needed(0.1, 0.04)
    (128, 34)
    >>> topics_needed(0.1, 0.04, n_systems=10)
    127
    """
    needed = _target(power, alpha)
    difference = number("difference", difference, -1e150, 1e150)
    effect = _effects(difference, number("variance", variance, 0, 1e150))
    design = _design(n_systems, alpha)
    if design(_MOST, effect) < needed:
        raise InputError("difference", f"is too small to be found with {_MOST:,} topics")
    low, high = _FEWEST - 1, _FEWEST
    while design(high, effect) < needed:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if design(middle, effect) >= needed else (middle, high)
    return high


def detectable_difference(
    n_topics: int,
    variance: float,
    *,
    n_systems: int | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
) -> float:
    """Return the least true difference of means that a test finds with the given probability.

    Parameters
    ----------
    n_topics, variance, n_systems, alpha, power
        As for `topics_needed`, which finds the number for a difference.

    Returns
    -------
    float
        The difference, in the unit of the values, to ten digits.

    Examples
    --------
    >>> round(detectable_difference(50, 0.04), 4)
    0.0808
    """
    topics = whole_number("n_topics", n_topics, _FEWEST, _MOST)
    needed, design = _target(power, alpha), _design(n_systems, alpha)
    deviation = math.sqrt(number("variance", variance, 0, 1e150))
    if not deviation:
        raise InputError("variance", "must be above 0; found 0")
    low, high = 0.0, 1.0
    while design(topics, high**2) < needed:
        low, high = high, 2.0 * high
    while high - low > 1e-11 * high:
        middle = (low + high) / 2.0
        low, high = (low, middle) if design(topics, middle**2) >= needed else (middle, high)
    return high * deviation


def _design(n_systems: int | None, alpha: float) -> Callable[[Values | float, Values | float], Values]:
    """Return the power of an F test as a function of the number of topics and the squared effect size."""
    alpha = _level(alpha)
    m = 2 if n_systems is None else whole_number("n_systems", n_systems, 2, 10**6)
    # The square of a paired t is F with 1 and n - 1 degrees of freedom, whose noncentrality is n times the squared
    # effect. With m systems, the sum of the squared effects is least if only two are not in the middle: δ²/2.
    share = 1.0 if n_systems is None else 0.5
    stats = load("scipy.stats", "analysis")

    def of(topics: Values | float, effects: Values | float) -> Values:
        degrees = np.asarray(topics - 1.0) * (1 if n_systems is None else m)
        noncentrality = np.clip(topics * effects * share, 0.0, _LARGEST)
        found = np.asarray(stats.ncf.sf(stats.f.isf(alpha, m - 1, degrees), m - 1, degrees, noncentrality))
        # SciPy 1.17 returns a wrong value for a noncentrality of 0, to which a tiny effect rounds.
        return np.where(noncentrality > 0.0, np.clip(found, alpha, 1.0), alpha)

    return of


def _effects(difference: npt.ArrayLike, variance: npt.ArrayLike) -> Values:
    """Return the squared effect sizes, difference² / variance."""
    differences, variances = finite(difference, "difference"), finite(variance, "variance")
    if (differences == 0.0).any():
        raise InputError("difference", "must not be 0: no test finds a difference that does not exist")
    if (variances <= 0.0).any():
        raise InputError("variance", f"must be above 0; found {variances[variances <= 0.0].ravel()[0]:g}")
    broadcast_shape("difference, variance", differences, variances)
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray((differences / np.sqrt(variances)) ** 2)


def _level(alpha: float) -> float:
    return number("alpha", alpha, 1e-9, 0.999)


def _target(power: float, alpha: float) -> float:
    found = number("power", power, 0, 0.999999)
    if found <= _level(alpha):
        raise InputError("power", f"must be above alpha, {alpha:g}; found {found:g}")
    return found
