"""O-measure and P+, which look at the first relevant and at the first of the best documents.

The means and variances go through all orders of the ties. Numbers in brackets, such as [1], refer to the list of
references in the docstring of `tieaware.reference`.
"""

from __future__ import annotations

import math

from tieaware.reference.gains import Gains, gain
from tieaware.reference.rankings import (
    Functions,
    Groups,
    Ranking,
    grade_of,
    is_relevant,
    mean_over_orders,
    variance_over_orders,
)


def blended_ratio(
    ranking: Ranking, judged: Ranking, j: int, beta: float = 1.0, rel: float = 1, gains: Gains = None
) -> float:
    """Return (hits to j + beta gain to j) / (j + beta ideal gain to j), as in the Q-measure [12]_.

    "To j" means in total over the ranks 1 … j. The gain of a relevant document is its label, or its gain in a table.

    Other parameters as for `tieaware.reference`; the value is 0 … 1.

    Parameters
    ----------
    j : int
        A rank, from 1.
    beta : float
        The weight of the gain against the hits, above 0.
    gains : {label: gain}, optional
        As for `tieaware.reference.gains.gain`.

    Examples
    --------
    >>> blended_ratio([0, 2], [2, 0, 1], 2)
    0.6
    """
    found = [gain(label, gains=gains) for label in ranking[:j] if is_relevant(label, rel)]
    ideal = sorted((gain(label, gains=gains) for label in judged if is_relevant(label, rel)), reverse=True)
    return (len(found) + beta * math.fsum(found)) / (j + beta * math.fsum(ideal[:j]))


def o_measure(
    ranking: Ranking, judged: Ranking, k: int | None = None, beta: float = 1.0, rel: float = 1, gains: Gains = None
) -> float:
    """Return the blended ratio at the rank of the first relevant document, and 0 if there is none [21]_.

    Parameters as for `tieaware.reference.average_precision.q_measure`.

    Examples
    --------
    >>> o_measure([0, 2], [2, 0, 1])
    0.6
    """
    for j, label in enumerate(ranking[:k], start=1):
        if is_relevant(label, rel):
            return blended_ratio(ranking, judged, j, beta, rel, gains)
    return 0.0


def mean_of_o_measure(
    groups: Groups, judged: Ranking, k: int | None = None, beta: float = 1.0, rel: float = 1, gains: Gains = None
) -> float:
    """Return the mean of `o_measure` over all orders.

    Parameters as for `o_measure`.

    Examples
    --------
    >>> mean_of_o_measure([[1, 0]], [1])
    0.8333333333333333
    """
    return mean_over_orders(groups, k, lambda order: o_measure(order, judged, k, beta, rel, gains))


def variance_of_o_measure(
    groups: Groups, judged: Ranking, k: int | None = None, beta: float = 1.0, rel: float = 1, gains: Gains = None
) -> float:
    """Return the variance of `o_measure` over all orders.

    Parameters as for `o_measure`; the value is 0 … 1/4.

    Examples
    --------
    >>> round(variance_of_o_measure([[1, 0]], [1]), 6)
    0.027778
    """
    return variance_over_orders(groups, k, lambda order: o_measure(order, judged, k, beta, rel, gains))


def p_plus(ranking: Ranking, judged: Ranking, beta: float = 1.0, max_rel: int = 4) -> float:
    """Return the mean blended ratio of the relevant documents down to the first one with the highest label [21]_.

    The highest label is that of the ranking. The value of a ranking without relevant documents is 0.

    Other parameters as for `o_measure`.

    Parameters
    ----------
    max_rel : int
        The highest possible label; the value does not depend on it.

    Examples
    --------
    >>> p_plus([1, 0, 2, 2], [1, 0, 2, 2])
    0.6458333333333333
    """
    highest = max(map(grade_of, ranking), default=0)
    if highest == 0:
        return 0.0
    preferred = [grade_of(label) for label in ranking].index(highest) + 1
    ranks = [j for j, label in enumerate(ranking[:preferred], start=1) if is_relevant(label)]
    return math.fsum(blended_ratio(ranking, judged, j, beta) for j in ranks) / len(ranks)


def mean_of_p_plus(groups: Groups, judged: Ranking, beta: float = 1.0, max_rel: int = 4) -> float:
    """Return the mean of `p_plus` over all orders.

    Parameters as for `p_plus`.

    Examples
    --------
    >>> mean_of_p_plus([[1, 0]], [1])
    0.8333333333333333
    """
    return mean_over_orders(groups, None, lambda order: p_plus(order, judged, beta, max_rel))


def variance_of_p_plus(groups: Groups, judged: Ranking, beta: float = 1.0, max_rel: int = 4) -> float:
    """Return the variance of `p_plus` over all orders.

    Parameters as for `p_plus`; the value is 0 … 1/4.

    Examples
    --------
    >>> round(variance_of_p_plus([[1, 0]], [1]), 6)
    0.027778
    """
    return variance_over_orders(groups, None, lambda order: p_plus(order, judged, beta, max_rel))


MEASURES: dict[str, Functions] = {
    "O": (o_measure, mean_of_o_measure, variance_of_o_measure),
    "PPlus": (p_plus, mean_of_p_plus, variance_of_p_plus),
}
