"""Measures that depend only on the number of relevant documents in each tie group, if relevance is uncertain.

A document d is relevant with probability p_d, independently of the others, so the number of relevant documents of a
tie group has the distribution of a sum of independent trials. The groups are passed through in ranked order with one
state for each number R of relevant documents so far. A state has its probability, and the mean and variances of the
measure's sum. Merging states adds positive terms only, so that the variance of certain labels is exactly 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.statistics.uncertain_labels.uncertain_lists import (
    Moments,
    UncertainList,
    count_distribution,
    mixed,
    sums_at,
)

# Takes the weights of a group's slots, R = 0, 1, … in a column, and r = 0, 1, … in a row; returns the mean and the
# variance of the group's part of the sum over the orders, for each R and r.
Part: TypeAlias = Callable[[Values, Values, Values], tuple[Values, Values]]


class _CountedGroup(NamedTuple):
    """A tie group with documents that may be relevant: the documents before it, its size, and P(r) of its number r."""

    start: int
    size: int
    counts: Values


def _groups(listed: UncertainList, relevant: Values) -> list[_CountedGroup]:
    """Return the tie groups with documents that may be relevant."""
    chances = _chances(listed.probabilities, relevant)
    found = []
    for start, end in zip(listed.starts[:-1].tolist(), listed.starts[1:].tolist(), strict=True):
        if chances[start:end].any():
            found.append(_CountedGroup(start, end - start, count_distribution(chances[start:end])))
    return found


def _chances(probabilities: Values, relevant: Values) -> Values:
    """Return the probability that each document is relevant; `relevant` is 1 for relevant grades, otherwise 0."""
    chances: Values = np.minimum((probabilities * relevant).sum(axis=1), 1.0)
    return chances


def sum_over_groups(listed: UncertainList, relevant: Values, slots: Values, part: Part, divisors: Values) -> Moments:
    """Return the moments of a sum over the tie groups, divided by a number that depends on N.

    `relevant`, float64[n_grades], is 1 for relevant grades, otherwise 0, and `slots` has the weight of each rank.
    `divisors`, float64[most_relevant + 1], has the divisor for each N. The value is 0 for a divisor of 0, and for N =
    0.
    """
    chance, mean, of_labels, of_ties = np.ones(1), np.zeros(1), np.zeros(1), np.zeros(1)
    for group in _groups(listed, relevant):
        before, inside = np.arange(len(chance)), np.arange(len(group.counts))
        own_slots = slots[group.start : group.start + group.size]
        part_mean, part_variance = part(own_slots, before[:, None].astype(np.float64), inside.astype(np.float64))
        after = (before[:, None] + inside).ravel()
        weights = (chance[:, None] * group.counts).ravel()
        sums = (mean[:, None] + part_mean).ravel()
        chance = sums_at(after, weights)
        # States that underflow to probability 0 have no influence; the divisor 1 avoids 0 / 0.
        total = np.where(chance > 0.0, chance, 1.0)
        mean = sums_at(after, weights * sums) / total
        spread = np.broadcast_to(of_labels[:, None], part_mean.shape).ravel() + (sums - mean[after]) ** 2
        of_labels = sums_at(after, weights * spread) / total
        of_ties = sums_at(after, weights * (of_ties[:, None] + part_variance).ravel()) / total
    elsewhere = count_distribution(_chances(listed.unretrieved, relevant))
    number = np.arange(len(chance))[:, None] + np.arange(len(elsewhere))
    divisor = divisors[number]
    counts = (number > 0) & (divisor > 0.0)
    inverse = np.where(counts, 1.0 / np.where(counts, divisor, 1.0), 0.0)
    return mixed(
        (chance[:, None] * elsewhere).ravel(),
        (mean[:, None] * inverse).ravel(),
        (of_labels[:, None] * inverse**2).ravel(),
        (of_ties[:, None] * inverse**2).ravel(),
    )


def most_relevant(listed: UncertainList, relevant: Values) -> int:
    """Return the largest number of relevant documents that is possible."""
    every = np.concatenate((listed.probabilities, listed.unretrieved))
    return int(np.count_nonzero(_chances(every, relevant)))


def weighted_part(slots: Values, before: Values, inside: Values) -> tuple[Values, Values]:
    """Return the part of a sum of slot weights: mean r w̄, variance Σ (w_x - w̄)² r (n - r) / (n (n - 1))."""
    n = len(slots)
    average = slots.sum() / n
    variance = ((slots - average) ** 2).sum() * inside * (n - inside) / (n * max(n - 1, 1))
    shape = len(before), len(inside)
    return np.broadcast_to(average * inside, shape), np.broadcast_to(variance, shape)


def average_precision_part(slots: Values, before: Values, inside: Values) -> tuple[Values, Values]:
    """Return the part of AP · N, with the slot weights w_j = 1 / rank, or 0 below the cut-off.

    With j = 0 … n - 1, the mean is r (R + 1) Σ w_j / n + r (r - 1) Σ j w_j / (n (n - 1)).

    The variance is that of a martingale which uncovers the slots one by one. A relevant instead of a nonrelevant
    document in slot x changes the mean of the part by δ = (R + 1) (w_x - W/ν) + A + B h, where ν = n - x - 1 slots
    follow, W = Σ_{j>x} w_j, K = Σ_{j>x} (j - x - 1) w_j, and h is the number of relevant documents in the slots
    before. With A = (r - 1) (W/ν - 2K/(ν (ν - 1))) and B = w_x - 2W/ν + 2K/(ν (ν - 1)), the variance is
    Σ_x r s ν / (n (n - 1) (n - x)) E[δ²] for s = n - r, over h from the hypergeometric distribution of x draws from
    n - 2 documents with r - 1 relevant ones. All terms of the sum are positive.
    """
    n, r = len(slots), inside
    after = _sums_after(slots)
    later = _sums_after(after)
    whole, ranks = after[0] + slots[0], later[0] + after[0]
    pairs = ranks / (n * max(n - 1, 1))
    mean = (before + 1.0) * r * (whole / n) + r * (r - 1.0) * pairs
    if n == 1 or len(r) == 1:
        return mean, np.zeros_like(mean)
    x = np.arange(min(int(np.count_nonzero(slots)), n - 1), dtype=np.float64)
    left = n - x - 1.0
    w, rest = slots[: len(x)], after[: len(x)] / left
    double = 2.0 * later[: len(x)] / (left * np.maximum(left - 1.0, 1.0))
    share = left / (n * (n - 1.0) * (n - x))
    change, slope = w - rest, w - 2.0 * rest + double
    constant, linear, square = np.zeros(len(r)), np.zeros(len(r)), np.zeros(len(r))
    for i in range(1, min(len(r), n)):
        found = x * (i - 1.0) / max(n - 2.0, 1.0)
        scatter = found * ((n - i - 1.0) / max(n - 2.0, 1.0)) * ((n - 2.0 - x) / max(n - 3.0, 1.0))
        shift = (i - 1.0) * (rest - double) + slope * found
        weights = i * (n - i) * share
        square[i] = (weights * change**2).sum()
        linear[i] = (weights * change * shift).sum()
        constant[i] = (weights * (shift**2 + slope**2 * np.maximum(scatter, 0.0))).sum()
    rank = before + 1.0
    return mean, np.maximum(rank * (rank * square + 2.0 * linear) + constant, 0.0)


def _sums_after(values: Values) -> Values:
    """Return the sum of all later values for each value: float64[n]."""
    sums = np.zeros(len(values))
    sums[:-1] = np.cumsum(values[:0:-1])[::-1]
    return sums


def first_relevant(listed: UncertainList, relevant: Values, slots: Values) -> Moments:
    """Return the moments of the weight of the rank of the first relevant document; 0 if there is none.

    Given r relevant documents among the n of a group, the first of them is in slot x with the probability p_x of the
    negative hypergeometric distribution: p_1 = r / n, p_{x+1} = p_x (n - x - r + 1) / (n - x).
    """
    weights, means, of_ties = [np.zeros(0)], [np.zeros(0)], [np.zeros(0)]
    none = 1.0
    for group in _groups(listed, relevant):
        r = np.arange(1.0, len(group.counts))
        inside = slots[group.start : group.start + group.size]
        mean, variance = _of_first(np.trim_zeros(inside, "b"), group.size, r)
        weights.append(none * group.counts[1:])
        means.append(mean)
        of_ties.append(variance)
        none *= float(group.counts[0])
    every = np.concatenate([*weights, [none]])
    mean, variance = np.concatenate([*means, [0.0]]), np.concatenate([*of_ties, [0.0]])
    return mixed(every, mean, np.zeros(len(every)), variance)


def _of_first(slots: Values, n: int, r: Values) -> tuple[Values, Values]:
    """Return the mean and the variance of the weight of the first of r relevant documents, for each r."""
    rest, mean = np.ones(len(r)), np.zeros(len(r))
    chances = []
    for x, weight in enumerate(slots.tolist()):
        chances.append(rest * np.minimum(r / (n - x), 1.0))
        mean += chances[-1] * weight
        rest = rest * np.maximum((n - x - r) / (n - x), 0.0)
    variance = rest * mean**2
    for chance, weight in zip(chances, slots.tolist(), strict=True):
        variance += chance * (weight - mean) ** 2
    return mean, variance
