"""Cluster pruning: search among the documents whose leaders are nearest to the query."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import checked_seed
from tieaware.checks.arrays import Integers, Offsets
from tieaware.kernels import _clusters
from tieaware.retrieval.accumulators import FoundLists
from tieaware.retrieval.index import Index
from tieaware.retrieval.method import (
    Checks,
    Method,
    Searcher,
    WeightedQueries,
    a_count,
    or_none,
    posting_weights,
)
from tieaware.retrieval.postings import LARGEST, LONG, DocumentWeights, Numbers, Postings, Vectors
from tieaware.runtime.progress import stage

# A term gets a row with a weight for each leader if it occurs in at least a quarter (1 / _DENSE) of the leaders.
_DENSE = 4
# The number of documents whose nearest leaders are found between two advances of the progress line.
_CHUNK = 1 << 14


class _Leaders(NamedTuple):
    """The postings of the leaders, with weights that make each leader's vector a unit vector.

    Leaders are numbered from 0; ``documents[i]`` is the document that is leader ``i``, in ascending order. The postings
    of term ``t`` are ``starts[t]`` to ``starts[t + 1]``.
    """

    documents: Integers
    starts: Offsets
    leaders: Numbers
    weights: NDArray[np.float32]

    @classmethod
    def of(cls, index: Index, weights: DocumentWeights, chosen: Integers) -> _Leaders:
        """Select the postings of the chosen documents."""
        numbers = np.full(len(index), -1, np.int32)
        numbers[chosen] = np.arange(len(chosen), dtype=np.int32)
        rows = np.flatnonzero(numbers[index.postings.documents] >= 0)
        leaders, own = numbers[index.postings.documents[rows]], weights[rows].astype(np.float64)
        lengths = np.sqrt(np.bincount(leaders, own * own, minlength=len(chosen)))
        lengths[lengths == 0] = 1
        starts = np.searchsorted(rows, index.postings.starts).astype(np.int64)
        return cls(chosen, starts, leaders, (own / lengths[leaders]).astype(np.float32))


def _chosen(n_documents: int, n_leaders: int, seed: int) -> Integers:
    """Choose documents at random: PCG64 draws a number for each document, and those with the lowest are chosen."""
    drawn = np.asarray(np.random.PCG64(seed).random_raw(n_documents))
    return np.sort(np.argsort(drawn, kind="stable")[:n_leaders])


class _Followers(NamedTuple):
    """The followers of all leaders at consecutive positions, and the postings of these positions.

    The followers of leader ``l`` are ``documents[clusters[l]:clusters[l + 1]]``, ascending. The postings of term ``t``
    are ``starts[t]`` to ``starts[t + 1]``, in ascending order of position.
    """

    clusters: Offsets
    documents: Numbers
    starts: Offsets
    positions: Numbers
    weights: NDArray[np.float32]

    @classmethod
    def of(cls, index: Index, vectors: Vectors, leaders: _Leaders, b1: int) -> _Followers:
        """Find the followers of each leader: the leader, and all documents that have it among their b1 nearest."""
        n_leaders = len(leaders.documents)
        followers = np.setdiff1d(np.arange(len(index)), leaders.documents)
        nearest = _nearest(index.postings, vectors, leaders, min(b1, n_leaders))[followers]
        followed = np.concatenate([np.arange(n_leaders), nearest.reshape(-1)])
        documents = np.concatenate([leaders.documents, np.repeat(followers, nearest.shape[1])]).astype(np.int32)
        order = np.lexsort((documents, followed))
        clusters = np.searchsorted(followed[order], np.arange(n_leaders + 1)).astype(np.int64)
        starts, positions, weights = vectors.by_term(documents[order], index.postings.n_terms)
        return cls(clusters, documents[order], starts, positions, weights.astype(np.float32, copy=False))


def _nearest(postings: Postings, vectors: Vectors, leaders: _Leaders, b: int) -> Numbers:
    """Return the b leaders that are nearest to each document; if they are equally near, those with the lowest numbers.

    Dot products are compared instead of cosines. A cosine would also be divided by the length of the document's vector;
    this length is the same for all leaders, so it does not change their order.
    """
    n_documents, n_leaders = len(postings.lengths), len(leaders.documents)
    offsets, terms, weights = vectors.starts, vectors.terms, vectors.weights.astype(np.float32, copy=False)
    sizes = np.diff(leaders.starts)
    frequent = np.flatnonzero(sizes * _DENSE >= n_leaders)
    rows = np.full(postings.n_terms, -1)
    rows[frequent] = np.arange(len(frequent))
    dense = np.zeros((len(frequent), n_leaders), np.float32)
    for row, term in enumerate(frequent):
        a, stop = leaders.starts[term], leaders.starts[term + 1]
        dense[row, leaders.leaders[a:stop]] = leaders.weights[a:stop]
    nearest = np.empty((n_documents, b), np.int32)
    with stage("clusters", n_documents, unit=" documents", shown=len(postings) > LONG) as advance:
        for first in range(0, n_documents, _CHUNK):
            last = min(n_documents, first + _CHUNK)
            _clusters.nearest(
                offsets[first : last + 1], terms, weights, leaders.starts, leaders.leaders,
                leaders.weights, n_leaders, rows, dense, b, nearest[first:last],
            )  # fmt: skip
            advance(last - first)
    return nearest


@dataclass(frozen=True, kw_only=True)
class ClusterPruning(Method):
    """Score only the followers of the leaders that are nearest to the query.

    Leaders are documents chosen at random. Each other document follows the leaders that are nearest to it by the cosine
    of the weighted vectors; if cosines tie, the leaders with the lowest numbers. Followers are scored by all terms of
    the query.

    See Introduction to Information Retrieval, section 7.1.6. With `b2` equal to the number of leaders, the result is
    that of `Exact`, bit for bit. The costs include those of finding the nearest leaders. Preparing the clusters
    compares each document with each leader, and copies the postings in the order of the clusters, `b1` times. With
    several leaders for a document, its postings count each time they are read.

    Parameters
    ----------
    b1 : int, default: 1
        The number of leaders that a document follows.
    b2 : int, default: 1
        The number of leaders whose followers are scored for a query.
    leaders : int, optional
        The number of leaders; by default the square root of the number of documents, rounded up.
    seed : int, default: 0
        The seed of the random choice of leaders. A seed chooses the same leaders on every machine.

    Examples
    --------
    >>> documents = [("d1", "tie a"), ("d2", "tie a"), ("d3", "tie b"), ("d4", "tie b")]
    >>> index = Index.build(documents, analyzer=str.split)
    >>> method = ClusterPruning(leaders=2, weighting="nnn.nnn", seed=1)
    >>> run = method.search(index, {"q": "tie a"})
    >>> run.documents.to_list(), run.scores.tolist()
    (['d1', 'd2'], [2.0, 2.0])
    """

    b1: int = 1
    b2: int = 1
    leaders: int | None = None
    seed: int = 0

    _checks: ClassVar[Checks] = {
        "leaders": or_none(a_count), "b1": a_count, "b2": a_count, "seed": lambda _, seed: checked_seed(seed),
    }  # fmt: skip
    _adds_document_parts: ClassVar[bool] = False

    def _searcher(self, index: Index, k: int, whole_ties: bool) -> Searcher:
        n_leaders = math.isqrt(max(len(index) - 1, 0)) + 1 if self.leaders is None else self.leaders
        weights = posting_weights(index, self.weighting)

        def prepare() -> tuple[_Leaders, _Followers]:
            leaders = _Leaders.of(index, weights, _chosen(len(index), n_leaders, self.seed))
            return leaders, _Followers.of(index, Vectors.of(index.postings, weights), leaders, self.b1)

        name = ("clusters", self.weighting, n_leaders, self.b1, self.seed)
        leaders, followers = index.prepared(name, prepare)

        def find(queries: WeightedQueries) -> FoundLists:
            return FoundLists(*_clusters.search(
                leaders.starts, leaders.leaders, leaders.weights, followers.clusters, followers.documents, len(index),
                *followers[2:], queries.terms, queries.weights, queries.offsets, min(self.b2, LARGEST),
                min(k, LARGEST), whole_ties, self.b1 > 1 and self.b2 > 1,
            ))  # fmt: skip

        return find
