"""Measures that count the hits, which are the relevant documents within the cut-off: P, R, F1, Rprec and others."""

from __future__ import annotations

import math
from collections.abc import Callable

from tieaware.reference.rankings import (
    Functions,
    Groups,
    Label,
    Ranking,
    is_relevant,
    number_of_documents,
    ratio,
    relevant,
    with_ranks,
)


def hits(ranking: Ranking, k: int | None = None, rel: float = 1) -> int:
    """Count the relevant documents within the cut-off.

    Examples
    --------
    >>> hits([1, 0, 1], k=2)
    1
    >>> mean_of_hits([[1], [1, 0, 0, 0]], k=3)
    1.5
    >>> variance_of_hits([[1, 0]], k=1)
    0.25
    """
    return relevant(ranking[:k], rel)


def mean_of_hits(groups: Groups, k: int | None = None, rel: float = 1) -> float:
    """Return Σ m r/n: each rank of a group holds a relevant document with probability r/n [2]_."""
    return math.fsum(len(ranks) * relevant(labels, rel) / len(labels) for ranks, labels in with_ranks(groups, k))


def variance_of_weighted_sum(
    groups: Groups, k: int | None, worth: Callable[[Label], float], weight: Callable[[int], float]
) -> float:
    """Return the variance of Σ_j weight(j) worth(document at rank j): s² Σ_j (d_j - mean d)² for each group.

    `worth` takes a label, and `weight` a rank. s² is the variance of the documents' worth, with the divisor n-1. d_j is
    the weight of the group's j-th rank, or 0 if that rank is below the cut-off.

    Examples
    --------
    >>> variance_of_weighted_sum([[1, 0]], None, float, lambda j: 1 / j)
    0.0625
    """
    total = 0.0
    for ranks, labels in with_ranks(groups, k):
        n = len(labels)
        if n > 1:
            worths = [worth(label) for label in labels]
            weights = [weight(j) for j in ranks] + [0.0] * (n - len(ranks))
            means = math.fsum(worths) / n, math.fsum(weights) / n
            squares = math.fsum((d - means[1]) ** 2 for d in weights)
            total += math.fsum((w - means[0]) ** 2 for w in worths) / (n - 1) * squares
    return total


def variance_of_hits(groups: Groups, k: int | None = None, rel: float = 1) -> float:
    """Return the variance of `hits`: each of the first k ranks has weight 1.

    The value is in documents².
    """
    return variance_of_weighted_sum(groups, k, lambda label: float(is_relevant(label, rel)), lambda j: 1.0)


def precision(ranking: Ranking, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return hits / k; without a cut-off, hits / retrieved documents ([1]_, section 8.3).

    Examples
    --------
    >>> precision([1, 0, 1], [1, 0, 1], k=4)
    0.5
    >>> mean_of_precision([[1, 0]], [1, 0], k=1)
    0.5
    >>> variance_of_precision([[1, 0]], [1, 0], k=1)
    0.25
    """
    return ratio(hits(ranking, k, rel), len(ranking) if k is None else k)


def mean_of_precision(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the mean of `precision`: expected hits / k [2]_."""
    return ratio(mean_of_hits(groups, k, rel), _depth(groups, k))


def variance_of_precision(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the variance of `precision`: the variance of the hits / k²."""
    return ratio(variance_of_hits(groups, k, rel), _depth(groups, k) ** 2)


def recall(ranking: Ranking, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return hits / N ([1]_, section 8.3).

    Examples
    --------
    >>> recall([1, 0, 1], [1, 0, 1, 1, 1], k=2)
    0.25
    >>> mean_of_recall([[1, 0], [0]], [1, 0, 0, 1], k=1)
    0.25
    >>> variance_of_recall([[1, 0]], [1, 0], k=1)
    0.25
    """
    return ratio(hits(ranking, k, rel), relevant(judged, rel))


def mean_of_recall(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the mean of `recall`: expected hits / N [2]_."""
    return ratio(mean_of_hits(groups, k, rel), relevant(judged, rel))


def variance_of_recall(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the variance of `recall`: the variance of the hits / N²."""
    return ratio(variance_of_hits(groups, k, rel), relevant(judged, rel) ** 2)


def capped_recall(ranking: Ranking, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return hits / min(k, N), which is 1 if the first k ranks hold as many relevant documents as they can.

    This is the function ``recall_cap`` of beir and mteb. Without a cut-off, the value is that of `recall`.

    Examples
    --------
    >>> capped_recall([1, 0, 1], [1, 0, 1, 1, 1], k=2)
    0.5
    >>> mean_of_capped_recall([[1, 0], [0]], [1, 0, 0, 1], k=1)
    0.5
    >>> variance_of_capped_recall([[1, 0]], [1, 0, 1], k=1)
    0.25
    """
    return ratio(hits(ranking, k, rel), _most_hits(judged, k, rel))


def mean_of_capped_recall(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the mean of `capped_recall`: expected hits / min(k, N)."""
    return ratio(mean_of_hits(groups, k, rel), _most_hits(judged, k, rel))


def variance_of_capped_recall(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the variance of `capped_recall`: the variance of the hits / min(k, N)²."""
    return ratio(variance_of_hits(groups, k, rel), _most_hits(judged, k, rel) ** 2)


def _most_hits(judged: Ranking, k: int | None, rel: float) -> int:
    """Return min(k, N), the most hits that the first k ranks can hold; without a cut-off, N."""
    N = relevant(judged, rel)
    return N if k is None else min(k, N)


def f1(ranking: Ranking, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return 2 P R / (P + R), the harmonic mean of precision and recall ([1]_, section 8.3, equation 8.6).

    Examples
    --------
    >>> f1([1, 0, 1], [1, 0, 1, 1], k=1)
    0.5
    >>> mean_of_f1([[1, 0]], [1, 0, 1], k=2)
    0.5
    >>> round(variance_of_f1([[1, 0]], [1, 0], k=1), 4)
    0.25
    """
    P = precision(ranking, judged, k, rel)
    R = recall(ranking, judged, k, rel)
    return 2 * P * R / (P + R) if P + R else 0.0


def mean_of_f1(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the mean of `f1`: 2 expected hits / (k + N), since P = hits/k and R = hits/N [2]_."""
    N = relevant(judged, rel)
    return 2 * mean_of_hits(groups, k, rel) / (_depth(groups, k) + N) if N else 0.0


def variance_of_f1(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the variance of `f1`, which is 2 hits / (k + N)."""
    N = relevant(judged, rel)
    return 4 * variance_of_hits(groups, k, rel) / (_depth(groups, k) + N) ** 2 if N else 0.0


def f(ranking: Ranking, judged: Ranking, k: int | None = None, beta: float = 1.0, rel: float = 1) -> float:
    """Return (1 + beta²) P R / (beta² P + R), the weighted harmonic mean of precision and recall ([1]_, equation 8.5).

    Examples
    --------
    >>> f([1, 0, 1], [1, 0, 1, 1], k=1, beta=2.0)
    0.3846153846153846
    >>> mean_of_f([[1, 0], [0]], [1, 0, 0], k=2, beta=2.0)
    0.8333333333333334
    >>> variance_of_f([[1, 0]], [1, 0], k=1)
    0.25
    """
    P = precision(ranking, judged, k, rel)
    R = recall(ranking, judged, k, rel)
    return (1 + beta**2) * P * R / (beta**2 * P + R) if P else 0.0


def mean_of_f(groups: Groups, judged: Ranking, k: int | None = None, beta: float = 1.0, rel: float = 1) -> float:
    """Return the mean of `f`: (1 + beta²) expected hits / (k + beta² N)."""
    N = relevant(judged, rel)
    return (1 + beta**2) * mean_of_hits(groups, k, rel) / (_depth(groups, k) + beta**2 * N) if N else 0.0


def variance_of_f(groups: Groups, judged: Ranking, k: int | None = None, beta: float = 1.0, rel: float = 1) -> float:
    """Return the variance of `f`: (1 + beta²)² times the variance of the hits, / (k + beta² N)²."""
    N = relevant(judged, rel)
    divisor = _depth(groups, k) + beta**2 * N
    return (1 + beta**2) ** 2 * variance_of_hits(groups, k, rel) / divisor**2 if N else 0.0


def r_precision(ranking: Ranking, judged: Ranking, rel: float = 1) -> float:
    """Return the precision at rank N, where precision and recall are equal ([1]_, section 8.4).

    Examples
    --------
    >>> r_precision([1, 0, 1], [1, 0, 1])
    0.5
    >>> mean_of_r_precision([[1], [1, 0]], [1, 1, 0])
    0.75
    >>> variance_of_r_precision([[1, 0]], [1, 0])
    0.25
    """
    N = relevant(judged, rel)
    return precision(ranking, judged, N, rel) if N else 0.0


def mean_of_r_precision(groups: Groups, judged: Ranking, rel: float = 1) -> float:
    """Return the mean of `r_precision`: expected hits within the first N ranks, / N."""
    N = relevant(judged, rel)
    return mean_of_precision(groups, judged, N, rel) if N else 0.0


def variance_of_r_precision(groups: Groups, judged: Ranking, rel: float = 1) -> float:
    """Return the variance of `r_precision`: the variance of the hits within the first N ranks, / N²."""
    N = relevant(judged, rel)
    return variance_of_precision(groups, judged, N, rel) if N else 0.0


def judged_share(ranking: Ranking, judged: Ranking, k: int | None = None, pool: bool = False) -> float:
    """Return the share of judged documents within the cut-off, or in the whole list if the list is shorter.

    Examples
    --------
    >>> judged_share([0, None, 1], [0, 1], k=2), judged_share([0, -2, 1], [0, 1], k=2, pool=True)
    (0.5, 1.0)
    >>> mean_of_judged_share([[0, None, None, None]], [0], k=2)
    0.25
    >>> variance_of_judged_share([[0, None]], [0], k=1)
    0.25
    """
    top = _with_pool(ranking[:k], pool)
    return ratio(relevant(top, 0), len(top))


def mean_of_judged_share(groups: Groups, judged: Ranking, k: int | None = None, pool: bool = False) -> float:
    """Return the mean of `judged_share`: expected hits / ranks, where every judged document counts as a hit."""
    ranks = min(_depth(groups, k), number_of_documents(groups))
    return ratio(mean_of_hits([_with_pool(group, pool) for group in groups], k, 0), ranks)


def variance_of_judged_share(groups: Groups, judged: Ranking, k: int | None = None, pool: bool = False) -> float:
    """Return the variance of `judged_share`: that of the hits / ranks², where every judged document counts as a hit."""
    ranks = min(_depth(groups, k), number_of_documents(groups))
    return ratio(variance_of_hits([_with_pool(group, pool) for group in groups], k, 0), ranks**2)


def unjudged_share(ranking: Ranking, judged: Ranking, k: int | None = None) -> float:
    """Return unjudged documents within the cut-off / k: the hole. Without a cut-off, k is the number of documents.

    The value is 0 … 1, also for a query without relevant documents.

    Examples
    --------
    >>> unjudged_share([0, None, 1], [0, 1], k=2), unjudged_share([None], [], k=2)
    (0.5, 0.5)
    >>> mean_of_unjudged_share([[0, None, None, None]], [0], k=2)
    0.75
    >>> variance_of_unjudged_share([[0, None]], [0], k=1)
    0.25
    """
    return mean_of_unjudged_share([[label] for label in ranking], judged, k)


def mean_of_unjudged_share(groups: Groups, judged: Ranking, k: int | None = None) -> float:
    """Return the mean of `unjudged_share`: (ranks within the cut-off - expected judged documents) / k."""
    depth = _depth(groups, k)
    return ratio(min(depth, number_of_documents(groups)) - mean_of_hits(groups, k, 0), depth)


def variance_of_unjudged_share(groups: Groups, judged: Ranking, k: int | None = None) -> float:
    """Return the variance of `unjudged_share`: that of the judged documents within the cut-off / k²."""
    return ratio(variance_of_hits(groups, k, 0), _depth(groups, k) ** 2)


def _depth(groups: Groups, k: int | None) -> int:
    """Return k; without a cut-off, the number of retrieved documents."""
    return number_of_documents(groups) if k is None else k


def _with_pool(labels: Ranking, pool: bool) -> Ranking:
    """Return the labels; with `pool`, replace the labels of pooled but unjudged documents, -2 and below, by 0."""
    return [0 if pool and label is not None and label < -1 else label for label in labels]


MEASURES: dict[str, Functions] = {
    "P": (precision, mean_of_precision, variance_of_precision),
    "R": (recall, mean_of_recall, variance_of_recall),
    "Recall_cap": (capped_recall, mean_of_capped_recall, variance_of_capped_recall),
    "F1": (f1, mean_of_f1, variance_of_f1),
    "F": (f, mean_of_f, variance_of_f),
    "Rprec": (r_precision, mean_of_r_precision, variance_of_r_precision),
    "Judged": (judged_share, mean_of_judged_share, variance_of_judged_share),
    "Hole": (unjudged_share, mean_of_unjudged_share, variance_of_unjudged_share),
}
