"""Compressed files that are cut short or corrupt at every byte, and such as unpack to very much more than they hold."""

from __future__ import annotations

import io
import lzma
import subprocess
import sys
import zlib

import pytest
from inputs import COMPRESSIONS, result, texts

from tieaware.errors import InputError
from tieaware.inputs import files

QRELS, RUN = texts(3, 8)
RIGHT = result(io.BytesIO(QRELS), io.BytesIO(RUN))
COMPRESSED = {name: compress for name, compress in COMPRESSIONS.items() if name}


@pytest.fixture(params=["isal", "zlib"], autouse=True)
def gzip_module(request, monkeypatch):
    """Read gzip by either module."""
    if request.param == "zlib":
        monkeypatch.setattr(files, "gzip_module", lambda: zlib)
    elif files.gzip_module() is zlib:
        pytest.skip("isal is not installed")


@pytest.fixture(params=COMPRESSED)
def data(request, gzip_module):
    """Give a small run, compressed."""
    if request.param != ".gz" and files.gzip_module() is zlib:
        pytest.skip("not gzip")
    return COMPRESSED[request.param](RUN)


def outcome(data):
    """Return what a run in these bytes is worth; None, if an error says that it cannot be used."""
    try:
        return result(io.BytesIO(QRELS), io.BytesIO(data))
    except InputError as error:
        return None if "\n" not in str(error) else "more than one line"


def test_files_that_end_too_early(data):
    assert outcome(data) == RIGHT
    for n in range(len(data)):
        assert outcome(data[:n]) is None, n


def test_files_with_a_byte_that_is_another(data):
    """Every bit of it, and all of them: an error, or the right value, where the byte is one that says nothing."""
    errors = 0
    for i in range(len(data)):
        for change in (*(1 << bit for bit in range(8)), 0xFF):
            corrupt = bytearray(data)
            corrupt[i] ^= change
            found = outcome(bytes(corrupt))
            assert found in (None, RIGHT), (i, change)
            errors += found is None
    assert errors > 0.8 * 9 * len(data)


def test_files_with_a_byte_more_or_less(data):
    for i in range(len(data) + 1):
        assert outcome(data[:i] + data[i + 1 :]) in (None, RIGHT), i
        assert outcome(data[:i] + b"\xa5" + data[i:]) in (None, RIGHT), i


PROGRAM = """
import resource, sys, tieaware
try:
    tieaware.read_run(sys.argv[1])
except tieaware.InputError as error:
    print(error, file=sys.stderr)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def peak(path):
    """Return the most memory, in MB, that it takes to read a run, in a process of its own; and what is said of it."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(path)], capture_output=True, text=True, check=True)
    return int(done.stdout), done.stderr


def bomb(compression, text, times):
    """Repeat a text, as a file of members that each hold 2^26 bytes."""
    member = COMPRESSED[compression](text * ((1 << 26) // len(text)))
    return member * times


@pytest.mark.parametrize("compression", COMPRESSED)
def test_decompression_takes_no_memory(compression, tmp_path, gzip_module):
    if compression != ".gz" and files.gzip_module() is zlib:
        pytest.skip("not gzip")
    small, large = tmp_path / f"small{compression}", tmp_path / f"large{compression}"
    small.write_bytes(COMPRESSED[compression](RUN))
    # Half a gigabyte.
    large.write_bytes(bomb(compression, b"\n# nothing\n", 8) + COMPRESSED[compression](RUN))
    assert large.stat().st_size < 10 << 20
    least, most = peak(small)[0], peak(large)[0]
    # zstd and xz keep a window of what they have unpacked.
    assert most - least < 32, (least, most)


def test_a_window_of_gigabytes_is_refused(tmp_path):
    """A file may ask its reader to remember gigabytes; xz -9 asks for 64 MB."""
    data = bytearray(lzma.compress(RUN, filters=[{"id": lzma.FILTER_LZMA2, "preset": 0}]))
    # Bytes 12 to 23 are the header of the block, of which byte 16 is the size, and the last four are the checksum.
    assert data[12:16] == b"\x02\x00\x21\x01"
    data[16] = 37
    data[20:24] = zlib.crc32(data[12:20]).to_bytes(4, "little")
    path = tmp_path / "run.xz"
    path.write_bytes(data)
    assert "corrupt xz data: Memory usage limit exceeded" in peak(path)[1]
