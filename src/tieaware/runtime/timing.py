"""Timing of calls in turns, for the overhead experiment and the benchmarks."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence


def seconds(call: Callable[[], object], repeats: int = 1) -> float:
    """Return the mean seconds per call of several calls in a row."""
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def take_turns(calls: Sequence[Callable[[], object]], rounds: int) -> list[list[float]]:
    """Time each call once per round, and return the seconds of each call in every round.

    In turns, a processor that runs faster for a second, or is shared with others, affects all calls of a round.
    """
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, spent in zip(calls, times, strict=True):
            spent.append(seconds(call))
    return times


def ratio(of: Sequence[float], to: Sequence[float]) -> float:
    """Return the median of the ratios of two calls over all rounds."""
    return statistics.median(a / b for a, b in zip(of, to, strict=True))


def ratio_of_least(of: Sequence[float], to: Sequence[float]) -> float:
    """Return the ratio of the least times of two calls, which may come from different rounds."""
    return min(of) / min(to)
