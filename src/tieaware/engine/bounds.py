"""Bounds of measures over all orders that are possible if each score is known only to within an error.

The score of document i lies between its ends, s_i - e_i and s_i + e_i. An order is possible if no document stands
before another whose lower end is above its upper end. If documents have only two weights, the best possible order sorts
the relevant documents by their upper ends and the others by their lower ends, the relevant ones first where they are
equal; the worst possible order sorts by the other ends, the relevant ones last. This holds for each measure that never
gets worse when a relevant document moves up: two neighbours that may be swapped are swapped, and raising a relevant
document makes no other possible order impossible. So the extremes under ties of two arrays of ends are the bounds.

With more weights, each threshold between two of them divides the documents in two again, so it has a best order. For
each rank, this order has the greatest number of documents above the threshold down to this rank.

- A measure that is a sum of weights times numbers of ranks is bounded step by step: a weight is the sum of the steps up
  to it, each step has only two weights, and the sum of the bounds of the steps is a bound.
- Other measures never fall if all these numbers rise. The value of an order in which none of the numbers is below that
  of the threshold's best order is then a bound, although this order may not be possible; see `_Step.order`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import number, shown, unexpected
from tieaware.checks.arrays import Integers, Labels, Offsets, Scores, Values, element, first
from tieaware.engine.prepared import COPIED_BYTES, Prepared
from tieaware.engine.spread import Bounds
from tieaware.engine.views import OF_CHANCE, Pass
from tieaware.errors import InputError
from tieaware.lists.judgments import JudgedLists
from tieaware.measures import Measure
from tieaware.measures.formulas import MOST_GRADES, too_many_grades
from tieaware.precision import Coarsening
from tieaware.precision.coarsening import coarsened

# A sum of n numbers, each of them rounded once or a product of at most n rounded factors, is wrong by less than
# (n + this) · 2^-52 of its value.
_ROUNDINGS = 8


class _Step(NamedTuple):
    """The evaluation of measures by one threshold of the weights, or by several together.

    Parameters
    ----------
    prepared : Prepared
        The evaluation of these measures, with a spread.
    columns : list of int
        The columns of these measures.
    shares : float64[n_columns]
        What the bounds are multiplied by before the steps are added up.
    relevant : int64[n]
        The positions of the documents above the lowest threshold, in the scores of all lists; ascending.
    levels : int64[n_docs] or None
        If there are several thresholds, the number of them that each document is above; -1 if it is not ranked.
    """

    prepared: Prepared
    columns: list[int]
    shares: Values
    relevant: Integers
    levels: Integers | None

    def rows(self, first: int, last: int) -> _Step:
        """Return the step for the lists first … last - 1 only."""
        start, end = self.prepared.offsets[[first, last]]
        some = self.relevant[np.searchsorted(self.relevant, start) : np.searchsorted(self.relevant, end)]
        levels = None if self.levels is None else self.levels[start:end]
        return self._replace(prepared=self.prepared.rows(first, last), relevant=some - start, levels=levels)

    def spread(self, scores: Values, of_relevant: Values, sign: float) -> Values:
        """Return the spread, float64[4, n_queries, n_columns], of scores in which the relevant documents have others.

        The scores are changed, and restored, because a copy would take longer.
        """
        spread = np.empty((4, len(self.prepared.offsets) - 1, len(self.columns)))
        if self.levels is not None:
            self.prepared.write(self.order(scores, of_relevant, self.levels, sign), spread, "scores")
            return spread
        kept = scores[self.relevant]
        scores[self.relevant] = of_relevant
        self.prepared.write(scores, spread, "scores")
        scores[self.relevant] = kept
        return spread

    def order(self, scores: Values, of_relevant: Values, levels: Integers, sign: float) -> Values:
        """Return scores that put each list into one order, at least as good as every possible one, or as bad.

        If `sign` is 1, there are, for each threshold and each rank, at least as many documents above the threshold down
        to this rank as in any possible order. The documents above the lowest threshold have the ranks of its own best
        order. Those above the next threshold take some of these ranks: the last ones with which none of them is below
        its rank in the best order of this threshold. And so on; each threshold leaves enough ranks to the next one.
        If `sign` is -1, the same holds with at most as many documents, worst orders, and the first ranks.
        """
        queries = np.repeat(np.arange(len(self.prepared.offsets) - 1), np.diff(self.prepared.offsets))
        # A relevant document has two entries, one for thresholds that it is below, and one for those that it is above.
        documents = np.concatenate((np.arange(len(scores)), self.relevant))
        above = np.arange(len(documents)) >= len(scores)
        entries = np.concatenate((scores, of_relevant))
        sorted_ = np.lexsort((above != (sign > 0.0), -entries, levels[documents] < 0, queries[documents]))
        above, reached = above[sorted_], levels[documents[sorted_]]
        places, at_places = np.arange(len(scores)), np.minimum(reached[~above], 0)
        for threshold in range(1, int(levels.max(initial=0)) + 1):
            own = np.flatnonzero(above[above == (reached >= threshold)])
            earlier = np.arange(len(own))
            if sign > 0.0:
                skipped = np.searchsorted(places, own, "right") - 1 - earlier
                skipped = np.minimum.accumulate(skipped[::-1])[::-1]
            else:
                skipped = np.maximum.accumulate(np.searchsorted(places, own) - earlier)
            places = places[skipped + earlier]
            at_places[places] = threshold
        ranked = np.empty(len(scores))
        ranked[np.lexsort((levels, queries))] = -np.lexsort((at_places, queries)).astype(np.float64)
        ranked[np.isnan(scores)] = np.nan
        return ranked


class PreparedBounds(NamedTuple):
    """The prepared evaluation of bounds.

    Parameters
    ----------
    steps : tuple of _Step
    offsets : int64[n_queries + 1]
        The index at which each list starts, and the end of the last list.
    n_added : int64[n_measures]
        The most terms of which the bounds of each measure are a sum; 0 if the bounds are exact.
    most : float64[n_queries, n_measures]
        For measures whose bounds are not exact, the value of the best of all orders; for others, infinity.
    defined : bool[n_queries, n_measures]
        Whether the measure is defined for the query, or its bounds are exact.
    coarsening : Coarsening or None
        How the ends of the intervals are rounded.
    """

    steps: tuple[_Step, ...]
    offsets: Offsets
    n_added: Integers
    most: Values
    defined: npt.NDArray[np.bool_]
    coarsening: Coarsening | None

    @classmethod
    def of(cls, prepare: partial[Prepared], wanted: Pass) -> PreparedBounds:
        """Prepare bounds.

        Parameters
        ----------
        prepare : partial of `tieaware.engine.prepared.prepare`
            It lacks only the pass.
        wanted : Pass
            The pass of a spread.

        Raises
        ------
        InputError
            If bounds of a measure are not known, or the precision does not round each score by itself.
        """
        measures, lists, totals = prepare.args
        if wanted.bands or wanted.needs_whole_list:
            precision = wanted.bands[0] if wanted.bands else wanted.coarsening
            raise InputError(f"precision={precision}", "depends on all scores of a list, so bounds are not known")
        divided = [_division(measure, lists) for measure in measures]
        most = np.full(totals.totals.shape, np.inf)
        several = [column for column, each in enumerate(divided) if each.shares]
        if several:
            some = [measures[column] for column in several]
            most[:, several] = prepare.func(
                some, lists, totals.columns(several), OF_CHANCE, **prepare.keywords
            ).chance().ideal
        steps = tuple(_steps(prepare, wanted._replace(coarsening=None), divided))
        n_added = np.array([len(each.shares) for each in divided])
        for step in steps:
            if step.levels is not None:
                n_added[step.columns] = lists.longest + totals.totals[:, step.columns].max(initial=0.0)
                by_level = step.levels[step.relevant].astype(np.float64)
                most[:, step.columns] = step.spread(np.zeros(len(step.levels)), by_level, 1.0)[3]
        defined = (totals.totals > 0.0) | (n_added == 0)
        return cls(steps, lists.offsets, n_added, most, defined, wanted.coarsening)

    def rows(self, first: int, last: int) -> PreparedBounds:
        """Return the bounds for the lists first … last - 1 only."""
        return self._replace(
            steps=tuple(step.rows(first, last) for step in self.steps),
            offsets=self.offsets[first : last + 1] - self.offsets[first],
            most=self.most[first:last],
            defined=self.defined[first:last],
        )

    def evaluate(self, scores: Scores, error: Values) -> Bounds:
        """Return the bounds of all values, for scores of all documents, or of one list if all lists share them."""
        n_lists, n = len(self.offsets) - 1, max(len(scores), len(error))
        scores, error = _repeated(scores, n), np.broadcast_to(error, n) if len(error) == 1 else _repeated(error, n)
        if n == self.offsets[-1]:
            return self._evaluate(scores, error)
        # Scores that all lists share are copied for a few lists at a time.
        at_once = max(1, COPIED_BYTES // max(1, scores.nbytes))
        chunks = [(first, min(first + at_once, n_lists)) for first in range(0, n_lists, at_once)]
        found = [
            self.rows(i, j)._evaluate(_repeated(scores, n * (j - i)), _repeated(error, n * (j - i)))
            for i, j in chunks
        ]
        least, greatest = zip(*found, strict=True)
        return Bounds(np.concatenate(least), np.concatenate(greatest), self._exact)

    @property
    def _exact(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.n_added == 0)

    def _evaluate(self, scores: Scores, error: Values) -> Bounds:
        """Return the bounds for the scores of all documents, and the error of each."""
        least, greatest = np.zeros((2, *self.defined.shape))
        both = (self._spreads(scores, error, sign) for sign in (1.0, -1.0))
        for step, best, worst in zip(self.steps, *both, strict=True):
            less = [measure.definition.less_is_better for measure in step.prepared.measures]
            least[:, step.columns] += step.shares * np.where(less, best[2], worst[2])
            greatest[:, step.columns] += step.shares * np.where(less, worst[3], best[3])
        # Sums are rounded outwards.
        slack = np.where(self._exact, 0.0, (self.n_added + _ROUNDINGS) * np.finfo(np.float64).eps)
        least, greatest = least * (1.0 - slack), np.minimum(greatest * (1.0 + slack), self.most)
        # Without a relevant document, all orders have the value of the best one.
        least[~self.defined] = greatest[~self.defined] = self.most[~self.defined]
        return Bounds(least, greatest, self._exact)

    def _spreads(self, scores: Scores, error: Values, sign: float) -> list[Values]:
        """Return the spread of each step if relevant documents move by `sign` times their error, others against."""
        moved = partial(_moved, coarsening=self.coarsening)
        others = moved(scores, error, -sign)
        return [
            step.spread(others, moved(scores[step.relevant], error[step.relevant], sign), sign) for step in self.steps
        ]


class _Division(NamedTuple):
    """The thresholds between the weights of a measure: the labels above each, and its share if steps are added up.

    Without shares, the bounds are exact if there is one threshold.
    """

    above: list[Labels]
    shares: list[float]


def _division(measure: Measure, lists: JudgedLists) -> _Division:
    """Return the thresholds of a measure; raise InputError if its bounds are not known."""
    definition = measure.definition
    if definition.own_extremes(measure) or not definition.has_spread:
        raise InputError(str(measure), "has no known bounds: a better order above a document can lower its value")
    # Documents that are neither judged nor in the pool come first: none has a smaller weight.
    unjudged = np.array([-1], np.int32)
    labels = np.concatenate((unjudged, np.setdiff1d(lists.labels, unjudged)))
    if definition.ignores_unjudged:
        labels = labels[labels >= 0]
    weights = definition.weighting.weigh(
        measure, labels if lists.grades is None else lists.grades.labels(labels), lists.grades
    )
    rises = np.flatnonzero((weights[:, 1:] != weights[:, :-1]).any(axis=0)) + 1
    above = [labels[rise:] for rise in rises]
    if len(above) < 2 or definition.increasing:
        return _Division(above or [labels[:0]], [])
    if not definition.linear:
        problem = "give documents more than two weights, and a better document that moves up can then lower the value"
        raise InputError(f"{measure}: labels", problem)
    if len(rises) > MOST_GRADES:
        raise too_many_grades(len(rises)).at(f"{measure}: labels")
    if measure.judged_only and weights[0, labels == 0].any():
        raise InputError(str(measure), "has no known bounds if label 0 has a gain and unjudged documents are removed")
    at = weights[0, rises]
    return _Division(above, (np.diff(at, prepend=0.0) / at).tolist())


def _steps(prepare: partial[Prepared], wanted: Pass, divided: Sequence[_Division]) -> Iterator[_Step]:
    """Yield the steps of all measures. Measures with the same step share an evaluation."""
    measures, lists, totals = prepare.args
    shared: dict[tuple[Any, ...], list[tuple[int, float]]] = {}
    for column, (measure, division) in enumerate(zip(measures, divided, strict=True)):
        labels = [tuple(above.tolist()) for above in division.above]
        together = [(each,) for each in labels] if division.shares else [tuple(labels)]
        for thresholds, share in zip(together, division.shares or [1.0], strict=True):
            key = thresholds, bool(division.shares), len(labels) > 1 and measure.judged_only
            shared.setdefault(key, []).append((column, share))
    documents = np.repeat(lists.offsets[:-1], np.diff(lists.judged_offsets)) + lists.positions
    for (thresholds, is_sum, judged_only), members in shared.items():
        columns, shares = [column for column, _ in members], np.array([share for _, share in members])
        above = np.sum([np.isin(lists.labels, each) for each in thresholds], axis=0)
        some = _divided(lists, above > 0, thresholds[0][0], judged_only) if is_sum else lists
        keywords = {**prepare.keywords, "undefined": 0.0} if is_sum else prepare.keywords
        chosen = [measures[column] for column in columns]
        prepared = prepare.func(chosen, some, totals.columns(columns), wanted, **keywords)
        levels = None if len(thresholds) == 1 else _levels(lists, documents, above, judged_only)
        yield _Step(prepared, columns, shares, documents[above > 0], levels)


def _divided(lists: JudgedLists, is_above: npt.NDArray[np.bool_], label: int, judged_only: bool) -> JudgedLists:
    """Return the lists with only one label above a step, and only labels without a weight below it."""
    below = np.minimum(lists.labels, 0 if judged_only else -1)
    return lists._replace(labels=np.where(is_above, np.int32(label), below))


def _levels(lists: JudgedLists, documents: Integers, above: Integers, judged_only: bool) -> Integers:
    """Return how many thresholds each document is above; -1 if it is not ranked. `documents` are the judged ones."""
    levels = np.full(lists.offsets[-1], -1 if judged_only else 0)
    is_judged = lists.labels >= 0
    levels[documents[is_judged]] = above[is_judged]
    if lists.excluded is not None:
        levels[~lists.excluded.left(lists.offsets)] = -1
    return levels


def checked_error(error: Any, flat: Any) -> Values:
    """Return the error of each document: float64[1] for a number, or float64[n_docs]; `flat` checks the shape."""
    if np.ndim(error) == 0:
        return np.array([number("error", error, 0.0, np.inf)])
    errors = np.asarray(flat(error, "error"), np.float64)
    wrong = first(~(errors >= 0.0))
    if wrong is not None:
        place = element("error", np.shape(error), wrong)
        raise unexpected(place, "a number of at least 0", shown(float(errors[wrong])))
    return errors


def _repeated(numbers: Any, n: int) -> Any:
    """Return n numbers: those given, or if they are those of one list, a copy for each list."""
    return numbers if len(numbers) == n else np.tile(numbers, n // len(numbers))


def _moved(scores: Scores, error: Values, sign: float, coarsening: Coarsening | None) -> Values:
    """Return an end of the interval in which each score lies, rounded to float64: the upper one if `sign` is 1.

    Rounding is monotone, so it makes no possible order impossible, and neither does a coarsening. A NaN stays NaN.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        moved = np.add(scores, error, dtype=np.float64) if sign > 0.0 else np.subtract(scores, error, dtype=np.float64)
    if np.max(error, initial=0.0) == np.inf:
        # An infinite score with an infinite error may be anything.
        moved[np.isnan(moved) & ~np.isnan(scores)] = sign * np.inf
    if coarsening is not None:
        known = ~np.isnan(moved)
        moved[known] = coarsened(coarsening, moved[known], np.array([0, np.count_nonzero(known)]))
    return moved
