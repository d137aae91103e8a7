"""Runs with the same documents and scores, between which an order of the tied documents makes no difference."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers
from tieaware.inputs import Run
from tieaware.lists.identifiers import encoded

# The most names of identical runs in a sentence.
_SHOWN = 5


class Fingerprints:
    """Digests of the lists of runs, collected while the runs are evaluated."""

    def __init__(self) -> None:
        self._digests: dict[str, dict[bytes, bytes]] = {}

    def add(self, name: str, chunk: Run) -> None:
        """Add a chunk of a run. If a query reappears, the last chunk has all its documents."""
        lists = zip(chunk.queries, _digests(chunk), strict=True)
        self._digests.setdefault(name, {}).update(lists)

    def identical(
        self, names: Sequence[str], queries: Sequence[str | int] | None = None
    ) -> tuple[tuple[str, ...], ...]:
        """Return each group of two or more runs that have the same lists for these queries, or for all their queries.

        Lists are the same if the same documents with the same scores are in the same order.
        """
        chosen = None if queries is None else list(map(encoded, queries))
        groups: dict[object, list[str]] = {}
        for name in names:
            digests = self._digests.get(name, {})
            key = frozenset(digests.items()) if chosen is None else tuple(map(digests.get, chosen))
            groups.setdefault(key, []).append(name)
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def _digests(chunk: Run) -> list[bytes]:
    """Return a digest of each list."""
    documents, scores = chunk.documents, np.asarray(chunk.scores, dtype=np.float64)
    data, offsets = np.asarray(documents.data), np.asarray(documents.offsets)
    found = []
    for start, stop in pairwise(np.asarray(chunk.offsets).tolist()):
        digest = hashlib.blake2b(scores[start:stop].tobytes(), digest_size=16)
        # The lengths tell where each identifier ends.
        digest.update(np.diff(offsets[start : stop + 1]).tobytes())
        digest.update(data[offsets[start] : offsets[stop]].tobytes())
        found.append(digest.digest())
    return found


def between_identical(
    identical: Sequence[Sequence[str]], runs: Sequence[str], first: Integers, second: Integers
) -> npt.NDArray[np.bool_]:
    """Return for each pair of runs whether both are in one group of identical runs."""
    group = {run: i for i, each in enumerate(identical) for run in each}
    # A run that is in no group gets a negative number of its own.
    numbers = np.array([group.get(run, -1 - i) for i, run in enumerate(runs)], dtype=np.int64)
    same: npt.NDArray[np.bool_] = numbers[first] == numbers[second]
    return same


def described(identical: Sequence[Sequence[str]]) -> str:
    """Name the identical runs in a sentence; empty if there are none."""
    if not identical:
        return ""
    which = "; ".join(map(_listed, identical))
    return f"Runs with the same documents and scores: {which}. Their pairs do not count as changed by ties."


def _listed(names: Sequence[str]) -> str:
    if len(names) > _SHOWN:
        return f"{', '.join(names[:_SHOWN])} and {len(names) - _SHOWN} more"
    return f"{', '.join(names[:-1])} and {names[-1]}"
