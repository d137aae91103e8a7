"""The experiment on nearly known scores: the differences between runs that survive if each score may be wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import flag, number
from tieaware.checks.arrays import Values
from tieaware.checks.rounding import rounding_of
from tieaware.defaults import PRECISION_MEASURES
from tieaware.engine.means import means
from tieaware.evaluator import Evaluator
from tieaware.experiments._comparison import Comparison, compare
from tieaware.experiments.evaluating import repeatable_runs
from tieaware.experiments.experiment import Experiment
from tieaware.inputs import Qrels, QrelsLike, RunSource, as_qrels, check_numbers, match_whole
from tieaware.lists.grades import Missing
from tieaware.measures import Measure, parse_measures
from tieaware.optimise.weighted_fusion import rows_by_judgments
from tieaware.output.plots import Drawing, display_name, file_name
from tieaware.output.tables import Table, counted, joined, significant, table_by
from tieaware.results import Results
from tieaware.results.certainty import figure_of_runs
from tieaware.runtime.progress import progress
from tieaware.statistics.multiple_comparisons import Correction
from tieaware.statistics.procedures import checked, pairs_of


def bounds(
    qrels: QrelsLike,
    runs: Any,
    error: float,
    measures: str | Measure | Sequence[str | Measure] = PRECISION_MEASURES,
    *,
    relative: bool = False,
    alpha: float = 0.05,
    threads: int | None = None,
    correction: Correction = "none",
    baseline: str | None = None,
    consistent_only: bool = False,
    missing: Missing | None = None,
) -> BoundedRuns:
    """Bound the measures of runs whose scores are known only to within an error, and find the differences that survive.

    Parameters
    ----------
    qrels, runs, measures, alpha, threads, correction, baseline, consistent_only, missing
        As for `banding`.
    error : float
        How far each score may be from the true one, at least 0. With 0, only the order of tied documents is unknown.
    relative : bool
        Whether the error is a share of each score, at most 1, so that runs with scores on different scales can be
        compared. Infinite scores are known.

    Raises
    ------
    InputError
        If the error is negative or NaN, or bounds of a measure are not known; see `tieaware.Evaluator.bounds`.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> run = {"q1": {"d1": 0.52, "d2": 0.49}, "q2": {"d1": 0.6, "d2": 0.8}}
    >>> outcome = bounds(qrels, {"run": run}, 0.02, ["RR"])
    >>> outcome.least[:, :, 0], outcome.greatest[:, :, 0]
    (array([[0.5, 1. ]]), array([[1., 1.]]))
    """
    error = number("error", error, 0.0, 1.0 if flag("relative", relative) else np.inf)
    checked("t", correction)
    judged, sources, parsed = as_qrels(qrels, missing), repeatable_runs(runs, consistent_only), parse_measures(measures)
    names = tuple(sources)
    pairs_of(names, baseline)
    values, least, greatest = np.empty((3, len(names), len(judged), len(parsed)))
    exact = np.ones(len(parsed), np.bool_)
    for i, name in enumerate(progress(names, "bounds of runs")):
        evaluator, scores = _prepared(judged, sources[name], name, parsed, threads)
        # A share of an infinite score says nothing about it: such a score is taken as known.
        found = evaluator.bounds(scores, error * np.abs(scores, where=np.isfinite(scores), out=np.zeros(scores.shape))
                                 if relative else error)  # fmt: skip
        values[i], (least[i], greatest[i]) = evaluator(scores), found
        exact &= found.exact
    results = Results(values, names, tuple(judged.queries.to_list()), parsed)
    several = len(names) > 1 and len(judged) > 1
    compared = compare(
        results, least, greatest, alpha=alpha, correction=correction, baseline=baseline
    ) if several else None  # fmt: skip
    return BoundedRuns(results, least, greatest, exact, f"{100 * error:g}%" if relative else f"{error:g}", compared)


def _prepared(
    judged: Qrels, source: RunSource, name: str, measures: tuple[Measure, ...], threads: int | None
) -> tuple[Evaluator, npt.NDArray[Any]]:
    """Return an evaluator of a run's lists, in the order of the judged queries, and the scores."""
    check_numbers(judged, source, name)
    matched = match_whole(judged, source.whole(), name)
    rows, offsets = rows_by_judgments(matched.rows, matched.lists.offsets, len(judged))
    judgments = judged.judgments.values, judged.offsets
    evaluator = Evaluator(matched.labels[rows], measures, offsets=offsets, judgments=judgments, threads=threads)
    return evaluator, np.asarray(matched.scores)[rows]


@dataclass(frozen=True, eq=False, repr=False)
class BoundedRuns(Experiment):
    """The bounds of the measures of runs whose scores are known only to within an error.

    Attributes
    ----------
    results : Results
        The values by the scores as they are, averaged over ties.
    least, greatest : float64[n_runs, n_queries, n_measures]
        The bounds of each value over all orders that are possible. `experiments.compare` takes them, too.
    exact : bool[n_measures]
        Whether possible orders attain the bounds of each measure.
    error : str
        The error of each score, in words.
    compared : Comparison or None
        The tests of the pairs of runs; None for a single run or query.
    """

    results: Results
    least: Values
    greatest: Values
    exact: npt.NDArray[np.bool_]
    error: str
    compared: Comparison | None

    heading = "What do nearly known scores still show?"

    @property
    def title(self) -> str:  # type: ignore[override]
        """The title, which states the error and the number of runs and queries."""
        n_queries = counted(len(self.results.queries), "query", "queries")
        return f"Scores known to ±{self.error}: {counted(len(self.results.runs), 'run')}, {n_queries}"

    def verdict(self) -> str:
        """Return for how many pairs of runs the order and the verdict are certain; for a single run, the bounds.

        Examples
        --------
        >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
        >>> a = {"q1": {"d1": 0.9, "d2": 0.5}, "q2": {"d1": 0.5, "d2": 0.9}}
        >>> b = {"q1": {"d1": 0.5, "d2": 0.9}, "q2": {"d1": 0.55, "d2": 0.5}}
        >>> bounds(qrels, {"a": a, "b": b}, 0.1, "RR").verdict()
        'With scores known to ±0.1, the order of runs by RR is certain for 1 of 1 pair, and the verdict for 0.'
        """
        start = f"With scores known to ±{self.error}"
        names = list(map(str, self.results.measures))
        if self.compared is None:
            rows = [f"{name} of {run} from {significant(self._means[1, r, m])} to {significant(self._means[2, r, m])}"
                    for m, name in enumerate(names) for r, run in enumerate(self.results.runs)]  # fmt: skip
            sentences = [f"{start}, these are the bounds: {'; '.join(rows)}."]
        else:
            n, baseline = len(self.compared.first), self.compared.baseline
            what = "the order of runs" if baseline is None else f"the order against {baseline}"
            of = counted(n, "pair" if baseline is None else "run")
            counts = list(zip(names, self.order_certain.sum(axis=1), (self._flips == 0).sum(axis=1), strict=True))
            name, order, kept = counts[0]
            sentences = [f"{start}, {what} by {name} is certain for {order} of {of}, and the verdict for {kept}."]
            sentences += [f"By {name}, the order is certain for {order}, the verdict for {kept}."
                          for name, order, kept in counts[1:]]  # fmt: skip
        outer = [name for name, exact in zip(names, self.exact, strict=True) if not exact]
        return " ".join([*sentences, *([f"Bounds of {joined(outer)} may not be attained."] if outer else [])])

    @cached_property
    def order_certain(self) -> npt.NDArray[np.bool_]:
        """Whether the sign of each difference of means is certain: bool[n_measures, n_pairs]; no pairs for one run."""
        if self.compared is None:
            return np.zeros((len(self.exact), 0), np.bool_)
        lowest, highest = np.stack(self.compared.lowest), np.stack(self.compared.highest)
        n_measures = len(self.exact)
        rounding = rounding_of(*(each.reshape(-1, n_measures) for each in (self.least, self.greatest)), axis=0)[:, None]
        return np.asarray((lowest > rounding) | (highest < -rounding))

    @property
    def _flips(self) -> npt.NDArray[np.int8]:
        """What happens to each verdict, as in `Resolutions.verdict_flips`: int8[n_measures, n_pairs]."""
        effects = self.compared.resolutions if self.compared is not None else ()
        return np.stack([effect.verdict_flips for effect in effects]) if effects else self.order_certain.astype(np.int8)

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of the tables that a command prints by default."""
        return ("summary", "runs")

    def tables(self) -> dict[str, Table]:
        """Return three tables: a row for each measure, for each run, and for each pair of runs.

        Their names: "summary", "runs" and "pairs".
        """
        names = {"measure": self.results.measures, "run": self.results.runs}
        columns = dict(zip(("mean", "least", "greatest"), np.swapaxes(self._means, 1, 2), strict=True))
        runs = table_by("The bounds of the means", names, columns)
        return {"summary": self._summary(), "runs": runs, "pairs": self._pairs()}

    def _summary(self) -> Table:
        columns = {
            "pairs": [self.order_certain.shape[1]] * len(self.exact), "same order": self.order_certain.sum(axis=1),
            "same verdict": (self._flips == 0).sum(axis=1), "undecided": (self._flips == -1).sum(axis=1),
            "mean width": (self.greatest - self.least).mean(axis=(0, 1)),
            "bounds": np.where(self.exact, "exact", "outer"),
        }  # fmt: skip
        notes = (
            "same order: the pairs whose difference of means has the same sign for all possible scores. same verdict: "
            f"those with the same verdict ({self._tests}); undecided: those where this is not known.",
            "mean width: of the bounds of a value. bounds: exact if possible orders attain them; outer if perhaps none "
            "does, because the labels have more than two gains.",
        )
        return table_by(self.title, {"measure": self.results.measures}, columns, notes)

    @property
    def _tests(self) -> str:
        return "there is no pair" if self.compared is None else self.compared.title.partition(", ")[2]

    @cached_property
    def _means(self) -> Values:
        """The mean of each run, and its bounds: float64[3, n_runs, n_measures]."""
        return means(np.stack([self.results.values, self.least, self.greatest]), self.results.measures)

    def _pairs(self) -> Table:
        titles, pairs = ("difference", "lowest", "highest", "p"), self.compared
        first, second, *numbers = ((),) * 6 if pairs is None else (
            pairs.first, pairs.second, [test.difference for test in pairs.tests], pairs.lowest, pairs.highest,
            pairs.adjusted,
        )  # fmt: skip
        names = {"measure": self.results.measures, "run": [self.results.runs[i] for i in first]}
        columns: dict[str, npt.ArrayLike] = {
            "other": [[self.results.runs[i] for i in second]] * len(self.exact),
            **dict(zip(titles, numbers, strict=True)),
            "same order": np.where(self.order_certain, "yes", "no"),
            # The last element is that of -1.
            "same verdict": np.array(["yes", "no", "undecided"])[self._flips],
        }
        return table_by("The pairs of runs", names, columns, (f"p: {self._tests}.",))

    def drawings(self) -> dict[str, Drawing]:
        """Return a figure for each measure, "bounds-…": the mean of each run, with its bounds."""
        lines = f"all possible means, scores known to ±{self.error}"
        return {
            f"bounds-{file_name(measure)}": figure_of_runs(
                self.results.runs, self._means[:, :, m], f"{display_name(str(measure))}\nlines: {lines}", self.title,
                f"Bounds of {measure}", caption=f"The mean {measure} of each run. Lines: {lines}",
            )
            for m, measure in enumerate(self.results.measures)
        }  # fmt: skip
