"""Tiered indexes: the largest weights first, and others only as long as too few documents were found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import numbers, one_of, unexpected
from tieaware.checks.arrays import Offsets
from tieaware.retrieval.accumulators import Found, TermLists, accumulate
from tieaware.retrieval.index import Index, Query
from tieaware.retrieval.method import Method, posting_weights, query_weights
from tieaware.retrieval.postings import Numbers
from tieaware.retrieval.weighting import Weights


@dataclass(frozen=True, kw_only=True)
class Tiers(Method):
    """Search a first tier of the postings, and others only as long as fewer than K documents were found.

    The postings of a tier have at least a value, its threshold; the last tier has all. Scores are sums over the
    postings of the tiers searched, so that a document's score depends on how far a query went.

    Parameters
    ----------
    thresholds : sequence of float, default: ()
        The thresholds of all tiers but the last, descending.
    quantiles : sequence of float, default: ()
        Or quantiles of the values of all postings of the index, from 0 to 1 and descending: 0.9 makes a tier of the
        highest tenth, and of those that tie with the last of them. Without either, there is one tier.
    by : "weight" or "tf"
        The values: weights of the postings, or term frequencies.

    Raises
    ------
    InputError
        Thresholds and quantiles are both given, do not descend, or are out of their range.

    Notes
    -----
    Introduction to Information Retrieval, section 7.2.1. With one tier it finds what `Exact` does, bit for bit. A tier
    is stored together with those above it, so that a query that goes on reads these again, which counts.

    Examples
    --------
    >>> index = Index.build([("d1", "tie tie"), ("d2", "tie tie"), ("d3", "tie")], analyzer=str.split)
    >>> method = Tiers(thresholds=(2,), by="tf", weighting="nnn.nnn")
    >>> run = method.search(index, {"q": "tie"}, k=2)
    >>> run.documents.to_list(), run.scores.tolist()
    (['d1', 'd2'], [2.0, 2.0])
    >>> method.search(index, {"q": "tie"}, k=3).documents.to_list()
    ['d1', 'd2', 'd3']
    """

    thresholds: tuple[float, ...] = ()
    quantiles: tuple[float, ...] = ()
    by: str = "weight"

    def __post_init__(self) -> None:
        super().__post_init__()
        # Tuples can be hashed and shown, whatever sequence was given.
        for name, most in (("thresholds", np.inf), ("quantiles", 1.0)):
            values = numbers(name, getattr(self, name), 0, most)
            if any(a <= b for a, b in pairwise(values)):
                raise unexpected(name, "numbers that descend", str(values))
            object.__setattr__(self, name, values)
        if self.thresholds and self.quantiles:
            raise unexpected("thresholds", "none beside quantiles", str(self.thresholds))
        one_of("by", self.by, ("weight", "tf"))

    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Prepare the tiers, and return what finds the top documents of a query."""
        postings, weights = index.postings, posting_weights(index, self.weighting)

        def prepare() -> list[tuple[Offsets, Numbers, Weights]]:
            values = weights if self.by == "weight" else postings.frequencies
            tiers = []
            for threshold in self.thresholds or _quantiles(values, self.quantiles):
                rows = np.flatnonzero(values >= threshold)
                tiers.append((np.searchsorted(rows, postings.starts), postings.documents[rows], weights[rows]))
            return tiers

        key = ("tiers", self.weighting, self.thresholds, self.quantiles, self.by)
        upper = index.prepared(key, prepare)
        tiers = [*upper, (postings.starts, postings.documents, weights)]

        def find(query: Query) -> Found:
            own, costs = query_weights(index, self.weighting, query), np.zeros(3, np.int64)
            for starts, documents, values in tiers:
                lists = TermLists(starts[query.terms], starts[query.terms + 1], own, documents, values)
                found = accumulate(lists, len(index), k, whole_ties=whole_ties)
                costs += found[2:]
                if len(found.documents) >= k:
                    break
            return Found(found.documents, found.scores, *costs.tolist())

        return find


def _quantiles(values: NDArray[np.floating | np.integer], quantiles: tuple[float, ...]) -> list[float]:
    """Return the values at these shares of all, in ascending order."""
    if not len(values):
        return []
    places = [min(int(quantile * len(values)), len(values) - 1) for quantile in quantiles]
    return [float(np.partition(values, place)[place]) for place in places]
