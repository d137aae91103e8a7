"""A run that is still {query: {document: score}}."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tieaware.inputs.run import Run

__all__ = ["RunDict"]


class RunDict:
    """A run as ``{query: {document: score}}``, of which columns are made only if they are needed.

    Parameters
    ----------
    lists : mapping of mappings
    name : str
    """

    def __init__(self, lists: Mapping[Any, Mapping[Any, float]], name: str = "run") -> None:
        self.lists = lists
        self.name = name

    def parts(self) -> Iterator[RunDict]:
        """Yield the run, whole."""
        yield self

    def whole(self) -> Run:
        """Return the run as columns."""
        return Run.from_dict(self.lists, name=self.name)
