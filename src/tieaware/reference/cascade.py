"""Expected reciprocal rank.

A user reads down the list and stops at each document with a probability that depends on its label.

Numbers in brackets, such as [1], refer to the list of references in the docstring of `tieaware.reference`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from tieaware.reference.rankings import Functions, Groups, Label, Ranking, with_ranks


def stop_probability(label: Label, max_rel: int = 4) -> float:
    """Return (2^label - 1) / 2^max_rel, the chance that a document makes the user stop; 0 for a label below 1 [10]_.

    Parameters
    ----------
    label : int or None
        The document's label; None if it is unjudged.
    max_rel : int
        The highest possible label, at least 1.

    Returns
    -------
    float
        At least 0, and below 1.

    Examples
    --------
    >>> stop_probability(1), stop_probability(4), stop_probability(None)
    (0.0625, 0.9375, 0.0)
    """
    return (2**label - 1) / 2**max_rel if label is not None and label > 0 else 0.0


def expected_reciprocal_rank(ranking: Ranking, judged: Ranking, k: int | None = None, max_rel: int = 4) -> float:
    """Return Σ_j 1/j Π_{i<j} (1 - stop_i) stop_j, the expectation of 1 / the rank at which the user stops [10]_.

    Other parameters as for `tieaware.reference`; the value is 0 … 1.

    Parameters
    ----------
    max_rel : int
        As for `stop_probability`.

    Examples
    --------
    >>> expected_reciprocal_rank([1, 0, 2], [1, 0, 2], max_rel=2)
    0.4375
    """
    return utility_of_cascade(ranking, k, max_rel, lambda j: 1 / j)


def utility_of_cascade(ranking: Ranking, k: int | None, max_rel: int, utility: Callable[[int], float]) -> float:
    """Return Σ_j u_j Π_{i<j} (1 - stop_i) stop_j, the expected utility of the rank at which the user stops.

    Parameters as for `expected_reciprocal_rank`; the value has the range of the utility.

    Parameters
    ----------
    utility : callable
        Takes a rank j, from 1, and returns its utility u_j.

    Examples
    --------
    >>> utility_of_cascade([0, 1, 1], None, 1, lambda j: 0.5**j)
    0.15625
    """
    total, goes_on = 0.0, 1.0
    for j, label in enumerate(ranking[:k], start=1):
        stop = stop_probability(label, max_rel)
        total += goes_on * stop * utility(j)
        goes_on *= 1 - stop
    return total


def mean_products(factors: Sequence[float], m: int) -> list[float]:
    """Return the mean product of x of the factors, over all choices of x factors, for x = 0 … m.

    The function adds the factors one by one. The i-th factor, q, changes the mean A_x of the products of x factors to
    ((i-x)/i) A_x + (x/i) q A_{x-1}.

    Parameters
    ----------
    factors : sequence of float
        One factor for each document of the group.
    m : int
        The largest number of factors in a product.

    Returns
    -------
    list of float
        m + 1 means, the first of them 1; 0 where x is more than the number of factors.

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

    Parameters as for `expected_reciprocal_rank`.

    Examples
    --------
    >>> mean_of_expected_reciprocal_rank([[1, 0]], [1, 0], max_rel=1)
    0.375
    """
    return mean_utility_of_cascade(groups, k, max_rel, lambda j: 1 / j)


def mean_utility_of_cascade(groups: Groups, k: int | None, max_rel: int, utility: Callable[[int], float]) -> float:
    """Return the mean of `utility_of_cascade`: Σ P Σ_x (A_{x-1} - A_x) u_{t+x}.

    Parameters as for `utility_of_cascade`.

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
    """Return the mean product of the squares of x factors and of y other factors, over all choices, for x + y ≤ m.

    This is the mean of T_x T_{x+y} over all orders, where T_x is the product of the first x factors in an order. The
    function adds the factors one by one, as `mean_products` does.

    Parameters as for `mean_products`.

    Returns
    -------
    dict of (int, int) to float
        The mean for each x and y.

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

    The outer sum is over the groups. T_x is the product of 1 - stop over the first x documents of the group in an
    order, and P is the product of 1 - stop over all documents of earlier groups.

    Parameters as for `expected_reciprocal_rank`; the value is 0 … 1/4.

    Examples
    --------
    >>> variance_of_expected_reciprocal_rank([[1, 0]], [1, 0], max_rel=1)
    0.015625
    """
    return variance_of_utility_of_cascade(groups, k, max_rel, lambda j: 1 / j)


def variance_of_utility_of_cascade(
    groups: Groups, k: int | None, max_rel: int, utility: Callable[[int], float]
) -> float:
    """Return the variance of `utility_of_cascade`: Σ P² Var Σ_x (T_{x-1} - T_x) u_{t+x}.

    Parameters as for `utility_of_cascade`; the value is in the squared unit of the utility.

    Examples
    --------
    >>> variance_of_utility_of_cascade([[1, 0]], None, 1, lambda j: 0.5**j)
    0.00390625
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


MEASURES: dict[str, Functions] = {
    "ERR": (expected_reciprocal_rank, mean_of_expected_reciprocal_rank, variance_of_expected_reciprocal_rank),
}
