"""How far something is that takes long, for who waits at a terminal.

One line on standard error says which stages are open, how far each is, and for how long this takes; from the second
second on, and only until it is over. A thread writes it, so that it goes on also while a step takes long.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from threading import Event, Lock, Thread

__all__ = ["aside", "stage"]

# Seconds: what ends before then is not spoken of; and from one line to the next.
_DELAY, _STEP = 1.0, 0.2


class _Stage:
    """Something that takes long: what it is, how many steps are done, of how many if that is known."""

    def __init__(self, label: str, total: float | None, done: float, unit: str) -> None:
        self._label, self._total, self._unit = label, total, unit
        self._first = self.done = done
        self._since = time.monotonic()

    def __str__(self) -> str:
        if self._total is None and self.done == 0:
            return self._label
        of = "" if self._total is None else f" of {self._total:,.0f}"
        return f"{self._label} {self.done:,.0f}{of}{self._unit}"

    def left(self) -> float:
        """Return how many seconds the rest takes if it goes on as before; NaN if nobody knows."""
        if self._total is None or self.done <= self._first:
            return float("nan")
        return (time.monotonic() - self._since) * (self._total - self.done) / (self.done - self._first)


class _Line:
    """The line, with all stages that are open: the outer ones first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._stages: list[_Stage] = []
        self._width = 0
        self._over = Event()

    def is_shown(self) -> bool:
        return bool(self._stages)

    @contextmanager
    def opened(self, stage: _Stage) -> Iterator[Callable[[float], None]]:
        """Have a stage in the line, which begins and ends with the outermost."""
        with self._lock:
            if not self._stages:
                self._over = Event()
                with suppress(RuntimeError):  # there can be no more threads: then nobody is told
                    Thread(target=self._write_on, args=(self._over,), name="tieaware-progress", daemon=True).start()
            self._stages.append(stage)

        def advance(steps: float) -> None:
            with self._lock:
                stage.done += steps

        try:
            yield advance
        finally:
            with self._lock:
                if self._stages[:1] == [stage]:
                    self._stages.clear()
                    self._over.set()
                    self._erase()
                elif stage in self._stages:
                    self._stages.remove(stage)

    @contextmanager
    def aside(self) -> Iterator[None]:
        with self._lock:
            self._erase()
            yield

    def _write_on(self, over: Event) -> None:
        """Write the line over and over, until it is over."""
        since = time.monotonic()
        wait = _DELAY
        with suppress(OSError, ValueError):  # nobody is there to be told
            while not over.wait(wait):
                wait = _STEP
                with self._lock:
                    if not over.is_set():
                        self._draw(time.monotonic() - since)

    def _draw(self, seconds: float) -> None:
        left = next((each for stage in reversed(self._stages) if (each := stage.left()) >= 0), None)
        rest = "" if left is None or seconds < 2 * _DELAY else f", about {_duration(left)} left"
        text = f"{': '.join(map(str, self._stages))} ({_duration(seconds)}{rest})"
        columns = _columns() - 1
        text = text if len(text) <= columns else f"{text[: columns - 1]}…"
        _write(f"\r{text.ljust(self._width)}")
        self._width = len(text)

    def _erase(self) -> None:
        """Leave nothing of the line, nor of what a terminal has added to it: ^C."""
        if self._width:
            self._width = 0
            with suppress(OSError, ValueError):
                _write(f"\r{' ' * (_columns() - 1)}\r")


_line = _Line()


def _forget_line() -> None:
    """A forked child has none of its parent's threads, and does not know who held the lock."""
    global _line
    _line = _Line()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_line)


def _ignored(_: float) -> None:
    """Nobody is told."""


_UNTOLD = nullcontext(_ignored)


def stage(
    label: str, total: float | None = None, done: float = 0, *, unit: str = "", shown: bool = True
) -> AbstractContextManager[Callable[[float], None]]:
    """Say on a terminal that this is under way; give what says, from any thread, that so many more steps are done.

    Parameters
    ----------
    label : str
        What is under way.
    total, done : float
        How many steps there are, if that is known, and how many of them have been done before.
    unit : str
        What follows the numbers, such as " MB".
    shown : bool
        Whether to show it in any case; else only within a stage that is.

    Examples
    --------
    >>> with stage("runs", total=2) as advance:       # on a terminal, after a second: runs 1 of 2 (3 s, about 3 s left)
    ...     for _ in range(2):
    ...         advance(1)
    """
    line = _line
    if line.is_shown() or (shown and _is_told()):
        return line.opened(_Stage(label, total, done, unit))
    return _UNTOLD


def aside() -> AbstractContextManager[None]:
    """Return a context in which something else may be written to the terminal: the line makes room, and waits."""
    return _line.aside()


def _is_told() -> bool:
    """Whether standard error is a terminal on which a line can be written over."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _columns() -> int:
    with suppress(OSError, ValueError):
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    return 80


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
