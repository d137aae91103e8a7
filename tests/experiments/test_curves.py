"""Precision–recall and ROC curves."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from support.trec_files import read_qrels

import tieaware
from tieaware import InputError
from tieaware.cli import main
from tieaware.experiments import curves
from tieaware.output.tables import significant

pytest.importorskip("matplotlib")

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
    """The area and AUC are equal if all relevant documents are retrieved and each rank is a point of the curve."""
    rng = np.random.default_rng(1)
    labels, scores = rng.integers(0, 2, 18), rng.integers(0, 5, 18) / 4
    qrels = {"q": {f"d{i}": int(label) for i, label in enumerate(labels)}}
    run = {"q": {f"d{i}": float(score) for i, score in enumerate(scores)}}
    outcome = curves(qrels, run, "roc")
    x, y = np.append(0, outcome.x[0, 0]), np.append(0, outcome.y[0, 0])
    area = ((x[1:] - x[:-1]) * (y[1:] + y[:-1]) / 2).sum()
    assert area == pytest.approx(roc_auc_score(labels, scores), rel=1e-12)
    assert area == pytest.approx(tieaware.evaluate(qrels, run, "AUC").values.item(), rel=1e-12)


def test_unknown_kinds_are_refused():
    with pytest.raises(InputError, match="kind: expected one of precision-recall, interpolated, roc, found 'bow'"):
        curves(QRELS, RUN, "bow")


@pytest.mark.parametrize(
    ("kind", "title"),
    [("precision-recall", "Precision–recall"), ("interpolated", "Interpolated precision–recall"), ("roc", "ROC")],
)
def test_the_command_traces_runs(collection, tmp_path, capfd, kind, title):
    runs = collection.runs[:3]
    plot = tmp_path / "curve.svg"
    assert main(["curve", str(collection.qrels), *map(str, runs), "--kind", kind, "--plot", str(plot)]) == 0
    assert plot.stat().st_size > 10_000
    lines = capfd.readouterr().out.splitlines()
    assert f"{title} curves of 3 runs, averaged over {len(read_qrels(collection.qrels))} queries" in lines
    # The printed table has one row per run. The CSV file has all points of the curves.
    assert [sum(line.startswith(f"{run.stem} ") for line in lines) for run in runs] == [1, 1, 1]
    assert main(["curve", str(collection.qrels), *map(str, runs), "--kind", kind, "--format", "csv"]) == 0
    rows = capfd.readouterr().out.splitlines()[1:]
    assert (len(rows) == 33) if kind == "interpolated" else (len(rows) > 100)


def test_the_printed_table_has_a_few_points_of_each_curve():
    """The table has the first and the last rank, the greatest rank up to 10, and the greatest rank up to 100."""
    run = {"q1": {f"d{i}": -float(i) for i in range(150)}}
    outcome = curves({"q1": {"d0": 1, "d9": 1}}, run)
    table = outcome.tables()["points"]
    ranks = [int(name.split()[-1]) for name in table.columns[2::2]]
    assert (ranks[0], ranks[1], ranks[-1], len(ranks)) == (1, 10, 150, 4)
    assert 90 < ranks[2] <= 100
    assert table.columns[:2] == ("run", "area")
    assert table.rows[0][2:6] == (0.5, 1.0, 1.0, 0.2)
    assert str(outcome) == f"{outcome.verdict()}\n\n{table}"


def test_each_run_has_a_figure_of_its_queries(tmp_path):
    """Each run has a file of its own, even if two names of runs are converted to the same file name."""
    outcome = curves(QRELS, {"a/b": RUN, "a_b": RUN}, "roc")
    outcome.write(tmp_path / "out")
    assert {"curves.png", "queries-1-a_b.svg", "queries-2-a_b.png"} <= {p.name for p in (tmp_path / "out").iterdir()}
    lines = outcome.drawings()["queries-1-a_b"].plot().get_lines()
    # The figure has four lines: two queries, the average, and the diagonal.
    assert len(lines) == 4
    np.testing.assert_allclose(lines[0].get_ydata()[1:], outcome.y[0, 0])
    np.testing.assert_allclose(lines[2].get_ydata()[1:], outcome.y[0].mean(axis=0))
    np.testing.assert_array_equal(lines[3].get_xydata(), [[0, 0], [1, 1]])


def many(n_runs, n_queries=3):
    """Return judgments, and runs of increasing quality; the first two runs rank the documents in the same order."""
    rng = np.random.default_rng(5)
    noise = rng.random((n_queries, 60))
    qrels = {f"q{q}": {f"d{i}": 1 for i in range(20)} for q in range(n_queries)}
    weights = [0, *range(n_runs - 1)]
    return qrels, {
        f"run {r}": {
            f"q{q}": {f"d{i}": float(noise[q, i] * n_runs + weight * (i < 20)) for i in range(60)}
            for q in range(n_queries)
        }
        for r, weight in enumerate(weights)
    }


@pytest.mark.parametrize("kind", ["precision-recall", "interpolated", "roc"])
def test_with_many_runs_some_have_colours_and_areas_in_the_legend(kind):
    outcome = curves(*many(20), kind)
    ax = outcome.plot()
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    grey = [line for line in ax.get_lines() if line.get_color() == "#b0b0b0"]
    assert (len(grey), names[0]) == (15, "15 others")
    order = np.argsort(-outcome.areas, kind="stable")
    shown = [*order[:3], order[10], order[-1]]
    assert names[1:6] == [f"run {r}, area {significant(outcome.areas[r])}" for r in shown]
    assert names[6:] == (["diagonal"] if kind == "roc" else [])
    # The figures of the coloured runs come first; every run has a figure.
    figures = list(outcome.drawings())
    assert figures[1:6] == [f"queries-{r + 1}-run_{r}" for r in shown]
    assert len(set(figures)) == 21
    areas = {row[0]: row[1] for row in outcome.tables()["points"].rows}
    assert [areas[f"run {r}"] for r in range(20)] == outcome.areas.tolist()


def test_the_area_of_a_single_query_is_its_auc():
    run = {"q": dict(zip("abcdef", (4.0, 4.0, 3.0, 2.0, 2.0, 1.0), strict=True))}
    qrels, runs = {"q": {"a": 1, "d": 1}}, {"r": run}
    assert curves(qrels, runs, "roc").areas[0] == pytest.approx(tieaware.evaluate(qrels, runs, "AUC").values.item())
    # From recall 0 to its first point, the curve has the precision of its first point.
    outcome = curves(qrels, runs)
    x, y = outcome.average(0)
    assert (x[0], y[0]) == (0.0, y[1])
    assert outcome.areas[0] == pytest.approx(sum((x[i + 1] - x[i]) * (y[i] + y[i + 1]) / 2 for i in range(len(x) - 1)))


def test_the_verdict_in_special_cases():
    qrels, runs = many(5)
    assert curves(qrels, runs).verdict().startswith("Among 5 runs, run 4 has the largest area under its curve, ")
    same = {name: runs[name] for name in ("run 0", "run 1")}
    assert curves(qrels, same, "roc").verdict().startswith("2 of 2 runs share the largest area under the curve, 0.")
    assert ". Within the first 10 ranks run 0's recall is " in curves(qrels, same, "roc").verdict()
    one = {"q": {"a": 1}}, {"r": {"q": {"a": 1.0}}}
    expected = "The area under the curve of r is 1. Within the first rank its precision is 1 and its recall 1."
    assert curves(*one).verdict() == expected
    assert curves(*one, "interpolated").verdict().endswith(" At recall 0.1 its precision is 1, and at 0.5 1.")
    two = {name: runs[name] for name in ("run 0", "run 4")}
    assert "; the other has 0." in curves(qrels, two).verdict()


@pytest.mark.slow
def test_a_report_of_many_runs_is_small(tmp_path, monkeypatch):
    """The page shows only the first figures and rows; it had 14.6 MB for 42 runs when it showed all."""
    qrels, runs = many(42, 30)
    outcome = curves(qrels, runs)
    figures = list(outcome.drawings().items())[:9]
    monkeypatch.setattr(type(outcome), "drawings", lambda self: dict(figures))
    outcome.write(tmp_path)
    assert 300_000 < (tmp_path / "report.html").stat().st_size < 2_000_000
    assert (tmp_path / "queries.csv").read_text().count("\n") == 1 + outcome.x.size
