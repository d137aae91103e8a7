"""Coordinate ascent by exact line searches: one weight at a time is set to the best of all its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import checked_seed, flag, unexpected, whole_number
from tieaware.checks.arrays import Values, as_array
from tieaware.errors import InputError
from tieaware.evaluator import Evaluator
from tieaware.lines.line import Line, column_of
from tieaware.measures import Measure
from tieaware.optimise.normalisation import NORMALISATIONS, RankedLists
from tieaware.optimise.trial import HeldOut, Trial, decimals_of
from tieaware.output.tables import significant
from tieaware.runtime.progress import progress

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
    trial : Trial or None
        With `folds`, what weights earn on queries that did not choose them, beside reciprocal rank fusion and each
        feature alone, in its better direction. Queries without a value are left out.
    """

    weights: Values
    value: float
    held_out: float
    sweeps: int
    start: int
    trial: Trial | None = None

    def verdict(self, names: Sequence[str] = ()) -> str:
        """Return whether the weights are worth more than none, in the words of `tieaware.experiments.fusion`.

        They are called noise if weights that were chosen on other queries earn no more than reciprocal rank fusion or
        than the best feature alone, or if no paired t-test separates any weight from the best one.

        Parameters
        ----------
        names : sequence of str
            The names of the features; by default "feature 0" and so on.

        Returns
        -------
        str

        Raises
        ------
        InputError
            If the search had no `folds`, or there is not one name for each feature.
        """
        if self.trial is None:
            raise InputError("verdict", "needs queries that do not choose the weights; search with folds=10")
        names = tuple(names) or self.trial.names
        if len(names) != len(self.weights):
            raise InputError("names", f"must be one for each of the {len(self.weights)} features; found {len(names)}")
        return replace(self.trial, names=names).verdict()

    def __str__(self) -> str:
        if self.trial is not None:
            return self.verdict()
        weights = ", ".join(f"{weight:.4g}" for weight in self.weights)
        return f"The weights {weights} earn {significant(self.value)}. With folds=10, a verdict says if they are noise."


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
    folds: int | None = None,
) -> Ascent:
    """Find weights of features whose weighted sum ranks well: the mean of a measure over the queries is maximised.

    Each step changes one weight, to a number inside the widest interval of its best values. These are known exactly
    (`Evaluator.along`), so no step size has to be chosen, and no peak is missed. A sweep takes each feature once,
    and then the direction of the whole sweep. If it improves nothing, random directions follow, three times as many as
    features; if these improve nothing either, the search ends. The result is best along each feature, which need not
    be the best of all weights: `restarts` begins from further, random weights. The best weights earn more on the
    queries that chose them than on others; with `folds`, the result's `verdict` says whether they are more than noise.

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
    folds : int, optional
        The number of folds of the queries, such as 10: all but one choose weights for that one, in turn, which takes as
        many further searches. Their values are the `trial` of the result.

    Returns
    -------
    Ascent

    Raises
    ------
    InputError
        If a shape is wrong or a number not finite; if the evaluator lacks the measure or has no lines; if all weights
        of `start` are 0, or one is negative although none may be; or if there are fewer queries than folds, or `folds`
        is given with a single feature.

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
    >>> found = tieaware.optimise.coordinate_ascent(tieaware.Evaluator(labels, "AP"), features, folds=5)
    >>> bool(found.weights[0] > found.weights[1] > 0), found.value
    (True, 1.0)
    >>> print(found.verdict(["clicks", "text"]).partition(". ")[0])
    Do not fuse them: clicks alone earns as much, and the best weights are noise
    """
    search = _WeightClimb(evaluator, features, measure, held_out, flag("nonnegative", nonnegative))
    restarts, seed = whole_number("restarts", restarts, 0, 10**6), checked_seed(seed)
    folds = None if folds is None else whole_number("folds", folds, 2, 2**31)
    if folds is not None and search.n_features < 2:
        raise InputError("folds", "must be left out with a single feature, whose weight does not matter")
    rng = np.random.default_rng(seed)
    first = np.ones(search.n_features) if start is None else _checked_start(start, search.n_features, nonnegative)
    options = {"start": start, "restarts": restarts, "held_out": held_out, "nonnegative": nonnegative}
    on_folds = None if folds is None else chosen_on_folds(evaluator, features, measure, folds, seed, **options)
    best: Ascent | None = None
    for i in range(restarts + 1):
        found = search.climb(first if i == 0 else search.random(rng), i, rng)
        if best is None or search.is_better(found, best):
            best = found
    assert best is not None
    return best if on_folds is None else best._replace(trial=search.trial(best, on_folds))


def chosen_on_folds(
    evaluator: Evaluator, features: npt.ArrayLike, measure: str | Measure | None, folds: int, seed: int, **options: Any
) -> HeldOut:
    """Choose weights on all folds of the queries but one, and evaluate them on that one, for each fold.

    Parameters as for `coordinate_ascent`; raises InputError if there are fewer queries than folds.
    """
    n_queries, rows = evaluator.n_queries, as_array(features, "features")
    if n_queries < folds:
        raise InputError("folds", f"must be at most the number of queries, {n_queries}; found {folds}")
    column = column_of(evaluator.measures, measure)
    fold = np.random.default_rng(seed).permutation(n_queries) % folds
    weights, values = np.empty((folds, rows.shape[1])), np.empty(n_queries)
    for i in progress(range(folds), "folds"):
        others, documents = evaluator._part(fold != i)
        weights[i] = coordinate_ascent(others, rows[documents], measure, seed=seed, **options).weights
        values[fold == i] = evaluator(weighted_sum(rows, weights[i]))[fold == i, column]
    return HeldOut(weights, values)


def weighted_sum(features: npt.NDArray[Any], weights: Values) -> Values:
    """Return the weighted sum of the features, added in their order."""
    scores = np.zeros(len(features))
    for feature in np.flatnonzero(weights):
        scores += weights[feature] * features[:, feature]
    return scores


def line_of_weight(evaluator: Evaluator, features: npt.NDArray[Any], weights: Values, i: int) -> Line:
    """Return the line along which the size of a weight goes from 0 to 1, while the others keep their proportions."""
    others = np.delete(weights, i)
    # If a feature has all of the weight, the others share it equally.
    others = others / np.abs(others).sum() if others.any() else np.full(len(others), 1.0 / len(others))
    own = features[:, i] * (-1.0 if weights[i] < 0.0 else 1.0)
    return evaluator.between(weighted_sum(features, np.insert(others, i, 0.0)), own)


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
        sums = weighted_sum(self.features, rest), weighted_sum(self.features, direction)
        line: Line = self.evaluator.along(*sums, bounds)
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

    def value(self, weights: Values) -> float:
        """Return the mean of the measure for these weights."""
        return float(self.evaluator.combinations(self.features, weights[None])[0, self.column])

    def value_of_held_out(self, weights: Values) -> float:
        if self.held_out is None:
            return float("nan")
        evaluator, features = self.held_out
        return float(evaluator.combinations(features, weights[None])[0, self.held_out_column])

    def trial(self, found: Ascent, held_out: HeldOut) -> Trial:
        """Return what weights earn on other queries, beside reciprocal rank fusion and each feature alone."""
        # Integers without a sign become real numbers by this product.
        turned = -1.0 * self.features
        means, negated = (self.evaluator.columns(each)[:, self.column] for each in (self.features, turned))
        is_negated = (self.least < 0.0) & (self.sign * negated > self.sign * means)
        alone = np.where(is_negated, turned, self.features).T
        lists = np.repeat(np.arange(self.evaluator.n_queries), np.diff(self.evaluator._prepared.offsets))
        ranks = sum(NORMALISATIONS["rrf"].apply(RankedLists(scores, lists)) for scores in alone)
        others = np.array([self.evaluator(scores)[:, self.column] for scores in (ranks, *alone)])
        known = ~np.isnan(held_out.values)
        measure = self.evaluator.measures[self.column]
        separated = any(
            line_of_weight(self.evaluator, self.features, found.weights, i).plateau(measure)[:2] != (0.0, 1.0)
            for i in range(self.n_features)
        )
        names = tuple(f"feature {i}" for i in range(self.n_features))
        held_out = held_out._replace(values=held_out.values[known])
        decimals = decimals_of(found.weights, found.value, held_out.values, self.value)
        return Trial(measure, names, found.weights, found.value, decimals, held_out, others[:, known], separated)

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
