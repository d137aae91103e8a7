"""Observation of the lists while an experiment evaluates runs: cuts inside ties, and identical runs.

A list may end inside a tie where its run was probably cut: documents that tie with its last one may then be missing.
The averages and bounds over the orders of tied documents do not include such documents.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Scores
from tieaware.errors import printable
from tieaware.inputs import Run
from tieaware.lists.identifiers import encoded
from tieaware.measures import Measure
from tieaware.output.tables import counted, joined
from tieaware.statistics import Ties
from tieaware.statistics.tie_counts import common_length_of, ends_of

# The most runs that a warning names.
_SHOWN = 3
# Ends a statement about all orders of the tied documents if lists may have been cut inside a tie.
AS_FAR = ", as far as the lists reach"
# The note on such statements.
NOTE = (
    "Some lists end inside a tie at the common length of their run. If they were cut there, documents of the same "
    "score are missing: everything about ties holds as far as the lists reach."
)
# The note if only values are known.
UNKNOWN = (
    "Values do not show whether lists were cut inside a tie. If they were, documents of the same score are missing: "
    "everything about ties holds as far as the lists reach. comparison(qrels, runs, measures) looks at the lists."
)


class CutLists(NamedTuple):
    """The fields of `tieaware.statistics.Ties` about the ends of lists."""

    common_length: int | None
    cut_lists: int


class ObservedLists:
    """The ends and the digests of the lists of runs, collected while the runs are evaluated."""

    def __init__(self) -> None:
        # The length of each list, whether it ends inside a tie, and its digest.
        self._lists: dict[str, dict[bytes, tuple[int, bool, bytes]]] = {}

    def add(self, name: str, chunk: Run) -> None:
        """Add a chunk of a run. If a query reappears, the last chunk has all its documents."""
        lengths, tied = ends_of(cast(Scores, np.asarray(chunk.scores)), np.asarray(chunk.offsets))
        lists = zip(lengths.tolist(), tied.tolist(), _digests(chunk), strict=True)
        self._lists.setdefault(name, {}).update(zip(chunk.queries, lists, strict=True))

    def cut_lists(self, name: str) -> CutLists:
        """Return the common length of a run's lists, and how many of them end inside a tie there."""
        lists = self._lists.get(name, {}).values()
        length = common_length_of(np.array([n for n, *_ in lists], dtype=np.int64))
        return CutLists(length, sum(n == length and is_tied for n, is_tied, _ in lists))

    def identical(
        self, names: Sequence[str], queries: Sequence[str | int] | None = None
    ) -> tuple[tuple[str, ...], ...]:
        """Return each group of two or more runs that have the same lists for these queries, or for all their queries.

        Lists are the same if the same documents with the same scores are in the same order.
        """
        chosen = None if queries is None else list(map(encoded, queries))
        groups: dict[object, list[str]] = {}
        for name in names:
            lists = self._lists.get(name, {})
            key = frozenset(lists.items()) if chosen is None else tuple(map(lists.get, chosen))
            groups.setdefault(key, []).append(name)
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def reaches_cut(measure: Measure, counts: CutLists | Ties) -> bool:
    """Return whether a run has lists that may have been cut inside a tie, and the measure depends on their ends."""
    if not counts.cut_lists or counts.common_length is None:
        return False
    return measure.cutoff is None or measure.cutoff >= counts.common_length


def warn_of_cuts(names: Sequence[str], counts: Sequence[CutLists | Ties]) -> None:
    """Issue one warning about all runs whose lists end inside a tie at the common length of the run."""
    cut = [(name, each) for name, each in zip(names, counts, strict=True) if each.cut_lists]
    if not cut:
        return
    parts = [f"{each.cut_lists} of {printable(name)} at {each.common_length:,}" for name, each in cut[:_SHOWN]]
    more = f" and lists of {counted(len(cut) - _SHOWN, 'more run')}" if len(cut) > _SHOWN else ""
    n = sum(each.cut_lists for _, each in cut)
    lists, were = counted(n, "list ends", "lists end"), "it was" if n == 1 else "they were"
    warnings.warn(
        f"{lists} inside a tie at the common length of {'their' if n > 1 else 'its'} run: {', '.join(parts)}{more}. If "
        f"{were} cut there, documents of the same score are missing, and averages over ties cannot include them",
        stacklevel=3,
    )


# The most names of identical runs in a sentence.
_IDENTICAL_SHOWN = 5


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
    return np.asarray(numbers[first] == numbers[second])


def described(identical: Sequence[Sequence[str]]) -> str:
    """Name the identical runs in a sentence; empty if there are none."""
    if not identical:
        return ""
    shown = [
        joined(names) if len(names) <= _IDENTICAL_SHOWN
        else f"{', '.join(names[:_IDENTICAL_SHOWN])} and {len(names) - _IDENTICAL_SHOWN} more"
        for names in identical
    ]  # fmt: skip
    return f"Runs with the same documents and scores: {'; '.join(shown)}. Their pairs do not count as changed by ties."
