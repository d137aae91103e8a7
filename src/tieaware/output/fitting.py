"""Layout of tables as lines of text, which can be fitted into a narrow terminal.

A `Layout` holds each column of a table as a list of text: first the name of the column, then its cells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from textwrap import TextWrapper
from typing import NamedTuple

# Columns of text are not narrowed below _SHORT characters. A shortened cell has at most _TALL lines.
_SHORT, _TALL = 12, 2
# A shortened table keeps this many rows at its end, because totals may stand there.
LAST_ROWS = 5


class Layout(NamedTuple):
    """The columns of a table as text, and the rules for fitting them into a terminal.

    `is_left` says whether each column is aligned to the left; otherwise it is aligned to the right. `indents` has the
    indent of the second and later lines of a cell; None if the cells of the column must stay on one line. The first
    `n_names` columns identify a row.
    """

    columns: list[list[str]]
    is_left: list[bool]
    indents: list[int | None]
    n_names: int


# Where a cell may be folded.
_BETWEEN_WORDS_OR_AFTER_COMMAS = re.compile(r"(\s+)|(?<=,)(?=\S)")


class _Wrapper(TextWrapper):
    """Folds cells between words, and after commas."""

    wordsep_simple_re = _BETWEEN_WORDS_OR_AFTER_COMMAS

    def __init__(self, width: int, indent: int) -> None:
        super().__init__(
            width, subsequent_indent=" " * indent, break_on_hyphens=False, expand_tabs=False, placeholder=" …"
        )


def aligned(rows: Sequence[Sequence[str]], is_left: Sequence[bool]) -> list[str]:
    """Return a line for each row, with its cells padded to the widths of the columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(c.ljust(w) if left else c.rjust(w) for c, w, left in zip(row, widths, is_left, strict=True)).rstrip()
        for row in rows
    ]


def fitted(layout: Layout, width: int, *, shortened: bool, has_gap: bool) -> tuple[list[str], bool]:
    """Lay out a table in lines of limited width; return the lines, and whether cells were shortened to two lines.

    Columns that are too wide are folded. If that is not enough, the table becomes several panels, one below another;
    each panel has an empty line before it, and begins with the columns that identify a row. With `has_gap`, the caller
    has left out rows before the last five; a line with an ellipsis then marks the place.
    """
    lines: list[str] = []
    is_cut = False
    for panel in _panels(layout, width):
        cells = []
        for i, w in panel.items():
            wrapper = _Wrapper(w, layout.indents[i] or 0)
            folded = [[cell] if len(cell) <= w else wrapper.wrap(cell) or [""] for cell in layout.columns[i]]
            if shortened:
                is_cut |= any(len(cell) > _TALL for cell in folded)
                wrapper.max_lines = _TALL
                whole = zip(folded, layout.columns[i], strict=True)
                folded = [cell if len(cell) <= _TALL else wrapper.wrap(text) for cell, text in whole]
            cells.append(folded)
        rows = list(zip(*cells, strict=True))
        if has_gap:
            rows.insert(len(rows) - LAST_ROWS, (["…"], *[[""]] * (len(panel) - 1)))
        text_rows = [line for row in rows for line in zip_longest(*row, fillvalue="")]
        lines += ["", *aligned(text_rows, [layout.is_left[i] for i in panel])]
    return lines, is_cut


def _panels(layout: Layout, width: int) -> list[dict[int, int]]:
    """Return the panels of a table, each {column: width}: one, or several that begin with the names of the rows."""
    widths = [max(map(len, column)) for column in layout.columns]
    least = [w if indent is None else min(w, indent + _SHORT) for w, indent in zip(widths, layout.indents, strict=True)]
    whole = _narrowed(widths, least, width)
    if whole is not None:
        return [dict(enumerate(whole))]
    # The columns of names may take half of the width; if they need more, only the first is repeated.
    n = layout.n_names
    first = [min(widths[0], max(width // 2, _SHORT))]
    names = dict(enumerate(_narrowed(widths[:n], least[:n], width // 2) or first))
    panels = [dict(names)]
    for i in range(len(names), len(widths)):
        room = width - _line_width([*panels[-1].values(), 0])
        if room < min(widths[i], max(least[i], 2 * _SHORT)) and len(panels[-1]) > len(names):
            panels.append(dict(names))
            room = width - _line_width([*names.values(), 0])
        panels[-1][i] = min(widths[i], max(room, least[i]))
    return panels


def _narrowed(widths: Sequence[int], least: Sequence[int], width: int) -> list[int] | None:
    """Return the widths with the highest limit at which all columns fit into a line; None if they cannot."""
    for limit in range(max(widths, default=0), 0, -1):
        narrowed = [max(min(w, limit), fewest) for w, fewest in zip(widths, least, strict=True)]
        if _line_width(narrowed) <= width:
            return narrowed
    return None


def _line_width(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)
