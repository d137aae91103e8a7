"""Confidence intervals of means over topics, and of ratios of two means; the bootstrap, the same everywhere."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import checked_seed, is_integer, number, one_of, shown, unexpected, whole_number
from tieaware.checks.arrays import Values
from tieaware.checks.rounding import ROUNDING, are_equal, rounding_of, without_rounding
from tieaware.errors import InputError
from tieaware.kernels import _resamples
from tieaware.runtime.extras import load
from tieaware.statistics.values import finite

# The most numbers that are drawn at a time, and the most that are kept for other samples; more are drawn anew.
_DRAWN, _KEPT = 2**21, 2**24
# The most sums that are held at a time, unless the draws are not kept.
_SUMS = 2**20


class WholeNumbers(NamedTuple):
    """Samples as whole multiples of a unit. The sum of n multiples is below 2^53, so sums in any order are exact.

    The unit of each sample is a power of two, at most 2^-52 n times its largest magnitude: float64[n_samples, 1].
    """

    numbers: Values
    unit: Values


def whole_numbers(samples: Values) -> WholeNumbers:
    """Return the samples, float64[n_samples, n], rounded to multiples of a unit.

    Matrix products add in an order that depends on the processor. If all sums are exact, their bits do not.
    """
    n = samples.shape[1]
    _, exponents = np.frexp(np.abs(samples).max(axis=1, keepdims=True))
    unit = np.ldexp(1.0, np.maximum(exponents + math.ceil(math.log2(n)) - 53, -1000))
    return WholeNumbers(np.rint(samples / unit), unit)


def resampled_sums(numbers: Values, resamples: int, seed: int) -> Iterator[tuple[slice, Values]]:
    """Yield some of the samples, and their sums in each resample: float64[n_some, resamples].

    The next sums overwrite these.

    All samples, float64[n_samples, n], are over the same n topics. Each resample draws n topics with replacement, the
    same in all samples. The draws are those of ``scipy.stats.bootstrap`` with this seed.
    """
    n = numbers.shape[1]
    kept = list(draws(n, resamples, seed)) if n * resamples <= _KEPT else None
    step = min(len(numbers), max(1, (_SUMS if kept else _KEPT) // resamples))
    sums = np.empty((step, resamples))
    for start in range(0, len(numbers), step):
        some = slice(start, min(start + step, len(numbers)))
        at = 0
        for counts in kept or draws(n, resamples, seed):
            np.matmul(numbers[some], counts.T, out=sums[: some.stop - start, at : at + len(counts)])
            at += len(counts)
        yield some, sums[: some.stop - start]


def draws(n: int, resamples: int, seed: int) -> Iterator[Values]:
    """Yield how often each of n topics is in a resample: float64[n_some, n], for some resamples at a time."""
    rng = np.random.default_rng(seed)
    step = max(1, _DRAWN // n)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        counts = np.zeros((size, n))
        _resamples.count_draws(rng.integers(0, n, (size, n)), counts)
        yield counts


IntervalMethod: TypeAlias = Literal["t", "percentile", "bca", "bootstrap-t"]


class Interval(NamedTuple):
    """Estimates and their confidence intervals; every field has the shape of the samples without the axis of topics.

    Attributes
    ----------
    estimate : float64[...]
        The mean of each sample, or the ratio of two means.
    low, high : float64[...]
        The ends of the interval.
    std_error : float64[...]
        The standard error of the estimate.
    """

    estimate: Values
    low: Values
    high: Values
    std_error: Values


class _Bootstrap(NamedTuple):
    """The choices of a bootstrap."""

    method: IntervalMethod
    level: float
    resamples: int
    seed: int


def mean_interval(
    values: npt.ArrayLike,
    method: IntervalMethod = "t",
    *,
    level: float = 0.95,
    axis: int = -1,
    resamples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """Return the confidence interval of the mean over topics, for many samples at once.

    The topics are assumed to be drawn independently from a population of topics; the interval is for the mean of that
    population. For the interval of a difference of two runs, pass the differences of their values.

    Parameters
    ----------
    values : float[..., n_topics]
        At least two topics. All samples have the same topics, so each resample draws the same ones for all.
    method : str
        "t": Student's t, exact if the values are normally distributed, and good for 30 topics or more if their
        distribution is not very skewed. "percentile": quantiles of the means of resamples; too short for few topics.
        "bca": bias-corrected and accelerated, better for skewed values. "bootstrap-t": quantiles of the t statistics of
        resamples; best for the mean of skewed values, and long for few topics.
    level : float
        The confidence level, between 0 and 1.
    axis : int
        The axis of the topics.
    resamples, seed : int
        The number of resamples, at least 100, and the seed of the draws, which are those of ``scipy.stats.bootstrap``.
        The same seed gives the same intervals on every machine.

    Returns
    -------
    Interval
        If all values of a sample are equal, both ends are their mean.

    Raises
    ------
    InputError
        If a value is not finite or exceeds 1e150, there are fewer than two topics, or an argument is out of range.
    MissingExtraError
        If SciPy is not installed.

    References
    ----------
    Student (1908). The probable error of a mean. Biometrika 6. Efron, B. (1987). Better bootstrap confidence intervals.
    Journal of the American Statistical Association 82. Efron, B. and Tibshirani, R. J. (1993). An introduction to the
    bootstrap. Chapman & Hall. Sakai, T. (2018). Laboratory experiments in information retrieval. Springer.

    Examples
    --------
    >>> for method in ("t", "percentile", "bca", "bootstrap-t"):
    ...     found = mean_interval([0.0, 0.25, 0.25, 0.5, 1.0], method)
    ...     print(f"{method:11} {found.estimate:.3f} {found.low:+.3f} … {found.high:.3f}")
    t           0.400 -0.071 … 0.871
    percentile  0.400 +0.150 … 0.700
    bca         0.400 +0.150 … 0.750
    bootstrap-t 0.400 +0.061 … 1.231
    """
    choices = _checked(method, level, resamples, seed)
    samples, shape = _samples(values, axis, "values")
    return Interval(*(field.reshape(shape) for field in _means(samples, choices)))


def ratio_interval(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    method: IntervalMethod = "t",
    *,
    level: float = 0.95,
    axis: int = -1,
    resamples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """Return the confidence interval of the ratio of two means over the same topics: mean of a ÷ mean of b.

    Parameters
    ----------
    a, b : float[..., n_topics]
        Of the same shape.
    method : str
        "t": Fieller's interval, exact if a and b are normally distributed; it is infinite if the mean of b is not
        significantly different from 0. "percentile" or "bca": as for `mean_interval`; no resample may have a mean of b
        of 0. There is no "bootstrap-t".
    level, axis, resamples, seed
        As for `mean_interval`.

    Raises
    ------
    InputError
        As for `mean_interval`; or if the shapes differ, or a mean of b is 0.

    References
    ----------
    Fieller, E. C. (1954). Some problems in interval estimation. Journal of the Royal Statistical Society B 16.

    Examples
    --------
    >>> found = ratio_interval([0.5, 0.75, 0.25, 1.0], [0.5, 0.5, 0.25, 0.75])
    >>> print(f"{found.estimate:.3f} {found.low:.3f} … {found.high:.3f}")
    1.250 0.556 … 1.579
    """
    choices = _checked(method, level, resamples, seed)
    if method == "bootstrap-t":
        raise InputError("method", "bootstrap-t is for means, not for ratios; write 'bca' or 't'")
    above, shape = _samples(a, axis, "a")
    below, other = _samples(b, axis, "b")
    if above.shape != below.shape or shape != other:
        raise InputError("a, b", f"must have the same shape; found {np.shape(a)} and {np.shape(b)}")
    if (np.abs(below.mean(axis=1)) <= rounding_of(below, axis=1)).any():
        raise InputError("b", "a mean is 0, so the ratio is not defined")
    return Interval(*(field.reshape(shape) for field in _ratios(above, below, choices)))


def _checked(method: object, level: object, resamples: object, seed: object) -> _Bootstrap:
    """Return the choices in plain types; raise InputError if one is not valid."""
    name: IntervalMethod = one_of("method", method, get_args(IntervalMethod))
    return _Bootstrap(
        name, number("level", level, 0, 1, ends=False), whole_number("resamples", resamples, 100, 10**7),
        checked_seed(seed),
    )  # fmt: skip


def _samples(values: npt.ArrayLike, axis: int, name: str) -> tuple[Values, tuple[int, ...]]:
    """Return samples as rows, and the shape of the results; raise InputError if they are not valid."""
    array = finite(values, name)
    if array.ndim == 0 or not is_integer(axis) or not -array.ndim <= axis < array.ndim:
        raise unexpected("axis", f"an axis of an array of shape {array.shape}", shown(axis))
    moved = np.moveaxis(array, axis, -1)
    if moved.shape[-1] < 2:
        raise InputError(name, f"must have at least two topics; the shape is {array.shape}")
    if moved.size and np.abs(moved).max() > 1e150:
        raise unexpected(name, "numbers of at most 1e150", f"{np.abs(moved).max()}")
    return np.ascontiguousarray(moved.reshape(-1, moved.shape[-1])), moved.shape[:-1]


def _means(samples: Values, choices: _Bootstrap) -> Interval:
    """Return the intervals of the means of samples, float64[n_samples, n]."""
    n = samples.shape[1]
    # Deviations from the mean have more digits than values; those of equal values are 0, without rounding errors.
    mean, rounding = samples.mean(axis=1), rounding_of(samples, axis=1)
    deviations = np.where(are_equal(samples, rounding)[:, None], 0.0, samples - mean[:, None])
    error = np.sqrt((deviations**2).sum(axis=1) / (n - 1) / n)
    if choices.method == "t":
        reach = load("scipy.stats", "analysis").t.ppf((1.0 + choices.level) / 2.0, n - 1) * error
        return Interval(mean, mean - reach, mean + reach, error)
    if choices.method == "bootstrap-t":
        return _studentized(mean, deviations, error, rounding, choices)
    exact = whole_numbers(deviations)
    ends = np.empty((2, len(samples)))
    for some, sums in resampled_sums(exact.numbers, choices.resamples, choices.seed):
        acceleration = _acceleration(deviations[some]) if choices.method == "bca" else None
        observed = exact.numbers[some].sum(axis=1)
        unit = exact.unit[some, 0] / n
        ends[:, some] = _quantiles(sums, observed, rounding[some] / unit, acceleration, choices.level) * unit
    return Interval(mean, mean + ends[0], mean + ends[1], error)


def _studentized(mean: Values, deviations: Values, error: Values, rounding: Values, choices: _Bootstrap) -> Interval:
    """Return bootstrap-t intervals of means, given the deviations from them, float64[n_samples, n]."""
    n = deviations.shape[1]
    outer = (1.0 - choices.level) / 2.0
    first, squares = whole_numbers(deviations), whole_numbers(deviations**2)
    ends = np.zeros((2, len(mean)))
    sums_of_squares = resampled_sums(squares.numbers, choices.resamples, choices.seed)
    for (some, sums), (_, others) in zip(
        resampled_sums(first.numbers, choices.resamples, choices.seed), sums_of_squares, strict=True
    ):
        shifts = without_rounding(sums * (first.unit[some] / n), rounding[some, None])
        variances = others * (squares.unit[some] / n) - shifts**2
        # If all topics of a resample have the same value, rounding may leave some variance.
        variances[variances < ROUNDING * (deviations[some] ** 2).max(axis=1, keepdims=True)] = 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(shifts == 0.0, 0.0, shifts / np.sqrt(variances / (n - 1)))
        quantiles = _both_quantiles(t, np.repeat([[outer], [1.0 - outer]], len(t), axis=1))[::-1]
        # If all values of a sample are equal, both ends are the mean.
        ends[:, some] = np.where(error[some] > 0.0, -quantiles * error[some], 0.0)
    return Interval(mean, mean + ends[0], mean + ends[1], error)


def _acceleration(influence: Values) -> Values:
    """Return the acceleration of BCa intervals from the influence of each topic, float64[n_samples, n]."""
    squares = (influence**2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(squares > 0.0, (influence**3).sum(axis=1) / (6.0 * squares**1.5), 0.0)


def _quantiles(
    resampled: Values, observed: Values, rounding: Values, acceleration: Values | None, level: float
) -> Values:
    """Return the two quantiles of resampled estimates that are the ends of percentile or BCa intervals.

    `resampled` is float64[n_samples, resamples]. `observed` are the estimates of the samples themselves, and `rounding`
    is the greatest size at which their differences are only rounding. `acceleration` is None for percentile intervals.
    """
    tails = np.array([[(1.0 - level) / 2.0], [(1.0 + level) / 2.0]])
    if acceleration is None:
        return _both_quantiles(resampled, np.repeat(tails, len(resampled), axis=1))
    special = load("scipy.special", "analysis")
    resamples = resampled.shape[1]
    # An estimate that equals the sample's own counts half.
    low, high = (observed - rounding)[:, None], (observed + rounding)[:, None]
    share = ((resampled < low).sum(axis=1) + (resampled <= high).sum(axis=1)) / (2.0 * resamples)
    # If all resamples are on one side, the share is half a resample.
    bias = special.ndtri(np.clip(share, 0.5 / resamples, 1.0 - 0.5 / resamples))
    z = bias + special.ndtri(tails)
    return _both_quantiles(resampled, special.ndtr(bias + z / (1.0 - acceleration * z)))


def _both_quantiles(samples: Values, shares: Values) -> Values:
    """Return two quantiles of each row, interpolated linearly; `shares` and the result are float64[2, n_samples]."""
    n = samples.shape[1]
    places = shares * (n - 1)
    below, found = places.astype(np.int64), np.empty((len(samples), 4))
    _resamples.neighbours(samples, np.ascontiguousarray(below.T), np.empty(2 * n), found)
    low, high = found[:, ::2].T, found[:, 1::2].T
    with np.errstate(invalid="ignore"):
        between = low + (places - below) * (high - low)
    # Between a number and an infinity lies the infinity.
    between = np.where(np.isinf(high), high, between)
    between = np.where(np.isinf(low), low, between)
    return np.where((places == below) | (low == high), low, between)


def _ratios(a: Values, b: Values, choices: _Bootstrap) -> Interval:
    """Return the intervals of the ratios of means of samples, float64[n_samples, n]."""
    n = a.shape[1]
    mean_a, mean_b = a.mean(axis=1), b.mean(axis=1)
    ratio = mean_a / mean_b
    influence = (a - ratio[:, None] * b) / mean_b[:, None]
    error = np.sqrt((influence**2).sum(axis=1) / (n - 1) / n)
    if choices.method == "t":
        t = float(load("scipy.stats", "analysis").t.ppf((1.0 + choices.level) / 2.0, n - 1))
        # Products of four values could overflow or underflow, unless the largest value is about 1.
        _, exponents = np.frexp(np.maximum(np.abs(a), np.abs(b)).max(axis=1, keepdims=True))
        return Interval(ratio, *_fieller(np.ldexp(a, -exponents), np.ldexp(b, -exponents), t * t / n / (n - 1)), error)
    above, below = whole_numbers(a), whole_numbers(b)
    of_a, of_b = rounding_of(a, axis=1), rounding_of(b, axis=1)
    rounding = (of_a + np.abs(ratio) * of_b) / np.abs(mean_b)
    ends = np.empty((2, len(a)))
    sums_of_b = resampled_sums(below.numbers, choices.resamples, choices.seed)
    for (some, sums), (_, others) in zip(
        resampled_sums(above.numbers, choices.resamples, choices.seed), sums_of_b, strict=True
    ):
        if (np.abs(others) * (below.unit[some] / n) <= of_b[some, None]).any():
            raise InputError("b", "the mean of a resample is 0, so its ratio is not defined; write method='t'")
        quotients = sums * above.unit[some] / (others * below.unit[some])
        acceleration = _acceleration(_jackknife(a[some], b[some])) if choices.method == "bca" else None
        observed = above.numbers[some].sum(axis=1) * above.unit[some, 0]
        observed = observed / (below.numbers[some].sum(axis=1) * below.unit[some, 0])
        ends[:, some] = _quantiles(quotients, observed, rounding[some], acceleration, choices.level)
    return Interval(ratio, ends[0], ends[1], error)


def _jackknife(a: Values, b: Values) -> Values:
    """Return by how much the mean of the ratios without one topic exceeds each of them."""
    with np.errstate(divide="ignore", invalid="ignore"):
        without = (a.sum(axis=1, keepdims=True) - a) / (b.sum(axis=1, keepdims=True) - b)
    # Without the only topic where b is not 0, there is no ratio, and no influence that could be computed.
    without = np.where(np.isfinite(without), without, np.nan)
    influence: Values = np.nan_to_num(np.nanmean(without, axis=1, keepdims=True) - without)
    return influence


def _fieller(a: Values, b: Values, scale: float) -> tuple[Values, Values]:
    """Return the ends of Fieller's intervals: the x with (mean a - x mean b)² ≤ scale Σ (deviation of a - x b)²."""
    mean_a, mean_b = a.mean(axis=1), b.mean(axis=1)
    of_a, of_b = a - mean_a[:, None], b - mean_b[:, None]
    square = mean_b**2 - scale * (of_b**2).sum(axis=1)
    middle = mean_a * mean_b - scale * (of_a * of_b).sum(axis=1)
    rest = mean_a**2 - scale * (of_a**2).sum(axis=1)
    root = np.sqrt(np.maximum(middle**2 - square * rest, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(square > 0.0, (middle - root) / square, -math.inf)
        high = np.where(square > 0.0, (middle + root) / square, math.inf)
    return low, high
