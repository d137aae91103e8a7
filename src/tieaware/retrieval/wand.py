"""WAND and block-max WAND: exact search, document at a time, that skips documents by upper bounds of their scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tieaware.checks.arguments import whole_number
from tieaware.checks.arrays import Integers
from tieaware.kernels import _wand
from tieaware.retrieval.accumulators import Found, TermLists, accumulate
from tieaware.retrieval.exact import nth_largest, score_of_k
from tieaware.retrieval.index import Index, Query
from tieaware.retrieval.method import Method, posting_weights, weighted
from tieaware.retrieval.postings import LARGEST, Numbers, Postings, over_terms
from tieaware.retrieval.weighting import Weights

# The kernel's safety factor for rounding covers queries with fewer terms than this.
_MOST_TERMS = 4096


class _Blocks(NamedTuple):
    """The postings of each term, divided into blocks: the blocks of term ``t`` begin with block ``firsts[t]``.

    Block ``b`` ends with the document ``lasts[b]``, and its largest weight is ``maxima[b]``.
    """

    firsts: Integers
    lasts: Numbers
    maxima: Weights

    @classmethod
    def of(cls, postings: Postings, weights: Weights, size: int) -> _Blocks:
        """Divide the postings of each term into blocks of `size` postings; the last block of a term may be shorter."""
        numbers = -(-postings.document_frequencies // size)
        firsts = np.zeros(postings.n_terms + 1, np.int64)
        np.cumsum(numbers, out=firsts[1:])

        def divide(first: int, stop: int) -> tuple[Numbers, Weights]:
            own, blocks = numbers[first:stop], np.arange(firsts[first], firsts[stop])
            begin, end = postings.starts[first], postings.starts[stop]
            starts = np.repeat(postings.starts[first:stop] - firsts[first:stop] * size, own) + blocks * size
            stops = np.minimum(starts + size, np.repeat(postings.starts[first + 1 : stop + 1], own))
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

    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Find the largest weight of each term, and return the search function."""
        return _searcher(self, index, k, whole_ties, None, 0)


@dataclass(frozen=True, kw_only=True)
class BlockMaxWAND(Method):
    """Find the same documents and scores as `Exact` by WAND with a largest weight for each block of postings.

    The pivot is found as by `WAND`. But before the cursors move there, the largest weights of the blocks that may
    contain the pivot are added up. If the sum does not exceed the threshold, the search skips all documents up to the
    end of the first of these blocks.

    The largest weights of the blocks are found when a weighting is used for the first time, and kept with the index. A
    posting counts as read if a cursor stopped at it, a document counts as scored if its complete score was computed,
    and reading the largest weight of a block is not counted. A query with a negative weight or with 4,096 terms is
    searched in the same way as by `Exact`.

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

    _is_exact: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("block", self.block, 1, LARGEST)

    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Find the largest weight of each term and of each block, and return the search function."""
        weights = posting_weights(index, self.weighting)
        name = ("blocks", self.weighting, self.block)
        blocks = index.prepared(name, lambda: _Blocks.of(index.postings, weights, self.block))
        return _searcher(self, index, k, whole_ties, blocks, self.block)


def _searcher(
    method: Method, index: Index, k: int, whole_ties: bool, blocks: _Blocks | None, block_size: int
) -> Callable[[Query], Found]:
    lists, n = weighted(index, method.weighting), len(index)
    starts, documents = index.postings.starts, index.postings.documents
    weights = posting_weights(index, method.weighting)
    largest, kth_largest = (nth_largest(index, method.weighting, rank) for rank in (1, k))

    def find(query: Query) -> Found:
        term_lists: TermLists = lists(query)
        own = term_lists.query_weights
        # A largest weight is no upper bound of a score if the query's own weight of the term is negative, or if the
        # score also has a part that belongs to the document.
        has_parts = term_lists.document_parts is not None
        if has_parts or len(own) >= _MOST_TERMS or not ((own >= 0) & (own < np.inf)).all():
            return accumulate(term_lists, n, k, whole_ties=whole_ties)
        firsts = None if blocks is None else blocks.firsts[query.terms]
        best, scores, n_scored, n_comparisons, n_postings = _wand.wand(
            starts[query.terms], starts[query.terms + 1], own, own * largest[query.terms], documents, weights, n,
            min(k, LARGEST), whole_ties, score_of_k(own, kth_largest[query.terms]), firsts,
            None if blocks is None else blocks.lasts, None if blocks is None else blocks.maxima, block_size,
        )  # fmt: skip
        return Found(best, scores, n_postings, n_scored, n_comparisons)

    return find
