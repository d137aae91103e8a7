"""Runs in nested dicts, which are evaluated without converting them to columns if possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tieaware.inputs.duplicate_rows import Duplicates
from tieaware.inputs.run import Run, RunSource
from tieaware.inputs.score_types import ScoreDtype

# A dict is tested first because a test for Mapping, an abstract class, takes a third of a microsecond.
_MAPPINGS = (dict, Mapping)


class RunDict(RunSource):
    """A run as a dict ``{query: {document: score}}``. The dict is converted to columns only when `whole` is called.

    Parameters
    ----------
    lists : mapping of mappings
        The run.
    name : str
    """

    def __init__(self, lists: Mapping[Any, Mapping[Any, float]], name: str = "run") -> None:
        self.lists = lists
        self.name = name
        self.mapping: dict[Any, Any] | None = lists if type(lists) is dict else None

    @classmethod
    def recognise(
        cls, value: Any, name: str, score_dtype: ScoreDtype, duplicates: Duplicates
    ) -> Sequence[RunSource] | None:
        """Wrap a dict or another mapping; return None for any other value. See `RunSource.recognise`."""
        return [cls(value, name)] if isinstance(value, _MAPPINGS) else None

    def over_chunks(self, work: Callable[[RunSource], None], threads: int) -> None:
        """Call a function with the run itself, the only chunk."""
        work(self)

    def whole(self) -> Run:
        """Convert the dicts to columns."""
        return Run.from_dict(self.lists, name=self.name)
