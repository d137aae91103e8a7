"""The thread pool, which all calls in a process share.

The kernels release the GIL, so that threads run in parallel. Results never depend on the number of threads, nor on
which thread does which part of the work.
"""

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
from tieaware.errors import InputError
from tieaware.kernels import _interruption

Item = TypeVar("Item")
Result = TypeVar("Result")


def checked_threads(threads: int | None) -> int:
    """Check the number of threads, and return it; for None, return the number of processor cores."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        return whole_number("threads", threads, 1, 1024)
    except InputError as error:
        raise InputError("threads", f"{error.problem}; None means one per core", error.expected, error.found) from None


class _Pool:
    """Threads that wait for work. The pool grows to the most threads that a call has asked for, and never shrinks."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = Lock()
        self._size = 0

    def ask(self, work: Callable[[], None], threads: int) -> None:
        """Ask `threads` threads to call `work` once each, when they are free.

        The caller must not wait for these calls to begin: the threads may be busy with another call.
        """
        with self._lock, suppress(RuntimeError):
            # If no more threads can be started, the existing ones do the work.
            while self._size < threads:
                Thread(target=self._serve, name=f"tieaware-{self._size}", daemon=True).start()
                self._size += 1
        for _ in range(threads):
            self._waiting.put(work)

    def _serve(self) -> None:
        while True:
            # Do not keep the work in a local variable: an idle thread would hold a reference to its last work.
            self._waiting.get()()


_pool = _Pool()
# `_thread.call` is the call that the current thread works for, if any. A call inside it then uses no other threads.
_thread = local()


class _Abandoned(BaseException):
    """Ends the work of a pool thread after the call that it works for was interrupted; raised inside the kernels."""


def check_abandoned() -> None:
    """End the work of this pool thread if the call that it works for was interrupted."""
    call = getattr(_thread, "call", None)
    if call is not None and call.abandoned:
        raise _Abandoned


_interruption.ask_also(check_abandoned)


def _forget_pool() -> None:
    """Give a forked child process an empty pool, because it has none of its parent's threads."""
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):  # Windows has no forks.
    os.register_at_fork(after_in_child=_forget_pool)


class _Call(Generic[Item, Result]):
    """One call of `over_items`: its items, which several threads take one after another, and their results.

    The calling thread takes items like the threads of the pool. At the end it waits only for pool threads that have
    begun to help, so calls that share the pool never wait for one another. The count of helping threads leaves out
    the calling thread: it may be interrupted before it could decrease the count, and the call would wait for ever.
    """

    def __init__(self, work: Callable[[Item], Result], items: Iterable[Item]) -> None:
        self._work = work
        self._items = iter(items)
        self._taking = Lock()
        self._taken = 0
        # If `_over`, no more items are taken. If `abandoned`, even the results of items in progress are not needed.
        self._over = False
        self.abandoned = False
        self._changed = Condition()
        self._helping = 0
        self._results: dict[int, Result] = {}
        self._errors: dict[int, BaseException] = {}

    def help(self) -> None:
        """Work on items in a pool thread until none are left; return at once if the call is over."""
        # Not by `with`, which runs Python code to release the condition: without memory for that, the calling thread
        # would wait for ever.
        self._changed.acquire()
        try:
            if self._over:
                return
            self._helping += 1
        finally:
            self._changed.release()
        try:
            self._take_items()
        finally:
            self._changed.acquire()
            try:
                self._helping -= 1
                self._changed.notify_all()
            finally:
                self._changed.release()

    def results(self) -> list[Result]:
        """Work on items in the calling thread, wait for the helping threads, and return the results in order.

        If the work on several items fails, the error of the first of these items is raised. If the calling thread is
        interrupted, the kernels in the other threads end at their next check for interruption. If it is interrupted
        again, it does not wait for them.
        """
        try:
            self._take_items()
            self._wait()
        except BaseException:
            self._over = self.abandoned = True
            self._wait()
            self._errors.clear()
            raise
        if self._errors:
            # Items are taken in order, so the first error is the one that a single thread would have met.
            interruptions = [number for number, error in self._errors.items() if not isinstance(error, Exception)]
            error = self._errors[min(interruptions or self._errors)]
            self._errors.clear()
            try:
                raise error
            finally:
                # The error's traceback refers to this frame, and the frame to the error: break the cycle.
                del error
        return [self._results[number] for number in range(len(self._results))]

    def _wait(self) -> None:
        with self._changed:
            # A thread that has no memory to notify this one is not waited for longer than this.
            while not self._changed.wait_for(lambda: self._helping == 0, timeout=0.5):
                pass
            self._over = True

    def _take_items(self) -> None:
        """Take items and work on them until none are left."""
        _thread.call = self
        try:
            while self._take_one():
                pass
        finally:
            _thread.call = None

    def _take_one(self) -> bool:
        """Take an item and work on it; return whether there may be more items."""
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
            self.abandoned = True
        if not isinstance(error, _Abandoned):
            self._errors[number] = error
        self._over = True
        return False


def over_items(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> list[Result]:
    """Call ``work(item)`` for each item, in up to `threads` threads, and return the results in order.

    Each thread takes the next item when it has finished one; only one thread at a time advances the iterator. After an
    error, no more items are taken. When the items in progress have ended, the error of the first item that failed is
    raised. If `work` itself calls this function, the inner call uses only the thread that it was called in.
    """
    if threads == 1 or getattr(_thread, "call", None) is not None:
        return [work(item) for item in items]
    call = _Call(work, items)
    _pool.ask(call.help, threads - 1)
    return call.results()


def over_chunks(work: Callable[[int, int], Result], edges: npt.NDArray[np.int64], threads: int) -> list[Result]:
    """Call ``work(edges[i], edges[i + 1])`` for each non-empty chunk i, and return the results as `over_items` does."""
    chunks = [(a, b) for a, b in pairwise(edges.tolist()) if a < b]
    if threads == 1 or len(chunks) < 2:
        return list(starmap(work, chunks))
    return over_items(lambda chunk: work(*chunk), chunks, min(threads, len(chunks)))


def even_chunks(offsets: npt.NDArray[np.int64], threads: int) -> npt.NDArray[np.int64]:
    """Divide lists into four chunks per thread, with about the same number of documents; return the chunks' edges."""
    n_lists = len(offsets) - 1
    if threads == 1:
        return np.array([0, n_lists])
    targets = np.linspace(0, offsets[-1], 4 * threads + 1)
    edges = np.searchsorted(offsets, targets)
    edges[0], edges[-1] = 0, n_lists
    return edges
