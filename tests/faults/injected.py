"""The control of faults.c from Python: which calls of the C library fail, and how a function behaves then."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any, NamedTuple

ALLOCATIONS, READS, WRITES = 1, 2, 3

# As the number of the last call that fails: every call from the first one on fails.
ALL_LATER = 2**62


class Outcome(NamedTuple):
    """The result of a function during which calls of the C library failed."""

    value: Any
    error: BaseException | None
    # The number of counted calls of the C library, and of failed ones.
    calls: int
    failures: int


class Faults:
    """The variables of the preloaded library faults.c.

    Raises
    ------
    ValueError
        If faults.c is not preloaded.
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
        """The number of calls that were counted since faults were last armed."""
        return self._calls.value

    @property
    def failures(self) -> int:
        """The number of calls that failed since faults were last armed."""
        return self._failures.value

    def count_code(self, *names: str) -> int:
        """Count only allocations by code from files with one of these names in their path.

        Without names, allocations by all code count again. Returns the number of memory ranges that hold the code.
        """
        begin, end = ((ctypes.c_size_t * 128).in_dll(self._library, name) for name in ("code_begin", "code_end"))
        n = 0
        with open("/proc/self/maps") as maps:
            for line in maps:
                addresses, permissions, _, _, _, *path = line.split(None, 5)
                if names and "x" in permissions and path and any(name in path[0] for name in names):
                    begin[n], end[n] = (int(address, 16) for address in addresses.split("-"))
                    n += 1
        self._number("n_ranges").value = n
        return n

    @contextmanager
    def armed(self, kind: int, first: int, last: int, place: str = "", error: int = errno.EIO) -> Iterator[None]:
        """Make calls number `first` to `last` of a kind fail with the given error.

        All allocations count, but only reads and writes of files whose paths begin with `place`. With a negative
        error, a read or write does not fail, but transfers at most that many bytes.
        """
        (ctypes.c_char * 4096).in_dll(self._library, "place").value = os.fsencode(place)
        self._number("error_number").value = error
        self._number("first_failing").value, self._number("last_failing").value = first, last
        self._calls.value = self._failures.value = 0
        # Disarming must not allocate memory. Small integers need no allocation.
        armed_kind, nothing = self._kind, 0
        try:
            armed_kind.value = kind
            yield
        finally:
            armed_kind.value = nothing

    def attempt(self, call: Callable[[], Any], kind: int, first: int, last: int, **files: Any) -> Outcome:
        """Call a function while faults are armed, and return its result or its error."""
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
        self,
        call: Callable[[], Any],
        kind: int,
        *,
        before: Callable[[], None] = lambda: None,
        all_later: bool = False,
        **files: Any,
    ) -> Iterator[tuple[int, Outcome]]:
        """Call a function again and again, while the first counted call fails, then the second, and so on.

        Yields the number of the failing call and the outcome. Ends when no counted call was left that could fail; the
        function must then have succeeded. `before` is called before each call, and without faults.
        """
        for n in count(1):
            before()
            outcome = self.attempt(call, kind, n, ALL_LATER if all_later else n, **files)
            yield n, outcome
            if outcome.failures == 0:
                assert outcome.error is None, outcome.error
                return
