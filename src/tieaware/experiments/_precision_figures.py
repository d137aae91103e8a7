"""The figures of the experiment on score precision, with their captions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Values
from tieaware.experiments._coarsened_pairs import Verdicts
from tieaware.measures import Measure
from tieaware.output.plots import (
    Drawing,
    display_name,
    file_name,
    label_factors,
    label_powers_of_ten,
    legend_above,
    style,
)
from tieaware.output.tables import counted
from tieaware.precision import Coarsening

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Precisions:
    """The horizontal axis of score precisions: its name and its tick labels."""

    name: str
    ticks: Sequence[str]

    def draw(self, ax: Axes) -> None:
        """Set the name of the axis and its tick labels, which are rotated if they are long."""
        turned = max(map(len, self.ticks)) * len(self.ticks) > 80
        places = np.arange(1, len(self.ticks) + 1)
        ax.set_xticks(places, self.ticks, rotation=35 if turned else 0, ha="right" if turned else "center")
        ax.set_xlabel(self.name)


@dataclass(frozen=True)
class Boxes:
    """Draw the differences original − coarsened of one measure: a box per precision, and the worst case if known."""

    precisions: Precisions
    measure: Measure
    differences: Values  # [n_precisions, n]
    worst: Mapping[int, tuple[float, float]]

    def __call__(self, ax: Axes) -> None:
        differences = self.differences
        places = np.arange(1, len(differences) + 1)
        ax.axhline(0.0, color="#888888", linewidth=0.8)
        _boxes(ax, list(differences))
        low, high = np.quantile(differences, (0.1, 0.9), axis=1)[:, :, None]
        for beyond, colour in ((differences > high, "#D55E00"), (differences < low, "#009E73")):
            _scattered(ax, differences, beyond, colour)
        ax.plot(places, differences.max(axis=1), "o", color="#D55E00", markersize=4, label="largest loss and gain seen")
        ax.plot(places, differences.min(axis=1), "o", color="#D55E00", markersize=4)
        bounds = [(p + 1, *self.worst[p]) for p in range(len(differences)) if p in self.worst]
        if bounds:
            at, loss, gain = np.array(bounds).T
            ax.plot(at, loss, "^", color="#000000", markerfacecolor="none", markersize=6, label="largest possible")
            ax.plot(at, -gain, "v", color="#000000", markerfacecolor="none", markersize=6)
        self.precisions.draw(ax)
        ax.set_ylabel(f"{display_name(str(self.measure))} of a query: original − coarsened")
        above, below = ("gain", "loss") if self.measure.definition.less_is_better else ("loss", "gain")
        for height, direction, at in ((1.0, f"{above} →", "top"), (0.0, f"← {below}", "bottom")):
            ax.text(1.0, height, direction, transform=ax.transAxes, rotation=90, ha="left", va=at, color="#444444")
        legend_above(ax)


@dataclass(frozen=True)
class Changes:
    """Draw the p value of each run's test of coarsened against original: a column of points per precision."""

    precisions: Precisions
    p: Values  # [n_precisions, n_runs]
    alpha: float

    def __call__(self, ax: Axes) -> None:
        smallest = 1e-6
        p = np.sort(np.maximum(self.p, smallest), axis=1)
        significant = self.p <= self.alpha
        for some, colour, name in (
            (p > self.alpha, "#0072B2", "not significant"), (p <= self.alpha, "#D55E00", "significant"),
        ):  # fmt: skip
            _scattered(ax, p, some, colour, 0.7, 4.5, name)
        ax.axhline(self.alpha, color="#444444", linestyle="--", linewidth=1.0)
        for place, count in enumerate(significant.sum(axis=1).tolist(), start=1):
            ax.annotate(
                str(count), (place, 1.0), xycoords=("data", "axes fraction"), ha="center", va="top", color="#D55E00"
            )
        self.precisions.draw(ax)
        ax.set(yscale="log", ylim=(smallest / 2, 8.0), xlim=(0.4, len(p) + 0.6))
        label_powers_of_ten(ax.yaxis)
        ax.set_ylabel(f"p value of a run (least {smallest:.0e})")
        legend_above(ax)


# The figure of p values shows greater factors than this as this one.
_FACTOR = 1000.0


@dataclass(frozen=True)
class Variations:
    """Draw the factors by which p values of pairs of runs change: a box per precision, and all changed verdicts.

    The boxes and the grey points are of the pairs whose p value before is within a factor of 10 of the level: only
    their verdicts are open, and all others together would hide them.
    """

    precisions: Precisions
    before: Sequence[Values]
    after: Sequence[Values]
    changed: Sequence[npt.NDArray[np.bool_]]
    alpha: float
    p_name: str

    def __call__(self, ax: Axes) -> None:
        before, after = (np.maximum(np.stack(p), 1e-300) for p in (self.before, self.after))
        changed = np.stack(self.changed)
        factors = np.clip(after / before, 1.0 / _FACTOR, _FACTOR)
        is_near = (before >= self.alpha / 10.0) & (before <= self.alpha * 10.0)
        ax.axhline(1.0, color="#888888", linewidth=0.8)
        # A box is drawn on a logarithmic scale, so its quartiles are those of the factors.
        near = [row[some] for row, some in zip(factors, is_near, strict=True)]
        _boxes(ax, near, above=True)
        ends = [np.quantile(row, (0.1, 0.9)) if row.size else (1.0, 1.0) for row in near]
        low, high = np.array(ends).T[:, :, None]
        beyond = is_near & ((factors < low) | (factors > high))
        _scattered(ax, factors, beyond & ~changed, "#999999", 0.5, 3.0, "same verdict")
        many = int(changed.sum(axis=1).max()) > 100
        _scattered(ax, factors, changed, "#D55E00", *((0.5, 2.5) if many else (0.9, 4.5)), "another verdict")
        for place, count in enumerate(changed.sum(axis=1).tolist(), start=1):
            ax.annotate(
                str(count), (place, 1.0), xycoords=("data", "axes fraction"), ha="center", va="top", color="#D55E00"
            )
        self.precisions.draw(ax)
        # The numbers at the top need room above the highest points.
        reach = 1.1 * max(2.0, float(np.max(np.maximum(factors, 1.0 / factors), where=is_near | changed, initial=1.0)))
        ax.set(yscale="log", ylim=(1.0 / reach, reach**1.25))
        label_factors(ax.yaxis, reach)
        ax.minorticks_off()
        ax.set_ylabel(f"{self.p_name}: coarsened ÷ original")
        legend_above(ax)


@dataclass(frozen=True)
class Lines:
    """Draw a line per measure against the score precisions."""

    precisions: Precisions
    name: str
    measures: Sequence[Measure]
    values: Values  # [n_precisions, n_measures]

    def __call__(self, ax: Axes) -> None:
        places = np.arange(1, len(self.values) + 1)
        for m, measure in enumerate(self.measures):
            ax.plot(places, self.values[:, m], label=display_name(str(measure)), **style(m))
        self.precisions.draw(ax)
        ax.set_ylabel(self.name)
        legend_above(ax)


@dataclass(frozen=True)
class Scatter:
    """Draw the p value of each pair of runs after coarsening against the p value before."""

    precision: str
    before: Values
    after: Values
    alpha: float
    p_name: str

    def __call__(self, ax: Axes) -> None:
        smallest = 1e-8
        before, after = (np.maximum(p, smallest) for p in (self.before, self.after))
        # Rasterise the points even in vector files, because there may be many.
        ax.plot(before, after, ".", color="#0072B2", alpha=0.35, markersize=4, markeredgewidth=0, rasterized=True)
        for line in (ax.axhline, ax.axvline):
            line(self.alpha, color="#D55E00", linestyle="--", linewidth=1.0)
        ax.plot([smallest, 1.0], [smallest, 1.0], color="#888888", linewidth=0.8)
        ax.set(xscale="log", yscale="log", xlim=(smallest, 1.2), ylim=(smallest, 1.2), aspect="equal")
        label_powers_of_ten(ax.xaxis, ax.yaxis)
        ax.set_xlabel(f"{self.p_name}, original scores (least {smallest:.0e})")
        ax.set_ylabel(f"{self.p_name}, {self.precision}")


def _boxes(ax: Axes, values: Sequence[Values], *, above: bool = False) -> None:
    """Draw a box for each row of values: quartiles and median, with whiskers at 10 % and 90 %.

    A box above points is not filled.
    """
    ax.boxplot(
        values, positions=np.arange(1, len(values) + 1), widths=0.55, whis=(10, 90), showfliers=False,
        patch_artist=True, zorder=3.0 if above else None,
        boxprops={"facecolor": "none" if above else "#cfe3f1", "edgecolor": "#0072B2"},
        medianprops={"color": "#000000"}, whiskerprops={"color": "#0072B2"}, capprops={"color": "#0072B2"},
    )  # fmt: skip


def _scattered(
    ax: Axes, values: Values, some: npt.NDArray[np.bool_], colour: str, alpha: float = 0.4, size: float = 3.0,
    name: str | None = None,
) -> None:  # fmt: skip
    """Draw some of the values of each row as points, which are spread over the width of the row's column."""
    rows, columns = np.nonzero(some)
    # Multiples of the golden ratio spread neighbours, and are the same each time.
    places = rows + 1 + ((columns * 0.6180339887498949) % 1.0 - 0.5) * 0.5
    # Rasterise the points even in vector files, because there may be many.
    ax.plot(
        places, values[some], "o", color=colour, alpha=alpha, markersize=size, markeredgewidth=0, rasterized=True,
        label=name, zorder=2.5,
    )  # fmt: skip


class Outcome(Protocol):
    """The part of the outcome of the experiment that the figures show; see `tieaware.experiments.precision`."""

    @property
    def precisions(self) -> Sequence[Coarsening]: ...
    @property
    def runs(self) -> Sequence[str]: ...
    @property
    def measures(self) -> Sequence[Measure]: ...
    @property
    def alpha(self) -> float: ...
    @property
    def axis(self) -> Precisions: ...
    @property
    def runs_by_queries(self) -> str: ...
    @property
    def changed(self) -> Values: ...
    @property
    def worst(self) -> Mapping[tuple[int, int], tuple[float, float]]: ...
    @property
    def pairs(self) -> Verdicts: ...
    @property
    def correlations(self) -> tuple[Values, Values]: ...
    def flat_differences(self) -> Values: ...


def drawings_of(outcome: Outcome) -> dict[str, Drawing]:
    """Return the figures by file name; see the method `drawings` of the outcome."""
    measures = list(enumerate(outcome.measures))
    differences = {f"differences-{file_name(measure)}": _differences(outcome, m, measure) for m, measure in measures}
    changes = {f"changes-{file_name(measure)}": _changes(outcome, m, measure) for m, measure in measures}
    if len(outcome.runs) < 2:
        return differences | changes
    # The figures of all measures come second, after the main one.
    main = dict([next(iter(differences.items()))])
    drawings = main | _lines(outcome) | differences | changes
    for m, measure in measures:
        drawings[f"p-changes-{file_name(measure)}"] = _variations(outcome, m, measure)
    for m, measure in measures:
        drawings[f"p-values-{file_name(measure)}"] = _p_values(outcome, m, measure)
    return drawings


def _differences(outcome: Outcome, m: int, measure: Measure) -> Drawing:
    worst = {p: bounds for (p, i), bounds in outcome.worst.items() if i == m}
    return Drawing(
        f"{measure}: original − coarsened, over {outcome.runs_by_queries}. "
        "Box: quartiles and median; whiskers: 10 % and 90 %; small points: the values beyond; dots: the largest loss "
        f"and gain{'; triangles: the worst case.' if worst else '.'}",
        Boxes(outcome.axis, measure, outcome.flat_differences()[:, m], worst),
        title=f"Loss of {measure} per query",
    )


def _changes(outcome: Outcome, m: int, measure: Measure) -> Drawing:
    return Drawing(
        f"{measure}: the p values of paired t-tests of coarsened against original, a point for each of "
        f"{counted(len(outcome.runs), 'run')}, without correction. Below the dashed line at {outcome.alpha:g}, a run "
        "changes significantly; the numbers at the top count these runs.",
        Changes(outcome.axis, outcome.changed[:, :, m], outcome.alpha),
        title=f"Significance of the changes of {measure} in each run",
    )


def _variations(outcome: Outcome, m: int, measure: Measure) -> Drawing:
    alpha, p_name = outcome.alpha, outcome.pairs.procedure.p_name
    low, high = alpha / 10.0, min(10.0 * alpha, 1.0)
    both = list(zip(*outcome.pairs.corrected, strict=True))
    changed = [old.verdicts(alpha)[m] != new.verdicts(alpha)[m] for old, new in both]
    return Drawing(
        f"{measure}: the factor by which {p_name} of the paired t-test moves, for {outcome.pairs.named}: with "
        f"coarsened scores ÷ with original scores. Orange: all pairs whose verdict at {alpha:g} changes; the numbers "
        f"at the top count them. Box: quartiles and median of the pairs with a p from {low:g} to {high:g} before; "
        "whiskers: 10 % and 90 %; grey: those beyond. Factors above 1,000 are shown as 1,000.",
        Variations(outcome.axis, [old.p[m] for old, _ in both], [new.p[m] for _, new in both], changed, alpha, p_name),
        title=f"Changes of p values between runs by {measure}",
    )


def _p_values(outcome: Outcome, m: int, measure: Measure) -> Drawing:
    before, after = outcome.pairs.corrected
    p_name = outcome.pairs.procedure.p_name
    return Drawing(
        f"{measure}: {p_name} of the paired t-test for {outcome.pairs.named}, with the original "
        f"scores and with {outcome.precisions[-1]}. Dashed: {outcome.alpha}; verdicts vanish in the upper left and "
        "appear in the lower right.",
        Scatter(str(outcome.precisions[-1]), before[-1].p[m], after[-1].p[m], outcome.alpha, p_name),
        (5.6, 5.2),
        f"Verdicts between runs by {measure}, before and after",
    )


def _lines(outcome: Outcome) -> dict[str, Drawing]:
    tau, tau_ap = outcome.correlations
    lines = {
        "verdicts": ("Share of pairs of runs with the same verdict", "same verdicts", outcome.pairs.shares()[0]),
        "tau": ("Kendall's τ_b between the orders of the runs before and after", r"Kendall's $\tau_b$", tau),
        "tau-ap": ("τ_AP,b between the orders of the runs before and after", r"$\tau_{AP,b}$", tau_ap),
    }
    curves = {
        name: Drawing(f"{caption}, by precision.", Lines(outcome.axis, axis, outcome.measures, values), title=caption)
        for name, (caption, axis, values) in lines.items()
    }
    tested = f"Share of {outcome.pairs.named} with the same verdict ({outcome.pairs.described}), by precision."
    curves["verdicts"] = replace(curves["verdicts"], caption=tested)
    return curves
