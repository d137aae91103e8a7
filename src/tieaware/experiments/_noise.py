"""The experiment on noise: what the runs are worth if their scores have noise, and which of them is then better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from tieaware.checks.arguments import number, one_of, sequence
from tieaware.checks.arrays import Values
from tieaware.checks.rounding import rounding_of
from tieaware.defaults import NOISE_MEASURES, NOISE_SIZES
from tieaware.engine.noisy_lists import NoisyLists
from tieaware.engine.prepared import unanswered
from tieaware.engine.totals import Totals
from tieaware.engine.views import View
from tieaware.errors import InputError
from tieaware.experiments.evaluating import repeatable_runs
from tieaware.experiments.experiment import Experiment
from tieaware.inputs import Qrels, QrelsLike, RunSource, as_qrels
from tieaware.inputs.runs.matching import Matched, match_whole
from tieaware.lists.grades import Missing
from tieaware.measures import Measure, parse_measures
from tieaware.output.plots import Axes, Drawing, display_name, legend_above, style
from tieaware.output.tables import Cell, Table, counted, percent, significant
from tieaware.precision import Gaussian, Gumbel, Noise, Uniform
from tieaware.runtime.progress import progress
from tieaware.runtime.threads import checked_threads

NoiseKind: TypeAlias = Literal["gaussian", "uniform", "gumbel"]
KINDS: dict[NoiseKind, type[Noise]] = {"gaussian": Gaussian, "uniform": Uniform, "gumbel": Gumbel}

# The share of a mean whose loss counts, and the most runs in colour.
LOST = 0.05
_COLOURED = 7


def noise(
    qrels: QrelsLike,
    runs: Any,
    measure: str | Measure = NOISE_MEASURES[0],
    *,
    kind: NoiseKind = "gaussian",
    sizes: Sequence[float] = NOISE_SIZES,
    threads: int | None = None,
    missing: Missing | None = None,
) -> UnderNoise:
    """Compute what the runs are worth if their scores have noise, how fragile each order is, and where two runs cross.

    Parameters
    ----------
    qrels, runs, threads, missing
        As for `tieaware.evaluate`.
    measure : str or Measure
        One measure of those that `Evaluator.under_noise` takes.
    kind : str
        "gaussian", "uniform" or "gumbel".
    sizes : sequence of float
        The sizes of the noise, at least 0 and ascending, in units of each run: the mean over its queries of the
        standard deviation of the scores of a list. So runs with scores on different scales can be compared.

    Raises
    ------
    InputError
        As for `tieaware.evaluate` and `Evaluator.under_noise`; or if an argument is out of range.

    Examples
    --------
    >>> outcome = noise({"q": {"a": 1}}, {"run": {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}}, "RR", sizes=[0, 1])
    >>> outcome.means.round(4)
    array([[1.    , 0.8908]])
    """
    parsed = parse_measures(measure)
    if len(parsed) != 1:
        raise InputError("measure", f"must be one measure; found {len(parsed)}")
    make = KINDS[one_of("kind", kind, KINDS)]
    shares = [number(f"sizes[{i}]", size, 0.0, 1e6) for i, size in enumerate(sequence("sizes", sizes, "numbers"))]
    if not shares or shares != sorted(set(shares)):
        raise InputError("sizes", "must be numbers that ascend, at least one")
    judged, workers, sources = as_qrels(qrels, missing), checked_threads(threads), repeatable_runs(runs)
    found = [_of_run(judged, source, name, parsed, make, shares, workers)
             for name, source in progress(list(sources.items()), "runs")]  # fmt: skip
    means = np.array([values.mean(axis=1) for values, _ in found])
    return UnderNoise(parsed[0], kind, tuple(sources), np.array(shares), means, np.array([unit for _, unit in found]))


def _of_run(
    judged: Qrels, source: RunSource, name: str, measures: tuple[Measure, ...], make: type[Noise],
    sizes: Sequence[float], threads: int,
) -> tuple[Values, float]:  # fmt: skip
    """Return the values of a run by size of the noise and judged query, and the unit of the sizes."""
    matched = match_whole(judged, source.whole(), name)
    lists = NoisyLists.of(measures, matched.lists, Totals.of(measures, judged.judgments).rows(matched.rows))
    unit, scores = _unit(matched), matched.scores.astype(np.float64)
    some = matched.rows >= 0
    values = np.tile(unanswered(judged.judgments, measures, [View()])[0, :, 0], (len(sizes), 1))
    for row, size in zip(values, sizes, strict=True):
        of_size = make(size * unit)  # type: ignore[call-arg]
        row[matched.rows[some]] = lists.evaluate(scores, of_size.sizes.reshape(1), of_size, threads).values[some, 0]
    return values, unit


def _unit(matched: Matched) -> float:
    """Return the mean over the judged queries of the standard deviation of the scores of a list."""
    offsets = matched.lists.offsets.tolist()
    lists = [matched.scores[offsets[q] : offsets[q + 1]] for q in np.flatnonzero(matched.rows >= 0)]
    deviations = [each[np.isfinite(each)].std(dtype=np.float64) for each in lists if np.isfinite(each).any()]
    return float(np.mean(deviations)) if deviations else 0.0


class Crossing(NamedTuple):
    """Two runs that noise puts into the other order: the better one without noise, the other, and how much noise."""

    better: str
    worse: str
    size: float


@dataclass(frozen=True, eq=False, repr=False)
class UnderNoise(Experiment):
    """The means of runs under noise of their scores.

    Attributes
    ----------
    measure : Measure
    kind : str
    runs : tuple of str
    sizes : float64[n_sizes]
        The sizes of the noise, in the units of the runs.
    means : float64[n_runs, n_sizes]
        The expected means over the queries.
    units : float64[n_runs]
        The unit of each run, in its scores.
    """

    measure: Measure
    kind: NoiseKind
    runs: tuple[str, ...]
    sizes: Values
    means: Values
    units: Values

    @property
    def title(self) -> str:  # type: ignore[override]
        """The title, which states the measure, the kind of noise and the number of runs."""
        return f"{self.measure} of {counted(len(self.runs), 'run')} under {self.kind} noise of the scores"

    heading = "How fragile are the orders of the documents?"

    @property
    def tolerated(self) -> Values:
        """The noise at which each run has lost 5 % of its mean, float64[n_runs]; infinite if it never has.

        Between two sizes, means are taken as straight lines.
        """
        return np.array([_first_below(self.sizes, row, (1.0 - LOST) * row[0]) for row in self.means])

    def crossings(self) -> list[Crossing]:
        """Return the pairs of runs whose order changes as the noise grows, in the order of the noise where they cross.

        Between two sizes, means are taken as straight lines. Each pair counts once, where it crosses first.

        Returns
        -------
        list of Crossing

        Examples
        --------
        >>> runs = {"x": {"q": {"a": 2.0, "b": 1.9, "c": 0.0}}, "y": {"q": {"b": 2.0, "a": 1.0, "c": 0.0}}}
        >>> outcome = noise({"q": {"a": 2, "b": 1}}, runs, "P@1", sizes=[0, 0.5])
        >>> outcome.crossings()
        []
        """
        found = []
        for a, b in combinations(range(len(self.runs)), 2):
            apart = self.means[a] - self.means[b]
            apart = np.where(abs(apart) <= rounding_of(self.means[a], self.means[b]), 0.0, apart)
            better, worse = (a, b) if apart[0] > 0.0 else (b, a)
            size = _first_below(self.sizes, apart * np.sign(apart[0]), 0.0)
            if size < np.inf:
                found.append(Crossing(self.runs[better], self.runs[worse], size))
        return sorted(found, key=lambda crossing: crossing.size)

    def verdict(self) -> str:
        """Return by how much noise the runs lose 5 % of their means, and how many pairs of runs change their order."""
        crossings, n_pairs = self.crossings(), len(self.runs) * (len(self.runs) - 1) // 2
        verdict = self._lost()
        if not n_pairs:
            return verdict
        if not crossings:
            return f"{verdict} No two runs change their order."
        better, worse, at = crossings[0]
        counts = f"The noise puts {len(crossings)} of {counted(n_pairs, 'pair')} of runs into the other order"
        return f"{verdict} {counts}, first {better} and {worse}, at {significant(at)}."

    def _lost(self) -> str:
        """Return a sentence on the noise at which the first and the last run have lost 5 %."""
        tolerated = self.tolerated
        first, best = int(tolerated.argmin()), int(self.means[:, 0].argmax())
        unit = "standard deviations of a list's scores"
        if not np.isfinite(tolerated[first]):
            noise = f"{self.kind} noise of {self.sizes[-1]:g} {unit}"
            return f"No run loses {percent(LOST)} of its {self.measure} by {noise}."
        noise = f"{self.kind.capitalize()} noise of {significant(tolerated[first])} {unit}"
        sentence = f"{noise} costs {self.runs[first]} {percent(LOST)} of its {self.measure}"
        if first == best or not np.isfinite(tolerated[best]):
            return f"{sentence}."
        return f"{sentence}; the best run, {self.runs[best]}, loses as much at {significant(tolerated[best])}."

    def tables(self) -> dict[str, Table]:
        """Return the means by run and size, the main table, and the pairs of runs that cross."""
        sizes = [f"{size:g}" for size in self.sizes]
        notes = (
            "The noise is in units of each run: the mean standard deviation of the scores of a list. loses 5 %: the "
            "noise at which the run has lost as much of its mean; empty if it never does.",
        )
        rows: list[tuple[Cell, ...]] = [
            (run, unit, None if np.isinf(tolerated) else float(tolerated), *means)
            for run, unit, tolerated, means in zip(
                self.runs, self.units.tolist(), self.tolerated, self.means.tolist(), strict=True
            )
        ]
        crossings = Table(
            "Pairs of runs that noise puts into the other order", ("better without noise", "worse", "noise"),
            [tuple(each) for each in self.crossings()],
        )  # fmt: skip
        return {"means": Table(self.title, ("run", "unit", "loses 5 %", *sizes), rows, notes), "crossings": crossings}

    def drawings(self) -> dict[str, Drawing]:
        """Return the figure of the means by noise."""
        caption = f"{self.title}, in standard deviations of the scores of a list. Grey: further runs."
        return {"means": Drawing(caption, self._draw, (6.2, 4.4), "Value by noise")}

    def _draw(self, ax: Axes) -> None:
        best_first = np.argsort(-self.means[:, 0], kind="stable")
        chosen = best_first[np.unique(np.linspace(0, len(best_first) - 1, min(_COLOURED, len(best_first))).astype(int))]
        # On a logarithmic axis, no noise is at the left.
        least = self.sizes[self.sizes > 0.0].min(initial=1.0)
        places = np.where(self.sizes > 0.0, self.sizes, least / 2)
        for r in set(best_first.tolist()) - set(chosen.tolist()):
            ax.plot(places, self.means[r], color="#b0b0b0", linewidth=0.7)
        for i, r in enumerate(chosen):
            ax.plot(places, self.means[r], label=display_name(self.runs[r]), linewidth=1.6, zorder=3, **style(i))
        ax.set_xscale("log")
        ax.set_xticks(places, [f"{size:g}" for size in self.sizes])
        ax.minorticks_off()
        ax.set(xlabel="noise, in standard deviations of a list's scores", ylabel=str(self.measure))
        legend_above(ax)


def _first_below(sizes: Values, values: Values, level: float) -> float:
    """Return the size at which straight lines between values first fall below a level; infinite if they never do.

    The first value is not below the level.
    """
    below = np.flatnonzero(values < level)
    if not len(below):
        return np.inf
    i = below[0]
    share = (values[i - 1] - level) / (values[i - 1] - values[i])
    return float(sizes[i - 1] + share * (sizes[i] - sizes[i - 1]))
