"""Index elimination: use only the rare terms of a query, or only documents that contain several of its terms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import number, shown, unexpected, whole_number
from tieaware.checks.arrays import Integers, Values
from tieaware.errors import InputError
from tieaware.retrieval.accumulators import Found, FoundLists, accumulate
from tieaware.retrieval.blocks import blocks_of
from tieaware.retrieval.index import Index, Query
from tieaware.retrieval.method import (
    Method,
    WeightedQueries,
    document_parts,
    one_by_one,
    query_weights,
    share_of,
    weighted,
)
from tieaware.retrieval.names import parse_method
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

    def __post_init__(self) -> None:
        super().__post_init__()
        number("min_idf", self.min_idf, 0, np.inf)
        number("share", self.share, 0, 1)
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

    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Compute the idf and the weights of all terms, and return the search function."""
        lists = weighted(index, self.weighting)
        idf = log10(len(index) / np.maximum(index.postings.document_frequencies, 1))
        if self.method is not None:
            search = self._searching(self.method).searcher(index, k, whole_ties)

            def find_with_method(query: Query) -> Found:
                kept, own = self._kept(idf[query.terms]), query_weights(index, self.weighting, query)
                terms, frequencies = query.terms[kept], query.frequencies[kept]
                return search(query._replace(terms=terms, frequencies=frequencies, weights=own[kept]))

            return find_with_method

        def find(query: Query) -> Found:
            kept, all_lists = self._kept(idf[query.terms]), lists(query)
            kept_lists = all_lists._replace(terms=query.terms[kept], query_weights=all_lists.query_weights[kept])
            return accumulate(kept_lists, len(index), k, whole_ties=whole_ties)

        return find

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

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("m", self.m, 1)
        number("share", self.share, 0, 1)

    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Prepare the posting lists with their weights, and return the search function."""
        find_chunk = self._searcher_of_chunks(index, k, whole_ties)
        if find_chunk is not None:
            return one_by_one(find_chunk, index, self.weighting)
        lists = weighted(index, self.weighting, bitmaps=True)

        def find(query: Query) -> Found:
            needed = int(self._needed(np.array([len(query.terms)]))[0])
            return accumulate(lists(query), len(index), k, at_least=needed, whole_ties=whole_ties)

        return find

    def _searcher_of_chunks(
        self, index: Index, k: int, whole_ties: bool
    ) -> Callable[[WeightedQueries], FoundLists] | None:  # fmt: skip
        if document_parts(index, self.weighting) is not None:
            # A document part may be negative, so the largest weights in a block are no bound of scores.
            return None
        blocks = blocks_of(index, self.weighting)

        def find(queries: WeightedQueries) -> FoundLists:
            needed = self._needed(queries.sizes)
            return blocks.search(queries, k, at_least=needed, whole_ties=whole_ties)

        return find

    def _needed(self, n: Integers) -> Integers:
        """Return the number of terms that a document must contain for queries with these numbers of terms."""
        return np.maximum(np.maximum(np.minimum(self.m, n), share_of(n, self.share)), 1)
