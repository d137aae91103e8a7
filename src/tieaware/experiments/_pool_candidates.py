"""The documents that may be pooled, with the probability that each run contributes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Offsets, Scores, Values
from tieaware.experiments.evaluating import progress
from tieaware.inputs import Qrels, Run, RunSource
from tieaware.lists.grades import Missing


class Contribution(NamedTuple):
    """The documents that a run may contribute to the pool.

    Attributes
    ----------
    candidates : int64[n_contributed]
        The positions of the documents among all candidates.
    probability : float64[n_contributed]
        The probability that the run contributes each of them, above 0.
    divided : int64[n_divided]
        The queries for which the depth divides a tie group of the run.
    """

    candidates: Integers
    probability: Values
    divided: Integers


class Candidates:
    """The documents that may be pooled.

    Attributes
    ----------
    queries : list of str or of int
        The names of the queries, in the order of their first appearance.
    query_of : list of int
        The query of each document, as a position in `queries`.
    documents : list of str or of int
        The names of the documents, in the order of their first appearance.
    """

    def __init__(self) -> None:
        self.queries: list[str | int] = []
        self.query_of: list[int] = []
        self.documents: list[str | int] = []
        self._place_of_query: dict[bytes, int] = {}
        self._place: dict[tuple[int, bytes], int] = {}
        self._first: tuple[str, Run] | None = None

    def add(self, name: str, run: Run, depth: int) -> Contribution:
        """Add the documents that a run may contribute. `name` is the name of the run in messages."""
        if self._first is None and len(run):
            self._first = name, run
        elif self._first is not None:
            first_name, first = self._first
            run.queries.check_kind(first.queries, name, first_name)
            run.documents.check_kind(first.documents, name, first_name)
        rows, probability, divided = _within(run.scores, run.offsets, depth)
        query = self._queries_of(run)
        of_row = query[np.searchsorted(run.offsets, rows, side="right") - 1]
        documents = run.documents.take(rows)
        candidates = np.empty(len(rows), dtype=np.int64)
        entries = zip(of_row.tolist(), documents, documents.to_list(), strict=True)
        for i, (q, key, document) in enumerate(entries):
            place = self._place.setdefault((q, key), len(self.documents))
            if place == len(self.documents):
                self.query_of.append(q)
                self.documents.append(document)
            candidates[i] = place
        return Contribution(candidates, probability, query[divided])

    def _queries_of(self, run: Run) -> Integers:
        """Return the position of each query of a run, after adding new ones."""
        for key, query in zip(run.queries, run.queries.to_list(), strict=True):
            if key not in self._place_of_query:
                self._place_of_query[key] = len(self.queries)
                self.queries.append(query)
        return np.array([self._place_of_query[key] for key in run.queries], dtype=np.int64)

    def labels(self, qrels: Qrels, missing: Missing | None = None) -> Values:
        """Return the label of each document; NaN if it is not judged. With `missing`, the label -1 means unjudged."""
        if self._first is not None:
            qrels.queries.check_kind(self._first[1].queries, qrels.name, self._first[0])
            qrels.documents.check_kind(self._first[1].documents, qrels.name, self._first[0])
        labels = np.full(len(self.documents), np.nan)
        places = np.array([self._place_of_query.get(key, -1) for key in qrels.queries], dtype=np.int64)
        of_row = np.repeat(places, np.diff(qrels.offsets)).tolist()
        for q, document, label in zip(of_row, qrels.documents, qrels.labels.tolist(), strict=True):
            place = self._place.get((q, document))
            if place is not None and (missing is None or label != -1):
                labels[place] = label
        return labels

    def order(self, probability: Values) -> Integers:
        """Return the order of the documents by query, descending probability and identifier."""
        keys = [key for _, key in self._place]
        numbers = zip(self.query_of, (-probability).tolist(), keys, range(len(keys)), strict=True)
        return np.array([i for *_, i in sorted(numbers)], dtype=np.int64)


def collect(sources: Mapping[str, RunSource], depth: int) -> tuple[Candidates, list[Contribution]]:
    """Return the documents that may be pooled to a depth, and the contribution of each run."""
    candidates = Candidates()
    return candidates, [candidates.add(name, each.whole(), depth) for name, each in progress(sources.items(), "runs")]


def _within(scores: Scores, offsets: Offsets, depth: int) -> tuple[Integers, Values, Integers]:
    """Find the rows that may be within the first ranks of their list.

    Returns
    -------
    rows : int64[n]
    probability : float64[n]
        The share of the orders of tied documents that put the row within the first `depth` ranks.
    divided : int64[n_divided]
        The lists in which the depth divides a tie group.
    """
    list_of = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((-scores, list_of))
    ordered = scores[order]
    is_first = np.ones(len(scores), dtype=bool)
    is_first[1:] = (ordered[1:] != ordered[:-1]) | (list_of[1:] != list_of[:-1])
    starts = np.flatnonzero(is_first)
    size = np.diff(np.append(starts, len(scores)))
    before = starts - offsets[list_of[starts]]
    share = np.clip(depth - before, 0, size) / size
    probability = np.repeat(share, size)
    within = probability > 0.0
    return order[within], probability[within], list_of[starts[(share > 0.0) & (share < 1.0)]]


class Pools(NamedTuple):
    """The contributions of runs, and the pools that they make.

    Attributes
    ----------
    contributions : list of Contribution
    query_of : int64[n_candidates]
    n_queries : int
    """

    contributions: list[Contribution]
    query_of: Integers
    n_queries: int

    def missed(self) -> tuple[Values, Integers, Integers]:
        """Return how each document can be missing from the pool.

        Returns
        -------
        probability : float64[n_candidates]
            That none of the runs contributes it by chance; runs that surely contribute it do not count.
        n_sure, n_runs : int64[n_candidates]
            The number of runs that surely contribute it, and that may contribute it.
        """
        n = len(self.query_of)
        missing, n_sure, n_runs = np.ones(n), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        for each in self.contributions:
            sure = each.probability == 1.0
            n_runs[each.candidates] += 1
            n_sure[each.candidates[sure]] += 1
            missing[each.candidates[~sure]] *= 1.0 - each.probability[~sure]
        return missing, n_sure, n_runs

    def unique(self, counted: npt.NDArray[np.bool_]) -> Values:
        """Return how many of some documents each run alone is expected to contribute, float64[n_runs, n_queries].

        Parameters
        ----------
        counted : bool[n_candidates]
            The documents to count.
        """
        missing, n_sure, _ = self.missed()
        rows = []
        for each in self.contributions:
            p, sure = each.probability, each.probability == 1.0
            own = np.divide(missing[each.candidates], 1.0 - p, out=missing[each.candidates], where=~sure)
            alone = np.where(n_sure[each.candidates] == sure, p * own, 0.0)
            rows.append(self.by_query(each, alone * counted[each.candidates]))
        return np.stack(rows)

    def by_query(self, contribution: Contribution, weights: Values | None = None) -> Values:
        """Return the sum of weights over the documents that a run may contribute; by default their number."""
        of_query = self.query_of[contribution.candidates]
        return np.bincount(of_query, weights, minlength=self.n_queries).astype(np.float64)

    def divided(self) -> npt.NDArray[np.bool_]:
        """Return whether the depth divides a tie group of each run and query, bool[n_runs, n_queries]."""
        divided = np.zeros((len(self.contributions), self.n_queries), dtype=bool)
        for row, each in zip(divided, self.contributions, strict=True):
            row[each.divided] = True
        return divided
