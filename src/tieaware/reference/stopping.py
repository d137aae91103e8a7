"""NERR: measures of users who stop at a document with the probability of its gain. The means go through all orders.

V_1 = 1 and V_{j+1} = V_j c_j (1 - g_j), where the first factor c_j depends on the rank only. The measures are
Σ V_j g_j / Σ V_j, also over ranks below the end of the list, which have no gain. With a cut-off, the user stops at
rank k.

Numbers in brackets, such as [1], refer to the list of references in the docstring of `tieaware.reference`.
"""

from __future__ import annotations

from collections.abc import Callable

from tieaware.reference.cwl import scaled_gain, sum_of_inverse_squares
from tieaware.reference.rankings import Functions, Groups, Ranking, mean_over_orders, variance_over_orders


def gain_until_stop(
    ranking: Ranking, depth: int, weight: Callable[[int], float], below: float = 0.0, min_rel: int = 0, max_rel: int = 4
) -> float:
    """Return Σ V_j g_j / Σ V_j, where V_j is the weight of rank j times Π_{i<j} (1 - g_i) [27]_.

    Parameters
    ----------
    ranking : list of (int or None)
        The labels of the ranked documents, best first.
    depth : int
        The rank at which the user stops; if there is none, the length of the list.
    weight : callable
        Takes a rank from 1 on; returns its weight.
    below : float
        The weight of all ranks below `depth`.
    min_rel, max_rel : int
        As for `tieaware.reference.cwl.scaled_gain`.

    Returns
    -------
    float
        0 … 1.

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

    Other parameters as for `tieaware.reference`; without k, the length of the list takes its place.

    Parameters
    ----------
    min_rel, max_rel : int
        As for `tieaware.reference.cwl.scaled_gain`.

    Examples
    --------
    >>> equation_8([0, 4], [0, 4]), equation_8([0, 2], [0, 2], k=4)
    (0.5, 0.16666666666666666)
    """
    return gain_until_stop(ranking, len(ranking) if k is None else k, lambda j: 1.0, 0.0, min_rel, max_rel)


def equation_9(ranking: Ranking, judged: Ranking, k: int | None = None, min_rel: int = 0, max_rel: int = 4) -> float:
    """Return the gain per document of a user with c_j = j / (j + 1).

    Parameters as for `equation_8`.

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

    Other parameters as for `equation_8`.

    Parameters
    ----------
    p : float
        The probability that a user who found no gain goes on, between 0 and 1.

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

    Other parameters as for `equation_8`.

    Parameters
    ----------
    T : float
        The gain that the user wants, above 0.

    Examples
    --------
    >>> equation_11([0, 4], [0, 4], T=0.5), round(equation_11([0, 4], [0, 4], k=1), 6)
    (0.2, 0.0)
    """
    depth, first = len(ranking) if k is None else k, 2 * T
    below = first**2 * sum_of_inverse_squares(depth + first) if k is None else 0.0
    return gain_until_stop(ranking, depth, lambda j: (first / (j - 1 + first)) ** 2, below, min_rel, max_rel)


def _over_orders(value: Callable[..., float]) -> Functions:
    """Return a value of rankings, its mean and its variance over all orders."""

    def mean(groups: Groups, judged: Ranking, k: int | None = None, **parameters: float) -> float:
        return mean_over_orders(groups, k, lambda order: value(order, judged, k, **parameters))

    def variance(groups: Groups, judged: Ranking, k: int | None = None, **parameters: float) -> float:
        return variance_over_orders(groups, k, lambda order: value(order, judged, k, **parameters))

    mean.__name__, variance.__name__ = f"mean_of_{value.__name__}", f"variance_of_{value.__name__}"
    return value, mean, variance


MEASURES: dict[str, Functions] = {
    "NERR8": _over_orders(equation_8),
    "NERR9": _over_orders(equation_9),
    "NERR10": _over_orders(equation_10),
    "NERR11": _over_orders(equation_11),
}
