"""Placement of the labels of points in a figure, so that no label covers a point or another label."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.output.plots import Axes, display_name
from tieaware.runtime.extras import load

if TYPE_CHECKING:
    from matplotlib.text import Annotation

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
