"""Changes by coarser scores: verdicts between runs, and the widest groups of near scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Scores, Values
from tieaware.inputs import Run
from tieaware.measures import Measure
from tieaware.output.tables import Cell, Table, counted, significant
from tieaware.precision import Coarsening, Gap
from tieaware.statistics.multiple_comparisons import adjusted
from tieaware.statistics.procedures import Procedure
from tieaware.statistics.verdicts import PairTests, pair_tests, shares_of_changes


class Chain(NamedTuple):
    """The widest group of near scores: its highest minus its lowest score, and where it is."""

    width: float
    run: str
    query: str | int


class Chains:
    """The widest group of near scores for each precision that is a `Gap`."""

    def __init__(self, precisions: Sequence[Coarsening]) -> None:
        self._gaps = {p: each for p, each in enumerate(precisions) if isinstance(each, Gap)}
        self._count = len(precisions)
        self._found: dict[tuple[int, str], Chain] = {}

    def __bool__(self) -> bool:
        return bool(self._gaps)

    def add(self, name: str, chunk: Run) -> None:
        """Add a chunk of a run. Groups of a query that is not complete are not wider than those of the whole query."""
        scores, offsets = cast(Scores, np.asarray(chunk.scores)), np.asarray(chunk.offsets)
        for p, gap in self._gaps.items():
            width, place = gap.widest(scores, offsets)
            known = self._found.get((p, name))
            if len(scores) and (known is None or width > known.width):
                self._found[p, name] = Chain(width, name, chunk.queries.to_list()[place])

    def widest(self, runs: Sequence[str]) -> tuple[Chain | None, ...]:
        """Return the widest group for each precision, of the first run that has it; None if there is none.

        The order of the runs decides, because threads may add the runs in any order.
        """
        found = [[self._found[p, run] for run in runs if (p, run) in self._found] for p in range(self._count)]
        return tuple(max(chains, key=lambda chain: chain.width, default=None) for chains in found)


def note_of(precisions: Sequence[Coarsening], widest: Sequence[Chain | None]) -> list[str]:
    """Return a note on the widest groups; no note if there are none."""
    found = [
        f"{precision}: {significant(chain.width)} ({chain.run}, {chain.query})"
        for precision, chain in zip(precisions, widest, strict=False)
        if chain is not None
    ]
    if not found:
        return []
    explained = (
        "Groups of near scores chain, so they can be wider than the tolerance. The widest, highest minus lowest score"
    )
    return [f"{explained} (run, query): {'; '.join(found)}."]


@dataclass(frozen=True)
class CoarsenedPairs:
    """The tests of pairs of runs, before and after each precision; one `PairTests` for each precision, not corrected.

    `first` and `second` are the runs of each pair, by position; with a baseline, `second` is the baseline. `procedure`
    is the paired t-test, and the correction of its p values for all pairs, by one measure with one precision.
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

    def differing(self, *, by_order: bool) -> npt.NDArray[np.bool_]:
        """Return which pairs have another verdict, or another order: bool[n_precisions, n_measures, n_pairs]."""
        before, after = (
            np.stack([np.sign(each.difference) if by_order else each.verdicts(self.alpha) for each in tests])
            for tests in self.corrected
        )
        return np.asarray(before != after)

    def by_run(self, pairs: npt.NDArray[np.bool_]) -> Integers:
        """Return how many of some pairs each run is in, [..., n_pairs] → [..., n_runs]; 0 for the baseline."""
        member = np.zeros((self.count, len(self.runs)))
        member[np.arange(self.count), self.first] = 1.0
        if self.baseline is None:
            member[np.arange(self.count), self.second] = 1.0
        return (pairs @ member).astype(np.int64)

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


def tests_again(values: Values, original: Values, before: PairTests, first: Integers, second: Integers) -> PairTests:
    """Test pairs of runs with coarse values; a pair without a changed value keeps its tests, those of `before`."""
    changed = (values != original).any(axis=1)
    difference, p = before.difference.copy(), before.p.copy()
    for m in np.flatnonzero(changed.any(axis=0)).tolist():
        some = np.flatnonzero(changed[first, m] | changed[second, m])
        difference[m, some], p[m, some] = pair_tests(values[:, :, m : m + 1], first[some], second[some])
    return PairTests(difference, p)
