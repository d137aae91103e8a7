"""Cluster pruning: only documents whose leader is near the query."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tieaware.checks.arguments import whole_number
from tieaware.checks.arrays import Integers, Offsets, Values
from tieaware.retrieval.accumulators import Found, TermLists, accumulate, score
from tieaware.retrieval.champions import TermDocuments
from tieaware.retrieval.index import Index, Query
from tieaware.retrieval.method import Method, posting_weights, query_weights, weighted
from tieaware.retrieval.postings import Numbers
from tieaware.retrieval.weighting import Weights


class _Leaders(NamedTuple):
    """Leaders, numbered from 0 in the order of the documents: their postings, and their vectors, each of length 1.

    The postings of term ``t`` in leaders are ``starts[t]`` to ``starts[t + 1]``.
    """

    documents: Integers
    starts: Offsets
    leaders: Numbers
    weights: Weights

    @classmethod
    def of(cls, index: Index, weights: Weights, chosen: Integers) -> _Leaders:
        """Take the leaders' postings out of those of the index."""
        numbers = np.full(len(index), -1, np.int32)
        numbers[chosen] = np.arange(len(chosen), dtype=np.int32)
        rows = np.flatnonzero(numbers[index.postings.documents] >= 0)
        leaders, own = numbers[index.postings.documents[rows]], weights[rows].astype(np.float64)
        lengths = np.sqrt(np.bincount(leaders, own * own, minlength=len(chosen)))
        lengths[lengths == 0] = 1
        starts = np.searchsorted(rows, index.postings.starts).astype(np.int64)
        return cls(chosen, starts, leaders, (own / lengths[leaders]).astype(np.float32))


def _choose(n_documents: int, n_leaders: int, seed: int) -> Integers:
    """Choose documents at random: those of the smallest numbers that PCG64 draws, one for each document."""
    drawn = np.asarray(np.random.PCG64(seed).random_raw(n_documents))
    return np.sort(np.argsort(drawn, kind="stable")[:n_leaders])


def _attach(index: Index, weights: Weights, leaders: _Leaders, b1: int) -> TermDocuments:
    """Return the followers of each leader: the leader itself, and all whose nearest leaders it is one of."""
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
    whose = np.concatenate([np.arange(n_leaders), nearest[:, followers].reshape(-1)])
    documents = np.concatenate([leaders.documents, np.tile(followers, b1)]).astype(np.int32)
    order = np.lexsort((documents, whose))
    return TermDocuments(np.searchsorted(whose[order], np.arange(n_leaders + 1)).astype(np.int64), documents[order])


def _products(index: Index, weights: Weights, terms: Integers, own: Weights) -> Values:
    """Return the products of a leader's vector with those of all documents, summed in the order of the terms."""
    products = np.zeros(len(index))
    for term, weight in zip(terms, own.astype(np.float64), strict=True):
        a, b = index.postings.starts[term], index.postings.starts[term + 1]
        products[index.postings.documents[a:b]] += weight * weights[a:b].astype(np.float64)
    return products


def _insert(leader: int, products: Values, nearest: Numbers, cosines: Values) -> None:
    """Insert a leader into the documents' nearest ones, after those that are as near: rows descend, column by column.

    A document's length divides all its cosines alike, so products do.
    """
    inserted = np.zeros(len(products), bool)
    moved = np.full(len(products), leader, np.int32)
    for near, cosine in zip(nearest, cosines, strict=True):
        # From the row on where the leader goes in, each row takes what was in the one before.
        inserted |= products > cosine
        near[inserted], moved[inserted] = moved[inserted], near[inserted]
        cosine[inserted], products[inserted] = products[inserted], cosine[inserted]


@dataclass(frozen=True, kw_only=True)
class ClusterPruning(Method):
    """Score only the followers of the leaders that are nearest to the query.

    Leaders are documents chosen at random. Each other document follows those that are nearest to it by cosine, and of
    those as near the first by number. The documents that are visited are scored in full.

    Parameters
    ----------
    weighting : str
        As for every `Method`; also of the vectors whose cosines tell what is near.
    b1 : int, default: 1
        How many leaders a document follows.
    b2 : int, default: 1
        The followers of how many leaders a query visits.
    leaders : int, optional
        How many leaders: by default the root of the number of documents, rounded up.
    seed : int, default: 0
        Another seed chooses other leaders, the same on every machine.

    Notes
    -----
    Introduction to Information Retrieval, section 7.1.6. With `b2` the number of leaders, it finds what `Exact` does,
    bit for bit. The leaders' postings and cosines count as cost, as those of the documents visited do. To prepare the
    clusters takes as long as an exact search with each leader for a query.

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

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.leaders is not None:
            whole_number("leaders", self.leaders, 1)
        whole_number("b1", self.b1, 1)
        whole_number("b2", self.b2, 1)
        whole_number("seed", self.seed, 0)

    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Choose leaders, attach the followers, and return what finds the top documents of a query."""
        n_leaders = math.isqrt(max(len(index) - 1, 0)) + 1 if self.leaders is None else self.leaders
        weights, lists = posting_weights(index, self.weighting), weighted(index, self.weighting)

        def prepare() -> tuple[_Leaders, TermDocuments]:
            leaders = _Leaders.of(index, weights, _choose(len(index), n_leaders, self.seed))
            return leaders, _attach(index, weights, leaders, self.b1)

        key = ("clusters", self.weighting, n_leaders, self.b1, self.seed)
        leaders, followers = index.prepared(key, prepare)

        def find(query: Query) -> Found:
            near = accumulate(
                TermLists(
                    leaders.starts[query.terms], leaders.starts[query.terms + 1],
                    query_weights(index, self.weighting, query), leaders.leaders, leaders.weights,
                ),
                len(leaders.documents), self.b2,
            )  # fmt: skip
            others = np.setdiff1d(np.arange(len(leaders.documents)), near.documents)
            visited = np.append(near.documents, others[: self.b2 - len(near.documents)])
            found = score(np.unique(followers.of(visited)), lists(query), k, whole_ties=whole_ties)
            costs = np.add(near[2:], found[2:]).tolist()
            return Found(found.documents, found.scores, *costs)

        return find
