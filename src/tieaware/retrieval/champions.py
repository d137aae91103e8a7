"""Champion lists: only documents that are among the best for a term of the query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tieaware.retrieval.accumulators import Found, score
from tieaware.retrieval.index import Index, Query
from tieaware.retrieval.method import Method, weighted
from tieaware.retrieval.postings import Numbers
from tieaware.retrieval.weighting import weighting_of


@dataclass(frozen=True, kw_only=True)
class Champions(Method):
    """Score only the union of the query terms' champion lists, which hold the r best documents of each term."""

    r: int = 100

    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Return what finds the top documents of a query."""
        lists = weighted(index, self.weighting)
        champions = index.prepared(("champions", self.weighting, self.r), lambda: self._champions(index))

        def find(query: Query) -> Found:
            union = np.unique(np.concatenate([np.empty(0, np.int32), *(champions[term] for term in query.terms)]))
            return score(union, lists(query), k, whole_ties=whole_ties)

        return find

    def _champions(self, index: Index) -> list[Numbers]:
        weights = index.prepared(("weights", self.weighting), lambda: weighting_of(self.weighting).of_postings(index))
        starts, documents = index.postings.starts, index.postings.documents
        ends = zip(starts[:-1], starts[1:], strict=True)
        return [documents[a:b][np.argsort(-weights[a:b], kind="stable")[: self.r]] for a, b in ends]
