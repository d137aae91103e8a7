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
        names, points = [], []
        for i, run in enumerate(self.runs):
            name, colour = display_name(run.name), COLOURS[i]
            ax.plot(run.recall, run.precision, color=colour, linewidth=0.8, alpha=0.7, label=f"{name}, raw")
            # From the right, keep the greatest precision so far.
            greatest = np.maximum.accumulate(run.precision[::-1])[::-1]
            ax.step(run.recall, greatest, where="pre", color=colour, linewidth=2.0, linestyle=DASHES[i],
                    label=f"{name}, interpolated")  # fmt: skip
            marks = {
                f"break-even {significant(run.named.break_even)}": ("o", (run.named.break_even,) * 2),
                f"F1 {significant(run.named.f1)}": ("D", (run.named.recall, run.named.precision)),
            }
            for shown, (marker, point) in marks.items():
                ax.plot(*point, marker, color=colour, markeredgecolor="#ffffff", markersize=7.0, zorder=3.5)
                names.append(shown)
                points.append(point)
        ax.set(xlabel="recall", ylabel="precision", xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        legend_above(ax)
        label_points(ax, names, points, [(x, y, y) for x, y in points])
