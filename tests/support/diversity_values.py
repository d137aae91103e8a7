"""Exact values of the measures of diversity, for rankings of documents that have a label for each subtopic.

Written from the definitions of ndeval, in fractions. A document is a tuple of labels; a negative label means that it is
not judged for the subtopic.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import mpmath

from tieaware.measures import Measure

Document = tuple[int, ...]
NAMES = ("alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "P_IA", "AP_IA", "StRecall")


def value(
    measure: Measure, order: Sequence[Document], judged: Sequence[Document], weights: Sequence[Fraction] | None = None
) -> Fraction:
    """Evaluate a measure. `judged` are the judged documents, in the order that decides between equal gains."""
    if measure.parameters.get("judged_only"):
        order = [document for document in order if max(document, default=-1) >= 0]
    depth = measure.cutoff or max(len(order), 1)
    rel = int(measure["rel"])
    ranking = [_relevant(document, rel) for document in order]
    all_judged = [_relevant(document, rel) for document in judged]
    found = sorted(set().union(*all_judged))
    share = {i: Fraction(1) if weights is None else weights[i] for i in found}
    share = {i: each / sum(share.values()) for i, each in share.items() if each}
    if not share:
        return Fraction(0)
    top = ranking[: measure.cutoff]
    if measure.name == "P_IA":
        return sum((share.get(i, Fraction(0)) for document in top for i in document), Fraction(0)) / depth
    if measure.name == "StRecall":
        return sum((share.get(i, Fraction(0)) for i in set().union(*top)), Fraction(0))
    if measure.name == "AP_IA":
        return sum((each * _average_precision(ranking, all_judged, i) for i, each in share.items()), Fraction(0))
    alpha = Fraction(repr(measure["alpha"]))
    total = _novel_gain(measure, top, share, alpha)
    if measure.name.startswith(("alpha_n", "n")):
        best = _novel_gain(measure, _ideal(all_judged, share, alpha)[: measure.cutoff], share, alpha)
        return total / best
    if measure.name == "NRBP":
        return total * (1 - (1 - alpha) * Fraction(repr(measure["beta"])))
    return total / sum((_slot(measure, j) * (1 - alpha) ** (j - 1) for j in range(1, depth + 1)), Fraction(0))


def _relevant(document: Document, rel: int) -> frozenset[int]:
    return frozenset(i for i, label in enumerate(document) if label >= rel and label >= 0)


def _average_precision(ranking: Sequence[frozenset[int]], judged: Sequence[frozenset[int]], i: int) -> Fraction:
    ranks = [j for j, document in enumerate(ranking, 1) if i in document]
    n_relevant = sum(i in document for document in judged)
    return sum((Fraction(h, j) for h, j in enumerate(ranks, 1)), Fraction(0)) / n_relevant


def _slot(measure: Measure, j: int) -> Fraction:
    """Return the weight of a rank, to 50 digits."""
    if "NRBP" in measure.name:
        return Fraction(repr(measure["beta"])) ** (j - 1)
    if "ERR" in measure.name:
        return Fraction(1, j)
    with mpmath.workdps(55):
        return Fraction(int(mpmath.nint(10**50 / mpmath.log(1 + j, 2))), 10**50)


def _novel_gain(
    measure: Measure, ranking: Sequence[frozenset[int]], share: dict[int, Fraction], alpha: Fraction
) -> Fraction:
    gains, total = dict(share), Fraction(0)
    for j, document in enumerate(ranking, 1):
        for i in document & gains.keys():
            total += gains[i] * _slot(measure, j)
            gains[i] *= 1 - alpha
    return total


def _ideal(judged: Sequence[frozenset[int]], share: dict[int, Fraction], alpha: Fraction) -> list[frozenset[int]]:
    gains, left, ranking = dict(share), list(judged), []
    while left:
        worth = [sum((gains.get(i, Fraction(0)) for i in document), Fraction(0)) for document in left]
        best = left.pop(worth.index(max(worth)))
        ranking.append(best)
        for i in best & gains.keys():
            gains[i] *= 1 - alpha
    return ranking
