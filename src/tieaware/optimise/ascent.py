"""Coordinate ascent by exact line searches: one weight at a time is set to the best of all its values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import checked_seed, flag, unexpected, whole_number
from tieaware.checks.arrays import Values, as_array
from tieaware.errors import InputError
from tieaware.evaluator import Evaluator
from tieaware.lines.line import Line, column_of
from tieaware.measures import Measure

# A search that still improves after this many sweeps over all features improves by next to nothing.
_MOST_SWEEPS = 50
# How many random directions a sweep that improves nothing tries for each feature.
_RANDOM = 3
# How many t of a line are tried: scores are added in another order there, so values may differ.
_MOST_TRIES = 4
# How far from the ends of a line without negative weights the search stays, relative to the ends.
_MARGIN = 1e-9


class Ascent(NamedTuple):
    """The result of `coordinate_ascent`.

    Attributes
    ----------
    weights : float64[n_features]
        The weights; their absolute values add up to 1.
    value : float
        The mean of the measure for ``evaluator.combinations(features, [weights])``, bit for bit.
    held_out : float
        The mean for the held-out queries; NaN without them.
    sweeps : int
        The number of sweeps over all features, of the start that gave the result.
    start : int
        Which start gave the result: 0 for the first, and 1 … `restarts` for random ones.
    """

    weights: Values
    value: float
    held_out: float
    sweeps: int
    start: int


def coordinate_ascent(
    evaluator: Evaluator,
    features: npt.ArrayLike,
    measure: str | Measure | None = None,
    *,
    start: Sequence[float] | npt.ArrayLike | None = None,
    restarts: int = 0,
    seed: int = 0,
    held_out: tuple[Evaluator, npt.ArrayLike] | None = None,
    nonnegative: bool = False,
) -> Ascent:
    """Find weights of features whose weighted sum ranks well: the mean of a measure over the queries is maximised.

    Each step changes one weight, to a number inside the widest interval of its best values. These are known exactly
    (`Evaluator.along`), so no step size has to be chosen, and no peak is missed. A sweep takes each feature once,
    and then the direction of the whole sweep. If it improves nothing, random directions follow, three times as many as
    features; if these improve nothing either, the search ends. The result is best along each feature, which need not
    be the best of all weights: `restarts` begins from further, random weights. `tieaware.experiments.fusion`, with a
    run for each feature and ``normalise="none"``, also says whether the weights are more than noise.

    Parameters
    ----------
    evaluator : Evaluator
        With a tie rule for which lines exist: "average", "optimistic" or "pessimistic".
    features : real numbers, shape (n_docs, n_features)
        The features of each document.
    measure : str or Measure, optional
        One of the evaluator's measures. By default its only one.
    start : real numbers, shape (n_features,), optional
        The weights to start from, not all 0. By default, equal ones.
    restarts : int
        The number of further starts, from random weights.
    seed : int
        The seed of the generator of these weights and of the random directions.
    held_out : (Evaluator, features), optional
        Queries that are not searched. After each sweep, their mean is computed, and the weights of the sweep with the
        best held-out mean are returned, so that the search stops before it fits noise.
    nonnegative : bool
        Whether no weight may be below 0.

    Returns
    -------
    Ascent

    Raises
    ------
    InputError
        If a shape is wrong or a number not finite; if the evaluator lacks the measure or has no lines; or if all
        weights of `start` are 0, or one is negative although none may be.

    References
    ----------
    Metzler, D. and Croft, W. B. (2007). Linear feature-based models for information retrieval. Information Retrieval
    10(3).

    Examples
    --------
    The first feature is worth more than the second.

    >>> import numpy as np, tieaware
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, (50, 10))
    >>> features = np.stack([labels + rng.random((50, 10)), labels + 4 * rng.random((50, 10))], axis=-1).reshape(-1, 2)
    >>> found = tieaware.optimise.coordinate_ascent(tieaware.Evaluator(labels, "AP"), features)
    >>> bool(found.weights[0] > found.weights[1] > 0), found.value
    (True, 1.0)
    """
    search = _WeightClimb(evaluator, features, measure, held_out, flag("nonnegative", nonnegative))
    restarts, seed = whole_number("restarts", restarts, 0, 10**6), checked_seed(seed)
    rng = np.random.default_rng(seed)
    first = np.ones(search.n_features) if start is None else _checked_start(start, search.n_features, nonnegative)
    best: Ascent | None = None
    for i in range(restarts + 1):
        found = search.climb(first if i == 0 else search.random(rng), i, rng)
        if best is None or search.is_better(found, best):
            best = found
    assert best is not None
    return best


class _WeightClimb:
    """One search: the evaluator, its features by column, and the measure."""

    def __init__(
        self, evaluator: Evaluator, features: npt.ArrayLike, measure: str | Measure | None,
        held_out: tuple[Evaluator, npt.ArrayLike] | None, nonnegative: bool,
    ) -> None:  # fmt: skip
        self.evaluator = evaluator
        self.least = 0.0 if nonnegative else -np.inf
        self.features = as_array(features, "features")
        if self.features.ndim != 2 or len(self.features) != evaluator.n_docs or not self.features.shape[1]:
            expected = f"shape ({evaluator.n_docs}, n_features)"
            raise unexpected("features", expected, f"shape {self.features.shape}")
        self.n_features: int = self.features.shape[1]
        self.column = column_of(evaluator.measures, measure)
        self.sign = -1.0 if evaluator.measures[self.column].definition.less_is_better else 1.0
        self.held_out = held_out
        if held_out is not None:
            self.held_out_column = column_of(held_out[0].measures, evaluator.measures[self.column])

    def random(self, rng: np.random.Generator) -> Values:
        """Return random weights to start from."""
        weights = rng.normal(size=self.n_features)
        return np.abs(weights) if self.least == 0.0 else weights

    def climb(self, weights: Values, start: int, rng: np.random.Generator) -> Ascent:
        """Climb from these weights; return the best weights of all sweeps by the held-out queries, or the last."""
        weights = weights / np.abs(weights).sum()
        value = self.value(weights)
        best = Ascent(weights, value, self.value_of_held_out(weights), 0, start)
        for sweep in range(1, _MOST_SWEEPS + 1):
            before = value
            first = weights
            for direction in np.eye(self.n_features):
                weights, value = self.step(weights, value, direction)
            if (weights != first).any():
                weights, value = self.step(weights, value, weights - first)
            if not self.sign * value > self.sign * before:
                for direction in rng.normal(size=(_RANDOM * self.n_features, self.n_features)):
                    weights, value = self.step(weights, value, direction)
            found = Ascent(weights, value, self.value_of_held_out(weights), sweep, start)
            if self.is_better(found, best):
                best = found
            if not self.sign * value > self.sign * before:
                break
        return best

    def step(self, weights: Values, value: float, direction: Values) -> tuple[Values, float]:
        """Return the best weights along a direction, and their value; the same weights if none is better."""
        features = np.flatnonzero(direction)
        rest, bounds = weights, self.bounds(weights, direction)
        if len(features) == 1:
            # The line begins without the feature, not at its weight. So documents that differ only in this feature
            # cross at 0 exactly, and not at many weights that rounding makes of it.
            rest, bounds = np.where(direction, 0.0, weights), (self.least, np.inf)
            direction = np.abs(np.sign(direction))
        if not bounds[0] < bounds[1]:
            return weights, value
        line: Line = self.evaluator.along(self.sums(rest), self.sums(direction), bounds)
        for expected, t in islice(line.attempts(self.column), _MOST_TRIES):
            if not self.sign * expected > self.sign * value:
                break
            changed = np.maximum(rest + t * direction, self.least)
            if not changed.any():
                continue
            changed /= np.abs(changed).sum()
            attained = self.value(changed)
            if self.sign * attained > self.sign * value:
                return changed, attained
        return weights, value

    def bounds(self, weights: Values, direction: Values) -> tuple[float, float]:
        """Return the bounds of t within which no weight plus t times the direction is below the least one."""
        if self.least == -np.inf:
            return -np.inf, np.inf
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = -weights / direction
        low = float(ends[direction > 0.0].max(initial=-np.inf))
        high = float(ends[direction < 0.0].min(initial=np.inf))
        # Documents that differ in one feature alone cross at an end, or where rounding puts it: stay away from there.
        low = low if np.isinf(low) else low + _MARGIN * max(1.0, abs(low))
        return low, high if np.isinf(high) else high - _MARGIN * max(1.0, abs(high))

    def sums(self, weights: Values) -> Values:
        """Return the weighted sums of the features, added in their order."""
        scores = np.zeros(self.evaluator.n_docs)
        for feature in np.flatnonzero(weights):
            scores += weights[feature] * self.features[:, feature]
        return scores

    def value(self, weights: Values) -> float:
        """Return the mean of the measure for these weights."""
        return float(self.evaluator.combinations(self.features, weights[None])[0, self.column])

    def value_of_held_out(self, weights: Values) -> float:
        if self.held_out is None:
            return float("nan")
        evaluator, features = self.held_out
        return float(evaluator.combinations(features, weights[None])[0, self.held_out_column])

    def is_better(self, found: Ascent, known: Ascent) -> bool:
        """Return whether a result is better: by the held-out queries if there are any."""
        if self.held_out is not None and found.held_out != known.held_out:
            return self.sign * found.held_out > self.sign * known.held_out
        return self.sign * found.value > self.sign * known.value


def _checked_start(start: npt.ArrayLike, n_features: int, nonnegative: bool) -> Values:
    weights = as_array(start, "start")
    if weights.shape != (n_features,) or weights.dtype.kind not in "biuf":
        raise unexpected("start", f"{n_features} numbers, one for each feature", f"shape {weights.shape}")
    if not np.isfinite(weights).all() or not weights.any():
        raise InputError("start", "must be finite weights that are not all 0")
    if nonnegative and (weights < 0).any():
        raise InputError("start", "must not have negative weights if nonnegative is True")
    return weights.astype(np.float64)
