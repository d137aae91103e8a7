"""Outputs are written to local files only: a URL is an error, not a new folder called "s3:"."""

import os
import re
from pathlib import Path

import pytest
from tieaware.runtime.remote_paths import url_in

import tieaware
from tieaware import experiments
from tieaware.cli import main
from tieaware.errors import InputError

QRELS = {"q1": {"d1": 1}, "q2": {"d1": 1}}
RUN = {"q1": {"d1": 1.0, "d2": 1.0}, "q2": {"d1": 1.0}}
WRITES = "tieaware writes to local files only: choose a local path, and copy it there"


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("q1 0 d1 1\nq2 0 d1 1\n")
    Path("bm25.run").write_text("q1 Q0 d1 1 2 t\nq2 Q0 d1 1 2 t\n")


def checkpoints(path):
    tieaware.evaluate("qrels", "bm25.run", "AP", out=path)


def results():
    return tieaware.evaluate(QRELS, {"bm25": RUN}, "AP")


WRITERS = [
    checkpoints,
    lambda path: results().save(f"{path}.npz"),
    lambda path: results().to_csv(f"{path}.csv"),
    lambda path: results().means().to_csv(f"{path}.csv"),
    lambda path: tieaware.Run.from_dict(RUN).write(f"{path}.run"),
    lambda path: experiments.tie_prevalence({"bm25": RUN}).write(path),
]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("url", ["s3://bucket/o", "hdfs:///o", "https://host/o"])
def test_writing_to_a_url_is_an_error(write, url):
    before = sorted(os.listdir())
    with pytest.raises(InputError, match=f"^{re.escape(url)}[^ ]*: {WRITES}$"):
        write(url)
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize("path", [Path("s3://bucket/o"), "file:///tmp/o"])
def test_a_path_object_and_a_file_url_are_refused_as_checkpoints(path):
    with pytest.raises(InputError, match=r"local path, and copy it there$|write the path instead of a URL: /tmp/o$"):
        checkpoints(path)
    assert sorted(os.listdir()) == ["bm25.run", "qrels"]


@pytest.mark.parametrize("arguments", [["eval", "qrels", "bm25.run", "-m", "AP"], ["ties", "bm25.run"]])
def test_commands_refuse_a_url_before_they_work(arguments, capfd):
    with pytest.raises(SystemExit):
        main([*arguments, "--out", "s3://bucket/o"])
    assert f"argument --out: s3://bucket/o: {WRITES}" in capfd.readouterr().err
    assert sorted(os.listdir()) == ["bm25.run", "qrels"]


def test_a_folder_of_checkpoints_is_not_named_like_a_file():
    with pytest.raises(InputError, match=r"^out: expected a folder, found o.parquet, the name of a file$"):
        checkpoints("o.parquet")
    with pytest.raises(InputError, match=r"^out: qrels is a file, not a folder$"):
        checkpoints("qrels")
    os.mkdir("old.csv")
    checkpoints("old.csv")
    assert os.listdir("old.csv") == ["bm25.npz"]


def test_a_local_path_may_look_like_a_url():
    os.mkdir("s3:")
    checkpoints("./s3:/o")
    assert os.listdir("s3:/o") == ["bm25.npz"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("s3://b/k", "s3://b/k"), ("s3:/b/k", "s3://b/k"), ("hdfs:///x/", "hdfs:///x/"), ("hdfs://n/x", "hdfs://n/x"),
        ("hdfs:/x", "hdfs:///x"), ("file:/x", "file:///x"),
    ],
)  # fmt: skip
def test_urls_are_shown_as_they_were_written(path, text):
    assert url_in(path).text == text


@pytest.mark.parametrize("path", ["c:/none.run", "none:/x", "runs/s3:x", "./s3:/b/k", "s3", "file:x"])
def test_other_paths_are_no_urls(path):
    assert url_in(path) is None
