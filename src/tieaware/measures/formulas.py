"""The functions that definitions are composed of: weights of documents, totals of queries, divisors, slot weights.

Functions that a `Definition` refers to take the measure as their first argument. A *total* is the sum of the weights
of all judged documents of a query, N is the number of relevant documents, and k is the cut-off.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Integers, Labels, Values
from tieaware.errors import InputError
from tieaware.kernels import _labels, _slots
from tieaware.lists.grades import Grades
from tieaware.lists.judgments import POOLED, Judgments
from tieaware.measures.definition import LEAST_INEXACT, Measure, Weighting, check_exact
from tieaware.measures.parameters import Lookup

# The most different labels above 0 with which ERR can be computed if labels are real numbers.
MOST_GRADES = 255

# If no label is above this one, the weight of every label from 0 to the highest is computed, even of labels that do not
# occur. Lists with the same highest label then share these weights.
HIGHEST_IN_LOOKUP = 255

# Weights of documents, by their labels.


def _relevance(labels: Labels | Values, rel: float) -> Values:
    """Return 1 for labels of at least `rel`, and 0 for others."""
    return (labels >= rel).astype(np.float64)


def _gain(labels: Labels | Values, dcg: str, gains: Lookup) -> Values:
    """Return the label, 2^label - 1 if `dcg` is "exp-log2", or the gain in the table; negative labels have gain 0."""
    if gains and dcg != "log2":
        raise InputError("dcg", "must not be given together with gains, which already say what a label is worth")
    if gains:
        return _in_table(labels, gains)
    positive: Values = np.maximum(labels, 0.0)
    if dcg == "log2":
        return positive
    if positive.max(initial=0.0) > 52:
        raise unexpected("labels", "at most 52, for the gain 2^label - 1", f"{positive.max():g}")
    return _slots.powers_minus_one(positive)


def _in_table(labels: Labels | Values, table: Lookup) -> Values:
    """Return the gains of labels by the table; 0 for labels that are not in it (`check_table` refuses those)."""
    gains = np.zeros(labels.shape)
    for label, gain in table.gains.items():
        gains[labels == label] = gain
    return gains


def check_table(measure: Measure, judgments: Judgments) -> None:
    """Raise InputError if a label above 0 has no gain in the measure's table."""
    table = measure["gains"]
    if not isinstance(table, Lookup) or not table:
        return
    found = np.unique(judgments.values)
    unknown = found[(found > 0) & ~np.isin(found, list(table.gains))]
    if len(unknown):
        raise InputError(f"{measure}: labels", f"the table of gains has no label {unknown[0]:g}")


def _judged(labels: Labels | Values) -> Values:
    """Return 1 for judged documents, and 0 for others."""
    return (labels >= 0).astype(np.float64)


def _judged_or_pooled(labels: Labels | Values, pool: bool) -> Values:
    """Return 1 for judged documents, with `pool` also for documents that are pooled but not judged; 0 for others."""
    return ((labels >= 0) | ((labels <= POOLED) & pool)).astype(np.float64)


def _preferred(labels: Labels | Values, rel: float) -> Values:
    """Return two rows of 0 or 1: whether each document is relevant, and whether it is judged nonrelevant."""
    relevant = _relevance(labels, rel)
    return np.stack([relevant, _judged(labels) - relevant])


def _pooled(labels: Labels | Values, rel: float, judged_only: bool) -> Values:
    """Return three rows of 0 or 1: whether each document is relevant, judged nonrelevant, or pooled but unjudged."""
    return np.stack([*_preferred(labels, rel), (labels <= POOLED) & (not judged_only)])


def _relevance_and_gain(labels: Labels | Values, rel: float, gains: Lookup) -> Values:
    """Return two rows: 1 and the gain for relevant documents, 0 for others."""
    relevant = _relevance(labels, rel)
    return np.stack([relevant, relevant * (_in_table(labels, gains) if gains else labels)])


def _relevance_or_gain(labels: Labels | Values, rel: float, gains: str) -> Values:
    """Return 1 for relevant documents and 0 for others; or the gain of each, if `gains` is "label" or a table."""
    if not gains:
        return _relevance(labels, rel)
    if rel != 1:
        raise InputError("rel", "must not be given together with gains, which already say what a label is worth")
    return _in_table(labels, gains) if isinstance(gains, Lookup) else np.maximum(labels, 0.0)


def _grades(labels: Labels | Values, max_rel: int) -> Values:
    """Return one row for each grade, with 1 for documents with that label and 0 for all others.

    Grades are the labels 1 … max_rel. If labels are real numbers, they are the labels that occur.
    """
    if labels.max(initial=0) > max_rel:
        raise unexpected("labels", f"at most max_rel={max_rel}", f"{labels.max():g}")
    grades = np.arange(1, max_rel + 1) if labels.dtype == np.int32 else np.unique(labels[labels > 0.0])
    if len(grades) > MOST_GRADES:
        raise too_many_grades(len(grades))
    rows: Values = (labels == grades[:, None]).astype(np.float64)
    return rows


def too_many_grades(count: int) -> InputError:
    """Return the error about real labels with too many different values: each value is a weighting."""
    problem = f"have {count} different values, but at most {MOST_GRADES} are possible; round the labels"
    return InputError("labels", problem)


def _nothing(labels: Labels | Values) -> Values:
    """Return 0 for all documents: the measure does not depend on them."""
    return np.zeros(labels.shape)


RELEVANCE = Weighting(_relevance, ("rel",))
GAIN = Weighting(_gain, ("dcg", "gains"))
JUDGED = Weighting(_judged)
JUDGED_OR_POOLED = Weighting(_judged_or_pooled, ("pool",))
PREFERRED = Weighting(_preferred, ("rel",))
POOLED_OR_JUDGED = Weighting(_pooled, ("rel", "judged_only"))
RELEVANCE_AND_GAIN = Weighting(_relevance_and_gain, ("rel", "gains"), squared=1)
RELEVANCE_OR_GAIN = Weighting(_relevance_or_gain, ("rel", "gains"))
GRADES = Weighting(_grades, ("max_rel",))
NOTHING = Weighting(_nothing)


# Totals of queries, and other numbers of each query that kernels read.


def relevant_documents(measure: Measure, judgments: Judgments) -> Values:
    """Return N for each query: the number of relevant documents, retrieved or not."""
    if judgments.grades is not None:
        check_some_relevant(measure, judgments)
    return judgments.count(float(measure["rel"]))


def check_some_relevant(measure: Measure, judgments: Judgments) -> None:
    """Raise InputError if labels are real numbers, and all of them are below `rel`."""
    grades = judgments.grades
    if grades is not None and grades.highest < float(measure["rel"]) and not judgments.is_part:
        problem = f"are all below rel={measure['rel']}, so no document is relevant (the highest is {grades.highest:g})"
        instead = f"; write for example {measure(rel=_example_of(grades.highest))}" if grades.highest else ""
        raise InputError(f"{measure}: labels", f"{problem}{instead}")


def _example_of(highest: float) -> float:
    """Return a number up to the highest label that a document may need to be relevant: 0.5 if that is possible."""
    return 0.5 if highest >= 0.5 else highest


def relevant_with_gains(measure: Measure, judgments: Judgments) -> Values:
    """Return N for each query, after checking that the labels have gains."""
    check_table(measure, judgments)
    return relevant_documents(measure, judgments)


def relevant_or_gainful(measure: Measure, judgments: Judgments) -> Values:
    """Return N for each query, or with the parameter `gains`, the number of documents with a gain above 0."""
    return gainful_documents(measure, judgments) if measure["gains"] else relevant_documents(measure, judgments)


def positive_documents(measure: Measure, judgments: Judgments) -> Values:
    """Return the number of documents with a label above 0, for each query."""
    return judgments.count_positive()


def gainful_documents(measure: Measure, judgments: Judgments) -> Values:
    """Return the number of documents with a gain above 0, after checking that the labels have gains."""
    check_table(measure, judgments)
    table = measure["gains"]
    if isinstance(table, Lookup) and table:
        return judgments.count(min((label for label, gain in table.gains.items() if gain > 0), default=np.inf))
    return judgments.count_positive()


def nonrelevant_of_relevant(measure: Measure, judgments: Judgments) -> Values:
    """Return M for each query: the number of judged nonrelevant documents, or N if N is smaller."""
    relevant = relevant_documents(measure, judgments)
    return np.minimum(judgments.count(0) - relevant, relevant)


def ideal_gain(measure: Measure, judgments: Judgments) -> Values:
    """Return the largest possible DCG of each query: that of its judged documents in the best order."""
    check_table(measure, judgments)
    labels = judgments.labels
    highest = _labels.highest(labels)
    if judgments.grades is not None:
        gains = GAIN.weigh(measure, judgments.grades.values)[0]
    elif highest <= HIGHEST_IN_LOOKUP:
        gains, most = _gains_to(measure, highest)
    if judgments.grades is None and (highest > HIGHEST_IN_LOOKUP or most * len(labels) >= LEAST_INEXACT):
        # Compute one gain for each document instead of one for each label.
        check_exact(measure, GAIN.weigh(measure, labels))
        gains, labels = GAIN.weigh(measure, labels)[0], np.arange(len(labels), dtype=np.int32)
    slots = discounted_slots(measure, judgments.deepest(measure.cutoff))
    depth = len(slots) - 1 if measure.cutoff is None else min(measure.cutoff, len(slots) - 1)
    return _slots.ideal(labels, gains, judgments.offsets, slots, depth)


@lru_cache(maxsize=256)
def _gains_to(measure: Measure, highest: int) -> tuple[Values, float]:
    """Return the gain of each label from 0 to `highest`, and the gain of `highest`."""
    gains: Values = GAIN.weigh(measure, np.arange(highest + 1, dtype=np.int32))[0]
    return gains, float(gains[-1])


def ideal_gains(measure: Measure, judgments: Judgments) -> tuple[Values, Integers]:
    """Return the cumulative sums of the relevant documents' gains, highest first, and each query's first position."""
    labels, table = judgments.values, measure["gains"]
    gains = _in_table(labels, table) if isinstance(table, Lookup) and table else labels
    return judgments.cumulated(np.where(labels >= float(measure["rel"]), gains, -np.inf))


def stops_of_grades(measure: Measure, judgments: Judgments) -> tuple[Values, Integers] | None:
    """Return the probabilities that a user stops, if labels are real numbers, for each label; otherwise None."""
    if judgments.grades is None:
        return None
    return stops_of(judgments.grades, measure), np.zeros(judgments.n_queries, dtype=np.int64)


def stops_of(grades: Grades, measure: Measure) -> Values:
    """Return the probability that a user stops for each label above 0."""
    return _slots.powers_minus_one(grades.values[1:]) / 2.0 ** int(measure["max_rel"])


def every_query(measure: Measure, judgments: Judgments) -> Values:
    """Return 1 for each query, so that the measure is defined for all of them."""
    return np.ones(judgments.n_queries)


# Divisors of the kernel's sum over the tie groups, computed from the totals and the numbers of retrieved documents.


def one(measure: Measure, total: Values, retrieved: Integers) -> float:
    """Return 1: the sum over the tie groups is already the value."""
    return 1.0


def by_total(measure: Measure, total: Values, retrieved: Integers) -> Values:
    """Return the totals as the divisors."""
    return total


def by_depth(measure: Measure, total: Values, retrieved: Integers) -> Values | float:
    """Return k, even for shorter lists; without a cut-off, the numbers of retrieved documents."""
    return np.maximum(retrieved, 1.0) if measure.cutoff is None else float(measure.cutoff)


def by_mean_of_depth_and_total(measure: Measure, total: Values, retrieved: Integers) -> Values:
    """Return (k + N) / 2. Hits divided by this number are the harmonic mean of precision and recall."""
    depth = retrieved if measure.cutoff is None else float(measure.cutoff)
    return (depth + total) / 2.0


def by_f(measure: Measure, total: Values, retrieved: Integers) -> Values:
    """Return (k + beta² N) / (1 + beta²). Hits divided by this number are the textbook's F."""
    depth = retrieved if measure.cutoff is None else float(measure.cutoff)
    square = float(measure["beta"]) ** 2
    return (depth + square * total) / (1.0 + square)


def by_depth_reached(measure: Measure, total: Values, retrieved: Integers) -> Values:
    """Return k, or the number of retrieved documents for shorter lists."""
    reached = np.maximum(retrieved, 1.0)
    return reached if measure.cutoff is None else np.minimum(reached, measure.cutoff)


def by_retrieved_or_total(measure: Measure, total: Values, retrieved: Integers) -> Values:
    """Return the number of retrieved documents; with the parameter `relative`, N if N is smaller."""
    return np.maximum(np.minimum(retrieved, total) if measure["relative"] else retrieved, 1.0)


def by_retrieved_times_total(measure: Measure, total: Values, retrieved: Integers) -> Values:
    """Return retrieved · N. Squared hits divided by this number are precision times recall."""
    return np.maximum(retrieved, 1.0) * total


def by_collection(measure: Measure, total: Values, known: Integers) -> Values:
    """Return the number of documents of the collection: the parameter `docs`, or the retrieved and judged documents."""
    docs = int(measure["docs"])
    most = int(known.max(initial=0, where=total > 0.0))
    if 0 < docs < most:
        raise InputError(
            f"docs of {measure}",
            f"must be the size of the collection, but a query has {most:,} retrieved or judged documents",
        )
    return np.full(len(known), float(docs)) if docs else known.astype(np.float64)


def by_nonrelevant(measure: Measure, total: Values, known: Integers) -> Values:
    """Return the number of nonrelevant documents of the collection, but at least 1."""
    return np.maximum(by_collection(measure, total, known) - total, 1.0)


def by_retrieved(measure: Measure, total: Values, retrieved: Integers) -> Integers:
    """Return the numbers of retrieved documents."""
    return retrieved


# Slot weights are the weights of ranks, stored as prefix sums: element j is the sum of the weights of the ranks 1 … j.
# Arrays for at most SMALL_DEPTH ranks stay in a cache. A longer array is shared as long as something uses it, and is
# then freed.

SMALL_DEPTH = 4096
_deep_weights: WeakValueDictionary[tuple[Any, ...], Values] = WeakValueDictionary()


def slot_weights(kind: Callable[..., Values], depth: int, *arguments: float) -> Values:
    """Return the prefix sums for at least `depth` ranks; `kind(*arguments, depth)` computes them."""
    if depth <= SMALL_DEPTH:
        return _small_slot_weights(kind, *arguments)
    weights = _deep_weights.get((kind, *arguments))
    if weights is None or len(weights) <= depth:
        # Round the depth up, so that calls with lists of similar length share the weights.
        step = min(1 << (depth - 1).bit_length(), 1 << 16)
        weights = kind(*arguments, -(-depth // step) * step)
        weights.setflags(write=False)
        _deep_weights[kind, *arguments] = weights
    return weights


@lru_cache(maxsize=64)
def _small_slot_weights(kind: Callable[..., Values], *arguments: float) -> Values:
    weights = kind(*arguments, SMALL_DEPTH)
    weights.setflags(write=False)
    return weights


def reciprocal_slots(measure: Measure, depth: int) -> Values:
    """Return the prefix sums of 1 / rank."""
    return slot_weights(_slots.harmonic, depth)


def logarithmic_slots(measure: Measure, depth: int) -> Values:
    """Return the prefix sums of 1 / log2(1 + rank)."""
    return slot_weights(_slots.logarithmic, depth)


def discounted_slots(measure: Measure, depth: int) -> Values:
    """Return the prefix sums of the discounts: 1 / log2(1 + rank), or what the parameter `discount` says."""
    return _small_discounted_slots(measure) if depth <= SMALL_DEPTH else _discounted_slots(measure, depth)


@lru_cache(maxsize=64)
def _small_discounted_slots(measure: Measure) -> Values:
    return _discounted_slots(measure, SMALL_DEPTH)


def _discounted_slots(measure: Measure, depth: int) -> Values:
    base = base_of_discount(measure)
    if base > 0.0:
        return slot_weights(_slots.late_logarithmic, depth, base)
    return slot_weights(_slots.harmonic if base < 0.0 else _slots.logarithmic, depth)


def base_of_discount(measure: Measure) -> float:
    """Return the number by which a kernel knows the discount: the base of "log", -1 for "1/rank", 0 for "log2"."""
    base = float(measure["base"])
    if measure["discount"] == "log":
        return base
    if base != measure.definition.parameters["base"].default:
        raise InputError(f"base of {measure.name}", "is the base of discount='log'; give both, or neither")
    return -1.0 if measure["discount"] == "1/rank" else 0.0


def patient_slots(measure: Measure, depth: int) -> Values:
    """Return the prefix sums of (1 - p) p^(rank - 1)."""
    return slot_weights(_slots.geometric, depth, float(measure["p"]))


def stops(measure: Measure, depth: int) -> Values:
    """Return the probability that a user stops, (2^grade - 1) / 2^max_rel, for each grade; these are no prefix sums."""
    highest = int(measure["max_rel"])
    probabilities: Values = (np.ldexp(1.0, np.arange(1, highest + 1)) - 1.0) / 2.0**highest
    return probabilities


# Conditions on measures.


def has_cutoff(measure: Measure) -> bool:
    """Return whether the measure has a cut-off."""
    return measure.cutoff is not None


def always(measure: Measure) -> bool:
    """Return True: the condition holds for all measures of the family."""
    return True


def with_pool(measure: Measure) -> bool:
    """Return the parameter `pool`: whether documents that are pooled but not judged have a weight."""
    return bool(measure["pool"])


# Functions of Compat, the rank-biased overlap of a ranking with its best ideal ranking.

# Depths at which the weight of a depth is below this share of the first one's do not count.
_NEGLIGIBLE = 1e-20


def _ideal_grades(labels: Labels | Values) -> Values:
    """Return one row for each grade, with 1 for documents of the grade and 0 for all others.

    Grades are the labels from 1 to the highest. If labels are real numbers, they are the labels above 0 that occur.
    """
    if labels.dtype != np.int32:
        grades: Labels | Values = labels[labels > 0.0]
    elif labels.max(initial=0) > MOST_GRADES:
        raise unexpected("labels", f"at most {MOST_GRADES}", f"{labels.max()}")
    else:
        grades = np.arange(1, max(labels.max(initial=0), 1) + 1)
    if len(grades) > MOST_GRADES:
        raise too_many_grades(len(grades))
    # A kernel needs a row, even if no document has a grade.
    rows: Values = (labels == (grades if len(grades) else np.ones(1))[:, None]).astype(np.float64)
    return rows


IDEAL_GRADES = Weighting(_ideal_grades)


def ideal_counts(measure: Measure, judgments: Judgments) -> tuple[Values, Integers]:
    """Return, for each query, the number h of grades, and how many documents have at least grade number 1, 2 … h.

    Also returns int64[n_queries], the position at which the numbers of each query start.
    """
    if judgments.grades is None:
        grades = np.arange(1.0, min(max(int(judgments.labels.max(initial=0)), 0), MOST_GRADES) + 1)
    else:
        grades = judgments.grades.values[1 : MOST_GRADES + 1]
    rows = np.empty((judgments.n_queries, len(grades) + 1))
    rows[:, 0] = len(grades)
    for number, grade in enumerate(grades.tolist(), 1):
        rows[:, number] = judgments.count(grade)
    return rows.ravel(), np.arange(judgments.n_queries, dtype=np.int64) * (len(grades) + 1)


def by_ideal(measure: Measure, total: Values, retrieved: Integers) -> Values:
    """Return Σ_d p^(d-1) min(d, N)/d, the ideal's overlap with itself; without `normalize`, Σ_d p^(d-1).

    Both sums go to the greater of N, the number of ideal documents, and the number of retrieved documents.
    """
    ends = np.maximum(total, retrieved).astype(np.int64)
    weights, by_rank = _overlap_sums(float(measure["p"]), int(ends.max(initial=0)))
    last = len(weights) - 1
    ends, N = np.minimum(ends, last), total.astype(np.int64)
    if not measure["normalize"]:
        return weights[ends]
    within = np.minimum(N, last)
    norms: Values = weights[within] + N * (by_rank[ends] - by_rank[within])
    return norms


@lru_cache(maxsize=16)
def _overlap_sums(p: float, depth: int) -> tuple[Values, Values]:
    """Return the prefix sums, from 0, of p^(d-1) and of p^(d-1)/d for the depths that count, up to a depth."""
    reach = depth if p**depth > _NEGLIGIBLE else min(depth, int(np.ceil(np.log(_NEGLIGIBLE) / np.log(p))))
    powers = np.concatenate(([1.0], np.multiply.accumulate(np.full(max(reach - 1, 0), p))))[:reach]
    return tuple(  # type: ignore[return-value]
        np.concatenate(([0.0], np.cumsum(values))) for values in (powers, powers / np.arange(1, reach + 1))
    )
