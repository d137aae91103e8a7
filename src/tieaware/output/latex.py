"""Tables in LaTeX, with the rules of the package booktabs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

# LaTeX would take brackets and stars for arguments of the line end before them, and straight quotes for curly ones.
_ESCAPED = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "[": "{[}", "]": "{]}", "*": "{*}", "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}", "–": "--", "±": r"$\pm$", "…": r"\dots{}",
}  # fmt: skip


class Shown(NamedTuple):
    """The text of one cell, not yet escaped: the main text, whether it is bold, raised letters, and text beside it."""

    text: str
    bold: bool = False
    raised: str = ""
    beside: str = ""


def escaped(text: str) -> str:
    """Escape text for LaTeX. Characters that LaTeX cannot print, such as control characters, become question marks."""
    return "".join(map(_escaped, text, text[1:] + " "))


def _escaped(c: str, following: str) -> str:
    # Two hyphens would join into a dash.
    return "-{}" if c == following == "-" else _ESCAPED.get(c, c if c.isprintable() else "?")


def tabular(
    names: Sequence[str], is_text: Sequence[bool], columns: Sequence[Sequence[Shown]], notes: Iterable[str] = ()
) -> str:
    """Return a tabular; the notes stand before it, as comments.

    Raised letters after a number, and text beside it, go into columns of their own, so that the numbers are aligned.

    Parameters
    ----------
    names : sequence of str
        The names of the columns.
    is_text : sequence of bool
        Whether each column is text.
    columns : sequence of sequences of Shown
        The cells of each column.
    notes : iterable of str
    """
    made = [_Tabular(*column) for column in zip(names, is_text, columns, strict=True)]
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
    """The LaTeX code of a column: its alignment, head and cells."""

    def __init__(self, name: str, is_text: bool, cells: Sequence[Shown]) -> None:
        self.alignment, self.head = ("l" if is_text else "r"), escaped(name)
        self.cells = [rf"\textbf{{{escaped(c.text)}}}" if c.bold else escaped(c.text) for c in cells]
        raised = [rf"\textsuperscript{{{escaped(c.raised)}}}" if c.raised else "" for c in cells]
        beside = [escaped(c.beside) for c in cells]
        for marks, gap in ((raised, ""), (beside, " ")):
            if any(marks):
                self._append(marks, gap, is_text)
        width = len(self.alignment.replace("@{}", "").replace("@{ }", ""))
        if width > 1:
            self.head = rf"\multicolumn{{{width}}}{{l}}{{{self.head}}}"

    def _append(self, marks: Sequence[str], gap: str, is_text: bool) -> None:
        """Append marks to the cells: directly to text, but in a new column to numbers."""
        between = gap if is_text else " & "
        self.alignment += "" if is_text else f"@{{{gap}}}l"
        self.cells = [f"{cell}{between}{mark}".rstrip() for cell, mark in zip(self.cells, marks, strict=True)]
