"""Each read of a file fails or is short in turn: an InputError or the right values; and the next call works."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
import threading
import time

import pytest
from injected import ALL_LATER, READS
from inputs import COMPRESSIONS, TABLES, in_tables, result, texts
from support.errors import message_of

from tieaware.errors import InputError
from tieaware.inputs.files import byte_streams
from tieaware.inputs.runs import streamed
from tieaware.inputs.trec import reader as trec

N_QUERIES, DEPTH = 30, 40
QRELS, RUN = texts(N_QUERIES, DEPTH)
RIGHT = result(io.BytesIO(QRELS), io.BytesIO(RUN))


@pytest.fixture(autouse=True)
def small_buffers(monkeypatch):
    """Make the reader read a small file with many reads, and in chunks for several threads."""
    monkeypatch.setattr(byte_streams, "COMPRESSED_BUFFER", 1 << 10)
    monkeypatch.setattr(trec, "BUFFER", 1 << 12)
    monkeypatch.setattr(streamed, "CHUNK_ROWS", 1 << 7)
    monkeypatch.setattr(streamed, "SMALLEST", 1 << 12)
    monkeypatch.setattr(streamed, "CHUNK", 1 << 13)


@pytest.fixture(params=[*COMPRESSIONS, *TABLES])
def collection(request, tmp_path):
    """Give the paths of judgments and a run, in each format."""
    if request.param in TABLES:
        in_tables(tmp_path, N_QUERIES, DEPTH)
        return tmp_path / f"qrels.{request.param}", tmp_path / f"run.{request.param}"
    paths = tmp_path / f"qrels.txt{request.param}", tmp_path / f"run.txt{request.param}"
    for path, text in zip(paths, (QRELS, RUN), strict=True):
        path.write_bytes(COMPRESSIONS[request.param](text))
    return paths


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("all_later", [False, True], ids=["one", "all later"])
def test_a_read_that_fails(faults, collection, all_later, threads):
    def call():
        return result(*collection, threads)

    right = call()
    assert right == RIGHT
    n_reads = 0
    for n, outcome in faults.each(call, READS, all_later=all_later, place=str(collection[0].parent)):
        n_reads = n
        if outcome.error is None:
            # If reading with several threads fails, the file is read again with one thread.
            assert outcome.value == right, n
        else:
            assert type(outcome.error) is InputError, repr(outcome.error)
            assert str(outcome.error).startswith(str(collection[0].parent)), outcome.error
        assert call() == right
    assert n_reads > 4


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_reads_that_are_short(faults, collection, size, threads):
    def call():
        return result(*collection, threads)

    place = str(collection[0].parent)
    every = faults.attempt(call, READS, 1, ALL_LATER, place=place, error=-size)
    assert every.error is None
    assert every.value == RIGHT
    if size == 7:
        for n, outcome in faults.each(call, READS, place=place, error=-size):
            assert outcome.error is None, (n, outcome.error)
            assert outcome.value == RIGHT, n


def test_reads_that_a_signal_interrupts(faults, collection):
    for n, outcome in faults.each(lambda: result(*collection), READS, place=f"{collection[1]}", error=errno.EINTR):
        if collection[1].suffix == ".parquet":
            assert outcome.error is None or isinstance(outcome.error, InputError)
        else:
            assert outcome.error is None, (n, outcome.error)
        assert outcome.value in (None, RIGHT)


class Unreliable(io.BytesIO):
    """A file object with one read that behaves in an unusual way."""

    def __init__(self, data, number, behaviour):
        super().__init__(data)
        self.left, self.behaviour = number, behaviour

    def read(self, size=-1):
        self.left -= 1
        return self.behaviour(super().read, size) if self.left == 0 else super().read(min(size, 3000))


def fail(read, size):
    raise OSError(errno.EIO, "Input/output error")


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize(
    ("behaviour", "right"),
    [
        (fail, False),
        (lambda read, size: None, False),
        (lambda read, size: "text", False),
        (lambda read, size: read(1), True),
        (lambda read, size: bytearray(read(size)), True),
        (lambda read, size: read(size + 5000), True),
    ],
    ids=["fails", "would block", "text", "short", "bytearray", "longer than requested"],
)
def test_file_objects_with_an_unusual_read(compression, behaviour, right):
    data = COMPRESSIONS[compression](RUN)
    n = 1
    while True:
        file = Unreliable(data, n, behaviour)
        try:
            found = result(io.BytesIO(QRELS), file)
        except InputError:
            found = None
        assert found == (RIGHT if right or file.left > 0 else None), n
        if file.left > 0:
            break
        n += 1
    assert n > 3


def feed(descriptor, chunks, pause):
    with open(descriptor, "wb", buffering=0) as pipe:
        for chunk in chunks:
            pipe.write(chunk)
            time.sleep(pause)


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_pipe_whose_writer_is_slow_or_dies(compression, tmp_path):
    data = COMPRESSIONS[compression](RUN)
    for size in (len(data), len(data) // 2):
        pipe = tmp_path / f"pipe{size}"
        os.mkfifo(pipe)
        chunks = [data[i : min(i + 997, size)] for i in range(0, size, 997)]
        writer = threading.Thread(target=feed, args=(pipe, chunks, 0.001))
        writer.start()
        if size == len(data):
            assert result(io.BytesIO(QRELS), pipe) == RIGHT
        elif compression:
            assert "truncated" in message_of(result, io.BytesIO(QRELS), pipe)
        else:
            # The end of uncompressed text does not show that more was to come, except for an incomplete last line.
            assert "a line of a run has 6 fields" in message_of(result, io.BytesIO(QRELS), pipe)
        writer.join(10)


def test_standard_input_that_does_not_block(tmp_path):
    (tmp_path / "qrels").write_bytes(QRELS)
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    command = [sys.executable, "-m", "tieaware.cli", "eval", str(tmp_path / "qrels"), "-"]
    done = subprocess.run(command, stdin=ours, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    os.close(ours)
    os.close(theirs)
