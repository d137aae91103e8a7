"""Chunks of work over Python's own thread pool. The kernels release the GIL; the result never depends on the chunks."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import pairwise
from threading import Lock, local
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from tieaware.checks import whole_number

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Result = TypeVar("Result")

_pools: dict[int, ThreadPoolExecutor] = {}
_lock = Lock()
# Whether this thread is one of a pool: it does not wait for others of the pool, which may wait for it.
_in_pool = local()


def _forget_pools() -> None:
    """A forked child has none of its parent's threads."""
    global _lock
    _lock = Lock()
    _pools.clear()


os.register_at_fork(after_in_child=_forget_pools)


def checked_threads(threads: int | None) -> int:
    """Return the number of threads; None stands for one per core."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return whole_number("threads", threads, 1, 1024)


def pool(threads: int) -> ThreadPoolExecutor:
    """Return the pool of so many threads, which all callers share."""
    # Here, because to import it costs more than the rest of the package.
    from concurrent.futures import ThreadPoolExecutor

    with _lock:
        if threads not in _pools:
            _pools[threads] = ThreadPoolExecutor(threads, "tieaware", _enter_pool)
        return _pools[threads]


def _enter_pool() -> None:
    _in_pool.entered = True


def over_chunks(work: Callable[[int, int], Result], edges: npt.NDArray[np.int64], threads: int) -> list[Result]:
    """Call ``work(edges[i], edges[i + 1])`` for each chunk, in as many threads, and return the results in order.

    Within such a call, another does its work in its own thread.
    """
    chunks = [(a, b) for a, b in pairwise(edges.tolist()) if a < b]
    if threads == 1 or len(chunks) < 2 or getattr(_in_pool, "entered", False):
        return [work(a, b) for a, b in chunks]
    return list(pool(threads).map(lambda chunk: work(*chunk), chunks))


def even_chunks(offsets: npt.NDArray[np.int64], threads: int) -> npt.NDArray[np.int64]:
    """Cut the lists between offsets into a few chunks a thread, of about the same number of documents each."""
    n_lists = len(offsets) - 1
    if threads == 1:
        return np.array([0, n_lists])
    targets = np.linspace(0, offsets[-1], 4 * threads + 1)
    edges = np.searchsorted(offsets, targets)
    edges[0], edges[-1] = 0, n_lists
    return edges
