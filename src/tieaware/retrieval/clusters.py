"""Cluster pruning: search among the documents whose leaders are nearest to the query."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tieaware.checks.arguments import whole_number
from tieaware.checks.arrays import Integers, Offsets, Values
from tieaware.retrieval.accumulators import Found, TermLists, accumulate, score_union
from tieaware.retrieval.champions import TermDocuments
from tieaware.retrieval.index import Index, Query
from tieaware.retrieval.method import Method, posting_weights, query_weights, weighted
from tieaware.retrieval.postings import Numbers
from tieaware.retrieval.weighting import Weights


class _Leaders(NamedTuple):
    """The postings of the leaders, with weights that make each leader's vector a unit vector.

    Leaders are numbered from 0; ``documents[i]`` is the document that is leader ``i``, in ascending order. The postings
    of term ``t`` are ``starts[t]`` to ``starts[t + 1]``.
    """

    documents: Integers
    starts: Offsets
    leaders: Numbers
    weights: Weights

    @classmethod
    def of(cls, index: Index, weights: Weights, chosen: Integers) -> _Leaders:
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


def _followers(index: Index, weights: Weights, leaders: _Leaders, b1: int) -> TermDocuments:
    """Return the followers of each leader: the leader itself, and all documents that have it among their b1 nearest."""
    n_documents, n_leaders = len(index), len(leaders.documents)
    b1 = min(b1, n_leaders)
    nearest, cosines = np.full((b1, n_documents), -1, np.int32), np.full((b1, n_documents), -1.0)
    terms = np.repeat(np.arange(len(leaders.starts) - 1), np.diff(leaders.starts))
    order = np.argsort(leaders.leaders, kind="stable")
    edges = np.searchsorted(leaders.leaders[order], np.arange(n_leaders + 1))
    for leader in range(n_leaders):
        rows = order[edges[leader] : edges[leader + 1]]
        products = _products(index, weights, terms[rows], leaders.weights[rows])
        _insert(leader, products, nearest, cosines)
    followers = np.setdiff1d(np.arange(n_documents), leaders.documents)
    followed = np.concatenate([np.arange(n_leaders), nearest[:, followers].reshape(-1)])
    documents = np.concatenate([leaders.documents, np.tile(followers, b1)]).astype(np.int32)
    order = np.lexsort((documents, followed))
    return TermDocuments(np.searchsorted(followed[order], np.arange(n_leaders + 1)).astype(np.int64), documents[order])


def _products(index: Index, weights: Weights, terms: Integers, own: Weights) -> Values:
    """Return the dot product of a leader's vector with each document's vector, summed in the order of the terms."""
    products = np.zeros(len(index))
    for term, weight in zip(terms, own.astype(np.float64), strict=True):
        a, b = index.postings.starts[term], index.postings.starts[term + 1]
        products[index.postings.documents[a:b]] += weight * weights[a:b].astype(np.float64)
    return products


def _insert(leader: int, products: Values, nearest: Numbers, cosines: Values) -> None:
    """Insert a leader into each document's list of nearest leaders, after leaders that are equally near.

    Each column of `nearest` and `cosines` belongs to one document, and has its nearest leaders with their cosines, the
    largest first. Dot products are compared instead of cosines. A cosine would also be divided by the length of the
    document's vector; this length is the same for all leaders, so it does not change their order.
    """
    inserted = np.zeros(len(products), bool)
    moved = np.full(len(products), leader, np.int32)
    for near, cosine in zip(nearest, cosines, strict=True):
        # Below the row where the leader is inserted, each row takes the values of the row above it.
        inserted |= products > cosine
        near[inserted], moved[inserted] = moved[inserted], near[inserted]
        cosine[inserted], products[inserted] = products[inserted], cosine[inserted]


@dataclass(frozen=True, kw_only=True)
class ClusterPruning(Method):
    """Score only the followers of the leaders that are nearest to the query.

    Leaders are documents chosen at random. Each other document follows the leaders that are nearest to it by the cosine
    of the weighted vectors; if cosines tie, the leaders with the lowest numbers. Followers are scored by all terms of
    the query.

    See Introduction to Information Retrieval, section 7.1.6. With `b2` equal to the number of leaders, the result is
    that of `Exact`, bit for bit. The costs include those of finding the nearest leaders. Preparing the clusters takes
    as long as an exact search with each leader as the query.

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

    _adds_document_parts: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.leaders is not None:
            whole_number("leaders", self.leaders, 1)
        whole_number("b1", self.b1, 1)
        whole_number("b2", self.b2, 1)
        whole_number("seed", self.seed, 0)

    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Choose the leaders, find their followers, and return the search function."""
        n_leaders = math.isqrt(max(len(index) - 1, 0)) + 1 if self.leaders is None else self.leaders
        weights, lists = posting_weights(index, self.weighting), weighted(index, self.weighting, bitmaps=True)

        def prepare() -> tuple[_Leaders, TermDocuments]:
            leaders = _Leaders.of(index, weights, _chosen(len(index), n_leaders, self.seed))
            return leaders, _followers(index, weights, leaders, self.b1)

        name = ("clusters", self.weighting, n_leaders, self.b1, self.seed)
        leaders, followers = index.prepared(name, prepare)

        def find(query: Query) -> Found:
            nearest = accumulate(
                TermLists(
                    leaders.starts[query.terms], leaders.starts[query.terms + 1],
                    query_weights(index, self.weighting, query), leaders.leaders, leaders.weights,
                ),
                len(leaders.documents), self.b2,
            )  # fmt: skip
            # Leaders that contain no term of the query are all equally far from it. Those with the lowest numbers are
            # visited after the matching leaders.
            unmatched = np.setdiff1d(np.arange(len(leaders.documents)), nearest.documents)
            visited = np.append(nearest.documents, unmatched[: self.b2 - len(nearest.documents)])
            starts, stops = followers.starts[visited], followers.starts[visited + 1]
            found = score_union(
                starts, stops, followers.documents, lists(query), len(index), k, whole_ties=whole_ties
            )
            assert found is not None
            # The entries of the followers' lists are not postings.
            costs = np.add(nearest[2:], found[2:]) - [int((stops - starts).sum()), 0, 0]
            return Found(found.documents, found.scores, *costs.tolist())

        return find
