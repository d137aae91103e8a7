"""The judged lists of a run as arrays, for experiments that evaluate the same lists many times."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Offsets, Scores
from tieaware.evaluator import Evaluator
from tieaware.inputs import Qrels, RunSource, check_numbers, match_whole
from tieaware.lists.query_lists import rows_of
from tieaware.measures import Measure


class JudgedRun(NamedTuple):
    """The lists of a run as flat arrays, and the labels of all judged documents of each query."""

    scores: Scores
    labels: npt.NDArray[Any]
    offsets: Offsets
    judged: npt.NDArray[Any]
    judged_offsets: Offsets

    @classmethod
    def of(cls, qrels: Qrels, name: str, source: RunSource) -> tuple[Integers, JudgedRun]:
        """Return the position of each judged query of a run in the judgments, and the lists of these queries.

        Errors and warnings are those of `match_whole`.
        """
        check_numbers(qrels, source, name)
        matched = match_whole(qrels, source.whole(), name)
        lists = np.flatnonzero(matched.rows >= 0)
        whole = cls(matched.scores, matched.labels, matched.lists.offsets, qrels.labels, qrels.offsets)
        return matched.rows[lists], whole.part(lists, matched.rows[lists])

    def part(self, lists: Integers, judgments: Integers | None = None) -> JudgedRun:
        """Return some lists, given by position, and their judgments, which have the same positions by default."""
        rows, offsets = rows_of(self.offsets, lists)
        judged, judged_offsets = rows_of(self.judged_offsets, lists if judgments is None else judgments)
        return JudgedRun(self.scores[rows], self.labels[rows], offsets, self.judged[judged], judged_offsets)

    def evaluator(self, measure: Measure, **options: Any) -> Evaluator:
        """Return an evaluator of these lists."""
        judgments = self.judged, self.judged_offsets
        return Evaluator(self.labels, [measure], offsets=self.offsets, judgments=judgments, **options)
