"""The experiment on fused runs: which weights are best, and whether this is more than noise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from tieaware._evaluate import evaluate
from tieaware.checks.arguments import checked_seed, number, whole_number
from tieaware.checks.arrays import Values
from tieaware.checks.rounding import rounding_of
from tieaware.defaults import FUSION_FOLDS, FUSION_MEASURES
from tieaware.errors import InputError
from tieaware.evaluator import Evaluator
from tieaware.experiments.experiment import Experiment
from tieaware.inputs import Qrels, QrelsLike, Run, RunLike, as_qrels
from tieaware.measures import Measure, parse_measures
from tieaware.optimise import WeightedFusion, fuse
from tieaware.optimise.fusion import Minimum, Missing, sources_to_fuse
from tieaware.optimise.normalisation import NormalisationName
from tieaware.optimise.trial import Trial, decimals_of
from tieaware.optimise.weighted_fusion import WeightSearch
from tieaware.output.plots import COLOURS, DASHES, Axes, Drawing, colour, display_name, file_name, legend_above
from tieaware.output.tables import Cell, Table, counted, joined, significant
from tieaware.results.provenance import unanswered_queries
from tieaware.runtime.progress import stage

_MOST_STEPS = 4_000


@dataclass(frozen=True)
class Curve:
    """A mean as a step function of the weight of a run, and the chosen weight.

    `means` and `errors` are the means between the `edges`, and their standard errors over the queries; `value` is the
    mean at the chosen `weight`. `interval` are the weights around the chosen one with the same mean, and `plateau`
    those that no paired t-test separates from it. `varies` says whether any weight has another mean, even if only where
    documents tie.
    """

    run: str
    edges: Values
    means: Values
    errors: Values
    weight: float
    value: float
    interval: tuple[float, float]
    plateau: tuple[float, float]
    varies: bool = True


def _draw_weights(curves: tuple[Curve, ...], measure: str, levels: dict[str, float], ax: Axes) -> None:
    """Draw one or several curves, and the levels of other runs for comparison.

    With one curve, its standard error and the plateau are shaded.
    """
    alone = len(curves) == 1
    for i, curve in enumerate(map(thinned, curves)):
        if alone:
            _shade(ax, curve)
        name = "fused, by weight" if alone else display_name(curve.run)
        ax.stairs(curve.means, curve.edges, baseline=None, color=colour(i), linewidth=1.4,
                  linestyle=DASHES[i % len(DASHES)], label=name, zorder=3)  # fmt: skip
        best = f"best on all queries, {significant(curve.value)}" if i == 0 else "_"
        ax.plot([curve.weight], [curve.value], "o", color=colour(i), markeredgecolor="#ffffff",
                markersize=7.0, label=best, zorder=4)  # fmt: skip
    for i, (name, value) in enumerate(levels.items()):
        ax.axhline(value, color=("#000000", "#555555", "#999999")[min(i, 2)], linestyle=DASHES[(i + 1) % 5],
                   linewidth=1.2, label=f"{display_name(name)}, {significant(value)}")  # fmt: skip
    run = display_name(curves[0].run)
    ax.set(xlim=(0.0, 1.0), xlabel=f"weight of {run}" if alone else "weight of the run", ylabel=measure)
    legend_above(ax)


def _shade(ax: Axes, curve: Curve) -> None:
    """Shade the plateau of a curve, and its standard error."""
    ax.axvspan(*curve.plateau, color=COLOURS[4], alpha=0.18, linewidth=0, label="not separated from the best")
    ax.stairs(curve.means + curve.errors, curve.edges, baseline=curve.means - curve.errors, fill=True,
              color=COLOURS[0], alpha=0.2, linewidth=0, label="± one standard error")  # fmt: skip


def thinned(curve: Curve) -> Curve:
    """Return a curve with at most _MOST_STEPS steps, finer than the pixels of a figure: averages over equal intervals.

    matplotlib takes a minute for hundreds of thousands of steps.
    """
    if len(curve.means) <= _MOST_STEPS:
        return curve
    edges = np.linspace(0.0, 1.0, _MOST_STEPS + 1)
    widths = np.diff(curve.edges)

    def averaged(values: Values) -> Values:
        integral = np.interp(edges, curve.edges, np.concatenate(([0.0], np.cumsum(values * widths))))
        return np.diff(integral) * _MOST_STEPS

    return replace(curve, edges=edges, means=averaged(curve.means), errors=averaged(curve.errors))


def interval_at(edges: Values, means: Values, weight: float, value: float) -> tuple[float, float]:
    """Return the ends of the longest interval around a weight on which the mean does not change.

    With all of the weight or none, and another mean than next to it, the weight is the interval.
    """
    at = int(np.clip(np.searchsorted(edges, weight) - 1, 0, len(means) - 1))
    if weight in (0.0, 1.0) and abs(value - means[at]) > rounding_of(means, value):
        return weight, weight
    changed = np.flatnonzero(means != means[at])
    below, above = changed[changed < at], changed[changed > at]
    low = edges[below[-1] + 1] if len(below) else edges[0]
    high = edges[above[0]] if len(above) else edges[-1]
    return float(low), float(high)


_CHOSEN, _BEST = "fused, weights from other queries", "fused, weights from all queries"


def fusion(
    qrels: QrelsLike,
    runs: Mapping[str, RunLike] | Sequence[RunLike],
    measure: str | Measure | Sequence[str | Measure] = FUSION_MEASURES,
    *,
    normalise: NormalisationName = "min-max",
    missing: Missing = "least",
    minimum: Minimum | None = None,
    folds: int = FUSION_FOLDS,
    level: float = 0.95,
    restarts: int = 0,
    seed: int = 0,
    threads: int | None = None,
) -> Fusion:
    """Find the best weights of a weighted sum of runs, and test whether they are worth more than no weights at all.

    The mean of the measure is an exact step function of a weight, so that no weight is missed. For two runs, the best
    weights are known; for more, they are found by coordinate ascent. The best weights earn more on the queries that
    chose them than on others. Therefore, all folds of the queries but one choose weights, which are evaluated on that
    one, for each fold. These values are compared with those of reciprocal rank fusion and of each run alone.

    Parameters
    ----------
    qrels, runs, threads
        As for `tieaware.evaluate`; at least two runs.
    measure : str or Measure
        One measure.
    normalise, missing, minimum
        As for `tieaware.fuse`.
    folds : int
        The number of folds, from 2 to the number of queries.
    level : float
        The confidence level of the plateau and of the intervals, between 0 and 1.
    restarts : int
        With three or more runs, the number of further starts of the search, from random weights.
    seed : int
        The seed of the folds, and of the random weights.

    Raises
    ------
    InputError
        As for `tieaware.fuse`; or if there are several measures, no query has a relevant document, there are fewer
        queries than folds, or an argument is out of range.

    References
    ----------
    Bruch, S., Gai, S. and Ingber, A. (2023). An analysis of fusion functions for hybrid retrieval. ACM Transactions on
    Information Systems 42(1).

    Examples
    --------
    >>> from tieaware import samples
    >>> sample = samples.load()
    >>> runs = {"int8": sample.runs["int8-dot"], "grader": sample.runs["grader-0-10"]}
    >>> outcome = fusion(sample.qrels, runs, "nDCG@10")
    >>> outcome.weights.round(2), round(outcome.value, 4)
    (array([0.38, 0.62]), 0.3542)
    >>> outcome.is_noise, round(outcome.trial.held_out.values.mean().item(), 4)
    (True, 0.3402)
    """
    parsed = parse_measures(measure)
    if len(parsed) != 1:
        raise InputError("measure", f"must be one measure, because it chooses the weights; found {len(parsed)}")
    folds, seed = whole_number("folds", folds, 2, 2**31), checked_seed(seed)
    restarts, level = whole_number("restarts", restarts, 0, 10**6), number("level", level, 0, 1, ends=False)
    judged = as_qrels(qrels)
    _check_judged(judged, parsed[0], folds)
    # The runs are read once, although they are fused twice and also evaluated alone.
    whole = {name: source.whole() for name, source in sources_to_fuse(runs).items()}
    scale = {"normalise": normalise, "missing": missing, "minimum": minimum}
    fused = WeightedFusion(judged, whole, parsed, **scale, threads=threads)  # type: ignore[arg-type]
    with stage("searching"):
        search = WeightSearch(fused, restarts, seed)
    held_out = search.held_out(folds)
    with stage("evaluating"):
        alone = evaluate(judged, whole, parsed, threads=threads)
        rrf = evaluate(judged, fuse(whole, "rrf"), parsed, threads=threads).values[:, :, 0]
    others = np.concatenate((rrf, alone.values[:, :, 0]))
    curves = _curves(search, fused.runs, level)
    value = float(fused.evaluator.mean(fused.scores(search.weights))[0])
    decimals = decimals_of(search.weights, value, held_out.values, lambda weights: fused(weights)[:, 0].mean())
    separated = any(curve.plateau != (0.0, 1.0) for curve in curves)
    trial = Trial(parsed[0], fused.runs, search.weights, value, decimals, held_out, others, separated, level)
    return Fusion(trial, fused.queries, curves, whole, scale, alone.unanswered)


def _check_judged(judged: Qrels, measure: Measure, folds: int) -> None:
    """Raise InputError if there are fewer queries than folds, or if no judged document is relevant."""
    if len(judged.queries) < folds:
        raise InputError("folds", f"must be at most the number of queries, {len(judged.queries)}; found {folds}")
    # All judged documents tie. If even then no query has a value, no order of any documents has one.
    labels = judged.labels
    values = Evaluator(labels, [measure], offsets=judged.offsets, undefined=float("nan"))(np.zeros(len(labels)))
    if (np.isnan(values) | (not measure.definition.less_is_better) & (values == 0.0)).all():
        raise InputError(judged.name, "has no query with a relevant document, so no weight is better than another")


def _curves(search: WeightSearch, runs: tuple[str, ...], level: float) -> tuple[Curve, ...]:
    """Return the curve of each line of the search."""
    named = [len(runs) - len(search.lines) + i for i in range(len(search.lines))]
    curves = []
    for run, line in zip(named, search.lines, strict=True):
        edges = np.concatenate(([0.0], line.breaks, [1.0]))
        means, errors = line.values[:, 0], line.standard_errors()[:, 0]
        weight = float(search.weights[run])
        value = float(line.at(weight)[0])
        interval = interval_at(edges, means, weight, value)
        plateau = line.plateau(level=level)[:2]
        curves.append(Curve(runs[run], edges, means, errors, weight, value, interval, plateau, line.varies()))
    return tuple(curves)


@dataclass(frozen=True, eq=False, repr=False)
class Fusion(Experiment):
    """The best weights of runs, and what they are worth on other queries.

    Attributes
    ----------
    trial : Trial
        The best weights on all queries, which are not negative and have the sum 1, the weights and values of the folds,
        the values of reciprocal rank fusion and of each run alone, and the tests.
    queries : tuple of str or of int
        The judged queries.
    curves : tuple of Curve
        The mean as a function of the weight of a run, while the others keep their proportions: for two runs, that of
        the second; otherwise one for each run.
    given : dict of str to Run
        The runs.
    scale : dict
        The arguments `normalise`, `missing` and `minimum`.
    unanswered : dict of str to int
        The runs that leave judged queries unanswered, and how many.
    """

    trial: Trial
    queries: tuple[str | int, ...]
    curves: tuple[Curve, ...]
    given: dict[str, Run]
    scale: dict[str, Any]
    unanswered: Mapping[str, int] = field(default_factory=dict)

    @property
    def weights(self) -> Values:
        """The best weights on all queries, float64[n_runs]."""
        return self.trial.weights

    @property
    def value(self) -> float:
        """The mean of the measure with these weights: that of the run that `run` returns."""
        return self.trial.value

    def run(self, name: str | None = None, depth: int | None = None) -> Run:
        """Return the fused run with the best weights.

        Parameters
        ----------
        name, depth
            As for `tieaware.fuse`.

        Returns
        -------
        Run

        Examples
        --------
        >>> a, b = {"q1": {"d1": 1.0}, "q2": {"d2": 2.0}}, {"q1": {"d2": 0.5}, "q2": {"d1": 1.0, "d2": 1.0}}
        >>> outcome = fusion({"q1": {"d1": 1}, "q2": {"d2": 1}}, {"a": a, "b": b}, "RR", folds=2)
        >>> outcome.run().to_dict()
        {'q1': {'d1': 0.8, 'd2': 0.2}, 'q2': {'d2': 1.0, 'd1': 0.2}}
        """
        return fuse(self.given, weights=self.weights.tolist(), **self.scale, name=name, depth=depth)

    @property
    def title(self) -> str:  # type: ignore[override]
        """The title, which names the measure and the runs."""
        runs, n = " + ".join(self.trial.names), counted(len(self.queries), "query", "queries")
        return f"{self.trial.measure} of {runs}, by weight; {n}, {self.scale['normalise']}"

    heading = "Which weights should the runs have?"

    @property
    def is_flat(self) -> bool:
        """Whether all weights have the same mean, except single weights at which documents tie."""
        return all(curve.interval == (0.0, 1.0) for curve in self.curves)

    @property
    def is_noise(self) -> bool:
        """Whether the best weights may be due to chance: see `verdict`."""
        return bool(self.trial.doubts)

    def verdict(self) -> str:
        r"""Return whether to fuse the runs, the best weights, and what weights earn on other queries.

        It is called noise if chosen weights earn no more than reciprocal rank fusion or than the best run alone, or if
        no weight is separated from the best one.

        Examples
        --------
        >>> from tieaware import samples
        >>> sample = samples.load()
        >>> runs = {"int8": sample.runs["int8-dot"], "grader": sample.runs["grader-0-10"]}
        >>> print(fusion(sample.qrels, runs, "nDCG@10").verdict().replace(". ", ".\n"))
        Fuse them by RRF: the best weights are noise.
        nDCG@10 is best, 0.354, if grader has 0.6242 to 0.6250 of the weight, and int8 the rest.
        Weights chosen on other queries earn 0.340; RRF earns 0.346, and int8 alone 0.334.
        The optimum is noise: chosen weights earn no more than RRF.
        No paired t-test separates weights of grader from 0.00 to 0.65 from the best one.
        """
        lacking, measure = unanswered_queries(self.unanswered, len(self.queries)), self.trial.measure
        if self.is_flat:
            runs = joined(self.trial.names)
            varies = any(curve.varies for curve in self.curves)
            ties = ", except perhaps single weights at which documents tie" if varies else ""
            flat = f"Any weights will do: {measure} is {significant(self.value)} for all weights of {runs}{ties}."
            return " ".join(filter(None, [flat, lacking]))
        return " ".join(filter(None, [self.trial.verdict(self._optimum()), *self._plateaus(), lacking]))

    def _optimum(self) -> str:
        """Return a sentence on the best weights of two runs; "" for more runs."""
        if len(self.trial.names) > 2:
            return ""
        best = f"{self.trial.measure} is best, {significant(self.value)}, "
        first, second = self.trial.names
        low, high = self.curves[0].interval
        if low == high:
            return f"{best}if {second if low else first} has all of the weight."
        return f"{best}if {second} has {_range(low, high)} of the weight, and {first} the rest."

    def _plateaus(self) -> list[str]:
        """Return a sentence on the weights that are as good as the best, unless all are or there are several curves."""
        if len(self.curves) > 1 or self.curves[0].plateau == (0.0, 1.0):
            return []
        curve = self.curves[0]
        return [f"No paired t-test separates weights of {curve.run} from {_range(*curve.plateau)} from the best one."]

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of the tables that a command prints by default."""
        return ("fusion", "weights")

    def tables(self) -> dict[str, Table]:
        """Return the tables: means and tests, weights, the curves, the weights of each fold, and the queries.

        Their names: "fusion", "weights", "curves", "folds" and "queries".
        """
        return {
            "fusion": self._means(), "weights": self._weights(), "curves": self._points(), "folds": self._folds(),
            "queries": self._by_query(),
        }  # fmt: skip

    def _means(self) -> Table:
        trial, test = self.trial, self.trial.test
        assert test.low is not None
        assert test.high is not None
        columns = trial.others.mean(axis=1), test.difference, test.low, test.high, trial.p
        rows: list[tuple[Cell, ...]] = [
            (_CHOSEN, trial.mean, *[None] * 4),
            (_BEST, self.value, *[None] * 4),
            *zip(trial.rivals, *(column.tolist() for column in columns), strict=True),
        ]
        n_folds = len(self.trial.held_out.weights)
        notes = (
            f"weights from other queries: chosen on {n_folds - 1} of {n_folds} folds of the queries, and evaluated on "
            "the other one, in turn. weights from all queries: these look better than they are on other queries.",
            f"difference: of weights from other queries, from this run; with its {100 * trial.level:g} % confidence "
            f"interval, and Holm's p of {counted(len(trial.others), 'paired t-test')}. The p values are approximate, "
            "because the folds share the queries that choose.",
        )
        return Table(self.title, ("run", str(trial.measure), "difference", "low", "high", "p"), rows, notes)

    def _weights(self) -> Table:
        rows: list[tuple[Cell, ...]] = []
        curves = {curve.run: curve for curve in self.curves}
        for run, weight in zip(self.trial.names, self.weights.tolist(), strict=True):
            curve = curves.get(run)
            ends = (*curve.interval, *curve.plateau) if curve else self._mirrored()
            rows.append((run, weight, *ends))
        columns = ("run", "weight", "best from", "best to", "plateau from", "plateau to")
        notes = (
            "best: where the mean is that of the best weight. plateau: where no paired t-test at "
            f"{100 * self.trial.level:g} % separates it from the best; not corrected for the number of tests."
            f"{self._proportions}",
        )
        return Table("Weights chosen on all queries", columns, rows, notes)

    @property
    def _proportions(self) -> str:
        """A sentence on the weights of the other runs, if there are several."""
        return " The other runs keep their proportions." if len(self.trial.names) > 2 else ""

    def _mirrored(self) -> tuple[float, ...]:
        """Return the intervals of the first of two runs, which has the rest of the weight."""
        curve = self.curves[0]
        return tuple(1.0 - end for end in (*curve.interval[::-1], *curve.plateau[::-1]))

    def _points(self) -> Table:
        rows: list[tuple[Cell, ...]] = [
            (curve.run, *row)
            for curve in self.curves
            for row in zip(curve.edges[:-1].tolist(), curve.edges[1:].tolist(), curve.means.tolist(),
                           curve.errors.tolist(), strict=True)
        ]  # fmt: skip
        columns = ("run", "from", "to", str(self.trial.measure), "standard error")
        return Table(f"Mean {self.trial.measure} by the weight of a run", columns, rows)

    def _folds(self) -> Table:
        rows: list[tuple[Cell, ...]] = [(i + 1, *row) for i, row in enumerate(self.trial.held_out.weights.tolist())]
        return Table("Weights chosen without each fold", ("fold", *self.trial.names), rows)

    def _by_query(self) -> Table:
        values = np.vstack((self.trial.held_out.values, self.trial.others)).T.tolist()
        rows: list[tuple[Cell, ...]] = [(str(query), *row) for query, row in zip(self.queries, values, strict=True)]
        return Table(f"{self.trial.measure} of each query", ("query", _CHOSEN, *self.trial.rivals), rows)

    def drawings(self) -> dict[str, Drawing]:
        """Return a figure of all curves; with three or more runs, also one of each.

        Their names: "curve"; and "curve-…" with the number and name of each run.
        """
        means = self.trial.others.mean(axis=1).tolist()
        levels = {"weights from other queries": self.trial.mean} | dict(zip(self.trial.rivals, means, strict=True))
        shaded = (
            f"Shaded: the weights that no paired t-test at {100 * self.trial.level:g} % separates from the best, and "
            "the standard error of the mean over the queries."
        )

        def drawing(curves: tuple[Curve, ...]) -> Drawing:
            caption = f"{self.title}.{self._proportions}"
            caption = f"{caption} {shaded}" if len(curves) == 1 else caption
            measure = display_name(str(self.trial.measure))
            run = f" of {display_name(curves[0].run)}".replace(r"\$", "$") if len(curves) == 1 else ""
            draw = partial(_draw_weights, curves, measure, levels)
            return Drawing(caption, draw, (6.8, 4.8), f"The mean by weight{run}")

        figures = {"curve": drawing(self.curves)}
        if len(self.curves) > 1:
            for i, curve in enumerate(self.curves):
                figures[f"curve-{i + 1}-{file_name(curve.run)}"] = drawing((curve,))
        return figures


def _range(low: float, high: float) -> str:
    """Return the ends of an interval of weights, with as many decimals as it takes to tell them apart."""
    width = max(high - low, 1e-15)
    decimals = max(2, math.ceil(-math.log10(width)))
    return f"{low:.{decimals}f} to {high:.{decimals}f}"
