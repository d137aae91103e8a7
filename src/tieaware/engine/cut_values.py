"""The values of scales of two and three levels, from which the value of any scale follows.

A scale ties all scores between two of its cuts. The engine makes groups from counts: for each weighted document, how
many documents rank above it, and how many tie with it. For a scale, these follow from the number of documents of each
list above each cut, so the scores are read only once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from tieaware.checks.arrays import Integers, Scores, Values
from tieaware.engine.prepared import Prepared
from tieaware.errors import InputError
from tieaware.measures import Measure

# The most counts in memory at a time.
_AT_ONCE = 1 << 22


def values_of_cuts(prepared: Prepared, scores: Scores, most: int) -> tuple[Values, Values]:
    """Return at most `most` candidate cuts, and the values of scales with one and two of them.

    The candidates are the scores of the weighted documents, or quantiles of these.

    Returns
    -------
    cuts : float64[n]
        In descending order.
    values : float64[n, n]
        Element (i, j), i <= j: the mean of the measure with cuts i and j.

    Raises
    ------
    InputError
        If the measure is no sum over levels, there is a precision or a tie rule other than "average", no document is
        weighted, or a score is NaN.
    """
    _check(prepared)
    # The error if a score is NaN is that of an evaluation.
    prepared.for_scores(scores).means(scores[None])
    own = _weighted_scores(prepared, scores)
    cuts = _candidates(own, most)
    places = len(cuts) - np.searchsorted(cuts[::-1], own, side="right")
    reaching = _reaching(prepared, scores, cuts)
    values = np.full((len(cuts), len(cuts)), -np.inf)
    for i, columns in _batches(len(cuts), len(places)):
        values[i, columns] = prepared.means(_counts(places, reaching, i, columns))[:, 0]
    return cuts, values


def _check(prepared: Prepared) -> None:
    if len(prepared.measures) != 1:
        raise InputError("evaluator", f"must have one measure to choose a scale; it has {len(prepared.measures)}")
    measure: Measure = prepared.measures[0]
    if not measure.definition.additive:
        raise InputError("evaluator", f"{measure} is no sum over the levels of a scale, so the best scale is not known")
    if prepared.wanted.coarsening is not None or prepared.bands:
        raise InputError("evaluator", "must have no precision, because a scale is one")
    if not prepared.wanted.rule.averages:
        raise InputError("evaluator", f"must have ties='average' to choose a scale, not {prepared.wanted.rule.name!r}")
    edges = prepared.engine.weighted_offsets
    if edges[0] == edges[-1]:
        raise InputError("evaluator", f"no document counts for {measure}, so no scale is better than another")


def _weighted_scores(prepared: Prepared, scores: Scores) -> Values:
    """Return the scores of the weighted documents. If the lists share their scores, `scores` has those of one list."""
    edges = prepared.engine.weighted_offsets
    positions = prepared.engine.weighted_positions[edges[0] : edges[-1]]
    starts = np.repeat(prepared.offsets[:-1], np.diff(edges)) if len(scores) == prepared.offsets[-1] else 0
    return scores[starts + positions].astype(np.float64)


def _candidates(scores: Values, most: int) -> Values:
    """Return the different scores, descending; if there are more than `most`, quantiles of them.

    Cuts are finite, so those at infinite scores are the greatest doubles. If a weighted document has the score -inf, it
    may be best to put all documents into one level: a cut above all finite scores does.
    """
    largest = sys.float_info.max
    above_all = -scores[np.isneginf(scores)]
    distinct = np.unique(np.clip(np.append(scores, above_all), -largest, largest))[::-1]
    if len(distinct) <= most:
        return distinct
    return distinct[np.rint(np.linspace(0, len(distinct) - 1, most)).astype(np.int64)]


def _reaching(prepared: Prepared, scores: Scores, cuts: Values) -> Integers:
    """Return for each weighted document how many ranked documents of its list reach each cut; last, all of them.

    Returns
    -------
    int64[n + 1, n_weighted]
    """
    n, ascending = len(cuts), cuts[::-1]
    sizes = np.diff(prepared.engine.weighted_offsets)
    by_list = np.zeros((n + 1, len(sizes)), np.int64)
    for query in np.flatnonzero(sizes).tolist():
        first, last = (0, len(scores)) if len(scores) != prepared.offsets[-1] else prepared.offsets[query : query + 2]
        places = n - np.searchsorted(ascending, scores[first:last], side="right")
        if prepared.excluded is not None:
            places = np.delete(places, prepared.excluded.of(query))
        by_list[:, query] = np.bincount(places, minlength=n + 1).cumsum()
    return np.repeat(by_list, sizes, axis=1)


def _batches(n: int, n_weighted: int) -> Iterator[tuple[int, slice]]:
    """Return each first cut with ranges of second cuts, so that not all counts are in memory at once."""
    step = max(1, _AT_ONCE // (2 * n_weighted))
    for i in range(n):
        for first in range(i, n, step):
            yield i, slice(first, min(first + step, n))


def _counts(places: Integers, reaching: Integers, i: int, columns: slice) -> Any:
    """Return the counts with cut i and each cut of the columns; no cut of the columns is above cut i.

    A weighted document reaches cut c if its place is at most c. The first level reaches cut i, the second only the
    other cut, and the third none.

    Returns
    -------
    int64[n_columns, 2, n_weighted]
    """
    in_first, reach = places <= i, reaching[columns]
    in_third = places > np.arange(columns.start, columns.stop)[:, None]
    counts = np.empty((len(reach), 2, len(places)), np.int64)
    counts[:, 0] = np.where(in_third, reach, np.where(in_first, 0, reaching[i]))
    end = np.where(in_third, reaching[-1], reach)
    end[:, in_first] = reaching[i, in_first]
    np.subtract(end, counts[:, 0], out=counts[:, 1])
    return counts
