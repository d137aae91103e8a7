"""Files of a hundred million rows, and of a million queries."""

from __future__ import annotations

import pytest
from measuring import measured

N_QUERIES, DEPTH = 1000, 100_000
MEASURES = "AP,nDCG@10,P@100,RR"

EVALUATE = """
threads = int(sys.argv[4])
results = tieaware.evaluate(sys.argv[1], sys.argv[2], sys.argv[3].split(","), threads=threads)
result = [len(results.queries), *sorted(map(list, {tuple(row) for row in results.values[0].tolist()}))]
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Give judgments and a run of 10^8 lines in two files: with interleaved queries, and sorted by query.

    All queries have the same documents, scores and labels, so their values are equal.
    """
    folder = tmp_path_factory.mktemp("large")
    (folder / "qrels").write_text("".join(f"q{q} 0 d{d:05d} 1\n" for q in range(N_QUERIES) for d in range(0, 300, 7)))
    # Lines of equal length, in which the document and the score are then replaced.
    rows = b"".join(b"q%d Q0 dDDDDD 0 SSSS t\n" % q for q in range(N_QUERIES))
    with open(folder / "interleaved", "wb") as file:
        for d in range(DEPTH):
            file.write(rows.replace(b"DDDDD", b"%05d" % d).replace(b"SSSS", b"%04d" % (d % 2000)))
    lines = b"".join(b"Q Q0 d%05d 0 %04d t\n" % (d, d % 2000) for d in range(DEPTH))
    with open(folder / "by_query", "wb") as file:
        for q in range(N_QUERIES):
            file.write(lines.replace(b"Q Q0", b"q%d Q0" % q))
    assert (folder / "interleaved").stat().st_size == (folder / "by_query").stat().st_size > 2e9
    yield folder
    (folder / "interleaved").unlink()
    (folder / "by_query").unlink()


@pytest.fixture(scope="module")
def right():
    """Give the values of one query, evaluated from a dict."""
    program = """
    qrels = {"q": {f"d{d:05d}": 1 for d in range(0, 300, 7)}}
    run = {"q": {f"d{d:05d}": float(d % 2000) for d in range(int(sys.argv[1]))}}
    result = tieaware.evaluate(qrels, run, sys.argv[2].split(",")).values[0, 0].tolist()
    """
    return measured("one query from a dict", program, DEPTH, MEASURES).result


@pytest.mark.parametrize("threads", [1, 2])
def test_text_sorted_by_query(large, right, threads):
    found = measured(
        f"10^8 lines by query, threads={threads}", EVALUATE, large / "qrels", large / "by_query", MEASURES, threads
    )
    assert found.result == [N_QUERIES, right]
    assert found.gigabytes < 0.3


def test_text_with_interleaved_queries(large, right):
    """The reader groups the lines by query in a temporary file."""
    found = measured("10^8 lines interleaved", EVALUATE, large / "qrels", large / "interleaved", MEASURES, 2)
    assert found.result == [N_QUERIES, right]
    assert found.gigabytes < 0.6


WRITE = """
import pyarrow, pyarrow.parquet
folder, n, depth, by_query = sys.argv[1], *map(int, sys.argv[2:5])
columns = {"query_id": pyarrow.string(), "doc_id": pyarrow.string(), "score": pyarrow.float32()}
queries, documents = pyarrow.array([f"q{q}" for q in range(n)]), pyarrow.array([f"d{d:05d}" for d in range(depth)])
with pyarrow.parquet.ParquetWriter(f"{folder}/run.parquet", pyarrow.schema(columns)) as file:
    for i in range(0, n * depth, 10**6):
        row = np.arange(i, i + 10**6)
        q, d = np.divmod(row, depth) if by_query else np.divmod(row, n)[::-1]
        columns = [queries.take(pyarrow.array(q)), documents.take(pyarrow.array(d)), (d % 2000).astype(np.float32)]
        file.write_table(pyarrow.table(columns, schema=file.schema))
result = None
"""


@pytest.mark.parametrize(("by_query", "gigabytes"), [(1, 0.5), (0, 0.8)])
def test_parquet(large, right, tmp_path, by_query, gigabytes):
    """The Parquet file has the same rows as the text files."""
    measured("10^8 rows of Parquet, written", WRITE, tmp_path, N_QUERIES, DEPTH, by_query)
    title = f"10^8 rows of Parquet, {'by query' if by_query else 'interleaved'}"
    found = measured(title, EVALUATE, large / "qrels", tmp_path / "run.parquet", MEASURES, 2)
    assert found.result == [N_QUERIES, right]
    assert found.gigabytes < gigabytes
    (tmp_path / "run.parquet").unlink()


def test_a_million_queries(tmp_path):
    n = 10**6
    with open(tmp_path / "qrels", "w") as qrels, open(tmp_path / "run", "w") as run:
        for q in range(n):
            qrels.write(f"{q} 0 a 1\n{q} 0 b 0\n")
            run.write(f"{q} Q0 b 1 {q % 3} t\n{q} Q0 a 2 1 t\n{q} Q0 c 3 0 t\n")
    found = measured("10^6 queries in files", EVALUATE, tmp_path / "qrels", tmp_path / "run", "RR", 2)
    # b comes first, ties with a, or comes last.
    assert found.result == [n, *map(list, sorted([(0.5,), (0.75,), (1.0,)]))]
    assert found.gigabytes < 2
