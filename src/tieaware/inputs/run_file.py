"""Runs in TREC files that are read during evaluation."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tieaware.errors import InputError
from tieaware.inputs.file_chunks import FileChunks, Malformed, NotParallel
from tieaware.inputs.files import ByteStream, Path, run_name, source_name, stored_size
from tieaware.inputs.ranks import RankColumn, read_ranks
from tieaware.inputs.run import Run, RunSource
from tieaware.inputs.trec import grouped_run, read_run, stream_run
from tieaware.lists.query_lists import NotContiguous
from tieaware.runtime.threads import over_items

# A smaller file is read before several threads have started, and a smaller chunk faster than it is evaluated.
SMALLEST = 1 << 20
# The largest number of bytes that a thread reads before it evaluates them. It bounds the memory of a thread.
CHUNK = 1 << 22


class RunFile(RunSource):
    """A run in a TREC file, which is read only when it is evaluated. Parameters as for `read_run`."""

    def __init__(self, path: Path, score_dtype: str = "float64", duplicates: str = "error") -> None:
        self.path: Path = path
        self.score_dtype = score_dtype
        self.duplicates = duplicates
        self.name = run_name(self.full_name)

    @classmethod
    def recognise(cls, value: Any, name: str, score_dtype: str, duplicates: str) -> Sequence[RunSource] | None:
        """Recognise a path or a binary file object."""
        is_file = isinstance(value, str | os.PathLike) or hasattr(value, "read")
        return [cls(value, score_dtype, duplicates)] if is_file else None

    @property
    def full_name(self) -> str:
        """The path of the file."""
        return source_name(self.path)

    def chunks(self) -> Iterator[Run]:
        """Read the file in order. If a query reappears, group the lines by query in a temporary file."""
        try:
            yield from stream_run(self.path, self.score_dtype, self.duplicates)
        except NotContiguous:
            yield from grouped_run(self.path, self.score_dtype, self.duplicates)

    def over_chunks(self, work: Callable[[RunSource], None], threads: int) -> None:
        """Read the file in parallel chunks if it is large enough, and in order otherwise."""
        if threads > 1 and stored_size(self.path) >= SMALLEST:
            try:
                self.over_parallel_chunks(work, threads)
                return
            except NotParallel:
                # Reading in order can ignore duplicates and group the lines of a query.
                pass
            except (Malformed, InputError):
                # Another thread may have met an earlier error, and chunks have no line numbers. Reading in order raises
                # the first error of the file, so the message does not depend on the number of threads.
                pass
        super().over_chunks(work, threads)

    def over_parallel_chunks(self, work: Callable[[RunSource], None], threads: int) -> None:
        """Call a function with each chunk of a regular file, in several threads.

        Raises
        ------
        NotParallel, Malformed
            The file must be read in order, to group the lines of a query or to find the first malformed line. Some
            chunks may have been processed.
        InputError
            The file cannot be read, or the function raised the error. It need not be the first error in the file.
        """
        size = min(CHUNK, max(SMALLEST, stored_size(self.path) // (4 * threads)))
        with ByteStream(self.path) as stream:
            chunks = FileChunks(stream, size, self.score_dtype)
            over_items(lambda chunk: work(chunks.parse(chunk)), chunks, threads)

    def whole(self) -> Run:
        """Read the whole file."""
        return read_run(self.path, self.score_dtype, duplicates=self.duplicates)

    def ranks(self) -> RankColumn | None:
        """Read the rank column of a regular file."""
        return read_ranks(self.path)
