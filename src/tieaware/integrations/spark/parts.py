"""Division of the queries into parts, and what every task that packs rows announces to each part.

The values of a query depend on all tasks that pack rows: a query has a row for each run that does not answer it, and a
bad row anywhere is an error. If Spark gathered the names of the runs before the evaluation, it would run two more jobs.
Instead, each task sends one row to every part with what it has seen. These rows precede the lists of the part.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers
from tieaware.errors import InputError
from tieaware.integrations.spark.installation import EXTRA
from tieaware.runtime.extras import load

# Each task sends a row to each part, so there are at most this many parts.
MOST_PARTS = 1024

# The columns of an announcement, with their types in Spark. They are null in all other rows.
ANNOUNCED = {"part": "int", "runs": "array<string>", "answering": "array<string>", "error": "string"}


def number_of_parts(spark: Any) -> int:
    """Return the number of parts for a session: the number of partitions of its shuffles, if that is not too many."""
    return min(int(spark.conf.get("spark.sql.shuffle.partitions")), MOST_PARTS)


def key_of_part(n_parts: int) -> str:
    """Return an SQL expression for the key of a row's part. All rows with the same key come to the same partition.

    The row has a column `part`, which is null unless it is an announcement, and a column `query`.
    """
    keys = ", ".join(map(str, keys_of_partitions(n_parts).tolist()))
    return f"element_at(array({keys}), 1 + cast(coalesce(part, pmod(xxhash64(query), {n_parts})) as int))"


@lru_cache(maxsize=8)
def keys_of_partitions(n: int) -> Integers:
    """Return n integers: if Spark divides rows among n partitions by such integers, partition i gets the i-th of them.

    With other integers, the result would be the same, but some partitions would get several parts, and others none.
    """
    keys = np.full(n, -1, np.int64)
    first = 0
    while (keys < 0).any():
        candidates = np.arange(first, first + 16 * n, dtype=np.int32)
        partitions, places = np.unique(_hash(candidates).astype(np.int64) % n, return_index=True)
        keys[partitions] = np.where(keys[partitions] < 0, candidates[places], keys[partitions])
        first += len(candidates)
    return keys


def _hash(values: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Return Spark's hash of integers of 32 bits: MurmurHash3 with the seed 42."""

    def rotated(x: npt.NDArray[np.uint32], bits: int) -> npt.NDArray[np.uint32]:
        return (x << np.uint32(bits)) | (x >> np.uint32(32 - bits))

    k = rotated(values.view(np.uint32) * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    h = rotated(k ^ np.uint32(42), 13) * np.uint32(5) + np.uint32(0xE6546B64)
    h ^= np.uint32(4)  # the number of bytes
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        h = (h ^ (h >> np.uint32(shift))) * np.uint32(factor)
    return (h ^ (h >> np.uint32(16))).view(np.int32)


class Announcement:
    """Names of runs and an error that tasks that pack rows have seen.

    Attributes
    ----------
    runs, answering : set of str
    error : str or None
        The message about a bad row; the first in alphabetical order if there are several.
    """

    runs: set[str]
    answering: set[str]
    error: str | None

    def __init__(self) -> None:
        self.runs, self.answering, self.error = set(), set(), None

    def add(self, runs: Iterable[str], answering: Iterable[str], errors: Iterable[str]) -> None:
        """Add names of runs and error messages."""
        self.runs.update(runs)
        self.answering.update(answering)
        self.error = min(filter(None, (self.error, *errors)), default=None)

    def add_rows(self, rows: Any) -> None:
        """Add the announcements in the rows of a batch, which `rows` made."""
        runs, answering = (rows.column(name).flatten().unique().to_pylist() for name in ("runs", "answering"))
        self.add(runs, answering, rows.column("error").drop_null().unique().to_pylist())

    def rows(self, n_parts: int) -> dict[str, Any]:
        """Return the columns of ANNOUNCED with a row for each part."""
        pa = load("pyarrow", EXTRA)
        names = pa.list_(pa.string())
        return {
            "part": pa.array(np.arange(n_parts, dtype=np.int32)),
            "runs": pa.array([sorted(self.runs)] * n_parts, names),
            "answering": pa.array([sorted(self.answering)] * n_parts, names),
            "error": pa.array([self.error] * n_parts, pa.string()),
        }

    def check(self, runs_name: str, judgments_name: str, are_named: bool) -> None:
        """Raise InputError if a row is bad, there are no runs, or a run answers no judged query.

        Parameters
        ----------
        runs_name, judgments_name : str
            The names of the data frames in messages.
        are_named : bool
            Whether the runs have names in the data frame; otherwise, it is one run.
        """
        if self.error is not None:
            raise InputError(runs_name, self.error.removeprefix(f"{runs_name}: "))
        unmatched = sorted(self.runs - self.answering)
        if unmatched or not self.runs:
            name = unmatched[0] if unmatched and are_named else runs_name
            raise InputError(name, f"no query of this run is judged in {judgments_name}")
