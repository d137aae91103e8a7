"""Warnings of `tieaware eval`, `python -W`, and advice in errors that names options of commands."""

import os
import subprocess
import sys

import pytest

ONE = "the means count each as an empty list; --queries both leaves them out"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Make four judged queries, and two runs: a answers two of the queries, and b one."""
    monkeypatch.chdir(tmp_path)
    lines = [f"q{i} Q0 d1 1 2.5 t\n" for i in range(4)]
    (tmp_path / "qrels.txt").write_text("".join(f"q{i} 0 d1 1\n" for i in range(4)))
    (tmp_path / "lost").mkdir()
    (tmp_path / "lost" / "part-0").write_text("".join(lines[:2]))
    (tmp_path / "a.run").write_text("".join(lines[:2]))
    (tmp_path / "b.run").write_text(lines[0])
    (tmp_path / "whole.run").write_text("".join(lines))


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["bm25=lost"], "bm25 leaves 2 of 4 judged queries unanswered"),
        (["a.run", "whole.run"], "a leaves 2 of 4 judged queries unanswered"),
        (["a.run", "b.run", "whole.run"], "b and 1 other run leave up to 3 of 4 judged queries unanswered"),
        (["whole.run"], None),
        (["a.run", "--queries", "both"], None),
        (["a.run", "--queries", "judged"], None),
        (["a.run", "--format", "json"], None),
        (["a.run", "--table", "text"], None),
    ],
)
def test_one_line_tells_of_unanswered_queries(files, command, arguments, found):
    status, out, err = command("eval", "qrels.txt", *arguments, "-m", "AP")
    assert status == 0
    assert err == ("" if found is None else f"warning: {found}; {ONE}\n")
    assert "leave" not in out


def python(arguments, **environment):
    command = [sys.executable, *arguments, "-m", "tieaware", "eval", "qrels.txt", "b.run", "-m", "AP"]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environment, timeout=60)


@pytest.mark.parametrize(
    ("filters", "environment", "status", "start"),
    [
        ([], {"PYTHONWARNINGS": ""}, 0, "warning: b leaves 3 of 4 "),
        (["-W", "error::UserWarning"], {}, 2, "b leaves 3 of 4 "),
        ([], {"PYTHONWARNINGS": "error::UserWarning"}, 2, "b leaves 3 of 4 "),
        (["-W", "ignore"], {}, 0, ""),
    ],
)
def test_python_decides_about_warnings(files, filters, environment, status, start):
    done = python(filters, **environment)
    assert done.returncode == status
    assert done.stdout == ("AP                    \tall\t0.2500\n" if status == 0 else "")
    assert done.stderr.startswith(start)
    assert done.stderr.count("\n") == (1 if start else 0)


def test_two_runs_of_one_name(files, refused, tmp_path):
    for name in ("first.csv", "second.csv"):
        (tmp_path / name).write_text("query,doc,score,run\nq1,d1,1,bm25\nq1,d1,1,dense\n")
    assert "two runs are named 'bm25'" in refused("eval qrels.txt first.csv second.csv -m AP")
