"""Timing of calls that take turns, for the overhead experiment and the benchmarks."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence


def seconds(call: Callable[[], object], repeats: int = 1) -> float:
    """Call a function several times in a row, and return the mean number of seconds per call."""
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def take_turns(calls: Sequence[Callable[[], object]], rounds: int) -> list[list[float]]:
    """Time each call once per round, and return the seconds of each call in every round.

    The calls take turns, so that a change of the processor's speed or load affects all calls of a round alike.
    """
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, spent in zip(calls, times, strict=True):
            spent.append(seconds(call))
    return times


def ratio(of: Sequence[float], to: Sequence[float]) -> float:
    """Return the median, over all rounds, of the ratio of the times of two calls: `of` divided by `to`."""
    return statistics.median(a / b for a, b in zip(of, to, strict=True))


def ratio_of_least(of: Sequence[float], to: Sequence[float]) -> float:
    """Return the least time in `of` divided by the least time in `to`, which may come from different rounds."""
    return min(of) / min(to)
