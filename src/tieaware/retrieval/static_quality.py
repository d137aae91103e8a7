"""Static quality: how good a document is, whatever the query, added to its score, and the order of postings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tieaware.checks.arguments import flag, number, unexpected, whole_number
from tieaware.checks.arrays import Values
from tieaware.retrieval.accumulators import Found, TermLists, score, top
from tieaware.retrieval.champions import TermDocuments, among, best_documents, champions_of
from tieaware.retrieval.index import Index, Query
from tieaware.retrieval.method import Method, posting_weights, query_weights, share_of, weighted
from tieaware.retrieval.postings import Numbers
from tieaware.retrieval.weighting import Weights


def quality_of(index: Index) -> Values:
    """Return the static quality of the documents, which the index must have."""
    if index.quality is None:
        raise unexpected("index.quality", "a number from 0 to 1 for each document, Index.build(quality=…)", "None")
    return index.quality


class _ByQuality(NamedTuple):
    """Postings by descending quality: documents are numbered by it, and of those that tie the first by number."""

    # The number of each document in the index, in the order of quality, and its quality.
    order: Numbers
    quality: Values
    documents: Numbers
    weights: Weights
    # The largest weight of each term.
    bounds: Weights

    @classmethod
    def of(cls, index: Index, weights: Weights) -> _ByQuality:
        """Arrange the postings of an index."""
        quality, postings = quality_of(index), index.postings
        order = np.argsort(-quality, kind="stable").astype(np.int32)
        places = np.empty(len(order), np.int32)
        places[order] = np.arange(len(order), dtype=np.int32)
        df = postings.document_frequencies
        documents = places[postings.documents]
        rows = np.lexsort((documents, np.repeat(np.arange(len(df)), df)))
        bounds = np.zeros(len(df), np.float32)
        if len(weights):
            bounds[df > 0] = np.maximum.reduceat(weights, postings.starts[:-1][df > 0])
        return cls(order, quality[order], documents[rows], weights[rows], bounds)

    def bound(self, query: Query, weights: Values) -> float:
        """Return what no score of the query exceeds: summed as scores are, so that rounding does not matter."""
        return float(np.cumsum(np.append(0.0, weights * self.bounds[query.terms]))[-1])


def _edges(n: int) -> list[int]:
    """Return the edges of blocks of documents, each larger than all before it by a quarter of them."""
    edges = [0]
    while edges[-1] < n:
        edges.append(min(n, edges[-1] + max(256, edges[-1] // 4)))
    return edges


def _descend(by_quality: _ByQuality, lists: TermLists, edges: list[int], k: int, bound: float) -> Found:
    """Score block after block until no document further down can enter; return the top k, and all that tie with it."""
    best = Found(np.empty(0, np.int32), np.empty(0), 0, 0, 0)
    for first, last in pairwise(edges):
        if len(best.documents) >= k and best.scores[k - 1] > bound + by_quality.quality[first]:
            break
        parts = [lists.documents[a:b] for a, b in zip(lists.starts, lists.stops, strict=True)]
        stops = lists.starts + np.array([np.searchsorted(part, last) for part in parts], np.int64)
        block = lists._replace(stops=stops)
        found = score(_documents_of(block), block, k, base=by_quality.quality, whole_ties=True)
        best = _merged(best, found._replace(documents=by_quality.order[found.documents]), k)
        lists = lists._replace(starts=stops)
    return best


def _documents_of(lists: TermLists) -> Numbers:
    parts = [lists.documents[a:b] for a, b in zip(lists.starts, lists.stops, strict=True)]
    return np.unique(np.concatenate([np.empty(0, np.int32), *parts]))


def _merged(best: Found, found: Found, k: int) -> Found:
    """Return the top k of both, and all that tie with it."""
    documents = np.concatenate([best.documents, found.documents])
    rows = np.argsort(documents)
    merged = top(documents[rows], np.concatenate([best.scores, found.scores])[rows], 0, k, whole_ties=True)
    n_comparisons = best.n_comparisons + found.n_comparisons + merged.n_comparisons
    return Found(
        merged.documents, merged.scores, best.n_postings + found.n_postings, best.n_documents + found.n_documents,
        n_comparisons,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class NetScore(Method):
    """Rank by static quality plus the query's score, from the document of highest quality downwards.

    Stops when no document further down can be among the top K: where the K-th best net score so far exceeds the quality
    of the next document plus the sum of the terms' largest weights. So far, the result is that of going through all.

    Parameters
    ----------
    weighting : str
        As for every `Method`. A cosine is from 0 to 1, as quality is; other scores may outweigh it.
    share : float, default: 1
        Stops at the latest after this share of all documents, rounded up.

    See Also
    --------
    GlobalChampions, HighLow : Further methods that go by static quality.

    Notes
    -----
    Introduction to Information Retrieval, section 7.1.4. If all documents are of quality 0, it finds what `Exact` does,
    bit for bit, and documents of score 0 besides. It goes ahead by blocks of documents, each larger than those before
    by a quarter of them, and is asked at their ends whether it may stop; postings of blocks are counted whole.

    Examples
    --------
    >>> documents = [("d1", "tie"), ("d2", "tie"), ("d3", "tie rank"), ("d4", "rank")]
    >>> index = Index.build(documents, analyzer=str.split, quality=[0.5, 0.5, 0, 1])
    >>> run = NetScore(weighting="nnn.nnn").search(index, {"q": "tie"})
    >>> run.documents.to_list(), run.scores.tolist()
    (['d1', 'd2', 'd3'], [1.5, 1.5, 1.0])
    """

    share: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        number("share", self.share, 0, 1)

    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Prepare postings in the order of quality, and return what finds the top documents of a query."""
        weights = posting_weights(index, self.weighting)
        by_quality = index.prepared(("by quality", self.weighting), lambda: _ByQuality.of(index, weights))
        starts, edges = index.postings.starts, _edges(int(share_of(len(index), self.share)))

        def find(query: Query) -> Found:
            own = query_weights(index, self.weighting, query)
            lists = TermLists(
                starts[query.terms], starts[query.terms + 1], own, by_quality.documents, by_quality.weights
            )
            found = _descend(by_quality, lists, edges, k, by_quality.bound(query, own))
            n = len(found.documents) if whole_ties else k
            return found._replace(documents=found.documents[:n], scores=found.scores[:n])

        return find


@dataclass(frozen=True, kw_only=True)
class GlobalChampions(Method):
    """Rank by net score only the union of global champion lists: each term's documents of best quality and weight.

    Parameters
    ----------
    weighting : str
        As for every `Method`; also of the weights that quality is added to.
    r : int, default: 100
        How many documents a list holds: those of the largest quality plus weight, and of those that tie the first by
        number.
    fallback : bool, default: False
        Whether all documents of a query's terms are scored, if there are fewer than K in the union.

    See Also
    --------
    Champions : Lists by weight alone.

    Notes
    -----
    Introduction to Information Retrieval, section 7.1.4. The net score is that of `NetScore`, and with `r` the number
    of documents so is the result, bit for bit. For a query of one term, whose weight is 1, lists of K are enough.

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

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("r", self.r, 1)
        flag("fallback", self.fallback)

    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Prepare global champion lists, and return what finds the top documents of a query."""
        postings, quality, weights = index.postings, quality_of(index), posting_weights(index, self.weighting)

        def prepare() -> TermDocuments:
            sizes = np.full(len(postings.starts) - 1, self.r)
            return best_documents(postings, quality[postings.documents] + weights, sizes)

        champions = index.prepared(("global champions", self.weighting, self.r), prepare)
        lists = weighted(index, self.weighting)
        return among(champions, lists, len(index), k, whole_ties, base=quality, fallback=self.fallback)


@dataclass(frozen=True, kw_only=True)
class HighLow(Method):
    """Rank by net score the documents of high lists, each a term's best, and the others only if those are too few.

    Parameters
    ----------
    weighting : str
        As for every `Method`; a term's best documents are those of the largest weight, and of those that tie the first
        by number.
    r : int, default: 100
        How many documents a high list holds; the low list of the term holds the others.
    m : int, default: 1
        Only documents in the high lists of at least so many of the query's terms, of all of them if it has fewer. If
        there are fewer than K of them, the low lists are read, too: then all documents of the terms are ranked.

    Notes
    -----
    Introduction to Information Retrieval, section 7.1.4. With `r` the number of documents and `m` = 1, it finds what
    `NetScore` does, bit for bit. Who goes low reads the high lists again.

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

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("r", self.r, 1)
        whole_number("m", self.m, 1)

    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Prepare high lists, and return what finds the top documents of a query."""
        quality = quality_of(index)
        high = champions_of(index, self.weighting, self.r)
        lists = weighted(index, self.weighting)
        return among(high, lists, len(index), k, whole_ties, base=quality, fallback=True, at_least=self.m)
