"""Precision–recall and ROC curves."""

import io

import numpy as np
import pytest
from made_runs import ranked_by_quality
from sklearn.metrics import precision_recall_curve, roc_auc_score, roc_curve
from support.oracle import enumerate_orders

import tieaware
from tieaware.experiments import curves
from tieaware.experiments._curves import interpolated
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


def lists(seed, size, n_relevant, levels):
    """Return judgments and a run of one query, with scores that tie often."""
    rng = np.random.default_rng(seed)
    labels, scores = rng.permutation(np.arange(size) < n_relevant).astype(int), rng.integers(0, levels, size) / 4
    qrels = {"q": {f"d{i}": int(label) for i, label in enumerate(labels)}}
    return labels, scores, qrels, {"q": {f"d{i}": float(score) for i, score in enumerate(scores)}}


def on_curve(curve, x, y):
    """Return whether a point is on a polyline that never falls."""
    xs, ys = curve
    for a, b in zip(range(len(xs) - 1), range(1, len(xs)), strict=True):
        width, height = xs[b] - xs[a], ys[b] - ys[a]
        inside = xs[a] - 1e-12 <= x <= xs[b] + 1e-12 and ys[a] - 1e-12 <= y <= ys[b] + 1e-12
        if inside and abs((x - xs[a]) * height - (y - ys[a]) * width) < 1e-12:
            return True
    return False


@pytest.mark.parametrize("seed", range(5))
def test_a_roc_curve_is_that_of_scikit_learn(seed):
    labels, scores, qrels, run = lists(seed, 20, 6, 7)
    curve = curves(qrels, run, "roc").curve(0, 0)
    fpr, tpr, _ = roc_curve(labels, scores, drop_intermediate=False)
    assert all(on_curve(curve, *point) for point in zip(fpr, tpr, strict=True))
    # The points that scikit-learn leaves out are inside of ties, on its straight lines.
    assert all(on_curve((fpr, tpr), *point) for point in zip(*curve, strict=True))


def test_the_roc_curve_of_a_tie_is_the_average_over_all_orders():
    scores, labels = (3.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0), (0, 1, 0, 1, 0, 0, 1)
    qrels = {"q": {f"d{i}": label for i, label in enumerate(labels)} | {"missed": 1}}
    run = {"q": {f"d{i}": score for i, score in enumerate(scores)}}
    orders = enumerate_orders(scores, labels)
    points = np.zeros((7, 2))
    for order, times in orders.items():
        hits = np.cumsum(order)
        points += times * np.stack([np.arange(1, 8) - hits, hits], axis=1)
    points /= sum(orders.values())
    outcome = curves(qrels, run, "roc")
    np.testing.assert_allclose(np.stack([outcome.x[0, 0], outcome.y[0, 0]], axis=1), points / [4, 3], rtol=1e-12)
    outcome = curves(qrels, run, "roc", collection_size=30)
    np.testing.assert_allclose(np.stack([outcome.x[0, 0], outcome.y[0, 0]], axis=1), points / [26, 4], rtol=1e-12)


@pytest.mark.parametrize("ties", ["average", "run_order", "trec_eval", "pessimistic"])
def test_roc_areas_are_the_measure_auc(ties):
    """They are equal for long lists, and for queries that lack relevant, nonrelevant or all documents."""
    rng = np.random.default_rng(3)
    qrels = {f"q{q}": {f"d{i}": int(rng.random() < 0.2) for i in range(90)} for q in range(12)}
    run = {q: {f"d{i}": float(rng.integers(0, 15)) for i in range(10, 10 + 7 * n)} for n, q in enumerate(qrels)}
    qrels |= {"none": {"d1": 0}, "all": {"d1": 1, "d2": 1}, "missed": {"d9": 1}}
    run |= {"none": {"d1": 1.0}, "all": {"d1": 1.0, "d2": 1.0}, "missed": {"d1": 1.0}}
    auc = tieaware.evaluate(qrels, run, "AUC", ties=ties).values[:, :, 0]
    outcome = curves(qrels, run, "roc", ties=ties)
    np.testing.assert_array_equal(outcome.query_areas, auc)
    assert outcome.areas[0] == pytest.approx(auc.mean(), rel=1e-15)
    for q in range(len(qrels)):
        x, y = outcome.curve(0, q)
        assert (x[0], y[0], x[-1], y[-1]) == (0.0, 0.0, 1.0, 1.0)
        # Lists of up to 20 documents have all their ranks in the curve; of longer ones, points are left out.
        tolerance = 1e-12 if len(run[outcome.queries[q]]) <= 20 else 0.01
        assert np.trapezoid(y, x) == pytest.approx(auc[0, q], abs=tolerance)
    x, y = outcome.average(0)
    assert np.trapezoid(y, x) == pytest.approx(outcome.areas[0], abs=0.005)


@pytest.mark.parametrize("retrieved", [0, 3, 17, 40])
@pytest.mark.parametrize("n_relevant", [1, 8, 40])
def test_the_curve_of_a_collection_is_that_of_the_run_with_all_its_documents(retrieved, n_relevant):
    """The area equals AUC and scikit-learn's value for the run to which the other documents are added, tied."""
    labels, scores, qrels, _ = lists(retrieved + n_relevant, 40, n_relevant, 5)
    run = {"q": {f"d{i}": float(scores[i]) for i in range(retrieved)}, "other": {"d": 1.0}}
    filled = np.where(np.arange(40) < retrieved, scores, -1.0)
    whole = {"q": {f"d{i}": float(score) for i, score in enumerate(filled)}}
    outcome = curves(qrels, run, "roc", collection_size=40)
    assert outcome.areas[0] == pytest.approx(tieaware.evaluate(qrels, whole, "AUC").values.item(), rel=1e-14)
    if n_relevant < 40:
        assert outcome.areas[0] == pytest.approx(roc_auc_score(labels, filled), rel=1e-12)
        fpr, tpr, _ = roc_curve(labels, filled, drop_intermediate=False)
        if retrieved <= 20:
            x, y = outcome.curve(0, 0)
            assert np.trapezoid(y, x) == pytest.approx(outcome.areas[0], rel=1e-12)
            assert all(on_curve((x, y), *point) for point in zip(fpr, tpr, strict=True))
    assert outcome.axes == ("share of all nonrelevant documents", "recall")


def test_an_average_roc_curve_is_the_mean_at_each_share():
    qrels = {"q1": {"a": 1, "b": 0, "c": 0}, "q2": {"a": 0, "b": 0, "c": 1}, "q3": {"a": 1, "b": 0}}
    run = {q: {"a": 3.0, "b": 2.0, "c": 1.0} for q in qrels} | {"q3": {"a": 1.0, "b": 1.0}}
    x, y = curves(qrels, run, "roc").average(0)
    assert list(zip(x.tolist(), y.tolist(), strict=True)) == [
        (0.0, 0.0), (0.0, pytest.approx(1 / 3)), (0.5, 0.5), (1.0, pytest.approx(2 / 3)), (1.0, 1.0)
    ]  # fmt: skip


@pytest.mark.parametrize("n_relevant", [1, 5, 37, 120, 600])
def test_the_break_even_point_of_a_query_is_r_precision(n_relevant):
    """R-precision is trec_eval's; the greatest F1 is that of scikit-learn, whose points are the ends of ties."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    labels, scores, qrels, run = lists(n_relevant, 700, n_relevant, 10_000)
    (named,) = curves(qrels, run).named
    rprec = pytrec_eval.RelevanceEvaluator(qrels, {"Rprec"}).evaluate(run)["q"]["Rprec"]
    if len(set(scores)) == len(scores):
        assert named.break_even == pytest.approx(rprec, abs=1e-12)
    assert named.break_even == pytest.approx(tieaware.evaluate(qrels, run, "Rprec").values.item(), abs=1e-12)
    precision, recall, _ = precision_recall_curve(labels, scores)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-9)
    assert named.f1 == pytest.approx(f1.max(), abs=1e-12)
    assert named.f1 == pytest.approx(2 * named.precision * named.recall / (named.precision + named.recall))
    assert named.precision == pytest.approx(tieaware.evaluate(qrels, run, f"P@{named.rank}").values.item())


@pytest.mark.parametrize("seed", range(4))
def test_named_points_of_averages_are_found_among_all_ranks(seed):
    rng = np.random.default_rng(seed)
    qrels = {f"q{q}": {f"d{i}": 1 for i in range(int(rng.integers(1, 90)))} for q in range(5)}
    run = {q: {f"d{i}": float(rng.integers(0, 30)) - i / 8 for i in range(0, 300, 1 + n)} for n, q in enumerate(qrels)}
    (named,) = curves(qrels, run).named
    measures = [f"{name}@{k}" for name in "PR" for k in range(1, 301)]
    precision, recall = np.split(tieaware.evaluate(qrels, run, measures).values[0].mean(axis=0), 2)
    f1 = 2 * precision * recall / (precision + recall)
    assert (named.f1, named.rank) == (pytest.approx(f1.max(), rel=1e-14), int(np.argmax(f1 > f1.max() - 1e-12)) + 1)
    i = int(np.argmax(precision <= recall))
    assert min(precision[i - 1 : i + 1]) <= named.break_even <= max(precision[i - 1 : i + 1])
    assert min(recall[i - 1 : i + 1]) <= named.break_even <= max(recall[i - 1 : i + 1])


def test_the_break_even_point_may_lie_behind_the_list_or_at_0():
    few = {"q": {f"d{i}": 1 for i in range(10)} | {"x": 0}}
    assert curves(few, {"q": {"d0": 2.0, "x": 1.0}}).named[0].break_even == pytest.approx(0.1)
    missed = curves(few, {"q": {"x": 2.0, "y": 1.0}}).named[0]
    assert (missed.break_even, missed.f1, missed.rank) == (0.0, 0.0, 1)


def test_the_interpolated_curve_is_drawn_over_the_raw_one():
    outcome = curves(QRELS, {"a": RUN, "b": {"q1": {"d": 1.0, "c": 2.0}, "q2": {"b": 2.0}}})
    ax = outcome.drawings()["interpolated"].plot()
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["precision = recall", "b, raw", "a, raw", "interpolated"]
    raw, shown = ax.get_lines()[1:3]
    np.testing.assert_array_equal(shown.get_xydata(), np.transpose(interpolated(*raw.get_data())))
    labels = {text.get_text() for text in ax.texts}
    expected = {f"break-even {significant(each.break_even)}" for each in outcome.named}
    assert labels == expected | {f"F1 {significant(each.f1)}" for each in outcome.named}
    assert outcome.tables()["named-points"]["a", "break-even"] == outcome.named[0].break_even
    assert "interpolated" not in curves(QRELS, RUN, "roc").drawings()


def test_interpolated_precision_is_the_greatest_from_there_on():
    """The raw curve of the ranking R N R N N R N with 4 relevant documents: a saw, and steps over its teeth."""
    recall = np.array([0, 1, 1, 2, 2, 2, 3, 3]) / 4
    precision = np.array([1, 1, 1 / 2, 2 / 3, 1 / 2, 2 / 5, 1 / 2, 3 / 7])
    x, y = interpolated(recall, precision)
    for low, high, value in ((0, 1 / 4, 1), (1 / 4, 1 / 2, 2 / 3), (1 / 2, 3 / 4, 1 / 2)):
        np.testing.assert_allclose(np.interp(np.linspace(low + 1e-9, high - 1e-9, 5), x, y), value)
    # Where the raw curve falls, the interpolated one follows it.
    x, y = interpolated(np.array([0.0, 0.5, 1.0]), np.array([1.0, 0.2, 0.6]))
    np.testing.assert_allclose(np.transpose([x, y]), [[0, 1], [0.25, 0.6], [0.5, 0.6], [1, 0.6]])


@pytest.mark.parametrize("kind", ["precision-recall", "roc"])
def test_a_warning_appears_once(kind):
    with pytest.warns(UserWarning, match="no document of this run is judged") as caught:
        curves(QRELS, {"q1": {f"x{i}": float(i) for i in range(60)}}, kind)
    assert len(caught) == 1


@pytest.mark.parametrize("kind", ["precision-recall", "interpolated", "roc"])
def test_a_run_from_a_stream_is_read_once(kind):
    lines = b"".join(b"q1 Q0 %s %d %g x\n" % (d.encode(), i, s) for i, (d, s) in enumerate(RUN["q1"].items()))
    np.testing.assert_array_equal(curves(QRELS, io.BytesIO(lines), kind).y, curves(QRELS, {"q1": RUN["q1"]}, kind).y)


def test_the_printed_table_has_a_few_points_of_each_curve():
    """The table has the first and the last rank, the greatest rank up to 10, and the greatest rank up to 100."""
    run = {"q1": {f"d{i}": -float(i) for i in range(150)}}
    outcome = curves({"q1": {"d0": 1, "d9": 1}}, run)
    table = outcome.tables()["points"]
    ranks = [int(name.split()[-1]) for name in table.columns[2::2]]
    assert (ranks[0], ranks[1], ranks[-1], len(ranks)) == (1, 10, 150, 4)
    assert 90 < ranks[2] <= 100
    assert table.rows[0][2:6] == (0.5, 1.0, 1.0, 0.2)


def test_each_run_has_a_figure_of_its_queries():
    """Each run has a file of its own, even if two names of runs are converted to the same file name."""
    outcome = curves(QRELS, {"a/b": RUN, "a_b": RUN}, "roc")
    assert {"queries-1-a_b", "queries-2-a_b"} <= set(outcome.drawings())
    lines = outcome.drawings()["queries-1-a_b"].plot().get_lines()
    # The figure has four lines: two queries, the average, and the diagonal.
    assert len(lines) == 4
    np.testing.assert_allclose(lines[0].get_ydata()[1:], outcome.y[0, 0])
    np.testing.assert_array_equal(lines[2].get_xydata(), np.transpose(outcome.average(0)))
    np.testing.assert_array_equal(lines[3].get_xydata(), [[0, 0], [1, 1]])


@pytest.mark.parametrize("kind", ["precision-recall", "interpolated", "roc"])
def test_with_many_runs_some_have_colours_and_areas_in_the_legend(kind):
    outcome = curves(*ranked_by_quality(20), kind)
    ax = outcome.plot()
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    grey = [line for line in ax.get_lines() if line.get_color() == "#b0b0b0"]
    assert (len(grey), names[0]) == (15, "15 others")
    order = np.argsort(-outcome.areas, kind="stable")
    shown = [*order[:3], order[10], order[-1]]
    assert names[1:6] == [f"run {r}, area {significant(outcome.areas[r])}" for r in shown]
    assert names[6:] == (["diagonal"] if kind == "roc" else [])
    # The figures of the coloured runs come first; every run has a figure.
    figures = [name for name in outcome.drawings() if name != "interpolated"]
    assert figures[1:6] == [f"queries-{r + 1}-run_{r}" for r in shown]
    assert len(set(figures)) == 21


def test_the_curve_of_a_single_query_begins_with_the_precision_of_its_first_point():
    run = dict(zip("abcdef", (4.0, 4.0, 3.0, 2.0, 2.0, 1.0), strict=True))
    outcome = curves({"q": {"a": 1, "d": 1}}, {"q": run})
    x, y = outcome.average(0)
    assert (x[0], y[0]) == (0.0, y[1])
    assert outcome.areas[0] == pytest.approx(sum((x[i + 1] - x[i]) * (y[i] + y[i + 1]) / 2 for i in range(len(x) - 1)))
