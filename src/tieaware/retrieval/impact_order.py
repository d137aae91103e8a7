"""Impact ordering: the postings that add most come first, and the rest is left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tieaware.checks.arguments import is_integer, number, one_of, whole_number
from tieaware.checks.arrays import Integers, Offsets, Values
from tieaware.kernels import _impact_sums, _impacts
from tieaware.retrieval.accumulators import Found, TermLists, accumulate
from tieaware.retrieval.exact import Exact
from tieaware.retrieval.index import Index, Query
from tieaware.retrieval.method import Method, posting_weights, query_weights
from tieaware.retrieval.postings import LARGEST, Numbers, Postings
from tieaware.retrieval.weighting import Weights

# Segments shorter than that, on average, are not gone through one by one; for the others, blocks are longer than for
# whole lists, as there are so many: 512 KB, which still stay in the second-level cache.
_SHORT, _BLOCK = 16, 1 << 16
# More postings than there can be.
_ALL = 2**63 - 1


class _Segments(NamedTuple):
    """Postings of each term by descending weight, in segments of equal weight, within which documents ascend."""

    documents: Numbers
    weights: Weights
    # Segment s holds the postings starts[s] to starts[s + 1]; those of term t are of_terms[t] to of_terms[t + 1].
    starts: Offsets
    of_terms: Offsets

    @classmethod
    def of(cls, postings: Postings, weights: Weights) -> _Segments:
        """Arrange postings."""
        # NumPy sorts ascending: so the weights are turned round, whole ones within their type.
        turned = np.invert(weights) if weights.dtype.kind == "u" else -weights
        order = np.arange(len(weights))
        for term in np.flatnonzero(postings.document_frequencies > 1):
            a, b = postings.starts[term], postings.starts[term + 1]
            order[a:b] = a + np.argsort(turned[a:b], kind="stable")
        weights = weights[order]
        begins = np.ones(len(weights) + 1, bool)
        begins[1:-1] = weights[1:] != weights[:-1]
        begins[postings.starts] = True
        starts = np.flatnonzero(begins)
        return cls(postings.documents[order], weights, starts, np.searchsorted(starts, postings.starts))

    def lists(self, terms: Integers, starts: Integers, stops: Integers, own: Values) -> TermLists:
        """Return the segments from the starts to the stops as lists, the last one of a term up to its stop."""
        first = self.of_terms[terms]
        sizes = np.searchsorted(self.starts, stops) - first
        sizes[stops == starts] = 0
        whose = np.repeat(np.arange(len(sizes)), sizes)
        rows = np.arange(len(whose)) + np.repeat(first - np.cumsum(sizes) + sizes, sizes)
        ends = np.minimum(self.starts[rows + 1], stops[whose])
        return TermLists(self.starts[rows], ends, own[whose], self.documents, self.weights)


@dataclass(frozen=True, kw_only=True)
class ImpactOrdered(Method):
    """Read the postings that add most to a score first, and stop early.

    What a posting adds is its impact: its weight times that of the term in the query. The postings of a term lie in
    segments of equal weight, of which there are few where weights are whole numbers, as "impact:8" makes them.

    Parameters
    ----------
    postings : int, float or None, default: None
        Stops after so many postings of the query, or after this share of all that it has, rounded up. None: no limit.
        It may end within a segment, whose first documents are read then.
    floor : float, default: 0
        Postings with an impact below this share of the query's largest one are not read.
    order : "impact" or "idf"
        "impact": the segments of all terms by impact; of those that tie, the ones of the rarer term first. "idf": one
        term after the other, the rarest first, each by impact.

    Notes
    -----
    Introduction to Information Retrieval, section 7.1.5; and for the order by impact over all terms, with a budget of
    postings that bounds the time, JASS: Lin and Trotman, Anytime ranking for impact-ordered indexes, ICTIR 2015. A
    document that a posting is read of may lack others: scores are too low, and tie more often. Without a limit it
    is `Exact`; with limits that leave nothing out, it finds the same, bit for bit.

    Sums of impacts of 8 bits are kept in 16. Of such, K documents are known to reach the K-th impact of a list; what
    is read of low impacts is then added only to documents that have a higher one as well, as those without cannot reach
    as much: the idea of `MaxScore`, by segments instead of terms. Documents that have a score are fewer then, and the
    best of them are found by counting how many have each sum: each is compared once, to the lowest that may be among
    the best.

    Examples
    --------
    >>> documents = [("d1", "tie tie rank"), ("d2", "tie"), ("d3", "rank")]
    >>> index = Index.build(documents, analyzer=str.split)
    >>> method = ImpactOrdered(postings=2, weighting="nnn.nnn")
    >>> run, costs = method.counted(index, {"q": "tie rank"})
    >>> run.documents.to_list(), run.scores.tolist(), costs.postings.tolist()
    (['d1', 'd2'], [2.0, 1.0], [2])
    """

    postings: int | float | None = None
    floor: float = 0.0
    order: str = "impact"

    def __post_init__(self) -> None:
        super().__post_init__()
        if is_integer(self.postings):
            whole_number("postings", self.postings, 0)
        elif self.postings is not None:
            number("postings", self.postings, 0, 1)
        number("floor", self.floor, 0, 1)
        one_of("order", self.order, ("impact", "idf"))

    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Arrange the postings by weight, and return what finds the top documents of a query."""
        if self.postings is None and self.floor == 0:
            return Exact(weighting=self.weighting).searcher(index, k, whole_ties)
        weights = posting_weights(index, self.weighting)
        segments = index.prepared(("segments", self.weighting), lambda: _Segments.of(index.postings, weights))
        share, most = (self.postings, None) if isinstance(self.postings, float) else (1.0, self.postings)
        limits = share, _ALL if most is None else min(most, _ALL), self.floor, self.order == "idf"
        in_16_bits = self._in_16_bits(index, segments, k, whole_ties, limits) if weights.dtype == np.uint8 else None

        def find(query: Query) -> Found:
            own = query_weights(index, self.weighting, query)
            found = in_16_bits(query.terms, own) if in_16_bits is not None else None
            if found is not None:
                return found
            parts = _impacts.choose(query.terms, segments.of_terms, segments.starts, segments.weights, own, *limits)
            lists, block = segments.lists(query.terms, parts[0], parts[1], own), _BLOCK
            if len(lists.starts) * _SHORT > (parts[1] - parts[0]).sum():
                # One list of each term then, whose documents do not ascend: all have an accumulator at a time.
                lists, block = lists._replace(starts=parts[0], stops=parts[1], query_weights=own), max(len(index), 1)
            return accumulate(lists, len(index), k, whole_ties=whole_ties, block=block)

        return find

    def _in_16_bits(
        self, index: Index, segments: _Segments, k: int, whole_ties: bool, limits: tuple[float, int, float, bool]
    ) -> Callable[[Integers, Values], Found | None]:
        """Return what adds up impacts of 8 bits, or returns None where the query's weights are not small and whole."""
        n = len(index)

        # Each thread takes its own, and leaves them for the next query.
        idle: list[_impact_sums.Accumulators] = []

        def find(terms: Integers, own: Values) -> Found | None:
            try:
                accumulators = idle.pop()
            except IndexError:
                accumulators = _impact_sums.Accumulators()
            found = _impact_sums.search(
                terms, segments.of_terms, segments.starts, segments.documents, segments.weights, own, *limits,
                n, min(k, LARGEST), whole_ties, accumulators,
            )  # fmt: skip
            idle.append(accumulators)
            if found is None:
                return None
            documents, sums, n_scored, n_comparisons, n_read = found
            return Found(documents, sums, n_read, n_scored, n_comparisons)

        return find
