"""The mean over queries: the one there is, whatever path the values took."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.kernels import _means
from tieaware.measures import Measure


def means(values: Values, measures: Sequence[Measure]) -> Values:
    """Average over the queries, each measure in its way; a NaN is left out, and the mean is NaN if none is left.

    Parameters
    ----------
    values : float64[..., n_queries, n_measures]
    measures : sequence of Measure

    Returns
    -------
    float64[..., n_measures]
        The same bits, in whatever order the queries come.
    """
    geometric = np.array([measure.definition.summary == "geometric" for measure in measures], dtype=np.bool_)
    return _means.means(values, geometric)
