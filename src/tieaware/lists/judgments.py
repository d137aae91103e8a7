"""Relevance labels: those of all judged documents of each query, and those of the documents of ranked lists."""

from __future__ import annotations

from functools import cached_property
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Labels, Offsets, Values, first, label_error
from tieaware.errors import InputError
from tieaware.kernels import _labels
from tieaware.lists.exact_sums import cumulative_sums
from tieaware.lists.grades import Grades
from tieaware.lists.identifiers import Identifiers
from tieaware.lists.subtopics import Subtopics

# A label of POOLED or lower means that the document is in the pool but not judged. Label -1 means that the document is
# not in the pool.
POOLED = -2


class Judgments:
    """The relevance labels of all judged documents, stored in one array, query by query.

    Parameters
    ----------
    labels : int32[n_judged]
        Documents with negative labels count as unjudged. With `grades`, the numbers of the labels.
    offsets : int64[n_queries + 1]
        The labels of query ``q`` are ``offsets[q]`` to ``offsets[q + 1]``.
    left_out : int64[n_queries], optional
        For each query, the number of documents of label 0 that are not in `labels`.
    grades : Grades, optional
        The values of labels that are real numbers; None if `labels` are the labels themselves.
    is_part : bool
        Whether there may be more judgments elsewhere, so that nothing is wrong if no document is relevant.
    subtopics : Subtopics, optional
        The subtopics of the queries, if `grades` are a `SubtopicGrades`.
    documents : Identifiers, optional
        The document of each label.

    Attributes
    ----------
    totals : list
        A cache of the totals of measures over these judgments, which `tieaware.engine.totals` fills.
    """

    def __init__(
        self, labels: Labels, offsets: Offsets, left_out: Integers | None = None, grades: Grades | None = None,
        is_part: bool = False, subtopics: Subtopics | None = None, documents: Identifiers | None = None,
    ) -> None:  # fmt: skip
        self.labels = labels
        self.offsets = offsets
        self.left_out = left_out
        self.grades = grades
        self.is_part = is_part
        self.subtopics = subtopics
        self.documents = documents
        self.totals: list[Any] = []
        self._counts: dict[float, Values] = {}

    @cached_property
    def as_part(self) -> Judgments:
        """The same judgments as a part of more; see `is_part`."""
        if self.grades is None:
            return self
        return Judgments(
            self.labels, self.offsets, self.left_out, self.grades, True, self.subtopics, self.documents
        )  # fmt: skip

    @property
    def n_queries(self) -> int:
        """The number of queries, including those without judgments."""
        return len(self.offsets) - 1

    @cached_property
    def query(self) -> Integers:
        """The index of the query of each document."""
        return np.repeat(np.arange(self.n_queries), np.diff(self.offsets))

    def deepest(self, cutoff: int | None) -> int:
        """Return the largest number of documents of a query in `labels`, or the cut-off if that is smaller."""
        longest = _labels.longest(self.offsets)
        return longest if cutoff is None else min(longest, cutoff)

    @property
    def values(self) -> npt.NDArray[Any]:
        """The label of each document: int32[n_judged], or float64[n_judged] if labels are real numbers."""
        return self.labels if self.grades is None else self.grades.labels(self.labels)

    @cached_property
    def plain(self) -> Judgments:
        """The same judgments, with the highest label of each document instead of labels for subtopics."""
        if self.subtopics is None:
            return self
        if self.values.dtype != np.int32:
            problem = "are not whole numbers for all subtopics, which only measures of diversity take"
            raise InputError("labels", f"{problem}; pass judgments without subtopics for other measures")
        return Judgments(self.values, self.offsets, self.left_out, is_part=self.is_part)

    def count(self, least: float) -> Values:
        """Return how many documents of each query have label `least` or a higher label: float64[n_queries]."""
        known = self._counts.get(least)
        if known is None:
            number = ceil(min(least, 2**40)) if self.grades is None else self.grades.first_of(least)
            known = _labels.count(self.labels, self.offsets, number)
            if number <= 0 and self.left_out is not None:
                known += self.left_out
            self._counts[least] = known
        return known

    def count_positive(self) -> Values:
        """Return how many documents of each query have a label above 0: float64[n_queries]."""
        return self.count(1 if self.grades is None else np.nextafter(0.0, 1.0))

    def best_first(self, worth: npt.NDArray[np.generic]) -> Integers:
        """Return the indices of the documents, query by query, sorted by descending `worth` within each query."""
        return np.lexsort((-worth.astype(np.float64), self.query))

    def cumulated(self, gains: Values) -> tuple[Values, Integers]:
        """Return the cumulative sums of each query's gains, after sorting these in descending order.

        Also returns the index at which the sums of each query start. Documents whose gain is -inf are left out.
        """
        taken = gains > -np.inf
        query = self.query[taken]
        offsets = np.concatenate(([0], np.cumsum(taken)))[self.offsets]
        if (gains[taken] != np.floor(gains[taken])).any():
            best_first = gains[taken][np.lexsort((-gains[taken], query))]
            return cumulative_sums(best_first, np.repeat(offsets[:-1], np.diff(offsets))), offsets[:-1].astype(np.int64)
        running = np.concatenate(([0.0], np.cumsum(gains[taken][np.lexsort((-gains[taken], query))])))
        return running[1:] - np.repeat(running[offsets[:-1]], np.diff(offsets)), offsets[:-1].astype(np.int64)

    def short_of(self, others: Judgments) -> int | None:
        """Return the first query that lacks judged documents which `others` has; None if there is none.

        A query lacks none if, for every i, its i-th highest label in `others` is at most its i-th highest label here.
        Negative labels do not count.
        """
        theirs = others.labels[others.best_first(others.labels)]
        ours = self.labels[self.best_first(self.labels)]
        # After sorting, the i-th highest label of a query (from 0) is i places after the query's offset.
        place = np.arange(len(theirs)) - np.repeat(others.offsets[:-1], np.diff(others.offsets))
        beside = self.offsets[:-1][others.query] + place
        is_there = place < np.diff(self.offsets)[others.query]
        found = np.full(len(theirs), -1, dtype=np.int32)
        found[is_there] = ours[beside[is_there]]
        short = others.count(0) > self.count(0)
        short[others.query[(theirs >= 0) & (found < theirs)]] = True
        return first(short)


class Excluded(NamedTuple):
    """Documents that have scores but are excluded from the ranking of their list.

    Those of list ``q`` are ``offsets[q]`` to ``offsets[q + 1]``. `positions`, int64[n_excluded], has the position of
    each in its list, from 0, ascending.
    """

    offsets: Offsets
    positions: Integers

    @property
    def query(self) -> Integers:
        """The index of the query of each excluded document."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def of(self, query: int) -> Integers:
        """Return the positions of the excluded documents in the list of this query."""
        return self.positions[self.offsets[query] : self.offsets[query + 1]]

    def rows(self, first: int, last: int) -> Excluded:
        """Return the excluded documents of the lists first … last - 1 only."""
        start, end = self.offsets[first], self.offsets[last]
        return Excluded(self.offsets[first : last + 1] - start, self.positions[start:end])

    def left(self, offsets: Offsets) -> npt.NDArray[np.bool_]:
        """Return a mask that is true for the documents that are not excluded. `offsets` are those of the lists."""
        ranked = np.ones(offsets[-1], dtype=bool)
        ranked[offsets[self.query] + self.positions] = False
        return ranked


class JudgedLists(NamedTuple):
    """The sizes of the lists to evaluate, and the positions and labels of their judged documents.

    Parameters
    ----------
    offsets : int64[n_queries + 1]
        The documents of list ``q`` are ``offsets[q]`` to ``offsets[q + 1]``.
    judged_offsets : int64[n_queries + 1]
        The judged documents of list ``q`` are ``judged_offsets[q]`` to ``judged_offsets[q + 1]`` of `positions` and
        `labels`.
    positions : int64[n_judged]
        The position of each judged document in its list, from 0, ascending.
    labels : int32[n_judged]
        The label of each judged document; negative for a document that is in the pool but not judged. With `grades`,
        the numbers of the labels.
    left_out : int64[n_queries], optional
        For each list, the number of documents of label 0 that are not in `labels`, if they have no weight for any
        measure.
    excluded : Excluded, optional
        The documents that are not ranked; none of them is judged.
    grades : Grades, optional
        The values of labels that are real numbers; None if `labels` are the labels themselves.
    """

    offsets: Offsets
    judged_offsets: Offsets
    positions: Integers
    labels: Labels
    left_out: Integers | None = None
    excluded: Excluded | None = None
    grades: Grades | None = None

    @classmethod
    def of_labels(
        cls, labels: npt.NDArray[Any], offsets: Offsets, *, zeros: bool, pool: bool, grades: Grades | None = None
    ) -> JudgedLists:
        """Return the judged documents of lists, given one label for each document, in an array of any shape.

        A negative label means unjudged. `zeros` and `pool` say whether documents of label 0, and documents that are in
        the pool but not judged, have a weight for some measure; documents without a weight are only counted.
        """
        found = _labels.listed(labels, offsets, zeros, pool)
        if found is None:
            raise label_error(labels, "labels")
        return cls(offsets, *found, grades=grades)

    @property
    def judgments(self) -> Judgments:
        """The judgments of these lists, for the case that no document outside of the lists is judged."""
        return Judgments(self.labels, self.judged_offsets, self.left_out, self.grades)

    @property
    def lengths(self) -> Integers:
        """The number of ranked documents of each list."""
        lengths: Integers = _labels.lengths(self.offsets)
        return lengths if self.excluded is None else lengths - np.diff(self.excluded.offsets)

    @property
    def judged_lengths(self) -> Integers:
        """The number of judged documents of each list."""
        return self.judgments.count(0).astype(np.int64)

    @property
    def longest(self) -> int:
        """The number of ranked documents of the longest list."""
        return _labels.longest(self.offsets) if self.excluded is None else int(self.lengths.max(initial=0))
