"""Exact values by enumeration: every order of the documents inside their ties, in fractions.

Written from the definitions of the measures, for lists short enough to enumerate. It shares only the notation of the
measures with the package.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import permutations, product
from operator import mul
from typing import NamedTuple

import mpmath
import numpy as np
from support import user_model_values
from support.queries import Query

from tieaware.measures import Measure, parse_measure
from tieaware.measures.parameters import Lookup

DIGITS = 50

# The measures that count documents of the collection that are not retrieved.
_CONFUSION = ("Accuracy", "Specificity", "FallOut")


class Exact(NamedTuple):
    """The mean, variance and extremes of a measure over all orders."""

    mean: Fraction
    variance: Fraction
    minimum: Fraction
    maximum: Fraction


def enumerate_orders(scores: Sequence[float], labels: Sequence[float]) -> Counter[tuple[float, ...]]:
    """Count how many orders of the tied documents give each sequence of labels."""
    ties = [
        Counter(permutations([lab for s, lab in zip(scores, labels, strict=True) if s == score]))
        for score in sorted(set(scores), reverse=True)
    ]
    orders: Counter[tuple[float, ...]] = Counter()
    for parts in product(*ties):
        times = 1
        for tie, part in zip(ties, parts, strict=True):
            times *= tie[part]
        orders[sum(parts, ())] += times
    return orders


def over_orders(measure: str | Measure, orders: Counter[tuple[float, ...]], judged: Sequence[float]) -> Exact:
    """Evaluate every order, weighted by how often it occurs."""
    measure = parse_measure(measure)
    shared: Counter[tuple[float, ...]] = Counter()  # orders that the measure cannot tell apart
    for order, times in orders.items():
        shared[_seen(measure, order)] += times
    values = [value(measure, order, judged) for order in shared]
    # Integers over a common denominator are faster than fractions.
    scale = math.lcm(*(v.denominator for v in values))
    whole = [v.numerator * (scale // v.denominator) for v in values]
    number = sum(shared.values())
    total = sum(v * times for v, times in zip(whole, shared.values(), strict=True))
    squares = sum(v * v * times for v, times in zip(whole, shared.values(), strict=True))
    variance = Fraction(number * squares - total * total, (number * scale) ** 2)
    return Exact(Fraction(total, number * scale), variance, Fraction(min(whole), scale), Fraction(max(whole), scale))


def exact(measure: str | Measure, scores: Sequence[float], labels: Sequence[float], judged: Sequence[float]) -> Exact:
    """Evaluate a measure over every order that the scores allow."""
    return over_orders(measure, enumerate_orders(scores, labels), judged)


def over_queries(measures: Sequence[str], queries: Sequence[Query]) -> np.ndarray:
    """Evaluate every order of each query: float64[4, n_queries, n_measures], rounded, in the order of Exact."""
    values = np.empty((4, len(queries), len(measures)))
    for i, query in enumerate(queries):
        orders = enumerate_orders(query.scores, query.labels)
        for j, measure in enumerate(measures):
            values[:, i, j] = [float(x) for x in over_orders(measure, orders, query.judged)]
    return values


def value(measure: Measure, order: Sequence[float], judged: Sequence[float]) -> Fraction:
    """Evaluate a measure for documents in one order. Negative labels are unjudged."""
    name, k = measure.name, measure.cutoff
    if measure.parameters.get("judged_only"):
        order = [label for label in order if label >= 0]
    top = order if k is None else order[:k]
    if name in user_model_values.VALUES:
        return user_model_values.VALUES[name](measure, top, judged)
    if name == "NumRet":
        return Fraction(len(order))
    if name == "NumQ":
        return Fraction(1)
    if name == "Judged":
        counted = [label >= 0 or (label < -1 and bool(measure["pool"])) for label in top]
        return Fraction(sum(counted), len(top)) if top else Fraction(0)
    if name == "Hole":
        return Fraction(sum(label < 0 for label in top), k or len(order)) if order else Fraction(0)
    if name == "Compat":
        return _compatibility(order, judged, Fraction(measure["p"]), bool(measure["normalize"]))
    if name == "RBPResidual":
        p = Fraction(measure["p"])
        return 1 - (1 - p) * sum((p**j for j, label in enumerate(order) if label >= 0), Fraction(0))
    if name == "ERR":
        value, stays = Fraction(0), Fraction(1)
        for j, label in enumerate(top, 1):
            stop = _power_minus_one(max(label, 0)) / 2 ** int(measure["max_rel"])
            value += stays * stop / j
            stays *= 1 - stop
        return value
    if name in ("DCG", "nDCG"):
        discounts = _discounts(str(measure["discount"]), float(measure["base"]))
        dcg = _sum(map(mul, (_gain(lab, measure) for lab in top), discounts))
        if name == "DCG" or dcg == 0:
            return dcg
        best = sorted((_gain(lab, measure) for lab in judged), reverse=True)
        return dcg / _sum(map(mul, best if k is None else best[:k], discounts))
    if name == "RBP" and measure["gains"]:
        p = Fraction(measure["p"])
        return (1 - p) * _sum(p**j * _gain(label, measure) for j, label in enumerate(top))

    least = float(measure["rel"])
    n_relevant = sum(_is_relevant(lab, least) for lab in judged)
    ranks = [j for j, lab in enumerate(top, 1) if _is_relevant(lab, least)]
    if name == "infAP":
        value = Fraction(0)
        for j in ranks:
            above = order[: j - 1]
            hits, judged_above = sum(_is_relevant(lab, least) for lab in above), sum(lab >= 0 for lab in above)
            pooled = judged_above + sum(lab < -1 for lab in above)
            share = (hits + Fraction(1, 100_000)) / (judged_above + Fraction(2, 100_000))
            value += Fraction(1, j) + Fraction(pooled, j) * share
        return value / n_relevant if n_relevant else value
    if name == "Q":
        beta, value = Fraction(measure["beta"]), Fraction(0)
        best = sorted((_gain(lab, measure) for lab in judged if _is_relevant(lab, least)), reverse=True)
        for i, j in enumerate(ranks, 1):
            gain = _sum(_gain(lab, measure) for lab in top[:j] if _is_relevant(lab, least))
            value += (i + beta * gain) / (j + beta * sum(best[:j]))
        return value / n_relevant if n_relevant else value
    if name == "NumRel":
        return Fraction(n_relevant)
    if name == "NumRelRet":
        return Fraction(len(ranks))
    if name in _CONFUSION:
        return _of_confusion(measure, order, judged) if n_relevant else Fraction(0)
    others = [j for j, lab in enumerate(order if name == "ESL" else top, 1) if not _is_relevant(lab, least)]
    if name == "ESL":
        if n_relevant == 0:
            return Fraction(0)
        i = int(measure["i"])
        return Fraction(sum(j < ranks[i - 1] for j in others) if len(ranks) >= i else len(others))
    if name == "MeanRank":
        i = int(measure["i"])
        return Fraction(ranks[i - 1] if len(ranks) >= i else len(order) + 1) if n_relevant else Fraction(0)
    if not ranks:
        return Fraction(0)
    if name == "AUC":
        pairs = [r < j for r in ranks for j in others]
        return Fraction(sum(pairs), len(pairs)) if pairs else Fraction(1)
    if name == "Bpref":
        n_not = sum(lab >= 0 for lab in judged) - n_relevant
        judged_others = [j for j in others if order[j - 1] >= 0]
        missed = [min(sum(j < r for j in judged_others), n_relevant) for r in ranks]
        return sum(1 - Fraction(x, min(n_relevant, n_not)) if x else Fraction(1) for x in missed) / n_relevant
    if name in ("IPrec", "IAP11"):
        recalls = [measure["recall"]] if name == "IPrec" else [i / 10 for i in range(11)]
        points = []
        for recall in recalls:
            reached = int(float(recall) * n_relevant + 0.5)
            points.append(max((Fraction(i, j) for i, j in enumerate(ranks, 1) if i >= reached), default=Fraction(0)))
        return sum(points, Fraction(0)) / len(points)
    if name in ("SetP", "SetR", "SetF", "SetAP"):
        precision, recall = Fraction(len(ranks), len(order)), Fraction(len(ranks), n_relevant)
        if name == "SetP":
            return Fraction(len(ranks), min(len(order), n_relevant)) if measure["relative"] else precision
        harmonic = 2 * precision * recall / (precision + recall)
        return {"SetR": recall, "SetF": harmonic, "SetAP": precision * recall}[name]
    depth = len(order) if k is None else k
    if name == "P":
        return Fraction(len(ranks), depth)
    if name == "R":
        return Fraction(len(ranks), n_relevant)
    if name == "Recall_cap":
        return Fraction(len(ranks), n_relevant if k is None else min(k, n_relevant))
    if name == "F1":
        precision, recall = Fraction(len(ranks), depth), Fraction(len(ranks), n_relevant)
        return 2 / (1 / precision + 1 / recall)
    if name in ("PAtRel", "PRR"):
        i = int(measure["i"])
        return Fraction(i, ranks[i - 1]) if len(ranks) >= i else Fraction(0)
    if name in ("F", "MaxF"):
        square = Fraction(measure["beta"]) ** 2
        at_ranks = [(1 + square) * i / (j + square * n_relevant) for i, j in enumerate(ranks, 1)]
        if name == "MaxF":
            return max(at_ranks)
        return (1 + square) * len(ranks) / ((k or len(order)) + square * n_relevant)
    if name in ("AP", "AP_cap", "GMAP"):
        most = n_relevant if k is None or name != "AP_cap" else min(k, n_relevant)
        return sum((Fraction(i, j) for i, j in enumerate(ranks, 1)), Fraction(0)) / most
    if name == "RR":
        return Fraction(1, ranks[0])
    if name == "RBP":
        p = Fraction(measure["p"])
        return (1 - p) * sum((p ** (j - 1) for j in ranks), Fraction(0))
    if name in ("Success", "Hits"):
        return Fraction(1)
    if name == "Rprec":
        return Fraction(sum(j <= n_relevant for j in ranks), n_relevant)
    raise AssertionError(f"no definition of {name}")


def _of_confusion(measure: Measure, order: Sequence[float], judged: Sequence[float]) -> Fraction:
    """Count the cells of the confusion matrix document by document: (is it within the cut-off, is it relevant)."""
    unretrieved = list((Counter(label for label in judged if label >= 0) - Counter(order)).elements())
    # All other documents of the collection are unknown: neither retrieved nor judged.
    unknown = max(int(measure["docs"]) - len(order) - len(unretrieved), 0)
    cells = Counter({(False, False): unknown})
    for j, label in enumerate([*order, *unretrieved]):
        within = j < min(measure.cutoff or len(order), len(order))
        cells[within, _is_relevant(label, float(measure["rel"]))] += 1
    if measure.name == "Accuracy":
        return Fraction(cells[True, True] + cells[False, False], sum(cells.values()))
    negatives = cells[True, False] + cells[False, False]
    fall_out = Fraction(cells[True, False], negatives) if negatives else Fraction(0)
    return fall_out if measure.name == "FallOut" else 1 - fall_out


def _compatibility(order: Sequence[float], judged: Sequence[float], p: Fraction, normalize: bool) -> Fraction:
    """Build the best ideal ranking, the documents of each grade in the order of the list, and compare the sets."""
    retrieved = list(enumerate(order))
    ideal: list[tuple[int, float]] = []
    for grade in sorted({label for label in judged if label > 0}, reverse=True):
        found = [document for document in retrieved if document[1] == grade]
        ideal += found + [(-i - 1, grade) for i in range(list(judged).count(grade) - len(found))]
    if not ideal:
        return Fraction(0)
    overlap, norm = Fraction(0), Fraction(0)
    for d in range(1, max(len(retrieved), len(ideal)) + 1):
        overlap += p ** (d - 1) * len(set(retrieved[:d]) & set(ideal[:d])) / d
        norm += p ** (d - 1) * Fraction(len(ideal[:d]), d) if normalize else p ** (d - 1)
    return overlap / norm


def _is_relevant(label: float, least: float) -> bool:
    return label >= least and label >= 0


def _gain(label: float, measure: Measure) -> Fraction:
    if isinstance(measure.parameters.get("gains"), Lookup) and measure["gains"]:
        return Fraction(measure["gains"].gains.get(label, 0))
    if measure.parameters.get("dcg") == "exp-log2":
        return _power_minus_one(max(label, 0))
    return Fraction(max(label, 0))


@lru_cache(maxsize=256)
def _power_minus_one(label: float) -> Fraction:
    """Return 2^label - 1, for labels that are not whole numbers to 50 digits."""
    if label == int(label):
        return Fraction(2 ** int(label) - 1)
    with mpmath.workdps(DIGITS + 5):
        return Fraction(int(mpmath.nint(10**DIGITS * (mpmath.mpf(2) ** label - 1))), 10**DIGITS)


def _sum(terms: Iterable[Fraction]) -> Fraction:
    return sum(terms, Fraction(0))


def _seen(measure: Measure, order: tuple[float, ...]) -> tuple[float, ...]:
    """Drop the labels that the measure ignores, and map labels that it treats alike to one label."""
    if measure.name in _CONFUSION:
        return order
    if not measure.parameters.get("judged_only"):
        order = order[: measure.cutoff]
    if measure.parameters.get("gains"):
        return order
    if measure.name in ("DCG", "nDCG", "ERR", *user_model_values.VALUES) and "rel" not in measure.parameters:
        unjudged = -1 if measure.parameters["judged_only"] else 0
        return tuple(label if label > 0 else 0 if label == 0 else unjudged for label in order)
    if measure.name == "Compat":
        return tuple(max(label, 0) for label in order)
    least = float(measure.parameters.get("rel", 1))
    if measure.name in ("infAP", "Q", "O", "Judged"):
        return tuple(-2 if label < -1 else label for label in order)
    if measure.name in ("Bpref", "Hole", "Judged", "RBPResidual") or measure.parameters.get("judged_only"):
        return tuple(least if _is_relevant(label, least) else -1 if label < 0 else 0 for label in order)
    return tuple(least if _is_relevant(label, least) else -1 for label in order)


@lru_cache(maxsize=16)
def _discounts(discount: str, base: float) -> tuple[Fraction, ...]:
    """Return the weights of the ranks j = 1, 2, …, 128 in DCG, to 50 digits."""
    with mpmath.workdps(DIGITS + 5):
        return tuple(
            Fraction(int(mpmath.nint(10**DIGITS * {
                "log2": lambda j: 1 / mpmath.log(1 + j, 2),
                "log": lambda j: 1 / mpmath.log(j, base) if j >= base else mpmath.mpf(1),
                "1/rank": lambda j: 1 / mpmath.mpf(j),
            }[discount](j))), 10**DIGITS)
            for j in range(1, 129)
        )  # fmt: skip
