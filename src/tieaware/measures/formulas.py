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
from tieaware.lists.judgments import POOLED, Judgments
from tieaware.measures.definition import LEAST_INEXACT, Measure, Weighting, check_exact

# If no label is above this one, the weight of every label from 0 to the highest is computed, even of labels that do not
# occur. Lists with the same highest label then share these weights.
HIGHEST_IN_LOOKUP = 255

# Weights of documents, by their labels.


def _relevance(labels: Labels, rel: int) -> Values:
    """Return 1 for labels of at least `rel`, and 0 for others."""
    return (labels >= rel).astype(np.float64)


def _gain(labels: Labels, dcg: str) -> Values:
    """Return the label, or 2^label - 1 if `dcg` is "exp-log2"; labels below 1 have gain 0."""
    if dcg == "log2":
        gains: Values = np.maximum(labels, 0.0)
        return gains
    positive = np.maximum(labels, 0)
    if positive.max(initial=0) > 52:
        raise unexpected("labels", "at most 52, for the gain 2^label - 1", f"{positive.max()}")
    return np.ldexp(1.0, positive) - 1.0


def _judged(labels: Labels) -> Values:
    """Return 1 for judged documents, and 0 for others."""
    return (labels >= 0).astype(np.float64)


def _judged_or_pooled(labels: Labels, pool: bool) -> Values:
    """Return 1 for judged documents, with `pool` also for documents that are pooled but not judged; 0 for others."""
    return ((labels >= 0) | ((labels <= POOLED) & pool)).astype(np.float64)


def _preferred(labels: Labels, rel: int) -> Values:
    """Return two rows of 0 or 1: whether each document is relevant, and whether it is judged nonrelevant."""
    relevant = _relevance(labels, rel)
    return np.stack([relevant, _judged(labels) - relevant])


def _pooled(labels: Labels, rel: int, judged_only: bool) -> Values:
    """Return three rows of 0 or 1: whether each document is relevant, judged nonrelevant, or pooled but unjudged."""
    return np.stack([*_preferred(labels, rel), (labels <= POOLED) & (not judged_only)])


def _relevance_and_gain(labels: Labels, rel: int) -> Values:
    """Return three rows: 1, the label and the squared label for relevant documents; 0 in all rows for others."""
    relevant = _relevance(labels, rel)
    gains = relevant * labels
    return np.stack([relevant, gains, gains * gains])


def _grades(labels: Labels, max_rel: int) -> Values:
    """Return one row for each grade 1 … max_rel, with 1 for documents with that label and 0 for all others."""
    if labels.max(initial=0) > max_rel:
        raise unexpected("labels", f"at most max_rel={max_rel}", f"{labels.max()}")
    rows: Values = (labels == np.arange(1, max_rel + 1)[:, None]).astype(np.float64)
    return rows


def _nothing(labels: Labels) -> Values:
    """Return 0 for all documents: the measure does not depend on them."""
    return np.zeros(labels.shape)


RELEVANCE = Weighting(_relevance, ("rel",))
GAIN = Weighting(_gain, ("dcg",))
JUDGED = Weighting(_judged)
JUDGED_OR_POOLED = Weighting(_judged_or_pooled, ("pool",))
PREFERRED = Weighting(_preferred, ("rel",))
POOLED_OR_JUDGED = Weighting(_pooled, ("rel", "judged_only"))
RELEVANCE_AND_GAIN = Weighting(_relevance_and_gain, ("rel",))
GRADES = Weighting(_grades, ("max_rel",))
NOTHING = Weighting(_nothing)


# Totals of queries, and other numbers of each query that kernels read.


def relevant_documents(measure: Measure, judgments: Judgments) -> Values:
    """Return N for each query: the number of relevant documents, retrieved or not."""
    return judgments.count(int(measure["rel"]))


def positive_documents(measure: Measure, judgments: Judgments) -> Values:
    """Return the number of documents with a label above 0, for each query."""
    return judgments.count(1)


def nonrelevant_of_relevant(measure: Measure, judgments: Judgments) -> Values:
    """Return M for each query: the number of judged nonrelevant documents, or N if N is smaller."""
    relevant = relevant_documents(measure, judgments)
    return np.minimum(judgments.count(0) - relevant, relevant)


def ideal_gain(measure: Measure, judgments: Judgments) -> Values:
    """Return the largest possible DCG of each query: that of its judged documents in the best order."""
    labels = judgments.labels
    highest = _labels.highest(labels)
    if highest <= HIGHEST_IN_LOOKUP:
        gains = _gains_to(measure, highest)
    if highest > HIGHEST_IN_LOOKUP or gains[-1] * len(labels) >= LEAST_INEXACT:
        # Compute one gain for each document instead of one for each label.
        check_exact(measure, GAIN.weigh(measure, labels))
        gains, labels = GAIN.weigh(measure, labels)[0], np.arange(len(labels), dtype=np.int32)
    slots = discounted_slots(measure, judgments.deepest(measure.cutoff))
    depth = len(slots) - 1 if measure.cutoff is None else min(measure.cutoff, len(slots) - 1)
    return _slots.ideal(labels, gains, judgments.offsets, slots, depth)


@lru_cache(maxsize=256)
def _gains_to(measure: Measure, highest: int) -> Values:
    """Return the gain of each label from 0 to `highest`."""
    gains: Values = GAIN.weigh(measure, np.arange(highest + 1, dtype=np.int32))[0]
    return gains


def ideal_labels(measure: Measure, judgments: Judgments) -> tuple[Values, Integers]:
    """Return the cumulative sums of the relevant documents' labels, highest first, and each query's first position."""
    return judgments.cumulated(np.where(judgments.labels >= int(measure["rel"]), judgments.labels, -np.inf))


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


def by_weighted_mean(measure: Measure, total: Values, retrieved: Integers) -> Values:
    """Return (retrieved + beta N) / (1 + beta). Hits divided by this number are the weighted harmonic mean."""
    beta = float(measure["beta"])
    return (retrieved + beta * total) / (1.0 + beta)


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


def discounted_slots(measure: Measure, depth: int) -> Values:
    """Return the prefix sums of 1 / log2(1 + rank)."""
    return slot_weights(_slots.logarithmic, depth)


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
