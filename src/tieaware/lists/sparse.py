"""Sparse judgments: matrices in CSR form that hold the few judged, and the few excluded, of many items.

A matrix is any object with the attributes ``indptr``, ``indices``, ``data`` and ``shape`` of scipy.sparse. It is only
read, never written to.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tieaware.checks.arguments import shown, unexpected, whole_number
from tieaware.checks.arrays import Integers, Labels, Offsets, as_flat, as_integers, as_labels, as_offsets
from tieaware.errors import InputError
from tieaware.lists.judgments import POOLED, Excluded, JudgedLists

# The cells of a matrix are numbered in 64 bits.
_LARGEST = 2**62


class Entries(NamedTuple):
    """The entries of a matrix, sorted by row and column. No cell has two entries.

    Parameters
    ----------
    shape : tuple of int
        The numbers of rows and columns.
    offsets : int64[n_rows + 1]
        The entries of row ``i`` are ``offsets[i]`` to ``offsets[i + 1]``.
    columns : int64[n_entries]
        The column of each entry.
    permutation : int64[n_entries] or None
        The index of each entry in the matrix; None if the order is the same.
    """

    shape: tuple[int, int]
    offsets: Offsets
    columns: Integers
    permutation: Integers | None

    @classmethod
    def of(cls, matrix: Any, where: str) -> Entries:
        """Read a matrix in CSR form, and check everything except its data."""
        shape = _shape(matrix, where)
        columns = as_integers(matrix.indices, f"{where}.indices")
        offsets = as_integers(matrix.indptr, f"{where}.indptr")
        if len(offsets) != shape[0] + 1:
            problem = f"must have {shape[0] + 1} offsets for {shape[0]} rows, not {len(offsets)}"
            raise InputError(f"{where}.indptr", problem)
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
            raise InputError(f"{where}[{row}, {column}]", "this cell has more than one entry")
        return cls(shape, offsets, columns[permutation], permutation)

    @property
    def rows(self) -> Integers:
        """The row of each entry."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.offsets))

    @property
    def places(self) -> Integers:
        """The index of each entry in the flattened dense matrix."""
        return self.rows * self.shape[1] + self.columns


class Relevance(NamedTuple):
    """Labels of the judged items of each query, and the items that are excluded from the rankings.

    Parameters
    ----------
    judged : Entries
    labels : int32[n_entries]
        The labels of the judged items; negative for an unjudged item, as in dense labels.
    excluded : Entries or None
    """

    judged: Entries
    labels: Labels
    excluded: Entries | None

    @classmethod
    def of(cls, relevance: Any, exclude: Any = None) -> Relevance:
        """Read both matrices, and raise InputError if a relevant item is excluded."""
        judged = Entries.of(relevance, "relevance")
        labels = _labels(relevance, judged)
        if exclude is None:
            return cls(judged, labels, None)
        excluded = Entries.of(exclude, "exclude")
        if excluded.shape != judged.shape:
            raise InputError("exclude", f"must have the shape of relevance, {judged.shape}, not {excluded.shape}")
        both = np.isin(judged.places, excluded.places, assume_unique=True)
        relevant = both & (labels > 0)
        if relevant.any():
            i = int(relevant.argmax())
            where = f"exclude[{judged.rows[i]}, {judged.columns[i]}]"
            raise InputError(where, f"a relevant item must not be excluded, but this item has label {labels[i]}")
        # An item that is not ranked counts as unjudged.
        return cls(judged, np.where(both, np.int32(-1), labels), excluded)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of queries and items."""
        return self.judged.shape

    @property
    def n_items(self) -> int:
        """The number of items of each query, ranked or not."""
        return self.judged.shape[1]

    def lists(self, pool: bool) -> JudgedLists:
        """Return one list of all items for each query.

        With `pool`, the unjudged items of the pool are among the judged items, with their negative labels.
        """
        n_queries, n_items = self.shape
        kept = (self.labels >= 0) | (self.labels <= POOLED) if pool else self.labels >= 0
        excluded = None
        if self.excluded is not None and len(self.excluded.columns):
            # The arrays are copied because the caller may change the matrix after it was checked.
            excluded = Excluded(self.excluded.offsets.copy(), self.excluded.columns.copy())
        return JudgedLists(
            np.arange(n_queries + 1, dtype=np.int64) * n_items,
            np.concatenate(([0], np.cumsum(kept)))[self.judged.offsets],
            self.judged.columns[kept],
            self.labels[kept],
            excluded=excluded,
        )


def _shape(matrix: Any, where: str) -> tuple[int, int]:
    """Return the shape of a matrix, or raise InputError if its attributes show that it is not in CSR form."""
    missing = next((name for name in ("indptr", "indices", "data", "shape") if not hasattr(matrix, name)), "")
    # Other formats of SciPy have attributes of the same names with other meanings.
    if missing or getattr(matrix, "format", "csr") != "csr":
        found = f"{matrix.format} format" if hasattr(matrix, "format") else f"{shown(matrix)} without {missing}"
        raise unexpected(where, "a sparse matrix in CSR form, as made by .tocsr() of scipy.sparse", found)
    shape = matrix.shape
    if not isinstance(shape, tuple | list) or len(shape) != 2:
        raise unexpected(f"{where}.shape", "the numbers of rows and columns", shown(shape))
    n_rows, n_columns = (whole_number(f"{where}.shape[{i}]", size, 0, _LARGEST) for i, size in enumerate(shape))
    if n_rows * n_columns > _LARGEST:
        raise unexpected(f"{where}.shape", "at most 2^62 cells", shown(shape))
    return n_rows, n_columns


def _labels(relevance: Any, judged: Entries) -> Labels:
    """Return the labels of a matrix in the order of `judged`."""
    data = as_flat(relevance.data, "relevance.data")
    if len(data) != len(judged.columns):
        problem = f"must have {len(judged.columns)} labels, one for each index, not {len(data)}"
        raise InputError("relevance.data", problem)
    if judged.permutation is not None:
        data = data[judged.permutation]

    def place(i: int) -> str:
        return f"relevance[{judged.rows[i]}, {judged.columns[i]}]"

    return as_labels(data, "relevance.data", place)
