"""WAND and block-max WAND, in Python: they count how much work upper bounds save, and save no time in memory."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from tieaware.checks.arguments import whole_number
from tieaware.checks.arrays import Values
from tieaware.retrieval.accumulators import Found, accumulate, top
from tieaware.retrieval.exact import bounds_rounding, exact_scores, score_of_k
from tieaware.retrieval.index import Index
from tieaware.retrieval.method import (
    Checks,
    Method,
    Searcher,
    WeightedQuery,
    document_parts,
    nth_largest,
    one_by_one,
    posting_weights,
    term_lists,
)
from tieaware.retrieval.postings import LARGEST, Numbers

# The factor for rounding covers queries with at most this number of terms.
_MOST_TERMS = 4095


@dataclass(frozen=True, kw_only=True)
class WAND(Method):
    """Count what WAND reads to find the same documents and scores as `Exact`.

    The search goes document at a time, and skips documents in too few posting lists. The K-th best score so far is a
    threshold. Each posting list has a cursor. With the lists in the order of the documents at their cursors, the pivot
    is the first document at which the largest weights of the lists add up to more than the threshold. No document
    before the pivot can enter the top K, so the cursors move to the pivot without reading the postings between. The
    pivot is scored once all cursors before it have arrived there.

    A posting counts as read if a cursor stopped at it, and a document counts as scored if it was a pivot at which all
    cursors before it had arrived. The counts show what is saved where reading is expensive. In memory, no time is
    saved: compiled, WAND took twice as long as `Exact` on real text, because each step depends on the document just
    read, while `Exact` adds posting after posting. So the cursors move in Python, and `MaxScore` is the method to use
    for its speed. A query with a negative weight or with 4,096 terms is searched in the same way as by `Exact`.

    Notes
    -----
    Broder, Carmel, Herscovici, Soffer and Zien, Efficient query evaluation using a two-level retrieval process, CIKM
    2003. The name stands for "weak AND".

    Examples
    --------
    >>> index = Index.build([("d1", "a tie"), ("d2", "no tie"), ("d3", "rank")], analyzer=str.split)
    >>> run, costs = WAND(weighting="nnn.bnn").counted(index, {"q": "tie rank"}, k=2)
    >>> run.documents.to_list(), run.scores.tolist(), costs.postings.tolist()
    (['d1', 'd2'], [1.0, 1.0], [3])
    """

    _is_exact: ClassVar[bool] = True

    def _searcher(self, index: Index, k: int, whole_ties: bool) -> Searcher:
        return _by_wand(self, index, k, whole_ties, None)


@dataclass(frozen=True, kw_only=True)
class BlockMaxWAND(Method):
    """Count what WAND reads if it also knows a largest weight for each block of postings.

    The pivot is found as by `WAND`. But before the cursors move there, the largest weights of the blocks that may
    contain the pivot are added up. If the sum does not exceed the threshold, the search skips all documents up to the
    end of the first of these blocks.

    Results, costs and queries that are searched as by `Exact` are those of `WAND`, and no time is saved for the same
    reason; reading the largest weight of a block is not counted.

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
        return _by_wand(self, index, k, whole_ties, self.block)


def _by_wand(method: Method, index: Index, k: int, whole_ties: bool, block: int | None) -> Searcher:
    lists, n, starts = term_lists(index, method.weighting), len(index), index.postings.starts
    weights = posting_weights(index, method.weighting)
    kth_largest = nth_largest(index, method.weighting, k)
    # A largest weight is no upper bound of a score that also has a part which belongs to the document.
    has_bounds = document_parts(index, method.weighting) is None

    def find(query: WeightedQuery) -> Found:
        rounding = bounds_rounding(query.weights, weights, _MOST_TERMS)
        if not has_bounds or rounding is None:
            return accumulate(lists(query), n, k, whole_ties=whole_ties)
        has_postings = starts[query.terms] < starts[query.terms + 1]
        rows = [slice(starts[term], starts[term + 1]) for term in query.terms[has_postings]]
        own_weights = query.weights[has_postings]
        documents = [index.postings.documents[own] for own in rows]
        impacts = [weight * weights[own].astype(np.float64) for weight, own in zip(own_weights, rows, strict=True)]
        cursors = _Cursors(documents, impacts, rounding, block)
        scores, floor = exact_scores(n, documents, impacts), score_of_k(query.weights, kth_largest[query.terms])
        return _walk(cursors, scores, k, floor, whole_ties)

    return one_by_one(find)


class _Cursors:
    """A cursor in each posting list, and the lists in the order of the documents at their cursors; no list is empty.

    ``heads[p]`` is the document at the cursor of list ``order[p]``. A list that was read to its end is not among them.
    Block ``b`` of list ``i`` ends with the document ``lasts[i][b]``, and ``maxima[i][b]`` is its largest impact.
    """

    def __init__(self, documents: list[Numbers], impacts: list[Values], rounding: float, block: int | None) -> None:
        self._documents = [each.tolist() for each in documents]
        self._has_blocks, self._rounding = block is not None, rounding
        self.bounds = [float(each.max()) for each in impacts]
        if block is not None:
            self._lasts = [np.append(each[block - 1 : -1 : block], each[-1]).tolist() for each in documents]
            self._maxima = [np.maximum.reduceat(each, np.arange(0, len(each), block)).tolist() for each in impacts]
        self.heads: list[int] = []
        self.order: list[int] = []
        self._at, self.n_read = [0] * len(documents), 0
        for i in reversed(range(len(documents))):
            self._put(i, 0)

    def _put(self, i: int, at: int) -> None:
        """Put the cursor of list i at a posting; lists whose cursors are at the same document come after it."""
        self._at[i] = at
        if at < len(self._documents[i]):
            head = self._documents[i][at]
            place = bisect_left(self.heads, head)
            self.heads.insert(place, head)
            self.order.insert(place, i)
            self.n_read += 1

    def move(self, place: int, document: int) -> None:
        """Move the cursor of the list at this place to the first posting after it that is not before the document."""
        i = self.order.pop(place)
        del self.heads[place]
        self._put(i, bisect_left(self._documents[i], document, self._at[i] + 1))

    def pivot_place(self, threshold: float) -> int:
        """Return the last place of a list whose head is the pivot, or -1 if no document can exceed the threshold."""
        most = 0.0
        for place, i in enumerate(self.order):
            most += self.bounds[i]
            if most * self._rounding > threshold:
                return bisect_right(self.heads, self.heads[place], place) - 1
        return -1

    def after_blocks(self, place: int, threshold: float) -> int:
        """Return the next document that may exceed the threshold if the pivot's blocks cannot; else the pivot.

        Until the first of these blocks ends, or another list joins them, no document can exceed the threshold.
        """
        pivot = self.heads[place]
        if not self._has_blocks:
            return pivot
        most, following = 0.0, self.heads[place + 1 : place + 2]
        for i in self.order[: place + 1]:
            block = bisect_left(self._lasts[i], pivot)
            if block < len(self._lasts[i]):
                most += self._maxima[i][block]
                following.append(self._lasts[i][block] + 1)
        return pivot if most * self._rounding > threshold else min(following)


def _walk(cursors: _Cursors, scores: Values, k: int, floor: float, whole_ties: bool) -> Found:
    """Score all documents that may be among the top k, in ascending order.

    Invariant: each document before all cursors was scored, or cannot score above the threshold.
    """
    threshold = float(np.nextafter(floor, -np.inf)) if floor > 0 else 0.0
    found, best, room, n_scored = list[int](), list[float](), k, 0
    while (place := cursors.pivot_place(threshold)) >= 0:
        pivot = cursors.heads[place]
        following = cursors.after_blocks(place, threshold)
        if following != pivot:
            # Move the list that can add most, because it is likely to be the one with the fewest postings.
            mover = max((place, *range(place)), key=lambda p: cursors.bounds[cursors.order[p]])
            cursors.move(mover, following)
        elif cursors.heads[0] != pivot:
            cursors.move(bisect_left(cursors.heads, pivot) - 1, pivot)
        else:
            n_scored += 1
            if (score := float(scores[pivot])) > threshold:
                found.append(pivot)
                best.append(score)
            # Raise the threshold, unless few documents were found since it was last raised.
            if len(best) >= room:
                best, room = sorted(best, reverse=True)[:k], k + 1 + k // 8
                # A later document that ties with the k-th is needed only with whole ties.
                threshold = float(np.nextafter(best[-1], -np.inf)) if whole_ties else best[-1]
            for p in range(place, -1, -1):
                cursors.move(p, pivot + 1)
    documents = np.array(found, np.int32)
    selected = top(documents, scores[documents], cursors.n_read, k, whole_ties=whole_ties)
    return selected._replace(n_documents=n_scored, n_comparisons=selected.n_comparisons + n_scored)
