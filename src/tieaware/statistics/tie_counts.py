"""Counts of tied scores, and of lists whose order or ranks contradict their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import shown, unexpected, whole_numbers
from tieaware.checks.arrays import Integers, Offsets, Scores, as_offsets, as_scores
from tieaware.defaults import TIE_CUTOFFS
from tieaware.errors import InputError
from tieaware.inputs import Run
from tieaware.inputs.runs.file_order import rank_conflicts
from tieaware.inputs.trec.reader import RankColumn
from tieaware.output.tables import counted


class Ties(NamedTuple):
    """Counts of the ties of one run.

    Attributes
    ----------
    lists, documents : int
        The number of lists, and of documents in all lists.
    tied_lists, tied_documents : int
        The number of lists with at least one tie, and of documents that tie with another document.
    sizes : int64[n_tied_groups]
        The sizes of all tie groups, each of at least two documents.
    within, across : tuple of int
        For each cut-off, the number of lists with a tie among the documents above it, and of lists in which the cut-off
        divides a group.
    float32_lists, float32_documents : int
        The numbers tied_lists and tied_documents after rounding the scores to single precision.
    common_length : int or None
        The length at which the run was probably cut: the length of its longest lists, if at least two lists and a tenth
        of all lists have it; otherwise None. For several runs, the largest of their common lengths.
    cut_lists : int
        The number of lists of the common length whose last two documents tie. If the run was cut there, documents with
        the same score may be missing, and no average over orders can account for the missing documents. It says nothing
        about lists that hold all documents, such as the rows of a full score matrix.
    unordered : int
        The number of lists that put a lower score before a higher one.
    misranked, repeated : int or None
        The number of lists whose rank column puts a lower score before a higher one, and of lists with a repeated rank;
        None if the run has no column of numeric ranks.
    top_documents : int
        The number of documents that share the highest score of their list with another document.
    grid : str
        The coarsest of these kinds of numbers that all scores are: "whole numbers", "numbers with one decimal",
        "numbers with two decimals", "bfloat16 numbers" or "float16 numbers"; otherwise "".
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
    top_documents: int
    grid: str

    @property
    def contradicts(self) -> bool:
        """True if the run's order or its ranks contradict its scores."""
        return bool(self.unordered or self.misranked)

    def __repr__(self) -> str:
        largest = f", the largest of {self.sizes.max():,}" if len(self.sizes) else ""
        groups = f"{counted(len(self.sizes), 'tie group')}{largest}"
        tied = f"{self.tied_documents:,} of {counted(self.documents, 'document')} tied"
        return f"Ties({self.tied_lists:,} of {counted(self.lists, 'list')} and {tied}, {groups})"


def count_ties(
    scores: npt.ArrayLike,
    offsets: npt.ArrayLike | None = None,
    cutoffs: Sequence[int] = TIE_CUTOFFS,
    ranks: RankColumn | None = None,
) -> Ties:
    """Count the ties of lists of scores.

    Parameters
    ----------
    scores : real numbers, shape (n_documents,) or (n_lists, depth)
        The scores of all lists, one list after the other. In two dimensions, each row is a list, and `offsets` must not
        be given.
    offsets : integers, shape (n_lists + 1,), optional
        The position of the first score of each list, followed by the number of scores. Without `offsets`,
        one-dimensional scores are one list.
    cutoffs : sequence of int
        The ranks, at least 1, for which to count ties above and across the cut-off.
    ranks : RankColumn, optional
        The rank column of the run, to compare with its scores.

    Returns
    -------
    Ties

    Raises
    ------
    InputError
        If a cut-off is below 1, the offsets do not divide the scores, or the scores do not have one or two dimensions.

    Examples
    --------
    >>> ties = count_ties([3.0, 2.0, 2.0, 1.0], [0, 4], cutoffs=[2, 3])
    >>> ties.tied_documents, ties.sizes, ties.within, ties.across
    (2, array([2]), (0, 1), (1, 0))
    >>> count_ties([[3.0, 2.0, 2.0], [1.0, 1.0, 1.0]], cutoffs=[2]).across
    (2,)
    """
    if isinstance(offsets, int | np.integer):
        found = shown(offsets)
        raise InputError("offsets", f"expected an array, found {found}; for a cut-off write cutoffs=[{found}]")
    scores, offsets = flat_lists(scores, offsets)
    if isinstance(cutoffs, int | np.integer) and not isinstance(cutoffs, bool):
        raise InputError("cutoffs", f"must be a sequence of numbers; write cutoffs=[{shown(int(cutoffs))}]")
    cutoffs = whole_numbers("cutoffs", cutoffs, 1)
    _, group_list, start, size = tie_groups(scores, offsets)
    tied = size > 1
    within, across = [], []
    for cutoff in cutoffs:
        within.append(len(np.unique(group_list[tied & (start + 2 <= cutoff)])))
        across.append(len(np.unique(group_list[tied & (start < cutoff) & (start + size > cutoff)])))
    with np.errstate(over="ignore"):
        single = scores.astype(np.float32)
    _, single_list, _, single_size = tie_groups(single, offsets)
    common_length = common_length_of(np.diff(offsets))
    at_end = tied & (start + size == common_length) if common_length else np.zeros(len(start), dtype=bool)
    conflicts = None if ranks is None else rank_conflicts(ranks)
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
        misranked=None if conflicts is None else len(conflicts.misranked),
        repeated=None if conflicts is None else len(conflicts.repeated),
        top_documents=int(size[tied & (start == 0)].sum()),
        grid=_grid_of(scores),
    )


def _grid_of(scores: Scores) -> str:
    """Return the coarsest kind of numbers that all scores are; "" if it is none of those that `Ties` names."""
    if not len(scores) or not np.isfinite(scores).all():
        return ""
    for decimals, name in enumerate(("whole numbers", "numbers with one decimal", "numbers with two decimals")):
        if (scores == np.round(scores, decimals)).all():
            return name
    with np.errstate(over="ignore"):
        single = scores.astype(np.float32)
        if (single == scores).all() and not (single.view(np.uint32) & np.uint32(0xFFFF)).any():
            return "bfloat16 numbers"
        return "float16 numbers" if (scores.astype(np.float16) == scores).all() else ""


def flat_lists(scores: npt.ArrayLike, offsets: npt.ArrayLike | None) -> tuple[Scores, Offsets]:
    """Return the scores of all lists, one list after the other, and the offsets of the lists."""
    if isinstance(scores, Run | Mapping):
        if isinstance(scores, Mapping) and not any(isinstance(each, Mapping) for each in scores.values()):
            raise InputError("scores", "must be numbers, not a dict; call count_ties once for each matrix")
        first = "" if isinstance(scores, Run) else "run = Run.from_dict(run) and "
        raise InputError("scores", f"must be numbers, not a run; write {first}count_ties(run.scores, run.offsets)")
    array = as_scores(scores, "scores")
    if array.ndim not in (1, 2):
        raise unexpected("scores", "one or two dimensions", f"shape {array.shape}")
    if array.ndim == 2:
        if offsets is not None:
            raise InputError("offsets", "must not be given with two-dimensional scores: each row is already one list")
        return array.reshape(-1), np.arange(len(array) + 1, dtype=np.int64) * array.shape[1]
    edges = [0, len(array)] if offsets is None else offsets
    return array, as_offsets(edges, len(array), "offsets", of="scores")


def ends_of(scores: Scores, offsets: Offsets) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """Return the length of each list, and whether its last two documents by score tie."""
    lengths = np.diff(offsets)
    tied, some = np.zeros(len(lengths), dtype=bool), np.flatnonzero(lengths)
    if some.size:
        starts = offsets[:-1][some]
        least = np.repeat(np.minimum.reduceat(scores, starts), lengths[some])
        tied[some] = np.add.reduceat(scores == least, starts, dtype=np.int64) > 1
    return lengths, tied


def common_length_of(lengths: Integers) -> int | None:
    """Return the length of the longest lists if two lists and a tenth of all lists have it; None otherwise."""
    longest = int(lengths.max(initial=0))
    n_longest = int((lengths == longest).sum())
    return longest if longest and n_longest >= max(2, len(lengths) / 10) else None


def tie_groups(scores: Scores, offsets: Offsets) -> tuple[Integers, Integers, Integers, Integers]:
    """Return the rows by list and descending score; and each tie group's list, rank in it from 0, and size."""
    list_of = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((-scores, list_of))
    ordered = scores[order]
    first = np.ones(len(scores), dtype=bool)
    first[1:] = (ordered[1:] != ordered[:-1]) | (list_of[1:] != list_of[:-1])
    starts = np.flatnonzero(first)
    return order, list_of[starts], starts - offsets[list_of[starts]], np.diff(np.append(starts, len(scores)))


def added_up(several: Sequence[Ties]) -> Ties:
    """Return the counts of several runs, added up."""

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
        top_documents=sum(ties.top_documents for ties in several),
        grid=several[0].grid if len({ties.grid for ties in several}) == 1 else "",
    )
