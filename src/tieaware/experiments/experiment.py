"""The base class of the outcomes of experiments, with their tables, figures and reports."""

from __future__ import annotations

import base64
import html
import os
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tieaware.errors import InputError, printable
from tieaware.experiments.report import Report, write
from tieaware.measures import Measure, parse_measure
from tieaware.output.plots import Axes, Drawing, file_name
from tieaware.output.tables import Table, counted
from tieaware.runtime.extras import MissingExtraError

# The number of rows in repr(), the number of rows in a notebook, and the number of characters in a line of repr().
_SHOWN_ROWS, _SHOWN_ROWS_OF_NOTEBOOKS, _WIDTH = 8, 30, 100


def _figure_of(measure: str | Measure, drawings: Iterable[str]) -> str | None:
    """Return the name of the first figure that shows only this measure; None if there is none."""
    try:
        end = f"-{file_name(parse_measure(measure))}"
    except InputError:
        return None
    return next((name for name in drawings if name.endswith(end)), None)


class Experiment(ABC):
    """The outcome of an experiment.

    Attributes
    ----------
    title : str
        The design of the experiment, in one line.
    heading : str
        The question that the experiment answers; the heading of the report.
    answers : tuple of str
        The names of the tables that a command prints by default.
    """

    title: str

    @property
    def heading(self) -> str:
        """The question that the experiment answers; the heading of the report."""
        return self.title

    def verdict(self) -> str:
        """Return the answer to the question in a few sentences, with numbers of three significant digits.

        Returns
        -------
        str
            Plain text, in which names are not escaped; empty if the experiment has no verdict.
        """
        return ""

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of the tables that a command prints by default."""
        return (next(iter(self.tables())),)

    @abstractmethod
    def tables(self) -> dict[str, Table]:
        """Return all tables by file name, the main table first.

        Returns
        -------
        dict of str to Table
            At least one table.
        """

    @abstractmethod
    def drawings(self) -> dict[str, Drawing]:
        """Return all figures by file name, the main figure first.

        Returns
        -------
        dict of str to Drawing
            At least one figure; each is drawn when it is needed.
        """

    def to_dict(self) -> dict[str, Any] | None:
        """Return the outcome with fixed keys, for programs.

        Returns
        -------
        dict or None
            None if the outcome is only tables.
        """
        return None

    def table(self) -> Table:
        """Return the main table.

        Returns
        -------
        Table
            The first table of `tables`.
        """
        return next(iter(self.tables().values()))

    def plot(
        self, ax: Axes | None = None, *, measure: str | Measure | None = None, width: float | None = None
    ) -> Axes:
        """Draw the main figure, which is the first of `drawings`, with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw into; by default a new pyplot figure.
        measure : str or Measure, optional
            Draw the first figure that shows only this measure.
        width : float, optional
            The width of a new figure in inches, such as 3.3 for a column of a paper.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        InputError
            If `ax` is a text, such as the name of a figure, or there is no figure of the measure.
        """
        drawings = self.drawings()
        name: str | None = next(iter(drawings)) if measure is None else _figure_of(measure, drawings)
        if name is None:
            raise InputError("measure", f"no figure shows only {measure}; there are {', '.join(drawings)}")
        if isinstance(ax, str | Measure):
            figure = f"drawings()[{(ax if ax in drawings else _figure_of(ax, drawings) or name)!r}]"
            instead = f"{figure}.plot() to choose a figure, {figure}.save(path) to write it"
            raise InputError("plot", f"the first argument is matplotlib axes; type {instead}")
        return drawings[name].of_width(width).plot(ax)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the main table to a CSV file, in full precision.

        Parameters
        ----------
        path : str or os.PathLike
            The path of the file; an existing file is replaced.
        """
        self.table().to_csv(path)

    def write(self, folder: str | os.PathLike[str], command: str = "") -> None:
        """Write all tables as CSV, all figures as SVG, and ``report.html``, which begins with the verdict.

        The figures that the page shows are also written as PNG. If a report has many figures, it links to the others.

        Parameters
        ----------
        folder : str or os.PathLike
            Created if it is missing. The new report replaces all files of the last report in it, and files of the same
            names; other files stay.
        command : str
            The command line that made the report, which the report shows.

        Raises
        ------
        InputError
            If the folder or a file cannot be written; then no file is written.
        """
        tables = self.tables()
        first = {name: tables[name] for name in self.answers}
        report = Report(self.heading, self.title, self.verdict(), first | tables, self.drawings(), command)
        write(report, folder)

    def __str__(self) -> str:
        tables = self.tables()
        texts = [printable(self.verdict()), *(str(tables[name]) for name in self.answers)]
        return "\n\n".join(filter(None, texts))

    def __repr__(self) -> str:
        table, more = self._first_rows(_SHOWN_ROWS)
        verdict = textwrap.fill(printable(self.verdict()), _WIDTH)
        return "\n".join([*([verdict, ""] if verdict else []), str(replace(table, notes=())), *more])

    def _repr_html_(self) -> str:
        """Return heading, verdict, main figure and main table in HTML, for notebooks."""
        table, more = self._first_rows(_SHOWN_ROWS_OF_NOTEBOOKS)
        shown = replace(table, notes=(*(f"{each.capitalize()}." for each in more), *table.notes))
        parts = [
            f"<p><b>{html.escape(self.heading)}</b></p>",
            f"<p>{html.escape(self.title)}</p>" if self.title not in (self.heading, table.title) else "",
            f"<p>{html.escape(self.verdict())}</p>" if self.verdict() else "",
            self._main_figure(),
            f'<div style="overflow-x:auto">{shown._repr_html_()}</div>',
        ]
        return "\n".join(filter(None, parts))

    def _first_rows(self, count: int) -> tuple[Table, list[str]]:
        """Return the first rows of the table that a command prints first, and a line that counts the other rows."""
        table = self.tables()[self.answers[0]]
        more = len(table.rows) - count
        lines = [f"and {counted(more, 'more row')}"] if more > 0 else []
        return replace(table, rows=table.rows[:count]), lines

    def _main_figure(self) -> str:
        """Return the main figure as an HTML image; empty without matplotlib."""
        drawing = next(iter(self.drawings().values()))
        try:
            image = base64.b64encode(drawing.svg()).decode()
        except MissingExtraError:
            return ""
        text = html.escape(drawing.caption)
        return f'<img src="data:image/svg+xml;base64,{image}" alt="{text}" style="max-width:100%">'
