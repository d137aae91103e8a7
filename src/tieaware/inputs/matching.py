"""Judgments and a run, joined: where in its lists the judged documents are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tieaware.checks.arrays import Integers, Scores
from tieaware.inputs.qrels import Qrels
from tieaware.inputs.run import Run
from tieaware.inputs.run_dict import RunDict
from tieaware.kernels import _join
from tieaware.lists.identifiers import quoted
from tieaware.lists.judgments import JudgedLists

__all__ = ["Matched", "differing", "match"]


class Matched(NamedTuple):
    """A run, or a part of one, as evaluation needs it.

    Parameters
    ----------
    rows : int64[n_queries]
        Which query of the judgments each of the run's is; -1 where it is none.
    scores : float64[n_documents] or float32[n_documents]
        The scores, in the order of the run.
    lists : JudgedLists
        Which of them belong to judged documents, whose labels may be negative.
    """

    rows: Integers
    scores: Scores
    lists: JudgedLists


def match(qrels: Qrels, run: Run | RunDict) -> Matched:
    """Find the judged documents of a run.

    Raises
    ------
    InputError
        Queries or documents are integers on one side, and text on the other.
    """
    if isinstance(run, RunDict):
        walked = _join.match_dict(qrels.index, run.lists) if type(run.lists) is dict else None
        if walked is not None:
            rows, offsets, scores, judged_offsets, positions, labels = walked
            return Matched(rows, scores, JudgedLists(offsets, judged_offsets, positions, labels))
        # It is not as plain as that, or has an error that needs words.
        run = run.whole()
    run.queries.check_kind(qrels.queries, f"{run.name}.query", qrels.name)
    run.documents.check_kind(qrels.documents, f"{run.name}.doc", qrels.name)
    rows, judged_offsets, positions, labels = _join.match(
        qrels.index,
        run.queries.data,
        run.queries.offsets,
        run.offsets,
        run.documents.data,
        run.documents.offsets,
    )
    return Matched(rows, run.scores, JudgedLists(run.offsets, judged_offsets, positions, labels))


def differing(qrels: Qrels, run: Run | RunDict, matched: Matched) -> str:
    """Show a document of either side, of the first query for which both have any; nothing if there is none."""
    run = run.whole()
    for i in np.flatnonzero((matched.rows >= 0) & (np.diff(run.offsets) > 0)).tolist():
        row = matched.rows[i]
        if qrels.offsets[row] < qrels.offsets[row + 1]:
            here, there = run.documents[run.offsets[i]], qrels.documents[qrels.offsets[row]]
            return f"query {quoted(run.queries[i])} has {quoted(here)} here and {quoted(there)} there"
    return ""
