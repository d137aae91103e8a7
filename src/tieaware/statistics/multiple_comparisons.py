"""Corrections of p values for multiple comparisons: Holm, Benjamini–Hochberg and Bonferroni."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Integers, Values
from tieaware.statistics.values import finite

Correction: TypeAlias = Literal["holm", "bh", "bonferroni", "none"]


def holm(p: npt.ArrayLike) -> Values:
    """Adjust the p values of several tests by Holm's method, which limits the chance of any false positive.

    The limit holds for all tests, however they depend on each other.

    Parameters
    ----------
    p : float[...]
        p values, 0 … 1, in any order and shape.

    Returns
    -------
    float64[...]
        The adjusted p values, in the same order and shape, at most 1.

    Raises
    ------
    InputError
        If a value is not a number from 0 to 1.

    References
    ----------
    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03, 0.04])
    array([0.04, 0.09, 0.09, 0.09])
    """
    return _adjusted_in_order(p, lambda ascending: np.maximum.accumulate(ascending * np.arange(len(ascending), 0, -1)))


def benjamini_hochberg(p: npt.ArrayLike) -> Values:
    """Adjust p values by the method of Benjamini and Hochberg, which limits the share of false among all positives.

    The limit is on the expected share, the false discovery rate. It holds for tests that are independent or positively
    dependent.

    Parameters, results and errors as for `holm`, whose values are never less.

    References
    ----------
    Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate: a practical and powerful approach to
    multiple testing. Journal of the Royal Statistical Society B 57.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03, 0.04])
    array([0.04, 0.04, 0.04, 0.04])
    """

    def adjust(ascending: Values) -> Values:
        steps = ascending * (len(ascending) / np.arange(1, len(ascending) + 1))
        return np.minimum.accumulate(steps[::-1])[::-1]

    return _adjusted_in_order(p, adjust)


def bonferroni(p: npt.ArrayLike) -> Values:
    """Adjust p values by Bonferroni's method: multiply each by the number of tests.

    The method limits the chance of any false positive, however the tests depend on each other, as `holm` does, but it
    finds fewer differences. Use it if the level must be the same for all tests.

    Parameters, results and errors as for `holm`.

    References
    ----------
    Dunn, O. J. (1961). Multiple comparisons among means. Journal of the American Statistical Association 56.

    Examples
    --------
    >>> bonferroni([0.01, 0.04, 0.03, 0.04])
    array([0.04, 0.16, 0.12, 0.16])
    """
    values = _p_values(p)
    return np.asarray(np.minimum(values * values.size, 1.0))


def _adjusted_in_order(p: npt.ArrayLike, adjust: Callable[[Values], Values]) -> Values:
    """Apply an adjustment to the p values in ascending order; return them in the given order, at most 1."""
    values = _p_values(p)
    flat = values.ravel()
    order = np.argsort(flat, kind="stable")
    adjusted = np.empty_like(flat)
    adjusted[order] = np.minimum(adjust(flat[order]), 1.0)
    return adjusted.reshape(values.shape)


def adjusted(p: Values, correction: Correction) -> Values:
    """Adjust p values by the correction of this name."""
    if correction == "none":
        return p
    return {"holm": holm, "bh": benjamini_hochberg, "bonferroni": bonferroni}[correction](p)


def levels(p: Values, alpha: float, correction: Correction, some: Integers | None = None) -> Values:
    """Return for each test, or for `some`, the level below which its p value is significant, given those of the others.

    `p` has the values before the correction, and `alpha` is the level of the corrected ones.
    """
    n, own = len(p), p if some is None else p[some]
    if correction == "none":
        return np.full(len(own), alpha)
    if correction == "bonferroni":
        return np.full(len(own), alpha / n)
    ordered, steps = np.sort(p), np.arange(1, n)
    found = np.empty(len(own))
    for i, place in enumerate(np.searchsorted(ordered, own).tolist()):
        others = np.delete(ordered, place)
        if correction == "holm":
            # Count the tests that are rejected before this one. They are the first of the others, up to the first that
            # is not rejected.
            is_kept = others > alpha / (n + 1 - steps)
            found[i] = alpha / (n - (int(is_kept.argmax()) if is_kept.any() else n - 1))
        else:
            # If k - 1 others are at most alpha k / n, they are all rejected together with this test.
            k = np.flatnonzero(others <= alpha * (steps + 1) / n)
            found[i] = alpha * (k[-1] + 2 if k.size else 1) / n
    return found


def _p_values(p: npt.ArrayLike) -> Values:
    """Return p values as an array; raise InputError if one is not a number from 0 to 1."""
    values = finite(p, "p")
    outside = values[(values < 0.0) | (values > 1.0)]
    if outside.size:
        raise unexpected("p", "p values from 0 to 1", f"{outside[0]}")
    return values
