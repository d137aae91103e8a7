"""Evaluation of runs with a progress display, and the correlation of orders, for experiments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tieaware._evaluate import evaluate_views
from tieaware.checks.arguments import flag
from tieaware.checks.arrays import Values
from tieaware.engine.views import View
from tieaware.inputs import QrelsLike, Run, RunSource, as_sources, consistent, repeatable
from tieaware.lists.grades import Missing
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
