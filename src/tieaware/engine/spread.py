"""The range of each value: over the orders of tied documents (`Spread`), and over all orders of a list (`Chance`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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
        if self.mean.size > _SHOWN_VALUES:
            return f"Spread({', '.join(self._fields[:-1])} and {self._fields[-1]}, each float64{list(self.mean.shape)})"
        arrays = (f"{name}={_on_one_line(array)}" for name, array in zip(self._fields, self, strict=True))
        return f"Spread({', '.join(arrays)})"


class Chance(NamedTuple):
    """The values of a random order of each list, in which all orders are equally likely.

    Attributes
    ----------
    mean, std : float64[n_queries, n_measures]
        The mean and the standard deviation of the value over all orders, computed exactly, not by sampling. The
        standard deviation of infAP is not known: it is NaN.
    ideal : float64[n_queries, n_measures]
        The value of the best order: the least one for measures of which less is better. NaN for infAP.

    Examples
    --------
    >>> import tieaware
    >>> tieaware.Evaluator([1, 0], "RR").chance().mean
    array([[0.75]])
    """

    mean: Values
    std: Values
    ideal: Values


def _on_one_line(array: Values) -> str:
    """Return the numbers of an array with up to four decimals, on one line."""
    text = np.array2string(array, separator=", ", formatter={"float_kind": lambda value: f"{round(value, 4):g}"})
    return " ".join(text.split())
