"""The command ``tieaware fuse``: what it prints and writes, and its errors."""

import json
from typing import get_args

import numpy as np
import pytest

import tieaware
from tieaware.defaults import FUSION_METHODS
from tieaware.optimise.fusion import FusionMethod

pytest.importorskip("scipy")

QRELS = {f"q{q}": {"d0": 1, "d3": 0} for q in range(12)}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write judgments and three runs without ties."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    lines = [f"{query} 0 {d} {label}\n" for query, judged in QRELS.items() for d, label in judged.items()]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    for i, name in enumerate(("bm25", "dense", "rerank")):
        run = {
            query: {f"d{d}": float(0.4 * (d == 0) * (q % 3 != i) + rng.random()) for d in range(8)}
            for q, query in enumerate(QRELS)
        }
        tieaware.Run.from_dict(run, name=name).write(f"{name}.run")
    return tmp_path


@pytest.fixture
def fused(printed):
    """Return a function that fuses two runs, and returns what the command prints."""
    return lambda *options: printed("fuse", "qrels.txt", "bm25.run", "dense.run", *options)


def test_it_prints_a_sentence_the_means_and_the_weights(files, fused):
    out = fused("-m", "RR", "--folds", "4")
    outcome = tieaware.experiments.fusion("qrels.txt", ["bm25.run", "dense.run"], "RR", folds=4)
    printed = " ".join(out.split())
    assert printed.startswith(f"{outcome.verdict()} RR of bm25 + dense, by weight; 12 queries, min-max run RR diff")
    low, high = outcome.curves[0].interval
    assert f"RR is best, {outcome.value:.3f}, if dense has {low:.2f} to {high:.2f} of the weight" in printed
    lines = [line.split() for line in out.splitlines()]
    assert ["fused,", "weights", "from", "all", "queries", f"{outcome.value:.4f}", *"––––"] in lines
    assert any(line[:2] == ["RRF", f"{outcome.trial.others[0].mean():.4f}"] for line in lines)
    assert any(line[:3] == ["dense", "alone", f"{outcome.trial.others[2].mean():.4f}"] for line in lines)
    assert any(line[:2] == ["dense", f"{outcome.weights[1]:.4f}"] for line in lines)


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        (["--method", "rrf"], {"method": "rrf"}),
        (["--weights", "0.25,0.75"], {"weights": [0.25, 0.75]}),
        (["--method", "max", "--weights", "1,2", "--normalise", "z"],
         {"method": "max", "weights": [1, 2], "normalise": "z"}),
    ],
)  # fmt: skip
def test_a_method_and_weights_can_be_given(files, fused, options, arguments):
    """The fused run is compared with each run, and written."""
    out = " ".join(fused("-m", "RR", *options, "--run", "fused.run").split())
    expected = tieaware.fuse({"bm25": "bm25.run", "dense": "dense.run"}, **arguments)
    assert tieaware.read_run("fused.run").to_dict() == expected.to_dict()
    runs = {"bm25": "bm25.run", "dense": "dense.run", "fused": expected}
    results = tieaware.evaluate("qrels.txt", runs, "RR", spread=True)
    outcome = tieaware.experiments.compare(results, baseline="fused")
    decision, _, rest = out.partition(". By RR, ")
    assert decision.startswith(("Do not fuse them by ", "Fuse them by "))
    assert f"By RR, {rest}".startswith(outcome.verdict())


def test_fixed_weights_have_a_decision(tmp_path, monkeypatch, printed):
    """Each run puts the relevant document last in a third of the queries, by little, and first in the others."""
    monkeypatch.chdir(tmp_path)
    queries = [f"q{q}" for q in range(60)]
    (tmp_path / "qrels").write_text("".join(f"{query} 0 d0 1\n" for query in queries))
    for i, name in enumerate("abc"):
        run = {query: {"d0": 1.0 if q % 3 != i else 0.0, "d1": 0.4} for q, query in enumerate(queries)}
        tieaware.Run.from_dict(run, name=name).write(f"{name}.run")
    tieaware.Run.from_dict({query: {"d0": 1.0, "d1": 0.4} for query in queries}).write("good.run")
    tieaware.Run.from_dict({query: {"d0": 1.0, "d1": 0.4} for query in queries[1:]}).write("near.run")
    for arguments, decision in (
        ("a.run b.run c.run --weights 1,1,1", "Fuse them by the weights: the fused run is significantly better than "),
        ("a.run good.run --method rrf", "Do not fuse them by rrf: good alone earns as much. By RR,"),
        # The missing query counts 0, the best mean rank.
        ("near.run good.run --weights 0,1 -m MeanRank", "Do not fuse them by the weights: near alone earns as much."),
        ("near.run a.run --weights 9,1", "Fuse them by the weights or not, these queries cannot tell. By RR,"),
    ):
        options = () if " -m " in arguments else ("-m", "RR")
        out = printed("fuse", "qrels", *arguments.split(), *options, "--normalise", "none")
        assert " ".join(out.split()).startswith(decision)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "rrf", "--folds", "4"], "--folds is for a search, which --method and --weights replace"),
        (["--weights", "1,2", "--seed", "4"], "--seed is for a search, which --method and --weights replace"),
        (["fused.run", "--method", "rrf"], "a run is named fused, as the result is"),
    ],
)
def test_fusion_without_a_search_refuses_what_it_would_drop(files, refused, options, message):
    (files / "other").mkdir()
    for copy in ("other/bm25.run", "fused.run"):
        (files / copy).write_text((files / "bm25.run").read_text())
    assert message in refused("fuse", "qrels.txt", "bm25.run", "dense.run", *options)


def test_fusion_without_a_search_keeps_runs_of_the_same_name(files, fused):
    (files / "other").mkdir()
    (files / "other" / "bm25.run").write_text((files / "rerank.run").read_text())
    fused("other/bm25.run", "--method", "rrf", "--run", "fused.run")
    runs = {"a": "bm25.run", "b": "dense.run", "c": "other/bm25.run"}
    assert tieaware.read_run("fused.run").to_dict() == tieaware.fuse(runs, "rrf").to_dict()


def test_the_methods_are_those_of_the_library():
    assert get_args(FusionMethod) == FUSION_METHODS


@pytest.mark.parametrize("runs", [["bm25.run", "dense.run"], ["bm25.run", "dense.run", "rerank.run"]])
@pytest.mark.parametrize("options", [[], ["--normalise", "theoretical-min-max", "--minimum", "0"]])
def test_the_written_run_has_the_printed_value(files, printed, runs, options):
    printed("fuse", "qrels.txt", *runs, "-m", "AP", "--format", "csv", *options, "--run", "fused.run")
    text = printed("fuse", "qrels.txt", *runs, "-m", "AP", "--format", "csv", *options)
    rows = [line.split(",") for line in text.splitlines()]
    (best,) = [float(row[-5]) for row in rows if "weights from all queries" in ",".join(row)]
    assert float(tieaware.evaluate("qrels.txt", "fused.run", "AP")) == best
    assert tieaware.read_run("fused.run").to_dict()["q0"].keys() == {f"d{d}" for d in range(8)}


def test_a_search_for_many_weights_says_what_is_faster(files, command, monkeypatch):
    """The time grows with the square of the number of runs, and 42 runs take half an hour."""
    runs = "bm25.run dense.run rerank.run"
    assert "--method rrf" not in command(f"fuse qrels.txt {runs} --folds 2")[2]
    monkeypatch.setattr("tieaware.commands.fusion_commands._MANY_RUNS", 2)
    said = "the time of the search grows with the square of the number of runs, 3: fewer runs, "
    assert command(f"fuse qrels.txt {runs} --folds 2")[2].startswith(said)


def test_depth_cuts_the_written_run(files, command):
    found = command("fuse qrels.txt bm25.run dense.run --run fused.run.gz --depth 3")
    assert found[::2] == (0, "wrote fused.run.gz\n")
    assert {len(documents) for documents in tieaware.read_run("fused.run.gz").to_dict().values()} == {3}


def test_a_figure_and_a_report_are_written(files, command):
    pytest.importorskip("matplotlib")
    status, _, err = command("fuse qrels.txt bm25.run dense.run --plot curve.png --out report")
    assert (status, err.splitlines()) == (
        0, ["wrote report/report.html, and in the same folder 5 tables (.csv) and 1 figure (.svg, .png)",
            "wrote curve.png"],
    )  # fmt: skip
    assert (files / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert "tieaware " in (files / "report" / "report.html").read_text()
    assert sorted(path.stem for path in (files / "report").glob("*.csv")) == [
        "curves", "folds", "fusion", "queries", "weights",
    ]  # fmt: skip


def test_json_has_full_precision(files, fused):
    outcome = tieaware.experiments.fusion("qrels.txt", ["bm25.run", "dense.run"], "AP")
    found = json.loads(fused("-m", "AP", "--format", "json"))
    assert found["tables"]["fusion"]["rows"][0]["AP"] == outcome.trial.held_out.values.mean()


@pytest.mark.parametrize("options", [(), ("--all",), ("--method", "rrf"), ("--weights", "0.4,0.6", "--normalise", "z")])
def test_json_has_the_sentence_and_the_same_keys(files, fused, options):
    text = fused("-m", "AP", *options)
    found = json.loads(fused("-m", "AP", *options, "--format", "json"))
    assert (list(found), found["schema"]) == (["schema", "sentence", "title", "tables"], 1)
    assert " ".join(text.split()).startswith(found["sentence"])
    assert len(found["sentence"]) > 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bm25.run"], "RUN: must be at least two runs to fuse; see tieaware fuse --help"),
        (["bm25.run", "dense.run", "-m", "AP", "-m", "RR"],
         "-m: expected a single measure, because it chooses the weights, found AP, RR; see tieaware fuse --help"),
        (["bm25.run", "dense.run", "--folds", "13"],
         "--folds: must be at most the number of queries, 12; found 13; see tieaware fuse --help"),
        (["bm25.run", "dense.run", "--missing", "lowest"],
         "--missing: expected 'least', 'zero' or a number, found 'lowest'; see tieaware fuse --help"),
        (["bm25.run", "dense.run", "--minimum", "0"],
         "--minimum: is for normalise=\"theoretical-min-max\", not for 'min-max'; see tieaware fuse --help"),
        (["bm25.run", "dense.run", "--normalise", "theoretical-min-max", *(["--minimum", "0"] * 3)],
         "--minimum: must have one number for each of the 2 runs; found 3; see tieaware fuse --help"),
        (["bm25.run", "dense.run", "--normalise", "theoretical-min-max", "--minimum", "2"],
         "which is below its minimum, 2"),
        (["bm25.run", "other.run"],
         "have no query in common: bm25 has 'q0' and other has 'x'; see tieaware fuse --help"),
        (["bm25.run", "dense.run", "--depth", "5"], "--depth requires --run; see tieaware fuse --help"),
        (["bm25.run", "dense.run", "--report", "r"], "--report has another name here: write --out FOLDER; see tieaware "
         "fuse --help"),
        (["bm25.run", "dense.run", "--run", "f.run", "--depth", "0"],
         "--depth: expected a whole number of at least 1, found 0; see tieaware fuse --help"),
        (["bm25.run", "dense.run", "--run", "f.json"],
         "f.json: a run cannot be written as a .json file; use .run, .txt or .trec for a TREC file, or .parquet"),
        (["bm25.run", "dense.run", "--run", "missing/f.run"], "missing/f.run: No such file or directory"),
        (["bm25.run", "dense.run", "--normalise", "minmax"],
         "sum, rank, rrf, none, found 'minmax'; did you mean min-max? See tieaware fuse --help"),
    ],
)  # fmt: skip
def test_errors_have_one_line_and_write_nothing(files, refused, arguments, message):
    (files / "other.run").write_text("x Q0 d1 1 1.0 other\n")
    before = sorted(files.iterdir())
    assert refused("fuse", "qrels.txt", *arguments).endswith(f"{message}\n")
    assert sorted(files.iterdir()) == before


def test_judgments_without_a_relevant_document_are_refused(files, refused):
    (files / "none.txt").write_text("".join(f"{query} 0 d0 0\n" for query in QRELS))
    found = refused("fuse none.txt bm25.run dense.run")
    assert found == "none.txt: has no query with a relevant document, so no weight is better than another\n"
