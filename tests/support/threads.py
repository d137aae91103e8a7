"""Threads that do something at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np


def in_threads(*tasks: Callable[[], object]) -> None:
    """Run each task in a thread of its own, all from the same moment; the errors that they raise are failures."""
    start, errors = threading.Barrier(len(tasks)), []

    def run(task: Callable[[], object]) -> None:
        start.wait()
        try:
            task()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


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

    thread = threading.Thread(target=change)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
