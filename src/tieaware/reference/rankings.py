"""From scores to a ranking or to groups, and what documents are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from tieaware.errors import InputError

Label = int | None
Ranking = Sequence[Label]
Groups = Sequence[Sequence[Label]]

# Of a measure: the value of a ranking; and of groups, the mean and the variance over the orders of tied documents.
Functions = tuple[Callable[..., float], Callable[..., float], Callable[..., float]]

ORDERS = ("run_order", "trec_eval", "optimistic", "pessimistic")


def rank(
    scores: Sequence[float],
    labels: Sequence[Label],
    ties: str = "run_order",
    docids: Sequence[str | bytes] | None = None,
) -> list[Label]:
    """Put the documents in one order: by score, the highest first, and tied ones as the tie rule says.

    Parameters
    ----------
    scores, labels : sequence
        Of the retrieved documents, in the order of the input.
    ties : str
        ``"run_order"``: as they stand in the input. ``"trec_eval"``: by document id, descending, compared as
        bytes.
        ``"optimistic"`` and ``"pessimistic"``: the best, or the worst, labels first.
    docids : sequence of str or bytes, optional
        The document ids, for ``"trec_eval"`` only.

    Returns
    -------
    list of labels

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
    if ties not in ORDERS:
        raise InputError(f"ties={ties!r}: expected one of {', '.join(ORDERS)}")
    documents = list(range(len(scores)))
    if ties == "trec_eval":
        if docids is None:
            raise InputError("ties='trec_eval': docids are missing, expected one per score")
        names = [d.encode("utf-8", "surrogateescape") if isinstance(d, str) else d for d in docids]
        documents.sort(key=lambda d: names[d], reverse=True)
    elif ties in ("optimistic", "pessimistic"):
        grades = [-math.inf if label is None or label == -1 else label for label in labels]
        documents.sort(key=lambda d: grades[d], reverse=ties == "optimistic")
    documents.sort(key=lambda d: scores[d], reverse=True)  # stable: the order inside a tie remains
    return [labels[d] for d in documents]


def group(scores: Sequence[float], labels: Sequence[Label]) -> list[list[Label]]:
    """Gather the documents with equal scores, the highest score first.

    Examples
    --------
    >>> group([0.5, 0.5, 0.9], [0, 2, 1])
    [[1], [0, 2]]
    """
    documents = sorted(range(len(scores)), key=lambda d: scores[d], reverse=True)
    return [[labels[d] for d in tied] for _, tied in groupby(documents, key=lambda d: scores[d])]


def is_relevant(label: Label, rel: int = 1) -> bool:
    """Tell whether a document is judged, and its label at least ``rel``."""
    return label is not None and label >= 0 and label >= rel


def relevant(labels: Ranking, rel: int = 1) -> int:
    """Count the relevant documents."""
    return sum(is_relevant(label, rel) for label in labels)


def grade_of(label: Label) -> int:
    """Return the label; 0 for an unjudged document."""
    return 0 if label is None else max(label, 0)


def with_ranks(groups: Groups, k: int | None) -> Iterator[tuple[range, Sequence[Label]]]:
    """Yield each group with its ranks t+1 … t+m, those within the cut-off."""
    t = 0
    for labels in groups:
        n = len(labels)
        m = n if k is None else min(max(k - t, 0), n)
        yield range(t + 1, t + m + 1), labels
        t += n


def number_of_documents(groups: Groups) -> int:
    """Count the retrieved documents."""
    return sum(map(len, groups))
