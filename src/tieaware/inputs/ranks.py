"""The rank column of a run's file, which evaluation ignores: to see whether it says what the scores say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.inputs.files import Path, Source

_BLOCK = 1 << 20


class RankColumn(NamedTuple):
    """The lines of a run's file, in its order."""

    queries: npt.NDArray[np.int64]  # numbered as they first appear
    ranks: npt.NDArray[np.float64]  # NaN where the column holds no number
    scores: npt.NDArray[np.float64]


def read_ranks(path: Path) -> RankColumn | None:
    """Read the rank column of a run's file that `read_run` has read; None if it cannot be opened again.

    In plain Python: it is read for this question alone, and the fast reader need not carry it for all others.
    """
    numbers: dict[bytes, int] = {}
    parts: list[tuple[list[int], list[float], list[float]]] = []
    with Source(path) as source:
        if not source.reopenable:
            return None
        for lines in _blocks_of_lines(source):
            fields = [line.split(None, 5) for line in lines if not line.isspace()]
            parts.append(
                (
                    [numbers.setdefault(field[0], len(numbers)) for field in fields],
                    [_number(field[3]) for field in fields],
                    [_number(field[4]) for field in fields],
                )
            )
    queries, ranks, scores = (np.array([x for part in parts for x in part[i]]) for i in range(3))
    return RankColumn(queries.astype(np.int64), ranks.astype(np.float64), scores.astype(np.float64))


def _blocks_of_lines(source: Source) -> Iterator[list[bytes]]:
    room = bytearray(_BLOCK)
    rest = b""
    while size := source.read_into(memoryview(room)):
        *lines, rest = (rest + bytes(room[:size])).split(b"\n")
        yield [line for line in lines if line]
    yield [rest] if rest else []


def _number(text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
