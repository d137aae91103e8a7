"""The expectation of measures if each score has independent noise: what does not depend on the scores, and the call.

A measure adds up the gains of documents, each times the weight of its rank and, where a user may stop, the chance that
the user gets there. _noise.pyx has the formulas.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from tieaware.checks.arguments import shown, unexpected
from tieaware.checks.arrays import Values
from tieaware.engine.totals import Totals
from tieaware.engine.views import View
from tieaware.engine.weights import Weights
from tieaware.errors import InputError
from tieaware.kernels._noise import NoisyMeasures, expectations
from tieaware.lists.judgments import POOLED, JudgedLists
from tieaware.measures import Measure
from tieaware.measures.formulas import reciprocal_slots
from tieaware.precision import Noise
from tieaware.runtime.threads import even_chunks, over_chunks

# The kernels of the measures whose expectation is known: those that add up gains, those that depend on the first
# relevant document, that of AP, and that of ERR.
_ADDITIVE = ("hits", "discounted", "discounted_to_ideal", "patience", "inverse_squares")
_OF_FIRST = ("success", "reciprocal_rank")
_COUNTED, _CASCADE = "average_precision", "cascade"
_KNOWN = "P, R, F1, Hits, Success, DCG, nDCG, RBP, AP, RR and ERR"

# The largest error, and the share of it that the ends of the windows may cause, beyond which noise is left out.
TOLERANCE = 1e-9
_BEYOND = 0.1
# With fewer documents than this, a call uses only one thread.
_WORTH_THREADS = 500


class UnderNoise(NamedTuple):
    """The expected values under noise, and bounds of their errors.

    Attributes
    ----------
    values : float64[n_queries, n_measures]
    error : float64[n_queries, n_measures]
        The error that the quadrature reached, as its last two levels show it, and what noise beyond the windows can
        change; 0 without noise.
    """

    values: Values
    error: Values


@dataclass(frozen=True, eq=False)
class NoisyLists:
    """Lists and measures, prepared for expectations under noise. Most parameters are those of `_noise.expectations`.

    `longest` and `most_weighted` are the numbers of documents, and of those with a weight, of the list with the most.
    """

    measures: tuple[Measure, ...]
    forms: NoisyMeasures
    lists: tuple[Any, ...]
    norms: Values
    largest: Values
    undefined: float
    longest: int
    most_weighted: int

    @classmethod
    def of(
        cls, measures: tuple[Measure, ...], lists: JudgedLists, totals: Totals, undefined: float = 0.0
    ) -> NoisyLists:
        """Prepare lists; raise InputError if a measure's expectation is not known."""
        for measure in measures:
            _check_known(measure)
        weights, _ = Weights.of(measures, lists.labels, False, lists.grades)
        gains = [_gains(i, measure, lists, totals) for i, measure in enumerate(measures)]
        slots = [_slots(measure, lists.longest) for measure in measures]
        ends = [measure.definition.kernel in (*_OF_FIRST, _CASCADE) for measure in measures]
        forms = NoisyMeasures(
            slots,
            gains,
            [1.0 - gain if end else None for gain, end in zip(gains, ends, strict=True)],
            [measure.definition.kernel == _COUNTED for measure in measures],
            [measure.judged_only for measure in measures],
        )
        weighted = np.any([gain > 0.0 for gain in gains], axis=0)
        before = np.concatenate(([0], np.cumsum(weighted)))
        excluded = (None, None) if lists.excluded is None else (lists.excluded.offsets, lists.excluded.positions)
        arrays = (lists.offsets, lists.judged_offsets, lists.positions, weighted, lists.labels >= 0, *excluded)
        largest = [gain.max(initial=0.0) * slot[:1].max(initial=0.0) for gain, slot in zip(gains, slots, strict=True)]
        return cls(
            measures, forms, tuple(each if each is None else np.ascontiguousarray(each) for each in arrays),
            weights.norms(measures, totals, lists.lengths, lists.judged_lengths), np.array(largest), undefined,
            lists.longest, int(np.diff(before[lists.judged_offsets]).max(initial=0)),
        )  # fmt: skip

    def rows(self, first: int, last: int) -> NoisyLists:
        """Return the lists first … last - 1 only."""
        offsets, judged_offsets, positions, weighted, judged, gone_offsets, gone = self.lists
        some = slice(first, last + 1)
        here = (offsets[some] - offsets[first], judged_offsets[some].copy(), positions, weighted, judged)
        excluded = None if gone_offsets is None else gone_offsets[some].copy()
        return replace(self, lists=(*here, excluded, gone), norms=self.norms[first:last].copy())

    def evaluate(self, scores: Values, sizes: Values, noise: Noise, threads: int) -> UnderNoise:
        """Return the expectations; raise InputError if one is not known well enough.

        Parameters
        ----------
        scores : float64[n_docs]
            Without NaN; of all documents, or of the items that all lists share.
        sizes : float64[n_docs] or float64[1]
            The sizes of the noise.
        noise : Noise
        threads : int
        """
        offsets = self.lists[0]
        n_queries = len(offsets) - 1
        # A quarter of what is left out is that a document is beyond its window, for each of both ends; and a quarter,
        # that a weighted document is beyond its reach.
        window, reach = (noise._ends(_BEYOND * TOLERANCE / 4 / max(n, 1)) for n in (self.longest, self.most_weighted))
        scores, sizes = _alike(scores, sizes, n_queries)
        found = UnderNoise(np.empty(self.norms.shape), np.empty(self.norms.shape))

        def work(first: int, last: int) -> None:
            expectations(
                noise._kernel(), window, reach, self.forms, scores, sizes, self.lists, self.norms,
                self.largest, TOLERANCE, _BEYOND, self.undefined, *found, first, last,
            )  # fmt: skip

        threads = threads if offsets[-1] >= _WORTH_THREADS else 1
        over_chunks(work, even_chunks(offsets, threads), threads)
        self._check(found.error)
        return found

    def _check(self, error: Values) -> None:
        """Raise InputError if an error is too large."""
        if (error <= TOLERANCE).all():
            return
        scale = np.maximum(1.0, self.largest / np.where(self.norms > 0.0, self.norms, 1.0))
        wrong = np.argwhere(~(error <= TOLERANCE * scale))
        if len(wrong):
            query, column = wrong[0].tolist()
            problem = f"the expectation of {self.measures[column]} for query {query} has an error of"
            instead = "the sizes differ too much, or are too small for such scores; 0 stands for no noise"
            raise InputError("noise", f"{problem} {error[query, column]:.1g}: {instead}")


def check_noise(noise: object, view: View) -> None:
    """Raise InputError unless `noise` is a Noise, ties are averaged, and the scores keep their precision."""
    if not isinstance(noise, Noise):
        raise unexpected("noise", "a noise of tieaware.precision, such as Gaussian(0.1)", shown(noise))
    if view.rule.name != "average":
        raise unexpected("ties", "'average', because documents hardly tie under noise", repr(view.rule.name))
    if view.precision is not None:
        raise unexpected("precision", "none, because noise is added to scores as they are", str(view.precision))


def _check_known(measure: Measure) -> None:
    """Raise InputError if the expectation of the measure under noise is not known."""
    kernel, inputs = measure.definition.kernel, measure.definition.inputs
    if kernel not in (*_ADDITIVE, *_OF_FIRST, _COUNTED, _CASCADE) or inputs.of_queries is not None:
        raise unexpected("measures", f"one whose expectation under noise is known: {_KNOWN}", str(measure))


def _gains(column: int, measure: Measure, lists: JudgedLists, totals: Totals) -> Values:
    """Return the gain of each judged document; for ERR, the probability that the user stops there."""
    if lists.grades is None:
        labels, index = np.unique(lists.labels, return_inverse=True)
    else:
        index = np.maximum(lists.labels, POOLED) - POOLED
        labels = np.concatenate((np.arange(POOLED, 0, dtype=np.float64), lists.grades.values))
    rows = measure.definition.weighting.weigh(measure, labels, lists.grades)
    slots, stops = measure.definition.inputs.slots, totals.lookups[column]
    if measure.definition.kernel == _CASCADE and slots is not None:
        rows = (rows.T @ (slots(measure, 0) if stops is None else stops))[None]
    return np.ascontiguousarray(rows[0][index])


def _slots(measure: Measure, longest: int) -> Values:
    """Return the weight of each rank, from rank 1, to the cut-off or the length of the longest list."""
    depth = longest if measure.cutoff is None else min(longest, measure.cutoff)
    slots = reciprocal_slots if measure.definition.kernel == _CASCADE else measure.definition.inputs.slots
    if slots is None:
        return np.ones(depth)
    sums = slots(measure, depth)[: depth + 1]
    return np.diff(sums[:, 0]) + np.diff(sums[:, 1])


def _alike(scores: Values, sizes: Values, n_lists: int) -> tuple[Values, Values]:
    """Return scores and sizes of the same documents: those of items that all lists share are repeated if needed."""
    if len(sizes) in (1, len(scores)):
        return scores, sizes
    if len(sizes) < len(scores):
        return scores, np.tile(sizes, n_lists)
    return np.tile(scores, n_lists), sizes
