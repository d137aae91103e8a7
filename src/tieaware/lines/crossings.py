"""The pass over the crossings of scores: the breaks and the means of the measures along a line."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Values
from tieaware.engine.prepared import Prepared
from tieaware.kernels import _lines

Mask = npt.NDArray[np.bool_]


class Steps(NamedTuple):
    """Step functions of t, one for each measure.

    Parameters
    ----------
    breaks : float64[n]
    means : float64[n + 1, n_measures]
        The means over the queries before, between and after the breaks.
    sums : float64[n + 1, n_measures, 2] or None
        The sums over the queries of the differences of the values from a centre, and of their squares.
    """

    breaks: Values
    means: Values
    sums: Values | None


class Pencil(NamedTuple):
    """The lines of all documents' scores, a + t d, for t between two bounds.

    Parameters
    ----------
    prepared : Prepared
    a, d : float64[n_docs]
    low, high : float
    """

    prepared: Prepared
    a: Values
    d: Values
    low: float
    high: float

    def steps(self, included: Mask | None = None, centre: Values | None = None) -> Steps:
        """Return the means along the line over some queries, or over all; with a centre, also the sums."""
        n_queries = len(self.prepared.offsets) - 1
        mask = np.ones(n_queries, np.uint8) if included is None else included.astype(np.uint8)
        middle = None if centre is None else np.ascontiguousarray(centre, np.float64)
        line = _lines.Line(self.prepared.engine, self.a, self.d, self.low, self.high, mask, middle)
        return Steps(line.breaks, line.means, line.sums)

    def query(self, query: int) -> Pencil:
        """Return the lines of the documents of one query."""
        documents = slice(self.prepared.offsets[query], self.prepared.offsets[query + 1])
        return self._replace(prepared=self.prepared.rows(query, query + 1), a=self.a[documents], d=self.d[documents])

    def scores(self, t: float) -> Values:
        """Return the scores at t."""
        return self.a + t * self.d


def runs(steps: Steps, column: int, low: float, high: float) -> tuple[Values, Values, Values]:
    """Return the longest intervals on which a measure does not change: their lower ends, upper ends, and values."""
    values = steps.means[:, column]
    changes = np.flatnonzero(values[1:] != values[:-1])
    ends = steps.breaks[changes]
    return np.concatenate(([low], ends)), np.concatenate((ends, [high])), values[np.concatenate((changes, [-1]))]


def inside(low: float, high: float) -> float:
    """Return a number inside an interval: the middle of a finite one."""
    if np.isinf(low) and np.isinf(high):
        return 0.0
    if np.isinf(low):
        return high - max(1.0, abs(high))
    if np.isinf(high):
        return low + max(1.0, abs(low))
    return low + (high - low) / 2.0
