"""The values of a list for many assignments of labels: for all of them, or for a random sample.

The values of each assignment are exact under ties: only labels are enumerated or sampled, never orders.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tieaware.checks.arrays import Integers, Labels, Values
from tieaware.engine.prepared import prepare
from tieaware.engine.totals import Totals
from tieaware.engine.views import View, passes
from tieaware.engine.weights import also_weighted
from tieaware.lists.grades import GradedLabels, Grades
from tieaware.lists.judgments import JudgedLists, Judgments
from tieaware.measures import Measure
from tieaware.statistics.uncertain_labels.uncertain_lists import Moments, UncertainList

(_SPREAD,) = passes([View("average", spread=True)])
# The number of labels that are evaluated at a time.
_AT_ONCE = 1 << 20


def enumerated(listed: UncertainList, measures: tuple[Measure, ...]) -> list[Moments]:
    """Return the moments of each measure over all assignments of labels, weighted by their probabilities."""
    every = np.concatenate((listed.probabilities, listed.unretrieved))
    supports = [np.flatnonzero(row) for row in every]
    weights, values, deviations = [], [], []
    for first, last in _ranges(int(listed.n_assignments), len(every)):
        rest = np.arange(first, last)
        columns = np.full((last - first, len(every)), -1, np.int64)
        weight = np.ones(last - first)
        for document, support in enumerate(supports):
            if len(support):
                columns[:, document] = support[rest % len(support)]
                rest = rest // len(support)
                weight *= every[document, columns[:, document]]
        weights.append(weight)
        mean, std = _evaluated(listed, columns, measures)
        values.append(mean)
        deviations.append(std)
    return _summarised(np.concatenate(weights), np.concatenate(values), np.concatenate(deviations))


def sampled(listed: UncertainList, measures: tuple[Measure, ...], samples: int, seed: list[int]) -> list[Moments]:
    """Return the moments of each measure over a random sample of assignments, with the standard errors of the means."""
    rng = np.random.default_rng(seed)
    every = np.concatenate((listed.probabilities, listed.unretrieved))
    unjudged = ~every.any(axis=1)
    # The last grade of a document ends at infinity: rounded sums of probabilities may be below a random number.
    ends = np.cumsum(every, axis=1)
    ends[np.arange(every.shape[1]) >= every.shape[1] - 1 - (every[:, ::-1] > 0.0).argmax(axis=1)[:, None]] = np.inf
    values, deviations = [], []
    for first, last in _ranges(samples, len(every)):
        drawn = rng.random((last - first, len(every)))
        columns = np.zeros(drawn.shape, np.int64)
        for end in ends.T[:-1]:
            columns += drawn >= end
        columns[:, unjudged] = -1
        mean, std = _evaluated(listed, columns, measures)
        values.append(mean)
        deviations.append(std)
    found = _summarised(np.full(samples, 1.0 / samples), np.concatenate(values), np.concatenate(deviations))
    # The divisor of a sample variance is n - 1.
    unbiased = [each.of_labels * samples / (samples - 1) for each in found]
    return [
        Moments(each.mean, variance, each.of_ties, float(np.sqrt(variance / samples)))
        for each, variance in zip(found, unbiased, strict=True)
    ]


def _ranges(n: int, n_documents: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of assignments that are evaluated at a time."""
    at_once = max(1, _AT_ONCE // max(1, n_documents))
    for first in range(0, n, at_once):
        yield first, min(first + at_once, n)


def _summarised(weights: Values, values: Values, deviations: Values) -> list[Moments]:
    """Return the moments of each measure, from the value and the standard deviation of each assignment."""
    mean = (weights[:, None] * values).sum(axis=0)
    of_labels = (weights[:, None] * (values - mean) ** 2).sum(axis=0)
    of_ties = (weights[:, None] * deviations**2).sum(axis=0)
    return [Moments(*each) for each in zip(mean.tolist(), of_labels.tolist(), of_ties.tolist(), strict=True)]


def _evaluated(
    listed: UncertainList, columns: Integers, measures: tuple[Measure, ...]
) -> tuple[Values, Values]:  # fmt: skip
    """Return the mean and the standard deviation over the orders, for each assignment: float64[n, n_measures].

    `columns` has the column of the grade of each document, and -1 for unjudged ones; those of the list come first.
    """
    n_assignments = len(columns)
    read = GradedLabels.read(listed.grades, "grades")
    numbers = np.where(columns < 0, -1, read.labels[columns]).astype(np.int32)
    lists = JudgedLists.of_labels(
        np.ascontiguousarray(numbers[:, : listed.n]), np.arange(n_assignments + 1) * listed.n,
        **also_weighted(measures), grades=read.grades,
    )  # fmt: skip
    judgments = _judgments(numbers, read.grades)
    output = np.empty((4, n_assignments, len(measures)))
    prepared = prepare(measures, lists, Totals.of(measures, judgments), _SPREAD).sharing_scores()
    prepared.evaluate(listed.scores, output)
    return output[0], output[1]


def _judgments(numbers: Labels, grades: Grades | None) -> Judgments:
    """Return all labels of each assignment, of the list and of unretrieved documents, as judgments of a query."""
    judged = numbers >= 0
    offsets = np.concatenate(([0], np.cumsum(np.count_nonzero(judged, axis=1)))).astype(np.int64)
    # An assignment may have low labels only: that is no mistake in the parameter `rel`.
    return Judgments(np.ascontiguousarray(numbers[judged], np.int32), offsets, grades=grades, is_part=True)
