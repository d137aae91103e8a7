"""The values of one list if its labels are assigned to its documents at random: exactly, or by sampling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Labels, Scores, Values
from tieaware.engine.prepared import prepare
from tieaware.engine.totals import Totals
from tieaware.engine.views import View, passes
from tieaware.lists.grades import Grades
from tieaware.lists.judgments import JudgedLists, Judgments
from tieaware.measures import Measure
from tieaware.statistics.distributions import Distribution
from tieaware.statistics.placements import class_ends, placements

(_AVERAGE,) = passes([View("average")])
# The number of documents that are shuffled at a time.
_SHUFFLED = 1 << 20


@dataclass(frozen=True)
class LabelledList:
    """A list of documents with scores, some of them judged.

    Parameters
    ----------
    scores : float64[n] or float32[n]
        At least one document.
    positions : int64[n_judged]
        The positions of the judged documents in the list, ascending.
    labels : array of length n_judged
        Their labels.
    judgments : Judgments
    row : int
        The row of the query in the judgments.
    grades : Grades, optional
        The values of labels that are real numbers; see `JudgedLists`.
    """

    scores: Scores
    positions: Integers
    labels: Labels
    judgments: Judgments
    row: int
    grades: Grades | None = None

    def values(self, measures: tuple[Measure, ...], positions: Integers, labels: Labels) -> Values:
        """Return the values of the list for each assignment of labels: float64[n_assignments, n_measures].

        Parameters
        ----------
        measures : tuple of Measure
        positions : int64[n_assignments, n_weighted]
            The positions of documents for each assignment, all different, in any order.
        labels : array of length n_weighted
            Their labels. The other judged documents of the list have no weight for any of the measures.
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
