"""Intent-aware measures, from a label for each subtopic of the query: means of ordinary measures over the subtopics.

The label of a document is a tuple with one label for each subtopic, such as (1, 0); None stands for a subtopic for
which it is not judged. A number is the label for the only subtopic. Subtopics without a relevant judged document do not
count. The weights of the others are equal, or as the parameter ``weights`` gives them, and add up to 1.

The means are closed, and the variances go through all orders. The parameters of the functions for the mean and the
variance are those of the function for the value.

Numbers in brackets, such as [1], refer to the list of references in the docstring of `tieaware.reference`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from tieaware.reference.average_precision import average_precision, mean_of_average_precision
from tieaware.reference.first_relevant import mean_of_success, success
from tieaware.reference.hits import mean_of_precision, precision
from tieaware.reference.rankings import Functions, Label, is_relevant, orders

# A document's labels, one for each subtopic.
Labels: TypeAlias = tuple[Label, ...] | Label
Documents: TypeAlias = Sequence[Labels]
Weights: TypeAlias = Sequence[float] | None


def labels_for(documents: Documents, subtopic: int) -> list[Label]:
    """Return the label of each document for one subtopic.

    Parameters
    ----------
    documents : sequence
        The labels of each document.
    subtopic : int
        The number of the subtopic, from 0.

    Returns
    -------
    list of int or None

    Examples
    --------
    >>> labels_for([(1, 0), None, 2], 0)
    [1, None, 2]
    """
    found: list[Label] = []
    for labels in documents:
        several = labels if isinstance(labels, tuple) else (labels,)
        found.append(several[subtopic] if subtopic < len(several) else None)
    return found


def intents(judged: Documents, rel: float = 1, weights: Weights = None) -> dict[int, float]:
    """Return the weight of each subtopic that a judged document is relevant to; they add up to 1.

    Parameters
    ----------
    judged : sequence
        The labels of all judged documents.
    rel : float
        The smallest relevant label.
    weights : sequence of float, optional
        The weight of each subtopic, before it is scaled.

    Returns
    -------
    dict of int to float
        The weights by the number of the subtopic.

    Examples
    --------
    >>> intents([(1, 0, 1), (0, 0, 2)]), intents([(1, 1)], weights=[3, 1])
    ({0: 0.5, 2: 0.5}, {0: 0.75, 1: 0.25})
    """
    n = max((len(labels) if isinstance(labels, tuple) else 1 for labels in judged), default=0)
    found = {i: 1.0 if weights is None else float(weights[i]) for i in range(n)}
    found = {
        i: weight for i, weight in found.items() if weight and any(is_relevant(x, rel) for x in labels_for(judged, i))
    }
    return {i: weight / math.fsum(found.values()) for i, weight in found.items()}


def variance_over_orders(groups: Sequence[Documents], value: Callable[[Documents], float]) -> float:
    """Return the variance of a value over all orders of the documents inside their groups.

    Parameters
    ----------
    groups : sequence
        The labels of the documents of each group.
    value : callable
        Takes a ranking, and returns its value.

    Returns
    -------
    float

    Examples
    --------
    >>> variance_over_orders([[(1,), (0,)]], lambda ranking: labels_for(ranking, 0)[0])
    0.25
    """
    values = [(chance, value(order)) for chance, order in orders(groups)]  # type: ignore[arg-type]
    mean = math.fsum(chance * each for chance, each in values)
    return math.fsum(chance * (each - mean) ** 2 for chance, each in values)


def intent_aware_precision(
    ranking: Documents, judged: Documents, k: int | None = None, rel: float = 1, weights: Weights = None
) -> float:
    """Return the mean over the subtopics of precision [25].

    Parameters
    ----------
    ranking, judged : sequence
        The labels of the ranked documents, and of all judged ones.
    k, rel
        As for `tieaware.reference`.
    weights : sequence of float, optional
        The weight of each subtopic; by default, all count alike.

    Returns
    -------
    float
        0 … 1.

    Examples
    --------
    >>> intent_aware_precision([(1, 0), (0, 0), (1, 1)], [(1, 0), (1, 1)], 2)
    0.25
    """
    return math.fsum(
        weight * precision(labels_for(ranking, i), labels_for(judged, i), k, rel)
        for i, weight in intents(judged, rel, weights).items()
    )


def mean_of_intent_aware_precision(
    groups: Sequence[Documents], judged: Documents, k: int | None = None, rel: float = 1, weights: Weights = None
) -> float:
    """Return the mean of `intent_aware_precision` over all orders.

    Parameters as for `intent_aware_precision`.

    Examples
    --------
    >>> mean_of_intent_aware_precision([[(1, 0), (0, 0), (1, 1)]], [(1, 0), (1, 1)], 2)
    0.5
    """
    return math.fsum(
        weight * mean_of_precision([labels_for(group, i) for group in groups], labels_for(judged, i), k, rel)
        for i, weight in intents(judged, rel, weights).items()
    )


def variance_of_intent_aware_precision(
    groups: Sequence[Documents], judged: Documents, k: int | None = None, rel: float = 1, weights: Weights = None
) -> float:
    """Return the variance of `intent_aware_precision` over all orders.

    Parameters as for `intent_aware_precision`.

    Examples
    --------
    >>> round(variance_of_intent_aware_precision([[(1, 0), (0, 0), (1, 1)]], [(1, 0), (1, 1)], 2), 6)
    0.041667
    """
    return variance_over_orders(groups, lambda order: intent_aware_precision(order, judged, k, rel, weights))


def intent_aware_ap(
    ranking: Documents, judged: Documents, rel: float = 1, weights: Weights = None
) -> float:
    """Return the mean over the subtopics of average precision [25].

    Parameters
    ----------
    ranking, judged : sequence
        The labels of the ranked documents, and of all judged ones.
    rel
        As for `tieaware.reference`.
    weights : sequence of float, optional
        The weight of each subtopic; by default, all count alike.

    Returns
    -------
    float
        0 … 1.

    Examples
    --------
    >>> intent_aware_ap([(1, 0), (0, 0), (1, 1)], [(1, 0), (1, 1)])
    0.5833333333333333
    """
    return math.fsum(
        weight * average_precision(labels_for(ranking, i), labels_for(judged, i), rel=rel)
        for i, weight in intents(judged, rel, weights).items()
    )


def mean_of_intent_aware_ap(
    groups: Sequence[Documents], judged: Documents, rel: float = 1, weights: Weights = None
) -> float:
    """Return the mean of `intent_aware_ap` over all orders.

    Parameters as for `intent_aware_ap`.

    Examples
    --------
    >>> mean_of_intent_aware_ap([[(1, 0), (0, 0), (1, 1)]], [(1, 0), (1, 1)])
    0.7083333333333333
    """
    return math.fsum(
        weight * mean_of_average_precision([labels_for(group, i) for group in groups], labels_for(judged, i), rel=rel)
        for i, weight in intents(judged, rel, weights).items()
    )


def variance_of_intent_aware_ap(
    groups: Sequence[Documents], judged: Documents, rel: float = 1, weights: Weights = None
) -> float:
    """Return the variance of `intent_aware_ap` over all orders.

    Parameters as for `intent_aware_ap`.

    Examples
    --------
    >>> round(variance_of_intent_aware_ap([[(1, 0), (0, 0), (1, 1)]], [(1, 0), (1, 1)]), 6)
    0.039352
    """
    return variance_over_orders(groups, lambda order: intent_aware_ap(order, judged, rel, weights))


def subtopic_recall(
    ranking: Documents, judged: Documents, k: int | None = None, rel: float = 1, weights: Weights = None
) -> float:
    """Return the share of the subtopics that a document within the cut-off is relevant to [26].

    Parameters
    ----------
    ranking, judged : sequence
        The labels of the ranked documents, and of all judged ones.
    k, rel
        As for `tieaware.reference`.
    weights : sequence of float, optional
        The weight of each subtopic; by default, all count alike.

    Returns
    -------
    float
        0 … 1.

    Examples
    --------
    >>> subtopic_recall([(1, 0), (0, 0), (1, 1)], [(1, 0), (1, 1)], 2)
    0.5
    """
    return math.fsum(
        weight * success(labels_for(ranking, i), labels_for(judged, i), k, rel)
        for i, weight in intents(judged, rel, weights).items()
    )


def mean_of_subtopic_recall(
    groups: Sequence[Documents], judged: Documents, k: int | None = None, rel: float = 1, weights: Weights = None
) -> float:
    """Return the mean of `subtopic_recall` over all orders.

    Parameters as for `subtopic_recall`.

    Examples
    --------
    >>> mean_of_subtopic_recall([[(1, 0), (0, 0), (1, 1)]], [(1, 0), (1, 1)], 2)
    0.8333333333333333
    """
    return math.fsum(
        weight * mean_of_success([labels_for(group, i) for group in groups], labels_for(judged, i), k, rel)
        for i, weight in intents(judged, rel, weights).items()
    )


def variance_of_subtopic_recall(
    groups: Sequence[Documents], judged: Documents, k: int | None = None, rel: float = 1, weights: Weights = None
) -> float:
    """Return the variance of `subtopic_recall` over all orders.

    Parameters as for `subtopic_recall`.

    Examples
    --------
    >>> round(variance_of_subtopic_recall([[(1, 0), (0, 0), (1, 1)]], [(1, 0), (1, 1)], 2), 6)
    0.055556
    """
    return variance_over_orders(groups, lambda order: subtopic_recall(order, judged, k, rel, weights))


MEASURES: dict[str, Functions] = {
    "P_IA": (intent_aware_precision, mean_of_intent_aware_precision, variance_of_intent_aware_precision),
    "AP_IA": (
        intent_aware_ap,
        mean_of_intent_aware_ap,
        variance_of_intent_aware_ap,
    ),
    "StRecall": (subtopic_recall, mean_of_subtopic_recall, variance_of_subtopic_recall),
}
