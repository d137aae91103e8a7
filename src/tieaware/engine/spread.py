"""The range of each value over orders: of tied documents, of documents with nearly known scores, of a whole list."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Values

# The most values of an array that repr() shows.
_SHOWN_VALUES = 12


class Spread(NamedTuple):
    """How far the order of tied documents can move each value, with all orders equally likely.

    Attributes
    ----------
    mean : float64[n_queries, n_measures]
        The mean of the value over all orders. The evaluator itself returns the same number.
    std : float64[n_queries, n_measures]
        The standard deviation of the value over all orders, in the unit of the measure; 0 if all orders give the same
        value.
    min, max : float64[n_queries, n_measures]
        The smallest and the largest value that an order can give. For infAP, std, min and max are not known: they are
        NaN.

    Examples
    --------
    >>> import tieaware
    >>> spread = tieaware.Evaluator([1, 0], ["RR"]).spread([2.0, 2.0])
    >>> spread.mean.item(), spread.std.item(), spread.min.item(), spread.max.item()
    (0.75, 0.25, 0.5, 1.0)
    """

    mean: Values
    std: Values
    min: Values
    max: Values

    def __repr__(self) -> str:
        return _shown("Spread", self._asdict())


class _MinMax(NamedTuple):
    min: Values
    max: Values


class Bounds(_MinMax):
    """How far each value can move if each score is known only to within an error: a pair, ``min`` and ``max``.

    Attributes
    ----------
    min, max : float64[n_queries, n_measures]
        The least and the greatest value over all orders that are possible, where `exact` is true. Otherwise, no
        possible order has a value outside of them, but perhaps none attains them.
    exact : bool[n_measures]
        False for measures of graded gains with more than two different ones, such as nDCG of labels 0, 1 and 2.

    Examples
    --------
    The scores may be wrong by 0.1: the second document may be the first.

    >>> import tieaware
    >>> bounds = tieaware.Evaluator([0, 1, 0], ["RR"]).bounds([0.9, 0.75, 0.5], 0.1)
    >>> bounds.min.item(), bounds.max.item(), bounds.exact
    (0.5, 1.0, array([ True]))
    """

    exact: npt.NDArray[np.bool_]

    def __new__(cls, min: Values, max: Values, exact: npt.NDArray[np.bool_]) -> Bounds:  # noqa: D102
        bounds = super().__new__(cls, min, max)
        bounds.exact = exact
        return bounds

    def __getnewargs__(self) -> tuple[Values, Values, npt.NDArray[np.bool_]]:
        return *self, self.exact

    def __repr__(self) -> str:
        return _shown("Bounds", self._asdict())


class Chance(NamedTuple):
    """The values of a random order of each list, in which all orders are equally likely.

    Attributes
    ----------
    mean, std : float64[n_queries, n_measures]
        The mean and the standard deviation of the value over all orders, computed exactly, not by sampling. The
        standard deviation of infAP is not known: it is NaN.
    ideal : float64[n_queries, n_measures]
        The value of the best order: the least one for measures whose small values are good. NaN for infAP.

    Examples
    --------
    >>> import tieaware
    >>> tieaware.Evaluator([1, 0], "RR").chance().mean
    array([[0.75]])
    """

    mean: Values
    std: Values
    ideal: Values


def _shown(name: str, arrays: dict[str, Values]) -> str:
    """Return the repr of arrays of the same shape: their values, or if these are many, their shape."""
    *others, last = arrays
    if arrays[last].size > _SHOWN_VALUES:
        return f"{name}({', '.join(others)} and {last}, each float64{list(arrays[last].shape)})"
    return f"{name}({', '.join(f'{each}={_on_one_line(array)}' for each, array in arrays.items())})"


def _on_one_line(array: Values) -> str:
    """Return the numbers of an array with up to four decimals, on one line."""
    text = np.array2string(array, separator=", ", formatter={"float_kind": lambda value: f"{round(value, 4):g}"})
    return " ".join(text.split())
