"""The Q-measure, the O-measure and P+, which divide hits and gains down to a rank by those of the best order.

The means and variances of O and P+ go through all orders of the ties.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from tieaware.reference.gains import Gains, gain
from tieaware.reference.rankings import (
    Functions,
    Groups,
    Ranking,
    grade_of,
    is_relevant,
    over_orders,
    relevant,
    with_ranks,
)


def blended_ratio(
    ranking: Ranking, judged: Ranking, j: int, beta: float = 1.0, rel: float = 1, gains: Gains = None
) -> float:
    """Return (hits to j + beta gain to j) / (j + beta ideal gain to j), as in the Q-measure [12]_.

    "To `j`" means in total over the ranks 1 … j. The gain of a relevant document is its label, or its gain in a table.

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

    Examples
    --------
    >>> o_measure([0, 2], [2, 0, 1])
    0.6
    """
    for j, label in enumerate(ranking[:k], start=1):
        if is_relevant(label, rel):
            return blended_ratio(ranking, judged, j, beta, rel, gains)
    return 0.0


def p_plus(ranking: Ranking, judged: Ranking, beta: float = 1.0, max_rel: int = 4) -> float:
    """Return the mean blended ratio of the relevant documents down to the first one with the highest label [21]_.

    The highest label is that of the ranking. The value of a ranking without relevant documents is 0.

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


def q_measure(
    ranking: Ranking, judged: Ranking, k: int | None = None, beta: float = 1.0, rel: float = 1, gains: Gains = None
) -> float:
    """Return the Q-measure [12]_: Σ_j (hits to j + beta gain to j) / (j + beta ideal gain to j), / N.

    The sum is over the ranks j of relevant documents, and "to j" means in total over the ranks 1 … j. The gain of a
    relevant document is its label, or its gain in a table.

    Examples
    --------
    >>> q_measure([0, 2, 1], [0, 2, 1])
    0.7166666666666667
    >>> mean_of_q_measure([[1, 0]], [1, 0])
    0.8333333333333333
    >>> round(variance_of_q_measure([[1, 0]], [1, 0]), 6)
    0.027778
    """
    return mean_of_q_measure([[label] for label in ranking], judged, k, beta, rel, gains)


def mean_of_q_measure(
    groups: Groups, judged: Ranking, k: int | None = None, beta: float = 1.0, rel: float = 1, gains: Gains = None
) -> float:
    """Return the mean of `q_measure`: Σ_x w_x E[(R + 1 + beta C) I + beta g + I Σ (I + beta g before it)].

    This sum over the slots x of all groups is divided by N. I is 1 if the document in slot x is relevant, else 0, and g
    is its gain. R and C are the hits and the gain before the group. The inner sum is over the documents before slot x
    in the group. For the rank j of slot x, w_x = 1/(j + beta ideal gain to j).
    """
    N = relevant(judged, rel)
    total = 0.0
    for weights, hit, u, h in _terms_of_q(groups, judged, k, beta, rel, gains):
        one, two = mean_over_distinct(u), mean_over_distinct(hit, h)
        total += math.fsum(w * (one + x * two) for x, w in enumerate(weights))
    return total / N if N else 0.0


def variance_of_q_measure(
    groups: Groups, judged: Ranking, k: int | None = None, beta: float = 1.0, rel: float = 1, gains: Gains = None
) -> float:
    """Return the variance of `q_measure`, from the mean products over up to four different documents of a group.

    With the symbols of `mean_of_q_measure`, u = (R + 1 + beta C) I + beta g and h = I + beta g. The measure is the sum
    of w_x (u_x + I_x Σ h) over the slots x, divided by N; the inner sum is over the documents before slot x in the
    group.
    """
    N = relevant(judged, rel)
    total = 0.0
    for weights, hit, u, h in _terms_of_q(groups, judged, k, beta, rel, gains):
        e, squares = mean_over_distinct, [x * x for x in h]
        uu, uh = [x * x for x in u], [x * y for x, y in zip(u, h, strict=True)]
        mean = math.fsum(w * (e(u) + x * e(hit, h)) for x, w in enumerate(weights))
        square = math.fsum(
            w * w * (e(uu) + 2 * x * e(u, h) + x * e(hit, squares) + x * (x - 1) * e(hit, h, h))
            for x, w in enumerate(weights)
        )
        # For each pair of slots of the group: y documents of the group stand before the upper slot, x before the lower.
        one, three, four = e(u, u) + e(uh, hit), e(u, hit, h), (e(hit, hit, squares) + e(h, hit, h), e(hit, hit, h, h))
        square += 2 * math.fsum(
            w * v * (one + (x - 1 + y) * three + y * (four[0] + (x - 2) * four[1]))
            for x, w in enumerate(weights)
            for y, v in enumerate(weights[:x])
        )
        total += square - mean**2
    return total / N**2 if N else 0.0


def _terms_of_q(
    groups: Groups, judged: Ranking, k: int | None, beta: float, rel: float, gains: Gains
) -> Iterator[tuple[list[float], list[float], list[float], list[float]]]:
    """Yield four lists for each group: w_x of its ranks, and I, u and h of its documents.

    The symbols are those of `variance_of_q_measure`.
    """
    ideal = sorted((gain(label, gains=gains) for label in judged if is_relevant(label, rel)), reverse=True)
    c = 1.0
    for ranks, labels in with_ranks(groups, k):
        hit = [float(is_relevant(label, rel)) for label in labels]
        g = [gain(label, gains=gains) * i for label, i in zip(labels, hit, strict=True)]
        h = [i + beta * worth for i, worth in zip(hit, g, strict=True)]
        yield (
            [1 / (j + beta * math.fsum(ideal[:j])) for j in ranks],
            hit,
            [c * i + beta * worth for i, worth in zip(hit, g, strict=True)],
            h,
        )
        c += math.fsum(h)


def sum_over_distinct(*worths: Sequence[float]) -> float:
    """Sum ``worths[0][d0] worths[1][d1] …`` over all choices of different documents d0, d1 and so on.

    `*worths` has a sequence for each place: ``worths[i][d]`` is the factor of document d in place i. The function first
    sums over all documents for the last place, and then subtracts the cases in which this document is in an earlier
    place, too.

    Examples
    --------
    >>> sum_over_distinct([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    22.0
    """
    *others, last = worths
    if not others:
        return math.fsum(last)
    total = sum_over_distinct(*others) * math.fsum(last)
    for i, other in enumerate(others):
        both = [x * y for x, y in zip(other, last, strict=True)]
        total -= sum_over_distinct(*others[:i], both, *others[i + 1 :])
    return total


def mean_over_distinct(*worths: Sequence[float]) -> float:
    """Return `sum_over_distinct` of `*worths` divided by the number of choices; 0 if no choice is possible.

    Examples
    --------
    >>> mean_over_distinct([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    3.6666666666666665
    """
    choices = math.perm(len(worths[0]), len(worths))
    return sum_over_distinct(*worths) / choices if choices else 0.0


MEASURES: dict[str, Functions] = {
    "Q": (q_measure, mean_of_q_measure, variance_of_q_measure),
    "O": over_orders(o_measure),
    "PPlus": over_orders(p_plus),
}
