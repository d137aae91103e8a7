"""Runs that are still nested dicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tieaware.inputs.run import Run, RunSource


class RunDict(RunSource):
    """A run as ``{query: {document: score}}``, from which columns are made only if they are needed.

    Parameters
    ----------
    lists : mapping of mappings
    name : str
    """

    def __init__(self, lists: Mapping[Any, Mapping[Any, float]], name: str = "run") -> None:
        self.lists = lists
        self.name = name
        self.mapping = lists if type(lists) is dict else None

    @classmethod
    def recognise(cls, value: Any, name: str, score_dtype: str, duplicates: str) -> Sequence[RunSource] | None:
        """Recognise a dict or another mapping."""
        # A dict is tested first because isinstance takes a third of a microsecond for an abstract class.
        return [cls(value)] if isinstance(value, dict | Mapping) else None

    def whole(self) -> Run:
        """Make columns from the dicts."""
        return Run.from_dict(self.lists, name=self.name)
