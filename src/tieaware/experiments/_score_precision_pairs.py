"""The verdicts between runs in the experiment on score precision: the tests before and after, and their tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tieaware.checks.arrays import Integers, Values
from tieaware.measures import Measure
from tieaware.output.tables import Cell, Table, counted
from tieaware.precision import Coarsening
from tieaware.statistics.multiple_comparisons import adjusted
from tieaware.statistics.procedures import Procedure
from tieaware.statistics.verdicts import PairTests, shares_of_changes


@dataclass(frozen=True)
class Verdicts:
    """The tests of pairs of runs, before and after each precision.

    Attributes
    ----------
    before, after : tuple of PairTests
        The tests with the original scores and with the coarsened scores, one for each precision; before the correction.
    alpha : float
        The significance level.
    runs : tuple of str
    first, second : int64[n_pairs]
        The runs of each pair, by position; with a baseline, `second` is the baseline.
    procedure : Procedure
        The paired t-test, and the correction of its p values for all pairs, by one measure with one precision.
    baseline : str or None
        The run with which the others are compared; None if all runs are compared with each other.
    """

    before: tuple[PairTests, ...]
    after: tuple[PairTests, ...]
    alpha: float
    runs: tuple[str, ...]
    first: Integers
    second: Integers
    procedure: Procedure
    baseline: str | None

    @property
    def count(self) -> int:
        """The number of pairs of runs."""
        return len(self.first)

    @property
    def named(self) -> str:
        """The pairs in words, such as "3 pairs of runs"."""
        pairs = counted(self.count, "pair")
        return f"{pairs} of runs" if self.baseline is None else f"{pairs} of a run and {self.baseline}"

    @property
    def described(self) -> str:
        """The test, the level and the correction, with the family of tests that is corrected."""
        family = f"{counted(self.count, 'pair')} by one measure with one precision"
        return self.procedure.described(self.alpha, family, len(self.runs))

    @cached_property
    def corrected(self) -> tuple[tuple[PairTests, ...], tuple[PairTests, ...]]:
        """The tests before and after coarsening, with p values after the correction."""
        before, after = (tuple(map(self._corrected, tests)) for tests in (self.before, self.after))
        return before, after

    def _corrected(self, tests: PairTests) -> PairTests:
        p = [adjusted(each, self.procedure.correction) for each in tests.p]
        return tests._replace(p=np.stack(p))

    def shares(self) -> Values:
        """Return the shares of pairs with each of CHANGES, float64[5, n_precisions, n_measures]; NaN without pairs."""
        both = zip(*self.corrected, strict=True)
        return np.stack([shares_of_changes(*tests, self.alpha) for tests in both], axis=1)

    def changed(self, measures: Sequence[Measure], precisions: Sequence[Coarsening]) -> Table:
        """Return a row for each pair whose verdict changes, by measure and precision."""
        rows = [
            row
            for m, measure in enumerate(measures)
            for p, each in enumerate(precisions)
            for row in self._changed(m, p, (str(measure), str(each)))
        ]
        short = self.procedure.short_correction
        of_test = ("difference", "p", *([short] if short else []))
        names = ("measure", "precision", "run", "against", *of_test, *(f"{name} after" for name in of_test))
        meaning = f" p: before the correction; {short}: after it." if short else ""
        note = f"The pairs of runs whose verdict changes: {self.described}.{meaning}"
        return Table("Changed verdicts between runs", names, rows, (note,))

    def _changed(self, m: int, p: int, start: tuple[Cell, ...]) -> list[tuple[Cell, ...]]:
        both = [(self.before[p], self.corrected[0][p]), (self.after[p], self.corrected[1][p])]
        old, new = (tests.verdicts(self.alpha)[m] for _, tests in both)
        places = np.flatnonzero(old != new)
        columns: list[list[float]] = []
        for raw, tests in both:
            columns += [raw.difference[m, places].tolist(), raw.p[m, places].tolist()]
            columns += [tests.p[m, places].tolist()] if self.procedure.corrects else []
        pairs = zip(self.first[places].tolist(), self.second[places].tolist(), strict=True)
        numbers = zip(*columns, strict=True)
        return [(*start, self.runs[a], self.runs[b], *row) for (a, b), row in zip(pairs, numbers, strict=True)]
