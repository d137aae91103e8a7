"""The numbers of an experiment: named columns, printed, and saved."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
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
        rule = ["---" if text else "---:" for text in self._is_text()]
        escaped = [[cell.replace("\\", "\\\\").replace("|", "\\|") for cell in row] for row in self._shown()]
        return "".join(f"| {' | '.join(row)} |\n" for row in (self.columns, rule, *escaped))

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
        import json

        rows = [
            {name: None if cell != cell else cell for name, cell in zip(self.columns, row, strict=True)}
            for row in self.rows
        ]
        return json.dumps({"title": self.title, "rows": rows, "notes": self.notes}, indent=2) + "\n"

    def csv(self) -> str:
        """Return the columns and rows as CSV, in full precision, without title and notes.

        Returns
        -------
        str
            A line for the columns, and one for each row.
        """
        import csv

        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return text.getvalue()

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
