"""Warnings about arrays that can be evaluated, but are probably not what the caller means.

The labels are looked at once, when an evaluator is made, and some lists of the first scores. Warnings need several
lists, because a single one says little.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Scores
from tieaware.errors import warn
from tieaware.lists.judgments import JudgedLists, Judgments
from tieaware.lists.swapped import look_like_labels, look_like_scores
from tieaware.measures import Measure

# A single list with this many times more relevant documents than ranks that count is probably several lists.
_TOO_MANY = 100
# With fewer lists, nothing is said about scores; and with more, this number of lists is looked at.
_FEWEST_LISTS, _MOST_LISTS = 8, 32
# At most this many relevant documents of a list are compared with about this many others.
_RELEVANT, _OTHERS = 16, 256
# Relevant documents stand low if they win fewer comparisons than this, which has fewer standard deviations than this.
_LOW, _LOW_Z = 0.2, -5.0
# In a random order, they win half of the comparisons. A system that ranks at all wins more than this.
_NO_ORDER = 0.55
# Products that overflowed take all values of their type alike: an eighth of them is in the lowest eighth of its range,
# and in the highest one. Scores that are scaled to the type have far fewer there.
_OUTER, _SHARE_IN_OUTER = 0.125, 0.07


def warn_of_one_list(judgments: Judgments, measures: Sequence[Measure]) -> None:
    """Warn if a single list has so many relevant documents that it is probably several lists.

    Only measures with a cut-off say so: AUC of a single list, or the AP of a catalogue, may have any number.
    """
    for measure in measures:
        if measure.cutoff is not None:
            n_relevant = int(judgments.count(float(measure.parameters.get("rel", 1)))[0])
            if n_relevant > _TOO_MANY * measure.cutoff:
                warn(
                    f"labels: are one list, with {n_relevant:,} relevant documents for {measure}; pass group=, "
                    "offsets= or qid= if these are several queries; offsets=[0, n] if they are one"
                )
                return


def warn_of_scores(lists: JudgedLists, rows: tuple[int, int], scores: Scores, given: Any, name: str) -> None:
    """Warn if the first scores of an evaluator are probably a mistake.

    Parameters
    ----------
    lists : JudgedLists
    rows : pair of int
        The first list that has scores, and the index after that of the last.
    scores : float64[n_docs] or float32[n_docs]
        The scores of these lists, or of one list if all share them.
    given : object
        The scores as the caller gave them.
    name : str
        The name of the scores in messages.
    """
    if rows[1] - rows[0] < _FEWEST_LISTS:
        return
    # Most scores are no whole numbers, which the first of them show.
    if look_like_labels(scores[:64]) and look_like_labels(scores):
        judged = lists.judgments
        if look_like_scores(judged.values, judged.offsets):
            warn(f"{name}: look like labels, and the labels like scores: are they swapped?")
            return
    won, z, sample = _comparisons(lists, rows, scores)
    kind = given.dtype if isinstance(given, np.ndarray) else np.dtype(np.float64)
    if won < _LOW and z < _LOW_Z:
        warn(
            f"{name}: relevant documents have lower scores than {1.0 - won:.0%} of the others; if they are distances "
            "or ranks, negate them, because higher scores rank higher"
        )
    elif kind.kind in "iu" and kind.itemsize <= 2 and won < _NO_ORDER:
        edges = np.iinfo(kind).min + np.array([_OUTER, 1.0 - _OUTER]) * (2.0 ** (8 * kind.itemsize) - 1.0)
        if min(np.mean(sample < edges[0]), np.mean(sample > edges[1])) > _SHARE_IN_OUTER:
            warn(
                f"{name}: are {kind}, in no better order than by chance: did products of integers overflow? Convert "
                "the factors with astype('int32') first"
            )


def _comparisons(lists: JudgedLists, rows: tuple[int, int], scores: Scores) -> tuple[float, float, npt.NDArray[Any]]:
    """Compare the scores of relevant documents with those of others, in some lists.

    Returns
    -------
    won : float
        The mean over the lists of the share of comparisons in which the relevant document has the higher score; a tie
        counts half. NaN if no list has both kinds.
    z : float
        Its distance from a half, in standard deviations of a random order.
    sample : ndarray
        The scores of the others.
    """
    shares, variance, sample = list[float](), 0.0, list[npt.NDArray[Any]]()
    start, end = lists.offsets[list(rows)].tolist()
    for query in np.unique(np.linspace(rows[0], rows[1] - 1, _MOST_LISTS).astype(np.int64)).tolist():
        first, last = (lists.offsets[query : query + 2] - start).tolist()
        listed = scores[first:last] if len(scores) == end - start else scores
        judged = slice(*lists.judged_offsets[query : query + 2].tolist())
        labels = lists.labels[judged]
        relevant = lists.positions[judged][(labels if lists.grades is None else lists.grades.labels(labels)) > 0]
        is_other = np.ones(len(listed), dtype=np.bool_)
        is_other[relevant] = False
        if lists.excluded is not None:
            is_other[lists.excluded.of(query)] = False
        step = max(1, len(listed) // _OTHERS)
        theirs, others = listed[relevant[:_RELEVANT], None], listed[::step][is_other[::step]]
        r, n = len(theirs), len(others)
        if r and n:
            wins = np.count_nonzero(theirs > others) + np.count_nonzero(theirs >= others)
            shares.append(wins / (2.0 * r * n))
            variance += (r + n + 1.0) / (12.0 * r * n)
            sample.append(others)
    if len(shares) < _FEWEST_LISTS:
        return np.nan, np.nan, np.zeros(0)
    surplus = math.fsum(shares) - len(shares) / 2.0
    return 0.5 + surplus / len(shares), surplus / math.sqrt(variance), np.concatenate(sample)
