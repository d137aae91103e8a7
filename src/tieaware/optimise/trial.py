"""Weights on trial: whether chosen weights are worth more than none, on queries that did not choose them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.checks.rounding import merged
from tieaware.measures import Measure
from tieaware.output.tables import significant

if TYPE_CHECKING:
    # Every command imports this module, and only verdicts need the statistics, which take longer to import.
    from tieaware.statistics import PairedTest

# The most weights that a sentence lists, and the most decimals that it shows.
_LISTED, _MOST_DECIMALS = 10, 15
# Rounded weights may change the mean by this share of its standard error over the queries.
_NEGLIGIBLE = 0.25


class HeldOut(NamedTuple):
    """The weights chosen without each fold, float64[folds, n], and the values of the queries with them."""

    weights: Values
    values: Values


@dataclass(frozen=True, eq=False)
class Trial:
    """Chosen weights of runs or features, and what they earn on other queries, beside what needs no weights.

    Attributes
    ----------
    measure : Measure
    names : tuple of str
        The names of the runs or features.
    weights : float64[n]
        The weights that were chosen on all queries.
    value : float
        The mean with these weights.
    decimals : int
        The number of decimals of the weights that matter: further ones change the mean by less than a quarter of its
        standard error over the queries.
    held_out : HeldOut
        The weights that were chosen on all folds but one, and the value of each query with the weights that were chosen
        without it.
    others : float64[n + 1, n_queries]
        The values of reciprocal rank fusion, and of each run or feature alone.
    separated : bool
        True if a paired t-test separates any weight from the chosen one, while the others keep their proportions.
    level : float
        The confidence level of the tests.
    """

    measure: Measure
    names: tuple[str, ...]
    weights: Values
    value: float
    decimals: int
    held_out: HeldOut = field(repr=False)
    others: Values = field(repr=False)
    separated: bool
    level: float = 0.95

    @cached_property
    def test(self) -> PairedTest:
        """The paired t-tests of the held-out values against each of the others, float64[n + 1]."""
        from tieaware.statistics import paired_test

        return paired_test(self.held_out.values, self.others, confidence=self.level)

    @cached_property
    def p(self) -> Values:
        """The p values of `test` after Holm's correction."""
        from tieaware.statistics import holm

        return holm(self.test.p)

    @property
    def mean(self) -> float:
        """The mean of the held-out values."""
        return float(self.held_out.values.mean())

    @property
    def gains(self) -> Values:
        """How much better this mean is than those of the others; negative if it is worse."""
        sign = -1.0 if self.measure.definition.less_is_better else 1.0
        means = merged(np.append(self.others.mean(axis=1), self.mean))
        return np.asarray(sign * (means[-1] - means[:-1]))

    @property
    def rivals(self) -> tuple[str, ...]:
        """The names of the others."""
        return ("RRF", *(f"{name} alone" for name in self.names))

    @property
    def _best(self) -> int:
        """The position of the best run or feature among the others; reciprocal rank fusion is the first of them."""
        return 1 + int(np.argmin(self.gains[1:]))

    @property
    def doubts(self) -> list[str]:
        """The reasons to take the chosen weights for noise."""
        equal = [self.rivals[i] for i in (0, self._best) if not self.gains[i] > 0.0]
        doubts = [f"chosen weights earn no more than {name}" for name in equal]
        return doubts if self.separated else [*doubts, "no paired t-test separates any weight from the best one"]

    def verdict(self, optimum: str = "") -> str:
        """Return whether to use the weights, what they earn, and how sure that is.

        Parameters
        ----------
        optimum : str
            A sentence that replaces the one about the best weights.
        """
        doubts, means = self.doubts, [significant(mean) for mean in self.others.mean(axis=1)]
        near = f"the weights {self.shares()}" if doubts else "these weights"
        sentences = (
            self._decision(),
            optimum or f"{self.measure} is best, {significant(self.value)}, near {near}.",
            f"Weights chosen on other queries earn {significant(self.mean)}; RRF earns {means[0]}, and "
            f"{self.rivals[self._best]} {means[self._best]}.",
            f"The optimum is noise: {', and '.join(doubts)}." if doubts else self._significance(),
        )
        return " ".join(sentences)

    def _decision(self) -> str:
        """Return the advice in one sentence: to fuse by weights, to fuse by reciprocal rank fusion, or not to fuse."""
        alone, gains = self.rivals[self._best], self.gains
        if self.doubts:
            if gains[0] < gains[self._best]:
                return "Fuse them by RRF: the best weights are noise."
            return f"Do not fuse them: {alone} earns as much, and the best weights are noise."
        if self.p[self._best] <= 1.0 - self.level:
            return f"Fuse them: {self.shares()}."
        return (
            f"Fuse them or not, these queries cannot tell: {self.shares()} earn more than {alone}, but not "
            "significantly."
        )

    def _significance(self) -> str:
        """Return a sentence that says than which of the others the chosen weights are significantly better."""
        compared = 0, self._best
        names = {i: f"{self.rivals[i]} (Holm's p = {significant(float(self.p[i]))})" for i in compared}
        better = [name for i, name in names.items() if self.p[i] <= 1.0 - self.level]
        others = [name for name in names.values() if name not in better]
        if not better:
            return f"That is not significantly better than {' or '.join(others)}."
        but = f", but not than {others[0]}" if others else ""
        return f"That is significantly better than {' and '.join(better)}{but}."

    def shares(self) -> str:
        """Return the weights with the decimals that matter; of many, those that are furthest from 0."""
        rounded = self.weights.round(self.decimals) + 0.0
        largest = np.argsort(-np.abs(rounded), kind="stable")[:_LISTED]
        shown = np.sort(largest).tolist()
        listed = ", ".join(f"{self.names[i]} {rounded[i]:.{self.decimals}f}" for i in shown)
        rest = len(rounded) - len(shown)
        return f"{listed} and {rest} smaller ones" if rest else listed


def decimals_of(weights: Values, value: float, held_out: Values, mean: Callable[[Values], float]) -> int:
    """Return the fewest decimals, from 2, with which weights have about the same mean.

    Parameters
    ----------
    weights : float64[n]
    value : float
        The mean with these weights.
    held_out : float64[n_queries]
        The values of the queries.
    mean : callable
        Returns the mean with other weights.
    """
    most = _NEGLIGIBLE * float(held_out.std() / np.sqrt(len(held_out)))
    tried = range(2, _MOST_DECIMALS)
    return next((n for n in tried if abs(mean(weights.round(n)) - value) <= most), _MOST_DECIMALS)
