"""The coarsest precision that is safe: the search for it, and the outcome with its sentences, tables and figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import checked_share
from tieaware.checks.arrays import Values
from tieaware.errors import InputError
from tieaware.experiments._coarsened_runs import (
    CoarsenedRuns,
    Failures,
    Keep,
    Tried,
    keeps_share,
    kept_share,
    only,
    together,
)
from tieaware.experiments._precision_figures import lines_of_failures
from tieaware.experiments.experiment import Experiment
from tieaware.measures import Measure
from tieaware.output.plots import Drawing
from tieaware.output.tables import Cell, Table, counted, joined, table_by
from tieaware.precision import Bands, Coarsening
from tieaware.precision.ladders import Family

# The share of the pairs that may change with the precision that is named beside the one that changes none.
_FEW = 0.01
# A search by the share of the mean ends where more than this share of the runs fail.
_HALF = 0.5
# The number of precisions that are evaluated in one pass over the runs.
_BATCH = 40
# The most measures, and the most runs without a change, that a sentence names.
_NAMED = 3


def checked_keep(keep: object, n_runs: int) -> Keep:
    """Return what has to stay, a share as a number; raise InputError if it is unknown or needs several runs."""
    if keep is None:
        return "verdicts" if n_runs > 1 else 0.99
    if keep in ("verdicts", "order"):
        if n_runs < 2:
            raise InputError("keep", f"{keep!r} needs at least two runs; with one run, write a share such as '99%'")
        return str(keep)
    return checked_share("keep", keep, "'verdicts', 'order' or ")


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
        # The experiment with the precision of each number alone. It has no tests of pairs, which take much memory.
        self._tried: dict[int, Tried] = {}

    def run(self) -> Tried:
        """Return the experiment with all precisions that were tried, from fine to coarse.

        The grid is tried up to where each measure fails clearly. Then numbers are tried between the last one that keeps
        everything, or nearly, and the next, until no number lies between them.
        """
        grid = self._family.grid
        for start in range(0, len(grid), _BATCH):
            if start and all((self._shares(keep).max(axis=0) > _limits(keep)[-1]).all() for keep in self._keeps):
                break
            self._try(grid[start : start + _BATCH])
        while more := {n for keep in self._keeps for n in self._between(keep)}:
            self._try(sorted(more))
        tried = [self._tried[n] for n in self._numbers]
        return together(tried)

    @property
    def _numbers(self) -> list[int]:
        """The numbers that were tried, from fine to coarse."""
        return sorted(self._tried, reverse=self._family.grid[0] > self._family.grid[-1])

    def _try(self, numbers: Sequence[int]) -> None:
        found = self._evaluate([self._family.precision(n) for n in numbers])
        counted = replace(found, known={keep: found.failures(keep) for keep in self._keeps})
        self._tried |= {n: only(counted, i) for i, n in enumerate(numbers)}

    def _shares(self, keep: Keep) -> Values:
        """Return the share of the pairs or runs that fail, from fine to coarse: float64[n_tried, n_measures]."""
        failures = [self._tried[n].known[keep] for n in self._numbers]
        return np.concatenate([each.counts for each in failures]) / failures[0].total

    def _between(self, keep: Keep) -> list[int]:
        """Return numbers between those where a measure fails first and the ones before."""
        numbers, found = self._numbers, []
        for limit in _limits(keep):
            for fails in (self._shares(keep) > limit).T:
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
        Why it fails: a band across the cut-off, or a single run; "no value changes" if none does with any precision;
        otherwise empty.
    few : Coarsening or None
        The coarsest precision up to which at most 1 % of the pairs change; None for a share of the mean.
    """

    measure: Measure
    coarsest: Coarsening | None
    fails: Coarsening | None
    failures: int
    reason: str
    few: Coarsening | None


class _End(NamedTuple):
    """Where a family of precisions ends: the last one before the first failure, the failing one, and its position.

    None if the finest precision fails, and if none fails.
    """

    safe: Coarsening | None
    fails: Coarsening | None = None
    at: int | None = None


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
        return self._end(self._families[0], self._fails).safe

    @property
    def _fails(self) -> npt.NDArray[np.bool_]:
        """The precisions with which something fails by some measure: bool[n_precisions]."""
        fails: npt.NDArray[np.bool_] = np.any(self._failures.counts, axis=1)
        return fails

    def _end(self, family: Sequence[int], fails: npt.NDArray[np.bool_]) -> _End:
        """Return where a family ends, given which of all precisions fail."""
        first = _first(fails[family])
        safe = self.experiment.precisions[family[first - 1]] if first else None
        if first == len(family):
            return _End(safe)
        return _End(safe, self.experiment.precisions[family[first]], family[first])

    @cached_property
    def limits(self) -> tuple[Limit, ...]:
        """How coarse scores may be by each measure, for each family of precisions."""
        return tuple(
            self._limit(family, m) for family in self._families for m in range(len(self.experiment.measures))
        )

    def _limit(self, family: Sequence[int], m: int) -> Limit:
        counts, total = self._failures.counts[:, m], self._failures.total
        end = self._end(family, counts > 0)
        few = self._end(family, counts > _FEW * total).safe if isinstance(self.keep, str) else None
        n_failures = 0 if end.at is None else int(counts[end.at])
        return Limit(self.experiment.measures[m], end.safe, end.fails, n_failures, self._reason(family, end, m), few)

    def _reason(self, family: Sequence[int], end: _End, m: int) -> str:
        """Say why the first failing precision of a family fails by measure m; if none does, whether values change."""
        if end.at is None:
            return "" if self.experiment.moved[family, :, m].any() else "no value changes"
        across = _across_cutoff(self.experiment.measures[m], end)
        decided = "" if isinstance(self.keep, str) else self._decided(end.at, m, self.keep)
        return "; ".join(filter(None, [across, self._who(family, end.at, m), decided]))

    def _decided(self, p: int, m: int, share: float) -> str:
        """Say how many of the runs that may not keep their share lose more, and how many are open."""
        runs = np.flatnonzero(self._failures.by_run[p, m]).tolist()
        n_lost = int((keeps_share(only(self.experiment, p), share)[0, :, m] < 0).sum())
        n_open = len(runs) - n_lost
        if len(runs) == 1:
            needed = kept_share(self.experiment, p, runs[0], m, share).needed
            decided = f": {needed:,} queries would decide" if needed else ""
            return f"it {'loses more' if n_lost else 'is open'}{decided}"
        parts = [f"{n_lost} {'loses' if n_lost == 1 else 'lose'} more"] if n_lost else []
        parts += [f"{n_open} {'is' if n_open == 1 else 'are'} open"] if n_open else []
        return ", ".join(parts)

    def _who(self, family: Sequence[int], p: int, m: int) -> str:
        """Name the runs of the only pair that fails, or the only run in all pairs that do, if its own values change."""
        runs, counts, by_run = self.experiment.runs, self._failures.counts[:, m], self._failures.by_run[:, m]
        moved = self.experiment.moved[p, :, m]
        in_all = np.flatnonzero(by_run[p] == counts[p])
        blamed = in_all[moved[in_all]].tolist()
        if self._failures.total == 1 or not blamed:
            return ""
        if len(in_all) == 2:
            still = [f"{runs[r]}, whose values do not change" for r in in_all if not moved[r]]
            return " against ".join([joined([runs[r] for r in blamed]), *still])
        start = f"only {runs[blamed[0]]}" if counts[p] == 1 else f"all with {runs[blamed[0]]}"
        without = self._end(family, counts > by_run[:, blamed[0]])
        unharmed = family if without.at is None else family[: family.index(without.at)]
        others = np.delete(self.experiment.moved[unharmed, :, m], blamed[0], axis=1)
        # A precision that changes no value of the other runs is not shown to be safe for them.
        return f"{start}, without which {without.safe} is safe" if without.at != p and others.any() else start

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
        words = self._words
        sentences: list[str] = []
        unharmed: list[str] = []
        without_change: list[str] = []
        for family in self._families:
            end = self._end(family, self._fails)
            finest = self.experiment.precisions[family[0]]
            if end.at is None:
                changes = self.experiment.moved[family].any()
                (unharmed if changes else without_change).append(self._named(family))
                continue
            start = f"{end.safe} is the coarsest precision that {words.coarsest}; {end.fails} {words.first}"
            if end.safe is None:
                start = words.fails.format(f"{finest}, the finest tried," if len(family) > 1 else finest)
            sentences.append(f"{start}{self._by(family, end)}.{self._few(family, end)}")
        if unharmed:
            sentences.append(f"{words.unharmed.format(joined(unharmed))}.")
        if without_change:
            values = f"No value of {' or '.join(map(str, self.experiment.measures))}"
            unknown = "which says nothing about coarser scores; try another kind of precision"
            sentences.append(f"{values} changes with {joined(without_change)}, {unknown}.")
        return " ".join([*sentences, *self._unchanged_runs()])

    def _named(self, family: Sequence[int]) -> str:
        """Return the finest and the coarsest precision of a family."""
        ends = [str(self.experiment.precisions[p]) for p in (family[0], family[-1])]
        return " to ".join(ends) if len(family) > 1 else ends[0]

    def _unchanged_runs(self) -> list[str]:
        """Name the runs of which a family of precisions changes no value, if it changes some of other runs."""
        families: dict[tuple[str, ...], list[str]] = {}
        for family in self._families:
            changes = np.any(self.experiment.moved[family], axis=(0, 2)).tolist()
            unchanged = tuple(run for run, changed in zip(self.experiment.runs, changes, strict=True) if not changed)
            if unchanged and any(changes):
                families.setdefault(unchanged, []).append(self._named(family))
        sentences = []
        for runs, names in families.items():
            others = [run for run in self.experiment.runs if run not in runs]
            more = [counted(len(runs) - _NAMED, "more run")] if len(runs) > _NAMED else []
            rest = f"{others[0]} alone" if len(others) == 1 else f"the other {len(others)} runs"
            values = f"No value of {joined([*runs[:_NAMED], *more])}"
            sentences.append(f"{values} changes with {joined(names)}, so the answer rests on {rest}.")
        return sentences

    def _by(self, family: Sequence[int], end: _End) -> str:
        """Return the measures by which the first failing precision fails, in parentheses."""
        counts, total = self._failures.counts[end.at], self._failures.total
        order = [m for m in np.argsort(-counts, kind="stable").tolist() if counts[m]]
        parts = [f"{self.experiment.measures[m]}{f': {counts[m]:,}' * (total > 1)}" for m in order[:_NAMED]]
        parts[0] += f" of {counted(total, self._words.unit)}" * (total > 1)
        more = [f"{counted(len(order) - _NAMED, 'more measure')}"] if len(order) > _NAMED else []
        reason = self._reason(family, end, order[0])
        if reason and len(order) > 1:
            reason = f"by {self.experiment.measures[order[0]]}, {reason}"
        return f" ({'; '.join(filter(None, [', '.join(parts + more), reason]))})"

    def _few(self, family: Sequence[int], end: _End) -> str:
        """Name the coarsest precision with which at most 1 % of the pairs change, if it differs from the safe one."""
        few = self._end(family, np.any(self._failures.counts > _FEW * self._failures.total, axis=1)).safe
        if not isinstance(self.keep, str) or few in (None, end.safe):
            return ""
        what = "verdicts" if self.keep == "verdicts" else "pairs of runs"
        return f" Up to {few}, at most 1 % of the {what} change."

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
        pairs = self.experiment.pairs
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
        end = self._end(family, failures > 0)
        cells: tuple[Cell, ...] = (_name(end.safe), _name(end.fails), 0 if end.at is None else int(failures[end.at]))
        if isinstance(self.keep, str):
            return cells
        if end.at is None:
            return (*cells, "keeps", None, None, None)
        kept = kept_share(self.experiment, end.at, run, m, self.keep)
        return (*cells, kept.decision, *(end if np.isfinite(end) else None for end in kept[2:4]), kept.needed)

    @property
    def _order(self) -> list[int]:
        """The positions of all precisions, family by family, from fine to coarse."""
        return [p for family in self._families for p in family]

    @property
    def _shares(self) -> Values:
        """The share of the pairs or runs that fail, in this order: float64[n_precisions, n_measures]."""
        return self._failures.counts[self._order] / self._failures.total

    def _all_tried(self) -> Table:
        tried = [self.experiment.precisions[p] for p in self._order]
        names = {"measure": self.experiment.measures, "precision": tried}
        columns = {self._words.failures: self._failures.counts[self._order].T, "share": self._shares.T}
        return table_by("All precisions that were tried", names, columns)

    def drawings(self) -> dict[str, Drawing]:
        """Return the figure "failures": the share of pairs or runs that fail, by precision, a line for each measure."""
        tried = [self.experiment.precisions[p] for p in self._order]
        return {"failures": lines_of_failures(tried, self.experiment.measures, self._shares, self._words.failures)}


def _name(precision: Coarsening | None) -> str | None:
    return None if precision is None else str(precision)


def _across_cutoff(measure: Measure, end: _End) -> str:
    """Say that a band lies across the cut-off of a measure with the first failing precision, but not the one before."""
    cutoff = measure.cutoff
    around = [each for each in (end.safe, end.fails) if isinstance(each, Bands)]
    if cutoff is None or not around:
        return ""
    crossing = [cutoff + 1 not in each.starts(cutoff + 1) for each in around]
    return f"a band holds ranks {cutoff} and {cutoff + 1}" if crossing[-1] and crossing != [True, True] else ""
