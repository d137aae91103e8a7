"""Measures of users who stop sooner the more gain they have found. These functions go through all orders of the ties.

Numbers in brackets, such as [1], refer to the list of references in the docstring of `tieaware.reference`.
"""

from __future__ import annotations

from fractions import Fraction

from tieaware.reference.cwl import scaled_gain, sum_of_inverse_squares
from tieaware.reference.rankings import Functions, Groups, Ranking, grade_of, mean_over_orders, variance_over_orders


def adaptive_inverse_squares(
    ranking: Ranking,
    judged: Ranking,
    k: int | None = None,
    T: float = 1.0,
    min_rel: int = 0,
    max_rel: int = 4,
) -> float:
    """Return Σ V_j g_j / Σ V_j, where V_j is the probability that the user views rank j [18]_.

    After rank j, with the gain G so far, the user goes on with the probability ((a - 1) / a)², a = j + 2T - G. Without
    k, the second sum is over infinitely many ranks.

    Other parameters as for `tieaware.reference`; the value is 0 … 1.

    Parameters
    ----------
    T : float
        The gain that the user wants, at least 1/2.
    min_rel, max_rel : int
        As for `tieaware.reference.cwl.scaled_gain`.

    Examples
    --------
    >>> adaptive_inverse_squares([4, 4], [4, 4], k=2), adaptive_inverse_squares([4, 0], [4], k=2)
    (1.0, 0.8)
    """
    views, viewed, gained, found = 1.0, 0.0, 0.0, 0.0
    padding = 0 if k is None else max(k - len(ranking), 0)
    for j, label in enumerate([*ranking[:k], *[None] * padding], start=1):
        gain = scaled_gain(label, min_rel, max_rel)
        viewed, gained, found = viewed + views, gained + views * gain, found + gain
        a = j + 2 * T - found
        views *= ((a - 1) / a) ** 2
    if k is None:
        # Below the end of the list there is no gain: rank n + 1 + i has the views V b²/(b + i)².
        b = len(ranking) + 2 * T - found
        viewed += views * b**2 * sum_of_inverse_squares(b)
    return gained / viewed


def mean_of_adaptive_inverse_squares(
    groups: Groups,
    judged: Ranking,
    k: int | None = None,
    T: float = 1.0,
    min_rel: int = 0,
    max_rel: int = 4,
) -> float:
    """Return the mean of `adaptive_inverse_squares` over all orders.

    Parameters as for `adaptive_inverse_squares`.

    Examples
    --------
    >>> mean_of_adaptive_inverse_squares([[4, 0]], [4], k=1)
    0.5
    """
    return mean_over_orders(groups, k, lambda order: adaptive_inverse_squares(order, judged, k, T, min_rel, max_rel))


def variance_of_adaptive_inverse_squares(
    groups: Groups,
    judged: Ranking,
    k: int | None = None,
    T: float = 1.0,
    min_rel: int = 0,
    max_rel: int = 4,
) -> float:
    """Return the variance of `adaptive_inverse_squares` over all orders.

    Parameters as for `adaptive_inverse_squares`; the value is 0 … 1/4.

    Examples
    --------
    >>> variance_of_adaptive_inverse_squares([[4, 0]], [4], k=1)
    0.25
    """
    return variance_over_orders(
        groups, k, lambda order: adaptive_inverse_squares(order, judged, k, T, min_rel, max_rel)
    )


def bejeweled_player(
    ranking: Ranking,
    judged: Ranking,
    k: int | None = None,
    T: float = 1.0,
    min_rel: int = 0,
    max_rel: int = 4,
) -> float:
    """Return G_s / s, where s is the first rank whose gain so far, G_s, is at least T, and k if there is none [19]_.

    Other parameters as for `tieaware.reference`; the value is 0 … 1. Without k, the length of the list takes its place.

    Parameters
    ----------
    T : float
        The gain that the user wants, above 0; the decimal number that it shows.
    min_rel, max_rel : int
        As for `tieaware.reference.cwl.scaled_gain`.

    Examples
    --------
    >>> bejeweled_player([2, 3, 4], [2, 3, 4]), bejeweled_player([2, 0, 0], [2], k=5)
    (0.625, 0.1)
    """
    full, found = max_rel - min_rel, 0.0
    depth = len(ranking) if k is None else k
    for j, label in enumerate(ranking[:depth], start=1):
        found += max(grade_of(label) - min_rel, 0)
        if found >= Fraction(repr(T)) * full:
            return found / (full * j)
    return found / (full * depth) if depth else 0.0


def mean_of_bejeweled_player(
    groups: Groups,
    judged: Ranking,
    k: int | None = None,
    T: float = 1.0,
    min_rel: int = 0,
    max_rel: int = 4,
) -> float:
    """Return the mean of `bejeweled_player` over all orders.

    Parameters as for `bejeweled_player`.

    Examples
    --------
    >>> mean_of_bejeweled_player([[4, 0]], [4])
    0.75
    """
    return mean_over_orders(groups, k, lambda order: bejeweled_player(order, judged, k, T, min_rel, max_rel))


def variance_of_bejeweled_player(
    groups: Groups,
    judged: Ranking,
    k: int | None = None,
    T: float = 1.0,
    min_rel: int = 0,
    max_rel: int = 4,
) -> float:
    """Return the variance of `bejeweled_player` over all orders.

    Parameters as for `bejeweled_player`; the value is 0 … 1/4.

    Examples
    --------
    >>> variance_of_bejeweled_player([[4, 0]], [4])
    0.0625
    """
    return variance_over_orders(groups, k, lambda order: bejeweled_player(order, judged, k, T, min_rel, max_rel))


MEASURES: dict[str, Functions] = {
    "INST": (adaptive_inverse_squares, mean_of_adaptive_inverse_squares, variance_of_adaptive_inverse_squares),
    "BPM": (bejeweled_player, mean_of_bejeweled_player, variance_of_bejeweled_player),
}
