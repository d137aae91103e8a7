"""Paired tests of two systems, for many pairs at once; the Bayesian t-test with a region of practical equivalence."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import checked_seed, is_integer, number, one_of, shown, unexpected, whole_number
from tieaware.checks.arrays import Integers, Values
from tieaware.checks.rounding import Differences, are_equal, differences, merged, rounding_of, without_rounding
from tieaware.errors import InputError
from tieaware.runtime.extras import load
from tieaware.statistics.values import broadcast_shape, finite

PairedMethod: TypeAlias = Literal["t", "wilcoxon", "sign", "permutation"]
# The alternative to the null hypothesis that both systems are equally good.
Alternative: TypeAlias = Literal["two-sided", "greater", "less"]
# With zeros or ties, Wilcoxon's test of at most this many differences tries all combinations of signs, as SciPy does.
_MOST_WITH_ALL_SIGNS = 13
# The most signs, or sums, that a permutation test holds in memory at a time.
_CHUNK = 2**20


class PairedTest(NamedTuple):
    """The outcome of paired tests; every field has the shape of the samples without the axis of the pairs.

    Attributes
    ----------
    difference : float64[...]
        The mean of a − b; 0 if it is only rounding.
    statistic : float64[...]
        "t": Student's t. "wilcoxon": the smaller sum of ranks; if one-sided, the sum of the ranks of the positive
        differences. "sign": the number of positive differences. "permutation": the mean difference. `tukey_hsd`: the
        studentized range. `randomised_tukey_hsd`: the size of the difference.
    p : float64[...]
        The probability of a statistic at least as extreme if there were no difference; 0 … 1.
    low, high : float64[...] or None
        The confidence interval of the mean difference; None for the other tests than the t-test and `tukey_hsd`. One
        end of a one-sided interval is infinite.
    """

    difference: Values
    statistic: Values
    p: Values
    low: Values | None = None
    high: Values | None = None


def paired_test(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    method: PairedMethod = "t",
    alternative: Alternative = "two-sided",
    *,
    axis: int = -1,
    confidence: float = 0.95,
    repeats: int = 10_000,
    seed: int = 0,
) -> PairedTest:
    """Test whether paired differences are centred on 0, for many pairs of samples at once.

    All methods assume that the pairs (mostly one for each topic) are independent. The t-test also assumes that the
    differences are normally distributed; with 30 topics or more, its p values are good for most other distributions.
    Wilcoxon's test and the permutation test assume that, without an effect, the differences are distributed
    symmetrically around 0. The sign test assumes nothing about their distribution; its null hypothesis is that their
    median is 0.

    Parameters
    ----------
    a, b : float[..., n_pairs]
        The values, for example of two systems on the same topics, broadcast against each other.
    method : str
        "t": Student's t-test. "wilcoxon": the signed-rank test. "sign": the binomial test of the signs. Wilcoxon's
        test and the sign test leave out differences of 0. "permutation": the mean difference under random signs, or
        under all combinations of signs if there are at most `repeats` combinations. It takes time in proportion to
        `repeats` × n_pairs: for example 1.5 seconds for 17,000 pairs.
    alternative : str
        "two-sided"; "greater": a is greater than b; "less": a is less than b.
    axis : int
        The axis of the arrays along which the pairs lie.
    confidence : float
        The confidence level of the interval of the t-test, between 0 and 1.
    repeats, seed : int
        For the permutation test: the number of random assignments of signs, at least 1, and the seed of the generator.

    Returns
    -------
    PairedTest
        If all differences are equal but not 0, t is infinite and p is 0. If all are 0, the statistic is 0 and p is 1.

    Notes
    -----
    0.6 - 0.4 and 0.4 - 0.2 differ in the last bit. Differences that differ by at most 1e-12 of the largest value count
    as equal, and smaller ones as 0, so that differences that tie share their ranks. ``scipy.stats.wilcoxon`` ranks them
    by their last bits, so its p values are wrong for coarse values such as those of P@5.

    Raises
    ------
    InputError
        If a value is not finite, a difference exceeds 1e150, there are fewer than two pairs, or an argument is out of
        range.

    References
    ----------
    Student (1908). The probable error of a mean. Biometrika 6. Wilcoxon, F. (1945). Individual comparisons by ranking
    methods. Biometrics Bulletin 1. Smucker, M. D., Allan, J. and Carterette, B. (2007). A comparison of statistical
    significance tests for information retrieval evaluation. CIKM 2007.

    Examples
    --------
    >>> test = paired_test([0.5, 0.75, 0.25, 1.0], [0.5, 0.5, 0.0, 0.5])
    >>> print(f"{test.difference:.2f} t={test.statistic:.4f} p={test.p:.4f} {test.low:.4f} … {test.high:.4f}")
    0.25 t=2.4495 p=0.0917 -0.0748 … 0.5748
    >>> paired_test([0.5, 0.25], [0.5, 0.25], "wilcoxon").p
    array(1.)
    """
    one_of("method", method, _METHODS)
    one_of("alternative", alternative, get_args(Alternative))
    confidence = number("confidence", confidence, 0, 1, ends=False)
    repeats, seed = whole_number("repeats", repeats, 1, 10**9), checked_seed(seed)
    return _METHODS[method](differences_of(a, b, axis), alternative, confidence, repeats, seed)


def differences_of(a: npt.ArrayLike, b: npt.ArrayLike, axis: int) -> Differences:
    """Return a - b with the axis of the pairs last; raise InputError if the arrays cannot be compared as pairs."""
    given = finite(a, "a"), finite(b, "b")
    shape = broadcast_shape("a, b", *given)
    if not shape:
        raise InputError("a", "must have at least two pairs; a and b are single numbers")
    if not is_integer(axis) or not -len(shape) <= axis < len(shape):
        raise unexpected("axis", f"an axis of an array of shape {shape}", shown(axis))
    along = axis - len(shape) if axis >= 0 else axis
    lengths = [each.shape[along] for each in given if each.ndim >= -along]
    if len(set(lengths)) > 1:
        raise InputError("a, b", f"must have as many pairs each; found {lengths[0]} and {lengths[1]} values")
    if shape[axis] < 2:
        raise InputError("a", f"must have at least two pairs; the differences have shape {shape}")
    with np.errstate(over="ignore"):
        return _squarable(differences(*(np.moveaxis(np.broadcast_to(each, shape), axis, -1) for each in given)))


def paired_rows(values: Values, first: Integers, second: Integers) -> PairedTest:
    """Do as `paired_test` does for the finite values of pairs of rows, in less time than for each pair by itself."""
    rounding = rounding_of(values, axis=-1)
    with np.errstate(over="ignore"):
        found = Differences(values[first] - values[second], np.maximum(rounding[first], rounding[second]))
    return _t(_squarable(found), "two-sided", 0.95)


def _squarable(found: Differences) -> Differences:
    """Return the differences; raise InputError if one is too large."""
    # The tests square the differences, and the squares of larger differences can overflow. Small numbers have none.
    if (found.rounding > 1e130).any() and (largest := np.abs(found.values).max()) > 1e150:
        raise unexpected("a, b", "differences of at most 1e150", f"{largest}")
    return found


def _t(
    found: Differences, alternative: Alternative, confidence: float, repeats: int = 0, seed: int = 0
) -> PairedTest:
    """Apply Student's t-test. SciPy's own test returns NaN and warns if all differences are equal."""
    student = load("scipy.stats", "analysis").t
    n, mean = found.values.shape[-1], _mean(found)
    error = without_rounding(found.values.std(axis=-1, ddof=1), found.rounding) / math.sqrt(n)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where((error == 0.0) & (mean == 0.0), 0.0, mean / error)
    tail = {"two-sided": -np.abs(statistic), "greater": -statistic, "less": statistic}[alternative]
    p = student.cdf(tail, n - 1) * (2 if alternative == "two-sided" else 1)
    p = np.where((error == 0.0) & (mean == 0.0), 1.0, p)
    level = confidence if alternative != "two-sided" else (1.0 + confidence) / 2.0
    reach = student.ppf(level, n - 1) * error
    infinite = np.full_like(mean, np.inf)
    low = -infinite if alternative == "less" else mean - reach
    high = infinite if alternative == "greater" else mean + reach
    return PairedTest(mean, statistic, p, low, high)


def _wilcoxon(found: Differences, alternative: Alternative, confidence: float, repeats: int, seed: int) -> PairedTest:
    """Apply Wilcoxon's signed-rank test."""
    stats = load("scipy.stats", "analysis")
    mean = _mean(found)
    # SciPy ranks by all bits. So sizes that differ only by rounding must be equal before.
    sizes = without_rounding(np.abs(found.values), found.rounding[..., None])
    sizes = merged(sizes, found.rounding).reshape(mean.size, -1)
    samples = np.copysign(sizes, found.values.reshape(sizes.shape))
    statistic, p = np.zeros(mean.size), np.ones(mean.size)
    sizes.sort(axis=-1)
    zeros = sizes[:, 0] == 0.0
    ties = ((np.diff(sizes) == 0.0) & (sizes[:, 1:] > 0.0)).any(axis=-1)
    # SciPy chooses between the exact distribution and an approximation once per call, and the choice depends on zeros
    # and ties. So each call has samples of one kind. Samples that are all 0 keep the p value 1.
    kinds = np.where(sizes[:, -1] > 0.0, 2 * zeros + ties, -1)
    for kind in range(4):
        alike = np.flatnonzero(kinds == kind)
        if not len(alike):
            continue
        if kind and samples.shape[-1] <= _MOST_WITH_ALL_SIGNS:
            statistic[alike], p[alike] = _of_signed_ranks(samples[alike], alternative)
        else:
            statistic[alike], p[alike] = stats.wilcoxon(samples[alike], alternative=alternative, axis=-1)
    return PairedTest(mean, statistic.reshape(mean.shape), p.reshape(mean.shape))


def _of_signed_ranks(samples: Values, alternative: Alternative) -> tuple[Values, Values]:
    """Return Wilcoxon's statistics and exact p values of samples of few differences, with zeros or ties.

    The p values are those of ``scipy.stats.wilcoxon``, which computes the statistic of each combination of signs anew,
    and takes seconds.
    """
    sizes = np.where(samples == 0.0, np.nan, np.abs(samples))
    ranks = np.nan_to_num(load("scipy.stats", "analysis").rankdata(sizes, axis=-1, nan_policy="omit"))
    positive, negative = (ranks * (samples > 0.0)).sum(axis=-1), (ranks * (samples < 0.0)).sum(axis=-1)
    statistic = np.minimum(positive, negative) if alternative == "two-sided" else positive
    signed = Differences(ranks * np.sign(samples), np.zeros(len(samples)))
    p = _permutation(signed, alternative, 0.5, 2 ** samples.shape[-1], 0).p
    return statistic, p


def _sign(found: Differences, alternative: Alternative, confidence: float, repeats: int, seed: int) -> PairedTest:
    """Apply the sign test."""
    binomial = load("scipy.stats", "analysis").binom
    values, rounding = found.values, found.rounding[..., None]
    positive = (values > rounding).sum(axis=-1)
    n = positive + (values < -rounding).sum(axis=-1)
    less, greater = binomial.cdf(positive, n, 0.5), binomial.sf(positive - 1, n, 0.5)
    p = {"two-sided": np.minimum(2.0 * np.minimum(less, greater), 1.0), "less": less, "greater": greater}[alternative]
    return PairedTest(_mean(found), np.asarray(positive, dtype=np.float64), np.where(n == 0, 1.0, p))


def _permutation(
    found: Differences, alternative: Alternative, confidence: float, repeats: int, seed: int
) -> PairedTest:
    """Apply the permutation test of the mean difference."""
    mean = _mean(found)
    samples = found.values.reshape(mean.size, -1)
    n = samples.shape[-1]
    # If some differences change their signs, the mean falls by 2 / n times their sum.
    rounding = found.rounding.reshape(-1) * n / 2.0
    counts = np.zeros((2, mean.size), dtype=np.int64)
    n_drawn = 0
    for changed in _sign_changes(n, repeats, seed, max(1, _CHUNK // max(samples.shape))):
        sums = changed @ samples.T
        counts += (sums >= -rounding).sum(axis=0), (sums <= rounding).sum(axis=0)
        n_drawn += len(changed)
    # Signs drawn at random may not include the sample's own signs, so the sample itself counts as one more draw.
    missed = 0 if tries_all_signs(n, repeats) else 1
    less, greater = (counts + missed) / (n_drawn + missed)
    p = {"two-sided": np.minimum(2.0 * np.minimum(less, greater), 1.0), "less": less, "greater": greater}[alternative]
    return PairedTest(mean, mean, p.reshape(mean.shape))


def _mean(found: Differences) -> Values:
    return without_rounding(np.asarray(found.values.mean(axis=-1)), found.rounding)


def tries_all_signs(n_pairs: int, repeats: int) -> bool:
    """Return whether a permutation test tries all 2^n_pairs combinations of signs, because there are few enough."""
    return n_pairs < int(repeats).bit_length()


def _sign_changes(n_pairs: int, repeats: int, seed: int, step: int) -> Iterator[Values]:
    """Yield assignments of signs, up to `step` rows at a time: 1 where a difference changes its sign, otherwise 0."""
    is_complete = tries_all_signs(n_pairs, repeats)
    n_rows = 2**n_pairs if is_complete else repeats
    rng = np.random.default_rng(seed)
    for start in range(0, n_rows, step):
        size = min(step, n_rows - start)
        if is_complete:
            bits = np.arange(start, start + size)[:, None] >> np.arange(n_pairs) & 1
        else:
            # These are the signs that scipy.stats.permutation_test draws, but without its permutations of indices.
            bits = ~rng.integers(0, 2**32, (size, n_pairs), dtype=np.uint32) & 1
        yield bits.astype(np.float64)


_METHODS: dict[PairedMethod, Callable[[Differences, Alternative, float, int, int], PairedTest]] = {
    "t": _t, "wilcoxon": _wilcoxon, "sign": _sign, "permutation": _permutation,
}  # fmt: skip


class BayesianComparison(NamedTuple):
    """The posterior of mean differences; every field has the shape of the samples without the axis of the pairs.

    Attributes
    ----------
    difference : float64[...]
        The mean of a − b, which is the mode of the posterior.
    better, equivalent, worse : float64[...]
        The probabilities that the true mean difference is above `rope`, from -`rope` to `rope`, and below -`rope`. They
        sum to 1.
    low, high : float64[...]
        The credible interval: the true mean difference is between them with the probability `confidence`.
    """

    difference: Values
    better: Values
    equivalent: Values
    worse: Values
    low: Values
    high: Values


def bayesian_comparison(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    rope: float = 0.0,
    *,
    axis: int = -1,
    confidence: float = 0.95,
    correlation: float = 0.0,
) -> BayesianComparison:
    """Return the probabilities that system a is better than b, practically equivalent, or worse.

    This is the Bayesian t-test. It assumes that the differences on the topics are independent and normally distributed,
    with nothing known beforehand about their mean and variance (the prior is proportional to 1/σ²). The posterior of
    the true mean difference is then Student's t distribution with n - 1 degrees of freedom, around the mean difference.

    Errors as for `paired_test`.

    Parameters
    ----------
    a, b : float[..., n_pairs]
        The values of two systems on the same topics, at least two, broadcast against each other.
    rope : float
        The region of practical equivalence: differences of the means from -`rope` to `rope` do not matter. It is at
        least 0, in the unit of the values. With 0, no difference counts as equivalent.
    axis : int
        The axis of the arrays along which the pairs lie.
    confidence : float
        The probability of the credible interval, between 0 and 1.
    correlation : float
        The correlation between the differences, at least 0 and less than 1. Topics are independent: 0. For the k
        folds of a cross-validation, which share their training data, Nadeau and Bengio take the share of the test data,
        1/k.

    Returns
    -------
    BayesianComparison
        If all differences are equal, the true mean difference is taken to be this number, so one of the probabilities
        is 1; except that with a `rope` of 0, better and worse share a difference of 0.

    References
    ----------
    Corani, G. and Benavoli, A. (2015). A Bayesian approach for comparing cross-validated algorithms on multiple data
    sets. Machine Learning 100. Benavoli, A., Corani, G., Demšar, J. and Zaffalon, M. (2017). Time for a change: a
    tutorial for comparing multiple classifiers through Bayesian analysis. Journal of Machine Learning Research 18.
    Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52.

    Examples
    --------
    >>> found = bayesian_comparison([0.5, 0.75, 0.25, 1.0], [0.5, 0.5, 0.0, 0.5], rope=0.05)
    >>> print(f"better {found.better:.3f}, equivalent {found.equivalent:.3f}, worse {found.worse:.3f}")
    better 0.928, equivalent 0.042, worse 0.030
    """
    rope = number("rope", rope, 0, 1e150)
    confidence = number("confidence", confidence, 0, 1, ends=False)
    if number("correlation", correlation, 0, 1) == 1:
        raise unexpected("correlation", "a number less than 1", shown(correlation))
    differences, rounding = differences_of(a, b, axis)
    student, n = load("scipy.stats", "analysis").t, differences.shape[-1]
    constant = are_equal(differences, rounding)
    mean = without_rounding(np.where(constant, differences[..., 0], differences.mean(axis=-1)), rounding)
    variance = np.where(constant, 0.0, differences.var(axis=-1, ddof=1))
    scale = np.sqrt(variance * (1.0 / n + correlation / (1.0 - correlation)))
    above, below = (without_rounding(each, rounding) for each in (mean - rope, mean + rope))
    with np.errstate(divide="ignore", invalid="ignore"):
        better = np.where(scale > 0.0, student.cdf(above / scale, n - 1), above > 0.0)
        worse = np.where(scale > 0.0, student.cdf(-below / scale, n - 1), below < 0.0)
    undecided = (scale == 0.0) & (mean == 0.0) & (rope == 0.0)
    better, worse = np.where(undecided, 0.5, better), np.where(undecided, 0.5, worse)
    equivalent = np.maximum(1.0 - better - worse, 0.0) if rope > 0.0 else np.zeros(mean.shape)
    reach = student.ppf((1.0 + confidence) / 2.0, n - 1) * scale
    return BayesianComparison(mean, better, np.asarray(equivalent), worse, mean - reach, mean + reach)
