"""Band-safe search, in Python: it counts what a search reads that stops when all documents are settled in their bands.

A key is a score and a document, compared first by score, then by document: the lower number comes first.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import flag
from tieaware.checks.arrays import Integers, Values
from tieaware.precision import Bands, bands
from tieaware.retrieval.accumulators import Found, accumulate, score, top
from tieaware.retrieval.exact import bounds_rounding, exact_scores
from tieaware.retrieval.impact_order import Segments
from tieaware.retrieval.index import Index
from tieaware.retrieval.method import Method, Searcher, WeightedQuery, one_by_one, posting_weights, term_lists
from tieaware.retrieval.postings import DocumentWeights, Numbers

# There is a flag for each document and each term of a query.
_MOST_TERMS = 63
# Postings are read in blocks of this share of all postings of the query (1 / _SHARE), within these limits.
_SHARE, _SMALLEST_BLOCK, _LARGEST_BLOCK = 256, 8, 1024


@dataclass(frozen=True, kw_only=True)
class BandSafe(Method):
    """Find the documents of each band of ranks, and count what is read until no document can change its band.

    The bands are those of `tieaware.bands`: band g has the ranks from b_g to b_{g+1} - 1, with b_1 = 1 and b_{g+1} =
    ⌈rho b_g⌉. All documents of band g get the score 1/g, so a band is a tie group of the run. The bands are those of
    the run of `Exact`, in which tied documents are in the order of the index: `evaluate` gives the same values, bit for
    bit, for the run of `Exact` with ``precision="bands:RHO"`` and for this run, with that precision or without one.
    With a rho of 1, the result is that of `Exact`, bit for bit, with its scores.

    If rank K falls inside a band, the last band has the documents of its ranks up to K; with ``whole_ties=True``, it
    has the documents of all its ranks.

    Parameters
    ----------
    rho : str, Fraction, int or float, default: 1.5
        The growth factor of the bands, at least 1, read exactly; see `tieaware.bands`.
    look_up : bool, default: True
        Whether documents are looked up in posting lists that are sorted by document. False reads on in order of impact
        until all documents are settled, as a search must if postings are stored in this order only. Exact scores are
        then summed when all postings were read.

    Notes
    -----
    Postings are read in descending order of impact, as by `ImpactOrdered`. A document that was not seen in any list has
    a score of at most the sum of the lists' next impacts. When this sum is below the K-th largest sum of impacts read,
    reading stops. The score of a document that was seen lies between the sum of the impacts read and this sum plus the
    next impacts of the other lists. While such an interval reaches over a boundary between two bands, its document is
    looked up in the list that may add most; after the last list, its score is summed in the order of the terms, and
    compared exactly. Intervals inside a band are left as they are. Fagin, Lotem and Naor call reading with such bounds
    NRA, and its combination with look-ups CA: Optimal aggregation algorithms for middleware, PODS 2001.

    If fewer postings are left than documents to look up, the search reads on instead. A posting counts as read if it
    was read in order of impact, in blocks, or if a look-up stopped at it. A document counts as scored if its score
    became known completely. A query with a negative weight, or with more than 63 terms, is searched in the same way as
    by `Exact`, and its bands are made from the result; so is a query with a filter, whose bands have only documents
    that pass it.

    The counts show what is saved where reading is expensive. In memory, no time is saved: a look-up jumps to another
    place in memory, which takes as long as adding many postings. Compiled, the search took 5.6 times as long as `Exact`
    on real text, so it is written in Python. To save time, evaluate the run of `Exact` or `MaxScore` by bands.

    Examples
    --------
    >>> texts = [("d1", "tie"), ("d2", "tie tie"), ("d3", "tie tie tie"), ("d4", "tie tie tie tie")]
    >>> index = Index.build(texts, analyzer=str.split)
    >>> run = BandSafe(rho=2, weighting="nnn.nnn").search(index, {"q": "tie"}, k=3)
    >>> run.documents.to_list(), run.scores.tolist()
    (['d4', 'd2', 'd3'], [1.0, 0.5, 0.5])
    """

    rho: str | float | Fraction = 1.5
    look_up: bool = True

    _adds_document_parts: ClassVar[bool] = False
    # The bands are those of the documents that pass the filter.
    _applies_filter: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        flag("look_up", self.look_up)
        # Equal factors become equal parameters, in a form that `parse_method` can read.
        written = str(Bands(self.rho)).partition(":")[2]
        factor = written if "/" in written else float(written)
        object.__setattr__(self, "rho", int(factor) if isinstance(factor, float) and factor.is_integer() else factor)

    def _searcher(self, index: Index, k: int, whole_ties: bool) -> Searcher:
        n = max(len(index), 1)
        starts, weights = index.postings.starts, posting_weights(index, self.weighting)
        segments = index.prepared(("segments", self.weighting), lambda: Segments.of(index.postings, weights))
        in_bands = None if self.rho == 1 else _InBands(self.rho, k, n, whole_ties)
        depth = min(k, n) if in_bands is None else in_bands.depth
        lists, whole = term_lists(index, self.weighting), whole_ties and in_bands is None

        def find(query: WeightedQuery) -> Found:
            allowed, rounding = query.query.documents, bounds_rounding(query.weights, weights, _MOST_TERMS)
            if allowed is not None:
                return score(allowed, lists(query), len(index), depth, whole_ties=whole)
            if rounding is None:
                return accumulate(lists(query), len(index), depth, whole_ties=whole)
            by_document, by_impact = (
                [
                    _List.of(documents, own, slice(starts[term], starts[term + 1]), weight)
                    for term, weight in zip(query.terms, query.weights, strict=True)
                ]
                for documents, own in ((index.postings.documents, weights), (segments.documents, segments.weights))
            )
            boundaries = None if in_bands is None else in_bands.boundaries
            search = _Settling(by_document, by_impact, n, depth, rounding, boundaries, self.look_up)
            documents, scores = search.run()
            found = Found(documents, scores, search.n_read, search.n_complete, search.n_comparisons)
            if in_bands is not None:
                return found
            best = top(documents, scores, search.n_read, k, whole_ties=whole_ties)
            return found._replace(
                documents=best.documents, scores=best.scores, n_comparisons=found.n_comparisons + best.n_comparisons
            )

        return one_by_one(find if in_bands is None else lambda query: in_bands.of(find(query)))


class _InBands:
    """The bands of the first `depth` ranks; `boundaries` has the last rank of the band of each rank."""

    depth: int
    boundaries: Integers

    def __init__(self, rho: str | float | Fraction, k: int, n_documents: int, whole: bool) -> None:
        # The ranks of a collection are those of its documents, so further bands are not needed.
        starts = bands(rho, n_documents)
        lasts = np.append(starts[1:] - 1, n_documents)
        band = int(np.searchsorted(lasts, min(k, n_documents)))
        self.depth = int(lasts[band]) if whole else min(k, n_documents)
        lasts = np.minimum(lasts[: band + 1], self.depth)
        sizes = np.diff(lasts, prepend=0)
        self.boundaries = np.repeat(lasts, sizes)
        self._bands = np.repeat(np.arange(1, band + 2), sizes)

    def of(self, found: Found) -> Found:
        """Give the documents of band g the score 1/g; sort the documents of each band."""
        numbers = self._bands[: len(found.documents)]
        order = np.lexsort((found.documents, numbers))
        documents: Numbers = found.documents[order]
        return found._replace(documents=documents, scores=1.0 / numbers)


class _List(NamedTuple):
    """The documents of a posting list, and the impact of each posting, in the order in which they are stored."""

    documents: Numbers
    impacts: Values

    @classmethod
    def of(cls, documents: Numbers, weights: DocumentWeights, own: slice, query_weight: float) -> _List:
        """Take the postings of a range."""
        return cls(documents[own], query_weight * weights[own].astype(np.float64))


_NO_POSTINGS = _List(np.empty(0, np.int32), np.empty(0))


class _Settling:
    """A search for the documents of each band among the top k or, without boundaries, for all that may be among them.

    `sums` has the sum of the impacts read of each document, `seen` the documents seen in each list, and `following` the
    next impact of each list by impact: 0 if there is none. At least k documents reach the score `bound`. For each of
    the first k ranks, `boundaries` has the number of ranks before the next boundary between bands.
    """

    def __init__(
        self, by_document: list[_List], by_impact: list[_List], n_documents: int, k: int, rounding: float,
        boundaries: Integers | None, look_up: bool,
    ) -> None:  # fmt: skip
        self._by_document, self._by_impact = by_document, by_impact
        self._rounding, self._boundaries, self._look_up = rounding, boundaries, look_up
        self._scores = exact_scores(n_documents, *zip(_NO_POSTINGS, *by_document, strict=True))
        self._sums, self._is_exact = np.zeros(n_documents), np.zeros(n_documents, bool)
        self._seen = np.zeros((len(by_impact), n_documents), bool)
        self._at = [0] * len(by_impact)
        self._following = np.array([_impact(each, 0) for each in by_impact])
        self._n_unread = sum(len(each.documents) for each in by_impact)
        self._block = min(max(self._n_unread // _SHARE, _SMALLEST_BLOCK), _LARGEST_BLOCK)
        self._k = min(k, max(self._n_unread, 1))
        # At least k documents have one of the k largest impacts of a list.
        self._bound = max((_impact(each, self._k - 1) for each in by_impact), default=0.0)
        self.n_read = self.n_comparisons = 0

    def run(self) -> tuple[Numbers, Values]:
        """Return the documents and their scores; with bands, the scores may be incomplete, but the bands are in order.

        First read until the next impacts of all lists add up to less than the bound: a document that was not seen then
        has no place among the top k.
        """
        since = 0
        while (rest := float(self._following.sum())) > 0 and rest * self._rounding >= self._bound / self._rounding:
            since += self._read_next()
            # Raising the bound takes longer than reading a block.
            if since >= self._block + 8 * self._k:
                self._raise_bound()
                since = 0
        self._raise_bound()
        seen = np.flatnonzero(self._seen.any(axis=0)).astype(np.int32)
        _, most = self._bounds(seen)
        documents = self._settled(seen[(most > 0) & (most >= self._bound / self._rounding)])
        return documents, np.where(self._is_exact, self._scores, self._sums)[documents]

    @property
    def n_complete(self) -> int:
        """The number of documents whose scores are known completely."""
        is_complete = (self._seen | (self._following <= 0)[:, None]).all(axis=0)
        return int((is_complete & self._seen.any(axis=0)).sum())

    def _read_next(self) -> int:
        """Read a block of postings from the list with the largest next impact; return the number of postings."""
        which = int(self._following.argmax())
        own, start = self._by_impact[which], self._at[which]
        documents, impacts = (each[start : start + self._block] for each in own)
        # Skip documents that were looked up in the list.
        is_new = ~self._seen[which, documents]
        self._sums[documents[is_new]] += impacts[is_new]
        self._seen[which, documents] = True
        self._at[which] = start + len(documents)
        self._following[which] = _impact(own, self._at[which])
        self.n_read += len(documents)
        self._n_unread -= len(documents)
        return len(documents)

    def _raise_bound(self) -> None:
        """Raise the bound to the k-th largest sum."""
        above = self._sums[self._sums > self._bound]
        if len(above) >= self._k:
            self._bound = float(self._first(above)[1][-1])

    def _first(self, scores: Values) -> tuple[Numbers, Values]:
        """Return the places of the k highest scores, those of equal scores in ascending order, and these scores."""
        best = top(np.arange(len(scores), dtype=np.int32), scores, 0, self._k, whole_ties=False)
        self.n_comparisons += best.n_comparisons
        return best.documents, best.scores

    def _bounds(self, documents: Numbers) -> tuple[Values, Values]:
        """Return the least and the greatest possible score of each document."""
        rest = np.zeros(len(documents))
        for seen, following in zip(self._seen, self._following, strict=True):
            rest += np.where(seen[documents], 0.0, following)
        if self._rounding == 1:
            # Then a complete sum is the score.
            self._is_exact[documents[rest == 0]] = True
        sums, scores, is_exact = self._sums[documents], self._scores[documents], self._is_exact[documents]
        least, most = sums / self._rounding, (sums + rest) * self._rounding
        return np.where(is_exact, scores, least), np.where(is_exact, scores, most)

    def _settled(self, documents: Numbers) -> Numbers:
        """Look candidates up in further lists, or read on if fewer postings are left, until none can change its band.

        The candidates ascend. Return the first k of them in the order of their bands or, without bands, all.
        """
        while True:
            least, most = self._bounds(documents)
            first, best = self._first(least)
            if len(documents) > self._k:
                # Drop those whose greatest keys are below the k-th least one; without bands, also keep whole ties.
                lasts = np.arange(len(documents)) if self._boundaries is None else first[-1]
                kept = (most > best[-1]) | ((most == best[-1]) & (np.arange(len(documents)) <= lasts))
                documents, least, most = documents[kept], least[kept], most[kept]
                first = (np.cumsum(kept) - 1)[first].astype(np.int32)
            is_open = self._open(documents, least, most, first)
            if not is_open.any():
                return documents if self._boundaries is None else documents[first]
            can_read = bool((self._following > 0).any())
            if can_read and not (self._look_up and is_open.sum() < self._n_unread):
                self._read_on()
            else:
                self._look_up_next(documents[is_open])

    def _open(self, documents: Numbers, least: Values, most: Values, first: Numbers) -> NDArray[np.bool_]:
        """Mark the candidates that may change their band; `first` has the k with the greatest least keys, in order.

        Invariant: if none is marked, the candidates before each boundary have greater keys than all after it.
        """
        m, is_open = len(documents), ~self._is_exact[documents]
        if m == 0:
            return is_open
        may_be_first: NDArray[np.bool_] = is_open & (most >= least[first[-1]])
        # As long as there are many more than k candidates, look only at the boundary after the k-th.
        if self._boundaries is None or (m > 2 * self._k and may_be_first.any()):
            return may_be_first
        others = np.ones(m, bool)
        others[first] = False
        order = np.append(first, np.flatnonzero(others))
        lowest, highest = (ranks[order] for ranks in _key_ranks(least, most))
        is_open[order] &= _may_cross(lowest, highest, self._boundaries[: len(first)])
        return is_open

    def _read_on(self) -> None:
        """Read an eighth more postings by descending impact."""
        enough = self.n_read + self.n_read // 8
        while (self._following > 0).any() and self.n_read <= enough:
            self._read_next()

    def _look_up_next(self, documents: Numbers) -> None:
        """Look each document up in the list that may add most to its score; if there is none, its score is known."""
        gains = np.where(self._seen[:, documents], 0.0, self._following[:, None])
        which = np.where(gains.max(axis=0) > 0, gains.argmax(axis=0), -1)
        self._is_exact[documents[which < 0]] = True
        for i in np.unique(which[which >= 0]).tolist():
            (own, impacts), sought = self._by_document[i], documents[which == i]
            at = np.searchsorted(own, sought)
            inside = at < len(own)
            self.n_read += len(np.unique(at[inside]))
            at, found = at[inside], sought[inside]
            is_equal = own[at] == found
            self._sums[found[is_equal]] += impacts[at[is_equal]]
            self._seen[i, sought] = True


def _impact(postings: _List, at: int) -> float:
    """Return the impact of the posting with this index, 0 after the last."""
    return float(postings.impacts[at]) if at < len(postings.impacts) else 0.0


def _key_ranks(least: Values, most: Values) -> tuple[Integers, Integers]:
    """Return the ranks of the least and of the greatest keys of candidates, from 0 for the key that comes first.

    Candidates are in ascending order of document, so their places serve as documents. Equal keys have equal ranks.
    """
    values, places = np.append(least, most), np.tile(np.arange(len(least)), 2)
    order = np.lexsort((places, -values))
    differ = (np.diff(values[order]) != 0) | (np.diff(places[order]) != 0)
    ranks = np.empty(len(values), np.int64)
    ranks[order] = np.append(0, np.cumsum(differ))
    return ranks[: len(least)], ranks[len(least) :]


def _may_cross(lowest: Integers, highest: Integers, boundaries: Integers) -> NDArray[np.bool_]:
    """Return which candidates may be on the other side of a boundary.

    The candidates have ranks from `highest` to `lowest`. The first n of them are those with the first ranks at the
    lowest, in this order; there is a boundary for each of them.
    """
    n, m = len(boundaries), len(lowest)
    may_cross: NDArray[np.bool_] = highest < lowest[n - 1]
    places = np.arange(n)
    # May a candidate after the next boundary come before this one?
    first_after = np.append(np.minimum.accumulate(highest[::-1])[::-1], 2 * m)[np.minimum(boundaries, m)]
    may_fall = lowest[:n] > first_after
    # The first place whose candidate this one may come before: is there a boundary between the two?
    places_before = np.minimum(np.searchsorted(lowest[:n], highest[:n], side="right"), places)
    may_cross[:n] = may_fall | ((places_before < places) & (boundaries[places_before] <= places))
    return may_cross
