"""Verdicts on fewer topics: tests of systems on samples of the topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import checked_seed, number, one_of, whole_number, whole_numbers
from tieaware.checks.arrays import Integers, Values
from tieaware.errors import InputError
from tieaware.statistics.multiple_comparisons import Correction, adjusted
from tieaware.statistics.scores import smooth
from tieaware.statistics.tukey import systems_by_topics
from tieaware.statistics.verdicts import PairTests, pair_tests


class Decisions(NamedTuple):
    """The decisions of tests on samples of the topics; every array has one element for each size of the samples.

    Attributes
    ----------
    sizes : tuple of int
        The numbers of topics.
    decided : float64[n_sizes]
        The share of the pairs of systems whose difference is significant.
    found : float64[n_sizes]
        Among the pairs that are significant on all topics, the share that is significant, in the same direction, on
        the sample; NaN if none is significant on all topics.
    confirmed : float64[n_sizes]
        Among the pairs that are significant on the sample, the share that is significant, in the same direction, on
        all topics; NaN if none is significant on any sample.
    swapped : float64[n_sizes]
        The share of the pairs whose difference has the opposite sign on all topics, significant or not.
    """

    sizes: tuple[int, ...]
    decided: Values
    found: Values
    confirmed: Values
    swapped: Values


def decisions_by_topics(
    values: npt.ArrayLike,
    sizes: Sequence[int],
    *,
    repeats: int = 200,
    seed: int = 0,
    alpha: float = 0.05,
    correction: Correction = "none",
    prior: npt.ArrayLike | None = None,
    weight: float = 1.0,
) -> Decisions:
    """Test all pairs of systems on samples of the topics, and compare the outcomes with those on all topics.

    The test is the two-sided paired t-test, which assumes independent topics and normally distributed differences.
    Samples are drawn from the given topics without replacement, so they share topics with the whole set: with more than
    about half of the topics, they agree with it for that reason alone.

    Errors as for `tukey_hsd`.

    Parameters
    ----------
    values : float[n_systems, n_topics]
        At least two of each.
    sizes : sequence of int
        The numbers of topics of the samples, each from 2 to n_topics.
    repeats : int
        The number of samples of each size, at least 1. For n_topics, there is only one sample.
    seed : int
        The seed of the generator, at least 0.
    alpha : float
        The significance level, between 0 and 1.
    correction : str
        "none", "holm", "bh" or "bonferroni": the correction for the number of pairs.
    prior : float[n_systems], optional
        The earlier mean of each system, with which the values of the samples are smoothed as by `smooth`. The tests
        take these means for exact. The outcomes on all topics are those without smoothing.
    weight : float
        The weight of the values, 0 … 1, which is α of `smooth`; the rest is that of the prior.

    References
    ----------
    Zobel, J. (1998). How reliable are the results of large-scale information retrieval experiments? SIGIR 1998.
    Voorhees, E. M. and Buckley, C. (2002). The effect of topic set size on retrieval experiment error. SIGIR 2002.
    Sanderson, M. and Zobel, J. (2005). Information retrieval system evaluation: effort, sensitivity, and reliability.
    SIGIR 2005.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> values = rng.random(40) + rng.normal([[0.0], [0.1], [0.3]], 0.2, (3, 40))
    >>> found = decisions_by_topics(values, [5, 10, 20, 40])
    >>> found.decided.round(2), found.swapped.round(2)
    (array([0.22, 0.6 , 0.9 , 1.  ]), array([0.04, 0.  , 0.  , 0.  ]))
    """
    matrix = systems_by_topics(values)
    sizes = whole_numbers("sizes", sizes, 2, matrix.shape[1])
    repeats, seed = whole_number("repeats", repeats, 1, 10**6), checked_seed(seed)
    alpha, weight = number("alpha", alpha, 0, 1, ends=False), number("weight", weight, 0, 1)
    one_of("correction", correction, ("none", "holm", "bh", "bonferroni"))
    if (prior is None) != (weight == 1.0):
        raise InputError("prior, weight", "must be given together: a prior needs a weight of the values below 1")
    smoothed = matrix if prior is None else smooth(matrix, prior, weight)
    first, second = np.triu_indices(len(matrix), 1)
    whole = _tested(matrix, first, second)
    verdict = _verdicts(whole, alpha, correction)
    found = np.empty((4, len(sizes)))
    for i, size in enumerate(sizes):
        # A size has a generator of its own, so that its samples do not depend on the other sizes.
        generator, counts = np.random.default_rng([seed, size]), np.zeros(4)
        n_samples = 1 if size == matrix.shape[1] else repeats
        for _ in range(n_samples):
            topics = np.sort(generator.permutation(matrix.shape[1])[:size])
            test = _tested(smoothed[:, topics], first, second)
            own = _verdicts(test, alpha, correction)
            counts += (
                np.count_nonzero(own), np.count_nonzero((own == verdict) & (own != 0.0)), np.count_nonzero(verdict),
                np.count_nonzero(test.difference * whole.difference < 0.0),
            )  # fmt: skip
        n_decided, n_same, n_significant, n_swapped = counts
        n_tests = n_samples * len(first)
        found[:, i] = (
            n_decided / n_tests, n_same / n_significant if n_significant else np.nan,
            n_same / n_decided if n_decided else np.nan, n_swapped / n_tests,
        )  # fmt: skip
    return Decisions(sizes, *found)


def _tested(values: Values, first: Integers, second: Integers) -> PairTests:
    return pair_tests(values[:, :, None], first, second)


def _verdicts(test: PairTests, alpha: float, correction: Correction) -> Values:
    """Return the sign of each significant difference, and 0 for a difference that is not significant."""
    return np.where(adjusted(test.p[0], correction) <= alpha, np.sign(test.difference[0]), 0.0)
