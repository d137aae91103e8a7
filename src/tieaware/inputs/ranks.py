"""The rank column of run files, which evaluation ignores: a reader, and a comparison with the scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tieaware.checks.arrays import Integers, Values
from tieaware.inputs.files import state_of
from tieaware.inputs.part_files import Parts
from tieaware.inputs.part_streams import opened
from tieaware.inputs.text import Lines, number_in


class RankColumn(NamedTuple):
    """The query, rank and score on each line of a run file, in the order of the file.

    Parameters
    ----------
    queries : int64[n_lines]
        The query of each line, as a number: queries are numbered in the order of first appearance.
    ranks : float64[n_lines]
        The rank on each line; NaN if it is not a number.
    scores : float64[n_lines]
        The score on each line.
    """

    queries: Integers
    ranks: Values
    scores: Values


class RankConflicts(NamedTuple):
    """The queries whose ranks are doubtful.

    Attributes
    ----------
    misranked : int64[n_misranked]
        The queries in which a lower score has a better rank than a higher score.
    repeated : int64[n_repeated]
        The queries that have a rank twice.
    """

    misranked: Integers
    repeated: Integers


def rank_conflicts(column: RankColumn) -> RankConflicts | None:
    """Compare the ranks of a run with its scores; return None if a rank is not a number."""
    if np.isnan(column.ranks).any():
        return None
    order = np.lexsort((column.scores * -1.0, column.ranks, column.queries))
    query, rank, score = column.queries[order], column.ranks[order], column.scores[order]
    same = query[1:] == query[:-1]
    # The sort puts documents with the same rank in descending order of score, so they do not count as misranked.
    misranked = np.unique(query[1:][same & (rank[1:] > rank[:-1]) & (score[1:] > score[:-1])])
    return RankConflicts(misranked, np.unique(query[1:][same & (rank[1:] == rank[:-1])]))


def read_ranks(path: object) -> RankColumn | None:
    """Read the rank column of a run file that `read_run` has already read, and therefore found valid.

    Evaluation ignores ranks, so the fast reader of `read_run` does not store them. This slower reader is in Python.

    Parameters
    ----------
    path : object

    Returns
    -------
    RankColumn or None
        None if the argument is not the path of a regular file, or part files: a pipe, for example, cannot be read a
        second time.

    Raises
    ------
    InputError
        The file cannot be read.
    """
    if (path.state if isinstance(path, Parts) else state_of(path)) is None:
        return None
    numbers: dict[bytes, int] = {}
    queries, ranks, scores = list[int](), list[float](), list[float]()
    with opened(path) as stream:  # type: ignore[arg-type]
        for line in Lines(stream):
            field = line.split(None, 5)
            # Empty lines and comments are skipped, as `read_run` does.
            if field and field[0][:1] != b"#":
                queries.append(numbers.setdefault(field[0], len(numbers)))
                ranks.append(_number(field[3]))
                scores.append(_number(field[4]))
    return RankColumn(np.array(queries, np.int64), np.array(ranks, np.float64), np.array(scores, np.float64))


def _number(text: bytes) -> float:
    try:
        return number_in(text)
    except ValueError:
        return float("nan")
