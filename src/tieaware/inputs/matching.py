"""Matching of runs with judgments: finding the judged documents in ranked lists."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tieaware.checks.arrays import Integers, Scores
from tieaware.inputs.qrels import Qrels
from tieaware.inputs.run import RunSource
from tieaware.kernels import _join
from tieaware.lists.identifiers import quoted
from tieaware.lists.judgments import JudgedLists


class Matched(NamedTuple):
    """A run, or a chunk of a run, matched with judgments.

    Parameters
    ----------
    rows : int64[n_queries]
        For each query of the run, its index in the judgments; -1 for a query that is not judged.
    scores : float64[n_documents] or float32[n_documents]
        The scores, in the order of the run.
    lists : JudgedLists
        The judged documents of each list. Labels may be negative.
    """

    rows: Integers
    scores: Scores
    lists: JudgedLists


def match(qrels: Qrels, run: RunSource) -> Matched:
    """Find the judged documents of a run or a chunk.

    Raises
    ------
    InputError
        Queries or documents are integers in one of the two, and text in the other; or the run is not valid.
    """
    if run.mapping is not None:
        walked = _join.match_dict(qrels.index, run.mapping)
        if walked is not None:
            rows, offsets, scores, judged_offsets, positions, labels = walked
            return Matched(rows, scores, JudgedLists(offsets, judged_offsets, positions, labels))
        # The kernel reads only dicts, str and numbers: columns are made of any other type, or the error is found.
    columns = run.whole()
    columns.queries.check_kind(qrels.queries, f"{columns.name}.query", qrels.name)
    columns.documents.check_kind(qrels.documents, f"{columns.name}.doc", qrels.name)
    rows, judged_offsets, positions, labels = _join.match(
        qrels.index,
        columns.queries.data,
        columns.queries.offsets,
        columns.offsets,
        columns.documents.data,
        columns.documents.offsets,
    )
    return Matched(rows, columns.scores, JudgedLists(columns.offsets, judged_offsets, positions, labels))


def differing(qrels: Qrels, run: RunSource, matched: Matched) -> str:
    """Describe a document of the run and one of the judgments, for the first query that has both; "" if none has."""
    columns = run.whole()
    for i in np.flatnonzero((matched.rows >= 0) & (np.diff(columns.offsets) > 0)).tolist():
        row = matched.rows[i]
        if qrels.offsets[row] < qrels.offsets[row + 1]:
            here, there = columns.documents[columns.offsets[i]], qrels.documents[qrels.offsets[row]]
            return f"query {quoted(columns.queries[i])} has {quoted(here)} here and {quoted(there)} there"
    return ""
