"""The style of figures, which can be read in print, in shades of grey, and by the colour-blind; labels of points.

matplotlib is imported when it is first used.
"""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tieaware.checks.arguments import number, path_text, unexpected
from tieaware.checks.arrays import Values
from tieaware.errors import InputError
from tieaware.runtime.atomic_files import whole_file
from tieaware.runtime.extras import load

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation
else:
    # Modules that draw import the class from here, for their annotations.
    Axes = "matplotlib.axes.Axes"

# Okabe and Ito's colours, which the colour-blind can distinguish. In print without colours, markers and dashes help.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# Tol's muted colours, for figures that need more.
_MORE_COLOURS = ("#882255", "#999933", "#332288", "#44AA99", "#AA4499", "#661100", "#88CCEE")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (1, 1)))

# The pixels per inch of images.
_DPI = 160.0

# Names of more characters are shortened, to leave room for the plot.
_LENGTH = 40

# A legend of more entries would be a search; the lines are labelled instead.
_MOST_ENTRIES = 8

_FIGURE_ENDINGS = (".png", ".pdf", ".svg", ".jpg", ".eps")

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

_PATH, _DIGITS = re.compile(rb' d="[^"]*"|<use [^<>]*>'), re.compile(rb"(\.\d\d)\d+")

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
    "figure.autolayout": False,
    "figure.constrained_layout.use": False,
    "svg.hashsalt": "tieaware",  # fixed, so that the same figure always has the same bytes
    # Type 42: conferences refuse Type 3, and no editor changes its text.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
}


@dataclass(frozen=True)
class Drawing:
    """A figure that is drawn on demand: a caption, a function that draws into axes, a size in inches, and a title."""

    caption: str
    draw: Callable[[Axes], object]
    size: tuple[float, float] = (6.2, 4.0)
    title: str = ""

    def figure(self) -> Figure:
        """Draw and return the figure without pyplot, so that no window opens."""
        with load("matplotlib", "analysis").rc_context(_STYLE):
            figure: Figure = load("matplotlib.figure", "analysis").Figure(figsize=self.size, layout="constrained")
            self.draw(figure.subplots())
        return figure

    def of_width(self, width: float | None) -> Drawing:
        """Return the same figure with this width in inches, by default its own; its height and its text stay."""
        if width is None:
            return self
        return replace(self, size=(number("width", width, 1.0, 100.0), self.size[1]))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the figure into the given axes, or into a new pyplot figure; return the axes."""
        if ax is None:
            # The first figure loads matplotlib's backend. The one of notebooks then switches to interactive mode, which
            # leaving rc_context would undo.
            figure = load("matplotlib.pyplot", "analysis").figure(figsize=self.size, layout="constrained")
            with load("matplotlib", "analysis").rc_context(_STYLE):
                ax = figure.subplots()
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
        checked = [path_text("paths", path) for path in paths]
        figure = self._laid_out()
        known = sorted(figure.canvas.get_supported_filetypes())
        for path in checked:
            suffix = os.path.splitext(path)[1].lower()
            if suffix[1:] not in known:
                raise unexpected(path, f"one of .{', .'.join(known)}", suffix or "no suffix")
            with whole_file(path) as file:
                file.write(_image(figure, suffix[1:]))

    def images(self, *forms: str) -> Iterator[bytes]:
        """Draw the figure, and yield an image of it in each format, such as "svg", made when it is asked for."""
        figure = self._laid_out()
        for form in forms:
            yield _image(figure, form)

    def svg(self) -> bytes:
        """Return the figure as an SVG image."""
        return next(self.images("svg"))

    def _laid_out(self) -> Figure:
        """Return the figure with a fixed layout. Otherwise matplotlib would repeat the layout for each image."""
        figure = self.figure()
        # This canvas measures texts without drawing.
        load("matplotlib.backends.backend_agg", "analysis").FigureCanvasAgg(figure)
        with load("matplotlib", "analysis").rc_context(_STYLE):
            figure.set_dpi(_DPI)
            layout = figure.get_layout_engine()
            assert layout is not None  # as in `figure`
            layout.execute(figure)
            # With "none" instead of None, matplotlib would draw each image twice, for a layout that may follow.
            figure.set_layout_engine(None)
        return figure


def _image(figure: Figure, form: str) -> bytes:
    """Return a figure as an image in a format such as "svg"."""
    # Leave out the date, so that the same figure always has the same bytes.
    metadata: dict[str, Any] = {"Date": None} if form == "svg" else {}
    image = io.BytesIO()
    with load("matplotlib", "analysis").rc_context(_STYLE):
        figure.savefig(image, format=form, dpi=_DPI, metadata=metadata)
    return _lean(image.getvalue()) if form == "svg" else image.getvalue()


def _lean(svg: bytes) -> bytes:
    """Round the coordinates in an SVG file to hundredths of a point. It looks the same at half the size."""
    return _PATH.sub(lambda path: _DIGITS.sub(rb"\1", path[0]), svg)


def check_axes(ax: object) -> None:
    """Raise InputError if a measure or the path of a file was passed where `plot` takes matplotlib axes."""
    if ax is None or hasattr(ax, "get_figure"):
        return
    given = os.fsdecode(ax) if isinstance(ax, os.PathLike) else str(ax)
    is_file = given.lower().endswith(_FIGURE_ENDINGS)
    instead = f"plot().figure.savefig({given!r})" if is_file else f"plot(measure={given!r})"
    raise InputError("plot", f"the first argument is matplotlib axes; type {instead}")


def style(i: int) -> dict[str, Any]:
    """Return the colour, the marker and the dashes that distinguish line i of a figure from the others."""
    n = len(COLOURS)
    return {"color": colour(i), "marker": MARKERS[(i + i // n) % n], "linestyle": DASHES[(i + i // n) % n]}


def colour(i: int) -> str:
    """Return colour i: one of `COLOURS`, then one of Tol's, then their mixtures with grey; no two are the same."""
    all_colours = (*COLOURS, *_MORE_COLOURS)
    turn, place = divmod(i, len(all_colours))
    share = 0.5**turn  # of the colour itself, in the mixture with grey
    parts = (int(all_colours[place][at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(share * part + (1.0 - share) * 0x70):02x}" for part in parts)


def legend_above(ax: Axes) -> None:
    """Put a legend above the axes, where it covers no data, in as many columns as the figure is wide enough for.

    If it would have more than eight entries, the lines have their names on them instead.
    """
    handles, names = ax.get_legend_handles_labels()
    if len(names) > _MOST_ENTRIES:
        ax.figure.canvas.figure.draw_without_rendering()  # the layout moves the axes
        corners = list(map(_corners, handles))
        others = [i for i, each in enumerate(corners) if len(each) < 2]
        if len(others) <= _MOST_ENTRIES:
            _label_lines(ax, [(names[i], handles[i], each) for i, each in enumerate(corners) if i not in others])
            handles, names = [handles[i] for i in others], [names[i] for i in others]
    inches = ax.figure.bbox.width / ax.figure.dpi
    columns = int(12.5 * inches / (max(map(len, names), default=1) + 6))  # at least 12.5 characters fit into an inch
    ax.legend(
        handles, names, loc="lower left", bbox_to_anchor=(0.0, 1.01), borderaxespad=0.0, ncols=min(max(columns, 1), 4)
    )


def _line_of(entry: Any) -> Any:
    """Return what an entry of the legend shows; of a line with error bars, only the line."""
    return entry.lines[0] if hasattr(entry, "lines") else entry


def _corners(entry: Any) -> Values:
    """Return the corners of the line of an entry in the legend, in pixels, float64[n, 2]; no other entry has any."""
    line = _line_of(entry)
    is_line = line.get_linestyle() != "None" if hasattr(line, "get_xydata") else hasattr(line, "get_data")  # steps
    if not is_line:
        return np.empty((0, 2))
    corners = line.get_transform().transform(line.get_path().vertices)
    return np.asarray(corners[np.isfinite(corners).all(axis=1)])


def _label_lines(ax: Axes, lines: Sequence[tuple[str, Any, Values]]) -> None:
    """Write the name of each line on it, where the other lines, and the names on them, are farthest away.

    A line is its name, its entry in the legend, and its corners in pixels.
    """
    left, bottom, right, top = ax.get_window_extent().extents
    every = [_along(corners) for *_, corners in lines]
    every = [points[np.linspace(0, len(points) - 1, min(len(points), 60)).astype(int)] for points in every]
    taken: list[tuple[Values, Values]] = []
    for i, (name, entry, _) in enumerate(lines):
        # Half the width and the height of the name; a letter is about as wide as half its height.
        half = np.array([0.3 * len(name) + 1.0, 0.7]) * (_SIZE * ax.figure.dpi / 72.0)
        x, y = every[i].T
        inside = (x > left + half[0]) & (x < right - half[0]) & (y > bottom) & (y < top)
        own = every[i][inside] if inside.any() else every[i]
        # From 1 on, a point is beside the name. Without other lines, every place is as good.
        distances = [np.abs(own[:, None] - points) / half for j, points in enumerate(every) if j != i]
        distances += [np.abs(own[:, None] - point) / (half + other) for point, other in taken]
        free = np.concatenate([*distances, np.full((len(own), 1, 2), np.inf)], axis=1).max(axis=2).min(axis=1)
        best = own[int(free.argmax())]
        taken.append((best, half))
        x, y = ax.transData.inverted().transform(best).tolist()
        line = _line_of(entry)
        label = ax.text(
            x, y, name, fontsize=_SIZE, ha="center", va="center", zorder=5.0,
            color=line.get_color() if hasattr(line, "get_color") else line.get_edgecolor(),
            bbox={"facecolor": "#ffffff", "edgecolor": "none", "pad": 0.6},
        )  # fmt: skip
        label.set_in_layout(False)  # as those of points


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Name the rows at 0, 1 … of a figure, which has no lines along them."""
    ax.set_yticks(range(len(names)), names, fontsize=8)
    ax.set_ylim(-0.7, len(names) - 0.3)
    ax.grid(visible=False, axis="y")


def label_powers_of_ten(*axes: Axis) -> None:
    """Label the powers of ten on logarithmic axes with plain text; matplotlib would parse each as a formula."""
    for axis in axes:
        axis.set_major_formatter(lambda value, _: f"10{str(round(math.log10(value))).translate(_SUPERSCRIPTS)}")
        axis.set_minor_formatter("")


def label_factors(axis: Axis, most: float) -> None:
    """Label a logarithmic axis of factors from 1 ÷ `most` to `most` with plain numbers."""
    steps = (2.0, 5.0) if most < 40.0 else (1.0,)
    above = [step * 10.0**k for k in range(4) for step in steps if 1.0 < step * 10.0**k <= most]
    axis.set_ticks([*(1.0 / tick for tick in above), 1.0, *above])
    axis.set_major_formatter(lambda value, _: f"{value:g}")


def display_name(name: str) -> str:
    """Return a name in the form that figures show: shortened, and without non-printable characters.

    matplotlib would read text between dollar signs as a formula, and would leave a name that begins with an underscore
    out of legends. The returned name is shown as it is.
    """
    short = name if len(name) <= _LENGTH else f"{name[: _LENGTH - 1]}…"
    shown = short.encode("utf-8", "replace").decode().replace("$", r"\$")
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in shown)
    return f"\u200b{shown}" if shown.startswith("_") else shown


def file_name(shown: object) -> str:
    """Convert a text, such as a measure's notation, to a part of a file name: short, without special characters."""
    return "".join(c if c.isalnum() or c in ".-" else "_" for c in str(shown)[:50]).strip("_")


# All lengths are in points: the size of the text, half the width of a marker, and the space around a label.
_SIZE, _MARKER, _SPACE = 7.5, 4.0, 2.0
# Half the width of a line.
_LINE = 1.5
# The distances of a label from its point, the preferred one first. From _FAR on, a thin line joins the two.
_DISTANCES = (6.0, 9.0, 14.0, 20.0, 27.0, 35.0, 44.0, 54.0, 65.0, 77.0, 90.0, 110.0, 135.0, 165.0, 200.0, 240.0)
_FAR = 14.0
# The directions from a point to its label: how much of the label lies to the right of the point and above it.
_SIDES = ((1.0, 1.0), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0), (0.5, 1.0), (0.5, 0.0), (1.0, 0.5), (0.0, 0.5))
# The places of a label, each a distance and a direction, and where the label is then anchored, relative to the point.
_PLACES = np.array([(distance, *side) for distance in _DISTANCES for side in _SIDES])
_OFFSETS = _PLACES[:, :1] * (2.0 * _PLACES[:, 1:] - 1.0)


def label_points(
    ax: Axes,
    names: Sequence[str],
    points: Sequence[tuple[float, float]],
    obstacles: Sequence[tuple[float, float, float]],
    lines: Sequence[Values] = (),
) -> list[Annotation]:
    """Write a name beside each point, where it covers no obstacle, no line and no other name if there is room.

    Call it when everything else is drawn, because it measures the axes. The same figure always gets the same labels.
    All positions are in the coordinates of the axes' data. Obstacles (x, low, high) are markers with their vertical
    error bars; a marker without one has the same low and high. Lines are arrays of their corners, float64[n, 2].
    """
    figure = ax.figure.canvas.figure
    figure.draw_without_rendering()  # the layout moves the axes
    scale = 72.0 / figure.dpi
    taken: list[list[float]] = []  # boxes: left, bottom, right, top
    for x, low, high in obstacles:
        bottom, top = ax.transData.transform([(x, low), (x, high)]) * scale
        taken.append([*(bottom - _MARKER), *(top + _MARKER)])
    for corners in lines:
        along = _along(ax.transData.transform(corners) * scale)
        taken += np.hstack([along - _LINE, along + _LINE]).tolist()
    inside = np.array([ax.get_window_extent().extents]) * scale
    labels = []
    for name, point in zip(names, points, strict=True):
        measured = _label(ax, name, point, 0)
        size = np.array(measured.get_window_extent().size) * scale
        measured.remove()
        corner = ax.transData.transform(point) * scale + _OFFSETS - size * (1.0 - _PLACES[:, 1:])
        boxes = np.hstack([corner, corner + size])
        outside = (boxes[:, 2:] - boxes[:, :2]).prod(axis=1) - _shared(boxes, inside)
        wide = np.hstack([boxes[:, :2] - _SPACE, boxes[:, 2:] + _SPACE])
        best = int((outside + _shared(wide, np.array(taken))).argmin())
        taken.append(boxes[best].tolist())
        labels.append(_label(ax, name, point, best))
    return labels


def _label(ax: Axes, name: str, point: tuple[float, float], place: int) -> Annotation:
    """Write a name beside its point, at one of _PLACES, joined to the point by a line if it is far away."""
    halo = load("matplotlib.patheffects", "analysis").withStroke(linewidth=2.0, foreground="#ffffff")
    distance, right, above = _PLACES[place].tolist()
    label = ax.annotate(
        display_name(name), point, _OFFSETS[place].tolist(), textcoords="offset points", fontsize=_SIZE,
        horizontalalignment={1.0: "left", 0.5: "center", 0.0: "right"}[right], path_effects=[halo], zorder=4.0,
        verticalalignment={1.0: "bottom", 0.5: "center", 0.0: "top"}[above],
        arrowprops={"arrowstyle": "-", "color": "#555555", "linewidth": 0.6} if distance >= _FAR else None,
    )  # fmt: skip
    label.set_in_layout(False)  # the layout must not change again
    return label


def _along(corners: Values) -> Values:
    """Return points on a line, at most 2 _LINE apart."""
    steps = [max(int(math.dist(a, b) / (2.0 * _LINE)), 1) for a, b in pairwise(corners)]
    parts = [np.linspace(a, b, n, endpoint=False) for (a, b), n in zip(pairwise(corners), steps, strict=True)]
    return np.concatenate([*parts, corners[-1:]])


def _shared(boxes: Values, others: Values) -> Values:
    """Return the area that each of some boxes, float64[n, 4], shares with other boxes, added up."""
    ends = np.minimum(boxes[:, None, 2:], others[:, 2:]) - np.maximum(boxes[:, None, :2], others[:, :2])
    return np.asarray(np.maximum(ends, 0.0).prod(axis=2).sum(axis=1))
