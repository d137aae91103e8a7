"""What definitions are made of: what a document is worth, what all of a query are, divisors, and slot weights."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Integers, Labels, Values
from tieaware.kernels import _labels, _slots
from tieaware.lists.judgments import POOLED, Judgments
from tieaware.measures.definition import LEAST_INEXACT, Measure, Weighting, check_exact

# Up to here, labels are weighed whether they occur or not, so that lists with the same highest one share a table.
HIGHEST_IN_TABLE = 255

# What a document is worth.


def _relevance(labels: Labels, rel: int) -> Values:
    """1 for a label of at least ``rel``, else 0."""
    return (labels >= rel).astype(np.float64)


def _gain(labels: Labels, dcg: str) -> Values:
    """The label, or 2^label - 1; 0 for labels below 1."""
    if dcg == "log2":
        gains: Values = np.maximum(labels, 0.0)
        return gains
    positive = np.maximum(labels, 0)
    if positive.max(initial=0) > 52:
        raise unexpected("labels", "at most 52, for the gain 2^label - 1", f"{positive.max()}")
    return np.ldexp(1.0, positive) - 1.0


def _judged(labels: Labels) -> Values:
    """1: every judged document counts."""
    return (labels >= 0).astype(np.float64)


def _judged_or_pooled(labels: Labels, pool: bool) -> Values:
    """1 for a judged document, and with the pool also for one that is in it."""
    return ((labels >= 0) | ((labels <= POOLED) & pool)).astype(np.float64)


def _preferred(labels: Labels, rel: int) -> Values:
    """Whether it is relevant, and whether it is judged nonrelevant: two rows."""
    relevant = _relevance(labels, rel)
    return np.stack([relevant, _judged(labels) - relevant])


def _pooled(labels: Labels, rel: int, judged_only: bool) -> Values:
    """Whether it is relevant, judged nonrelevant, or in the pool and not judged: three rows."""
    return np.stack([*_preferred(labels, rel), (labels <= POOLED) & (not judged_only)])


def _relevance_and_gain(labels: Labels, rel: int) -> Values:
    """Whether it is relevant, the label if it is, and the label's square: three rows."""
    relevant = _relevance(labels, rel)
    gains = relevant * labels
    return np.stack([relevant, gains, gains * gains])


def _grades(labels: Labels, max_rel: int) -> Values:
    """Whether it has grade 1, grade 2 … grade max_rel: as many rows."""
    if labels.max(initial=0) > max_rel:
        raise unexpected("labels", f"at most max_rel={max_rel}", f"{labels.max()}")
    rows: Values = (labels == np.arange(1, max_rel + 1)[:, None]).astype(np.float64)
    return rows


def _nothing(labels: Labels) -> Values:
    """0: the measure does not look at the documents."""
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


# What all judged documents of a query are worth.


def relevant_documents(measure: Measure, judgments: Judgments) -> Values:
    """N, the number of relevant documents, retrieved or not."""
    return judgments.count(int(measure["rel"]))


def positive_documents(measure: Measure, judgments: Judgments) -> Values:
    """The number of documents with a gain."""
    return judgments.count(1)


def nonrelevant_of_relevant(measure: Measure, judgments: Judgments) -> Values:
    """M: the judged nonrelevant documents, but no more than there are relevant ones."""
    relevant = relevant_documents(measure, judgments)
    return np.minimum(judgments.count(0) - relevant, relevant)


def ideal_gain(measure: Measure, judgments: Judgments) -> Values:
    """The discounted gain of the judged documents in the best order, within the cut-off."""
    labels = judgments.labels
    highest = _labels.highest(labels)
    if highest <= HIGHEST_IN_TABLE:
        gains = _gains_to(measure, highest)
    if highest > HIGHEST_IN_TABLE or gains[-1] * len(labels) >= LEAST_INEXACT:
        # Each document has a gain of its own.
        check_exact(measure, GAIN.weigh(measure, labels))
        gains, labels = GAIN.weigh(measure, labels)[0], np.arange(len(labels), dtype=np.int32)
    slots = discounted_slots(measure, judgments.deepest(measure.cutoff))
    depth = len(slots) - 1 if measure.cutoff is None else min(measure.cutoff, len(slots) - 1)
    return _slots.ideal(labels, gains, judgments.offsets, slots, depth)


@lru_cache(maxsize=256)
def _gains_to(measure: Measure, highest: int) -> Values:
    """Return the gains of the labels from 0 to the highest."""
    gains: Values = GAIN.weigh(measure, np.arange(highest + 1, dtype=np.int32))[0]
    return gains


def ideal_labels(measure: Measure, judgments: Judgments) -> tuple[Values, Integers]:
    """The cumulated labels of the relevant documents in the best order, and where each query's start."""
    return judgments.cumulated(np.where(judgments.labels >= int(measure["rel"]), judgments.labels, -np.inf))


def every_query(measure: Measure, judgments: Judgments) -> Values:
    """1: the measure is defined for every query."""
    return np.ones(judgments.n_queries)


# What the sum over the groups is divided by, from the total and the number of retrieved documents.


def one(measure: Measure, total: Values, retrieved: Integers) -> float:
    """Nothing: the sum is the value."""
    return 1.0


def by_total(measure: Measure, total: Values, retrieved: Integers) -> Values:
    """The total."""
    return total


def by_depth(measure: Measure, total: Values, retrieved: Integers) -> Values | float:
    """k, even where the list is shorter; without a cut-off, the number of retrieved documents."""
    return np.maximum(retrieved, 1.0) if measure.cutoff is None else float(measure.cutoff)


def by_mean_of_depth_and_total(measure: Measure, total: Values, retrieved: Integers) -> Values:
    """(k + N) / 2, so that hits divided by it are the harmonic mean of precision and recall."""
    depth = retrieved if measure.cutoff is None else float(measure.cutoff)
    return (depth + total) / 2.0


def by_depth_reached(measure: Measure, total: Values, retrieved: Integers) -> Values:
    """k, or the length of a shorter list."""
    reached = np.maximum(retrieved, 1.0)
    return reached if measure.cutoff is None else np.minimum(reached, measure.cutoff)


def by_retrieved_or_total(measure: Measure, total: Values, retrieved: Integers) -> Values:
    """The number of retrieved documents; with ``relative``, no more than there are relevant ones."""
    return np.maximum(np.minimum(retrieved, total) if measure["relative"] else retrieved, 1.0)


def by_weighted_mean(measure: Measure, total: Values, retrieved: Integers) -> Values:
    """(retrieved + beta N) / (1 + beta), so that hits divided by it are the weighted harmonic mean."""
    beta = float(measure["beta"])
    return (retrieved + beta * total) / (1.0 + beta)


def by_retrieved_times_total(measure: Measure, total: Values, retrieved: Integers) -> Values:
    """The product of both, so that squared hits divided by it are precision times recall."""
    return np.maximum(retrieved, 1.0) * total


def by_retrieved(measure: Measure, total: Values, retrieved: Integers) -> Integers:
    """The number of retrieved documents."""
    return retrieved


# The slot weights. A small table is kept for good; a larger one, which serves all that look no deeper, as long as
# somebody holds it.

SMALL_DEPTH = 4096
_tables: WeakValueDictionary[tuple[Any, ...], Values] = WeakValueDictionary()


def _table(kind: Callable[..., Values], depth: int, *arguments: float) -> Values:
    if depth <= SMALL_DEPTH:
        return _small_table(kind, *arguments)
    table = _tables.get((kind, *arguments))
    if table is None or len(table) <= depth:
        # Rounded up, so that calls with similar lists share a table.
        step = min(1 << (depth - 1).bit_length(), 1 << 16)
        table = kind(*arguments, -(-depth // step) * step)
        table.setflags(write=False)
        _tables[kind, *arguments] = table
    return table


@lru_cache(maxsize=64)
def _small_table(kind: Callable[..., Values], *arguments: float) -> Values:
    table = kind(*arguments, SMALL_DEPTH)
    table.setflags(write=False)
    return table


def reciprocal_slots(measure: Measure, depth: int) -> Values:
    """Prefix sums of 1 / rank."""
    return _table(_slots.harmonic, depth)


def discounted_slots(measure: Measure, depth: int) -> Values:
    """Prefix sums of 1 / log2(1 + rank)."""
    return _table(_slots.logarithmic, depth)


def patient_slots(measure: Measure, depth: int) -> Values:
    """Prefix sums of (1 - p) p^(rank - 1)."""
    return _table(_slots.geometric, depth, float(measure["p"]))


def stops(measure: Measure, depth: int) -> Values:
    """For each grade, the probability that it makes the user stop: (2^grade - 1) / 2^max_rel. No prefix sums."""
    highest = int(measure["max_rel"])
    probabilities: Values = (np.ldexp(1.0, np.arange(1, highest + 1)) - 1.0) / 2.0**highest
    return probabilities


# Which orders of tied documents are the best and the worst.


def has_cutoff(measure: Measure) -> bool:
    """Not those by label, where the measure has a cut-off."""
    return measure.cutoff is not None


# Which measures look at documents that are pooled and not judged.


def always(measure: Measure) -> bool:
    """All of the family."""
    return True


def with_pool(measure: Measure) -> bool:
    """Those that are asked to."""
    return bool(measure["pool"])
