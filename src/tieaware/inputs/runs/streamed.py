"""Runs in tables and TREC files, whose rows are not read before the runs are evaluated; and `read_run`."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import Any

from tieaware.checks.arrays import Integers, Place
from tieaware.errors import InputError, NoRangeError
from tieaware.inputs.files.paths import Path, Source, run_name, source_name, stored_size
from tieaware.inputs.runs.grouping import BATCH_ROWS, ExternalGrouping, merged
from tieaware.inputs.runs.reading_options import (
    AS_USUAL,
    FROM_FILE,
    Duplicates,
    Ignored,
    Reading,
    ScoreDtype,
    check_options,
    exact_scores,
)
from tieaware.inputs.runs.run import Run, RunSource, made_run, remedy_for, run_in
from tieaware.inputs.tables import opened, table_at, text_at
from tieaware.inputs.tables.column_names import run_columns
from tieaware.inputs.tables.frames import Frame
from tieaware.inputs.tables.rows import CHUNK_ROWS, RowChunk, Rows, runs_of
from tieaware.inputs.trec.reader import FileChunks, Malformed, NotParallel, RankColumn, Reader, rank_lines
from tieaware.kernels._identifiers import Seen
from tieaware.lists.query_lists import Lists, NotContiguous
from tieaware.runtime.threads import check_abandoned, over_items

# The number of bytes from which a file is read by several threads, and the smallest chunk of such a file. One thread
# reads a smaller file before other threads have started.
SMALLEST = 1 << 20
# The largest number of bytes in a chunk, unless a query has more. It bounds the memory that a thread needs.
CHUNK = 1 << 22


class StreamedRun(RunSource):
    """A run that is read in chunks of whole queries. If the rows of a query are not contiguous, it is grouped first."""

    source_name: str
    # The argument that keeps the first of duplicate rows.
    remedy: str

    @property
    def full_name(self) -> str:
        """The path of the file if the run is named after the file; otherwise the name of the run."""
        is_named_after_file = self.path is not None and self.name == run_name(self.path)
        return self.source_name if is_named_after_file else self.name

    @abstractmethod
    def _chunks(self) -> Generator[Any, None, None]:
        """Yield chunks of whole queries, which `_lists` converts. Raise NotContiguous if a query reappears."""

    @abstractmethod
    def _lists(self, chunk: Any) -> Lists:
        """Convert a chunk to lists. Several threads may call this method at the same time."""

    @abstractmethod
    def _numbered(self) -> Iterator[tuple[Lists, Integers, Place]]:
        """Yield batches of rows in any order: lists, the numbers of their rows, and what describes the place of one."""

    def _run_of(self, lists: Lists) -> tuple[Run, Ignored]:
        return made_run(lists, self.name, self.reading, self.remedy)

    def contiguous_chunks(self) -> Iterator[Run]:
        """Read the run in order, and yield chunks of whole queries. Raise NotContiguous if a query reappears."""
        total = Ignored()
        for chunk in self._chunks():
            run, ignored = self._run_of(self._lists(chunk))
            total += ignored
            yield run
        total.warn(self.source_name)

    def chunks(self) -> Iterator[Run]:
        """Yield chunks of whole queries. If a query reappears, group all rows by query, and yield all queries again."""
        try:
            yield from self.contiguous_chunks()
        except NotContiguous:
            yield from self._grouped()

    def over_chunks(self, work: Callable[[RunSource], None], threads: int) -> None:
        """Call a function with each chunk, in several threads, which read chunks at the same time if they can."""
        if threads > 1:
            try:
                if self.over_parallel_chunks(work, threads):
                    return
            except (NotParallel, Malformed, InputError):
                # Reading in order, which follows, can ignore duplicates and can group the rows of a query. An error
                # may not be the first in the input, and its row may be unknown: reading in order raises the first
                # error with its row, for any number of threads.
                pass

        def read_and_work(chunk: Any) -> Ignored:
            run, ignored = self._run_of(self._lists(chunk))
            work(run)
            return ignored

        try:
            # Close the table before it is read again: a database connection has only one open result.
            with closing(self._chunks()) as chunks:
                ignored = over_items(read_and_work, chunks, threads)
        except (NotContiguous, NoRangeError) as error:
            # Other rows of the list without a range may come later.
            if isinstance(error, NoRangeError) and self._is_contiguous():
                raise
            for run in self._grouped():
                work(run)
        else:
            sum(ignored, Ignored()).warn(self.source_name)

    def over_parallel_chunks(self, work: Callable[[RunSource], None], threads: int) -> bool:
        """Call a function with each chunk, which several threads read at the same time; return False if they cannot.

        NotParallel or Malformed is raised if the input must be read in order, to group the rows of a query or to find
        the first malformed line. The function may already have been called with some chunks. If InputError is raised,
        the input may have another error before this one.
        """
        return False

    def _is_contiguous(self) -> bool:
        """Return False if the rows of a query are not contiguous; True if they are, or cannot be read to the end."""
        try:
            for _ in self._chunks():
                pass
        except NotContiguous:
            return False
        except InputError:
            pass
        return True

    def _grouped(self) -> Iterator[Run]:
        """Group the rows by query in a temporary file, and yield chunks of whole queries from it."""
        place: Place = str
        with ExternalGrouping() as grouping:
            for lists, numbers, found in self._numbered():
                grouping.add(lists, numbers)
                place = found

            def make(lists: Lists) -> tuple[Run, Ignored]:
                lists.place = place
                return self._run_of(lists)

            yield from grouping.made(make, self.source_name)


class RunFrame(StreamedRun):
    """A run in a data frame, or in the table of a file or of part files, `path`."""

    def __init__(self, rows: Rows, name: str, reading: Reading, path: Source | None = None) -> None:
        self.rows = rows
        self.name = name
        self.reading: Reading = reading
        self.path = path
        self.rereadable: bool = rows.frame.rereadable
        self.source_name: str = rows.frame.source_name
        self.remedy: str = remedy_for(rows)

    def _chunks(self) -> Generator[RowChunk, None, None]:
        return self.rows.chunks(CHUNK_ROWS)

    def _lists(self, chunk: RowChunk) -> Lists:
        return self.rows.lists(chunk, exact_scores)

    def _numbered(self) -> Iterator[tuple[Lists, Integers, Place]]:
        for chunk in self.rows.chunks_of_any_rows(BATCH_ROWS):
            yield *self.rows.numbered_lists(chunk, exact_scores), partial(self.rows.where, 1)

    def over_parallel_chunks(self, work: Callable[[RunSource], None], threads: int) -> bool:
        """Read the pieces of the table in several threads."""
        pieces = self.rows.frame.pieces()
        if len(pieces) < 2:
            return False
        seen, lock = Seen(), Lock()
        # The first and the last query of each piece, with the number of the piece: they may continue in another piece.
        cut: list[tuple[int, Lists]] = []

        def work_on(lists: Lists) -> None:
            run, ignored = self._run_of(lists)
            with lock:
                new = seen.add(lists.queries.data, lists.queries.offsets)
            if not new or ignored.n:
                raise NotParallel
            work(run)

        def read_and_work(piece: tuple[int, Frame]) -> None:
            rows = replace(self.rows, frame=piece[1])
            n_cut = n = 0
            for chunk, are_whole in rows.chunks_within(CHUNK_ROWS):
                check_abandoned()
                n += int(chunk.starts[-1])
                if are_whole:
                    work_on(rows.lists(chunk, exact_scores))
                    continue
                lists, numbers = rows.numbered_lists(chunk, exact_scores)
                cut.append((piece[0], replace(lists, sources=numbers)))
                n_cut += len(numbers)
            # All queries that are cut stay in memory until the end, so they must be a small part of the table.
            if n_cut > max(n // 2, CHUNK_ROWS):
                raise NotParallel

        over_items(read_and_work, enumerate(pieces), threads)
        if cut:
            work_on(merged([lists for _, lists in sorted(cut, key=lambda pair: pair[0])]))
        return True

    def whole(self) -> Run:
        """Read the whole table as one Run."""
        run, ignored = self._run_of(self._lists(self.rows.whole()))
        ignored.warn(self.source_name)
        return run


class RunFile(StreamedRun):
    """A run in a TREC file, or in part files."""

    remedy = FROM_FILE

    def __init__(self, path: Source, reading: Reading = AS_USUAL) -> None:
        self.path: Source = path
        self.reading: Reading = reading
        self.name: str = run_name(path)
        self.source_name: str = source_name(path)

    def _chunks(self) -> Generator[Lists, None, None]:
        with text_at(self.path) as stream:
            yield from Reader(stream).chunks(CHUNK_ROWS)

    def _lists(self, chunk: Lists) -> Lists:
        return chunk

    def _numbered(self) -> Iterator[tuple[Lists, Integers, Place]]:
        with text_at(self.path) as stream:
            for lists, lines in Reader(stream).numbered_chunks(BATCH_ROWS):
                yield lists, lines, stream.place

    def contiguous_chunks(self) -> Iterator[Run]:
        """Yield chunks of whole queries; a file that can be read only once is a single chunk."""
        return super().contiguous_chunks() if self.state is not None else iter([self.whole()])

    def over_chunks(self, work: Callable[[RunSource], None], threads: int) -> None:
        """Call a function with each chunk; a file that can be read only once is a single chunk."""
        if self.state is None:
            work(self.whole())
            return
        super().over_chunks(work, threads)

    def over_parallel_chunks(self, work: Callable[[RunSource], None], threads: int) -> bool:
        """Divide a regular file into chunks between its lines. The chunks of a small file are read one by one."""
        if stored_size(self.path) < SMALLEST:
            return False
        size = min(CHUNK, max(SMALLEST, stored_size(self.path) // (4 * threads)))
        with text_at(self.path) as stream:
            chunks = FileChunks(stream, size)
            over_items(lambda chunk: work(self._run_of(chunks.parse(chunk))[0]), chunks, threads)
        return True

    def whole(self) -> Run:
        """Read the whole file as one Run."""
        return _read_run(self.path, self.reading)

    def ranks(self) -> RankColumn | None:
        """Read the rank column of the file, which was read before; return None if it is not a regular file."""
        if self.state is None:
            return None
        with text_at(self.path) as stream:
            return rank_lines(stream)


def runs_in(frame: Frame, name: str, reading: Reading, path: Source | None = None) -> list[RunFrame]:
    """Return all runs of a table: one for each name in the run column, or a single run without such a column."""
    runs = runs_of(Rows(frame, run_columns(frame, *reading.columns)))
    # A file with a single run gives this run its name. A data frame with a single run keeps the name in its run column.
    if len(runs) == 1 and (path is not None or "" in runs):
        runs = dict.fromkeys([name], *runs.values())
    return [RunFrame(rows, found, reading, path) for found, rows in runs.items()]


def runs_at(path: Source, reading: Reading) -> Sequence[RunSource]:
    """Return all runs in a file, or in part files. Only the format and the column names are read now."""
    table = table_at(path)
    if table is None:
        return [RunFile(path, reading)]
    return runs_in(table, run_name(path), reading, path)


def read_run(
    path: Path | Sequence[str | os.PathLike[str]],
    score_dtype: ScoreDtype = "float64",
    *,
    duplicates: Duplicates = "error",
) -> Run:
    r"""Read a run from a file, part files or a table.

    Parameters
    ----------
    path : str, os.PathLike, binary file object, list of paths, or table
        The file, as for `read_qrels`. For the columns of tables, see `Run.from_frame`.
    score_dtype : "float64" or "float32"
        The type to which scores are rounded: float64 as in trec_eval 10, or float32 as in earlier versions of it.
    duplicates : "error" or "first"
        The treatment of a document that appears twice for a query. "error" raises InputError; "first" keeps the first
        row and warns.

    Returns
    -------
    Run
        Queries in the order of first appearance, and the documents of each query in the order of the file.

    Raises
    ------
    InputError
        The file cannot be read, is empty or contains judgments; a line has fewer than six fields, two rows, more than
        1 MB or a score that is not a number or is NaN; or a document appears twice for a query.

    Examples
    --------
    Both documents have the same score, so they are tied, although their ranks differ.

    >>> import io
    >>> run = read_run(io.BytesIO(b"301 Q0 d1 1 2.5 bm25\n301 Q0 d2 2 2.5 bm25\n"))
    >>> run.documents.to_list(), run.scores.tolist(), run.tag
    (['d1', 'd2'], [2.5, 2.5], 'bm25')
    """
    check_options(duplicates, score_dtype)
    return _read_run(path, Reading(score_dtype, duplicates))


def read_run_of_trec_eval(path: Path, score_dtype: ScoreDtype, duplicates: Duplicates) -> Run:
    """Read a run as trec_eval does: fields after the sixth of a line are ignored, and all identifiers are text."""
    return _read_run(path, Reading(score_dtype, duplicates, ids_as_text=True), lenient=True)


def _read_run(path: Any, reading: Reading, lenient: bool = False) -> Run:
    with opened(path, "run") as (found, name):
        if isinstance(found, Frame):
            return run_in(found, name, reading)
        reader = Reader(found, lenient=lenient)
        lists = reader.whole()
        tag = reader.parser.tag
        text = None if tag is None else tag.decode("utf-8", "surrogateescape")
        run, ignored = made_run(lists, name, reading, FROM_FILE, text)
    ignored.warn(found.source_name)
    return run
