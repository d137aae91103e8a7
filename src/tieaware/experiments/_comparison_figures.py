"""The figures of the comparison experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tieaware.checks.arrays import Integers, Values
from tieaware.output.plots import display_name
from tieaware.output.tables import significant
from tieaware.statistics import PairedTest, Resolutions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Levels of p below the significance level. Each has one colour if the run of the row is better, and one if it is worse.
_LEVELS = (0.001, 0.01)
_BETTER, _WORSE = ("#08519c", "#4292c6", "#b3d3ea"), ("#a63603", "#f08a3c", "#fdd9b5")
_EQUAL, _SAME = "#f0f0f0", "#ffffff"
# If there are more runs than this, only some of them are named along an axis.
_NAMES = 50


@dataclass(frozen=True)
class TestedPairs:
    """The tests of all pairs of runs by one measure, and the effect of tie orders on these tests.

    Attributes
    ----------
    runs : tuple of str
    measure : str
    first, second : int64[n_pairs]
        The two runs of each pair, by position.
    test : PairedTest
    adjusted : float64[n_pairs]
        The p value of each pair after Holm's correction.
    resolutions : Resolutions or None
    alpha : float
    confidence : float
    order : int64[n_runs]
        The runs by position, from the best to the worst.
    less_is_better : bool
    """

    runs: Sequence[str]
    measure: str
    first: Integers
    second: Integers
    test: PairedTest
    adjusted: Values
    resolutions: Resolutions | None
    alpha: float
    confidence: float
    order: Integers
    less_is_better: bool


@dataclass(frozen=True)
class Square:
    """Draw the verdicts as a matrix, runs × runs, with a mark on each verdict that the order of ties can flip."""

    tested: TestedPairs

    def __call__(self, ax: Axes) -> None:
        from matplotlib.colors import ListedColormap

        tested, n = self.tested, len(self.tested.runs)
        levels = (*(level for level in _LEVELS if level < tested.alpha), tested.alpha)
        better, worse = _BETTER[-len(levels) :], _WORSE[-len(levels) :]
        colours = (_SAME, _EQUAL, *better, *worse)
        place = np.argsort(tested.order)
        a, b = place[tested.first], place[tested.second]
        wins = tested.test.difference * (-1.0 if tested.less_is_better else 1.0) > 0.0
        level = np.searchsorted(levels, tested.adjusted, side="right")
        cells = np.zeros((n, n), dtype=np.int64)
        for row, column, row_wins in ((a, b, wins), (b, a, ~wins)):
            shade = 2 + level + np.where(row_wins, 0, len(levels))
            cells[row, column] = np.where(level < len(levels), shade, 1)
        ax.imshow(cells, cmap=ListedColormap(colours), vmin=-0.5, vmax=len(colours) - 0.5, interpolation="nearest")
        names = [f"row {how}, p < {level:g}" for how in ("better", "worse") for level in levels]
        entries = [(_EQUAL, f"p ≥ {tested.alpha:g}"), *zip((*better, *worse), names, strict=True)]
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
        ax.legend(handles=handles, loc="lower right", bbox_to_anchor=(1.0, 1.01), ncols=2, borderaxespad=0.0)
        ax.set_ylabel(f"run, the best by mean {display_name(tested.measure)} first")


@dataclass(frozen=True)
class Pairs:
    """Draw some pairs by name: the difference of means, its interval, its range over ties, and the corrected p."""

    tested: TestedPairs
    some: Integers

    def __call__(self, ax: Axes) -> None:
        tested, test = self.tested, self.tested.test
        assert test.high is not None
        better = np.where(test.difference < 0.0, -1.0, 1.0)
        some = self.some[np.argsort(np.abs(test.difference[self.some]), kind="stable")]
        places, sizes = np.arange(len(some)), np.abs(test.difference[some])
        half = (test.high - test.difference)[some]
        ax.axvline(0.0, color="#888888", linewidth=0.8)
        ax.hlines(places, sizes - half, sizes + half, color="#0072B2", linewidth=1.2,
                  label=f"{tested.confidence:.0%} confidence")  # fmt: skip
        if tested.resolutions is not None:
            ends = np.stack([tested.resolutions.lowest, tested.resolutions.highest])[:, some] * better[some]
            ax.hlines(places, ends.min(axis=0), ends.max(axis=0), color="#E69F00", linewidth=5.0, alpha=0.6,
                      label="all orders of the ties")  # fmt: skip
        is_significant = tested.adjusted[some] < tested.alpha
        for chosen, fill, name in ((is_significant, "#000000", "p <"), (~is_significant, "#ffffff", "p ≥")):
            ax.plot(sizes[chosen], places[chosen], "o", color="#000000", markerfacecolor=fill,
                    label=f"average, {name} {tested.alpha:g}")  # fmt: skip
        right = ax.get_yaxis_transform()
        ax.text(1.02, len(some) - 0.2, "p by Holm", transform=right, fontsize=8, fontweight="bold", va="bottom")
        for at, i in enumerate(some):
            flips = tested.resolutions is not None and tested.resolutions.verdict_flips[i] == 1
            p = significant(float(tested.adjusted[i])) + ("  ×" if flips else "")
            ax.text(1.02, at, p, transform=right, fontsize=8, va="center")
        larger = np.where(test.difference < 0.0, tested.second, tested.first)[some]
        smaller = (tested.first + tested.second)[some] - larger
        names = [f"{_short(tested.runs[a])} > {_short(tested.runs[b])}" for a, b in zip(larger, smaller, strict=True)]
        ax.set_yticks(places, list(map(display_name, names)), fontsize=8)
        ax.set_ylim(-0.7, len(some) - 0.3)
        ax.grid(visible=False, axis="y")
        ax.set_xlabel(f"difference of mean {display_name(tested.measure)}")
        ax.legend(loc="upper left", bbox_to_anchor=(0.0, -0.6 / (0.22 * len(some) + 1.0)), ncols=2)


def _short(name: str) -> str:
    return name if len(name) <= 28 else f"{name[:27]}…"


def contested(tested: TestedPairs, count: int) -> Integers:
    """Return `count` pairs: first those with verdicts that ties can flip, then those with p nearest to alpha."""
    flips = np.zeros(len(tested.adjusted)) if tested.resolutions is None else tested.resolutions.verdict_flips == 1
    distance = np.abs(np.log(np.maximum(tested.adjusted, 1e-300)) - np.log(tested.alpha))
    return np.sort(np.lexsort((distance, ~flips.astype(bool)))[:count])
