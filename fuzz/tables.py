"""Fuzzing of table files: Arrow and Parquet files whose offsets, lengths, counts and indices are rewritten in place.

Each file is read by tieaware, and by pyarrow with its table passed to tieaware. A run, or an error of one line, is
expected. The cases run in forked processes, so that a crash is reported with the number of the case and does not end
the search. Needs no compiler: .venv/bin/python fuzz/tables.py --seconds 60
"""

from __future__ import annotations

import io
import os
import random
import struct
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
from forked import outcome, search

import tieaware
from tieaware.inputs import read_qrels, read_run

# A run with changed identifiers has no judged document, of which tieaware warns.
warnings.simplefilter("ignore", UserWarning)

ROWS = 40
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


def evaluate(path: str) -> None:
    """Evaluate the run in a file, which is then read in batches."""
    tieaware.evaluate({"q1": {"d12": 1}}, {"run": path}, "AP")


def check(draw: random.Random, folder: str) -> Counter[str]:
    """Read one case in every way."""
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


if __name__ == "__main__":
    sys.exit(search("tables", check, __doc__.splitlines()[0]))
