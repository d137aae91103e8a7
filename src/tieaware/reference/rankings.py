"""From scores to a ranking or to groups, and what documents are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from tieaware.checks.arguments import one_of, unexpected

Label = int | None
Ranking = Sequence[Label]
Groups = Sequence[Sequence[Label]]

# Of a measure: the value of a ranking; and of groups, the mean and the variance over the orders of tied documents.
Functions = tuple[Callable[..., float], Callable[..., float], Callable[..., float]]

ORDERS = ("run_order", "trec_eval", "docid_ascending", "optimistic", "pessimistic")


def rank(
    scores: Sequence[float],
    labels: Sequence[Label],
    ties: str = "run_order",
    docids: Sequence[str | bytes] | None = None,
) -> list[Label]:
    """Put the documents in one order: by score, the highest first, and tied ones as the tie rule says.

    Parameters
    ----------
    scores : sequence of float
        Of the retrieved documents, in the order of the input.
    labels : sequence of int or None
        Of the same documents.
    ties : str
        ``"run_order"``: as they stand in the input. ``"trec_eval"``: by document id, descending, compared as
        bytes; ``"docid_ascending"``: ascending. ``"optimistic"`` and ``"pessimistic"``: the best, or the worst, labels
        first.
    docids : sequence of str or bytes, optional
        The document ids, for ``"trec_eval"`` and ``"docid_ascending"``.

    Returns
    -------
    list of int or None
        The labels, the first-ranked document's first.

    Raises
    ------
    InputError
        If the tie rule is none of these, or its document ids are missing.

    Examples
    --------
    >>> scores, labels, docids = [0.5, 0.5, 0.9], [0, 2, 1], ["a", "b", "c"]
    >>> rank(scores, labels, "run_order"), rank(scores, labels, "trec_eval", docids)
    ([1, 0, 2], [1, 2, 0])
    >>> rank(scores, labels, "optimistic"), rank(scores, labels, "pessimistic")
    ([1, 2, 0], [1, 0, 2])
    """
    one_of("ties", ties, ORDERS)
    documents = list(range(len(scores)))
    if ties in ("trec_eval", "docid_ascending"):
        if docids is None:
            raise unexpected("docids", f"one for each score, by which ties={ties!r} orders", "none")
        names = [d.encode("utf-8", "surrogateescape") if isinstance(d, str) else d for d in docids]
        documents.sort(key=lambda d: names[d], reverse=ties == "trec_eval")
    elif ties in ("optimistic", "pessimistic"):
        grades = [-math.inf if label is None or label == -1 else label for label in labels]
        documents.sort(key=lambda d: grades[d], reverse=ties == "optimistic")
    documents.sort(key=lambda d: scores[d], reverse=True)  # stable: the order inside a tie remains
    return [labels[d] for d in documents]


def group(scores: Sequence[float], labels: Sequence[Label]) -> list[list[Label]]:
    """Gather the documents with equal scores, the highest score first.

    Parameters
    ----------
    scores : sequence of float
        Of the retrieved documents.
    labels : sequence of int or None
        Of the same documents.

    Returns
    -------
    list of lists of int or None
        The labels of each group; inside a group in the order of the input.

    Examples
    --------
    >>> group([0.5, 0.5, 0.9], [0, 2, 1])
    [[1], [0, 2]]
    """
    documents = sorted(range(len(scores)), key=lambda d: scores[d], reverse=True)
    return [[labels[d] for d in tied] for _, tied in groupby(documents, key=lambda d: scores[d])]


def is_relevant(label: Label, rel: int = 1) -> bool:
    """Tell whether a document is judged, and its label at least ``rel``.

    Parameters
    ----------
    label : int or None
        The label of a document.
    rel : int
        The smallest label that is relevant.

    Returns
    -------
    bool
        False for an unjudged document, whatever ``rel`` is.

    Examples
    --------
    >>> is_relevant(2), is_relevant(0), is_relevant(None, rel=0)
    (True, False, False)
    """
    return label is not None and label >= 0 and label >= rel


def relevant(labels: Ranking, rel: int = 1) -> int:
    """Count the relevant documents.

    Parameters
    ----------
    labels : sequence of int or None
        The labels of some documents.
    rel : int
        The smallest label that is relevant.

    Returns
    -------
    int
        A number of documents.

    Examples
    --------
    >>> relevant([1, 0, 2, None])
    2
    """
    return sum(is_relevant(label, rel) for label in labels)


def grade_of(label: Label) -> int:
    """Return the label; 0 for an unjudged document.

    Parameters
    ----------
    label : int or None
        The label of a document.

    Returns
    -------
    int
        At least 0.

    Examples
    --------
    >>> grade_of(2), grade_of(None)
    (2, 0)
    """
    return 0 if label is None else max(label, 0)


def with_ranks(groups: Groups, k: int | None) -> Iterator[tuple[range, Sequence[Label]]]:
    """Yield each group with its ranks t+1 … t+m, those within the cut-off.

    Parameters
    ----------
    groups : sequence of sequences of int or None
        The labels of each tied group, the highest score first.
    k : int or None
        The cut-off, at least 1; None for the whole list.

    Yields
    ------
    range
        The ranks of the group, from 1; empty below the cut-off.
    sequence of int or None
        The labels of the whole group.

    Examples
    --------
    >>> list(with_ranks([[1, 0], [2, 0]], k=3))
    [(range(1, 3), [1, 0]), (range(3, 4), [2, 0])]
    """
    t = 0
    for labels in groups:
        n = len(labels)
        m = n if k is None else min(max(k - t, 0), n)
        yield range(t + 1, t + m + 1), labels
        t += n


def number_of_documents(groups: Groups) -> int:
    """Count the retrieved documents.

    Parameters
    ----------
    groups : sequence of sequences of int or None
        The labels of each tied group, the highest score first.

    Returns
    -------
    int
        A number of documents.

    Examples
    --------
    >>> number_of_documents([[1, 0], [2]])
    3
    """
    return sum(map(len, groups))
