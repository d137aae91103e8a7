"""The figures of the assessors experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.checks.rounding import merged
from tieaware.experiments.label_placement import label_points
from tieaware.output.plots import COLOURS, display_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# If there are more runs than _FEW, only NAMED runs are named.
_FEW, NAMED = 12, 8


@dataclass(frozen=True)
class Means:
    """Draw the mean of each run by the labels of one assessor against that by the other's.

    Attributes
    ----------
    runs : sequence of str
    first, second : float64[n_runs]
        The means by either assessor.
    names : tuple of two str
        The names of the assessors.
    measure : str
    """

    runs: Sequence[str]
    first: Values
    second: Values
    names: tuple[str, str]
    measure: str

    @property
    def named(self) -> list[int]:
        """The runs that are named, by position: all if they are few, otherwise those whose ranks differ most."""
        if len(self.runs) <= _FEW:
            return list(range(len(self.runs)))
        moved = np.abs(_middle_ranks(self.second) - _middle_ranks(self.first))
        order: list[int] = np.argsort(-moved, kind="stable").tolist()
        return order[:NAMED]

    def __call__(self, ax: Axes) -> None:
        both = np.concatenate((self.first, self.second))
        space = 0.06 * float(np.ptp(both)) or 0.05
        ends = float(both.min()) - space, float(both.max()) + space
        ax.plot(ends, ends, color="#666666", linestyle=":", linewidth=1.2)
        ax.plot(self.first, self.second, "o", color=COLOURS[0], markersize=6.0, markeredgecolor="#ffffff")
        x, y = (f"mean {self.measure} by {display_name(name)}" for name in self.names)
        ax.set(xlabel=x, ylabel=y, xlim=ends, ylim=ends, aspect="equal")
        points = list(zip(self.first.tolist(), self.second.tolist(), strict=True))
        diagonal = [(each, each, each) for each in np.linspace(*ends, 60).tolist()]
        obstacles = [*((x, y, y) for x, y in points), *diagonal]
        label_points(ax, [self.runs[i] for i in self.named], [points[i] for i in self.named], obstacles)


def _middle_ranks(means: Values) -> Values:
    """Return the rank of each mean, from 0 for the smallest; equal means share the middle of their ranks."""
    means = merged(means)
    ordered = np.sort(means)
    ranks: Values = (np.searchsorted(ordered, means) + np.searchsorted(ordered, means, "right") - 1) / 2.0
    return ranks
