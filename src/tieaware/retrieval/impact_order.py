"""Impact ordering: the postings that add most come first, and the rest is left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tieaware.arrays import Integers, Offsets, Values
from tieaware.checks import is_whole, number, one_of, whole_number
from tieaware.retrieval.accumulators import Found, TermLists, accumulate
from tieaware.retrieval.index import Index, Query
from tieaware.retrieval.method import Method, posting_weights, query_weights, share_of
from tieaware.retrieval.postings import Numbers, Postings
from tieaware.retrieval.weighting import Weights

# Segments shorter than that, on average, are not gone through one by one; for the others, blocks are longer than for
# whole lists, as there are so many: 512 KB, which still stay in the second-level cache.
_SHORT, _BLOCK = 16, 1 << 16


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


@dataclass(frozen=True, kw_only=True)
class ImpactOrdered(Method):
    """Read the postings that add most to a score first, and stop early.

    What a posting adds is its impact: its weight times that of the term in the query. The postings of a term lie in
    segments of equal weight, of which there are few where weights are whole numbers, as "impact:8" makes them.

    Parameters
    ----------
    weighting : str
        As for every `Method`.
    postings : int, float or None, default: None
        Stops after so many postings of the query, or after this share of all that it has, rounded up. None: no limit.
        It may end within a segment, whose first documents are read then.
    floor : float, default: 0
        Postings with an impact below this share of the query's largest one are not read.
    order : "impact" or "idf"
        "impact": the segments of all terms by impact; of those that tie, the ones of the rarer term first. "idf": one
        term after the other, the rarest first, each by impact.

    Raises
    ------
    InputError
        A parameter is out of its range.

    Notes
    -----
    Introduction to Information Retrieval, section 7.1.5; and for the order by impact over all terms, with a budget of
    postings that bounds the time, JASS: Lin and Trotman, Anytime ranking for impact-ordered indexes, ICTIR 2015. A
    document that a posting is read of may lack others: scores are too low, and tie more often. Without a limit it
    finds what `Exact` does, bit for bit.

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
        if is_whole(self.postings):
            whole_number("postings", self.postings, 0)
        elif self.postings is not None:
            number("postings", self.postings, 0, 1)
        number("floor", self.floor, 0, 1)
        one_of("order", self.order, ("impact", "idf"))

    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Arrange the postings by weight, and return what finds the top documents of a query.

        Parameters
        ----------
        index, k, whole_ties
            As `Method.searcher` takes them.

        Returns
        -------
        callable
            Takes a `Query`, and returns what was `Found`.
        """
        weights = posting_weights(index, self.weighting)
        segments = index.prepared(("segments", self.weighting), lambda: _Segments.of(index.postings, weights))
        df, n = index.postings.document_frequencies, len(index)

        def find(query: Query) -> Found:
            own = query_weights(index, self.weighting, query)
            first = segments.of_terms[query.terms]
            sizes = segments.of_terms[query.terms + 1] - first
            whose = np.repeat(np.arange(len(sizes)), sizes)
            rows = np.arange(len(whose)) + np.repeat(first - np.cumsum(sizes) + sizes, sizes)
            starts = segments.starts[rows]
            lengths = segments.starts[rows + 1] - starts
            impacts = np.abs(own[whose] * segments.weights[starts])
            lengths = self._read(impacts, lengths, df[query.terms][whose])
            some = lengths > 0
            starts, lengths, whose = starts[some], lengths[some], whose[some]
            if lengths.sum() >= _SHORT * len(lengths):
                lists = TermLists(starts, starts + lengths, own[whose], segments.documents, segments.weights)
                return accumulate(lists, n, k, whole_ties=whole_ties, block=_BLOCK)
            # What is read of a term lies at its beginning, in one list then, whose documents do not ascend.
            whose, first = np.unique(whose, return_index=True)
            starts, lengths = starts[first], np.add.reduceat(lengths, first) if len(first) else lengths
            lists = TermLists(starts, starts + lengths, own[whose], segments.documents, segments.weights)
            return accumulate(lists, n, k, whole_ties=whole_ties, block=max(n, 1))

        return find

    def _read(self, impacts: Values, lengths: Integers, df: Integers) -> Integers:
        """Return how many postings are read of each of a query's segments."""
        total = int(lengths.sum())
        limit = total if self.postings is None else min(self.postings, total)
        if isinstance(self.postings, float):
            limit = int(share_of(total, self.postings))
        if self.floor > 0:
            lengths = np.where(impacts < self.floor * impacts.max(initial=0), 0, lengths)
        order = np.lexsort((df, -impacts) if self.order == "impact" else (-impacts, df))
        read = np.empty(len(lengths), np.int64)
        in_order = lengths[order]
        read[order] = np.maximum(np.minimum(limit - np.cumsum(in_order) + in_order, in_order), 0)
        return read
