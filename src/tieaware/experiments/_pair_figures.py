"""The figures of the comparison experiment."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers
from tieaware.experiments._observed_lists import AS_FAR
from tieaware.experiments._tested_pairs import TestedPairs
from tieaware.output.plots import Axes, Drawing, display_name
from tieaware.output.tables import significant

# Levels of p below the significance level. Each has one colour if the run of the row is better, and one if it is worse.
_LEVELS = (0.001, 0.01)
_BETTER, _WORSE = ("#08519c", "#4292c6", "#b3d3ea"), ("#a63603", "#f08a3c", "#fdd9b5")
_EQUAL, _SAME = "#f0f0f0", "#ffffff"
# If there are more runs than this, only some of them are named along an axis.
_NAMES = 50
# From this number of runs on, a matrix is wide enough for a legend in two columns.
_WIDE = 25
# A figure of pairs shows at most _DRAWN of them, or _RUNS runs against a baseline.
_DRAWN, _RUNS = 36, 60
# The height in inches of a figure of few pairs: in a lower one, the second row of the legend would not fit.
_LEAST_HEIGHT = 2.4
# The headings of columns of corrected p values.
_P = {"holm": "p by Holm", "bh": "p by BH", "bonferroni": "p by Bonferroni"}


def _draw_square(tested: TestedPairs, ax: Axes) -> None:
    """Draw the verdicts as a matrix, runs × runs, with a mark on each verdict that the order of ties can flip."""
    from matplotlib.colors import ListedColormap

    n = len(tested.runs)
    levels = (*(level for level in _LEVELS if level < tested.alpha), tested.alpha)
    better, worse = _BETTER[-len(levels) :], _WORSE[-len(levels) :]
    colours = (_SAME, _EQUAL, *better, *worse)
    place = np.argsort(tested.order)
    a, b = place[tested.first], place[tested.second]
    level = np.searchsorted(levels, tested.adjusted, side="left")
    cells = np.zeros((n, n), dtype=np.int64)
    for row, column, verdict in ((a, b, tested.better), (b, a, -tested.better)):
        shade = 2 + level + np.where(verdict > 0.0, 0, len(levels))
        cells[row, column] = np.where(verdict != 0.0, shade, 1)
    ax.imshow(cells, cmap=ListedColormap(colours), vmin=-0.5, vmax=len(colours) - 0.5, interpolation="nearest")
    names = [f"row {how}, p ≤ {level:g}" for how in ("better", "worse") for level in levels]
    entries = [(_EQUAL, "not significant"), *zip((*better, *worse), names, strict=True)]
    handles = [
        ax.scatter([], [], marker="s", s=60, color=colour, edgecolor="#888888", linewidth=0.5, label=name)
        for colour, name in entries
    ]
    if tested.resolutions is not None:
        flips = tested.resolutions.verdict_flips
        for kind, marker, name in ((1, "x", "ties can flip it"), (-1, "+", "open whether ties can")):
            some = flips == kind
            if some.any():
                x, y = np.append(a[some], b[some]), np.append(b[some], a[some])
                size = min(22.0, 2500.0 / n)
                handles.append(ax.scatter(x, y, marker=marker, color="#000000", s=size, linewidth=0.8, label=name))
    shown = np.arange(0, n, 1 + n // _NAMES)
    ticks = [display_name(tested.runs[tested.order[i]]) for i in shown]
    ax.set_yticks(shown, ticks, fontsize=8)
    ax.set_xticks(shown, ticks, fontsize=8, rotation=90)
    ax.grid(visible=False)
    columns = 2 if n >= _WIDE else 1  # two columns would not fit above a small matrix
    ax.legend(handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.01), ncols=columns, borderaxespad=0.0)
    ax.set_ylabel(f"run, the best by mean {display_name(tested.measure)} first")


def _draw_pairs(tested: TestedPairs, some: Integers, ax: Axes) -> None:
    """Draw some pairs by name: the difference of means, its interval, its range over ties, and the corrected p.

    Without a baseline, the run with the larger mean comes first, and differences are positive. With a baseline, the
    difference is that of each run from it.
    """
    from matplotlib.transforms import ScaledTranslation

    test = tested.test
    turned = (test.difference < 0.0) & (tested.baseline is None)
    sign = np.where(turned, -1.0, 1.0)
    some = some[np.argsort((sign * test.difference)[some], kind="stable")]
    places, sizes = np.arange(len(some)), (sign * test.difference)[some]
    ax.axvline(0.0, color="#888888", linewidth=0.8)
    shape = len(tested.runs), tested.n_queries
    half = tested.procedure.decisive(test, tested.alpha, tested.confidence, shape, some)
    if half is not None:
        ax.hlines(places, sizes - half, sizes + half, color="#0072B2", linewidth=1.2,
                  label=tested.deciding)  # fmt: skip
    if tested.resolutions is not None:
        ends = np.stack([tested.resolutions.lowest, tested.resolutions.highest])[:, some] * sign[some]
        ax.hlines(places, ends.min(axis=0), ends.max(axis=0), color="#E69F00", linewidth=5.0, alpha=0.6,
                  label="all orders of the ties")  # fmt: skip
    is_significant = tested.signs[some] != 0.0
    for chosen, fill, name in (
        (is_significant, "#000000", "significant"),
        (~is_significant, "#ffffff", "not significant"),
    ):
        ax.plot(sizes[chosen], places[chosen], "o", color="#000000", markerfacecolor=fill,
                label=f"average, {name}")  # fmt: skip
    right = ax.get_yaxis_transform()
    ax.text(1.02, len(some) - 0.2, _P.get(tested.procedure.correction, "p"), transform=right, fontsize=8,
            fontweight="bold", va="bottom")  # fmt: skip
    for at, i in enumerate(some):
        flips = tested.resolutions is not None and tested.resolutions.verdict_flips[i] == 1
        p = significant(float(tested.adjusted[i])) + ("  ×" if flips else "")
        ax.text(1.02, at, p, transform=right, fontsize=8, va="center")
    ax.set_yticks(places, list(map(display_name, _names(tested, some, turned))), fontsize=8)
    ax.set_ylim(-0.7, len(some) - 0.3)
    ax.grid(visible=False, axis="y")
    against = "" if tested.baseline is None else f" from {display_name(_short(tested.baseline))}"
    ax.set_xlabel(f"difference of mean {display_name(tested.measure)}{against}")
    # The distance is in inches, so that the layout leaves room for the legend at any height of the axes.
    below = ax.transAxes + ScaledTranslation(0.0, -0.55, ax.figure.dpi_scale_trans)
    ax.legend(loc="upper left", bbox_to_anchor=(0.0, 0.0), bbox_transform=below, borderaxespad=0.0, ncols=2)


def _names(tested: TestedPairs, some: Integers, turned: npt.NDArray[np.bool_]) -> list[str]:
    """Return the names of some pairs; in one that is turned, the second run comes first."""
    if tested.baseline is not None:
        return [_short(tested.runs[i]) for i in tested.first[some]]
    larger = np.where(turned, tested.second, tested.first)[some]
    smaller = (tested.first + tested.second)[some] - larger
    return [f"{_short(tested.runs[a])} > {_short(tested.runs[b])}" for a, b in zip(larger, smaller, strict=True)]


def _short(name: str) -> str:
    return name if len(name) <= 28 else f"{name[:27]}…"


def contested(tested: TestedPairs, count: int) -> Integers:
    """Return `count` pairs: first those with verdicts that ties can flip, then those with p nearest to alpha."""
    flips = np.zeros(len(tested.adjusted)) if tested.resolutions is None else tested.resolutions.verdict_flips == 1
    distance = np.abs(np.log(np.maximum(tested.adjusted, 1e-300)) - np.log(tested.alpha))
    return np.sort(np.lexsort((distance, ~flips.astype(bool)))[:count])


def square(tested: TestedPairs) -> Drawing:
    """Return the figure of the verdicts between all runs."""
    longest = max(len(display_name(run)) for run in tested.runs)
    side = max(4.5, min(0.16 * len(tested.runs), 7.0) + 1.6 + 0.06 * longest)
    return Drawing(
        f"{tested.measure}: verdicts between runs ({tested.described}). Blue: the row's run is significantly better "
        "than the column's; orange: significantly worse; grey: neither."
        + (" ×: an order of the tied documents changes the verdict." if tested.resolutions is not None else ""),
        partial(_draw_square, tested), (side + 0.6, side + 0.9), f"Who beats whom by {tested.measure}",
    )  # fmt: skip


def differences(tested: TestedPairs) -> Drawing:
    """Return the figure of the differences of pairs: of all, or of the most contested."""
    n, has_ties = len(tested.first), tested.resolutions is not None
    some = contested(tested, _DRAWN if tested.baseline is None else _RUNS)
    kind = "pair of runs" if tested.baseline is None else "run"
    pairs = f"the {kind}" if n == 1 else f"the {n:,} {_several(kind)}"
    if len(some) < n:
        first = " first those with a verdict that an order of the ties can change, then" if has_ties else ""
        pairs = f"{len(some)} of {n:,} {_several(kind)}:{first} those with a p nearest to {tested.alpha:g}"
    marks = ["Dot: the difference of the means, filled if significant"]
    deciding = f"line: its {tested.deciding}, which leaves out 0 if the dot is filled"
    marks += [deciding] if tested.test.high is not None else []
    as_far = AS_FAR if tested.is_cut is not False else ""
    ties = [f"band: its range over all orders of the tied documents{as_far}", "×: an order changes the verdict"]
    against = "" if tested.baseline is None else f" against {tested.baseline}"
    return Drawing(
        f"{tested.measure}: {pairs}{against} ({tested.described}). {'; '.join(marks + ties * has_ties)}.",
        partial(_draw_pairs, tested, some), (7.0, max(_LEAST_HEIGHT, 1.6 + 0.22 * len(some))),
        f"Pairs by {tested.measure}" if tested.baseline is None else f"Runs{against} by {tested.measure}",
    )  # fmt: skip


def _several(kind: str) -> str:
    return kind.replace("pair", "pairs") if "pair" in kind else f"{kind}s"
