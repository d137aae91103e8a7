"""Precision–recall and ROC curves."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from trec_files import read_qrels

import tieaware
from tieaware import InputError
from tieaware.cli import main
from tieaware.experiments import curves

pytest.importorskip("matplotlib")

pytestmark = pytest.mark.slow

QRELS = {"q1": {"a": 1, "c": 1}, "q2": {"b": 1}}
RUN = {"q1": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}, "q2": {"a": 1.0, "b": 1.0}}


def test_points_are_expected_precision_and_recall():
    outcome = curves(QRELS, RUN)
    np.testing.assert_allclose(outcome.y[0, 0], [1.0, 0.75, 2 / 3, 0.5])
    np.testing.assert_allclose(outcome.x[0, 0], [0.5, 0.75, 1.0, 1.0])
    assert outcome.tables()["curves"].rows[0] == ("run", (0.5 + 0.5) / 2, (1.0 + 0.5) / 2)


def test_interpolated_points_are_those_of_the_measure():
    outcome = curves(QRELS, RUN, "interpolated")
    expected = tieaware.evaluate(QRELS, RUN, [f"IPrec@{i / 10}" for i in range(11)]).values
    np.testing.assert_array_equal(outcome.y, expected)
    np.testing.assert_array_equal(outcome.x[0, 0], np.arange(11) / 10)


def test_the_area_under_the_roc_curve_is_the_auc():
    """Where all relevant documents are retrieved, and every rank is a point."""
    rng = np.random.default_rng(1)
    labels, scores = rng.integers(0, 2, 18), rng.integers(0, 5, 18) / 4
    qrels = {"q": {f"d{i}": int(label) for i, label in enumerate(labels)}}
    run = {"q": {f"d{i}": float(score) for i, score in enumerate(scores)}}
    outcome = curves(qrels, run, "roc")
    x, y = np.append(0, outcome.x[0, 0]), np.append(0, outcome.y[0, 0])
    area = ((x[1:] - x[:-1]) * (y[1:] + y[:-1]) / 2).sum()
    assert area == pytest.approx(roc_auc_score(labels, scores), rel=1e-12)
    assert area == pytest.approx(tieaware.evaluate(qrels, run, "AUC").values.item(), rel=1e-12)


def test_it_says_what_is_wrong():
    with pytest.raises(InputError, match="kind: expected one of precision-recall, interpolated, roc, found 'bow'"):
        curves(QRELS, RUN, "bow")


@pytest.mark.parametrize("kind", ["precision-recall", "interpolated", "roc"])
def test_the_command_traces_runs(collection, tmp_path, capfd, kind):
    runs = collection.runs[:3]
    plot = tmp_path / "curve.svg"
    assert main(["curve", str(collection.qrels), *map(str, runs), "--kind", kind, "--plot", str(plot)]) == 0
    assert plot.stat().st_size > 10_000
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == f"{kind} curves of 3 runs, averaged over {len(read_qrels(collection.qrels))} queries"
    # A row for each run, and the whole of the curves in the data.
    assert [sum(line.startswith(f"{run.stem} ") for line in lines) for run in runs] == [1, 1, 1]
    assert main(["curve", str(collection.qrels), *map(str, runs), "--kind", kind, "--format", "csv"]) == 0
    rows = capfd.readouterr().out.splitlines()[1:]
    assert (len(rows) == 33) if kind == "interpolated" else (len(rows) > 100)


def test_a_few_points_stand_for_a_curve():
    """The first rank, the last, and what is nearest to 10 and 100 from below."""
    run = {"q1": {f"d{i}": -float(i) for i in range(150)}}
    outcome = curves({"q1": {"d0": 1, "d9": 1}}, run)
    table = outcome.tables()["points"]
    ranks = [int(name.split()[-1]) for name in table.columns[1::2]]
    assert (ranks[0], ranks[1], ranks[-1], len(ranks)) == (1, 10, 150, 4)
    assert 90 < ranks[2] <= 100
    assert table.rows[0][:5] == ("run", 0.5, 1.0, 1.0, 0.2)
    assert str(outcome) == str(table)


def test_each_run_has_a_figure_of_its_queries(tmp_path):
    """Runs whose names make one file name among them."""
    outcome = curves(QRELS, {"a/b": RUN, "a_b": RUN}, "roc")
    outcome.write(tmp_path / "out")
    assert {"curves.png", "queries-1-a_b.svg", "queries-2-a_b.png"} <= {p.name for p in (tmp_path / "out").iterdir()}
    lines = outcome.drawings()["queries-1-a_b"].plot().get_lines()
    assert len(lines) == 3
    np.testing.assert_allclose(lines[0].get_ydata()[1:], outcome.y[0, 0])
    np.testing.assert_allclose(lines[2].get_ydata()[1:], outcome.y[0].mean(axis=0))
