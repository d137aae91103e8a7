"""Runs in TREC files, which are not read before they are evaluated."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from tieaware.errors import InputError, NoRangeError
from tieaware.inputs.duplicate_rows import Duplicates
from tieaware.inputs.file_chunks import FileChunks, Malformed, NotParallel
from tieaware.inputs.files import Path, is_file_object, run_name, source_name, stored_size
from tieaware.inputs.part_files import Parts
from tieaware.inputs.part_streams import opened
from tieaware.inputs.ranks import RankColumn, read_ranks
from tieaware.inputs.run import Run, RunSource
from tieaware.inputs.score_types import ScoreDtype
from tieaware.inputs.trec import grouped_run, read_run, stream_run
from tieaware.lists.query_lists import NotContiguous
from tieaware.runtime.threads import over_items

# The number of bytes from which a file is read by several threads, and the smallest chunk of such a file. One thread
# reads a smaller file before other threads have started.
SMALLEST = 1 << 20
# The largest number of bytes in a chunk, unless a query has more. It bounds the memory that a thread needs.
CHUNK = 1 << 22


class RunFile(RunSource):
    """A run in a TREC file. The file is not read before the run is evaluated. Parameters as for `read_run`."""

    def __init__(
        self, path: Path | Parts, score_dtype: ScoreDtype = "float64", duplicates: Duplicates = "error"
    ) -> None:
        self.path: Path | Parts = path
        self.score_dtype: ScoreDtype = score_dtype
        self.duplicates: Duplicates = duplicates
        self.name: str = path.run_name if isinstance(path, Parts) else run_name(self.full_name)

    @classmethod
    def recognise(
        cls, value: Any, name: str, score_dtype: ScoreDtype, duplicates: Duplicates
    ) -> Sequence[RunSource] | None:
        """Wrap a path or a binary file object; return None for any other value. See `RunSource.recognise`."""
        is_file = isinstance(value, str | os.PathLike) or is_file_object(value)
        return [cls(value, score_dtype, duplicates)] if is_file else None

    @property
    def full_name(self) -> str:
        """The path of the file, or the source name of part files."""
        return self.path.source_name if isinstance(self.path, Parts) else source_name(self.path)

    def chunks(self) -> Iterator[Run]:
        """Read the file from beginning to end, and yield chunks of whole queries.

        If the lines of a query are not contiguous, group them by query in a temporary file and yield all queries again.
        """
        try:
            yield from stream_run(self.path, self.score_dtype, self.duplicates)
        except NotContiguous:
            yield from grouped_run(self.path, self.score_dtype, self.duplicates)

    def over_chunks(self, work: Callable[[RunSource], None], threads: int) -> None:
        """Read chunks in several threads if the file is large; otherwise read it in order from beginning to end."""
        if threads > 1 and self._stored_size() >= SMALLEST:
            try:
                self.over_parallel_chunks(work, threads)
                return
            except NotParallel:
                # Reading in order, which follows, can ignore duplicates and can group the lines of a query.
                pass
            except (Malformed, InputError):
                # The error may not be the first in the file, and its line number is unknown. Reading in order, which
                # follows, raises the first error with its line number, for any number of threads.
                pass
        try:
            super().over_chunks(work, threads)
        except NoRangeError:
            # Other lines of the list may come later.
            if self._is_contiguous():
                raise
            for run in grouped_run(self.path, self.score_dtype, self.duplicates):
                work(run)

    def over_parallel_chunks(self, work: Callable[[RunSource], None], threads: int) -> None:
        """Call a function with each chunk of a regular file, in several threads.

        Raises
        ------
        NotParallel, Malformed
            The file must be read in order, to group the lines of a query or to find the first malformed line. The
            function may already have been called with some chunks.
        InputError
            The file cannot be read, or the function raised the error. The file may have another error before this one.
        """
        size = min(CHUNK, max(SMALLEST, self._stored_size() // (4 * threads)))
        with opened(self.path) as stream:
            chunks = FileChunks(stream, size, self.score_dtype)
            over_items(lambda chunk: work(chunks.parse(chunk)), chunks, threads)

    def _is_contiguous(self) -> bool:
        """Return False if the lines of a query are not contiguous; True if they are, or cannot be read to the end."""
        try:
            for _ in stream_run(self.path, self.score_dtype, self.duplicates):
                pass
        except NotContiguous:
            return False
        except InputError:
            pass
        return True

    def _stored_size(self) -> int:
        return self.path.size if isinstance(self.path, Parts) else stored_size(self.path)

    def whole(self) -> Run:
        """Read the whole file as one Run."""
        return read_run(cast(Any, self.path), self.score_dtype, duplicates=self.duplicates)

    def ranks(self) -> RankColumn | None:
        """Read the rank column of the file; return None if it is not a regular file."""
        return read_ranks(self.path)
