"""The figures of the experiment on inexact retrieval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.experiments.label_placement import label_points
from tieaware.output.plots import display_name, legend_above, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _families(methods: Sequence[str], shares: Values) -> dict[str, list[int]]:
    """Group the methods into families, which differ in their parameters only; sort each family by cost."""
    families: dict[str, list[int]] = {}
    for i, method in enumerate(methods):
        families.setdefault(method.partition("(")[0], []).append(i)
    return {name: sorted(family, key=lambda i: float(shares[i])) for name, family in families.items()}


@dataclass(frozen=True)
class Frontier:
    """Draw quality against cost, with one marker and line per family of methods, and the Pareto frontier.

    Attributes
    ----------
    methods : sequence of str
        The baseline, followed by the methods.
    shares : float64[n_methods]
        The postings read by each method ÷ those of the baseline.
    means, least, greatest : float64[n_methods]
        The mean of the measure for each method, and the least and the greatest mean over the tie orders.
    frontier : list of int
        The methods on the Pareto frontier, as positions in `methods`, by ascending cost.
    measure : str
    """

    methods: Sequence[str]
    shares: Values
    means: Values
    least: Values
    greatest: Values
    frontier: list[int]
    measure: str

    def __call__(self, ax: Axes) -> None:
        shares, means = self.shares, self.means
        ax.step(shares[self.frontier], means[self.frontier], where="post", color="#888888", linewidth=4.0, alpha=0.4,
                label="best by cost")  # fmt: skip
        ends = np.stack([self.least, self.greatest])
        for place, (family, order) in enumerate(_families(self.methods, shares).items()):
            ax.errorbar(
                shares[order], means[order], yerr=np.abs(ends[:, order] - means[order]), label=display_name(family),
                linewidth=0.9, elinewidth=1.2, **style(place),
            )  # fmt: skip
        _cost_axis(ax, shares, self.methods[0])
        ax.set_ylabel(f"mean {self.measure}")
        legend_above(ax)
        names = [self.methods[i] for i in self.frontier]
        points = list(zip(shares[self.frontier].tolist(), means[self.frontier].tolist(), strict=True))
        label_points(ax, names, points, list(zip(shares.tolist(), *ends.tolist(), strict=True)))


@dataclass(frozen=True)
class Agreement:
    """Draw how well the rankings of each method agree with those of the baseline, against the cost of the method."""

    methods: Sequence[str]
    shares: Values
    agreement: Values

    def __call__(self, ax: Axes) -> None:
        for place, (family, order) in enumerate(_families(self.methods, self.shares).items()):
            ax.plot(
                self.shares[order], self.agreement[order], label=display_name(family), linewidth=0.9, **style(place)
            )
        _cost_axis(ax, self.shares, self.methods[0])
        ax.set_ylabel("rank-biased overlap")
        legend_above(ax)


def _cost_axis(ax: Axes, shares: Values, baseline: str) -> None:
    ax.set_xscale("log")
    least, most = 100.0 * shares.min(), 100.0 * shares.max()
    ticks = [i * 10.0**k for k in range(-6, 6) for i in (1, 2, 5)]
    shown = [tick for tick in ticks if least / 1.3 <= tick <= most * 1.3]
    ax.set_xticks([tick / 100.0 for tick in shown], [f"{tick:,g} %" for tick in shown])
    ax.minorticks_off()
    ax.set_xlabel(f"postings read, relative to {display_name(baseline)}")
