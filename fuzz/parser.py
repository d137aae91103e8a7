"""Fuzzing of the parser of TREC runs and judgments: each input is read in all ways and compared with expected.py.

The checksum of the input determines the sizes of buffers and chunks and the format of compression, so the input alone
reproduces a failure.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import random
import re
import shutil
import sys
import tempfile
import threading
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import expected
import numpy as np
import zstandard
from expected import Columns, Refused

from tieaware import InputError, Qrels, Run, read_qrels, read_run
from tieaware.inputs import Reading, RunFile, RunSource
from tieaware.inputs.files import byte_streams
from tieaware.inputs.runs import streamed
from tieaware.inputs.trec import reader as trec
from tieaware.inputs.trec.reader import Malformed, NotParallel
from tieaware.lists.query_lists import NotContiguous

warnings.simplefilter("ignore", UserWarning)

# Use a file system in memory if there is one.
FOLDER = tempfile.mkdtemp(prefix="tieaware-fuzz-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
PATH = os.path.join(FOLDER, "input.run")
# In "bytes", each input counts once, although it is read many times.
COUNTS: Counter[str] = Counter()

# The first bytes of Parquet and Arrow files. Other readers read them, so this target skips them.
TABLES = (b"PAR1", b"ARROW1\0\0", b"\xff\xff\xff\xff")
COMPRESS: tuple[Callable[[bytes], bytes], ...] = (
    # The fast formats are listed twice, so that they are drawn more often.
    lambda content: gzip.compress(content, 1, mtime=0),
    zstandard.ZstdCompressor(level=1, write_checksum=True).compress,
    lambda content: gzip.compress(content, 1, mtime=0),
    bz2.compress,
    lambda content: lzma.compress(content, preset=0),
    zstandard.ZstdCompressor(level=1, write_checksum=True).compress,
)


class Trickle(io.RawIOBase):
    """A file that returns a few bytes at each read."""

    def __init__(self, content: bytes, most: int, rng: random.Random) -> None:
        self.content, self.most, self.rng = content, most, rng

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        n = min(len(buffer), len(self.content), self.rng.randint(1, self.most))
        buffer[:n], self.content = self.content[:n], self.content[n:]
        return n


class Wanted(NamedTuple):
    """The expected outcome of reading a run: columns and a tag, or an InputError, which names `line` if it is given."""

    columns: Columns | None
    tag: str | None
    line: int | None

    def check(self, outcome: object) -> None:
        """Compare the outcome, which is a list of consecutive chunks or an error, with the expectation."""
        if self.columns is None:
            assert isinstance(outcome, InputError), f"no InputError for an invalid run: line {self.line}"
            assert self.line is None or line_in(outcome) == self.line, (outcome, self.line)
        else:
            assert isinstance(outcome, list), outcome
            assert columns_of(outcome, "scores") == self.columns
            assert outcome[0].tag == self.tag


def one_input(content: bytes) -> None:
    """Read a file in all ways; raise AssertionError if the outcome of one way is wrong."""
    rng = random.Random(zlib.crc32(content))
    COUNTS["inputs"] += 1
    COUNTS["bytes"] += len(content)
    if content.startswith(TABLES):
        return
    if expected.is_compressed(content):
        # The expected rows are unknown, so only check that the reader returns a run or raises InputError.
        outcome_of(lambda: read_run(io.BytesIO(content)))
        return
    # Use small buffers and chunks, but limit their number, so that no input takes long.
    least = 1 + len(content) // 30
    trec.BUFFER = rng.randint(least, 4 * least) if rng.random() < 0.7 else 1 << 18
    streamed.CHUNK_ROWS = rng.randint(1, 20 + least)
    byte_streams.COMPRESSED_BUFFER = rng.randint(least, least + (1 << 10))
    streamed.SMALLEST = 1
    streamed.CHUNK = rng.randint(1 + len(content) // 20, 64 + len(content))
    with open(PATH, "wb") as file:
        file.write(content)
    check_runs(content, rng)
    check_judgments(content, rng)


def check_runs(content: bytes, rng: random.Random) -> None:
    """Read a file as a run: whole, from a slow stream, in batches, in chunks, compressed and corrupted."""
    duplicates = rng.choice(("error", "first"))
    dtype = rng.choice(("float64", "float64", "float32"))
    columns = tag = wrong = run = None
    try:
        run = expected.run(content)
        columns, tag = Columns.of(run.lists, dtype), run.tag.decode("utf-8", "surrogateescape")
        repeated = run.repeated is not None and duplicates == "error"
        wanted = Wanted(None, None, run.repeated) if repeated else Wanted(columns, tag, None)
    except Refused as refused:
        wrong = refused
        wanted = Wanted(None, None, wrong.line)

    def whole(source: object) -> object:
        return outcome_of(lambda: [read_run(source, dtype, duplicates=duplicates)])

    for source in (io.BytesIO(content), PATH, Trickle(content, 4 + len(content) // 10, rng)):
        wanted.check(whole(source))
    streamed = outcome_of(lambda: list(RunFile(PATH, Reading(dtype, duplicates)).contiguous_chunks()))
    if isinstance(streamed, NotContiguous):
        assert run is None or run.scattered, "NotContiguous, but the rows of every query are together"
    elif wrong and duplicates == "error":
        # The stream may find a repeated document before it reaches the malformed line.
        assert isinstance(streamed, InputError), "no InputError for a malformed line"
        assert wrong.line is None or line_in(streamed) <= wrong.line, streamed
    elif run is not None and run.scattered and isinstance(streamed, InputError):
        # The stream names the first line of the file that repeats a document. The reader of whole files names the first
        # such line of the first query that has one.
        assert wanted.columns is None, streamed
    else:
        # Chunks have no tag.
        Wanted(wanted.columns, None, wanted.line).check(streamed)
    check_chunks(run, columns, content, dtype)
    compress = rng.choice(COMPRESS)
    cut = rng.choice((0, rng.randint(0, len(content))))
    stored = compress(content[:cut]) + compress(content[cut:]) if cut else compress(content)
    wanted.check(whole(io.BytesIO(stored)))
    broken = bytearray(stored)
    broken[rng.randrange(len(broken))] ^= 1 << rng.randrange(8)
    if rng.random() < 0.5:
        del broken[rng.randrange(len(broken)) :]
    outcome = whole(Trickle(bytes(broken), 4 + len(broken) // 20, rng))
    # A changed bit may be harmless, for example in a timestamp, or the file may no longer be recognised as compressed.
    # A file may also be cut exactly at the end of a compressed member.
    changed = expected.is_compressed(broken) and len(broken) == len(stored)
    if changed and not isinstance(outcome, InputError):
        wanted.check(outcome)


def check_chunks(run: expected.Run | None, columns: Columns | None, content: bytes, dtype: str) -> None:
    """Read a file in chunks, with three threads."""
    chunks = []
    lock = threading.Lock()

    def work(chunk: RunSource) -> None:
        with lock:
            chunks.append(chunk.whole())

    COUNTS["reads"] += 1
    try:
        good = RunFile(PATH, Reading(dtype)).over_parallel_chunks(work, 3)
    except (NotParallel, Malformed, InputError):
        good = False
    usable = run is not None and run.repeated is None
    if good:
        assert usable, "chunks of an invalid file are accepted"
        # The chunks arrive in any order.
        place = {query: i for i, query in enumerate(run.lists)}
        chunks.sort(key=lambda chunk: place[chunk.queries[0]])
        assert columns_of(chunks, "scores") == columns, "the chunks give another run"
    elif usable and not run.scattered:
        # Reasons not to read a file in chunks: a chunk has only blank lines or comments, or two queries differ only in
        # the byte-order mark.
        lines = content.split(b"\n")
        odd = content.startswith(b"\xef\xbb\xbf") or any(not s.strip() or s.split()[0][:1] == b"#" for s in lines)
        assert odd, "an ordinary file is not read in chunks"


def check_judgments(content: bytes, rng: random.Random) -> None:
    """Read a file as judgments, plain and compressed."""
    try:
        lists, wrong = expected.judgments(content), None
    except Refused as refused:
        lists, wrong = {}, refused
    real = any(not value.is_integer() for labels in lists.values() for value in labels.values())
    wanted = None if real else Columns.of(lists, "int32")
    for source in (io.BytesIO(content), io.BytesIO(rng.choice(COMPRESS)(content))):
        outcome = outcome_of(lambda source=source: read_qrels(source))
        if wrong:
            assert isinstance(outcome, InputError), "no InputError for invalid judgments"
            assert wrong.line is None or line_in(outcome) == wrong.line, (outcome, wrong)
        else:
            assert isinstance(outcome, Qrels), outcome
            if real:
                assert outcome.to_dict() == decoded(lists)
            else:
                assert columns_of([outcome], "labels") == wanted


def decoded(lists: expected.Lists) -> dict[str, dict[str, float]]:
    """Return lists with identifiers as text, as tieaware's dicts have them."""
    return {
        query.decode("utf-8", "surrogateescape"): {
            document.decode("utf-8", "surrogateescape"): value for document, value in listed.items()
        }
        for query, listed in lists.items()
    }


def outcome_of(read: Callable[[], object]) -> object:
    """Return the result of reading, or the InputError or NotContiguous that it raises; let other exceptions through."""
    COUNTS["reads"] += 1
    try:
        return read()
    except InputError as error:
        COUNTS["refused"] += 1
        assert "\n" not in str(error), error
        return error
    except NotContiguous as error:
        return error


def columns_of(chunks: Sequence[Run | Qrels], values: str) -> Columns:
    """Join the columns of chunks."""

    def joined(arrays: Iterable[np.ndarray]) -> bytes:
        return b"".join(array.tobytes() for array in arrays)

    def sizes(arrays: Iterable[np.ndarray]) -> list[int]:
        return [size for array in arrays for size in np.diff(array).tolist()]

    return Columns(
        joined(chunk.queries.data for chunk in chunks), sizes(chunk.queries.offsets for chunk in chunks),
        sizes(chunk.offsets for chunk in chunks),
        joined(chunk.documents.data for chunk in chunks), sizes(chunk.documents.offsets for chunk in chunks),
        joined(getattr(chunk, values) for chunk in chunks),
    )  # fmt: skip


def line_in(error: InputError) -> int:
    """Return the number of the line that an error names."""
    found = re.match(r"[^:]*:(\d+): ", str(error))
    assert found, error
    return int(found[1])


def tally() -> None:
    """Print the counts of the reads, and remove the folder."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    print(json.dumps({"target": "parser", **COUNTS}), file=sys.stderr, flush=True)
