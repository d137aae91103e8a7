"""Expected reciprocal rank if the labels, and so the probabilities that a user stops, are uncertain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.statistics.uncertain_labels.uncertain_lists import Moments, UncertainList, gain_moments

# A user reaches later slots of a group so rarely that they change no value.
_NEVER = 1e-16
# The arrays of a group have a number for each pair of slots, so more slots need too much memory.
_MOST_SLOTS = 2000


class _StopGroup(NamedTuple):
    """A tie group: the documents before it, its slots that count, its size, and its documents that may stop the user.

    `passes` and `squares` are the mean and the mean square of the probability that a user passes each of these
    documents, and `certain` says whether it is certain.
    """

    start: int
    depth: int
    size: int
    passes: Values
    squares: Values
    certain: bool


def expected_reciprocal_rank(listed: UncertainList, stops: Values, cutoff: int | None) -> Moments:
    """Return the moments of Σ_x θ_π(x) Π_{y<x} (1 - θ_π(y)) / x, for independent stop probabilities θ of each grade.

    From the last group to the first, X = Z + A X' with Z the part of the group, A the probability that the user passes
    all of its documents, and X' the part of the later groups, which is independent of both. So

    - the mean is E Z + E A · E X',
    - the variance over the labels is Var(E[Z | labels] + A · E X') + E A² · that of X',
    - the mean variance over the orders is E Var(Z | labels) + E A² · that of X'.
    """
    later = Moments()
    for group in reversed(_groups(listed, stops, cutoff)):
        later = _in_front(group, later)
    return later


def cost_of_stops(listed: UncertainList, stops: Values, cutoff: int | None) -> float:
    """Return the number of steps that `expected_reciprocal_rank` takes; infinity if it needs too much memory."""
    groups = [group for group in _groups(listed, stops, cutoff) if group.size > 1]
    if any(group.depth > _MOST_SLOTS for group in groups):
        return float("inf")
    return float(sum(len(group.passes) * (group.depth + 1) ** 2 for group in groups))


def _groups(listed: UncertainList, stops: Values, cutoff: int | None) -> list[_StopGroup]:
    """Return the tie groups above the cut-off with documents that may stop the user."""
    passes, variances = gain_moments(listed.probabilities, 1.0 - stops)
    may_stop = (listed.probabilities * stops).sum(axis=1) > 0.0
    groups = []
    for start, end in zip(listed.starts[:-1].tolist(), listed.starts[1:].tolist(), strict=True):
        chosen = start + np.flatnonzero(may_stop[start:end])
        if (cutoff is None or start < cutoff) and len(chosen):
            depth = end - start if cutoff is None else min(cutoff - start, end - start)
            squares = variances[chosen] + passes[chosen] ** 2
            certain = not bool((np.count_nonzero(listed.probabilities[chosen], axis=1) > 1).any())
            group = _StopGroup(start, depth, end - start, passes[chosen], squares, certain)
            reached = int(np.count_nonzero(_passing(group)[:-1] > _NEVER))
            groups.append(group._replace(depth=reached))
    return groups


def _in_front(group: _StopGroup, later: Moments) -> Moments:
    """Return the moments of Z + A X' for a group before the others, whose moments are `later`."""
    square_of_all = float(np.prod(group.squares))
    if group.size == 1:
        stays, rank = float(group.passes[0]), group.start + 1.0
        own = (square_of_all - stays**2) * (later.mean - 1.0 / rank) ** 2
        return Moments(
            (1.0 - stays) / rank + stays * later.mean,
            (0.0 if group.certain else max(own, 0.0)) + square_of_all * later.of_labels,
            square_of_all * later.of_ties,
        )
    # By parts, Z = Σ_x weight_x A_x, where A_x is the probability that the user passes x documents, x = 0 … depth.
    ranks = group.start + 1.0 + np.arange(group.depth)
    weights = np.concatenate(([1.0 / ranks[0]], 1.0 / ranks[1:] - 1.0 / ranks[:-1], [-1.0 / ranks[-1]]))
    passed = _passing(group)
    of_all = float(np.prod(group.passes))
    mean = float(((passed[:-1] - passed[1:]) / ranks).sum()) + of_all * later.mean
    twice = _in_two_orders(group)
    products = weights[:, None] * weights
    of_ties = float((products * (_in_one_order(group) - twice)).sum())
    identical = group.certain and len(group.passes) == group.size and bool((group.passes == group.passes[0]).all())
    of_labels = float((products * (twice - passed[:, None] * passed)).sum())
    of_labels += 2.0 * later.mean * float((weights * (_with_all(group) - passed * of_all)).sum())
    of_labels += later.mean**2 * (square_of_all - of_all**2)
    return Moments(
        mean,
        (0.0 if group.certain else max(of_labels, 0.0)) + square_of_all * later.of_labels,
        (0.0 if identical else max(of_ties, 0.0)) + square_of_all * later.of_ties,
    )


def _passing(group: _StopGroup) -> Values:
    """Return E A_x for x = 0 … depth: the mean, over all sets of x documents, of the product of their `passes`."""
    return _over_sets(group, group.passes, np.ones(len(group.passes)))


def _with_all(group: _StopGroup) -> Values:
    """Return E[A_x A] for x = 0 … depth, where A is the probability that the user passes all documents."""
    return _over_sets(group, group.squares, group.passes)


def _over_sets(group: _StopGroup, inside: Values, outside: Values) -> Values:
    """Return the mean, over all sets of x = 0 … depth documents, of the product of a factor of each document.

    The factor is `inside` for the documents of the set, and `outside` for all others. Each document that may stop is
    added in turn. Among i documents, it is in a random set of x with probability x / i.
    """
    x = np.arange(group.depth + 1.0)
    means = np.ones(group.depth + 1)
    both = zip(inside.tolist(), outside.tolist(), strict=True)
    for i, (within, without) in enumerate(both, group.size - len(group.passes) + 1):
        share = np.minimum(x / i, 1.0)
        means[1:] = (1.0 - share[1:]) * without * means[1:] + share[1:] * within * means[:-1]
        means[0] *= without
    return means


def _in_one_order(group: _StopGroup) -> Values:
    """Return E[A_x A_y] for one order of the documents: float64[depth + 1, depth + 1].

    For x <= y, the documents of the first x slots have their `squares` as factors, those of the next z = y - x slots
    their `passes`. Among i documents, one is in the first set with probability x / i, in the other with z / i.
    """
    x, z = np.arange(group.depth + 1.0)[:, None], np.arange(group.depth + 1.0)
    means = np.ones((group.depth + 1, group.depth + 1))
    both = zip(group.passes.tolist(), group.squares.tolist(), strict=True)
    for i, (stays, square) in enumerate(both, group.size - len(group.passes) + 1):
        new = np.maximum((i - x - z) / i, 0.0) * means
        new[1:] += np.minimum(x[1:] / i, 1.0) * square * means[:-1]
        new[:, 1:] += np.minimum(z[1:] / i, 1.0) * stays * means[:, :-1]
        means = new
    first = np.minimum(x, z).astype(np.int64)
    products: Values = means[first, np.abs(x - z).astype(np.int64)]
    return products


def _in_two_orders(group: _StopGroup) -> Values:
    """Return E[A_x A_y] for two independent orders of the same documents: float64[depth + 1, depth + 1].

    Among i documents, one is in the first set with probability x / i, and in the second with probability y / i.
    """
    x, y = np.arange(group.depth + 1.0)[:, None], np.arange(group.depth + 1.0)
    means = np.ones((group.depth + 1, group.depth + 1))
    both = zip(group.passes.tolist(), group.squares.tolist(), strict=True)
    for i, (stays, square) in enumerate(both, group.size - len(group.passes) + 1):
        first, second = np.minimum(x / i, 1.0), np.minimum(y / i, 1.0)
        new = (1.0 - first) * (1.0 - second) * means
        new[1:] += first[1:] * (1.0 - second) * stays * means[:-1]
        new[:, 1:] += (1.0 - first) * second[1:] * stays * means[:, :-1]
        new[1:, 1:] += first[1:] * second[1:] * square * means[:-1, :-1]
        means = new
    return means
