"""Sparse judgments: one matrix holds the labels of the judged items, another marks the excluded items.

A matrix is any object with the attributes ``indptr``, ``indices``, ``data`` and ``shape`` of scipy.sparse, in CSR form;
those in COO and CSC form are converted. Matrices are never written to.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tieaware.checks.arguments import shown, unexpected, whole_number
from tieaware.checks.arrays import Integers, Labels, Offsets, as_flat, as_integers, as_labels, as_offsets, first
from tieaware.errors import InputError
from tieaware.lists.grades import GradedLabels, Grades, Missing
from tieaware.lists.judgments import POOLED, Excluded, JudgedLists

# The largest number of cells of a matrix. Cells are numbered with signed 64-bit integers.
_LARGEST = 2**62


class Entries(NamedTuple):
    """The entries of a matrix, sorted by row and column. No cell has two entries.

    The entries of row ``i`` are ``offsets[i]`` to ``offsets[i + 1]``. `permutation` has the index of each entry in the
    matrix's arrays ``indices`` and ``data``; None if these are sorted already.
    """

    shape: tuple[int, int]
    offsets: Offsets
    columns: Integers
    permutation: Integers | None

    @classmethod
    def of(cls, matrix: Any, where: str) -> Entries:
        """Return the sorted entries of a matrix in CSR form, after checking everything except its ``data``.

        `where` is the name of the matrix in error messages.
        """
        shape = _shape(matrix, where)
        columns = as_integers(matrix.indices, f"{where}.indices")
        offsets = as_integers(matrix.indptr, f"{where}.indptr")
        if len(offsets) != shape[0] + 1:
            problem = f"must have {shape[0] + 1} offsets for {shape[0]} rows, not {len(offsets)}"
            raise InputError(f"{where}.indptr", problem)
        offsets = as_offsets(offsets, len(columns), f"{where}.indptr", "indices")
        i = first((columns < 0) | (columns >= shape[1]))
        if i is not None:
            raise unexpected(f"{where}.indices[{i}]", f"one of {shape[1]} columns, from 0", f"{columns[i]}")
        entries = cls(shape, offsets, columns, None)
        places = entries.places
        if (places[1:] > places[:-1]).all():
            return entries
        permutation = np.argsort(places, kind="stable")
        places = places[permutation]
        again = first(places[1:] == places[:-1])
        if again is not None:
            row, column = divmod(int(places[again]), shape[1])
            problem = "this cell has more than one entry; call sum_duplicates() of the matrix first"
            raise InputError(f"{where}[{row}, {column}]", problem)
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
    """The labels of the judged items of each query, and the items that are excluded from the rankings.

    `judged` has one row per query and one column per item; `labels`, int32[n_entries], has the label of each entry. As
    in dense labels, an item with a negative label is unjudged. If labels are real numbers, `grades` are their values,
    and `labels` their numbers.
    """

    judged: Entries
    labels: Labels
    excluded: Entries | None
    grades: Grades | None = None

    @classmethod
    def of(cls, relevance: Any, exclude: Any = None, missing: Missing | None = None) -> Relevance:
        """Read the two matrices; raise InputError if one is not valid or if a relevant item is excluded."""
        relevance = _in_rows(relevance, "relevance")
        judged = Entries.of(relevance, "relevance")
        labels, grades = _labels(relevance, judged, missing)
        if exclude is None:
            return cls(judged, labels, None, grades)
        exclude = _in_rows(exclude, "exclude")
        excluded = Entries.of(exclude, "exclude")
        if excluded.shape != judged.shape:
            raise InputError("exclude", f"must have the shape of relevance, {judged.shape}, not {excluded.shape}")
        both = np.isin(judged.places, excluded.places, assume_unique=True)
        i = first(both & (labels > 0))
        if i is not None:
            where = f"exclude[{judged.rows[i]}, {judged.columns[i]}]"
            label = labels[i] if grades is None else grades.values[labels[i]]
            problem = f"a relevant item must not be excluded, but this item has label {label}"
            raise InputError(where, f"{problem}; {_remedy(exclude, excluded, judged.places[i])}")
        # An excluded item counts as unjudged, even if it has a label.
        return cls(judged, np.where(both, np.int32(-1), labels), excluded, grades)

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

        If `pool` is true, the lists also hold the labels of items that are in the pool but not judged.
        """
        n_queries, n_items = self.shape
        kept = (self.labels >= 0) | (self.labels <= POOLED) if pool else self.labels >= 0
        excluded = None
        if self.excluded is not None and len(self.excluded.columns):
            # Copy the arrays, because the caller may change the matrix later.
            excluded = Excluded(self.excluded.offsets.copy(), self.excluded.columns.copy())
        return JudgedLists(
            np.arange(n_queries + 1, dtype=np.int64) * n_items,
            np.concatenate(([0], np.cumsum(kept)))[self.judged.offsets],
            self.judged.columns[kept],
            self.labels[kept],
            excluded=excluded,
            grades=self.grades,
        )


def is_matrix(value: Any) -> bool:
    """Return whether a value is a sparse matrix in CSR form, or in a form that scipy.sparse can convert to it."""
    return hasattr(value, "indptr") or hasattr(value, "tocsr")


def _in_rows(matrix: Any, where: str) -> Any:
    """Return a matrix of scipy.sparse in COO or CSC form in CSR form; any other matrix as it is."""
    if getattr(matrix, "format", "") not in ("coo", "csc"):
        return matrix
    converted = matrix.tocsr()
    # The conversion adds up the entries of a cell, and labels must not be added up.
    if len(converted.data) < len(matrix.data):
        raise InputError(where, "a cell has more than one entry; call sum_duplicates() of the matrix first")
    return converted


def _shape(matrix: Any, where: str) -> tuple[int, int]:
    """Return the shape of a matrix, or raise InputError if its attributes show that it is not in CSR form."""
    missing = next((name for name in ("indptr", "indices", "data", "shape") if not hasattr(matrix, name)), "")
    # SciPy's matrices in other formats, such as CSC, have attributes with the same names but other meanings.
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


def _remedy(exclude: Any, excluded: Entries, place: int) -> str:
    """Return the end of the message about a relevant item that is excluded; `place` is that of its cell."""
    entry = int(np.searchsorted(excluded.places, place))
    entry = entry if excluded.permutation is None else int(excluded.permutation[entry])
    data = as_flat(exclude.data, "exclude.data")
    if entry < len(data) and data[entry] == 0:
        return "its entry is an explicit 0, which excludes the item too: call exclude.eliminate_zeros() first"
    return (
        "to rank such items, pass exclude - exclude.multiply(relevance > 0) as exclude; to leave them out, pass "
        "relevance - relevance.multiply(exclude > 0) as relevance"
    )


def _labels(relevance: Any, judged: Entries, missing: Missing | None) -> tuple[Labels, Grades | None]:
    """Return the labels of a matrix in the order of `judged`, and their values if they are real numbers."""
    data = as_flat(relevance.data, "relevance.data")
    if len(data) != len(judged.columns):
        problem = f"must have {len(judged.columns)} labels, one for each index, not {len(data)}"
        raise InputError("relevance.data", problem)
    if judged.permutation is not None:
        data = data[judged.permutation]

    def place(i: int) -> str:
        return f"relevance[{judged.rows[i]}, {judged.columns[i]}]"

    labels, grades = GradedLabels.read(data, "relevance.data", place, missing)
    return as_labels(labels, "relevance.data", place), grades
