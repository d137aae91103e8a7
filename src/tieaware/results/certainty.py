"""How sure the means of results are: intervals over queries, the ranks of runs, and runs that no test separates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tieaware.checks.arguments import flag, number
from tieaware.checks.arrays import Values
from tieaware.errors import InputError
from tieaware.measures import Measure
from tieaware.output.tables import Cell, Marked, Table
from tieaware.results import summaries
from tieaware.results.against_chance import AgainstChance
from tieaware.results.lookup import position_of_measure
from tieaware.results.mean_intervals import Intervals, intervals_of

if TYPE_CHECKING:
    from tieaware.statistics.intervals import IntervalMethod
    from tieaware.statistics.multiple_comparisons import Correction
    from tieaware.statistics.procedures import PairTest


class Certainty(AgainstChance):
    """The methods of `tieaware.Results` that say how sure its means are; they need `tieaware[analysis]`."""

    def intervals(
        self,
        level: float = 0.95,
        *,
        method: IntervalMethod = "t",
        baseline: str | None = None,
        ratio: bool = False,
        resamples: int = 10_000,
        seed: int = 0,
    ) -> Intervals:
        """Return the confidence interval of each mean over the queries, of each difference, or of each ratio.

        Parameters
        ----------
        level : float
            The confidence level of each single interval, between 0 and 1.
        method : str
            "t", "percentile", "bca" or "bootstrap-t", as for `tieaware.statistics.mean_interval`, which has the
            assumptions of each; ratios have no "bootstrap-t".
        baseline : str, optional
            A run. The intervals are then of the differences from its means, over the same queries.
        ratio : bool
            With a baseline: whether the intervals are of the ratios of the means instead.
        resamples, seed : int
            As for `tieaware.statistics.mean_interval`.

        Returns
        -------
        Intervals
            NaN for counts and for GMAP, whose summaries are not arithmetic means; and for the ratio to a mean of 0.

        Raises
        ------
        InputError
            If an argument is not valid, there is no such run, there are fewer than two queries, or a run does not
            answer all queries.
        MissingExtraError
            If SciPy is not installed.

        Examples
        --------
        >>> import tieaware
        >>> qrels = {f"q{i}": {"d": 1} for i in range(5)}
        >>> run = {query: {"d": 1.0, "x": 1.0 + (query > "q1")} for query in qrels}
        >>> result = tieaware.evaluate(qrels, {"bm25": run}, "RR", spread=True)
        >>> print(result.intervals())
        Means over 5 queries, ties: average
        <BLANKLINE>
        run   RR                    ties RR
        bm25  0.600 [0.430, 0.770]  57.1%
        <BLANKLINE>
        In brackets: the interval of the mean over queries (Student's t, level 0.95).
        Ties: their share of the variance if one order of the tied documents is drawn for each query.
        """
        self._check_testable("intervals")
        nothing = np.full((len(self.runs), len(self.measures)), np.nan)
        of_ties = None if self.std is None else summaries.std_of_means(self.std, self.values, self.measures)
        empty = Intervals(
            nothing, nothing, nothing, nothing, of_ties, self.runs, self.names, level, method, baseline,
            flag("ratio", ratio), title=self.title,
        )  # fmt: skip
        return intervals_of(empty, self.values, self._tested(), resamples, seed)

    def ranks(self, level: float = 0.95, *, resamples: int = 10_000, seed: int = 0) -> Table:
        """Return the ranks that each run may have by each measure, with simultaneous confidence over all runs.

        Parameters
        ----------
        level : float
            The probability, between 0 and 1, that all intervals of a measure contain the true ranks.
        resamples, seed : int
            As for `tieaware.statistics.rank_intervals`, which has the method of Mogstad et al. and its assumptions.

        Returns
        -------
        Table
            With a row for each run. For each measure, a column "AP" has the interval, such as "1–3"; data frames and
            files have the best rank there. A column is empty for counts and for GMAP, which are not arithmetic means.

        Raises
        ------
        InputError
            As for `intervals`.

        Examples
        --------
        >>> import tieaware
        >>> qrels = {f"q{i}": {"d": 1} for i in range(20)}
        >>> good = {query: {"d": 2.0, "x": 1.0, "y": 1.0} for query in qrels}
        >>> tied = {query: {"d": 1.0, "x": 1.0, "y": float(i % 3)} for i, query in enumerate(qrels)}
        >>> others = {query: {"d": 1.0, "x": 1.0, "y": float((i + 1) % 3)} for i, query in enumerate(qrels)}
        >>> print(tieaware.evaluate(qrels, {"good": good, "tied": tied, "others": others}, "RR").ranks())
        Ranks of means over 20 queries, ties: average
        <BLANKLINE>
        run     RR
        good    1–1
        tied    2–3
        others  2–3
        <BLANKLINE>
        With probability 0.95, all intervals of a measure contain the true ranks.
        """
        from tieaware.statistics.ranks_of_systems import rank_intervals

        self._check_testable("ranks")
        columns: list[list[Cell]] = [list(self.runs)]
        for at, is_tested in enumerate(self._tested()):
            if not is_tested:
                columns.append([None] * len(self.runs))
                continue
            found = rank_intervals(self._larger_is_better(at), level=level, resamples=resamples, seed=seed)
            pairs = zip(found.low.tolist(), found.high.tolist(), strict=True)
            columns.append([Marked(low, f"{low}–{high}") for low, high in pairs])
        title = f"Ranks of {self.title[0].lower()}{self.title[1:]}"
        note = f"With probability {level:g}, all intervals of a measure contain the true ranks."
        return Table(title, ("run", *self.names), list(zip(*columns, strict=True)), (note,))

    def groups(
        self,
        measure: str | Measure | None = None,
        *,
        test: PairTest = "t",
        correction: Correction | None = None,
        alpha: float = 0.05,
    ) -> tuple[tuple[str, ...], ...]:
        """Return the largest groups of runs of which no two are separated by a test, the best first.

        A run can be in several groups. That a test does not separate two runs does not show that they are equally good.

        Parameters
        ----------
        measure : str or Measure, optional
            By default the first.
        test, correction, alpha
            As for `table`.

        Returns
        -------
        tuple of tuples of str
            The runs of each group, the best mean first. The first group has the runs that are not separated from the
            best run, and not from each other.

        Raises
        ------
        KeyError
            If the measure is not among those of the results.
        InputError
            As for `intervals`; or if the measure is a count or GMAP, whose summaries are not arithmetic means.

        Examples
        --------
        >>> import tieaware
        >>> qrels = {f"q{i}": {"d": 1} for i in range(20)}
        >>> good = {query: {"d": 2.0, "x": 1.0, "y": 1.0} for query in qrels}
        >>> tied = {query: {"d": 1.0, "x": 1.0, "y": float(i % 3)} for i, query in enumerate(qrels)}
        >>> others = {query: {"d": 1.0, "x": 1.0, "y": float((i + 1) % 3)} for i, query in enumerate(qrels)}
        >>> tieaware.evaluate(qrels, {"good": good, "tied": tied, "others": others}, "RR").groups()
        (('good',), ('tied', 'others'))
        """
        from tieaware.statistics.letter_display import groups
        from tieaware.statistics.procedures import checked, pairs_of

        procedure = checked(test, correction)
        alpha = number("alpha", alpha, 0, 1, ends=False)
        if not self.measures:
            raise InputError("groups", "the results have no measure")
        self._check_testable("groups")
        place = 0 if measure is None else position_of_measure(self.measures, self.names, measure)
        if not self._tested()[place]:
            problem = f"the summary of {self.names[place]} is not an arithmetic mean, so no test compares it"
            raise InputError("measure", problem)
        values = self._larger_is_better(place)
        separated = np.zeros((len(self.runs), len(self.runs)), dtype=np.bool_)
        if len(self.runs) > 1:
            first, second = pairs_of(self.runs, None)
            separated[first, second] = procedure.verdicts(values, first, second, alpha).signs != 0.0
        return tuple(tuple(self.runs[i] for i in each) for each in groups(separated, values.mean(axis=1)))

    def _tested(self) -> list[bool]:
        """Return for each measure whether its summary is an arithmetic mean, which tests and intervals are about."""
        return [measure.definition.summary == "mean" for measure in self.measures]

    def _larger_is_better(self, place: int) -> Values:
        """Return the values of a measure, float64[n_runs, n_queries]; negative ones where less is better."""
        values = self.values[:, :, place]
        return -values if self.measures[place].definition.less_is_better else values

    def _check_testable(self, method: str) -> None:
        """Raise InputError if there are too few queries, or a run lacks values."""
        if len(self.queries) < 2:
            raise InputError(method, f"needs at least two queries; there are {len(self.queries)}")
        if np.isnan(self.values).any():
            raise InputError(method, "needs a value of each run on each query; evaluate with queries='judged'")
