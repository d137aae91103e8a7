"""Expansion of queries: by judged or assumed relevant documents, by a relevance model, and by related terms."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import number, shown, threshold, whole_number
from tieaware.checks.arrays import Integers, Values
from tieaware.errors import InputError
from tieaware.inputs import QrelsLike, as_qrels
from tieaware.kernels import _slots
from tieaware.lists.identifiers import encoded
from tieaware.retrieval.accumulators import Found, FoundLists
from tieaware.retrieval.exact import Exact
from tieaware.retrieval.index import Index, Query, as_queries
from tieaware.retrieval.method import (
    Checks,
    Method,
    Searcher,
    WeightedQueries,
    WeightedQuery,
    a_count,
    a_share,
    filtering,
    posting_weights,
    query_weights,
)
from tieaware.retrieval.postings import Numbers, Vectors
from tieaware.retrieval.weighting import weighting_of

_MOST = float(np.finfo(np.float64).max)


def vectors_of(index: Index, weighting: str) -> Vectors:
    """Return the vectors of an index; the index caches them."""
    weights = posting_weights(index, weighting)
    return index.prepared(("vectors", weighting), lambda: Vectors.of(index.postings, weights))


def _summed(vectors: Vectors, documents: Integers | Numbers, shares: Values) -> tuple[Numbers, Values]:
    """Return the terms of some documents and the sum of their vectors, each multiplied by the document's share."""
    rows, row_shares = vectors.rows(documents), np.repeat(shares, vectors.sizes(documents))
    terms, places = np.unique(vectors.terms[rows], return_inverse=True)
    return terms, _sums(places, row_shares * vectors.weights[rows].astype(np.float64), len(terms))


def _sums(places: Integers, values: Values, n: int) -> Values:
    """Return n sums: each values[i] is added to the sum with index places[i], in ascending order of i."""
    return np.bincount(places, values, n).astype(np.float64)


def _sum_of(query: Query, *vectors: tuple[Integers | Numbers, Values]) -> tuple[Query, Values]:
    """Return a query with all terms of some vectors, among them its own, and the sum of the vectors."""
    terms, places = np.unique(np.concatenate([each for each, _ in vectors]), return_inverse=True)
    frequencies = np.zeros(len(terms), np.int64)
    frequencies[np.searchsorted(terms, query.terms)] = query.frequencies
    sums = _sums(places, np.concatenate([weights for _, weights in vectors]), len(terms))
    return Query(terms.astype(np.int64), frequencies, documents=query.documents), sums


def _among(query: Query, kept: NDArray[np.bool_], weights: Values) -> Query:
    """Return the query with only some of its terms, and their weights."""
    return query._replace(terms=query.terms[kept], frequencies=query.frequencies[kept], weights=weights[kept])


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
        terms, sums = _summed(vectors, documents, shares)
        other_terms, other_sums = _summed(vectors, nonrelevant, np.ones(len(nonrelevant)))
        n_relevant, n_others = divisor or max(1, round(shares.sum())), max(1, len(nonrelevant))
        moved, own = _sum_of(
            query, (query.terms, self.alpha * weights), (terms, self.beta * (sums / n_relevant)),
            (other_terms, -self.gamma * (other_sums / n_others)),
        )  # fmt: skip
        kept = own > 0
        if self.n_terms is not None:
            added = np.flatnonzero(kept & (moved.frequencies == 0))
            kept[added[np.argsort(-own[added], kind="stable")[self.n_terms :]]] = False
        return _among(moved, kept, own)


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
    vectors, expanded = vectors_of(index, weighting), {}
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
    the tie. If the search finds no nonrelevant document, none is subtracted. Parameters, result and errors as for
    `rocchio`.

    See Introduction to Information Retrieval, section 9.1.1; Salton and Buckley, Improving retrieval performance by
    relevance feedback, Journal of the American Society for Information Science 41(4), 1990.

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
    vectors, search = vectors_of(index, weighting), filtering(Exact(weighting=weighting), index, 1, True)
    expanded = {}
    for name, query, relevant, nonrelevant in _judged(index, queries, qrels, rel):
        among = nonrelevant if query.documents is None else np.intersect1d(nonrelevant, query.documents)
        judged = query._replace(documents=among.astype(np.int32))
        highest = search(WeightedQueries.of(index, weighting, [judged])).documents
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
    """The base class of methods that search, expand the query by the `depth` top documents, and search again."""

    depth: int = 10

    _checks: ClassVar[Checks] = {"depth": a_count}

    @abstractmethod
    def _expansion(self, index: Index) -> tuple[Vectors, Callable[[WeightedQuery, Found, Values], Query]]:
        """Return the vectors of the documents, and a function that expands a query.

        The function takes the top documents, in ascending order of number, and the probability of each to be in the top
        if tied documents are in random order.
        """

    def _searcher(self, index: Index, k: int, whole_ties: bool) -> Searcher:
        exact, (vectors, expand) = Exact(weighting=self.weighting), self._expansion(index)
        search, search_again = filtering(exact, index, self.depth, True), exact._searcher(index, k, whole_ties)

        def expanded(query: WeightedQuery, first: Found) -> Query:
            order = np.argsort(first.documents)
            top = first._replace(documents=first.documents[order], scores=first.scores[order])
            return expand(query, top, inclusion(first.scores, self.depth)[order])

        def find(queries: WeightedQueries) -> FoundLists:
            first = search(queries)
            moved = [expanded(query, first.of_query(i)) for i, query in enumerate(queries.each())]
            again = search_again(WeightedQueries.of(index, self.weighting, moved))
            again.costs[:] += first.costs
            again.costs[:, 0] += np.diff(np.append(0, np.cumsum(vectors.sizes(first.documents)))[first.offsets])
            return again

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

    def _expansion(self, index: Index) -> tuple[Vectors, Callable[[WeightedQuery, Found, Values], Query]]:
        vectors, nonrelevant = vectors_of(index, self.weighting), np.empty(0, np.int64)

        def expand(query: WeightedQuery, top: Found, shares: Values) -> Query:
            return self._formula.expand(query.query, query.weights, vectors, (top.documents, shares), nonrelevant)

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


@dataclass(frozen=True, kw_only=True)
class RM3(Feedback):
    """Search, estimate a language model of relevance from the top documents, and search for its terms and the query's.

    The relevance model is the mean of the top documents' language models tf/length, each weighted by the probability
    P(q | d) of the query. It is cut to the terms of highest probability, scaled to a sum of 1, and interpolated with
    the query, whose weights also have the sum 1. The new query has these weights.

    If the top ends inside a tie group, each document of the group counts by the probability that it is in the top if
    tied documents are in random order, as for `BlindFeedback`. All orders have the same sum of P(q | d), so the
    relevance model, before it is cut, is the expected model over all orders.

    See Lavrenko and Croft, Relevance-based language models, SIGIR 2001, for the relevance model; Abdul-Jaleel and
    others, UMass at TREC 2004, for the interpolation; and Introduction to Information Retrieval, section 12.4. With a
    weighting that is no language model, such as "bm25", the score of a document stands for P(q | d). The costs are
    those of both searches; the terms of the top documents count as postings read.

    Parameters
    ----------
    weighting : str, default: "lm-dirichlet"
        As for `Method`. The weights of terms in a query should be their frequencies, as for language models and "bm25".
    depth : int, default: 10
        The number of top documents.
    n_terms : int, default: 10
        The number of terms of the relevance model, among which terms of the query may be; if probabilities tie, the
        terms with the lowest numbers.
    original : float, default: 0.5
        The weight of the query, from 0 to 1; the weight of the relevance model is 1 - original.

    Examples
    --------
    >>> documents = [("d1", "tie rank"), ("d2", "tie list"), ("d3", "rank"), ("d4", "list")]
    >>> index = Index.build(documents, analyzer=str.split)
    >>> run = RM3(depth=1, n_terms=3, weighting="lm-jm:0.5").search(index, {"q": "tie"})
    >>> run.documents.to_list(), run.scores.round(3).tolist()
    (['d1', 'd2', 'd3', 'd4'], [0.802, 0.802, 0.173, 0.173])
    """

    weighting: str = "lm-dirichlet"
    n_terms: int = 10
    original: float = 0.5

    _checks: ClassVar[Checks] = {**Feedback._checks, "n_terms": a_count, "original": a_share}

    def _expansion(self, index: Index) -> tuple[Vectors, Callable[[WeightedQuery, Found, Values], Query]]:
        vectors, lengths = vectors_of(index, "nnn.nnn"), index.postings.lengths
        is_logarithm = weighting_of(self.weighting).is_log_likelihood

        def expand(query: WeightedQuery, top: Found, shares: Values) -> Query:
            shares = shares * (_likelihoods(top.scores) if is_logarithm else top.scores)
            shares /= shares.sum() or 1.0
            terms, model = _summed(vectors, top.documents, shares / np.maximum(lengths[top.documents], 1))
            kept = np.sort(np.argsort(-model, kind="stable")[: self.n_terms])
            terms, model = terms[kept], model[kept] / (model[kept].sum() or 1.0)
            own = query.weights / (query.weights.sum() or 1.0)
            # original · q + (1 - original) · model
            interpolated, weights = _sum_of(
                query.query, (query.terms, self.original * own), (terms, (1 - self.original) * model)
            )
            return _among(interpolated, weights > 0, weights)

        return vectors, expand


def _likelihoods(scores: Values) -> Values:
    """Return exp(scores), divided by the largest, so that nothing overflows."""
    largest = scores.max(initial=-np.inf)
    return _slots.exponentials(scores - largest)


class Thesaurus:
    """Related terms of an index, by the similarity of the documents in which they occur, and query expansion by them.

    The similarity of two terms is the cosine of their rows in the matrix A of terms × documents: with rows of length 1,
    it is their entry in A·Aᵀ. It is from 0, for terms that share no document, to 1, for terms with proportional weights
    in all documents. Rows of A·Aᵀ are computed when they are needed.

    See Introduction to Information Retrieval, section 9.2.3.

    Parameters
    ----------
    index : Index
    weighting : str, default: "nnn.nnn"
        The weights of terms in documents, before the rows are normalised; as for `Method`. The default is the term
        frequency.

    Raises
    ------
    InputError
        The weighting is unknown.

    Examples
    --------
    >>> texts = [("d1", "tie rank"), ("d2", "tie rank"), ("d3", "tie list"), ("d4", "list")]
    >>> thesaurus = Thesaurus(Index.build(texts, analyzer=str.split))
    >>> [(term, round(similarity, 3)) for term, similarity in thesaurus.related("tie")]
    [('rank', 0.816), ('list', 0.408)]
    """

    def __init__(self, index: Index, weighting: str = "nnn.nnn") -> None:
        weights = posting_weights(index, weighting).astype(np.float64)
        df = index.postings.document_frequencies
        squares = np.bincount(np.repeat(np.arange(len(df)), df), weights * weights, len(df))
        self._index, self._weighting = index, weighting
        self._vectors, self._weights, self._norms = vectors_of(index, weighting), weights, np.sqrt(squares)

    def __repr__(self) -> str:
        return f"Thesaurus({self._index!r}, weighting={self._weighting!r})"

    def related(self, term: str, n: int = 10) -> list[tuple[str, float]]:
        """Return the terms that are most similar to a term, with their similarities above 0, the most similar first.

        Parameters
        ----------
        term : str
            A term of the index, as the analyzer returns it.
        n : int, default: 10
            The largest number of terms. If similarities tie, the terms with the lowest numbers are returned.

        Returns
        -------
        list of (str, float)

        Raises
        ------
        InputError
            The index has no such term, or `n` is out of its range.
        """
        number_of_term = self._index.query([term]).terms
        if not len(number_of_term):
            raise InputError("term", f"the index has no term {shown(term)}")
        terms, similarities = self._row(int(number_of_term[0]), whole_number("n", n, 1))
        return [(self._index.terms[t], s) for t, s in zip(terms.tolist(), similarities.tolist(), strict=True)]

    def expand(
        self, queries: Mapping[Any, Any], *, weighting: str = "lnc.ltc", n: int = 3, beta: float = 0.5
    ) -> dict[Any, Query]:
        """Add the related terms of each query term to queries.

        An added term weighs beta times the sum, over the query's terms that it is related to, of the term's weight
        times the similarity. The terms of the query keep their weights. Other parameters, result and errors as for
        `rocchio`.

        Parameters
        ----------
        n : int, default: 3
            The number of terms to add for each term of a query, as for `related`. Terms of the query count, too.
        beta : float, default: 0.5
            The weight of the related terms, at least 0.

        Examples
        --------
        >>> texts = [("d1", "tie rank"), ("d2", "tie rank"), ("d3", "tie list"), ("d4", "list")]
        >>> thesaurus = Thesaurus(Index.build(texts, analyzer=str.split))
        >>> expanded = thesaurus.expand({"q": "tie"}, weighting="nnn.nnn", n=1, beta=1)
        >>> expanded["q"].terms.tolist(), expanded["q"].weights.round(3).tolist()
        ([0, 1], [1.0, 0.816])
        """
        n, beta = whole_number("n", n, 1), number("beta", beta, 0, 1e12)
        expanded = {}
        for name, query in as_queries(queries, self._index).items():
            expanded[name] = self._expanded(query, query_weights(self._index, weighting, query), n, beta)
        return expanded

    def _expanded(self, query: Query, own: Values, n: int, beta: float) -> Query:
        rows = [self._row(term, n) for term in query.terms.tolist()]
        added = [(terms, beta * weight * similar) for weight, (terms, similar) in zip(own, rows, strict=True)]
        expanded, weights = _sum_of(query, (query.terms, np.zeros(len(own))), *added)
        weights[np.searchsorted(expanded.terms, query.terms)] = own
        return _among(expanded, (weights != 0) | (expanded.frequencies > 0), weights)

    def _row(self, term: int, n: int) -> tuple[Integers, Values]:
        """Return the n most similar terms and their similarities."""
        postings = self._index.postings
        listed = slice(postings.starts[term], postings.starts[term + 1])
        norm = self._norms[term] or 1.0
        terms, sums = _summed(self._vectors, postings.documents[listed], self._weights[listed] / norm)
        norms = self._norms[terms]
        similarities = np.divide(sums, norms, out=np.zeros(len(sums)), where=norms > 0)
        similarities[terms == term] = 0
        best = np.argsort(-similarities, kind="stable")[:n]
        best = best[similarities[best] > 0]
        return terms[best].astype(np.int64), similarities[best]
