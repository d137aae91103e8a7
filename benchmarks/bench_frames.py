"""Seven million rows in data frames and Arrow tables: the time, compared with the same rows in a file, and memory."""

from __future__ import annotations

import json
import sys
from functools import partial

import numpy as np
import pytest

import tieaware
from benchmarks.processes import run
from benchmarks.ratios import Ratio
from benchmarks.workloads import distinct_scores, labels

pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")

SECTION = "Data frames and Arrow"
MEASURES = ("AP", "RR", "nDCG@10", "R@1000")
# The target: at most this many bytes of memory in addition to the table.
MOST_MEMORY = 300e6

# A program that evaluates a table in memory, and prints by how many bytes the memory of the process rises meanwhile.
BESIDE = """
import json, resource, sys
import polars as pl
import tieaware

form, folder = sys.argv[1:]
frame = pl.read_parquet(f"{folder}/run.parquet")
table = frame if form == "polars" else frame.to_arrow() if form == "pyarrow" else None
del frame
qrels = tieaware.read_qrels(f"{folder}/qrels.txt")
tieaware.evaluate(qrels, {qrels.queries.to_list()[0]: {"d": 1.0}}, ["AP", "RR", "nDCG@10", "R@1000"])
with open("/proc/self/status") as status:
    before = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
with open("/proc/self/clear_refs", "w") as peak:
    peak.write("5")
means = tieaware.evaluate(qrels, table, ["AP", "RR", "nDCG@10", "R@1000"]).mean()[0].tolist()
with open("/proc/self/status") as status:
    after = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
print(json.dumps([means, 1024 * (after - before)]))
"""

# A program that evaluates a file, and prints the means of all runs.
FILE = """
import json, sys
import tieaware

folder, name = sys.argv[1:]
found = tieaware.evaluate(f"{folder}/qrels.txt", f"{folder}/{name}", ["AP", "RR", "nDCG@10", "R@1000"])
print(json.dumps(found.mean().tolist()))
"""

# A program that evaluates a stream with the given number of rows, a thousand per query. It makes each batch on demand.
STREAM = """
import sys
import numpy as np
import pyarrow as pa
import tieaware

n_batches = int(sys.argv[1]) // 10_000
documents = pa.array([f"d{i}" for i in range(1000)] * 10)
scores = pa.array(np.random.default_rng(1).random(10_000))
rows = pa.array(np.repeat(np.arange(10, dtype=np.int32), 1000))

def batches():
    for i in range(n_batches):
        queries = pa.DictionaryArray.from_arrays(rows, pa.array([f"q{10 * i + j}" for j in range(10)]))
        yield pa.record_batch({"query_id": queries, "doc_id": documents, "score": scores})

schema = next(batches()).schema
qrels = {f"q{query}": {"d1": 1, "d500": 1} for query in range(500)}
print(tieaware.evaluate(qrels, pa.RecordBatchReader.from_batches(schema, batches()), "AP").mean().item())
"""


@pytest.fixture(scope="module")
def rows(small, tmp_path_factory):
    """Write judgments and a run to files; yield the folder, and the rows of the run as a polars frame."""
    n_queries = 70 if small else 6_980
    scores = np.round(distinct_scores(n_queries, 1_000) * 20, 13)
    judged = labels(n_queries, 1_000, 1.1)
    rng = np.random.default_rng(2008)
    numbers = np.sort(rng.integers(1_000_000, 8_000_000, size=scores.shape), axis=1) + np.arange(1_000)
    rng.permuted(numbers, axis=1, out=numbers)
    queries = 1_000_000 + 13 * np.arange(n_queries)
    frame = pl.DataFrame(
        {"query_id": np.repeat(queries, 1_000), "doc_id": numbers.ravel(), "score": scores.ravel()}
    ).with_columns(pl.col("query_id", "doc_id").cast(pl.String))
    folder = tmp_path_factory.mktemp("frames")
    with open(folder / "run.trec", "w") as run_file, open(folder / "qrels.txt", "w") as qrels_file:
        for i, query in enumerate(queries.tolist()):
            documents, listed = numbers[i].tolist(), scores[i].tolist()
            run_file.writelines(
                f"{query} Q0 {document} 0 {score!r} run\n" for document, score in zip(documents, listed, strict=True)
            )
            qrels_file.writelines(f"{query} 0 {documents[j]} 1\n" for j in np.flatnonzero(judged[i]).tolist())
    frame.write_parquet(folder / "run.parquet")
    yield folder, frame
    for path in folder.iterdir():
        path.unlink()


def objects(frame):
    columns = {name: frame[name].to_numpy() for name in frame.columns}
    return pd.DataFrame(columns).astype({"query_id": object, "doc_id": object})


FORMS = {
    "polars": (lambda frame, _: frame, 1.5),
    "pandas, object strings": (lambda frame, _: objects(frame), 6),
    "an Arrow table": (lambda frame, _: frame.to_arrow(), 1.5),
    "an Arrow stream": (lambda frame, _: frame.to_arrow(), 1.5),
    "Parquet": (lambda _, folder: folder / "run.parquet", 1.1),
}


@pytest.mark.parametrize("form", FORMS)
def test_frames(compare, rows, form):
    folder, frame = rows
    make, at_most = FORMS[form]
    table = make(frame, folder)
    qrels = tieaware.read_qrels(folder / "qrels.txt")
    given = table.to_reader if form == "an Arrow stream" else lambda: table

    def check() -> None:
        expected = tieaware.evaluate(qrels, folder / "run.trec", MEASURES)
        assert tieaware.evaluate(qrels, given(), MEASURES).values.tobytes() == expected.values.tobytes()

    compare(
        SECTION, f"{len(frame) / 1e6:.2f} million rows → four measures: {form}", check=check,
        contender=lambda: tieaware.evaluate(qrels, given(), MEASURES),
        baseline=partial(tieaware.evaluate, qrels, folder / "run.trec", MEASURES), to="the same rows in a file",
        at_most=at_most, budget=8,
    )  # fmt: skip


def test_ir_measures(compare, rows):
    """Measure pandas frames of judgments and of a run, because ir_measures takes this form."""
    ir_measures = pytest.importorskip("ir_measures")
    their_measures = ir_measures.AP, ir_measures.RR, ir_measures.nDCG @ 10, ir_measures.R @ 1000
    folder, frame = rows
    frame = frame[: len(frame) // 10]
    run = objects(frame)
    qrels = pl.read_csv(
        folder / "qrels.txt", separator=" ", has_header=False, new_columns=["query_id", "0", "doc_id", "relevance"],
        schema_overrides=[pl.String, pl.String, pl.String, pl.Int64],
    ).select("query_id", "doc_id", "relevance").to_pandas().astype({"query_id": object, "doc_id": object})  # fmt: skip
    qrels = qrels[qrels["query_id"].isin(run["query_id"].unique())]

    def check() -> None:
        mine = tieaware.evaluate(qrels, run, MEASURES).mean()[0]
        theirs = ir_measures.calc_aggregate(their_measures, qrels, run)
        np.testing.assert_allclose(mine, [theirs[measure] for measure in their_measures], rtol=0, atol=1e-9)

    compare(
        SECTION, f"{len(run) / 1e6:.2f} million rows of pandas, judgments too → four measures", check=check,
        contender=partial(tieaware.evaluate, qrels, run, MEASURES),
        baseline=partial(ir_measures.calc_aggregate, their_measures, qrels, run), to="ir_measures", at_most=0.1,
        budget=10,
    )  # fmt: skip


@pytest.mark.parametrize("form", ["polars", "pyarrow"])
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has peak memory in /proc")
def test_memory_beside_the_table(report, small, rows, form):
    folder, _ = rows
    means, beside = json.loads(run(sys.executable, "-c", BESIDE, form, folder).output)
    expected = tieaware.evaluate(folder / "qrels.txt", folder / "run.trec", MEASURES).mean()[0]
    assert means == expected.tolist()
    ratio = beside / MOST_MEMORY
    report(Ratio(SECTION, f"the same from {form}: peak memory beside it", "tieaware", "300 MB", ratio, ratio,
                 None if small else 1.0))  # fmt: skip


@pytest.mark.parametrize("order", ["one after another", "by query"])
def test_two_runs_in_a_column(compare, report, small, rows, order):
    """Measure a Parquet file in which a column tells two runs apart, compared with a file of each run."""
    folder, frame = rows
    half = frame.with_columns(score=-pl.col("score"))
    both = pl.concat([frame.with_columns(run=pl.lit("a")), half.with_columns(run=pl.lit("b"))])
    if order == "by query":
        both = both.sort("query_id", "run", maintain_order=True)
    half.write_parquet(folder / "b.parquet")
    both.write_parquet(folder / "both.parquet")
    del both, half
    qrels = tieaware.read_qrels(folder / "qrels.txt")
    files = [folder / "run.parquet", folder / "b.parquet"]
    peaks = []

    def check() -> None:
        expected = tieaware.evaluate(qrels, files, MEASURES)
        found = tieaware.evaluate(qrels, folder / "both.parquet", MEASURES)
        assert found.values.tobytes() == expected.values.tobytes()
        for name, means in (("both.parquet", expected.mean()), ("run.parquet", expected.mean()[:1])):
            process = run(sys.executable, "-c", FILE, folder, name)
            assert json.loads(process.output) == means.tolist()
            peaks.append(process.peak)

    workload = f"two runs of {len(frame) / 1e6:.2f} million rows in one Parquet file, {order}"
    compare(
        SECTION, workload, check=check, contender=partial(tieaware.evaluate, qrels, folder / "both.parquet", MEASURES),
        baseline=partial(tieaware.evaluate, qrels, files, MEASURES), to="a file per run",
        at_most=1.25 if order == "one after another" else 2.0, budget=8,
    )  # fmt: skip
    memory = peaks[0] / peaks[1]
    report(Ratio(SECTION, f"{workload}: peak memory", "tieaware", "of one run", memory, memory,
                 None if small else 1.5))  # fmt: skip


def test_memory_of_streams(report, small):
    few, many = (10**4, 10**5) if small else (10**7, 10**8)
    short, long = (run(sys.executable, "-c", STREAM, str(n)) for n in (few, many))
    assert 0 < float(short.output) <= float(long.output) < 1
    ratio = long.peak / short.peak
    report(Ratio(SECTION, "a stream of 10⁸ rows: peak memory", "tieaware", "of 10⁷ rows", ratio, ratio,
                 None if small else 1.1))  # fmt: skip
