"""Failing allocations and truncated files. `make faults` runs many more such tests."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

import tieaware
from tieaware.results.storage import read

TESTS = Path(__file__).parents[1]

# The kernels of the last two measures allocate working memory.
PROGRAM = """
import random
from support import queries
from injected import ALLOCATIONS, Faults
some = [queries.random_query(random.Random(8), 7) for _ in range(6)]
scores = queries.scores_of(some)
evaluator = queries.evaluator(some, ("AP", "nDCG", "P(judged_only=True)", "ERR", "Q", "IPrec@0.5"))
right = evaluator(scores).tobytes(), evaluator.spread(scores).std.tobytes()
call = lambda: (evaluator(scores).tobytes(), evaluator.spread(scores).std.tobytes())
faults = Faults()
assert faults.count_code("/tieaware/kernels/_") > 10
for all_later in (False, True):
    for n, outcome in faults.each(call, ALLOCATIONS, all_later=all_later):
        assert outcome.value == right if outcome.error is None else type(outcome.error) is MemoryError, (n, outcome)
        assert call() == right
    print(n)
"""


@pytest.mark.skipif(shutil.which("cc") is None or sys.platform != "linux", reason="needs cc and LD_PRELOAD")
def test_a_kernel_survives_failing_allocations(tmp_path):
    """For each allocation, it alone fails in one call, and it and all later allocations fail in another call."""
    library = tmp_path / "faults.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, TESTS / "faults" / "faults.c", "-ldl"], check=True)
    environment = {
        **os.environ,
        "PYTHONPATH": f"{TESTS}{os.pathsep}{TESTS / 'faults'}",
        # Under `make checked`, load this library before the sanitizer, so that the sanitizer gets only allocations that
        # do not fail. The sanitizer normally insists on being loaded first; verify_asan_link_order=0 turns this off.
        "LD_PRELOAD": f"{library} {os.environ.get('LD_PRELOAD', '')}",
        "ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0",
    }
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(int(n) > 6 for n in done.stdout.split())


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_truncated_compressed_file_is_an_error(compress):
    data = compress(b"301 Q0 d1 1 2.5 bm25\n301 Q0 d2 2 2.5 bm25\n")
    assert tieaware.read_run(io.BytesIO(data)).documents.to_list() == ["d1", "d2"]
    for n in range(len(data)):
        with pytest.raises(tieaware.InputError):
            tieaware.read_run(io.BytesIO(data[:n]))


def test_an_xz_file_with_a_window_of_gigabytes_is_refused():
    data = bytearray(lzma.compress(b"301 0 d1 1\n", filters=[{"id": lzma.FILTER_LZMA2, "preset": 0}]))
    # Bytes 12 to 23 are the block header. Change byte 16, the size of the window, and then the checksum of the header,
    # which is in bytes 20 to 23.
    data[16] = 37
    data[20:24] = zlib.crc32(data[12:20]).to_bytes(4, "little")
    with pytest.raises(tieaware.InputError, match="corrupt xz data: Memory usage limit exceeded"):
        tieaware.read_qrels(io.BytesIO(data))


def test_a_memory_error_is_not_reported_as_a_damaged_file(tmp_path, monkeypatch):
    tieaware.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, "AP").save(tmp_path / "results.npz")

    def exhausted(*_):
        raise MemoryError

    monkeypatch.setattr("tieaware.results.storage._check", exhausted)
    with pytest.raises(MemoryError):
        read(tmp_path / "results.npz")
