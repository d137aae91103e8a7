"""Rank-biased overlap over all orders of tied items, and for all queries of two runs."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tieaware.checks.arguments import flag, number, whole_number
from tieaware.checks.arrays import Integers, Offsets, Scores, Values
from tieaware.errors import InputError
from tieaware.inputs import Run, RunLike, source_named
from tieaware.kernels import _join, _overlap
from tieaware.lists.identifiers import Identifiers

# Ranks below the one at which p^d falls to this share add less than the rounding error.
_NEGLIGIBLE = 1e-17

# Combined keys for sorting must stay below this number.
_LARGEST_KEY = 2**62


class RunOverlap(NamedTuple):
    """The rank-biased overlap of two runs, for each query that both have, over all orders of the tied documents.

    Attributes
    ----------
    queries : list of str or int
        The queries that both runs have, in the order of the first.
    mean, std : float64[n_queries]
        The mean and the standard deviation over all orders of the tied documents of both runs.
    min, max : float64[n_queries]
        The least and the greatest overlap that an order can give.

    Examples
    --------
    >>> rbo_by_query({"q": {"x": 2, "y": 2}}, {"q": {"x": 2, "y": 1}}, depth=1).queries
    ['q']
    """

    queries: list[str | int]
    mean: Values
    std: Values
    min: Values
    max: Values


def rbo_by_query(
    a: RunLike, b: RunLike, p: float = 0.9, *, depth: int | None = None, extrapolate: bool = True
) -> RunOverlap:
    """Return the rank-biased overlap of two runs for each query, over all orders of the tied documents.

    Parameters
    ----------
    a, b : run
        Each in any form that `tieaware.evaluate` takes: a dict, a table, a file, a `Run`. A document of only one run
        occupies its rank there and adds nothing to the overlap. Queries of only one run are left out.
    p, depth, extrapolate
        As for `rbo`.

    Raises
    ------
    InputError
        If p or depth is out of range, an argument is not one run, or the runs have no query in common.

    Examples
    --------
    >>> first, second = {"q1": {"x": 3, "y": 2, "z": 2}}, {"q1": {"x": 5, "y": 4, "w": 1}, "q2": {"x": 1}}
    >>> found = rbo_by_query(first, second)
    >>> found.queries, found.mean.round(4), found.std.round(4), found.min.round(4), found.max.round(4)
    (['q1'], array([0.7075]), array([0.0225]), array([0.685]), array([0.73]))
    """
    runs = [source_named(name, run).whole() for name, run in (("a", a), ("b", b))]
    first, second = runs
    first.queries.check_kind(second.queries, "a.query", "b")
    first.documents.check_kind(second.documents, "a.doc", "b")
    rows = np.arange(len(second.documents), dtype=np.int32)
    index = _join.Index(*_columns(second.queries), second.offsets, *_columns(second.documents), rows)
    found, ends, positions, matched = _join.match(
        index, *_columns(first.queries), first.offsets, *_columns(first.documents)
    )
    both = np.flatnonzero(found >= 0)
    if not len(both):
        raise InputError("a, b", "the runs have no query in common")
    # The common documents of each query, as rows of both runs.
    query = np.repeat(np.arange(len(found)), np.diff(ends))
    places = [_places(first, both), _places(second, found[both])]
    at = [first.offsets[query] + positions, matched.astype(np.int64)]
    starts, sizes = (np.stack([place[i][rows] for place, rows in zip(places, at, strict=True)]) for i in (0, 1))
    lengths = np.stack([np.diff(first.offsets)[both], np.diff(second.offsets)[found[both]]])
    number_of = np.cumsum(found >= 0) - 1
    moments = moments_of_overlap(number_of[query], starts, sizes, lengths, p, depth, extrapolate)
    return RunOverlap(first.queries.take(both).to_list(), *moments)


def _columns(identifiers: Identifiers) -> tuple[np.ndarray, Offsets]:
    return identifiers.data, identifiers.offsets


def _places(run: Run, queries: Integers) -> tuple[Integers, Integers]:
    """Return, for each row of a run, how many documents rank above its tie group, and the size of the group.

    Only the rows of the given queries are computed.
    """
    starts, sizes = np.zeros((2, len(run.documents)), np.int64)
    for query in queries.tolist():
        rows = slice(int(run.offsets[query]), int(run.offsets[query + 1]))
        starts[rows], sizes[rows] = places_of(run.scores[rows])
    return starts, sizes


def places_of(scores: Scores) -> tuple[Integers, Integers]:
    """Return, for each score of a list, how many scores are higher, and how many are equal."""
    order = np.argsort(scores)[::-1]
    descending = scores[order]
    begins = np.flatnonzero(np.concatenate(([True], descending[1:] != descending[:-1])))
    lengths = np.diff(np.append(begins, len(scores)))
    starts, sizes = np.empty((2, len(scores)), np.int64)
    starts[order], sizes[order] = np.repeat(begins, lengths), np.repeat(lengths, lengths)
    return starts, sizes


def moments_of_overlap(
    query: Integers, starts: Integers, sizes: Integers, lengths: Integers, p: float, depth: int | None,
    extrapolate: bool,
) -> tuple[Values, Values, Values, Values]:  # fmt: skip
    """Return the mean, standard deviation, minimum and maximum of the overlap over all orders, for each query.

    `query` has the number of the query of each common item, from 0; `starts` and `sizes`, int64[2, n], for each ranking
    and common item, how many items rank above its tie group, and the size of the group; `lengths`, int64[2, n_queries],
    the number of items of each ranking. The others are as for `rbo`.
    """
    p = number("p", p, 0, 1, ends=False)
    longer = lengths.max(axis=0)
    deepest = longer if depth is None else np.minimum(longer, whole_number("depth", depth, 1))
    depths = np.minimum(deepest, math.ceil(math.log(_NEGLIGIBLE) / math.log(p)))
    order = _order(query, starts[0], starts[1])
    in_order = np.stack([query, starts[0], starts[1]])[:, order]
    is_first = np.ones(len(order), bool)
    is_first[1:] = (in_order[:, 1:] != in_order[:, :-1]).any(axis=0)
    first = np.flatnonzero(is_first)
    chosen, counts = order[first], np.diff(np.append(first, len(order)))
    cells = np.stack([starts[0][chosen], sizes[0][chosen], starts[1][chosen], sizes[1][chosen], counts])
    of_query = query[chosen]
    orders = np.stack([np.arange(len(chosen)), _order(of_query, cells[2], cells[0])])
    offsets = np.searchsorted(of_query, np.arange(lengths.shape[1] + 1))
    power = np.concatenate(([1.0], np.multiply.accumulate(np.full(int(depths.max(initial=0)), p))))
    mean, variance, least, greatest = _overlap.moments(
        cells, orders, offsets, depths, lengths.min(axis=0), power, flag("extrapolate", extrapolate)
    )
    return mean, np.sqrt(variance), least, greatest


def _order(query: Integers, first: Integers, second: Integers) -> Integers:
    """Return the order that sorts by query, then by the first and the second number."""
    widths = [int(each.max(initial=0)) + 1 for each in (first, second)]
    if (int(query.max(initial=0)) + 1) * widths[0] * widths[1] < _LARGEST_KEY:
        return np.argsort((query * widths[0] + first) * widths[1] + second)
    return np.lexsort((second, first, query))
