"""Changes by coarser scores: the mean of each run, and what is kept of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tieaware.checks.arrays import Integers, Values
from tieaware.checks.rounding import first_greatest, rounding_of, without_rounding
from tieaware.measures import Measure
from tieaware.output.tables import significant
from tieaware.statistics import kendall_tau, paired_test, ratio_interval, tau_ap
from tieaware.statistics.mean_changes import Kept, keeping, kept


@dataclass(frozen=True)
class CoarsenedMeans:
    """The means of runs before and after coarsening, by the rule of `tieaware.statistics.kept`.

    The values `before` and `after` are float64[n_precisions, n_runs, n_queries, n_measures].
    """

    before: Values
    after: Values
    measures: Sequence[Measure]
    alpha: float

    @cached_property
    def p(self) -> Values:
        """The p value of each run's paired t-test of coarsened against original: [n_precisions, n_runs, n_measures]."""
        return paired_test(self.before, self.after, axis=2).p

    @property
    def less_is_better(self) -> list[bool]:
        """Whether less is better, by measure."""
        return [measure.definition.less_is_better for measure in self.measures]

    @cached_property
    def _sides(self) -> tuple[Values, Values]:
        """The values to keep and those kept, with the queries last; swapped for measures where less is better."""
        both = np.moveaxis(self.before, 2, 3), np.moveaxis(self.after, 2, 3)
        is_less = np.array(self.less_is_better)[:, None]
        return np.where(is_less, both[1], both[0]), np.where(is_less, both[0], both[1])

    def keeps(self, share: float) -> Integers:
        """Return 1 where a run keeps a share, -1 where it loses more, 0 where that is open, in the shape of `p`."""
        base, run = self._sides
        signs = keeping(base, run, share * base, 1.0 - self.alpha)
        return np.where(base.mean(axis=-1) <= rounding_of(base, axis=-1), 1, signs)

    def only(self, p: int) -> CoarsenedMeans:
        """Return the means with one precision."""
        return replace(self, before=self.before[p : p + 1], after=self.after[p : p + 1])

    def kept(self, p: int, run: int, m: int, share: float) -> Kept:
        """Return what a run keeps with a precision by a measure, all by position."""
        base, after = self._sides
        return kept(base[p, run, m], after[p, run, m], share, confidence=1.0 - self.alpha)

    @cached_property
    def ends(self) -> Values:
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
        """Kendall's τ_b and τ_AP,b of the orders of runs: [n_precisions, n_measures]; NaN if there is one run."""
        before, after = self.before.mean(axis=2), self.after.mean(axis=2)
        taus = np.full((2, len(before), len(self.measures)), np.nan)
        if before.shape[1] > 1:
            for p, m in np.ndindex(taus.shape[1:]):
                both = before[p, :, m], after[p, :, m]
                taus[:, p, m] = kendall_tau(*both), tau_ap(*both, ties="b")
        return taus[0], taus[1]

    def change(self, p: int, lost: Values) -> str:
        """Say how much a precision changes, by the measure by which most runs change significantly.

        `lost`, float64[n_runs, n_queries, n_measures], are the losses with this precision.
        """
        counts = (self.p[p] <= self.alpha).sum(axis=0)
        most = np.flatnonzero(counts == counts.max())
        m = int(most[first_greatest(np.abs(lost).mean(axis=(0, 1))[most])])
        mean = float(without_rounding(lost[:, :, m].mean(), rounding_of(self.before[p], self.after[p])))
        tested = f"p = {significant(float(self.p[p, 0, m]))}"
        if len(lost) > 1:
            tested = f"significantly in {counts[m]} of {len(lost)} runs"
        verb = "loses" if mean >= 0.0 else "gains"
        return f"{self.measures[m]} {verb} {significant(abs(mean))} on average ({tested}, uncorrected paired t-test)"


def largest_loss(
    lost: Values, runs: Sequence[str], queries: Sequence[str | int], measures: Sequence[Measure]
) -> str:  # fmt: skip
    """Say where the largest loss of a query is, if only one is; `lost` is float64[n_runs, n_queries, n_measures]."""
    places = np.argwhere(lost >= lost.max() - rounding_of(lost)).tolist()
    if lost.max() <= 0.0:
        return "no query loses"
    said = f"the largest loss of a query is {significant(float(lost.max()))}"
    if len(places) > 1:
        return said
    run, query, m = places[0]
    named = [str(measures[m])] * (len(measures) > 1) + [runs[run]] * (len(runs) > 1) + [f"query {queries[query]}"]
    return f"{said} ({', '.join(named)})"
