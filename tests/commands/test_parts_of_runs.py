"""The option --name, which makes one run of several files."""

from pathlib import Path

import pytest


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("q1 0 d1 1\nq2 0 d1 1\n")
    Path("parts").mkdir()
    Path("parts/part-00000").write_text("q1 Q0 d1 1 2 t\nq1 Q0 d2 2 2 t\n")
    Path("parts/part-00001").write_text("q2 Q0 d1 1 2 t\nq1 Q0 d3 1 3 t")
    Path("parts/_SUCCESS").touch()


EVAL = ("eval", "qrels.txt", "-m", "AP", "--format", "csv")


@pytest.mark.parametrize(
    "given", [["parts"], ["parts/"], ["parts/part*"], ["parts/part-00000", "parts/part-00001"],
              ["parts/_SUCCESS", "parts/part-00001", "parts/part-00000"]],
)  # fmt: skip
def test_all_files_are_one_run(given, files, command):
    expected = "run,query,AP\nbm25,all,0.7083333333333334\n"
    assert command(*EVAL, *given, "--name", "bm25") == (0, expected, "")


def test_the_option_may_stand_before_the_files(files, printed):
    expected = printed(*EVAL, "parts", "--name", "bm25")
    assert printed(*EVAL, "--name", "bm25", "parts/part-00000", "parts/part-00001") == expected


@pytest.mark.parametrize("other", ["ties parts", "curve qrels.txt parts", "precision qrels.txt parts -m AP --all"])
def test_other_commands_have_the_option(other, files, command):
    status, out, err = command(*other.split(), "--name", "bm25", "--format", "csv")
    assert (status, err) == (0, "")
    assert "bm25" in out
    assert "part-0" not in out


def test_results_are_saved_under_the_name(files, printed):
    for _ in range(2):
        printed(*EVAL, "parts", "--name", "bm25", "--out", "done")
    assert [path.name for path in Path("done").iterdir()] == ["bm25.npz"]


def test_without_a_name_there_is_a_warning(files, command):
    status, out, err = command(*EVAL, "parts")
    assert (status, out.count("\n")) == (0, 3)
    assert err == (
        "warning: runs: part-00000 … part-00001 look like parts of one run, but are evaluated as 2 runs: "
        "write NAME=FOLDER to evaluate the parts of a run as one\n"
    )


def test_each_of_two_folders_of_parts_is_a_run(files, command):
    Path("other run").mkdir()
    for part in ("part-00000", "part-00001"):
        Path("other run", part).write_bytes(Path("parts", part).read_bytes())
    assert command(*EVAL, "parts=parts", "other run=other run")[1:] == (
        "run,query,AP\nparts,all,0.7083333333333334\nother run,all,0.7083333333333334\n",
        "",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["parts", "--name", "a", "--name", "b"],
            "--name can be given only once: it makes one run of all RUN files; write NAME=PATH for each run; "
            "see tieaware eval --help",
        ),
        (
            ["a=parts", "parts/part-00000", "--name", "dense"],
            "--name makes one run of all RUN arguments, but a=parts names a run of its own: leave out --name, and "
            "write dense=parts/part-00000; see tieaware eval --help",
        ),
        (["none", "--name", "a"], "none: there is no such file"),
        (["parts/none", "parts/part-00000", "--name", "a"], "parts/none: there is no such file"),
        (
            ["empty", "--name", "a"],
            "empty: there are no part files in this folder",
        ),
    ],
)
def test_mistakes(arguments, message, files, refused):
    Path("empty").mkdir()
    assert refused(*EVAL, *arguments) == f"{message}\n"


def test_named_folders_are_runs_beside_other_files(files, command):
    Path("other.run").write_text("q1 Q0 d1 1 2 t\nq2 Q0 d1 1 2 t\n")
    expected = "run,query,AP\nbm25,all,0.7083333333333334\nother,all,1.0\nagain,all,0.7083333333333334\n"
    assert command(*EVAL, "bm25=parts", "other.run", "again=parts/part*") == (0, expected, "")


def test_a_file_whose_name_has_an_equals_sign_is_read(files, command):
    Path("a=b.run").write_text("q1 Q0 d1 1 2 t\nq2 Q0 d1 1 2 t\n")
    assert command(*EVAL, "a=b.run") == (0, "run,query,AP\na=b,all,1.0\n", "")


@pytest.mark.parametrize("name", ["part-00002.parquet", "part-00002.csv"])
def test_an_empty_part_of_a_table_is_an_error(files, name, refused):
    Path("parts", name).touch()
    assert f"parts/{name}: this part is empty: it was not written to its end" in refused(*EVAL, "bm25=parts")


def test_a_name_is_given_to_one_run_only(files, refused):
    parts = "parts/part-00000", "parts/part-00001"
    message = f"two runs are named bm25; for parts of one run write --name bm25 {parts[0]} {parts[1]}"
    assert message in refused(*EVAL, *(f"bm25={part}" for part in parts))
