"""The figure of means: one row for each run, with a point for its mean and a bar for the range over orders of ties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tieaware.checks.rounding import merged
from tieaware.output.plots import COLOURS, Drawing, display_name
from tieaware.results.exports import Column, Export

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The height of a row in inches, and of everything else. Names of runs in lower rows than this would overlap, so figures
# of more runs have a fixed height and no names.
_ROW, _REST, _MOST_NAMED, _HEIGHT_WITHOUT_NAMES = 0.27, 1.3, 80, 6.0


def means_figure(export: Export, place: int) -> Drawing:
    """Return the figure of the means of one measure, with the highest mean at the top.

    Parameters
    ----------
    export : Export
    place : int
        The position of the measure's column of values among the columns of values.
    """
    starts = [i for i, column in enumerate(export.columns) if column.kind == "value"]
    value = export.columns[starts[place]]
    kinds = {column.kind: column for column in export.columns if column.measure is value.measure}
    limits = (kinds["min"], kinds["max"]) if "min" in kinds else None
    n = len(export.runs)
    height = _ROW * n + _REST if n <= _MOST_NAMED else _HEIGHT_WITHOUT_NAMES

    def draw(ax: Axes) -> None:
        _draw(ax, export.runs, value, limits)
        ax.set_title(export.title, loc="left", fontsize=10.0)

    return Drawing(export.title, draw, (6.2, height))


def _draw(ax: Axes, runs: Sequence[str], value: Column, limits: tuple[Column, Column] | None) -> None:
    """Draw the points, and the bars between the limits if they are known."""
    # Stable sort: runs with equal means keep their order. NaN sorts last, and matplotlib draws no point for it.
    order = np.argsort(-merged(value.summary), kind="stable")
    rows = np.arange(len(order))
    explanation = ", summed over the queries" if value.is_count else ""
    if limits is not None:
        least, greatest = (column.summary[order] for column in limits)
        ax.hlines(rows, least, greatest, color=COLOURS[0], alpha=0.35, linewidth=5.0)
        explanation += "\nbars: range over the orders of ties"
    ax.plot(value.summary[order], rows, "o", color=COLOURS[0])
    ax.set_xlabel(f"{display_name(value.name)}{explanation}")
    ax.set_ylim(len(order) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
    if len(order) <= _MOST_NAMED:
        ax.set_yticks(rows, [display_name(runs[i]) for i in order])
    else:
        ax.set_yticks([])
        ax.set_ylabel(f"{len(order):,} runs, the highest first")
