"""The columns of a table that matter, found by their names; and their rows, cut between queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Integers, Offsets, Place, as_labels, as_scores, check_no_nan, stable_order
from tieaware.errors import InputError
from tieaware.inputs.frames import BadCell, Batch, Column, Frame, Held, joined, of_array, of_identifiers
from tieaware.kernels import _join
from tieaware.kernels._seen import Seen
from tieaware.lists.identifiers import Identifiers, quoted
from tieaware.lists.query_lists import Lists, NotContiguous, grouped

__all__ = [
    "PART",
    "Piece",
    "Rows",
    "exact_scores",
    "judged_columns",
    "run_column",
    "run_columns",
    "runs_of",
    "whole_labels",
]

# What the columns are called by those who publish judgments and runs, and by the evaluators that read them.
QUERIES = ("query_id", "qid", "q_id", "query", "query-id", "user_id", "user")
DOCUMENTS = ("doc_id", "docno", "did", "doc", "corpus-id", "item_id", "item")
SCORES = ("score", "rating", "prediction", "sim")
LABELS = ("relevance", "label", "rel", "score")
RUNS = ("run", "system", "tag")

# Makes scores or labels of numbers: what they are, what messages call them, and where each is.
Convert: TypeAlias = Callable[[NDArray[Any], str, Place], NDArray[Any]]

# How many rows a part of a run has, if its last query does not take more: they and what comes of them stay in a cache.
PART = 1 << 16


def _found(names: Sequence[str], label: str, argument: str, given: str | None, known: Sequence[str]) -> int | None:
    """Return which column is one that is named, or that has one of the known names; None if there is none."""
    listed = f"the columns {', '.join(names)}" if names else "no columns"
    wanted = (given,) if given is not None else known
    found = [i for i, name in enumerate(names) if name in wanted]
    if len(found) > 1:
        which = " and ".join(names[i] for i in found)
        raise unexpected(label, f"one column for {argument}=, named by it if several fit", f"{which} among {listed}")
    if not found and given is not None:
        raise unexpected(label, f"a column {given!r}, as {argument}= says", listed)
    return found[0] if found else None


def _columns(frame: Frame, label: str, wanted: Sequence[tuple[str, str | None, Sequence[str]]]) -> tuple[int, ...]:
    columns = []
    for argument, given, known in wanted:
        column = _found(frame.names, label, argument, given, known)
        if column is None:
            listed = f"the columns {', '.join(frame.names)}" if frame.names else "no columns"
            raise unexpected(label, f"a column for {argument}= ({', '.join(known)}, or one named by it)", listed)
        columns.append(column)
    return tuple(columns)


def run_columns(frame: Frame, label: str, query: str | None, doc: str | None, score: str | None) -> tuple[int, ...]:
    """Return which columns of a run are the queries, the documents and the scores."""
    return _columns(frame, label, [("query", query, QUERIES), ("doc", doc, DOCUMENTS), ("score", score, SCORES)])


def judged_columns(frame: Frame, name: str, query: str | None, doc: str | None, label: str | None) -> tuple[int, ...]:
    """Return which columns of judgments are the queries, the documents and the labels."""
    return _columns(frame, name, [("query", query, QUERIES), ("doc", doc, DOCUMENTS), ("label", label, LABELS)])


def run_column(frame: Frame, label: str, run: str | None = None) -> int | None:
    """Return which column says which run it is; None if there is none."""
    return _found(frame.names, label, "run", run, RUNS)


class Span(NamedTuple):
    """Some rows of a batch."""

    batch: Batch
    start: int
    stop: int

    @property
    def n(self) -> int:
        return self.stop - self.start

    def row(self, i: int) -> int:
        """Return which row of the table a row of the batch was."""
        return self.batch.row(i)


class Piece(NamedTuple):
    """Rows of whole queries."""

    spans: Sequence[Span]
    # The query of each segment, a sequence of rows of one query; where in the piece each begins, and the last ends.
    queries: Identifiers
    starts: Offsets


@dataclass(frozen=True)
class Rows:
    """The rows of a table: its queries, its documents and their values.

    Parameters
    ----------
    frame : Frame
    columns : (int, int, int)
        Which columns these are.
    label : str
        What messages call the table.
    """

    frame: Frame
    columns: tuple[int, ...]
    label: str

    def where(self, column: int, row: int | None = None) -> str:
        """Say where one of the columns is, or a value."""
        name = f"{self.label}: {self.frame.names[self.columns[column]]}"
        return name if row is None else f"{name}[{row}]"

    def pieces(self, least: int) -> Iterator[Piece]:
        """Cut the rows between queries, each piece with at least so many rows but the last.

        Raises
        ------
        NotContiguous
            A query of a piece that was handed over comes again: read the whole. InputError, if that cannot be.
        """
        seen = Seen()
        for piece in self._cut(least):
            _, firsts = _join.number(piece.queries.data, piece.queries.offsets)
            queries = piece.queries.take(firsts)
            known = seen.known(queries.data, queries.offsets)
            if known >= 0:
                if self.frame.again:
                    raise NotContiguous
                where = self.place(piece, 0)(int(piece.starts[firsts[known]]))
                wanted = "the rows of a query together, in a stream that is read but once (sort it, or give a table)"
                raise unexpected(where, wanted, f"{quoted(queries[known])} again after another query")
            seen.add(queries.data, queries.offsets)
            yield piece

    def whole(self) -> Piece:
        """Return all rows."""
        growing = _Growing()
        for batch in self.frame.batches(self.columns):
            if batch.stop > batch.start:
                self.check(batch)
                span = Span(batch, batch.start, batch.stop)
                growing.append(span, *self._segments(span))
        return growing.piece()

    def blocks(self, least: int) -> Iterator[Piece]:
        """Yield the rows, so many at a time, wherever their queries begin and end."""
        growing = _Growing()
        for batch in self.frame.batches(self.columns):
            if batch.stop > batch.start:
                self.check(batch)
            for start in range(batch.start, batch.stop, least):
                span = Span(batch, start, min(batch.stop, start + least))
                growing.append(span, *self._segments(span))
                if growing.n >= least:
                    yield growing.piece()
                    growing = _Growing()
        if growing.n:
            yield growing.piece()

    def _cut(self, least: int) -> Iterator[Piece]:
        growing = _Growing()
        for batch in self.frame.batches(self.columns):
            if batch.start == batch.stop:
                # Of nothing, the types say nothing.
                continue
            self.check(batch)
            start = batch.start
            while start < batch.stop:
                stop = min(batch.stop, start + max(least - growing.n, least // 4, 1))
                # The last query of what is read may go on.
                starts, queries = self._segments(Span(batch, start, stop))
                last = int(starts[-1])
                if growing.n + stop - start < least:
                    growing.append(Span(batch, start, stop), starts, queries)
                    start = stop
                elif last > start:
                    growing.append(Span(batch, start, last), starts[:-1], queries)
                    yield growing.piece()
                    growing, start = _Growing(), last
                elif growing.n and growing.last() != queries[0]:
                    yield growing.piece()
                    growing = _Growing()
                else:
                    growing.append(Span(batch, start, stop), starts, queries)
                    start = stop
        if growing.n:
            yield growing.piece()

    def _segments(self, span: Span) -> tuple[Integers, Identifiers]:
        """Return where the segments of some rows begin, and their queries."""
        column = span.batch.columns[0]
        try:
            starts = column.segments(span.start, span.stop)
            return starts, column.identifiers_at(starts)
        except BadCell as bad:
            raise self._no_identifier(0, span, bad) from None

    def check(self, batch: Batch) -> None:
        """Raise InputError unless the columns can hold what is wanted of them."""
        query, doc, value = batch.columns
        for i, column in enumerate((query, doc)):
            if column.holds not in ("text", "integer", "object", "null"):
                raise unexpected(self.where(i), "a column of text, bytes or integers", f"one of {column.type}")
        if value.holds not in ("number", "integer", "object", "null"):
            raise unexpected(self.where(2), "a column of numbers", f"one of {value.type}")

    def ordered(self, batch: Batch, order: Integers) -> Batch:
        """Return a copy of a batch with its rows in another order."""
        query, doc, value = batch.columns
        spans = [Span(batch, 0, len(value))]
        columns: list[Column] = []
        for i, column in enumerate((query, doc)):
            try:
                columns.append(of_identifiers(column.identifiers_at(order)))
            except BadCell as bad:
                raise self._no_identifier(i, spans[0], bad) from None
        columns.append(of_array(self._values(spans, lambda numbers, where, place: numbers)[order]))
        rows = batch.first + order if batch.rows is None else batch.rows[order]
        return Batch(columns, 0, len(order), rows=rows)

    def _no_identifier(self, column: int, span: Span, bad: BadCell) -> InputError:
        row, found = bad.args
        return unexpected(self.where(column, span.row(row)), "text, bytes or an integer", found)

    def lists(self, piece: Piece, convert: Convert) -> Lists:
        """Return the lists of a piece, with values as they are converted."""
        return grouped(piece.queries, piece.starts, self._documents(piece.spans), self._values(piece.spans, convert))

    def numbered_lists(self, piece: Piece, convert: Convert) -> tuple[Lists, Integers]:
        """Return the lists of a piece, and for each of their rows which row of the table it was."""
        lists = self.lists(piece, convert)
        numbers = np.concatenate([
            span.batch.first + np.arange(span.start, span.stop) if span.batch.rows is None
            else span.batch.rows[span.start : span.stop]
            for span in piece.spans
        ])  # fmt: skip
        return lists, numbers if lists.sources is None else numbers[lists.sources]

    def _documents(self, spans: Sequence[Span]) -> Identifiers:
        found = []
        for span in spans:
            try:
                found.append(span.batch.columns[1].identifiers(span.start, span.stop))
            except BadCell as bad:
                raise self._no_identifier(1, span, bad) from None
        return joined(found)

    def _values(self, spans: Sequence[Span], convert: Convert) -> NDArray[Any]:
        found = []
        for span in spans:

            def place(i: int, span: Span = span) -> str:
                return self.where(2, span.row(span.start + i))

            try:
                numbers = span.batch.columns[2].numbers(span.start, span.stop)
            except BadCell as bad:
                raise unexpected(self.where(2, span.row(bad.args[0])), "a number", bad.args[1]) from None
            except TypeError as error:
                raise unexpected(self.where(2), "a column of numbers", f"one of {error}") from None
            found.append(convert(numbers, self.where(2), place))
        return np.concatenate(found) if len(found) > 1 else found[0] if found else convert(np.zeros(0), "", str)

    def place(self, piece: Piece, column: int = 1) -> Place:
        """Return what says where a row of a piece was: in which row of a column, that of the documents."""
        ends = np.cumsum([span.n for span in piece.spans])

        def place(row: int) -> str:
            i = int(np.searchsorted(ends, row, side="right"))
            span = piece.spans[i]
            return self.where(column, span.row(span.stop - int(ends[i]) + row))

        return place


class _Growing:
    """A piece to which rows are appended."""

    def __init__(self) -> None:
        self.n = 0
        self._spans: list[Span] = []
        self._starts: list[Integers] = []
        self._queries: list[Identifiers] = []

    def append(self, span: Span, starts: Integers, queries: Identifiers) -> None:
        """Append rows, and where in their batch which queries begin; queries without a beginning do not count."""
        self._spans.append(span)
        self._starts.append(starts + (self.n - span.start))
        self._queries.append(queries if len(queries) == len(starts) else queries.take(np.arange(len(starts))))
        self.n += span.n

    def last(self) -> bytes:
        """Return the query of the last row."""
        return self._queries[-1][-1]

    def piece(self) -> Piece:
        starts = np.concatenate([*self._starts, np.array([self.n])]).astype(np.int64)
        return Piece(self._spans, joined(self._queries), starts)


def exact_scores(values: NDArray[Any], where: str, place: Place) -> NDArray[Any]:
    """Return scores as a run has them."""
    scores = as_scores(values, where, place)
    check_no_nan(scores, where, place)
    return scores


def whole_labels(values: NDArray[Any], where: str, place: Place) -> NDArray[Any]:
    """Return labels as judgments have them."""
    return as_labels(values, where, place)


# ---- several runs in one table -------------------------------------------------------------------


def runs_of(rows: Rows, run: str | None) -> dict[str, Rows]:
    """Return the runs of a table, by the names that a column gives them; without such a column, the rows under "".

    Where there is such a column, and no row, there is no run.

    A table that has this column and can be read but once is held in memory, and so is one of several runs.
    """
    frame, label = rows.frame, rows.label
    column = run_column(frame, label, run)
    if column is None:
        return {"": rows}
    where = f"{label}: {frame.names[column]}"
    wanted = [column, *rows.columns]
    if not frame.again:
        frame, column = Held(tuple(frame.names[i] for i in wanted), list(frame.batches(wanted))), 0
        rows, wanted = Rows(frame, (1, 2, 3), label), [0, 1, 2, 3]
    segments = [_segments_of_runs(batch, where) for batch in frame.batches([column])]
    named = joined(names for _, names in segments)
    numbers, firsts = _join.number(named.data, named.offsets)
    names = [str(name) for name in named.take(firsts).to_list()]
    if len(names) < 2:
        return dict.fromkeys(names, rows)
    parts: list[list[Batch]] = [[] for _ in names]
    row = 0
    for batch, (starts, queries) in zip(frame.batches(wanted), segments, strict=True):
        for i, part in _by_run(rows, batch, starts, numbers[row : row + len(queries)]):
            parts[i].append(part)
        row += len(queries)
    known = tuple(rows.frame.names[i] for i in rows.columns)
    return {name: Rows(Held(known, held), (0, 1, 2), label) for name, held in zip(names, parts, strict=True)}


def _segments_of_runs(batch: Batch, where: str) -> tuple[Integers, Identifiers]:
    """Return where the segments of runs begin, and their names."""
    (column,) = batch.columns
    if column.holds not in ("text", "integer", "object", "null"):
        raise unexpected(where, "a column of text, bytes or integers", f"one of {column.type}")
    try:
        starts = column.segments(batch.start, batch.stop)
        return starts, column.identifiers_at(starts)
    except BadCell as bad:
        raise unexpected(f"{where}[{batch.row(bad.args[0])}]", "the name of a run", bad.args[1]) from None


def _by_run(rows: Rows, batch: Batch, starts: Integers, numbers: Integers) -> Iterator[tuple[int, Batch]]:
    """Yield which run it is, and its rows of a batch; of runs that take turns, they are copied."""
    batch = batch._replace(columns=batch.columns[1:])
    rows.check(batch)
    sizes = np.diff(np.append(starts, batch.stop))
    if (np.diff(numbers) <= 0).any():
        batch = rows.ordered(batch, stable_order(np.repeat(numbers, sizes)) + batch.start)
    start = batch.start
    for run in np.unique(numbers).tolist():
        stop = start + int(sizes[numbers == run].sum())
        yield run, batch._replace(start=start, stop=stop)
        start = stop
