"""Intent-aware measures, from a label for each subtopic of the query: means of ordinary measures over the subtopics.

The label of a document is a tuple with one label for each subtopic, such as (1, 0); None stands for a subtopic for
which it is not judged. A number is the label for the only subtopic. Subtopics without a relevant judged document do not
count. The weights of the others are equal, or as `weights` gives them, and add up to 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tieaware.reference.average_precision import average_precision, mean_of_average_precision
from tieaware.reference.first_relevant import mean_of_success, success
from tieaware.reference.hits import mean_of_precision, precision
from tieaware.reference.rankings import Functions, Label, is_relevant, variance_over_orders

# A document's labels, one for each subtopic.
Labels: TypeAlias = tuple[Label, ...] | Label
Documents: TypeAlias = Sequence[Labels]
Weights: TypeAlias = Sequence[float] | None


def labels_for(documents: Documents, subtopic: int) -> list[Label]:
    """Return the label of each of the `documents` for one `subtopic`, which is a number from 0.

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


def over_subtopics(value: Callable[..., float], mean: Callable[..., float]) -> Functions:
    """Return the functions of Σ_i w_i M_i, where M_i is a measure with the labels for subtopic i.

    `value` and `mean` are the measure's functions. The variance goes through all orders, because subtopics share
    documents.

    Examples
    --------
    >>> value, mean, variance = over_subtopics(precision, mean_of_precision)
    >>> ranking, judged = [(1, 0), (0, 0), (1, 1)], [(1, 0), (1, 1)]
    >>> value(ranking, judged, k=2), mean([ranking], judged, k=2), round(variance([ranking], judged, k=2), 6)
    (0.25, 0.5, 0.041667)
    """

    def of_ranking(
        ranking: Documents, judged: Documents, rel: float = 1, weights: Weights = None, **cutoff: Any
    ) -> float:
        return math.fsum(
            weight * value(labels_for(ranking, i), labels_for(judged, i), rel=rel, **cutoff)
            for i, weight in intents(judged, rel, weights).items()
        )

    def of_groups(
        groups: Sequence[Documents], judged: Documents, rel: float = 1, weights: Weights = None, **cutoff: Any
    ) -> float:
        return math.fsum(
            weight * mean([labels_for(group, i) for group in groups], labels_for(judged, i), rel=rel, **cutoff)
            for i, weight in intents(judged, rel, weights).items()
        )

    def variance(groups: Sequence[Documents], judged: Documents, **parameters: Any) -> float:
        return variance_over_orders(groups, None, lambda order: of_ranking(order, judged, **parameters))  # type: ignore[arg-type]

    return of_ranking, of_groups, variance


# P_IA and AP_IA [25], and subtopic recall [26].
MEASURES: dict[str, Functions] = {
    "P_IA": over_subtopics(precision, mean_of_precision),
    "AP_IA": over_subtopics(average_precision, mean_of_average_precision),
    "StRecall": over_subtopics(success, mean_of_success),
}
