"""Runs in data frames and table files, whose rows are not read before the runs are evaluated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Any

from tieaware.errors import InputError, NoRangeError
from tieaware.inputs.column_names import run_columns
from tieaware.inputs.duplicate_rows import Duplicates, Ignored, warn_of
from tieaware.inputs.external_grouping import BATCH_ROWS, ExternalGrouping
from tieaware.inputs.files import ByteStream, Path, run_name, source_name, state_of
from tieaware.inputs.frames import Frame, frame_of, is_frame
from tieaware.inputs.part_files import Parts
from tieaware.inputs.rows import CHUNK_ROWS, RowChunk, Rows, exact_scores
from tieaware.inputs.run import Run, RunSource, made_run, run_of
from tieaware.inputs.run_column import runs_of
from tieaware.inputs.score_types import ScoreDtype
from tieaware.inputs.table_files import table_in
from tieaware.lists.query_lists import Lists, NotContiguous
from tieaware.runtime.threads import over_items


class RunFrame(RunSource):
    """A run in a data frame or a table file. Its rows are not read before the run is evaluated.

    Parameters
    ----------
    rows : Rows
        The rows of the run.
    name : str
    score_dtype : "float64" or "float32"
        "float32" rounds the scores to float32; "float64" keeps the type of the score column.
    duplicates : "error" or "first"
    path : path or Parts, optional
        The file, or the part files, that contain the table; None for a data frame.
    """

    def __init__(
        self, rows: Rows, name: str, score_dtype: ScoreDtype = "float64", duplicates: Duplicates = "error",
        path: Path | Parts | None = None,
    ) -> None:  # fmt: skip
        self.rows = rows
        self.name = name
        self.score_dtype: ScoreDtype = score_dtype
        self.duplicates: Duplicates = duplicates
        self.path = path
        self.rereadable: bool = rows.frame.rereadable

    @classmethod
    def recognise(
        cls, value: Any, name: str, score_dtype: ScoreDtype, duplicates: Duplicates
    ) -> Sequence[RunSource] | None:
        """Wrap the runs of a data frame or of a table in a regular file. See `RunSource.recognise`."""
        if is_frame(value):
            return cls.all_in(frame_of(value, name), name, name, score_dtype, duplicates)
        if state_of(value) is None:
            # Only a regular file can be read again later. The bytes read here from a pipe would be lost.
            return None
        # Only the format and the column names are read now. Then the file is closed, because a folder may contain more
        # files than a process may have open.
        with ByteStream(value) as stream:
            frame = table_in(stream)
            if frame is None:
                return None
            return cls.all_in(frame, stream.source_name, stream.run_name, score_dtype, duplicates, value)

    @classmethod
    def all_in(
        cls, frame: Frame, source_name: str, name: str, score_dtype: ScoreDtype, duplicates: Duplicates,
        path: Path | Parts | None = None,
    ) -> list[RunFrame]:  # fmt: skip
        """Return all runs of a table: one for each name in the run column, or a single run without such a column."""
        runs = runs_of(Rows(frame, run_columns(frame, source_name), source_name), None)
        # A file with a single run gives this run its name. A data frame with a single run keeps the name in its run
        # column.
        if len(runs) == 1 and (path is not None or "" in runs):
            runs = dict.fromkeys([name], *runs.values())
        return [cls(rows, found, score_dtype, duplicates, path) for found, rows in runs.items()]

    @property
    def full_name(self) -> str:
        """The path of the file if the run is named after the file; otherwise the name of the run."""
        if self.path is None:
            return self.name
        if isinstance(self.path, Parts):
            return self.path.source_name if self.name == self.path.run_name else self.name
        path = source_name(self.path)
        # Runs that have their names from the run column keep these names.
        return path if self.name == run_name(path) else self.name

    def chunks(self) -> Iterator[Run]:
        """Read the table from beginning to end, and yield chunks of whole queries.

        If the rows of a query are not contiguous, group them by query in a temporary file and yield all queries again.
        """
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
        """Call a function with each chunk of the table, in several threads. The chunks are read one after another."""

        def read_and_work(chunk: RowChunk) -> Ignored:
            run, ignored = self._run_of(chunk)
            work(run)
            return ignored

        try:
            # Close the table before it is read again: a database connection has only one open result.
            with closing(self.rows.chunks(CHUNK_ROWS)) as chunks:
                ignored = over_items(read_and_work, chunks, threads)
        except (NotContiguous, NoRangeError) as error:
            # Other rows of the list without a range may come later.
            if isinstance(error, NoRangeError) and self._is_contiguous():
                raise
            for run in self._grouped():
                work(run)
        else:
            warn_of(sum(ignored, Ignored()), self.rows.source_name)

    def _is_contiguous(self) -> bool:
        """Return False if the rows of a query are not contiguous; True if they are, or cannot be read to the end."""
        try:
            for _ in self.rows.chunks(CHUNK_ROWS):
                pass
        except NotContiguous:
            return False
        except InputError:
            pass
        return True

    def _grouped(self) -> Iterator[Run]:
        """Group the rows of the table by query in a temporary file, and yield chunks of whole queries from it."""
        with ExternalGrouping() as grouping:
            for chunk in self.rows.chunks_of_any_rows(BATCH_ROWS):
                grouping.add(*self.rows.numbered_lists(chunk, exact_scores))

            def make(lists: Lists) -> tuple[Run, Ignored]:
                place = partial(self.rows.where, 1)
                return made_run(lists, place, self.name, self.duplicates, self.score_dtype, self.rows)

            yield from grouping.runs(make, lambda ignored: warn_of(ignored, self.rows.source_name))

    def whole(self) -> Run:
        """Read the whole table as one Run."""
        run, ignored = self._run_of(self.rows.whole())
        warn_of(ignored, self.rows.source_name)
        return run

    def _run_of(self, chunk: RowChunk) -> tuple[Run, Ignored]:
        return run_of(self.rows, chunk, self.name, self.duplicates, self.score_dtype)
