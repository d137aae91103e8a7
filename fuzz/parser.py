"""The parser of TREC runs and judgments: every input is a file, read in every way and compared with what it says.

What varies besides (sizes of blocks and pieces, the format of compression) is drawn from the input's own checksum, so
that a file alone reproduces what it found.
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
from tieaware.inputs import RunFile, files, run_file, trec
from tieaware.lists.query_lists import NotContiguous

warnings.simplefilter("ignore", UserWarning)

# In memory, where the machine has a file system there.
FOLDER = tempfile.mkdtemp(prefix="tieaware-fuzz-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
PATH = os.path.join(FOLDER, "input.run")
# Bytes are those of the inputs, however often each is read.
COUNTS: Counter[str] = Counter()

# Parquet and Arrow files, which pyarrow reads.
TABLES = (b"PAR1", b"ARROW1\0\0", b"\xff\xff\xff\xff")
COMPRESS: tuple[Callable[[bytes], bytes], ...] = (
    # The quick ones twice.
    lambda content: gzip.compress(content, 1, mtime=0),
    zstandard.ZstdCompressor(level=1, write_checksum=True).compress,
    lambda content: gzip.compress(content, 1, mtime=0),
    bz2.compress,
    lambda content: lzma.compress(content, preset=0),
    zstandard.ZstdCompressor(level=1, write_checksum=True).compress,
)


class Trickle(io.RawIOBase):
    """A file that gives a few bytes at a time."""

    def __init__(self, content: bytes, most: int, rng: random.Random) -> None:
        self.content, self.most, self.rng = content, most, rng

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        n = min(len(buffer), len(self.content), self.rng.randint(1, self.most))
        buffer[:n], self.content = self.content[:n], self.content[n:]
        return n


class Wanted(NamedTuple):
    """What is to come of reading a run: columns and a tag, or an InputError, of this line if one is to blame."""

    columns: Columns | None
    tag: str | None
    line: int | None

    def check(self, outcome: object) -> None:
        """Compare the runs that were read, one after another, or the error."""
        if self.columns is None:
            assert isinstance(outcome, InputError), f"a run that cannot be used is used: line {self.line}"
            assert self.line is None or line_in(outcome) == self.line, (outcome, self.line)
        else:
            assert isinstance(outcome, list), outcome
            assert columns_of(outcome, "scores") == self.columns
            assert outcome[0].tag == self.tag


def one_input(content: bytes) -> None:
    """Read a file in every way; raise AssertionError if one says anything else than it should."""
    rng = random.Random(zlib.crc32(content))
    COUNTS["inputs"] += 1
    COUNTS["bytes"] += len(content)
    if content.startswith(TABLES):
        return
    if expected.is_compressed(content):
        # What is in there is not known, but what is no file of that format must be said to be none.
        outcome_of(lambda: read_run(io.BytesIO(content)))
        return
    # Small blocks, but not so many that an input takes long.
    least = 1 + len(content) // 30
    trec.BLOCK = rng.randint(least, 4 * least) if rng.random() < 0.7 else 1 << 18
    trec.STREAMED_ROWS = rng.randint(1, 20 + least)
    files.COMPRESSED_BLOCK = rng.randint(least, least + (1 << 10))
    run_file.SMALLEST = 1
    run_file.PIECE = rng.randint(1 + len(content) // 20, 64 + len(content))
    with open(PATH, "wb") as file:
        file.write(content)
    check_runs(content, rng)
    check_judgments(content, rng)


def check_runs(content: bytes, rng: random.Random) -> None:
    """Read it as a run: whole, trickling, in parts, in pieces, compressed."""
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
    streamed = outcome_of(lambda: list(trec.stream_run(PATH, dtype, duplicates)))
    if isinstance(streamed, NotContiguous):
        assert run is None or run.scattered, "a query does not come back"
    elif wrong and duplicates == "error":
        # A document that is repeated before the line that cannot be used may be found before it.
        assert isinstance(streamed, InputError), "a line that cannot be used is used"
        assert wrong.line is None or line_in(streamed) <= wrong.line, streamed
    elif run is not None and run.scattered and isinstance(streamed, InputError):
        # The first of the lines that repeat a document, and not that of the first query that has one.
        assert wanted.columns is None, streamed
    else:
        wanted.check(streamed)
    check_pieces(run, columns, content, dtype)
    compress = rng.choice(COMPRESS)
    cut = rng.choice((0, rng.randint(0, len(content))))
    stored = compress(content[:cut]) + compress(content[cut:]) if cut else compress(content)
    wanted.check(whole(io.BytesIO(stored)))
    broken = bytearray(stored)
    broken[rng.randrange(len(broken))] ^= 1 << rng.randrange(8)
    if rng.random() < 0.5:
        del broken[rng.randrange(len(broken)) :]
    outcome = whole(Trickle(bytes(broken), 4 + len(broken) // 20, rng))
    # The change may not matter, as that of a time; or make text of it; or it is cut where one of its members ends.
    changed = expected.is_compressed(broken) and len(broken) == len(stored)
    if changed and not isinstance(outcome, InputError):
        wanted.check(outcome)


def check_pieces(run: expected.Run | None, columns: Columns | None, content: bytes, dtype: str) -> None:
    """Read it in pieces, by three threads."""
    parts = []
    lock = threading.Lock()

    def work(part: Run) -> None:
        with lock:
            parts.append(part)

    COUNTS["reads"] += 1
    good = RunFile(PATH, dtype).over_pieces(work, 3)
    usable = run is not None and run.repeated is None
    if good:
        assert usable, "pieces are read of a file that is to be refused"
        # The pieces come in any order.
        place = {query: i for i, query in enumerate(run.lists)}
        parts.sort(key=lambda part: place[part.queries[0]])
        assert columns_of(parts, "scores") == columns, "pieces give another run"
    elif usable and not run.scattered:
        # A piece may hold nothing but blank lines or comments; or two queries differ in the mark of UTF-8 alone.
        lines = content.split(b"\n")
        odd = content.startswith(b"\xef\xbb\xbf") or any(not s.strip() or s.split()[0][:1] == b"#" for s in lines)
        assert odd, "pieces of a usual file are not read"


def check_judgments(content: bytes, rng: random.Random) -> None:
    """Read it as judgments, plain and compressed."""
    try:
        wanted, wrong = Columns.of(expected.judgments(content), "int32"), None
    except Refused as refused:
        wanted, wrong = None, refused
    for source in (io.BytesIO(content), io.BytesIO(rng.choice(COMPRESS)(content))):
        outcome = outcome_of(lambda source=source: read_qrels(source))
        if wrong:
            assert isinstance(outcome, InputError), "judgments that cannot be used are used"
            assert wrong.line is None or line_in(outcome) == wrong.line, (outcome, wrong)
        else:
            assert isinstance(outcome, Qrels), outcome
            assert columns_of([outcome], "labels") == wanted


def outcome_of(read: Callable[[], object]) -> object:
    """Return what reading gives, or what it raises; anything but InputError and NotContiguous is a find."""
    COUNTS["reads"] += 1
    try:
        return read()
    except InputError as error:
        COUNTS["refused"] += 1
        assert "\n" not in str(error), error
        return error
    except NotContiguous as error:
        return error


def columns_of(parts: Sequence[Run | Qrels], values: str) -> Columns:
    """Return the columns of parts, one after another."""

    def joined(arrays: Iterable[np.ndarray]) -> bytes:
        return b"".join(array.tobytes() for array in arrays)

    def sizes(arrays: Iterable[np.ndarray]) -> list[int]:
        return [size for array in arrays for size in np.diff(array).tolist()]

    return Columns(
        joined(part.queries.data for part in parts), sizes(part.queries.offsets for part in parts),
        sizes(part.offsets for part in parts),
        joined(part.documents.data for part in parts), sizes(part.documents.offsets for part in parts),
        joined(getattr(part, values) for part in parts),
    )  # fmt: skip


def line_in(error: InputError) -> int:
    """Return the line that an error names."""
    found = re.match(r"[^:]*:(\d+): ", str(error))
    assert found, error
    return int(found[1])


def tally() -> None:
    """Say how much was read, and leave nothing."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    print(json.dumps({"target": "parser", **COUNTS}), file=sys.stderr, flush=True)
