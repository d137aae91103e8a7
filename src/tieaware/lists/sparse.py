"""Sparse relevance: of many items few are judged, and few excluded, in matrices in CSR form.

A matrix is anything with ``indptr``, ``indices``, ``data`` and ``shape``, as scipy.sparse has them; it is read, never
written to.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tieaware.checks.arguments import shown, unexpected, whole_number
from tieaware.checks.arrays import Integers, Labels, Offsets, as_flat, as_integers, as_labels, as_offsets
from tieaware.lists.judgments import POOLED, Excluded, JudgedLists

# All places of a matrix together have numbers of 64 bits.
_LARGEST = 2**62


class Entries(NamedTuple):
    """The places of a matrix that have an entry: each once, row by row, the columns of a row ascending.

    Parameters
    ----------
    shape : tuple of int
        How many rows and columns.
    offsets : int64[n_rows + 1]
        The entries of row ``i`` are ``offsets[i]`` to ``offsets[i + 1]``.
    columns : int64[n_entries]
    permutation : int64[n_entries] or None
        Which entry of the matrix each is; None for the same order.
    """

    shape: tuple[int, int]
    offsets: Offsets
    columns: Integers
    permutation: Integers | None

    @classmethod
    def of(cls, matrix: Any, where: str) -> Entries:
        """Read a matrix in CSR form, and check all of it but the data."""
        shape = _shape(matrix, where)
        columns = as_integers(matrix.indices, f"{where}.indices")
        offsets = as_integers(matrix.indptr, f"{where}.indptr")
        if len(offsets) != shape[0] + 1:
            raise unexpected(f"{where}.indptr", f"{shape[0] + 1} offsets, for {shape[0]} rows", f"{len(offsets)}")
        offsets = as_offsets(offsets, len(columns), f"{where}.indptr", "indices")
        outside = (columns < 0) | (columns >= shape[1])
        if outside.any():
            i = int(outside.argmax())
            raise unexpected(f"{where}.indices[{i}]", f"one of {shape[1]} columns, from 0", f"{columns[i]}")
        entries = cls(shape, offsets, columns, None)
        places = entries.places
        if (places[1:] > places[:-1]).all():
            return entries
        permutation = np.argsort(places, kind="stable")
        places = places[permutation]
        again = places[1:] == places[:-1]
        if again.any():
            row, column = divmod(int(places[again.argmax()]), shape[1])
            raise unexpected(f"{where}[{row}, {column}]", "one entry", "two or more")
        return cls(shape, offsets, columns[permutation], permutation)

    @property
    def rows(self) -> Integers:
        """The row of each entry."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.offsets))

    @property
    def places(self) -> Integers:
        """The index of each entry in the flat matrix, as if it were dense."""
        return self.rows * self.shape[1] + self.columns


class Relevance(NamedTuple):
    """Labels of few of many items, query by query, and the items that are not ranked.

    Parameters
    ----------
    judged : Entries
    labels : int32[n_entries]
        Of the judged items; negative for an unjudged one, as in dense labels.
    excluded : Entries or None
    """

    judged: Entries
    labels: Labels
    excluded: Entries | None

    @classmethod
    def of(cls, relevance: Any, exclude: Any = None) -> Relevance:
        """Read both matrices, and check that no relevant item is excluded."""
        judged = Entries.of(relevance, "relevance")
        labels = _labels(relevance, judged)
        if exclude is None:
            return cls(judged, labels, None)
        excluded = Entries.of(exclude, "exclude")
        if excluded.shape != judged.shape:
            raise unexpected("exclude", f"the shape of relevance, {judged.shape}", f"{excluded.shape}")
        both = np.isin(judged.places, excluded.places, assume_unique=True)
        relevant = both & (labels > 0)
        if relevant.any():
            i = int(relevant.argmax())
            raise unexpected(
                f"exclude[{judged.rows[i]}, {judged.columns[i]}]",
                "an item that is not relevant, as it is not to be recommended", f"one of label {labels[i]}",
            )  # fmt: skip
        # What is not ranked is as good as unjudged.
        return cls(judged, np.where(both, np.int32(-1), labels), excluded)

    @property
    def shape(self) -> tuple[int, int]:
        """How many queries and items."""
        return self.judged.shape

    @property
    def n_items(self) -> int:
        """How many items each query has, ranked or not."""
        return self.judged.shape[1]

    def lists(self, pool: bool) -> JudgedLists:
        """Return a list of all items for each query; with those of the pool among the judged ones, if wanted."""
        n_queries, n_items = self.shape
        kept = (self.labels >= 0) | (self.labels <= POOLED) if pool else self.labels >= 0
        excluded = None
        if self.excluded is not None and len(self.excluded.columns):
            # In copies: what is prepared has to stay what was checked, whatever becomes of the matrix.
            excluded = Excluded(self.excluded.offsets.copy(), self.excluded.columns.copy())
        return JudgedLists(
            np.arange(n_queries + 1, dtype=np.int64) * n_items,
            np.concatenate(([0], np.cumsum(kept)))[self.judged.offsets],
            self.judged.columns[kept],
            self.labels[kept],
            excluded=excluded,
        )


def _shape(matrix: Any, where: str) -> tuple[int, int]:
    """Return the shape of what is a matrix in CSR form, as far as its attributes tell."""
    missing = next((name for name in ("indptr", "indices", "data", "shape") if not hasattr(matrix, name)), "")
    # Scipy's other formats have the same attributes, and mean something else by them.
    if missing or getattr(matrix, "format", "csr") != "csr":
        found = f"{matrix.format} format" if hasattr(matrix, "format") else f"{shown(matrix)} without {missing}"
        raise unexpected(where, "a sparse matrix in CSR form, such as scipy.sparse's .tocsr() gives", found)
    shape = matrix.shape
    if not isinstance(shape, tuple | list) or len(shape) != 2:
        raise unexpected(f"{where}.shape", "two sizes, of rows and columns", shown(shape))
    n_rows, n_columns = (whole_number(f"{where}.shape[{i}]", size, 0, _LARGEST) for i, size in enumerate(shape))
    if n_rows * n_columns > _LARGEST:
        raise unexpected(f"{where}.shape", "at most 2^62 places", shown(shape))
    return n_rows, n_columns


def _labels(relevance: Any, judged: Entries) -> Labels:
    """Return the labels of a matrix, in the order of its entries."""
    data = as_flat(relevance.data, "relevance.data")
    if len(data) != len(judged.columns):
        raise unexpected("relevance.data", f"{len(judged.columns)} labels, one for each index", f"{len(data)}")
    if judged.permutation is not None:
        data = data[judged.permutation]

    def place(i: int) -> str:
        return f"relevance[{judged.rows[i]}, {judged.columns[i]}]"

    return as_labels(data, "relevance.data", place)
