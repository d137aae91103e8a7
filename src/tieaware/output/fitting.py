"""Layout of tables as lines of text, which can be fitted into a narrow terminal.

A `Layout` holds each column of a table as a list of text: first the name of the column, then its cells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

# Columns of text are not narrowed below _SHORT characters. A shortened cell has at most _TALL lines.
_SHORT, _TALL = 12, 2
# A shortened table keeps this many rows at its end, because totals may stand there.
LAST_ROWS = 5
# Cells are folded between words. A word includes the spaces and commas that follow it.
_WORD = re.compile(r"[^\s,]*[\s,]*")


class Layout(NamedTuple):
    """The columns of a table as text, and the rules for fitting them into a terminal.

    Attributes
    ----------
    columns : list of list of str
        The name of each column, followed by its cells.
    is_left : list of bool
        Whether each column is aligned to the left; otherwise it is aligned to the right.
    indents : list of int or None
        For each column, the indent of the second and later lines of a cell; None if its cells must stay on one line.
    n_names : int
        The number of columns at the left that identify a row.
    """

    columns: list[list[str]]
    is_left: list[bool]
    indents: list[int | None]
    n_names: int


def aligned(rows: Sequence[Sequence[str]], is_left: Sequence[bool]) -> list[str]:
    """Return a line for each row, with its cells padded to the widths of the columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(c.ljust(w) if left else c.rjust(w) for c, w, left in zip(row, widths, is_left, strict=True)).rstrip()
        for row in rows
    ]


def fitted(layout: Layout, width: int, *, shortened: bool, has_gap: bool) -> tuple[list[str], bool]:
    """Lay out a table in lines of limited width; return the lines, and whether cells were shortened.

    Columns that are too wide are folded. If that is not enough, the table becomes several panels, one below another;
    each panel has an empty line before it, and begins with the columns that identify a row.

    Parameters
    ----------
    layout : Layout
    width : int
        The maximum length of a line.
    shortened : bool
        Whether cells are cut after two lines.
    has_gap : bool
        Whether the caller has left out rows before the last five; a line with an ellipsis then marks the place.
    """
    widths = [max(map(len, column)) for column in layout.columns]
    least = [w if indent is None else min(w, indent + _SHORT) for w, indent in zip(widths, layout.indents, strict=True)]
    lines: list[str] = []
    is_cut = False
    for panel in _narrowed(widths, least, width) or _panels(widths, least, layout.n_names, width):
        cells = [[_folded(cell, w, layout.indents[i] or 0) for cell in layout.columns[i]] for i, w in panel.items()]
        if shortened:
            is_cut |= any(len(cell) > _TALL for column in cells for cell in column)
            cells = [[_cut(cell, w) for cell in column] for column, w in zip(cells, panel.values(), strict=True)]
        rows = list(zip(*cells, strict=True))
        if has_gap:
            rows.insert(len(rows) - LAST_ROWS, (["…"], *[[""]] * (len(panel) - 1)))
        text_rows = [line for row in rows for line in zip_longest(*row, fillvalue="")]
        lines += ["", *aligned(text_rows, [layout.is_left[i] for i in panel])]
    return lines, is_cut


def _line_width(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)


def _folded(cell: str, width: int, indent: int) -> list[str]:
    """Fold a cell into lines of limited width; indent the second and later lines, and break words that are too long."""
    if len(cell) <= width:
        return [cell]
    lines = [""]
    for word in _WORD.findall(cell):
        if lines[-1].strip() and len((lines[-1] + word).rstrip()) > width:
            lines.append(" " * indent)
        while len((lines[-1] + word).rstrip()) > width:
            room = width - len(lines[-1])
            lines[-1] += word[:room]
            lines.append(" " * indent)
            word = word[room:]
        lines[-1] += word
    return [line.rstrip() for line in lines]


def _cut(lines: list[str], width: int) -> list[str]:
    """Return at most the first _TALL lines of a cell, with an ellipsis at the end if lines were left out."""
    return lines if len(lines) <= _TALL else [*lines[: _TALL - 1], f"{lines[_TALL - 1][: width - 2]} …"]


def _narrowed(widths: Sequence[int], least: Sequence[int], width: int) -> list[dict[int, int]]:
    """Return the only panel, {column: width}, if all columns can be narrowed to fit into one; otherwise an empty list.

    The widest column that is not yet at its least width is narrowed by one character until all columns fit.
    """
    narrowed = list(widths)
    while _line_width(narrowed) > width:
        wide = [i for i, w in enumerate(narrowed) if w > least[i]]
        if not wide:
            return []
        narrowed[max(wide, key=narrowed.__getitem__)] -= 1
    return [dict(enumerate(narrowed))]


def _panels(widths: Sequence[int], least: Sequence[int], n_names: int, width: int) -> list[dict[int, int]]:
    """Split a table that is too wide into panels, each {column: width}; every panel begins with names."""
    # The columns of names identify a row. They are repeated in each panel and may take half of the width; if they need
    # more, only the first is repeated.
    first = {0: min(widths[0], max(width // 2, _SHORT))}
    names = next(iter(_narrowed(widths[:n_names], least[:n_names], width // 2)), first)
    panels = [dict(names)]
    for i in range(len(names), len(widths)):
        room = width - _line_width([*panels[-1].values(), 0])
        if room < min(widths[i], max(least[i], 2 * _SHORT)) and len(panels[-1]) > len(names):
            panels.append(dict(names))
            room = width - _line_width([*names.values(), 0])
        panels[-1][i] = min(widths[i], max(room, least[i]))
    return panels
