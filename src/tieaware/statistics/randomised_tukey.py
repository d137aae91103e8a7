"""Tukey's HSD with a null distribution from random permutations instead of the studentized range."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import checked_seed, whole_number
from tieaware.checks.arrays import Integers, Values
from tieaware.checks.rounding import rounding_of, without_rounding
from tieaware.statistics.paired_tests import PairedTest, paired_test
from tieaware.statistics.tukey import all_pairs_of, systems_by_topics

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

    Raises
    ------
    InputError
        If a value is not finite or exceeds 1e150, there are fewer than two systems or two topics, or `repeats` or
        `seed` is out of range.

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
    return all_pairs_of(
        len(matrix), lambda first, second: randomised_tukey_pairs(matrix, first, second, repeats, seed)
    )


def randomised_tukey_pairs(
    values: Values, first: Integers, second: Integers, repeats: int = 10_000, seed: int = 0
) -> PairedTest:
    """Test some pairs of systems by the randomised Tukey HSD; the family is all pairs of the systems in `values`.

    Parameters
    ----------
    values : float64[n_systems, n_topics]
        At least two of each.
    first, second : int64[n_pairs]
        The systems of each pair, as rows of `values`.
    repeats, seed : int
    """
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
    """Return the ranges of the systems' means for random permutations of the values of each topic.

    Parameters
    ----------
    values : float64[n_systems, n_topics]
    repeats, seed : int

    Returns
    -------
    float64[repeats]
        The greatest mean less the least, ascending.
    """
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

    Parameters
    ----------
    values : float64[n_systems, n_topics]
        At least three systems and two topics.
    alpha : float
    repeats, seed : int
        As for `randomised_tukey_pairs`.
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
    once, and the changes of a system are added up once for all pairs.

    Parameters
    ----------
    values : float64[n_systems, n_topics]
        At least three systems and two topics.
    ends : float64[n_kinds, n_systems, n_topics]
        The values that replace those of a system.
    pairs, kinds : int64[2, n_pairs]
        The two systems of each pair, and the kind of the values that replace those of each.
    repeats, seed : int

    Returns
    -------
    float64[n_pairs]
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
