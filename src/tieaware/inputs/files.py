"""Files of bytes, plain or compressed, from wherever they come."""

from __future__ import annotations

import glob
import importlib
import io
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any, BinaryIO, NamedTuple, Protocol, cast

from tieaware.checks.arguments import shown, unexpected
from tieaware.errors import InputError, printable
from tieaware.runtime.progress import stage

__all__ = ["ByteStream", "Path"]

Path = str | os.PathLike[str] | BinaryIO

COMPRESSED_BLOCK = 1 << 18
# What a decompressor gets first: it copies what follows the end of its member, and there may be many short members.
FIRST_STEP = 1 << 10
PADDING = re.compile(rb"\0*")
# Enough to recognise every format by.
LONGEST_START = 10
# What xz may ask a reader to remember: xz -9 asks for 64 MB, a file may for 4 GB. zstd has such a limit of its own.
LARGEST_WINDOW = 1 << 28
_MB = 1_000_000
COMPRESSED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
SUFFIXES = (".run", ".txt", ".trec", ".res", ".csv", ".tsv", ".parquet", ".feather", ".arrow", ".arrows", ".ipc")


class Decompressor(Protocol):
    """What reads one member of a compressed file: the objects of bz2, lzma and compression.zstd do."""

    @property
    def eof(self) -> bool:
        """Whether the member has ended."""

    @property
    def unused_data(self) -> bytes:
        """What follows the member."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return at most so many bytes, and keep input that was not needed yet."""


class Gzip:
    """The decompressor of one gzip member of a module like zlib, in the form of the others."""

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


class Zstandard:
    """The decompressor of one frame of the package `zstandard`, in the form of the others."""

    # It gives whatever comes of its input at once, and 4 bytes can be 128 KB of output: 16 MB at a time.
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
    """Return the fastest module like zlib that is installed."""
    try:
        return importlib.import_module("isal.isal_zlib")
    except ImportError:
        return zlib


def zstd_decompressor(label: str) -> Callable[[], Decompressor]:
    """Return what makes decompressors of zstd, from Python or an installed package."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return cast(Callable[[], Decompressor], importlib.import_module(name).ZstdDecompressor)
        except ImportError:
            continue
    try:
        module = importlib.import_module("zstandard")
    except ImportError:
        wanted = "the package zstandard installed, as the file is compressed with zstd"
        raise unexpected(label, wanted, "none") from None
    return lambda: Zstandard(module)


class Format(NamedTuple):
    """A format of compression: its name, what makes its decompressors, and what these raise on corrupt data."""

    name: str
    make: Callable[[], Decompressor]
    errors: tuple[type[Exception], ...]


def compression(start: bytes, label: str) -> Format | None:
    """Recognise a compressed file by how it starts."""
    # Modules are imported where they are needed: most files are plain, or of one format.
    if start.startswith(b"\x1f\x8b\x08"):
        module = gzip_module()
        return Format("gzip", lambda: Gzip(module), (module.error, EOFError))
    # Text may well start with BZh, but not with the digits of pi, or of its root if the file is empty, after
    # it.
    if start.startswith(b"BZh") and start[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        import bz2

        return Format("bzip2", bz2.BZ2Decompressor, (OSError, EOFError))
    if start.startswith(b"\xfd7zXZ\x00"):
        import lzma

        make = partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, memlimit=LARGEST_WINDOW)
        return Format("xz", make, (lzma.LZMAError, EOFError))
    if start.startswith(b"\x28\xb5\x2f\xfd") or (start[1:4] == b"\x2a\x4d\x18" and start[0] >> 4 == 5):
        # Each zstd module has an exception of its own.
        return Format("zstd", zstd_decompressor(label), (Exception,))
    return None


class ByteStream:
    """Bytes of a file, decompressed, block by block. A context manager, which closes what it opened.

    Parameters
    ----------
    path : str, os.PathLike or binary file object
        "-" is standard input.

    Attributes
    ----------
    label : str
        What error messages call it.
    name : str
        Its base name without the suffixes of compression and of runs.
    reopenable : bool
        Whether it can be read a second time from its beginning.

    Raises
    ------
    InputError
        There is no such file, it cannot be read, is a directory, or is no file of bytes.
    """

    def __init__(self, path: Path) -> None:
        self._opened = False
        self.reopenable = False
        self._member: Decompressor | None = None
        # Of a compressed file: a block, how much of it the decompressors have had, and how much they get next.
        self._input = b""
        self._taken = 0
        self._step = FIRST_STEP
        self.label = label_of(path)
        self.name = name_of(self.label)
        self._stored: float | None = None
        if isinstance(path, str | os.PathLike):
            text = os.fsdecode(path)
            self._file: Any = getattr(sys.stdin, "buffer", None) if text == "-" else self._open(text)
            if self._file is None:
                raise unexpected(self.label, "standard input of bytes", "none")
        else:
            if isinstance(path, io.TextIOBase) or not hasattr(path, "read"):
                found = "a text file" if hasattr(path, "read") else shown(path)
                raise unexpected(self.label, "a path or a file opened in binary mode", found)
            self._file = path
        self._reading = stage(f"reading {self.name}", self._stored, unit=" MB", shown=False)
        self._advance = self._reading.__enter__()
        try:
            self._start = self._read_raw(LONGEST_START)
            while 0 < len(self._start) < LONGEST_START:
                more = self._read_raw(LONGEST_START - len(self._start))
                if not more:
                    break
                self._start += more
            self._format = compression(self._start, self.label)
        except BaseException:
            self.close()
            raise
        if self._format:
            self._input, self._start = self._start, b""

    def _open(self, path: str) -> BinaryIO:
        try:
            file = open(path, "rb", buffering=0)  # noqa: SIM115 (closed by `close`)
        except FileNotFoundError:
            raise InputError(self.label, "there is no such file") from None
        except (OSError, ValueError) as error:
            # Of a directory, Windows says that it may not be read.
            if isinstance(error, IsADirectoryError | PermissionError) and os.path.isdir(path):
                raise unexpected(self.label, "a file", "a directory") from None
            raise InputError(self.label, f"the file cannot be opened: {reason(error)}") from None
        self._opened = True
        status = os.fstat(file.fileno())
        self.reopenable = stat.S_ISREG(status.st_mode)
        if self.reopenable:
            self._stored = status.st_size / _MB
        return cast(BinaryIO, file)

    def _read_raw(self, size: int) -> bytes:
        try:
            block = self._file.read(size)
        except (OSError, ValueError) as error:
            raise InputError(self.label, f"the file cannot be read: {reason(error)}") from None
        if block is None:
            raise InputError(self.label, "the file cannot be read: it has nothing yet, and does not wait")
        if not isinstance(block, bytes | bytearray | memoryview):
            raise unexpected(
                self.label, "a path or a file opened in binary mode", f"one that reads {type(block).__name__}"
            )
        self._advance(len(block) / _MB)
        return bytes(block)

    def read_into(self, room: memoryview) -> int:
        """Fill the beginning of `room`; return how many bytes that are, 0 at the end of the file.

        Raises
        ------
        InputError
            The file cannot be read, or is compressed and truncated or corrupt.
        """
        if self._format:
            block = self._decompressed(len(room))
        elif self._start:
            block, self._start = self._start[: len(room)], self._start[len(room) :]
        elif self._opened:
            try:
                size = int(self._file.readinto(room))
            except OSError as error:
                raise InputError(self.label, f"the file cannot be read: {reason(error)}") from None
            self._advance(size / _MB)
            return size
        else:
            block = self._read_raw(len(room))
            if len(block) > len(room):
                block, self._start = block[: len(room)], block[len(room) :]
        room[: len(block)] = block
        return len(block)

    def _decompressed(self, size: int) -> bytes:
        assert self._format is not None
        name, make, errors = self._format
        # At first none: the member may have output left.
        data = b""
        while True:
            if self._member is None:
                # Members follow one another, with padding of zeros in between.
                data = self._more_input(padded=True)
                if not data:
                    return b""
                self._member = make()
            try:
                block = self._member.decompress(data, size)
            except errors as error:
                raise InputError(self.label, f"corrupt {name} data: {reason(error)}") from None
            if self._member.eof:
                self._taken -= len(self._member.unused_data)
                self._step = FIRST_STEP
                self._member = None
            if block:
                return block
            if self._member is not None:
                data = self._more_input()
                if not data:
                    raise InputError(self.label, f"truncated {name} data: the file ends before its end is marked")

    def _more_input(self, *, padded: bool = False) -> bytes:
        """Return what a decompressor gets next, behind padding if there may be some; nothing at the end of the file."""
        while True:
            if padded and (zeros := PADDING.match(self._input, self._taken)):
                self._taken = zeros.end()
            if self._taken < len(self._input):
                break
            self._input, self._taken = self._read_raw(COMPRESSED_BLOCK), 0
            if not self._input:
                return b""
        data = self._input[self._taken : self._taken + self._step]
        self._taken += len(data)
        self._step = min(2 * self._step, COMPRESSED_BLOCK)
        return data

    def check_rest(self) -> None:
        """Read a compressed file to its end, for the InputError that a corrupt one raises only there."""
        room = memoryview(bytearray(COMPRESSED_BLOCK))
        while self._format and self.read_into(room):
            pass

    def close(self) -> None:
        """Close the file, if it was opened here."""
        self._reading.__exit__(None, None, None)
        if self._opened:
            self._file.close()

    def __enter__(self) -> ByteStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def state_of(path: Path) -> tuple[int, int] | None:
    """Return the size, as it is stored, and the time, in nanoseconds, of a file that can be read again; else None."""
    if not isinstance(path, str | os.PathLike) or os.fsdecode(path) == "-":
        return None
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def stored_size(path: Path) -> int:
    """Return the size of a file that can be read as often as one likes, as it is stored; 0 of anything else."""
    state = state_of(path)
    return 0 if state is None else state[0]


def label_of(path: Path) -> str:
    """Return what messages call a file: its path, with escapes for bytes that are not UTF-8 and control characters."""
    if isinstance(path, str | os.PathLike):
        text = os.fsdecode(path)
        return "<stdin>" if text == "-" else printable(text)
    name = getattr(path, "name", None)
    return printable(name) if isinstance(name, str) else "<file>"


def reason(error: Exception) -> str:
    """Say on one line what an exception says."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(text).split())


def without_compression(path: str) -> str:
    """Return a path without the suffix of compression."""
    for suffix in COMPRESSED_SUFFIXES:
        path = path.removesuffix(suffix)
    return path


def files_at(path: str) -> list[str]:
    """Return the files of a folder, or that fit a pattern, by name; the path itself, if it is neither or none fits.

    Raises
    ------
    InputError
        The folder has none, or cannot be read. Hidden ones are none of ours.
    """
    if not os.path.isdir(path):
        is_pattern = glob.has_magic(path) and not os.path.exists(path)
        fitting = filter(os.path.isfile, glob.glob(path, recursive=True)) if is_pattern else ()
        return sorted(fitting) or [path]
    try:
        files = [each.path for each in os.scandir(path) if each.name[0] != "." and _is_run(each)]
    except OSError as error:
        raise InputError(label_of(path), reason(error)) from None
    if not files:
        raise unexpected(label_of(path), "files of runs", "none")
    return sorted(files)


def _is_run(entry: os.DirEntry[str]) -> bool:
    """Whether it is a file, or a link that leads nowhere: to pass over that would lose a run without a word."""
    try:
        return entry.is_file() or not os.path.exists(entry.path)
    except OSError:
        # A link to itself; what opens it says so.
        return True


def name_of(label: str) -> str:
    """Return the base name of a file of such a label, without the suffixes of compression and of runs."""
    if label in ("<stdin>", "<file>"):
        return "stdin" if label == "<stdin>" else "run"
    name = os.path.basename(label)
    for suffixes in (COMPRESSED_SUFFIXES, SUFFIXES):
        for suffix in suffixes:
            if name.endswith(suffix) and name != suffix:
                name = name.removesuffix(suffix)
                break
    return name
