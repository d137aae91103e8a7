"""Tukey's honestly significant differences of paired samples: by the studentized range, and by random permutations.

The range of k independent standard normal variables is divided by an independent estimate of their standard deviation.
SciPy has the same distribution, but takes a hundred times as long for one value, which counts for thousands of pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import checked_seed, number, unexpected, whole_number
from tieaware.checks.arrays import Integers, Values
from tieaware.checks.rounding import are_equal, rounding_of, without_rounding
from tieaware.errors import InputError
from tieaware.runtime.extras import load
from tieaware.statistics.paired_tests import PairedTest, paired_test
from tieaware.statistics.values import finite

# The integrands are smooth and vanish at both ends, so the error of the trapezoidal rule falls exponentially with the
# number of points. These numbers of points and limits give about 12 correct digits.
_POINTS, _NORMAL_LIMIT, _NEGLIGIBLE = 200, 8.5, 45.0
_QUANTILES_AT_ONCE = 32


def survival(q: Values, k: int, degrees: int) -> Values:
    """Return the probability that the studentized range is greater than each q, from 0 to infinity.

    `k` is the number of variables, and `degrees` are the degrees of freedom of the variance; both are at least 2.
    """
    # Integrate over the logarithm of s, the estimate of the standard deviation. The density of log s is proportional to
    # exp(degrees (log s - s²/2)).
    low, high = _limits(degrees)
    logarithms = np.linspace(low, high, _POINTS)
    density = np.exp(degrees * (logarithms - np.exp(2.0 * logarithms) / 2.0 + 0.5))
    weights, scales = density / density.sum(), np.exp(logarithms)
    found = np.empty(len(q))
    for start in range(0, len(q), _QUANTILES_AT_ONCE):
        some = slice(start, start + _QUANTILES_AT_ONCE)
        found[some] = _survival_of_range(q[some, None] * scales, k) @ weights
    return np.clip(found, 0.0, 1.0)


@lru_cache(maxsize=64)
def critical_value(alpha: float, k: int, degrees: int) -> float:
    """Return the value that the studentized range exceeds with probability alpha."""
    low, high = 0.0, 1.0
    while survival(np.array([high]), k, degrees)[0] > alpha:
        low, high = high, 2.0 * high
    # Each step looks at 15 points between the limits at once, and keeps one of the 16 intervals.
    while high - low > 1e-12 * high:
        points = np.linspace(low, high, 17)
        below = int((survival(points[1:-1], k, degrees) > alpha).sum())
        if (points[below], points[below + 1]) == (low, high):
            break
        low, high = float(points[below]), float(points[below + 1])
    return (low + high) / 2.0


def _limits(degrees: int) -> tuple[float, float]:
    """Return the logarithms of s between which its density is not negligible."""
    # The exponent, less its maximum, is degrees (x - e^(2x)/2 + 1/2).
    deficit = _NEGLIGIBLE / degrees
    low = -(deficit + 0.5) if deficit > 1.0 else -math.sqrt(deficit) - deficit
    high = math.sqrt(deficit) if deficit < 1.0 else math.log(2.0 * deficit + 4.0) / 2.0 + 0.5
    return low, high


def _survival_of_range(r: Values, k: int) -> Values:
    """Return the probability that the range of k standard normal variables is greater than r."""
    # The greatest variable is z, and the others lie between z - r and z, or at least one of them does not:
    # k ∫ φ(z) (Φ(z)^(k-1) - (Φ(z) - Φ(z - r))^(k-1)) dz. This form is accurate for small probabilities, too.
    normal = load("scipy.special", "analysis").ndtr
    n_points = math.ceil(2.0 * _NORMAL_LIMIT / min(0.25, 0.7 / math.sqrt(k)))
    z, step = np.linspace(-_NORMAL_LIMIT, _NORMAL_LIMIT, n_points, retstep=True)
    below = normal(z)
    weights = k * step * np.exp(-(z**2) / 2.0) / math.sqrt(2.0 * math.pi) * below ** (k - 1)
    total = np.zeros(r.shape)
    for point, share, weight in zip(z.tolist(), below.tolist(), weights.tolist(), strict=True):
        # For r = 0, the quotient is 1 and its logarithm is infinite.
        with np.errstate(divide="ignore"):
            total -= weight * np.expm1((k - 1) * np.log1p(-normal(point - r) / share))
    return total


class Residuals(NamedTuple):
    """The sum of the squared residuals of a two-way analysis of variance without replication, over systems and topics.

    It is exactly 0 if all systems differ by constants only.
    """

    n_systems: int
    n_topics: int
    squares: float

    @property
    def degrees(self) -> int:
        """The degrees of freedom of the residuals."""
        return (self.n_systems - 1) * (self.n_topics - 1)

    def error(self, squares: float | None = None) -> float:
        """Return the standard error of a system's mean; a sum of squares may be given in place of the own."""
        return float(np.sqrt((self.squares if squares is None else squares) / self.degrees / self.n_topics))


def tukey_hsd(values: npt.ArrayLike, *, confidence: float = 0.95) -> PairedTest:
    """Test the differences between all pairs of systems by Tukey's HSD, which corrects for the number of systems.

    The values of a topic belong together, so the variance is that of the residuals after the effects of systems and
    topics (two-way analysis of variance without replication). The chance that the test finds any difference between
    equal systems is limited, as with `holm`. For two systems, the test is the paired t-test. It assumes that topics are
    independent, and that the residuals are normally distributed with the same variance for all systems;
    `randomised_tukey_hsd` does not.

    Parameters
    ----------
    values : float[n_systems, n_topics]
    confidence : float
        The probability, between 0 and 1, that all intervals together contain the differences of the true means.

    Returns
    -------
    PairedTest
        Every field is a float64[n_systems, n_systems]. `difference` is the mean of the row's system minus that of the
        column's. `statistic` is the studentized range of the two means, at least 0. `p` needs no correction. If the
        residuals are 0, as for constant differences, p is 0, and 1 between systems of equal means.

    Raises
    ------
    InputError
        If a value is not finite or exceeds 1e150, there are fewer than two systems or two topics, or confidence is out
        of range.

    References
    ----------
    Tukey, J. W. (1953). The problem of multiple comparisons. Carterette, B. (2012). Multiple testing in statistical
    analysis of systems-based information retrieval experiments. ACM Transactions on Information Systems 30(1). Sakai,
    T. (2018). Laboratory experiments in information retrieval. Springer.

    Examples
    --------
    >>> test = tukey_hsd([[0.5, 0.75, 0.25, 1.0], [0.5, 0.5, 0.0, 0.5], [0.25, 0.75, 0.0, 0.75]])
    >>> test.p.round(4)
    array([[1.    , 0.0948, 0.2137],
           [0.0948, 1.    , 0.8047],
           [0.2137, 0.8047, 1.    ]])
    >>> test.difference[0].round(4), test.low[0].round(4), test.high[0].round(4)
    (array([0.    , 0.25  , 0.1875]), array([ 0.    , -0.0498, -0.1123]), array([0.    , 0.5498, 0.4873]))
    """
    matrix = systems_by_topics(values)
    confidence = number("confidence", confidence, 0, 1, ends=False)
    return all_pairs_of(len(matrix), lambda first, second: tukey_pairs(matrix, first, second, confidence))


def systems_by_topics(values: npt.ArrayLike) -> Values:
    """Return the values as float64[n_systems, n_topics]; raise InputError if there are fewer than two of either."""
    matrix = finite(values, "values")
    if matrix.ndim != 2 or min(matrix.shape) < 2:
        problem = f"must have at least two systems and two topics; the shape is {matrix.shape}"
        raise InputError("values", problem)
    # The squares of larger numbers can overflow.
    if (np.abs(matrix) > 1e150).any():
        raise unexpected("values", "numbers of at most 1e150", f"{np.abs(matrix).max()}")
    return matrix


def all_pairs_of(n_systems: int, tested: Callable[[Integers, Integers], PairedTest]) -> PairedTest:
    """Return the tests of all pairs of systems as square matrices; `tested` tests given pairs."""
    first, second = np.triu_indices(n_systems, 1)
    test = tested(first, second)
    fields: list[Values | None] = []
    for found, sign, same in zip(test, (-1.0, 1.0, 1.0, -1.0, -1.0), (0.0, 0.0, 1.0, 0.0, 0.0), strict=True):
        square = None
        if found is not None:
            square = np.full((n_systems, n_systems), same)
            square[first, second], square[second, first] = found, sign * found
        fields.append(square)
    low, high = fields[3:]
    if low is not None and high is not None:
        # The interval of b - a is that of a - b with its ends exchanged.
        lower = np.tril_indices(n_systems, -1)
        low[lower], high[lower] = high[lower], low[lower]
    return PairedTest._make(fields)


def tukey_pairs(values: Values, first: Integers, second: Integers, confidence: float = 0.95) -> PairedTest:
    """Test some pairs of systems by Tukey's HSD; the family is all pairs of the systems in `values`, at least two."""
    if len(values) == 2:
        test = paired_test(values[first], values[second], confidence=confidence)
        return test._replace(statistic=np.abs(test.statistic) * np.sqrt(2.0))
    residuals = residuals_of(values)
    means = values.mean(axis=1)
    difference = without_rounding(means[first] - means[second], rounding_of(values))
    error, sizes = residuals.error(), np.abs(difference)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(sizes == 0.0, 0.0, sizes / error)
    p = np.where(sizes == 0.0, 1.0, survival(statistic, residuals.n_systems, residuals.degrees))
    reach = critical_value(1.0 - confidence, residuals.n_systems, residuals.degrees) * error
    return PairedTest(difference, statistic, p, difference - reach, difference + reach)


def residuals_of(values: Values) -> Residuals:
    """Return the residuals of the analysis of variance of ``values``, float64[n_systems, n_topics]."""
    differences = values - values[0]
    if are_equal(differences, rounding_of(values)).all():
        # All differences are constant. Rounding would give residuals above 0.
        squares = 0.0
    else:
        centred = differences - differences.mean(axis=1, keepdims=True)
        squares = float(((centred - centred.mean(axis=0)) ** 2).sum())
    return Residuals(values.shape[0], values.shape[1], squares)


# The most permuted values that are held in memory at a time, and the most changes of them.
_CHUNK, _CHANGES = 2**18, 2**22


def randomised_tukey_hsd(values: npt.ArrayLike, *, repeats: int = 10_000, seed: int = 0) -> PairedTest:
    """Test the differences between all pairs of systems by the randomised version of Tukey's HSD.

    If all systems were equal, the values of a topic could belong to any of its systems. The test permutes the values of
    each topic at random, and compares each difference of means with the greatest difference between two means of the
    permuted values. The chance that it finds any difference between equal systems is limited, as with `tukey_hsd`; but
    the values need not be normally distributed, and topics need not have equal variances. It assumes that topics are
    independent, and that under the null hypothesis the values of a topic are exchangeable among all systems.
    A system that is far from the others makes the permuted means vary more, so differences between the others are
    harder to find: leave it out if it is of no interest.

    Errors as for `tukey_hsd`.

    Parameters
    ----------
    values : float[n_systems, n_topics]
        At least two of each. For two systems, the test is the permutation test of `paired_test`.
    repeats : int
        The number of random permutations, from 1 to 10,000,000. The test takes time in proportion to the size of
        `values` × `repeats`: for example 0.3 seconds for 42 systems, 50 topics and 10,000 repeats.
    seed : int
        The seed of the generator, at least 0.

    Returns
    -------
    PairedTest
        `difference`, `statistic` and `p` are float64[n_systems, n_systems]. `difference` is the mean of the row's
        system minus that of the column's, and `statistic` its size. `p` needs no correction; the observed values count
        as one more permutation, so it is at least 1 / (`repeats` + 1). There are no intervals.

    References
    ----------
    Carterette, B. (2012). Multiple testing in statistical analysis of systems-based information retrieval experiments.
    ACM Transactions on Information Systems 30(1). Sakai, T. (2018). Laboratory experiments in information retrieval.
    Springer.

    Examples
    --------
    >>> systems = [[0.5, 0.75, 0.5, 1.0, 0.75], [0.5, 0.5, 0.25, 0.5, 0.5], [0.25, 0.5, 0.25, 0.75, 0.25]]
    >>> test = randomised_tukey_hsd(systems, repeats=1000)
    >>> test.difference[0].round(4), test.p[0].round(2)
    (array([0.  , 0.25, 0.3 ]), array([1.  , 0.17, 0.05]))
    """
    matrix = systems_by_topics(values)
    repeats, seed = whole_number("repeats", repeats, 1, 10**7), checked_seed(seed)
    return all_pairs_of(len(matrix), lambda first, second: randomised_tukey_pairs(matrix, first, second, repeats, seed))


def randomised_tukey_pairs(
    values: Values, first: Integers, second: Integers, repeats: int = 10_000, seed: int = 0
) -> PairedTest:
    """Test some pairs of systems by the randomised Tukey HSD; the family is all pairs of the systems in `values`."""
    if len(values) == 2:
        test = paired_test(values[first], values[second], "permutation", repeats=repeats, seed=seed)
        return test._replace(statistic=np.abs(test.statistic))
    means = values.mean(axis=1)
    difference = without_rounding(means[first] - means[second], rounding_of(values))
    statistic = np.abs(difference)
    ranges = permuted_ranges(values, repeats, seed)
    n_below = np.searchsorted(ranges, statistic - rounding_of(values), side="left")
    return PairedTest(difference, statistic, (repeats - n_below + 1) / (repeats + 1))


def permuted_ranges(values: Values, repeats: int, seed: int) -> Values:
    """Return the range of the systems' means for each random permutation of the values of each topic, ascending."""
    centred = (values - values[0]).T
    # A topic has a generator of its own, so that its permutations do not depend on the size of the chunks. A topic on
    # which all systems are equal has no influence on the ranges.
    topics = [(np.random.default_rng([seed, i]), each) for i, each in enumerate(centred) if each.any()]
    ranges = np.zeros(repeats)
    size = max(1, _CHUNK // len(values))
    for start in range(0, repeats, size):
        some = ranges[start : start + size]
        # The sums run over the topics in their order, so they have the same bits on every machine.
        sums = np.zeros((len(some), len(values)))
        for generator, each in topics:
            sums += generator.permuted(np.broadcast_to(each, sums.shape), axis=1)
        some[:] = (sums.max(axis=1) - sums.min(axis=1)) / len(centred)
    ranges.sort()
    return ranges


def critical_range(values: Values, alpha: float, repeats: int = 10_000, seed: int = 0) -> float:
    """Return the range that a difference of means must exceed to have a p value of at most alpha; may be infinite.

    There are at least three systems and two topics; the permutations are those of `randomised_tukey_pairs`.
    """
    # p = (1 + the number of ranges that are at least the difference) / (repeats + 1).
    p = np.arange(1, repeats + 2) / (repeats + 1)
    most = int(np.searchsorted(p, alpha, side="right")) - 1
    return np.inf if most < 0 else float(permuted_ranges(values, repeats, seed)[repeats - 1 - most])


def p_of_changes(
    values: Values, ends: Values, pairs: Integers, kinds: Integers, repeats: int = 10_000, seed: int = 0
) -> Values:
    """Return p of some pairs of systems, each after the values of its two systems have been replaced by others.

    This is `randomised_tukey_pairs` for many changed copies of `values`, with the same permutations. These are drawn
    once, and the changes of a system are added up once for all pairs. `ends`, float64[n_kinds, n_systems, n_topics],
    has the values that replace those of a system; `pairs` and `kinds`, int64[2, n_pairs], the two systems of each pair,
    and the kind of the values that replace those of each.
    """
    m, n = values.shape
    centred, changes = (values - values[0]).T, np.moveaxis(ends - values, 2, 0)
    systems, places = np.unique(pairs, return_inverse=True)
    places = places.reshape(pairs.shape)
    changes = np.ascontiguousarray(changes[:, :, systems])
    used = np.flatnonzero(centred.any(axis=1) | changes.any(axis=(1, 2)))
    generators = [np.random.default_rng([seed, i]) for i in used.tolist()]
    means = ends.mean(axis=2)[kinds, pairs]
    least = np.abs(means[0] - means[1]) - rounding_of(values, ends)
    counts = np.zeros(pairs.shape[1], np.int64)
    size = max(1, min(_CHUNK // m, _CHANGES // (len(ends) * len(systems) * m)))
    for start in range(0, repeats, size):
        n_rows = min(size, repeats - start)
        sums, moved = np.zeros((n_rows, m)), np.zeros((len(ends), len(systems), n_rows, m))
        kind, system, row = np.ogrid[: len(ends), : len(systems), :n_rows]
        for topic, generator in zip(used, generators, strict=True):
            order = generator.permuted(np.broadcast_to(np.arange(m), sums.shape), axis=1)
            sums += centred[topic][order]
            position = np.argsort(order, axis=1)[:, systems].T
            moved[kind, system, row, position] += changes[topic][:, :, None]
        for i in range(pairs.shape[1]):
            changed = sums + moved[kinds[0, i], places[0, i]] + moved[kinds[1, i], places[1, i]]
            counts[i] += np.count_nonzero((changed.max(axis=1) - changed.min(axis=1)) / n >= least[i])
    return (counts + 1) / (repeats + 1)
