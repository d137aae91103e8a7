"""The values of runs before and after coarsening, and what is kept of means, verdicts and orders."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Values
from tieaware.checks.rounding import rounding_of, without_rounding
from tieaware.experiments._coarsened_means import CoarsenedMeans
from tieaware.experiments._coarsened_pairs import Chain, CoarsenedPairs, tests_again
from tieaware.measures import Measure
from tieaware.output.tables import counted
from tieaware.precision import Coarsening
from tieaware.runtime.progress import progress
from tieaware.statistics.multiple_comparisons import Correction
from tieaware.statistics.procedures import checked, pairs_of
from tieaware.statistics.verdicts import pair_tests

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
    def differences(self) -> Values:
        """Original − coarsened values: float64[n_precisions, n_runs, n_queries, n_measures]; rounding errors are 0."""
        originals = np.stack(self.originals)
        rounding = rounding_of(originals, self.values, axis=2)
        return without_rounding(originals - self.values, rounding[:, :, None])

    @cached_property
    def means(self) -> CoarsenedMeans:
        """The means of each run before and after coarsening, and what is kept of them."""
        return CoarsenedMeans(np.stack(self.originals), self.values, self.measures, self.alpha)

    @property
    def changed(self) -> Values:
        """The p value of each run's paired t-test of coarsened against original: [n_precisions, n_runs, n_measures]."""
        return self.means.p

    @property
    def share(self) -> float:
        """The share of the mean in the columns of the tables: `keep`, or 99 %."""
        return 0.99 if isinstance(self.keep, str) else self.keep

    @cached_property
    def keeps(self) -> Integers:
        """1 where a run keeps `share` of its mean, -1 where it loses more, 0 where that is open; as for `changed`."""
        return self.means.keeps(self.share)

    @property
    def _unchanged(self) -> npt.NDArray[np.bool_]:
        return np.asarray(~self.differences.any(axis=2))

    @property
    def compared(self) -> CoarsenedPairs:
        """The pairs of runs that are compared, without tests."""
        first, second = pairs_of(self.runs, self.baseline)
        procedure = checked("t", self.correction)
        return CoarsenedPairs((), (), self.alpha, self.runs, first, second, procedure, self.baseline)

    @cached_property
    def pairs(self) -> CoarsenedPairs:
        """The tests of pairs of runs, before and after coarsening."""
        pairs = self.compared
        originals = {id(original): original for original in self.originals}
        tests = {name: pair_tests(each, pairs.first, pairs.second) for name, each in originals.items()}
        before = tuple(tests[id(original)] for original in self.originals)
        each = [*zip(self.values, self.originals, before, strict=True)]
        after = tuple(tests_again(*given, pairs.first, pairs.second) for given in progress(each, "pairs of runs"))
        return replace(pairs, before=before, after=after)

    @property
    def runs_by_queries(self) -> str:
        """The numbers of runs and queries, in words."""
        return f"{counted(len(self.runs), 'run')} × {len(self.queries)} queries"

    @property
    def correlations(self) -> tuple[Values, Values]:
        """Kendall's τ_b and τ_AP,b of the orders of runs before and after coarsening: [n_precisions, n_measures]."""
        return self.means.correlations

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
        fails = np.moveaxis(self.means.keeps(keep) < 1, 1, 2).astype(np.int64)
        return Failures(fails.sum(axis=2), fails, len(self.runs))
