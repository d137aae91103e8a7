"""Threads that do something at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np


def in_threads(*tasks: Callable[[], object]) -> None:
    """Run each task in a thread of its own, all from the same moment; raise the first error of a task."""
    start = threading.Barrier(len(tasks))

    def run(task: Callable[[], object]) -> None:
        start.wait()
        task()

    with ThreadPoolExecutor(len(tasks)) as pool:
        for done in [pool.submit(run, task) for task in tasks]:
            done.result()


@contextmanager
def changing(array: np.ndarray, seed: int) -> Iterator[None]:
    """Let another thread write whole numbers with few or many ties to an array while the context is open."""
    rng = np.random.default_rng(seed)
    changes = [rng.integers(0, n, array.shape) for n in (1, 2, 5, 40)] * 2
    done = threading.Event()

    def change() -> None:
        while not done.is_set():
            for other in changes:
                array[:] = other

    with ThreadPoolExecutor(1) as pool:
        thread = pool.submit(change)
        try:
            yield
        finally:
            done.set()
        thread.result()
