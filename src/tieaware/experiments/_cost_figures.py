"""The figures of the experiment on inexact retrieval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.output.plots import Axes, display_name, label_points, legend_above, style


@dataclass(frozen=True)
class CostAxis:
    """The horizontal axis of the costs of methods, the baseline first, as ratios to the cost of the baseline."""

    methods: Sequence[str]
    ratios: Values
    cost: str

    def families(self) -> list[tuple[str, list[int]]]:
        """Group the methods into families, which differ in their parameters only; sort each family by cost."""
        families: dict[str, list[int]] = {}
        for i, method in enumerate(self.methods):
            families.setdefault(method.partition("(")[0], []).append(i)
        return [(name, sorted(family, key=lambda i: float(self.ratios[i]))) for name, family in families.items()]

    def names(self, some: Sequence[int]) -> list[str]:
        """Return the names of methods without the weighting of the first one, which the axis names."""
        _, option, rest = self.methods[0].partition("weighting='")
        weighting = option + rest[: rest.find("'") + 1]
        if not option:
            return [self.methods[i] for i in some]
        shorter = [name.replace(f", {weighting}", "").replace(weighting, "") for name in self.methods]
        return [self.methods[i] if i == 0 else shorter[i] for i in some]

    def draw(self, ax: Axes) -> None:
        """Set the scale, the ticks and the name of the axis."""
        ax.set_xscale("log")
        least, most = 100.0 * self.ratios.min(), 100.0 * self.ratios.max()
        steps = (1, 1.5, 2, 3, 5, 7) if most < 10.0 * least else (1, 2, 5)
        ticks = [i * 10.0**k for k in range(-6, 6) for i in steps]
        shown = [tick for tick in ticks if least / 1.3 <= tick <= most * 1.3]
        ax.set_xticks([tick / 100.0 for tick in shown], [f"{tick:,g} %" for tick in shown])
        ax.minorticks_off()
        ax.set_xlabel(f"{self.cost}, relative to {display_name(self.methods[0])}")


def draw_frontier(
    axis: CostAxis, means: Values, least: Values, greatest: Values, frontier: list[int], measure: str, ax: Axes
) -> None:
    """Draw quality against cost, with one marker and line per family of methods, and the Pareto frontier.

    The means are those of the measure, and `least` and `greatest` those over the tie orders: float64[n_methods]. The
    frontier has the positions of its methods, by ascending cost.
    """
    costs = axis.ratios
    ax.step(costs[frontier], means[frontier], where="post", color="#888888", linewidth=4.0, alpha=0.4,
            label="best by cost")  # fmt: skip
    ends = np.stack([least, greatest])
    for place, (family, order) in enumerate(axis.families()):
        ax.errorbar(
            costs[order], means[order], yerr=np.abs(ends[:, order] - means[order]), label=display_name(family),
            linewidth=0.9, elinewidth=1.2, **style(place),
        )  # fmt: skip
    axis.draw(ax)
    ax.set_ylabel(f"mean {measure}")
    legend_above(ax)
    points = list(zip(costs[frontier].tolist(), means[frontier].tolist(), strict=True))
    corners = [(after[0], before[1]) for before, after in pairwise(points)]
    steps = [each for pair in zip(points, corners, strict=False) for each in pair] + points[-1:]
    lines = [np.column_stack([costs[order], means[order]]) for _, order in axis.families()]
    obstacles = list(zip(costs.tolist(), *ends.tolist(), strict=True))
    label_points(ax, axis.names(frontier), points, obstacles, [*lines, np.array(steps)])


def draw_agreement(axis: CostAxis, agreement: Values, ax: Axes) -> None:
    """Draw how well the rankings of each method agree with those of exact search, against the cost of the method."""
    for place, (family, order) in enumerate(axis.families()):
        ax.plot(
            axis.ratios[order], agreement[order], label=display_name(family), linewidth=0.9,
            **style(place),
        )  # fmt: skip
    axis.draw(ax)
    ax.set_ylabel("rank-biased overlap")
    legend_above(ax)
