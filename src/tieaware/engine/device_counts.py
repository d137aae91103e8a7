"""Counting of scores on a device: for each weighted document, how many scores are higher, and how many tie with it.

The engine makes groups from these numbers (`group_counted` in ext/engine/_grouping.pyx), so the scores themselves never
leave the device. With a precision, the scores that tie with a document are those of an interval: coarse scores never
fall as scores rise. Its ends are found on the host, by bisection over all floats.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Offsets, Scores
from tieaware.checks.device_tensors import DeviceScores, on_device
from tieaware.checks.tensors import check_tensor
from tieaware.engine.prepared import Prepared
from tieaware.lists.judgments import Excluded
from tieaware.precision.coarsening import Coarsening, NamedCoarsening, coarsened

# The most comparisons of a score with a threshold at a time; each takes a byte on the device.
_BLOCK = 1 << 26
# With more weighted documents per list on average, copying the scores to the host is cheaper than to compare them.
_MOST_WEIGHTED = 64
# About five numbers move between host and device for each weighted document, so with fewer documents than this for each
# weighted one, copying the scores moves less.
_LEAST_DOCUMENTS = 5


def counts_of(scores: Any, prepared: Prepared, shape: tuple[int, ...], name: str) -> Any:
    """Return counts of scores on a device, which take the place of scores; raise InputError if a score is NaN.

    None if scores must be on the host, or have another shape than this one and than one dimension.
    """
    if not on_device(scores) or not _fits(scores.shape, prepared, shape) or not countable(prepared):
        return None
    there = DeviceScores(scores, name)
    counts, failed = counted(there, prepared)
    if failed >= 0:
        places = np.arange(*prepared.offsets[failed : failed + 2])
        at = there.at(*((places,) if len(there.shape) == 1 else np.divmod(places, there.shape[1])))
        raise prepared.nan_error(at, failed, name)
    return counts


def counts_of_candidates(candidates: Any, prepared: Prepared, shape: tuple[int, ...]) -> Any:
    """Return the counts of many scorings on a device; None as for `counts_of`."""
    if not on_device(candidates) or not _fits(candidates.shape[1:], prepared, shape) or not countable(prepared):
        return None
    check_tensor(candidates, "candidates")
    n = int(candidates.shape[0])
    each = [counts_of(candidates[i, ...], prepared, shape, f"candidates[{i}]") for i in range(n)]
    counts = [one for one in each if one is not None]
    return np.stack(counts) if counts else None


def _fits(given: Any, prepared: Prepared, shape: tuple[int, ...]) -> bool:
    return tuple(given) in ((int(prepared.offsets[-1]),), shape)


def countable(prepared: Prepared) -> bool:
    """Return whether counts are all that an evaluation needs, and are cheap."""
    wanted, engine = prepared.wanted, prepared.engine
    coarsening = wanted.coarsening
    by_score = coarsening is None or (isinstance(coarsening, NamedCoarsening) and not wanted.needs_whole_list)
    if not (prepared.in_kernel and wanted.rule.by_score_alone and by_score and prepared.unshared is None):
        return False
    weighted = np.diff(engine.weighted_offsets)
    lengths = np.diff(prepared.offsets)
    n_docs = int(lengths.sum())
    is_less_work = bool(weighted @ lengths <= _MOST_WEIGHTED * max(1, n_docs))
    return is_less_work and int(weighted.sum()) * _LEAST_DOCUMENTS <= n_docs


def counted(scores: DeviceScores, prepared: Prepared) -> tuple[Integers, int]:
    """Count the scores of all lists.

    Parameters
    ----------
    scores : DeviceScores
        Shape (n_docs,), or, if all lists have the same length, (n_queries, length).
    prepared : Prepared
        An evaluation that is `countable`.

    Returns
    -------
    counts : int64[2, n_weighted]
        For each weighted document, the number of ranked documents of its list with a higher score, and with its score.
    failed : int
        The first list with a NaN among the scores of its ranked documents, or -1.
    """
    offsets, weighted = prepared.offsets, prepared.engine.weighted_offsets
    positions = prepared.engine.weighted_positions[weighted[0] : weighted[-1]]
    weighted = weighted - weighted[0]
    query = np.repeat(np.arange(len(offsets) - 1), np.diff(weighted))
    own = _gathered(scores, offsets, query, positions)
    low, high = intervals(own, prepared.wanted.coarsening)
    above, at_least = np.zeros((2, len(own)), np.int64)
    is_nan = np.zeros(len(offsets) - 1, bool)
    # All blocks are counted before the first result is awaited, so that the device never waits for the host.
    for first, last, higher, not_lower, highest in list(_blocks(scores, offsets, weighted, low, high)):
        inside = _places(weighted, first, last)[1]
        some = slice(weighted[first], weighted[last])
        above[some] += scores.host(higher).astype(np.int64)[inside]
        at_least[some] += scores.host(not_lower).astype(np.int64)[inside]
        is_nan[first:last] |= np.isnan(scores.host(highest))
    # Lists were filled up with -inf, which is not below this threshold.
    lengths = np.diff(offsets)
    at_least = np.where(low == -np.inf, lengths[query], at_least)
    if prepared.excluded is not None:
        is_nan = _without(scores, offsets, prepared.excluded, query, low, high, above, at_least, is_nan)
    failed = int(is_nan.argmax()) if is_nan.any() else -1
    return np.stack([above, at_least - above]), failed


def _gathered(scores: DeviceScores, offsets: Offsets, query: Integers, positions: Integers) -> Any:
    """Return the scores of some documents, given by list and position, on the host."""
    if len(query) == 0:
        return np.empty(0, scores.dtype)
    return scores.at(offsets[query] + positions) if len(scores.shape) == 1 else scores.at(query, positions)


def _places(weighted: Offsets, first: int, last: int) -> tuple[int, npt.NDArray[np.bool_]]:
    """Return the width of the thresholds of some lists in a matrix, and a mask of those that exist."""
    sizes = np.diff(weighted[first : last + 1])
    width = int(sizes.max(initial=1))
    return width, np.arange(width) < sizes[:, None]


def _blocks(
    scores: DeviceScores, offsets: Offsets, weighted: Offsets, low: Scores,
    high: Scores,
) -> Iterator[tuple[int, int, Any, Any, Any]]:  # fmt: skip
    """Count block by block: yield a range of lists, and for them what `DeviceScores.counts` returns."""
    lengths, sizes = np.diff(offsets), np.diff(weighted)
    uniform = len(scores.shape) == 2 or bool((lengths == lengths[:1]).all())
    first = 0
    while first < len(lengths):
        last = first + _lists_at_once(lengths[first:], sizes[first:])
        width, inside = _places(weighted, first, last)
        some = slice(weighted[first], weighted[last])
        least = most = np.zeros((last - first, width), scores.dtype)
        least[inside] = low[some]
        if high is not low:
            most = np.zeros_like(least)
            most[inside] = high[some]
        length = int(lengths[first:last].max(initial=0))
        step = max(1, _BLOCK // ((last - first) * width))
        for at in range(0, length, step):
            end = min(at + step, length)
            if uniform:
                block = scores.rows(first, last, at, end, length)
            else:
                block = scores.padded(offsets[first:last], lengths[first:last], at, end)
            yield first, last, *scores.counts(block, least, most)
        first = last


def _lists_at_once(lengths: Integers, sizes: Integers) -> int:
    """Return how many of the next lists fit into a block, filled up to the longest of them; at least one."""
    areas = np.maximum.accumulate(lengths) * np.maximum.accumulate(np.maximum(sizes, 1))
    return max(1, int(np.searchsorted(areas * np.arange(1, len(lengths) + 1), _BLOCK, side="right")))


def intervals(
    scores: Scores, coarsening: Coarsening | None
) -> tuple[Scores, Scores]:
    """Return the least and the largest float of the same type that has the coarse score of each score.

    Invariant of the bisection: `inner` has the coarse score, and `outer` has not, or is beyond infinity.
    """
    if coarsening is None or len(scores) == 0:
        return scores, scores
    distinct, which = np.unique(np.where(np.isnan(scores), 0, scores), return_inverse=True)
    single = distinct.dtype == np.float32
    whole = np.int32 if single else np.int64
    lowest = np.iinfo(whole).min

    def numbered(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Number floats in their order; the same function turns numbers back into the bits of floats."""
        bits: npt.NDArray[Any] = values.view(whole)
        return np.where(bits < 0, lowest - bits, bits)

    def coarse(numbers: npt.NDArray[Any]) -> Scores:
        return coarsened(coarsening, numbered(numbers).view(distinct.dtype), np.array([0, len(numbers)]))

    start = numbered(distinct)
    wanted = coarse(start)
    beyond = int(numbered(np.array([np.inf], distinct.dtype))[0]) + 1
    ends = []
    for outermost in (-beyond, beyond):
        inner, outer = start, np.full_like(start, outermost)
        while True:
            # The mean, rounded down, without overflow.
            middle = (inner >> 1) + (outer >> 1) + (inner & outer & 1)
            between = (middle != inner) & (middle != outer)
            if not between.any():
                break
            same = coarse(np.where(between, middle, inner)) == wanted
            inner = np.where(between & same, middle, inner)
            outer = np.where(between & ~same, middle, outer)
        ends.append(numbered(inner).view(distinct.dtype)[which])
    return ends[0], ends[1]


def _without(
    scores: DeviceScores, offsets: Offsets, excluded: Excluded, query: Integers, low: Scores,
    high: Scores, above: Integers, at_least: Integers, is_nan: npt.NDArray[np.bool_],
) -> npt.NDArray[np.bool_]:  # fmt: skip
    """Subtract the excluded documents from the counts; return which lists have a NaN among the others."""
    owner = excluded.query
    theirs = _gathered(scores, offsets, owner, excluded.positions)
    missing = np.isnan(theirs)
    n_missing = np.bincount(owner[missing], minlength=len(is_nan))
    values, ranks = np.unique(np.concatenate([theirs[~missing], low, high]), return_inverse=True)
    theirs_ranked, low_ranked, high_ranked = np.split(ranks, [n := int((~missing).sum()), n + len(low)])
    # Sorting by list, then by score, makes a list a range, in which both thresholds have a place.
    keys = np.sort(owner[~missing] * len(values) + theirs_ranked)
    end = np.searchsorted(keys, (query + 1) * len(values))
    above -= end - np.searchsorted(keys, query * len(values) + high_ranked, side="right")
    at_least -= end - np.searchsorted(keys, query * len(values) + low_ranked)
    for i in np.flatnonzero(is_nan).tolist():
        start, size = offsets[i : i + 1], np.diff(offsets[i : i + 2])
        if len(scores.shape) == 2:
            row = scores.rows(i, i + 1, 0, int(size[0]), int(size[0]))
        else:
            row = scores.padded(start, size, 0, int(size[0]))
        is_nan[i] = scores.missing(row)[0] > n_missing[i]
    return is_nan
