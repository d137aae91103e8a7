"""Exact search: the top K of all documents, by reading all postings or those that matter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tieaware.checks.arguments import one_of
from tieaware.checks.arrays import Values
from tieaware.retrieval.accumulators import Found, accumulate
from tieaware.retrieval.index import Index, Query
from tieaware.retrieval.method import Method, posting_weights, weighted


@dataclass(frozen=True, kw_only=True)
class Exact(Method):
    """Read all postings of the query's terms, term at a time, with an accumulator for each document.

    Documents without any of the terms, or whose score is 0, are not found. It is what the other methods are measured
    against.

    Parameters
    ----------
    weighting : str
        As for every `Method`. Where the query's letters are "bnn", as in "lnc.bnn", all its terms weigh 1, which is the
        book's FastCosineScore.
    heap : "all" or None
        None: the best K so far are kept; every document of the J that have a score is compared to the worst of them, or
        to a score that K are known to reach, and mostly to no other. "all": the book's heap of all J, from which the
        top K are drawn. The result is the same, `Costs.comparisons` are not: at most 2J to build the heap of all and
        2 log2 J to draw one.

    Raises
    ------
    InputError
        A parameter is out of its range.

    See Also
    --------
    MaxScore : Finds the same, and reads less.

    Notes
    -----
    Introduction to Information Retrieval, figures 6.14 and 7.1 and section 7.1. A score is summed in float64 in the
    order of the terms' numbers, so it has the same bits however the work is done.

    Examples
    --------
    >>> index = Index.build([("d1", "a tie"), ("d2", "no tie"), ("d3", "rank")], analyzer=str.split)
    >>> run, costs = Exact(weighting="nnn.bnn").counted(index, {"q": "tie"})
    >>> run.documents.to_list(), run.scores.tolist()
    (['d1', 'd2'], [1.0, 1.0])
    >>> costs.postings.tolist(), costs.documents.tolist()
    ([2], [2])
    """

    heap: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.heap is not None:
            one_of("heap", self.heap, ("all",))

    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Return what finds the top documents of a query.

        Parameters
        ----------
        index, k, whole_ties
            As `Method.searcher` takes them.

        Returns
        -------
        callable
            Takes a `Query`, and returns what was `Found`.
        """
        lists, n = weighted(index, self.weighting), len(index)
        if self.heap == "all":
            return lambda query: accumulate(lists(query), n, k, whole_ties=whole_ties, heap_of_all=True)
        reached = _largest(index, self.weighting, k)

        def find(query: Query) -> Found:
            of_query = lists(query)
            floor = _floor(of_query.query_weights, reached[query.terms])
            return accumulate(of_query, n, k, floor=floor, whole_ties=whole_ties)

        return find


@dataclass(frozen=True, kw_only=True)
class MaxScore(Method):
    """Find what `Exact` finds, bit for bit, without reading what cannot matter for the top K.

    The K-th best score so far is a threshold. Terms whose largest weights together do not reach it are not essential:
    a document with these alone cannot enter. They are looked up only for documents that the essential terms have
    lifted, the one that may add most first, and only as long as the document can still reach the threshold.

    Parameters
    ----------
    weighting : str
        As for every `Method`.

    Raises
    ------
    InputError
        A parameter is out of its range.

    See Also
    --------
    Exact : Reads all postings.

    Notes
    -----
    Turtle and Flood, Query evaluation: strategies and optimizations, Information Processing & Management 31(6), 1995.
    It is not document at a time, as theirs is: as in Lucene, the documents come in blocks, as to choose the next
    document of several lists takes longer than to add a posting. Of a block, the essential terms are added to
    accumulators, and then the documents that may enter are completed. Where these are many, a list that is not
    essential is added as well, which takes less time than to look for them one by one. Documents with an accumulator
    are those that count as scored, and postings as read that were added to one or completed a score.

    Examples
    --------
    >>> index = Index.build([("d1", "a tie"), ("d2", "no tie"), ("d3", "rank")], analyzer=str.split)
    >>> run = MaxScore(weighting="nnn.bnn").search(index, {"q": "tie rank"}, k=2)
    >>> run.documents.to_list(), run.scores.tolist()
    (['d1', 'd2'], [1.0, 1.0])
    """

    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Prepare the largest weight of each term, and return what finds the top documents of a query.

        Parameters
        ----------
        index, k, whole_ties
            As `Method.searcher` takes them.

        Returns
        -------
        callable
            Takes a `Query`, and returns what was `Found`.
        """
        lists, n = weighted(index, self.weighting), len(index)
        largest, reached = (_largest(index, self.weighting, rank) for rank in (1, k))

        def find(query: Query) -> Found:
            of_query = lists(query)
            weights = of_query.query_weights
            # A query that brings along a weight below 0 has no such bounds.
            bounds = weights * largest[query.terms] if (weights >= 0).all() else None
            floor = _floor(weights, reached[query.terms])
            return accumulate(of_query, n, k, bounds=bounds, floor=floor, whole_ties=whole_ties)

        return find


def _largest(index: Index, weighting: str, rank: int) -> Values:
    """Return a weight of each term that so many postings reach, or a few more than that; 0, if it has fewer.

    Of ranks, only powers of two are kept, so that the tables of different ones cannot be many.
    """
    rank = 1 << (rank - 1).bit_length()

    def find() -> Values:
        starts, weights = index.postings.starts, posting_weights(index, weighting)
        largest = np.zeros(index.postings.n_terms)
        enough = index.postings.document_frequencies >= rank
        if rank == 1 and enough.any():
            largest[enough] = np.maximum.reduceat(weights, starts[:-1][enough])
            return largest
        for term in np.flatnonzero(enough):
            of_term = weights[starts[term] : starts[term + 1]]
            largest[term] = np.partition(of_term, len(of_term) - rank)[len(of_term) - rank]
        return largest

    return index.prepared(("largest weights", weighting, rank), find)


def _floor(query_weights: Values, reached: Values) -> float:
    """Return a score that k documents have at least, as they have a term with the weight that is reached."""
    return float((query_weights * reached).max(initial=0)) if (query_weights >= 0).all() else 0.0
