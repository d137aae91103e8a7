"""The class Run, and the interface RunSource of everything from which a run can be read."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import ArrayLike

from tieaware.checks.arguments import one_of, path_text
from tieaware.checks.arrays import Offsets, Scores
from tieaware.errors import Hinted, InputError
from tieaware.inputs.files.paths import Source, state_of
from tieaware.inputs.judgments.repetitions import DuplicateChoice
from tieaware.inputs.runs.reading_options import (
    AS_USUAL,
    FROM_COLUMNS,
    FROM_DICT,
    FROM_FILE,
    FROM_FRAME,
    Duplicates,
    Ignored,
    Reading,
    check_options,
    checked_scores,
    exact_scores,
    rounded,
    without_duplicates,
)
from tieaware.inputs.runs.topk import OTHER_IDS, TopK, has_zero, largest_number, too_large
from tieaware.inputs.tables.column_names import run_columns
from tieaware.inputs.tables.frames import Frame, arrow_of, frame_of
from tieaware.inputs.tables.rows import Rows, runs_of
from tieaware.inputs.trec.reader import RankColumn
from tieaware.inputs.trec.writer import trec_text, write_run
from tieaware.lists.identifiers import Identifiers, frozen, quoted
from tieaware.lists.query_lists import Lists, by_query, checked_lists, from_columns, from_mapping
from tieaware.output.data_frames import Exportable
from tieaware.output.tables import counted
from tieaware.precision.coarsening import Coarsening, coarsened, parse_precision


class RunSource(ABC):
    """The interface of everything from which a run can be read: a `Run`, a dict, a table or a file.

    `name` is the name of the run in results, unless the caller of `evaluate` gives another name.
    """

    __slots__ = ()

    name: str
    # The file, or the part files, of the run; None for a run in memory.
    path: Source | None = None
    # The run as {query: {document: score}}, if it was passed as a dict.
    mapping: dict[Any, Any] | None = None
    reading: Reading = AS_USUAL
    rereadable: bool = True
    # The number of queries if the run comes from an array, whose rows number the queries from 0.
    n_numbered: int | None = None

    def check_columns(self, n_columns: int, matrix: str, name: str) -> None:
        """Raise InputError if a document is none of the columns, numbered from 0, of the matrix of the judgments.

        Only runs with the numbers of columns, such as top-k lists, are checked.

        Parameters
        ----------
        n_columns : int
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
        return state_of(self.path)

    def chunks(self) -> Iterator[RunSource]:
        """Yield the run in chunks of whole queries, in the order of the input.

        If a query reappears after its chunk was yielded, the entire run is yielded again in other chunks, in which all
        rows of each query are together.

        Yields
        ------
        RunSource
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
            The largest number of threads, which process chunks in any order. They raise the error of the first chunk.
        """
        for chunk in self.chunks():
            work(chunk)

    @abstractmethod
    def whole(self) -> Run:
        """Read the entire run; return it as columns."""

    def ranks(self) -> RankColumn | None:
        """Read the rank column, which evaluation ignores.

        Returns
        -------
        RankColumn or None
            None if the source has no rank column, or cannot be read a second time.
        """
        return None


class Run(RunSource, Exportable, Hinted):
    """A run as immutable columns, made by `Run.from_dict`, `Run.from_columns` or `read_run`.

    Data frames have the columns query, doc and score.

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
        lists = checked_lists(queries, offsets, documents, scores, "scores")
        lists, _ = without_duplicates(lists, "error", FROM_COLUMNS)
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
        """Make a run from lists of scores that are known to be valid, without checking or copying them.

        Parameters
        ----------
        lists : Lists
            The columns. The values are the scores.
        name : str
            The name of the run in results and error messages.
        tag : str, optional
            See `Run`.

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
        check_options(duplicates)
        lists = from_mapping(run, name, lambda values, place: checked_scores(values, name, place))
        lists, ignored = without_duplicates(lists, duplicates, FROM_DICT)
        ignored.warn(name)
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
        check_options(duplicates)
        scores = checked_scores(score, "score")
        lists = from_columns(query, doc, scores, "score")
        lists, ignored = without_duplicates(lists, duplicates, FROM_COLUMNS)
        ignored.warn(name)
        return cls.of(lists, name)

    @classmethod
    def from_topk(
        cls, ids: ArrayLike, scores: ArrayLike, *, queries: Iterable[object] | None = None,
        documents: Iterable[object] | None = None, name: str = "run", duplicates: DuplicateChoice = "error",
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
        duplicates : "error", "first", "last" or "highest"
            The treatment of a document that appears twice for a query, as with chunks of documents: InputError, or
            which of its scores counts.

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
        one_of("duplicates", duplicates, get_args(DuplicateChoice))
        topk = TopK.of(ids, scores, queries, documents)
        lists = topk.lists(0, len(topk), duplicates)
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
        reading = Reading(duplicates=duplicates, columns=(query, doc, score))
        return run_in(frame_of(frame, name or "run"), name or "", reading, run)

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
        reading = Reading(duplicates=duplicates, columns=(query, doc, score))
        return run_in(arrow_of(table, name or "run"), name or "", reading, run)

    def coarsen(self, precision: str | Coarsening) -> Run:
        """Return the run with coarser scores, as it would be evaluated with ``precision=``.

        Parameters
        ----------
        precision : str or Coarsening
            A precision such as "decimals:2", "bfloat16" or "bands:1.5", or an object that coarsens scores.

        Returns
        -------
        Run
            The documents keep their order, and the run keeps its name.

        Raises
        ------
        InputError
            The precision is unknown; or for levels, the scores of a list are all infinite.

        Examples
        --------
        >>> run = Run.from_dict({"q1": {"d1": 0.31, "d2": 0.27, "d3": 0.12}})
        >>> run.coarsen("decimals:1").to_dict()
        {'q1': {'d1': 0.3, 'd2': 0.3, 'd3': 0.1}}
        """
        scores = coarsened(parse_precision(precision), self.scores, np.asarray(self.offsets))
        return Run.of(replace(self._lists(), values=scores), self.name, self.tag)

    def to_dict(self) -> dict[str | int, dict[str | int, float]]:
        """Return the run as ``{query: {document: score}}``, in the order of the run.

        Returns
        -------
        dict
            Identifiers are int if they were made from integers, otherwise str.

        Examples
        --------
        >>> Run.from_columns(["q1", "q1"], ["d1", "d2"], [2.0, 2.0]).to_dict()
        {'q1': {'d1': 2.0, 'd2': 2.0}}
        """
        return by_query(self.queries, self.offsets, self.documents, self.scores)

    def _columns(self) -> dict[str, Any]:
        queries, sizes = self.queries.to_list(), np.diff(self.offsets).tolist()
        repeated = [query for query, size in zip(queries, sizes, strict=True) for _ in range(size)]
        return {"query": repeated, "doc": self.documents.to_list(), "score": np.asarray(self.scores)}

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the run to a file, whole or not at all; an existing file is replaced.

        Parameters
        ----------
        path : str or os.PathLike
            A name that ends in ".parquet" gives a Parquet file with the columns query, doc and score, which needs
            `tieaware[arrow]`. Other names, such as "bm25.run", give a TREC file, compressed if the name ends in ".gz",
            ".bz2" or ".xz". In a TREC file, the last field is the name of the run, and the documents of a query are
            sorted by score; tied documents keep the order of the run. Scores are written so that the same numbers are
            read back.

        Raises
        ------
        InputError
            The file cannot be written, or its name ends as those of another format, such as ".json"; or, for a TREC
            file, an identifier is empty or contains white space, or a query begins with "#", which marks a comment.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> run = Run.from_dict({"q1": {"d1": 1.5, "d2": 2.5, "d3": 1.5}}, name="bm25")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     run.write(f"{folder}/bm25.run")
        ...     print(pathlib.Path(folder, "bm25.run").read_text(), end="")
        q1 Q0 d2 1 2.5 bm25
        q1 Q0 d1 2 1.5 bm25
        q1 Q0 d3 3 1.5 bm25
        """
        name = path_text("path", path)
        if name.endswith(".parquet"):
            self._write_parquet(name)
            return
        write_run(self._lists(), self.name, name)

    def to_trec(self) -> str:
        """Return the text of the TREC file that `write` writes; errors as for `write`.

        Returns
        -------
        str
            Bytes of identifiers that are not UTF-8 are escaped by "surrogateescape".
        """
        return b"".join(trec_text(self._lists(), self.name)).decode("utf-8", "surrogateescape")

    def whole(self) -> Run:
        """Return this run, which is already in columns."""
        return self

    def _lists(self) -> Lists:
        return Lists(self.queries, np.asarray(self.offsets), self.documents, np.asarray(self.scores))

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
        return Run.of, (self._lists(), self.name, self.tag)


def run_in(frame: Frame, name: str, reading: Reading, column: str | None = None) -> Run:
    """Read a table that contains exactly one run; raise InputError if it contains several.

    `column` is the name of the run column; if it is None, the column is recognised by its usual names. If `name` is "",
    the run is named by the run column, or else by the table.
    """
    check_options(reading.duplicates, reading.score_dtype)
    every = Rows(frame, run_columns(frame, *reading.columns))
    runs = runs_of(every, column) or {"": every}
    if len(runs) > 1:
        few = ", ".join(list(runs)[:3]) + (", …" if len(runs) > 3 else "")
        raise InputError(frame.source_name, f"contains {len(runs)} runs, but only one can be read here: {few}")
    ((found, rows),) = runs.items()
    lists = rows.lists(rows.whole(), exact_scores)
    run, ignored = made_run(lists, name or found or frame.source_name, reading, remedy_for(rows))
    ignored.warn(frame.source_name)
    return run


def remedy_for(rows: Rows) -> str:
    """Return the remedy against duplicate rows of a table."""
    return (FROM_FILE if rows.frame.is_file else FROM_FRAME) + rows.unread()


def made_run(lists: Lists, name: str, reading: Reading, remedy: str, tag: str | None = None) -> tuple[Run, Ignored]:
    """Make a run from the lists of a table or a file; return the run and the duplicates that were ignored.

    If the type of scores is "float32", they are rounded to float32; otherwise they keep their type.
    """
    if reading.score_dtype == "float32":
        lists = replace(lists, values=rounded(lists.values, reading.score_dtype))
    if reading.ids_as_text:
        lists = lists.matching_any()
    lists, ignored = without_duplicates(lists, reading.duplicates, remedy)
    return Run.of(lists, name, tag), ignored
