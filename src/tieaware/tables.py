"""Tables as text, CSV, JSON, Markdown and HTML: whatever is printed in columns is written here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

Cell = str | int | float | None


@dataclass(frozen=True)
class Table:
    """Rows under named columns, with a title and notes on how to read them.

    Parameters
    ----------
    title : str
        What the numbers are.
    columns : tuple of str
        The names of the columns.
    rows : sequence of tuples of str, int, float or None
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
        cells = [self.columns, *self._shown()]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        left = self._is_text()
        lines = [
            "  ".join(c.ljust(w) if text else c.rjust(w) for c, w, text in zip(row, widths, left, strict=True)).rstrip()
            for row in cells
        ]
        return "\n".join([self.title, "", *lines, *(["", *self.notes] if self.notes else [])])

    def to_markdown(self) -> str:
        """Return the table in Markdown, without title and notes.

        Returns
        -------
        str
            Numbers to four decimals.
        """
        return as_markdown(self.columns, self._shown(), self._is_text())

    def to_html(self) -> str:
        """Return table and notes in HTML, without the title, escaped.

        Returns
        -------
        str
            Numbers to four decimals.
        """
        import html

        head = "".join(
            f"<th{'' if text else ' class=number'}>{html.escape(column)}</th>"
            for text, column in zip(self._is_text(), self.columns, strict=True)
        )
        opening = ["<td>" if text else "<td class=number>" for text in self._is_text()]
        body = "".join(
            f"<tr>{''.join(f'{td}{html.escape(cell)}</td>' for td, cell in zip(opening, row, strict=True))}</tr>\n"
            for row in self._shown()
        )
        notes = "".join(f"<p class=note>{html.escape(note)}</p>\n" for note in self.notes)
        return (
            f"<table>\n<thead><tr>{head}</tr></thead>\n"
            f"<tbody>\n{body}</tbody>\n</table>\n{notes}"
        )

    def to_json(self) -> str:
        """Return title, notes and rows as JSON, a row as ``{column: cell}``; null where there is no number.

        Returns
        -------
        str
            In full precision.
        """
        rows = [
            {name: None if cell != cell else cell for name, cell in zip(self.columns, row, strict=True)}
            for row in self.rows
        ]
        return as_json({"title": self.title, "rows": rows, "notes": self.notes})

    def csv(self) -> str:
        """Return the columns and rows as CSV, in full precision, without title and notes.

        Returns
        -------
        str
            A line for the columns, and one for each row.
        """
        return as_csv(self.columns, self.rows)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the CSV to a file.

        Parameters
        ----------
        path : str or os.PathLike
            A file there is replaced.
        """
        with open(path, "w", newline="", encoding="utf-8", errors="surrogateescape") as file:
            file.write(self.csv())

    def _is_text(self) -> list[bool]:
        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(self.columns)
        return [any(isinstance(cell, str) for cell in column) for column in columns]

    def _shown(self) -> list[tuple[str, ...]]:
        return [tuple(map(_shown_cell, row)) for row in self.rows]


def _shown_cell(cell: Cell) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:.4f}" if abs(cell) >= 1e-4 or cell == 0.0 else f"{cell:.1e}"
    return str(cell)


def as_csv(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Write rows under a line of names, separated by commas, numbers in full precision."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def as_markdown(columns: Sequence[str], rows: Iterable[Sequence[str]], is_text: Iterable[bool]) -> str:
    """Write rows of cells as they are shown; columns that are no text are aligned to the right."""
    rule = ["---" if text else "---:" for text in is_text]
    escaped = [[cell.replace("\\", "\\\\").replace("|", "\\|") for cell in row] for row in (columns, rule, *rows)]
    return "".join(f"| {' | '.join(row)} |\n" for row in escaped)


def as_json(value: object) -> str:
    """Write what lists and dictionaries hold, indented."""
    import json

    return json.dumps(value, indent=2) + "\n"


FORMATS: dict[str, Callable[[Table], str]] = {
    "text": lambda table: f"{table}\n", "csv": Table.csv, "json": Table.to_json, "markdown": Table.to_markdown,
}  # fmt: skip
