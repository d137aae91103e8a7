"""Measures that weigh the ranks, and that of a user who stops.

The numbers in brackets are those of the references of `tieaware.reference`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tieaware.reference.hits import variance_of_weighted_sum
from tieaware.reference.rankings import Functions, Groups, Label, Ranking, grade_of, is_relevant, relevant, with_ranks


def gain(label: Label, dcg: str = "log2") -> int:
    """Return the label (``"log2"``) [4]_ or 2^label - 1 (``"exp-log2"``) [5]_; 0 for labels below 1."""
    grade = grade_of(label)
    return 2**grade - 1 if dcg == "exp-log2" else grade


def discount(j: int) -> float:
    """Return 1/log2(1 + j), the weight of rank j in DCG."""
    return 1 / math.log2(1 + j)


def ideal_gain(judged: Ranking, k: int | None = None, dcg: str = "log2") -> float:
    """Return the DCG of the judged documents in their best order."""
    return discounted_cumulative_gain(sorted(judged, key=grade_of, reverse=True), judged, k, dcg)


def discounted_cumulative_gain(ranking: Ranking, judged: Ranking, k: int | None = None, dcg: str = "log2") -> float:
    """Σ gain_j / log2(1 + j) [4]_, in the form of [5]_, which discounts the second rank too.

    Examples
    --------
    >>> discounted_cumulative_gain([3, 0, 2], [3, 0, 2])
    4.0
    >>> discounted_cumulative_gain([3, 0, 2], [3, 0, 2], dcg="exp-log2")
    8.5
    """
    return math.fsum(gain(label, dcg) * discount(j) for j, label in enumerate(ranking[:k], start=1))


def mean_of_discounted_cumulative_gain(
    groups: Groups, judged: Ranking, k: int | None = None, dcg: str = "log2"
) -> float:
    """Give the mean of :func:`discounted_cumulative_gain`: Σ_groups (mean gain) Σ_j 1/log2(1 + j) [2]_.

    Examples
    --------
    >>> mean_of_discounted_cumulative_gain([[0, 0, 0], [4]], [0, 0, 0, 4], k=3)
    0.0
    >>> mean_of_discounted_cumulative_gain([[2, 0]], [2, 0], k=1)
    1.0
    """
    return math.fsum(
        sum(gain(label, dcg) for label in labels) / len(labels) * math.fsum(map(discount, ranks))
        for ranks, labels in with_ranks(groups, k)
    )


def variance_of_discounted_cumulative_gain(
    groups: Groups, judged: Ranking, k: int | None = None, dcg: str = "log2"
) -> float:
    """Give the variance of :func:`discounted_cumulative_gain`."""
    return variance_of_weighted_sum(groups, k, lambda label: gain(label, dcg), discount)


def normalised_discounted_cumulative_gain(
    ranking: Ranking, judged: Ranking, k: int | None = None, dcg: str = "log2"
) -> float:
    """:func:`discounted_cumulative_gain` / that of the judged documents in their best order [4]_.

    Examples
    --------
    >>> normalised_discounted_cumulative_gain([0, 0, 2], [0, 0, 2])
    0.5
    """
    ideal = ideal_gain(judged, k, dcg)
    return discounted_cumulative_gain(ranking, judged, k, dcg) / ideal if ideal else 0.0


def mean_of_normalised_discounted_cumulative_gain(
    groups: Groups, judged: Ranking, k: int | None = None, dcg: str = "log2"
) -> float:
    """Give the mean of :func:`normalised_discounted_cumulative_gain`: the ideal gain does not depend on the order [2]_.

    Examples
    --------
    >>> mean_of_normalised_discounted_cumulative_gain([[2, 0]], [2, 0], k=1)
    0.5
    """
    ideal = ideal_gain(judged, k, dcg)
    return mean_of_discounted_cumulative_gain(groups, judged, k, dcg) / ideal if ideal else 0.0


def variance_of_normalised_discounted_cumulative_gain(
    groups: Groups, judged: Ranking, k: int | None = None, dcg: str = "log2"
) -> float:
    """Give the variance of :func:`normalised_discounted_cumulative_gain`."""
    ideal = ideal_gain(judged, k, dcg)
    return variance_of_discounted_cumulative_gain(groups, judged, k, dcg) / ideal**2 if ideal else 0.0


def rank_biased_precision(
    ranking: Ranking, judged: Ranking, k: int | None = None, p: float = 0.8, rel: int = 1
) -> float:
    """(1-p) Σ p^(j-1) over the ranks j of relevant documents: p is the reader's patience [6]_.

    Examples
    --------
    >>> rank_biased_precision([1, 0, 1], [1, 0, 1], p=0.5)
    0.625
    """
    return math.fsum((1 - p) * p ** (j - 1) for j, label in enumerate(ranking[:k], start=1) if is_relevant(label, rel))


def mean_of_rank_biased_precision(
    groups: Groups, judged: Ranking, k: int | None = None, p: float = 0.8, rel: int = 1
) -> float:
    """Give the mean of :func:`rank_biased_precision`: (1-p) Σ_groups (r/n) Σ_j p^(j-1), additive as DCG is.

    Examples
    --------
    >>> mean_of_rank_biased_precision([[1, 0]], [1, 0], p=0.5)
    0.375
    """
    return math.fsum(
        relevant(labels, rel) / len(labels) * math.fsum((1 - p) * p ** (j - 1) for j in ranks)
        for ranks, labels in with_ranks(groups, k)
        if relevant(labels, rel)
    )


def variance_of_rank_biased_precision(
    groups: Groups, judged: Ranking, k: int | None = None, p: float = 0.8, rel: int = 1
) -> float:
    """Give the variance of :func:`rank_biased_precision`."""
    return variance_of_weighted_sum(
        groups, k, lambda label: float(is_relevant(label, rel)), lambda j: (1 - p) * p ** (j - 1)
    )


def rank_biased_residual(ranking: Ranking, judged: Ranking, p: float = 0.8) -> float:
    """1 - (1-p) Σ p^(j-1) over the ranks j of judged documents: what all others might add to RBP [6]_.

    Examples
    --------
    >>> rank_biased_residual([1, None, 0], [1, 0], p=0.5)
    0.375
    """
    return 1 - rank_biased_precision(ranking, judged, None, p, 0)


def mean_of_rank_biased_residual(groups: Groups, judged: Ranking, p: float = 0.8) -> float:
    """Give the mean of :func:`rank_biased_residual`.

    Examples
    --------
    >>> mean_of_rank_biased_residual([[1, None]], [1], p=0.5)
    0.625
    """
    return 1 - mean_of_rank_biased_precision(groups, judged, None, p, 0)


def variance_of_rank_biased_residual(groups: Groups, judged: Ranking, p: float = 0.8) -> float:
    """Give the variance of :func:`rank_biased_residual`."""
    return variance_of_rank_biased_precision(groups, judged, None, p, 0)


def stop_probability(label: Label, max_rel: int = 4) -> float:
    """(2^label - 1) / 2^max_rel, 0 for a label below 1."""
    return (2**label - 1) / 2**max_rel if label is not None and label > 0 else 0.0


def expected_reciprocal_rank(
    ranking: Ranking, judged: Ranking, k: int | None = None, max_rel: int = 4
) -> float:
    """Σ_j 1/j Π_{i<j} (1 - stop_i) stop_j: ERR, the mean reciprocal of the rank at which a user stops [10]_.

    Examples
    --------
    >>> expected_reciprocal_rank([1, 0, 2], [1, 0, 2], max_rel=2)
    0.4375
    """
    total, goes_on = 0.0, 1.0
    for j, label in enumerate(ranking[:k], start=1):
        stop = stop_probability(label, max_rel)
        total += goes_on * stop / j
        goes_on *= 1 - stop
    return total


def mean_products(factors: Sequence[float], m: int) -> list[float]:
    """Give the mean product of x of the factors, over all choices of x, for x = 0 … m.

    One factor q more, the i-th, makes of the mean A_x: ((i-x)/i) A_x + (x/i) q A_{x-1}.

    Examples
    --------
    >>> mean_products([0.5, 1.0, 1.0], 2)
    [1.0, 0.8333333333333334, 0.6666666666666666]
    """
    means = [1.0] + [0.0] * m
    for i, q in enumerate(factors, start=1):
        for x in range(min(m, i), 0, -1):
            means[x] = ((i - x) * means[x] + x * q * means[x - 1]) / i
    return means


def mean_of_expected_reciprocal_rank(groups: Groups, judged: Ranking, k: int | None = None, max_rel: int = 4) -> float:
    """Give the mean of :func:`expected_reciprocal_rank`: Σ P Σ_x (A_{x-1} - A_x)/(t+x).

    A_x is the mean product of 1 - stop over x documents of the group, P the product over the groups before.

    Examples
    --------
    >>> mean_of_expected_reciprocal_rank([[1, 0]], [1, 0], max_rel=1)
    0.375
    """
    total, goes_on = 0.0, 1.0
    for ranks, labels in with_ranks(groups, k):
        factors = [1 - stop_probability(label, max_rel) for label in labels]
        means = mean_products(factors, len(ranks))
        total += goes_on * math.fsum((means[x] - means[x + 1]) / j for x, j in enumerate(ranks))
        goes_on *= math.prod(factors)
    return total


def mean_products_of_prefixes(factors: Sequence[float], m: int) -> dict[tuple[int, int], float]:
    """Give the mean product of x factors squared and y others, over all choices, for x + y ≤ m.

    That is the mean of T_x T_{x+y}, where T_x is the product of the first x factors in an order. The recurrence is that
    of :func:`mean_products`.
    """
    means = {(x, y): float(x == y == 0) for x in range(m + 1) for y in range(m + 1 - x)}
    for i, q in enumerate(factors, start=1):
        old = means
        means = {
            (x, y): (
                (i - x - y) * old[x, y]
                + (x * q * q * old[x - 1, y] if x else 0.0)
                + (y * q * old[x, y - 1] if y else 0.0)
            )
            / i
            if x + y <= i
            else 0.0
            for x, y in old
        }
    return means


def variance_of_expected_reciprocal_rank(
    groups: Groups, judged: Ranking, k: int | None = None, max_rel: int = 4
) -> float:
    """Give the variance of :func:`expected_reciprocal_rank`: Σ P² Var Σ_x (T_{x-1} - T_x)/(t+x).

    T_x is the product of 1 - stop over the first x documents of the group, P that over the groups before.
    """
    total, goes_on = 0.0, 1.0
    for ranks, labels in with_ranks(groups, k):
        factors = [1 - stop_probability(label, max_rel) for label in labels]
        m = len(ranks)
        if len(set(factors)) > 1 and m:
            means = mean_products_of_prefixes(factors, m)
            # The sum as Σ_x coefficient_x T_x.
            coefficients = [1 / ranks[0], *(1 / ranks[x] - 1 / ranks[x - 1] for x in range(1, m)), -1 / ranks[m - 1]]
            mean = math.fsum(coefficients[x] * means[0, x] for x in range(m + 1))
            square = math.fsum(
                coefficients[x] * coefficients[y] * means[min(x, y), abs(x - y)]
                for x in range(m + 1)
                for y in range(m + 1)
            )
            total += goes_on**2 * (square - mean**2)
        goes_on *= math.prod(factors)
    return total


MEASURES: dict[str, Functions] = {
    "nDCG": (
        normalised_discounted_cumulative_gain,
        mean_of_normalised_discounted_cumulative_gain,
        variance_of_normalised_discounted_cumulative_gain,
    ),
    "DCG": (
        discounted_cumulative_gain,
        mean_of_discounted_cumulative_gain,
        variance_of_discounted_cumulative_gain,
    ),
    "RBP": (rank_biased_precision, mean_of_rank_biased_precision, variance_of_rank_biased_precision),
    "ERR": (expected_reciprocal_rank, mean_of_expected_reciprocal_rank, variance_of_expected_reciprocal_rank),
    "RBPResidual": (rank_biased_residual, mean_of_rank_biased_residual, variance_of_rank_biased_residual),
}
