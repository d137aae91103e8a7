"""Distributions of a number with few values, and of sums of independent ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.checks.rounding import rounding_of

# The most values of an exact sum, and the most pairs of values that are added to compute it.
_MOST_VALUES, _MOST_PAIRS = 50_000, 4_000_000


class Distribution(NamedTuple):
    """A distribution over few values.

    Attributes
    ----------
    values : float64[n]
        Ascending, no two of them equal.
    probabilities : float64[n]
    """

    values: Values
    probabilities: Values

    @classmethod
    def of(cls, values: Values, probabilities: Values) -> Distribution:
        """Return the distribution of values in any order; the probabilities of equal values are added up."""
        order = np.argsort(values, kind="stable")
        ascending = values[order]
        first = np.flatnonzero(np.diff(ascending, prepend=-np.inf) > rounding_of(ascending))
        return cls(ascending[first], np.add.reduceat(probabilities[order], first))

    def at_least(self, value: float) -> float:
        """Return the probability of a number that is at least `value`, up to rounding errors."""
        return float(self.probabilities[self.values >= value - rounding_of(self.values)].sum())

    def at_most(self, value: float) -> float:
        """Return the probability of a number that is at most `value`, up to rounding errors."""
        return float(self.probabilities[self.values <= value + rounding_of(self.values)].sum())


def sum_of(distributions: Sequence[Distribution]) -> Distribution | None:
    """Return the distribution of the sum of independent numbers; None if it has too many values.

    The numbers with the fewest values are added first.
    """
    total = Distribution(np.zeros(1), np.ones(1))
    for each in sorted(distributions, key=lambda one: len(one.values)):
        if len(total.values) * len(each.values) > _MOST_PAIRS:
            return None
        sums = np.add.outer(total.values, each.values).ravel()
        total = Distribution.of(sums, np.multiply.outer(total.probabilities, each.probabilities).ravel())
        if len(total.values) > _MOST_VALUES:
            return None
    return total
