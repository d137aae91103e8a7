"""Rows of (query, document, value), gathered into one list per query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tieaware import _join
from tieaware.errors import InputError
from tieaware.inputs.identifiers import Identifiers, shortened, shown

# Says where a row is, as a message begins with it: "run.txt:12", "doc[11]", "run['q1']['d1']".
Place = Callable[[int], str]


@dataclass(frozen=True, slots=True)
class Lists:
    """A list of documents, each with a value, for every query.

    Parameters
    ----------
    queries : Identifiers
        Each once, in the order of their first appearance.
    offsets : int64[n_queries + 1]
        The rows of query ``q`` are ``offsets[q]`` to ``offsets[q + 1]``.
    documents : Identifiers
        The document of each row.
    values : ndarray
        The value of each row.
    sources : int64[n_rows] or None
        Which row of the input each was; None if rows are where they were.
    """

    queries: Identifiers
    offsets: NDArray[np.int64]
    documents: Identifiers
    values: NDArray[Any]
    sources: NDArray[np.int64] | None = None

    def source(self, row: int) -> int:
        """Return which row of the input a row was."""
        return row if self.sources is None else int(self.sources[row])

    def query_of(self, row: int) -> str:
        """Return the query of a row, for a message."""
        return shown(self.queries[int(np.searchsorted(self.offsets, row, side="right")) - 1])

    def without(self, rows: NDArray[np.int64]) -> Lists:
        """Return the same lists without these rows."""
        keep = np.ones(len(self.documents), bool)
        keep[rows] = False
        kept = np.flatnonzero(keep)
        return Lists(
            self.queries,
            np.searchsorted(kept, self.offsets).astype(np.int64),
            self.documents.take(kept),
            self.values[kept],
            kept if self.sources is None else self.sources[kept],
        )

    def duplicates(self, one: bool = False) -> NDArray[np.int64]:
        """Return the rows whose document appeared before for the same query, and where first: int64[n, 2]."""
        return _join.duplicates(self.documents.data, self.documents.offsets, self.offsets, one)


def grouped(
    segments: Identifiers, starts: NDArray[np.int64], documents: Identifiers, values: NDArray[Any]
) -> Lists:
    """Bring the rows of each query together, stably.

    Parameters
    ----------
    segments : Identifiers
        The query of each segment, which is a sequence of rows of one query.
    starts : int64[n_segments + 1]
        The first row of each segment, and the number of rows.
    documents, values
        One of each per row.
    """
    numbers, firsts = _join.number(segments.data, segments.offsets)
    if len(firsts) == len(segments):
        return Lists(segments, starts, documents, values)
    queries = segments.take(firsts)
    sizes = np.diff(starts)
    row_numbers = np.repeat(numbers, sizes)
    offsets = np.zeros(len(firsts) + 1, np.int64)
    np.cumsum(np.bincount(numbers, weights=sizes, minlength=len(firsts)).astype(np.int64), out=offsets[1:])
    if (row_numbers[1:] >= row_numbers[:-1]).all():
        return Lists(queries, offsets, documents, values)
    sources = np.argsort(row_numbers, kind="stable").astype(np.int64, copy=False)
    return Lists(queries, offsets, documents.take(sources), values[sources], sources)


def from_columns(query: Iterable[object], doc: Iterable[object], values: NDArray[Any], name: str) -> Lists:
    """Make lists of columns of equal lengths.

    Raises
    ------
    InputError
        The lengths disagree, or a query or document is no identifier.
    """
    queries = Identifiers.from_sequence(query, "query")
    documents = Identifiers.from_sequence(doc, "doc")
    if values.ndim != 1:
        raise InputError(f"{name}: one dimension is expected, found the shape {values.shape}")
    for argument, n in (("doc", len(documents)), (name, len(values))):
        if n != len(queries):
            raise InputError(
                f"{argument}: as many values as query has, {len(queries)}, are expected, found {n}"
            )
    return grouped(queries, np.arange(len(queries) + 1), documents, values)


def flattened(
    lists: Mapping[Any, Mapping[Any, Any]], argument: str
) -> tuple[Identifiers, NDArray[np.int64], Identifiers, list[Any], Place]:
    """Take {query: {document: value}} apart: queries, the first row of each, documents, values, places.

    Raises
    ------
    InputError
        It is not of that form, or a key is no identifier.
    """
    if not isinstance(lists, Mapping):
        raise InputError(
            f"{argument}: a dict {{query: {{document: value}}}} is expected, found {shortened(lists)}"
        )
    keys: list[Any] = []
    values: list[Any] = []
    starts = np.zeros(len(lists) + 1, np.int64)
    for row, (query, listed) in enumerate(lists.items()):
        if not isinstance(listed, Mapping):
            found = shortened(listed)
            raise InputError(
                f"{argument}[{shortened(query)}]: a dict {{document: value}} is expected, found {found}"
            )
        keys.extend(listed.keys())
        values.extend(listed.values())
        starts[row + 1] = len(keys)
    names = list(lists)

    def place(row: int) -> str:
        query = names[int(np.searchsorted(starts, row, side="right")) - 1]
        return f"{argument}[{shortened(query)}][{shortened(keys[row])}]"

    queries = Identifiers.from_sequence(names, f"keys of {argument}")
    documents = Identifiers.from_sequence(keys, f"documents of {argument}")
    return queries, starts, documents, values, place


def sequence(values: Any, argument: str) -> NDArray[Any] | list[Any]:
    """Return a column of values as an array, if it is one or becomes one, or as a list."""
    if isinstance(values, list | np.ndarray):
        return values
    if hasattr(values, "__array__"):
        return np.asarray(values)
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputError(f"{argument}: a sequence is expected, found {shortened(values)}")
    return list(values)


def plain_array(values: list[Any]) -> NDArray[Any] | None:
    """Return the array that NumPy makes of the values, or None if it has not one dimension."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        return None
    return array if array.ndim == 1 else None
