"""Measures that count nonrelevant documents of the collection: accuracy, specificity and fall-out at a cut-off.

The first k documents are retrieved; the other documents of the collection are not. The collection has `docs`
documents; if `docs` is 0, it consists of the documents of the ranking and the judged documents.
"""

from __future__ import annotations

from tieaware.reference.hits import mean_of_hits, variance_of_hits
from tieaware.reference.rankings import Functions, Groups, Ranking, number_of_documents, relevant


def collection_size(ranking: Ranking, judged: Ranking, docs: int = 0) -> int:
    """Return the number of documents of the collection.

    Examples
    --------
    >>> collection_size([1, None], [1, 0, 0]), collection_size([1, None], [1, 0, 0], docs=100)
    (4, 100)
    """
    return docs or len(ranking) + relevant(judged, 0) - relevant(ranking, 0)


def accuracy(ranking: Ranking, judged: Ranking, k: int | None = None, docs: int = 0, rel: float = 1) -> float:
    """Return (hits + nonrelevant documents that are not retrieved) / documents of the collection ([1]_, section 8.3).

    Examples
    --------
    >>> accuracy([1, 0, 0], [1, 0, 0, 1], k=2)
    0.5
    >>> mean_of_accuracy([[1, 0]], [1, 0], k=1)
    0.5
    >>> variance_of_accuracy([[1, 0]], [1, 0], k=1)
    0.25
    """
    return mean_of_accuracy([[label] for label in ranking], judged, k, docs, rel)


def mean_of_accuracy(groups: Groups, judged: Ranking, k: int | None = None, docs: int = 0, rel: float = 1) -> float:
    """Return the mean of `accuracy`: (2 expected hits + D - d - N) / D.

    D is the number of documents of the collection, and d = k or the length of a shorter list.
    """
    N, D = relevant(judged, rel), collection_size(_all(groups), judged, docs)
    return (2 * mean_of_hits(groups, k, rel) + D - _depth(groups, k) - N) / D if N else 0.0


def variance_of_accuracy(groups: Groups, judged: Ranking, k: int | None = None, docs: int = 0, rel: float = 1) -> float:
    """Return the variance of `accuracy`: 4 times the variance of the hits, / D²."""
    D = collection_size(_all(groups), judged, docs)
    return 4 * variance_of_hits(groups, k, rel) / D**2 if relevant(judged, rel) else 0.0


def fall_out(ranking: Ranking, judged: Ranking, k: int | None = None, docs: int = 0, rel: float = 1) -> float:
    """Return nonrelevant documents retrieved / nonrelevant documents of the collection; 0 if there are none.

    Examples
    --------
    >>> fall_out([1, 0, 0], [1, 0, 0, 1], k=2), fall_out([1, 0, 0], [1, 0, 0, 1], k=2, docs=102)
    (0.5, 0.01)
    >>> mean_of_fall_out([[1, 0, 0]], [1, 0, 0], k=1)
    0.33333333333333337
    >>> variance_of_fall_out([[1, 0]], [1, 0], k=1)
    0.25
    """
    return mean_of_fall_out([[label] for label in ranking], judged, k, docs, rel)


def mean_of_fall_out(groups: Groups, judged: Ranking, k: int | None = None, docs: int = 0, rel: float = 1) -> float:
    """Return the mean of `fall_out`: (d - expected hits) / (D - N), with D and d as in `mean_of_accuracy`."""
    N, D = relevant(judged, rel), collection_size(_all(groups), judged, docs)
    return (_depth(groups, k) - mean_of_hits(groups, k, rel)) / (D - N) if 0 < N < D else 0.0


def variance_of_fall_out(groups: Groups, judged: Ranking, k: int | None = None, docs: int = 0, rel: float = 1) -> float:
    """Return the variance of `fall_out`: the variance of the hits, / (D - N)²."""
    N, D = relevant(judged, rel), collection_size(_all(groups), judged, docs)
    return variance_of_hits(groups, k, rel) / (D - N) ** 2 if 0 < N < D else 0.0


def specificity(ranking: Ranking, judged: Ranking, k: int | None = None, docs: int = 0, rel: float = 1) -> float:
    """Return nonrelevant documents that are not retrieved / nonrelevant documents: 1 - `fall_out` ([1]_, section 8.4).

    The value is 1 if the collection has no nonrelevant documents.

    Examples
    --------
    >>> specificity([1, 0, 0], [1, 0, 0, 1], k=2)
    0.5
    >>> mean_of_specificity([[1, 0]], [1, 0], k=1)
    0.5
    >>> variance_of_specificity([[1, 0]], [1, 0], k=1)
    0.25
    """
    return mean_of_specificity([[label] for label in ranking], judged, k, docs, rel)


def mean_of_specificity(groups: Groups, judged: Ranking, k: int | None = None, docs: int = 0, rel: float = 1) -> float:
    """Return the mean of `specificity`: 1 - that of `fall_out`."""
    return 1 - mean_of_fall_out(groups, judged, k, docs, rel) if relevant(judged, rel) else 0.0


def variance_of_specificity(
    groups: Groups, judged: Ranking, k: int | None = None, docs: int = 0, rel: float = 1
) -> float:
    """Return the variance of `specificity`, which is that of `fall_out`."""
    return variance_of_fall_out(groups, judged, k, docs, rel)


def _all(groups: Groups) -> Ranking:
    """Return the labels of all groups."""
    return [label for labels in groups for label in labels]


def _depth(groups: Groups, k: int | None) -> int:
    """Return k, or the number of retrieved documents if there are fewer."""
    n = number_of_documents(groups)
    return n if k is None else min(k, n)


MEASURES: dict[str, Functions] = {
    "Accuracy": (accuracy, mean_of_accuracy, variance_of_accuracy),
    "Specificity": (specificity, mean_of_specificity, variance_of_specificity),
    "FallOut": (fall_out, mean_of_fall_out, variance_of_fall_out),
}
