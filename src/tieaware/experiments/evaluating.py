"""Evaluation of runs for experiments: with a progress display, or of the judged lists of a run many times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware._evaluate import evaluate_views
from tieaware.checks.arguments import flag
from tieaware.checks.arrays import Integers, Offsets, Scores, Values
from tieaware.engine.views import View
from tieaware.evaluator import Evaluator
from tieaware.inputs import (
    Qrels,
    QrelsLike,
    Run,
    RunSource,
    as_sources,
    check_numbers,
    consistent,
    match_whole,
    repeatable,
)
from tieaware.lists.grades import Missing
from tieaware.lists.query_lists import rows_of
from tieaware.measures import Measure
from tieaware.results import Results
from tieaware.runtime.progress import stage
from tieaware.statistics import kendall_tau


def repeatable_runs(runs: Any, consistent_only: bool = False) -> dict[str, RunSource]:
    """Return the runs by name, in forms that can be evaluated several times; see `tieaware.evaluate`."""
    sources = {name: repeatable(source) for name, source in as_sources(runs).items()}
    return consistent(sources) if flag("consistent_only", consistent_only) else sources


def evaluate_with_progress(
    qrels: QrelsLike, runs: Any, measures: Sequence[Measure], views: Sequence[View], threads: int | None,
    consistent_only: bool = False, observe: Callable[[str, Run], None] | None = None, missing: Missing | None = None,
) -> list[Results]:  # fmt: skip
    """Call `evaluate_views`, with a progress display on a terminal or in a notebook."""
    with stage("evaluating"):
        return evaluate_views(
            qrels, runs, measures, views, threads=threads, consistent_only=consistent_only, missing=missing,
            observe=observe,
        )  # fmt: skip


def known_tau(first: Values, second: Values) -> float | None:
    """Return Kendall's τ_b between the orders of runs by two means; None if there is one run, or it is undefined."""
    tau = kendall_tau(first, second) if len(first) > 1 else np.nan
    return None if np.isnan(tau) else float(tau)


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
