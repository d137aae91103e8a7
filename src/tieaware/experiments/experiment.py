"""What every experiment returns: tables, figures, and files of them."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from tieaware.errors import printable
from tieaware.experiments.page import Report
from tieaware.experiments.plots import Drawing
from tieaware.experiments.report import write
from tieaware.output.tables import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Experiment(ABC):
    """The outcome of an experiment.

    Attributes
    ----------
    title : str
        What was done, in a line.
    heading : str
        What was asked: the heading of the report.
    answers : tuple of str
        The names of the tables to read first: what is printed.
    """

    title: str

    @property
    def heading(self) -> str:
        """What was asked: the heading of the report."""
        return self.title

    def verdict(self) -> str:
        """Return the answer in two sentences, with its numbers in three significant digits.

        Returns
        -------
        str
            Plain text, in which names stand as they were given; empty where the experiment has no verdict.
        """
        return ""

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of the tables to read first: what is printed."""
        return (next(iter(self.tables())),)

    @abstractmethod
    def tables(self) -> dict[str, Table]:
        """Return all tables, the main one first, by the names that their files have.

        Returns
        -------
        dict of str to Table
            At least one.
        """

    @abstractmethod
    def drawings(self) -> dict[str, Drawing]:
        """Return all figures, the main one first, by the names that their files have.

        Returns
        -------
        dict of str to Drawing
            At least one; none is drawn yet.
        """

    def table(self) -> Table:
        """Return the main table.

        Returns
        -------
        Table
            The first of `tables`.
        """
        return next(iter(self.tables().values()))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the main figure, the first of `drawings`, with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default into a new pyplot figure.

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
            A file there is replaced.
        """
        self.table().to_csv(path)

    def write(self, folder: str | os.PathLike[str], command: str = "") -> None:
        """Write every table as CSV, every figure as PNG and SVG, and ``report.html``, which begins with the verdict.

        Parameters
        ----------
        folder : str or os.PathLike
            Made if it is not there. Files of the same names are replaced, others stay.
        command : str
            What made it, for the report.

        Raises
        ------
        InputError
            If the folder or a file cannot be written; none is written then.
        """
        tables = self.tables()
        first = {name: tables[name] for name in self.answers}
        report = Report(self.heading, self.title, self.verdict(), first | tables, self.drawings(), command)
        write(report, folder)

    def __str__(self) -> str:
        tables = self.tables()
        texts = [printable(self.verdict()), *(str(tables[name]) for name in self.answers)]
        return "\n\n".join(filter(None, texts))
