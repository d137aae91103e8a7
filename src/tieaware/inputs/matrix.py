"""A matrix of values, from a CSV file: a column for each system, a row for each topic."""

from __future__ import annotations

import csv
import os
from typing import NamedTuple

import numpy as np

from tieaware.checks.arguments import shown, unexpected
from tieaware.checks.arrays import Values
from tieaware.errors import InputError


class Matrix(NamedTuple):
    """What systems are worth on topics, however that was measured."""

    systems: tuple[str, ...]
    values: Values  # [n_systems, n_topics]


def read_matrix(path: str | os.PathLike[str]) -> Matrix:
    """Read a CSV file whose first line names the systems, and every other holds their values on one topic.

    Raises
    ------
    InputError
        With path and line, if a line has other than one finite number for each system, or a name comes twice.
    """
    name = os.fspath(path)
    try:
        with open(path, newline="", encoding="utf-8", errors="surrogateescape") as file:
            lines = csv.reader(file)
            systems = tuple(cell.strip() for cell in next(lines, ()))
            if not systems:
                raise unexpected(f"{name}:1", "the names of the systems, separated by commas", "nothing")
            twice = [system for i, system in enumerate(systems) if system in systems[:i]]
            if twice:
                raise unexpected(f"{name}:1", "different names", f"{shown(twice[0])} twice")
            rows = [_row(f"{name}:{lines.line_num}", cells, systems) for cells in lines if cells]
    except csv.Error as error:
        raise InputError(f"{name}:{lines.line_num}", f"{error}") from None
    except OSError as error:
        raise InputError(name, error.strerror or str(error)) from None
    if not rows:
        raise unexpected(f"{name}:2", "a row of values for each topic", "none")
    return Matrix(systems, np.ascontiguousarray(np.array(rows, dtype=np.float64).T))


def _row(place: str, cells: list[str], systems: tuple[str, ...]) -> list[float]:
    if len(cells) != len(systems):
        raise unexpected(place, f"{len(systems)} values, one for each system", f"{len(cells)}")
    values = []
    for system, cell in zip(systems, cells, strict=True):
        try:
            value = float(cell)
        except ValueError:
            value = np.nan
        if not np.isfinite(value):
            raise unexpected(place, f"a finite number under {system}", shown(cell))
        values.append(value)
    return values
