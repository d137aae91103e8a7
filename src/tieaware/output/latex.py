"""Tables in LaTeX: complete floats with caption, label and notes, and the rules of the package booktabs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

# Escapes for LaTeX. After a line end, LaTeX would read brackets and stars as its arguments. LaTeX would also print
# straight quotes as curly quotes. pdfLaTeX does not know Greek letters and most signs outside of mathematics.
_ESCAPED = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "[": "{[}", "]": "{]}", "*": "{*}", "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}", "–": "--", "±": r"$\pm$", "…": r"\dots{}", "†": r"$\dagger$", "‡": r"$\ddagger$",
    "−": "$-$", "×": r"$\times$", "÷": r"$\div$", "·": r"$\cdot$", "≥": r"$\geq$", "≤": r"$\leq$",
    "→": r"$\rightarrow$", "←": r"$\leftarrow$", "²": "$^2$", "Δ": r"$\Delta$", "Φ": r"$\Phi$", "α": r"$\alpha$",
    "μ": r"$\mu$", "ρ": r"$\rho$", "σ": r"$\sigma$", "τ": r"$\tau$",
}  # fmt: skip
# One of two columns of a page holds rows of about _COLUMN characters, and a page holds about _ROWS rows; in small type,
# the width of a page holds about _PAGE characters, and its height _SMALL_ROWS rows. Between two columns of a table is
# the room of _GAP characters.
_COLUMN, _ROWS, _PAGE, _SMALL_ROWS, _GAP = 48, 32, 100, 44, 3
# Hyphens that are minus signs: before a number, unless they belong to a name or to a range, and in its exponent.
_MINUS = re.compile(r"(?<![\w.)\]])-(?=[\d.])|(?<=\de)-(?=\d)")
_LETTERS, _END_OF_LABEL = re.compile(r"[a-z0-9]+"), re.compile(r"[,:]")


class Shown(NamedTuple):
    """One cell as shown, not yet escaped: its main text, whether that is bold, and the letters and text that follow."""

    text: str
    bold: bool = False
    raised: str = ""
    beside: str = ""


class Grid(NamedTuple):
    """The name of each column, whether it is text, and its cells.

    The columns "Δ AP" and "p AP" on the right of "AP" share its heading.
    """

    names: Sequence[str]
    is_text: Sequence[bool]
    columns: Sequence[Sequence[Shown]]


def escaped(text: str) -> str:
    """Escape text for LaTeX. Characters that LaTeX cannot print, such as control characters, become question marks."""
    return "".join(map(_escaped, text, text[1:] + " "))


def _escaped(c: str, following: str) -> str:
    # LaTeX would join two hyphens into a dash, so an empty group separates them.
    return "-{}" if c == following == "-" else _ESCAPED.get(c, c if c.isprintable() else "?")


def table_float(
    grid: Grid, title: str, notes: Iterable[str], caption: str | None, label: str, wide: bool | None
) -> str:
    """Return a table as a LaTeX float: the caption, the tabular, and the notes as text below it.

    The title is the default caption, as plain text. If another caption is given, the title is the first note. The
    caption and the label are LaTeX code; empty ones are left out. A wide float has the width of the page in a document
    of two columns; if `wide` is None, the number of characters in a row decides.
    """
    name = "table*" if (_line_width(_widths(grid)) > _COLUMN if wide is None else wide) else "table"
    sentence = f"{escaped(' '.join(title.split()).removesuffix('.'))}." if title else ""
    texts = [escaped(" ".join(note.split())) for note in notes]
    if caption is None:
        caption = sentence
    elif sentence:
        texts.insert(0, sentence)
    caption = " ".join(caption.split())
    label = "".join(label.split())
    small = [r"\footnotesize"] if name == "table*" or len(grid.columns[0]) > _ROWS else []
    below = [r"\par\medskip", r"\begin{minipage}{\linewidth}", r"\footnotesize", *(rf"{text}\par" for text in texts)]
    lines = ["% Needs the package booktabs."]
    pieces = _pieces(grid)
    for i, piece in enumerate(pieces):
        is_first, is_last = i == 0, i == len(pieces) - 1
        lines += [
            rf"\begin{{{name}}}",
            r"\centering",
            # All pieces have one number.
            *([] if is_first else [r"\addtocounter{table}{-1}"]),
            *([rf"\caption{{{caption if is_first else 'Continued.'}}}"] if caption else []),
            *([rf"\label{{{label}}}"] if label and is_first else []),
            r"\smallskip",
            # The page of a document with one column is hardly wider than a column of a document with two.
            *small,
            *([r"\setlength{\tabcolsep}{3pt}"] if name == "table*" else []),
            *_tabular(piece),
            *([*below, r"\end{minipage}"] if texts and is_last else []),
            rf"\end{{{name}}}",
        ]
    return "\n".join(lines) + "\n"


def _pieces(grid: Grid) -> list[Grid]:
    """Divide a table that is longer or wider than a page. Each piece has the columns of names on the left."""
    widths = _widths(grid)
    n_names = max(1, list(grid.is_text).index(False)) if False in grid.is_text else 1
    panels: list[list[int]] = [[*range(n_names)]]
    for start, size in _groups(grid.names)[n_names:]:
        group = [*range(start, start + size)]
        if len(panels[-1]) > n_names and _line_width([widths[i] for i in (*panels[-1], *group)]) > _PAGE:
            panels.append([*range(n_names)])
        panels[-1] += group
    return [
        Grid(
            [grid.names[i] for i in panel], [grid.is_text[i] for i in panel],
            [grid.columns[i][first : first + _SMALL_ROWS] for i in panel],
        )
        for panel in panels for first in range(0, max(len(grid.columns[0]), 1), _SMALL_ROWS)
    ]  # fmt: skip


def label_of(title: str) -> str:
    """Return the default label: the words of the title up to the first comma or colon."""
    words = _LETTERS.findall(_END_OF_LABEL.split(title)[0].lower())
    return f"tab:{'-'.join(words) or 'results'}"


def _widths(grid: Grid) -> list[int]:
    """Return the width of each column in characters."""
    return [
        max(len(head), *(len(c.text) + len(c.raised) + len(c.beside) for c in cells), 0)
        for head, cells in zip(_headings(grid.names), grid.columns, strict=True)
    ]


def _line_width(widths: Sequence[int]) -> int:
    """Return the number of characters that would fit into the width of these columns."""
    return sum(widths) + _GAP * (len(widths) - 1)


def _headings(names: Sequence[str]) -> list[str]:
    """Return the heading of each column: its name, or its part below a heading that it shares with other columns."""
    return [
        name if size == 1 else _parts(names[start]).get(name, "mean")
        for start, size in _groups(names)
        for name in names[start : start + size]
    ]


def _parts(name: str) -> dict[str, str]:
    """Return the columns that share the heading of a measure: {name: heading below the common one}."""
    return {f"{part} {name}": part for part in ("Δ", "p")}


def _groups(names: Sequence[str]) -> list[tuple[int, int]]:
    """Return the first column and the number of columns of each common heading; single columns are groups of one."""
    groups: list[tuple[int, int]] = []
    for i, name in enumerate(names):
        if groups and name in _parts(names[groups[-1][0]]):
            groups[-1] = (groups[-1][0], groups[-1][1] + 1)
        else:
            groups.append((i, 1))
    return groups


def _tabular(grid: Grid) -> list[str]:
    """Return the lines of the tabular.

    The raised letters after a number, and the text beside it, are in separate columns, so that the numbers are aligned.
    """
    headings = _headings(grid.names)
    made = [_Tabular(*column) for column in zip(headings, grid.is_text, grid.columns, strict=True)]
    above = _common_headings(grid.names, [column.width for column in made])
    return [
        rf"\begin{{tabular}}{{{''.join(column.alignment for column in made)}}}",
        r"\toprule",
        *above,
        _row(column.head for column in made),
        r"\midrule",
        *(_row(cells) for cells in zip(*(column.cells for column in made), strict=True)),
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _common_headings(names: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Return the row of common headings with the rules below them; nothing if there are none."""
    cells, rules, place = [], [], 1
    for start, size in _groups(names):
        width = sum(widths[start : start + size])
        if size == 1:
            cells += [""] * width
        else:
            cells.append(rf"\multicolumn{{{width}}}{{c}}{{{escaped(names[start])}}}")
            rules.append(rf"\cmidrule(lr){{{place}-{place + width - 1}}}")
        place += width
    return [_row(cells), "".join(rules)] if rules else []


def _row(cells: Iterable[str]) -> str:
    return rf"{' & '.join(cells)} \\"


class _Tabular:
    """The LaTeX code of a column: its alignment, head and cells, and the number of columns that it takes."""

    def __init__(self, name: str, is_text: bool, cells: Sequence[Shown]) -> None:
        self.alignment, self.head = ("l" if is_text else "r"), "$p$" if name == "p" else escaped(name)
        self.cells = [self._main(cell, is_text) for cell in cells]
        raised = [rf"\textsuperscript{{{escaped(c.raised)}}}" if c.raised else "" for c in cells]
        beside = [escaped(_MINUS.sub("−", c.beside)) for c in cells]
        for marks, gap in ((raised, ""), (beside, " ")):
            if any(marks):
                self._append(marks, gap, is_text)
        self.width = len(self.alignment.replace("@{}", "").replace("@{ }", ""))
        if self.width > 1:
            self.head = rf"\multicolumn{{{self.width}}}{{l}}{{{self.head}}}"

    def _main(self, cell: Shown, is_text: bool) -> str:
        """Return the main text of a cell; a number gets minus signs instead of hyphens."""
        text = escaped(cell.text if is_text else _MINUS.sub("−", cell.text))
        return rf"\textbf{{{text}}}" if cell.bold else text

    def _append(self, marks: Sequence[str], gap: str, is_text: bool) -> None:
        """Append marks, such as raised letters, to the cells: text keeps them beside it, numbers get a new column."""
        between = gap if is_text else " & "
        self.alignment += "" if is_text else f"@{{{gap}}}l"
        self.cells = [f"{cell}{between}{mark}".rstrip() for cell, mark in zip(self.cells, marks, strict=True)]
