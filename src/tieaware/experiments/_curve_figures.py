"""The figure of interpolated over raw precision–recall curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.experiments._curve_points import NamedPoints
from tieaware.experiments.label_placement import label_points
from tieaware.output.plots import COLOURS, DASHES, display_name, legend_above
from tieaware.output.tables import significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The distance between points of a curve that labels avoid.
_STEP = 0.02


class TracedRun(NamedTuple):
    """The average precision–recall curve of a run, and its named points."""

    name: str
    recall: Values
    precision: Values
    named: NamedPoints


@dataclass(frozen=True)
class Interpolation:
    """Draw the raw and the interpolated curve of each run, its break-even point and its greatest F1."""

    runs: Sequence[TracedRun]

    def __call__(self, ax: Axes) -> None:
        ax.plot([0.0, 1.0], [0.0, 1.0], color="#666666", linestyle=":", linewidth=1.0, label="precision = recall")
        names, points, obstacles = [], [], []
        for i, run in enumerate(self.runs):
            raw, wide = (run.recall, run.precision), interpolated(run.recall, run.precision)
            ax.plot(*raw, color=COLOURS[i], linestyle=DASHES[i], linewidth=1.3, label=f"{display_name(run.name)}, raw")
            ax.plot(*wide, color=COLOURS[i], linewidth=5.0, alpha=0.3, solid_capstyle="butt", zorder=1.9)
            marks = {
                f"break-even {significant(run.named.break_even)}": ("o", (run.named.break_even,) * 2),
                f"F1 {significant(run.named.f1)}": ("D", (run.named.recall, run.named.precision)),
            }
            for shown, (marker, point) in marks.items():
                ax.plot(*point, marker, color=COLOURS[i], markeredgecolor="#ffffff", markersize=7.0, zorder=3.5)
                names.append(shown)
                points.append(point)
            obstacles += [point for curve in (raw, wide) for point in _along(*curve)]
        ax.plot([], [], color="#888888", linewidth=5.0, alpha=0.5, label="interpolated")
        ax.set(xlabel="recall", ylabel="precision", xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        legend_above(ax)
        label_points(ax, names, points, [(x, y, y) for x, y in (*points, *obstacles)])


def _along(x: Values, y: Values) -> list[tuple[float, float]]:
    """Return points along a curve, close enough together that no label fits between them."""
    length = np.append(0.0, np.cumsum(np.hypot(np.diff(x), np.diff(y))))
    at = np.arange(0.0, length[-1], _STEP)
    return list(zip(np.interp(at, length, x).tolist(), np.interp(at, length, y).tolist(), strict=True))


def interpolated(recall: Values, precision: Values) -> tuple[Values, Values]:
    """Return the interpolated curve: at each recall, the greatest precision of a raw curve from there on.

    The raw curve is straight between its points, so the interpolated one follows it wherever it falls below all that
    came before it, and is horizontal elsewhere.
    """
    # The greatest precision from each point on.
    greatest = np.maximum.accumulate(precision[::-1])[::-1]
    x, y = [float(recall[0])], [float(greatest[0])]
    for i in range(len(recall) - 1):
        end = float(greatest[i + 1])
        if precision[i] > end:
            # The raw curve falls to this value before its next point, or at this point.
            share = (precision[i] - end) / (precision[i] - precision[i + 1])
            x.append(float(recall[i] + share * (recall[i + 1] - recall[i])))
            y.append(end)
        x.append(float(recall[i + 1]))
        y.append(end)
    return np.array(x), np.array(y)
