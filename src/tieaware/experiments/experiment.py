"""What every experiment returns: tables, figures, and files of them."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from tieaware.experiments.report import Report, write
from tieaware.plots import Drawing
from tieaware.tables import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Experiment(ABC):
    """The outcome of an experiment.

    Attributes
    ----------
    title : str
        What was done, in a line.
    answers : tuple of str
        The names of the tables to read first: what is printed.
    """

    title: str

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
        """Write every table as CSV, every figure as PNG and SVG, and ``report.html``, which holds them all.

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
        write(Report(self.title, first | tables, self.drawings(), command), folder)

    def __str__(self) -> str:
        tables = self.tables()
        return "\n\n".join(str(tables[name]) for name in self.answers)
