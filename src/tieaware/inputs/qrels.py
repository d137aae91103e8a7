"""Judgments: which documents are relevant to a query, and how much."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tieaware.checks.arguments import shown, unexpected
from tieaware.checks.arrays import Labels, Offsets, Place, as_flat, as_labels, as_numpy, as_offsets
from tieaware.inputs.columns import Rows, judged_columns, whole_labels
from tieaware.inputs.frames import Frame, arrow_of, frame_of
from tieaware.kernels import _dicts, _join
from tieaware.lists.identifiers import Identifiers, frozen, quoted
from tieaware.lists.judgments import Judgments
from tieaware.lists.query_lists import Lists, flattened, from_columns, grouped

__all__ = ["Qrels"]

# One for all: an index is built once per Qrels, and seldom by two threads at a time.
_LOCK = threading.Lock()
# A fork waits for it: the child of one that took it along would wait for a thread that it does not have.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)


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
        The columns do not fit together, a label is no whole number of 32 bits, or a document has two labels for one
        query.

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q1": {"d1": 1, "d2": 0}})
    >>> len(qrels), qrels.documents.to_list(), qrels.labels.tolist()
    (1, ['d1', 'd2'], [1, 0])
    """

    __slots__ = ("__weakref__", "_index", "_judgments", "documents", "labels", "name", "offsets", "queries")

    queries: Identifiers
    offsets: Offsets
    documents: Identifiers
    labels: Labels
    name: str
    _index: _join.Index | None
    _judgments: Judgments

    def __init__(
        self,
        queries: Identifiers,
        offsets: Offsets,
        documents: Identifiers,
        labels: Labels,
        name: str = "qrels",
    ) -> None:
        labels = as_labels(as_flat(labels, "labels"), "labels").copy()
        offsets = checked_columns(queries, offsets, documents, labels, "labels")
        lists = without_repeats(Lists(queries, offsets, documents, labels), lambda row: f"documents[{row}]")
        self._set(lists, name)

    def _set(self, lists: Lists, name: str) -> None:
        set_once = object.__setattr__
        offsets, labels = frozen(lists.offsets.view()), frozen(lists.values.view())
        set_once(self, "queries", lists.queries)
        set_once(self, "offsets", offsets)
        set_once(self, "documents", lists.documents)
        set_once(self, "labels", labels)
        set_once(self, "name", name)
        set_once(self, "_index", None)
        set_once(self, "_judgments", Judgments(labels, offsets))

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
    def from_dict(
        cls,
        qrels: Mapping[Any, Mapping[Any, float] | Set[Any] | list[Any] | tuple[Any, ...]],
        *,
        name: str = "qrels",
    ) -> Qrels:
        """Make judgments of ``{query: {document: label}}``, or ``{query: documents}``.

        Parameters
        ----------
        qrels : mapping
            Queries and documents are str, bytes or int; 1 and "1" are the same. Labels are whole numbers, also as
            floats or bools. Documents in a set, list or tuple have label 1.
        name : str
            What error messages call them.

        Returns
        -------
        Qrels
            Queries in the order of the mapping.

        Raises
        ------
        InputError
            It is not of that form, a key is neither text, bytes nor an integer, a label is no whole number of 32 bits,
            two keys are the same document with different labels, or a list has a document twice.

        Examples
        --------
        >>> Qrels.from_dict({"q1": {"d1": 1, "d2": 0}})
        Qrels('qrels', 1 queries, 2 judgments)
        >>> Qrels.from_dict({"q1": {"d1": 1.0}, "q2": ["d1", "d2"]}).labels
        array([1, 1, 1], dtype=int32)
        """
        walked = _dicts.columns_of(qrels) if type(qrels) is dict else None
        if walked is not None:
            names, name_offsets, offsets, ids, id_offsets, labels = walked
            return cls.of(
                Lists(Identifiers.of(names, name_offsets), offsets, Identifiers.of(ids, id_offsets), labels), name
            )
        if isinstance(qrels, Mapping) and any(isinstance(listed, _NAMED_ALONE) for listed in qrels.values()):
            return cls.from_dict({query: _labelled(query, listed) for query, listed in qrels.items()}, name=name)
        # It is not as plain as that, or has an error that needs words.
        queries, offsets, documents, values, place = flattened(qrels, "qrels")
        labels = as_flat(as_numpy(values, "qrels", place), "qrels")
        lists = grouped(queries, offsets, documents, as_labels(labels, "qrels", place))
        return cls.of(without_repeats(lists, place), name)

    @classmethod
    def from_columns(
        cls, query: Iterable[object], doc: Iterable[object], label: ArrayLike, *, name: str = "qrels"
    ) -> Qrels:
        """Make judgments of three columns of equal lengths, in any order of their rows.

        Parameters
        ----------
        query, doc : sequence or array of str, bytes or int
            The query and the document of each row. Integers match those of runs, and not text; `Results` has the
            queries as integers then.
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
            Lengths disagree, a label is no whole number of 32 bits, or a (query, document) has two labels.

        Examples
        --------
        >>> qrels = Qrels.from_columns(["q1", "q1", "q2"], ["d1", "d2", "d1"], [1, 0, 2])
        >>> qrels.queries.to_list(), qrels.offsets.tolist()
        (['q1', 'q2'], [0, 2, 3])
        """
        labels = as_labels(as_flat(label, "label"), "label").copy()
        lists = from_columns(query, doc, labels, "label")
        return cls.of(without_repeats(lists, lambda row: f"doc[{row}]"), name)

    @classmethod
    def from_frame(
        cls, frame: Any, *, query: str | None = None, doc: str | None = None, label: str | None = None,
        name: str = "qrels",
    ) -> Qrels:  # fmt: skip
        """Make judgments of a data frame, or of anything that `from_arrow` takes.

        Parameters
        ----------
        frame : pandas.DataFrame, polars.DataFrame or LazyFrame, or table with the Arrow PyCapsule interface
            A judgment in each row, in any order.
        query, doc, label : str, optional
            The names of the columns. By default those that are called query_id, qid, q_id, query, query-id, user_id or
            user; doc_id, docno, did, doc, corpus-id, item_id or item; relevance, label, rel or score.
        name : str
            What error messages call them.

        Returns
        -------
        Qrels
            Queries in the order of their first appearance. A (query, document) twice with the same label counts once.

        Raises
        ------
        InputError
            A column is missing or two fit, a value is missing, a label is no whole number of 32 bits, or a (query,
            document) has two labels.

        Examples
        --------
        >>> import polars
        >>> frame = polars.DataFrame({"qid": ["q1", "q1"], "docno": ["d1", "d2"], "label": [1, 0]})
        >>> Qrels.from_frame(frame)
        Qrels('qrels', 1 queries, 2 judgments)
        """
        return judgments_of(frame_of(frame, name), name, (query, doc, label))

    @classmethod
    def from_arrow(
        cls, table: Any, *, query: str | None = None, doc: str | None = None, label: str | None = None,
        name: str = "qrels",
    ) -> Qrels:  # fmt: skip
        """Make judgments of a table with the Arrow PyCapsule interface, as of pyarrow or DuckDB.

        Parameters
        ----------
        table : object with __arrow_c_stream__ or __arrow_c_array__
            A judgment in each row, in any order.
        query, doc, label : str, optional
            The names of the columns, as for `from_frame`.
        name : str
            What error messages call them.

        Returns
        -------
        Qrels
            Queries in the order of their first appearance.

        Raises
        ------
        InputError
            As of `from_frame`; or it is no such table, or cannot be read.

        Examples
        --------
        >>> import pyarrow
        >>> table = pyarrow.table({"query-id": [1, 1], "corpus-id": ["d1", "d2"], "score": [1.0, 0.0]})
        >>> Qrels.from_arrow(table).labels.tolist()
        [1, 0]
        """
        return judgments_of(arrow_of(table, name), name, (query, doc, label))

    @property
    def judgments(self) -> Judgments:
        """The labels alone, query by query: what measures ask."""
        return self._judgments

    @property
    def index(self) -> _join.Index:
        """The prepared look-up, built when it is first asked for."""
        if self._index is None:
            with _LOCK:
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


def judgments_of(
    frame: Frame, name: str, columns: tuple[str | None, str | None, str | None] = (None, None, None)
) -> Qrels:
    """Make judgments of a table, of columns that are named or found."""
    rows = Rows(frame, judged_columns(frame, name, *columns), name)
    piece = rows.whole()
    return Qrels.of(without_repeats(rows.lists(piece, whole_labels), rows.place(piece)), name)


# What names the relevant documents of a query, without labels.
_NAMED_ALONE = (Set, list, tuple)


def _labelled(query: object, listed: Any) -> Any:
    """Return {document: 1} of documents that are named alone; anything else as it is."""
    if not isinstance(listed, _NAMED_ALONE):
        return listed
    try:
        labels = dict.fromkeys(listed, 1)
    except TypeError:
        # What cannot be a key: the column of the documents knows which it is.
        Identifiers.from_sequence(listed, f"qrels[{shown(query)}]")
        raise
    if len(labels) < len(listed):
        first: dict[Any, int] = {}
        for i, document in enumerate(listed):
            if first.setdefault(document, i) < i:
                again = f"{shown(document)} again, first at {first[document]}"
                raise unexpected(f"qrels[{shown(query)}][{i}]", "each document once", again)
    return labels


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
        document, query = quoted(lists.documents[row]), lists.query_of(row)
        raise unexpected(
            here, f"label {lists.values[first]} for document {document} of query {query}, as at {there}",
            f"{lists.values[row]}",
        )  # fmt: skip
    return lists.without(found[:, 0])


def checked_columns(
    queries: Identifiers, offsets: Offsets, documents: Identifiers, values: NDArray[Any], argument: str
) -> Offsets:
    """Return a copy of the offsets, or raise InputError unless columns that a caller made fit together."""
    for name, column in (("queries", queries), ("documents", documents)):
        if not isinstance(column, Identifiers):
            raise unexpected(name, "Identifiers (from_columns takes other sequences)", type(column).__name__)
    offsets = as_offsets(offsets, len(documents), "offsets", "documents").copy()
    if len(offsets) != len(queries) + 1:
        raise unexpected("offsets", f"one more than queries, {len(queries) + 1}", f"{len(offsets)}")
    if len(values) != len(documents):
        raise unexpected(argument, f"as many values as documents, {len(documents)}", f"{len(values)}")
    if len(_join.number(queries.data, queries.offsets)[1]) != len(queries):
        raise unexpected("queries", "each query once (from_columns takes them in any order)", "one twice")
    return offsets
