"""Judgments: the labels of documents for queries."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tieaware.checks.arguments import flag, one_of, shown
from tieaware.checks.arrays import Labels, Offsets, Place, Values, as_flat, as_numpy
from tieaware.errors import Hinted, InputError
from tieaware.inputs.files.paths import Path
from tieaware.inputs.judgments.repetitions import DuplicateChoice, without_repetitions
from tieaware.inputs.judgments.subtopic_lists import SubtopicLists, from_nested, is_nested
from tieaware.inputs.tables import opened
from tieaware.inputs.tables.column_names import judged_columns, subtopic_column
from tieaware.inputs.tables.frames import Frame, arrow_of, frame_of
from tieaware.inputs.tables.rows import Rows
from tieaware.inputs.trec.reader import Reader, subtopic_lines
from tieaware.kernels import _dicts, _join
from tieaware.kernels._identifiers import frozen_view
from tieaware.lists.grades import GradedLabels, Grades, Missing, check_missing, whole_or_real
from tieaware.lists.identifiers import Identifiers, axis_names, number_names
from tieaware.lists.judgments import Judgments
from tieaware.lists.query_lists import Lists, by_query, checked_lists, from_columns, from_mapping
from tieaware.lists.sparse import Relevance
from tieaware.output.tables import counted

_INT32 = np.dtype(np.int32)

# One lock serves all Qrels: each index is built only once, so threads rarely wait for each other.
_LOCK = threading.Lock()
# A fork first acquires the lock. If another thread held the lock during the fork, the lock would stay locked in the
# child forever, because that thread does not exist there.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)


class Qrels(_join.JudgedColumns, Hinted):
    """Judgments as immutable columns, made by `Qrels.from_dict`, `Qrels.from_columns` or `read_qrels`.

    Parameters
    ----------
    queries : Identifiers
        Each judged query once, in the order of first appearance.
    offsets : int64[n_queries + 1]
        The rows of query ``q`` are ``offsets[q]`` to ``offsets[q + 1]``.
    documents : Identifiers
        The judged document of each row. A query has each document at most once.
    labels : int32[n_rows], or float64[n_rows] if a label is not a whole number
        The label of each row.
    name : str
        The name of the judgments in error messages.

    Attributes
    ----------
    n_columns : int or None
        The number of columns of the matrix, if the documents are the numbers of its columns; see `from_sparse`.

    Raises
    ------
    InputError
        The lengths of the columns are inconsistent, a label is not a number of at most 2^31 - 1, or a document has two
        different labels for the same query.

    Examples
    --------
    >>> qrels = Qrels.from_dict({"q1": {"d1": 1, "d2": 0}})
    >>> len(qrels), qrels.documents.to_list(), qrels.labels.tolist()
    (1, ['d1', 'd2'], [1, 0])
    """

    __slots__ = ("__weakref__",)

    queries: Identifiers
    offsets: Offsets
    documents: Identifiers
    labels: Labels | Values
    name: str
    n_columns: int | None
    # Python's hash of each document, if all documents were str.
    _hashes: NDArray[np.uint64] | None
    _index: _join.Index | None
    _judgments: Judgments
    _of_subtopics: SubtopicLists | None

    def __init__(
        self,
        queries: Identifiers,
        offsets: Offsets,
        documents: Identifiers,
        labels: Labels | Values,
        name: str = "qrels",
    ) -> None:
        labels = whole_or_real(as_flat(labels, "labels"), "labels").copy()
        lists = without_repetitions(checked_lists(queries, offsets, documents, labels, "labels"))
        self._set(lists.queries, lists.offsets, lists.documents, lists.values, name)

    def _set(
        self, queries: Identifiers, offsets: Offsets, documents: Identifiers, labels: NDArray[Any], name: str,
        n_columns: int | None = None, hashes: NDArray[np.uint64] | None = None,
    ) -> None:  # fmt: skip
        offsets, labels = frozen_view(offsets), frozen_view(labels)
        numbers, grades = (labels, None) if labels.dtype == _INT32 else GradedLabels.of(labels)
        judgments = Judgments(frozen_view(numbers), offsets, None, grades)
        self._hold(queries, offsets, documents, labels, name, n_columns, hashes, judgments)

    @classmethod
    def of(cls, lists: Lists, name: str, n_columns: int | None = None) -> Qrels:
        """Make judgments from lists that are known to be valid, without checking or copying them.

        Parameters
        ----------
        lists : Lists
            The columns. The values are the labels, int32 or float64.
        name : str
            The name of the judgments in error messages.
        n_columns : int, optional
            The number of columns of the matrix, if the documents are the numbers of its columns.

        Returns
        -------
        Qrels
        """
        self = cls.__new__(cls)
        self._set(lists.queries, lists.offsets, lists.documents, lists.values, name, n_columns)
        return self

    @classmethod
    def of_subtopics(cls, judged: SubtopicLists, name: str) -> Qrels:
        """Make judgments from judgments of subtopics that are known to be valid.

        Parameters
        ----------
        judged : SubtopicLists
        name : str
            The name of the judgments in error messages.

        Returns
        -------
        Qrels
        """
        self = cls.of(judged.lists, name)
        object.__setattr__(self, "_of_subtopics", judged)
        object.__setattr__(self, "_judgments", Judgments(
            judged.codes, self.offsets, grades=judged.grades, subtopics=judged.subtopics, documents=self.documents,
        ))  # fmt: skip
        return self

    @classmethod
    def from_dict(
        cls,
        qrels: Mapping[Any, Mapping[Any, Any] | Set[Any] | list[Any] | tuple[Any, ...]],
        *,
        name: str = "qrels",
        missing: Missing | None = None,
    ) -> Qrels:
        """Make judgments from ``{query: {document: label}}``, or from ``{query: documents}``.

        For measures of diversity, also from ``{query: {subtopic: {document: label}}}``.

        Parameters
        ----------
        qrels : mapping
            Queries and documents are str, bytes or int; 1 and "1" are the same identifier. Labels are numbers, whole or
            real. Documents in a set, list or tuple have no labels, and get the label 1.
        name : str
            The name of the judgments in error messages.
        missing : "unjudged", optional
            Whether a missing label (NaN or None) means that a document is unjudged; its label is then -1. By default,
            it is an error.

        Returns
        -------
        Qrels
            Queries in the order of the mapping.

        Raises
        ------
        InputError
            The argument has neither form, a key is not text, bytes or an integer, a label is not a number of at most
            2^31 - 1 or is missing, two keys of a query are the same document with different labels, or a list contains
            a document twice.

        Examples
        --------
        >>> Qrels.from_dict({"q1": {"d1": 1, "d2": 0}})
        Qrels('qrels', 1 query, 2 judgments)
        >>> Qrels.from_dict({"q1": {"d1": 1.0}, "q2": ["d1", "d2"]}).labels
        array([1, 1, 1], dtype=int32)
        >>> Qrels.from_dict({"q1": {"d1": 0.7, "d2": 0}}).labels
        array([0.7, 0. ])
        """
        check_missing(missing)
        walked = _dicts.columns_of(qrels) if type(qrels) is dict else None
        if walked is not None:
            names, name_offsets, offsets, ids, id_offsets, labels, hashes = walked
            queries, documents = Identifiers.of(names, name_offsets), Identifiers.of(ids, id_offsets)
            self = cls.__new__(cls)
            # A run as a dict is matched faster with Python's hashes of the documents.
            self._set(queries, offsets, documents, labels, name, None, hashes)
            return self
        if isinstance(qrels, Mapping) and is_nested(qrels):
            return cls.of_subtopics(from_nested(qrels, name, missing), name)
        if isinstance(qrels, Mapping) and any(isinstance(listed, _WITHOUT_LABELS) for listed in qrels.values()):
            labelled = {query: _labelled(query, listed) for query, listed in qrels.items()}
            return cls.from_dict(labelled, name=name, missing=missing)
        # The kernel reads only plain dicts with common types. The code below reads all other mappings, and raises the
        # error if a value is invalid.
        def labels_of(values: list[Any], place: Place) -> NDArray[Any]:
            return whole_or_real(as_flat(as_numpy(values, "qrels", place), "qrels"), "qrels", place, missing)

        return cls.of(without_repetitions(from_mapping(qrels, "qrels", labels_of)), name)

    @classmethod
    def from_columns(
        cls, query: Iterable[object], doc: Iterable[object], label: ArrayLike, *, name: str = "qrels",
        missing: Missing | None = None,
    ) -> Qrels:  # fmt: skip
        """Make judgments from three columns of equal length, whose rows may be in any order.

        Parameters `name` and `missing` as for `from_dict`.

        Parameters
        ----------
        query, doc : sequence or array of str, bytes or int
            The query and the document of each row. Integers match only integers of runs, not text such as "7". If the
            queries are integers, the queries of `Results` are integers too.
        label : sequence or array of numbers
            The label of each row. A judgment that repeats an earlier one counts once.

        Returns
        -------
        Qrels
            Queries in the order of first appearance.

        Raises
        ------
        InputError
            The columns differ in length, a label is not a number of at most 2^31 - 1 or is missing, or a document has
            two different labels for the same query.

        Examples
        --------
        >>> qrels = Qrels.from_columns(["q1", "q1", "q2"], ["d1", "d2", "d1"], [1, 0, 2])
        >>> qrels.queries.to_list(), qrels.offsets.tolist()
        (['q1', 'q2'], [0, 2, 3])
        """
        labels = whole_or_real(as_flat(label, "label"), "label", missing=missing).copy()
        lists = from_columns(query, doc, labels, "label")
        return cls.of(without_repetitions(lists), name)

    @classmethod
    def from_sparse(
        cls,
        relevance: Any,
        *,
        queries: Iterable[object] | None = None,
        documents: Iterable[object] | None = None,
        name: str = "qrels",
        missing: Missing | None = None,
    ) -> Qrels:
        """Make judgments from a sparse matrix with a row for each query and a column for each document.

        Parameters `name` and `missing` as for `from_dict`.

        Parameters
        ----------
        relevance : sparse matrix in CSR form, shape (n_queries, n_documents)
            As for `tieaware.Evaluator.from_sparse`: an entry is the label of a document.
        queries, documents : sequence of str, bytes or int, optional
            The names of the rows and of the columns; by default their numbers, from 0. Top-k lists of the numbers of
            columns must not have a number that is too large.

        Returns
        -------
        Qrels
            A query for each row, even if the row has no entry.

        Raises
        ------
        InputError
            The matrix is not in CSR form, an entry is repeated, out of range or not a label, a name appears twice, or
            there are more or fewer names than rows or columns.

        Examples
        --------
        >>> import scipy.sparse
        >>> qrels = Qrels.from_sparse(scipy.sparse.csr_array([[0, 0, 1], [2, 0, 0]]), queries=["u1", "u2"])
        >>> qrels.queries.to_list(), qrels.documents.to_list(), qrels.labels.tolist()
        (['u1', 'u2'], [2, 0], [1, 2])
        """
        judged = Relevance.of(relevance, missing=missing)
        (n_queries, n_documents), columns = judged.shape, judged.judged.columns
        named, ids = number_names(np.arange(n_queries)), number_names(columns)
        if queries is not None:
            named = axis_names(queries, n_queries, "queries", "rows of relevance")
        if documents is not None:
            ids = axis_names(documents, n_documents, "documents", "columns of relevance").take(columns)
        labels = judged.labels.copy() if judged.grades is None else judged.grades.labels(judged.labels)
        lists = Lists(named, judged.judged.offsets, ids, labels)
        return cls.of(lists, name, n_documents if documents is None else None)

    @classmethod
    def from_frame(
        cls, frame: Any, *, query: str | None = None, doc: str | None = None, label: str | None = None,
        name: str = "qrels", missing: Missing | None = None, subtopic: str | None = None,
    ) -> Qrels:  # fmt: skip
        """Make judgments from a data frame, or from anything that `from_arrow` accepts.

        Parameter `name` as for `from_dict`.

        Parameters
        ----------
        frame : pandas.DataFrame, polars.DataFrame or LazyFrame, or table with the Arrow PyCapsule interface
            One judgment per row, in any order. A judgment that repeats an earlier one counts once.
        query, doc, label : str, optional
            The names of the columns. The default names are query_id, qid, query, user_id, user, topic_id or topic for
            `query`; doc_id, docno, did, doc, corpus-id, item_id, item, document_id, document, passage_id, pid or
            movie_id for `doc`; and relevance, label, rel or score for `label`; in any case, and with or without
            hyphens, underscores and spaces.
        missing : "unjudged", optional
            Whether a missing label (NaN or null) means that a document is unjudged; its label is then -1. By default,
            it is an error.
        subtopic : str, optional
            The name of the column of subtopics; by default subtopic or subtopic_id, if there is such a column. A
            document then has a label for each subtopic.

        Returns
        -------
        Qrels
            Queries in the order of first appearance.

        Raises
        ------
        InputError
            A column is missing or several columns have default names, a value is missing, a label is not a number of at
            most 2^31 - 1, or a document has two different labels for the same query.

        Examples
        --------
        >>> import polars
        >>> frame = polars.DataFrame({"qid": ["q1", "q1"], "docno": ["d1", "d2"], "label": [1, 0]})
        >>> Qrels.from_frame(frame)
        Qrels('qrels', 1 query, 2 judgments)
        """
        return judgments_of(frame_of(frame, name), (query, doc, label), missing, subtopic=subtopic)

    @classmethod
    def from_arrow(
        cls, table: Any, *, query: str | None = None, doc: str | None = None, label: str | None = None,
        name: str = "qrels", missing: Missing | None = None, subtopic: str | None = None,
    ) -> Qrels:  # fmt: skip
        """Make judgments from a table with the Arrow PyCapsule interface, such as a table of pyarrow or DuckDB.

        Everything that is not described here is as for `from_frame`.

        Parameters
        ----------
        table : object with __arrow_c_stream__ or __arrow_c_array__
            One judgment per row, in any order.
        name : str
            The name of the judgments in error messages.

        Examples
        --------
        >>> import pyarrow
        >>> table = pyarrow.table({"query-id": [1, 1], "corpus-id": ["d1", "d2"], "score": [1.0, 0.0]})
        >>> Qrels.from_arrow(table).labels.tolist()
        [1, 0]
        """
        return judgments_of(arrow_of(table, name), (query, doc, label), missing, subtopic=subtopic)

    def to_dict(self) -> dict[str | int, dict[str | int, Any]]:
        """Return the judgments as ``{query: {document: label}}``, in their order.

        Judgments of subtopics are returned as ``{query: {subtopic: {document: label}}}``, without negative labels.

        Returns
        -------
        dict
            Identifiers are int if they were made from integers, otherwise str.

        Examples
        --------
        >>> Qrels.from_columns(["q1", "q1", "q2"], ["d1", "d2", "d1"], [1, 0, 2]).to_dict()
        {'q1': {'d1': 1, 'd2': 0}, 'q2': {'d1': 2}}
        """
        if self._of_subtopics is not None:
            return self._of_subtopics.to_dict()
        return by_query(self.queries, self.offsets, self.documents, self.labels)

    def with_intents(self, weights: Mapping[Any, Mapping[Any, float]]) -> Qrels:
        """Return the same judgments of subtopics, with a weight for each subtopic (intent).

        Parameters
        ----------
        weights : mapping
            ``{query: {subtopic: weight}}`` with finite weights of at least 0, for each subtopic of each query. Only
            their ratios matter. Without weights, all subtopics with a relevant document count alike.

        Returns
        -------
        Qrels

        Raises
        ------
        InputError
            The judgments have no subtopics, or a weight is missing or invalid.

        Examples
        --------
        >>> import tieaware
        >>> qrels = Qrels.from_dict({"q1": {"cars": {"d1": 1}, "cats": {"d2": 1}}})
        >>> run = {"q1": {"d1": 2.0, "d2": 1.0}}
        >>> tieaware.evaluate(qrels, run, "StRecall@1").values.item()
        0.5
        >>> weighted = qrels.with_intents({"q1": {"cars": 3, "cats": 1}})
        >>> tieaware.evaluate(weighted, run, "StRecall@1").values.item()
        0.75
        """
        if self._of_subtopics is None:
            raise InputError(self.name, "have no subtopics, so these have no weights")
        return Qrels.of_subtopics(self._of_subtopics.with_weights(weights), self.name)

    @property
    def judgments(self) -> Judgments:
        """The labels of each query, without the documents that have these labels."""
        return self._judgments

    @property
    def grades(self) -> Grades | None:
        """The values of labels that are real numbers; None if all labels are whole numbers."""
        return self._judgments.grades

    @property
    def index(self) -> _join.Index:
        """The hash index that finds the judged documents of a run. It is built when it is first used."""
        index = self._index
        if index is None:
            with _LOCK:
                index = self._index
                if index is None:
                    queries, documents = self.queries, self.documents
                    index = _join.Index(
                        queries.data,
                        queries.offsets,
                        self.offsets,
                        documents.data,
                        documents.offsets,
                        self._judgments.labels,
                        self._hashes,
                    )
                    object.__setattr__(self, "_index", index)
        return index

    def __len__(self) -> int:
        return len(self.queries)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Qrels are immutable: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Qrels are immutable: {name} cannot be deleted")

    def __repr__(self) -> str:
        sizes = f"{counted(len(self), 'query', 'queries')}, {counted(len(self.labels), 'judgment')}"
        return f"Qrels({self.name!r}, {sizes})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._of_subtopics is not None:
            return Qrels.of_subtopics, (self._of_subtopics, self.name)
        lists = Lists(self.queries, np.asarray(self.offsets), self.documents, np.asarray(self.labels))
        return Qrels.of, (lists, self.name, self.n_columns)


_REMEDY = "read_qrels(..., duplicates='highest'), 'first' or 'last' chooses one"


def read_qrels(
    path: Path | Sequence[str | os.PathLike[str]],
    *,
    missing: Missing | None = None,
    subtopics: bool = False,
    duplicates: DuplicateChoice = "error",
) -> Qrels:
    r"""Read judgments from a file, part files or a table.

    Parameters
    ----------
    path : str, os.PathLike, binary file object, list of paths, or table
        "-" is standard input. Files compressed with gzip, bzip2, xz or zstd, Parquet files and Arrow (Feather) files
        are recognised by their content. CSV, TSV and JSON Lines files are recognised by their suffix. For the columns
        of tables, see `Qrels.from_frame`. A folder, a pattern such as "parts/*.parquet" or a list names part files,
        which are read as if they were one file.
    missing : "unjudged", optional
        Whether a missing label ("nan", or an empty cell of a table) means that a document is unjudged; its label is
        then -1. By default, it is an error.
    subtopics : bool
        Whether the second field of TREC's lines is a subtopic, as in the judgments of the web tracks' diversity tasks,
        so that a document has a label for each subtopic; a table must then have a column subtopic. Measures of
        diversity need subtopics. `evaluate` reads them if it is asked for such a measure.
    duplicates : "error", "first", "last" or "highest"
        The label of a document that has two different labels for the same query; by default, it is an error.

    Returns
    -------
    Qrels
        Queries in the order of first appearance. A judgment that repeats an earlier one counts once.

    Raises
    ------
    InputError
        The file cannot be read, is empty or contains a run; a line has fewer or more than four fields, more than 1 MB
        or a label that is not a number of at most 2^31 - 1; or a document has two different labels for the same query.

    Examples
    --------
    >>> import io
    >>> qrels = read_qrels(io.BytesIO(b"301 0 d1 1\n301 0 d2 0\n"))
    >>> qrels.queries.to_list(), qrels.documents.to_list(), qrels.labels.tolist()
    (['301'], ['d1', 'd2'], [1, 0])
    """
    check_missing(missing)
    flag("subtopics", subtopics)
    one_of("duplicates", duplicates, get_args(DuplicateChoice))
    if subtopics and duplicates != "error":
        raise InputError("duplicates", "must not be given with subtopics=True")
    with opened(path, "qrels") as (found, _):
        if isinstance(found, Frame):
            return judgments_of(found, missing=missing, needs_subtopics=subtopics, duplicates=duplicates)
        if subtopics:
            lists, subtopics_of = subtopic_lines(found, missing)
            return Qrels.of_subtopics(SubtopicLists.of_rows(lists, subtopics_of, found.source_name), found.source_name)
        reader = Reader(found, judgments=True, missing=missing)
        lists = reader.whole()
        if reader.parser.has_reals:
            labels = whole_or_real(lists.values, "label", lists.place, missing)
        else:
            labels = lists.values.astype(np.int32)
        hint = f"{_REMEDY}, and subtopics=True reads labels of subtopics"
        return Qrels.of(without_repetitions(replace(lists, values=labels), duplicates, hint), found.source_name)


def judgments_of(
    frame: Frame, columns: tuple[str | None, str | None, str | None] = (None, None, None),
    missing: Missing | None = None, *, subtopic: str | None = None, needs_subtopics: bool = False,
    duplicates: DuplicateChoice = "error",
) -> Qrels:  # fmt: skip
    """Make judgments from a table. `columns` are the names of the query, document and label columns.

    A column whose name is None is recognised by its usual names. The column of subtopics must be there only if
    `needs_subtopics`. `missing` says what missing labels mean.
    """
    check_missing(missing)
    needed = judged_columns(frame, *columns)
    of_subtopics = subtopic_column(frame, subtopic, needs_subtopics)
    rows = Rows(frame, needed if of_subtopics is None else (*needed, of_subtopics), nulls_as_nan=missing is not None)
    chunk, name = rows.whole(), frame.source_name
    lists = rows.lists(chunk, partial(whole_or_real, missing=missing))
    if of_subtopics is None:
        return Qrels.of(without_repetitions(lists, duplicates, _REMEDY if frame.is_file else ""), name)
    return Qrels.of_subtopics(SubtopicLists.of_rows(lists, rows.subtopics(chunk), name), name)


# The types that contain the relevant documents of a query without labels.
_WITHOUT_LABELS = (Set, list, tuple)


def _labelled(query: object, listed: Any) -> Any:
    """Return {document: 1} if `listed` contains documents without labels; return any other value unchanged."""
    if not isinstance(listed, _WITHOUT_LABELS):
        return listed
    try:
        labels = dict.fromkeys(listed, 1)
    except TypeError:
        # A value that cannot be a key of a dict is not an identifier. The call raises the InputError that shows it.
        Identifiers.from_sequence(listed, f"qrels[{shown(query)}]")
        raise
    if len(labels) < len(listed):
        first: dict[Any, int] = {}
        for i, document in enumerate(listed):
            if first.setdefault(document, i) < i:
                problem = f"document {shown(document)} appears twice, first at {first[document]}"
                raise InputError(f"qrels[{shown(query)}][{i}]", problem)
    return labels
