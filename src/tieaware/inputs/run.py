"""The class Run, and the interface RunSource of everything from which a run can be read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from tieaware.checks.arrays import Offsets, Place, Scores
from tieaware.errors import InputError
from tieaware.inputs.column_names import run_columns
from tieaware.inputs.duplicate_rows import (
    FROM_COLUMNS,
    FROM_DICT,
    FROM_FILE,
    FROM_FRAME,
    Duplicates,
    Ignored,
    check_duplicates,
    warn_of,
    without_duplicates,
)
from tieaware.inputs.files import Path, state_of
from tieaware.inputs.frames import Frame, arrow_of, frame_of
from tieaware.inputs.mappings import flattened
from tieaware.inputs.matrix_columns import OTHER_IDS, has_zero, largest_number, too_large
from tieaware.inputs.part_files import Parts
from tieaware.inputs.qrels import checked_columns
from tieaware.inputs.ranks import RankColumn
from tieaware.inputs.rows import RowChunk, Rows, exact_scores
from tieaware.inputs.run_column import runs_of
from tieaware.inputs.run_exports import RunExports
from tieaware.inputs.score_types import ScoreDtype, checked_scores, rounded
from tieaware.inputs.topk import TopK
from tieaware.lists.identifiers import Identifiers, frozen, quoted
from tieaware.lists.query_lists import Lists, from_columns, grouped
from tieaware.output.tables import counted


class RunSource(ABC):
    """The interface of everything from which a run can be read: a `Run`, a dict, a table or a file.

    To add a new source, write a subclass in a file of its own and list it in `tieaware.inputs.sources.SOURCES`.

    Attributes
    ----------
    name : str
        The name of the run in results, unless the caller of `evaluate` gives another name.
    path : path, binary file object, Parts or None
        The file, or the part files, of the run; None for a run in memory.
    mapping : dict or None
        The run as {query: {document: score}} if it was passed as a dict; otherwise None.
    score_dtype : "float64" or "float32"
        The type to which scores are rounded when they are read.
    duplicates : "error" or "first"
        The treatment of a document that appears twice for a query. "error" raises InputError; "first" keeps the first
        row and warns.
    rereadable : bool
        Whether the run can be read more than once.
    n_numbered : int or None
        The number of queries if the run comes from an array, whose rows number the queries from 0; otherwise None.
    """

    __slots__ = ()

    name: str
    path: Path | Parts | None = None
    mapping: dict[Any, Any] | None = None
    score_dtype: ScoreDtype = "float64"
    duplicates: Duplicates = "error"
    rereadable: bool = True
    n_numbered: int | None = None

    @classmethod
    def recognise(
        cls, value: Any, name: str, score_dtype: ScoreDtype, duplicates: Duplicates
    ) -> Sequence[RunSource] | None:
        """Return the sources of the runs in a value; None if this class cannot read the value.

        Parameters
        ----------
        value : object
        name : str
            The name of the value in messages.
        score_dtype : "float64" or "float32"
        duplicates : "error" or "first"

        Returns
        -------
        sequence of RunSource, or None

        Raises
        ------
        InputError
            The value has a form that this class reads, but is not valid.
        """
        return [value] if isinstance(value, cls) else None

    def check_columns(self, n_columns: int, matrix: str, name: str) -> None:
        """Raise InputError if a document is none of the columns of the matrix that holds the judgments.

        Only runs with the numbers of columns, such as top-k lists, are checked.

        Parameters
        ----------
        n_columns : int
            The number of columns, which are numbered from 0.
        matrix, name : str
            The names of the judgments and of the run in messages.
        """
        return

    @property
    def full_name(self) -> str:
        """A longer name, which distinguishes sources with the same `name`. For a file it is the path."""
        return self.name

    @property
    def state(self) -> tuple[int | str, ...] | None:
        """Values that change when a file of the run changes, such as its size; None if the run is not in files."""
        return self.path.state if isinstance(self.path, Parts) else state_of(self.path)

    def chunks(self) -> Iterator[RunSource]:
        """Yield the run in chunks of whole queries, in the order of the input.

        If a query reappears after its chunk was yielded, the entire run is yielded again in other chunks, in which all
        rows of each query are together.

        Yields
        ------
        RunSource

        Examples
        --------
        >>> [chunk.name for chunk in Run.from_dict({"q1": {"d1": 9.5, "d2": 9.5}}).chunks()]
        ['run']
        """
        yield self

    def over_chunks(self, work: Callable[[RunSource], None], threads: int) -> None:
        """Call a function with each chunk of the run.

        Parameters
        ----------
        work : callable
            The function. If a query reappears after its chunk was processed, the function is called with this query
            again, with all its rows.
        threads : int
            The largest number of threads. Several threads process the chunks in any order.

        Raises
        ------
        InputError
            The run cannot be read. If there are several errors, the same one is raised for any number of threads.
        """
        for chunk in self.chunks():
            work(chunk)

    @abstractmethod
    def whole(self) -> Run:
        """Read the entire run; return it as columns.

        Returns
        -------
        Run

        Raises
        ------
        InputError
            The run cannot be read.

        Examples
        --------
        >>> Run.from_dict({"q1": {"d1": 9.5, "d2": 9.5}}).whole().scores
        array([9.5, 9.5])
        """

    def ranks(self) -> RankColumn | None:
        """Read the rank column, which evaluation ignores.

        Returns
        -------
        RankColumn or None
            None if the source has no rank column, or cannot be read a second time.

        Raises
        ------
        InputError
            The file cannot be read.
        """
        return None


def repeatable(source: RunSource) -> RunSource:
    """Return a run in a form that can be read several times; standard input and streams are read into memory."""
    can_be_read_again = source.rereadable and (source.path is None or source.state is not None)
    return source if can_be_read_again else source.whole()


class Run(RunSource, RunExports):
    """A run as immutable columns, made by `Run.from_dict`, `Run.from_columns` or `read_run`.

    Parameters
    ----------
    queries : Identifiers
        Each query once, in the order of first appearance.
    offsets : int64[n_queries + 1]
        The rows of query ``q`` are ``offsets[q]`` to ``offsets[q + 1]``, in the order of the input.
    documents : Identifiers
        The document of each row. A query has each document at most once.
    scores : float64[n_rows] or float32[n_rows]
        The score of each row, any number except NaN.
    name : str
        The name of the run in results and error messages.

    Attributes
    ----------
    tag : str or None
        The tag, field 6, of the first line of a TREC file; None for any other input.

    Raises
    ------
    InputError
        The lengths of the columns are inconsistent, a score is not a number or is NaN, or a document appears twice for
        a query.

    Examples
    --------
    >>> run = Run.from_dict({"q1": {"d1": 9.5, "d2": 9.5}})
    >>> len(run), run.documents.to_list(), run.scores.tolist()
    (1, ['d1', 'd2'], [9.5, 9.5])
    """

    __slots__ = ("__weakref__", "documents", "name", "offsets", "queries", "scores", "tag")

    queries: Identifiers
    offsets: Offsets
    documents: Identifiers
    scores: Scores
    name: str
    tag: str | None

    def __init__(
        self,
        queries: Identifiers,
        offsets: Offsets,
        documents: Identifiers,
        scores: Scores,
        name: str = "run",
    ) -> None:
        scores = checked_scores(scores, "scores")
        offsets = checked_columns(queries, offsets, documents, scores, "scores")
        lists, _ = without_duplicates(
            Lists(queries, offsets, documents, scores), lambda row: f"documents[{row}]", "error", FROM_COLUMNS
        )
        self._set(lists, name, None)

    def _set(self, lists: Lists, name: str, tag: str | None) -> None:
        for attribute, value in (
            ("queries", lists.queries),
            ("offsets", frozen(lists.offsets.view())),
            ("documents", lists.documents),
            ("scores", frozen(lists.values.view())),
            ("name", name),
            ("tag", tag),
        ):
            object.__setattr__(self, attribute, value)

    @classmethod
    def of(cls, lists: Lists, name: str, tag: str | None = None) -> Self:
        """Make a run from lists that are known to be valid, without checking or copying them.

        Parameters
        ----------
        lists : Lists
            The columns. The values are the scores.
        name : str
            The name of the run in results and error messages.
        tag : str, optional
            The tag, field 6, of the first line of a TREC file.

        Returns
        -------
        Run
        """
        self = cls.__new__(cls)
        self._set(lists, name, tag)
        return self

    @classmethod
    def from_dict(
        cls, run: Mapping[Any, Mapping[Any, float]], *, name: str = "run", duplicates: Duplicates = "error"
    ) -> Run:
        """Make a run from ``{query: {document: score}}``.

        Parameters
        ----------
        run : mapping
            Queries and documents are str, bytes or int; 1 and "1" are the same identifier.
        name : str
            The name of the run in results and error messages.
        duplicates : "error" or "first"
            The treatment of a document that appears twice for a query, as the keys 1 and "1". "error" raises
            InputError; "first" keeps the first of both scores and warns.

        Returns
        -------
        Run
            Queries and documents in the order of the mappings; scores as float64.

        Raises
        ------
        InputError
            The argument is not a dict of dicts, a key is not text, bytes or an integer, a score is not a number or is
            NaN, or two keys of a query are the same document (1 and "1") and `duplicates` is "error".

        Examples
        --------
        >>> Run.from_dict({"q1": {"d1": 9.5, "d2": 9.5}}, name="bm25")
        Run('bm25', 1 query, 2 documents)
        """
        check_duplicates(duplicates)
        queries, offsets, documents, values, place = flattened(run, name)
        lists = grouped(queries, offsets, documents, checked_scores(values, name, place))
        lists, ignored = without_duplicates(lists, place, duplicates, FROM_DICT)
        warn_of(ignored, name)
        return cls.of(lists, name)

    @classmethod
    def from_columns(
        cls,
        query: Iterable[object],
        doc: Iterable[object],
        score: ArrayLike,
        *,
        name: str = "run",
        duplicates: Duplicates = "error",
    ) -> Run:
        """Make a run from three columns of equal length, whose rows may be in any order.

        Parameters as for `from_dict`, except:

        Parameters
        ----------
        query, doc : sequence or array of str, bytes or int
            The query and the document of each row. They must be integers if the queries and documents of the judgments
            are integers.
        score : sequence or array of real numbers
            The score of each row, possibly in a tensor on any device. Scores of type float32 stay float32; all others
            become float64.

        Returns
        -------
        Run
            Queries in the order of first appearance, and the documents of each query in the order of the rows.

        Raises
        ------
        InputError
            The columns differ in length, a score is not a number or is NaN, or a document appears twice for a query.

        Examples
        --------
        >>> run = Run.from_columns(["q1", "q2", "q1"], ["d1", "d1", "d2"], [2.0, 1.0, 2.0])
        >>> run.documents.to_list(), run.offsets.tolist(), run.scores.tolist()
        (['d1', 'd2', 'd1'], [0, 2, 3], [2.0, 2.0, 1.0])
        """
        check_duplicates(duplicates)
        scores = checked_scores(score, "score")
        lists = from_columns(query, doc, scores, "score")
        lists, ignored = without_duplicates(lists, lambda row: f"doc[{row}]", duplicates, FROM_COLUMNS)
        warn_of(ignored, name)
        return cls.of(lists, name)

    @classmethod
    def from_topk(
        cls, ids: ArrayLike, scores: ArrayLike, *, queries: Iterable[object] | None = None,
        documents: Iterable[object] | None = None, name: str = "run",
    ) -> Run:  # fmt: skip
        """Make a run from the best documents of each query, as recommenders and vector stores return them.

        Parameter `name` as for `from_dict`.

        Parameters
        ----------
        ids : integers or text, shape (n_queries, k), or a sequence of lists of any lengths
            The documents of each query. Negative ids are padding, and are skipped with their scores.
        scores : real numbers, with the shape of `ids`
            Documents with higher scores rank higher; negate distances. Scores keep their type if it is float32.
        queries : sequence of str, bytes or int, length n_queries, optional
            The query of each row; by default its number, from 0.
        documents : sequence of str, bytes or int, optional
            The names of all documents, if the ids are their numbers from 0.

        Returns
        -------
        Run
            Queries and documents in the order of the rows.

        Raises
        ------
        InputError
            The shapes differ, an id is neither an integer nor text, a score is NaN, or a query, or a document of a
            query, appears twice; or an id has no name in `documents`.

        Warns
        -----
        UserWarning
            If the scores rise along every row, as distances do.

        Examples
        --------
        >>> run = Run.from_topk([[7, 3, 5], [3, -1, -1]], [[0.9, 0.5, 0.5], [0.5, 0.0, 0.0]])
        >>> run, run.documents.to_list()
        (Run('run', 2 queries, 4 documents), [7, 3, 5, 3])
        """
        topk = TopK.of(ids, scores, queries, documents)
        lists = topk.lists(0, len(topk))
        return cls.of(replace(lists, values=lists.values.copy()), name)

    def check_columns(self, n_columns: int, matrix: str, name: str) -> None:
        """Raise InputError if a document is an integer that is too large. See `RunSource.check_columns`."""
        row = largest_number(self.documents) if self.documents.kind == "integer" else None
        if row is None or int(self.documents[row]) < n_columns:
            return
        number, query = int(self.documents[row]), int(np.searchsorted(self.offsets, row, side="right")) - 1
        problem = too_large(number, n_columns, has_zero(self.documents), ("column", f" of {matrix}"), OTHER_IDS)
        raise InputError(name, f"for query {quoted(self.queries[query])}, document {problem}")

    @classmethod
    def from_frame(
        cls, frame: Any, *, query: str | None = None, doc: str | None = None, score: str | None = None,
        run: str | None = None, name: str | None = None, duplicates: Duplicates = "error",
    ) -> Run:  # fmt: skip
        """Make a run from a data frame, or from anything that `from_arrow` accepts.

        Parameters as for `from_dict`, except:

        Parameters
        ----------
        frame : pandas.DataFrame, polars.DataFrame or LazyFrame, or table with the Arrow PyCapsule interface
            One retrieved document per row, in any order.
        query, doc, score : str, optional
            The names of the columns. The default names are query_id, qid, query, user_id, user, topic_id or topic for
            `query`; doc_id, docno, did, doc, corpus-id, item_id, item, document_id, document, passage_id, pid or
            movie_id for `doc`; and score, rating, prediction or sim for `score`; in any case, and with or without
            hyphens, underscores and spaces.
        run : str, optional
            The name of the run column, which contains the name of the run of each row. The default names are run,
            system and tag; the column may be missing. All rows must have the same run name. (`evaluate` accepts frames
            that contain several runs.)
        name : str, optional
            The name of the run in results and error messages; by default the name in the run column, or else "run".

        Returns
        -------
        Run
            Queries in the order of first appearance, and the documents of each query in the order of the rows. Scores
            are float64, or float32 if the column is float32, float16 or integers of up to 16 bits.

        Raises
        ------
        InputError
            A column is missing or several columns have default names, a value is missing, a score is not a number or is
            NaN, a document appears twice for a query, or the frame contains several runs.

        Examples
        --------
        >>> import pandas
        >>> frame = pandas.DataFrame({"user_id": [7, 7], "item_id": [3, 5], "prediction": [0.5, 0.5]})
        >>> Run.from_frame(frame).queries.to_list()
        [7]
        """
        source_name = name or "run"
        table = frame_of(frame, source_name)
        return run_in(table, source_name, name, duplicates, columns=(query, doc, score), column=run)

    @classmethod
    def from_arrow(
        cls, table: Any, *, query: str | None = None, doc: str | None = None, score: str | None = None,
        run: str | None = None, name: str | None = None, duplicates: Duplicates = "error",
    ) -> Run:  # fmt: skip
        """Make a run from a table with the Arrow PyCapsule interface, such as a table of pyarrow or DuckDB.

        Everything that is not described here is as for `from_frame`.

        Parameters
        ----------
        table : object with __arrow_c_stream__ or __arrow_c_array__
            One retrieved document per row, in any order.

        Examples
        --------
        >>> import pyarrow
        >>> table = pyarrow.table({"qid": ["q1"], "docno": ["d1"], "score": [0.5], "run": ["bm25"]})
        >>> Run.from_arrow(table)
        Run('bm25', 1 query, 1 document)
        """
        source_name = name or "run"
        frame = arrow_of(table, source_name)
        return run_in(frame, source_name, name, duplicates, columns=(query, doc, score), column=run)

    def whole(self) -> Run:
        """Return this run, which is already in columns."""
        return self

    def __len__(self) -> int:
        return len(self.queries)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Run is immutable: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Run is immutable: {name} cannot be deleted")

    def __repr__(self) -> str:
        sizes = f"{counted(len(self), 'query', 'queries')}, {counted(len(self.scores), 'document')}"
        return f"Run({self.name!r}, {sizes})"

    def __reduce__(self) -> tuple[Any, ...]:
        lists = Lists(self.queries, np.asarray(self.offsets), self.documents, np.asarray(self.scores))
        return Run.of, (lists, self.name, self.tag)


def run_in(
    frame: Frame, source_name: str, name: str | None, duplicates: Duplicates, score_dtype: ScoreDtype = "float64", *,
    columns: tuple[str | None, str | None, str | None] = (None, None, None), column: str | None = None,
) -> Run:  # fmt: skip
    """Read a table that contains exactly one run.

    Parameters
    ----------
    frame : Frame
    source_name : str
        The name of the table in messages.
    name : str or None
        The name of the run. If it is None, the run has the name in the run column, or else the name of the table.
    duplicates : "error" or "first"
    score_dtype : "float64" or "float32"
    columns : tuple of str or None
        The names of the query, document and score columns. A column whose name is None is recognised by its usual
        names.
    column : str or None
        The name of the run column. If it is None, the column is recognised by its usual names.

    Raises
    ------
    InputError
        The table contains several runs, or the run is invalid.
    """
    check_duplicates(duplicates)
    every = Rows(frame, run_columns(frame, source_name, *columns), source_name)
    runs = runs_of(every, column) or {"": every}
    if len(runs) > 1:
        few = ", ".join(list(runs)[:3]) + (", …" if len(runs) > 3 else "")
        raise InputError(source_name, f"contains {len(runs)} runs, but only one can be read here: {few}")
    ((found, rows),) = runs.items()
    run, ignored = run_of(rows, rows.whole(), name or found or source_name, duplicates, score_dtype)
    warn_of(ignored, source_name)
    return run


def run_of(
    rows: Rows, chunk: RowChunk, name: str, duplicates: Duplicates, score_dtype: ScoreDtype = "float64"
) -> tuple[Run, Ignored]:
    """Make a run from the rows of a chunk; return the run and the duplicates that were ignored."""
    return made_run(rows.lists(chunk, exact_scores), rows.place(chunk), name, duplicates, score_dtype, rows)


def made_run(
    lists: Lists, place: Place, name: str, duplicates: Duplicates, score_dtype: ScoreDtype, rows: Rows
) -> tuple[Run, Ignored]:
    """Make a run from the lists of a table, `rows`; return the run and the duplicates that were ignored.

    If `score_dtype` is "float32", the scores are rounded to float32; otherwise they keep their type.
    """
    if score_dtype == "float32":
        lists = replace(lists, values=rounded(lists.values, score_dtype))
    remedy = (FROM_FILE if rows.frame.is_file else FROM_FRAME) + rows.unread()
    lists, ignored = without_duplicates(lists, place, duplicates, remedy)
    return Run.of(lists, name), ignored
