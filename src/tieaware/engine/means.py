"""Means over queries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.kernels import _means
from tieaware.measures import Measure


def means(values: Values, measures: Sequence[Measure]) -> Values:
    """Average each measure over the queries: arithmetic or geometric mean, as its definition says.

    NaN values are skipped; the mean is NaN if all values are.

    Parameters
    ----------
    values : float64[..., n_queries, n_measures]
    measures : sequence of Measure

    Returns
    -------
    float64[..., n_measures]
        The same bits for every order of the queries.
    """
    geometric = np.array([measure.definition.is_geometric for measure in measures], dtype=np.bool_)
    return _means.means(values, geometric)
