"""Summaries of values over the queries: sums, means, their std under ties; and the comparison of both with chance.

Values, and their standard deviations over the orders of tied documents, are float64[n_runs, n_queries, n_measures],
weights float64[n_runs, n_queries], and summaries float64[n_runs, n_measures].
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.checks.rounding import ratio, rounding_of, without_rounding
from tieaware.engine.means import means
from tieaware.engine.spread import Chance
from tieaware.measures import Measure


def sums_or_means(values: Values, measures: Sequence[Measure], weights: Values | None = None) -> Values:
    """Sum counts over the queries, and average the values of all other measures."""
    counts = [measure.definition.is_count for measure in measures]
    summary: Values = np.where(counts, np.nansum(values, axis=1), averages(values, measures, weights))
    return summary


def averages(values: Values, measures: Sequence[Measure], weights: Values | None = None) -> Values:
    """Return the means of values over the queries; with weights, their weighted means."""
    return means(values, measures) if weights is None else weighted_means(values, weights, measures)


def weighted_means(values: Values, weights: Values, measures: Sequence[Measure]) -> Values:
    """Return the mean over the queries of each value times the weight of its query; NaN for geometric means.

    Weights are at least 0. If the weight or the value of a query is NaN, the query is left out. The mean is NaN if the
    weights add up to 0. The order of the queries does not matter.
    """
    averages = np.full((len(values), len(measures)), np.nan)
    known = ~np.isnan(values) & ~np.isnan(weights)[:, :, None]
    products = values * weights[:, :, None]
    for run, measure in np.ndindex(averages.shape):
        kept = known[run, :, measure]
        total = math.fsum(weights[run, kept])
        if total > 0.0:
            averages[run, measure] = math.fsum(products[run, kept, measure]) / total
    averages[:, geometric(measures)] = np.nan
    return averages


def std_of_means(std: Values, values: Values, measures: Sequence[Measure], weights: Values | None = None) -> Values:
    """Return the standard deviation of each mean over the orders of tied documents; NaN for geometric means."""
    answered = ~np.isnan(values)
    shares = answered.astype(np.float64)
    if weights is not None:
        shares = np.where(answered, np.nan_to_num(weights)[:, :, None], 0.0)
    totals = shares.sum(axis=1)
    variances = ((std * shares) ** 2).sum(axis=1, where=answered)
    deviations = ratio(np.sqrt(variances), totals)
    deviations[:, geometric(measures)] = np.nan
    return deviations


def geometric(measures: Sequence[Measure]) -> list[bool]:
    """Return for each measure whether its mean is geometric."""
    return [measure.definition.summary == "geometric" for measure in measures]


def adjusted(values: Values, chance: Chance) -> Values:
    """Return the values, adjusted for chance; see `tieaware.Results.adjusted`."""
    return ratio(values - chance.mean, _room(chance.mean, chance.ideal))


def adjusted_means(values: Values, chance: Chance, measures: Sequence[Measure]) -> Values:
    """Return the ratio of means; see `tieaware.Results.adjusted_mean`."""
    mean, ideal = (_means_beside(values, cube, measures) for cube in (chance.mean, chance.ideal))
    return ratio(_means_beside(values, values, measures) - mean, _room(mean, ideal))


def z_scores(values: Values, chance: Chance, measures: Sequence[Measure]) -> Values:
    """Return how many standard deviations the values are better than chance; see `tieaware.Results.z`."""
    room = _room(chance.mean, chance.ideal)
    return ratio(_better(values - chance.mean, measures), np.where(room == 0.0, 0.0, chance.std))


def z_scores_of_means(values: Values, chance: Chance, measures: Sequence[Measure]) -> Values:
    """Return how many standard deviations the means are better than chance; see `tieaware.Results.mean_z`."""
    mean, ideal = (_means_beside(values, cube, measures) for cube in (chance.mean, chance.ideal))
    error = std_of_means(chance.std, values, measures)
    error[_room(mean, ideal) == 0.0] = 0.0
    return ratio(_better(_means_beside(values, values, measures) - mean, measures), error)


def _means_beside(values: Values, cube: Values, measures: Sequence[Measure]) -> Values:
    """Return the means of a cube over the answered queries, float64[n_runs, n_measures]; NaN for geometric means."""
    unanswered = np.isnan(values)
    found = means(np.where(unanswered, np.nan, cube), measures)
    found[:, geometric(measures)] = np.nan
    # `means` leaves out every NaN, but the ideal of infAP is unknown for a query that has a value.
    found[(np.isnan(cube) & ~unanswered).any(axis=1)] = np.nan
    return found


def _better(differences: Values, measures: Sequence[Measure]) -> Values:
    """Return differences from chance with a positive sign for what is better; the last axis is that of measures."""
    less = [measure.definition.less_is_better for measure in measures]
    return np.asarray(np.where(less, -differences, differences))


def _room(chance: Values, ideal: Values) -> Values:
    """Return the difference between the best order and chance; 0 if it is only rounding."""
    return without_rounding(ideal - chance, rounding_of(np.stack((chance, ideal)), axis=0))
