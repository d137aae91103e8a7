"""Work over the threads of one pool. The kernels release the GIL; the result never depends on who does what."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import pairwise, starmap
from queue import SimpleQueue
from threading import Condition, Lock, Thread, local
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import whole_number
from tieaware.kernels import _interruption

Item = TypeVar("Item")
Result = TypeVar("Result")


def checked_threads(threads: int | None) -> int:
    """Return the number of threads; None stands for one per core."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return whole_number("threads", threads, 1, 1024)


class _Pool:
    """Threads that wait for work: as many as the largest call so far has needed beside the one that makes it."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = Lock()
        self._size = 0

    def ask(self, work: Callable[[], None], threads: int) -> None:
        """Have so many threads call `work`, each once, when they are free. No one may wait for them to begin."""
        with self._lock, suppress(RuntimeError):
            # An error: there can be no more threads, and those that there are do what is to be done.
            while self._size < threads:
                Thread(target=self._serve, name=f"tieaware-{self._size}", daemon=True).start()
                self._size += 1
        for _ in range(threads):
            self._waiting.put(work)

    def _serve(self) -> None:
        while True:
            # Nothing keeps the work while this waits for more.
            self._waiting.get()()


_pool = _Pool()
# The call that this thread is at work for, if any, so that one within it does not ask for others.
_thread = local()


class _GivenUp(BaseException):
    """Nobody waits for this thread's work any more: raised within it, by a kernel that asks."""


def _check_awaited() -> None:
    call = getattr(_thread, "call", None)
    if call is not None and call.given_up:
        raise _GivenUp


_interruption.ask_also(_check_awaited)


def _forget_pool() -> None:
    """A forked child has none of its parent's threads."""
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):  # Windows has no forks.
    os.register_at_fork(after_in_child=_forget_pool)


class _Call(Generic[Item, Result]):
    """Items that several threads take one after another, and what comes of them.

    The thread that makes the call takes items as the others do, and waits for those that have begun alone; so calls
    that share the pool never wait for one another. An interruption, which reaches only the main thread, may come
    anywhere: so the thread that makes the call is not counted among those at work, lest it be counted for ever.
    """

    def __init__(self, work: Callable[[Item], Result], items: Iterable[Item]) -> None:
        self._work = work
        self._items = iter(items)
        self._taking = Lock()
        self._taken = 0
        # Whether there is nothing more to take; and whether what has begun need not end either.
        self._over = False
        self.given_up = False
        self._changed = Condition()
        self._helping = 0
        self._results: dict[int, Result] = {}
        self._errors: dict[int, BaseException] = {}

    def help(self) -> None:
        """Take items in a thread of the pool, if it is not too late."""
        with self._changed:
            if self._over:
                return
            self._helping += 1
        try:
            self._take_items()
        finally:
            with self._changed:
                self._helping -= 1
                self._changed.notify_all()

    def results(self) -> list[Result]:
        """Take items too, wait for the others, and return the results in the order of the items, or raise an error.

        That is the first in the order of the items, unless this thread was interrupted: then the others end as soon as
        they ask. A second interruption does not wait for them.
        """
        try:
            self._take_items()
            self._wait()
        except BaseException:
            self._over = self.given_up = True
            self._wait()
            self._errors.clear()
            raise
        if self._errors:
            # Items are taken in order, so that the first is the error that one thread would have met.
            interruptions = [number for number, error in self._errors.items() if not isinstance(error, Exception)]
            error = self._errors[min(interruptions or self._errors)]
            self._errors.clear()
            try:
                raise error
            finally:
                # It holds this frame.
                del error
        return [self._results[number] for number in range(len(self._results))]

    def _wait(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._helping == 0)
            self._over = True

    def _take_items(self) -> None:
        """Take items as long as there are any."""
        _thread.call = self
        try:
            while self._one():
                pass
        finally:
            _thread.call = None

    def _one(self) -> bool:
        """Take an item and work on it; return whether to go on."""
        with self._taking:
            if self._over:
                return False
            number = self._taken
            self._taken += 1
            try:
                item = next(self._items)
            except StopIteration:
                self._over = True
                return False
            except BaseException as error:
                return self._failed(number, error)
        try:
            self._results[number] = self._work(item)
        except BaseException as error:
            return self._failed(number, error)
        return True

    def _failed(self, number: int, error: BaseException) -> bool:
        if not isinstance(error, Exception):
            self.given_up = True
        if not isinstance(error, _GivenUp):
            self._errors[number] = error
        self._over = True
        return False


def over_items(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> list[Result]:
    """Call ``work(item)`` for each item, in as many threads, and return the results in order.

    Each thread takes the next item when it is done with one; one thread at a time does so. The first error, in the
    order of the items, ends the call once all that has begun has ended. Within such a call, another does its work in
    its own thread.
    """
    if threads == 1 or getattr(_thread, "call", None) is not None:
        return [work(item) for item in items]
    call = _Call(work, items)
    _pool.ask(call.help, threads - 1)
    return call.results()


def over_chunks(work: Callable[[int, int], Result], edges: npt.NDArray[np.int64], threads: int) -> list[Result]:
    """Call ``work(edges[i], edges[i + 1])`` for each chunk that is not empty, as `over_items` does."""
    chunks = [(a, b) for a, b in pairwise(edges.tolist()) if a < b]
    if threads == 1 or len(chunks) < 2:
        return list(starmap(work, chunks))
    return over_items(lambda chunk: work(*chunk), chunks, min(threads, len(chunks)))


def even_chunks(offsets: npt.NDArray[np.int64], threads: int) -> npt.NDArray[np.int64]:
    """Cut the lists between offsets into a few chunks a thread, of about the same number of documents each."""
    n_lists = len(offsets) - 1
    if threads == 1:
        return np.array([0, n_lists])
    targets = np.linspace(0, offsets[-1], 4 * threads + 1)
    edges = np.searchsorted(offsets, targets)
    edges[0], edges[-1] = 0, n_lists
    return edges
