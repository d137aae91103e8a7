"""Checkpoints: an evaluation that was interrupted resumes, and does not repeat the runs that it had finished."""

import io
import os
import signal
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet
import pytest
from support.errors import message_of
from test_combining import MEASURES, QRELS, RUNS
from test_results import same

import tieaware
from tieaware import InputError, Results, _evaluate
from tieaware.inputs import Reading


@pytest.fixture
def folder(tmp_path):
    """Write judgments and four runs to files: two runs in files of their own, and two in one Parquet file."""
    lines = [f"{q} 0 {d} {label}\n" for q in QRELS for d, label in QRELS[q].items()]
    (tmp_path / "qrels").write_text("".join(lines))
    (tmp_path / "runs").mkdir()
    rows = {name: [(q, d, s) for q, docs in run.items() for d, s in docs.items()] for name, run in RUNS.items()}
    for i, name in enumerate(RUNS):
        lines = [f"{q} Q0 {d} 0 {s} t\n" for q, d, s in rows[name]]
        (tmp_path / "runs" / f"{name}{i}.run").write_text("".join(lines))
    table = [(f"{name} of/a/table", *row) for name in RUNS for row in rows[name]]
    columns = dict(zip(("run", "qid", "docno", "score"), map(list, zip(*table, strict=True)), strict=True))
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "runs" / "table.parquet")
    return tmp_path


@pytest.fixture
def evaluated(monkeypatch):
    """Record the names of the runs that are evaluated."""
    names = []
    evaluate_run = _evaluate._Evaluation.evaluate_run

    def recorded(self, i, *arguments):
        names.append(self._runs[i])
        return evaluate_run(self, i, *arguments)

    monkeypatch.setattr(_evaluate._Evaluation, "evaluate_run", recorded)
    return names


OPTIONS = [
    {}, {"queries": "both"}, {"queries": "shard"}, {"spread": True}, {"ties": "trec_eval", "queries": "both"},
    {"precision": "decimals:0", "threads": 1}, {"chance": True, "ties": "run_order"},
]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_finished_runs_are_not_evaluated_again(folder, evaluated, options):
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
    # Each checkpoint contains the results of a single run.
    alone = tieaware.evaluate(folder / "qrels", folder / "runs" / "dense1.run", MEASURES, **options)
    assert same(Results.load(out / "dense1.npz"), alone)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_measures_are_added_without_evaluating_the_others_again(folder, monkeypatch, options):
    given, out = (folder / "qrels", folder / "runs"), folder / "out"
    first, both = tieaware.evaluate(*given, "AP nDCG@3", **options, out=out), "RR AP nDCG@3"
    plans = []
    evaluate_views = _evaluate.evaluate_views
    monkeypatch.setattr(
        _evaluate, "evaluate_views",
        lambda *arguments, **others: plans.append(arguments[2]) or evaluate_views(*arguments, **others),
    )  # fmt: skip
    right = tieaware.evaluate(*given, both, **options)
    plans.clear()
    assert same(tieaware.evaluate(*given, both, **options, out=out), right)
    assert plans == [both, *[["RR"]] * len(right.runs)]
    plans.clear()
    assert same(tieaware.evaluate(*given, both, **options, out=out), right)
    # Fewer measures, in another order, are taken from the file, which keeps the others.
    assert same(tieaware.evaluate(*given, "AP nDCG@3", **options, out=out), first)
    assert plans == [both, "AP nDCG@3"]
    assert Results.load(out / "dense1.npz").names == ("AP", "nDCG@3", "RR")


def test_no_name_of_a_run_leads_out_of_the_folder(folder):
    """On Windows, a backslash separates folders, and a colon follows the letter of a drive."""
    tieaware.evaluate(folder / "qrels", {"..\\C:x/y%\0": folder / "runs" / "dense1.run"}, "AP", out=folder / "out")
    assert [path.name for path in (folder / "out").iterdir()] == ["%2E.%5CC%3Ax%2Fy%25%00.npz"]


def test_a_run_whose_file_has_changed_is_evaluated_again(folder, evaluated):
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
        ({"ties": "optimistic"}, "made with another tie rule (average instead of optimistic)"),
        ({"spread": True}, "made with another setting of the spread (False instead of True)"),
        ({"chance": True}, "made with another setting of chance (False instead of True)"),
        ({"queries": "both"}, "made with another choice of queries (judged instead of both)"),
        ({"precision": "float16"}, "made with another score precision (None instead of float16)"),
        ({"qrels": {**QRELS, "q1": {"d1": 7}}}, "made with other judgments"),
        ({"order": "file"}, "made with another order of documents (score instead of file)"),
        ({"undefined": float("nan")}, "made with another value of undefined (0.0 instead of nan)"),
        ({"runs": "float32"}, "made with another type of scores (float64 instead of float32)"),
    ],
)  # fmt: skip
def test_checkpoints_of_other_evaluations_are_neither_used_nor_lost(folder, evaluated, changed, message):
    given = {"qrels": folder / "qrels", "runs": folder / "runs", "measures": "AP", "out": folder / "out"}
    tieaware.evaluate(**{**given, "runs": folder / "runs" / "dense1.run"})
    before = (folder / "out" / "dense1.npz").read_bytes()
    evaluated.clear()
    if "runs" in changed:
        changed = {"runs": tieaware.inputs.sources_at(folder / "runs", Reading("float32"))}
    assert message_of(tieaware.evaluate, **{**given, **changed}) == (
        f"{folder}/out/dense1.npz: the checkpoint was {message}; choose another folder, or remove this file"
    )
    assert evaluated == []
    assert (folder / "out" / "dense1.npz").read_bytes() == before


SUBTOPICS = tieaware.Qrels.from_dict({"q": {"a": {"d1": 1}, "b": {"d2": 1}}})


@pytest.mark.parametrize(
    ("qrels", "other", "measure"),
    [
        ({"q": {"d1": 0.5}}, {"q": {"d1": 0.25}}, "DCG"),
        # The labels of the documents are the same.
        (SUBTOPICS, {"q": {"a": {"d1": 1, "d2": 1}, "b": {"d2": 1}}}, "StRecall@1"),
        (SUBTOPICS, SUBTOPICS.with_intents({"q": {"a": 1, "b": 2}}), "StRecall@1"),
    ],
    ids=["real labels", "subtopics", "weights of subtopics"],
)
def test_checkpoints_know_the_judgments(tmp_path, qrels, other, measure):
    run, options = tmp_path / "a.run", {"out": tmp_path / "out"}
    run.write_text("q Q0 d1 1 1.0 t\nq Q0 d2 2 1.0 t\n")
    first, again = (tieaware.evaluate(qrels, run, measure, **options) for _ in range(2))
    assert same(first, again)
    assert "made with other judgments" in message_of(tieaware.evaluate, other, run, measure, **options)


def test_a_file_that_is_no_checkpoint_is_refused(folder):
    (folder / "out").mkdir()
    path = folder / "out" / "dense1.npz"
    tieaware.evaluate(folder / "qrels", folder / "runs" / "dense1.run", "AP").save(path)
    (folder / "damaged").mkdir()
    (folder / "damaged" / "dense1.npz").write_bytes(path.read_bytes()[:-30])
    for out, message in (
        (folder / "out", "dense1.npz: the file is not a checkpoint; choose another folder"),
        (folder / "damaged", "dense1.npz: the file is damaged, or was not written by Results.save"),
        (folder / "qrels", f"out: {folder}/qrels is a file, not a folder"),
        (folder / "qrels" / "out", "out: the folder cannot be created: Not a directory"),
        (5, "out: expected the path of a folder, found 5"),
    ):
        assert message in message_of(tieaware.evaluate, folder / "qrels", folder / "runs", "AP", out=out)


def test_a_run_that_is_not_in_a_file_has_no_checkpoint(folder):
    table = pa.table({"qid": ["q1"], "docno": ["d1"], "score": [1.0]})
    for run in (RUNS["bm25"], io.BytesIO(b"q1 Q0 d1 0 1 t\n"), table):
        with pytest.raises(InputError, match="runs: bm25: checkpoints need a run in a file, because"):
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
def test_an_interrupted_evaluation_resumes(folder, evaluated, how):
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


def test_an_unreadable_run_leaves_the_checkpoints_of_the_others(folder, evaluated):
    path = folder / "runs" / "zzz.run"
    path.write_text("q1 Q0 d1 0 one t\n")
    given = folder / "qrels", folder / "runs", "AP"
    with pytest.raises(InputError, match=r"zzz.run:1: the score, field 5, must be a number"):
        tieaware.evaluate(*given, threads=1, out=folder / "out")
    path.write_text("q1 Q0 d1 0 1 t\n")
    evaluated.clear()
    tieaware.evaluate(*given, out=folder / "out")
    assert evaluated == ["zzz"]


def test_the_command_writes_checkpoints(folder):
    program = "import sys; from tieaware.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "eval", "qrels", "runs", "-m", "AP", "--out", "out"]
    command += ["--queries", "judged"]
    once, again = (subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False) for _ in range(2))
    assert (once.returncode, once.stderr) == (0, "")
    assert once.stdout == again.stdout
    assert len(list((folder / "out").iterdir())) == 4
    other = subprocess.run([*command, "--ties", "optimistic"], cwd=folder, capture_output=True, text=True, check=False)
    assert other.returncode == 2
    assert "made with another tie rule (average instead of optimistic);" in other.stderr
    assert other.stderr.count("\n") == 1
