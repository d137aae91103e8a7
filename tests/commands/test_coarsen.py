"""The command ``tieaware coarsen``, and the method Run.coarsen."""

import numpy as np
import pytest

import tieaware
from tieaware import InputError, Run

ROWS = "q1 Q0 d1 1 0.91 bm25\nq1 Q0 d2 2 0.88 bm25\nq1 Q0 d3 3 0.12 bm25\nq2 Q0 d9 1 -3.5 bm25\n"


@pytest.fixture
def run(tmp_path):
    (tmp_path / "bm25.run").write_text(ROWS)
    return str(tmp_path / "bm25.run")


def test_the_coarse_run_is_printed(run, printed):
    assert printed("coarsen", run, "--precision", "decimals:1") == (
        "q1 Q0 d1 1 0.9 bm25\nq1 Q0 d2 2 0.9 bm25\nq1 Q0 d3 3 0.1 bm25\nq2 Q0 d9 1 -3.5 bm25\n"
    )


def test_what_was_written_is_said(run, tmp_path, command):
    found = command("coarsen", run, "--precision", "decimals:1", "--run", tmp_path / "coarse.run")
    what = "with decimals:1, 50 % of the documents of bm25 tie with another; before, 0 %"
    assert found == (0, "", f"wrote {tmp_path}/coarse.run: {what}\n")


@pytest.mark.parametrize("precision", ["bands:2", "float16", "significant:1", "levels:2", "gap:0.05"])
def test_the_written_run_is_evaluated_like_the_precision(run, precision, tmp_path, printed):
    qrels = {"q1": {"d2": 1, "d3": 2}, "q2": {"d9": 1}}
    for name in ("coarse.run.gz", "coarse.parquet"):
        if name.endswith(".parquet"):
            pytest.importorskip("pyarrow")
        out = str(tmp_path / name)
        assert printed("coarsen", run, "--precision", precision, "--run", out) == ""
        expected = tieaware.evaluate(qrels, run, ["AP", "nDCG@2", "RR"], precision=precision).values
        np.testing.assert_array_equal(tieaware.evaluate(qrels, out, ["AP", "nDCG@2", "RR"]).values, expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("other.run --precision float16", "expected one run, found 2"),
        ("b.run --precision float16", "expected one run, found 2; the parts of one run need --name NAME"),
        ("--precision float17", "unknown precision 'float17'; did you mean float16"),
        ("--precision float16 --out c.run", "--out has another name here: write --run FILE; see tieaware coarsen"),
        ("--threads 1", "required: --precision"),
    ],
)
def test_wrong_calls_are_refused(run, tmp_path, monkeypatch, refused, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b.run").write_text(ROWS)
    assert message in refused(f"coarsen bm25.run {arguments}")


def test_a_coarsening_of_the_caller_is_checked():
    class Broken:
        def coarsen(self, scores, offsets):
            return scores[:-1]

        def __str__(self):
            return "broken"

    original = Run.from_dict({"q1": {"d1": 0.5, "d2": 0.25}}, name="bm25")
    with pytest.raises(InputError, match=r"^precision=broken: expected coarsened scores of shape \(2,\), found shape"):
        original.coarsen(Broken())
    assert original.coarsen("float32").name == "bm25"
    assert original.to_dict() == {"q1": {"d1": 0.5, "d2": 0.25}}
