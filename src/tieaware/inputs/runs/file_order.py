"""The order of a run's documents in its input, and runs whose scores contradict it, or do not give it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from tieaware.checks.arrays import Integers, Offsets, Scores
from tieaware.errors import InputError, printable, warn
from tieaware.inputs.runs.run import RunSource
from tieaware.inputs.trec.reader import RankColumn
from tieaware.output.tables import counted

# The values of the argument `order`: what orders the documents of a run.
Order: TypeAlias = Literal["score", "file"]
ORDERS: tuple[Order, ...] = get_args(Order)

_SHOWN = 3
# With fewer neighbours in the lists of a run, the ranks may oppose the scores by chance.
_FEWEST_NEIGHBOURS = 20


def repeatable(source: RunSource) -> RunSource:
    """Return a run in a form that can be read several times; standard input and streams are read into memory."""
    can_be_read_again = source.rereadable and (source.path is None or source.state is not None)
    return source if can_be_read_again else source.whole()


class RankConflicts(NamedTuple):
    """The queries in which a lower score has a better rank than a higher score, and those that have a rank twice."""

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


def contradicts_itself(source: RunSource) -> bool:
    """Return whether the order of a run's input, or its rank column, puts a lower score before a higher one.

    The run must be one that can be read again.
    """
    for chunk in source.chunks():
        run = chunk.whole()
        rises = np.flatnonzero(run.scores[1:] > run.scores[:-1]) + 1
        if not np.isin(rises, run.offsets).all():
            return True
    ranks = source.ranks()
    conflicts = None if ranks is None else rank_conflicts(ranks)
    return conflicts is not None and len(conflicts.misranked) > 0


def never_fall(scores: Scores, offsets: Offsets) -> bool:
    """Return whether no document has a lower score than the one before it in its list."""
    # The first list usually decides, without a look at all scores.
    first = scores[: offsets[1]] if len(offsets) > 1 else scores
    if (first[1:] < first[:-1]).any():
        return False
    return bool(np.isin(np.flatnonzero(scores[1:] < scores[:-1]) + 1, offsets).all())


def order_in_ranks(source: RunSource, *, is_by_position: bool) -> str:
    """Return what is wrong with a run whose scores never fall, if its ranks order the documents; "" otherwise.

    The run was read before. Equal scores are right if the tie rule keeps the order of the file.
    """
    ranks = source.ranks()
    if ranks is None:
        return ""
    same = ranks.queries[1:] == ranks.queries[:-1]
    rank, score = np.diff(ranks.ranks)[same], np.diff(ranks.scores)[same]
    if not score.any():
        # One pair of documents is an example rather than a run.
        has_order = not is_by_position and np.count_nonzero(np.abs(rank) > 0) > 1
        remedy = "but not the ranks, which are ignored; order='file' takes the order of the file"
        return f"all scores of a query are equal, {remedy}" if has_order else ""
    # Distances tie here and there; a run with a single higher score is nearly constant.
    most_rise = 2 * np.count_nonzero(score) > len(score) >= _FEWEST_NEIGHBOURS
    remedy = "if they are distances, negate them, because higher scores rank higher"
    rise = most_rise and (rank > 0).all() and (score >= 0).all()
    return f"the scores of every query rise with the rank; {remedy}" if rise else ""


def consistent(sources: Mapping[str, RunSource]) -> dict[str, RunSource]:
    """Return the runs that do not contradict themselves, and warn about the others; see `contradicts_itself`.

    A run that can be read only once is read into memory. If every run contradicts itself, raise InputError.
    """
    again = {name: repeatable(source) for name, source in sources.items()}
    kept = {name: source for name, source in again.items() if not contradicts_itself(source)}
    left_out = tuple(name for name in sources if name not in kept)
    if sources and not kept:
        raise none_left(len(left_out))
    if left_out:
        warn(_left_out_message(left_out))
    return kept


def none_left(n_left_out: int) -> InputError:
    """Return the error for runs that all contradict themselves."""
    why = "its ranks or order contradict its" if n_left_out == 1 else "their ranks or order contradict their"
    left_out = counted(n_left_out, "run was", "runs were")
    return InputError("runs", f"no run is left: {left_out} left out, because {why} scores")


def _left_out_message(left_out: tuple[str, ...]) -> str:
    """Return a warning that names the runs that were left out because they contradict themselves."""
    names = ", ".join(printable(name) for name in left_out[:_SHOWN]) + (", …" if len(left_out) > _SHOWN else "")
    return f"{counted(len(left_out), 'run')} left out, whose ranks or order contradict the scores: {names}"
