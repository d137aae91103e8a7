"""Streams of bytes: the decompressed bytes of a file, or of part files one after another."""

from __future__ import annotations

import glob
import io
import os
import re
import stat
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import is_url, path_text, shown, unexpected
from tieaware.errors import InputError
from tieaware.inputs.files.compression import LONGEST_START, Decompressor, compression
from tieaware.inputs.files.paths import Parts, Path, is_file_object, reason, source_name
from tieaware.inputs.files.text import BYTE_ORDER_MARK
from tieaware.runtime.progress import stage

# The number of bytes of a compressed file that are read at a time.
COMPRESSED_BUFFER = 1 << 18
# The number of bytes that a decompressor gets first. A compressed file consists of one or more members, and a
# decompressor copies the bytes of its input that follow the end of its member. In a file of many short members, a
# longer first input would therefore be copied many times.
_FIRST_STEP = 1 << 10
_PADDING = re.compile(rb"\0*")
_MB = 1_000_000
_AS_TEXT = "the file is open as text: open it in binary mode, as in open(path, 'rb')"
_NEWLINE, _RETURN = 10, 13


class ByteStream:
    """The decompressed bytes of a file, as a context manager.

    Leaving the context closes a file that the stream opened by its path, but not a file object of the caller.

    Parameters
    ----------
    path : str, os.PathLike or binary file object
        "-" is standard input. InputError is raised if the file does not exist, cannot be read or is not binary.

    Attributes
    ----------
    source_name : str
        The file's name in error messages.
    start : bytes
        The first bytes of the stored (possibly compressed) file, by which formats are recognised.
    reopenable : bool
        Whether the file can be opened again and read from its beginning.
    """

    def __init__(self, path: Path) -> None:
        self._opened = False
        self.closed: bool = False
        self.reopenable: bool = False
        self._member: Decompressor | None = None
        # The input of the decompressors: a buffer, the number of its bytes that decompressors have received, and the
        # number of bytes that the decompressor gets next.
        self._input = b""
        self._taken = 0
        self._step = _FIRST_STEP
        self.path = path
        self.source_name: str = source_name(path)
        self._stored: float | None = None
        self._file = self._file_of(path)
        name = os.path.basename(self.source_name)
        self._reading = stage(f"reading {name}", self._stored, unit=" MB", shown=False)
        self._advance = self._reading.__enter__()
        try:
            self.start: bytes = self._read_start()
            self._format = compression(self.start, self.source_name)
        except BaseException:
            self.close()
            raise
        # The bytes of the stream that were read from the file, but not yet returned by `read_into`.
        self._ahead = b"" if self._format else self.start
        if self._format:
            self._input = self.start

    def _file_of(self, path: Path) -> Any:
        """Return the file object to read from."""
        if isinstance(path, str | os.PathLike):
            text = os.fsdecode(path)
            if text != "-":
                return self._open(text)
            file = getattr(sys.stdin, "buffer", None)
            if file is None:
                raise InputError(self.source_name, "standard input is not available as bytes")
            return file
        if isinstance(path, io.TextIOBase):
            raise InputError(self.source_name, _AS_TEXT)
        if not is_file_object(path):
            if isinstance(path, Mapping):
                raise InputError("path", "must be a path, not a dict; write Qrels.from_dict or Run.from_dict")
            raise unexpected(self.source_name, "a path or a file opened in binary mode", shown(path))
        return path

    def _open(self, path: str) -> BinaryIO:
        try:
            file = open(path, "rb", buffering=0)  # noqa: SIM115 (closed by `close`)
        except FileNotFoundError:
            raise InputError(self.source_name, _missing(path)) from None
        except (OSError, ValueError) as error:
            # Windows reports a directory as a file without permission to read it.
            if isinstance(error, IsADirectoryError | PermissionError) and os.path.isdir(path):
                raise unexpected(self.source_name, "a file", "a directory") from None
            raise InputError(self.source_name, f"the file cannot be opened: {reason(error)}") from None
        self._opened = True
        status = os.fstat(file.fileno())
        self.reopenable = stat.S_ISREG(status.st_mode)
        if self.reopenable:
            self._stored = status.st_size / _MB
        return cast(BinaryIO, file)

    def _read_start(self) -> bytes:
        start = self._read_raw(LONGEST_START)
        while 0 < len(start) < LONGEST_START:
            more = self._read_raw(LONGEST_START - len(start))
            if not more:
                break
            start += more
        return start

    def _read_raw(self, size: int) -> bytes:
        try:
            data = self._file.read(size)
        except (OSError, ValueError) as error:
            raise InputError(self.source_name, f"the file cannot be read: {reason(error)}") from None
        except (TypeError, LookupError):
            # The object has a method `read` of another kind, such as that of zipfile.ZipFile.
            found = f"an object of type {type(self._file).__name__}"
            raise unexpected(self.source_name, "a file that reads bytes", found) from None
        if data is None:
            raise InputError(self.source_name, "the file cannot be read: it is non-blocking and has no data yet")
        if not isinstance(data, bytes | bytearray | memoryview):
            if isinstance(data, str):
                raise InputError(self.source_name, _AS_TEXT)
            raise unexpected(self.source_name, "a file that reads bytes", f"one that reads {type(data).__name__}")
        self._advance(len(data) / _MB)
        return bytes(data)

    def read_into(self, buffer: memoryview) -> int:
        """Write the next bytes to the beginning of `buffer`; return their number, which is 0 at the end of the file.

        InputError is raised if the file cannot be read, or is compressed and truncated or corrupt.
        """
        if self._ahead:
            data, self._ahead = self._ahead[: len(buffer)], self._ahead[len(buffer) :]
        elif self._format:
            data = self._decompressed(len(buffer))
        elif self._opened:
            try:
                size = int(self._file.readinto(buffer))
            except OSError as error:
                raise InputError(self.source_name, f"the file cannot be read: {reason(error)}") from None
            self._advance(size / _MB)
            return size
        else:
            data = self._read_raw(len(buffer))
            if len(data) > len(buffer):
                data, self._ahead = data[: len(buffer)], data[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)

    def peek_line(self, limit: int = 1 << 16) -> bytes:
        """Return the bytes up to the end of the next line, and possibly more, without consuming them.

        If the line is longer than `limit` bytes, at least `limit` of its bytes are returned.
        """
        return self._peek(lambda ahead: b"\n" in ahead or b"\r" in ahead or len(ahead) >= limit)

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes or more, without consuming them; fewer if the file ends."""
        return self._peek(lambda ahead: len(ahead) >= size)

    def _peek(self, is_enough: Callable[[bytes], bool]) -> bytes:
        ahead = self._ahead
        self._ahead = b""
        buffer = memoryview(bytearray(1 << 12))
        while not is_enough(ahead) and (n := self.read_into(buffer)):
            ahead += bytes(buffer[:n])
            # A file object may return more bytes than requested: `read_into` then keeps the excess in `_ahead`.
            ahead, self._ahead = ahead + self._ahead, b""
        self._ahead = ahead
        return ahead

    def _decompressed(self, size: int) -> bytes:
        assert self._format is not None
        name, make, errors = self._format
        # The decompressor is first called without input, because it may still hold output from earlier input.
        data = b""
        while True:
            if self._member is None:
                # The previous member has ended. Another member may follow, after zero bytes as padding.
                data = self._more_input(padded=True)
                if not data:
                    return b""
                self._member = make()
            try:
                output = self._member.decompress(data, size)
            except errors as error:
                raise InputError(self.source_name, f"corrupt {name} data: {reason(error)}") from None
            if self._member.eof:
                self._taken -= len(self._member.unused_data)
                self._step = _FIRST_STEP
                self._member = None
            if output:
                return output
            if self._member is not None:
                data = self._more_input()
                if not data:
                    raise InputError(self.source_name, f"truncated {name} data: the file ends before its end marker")

    def _more_input(self, *, padded: bool = False) -> bytes:
        """Return the next bytes for a decompressor, b"" at the end of the file. If `padded`, skip zero bytes first."""
        while True:
            if padded and (zeros := _PADDING.match(self._input, self._taken)):
                self._taken = zeros.end()
            if self._taken < len(self._input):
                break
            self._input, self._taken = self._read_raw(COMPRESSED_BUFFER), 0
            if not self._input:
                return b""
        data = self._input[self._taken : self._taken + self._step]
        self._taken += len(data)
        self._step = min(2 * self._step, COMPRESSED_BUFFER)
        return data

    def check_rest(self) -> None:
        """Read the rest of a compressed file, and raise InputError if it is corrupt or truncated. Skip a plain file."""
        buffer = memoryview(bytearray(COMPRESSED_BUFFER))
        while self._format and self.read_into(buffer):
            pass

    def place(self, line: int) -> str:
        """Return "file:n" for the number of a line of a text file."""
        return f"{self.source_name}:{line}"

    def close(self) -> None:
        """Close the stream, and the file if this stream opened it."""
        self.closed = True
        self._reading.__exit__(None, None, None)
        if self._opened:
            self._file.close()

    def __enter__(self) -> ByteStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class PartsStream:
    """The decompressed bytes of part files, one file after another, as a context manager.

    It has the attributes and methods of `ByteStream` that readers of lines need. A part whose last line has no end gets
    one, and byte order marks are left out. `is_table` returns whether an open file is a table, which no part may be.
    """

    def __init__(self, parts: Parts, is_table: Callable[[ByteStream], bool]) -> None:
        self.path = parts
        self.source_name: str = parts.source_name
        self._is_table = is_table
        self._waiting = iter(parts.files)
        self._part: ByteStream | None = None
        self._ends_line = True
        # True if the last byte was a carriage return, so that a newline now does not end another line.
        self._returned = False
        # The names of the parts opened so far, and the number of lines before each of them.
        self._names: list[str] = []
        self._lines_before: list[int] = []
        self._lines = 0

    def read_into(self, buffer: memoryview) -> int:
        """Write the next bytes to the beginning of `buffer`; return their number, which is 0 after the last part."""
        while self._part is not None or self._open_next():
            assert self._part is not None
            size = self._part.read_into(buffer)
            if size == 0:
                self._close_part()
                if self._ends_line:
                    continue
                buffer[0], size = _NEWLINE, 1
            text = np.frombuffer(buffer[:size], np.uint8)
            self._lines += self._lines_in(text)
            self._ends_line = bool(text[-1] == _NEWLINE)
            self._returned = bool(text[-1] == _RETURN)
            return size
        return 0

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes or more of the current part, without consuming them; fewer if the part ends."""
        if self._part is None and not self._open_next():
            return b""
        assert self._part is not None
        return self._part.peek(size)

    def _lines_in(self, text: npt.NDArray[np.uint8]) -> int:
        """Return how many lines end in a text, each with a newline, a carriage return, or both."""
        newlines = text == _NEWLINE
        n = int(np.count_nonzero(newlines)) - int(self._returned and newlines[0])
        returns = np.flatnonzero(text[:-1] == _RETURN)
        return n + len(returns) + int(text[-1] == _RETURN) - int(np.count_nonzero(newlines[returns + 1]))

    def _open_next(self) -> bool:
        """Open the next part that is not empty; return False if there is none."""
        for path in self._waiting:
            part = ByteStream(path)
            try:
                if part.start:
                    if self._names and part.reopenable and self._is_table(part):
                        problem = f"this part is a table, but {self._names[0]} is not"
                        raise InputError(part.source_name, f"{problem}: the parts of a run must have the same format")
                    if part.peek_line().startswith(BYTE_ORDER_MARK):
                        part.read_into(memoryview(bytearray(len(BYTE_ORDER_MARK))))
                    self._part = part
                    self._names.append(part.source_name)
                    self._lines_before.append(self._lines)
                    return True
            finally:
                if self._part is not part:
                    part.close()
        return False

    def place(self, line: int) -> str:
        """Return "part:n" for a line number, counted from the beginning of the first part."""
        i = max(bisect_left(self._lines_before, line) - 1, 0)
        return f"{self._names[i]}:{line - self._lines_before[i]}" if self._names else self.source_name

    def check_rest(self) -> None:
        """Raise InputError if the rest of the current part is compressed and corrupt or truncated."""
        if self._part is not None:
            self._part.check_rest()

    def _close_part(self) -> None:
        part, self._part = self._part, None
        if part is not None:
            part.close()

    def __enter__(self) -> PartsStream:
        return self

    def __exit__(self, *_: object) -> None:
        self._close_part()


TextStream: TypeAlias = ByteStream | PartsStream


def _missing(path: str) -> str:
    """Say that a file does not exist, or that it is on the network."""
    if not path:
        return "the path is empty"
    if is_url(path):
        return "only local files can be read: download the file, or pass a data frame"
    return "no file matches this pattern" if glob.has_magic(path) else "there is no such file"


class RawFile(io.RawIOBase):
    """A byte stream as a raw file of the standard library. Closing the raw file does not close the byte stream."""

    def __init__(self, stream: ByteStream) -> None:
        self.stream = stream

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Write the next bytes to the beginning of `buffer`; return their number, which is 0 at the end of the file."""
        return self.stream.read_into(memoryview(buffer).cast("B"))


class RegularFile:
    """A regular file that is open for reading, with its size in bytes.

    Its content is read, not mapped into memory: if another process cuts a mapped file, the process that reads it ends.
    """

    def __init__(self, file: io.FileIO, name: str) -> None:
        self._file = file
        self._name = name
        self.size: int = os.fstat(file.fileno()).st_size

    def check_size(self) -> None:
        """Raise InputError if the file has another size than when it was opened."""
        if os.fstat(self._file.fileno()).st_size != self.size:
            raise InputError(self._name, "the file has changed while it was read")

    def read(self, n: int, dtype: npt.DTypeLike = np.uint8, at: int = 0) -> npt.NDArray[Any]:
        """Read n numbers from this offset on; raise InputError if the file has been cut."""
        numbers = np.empty(n, dtype)
        rest = numbers.view(np.uint8).data
        self._file.seek(at)
        while rest:
            n_read = self._file.readinto(rest)
            if not n_read:
                raise InputError(self._name, f"the file was cut while it was read: {len(rest):,} bytes are missing")
            rest = rest[n_read:]
        return numbers


@contextmanager
def regular_file(path: str | os.PathLike[str]) -> Iterator[RegularFile]:
    """Open a regular file for reading; raise InputError for a folder, a pipe or a device."""
    text, name = path_text("path", path), source_name(path)
    try:
        # Opening a pipe would wait until another process writes to it.
        if not stat.S_ISREG(os.stat(text).st_mode):
            raise InputError(name, "the file cannot be read: it is a folder, a pipe or a device")
        with open(text, "rb", buffering=0) as file:
            yield RegularFile(file, name)
    except OSError as error:
        raise InputError(name, f"the file cannot be read: {reason(error)}") from None
