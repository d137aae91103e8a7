"""A matrix of values, from a CSV file: a column for each system, a row for each topic."""

from __future__ import annotations

import csv
import os
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.errors import InputError


class Matrix(NamedTuple):
    """What systems are worth on topics, however that was measured."""

    systems: tuple[str, ...]
    values: npt.NDArray[np.float64]  # [n_systems, n_topics]


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
                raise InputError(f"{name}:1: found nothing, expected the names of the systems, separated by commas")
            twice = [system for i, system in enumerate(systems) if system in systems[:i]]
            if twice:
                raise InputError(f"{name}:1: {twice[0]!r} comes twice, expected different names")
            rows = [_row(f"{name}:{lines.line_num}", cells, systems) for cells in lines if cells]
    except csv.Error as error:
        raise InputError(f"{name}:{lines.line_num}: {error}") from None
    except OSError as error:
        raise InputError(f"{name}: {error.strerror}") from None
    if not rows:
        raise InputError(f"{name}:2: found no values, expected a row for each topic")
    return Matrix(systems, np.ascontiguousarray(np.array(rows, dtype=np.float64).T))


def _row(place: str, cells: list[str], systems: tuple[str, ...]) -> list[float]:
    if len(cells) != len(systems):
        raise InputError(f"{place}: found {len(cells)} values, expected {len(systems)}, one for each system")
    values = []
    for system, cell in zip(systems, cells, strict=True):
        try:
            value = float(cell)
        except ValueError:
            value = np.nan
        if not np.isfinite(value):
            raise InputError(f"{place}: {cell!r:.40} under {system}, expected a finite number")
        values.append(value)
    return values
