"""Rules for lines, numbers and JSON in text. All readers of text files use them.

Only a newline, a carriage return, or both end a line. A byte order mark at the beginning is skipped. Numbers that
float64 does not represent are errors, so that different numbers never tie. A JSON object must not repeat a key.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import shown
from tieaware.errors import InputError
from tieaware.kernels import _numbers
from tieaware.kernels._buffers import BadCell
from tieaware.kernels._trec import LONGEST_LINE
from tieaware.lists.identifiers import quoted

# Some editors begin a UTF-8 file with these bytes.
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BUFFER = 1 << 18
# The smallest limit that PYTHONINTMAXSTRDIGITS can set on the digits of an integer.
_MOST_DIGITS = 640
_MOST_SHOWN = 40


class Bytes(Protocol):
    """A stream of bytes that knows where its lines are: a file, or part files."""

    def read_into(self, buffer: memoryview) -> int:
        """Write the next bytes to the beginning of `buffer`; return their number, which is 0 at the end."""

    def place(self, line: int) -> str:
        """Return "file:n" for the number of a line."""


class Lines:
    """The lines of a text in UTF-8, as bytes with their ends. They can be iterated over once.

    Parameters
    ----------
    stream : Bytes
        The text. It is read in chunks, so the stream is ahead of the lines.
    longest : int
        The largest number of bytes of a line; a longer one, which a malicious file may have, raises InputError.

    Attributes
    ----------
    number : int
        The number of the last line, from 1; 0 before the first line.
    """

    def __init__(self, stream: Bytes, longest: int = LONGEST_LINE) -> None:
        self._stream = stream
        self._longest = longest
        self.number: int = 0

    def __iter__(self) -> Iterator[bytes]:
        for line in self._pieces():
            self.number += 1
            self._check(line)
            yield line.removeprefix(BYTE_ORDER_MARK) if self.number == 1 else line

    def _pieces(self) -> Iterator[bytes]:
        buffer = memoryview(bytearray(_BUFFER))
        # The parts of a line whose end was not read yet. If a carriage return ends it, a newline may follow.
        begun, size = list[bytes](), 0
        while n := self._stream.read_into(buffer):
            chunk = bytes(buffer[:n])
            if begun and begun[-1].endswith(b"\r") and not chunk.startswith(b"\n"):
                yield b"".join(begun)
                begun, size = [], 0
            # The ends of lines in bytes, unlike those in a str, are a newline, a carriage return, and both.
            lines = chunk.splitlines(keepends=True)
            rest = b"" if chunk.endswith(b"\n") else lines.pop()
            if begun and lines:
                yield b"".join([*begun, lines.pop(0)])
                begun, size = [], 0
            yield from lines
            if rest:
                begun.append(rest)
                size += len(rest)
                if size > self._longest + 1:
                    self.number += 1
                    self._check(b"".join(begun))
        if begun:
            yield b"".join(begun)

    def _check(self, line: bytes) -> None:
        if len(line) > self._longest and len(line.rstrip(b"\r\n")) > self._longest:
            raise InputError(self.here(), f"the line is longer than {self._longest:,} bytes")

    def decoded(self, errors: str = "strict") -> Iterator[str]:
        """Yield the lines as text. `errors` is that of bytes.decode; bytes that are not UTF-8 raise InputError."""
        for line in self:
            try:
                yield line.decode("utf-8", errors)
            except UnicodeDecodeError:
                raise InputError(self.here(), "the text is not UTF-8") from None

    def here(self) -> str:
        """Return "file:n" for the last line."""
        return self._stream.place(self.number)


def line_after(text: bytes) -> int:
    """Return the number of the line to which a further character would belong."""
    return len((text + b"x").splitlines())


def whole_in(text: str) -> int:
    """Convert text to a whole number: at most 640 ASCII digits, possibly after a sign.

    ValueError, whose message is the text, is raised for any other text.
    """
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS):
        raise ValueError(shown(text))
    return int(text)


def label_in(text: str) -> float:
    """Convert text to an int if it is written as one, otherwise as `number_in` does."""
    try:
        return whole_in(text)
    except ValueError:
        return number_in(text)


def number_in(text: str | bytes) -> float:
    """Convert text to a number; NaN is accepted.

    ValueError, whose message describes the text, is raised if it is not a number that float64 represents.

    Examples
    --------
    >>> number_in(" 1e3"), number_in("-inf")
    (1000.0, -inf)
    >>> number_in("1e400")
    Traceback (most recent call last):
    ValueError: 1e400, which float64 cannot represent
    """
    try:
        return _numbers.number(text)
    except ArithmeticError:
        raise ValueError(_unrepresentable(text if isinstance(text, str) else text.decode())) from None
    except ValueError:
        raise ValueError(quoted(text) if isinstance(text, bytes) else shown(text)) from None


def numbers_in(texts: list[str], first: int = 0, *, empty_as_nan: bool = False) -> NDArray[np.float64]:
    """Convert texts as `number_in` does. Raise BadCell, with `first` plus the index of the text, for the first failure.

    With `empty_as_nan`, empty texts become NaN.
    """
    converted, n = _numbers.numbers(texts, empty_as_nan)
    if n < len(texts):
        try:
            number_in(texts[n])
        except ValueError as error:
            raise BadCell(first + n, f"{error}" if texts[n] else "an empty field") from None
    return converted


class _Unrepresentable(str):
    """A number of JSON that float64 does not represent, as text: an error only where it is needed as a number."""

    __slots__ = ()

    def __repr__(self) -> str:
        return _unrepresentable(self)


def _unrepresentable(number: str) -> str:
    return f"{number[:_MOST_SHOWN]}{'…' * (len(number) > _MOST_SHOWN)}, which float64 cannot represent"


def _real(text: str) -> float | str:
    try:
        return _numbers.number(text)
    except ArithmeticError:
        return _Unrepresentable(text)


class _RepeatedKeyError(ValueError):
    """An object has a key twice; the message is the key."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        seen = set[str]()
        for key, _ in pairs:
            if key in seen:
                raise _RepeatedKeyError(shown(key))
            seen.add(key)
    return values


def json_in(text: bytes, name: str, line: int | None = None) -> Any:
    """Parse JSON without a byte order mark; integers are exact.

    InputError, which names the file and the line, is raised if the text is not JSON in UTF-8, is nested too deeply, or
    has an object in which a key is repeated. `line` is the number of the line that the text is; by default, the text is
    the whole file.
    """
    import json  # Here, because few calls read such files.

    place = name if line is None else f"{name}:{line}"
    try:
        decoded = text.decode()
        return json.loads(decoded, object_pairs_hook=_object, parse_float=_real)
    except UnicodeDecodeError as error:
        raise InputError(f"{name}:{line or line_after(text[: error.start])}", "the text is not UTF-8") from None
    except json.JSONDecodeError as error:
        before = decoded[: error.pos]
        column = error.pos - max(before.rfind("\n"), before.rfind("\r"))
        at = f"{name}:{line or line_after(before.encode())}"
        raise InputError(at, f"this is not JSON: {error.msg} at column {column}") from None
    except _RepeatedKeyError as error:
        raise InputError(place, f"an object has the key {error} twice") from None
    except RecursionError:
        raise InputError(place, "the JSON is nested too deeply") from None
    except ValueError as error:
        # Python refuses to read integers of thousands of digits.
        raise InputError(place, f"this is not usable JSON: {' '.join(str(error).split())}") from None
