"""The search for the weights of fused runs: on all queries, and on all folds of the queries but one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.evaluator import Evaluator
from tieaware.lines import Line
from tieaware.optimise.ascent import coordinate_ascent
from tieaware.optimise.weighted_fusion import WeightedFusion


class HeldOut(NamedTuple):
    """What weights earn on queries that were not used to choose them.

    Attributes
    ----------
    weights : float64[folds, n_runs]
        The weights that were chosen on all other folds.
    values : float64[n_queries]
    """

    weights: Values
    values: Values


class WeightSearch:
    """The best weights of runs by one measure: for two runs on an exact line, for more by coordinate ascent.

    Parameters
    ----------
    fusion : WeightedFusion
        With one measure.
    restarts : int
        The number of further starts of coordinate ascent, from random weights.
    seed : int
        The seed of these weights, and of the folds.

    Attributes
    ----------
    weights : float64[n_runs]
        The best weights found; not negative, with the sum 1.
    lines : tuple of Line
        Along each line, the weight of a run goes from 0 to 1, while the others keep their proportions. For two runs,
        this is only the line of the second, because that of the first is its mirror image.
    """

    def __init__(self, fusion: WeightedFusion, restarts: int, seed: int) -> None:
        self._fusion, self._restarts, self._seed = fusion, restarts, seed
        if len(fusion.runs) == 2:
            line = fusion.evaluator.between(fusion.features[:, 0], fusion.features[:, 1])
            with _no_warnings():
                self.weights: Values = _shares(line.best().t)
            self.lines: tuple[Line, ...] = (line,)
        else:
            self.weights = self._ascend(fusion.evaluator, fusion.features)
            self.lines = tuple(self._line(run) for run in range(len(fusion.runs)))

    def held_out(self, folds: int, progress: Callable[[Iterable[int]], Iterable[int]]) -> HeldOut:
        """Choose weights on all folds but one, and evaluate them on that one, for each fold.

        Parameters
        ----------
        folds : int
            From 2 to the number of queries.
        progress : callable
            Takes the folds, and yields them.
        """
        if len(self.weights) == 2:
            with _no_warnings():
                crossed = self.lines[0].cross_validated(folds=folds, seed=self._seed)
            return HeldOut(np.array([_shares(t) for t in crossed.t.tolist()]), crossed.values)
        n_queries = len(self._fusion.queries)
        fold = np.random.default_rng(self._seed).permutation(n_queries) % folds
        weights, values = np.empty((folds, len(self.weights))), np.empty(n_queries)
        for i in progress(range(folds)):
            weights[i] = self._ascend(*self._fusion.part(fold != i))
            values[fold == i] = self._fusion(weights[i])[fold == i, 0]
        return HeldOut(weights, values)

    def _ascend(self, evaluator: Evaluator, features: Values) -> Values:
        return coordinate_ascent(
            evaluator, features, nonnegative=True, restarts=self._restarts, seed=self._seed
        ).weights

    def _line(self, run: int) -> Line:
        others = np.delete(self.weights, run)
        # If the run has all of the weight, the others share it equally.
        others = others / others.sum() if others.any() else np.full(len(others), 1.0 / len(others))
        mixed = self._fusion.scores(np.insert(others, run, 0.0))
        return self._fusion.evaluator.between(mixed, self._fusion.features[:, run])


@contextmanager
def _no_warnings() -> Iterator[None]:
    """Suppress the warning that a line is the same everywhere: the experiment says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def _shares(t: float) -> Values:
    return np.array([1.0 - t, t])
