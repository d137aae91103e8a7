"""Placement of the labels of points in a figure, so that no label covers a point or another label."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.output.plots import display_name
from tieaware.runtime.extras import load

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

# All lengths are in points: the size of the text, half the width of a marker, and the space around a label.
_SIZE, _MARKER, _SPACE = 7.5, 4.0, 2.0
# Half the width of a line.
_LINE = 1.5
# The distances of a label from its point, the preferred one first. From _FAR on, a thin line joins the two.
_DISTANCES = (6.0, 9.0, 14.0, 20.0, 27.0, 35.0, 44.0, 54.0, 65.0, 77.0, 90.0, 110.0, 135.0, 165.0, 200.0, 240.0)
_FAR = 14.0
# The directions from a point to its label: how much of the label lies to the right of the point and above it.
_DIRECTIONS = ((1.0, 1.0), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0), (0.5, 1.0), (0.5, 0.0), (1.0, 0.5), (0.0, 0.5))

Box = tuple[float, float, float, float]  # left, bottom, right, top


def label_points(
    ax: Axes,
    names: Sequence[str],
    points: Sequence[tuple[float, float]],
    obstacles: Sequence[tuple[float, float, float]],
    lines: Sequence[Values] = (),
) -> list[Annotation]:
    """Write a name beside each point, where it covers no obstacle, no line and no other name if there is room.

    Call it when everything else is drawn, because it measures the axes. The same figure always gets the same labels.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    names : sequence of str
    points : sequence of (x, y)
        The points to label, in the coordinates of the axes' data.
    obstacles : sequence of (x, low, high)
        Markers with their vertical error bars; a marker without one has the same low and high.
    lines : sequence of float64[n, 2]
        The corners of lines.

    Returns
    -------
    list of matplotlib.text.Annotation
    """
    figure = ax.figure.canvas.figure
    figure.draw_without_rendering()  # the layout moves the axes
    points_per_pixel = 72.0 / figure.dpi
    taken: list[Box] = []
    for x, low, high in obstacles:
        (left, bottom), (_, top) = ax.transData.transform([(x, low), (x, high)]) * points_per_pixel
        taken.append((left - _MARKER, bottom - _MARKER, left + _MARKER, top + _MARKER))
    for corners in lines:
        along = _along(ax.transData.transform(corners) * points_per_pixel)
        taken += map(tuple, np.hstack([along - _LINE, along + _LINE]).tolist())
    left, bottom, right, top = (end * points_per_pixel for end in ax.get_window_extent().extents)
    labels = []
    for name, point in zip(names, points, strict=True):
        size = _size(ax, name, point, points_per_pixel)
        places = [Place(distance, *direction) for distance in _DISTANCES for direction in _DIRECTIONS]
        x, y = (ax.transData.transform(point) * points_per_pixel).tolist()
        boxes = [place.box(x, y, *size) for place in places]
        others = np.array(taken)
        covered = [_covered(box, others, (left, bottom, right, top)) for box in boxes]
        best = covered.index(min(covered))
        taken.append(boxes[best])
        labels.append(_label(ax, name, point, places[best]))
    return labels


class Place(NamedTuple):
    """A place of a label: its distance from the point, and how much of it is to the right of the point and above it."""

    distance: float
    right: float
    above: float

    def offset(self) -> tuple[float, float]:
        """Return where the label is anchored, relative to the point."""
        return self.distance * (2.0 * self.right - 1.0), self.distance * (2.0 * self.above - 1.0)

    def box(self, x: float, y: float, width: float, height: float) -> Box:
        """Return the box of a label of a given size, whose point is at (x, y)."""
        dx, dy = self.offset()
        left, bottom = x + dx - width * (1.0 - self.right), y + dy - height * (1.0 - self.above)
        return left, bottom, left + width, bottom + height


def _label(ax: Axes, name: str, point: tuple[float, float], place: Place) -> Annotation:
    """Write a name beside its point, joined to the point by a line if it is far away."""
    halo = load("matplotlib.patheffects", "analysis").withStroke(linewidth=2.0, foreground="#ffffff")
    label = ax.annotate(
        display_name(name), point, place.offset(), textcoords="offset points", fontsize=_SIZE, path_effects=[halo],
        horizontalalignment={1.0: "left", 0.5: "center", 0.0: "right"}[place.right], zorder=4.0,
        verticalalignment={1.0: "bottom", 0.5: "center", 0.0: "top"}[place.above],
        arrowprops={"arrowstyle": "-", "color": "#555555", "linewidth": 0.6} if place.distance >= _FAR else None,
    )  # fmt: skip
    label.set_in_layout(False)  # the layout must not change again
    return label


def _size(ax: Axes, name: str, point: tuple[float, float], points_per_pixel: float) -> tuple[float, float]:
    """Return the width and the height of a label, in points."""
    label = _label(ax, name, point, Place(0.0, 1.0, 1.0))
    extent = label.get_window_extent()
    label.remove()
    return extent.width * points_per_pixel, extent.height * points_per_pixel


def _along(corners: Values) -> Values:
    """Return points on a line, at most 2 _LINE apart."""
    steps = [max(int(math.dist(a, b) / (2.0 * _LINE)), 1) for a, b in pairwise(corners)]
    parts = [np.linspace(a, b, n, endpoint=False) for (a, b), n in zip(pairwise(corners), steps, strict=True)]
    return np.concatenate([*parts, corners[-1:]])


def _covered(box: Box, taken: Values, inside: Box) -> float:
    """Return the area of a label that covers something else, plus the area that is outside of the axes."""
    left, bottom, right, top = box
    wide = left - _SPACE, bottom - _SPACE, right + _SPACE, top + _SPACE
    outside = (right - left) * (top - bottom) - float(_shared(box, np.array([inside]))[0])
    return outside + float(_shared(wide, taken).sum())


def _shared(box: Box, others: Values) -> Values:
    """Return the areas of the intersections of a box with others, float64[n, 4]."""
    ends = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    return np.asarray(np.maximum(ends, 0.0).prod(axis=1))
