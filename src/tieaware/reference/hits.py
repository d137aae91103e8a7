"""Measures that count the relevant documents within the cut-off: the hits.

The numbers in brackets are those of the references of `tieaware.reference`.
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


def hits(ranking: Ranking, k: int | None = None, rel: int = 1) -> int:
    """Count the relevant documents within the cut-off.

    Parameters
    ----------
    ranking : sequence of int or None
        The labels by rank, as in `tieaware.reference`.
    k : int or None
        The cut-off, at least 1; None for the whole list.
    rel : int
        The smallest label that is relevant.

    Returns
    -------
    int
        A number of documents.

    Examples
    --------
    >>> hits([1, 0, 1], k=2)
    1
    """
    return relevant(ranking[:k], rel)


def mean_of_hits(groups: Groups, k: int | None = None, rel: int = 1) -> float:
    """Σ m r/n: each of a group's ranks holds a relevant document with probability r/n [2]_.

    Parameters
    ----------
    groups : sequence of sequences of int or None
        The labels of each tied group, the highest score first.
    k, rel
        As in :func:`hits`.

    Returns
    -------
    float
        A number of documents.

    Examples
    --------
    >>> mean_of_hits([[1], [1, 0, 0, 0]], k=3)
    1.5
    """
    return math.fsum(len(ranks) * relevant(labels, rel) / len(labels) for ranks, labels in with_ranks(groups, k))


def variance_of_weighted_sum(
    groups: Groups, k: int | None, worth: Callable[[Label], float], weight: Callable[[int], float]
) -> float:
    """Give the variance of Σ_j weight(j) worth(document at rank j): s² Σ_j (d_j - mean d)² for each group.

    s² is the variance of the documents' worth, with the divisor n-1, and d_j the weight of the group's ranks, 0 below
    the cut-off.

    Parameters
    ----------
    groups : sequence of sequences of int or None
        The labels of each tied group, the highest score first.
    k : int or None
        The cut-off, at least 1; None for the whole list.
    worth : callable
        What a document is worth, from its label.
    weight : callable
        What a rank weighs, from 1.

    Returns
    -------
    float
        At least 0.

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
            total += math.fsum((w - means[0]) ** 2 for w in worths) / (n - 1) * (
                math.fsum((d - means[1]) ** 2 for d in weights)
            )
    return total


def variance_of_hits(groups: Groups, k: int | None = None, rel: int = 1) -> float:
    """Give the variance of :func:`hits`: each of the first k ranks weighs 1.

    Parameters
    ----------
    groups : sequence of sequences of int or None
        The labels of each tied group, the highest score first.
    k, rel
        As in :func:`hits`.

    Returns
    -------
    float
        In documents², at least 0.

    Examples
    --------
    >>> variance_of_hits([[1, 0]], k=1)
    0.25
    """
    return variance_of_weighted_sum(groups, k, lambda label: float(is_relevant(label, rel)), lambda j: 1.0)


def precision(ranking: Ranking, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Hits / k; without a cut-off, hits / retrieved documents ([1]_, section 8.3).

    Parameters
    ----------
    ranking : sequence of int or None
        The labels by rank, as in `tieaware.reference`.
    judged : sequence of int or None
        The labels of all judged documents of the query, retrieved or not.
    k : int or None
        The cut-off, at least 1; None for the whole list.
    rel : int
        The smallest label that is relevant.

    Returns
    -------
    float
        0 … 1.

    Examples
    --------
    >>> precision([1, 0, 1], [1, 0, 1], k=4)
    0.5
    """
    depth = len(ranking) if k is None else k
    return hits(ranking, k, rel) / depth if depth else 0.0


def mean_of_precision(groups: Groups, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Give the mean of :func:`precision`: expected hits / k [2]_.

    Parameters
    ----------
    groups : sequence of sequences of int or None
        The labels of each tied group, the highest score first.
    judged, k, rel
        As in :func:`precision`.

    Returns
    -------
    float
        0 … 1.

    Examples
    --------
    >>> mean_of_precision([[1, 0]], [1, 0], k=1)
    0.5
    """
    depth = number_of_documents(groups) if k is None else k
    return mean_of_hits(groups, k, rel) / depth if depth else 0.0


def variance_of_precision(groups: Groups, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Give the variance of :func:`precision`.

    Parameters
    ----------
    groups : sequence of sequences of int or None
        The labels of each tied group, the highest score first.
    judged, k, rel
        As in :func:`precision`.

    Returns
    -------
    float
        0 … 1/4.

    Examples
    --------
    >>> variance_of_precision([[1, 0]], [1, 0], k=1)
    0.25
    """
    depth = number_of_documents(groups) if k is None else k
    return variance_of_hits(groups, k, rel) / depth**2 if depth else 0.0


def recall(ranking: Ranking, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Hits / N ([1]_, section 8.3).

    Parameters
    ----------
    ranking : sequence of int or None
        The labels by rank, as in `tieaware.reference`.
    judged : sequence of int or None
        The labels of all judged documents of the query, retrieved or not.
    k : int or None
        The cut-off, at least 1; None for the whole list.
    rel : int
        The smallest label that is relevant.

    Returns
    -------
    float
        0 … 1.

    Examples
    --------
    >>> recall([1, 0, 1], [1, 0, 1, 1, 1], k=2)
    0.25
    """
    N = relevant(judged, rel)
    return hits(ranking, k, rel) / N if N else 0.0


def mean_of_recall(groups: Groups, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Give the mean of :func:`recall`: expected hits / N [2]_; N is that of the judgments.

    Parameters
    ----------
    groups : sequence of sequences of int or None
        The labels of each tied group, the highest score first.
    judged, k, rel
        As in :func:`recall`.

    Returns
    -------
    float
        0 … 1.

    Examples
    --------
    >>> mean_of_recall([[1, 0], [0]], [1, 0, 0, 1], k=1)
    0.25
    """
    N = relevant(judged, rel)
    return mean_of_hits(groups, k, rel) / N if N else 0.0


def variance_of_recall(groups: Groups, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Give the variance of :func:`recall`.

    Parameters
    ----------
    groups : sequence of sequences of int or None
        The labels of each tied group, the highest score first.
    judged, k, rel
        As in :func:`recall`.

    Returns
    -------
    float
        0 … 1/4.

    Examples
    --------
    >>> variance_of_recall([[1, 0]], [1, 0], k=1)
    0.25
    """
    N = relevant(judged, rel)
    return variance_of_hits(groups, k, rel) / N**2 if N else 0.0


def f1(ranking: Ranking, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """2 P R / (P + R), the harmonic mean of precision and recall ([1]_, section 8.3, equation 8.6).

    Parameters
    ----------
    ranking : sequence of int or None
        The labels by rank, as in `tieaware.reference`.
    judged : sequence of int or None
        The labels of all judged documents of the query, retrieved or not.
    k : int or None
        The cut-off, at least 1; None for the whole list.
    rel : int
        The smallest label that is relevant.

    Returns
    -------
    float
        0 … 1.

    Examples
    --------
    >>> f1([1, 0, 1], [1, 0, 1, 1], k=1)
    0.5
    """
    P = precision(ranking, judged, k, rel)
    R = recall(ranking, judged, k, rel)
    return 2 * P * R / (P + R) if P + R else 0.0


def mean_of_f1(groups: Groups, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Give the mean of :func:`f1`: 2 hits / (k + N), since P = hits/k and R = hits/N [2]_.

    Parameters
    ----------
    groups : sequence of sequences of int or None
        The labels of each tied group, the highest score first.
    judged, k, rel
        As in :func:`f1`.

    Returns
    -------
    float
        0 … 1.

    Examples
    --------
    >>> mean_of_f1([[1, 0]], [1, 0, 1], k=2)
    0.5
    """
    N = relevant(judged, rel)
    depth = number_of_documents(groups) if k is None else k
    return 2 * mean_of_hits(groups, k, rel) / (depth + N) if N else 0.0


def variance_of_f1(groups: Groups, judged: Ranking, k: int | None = None, rel: int = 1) -> float:
    """Give the variance of :func:`f1`, 2 hits / (k + N).

    Parameters
    ----------
    groups : sequence of sequences of int or None
        The labels of each tied group, the highest score first.
    judged, k, rel
        As in :func:`f1`.

    Returns
    -------
    float
        0 … 1/4.

    Examples
    --------
    >>> round(variance_of_f1([[1, 0]], [1, 0], k=1), 4)
    0.25
    """
    N = relevant(judged, rel)
    depth = number_of_documents(groups) if k is None else k
    return 4 * variance_of_hits(groups, k, rel) / (depth + N) ** 2 if N else 0.0


def r_precision(ranking: Ranking, judged: Ranking, rel: int = 1) -> float:
    """Give the precision at rank N, where precision and recall are equal ([1]_, section 8.4).

    Parameters
    ----------
    ranking : sequence of int or None
        The labels by rank, as in `tieaware.reference`.
    judged : sequence of int or None
        The labels of all judged documents of the query, retrieved or not.
    rel : int
        The smallest label that is relevant.

    Returns
    -------
    float
        0 … 1.

    Examples
    --------
    >>> r_precision([1, 0, 1], [1, 0, 1])
    0.5
    """
    N = relevant(judged, rel)
    return precision(ranking, judged, N, rel) if N else 0.0


def mean_of_r_precision(groups: Groups, judged: Ranking, rel: int = 1) -> float:
    """Give the mean of :func:`r_precision`: expected hits within the first N ranks, / N.

    Parameters
    ----------
    groups : sequence of sequences of int or None
        The labels of each tied group, the highest score first.
    judged, rel
        As in :func:`r_precision`.

    Returns
    -------
    float
        0 … 1.

    Examples
    --------
    >>> mean_of_r_precision([[1], [1, 0]], [1, 1, 0])
    0.75
    """
    N = relevant(judged, rel)
    return mean_of_precision(groups, judged, N, rel) if N else 0.0


def variance_of_r_precision(groups: Groups, judged: Ranking, rel: int = 1) -> float:
    """Give the variance of :func:`r_precision`.

    Parameters
    ----------
    groups : sequence of sequences of int or None
        The labels of each tied group, the highest score first.
    judged, rel
        As in :func:`r_precision`.

    Returns
    -------
    float
        0 … 1/4.

    Examples
    --------
    >>> variance_of_r_precision([[1, 0]], [1, 0])
    0.25
    """
    N = relevant(judged, rel)
    return variance_of_precision(groups, judged, N, rel) if N else 0.0


def judged_share(ranking: Ranking, judged: Ranking, k: int | None = None, pool: bool = False) -> float:
    """Give the share of judged documents within the cut-off, or of a list that is shorter.

    Parameters
    ----------
    ranking : sequence of int or None
        The labels by rank, as in `tieaware.reference`.
    judged : sequence of int or None
        The labels of all judged documents of the query, retrieved or not.
    k : int or None
        The cut-off, at least 1; None for the whole list.
    pool : bool
        Whether documents of the pool (label -2) count as judged, as those of any label in the judgments do in
        ir_measures.

    Returns
    -------
    float
        0 … 1.

    Examples
    --------
    >>> judged_share([0, None, 1], [0, 1], k=2), judged_share([0, -2, 1], [0, 1], k=2, pool=True)
    (0.5, 1.0)
    """
    top = _with_pool(ranking[:k], pool)
    return relevant(top, 0) / len(top) if top else 0.0


def mean_of_judged_share(groups: Groups, judged: Ranking, k: int | None = None, pool: bool = False) -> float:
    """Give the mean of :func:`judged_share`: expected hits, where every judged document is one.

    Parameters
    ----------
    groups : sequence of sequences of int or None
        The labels of each tied group, the highest score first.
    judged, k, pool
        As in :func:`judged_share`.

    Returns
    -------
    float
        0 … 1.

    Examples
    --------
    >>> mean_of_judged_share([[0, None, None, None]], [0], k=2)
    0.25
    """
    depth = number_of_documents(groups) if k is None else min(k, number_of_documents(groups))
    return mean_of_hits([_with_pool(group, pool) for group in groups], k, 0) / depth if depth else 0.0


def variance_of_judged_share(groups: Groups, judged: Ranking, k: int | None = None, pool: bool = False) -> float:
    """Give the variance of :func:`judged_share`.

    Parameters
    ----------
    groups : sequence of sequences of int or None
        The labels of each tied group, the highest score first.
    judged, k, pool
        As in :func:`judged_share`.

    Returns
    -------
    float
        0 … 1/4.

    Examples
    --------
    >>> variance_of_judged_share([[0, None]], [0], k=1)
    0.25
    """
    depth = number_of_documents(groups) if k is None else min(k, number_of_documents(groups))
    return variance_of_hits([_with_pool(group, pool) for group in groups], k, 0) / depth**2 if depth else 0.0


def _with_pool(labels: Ranking, pool: bool) -> Ranking:
    """Return labels in which documents of the pool, -2, are judged nonrelevant, if they count."""
    return [0 if pool and label is not None and label < -1 else label for label in labels]


MEASURES: dict[str, Functions] = {
    "P": (precision, mean_of_precision, variance_of_precision),
    "R": (recall, mean_of_recall, variance_of_recall),
    "F1": (f1, mean_of_f1, variance_of_f1),
    "Rprec": (r_precision, mean_of_r_precision, variance_of_r_precision),
    "Judged": (judged_share, mean_of_judged_share, variance_of_judged_share),
}
