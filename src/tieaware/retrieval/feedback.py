"""Relevance feedback: queries moved towards relevant documents, by judgments or blindly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tieaware.checks.arguments import number, whole_number
from tieaware.checks.arrays import Integers, Offsets, Values
from tieaware.inputs.sources import QrelsLike, as_qrels
from tieaware.lists.identifiers import encoded
from tieaware.retrieval.accumulators import Found
from tieaware.retrieval.exact import Exact
from tieaware.retrieval.index import Index, Query
from tieaware.retrieval.method import Method, posting_weights, query_weights
from tieaware.retrieval.postings import Numbers
from tieaware.retrieval.weighting import Weights

_MOST = float(np.finfo(np.float64).max)


class _Vectors(NamedTuple):
    """The documents' vectors: document ``d`` has the terms from ``starts[d]`` to ``starts[d + 1]``, ascending."""

    starts: Offsets
    terms: Numbers
    weights: Weights

    @classmethod
    def of(cls, index: Index, weighting: str) -> _Vectors:
        """Turn the postings of an index round, once."""

        def prepare() -> _Vectors:
            postings, weights = index.postings, posting_weights(index, weighting)
            order = np.argsort(postings.documents, kind="stable")
            df = postings.document_frequencies
            terms = np.repeat(np.arange(len(df), dtype=np.int32), df)
            starts = np.searchsorted(postings.documents[order], np.arange(len(index) + 1))
            return cls(starts.astype(np.int64), terms[order], weights[order])

        return index.prepared(("vectors", weighting), prepare)

    def size(self, documents: Integers | Numbers) -> int:
        """Return how many terms documents have."""
        return int((self.starts[documents + 1] - self.starts[documents]).sum())

    def summed(self, documents: Integers | Numbers, shares: Values) -> tuple[Numbers, Values]:
        """Return the terms of documents and their summed weights, each document's times its share."""
        ends = zip(self.starts[documents], self.starts[documents + 1], strict=True)
        rows = np.concatenate([np.empty(0, np.int64), *(np.arange(a, b) for a, b in ends)])
        own = np.repeat(shares, self.starts[documents + 1] - self.starts[documents])
        terms, whose = np.unique(self.terms[rows], return_inverse=True)
        return terms, _added(whose, own * self.weights[rows].astype(np.float64), len(terms))


def _added(whose: Integers, values: Values, n: int) -> Values:
    """Add up the values of each, one after the other."""
    return np.bincount(whose, values, n).astype(np.float64)


class _Rocchio(NamedTuple):
    """The parameters of Rocchio's formula: what is left of the query, what relevant and other documents add to it."""

    alpha: float
    beta: float
    gamma: float
    n_terms: int | None

    def check(self) -> None:
        """Raise InputError, if a parameter is out of its range."""
        for name in ("alpha", "beta", "gamma"):
            number(name, getattr(self, name), 0, _MOST)
        if self.n_terms is not None:
            whole_number("n_terms", self.n_terms, 0)

    def expand(
        self, query: Query, weights: Values, vectors: _Vectors, relevant: tuple[Integers | Numbers, Values],
        nonrelevant: Integers,
    ) -> Query:  # fmt: skip
        """Return α q + β centroid(relevant) - γ centroid(nonrelevant), where that is positive.

        Relevant documents have shares, which are probabilities to be among as many as these add up to.
        """
        documents, shares = relevant
        terms, sums = vectors.summed(documents, shares)
        other_terms, other_sums = vectors.summed(nonrelevant, np.ones(len(nonrelevant)))
        n_relevant, n_others = max(1, round(shares.sum())), max(1, len(nonrelevant))
        all_terms, whose = np.unique(np.concatenate([query.terms, terms, other_terms]), return_inverse=True)
        parts = (self.alpha * weights, self.beta * (sums / n_relevant), -self.gamma * (other_sums / n_others))
        moved = _added(whose, np.concatenate(parts), len(all_terms))
        frequencies = np.zeros(len(all_terms), np.int64)
        frequencies[whose[: len(query.terms)]] = query.frequencies
        kept = moved > 0
        if self.n_terms is not None:
            added = np.flatnonzero(kept & (frequencies == 0))
            kept[added[np.argsort(-moved[added], kind="stable")[self.n_terms :]]] = False
        return Query(all_terms[kept].astype(np.int64), frequencies[kept], moved[kept])


def rocchio(
    index: Index, queries: Mapping[Any, Any], qrels: QrelsLike, *, weighting: str = "lnc.ltc", alpha: float = 1.0,
    beta: float = 0.75, gamma: float = 0.15, rel: int = 1, n_terms: int | None = None,
) -> dict[Any, Query]:  # fmt: skip
    """Return queries moved towards their relevant documents and away from the others, by Rocchio's formula.

    Any method can search them: their weights are what they bring along. Where a weight would be negative, the term is
    left out. Who evaluates such a search with the same judgments evaluates in part what they have told.

    Parameters
    ----------
    index : Index
        The index with the documents' vectors.
    queries : mapping
        Queries by their ids, as `Method.search` takes them.
    qrels : Qrels, or whatever `tieaware.evaluate` takes
        Judgments; those of other queries, or of documents that the index does not have, are passed over.
    weighting : str, default: "lnc.ltc"
        The weights of the queries and of the vectors.
    alpha, beta, gamma : float
        What the query, the centroid of relevant documents, and that of judged nonrelevant documents weigh; at least 0.
    rel : int, default: 1
        The smallest label of relevant documents; negative ones are unjudged.
    n_terms : int, optional
        At most so many terms are added to the query's own: those of the largest weights, and of those that tie the
        first by number. By default, all.

    Returns
    -------
    dict of Query
        By the ids of the queries. A query without judgments keeps its terms.

    Raises
    ------
    InputError
        A parameter is out of its range, or queries and judgments are not of their forms.

    See Also
    --------
    BlindFeedback : Takes the top of a first search for relevant.

    Notes
    -----
    Introduction to Information Retrieval, section 9.1.1, equation 9.3.

    Examples
    --------
    >>> index = Index.build([("d1", "tie"), ("d2", "tie rank"), ("d3", "rank"), ("d4", "list")], analyzer=str.split)
    >>> expanded = rocchio(index, {"q": "tie"}, {"q": {"d2": 1, "d1": 0}}, weighting="nnn.nnn")
    >>> expanded["q"].terms.tolist(), expanded["q"].weights.round(2).tolist()
    ([0, 1], [1.6, 0.75])
    >>> run = Exact(weighting="nnn.nnn").search(index, expanded)
    >>> run.documents.to_list(), run.scores.round(2).tolist()
    (['d2', 'd1', 'd3'], [2.35, 1.6, 0.75])
    """
    formula = _Rocchio(alpha, beta, gamma, n_terms)
    formula.check()
    judged, vectors = as_qrels(qrels), _Vectors.of(index, weighting)
    rel = whole_number("rel", rel, 0)
    rows = {query: (a, b) for query, a, b in zip(judged.queries, judged.offsets[:-1], judged.offsets[1:], strict=True)}
    numbers = index.prepared("numbers", lambda: {name: number for number, name in enumerate(index.documents)})
    expanded = {}
    for name, text in queries.items():
        query = text if isinstance(text, Query) else index.query(text)
        a, b = rows.get(encoded(name), (0, 0))
        found = [(numbers.get(judged.documents[row], -1), judged.labels[row]) for row in range(a, b)]
        documents, labels = np.array(sorted(each for each in found if each[0] >= 0), np.int64).reshape(-1, 2).T
        relevant, nonrelevant = documents[labels >= rel], documents[(labels >= 0) & (labels < rel)]
        own = query_weights(index, weighting, query)
        expanded[name] = formula.expand(query, own, vectors, (relevant, np.ones(len(relevant))), nonrelevant)
    return expanded


@dataclass(frozen=True, kw_only=True)
class BlindFeedback(Method):
    """Search, move the query towards the top documents as if they were relevant, and search again.

    Where the top ends within documents that tie, it is not the first of them by accident that count: each counts by the
    probability that it is in the top, if those that tie come in any order. So the query moves to where it does on
    average over the orders.

    Parameters
    ----------
    weighting : str
        As for every `Method`; also of the documents' vectors.
    depth : int, default: 10
        How many documents are the top.
    alpha, beta : float
        What the query and the centroid of the top weigh; at least 0, by default 1 and 0.75.
    n_terms : int, optional
        At most so many terms are added to the query's own: those of the largest weights, and of those that tie the
        first by number. By default, all.

    See Also
    --------
    rocchio : Feedback by judgments.

    Notes
    -----
    Introduction to Information Retrieval, sections 9.1.1 and 9.1.6. Of a group of n documents behind t others, each is
    among the first K with probability min(1, max(0, (K - t) / n)). With `beta` = 0 it finds what `Exact` does, bit for
    bit. Both searches count, and the terms of the top documents as postings.

    Examples
    --------
    >>> documents = [("d1", "tie rank"), ("d2", "tie list"), ("d3", "rank"), ("d4", "list")]
    >>> index = Index.build(documents, analyzer=str.split)
    >>> run = BlindFeedback(depth=1, weighting="nnn.nnn").search(index, {"q": "tie"})
    >>> run.documents.to_list(), run.scores.tolist()
    (['d1', 'd2', 'd3', 'd4'], [2.125, 2.125, 0.375, 0.375])
    """

    depth: int = 10
    alpha: float = 1.0
    beta: float = 0.75
    n_terms: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("depth", self.depth, 1)
        self._formula.check()

    @property
    def _formula(self) -> _Rocchio:
        return _Rocchio(self.alpha, self.beta, 0.0, self.n_terms)

    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Prepare the documents' vectors, and return what finds the top documents of a query."""
        vectors, exact = _Vectors.of(index, self.weighting), Exact(weighting=self.weighting)
        search, search_again = exact.searcher(index, self.depth, True), exact.searcher(index, k, whole_ties)

        def find(query: Query) -> Found:
            first = search(query)
            order = np.argsort(first.documents)
            top = first.documents[order], _inclusion(first.scores, self.depth)[order]
            own = query_weights(index, self.weighting, query)
            again = search_again(self._formula.expand(query, own, vectors, top, np.empty(0, np.int64)))
            costs = np.add(first[2:], again[2:])
            costs[0] += vectors.size(first.documents)
            return Found(again.documents, again.scores, *costs.tolist())

        return find


def _inclusion(scores: Values, k: int) -> Values:
    """Return the probability of each document to be among the first k; scores descend, the last k-th tie is whole."""
    shares = np.ones(len(scores))
    if len(scores) > k:
        tied = scores == scores[-1]
        n = int(tied.sum())
        shares[tied] = (k - (len(scores) - n)) / n
    return shares
