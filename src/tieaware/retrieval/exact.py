"""Exact search: every posting of every term of the query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tieaware.retrieval.accumulators import Found, accumulate
from tieaware.retrieval.index import Index, Query
from tieaware.retrieval.method import Method, weighted


@dataclass(frozen=True, kw_only=True)
class Exact(Method):
    """Term at a time, an accumulator for each document, then a heap for the top K."""

    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Return what finds the top documents of a query."""
        lists = weighted(index, self.weighting)
        return lambda query: accumulate(lists(query), len(index), k, whole_ties=whole_ties)
