"""The figures of the pooling experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tieaware.checks.arrays import Integers, Values
from tieaware.output.plots import COLOURS, display_name, legend_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The most runs in a figure.
DRAWN = 60


@dataclass(frozen=True)
class PoolSizes:
    """Draw the expected size of the pool of each query, between its certain documents and whole tie groups."""

    expected: Values
    certain: Integers
    largest: Integers

    def __call__(self, ax: Axes) -> None:
        order = np.lexsort((self.largest, self.expected))
        # Each query is as wide as a step, so that a single query is visible too.
        edges = np.arange(len(order) + 1) + 0.5

        def step(values: Values | Integers) -> Values:
            ordered = values[order]
            return np.append(ordered, ordered[-1:] if len(ordered) else 0.0)

        ax.fill_between(
            edges, step(self.certain), step(self.largest), step="post", color="#cfe3f1", label="certain to whole groups"
        )
        ax.step(edges, step(self.expected), where="post", color=COLOURS[0], linewidth=1.8, label="expected")
        ax.set(xlabel="queries, by expected size", ylabel="documents in the pool", xlim=(0.5, max(len(order), 1) + 0.5))
        ax.set_ylim(bottom=0.0)
        ax.locator_params(axis="x", integer=True)
        legend_above(ax)


@dataclass(frozen=True)
class UniqueDocuments:
    """Draw the expected number of documents that only one run contributes, and of relevant ones."""

    runs: Sequence[str]
    unique: Values
    relevant: Values | None

    def __call__(self, ax: Axes) -> None:
        order = np.argsort(self.unique, kind="stable")[-DRAWN:]
        places = np.arange(len(order))
        ax.barh(places, self.unique[order], color="#8fbcd9", height=0.7, label="unique")
        if self.relevant is not None:
            ax.barh(places, self.relevant[order], color=COLOURS[0], height=0.7, label="unique and relevant")
        ax.set_yticks(places, [display_name(self.runs[i]) for i in order], fontsize=8)
        ax.set_ylim(-0.7, len(order) - 0.3)
        ax.set_xlim(left=0.0)
        ax.grid(visible=False, axis="y")
        ax.set_xlabel("documents of a single run")
        legend_above(ax)
