"""Progress bars for notebooks, drawn by tqdm if it is installed."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from threading import Lock
from typing import Any

from tieaware.runtime.extras import MissingExtraError, load

# The seconds before the bar of a stage appears.
_DELAY = 1.0


def in_notebook() -> bool:
    """Return whether the process is a Jupyter kernel."""
    if "ipykernel" not in sys.modules or "IPython" not in sys.modules:
        return False
    return getattr(sys.modules["IPython"].get_ipython(), "kernel", None) is not None


class NotebookBars:
    """The progress bars of all open stages."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_open = 0

    def is_shown(self) -> bool:
        """Return whether a stage is open."""
        return self._n_open > 0

    @contextmanager
    def opened(self, title: str, total: float | None, done: float, unit: str) -> Iterator[Callable[[float], None]]:
        """Show a bar while the context is open; its value is the callback, which any thread may call."""
        since, first, bar = time.monotonic(), done, None

        def advance(steps: float) -> None:
            nonlocal done, bar
            with self._lock:
                done += steps
                elapsed = time.monotonic() - since
                if bar is None and elapsed >= _DELAY:
                    # Bars are widgets, which are costly: a short stage needs none.
                    bar = _bar(title, total, first, unit, elapsed)
                if bar is not None:
                    bar.update(done - bar.n if total is None else min(done, total) - bar.n)

        with self._lock:
            self._n_open += 1
        try:
            yield advance
            if bar is not None and total is not None:
                bar.n = total  # tqdm leaves the bar of an incomplete stage as that of an error
        finally:
            with self._lock:
                self._n_open -= 1
                if bar is not None:
                    bar.close()


@cache
def _tqdm() -> Any:
    """Return tqdm's class of progress bars; None if tqdm is not installed."""
    with warnings.catch_warnings(), suppress(MissingExtraError):
        warnings.simplefilter("ignore")  # without ipywidgets, tqdm warns, and writes text instead
        return load("tqdm.auto", "analysis").tqdm
    return None


def _bar(title: str, total: float | None, done: float, unit: str, elapsed: float) -> Any:
    """Return a bar of a stage that began some seconds ago; None without tqdm. It disappears when it is closed."""
    tqdm = _tqdm()
    if tqdm is None:
        return None
    count = "{n:,.0f}" if total is None else "{n:,.0f} of {total:,.0f}"
    rest = "" if total is None else ", {remaining} left"
    bar = "{desc}: " if total is None else "{l_bar}{bar}| "
    made = tqdm(
        total=total, initial=done, desc=title, unit=unit, leave=False,
        bar_format=f"{bar}{count}{{unit}} ({{elapsed}}{rest})",
    )  # fmt: skip
    made.start_t -= elapsed
    return made
