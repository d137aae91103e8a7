"""Tables in LaTeX, with the rules of the package booktabs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

# Brackets and stars would be taken for arguments of the line end before them, and straight quotes for others.
_ESCAPED = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "[": "{[}", "]": "{]}", "*": "{*}", "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}", "–": "--", "±": r"$\pm$", "…": r"\dots{}",
}  # fmt: skip


class Column(NamedTuple):
    """What one column shows: all of it is text, yet to be escaped."""

    name: str
    is_text: bool
    cells: Sequence[Shown]


class Shown(NamedTuple):
    """What one cell shows: its text, in bold, raised letters after it, and more beside it."""

    text: str
    bold: bool = False
    raised: str = ""
    beside: str = ""


def escaped(text: str) -> str:
    """Return text that LaTeX sets as it is: what cannot be set, such as control characters, is a question mark."""
    return "".join(map(_escaped, text, text[1:] + " "))


def _escaped(c: str, following: str) -> str:
    # Two hyphens would join into a dash.
    return "-{}" if c == following == "-" else _ESCAPED.get(c, c if c.isprintable() else "?")


def tabular(columns: Sequence[Column], notes: Iterable[str] = ()) -> str:
    r"""Return a tabular with the rules of booktabs; the notes stand before it, as comments.

    What is raised after a number, or stands beside it, has a column of its own, so that numbers stand below each other.
    """
    made = [_Tabular(column) for column in columns]
    lines = [
        *(f"% {escaped(' '.join(note.split()))}" for note in (*notes, "Needs the package booktabs.")),
        rf"\begin{{tabular}}{{{''.join(column.alignment for column in made)}}}",
        r"\toprule",
        _row(column.head for column in made),
        r"\midrule",
        *(_row(cells) for cells in zip(*(column.cells for column in made), strict=True)),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _row(cells: Iterable[str]) -> str:
    return rf"{' & '.join(cells)} \\"


class _Tabular:
    """How a column is set: its alignment, head and cells."""

    def __init__(self, column: Column) -> None:
        self.alignment, self.head = ("l" if column.is_text else "r"), escaped(column.name)
        self.cells = [rf"\textbf{{{escaped(c.text)}}}" if c.bold else escaped(c.text) for c in column.cells]
        raised = [rf"\textsuperscript{{{escaped(c.raised)}}}" if c.raised else "" for c in column.cells]
        beside = [escaped(c.beside) for c in column.cells]
        for marks, gap in ((raised, ""), (beside, " ")):
            if any(marks):
                self._append(marks, gap, column.is_text)
        width = len(self.alignment.replace("@{}", "").replace("@{ }", ""))
        if width > 1:
            self.head = rf"\multicolumn{{{width}}}{{l}}{{{self.head}}}"

    def _append(self, marks: Sequence[str], gap: str, is_text: bool) -> None:
        """Put marks after the cells: of text right there, of numbers into a column of their own."""
        between = gap if is_text else " & "
        self.alignment += "" if is_text else f"@{{{gap}}}l"
        self.cells = [f"{cell}{between}{mark}".rstrip() for cell, mark in zip(self.cells, marks, strict=True)]
