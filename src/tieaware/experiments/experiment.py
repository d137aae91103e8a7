"""The base class of the outcomes of experiments, with their tables, figures and reports."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from tieaware.errors import printable
from tieaware.experiments.page import Report
from tieaware.experiments.report import write
from tieaware.output.plots import Drawing
from tieaware.output.tables import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        """Return the answer to the question in two sentences, with numbers of three significant digits.

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

    def table(self) -> Table:
        """Return the main table.

        Returns
        -------
        Table
            The first table of `tables`.
        """
        return next(iter(self.tables().values()))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the main figure, which is the first of `drawings`, with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw into; by default a new pyplot figure.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return next(iter(self.drawings().values())).plot(ax)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the main table to a CSV file, in full precision.

        Parameters
        ----------
        path : str or os.PathLike
            The path of the file; an existing file is replaced.
        """
        self.table().to_csv(path)

    def write(self, folder: str | os.PathLike[str], command: str = "") -> None:
        """Write all tables as CSV, all figures as PNG and SVG, and ``report.html``, which begins with the verdict.

        Parameters
        ----------
        folder : str or os.PathLike
            Created if it is missing. Files of the same names are replaced; other files stay.
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
