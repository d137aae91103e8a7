"""A run: the documents that a system retrieved for each query, with its scores."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tieaware.checks.arguments import one_of, unexpected
from tieaware.checks.arrays import Offsets, Place, Scores, as_numpy, as_scores, check_no_nan
from tieaware.errors import printable
from tieaware.inputs.columns import Piece, Rows, exact_scores, run_columns, runs_of
from tieaware.inputs.frames import Frame, arrow_of, frame_of
from tieaware.inputs.qrels import checked_columns
from tieaware.lists.identifiers import Identifiers, frozen, quoted
from tieaware.lists.query_lists import Lists, flattened, from_columns, grouped

__all__ = ["Run"]


@dataclass(frozen=True, slots=True)
class Dropped:
    """How many rows were dropped because they repeat another, and which was the first of them."""

    n: int = 0
    first: str = ""

    def __add__(self, other: Dropped) -> Dropped:
        return Dropped(self.n + other.n, self.first or other.first)


class Run:
    """A run as immutable columns: `Run.from_dict`, `Run.from_columns` or `read_run` make one.

    Parameters
    ----------
    queries : Identifiers
        The queries, each once, in the order of their first appearance.
    offsets : int64[n_queries + 1]
        The rows of query ``q`` are ``offsets[q]`` to ``offsets[q + 1]``, in the order of the input.
    documents : Identifiers
        The document of each row, each once per query.
    scores : float64[n_rows] or float32[n_rows]
        Its score, any but NaN.
    name : str
        What results and error messages call it.

    Attributes
    ----------
    tag : str or None
        The tag on the first line of the file.

    Raises
    ------
    InputError
        The columns do not fit together, a score is no number or is NaN, or a document appears twice for a query.

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
        lists, _ = without_repeats(
            Lists(queries, offsets, documents, scores), lambda row: f"documents[{row}]", "error"
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
    def of(cls, lists: Lists, name: str, tag: str | None = None) -> Run:
        """Wrap lists that are known to be good.

        Parameters
        ----------
        lists : Lists
            The columns, which are not checked again; scores are the values.
        name : str
            What results and error messages call it.
        tag : str, optional
            The tag on the first line of the file.

        Returns
        -------
        Run
        """
        self = cls.__new__(cls)
        self._set(lists, name, tag)
        return self

    @classmethod
    def from_dict(
        cls, run: Mapping[Any, Mapping[Any, float]], *, name: str = "run", duplicates: str = "error"
    ) -> Run:
        """Make a run of ``{query: {document: score}}``.

        Parameters
        ----------
        run : mapping
            Queries and documents are str, bytes or int; 1 and "1" are the same.
        name : str
            What results and error messages call it.
        duplicates : "error" or "first"
            What a document that appears twice for a query is: an error, or ignored but for a warning.

        Returns
        -------
        Run
            Queries and documents in the order of the mappings; scores as float64.

        Raises
        ------
        InputError
            It is not of that form, a key is neither text, bytes nor an integer, a score is no number or is
            NaN, or two keys are the same document (1 and "1").

        Examples
        --------
        >>> Run.from_dict({"q1": {"d1": 9.5, "d2": 9.5}}, name="bm25")
        Run('bm25', 1 queries, 2 documents)
        """
        check_duplicates(duplicates)
        queries, offsets, documents, values, place = flattened(run, "run")
        lists = grouped(queries, offsets, documents, checked_scores(values, "run", place))
        lists, dropped = without_repeats(lists, place, duplicates)
        warn_of(dropped, name)
        return cls.of(lists, name)

    @classmethod
    def from_columns(
        cls,
        query: Iterable[object],
        doc: Iterable[object],
        score: ArrayLike,
        *,
        name: str = "run",
        duplicates: str = "error",
    ) -> Run:
        """Make a run of three columns of equal lengths; the rows of a query need not be together.

        Parameters
        ----------
        query, doc : sequence or array of str, bytes or int
            The query and the document of each row; integers, if those of the judgments are.
        score : sequence or array of real numbers
            Also a tensor, on any device. float64 and float32 stay what they are, others become one of these.
        name : str
            What results and error messages call it.
        duplicates : "error" or "first"
            What a document that appears twice for a query is: an error, or ignored but for a warning.

        Returns
        -------
        Run
            Queries in the order of their first appearance, and the documents of each in that of the rows.

        Raises
        ------
        InputError
            Lengths disagree, a score is no number or is NaN, or a document appears twice for a query.

        Examples
        --------
        >>> run = Run.from_columns(["q1", "q2", "q1"], ["d1", "d1", "d2"], [2.0, 1.0, 2.0])
        >>> run.documents.to_list(), run.offsets.tolist(), run.scores.tolist()
        (['d1', 'd2', 'd1'], [0, 2, 3], [2.0, 2.0, 1.0])
        """
        check_duplicates(duplicates)
        scores = checked_scores(score, "score")
        lists = from_columns(query, doc, scores, "score")
        lists, dropped = without_repeats(lists, lambda row: f"doc[{row}]", duplicates)
        warn_of(dropped, name)
        return cls.of(lists, name)

    @classmethod
    def from_frame(
        cls, frame: Any, *, query: str | None = None, doc: str | None = None, score: str | None = None,
        run: str | None = None, name: str | None = None, duplicates: str = "error",
    ) -> Run:  # fmt: skip
        """Make a run of a data frame, or of anything that `from_arrow` takes.

        Parameters
        ----------
        frame : pandas.DataFrame, polars.DataFrame or LazyFrame, or table with the Arrow PyCapsule interface
            A retrieved document in each row; the rows of a query need not be together.
        query, doc, score : str, optional
            The names of the columns. By default those that are called query_id, qid, q_id, query, query-id, user_id or
            user; doc_id, docno, did, doc, corpus-id, item_id or item; score, rating, prediction or sim.
        run : str, optional
            The name of the column that says which run it is, by default the one called run, system or tag, if there is
            one. It must say the same in all rows: `evaluate` takes frames of several runs.
        name : str, optional
            What results and error messages call it; by default what that column says, or "run".
        duplicates : "error" or "first"
            What a document that appears twice for a query is: an error, or ignored but for a warning.

        Returns
        -------
        Run
            Queries in the order of their first appearance, and the documents of each in that of the rows. Scores are
            float64; or float32, if the column is that, or float16 or integers of up to 16 bits.

        Raises
        ------
        InputError
            A column is missing or two fit, a value is missing, a score is no number or is NaN, a document appears
            twice for a query, or there are several runs.

        Examples
        --------
        >>> import pandas
        >>> frame = pandas.DataFrame({"user_id": [7, 7], "item_id": [3, 5], "prediction": [0.5, 0.5]})
        >>> Run.from_frame(frame).queries.to_list()
        [7]
        """
        label = name or "run"
        return run_in(frame_of(frame, label), label, name, duplicates, columns=(query, doc, score), column=run)

    @classmethod
    def from_arrow(
        cls, table: Any, *, query: str | None = None, doc: str | None = None, score: str | None = None,
        run: str | None = None, name: str | None = None, duplicates: str = "error",
    ) -> Run:  # fmt: skip
        """Make a run of a table with the Arrow PyCapsule interface, as of pyarrow or DuckDB.

        Parameters
        ----------
        table : object with __arrow_c_stream__ or __arrow_c_array__
            A retrieved document in each row; the rows of a query need not be together.
        query, doc, score, run : str, optional
            The names of the columns, as for `from_frame`.
        name : str, optional
            What results and error messages call it; by default what the column of runs says, or "run".
        duplicates : "error" or "first"
            What a document that appears twice for a query is: an error, or ignored but for a warning.

        Returns
        -------
        Run
            As of `from_frame`.

        Raises
        ------
        InputError
            As of `from_frame`; or it is no such table, or cannot be read.

        Examples
        --------
        >>> import pyarrow
        >>> table = pyarrow.table({"qid": ["q1"], "docno": ["d1"], "score": [0.5], "run": ["bm25"]})
        >>> Run.from_arrow(table)
        Run('bm25', 1 queries, 1 documents)
        """
        label = name or "run"
        return run_in(arrow_of(table, label), label, name, duplicates, columns=(query, doc, score), column=run)

    def parts(self) -> Iterator[Run]:
        """Yield the run, whole, as every form of a run can be had in parts.

        Yields
        ------
        Run

        Examples
        --------
        >>> [part.name for part in Run.from_dict({"q1": {"d1": 9.5, "d2": 9.5}}).parts()]
        ['run']
        """
        yield self

    def whole(self) -> Run:
        """Return the run itself, as every form of a run can be had as columns.

        Returns
        -------
        Run

        Examples
        --------
        >>> Run.from_dict({"q1": {"d1": 9.5, "d2": 9.5}}).whole().scores
        array([9.5, 9.5])
        """
        return self

    def __len__(self) -> int:
        return len(self.queries)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Run is immutable: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Run is immutable: {name} cannot be deleted")

    def __repr__(self) -> str:
        return f"Run({self.name!r}, {len(self)} queries, {len(self.scores)} documents)"

    def __reduce__(self) -> tuple[Any, ...]:
        lists = Lists(self.queries, np.asarray(self.offsets), self.documents, np.asarray(self.scores))
        return Run.of, (lists, self.name, self.tag)


def run_in(
    frame: Frame, label: str, name: str | None, duplicates: str, score_dtype: str = "float64", *,
    columns: tuple[str | None, str | None, str | None] = (None, None, None), column: str | None = None,
) -> Run:  # fmt: skip
    """Make a run of a table that holds one, of columns that are named or found."""
    check_duplicates(duplicates)
    every = Rows(frame, run_columns(frame, label, *columns), label)
    runs = runs_of(every, column) or {"": every}
    if len(runs) > 1:
        few = ", ".join(list(runs)[:3]) + (", …" if len(runs) > 3 else "")
        raise unexpected(label, "one run (evaluate takes several)", f"{len(runs)}: {few}")
    ((found, rows),) = runs.items()
    run, dropped = run_of(rows, rows.whole(), name or found or label, duplicates, score_dtype)
    warn_of(dropped, label)
    return run


def run_of(
    rows: Rows, piece: Piece, name: str, duplicates: str, score_dtype: str = "float64"
) -> tuple[Run, Dropped]:
    """Make a run of some rows of a table."""
    return made_run(rows.lists(piece, exact_scores), rows.place(piece), name, duplicates, score_dtype)


def made_run(lists: Lists, place: Place, name: str, duplicates: str, score_dtype: str) -> tuple[Run, Dropped]:
    """Make a run of lists, whose scores stay what they are unless they are to be float32."""
    if score_dtype == "float32":
        lists = replace(lists, values=rounded(lists.values, score_dtype))
    lists, dropped = without_repeats(lists, place, duplicates)
    return Run.of(lists, name), dropped


def checked_scores(values: Any, where: str, place: Place | None = None) -> Scores:
    """Return a copy of flat scores, float32 if they are that and else float64; raise InputError at the first NaN."""
    values = as_numpy(values, where, place)
    scores = as_scores(values, where, place, flat=True)
    check_no_nan(scores, where, place)
    is_single = isinstance(values, np.ndarray) and values.dtype.kind == "f" and values.dtype.itemsize == 4
    return scores.astype(np.float32) if is_single else scores.astype(np.float64)


def check_dtype(score_dtype: str) -> None:
    """Raise InputError unless scores can be rounded to this type."""
    one_of("score_dtype", score_dtype, ("float64", "float32"))


def rounded(scores: Scores, score_dtype: str) -> Scores:
    """Return scores rounded to a type; as a conversion in C does it, what is too large becomes infinite."""
    check_dtype(score_dtype)
    with np.errstate(over="ignore", under="ignore"):
        if score_dtype == "float32":
            return scores.astype(np.float32, copy=False)
        return scores.astype(np.float64, copy=False)


def check_duplicates(duplicates: str) -> None:
    """Raise InputError unless this is what a reader can do with duplicates."""
    one_of("duplicates", duplicates, ("error", "first"))


def without_repeats(
    lists: Lists, place: Place, duplicates: str, again: Place | None = None
) -> tuple[Lists, Dropped]:
    """Drop what repeats a document of the same query; raise InputError unless that is wanted.

    Parameters
    ----------
    place : callable
        Says where a row of the input is.
    again : callable
        The same for the earlier row that the message also names.
    """
    found = lists.duplicates(one=duplicates == "error")
    if len(found) == 0:
        return lists, Dropped()
    row, first = found[0].tolist()
    here, there = place(lists.source(row)), (again or place)(lists.source(first))
    document = f"document {quoted(lists.documents[row])} of query {lists.query_of(row)}"
    if duplicates == "error":
        raise unexpected(here, f'{document} once, or duplicates="first"', f"it again, first at {there}")
    return lists.without(found[:, 0]), Dropped(len(found), f"{here}: {document} again, first at {there}")


def warn_of(dropped: Dropped, name: str) -> None:
    """Warn, once, of the rows that were dropped."""
    if dropped.n:
        rows = "row is" if dropped.n == 1 else "rows are"
        warnings.warn(
            f"{printable(name)}: {dropped.n} duplicate {rows} ignored; {dropped.first}", UserWarning, stacklevel=3
        )
