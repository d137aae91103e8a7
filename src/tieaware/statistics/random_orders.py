"""The values of one list if its labels are assigned to its documents at random: exactly, or by sampling.

If a run orders documents without regard to relevance, every assignment of the labels to the documents is equally
likely. A value depends on how many documents of each label are in each *class* of documents, such as a tie group. A
*placement* has these numbers, and stands for many assignments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import comb
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Labels, Scores, Values
from tieaware.checks.rounding import rounding_of
from tieaware.engine.prepared import prepare
from tieaware.engine.totals import Totals
from tieaware.engine.views import View, passes
from tieaware.lists.grades import Grades
from tieaware.lists.judgments import JudgedLists, Judgments
from tieaware.measures import Measure

# The most values of an exact sum, and the most pairs of values that are added to compute it.
_MOST_VALUES, _MOST_PAIRS = 50_000, 4_000_000


class Distribution(NamedTuple):
    """A distribution over few values, which ascend, no two of them equal."""

    values: Values
    probabilities: Values

    @classmethod
    def of(cls, values: Values, probabilities: Values) -> Distribution:
        """Return the distribution of values in any order; the probabilities of equal values are added up."""
        order = np.argsort(values, kind="stable")
        ascending = values[order]
        first = np.flatnonzero(np.diff(ascending, prepend=-np.inf) > rounding_of(ascending))
        return cls(ascending[first], np.add.reduceat(probabilities[order], first))

    def at_least(self, value: float) -> float:
        """Return the probability of a number that is at least `value`, up to rounding errors."""
        return float(self.probabilities[self.values >= value - rounding_of(self.values)].sum())

    def at_most(self, value: float) -> float:
        """Return the probability of a number that is at most `value`, up to rounding errors."""
        return float(self.probabilities[self.values <= value + rounding_of(self.values)].sum())


def sum_of(distributions: Sequence[Distribution]) -> Distribution | None:
    """Return the distribution of the sum of independent numbers; None if it has too many values.

    The numbers with the fewest values are added first.
    """
    total = Distribution(np.zeros(1), np.ones(1))
    for each in sorted(distributions, key=lambda one: len(one.values)):
        if len(total.values) * len(each.values) > _MOST_PAIRS:
            return None
        sums = np.add.outer(total.values, each.values).ravel()
        total = Distribution.of(sums, np.multiply.outer(total.probabilities, each.probabilities).ravel())
        if len(total.values) > _MOST_VALUES:
            return None
    return total


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


def placements(sizes: Sequence[int], counts: Sequence[int], measure: Measure) -> tuple[list[Placement], Values] | None:
    """Return all placements of documents on classes, and their probabilities; None if there are too many.

    `sizes` has the number of documents of each class, in the order of the ranking, and `counts` that of each kind of
    weight. The placements have to distinguish the values of the measure.
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


(_AVERAGE,) = passes([View("average")])
# The number of documents that are shuffled at a time.
_SHUFFLED = 1 << 20


@dataclass(frozen=True)
class LabelledList:
    """A list of at least one document with scores, some of them judged.

    `positions` are those of the judged documents in the list, ascending, and `labels` their labels. `row` is the row of
    the query in the judgments. `grades` has the values of labels that are real numbers; see `JudgedLists`.
    """

    scores: Scores
    positions: Integers
    labels: Labels
    judgments: Judgments
    row: int
    grades: Grades | None = None

    def values(self, measures: tuple[Measure, ...], positions: Integers, labels: Labels) -> Values:
        """Return the values of the list for each assignment of labels: float64[n_assignments, n_measures].

        `positions`, int64[n_assignments, n_weighted], are those of documents for each assignment, all different, in any
        order; `labels` are their labels. The other judged documents of the list have no weight for any of the measures.
        """
        n, (n_assignments, n_weighted) = len(self.scores), positions.shape
        order = np.argsort(positions, axis=1)
        lists = JudgedLists(
            np.arange(n_assignments + 1) * n, np.arange(n_assignments + 1) * n_weighted,
            np.take_along_axis(positions, order, axis=1).ravel(), np.ascontiguousarray(labels[order].ravel()),
            np.full(n_assignments, np.count_nonzero(self.labels >= 0) - np.count_nonzero(labels >= 0)),
            grades=self.grades,
        )  # fmt: skip
        totals = Totals.of(measures, self.judgments).rows(np.full(n_assignments, self.row))
        values = np.empty((n_assignments, len(measures)))
        prepare(measures, lists, totals, _AVERAGE).sharing_scores().evaluate(self.scores, values)
        return values

    def observed(self, measures: tuple[Measure, ...]) -> Values:
        """Return the values of the list as it is: float64[n_measures]."""
        values: Values = self.values(measures, self.positions[None], self.labels)[0]
        return values

    def distribution(self, measure: Measure) -> Distribution | None:
        """Return the exact distribution of a measure over all assignments; None if it has too many placements."""
        _, representative, kinds = self._kinds((measure,))
        ends = class_ends(self.scores, measure)
        counts = np.bincount(kinds, minlength=len(representative)).tolist()
        found = placements(np.diff(ends, prepend=0).tolist(), counts, measure)
        if found is None:
            return None
        ranked = np.argsort(-self.scores, kind="stable")
        labels = np.repeat(representative, counts)
        places = np.empty((len(found[0]), len(labels)), np.int64)
        first_of_kind = np.concatenate(([0], np.cumsum(counts)))[:-1].tolist()
        for row, placement in zip(places, found[0], strict=True):
            next_of_kind = list(first_of_kind)
            for at, inside in placement:
                for kind, put in enumerate(inside):
                    row[next_of_kind[kind] : next_of_kind[kind] + put] = ranked[at : at + put]
                    next_of_kind[kind] += put
                    at += put
        return Distribution.of(self.values((measure,), places, labels)[:, 0], found[1])

    def samples(self, measures: tuple[Measure, ...], n: int, rng: np.random.Generator) -> Values:
        """Return the values of n random assignments: float64[n, n_measures]."""
        weighted, representative, kinds = self._kinds(measures)
        labels = representative[kinds]
        values = np.empty((n, len(measures)))
        at_once = max(1, _SHUFFLED // len(self.scores))
        for start in range(0, n, at_once):
            size = min(at_once, n - start)
            places = _choices(len(self.scores), len(weighted), size, rng)
            values[start : start + size] = self.values(measures, places, labels)
        return values

    def _kinds(self, measures: tuple[Measure, ...]) -> tuple[Integers, Labels, Integers]:
        """Return the documents with a weight, a label for each kind of weights, and the kind of each document.

        Documents of one kind have the same weights for all of the measures.
        """
        labels = self.labels if self.grades is None else self.grades.labels(self.labels)
        rows = [measure.definition.weighting.weigh(measure, labels) for measure in measures]
        if any(measure.judged_only for measure in measures):
            rows.append((self.labels >= 0)[None].astype(np.float64))
        weights = np.concatenate(rows)
        weighted = np.flatnonzero(weights.any(axis=0))
        _, first, kinds = np.unique(weights[:, weighted], axis=1, return_index=True, return_inverse=True)
        return weighted, self.labels[weighted[first]], kinds.reshape(-1)


def _choices(n: int, size: int, repeats: int, rng: np.random.Generator) -> Integers:
    """Choose `size` of n positions at random, without repetition, in random order: int64[repeats, size]."""
    if size * size > n:
        every: npt.NDArray[np.int64] = np.tile(np.arange(n), (repeats, 1))
        return rng.permuted(every, axis=1)[:, :size]
    chosen = rng.integers(0, n, (repeats, size))
    again = np.arange(repeats)
    while True:
        ascending = np.sort(chosen[again], axis=1)
        again = again[(ascending[:, 1:] == ascending[:, :-1]).any(axis=1)]
        if not len(again):
            return chosen
        chosen[again] = rng.integers(0, n, (len(again), size))
