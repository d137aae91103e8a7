"""Paths of files on the network: the error shows expressions to pass instead, and these work."""

import gzip
import importlib
import re
from pathlib import Path

import polars as pl
import pytest

import tieaware
from tieaware.errors import InputError

QRELS = {"q1": {"d1": 1, "d3": 1}}
RUN = {"qid": ["q1"] * 3, "docno": ["d1", "d2", "d3"], "score": [0.5, 0.5, 0.1]}


def trec(frame):
    return "".join(f"{query} Q0 {doc} 0 {score} t\n" for query, doc, score in frame.iter_rows())


WRITERS = {
    "": lambda frame, path: frame.write_parquet(path),
    ".parquet": lambda frame, path: frame.write_parquet(path),
    ".csv": lambda frame, path: frame.write_csv(path),
    ".tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    ".csv.gz": lambda frame, path: Path(path).write_bytes(gzip.compress(frame.write_csv().encode())),
    ".run.gz": lambda frame, path: Path(path).write_bytes(gzip.compress(trec(frame).encode())),
    ".jsonl": lambda frame, path: frame.write_ndjson(path),
    ".ndjson": lambda frame, path: frame.write_ndjson(path),
    ".feather": lambda frame, path: frame.write_ipc(path),
    ".arrow": lambda frame, path: frame.write_ipc(path),
    ".run": lambda frame, path: Path(path).write_text(trec(frame)),
}


def expressions(path):
    with pytest.raises(InputError) as caught:
        tieaware.evaluate(QRELS, {"bm25": path}, "AP")
    problem = "tieaware reads local files only: download the file, or in Python pass"
    found = re.fullmatch(rf"(.*): {problem} (.*)", f"{caught.value}")
    assert found[1] == str(path)
    return found[2].split(" or ")


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("scheme", ["s3", "https"])
def test_the_expressions_in_the_error_work(scheme, suffix, tmp_path):
    """They are evaluated with the path of a local file in place of the URL."""
    url = f"{scheme}://bucket/runs/bm25{suffix}"
    local = f"{tmp_path}/bm25{suffix}"
    WRITERS[suffix](pl.DataFrame(RUN), local)
    expected = tieaware.evaluate(QRELS, {"bm25": tieaware.Run.from_frame(pl.DataFrame(RUN))}, "AP").values.tobytes()
    for expression in expressions(url):
        modules = [name for name in ("polars", "duckdb", "fsspec", "urllib.request") if name in expression]
        path = f"file://{local}" if "urllib" in expression else local
        names = {module.partition(".")[0]: pytest.importorskip(module.partition(".")[0]) for module in modules}
        for module in modules:
            importlib.import_module(module)
        run = eval(expression.replace(url, path), names)
        assert tieaware.evaluate(QRELS, {"bm25": run}, "AP").values.tobytes() == expected
        if hasattr(run, "read"):
            run.close()


@pytest.mark.parametrize(
    "path",
    ["s3://b/x.parquet", "gs://b/parts/*.parquet", "hf://datasets/a/b/x.parquet", "http://h/x", "abfss://c@a/x.parquet"],
)
def test_every_store_is_recognised(path):
    assert expressions(path)[0].startswith("polars.scan_parquet")
    with pytest.raises(InputError, match="tieaware reads local files only"):
        tieaware.evaluate(path, {"bm25": {"q": {"d": 1.0}}}, "AP")
    with pytest.raises(InputError, match="tieaware reads local files only"):
        tieaware.read_run([path, path])


@pytest.mark.parametrize("path", ["file:///tmp/x", "file://localhost/tmp/x"])
def test_a_file_url_is_a_local_path(path):
    with pytest.raises(InputError, match=rf"^{path}: write the path instead of a URL: /tmp/x$"):
        tieaware.read_run(path)


def test_a_url_is_shown_as_it_was_written():
    assert expressions("hdfs:///x/") == ["pyarrow.dataset.dataset('hdfs:///x/')"]
    assert expressions("hdfs:///x.csv") == ["fsspec.open('hdfs:///x.csv').open()"]


def test_a_path_object_has_lost_a_slash():
    with pytest.raises(InputError, match=re.escape("polars.scan_parquet('s3://b/x.parquet')")):
        tieaware.read_run(Path("s3://b/x.parquet"))


@pytest.mark.parametrize("path", ["c:/none.run", "none:/x", "runs/s3:x", "s3"])
def test_other_paths_are_local(path):
    with pytest.raises(InputError, match="there is no such file"):
        tieaware.read_run(path)
