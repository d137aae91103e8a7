"""Placements of the labels of a list on its tie groups: all of them with their probabilities, if they are few.

If a run orders documents without regard to relevance, every assignment of the labels to the documents is equally
likely. A value depends on how many documents of each label are in each *class* of documents, such as a tie group. A
*placement* has these numbers, and stands for many assignments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import comb
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Values
from tieaware.measures import Measure

# Lists with more placements are sampled.
MOST_PLACEMENTS = 4096
# The kernels of measures that do not look below their cut-off; of these, those of measures that count the hits, and of
# measures of the first relevant document.
_WITHIN_CUTOFF = {
    "hits", "success", "reciprocal_rank", "average_precision", "discounted", "discounted_to_ideal", "patience",
    "cascade", "q_measure",
}  # fmt: skip
_OF_HITS, _OF_FIRST = {"hits"}, {"success", "reciprocal_rank"}

# A placement: pairs of the number of documents that rank above, and how many documents of each kind have the ranks that
# follow. Documents between these have no weight.
Placement: TypeAlias = list[tuple[int, tuple[int, ...]]]


def class_ends(scores: npt.NDArray[np.floating], measure: Measure) -> Integers:
    """Return the rank at which each class of documents ends, if documents are ranked by score: int64[n_classes].

    A class is a tie group. Groups that the measure cannot tell apart are one class: those below its cut-off, and for
    hits those within it.
    """
    _, sizes = np.unique(scores, return_counts=True)
    ends: Integers = np.cumsum(sizes[::-1])
    kernel = measure.definition.kernel
    if measure.cutoff is None or measure.judged_only or kernel not in _WITHIN_CUTOFF:
        return ends[-1:] if kernel in _OF_HITS and measure.cutoff is None else ends
    within = int(np.searchsorted(ends, measure.cutoff, side="right"))
    first = ends[:within]
    if kernel in _OF_HITS:
        first = first[-1:]
    rest = ends[within : within + 1] if within == 0 or ends[within - 1] < measure.cutoff else ends[:0]
    return np.unique(np.concatenate((first, rest, ends[-1:])))


def placements(
    sizes: Sequence[int], counts: Sequence[int], measure: Measure
) -> tuple[list[Placement], Values] | None:
    """Return all placements of documents on classes, and their probabilities; None if there are too many.

    Parameters
    ----------
    sizes : sequence of int
        The number of documents of each class, in the order of the ranking.
    counts : sequence of int
        The number of documents of each kind of weight.
    measure : Measure
        The measure whose values the placements have to distinguish.
    """
    left, total = sum(sizes), 1
    for count in counts:
        total *= comb(left, count)
        left -= count
    of_first = measure.definition.kernel in _OF_FIRST and len(counts) == 1 and not measure.judged_only
    if not of_first and any(_are_many(sizes, count) for count in counts):
        return None
    found: list[Placement] = []
    shares: list[float] = []
    for placement, ways in _of_first(sizes, counts[0]) if of_first else _of_all(sizes, counts):
        if len(found) == MOST_PLACEMENTS:
            return None
        found.append(placement)
        shares.append(ways / total)
    return found, np.array(shares)


def _are_many(sizes: Sequence[int], count: int) -> bool:
    """Return whether the documents of one kind alone have more than MOST_PLACEMENTS placements.

    Invariant: `ways[c]` is the number of placements of c documents on the classes so far, as a float.
    """
    if count <= len(sizes) and comb(len(sizes), count) > MOST_PLACEMENTS:
        return True
    ways = np.zeros(count + 1)
    ways[0] = 1.0
    for size in sizes:
        sums = np.cumsum(ways)
        sums[size + 1 :] -= sums[: max(count - size, 0)].copy()
        ways = np.minimum(sums, 1e15)
    return bool(ways[count] > MOST_PLACEMENTS)


def _of_first(sizes: Sequence[int], count: int) -> Iterator[tuple[Placement, int]]:
    """Yield each class that the first relevant document can be in, with each number of relevant documents in it.

    The other relevant documents are placed anywhere below: one placement, at the end, stands for all of these.
    """
    n = sum(sizes)
    start = 0
    for size in sizes:
        below = n - start - size
        for inside in range(max(1, count - below), min(size, count) + 1):
            others = [(n - count + inside, (count - inside,))] if inside < count else []
            yield [(start, (inside,)), *others], comb(size, inside) * comb(below, count - inside)
        start += size


def _of_all(sizes: Sequence[int], counts: Sequence[int]) -> Iterator[tuple[Placement, int]]:
    """Yield each placement with its number of assignments.

    Invariant: `room[k]` documents are in class k and the classes after it, and `starts[k]` before it.
    """
    room = np.cumsum(np.asarray(sizes)[::-1])[::-1].tolist()
    starts = [room[0] - each for each in room]

    def from_class(k: int, left: tuple[int, ...]) -> Iterator[tuple[Placement, int]]:
        if not any(left):
            yield [], 1
            return
        for j in range(k, len(sizes)):
            if room[j] < sum(left):
                return
            below = room[j] - sizes[j]
            for inside in product(*(range(max(0, count - below), min(sizes[j], count) + 1) for count in left)):
                if not 0 < sum(inside) <= sizes[j] or sum(left) - sum(inside) > below:
                    continue
                ways, free = 1, sizes[j]
                for put in inside:
                    ways *= comb(free, put)
                    free -= put
                others = tuple(count - put for count, put in zip(left, inside, strict=True))
                for placement, more in from_class(j + 1, others):
                    yield [(starts[j], inside), *placement], ways * more

    return from_class(0, tuple(counts))
