"""Tables, and how they are shown and handed on: whatever is printed in columns is written here."""

from __future__ import annotations

import math
import os
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from tieaware.errors import printable
from tieaware.output import data_frames, latex
from tieaware.runtime.atomic_files import whole_file

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class Marked(NamedTuple):
    """A cell that is shown in its own way, with marks; where numbers are handed on, its value alone is.

    Attributes
    ----------
    value : str, int or float
    text : str
        How the value is shown.
    bold : bool
        In text, which has no bold, a star precedes it.
    raised : str
        Letters after it.
    beside : str
        What follows, e.g. "± 0.012".
    """

    value: str | int | float
    text: str
    bold: bool = False
    raised: str = ""
    beside: str = ""


Cell = str | int | float | None | Marked

# Cells of text are never narrower than this, and have so many lines where not all is shown.
_SHORT, _TALL = 12, 2
# So many rows at the end are shown where others are left out: what is summed up may stand there.
_LAST = 5
# What stays on a line: a word, with what separates it from the next.
_WORD = re.compile(r"[^\s,]*[\s,]*")


@dataclass(frozen=True)
class Table:
    """Rows under named columns, with a title and notes on how to read them.

    Parameters
    ----------
    title : str
        What the numbers are.
    columns : tuple of str
        The names of the columns.
    rows : sequence of tuples of str, int, float, None or Marked
        A cell for each column; None where there is no number.
    notes : tuple of str
        Sentences below the table.

    Examples
    --------
    >>> print(Table("Runs", ("run", "AP"), [("bm25", 0.25), ("constant", None)]))
    Runs
    <BLANKLINE>
    run           AP
    bm25      0.2500
    constant       –
    """

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = _aligned(list(zip(*self._printable(), strict=True)), self.starts_left())
        notes = ["", *map(printable, self.notes)] if self.notes else []
        return "\n".join([printable(self.title), "", *lines, *notes])

    def fitted(self, width: int, most: int | None = None, elsewhere: str = "str() has it") -> str:
        r"""Return the text of the table for a terminal: no wider than that, and nothing in it that would control it.

        Cells of text that are too long go on below. Where the columns are too many, they stand in several blocks below
        one another, each of which begins with the columns that say what a row is.

        Parameters
        ----------
        width : int
            How many characters a line may have.
        most : int, optional
            How many rows there may be, at least 10. Of more, those before the last five are left out, and of cells that
            would take more than two lines the rest; an ellipsis stands there. By default nothing is.
        elsewhere : str
            Where all of it is, for a last line that says what is left out.

        Returns
        -------
        str
            As `str`, where that fits.

        Examples
        --------
        >>> print(Table("Runs", ("run", "AP", "nDCG@10"), [("a run of some length", 0.25, 0.5)]).fitted(24))
        Runs
        <BLANKLINE>
        run              AP
        a run of     0.2500
        some length
        <BLANKLINE>
        run          nDCG@10
        a run of      0.5000
        some length
        """
        n_rows = len(self.rows)
        if most is not None and n_rows > most:
            return replace(self, rows=[*self.rows[: most - _LAST], *self.rows[-_LAST:]])._fitted(
                width, most, elsewhere, n_rows - most
            )
        return self._fitted(width, most, elsewhere, 0)

    def _fitted(self, width: int, most: int | None, elsewhere: str, n_missing: int) -> str:
        """Return the text, in which so many rows are missing before the last few."""
        left, columns, hanging = self.starts_left(), self._printable(), self._hanging()
        widths = [max(map(len, column)) for column in columns]
        least = [w if hang is None else min(w, hang + _SHORT) for w, hang in zip(widths, hanging, strict=True)]
        n_keys = self._is_text().index(False) if False in self._is_text() else len(columns)
        left_out = [f"{n_missing:,} of {n_missing + len(self.rows):,} rows"] if n_missing else []
        is_cut = False
        lines = []
        for block in _narrowed(widths, least, width) or _blocks(widths, least, n_keys, width):
            folded = [[_folded(cell, w, hanging[i] or 0) for cell in columns[i]] for i, w in block.items()]
            if most is not None:
                is_cut |= any(len(cell) > _TALL for column in folded for cell in column)
                folded = [[_cut(cell, w) for cell in cells] for cells, w in zip(folded, block.values(), strict=True)]
            rows = list(zip(*folded, strict=True))
            if n_missing:
                rows.insert(len(rows) - _LAST, (["…"], *[[""]] * (len(block) - 1)))
            below = [line for row in rows for line in zip_longest(*row, fillvalue="")]
            lines += ["", *_aligned(below, [left[i] for i in block])]
        if is_cut:
            left_out.append("the ends of long cells")
        rest = [f"… stands for what is left out here, {' and '.join(left_out)}: {elsewhere}."] if left_out else []
        title, notes = (
            [line for each in texts for line in textwrap.wrap(printable(each), max(width, 20))]
            for texts in ([self.title], [*self.notes, *rest])
        )
        return "\n".join([*title, *lines, *(["", *notes] if notes else [])])

    def _repr_html_(self) -> str:
        import html

        # A notebook aligns all cells to the right.
        table = self.to_html().replace("<td>", "<td style='text-align:left'>")
        return f"<p><b>{html.escape(self.title)}</b></p>\n{table}"

    def to_markdown(self) -> str:
        """Return the table in Markdown, escaped, without title and notes.

        Returns
        -------
        str
            Numbers to four decimals.
        """
        return as_markdown(self.columns, self.rows, self.starts_left())

    def to_html(self) -> str:
        """Return table and notes in HTML, without the title, escaped.

        Returns
        -------
        str
            Numbers to four decimals.
        """
        import html

        left = self.starts_left()
        head = "".join(
            f"<th{'' if text else ' class=number'}>{html.escape(column)}</th>"
            for text, column in zip(left, self.columns, strict=True)
        )
        opening = ["<td>" if text else "<td class=number>" for text in left]
        body = "".join(
            f"<tr>{''.join(f'{td}{_html(cell)}</td>' for td, cell in zip(opening, row, strict=True))}</tr>\n"
            for row in self.rows
        )
        notes = "".join(f"<p class=note>{html.escape(note)}</p>\n" for note in self.notes)
        return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n{notes}"

    def to_latex(self) -> str:
        """Return the table as a tabular in LaTeX, escaped; title and notes stand before it as comments.

        Returns
        -------
        str
            Numbers to four decimals. Its rules are those of the package booktabs.
        """
        columns = [
            latex.Column(name, text, [latex.Shown(*_shown_cell(cell)) for cell in cells])
            for name, text, cells in zip(self.columns, self._is_text(), self._cells(), strict=True)
        ]
        return latex.tabular(columns, (self.title, *self.notes))

    def to_json(self) -> str:
        """Return title, notes and rows as JSON, a row as ``{column: cell}``; null where there is no number.

        Returns
        -------
        str
            In full precision.
        """
        rows = [
            {name: None if cell != cell else cell for name, cell in zip(self.columns, row, strict=True)}
            for row in self._values()
        ]
        return as_json({"title": self.title, "rows": rows, "notes": self.notes})

    def csv(self) -> str:
        """Return the columns and rows as CSV, in full precision, without title and notes.

        Returns
        -------
        str
            A line for the columns, and one for each row.
        """
        return as_csv(self.columns, self._values())

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the CSV to a file.

        Parameters
        ----------
        path : str or os.PathLike
            A file there is replaced, once the new one is complete.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        with whole_file(path) as file:
            file.write(self.csv().encode("utf-8", "surrogateescape"))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns as lists.

        Returns
        -------
        dict of str to list
            In full precision, as are the frames that follow; None where there is no number.
        """
        values = zip(*self._values(), strict=True) if self.rows else [()] * len(self.columns)
        return dict(zip(self.columns, map(list, values), strict=True))

    def to_arrow(self) -> pyarrow.Table:
        """Return a pyarrow.Table, with the columns of `to_dict`. Needs `tieaware[arrow]`.

        Returns
        -------
        pyarrow.Table
        """
        return data_frames.as_arrow(self.to_dict())

    def to_pandas(self) -> pandas.DataFrame:
        """Return a pandas.DataFrame, with the columns of `to_dict`. Needs `tieaware[arrow]`.

        Returns
        -------
        pandas.DataFrame
        """
        return data_frames.as_pandas(self.to_dict())

    def to_polars(self) -> polars.DataFrame:
        """Return a polars.DataFrame, with the columns of `to_dict`. Needs `tieaware[arrow]`.

        Returns
        -------
        polars.DataFrame
        """
        return data_frames.as_polars(self.to_dict())

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the columns of `to_dict` to a Parquet file. Needs `tieaware[arrow]`.

        Parameters
        ----------
        path : str or os.PathLike
            A file there is replaced, once the new one is complete.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        data_frames.write_parquet(self.to_dict(), path)

    def starts_left(self) -> list[bool]:
        """Return whether each column starts at the left: text, and numbers with marks, with decimals of their own.

        Returns
        -------
        list of bool
            For each column; the others end at the right.

        Examples
        --------
        >>> Table("Runs", ("run", "AP"), [("bm25", 0.25)]).starts_left()
        [True, False]
        """
        marked = [any(isinstance(cell, Marked) for cell in cells) for cells in self._cells()]
        return [text or marks for text, marks in zip(self._is_text(), marked, strict=True)]

    def _values(self) -> Iterator[tuple[str | int | float | None, ...]]:
        """The rows, without marks."""
        return (tuple(cell.value if isinstance(cell, Marked) else cell for cell in row) for row in self.rows)

    def _cells(self) -> list[tuple[Cell, ...]]:
        """The cells of each column."""
        return list(zip(*self.rows, strict=True)) if self.rows else [()] * len(self.columns)

    def _shown(self) -> list[tuple[str, ...]]:
        """The rows as text."""
        return list(zip(*map(_texts, self._cells()), strict=True))

    def _printable(self) -> list[list[str]]:
        """The columns, below their names, as text without anything that would control a terminal."""
        return [[printable(cell) for cell in column] for column in zip(self.columns, *self._shown(), strict=True)]

    def _is_text(self) -> list[bool]:
        return list(map(_is_text, self._cells()))

    def _hanging(self) -> list[int | None]:
        """Where a cell of each column goes on below: behind the number before marks; None where it does not."""
        return [
            0 if _is_text(cells) else 1 + _wide(cells) if any(isinstance(cell, Marked) for cell in cells) else None
            for cells in self._cells()
        ]


def _aligned(rows: Sequence[Sequence[str]], is_left: Sequence[bool]) -> list[str]:
    """Return a line for each row, with each cell at the left or the right of its column."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(c.ljust(w) if left else c.rjust(w) for c, w, left in zip(row, widths, is_left, strict=True)).rstrip()
        for row in rows
    ]


def _line_width(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)


def _folded(cell: str, width: int, hang: int) -> list[str]:
    """Return the lines of a cell, those after the first so far to the right; words are parted where they must be."""
    if len(cell) <= width:
        return [cell]
    lines = [""]
    for word in _WORD.findall(cell):
        if lines[-1].strip() and len((lines[-1] + word).rstrip()) > width:
            lines.append(" " * hang)
        while len((lines[-1] + word).rstrip()) > width:
            room = width - len(lines[-1])
            lines[-1] += word[:room]
            lines.append(" " * hang)
            word = word[room:]
        lines[-1] += word
    return [line.rstrip() for line in lines]


def _cut(lines: list[str], width: int) -> list[str]:
    """Return no more lines of a cell than are shown where not all is."""
    return lines if len(lines) <= _TALL else [*lines[: _TALL - 1], f"{lines[_TALL - 1][: width - 2]} …"]


def _narrowed(widths: Sequence[int], least: Sequence[int], width: int) -> list[dict[int, int]]:
    """Return columns in one block, with their widths, the widest reduced until all fit; nothing if they do not."""
    narrowed = list(widths)
    while _line_width(narrowed) > width:
        wide = [i for i, w in enumerate(narrowed) if w > least[i]]
        if not wide:
            return []
        narrowed[max(wide, key=narrowed.__getitem__)] -= 1
    return [dict(enumerate(narrowed))]


def _blocks(widths: Sequence[int], least: Sequence[int], n_keys: int, width: int) -> list[dict[int, int]]:
    """Part columns into blocks that fit; the columns of text at the left, which say what a row is, begin each."""
    n = len(widths)
    # Half of the width is for the keys; where that is not enough, the first of them alone.
    first = {0: min(widths[0], max(width // 2, _SHORT))}
    keys = next(iter(_narrowed(widths[:n_keys], least[:n_keys], width // 2)), first)
    blocks = [dict(keys)]
    for i in range(len(keys), n):
        room = width - _line_width([*blocks[-1].values(), 0])
        if room < min(widths[i], max(least[i], 2 * _SHORT)) and len(blocks[-1]) > len(keys):
            blocks.append(dict(keys))
            room = width - _line_width([*keys.values(), 0])
        blocks[-1][i] = min(widths[i], max(room, least[i]))
    return blocks


def _is_text(cells: Sequence[Cell]) -> bool:
    return any(isinstance(cell.value if isinstance(cell, Marked) else cell, str) for cell in cells)


def _shown_cell(cell: Cell) -> tuple[str, bool, str, str]:
    """What is shown of a cell: its text, whether in bold, raised letters, and what stands beside it."""
    if isinstance(cell, Marked):
        return cell.text, cell.bold, cell.raised, cell.beside
    if cell is None or cell != cell:
        return "–", False, "", ""
    if isinstance(cell, float):
        return (f"{cell:.4f}" if abs(cell) >= 1e-4 or cell == 0.0 else f"{cell:.1e}"), False, "", ""
    return str(cell), False, "", ""


def _wide(cells: Sequence[Cell]) -> int:
    """How wide what precedes the marks of a column is, with the star of what is bold."""
    return max(len(text) + bold for text, bold, _, _ in map(_shown_cell, cells))


def significant(x: float) -> str:
    """Write a number in three significant digits: what is whole has no point, and what is minute has an exponent."""
    if not math.isfinite(x):
        return str(x)
    if x == round(x) and abs(x) < 1000:
        return f"{x + 0.0:.0f}"
    if abs(x) < 1e-4:
        return f"{x:.2e}"
    decimals = 2 - math.floor(math.log10(abs(float(f"{x:.2e}"))))
    return f"{round(x, decimals):,.{max(decimals, 0)}f}"


def percent(share: float) -> str:
    """Write a share of 1 in three significant digits."""
    return f"{significant(100.0 * share)} %"


def _texts(cells: Sequence[Cell]) -> list[str]:
    """The cells of a column as text; where some have marks, numbers stand below numbers, and marks below marks."""
    if not any(isinstance(cell, Marked) for cell in cells):
        return [_shown_cell(cell)[0] for cell in cells]
    shown = [_shown_cell(cell) for cell in cells]
    texts = [f"*{text}" if bold else text for text, bold, _, _ in shown]
    width = max(map(len, texts))
    is_text = _is_text(cells)
    parts = [[text.ljust(width) if is_text else text.rjust(width) for text in texts]]
    for marks in ([raised for _, _, raised, _ in shown], [beside for *_, beside in shown]):
        width = max(map(len, marks))
        if width:
            parts.append([mark.ljust(width) for mark in marks])
    return list(map(" ".join, zip(*parts, strict=True)))


def _markdown(cell: Cell) -> str:
    text, bold, raised, beside = (_in_markdown(part) if isinstance(part, str) else part for part in _shown_cell(cell))
    text = f"**{text}**" if bold else text
    return f"{text}<sup>{raised}</sup> {beside}".rstrip() if raised else f"{text} {beside}".rstrip()


def _in_markdown(text: str) -> str:
    """Escape text: no line end, bar or tag in it is one of the table's, or of the page that it becomes."""
    text = printable(text).replace("\\", "\\\\").replace("|", "\\|")
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _html(cell: Cell) -> str:
    import html

    text, bold, raised, beside = _shown_cell(cell)
    text = f"<b>{html.escape(text)}</b>" if bold else html.escape(text)
    text += f"<sup>{html.escape(raised)}</sup>" if raised else ""
    return f"{text} <small>{html.escape(beside)}</small>" if beside else text


def as_csv(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Write rows under a line of names, separated by commas, numbers in full precision."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(_Lines(text), lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


class _Lines:
    """Takes lines that end with CR and LF and writes them with LF: the writer quotes the characters of its line end."""

    def __init__(self, file: IO[str]) -> None:
        self.file = file

    def write(self, line: str) -> int:
        return self.file.write(f"{line[:-2]}\n")


def as_markdown(columns: Sequence[str], rows: Iterable[Sequence[Cell]], is_text: Iterable[bool]) -> str:
    """Write rows of cells as they are shown; columns that are no text are aligned to the right."""
    rule = ["---" if text else "---:" for text in is_text]
    lines = [map(_markdown, columns), rule, *(map(_markdown, row) for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def as_json(value: object) -> str:
    """Write what lists and dictionaries hold, indented."""
    import json

    return json.dumps(value, indent=2) + "\n"


FORMATS: dict[str, Callable[[Table], str]] = {
    "text": lambda table: f"{table}\n", "csv": Table.csv, "json": Table.to_json, "markdown": Table.to_markdown,
}  # fmt: skip
