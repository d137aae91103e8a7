"""Reading and writing of sample collections, and the embedded sample."""

import lzma
import subprocess
import sys

import pytest

from tieaware import samples
from tieaware.samples.__main__ import main


@pytest.fixture(scope="module")
def collection():
    return samples.generate()


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_collection_is_written_as_trec_files(tmp_path):
    collection = samples.Collection(
        {"q1": "Noise at sea"},
        {"q1": {"d1": 2, "d2": -1}},
        {"mine": {"q1": {"d3": 0.1 + 0.2, "d1": 5.0, "d2": 1e-7, "d4": -0.0}}},
    )
    samples.write(collection, tmp_path / "new" / "folder")
    assert contents(tmp_path / "new") == {
        "folder/topics.tsv": b"q1\tNoise at sea\n",
        "folder/qrels.txt": b"q1 0 d1 2\nq1 0 d2 -1\n",
        "folder/runs/mine.run": (
            b"q1 Q0 d3 1 0.30000000000000004 mine\nq1 Q0 d1 2 5 mine\n"
            b"q1 Q0 d2 3 1e-07 mine\nq1 Q0 d4 4 -0 mine\n"
        ),
    }


@pytest.mark.parametrize("compress", [False, True])
def test_a_written_collection_is_read_back_exactly(tmp_path, compress):
    generated = samples.generate(n_queries=5, depth=30)
    runs = {"zeta": generated.runs["constant"], "alpha": generated.runs["bfloat16"], **generated.runs}
    collection = samples.Collection(generated.topics, generated.qrels, runs)
    samples.write(collection, tmp_path / "sample", compress=compress)
    read = samples.load(tmp_path / "sample")
    assert read == collection
    assert list(read.runs) == [*samples.RUN_NAMES, "alpha", "zeta"]
    for name, run in runs.items():
        for query, scores in run.items():
            assert list(read.runs[name][query]) == list(scores)


def test_write_leaves_nothing_behind_when_it_fails(tmp_path):
    collection = samples.Collection({"q1": "Noise"}, {"q1": {"d1": 1}}, {"bad": {"q1": {"d1": "high"}}})
    with pytest.raises(ValueError, match="high"):
        samples.write(collection, tmp_path / "sample")
    assert list(tmp_path.iterdir()) == []


def test_write_refuses_an_existing_folder(tmp_path):
    with pytest.raises(FileExistsError, match="the folder already exists"):
        samples.write(samples.Collection({}, {}, {}), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_error_names_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"topics\.tsv"):
        samples.load(tmp_path)


def test_the_embedded_sample_equals_the_generated_collection(collection, tmp_path):
    samples.write(collection, tmp_path / "sample")
    shipped = contents(samples.sample_files())
    assert {name: lzma.decompress(data) for name, data in shipped.items()} == {
        name + ".xz": data for name, data in contents(tmp_path / "sample").items()
    }
    assert sum(map(len, shipped.values())) < 200_000
    assert samples.load() == collection


def test_the_command_writes_a_collection(tmp_path):
    out = tmp_path / "sample"
    arguments = ["--out", str(out), "--seed", "5", "--queries", "2", "--depth", "9", "--compress"]
    assert main(arguments) == 0
    assert samples.load(out) == samples.generate(5, 2, 9)
    assert all(name.endswith(".xz") for name in contents(out))


@pytest.mark.slow
def test_the_command_writes_the_same_bytes_each_time(tmp_path):
    for name in ("a", "b"):
        done = subprocess.run(
            [sys.executable, "-m", "tieaware.samples", "--queries", "2", "--compress", "--out", tmp_path / name],
            capture_output=True,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert samples.load(tmp_path / "a") == samples.generate(n_queries=2)


def test_the_command_reports_an_error_in_one_line(tmp_path, capsys):
    assert main(["--out", str(tmp_path / "sample"), "--queries", "0"]) == 2
    assert capsys.readouterr() == ("", "n_queries: expected a whole number from 1 to 1,000,000,000, found 0\n")
    assert main(["--out", str(tmp_path), "--queries", "1"]) == 2
    assert capsys.readouterr() == ("", f"{tmp_path}: the folder already exists\n")
