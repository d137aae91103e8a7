"""Grouping of rows (query, document, value) into one list of documents per query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import shown, unexpected
from tieaware.checks.arrays import Integers, Offsets, Place, as_offsets, stable_order
from tieaware.errors import InputError
from tieaware.kernels import _identifiers
from tieaware.lists.identifiers import Identifiers, quoted


class NotContiguous(Exception):  # noqa: N818 (not an error: the run is valid, but must be read in another way)
    """Raised when a row belongs to a query whose list was already returned: the query's rows are not contiguous."""


@dataclass(slots=True)
class Lists:
    """One list of documents per query, with a value for each document.

    Parameters
    ----------
    queries : Identifiers
        Each query once, in the order of first appearance.
    offsets : int64[n_queries + 1]
        The rows of query ``q`` are ``offsets[q]`` to ``offsets[q + 1]``.
    documents : Identifiers
        The document of each row.
    values : ndarray
        The value of each row.
    sources : int64[n_rows] or None
        For each row, the index of the input row from which it comes; None if all rows are in the order of the input.
    place : callable
        Describes the place of a row of the input for messages.
    """

    queries: Identifiers
    offsets: Offsets
    documents: Identifiers
    values: NDArray[Any]
    sources: Integers | None = None
    place: Place = str

    def source(self, row: int) -> int:
        """Return the index of the input row from which this row comes."""
        return row if self.sources is None else int(self.sources[row])

    def place_of(self, row: int) -> str:
        """Describe where in the input a row is."""
        return self.place(self.source(row))

    def query_of(self, row: int) -> str:
        """Return the query to which a row belongs, in quotes, for a message."""
        return quoted(self.queries[int(np.searchsorted(self.offsets, row, side="right")) - 1])

    def without(self, rows: Integers) -> Lists:
        """Return the lists without these rows."""
        keep = np.ones(len(self.documents), bool)
        keep[rows] = False
        kept = np.flatnonzero(keep)
        return Lists(
            self.queries,
            np.searchsorted(kept, self.offsets).astype(np.int64),
            self.documents.take(kept),
            self.values[kept],
            kept if self.sources is None else self.sources[kept],
            self.place,
        )

    def matching_any(self) -> Lists:
        """Return the same lists, whose identifiers match both text and integers."""
        return replace(self, queries=self.queries.matching_any(), documents=self.documents.matching_any())

    def duplicates(self, first_only: bool = False) -> Integers:
        """Find the rows that repeat a document of the same query.

        Returns int64[n, 2]: for each such row, its index and the index of the first row with that document.
        """
        return _identifiers.duplicates(self.documents.data, self.documents.offsets, self.offsets, first_only)


def by_query(
    queries: Identifiers, offsets: Offsets, documents: Identifiers, values: NDArray[Any]
) -> dict[str | int, dict[str | int, Any]]:
    """Return the columns of lists as ``{query: {document: value}}``."""
    names, numbers, ends = documents.to_list(), values.tolist(), offsets.tolist()
    return {
        query: dict(zip(names[start:end], numbers[start:end], strict=True))
        for query, start, end in zip(queries.to_list(), ends, ends[1:], strict=False)
    }


def grouped(
    sections: Identifiers, section_offsets: Offsets, documents: Identifiers, values: NDArray[Any], place: Place = str
) -> Lists:
    """Group rows by query. Queries keep the order of first appearance, and the rows of a query keep their order.

    `sections` has the query of each section: of consecutive rows of one query. The rows of section ``i`` are
    ``section_offsets[i]`` to ``section_offsets[i + 1]``. `place` describes the place of a row for messages.
    """
    numbers, firsts = _identifiers.number(sections.data, sections.offsets)
    if len(firsts) == len(sections):
        return Lists(sections, section_offsets, documents, values, place=place)
    queries = sections.take(firsts)
    sizes = np.diff(section_offsets)
    offsets = np.append(0, np.cumsum(np.bincount(numbers, weights=sizes, minlength=len(firsts)).astype(np.int64)))
    if (numbers[1:] >= numbers[:-1]).all():
        return Lists(queries, offsets, documents, values, place=place)
    sources = stable_order(np.repeat(numbers, sizes))
    return Lists(queries, offsets, documents.take(sources), values[sources], sources, place)


def checked_lists(
    queries: Identifiers, offsets: Offsets, documents: Identifiers, values: NDArray[Any], name: str
) -> Lists:
    """Make lists from columns that a caller made; `name` is that of the values. The offsets are copied.

    InputError is raised if a column has the wrong type, the lengths are inconsistent, or a query appears twice.
    """
    for argument, column in (("queries", queries), ("documents", documents)):
        if not isinstance(column, Identifiers):
            raise unexpected(argument, "Identifiers (from_columns takes other sequences)", type(column).__name__)
    offsets = as_offsets(offsets, len(documents), "offsets", "documents").copy()
    if len(offsets) != len(queries) + 1:
        problem = f"must have one element more than queries: {len(queries) + 1}, not {len(offsets)}"
        raise InputError("offsets", problem)
    if len(values) != len(documents):
        raise InputError(name, f"must have as many values as documents: {len(documents)}, not {len(values)}")
    if len(_identifiers.number(queries.data, queries.offsets)[1]) != len(queries):
        raise InputError("queries", "a query appears twice (from_columns accepts the rows of a query in any order)")
    return Lists(queries, offsets, documents, values, place=lambda row: f"documents[{row}]")


def from_columns(query: Iterable[object], doc: Iterable[object], values: NDArray[Any], name: str) -> Lists:
    """Make lists from three columns of equal length: queries, documents and values, whose name is `name`."""
    queries = Identifiers.from_sequence(query, "query")
    documents = Identifiers.from_sequence(doc, "doc")
    for argument, n in (("doc", len(documents)), (name, len(values))):
        if n != len(queries):
            raise InputError(argument, f"must have as many values as query: {len(queries)}, not {n}")
    return grouped(queries, np.arange(len(queries) + 1), documents, values, lambda row: f"doc[{row}]")


def from_mapping(
    lists: Mapping[Any, Any], argument: str, convert: Callable[[list[Any], Place], NDArray[Any]]
) -> Lists:
    """Make lists from a nested mapping {query: {document: value}}.

    `argument` is the name of the mapping in messages. `convert` converts all values; its second argument describes the
    place of a value, such as "run['q1']['d1']".
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

    queries = Identifiers.from_sequence(names, f"queries of {argument}").matching_any()
    documents = Identifiers.from_sequence(keys, f"documents of {argument}").matching_any()
    return grouped(queries, offsets, documents, convert(values, place), place)


def rows_of(offsets: Offsets, lists: Integers) -> tuple[Integers, Offsets]:
    """Return the rows of some lists, one list after the other, and the offsets of the result; -1 is an empty list."""
    # The size at the end, which -1 takes, is 0.
    sizes = np.diff(offsets, append=offsets[-1])[lists]
    ends = np.cumsum(sizes)
    rows = np.repeat(offsets[lists] - (ends - sizes), sizes) + np.arange(sizes.sum())
    return rows, np.concatenate((np.zeros(1, np.int64), ends))
