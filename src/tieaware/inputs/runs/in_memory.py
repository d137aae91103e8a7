"""Runs as dicts, and as pairs (ids, scores) of arrays with a row for each query."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from tieaware.checks.tensors import is_tensor
from tieaware.inputs.runs.run import Run, RunSource
from tieaware.inputs.runs.topk import OTHER_IDS, TopK
from tieaware.inputs.tables.frames import is_frame
from tieaware.inputs.tables.rows import CHUNK_ROWS
from tieaware.runtime.threads import over_items


class RunDict(RunSource):
    """A run as a dict ``{query: {document: score}}``. The dict is converted to columns only when `whole` is called."""

    def __init__(self, lists: Mapping[Any, Mapping[Any, float]], name: str = "run") -> None:
        self.lists = lists
        self.name = name
        self.mapping: dict[Any, Any] | None = lists if type(lists) is dict else None

    def whole(self) -> Run:
        """Convert the dicts to columns."""
        return Run.from_dict(self.lists, name=self.name)


class RunTopK(RunSource):
    """A run as the ids and scores of the best documents of each query. It is converted to columns in chunks."""

    def __init__(self, topk: TopK, name: str) -> None:
        self.topk = topk
        self.name = name
        self.n_numbered: int | None = len(topk) if topk.queries is None else None

    def chunks(self) -> Iterator[Run]:
        """Convert the rows of some queries at a time."""
        return map(self._chunk, self._ranges())

    def over_chunks(self, work: Callable[[RunSource], None], threads: int) -> None:
        """Call a function with each chunk, in several threads."""
        over_items(lambda rows: work(self._chunk(rows)), self._ranges(), threads)

    def whole(self) -> Run:
        """Convert all rows."""
        return self._chunk((0, len(self.topk)))

    def check_columns(self, n_columns: int, matrix: str, name: str) -> None:
        """Raise InputError if an id is too large. See `RunSource.check_columns`."""
        if self.topk.names is None:
            self.topk.check_numbers(n_columns, ("column", f" of {matrix}"), OTHER_IDS)

    def _ranges(self) -> Iterator[tuple[int, int]]:
        """Yield the first and the last query of each chunk; an empty run has one chunk."""
        n = len(self.topk)
        longest = int(np.diff(self.topk.offsets).max(initial=1))
        step = max(1, CHUNK_ROWS // max(1, longest))
        for first in range(0, max(n, 1), step):
            yield first, min(first + step, n)

    def _chunk(self, rows: tuple[int, int]) -> Run:
        return Run.of(self.topk.lists(*rows), self.name)


def is_pair_of_arrays(value: Any) -> bool:
    """Return whether a value is a pair such as (ids, scores): of arrays, tensors or lists of lists, but no frames."""
    return isinstance(value, tuple | list) and len(value) == 2 and all(map(_has_rows, value))


def _has_rows(value: Any) -> bool:
    """Return whether a value may have a row for each query."""
    if isinstance(value, list | tuple):
        return bool(value) and all(map(_is_row, value))
    return isinstance(value, np.ndarray) or (is_tensor(value) and not is_frame(value))


def _is_row(value: Any) -> bool:
    """Return whether a value is a list of ids or scores. A pair of arrays is not: it is a run itself."""
    if isinstance(value, list | tuple):
        return not (value and isinstance(value[0], list | tuple | np.ndarray))
    return isinstance(value, np.ndarray) and value.ndim == 1
