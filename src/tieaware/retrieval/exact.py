"""Exact search for the top K documents: `Exact` reads all postings, other methods those that can change the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np

from tieaware.checks.arguments import one_of
from tieaware.checks.arrays import Offsets, Values
from tieaware.kernels import _query_terms
from tieaware.retrieval.accumulators import Found, accumulate
from tieaware.retrieval.index import Index
from tieaware.retrieval.method import (
    Checks,
    Method,
    Searcher,
    WeightedQuery,
    document_parts,
    nth_largest,
    one_by_one,
    or_none,
    term_lists,
)
from tieaware.retrieval.postings import LARGEST, DocumentWeights, Numbers


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

    _checks: ClassVar[Checks] = {"heap": or_none(partial(one_of, choices=("all",)))}
    _is_exact: ClassVar[bool] = True

    def _searcher(self, index: Index, k: int, whole_ties: bool) -> Searcher:
        lists, n = term_lists(index, self.weighting), len(index)
        if self.heap == "all":
            return one_by_one(lambda query: accumulate(lists(query), n, k, whole_ties=whole_ties, heap_of_all=True))
        kth_largest = nth_largest(index, self.weighting, k)

        def find(query: WeightedQuery) -> Found:
            floor = score_of_k(query.weights, kth_largest[query.terms])
            return accumulate(lists(query), n, k, floor=floor, whole_ties=whole_ties)

        return one_by_one(find)


@dataclass(frozen=True, kw_only=True)
class MaxScore(Method):
    """Find the same documents and scores as `Exact`, without reading postings that cannot change the top K.

    It saves time in large collections, and most if a few terms are in many documents. On real text, it took 0.93 of the
    time of `Exact` with 600,000 documents, and saved none with 180,000.

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

    def _searcher(self, index: Index, k: int, whole_ties: bool) -> Searcher:
        lists, parts = term_lists(index, self.weighting), document_parts(index, self.weighting)
        largest, kth_largest = (nth_largest(index, self.weighting, rank) for rank in (1, k))
        highest_part = 0.0 if parts is None else float(parts.max(initial=-LARGEST))

        def find(query: WeightedQuery) -> Found:
            term_lists, weights = lists(query), query.weights
            # The largest weight of a term gives no upper bound of a score if the query's own weight of the term is
            # negative.
            bounds = weights * largest[query.terms] if (weights >= 0).all() else None
            return accumulate(
                term_lists, len(index), k, bounds=bounds, floor=score_of_k(weights, kth_largest[query.terms]),
                highest=term_lists.part_weight() * highest_part, whole_ties=whole_ties,
            )  # fmt: skip

        return one_by_one(find)


def score_of_k(query_weights: Values, kth_largest: Values) -> float:
    """Return a score that at least k documents reach by a single term; 0 if the query has a negative weight."""
    return float(scores_of_k(query_weights, kth_largest, np.array([0, len(query_weights)]))[0])


def scores_of_k(query_weights: Values, kth_largest: Values, offsets: Offsets) -> Values:
    """Return such a score for each query: the weights of query ``i`` are ``offsets[i]`` to ``offsets[i + 1]``."""
    return _query_terms.largest_products(query_weights, kth_largest, offsets)


def bounds_rounding(query_weights: Values, weights: DocumentWeights, most_terms: int) -> float | None:
    """Return the factor by which a sum of impacts in any order may differ from the score, because of rounding.

    None if impacts are no bounds of scores, because a query weight is negative or infinite, or if the query has more
    terms. Sums of small whole numbers are exact, so their factor is 1.
    """
    if len(query_weights) > most_terms or not ((query_weights >= 0) & (query_weights < np.inf)).all():
        return None
    is_whole = weights.dtype.kind == "u" and (np.floor(query_weights) == query_weights).all()
    return 1.0 if is_whole and query_weights.max(initial=0) <= 2**16 else 1 + 2.0**-40


def exact_scores(n_documents: int, documents: Sequence[Numbers], impacts: Sequence[Values]) -> Values:
    """Return the score of each document: the sum of its impacts in the order of the lists, as by `Exact`."""
    scores = np.zeros(n_documents)
    for own, own_impacts in zip(documents, impacts, strict=True):
        scores[own] += own_impacts
    return scores
