"""Rows of (query, document, value), gathered into one list per query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import shown, unexpected
from tieaware.checks.arrays import Integers, Offsets, Place, stable_order
from tieaware.kernels import _join
from tieaware.lists.identifiers import Identifiers, quoted


class NotContiguous(Exception):  # noqa: N818 (no error: the run is good, and must be read whole)
    """The rows of a query are not together, and some were handed over already."""


@dataclass(slots=True)
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
    offsets: Offsets
    documents: Identifiers
    values: NDArray[Any]
    sources: Integers | None = None

    def source(self, row: int) -> int:
        """Return which row of the input a row was."""
        return row if self.sources is None else int(self.sources[row])

    def query_of(self, row: int) -> str:
        """Return the query of a row, for a message."""
        return quoted(self.queries[int(np.searchsorted(self.offsets, row, side="right")) - 1])

    def without(self, rows: Integers) -> Lists:
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

    def duplicates(self, one: bool = False) -> Integers:
        """Return the rows whose document appeared before for the same query, and where first: int64[n, 2]."""
        return _join.duplicates(self.documents.data, self.documents.offsets, self.offsets, one)


def grouped(
    segments: Identifiers, segment_offsets: Offsets, documents: Identifiers, values: NDArray[Any]
) -> Lists:
    """Bring the rows of each query together, stably.

    Parameters
    ----------
    segments : Identifiers
        The query of each segment, which is a sequence of rows of one query.
    segment_offsets : int64[n_segments + 1]
        The rows of segment ``i`` are ``segment_offsets[i]`` to ``segment_offsets[i + 1]``.
    documents, values
        One of each per row.
    """
    numbers, firsts = _join.number(segments.data, segments.offsets)
    if len(firsts) == len(segments):
        return Lists(segments, segment_offsets, documents, values)
    queries = segments.take(firsts)
    sizes = np.diff(segment_offsets)
    row_numbers = np.repeat(numbers, sizes)
    offsets = np.zeros(len(firsts) + 1, np.int64)
    np.cumsum(np.bincount(numbers, weights=sizes, minlength=len(firsts)).astype(np.int64), out=offsets[1:])
    if (row_numbers[1:] >= row_numbers[:-1]).all():
        return Lists(queries, offsets, documents, values)
    sources = stable_order(row_numbers)
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
    for argument, n in (("doc", len(documents)), (name, len(values))):
        if n != len(queries):
            raise unexpected(argument, f"as many values as query has, {len(queries)}", f"{n}")
    return grouped(queries, np.arange(len(queries) + 1), documents, values)


def flattened(
    lists: Mapping[Any, Any], argument: str
) -> tuple[Identifiers, Offsets, Identifiers, list[Any], Place]:
    """Take {query: {document: value}} apart: queries, the offsets of their rows, documents, values, places.

    Raises
    ------
    InputError
        It is not of that form, or a key is no identifier.
    """
    if not isinstance(lists, Mapping):
        raise unexpected(argument, "a dict {query: {document: value}}", shown(lists))
    keys: list[Any] = []
    values: list[Any] = []
    # Asked once: what a mapping gives may be other than it says, or gave before.
    items = list(lists.items())
    offsets = np.zeros(len(items) + 1, np.int64)
    for row, (query, listed) in enumerate(items):
        if not isinstance(listed, Mapping):
            raise unexpected(f"{argument}[{shown(query)}]", "a dict {document: value}", shown(listed))
        keys.extend(listed.keys())
        values.extend(listed.values())
        if len(values) != len(keys):
            raise unexpected(f"{argument}[{shown(query)}]", "a value for each document", "more, or fewer")
        offsets[row + 1] = len(keys)
    names = [query for query, _ in items]

    def place(row: int) -> str:
        query = names[int(np.searchsorted(offsets, row, side="right")) - 1]
        return f"{argument}[{shown(query)}][{shown(keys[row])}]"

    queries = Identifiers.from_sequence(names, f"keys of {argument}")
    documents = Identifiers.from_sequence(keys, f"documents of {argument}")
    return queries.undecided(), offsets, documents.undecided(), values, place
