"""Measures of users who stop sooner the more gain they have found: INST, BPM and NERR.

The means and variances go through all orders of the ties. In NERR, V_1 = 1 and V_{j+1} = V_j c_j (1 - g_j), where the
factor c_j depends on the rank only.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from tieaware.reference.cwl import scaled_gain, sum_of_inverse_squares
from tieaware.reference.rankings import Functions, Ranking, grade_of, over_orders


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


def bejeweled_player(
    ranking: Ranking,
    judged: Ranking,
    k: int | None = None,
    T: float = 1.0,
    min_rel: int = 0,
    max_rel: int = 4,
) -> float:
    """Return G_s / s, where s is the first rank whose gain so far, G_s, is at least T, and k if there is none [19]_.

    Without k, the length of the list takes its place.

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


def gain_until_stop(
    ranking: Ranking, depth: int, weight: Callable[[int], float], below: float = 0.0, min_rel: int = 0, max_rel: int = 4
) -> float:
    """Return Σ V_j g_j / Σ V_j, where V_j is the weight of rank j times Π_{i<j} (1 - g_i) [27]_.

    The user stops at rank `depth`; if there is no such rank, it is the length of the list. `weight` takes a rank and
    returns its weight, and `below` is the weight of all ranks below `depth`.

    Examples
    --------
    >>> gain_until_stop([0, 2, 4], 3, lambda j: 1.0), gain_until_stop([0, 2, 4], 5, lambda j: 1.0)
    (0.4, 0.4)
    """
    goes_on, viewed, gained = 1.0, 0.0, 0.0
    padding = max(depth - len(ranking), 0)
    for j, label in enumerate([*ranking[:depth], *[None] * padding], start=1):
        gain = scaled_gain(label, min_rel, max_rel)
        views = goes_on * weight(j)
        viewed, gained = viewed + views, gained + views * gain
        goes_on *= 1 - gain
    viewed += goes_on * below
    return gained / viewed if viewed else 0.0


def equation_8(ranking: Ranking, judged: Ranking, k: int | None = None, min_rel: int = 0, max_rel: int = 4) -> float:
    """Return the gain per document of a user who stops only because of gains: c_j = 1.

    Without k, the length of the list takes its place.

    Examples
    --------
    >>> equation_8([0, 4], [0, 4]), equation_8([0, 2], [0, 2], k=4)
    (0.5, 0.16666666666666666)
    """
    return gain_until_stop(ranking, len(ranking) if k is None else k, lambda j: 1.0, 0.0, min_rel, max_rel)


def equation_9(ranking: Ranking, judged: Ranking, k: int | None = None, min_rel: int = 0, max_rel: int = 4) -> float:
    """Return the gain per document of a user with c_j = j / (j + 1).

    Examples
    --------
    >>> round(equation_9([0, 4], [0, 4]), 6)
    0.333333
    """
    return gain_until_stop(ranking, len(ranking) if k is None else k, lambda j: 1 / j, 0.0, min_rel, max_rel)


def equation_10(
    ranking: Ranking, judged: Ranking, k: int | None = None, p: float = 0.9, min_rel: int = 0, max_rel: int = 4
) -> float:
    """Return the gain per document of a user with c_j = p. Without k, the ranks are endless.

    Examples
    --------
    >>> equation_10([2], [2], p=0.5), equation_10([2], [2], k=2, p=0.5)
    (0.3333333333333333, 0.4)
    """
    depth = len(ranking) if k is None else k
    below = p**depth / (1 - p) if k is None else 0.0
    return gain_until_stop(ranking, depth, lambda j: p ** (j - 1), below, min_rel, max_rel)


def equation_11(
    ranking: Ranking, judged: Ranking, k: int | None = None, T: float = 1.0, min_rel: int = 0, max_rel: int = 4
) -> float:
    """Return the gain per document of a user with c_j = ((j + 2T - 1) / (j + 2T))². Without k, the ranks are endless.

    Examples
    --------
    >>> equation_11([0, 4], [0, 4], T=0.5), round(equation_11([0, 4], [0, 4], k=1), 6)
    (0.2, 0.0)
    """
    depth, first = len(ranking) if k is None else k, 2 * T
    below = first**2 * sum_of_inverse_squares(depth + first) if k is None else 0.0
    return gain_until_stop(ranking, depth, lambda j: (first / (j - 1 + first)) ** 2, below, min_rel, max_rel)


MEASURES: dict[str, Functions] = {
    "INST": over_orders(adaptive_inverse_squares),
    "BPM": over_orders(bejeweled_player),
    "NERR8": over_orders(equation_8),
    "NERR9": over_orders(equation_9),
    "NERR10": over_orders(equation_10),
    "NERR11": over_orders(equation_11),
}
