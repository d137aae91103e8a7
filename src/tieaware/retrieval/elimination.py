"""Index elimination: only the postings of rare terms, or only documents that have several terms of the query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import number, whole_number
from tieaware.checks.arrays import Values
from tieaware.retrieval.accumulators import Found, accumulate
from tieaware.retrieval.index import Index, Query
from tieaware.retrieval.method import Method, share_of, weighted


@dataclass(frozen=True, kw_only=True)
class HighIdf(Method):
    """Score by the query's terms of high idf alone, whose postings are few; the others' are not read.

    The weights of the terms that stay are those they have in the whole query. Documents with none of them are not
    found, and if no term stays, none is.

    Parameters
    ----------
    min_idf : float, default: 0
        Terms of smaller idf are left out. The idf is log10(N / df), whatever the weighting: 1 for a term that is in a
        tenth of the documents.
    share : float, default: 1
        Of the query's terms that the index knows, only this share of highest idf, rounded up, and those that tie with
        the last of them.

    Notes
    -----
    Introduction to Information Retrieval, section 7.1.2. As it is, with all terms, it finds what `Exact` does, bit for
    bit.

    Examples
    --------
    >>> index = Index.build([("d1", "the tie"), ("d2", "the the"), ("d3", "the tie")], analyzer=str.split)
    >>> run = HighIdf(min_idf=0.1, weighting="nnn.nnn").search(index, {"q": "the tie"})
    >>> run.documents.to_list(), run.scores.tolist()
    (['d1', 'd3'], [1.0, 1.0])
    """

    min_idf: float = 0.0
    share: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        number("min_idf", self.min_idf, 0, np.inf)
        number("share", self.share, 0, 1)

    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Return what finds the top documents of a query."""
        lists = weighted(index, self.weighting)
        idf = np.log10(len(index) / np.maximum(index.postings.document_frequencies, 1))

        def find(query: Query) -> Found:
            kept, whole = self._kept(idf[query.terms]), lists(query)
            starts, stops, weights = whole.starts[kept], whole.stops[kept], whole.query_weights[kept]
            part = whole._replace(starts=starts, stops=stops, query_weights=weights)
            return accumulate(part, len(index), k, whole_ties=whole_ties)

        return find

    def _kept(self, idf: Values) -> NDArray[np.bool_]:
        n = int(share_of(len(idf), self.share))
        nth = np.sort(idf)[len(idf) - n] if n else np.inf
        return idf >= max(self.min_idf, nth)


@dataclass(frozen=True, kw_only=True)
class AtLeast(Method):
    """Rank only documents that have several of the query's terms.

    Parameters
    ----------
    m : int, default: 1
        At least so many of the query's terms; all of them, if it has fewer.
    share : float, default: 0
        At least this share of them, rounded up; 1: all. Terms that the index does not know do not count, nor do
        repeated ones count twice.

    Notes
    -----
    Introduction to Information Retrieval, section 7.1.2. With `m` = 1 it finds what `Exact` does, bit for bit. It reads
    all postings, as that does, and saves comparisons.

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
        """Return what finds the top documents of a query."""
        lists = weighted(index, self.weighting)

        def find(query: Query) -> Found:
            n = len(query.terms)
            needed = max(min(self.m, n), int(share_of(n, self.share)), 1)
            return accumulate(lists(query), len(index), k, at_least=needed, whole_ties=whole_ties)

        return find
