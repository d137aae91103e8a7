"""One-line progress display for terminals; in notebooks, progress bars of tqdm.

The line on standard error shows the open stages, the progress of each stage, the elapsed time, and an estimate of the
remaining time. It appears after one second and disappears at the end. A separate thread draws the line, so that the
elapsed time also advances during a long step.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from threading import Event, Lock, Thread

from tieaware.runtime.notebook_progress import NotebookBars, in_notebook

# The seconds before the line first appears, and between redrawings.
_DELAY, _STEP = 1.0, 0.2


class _Stage:
    """A stage of the work: its title, the number of steps done so far, and the total number of steps if it is known."""

    def __init__(self, title: str, total: float | None, done: float, unit: str) -> None:
        self._title, self._total, self._unit = title, total, unit
        self._first = self.done = done
        self._since = time.monotonic()

    def __str__(self) -> str:
        if self._total is None and self.done == 0:
            return self._title
        of = "" if self._total is None else f" of {self._total:,.0f}"
        return f"{self._title} {self.done:,.0f}{of}{self._unit}"

    def left(self) -> float:
        """Estimate the remaining seconds from the speed so far; NaN if no step is done or the total is unknown."""
        if self._total is None or self.done <= self._first:
            return float("nan")
        return (time.monotonic() - self._since) * (self._total - self.done) / (self.done - self._first)


class _Line:
    """The progress line, with all open stages, the outermost first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._stages: list[_Stage] = []
        self._width = 0
        self._over = Event()

    def is_shown(self) -> bool:
        return bool(self._stages)

    @contextmanager
    def opened(self, stage: _Stage) -> Iterator[Callable[[float], None]]:
        """Add a stage to the line. The outermost stage starts the drawing thread, and erases the line at the end."""
        with self._lock:
            if not self._stages:
                self._over = Event()
                with suppress(RuntimeError):  # no more threads can be started: work without a progress line
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
    def paused(self) -> Iterator[None]:
        """Erase the line, and do not draw it while this context is open."""
        with self._lock:
            self._erase()
            yield

    def _write_on(self, over: Event) -> None:
        """Redraw the line at regular intervals until the event `over` is set."""
        since = time.monotonic()
        wait = _DELAY
        with suppress(OSError, ValueError):  # the terminal is gone
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
        """Overwrite the whole row of the terminal with blanks, because a terminal may have added ^C to the line."""
        if self._width:
            self._width = 0
            with suppress(OSError, ValueError):
                _write(f"\r{' ' * (_columns() - 1)}\r")


_line, _bars = _Line(), NotebookBars()


def _forget_stages() -> None:
    """Give a forked child process a new line: a thread that it does not have may hold the lock of the old one."""
    global _line, _bars
    _line, _bars = _Line(), NotebookBars()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_stages)


def _ignore(_: float) -> None:
    """No-op progress callback."""


_HIDDEN = nullcontext(_ignore)


def stage(
    title: str, total: float | None = None, done: float = 0, *, unit: str = "", shown: bool = True
) -> AbstractContextManager[Callable[[float], None]]:
    """Show a stage of the work on a terminal, or in a notebook if tqdm is installed, while the context is open.

    The value of the context is a callback: ``advance(n)`` says that n more steps are done. Any thread may call it.

    Parameters
    ----------
    title : str
        The name of the stage.
    total, done : float
        The total number of steps, if it is known, and the number of steps that were done before the stage opened.
    unit : str
        The text after the numbers, such as " MB".
    shown : bool
        Whether this stage can be the outermost one. If not, it is shown only within another stage.

    Examples
    --------
    >>> with stage("runs", total=2) as advance:       # on a terminal, after a second: runs 1 of 2 (3 s, about 3 s left)
    ...     for _ in range(2):
    ...         advance(1)
    """
    line = _line
    if line.is_shown() or (shown and _is_terminal()):
        return line.opened(_Stage(title, total, done, unit))
    if _bars.is_shown() or (shown and in_notebook()):
        return _bars.opened(title, total, done, unit)
    return _HIDDEN


def paused() -> AbstractContextManager[None]:
    """Return a context that hides the progress line, so that other output can be written to the terminal."""
    return _line.paused()


def _is_terminal() -> bool:
    """Return whether standard error is a terminal on which a line can be overwritten."""
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
