"""System pairs: differences, tests, and which of their verdicts the order of tied documents can change."""

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
from tieaware.experiments._comparison_figures import OfMeasure, Pairs, Square, contested
from tieaware.experiments.evaluating import evaluate_with_progress, progress
from tieaware.experiments.experiment import Experiment
from tieaware.experiments.plots import Drawing, file_name, label
from tieaware.inputs import QrelsLike
from tieaware.measures import Measure, parse_measures
from tieaware.output.tables import Cell, Table, significant
from tieaware.results import Results
from tieaware.statistics import PairedTest, Resolutions, holm, paired_test, resolve_ties
from tieaware.statistics.values import ROUNDING

# So many rows of pairs are an answer still, and so many are drawn by name.
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
    """Compare all pairs of runs, by the average over ties, and by what any order of the tied makes of it.

    Parameters
    ----------
    qrels, runs, measures
        As in `tieaware.evaluate`; at least two runs, and two queries. infAP, of which the worst and the best order are
        not known, cannot be compared.
    alpha : float
        The level at which a difference is called significant, between 0 and 1.
    confidence : float
        Of the interval of the difference, between 0 and 1.
    threads : int or None
        None for one per core.

    Returns
    -------
    Comparison
        The tests of all pairs, and what any order of the tied documents makes of them.

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
            raise unexpected("measures", "those of which it is known what the order of ties can make", f"{measure}")
    views = [View("average"), View("pessimistic"), View("optimistic")]
    average, worst, best = evaluate_with_progress(qrels, runs, parsed, views, threads)
    # Of some measures less is better.
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
    """Compare all pairs of the runs of given results.

    Parameters
    ----------
    results : Results
        A value of each run on each query.
    least, greatest : float64[n_runs, n_queries, n_measures], optional
        What the orders of the tied documents make of each value; without them nothing is said of ties.
    alpha, confidence : float
        As in `comparison`.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If alpha or confidence is out of range, there are too few runs or queries, or a run is silent on a query.

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
        found = f"{len(results.runs)} runs and {len(results.queries)} queries"
        raise unexpected("results", "at least two runs and two queries to compare", found)
    if np.isnan(results.values).any():
        raise unexpected("results", "a value of each run on each query", "runs that are silent on some")
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
    """All pairs of runs, compared.

    Attributes
    ----------
    results : Results
        The values that were tested: averages over ties.
    first, second : int64[n_pairs]
        The runs of each pair, as positions in the results.
    tests : tuple of PairedTest
        For each measure, the paired t-tests of all pairs.
    resolutions : tuple of Resolutions
        For each measure, what ties can change; empty where nothing is known of ties.
    alpha, confidence : float
        The level of the tests, and the confidence of the intervals.
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
        """What was compared, in a line."""
        return f"{len(self.first)} pairs of {len(self.results.runs)} runs, {len(self.results.queries)} queries"

    @property
    def heading(self) -> str:
        """What was asked: the heading of the report."""
        return "Which runs are better?"

    def verdict(self) -> str:
        r"""Return which run is best and how many it beats, and how many of all verdicts hold and can change.

        Returns
        -------
        str
            Two sentences, of the first measure.

        Examples
        --------
        >>> from tieaware import AP, Results
        >>> values = np.array([[0.5, 0.6, 0.7], [0.1, 0.21, 0.3]])
        >>> verdict = compare(Results(values[..., None], ("a", "b"), ("q1", "q2", "q3"), (AP,))).verdict()
        >>> print(verdict.replace(" run. ", " run.\n"))
        a has the highest mean AP, 0.600, and is significantly better than the other run.
        The difference of 0.397 has Holm's p = 7.06e-05; nothing is known of ties.
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
        return f"{first} {second}; {self._what_ties_can()}."

    def _what_ties_can(self) -> str:
        """What the orders of the tied documents can change, by the first measure."""
        if not self.resolutions:
            return "nothing is known of ties"
        of = self.resolutions[0]
        kinds = of.sign_flips, of.verdict_flips == 1, of.verdict_flips == -1
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
        """The least difference of each pair's means that an order of the tied gives, by measure."""
        return tuple(each.lowest for each in self.resolutions)

    @property
    def highest(self) -> tuple[Values, ...]:
        """The largest, as `lowest`."""
        return tuple(each.highest for each in self.resolutions)

    @cached_property
    def adjusted(self) -> tuple[Values, ...]:
        """Holm's p values, over the pairs of each measure."""
        return tuple(holm(test.p) for test in self.tests)

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of the tables to read first: who beats whom, how many pairs do, and the pairs if they are few."""
        few = len(self.first) * len(self.tests) <= _FEW
        return ("wins", "verdicts", *(["pairs"] if few else []))

    def tables(self) -> dict[str, Table]:
        """Return the pairs, how many of them there are of each kind, and which runs each run beats.

        Returns
        -------
        dict of str to Table
            "pairs", "verdicts" and "wins".
        """
        return {"pairs": self._pairs(), "verdicts": self._verdicts(), "wins": self._wins()}

    def beaten(self, m: int) -> npt.NDArray[np.bool_]:
        """Return which runs are significantly worse than which, by a measure and after Holm's correction.

        Parameters
        ----------
        m : int
            The measure, as a position in the results.

        Returns
        -------
        bool[n_runs, n_runs]
            Whether the run of the row beats that of the column: has the greater mean, or where less is better the
            lesser.

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
            f"beats, lost to: how many of the other {n - 1} runs are significantly worse, and better, at {self.alpha}: "
            f"paired t-test, two-sided, p by Holm for the {len(self.first)} pairs of a measure. Runs that beat none "
            "do not stand here. p at most: the greatest such p among those that it beats. ties flip: for how many of "
            "these an order of the tied documents makes the uncorrected p cross the level, or may; –: nothing is known "
            "of ties."
        ]
        if not rows:
            notes = [f"No run beats another significantly: by Holm's correction no p of a pair is below {self.alpha}."]
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
            for a, b, numbers_of, ties in zip(self.first, self.second, numbers, tied, strict=True):
                rows.append((str(measure), runs[a], runs[b], *numbers_of, *ties))
        columns_of = (
            "measure", "run", "against", "difference", f"{self.confidence:.0%} from", f"{self.confidence:.0%} to", "p",
            "Holm", "with ties from", "with ties to", "sign flips", "verdict flips",
        )  # fmt: skip
        notes = [
            f"difference of the means over {len(self.results.queries)} queries, its confidence interval and p: paired "
            f"t-test, two-sided. Holm: p corrected for the {len(self.first)} pairs of a measure.",
        ]
        if self.resolutions:
            notes.append(
                "with ties: the least and the largest difference that orders of the tied documents give, which are "
                "chosen for each run apart. sign flips: whether one gives another sign. verdict flips: whether one "
                f"makes p cross {self.alpha} (uncorrected): yes, such an order was found; no, none can; open, neither "
                "was shown."
            )
        else:
            notes.append("–: nothing is known of ties.")
        return Table(f"All {self.title}", columns_of, rows, tuple(notes))

    def _ties(self, m: int, i: int) -> tuple[Cell, ...]:
        if not self.resolutions:
            return (None,) * 4
        of = self.resolutions[m]
        verdict = ("no", "yes", "open")[of.verdict_flips[i]]
        return float(of.lowest[i]), float(of.highest[i]), "yes" if of.sign_flips[i] else "no", verdict

    def _verdicts(self) -> Table:
        rows: list[tuple[Cell, ...]] = []
        for m, (measure, test) in enumerate(zip(self.results.measures, self.tests, strict=True)):
            counts: tuple[Cell, ...] = (None,) * 3
            if self.resolutions:
                of = self.resolutions[m]
                flips = of.verdict_flips
                counts = int(of.sign_flips.sum()), int((flips == 1).sum()), int((flips == -1).sum())
            significant = int((test.p < self.alpha).sum()), int((self.adjusted[m] < self.alpha).sum())
            rows.append((str(measure), len(self.first), *significant, *counts))
        columns = ("measure", "pairs", "significant", "by Holm", "sign flips", "verdict flips", "verdict open")
        return Table("How many pairs", columns, rows)

    def drawings(self) -> dict[str, Drawing]:
        """Return the figures: for each measure the differences of all pairs, and the verdicts between all runs.

        Returns
        -------
        dict of str to Drawing
            "differences-…" and "verdicts-…", with the names of the measures.
        """
        figures = {}
        longest = max(len(label(run)) for run in self.results.runs)
        side = max(4.5, min(0.16 * len(self.results.runs), 7.0) + 1.6 + 0.06 * longest)
        for m, measure in enumerate(self.results.measures):
            tested = self._tested(m)
            some = contested(tested, _DRAWN)
            pairs = f"the {len(self.first)} pairs of runs" if len(self.first) > 1 else "the pair of runs"
            if len(some) < len(self.first):
                pairs = (
                    f"{len(some)} of {len(self.first)} pairs of runs"
                    + (", first those whose verdict an order of the ties can change" if self.resolutions else "")
                    + f", those whose corrected p is nearest to {self.alpha:g}"
                )
            figures[f"verdicts-{file_name(measure)}"] = Drawing(
                f"{measure}: who is better than whom. Blue: the run of the row is significantly better than that of "
                f"the column; orange: it is worse; grey: neither. p: paired t-test, corrected by Holm for all pairs."
                + (
                    f" ×: an order of the tied documents makes the uncorrected p cross {self.alpha:g}."
                    if self.resolutions else ""
                ),
                Square(tested), (side + 0.6, side + 0.9), f"Who beats whom by {measure}",
            )  # fmt: skip
            figures[f"differences-{file_name(measure)}"] = Drawing(
                f"{measure}: {pairs}. Dot: the difference of the means, filled where it is significant; line: its "
                f"{self.confidence:.0%} confidence interval"
                + ("; band: what it is over all orders of the tied documents; ×: one makes the uncorrected p cross "
                   f"{self.alpha:g}." if self.resolutions else "."),
                Pairs(tested, some), (7.0, 1.6 + 0.22 * len(some)), f"Pairs by {measure}",
            )  # fmt: skip
        return figures

    def _tested(self, m: int) -> OfMeasure:
        return OfMeasure(
            self.results.runs, str(self.results.measures[m]), self.first, self.second, self.tests[m], self.adjusted[m],
            self.resolutions[m] if self.resolutions else None, self.alpha, self.confidence, self._order(m),
            self.results.measures[m].definition.less_is_better,
        )  # fmt: skip

    def _order(self, m: int) -> Integers:
        """The runs by a measure, the best first."""
        means = self.results.values[:, :, m].mean(axis=1)
        less_is_better = self.results.measures[m].definition.less_is_better
        return np.argsort(means if less_is_better else -means, kind="stable")


def _counted(n: int, name: str) -> str:
    return f"{n} {name}{'s' * (n != 1)}"
