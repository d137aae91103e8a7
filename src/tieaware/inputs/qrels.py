"""Judgments: which documents are relevant to a query, and how much."""

from __future__ import annotations

import operator
import threading
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tieaware import _join
from tieaware.errors import InputError
from tieaware.inputs.identifiers import Identifiers, check_offsets, frozen, shortened, shown
from tieaware.inputs.lists import Lists, Place, flattened, from_columns, grouped, plain_array, sequence

__all__ = ["Qrels"]

INT32 = np.iinfo(np.int32)
# One for all: an index is built once per Qrels, and seldom by two threads at a time.
INDEX_LOCK = threading.Lock()


class Qrels:
    """Judgments as immutable columns: `Qrels.from_dict`, `Qrels.from_columns` or `read_qrels` make them.

    Parameters
    ----------
    queries : Identifiers
        The judged queries, each once, in the order of their first appearance.
    offsets : int64[n_queries + 1]
        The rows of query ``q`` are ``offsets[q]`` to ``offsets[q + 1]``.
    documents : Identifiers
        The judged document of each row, each once per query.
    labels : int32[n_rows]
        Its label.
    name : str
        What error messages call them.

    Raises
    ------
    InputError
        The columns do not fit together, a label is no integer of 32 bits, or a document has two labels for a query.

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q1": {"d1": 1, "d2": 0}})
    >>> len(qrels), qrels.documents.to_list(), qrels.labels.tolist()
    (1, ['d1', 'd2'], [1, 0])
    """

    __slots__ = ("__weakref__", "_index", "documents", "labels", "name", "offsets", "queries")

    queries: Identifiers
    offsets: NDArray[np.int64]
    documents: Identifiers
    labels: NDArray[np.int32]
    name: str
    _index: _join.Index | None

    def __init__(
        self,
        queries: Identifiers,
        offsets: NDArray[np.int64],
        documents: Identifiers,
        labels: NDArray[np.int32],
        name: str = "qrels",
    ) -> None:
        offsets = np.array(offsets, np.int64, order="C")
        labels = integers(labels, "labels", lambda row: f"labels[{row}]")
        check_columns(queries, offsets, documents, labels, "labels")
        lists = without_repeats(Lists(queries, offsets, documents, labels), lambda row: f"documents[{row}]")
        self._set(lists, name)

    def _set(self, lists: Lists, name: str) -> None:
        for attribute, value in (
            ("queries", lists.queries),
            ("offsets", frozen(lists.offsets.view())),
            ("documents", lists.documents),
            ("labels", frozen(lists.values.view())),
            ("name", name),
            ("_index", None),
        ):
            object.__setattr__(self, attribute, value)

    @classmethod
    def of(cls, lists: Lists, name: str) -> Qrels:
        """Wrap lists that are known to be good.

        Parameters
        ----------
        lists : Lists
            The columns, which are not checked again; labels are the values.
        name : str
            What error messages call them.

        Returns
        -------
        Qrels
        """
        self = cls.__new__(cls)
        self._set(lists, name)
        return self

    @classmethod
    def from_dict(cls, qrels: Mapping[Any, Mapping[Any, int]], *, name: str = "qrels") -> Qrels:
        """Make judgments of ``{query: {document: label}}``.

        Parameters
        ----------
        qrels : mapping
            Queries and documents are str, bytes or int; 1 and "1" are the same.
        name : str
            What error messages call them.

        Returns
        -------
        Qrels
            Queries in the order of the mapping.

        Raises
        ------
        InputError
            It is not of that form, a key is neither text, bytes nor an integer, a label is no integer of 32 bits, or
            two keys are the same document with different labels.

        Examples
        --------
        >>> Qrels.from_dict({"q1": {"d1": 1, "d2": 0}})
        Qrels('qrels', 1 queries, 2 judgments)
        """
        queries, starts, documents, values, place = flattened(qrels, "qrels")
        lists = grouped(queries, starts, documents, integers(values, "qrels", place))
        return cls.of(without_repeats(lists, place), name)

    @classmethod
    def from_columns(
        cls, query: Iterable[object], doc: Iterable[object], label: ArrayLike, *, name: str = "qrels"
    ) -> Qrels:
        """Make judgments of three columns of equal lengths, in any order of their rows.

        Parameters
        ----------
        query, doc : sequence or array of str, bytes or int
            The query and the document of each row.
        label : sequence or array of int
            Its label. A (query, document) twice with the same label counts once.
        name : str
            What error messages call them.

        Returns
        -------
        Qrels
            Queries in the order of their first appearance.

        Raises
        ------
        InputError
            Lengths disagree, a label is no integer of 32 bits, or a (query, document) has two labels.

        Examples
        --------
        >>> qrels = Qrels.from_columns(["q1", "q1", "q2"], ["d1", "d2", "d1"], [1, 0, 2])
        >>> qrels.queries.to_list(), qrels.offsets.tolist()
        (['q1', 'q2'], [0, 2, 3])
        """
        labels = integers(label, "label", lambda row: f"label[{row}]")
        lists = from_columns(query, doc, labels, "label")
        return cls.of(without_repeats(lists, lambda row: f"doc[{row}]"), name)

    @property
    def index(self) -> _join.Index:
        """The prepared look-up, built when it is first asked for."""
        if self._index is None:
            with INDEX_LOCK:
                if self._index is None:
                    index = _join.Index(
                        self.queries.data,
                        self.queries.offsets,
                        self.offsets,
                        self.documents.data,
                        self.documents.offsets,
                        self.labels,
                    )
                    object.__setattr__(self, "_index", index)
        assert self._index is not None
        return self._index

    def __len__(self) -> int:
        return len(self.queries)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Qrels are immutable: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Qrels are immutable: {name} cannot be deleted")

    def __repr__(self) -> str:
        return f"Qrels({self.name!r}, {len(self)} queries, {len(self.labels)} judgments)"

    def __reduce__(self) -> tuple[Any, ...]:
        lists = Lists(self.queries, np.asarray(self.offsets), self.documents, np.asarray(self.labels))
        return Qrels.of, (lists, self.name)


def integers(values: ArrayLike | list[Any], argument: str, place: Place) -> NDArray[np.int32]:
    """Return labels as int32, or raise InputError at the first that is no integer of 32 bits."""
    values = sequence(values, argument)
    if isinstance(values, np.ndarray) and values.dtype.kind in "iub":
        labels = values
    else:
        listed = list(values)
        array = plain_array(listed)
        if array is not None and array.dtype.kind in "iub":
            labels = array
        else:
            numbers = []
            for row, value in enumerate(listed):
                try:
                    numbers.append(operator.index(value))
                except TypeError:
                    raise InputError(
                        f"{place(row)}: an integer label is expected, found {shortened(value)}"
                    ) from None
            # Python's integers, some of which 64 bits do not hold.
            labels = np.array(numbers, object)
    if labels.ndim != 1:
        raise InputError(f"{argument}: one dimension is expected, found the shape {labels.shape}")
    outside = (labels < INT32.min) | (labels > INT32.max)
    if outside.any():
        row = int(outside.argmax())
        raise InputError(
            f"{place(row)}: a label from {INT32.min} to {INT32.max} is expected, found {labels[row]}"
        )
    return np.array(labels, np.int32, order="C")


def without_repeats(lists: Lists, place: Place, again: Place | None = None) -> Lists:
    """Drop judgments that repeat an earlier one; raise InputError where one contradicts it.

    Parameters
    ----------
    place : callable
        Says where a row of the input is.
    again : callable
        The same for the earlier judgment that the message also names.
    """
    found = lists.duplicates()
    if len(found) == 0:
        return lists
    conflicts = lists.values[found[:, 0]] != lists.values[found[:, 1]]
    if conflicts.any():
        row, first = found[conflicts.argmax()].tolist()
        here, there = place(lists.source(row)), (again or place)(lists.source(first))
        document, query = shown(lists.documents[row]), lists.query_of(row)
        raise InputError(
            f"{here}: document {document} of query {query} has the label {lists.values[row]}, "
            f"but {lists.values[first]} at {there}: one label is expected"
        )
    return lists.without(found[:, 0])


def check_columns(
    queries: Identifiers,
    offsets: NDArray[np.int64],
    documents: Identifiers,
    values: NDArray[Any],
    argument: str,
) -> None:
    """Raise InputError unless columns that a caller made fit together."""
    if not isinstance(queries, Identifiers) or not isinstance(documents, Identifiers):
        raise InputError(
            "queries and documents: Identifiers are expected; from_columns takes other sequences"
        )
    if offsets.ndim != 1 or len(offsets) != len(queries) + 1:
        raise InputError(
            f"offsets: one more than queries, {len(queries) + 1}, are expected, found {len(offsets)}"
        )
    check_offsets(offsets, len(documents), "documents")
    if len(values) != len(documents):
        raise InputError(
            f"{argument}: as many values as documents, {len(documents)}, are expected, found {len(values)}"
        )
    if len(_join.number(queries.data, queries.offsets)[1]) != len(queries):
        raise InputError("queries: each query is expected once; from_columns takes them in any order")
