"""The part of an evaluator that evaluates lines of scores and many weighted sums of features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import number, shown, unexpected
from tieaware.checks.arrays import Scores, Values, as_array
from tieaware.engine.prepared import Prepared
from tieaware.engine.views import View
from tieaware.errors import InputError
from tieaware.lines.crossings import Pencil
from tieaware.lines.line import Line
from tieaware.measures import Measure
from tieaware.precision import Bands, Coarsening, Gap, parse_precision
from tieaware.precision.coarsening import coarsened

# Larger scores would overflow when crossings are computed exactly.
_LARGEST = 2.0**400
# The most crossings that are kept in memory, at 24 bytes each and up to twice as much for the values between them.
_MOST_CROSSINGS = 2**28


class ListsWithLines:
    """The part of `tieaware.Evaluator` that evaluates lines of scores.

    Attributes
    ----------
    measures : tuple of Measure
    n_queries, n_docs : int
    """

    measures: tuple[Measure, ...]
    n_queries: int
    n_docs: int
    _view: View
    _prepared: Prepared
    _flat: Callable[..., Scores]
    mean: Callable[[npt.ArrayLike], Values]

    def along(
        self,
        scores: npt.ArrayLike,
        direction: npt.ArrayLike,
        bounds: tuple[float, float] = (-np.inf, np.inf),
    ) -> Line:
        """Compute all means as exact functions of t, at the scores ``scores + t * direction``.

        As t grows, the means change only where the scores of two documents cross. All crossings are computed, so the
        result shows every value that any t attains between two breaks, at the price of some hundreds of evaluations. At
        a break, documents tie, and the value can be higher than in any interval; an interval is the sounder advice.
        Intervals that are narrower than 1e-9 of the line's length (of t, if the line has no ends) are left out.

        Parameters
        ----------
        scores, direction : real numbers, shape (n_docs,) or the labels' shape
            Finite, at most 2^400.
        bounds : tuple of float
            The least and the greatest t; both may be infinite.

        Returns
        -------
        Line

        Raises
        ------
        InputError
            If the shapes differ, a number is not finite, or the bounds are empty or reversed; if the evaluator has a
            precision, excluded items, the measure GMAP or a tie rule that orders documents by position or identifier;
            or if there are more than 2^28 crossings.

        Examples
        --------
        A document that no one wanted has the weight t.

        >>> import tieaware
        >>> line = tieaware.Evaluator([1, 0], ["RR"]).along([0.5, 0.0], [0.0, 1.0])
        >>> line.breaks, line.values.ravel()
        (array([0.5]), array([1. , 0.5]))
        """
        low, high = self._checked_bounds(bounds)
        self._check_lines()
        starts, directions = self._finite(scores, "scores"), self._finite(direction, "direction")
        return self._line(Pencil.along(self._prepared, starts, directions, low, high))

    def between(self, a: npt.ArrayLike, b: npt.ArrayLike, *, precision: str | Coarsening | None = None) -> Line:
        """Compute all means as exact functions of t, at the scores ``(1 - t) * a + t * b`` for t from 0 to 1.

        Parameters
        ----------
        a, b : real numbers, shape (n_docs,) or the labels' shape
            The scores of two systems, as for `along`. Scores on different scales should be normalised first.
        precision : str or Coarsening, optional
            The precision to which the scores of both systems are rounded before they are combined, e.g. "decimals:2".
            Their weighted sums are not rounded, so the line is exact. "gap" and "bands" do not round single scores,
            and are refused.

        Returns
        -------
        Line

        Raises
        ------
        InputError
            As for `along`; also if the precision does not round single scores.

        Examples
        --------
        >>> import tieaware
        >>> evaluator = tieaware.Evaluator([1, 0, 0], ["RR"])
        >>> evaluator.between([0.5, 0.9, 0.1], [0.8, 0.4, 0.2]).best()
        Best(t=0.7, value=1.0, interval=(0.5, 1.0))

        In whole numbers, the first system ties the first two documents:

        >>> evaluator.between([0.6, 0.9, 0.1], [0.8, 0.4, 0.2], precision="decimals:0").values.ravel()
        array([1.])
        """
        self._check_lines()
        first, last = self._finite(a, "a"), self._finite(b, "b")
        if precision is not None:
            coarsening = parse_precision(precision)
            if isinstance(coarsening, (Gap, Bands)):
                raise InputError("precision", f"{coarsening} does not round single scores, so lines cannot take it")
            first, last = self._coarse(first, coarsening, "a"), self._coarse(last, coarsening, "b")
        return self._line(Pencil.between(self._prepared, first, last))

    def combinations(self, features: npt.ArrayLike, weights: npt.ArrayLike) -> Values:
        """Evaluate many weighted sums of features: return the mean of every measure for each vector of weights.

        Memory does not grow with the number of candidates. Each sum adds the features in their order; the order of
        adding matters to the last bit of a score, and so to ties.

        Parameters
        ----------
        features : real numbers, shape (n_docs, n_features)
            The features of each document.
        weights : real numbers, shape (n_candidates, n_features)
            One vector of weights for each candidate.

        Returns
        -------
        float64[n_candidates, n_measures]
            The means over the queries, as `many` computes them for ``features @ weights.T``.

        Raises
        ------
        InputError
            If a shape is wrong, or a number is not finite.

        Examples
        --------
        >>> import tieaware
        >>> evaluator = tieaware.Evaluator([1, 0, 0], ["RR"])
        >>> features = [[0.5, 0.2], [0.9, 0.1], [0.1, 0.1]]
        >>> evaluator.combinations(features, [[1.0, 0.0], [1.0, 5.0], [0.0, 1.0]])
        array([[0.5],
               [1. ],
               [1. ]])
        """
        columns = _matrix(features, "features", ("n_docs", self.n_docs))
        candidates = _matrix(weights, "weights", ("n_features", columns.shape[1]), last=True)
        by_feature = np.ascontiguousarray(columns.T)
        averages = np.empty((len(candidates), len(self.measures)))
        scores, product = np.empty(self.n_docs), np.empty(self.n_docs)
        for i, candidate in enumerate(candidates):
            scores.fill(0.0)
            for feature in np.flatnonzero(candidate):
                np.multiply(by_feature[feature], candidate[feature], out=product)
                scores += product
            averages[i] = self.mean(scores)
        return averages

    def _check_lines(self) -> None:
        """Raise InputError if the evaluator has no lines."""
        prepared = self._prepared
        if self._view.precision is not None:
            raise InputError(
                "precision", "rounds the scores of every t, so they form no lines; use an evaluator without one"
            )
        if not self._view.rule.by_score_alone:
            raise InputError(
                "ties",
                f"{self._view.rule.name!r} orders tied documents one by one; lines need 'average', 'optimistic' or "
                "'pessimistic'",
            )  # fmt: skip
        if prepared.excluded is not None:
            raise InputError("exclude", "lines cannot leave out items; drop them from the lists")
        if prepared.extremes is not None:
            raise InputError(
                "ties", f"{self._view.rule.name!r} needs measures whose best order is by label; use 'average' for lines"
            )
        for measure in self.measures:
            if measure.definition.is_geometric:
                raise InputError(f"{measure}", "has a geometric mean, which lines lack")
        if self.n_queries == 0:
            raise InputError("line", "needs at least one query")

    def _line(self, pencil: Pencil) -> Line:
        if pencil.n_pairs > _MOST_CROSSINGS:
            raise InputError("line", "has more than 2^28 crossings; take fewer queries or documents at a time")
        return Line(self.measures, pencil, cast(Callable[[Values], Values], self), self.mean)

    def _finite(self, values: npt.ArrayLike, name: str) -> Values:
        """Return scores as float64, one for each document."""
        # A copy: the kernel reads the scores several times, and another thread must not change them meanwhile.
        flat = _within_range(np.array(self._flat(values, name), dtype=np.float64), name)
        return flat if len(flat) == self.n_docs else np.tile(flat, self.n_queries)

    def _coarse(self, scores: Values, coarsening: Coarsening, name: str) -> Values:
        """Return the rounded scores as float64."""
        rounded = coarsened(coarsening, scores, self._prepared.offsets)
        return _within_range(np.ascontiguousarray(rounded, dtype=np.float64), f"{name} as {coarsening}")

    @staticmethod
    def _checked_bounds(bounds: Any) -> tuple[float, float]:
        try:
            low, high = bounds
        except (TypeError, ValueError):
            raise unexpected("bounds", "a pair of numbers", shown(bounds)) from None
        low = low if low == -np.inf else number("bounds[0]", low, -1e300, 1e300)
        high = high if high == np.inf else number("bounds[1]", high, -1e300, 1e300)
        if not low < high:
            raise InputError("bounds", f"must be a smaller and a larger number; found {low:g} and {high:g}")
        return low, high


def _within_range(scores: Values, name: str) -> Values:
    """Return finite scores; raise an error if one is too large."""
    if not (np.abs(scores) <= _LARGEST).all():
        at = int(np.argmax(~(np.abs(scores) <= _LARGEST)))
        raise unexpected(f"{name}[{at}]", "a finite number up to 2^400", shown(float(scores[at])))
    return scores


def _matrix(values: Any, name: str, size: tuple[str, int], *, last: bool = False) -> Values:
    """Return a two-dimensional array of finite numbers whose first or last dimension has a size."""
    array = as_array(values, name)
    expected = f"shape (n, {size[1]})" if last else f"shape ({size[1]}, n)"
    if array.ndim != 2 or array.shape[-1 if last else 0] != size[1]:
        raise unexpected(name, f"{expected}, with {size[0]} = {size[1]}", f"shape {array.shape}")
    if array.dtype.kind not in "biuf" or not np.isfinite(array).all():
        raise InputError(name, "must be finite numbers")
    return np.ascontiguousarray(array, dtype=np.float64)
