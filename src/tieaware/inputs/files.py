"""Reading of plain and compressed files as streams of bytes, and the names, sizes and modification times of files."""

from __future__ import annotations

import glob
import importlib
import io
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO, NamedTuple, Protocol, cast

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import is_url, path_text, shown, unexpected
from tieaware.errors import InputError, printable
from tieaware.runtime.progress import stage

Path = str | os.PathLike[str] | BinaryIO

# The number of bytes of a compressed file that are read at a time.
COMPRESSED_BUFFER = 1 << 18
# The number of bytes that a decompressor gets first. A compressed file consists of one or more members, and a
# decompressor copies the bytes of its input that follow the end of its member. In a file of many short members, a
# longer first input would therefore be copied many times.
_FIRST_STEP = 1 << 10
_PADDING = re.compile(rb"\0*")
# The first 10 bytes of a file are enough to recognise every format.
_LONGEST_START = 10
# The largest amount of memory that decompressing an xz file may need, in bytes: a file made by xz -9 needs 64 MB, but a
# malicious file could require 4 GB. zstd decompressors have a limit of their own.
_LARGEST_WINDOW = 1 << 28
_MB = 1_000_000
_COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
_AS_TEXT = "the file is open as text: open it in binary mode, as in open(path, 'rb')"
_SUFFIXES = (
    ".run", ".txt", ".trec", ".res", ".csv", ".tsv", ".parquet", ".feather", ".arrow", ".arrows", ".ipc", ".jsonl",
    ".ndjson",
)  # fmt: skip


class _Decompressor(Protocol):
    """A decompressor of one member of a compressed file, with the interface of the decompressors in bz2 and lzma."""

    @property
    def eof(self) -> bool:
        """Whether the end of the member has been decompressed."""

    @property
    def unused_data(self) -> bytes:
        """The bytes of the input after the end of the member."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return at most `max_length` decompressed bytes. Input that was not needed yet is kept for the next call."""


class _Gzip:
    """An adapter that gives the gzip decompressor of zlib or isal_zlib the interface of `_Decompressor`."""

    def __init__(self, module: Any) -> None:
        self._zlib = module.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return bool(self._zlib.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._zlib.unused_data)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return bytes(self._zlib.decompress(self._zlib.unconsumed_tail + data, max_length))


class _Zstandard:
    """An adapter that gives the decompressor of the package `zstandard` the interface of `_Decompressor`."""

    # The number of bytes that are decompressed at a time. The package cannot limit the size of its output, and 4 bytes
    # can expand to 128 KB, so that STEP bytes give at most 16 MB.
    STEP = 512

    def __init__(self, module: Any) -> None:
        self._zstd = module.ZstdDecompressor().decompressobj()
        self._input = memoryview(b"")
        self._output = memoryview(b"")

    @property
    def eof(self) -> bool:
        return bool(self._zstd.eof) and not self._output

    @property
    def unused_data(self) -> bytes:
        return bytes(self._zstd.unused_data) + bytes(self._input)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        if data:
            self._input = memoryview(bytes(self._input) + data)
        while self._input and not self._output and not self._zstd.eof:
            self._output = memoryview(self._zstd.decompress(self._input[: self.STEP]))
            self._input = self._input[self.STEP :]
        output, self._output = self._output[:max_length], self._output[max_length:]
        return bytes(output)


def gzip_module() -> Any:
    """Return the module isal_zlib if it is installed, which is faster than zlib and has its interface; else zlib."""
    try:
        return importlib.import_module("isal.isal_zlib")
    except ImportError:
        return zlib


def _zstd_decompressor(source_name: str) -> Callable[[], _Decompressor]:
    """Return a function that makes zstd decompressors, from the standard library or an installed package."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return cast(Callable[[], _Decompressor], importlib.import_module(name).ZstdDecompressor)
        except ImportError:
            continue
    try:
        module = importlib.import_module("zstandard")
    except ImportError:
        problem = "the file is compressed with zstd: install the package zstandard to read it"
        raise InputError(source_name, problem) from None
    return lambda: _Zstandard(module)


class Format(NamedTuple):
    """A compression format.

    Parameters
    ----------
    name : str
    make : callable
        Makes a decompressor of one member.
    errors : tuple of exception types
        The errors that the decompressor raises for corrupt data.
    """

    name: str
    make: Callable[[], _Decompressor]
    errors: tuple[type[Exception], ...]


def _compression(start: bytes, source_name: str) -> Format | None:
    """Return the compression format of a file with these first bytes; None for a plain file."""
    # A module is imported only when a file needs it, because most files are plain.
    if start.startswith(b"\x1f\x8b\x08"):
        module = gzip_module()
        return Format("gzip", lambda: _Gzip(module), (module.error, EOFError))
    # Plain text may start with BZh, so bytes 4 to 9 are tested too. In a bzip2 file they are the first digits of pi,
    # which mark a block, or, if the file is empty, the first digits of the square root of pi.
    if start.startswith(b"BZh") and start[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        import bz2

        return Format("bzip2", bz2.BZ2Decompressor, (OSError, EOFError))
    if start.startswith(b"\xfd7zXZ\x00"):
        import lzma

        make = partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, memlimit=_LARGEST_WINDOW)
        return Format("xz", make, (lzma.LZMAError, EOFError))
    if start.startswith(b"\x28\xb5\x2f\xfd") or (start[1:4] == b"\x2a\x4d\x18" and start[0] >> 4 == 5):
        # Any Exception means corrupt data, because each of the three zstd modules has an exception class of its own.
        return Format("zstd", _zstd_decompressor(source_name), (Exception,))
    return None


class ByteStream:
    """The decompressed bytes of a file, as a context manager.

    Leaving the context closes a file that the stream opened by its path, but not a file object of the caller.

    Parameters
    ----------
    path : str, os.PathLike or binary file object
        "-" is standard input.

    Attributes
    ----------
    path : str, os.PathLike or binary file object
    source_name : str
        The file's name in error messages.
    run_name : str
        The base name of the file without the suffixes of compression and of run formats.
    start : bytes
        The first bytes of the stored (possibly compressed) file, by which formats are recognised.
    reopenable : bool
        Whether the file can be opened again and read from its beginning.
    closed : bool

    Raises
    ------
    InputError
        The file does not exist, cannot be read, is a directory, or is not a binary file.
    """

    def __init__(self, path: Path) -> None:
        self._opened = False
        self.closed: bool = False
        self.reopenable: bool = False
        self._member: _Decompressor | None = None
        # The input of the decompressors: a buffer, the number of its bytes that decompressors have received, and the
        # number of bytes that the decompressor gets next.
        self._input = b""
        self._taken = 0
        self._step = _FIRST_STEP
        self.path = path
        self.source_name: str = source_name(path)
        self.run_name: str = run_name(self.source_name)
        self._stored: float | None = None
        self._file = self._file_of(path)
        self._reading = stage(f"reading {self.run_name}", self._stored, unit=" MB", shown=False)
        self._advance = self._reading.__enter__()
        try:
            self.start: bytes = self._read_start()
            self._format = _compression(self.start, self.source_name)
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
        if isinstance(path, io.TextIOBase) or not is_file_object(path):
            if isinstance(path, io.TextIOBase):
                raise InputError(self.source_name, _AS_TEXT)
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
        start = self._read_raw(_LONGEST_START)
        while 0 < len(start) < _LONGEST_START:
            more = self._read_raw(_LONGEST_START - len(start))
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

        Raises
        ------
        InputError
            The file cannot be read, or is compressed and truncated or corrupt.
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

        Raises
        ------
        InputError
            The file cannot be read.
        """
        return self._peek(lambda ahead: b"\n" in ahead or b"\r" in ahead or len(ahead) >= limit)

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes or more, without consuming them; fewer if the file ends. Errors: `peek_line`."""
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

    def first_place(self, line: int) -> str:
        """Return "line n", which describes an earlier line of the same file."""
        return f"line {line}"

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


def is_file_object(value: object) -> bool:
    """Return whether an object is a file object: it has a method `read`, and is not a reader of tables of pyarrow."""
    if not hasattr(value, "read"):
        return False
    # Files of pyarrow have `readable`. Its readers, such as pyarrow.parquet.ParquetFile, read tables instead of bytes.
    return hasattr(value, "readable") or type(value).__module__.partition(".")[0] != "pyarrow"


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
    """Open a regular file for reading.

    Raises
    ------
    InputError
        If the file cannot be read, or is a folder, a pipe or a device.
    """
    text, name = path_text("path", path), source_name(path)
    try:
        # Opening a pipe would wait until another process writes to it.
        if not stat.S_ISREG(os.stat(text).st_mode):
            raise InputError(name, "the file cannot be read: it is a folder, a pipe or a device")
        with open(text, "rb", buffering=0) as file:
            yield RegularFile(file, name)
    except OSError as error:
        raise InputError(name, f"the file cannot be read: {reason(error)}") from None


def state_of(path: object) -> tuple[int, int] | None:
    """Return the size in bytes and the modification time in ns of a regular file, as stored; None for anything else."""
    if not isinstance(path, str | os.PathLike) or os.fsdecode(path) == "-":
        return None
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def stored_size(path: Path) -> int:
    """Return the stored size of a regular file in bytes; 0 for anything else."""
    state = state_of(path)
    return 0 if state is None else state[0]


def source_name(path: Path) -> str:
    """Return the name of a file for messages: its path, with control characters and invalid UTF-8 escaped."""
    if isinstance(path, str | os.PathLike):
        text = os.fsdecode(path)
        return "<stdin>" if text == "-" else printable(text)
    name = getattr(path, "name", None)
    return printable(name) if isinstance(name, str) else "<file>"


def reason(error: Exception) -> str:
    """Return the message of an exception as a single line."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(text).split())


def suffix_of(path: Path) -> str:
    """Return the suffix of a path in lower case, without a suffix of compression: ".csv" for "A.CSV.gz".

    Return "" for a file object.
    """
    if not isinstance(path, str | os.PathLike):
        return ""
    text = os.fsdecode(path)
    for suffix in _COMPRESSED_SUFFIXES:
        text = text.removesuffix(suffix)
    return os.path.splitext(text)[1].lower()


def run_name(source_name: str) -> str:
    """Return the base name of a file without the suffixes of compression and of run formats."""
    if source_name in ("<stdin>", "<file>"):
        return "stdin" if source_name == "<stdin>" else "run"
    name = os.path.basename(source_name)
    for suffixes in (_COMPRESSED_SUFFIXES, _SUFFIXES):
        for suffix in suffixes:
            if name.endswith(suffix) and name != suffix:
                name = name.removesuffix(suffix)
                break
    return name
