"""What every method of retrieval is: parameters, a name, and a search that counts what it costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tieaware.arrays import Integers, Values
from tieaware.checks import unexpected, whole_number
from tieaware.identifiers import Identifiers
from tieaware.inputs.lists import Lists
from tieaware.inputs.run import Run
from tieaware.retrieval.accumulators import Found, TermLists
from tieaware.retrieval.index import Index, Query
from tieaware.retrieval.postings import Numbers
from tieaware.retrieval.weighting import Weights, weighting_of
from tieaware.threads import checked_threads, over_items


@dataclass(frozen=True, eq=False)
class Costs:
    """What a search has cost, query by query.

    Parameters
    ----------
    postings : int64[n_queries]
        Postings that were read.
    documents : int64[n_queries]
        Documents that were scored.
    comparisons : int64[n_queries]
        Comparisons of scores, to build the heap and to draw the top from it.
    """

    postings: NDArray[np.int64]
    documents: NDArray[np.int64]
    comparisons: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Method(ABC):
    """A way to find the top K documents of a query.

    Parameters
    ----------
    weighting : str
        What terms are worth: the letters of SMART, such as "lnc.ltc", "bm25", or "impact:8".
    """

    weighting: str = "lnc.ltc"

    def __post_init__(self) -> None:
        weighting_of(self.weighting)

    def __str__(self) -> str:
        # The first parameter is always named, others if they are not as usual; the weighting comes last.
        weighting, *own = fields(self)
        differ = [each for each in (*own[1:], weighting) if getattr(self, each.name) != each.default]
        given = [f"{each.name}={getattr(self, each.name)!r}" for each in (*own[:1], *differ)]
        return f"{type(self).__name__}({', '.join(given)})"

    def search(
        self, index: Index, queries: Mapping[Any, Any], k: int = 1000, *, whole_ties: bool = False,
        threads: int | None = None,
    ) -> Run:  # fmt: skip
        """Return the top documents of each query, as a run."""
        return self.counted(index, queries, k, whole_ties=whole_ties, threads=threads)[0]

    def counted(
        self, index: Index, queries: Mapping[Any, Any], k: int = 1000, *, whole_ties: bool = False,
        threads: int | None = None,
    ) -> tuple[Run, Costs]:  # fmt: skip
        """Return the run, and what it has cost."""
        k = whole_number("k", k, 1)
        analysed = [each if isinstance(each, Query) else index.query(each) for each in queries.values()]
        find = self.searcher(index, k, whole_ties)
        found = over_items(find, analysed, min(checked_threads(threads), max(1, len(analysed))))
        costs = np.array([each[2:] for each in found], np.int64).reshape(-1, 3)
        return run_of(str(self), index, queries, found), Costs(*costs.T)

    @abstractmethod
    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Prepare whatever does not depend on the query, and return what finds its top documents."""


def document_numbers(index: Index, documents: ArrayLike) -> Numbers:
    """Return numbers of documents, which the index must have."""
    numbers = np.asarray(documents)
    if numbers.ndim != 1 or not (numbers.dtype.kind in "iu" or numbers.size == 0):
        raise unexpected("documents", "whole numbers in one dimension", f"{numbers.dtype} of shape {numbers.shape}")
    wrong = (numbers < 0) | (numbers >= len(index))
    if wrong.any():
        row = int(wrong.argmax())
        raise unexpected(f"documents[{row}]", f"a number from 0 to {len(index) - 1}", str(numbers[row]))
    return numbers.astype(np.int32)


def share_of(n: int | Integers, share: float) -> Integers:
    """Return this share of n, rounded up; what a product is above a whole number by rounding alone does not count."""
    return np.ceil(share * np.asarray(n) - 1e-9).astype(np.int64)


def posting_weights(index: Index, name: str) -> Weights:
    """Return the weight of every posting of the index."""
    return index.prepared(("weights", name), lambda: weighting_of(name).of_postings(index))


def query_weights(index: Index, name: str, query: Query) -> Values:
    """Return the weights of a query's terms: those that it brings along, or else those that the weighting gives."""
    return weighting_of(name).of_query(index, query) if query.weights is None else query.weights


def weighted(index: Index, name: str) -> Callable[[Query], TermLists]:
    """Return what gives a query's whole postings, weighted."""
    postings, weights = index.postings, posting_weights(index, name)

    def lists(query: Query) -> TermLists:
        starts, stops = postings.starts[query.terms], postings.starts[query.terms + 1]
        return TermLists(starts, stops, query_weights(index, name, query), postings.documents, weights)

    return lists


def run_of(name: str, index: Index, queries: Iterable[object], found: list[Found]) -> Run:
    """Return what was found as a run."""
    offsets = np.zeros(len(found) + 1, np.int64)
    np.cumsum([len(each.documents) for each in found], out=offsets[1:])
    rows = np.concatenate([np.empty(0, np.int64), *(each.documents for each in found)])
    scores = np.concatenate([np.empty(0), *(each.scores for each in found)])
    names = Identifiers.from_sequence(list(queries), "queries")
    return Run.of(Lists(names, offsets, index.documents.take(rows), scores), name)
