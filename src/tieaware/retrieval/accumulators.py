"""The two ways to score: all documents of some postings, or some documents by all their postings; and the top K."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tieaware.checks.arrays import Integers, Values
from tieaware.kernels import _accumulators, _top
from tieaware.retrieval.postings import LARGEST, Numbers, Postings
from tieaware.retrieval.weighting import Weights

# So many documents have an accumulator at a time: 128 KB, which stay in the second-level cache.
_BLOCK = 1 << 14


# Lists of at least a quarter of all documents, of which there are thousands, are added sooner as a row of weights.
_DENSE, _LEAST = 4, 1 << 12


class DenseLists(NamedTuple):
    """The longest lists of all once more: a row of the table has a weight for each document, 0 where it is missing."""

    starts: Integers
    stops: Integers
    table: Weights

    @classmethod
    def of(cls, postings: Postings, weights: Weights) -> DenseLists:
        """Lay out those of whole terms that are long enough."""
        n = len(postings.lengths)
        terms = np.flatnonzero(postings.document_frequencies * _DENSE >= max(n, _LEAST))
        starts, stops = postings.starts[terms], postings.starts[terms + 1]
        table = np.zeros((len(terms), n), weights.dtype)
        for row, (a, b) in enumerate(zip(starts, stops, strict=True)):
            table[row, postings.documents[a:b]] = weights[a:b]
        return cls(starts, stops, table)

    def rows(self, starts: Integers, stops: Integers) -> Integers:
        """Return the row of each list, or -1 for one that is not among them."""
        if not len(self.starts):
            return np.full(len(starts), -1)
        rows = np.minimum(np.searchsorted(self.starts, starts), len(self.starts) - 1)
        return np.where((self.starts[rows] == starts) & (self.stops[rows] == stops), rows, -1)


class TermLists(NamedTuple):
    """Postings of a query's terms: list ``i`` is ``documents[starts[i]:stops[i]]``, ascending, with its weights.

    Dense lists may be among them, which are known by where they lie.
    """

    starts: Integers
    stops: Integers
    query_weights: Values
    documents: Numbers
    weights: Weights
    dense: DenseLists | None = None


class Found(NamedTuple):
    """The top documents of a query, best first, ties by number; and what it cost."""

    documents: Numbers
    scores: Values
    n_postings: int
    n_documents: int
    n_comparisons: int


def accumulate(
    lists: TermLists, n_documents: int, k: int, *, base: Values | None = None, at_least: int = 1,
    bounds: Values | None = None, floor: float = 0.0, whole_ties: bool = False, heap_of_all: bool = False,
    block: int = _BLOCK,
) -> Found:  # fmt: skip
    """Score every document of the lists, term at a time, and return the top k of those with a score above 0.

    A score is summed in float64, in the order of the lists, and then the base is added.

    Parameters
    ----------
    base : float64[n_documents], optional
        Added to each document's sum, such as its static quality. Then a score of 0 counts, too.
    at_least : int, default: 1
        Only documents that occur in so many of the lists.
    bounds : float64[n_lists], optional
        The most that each list adds to a score. Then the k-th best score so far decides what need not be read: lists
        that cannot lift a document above it are read only for documents of other lists. Alone, without base and
        at_least, and if no weight is below 0.
    floor : float, default: 0
        A score that k documents are known to reach; what is below it is passed over. Neither with base nor at_least.
    heap_of_all : bool, default: False
        Whether a heap is built of all documents with a score and the top k are drawn from it, as textbooks have it;
        else the best k so far are kept, and every other document is compared to the worst of them.
    block : int
        How many documents have an accumulator at a time. At least `n_documents`, if lists do not ascend.

    Returns
    -------
    Found
        With the postings that were read, the documents that had an accumulator above 0, or at all with a base, and
        how often two scores were compared.
    """
    rows = table = None
    if lists.dense is not None:
        rows, table = lists.dense.rows(lists.starts, lists.stops), lists.dense.table
    documents, scores, n_scored, n_comparisons, n_postings = _accumulators.accumulate(
        lists.starts, lists.stops, lists.query_weights, lists.documents, lists.weights, n_documents, min(k, LARGEST),
        base, at_least, whole_ties, heap_of_all, floor, bounds, rows, table, block,
    )  # fmt: skip
    return Found(documents, scores, n_postings, n_scored, n_comparisons)


def score(
    candidates: Numbers, lists: TermLists, k: int, *, base: Values | None = None, whole_ties: bool = False
) -> Found:
    """Score these documents alone, ascending, by all of the lists, and return the top k of those above 0.

    With a base (float64[n_documents], added to each document's sum) a score of 0 counts, too. Postings that were read
    are those of the candidates; to find them, candidates and lists are galloped through, which is not counted.
    """
    sums = np.zeros(len(candidates))
    n_postings = _accumulators.score(
        candidates, lists.starts, lists.stops, lists.query_weights, lists.documents, lists.weights, sums
    )
    if base is None:
        above = sums > 0
        return top(candidates[above], sums[above], n_postings, k, whole_ties=whole_ties)
    return top(candidates, sums + base[candidates], n_postings, k, whole_ties=whole_ties)


def top(documents: Numbers, scores: Values, n_postings: int, k: int, *, whole_ties: bool) -> Found:
    """Return the k best, best first, ties by number; with whole ties also those that tie with the last."""
    best, its_scores, n, n_comparisons = _top.top(documents, scores, min(k, LARGEST), whole_ties, False)
    return Found(best, its_scores, n_postings, n, n_comparisons)
