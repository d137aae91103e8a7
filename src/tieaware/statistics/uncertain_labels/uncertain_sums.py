"""Sums of gains times slot weights, such as DCG, if the labels are uncertain."""

from __future__ import annotations

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.statistics.uncertain_labels.uncertain_lists import Moments, UncertainList, sums_at


def weighted_sum(listed: UncertainList, gains: Values, slots: Values) -> Moments:
    """Return the moments of Σ w_x g_π(x), for independent gains and a random order π inside each tie group.

    With w̄ the mean weight of the n slots of a group, and μ_d, v_d the mean and variance of the gain of document d:

    - the mean is Σ w̄ μ_d,
    - the variance over the labels is Σ w̄² v_d, because the mean over the orders is Σ w̄ g_d,
    - the mean variance over the orders is Σ_groups s² Σ (w_x - w̄)², where s² = Σ (μ_d - μ̄)² / (n - 1) + Σ v_d / n is
      the mean of the variance of the group's gains, with the divisor n - 1.

    Parameters
    ----------
    listed : UncertainList
    gains : float64[n_grades]
        The gain of each grade; unjudged documents have none.
    slots : float64[n]
        The weight of each rank.
    """
    means, variances = gain_moments(listed.probabilities, gains)
    average, deviations = slot_moments(listed, slots)
    sizes, group = listed.sizes, listed.group
    centre = sums_at(group, means) / sizes
    scatter = sums_at(group, (means - centre[group]) ** 2) / np.maximum(sizes - 1, 1)
    scatter += sums_at(group, variances) / sizes
    return Moments(
        float((average[group] * means).sum()),
        float((average[group] ** 2 * variances).sum()),
        float((deviations * scatter).sum()),
    )


def gain_moments(probabilities: Values, gains: Values) -> tuple[Values, Values]:
    """Return the mean and the variance of the gain of each document."""
    means: Values = (probabilities * gains).sum(axis=1)
    variances: Values = (probabilities * (gains - means[:, None]) ** 2).sum(axis=1)
    return means, variances


def slot_moments(listed: UncertainList, slots: Values) -> tuple[Values, Values]:
    """Return w̄ and Σ (w_x - w̄)² of the slots of each tie group."""
    average = sums_at(listed.group, slots) / listed.sizes
    return average, sums_at(listed.group, (slots - average[listed.group]) ** 2)
