"""Text files of test collections: their lines with line numbers, and the detection of their format."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import Any, BinaryIO, Literal, TypeAlias, get_args

from tieaware.checks.arguments import one_of, unexpected
from tieaware.errors import InputError
from tieaware.inputs.files import COMPRESSED_BUFFER, ByteStream

Path: TypeAlias = str | os.PathLike[str] | BinaryIO

Format: TypeAlias = Literal["trec", "jsonl", "tsv", "smart", "cranfield", "npl", "cacm"]
FORMATS: tuple[Format, ...] = get_args(Format)
# The first characters of a file by which a format is detected.
_BEGINNINGS: dict[bytes, Format] = {b"<": "trec", b"{": "jsonl", b".I": "smart"}

# The largest size of a line or a document in bytes. A malicious file could have a line that never ends.
LONGEST = 1 << 26
# Some editors begin a UTF-8 file with these bytes, which are no part of the text.
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class _Raw(io.RawIOBase):
    """An adapter from a `ByteStream` to the raw stream that io.BufferedReader needs."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        # Fill the buffer completely: the detection of the format looks at the first buffer only.
        view, n = memoryview(room), 0
        while n < len(view) and (more := self._stream.read_into(view[n:])):
            n += more
        return n


class TextFile:
    """The lines of a text file, with the number of the line read last. A context manager."""

    def __init__(self, path: Path) -> None:
        self._stream = ByteStream(path)
        self.file: io.BufferedReader = io.BufferedReader(_Raw(self._stream), COMPRESSED_BUFFER)
        self.name: str = self._stream.source_name
        self.number: int = 0

    def __enter__(self) -> TextFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def here(self) -> str:
        """Return the place ``path:line`` of the line read last; without a line for a file that is not read by lines."""
        return f"{self.name}:{self.number}" if self.number else self.name

    def unexpected(self, expected: str, found: str) -> InputError:
        """Return an "expected X, found Y" error at the line read last."""
        return unexpected(self.here(), expected, found)

    def error(self, problem: str) -> InputError:
        """Return an error at the line read last."""
        return InputError(self.here(), problem)

    def __iter__(self) -> Iterator[str]:
        """Yield the lines without their line ends."""
        while line := self.file.readline(LONGEST + 1):
            self.number += 1
            if len(line) > LONGEST:
                raise self.error(f"the line is longer than {LONGEST >> 20} MB")
            if self.number == 1:
                line = line.removeprefix(_BYTE_ORDER_MARK)
            yield decoded(line).rstrip("\r\n")


def decoded(text: bytes) -> str:
    """Decode text as UTF-8 or, if it is not valid UTF-8, as Latin-1, which the oldest collections use."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1")


def format_of(text: TextFile, given: Format | None) -> Format:
    """Check the given format; if there is none, detect the format from the beginning of the file."""
    if given is not None:
        return one_of("format", given, FORMATS)
    start = text.file.peek()[:COMPRESSED_BUFFER].removeprefix(_BYTE_ORDER_MARK)
    if start[257:262] == b"ustar":
        return "cacm"
    first = start.lstrip()[:5]
    for beginning, format in _BEGINNINGS.items():
        if first.startswith(beginning):
            return format
    if b"\t" in start.partition(b"\n")[0]:
        return "tsv"
    raise InputError(text.name, f"the format cannot be detected; it must be given as one of {', '.join(FORMATS)}")
