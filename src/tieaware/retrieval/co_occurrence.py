"""A thesaurus by co-occurrence: terms are related if they occur in the same documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tieaware.checks.arguments import number, shown, whole_number
from tieaware.checks.arrays import Integers, Values
from tieaware.errors import InputError
from tieaware.retrieval.feedback import Vectors
from tieaware.retrieval.index import Index, Query, as_queries
from tieaware.retrieval.method import posting_weights, query_weights


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
        self._vectors, self._weights, self._norms = Vectors.of(index, weighting), weights, np.sqrt(squares)

    def __repr__(self) -> str:
        return f"Thesaurus({self._index!r}, weighting={self._weighting!r})"

    def related(self, term: str, n: int = 10) -> list[tuple[str, float]]:
        """Return the terms that are most similar to a term, with their similarities above 0, the most similar first.

        Parameters
        ----------
        term : str
            A term, as the analyzer returns it.
        n : int, default: 10
            The largest number of terms. If similarities tie, the terms with the lowest numbers are returned.

        Returns
        -------
        list of (str, float)

        Raises
        ------
        InputError
            The index has no such term, or `n` is not a whole number of at least 1.

        Examples
        --------
        >>> texts = [("d1", "tie rank"), ("d2", "tie rank"), ("d3", "tie list")]
        >>> Thesaurus(Index.build(texts, analyzer=str.split)).related("list", n=1)[0][0]
        'tie'
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
        times the similarity. The terms of the query keep their weights.

        Parameters
        ----------
        queries : mapping
            Queries by id, as `Method.search` takes them.
        weighting : str, default: "lnc.ltc"
            The weighting of the queries' terms: that of the method which will search.
        n : int, default: 3
            The number of terms to add for each term of a query, as for `related`. Terms of the query count, too.
        beta : float, default: 0.5
            The weight of the related terms, at least 0.

        Returns
        -------
        dict of Query
            The new queries by id; any method can search with them.

        Raises
        ------
        InputError
            A parameter is out of its range, or the queries have an unknown form.

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
        related = np.concatenate([query.terms, *(terms for terms, _ in rows)]).astype(np.int64)
        added = [beta * weight * similarities for weight, (_, similarities) in zip(own, rows, strict=True)]
        terms, places = np.unique(related, return_inverse=True)
        weights = np.bincount(places, np.concatenate([np.zeros(len(own)), *added]), len(terms)).astype(np.float64)
        frequencies, at = np.zeros(len(terms), np.int64), places[: len(own)]
        weights[at], frequencies[at] = own, query.frequencies
        kept = (weights != 0) | (frequencies > 0)
        return Query(terms[kept], frequencies[kept], weights[kept], query.documents)

    def _row(self, term: int, n: int) -> tuple[Integers, Values]:
        """Return the n most similar terms and their similarities."""
        postings = self._index.postings
        listed = slice(postings.starts[term], postings.starts[term + 1])
        norm = self._norms[term] or 1.0
        terms, sums = self._vectors.summed(postings.documents[listed], self._weights[listed] / norm)
        norms = self._norms[terms]
        similarities = np.divide(sums, norms, out=np.zeros(len(sums)), where=norms > 0)
        similarities[terms == term] = 0
        best = np.argsort(-similarities, kind="stable")[:n]
        best = best[similarities[best] > 0]
        return terms[best].astype(np.int64), similarities[best]
