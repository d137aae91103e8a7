"""Normalised DCG if labels of several grades are uncertain: the ideal gain depends on the labels, too.

The ideal gain depends only on the composition: how many documents have each gain, where more than the cut-off count as
the cut-off. The documents are passed through in ranked order with one state for each composition so far. A state has
its probability, the mean and variance of DCG, and what the variance over the orders needs. Merging states adds positive
terms only.
"""

from __future__ import annotations

import numpy as np

from tieaware.checks.arrays import Integers, Values
from tieaware.statistics.uncertain_labels.uncertain_lists import Moments, UncertainList, mixed, slot_moments, sums_at


class _Gains:
    """The different gains above 0, in ascending order, and the chance of each document to have each of them.

    `shape` has the number of counts that are possible for each gain; larger counts than `depth` are not distinguished.
    """

    def __init__(self, listed: UncertainList, gains: Values, depth: int) -> None:
        every = np.concatenate((listed.probabilities, listed.unretrieved))
        self.values = np.unique(gains[(gains > 0.0) & every.any(axis=0)])
        chances = np.zeros((len(every), len(self.values)))
        for column, value in enumerate(self.values):
            chances[:, column] = (every * (gains == value)).sum(axis=1)
        self.listed, self.unretrieved = chances[: listed.n], chances[listed.n :]
        self.shape = tuple((np.minimum(np.count_nonzero(chances, axis=0), depth) + 1).tolist())

    @property
    def n_states(self) -> float:
        """The number of compositions."""
        return float(np.prod(np.array(self.shape, np.float64)))

    @property
    def counts(self) -> Integers:
        """The number of documents with each gain in each state: int64[n_gains, n_states]."""
        return np.indices(self.shape).reshape(len(self.shape), -1)


def cost_of_ideals(listed: UncertainList, gains: Values, depth: int) -> float:
    """Return the number of steps that `normalised_sum` takes."""
    if not (gains > 0.0).any() or not listed.n:
        return 0.0
    found = _Gains(listed, gains, depth)
    uncertain = np.count_nonzero(found.listed.any(axis=1)) + np.count_nonzero(found.unretrieved.any(axis=1))
    return found.n_states * float(uncertain) * (len(found.values) + 1.0)


def normalised_sum(listed: UncertainList, gains: Values, slots: Values, depth: int) -> Moments:
    """Return the moments of Σ w_x g_π(x) / ideal; 0 where no document has a gain.

    `gains` has the gain of each grade, and `slots` the weight of each rank, for at least as many ranks as there are
    documents in the list or unretrieved. `depth` ranks count for the ideal.
    """
    found = _Gains(listed, gains, depth)
    if not len(found.values):
        return Moments()
    own_slots = (
        slots[: listed.n] if listed.n <= depth else np.where(np.arange(listed.n) < depth, slots[: listed.n], 0.0)
    )
    average, deviations = slot_moments(listed, own_slots)
    states = _States(found)
    for g, (start, end) in enumerate(zip(listed.starts[:-1].tolist(), listed.starts[1:].tolist(), strict=True)):
        states.begin()
        scale = float(deviations[g]) / max(end - start - 1, 1)
        gainful = start + np.flatnonzero(found.listed[start:end].any(axis=1))
        for document in gainful.tolist():
            states.add(found.listed[document], float(average[g]), scale)
        if len(gainful):
            states.add_worthless(end - start - len(gainful), scale)
    states.begin()
    for chances in found.unretrieved[found.unretrieved.any(axis=1)]:
        states.add(chances, 0.0, 0.0)
    ideal = _ideals(found, slots, depth)
    inverse = np.where(ideal > 0.0, 1.0 / np.where(ideal > 0.0, ideal, 1.0), 0.0)
    return mixed(
        states.chance, states.mean * inverse, states.of_labels * inverse**2, states.of_ties * inverse**2
    )  # fmt: skip


def _ideals(found: _Gains, slots: Values, depth: int) -> Values:
    """Return the ideal sum of each composition: the highest gains have the first ranks."""
    sums = np.concatenate(([0.0], np.cumsum(slots[:depth])))
    ideal, above = np.zeros(int(found.n_states)), np.zeros(int(found.n_states), np.int64)
    for value, count in zip(found.values[::-1].tolist(), found.counts[::-1], strict=True):
        below = above + count
        ideal += value * (sums[np.minimum(below, len(sums) - 1)] - sums[np.minimum(above, len(sums) - 1)])
        above = below
    return ideal


class _States:
    """The states, one for each composition, with their probabilities.

    `mean` and `of_labels` are the mean and the variance, in each state, of the sum Σ w̄ g over the documents so far;
    `of_ties` is the mean variance of the sum over the orders.
    """

    def __init__(self, found: _Gains) -> None:
        self._gains = [0.0, *found.values.tolist()]
        counts, most = found.counts, np.array(found.shape)[:, None] - 1
        # The states to which a document with each of the gains leads.
        self._next = [np.arange(counts.shape[1])]
        for gain in range(len(counts)):
            more = counts.copy()
            more[gain] += 1
            self._next.append(np.ravel_multi_index(tuple(np.minimum(more, most)), found.shape))
        n = counts.shape[1]
        self.chance, self.mean, self.of_labels, self.of_ties = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
        self.chance[0] = 1.0
        self.begin()

    def begin(self) -> None:
        """Begin a tie group; nothing is known about it yet."""
        # The number of the group's documents so far, and the mean and variance in each state of their average gain.
        self._n = 0
        self._average, self._scatter = np.zeros(len(self.chance)), np.zeros(len(self.chance))

    def add(self, chances: Values, weight: float, scale: float) -> None:
        """Add a document with these chances of the gains above 0, and the mean weight of the slots of its group.

        The sum of squared deviations from the average ḡ of i documents grows by i/(i + 1) (g - ḡ)² with another one;
        `scale` is the factor of this sum in the variance over the orders.
        """
        n, self._n = self._n, self._n + 1
        each = [max(1.0 - float(chances.sum()), 0.0), *chances.tolist()]
        parts = [part for part in zip(each, self._gains, self._next, strict=True) if part[0] > 0.0]
        growth, share = scale * n / (n + 1.0), n / (n + 1.0)
        after = np.concatenate([states for _, _, states in parts])
        weights = np.concatenate([p * self.chance for p, _, _ in parts])
        sums = np.concatenate([self.mean + weight * gain for _, gain, _ in parts])
        averages = np.concatenate([share * self._average + gain / (n + 1.0) for _, gain, _ in parts])
        ties = [self.of_ties + growth * ((gain - self._average) ** 2 + self._scatter) for _, gain, _ in parts]
        size = len(self.chance)
        self.chance = sums_at(after, weights, size)
        # States that underflow to probability 0 have no influence; the divisor 1 avoids 0 / 0.
        total = np.where(self.chance > 0.0, self.chance, 1.0)
        self.mean = sums_at(after, weights * sums, size) / total
        self._average = sums_at(after, weights * averages, size) / total
        self.of_ties = sums_at(after, weights * np.concatenate(ties), size) / total
        labels = np.tile(self.of_labels, len(parts)) + (sums - self.mean[after]) ** 2
        self.of_labels = sums_at(after, weights * labels, size) / total
        scatter = np.tile(share**2 * self._scatter, len(parts)) + (averages - self._average[after]) ** 2
        self._scatter = sums_at(after, weights * scatter, size) / total

    def add_worthless(self, n: int, scale: float) -> None:
        """Add the n documents of the group that have no gain for certain, after all others."""
        if n:
            growth = scale * self._n * n / (self._n + n)
            self.of_ties = self.of_ties + growth * (self._average**2 + self._scatter)
