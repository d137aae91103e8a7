"""Expected reciprocal rank, and measures of NTCIR with the same user.

A user reads down the list and stops at each document with a probability that depends on its label.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from tieaware.reference.rankings import Functions, Groups, Label, Ranking, grade_of, ratio, with_ranks


def stop_probability(label: Label, max_rel: int = 4) -> float:
    """Return (2^label - 1) / 2^max_rel, the chance that a document makes the user stop; 0 for a label below 1 [10]_.

    Examples
    --------
    >>> stop_probability(1), stop_probability(4), stop_probability(None)
    (0.0625, 0.9375, 0.0)
    """
    return (2**label - 1) / 2**max_rel if label is not None and label > 0 else 0.0


def expected_reciprocal_rank(ranking: Ranking, judged: Ranking, k: int | None = None, max_rel: int = 4) -> float:
    """Return Σ_j 1/j Π_{i<j} (1 - stop_i) stop_j, the expectation of 1 / the rank at which the user stops [10]_.

    Examples
    --------
    >>> expected_reciprocal_rank([1, 0, 2], [1, 0, 2], max_rel=2)
    0.4375
    >>> mean_of_expected_reciprocal_rank([[1, 0]], [1, 0], max_rel=1)
    0.375
    >>> variance_of_expected_reciprocal_rank([[1, 0]], [1, 0], max_rel=1)
    0.015625
    """
    return utility_of_cascade(ranking, k, max_rel, lambda j: 1 / j)


def utility_of_cascade(ranking: Ranking, k: int | None, max_rel: int, utility: Callable[[int], float]) -> float:
    """Return Σ_j u_j Π_{i<j} (1 - stop_i) stop_j, the expected utility of the rank at which the user stops.

    `utility` takes a rank j and returns its utility u_j. The value has the range of the utility.

    Examples
    --------
    >>> utility_of_cascade([0, 1, 1], None, 1, lambda j: 0.5**j)
    0.15625
    >>> variance_of_utility_of_cascade([[1, 0]], None, 1, lambda j: 0.5**j)
    0.00390625
    """
    total, goes_on = 0.0, 1.0
    for j, label in enumerate(ranking[:k], start=1):
        stop = stop_probability(label, max_rel)
        total += goes_on * stop * utility(j)
        goes_on *= 1 - stop
    return total


def mean_products(factors: Sequence[float], m: int) -> list[float]:
    """Return the mean product of x of the `factors`, over all choices of x factors, for x = 0 … `m`.

    The function adds the factors one by one. The i-th factor, q, changes the mean A_x of the products of x factors to
    ((i-x)/i) A_x + (x/i) q A_{x-1}.

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
    """Return the mean of `expected_reciprocal_rank`: Σ P Σ_x (A_{x-1} - A_x)/(t+x).

    The outer sum is over the groups. A_x is the mean product of 1 - stop over x documents of the group, and P is the
    product of 1 - stop over all documents of earlier groups.
    """
    return mean_utility_of_cascade(groups, k, max_rel, lambda j: 1 / j)


def mean_utility_of_cascade(groups: Groups, k: int | None, max_rel: int, utility: Callable[[int], float]) -> float:
    """Return the mean of `utility_of_cascade`, Σ P Σ_x (A_{x-1} - A_x) u_{t+x}, where u is the `utility`.

    Examples
    --------
    >>> mean_utility_of_cascade([[1, 0]], None, 1, lambda j: 0.5**j)
    0.1875
    """
    total, goes_on = 0.0, 1.0
    for ranks, labels in with_ranks(groups, k):
        factors = [1 - stop_probability(label, max_rel) for label in labels]
        means = mean_products(factors, len(ranks))
        total += goes_on * math.fsum((means[x] - means[x + 1]) * utility(j) for x, j in enumerate(ranks))
        goes_on *= math.prod(factors)
    return total


def mean_products_of_prefixes(factors: Sequence[float], m: int) -> dict[tuple[int, int], float]:
    """Return the mean product of the squares of x `factors` and of y others, over all choices, for x + y ≤ `m`.

    This is the mean of T_x T_{x+y} over all orders, where T_x is the product of the first x factors in an order. The
    function adds the factors one by one, as `mean_products` does.

    Examples
    --------
    >>> mean_products_of_prefixes([0.5, 1.0], 1)
    {(0, 0): 1.0, (0, 1): 0.75, (1, 0): 0.625}
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
    """Return the variance of `expected_reciprocal_rank`: Σ P² Var Σ_x (T_{x-1} - T_x)/(t+x).

    The outer sum is over the groups. In an order of a group, T_x is the probability that the user goes on after
    its first x documents. P is the probability that the user goes on after all documents of earlier groups.
    """
    return variance_of_utility_of_cascade(groups, k, max_rel, lambda j: 1 / j)


def variance_of_utility_of_cascade(
    groups: Groups, k: int | None, max_rel: int, utility: Callable[[int], float]
) -> float:
    """Return the variance of `utility_of_cascade`: Σ P² Var Σ_x (T_{x-1} - T_x) u_{t+x}.

    The value is in the squared unit of the utility.
    """
    total, goes_on = 0.0, 1.0
    for ranks, labels in with_ranks(groups, k):
        factors = [1 - stop_probability(label, max_rel) for label in labels]
        m = len(ranks)
        if len(set(factors)) > 1 and m:
            means = mean_products_of_prefixes(factors, m)
            # Write Σ_x (T_{x-1} - T_x) u_{t+x} as Σ_x coefficient_x T_x.
            worth = [*map(utility, ranks), 0.0]
            coefficients = [worth[0], *(worth[x] - worth[x - 1] for x in range(1, m + 1))]
            mean = math.fsum(coefficients[x] * means[0, x] for x in range(m + 1))
            square = math.fsum(
                coefficients[x] * coefficients[y] * means[min(x, y), abs(x - y)]
                for x in range(m + 1)
                for y in range(m + 1)
            )
            # Rounding errors of the two terms can make their difference negative.
            total += goes_on**2 * max(square - mean**2, 0.0)
        goes_on *= math.prod(factors)
    return total


def ideal_cascade(judged: Ranking, k: int | None = None, max_rel: int = 4) -> float:
    """Return the ERR of the judged documents in their best order.

    Examples
    --------
    >>> ideal_cascade([0, 1, 1], max_rel=1)
    0.625
    """
    return expected_reciprocal_rank(sorted(judged, key=grade_of, reverse=True), judged, k, max_rel)


def normalised_cascade(ranking: Ranking, judged: Ranking, k: int | None = None, max_rel: int = 4) -> float:
    """Return ERR / the ERR of the judged documents in their best order [14]_.

    Examples
    --------
    >>> normalised_cascade([0, 1], [0, 1], max_rel=1)
    0.5
    >>> mean_of_normalised_cascade([[0, 1]], [0, 1], max_rel=1)
    0.75
    >>> variance_of_normalised_cascade([[0, 1]], [0, 1], max_rel=1)
    0.0625
    """
    return ratio(expected_reciprocal_rank(ranking, judged, k, max_rel), ideal_cascade(judged, k, max_rel))


def mean_of_normalised_cascade(groups: Groups, judged: Ranking, k: int | None = None, max_rel: int = 4) -> float:
    """Return the mean of `normalised_cascade`: the mean of ERR / the ideal ERR."""
    return ratio(mean_of_expected_reciprocal_rank(groups, judged, k, max_rel), ideal_cascade(judged, k, max_rel))


def variance_of_normalised_cascade(groups: Groups, judged: Ranking, k: int | None = None, max_rel: int = 4) -> float:
    """Return the variance of `normalised_cascade`: the variance of ERR / (ideal ERR)²."""
    variance = variance_of_expected_reciprocal_rank(groups, judged, k, max_rel)
    return ratio(variance, ideal_cascade(judged, k, max_rel) ** 2)


def rank_biased_utility(
    ranking: Ranking, judged: Ranking, k: int | None = None, p: float = 0.99, max_rel: int = 4
) -> float:
    """Return Σ_j p^j Π_{i<j} (1 - stop_i) stop_j, the expectation of p^j at the rank j where the user stops [15]_.

    Examples
    --------
    >>> rank_biased_utility([0, 1], [0, 1], p=0.5, max_rel=1)
    0.125
    >>> mean_of_rank_biased_utility([[0, 1]], [0, 1], p=0.5, max_rel=1)
    0.1875
    >>> variance_of_rank_biased_utility([[0, 1]], [0, 1], p=0.5, max_rel=1)
    0.00390625
    """
    return utility_of_cascade(ranking, k, max_rel, lambda j: p**j)


def mean_of_rank_biased_utility(
    groups: Groups, judged: Ranking, k: int | None = None, p: float = 0.99, max_rel: int = 4
) -> float:
    """Return the mean of `rank_biased_utility`, by the same recurrence as that of ERR."""
    return mean_utility_of_cascade(groups, k, max_rel, lambda j: p**j)


def variance_of_rank_biased_utility(
    groups: Groups, judged: Ranking, k: int | None = None, p: float = 0.99, max_rel: int = 4
) -> float:
    """Return the variance of `rank_biased_utility`, by the same recurrence as that of ERR."""
    return variance_of_utility_of_cascade(groups, k, max_rel, lambda j: p**j)


MEASURES: dict[str, Functions] = {
    "ERR": (expected_reciprocal_rank, mean_of_expected_reciprocal_rank, variance_of_expected_reciprocal_rank),
    "nERR": (normalised_cascade, mean_of_normalised_cascade, variance_of_normalised_cascade),
    "iRBU": (rank_biased_utility, mean_of_rank_biased_utility, variance_of_rank_biased_utility),
}
