"""Conversion of nested mappings {query: {document: value}} to columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tieaware.checks.arguments import shown
from tieaware.checks.arrays import Offsets, Place
from tieaware.errors import InputError
from tieaware.lists.identifiers import Identifiers


def flattened(
    lists: Mapping[Any, Any], argument: str
) -> tuple[Identifiers, Offsets, Identifiers, list[Any], Place]:
    """Convert a nested mapping {query: {document: value}} to columns, with one row per document of a query.

    Parameters
    ----------
    lists : mapping of mappings
    argument : str
        The name of the mapping in messages.

    Returns
    -------
    tuple
        The queries; the offsets of their rows; the document of each row; the value of each row; and a function that
        describes the place of a row for a message, such as "run['q1']['d1']".

    Raises
    ------
    InputError
        The argument does not have the form {query: {document: value}}, or a key is not an identifier.
    """
    if not isinstance(lists, Mapping):
        raise InputError(argument, f"must be a dict {{query: {{document: value}}}}, not {type(lists).__name__}")
    keys: list[Any] = []
    values: list[Any] = []
    # items() is called only once, because a mapping of another library may return different items the next time.
    items = list(lists.items())
    offsets = np.zeros(len(items) + 1, np.int64)
    for row, (query, listed) in enumerate(items):
        if not isinstance(listed, Mapping):
            problem = f"must be a dict {{document: value}}, not {type(listed).__name__}"
            raise InputError(f"{argument}[{shown(query)}]", problem)
        keys.extend(listed.keys())
        values.extend(listed.values())
        if len(values) != len(keys):
            raise InputError(f"{argument}[{shown(query)}]", "this mapping does not have as many values as keys")
        offsets[row + 1] = len(keys)
    names = [query for query, _ in items]

    def place(row: int) -> str:
        query = names[int(np.searchsorted(offsets, row, side="right")) - 1]
        return f"{argument}[{shown(query)}][{shown(keys[row])}]"

    queries = Identifiers.from_sequence(names, f"queries of {argument}")
    documents = Identifiers.from_sequence(keys, f"documents of {argument}")
    return queries.matching_any(), offsets, documents.matching_any(), values, place
