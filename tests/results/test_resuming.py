"""A long evaluation that was stopped is taken up again from the runs that it had finished."""

import io
import os
import signal
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet
import pytest
from test_shards import MEASURES, QRELS, RUNS, same

import tieaware
from tieaware import InputError, Results, _evaluate


@pytest.fixture
def folder(tmp_path):
    """Judgments and four runs, of which one is a table, and two are of one table."""
    lines = [f"{q} 0 {d} {label}\n" for q in QRELS for d, label in QRELS[q].items()]
    (tmp_path / "qrels").write_text("".join(lines))
    (tmp_path / "runs").mkdir()
    rows = {name: [(q, d, s) for q, of in run.items() for d, s in of.items()] for name, run in RUNS.items()}
    for i, name in enumerate(RUNS):
        lines = [f"{q} Q0 {d} 0 {s} t\n" for q, d, s in rows[name]]
        (tmp_path / "runs" / f"{name}{i}.run").write_text("".join(lines))
    table = [(f"{name} of/a/table", *row) for name in RUNS for row in rows[name]]
    columns = dict(zip(("run", "qid", "docno", "score"), map(list, zip(*table, strict=True)), strict=True))
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "runs" / "table.parquet")
    return tmp_path


@pytest.fixture
def evaluated(monkeypatch):
    """The names of the runs that are evaluated, in what order they happen to be."""
    names = []
    evaluate_run = _evaluate._Evaluation.evaluate_run

    def noted(self, i, source):
        names.append(self._runs[i])
        return evaluate_run(self, i, source)

    monkeypatch.setattr(_evaluate._Evaluation, "evaluate_run", noted)
    return names


OPTIONS = [
    {}, {"queries": "both"}, {"queries": "shard"}, {"spread": True}, {"ties": "trec_eval", "queries": "both"},
    {"precision": "decimals:0", "threads": 1},
]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_what_is_finished_is_not_evaluated_again(folder, evaluated, options):
    given = folder / "qrels", folder / "runs", MEASURES
    right = tieaware.evaluate(*given, **options)
    out = folder / "out"
    assert same(tieaware.evaluate(*given, **options, out=out), right)
    assert sorted(path.name for path in out.iterdir()) == [
        "bm25 of%2Fa%2Ftable.npz", "bm250.npz", "dense of%2Fa%2Ftable.npz", "dense1.npz",
    ]  # fmt: skip
    evaluated.clear()
    assert same(tieaware.evaluate(*given, **options, out=out), right)
    assert evaluated == []
    (out / "dense1.npz").unlink()
    assert same(tieaware.evaluate(*given, **options, out=out), right)
    assert evaluated == ["dense1"]
    # Each file is what the run alone comes to.
    alone = tieaware.evaluate(folder / "qrels", folder / "runs" / "dense1.run", MEASURES, **options)
    assert same(Results.load(out / "dense1.npz"), alone)


def test_a_run_that_has_changed_is_evaluated_anew(folder, evaluated):
    given = folder / "qrels", folder / "runs", "AP"
    tieaware.evaluate(*given, out=folder / "out")
    with open(folder / "runs" / "dense1.run", "a") as run:
        run.write("q0 Q0 new 0 9 t\n")
    os.utime(folder / "runs" / "bm250.run", ns=(1, 1))
    evaluated.clear()
    right = tieaware.evaluate(*given)
    evaluated.clear()
    assert same(tieaware.evaluate(*given, out=folder / "out"), right)
    assert sorted(evaluated) == ["bm250", "dense1"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"measures": "RR"}, "expected results of measures='RR', found those of measures='AP'"),
        ({"ties": "optimistic"}, "expected results of ties='optimistic', found those of ties='average'"),
        ({"spread": True}, "expected results of spread=True, found those of spread=False"),
        ({"queries": "both"}, "expected results of queries='both', found those of queries='judged'"),
        ({"precision": "float16"}, "expected results of precision='float16', found those of precision=None"),
        ({"qrels": {**QRELS, "q1": {"d1": 7}}}, "expected results by these judgments, found those by others"),
        ({"runs": "float32"}, "expected results of score_dtype='float32', found those of score_dtype='float64'"),
    ],
)  # fmt: skip
def test_what_others_made_is_never_used_nor_lost(folder, evaluated, changed, message):
    given = {"qrels": folder / "qrels", "runs": folder / "runs", "measures": "AP", "out": folder / "out"}
    tieaware.evaluate(**{**given, "runs": folder / "runs" / "dense1.run"})
    before = (folder / "out" / "dense1.npz").read_bytes()
    evaluated.clear()
    if "runs" in changed:
        changed = {"runs": tieaware.inputs.sources_at(folder / "runs", "float32")}
    with pytest.raises(InputError, match=message) as error:
        tieaware.evaluate(**{**given, **changed})
    assert str(error.value).startswith(f"{folder}/out/dense1.npz: expected ")
    assert str(error.value).endswith("; take another folder, or remove the file")
    assert evaluated == []
    assert (folder / "out" / "dense1.npz").read_bytes() == before


def test_a_file_of_something_else_is_never_used(folder):
    given = folder / "qrels", folder / "runs", "AP"
    (folder / "out").mkdir()
    path = folder / "out" / "dense1.npz"
    tieaware.evaluate(folder / "qrels", folder / "runs" / "dense1.run", "AP").save(path)
    with pytest.raises(InputError, match=r"dense1.npz: expected a file that out= wrote, found results"):
        tieaware.evaluate(*given, out=folder / "out")
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(InputError, match=r"dense1.npz: expected a whole file of Results"):
        tieaware.evaluate(*given, out=folder / "out")
    with pytest.raises(InputError, match=r"qrels: the folder cannot be made: File exists"):
        tieaware.evaluate(*given, out=folder / "qrels")
    with pytest.raises(InputError, match="out: expected the path of a folder, found 5"):
        tieaware.evaluate(*given, out=5)


def test_a_run_that_is_in_no_file_is_refused(folder):
    table = pa.table({"qid": ["q1"], "docno": ["d1"], "score": [1.0]})
    for run in (RUNS["bm25"], io.BytesIO(b"q1 Q0 d1 0 1 t\n"), table):
        with pytest.raises(InputError, match="runs: bm25: expected a file for out=, which is known again by its"):
            tieaware.evaluate(QRELS, {"bm25": run}, "AP", out=folder / "out")
    assert not (folder / "out").exists()


STOPPED = """
import os, signal, sys, tieaware
from tieaware.results import checkpoints
folder, how = sys.argv[1:]
add = checkpoints.Checkpoints.add
n = 0

def counted(self, run, results):
    global n
    add(self, run, results)
    n += 1
    if n == 2:
        os.kill(os.getpid(), int(how))

checkpoints.Checkpoints.add = counted
tieaware.evaluate(f"{folder}/qrels", f"{folder}/runs", sys.stdin.read().split(), threads=1, out=f"{folder}/out")
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_what_was_stopped_is_taken_up_again(folder, evaluated, how):
    done = subprocess.run(
        [sys.executable, "-c", STOPPED, folder, str(int(how))], input=" ".join(MEASURES), text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == -how, done.stderr
    assert len(list((folder / "out").iterdir())) == 2
    given = folder / "qrels", folder / "runs", MEASURES
    resumed = tieaware.evaluate(*given, out=folder / "out")
    assert len(evaluated) == 2
    assert same(resumed, tieaware.evaluate(*given))


def test_a_run_that_cannot_be_read_leaves_the_others_finished(folder, evaluated):
    path = folder / "runs" / "zzz.run"
    path.write_text("q1 Q0 d1 0 one t\n")
    given = folder / "qrels", folder / "runs", "AP"
    with pytest.raises(InputError, match=r"zzz.run:1: expected a number"):
        tieaware.evaluate(*given, threads=1, out=folder / "out")
    path.write_text("q1 Q0 d1 0 1 t\n")
    evaluated.clear()
    tieaware.evaluate(*given, out=folder / "out")
    assert evaluated == ["zzz"]


def test_the_command_keeps_what_is_finished(folder):
    program = "import sys; from tieaware.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "eval", "qrels", "runs", "-m", "AP", "--out", "out"]
    once, again = (subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False) for _ in range(2))
    assert (once.returncode, once.stderr) == (0, "")
    assert once.stdout == again.stdout
    assert len(list((folder / "out").iterdir())) == 4
    other = subprocess.run([*command, "--ties", "optimistic"], cwd=folder, capture_output=True, text=True, check=False)
    assert other.returncode == 2
    assert "expected results of --ties optimistic, found those of --ties average;" in other.stderr
    assert other.stderr.count("\n") == 1
