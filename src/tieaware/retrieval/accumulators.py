"""Term-at-a-time scoring of documents, and selection of the K documents with the highest scores.

`accumulate` scores all documents in the posting lists of a query. `score` scores only given candidates, and
`score_union` those in several lists. `top` selects the K best of documents that already have scores.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arrays import Integers, Values
from tieaware.kernels import _accumulators, _candidates, _top
from tieaware.kernels._term_lists import PostingLists
from tieaware.retrieval.postings import LARGEST, LONG, Numbers, Postings
from tieaware.retrieval.weighting import Weights
from tieaware.runtime.progress import stage

# The number of documents that are scored at a time. Their accumulators take 128 KB, which fit in the second-level
# cache.
_CHUNK = 1 << 14


# A posting list also gets a dense form if it contains at least a quarter (1 / _DENSE) of all documents, and the
# collection has at least 4096 documents (_LEAST). Adding a whole row of weights is then faster than adding posting by
# posting.
_DENSE, _LEAST = 4, 1 << 12
# A posting list gets a bitmap if it contains at least this share (1 / _BITMAP) of all documents.
_BITMAP = 64


class DenseLists(NamedTuple):
    """The longest posting lists in dense form: as rows with a weight for each document of the collection.

    Row ``rows[t]`` of `weights` stands for the list of term ``t``, or the term has none if this is -1. A document
    without a posting has weight 0.
    """

    rows: Integers
    weights: Weights

    @classmethod
    def of(cls, postings: Postings, weights: Weights) -> DenseLists:
        """Convert the posting lists that are long enough to dense form."""
        n = len(postings.lengths)
        terms = np.flatnonzero(postings.document_frequencies * _DENSE >= max(n, _LEAST))
        rows = np.full(postings.n_terms, -1, np.int64)
        rows[terms] = np.arange(len(terms))
        dense = np.zeros((len(terms), n), weights.dtype)
        with stage("dense lists", len(terms), shown=len(postings) > LONG) as advance:
            for row, term in enumerate(terms):
                own = slice(postings.starts[term], postings.starts[term + 1])
                dense[row, postings.documents[own]] = weights[own]
                advance(1)
        return cls(rows, dense)


class Bitmaps(NamedTuple):
    """The longer posting lists as bitmaps, in which a document is looked up in constant time.

    The bitmap of term ``t`` is row ``rows[t]`` of `words`, or the term has none if this is -1. A row has a bit for each
    document of the collection, and ``ranks[row, i]`` is the number of bits in the words before word ``i``. The number
    of bits before that of a document is the index of its posting.
    """

    rows: Integers
    words: NDArray[np.uint64]
    ranks: NDArray[np.uint32]

    @classmethod
    def of(cls, postings: Postings) -> Bitmaps:
        """Make bitmaps of the posting lists that are long enough."""
        n = len(postings.lengths)
        terms = np.flatnonzero(postings.document_frequencies * _BITMAP >= max(n, _LEAST))
        n_words = -(-n // 64)
        rows = np.full(postings.n_terms, -1, np.int64)
        rows[terms] = np.arange(len(terms))
        words = np.empty((len(terms), n_words), np.uint64)
        ranks = np.zeros((len(terms), n_words), np.uint32)
        with stage("bitmaps", len(terms), shown=len(postings) > LONG) as advance:
            for row, term in enumerate(terms):
                documents = postings.documents[postings.starts[term] : postings.starts[term + 1]]
                bits = np.zeros(64 * n_words, bool)
                bits[documents] = True
                words[row] = np.packbits(bits, bitorder="little").view("<u8")
                np.cumsum(np.bincount(documents >> 6, minlength=n_words)[:-1], out=ranks[row, 1:], dtype=np.uint32)
                advance(1)
        return cls(rows, words, ranks)


def posting_lists(
    starts: Integers, stops: Integers, documents: Numbers, weights: Weights, dense: DenseLists | None = None,
    bitmaps: Bitmaps | None = None,
) -> PostingLists:  # fmt: skip
    """Return posting lists of which a search needs a few, in the form that the kernels take.

    List ``i`` has the documents ``documents[starts[i]:stops[i]]``, ascending, with the weights
    ``weights[starts[i]:stops[i]]``. A row of `dense` may be used instead of its list.
    """
    rows, dense_weights = (None, None) if dense is None or not len(dense.weights) else dense
    bitmap_rows, words, ranks = (None, None, None) if bitmaps is None or not len(bitmaps.words) else bitmaps
    return PostingLists(starts, stops, documents, weights, rows, dense_weights, bitmap_rows, words, ranks)


class TermLists(NamedTuple):
    """The posting lists of a query's terms, which are those with the numbers `terms` among `postings`.

    If there are document parts, the score of each document is its sum over the lists, plus the sum of the query weights
    times the document's part.
    """

    postings: PostingLists
    terms: Integers
    query_weights: Values
    document_parts: Values | None = None

    def base(self, other: Values | None) -> Values | None:
        """Return what is added to the sums of all documents: their parts, and another base if there is one."""
        if self.document_parts is None:
            return other
        parts = self.part_weight() * self.document_parts
        return parts if other is None else parts + other

    def part_weight(self) -> float:
        """Return the weight of the document parts: the sum of the query weights, added in their order."""
        return 0.0 if self.document_parts is None else float(np.cumsum(np.append(0.0, self.query_weights))[-1])


class Found(NamedTuple):
    """The top documents of a query with their scores, and the costs of the search.

    Documents are in descending order of score. Tied documents are in ascending order of number.
    """

    documents: Numbers
    scores: Values
    n_postings: int
    n_documents: int
    n_comparisons: int


def accumulate(
    lists: TermLists, n_documents: int, k: int, *, base: Values | None = None, at_least: int = 1,
    bounds: Values | None = None, floor: float = 0.0, whole_ties: bool = False, heap_of_all: bool = False,
    chunk_size: int = _CHUNK, order: Numbers | None = None, rest: float = 0.0, highest: float = 0.0,
    until: int | None = None,
) -> Found:  # fmt: skip
    """Score every document of the lists, term at a time, and return the k documents with the highest scores above 0.

    A score is a sum in float64 over the lists, in their order. The base, if there is one, is added last.

    Parameters
    ----------
    base : float64[n_documents], optional
        A number that is added to each document's sum, such as its static quality. With a base, documents with a score
        of 0 or less are also found.
    at_least : int, default: 1
        The smallest number of lists that a document must be in to be found.
    bounds : float64[n_lists], optional
        An upper bound of what each list adds to a score. If the bounds of some lists add up to less than the k-th best
        score so far, these lists are read only for documents that also occur in other lists. Not allowed with
        `at_least` or `order`, nor with negative weights.
    floor : float, default: 0
        A score that at least k documents are known to reach. Documents with a lower score are skipped. Not allowed with
        `base` or `at_least`.
    heap_of_all : bool, default: False
        How to select the top k. True builds a heap of all documents with a score and draws the top k from it, as
        textbooks do. False keeps the best k so far, and compares every other document with the worst of them.
    chunk_size : int
        The number of documents to score at a time; at least `n_documents` if the documents of a list are not in
        ascending order.
    order : int32[n_documents], optional
        The number with which each document is found. The base must then descend, and the search stops when k documents
        have a score above `rest` plus the base of the next document. Chunks are small at first.
    rest : float
        With an order, an upper bound of what the lists add to a score.
    highest : float
        With bounds and a base, the largest number of the base.
    until : int, optional
        The number of documents to search; by default all.

    Returns
    -------
    Found
        The top documents with three costs: the number of postings read, the number of documents with a score above 0
        (with a base: with any score), and the number of comparisons between two scores.
    """
    base = lists.base(base)
    if lists.document_parts is not None:
        # A document part may be negative, so the weights of the lists do not show which score k documents reach.
        floor = 0.0
    documents, scores, n_scored, n_comparisons, n_postings = _accumulators.accumulate(
        lists.postings, lists.terms, lists.query_weights, n_documents, min(k, LARGEST), base, at_least, whole_ties,
        heap_of_all, floor, bounds, chunk_size, order, rest, highest,
        n_documents if until is None else until,
    )  # fmt: skip
    return Found(documents, scores, n_postings, n_scored, n_comparisons)


def score(
    candidates: Numbers, lists: TermLists, n_documents: int, k: int, *, base: Values | None = None,
    whole_ties: bool = False,
) -> Found:  # fmt: skip
    """Score only the candidates, which must ascend, and return the k of them with the highest scores above 0.

    Parameters as for `accumulate`. With a base, scores need not be above 0. Only postings of candidates count as read;
    postings that the galloping search skips do not.
    """
    sums = np.zeros(len(candidates))
    n_postings = _candidates.score(
        candidates, lists.postings, lists.terms, lists.query_weights, n_documents, sums
    )
    base = lists.base(base)
    if base is None:
        above = sums > 0
        return top(candidates[above], sums[above], n_postings, k, whole_ties=whole_ties)
    return top(candidates, sums + base[candidates], n_postings, k, whole_ties=whole_ties)


class EntryBounds(NamedTuple):
    """Bounds of the scores of documents in lists of candidates, which have the weights of their terms.

    Attributes
    ----------
    largest : float64[n_terms]
        The largest weight of each term.
    missing : float64[n_terms]
        The largest weight of each term in a document that its list lacks. If `is_with_base`, the largest sum of such a
        weight and the base of the document.
    kth_largest : float64[n_terms]
        A weight that at least k entries of the list reach, or 0.
    bases : float64[n_entries] or None
        The base of each entry's document, at least 0, if there is a base.
    most_base : float
        The largest base.
    """

    largest: Values
    missing: Values
    kth_largest: Values
    bases: Values | None = None
    most_base: float = 0.0
    is_with_base: bool = False


def score_union(
    candidates: PostingLists, which: Integers, lists: TermLists, n_documents: int, k: int, *, at_least: int = 1,
    fewest: int = 0, base: Values | None = None, whole_ties: bool = False, bounds: EntryBounds | None = None,
) -> Found | None:  # fmt: skip
    """Score the documents that are in some lists, and return the k of them with the highest scores above 0.

    Parameters as for `accumulate`. With a base, scores need not be above 0. The entries of the lists count as postings
    read, and also the postings of the candidates.

    Parameters
    ----------
    candidates, which : PostingLists and int64[n]
        The lists of candidates, and the numbers of those to unite.
    at_least : int, default: 1
        The number of these lists that a candidate must be in.
    fewest : int
        Return None if there are fewer candidates.
    bounds : EntryBounds, optional
        Bounds by which entries that cannot be among the top k are left out, with the numbers of the terms as those of
        the lists. Entries that are left out one by one count as read; those of whole lists that are left out do not.
    """
    # A document part may be negative, so the weights give no bounds of scores.
    own = (None, None, None, None, 0.0, False) if bounds is None or lists.document_parts is not None else bounds
    found = _candidates.search(
        candidates, which, at_least, fewest, n_documents, lists.postings, lists.terms, lists.query_weights,
        lists.base(base), min(k, LARGEST), whole_ties, *own,
    )  # fmt: skip
    if found is None:
        return None
    documents, scores, n_scored, n_comparisons, n_postings = found
    return Found(documents, scores, n_postings, n_scored, n_comparisons)


def top(documents: Numbers, scores: Values, n_postings: int, k: int, *, whole_ties: bool) -> Found:
    """Return the k documents with the highest scores, tied ones in ascending order of number.

    With `whole_ties`, the result includes all documents that tie with the k-th.
    """
    best, best_scores, n, n_comparisons = _top.top(documents, scores, min(k, LARGEST), whole_ties, False)
    return Found(best, best_scores, n_postings, n, n_comparisons)
