"""Measures that count the hits, which are the relevant documents within the cut-off: P, R, F1, Rprec and others.

Numbers in brackets, such as [1], refer to the list of references in the docstring of `tieaware.reference`.
"""

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
    relevant,
    with_ranks,
)


def hits(ranking: Ranking, k: int | None = None, rel: float = 1) -> int:
    """Count the relevant documents within the cut-off.

    Parameters as for `tieaware.reference`.

    Examples
    --------
    >>> hits([1, 0, 1], k=2)
    1
    """
    return relevant(ranking[:k], rel)


def mean_of_hits(groups: Groups, k: int | None = None, rel: float = 1) -> float:
    """Return Σ m r/n: each rank of a group holds a relevant document with probability r/n [2]_.

    Parameters as for `hits`.

    Examples
    --------
    >>> mean_of_hits([[1], [1, 0, 0, 0]], k=3)
    1.5
    """
    return math.fsum(len(ranks) * relevant(labels, rel) / len(labels) for ranks, labels in with_ranks(groups, k))


def variance_of_weighted_sum(
    groups: Groups, k: int | None, worth: Callable[[Label], float], weight: Callable[[int], float]
) -> float:
    """Return the variance of Σ_j weight(j) worth(document at rank j): s² Σ_j (d_j - mean d)² for each group.

    s² is the variance of the documents' worth, with the divisor n-1. d_j is the weight of the group's j-th rank, or 0
    if that rank is below the cut-off.

    Other parameters as for `tieaware.reference`.

    Parameters
    ----------
    worth : callable
        Takes a label and returns the worth of the document.
    weight : callable
        Takes a rank, counted from 1, and returns its weight.

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

    Parameters as for `hits`; the value is in documents².

    Examples
    --------
    >>> variance_of_hits([[1, 0]], k=1)
    0.25
    """
    return variance_of_weighted_sum(groups, k, lambda label: float(is_relevant(label, rel)), lambda j: 1.0)


def precision(ranking: Ranking, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return hits / k; without a cut-off, hits / retrieved documents ([1]_, section 8.3).

    Parameters as for `tieaware.reference`; the value is 0 … 1.

    Examples
    --------
    >>> precision([1, 0, 1], [1, 0, 1], k=4)
    0.5
    """
    depth = len(ranking) if k is None else k
    return hits(ranking, k, rel) / depth if depth else 0.0


def mean_of_precision(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the mean of `precision`: expected hits / k [2]_.

    Parameters as for `precision`.

    Examples
    --------
    >>> mean_of_precision([[1, 0]], [1, 0], k=1)
    0.5
    """
    depth = number_of_documents(groups) if k is None else k
    return mean_of_hits(groups, k, rel) / depth if depth else 0.0


def variance_of_precision(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the variance of `precision`: the variance of the hits / k².

    Parameters as for `precision`; the value is 0 … 1/4.

    Examples
    --------
    >>> variance_of_precision([[1, 0]], [1, 0], k=1)
    0.25
    """
    depth = number_of_documents(groups) if k is None else k
    return variance_of_hits(groups, k, rel) / depth**2 if depth else 0.0


def recall(ranking: Ranking, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return hits / N ([1]_, section 8.3).

    Parameters as for `tieaware.reference`; the value is 0 … 1.

    Examples
    --------
    >>> recall([1, 0, 1], [1, 0, 1, 1, 1], k=2)
    0.25
    """
    N = relevant(judged, rel)
    return hits(ranking, k, rel) / N if N else 0.0


def mean_of_recall(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the mean of `recall`: expected hits / N [2]_.

    Parameters as for `recall`.

    Examples
    --------
    >>> mean_of_recall([[1, 0], [0]], [1, 0, 0, 1], k=1)
    0.25
    """
    N = relevant(judged, rel)
    return mean_of_hits(groups, k, rel) / N if N else 0.0


def variance_of_recall(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the variance of `recall`: the variance of the hits / N².

    Parameters as for `recall`; the value is 0 … 1/4.

    Examples
    --------
    >>> variance_of_recall([[1, 0]], [1, 0], k=1)
    0.25
    """
    N = relevant(judged, rel)
    return variance_of_hits(groups, k, rel) / N**2 if N else 0.0


def capped_recall(ranking: Ranking, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return hits / min(k, N), which is 1 if the first k ranks hold as many relevant documents as they can.

    This is the function ``recall_cap`` of beir and mteb. Without a cut-off, the value is that of `recall`.

    Parameters as for `tieaware.reference`; the value is 0 … 1.

    Examples
    --------
    >>> capped_recall([1, 0, 1], [1, 0, 1, 1, 1], k=2)
    0.5
    """
    capped = _most_hits(judged, k, rel)
    return hits(ranking, k, rel) / capped if capped else 0.0


def mean_of_capped_recall(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the mean of `capped_recall`: expected hits / min(k, N).

    Parameters as for `capped_recall`.

    Examples
    --------
    >>> mean_of_capped_recall([[1, 0], [0]], [1, 0, 0, 1], k=1)
    0.5
    """
    capped = _most_hits(judged, k, rel)
    return mean_of_hits(groups, k, rel) / capped if capped else 0.0


def variance_of_capped_recall(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the variance of `capped_recall`: the variance of the hits / min(k, N)².

    Parameters as for `capped_recall`; the value is 0 … 1/4.

    Examples
    --------
    >>> variance_of_capped_recall([[1, 0]], [1, 0, 1], k=1)
    0.25
    """
    capped = _most_hits(judged, k, rel)
    return variance_of_hits(groups, k, rel) / capped**2 if capped else 0.0


def _most_hits(judged: Ranking, k: int | None, rel: float) -> int:
    """Return min(k, N), the most hits that the first k ranks can hold; without a cut-off, N."""
    N = relevant(judged, rel)
    return N if k is None else min(k, N)


def f1(ranking: Ranking, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return 2 P R / (P + R), the harmonic mean of precision and recall ([1]_, section 8.3, equation 8.6).

    Parameters as for `tieaware.reference`; the value is 0 … 1.

    Examples
    --------
    >>> f1([1, 0, 1], [1, 0, 1, 1], k=1)
    0.5
    """
    P = precision(ranking, judged, k, rel)
    R = recall(ranking, judged, k, rel)
    return 2 * P * R / (P + R) if P + R else 0.0


def mean_of_f1(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the mean of `f1`: 2 expected hits / (k + N), since P = hits/k and R = hits/N [2]_.

    Parameters as for `f1`.

    Examples
    --------
    >>> mean_of_f1([[1, 0]], [1, 0, 1], k=2)
    0.5
    """
    N = relevant(judged, rel)
    depth = number_of_documents(groups) if k is None else k
    return 2 * mean_of_hits(groups, k, rel) / (depth + N) if N else 0.0


def variance_of_f1(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the variance of `f1`, which is 2 hits / (k + N).

    Parameters as for `f1`; the value is 0 … 1/4.

    Examples
    --------
    >>> round(variance_of_f1([[1, 0]], [1, 0], k=1), 4)
    0.25
    """
    N = relevant(judged, rel)
    depth = number_of_documents(groups) if k is None else k
    return 4 * variance_of_hits(groups, k, rel) / (depth + N) ** 2 if N else 0.0


def f(ranking: Ranking, judged: Ranking, k: int | None = None, beta: float = 1.0, rel: float = 1) -> float:
    """Return (1 + beta²) P R / (beta² P + R), the weighted harmonic mean of precision and recall ([1]_, equation 8.5).

    Other parameters as for `tieaware.reference`; the value is 0 … 1.

    Parameters
    ----------
    beta : float
        How many times as important recall is as precision, above 0. The `set_f` of trec_eval does not square it.

    Examples
    --------
    >>> f([1, 0, 1], [1, 0, 1, 1], k=1, beta=2.0)
    0.3846153846153846
    """
    P = precision(ranking, judged, k, rel)
    R = recall(ranking, judged, k, rel)
    return (1 + beta**2) * P * R / (beta**2 * P + R) if P else 0.0


def mean_of_f(groups: Groups, judged: Ranking, k: int | None = None, beta: float = 1.0, rel: float = 1) -> float:
    """Return the mean of `f`: (1 + beta²) expected hits / (k + beta² N).

    Parameters as for `f`.

    Examples
    --------
    >>> mean_of_f([[1, 0], [0]], [1, 0, 0], k=2, beta=2.0)
    0.8333333333333334
    """
    N = relevant(judged, rel)
    depth = number_of_documents(groups) if k is None else k
    return (1 + beta**2) * mean_of_hits(groups, k, rel) / (depth + beta**2 * N) if N else 0.0


def variance_of_f(groups: Groups, judged: Ranking, k: int | None = None, beta: float = 1.0, rel: float = 1) -> float:
    """Return the variance of `f`: (1 + beta²)² times the variance of the hits, / (k + beta² N)².

    Parameters as for `f`; the value is 0 … 1/4.

    Examples
    --------
    >>> variance_of_f([[1, 0]], [1, 0], k=1)
    0.25
    """
    N = relevant(judged, rel)
    depth = number_of_documents(groups) if k is None else k
    return (1 + beta**2) ** 2 * variance_of_hits(groups, k, rel) / (depth + beta**2 * N) ** 2 if N else 0.0


def r_precision(ranking: Ranking, judged: Ranking, rel: float = 1) -> float:
    """Return the precision at rank N, where precision and recall are equal ([1]_, section 8.4).

    Parameters as for `tieaware.reference`; the value is 0 … 1.

    Examples
    --------
    >>> r_precision([1, 0, 1], [1, 0, 1])
    0.5
    """
    N = relevant(judged, rel)
    return precision(ranking, judged, N, rel) if N else 0.0


def mean_of_r_precision(groups: Groups, judged: Ranking, rel: float = 1) -> float:
    """Return the mean of `r_precision`: expected hits within the first N ranks, / N.

    Parameters as for `r_precision`.

    Examples
    --------
    >>> mean_of_r_precision([[1], [1, 0]], [1, 1, 0])
    0.75
    """
    N = relevant(judged, rel)
    return mean_of_precision(groups, judged, N, rel) if N else 0.0


def variance_of_r_precision(groups: Groups, judged: Ranking, rel: float = 1) -> float:
    """Return the variance of `r_precision`: the variance of the hits within the first N ranks, / N².

    Parameters as for `r_precision`; the value is 0 … 1/4.

    Examples
    --------
    >>> variance_of_r_precision([[1, 0]], [1, 0])
    0.25
    """
    N = relevant(judged, rel)
    return variance_of_precision(groups, judged, N, rel) if N else 0.0


def judged_share(ranking: Ranking, judged: Ranking, k: int | None = None, pool: bool = False) -> float:
    """Return the share of judged documents within the cut-off, or in the whole list if the list is shorter.

    Other parameters as for `tieaware.reference`; the value is 0 … 1.

    Parameters
    ----------
    pool : bool
        Whether documents of the pool (label -2) count as judged, as they do in ir_measures.

    Examples
    --------
    >>> judged_share([0, None, 1], [0, 1], k=2), judged_share([0, -2, 1], [0, 1], k=2, pool=True)
    (0.5, 1.0)
    """
    top = _with_pool(ranking[:k], pool)
    return relevant(top, 0) / len(top) if top else 0.0


def mean_of_judged_share(groups: Groups, judged: Ranking, k: int | None = None, pool: bool = False) -> float:
    """Return the mean of `judged_share`: expected hits / ranks, where every judged document counts as a hit.

    Parameters as for `judged_share`.

    Examples
    --------
    >>> mean_of_judged_share([[0, None, None, None]], [0], k=2)
    0.25
    """
    depth = number_of_documents(groups) if k is None else min(k, number_of_documents(groups))
    return mean_of_hits([_with_pool(group, pool) for group in groups], k, 0) / depth if depth else 0.0


def variance_of_judged_share(groups: Groups, judged: Ranking, k: int | None = None, pool: bool = False) -> float:
    """Return the variance of `judged_share`: that of the hits / ranks², where every judged document counts as a hit.

    Parameters as for `judged_share`; the value is 0 … 1/4.

    Examples
    --------
    >>> variance_of_judged_share([[0, None]], [0], k=1)
    0.25
    """
    depth = number_of_documents(groups) if k is None else min(k, number_of_documents(groups))
    return variance_of_hits([_with_pool(group, pool) for group in groups], k, 0) / depth**2 if depth else 0.0


def unjudged_share(ranking: Ranking, judged: Ranking, k: int | None = None) -> float:
    """Return unjudged documents within the cut-off / k: the hole. Without a cut-off, k is the number of documents.

    Parameters as for `tieaware.reference`; the value is 0 … 1, also for a query without relevant documents.

    Examples
    --------
    >>> unjudged_share([0, None, 1], [0, 1], k=2), unjudged_share([None], [], k=2)
    (0.5, 0.5)
    """
    return mean_of_unjudged_share([[label] for label in ranking], judged, k)


def mean_of_unjudged_share(groups: Groups, judged: Ranking, k: int | None = None) -> float:
    """Return the mean of `unjudged_share`: (ranks within the cut-off - expected judged documents) / k.

    Parameters as for `unjudged_share`.

    Examples
    --------
    >>> mean_of_unjudged_share([[0, None, None, None]], [0], k=2)
    0.75
    """
    n = number_of_documents(groups)
    depth = n if k is None else k
    return (min(depth, n) - mean_of_hits(groups, k, 0)) / depth if depth else 0.0


def variance_of_unjudged_share(groups: Groups, judged: Ranking, k: int | None = None) -> float:
    """Return the variance of `unjudged_share`: that of the judged documents within the cut-off / k².

    Parameters as for `unjudged_share`; the value is 0 … 1/4.

    Examples
    --------
    >>> variance_of_unjudged_share([[0, None]], [0], k=1)
    0.25
    """
    depth = number_of_documents(groups) if k is None else k
    return variance_of_hits(groups, k, 0) / depth**2 if depth else 0.0


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
