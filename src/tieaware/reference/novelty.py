"""Measures of novelty, in which a document gains less for a subtopic of the query with each relevant one before it.

Labels, weights and parameters are as in ``intents``. The means are closed, and the variances go through all orders.

Numbers in brackets, such as [1], refer to the list of references in the docstring of `tieaware.reference`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from tieaware.checks.rounding import ROUNDING
from tieaware.reference.intents import Documents, Labels, Weights, intents, labels_for, variance_over_orders
from tieaware.reference.rankings import Functions, is_relevant, number_of_documents, with_ranks

# A function that returns the weight of a rank.
_Slot: TypeAlias = Callable[[int], float]


def ideal(judged: Documents, alpha: float = 0.5, rel: float = 1, weights: Weights = None) -> list[Labels]:
    """Return the judged documents in the order in which ndeval puts them: always the one with the largest gain next.

    Of documents with equal gains, the first one in `judged` is next. ndeval takes the one with the highest identifier,
    so sort `judged` by descending identifier. The best order may be another one; to find it is NP-hard.

    Parameters
    ----------
    judged : sequence
        The labels of all judged documents.
    alpha : float
        The share of the gain for a subtopic that is lost with each relevant document.
    rel : float
        The smallest relevant label.
    weights : sequence of float, optional
        The weight of each subtopic.

    Returns
    -------
    list

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
    ranking: Documents, judged: Documents, slot: _Slot, alpha: float, rel: float, k: int | None, weights: Weights
) -> float:
    """Return Σ_i w_i Σ_j slot(j) (1-α)^C over the ranks j of documents that are relevant to i; C of them are before j.

    Parameters
    ----------
    ranking, judged : sequence
        The labels of the ranked documents, and of all judged ones.
    slot : callable
        Takes a rank, and returns its weight.
    alpha, rel, k, weights
        As for `alpha_dcg`.

    Returns
    -------
    float

    Examples
    --------
    >>> novel_gain([(1, 1), (1, 0)], [(1, 1)], lambda j: 1 / j, 0.5, 1, None, None)
    1.125
    """
    terms = []
    for i, weight in intents(judged, rel, weights).items():
        before = 0
        for j, label in enumerate(labels_for(ranking, i)[:k], 1):
            if is_relevant(label, rel):
                terms.append(weight * slot(j) * (1 - alpha) ** before)
                before += 1
    return math.fsum(terms)


def mean_of_novel_gain(
    groups: Sequence[Documents], judged: Documents, slot: _Slot, alpha: float, rel: float, k: int | None,
    weights: Weights,
) -> float:  # fmt: skip
    """Return the mean of `novel_gain` over all orders: Σ_i w_i Σ_groups (1-α)^C r/n Σ_x slot(t+x) E[(1-α)^H].

    C documents of earlier groups are relevant to i. H, a hypergeometric number, counts the relevant ones before place
    x of the group, among the r - 1 others. Parameters as for `novel_gain`.

    Examples
    --------
    >>> mean_of_novel_gain([[(1, 1), (1, 0)]], [(1, 1)], lambda j: 1 / j, 0.5, 1, None, None)
    1.0
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
                terms.append(weight * (1 - alpha) ** before * r / n * slot(j) * fall)
            before += r
    return math.fsum(terms)


def _discount(rank: int) -> float:
    return 1 / math.log2(1 + rank)


def _reciprocal(rank: int) -> float:
    return 1 / rank


def _geometric(beta: float) -> _Slot:
    return lambda rank: beta ** (rank - 1)


def _of_all_subtopics(slot: _Slot, alpha: float, depth: int) -> float:
    """Return the value of a ranking in which each document is relevant to all subtopics."""
    return math.fsum(slot(j) * (1 - alpha) ** (j - 1) for j in range(1, max(depth, 1) + 1))


def alpha_dcg(
    ranking: Documents, judged: Documents, alpha: float = 0.5, rel: float = 1, k: int | None = None,
    weights: Weights = None,
) -> float:  # fmt: skip
    """Return the discounted gain, divided by that of documents relevant to all subtopics [22].

    Parameters
    ----------
    ranking, judged : sequence
        The labels of the ranked documents, and of all judged ones.
    alpha : float
        The share of the gain for a subtopic that a document loses with each relevant document before it, 0 … 1.
    rel, k
        As for `tieaware.reference`.
    weights : sequence of float, optional
        The weight of each subtopic; by default, all count alike.

    Returns
    -------
    float
        At least 0.

    Examples
    --------
    >>> round(alpha_dcg([(1, 0), (1, 1)], [(1, 0), (1, 1)]), 6)
    0.739812
    """
    return novel_gain(ranking, judged, _discount, alpha, rel, k, weights) / _of_all_subtopics(
        _discount, alpha, len(ranking) if k is None else k
    )


def mean_of_alpha_dcg(
    groups: Sequence[Documents], judged: Documents, alpha: float = 0.5, rel: float = 1, k: int | None = None,
    weights: Weights = None,
) -> float:  # fmt: skip
    """Return the mean of `alpha_dcg` over all orders.

    Parameters as for `alpha_dcg`.

    Examples
    --------
    >>> round(mean_of_alpha_dcg([[(1, 0), (1, 1)]], [(1, 0), (1, 1)]), 6)
    0.809953
    """
    return mean_of_novel_gain(groups, judged, _discount, alpha, rel, k, weights) / _of_all_subtopics(
        _discount, alpha, number_of_documents(groups) if k is None else k,  # type: ignore[arg-type]
    )


def variance_of_alpha_dcg(
    groups: Sequence[Documents], judged: Documents, alpha: float = 0.5, rel: float = 1, k: int | None = None,
    weights: Weights = None,
) -> float:  # fmt: skip
    """Return the variance of `alpha_dcg` over all orders.

    Parameters as for `alpha_dcg`.

    Examples
    --------
    >>> round(variance_of_alpha_dcg([[(1, 0), (1, 1)]], [(1, 0), (1, 1)]), 6)
    0.00492
    """
    return variance_over_orders(groups, lambda order: alpha_dcg(order, judged, alpha, rel, k, weights))


def alpha_ndcg(
    ranking: Documents, judged: Documents, alpha: float = 0.5, rel: float = 1, k: int | None = None,
    weights: Weights = None,
) -> float:  # fmt: skip
    """Return the discounted gain, divided by that of the `ideal` ranking [22].

    Parameters
    ----------
    ranking, judged : sequence
        The labels of the ranked documents, and of all judged ones.
    alpha : float
        The share of the gain for a subtopic that a document loses with each relevant document before it, 0 … 1.
    rel, k
        As for `tieaware.reference`.
    weights : sequence of float, optional
        The weight of each subtopic; by default, all count alike.

    Returns
    -------
    float
        At least 0.

    Examples
    --------
    >>> round(alpha_ndcg([(1, 0), (1, 1)], [(1, 0), (1, 1)]), 6)
    0.840606
    """
    best = novel_gain(ideal(judged, alpha, rel, weights), judged, _discount, alpha, rel, k, weights)
    return novel_gain(ranking, judged, _discount, alpha, rel, k, weights) / best if best else 0.0


def mean_of_alpha_ndcg(
    groups: Sequence[Documents], judged: Documents, alpha: float = 0.5, rel: float = 1, k: int | None = None,
    weights: Weights = None,
) -> float:  # fmt: skip
    """Return the mean of `alpha_ndcg` over all orders.

    Parameters as for `alpha_ndcg`.

    Examples
    --------
    >>> round(mean_of_alpha_ndcg([[(1, 0), (1, 1)]], [(1, 0), (1, 1)]), 6)
    0.920303
    """
    best = novel_gain(ideal(judged, alpha, rel, weights), judged, _discount, alpha, rel, k, weights)
    return mean_of_novel_gain(groups, judged, _discount, alpha, rel, k, weights) / best if best else 0.0


def variance_of_alpha_ndcg(
    groups: Sequence[Documents], judged: Documents, alpha: float = 0.5, rel: float = 1, k: int | None = None,
    weights: Weights = None,
) -> float:  # fmt: skip
    """Return the variance of `alpha_ndcg` over all orders.

    Parameters as for `alpha_ndcg`.

    Examples
    --------
    >>> round(variance_of_alpha_ndcg([[(1, 0), (1, 1)]], [(1, 0), (1, 1)]), 6)
    0.006352
    """
    return variance_over_orders(groups, lambda order: alpha_ndcg(order, judged, alpha, rel, k, weights))


def intent_aware_err(
    ranking: Documents, judged: Documents, alpha: float = 0.5, rel: float = 1, k: int | None = None,
    weights: Weights = None,
) -> float:  # fmt: skip
    """Return the gain over ranks, divided by that of documents relevant to all subtopics [23].

    Parameters
    ----------
    ranking, judged : sequence
        The labels of the ranked documents, and of all judged ones.
    alpha : float
        The share of the gain for a subtopic that a document loses with each relevant document before it, 0 … 1.
    rel, k
        As for `tieaware.reference`.
    weights : sequence of float, optional
        The weight of each subtopic; by default, all count alike.

    Returns
    -------
    float
        At least 0.

    Examples
    --------
    >>> round(intent_aware_err([(1, 0), (1, 1)], [(1, 0), (1, 1)]), 6)
    0.7
    """
    return novel_gain(ranking, judged, _reciprocal, alpha, rel, k, weights) / _of_all_subtopics(
        _reciprocal, alpha, len(ranking) if k is None else k
    )


def mean_of_intent_aware_err(
    groups: Sequence[Documents], judged: Documents, alpha: float = 0.5, rel: float = 1, k: int | None = None,
    weights: Weights = None,
) -> float:  # fmt: skip
    """Return the mean of `intent_aware_err` over all orders.

    Parameters as for `intent_aware_err`.

    Examples
    --------
    >>> round(mean_of_intent_aware_err([[(1, 0), (1, 1)]], [(1, 0), (1, 1)]), 6)
    0.8
    """
    return mean_of_novel_gain(groups, judged, _reciprocal, alpha, rel, k, weights) / _of_all_subtopics(
        _reciprocal, alpha, number_of_documents(groups) if k is None else k,  # type: ignore[arg-type]
    )


def variance_of_intent_aware_err(
    groups: Sequence[Documents], judged: Documents, alpha: float = 0.5, rel: float = 1, k: int | None = None,
    weights: Weights = None,
) -> float:  # fmt: skip
    """Return the variance of `intent_aware_err` over all orders.

    Parameters as for `intent_aware_err`.

    Examples
    --------
    >>> round(variance_of_intent_aware_err([[(1, 0), (1, 1)]], [(1, 0), (1, 1)]), 6)
    0.01
    """
    return variance_over_orders(groups, lambda order: intent_aware_err(order, judged, alpha, rel, k, weights))


def normalised_err_ia(
    ranking: Documents, judged: Documents, alpha: float = 0.5, rel: float = 1, k: int | None = None,
    weights: Weights = None,
) -> float:  # fmt: skip
    """Return the gain over ranks, divided by that of the `ideal` ranking [23].

    Parameters
    ----------
    ranking, judged : sequence
        The labels of the ranked documents, and of all judged ones.
    alpha : float
        The share of the gain for a subtopic that a document loses with each relevant document before it, 0 … 1.
    rel, k
        As for `tieaware.reference`.
    weights : sequence of float, optional
        The weight of each subtopic; by default, all count alike.

    Returns
    -------
    float
        At least 0.

    Examples
    --------
    >>> round(normalised_err_ia([(1, 0), (1, 1)], [(1, 0), (1, 1)]), 6)
    0.777778
    """
    best = novel_gain(ideal(judged, alpha, rel, weights), judged, _reciprocal, alpha, rel, k, weights)
    return novel_gain(ranking, judged, _reciprocal, alpha, rel, k, weights) / best if best else 0.0


def mean_of_normalised_err_ia(
    groups: Sequence[Documents], judged: Documents, alpha: float = 0.5, rel: float = 1, k: int | None = None,
    weights: Weights = None,
) -> float:  # fmt: skip
    """Return the mean of `normalised_err_ia` over all orders.

    Parameters as for `normalised_err_ia`.

    Examples
    --------
    >>> round(mean_of_normalised_err_ia([[(1, 0), (1, 1)]], [(1, 0), (1, 1)]), 6)
    0.888889
    """
    best = novel_gain(ideal(judged, alpha, rel, weights), judged, _reciprocal, alpha, rel, k, weights)
    return mean_of_novel_gain(groups, judged, _reciprocal, alpha, rel, k, weights) / best if best else 0.0


def variance_of_normalised_err_ia(
    groups: Sequence[Documents], judged: Documents, alpha: float = 0.5, rel: float = 1, k: int | None = None,
    weights: Weights = None,
) -> float:  # fmt: skip
    """Return the variance of `normalised_err_ia` over all orders.

    Parameters as for `normalised_err_ia`.

    Examples
    --------
    >>> round(variance_of_normalised_err_ia([[(1, 0), (1, 1)]], [(1, 0), (1, 1)]), 6)
    0.012346
    """
    return variance_over_orders(
        groups, lambda order: normalised_err_ia(order, judged, alpha, rel, k, weights)
    )


def nrbp(
    ranking: Documents, judged: Documents, alpha: float = 0.5, beta: float = 0.5, rel: float = 1,
    weights: Weights = None,
) -> float:  # fmt: skip
    """Return the gain times β^(rank - 1), times 1 - (1 - α) β [24].

    Parameters
    ----------
    ranking, judged : sequence
        The labels of the ranked documents, and of all judged ones.
    alpha : float
        The share of the gain for a subtopic that a document loses with each relevant document before it, 0 … 1.
    beta : float
        The probability that the user goes on to the next document, above 0 and below 1.
    rel
        As for `tieaware.reference`.
    weights : sequence of float, optional
        The weight of each subtopic; by default, all count alike.

    Returns
    -------
    float
        At least 0.

    Examples
    --------
    >>> round(nrbp([(1, 0), (1, 1)], [(1, 0), (1, 1)]), 6)
    0.65625
    """
    return novel_gain(ranking, judged, _geometric(beta), alpha, rel, None, weights) * (1 - (1 - alpha) * beta)


def mean_of_nrbp(
    groups: Sequence[Documents], judged: Documents, alpha: float = 0.5, beta: float = 0.5, rel: float = 1,
    weights: Weights = None,
) -> float:  # fmt: skip
    """Return the mean of `nrbp` over all orders.

    Parameters as for `nrbp`.

    Examples
    --------
    >>> round(mean_of_nrbp([[(1, 0), (1, 1)]], [(1, 0), (1, 1)]), 6)
    0.75
    """
    return mean_of_novel_gain(groups, judged, _geometric(beta), alpha, rel, None, weights) * (1 - (1 - alpha) * beta)


def variance_of_nrbp(
    groups: Sequence[Documents], judged: Documents, alpha: float = 0.5, beta: float = 0.5, rel: float = 1,
    weights: Weights = None,
) -> float:  # fmt: skip
    """Return the variance of `nrbp` over all orders.

    Parameters as for `nrbp`.

    Examples
    --------
    >>> round(variance_of_nrbp([[(1, 0), (1, 1)]], [(1, 0), (1, 1)]), 6)
    0.008789
    """
    return variance_over_orders(
        groups, lambda order: nrbp(order, judged, alpha, beta, rel, weights)
    )


def normalised_nrbp(
    ranking: Documents, judged: Documents, alpha: float = 0.5, beta: float = 0.5, rel: float = 1,
    weights: Weights = None,
) -> float:  # fmt: skip
    """Return the gain times β^(rank - 1), divided by that of the `ideal` ranking [24].

    Parameters
    ----------
    ranking, judged : sequence
        The labels of the ranked documents, and of all judged ones.
    alpha : float
        The share of the gain for a subtopic that a document loses with each relevant document before it, 0 … 1.
    beta : float
        The probability that the user goes on to the next document, above 0 and below 1.
    rel
        As for `tieaware.reference`.
    weights : sequence of float, optional
        The weight of each subtopic; by default, all count alike.

    Returns
    -------
    float
        At least 0.

    Examples
    --------
    >>> round(normalised_nrbp([(1, 0), (1, 1)], [(1, 0), (1, 1)]), 6)
    0.777778
    """
    best = novel_gain(ideal(judged, alpha, rel, weights), judged, _geometric(beta), alpha, rel, None, weights)
    return novel_gain(ranking, judged, _geometric(beta), alpha, rel, None, weights) / best if best else 0.0


def mean_of_normalised_nrbp(
    groups: Sequence[Documents], judged: Documents, alpha: float = 0.5, beta: float = 0.5, rel: float = 1,
    weights: Weights = None,
) -> float:  # fmt: skip
    """Return the mean of `normalised_nrbp` over all orders.

    Parameters as for `normalised_nrbp`.

    Examples
    --------
    >>> round(mean_of_normalised_nrbp([[(1, 0), (1, 1)]], [(1, 0), (1, 1)]), 6)
    0.888889
    """
    best = novel_gain(ideal(judged, alpha, rel, weights), judged, _geometric(beta), alpha, rel, None, weights)
    return mean_of_novel_gain(groups, judged, _geometric(beta), alpha, rel, None, weights) / best if best else 0.0


def variance_of_normalised_nrbp(
    groups: Sequence[Documents], judged: Documents, alpha: float = 0.5, beta: float = 0.5, rel: float = 1,
    weights: Weights = None,
) -> float:  # fmt: skip
    """Return the variance of `normalised_nrbp` over all orders.

    Parameters as for `normalised_nrbp`.

    Examples
    --------
    >>> round(variance_of_normalised_nrbp([[(1, 0), (1, 1)]], [(1, 0), (1, 1)]), 6)
    0.012346
    """
    return variance_over_orders(groups, lambda order: normalised_nrbp(order, judged, alpha, beta, rel, weights))


MEASURES: dict[str, Functions] = {
    "alpha_DCG": (alpha_dcg, mean_of_alpha_dcg, variance_of_alpha_dcg),
    "alpha_nDCG": (alpha_ndcg, mean_of_alpha_ndcg, variance_of_alpha_ndcg),
    "ERR_IA": (intent_aware_err, mean_of_intent_aware_err, variance_of_intent_aware_err),
    "nERR_IA": (
        normalised_err_ia,
        mean_of_normalised_err_ia,
        variance_of_normalised_err_ia,
    ),
    "NRBP": (
        nrbp,
        mean_of_nrbp,
        variance_of_nrbp,
    ),
    "nNRBP": (normalised_nrbp, mean_of_normalised_nrbp, variance_of_normalised_nrbp),
}
