"""Judged documents: what each query's judgments are, and where in a list they stand."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Labels, Offsets, Values, label_error
from tieaware.kernels import _labels

# The label of a document that was pooled and not judged, as lower ones are. That of one outside the pool is -1.
POOLED = -2


class Judgments:
    """The labels of all judged documents, query by query: what measures ask of them.

    Parameters
    ----------
    labels : int32[n_judged]
        Negative labels count as unjudged.
    offsets : int64[n_queries + 1]
    left_out : int64[n_queries], optional
        How many documents of label 0 each query has besides.

    Attributes
    ----------
    totals : dict
        What they are all worth to measures: kept here by `tieaware.engine.totals`, as long as the judgments are.
    """

    def __init__(self, labels: Labels, offsets: Offsets, left_out: Integers | None = None) -> None:
        self.labels = labels
        self.offsets = offsets
        self.left_out = left_out
        self.totals: dict[Any, Any] = {}
        self._counts: dict[int, Values] = {}

    @property
    def n_queries(self) -> int:
        """How many queries there are, judged or not."""
        return len(self.offsets) - 1

    @cached_property
    def query(self) -> Integers:
        """The query of each document."""
        return np.repeat(np.arange(self.n_queries), np.diff(self.offsets))

    def deepest(self, cutoff: int | None) -> int:
        """Return how many documents the longest list of judged documents has, within a cut-off."""
        longest = _labels.longest(self.offsets)
        return longest if cutoff is None else min(longest, cutoff)

    def count(self, least: int) -> Values:
        """Return how many documents have at least this label: float64[n_queries]."""
        known = self._counts.get(least)
        if known is None:
            known = _labels.count(self.labels, self.offsets, least)
            if least <= 0 and self.left_out is not None:
                known += self.left_out
            self._counts[least] = known
        return known

    def best_first(self, worth: npt.NDArray[np.generic]) -> Integers:
        """Return the documents of each query in the order of what they are worth, descending."""
        return np.lexsort((-worth.astype(np.float64), self.query))

    def cumulated(self, gains: Values) -> tuple[Values, Integers]:
        """Return the sums of the gains of each query, the best first; and where each query's sums start.

        Documents whose gain is -inf take no part.
        """
        taken = gains > -np.inf
        query = self.query[taken]
        offsets = np.concatenate(([0], np.cumsum(taken)))[self.offsets]
        running = np.concatenate(([0.0], np.cumsum(gains[taken][np.lexsort((-gains[taken], query))])))
        return running[1:] - np.repeat(running[offsets[:-1]], np.diff(offsets)), offsets[:-1].astype(np.int64)

    def short_of(self, others: Judgments) -> int | None:
        """Return the first query with fewer documents of some label or more than others have, if there is one.

        Negative labels do not count. The i-th best document of the others must have no better label than ours.
        """
        theirs = others.labels[others.best_first(others.labels)]
        ours = self.labels[self.best_first(self.labels)]
        # Sorted, the i-th of each query stands i after its offset; those with labels come first.
        place = np.arange(len(theirs)) - np.repeat(others.offsets[:-1], np.diff(others.offsets))
        beside = self.offsets[:-1][others.query] + place
        is_there = place < np.diff(self.offsets)[others.query]
        found = np.full(len(theirs), -1, dtype=np.int32)
        found[is_there] = ours[beside[is_there]]
        short = others.count(0) > self.count(0)
        short[others.query[(theirs >= 0) & (found < theirs)]] = True
        return int(short.argmax()) if short.any() else None


class Excluded(NamedTuple):
    """Documents that have scores, and are taken out of the ranking of their list.

    Parameters
    ----------
    offsets : int64[n_queries + 1]
        Those of list ``q`` are ``offsets[q]`` to ``offsets[q + 1]``.
    positions : int64[n_excluded]
        Where each is in its list, from 0, ascending.
    """

    offsets: Offsets
    positions: Integers

    @property
    def query(self) -> Integers:
        """The query of each document."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def of(self, query: int) -> Integers:
        """Return the positions in one list."""
        return self.positions[self.offsets[query] : self.offsets[query + 1]]

    def rows(self, first: int, last: int) -> Excluded:
        """Return those of the lists first … last - 1."""
        start, end = self.offsets[first], self.offsets[last]
        return Excluded(self.offsets[first : last + 1] - start, self.positions[start:end])

    def left(self, offsets: Offsets) -> npt.NDArray[np.bool_]:
        """Return which documents of the lists between offsets are ranked."""
        ranked = np.ones(offsets[-1], dtype=bool)
        ranked[offsets[self.query] + self.positions] = False
        return ranked


class JudgedLists(NamedTuple):
    """Ranked lists of which the judged documents are known: all that evaluation needs besides the scores.

    Parameters
    ----------
    offsets : int64[n_queries + 1]
        The documents of list ``q`` are ``offsets[q]`` to ``offsets[q + 1]``.
    judged_offsets : int64[n_queries + 1]
        Its judged documents are ``judged_offsets[q]`` to ``judged_offsets[q + 1]``.
    positions : int64[n_judged]
        Where each is in its list, from 0, ascending.
    labels : int32[n_judged]
        Its label; negative for one that is unjudged, but in the pool.
    left_out : int64[n_queries], optional
        How many documents of label 0 each list has besides, where these weigh nothing.
    excluded : Excluded, optional
        The documents that are not ranked, none of them judged.
    """

    offsets: Offsets
    judged_offsets: Offsets
    positions: Integers
    labels: Labels
    left_out: Integers | None = None
    excluded: Excluded | None = None

    @classmethod
    def of_labels(cls, labels: npt.NDArray[Any], offsets: Offsets, *, zeros: bool, pool: bool) -> JudgedLists:
        """Find the judged documents of lists of which every document has a label.

        Parameters
        ----------
        labels : whole numbers or bools, as `as_integer_labels` returns them
            Of any shape.
        offsets : int64[n_queries + 1]
            Of the lists.
        zeros, pool : bool
            Whether the documents of label 0 weigh anything, and those of the pool. What weighs nothing is counted.

        Raises
        ------
        InputError
            If a label needs more than 32 bits.
        """
        found = _labels.listed(labels, offsets, zeros, pool)
        if found is None:
            raise label_error(labels, "labels")
        return cls(offsets, *found)

    @property
    def judgments(self) -> Judgments:
        """The judged documents of the lists as if they were all."""
        return Judgments(self.labels, self.judged_offsets, self.left_out)

    @property
    def lengths(self) -> Integers:
        """How many documents of each list are ranked."""
        lengths: Integers = self.offsets[1:] - self.offsets[:-1]
        return lengths if self.excluded is None else lengths - np.diff(self.excluded.offsets)

    @property
    def judged_lengths(self) -> Integers:
        """How many documents of each list have a label."""
        return self.judgments.count(0).astype(np.int64)

    @property
    def longest(self) -> int:
        """The length of the longest list."""
        return _labels.longest(self.offsets) if self.excluded is None else int(self.lengths.max(initial=0))
