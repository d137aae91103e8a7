"""Measures that depend only on the ranks of the first relevant documents: RR, Success, ESL, PAtRel and PRR."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tieaware.reference.hits import hits
from tieaware.reference.rankings import (
    Functions,
    Groups,
    Ranking,
    is_relevant,
    number_of_documents,
    relevant,
    with_ranks,
)


def reciprocal_rank(ranking: Ranking, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return 1 / the rank of the first relevant document; 0 if none is within the cut-off [3]_.

    Examples
    --------
    >>> reciprocal_rank([0, 1, 1], [0, 1, 1])
    0.5
    >>> mean_of_reciprocal_rank([[1, 0]], [1, 0])
    0.75
    >>> variance_of_reciprocal_rank([[1, 0]], [1, 0])
    0.0625
    """
    for j, label in enumerate(ranking[:k], start=1):
        if is_relevant(label, rel):
            return 1 / j
    return 0.0


def chances_of_first_relevant(n: int, r: int) -> Iterator[float]:
    """Yield p_1, p_2, …: p_x is the probability that the first relevant document of a group is its x-th document.

    p_1 = r/n, and p_{x+1} = p_x (n-x-r+1)/(n-x). The p_x are the differences between successive values of the
    survival function, which is the probability that none of the first x documents is relevant. The formula printed in
    [2]_ sums the survival function itself instead. The group has `n` documents, `r` of them relevant, at least 1.

    Examples
    --------
    >>> list(chances_of_first_relevant(4, 2))
    [0.5, 0.3333333333333333, 0.16666666666666666]
    """
    p = r / n
    yield p
    for x in range(1, n - r + 1):
        p *= (n - x - r + 1) / (n - x)
        yield p


def mean_of_reciprocal_rank(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the mean of `reciprocal_rank`: Σ p_x/(t+x) for the first group with a relevant document.

    The probabilities p_x are those of `chances_of_first_relevant`.
    """
    for ranks, labels in with_ranks(groups, k):
        r = relevant(labels, rel)
        if r:
            chances = chances_of_first_relevant(len(labels), r)
            return math.fsum(p / j for j, p in zip(ranks, chances, strict=False))
    return 0.0


def variance_of_reciprocal_rank(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the variance of `reciprocal_rank`, whose value is 1/(t+x) with probability p_x, or 0 below the cut-off.

    The probabilities p_x are those of `chances_of_first_relevant`.
    """
    for ranks, labels in with_ranks(groups, k):
        r = relevant(labels, rel)
        if r:
            chances = list(chances_of_first_relevant(len(labels), r))
            values = [1 / j for j in ranks][: len(chances)] + [0.0] * (len(chances) - len(ranks))
            mean = math.fsum(p * v for p, v in zip(chances, values, strict=True))
            return math.fsum(p * (v - mean) ** 2 for p, v in zip(chances, values, strict=True))
    return 0.0


def success(ranking: Ranking, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return 1 if a relevant document is within the cut-off, else 0: trec_eval's success.

    Examples
    --------
    >>> success([0, 1, 0], [0, 1, 0], k=1), success([0, 1, 0], [0, 1, 0], k=2)
    (0.0, 1.0)
    >>> mean_of_success([[1, 0]], [1, 0], k=1)
    0.5
    >>> variance_of_success([[1, 0]], [1, 0], k=1)
    0.25
    """
    return float(hits(ranking, k, rel) > 0)


def mean_of_success(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the mean of `success`: Σ p_x = 1 - C(n-r, m)/C(n, m), the hypergeometric chance of a hit.

    The formula is for the first group with a relevant document.
    """
    for ranks, labels in with_ranks(groups, k):
        r = relevant(labels, rel)
        if r:
            chances = chances_of_first_relevant(len(labels), r)
            return math.fsum(p for _, p in zip(ranks, chances, strict=False))
    return 0.0


def variance_of_success(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the variance of `success`: q (1 - q), where q is the mean of `success`."""
    q = mean_of_success(groups, judged, k, rel)
    return q * (1 - q)


def search_length(ranking: Ranking, judged: Ranking, i: int = 1, rel: float = 1) -> float:
    """Count the nonrelevant documents above the i-th relevant one [8]_.

    If fewer than i relevant documents are retrieved, all retrieved nonrelevant documents count.

    Examples
    --------
    >>> search_length([0, 0, 1, 0, 1], [1, 1], i=2)
    3.0
    >>> mean_of_search_length([[0], [1, 0, 0]], [1])
    2.0
    >>> variance_of_search_length([[1, 0]], [1, 0])
    0.25
    """
    return mean_of_search_length([[label] for label in ranking], judged, i, rel)


def mean_of_search_length(groups: Groups, judged: Ranking, i: int = 1, rel: float = 1) -> float:
    """Return the mean of `search_length`: j + i (n-r)/(r+1) [8]_.

    The formula is for the group that contains the wanted document: i is the number of this document among the relevant
    documents of the group, and j nonrelevant documents precede the group.
    """
    if not relevant(judged, rel):
        return 0.0
    nonrelevant = 0
    for labels in groups:
        r, n = relevant(labels, rel), len(labels)
        if r >= i:
            return nonrelevant + i * (n - r) / (r + 1)
        i -= r
        nonrelevant += n - r
    return float(nonrelevant)


def variance_of_search_length(groups: Groups, judged: Ranking, i: int = 1, rel: float = 1) -> float:
    """Return the variance of `search_length`: i (n-r) (n+1) (r-i+1) / ((r+1)² (r+2)).

    The formula is for the group that contains the wanted document, with i as in `mean_of_search_length`.
    """
    for labels in groups:
        r, n = relevant(labels, rel), len(labels)
        if r >= i:
            return i * (n - r) * (n + 1) * (r - i + 1) / ((r + 1) ** 2 * (r + 2))
        i -= r
    return 0.0


def rank_of_relevant(ranking: Ranking, judged: Ranking, i: int = 1, rel: float = 1) -> float:
    """Return the rank of the i-th relevant document; the rank after the last one if fewer are retrieved.

    Examples
    --------
    >>> rank_of_relevant([0, 0, 1, 0, 1], [1, 1], i=2), rank_of_relevant([0, 0], [1])
    (5.0, 3.0)
    >>> mean_of_rank_of_relevant([[0], [1, 0, 0]], [1])
    3.0
    >>> variance_of_rank_of_relevant([[1, 0]], [1])
    0.25
    """
    return mean_of_rank_of_relevant([[label] for label in ranking], judged, i, rel)


def mean_of_rank_of_relevant(groups: Groups, judged: Ranking, i: int = 1, rel: float = 1) -> float:
    """Return the mean of `rank_of_relevant`: i more than the mean search length, if the document is retrieved."""
    if not relevant(judged, rel):
        return 0.0
    if sum(relevant(labels, rel) for labels in groups) < i:
        return number_of_documents(groups) + 1.0
    return i + mean_of_search_length(groups, judged, i, rel)


def variance_of_rank_of_relevant(groups: Groups, judged: Ranking, i: int = 1, rel: float = 1) -> float:
    """Return the variance of `rank_of_relevant`, which is that of the search length."""
    return variance_of_search_length(groups, judged, i, rel)


def precision_at_relevant(ranking: Ranking, judged: Ranking, k: int | None = None, i: int = 1, rel: float = 1) -> float:
    """Return i / j, the precision at rank j of the i-th relevant document; 0 if it is not retrieved.

    Examples
    --------
    >>> precision_at_relevant([0, 0, 1, 1], [1, 1], i=2)
    0.5
    >>> mean_of_precision_at_relevant([[1, 0], [1, 0]], [1, 1], i=2)
    0.5833333333333333
    >>> variance_of_precision_at_relevant([[1, 0]], [1, 0])
    0.0625
    """
    ranks = [j for j, label in enumerate(ranking[:k], start=1) if is_relevant(label, rel)]
    return i / ranks[i - 1] if len(ranks) >= i else 0.0


def mean_of_precision_at_relevant(
    groups: Groups, judged: Ranking, k: int | None = None, i: int = 1, rel: float = 1
) -> float:
    """Return the mean of `precision_at_relevant`: Σ_x P(X = x) i/(t+x), X the place in the group that holds it."""
    return math.fsum(chance * value for chance, value in _precisions_at_relevant(groups, k, i, rel))


def variance_of_precision_at_relevant(
    groups: Groups, judged: Ranking, k: int | None = None, i: int = 1, rel: float = 1
) -> float:
    """Return the variance of `precision_at_relevant`, by the same distribution as its mean."""
    mean = mean_of_precision_at_relevant(groups, judged, k, i, rel)
    return math.fsum(chance * (value - mean) ** 2 for chance, value in _precisions_at_relevant(groups, k, i, rel))


def _precisions_at_relevant(groups: Groups, k: int | None, i: int, rel: float) -> list[tuple[float, float]]:
    """Return each value of `precision_at_relevant` with its probability C(x-1, s-1) C(n-x, r-s) / C(n, r).

    The wanted document is the s-th of r relevant documents in a group of n, and x is its place in the group.
    """
    s = i
    for ranks, labels in with_ranks(groups, None):
        r, n = relevant(labels, rel), len(labels)
        if r >= s:
            chances = [math.comb(x - 1, s - 1) * math.comb(n - x, r - s) / math.comb(n, r) for x in range(1, n + 1)]
            return [(p, i / j if k is None or j <= k else 0.0) for p, j in zip(chances, ranks, strict=True)]
        s -= r
    return []


def relevance_when_retrieved(ranking: Ranking, judged: Ranking, i: int = 1, rel: float = 1) -> float:
    """Return i / (i + `search_length`), the precision at the i-th relevant document; 0 if it is not retrieved [13]_.

    Examples
    --------
    >>> relevance_when_retrieved([0, 0, 1, 1], [1, 1], i=2)
    0.5
    >>> mean_of_relevance_when_retrieved([[1, 0]], [1, 0]), mean_of_precision_at_relevant([[1, 0]], [1, 0])
    (0.6666666666666666, 0.75)
    >>> variance_of_relevance_when_retrieved([[1, 0]], [1, 0])
    0.0625
    """
    return mean_of_relevance_when_retrieved([[label] for label in ranking], judged, i, rel)


def mean_of_relevance_when_retrieved(groups: Groups, judged: Ranking, i: int = 1, rel: float = 1) -> float:
    """Return i / (i + mean of `search_length`), which is not the mean of the quotient: that is at least as large."""
    if sum(relevant(labels, rel) for labels in groups) < i:
        return 0.0
    return i / (i + mean_of_search_length(groups, judged, i, rel))


def variance_of_relevance_when_retrieved(groups: Groups, judged: Ranking, i: int = 1, rel: float = 1) -> float:
    """Return the variance of the quotient over the orders of tied documents, that of `precision_at_relevant`."""
    return variance_of_precision_at_relevant(groups, judged, None, i, rel)


MEASURES: dict[str, Functions] = {
    "RR": (reciprocal_rank, mean_of_reciprocal_rank, variance_of_reciprocal_rank),
    "Success": (success, mean_of_success, variance_of_success),
    "Hits": (success, mean_of_success, variance_of_success),
    "ESL": (search_length, mean_of_search_length, variance_of_search_length),
    "MeanRank": (rank_of_relevant, mean_of_rank_of_relevant, variance_of_rank_of_relevant),
    "PAtRel": (precision_at_relevant, mean_of_precision_at_relevant, variance_of_precision_at_relevant),
    "PRR": (relevance_when_retrieved, mean_of_relevance_when_retrieved, variance_of_relevance_when_retrieved),
}
