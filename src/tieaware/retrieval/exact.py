"""Exact search for the top K documents: `Exact` reads all postings, `MaxScore` those that can change the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from tieaware.checks.arguments import one_of
from tieaware.checks.arrays import Offsets, Values
from tieaware.kernels import _largest, _query_terms
from tieaware.retrieval.accumulators import Found, accumulate
from tieaware.retrieval.index import Index, Query
from tieaware.retrieval.method import Method, document_parts, posting_weights, weighted
from tieaware.retrieval.postings import LARGEST, over_terms
from tieaware.retrieval.weighting import Weights


@dataclass(frozen=True, kw_only=True)
class Exact(Method):
    """Read all postings of the query's terms, term at a time, with an accumulator for each document.

    A document is found if its score is above 0. The other methods are compared with this one. `MaxScore` finds the same
    documents, and reads fewer postings.

    Parameters
    ----------
    heap : "all" or None
        How to select the top K of the J documents that have a score. None keeps the best K so far, and compares each
        further document with the worst of the K, or with a score that K documents are known to reach. "all" builds a
        heap of all J documents and draws the top K from it, as in the book. The results are the same, but the number of
        comparisons is not: a heap of all documents takes at most 2J comparisons to build, and 2 log2 J to draw one
        document.

    Notes
    -----
    Introduction to Information Retrieval, figures 6.14 and 7.1 and section 7.1. The weighting "lnc.bnn", in which all
    terms of a query weigh 1, gives the book's FastCosineScore. A score is summed in float64 in the order of the terms'
    numbers, so all methods that compute the same sum give the same bits.

    Examples
    --------
    >>> index = Index.build([("d1", "a tie"), ("d2", "no tie"), ("d3", "rank")], analyzer=str.split)
    >>> run, costs = Exact(weighting="nnn.bnn").counted(index, {"q": "tie"})
    >>> run.documents.to_list(), run.scores.tolist()
    (['d1', 'd2'], [1.0, 1.0])
    >>> costs.postings.tolist(), costs.documents.tolist()
    ([2], [2])
    """

    heap: Literal["all"] | None = None

    _is_exact: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.heap is not None:
            one_of("heap", self.heap, ("all",))

    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Prepare the weights, and return the search function."""
        lists, n = weighted(index, self.weighting), len(index)
        if self.heap == "all":
            return lambda query: accumulate(lists(query), n, k, whole_ties=whole_ties, heap_of_all=True)
        kth_largest = nth_largest(index, self.weighting, k)

        def find(query: Query) -> Found:
            term_lists = lists(query)
            floor = score_of_k(term_lists.query_weights, kth_largest[query.terms])
            return accumulate(term_lists, n, k, floor=floor, whole_ties=whole_ties)

        return find


@dataclass(frozen=True, kw_only=True)
class MaxScore(Method):
    """Find the same documents and scores as `Exact`, without reading postings that cannot change the top K.

    The K-th best score so far is a threshold. Terms are non-essential if the sum of their largest weights does not
    reach it: a document that contains only such terms cannot enter the top K. Their postings are looked up only for
    documents that also contain an essential term, beginning with the term that can add most, and only as long as the
    document can still reach the threshold.

    Notes
    -----
    Turtle and Flood, Query evaluation: strategies and optimizations, Information Processing & Management 31(6), 1995.
    Their algorithm scores document at a time. This one processes chunks of documents, as Lucene does, because choosing
    the next document from several lists takes longer than adding a posting. In each chunk, the essential terms are
    added to accumulators first; then the scores of the documents that may enter the top K are completed. If there are
    many such documents, a non-essential list is added as a whole, which takes less time than looking up the documents
    one by one. A document counts as scored if its accumulator was used. A posting counts as read if it was added to an
    accumulator or completed a score; postings with a weight of 0 may not be counted.

    Examples
    --------
    >>> index = Index.build([("d1", "a tie"), ("d2", "no tie"), ("d3", "rank")], analyzer=str.split)
    >>> run = MaxScore(weighting="nnn.bnn").search(index, {"q": "tie rank"}, k=2)
    >>> run.documents.to_list(), run.scores.tolist()
    (['d1', 'd2'], [1.0, 1.0])
    """

    _is_exact: ClassVar[bool] = True

    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Find the largest weight of each term, and return the search function."""
        lists, n = weighted(index, self.weighting), len(index)
        largest, kth_largest = (nth_largest(index, self.weighting, rank) for rank in (1, k))
        highest_part = largest_part(index, self.weighting)

        def find(query: Query) -> Found:
            term_lists = lists(query)
            weights = term_lists.query_weights
            # The largest weight of a term gives no upper bound of a score if the query's own weight of the term is
            # negative.
            bounds = weights * largest[query.terms] if (weights >= 0).all() else None
            floor = score_of_k(weights, kth_largest[query.terms])
            highest = term_lists.part_weight() * highest_part
            return accumulate(term_lists, n, k, bounds=bounds, floor=floor, highest=highest, whole_ties=whole_ties)

        return find


def largest_part(index: Index, weighting: str) -> float:
    """Return the largest part of the score that belongs to a document; 0 if the weighting has no such parts."""
    parts = document_parts(index, weighting)
    if parts is None:
        return 0.0
    return index.prepared(("largest part", weighting), lambda: float(parts.max(initial=-LARGEST)))


def nth_largest(index: Index, weighting: str, rank: int) -> Values:
    """Return, for each term, a weight that at least `rank` of its postings reach; 0 if the term has fewer postings.

    The rank is rounded up to a power of two, so that the index caches few such arrays.
    """
    rank = 1 << (rank - 1).bit_length()

    def find() -> Values:
        return nth_largest_of(index.postings.starts, posting_weights(index, weighting), rank)

    return index.prepared(("largest weights", weighting, rank), find)


def nth_largest_of(starts: Offsets, weights: Weights, rank: int) -> Values:
    """Return the weight with this rank of each term; 0 if the term has fewer postings."""
    rank = min(rank, LARGEST)

    def find(first: int, stop: int) -> Values:
        begins = starts[first : stop + 1] - starts[first]
        own = weights[starts[first] : starts[stop]]
        enough = np.diff(begins) >= rank
        marks = _largest.largest(begins, own, np.where(enough, rank, 0)).view(bool)
        largest = np.zeros(stop - first)
        largest[enough] = own[marks].reshape(-1, rank).min(axis=1)
        return largest

    return np.concatenate([np.empty(0), *over_terms("largest weights", starts, find)])


def score_of_k(query_weights: Values, kth_largest: Values) -> float:
    """Return a score that at least k documents reach by a single term; 0 if the query has a negative weight."""
    return float(scores_of_k(query_weights, kth_largest, np.array([0, len(query_weights)]))[0])


def scores_of_k(query_weights: Values, kth_largest: Values, offsets: Offsets) -> Values:
    """Return such a score for each query: the weights of query ``i`` are ``offsets[i]`` to ``offsets[i + 1]``."""
    return _query_terms.largest_products(query_weights, kth_largest, offsets)
