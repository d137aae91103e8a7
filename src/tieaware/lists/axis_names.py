"""Names of the rows and columns of arrays, such as the users and items of a matrix."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tieaware.checks.arguments import shown
from tieaware.checks.arrays import Integers
from tieaware.errors import InputError
from tieaware.kernels import _buffers, _identifiers
from tieaware.lists.identifiers import Identifiers


def number_names(numbers: Integers) -> Identifiers:
    """Return whole numbers as identifiers."""
    return Identifiers.of(*_buffers.Column.of_array(numbers).identifiers(0, len(numbers)), "integer")


def axis_names(names: Iterable[object], n: int, argument: str, of: str) -> Identifiers:
    """Check the names of n rows or columns, of which none may appear twice, and return them as identifiers.

    `argument` is the name of the names in messages; `of` is the word for what has a name, such as "rows".
    """
    found = Identifiers.from_sequence(names, argument)
    if len(found) != n:
        raise InputError(argument, f"must have one name for each of the {n} {of}; found {len(found)}")
    numbers, firsts = _identifiers.number(found.data, found.offsets)
    if len(firsts) < n:
        again = int(np.flatnonzero(firsts[numbers] != np.arange(n))[0])
        name = shown(found.take(np.array([again])).to_list()[0])
        problem = f"{name} appears twice, first at {argument}[{firsts[numbers[again]]}]"
        raise InputError(f"{argument}[{again}]", problem)
    return found
