"""Thresholds: a scale of levels that all lists share, and the choice of its cuts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import numbers, unexpected, whole_number
from tieaware.checks.arrays import Integers, Offsets, Scores, Values, as_offsets, as_scores, check_no_nan
from tieaware.checks.rounding import first_greatest, rounding_of
from tieaware.errors import InputError
from tieaware.kernels import _numbers
from tieaware.precision.coarsening import NamedCoarsening

_LARGEST = sys.float_info.max
_MOST_LEVELS = 2**16
# With at most this many cuts, it is faster to compare all scores with each than to search for each score.
_COMPARED = 64


@dataclass(frozen=True)
class Thresholds(NamedCoarsening):
    """Replace each score by its level on a scale that all lists share, as that of a grader or a quantiser.

    A score that equals a cut is in the level above it. Infinite scores are in the first or the last level.

    Parameters
    ----------
    cuts : sequence of float
        The lowest score of each level but the lowest, ascending; at least one, all finite.

    Raises
    ------
    InputError
        If there is no cut, or if a cut is not a finite number above the cut before it.

    Examples
    --------
    >>> import tieaware
    >>> tieaware.Evaluator([0, 1, 0], ["RR"], precision="thresholds:0.1,0.5")([0.9, 0.5, 0.4])
    array([[0.75]])
    """

    cuts: tuple[float, ...]

    names: ClassVar[tuple[str, ...]] = ("thresholds",)
    number = "CUTS"
    example = "thresholds:0.1,0.5"

    def __post_init__(self) -> None:
        # Adding 0 turns -0.0 into 0.0, so that equal cuts have one notation.
        cuts = tuple(each + 0.0 for each in numbers("cuts", self.cuts, -_LARGEST, _LARGEST))
        if not cuts:
            raise unexpected("cuts", "at least one", "none")
        for i, (lower, upper) in enumerate(pairwise(cuts)):
            if lower >= upper:
                raise InputError("cuts", f"must ascend; cuts[{i + 1}] is {upper!r}, after {lower!r}")
        object.__setattr__(self, "cuts", cuts)

    @classmethod
    def from_number(cls, number: str | None) -> Self:
        """Return the coarsening with the cuts that stand after the colon, separated by commas."""
        try:
            return cls(tuple(_numbers.number(cut) for cut in (number or "").split(",")))
        except InputError:
            raise
        except (ValueError, ArithmeticError):
            raise InputError("precision", f"thresholds needs ascending cuts, as in {cls.example}") from None

    def __str__(self) -> str:
        return f"thresholds:{','.join(map(repr, self.cuts))}"

    def coarsen(self, scores: Scores, offsets: Offsets) -> Scores:
        """Replace each score by the number of cuts that it reaches, 0 … n - 1 for a scale of n levels; NaN stays."""
        levels = self._levels(scores).astype(np.float32)
        levels[np.isnan(scores)] = np.nan
        return levels

    def _levels(self, scores: Scores) -> Integers:
        # float32 scores are compared in double precision, as which the cuts are given.
        if len(self.cuts) > _COMPARED:
            return np.searchsorted(np.array(self.cuts), scores, side="right")
        levels: npt.NDArray[Any] = np.zeros(len(scores), np.uint8)
        for cut in self.cuts:
            levels += scores >= np.float64(cut)
        return levels


def geometric_thresholds(scores: npt.ArrayLike, n: int, offsets: npt.ArrayLike | None = None) -> Thresholds:
    """Return the scale of n levels whose sizes grow by a constant factor from the highest level to the lowest.

    If a list has m documents on average, the l highest levels hold m^(l/n) of them on average: the cut is the quantile
    1 - m^(l/n - 1) of all scores, between two scores if need be. No judgments are needed.

    Parameters
    ----------
    scores : real numbers, shape (n_docs,) or (n_queries, depth)
        The scores of all lists. Infinite scores are left out.
    n : int
        The number of levels, 2 … 65,536. There are fewer if cuts fall on the same score.
    offsets : integers[n_queries + 1], optional
        The index at which each list starts, and the end of the last. By default, each row is a list, or all scores are.

    Returns
    -------
    Thresholds

    Raises
    ------
    InputError
        If no score is finite, a score is NaN, or an argument is wrong.

    Examples
    --------
    Of 16 documents, 2, 2, 4 and 8 are in the four levels:

    >>> scale = geometric_thresholds(np.arange(16.0), 4)
    >>> np.bincount(scale.coarsen(np.arange(16.0), np.array([0, 16])).astype(int))
    array([8, 4, 2, 2])
    """
    n = whole_number("n", n, 2, _MOST_LEVELS)
    array = as_scores(scores, "scores")
    check_no_nan(array, "scores")
    if offsets is not None:
        n_lists = len(as_offsets(offsets, array.size, "offsets", "scores")) - 1
    else:
        n_lists = len(array) if array.ndim == 2 else 1
    finite = array[np.isfinite(array)].astype(np.float64)
    if not len(finite):
        raise InputError("scores", "must have a finite score")
    length = max(1.0, len(finite) / n_lists)
    shares = length ** (np.arange(n - 1, 0, -1) / n - 1.0)
    # Interpolation halves the scores, so that differences of two of them cannot overflow.
    return Thresholds(tuple(np.unique(2.0 * np.quantile(0.5 * finite, 1.0 - shares)).tolist()))


class ValuesOfCuts(Protocol):
    """An evaluator of one measure that knows what scales of two and three levels are worth."""

    def _values_of_cuts(self, scores: Any, most: int) -> tuple[Values, Values]:
        """Return candidate cuts in descending order, float64[n], and values, float64[n, n].

        Element (i, j) of the values is the mean of the measure with cuts i <= j, element (i, i) that with one cut.
        """


# The most candidates for a cut.
MOST_CANDIDATES = 128


def best_thresholds(evaluator: ValuesOfCuts, scores: npt.ArrayLike, n: int) -> Thresholds:
    """Return the scale of at most n levels with the highest mean of a measure, by dynamic programming.

    The candidates for cuts are the scores of the documents that count for the measure: no other cut is better, because
    lowering a cut to the next such score only puts worthless documents into the level above. If they have more than 128
    different scores, 128 quantiles of these are the candidates. The scale is the best with cuts at the candidates,
    exactly, for these queries; on others it is worth less.

    Parameters
    ----------
    evaluator : Evaluator
        Of one measure that is a sum over levels (AP, RR, nDCG, DCG, RBP, ERR, P, R, Success or Hits) and without a
        precision; its tie rule must not depend on positions or identifiers.
    scores : real numbers
        As for a call of the evaluator.
    n : int
        The largest number of levels, 2 … 65,536. There are fewer if that is as good; the only cut may be at the lowest
        score, so that all documents tie.

    Returns
    -------
    Thresholds

    Raises
    ------
    InputError
        If the evaluator has another measure or several, or no document that counts; or as for a call.

    Examples
    --------
    >>> import tieaware
    >>> evaluator = tieaware.Evaluator([[1, 0, 0, 1], [0, 1, 0, 0]], "AP")
    >>> scores = [[0.9, 0.7, 0.5, 0.3], [0.8, 0.6, 0.2, 0.1]]
    >>> best_thresholds(evaluator, scores, 2), best_thresholds(evaluator, scores, 3)
    (Thresholds(cuts=(0.3,)), Thresholds(cuts=(0.3, 0.9)))
    """
    n = whole_number("n", n, 2, _MOST_LEVELS)
    return best_scales(evaluator, scores, (n,), MOST_CANDIDATES)[0]


def best_scales(
    evaluator: ValuesOfCuts, scores: npt.ArrayLike, sizes: Sequence[int], most: int
) -> tuple[Thresholds, ...]:
    """Return what `best_thresholds` returns for each number of levels, with at most this number of candidates."""
    cuts, values = evaluator._values_of_cuts(scores, most)
    paths = [_best_path(values, n - 1) for n in sizes]
    return tuple(Thresholds(tuple(cuts[path][::-1].tolist())) for path in paths)


def _best_path(values: Values, most: int) -> list[int]:
    """Return the candidates, in ascending order of their positions, of the best scale with 1 … `most` cuts.

    A measure is a sum of parts, one for each level. So another cut j below the lowest cut i of a scale adds
    values[i, j] - values[i, i] to its value.
    """
    n = len(values)
    alone = np.diagonal(values)
    added = np.where(np.triu(np.ones((n, n), bool), 1), values - alone[:, None], -np.inf)
    rounding = rounding_of(alone)
    ends, before = alone, np.empty((0, n), np.int64)
    best, path = -np.inf, [0]
    for n_cuts in range(1, min(most, n) + 1):
        if n_cuts > 1:
            sums = ends[:, None] + added
            before, ends = np.vstack([before, sums.argmax(axis=0)]), sums.max(axis=0)
        last = first_greatest(ends, rounding)
        if ends[last] > best + rounding:
            best, path = float(ends[last]), _followed(before, last)
    return path


def _followed(before: npt.NDArray[np.int64], last: int) -> list[int]:
    """Return the path that ends at a candidate; row r of `before` has the candidate before each one in step r + 1."""
    path = [last]
    for row in before[::-1]:
        path.append(int(row[path[-1]]))
    return path[::-1]
