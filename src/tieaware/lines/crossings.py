"""The pass over the crossings of scores: the breaks and the means of the measures along a line.

Crossings are compared exactly. But scores that are meant as decimals, such as 0.3, are doubles next to these, so that
crossings which coincide in decimals are some 1e-16 apart; and no t that one can type lies between. So an interval that
is narrower than 1e-9 of the line's length does not count: the breaks at its ends are one break.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Values
from tieaware.engine.prepared import Prepared
from tieaware.kernels import _line_units, _lines
from tieaware.runtime.threads import over_items

Mask = npt.NDArray[np.bool_]
# The lower ends, the upper ends and the values of intervals.
Runs = tuple[Values, Values, Values]

# Intervals that are narrower than this part of the line's length do not count. If the line has no ends: than this part
# of t, and than a smaller part of the t at which the score of a median document doubles.
_LEAST_WIDTH, _LEAST_AT_0 = 1e-9, 1e-12
# How many of the best intervals of each part of a line are kept.
_MOST_BEST = 200
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
    n_blurred : int
        How many pairs of documents are so close to each other everywhere that rounded scores may confuse their order.
        If there are none, a t in each interval has its means.
    """

    breaks: Values
    means: Values
    sums: Values | None
    n_blurred: int

    def only(self, kept: npt.NDArray[np.intp]) -> Steps:
        """Return some of the intervals. Each begins where the one before it ends."""
        sums = None if self.sums is None else self.sums[kept]
        return self._replace(breaks=self.breaks[kept[:-1]], means=self.means[kept], sums=sums)


class Pencil(NamedTuple):
    """The lines of all documents' scores, a + t (d + e), for t between two bounds.

    Parameters
    ----------
    prepared : Prepared
    a, d, e : float64[n_docs]
        e is what the rounded direction d lacks.
    low, high : float
    least_width : tuple of float
        Two numbers: intervals that are narrower than their sum, the second times |t|, do not count.
    b : float64[n_docs], optional
        The scores at t = 1, if the line is between two systems.
    reaches : uint8[n_docs]
        Which documents may be above a cut-off for some t; the others change no value.
    """

    prepared: Prepared
    a: Values
    d: Values
    e: Values
    low: float
    high: float
    least_width: tuple[float, float]
    b: Values | None
    reaches: npt.NDArray[np.uint8]

    @staticmethod
    def along(prepared: Prepared, a: Values, d: Values, low: float, high: float) -> Pencil:
        """Return the lines a + t d."""
        if np.isfinite(low) and np.isfinite(high):
            least_width = (_LEAST_WIDTH * (high - low), 0.0)
        else:
            with np.errstate(over="ignore"):
                doubled = np.abs(a[d != 0.0] / d[d != 0.0])
            least_width = (_LEAST_AT_0 * min(float(np.median(doubled)), 1e300) if len(doubled) else 0.0, _LEAST_WIDTH)
        reaches = _line_units.reaching(prepared.engine, a, d, low, high)
        return Pencil(prepared, a, d, np.zeros(len(d)), low, high, least_width, None, reaches)

    @staticmethod
    def between(prepared: Prepared, a: Values, b: Values) -> Pencil:
        """Return the lines (1 - t) a + t b, for t from 0 to 1."""
        d = b - a
        rounded = d - b
        # Knuth's algorithm: d + e is b - a exactly.
        e = (b - (d - rounded)) + (-a - rounded)
        reaches = _line_units.reaching(prepared.engine, a, d, 0.0, 1.0)
        return Pencil(prepared, a, d, e, 0.0, 1.0, (_LEAST_WIDTH, 0.0), b, reaches)

    @property
    def n_pairs(self) -> int:
        """The number of pairs of a weighted document and a document of its list: at least that of the crossings."""
        n_others = np.diff(np.concatenate(([0], np.cumsum(self.reaches)))[self.prepared.offsets])
        n_weighted = np.minimum(np.diff(self.prepared.engine.weighted_offsets), n_others)
        return int((n_weighted * n_others).sum())

    def steps(self, included: Mask | None = None, centre: Values | None = None) -> Steps:
        """Return the means along the line over some queries, or over all; with a centre, also the sums."""
        edges = self._edges()
        parts = over_items(partial(self._part, included, centre), pairwise(edges), self.prepared.threads)
        return parts[0] if len(parts) == 1 else _joined(parts, edges[1:-1])

    def meetings(self) -> Values:
        """Return where more than two documents meet, or documents of several queries: a mean may be highest there."""
        mask = np.ones(len(self.prepared.offsets) - 1, np.uint8)

        def found(edges: tuple[float, float]) -> Values:
            lines = self.prepared.engine, self.a, self.d, self.e
            line = _lines.Line(*lines, *edges, *self.least_width, mask, self.reaches, with_meetings=True)
            return np.array(line.meetings)

        edges = self._edges()
        parts = over_items(found, pairwise(edges), self.prepared.threads)
        return np.unique(np.concatenate([*parts, edges[1:-1]]))

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
        lines = self.prepared.engine, self.a, self.d, self.e
        line = _lines.Line(*lines, *edges, *self.least_width, mask, self.reaches, middle)
        return Steps(line.breaks, line.means, line.sums, line.n_blurred)

    def _edges(self) -> list[float]:
        """Divide the line into parts with about as many crossings, however many threads there are: return their ends.

        The crossings of a sample of pairs show where crossings are dense. No part ends between crossings that are too
        close together to count as apart.
        """
        if self.n_pairs <= _FEW:
            return [self.low, self.high]
        rng = np.random.default_rng(0)
        others = np.flatnonzero(self.reaches)
        offsets = np.searchsorted(others, self.prepared.offsets)
        first = rng.integers(0, len(others), _SAMPLE)
        query = np.searchsorted(offsets, first, side="right") - 1
        begin, end = offsets[query], offsets[query + 1]
        second = others[begin + (rng.random(_SAMPLE) * (end - begin)).astype(np.int64)]
        first = others[first]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            t = (self.a[second] - self.a[first]) / (self.d[first] - self.d[second])
        t = np.sort(t[(t > self.low) & (t < self.high) & np.isfinite(t)])
        n_crossings = self.n_pairs * len(t) // _SAMPLE
        if n_crossings <= _FEW:
            return [self.low, self.high]
        size = min(max(n_crossings // _FEW_PARTS, _LEAST_CROSSINGS), _MOST_CROSSINGS)
        n_parts = min(2 * -(-n_crossings // (2 * size)), len(t) // 8)
        width, relative = self.least_width
        gaps = np.flatnonzero(np.diff(t) > 2.0 * (width + relative * np.abs(t[1:])))
        places = np.searchsorted(gaps, np.arange(1, n_parts) * len(t) // n_parts)
        after = gaps[np.unique(places[places < len(gaps)])]
        return [self.low, *(0.5 * t[after] + 0.5 * t[after + 1]).tolist(), self.high]

    def query(self, query: int) -> Pencil:
        """Return the lines of the documents of one query."""
        documents = slice(self.prepared.offsets[query], self.prepared.offsets[query + 1])
        return self._replace(
            prepared=self.prepared.rows(query, query + 1), a=self.a[documents], d=self.d[documents],
            e=self.e[documents], b=None if self.b is None else self.b[documents], reaches=self.reaches[documents],
        )  # fmt: skip

    def scores(self, t: float | Values) -> Values:
        """Return the scores at t, or at one t for each document."""
        scores: Values = self.a + t * self.d if self.b is None else (1.0 - t) * self.a + t * self.b
        return scores

    def forms(self, t: float | Values) -> tuple[Values, ...]:
        """Return the scores at t in each form in which they are usually computed; they are rounded differently."""
        with np.errstate(over="ignore"):
            return (self.scores(t),) if self.b is None else (self.scores(t), self.a + t * self.d)


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
    return Steps(
        np.concatenate(breaks), np.concatenate(means), np.concatenate(known) if known else None,
        sum(part.n_blurred for part in parts),
    )  # fmt: skip


def _best(found: Runs, sign: float) -> Runs:
    """Return the first and the last run and the best ones between them, in their order."""
    low, high, values = found
    kept = np.unique(np.concatenate(([0], best_first(found, sign, _MOST_BEST), [len(values) - 1])))
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
