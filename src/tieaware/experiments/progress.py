"""A progress bar for what takes long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from tieaware._evaluate import evaluate_views
from tieaware.extras import load
from tieaware.inputs import QrelsLike, as_qrels, as_sources
from tieaware.measures import Measure
from tieaware.results import Results
from tieaware.views import View

Item = TypeVar("Item")

# So many runs are evaluated between two steps of the bar: enough for all threads.
_RUNS = 16


def progress(items: Iterable[Item], label: str) -> Iterable[Item]:
    """Go through the items, with a bar on a terminal once that has taken two seconds."""
    bar: Iterable[Item] = load("tqdm", "analysis").tqdm(items, desc=label, delay=2.0, disable=None, leave=False)
    return bar


def evaluate_with_progress(
    qrels: QrelsLike, runs: Any, measures: Sequence[Measure], views: Sequence[View], threads: int | None
) -> list[Results]:
    """Do what `evaluate_views` does, some runs at a time."""
    judged, named = as_qrels(qrels), list(as_sources(runs).items())
    some = [dict(named[start : start + _RUNS]) for start in range(0, len(named), _RUNS)]
    parts = [evaluate_views(judged, each, measures, views, threads=threads) for each in progress(some, "evaluating")]
    return [Results.concat(of_view) for of_view in zip(*parts, strict=True)]
