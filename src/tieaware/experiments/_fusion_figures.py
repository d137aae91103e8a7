"""The figures of the experiment on fused runs: a mean as a function of the weight of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.checks.rounding import rounding_of
from tieaware.output.plots import COLOURS, DASHES, colour, display_name, legend_above
from tieaware.output.tables import significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MOST_STEPS = 4_000


@dataclass(frozen=True)
class Curve:
    """A mean as a step function of the weight of a run, and the chosen weight.

    Attributes
    ----------
    run : str
    edges : float64[n + 1]
        The weights at which the mean changes, from 0 to 1.
    means, errors : float64[n]
        The means between the edges, and their standard errors over the queries.
    weight, value : float
        The chosen weight of the run, and the mean there.
    interval, plateau : tuple of float
        The weights around the chosen one with the same mean, and those that no paired t-test separates from it.
    varies : bool
        Whether any weight has another mean than the chosen one, even if only because documents tie there.
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


@dataclass(frozen=True)
class WeightFigure:
    """Draw one or several curves, and the levels of other runs for comparison.

    With one curve, its standard error and the plateau are shaded.
    """

    curves: tuple[Curve, ...]
    measure: str
    levels: dict[str, float]

    def __call__(self, ax: Axes) -> None:
        """Draw into axes."""
        alone = len(self.curves) == 1
        for i, curve in enumerate(map(thinned, self.curves)):
            if alone:
                self._shade(ax, curve)
            name = "fused, by weight" if alone else display_name(curve.run)
            ax.stairs(curve.means, curve.edges, baseline=None, color=colour(i), linewidth=1.4,
                      linestyle=DASHES[i % len(DASHES)], label=name, zorder=3)  # fmt: skip
            best = f"best on all queries, {significant(curve.value)}" if i == 0 else "_"
            ax.plot([curve.weight], [curve.value], "o", color=colour(i), markeredgecolor="#ffffff",
                    markersize=7.0, label=best, zorder=4)  # fmt: skip
        for i, (name, value) in enumerate(self.levels.items()):
            ax.axhline(value, color=("#000000", "#555555", "#999999")[min(i, 2)], linestyle=DASHES[(i + 1) % 5],
                       linewidth=1.2, label=f"{display_name(name)}, {significant(value)}")  # fmt: skip
        run = display_name(self.curves[0].run)
        ax.set(xlim=(0.0, 1.0), xlabel=f"weight of {run}" if alone else "weight of the run", ylabel=self.measure)
        legend_above(ax)

    @staticmethod
    def _shade(ax: Axes, curve: Curve) -> None:
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
