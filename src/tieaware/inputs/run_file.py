"""A run that is still in its file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tieaware.errors import InputError
from tieaware.inputs.files import ByteStream, Path, label_of, name_of, stored_size
from tieaware.inputs.pieces import Pieces, Unusual
from tieaware.inputs.run import Run
from tieaware.inputs.trec import read_run, spilled_run, stream_run
from tieaware.lists.query_lists import NotContiguous
from tieaware.runtime.threads import over_items

__all__ = ["RunFile"]

# Smaller files are read before several threads have begun, and smaller pieces sooner than they are evaluated.
SMALLEST = 1 << 20
# What a thread reads before it evaluates it, and so what it holds.
PIECE = 1 << 22


@dataclass(frozen=True, slots=True)
class RunFile:
    """A run in a TREC file, to be read when it is evaluated. The fields are the arguments of `read_run`."""

    path: Path
    score_dtype: str = "float64"
    duplicates: str = "error"

    @property
    def name(self) -> str:
        """The base name of the file without the suffixes of compression and of runs."""
        return name_of(label_of(self.path))

    def parts(self) -> Iterator[Run]:
        """Read the run in parts, each of whole queries.

        Where a query comes back after its part was read, all of the run follows once more, in other parts.
        """
        options: dict[str, Any] = {"score_dtype": self.score_dtype, "duplicates": self.duplicates}
        try:
            yield from stream_run(self.path, **options)
        except NotContiguous:
            yield from spilled_run(self.path, **options)

    def over_pieces(self, work: Callable[[Run], None], threads: int) -> bool:
        """Call `work` with each part of the run, in as many threads; return whether that went well.

        It did not where anything is wrong or unusual, or several threads do not pay: the run is then to be had by
        `parts`, in order. So neither what is said of it depends on the threads, nor what `work` has done in the end.
        """
        stored = stored_size(self.path)
        if threads == 1 or stored < SMALLEST:
            return False
        size = min(PIECE, max(SMALLEST, stored // (4 * threads)))
        try:
            with ByteStream(self.path) as stream:
                pieces = Pieces(stream, size, self.score_dtype)
                over_items(lambda piece: work(pieces.read(piece)), pieces, threads)
        except (Unusual, InputError):
            return False
        return True

    def whole(self) -> Run:
        """Read the run."""
        return read_run(self.path, self.score_dtype, duplicates=self.duplicates)
