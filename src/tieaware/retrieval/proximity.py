"""Proximity: scoring by how close together the terms of a query are in a document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tieaware.checks.arguments import number
from tieaware.checks.arrays import Offsets, Values
from tieaware.errors import InputError
from tieaware.kernels import _windows
from tieaware.retrieval.accumulators import Found, FoundLists, top
from tieaware.retrieval.exact import Exact
from tieaware.retrieval.index import Index, Query, as_index
from tieaware.retrieval.method import (
    Checks,
    Method,
    Searcher,
    WeightedQueries,
    a_count,
    document_numbers,
    or_none,
)
from tieaware.retrieval.postings import Numbers


def smallest_windows(index: Index, query: str | Iterable[str] | Query, documents: ArrayLike) -> Numbers:
    """Return, for each document, the width of its smallest window that contains all terms of a query.

    A window is a sequence of consecutive tokens, and its width is the number of its tokens. Stop words that the
    analyzer removes do not count. If a term occurs several times in the query, the window must contain it as often.

    See Introduction to Information Retrieval, section 7.2.2.

    Parameters
    ----------
    index : Index
        An index with positions.
    query : str, iterable of str, or Query
        The query. No document has a window if the index lacks one of its words.
    documents : int[n]
        Document numbers, in any order.

    Returns
    -------
    int32[n]
        The widths, at least 1; 0, for no window, if the document lacks a term or the query has no terms.

    Raises
    ------
    InputError
        The index has no positions, or a number is not that of a document.

    Examples
    --------
    >>> documents = [("d1", "the quality of mercy is not strained"), ("d2", "mercy"), ("d3", "strained mercy")]
    >>> index = Index.build(documents, analyzer=str.split)
    >>> smallest_windows(index, "strained mercy", [0, 1, 2]).tolist()
    [4, 0, 2]
    """
    starts_of_positions = position_starts(index)
    query = query if isinstance(query, Query) else index.query(query)
    numbers = document_numbers(index, documents)
    if query.unknown:
        return np.zeros(len(numbers), np.int32)
    postings, own = index.postings, query.frequencies > 0
    terms = query.terms[own]
    assert postings.positions is not None
    return _windows.smallest_windows(
        postings.starts[terms], postings.starts[terms + 1], query.frequencies[own].astype(np.int32),
        postings.documents, starts_of_positions, postings.positions, numbers,
    )  # fmt: skip


def position_starts(index: Index) -> Offsets:
    """Return the offset of the first position of each posting, and the total number of positions."""
    postings = as_index(index).postings
    if postings.positions is None:
        raise InputError("index", "has no positions; build it with positions")
    return index.prepared("position starts", lambda: np.append(0, np.cumsum(postings.frequencies, dtype=np.int64)))


def learn_alpha(scores: ArrayLike, windows: ArrayLike, relevant: ArrayLike) -> float:
    """Learn the parameter `alpha` of `Proximity`, the weight of proximity relative to the score, from judged documents.

    A least-squares fit predicts relevance, 1 or 0, from a constant, the score and 1/ω. The ranking depends only on the
    ratio of the coefficient of 1/ω to that of the score; this ratio is `alpha`.

    Introduction to Information Retrieval, section 7.2.3, leaves the combination of score and proximity to machine
    learning. A least-squares fit is the simplest method, and has a closed form.

    Parameters
    ----------
    scores : float[n]
        The scores of judged documents, for one or more queries.
    windows : int[n]
        The width ω of each document's smallest window; 0 for no window, for which 1/ω is taken as 0.
    relevant : bool[n]
        Whether each document is relevant.

    Returns
    -------
    float
        The ratio. A negative ratio, which means that documents with smaller windows are less relevant, is replaced by
        0.

    Raises
    ------
    InputError
        The arrays have different lengths, or the fit has no useful solution: scores or windows do not vary, 1/ω is a
        linear function of the score, or higher scores do not mean more relevance.

    Examples
    --------
    >>> round(learn_alpha(scores=[1, 1, 2, 2], windows=[0, 2, 0, 1], relevant=[False, False, False, True]), 3)
    2.667
    """
    score, window, label = (np.asarray(each, np.float64) for each in (scores, windows, relevant))
    if not (score.ndim == 1 and score.shape == window.shape == label.shape):
        shapes = f"shapes {score.shape}, {window.shape} and {label.shape}"
        raise InputError("scores, windows and relevant", f"must be one-dimensional and equally long; found {shapes}")
    near, score, label = _over(1.0, window), score - score.mean(), label - label.mean()
    near -= near.mean()
    ss, nn, sn = (score * score).sum(), (near * near).sum(), (score * near).sum()
    sr, nr = (score * label).sum(), (near * label).sum()
    # Cramer's rule: both coefficients are multiplied by the determinant, which cancels in the ratio.
    score_weight, near_weight, determinant = sr * nn - nr * sn, nr * ss - sr * sn, ss * nn - sn * sn
    if not (determinant > 1e-12 * ss * nn and score_weight > 0):
        problem = "scores and windows must vary independently, and relevant documents must have higher scores"
        raise InputError("scores", problem)
    return max(0.0, float(near_weight / score_weight))


def _over(alpha: float, windows: Values | Numbers) -> Values:
    """Return alpha/ω for each window width ω; 0 for a document without a window, whose width is given as 0."""
    return np.divide(alpha, windows, out=np.zeros(len(windows)), where=windows > 0)


@dataclass(frozen=True, kw_only=True)
class Proximity(Method):
    """Rerank the top documents of an exact search by score plus alpha/ω, where ω is the width of the smallest window.

    A document that lacks a term of the query keeps its score, as if its window were infinitely wide. `smallest_windows`
    defines a window.

    See Introduction to Information Retrieval, section 7.2.2. With `alpha` = 0, the result is that of `Exact`, bit for
    bit. For each reranked document, the posting of each query term counts as read once more.

    Parameters
    ----------
    alpha : float, default: 1
        The weight of proximity; `learn_alpha` learns it.
    depth : int, optional
        The number of top documents to rerank, by default K. All documents that tie with the last of them are also
        reranked.

    Examples
    --------
    >>> documents = [("d1", "tie or rank"), ("d2", "tie rank"), ("d3", "rank no tie")]
    >>> index = Index.build(documents, analyzer=str.split)
    >>> run = Proximity(weighting="nnn.nnn").search(index, {"q": "tie rank"})
    >>> run.documents.to_list(), run.scores.round(3).tolist()
    (['d2', 'd1', 'd3'], [2.5, 2.333, 2.333])
    """

    alpha: float = 1.0
    depth: int | None = None

    _checks: ClassVar[Checks] = {
        "alpha": partial(number, least=0, most=float(np.finfo(np.float64).max)),
        "depth": or_none(a_count),
    }

    def _searcher(self, index: Index, k: int, whole_ties: bool) -> Searcher:
        position_starts(index)
        search = Exact(weighting=self.weighting)._searcher(index, max(k, self.depth or 0), True)

        def reranked(query: Query, first: Found) -> Found:
            order = np.argsort(first.documents)
            documents = first.documents[order]
            near = _over(self.alpha, smallest_windows(index, query, documents))
            n_postings = first.n_postings + len(documents) * len(query.terms)
            best = top(documents, first.scores[order] + near, n_postings, k, whole_ties=whole_ties)
            n_comparisons = first.n_comparisons + best.n_comparisons
            return best._replace(n_documents=first.n_documents, n_comparisons=n_comparisons)

        def find(queries: WeightedQueries) -> FoundLists:
            firsts = search(queries)
            return FoundLists.of([reranked(query, firsts.of_query(i)) for i, query in enumerate(queries.queries)])

        return find
