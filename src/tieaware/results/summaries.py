"""Summaries of values over the queries: sums of counts, means of all other measures, and their std under ties."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.engine.means import means
from tieaware.measures import Measure


def sums_or_means(values: Values, measures: Sequence[Measure]) -> Values:
    """Sum counts over the queries, and average the values of all other measures.

    Parameters
    ----------
    values : float64[n_runs, n_queries, n_measures]
    measures : sequence of Measure

    Returns
    -------
    float64[n_runs, n_measures]
    """
    counts = [measure.definition.is_count for measure in measures]
    summary: Values = np.where(counts, np.nansum(values, axis=1), means(values, measures))
    return summary


def std_of_means(std: Values, values: Values, measures: Sequence[Measure]) -> Values:
    """Return the standard deviation of each mean over the orders of tied documents; NaN for geometric means.

    Parameters
    ----------
    std, values : float64[n_runs, n_queries, n_measures]
        The standard deviation of each value over the orders of tied documents, and the value.
    measures : sequence of Measure

    Returns
    -------
    float64[n_runs, n_measures]
    """
    answered = ~np.isnan(values)
    variances = (std**2).sum(axis=1, where=answered)
    deviations: Values = np.sqrt(variances) / answered.sum(axis=1)
    deviations[:, geometric(measures)] = np.nan
    return deviations


def geometric(measures: Sequence[Measure]) -> list[bool]:
    """Return for each measure whether its mean is geometric."""
    return [measure.definition.summary == "geometric" for measure in measures]
