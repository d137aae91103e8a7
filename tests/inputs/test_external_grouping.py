"""Runs whose rows are not grouped by query: a temporary file groups them, and the values are those of the whole run."""

import os
import signal
import subprocess
import sys
import tempfile

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from support.errors import message_of
from support.table_files import trec_lines, write_columns, write_text

import tieaware
from tieaware.inputs import Reading, as_sources
from tieaware.inputs.runs import grouping, streamed
from tieaware.inputs.trec import reader as trec

RNG = np.random.default_rng(1616)
N = 6000
# One query has a third of all rows. Document ids have many lengths, and scores tie.
QUERIES = [f"q{q if q < 40 else 0}" for q in RNG.integers(0, 60, N)]
ROWS = {
    "query_id": QUERIES,
    "doc_id": [f"d{i}{'x' * (i % 50)}" for i in range(N)],
    "score": RNG.integers(0, 9, N).astype(float).tolist(),
}
QRELS = {f"q{q}": {ROWS["doc_id"][i]: i % 3 for i in range(0, N, 7) if QUERIES[i] == f"q{q}"} for q in range(45)}
MEASURES = ["AP", "nDCG@10", "RR", "AUC"]


MADE = {
    "pyarrow": pa.table,
    "polars": pl.from_arrow,
    "polars lazy": lambda table: pl.from_arrow(table).lazy(),
    "pandas": pa.Table.to_pandas,
    "pandas object": lambda table: table.to_pandas().astype({"query_id": object, "doc_id": object}),
    "duckdb": duckdb.from_arrow,
}


def write(folder, door, rows=ROWS):
    """Return the rows in a form that evaluate accepts."""
    if door in MADE:
        return MADE[door](pa.table(rows))
    path = folder / f"run.{door}"
    if door not in ("run", "run.gz"):
        return write_columns(rows, path)
    lines = trec_lines(rows).splitlines(keepends=True)
    lines[5:5] = ["\n", "# a comment, so that lines are no rows\n"]
    return write_text("".join(lines), path)


@pytest.fixture
def spilling(monkeypatch, tmp_path):
    """Use small batches and nested buckets, and record the nesting level of each batch. No file may be left.

    There are fewer buckets than queries, so some queries share a bucket for any seed of the hash.
    """
    for module, name, value in (
        (trec, "BUFFER", 4000), (streamed, "CHUNK_ROWS", 50), (streamed, "BATCH_ROWS", 300),
        (grouping, "HELD", 3000), (grouping, "SMALL", 2000), (grouping, "BUCKETS", 16),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, value)
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    levels = []
    add = grouping.ExternalGrouping.add

    def noted(self, *block):
        levels.append(self._level)
        add(self, *block)
        assert os.listdir(folder) == []

    monkeypatch.setattr(grouping.ExternalGrouping, "add", noted)
    yield levels
    assert os.listdir(folder) == []


DOORS = ["run", "run.gz", "parquet", "feather", "csv", *MADE]


def assert_values_of_the_whole_run(given, qrels, *rules):
    whole = next(iter(as_sources(given).values())).whole()
    for ties in rules:
        right = tieaware.evaluate(qrels, whole, MEASURES, ties=ties)
        found = tieaware.evaluate(qrels, given, MEASURES, ties=ties, threads=2)
        assert found.values.tobytes() == right.values.tobytes()


@pytest.mark.parametrize("door", DOORS)
def test_values_equal_those_of_the_whole_run(tmp_path, spilling, door):
    assert_values_of_the_whole_run(write(tmp_path, door), QRELS, "average", "run_order", "trec_eval")
    # Level 1 occurs, because two queries that share a bucket have more rows than are kept in memory.
    assert {0, 1} <= set(spilling)


@pytest.mark.parametrize("door", ["run", "parquet"])
def test_small_queries_of_one_bucket_are_read_together(tmp_path, spilling, monkeypatch, door):
    """Each batch has a few rows of every query, and a bucket has several queries."""
    monkeypatch.setattr(grouping, "HELD", 1 << 20)
    monkeypatch.setattr(grouping, "SMALL", 1 << 14)
    rows = {
        "query_id": [f"q{i % 100}" for i in range(1000)], "doc_id": [f"d{i}" for i in range(1000)],
        "score": [float(i % 7) for i in range(1000)],
    }  # fmt: skip
    judged = {f"q{q}": {f"d{i}": i % 3 for i in range(q, 1000, 300)} for q in range(100)}
    assert_values_of_the_whole_run(write(tmp_path, door, rows), judged, "average", "run_order")
    assert set(spilling) == {0}


def test_the_levels_use_all_bits_of_the_hash(tmp_path, spilling, monkeypatch):
    """With two buckets and no memory, each query gets a bucket of its own, as far down as it takes."""
    for name, value in (("BUCKETS", 2), ("HELD", 1), ("SMALL", 1)):
        monkeypatch.setattr(grouping, name, value)
    rows = {"query_id": [f"q{i % 300}" for i in range(600)], "doc_id": range(600), "score": [0.0] * 600}
    found = tieaware.evaluate({"q7": {"7": 1}, "q299": {"299": 1, "599": 1}}, write(tmp_path, "pyarrow", rows), "RR")
    assert found.values.tolist() == [[[0.75], [1.0]]]
    assert 8 < max(spilling) < 64


def test_integers_and_single_precision_are_kept(tmp_path, spilling):
    table = pa.table({
        "query_id": [int(q[1:]) for q in ROWS["query_id"]], "doc_id": range(N),
        "score": pa.array(ROWS["score"], pa.float32()),
    })  # fmt: skip
    pyarrow.parquet.write_table(table, tmp_path / "run.parquet")
    (source,) = as_sources(tmp_path / "run.parquet").values()
    chunks = list(source.chunks())
    assert spilling
    # Leave out the chunks that were yielded before a query reappeared; the grouped chunks contain their rows again.
    last = chunks[next(i for i in range(len(chunks)) if sum(len(chunk.scores) for chunk in chunks[i:]) == N) :]
    assert {(chunk.queries.kind, chunk.documents.kind, chunk.scores.dtype.name) for chunk in last} == {
        ("integer", "integer", "float32")
    }
    lists = {q: chunk.documents.to_list()[a:b] for chunk in last
             for q, a, b in zip(chunk.queries.to_list(), chunk.offsets, chunk.offsets[1:], strict=False)}  # fmt: skip
    whole = source.whole()
    assert lists == {
        q: whole.documents.to_list()[a:b]
        for q, a, b in zip(whole.queries.to_list(), whole.offsets, whole.offsets[1:], strict=False)
    }


@pytest.mark.parametrize("door", ["run", "parquet"])
def test_messages_name_the_rows_of_duplicates(tmp_path, spilling, door):
    rows = {name: list(column) for name, column in ROWS.items()}
    for first, again in ((100, 5000), (3000, 3100), (2999, 5999), (40, 4444)):
        rows["query_id"][again], rows["doc_id"][again] = rows["query_id"][first], rows["doc_id"][first]
    path = write(tmp_path, door, rows)
    for _ in range(2):
        assert message_of(tieaware.evaluate, QRELS, path, "AP") == message_of(tieaware.read_run, path)
    with pytest.warns(UserWarning, match="4 duplicate rows are ignored") as said_of_whole:
        whole = tieaware.read_run(path, duplicates="first")
    (source,) = tieaware.inputs.sources_at(path, Reading(duplicates="first"))
    with pytest.warns(UserWarning, match="4 duplicate rows are ignored") as said:
        found = tieaware.evaluate(QRELS, source, MEASURES)
    assert [str(each.message) for each in said] == [str(each.message) for each in said_of_whole]
    assert found.values.tobytes() == tieaware.evaluate(QRELS, whole, MEASURES).values.tobytes()
    assert spilling


STOPPED = """
import os, resource, sys
import tieaware
from tieaware.inputs.runs import grouping, run, streamed
from tieaware.inputs.trec import reader as trec
trec.BUFFER, streamed.CHUNK_ROWS, streamed.BATCH_ROWS, grouping.HELD = 4000, 50, 300, 3000
add, n = grouping.ExternalGrouping.add, 0

def stopped(self, *block):
    global n
    add(self, *block)
    n += 1
    if n == 9:
        os.kill(os.getpid(), int(sys.argv[3]))

grouping.ExternalGrouping.add = stopped
if sys.argv[3] == "0":
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    tieaware.evaluate(sys.argv[1], sys.argv[2], "AP")
except tieaware.InputError as error:
    print(error)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, 0])
def test_no_temporary_file_is_left(tmp_path, how):
    """The process may be killed or interrupted, or the disk may be full, which is a one-line error."""
    (tmp_path / "qrels").write_text("q1 0 d1 1\nq2 0 d1 1\n")
    folder = tmp_path / "temporary"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", STOPPED, tmp_path / "qrels", write(tmp_path, "run"), str(int(how))],
        env={**os.environ, "TMPDIR": str(folder)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == -how, done.stderr
    assert os.listdir(folder) == []
    if how == 0:
        assert done.stdout == (
            f"{folder}: the rows of a run are not grouped by query, and the temporary file to group them cannot be "
            "written here (File too large): set the environment variable TMPDIR to another folder\n"
        )
        assert done.stderr == ""
