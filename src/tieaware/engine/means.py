"""Means of measures over queries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.kernels import _means
from tieaware.measures import Measure


def means(values: Values, measures: Sequence[Measure]) -> Values:
    """Return the mean of each measure over the queries, arithmetic or geometric, as the measure's definition says.

    NaN values are skipped. If all values of a measure are NaN, its mean is NaN.

    Parameters
    ----------
    values : float64[..., n_queries, n_measures]
    measures : sequence of Measure

    Returns
    -------
    float64[..., n_measures]
        The means. They have the same bits for every order of the queries.
    """
    geometric = np.array([measure.definition.is_geometric for measure in measures], dtype=np.bool_)
    return _means.means(values, geometric)
