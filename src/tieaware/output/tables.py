"""Tables, and their display and export: as text, Markdown, HTML, CSV, JSON, LaTeX and data frames."""

from __future__ import annotations

import math
import os
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias, overload

import numpy as np

from tieaware.checks.arguments import position, shown
from tieaware.errors import Hinted, missing, printable
from tieaware.output import fitting, latex
from tieaware.output.data_frames import ArrowProducer
from tieaware.runtime.atomic_files import whole_file


class Marked(NamedTuple):
    """A table cell with its own text and marks, such as bold type or raised letters.

    Exports to CSV, JSON and data frames hold only the value of the cell.

    Attributes
    ----------
    value : str, int or float
    text : str
        The value as it is shown.
    bold : bool
        Whether the text is bold. Plain text shows a star before it instead.
    raised : str
        Raised letters after the text.
    beside : str
        Text that follows the raised letters, e.g. "± 0.012".
    """

    value: str | int | float
    text: str
    bold: bool = False
    raised: str = ""
    beside: str = ""


class Note(str):
    """A note below a table that has other words in some formats, such as "bold", which plain text shows as a star.

    Parameters
    ----------
    text : str
        The note for formats with bold type: HTML, Markdown and LaTeX.
    plain : str, optional
        The note for plain text; by default the same.
    latex : str, optional
        The note for LaTeX, where the caption may already say a part of it; by default the same as `text`.
    """

    plain: str
    latex: str

    # Copying and unpickling call this method with the text alone, and then restore the attributes.
    def __new__(cls, text: str, plain: str | None = None, latex: str | None = None) -> Self:
        """Make a note; see the class."""
        note = super().__new__(cls, text)
        note.plain = text if plain is None else plain
        note.latex = text if latex is None else latex
        return note


Cell: TypeAlias = str | int | float | Marked | None


# The size of a table's repr, which fits on a screen.
_REPR_WIDTH, _REPR_ROWS = 100, 20


class _Attributes(NamedTuple):
    """The attributes of the elements of an HTML table, each with a space before it."""

    table: str = ""
    head: str = ""
    text: str = ""
    number: str = ""
    note: str = ""


# Pages have a style sheet for these classes.
_IN_PAGES = _Attributes(number=" class=number", note=" class=note")
# Notebooks have none. Colours come from the notebook, so that the table is readable in dark themes, too.
_IN_NOTEBOOKS = _Attributes(
    table=' style="color:inherit;border-collapse:collapse;font-variant-numeric:tabular-nums"',
    head=' style="border-bottom:1px solid currentColor"',
    text=' style="text-align:left;padding:.2em .8em"',
    number=' style="text-align:right;padding:.2em .8em"',
    note=' style="font-size:90%;opacity:.8;margin:.4em 0"',
)


@dataclass(frozen=True)
class Table(ArrowProducer, Hinted):
    """Rows under named columns, with a title and notes on how to read them.

    Parameters
    ----------
    title : str
        A line that says what the numbers are.
    columns : tuple of str
        The names of the columns.
    rows : sequence of tuples of str, int, float, None or Marked
        Each row has a cell for each column; a cell without a number is None.
    notes : tuple of str
        Sentences below the table. A `Note` has another text in plain text than elsewhere.
    other_name : callable, optional
        Returns the name of a column, given another name of it, for look-ups; other values are returned unchanged.
    caption, label : str, optional
        The default caption, as plain text, and the default label of the table in LaTeX, instead of the title and its
        first words.

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
    other_name: Callable[[Any], Any] | None = field(default=None, repr=False, compare=False)
    caption: str = field(default="", kw_only=True, repr=False, compare=False)
    label: str = field(default="", kw_only=True, repr=False, compare=False)

    def __str__(self) -> str:
        lines = fitting.aligned(list(zip(*self._printable(), strict=True)), self.starts_left())
        notes = ["", *map(printable, self._plain_notes())] if self.notes else []
        return "\n".join([printable(self.title), "", *lines, *notes])

    def __repr__(self) -> str:
        return self.fitted(_REPR_WIDTH, _REPR_ROWS, elsewhere="use print()")

    def fitted(self, width: int, most: int | None = None, elsewhere: str = "use str()") -> str:
        r"""Return the table as text for a terminal, without characters that could control the terminal.

        Long cells of text continue on the next line. If there are too many columns, they are split into several
        panels, one below another; each panel begins with the columns that identify a row.

        Parameters
        ----------
        width : int
            The maximum number of characters in a line.
        most : int, optional
            The maximum number of rows, at least 10. If the table has more rows, an ellipsis replaces those before the
            last five. Whenever `most` is given, cells are cut after two lines. By default, nothing is left out.
        elsewhere : str
            How to get the whole table, e.g. "use str()". The last line mentions it if something was left out.

        Returns
        -------
        str
            The same text as ``str(table)``, if that fits.

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
        rows, n_rows = self.rows, len(self.rows)
        n_missing = 0 if most is None else max(n_rows - most, 0)
        if n_missing:
            end = n_rows - fitting.LAST_ROWS
            rows = [*rows[: end - n_missing], *rows[end:]]
        kept = replace(self, rows=rows)
        is_text = kept._is_text()
        n_names = is_text.index(False) if False in is_text else len(is_text)
        layout = fitting.Layout(kept._printable(), kept.starts_left(), kept._indents(), n_names)
        lines, is_cut = fitting.fitted(layout, width, shortened=most is not None, has_gap=n_missing > 0)
        left_out = [f"{n_missing:,} of {n_rows:,} rows"] if n_missing else []
        left_out += ["the ends of long cells"] if is_cut else []
        rest = [f"Left out (…): {' and '.join(left_out)}. For the whole table, {elsewhere}."] if left_out else []
        title, notes = (
            [line for each in texts for line in textwrap.wrap(printable(each), max(width, 20))]
            for texts in ([self.title], [*self._plain_notes(), *rest])
        )
        return "\n".join([*title, *lines, *(["", *notes] if notes else [])])

    def _repr_html_(self) -> str:
        import html

        # A table that is wider than the cell scrolls on its own.
        table = f'<div style="overflow-x:auto">\n{self._html(_IN_NOTEBOOKS)}</div>'
        return f"<p><b>{html.escape(self.title)}</b></p>\n{table}"

    def to_markdown(self) -> str:
        """Return the table in Markdown, in which all text is escaped, but without title and notes.

        Returns
        -------
        str
            Numbers have four decimals.
        """
        return as_markdown(self.columns, self.rows, self.starts_left())

    def to_html(self) -> str:
        """Return the table and its notes in HTML, without the title. Numbers are shown as for `to_markdown`."""
        return self._html(_IN_PAGES)

    def _html(self, attributes: _Attributes) -> str:
        """Return the table and its notes in HTML, with these attributes of the elements."""
        import html

        of_cells = [attributes.text if text else attributes.number for text in self.starts_left()]
        head = "".join(
            f"<th{attribute}>{html.escape(column)}</th>"
            for attribute, column in zip(of_cells, self.columns, strict=True)
        )
        body = "".join(
            f"<tr>{''.join(f'<td{a}>{_html(cell)}</td>' for a, cell in zip(of_cells, row, strict=True))}</tr>\n"
            for row in self.rows
        )
        notes = "".join(f"<p{attributes.note}>{html.escape(note)}</p>\n" for note in self.notes)
        return (
            f"<table{attributes.table}>\n<thead{attributes.head}><tr>{head}</tr></thead>\n"
            f"<tbody>\n{body}</tbody>\n</table>\n{notes}"
        )

    def to_latex(self, *, caption: str | None = None, label: str | None = None, wide: bool | None = None) -> str:
        """Return the table as a LaTeX float for the package booktabs, with its notes below the tabular.

        Parameters
        ----------
        caption : str, optional
            LaTeX code. By default the table's own caption, which says what the numbers are, or its title; another
            caption makes this a note. If it is empty, the float has no caption.
        label : str, optional
            By default the table's own label, or ``tab:`` and the first words of the title. If it is empty, the float
            has no label.
        wide : bool, optional
            Whether the float is ``table*``, as wide as the page in a document of two columns, instead of ``table``. By
            default it is if the rows are longer than about 50 characters.

        Returns
        -------
        str
            Numbers are shown as for `to_markdown`. Names and notes are escaped. A table larger than a page becomes
            several floats with one number.
        """
        grid = latex.Grid(self.columns, self._is_text(), [list(map(_shown_cell, cells)) for cells in self._cells()])
        label = (self.label or latex.label_of(self.title)) if label is None else label
        notes = [note.latex if isinstance(note, Note) else note for note in self.notes]
        return latex.table_float(grid, self.caption or self.title, notes, caption, label, wide)

    def to_json(self) -> str:
        """Return title, notes and rows as JSON, each row as ``{column: cell}``.

        Returns
        -------
        str
            Numbers have full precision. A cell without a number is null.
        """
        return as_json(self.as_dict())

    def as_dict(self) -> dict[str, Any]:
        """Return title, rows and notes, as `to_json` writes them.

        Returns
        -------
        dict
        """
        rows = [
            {name: None if cell != cell else cell for name, cell in zip(self.columns, row, strict=True)}
            for row in self._values()
        ]
        return {"title": self.title, "rows": rows, "notes": self.notes}

    def csv(self) -> str:
        """Return the columns and rows as CSV, without title and notes.

        Returns
        -------
        str
            A line with the names of the columns, and a line for each row. Numbers have full precision.
        """
        return as_csv(self.columns, self._values())

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the CSV to a file.

        Parameters
        ----------
        path : str or os.PathLike
            An existing file is replaced when the new one is complete.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        write_csv(self.columns, self._values(), path)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns as lists, by name; data frames have the same columns.

        Returns
        -------
        dict of str to list
            Numbers have full precision. A cell without a number is None.
        """
        values = zip(*self._values(), strict=True) if self.rows else [()] * len(self.columns)
        return dict(zip(self.columns, map(list, values), strict=True))

    _columns = to_dict

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file; columns as for `to_dict`, path and errors as for `to_csv`. Needs `tieaware[arrow]`."""
        self._write_parquet(path)

    @overload
    def __getitem__(self, key: tuple[str | int | float, str]) -> Any: ...

    @overload
    def __getitem__(self, key: str) -> list[Any]: ...

    def __getitem__(self, key: Any) -> Any:
        """Select a cell by row and column, or a whole column.

        Parameters
        ----------
        key : tuple of row and column, or str
            The row is named by its first cell, the column by its name.

        Returns
        -------
        str, int, float or None; or a list of these
            The values without marks, as in `to_dict`.

        Raises
        ------
        KeyError
            If there is no such row or column, or several rows begin with this cell. The message lists some that exist.

        Examples
        --------
        >>> table = Table("Runs", ("run", "AP"), [("bm25", 0.25), ("constant", None)])
        >>> table["bm25", "AP"], table["run"]
        (0.25, ['bm25', 'constant'])
        """
        if not isinstance(key, tuple):
            column = self._column(key)
            return [row[column] for row in self._values()]
        if len(key) != 2:
            raise KeyError(f"found {len(key)} keys, expected row and column")
        rows = list(self._values())
        names = [row[0] for row in rows]
        row, column = position("row", names, key[0]), self._column(key[1])
        if names.count(key[0]) > 1:
            raise KeyError(f"{names.count(key[0])} rows begin with {shown(key[0])}; use to_dict()")
        return rows[row][column]

    def _column(self, name: Any) -> int:
        """Return the position of a column."""
        if name not in self.columns and self.other_name is not None:
            name = self.other_name(name)
        if name not in self.columns and name in [row[0] for row in self._values()] and len(self.columns) > 1:
            raise KeyError(f"{shown(name)} is a row; write table[{shown(name)}, {self.columns[1]!r}]")
        return position("column", self.columns, name)

    def _ipython_key_completions_(self) -> list[str]:
        """Return the keys that notebooks offer after ``table[``."""
        return list(self.columns)

    # Type checkers do not read this method, so that they find misspelled names.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError; for the name of a column, it says how to look up its cells."""
            # While a table is unpickled, it has no fields yet.
            columns = () if name.startswith("_") else vars(self).get("columns", ())
            raise missing("Table", name, self, f"table[{name!r}]" if name in columns else "")

    # Without this, Python would iterate over a table by calling __getitem__ with 0, 1, 2 …
    __iter__ = None

    def starts_left(self) -> list[bool]:
        """Return for each column whether it is aligned to the left, as text and numbers with marks are.

        Returns
        -------
        list of bool
            False for a column of numbers without marks, which is aligned to the right.

        Examples
        --------
        >>> Table("Runs", ("run", "AP"), [("bm25", 0.25)]).starts_left()
        [True, False]
        """
        marked = [any(isinstance(cell, Marked) for cell in cells) for cells in self._cells()]
        return [text or marks for text, marks in zip(self._is_text(), marked, strict=True)]

    def _values(self) -> Iterator[tuple[str | int | float | None, ...]]:
        """Yield the rows with plain values instead of marked cells."""
        return (tuple(cell.value if isinstance(cell, Marked) else cell for cell in row) for row in self.rows)

    def _cells(self) -> list[tuple[Cell, ...]]:
        """Return the columns, each as a tuple of its cells."""
        return list(zip(*self.rows, strict=True)) if self.rows else [()] * len(self.columns)

    def _shown(self) -> list[tuple[str, ...]]:
        """Return the rows with every cell as text."""
        return list(zip(*map(_texts, self._cells()), strict=True))

    def _printable(self) -> list[list[str]]:
        """Return the name and the cells of each column as text, without characters that could control a terminal."""
        return [[printable(cell) for cell in column] for column in zip(self.columns, *self._shown(), strict=True)]

    def _plain_notes(self) -> list[str]:
        return [note.plain if isinstance(note, Note) else note for note in self.notes]

    def _is_text(self) -> list[bool]:
        return list(map(_is_text, self._cells()))

    def _indents(self) -> list[int | None]:
        """Return each column's indent of the second and later lines of a cell; None if its cells stay on one line.

        A cell of text continues at the left edge of its column. A number without marks never takes a second line. The
        marks after a number, if they are too long for one line, continue below the first of them.
        """
        return [
            0 if _is_text(cells) else 1 + _wide(cells) if any(isinstance(cell, Marked) for cell in cells) else None
            for cells in self._cells()
        ]


def table_by(
    title: str, names: Mapping[str, Sequence[object]], columns: Mapping[str, Any], notes: Sequence[str] = ()
) -> Table:
    """Return a table with a row for each combination of names, and a column for each array.

    The axes of the arrays are those of the names. NaN stands for a cell without a number. Measures become text.
    """
    known = [[each if isinstance(each, str | int | float) else str(each) for each in axis] for axis in names.values()]
    cells = [np.asarray(each).reshape(-1).tolist() for each in columns.values()]
    rows: list[tuple[Cell, ...]] = [
        (*name, *(None if cell != cell else cell for cell in row))
        for name, row in zip(product(*known), zip(*cells, strict=True), strict=True)
    ]
    return Table(title, (*names, *columns), rows, tuple(notes))


def _is_text(cells: Sequence[Cell]) -> bool:
    return any(isinstance(cell.value if isinstance(cell, Marked) else cell, str) for cell in cells)


def _shown_cell(cell: Cell) -> latex.Shown:
    """Return the text of a cell as it is shown, and its marks, such as raised letters."""
    if isinstance(cell, Marked):
        return latex.Shown(cell.text, cell.bold, cell.raised, cell.beside)
    if cell is None or cell != cell:
        return latex.Shown("–")
    if isinstance(cell, float):
        return latex.Shown(f"{cell:z.4f}" if abs(cell) >= 1e-4 or cell == 0.0 else f"{cell:.1e}")
    return latex.Shown(str(cell))


def _wide(cells: Sequence[Cell]) -> int:
    """Return the width of the widest text in a column, with its star if it is bold, and without the marks after it."""
    return max(len(text) + bold for text, bold, _, _ in map(_shown_cell, cells))


def significant(x: float) -> str:
    """Format a number with three significant digits: whole numbers without decimals, tiny numbers with an exponent."""
    if not math.isfinite(x):
        return str(x)
    if x == round(x) and abs(x) < 1000:
        return f"{x:z.0f}"
    if abs(x) < 1e-4:
        return f"{x:.2e}"
    decimals = 2 - math.floor(math.log10(abs(float(f"{x:.2e}"))))
    return f"{round(x, decimals):,.{max(decimals, 0)}f}"


def percent(share: float) -> str:
    """Format a fraction as a percentage with three significant digits."""
    return f"{significant(100.0 * share)} %"


def counted(n: int, noun: str, several: str = "") -> str:
    """Format a number with its noun: "1 run", "2 runs"; `several` is the plural if it does not end in s alone."""
    return f"{n:,} {noun if n == 1 else several or f'{noun}s'}"


def joined(names: Sequence[str]) -> str:
    """Join names for a sentence: "a", "a and b", "a, b and c"."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def _texts(cells: Sequence[Cell]) -> list[str]:
    """Return the cells of a column as text, with the numbers aligned below each other, and likewise the marks."""
    if not any(isinstance(cell, Marked) for cell in cells):
        return [_shown_cell(cell)[0] for cell in cells]
    shown = [_shown_cell(cell) for cell in cells]
    texts = [f"*{text}" if bold else text for text, bold, _, _ in shown]
    width = max(map(len, texts))
    is_text = _is_text(cells)
    aligned = [[text.ljust(width) if is_text else text.rjust(width) for text in texts]]
    for marks in ([raised for _, _, raised, _ in shown], [beside for *_, beside in shown]):
        width = max(map(len, marks))
        if width:
            aligned.append([mark.ljust(width) for mark in marks])
    return list(map(" ".join, zip(*aligned, strict=True)))


def _markdown(cell: Cell) -> str:
    text, bold, raised, beside = (in_markdown(each) if isinstance(each, str) else each for each in _shown_cell(cell))
    text = f"**{text}**" if bold else text
    return f"{text}<sup>{raised}</sup> {beside}".rstrip() if raised else f"{text} {beside}".rstrip()


# What formats in a line of Markdown: code, emphasis, links, images, cells, formulas, and addresses, which GitHub makes
# into links. An underscore between letters or digits is only an underscore.
_MARKDOWN = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=www)\.", re.IGNORECASE)


def in_markdown(text: str) -> str:
    """Escape text, so that it appears as it is within a line of Markdown."""
    return _MARKDOWN.sub(r"\\\g<0>", printable(text)).replace("&", "&amp;").replace("<", "&lt;")


def _html(cell: Cell) -> str:
    import html

    text, bold, raised, beside = _shown_cell(cell)
    text = f"<b>{html.escape(text)}</b>" if bold else html.escape(text)
    text += f"<sup>{html.escape(raised)}</sup>" if raised else ""
    return f"{text} <small>{html.escape(beside)}</small>" if beside else text


def as_csv(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Format the names of the columns and the rows as CSV, with numbers in full precision."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(_Lines(text), lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def write_csv(columns: Iterable[str], rows: Iterable[Iterable[object]], path: str | os.PathLike[str]) -> None:
    """Write what `as_csv` returns to a file, whole or not at all."""
    with whole_file(path) as file:
        file.write(as_csv(columns, rows).encode("utf-8", "surrogateescape"))


class _Lines:
    """A file for csv.writer that replaces the CR LF at the end of each line with LF.

    csv.writer is told to end lines with CR LF, because it then quotes every cell that contains CR or LF.
    """

    def __init__(self, file: IO[str]) -> None:
        self.file = file

    def write(self, line: str) -> int:
        return self.file.write(f"{line[:-2]}\n")


def as_markdown(columns: Sequence[str], rows: Iterable[Sequence[Cell]], is_text: Iterable[bool]) -> str:
    """Format the names of the columns and the rows as Markdown; columns of numbers are aligned to the right."""
    rule = ["---" if text else "---:" for text in is_text]
    lines = [map(_markdown, columns), rule, *(map(_markdown, row) for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def as_json(value: object) -> str:
    """Format nested lists and dicts as indented JSON."""
    import json

    return json.dumps(value, indent=2) + "\n"


FORMATS: dict[str, Callable[[Table], str]] = {
    "text": lambda table: f"{table}\n", "csv": Table.csv, "json": Table.to_json, "markdown": Table.to_markdown,
}  # fmt: skip
