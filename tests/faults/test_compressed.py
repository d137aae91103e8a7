"""Compressed files that are truncated or corrupt at each byte, and decompression bombs."""

from __future__ import annotations

import io
import subprocess
import sys
import zlib

import pytest
from inputs import COMPRESSIONS, result, texts

from tieaware.errors import InputError
from tieaware.inputs.files import compression as formats

QRELS, RUN = texts(3, 8)
RIGHT = result(io.BytesIO(QRELS), io.BytesIO(RUN))
COMPRESSED = {name: compress for name, compress in COMPRESSIONS.items() if name}


@pytest.fixture(params=["isal", "zlib"], autouse=True)
def gzip_module(request, monkeypatch):
    """Decompress gzip with isal or with zlib."""
    if request.param == "zlib":
        monkeypatch.setattr(formats, "gzip_module", lambda: zlib)
    elif formats.gzip_module() is zlib:
        pytest.skip("isal is not installed")


@pytest.fixture(params=COMPRESSED)
def compression(request, gzip_module):
    if request.param != ".gz" and formats.gzip_module() is zlib:
        pytest.skip("this format does not depend on the gzip module")
    return request.param


@pytest.fixture
def data(compression):
    """Give the bytes of a small compressed run."""
    return COMPRESSED[compression](RUN)


def outcome(data):
    """Return the values of a run in these bytes; None if reading the run raises InputError."""
    try:
        return result(io.BytesIO(QRELS), io.BytesIO(data))
    except InputError as error:
        return None if "\n" not in str(error) else "more than one line"


def test_truncated_files_are_refused(data):
    assert outcome(data) == RIGHT
    for n in range(len(data)):
        assert outcome(data[:n]) is None, n


def test_files_with_a_corrupt_byte_are_refused_or_evaluated_right(data):
    """Flip each bit of each byte, and all bits of each byte. The values stay right only if the byte has no effect."""
    errors = 0
    for i in range(len(data)):
        for change in (*(1 << bit for bit in range(8)), 0xFF):
            corrupt = bytearray(data)
            corrupt[i] ^= change
            found = outcome(bytes(corrupt))
            assert found in (None, RIGHT), (i, change)
            errors += found is None
    assert errors > 0.8 * 9 * len(data)


def test_files_with_a_missing_or_an_extra_byte(data):
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
    """Read a run in a process of its own; return its peak memory in MB, and its standard error."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(path)], capture_output=True, text=True, check=True)
    return int(done.stdout), done.stderr


def bomb(compression, text, times):
    """Return a compressed file of `times` members, each of which holds 2^26 bytes of a repeated text."""
    member = COMPRESSED[compression](text * ((1 << 26) // len(text)))
    return member * times


def test_memory_does_not_grow_with_the_decompressed_size(compression, tmp_path):
    small, large = tmp_path / f"small{compression}", tmp_path / f"large{compression}"
    small.write_bytes(COMPRESSED[compression](RUN))
    # The file decompresses to half a gigabyte.
    large.write_bytes(bomb(compression, b"\n# nothing\n", 8) + COMPRESSED[compression](RUN))
    assert large.stat().st_size < 10 << 20
    least, most = peak(small)[0], peak(large)[0]
    # zstd and xz keep a window of decompressed data.
    assert most - least < 32, (least, most)
