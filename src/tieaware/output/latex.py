"""Tables in LaTeX, with the rules of the package booktabs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

# Escapes for LaTeX. After a line end, LaTeX would read brackets and stars as its arguments. LaTeX would also print
# straight quotes as curly quotes.
_ESCAPED = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "[": "{[}", "]": "{]}", "*": "{*}", "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}", "–": "--", "±": r"$\pm$", "…": r"\dots{}",
}  # fmt: skip


class Shown(NamedTuple):
    """One cell as shown, not yet escaped: its main text, whether that is bold, and the letters and text that follow."""

    text: str
    bold: bool = False
    raised: str = ""
    beside: str = ""


def escaped(text: str) -> str:
    """Escape text for LaTeX. Characters that LaTeX cannot print, such as control characters, become question marks."""
    return "".join(map(_escaped, text, text[1:] + " "))


def _escaped(c: str, following: str) -> str:
    # LaTeX would join two hyphens into a dash, so an empty group separates them.
    return "-{}" if c == following == "-" else _ESCAPED.get(c, c if c.isprintable() else "?")


def tabular(
    names: Sequence[str], is_text: Sequence[bool], columns: Sequence[Sequence[Shown]], notes: Iterable[str] = ()
) -> str:
    """Return a table as a LaTeX tabular, after its notes as comments.

    The raised letters after a number, and the text beside it, are in separate columns, so that the numbers are aligned.

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
        """Append marks, such as raised letters, to the cells: text keeps them beside it, numbers get a new column."""
        between = gap if is_text else " & "
        self.alignment += "" if is_text else f"@{{{gap}}}l"
        self.cells = [f"{cell}{between}{mark}".rstrip() for cell, mark in zip(self.cells, marks, strict=True)]
