"""Index elimination: use only the rare terms of a query, or only documents that contain several of its terms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import number, shown, unexpected
from tieaware.checks.arrays import Integers, Values
from tieaware.errors import InputError
from tieaware.retrieval.accumulators import Found, FoundLists, accumulate
from tieaware.retrieval.blocks import blocks_of
from tieaware.retrieval.index import Index, Query
from tieaware.retrieval.method import (
    Checks,
    Method,
    Searcher,
    WeightedQueries,
    WeightedQuery,
    a_count,
    a_share,
    document_parts,
    one_by_one,
    parse_method,
    share_of,
    term_lists,
)
from tieaware.retrieval.weighting import log10


@dataclass(frozen=True, kw_only=True)
class HighIdf(Method):
    """Use only the query terms of high idf, which have few postings.

    The terms that are used keep the weights that they have in the complete query. If no term is used, no document is
    found.

    See Introduction to Information Retrieval, section 7.1.2. The defaults use all terms, and then the result is that of
    `Exact`, bit for bit.

    Parameters
    ----------
    min_idf : float, default: 0
        Terms of lower idf are left out. The idf is log10(N / df) for every weighting: 1 for a term that is in a tenth
        of the documents.
    share : float, default: 1
        The share of the query's terms to use, rounded up: the terms with the highest idf. Terms that tie with the last
        of these are also used. Terms that are not in the index do not count.
    method : str or Method, optional
        The method that searches with the terms that are used, such as "Champions(r=10)", with the same weighting. By
        default, all postings of these terms are read.

    Examples
    --------
    >>> index = Index.build([("d1", "the tie"), ("d2", "the the"), ("d3", "the tie")], analyzer=str.split)
    >>> run = HighIdf(min_idf=0.1, weighting="nnn.nnn").search(index, {"q": "the tie"})
    >>> run.documents.to_list(), run.scores.tolist()
    (['d1', 'd3'], [1.0, 1.0])

    Champion lists of the rare terms only:

    >>> method = HighIdf(min_idf=0.1, method="Champions(r=1)", weighting="nnn.nnn")
    >>> method.search(index, {"q": "the tie"}).documents.to_list()
    ['d1']
    """

    min_idf: float = 0.0
    share: float = 1.0
    method: str | Method | None = None

    _checks: ClassVar[Checks] = {"min_idf": partial(number, least=0, most=np.inf), "share": a_share}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.method is not None:
            self._searching(self.method)

    def _searching(self, method: str | Method) -> Method:
        """Return the method that searches with the terms that are used."""
        if isinstance(method, str):
            method = parse_method(method, weighting=self.weighting)
        if not isinstance(method, Method):
            raise unexpected("method", "a method or its name", shown(method))
        if method.weighting != self.weighting:
            problem = f"must have the weighting of HighIdf, {self.weighting}; found {method.weighting}"
            raise InputError("method", problem)
        return method

    def _searcher(self, index: Index, k: int, whole_ties: bool) -> Searcher:
        idf = log10(len(index) / np.maximum(index.postings.document_frequencies, 1))
        if self.method is not None:
            search = self._searching(self.method)._searcher(index, k, whole_ties)
        else:
            lists = term_lists(index, self.weighting)
            search = one_by_one(lambda query: accumulate(lists(query), len(index), k, whole_ties=whole_ties))

        def find(queries: WeightedQueries) -> FoundLists:
            reduced = [self._reduced(query, idf) for query in queries.each()]
            return search(WeightedQueries.of(index, self.weighting, reduced))

        return find

    def _reduced(self, query: WeightedQuery, idf: Values) -> Query:
        """Return a query with only the terms to use, which keep their weights."""
        kept = self._kept(idf[query.terms])
        terms, frequencies = query.terms[kept], query.query.frequencies[kept]
        return query.query._replace(terms=terms, frequencies=frequencies, weights=query.weights[kept])

    def _kept(self, idf: Values) -> NDArray[np.bool_]:
        """Return a mask of the terms to use, given the idf of each term of a query."""
        n = int(share_of(len(idf), self.share))
        nth = np.sort(idf)[len(idf) - n] if n else np.inf
        return idf >= max(self.min_idf, nth)


@dataclass(frozen=True, kw_only=True)
class AtLeast(Method):
    """Rank only documents that contain several of the query's terms.

    Distinct terms are counted; terms that are not in the index do not count.

    See Introduction to Information Retrieval, section 7.1.2. With `m` = 1, the result is that of `Exact`, bit for bit.
    Documents are divided into blocks. A block is read only if enough of the terms occur in it, and if the sum of their
    largest weights in the block exceeds the K-th best score so far, so fewer postings are read than by `Exact`.

    Parameters
    ----------
    m : int, default: 1
        The number of the query's terms that a document must contain. If the query has fewer terms, the document must
        contain all of them.
    share : float, default: 0
        The share of the query's terms that a document must contain, rounded up; 1 means all terms.

    Examples
    --------
    >>> index = Index.build([("d1", "no tie"), ("d2", "no no no"), ("d3", "tie no")], analyzer=str.split)
    >>> run = AtLeast(m=2, weighting="nnn.nnn").search(index, {"q": "no tie"})
    >>> run.documents.to_list(), run.scores.tolist()
    (['d1', 'd3'], [2.0, 2.0])
    """

    m: int = 1
    share: float = 0.0

    _checks: ClassVar[Checks] = {"m": a_count, "share": a_share}

    def _searcher(self, index: Index, k: int, whole_ties: bool) -> Searcher:
        if document_parts(index, self.weighting) is None:
            blocks = blocks_of(index, self.weighting)
            return lambda queries: blocks.search(
                queries, k, at_least=self._needed(queries.sizes), whole_ties=whole_ties
            )
        # A document part may be negative, so the largest weights in a block are no bound of scores.
        lists = term_lists(index, self.weighting, bitmaps=True)

        def find(query: WeightedQuery) -> Found:
            needed = int(self._needed(np.array([len(query.terms)]))[0])
            return accumulate(lists(query), len(index), k, at_least=needed, whole_ties=whole_ties)

        return one_by_one(find)

    def _needed(self, n: Integers) -> Integers:
        """Return the number of terms that a document must contain for queries with these numbers of terms."""
        return np.maximum(np.maximum(np.minimum(self.m, n), share_of(n, self.share)), 1)
