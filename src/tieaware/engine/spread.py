"""The spread of values over the orders that ties allow."""

from __future__ import annotations

from typing import NamedTuple

from tieaware.checks.arrays import Values


class Spread(NamedTuple):
    """How far values vary over the orders that ties allow, equally likely; each float64[n_queries, n_measures].

    Attributes
    ----------
    mean : float64[n_queries, n_measures]
        The average, as the evaluator returns it.
    std : float64[n_queries, n_measures]
        The standard deviation, in the unit of the measure; 0 where no order changes the value.
    min, max : float64[n_queries, n_measures]
        The least and the largest value; both occur. std, min and max are NaN for infAP, of which they are not known.

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
