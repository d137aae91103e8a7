"""Figures of pyplot, and the settings of matplotlib that they leave behind."""

import os
import subprocess
import sys

import numpy as np
import pytest
from support.errors import message_of

from tieaware.output.plots import COLOURS, Drawing, colour, legend_above, style

# Stands for the backend of notebooks, which switches to interactive mode when it is loaded.
_BACKEND = """
import matplotlib
from matplotlib.backends.backend_agg import *
matplotlib.interactive(True)
"""

_TWO_CELLS = """
import matplotlib
from tieaware.output.plots import Drawing

drawing = Drawing("Ties.", lambda ax: ax.plot([1.0, 1.0, 0.5]))
before = matplotlib.rcParams["font.size"], matplotlib.rcParams["axes.grid"]
for _ in range(2):
    ax = drawing.plot()
    assert matplotlib.is_interactive()
    assert not ax.spines["top"].get_visible()
assert before == (matplotlib.rcParams["font.size"], matplotlib.rcParams["axes.grid"])
"""


def test_the_first_figure_keeps_a_notebook_interactive(tmp_path):
    """Otherwise, no later figure of a fresh notebook would be shown."""
    pytest.importorskip("matplotlib")
    (tmp_path / "notebook_backend.py").write_text(_BACKEND)
    environment = {**os.environ, "MPLBACKEND": "module://notebook_backend", "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", _TWO_CELLS], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_no_two_lines_of_a_figure_share_a_colour():
    colours = [colour(i) for i in range(60)]
    assert colours[:7] == [each.lower() for each in COLOURS]
    assert len(set(colours)) == 60
    assert all(style(i)["color"] == each for i, each in enumerate(colours))


def line_drawing(n, steps=False):
    """Return a drawing of n lines, an area and a horizontal line, with a legend, and the axes of the last drawing."""
    drawn = []

    def draw(ax):
        x = np.linspace(0.0, 1.0, 30)
        for i in range(n):
            y = np.sin(3.0 * x + i / 4.0) * (i + 3.0)
            if steps:
                ax.stairs(y[:-1], x, baseline=None, label=f"run {i}", color=colour(i))
            elif i % 2:
                ax.errorbar(x, y, 0.1, label=f"run {i}", **style(i))
            else:
                ax.plot(x, y, label=f"run {i}", **style(i))
        ax.axhline(0.0, label="zero", color="#555555")
        ax.axvspan(0.4, 0.5, label="area")
        legend_above(ax)
        drawn.append(ax)

    return Drawing("Lines", draw), drawn


def test_fonts_in_files_are_type_42(tmp_path):
    pytest.importorskip("matplotlib")
    drawing, _ = line_drawing(9)
    drawing.save(tmp_path / "f.pdf", tmp_path / "f.eps")
    pdf, eps = ((tmp_path / f"f.{form}").read_bytes() for form in ("pdf", "eps"))
    assert (b"/FontFile2" in pdf, b"/Type3" in pdf, b"/FontType 42" in eps) == (True, False, True)


@pytest.mark.parametrize("steps", [False, True])
@pytest.mark.parametrize(("n", "n_entries"), [(6, 8), (7, 1), (20, 1)])
def test_lines_of_long_legends_have_their_names_on_them(n, n_entries, steps):
    """With more than eight entries, each line has its name, in its colour, where it lies; the area keeps its entry."""
    to_hex = pytest.importorskip("matplotlib.colors").to_hex
    drawing, drawn = line_drawing(n, steps)
    figure = drawing.figure()
    figure.draw_without_rendering()
    (ax,) = drawn
    assert len(ax.get_legend().get_texts()) == n_entries
    labels = {label.get_text(): label for label in ax.texts}
    assert labels.keys() == (set() if n_entries == 8 else {"zero", *(f"run {i}" for i in range(n))})
    window = ax.get_window_extent()
    for i in range(n if labels else 0):
        x, y = labels[f"run {i}"].get_position()
        grid = np.linspace(0.0, 1.0, 30)
        heights = np.sin(3.0 * grid + i / 4.0) * (i + 3.0)
        reach = np.abs(np.diff(heights)).max()
        assert abs(y - np.interp(x, grid, heights)) <= (2.0 * reach if steps else 0.05 * (i + 3.0))
        assert to_hex(labels[f"run {i}"].get_color()) == colour(i)
        box = labels[f"run {i}"].get_window_extent()
        assert window.x0 <= box.x0 + 3
        assert box.x1 <= window.x1 + 3


def test_a_width_is_given_in_inches():
    pytest.importorskip("matplotlib")
    drawing, _ = line_drawing(2)
    assert tuple(drawing.of_width(3.3).figure().get_size_inches()) == (3.3, 4.0)
    assert drawing.of_width(None) is drawing
    assert message_of(drawing.of_width, 330) == "width: expected a number from 1 to 100, found 330"
