"""Top-k lists: the ids and scores of the best documents of each query, as recommenders and vector stores return."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tieaware.checks.arguments import is_integer, unexpected
from tieaware.checks.arrays import Integers, Offsets, as_flat, as_numpy
from tieaware.errors import InputError, warn
from tieaware.inputs.judgments.repetitions import DuplicateChoice, without_repetitions
from tieaware.inputs.runs.reading_options import exact_scores
from tieaware.inputs.tables.frames import of_array
from tieaware.kernels._buffers import BadCell
from tieaware.lists.identifiers import Identifiers, axis_names, number_names
from tieaware.lists.query_lists import Lists

# So many scores that are higher than the score before them, and none that is lower, are a sign of distances.
_FEWEST_RISING = 10
# The remedy if the ids of a run are not the numbers of columns of the matrix that holds the judgments.
OTHER_IDS = (
    "give the matrix a column for every document, or name its columns: Qrels.from_sparse(relevance, documents=...)"
)


@dataclass(frozen=True, eq=False)
class TopK:
    """The ids and scores of the best documents of each query, and the query of each row.

    Parameters
    ----------
    ids, scores : ndarray of length n_rows
        The documents and scores of all queries, query after query, with padding.
    offsets : int64[n_queries + 1]
        The documents of query ``q`` are ``offsets[q]`` to ``offsets[q + 1]``.
    queries : Identifiers or None
        The queries; None if they are numbered from 0.
    names : Identifiers or None
        The names of the documents, if the ids are their numbers from 0; else None.
    before : str
        The beginning of the names of both arrays in messages, such as "als: ".
    """

    ids: NDArray[Any]
    scores: NDArray[Any]
    offsets: Offsets
    queries: Identifiers | None
    names: Identifiers | None = None
    before: str = ""

    @classmethod
    def of(
        cls,
        ids: ArrayLike,
        scores: ArrayLike,
        queries: Iterable[object] | None = None,
        documents: Iterable[object] | None = None,
        before: str = "",
    ) -> TopK:
        """Read two arrays with a row for each query, or two sequences of lists, which may have different lengths.

        Warn if the scores rise along every row, as distances do.
        """
        given_ids, offsets = _rows_of(ids, f"{before}ids")
        given_scores, score_offsets = _rows_of(scores, f"{before}scores")
        given_ids = _checked_ids(given_ids, given_scores, f"{before}ids")
        if not np.array_equal(offsets, score_offsets):
            problem = f"must have the shape of ids: {_shape_of(offsets)}, not {_shape_of(score_offsets)}"
            raise InputError(f"{before}scores", problem)
        n_queries = len(offsets) - 1
        named = None if queries is None else axis_names(queries, n_queries, f"{before}queries", "rows of ids")
        names = None if documents is None else Identifiers.from_sequence(documents, f"{before}documents")
        if names is not None and given_ids.dtype.kind not in "iu":
            problem = "must be the numbers of the documents, because documents gives their names"
            raise InputError(f"{before}ids", problem)
        topk = cls(given_ids, given_scores, offsets, named, names, before)
        if names is not None:
            topk.check_numbers(len(names), ("document", ""), "documents= must have a name for each of them")
        if topk._rises():
            problem = "if they are distances, negate them, because higher scores rank higher"
            warn(f"{before}scores rise along every row; {problem}")
        return topk

    def _rises(self) -> bool:
        """Return whether scores rise along every row. A few rising scores in short lists do not count."""
        if self.scores.dtype.kind not in "fiu" or len(self.scores) != len(self.ids):
            return False
        known = np.flatnonzero(~_is_padding(self.ids) & ~np.isnan(self.scores))
        row_of = np.searchsorted(self.offsets, known, side="right")
        values = self.scores[known]
        rising = values[1:] > values[:-1]
        falling = values[1:] < values[:-1]
        same = row_of[1:] == row_of[:-1]
        return not (falling & same).any() and int(np.count_nonzero(rising & same)) >= _FEWEST_RISING

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def check_numbers(self, n: int, what: tuple[str, str], remedy: str) -> None:
        """Raise InputError if an id is a number that is not below `n`. Parameters as for `too_large`."""
        if self.ids.dtype.kind not in "iu" or not len(self.ids) or self.ids.max() < n:
            return
        at = int(self.ids.argmax())
        problem = too_large(int(self.ids[at]), n, bool((self.ids == 0).any()), what, remedy)
        raise InputError(self.before + self._place("ids", at), problem)

    def _place(self, name: str, at: int) -> str:
        """Return the place of a value in one of the arrays, such as ids[3, 0]."""
        row = int(np.searchsorted(self.offsets, at, side="right")) - 1
        return f"{name}[{row}, {at - int(self.offsets[row])}]"

    def lists(self, first: int, last: int, duplicates: DuplicateChoice = "error") -> Lists:
        """Return the lists of the queries first … last - 1, without padding. The values are the scores.

        `duplicates` chooses among the scores of a document that appears twice for a query.
        """
        start, stop = int(self.offsets[first]), int(self.offsets[last])
        ids = self.ids[start:stop]
        kept = np.flatnonzero(~_is_padding(ids))

        def place(name: str, i: int) -> str:
            return self._place(name, start + int(kept[i]))

        before = self.before
        scores = exact_scores(self.scores[start:stop][kept], f"{before}scores", lambda i: before + place("scores", i))
        try:
            if self.names is not None:
                documents = self.names.take(ids[kept].astype(np.int64))
            else:
                documents = of_array(ids[kept]).identifiers(0, len(kept))
        except BadCell as bad:
            raise unexpected(before + place("ids", bad.args[0]), "text, bytes or an integer", bad.args[1]) from None
        queries = self.queries
        queries = number_names(np.arange(first, last)) if queries is None else queries.take(np.arange(first, last))
        offsets = np.searchsorted(kept, self.offsets[first : last + 1] - start).astype(np.int64)
        lists = Lists(queries, offsets, documents, scores)
        if duplicates != "error":
            return without_repetitions(lists, duplicates)
        again = lists.duplicates(first_only=True)
        if len(again):
            row, earlier = again[0].tolist()
            shown = documents.take(np.array([row])).to_list()[0]
            problem = f"document {shown!r} appears twice for this query, first at {place('ids', earlier)}"
            problem += "; Run.from_topk(ids, scores, duplicates='highest'), 'first' or 'last' keeps one"
            raise InputError(before + place("ids", row), problem)
        return lists


def _rows_of(values: Any, where: str) -> tuple[NDArray[Any], Offsets]:
    """Return the values of all rows in one array, and the offsets of the rows."""
    array = as_numpy(values, where)
    if isinstance(array, np.ndarray) and array.ndim == 2:
        offsets: Offsets = np.arange(len(array) + 1, dtype=np.int64) * array.shape[1]
        return array.reshape(-1), offsets
    if isinstance(array, list | tuple) or (isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype == object):
        return _joined([_row(row, f"{where}[{i}]") for i, row in enumerate(array)])
    found = f"shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
    raise unexpected(where, "two dimensions, with a row for each query", found)


def _row(row: Any, where: str) -> NDArray[Any]:
    if isinstance(row, str | bytes) or not isinstance(row, Iterable):
        raise unexpected(where, "the list of a query", type(row).__name__)
    return as_flat(row, where)


def _joined(rows: list[NDArray[Any]]) -> tuple[NDArray[Any], Offsets]:
    """Return the rows one after the other, and their offsets. Empty rows do not influence the type of the numbers."""
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    filled = [row for row in rows if len(row)]
    return np.concatenate(filled) if filled else np.zeros(0, np.int64), offsets


def _checked_ids(ids: NDArray[Any], scores: NDArray[Any], where: str) -> NDArray[Any]:
    """Return the ids, with Python's integers as an array of integers; raise InputError for numbers that are no ids.

    The scores serve to tell ids that are floats from scores that were passed first.
    """
    if ids.dtype.kind == "O":
        values = ids.tolist()
        if values and all(map(is_integer, values)) and max(map(abs, values)) < 2**63:
            return np.array(values, np.int64)
    elif ids.dtype.kind not in "iuUS":
        if len(ids) == 0:
            # An empty list has the type of a number.
            return np.zeros(0, np.int64)
        remedy = "pass (ids, scores), in this order"
        if ids.dtype.kind == scores.dtype.kind == "f":
            remedy = "convert ids with ids.astype(int)"
        problem = f"expected integers or text, found {ids.dtype}: {remedy}"
        raise InputError(where, problem)
    return ids


def _is_padding(ids: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which ids are padding: negative integers, and None among text."""
    if ids.dtype.kind in "iu":
        return np.asarray(ids < 0)
    if ids.dtype.kind == "O":
        return np.fromiter((each is None for each in ids.tolist()), np.bool_, len(ids))
    return np.zeros(len(ids), np.bool_)


def _shape_of(offsets: Integers) -> str:
    """Describe the shape of rows for a message."""
    sizes = np.unique(np.diff(offsets))
    return f"({len(offsets) - 1}, {sizes[0]})" if len(sizes) == 1 else f"{len(offsets) - 1} rows, {offsets[-1]} values"


def too_large(number: int, n: int, has_zero: bool, what: tuple[str, str], remedy: str) -> str:
    """Say that the largest id of a run, `number`, is not the number of one of `n` columns or documents, for a message.

    If the ids do not have 0, and the largest is `n`, they probably count from 1. `what` is the word for what has
    numbers, such as "column", and where it is, such as " of qrels".
    """
    problem = f"{number} is not one of the {n} {what[0]}s{what[1]}; ids are {what[0]} numbers from 0"
    if number == n and not has_zero:
        return f"{problem}, but these seem to count from 1: pass ids - 1"
    return f"{problem}; {remedy}"


def largest_number(numbers: Identifiers) -> int | None:
    """Return the index of the largest of some identifiers that are integers; None if there are none.

    The largest number has the most digits, and the first digits in which such numbers differ decide between them.
    """
    lengths = np.diff(numbers.offsets)
    if not len(lengths):
        return None
    longest = lengths.max()
    among = np.flatnonzero(lengths == longest)
    for i in range(longest):
        digits = numbers.data[numbers.offsets[among] + i]
        among = among[digits == digits.max()]
    return int(among[0])


def has_zero(numbers: Identifiers) -> bool:
    """Return whether one of some identifiers is 0."""
    single = numbers.offsets[:-1][np.diff(numbers.offsets) == 1]
    return bool((numbers.data[single] == ord("0")).any())
