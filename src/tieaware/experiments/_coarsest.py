"""The coarsest precision that is safe: the search for it, and the outcome with its sentences, tables and figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from tieaware.checks.arguments import number, shown, unexpected
from tieaware.checks.arrays import Integers, Values
from tieaware.errors import InputError
from tieaware.experiments._coarsened_runs import CoarsenedRuns, Failures, Keep
from tieaware.experiments._precision_figures import lines_of_failures
from tieaware.experiments.experiment import Experiment
from tieaware.measures import Measure
from tieaware.output.plots import Drawing
from tieaware.output.tables import Cell, Table, counted, joined
from tieaware.precision import Bands, Coarsening
from tieaware.precision.ladders import Family

# The experiment that a search evaluates.
Tried = TypeVar("Tried", bound=CoarsenedRuns)

# The share of the pairs that may change with the precision that is named beside the one that changes none.
_FEW = 0.01
# A search by the share of the mean ends where more than this share of the runs fail.
_HALF = 0.5
# The number of precisions that are evaluated in one pass over the runs.
_BATCH = 40
# The most measures that a sentence names.
_NAMED = 3


def checked_keep(keep: object, n_runs: int) -> Keep:
    """Return what has to stay, a share as a number; raise InputError if it is unknown or needs several runs."""
    if keep is None:
        return "verdicts" if n_runs > 1 else 0.99
    if keep in ("verdicts", "order"):
        if n_runs < 2:
            raise InputError("keep", f"{keep!r} needs at least two runs; with one run, write a share such as '99%'")
        return str(keep)
    share = keep
    if isinstance(keep, str):
        try:
            share = float(keep.removesuffix("%")) / (100.0 if keep.endswith("%") else 1.0)
        except ValueError:
            raise unexpected("keep", "'verdicts', 'order' or a share such as '99%'", shown(keep)) from None
    share = number("keep", share, 0, 1)
    if not share:
        raise unexpected("keep", "a share above 0", shown(keep))
    return share


class Search(Generic[Tried]):
    """A search for the coarsest precision of a family, from fine to coarse.

    `evaluate` returns the experiment with some precisions. `keeps` are the things that have to stay; the
    search ends for each of them by itself.
    """

    def __init__(
        self, family: Family, evaluate: Callable[[list[Coarsening]], Tried], keeps: Sequence[Keep]
    ) -> None:  # fmt: skip
        self._family = family
        self._evaluate = evaluate
        self._keeps = keeps
        # For each number of the family: its values, and the rows of its failures by each thing that has to stay.
        self._tried: dict[int, tuple[Values, list[tuple[Integers, Integers]]]] = {}

    def run(self) -> Tried:
        """Return the experiment with all precisions that were tried, from fine to coarse.

        The grid is tried up to where each measure fails clearly. Then numbers are tried between the last one that keeps
        everything, or nearly, and the next, until no number lies between them.
        """
        grid = self._family.grid
        first = self._try(grid[:_BATCH])
        totals = [first.failures(keep).total for keep in self._keeps]
        for start in range(_BATCH, len(grid), _BATCH):
            if all((self._shares(k, n).max(axis=0) > _limits(keep)[-1]).all() for k, keep, n in self._each(totals)):
                break
            self._try(grid[start : start + _BATCH])
        while more := {n for k, keep, total in self._each(totals) for n in self._between(self._shares(k, total), keep)}:
            self._try(sorted(more))
        values, rows = zip(*(self._tried[n] for n in self._numbers), strict=True)
        known = {
            keep: Failures(np.stack([row[k][0] for row in rows]), np.stack([row[k][1] for row in rows]), total)
            for k, keep, total in self._each(totals)
        }
        precisions = tuple(map(self._family.precision, self._numbers))
        originals = first.originals[:1] * len(precisions)
        return replace(first, precisions=precisions, originals=originals, values=np.stack(values), known=known)

    def _each(self, totals: Sequence[int]) -> list[tuple[int, Keep, int]]:
        return [(k, keep, total) for k, (keep, total) in enumerate(zip(self._keeps, totals, strict=True))]

    @property
    def _numbers(self) -> list[int]:
        """The numbers that were tried, from fine to coarse."""
        return sorted(self._tried, reverse=self._family.grid[0] > self._family.grid[-1])

    def _try(self, numbers: Sequence[int]) -> Tried:
        found = self._evaluate([self._family.precision(n) for n in numbers])
        failures = [found.failures(keep) for keep in self._keeps]
        for i, n in enumerate(numbers):
            self._tried[n] = found.values[i], [(each.counts[i], each.by_run[i]) for each in failures]
        return found

    def _shares(self, k: int, total: int) -> Values:
        """Return the share of the pairs or runs that fail, from fine to coarse: float64[n_tried, n_measures]."""
        return np.stack([self._tried[n][1][k][0] for n in self._numbers]) / total

    def _between(self, shares: Values, keep: Keep) -> list[int]:
        """Return numbers between those where a measure fails first and the ones before."""
        numbers, found = self._numbers, []
        for limit in _limits(keep):
            for fails in (shares > limit).T:
                first = _first(fails)
                if 0 < first < len(numbers):
                    found += self._family.between(numbers[first - 1], numbers[first])
        return found


def _limits(keep: Keep) -> tuple[float, ...]:
    """Return the shares of failures at which a search looks closer; it ends beyond the last one."""
    return (0.0, _FEW) if isinstance(keep, str) else (0.0, _HALF)


def _first(fails: Any) -> int:
    """Return the position of the first failure; the length if there is none."""
    return int(np.argmax(fails)) if fails.any() else len(fails)


class Limit(NamedTuple):
    """How coarse scores may be by one measure, among the precisions of one family that were tried.

    Attributes
    ----------
    measure : Measure
    coarsest : Coarsening or None
        The coarsest precision up to which everything is kept, from fine to coarse; None if the finest fails.
    fails : Coarsening or None
        The first precision that fails, which is the next one; None if none fails.
    failures : int
        For how many pairs or runs it fails.
    reason : str
        Why it fails: a band across the cut-off, or a single run; empty if it is neither.
    few : Coarsening or None
        The coarsest precision up to which at most 1 % of the pairs change; None for a share of the mean.
    """

    measure: Measure
    coarsest: Coarsening | None
    fails: Coarsening | None
    failures: int
    reason: str
    few: Coarsening | None


class _Words(NamedTuple):
    """The words about what has to stay, in sentences and tables."""

    coarsest: str
    first: str
    fails: str
    unharmed: str
    unit: str
    failures: str


def _words(keep: Keep, n_runs: int) -> _Words:
    if keep == "verdicts":
        return _Words(
            "changes no verdict", "is the first that does", "{} changes verdicts", "No verdict changes with {}",
            "pair", "verdicts changed",
        )  # fmt: skip
    if isinstance(keep, str):
        return _Words(
            "keeps the order of the runs", "is the first that does not", "{} changes the order of the runs",
            "The order of the runs stays the same with {}", "pair", "pairs that change their order",
        )  # fmt: skip
    share, every = f"{100.0 * keep:g}%", "every run" if n_runs > 1 else "the run"
    return _Words(
        f"lets {every} keep {share}", "is the first that may not", f"{{}} is not known to keep {share} of {every}",
        f"{every.capitalize()} is known to keep {share} with {{}}", "run", f"runs not known to keep {share}",
    )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Coarsest(Experiment):
    """The coarsest precision up to which everything is kept, among those that an experiment tried.

    It is not monotone: a coarser precision may keep everything again. What counts is the first failure, from fine to
    coarse.

    Attributes
    ----------
    experiment : tieaware.experiments._precision.Precision
        The precisions that were tried, with all values.
    keep : str or float
        What has to stay: "verdicts", "order", or a share of the mean of each run.
    """

    experiment: CoarsenedRuns
    keep: Keep

    heading = "How precise do scores need to be?"

    @property
    def title(self) -> str:  # type: ignore[override]
        """The title, which states what has to stay, and what was tried."""
        what = f"the {self.keep} of runs" if isinstance(self.keep, str) else f"{100.0 * self.keep:g}% of each mean"
        tried = counted(len(self.experiment.precisions), "precision")
        return f"The coarsest scores that keep {what}: {self.experiment.runs_by_queries}, {tried} tried"

    @cached_property
    def _failures(self) -> Failures:
        return self.experiment.failures(self.keep)

    @property
    def _words(self) -> _Words:
        return _words(self.keep, len(self.experiment.runs))

    @cached_property
    def _families(self) -> list[list[int]]:
        """The positions of the precisions, from fine to coarse, by family."""
        families: dict[str, list[tuple[float, int]]] = {}
        for p, each in enumerate(self.experiment.precisions):
            name, place = getattr(each, "rung", (str(each), 0.0))
            families.setdefault(name, []).append((place, p))
        return [[p for _, p in sorted(family)] for family in families.values()]

    @property
    def precision(self) -> Coarsening | None:
        """The coarsest precision up to which everything is kept by all measures; None if the finest fails.

        With several families of precisions, it is that of the first family.
        """
        return self._ends(self._families[0], self._failures.counts.any(axis=1))[0]

    def _ends(self, family: Sequence[int], fails: Any) -> tuple[Coarsening | None, Coarsening | None]:
        """Return the coarsest precision before the first failure, and the one that fails first."""
        first = _first(fails[family])
        tried = [self.experiment.precisions[p] for p in family]
        return tried[first - 1] if first else None, tried[first] if first < len(tried) else None

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        """How coarse scores may be by each measure, for each family of precisions."""
        return tuple(
            self._limit(family, m) for family in self._families for m in range(len(self.experiment.measures))
        )

    def _limit(self, family: Sequence[int], m: int) -> Limit:
        counts, total = self._failures.counts[:, m], self._failures.total
        first = _first(counts[family] > 0)
        failures, reason = 0, ""
        if first < len(family):
            failures, reason = int(counts[family[first]]), self._reason(family, first, m)
        few = self._ends(family, counts > _FEW * total)[0] if isinstance(self.keep, str) else None
        return Limit(self.experiment.measures[m], *self._ends(family, counts > 0), failures, reason, few)

    def _reason(self, family: Sequence[int], first: int, m: int) -> str:
        """Say why the first failing precision of a family fails by measure m."""
        across = _across_cutoff(self.experiment.measures[m], [self.experiment.precisions[p] for p in family], first)
        decided = "" if isinstance(self.keep, str) else self._decided(family[first], m, self.keep)
        return "; ".join(filter(None, [across, self._who(family, first, m), decided]))

    def _decided(self, p: int, m: int, share: float) -> str:
        """Say how many of the runs that may not keep their share lose more, and how many are open."""
        runs, means = np.flatnonzero(self._failures.by_run[p, m]).tolist(), self.experiment.means
        found = [means.kept(p, run, m, share) for run in runs] if len(runs) == 1 else []
        needed = f": {found[0].needed:,} queries would decide" if found and found[0].needed else ""
        n_lost = int((means.only(p).keeps(share)[0, :, m] < 0).sum())
        n_open = len(runs) - n_lost
        if found:
            return f"it {'loses more' if n_lost else 'is open'}{needed}"
        parts = [f"{n_lost} {'loses' if n_lost == 1 else 'lose'} more"] if n_lost else []
        parts += [f"{n_open} {'is' if n_open == 1 else 'are'} open"] if n_open else []
        return ", ".join(parts)

    def _who(self, family: Sequence[int], first: int, m: int) -> str:
        """Name the runs of the only pair that fails, or the only run in all pairs that do."""
        p, runs = family[first], self.experiment.runs
        n, by_run = int(self._failures.counts[p, m]), self._failures.by_run[p, m]
        in_all = [runs[r] for r in np.flatnonzero(by_run == n)]
        if self._failures.total == 1 or len(in_all) != 1:
            return joined(in_all) if n == 1 and self._failures.total > 1 else ""
        r = runs.index(in_all[0])
        others = self._failures.counts[:, m] - self._failures.by_run[:, m, r]
        without = _first(others[family] > 0)
        start = f"only {in_all[0]}" if n == 1 else f"all with {in_all[0]}"
        if without == first:
            return start
        return f"{start}, without which {self.experiment.precisions[family[without - 1]]} is safe"

    def verdict(self) -> str:
        """Return which precision is the coarsest that is safe, which is the first that is not, and why.

        Examples
        --------
        >>> from tieaware.experiments import precision
        >>> qrels = {f"q{i}": {"d1": 1} for i in range(9)}
        >>> good, bad = ({q: {"d1": score, "d2": 0.5} for q in qrels} for score in (0.52, 0.49))
        >>> tried = precision(qrels, {"good": good, "bad": bad}, ["decimals:2", "decimals:1"], ["RR"])
        >>> print(tried.coarsest().verdict())
        decimals:2 is the coarsest precision that changes no verdict; decimals:1 is the first that does (RR).
        """
        words, counts = self._words, self._failures.counts
        sentences, unharmed = [], []
        for family in self._families:
            safe, fails = self._ends(family, counts.any(axis=1))
            tried = [self.experiment.precisions[p] for p in family]
            if fails is None:
                unharmed.append(str(safe) if len(tried) == 1 else f"{tried[0]} to {safe}")
            elif safe is None:
                finest = f"{fails}, the finest tried," if len(tried) > 1 else str(fails)
                sentences.append(f"{words.fails.format(finest)}{self._by(family)}.{self._few(family, safe)}")
            else:
                start = f"{safe} is the coarsest precision that {words.coarsest}; {fails} {words.first}"
                sentences.append(f"{start}{self._by(family)}.{self._few(family, safe)}")
        if unharmed:
            sentences.append(f"{words.unharmed.format(joined(unharmed))}.")
        return " ".join(sentences)

    def _by(self, family: Sequence[int]) -> str:
        """Return the measures by which the first failing precision fails, in parentheses."""
        counts, total = self._failures.counts, self._failures.total
        first = _first(counts[family].any(axis=1))
        of_measures = counts[family[first]]
        order = [m for m in np.argsort(-of_measures, kind="stable").tolist() if of_measures[m]]
        parts = [f"{self.experiment.measures[m]}: {of_measures[m]:,}" for m in order[:_NAMED]]
        if total == 1:
            parts = [str(self.experiment.measures[m]) for m in order[:_NAMED]]
        else:
            parts[0] = f"{parts[0]} of {counted(total, self._words.unit)}"
        more = [f"{counted(len(order) - _NAMED, 'more measure')}"] if len(order) > _NAMED else []
        reason = self._reason(family, first, order[0])
        return f" ({'; '.join(filter(None, [', '.join(parts + more), reason]))})"

    def _few(self, family: Sequence[int], safe: Coarsening | None) -> str:
        """Name the coarsest precision with which at most 1 % of the pairs change, if it differs from the safe one."""
        if not isinstance(self.keep, str):
            return ""
        few, _ = self._ends(family, (self._failures.counts > _FEW * self._failures.total).any(axis=1))
        what = "verdicts" if self.keep == "verdicts" else "pairs of runs"
        return "" if few in (None, safe) else f" Up to {few}, at most 1 % of the {what} change."

    def tables(self) -> dict[str, Table]:
        """Return the tables: "limits" by measure, "runs" by measure and run, and "tried", all precisions."""
        return {"limits": self._limits(), "runs": self._runs(), "tried": self._all_tried()}

    @property
    def _notes(self) -> tuple[str, ...]:
        tried = self._families[0]
        ends = f"{self.experiment.precisions[tried[0]]} to {self.experiment.precisions[tried[-1]]}"
        what = f"{counted(len(tried), 'precision')}, {ends}" if len(self._families) == 1 else "all precisions"
        return (
            f"coarsest: the last of {what}, from fine to coarse, before the first that fails. Precisions between those "
            f"that were tried are not known, and coarser ones may keep everything again. {self._meaning}",
        )

    @property
    def _meaning(self) -> str:
        """A sentence that explains how it is decided whether everything is kept."""
        pairs = self.experiment.compared
        if self.keep == "verdicts":
            return f"The verdicts on {pairs.named}: {pairs.described}."
        if self.keep == "order":
            return f"The order of {pairs.named}: the sign of the difference of their means."
        level = f"{100.0 * (1.0 - self.experiment.alpha):g}%"
        return f"A run is known to keep its share if the {level} interval of what it keeps excludes a greater loss."

    def _limits(self) -> Table:
        by_pairs = isinstance(self.keep, str)
        few = ("at most 1 %",) if by_pairs else ()
        columns = ("measure", "coarsest", "first that fails", self._words.failures, "of", "why", *few)
        rows: list[tuple[Cell, ...]] = [
            (str(each.measure), _name(each.coarsest), _name(each.fails), each.failures, self._failures.total,
             each.reason or None, *((_name(each.few),) if by_pairs else ()))
            for each in self.limits
        ]  # fmt: skip
        more = ("at most 1 %: the coarsest precision up to which no more of the pairs change.",) if by_pairs else ()
        return Table(self.title, columns, rows, (*self._notes, *more))

    def _runs(self) -> Table:
        experiment = self.experiment
        of_share = () if isinstance(self.keep, str) else ("decision", "kept from", "kept to", "queries needed")
        rows: list[tuple[Cell, ...]] = [
            (str(measure), run, *self._row(family, m, r))
            for m, measure in enumerate(experiment.measures)
            for family in self._families
            for r, run in enumerate(experiment.runs)
            if run != experiment.baseline
        ]
        columns = ("measure", "run", "coarsest", "first that fails", self._words.failures, *of_share)
        what = "the pairs that it is in" if isinstance(self.keep, str) else "its own mean, with the first that fails"
        return Table("The coarsest scores by run", columns, rows, (f"For each run alone: {what}.",))

    def _row(self, family: Sequence[int], m: int, run: int) -> tuple[Cell, ...]:
        """Return the cells of a run: the coarsest precision, the first that fails, and how it fails with that."""
        failures = self._failures.by_run[:, m, run]
        ends = [_name(each) for each in self._ends(family, failures > 0)]
        first = _first(failures[family] > 0)
        fails = first < len(family)
        cells: tuple[Cell, ...] = (*ends, int(failures[family[first]]) if fails else 0)
        if isinstance(self.keep, str):
            return cells
        if not fails:
            return (*cells, "keeps", None, None, None)
        kept = self.experiment.means.kept(family[first], run, m, self.keep)
        return (*cells, kept.decision, *(end if np.isfinite(end) else None for end in kept[2:4]), kept.needed)

    def _all_tried(self) -> Table:
        counts, shares = self._failures.counts, self._shares
        rows: list[tuple[Cell, ...]] = [
            (str(measure), str(self.experiment.precisions[p]), int(counts[p, m]), float(shares[p, m]))
            for m, measure in enumerate(self.experiment.measures)
            for family in self._families
            for p in family
        ]
        return Table("All precisions that were tried", ("measure", "precision", self._words.failures, "share"), rows)

    @property
    def _shares(self) -> Values:
        return self._failures.counts / self._failures.total

    def drawings(self) -> dict[str, Drawing]:
        """Return the figure "failures": the share of pairs or runs that fail, by precision, a line for each measure."""
        order = [p for family in self._families for p in family]
        tried, shares = [self.experiment.precisions[p] for p in order], self._shares[order]
        return {"failures": lines_of_failures(tried, self.experiment.measures, shares, self._words.failures)}


def _name(precision: Coarsening | None) -> str | None:
    return None if precision is None else str(precision)


def _across_cutoff(measure: Measure, tried: Sequence[Coarsening], first: int) -> str:
    """Say that a band lies across the cut-off of a measure with the first failing precision, but not the one before."""
    cutoff = measure.cutoff
    around = [each for each in tried[max(first - 1, 0) : first + 1] if isinstance(each, Bands)]
    if cutoff is None or not around:
        return ""
    crossing = [cutoff + 1 not in each.starts(cutoff + 1) for each in around]
    return f"a band holds ranks {cutoff} and {cutoff + 1}" if crossing[-1] and crossing != [True, True] else ""
