"""Term-at-a-time scoring of documents, and selection of the K documents with the highest scores.

`accumulate` scores all documents in the posting lists of a query. `score` scores only given candidates, and
`score_unions` those in several lists, for several queries at a time. `top` selects the K best of documents that already
have scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arrays import Integers, Offsets, Values
from tieaware.kernels import _accumulators, _candidates, _entry_bounds, _top
from tieaware.kernels._term_lists import PostingLists
from tieaware.retrieval.postings import LARGEST, LONG, DocumentWeights, Numbers, Postings, ranges
from tieaware.runtime.progress import progress

Memory = TypeVar("Memory")
# The number of documents that are scored at a time. Their accumulators take 128 KB, which fit in the second-level
# cache.
_CHUNK = 1 << 14


# A posting list also gets a dense form if it contains at least a quarter (1 / _DENSE) of all documents, and the
# collection has at least 4096 documents (_LEAST). Adding a whole row of weights is then faster than adding posting by
# posting.
_DENSE, _LEAST = 4, 1 << 12
# A posting list gets a bitmap if it contains at least this share (1 / _BITMAP) of all documents.
_BITMAP = 64
# A filter has at least this many bits (_BITS) for each document. Shorter lists have no filter.
SHORTEST_WITH_FILTER, _BITS = 64, 16


class IdleMemory(Generic[Memory]):
    """The memory of searches that no thread is using: a thread takes it for a search, and puts it back afterwards."""

    def __init__(self, make: Callable[[], Memory]) -> None:
        self._make, self._idle = make, list[Memory]()

    def lent_to(self, search: Callable[..., Any], *arguments: Any) -> Any:
        """Search with these arguments and idle memory. Memory of a search that raises an error is not used again."""
        try:
            memory = self._idle.pop()
        except IndexError:
            memory = self._make()
        found = search(*arguments, memory)
        self._idle.append(memory)
        return found


class DenseLists(NamedTuple):
    """The longest posting lists in dense form: as rows with a weight for each document of the collection.

    Row ``rows[t]`` of `weights` stands for the list of term ``t``, or the term has none if this is -1. A document
    without a posting has weight 0.
    """

    rows: Integers
    weights: DocumentWeights

    @classmethod
    def of(cls, postings: Postings, weights: DocumentWeights) -> DenseLists:
        """Convert the posting lists that are long enough to dense form."""
        n = len(postings.lengths)
        terms = np.flatnonzero(postings.document_frequencies * _DENSE >= max(n, _LEAST))
        rows = np.full(postings.n_terms, -1, np.int64)
        rows[terms] = np.arange(len(terms))
        dense = np.zeros((len(terms), n), weights.dtype)
        for row, term in enumerate(progress(terms, "dense lists", shown=len(postings) > LONG)):
            own = slice(postings.starts[term], postings.starts[term + 1])
            dense[row, postings.documents[own]] = weights[own]
        return cls(rows, dense)


def has_bitmap(lengths: Integers, n_documents: int) -> NDArray[np.bool_]:
    """Return whether posting lists of these lengths are long enough for a bitmap."""
    return lengths * _BITMAP >= max(n_documents, _LEAST)


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
        terms = np.flatnonzero(has_bitmap(postings.document_frequencies, n))
        n_words = -(-n // 64)
        rows = np.full(postings.n_terms, -1, np.int64)
        rows[terms] = np.arange(len(terms))
        words = np.empty((len(terms), n_words), np.uint64)
        ranks = np.zeros((len(terms), n_words), np.uint32)
        for row, term in enumerate(progress(terms, "bitmaps", shown=len(postings) > LONG)):
            documents = postings.documents[postings.starts[term] : postings.starts[term + 1]]
            bits = np.zeros(64 * n_words, bool)
            bits[documents] = True
            words[row] = np.packbits(bits, bitorder="little").view("<u8")
            np.cumsum(np.bincount(documents >> 6, minlength=n_words)[:-1], out=ranks[row, 1:], dtype=np.uint32)
        return cls(rows, words, ranks)


class Filters(NamedTuple):
    """Filters for lists of documents, which show for most documents that a list lacks them.

    The filter of list ``i`` has the words from ``starts[i]`` to ``starts[i + 1]``: none, or a power of two. The bit of
    a document is the one whose index is its number modulo the number of bits, so several documents may share a bit.
    """

    starts: Offsets
    words: NDArray[np.uint64]

    @classmethod
    def of(cls, postings: Postings) -> Filters:
        """Make filters for the posting lists that are too short for a bitmap, except for the shortest lists."""
        is_short = ~has_bitmap(postings.document_frequencies, len(postings.lengths))
        starts, stops = postings.starts[:-1], postings.starts[1:]
        return cls.of_lists(starts, stops, postings.documents, len(postings.lengths), is_short)

    @classmethod
    def of_lists(
        cls, starts: Integers, stops: Integers, documents: Numbers, n_documents: int, which: NDArray[np.bool_]
    ) -> Filters:
        """Make filters for those lists that `which` marks, except for the shortest lists.

        List ``i`` has the documents ``documents[starts[i]:stops[i]]``, in any order.
        """
        lengths = stops - starts
        has_filter = which & (lengths >= SHORTEST_WITH_FILTER)
        # With a bit for each document, a filter needs no more words.
        n_bits = np.minimum(_BITS * lengths[has_filter], max(n_documents, _LEAST))
        sizes = np.zeros(len(lengths), np.int64)
        sizes[has_filter] = 1 << np.ceil(np.log2(n_bits / 64)).astype(np.int64)
        filter_starts = np.append(0, np.cumsum(sizes))
        words = np.zeros(filter_starts[-1], np.uint64)
        _entry_bounds.fill_filters(starts, stops, documents, filter_starts, words)
        return cls(filter_starts, words)


def posting_lists(
    starts: Integers, stops: Integers, documents: Numbers, weights: DocumentWeights, dense: DenseLists | None = None,
    bitmaps: Bitmaps | None = None,
) -> PostingLists:  # fmt: skip
    """Return posting lists in the form that the kernels take; a search needs a few of them.

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


class FoundLists(NamedTuple):
    """The top documents of several queries with their scores, and the costs of each search.

    The documents of query ``i`` are ``documents[offsets[i]:offsets[i + 1]]``, in the order of `Found`. Row ``i`` of
    `costs` has the numbers of postings, documents and comparisons.
    """

    offsets: Offsets
    documents: Numbers
    scores: Values
    costs: Integers

    @classmethod
    def of(cls, found: Sequence[Found]) -> FoundLists:
        """Concatenate the documents of several queries."""
        sizes = np.array([0, *(len(each.documents) for each in found)], np.int64)
        return cls(
            np.cumsum(sizes),
            np.concatenate([np.empty(0, np.int32), *(each.documents for each in found)]),
            np.concatenate([np.empty(0), *(each.scores for each in found)]),
            np.array([each[2:] for each in found], np.int64).reshape(-1, 3),
        )

    @classmethod
    def joined(cls, chunks: Sequence[FoundLists]) -> FoundLists:
        """Concatenate several chunks of queries."""
        if len(chunks) == 1:
            return chunks[0]
        sizes = np.concatenate([np.empty(0, np.int64), *(np.diff(each.offsets) for each in chunks)])
        return cls(
            np.append(0, np.cumsum(sizes)),
            np.concatenate([np.empty(0, np.int32), *(each.documents for each in chunks)]),
            np.concatenate([np.empty(0), *(each.scores for each in chunks)]),
            np.concatenate([np.empty((0, 3), np.int64), *(each.costs for each in chunks)]),
        )

    def replaced(self, which: Integers, found: FoundLists) -> FoundLists:
        """Replace the documents of the queries with these indices, and add the costs."""
        starts, sizes, costs = self.offsets[:-1].copy(), np.diff(self.offsets), self.costs.copy()
        starts[which], sizes[which] = len(self.documents) + found.offsets[:-1], np.diff(found.offsets)
        costs[which] += found.costs
        rows = ranges(starts, sizes)
        documents = np.concatenate([self.documents, found.documents])[rows]
        scores = np.concatenate([self.scores, found.scores])[rows]
        return FoundLists(np.append(0, np.cumsum(sizes)), documents, scores, costs)

    def of_query(self, i: int) -> Found:
        """Return the documents of query `i`."""
        own = slice(self.offsets[i], self.offsets[i + 1])
        return Found(self.documents[own], self.scores[own], *self.costs[i].tolist())


def accumulate(
    lists: TermLists, n_documents: int, k: int, *, base: Values | None = None, at_least: int = 1,
    bounds: Values | None = None, floor: float = 0.0, whole_ties: bool = False, heap_of_all: bool = False,
    chunk_size: int = _CHUNK, order: Numbers | None = None, rest: float = 0.0, highest: float = 0.0,
    until: int | None = None,
) -> Found:  # fmt: skip
    """Score every document of the lists, term at a time, and return the k documents with the highest scores above 0.

    A score is a sum in float64 over the lists, in their order. The costs are the numbers of postings read, of documents
    with a score above 0 (with a base: with any score), and of comparisons between two scores.

    Parameters
    ----------
    base : float64[n_documents], optional
        A number that is added last to each document's sum, such as its static quality. With a base, documents with a
        score of 0 or less are also found.
    at_least : int, default: 1
        The smallest number of lists that a document must be in to be found.
    bounds : float64[n_lists], optional
        An upper bound of what each list adds to a score. If the bounds of some lists add up to less than the k-th best
        score so far, these lists are read only for documents that also occur in other lists. Not allowed with
        `at_least` or `order`, nor with negative weights. With a base, `highest` is its largest number.
    floor : float, default: 0
        A score that at least k documents are known to reach. Documents with a lower score are skipped. Not allowed with
        `base` or `at_least`.
    heap_of_all : bool, default: False
        Whether to build a heap of all documents with a score and draw the top k from it, as textbooks do, instead of
        keeping the best k so far.
    chunk_size : int
        The number of documents to score at a time; at least `n_documents` if the documents of a list do not ascend.
    order : int32[n_documents], optional
        The number with which each document is found. The base must then descend, and the search stops when k documents
        have a score above the base of the next document plus `rest`, an upper bound of what the lists add to a score.
    until : int, optional
        The number of documents to search; by default all.
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
    n_postings = _candidates.score(candidates, lists.postings, lists.terms, lists.query_weights, n_documents, sums)
    base = lists.base(base)
    if base is None:
        above = sums > 0
        return top(candidates[above], sums[above], n_postings, k, whole_ties=whole_ties)
    return top(candidates, sums + base[candidates], n_postings, k, whole_ties=whole_ties)


class EntryBounds(NamedTuple):
    """Bounds of the scores of documents in lists of candidates, which have the weights of their terms.

    For each list: the largest weight of its term, the largest weight of the term in a document that the list lacks
    (`missing`; if `is_with_base`, the largest sum of such a weight and the base of the document), and a weight that at
    least k entries of the list reach, or 0. With a base, `bases` has the base of each entry's document, at least 0, and
    `most_base` the largest. The filters are those of the terms or, with `Cuts`, those that it names.
    """

    largest: Values
    missing: Values
    kth_largest: Values
    bases: Values | None = None
    most_base: float = 0.0
    is_with_base: bool = False
    filter_starts: Offsets | None = None
    filter_words: NDArray[np.uint64] | None = None


class Cuts(NamedTuple):
    """The least weight of the postings of a term that count, the cut, for each list of candidates.

    Postings whose weight is the cut count for documents up to a last one. An infinite cut means that no
    posting counts, and one of -infinity that all do. `filters` has the numbers of filters of the documents whose
    postings count, among those of the `EntryBounds`.
    """

    weights: Values
    documents: Numbers
    filters: Integers


def score_unions(
    candidates: PostingLists, which: Integers, which_offsets: Offsets, lists: TermLists, offsets: Offsets,
    n_documents: int, k: int, *, at_least: int = 1, fewest: int = 0, base: Values | None = None,
    whole_ties: bool = False, bounds: EntryBounds | None = None, cuts: Cuts | None = None,
) -> FoundLists:  # fmt: skip
    """Score the documents that are in some lists, and return the k of them with the highest scores; for each query.

    Parameters as for `accumulate` and for the kernel. The terms of query ``i`` are ``lists.terms[offsets[i]:offsets[i +
    1]]``. The numbers of its lists of candidates are `which`, in its range of `which_offsets`; a candidate must be in
    at least `at_least` of these lists. A query with fewer candidates than `fewest` is not searched: it has no
    documents, and its costs are -1.

    The entries of the lists count as postings read, and so do the postings of candidates. Entries that `bounds` leaves
    out one by one count as read; those of whole lists that are left out do not. With cuts, the documents of the lists
    of candidates, whose numbers must be consecutive from 0, need not ascend.
    """
    # A document part may be negative, so the weights give no bounds of scores.
    own = bounds if lists.document_parts is None else None
    return FoundLists(*_candidates.search(
        candidates, which, which_offsets, at_least, fewest, n_documents, lists.postings, lists.terms,
        lists.query_weights, offsets, base, lists.document_parts, min(k, LARGEST), whole_ties, cuts is None, cuts, own,
    ))  # fmt: skip


def top(documents: Numbers, scores: Values, n_postings: int, k: int, *, whole_ties: bool) -> Found:
    """Return the k documents with the highest scores, tied ones in ascending order of number.

    With `whole_ties`, the result includes all documents that tie with the k-th.
    """
    best, best_scores, n, n_comparisons = _top.top(documents, scores, min(k, LARGEST), whole_ties)
    return Found(best, best_scores, n_postings, n, n_comparisons)
