"""Grouping of rows (query, document, value) into one list of documents per query."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arrays import Integers, Offsets, stable_order
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
    """

    queries: Identifiers
    offsets: Offsets
    documents: Identifiers
    values: NDArray[Any]
    sources: Integers | None = None

    def source(self, row: int) -> int:
        """Return the index of the input row from which this row comes."""
        return row if self.sources is None else int(self.sources[row])

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
        )

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
    sections: Identifiers, section_offsets: Offsets, documents: Identifiers, values: NDArray[Any]
) -> Lists:
    """Group rows by query. Queries keep the order of first appearance, and the rows of a query keep their order.

    Parameters
    ----------
    sections : Identifiers
        The query of each section. A section is a sequence of consecutive rows of one query.
    section_offsets : int64[n_sections + 1]
        The rows of section ``i`` are ``section_offsets[i]`` to ``section_offsets[i + 1]``.
    documents : Identifiers
        The document of each row.
    values : ndarray
        The value of each row.
    """
    numbers, firsts = _identifiers.number(sections.data, sections.offsets)
    if len(firsts) == len(sections):
        return Lists(sections, section_offsets, documents, values)
    queries = sections.take(firsts)
    sizes = np.diff(section_offsets)
    row_numbers = np.repeat(numbers, sizes)
    offsets = np.zeros(len(firsts) + 1, np.int64)
    np.cumsum(np.bincount(numbers, weights=sizes, minlength=len(firsts)).astype(np.int64), out=offsets[1:])
    if (row_numbers[1:] >= row_numbers[:-1]).all():
        return Lists(queries, offsets, documents, values)
    sources = stable_order(row_numbers)
    return Lists(queries, offsets, documents.take(sources), values[sources], sources)


def from_columns(query: Iterable[object], doc: Iterable[object], values: NDArray[Any], name: str) -> Lists:
    """Make lists from three columns of equal length: queries, documents and values.

    Parameters
    ----------
    query, doc : iterable of str, bytes or int
    values : ndarray
    name : str
        The name of the values in messages.

    Raises
    ------
    InputError
        The columns differ in length, or a query or document is not an identifier.
    """
    queries = Identifiers.from_sequence(query, "query")
    documents = Identifiers.from_sequence(doc, "doc")
    for argument, n in (("doc", len(documents)), (name, len(values))):
        if n != len(queries):
            raise InputError(argument, f"must have as many values as query: {len(queries)}, not {n}")
    return grouped(queries, np.arange(len(queries) + 1), documents, values)
