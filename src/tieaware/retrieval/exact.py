"""Exact search for the top K documents: `Exact` reads all postings, other methods those that can change the result."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from tieaware.checks.arguments import one_of, whole_number
from tieaware.checks.arrays import Integers, Offsets, Values
from tieaware.kernels import _query_terms, _wand
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
    posting_weights,
    term_lists,
)
from tieaware.retrieval.postings import LARGEST, DocumentWeights, Numbers, Postings, over_terms, ranges

# The safety factor for rounding of the kernel of WAND covers queries with fewer terms than this.
_MOST_TERMS = 4096


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


class _PostingBlocks(NamedTuple):
    """The postings of each term, divided into blocks: the blocks of term ``t`` begin with block ``firsts[t]``.

    Block ``b`` ends with the document ``lasts[b]``, and its largest weight is ``maxima[b]``.
    """

    firsts: Integers
    lasts: Numbers
    maxima: DocumentWeights

    @classmethod
    def of(cls, postings: Postings, weights: DocumentWeights, size: int) -> _PostingBlocks:
        """Divide the postings of each term into blocks of `size` postings; the last block of a term may be shorter."""
        numbers = -(-postings.document_frequencies // size)
        firsts = np.append(0, np.cumsum(numbers))

        def divide(first: int, stop: int) -> tuple[Numbers, DocumentWeights]:
            own = numbers[first:stop]
            starts = np.repeat(postings.starts[first:stop], own) + size * ranges(np.zeros_like(own), own)
            stops = np.minimum(starts + size, np.repeat(postings.starts[first + 1 : stop + 1], own))
            begin, end = postings.starts[first], postings.starts[stop]
            maxima = np.maximum.reduceat(weights[begin:end], starts - begin) if len(starts) else weights[:0]
            return postings.documents[stops - 1], maxima

        divided = over_terms("blocks", postings.starts, divide)
        lasts = np.concatenate([postings.documents[:0], *(each for each, _ in divided)])
        return cls(firsts, lasts, np.concatenate([weights[:0], *(each for _, each in divided)]))


@dataclass(frozen=True, kw_only=True)
class WAND(Method):
    """Find the same documents and scores as `Exact`, document at a time, and skip documents in too few posting lists.

    The K-th best score so far is a threshold. Each posting list has a cursor. With the lists in the order of the
    documents at their cursors, the pivot is the first document at which the largest weights of the lists add up to more
    than the threshold. No document before the pivot can enter the top K, so the cursors move to the pivot without
    reading the postings between. The pivot is scored once all cursors before it have arrived there.

    A posting counts as read if a cursor stopped at it, and a document counts as scored if its complete score was
    computed. A query with a negative weight or with 4,096 terms is searched in the same way as by `Exact`.

    Notes
    -----
    Broder, Carmel, Herscovici, Soffer and Zien, Efficient query evaluation using a two-level retrieval process, CIKM
    2003. The name stands for "weak AND".

    Examples
    --------
    >>> index = Index.build([("d1", "a tie"), ("d2", "no tie"), ("d3", "rank")], analyzer=str.split)
    >>> run = WAND(weighting="nnn.bnn").search(index, {"q": "tie rank"}, k=2)
    >>> run.documents.to_list(), run.scores.tolist()
    (['d1', 'd2'], [1.0, 1.0])
    """

    _is_exact: ClassVar[bool] = True

    def _searcher(self, index: Index, k: int, whole_ties: bool) -> Searcher:
        return _by_wand(self, index, k, whole_ties, None, 0)


@dataclass(frozen=True, kw_only=True)
class BlockMaxWAND(Method):
    """Find the same documents and scores as `Exact` by WAND with a largest weight for each block of postings.

    The pivot is found as by `WAND`. But before the cursors move there, the largest weights of the blocks that may
    contain the pivot are added up. If the sum does not exceed the threshold, the search skips all documents up to the
    end of the first of these blocks.

    The largest weights of the blocks are found when a weighting is used for the first time, and kept with the index.
    Costs, and queries that are searched as by `Exact`, are those of `WAND`; reading the largest weight of a block is
    not counted.

    Parameters
    ----------
    block : int, default: 64
        The number of postings of a block. Smaller blocks skip more documents, but there are more of them to look at.

    Notes
    -----
    Ding and Suel, Faster top-k document retrieval using block-max indexes, SIGIR 2011.

    Examples
    --------
    >>> index = Index.build([("d1", "a tie"), ("d2", "no tie"), ("d3", "rank")], analyzer=str.split)
    >>> run = BlockMaxWAND(weighting="nnn.bnn").search(index, {"q": "tie rank"}, k=2)
    >>> run.documents.to_list(), run.scores.tolist()
    (['d1', 'd2'], [1.0, 1.0])
    """

    block: int = 64

    _checks: ClassVar[Checks] = {"block": partial(whole_number, least=1, most=LARGEST)}
    _is_exact: ClassVar[bool] = True

    def _searcher(self, index: Index, k: int, whole_ties: bool) -> Searcher:
        weights = posting_weights(index, self.weighting)
        name = ("blocks", self.weighting, self.block)
        blocks = index.prepared(name, lambda: _PostingBlocks.of(index.postings, weights, self.block))
        return _by_wand(self, index, k, whole_ties, blocks, self.block)


def _by_wand(
    method: Method, index: Index, k: int, whole_ties: bool, blocks: _PostingBlocks | None, block_size: int
) -> Searcher:
    lists, n = term_lists(index, method.weighting), len(index)
    starts, documents = index.postings.starts, index.postings.documents
    weights = posting_weights(index, method.weighting)
    largest, kth_largest = (nth_largest(index, method.weighting, rank) for rank in (1, k))
    # A largest weight is no upper bound of a score that also has a part which belongs to the document.
    has_bounds = document_parts(index, method.weighting) is None
    _, lasts, maxima = (None, None, None) if blocks is None else blocks

    def find(query: WeightedQuery) -> Found:
        own = query.weights
        # Nor is it if the query's own weight of the term is negative.
        if not has_bounds or len(own) >= _MOST_TERMS or not ((own >= 0) & (own < np.inf)).all():
            return accumulate(lists(query), n, k, whole_ties=whole_ties)
        best, scores, n_scored, n_comparisons, n_postings = _wand.wand(
            starts[query.terms], starts[query.terms + 1], own, own * largest[query.terms], documents, weights, n,
            min(k, LARGEST), whole_ties, score_of_k(own, kth_largest[query.terms]),
            None if blocks is None else blocks.firsts[query.terms], lasts, maxima, block_size,
        )  # fmt: skip
        return Found(best, scores, n_postings, n_scored, n_comparisons)

    return one_by_one(find)
