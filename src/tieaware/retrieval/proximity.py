"""Proximity: how close together a document has the terms of a query."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tieaware.checks.arguments import number, unexpected, whole_number
from tieaware.checks.arrays import Offsets, Values
from tieaware.kernels import _windows
from tieaware.retrieval.accumulators import Found, top
from tieaware.retrieval.exact import Exact
from tieaware.retrieval.index import Index, Query
from tieaware.retrieval.method import Method, document_numbers
from tieaware.retrieval.postings import Numbers


def smallest_windows(index: Index, query: str | Iterable[str] | Query, documents: ArrayLike) -> Numbers:
    """Return the width of the smallest window of each document that holds all terms of a query.

    A width is counted in the tokens that the analyzer gives, so that stop words that it leaves out do not count. A term
    that is several times in the query has to be as often in the window.

    Parameters
    ----------
    index : Index
        An index with positions.
    query : str, iterable of str, or Query
        The query, as `Index.query` takes it; terms that the index does not know are left out.
    documents : int[n]
        Numbers of documents, in any order.

    Returns
    -------
    int32[n]
        The widths, at least 1; 0 where a document lacks a term, and for a query without any.

    Raises
    ------
    InputError
        The index has no positions, or there is no document of a number.

    Notes
    -----
    Introduction to Information Retrieval, section 7.2.2.

    Examples
    --------
    >>> documents = [("d1", "the quality of mercy is not strained"), ("d2", "mercy"), ("d3", "strained mercy")]
    >>> index = Index.build(documents, analyzer=str.split)
    >>> smallest_windows(index, "strained mercy", [0, 1, 2]).tolist()
    [4, 0, 2]
    """
    position_starts = _position_starts(index)
    query = query if isinstance(query, Query) else index.query(query)
    numbers = document_numbers(index, documents)
    postings, own = index.postings, query.frequencies > 0
    terms = query.terms[own]
    assert postings.positions is not None
    return _windows.smallest_windows(
        postings.starts[terms], postings.starts[terms + 1], query.frequencies[own].astype(np.int32),
        postings.documents, position_starts, postings.positions, numbers,
    )  # fmt: skip


def _position_starts(index: Index) -> Offsets:
    """Return where the positions of each posting start, and where the last end."""
    postings = index.postings
    if postings.positions is None:
        raise unexpected("index.postings", "positions", "an index built with positions=False")

    def prepare() -> Offsets:
        starts = np.zeros(len(postings.documents) + 1, np.int64)
        np.cumsum(postings.frequencies, out=starts[1:])
        return starts

    return index.prepared("position starts", prepare)


def learn_alpha(scores: ArrayLike, windows: ArrayLike, relevant: ArrayLike) -> float:
    """Learn how much proximity weighs beside the score, from judged documents: the `alpha` of `Proximity`.

    Relevance, 1 or 0, is predicted by a constant, the score and 1/ω, with the least squared error. What ranks is the
    ratio of the weights of 1/ω and of the score.

    Parameters
    ----------
    scores : float[n]
        The scores of documents, of as many queries as there are.
    windows : int[n]
        Their smallest windows ω; 0 where there is none, whose 1/ω is taken for 0.
    relevant : bool[n]
        Whether each is relevant.

    Returns
    -------
    float
        The ratio, at least 0: where the documents with small windows are less relevant than others of their score, 0.

    Raises
    ------
    InputError
        The arrays are of different lengths, or scores and windows do not tell what weighs what: one does not vary, each
        follows from the other, or higher scores do not mean more relevance.

    Notes
    -----
    Introduction to Information Retrieval, section 7.2.3, leaves the combination to machine learning; this is the
    simplest there is, in closed form.

    Examples
    --------
    >>> round(learn_alpha(scores=[1, 1, 2, 2], windows=[0, 2, 0, 1], relevant=[False, False, False, True]), 3)
    2.667
    """
    score, window, label = (np.asarray(each, np.float64) for each in (scores, windows, relevant))
    if not (score.ndim == 1 and score.shape == window.shape == label.shape):
        shapes = f"shapes {score.shape}, {window.shape} and {label.shape}"
        raise unexpected("scores, windows and relevant", "as many of each, in one dimension", shapes)
    near, score, label = _over(1.0, window), score - score.mean(), label - label.mean()
    near -= near.mean()
    ss, nn, sn = (score * score).sum(), (near * near).sum(), (score * near).sum()
    sr, nr = (score * label).sum(), (near * label).sum()
    # The weights of the score and of 1/ω, both times the determinant of the normal equations.
    of_score, of_near, determinant = sr * nn - nr * sn, nr * ss - sr * sn, ss * nn - sn * sn
    if not (determinant > 1e-12 * ss * nn and of_score > 0):
        raise unexpected("scores", "scores and windows that vary, higher scores for relevant documents", "others")
    return max(0.0, float(of_near / of_score))


def _over(alpha: float, windows: Values | Numbers) -> Values:
    """Return alpha/ω, 0 where there is no window."""
    return np.divide(alpha, windows, out=np.zeros(len(windows)), where=windows > 0)


@dataclass(frozen=True, kw_only=True)
class Proximity(Method):
    """Rank the top documents of an exact search anew: by score plus alpha/ω, for the smallest window of width ω.

    A document that lacks a term of the query keeps its score, as one whose window is infinite.

    Parameters
    ----------
    alpha : float, default: 1
        How much proximity weighs; `learn_alpha` learns it.
    depth : int, optional
        How many documents of the exact search are ranked anew, by default K, and all that tie with the last of them.

    See Also
    --------
    smallest_windows : The windows, and what is a window.

    Notes
    -----
    Introduction to Information Retrieval, section 7.2.2. With `alpha` = 0 it finds what `Exact` does, bit for bit. For
    each document that is ranked anew, the posting of each term counts once more.

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

    def __post_init__(self) -> None:
        super().__post_init__()
        number("alpha", self.alpha, 0, np.finfo(np.float64).max)
        if self.depth is not None:
            whole_number("depth", self.depth, 1)

    def searcher(self, index: Index, k: int, whole_ties: bool) -> Callable[[Query], Found]:
        """Prepare positions, and return what finds the top documents of a query."""
        _position_starts(index)
        search = Exact(weighting=self.weighting).searcher(index, max(k, self.depth or 0), True)

        def find(query: Query) -> Found:
            first = search(query)
            order = np.argsort(first.documents)
            documents = first.documents[order]
            near = _over(self.alpha, smallest_windows(index, query, documents))
            n_postings = first.n_postings + len(documents) * len(query.terms)
            again = top(documents, first.scores[order] + near, n_postings, k, whole_ties=whole_ties)
            return again._replace(
                n_documents=first.n_documents, n_comparisons=first.n_comparisons + again.n_comparisons
            )

        return find
