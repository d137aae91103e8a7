"""Fuzzing of table files: Arrow and Parquet files whose offsets, lengths, counts and indices are rewritten in place.

Each file is read by tieaware, and by pyarrow with its table passed to tieaware. A run, or an error of one line, is
expected. The cases run in forked processes, so that a crash is reported with the number of the case and does not end
the search. Needs no compiler: .venv/bin/python fuzz/tables.py --seconds 60
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import resource
import struct
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

import tieaware
from tieaware import InputError
from tieaware.inputs import read_qrels, read_run

# A run with changed identifiers has no judged document, of which tieaware warns.
warnings.simplefilter("ignore", UserWarning)

ROWS = 40
# The number of cases that a forked process reads.
CASES = 200
# Rewritten words become one of these numbers, or one near the number that stands there.
NUMBERS = (
    0, 1, -1, 7, ROWS - 1, ROWS, ROWS + 1, 64, 10**6, 2**31 - 1, -(2**31), 2**40, 2**60, 2**62, 2**63 - 1, -(2**63),
)  # fmt: skip
NEAR = (-64, -8, -1, 1, 8, 64)
QUERIES = [f"q{i // 10}" for i in range(ROWS)]
DOCUMENTS = [f"a-long-identifier-{i:05}" if i % 3 else f"d{i}" for i in range(ROWS)]
IDENTIFIERS: tuple[Callable[[Any], Any], ...] = (
    lambda text: text, lambda text: text.cast(pa.large_string()), lambda text: text.cast(pa.string_view()),
    lambda text: text.cast(pa.binary()), lambda text: text.dictionary_encode(),
    lambda text: text.dictionary_encode().cast(pa.dictionary(pa.int8(), pa.large_string())),
    lambda text: pa.array([value.as_py().ljust(24)[:24].encode() for value in text], pa.binary(24)),
)  # fmt: skip
SCORES = (
    pa.array([i % 7 / 2 for i in range(ROWS)]), pa.array([i % 7 for i in range(ROWS)], pa.int8()),
    pa.array([bool(i % 2) for i in range(ROWS)]), pa.array([i % 7 for i in range(ROWS)], pa.float32()),
    pa.array([None if i == 5 else float(i) for i in range(ROWS)]),
)  # fmt: skip
EXPECTED = (InputError, MemoryError)


def table(draw: random.Random) -> Any:
    """Return a table whose columns have any of the types that hold identifiers or scores."""
    query, document = draw.choice(IDENTIFIERS)(pa.array(QUERIES)), draw.choice(IDENTIFIERS)(pa.array(DOCUMENTS))
    return pa.table({"query": query, "doc": document, "score": draw.choice(SCORES)})


def written(draw: random.Random) -> tuple[str, bytearray]:
    """Return a random table as a file, and the kind of the file."""
    made, kind, sink = table(draw), draw.choice(("file", "stream", "feather", "parquet")), io.BytesIO()
    rows = draw.choice((15, 100))
    if kind == "parquet":
        versions = draw.choice(("1.0", "2.6")), draw.choice(("1.0", "2.0"))
        pyarrow.parquet.write_table(
            made, sink, row_group_size=rows, compression=draw.choice(("none", "snappy")), version=versions[0],
            data_page_version=versions[1], use_dictionary=draw.random() < 0.5,
        )  # fmt: skip
    elif kind == "feather":
        pyarrow.feather.write_feather(made, sink, compression=draw.choice(("uncompressed", "lz4")), chunksize=rows)
    else:
        new = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
        with new(sink, made.schema) as writer:
            writer.write_table(made, max_chunksize=rows)
    return kind, bytearray(sink.getvalue())


def rewrite(content: bytearray, draw: random.Random) -> None:
    """Rewrite one to three words of a file in place: aligned ones, as Arrow's are, or single bytes."""
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        form = draw.choice(("<i", "<i", "<q", "B"))
        size = struct.calcsize(form)
        at = size * draw.randrange(8 // size, (len(content) - 8) // size)
        (here,) = struct.unpack_from(form, content, at)
        number = here + draw.choice(NEAR) if draw.random() < 0.4 else draw.choice(NUMBERS)
        bits = 8 * size
        if form == "B":
            number %= 256
        elif not -(1 << bits - 1) <= number < 1 << bits - 1:
            number = here ^ 1 << draw.randrange(bits - 1)
        struct.pack_into(form, content, at, number)


def tables_of(kind: str, content: bytes) -> Any:
    """Read a file by pyarrow, as a caller may."""
    if kind == "parquet":
        return pyarrow.parquet.read_table(io.BytesIO(content))
    return (pa.ipc.open_stream if kind == "stream" else pa.ipc.open_file)(content).read_all()


def outcome(call: Callable[[], Any]) -> str:
    """Return "read" or "refused"; raise AssertionError for an error of several lines, and any other exception."""
    try:
        call()
    except EXPECTED as error:
        assert "\n" not in str(error), f"the error has several lines: {error}"
        return "refused"
    return "read"


def evaluate(path: str) -> None:
    """Evaluate the run in a file, which is then read in batches."""
    tieaware.evaluate({"q1": {"d12": 1}}, {"run": path}, "AP")


def check(seed: int, number: int, folder: str) -> Counter[str]:
    """Read one case in every way."""
    draw = random.Random(f"{seed}-{number}")
    kind, content = written(draw)
    rewrite(content, draw)
    path = os.path.join(folder, "table")
    with open(path, "wb") as file:
        file.write(content)
    counts: Counter[str] = Counter()
    for read in (read_run, read_qrels, evaluate):
        counts[outcome(partial(read, path))] += 1
    try:
        given = tables_of(kind, bytes(content))
    except Exception:
        # pyarrow refuses the file, with any of its own exceptions or of Python's.
        return counts + Counter(by_pyarrow=1)
    counts[outcome(lambda: tieaware.Run.from_arrow(given))] += 1
    return counts


def read_cases(seed: int, numbers: range, folder: str, write: int) -> None:
    """Read several cases, and write the number of each case and then their counts to a pipe."""
    # A forged length may ask for any memory: the process gets MemoryError instead.
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    counts: Counter[str] = Counter()
    for number in numbers:
        os.write(write, b"%d\n" % number)
        counts += check(seed, number, folder)
    os.write(write, json.dumps(counts).encode() + b"\n")


def in_a_process(seed: int, numbers: range, folder: str) -> tuple[int, int, Counter[str]]:
    """Read several cases in a forked process: return its status, the number of the last case, and the counts."""
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(read)
        status = 1
        try:
            read_cases(seed, numbers, folder, write)
            status = 0
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read) as pipe:
        lines = pipe.read().splitlines()
    _, status = os.waitpid(process, 0)
    if status:
        return status, int(lines[-1]) if lines else numbers[0], Counter()
    return 0, numbers[-1], Counter(json.loads(lines[-1]))


def main() -> int:
    """Search until the time is over, or for a single case; return 1 if a case crashed or raised another error."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="read only the case with this number")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    start, first = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as folder:
        while True:
            numbers = range(first, first + CASES) if options.case is None else range(options.case, options.case + 1)
            status, last, found = in_a_process(options.seed, numbers, folder)
            if status:
                print(f"--seed {options.seed} --case {last}: the process ended with status {status}", file=sys.stderr)
                return 1
            counts += found + Counter(cases=len(numbers))
            first += CASES
            if options.case is not None or time.monotonic() - start > options.seconds:
                break
    print(json.dumps({"target": "tables", "seed": options.seed, **counts}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
