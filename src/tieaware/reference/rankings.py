"""Functions that make rankings and tie groups from scores and labels, and functions that all measures share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from tieaware.checks.arguments import one_of
from tieaware.errors import InputError
from tieaware.ties import RULES, TieRuleName

Label = float | None
Ranking = Sequence[Label]
Groups = Sequence[Sequence[Label]]

# The three functions of a measure: the value of a ranking, and the mean and the variance of the value for groups.
Functions = tuple[Callable[..., float], Callable[..., float], Callable[..., float]]

# The tie rules that put tied documents in one order.
ORDERS: tuple[TieRuleName, ...] = tuple(name for name, rule in RULES.items() if not rule.averages)


def rank(
    scores: Sequence[float],
    labels: Sequence[Label],
    ties: TieRuleName = "run_order",
    docids: Sequence[str | bytes] | None = None,
) -> list[Label]:
    """Rank the documents by score, the highest first, and tied documents in the order of a tie rule.

    Parameters
    ----------
    scores : sequence of float
        The scores of the retrieved documents, in the order of the input.
    labels : sequence of int or None
        The labels of the same documents.
    ties : str
        ``"run_order"``: the order of the input. ``"trec_eval"``: by descending document id, compared as bytes.
        ``"docid_ascending"``: by ascending document id, compared as bytes. ``"optimistic"`` and ``"pessimistic"``: the
        best, or the worst, labels first.
    docids : sequence of str or bytes, optional
        The document ids, which ``"trec_eval"`` and ``"docid_ascending"`` need.

    Returns
    -------
    list of int or None
        The labels, the first-ranked document's first.

    Raises
    ------
    InputError
        If the tie rule is unknown, or it needs document ids and they are missing.

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
            raise InputError("docids", f"must be given for the tie rule {ties!r}, which orders tied documents by id")
        names = [d.encode("utf-8", "surrogateescape") if isinstance(d, str) else d for d in docids]
        documents.sort(key=lambda d: names[d], reverse=ties == "trec_eval")
    elif ties in ("optimistic", "pessimistic"):
        grades = [-math.inf if label is None or label == -1 else label for label in labels]
        documents.sort(key=lambda d: grades[d], reverse=ties == "optimistic")
    # A stable sort keeps the order inside each tie.
    documents.sort(key=lambda d: scores[d], reverse=True)
    return [labels[d] for d in documents]


def group(scores: Sequence[float], labels: Sequence[Label]) -> list[list[Label]]:
    """Return the labels of the documents with equal scores, the highest score first, in the order of the input.

    Parameters as for `rank`.

    Examples
    --------
    >>> group([0.5, 0.5, 0.9], [0, 2, 1])
    [[1], [0, 2]]
    """
    documents = sorted(range(len(scores)), key=lambda d: scores[d], reverse=True)
    return [[labels[d] for d in tied] for _, tied in groupby(documents, key=lambda d: scores[d])]


def is_relevant(label: Label, rel: float = 1) -> bool:
    """Return whether a document is judged, with a label of at least `rel`.

    Examples
    --------
    >>> is_relevant(2), is_relevant(0), is_relevant(None, rel=0)
    (True, False, False)
    """
    return label is not None and label >= 0 and label >= rel


def is_judged(label: Label | tuple[Label, ...]) -> bool:
    """Return whether a document is judged: a label, or one of its labels for subtopics, is at least 0.

    Examples
    --------
    >>> is_judged(0), is_judged(None), is_judged((None, 0))
    (True, False, True)
    """
    labels = label if isinstance(label, tuple) else (label,)
    return any(is_relevant(each, 0) for each in labels)


def relevant(labels: Ranking, rel: float = 1) -> int:
    """Count the relevant documents.

    Examples
    --------
    >>> relevant([1, 0, 2, None])
    2
    """
    return sum(is_relevant(label, rel) for label in labels)


def grade_of(label: Label) -> float:
    """Return the label; 0 if it is None or negative.

    Examples
    --------
    >>> grade_of(2), grade_of(None)
    (2, 0)
    """
    return 0 if label is None else max(label, 0)


def with_ranks(groups: Groups, k: int | None) -> Iterator[tuple[range, Sequence[Label]]]:
    """Yield the ranks of each group that are within the cut-off, t+1 … t+m, and the labels of the whole group.

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
    """Count the retrieved documents of groups.

    Examples
    --------
    >>> number_of_documents([[1, 0], [2]])
    3
    """
    return sum(map(len, groups))


def orders(groups: Groups, k: int | None = None) -> Iterator[tuple[float, list[Label]]]:
    """Yield the probability and the labels of each order of the first k documents.

    Documents with equal labels are not told apart.

    Examples
    --------
    >>> list(orders([[1, 0], [2]]))
    [(0.5, [1, 0, 2]), (0.5, [0, 1, 2])]
    >>> list(orders([[1, 0, 0]], k=1))
    [(0.3333333333333333, [1]), (0.6666666666666666, [0])]
    """
    yield from _orders([Counter(group) for group in groups], k)


def _orders(left: list[Counter[Label]], k: int | None) -> Iterator[tuple[float, list[Label]]]:
    while left and not left[0].total():
        left = left[1:]
    if not left or k == 0:
        yield 1.0, []
        return
    for label, number in left[0].items():
        rest = [left[0] - Counter([label]), *left[1:]]
        for chance, order in _orders(rest, None if k is None else k - 1):
            yield number / left[0].total() * chance, [label, *order]


def mean_over_orders(groups: Groups, k: int | None, value: Callable[[list[Label]], float]) -> float:
    """Return the mean of `value`, a function of labels in one order, over all orders of the first k documents.

    Examples
    --------
    >>> mean_over_orders([[1, 0]], None, lambda order: order[0])
    0.5
    """
    return math.fsum(chance * value(order) for chance, order in orders(groups, k))


def variance_over_orders(groups: Groups, k: int | None, value: Callable[[list[Label]], float]) -> float:
    """Return the variance of `value`, a function of labels in one order, over all orders of the first k documents.

    Examples
    --------
    >>> variance_over_orders([[1, 0]], None, lambda order: order[0])
    0.25
    """
    values = [(chance, value(order)) for chance, order in orders(groups, k)]
    mean = math.fsum(chance * each for chance, each in values)
    return math.fsum(chance * (each - mean) ** 2 for chance, each in values)


def over_orders(value: Callable[..., float]) -> Functions:
    """Return the three functions of a measure whose mean and variance go through all orders of the ties.

    `value` takes a ranking, the judged documents, and parameters by name.

    Examples
    --------
    >>> _, mean, variance = over_orders(lambda ranking, judged, k: ranking[k - 1])
    >>> mean([[1, 0]], [1], k=2), variance([[1, 0]], [1], k=2)
    (0.5, 0.25)
    """

    def mean(groups: Groups, judged: Ranking, **parameters: Any) -> float:
        return mean_over_orders(groups, parameters.get("k"), lambda order: value(order, judged, **parameters))

    def variance(groups: Groups, judged: Ranking, **parameters: Any) -> float:
        return variance_over_orders(groups, parameters.get("k"), lambda order: value(order, judged, **parameters))

    return value, mean, variance


def ratio(numerator: float, denominator: float) -> float:
    """Return `numerator` / `denominator`; 0 if the denominator is 0.

    Examples
    --------
    >>> ratio(1, 4), ratio(1, 0)
    (0.25, 0.0)
    """
    return numerator / denominator if denominator else 0.0
