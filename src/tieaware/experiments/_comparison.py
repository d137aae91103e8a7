"""The comparison experiment: differences and tests of all pairs of runs, and the effect of ties on the verdicts.

A verdict says whether run A is better than run B, and whether the difference is significant. The experiment finds the
verdicts that depend on the order of tied documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import number, shown, unexpected
from tieaware.checks.arrays import Integers, Values
from tieaware.checks.rounding import merged
from tieaware.defaults import COMPARISON_MEASURES
from tieaware.engine.views import View
from tieaware.errors import InputError
from tieaware.experiments._observed_lists import (
    CutLists,
    ObservedLists,
    between_identical,
    reaches_cut,
    warn_of_cuts,
)
from tieaware.experiments._pair_figures import differences, square
from tieaware.experiments._tested_pairs import (
    TestedPairs,
    pairs_as_dicts,
    runs_and_baseline,
    runs_and_wins,
    tested_pairs,
    verdict,
    verdict_counts,
)
from tieaware.experiments.evaluating import evaluate_with_progress
from tieaware.experiments.experiment import Experiment
from tieaware.inputs import QrelsLike
from tieaware.lists.grades import Missing
from tieaware.measures import Measure, named_measures
from tieaware.output.plots import Drawing, file_name
from tieaware.output.tables import Table, counted, joined
from tieaware.results import Results, with_values
from tieaware.results.certainty import interval_figure
from tieaware.runtime.progress import progress
from tieaware.statistics import PairedTest, Resolutions
from tieaware.statistics.intervals import mean_interval
from tieaware.statistics.mean_changes import Kept, Margin, margin_of
from tieaware.statistics.multiple_comparisons import Correction, adjusted
from tieaware.statistics.procedures import CORRECTIONS, TESTS, PairTest, Procedure, checked, pairs_of
from tieaware.statistics.verdicts import resolve, resolve_t_tests


def check_bounds(least: Any, greatest: Any, shape: tuple[int, ...]) -> None:
    """Raise InputError unless both bounds are arrays of numbers in the shape of the values."""
    for name, bound, other in (("least", least, "greatest"), ("greatest", greatest, "least")):
        if bound is None:
            raise InputError(name, f"{other} is given without {name}; pass both or neither")
        is_array = isinstance(bound, np.ndarray) and bound.dtype.kind in "iuf"
        if not is_array or bound.shape != shape:
            found = f"an array of shape {bound.shape}" if is_array else shown(bound)
            raise unexpected(name, f"an array of shape {shape}, as the values of the results", found)


# The version of the keys that `Comparison.to_dict` returns.
_SCHEMA = 1
# If there are at most _FEW pairs, their table is printed by default.
_FEW = 12
# The resamples of the intervals of ranks. Their time grows with the number of pairs of runs.
_RESAMPLES = 2000


def comparison(
    qrels: QrelsLike,
    runs: Any,
    measures: str | Measure | Sequence[str | Measure] = COMPARISON_MEASURES,
    *,
    alpha: float = 0.05,
    confidence: float = 0.95,
    threads: int | None = None,
    baseline: str | None = None,
    test: PairTest = "t",
    correction: Correction | None = None,
    keep: float | str | None = None,
    tolerance: float | None = None,
    plan: float | None = None,
    consistent_only: bool = False,
    missing: Missing | None = None,
) -> Comparison:
    """Test the differences of pairs of runs, averaged over ties, and find verdicts that depend on tie orders.

    Parameters
    ----------
    qrels, runs, measures, threads, missing
        As for `tieaware.evaluate`; at least two runs and two queries. infAP is refused, because its best and worst
        orders are unknown.
    alpha : float
        The significance level, between 0 and 1.
    confidence : float
        The confidence level of the intervals in the tables, between 0 and 1. The correction does not apply to them:
        each is that of its pair alone; those of the test "tukey" are simultaneous for all runs. The intervals in the
        figure of differences have the level of the corrected tests, so they leave out 0 where a test is significant.
    baseline : str, optional
        The only run with which the other runs are compared; by default, all runs are compared with each other.
    test, correction
        As for `tieaware.Results.table`; the test "none" is not possible.
    keep : float or str, optional
        The share of the mean of the baseline that each run must keep, such as 0.99 or "99%". The verdict begins with
        the runs that keep it, that lose more, and that are open; see `tieaware.statistics.kept`.
    tolerance : float, optional
        The loss of the mean that does not matter, instead of `keep`.
    plan : float, optional
        A difference of means: the verdict then says how many queries would show it; see `Results.topics_needed`.
    consistent_only : bool
        Whether to leave out runs whose rank column or file order puts a lower score before a higher one.

    Warns
    -----
    UserWarning
        If lists end inside a tie at the common length of their run (see `tieaware.statistics.Ties`), and the cut-off
        of a measure is not less. They may have been cut there; then documents of the same score are missing.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> first = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d2": 2.0, "d1": 1.0}}
    >>> second = {"q1": {"d1": 1.0, "d2": 1.0, "d3": 0.5}, "q2": {"d2": 1.0, "d1": 2.0}}
    >>> outcome = comparison(qrels, {"first": first, "second": second}, ["RR"])
    >>> outcome.tests[0].difference, outcome.lowest[0], outcome.highest[0]      # 1 against 3/4 and 1/2
    (array([0.375]), array([0.25]), array([0.5]))
    """
    procedure = checked(test, correction)
    margin_of(keep, tolerance, baseline)
    parsed, asked = named_measures(measures)
    for measure in parsed:
        if not measure.definition.has_spread:
            raise InputError("measures", f"{measure} cannot be compared: its best and worst orders are unknown")
    views = [View("average"), View("pessimistic"), View("optimistic")]
    lists = ObservedLists()
    average, worst, best = evaluate_with_progress(
        qrels, runs, parsed, views, threads, consistent_only, lists.add, missing
    )
    average = replace(average, names=asked)
    # If less is better, the pessimistic order gives the greatest value instead of the least.
    least, greatest = np.minimum(worst.values, best.values), np.maximum(worst.values, best.values)
    outcome = compare(
        average, least, greatest, alpha=alpha, confidence=confidence, baseline=baseline, test=procedure.test,
        correction=procedure.correction, keep=keep, tolerance=tolerance, plan=plan,
    )  # fmt: skip
    cuts = {name: lists.cut_lists(name) for name in average.runs}
    reached = [name for name, cut in cuts.items() if any(reaches_cut(measure, cut) for measure in parsed)]
    warn_of_cuts(reached, [cuts[name] for name in reached])
    identical = lists.identical(average.runs, average.queries)
    same = between_identical(identical, average.runs, outcome.first, outcome.second)
    resolutions = tuple(_without_flips(effect, same) for effect in outcome.resolutions)
    turned = tuple(np.where(same, np.int8(0), each) for each in outcome.turned)
    return replace(outcome, resolutions=resolutions, cuts=tuple(cuts.values()), identical=identical, turned=turned)


def _without_flips(effect: Resolutions, same: npt.NDArray[np.bool_]) -> Resolutions:
    """Leave out the flips between runs with the same documents and scores, whose ties every tool breaks alike."""
    verdict_flips = np.where(same, np.int8(0), effect.verdict_flips)
    return replace(effect, sign_flips=effect.sign_flips & ~same, verdict_flips=verdict_flips)


def compare(
    results: Results,
    least: Values | None = None,
    greatest: Values | None = None,
    *,
    alpha: float = 0.05,
    confidence: float = 0.95,
    baseline: str | None = None,
    test: PairTest = "t",
    correction: Correction | None = None,
    keep: float | str | None = None,
    tolerance: float | None = None,
    plan: float | None = None,
) -> Comparison:
    """Test pairs of runs of existing results.

    Parameters
    ----------
    results : Results
        Results with a value for each run on each query. Those of `evaluate` do not tell whether lists were cut inside a
        tie, which `comparison` finds out, so what is said about ties then holds "as far as the lists reach".
    least, greatest : float64[n_runs, n_queries, n_measures], optional
        The least and the greatest of each value over the tie orders; by default those of the results, if they were
        evaluated with ``spread=True``. Without them, the effect of ties is not reported.
    alpha, confidence, baseline, test, correction, keep, tolerance, plan
        As for `comparison`.

    Examples
    --------
    >>> from tieaware import evaluate
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> first = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d2": 2.0, "d1": 1.0}}
    >>> second = {"q1": {"d1": 1.0, "d2": 1.0}, "q2": {"d2": 1.0, "d1": 2.0}}
    >>> compare(evaluate(qrels, {"first": first, "second": second}, "RR")).tests[0].difference
    array([0.375])
    """
    alpha = number("alpha", alpha, 0, 1, ends=False)
    confidence = number("confidence", confidence, 0, 1, ends=False)
    if not isinstance(results, Results):
        instead = "for judgments and runs call comparison(qrels, runs, measures)"
        raise InputError("results", f"must be Results, not {type(results).__name__}; {instead}")
    procedure, margin = checked(test, correction), margin_of(keep, tolerance, baseline)
    if plan is not None and not number("plan", plan, 0, 1e150):
        raise unexpected("plan", "a number above 0", "0")
    if least is None and greatest is None:
        results = with_values(results)
    if len(results.runs) < 2 or len(results.queries) < 2:
        found = f"{counted(len(results.runs), 'run')} and {counted(len(results.queries), 'query', 'queries')}"
        raise InputError("results", f"a comparison needs at least two runs and two queries; found {found}")
    if np.isnan(results.values).any():
        raise InputError("results", "cannot be compared: some runs leave queries unanswered")
    if least is None and greatest is None:
        if all(measure.definition.has_spread for measure in results.measures):
            least, greatest = results.min, results.max
    else:
        check_bounds(least, greatest, results.values.shape)
    first, second = pairs_of(results.runs, baseline)
    tests, signs, tied, turned = [], [], [], []
    for m in progress(range(len(results.measures)), "measures"):
        values = np.ascontiguousarray(results.values[:, :, m])
        verdicts = procedure.verdicts(values, first, second, alpha, confidence)
        tests.append(verdicts.test)
        signs.append(verdicts.signs)
        if least is not None and greatest is not None:
            bounds = least[:, :, m], greatest[:, :, m]
            tied.append(resolve(procedure, verdicts, values, bounds, first, second, alpha))
            if margin is not None:
                less = results.measures[m].definition.less_is_better
                turned.append(_turned(margin, values, bounds, (first, second), confidence, less_is_better=less))
    complete = results.provenance is not None and results.provenance.complete_lists
    return Comparison(
        results, first, second, tuple(tests), tuple(tied), alpha, confidence, tuple(signs), procedure, baseline,
        () if complete else None, margin=margin, plan=plan, turned=tuple(turned),
    )  # fmt: skip


def _kept(
    margin: Margin, values: Values, pairs: tuple[Integers, Integers], confidence: float, *, less_is_better: bool
) -> tuple[Kept, ...]:
    """Return whether the run of each pair keeps the margin; `pairs` has the runs and the baselines."""
    return tuple(
        margin.kept(values[base], values[run], less_is_better=less_is_better, confidence=confidence)
        for run, base in zip(*pairs, strict=True)
    )


def _turned(
    margin: Margin, values: Values, bounds: tuple[Values, Values], pairs: tuple[Integers, Integers], confidence: float,
    *, less_is_better: bool,
) -> npt.NDArray[np.int8]:  # fmt: skip
    """Return 1 for each pair in which an order of ties changes whether the run keeps the margin, 0, or -1 if undecided.

    A run keeps the margin if a t-test shows that its values have a greater mean than what the margin leaves of the
    baseline's values. So these are added as further systems.
    """
    share, loss = (1.0, margin.tolerance or 0.0) if margin.share is None else (margin.share, 0.0)
    least, greatest = (np.concatenate((each, share * each - loss)) for each in bounds)
    signs = {"keeps": 1.0, "loses": -1.0, "open": 0.0}
    kept = _kept(margin, values, pairs, confidence, less_is_better=less_is_better)
    verdict = np.array([signs[each.decision] for each in kept])
    better, worse = pairs[::-1] if less_is_better else pairs
    levels = np.full(len(verdict), 1.0 - confidence)
    return resolve_t_tests(verdict, verdict, least, greatest, better, worse + len(values), levels).verdict_flips


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Experiment):
    """The tests of pairs of runs, and the effect of tie orders on these tests.

    Attributes
    ----------
    results : Results
        The tested values: averages over ties.
    first, second : int64[n_pairs]
        The runs of each pair, as positions in the results; with a baseline, `second` is the baseline.
    tests : tuple of PairedTest
        For each measure, the tests of all pairs, before the correction.
    resolutions : tuple of Resolutions
        For each measure, the effect of tie orders on the verdicts; empty if it is unknown. A verdict flips if an order
        of the tied documents of its two runs changes it, while the p values of the other pairs, and with Tukey's HSD
        the values of the other runs, stay as they are on average.
    alpha, confidence : float
        The significance level, and the confidence level of the intervals.
    signs : tuple of float64[n_pairs]
        For each measure, the sign of each significant difference, and 0 for one that is not significant.
    procedure : Procedure
        The test and the correction: the fields ``test`` and ``correction``.
    baseline : str or None
        The run with which the others are compared; None if all runs are compared with each other.
    cuts : tuple of CutLists or None
        For each run, the common length of its lists and the number of lists that end inside a tie there; empty if the
        lists are complete, and None if they are unknown.
    identical : tuple of tuple of str
        The groups of runs with the same documents and scores, in the same order; empty if they are unknown. Between
        such runs, no sign or verdict counts as flipped by ties.
    margin : Margin or None
        What each run must keep of the baseline: the fields ``share`` and ``tolerance``; None if that was not asked.
    plan : float or None
        The difference for which the verdict plans the number of queries; None if that was not asked.
    turned : tuple of int8[n_pairs]
        With a margin, for each measure and run: 1 if an order of the tied documents changes whether it keeps the
        margin, 0 if none does, -1 if this is undecided; empty if the effect of ties is unknown.
    """

    results: Results
    first: Integers
    second: Integers
    tests: tuple[PairedTest, ...]
    resolutions: tuple[Resolutions, ...]
    alpha: float
    confidence: float
    signs: tuple[Values, ...]
    procedure: Procedure
    baseline: str | None
    cuts: tuple[CutLists, ...] | None = None
    identical: tuple[tuple[str, ...], ...] = ()
    margin: Margin | None = None
    plan: float | None = None
    turned: tuple[npt.NDArray[np.int8], ...] = ()

    @property
    def title(self) -> str:  # type: ignore[override]
        """The title, which states the pairs, the number of queries, the test and the correction."""
        n = counted(len(self.results.queries), "query", "queries")
        correction = f", {CORRECTIONS[self.procedure.correction]}" if not self.procedure.is_of_all_runs else ""
        made = self.results.provenance
        rule = "" if made is None or made.ties == "average" else f", ties: {made.ties}"
        return f"{self._compared}, {n}{rule}, {TESTS[self.procedure.test]}{correction}"

    @property
    def _compared(self) -> str:
        if self.baseline is not None:
            return f"{counted(len(self.first), 'run')} against {self.baseline}"
        return f"{counted(len(self.first), 'pair')} of {counted(len(self.results.runs), 'run')}"

    @property
    def heading(self) -> str:
        """The heading of the report: the question that the experiment answers."""
        return "Which runs are better?" if self.baseline is None else f"Which runs are better than {self.baseline}?"

    def verdict(self) -> str:
        r"""Return the best run by the first measure, how sure that is, and what the orders of ties can change.

        With a baseline, the numbers of runs that are better and worse come first. Each further measure has a sentence,
        which also says what ties can change.

        Examples
        --------
        >>> from tieaware import AP, Results
        >>> values = np.array([[0.5, 0.6, 0.7], [0.1, 0.21, 0.3]])
        >>> verdict = compare(Results(values[..., None], ("a", "b"), ("q1", "q2", "q3"), (AP,))).verdict()
        >>> print(verdict.replace(" and is", "\nand is").replace(". The", ".\nThe"))
        a has the highest mean AP, 0.600 (95% interval 0.352 to 0.848),
        and is significantly better than the other run; the effect of ties is unknown: the results have no spread.
        The difference of 0.397 has Holm's p = 7.06e-05.
        """
        sentences = verdict([self._tested(m) for m in range(len(self.tests))], self.results.unanswered)
        return " ".join([sentences, *self._plans()])

    def _plans(self) -> list[str]:
        """Say for each measure how many queries show the planned difference; with a baseline, for each run."""
        sentences = []
        for measure in self.results.names if self.plan is not None else ():
            numbers = [(each["run"], each["queries"]) for each in self._planned() if each["measure"] == measure]
            known = [f"{n:,} queries{f' for {run}' if run else ''}" for run, n in numbers if n is not None]
            if known:
                what = f"a difference of {self.plan:g} in {measure} with probability 0.8"
                sentences.append(f"To show {what} takes {joined(known)}.")
        return sentences

    def _planned(self) -> list[dict[str, Any]]:
        """Return for each measure the queries that show the planned difference; with a baseline, for each run.

        The variance is that of the differences from the baseline, or that of all pairs. None if nothing varies.
        """
        if self.plan is None:
            return []
        others: list[str | None] = [None]
        if self.baseline is not None:
            others = [run for run in self.results.runs if run != self.baseline]
        found = []
        for name in self.results.names:
            for run in others:
                pair = self.results
                if run is not None and self.baseline is not None:
                    pair = Results.concat([self.results[run], self.results[self.baseline]])
                try:
                    n = pair.topics_needed(self.plan, name, self.baseline, alpha=self.alpha)
                except InputError:
                    n = None
                found.append({"measure": name, "run": run, "queries": n})
        return found

    @property
    def lowest(self) -> tuple[Values, ...]:
        """For each measure and pair, the least difference of the means over all tie orders."""
        return tuple(each.lowest for each in self.resolutions)

    @property
    def highest(self) -> tuple[Values, ...]:
        """For each measure and pair, the largest difference of the means over all tie orders."""
        return tuple(each.highest for each in self.resolutions)

    @cached_property
    def adjusted(self) -> tuple[Values, ...]:
        """For each measure, the p values of all pairs after the correction."""
        return tuple(adjusted(test.p, self.procedure.correction) for test in self.tests)

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of the tables that a command prints by default: wins, verdicts, and pairs if they are few."""
        few = len(self.first) * len(self.tests) <= _FEW
        return ("wins", "verdicts", *(["pairs"] if few else []))

    def tables(self) -> dict[str, Table]:
        """Return four tables: all runs with those that they beat, the ranks that they may have, and two of the tests.

        The table of wins has the intervals of the means, and letters for the groups of runs that no test separates; if
        there are more groups than letters, it has the ranks instead.
        With a baseline, it has the difference of each run from it, and the verdict, and there is no table of ranks.

        Their names: "pairs", "verdicts", "wins" and "ranks".
        """
        measures = [self._tested(m) for m in range(len(self.tests))]
        ranks: dict[str, Table] = {}
        if self.baseline is None:
            ranks["ranks"] = self.results.ranks(self.confidence, resamples=_RESAMPLES)
            wins = runs_and_wins(f"Who beats whom: {self.title}", measures, ranks["ranks"])
        else:
            wins = runs_and_baseline(f"Means and verdicts: {self.title}", measures)
        start = "All " * (len(self.first) > 1) if self.baseline is None else "Intervals and ties: "
        pairs = tested_pairs(f"{start}{self.title}", measures)
        return {"pairs": pairs, "verdicts": verdict_counts(measures), "wins": wins, **ranks}

    def to_dict(self) -> dict[str, Any]:
        """Return all tests and the verdict; the keys are always the same, and described by a JSON Schema.

        Returns
        -------
        dict
        """
        measures = []
        for tested in (self._tested(m) for m in range(len(self.tests))):
            ends = zip(self.results.runs, tested.means.tolist(), *(end.tolist() for end in tested.ends), strict=True)
            means = [dict(zip(("run", "mean", "low", "high"), row, strict=True)) for row in ends]
            measures.append({"measure": tested.measure, "means": means, "pairs": pairs_as_dicts(tested)})
        unanswered = self.results.unanswered
        return {
            "schema": _SCHEMA, "sentence": self.verdict(), "queries": len(self.results.queries),
            "ties": None if self.results.provenance is None else self.results.provenance.ties,
            "test": self.procedure.test, "correction": self.procedure.correction, "alpha": self.alpha,
            "confidence": self.confidence, "baseline": self.baseline,
            "margin": None if self.margin is None else self.margin._asdict(),
            "plan": None if self.plan is None else {
                "difference": self.plan,
                "needed": self._planned(),
            },
            "runs": [{"run": run, "unanswered": unanswered.get(run, 0)} for run in self.results.runs],
            "measures": measures,
        }  # fmt: skip

    def beaten(self, m: int) -> npt.NDArray[np.bool_]:
        """Return all significant differences between runs, after the correction, as a matrix.

        Parameters
        ----------
        m : int
            The measure, as a position in the results.

        Returns
        -------
        bool[n_runs, n_runs]
            True if the row's run beats the column's run: its mean is better, and the difference is significant.

        Examples
        --------
        >>> from tieaware import AP, Results
        >>> values = np.array([[0.5, 0.6, 0.7], [0.1, 0.21, 0.3]])
        >>> compare(Results(values[..., None], ("a", "b"), ("q1", "q2", "q3"), (AP,))).beaten(0)
        array([[False,  True],
               [False, False]])
        """
        return self._tested(m).beaten()

    def drawings(self) -> dict[str, Drawing]:
        """Return three figures per measure: means with intervals, the verdicts between all runs, differences of pairs.

        Their names: "verdicts-…", unless there is a baseline, "differences-…" and "means-…", with the names of the
        measures.
        """
        figures = {}
        intervals = self.results.intervals(self.confidence)
        for m, measure in enumerate(self.results.measures):
            tested, name = self._tested(m), file_name(measure)
            if self.baseline is None:
                figures[f"verdicts-{name}"] = square(tested)
            figures[f"differences-{name}"] = differences(tested)
            figures[f"means-{name}"] = interval_figure(intervals, m)
        return figures

    def _tested(self, m: int) -> TestedPairs:
        results, measure = self.results, self.results.measures[m]
        resolutions = self.resolutions[m] if self.resolutions else None
        values = results.values[:, :, m]
        interval = mean_interval(values, level=self.confidence)
        means, ends = merged(values.mean(axis=1)), (interval.low, interval.high)
        return TestedPairs(
            results.runs, len(results.queries), means, ends, results.names[m], self.first, self.second,
            self.tests[m], self.adjusted[m], self.signs[m], resolutions, self.procedure, self.baseline,
            self.alpha, self.confidence, measure.definition.less_is_better,
            None if self.cuts is None else any(reaches_cut(measure, cut) for cut in self.cuts), self.identical,
            self.margin, self._kept(m), self.turned[m] if self.turned else None,
        )  # fmt: skip

    def _kept(self, m: int) -> tuple[Kept, ...]:
        """Return whether each run keeps what it must of the baseline; empty if that was not asked."""
        if self.margin is None:
            return ()
        values, less = self.results.values[:, :, m], self.results.measures[m].definition.less_is_better
        return _kept(self.margin, values, (self.first, self.second), self.confidence, less_is_better=less)
