"""The two ways to score: all documents of some postings, or some documents by all their postings; and the top K."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tieaware.arrays import Integers, Values
from tieaware.retrieval.postings import Numbers
from tieaware.retrieval.weighting import Weights


class TermLists(NamedTuple):
    """Postings of a query's terms: list ``i`` is ``documents[starts[i]:stops[i]]``, ascending, with its weights."""

    starts: Integers
    stops: Integers
    query_weights: Values
    documents: Numbers
    weights: Weights


class Found(NamedTuple):
    """The top documents of a query, best first, ties by number; and what it cost."""

    documents: Numbers
    scores: Values
    n_postings: int
    n_documents: int
    n_comparisons: int


def accumulate(
    lists: TermLists, n_documents: int, k: int, *, base: Values | None = None, at_least: int = 1,
    whole_ties: bool = False,
) -> Found:  # fmt: skip
    """Score every document of the lists, term at a time, and return the top k of those with a score above 0.

    Parameters
    ----------
    base : float64[n_documents], optional
        Added to each document's sum, such as its static quality. Then a score of 0 counts, too.
    at_least : int, default: 1
        Only documents that occur in so many of the lists.
    """
    scores, occurrences = np.zeros(n_documents), np.zeros(n_documents, np.int64)
    for a, b, weight in zip(lists.starts, lists.stops, lists.query_weights, strict=True):
        scores[lists.documents[a:b]] += weight * lists.weights[a:b].astype(np.float64)
        occurrences[lists.documents[a:b]] += 1
    touched = np.flatnonzero(occurrences >= max(1, at_least)).astype(np.int32)
    return _top(touched, scores[touched], base, int((lists.stops - lists.starts).sum()), k, whole_ties)


def score(
    candidates: Numbers, lists: TermLists, k: int, *, base: Values | None = None, whole_ties: bool = False
) -> Found:
    """Score these documents alone, ascending, by all of the lists, and return the top k of those above 0.

    With a base (float64[n_documents], added to each document's sum) a score of 0 counts, too.
    """
    scores = np.zeros(len(candidates))
    n_postings = 0
    for a, b, weight in zip(lists.starts, lists.stops, lists.query_weights, strict=True):
        _, mine, theirs = np.intersect1d(candidates, lists.documents[a:b], assume_unique=True, return_indices=True)
        scores[mine] += weight * lists.weights[a:b][theirs].astype(np.float64)
        n_postings += len(mine)
    return _top(candidates, scores, base, n_postings, k, whole_ties)


def _top(documents: Numbers, sums: Values, base: Values | None, n_postings: int, k: int, whole_ties: bool) -> Found:
    if base is None:
        above = sums > 0
        return top(documents[above], sums[above], n_postings, k, whole_ties=whole_ties)
    return top(documents, sums + base[documents], n_postings, k, whole_ties=whole_ties)


def top(documents: Numbers, scores: Values, n_postings: int, k: int, *, whole_ties: bool) -> Found:
    """Return the k best, best first, ties by number; with whole ties also those that tie with the last."""
    order = np.lexsort((documents, -scores))
    n = min(k, len(order))
    if whole_ties and 0 < n < len(order):
        n = int((scores >= scores[order[n - 1]]).sum())
    order = order[:n]
    return Found(documents[order], scores[order], n_postings, len(documents), 0)
