"""faults.c from Python: what is to fail, and what came of it."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

ALLOCATIONS, READS, WRITES = 1, 2, 3

# As the last call that fails: all do from the first on.
ALL_LATER = 2**62


class Outcome(NamedTuple):
    """What came of a call while something failed."""

    value: Any
    error: BaseException | None
    # How many calls of the C library were made, and how many of them failed.
    calls: int
    failures: int


class Faults:
    """The library that was loaded before that of C.

    Raises
    ------
    ValueError
        If it was not.
    """

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None)
        self._kind = self._number("kind")
        self._calls = self._number("calls")
        self._failures = self._number("failures")

    def _number(self, name: str) -> ctypes.c_long:
        return ctypes.c_long.in_dll(self._library, name)

    @property
    def calls(self) -> int:
        """How many calls there were since something was armed."""
        return self._calls.value

    @property
    def failures(self) -> int:
        """How many of them failed."""
        return self._failures.value

    def count_code(self, *parts: str) -> int:
        """Count the allocations of files alone whose paths have one of these parts; return how many files that are."""
        begin, end = ((ctypes.c_size_t * 128).in_dll(self._library, name) for name in ("code_begin", "code_end"))
        n = 0
        with open("/proc/self/maps") as maps:
            for line in maps:
                addresses, permissions, _, _, _, *path = line.split(None, 5)
                if parts and "x" in permissions and path and any(part in path[0] for part in parts):
                    begin[n], end[n] = (int(address, 16) for address in addresses.split("-"))
                    n += 1
        self._number("n_ranges").value = n
        return n

    @contextmanager
    def armed(self, kind: int, first: int, last: int, place: str = "", error: int = errno.EIO) -> Iterator[None]:
        """Let calls of a kind fail: of allocations any, of the others those on files whose names begin with the place.

        A negative error lets that many bytes be read or written.
        """
        (ctypes.c_char * 4096).in_dll(self._library, "place").value = os.fsencode(place)
        self._number("error_number").value = error
        self._number("first_failing").value, self._number("last_failing").value = first, last
        self._calls.value = self._failures.value = 0
        # From here on, to say that nothing fails any more must not need memory: both are small numbers, which exist.
        kinds, nothing = self._kind, 0
        try:
            kinds.value = kind
            yield
        finally:
            kinds.value = nothing

    def attempt(self, call: Callable[[], Any], kind: int, first: int, last: int, **files: Any) -> Outcome:
        """Call while what was said fails."""
        value, error = None, None
        try:
            with self.armed(kind, first, last, **files):
                value = call()
        except BaseException as raised:
            error = raised
        finally:
            self._kind.value = 0
        return Outcome(value, error, self._calls.value, self._failures.value)

    def each(
        self, call: Callable[[], Any], kind: int, *, all_later: bool = False, **files: Any
    ) -> Iterator[tuple[int, Outcome]]:
        """Let the first call of a kind fail, the second, and so on, until all succeed; yield what came of each."""
        n = 0
        while True:
            n += 1
            outcome = self.attempt(call, kind, n, ALL_LATER if all_later else n, **files)
            if outcome.failures == 0:
                assert outcome.error is None, outcome.error
                return
            yield n, outcome
