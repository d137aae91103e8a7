"""The verdict of the experiment on score precision, in two or three sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tieaware.checks.arrays import Integers, Values
from tieaware.checks.rounding import first_greatest, merged, rounding_of
from tieaware.experiments._score_precision_pairs import Verdicts
from tieaware.measures import Measure
from tieaware.output.tables import percent, significant
from tieaware.precision import Coarsening
from tieaware.statistics.procedures import CORRECTIONS


@dataclass(frozen=True)
class Changes:
    """The changes that coarser scores cause, from which the verdict is written.

    Attributes
    ----------
    precisions, measures : sequences
        The first and the second axis of the arrays.
    lost : float64[n_precisions, n_measures, n_runs, n_queries]
        What each run loses on each query; negative for a gain.
    p : float64[n_precisions, n_measures, n_runs]
        The p value of each run's paired t-test of coarsened against original, uncorrected.
    pairs : Verdicts
        The verdicts between runs.
    alpha : float
        The significance level.
    queries : sequence of str or int
        The names along the last axis of `lost`.
    keeps : int64[n_precisions, n_measures, n_runs]
        -1 where the one-sided test shows that a run keeps less than the share `kept` of its mean.
    kept : float
    """

    precisions: Sequence[Coarsening]
    measures: Sequence[Measure]
    lost: Values
    p: Values
    pairs: Verdicts
    alpha: float
    queries: Sequence[str | int]
    keeps: Integers
    kept: float

    def sentences(self) -> str:
        """Say what changes with the precision that has the largest mean absolute change over all measures.

        The first sentence tells how many runs change significantly, by each measure. The second sentence has the mean,
        the largest loss and the largest gain, with their runs and queries, of the measures that change significantly,
        and of the measure that changes most on a single query. The third sentence is about the verdicts between runs.
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
