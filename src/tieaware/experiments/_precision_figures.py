"""The figures of the experiment on score precision, with their captions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Values
from tieaware.experiments._coarsened_runs import CoarsenedPairs
from tieaware.measures import Measure
from tieaware.output.plots import Axes, Drawing, display_name, label_factors, label_powers_of_ten, legend_above, style
from tieaware.output.tables import counted
from tieaware.precision import Coarsening

# The most precisions that an axis names.
_MOST_TICKS = 30


def groups_ranks(precision: Coarsening) -> bool:
    """Return whether a coarsening groups ranks into bands, regardless of the scores."""
    return bool(getattr(precision, "groups_ranks", False))


def growth_of(precision: Coarsening) -> Fraction | None:
    """Return the growth factor of a coarsening into geometric bands of ranks; None for any other coarsening."""
    return getattr(precision, "rho", None) if groups_ranks(precision) else None


def _name_precisions(ax: Axes, precisions: Sequence[Coarsening]) -> None:
    """Name the horizontal axis and its ticks: growth factors, if all precisions are bands, or the precisions."""
    are_bands = all(growth_of(each) is not None for each in precisions)
    step = -(-len(precisions) // _MOST_TICKS)
    ticks = [str(each).partition(":")[2] if are_bands else str(each) for each in precisions[::step]]
    # Long names are rotated.
    turned = max(map(len, ticks)) * len(ticks) > 80
    places = np.arange(1, len(precisions) + 1, step)
    ax.set_xticks(places, ticks, rotation=35 if turned else 0, ha="right" if turned else "center")
    ax.set_xlabel("growth of the bands, ρ" if are_bands else "precision of the scores")


def _draw_boxes(
    precisions: Sequence[Coarsening], measure: Measure, differences: Values, worst: Mapping[int, tuple[float, float]],
    ax: Axes,
) -> None:  # fmt: skip
    """Draw the differences original − coarsened, [n_precisions, n], as a box per precision, and known worst cases."""
    places = np.arange(1, len(differences) + 1)
    ax.axhline(0.0, color="#888888", linewidth=0.8)
    _boxes(ax, list(differences))
    low, high = np.quantile(differences, (0.1, 0.9), axis=1)[:, :, None]
    for beyond, colour in ((differences > high, "#D55E00"), (differences < low, "#009E73")):
        _scattered(ax, differences, beyond, colour)
    ax.plot(places, differences.max(axis=1), "o", color="#D55E00", markersize=4, label="largest loss and gain seen")
    ax.plot(places, differences.min(axis=1), "o", color="#D55E00", markersize=4)
    bounds = [(p + 1, *worst[p]) for p in range(len(differences)) if p in worst]
    if bounds:
        at, loss, gain = np.array(bounds).T
        ax.plot(at, loss, "^", color="#000000", markerfacecolor="none", markersize=6, label="largest possible")
        ax.plot(at, -gain, "v", color="#000000", markerfacecolor="none", markersize=6)
    _name_precisions(ax, precisions)
    ax.set_ylabel(f"{display_name(str(measure))} of a query: original − coarsened")
    above, below = ("gain", "loss") if measure.definition.less_is_better else ("loss", "gain")
    for height, direction, at in ((1.0, f"{above} →", "top"), (0.0, f"← {below}", "bottom")):
        ax.text(1.0, height, direction, transform=ax.transAxes, rotation=90, ha="left", va=at, color="#444444")
    legend_above(ax)


def _draw_changes(precisions: Sequence[Coarsening], p: Values, alpha: float, ax: Axes) -> None:
    """Draw the p value of each run's test of coarsened against original, [n_precisions, n_runs], as a point."""
    smallest = 1e-6
    p = np.sort(np.maximum(p, smallest), axis=1)
    significant = p <= alpha
    for some, colour, name in (
        (p > alpha, "#0072B2", "not significant"), (p <= alpha, "#D55E00", "significant"),
    ):  # fmt: skip
        _scattered(ax, p, some, colour, 0.7, 4.5, name)
    ax.axhline(alpha, color="#444444", linestyle="--", linewidth=1.0)
    for place, count in enumerate(significant.sum(axis=1).tolist(), start=1):
        ax.annotate(
            str(count), (place, 1.0), xycoords=("data", "axes fraction"), ha="center", va="top", color="#D55E00"
        )
    _name_precisions(ax, precisions)
    ax.set(yscale="log", ylim=(smallest / 2, 8.0), xlim=(0.4, len(p) + 0.6))
    label_powers_of_ten(ax.yaxis)
    ax.set_ylabel(f"p value of a run (least {smallest:.0e})")
    legend_above(ax)


# The figure of p values shows greater factors than this as this one.
_FACTOR = 1000.0


def _draw_variations(
    precisions: Sequence[Coarsening],
    before: Values,
    after: Values,
    changed: npt.NDArray[np.bool_],
    alpha: float,
    p_name: str,
    ax: Axes,
) -> None:
    """Draw the factors by which p values of pairs of runs change: a box per precision, and all changed verdicts.

    The boxes and the grey points are of the pairs whose p value before is within a factor of 10 of the level: only
    their verdicts are open, and all others together would hide them.
    """
    before, after = np.maximum(before, 1e-300), np.maximum(after, 1e-300)
    factors = np.clip(after / before, 1.0 / _FACTOR, _FACTOR)
    is_near = (before >= alpha / 10.0) & (before <= alpha * 10.0)
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
    _name_precisions(ax, precisions)
    # The numbers at the top need room above the highest points.
    reach = 1.1 * max(2.0, float(np.max(np.maximum(factors, 1.0 / factors), where=is_near | changed, initial=1.0)))
    ax.set(yscale="log", ylim=(1.0 / reach, reach**1.25))
    label_factors(ax.yaxis, reach)
    ax.minorticks_off()
    ax.set_ylabel(f"{p_name}: coarsened ÷ original")
    legend_above(ax)


def _draw_lines(
    precisions: Sequence[Coarsening], measures: Sequence[Measure], values: Values, name: str, ax: Axes
) -> None:
    """Draw a line per measure against the score precisions; `values` is float64[n_precisions, n_measures].

    Precisions of several kinds have no order, so that no line joins their points.
    """
    places = np.arange(1, len(values) + 1)
    joined = {} if len(set(map(type, precisions))) == 1 else {"linestyle": "none"}
    for m, measure in enumerate(measures):
        ax.plot(places, values[:, m], label=display_name(str(measure)), **{**style(m), **joined})
    _name_precisions(ax, precisions)
    ax.set_ylabel(name)
    legend_above(ax)


def _draw_scatter(precision: str, before: Values, after: Values, alpha: float, p_name: str, ax: Axes) -> None:
    """Draw the p value of each pair of runs after coarsening against the p value before."""
    smallest = 1e-8
    before, after = (np.maximum(p, smallest) for p in (before, after))
    # Rasterise the points even in vector files, because there may be many.
    ax.plot(before, after, ".", color="#0072B2", alpha=0.35, markersize=4, markeredgewidth=0, rasterized=True)
    for line in (ax.axhline, ax.axvline):
        line(alpha, color="#D55E00", linestyle="--", linewidth=1.0)
    ax.plot([smallest, 1.0], [smallest, 1.0], color="#888888", linewidth=0.8)
    ax.set(xscale="log", yscale="log", xlim=(smallest, 1.2), ylim=(smallest, 1.2), aspect="equal")
    label_powers_of_ten(ax.xaxis, ax.yaxis)
    ax.set_xlabel(f"{p_name}, original scores (least {smallest:.0e})")
    ax.set_ylabel(f"{p_name}, {precision}")


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


def difference_boxes(
    precisions: Sequence[Coarsening], measure: Measure, differences: Values, worst: Mapping[int, tuple[float, float]],
    values: str,
) -> Drawing:  # fmt: skip
    """Return the figure of the differences original − coarsened; `values` says in words how many there are."""
    return Drawing(
        f"{measure}: original − coarsened, over {values}. "
        "Box: quartiles and median; whiskers: 10 % and 90 %; small points: the values beyond; dots: the largest loss "
        f"and gain{'; triangles: the worst case.' if worst else '.'}",
        partial(_draw_boxes, precisions, measure, differences, worst),
        title=f"Loss of {measure} per query",
    )


def change_points(precisions: Sequence[Coarsening], measure: Measure, p: Values, alpha: float) -> Drawing:
    """Return the figure of the p values of each run, coarsened against original: float64[n_precisions, n_runs]."""
    return Drawing(
        f"{measure}: the p values of paired t-tests of coarsened against original, a point for each of "
        f"{counted(p.shape[1], 'run')}, without correction. Below the dashed line at {alpha:g}, a run "
        "changes significantly; the numbers at the top count these runs.",
        partial(_draw_changes, precisions, p, alpha),
        title=f"Significance of the changes of {measure} in each run",
    )


def p_factors(precisions: Sequence[Coarsening], m: int, measure: Measure, pairs: CoarsenedPairs) -> Drawing:
    """Return the figure of the factors by which the p values of pairs of runs change, by measure m."""
    alpha, p_name = pairs.coarsened.alpha, pairs.procedure.p_name
    low, high = alpha / 10.0, min(10.0 * alpha, 1.0)
    before, after = (tests.p[:, m] for tests in pairs.corrected)
    changed = pairs.differing(by_order=False)[:, m]
    return Drawing(
        f"{measure}: the factor by which {p_name} of the paired t-test moves, for {pairs.named}: with "
        f"coarsened scores ÷ with original scores. Orange: all pairs whose verdict at {alpha:g} changes; the numbers "
        f"at the top count them. Box: quartiles and median of the pairs with a p from {low:g} to {high:g} before; "
        "whiskers: 10 % and 90 %; grey: those beyond. Factors above 1,000 are shown as 1,000.",
        partial(_draw_variations, precisions, before, after, changed, alpha, p_name),
        title=f"Changes of p values between runs by {measure}",
    )


def p_points(precision: str, m: int, measure: Measure, pairs: CoarsenedPairs) -> Drawing:
    """Return the figure of the p values of pairs of runs with the last precision against those before, by measure m."""
    alpha, p_name = pairs.coarsened.alpha, pairs.procedure.p_name
    before, after = (tests.p[-1, m] for tests in pairs.corrected)
    return Drawing(
        f"{measure}: {p_name} of the paired t-test for {pairs.named}, with the original "
        f"scores and with {precision}. Dashed: {alpha}; verdicts vanish in the upper left and "
        "appear in the lower right.",
        partial(_draw_scatter, precision, before, after, alpha, p_name),
        (5.6, 5.2),
        f"Verdicts between runs by {measure}, before and after",
    )


def lines_by_precision(
    precisions: Sequence[Coarsening], measures: Sequence[Measure], pairs: CoarsenedPairs,
    correlations: tuple[Values, Values],
) -> dict[str, Drawing]:  # fmt: skip
    """Return the figures of the share of same verdicts, and of the correlations of the orders of runs."""
    tau, tau_ap = correlations
    same = "Share of pairs of runs with the same verdict"
    tested = f"Share of {pairs.named} with the same verdict ({pairs.described}), by precision."
    of_tau = "Kendall's τ_b between the orders of the runs before and after"
    of_tau_ap = "τ_AP,b between the orders of the runs before and after"
    draw = partial(_draw_lines, precisions, measures)
    return {
        "verdicts": Drawing(tested, partial(draw, pairs.shares()[0], "same verdicts"), title=same),
        "tau": Drawing(f"{of_tau}, by precision.", partial(draw, tau, r"Kendall's $\tau_b$"), title=of_tau),
        "tau-ap": Drawing(f"{of_tau_ap}, by precision.", partial(draw, tau_ap, r"$\tau_{AP,b}$"), title=of_tau_ap),
    }


def lines_of_failures(
    precisions: Sequence[Coarsening], measures: Sequence[Measure], shares: Values, what: str
) -> Drawing:  # fmt: skip
    """Return the figure of the share of what is not kept, float64[n_precisions, n_measures], from fine to coarse."""
    name = f"share of {what}"
    return Drawing(
        f"The {name}, by precision, from fine to coarse, a line for each measure.",
        partial(_draw_lines, precisions, measures, shares, name),
        title=f"The {name}",
    )
