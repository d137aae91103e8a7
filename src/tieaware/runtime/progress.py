"""Progress bars on a terminal and in notebooks, drawn by tqdm where it is installed."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cache
from threading import Lock
from typing import Any, TypeVar

from tieaware.runtime.extras import MissingExtraError, load

Item = TypeVar("Item")

# The seconds before the bar of a stage appears: a short stage needs none.
_DELAY = 1.0
# The titles of the open stages.
_open: list[str] = []


def stage(
    title: str, total: float | None = None, done: float = 0, *, unit: str = "", shown: bool = True
) -> AbstractContextManager[Callable[[float], None]]:
    """Show a stage of the work on a terminal or in a notebook while the context is open, if tqdm is installed.

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
    >>> with stage("runs", total=2) as advance:
    ...     for _ in range(2):
    ...         advance(1)
    """
    is_visible = _open or (shown and (_is_terminal() or in_notebook()))
    return _drawn(title, total, done, unit) if is_visible else nullcontext(_ignore)


def progress(items: Iterable[Item], title: str, *, shown: bool = True) -> Iterator[Item]:
    """Yield the items; a progress display on a terminal or in a notebook shows how many of them are done."""
    with stage(title, len(items) if isinstance(items, Sized) else None, shown=shown) as advance:
        for item in items:
            yield item
            advance(1)


@contextmanager
def _drawn(title: str, total: float | None, done: float, unit: str) -> Iterator[Callable[[float], None]]:
    since, first, bar, lock = time.monotonic(), done, None, Lock()

    def advance(steps: float) -> None:
        nonlocal bar, done
        with lock:
            done += steps
            if bar is None and time.monotonic() - since >= _DELAY and _tqdm() is not None:
                bar = _tqdm()(total=total, initial=first, desc=title, unit=unit, leave=False)
                bar.start_t = bar.last_print_t - (time.monotonic() - since)
            if bar is not None:
                bar.update(done - bar.n)

    _open.append(title)
    try:
        yield advance
    finally:
        _open.remove(title)
        if bar is not None:
            bar.close()


def paused() -> AbstractContextManager[None]:
    """Return a context that hides the bars, so that other output can be written to the terminal."""
    return _tqdm().external_write_mode(sys.stderr) if _open and _tqdm() is not None else nullcontext()


def in_notebook() -> bool:
    """Return whether the process is a Jupyter kernel."""
    if "ipykernel" not in sys.modules or "IPython" not in sys.modules:
        return False
    return getattr(sys.modules["IPython"].get_ipython(), "kernel", None) is not None


def _is_terminal() -> bool:
    """Return whether standard error is a terminal on which a line can be overwritten."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


@cache
def _tqdm() -> Any:
    """Return tqdm's class of progress bars; None if tqdm is not installed."""
    with warnings.catch_warnings(), suppress(MissingExtraError):
        warnings.simplefilter("ignore")  # without ipywidgets, tqdm warns, and writes text instead
        return load("tqdm.auto", "analysis").tqdm
    return None


def _ignore(_: float) -> None:
    """Take the place of the callback of a stage that is not shown."""
