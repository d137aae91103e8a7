"""How often scores tie: counts of groups of equal scores, and of lists whose order contradicts their scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import whole_numbers
from tieaware.checks.arrays import Integers, Offsets, Scores, as_offsets, as_scores
from tieaware.defaults import TIE_CUTOFFS
from tieaware.inputs.ranks import RankColumn


class Ties(NamedTuple):
    """The ties of one run, counted.

    Attributes
    ----------
    lists, documents : int
    tied_lists, tied_documents : int
        Lists in which any documents tie, and documents that tie with another.
    sizes : int64[n_tied_groups]
        The sizes of all groups of two or more.
    within, across : tuple of int
        For each cut-off, the lists with a tie among the documents up to it, and with a group that it cuts.
    float32_lists, float32_documents : int
        The same as tied_lists and tied_documents for the scores in single precision.
    common_length : int or None
        The length at which the run seems to have been cut: that of its longest lists, where at least two lists have it,
        and a tenth of all; else None. Of several runs together the longest.
    cut_lists : int
        Lists of the common length whose last document, by score, ties with the one before it. If the run was cut
        there, documents of the same score may have been dropped, and what they were no expectation can recover.
    unordered : int
        Lists whose order in the input puts a lower score before a higher one.
    misranked, repeated : int or None
        Lists whose rank column does, and lists whose rank column has a rank twice; None without a column of numbers.
    """

    lists: int
    documents: int
    tied_lists: int
    tied_documents: int
    sizes: Integers
    within: tuple[int, ...]
    across: tuple[int, ...]
    float32_lists: int
    float32_documents: int
    common_length: int | None
    cut_lists: int
    unordered: int
    misranked: int | None
    repeated: int | None

    @property
    def contradicts(self) -> bool:
        """Whether the run's order or its ranks contradict its scores."""
        return bool(self.unordered or self.misranked)


def count_ties(
    scores: npt.ArrayLike,
    offsets: npt.ArrayLike,
    cutoffs: Sequence[int] = TIE_CUTOFFS,
    ranks: RankColumn | None = None,
) -> Ties:
    """Count the ties of lists of scores.

    Parameters
    ----------
    scores : float[n_documents]
        List by list, in the order of the input.
    offsets : int64[n_lists + 1]
        Where each list starts, and where the last ends.
    cutoffs : sequence of int
        Ties are counted within and across these ranks, at least 1.
    ranks : RankColumn, optional
        The rank column of the run's file, to be held against its scores.

    Returns
    -------
    Ties

    Raises
    ------
    InputError
        For a cut-off below 1, or offsets that do not divide the scores.

    Examples
    --------
    >>> ties = count_ties([3.0, 2.0, 2.0, 1.0], [0, 4], cutoffs=[2, 3])
    >>> ties.tied_documents, ties.sizes, ties.within, ties.across
    (2, array([2]), (0, 1), (1, 0))
    """
    scores = as_scores(scores, "scores", flat=True)
    offsets = as_offsets(offsets, len(scores), "offsets", of="scores")
    cutoffs = whole_numbers("cutoffs", cutoffs, 1)
    group_list, start, size = _groups(scores, offsets)
    tied = size > 1
    within, across = [], []
    for cutoff in cutoffs:
        within.append(len(np.unique(group_list[tied & (start + 2 <= cutoff)])))
        across.append(len(np.unique(group_list[tied & (start < cutoff) & (start + size > cutoff)])))
    with np.errstate(over="ignore"):
        single = scores.astype(np.float32)
    single_list, _, single_size = _groups(single, offsets)
    common_length = _common_length(np.diff(offsets))
    at_end = tied & (start + size == common_length) if common_length else np.zeros(len(start), dtype=bool)
    misranked, repeated = (None, None) if ranks is None else _check_ranks(ranks)
    list_of = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    rises = (scores[1:] > scores[:-1]) & (list_of[1:] == list_of[:-1])
    return Ties(
        lists=len(offsets) - 1,
        documents=len(scores),
        tied_lists=len(np.unique(group_list[tied])),
        tied_documents=int(size[tied].sum()),
        sizes=size[tied],
        within=tuple(within),
        across=tuple(across),
        float32_lists=len(np.unique(single_list[single_size > 1])),
        float32_documents=int(single_size[single_size > 1].sum()),
        common_length=common_length,
        cut_lists=int(at_end.sum()),
        unordered=len(np.unique(list_of[1:][rises])),
        misranked=misranked,
        repeated=repeated,
    )


def _common_length(lengths: Offsets) -> int | None:
    """Return the length that many lists have and none exceeds; None where there is none, or it is 0."""
    longest = int(lengths.max(initial=0))
    n_longest = int((lengths == longest).sum())
    return longest if longest and n_longest >= max(2, len(lengths) / 10) else None


def _groups(scores: Scores, offsets: Offsets) -> tuple[Integers, Integers, Integers]:
    """Return the list of each group, how many documents precede it there, and its size."""
    list_of = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((-scores, list_of))
    ordered = scores[order]
    first = np.ones(len(scores), dtype=bool)
    first[1:] = (ordered[1:] != ordered[:-1]) | (list_of[1:] != list_of[:-1])
    starts = np.flatnonzero(first)
    return list_of[starts], starts - offsets[list_of[starts]], np.diff(np.append(starts, len(scores)))


def _check_ranks(column: RankColumn) -> tuple[int | None, int | None]:
    """Count the lists whose ranks contradict the scores, and those with a rank twice."""
    if np.isnan(column.ranks).any():
        return None, None
    order = np.lexsort((column.scores * -1.0, column.ranks, column.queries))
    query, rank, score = column.queries[order], column.ranks[order], column.scores[order]
    same = query[1:] == query[:-1]
    # Where a rank is repeated, its documents come in the order of their scores, the better first.
    misranked = np.unique(query[1:][same & (rank[1:] > rank[:-1]) & (score[1:] > score[:-1])])
    repeated = np.unique(query[1:][same & (rank[1:] == rank[:-1])])
    return len(misranked), len(repeated)


def added_up(several: Sequence[Ties]) -> Ties:
    """Return the counts of several runs together."""

    def known(counts: Sequence[int | None]) -> int | None:
        numbers = [count for count in counts if count is not None]
        return sum(numbers) if numbers else None

    lengths = [ties.common_length for ties in several if ties.common_length is not None]
    return Ties(
        lists=sum(ties.lists for ties in several),
        documents=sum(ties.documents for ties in several),
        tied_lists=sum(ties.tied_lists for ties in several),
        tied_documents=sum(ties.tied_documents for ties in several),
        sizes=np.concatenate([ties.sizes for ties in several]),
        within=tuple(map(sum, zip(*(ties.within for ties in several), strict=True))),
        across=tuple(map(sum, zip(*(ties.across for ties in several), strict=True))),
        float32_lists=sum(ties.float32_lists for ties in several),
        float32_documents=sum(ties.float32_documents for ties in several),
        common_length=max(lengths, default=None),
        cut_lists=sum(ties.cut_lists for ties in several),
        unordered=sum(ties.unordered for ties in several),
        misranked=known([ties.misranked for ties in several]),
        repeated=known([ties.repeated for ties in several]),
    )
