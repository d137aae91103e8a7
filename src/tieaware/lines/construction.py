"""Lines of scores that callers give, checked: `along` and `between`; and many weighted sums of features."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import number, shown, unexpected
from tieaware.checks.arrays import Scores, Values, as_array
from tieaware.engine.prepared import Prepared
from tieaware.errors import InputError
from tieaware.lines.crossings import Pencil
from tieaware.lines.line import Line
from tieaware.precision import Coarsening, parse_precision
from tieaware.precision.coarsening import coarsened

# Larger scores would overflow when crossings are computed exactly.
_LARGEST = 2.0**400
# The most crossings that are kept in memory, at 24 bytes each and up to twice as much for the values between them.
_MOST_CROSSINGS = 2**28


def along(prepared: Prepared, scores: Scores, direction: Scores, bounds: tuple[float, float]) -> Line:
    """Return the line of scores + t * direction; see `Evaluator.along`. Scores are checked for their shapes."""
    low, high = _checked_bounds(bounds)
    _check_lines(prepared)
    starts, directions = _finite(prepared, scores, "scores"), _finite(prepared, direction, "direction")
    return _line(Pencil.along(prepared, starts, directions, low, high))


def between(prepared: Prepared, a: Scores, b: Scores, precision: str | Coarsening | None) -> Line:
    """Return the line of (1 - t) * a + t * b; see `Evaluator.between`. Scores are checked for their shapes."""
    _check_lines(prepared)
    first, last = _finite(prepared, a, "a"), _finite(prepared, b, "b")
    if precision is not None:
        coarsening = parse_precision(precision)
        if not getattr(coarsening, "rounds", True):
            raise InputError("precision", f"{coarsening} does not round single scores, so lines cannot take it")
        first, last = _coarse(prepared, first, coarsening, "a"), _coarse(prepared, last, coarsening, "b")
    return _line(Pencil.between(prepared, first, last))


def combinations(prepared: Prepared, features: npt.ArrayLike, weights: npt.ArrayLike) -> Values:
    """Return the means at many weighted sums of features; see `Evaluator.combinations`."""
    n_docs = int(prepared.offsets[-1])
    columns = _matrix(features, "features", ("n_docs", n_docs))
    candidates = _matrix(weights, "weights", ("n_features", columns.shape[1]), last=True)
    by_feature = np.ascontiguousarray(columns.T)
    averages = np.empty((len(candidates), len(prepared.measures)))
    scores, product = np.empty(n_docs), np.empty(n_docs)
    for i, candidate in enumerate(candidates):
        scores.fill(0.0)
        for feature in np.flatnonzero(candidate):
            np.multiply(by_feature[feature], candidate[feature], out=product)
            scores += product
        averages[i] = prepared.means(scores[None])[0]
    return averages


def _check_lines(prepared: Prepared) -> None:
    """Raise InputError if the evaluation has no lines."""
    rule = prepared.wanted.rule
    if prepared.wanted.coarsening is not None or prepared.bands:
        raise InputError(
            "precision", "rounds the scores of every t, so they form no lines; use an evaluator without one"
        )
    if not rule.by_score_alone:
        needed = "lines need 'average', 'optimistic' or 'pessimistic'"
        raise InputError("ties", f"{rule.name!r} orders tied documents one by one; {needed}")
    if prepared.excluded is not None:
        raise InputError("exclude", "lines cannot leave out items; drop them from the lists")
    if prepared.extremes is not None:
        raise InputError(
            "ties", f"{rule.name!r} needs measures whose best order is by label; use 'average' for lines"
        )
    for measure in prepared.measures:
        if measure.definition.is_geometric:
            raise InputError(f"{measure}", "has a geometric mean, which lines lack")
    if len(prepared.offsets) == 1:
        raise InputError("line", "needs at least one query")


def _line(pencil: Pencil) -> Line:
    if pencil.n_pairs > _MOST_CROSSINGS:
        raise InputError("line", "has more than 2^28 crossings; take fewer queries or documents at a time")
    return Line(pencil)


def _finite(prepared: Prepared, scores: Scores, name: str) -> Values:
    """Return scores as float64, one for each document."""
    # A copy: the kernel reads the scores several times, and another thread must not change them meanwhile.
    flat = _within_range(np.array(scores, dtype=np.float64), name)
    return flat if len(flat) == prepared.offsets[-1] else np.tile(flat, len(prepared.offsets) - 1)


def _coarse(prepared: Prepared, scores: Values, coarsening: Coarsening, name: str) -> Values:
    """Return the rounded scores as float64."""
    rounded = coarsened(coarsening, scores, prepared.offsets)
    return _within_range(np.ascontiguousarray(rounded, dtype=np.float64), f"{name} as {coarsening}")


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
