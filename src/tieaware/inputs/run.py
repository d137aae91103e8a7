"""A run: the documents that a system retrieved for each query, with its scores."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tieaware.errors import InputError
from tieaware.inputs.identifiers import Identifiers, frozen, shortened, shown
from tieaware.inputs.lists import Lists, Place, flattened, from_columns, grouped, plain_array, sequence
from tieaware.inputs.qrels import check_columns

__all__ = ["Run"]

Scores = NDArray[np.float64] | NDArray[np.float32]


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
    offsets: NDArray[np.int64]
    documents: Identifiers
    scores: Scores
    name: str
    tag: str | None

    def __init__(
        self,
        queries: Identifiers,
        offsets: NDArray[np.int64],
        documents: Identifiers,
        scores: Scores,
        name: str = "run",
    ) -> None:
        offsets = np.array(offsets, np.int64, order="C")
        scores = numbers(scores, "scores", lambda row: f"scores[{row}]")
        check_columns(queries, offsets, documents, scores, "scores")
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
        queries, starts, documents, values, place = flattened(run, "run")
        lists = grouped(queries, starts, documents, numbers(values, "run", place))
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
            The query and the document of each row.
        score : sequence or array of real numbers
            float64 and float32 stay what they are, others become float64.
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
        scores = numbers(score, "score", lambda row: f"score[{row}]")
        lists = from_columns(query, doc, scores, "score")
        lists, dropped = without_repeats(lists, lambda row: f"doc[{row}]", duplicates)
        warn_of(dropped, name)
        return cls.of(lists, name)

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


def numbers(values: ArrayLike | list[Any], argument: str, place: Place) -> Scores:
    """Return scores as float64 or float32, or raise InputError at the first that is no number, or NaN."""
    scores: Scores
    values = sequence(values, argument)
    if isinstance(values, np.ndarray) and values.dtype.kind in "iubf":
        dtype = np.float32 if values.dtype.kind == "f" and values.dtype.itemsize == 4 else np.float64
        scores = cast(Scores, np.array(values, dtype, order="C"))
    else:
        listed = list(values)
        array = plain_array(listed)
        if array is not None and array.dtype.kind in "iubf":
            scores = array.astype(np.float64)
        else:
            try:
                scores = np.fromiter((number(value) for value in listed), np.float64, len(listed))
            except (TypeError, ValueError, OverflowError):
                raise not_a_number(listed, place) from None
    if scores.ndim != 1:
        raise InputError(f"{argument}: one dimension is expected, found the shape {scores.shape}")
    missing = np.isnan(scores)
    if missing.any():
        raise InputError(f"{place(int(missing.argmax()))}: a score is expected, found NaN")
    return scores


def number(value: Any) -> float:
    """Return a score as a float; text and complex numbers are none, although float() may read them."""
    if isinstance(value, str | bytes | bytearray | complex | np.complexfloating):
        raise TypeError
    return float(value)


def not_a_number(values: list[Any], place: Place) -> InputError:
    """Return the error that names the first value that is no number."""
    for row, value in enumerate(values):
        try:
            number(value)
        except (TypeError, ValueError, OverflowError):
            return InputError(f"{place(row)}: a number is expected as the score, found {shortened(value)}")
    raise AssertionError("every value is a number")


def check_dtype(score_dtype: str) -> None:
    """Raise InputError unless scores can be rounded to this type."""
    if score_dtype not in ("float64", "float32"):
        raise InputError(f'score_dtype: "float64" or "float32" is expected, found {shortened(score_dtype)}')


def rounded(scores: Scores, score_dtype: str) -> Scores:
    """Return scores rounded to a type; as a conversion in C does it, what is too large becomes infinite."""
    check_dtype(score_dtype)
    with np.errstate(over="ignore", under="ignore"):
        if score_dtype == "float32":
            return scores.astype(np.float32, copy=False)
        return scores.astype(np.float64, copy=False)


def check_duplicates(duplicates: str) -> None:
    """Raise InputError unless this is what a reader can do with duplicates."""
    if duplicates not in ("error", "first"):
        raise InputError(f'duplicates: "error" or "first" is expected, found {shortened(duplicates)}')


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
    description = (
        f"{place(lists.source(row))}: document {shown(lists.documents[row])} appears again for query "
        f"{lists.query_of(row)}, first at {(again or place)(lists.source(first))}"
    )
    if duplicates == "error":
        raise InputError(f'{description}; it is expected once, or duplicates="first" keeps the first')
    return lists.without(found[:, 0]), Dropped(len(found), description)


def warn_of(dropped: Dropped, name: str) -> None:
    """Warn, once, of the rows that were dropped."""
    if dropped.n:
        rows = "row is" if dropped.n == 1 else "rows are"
        warnings.warn(
            f"{name}: {dropped.n} duplicate {rows} ignored; {dropped.first}", UserWarning, stacklevel=3
        )
