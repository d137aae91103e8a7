"""Changes by coarser scores: verdicts between runs, the widest groups of near scores, and the sentences about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np

from tieaware.checks.arrays import Integers, Scores, Values
from tieaware.checks.rounding import first_greatest, merged, rounding_of
from tieaware.inputs import Run
from tieaware.measures import Measure
from tieaware.output.tables import Cell, Table, counted, percent, significant
from tieaware.precision import Coarsening, Gap
from tieaware.statistics.multiple_comparisons import adjusted
from tieaware.statistics.procedures import CORRECTIONS, Procedure
from tieaware.statistics.verdicts import PairTests, shares_of_changes


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


@dataclass(frozen=True)
class Changes:
    """The changes that coarser scores cause, from which the verdict is written.

    `lost`, float64[n_precisions, n_measures, n_runs, n_queries], is what each run loses on each query, negative for a
    gain. `p`, without the queries, is the p value of each run's paired t-test of coarsened against original,
    uncorrected. `keeps` is -1 where the one-sided test shows that a run keeps less than the share `kept` of its mean.
    """

    precisions: Sequence[Coarsening]
    measures: Sequence[Measure]
    lost: Values
    p: Values
    pairs: CoarsenedPairs
    alpha: float
    queries: Sequence[str | int]
    keeps: Integers
    kept: float

    def sentences(self) -> str:
        """Say what changes with the precision that has the largest mean absolute change over all measures.

        First, how many runs change significantly, by each measure; then the mean, the largest loss and the largest gain
        of the measures that change significantly, and of the one that changes most on a query; last, the verdicts
        between runs.
        """
        moved = np.abs(self.lost).mean(axis=(1, 2, 3))
        if not moved.any():
            return self._no_change()
        p = first_greatest(moved)
        counts: Integers = (self.p[p] <= self.alpha).sum(axis=1)
        tested = self._tested_runs(counts) if self._n_runs > 1 else self._tested_run(p)
        first = f"With {self.precisions[p]}{self._criterion(float(moved[p]))}, {tested}."
        return " ".join(filter(None, [first, self._sizes(p, counts), self._between_runs(p, moved)]))

    @property
    def _n_runs(self) -> int:
        return int(self.lost.shape[2])

    def _criterion(self, largest: float) -> str:
        """Say by which quantity the precision was chosen; empty if there is only one precision."""
        if len(self.precisions) == 1:
            return ""
        over = ", averaged over the measures" if len(self.measures) > 1 else ""
        return f", which changes values most (mean absolute change {significant(largest)}{over})"

    def _tested_runs(self, counts: Integers) -> str:
        """Say in how many runs each measure changes significantly, beginning with the measure of the most runs."""
        of_runs = f"of {self._n_runs} runs"
        test = f"(paired t-tests at {self.alpha:g}, without correction for multiple tests)"
        order = np.argsort(-counts, kind="stable").tolist()
        changed = [m for m in order if counts[m]]
        unchanged = [str(self.measures[m]) for m in order if not counts[m]]
        if not changed:
            change = "change" if len(unchanged) > 1 else "changes"
            return f"{_listed(unchanged)} {change} significantly in none {of_runs} {test}"
        first, *others = changed
        parts = [f"{self.measures[first]} changes significantly in {counts[first]} {of_runs}"]
        parts += [f"{self.measures[m]} in {counts[m]}" for m in others]
        parts += [f"{_listed(unchanged)} in none"] if unchanged else []
        return f"{_listed(parts, ', and ')} {test}"

    def _tested_run(self, p: int) -> str:
        """Say by which measures the only run changes significantly."""
        ps = self.p[p, :, 0]
        kinds = []
        for is_changed, one, several in ((True, "changes", "change"), (False, "does not change", "do not change")):
            named = [
                f"{measure} (p = {significant(float(each))})"
                for measure, each in zip(self.measures, ps, strict=True)
                if (each <= self.alpha) == is_changed
            ]
            if named:
                kinds.append(f"{_listed(named)} {one if len(named) == 1 else several} significantly")
        return f"{_listed(kinds, ', and ')} (paired t-test{'s' * (len(ps) > 1)}, uncorrected)"

    def _sizes(self, p: int, counts: Integers) -> str:
        """Give mean, largest loss and largest gain of the measures that change significantly or change most."""
        lost = self.lost[p]
        shown = [m for m in np.argsort(-counts, kind="stable").tolist() if counts[m]]
        most = first_greatest(np.abs(lost).max(axis=(1, 2)))
        shown += [most] if most not in shown else []
        parts = []
        for m in shown:
            mean, is_first = float(lost[m].mean()), m == shown[0]
            change = f"{self.measures[m]} {'loses' if mean >= 0.0 else 'gains'} {significant(abs(mean))}"
            loss = self._largest("largest loss", lost[m], " on a query" * is_first)
            gain = self._largest("largest gain", -lost[m])
            parts.append(f"{change}{' on average' * is_first} ({loss}; {gain})")
        return f"{_listed(parts, ', and ')}."

    def _largest(self, what: str, lost: Values, unnamed: str = "") -> str:
        """Give the largest number of a matrix, runs × queries; if it is positive and unique, name run and query."""
        lost = merged(lost.ravel(), rounding_of(lost)).reshape(lost.shape)
        largest = max(float(lost.max()), 0.0)
        places = np.argwhere(lost == largest)
        if not largest or len(places) > 1:
            return f"{what}{unnamed} {significant(largest)}"
        run, query = places[0].tolist()
        by = f"by {self.pairs.runs[run]} " if self._n_runs > 1 else ""
        return f"{what} {significant(largest)} {by}on query {self.queries[query]}"

    def _between_runs(self, p: int, moved: Values) -> str:
        """Say how many pairs of runs keep their verdict, and which precisions change nothing significantly."""
        harmless = self._harmless(p, moved)
        if self._n_runs == 1:
            return f"{harmless[:1].upper()}{harmless[1:]}." if harmless else ""
        n_pairs, share = self.pairs.count, float(self.pairs.shares()[0, p].min())
        if n_pairs == 1:
            verdict = f"The verdict between the two runs {'stays the same' if share == 1.0 else 'changes'}"
        elif share == 1.0:
            verdict = f"All {n_pairs:,} verdicts of {self._tests_between_runs} stay the same"
        else:
            shares = self.pairs.shares()[0, p]
            by = f" by {self.measures[int(np.argmin(shares))]}" if len(shares) > 1 else ""
            rest = f", and at least as many by the other {'measures' if len(shares) > 2 else 'measure'}" if by else ""
            n = f"{round(share * n_pairs):,} of {n_pairs:,}"
            verdict = f"{n} verdicts of {self._tests_between_runs} stay the same{by} ({percent(share)}){rest}"
        return f"{verdict}; {harmless}." if harmless else f"{verdict}."

    @property
    def _tests_between_runs(self) -> str:
        procedure, baseline = self.pairs.procedure, self.pairs.baseline
        kind = CORRECTIONS[procedure.correction] if procedure.corrects else "uncorrected"
        return f"{kind} tests {'between pairs of runs' if baseline is None else f'against {baseline}'}"

    def _harmless(self, p: int, moved: Values) -> str:
        """Name the precisions that change values, but neither a mean significantly nor a verdict; else the nearest.

        The nearest are those with which no run's mean changes significantly; the text then says what does change.
        """
        steady = self.p.min(axis=(1, 2)) > self.alpha
        n_changed, n_less = self._changed_verdicts(), (self.keeps < 0).sum(axis=(1, 2))
        clean = steady & (n_changed.max(axis=1) == 0) & (n_less == 0)
        if clean[p]:
            return ""
        names = np.array([str(each) for each in self.precisions])
        without = "the mean does not change" if self._n_runs == 1 else "no run's mean changes"
        found = np.flatnonzero(clean & (moved > 0.0))
        if found.size:
            verdicts = ", and no verdict changes" if self.pairs.count else ""
            return f"with {_listed(names[found].tolist())}, {without} significantly{verdicts}"
        found = np.flatnonzero(steady & (moved > 0.0))
        if steady[p] or not found.size:
            return ""
        but = self._but(n_changed[found], n_less[found])
        return f"with {_listed(names[found].tolist())}, {without} significantly{but}"

    def _changed_verdicts(self) -> Integers:
        """Return the number of verdicts that each precision changes by each measure: [n_precisions, n_measures]."""
        if not self.pairs.count:
            return np.zeros((len(self.precisions), len(self.measures)), dtype=np.int64)
        n_changed: Integers = np.rint((1.0 - self.pairs.shares()[0]) * self.pairs.count).astype(np.int64)
        return n_changed

    def _but(self, n_changed: Integers, n_less: Integers) -> str:
        """Say how many verdicts some precisions change, and how many means lose too much by the one-sided test."""
        most, up_to, parts = int(n_changed.max()), "up to " * (len(n_changed) > 1), []
        by = f", by {self.measures[int(np.argmax(n_changed.max(axis=0)))]}" if len(self.measures) > 1 else ""
        if most and self.pairs.count == 1:
            parts.append(f"the verdict between the two runs does{by}")
        elif most:
            do = "do" if most > 1 or up_to else "does"
            parts.append(f"{up_to}{most:,} of {self.pairs.count:,} verdicts {do}{by}")
        if n_less.any():
            n = int(n_less.max())
            means = "1 mean keeps" if n == 1 else f"{n:,} means keep"
            parts.append(f"{up_to}{means} less than {100.0 * self.kept:g}% by a one-sided test")
        return f", but {(', and ' if by else ' and ').join(parts)}"

    def _no_change(self) -> str:
        """Say that no value changes with any precision."""
        precisions = _listed([str(each) for each in self.precisions], " or ")
        names = _listed([str(each) for each in self.measures], " or ")
        kept = f"No value of {names} changes with {precisions}"
        if self._n_runs == 1:
            return f"{kept}."
        n = self.pairs.count
        stay = "the verdict between the two runs stays" if n == 1 else f"all {n:,} verdicts between runs stay"
        return f"{kept}, and {stay} the same."


def _listed(texts: Sequence[str], last: str = " and ") -> str:
    """Join texts with commas, and the last two with `last`."""
    *others, final = texts
    return f"{', '.join(others)}{last}{final}" if others else final
