"""The values of runs before and after coarsening, and what is kept of means, verdicts and orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Scores, Values
from tieaware.checks.rounding import first_greatest, rounding_of, without_rounding
from tieaware.inputs import Run
from tieaware.measures import Measure
from tieaware.output.tables import Cell, Table, counted, significant
from tieaware.precision import Coarsening, Gap
from tieaware.runtime.progress import progress
from tieaware.statistics import kendall_tau, paired_test, ratio_interval, tau_ap
from tieaware.statistics.mean_changes import Kept, keeping, kept
from tieaware.statistics.multiple_comparisons import Correction, adjusted
from tieaware.statistics.procedures import Procedure, checked, pairs_of
from tieaware.statistics.verdicts import PairTests, pair_tests, shares_of_changes

#: The things to keep: the "verdicts" between runs, the "order" of the runs, or a share of the mean of each run.
Keep: TypeAlias = str | float


class Failures(NamedTuple):
    """The pairs or runs that fail with each precision.

    Attributes
    ----------
    counts : int64[n_precisions, n_measures]
        The pairs of runs whose verdict or order changes, or the runs that are not known to keep their share.
    by_run : int64[n_precisions, n_measures, n_runs]
        The same for each run: its pairs, none of a baseline, or 1 if it is not known to keep its share.
    total : int
        The number of all pairs or runs.
    """

    counts: Integers
    by_run: Integers
    total: int


class Chain(NamedTuple):
    """The widest group of near scores: its highest minus its lowest score, and where it is."""

    width: float
    run: str
    query: str | int


class Chains:
    """The widest group of near scores for each precision that is a `Gap`."""

    def __init__(self, precisions: Sequence[Coarsening]) -> None:
        self._precisions = precisions
        self._found: dict[tuple[int, str], Chain] = {}

    def add(self, name: str, chunk: Run) -> None:
        """Add a chunk of a run. Groups of a query that is not complete are not wider than those of the whole query."""
        scores, offsets = cast(Scores, np.asarray(chunk.scores)), np.asarray(chunk.offsets)
        for p, gap in enumerate(self._precisions):
            if isinstance(gap, Gap) and len(scores):
                width, place = gap.widest(scores, offsets)
                if (p, name) not in self._found or width > self._found[p, name].width:
                    self._found[p, name] = Chain(width, name, chunk.queries.to_list()[place])

    def widest(self, runs: Sequence[str]) -> tuple[Chain | None, ...]:
        """Return the widest group for each precision, of the first run that has it; None if there is none.

        The order of the runs decides, because threads may add the runs in any order.
        """
        found = [[self._found[p, r] for r in runs if (p, r) in self._found] for p in range(len(self._precisions))]
        return tuple(max(chains, key=lambda chain: chain.width, default=None) for chains in found)


@dataclass(frozen=True, eq=False, repr=False)
class CoarsenedRuns:
    """The values of runs before and after coarsening, with the tests of runs and of pairs of runs.

    Attributes
    ----------
    precisions : tuple of Coarsening
        The score precisions, along the first axis of `values`.
    runs : tuple of str
    queries : tuple of str or of int
        The names along the second and the third axis.
    measures : tuple of Measure
        The measures along the fourth axis.
    originals : tuple of float64[n_runs, n_queries, n_measures]
        For each precision, the values before coarsening.
    values : float64[n_precisions, n_runs, n_queries, n_measures]
        The values after coarsening.
    depth : int
        The length of the longest list.
    alpha : float
        The significance level.
    keep : str or float
        What has to stay: "verdicts", "order", or a share of each run's mean.
    correction : str
        The correction of the tests between runs.
    baseline : str or None
        The only run with which the others are compared; None if all runs are compared with each other.
    widest : tuple
        For each precision, the widest group of near scores (width, run, query); None if the precision is no `Gap`.
    known : dict
        The failures that a search has counted, by what has to stay.
    """

    precisions: tuple[Coarsening, ...]
    runs: tuple[str, ...]
    queries: tuple[str | int, ...]
    measures: tuple[Measure, ...]
    originals: tuple[Values, ...]
    values: Values
    depth: int
    alpha: float
    keep: Keep
    correction: Correction = "none"
    baseline: str | None = None
    widest: tuple[Chain | None, ...] = ()
    known: dict[Keep, Failures] = field(default_factory=dict)

    @cached_property
    def _before(self) -> Values:
        """The values before coarsening, in the shape of `values`."""
        return np.stack(self.originals)

    @cached_property
    def differences(self) -> Values:
        """Original − coarsened values: float64[n_precisions, n_runs, n_queries, n_measures]; rounding errors are 0."""
        rounding = rounding_of(self._before, self.values, axis=2)
        return without_rounding(self._before - self.values, rounding[:, :, None])

    @cached_property
    def moved(self) -> npt.NDArray[np.bool_]:
        """The runs of which some value changes, by more than rounding: bool[n_precisions, n_runs, n_measures]."""
        # Each precision alone: a search tries hundreds, and needs no differences of all values.
        return np.stack([
            (np.abs(before - after) > rounding_of(before, after, axis=1)[:, None]).any(axis=1)
            for before, after in zip(self.originals, self.values, strict=True)
        ])  # fmt: skip

    @cached_property
    def changed(self) -> Values:
        """The p value of each run's paired t-test of coarsened against original: [n_precisions, n_runs, n_measures]."""
        return paired_test(self._before, self.values, axis=2).p

    @property
    def _less_is_better(self) -> list[bool]:
        """Whether less is better, by measure."""
        return [measure.definition.less_is_better for measure in self.measures]

    @cached_property
    def _sides(self) -> tuple[Values, Values]:
        """The values to keep and those kept, with the queries last; swapped for measures where less is better."""
        both = np.moveaxis(self._before, 2, 3), np.moveaxis(self.values, 2, 3)
        is_less = np.array(self._less_is_better)[:, None]
        return np.where(is_less, both[1], both[0]), np.where(is_less, both[0], both[1])

    @property
    def share(self) -> float:
        """The share of the mean in the columns of the tables: `keep`, or 99 %."""
        return 0.99 if isinstance(self.keep, str) else self.keep

    @cached_property
    def keeps(self) -> Integers:
        """1 where a run keeps `share` of its mean, -1 where it loses more, 0 where that is open; as for `changed`."""
        return keeps_share(self, self.share)

    @cached_property
    def _ends(self) -> Values:
        """The ends of the intervals of the shares that are kept: [2, n_precisions, n_runs, n_measures]; NaN: no end."""
        base, run = self._sides
        known = base.mean(axis=-1) > rounding_of(base, axis=-1)
        ends = np.full((2, *known.shape), np.nan)
        if known.any():
            found = ratio_interval(run[known], base[known], level=1.0 - self.alpha)
            ends[:, known] = found.low, found.high
        return np.where(np.isfinite(ends), ends, np.nan)

    @cached_property
    def correlations(self) -> tuple[Values, Values]:
        """Kendall's τ_b and τ_AP,b of the orders of runs before and after coarsening: [n_precisions, n_measures].

        NaN if there is one run.
        """
        before, after = self._before.mean(axis=2), self.values.mean(axis=2)
        taus = np.full((2, len(before), len(self.measures)), np.nan)
        if before.shape[1] > 1:
            for p, m in np.ndindex(taus.shape[1:]):
                both = before[p, :, m], after[p, :, m]
                taus[:, p, m] = kendall_tau(*both), tau_ap(*both, ties="b")
        return taus[0], taus[1]

    def _change(self, p: int, lost: Values) -> str:
        """Say how much a precision changes, and where the largest loss of a query is, both by one measure.

        It is the measure by which most runs change significantly.

        `lost`, float64[n_runs, n_queries, n_measures], are the losses with this precision.
        """
        counts = (self.changed[p] <= self.alpha).sum(axis=0)
        most = np.flatnonzero(counts == counts.max())
        m = int(most[first_greatest(np.abs(lost).mean(axis=(0, 1))[most])])
        mean = float(without_rounding(lost[:, :, m].mean(), rounding_of(self._before[p], self.values[p])))
        tested = f"p = {significant(float(self.changed[p, 0, m]))}"
        if len(lost) > 1:
            tested = f"significantly in {counts[m]} of {len(lost)} runs"
        verb = "loses" if mean >= 0.0 else "gains"
        average = f"{self.measures[m]} {verb} {significant(abs(mean))} on average"
        return f"{average} ({tested}, uncorrected paired t-test); {self._largest_loss(lost[:, :, m])}"

    def _largest_loss(self, lost: Values) -> str:
        """Say where the largest of the losses float64[n_runs, n_queries] is, if only one is."""
        places = np.argwhere(lost >= lost.max() - rounding_of(lost)).tolist()
        if lost.max() <= 0.0:
            return "no query loses"
        said = f"the largest loss of a query is {significant(float(lost.max()))}"
        if len(places) > 1:
            return said
        run, query = places[0]
        named = [self.runs[run]] * (len(self.runs) > 1)
        return f"{said} ({', '.join([*named, f'query {self.queries[query]}'])})"

    @cached_property
    def pairs(self) -> CoarsenedPairs:
        """The tests of pairs of runs, before and after coarsening."""
        return CoarsenedPairs(self, *pairs_of(self.runs, self.baseline))

    @property
    def runs_by_queries(self) -> str:
        """The numbers of runs and queries, in words."""
        return f"{counted(len(self.runs), 'run')} × {len(self.queries)} queries"

    def failures(self, keep: Keep) -> Failures:
        """Count the failures of each precision, unless a search has counted them.

        Parameters
        ----------
        keep : str or float
            As the attribute `keep`.

        Returns
        -------
        Failures
        """
        if keep in self.known:
            return self.known[keep]
        if isinstance(keep, str):
            pairs = self.pairs.differing(by_order=keep == "order")
            return Failures(pairs.sum(axis=2), self.pairs.by_run(pairs), self.pairs.count)
        fails = np.moveaxis(keeps_share(self, keep) < 1, 1, 2).astype(np.int64)
        return Failures(fails.sum(axis=2), fails, len(self.runs))


# The experiment to which precisions belong.
Tried = TypeVar("Tried", bound=CoarsenedRuns)


def keeps_share(tried: CoarsenedRuns, share: float) -> Integers:
    """Return what `CoarsenedRuns.keeps` is for another share."""
    base, run = tried._sides
    signs = keeping(base, run, share * base, 1.0 - tried.alpha)
    return np.where(base.mean(axis=-1) <= rounding_of(base, axis=-1), 1, signs)


def kept_share(tried: CoarsenedRuns, p: int, run: int, m: int, share: float) -> Kept:
    """Return what a run keeps with a precision by a measure, all by position."""
    base, after = tried._sides
    return kept(base[p, run, m], after[p, run, m], share, confidence=1.0 - tried.alpha)


def only(tried: Tried, p: int) -> Tried:
    """Return the values with one precision, and what is known of its failures."""
    known = {keep: Failures(counts[p : p + 1], by_run[p : p + 1], total)
             for keep, (counts, by_run, total) in tried.known.items()}  # fmt: skip
    alone = {name: getattr(tried, name)[p : p + 1] for name in ("precisions", "originals", "values", "widest")}
    return replace(tried, **alone, known=known)


def together(parts: Sequence[Tried]) -> Tried:
    """Return the values of the same runs with the precisions of all parts, and what is known of their failures.

    All parts have the same values before coarsening, and no groups of near scores.
    """
    first, known = parts[0], {}
    for keep, of_first in first.known.items():
        counts, by_run, _ = zip(*(part.known[keep] for part in parts), strict=True)
        known[keep] = Failures(np.concatenate(counts), np.concatenate(by_run), of_first.total)
    precisions = tuple(each for part in parts for each in part.precisions)
    values, widest = np.concatenate([part.values for part in parts]), first.widest[:1] * len(precisions)
    originals = first.originals[:1] * len(precisions)
    return replace(first, precisions=precisions, originals=originals, values=values, widest=widest, known=known)


@dataclass(frozen=True, eq=False, repr=False)
class CoarsenedPairs:
    """The tests of pairs of runs, before and after each precision.

    `first` and `second` are the runs of each pair, by position; with a baseline, `second` is the baseline.
    """

    coarsened: CoarsenedRuns
    first: Integers
    second: Integers

    @cached_property
    def before(self) -> PairTests:
        """The tests before coarsening, not corrected: float64[n_precisions, n_measures, n_pairs]."""
        # Many precisions have the same values before coarsening.
        distinct = {id(each): each for each in self.coarsened.originals}
        tests = {key: pair_tests(each, self.first, self.second) for key, each in distinct.items()}
        return _stacked([tests[id(each)] for each in self.coarsened.originals])

    @cached_property
    def after(self) -> PairTests:
        """The same after coarsening."""
        each = [*zip(self.coarsened.values, self.coarsened.originals, *self.before, strict=True)]
        return _stacked([self._again(*given) for given in progress(each, "pairs of runs")])

    def _again(self, values: Values, original: Values, difference: Values, p: Values) -> PairTests:
        """Test pairs of runs with coarse values; a pair without a changed value keeps its difference and p value."""
        changed = (values != original).any(axis=1)
        difference, p = difference.copy(), p.copy()
        for m in np.flatnonzero(changed.any(axis=0)).tolist():
            some = np.flatnonzero(changed[self.first, m] | changed[self.second, m])
            difference[m, some], p[m, some] = pair_tests(
                values[:, :, m : m + 1], self.first[some], self.second[some]
            )  # fmt: skip
        return PairTests(difference, p)

    @property
    def procedure(self) -> Procedure:
        """The paired t-test, and the correction for all pairs, by one measure with one precision."""
        return checked("t", self.coarsened.correction)

    @property
    def count(self) -> int:
        """The number of pairs of runs."""
        return len(self.first)

    @property
    def named(self) -> str:
        """The pairs in words, such as "3 pairs of runs"."""
        baseline = self.coarsened.baseline
        return f"{counted(self.count, 'pair')} of {'runs' if baseline is None else f'a run and {baseline}'}"

    @property
    def described(self) -> str:
        """The test, the level and the correction, with the family of tests that is corrected."""
        family = f"{counted(self.count, 'pair')} by one measure with one precision"
        return self.procedure.described(self.coarsened.alpha, family, len(self.coarsened.runs))

    @cached_property
    def corrected(self) -> tuple[PairTests, PairTests]:
        """The tests before and after coarsening, with p values after the correction."""
        before, after = (
            PairTests(difference, np.apply_along_axis(adjusted, -1, p, self.procedure.correction))
            for difference, p in (self.before, self.after)
        )
        return before, after

    def shares(self) -> Values:
        """Return the shares of pairs with each of CHANGES, float64[5, n_precisions, n_measures]; NaN without pairs."""
        return shares_of_changes(*self.corrected, self.coarsened.alpha)

    def differing(self, *, by_order: bool) -> npt.NDArray[np.bool_]:
        """Return which pairs have another verdict, or another order: bool[n_precisions, n_measures, n_pairs]."""
        before, after = (
            np.sign(each.difference) if by_order else each.verdicts(self.coarsened.alpha) for each in self.corrected
        )
        return np.asarray(before != after)

    def by_run(self, pairs: npt.NDArray[np.bool_]) -> Integers:
        """Return how many of some pairs each run is in, [..., n_pairs] → [..., n_runs]; 0 for the baseline."""
        member = np.zeros((self.count, len(self.coarsened.runs)))
        for runs in (self.first, self.second) if self.coarsened.baseline is None else (self.first,):
            member[np.arange(self.count), runs] = 1.0
        return (pairs @ member).astype(np.int64)

    def changes(self) -> Table:
        """Return a row for each pair whose verdict changes, by measure and precision."""
        of, short = self.coarsened, self.procedure.short_correction
        numbers = [
            array
            for raw, tests in zip((self.before, self.after), self.corrected, strict=True)
            for array in (*raw, *([tests.p] if short else []))
        ]
        differ = np.swapaxes(self.differing(by_order=False), 0, 1)
        rows: list[tuple[Cell, ...]] = [
            (str(of.measures[m]), str(of.precisions[p]), of.runs[self.first[i]], of.runs[self.second[i]],
             *(float(array[p, m, i]) for array in numbers))
            for m, p, i in np.argwhere(differ).tolist()
        ]  # fmt: skip
        of_test = ("difference", "p", *([short] if short else []))
        names = ("measure", "precision", "run", "against", *of_test, *(f"{name} after" for name in of_test))
        meaning = f" p: before the correction; {short}: after it." if short else ""
        note = f"The pairs of runs whose verdict changes: {self.described}.{meaning}"
        return Table("Changed verdicts between runs", names, rows, (note,))


def _stacked(tests: Sequence[PairTests]) -> PairTests:
    """Return the tests of several precisions along a new first axis."""
    return PairTests(*map(np.stack, zip(*tests, strict=True)))
