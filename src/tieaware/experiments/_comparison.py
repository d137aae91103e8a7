"""The comparison experiment: differences and tests of all pairs of runs, and the effect of ties on the verdicts.

A verdict says whether run A is better than run B, and whether the difference is significant. The experiment finds the
verdicts that depend on the order of tied documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import number, shown, unexpected
from tieaware.checks.arrays import Integers, Values
from tieaware.defaults import COMPARISON_MEASURES
from tieaware.engine.views import View
from tieaware.errors import InputError
from tieaware.experiments._comparison_figures import Pairs, Square, TestedPairs, contested
from tieaware.experiments.evaluating import evaluate_with_progress, progress
from tieaware.experiments.experiment import Experiment
from tieaware.inputs import QrelsLike
from tieaware.measures import Measure, parse_measures
from tieaware.output.plots import Drawing, display_name, file_name
from tieaware.output.tables import Cell, Table, significant
from tieaware.results import Results
from tieaware.statistics import PairedTest, Resolutions, holm, paired_test, resolve_ties
from tieaware.statistics.values import ROUNDING

# If there are at most _FEW pairs, their table is printed by default. A figure names at most _DRAWN pairs.
_FEW, _DRAWN = 12, 36


def comparison(
    qrels: QrelsLike,
    runs: Any,
    measures: str | Measure | Sequence[str | Measure] = COMPARISON_MEASURES,
    *,
    alpha: float = 0.05,
    confidence: float = 0.95,
    threads: int | None = None,
) -> Comparison:
    """Test the differences of all pairs of runs, averaged over ties, and find verdicts that depend on tie orders.

    Parameters
    ----------
    qrels, runs, measures, threads
        As in `tieaware.evaluate`; at least two runs and two queries. infAP is refused, because its best and worst
        orders are unknown.
    alpha : float
        The significance level, between 0 and 1.
    confidence : float
        The confidence level of the intervals, between 0 and 1.

    Returns
    -------
    Comparison
        The tests of all pairs, and the verdicts that depend on the order of tied documents.

    Raises
    ------
    InputError
        As `tieaware.evaluate`; or if alpha or confidence is out of range, or there are too few runs or queries.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> first = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d2": 2.0, "d1": 1.0}}
    >>> second = {"q1": {"d1": 1.0, "d2": 1.0}, "q2": {"d2": 1.0, "d1": 2.0}}
    >>> outcome = comparison(qrels, {"first": first, "second": second}, ["RR"])
    >>> outcome.tests[0].difference, outcome.lowest[0], outcome.highest[0]      # 1 against 3/4 and 1/2
    (array([0.375]), array([0.25]), array([0.5]))
    """
    parsed = parse_measures(measures)
    for measure in parsed:
        if not measure.definition.has_spread:
            raise InputError("measures", f"{measure} cannot be compared: its best and worst orders are unknown")
    views = [View("average"), View("pessimistic"), View("optimistic")]
    average, worst, best = evaluate_with_progress(qrels, runs, parsed, views, threads)
    # If less is better, the pessimistic order gives the greatest value instead of the least.
    least, greatest = np.minimum(worst.values, best.values), np.maximum(worst.values, best.values)
    return compare(average, least, greatest, alpha=alpha, confidence=confidence)


def compare(
    results: Results,
    least: Values | None = None,
    greatest: Values | None = None,
    *,
    alpha: float = 0.05,
    confidence: float = 0.95,
) -> Comparison:
    """Test all pairs of runs of existing results.

    Parameters
    ----------
    results : Results
        Results with a value for each run on each query.
    least, greatest : float64[n_runs, n_queries, n_measures], optional
        The least and the greatest of each value over the tie orders. Without them, the effect of ties is not reported.
    alpha, confidence : float
        As in `comparison`.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If alpha or confidence is out of range, there are too few runs or queries, or a run leaves a query unanswered.

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
        raise unexpected("results", "Results", shown(results))
    if len(results.runs) < 2 or len(results.queries) < 2:
        found = f"{_counted(len(results.runs), 'run')} and {len(results.queries)} queries"
        raise InputError("results", f"a comparison needs at least two runs and two queries; found {found}")
    if np.isnan(results.values).any():
        raise InputError("results", "cannot be compared: some runs leave queries unanswered")
    first, second = np.triu_indices(len(results.runs), 1)
    tests, tied = [], []
    for m in progress(range(len(results.measures)), "measures"):
        values = np.ascontiguousarray(results.values[:, :, m])
        tests.append(paired_test(values[first], values[second], confidence=confidence))
        if least is not None and greatest is not None:
            tied.append(resolve_ties(tests[-1], least[:, :, m], greatest[:, :, m], first, second, alpha))
    return Comparison(results, first, second, tuple(tests), tuple(tied), alpha, confidence)


@dataclass(frozen=True, eq=False)
class Comparison(Experiment):
    """The tests of all pairs of runs, and the effect of tie orders on these tests.

    Attributes
    ----------
    results : Results
        The tested values: averages over ties.
    first, second : int64[n_pairs]
        The runs of each pair, as positions in the results.
    tests : tuple of PairedTest
        For each measure, the paired t-tests of all pairs.
    resolutions : tuple of Resolutions
        For each measure, the effect of tie orders; empty if it is unknown.
    alpha, confidence : float
        The significance level, and the confidence level of the intervals.
    """

    results: Results
    first: Integers
    second: Integers
    tests: tuple[PairedTest, ...]
    resolutions: tuple[Resolutions, ...]
    alpha: float
    confidence: float

    @property
    def title(self) -> str:  # type: ignore[override]
        """The title, which states the number of pairs, of runs and of queries."""
        return f"{len(self.first)} pairs of {len(self.results.runs)} runs, {len(self.results.queries)} queries"

    @property
    def heading(self) -> str:
        """The heading of the report: the question that the experiment answers."""
        return "Which runs are better?"

    def verdict(self) -> str:
        r"""Return the best run by the first measure, how many runs it beats, and how many verdicts ties can change.

        Examples
        --------
        >>> from tieaware import AP, Results
        >>> values = np.array([[0.5, 0.6, 0.7], [0.1, 0.21, 0.3]])
        >>> verdict = compare(Results(values[..., None], ("a", "b"), ("q1", "q2", "q3"), (AP,))).verdict()
        >>> print(verdict.replace(" run. ", " run.\n"))
        a has the highest mean AP, 0.600, and is significantly better than the other run.
        The difference of 0.397 has Holm's p = 7.06e-05; the effect of ties is unknown.
        """
        results, measure = self.results, self.results.measures[0]
        means, order = results.values[:, :, 0].mean(axis=1), self._order(0)
        best, others = order[0], len(order) - 1
        name, extreme = results.runs[best], "lowest" if measure.definition.less_is_better else "highest"
        beats, n_pairs = int(self.beaten(0)[best].sum()), len(self.first)
        n_best = int((np.abs(means - means[best]) < ROUNDING).sum())
        which = "the other run" if others == 1 else f"{beats or 'any'} of the other {others} runs"
        better = "is significantly better than" if beats else "is not significantly better than"
        first = f"{name} has the {extreme} mean {measure}, {significant(means[best])}, and {better} {which}."
        if n_best > 1:
            first = f"{n_best} of {others + 1} runs share the {extreme} mean {measure}, {significant(means[best])}."
        if n_pairs == 1:
            difference, p = abs(float(self.tests[0].difference[0])), float(self.adjusted[0][0])
            second = f"The difference of {significant(difference)} has Holm's p = {significant(p)}"
        else:
            n = int((self.adjusted[0] < self.alpha).sum())
            second = f"{n} of {n_pairs} pairs of runs differ significantly (Holm's p below {self.alpha:g})"
        return f"{first} {second}; {self._effect_of_ties()}."

    def _effect_of_ties(self) -> str:
        """Say how many signs and verdicts the order of tied documents can change, by the first measure."""
        if not self.resolutions:
            return "the effect of ties is unknown"
        effect = self.resolutions[0]
        kinds = effect.sign_flips, effect.verdict_flips == 1, effect.verdict_flips == -1
        signs, verdicts, n_open = (int(kind.sum()) for kind in kinds)
        if not signs + verdicts + n_open:
            return "no order of the tied documents changes a sign or a verdict"
        still_open = f" ({n_open} more are open)" if n_open else ""
        return (
            f"orders of the tied documents can reverse {_counted(signs, 'difference')} and change the uncorrected "
            f"verdict of {_counted(verdicts, 'pair')}{still_open}"
        )

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
        """For each measure, the p values of all pairs after Holm's correction."""
        return tuple(holm(test.p) for test in self.tests)

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of the tables that a command prints by default: wins, verdicts, and pairs if they are few."""
        few = len(self.first) * len(self.tests) <= _FEW
        return ("wins", "verdicts", *(["pairs"] if few else []))

    def tables(self) -> dict[str, Table]:
        """Return three tables: the tests of all pairs, the counts of verdicts, and the runs that each run beats.

        Returns
        -------
        dict of str to Table
            "pairs", "verdicts" and "wins".
        """
        return {"pairs": self._pairs(), "verdicts": self._verdicts(), "wins": self._wins()}

    def beaten(self, m: int) -> npt.NDArray[np.bool_]:
        """Return all significant differences between runs, after Holm's correction, as a matrix.

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
        better = self.tests[m].difference * (-1.0 if self.results.measures[m].definition.less_is_better else 1.0)
        differs = self.adjusted[m] < self.alpha
        beaten = np.zeros((len(self.results.runs),) * 2, dtype=bool)
        beaten[self.first, self.second] = differs & (better > 0)
        beaten[self.second, self.first] = differs & (better < 0)
        return beaten

    def _wins(self) -> Table:
        runs, n = self.results.runs, len(self.results.runs)
        rows: list[tuple[Cell, ...]] = []
        for m, measure in enumerate(self.results.measures):
            beaten, means = self.beaten(m), self.results.values[:, :, m].mean(axis=1)
            p, flips = np.zeros((n, n)), np.zeros((n, n), dtype=bool)
            p[self.first, self.second] = p[self.second, self.first] = self.adjusted[m]
            if self.resolutions:
                by_pair = self.resolutions[m].verdict_flips != 0
                flips[self.first, self.second] = flips[self.second, self.first] = by_pair
            order = self._order(m)
            for run in order[beaten[order].any(axis=1)]:
                whom = order[beaten[run, order]]
                rows.append(
                    (
                        str(measure), runs[run], float(means[run]), len(whom), int(beaten[:, run].sum()),
                        float(p[run, whom].max()), int(flips[run, whom].sum()) if self.resolutions else None,
                        ", ".join(runs[i] for i in whom),
                    )
                )  # fmt: skip
        columns = ("measure", "run", "mean", "beats", "lost to", "p at most", "ties flip", "whom it beats")
        notes = [
            f"beats, lost to: the number of the other {n - 1} runs that are significantly worse, or better, at "
            f"{self.alpha} (paired t-test, two-sided, Holm's correction for the {len(self.first)} pairs of a measure). "
            "Runs that beat no other are left out. p at most: the largest p among the beaten runs. ties flip: the "
            "number of beaten runs for which an order of the tied documents moves the uncorrected p across the level, "
            "or may; –: unknown."
        ]
        if not rows:
            notes = [f"No run beats another significantly: after Holm's correction no p is below {self.alpha}."]
        return Table(f"Who beats whom: {self.title}", columns, rows, tuple(notes))

    def _pairs(self) -> Table:
        rows: list[tuple[Cell, ...]] = []
        runs = self.results.runs
        for m, (measure, test, adjusted) in enumerate(
            zip(self.results.measures, self.tests, self.adjusted, strict=True)
        ):
            tied = [self._ties(m, i) for i in range(len(self.first))]
            columns = (test.difference, test.low, test.high, test.p, adjusted)
            numbers = zip(*(np.asarray(column).tolist() for column in columns), strict=True)
            for a, b, tested, ties in zip(self.first, self.second, numbers, tied, strict=True):
                rows.append((str(measure), runs[a], runs[b], *tested, *ties))
        names = (
            "measure", "run", "against", "difference", f"{self.confidence:.0%} from", f"{self.confidence:.0%} to", "p",
            "Holm", "with ties from", "with ties to", "sign flips", "verdict flips",
        )  # fmt: skip
        notes = [
            f"difference: of the means over {len(self.results.queries)} queries, with its confidence interval. p: "
            f"paired t-test, two-sided. Holm: p corrected for the {len(self.first)} pairs of a measure.",
        ]
        if self.resolutions:
            notes.append(
                "with ties: the least and the largest difference over all orders of the tied documents, chosen for "
                "each run separately. sign flips: yes if some order reverses the sign. verdict flips: yes if an order "
                f"was found that moves the uncorrected p across {self.alpha}; no if none can; otherwise open."
            )
        else:
            notes.append("–: unknown.")
        return Table(f"All {self.title}", names, rows, tuple(notes))

    def _ties(self, m: int, i: int) -> tuple[Cell, ...]:
        """Return the cells of pair i about ties: least and largest difference, and whether sign and verdict flip."""
        if not self.resolutions:
            return (None,) * 4
        effect = self.resolutions[m]
        verdict = ("no", "yes", "open")[effect.verdict_flips[i]]
        return float(effect.lowest[i]), float(effect.highest[i]), "yes" if effect.sign_flips[i] else "no", verdict

    def _verdicts(self) -> Table:
        rows: list[tuple[Cell, ...]] = []
        for m, (measure, test) in enumerate(zip(self.results.measures, self.tests, strict=True)):
            counts: tuple[Cell, ...] = (None,) * 3
            if self.resolutions:
                effect = self.resolutions[m]
                flips = effect.verdict_flips
                counts = int(effect.sign_flips.sum()), int((flips == 1).sum()), int((flips == -1).sum())
            significant = int((test.p < self.alpha).sum()), int((self.adjusted[m] < self.alpha).sum())
            rows.append((str(measure), len(self.first), *significant, *counts))
        columns = ("measure", "pairs", "significant", "by Holm", "sign flips", "verdict flips", "verdict open")
        return Table("The number of pairs by verdict", columns, rows)

    def drawings(self) -> dict[str, Drawing]:
        """Return two figures per measure: the differences of all pairs, and the verdicts between all runs.

        Returns
        -------
        dict of str to Drawing
            "differences-…" and "verdicts-…", with the names of the measures.
        """
        figures = {}
        longest = max(len(display_name(run)) for run in self.results.runs)
        side = max(4.5, min(0.16 * len(self.results.runs), 7.0) + 1.6 + 0.06 * longest)
        for m, measure in enumerate(self.results.measures):
            tested = self._tested(m)
            some = contested(tested, _DRAWN)
            pairs = f"the {len(self.first)} pairs of runs" if len(self.first) > 1 else "the pair of runs"
            if len(some) < len(self.first):
                pairs = (
                    f"{len(some)} of {len(self.first)} pairs of runs"
                    + (
                        ": first those with a verdict that an order of the ties can flip, then"
                        if self.resolutions
                        else ":"
                    )
                    + f" those with a corrected p nearest to {self.alpha:g}"
                )
            figures[f"verdicts-{file_name(measure)}"] = Drawing(
                f"{measure}: verdicts between runs. Blue: the row's run is significantly better than the column's; "
                f"orange: significantly worse; grey: neither. p: paired t-test, Holm's correction for all pairs."
                + (
                    f" ×: an order of the tied documents moves the uncorrected p across {self.alpha:g}."
                    if self.resolutions else ""
                ),
                Square(tested), (side + 0.6, side + 0.9), f"Who beats whom by {measure}",
            )  # fmt: skip
            figures[f"differences-{file_name(measure)}"] = Drawing(
                f"{measure}: {pairs}. Dot: the difference of the means, filled if significant; line: its "
                f"{self.confidence:.0%} confidence interval"
                + ("; band: its range over all orders of the tied documents; ×: an order moves the uncorrected p "
                   f"across {self.alpha:g}." if self.resolutions else "."),
                Pairs(tested, some), (7.0, 1.6 + 0.22 * len(some)), f"Pairs by {measure}",
            )  # fmt: skip
        return figures

    def _tested(self, m: int) -> TestedPairs:
        return TestedPairs(
            self.results.runs, str(self.results.measures[m]), self.first, self.second, self.tests[m], self.adjusted[m],
            self.resolutions[m] if self.resolutions else None, self.alpha, self.confidence, self._order(m),
            self.results.measures[m].definition.less_is_better,
        )  # fmt: skip

    def _order(self, m: int) -> Integers:
        """Return the runs by position, ordered by their means of measure m, the best first."""
        means = self.results.values[:, :, m].mean(axis=1)
        less_is_better = self.results.measures[m].definition.less_is_better
        return np.argsort(means if less_is_better else -means, kind="stable")


def _counted(n: int, name: str) -> str:
    return f"{n} {name}{'s' * (n != 1)}"
