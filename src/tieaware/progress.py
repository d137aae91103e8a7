"""How far something is that takes long, for who waits at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from tieaware.extras import MissingExtraError, load

__all__ = ["counted"]


@contextmanager
def counted(total: int, done: int, label: str) -> Iterator[Callable[[], None]]:
    """Show on a terminal how many of so many are done; give what says, from any thread, that one more is.

    As tqdm's bar where that is installed, and else as a line.
    """
    lock = Lock()
    bar: Any
    try:
        tqdm = load("tqdm", "analysis").tqdm
        bar = tqdm(total=total, initial=done, desc=label, delay=2.0, disable=None, leave=False)
    except MissingExtraError:
        bar = _Line(total, done, label)

    def one() -> None:
        with lock:
            bar.update()

    try:
        yield one
    finally:
        bar.close()


class _Line:
    """A line that is written over, on standard error if that is a terminal."""

    def __init__(self, total: int, done: int, label: str) -> None:
        self._total, self._done, self._label = total, done, label

    def update(self) -> None:
        self._done += 1
        self._write(f"\r{self._label}: {self._done} of {self._total}")

    def close(self) -> None:
        self._write("\r\x1b[K")

    @staticmethod
    def _write(text: str) -> None:
        if sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write(text)
            sys.stderr.flush()
