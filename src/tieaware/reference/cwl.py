"""Measures of the C/W/L framework: the gain per document of a user who reads on from each rank with some probability.

V_j is the probability that the user views rank j, the product of the probabilities to read on at the ranks before. The
measures are Σ V_j g_j / Σ V_j, over all ranks, also those below the end of the list, which have no gain. With a
cut-off, the user stops at rank k.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tieaware.reference.gains import Dcg, Gains, gain, slot_weight
from tieaware.reference.hits import variance_of_weighted_sum
from tieaware.reference.rankings import Functions, Groups, Label, Ranking, grade_of, number_of_documents, with_ranks


def scaled_gain(
    label: Label, min_rel: int = 0, max_rel: int = 4, dcg: Dcg = "log2", gains: Gains = None
) -> float:
    """Return the gain of label - min_rel, divided by that of max_rel - min_rel; 0 for labels below min_rel.

    With a table of gains, return the gain in the table, divided by the largest one.

    Examples
    --------
    >>> scaled_gain(3), scaled_gain(3, min_rel=2), scaled_gain(None)
    (0.75, 0.5, 0.0)
    """
    if gains:
        return gain(label, gains=gains) / max(gains.values())
    return gain(grade_of(label) - min_rel, dcg) / gain(max_rel - min_rel, dcg)


def sum_of_inverse_squares(a: float, n: int | None = None) -> float:
    """Return Σ 1 / (`a` + i)² over i = 0 … `n` - 1, for a > 0; without n, over all i to infinity.

    Examples
    --------
    >>> sum_of_inverse_squares(1.0, 2), round(sum_of_inverse_squares(1.0), 12), round(math.pi**2 / 6, 12)
    (1.25, 1.644934066848, 1.644934066848)
    """
    if n is not None:
        return math.fsum(1 / (a + i) ** 2 for i in range(n))
    # The expansion of Euler and Maclaurin has an error of less than 1 / x^9.
    x = a + 100
    return sum_of_inverse_squares(a, 100) + 1 / x + 1 / (2 * x**2) + 1 / (6 * x**3) - 1 / (30 * x**5) + 1 / (42 * x**7)


def _mean(groups: Groups, k: int | None, worth: Callable[[Label], float], weight: Callable[[int], float]) -> float:
    """Return the mean of Σ worth_j weight_j: Σ_groups (mean worth) Σ_j weight_j."""
    return math.fsum(
        math.fsum(map(worth, labels)) / len(labels) * math.fsum(map(weight, ranks))
        for ranks, labels in with_ranks(groups, k)
    )


def _sum_of_discounts(depth: int) -> float:
    return math.fsum(map(slot_weight, range(1, depth + 1)))


def scaled_cumulative_gain(
    ranking: Ranking,
    judged: Ranking,
    k: int | None = None,
    min_rel: int = 0,
    max_rel: int = 4,
    dcg: Dcg = "log2",
    gains: Gains = None,
) -> float:
    """Return Σ_j g_j / log2(1 + j) over the first k ranks, divided by the same sum if every gain were 1 [16]_.

    Without k, the length of the list takes its place.

    Examples
    --------
    >>> scaled_cumulative_gain([4, 0, 0], [4, 0, 0], k=1), scaled_cumulative_gain([2], [2], k=1)
    (1.0, 0.5)
    >>> mean_of_scaled_cumulative_gain([[4, 0]], [4, 0], k=1)
    0.5
    >>> variance_of_scaled_cumulative_gain([[4, 0]], [4, 0], k=1)
    0.25
    """
    alone = [[label] for label in ranking]
    return mean_of_scaled_cumulative_gain(alone, judged, k, min_rel, max_rel, dcg, gains)


def mean_of_scaled_cumulative_gain(
    groups: Groups,
    judged: Ranking,
    k: int | None = None,
    min_rel: int = 0,
    max_rel: int = 4,
    dcg: Dcg = "log2",
    gains: Gains = None,
) -> float:
    """Return the mean of `scaled_cumulative_gain`: each rank has the mean gain of its group."""
    depth = number_of_documents(groups) if k is None else k
    total = _mean(groups, k, lambda label: scaled_gain(label, min_rel, max_rel, dcg, gains), slot_weight)
    return total / _sum_of_discounts(depth) if depth else 0.0


def variance_of_scaled_cumulative_gain(
    groups: Groups,
    judged: Ranking,
    k: int | None = None,
    min_rel: int = 0,
    max_rel: int = 4,
    dcg: Dcg = "log2",
    gains: Gains = None,
) -> float:
    """Return the variance of `scaled_cumulative_gain`, a weighted sum over the ranks."""
    depth = number_of_documents(groups) if k is None else k
    varied = variance_of_weighted_sum(
        groups, k, lambda label: scaled_gain(label, min_rel, max_rel, dcg, gains), slot_weight
    )
    return varied / _sum_of_discounts(depth) ** 2 if depth else 0.0


def inverse_squares(
    ranking: Ranking,
    judged: Ranking,
    k: int | None = None,
    T: float = 1.0,
    min_rel: int = 0,
    max_rel: int = 4,
) -> float:
    """Return Σ_j g_j / (j - 1 + 2T)², divided by the same sum if every gain were 1 [17]_.

    Without k, the divisor is a sum over infinitely many ranks.

    Examples
    --------
    >>> inverse_squares([4, 0], [4, 0], k=1), round(inverse_squares([4], [4], T=0.5), 12)
    (1.0, 0.607927101854)
    >>> mean_of_inverse_squares([[4, 0]], [4, 0], k=1)
    0.5
    >>> variance_of_inverse_squares([[4, 0]], [4, 0], k=1)
    0.25
    """
    return mean_of_inverse_squares([[label] for label in ranking], judged, k, T, min_rel, max_rel)


def mean_of_inverse_squares(
    groups: Groups,
    judged: Ranking,
    k: int | None = None,
    T: float = 1.0,
    min_rel: int = 0,
    max_rel: int = 4,
) -> float:
    """Return the mean of `inverse_squares`: each rank has the mean gain of its group."""
    total = _mean(groups, k, lambda label: scaled_gain(label, min_rel, max_rel), lambda j: 1 / (j - 1 + 2 * T) ** 2)
    return total / sum_of_inverse_squares(2 * T, k)


def variance_of_inverse_squares(
    groups: Groups,
    judged: Ranking,
    k: int | None = None,
    T: float = 1.0,
    min_rel: int = 0,
    max_rel: int = 4,
) -> float:
    """Return the variance of `inverse_squares`, a weighted sum over the ranks."""
    varied = variance_of_weighted_sum(
        groups, k, lambda label: scaled_gain(label, min_rel, max_rel), lambda j: 1 / (j - 1 + 2 * T) ** 2
    )
    return varied / sum_of_inverse_squares(2 * T, k) ** 2


MEASURES: dict[str, Functions] = {
    "SDCG": (scaled_cumulative_gain, mean_of_scaled_cumulative_gain, variance_of_scaled_cumulative_gain),
    "INSQ": (inverse_squares, mean_of_inverse_squares, variance_of_inverse_squares),
}
