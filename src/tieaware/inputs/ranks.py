"""The rank column of a run's file, which evaluation ignores: to see whether it says what the scores say."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tieaware.checks.arrays import Integers, Values
from tieaware.inputs.files import ByteStream

_BLOCK = 1 << 20


class RankColumn(NamedTuple):
    """The lines of a run's file, in its order."""

    queries: Integers  # numbered as they first appear
    ranks: Values  # NaN where the column holds no number
    scores: Values


def read_ranks(run: object) -> RankColumn | None:
    """Read the rank column of a run's file that `read_run` has read; None of whatever cannot be opened again.

    In plain Python: it is read for this question alone, and the fast reader need not carry it for all others.

    Parameters
    ----------
    run : path, or anything else

    Returns
    -------
    RankColumn or None
        None of what is no path of a regular file: to open a pipe would take what it holds, or wait for more.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    if not isinstance(run, str | os.PathLike) or os.fspath(run) == "-" or not os.path.isfile(run):
        return None
    numbers: dict[bytes, int] = {}
    parts: list[tuple[list[int], list[float], list[float]]] = []
    with ByteStream(run) as stream:
        for lines in _blocks_of_lines(stream):
            # As the fast reader: neither empty lines nor comments are rows.
            fields = [field for field in (line.split(None, 5) for line in lines) if field and field[0][:1] != b"#"]
            parts.append(
                (
                    [numbers.setdefault(field[0], len(numbers)) for field in fields],
                    [_number(field[3]) for field in fields],
                    [_number(field[4]) for field in fields],
                )
            )
    queries, ranks, scores = (np.array([x for part in parts for x in part[i]]) for i in range(3))
    return RankColumn(queries.astype(np.int64), ranks.astype(np.float64), scores.astype(np.float64))


def _blocks_of_lines(stream: ByteStream) -> Iterator[list[bytes]]:
    room = bytearray(_BLOCK)
    rest = b""
    # The mark that some editors put before UTF-8 is no part of the first query.
    mark = b"\xef\xbb\xbf"
    while size := stream.read_into(memoryview(room)):
        *lines, rest = (rest + bytes(room[:size]).removeprefix(mark)).split(b"\n")
        mark = b""
        yield lines
    yield [rest]


def _number(text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
