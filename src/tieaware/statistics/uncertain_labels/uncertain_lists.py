"""Ranked lists whose labels are uncertain: each document has a probability for each grade."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Scores, Values


@dataclass(frozen=True, eq=False)
class UncertainList:
    """The documents of one query, in ranked order, with the probabilities of their grades.

    The scores descend. Each row of `probabilities`, float64[n, n_grades], adds up to 1, or is 0 for an unjudged
    document; `unretrieved` has the rows of the judged documents that are not in the list, and `grades` the label of
    each column.
    """

    scores: Scores
    probabilities: Values
    unretrieved: Values
    grades: Values

    @classmethod
    def ranked(cls, scores: Scores, probabilities: Values, unretrieved: Values, grades: Values) -> UncertainList:
        """Return the list of documents in any order. Tied documents are sorted, so that their order has no effect."""
        order = np.lexsort((*probabilities.T, -scores))
        other = np.lexsort(unretrieved.T)
        return cls(scores[order], probabilities[order], unretrieved[other], grades)

    @property
    def n(self) -> int:
        """The number of documents in the list."""
        return len(self.scores)

    @cached_property
    def judged(self) -> npt.NDArray[np.bool_]:
        """True if each document of the list is judged."""
        judged: npt.NDArray[np.bool_] = np.logical_or.reduce(self.probabilities > 0.0, axis=1)
        return judged

    @cached_property
    def judged_only(self) -> UncertainList:
        """The list without its unjudged documents."""
        if self.judged.all():
            return self
        return replace(self, scores=self.scores[self.judged], probabilities=self.probabilities[self.judged])

    @cached_property
    def starts(self) -> Integers:
        """The index of the first document of each tie group, and the number of documents: int64[n_groups + 1]."""
        changes = np.flatnonzero(self.scores[1:] != self.scores[:-1]) + 1
        return np.concatenate(([0], changes, [self.n])).astype(np.int64) if self.n else np.zeros(1, np.int64)

    @cached_property
    def sizes(self) -> Integers:
        """The number of documents of each tie group."""
        return np.diff(self.starts)

    @cached_property
    def group(self) -> Integers:
        """The index of the tie group of each document."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def n_assignments(self) -> float:
        """The number of ways in which the documents can have grades."""
        supports = np.count_nonzero(np.concatenate((self.probabilities, self.unretrieved)), axis=1)
        # The number may be infinite.
        with np.errstate(over="ignore"):
            return float(np.prod(np.maximum(supports, 1).astype(np.float64)))


@dataclass(frozen=True)
class Moments:
    """The mean of a value over labels and orders, and its variance in two parts.

    `of_labels` is the variance, over the labels, of the mean over the orders; `of_ties` is the mean, over the labels,
    of the variance over the orders; `error` is the standard error of the mean: 0 unless it was sampled.
    """

    mean: float = 0.0
    of_labels: float = 0.0
    of_ties: float = 0.0
    error: float = 0.0


def sums_at(places: Integers, terms: Values, n: int = 0) -> Values:
    """Return the sums of the terms of each place, added in their order: float64[n] or longer."""
    return np.asarray(np.bincount(places, terms, n), dtype=np.float64)


def mixed(weights: Values, means: Values, of_labels: Values, of_ties: Values) -> Moments:
    """Return the moments of a mixture whose components have these probabilities, means and variances."""
    mean = float((weights * means).sum())
    return Moments(mean, float((weights * (of_labels + (means - mean) ** 2)).sum()), float((weights * of_ties).sum()))


def count_distribution(chances: Values) -> Values:
    """Return the probability of each number of successes of independent trials: float64[n_possible + 1].

    P_i(r) = (1 - p_i) P_{i-1}(r) + p_i P_{i-1}(r - 1): all terms are positive, so nothing cancels.
    """
    chances = chances[chances > 0.0]
    distribution = np.zeros(len(chances) + 1)
    distribution[0] = 1.0
    for i, chance in enumerate(chances.tolist(), 1):
        distribution[1 : i + 1] = (1.0 - chance) * distribution[1 : i + 1] + chance * distribution[:i]
        distribution[0] *= 1.0 - chance
    return distribution


def weighted_sum(listed: UncertainList, gains: Values, slots: Values) -> Moments:
    """Return the moments of Σ w_x g_π(x), for independent gains and a random order π inside each tie group.

    With w̄ the mean weight of the n slots of a group, and μ_d, v_d the mean and variance of the gain of document d:

    - the mean is Σ w̄ μ_d,
    - the variance over the labels is Σ w̄² v_d, because the mean over the orders is Σ w̄ g_d,
    - the mean variance over the orders is Σ_groups s² Σ (w_x - w̄)², where s² = Σ (μ_d - μ̄)² / (n - 1) + Σ v_d / n is
      the mean of the variance of the group's gains, with the divisor n - 1.
    """
    means, variances = gain_moments(listed.probabilities, gains)
    average, deviations = slot_moments(listed, slots)
    sizes, group = listed.sizes, listed.group
    centre = sums_at(group, means) / sizes
    scatter = sums_at(group, (means - centre[group]) ** 2) / np.maximum(sizes - 1, 1)
    scatter += sums_at(group, variances) / sizes
    return Moments(
        float((average[group] * means).sum()),
        float((average[group] ** 2 * variances).sum()),
        float((deviations * scatter).sum()),
    )


def gain_moments(probabilities: Values, gains: Values) -> tuple[Values, Values]:
    """Return the mean and the variance of the gain of each document."""
    means: Values = (probabilities * gains).sum(axis=1)
    variances: Values = (probabilities * (gains - means[:, None]) ** 2).sum(axis=1)
    return means, variances


def slot_moments(listed: UncertainList, slots: Values) -> tuple[Values, Values]:
    """Return w̄ and Σ (w_x - w̄)² of the slots of each tie group."""
    average = sums_at(listed.group, slots) / listed.sizes
    return average, sums_at(listed.group, (slots - average[listed.group]) ** 2)
