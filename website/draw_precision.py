"""Draw the figures of docs/precision.md that need a public collection: AP beside RR, on the first round of TREC-COVID.

    python website/draw_precision.py ../shared/data/trec_covid_r1 website/figures

The first folder has qrels-rnd1.txt and the folder runs. matplotlib and SciPy are required.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tieaware.experiments import banding
from tieaware.output.plots import Drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The names of the files, and the beginnings of the names of the experiment's figures.
FIGURES = {"precision.svg": "differences", "precision-p-values.svg": "changes"}


def beside(drawings: Mapping[str, Drawing], names: Sequence[str]) -> Drawing:
    """Return a figure of several drawings beside each other, on one vertical scale, each under its measure's name."""

    def draw(ax: Axes) -> None:
        figure = ax.figure
        ax.remove()
        axes = figure.subplots(1, len(names), sharey=True)
        for place, name in zip(axes, names, strict=True):
            drawings[name].draw(place)
            place.tick_params(axis="x", labelsize=8)
            place.set_title(name.rpartition("-")[2], pad=4, fontweight="bold")
            legend = place.get_legend()
            entries = zip(legend.legend_handles, legend.get_texts(), strict=True)
            handles, texts = zip(*((handle, text.get_text()) for handle, text in entries), strict=True)
            legend.remove()
        for place in axes[1:]:
            place.set_ylabel("")
        axes[0].set_ylabel(axes[0].get_ylabel().replace("AP of a query", "value of a query"))
        # The direction of loss is at the right of the last axes.
        for text in axes[0].texts:
            text.set_visible(not set("←→") & set(text.get_text()))
        figure.legend(handles, texts, loc="outside upper left", ncols=len(handles))

    return Drawing("", draw, (8.4, 4.0))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("collection", type=Path)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    outcome = banding(arguments.collection / "qrels-rnd1.txt", arguments.collection / "runs", measures=["AP", "RR"])
    drawings = outcome.drawings()
    for file, kind in FIGURES.items():
        beside(drawings, [f"{kind}-AP", f"{kind}-RR"]).save(arguments.folder / file)
