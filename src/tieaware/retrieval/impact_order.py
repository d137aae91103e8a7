"""Impact ordering: reading the postings that add most to a score first, and stopping early.

In the literature on impact-ordered indexes, a segment is a sequence of postings of one term that have equal impact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from tieaware.checks.arguments import is_integer, number, one_of, whole_number
from tieaware.checks.arrays import Integers, Offsets, Values
from tieaware.kernels import _impact_sums, _prefixes
from tieaware.retrieval.accumulators import (
    SHORTEST_WITH_FILTER,
    Cuts,
    EntryBounds,
    Filters,
    Found,
    FoundLists,
    IdleMemory,
    TermLists,
    accumulate,
    has_bitmap,
    posting_lists,
    score_unions,
)
from tieaware.retrieval.exact import Exact
from tieaware.retrieval.index import Index
from tieaware.retrieval.method import (
    Method,
    Searcher,
    WeightedQueries,
    WeightedQuery,
    one_by_one,
    posting_weights,
    weighted_lists,
)
from tieaware.retrieval.postings import LARGEST, DocumentWeights, Numbers, Postings, over_terms, ranges

# If the segments are shorter than this on average, each term is read as one list instead of segment by segment.
_SHORT = 16
# The number of documents that are scored at a time when segments are read. Their accumulators take 512 KB, which still
# fit in the second-level cache. Chunks are larger here than for complete lists, because each chunk has to go through
# many segments.
_CHUNK = 1 << 16
# The sampling interval of the weights, as in the kernel.
_SAMPLE = 64
# A limit on the number of postings that no query reaches.
_ALL = 2**63 - 1


class Segments(NamedTuple):
    """The postings of each term in descending order of weight; documents ascend within a segment of equal weights."""

    documents: Numbers
    weights: DocumentWeights
    # Every 64th weight.
    samples: DocumentWeights
    # Segment s has the postings starts[s] to starts[s + 1]. Term t has the segments term_starts[t] to
    # term_starts[t + 1].
    starts: Offsets
    term_starts: Offsets

    @classmethod
    def of(cls, postings: Postings, weights: DocumentWeights) -> Segments:
        """Sort the postings of each term by weight."""
        # NumPy sorts in ascending order, so reverse the order of the weights. Unsigned weights cannot be negated, but
        # inverting all their bits also reverses their order.
        reversed_weights = np.invert(weights) if weights.dtype.kind == "u" else -weights
        order = np.arange(len(weights))

        def sort(first: int, stop: int) -> None:
            for term in first + np.flatnonzero(np.diff(postings.starts[first : stop + 1]) > 1):
                a, b = postings.starts[term], postings.starts[term + 1]
                order[a:b] = a + np.argsort(reversed_weights[a:b], kind="stable")

        over_terms("impact order", postings.starts, sort)
        weights = weights[order]
        begins = np.ones(len(weights) + 1, bool)
        begins[1:-1] = weights[1:] != weights[:-1]
        begins[postings.starts] = True
        starts = np.flatnonzero(begins)
        samples, term_starts = weights[::_SAMPLE].copy(), np.searchsorted(starts, postings.starts)
        return cls(postings.documents[order], weights, samples, starts, term_starts)

    def lists(self, terms: Integers, starts: Integers, stops: Integers, query_weights: Values) -> TermLists:
        """Return each segment as a list of its own, for the postings of each term from its start to its stop.

        If a stop is inside a segment, the list of that segment has only the documents before the stop.
        """
        first = self.term_starts[terms]
        sizes = np.searchsorted(self.starts, stops) - first
        sizes[stops == starts] = 0
        places, rows = np.repeat(np.arange(len(sizes)), sizes), ranges(first, sizes)
        ends = np.minimum(self.starts[rows + 1], stops[places])
        lists = posting_lists(self.starts[rows], ends, self.documents, self.weights)
        return TermLists(lists, np.arange(len(rows)), query_weights[places])


class Prefixes(NamedTuple):
    """The postings of each term in descending order of weight, for queries that read a prefix of each list.

    The filters of term ``t`` are those from ``first_filters[t]`` to ``first_filters[t + 1]``: for all its documents,
    for the first half of them, the first quarter and so on. The first one is empty if the term has a bitmap.
    """

    segments: Segments
    filters: Filters
    first_filters: Offsets

    @classmethod
    def of(cls, postings: Postings, segments: Segments) -> Prefixes | None:
        """Make the filters; return None if many weights are equal or they are integers."""
        documents = segments.documents
        if segments.weights.dtype != np.float32 or (len(segments.starts) - 1) * _SHORT <= len(documents):
            return None
        df, n = postings.document_frequencies, len(postings.lengths)
        n_filters = np.maximum(np.frexp(df / SHORTEST_WITH_FILTER)[1], 1).astype(np.int64)
        first_filters = np.append(0, np.cumsum(n_filters))
        terms = np.repeat(np.arange(len(df)), n_filters)
        halvings = np.arange(len(terms)) - first_filters[terms]
        begins, lengths = postings.starts[terms], df[terms] >> halvings
        which = (halvings > 0) | ~has_bitmap(lengths, n)
        filters = Filters.of_lists(begins, begins + lengths, documents, n, which)
        return cls(segments, filters, first_filters)


@dataclass(frozen=True, kw_only=True)
class ImpactOrdered(Method):
    """Read the postings that add most to a score first, and stop early.

    The impact of a posting is what it adds to a score: its weight times the term's weight in the query. The postings of
    a term are stored in segments of equal weight. There are few segments if weights are integers, as with "impact:8".

    Parameters
    ----------
    postings : int, float or None, default: None
        An int is the number of postings to read for a query, so 1 means one posting. A float is a share of the query's
        postings, rounded up. None means no limit, and so does a share of 1.0, which is stored as None: otherwise the
        methods with 1 and with 1.0 would be equal. If the limit falls inside a segment, only the first documents of the
        segment are read.
    floor : float, default: 0
        Postings are not read if their impact is below this share of the largest impact of the query.
    order : "impact" or "idf"
        "impact" reads the segments of all terms in descending order of impact; if impacts tie, those of rarer terms
        first. "idf" reads term after term, the rarest first, each in descending order of impact.

    Notes
    -----
    Introduction to Information Retrieval, section 7.1.5. The search engine JASS also reads the segments of all terms in
    order of impact, and limits the number of postings to limit the time: Lin and Trotman, Anytime ranking for
    impact-ordered indexes, ICTIR 2015. If some postings of a document are read and others are not, its score is too
    low; such scores tie more often. If the limits leave no postings out, the result is that of `Exact`, bit for bit.

    At least K documents have a score that is as high as the K-th largest impact of a term. A document that has only low
    impacts cannot reach this score, so low impacts are added only to documents that also have a higher impact. This is
    the idea of `MaxScore`, with segments instead of terms; it leaves fewer documents with a score. Low impacts count as
    read. Impacts of 8 bits are summed in 16 bits. To select the top K of them, the documents with each score are
    counted, and each document is compared once, with the lowest score that may be among the top K.

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
    order: Literal["impact", "idf"] = "impact"

    _adds_document_parts: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        postings: int | float | None = self.postings
        if is_integer(postings):
            postings = whole_number("postings", postings, 0)
        elif postings is not None:
            share = number("postings", postings, 0, 1)
            postings = None if share == 1 else share
        object.__setattr__(self, "postings", postings)
        number("floor", self.floor, 0, 1)
        one_of("order", self.order, ("impact", "idf"))

    def _searcher(self, index: Index, k: int, whole_ties: bool) -> Searcher:
        """Search exactly if all postings are read; else by prefixes of lists if they exist, or by segments."""
        if self.postings is None and self.floor == 0:
            return Exact(weighting=self.weighting)._searcher(index, k, whole_ties)
        weights = posting_weights(index, self.weighting)
        segments = index.prepared(("segments", self.weighting), lambda: Segments.of(index.postings, weights))
        prefixes = index.prepared(("prefixes", self.weighting), lambda: Prefixes.of(index.postings, segments))
        in_segments = self._in_segments(index, segments, k, whole_ties)
        if prefixes is None:
            return in_segments
        by_prefixes = self._by_prefixes(index, prefixes, k, whole_ties)

        def find(queries: WeightedQueries) -> FoundLists:
            is_bounded = np.isfinite(queries.weights) & (queries.weights >= 0)
            if is_bounded.all():
                return by_prefixes(queries)
            # Other weights give no bounds of scores.
            every = [queries.chunk(i, i + 1) for i in range(len(queries.queries))]
            bounded = np.logical_and.reduceat(np.append(is_bounded, True), queries.offsets[:-1]) | (queries.sizes == 0)
            return FoundLists.joined(
                [by_prefixes(one) if is_one else in_segments(one) for one, is_one in zip(every, bounded, strict=True)]
            )

        return find

    def _by_prefixes(self, index: Index, prefixes: Prefixes, k: int, whole_ties: bool) -> Searcher:
        """Return a search function that does not look at segments. It is for weights that are rarely equal."""
        (documents, weights, samples, *_), filters, first_filters = prefixes
        lists = weighted_lists(index, self.weighting, bitmaps=True)

        def find(queries: WeightedQueries) -> FoundLists:
            terms, offsets = queries.terms, queries.offsets
            (starts, stops, which), (largest, missing, kth, cuts), last, n_read = _prefixes.choose_all(
                terms, queries.weights, offsets, index.postings.starts, documents, weights, samples, first_filters,
                *self._limits, min(k, LARGEST),
            )  # fmt: skip
            found = score_unions(
                posting_lists(starts, stops, documents, weights), np.arange(len(terms)), offsets,
                TermLists(lists, terms, queries.weights), offsets, len(index), k, whole_ties=whole_ties,
                bounds=EntryBounds(largest, missing, kth, None, 0.0, False, *filters), cuts=Cuts(cuts, last, which),
            )  # fmt: skip
            found.costs[:, 0] = n_read
            return found

        return find

    @property
    def _limits(self) -> tuple[float, int, float, bool]:
        """The limits on the postings to read, and their order, in the form that the kernels take."""
        share, most = (self.postings, None) if isinstance(self.postings, float) else (1.0, self.postings)
        return share, _ALL if most is None else min(most, _ALL), self.floor, self.order == "idf"

    def _in_segments(self, index: Index, segments: Segments, k: int, whole_ties: bool) -> Searcher:
        """Return a search function that looks at the segments; it sums impacts of 8 bits in 16 bits if they fit."""
        n, (documents, weights, samples, *_) = len(index), segments
        memory = IdleMemory(_impact_sums.Accumulators)

        def find(query: WeightedQuery) -> Found:
            starts, stops = ranges = _prefixes.choose(
                query.terms, query.weights, index.postings.starts, documents, weights, samples, *self._limits
            )
            if weights.dtype == np.uint8:
                found = memory.lent_to(
                    _impact_sums.search, query.terms, query.weights, ranges, segments.term_starts, segments.starts,
                    documents, weights, n, min(k, LARGEST), whole_ties,
                )  # fmt: skip
                if found is not None:
                    best, sums, n_scored, n_comparisons = found
                    return Found(best, sums, int((stops - starts).sum()), n_scored, n_comparisons)
            lists, chunk_size = segments.lists(query.terms, starts, stops, query.weights), _CHUNK
            if len(lists.terms) * _SHORT > (stops - starts).sum():
                # Read each term as one list. The documents of such a list do not ascend, so all documents need an
                # accumulator at the same time.
                whole = posting_lists(starts, stops, documents, weights)
                lists = TermLists(whole, np.arange(len(starts)), query.weights)
                chunk_size = max(n, 1)
            return accumulate(lists, n, k, whole_ties=whole_ties, chunk_size=chunk_size)

        return one_by_one(find)
