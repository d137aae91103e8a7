"""Compression formats, recognised by the first bytes of a file, and their decompressors."""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Protocol, cast

from tieaware.errors import InputError

# The first 10 bytes of a file are enough to recognise every format.
LONGEST_START = 10
# The largest amount of memory that decompressing an xz file may need, in bytes: a file made by xz -9 needs 64 MB, but a
# malicious file could require 4 GB. zstd decompressors have a limit of their own.
_LARGEST_WINDOW = 1 << 28


# The first bytes of files that cannot be read, with a description and a remedy.
_UNREADABLE = {
    b"PK\x03\x04": "a zip archive: unpack it",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive: unpack it",
    b"\x04\x22\x4d\x18": "compressed with lz4: unpack it",
    b"\x80\x04\x95": "a pickle of Python: load it, and pass the object",
    b"\x80\x05\x95": "a pickle of Python: load it, and pass the object",
    b"\x93NUMPY": "an array of NumPy: load it, and pass the array",
    b"\xff\xfe": "text in UTF-16: convert it to UTF-8",
    b"\xfe\xff": "text in UTF-16: convert it to UTF-8",
    b"<!doctype ": "a web page, not the data: was the download refused?",
    b"<html": "a web page, not the data: was the download refused?",
    b"version ht": "a pointer of Git LFS, not the data: run git lfs pull",
}


class Decompressor(Protocol):
    """A decompressor of one member of a compressed file, with the interface of the decompressors in bz2 and lzma."""

    @property
    def eof(self) -> bool:
        """True if the end of the member has been decompressed."""

    @property
    def unused_data(self) -> bytes:
        """The bytes of the input after the end of the member."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return at most `max_length` decompressed bytes. Input that was not needed yet is kept for the next call."""


class _Gzip:
    """An adapter that gives the gzip decompressor of zlib or isal_zlib the interface of `Decompressor`."""

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
    """An adapter that gives the decompressor of the package `zstandard` the interface of `Decompressor`."""

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


def _zstd_decompressor(source_name: str) -> Callable[[], Decompressor]:
    """Return a function that makes zstd decompressors, from the standard library or an installed package."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return cast(Callable[[], Decompressor], importlib.import_module(name).ZstdDecompressor)
        except ImportError:
            continue
    try:
        module = importlib.import_module("zstandard")
    except ImportError:
        problem = "the file is compressed with zstd: install the package zstandard to read it"
        raise InputError(source_name, problem) from None
    return lambda: _Zstandard(module)


class Format(NamedTuple):
    """A compression format: `make` makes a decompressor of one member, which raises `errors` for corrupt data."""

    name: str
    make: Callable[[], Decompressor]
    errors: tuple[type[Exception], ...]


def compression(start: bytes, source_name: str) -> Format | None:
    """Return the compression format of a file with these first bytes; None for a plain file.

    InputError is raised for files of other formats that are known, such as archives.
    """
    for first, what in _UNREADABLE.items():
        if start.lower().startswith(first.lower()):
            raise InputError(source_name, f"the file is {what}")
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
