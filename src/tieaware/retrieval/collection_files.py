"""Text files of test collections: their lines with line numbers, and the detection of their format."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, BinaryIO, Literal, TypeAlias, get_args

from tieaware.checks.arguments import one_of, unexpected
from tieaware.errors import InputError
from tieaware.inputs.files import COMPRESSED_BUFFER, ByteStream
from tieaware.inputs.text import BYTE_ORDER_MARK, Lines, json_in

Path: TypeAlias = str | os.PathLike[str] | BinaryIO

Format: TypeAlias = Literal["trec", "jsonl", "tsv", "smart", "cranfield", "npl", "cacm"]
FORMATS: tuple[Format, ...] = get_args(Format)
# The first characters of a file by which a format is detected.
_BEGINNINGS: dict[bytes, Format] = {b"<": "trec", b"{": "jsonl", b".I": "smart"}

# The largest size of a line or a document in bytes. A malicious file could have a line that never ends.
LONGEST = 1 << 26


class TextFile:
    """The lines of a text file, with the number of the line read last. A context manager."""

    def __init__(self, path: Path) -> None:
        self.stream: ByteStream = ByteStream(path)
        self.name: str = self.stream.source_name
        self._lines = Lines(self.stream, LONGEST)

    def __enter__(self) -> TextFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()

    def here(self) -> str:
        """Return the place ``path:line`` of the line read last; without a line for a file that is not read by lines."""
        return self._lines.here() if self._lines.number else self.name

    def unexpected(self, expected: str, found: str) -> InputError:
        """Return an "expected X, found Y" error at the line read last."""
        return unexpected(self.here(), expected, found)

    def error(self, problem: str) -> InputError:
        """Return an error at the line read last."""
        return InputError(self.here(), problem)

    def json(self, line: str) -> Any:
        """Return the JSON value on the line read last."""
        return json_in(line.encode(), self.name, self._lines.number)

    def beginning(self) -> bytes:
        """Return the first bytes of the file; call this before reading lines."""
        return self.stream.peek(COMPRESSED_BUFFER)[:COMPRESSED_BUFFER]

    def __iter__(self) -> Iterator[str]:
        """Yield the lines without their line ends."""
        for line in self._lines:
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
    start = text.beginning().removeprefix(BYTE_ORDER_MARK)
    if start[257:262] == b"ustar":
        return "cacm"
    first = start.lstrip()[:5]
    for beginning, format in _BEGINNINGS.items():
        if first.startswith(beginning):
            return format
    if b"\t" in (start.splitlines() or [b""])[0]:
        return "tsv"
    raise InputError(text.name, f"the format cannot be detected; it must be given as one of {', '.join(FORMATS)}")
