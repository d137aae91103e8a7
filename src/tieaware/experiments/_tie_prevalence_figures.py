"""The figures of the tie prevalence experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.output.plots import COLOURS, MARKERS, display_name
from tieaware.output.tables import significant
from tieaware.statistics import Ties

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The most runs in a figure.
DRAWN = 60


@dataclass(frozen=True)
class Shares:
    """Draw the share of each run's documents that tie, with the original scores and with the scores as float32."""

    runs: Sequence[str]
    ties: Sequence[Ties]

    def __call__(self, ax: Axes) -> None:
        shares = np.array([ties.tied_documents / max(ties.documents, 1) for ties in self.ties])
        single = np.array([ties.float32_documents / max(ties.documents, 1) for ties in self.ties])
        order = np.lexsort((single, shares))[-DRAWN:]
        places = np.arange(len(order))
        ax.barh(places, shares[order], color="#8fbcd9", height=0.7, label="tied")
        ax.plot(single[order], places, "|", color="#D55E00", markersize=7, markeredgewidth=1.6, label="as float32")
        _run_axis(ax, [display_name(self.runs[i]) for i in order])
        ax.set_xlim(0.0, 1.02)
        ax.set_xlabel("share of documents that tie")


@dataclass(frozen=True)
class Sizes:
    """Draw the share of all documents by the size of their tie group, with a bar per power of two."""

    ties: Sequence[Ties]

    def __call__(self, ax: Axes) -> None:
        sizes = np.concatenate([ties.sizes for ties in self.ties])
        untied = sum(ties.documents for ties in self.ties) - int(sizes.sum())
        edges = 2 ** np.arange(0, max(int(sizes.max(initial=1)).bit_length(), 1) + 1)
        documents = np.histogram(np.append(sizes, 1), edges, weights=np.append(sizes, untied))[0]
        ax.bar(np.arange(len(documents)), documents / max(documents.sum(), 1), color="#8fbcd9", edgecolor="#0072B2")
        names = [f"{low}" if low == 1 else f"{low}–{2 * low - 1}" for low in edges[:-1]]
        ax.set_xticks(np.arange(len(documents)), names, rotation=35, ha="right")
        ax.set_xlabel("size of the group of equal scores (1: untied)")
        if documents.any():
            ax.set_yscale("log")
        ax.set_ylabel("share of documents")


@dataclass(frozen=True)
class Ranges:
    """Draw how far tie orders move each run's mean from the average over all orders.

    Attributes
    ----------
    runs : sequence of str
    average, worst, best : float64[n_runs]
        The mean of each run: averaged over all orders of ties, in the worst order, and in the best order.
    marked : mapping of str to float64[n_runs]
        The means of the runs under other tie rules, by the name of the rule in the legend.
    quantity : str
        The name of the horizontal axis.
    """

    runs: Sequence[str]
    average: Values
    worst: Values
    best: Values
    marked: Mapping[str, Values]
    quantity: str

    def __call__(self, ax: Axes) -> None:
        furthest = np.argsort(np.abs(self.best - self.worst), kind="stable")[-DRAWN:]
        order = furthest[np.argsort(self.average[furthest], kind="stable")]
        worst, best = ((means - self.average)[order] for means in (self.worst, self.best))
        places = np.arange(len(order))
        ax.use_sticky_edges = False
        ax.axvline(0.0, color="#888888", linewidth=0.8)
        ax.barh(
            places, best - worst, left=worst, color="#cfe3f1", edgecolor="#0072B2", height=0.7,
            label="worst to best order",
        )  # fmt: skip
        for i, (name, means) in enumerate(self.marked.items(), 1):
            moved = (means - self.average)[order]
            ax.plot(moved, places, MARKERS[i], color=COLOURS[i], markersize=5, markerfacecolor="none", label=name)
        _run_axis(ax, [f"{display_name(self.runs[i])}  {significant(self.average[i])}" for i in order])
        ax.set_xlabel(self.quantity)


def _run_axis(ax: Axes, runs: Sequence[str]) -> None:
    ax.set_yticks(np.arange(len(runs)), runs, fontsize=8)
    ax.set_ylim(-0.7, len(runs) - 0.3)
    ax.grid(visible=False, axis="y")
    # Put the legend above the axes, where it hides no bar and may extend over the names of the runs.
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3)
