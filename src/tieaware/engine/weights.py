"""Lookup table from labels to document weights for several measures, and the divisors that normalise the measures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Labels, Values
from tieaware.engine.totals import Totals
from tieaware.kernels import _labels, _slots
from tieaware.kernels._kernel_measures import KernelMeasure, Measures
from tieaware.lists.exact_sums import digits_of, exact_squares
from tieaware.lists.grades import Grades
from tieaware.lists.judgments import POOLED
from tieaware.measures import Measure
from tieaware.measures.definition import LEAST_INEXACT, check_exact
from tieaware.measures.formulas import HIGHEST_IN_LOOKUP, SMALL_DEPTH, by_total, one

# The depth down to which measures without a cut-off look: it is larger than any rank.
NO_CUTOFF = 2**62


# The cache of weights that each `Grades` object holds has room for this many sequences of measures.
_CACHE_SIZE = 16
# How many weights are added up at most, in lists of few and of many documents. Weights with the same number are cached.
_FEW, _MANY = 2**20, 2**39


class Weights(NamedTuple):
    """The weight of a document by its label, for several measures, and other data that depend only on the measures.

    A *weighting* gives each label a weight, for example 1 to relevant labels and 0 to all others. A measure uses one
    weighting or several adjacent weightings. Measures with equal weights share them.

    Parameters
    ----------
    by_label : float64[n_weightings, n_labels]
        The weight of a document with each label, one row per weighting.
    first : int
        The label of the first column of `by_label`; lower labels have the same weight as this label.
    carries : int32[n_weightings, 2] or None
        For each row of `by_label` whose weights are real numbers: this row holds the highest digit of each weight; the
        further digits are in other rows, of which these are the first and the number. (-1, 0) for rows of whole
        numbers; None if there are no others.
    kernels : list of KernelMeasure
        Each measure in the form that the kernels use, with slot weights for lists of up to SMALL_DEPTH documents.
    measures : Measures
        The same measures in one array, as the engine needs them.
    judged : int
        The row of the weighting that gives each judged document the weight 1, if a measure has judged_only; else -1.
    most : float
        The largest weight in `by_label`.
    depth : int
        A rank such that no measure looks at documents below it.
    not_divided : list of int
        The columns of the measures whose sums are not divided by anything.
    own_norms : list of int
        The columns of the measures whose sums are divided by something other than the total.
    first_group : bool
        Whether all measures need only the first tie group that has a weighted document.
    """

    by_label: Values
    first: int
    carries: npt.NDArray[np.int32] | None
    kernels: list[KernelMeasure]
    measures: Measures
    judged: int
    most: float
    depth: int
    not_divided: list[int]
    own_norms: list[int]
    first_group: bool

    @classmethod
    def of(
        cls, measures: tuple[Measure, ...], labels: Labels, squared: bool, grades: Grades | None = None
    ) -> tuple[Weights, Labels]:
        """Return the weights of all labels that occur, and the labels themselves, possibly renumbered.

        The returned labels are numbered like the columns of `by_label`, from `first`. They differ from the given labels
        only if these are too high for a lookup table with a column for every label.

        Parameters
        ----------
        measures : tuple of Measure
        labels : int32[n]
            The labels of all listed documents.
        squared : bool
            Whether to add weightings by squared weights, which a spread needs.
        grades : Grades, optional
            The values of labels that are real numbers.

        Raises
        ------
        InputError
            If a measure cannot take a label, or sums of weights would not be exact.
        """
        n_terms = _FEW if len(labels) <= _FEW else _MANY
        if grades is not None:
            return _weights_of_grades(measures, grades, squared, n_terms), labels
        highest = _labels.highest(labels)
        if highest <= HIGHEST_IN_LOOKUP:
            weights = _weights_up_to(measures, highest, squared, n_terms)
        else:
            # Only labels that occur get a column, and each label is replaced by the index of its column.
            occurring, numbers = np.unique(labels, return_inverse=True)
            weights, labels = _weights_of(measures, occurring, 0, squared, n_terms), numbers.astype(np.int32)
        if weights.most * len(labels) >= LEAST_INEXACT:
            columns = np.maximum(labels - weights.first, 0)
            for kernel, measure in zip(weights.kernels, measures, strict=True):
                rows = np.arange(kernel.weighting, kernel.weighting + kernel.n_weightings)
                if weights.carries is not None:
                    rows = rows[weights.carries[rows, 1] == 0]
                check_exact(measure, weights.by_label[rows[:, None], columns])
        return weights, labels

    def measures_for(
        self, measures: Sequence[Measure], totals: Totals, longest: int, squared: bool
    ) -> Measures:
        """Return the measures for the engine, with lookup arrays for lists of up to `longest` documents."""
        if longest <= SMALL_DEPTH and totals.has_no_lookup and not squared:
            return self.measures
        kernels = []
        for kernel, measure, lookup in zip(self.kernels, measures, totals.lookups, strict=True):
            squares = of_queries = None
            if measure.definition.inputs.of_queries:
                lookup, of_queries = None, lookup
            if measure.definition.inputs.slots and lookup is None:
                depth = longest if measure.cutoff is None else min(longest, measure.cutoff)
                lookup = measure.definition.inputs.slots(measure, depth)
                if squared and lookup.ndim == 2:
                    squares = _slots.squares(lookup[: depth + 1])
            kernels.append(kernel.with_lookup(lookup, squares, of_queries))
        return Measures(kernels)

    def norms(self, measures: Sequence[Measure], totals: Totals, retrieved: Integers, judged: Integers) -> Values:
        """Return the divisor of each measure for each query: float64[n_queries, n_measures].

        The divisor is 0 where the measure is undefined.

        Parameters
        ----------
        measures : sequence of Measure
        totals : Totals
        retrieved, judged : int64[n_queries]
            The number of ranked documents of each list, and the number of judged documents among them.
        """
        norms: Values = _labels.norms(totals.totals, self.not_divided)
        if not self.own_norms:
            return norms
        for i in self.own_norms:
            measure = measures[i]
            documents = judged if measure.judged_only else retrieved
            if measure.definition.norm_of_known and totals.judged is not None:
                documents = documents - judged + totals.judged.astype(np.int64)
            norms[:, i] = measure.definition.norm(measure, totals.totals[:, i], documents)
        norms[~(totals.totals > 0.0)] = 0.0
        return norms


@lru_cache(maxsize=256)
def also_weighted(measures: tuple[Measure, ...]) -> dict[str, bool]:
    """Return whether documents of label 0 ("zeros") and unjudged documents of the pool ("pool") matter to a measure.

    Documents with labels of at least 1 always matter.
    """
    weights = _weights_up_to(measures, 0, False, _FEW)
    zeros = bool(weights.by_label[:, -weights.first].any())
    return {"zeros": zeros, "pool": any(measure.definition.needs_pool(measure) for measure in measures)}


@lru_cache(maxsize=256)
def _weights_up_to(measures: tuple[Measure, ...], highest: int, squared: bool, n_terms: int) -> Weights:
    """Return the weights of all labels from POOLED to `highest`."""
    return _weights_of(measures, np.arange(POOLED, highest + 1, dtype=np.int32), POOLED, squared, n_terms)


def _weights_of_grades(measures: tuple[Measure, ...], grades: Grades, squared: bool, n_terms: int) -> Weights:
    """Return the weights of labels that are real numbers, if possible from the cache that the grades hold."""
    known = grades.weights.get((measures, squared, n_terms))
    if known is None:
        values = np.concatenate((np.arange(POOLED, 0, dtype=grades.values.dtype), grades.values))
        known = _weights_of(measures, values, POOLED, squared, n_terms, grades)
        if len(grades.weights) >= _CACHE_SIZE:
            grades.weights.clear()
        grades.weights[measures, squared, n_terms] = known
    weights: Weights = known
    return weights


def _weights_of(
    measures: Sequence[Measure], labels: Labels | Values, first: int, squared: bool, n_terms: int,
    grades: Grades | None = None,
) -> Weights:  # fmt: skip
    """Return the weights of the given labels, which ascend; `first` is the number of the first column of `by_label`.

    `n_terms` is the most documents whose weights are ever added up: weights that are not whole numbers are split into
    digits, so that these sums are exact.
    """
    rows: list[Values] = []
    weightings: dict[tuple[Any, ...], tuple[int, int]] = {}
    # For each weighting whose squared weights are wanted: the row of its weights.
    bases: dict[int, int] = {}
    # For each weighting whose variance needs other rows: the first of these.
    joint: dict[int, int] = {}
    # Different rules may give the same weights: relevance and gain do, if all labels are 0 or 1.
    known: dict[tuple[bytes, int, bool], tuple[int, int]] = {}
    for measure in measures:
        weighting = measure.definition.weighting
        if weighting.key(measure) not in weightings:
            weights = weighting.weigh(measure, labels, grades)
            further = weighting.joint(measure, labels, grades) if squared else None
            same = weights.tobytes(), weighting.squared, further is not None
            place = known.setdefault(same, (len(rows), len(weights)))
            weightings[weighting.key(measure)] = place
            if place[0] == len(rows) and further is not None:
                joint[len(rows)] = len(rows) + len(weights)
                weights = np.concatenate((weights, further))
            elif place[0] == len(rows):
                bases[len(rows)] = len(rows) + weighting.squared
            if place[0] == len(rows):
                rows.extend(weights)
    most = max(float(row.max(initial=0.0)) for row in rows)
    judged = -1
    if any(measure.judged_only for measure in measures):
        judged = len(rows)
        rows.append((labels >= 0).astype(np.float64))
    parts: list[tuple[Values, ...]] = [(row,) for row in rows]
    squares = bases | joint
    if squared:
        for first_row, row in bases.items():
            square: tuple[Values, ...] = (rows[row] ** 2,)
            if not _adds_up_exactly(square[0], n_terms):
                square = exact_squares(rows[row])
            if not np.array_equal(square[0], rows[row]):
                squares[first_row] = len(parts)
                parts.append(square)
    kernels = []
    for measure in measures:
        row, n_rows = weightings[measure.definition.weighting.key(measure)]
        kernels.append(_kernel_measure(measure, row, n_rows, squares[row]))
    norms = [measure.definition.norm for measure in measures]
    not_divided = [i for i, norm in enumerate(norms) if norm is one]
    own_norms = [i for i, norm in enumerate(norms) if norm not in (one, by_total)]
    by_label, carries = _split(parts, n_terms)
    # With several weightings, the first group of one may have no weight under another.
    first_group = len(by_label) == 1 and all(measure.definition.first_group for measure in measures)
    return Weights(
        np.stack(by_label), first, carries, kernels, Measures(kernels), judged, most, _depth(measures), not_divided,
        own_norms, first_group,
    )  # fmt: skip


def _split(rows: list[tuple[Values, ...]], n_terms: int) -> tuple[list[Values], npt.NDArray[np.int32] | None]:
    """Return rows of digits for rows of weights that are real numbers, and the carries, as `Weights` has them.

    Each row is one array, or several that add up to the weights. The rows of further digits come last.
    """
    split = [digits_of(row, n_terms) if len(row) > 1 or _is_real(row[0]) else row[0][None] for row in rows]
    first = [digits[0] for digits in split]
    further: list[Values] = []
    carries = np.tile(np.array([-1, 0], np.int32), (sum(map(len, split)), 1))
    for i, digits in enumerate(split):
        if len(digits) > 1:
            carries[i] = len(first) + len(further), len(digits) - 1
            further.extend(digits[1:])
    return first + further, carries if further else None


def _is_real(row: Values) -> bool:
    """Return whether some weight is not a whole number."""
    return bool((row != np.floor(row)).any())


def _adds_up_exactly(row: Values, n_terms: int) -> bool:
    """Return whether the sum of any `n_terms` of the weights is exact."""
    return not _is_real(row) and float(row.max(initial=0.0)) * n_terms < LEAST_INEXACT


def _kernel_measure(measure: Measure, weighting: int, n_weightings: int, squared: int) -> KernelMeasure:
    """Return a measure in the form that the kernels use, for lists of up to SMALL_DEPTH documents.

    `weighting` and `squared` are rows of `by_label`.
    """
    definition = measure.definition
    return KernelMeasure(
        name=str(measure),
        refusal=definition.limit,
        kernel=definition.kernel,
        weighting=weighting,
        n_weightings=n_weightings,
        squared_weighting=squared,
        cutoff=measure.cutoff,
        measure_number=definition.number_for_kernel(measure),
        judged_only=measure.judged_only,
        less_is_better=definition.less_is_better,
        always_defined=definition.is_count,
        geometric=definition.is_geometric,
        lookup=definition.inputs.slots(measure, SMALL_DEPTH) if definition.inputs.slots else None,
    )


def _depth(measures: Sequence[Measure]) -> int:
    """Return a rank such that no measure looks at documents below it, or NO_CUTOFF if there is none.

    A measure with judged_only may look below its cut-off, because unjudged documents above are removed from the list.
    """
    if any(measure.cutoff is None or measure.judged_only for measure in measures):
        return NO_CUTOFF
    return max(measure.cutoff or 0 for measure in measures)
