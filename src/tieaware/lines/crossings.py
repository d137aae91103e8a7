"""The pass over the crossings of scores: the breaks and the means of the measures along a line."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Values
from tieaware.engine.prepared import Prepared
from tieaware.kernels import _lines
from tieaware.runtime.threads import over_items

Mask = npt.NDArray[np.bool_]
# The lower ends, the upper ends and the values of intervals.
Runs = tuple[Values, Values, Values]

# How many of the best intervals are tried before the search gives up finding one that holds a double at which no scores
# are rounded into other ties.
MOST_TRIES = 200
# A line with fewer crossings is computed as a whole.
_FEW = 2**17
# Otherwise it is computed in an even number of parts with about this many crossings each, or more for a long line, as
# every part reads all documents. A crossing takes about 60 bytes while its part is computed.
_LEAST_CROSSINGS, _MOST_CROSSINGS = 2**20, 2**21
_FEW_PARTS = 16
# How many pairs of documents are drawn to divide a line.
_SAMPLE = 2**14


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

    @property
    def n_pairs(self) -> int:
        """The number of pairs of a weighted document and a document of its list: at least that of the crossings."""
        return int((np.diff(self.prepared.engine.weighted_offsets) * np.diff(self.prepared.offsets)).sum())

    def steps(self, included: Mask | None = None, centre: Values | None = None) -> Steps:
        """Return the means along the line over some queries, or over all; with a centre, also the sums."""
        edges = self._edges()
        parts = over_items(partial(self._part, included, centre), pairwise(edges), self.prepared.threads)
        return parts[0] if len(parts) == 1 else _joined(parts, edges[1:-1])

    def best_runs(self, column: int, sign: float, included: Mask | None = None) -> Runs:
        """Return the best of the longest intervals on which a measure does not change, in their order along the line.

        `sign` is -1.0 if less is better. Only the best intervals of each part of the line are kept in memory.
        """

        def best(edges: tuple[float, float]) -> Runs:
            return _best(runs(self._part(included, None, edges), column, *edges), sign)

        parts = over_items(best, pairwise(self._edges()), self.prepared.threads)
        low, high, values = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        # A run that ends where a part ends may continue in the next part.
        changes = (values[1:] != values[:-1]) & ~np.isnan(values[1:])
        begins = np.flatnonzero(np.concatenate(([True], (low[1:] != high[:-1]) | changes)))
        return low[begins], high[np.concatenate((begins[1:] - 1, [len(high) - 1]))], values[begins]

    def _part(self, included: Mask | None, centre: Values | None, edges: tuple[float, float]) -> Steps:
        n_queries = len(self.prepared.offsets) - 1
        mask = np.ones(n_queries, np.uint8) if included is None else included.astype(np.uint8)
        middle = None if centre is None else np.ascontiguousarray(centre, np.float64)
        line = _lines.Line(self.prepared.engine, self.a, self.d, *edges, mask, middle)
        return Steps(line.breaks, line.means, line.sums)

    def _edges(self) -> list[float]:
        """Divide the line into parts with about as many crossings, however many threads there are: return their ends.

        The crossings of a sample of pairs show where crossings are dense.
        """
        if self.n_pairs <= _FEW:
            return [self.low, self.high]
        rng = np.random.default_rng(0)
        first = rng.integers(0, len(self.a), _SAMPLE)
        query = np.searchsorted(self.prepared.offsets, first, side="right") - 1
        begin, end = self.prepared.offsets[query], self.prepared.offsets[query + 1]
        second = begin + (rng.random(_SAMPLE) * (end - begin)).astype(np.int64)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            t = (self.a[second] - self.a[first]) / (self.d[first] - self.d[second])
        t = np.sort(t[(t > self.low) & (t < self.high) & np.isfinite(t)])
        n_crossings = self.n_pairs * len(t) // _SAMPLE
        if n_crossings <= _FEW:
            return [self.low, self.high]
        size = min(max(n_crossings // _FEW_PARTS, _LEAST_CROSSINGS), _MOST_CROSSINGS)
        n_parts = min(2 * -(-n_crossings // (2 * size)), len(t) // 8)
        inner = t[np.arange(1, n_parts) * len(t) // n_parts]
        return [self.low, *np.unique(inner).tolist(), self.high]

    def query(self, query: int) -> Pencil:
        """Return the lines of the documents of one query."""
        documents = slice(self.prepared.offsets[query], self.prepared.offsets[query + 1])
        return self._replace(prepared=self.prepared.rows(query, query + 1), a=self.a[documents], d=self.d[documents])

    def scores(self, t: float) -> Values:
        """Return the scores at t."""
        return self.a + t * self.d


def _joined(parts: list[Steps], edges: list[float]) -> Steps:
    """Join the steps of the parts of a line; an edge between two parts is a break if the means differ there."""
    breaks, means, sums = [parts[0].breaks], [parts[0].means], [parts[0].sums]
    for edge, before, after in zip(edges, parts[:-1], parts[1:], strict=True):
        same = np.array_equal(before.means[-1], after.means[0], equal_nan=True)
        breaks += [after.breaks] if same else [np.array([edge]), after.breaks]
        means.append(after.means[1:] if same else after.means)
        if after.sums is not None:
            sums.append(after.sums[1:] if same else after.sums)
    known = [array for array in sums if array is not None]
    return Steps(np.concatenate(breaks), np.concatenate(means), np.concatenate(known) if known else None)


def _best(found: Runs, sign: float) -> Runs:
    """Return the first and the last run and the best ones between them, in their order."""
    low, high, values = found
    kept = np.unique(np.concatenate(([0], best_first(found, sign, MOST_TRIES), [len(values) - 1])))
    return low[kept], high[kept], values[kept]


def best_first(found: Runs, sign: float, n: int) -> npt.NDArray[np.intp]:
    """Return the indices of the n best runs, the best first, and of equally good ones the widest first."""
    low, high, values = found
    losses = -sign * values
    among = np.arange(len(losses))
    if len(losses) > n and not np.isnan(losses[0]):
        among = np.flatnonzero(losses <= np.partition(losses, n - 1)[n - 1])
    order: npt.NDArray[np.intp] = among[np.lexsort((low[among] - high[among], losses[among]))[:n]]
    return order


def runs(steps: Steps, column: int, low: float, high: float) -> Runs:
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
