"""Comparison of computed numbers: those that differ only by rounding are equal."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Values

# Numbers that are equal in exact arithmetic differ in their last bits if they are computed in different ways: 0.6 - 0.4
# and 0.4 - 0.2 do. The error is relative to the largest number in the computation, not to the result: a difference that
# should be 0 consists of nothing else. A mean of n numbers is wrong by some 1e-16 of the largest, and by more if n is
# large, so this share leaves room for millions of queries. Values of measures that really differ are rarely so near:
# two different fractions whose denominators are below a million differ by more.
#
# p values and significance levels are compared exactly: a p value is a count divided by the number of orders, which is
# rounded only once, as the level is; or the value of a continuous function, which no level equals.
ROUNDING = 1e-12


def rounding_of(*computed_from: npt.ArrayLike, axis: int | None = None) -> Values:
    """Return the greatest size at which a difference of numbers is only rounding.

    Parameters
    ----------
    *computed_from : float64[...]
        The numbers from which the differences, or those of means, are computed.
    axis : int, optional
        The axis of the numbers of one sample; by default all numbers are one sample.
    """
    sizes = [np.max(np.abs(each), axis, initial=0.0) for each in computed_from]
    return np.asarray(ROUNDING * reduce(np.maximum, sizes))


def without_rounding(differences: Values, rounding: npt.ArrayLike) -> Values:
    """Return differences of numbers, with 0 for those that are only rounding."""
    return np.where(np.abs(differences) <= rounding, 0.0, differences)


def are_equal(values: Values, rounding: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Return whether the numbers of each sample, in the last axis, are all equal."""
    return np.asarray(values.max(axis=-1) - values.min(axis=-1) <= rounding)


def first_greatest(values: Values, rounding: npt.ArrayLike | None = None) -> int:
    """Return the position, in the flat array, of the first of the greatest numbers, which may differ by rounding."""
    limit = values.max() - (rounding_of(values) if rounding is None else rounding)
    return int(np.argmax(values.reshape(-1) >= limit))


class Differences(NamedTuple):
    """Differences of paired numbers.

    Attributes
    ----------
    values : float64[..., n]
    rounding : float64[...]
        The greatest size at which differences of a sample, or of its means, are only rounding.
    """

    values: Values
    rounding: Values


def differences(a: Values, b: Values) -> Differences:
    """Return a - b, float64[..., n]; one sample is in the last axis."""
    return Differences(a - b, rounding_of(a, b, axis=-1))


def ratio(numerator: Values, denominator: Values, rounding: npt.ArrayLike = 0.0) -> Values:
    """Return quotients; NaN where the denominator is 0, or only rounding."""
    quotient: Values = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    np.divide(numerator, denominator, out=quotient, where=np.abs(denominator) > rounding)
    return quotient


def merged(values: Values, rounding: Values | None = None) -> Values:
    """Make numbers equal that differ only by rounding, so that ranks and counts see their ties.

    Parameters
    ----------
    values : float64[..., n]
        One sample is in the last axis. NaN equals nothing.
    rounding : float64[...], optional
        As `rounding_of` returns it. By default, the numbers are sums or means without cancellation, such as those of
        the values of a measure: neighbours are equal if they differ by a share of `ROUNDING`. Whole numbers are exact
        then.

    Returns
    -------
    float64[..., n]
        Each number, or the least of those that are equal to it.
    """
    if rounding is None and (values == np.rint(values)).all():
        return values
    order = np.argsort(values, axis=-1, kind="stable")
    ascending = np.take_along_axis(values, order, axis=-1)
    if rounding is None:
        largest = ROUNDING * np.maximum(np.abs(ascending[..., 1:]), np.abs(ascending[..., :-1]))
    else:
        largest = rounding[..., None]
    first = np.zeros(values.shape, dtype=np.int64)
    first[..., 1:] = np.where(np.diff(ascending) <= largest, 0, np.arange(1, values.shape[-1]))
    found = np.empty_like(values)
    least = np.take_along_axis(ascending, np.maximum.accumulate(first, axis=-1), axis=-1)
    np.put_along_axis(found, order, least, axis=-1)
    return found
