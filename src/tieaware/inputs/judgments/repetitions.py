"""Judgments that repeat an earlier judgment, and the choice among different values of a document."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from tieaware.checks.arrays import Integers
from tieaware.errors import InputError
from tieaware.lists.identifiers import quoted
from tieaware.lists.query_lists import Lists

# The values of the argument `duplicates` where several values of a document may be chosen from.
DuplicateChoice: TypeAlias = Literal["error", "first", "last", "highest"]


def without_repetitions(lists: Lists, duplicates: DuplicateChoice = "error", remedy: str = "") -> Lists:
    """Remove rows that repeat an earlier row. `duplicates` chooses among different values of a document.

    By default, InputError is raised for them, whose message ends with the `remedy`.
    """
    found = lists.duplicates()
    if len(found) == 0:
        return lists
    rows, first = found.T
    values = lists.values.copy()
    if duplicates == "error":
        conflicts = values[rows] != values[first]
        if conflicts.any():
            raise _conflict(lists, found[conflicts.argmax()], remedy)
    elif duplicates == "highest":
        np.maximum.at(values, first, values[rows])
    elif duplicates == "last":
        values[first] = values[rows]
    return replace(lists, values=values).without(rows)


def _conflict(lists: Lists, pair: Integers, remedy: str) -> InputError:
    row, first = pair.tolist()
    document, query = quoted(lists.documents[row]), lists.query_of(row)
    problem = f"document {document} of query {query} has label {lists.values[row]} here"
    at = f"but label {lists.values[first]} at {lists.place_of(first)}"
    return InputError(lists.place_of(row), f"{problem}, {at}" + f"; {remedy}" * bool(remedy))
