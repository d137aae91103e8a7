"""How precise do scores need to be? Runs whose scores were coarsened, beside the same runs as they were.

`banding` coarsens by rank, in geometric bands; `precision` by any list of coarsenings. Both give a `Precision`, which
answers five questions: how far values move; how many runs change; how many verdicts between systems change; how well
the ordering of the systems is kept; and how near the worst that was seen comes to the worst that can be.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tieaware.errors import InputError
from tieaware.evaluate import QrelsLike, View
from tieaware.experiments.experiment import Experiment
from tieaware.experiments.progress import evaluate_with_progress, progress
from tieaware.experiments.table import Cell, Table
from tieaware.measures import Measure, NumRet, Values
from tieaware.plots import Drawing, file_name, label, style
from tieaware.precision import Bands, Coarsening, parse_precision
from tieaware.preparation import parse_measures
from tieaware.worst_case import known_worst_case, worst_case

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RHOS = tuple(f"{1 + i / 10:.1f}" for i in range(11))
MEASURES = ("RR", "RBP(p=0.5)", "RBP(p=0.85)", "AP", "nDCG@10")

# Differences below this are rounding: another order of adding the same numbers.
_ROUNDING = 1e-12


def banding(
    qrels: QrelsLike,
    runs: Any,
    rhos: Sequence[str | float | Fraction] = RHOS,
    measures: str | Measure | Sequence[str | Measure] = MEASURES,
    *,
    alpha: float = 0.05,
    kept: float = 0.99,
    threads: int | None = None,
) -> Precision:
    """Put the ranks of each run into geometric bands, average over each band, and compare with the run's own order.

    Parameters
    ----------
    qrels, runs
        As in `tieaware.evaluate`.
    rhos : sequence of str, Fraction, int or float
        The growth of the bands, at least 1; see `tieaware.bands`.
    measures : sequence of str or Measure
        As in `tieaware.evaluate`.
    alpha : float
        The level of the tests, between 0 and 1.
    kept : float
        The share of a run's mean that the one-sided test asks for, between 0 and 1.
    threads : int or None
        None for one per core.

    Returns
    -------
    Precision

    Raises
    ------
    InputError
        As `tieaware.evaluate`; or if a rho, alpha or kept is out of range, or there are fewer than two queries.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> run = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}
    >>> banding(qrels, run, rhos=["1", "2"], measures=["RR"]).differences[:, 0, :, 0].round(4)
    array([[0.    , 0.    ],
           [0.    , 0.0833]])
    """
    return precision(qrels, runs, [Bands(rho) for rho in rhos], measures, alpha=alpha, kept=kept, threads=threads)


def precision(
    qrels: QrelsLike,
    runs: Any,
    precisions: str | Coarsening | Sequence[str | Coarsening],
    measures: str | Measure | Sequence[str | Measure] = MEASURES,
    *,
    alpha: float = 0.05,
    kept: float = 0.99,
    threads: int | None = None,
) -> Precision:
    """Coarsen the scores of each run, and compare its average over ties with that of the scores as they were.

    Bands are compared with the run's own order, as in `banding`.

    Parameters
    ----------
    qrels, runs, measures, alpha, kept, threads
        As in `banding`.
    precisions : sequence of str or Coarsening
        Such as "decimals:2" or "bfloat16"; see `tieaware.precision`.

    Returns
    -------
    Precision

    Raises
    ------
    InputError
        As `tieaware.evaluate`; or if there is no such precision or none at all, alpha or kept is out of range, or there
        are fewer than two queries.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> run = {"q1": {"d1": 0.52, "d2": 0.49}, "q2": {"d1": 0.8, "d2": 0.6}}
    >>> precision(qrels, run, ["decimals:1", "decimals:0"], ["RR"]).values[:, 0, :, 0]
    array([[0.75, 0.5 ],
           [1.  , 0.75]])
    """
    for name, value in (("alpha", alpha), ("kept", kept)):
        if not 0.0 < value < 1.0:
            raise InputError(f"{name}={value!r}: expected a number between 0 and 1")
    several = [precisions] if isinstance(precisions, str | Coarsening) else precisions
    coarsenings = [parse_precision(each) for each in several]
    if not coarsenings:
        raise InputError("precisions: found none, expected at least one, such as 'decimals:2'")
    references = [View("run_order" if isinstance(each, Bands) else "average") for each in coarsenings]
    distinct = list(dict.fromkeys(references))
    views = [*distinct, *(View("average", each) for each in coarsenings)]
    parsed = parse_measures(measures)
    results = evaluate_with_progress(qrels, runs, [*parsed, NumRet], views, threads)
    first = results[0]
    if len(first.queries) < 2:
        raise InputError(f"qrels: {len(first.queries)} queries, expected at least 2 to compare over")
    return Precision(
        tuple(coarsenings),
        first.runs,
        first.queries,
        parsed,
        tuple(results[distinct.index(reference)].values[:, :, :-1] for reference in references),
        np.stack([result.values[:, :, :-1] for result in results[len(distinct) :]]),
        int(first.values[:, :, -1].max()),
        alpha,
        kept,
    )


@dataclass(frozen=True, eq=False)
class Precision(Experiment):
    """What coarser scores did.

    Attributes
    ----------
    precisions : tuple of Coarsening
        What the scores were coarsened to, along the first axis of the values.
    runs, queries : tuple of str
        The names along the second and the third axis.
    measures : tuple of Measure
        The measures along the fourth axis.
    originals : tuple of float64[n_runs, n_queries, n_measures]
        For each precision, the values that its own are compared with.
    values : float64[n_precisions, n_runs, n_queries, n_measures]
        The values of the coarsened scores.
    depth : int
        The length of the longest list.
    alpha, kept : float
        The level of the tests, and the share of a run's mean that the one-sided test asks for.
    """

    precisions: tuple[Coarsening, ...]
    runs: tuple[str, ...]
    queries: tuple[str, ...]
    measures: tuple[Measure, ...]
    originals: tuple[Values, ...]
    values: Values
    depth: int
    alpha: float
    kept: float

    @property
    def title(self) -> str:  # type: ignore[override]
        """What was done, in a line."""
        return (
            f"How precise do scores need to be? {len(self.runs)} runs, {len(self.queries)} queries, "
            f"{len(self.precisions)} precisions"
        )

    @cached_property
    def differences(self) -> Values:
        """Original − coarsened: float64[n_precisions, n_runs, n_queries, n_measures]. What is rounding is 0."""
        differences = np.stack(self.originals) - self.values
        differences[np.abs(differences) < _ROUNDING] = 0.0
        return differences

    @cached_property
    def changed(self) -> Values:
        """The p value of each run's paired t-test, coarsened against original: [n_precisions, n_runs, n_measures]."""
        from tieaware.statistics import paired_test

        return paired_test(np.moveaxis(self.differences, 3, 2), 0.0).p

    @cached_property
    def not_kept(self) -> Values:
        """The p value of "the coarsened mean is at most `kept` of the original", as `changed`; small: it is more."""
        from tieaware.statistics import paired_test

        surplus = self.values - self.kept * np.stack(self.originals)
        return paired_test(np.moveaxis(surplus, 3, 2), 0.0, alternative="greater").p

    @cached_property
    def pairs(self) -> _Pairs:
        """The verdicts between all pairs of runs, before and after."""
        return _Pairs.of(self)

    @cached_property
    def correlations(self) -> tuple[Values, Values]:
        """Kendall's τ_b, and τ_AP,b, of the orderings of the runs by mean: each [n_precisions, n_measures]; or NaN."""
        from tieaware.statistics import kendall_tau, tau_ap

        shape = len(self.precisions), len(self.measures)
        taus, taus_ap = np.full(shape, np.nan), np.full(shape, np.nan)
        if len(self.runs) > 1:
            for p, m in np.ndindex(shape):
                # Runs whose means differ by rounding alone are tied.
                before = self.originals[p][:, :, m].mean(axis=1).round(12)
                after = self.values[p, :, :, m].mean(axis=1).round(12)
                taus[p, m] = kendall_tau(before, after)
                taus_ap[p, m] = tau_ap(before, after, ties="b")
        return taus, taus_ap

    @cached_property
    def worst(self) -> dict[tuple[int, int], tuple[float, float]]:
        """The largest loss and gain that any ranking can have, where they are known: by precision and measure."""
        known = [
            (p, m)
            for p, each in enumerate(self.precisions)
            for m, measure in enumerate(self.measures)
            if isinstance(each, Bands) and known_worst_case(measure)
        ]
        bounds = {}
        for p, m in progress(known, "worst cases"):
            rho = self.precisions[p].rho  # type: ignore[attr-defined]
            loss, gain = (worst_case(self.measures[m], rho, max(self.depth, 1), which).value for which in (False, True))
            bounds[p, m] = loss, gain
        return bounds

    def tables(self) -> dict[str, Table]:
        """Return the summary, and the numbers of each of the five questions.

        Returns
        -------
        dict of str to Table
            "summary", "differences", "verdicts" and "runs".
        """
        return {
            "summary": self._summary(),
            "differences": self._differences(),
            "verdicts": self._verdicts(),
            "runs": self._runs(),
        }

    def _table(self, title: str, columns: Sequence[str], cells: Iterable[Any], notes: Sequence[str]) -> Table:
        """Make a row for each measure and precision of arrays [n_precisions, n_measures]."""
        rows: list[tuple[Cell, ...]] = [
            (str(measure), str(each), *(_cell(cell[p, m]) for cell in cells))
            for m, measure in enumerate(self.measures)
            for p, each in enumerate(self.precisions)
        ]
        return Table(title, ("measure", "precision", *columns), rows, tuple(notes))

    def _spans(self) -> Values:
        """All differences of a precision and measure, side by side: [n_precisions, n_measures, n_runs · n_queries]."""
        return np.moveaxis(self.differences, 3, 1).reshape(len(self.precisions), len(self.measures), -1)

    def _summary(self) -> Table:
        spans = self._spans()
        tau, tau_ap = self.correlations
        cells = [
            spans.mean(axis=2),
            (self.changed < self.alpha).sum(axis=1),
            (self.not_kept < self.alpha).sum(axis=1),
            self.pairs.shares()[0],
            tau,
            tau_ap,
        ]
        columns = ["mean loss", "runs changed", f"runs kept {self.kept:.0%}", "same verdicts", "tau", "tau AP"]
        notes = [
            f"mean loss: original − coarsened, over {len(self.runs)} runs × {len(self.queries)} queries. Bands are "
            "compared with the run's own order, all else with the average over ties of the scores as they were.",
            f"runs changed: paired t-test, p < {self.alpha}. runs kept: p < {self.alpha} in the one-sided test that "
            f"the coarsened mean is more than {self.kept:.0%} of the original.",
            f"same verdicts: share of the {self.pairs.count} pairs of runs that the paired t-test at {self.alpha} "
            "judges alike. tau: Kendall's τ_b of the orderings by mean; tau AP: τ_AP,b.",
        ]
        return self._table(self.title, columns, cells, notes)

    def _differences(self) -> Table:
        spans = self._spans()
        quantiles = np.quantile(spans, (0.1, 0.25, 0.5, 0.75, 0.9), axis=2)
        shape = spans.shape[:2]
        bounds = np.full((2, *shape), np.nan)
        for place, worst in self.worst.items():
            bounds[:, *place] = worst
        cells = [
            spans.mean(axis=2),
            spans.std(axis=2, ddof=1),
            (spans > 0.0).mean(axis=2),
            (spans < 0.0).mean(axis=2),
            *quantiles,
            spans.max(axis=2),
            bounds[0],
            (-spans).max(axis=2) + 0.0,
            bounds[1],
        ]
        columns = [
            "mean", "sd", "lost", "gained", "10 %", "25 %", "median", "75 %", "90 %",
            "largest loss", "possible loss", "largest gain", "possible gain",
        ]  # fmt: skip
        notes = [
            "original − coarsened, by run and query. lost, gained: the shares of positive and of negative differences.",
            f"possible: the exact worst case of banding over the {self.depth} ranks of the longest list, where known.",
        ]
        return self._table("Differences of values", columns, cells, notes)

    def _verdicts(self) -> Table:
        notes = [
            f"Of {self.pairs.count} pairs of runs, by a paired t-test at {self.alpha} before and after. appear: a "
            "difference is significant only after; vanish: only before; flip: both times, with the other sign.",
            "signs: the share of pairs whose difference of means changes its sign, significant or not.",
        ]
        return self._table("Verdicts between runs", _VERDICTS, self.pairs.shares(), notes)

    def _runs(self) -> Table:
        rows: list[tuple[Cell, ...]] = []
        for m, measure in enumerate(self.measures):
            for p, each in enumerate(self.precisions):
                before, after = self.originals[p][:, :, m].mean(axis=1), self.values[p, :, :, m].mean(axis=1)
                losses = self.differences[p, :, :, m].mean(axis=1)
                tests = self.changed[p, :, m], self.not_kept[p, :, m]
                columns = (column.tolist() for column in (before, after, losses, *tests))
                rows += [(str(measure), str(each), run, *row) for run, *row in zip(self.runs, *columns, strict=True)]
        columns_of = ("measure", "precision", "run", "original", "coarsened", "loss", "p", f"p not {self.kept:.0%}")
        notes = (
            "p: two-sided paired t-test of coarsened against original. The last column tests that the coarsened mean "
            f"is at most {self.kept:.0%} of the original: where it is small, more than that is kept.",
        )
        return Table("Each run", columns_of, rows, notes)

    def drawings(self) -> dict[str, Drawing]:
        """Return the figures: for each measure differences and p values, and for all the verdicts and orderings.

        Returns
        -------
        dict of str to Drawing
            "differences-…"; of several runs also "verdicts", "tau", "tau-ap" and "p-values-…".
        """
        differences = {
            f"differences-{file_name(measure)}": Drawing(
                f"{measure}: original − coarsened, over {len(self.runs)} runs × {len(self.queries)} queries. "
                "Box: quartiles and median; whiskers: 10 % and 90 %; dots: the largest loss and gain"
                + ("; triangles: the largest that are possible." if any(i == m for _, i in self.worst) else "."),
                _Boxes(self, m),
            )
            for m, measure in enumerate(self.measures)
        }
        if len(self.runs) < 2:
            return differences
        p_values = {
            f"p-values-{file_name(measure)}": Drawing(
                f"{measure}: p of the paired t-test, for each of {self.pairs.count} pairs of runs, as the scores were "
                f"and with {self.precisions[-1]}. Dashed: {self.alpha}.",
                _Scatter(self, m),
                (5.2, 4.8),
            )
            for m, measure in enumerate(self.measures)
        }
        tau, tau_ap = self.correlations
        lines = {
            "verdicts": ("Share of pairs of runs that are judged alike", "same verdicts", self.pairs.shares()[0]),
            "tau": ("Kendall's τ_b between the orderings of the runs, before and after", r"Kendall's $\tau_b$", tau),
            "tau-ap": ("τ_AP,b between the orderings of the runs, before and after", r"$\tau_{AP,b}$", tau_ap),
        }
        curves = {
            name: Drawing(f"{caption}, by precision.", _Lines(self, axis, values))
            for name, (caption, axis, values) in lines.items()
        }
        return {**differences, **curves, **p_values}

    def axis(self) -> tuple[str, list[str]]:
        """Return what the axis of the precisions is called, and its ticks.

        Returns
        -------
        name : str
        ticks : list of str
            One for each precision.
        """
        if all(isinstance(each, Bands) for each in self.precisions):
            return "growth of the bands, ρ", [str(each).removeprefix("bands:") for each in self.precisions]
        return "precision of the scores", [str(each) for each in self.precisions]


_VERDICTS = ("agree", "appear", "vanish", "flip", "signs")


@dataclass(frozen=True)
class _Pairs:
    """p values and verdicts of all pairs of runs. A verdict is the sign of a significant difference, or 0.

    `before` holds an array [n_measures, n_pairs] for each precision, `after` is [n_precisions, n_measures, n_pairs].
    """

    before: tuple[Values, ...]
    after: Values
    shares_of_verdicts: Values

    @property
    def count(self) -> int:
        return int(self.after.shape[2])

    def shares(self) -> Values:
        """The shares of _VERDICTS: [5, n_precisions, n_measures]; NaN without a pair."""
        return self.shares_of_verdicts

    @classmethod
    def of(cls, cube: Precision) -> _Pairs:
        references = {id(original): original for original in cube.originals}
        wanted = [*references.values(), *cube.values]
        tested = [_all_pairs(values) for values in progress(wanted, "pairs of runs")]
        tests = dict(zip(references, tested, strict=False))
        before = [tests[id(original)] for original in cube.originals]
        after = tested[len(references) :]
        shares = np.stack([_shares(*b, *a, cube.alpha) for b, a in zip(before, after, strict=True)], axis=1)
        return cls(tuple(p for _, p in before), np.stack([p for _, p in after]), shares)


def _all_pairs(values: Values) -> tuple[Values, Values]:
    """Test all pairs of runs: the differences of means and the p values, both [n_measures, n_pairs]."""
    from tieaware.statistics import paired_test

    n_runs, n_queries, n_measures = values.shape
    first, second = np.triu_indices(n_runs, 1)
    differences = np.empty((n_measures, len(first)))
    p = np.empty_like(differences)
    # So many pairs at a time, that their values stay within the cache's reach.
    step = max(1, 2**20 // n_queries)
    for m in range(n_measures):
        of_measure = np.ascontiguousarray(values[:, :, m])
        for start in range(0, len(first), step):
            some = slice(start, start + step)
            test = paired_test(of_measure[first[some]], of_measure[second[some]])
            differences[m, some], p[m, some] = test.difference, test.p
    differences[np.abs(differences) < _ROUNDING] = 0.0
    return differences, p


def _shares(before: Values, p_before: Values, after: Values, p_after: Values, alpha: float) -> Values:
    """The shares of the pairs that agree, appear, vanish, flip, and change sign: [5, n_measures]."""
    if not before.shape[1]:
        return np.full((5, len(before)), np.nan)
    old = np.where(p_before < alpha, np.sign(before), 0.0)
    new = np.where(p_after < alpha, np.sign(after), 0.0)
    kinds = (old == new, (old == 0) & (new != 0), (old != 0) & (new == 0), old * new < 0, before * after < 0)
    return np.stack([kind.mean(axis=1) for kind in kinds])


@dataclass(frozen=True)
class _Boxes:
    """Draws the differences of one measure, a box for each precision."""

    cube: Precision
    m: int

    def __call__(self, ax: Axes) -> None:
        cube, m = self.cube, self.m
        spans = cube._spans()[:, m]
        places = np.arange(1, len(spans) + 1)
        ax.axhline(0.0, color="#888888", linewidth=0.8)
        ax.boxplot(
            list(spans), positions=places, widths=0.55, whis=(10, 90), showfliers=False, patch_artist=True,
            boxprops={"facecolor": "#cfe3f1", "edgecolor": "#0072B2"}, medianprops={"color": "#000000"},
            whiskerprops={"color": "#0072B2"}, capprops={"color": "#0072B2"},
        )  # fmt: skip
        ax.plot(places, spans.max(axis=1), "o", color="#D55E00", markersize=4, label="largest loss and gain seen")
        ax.plot(places, spans.min(axis=1), "o", color="#D55E00", markersize=4)
        bounds = [(p + 1, *cube.worst[p, m]) for p in range(len(spans)) if (p, m) in cube.worst]
        if bounds:
            at, loss, gain = np.array(bounds).T
            ax.plot(at, loss, "^", color="#000000", markerfacecolor="none", markersize=6, label="possible")
            ax.plot(at, -gain, "v", color="#000000", markerfacecolor="none", markersize=6)
        _precision_axis(ax, cube)
        ax.set_ylabel(f"original − coarsened, {cube.measures[m]}")
        ax.legend(loc="upper left")


@dataclass(frozen=True)
class _Lines:
    """Draws a line for each measure over the precisions."""

    cube: Precision
    axis: str
    values: Values

    def __call__(self, ax: Axes) -> None:
        places = np.arange(1, len(self.values) + 1)
        for m, measure in enumerate(self.cube.measures):
            ax.plot(places, self.values[:, m], label=label(str(measure)), **style(m))
        _precision_axis(ax, self.cube)
        ax.set_ylabel(self.axis)
        ax.legend(loc="lower left")


@dataclass(frozen=True)
class _Scatter:
    """Draws the p values of one measure before and after the last precision."""

    cube: Precision
    m: int

    def __call__(self, ax: Axes) -> None:
        pairs, alpha = self.cube.pairs, self.cube.alpha
        smallest = 1e-8
        before, after = (np.maximum(p, smallest) for p in (pairs.before[-1][self.m], pairs.after[-1][self.m]))
        # Many points: drawn as pixels, also where all else is drawn as lines.
        ax.plot(before, after, ".", color="#0072B2", alpha=0.35, markersize=4, markeredgewidth=0, rasterized=True)
        for line in (ax.axhline, ax.axvline):
            line(alpha, color="#D55E00", linestyle="--", linewidth=1.0)
        ax.plot([smallest, 1.0], [smallest, 1.0], color="#888888", linewidth=0.8)
        ax.set(xscale="log", yscale="log", xlim=(smallest, 1.2), ylim=(smallest, 1.2), aspect="equal")
        ax.set_xlabel(f"p, scores as they were (least {smallest:.0e})")
        ax.set_ylabel(f"p, {self.cube.precisions[-1]}")


def _precision_axis(ax: Axes, cube: Precision) -> None:
    name, ticks = cube.axis()
    turned = max(map(len, ticks)) * len(ticks) > 80
    ax.set_xticks(np.arange(1, len(ticks) + 1), ticks, rotation=35 if turned else 0, ha="right" if turned else "center")
    ax.set_xlabel(name)


def _cell(value: Any) -> Cell:
    if np.isnan(value):
        return None
    return int(value) if isinstance(value, np.integer) else float(value)
