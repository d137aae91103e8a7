"""Methods that add a document's static quality, which does not depend on the query, to its score."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from tieaware.checks.arguments import flag, number, whole_number
from tieaware.checks.arrays import Values
from tieaware.errors import InputError
from tieaware.retrieval.accumulators import Bitmaps, DenseLists, Found, accumulate
from tieaware.retrieval.blocks import Base, Blocks
from tieaware.retrieval.champions import TermDocuments, among, best_documents, champions_of
from tieaware.retrieval.index import Index
from tieaware.retrieval.method import (
    Checks,
    Method,
    Searcher,
    WeightedQuery,
    a_count,
    a_share,
    one_by_one,
    posting_weights,
    share_of,
    single_term_scores,
    term_lists,
)
from tieaware.retrieval.postings import LARGEST, DocumentWeights, Numbers, Postings, Vectors


def quality_of(index: Index) -> Values:
    """Return the static quality of each document; raise InputError if the index was built without static quality."""
    if index.quality is None:
        raise InputError("index", "has no static quality; build it with a quality of at least 0 for each document")
    return index.quality


class _ByQuality(NamedTuple):
    """The postings of an index whose documents are renumbered by rank of quality, from 0 for the best.

    Documents of equal quality keep their order. Document ``d`` has the number ``order[d]`` in the index, and the
    quality ``quality[d]``. The postings of a term are in the same range as in the index.
    """

    order: Numbers
    quality: Values
    postings: Postings
    weights: DocumentWeights

    @classmethod
    def of(cls, index: Index, weights: DocumentWeights) -> _ByQuality:
        """Renumber the documents, and sort the postings of each term by the new numbers."""
        quality, postings = quality_of(index), index.postings
        order = np.argsort(-quality, kind="stable").astype(np.int32)
        _, documents, renumbered = Vectors.of(postings, weights).by_term(order, postings.n_terms)
        return cls(order, quality[order], Postings(postings.starts, documents, documents, postings.lengths), renumbered)


class _Weighted(Method):
    """A method with the parameters `quality_weight` and `score_weight`."""

    quality_weight: float
    score_weight: float

    _checks: ClassVar[Checks] = dict.fromkeys(("quality_weight", "score_weight"), partial(number, least=0, most=1e12))

    @property
    def net_weights(self) -> tuple[float, float]:  # type: ignore[override]
        """The numbers by which quality and score are multiplied."""
        return self.quality_weight, self.score_weight


@dataclass(frozen=True, kw_only=True)
class ExactNetScore(_Weighted):
    """Rank all documents that contain a query term by net score, which is static quality plus score.

    It reads all postings of the query's terms, as `Exact` does. The methods that add quality are compared with this
    one.

    Parameters
    ----------
    quality_weight, score_weight : float, default: 1
        The numbers by which quality and score are multiplied before they are added, at least 0.

    Examples
    --------
    >>> index = Index.build([("d1", "tie"), ("d2", "tie"), ("d3", "rank")], analyzer=str.split, quality=[0, 0.5, 1])
    >>> run = ExactNetScore(weighting="nnn.nnn").search(index, {"q": "tie"})
    >>> run.documents.to_list(), run.scores.tolist()
    (['d2', 'd1'], [1.5, 1.0])
    """

    quality_weight: float = 1.0
    score_weight: float = 1.0

    def _searcher(self, index: Index, k: int, whole_ties: bool) -> Searcher:
        lists, base = term_lists(index, self.weighting), self.quality_weight * quality_of(index)

        def find(query: WeightedQuery) -> Found:
            scaled = lists(query._replace(weights=self.score_weight * query.weights))
            return accumulate(scaled, len(index), k, base=base, whole_ties=whole_ties)

        return one_by_one(find)


@dataclass(frozen=True, kw_only=True)
class NetScore(_Weighted):
    """Rank by net score, which is static quality plus score, and leave out documents that cannot be among the top K.

    Documents are stored in descending order of quality, and divided into blocks. A block is left out if its highest
    quality plus the query terms' largest weights in the block do not exceed the K-th best net score so far. The further
    down a block is, the less the quality of its documents, so the more seldom it is read. Leaving out these blocks does
    not change the result. With qualities from 0 to 1 and a weighting other than cosine, scores can be much larger, and
    quality then has little influence on the ranking. The weights of the two parts, or larger qualities, change that.

    See Introduction to Information Retrieval, section 7.1.4. If all documents have quality 0, the result is that of
    `Exact`, bit for bit, except that documents with score 0 are also found. If many blocks can have documents among the
    top K, for example because K is large, all documents are read in descending order of quality, until no further
    document can be among the top K.

    Weights of quality and score as for `ExactNetScore`.

    Parameters
    ----------
    share : float, default: 1
        The share of all documents to search, rounded up: those of the highest quality.

    Examples
    --------
    >>> documents = [("d1", "tie"), ("d2", "tie"), ("d3", "tie rank"), ("d4", "rank")]
    >>> index = Index.build(documents, analyzer=str.split, quality=[0.5, 0.5, 0, 1])
    >>> run = NetScore(weighting="nnn.nnn").search(index, {"q": "tie"})
    >>> run.documents.to_list(), run.scores.tolist()
    (['d1', 'd2', 'd3'], [1.5, 1.5, 1.0])
    """

    share: float = 1.0
    quality_weight: float = 1.0
    score_weight: float = 1.0

    _checks: ClassVar[Checks] = {**_Weighted._checks, "share": a_share}
    _adds_document_parts: ClassVar[bool] = False

    def _searcher(self, index: Index, k: int, whole_ties: bool) -> Searcher:
        weights = posting_weights(index, self.weighting)
        by_quality = index.prepared(("by quality", self.weighting), lambda: _ByQuality.of(index, weights))
        postings = by_quality.postings
        bitmaps = index.prepared("bitmaps by quality", lambda: Bitmaps.of(postings))

        def make() -> Blocks:
            return Blocks.of(postings, by_quality.weights, DenseLists.of(postings, by_quality.weights), bitmaps)

        blocks = index.prepared(("blocks by quality", self.weighting), make)
        base = index.prepared(
            ("base by quality", self.quality_weight),
            lambda: Base.of(self.quality_weight * by_quality.quality, by_quality.order),
        )
        until = int(share_of(len(index), self.share))

        return lambda queries: blocks.search(
            queries._replace(weights=self.score_weight * queries.weights), k, base=base, until=until,
            whole_ties=whole_ties,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class GlobalChampions(Method):
    """Rank by net score only the union of the query terms' global champion lists.

    The global champion list of a term has its documents with the largest sum of quality and weight; if sums tie, the
    documents with the lowest numbers. `Champions` makes its lists by weight alone.

    See Introduction to Information Retrieval, section 7.1.4. With `r` equal to the number of documents, the result is
    that of `NetScore`, bit for bit. For a query of one term with weight 1, lists of length K are long enough for the
    same result.

    Parameters
    ----------
    r : int, default: 100
        The length of a list.
    fallback : bool, default: False
        Whether to rank all documents that contain a query term if the union has fewer than K documents.

    Examples
    --------
    >>> documents = [("d1", "tie"), ("d2", "tie"), ("d3", "tie tie"), ("d4", "tie")]
    >>> index = Index.build(documents, analyzer=str.split, quality=[0.5, 0, 0, 0.5])
    >>> run = GlobalChampions(r=2, weighting="nnc.nnc").search(index, {"q": "tie"})
    >>> run.documents.to_list(), run.scores.tolist()
    (['d1', 'd4'], [1.5, 1.5])
    """

    r: int = 100
    fallback: bool = False

    _checks: ClassVar[Checks] = {"r": a_count, "fallback": flag}
    net_weights: ClassVar[tuple[float, float]] = (1.0, 1.0)

    def _searcher(self, index: Index, k: int, whole_ties: bool) -> Searcher:
        postings, quality = index.postings, quality_of(index)

        def prepare() -> TermDocuments:
            sizes, weights = np.full(len(postings.starts) - 1, self.r), single_term_scores(index, self.weighting)
            values = quality[postings.documents] + weights
            return best_documents(postings, posting_weights(index, self.weighting), values, sizes)

        name = "global champions", self.weighting, self.r
        champions = index.prepared(name, prepare)
        return among(
            champions, name, index, self.weighting, k, whole_ties, base=quality, fallback=self.fallback, by_base=True
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class HighLow(Method):
    """Rank the documents in the query terms' high lists by net score, and other documents only if these are too few.

    The high list of a term is its champion list, as in `Champions`; its low list has the other documents. If the high
    lists give fewer than K documents, all documents that contain a query term are ranked.

    See Introduction to Information Retrieval, section 7.1.4. With `r` equal to the number of documents and `m` = 1, the
    result is that of `NetScore`, bit for bit. If the low lists are needed, the postings of the high lists count as read
    twice.

    Parameters
    ----------
    r : int, default: 100
        The length of a high list.
    m : int, default: 1
        The number of high lists that a document must be in. If the query has fewer terms, the document must be in the
        high lists of all terms.

    Examples
    --------
    >>> documents = [("d1", "tie"), ("d2", "tie tie"), ("d3", "tie"), ("d4", "rank")]
    >>> index = Index.build(documents, analyzer=str.split, quality=[0.5, 0, 0.5, 0])
    >>> method = HighLow(r=1, weighting="nnn.nnn")
    >>> method.search(index, {"q": "tie"}, k=1).documents.to_list()
    ['d2']
    >>> run = method.search(index, {"q": "tie"}, k=3)
    >>> run.documents.to_list(), run.scores.tolist()
    (['d2', 'd1', 'd3'], [2.0, 1.5, 1.5])
    """

    r: int = 100
    m: int = 1

    _checks: ClassVar[Checks] = {"r": a_count, "m": partial(whole_number, least=1, most=LARGEST)}
    net_weights: ClassVar[tuple[float, float]] = (1.0, 1.0)

    def _searcher(self, index: Index, k: int, whole_ties: bool) -> Searcher:
        quality = quality_of(index)
        high = champions_of(index, self.weighting, self.r)
        name = "champions", self.weighting, self.r, 0.0
        return among(
            high, name, index, self.weighting, k, whole_ties, base=quality, fallback=True, at_least=self.m
        )  # fmt: skip
