"""Division of a table into runs, and conversion of its rows to one list per query, in chunks of whole queries."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Integers, Offsets, Place, stable_order
from tieaware.errors import InputError
from tieaware.inputs.tables.column_names import run_column, unread_columns
from tieaware.inputs.tables.frames import (
    Batch,
    Batches,
    Cells,
    Frame,
    FrameInMemory,
    described,
    joined,
    of_array,
    of_identifiers,
)
from tieaware.kernels import _identifiers
from tieaware.kernels._buffers import BadCell
from tieaware.kernels._identifiers import Seen
from tieaware.lists.identifiers import Identifiers, quoted
from tieaware.lists.query_lists import Lists, NotContiguous, grouped

# A function that converts an array of numbers to scores or labels. Its second argument is the name of the array in
# messages. Its third argument is a function that describes the place of the number with a given index for messages.
Convert: TypeAlias = Callable[[NDArray[Any], str, Place], NDArray[Any]]

# Each run of a file is read by itself if its rows are read at most this many times on average. Otherwise, all runs are
# held in memory.
_MOST_READINGS = 2
# The approximate number of rows in a chunk, unless a single query has more. The rows of a typical chunk and their
# results fit in a cache of the processor.
CHUNK_ROWS = 1 << 16


class BatchRange(NamedTuple):
    """A range of rows of a batch."""

    batch: Batch
    start: int
    stop: int

    @property
    def n(self) -> int:
        """The number of rows in the range."""
        return self.stop - self.start


class RowChunk(NamedTuple):
    """Consecutive rows of a table.

    Parameters
    ----------
    ranges : sequence of BatchRange
    queries : Identifiers
        The query of each section. A section is a sequence of consecutive rows of one query.
    starts : int64[n_sections + 1]
        The first row of each section, counted from the beginning of the chunk; at the end, the number of rows.
    """

    ranges: Sequence[BatchRange]
    queries: Identifiers
    starts: Offsets

    def divided(self, section: int) -> tuple[RowChunk, RowChunk]:
        """Divide the chunk before a section; a part may have no rows."""
        row = int(self.starts[section])
        before, after = [], []
        for batch, start, stop in self.ranges:
            cut = min(start + row, stop)
            if start < cut:
                before.append(BatchRange(batch, start, cut))
            if cut < stop:
                after.append(BatchRange(batch, cut, stop))
            row -= cut - start
        at = np.arange(len(self.queries))
        return (
            RowChunk(before, self.queries.take(at[:section]), self.starts[: section + 1]),
            RowChunk(after, self.queries.take(at[section:]), self.starts[section:] - self.starts[section]),
        )


@dataclass(frozen=True)
class Rows:
    """A table that is read only in its query, document and value columns. The values are scores or labels.

    Parameters
    ----------
    frame : Frame
    columns : tuple of int
        The indices of the query, document and value columns in the table, and possibly that of the subtopics.
    run_column : int or None
        The index of the column with the name of the run; None if the table has no such column.
    nulls_as_nan : bool
        Whether missing values become NaN; otherwise they are an error.
    """

    frame: Frame
    columns: tuple[int, ...]
    run_column: int | None = None
    nulls_as_nan: bool = False

    def where(self, column: int, row: int | None = None) -> str:
        """Describe a column (0: query, 1: document, 2: value), or a row of the column, for a message."""
        return self.frame.where(self.frame.names[self.columns[column]], row)

    def unread(self) -> str:
        """Return the end of an error about duplicate rows, which names columns that may tell runs apart."""
        return unread_columns(self.frame, self.columns) if self.run_column is None else ""

    def chunks(self, least: int) -> Generator[RowChunk, None, None]:
        """Yield chunks of whole queries. A chunk has about `least` rows, or more if a single query has more.

        If a query of an earlier chunk reappears, NotContiguous is raised, so that the caller groups the rows; and
        InputError if the table cannot be read again.
        """
        seen = Seen()
        for chunk in self._cut(least):
            _, firsts = _identifiers.number(chunk.queries.data, chunk.queries.offsets)
            queries = chunk.queries.take(firsts)
            known = seen.known(queries.data, queries.offsets)
            if known >= 0:
                if self.frame.rereadable:
                    raise NotContiguous
                where = self._place(chunk, 0)(int(chunk.starts[firsts[known]]))
                problem = f"query {quoted(queries[known])} reappears after another query in a stream"
                raise InputError(where, f"{problem} that can be read only once: sort it by query, or pass a table")
            seen.add(queries.data, queries.offsets)
            yield chunk

    def chunks_within(self, least: int) -> Iterator[tuple[RowChunk, bool]]:
        """Yield the chunks of a piece of a table, and whether the queries of each are certainly whole.

        The rows of the first and of the last query are chunks of their own, because these queries may continue in other
        pieces. Any other query may reappear.
        """
        held: RowChunk | None = None
        for chunk in self._cut(least):
            if held is None:
                first, chunk = chunk.divided(_n_equal(chunk.queries))
                yield first, False
            elif held.ranges:
                yield held, True
            held = chunk
        if held is not None and held.ranges:
            n = len(held.queries)
            held, last = held.divided(n - _n_equal(held.queries.take(np.arange(n)[::-1])))
            if held.ranges:
                yield held, True
            yield last, False

    def whole(self) -> RowChunk:
        """Return all rows as one chunk."""
        return next(self.chunks_of_any_rows(sys.maxsize), None) or _GrowingChunk().chunk()

    def chunks_of_any_rows(self, least: int) -> Iterator[RowChunk]:
        """Yield chunks that may begin and end within a query. Every chunk except the last has at least `least` rows."""
        growing = _GrowingChunk()
        for batch in self.frame.batches(self.columns):
            if batch.stop > batch.start:
                self.check(batch)
            for start in range(batch.start, batch.stop, least):
                rows = BatchRange(batch, start, min(batch.stop, start + least))
                growing.append(rows, *self._sections(rows))
                if growing.n >= least:
                    yield growing.chunk()
                    growing = _GrowingChunk()
        if growing.n:
            yield growing.chunk()

    def _cut(self, least: int) -> Iterator[RowChunk]:
        """Yield chunks that end where the query changes. A query of an earlier chunk may reappear in a later chunk."""
        growing = _GrowingChunk()
        for batch in self.frame.batches(self.columns):
            if batch.start == batch.stop:
                # An empty batch is skipped because the types of its columns may be wrong.
                continue
            self.check(batch)
            start = batch.start
            while start < batch.stop:
                stop = min(batch.stop, start + max(least - growing.n, least // 4, 1))
                # The last query of these rows may continue after them, so a chunk ends before its last section.
                starts, queries = self._sections(BatchRange(batch, start, stop))
                last = int(starts[-1])
                if growing.n + stop - start < least:
                    growing.append(BatchRange(batch, start, stop), starts, queries)
                    start = stop
                elif last > start:
                    growing.append(BatchRange(batch, start, last), starts[:-1], queries)
                    yield growing.chunk()
                    growing, start = _GrowingChunk(), last
                elif growing.n and growing.last() != queries[0]:
                    yield growing.chunk()
                    growing = _GrowingChunk()
                else:
                    growing.append(BatchRange(batch, start, stop), starts, queries)
                    start = stop
        if growing.n:
            yield growing.chunk()

    def _sections(self, rows: BatchRange) -> tuple[Integers, Identifiers]:
        """Return the first row and the query of each section, which is a sequence of consecutive rows of one query."""
        column = rows.batch.columns[0]
        try:
            starts = column.sections(rows.start, rows.stop)
            return starts, column.identifiers_at(starts)
        except BadCell as bad:
            raise self._not_identifier(0, rows, bad) from None

    def check(self, batch: Batch) -> None:
        """Raise InputError if the type of a column cannot hold queries, documents or numbers."""
        value = batch.columns[2]
        for i, column in enumerate(batch.columns):
            if i != 2 and column.holds not in ("text", "integer", "object", "null"):
                found = described(column.type, "bigint or varchar")
                raise unexpected(self.where(i), "a column of text, bytes or integers", found)
        if value.holds not in ("number", "integer", "object", "null"):
            found = "text" if value.holds == "text" else described(value.type, "double")
            raise unexpected(self.where(2), "a column of numbers", found)

    def ordered(self, batch: Batch, order: Integers) -> Batch:
        """Return a copy of a batch that contains the rows `order`, in this order."""
        query, doc, value = batch.columns[:3]
        rows = BatchRange(batch, 0, len(value))
        columns: list[Cells] = []
        for i, column in enumerate((query, doc)):
            try:
                columns.append(of_identifiers(column.identifiers_at(order)))
            except BadCell as bad:
                raise self._not_identifier(i, rows, bad) from None
        columns.append(of_array(self._values([rows], lambda numbers, where, place: numbers)[order]))
        numbers = batch.first + order if batch.rows is None else batch.rows[order]
        return Batch(columns, 0, len(order), rows=numbers)

    def _not_identifier(self, column: int, rows: BatchRange, bad: BadCell) -> InputError:
        row, found = bad.args
        return unexpected(self.where(column, rows.batch.row(row)), "text, bytes or an integer", found)

    def lists(self, chunk: RowChunk, convert: Convert) -> Lists:
        """Group the rows of a chunk by query, and convert their values to scores or labels."""
        documents, values = self._documents(chunk.ranges), self._values(chunk.ranges, convert)
        return grouped(chunk.queries, chunk.starts, documents, values, self._place(chunk))

    def numbered_lists(self, chunk: RowChunk, convert: Convert) -> tuple[Lists, Integers]:
        """Group the rows of a chunk by query; return the lists, and the row number in the table of each row."""
        lists = self.lists(chunk, convert)
        numbers = np.concatenate([
            rows.batch.first + np.arange(rows.start, rows.stop) if rows.batch.rows is None
            else rows.batch.rows[rows.start : rows.stop]
            for rows in chunk.ranges
        ])  # fmt: skip
        return lists, numbers if lists.sources is None else numbers[lists.sources]

    def _documents(self, ranges: Sequence[BatchRange], column: int = 1) -> Identifiers:
        found = []
        for rows in ranges:
            try:
                found.append(rows.batch.columns[column].identifiers(rows.start, rows.stop))
            except BadCell as bad:
                raise self._not_identifier(column, rows, bad) from None
        return joined(found)

    def subtopics(self, chunk: RowChunk) -> Identifiers:
        """Return the subtopic of each row of a chunk of judgments, in the order of the table: its fourth column."""
        return self._documents(chunk.ranges, 3)

    def _values(self, ranges: Sequence[BatchRange], convert: Convert) -> NDArray[Any]:
        found = []
        for rows in ranges:

            def place(i: int, rows: BatchRange = rows) -> str:
                return self.where(2, rows.batch.row(rows.start + i))

            try:
                numbers = rows.batch.columns[2].numbers(rows.start, rows.stop, self.nulls_as_nan)
            except BadCell as bad:
                raise unexpected(self.where(2, rows.batch.row(bad.args[0])), "a number", bad.args[1]) from None
            except TypeError as error:
                raise unexpected(self.where(2), "a column of numbers", f"{error}") from None
            found.append(convert(numbers, self.where(2), place))
        return np.concatenate(found) if len(found) > 1 else found[0] if found else convert(np.zeros(0), "", str)

    def _place(self, chunk: RowChunk, column: int = 1) -> Place:
        """Return a function that describes a row of the chunk for messages, by its place in a column of the table."""
        ends = np.cumsum([rows.n for rows in chunk.ranges])

        def place(row: int) -> str:
            i = int(np.searchsorted(ends, row, side="right"))
            rows = chunk.ranges[i]
            return self.where(column, rows.batch.row(rows.stop - int(ends[i]) + row))

        return place


def _n_equal(queries: Identifiers) -> int:
    """Return the number of identifiers at the beginning that are equal to the first."""
    numbers, _ = _identifiers.number(queries.data, queries.offsets)
    return int(np.argmax(np.append(numbers, -1) != 0))


class _GrowingChunk:
    """A chunk that is not complete yet, and to which rows are appended."""

    def __init__(self) -> None:
        self.n = 0
        self._ranges: list[BatchRange] = []
        self._starts: list[Integers] = []
        self._queries: list[Identifiers] = []

    def append(self, rows: BatchRange, starts: Integers, queries: Identifiers) -> None:
        """Append rows. `starts` has the first row of each section, counted from the beginning of the batch.

        `queries` has the query of each section; additional queries are ignored.
        """
        self._ranges.append(rows)
        self._starts.append(starts + (self.n - rows.start))
        self._queries.append(queries if len(queries) == len(starts) else queries.take(np.arange(len(starts))))
        self.n += rows.n

    def last(self) -> bytes:
        """Return the query of the last row appended."""
        return self._queries[-1][-1]

    def chunk(self) -> RowChunk:
        """Return the complete chunk."""
        starts = np.concatenate([*self._starts, np.array([self.n])]).astype(np.int64)
        return RowChunk(self._ranges, joined(self._queries), starts)


class _RunOfFile(Frame):
    """The rows of one run of a file, which is read again for each run. Pieces without a row of the run are left out.

    `names` are those of the columns of `rows`, and `column` is the index of the run column in the file.
    """

    def __init__(self, rows: Rows, column: int, run: str, pieces: Sequence[Frame]) -> None:
        self.names = tuple(rows.frame.names[i] for i in rows.columns)
        self.source_name = rows.frame.source_name
        self._rows, self._column, self._run = rows, column, run
        # A frame of its own, because it may keep what it has read last to describe rows in messages.
        self._pieces = list(map(copy, pieces))
        self._origin = self._pieces[0]

    def where(self, column: str, row: int | None = None) -> str:
        """Describe a column or a value for a message by its place in the file."""
        return self._origin.where(column, row)

    def pieces(self) -> list[Frame]:
        """Return the rows in each piece of the file."""
        return [_RunOfFile(self._rows, self._column, self._run, [piece]) for piece in self._pieces]

    def batches(self, columns: Sequence[int]) -> Batches:
        """Yield the rows of the run in each batch of the file. They are copied only if rows of others are between."""
        for piece in self._pieces:
            self._origin = piece
            rows = replace(self._rows, frame=piece)
            for batch in piece.batches([self._column, *rows.columns]):
                starts, numbers, names = _sections_of_runs(rows, self._column, batch)
                for number, found in _by_run(rows, batch, starts, numbers) if self._run in names else ():
                    if names[number] == self._run:
                        yield found._replace(columns=[found.columns[i] for i in columns])


def runs_of(rows: Rows, run: str | None = None) -> dict[str, Rows]:
    """Divide a table into its runs; return {name of the run: rows of the run}, or {"": rows} without a run column.

    The result is empty if the table has a run column but no rows. If the name of the run column, `run`, is None, the
    column is recognised by its usual names.

    A file in pieces is read again for each run. Any other table with several runs is held in memory, and so is a table
    that has a run column and can be read only once, and a file of which most pieces contain rows of many runs.
    """
    frame, source_name = rows.frame, rows.frame.source_name
    column = run_column(frame, run)
    if column is None:
        return {"": rows}
    if not frame.rereadable:
        wanted = [column, *rows.columns]
        held = list(frame.batches(wanted))
        frame, column = FrameInMemory(tuple(frame.names[i] for i in wanted), held, source_name, frame), 0
        rows = Rows(frame, (1, 2, 3))
    # For each run, the pieces with rows of it.
    found: dict[str, list[Frame]] = {}
    n = n_read = 0
    divided = frame.pieces()
    for piece in divided:
        before, n_names = n, set[str]()
        for batch in piece.batches([column]):
            n += batch.stop - batch.start
            n_names.update(names := _sections_of_runs(rows, column, batch)[2])
            for name in names:
                pieces = found.setdefault(name, [])
                if piece not in pieces[-1:]:
                    pieces.append(piece)
        n_read += len(n_names) * (n - before)
    if len(found) < 2:
        return dict.fromkeys(found, replace(rows, run_column=column))
    if len(divided) > 1 and n_read <= _MOST_READINGS * n:
        return {name: Rows(_RunOfFile(rows, column, name, pieces), (0, 1, 2)) for name, pieces in found.items()}
    batches: dict[str, list[Batch]] = {name: [] for name in found}
    for batch in frame.batches([column, *rows.columns]):
        starts, numbers, names = _sections_of_runs(rows, column, batch)
        for i, of_run in _by_run(rows, batch, starts, numbers):
            batches[names[i]].append(of_run)
    columns = tuple(rows.frame.names[i] for i in rows.columns)
    return {
        name: Rows(FrameInMemory(columns, held, source_name, rows.frame), (0, 1, 2)) for name, held in batches.items()
    }


def _sections_of_runs(rows: Rows, run_column: int, batch: Batch) -> tuple[Integers, Integers, list[str]]:
    """Divide a batch, whose first column has the names of the runs, into sections of consecutive rows of one run.

    Returns the first row of each section, the number of its run, and the names of the runs by number: runs are numbered
    in the order of first appearance in the batch.
    """
    where = f"{rows.frame.source_name}: {rows.frame.names[run_column]}"
    column = batch.columns[0]
    if column.holds not in ("text", "integer", "object", "null"):
        raise unexpected(where, "a column of text, bytes or integers", column.type)
    try:
        starts = column.sections(batch.start, batch.stop)
        named = column.identifiers_at(starts)
    except BadCell as bad:
        raise unexpected(f"{where}[{batch.row(bad.args[0])}]", "the name of a run", bad.args[1]) from None
    numbers, firsts = _identifiers.number(named.data, named.offsets)
    return starts, numbers, [str(name) for name in named.take(firsts).to_list()]


def _by_run(rows: Rows, batch: Batch, starts: Integers, numbers: Integers) -> Iterator[tuple[int, Batch]]:
    """Yield, for each run in a batch, the number of the run and a batch of its rows.

    The rows are copied only if the numbers of the runs do not ascend.
    """
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
