"""Runs in tables that are read during evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from tieaware.inputs.column_names import run_columns
from tieaware.inputs.external_grouping import BATCH_ROWS, ExternalGrouping
from tieaware.inputs.files import ByteStream, Path, run_name, source_name, state_of
from tieaware.inputs.frames import Frame, frame_of, is_frame
from tieaware.inputs.rows import CHUNK_ROWS, RowChunk, Rows, exact_scores
from tieaware.inputs.run import Ignored, Run, RunSource, made_run, run_of, warn_of
from tieaware.inputs.run_column import runs_of
from tieaware.inputs.table_files import table_in
from tieaware.lists.query_lists import Lists, NotContiguous
from tieaware.runtime.threads import over_items


class RunFrame(RunSource):
    """A run in a data frame or a table file, which is read only when it is evaluated.

    Parameters
    ----------
    rows : Rows
    name : str
    score_dtype : "float64" or "float32"
        "float32" rounds the scores; "float64" keeps the type of the column.
    duplicates : "error" or "first"
    path : path, optional
        The file of the table.
    """

    def __init__(
        self, rows: Rows, name: str, score_dtype: str = "float64", duplicates: str = "error", path: Path | None = None
    ) -> None:
        self.rows = rows
        self.name = name
        self.score_dtype = score_dtype
        self.duplicates = duplicates
        self.path = path

    @classmethod
    def recognise(cls, value: Any, name: str, score_dtype: str, duplicates: str) -> Sequence[RunSource] | None:
        """Recognise a table in memory or in a regular file."""
        if is_frame(value):
            return cls._all_in(frame_of(value, name), name, name, score_dtype, duplicates)
        if state_of(value) is None:
            # Only a regular file can be read a second time: the bytes of a pipe would be lost.
            return None
        # The file is closed again because a folder may contain more files than a process may hold open.
        with ByteStream(value) as stream:
            frame = table_in(stream)
            if frame is None:
                return None
            return cls._all_in(frame, stream.source_name, stream.run_name, score_dtype, duplicates, value)

    @classmethod
    def _all_in(
        cls, frame: Frame, source_name: str, name: str, score_dtype: str, duplicates: str, path: Path | None = None
    ) -> list[RunFrame]:
        """Return all runs of a table: those that the run column names, or one."""
        runs = runs_of(Rows(frame, run_columns(frame, source_name), source_name), None)
        # The only run of a file is named after the file, the only run of a frame after its run column.
        if len(runs) == 1 and (path is not None or "" in runs):
            runs = dict.fromkeys([name], *runs.values())
        return [cls(rows, found, score_dtype, duplicates, path) for found, rows in runs.items()]

    @property
    def full_name(self) -> str:
        """The path of the file, unless a column names the run."""
        if self.path is None:
            return self.name
        path = source_name(self.path)
        # Runs that are named by a column keep their names.
        return path if self.name == run_name(path) else self.name

    def chunks(self) -> Iterator[Run]:
        """Read the table in order. If a query reappears, group the rows by query in a temporary file."""
        total = Ignored()
        try:
            for chunk in self.rows.chunks(CHUNK_ROWS):
                run, ignored = self._run_of(chunk)
                total += ignored
                yield run
        except NotContiguous:
            yield from self._grouped()
        else:
            warn_of(total, self.rows.source_name)

    def over_chunks(self, work: Callable[[RunSource], None], threads: int) -> None:
        """Read the table in order, and process the chunks in several threads."""
        def read_and_work(chunk: RowChunk) -> Ignored:
            run, ignored = self._run_of(chunk)
            work(run)
            return ignored

        try:
            ignored = over_items(read_and_work, self.rows.chunks(CHUNK_ROWS), threads)
        except NotContiguous:
            for run in self._grouped():
                work(run)
        else:
            warn_of(sum(ignored, Ignored()), self.rows.source_name)

    def _grouped(self) -> Iterator[Run]:
        """Group the rows by query in a temporary file, and yield chunks of whole queries."""
        with ExternalGrouping() as grouping:
            for chunk in self.rows.chunks_of_any_rows(BATCH_ROWS):
                grouping.add(*self.rows.numbered_lists(chunk, exact_scores))

            def make(lists: Lists) -> tuple[Run, Ignored]:
                place = partial(self.rows.where, 1)
                return made_run(lists, place, self.name, self.duplicates, self.score_dtype)

            yield from grouping.runs(make, lambda ignored: warn_of(ignored, self.rows.source_name))

    def whole(self) -> Run:
        """Read the whole table."""
        run, ignored = self._run_of(self.rows.whole())
        warn_of(ignored, self.rows.source_name)
        return run

    def _run_of(self, chunk: RowChunk) -> tuple[Run, Ignored]:
        return run_of(self.rows, chunk, self.name, self.duplicates, self.score_dtype)
