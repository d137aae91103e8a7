"""LambdaMART's gradients: what swapping two documents would change on average, over the orders of tied documents.

The documents of a list are given by their tie groups, best first, each a list of gains; a document is named by its
group and its place in it: `a` and `b` are two documents. Orders in which both are below rank `truncation` do not
count. `weight` takes a rank and returns its weight. For reciprocal rank and average precision, documents with a gain
are relevant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

Gains: TypeAlias = Sequence[Sequence[float]]
Document: TypeAlias = tuple[int, int]
# The weight of a rank, from 1; no rank has a greater weight than the one before it.
Weight: TypeAlias = Callable[[int], float]
# The expected change of a measure by swapping two documents, for a truncation level.
Change: TypeAlias = Callable[[Gains, Document, Document, int], float]


def pairs_of_ranks(groups: Gains, a: Document, b: Document) -> Iterator[tuple[int, int, float]]:
    """Yield the ranks x < y that two documents can take, in either order, with the probability of each pair.

    Examples
    --------
    >>> list(pairs_of_ranks([[1], [0, 0]], (0, 0), (1, 1)))
    [(1, 2, 0.5), (1, 3, 0.5)]
    >>> list(pairs_of_ranks([[1, 0]], (0, 1), (0, 0)))
    [(1, 2, 1.0)]
    """
    upper, lower = sorted((a[0], b[0]))
    t_upper, t_lower = (sum(map(len, groups[:g])) for g in (upper, lower))
    n_upper, n_lower = len(groups[upper]), len(groups[lower])
    pairs = [
        (x, y)
        for x in range(t_upper + 1, t_upper + n_upper + 1)
        for y in range(max(x, t_lower) + 1, t_lower + n_lower + 1)
    ]
    for x, y in pairs:
        yield x, y, 1 / len(pairs)


def change_of_sum(groups: Gains, a: Document, b: Document, truncation: int, weight: Weight) -> float:
    """Return E|ΔM| for a measure that adds up gains times weights of ranks: |g_a - g_b| times the mean of w(x) - w(y).

    Examples
    --------
    >>> change_of_sum([[1], [0, 0]], (0, 0), (1, 1), 9, lambda rank: 1 / rank)
    0.5833333333333334
    """
    gap = abs(groups[a[0]][a[1]] - groups[b[0]][b[1]])
    return gap * math.fsum(p * (weight(x) - weight(y)) for x, y, p in pairs_of_ranks(groups, a, b) if x <= truncation)


def change_of_average_precision(groups: Gains, a: Document, b: Document, truncation: int, weight: Weight) -> float:
    """Return E|ΔAP| · N: the mean of (C + 1)/x + Σ 1/p - (C + M + 1)/y, if exactly one of the documents is relevant.

    C other relevant documents are before rank x, M between ranks x and y, at the ranks p. `weight` is 1/rank to the
    cut-off, and 0 below it.

    Examples
    --------
    >>> change_of_average_precision([[1], [0, 1]], (0, 0), (1, 0), 9, lambda rank: 1 / rank)
    0.6666666666666667
    """
    if (groups[a[0]][a[1]] > 0) == (groups[b[0]][b[1]] > 0):
        return 0.0
    changes = []
    for x, y, p in pairs_of_ranks(groups, a, b):
        chances = _chances_of_others(groups, a, b, x, y)
        before, between = math.fsum(chances[: x - 1]), math.fsum(chances[x : y - 1])
        gained = math.fsum(chances[q - 1] * weight(q) for q in range(x + 1, y))
        change = (before + 1) * weight(x) + gained - (before + between + 1) * weight(y)
        changes.append(p * change * (x <= truncation))
    return math.fsum(changes)


def change_of_reciprocal_rank(groups: Gains, a: Document, b: Document, truncation: int, weight: Weight) -> float:
    """Return E|ΔRR|: the mean of w(x) - w(min(y, S)) where no other document before x is relevant, else of 0.

    S is the rank of the first other relevant document after x. The difference is the sum of w(q - 1) - w(q) over the
    ranks q after x, up to y, before which there is no other relevant document.

    Examples
    --------
    >>> change_of_reciprocal_rank([[1], [0, 1]], (0, 0), (1, 0), 9, lambda rank: 1 / rank)
    0.5
    """
    if (groups[a[0]][a[1]] > 0) == (groups[b[0]][b[1]] > 0):
        return 0.0
    return math.fsum(
        p * (weight(q - 1) - weight(q)) * _chance_of_none_before(groups, a, b, x, y, q)
        for x, y, p in pairs_of_ranks(groups, a, b)
        if x <= truncation
        for q in range(x + 1, y + 1)
    )


def lambdas(
    scores: Sequence[float], gains: Sequence[float], change: Change, truncation: int, sigma: float, normalise: bool
) -> tuple[list[float], list[float]]:
    """Return the gradient and the hessian of each document of a list, in the order of the scores.

    λ = σ E|ΔM| / (1 + exp(σ (s_i - s_j))) is subtracted from the gradient of the document i of higher gain and added to
    that of j; both hessians grow by σ λ / (1 + exp(σ (s_j - s_i))). With `normalise`, E|ΔM| is divided by 0.01 +
    |s_i - s_j|, unless all documents tie, and all results are multiplied by log2(1 + S) / S, S twice the sum of all λ.
    The documents have `scores` and gains; `change` is E|ΔM|, such as `change_of_sum` with the weights of the ranks, and
    `sigma` the slope of the logistic loss, σ.

    Examples
    --------
    >>> def change(groups, a, b, truncation):
    ...     return change_of_reciprocal_rank(groups, a, b, truncation, lambda rank: 1 / rank)
    >>> gradient, hessian = lambdas([0.0, 0.0], [1.0, 0.0], change, 9, 1.0, False)
    >>> gradient, hessian
    ([-0.25, 0.25], [0.125, 0.125])
    """
    distinct = sorted(set(scores), reverse=True)
    members = [[i for i, score in enumerate(scores) if score == each] for each in distinct]
    groups = [[gains[i] for i in group] for group in members]
    where = {i: (g, place) for g, group in enumerate(members) for place, i in enumerate(group)}
    gradient, hessian = [0.0] * len(scores), [0.0] * len(scores)
    total = 0.0
    for i in range(len(scores)):
        for j in range(len(scores)):
            if gains[i] <= gains[j]:
                continue
            distance = scores[i] - scores[j]
            changed = change(groups, where[i], where[j], truncation)
            if normalise and len(distinct) > 1:
                changed /= 0.01 + abs(distance)
            wrong, right = _logistic(-sigma * distance), _logistic(sigma * distance)
            push = sigma * changed * wrong
            gradient[i] -= push
            gradient[j] += push
            hessian[i] += sigma * push * right
            hessian[j] += sigma * push * right
            total += 2 * push
    factor = math.log1p(total) / math.log(2) / total if normalise and total > 0 else 1.0
    return [factor * each for each in gradient], [factor * each for each in hessian]


def _logistic(x: float) -> float:
    """Return 1 / (1 + exp(-x))."""
    return 1 / (1 + math.exp(-x)) if x > -700 else math.exp(x)


def _others(groups: Gains, a: Document, b: Document, x: int, y: int) -> Iterator[tuple[list[int], int]]:
    """Yield for each group the ranks of its documents other than a and b, and how many of these are relevant."""
    first = 1
    for g, group in enumerate(groups):
        ranks = [rank for rank in range(first, first + len(group)) if rank not in (x, y)]
        yield ranks, sum(gain > 0 for place, gain in enumerate(group) if (g, place) not in (a, b))
        first += len(group)


def _chances_of_others(groups: Gains, a: Document, b: Document, x: int, y: int) -> list[float]:
    """Return the chance that a relevant document other than a and b is at each rank."""
    chances = [0.0] * sum(map(len, groups))
    for ranks, relevant in _others(groups, a, b, x, y):
        for rank in ranks:
            chances[rank - 1] = relevant / len(ranks)
    return chances


def _chance_of_none_before(groups: Gains, a: Document, b: Document, x: int, y: int, q: int) -> float:
    """Return the chance that no other relevant document is before rank q: a product of C(n-r, m)/C(n, m)."""
    chance = 1.0
    for ranks, relevant in _others(groups, a, b, x, y):
        before = sum(rank < q for rank in ranks)
        chance *= math.comb(len(ranks) - relevant, before) / math.comb(len(ranks), before)
    return chance
