"""The style of figures, readable in print, in grey and by the colour-blind; matplotlib is imported on first use."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tieaware.checks.arguments import unexpected
from tieaware.runtime.atomic_files import whole_file
from tieaware.runtime.extras import load

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which the colour-blind can distinguish; markers and dashes distinguish lines in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (1, 1)))

# Longer names are shortened, to leave room for the plot.
_LENGTH = 40

_PATH, _DIGITS = re.compile(rb' d="[^"]*"|<use [^>]*>'), re.compile(rb"(\.\d\d)\d+")

_STYLE = {
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 9.0,
    "lines.markersize": 5.0,
    "svg.hashsalt": "tieaware",  # the same figure, the same bytes
}


@dataclass(frozen=True)
class Drawing:
    """A figure to be drawn: its caption, a function that draws into axes, its size in inches, and its name."""

    caption: str
    draw: Callable[[Axes], object]
    size: tuple[float, float] = (6.2, 4.0)
    title: str = ""

    def figure(self) -> Figure:
        """Return the figure by itself, without a window."""
        with load("matplotlib", "analysis").rc_context(_STYLE):
            figure: Figure = load("matplotlib.figure", "analysis").Figure(figsize=self.size, layout="constrained")
            self.draw(figure.subplots())
        return figure

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the figure into the given axes, or into a new pyplot figure; return the axes."""
        if ax is None:
            with load("matplotlib", "analysis").rc_context(_STYLE):
                _, ax = load("matplotlib.pyplot", "analysis").subplots(figsize=self.size, layout="constrained")
                self.draw(ax)
            return ax
        self.draw(ax)
        return ax

    def save(self, *paths: str | os.PathLike[str]) -> None:
        """Write the figure to files, each whole or not at all, in the formats of their suffixes.

        Raises
        ------
        InputError
            If the suffix of a path is unknown, or the file cannot be written.
        """
        figure = self.figure()
        known = sorted(figure.canvas.get_supported_filetypes())
        for path in (os.fsdecode(given) for given in paths):
            suffix = os.path.splitext(path)[1].lower()
            if suffix[1:] not in known:
                raise unexpected(path, f"one of .{', .'.join(known)}", suffix or "no suffix")
            # No date, so that equal figures are equal files.
            metadata: dict[str, Any] = {"Date": None} if suffix == ".svg" else {}
            with load("matplotlib", "analysis").rc_context(_STYLE), whole_file(path) as file:
                image = io.BytesIO()
                figure.savefig(image, format=suffix[1:], dpi=160, metadata=metadata)
                file.write(_lean(image.getvalue()) if suffix == ".svg" else image.getbuffer())


def _lean(svg: bytes) -> bytes:
    """Round the coordinates of lines to hundredths of a point: invisible, and half the size."""
    return _PATH.sub(lambda path: _DIGITS.sub(rb"\1", path[0]), svg)


def style(i: int) -> dict[str, Any]:
    """Return the colour, marker and dashes of line i."""
    n = len(COLOURS)
    return {"color": COLOURS[i % n], "marker": MARKERS[(i + i // n) % n], "linestyle": DASHES[(i + i // n) % n]}


def display_name(name: str) -> str:
    """Return a name as figures show it: shortened, printable, not read as a formula or hidden for its underscore."""
    short = name if len(name) <= _LENGTH else f"{name[: _LENGTH - 1]}…"
    shown = short.encode("utf-8", "replace").decode().replace("$", r"\$")
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in shown)
    return f"\u200b{shown}" if shown.startswith("_") else shown


def file_name(shown: object) -> str:
    """Return a text, such as a measure's notation, as a part of a file name: short, without special characters."""
    return "".join(c if c.isalnum() or c in ".-" else "_" for c in str(shown)[:50]).strip("_")
