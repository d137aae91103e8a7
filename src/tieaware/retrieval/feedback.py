"""Relevance feedback: moving queries towards judged or assumed relevant documents."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tieaware.checks.arguments import number, threshold, whole_number
from tieaware.checks.arrays import Integers, Offsets, Values
from tieaware.inputs.sources import QrelsLike, as_qrels
from tieaware.lists.identifiers import encoded
from tieaware.retrieval.accumulators import Found
from tieaware.retrieval.exact import Exact
from tieaware.retrieval.index import Index, Query, as_index, as_queries
from tieaware.retrieval.method import Method, filtered_searcher, posting_weights, query_weights
from tieaware.retrieval.postings import Numbers
from tieaware.retrieval.weighting import Weights

_MOST = float(np.finfo(np.float64).max)


class Vectors(NamedTuple):
    """The term vectors of documents: document ``d`` has the terms ``terms[starts[d]:starts[d + 1]]``, ascending."""

    starts: Offsets
    terms: Numbers
    weights: Weights

    @classmethod
    def of(cls, index: Index, weighting: str) -> Vectors:
        """Transpose the postings of an index; the index caches the result."""

        def prepare() -> Vectors:
            postings, weights = index.postings, posting_weights(index, weighting)
            order = np.argsort(postings.documents, kind="stable")
            df = postings.document_frequencies
            terms = np.repeat(np.arange(len(df), dtype=np.int32), df)
            starts = np.searchsorted(postings.documents[order], np.arange(len(index) + 1))
            return cls(starts.astype(np.int64), terms[order], weights[order])

        return as_index(index).prepared(("vectors", weighting), prepare)

    def size(self, documents: Integers | Numbers) -> int:
        """Return the total length of some vectors: the number of distinct terms of each document, added up."""
        return int((self.starts[documents + 1] - self.starts[documents]).sum())

    def summed(self, documents: Integers | Numbers, shares: Values) -> tuple[Numbers, Values]:
        """Return the terms of some documents and the sum of their vectors, each multiplied by the document's share."""
        ends = zip(self.starts[documents], self.starts[documents + 1], strict=True)
        rows = np.concatenate([np.empty(0, np.int64), *(np.arange(a, b) for a, b in ends)])
        row_shares = np.repeat(shares, self.starts[documents + 1] - self.starts[documents])
        terms, places = np.unique(self.terms[rows], return_inverse=True)
        return terms, _sums(places, row_shares * self.weights[rows].astype(np.float64), len(terms))


def _sums(places: Integers, values: Values, n: int) -> Values:
    """Return n sums: each values[i] is added to the sum with index places[i], in ascending order of i."""
    return np.bincount(places, values, n).astype(np.float64)


class _Rocchio(NamedTuple):
    """Rocchio's formula and its parameters: three weights, and the largest number of terms to add to a query.

    `alpha` is the weight of the query, `beta` that of the relevant documents, `gamma` that of the nonrelevant
    documents.
    """

    alpha: float
    beta: float
    gamma: float
    n_terms: int | None

    def check(self) -> None:
        """Raise InputError if a parameter is out of its range."""
        for name in ("alpha", "beta", "gamma"):
            number(name, getattr(self, name), 0, _MOST)
        if self.n_terms is not None:
            whole_number("n_terms", self.n_terms, 0)

    def expand(
        self, query: Query, weights: Values, vectors: Vectors, relevant: tuple[Integers | Numbers, Values],
        nonrelevant: Integers | Numbers, divisor: int | None = None,
    ) -> Query:  # fmt: skip
        """Return α q + β centroid(relevant) - γ centroid(nonrelevant), without the terms whose weight is not positive.

        q is the vector of the query's weights. `relevant` has document numbers, and the probability that each of these
        documents is relevant. The probabilities add up to the expected number of relevant documents, by which the
        centroid is divided, unless another divisor is given.
        """
        documents, shares = relevant
        terms, sums = vectors.summed(documents, shares)
        other_terms, other_sums = vectors.summed(nonrelevant, np.ones(len(nonrelevant)))
        n_relevant, n_others = divisor or max(1, round(shares.sum())), max(1, len(nonrelevant))
        all_terms, places = np.unique(np.concatenate([query.terms, terms, other_terms]), return_inverse=True)
        summands = (self.alpha * weights, self.beta * (sums / n_relevant), -self.gamma * (other_sums / n_others))
        moved = _sums(places, np.concatenate(summands), len(all_terms))
        frequencies = np.zeros(len(all_terms), np.int64)
        frequencies[places[: len(query.terms)]] = query.frequencies
        kept = moved > 0
        if self.n_terms is not None:
            added = np.flatnonzero(kept & (frequencies == 0))
            kept[added[np.argsort(-moved[added], kind="stable")[self.n_terms :]]] = False
        return Query(all_terms[kept].astype(np.int64), frequencies[kept], moved[kept], query.documents)


def rocchio(
    index: Index, queries: Mapping[Any, Any], qrels: QrelsLike, *, weighting: str = "lnc.ltc", alpha: float = 1.0,
    beta: float = 0.75, gamma: float = 0.15, rel: float = 1, n_terms: int | None = None,
) -> dict[Any, Query]:  # fmt: skip
    """Move queries towards their relevant documents and away from the nonrelevant ones, by Rocchio's formula.

    The resulting queries have their own term weights, and any method can search with them. Terms whose weight would not
    be positive are left out. An evaluation of these queries with the same judgments is optimistic, because the queries
    were made from the judgments.

    See Introduction to Information Retrieval, section 9.1.1, equation 9.3.

    Parameters
    ----------
    index : Index
        The index that contains the documents.
    queries : mapping
        Queries by id, as `Method.search` takes them.
    qrels : Qrels, or any input of `tieaware.evaluate`
        The judgments. Judgments of other queries, or of documents that are not in the index, are ignored.
    weighting : str, default: "lnc.ltc"
        The weighting of the queries and of the documents' vectors.
    alpha, beta, gamma : float
        The weights of the query, of the centroid of the relevant documents, and of the centroid of the documents judged
        nonrelevant; at least 0.
    rel : float, default: 1
        The smallest label of a relevant document. Documents with a negative label are unjudged.
    n_terms : int, optional
        The largest number of terms to add to a query: the terms with the largest weights; if weights tie, the terms
        with the lowest numbers. By default, all terms are added.

    Returns
    -------
    dict of Query
        The new queries by id. A query without judgments keeps its terms.

    Raises
    ------
    InputError
        A parameter is out of its range, or the queries or judgments have an unknown form.

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
    vectors, expanded = Vectors.of(index, weighting), {}
    for name, query, relevant, nonrelevant in _judged(index, queries, qrels, rel):
        weights = query_weights(index, weighting, query)
        expanded[name] = formula.expand(query, weights, vectors, (relevant, np.ones(len(relevant))), nonrelevant)
    return expanded


def ide_dec_hi(
    index: Index, queries: Mapping[Any, Any], qrels: QrelsLike, *, weighting: str = "lnc.ltc", alpha: float = 1.0,
    beta: float = 1.0, gamma: float = 1.0, rel: float = 1, n_terms: int | None = None,
) -> dict[Any, Query]:  # fmt: skip
    """Move queries towards their relevant documents and away from the best nonrelevant one, by Ide's formula dec-hi.

    The new query is alpha times the query, plus beta times the sum of the relevant documents' vectors, minus gamma
    times the vector of the nonrelevant document that an exact search ranks highest. If several nonrelevant documents
    tie for the highest rank, the mean of their vectors is subtracted, which is the expected vector over all orders of
    the tie. If the search finds no nonrelevant document, none is subtracted.

    See Introduction to Information Retrieval, section 9.1.1; Salton and Buckley, Improving retrieval performance by
    relevance feedback, Journal of the American Society for Information Science 41(4), 1990.

    Parameters
    ----------
    index, queries, qrels, weighting, rel, n_terms
        As for `rocchio`.
    alpha, beta, gamma : float
        The weights of the query, of the sum of the relevant documents, and of the nonrelevant document; at least 0.

    Returns
    -------
    dict of Query
        As `rocchio` returns.

    Raises
    ------
    InputError
        As `rocchio` raises.

    Examples
    --------
    >>> texts = [("d1", "tie rank"), ("d2", "tie rank list"), ("d3", "tie list"), ("d4", "tie band"), ("d5", "list")]
    >>> index = Index.build(texts, analyzer=str.split)
    >>> judgments = {"q": {"d1": 1, "d2": 1, "d3": 0, "d4": 0, "d5": 0}}
    >>> expanded = ide_dec_hi(index, {"q": "tie tie"}, judgments, weighting="nnn.nnn")
    >>> [index.terms[t] for t in expanded["q"].terms], expanded["q"].weights.tolist()
    (['tie', 'rank', 'list'], [3.0, 2.0, 0.5])
    """
    formula = _Rocchio(alpha, beta, gamma, n_terms)
    formula.check()
    vectors, search = Vectors.of(index, weighting), filtered_searcher(Exact(weighting=weighting), index, 1, True)
    expanded = {}
    for name, query, relevant, nonrelevant in _judged(index, queries, qrels, rel):
        among = nonrelevant if query.documents is None else np.intersect1d(nonrelevant, query.documents)
        highest = search(query._replace(documents=among.astype(np.int32))).documents
        weights = query_weights(index, weighting, query)
        expanded[name] = formula.expand(query, weights, vectors, (relevant, np.ones(len(relevant))), highest, divisor=1)
    return expanded


def _judged(
    index: Index, queries: Mapping[Any, Any], qrels: QrelsLike, rel: float
) -> Iterator[tuple[Any, Query, Integers, Integers]]:
    """Yield each query with its id and the numbers of its relevant and of its nonrelevant documents, ascending."""
    judged, rel = as_qrels(qrels), threshold("rel", rel)
    rows = {query: (a, b) for query, a, b in zip(judged.queries, judged.offsets[:-1], judged.offsets[1:], strict=True)}
    numbers = index.prepared("numbers", lambda: {name: number for number, name in enumerate(index.documents)})
    for name, query in as_queries(queries, index).items():
        a, b = rows.get(encoded(name), (0, 0))
        found = [(numbers.get(judged.documents[row], -1), judged.labels[row]) for row in range(a, b)]
        known = sorted(each for each in found if each[0] >= 0)
        documents = np.array([document for document, _ in known], np.int64)
        labels = np.array([label for _, label in known], np.float64)
        yield name, query, documents[labels >= rel], documents[(labels >= 0) & (labels < rel)]


@dataclass(frozen=True, kw_only=True)
class Feedback(Method):
    """The base class of methods that search, expand the query by the top documents, and search again.

    Parameters
    ----------
    depth : int, default: 10
        The number of top documents.
    """

    depth: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("depth", self.depth, 1)

    @abstractmethod
    def _expansion(self, index: Index) -> tuple[Vectors, Callable[[Query, Found, Values], Query]]:
        """Return the vectors of the documents, and a function that expands a query.

        The function takes the top documents, in ascending order of number, and the probability of each to be in the top
        if tied documents are in random order.
        """

    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Prepare the documents' vectors, and return the search function."""
        exact, (vectors, expand) = Exact(weighting=self.weighting), self._expansion(index)
        search = filtered_searcher(exact, index, self.depth, True)
        search_again = exact.searcher(index, k, whole_ties)

        def find(query: Query) -> Found:
            first = search(query)
            order = np.argsort(first.documents)
            top = first._replace(documents=first.documents[order], scores=first.scores[order])
            again = search_again(expand(query, top, inclusion(first.scores, self.depth)[order]))
            costs = np.add(first[2:], again[2:])
            costs[0] += vectors.size(first.documents)
            return Found(again.documents, again.scores, *costs.tolist())

        return find


@dataclass(frozen=True, kw_only=True)
class BlindFeedback(Feedback):
    """Search, move the query towards the top documents as if these were relevant, and search again.

    If the top ends inside a tie group, the centroid does not depend on which documents of the group come first. Each
    document counts by the probability that it is in the top if tied documents are in random order, so that the query
    moves as it does on average over all orders.

    Other parameters as for `rocchio`, which gives feedback from judgments.

    See Introduction to Information Retrieval, sections 9.1.1 and 9.1.6. If t documents rank above a tie group of n
    documents, each document of the group is among the top `depth` with probability min(1, max(0, (depth - t) / n)).
    With `beta` = 0, the result is that of `Exact`, bit for bit. The costs are those of both searches; the terms of the
    top documents count as postings read.

    Parameters
    ----------
    depth : int, default: 10
        The number of top documents.

    Examples
    --------
    >>> documents = [("d1", "tie rank"), ("d2", "tie list"), ("d3", "rank"), ("d4", "list")]
    >>> index = Index.build(documents, analyzer=str.split)
    >>> run = BlindFeedback(depth=1, weighting="nnn.nnn").search(index, {"q": "tie"})
    >>> run.documents.to_list(), run.scores.tolist()
    (['d1', 'd2', 'd3', 'd4'], [2.125, 2.125, 0.375, 0.375])
    """

    alpha: float = 1.0
    beta: float = 0.75
    n_terms: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._formula.check()

    @property
    def _formula(self) -> _Rocchio:
        return _Rocchio(self.alpha, self.beta, 0.0, self.n_terms)

    def _expansion(self, index: Index) -> tuple[Vectors, Callable[[Query, Found, Values], Query]]:
        """Return the vectors of the documents, and the function that moves a query towards the top documents."""
        vectors, nonrelevant = Vectors.of(index, self.weighting), np.empty(0, np.int64)

        def expand(query: Query, top: Found, shares: Values) -> Query:
            weights = query_weights(index, self.weighting, query)
            return self._formula.expand(query, weights, vectors, (top.documents, shares), nonrelevant)

        return vectors, expand


def inclusion(scores: Values, k: int) -> Values:
    """Return the probability of each document to be in the top k if tied documents are in random order.

    `scores` are in descending order, and include all scores that tie with the k-th.
    """
    shares = np.ones(len(scores))
    if len(scores) > k:
        tied = scores == scores[-1]
        n = int(tied.sum())
        shares[tied] = (k - (len(scores) - n)) / n
    return shares
