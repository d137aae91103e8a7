"""Exposure: the attention that each document can expect from the weight of its rank."""

from __future__ import annotations

import math
from collections.abc import Sequence


def exposures(scores: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Return the mean weight of each document's rank over all orders of tied documents.

    A document of a group that starts after t documents, and holds n documents, has each of the ranks t+1 … t+n with
    equal probability. So its exposure is the mean weight of these ranks (Diaz and others, "Evaluating stochastic
    rankings with expected exposure", CIKM 2020).

    Parameters
    ----------
    scores : sequence of float
        The score of each document.
    weights : sequence of float
        The weight of each rank, from the first: at least as many as there are documents.

    Returns
    -------
    list of float
        The exposure of each document.

    Examples
    --------
    >>> exposures([3.0, 1.0, 1.0], [1, 1/2, 1/3])
    [1.0, 0.41666666666666663, 0.41666666666666663]
    """
    found = []
    for score in scores:
        t = sum(other > score for other in scores)
        n = sum(other == score for other in scores)
        found.append(math.fsum(weights[t : t + n]) / n)
    return found
