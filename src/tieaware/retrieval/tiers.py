"""Tiered indexes: search the postings with the largest weights first, and further tiers until there are K documents."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import numbers, one_of, unexpected
from tieaware.checks.arrays import Offsets
from tieaware.errors import InputError
from tieaware.retrieval.accumulators import Bitmaps, DenseLists, FoundLists
from tieaware.retrieval.blocks import Blocks, blocks_of
from tieaware.retrieval.exact import scores_of_k
from tieaware.retrieval.index import Index
from tieaware.retrieval.method import (
    Method,
    Searcher,
    WeightedQueries,
    nth_largest_of,
    posting_weights,
    rounded_rank,
)
from tieaware.retrieval.postings import LONG, DocumentWeights, Postings
from tieaware.runtime.progress import progress


class _Tier(NamedTuple):
    """The postings of a tier: those of term ``t`` are ``starts[t]`` to ``starts[t + 1]``."""

    starts: Offsets
    weights: DocumentWeights
    blocks: Blocks


@dataclass(frozen=True, kw_only=True)
class Tiers(Method):
    """Search a first tier of the postings, and further tiers only as long as fewer than K documents are found.

    A tier has all postings whose value, a weight or term frequency, is at least the tier's threshold; the last tier has
    all postings. A score is the sum over the postings of the last tier that is searched, so it depends on how many
    tiers a query needs.

    See Introduction to Information Retrieval, section 7.2.1. With one tier, the result is that of `Exact`, bit for bit.
    A tier is stored with all postings of the tiers above it. A query that needs a further tier may read these postings
    again, and they count as read again. In a tier, documents are divided into blocks, and a block is read only if the
    sum of the terms' largest weights in the block exceeds the K-th best score so far.

    Parameters
    ----------
    thresholds : sequence of float, default: ()
        The thresholds of all tiers but the last, in descending order. Must not be given together with quantiles.
    quantiles : sequence of float, default: ()
        The thresholds as quantiles of the values of all postings of the index, from 0 to 1, in descending order. For
        example, 0.9 makes a tier of the highest tenth, and of all postings that tie with the lowest of them. Without
        thresholds and quantiles, there is one tier.
    by : "weight" or "tf"
        The value of a posting: its weight or its term frequency.

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
    by: Literal["weight", "tf"] = "weight"

    _adds_document_parts: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        # Convert any sequence to a tuple, because methods must be hashable.
        for name, most in (("thresholds", np.inf), ("quantiles", 1.0)):
            values = numbers(name, getattr(self, name), 0, most)
            if any(a <= b for a, b in pairwise(values)):
                raise unexpected(name, "numbers in descending order", str(values))
            object.__setattr__(self, name, values)
        if self.thresholds and self.quantiles:
            raise InputError("thresholds", "must not be given with quantiles: both define the tiers")
        one_of("by", self.by, ("weight", "tf"))

    def _searcher(self, index: Index, k: int, whole_ties: bool) -> Searcher:
        postings, weights = index.postings, posting_weights(index, self.weighting)

        def prepare() -> list[_Tier]:
            values = weights if self.by == "weight" else postings.frequencies
            thresholds = self.thresholds or _quantiles(values, self.quantiles)
            tiers = []
            for threshold in progress(thresholds, "tiers", shown=len(postings) > LONG):
                rows = np.flatnonzero(values >= threshold)
                starts, documents = np.searchsorted(rows, postings.starts), postings.documents[rows]
                own, own_weights = Postings(starts, documents, documents, postings.lengths), weights[rows]
                dense, bitmaps = DenseLists.of(own, own_weights), Bitmaps.of(own)
                tiers.append(_Tier(starts, own_weights, Blocks.of(own, own_weights, dense, bitmaps)))
            return tiers

        name = ("tiers", self.weighting, self.thresholds, self.quantiles, self.by)
        upper_tiers = index.prepared(name, prepare)
        tiers = [*upper_tiers, _Tier(postings.starts, weights, blocks_of(index, self.weighting))]
        rank = rounded_rank(k)
        kth_largest = index.prepared(
            ("largest weights", *name, rank),
            lambda: [nth_largest_of(each.starts, each.weights, rank) for each in tiers],
        )

        def search(tier: int, queries: WeightedQueries) -> FoundLists:
            floors = scores_of_k(queries.weights, kth_largest[tier][queries.terms], queries.offsets)
            return tiers[tier].blocks.search(queries, k, floors=floors, whole_ties=whole_ties)

        def find(queries: WeightedQueries) -> FoundLists:
            found = search(0, queries)
            for tier in range(1, len(tiers)):
                too_few = np.flatnonzero(np.diff(found.offsets) < k)
                if not len(too_few):
                    break
                found = found.replaced(too_few, search(tier, queries.those(too_few)))
            return found

        return find


def _quantiles(values: NDArray[np.floating | np.integer], quantiles: tuple[float, ...]) -> list[float]:
    """Return these quantiles of the values as a list, which is empty if there are no values."""
    if not len(values):
        return []
    places = [min(int(quantile * len(values)), len(values) - 1) for quantile in quantiles]
    return [float(np.partition(values, place)[place]) for place in places]
