"""Reading of CSV files that contain the value of a measure for each system (column) and topic (row)."""

from __future__ import annotations

import csv
import os
from typing import NamedTuple

import numpy as np

from tieaware.checks.arguments import path_text, shown, unexpected
from tieaware.checks.arrays import Values
from tieaware.errors import InputError
from tieaware.inputs.files import ByteStream
from tieaware.inputs.text import Lines, number_in


class Matrix(NamedTuple):
    """The values of one measure for each system on each topic.

    Parameters
    ----------
    systems : tuple of str
        The names of the systems.
    values : float64[n_systems, n_topics]
        values[s, t] is the value of system s on topic t.
    """

    systems: tuple[str, ...]
    values: Values


def read_matrix(path: str | os.PathLike[str]) -> Matrix:
    """Read a CSV file whose first line names the systems. Each other line has the values of all systems on one topic.

    Raises
    ------
    InputError
        The file cannot be read, a line does not have exactly one finite number for each system, or two systems have the
        same name. The message names the file and the line.
    """
    name = path_text("path", path)
    try:
        with ByteStream(name) as file:
            lines = csv.reader(Lines(file).decoded("surrogateescape"))
            systems = tuple(cell.strip() for cell in next(lines, ()))
            if not systems:
                raise InputError(f"{name}:1", "this line must name the systems, separated by commas, but is empty")
            twice = [system for i, system in enumerate(systems) if system in systems[:i]]
            if twice:
                raise InputError(f"{name}:1", f"two systems are named {shown(twice[0])}")
            rows = [_row(f"{name}:{lines.line_num}", cells, systems) for cells in lines if cells]
    except csv.Error as error:
        raise InputError(f"{name}:{lines.line_num}", f"{error}") from None
    if not rows:
        raise InputError(f"{name}:2", "there must be a line of values for each topic, but there is none")
    return Matrix(systems, np.ascontiguousarray(np.array(rows, dtype=np.float64).T))


def _row(place: str, cells: list[str], systems: tuple[str, ...]) -> list[float]:
    """Convert the cells of one line to the values of the systems. `place` is the file and line number for messages."""
    if len(cells) != len(systems):
        raise InputError(place, f"has {len(cells)} values for {len(systems)} systems")
    values = []
    for system, cell in zip(systems, cells, strict=True):
        try:
            value, found = number_in(cell), shown(cell)
        except ValueError as error:
            value, found = np.nan, f"{error}"
        if not np.isfinite(value):
            raise unexpected(place, f"a finite number under {system}", found)
        values.append(value)
    return values
