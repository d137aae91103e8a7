"""Measures of novelty, in which a document gains less for a subtopic of the query with each relevant one before it.

Labels and `weights` are as in `tieaware.reference.intents`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tieaware.checks.rounding import ROUNDING
from tieaware.reference.intents import Documents, Labels, Weights, intents, labels_for
from tieaware.reference.rankings import Functions, is_relevant, number_of_documents, variance_over_orders, with_ranks

# A function that returns the weight of a rank, given the parameter beta.
Slot: TypeAlias = Callable[[int, float], float]


def ideal(judged: Documents, alpha: float = 0.5, rel: float = 1, weights: Weights = None) -> list[Labels]:
    """Return the judged documents in the order in which ndeval puts them: always the one with the largest gain next.

    Of documents with equal gains, the first one in `judged` is next. ndeval takes the one with the highest identifier,
    so sort `judged` by descending identifier. The best order may be another one; to find it is NP-hard.

    Examples
    --------
    >>> ideal([(1, 0), (1, 0), (0, 1), (1, 1)])
    [(1, 1), (1, 0), (0, 1), (1, 0)]
    """
    left, ranking = list(judged), list[Labels]()
    gains = intents(judged, rel, weights)
    while left:
        worth = [math.fsum(gains[i] for i in gains if is_relevant(labels_for([d], i)[0], rel)) for d in left]
        # The first of the largest, which may differ by rounding.
        ranking.append(left.pop(next(i for i, gain in enumerate(worth) if gain >= max(worth) * (1 - ROUNDING))))
        for i in gains:
            if is_relevant(labels_for(ranking[-1:], i)[0], rel):
                gains[i] *= 1 - alpha
    return ranking


def novel_gain(
    ranking: Documents, judged: Documents, slot: Slot, alpha: float = 0.5, beta: float = 0.5, rel: float = 1,
    k: int | None = None, weights: Weights = None,
) -> float:  # fmt: skip
    """Return Σ_i w_i Σ_j slot(j) (1-α)^C over the ranks j of documents that are relevant to i; C of them are before j.

    `slot` takes a rank and `beta`, and returns the weight of the rank.

    Examples
    --------
    >>> novel_gain([(1, 1), (1, 0)], [(1, 1)], reciprocal), mean_of_novel_gain([[(1, 1), (1, 0)]], [(1, 1)], reciprocal)
    (1.125, 1.0)
    """
    terms = []
    for i, weight in intents(judged, rel, weights).items():
        before = 0
        for j, label in enumerate(labels_for(ranking, i)[:k], 1):
            if is_relevant(label, rel):
                terms.append(weight * slot(j, beta) * (1 - alpha) ** before)
                before += 1
    return math.fsum(terms)


def mean_of_novel_gain(
    groups: Sequence[Documents], judged: Documents, slot: Slot, alpha: float = 0.5, beta: float = 0.5, rel: float = 1,
    k: int | None = None, weights: Weights = None,
) -> float:  # fmt: skip
    """Return the mean of `novel_gain` over all orders: Σ_i w_i Σ_groups (1-α)^C r/n Σ_x slot(t+x) E[(1-α)^H].

    C documents of earlier groups are relevant to i. H, a hypergeometric number, counts the relevant ones before place
    x of the group, among the r - 1 others.
    """
    terms = []
    for i, weight in intents(judged, rel, weights).items():
        before = 0
        for ranks, documents in with_ranks(groups, k):  # type: ignore[arg-type]
            n = len(documents)
            r = sum(is_relevant(label, rel) for label in labels_for(documents, i))
            for x, j in enumerate(ranks):
                least, most = max(x - (n - r), 0), min(x, r - 1)
                fall = math.fsum(
                    math.comb(r - 1, h) * math.comb(n - r, x - h) / math.comb(n - 1, x) * (1 - alpha) ** h
                    for h in range(least, most + 1)
                )
                terms.append(weight * (1 - alpha) ** before * r / n * slot(j, beta) * fall)
            before += r
    return math.fsum(terms)


def discount(rank: int, beta: float = 0.5) -> float:
    """Return 1 / log2(1 + `rank`).

    Examples
    --------
    >>> discount(3)
    0.5
    """
    return 1 / math.log2(1 + rank)


def reciprocal(rank: int, beta: float = 0.5) -> float:
    """Return 1 / `rank`.

    Examples
    --------
    >>> reciprocal(4)
    0.25
    """
    return 1 / rank


def geometric(rank: int, beta: float = 0.5) -> float:
    """Return β^(`rank` - 1).

    Examples
    --------
    >>> geometric(3)
    0.25
    """
    return beta ** (rank - 1)


def novelty(slot: Slot, normalised: bool) -> Functions:
    """Return the functions of a measure: `novel_gain` with the weights `slot`, divided by a greatest gain.

    If the measure is `normalised`, this is the gain of the `ideal` ranking. If not, it is that of a ranking in which
    each document is relevant to all subtopics. The variance goes through all orders.

    Examples
    --------
    >>> value, mean, variance = novelty(discount, normalised=True)
    >>> ranking, judged = [(1, 0), (1, 1)], [(1, 0), (1, 1)]
    >>> [round(each, 6) for each in (value(ranking, judged), mean([ranking], judged), variance([ranking], judged))]
    [0.840606, 0.920303, 0.006352]
    """

    def divided(
        gain: float, n: int, judged: Documents, alpha: float = 0.5, beta: float = 0.5, rel: float = 1,
        k: int | None = None, weights: Weights = None,
    ) -> float:  # fmt: skip
        if normalised:
            best = novel_gain(ideal(judged, alpha, rel, weights), judged, slot, alpha, beta, rel, k, weights)
            return gain / best if best else 0.0
        if slot is geometric:
            # The sum of a geometric series over all ranks.
            return gain * (1 - (1 - alpha) * beta)
        depth = max(n if k is None else k, 1)
        return gain / math.fsum(slot(j, beta) * (1 - alpha) ** (j - 1) for j in range(1, depth + 1))

    def of_ranking(ranking: Documents, judged: Documents, **parameters: Any) -> float:
        return divided(novel_gain(ranking, judged, slot, **parameters), len(ranking), judged, **parameters)

    def of_groups(groups: Sequence[Documents], judged: Documents, **parameters: Any) -> float:
        n = number_of_documents(groups)  # type: ignore[arg-type]
        return divided(mean_of_novel_gain(groups, judged, slot, **parameters), n, judged, **parameters)

    def variance(groups: Sequence[Documents], judged: Documents, **parameters: Any) -> float:
        return variance_over_orders(groups, None, lambda order: of_ranking(order, judged, **parameters))  # type: ignore[arg-type]

    return of_ranking, of_groups, variance


# alpha-nDCG [22], ERR-IA [23] and NRBP [24].
MEASURES: dict[str, Functions] = {
    "alpha_DCG": novelty(discount, normalised=False),
    "alpha_nDCG": novelty(discount, normalised=True),
    "ERR_IA": novelty(reciprocal, normalised=False),
    "nERR_IA": novelty(reciprocal, normalised=True),
    "NRBP": novelty(geometric, normalised=False),
    "nNRBP": novelty(geometric, normalised=True),
}
