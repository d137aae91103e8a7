"""Judgments and a run, joined: where in its lists the judged documents are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tieaware import _join
from tieaware.inputs.qrels import Qrels
from tieaware.inputs.run import Run, Scores, rounded

__all__ = ["Matched", "match", "match_dict"]


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """A run as evaluation needs it: scores, and which of them belong to judged documents.

    Parameters
    ----------
    rows : int64[n_queries]
        Which query of the judgments each of the run's is; -1 where it is none.
    offsets : int64[n_queries + 1]
        The scores of query ``q`` are ``offsets[q]`` to ``offsets[q + 1]``.
    scores : float64[n_documents] or float32[n_documents]
        The scores, in the order of the run.
    judged_offsets : int64[n_queries + 1]
        The judged documents of query ``q`` are ``judged_offsets[q]`` to ``judged_offsets[q + 1]``.
    judged_positions : int64[n_judged]
        Where each is in the list of its query, from 0, ascending.
    judged_labels : int32[n_judged]
        Its label, which may be negative.
    """

    rows: NDArray[np.int64]
    offsets: NDArray[np.int64]
    scores: Scores
    judged_offsets: NDArray[np.int64]
    judged_positions: NDArray[np.int64]
    judged_labels: NDArray[np.int32]


def match(qrels: Qrels, run: Run) -> Matched:
    """Find the judged documents of a run."""
    rows, judged_offsets, positions, labels = _join.match(
        qrels.index,
        run.queries.data,
        run.queries.offsets,
        run.offsets,
        run.documents.data,
        run.documents.offsets,
    )
    return Matched(rows, run.offsets, run.scores, judged_offsets, positions, labels)


def match_dict(
    qrels: Qrels, run: Mapping[Any, Mapping[Any, float]], *, score_dtype: str = "float64"
) -> Matched:
    """Find the judged documents of ``{query: {document: score}}``.

    The same as to match `Run.from_dict`, but for the time it takes.

    Parameters
    ----------
    qrels : Qrels
    run : dict
    score_dtype : "float64" or "float32"
        What scores are rounded to.

    Raises
    ------
    InputError
        As `Run.from_dict` does.
    """
    walked = _join.match_dict(qrels.index, run) if type(run) is dict else None
    if walked is None:
        matched = match(qrels, Run.from_dict(run))
    else:
        rows, offsets, scores, judged_offsets, positions, labels = walked
        matched = Matched(rows, offsets, scores, judged_offsets, positions, labels)
    return replace(matched, scores=rounded(matched.scores, score_dtype))
