"""The mean and standard deviation of measures if both the labels and the order of tied documents are uncertain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import checked_seed, whole_number
from tieaware.checks.arrays import Integers, Labels, Values
from tieaware.engine.prepared import prepare
from tieaware.engine.totals import Totals
from tieaware.engine.views import View, passes
from tieaware.engine.weights import NO_CUTOFF, also_weighted
from tieaware.errors import InputError
from tieaware.kernels import _slots
from tieaware.lists.grades import GradedLabels, Grades
from tieaware.lists.judgments import JudgedLists, Judgments
from tieaware.measures import Measure, named_measures
from tieaware.measures.formulas import by_depth, by_depth_reached, one, stops
from tieaware.output.tables import Table, counted, significant
from tieaware.statistics.uncertain_labels.grade_probabilities import UncertainLists, of_arrays, of_dicts
from tieaware.statistics.uncertain_labels.ideal_gains import cost_of_ideals, normalised_sum
from tieaware.statistics.uncertain_labels.relevance_counts import (
    average_precision_part,
    first_relevant,
    most_relevant,
    sum_over_groups,
    weighted_part,
)
from tieaware.statistics.uncertain_labels.uncertain_lists import Moments, UncertainList, weighted_sum
from tieaware.statistics.uncertain_labels.user_stops import cost_of_stops, expected_reciprocal_rank

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
    is_err = kernel == "cascade" and measure.definition.inputs.slots is stops
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
    elif measure.definition.inputs.slots is None:
        slots[:depth] = 1.0
    else:
        sums = measure.definition.inputs.slots(measure, depth)[: depth + 1]
        slots[:depth] = (sums[1:, 0] - sums[:-1, 0]) + (sums[1:, 1] - sums[:-1, 1])
    return slots


def _of_relevance(listed: UncertainList, measure: Measure, relevant: Values) -> Moments | None:
    """Return the moments of a measure of the numbers of relevant documents in the tie groups."""
    most = most_relevant(listed, relevant)
    if float(most) * max(listed.n, most) > _MOST_STEPS:
        return None
    slots, kernel = _slots_of(measure, listed.n), measure.definition.kernel
    if kernel in ("reciprocal_rank", "success"):
        return first_relevant(listed, relevant, slots)
    if kernel == "discounted_to_ideal":
        divisors = np.concatenate(([0.0], np.cumsum(_slots_of(measure, most))))
    else:
        totals = np.arange(most + 1.0)
        divisors = np.broadcast_to(measure.definition.norm(measure, totals, np.full(most + 1, listed.n)), most + 1)
    precision = kernel == "average_precision"
    part = average_precision_part if precision else weighted_part
    return sum_over_groups(listed, relevant, slots, part, divisors)


def _normalised(listed: UncertainList, measure: Measure) -> Moments | None:
    """Return the moments of nDCG. With one gain above 0, the ideal depends on the number of relevant documents only."""
    gains = _weights(measure, listed)
    if len(np.unique(gains[gains > 0.0])) == 1:
        return _of_relevance(listed, measure, (gains > 0.0).astype(np.float64))
    n = listed.n + len(listed.unretrieved)
    depth = n if measure.cutoff is None else min(measure.cutoff, n)
    if cost_of_ideals(listed, gains, depth) > _MOST_STEPS:
        return None
    return normalised_sum(listed, gains, _slots_of(measure, n), depth)


def _expected_reciprocal_rank(listed: UncertainList, measure: Measure) -> Moments | None:
    """Return the moments of ERR. A user stops at a grade with the probability (2^grade - 1) / 2^max_rel."""
    chances = _slots.powers_minus_one(listed.grades) / 2.0 ** int(measure["max_rel"])
    if cost_of_stops(listed, chances, measure.cutoff) > _MOST_STEPS_OF_ERR:
        return None
    return expected_reciprocal_rank(listed, chances, measure.cutoff)


# The most assignments of labels to a list that are enumerated.
_MOST_ENUMERATED = 4096

HowComputed: TypeAlias = Literal["formula", "enumeration", "sampling"]


@dataclass(frozen=True, eq=False)
class UncertainValues:
    """The values of measures for lists whose labels are uncertain.

    Attributes
    ----------
    names : tuple of str
        The names of the measures.
    queries : tuple of str or of int
        The queries; 0, 1, … for arrays.
    mean : float64[n_queries, n_measures]
        The mean over the labels and the orders of tied documents.
    std : float64[n_queries, n_measures]
        The standard deviation over both: std² = std_of_labels² + std_of_ties².
    std_of_labels : float64[n_queries, n_measures]
        The standard deviation, over the labels, of the mean over the orders.
    std_of_ties : float64[n_queries, n_measures]
        The root of the mean, over the labels, of the variance over the orders. NaN for infAP.
    error : float64[n_queries, n_measures]
        The standard error of the mean: 0 unless labels were sampled.
    method : array of str, shape (n_queries, n_measures)
        How each value was computed: "formula" and "enumeration" of all labels are exact, "sampling" of labels is not.

    Examples
    --------
    >>> from tieaware import statistics
    >>> found = statistics.with_uncertain_labels([2.0, 1.0, 1.0], [[0.5, 0.5], [0, 1], [1, 0]], "RR")
    >>> found
    UncertainValues(RR: 0.708 ± 0.298)
    >>> found.std_of_labels.round(4), found.std_of_ties.round(4)
    (array([[0.2917]]), array([[0.0589]]))
    """

    names: tuple[str, ...]
    queries: tuple[str | int, ...]
    mean: Values
    std: Values
    std_of_labels: Values
    std_of_ties: Values
    error: Values
    method: npt.NDArray[np.str_]

    def table(self) -> Table:
        """Return a table of the means over the queries, with a row for each measure.

        The labels of different queries are independent, so the variances of the values of the queries add up. The
        standard deviation says how much the mean of these queries could change, and not how much other queries would
        differ.

        Returns
        -------
        Table
        """
        n = len(self.queries)
        columns = ("measure", "mean", "std", "std of labels", "std of ties", "standard error", "computed")
        rows: list[tuple[str | float | None, ...]] = []
        for j, name in enumerate(self.names):
            parts = self.std, self.std_of_labels, self.std_of_ties, self.error
            of_mean = [float(np.sqrt((each[:, j] ** 2).sum())) / n if n else None for each in parts]
            is_sampled = bool((self.method[:, j] == "sampling").any())
            mean = float(self.mean[:, j].mean()) if n else None
            rows.append((name, mean, *of_mean[:3], of_mean[3] or None, "sampled" if is_sampled else "exact"))
        return Table(f"Means over {counted(n, 'query', 'queries')}, labels uncertain, ties averaged", columns, rows)

    def __repr__(self) -> str:
        if not self.queries:
            return "UncertainValues(no queries)"
        means, deviations = self.mean.mean(axis=0), np.sqrt((self.std**2).sum(axis=0)) / len(self.queries)
        shown = ", ".join(
            f"{name}: {significant(mean)} ± {significant(deviation)}"
            for name, mean, deviation in zip(self.names[:4], means.tolist(), deviations.tolist(), strict=False)
        )
        return f"UncertainValues({shown}{', …' if len(self.names) > 4 else ''})"


def with_uncertain_labels(
    scores: Any,
    probabilities: Any,
    measures: str | Measure | Sequence[str | Measure],
    *,
    offsets: npt.ArrayLike | None = None,
    grades: npt.ArrayLike | None = None,
    unretrieved: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    samples: int = 2_000,
    seed: int = 0,
) -> UncertainValues:
    """Compute the mean and standard deviation of measures if each label is known only with probabilities.

    A model that grades documents gives a probability for each grade; several assessors give shares. The labels of
    different documents are independent, and every order of tied documents is equally likely. The standard deviation has
    two parts: that of the labels, which better judgments would reduce, and that of the ties, which finer scores would.

    Exact formulas serve sums such as DCG, RBP, SDCG, INSQ and P@k; R, F1, AP, RR and Success; ERR; and nDCG if there
    are few grades or a small cut-off. For other measures, all labels are enumerated if there are at most 4,096
    assignments of them, and sampled otherwise. The orders of ties are never sampled. The value of an assignment without
    relevant documents is 0, as in trec_eval.

    The formulas are tieaware's own, checked by enumeration of all labels and orders; the documentation has them.

    Parameters
    ----------
    scores : real numbers, shape (n_docs,) or (n_queries, depth); or a run
        The score of each document; documents with higher scores rank higher. A run, in any form that
        `tieaware.evaluate` reads, if the probabilities are a dict.
    probabilities : numbers, shape (*scores.shape, n_grades); or {query: {document: {grade: probability}}}
        The probability of each grade. Those of a document add up to 1 (within 10^-5). A row of NaN means that the
        document is unjudged; in a dict, unjudged documents are missing, and so are grades of probability 0.
    measures : str, Measure or sequence of these
        As for `tieaware.evaluate`, except for GMAP and measures of subtopics.
    offsets : integers, shape (n_queries + 1,), optional
        The index at which each list starts, and the end of the last list, for arrays of one dimension.
    grades : real numbers, shape (n_grades,), optional
        The label that each column stands for, at least 0; by default 0, 1, 2, ….
    unretrieved : (probabilities, offsets), optional
        The judged documents that are not in the lists: numbers of shape (n_unretrieved, n_grades), and integers of
        shape (n_queries + 1,). With a dict, they are those that the run does not have.
    samples : int
        The number of assignments of labels that are sampled, where there is no exact way: 2 … 10^6.
    seed : int
        The seed of the samples. The same seed gives the same values on every machine.

    Examples
    --------
    The first document is relevant with probability 0.9. Two documents tie; one of them is relevant.

    >>> from tieaware import statistics
    >>> scores, chances = [3.0, 2.0, 2.0], [[0.1, 0.9], [0.0, 1.0], [1.0, 0.0]]
    >>> found = statistics.with_uncertain_labels(scores, chances, ["P@2", "AP"])
    >>> found.mean.round(4), found.std_of_labels.round(4), found.std_of_ties.round(4)
    (array([[0.7   , 0.8667]]), array([[0.15, 0.15]]), array([[0.25  , 0.0833]]))

    With a run and a dict; the last document is judged, but not retrieved:

    >>> run = {"q1": {"d1": 3, "d2": 2, "d3": 2}}
    >>> chances = {"q1": {"d1": {0: 0.5, 2: 0.5}, "d2": {1: 1.0}, "d4": {0: 0.75, 1: 0.25}}}
    >>> print(statistics.with_uncertain_labels(run, chances, ["nDCG", "R@2"]).table())
    Means over 1 query, labels uncertain, ties averaged
    <BLANKLINE>
    measure    mean     std  std of labels  std of ties  standard error  computed
    nDCG     0.7235  0.2326         0.2280       0.0458               –  exact
    R@2      0.5625  0.3947         0.1654       0.3584               –  exact
    """
    asked, names = named_measures(measures)
    for measure in asked:
        if measure.definition.is_geometric:
            raise InputError("measures", f"{measure} has a geometric mean; write AP")
        if measure.definition.needs_subtopics:
            raise InputError("measures", f"{measure} needs subtopics, whose labels cannot be uncertain")
    samples, seed = whole_number("samples", samples, 2, 10**6), checked_seed(seed)
    lists = _lists(scores, probabilities, offsets, grades, unretrieved)
    check_grades(asked, lists.grades)
    shape = len(lists.lists), len(asked)
    found, method = np.zeros((4, *shape)), np.full(shape, "formula", dtype="<U11")
    for q, listed in enumerate(lists.lists):
        for j, (moments, how) in enumerate(_moments(listed, asked, samples, [seed, q])):
            found[:, q, j] = moments.mean, moments.of_labels, moments.of_ties, moments.error
            method[q, j] = how
    mean, of_labels, of_ties, error = found
    deviations = np.sqrt(of_labels + of_ties), np.sqrt(of_labels), np.sqrt(of_ties)
    return UncertainValues(names, lists.queries, mean, *deviations, error, method)


def _lists(scores: Any, probabilities: Any, offsets: Any, grades: Any, unretrieved: Any) -> UncertainLists:
    """Return the lists, whose probabilities are arrays or a dict."""
    if not isinstance(probabilities, Mapping):
        return of_arrays(scores, probabilities, offsets, grades, unretrieved)
    for name, argument in (("offsets", offsets), ("grades", grades), ("unretrieved", unretrieved)):
        if argument is not None:
            raise InputError(name, "must not be given with a dict of probabilities, which already says it")
    return of_dicts(scores, probabilities)


def _moments(
    listed: UncertainList, measures: tuple[Measure, ...], samples: int, seed: list[int]
) -> list[tuple[Moments, HowComputed]]:
    """Return the moments of each measure for one list, and how they were computed."""
    found: list[tuple[Moments, HowComputed] | None] = []
    for measure in measures:
        moments = by_formula(listed, measure)
        found.append(None if moments is None else (moments, "formula"))
    others = tuple(measure for measure, known in zip(measures, found, strict=True) if known is None)
    if others:
        method: HowComputed = "enumeration" if listed.n_assignments <= _MOST_ENUMERATED else "sampling"
        computed = iter(
            enumerated(listed, others) if method == "enumeration" else sampled(listed, others, samples, seed)
        )
        return [known or (next(computed), method) for known in found]
    return [known for known in found if known is not None]
