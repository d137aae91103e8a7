"""Normalisation of the scores of a run, list by list, so that runs with different scales can be combined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from tieaware.checks.arrays import Integers, Values

NormalisationName: TypeAlias = Literal["min-max", "theoretical-min-max", "z", "sum", "rank", "rrf", "none"]


# The usual constant of reciprocal rank fusion.
_RRF = 60.0


class RankedLists:
    """The lists of one run: the scores of the documents that it has, list after list, without empty lists.

    `lists` has the list of each document; it does not decrease.
    """

    def __init__(self, scores: Values, lists: Integers) -> None:
        self.scores = scores
        starts = np.flatnonzero(np.diff(lists, prepend=-1))
        self._starts = starts
        self.sizes: Integers = np.diff(starts, append=len(scores))

    def of_lists(self, reduce: np.ufunc, values: Values) -> Values:
        """Reduce the values of each list to one number, and return that number for each document."""
        if not len(values):
            return values
        return np.repeat(reduce.reduceat(values, self._starts), self.sizes)

    def expected(self, weight: Callable[[Values], Values]) -> Values:
        """Return the mean of a weight of the rank, from 1, over all orders of tied documents, for each document."""
        order = np.lexsort((-self.scores, np.repeat(np.arange(len(self.sizes)), self.sizes)))
        in_order = self.scores[order]
        ranks = np.arange(1.0, len(order) + 1) - np.repeat(self._starts, self.sizes)
        first = np.ones(len(order), bool)
        first[1:] = in_order[1:] != in_order[:-1]
        first[self._starts] = True
        groups = np.flatnonzero(first)
        sizes = np.diff(groups, append=len(order))
        weights = np.empty(len(order))
        if len(order):
            weights[order] = np.repeat(np.add.reduceat(weight(ranks), groups) / sizes, sizes)
        return weights


def _min_max(lists: RankedLists) -> Values:
    return _from(lists, lists.of_lists(np.minimum, lists.scores))


def _theoretical_min_max(lists: RankedLists, minimum: float) -> Values:
    return _from(lists, minimum)


def _from(lists: RankedLists, least: Values | float) -> Values:
    """Map the least score to 0 and the greatest of each list to 1."""
    width = lists.of_lists(np.maximum, lists.scores) - least
    # A list whose scores all equal the least has no width; its documents get 1, above those that the run does not have.
    return _divided(lists.scores - least, width, np.ones_like(width))


def _z(lists: RankedLists) -> Values:
    sizes = np.repeat(lists.sizes, lists.sizes)
    centred = lists.scores - lists.of_lists(np.add, lists.scores) / sizes
    deviation = np.sqrt(lists.of_lists(np.add, centred**2) / sizes)
    # Rounding can give equal scores a deviation above 0.
    varied = lists.of_lists(np.maximum, lists.scores) > lists.of_lists(np.minimum, lists.scores)
    return _divided(centred, np.where(varied, deviation, 0.0), np.zeros_like(centred))


def _sum(lists: RankedLists) -> Values:
    shifted = lists.scores - lists.of_lists(np.minimum, lists.scores)
    total = lists.of_lists(np.add, shifted)
    equal = 1.0 / np.repeat(lists.sizes, lists.sizes)
    return _divided(shifted, total, equal)


def _divided(values: Values, by: Values, otherwise: Values) -> Values:
    """Divide values by positive numbers; where the divisor is 0, keep `otherwise`, which is changed in place."""
    np.divide(values, by, out=otherwise, where=by > 0)
    return otherwise


def _rank(lists: RankedLists) -> Values:
    sizes = np.repeat(lists.sizes, lists.sizes)
    below_first: Values = (lists.expected(lambda ranks: ranks) - 1.0) / sizes
    return 1.0 - below_first


def _reciprocal_rank(lists: RankedLists) -> Values:
    return lists.expected(lambda ranks: 1.0 / (_RRF + ranks))


def _none(lists: RankedLists) -> Values:
    return lists.scores


class Normalisation(NamedTuple):
    """A normalisation: a function of the lists of a run, and if needed of the least score that it could have.

    `from_zero` says whether its least possible value is 0; otherwise it is the least score of the list.
    """

    apply: Callable[..., Values]
    from_zero: bool
    needs_minimum: bool = False


NORMALISATIONS = {
    "min-max": Normalisation(_min_max, from_zero=True),
    "theoretical-min-max": Normalisation(_theoretical_min_max, from_zero=True, needs_minimum=True),
    "z": Normalisation(_z, from_zero=False),
    "sum": Normalisation(_sum, from_zero=True),
    "rank": Normalisation(_rank, from_zero=True),
    "rrf": Normalisation(_reciprocal_rank, from_zero=True),
    "none": Normalisation(_none, from_zero=False),
}
