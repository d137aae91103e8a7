"""A run that is still in its file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tieaware.inputs.files import Path, label_of, name_of
from tieaware.inputs.run import Run
from tieaware.inputs.trec import NotContiguous, read_run, stream_run

__all__ = ["RunFile"]


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

        Where a query comes back after its part was read, the whole run follows as one more part.
        """
        options: dict[str, Any] = {"score_dtype": self.score_dtype, "duplicates": self.duplicates}
        try:
            yield from stream_run(self.path, **options)
        except NotContiguous:
            yield read_run(self.path, **options)

    def whole(self) -> Run:
        """Read the run."""
        return read_run(self.path, self.score_dtype, duplicates=self.duplicates)
