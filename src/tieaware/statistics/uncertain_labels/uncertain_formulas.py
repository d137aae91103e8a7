"""The choice of a formula for each measure: the exact moments of its value if labels are uncertain."""

from __future__ import annotations

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.engine.totals import Totals
from tieaware.engine.weights import NO_CUTOFF
from tieaware.kernels import _slots
from tieaware.lists.grades import GradedLabels
from tieaware.lists.judgments import Judgments
from tieaware.measures import Measure
from tieaware.measures.formulas import by_depth, by_depth_reached, one, stops
from tieaware.statistics.uncertain_labels import uncertain_counts, uncertain_ideals, uncertain_stops
from tieaware.statistics.uncertain_labels.uncertain_lists import Moments, UncertainList
from tieaware.statistics.uncertain_labels.uncertain_sums import weighted_sum

# The kernels of sums of gains times slot weights, whose divisor depends on no label.
_SUMS = ("discounted", "patience", "inverse_squares")
# The kernels of measures of the numbers of relevant documents in the tie groups.
_OF_RELEVANCE = ("hits", "average_precision", "reciprocal_rank", "success")
# The divisors of hits that depend on no label.
_OF_LENGTH = (one, by_depth, by_depth_reached)
# A formula that takes more steps than this, and as much memory, is not used. The steps of ERR need less memory, and
# compete with samples that take longer.
_MOST_STEPS = 2e7
_MOST_STEPS_OF_ERR = 1e9


def check_grades(measures: tuple[Measure, ...], grades: Values) -> None:
    """Raise InputError if a measure cannot be used with these labels."""
    numbers, real = GradedLabels.read(grades, "grades")
    judgments = Judgments(numbers.astype(np.int32), np.array([0, len(numbers)]), grades=real)
    Totals.of(measures, judgments)
    for measure in measures:
        measure.definition.weighting.weigh(measure, judgments.values, real)


def by_formula(listed: UncertainList, measure: Measure) -> Moments | None:
    """Return the exact moments of a measure; None if there is no formula, or it takes too long for the list."""
    kernel, norm = measure.definition.kernel, measure.definition.norm
    is_err = kernel == "cascade" and measure.definition.slots is stops
    if not is_err and kernel not in (*_SUMS, *_OF_RELEVANCE, "discounted_to_ideal"):
        return None
    listed = listed.judged_only if measure.judged_only else listed
    if not listed.n:
        return Moments()
    if is_err:
        return _expected_reciprocal_rank(listed, measure)
    if kernel in _SUMS or (kernel == "hits" and norm in _OF_LENGTH):
        divisor = np.broadcast_to(norm(measure, np.ones(1), np.array([listed.n])), 1)[0]
        return weighted_sum(listed, _weights(measure, listed) / divisor, _slots_of(measure, listed.n))
    if kernel == "discounted_to_ideal":
        return _normalised(listed, measure)
    return _of_relevance(listed, measure, _weights(measure, listed))


def _weights(measure: Measure, listed: UncertainList) -> Values:
    """Return the weight of a document of each grade."""
    grades = listed.grades if (listed.grades != np.floor(listed.grades)).any() else listed.grades.astype(np.int32)
    weights: Values = measure.definition.weighting.weigh(measure, grades)[0]
    return weights


def _slots_of(measure: Measure, n: int) -> Values:
    """Return the weights of the first n ranks: float64[n]."""
    depth = min(n, NO_CUTOFF if measure.cutoff is None else measure.cutoff)
    slots = np.zeros(n)
    if measure.definition.kernel in ("average_precision", "reciprocal_rank"):
        slots[:depth] = 1.0 / np.arange(1.0, depth + 1.0)
    elif measure.definition.slots is None:
        slots[:depth] = 1.0
    else:
        sums = measure.definition.slots(measure, depth)[: depth + 1]
        slots[:depth] = (sums[1:, 0] - sums[:-1, 0]) + (sums[1:, 1] - sums[:-1, 1])
    return slots


def _of_relevance(listed: UncertainList, measure: Measure, relevant: Values) -> Moments | None:
    """Return the moments of a measure of the numbers of relevant documents in the tie groups."""
    most = uncertain_counts.most_relevant(listed, relevant)
    if float(most) * max(listed.n, most) > _MOST_STEPS:
        return None
    slots, kernel = _slots_of(measure, listed.n), measure.definition.kernel
    if kernel in ("reciprocal_rank", "success"):
        return uncertain_counts.first_relevant(listed, relevant, slots)
    if kernel == "discounted_to_ideal":
        divisors = np.concatenate(([0.0], np.cumsum(_slots_of(measure, most))))
    else:
        totals = np.arange(most + 1.0)
        divisors = np.broadcast_to(measure.definition.norm(measure, totals, np.full(most + 1, listed.n)), most + 1)
    precision = kernel == "average_precision"
    part = uncertain_counts.average_precision_part if precision else uncertain_counts.weighted_part
    return uncertain_counts.sum_over_groups(listed, relevant, slots, part, divisors)


def _normalised(listed: UncertainList, measure: Measure) -> Moments | None:
    """Return the moments of nDCG. With one gain above 0, the ideal depends on the number of relevant documents only."""
    gains = _weights(measure, listed)
    if len(np.unique(gains[gains > 0.0])) == 1:
        return _of_relevance(listed, measure, (gains > 0.0).astype(np.float64))
    n = listed.n + len(listed.unretrieved)
    depth = n if measure.cutoff is None else min(measure.cutoff, n)
    if uncertain_ideals.cost(listed, gains, depth) > _MOST_STEPS:
        return None
    return uncertain_ideals.normalised_sum(listed, gains, _slots_of(measure, n), depth)


def _expected_reciprocal_rank(listed: UncertainList, measure: Measure) -> Moments | None:
    """Return the moments of ERR. A user stops at a grade with the probability (2^grade - 1) / 2^max_rel."""
    chances = _slots.powers_minus_one(listed.grades) / 2.0 ** int(measure["max_rel"])
    if uncertain_stops.cost(listed, chances, measure.cutoff) > _MOST_STEPS_OF_ERR:
        return None
    return uncertain_stops.expected_reciprocal_rank(listed, chances, measure.cutoff)
