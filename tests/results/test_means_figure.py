"""The figure of the means of runs."""

import numpy as np
import pytest
from support.errors import message_of

import tieaware
from tieaware import Results

matplotlib = pytest.importorskip("matplotlib")
figure = pytest.importorskip("matplotlib.figure")

QRELS = {"q": {"a": 1}}
RUNS = {
    "tied": {"q": {"a": 1.0, "b": 1.0}},
    "$best_of_all$": {"q": {"a": 2.0, "b": 1.0}},
    "worst": {"q": {"a": 1.0, "b": 2.0, "c": 3.0}},
}


@pytest.fixture
def ax():
    return figure.Figure().subplots()


def points(ax):
    return ax.lines[0].get_xdata().tolist()


def names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_the_figure_has_a_point_for_each_run_with_the_highest_at_the_top(ax):
    assert tieaware.evaluate(QRELS, RUNS, ["RR", "P@1", "NumRet"]).plot(ax) is ax
    assert points(ax) == [1.0, 0.75, 1 / 3]
    assert names(ax) == [r"\$best_of_all\$", "tied", "worst"]
    assert ax.get_ylim() == (2.5, -0.5)
    assert ax.get_xlabel() == "RR"
    assert ax.get_title(loc="left") == "Means over 1 query, ties: average"
    assert len(ax.collections) == 0


def test_the_measure_is_chosen_by_any_of_its_names(ax):
    results = tieaware.evaluate(QRELS, RUNS, ["RR", "P@1", "NumRet"], spread=True)
    results.plot(ax, measure="P_1")
    assert points(ax) == [1.0, 0.5, 0.0]
    assert ax.get_xlabel() == "P@1\nbars: range over the orders of ties"
    ax = results.plot(figure.Figure().subplots(), measure=tieaware.NumRet)
    assert points(ax) == [3.0, 2.0, 2.0]
    assert ax.get_xlabel() == "NumRet, summed over the queries"


def test_bars_show_the_range_over_the_orders_of_ties(ax):
    tieaware.evaluate(QRELS, RUNS, ["P@1", "RR"], spread=True).plot(ax, measure="RR")
    assert [segment[:, 0].tolist() for segment in ax.collections[0].get_segments()] == [
        [1.0, 1.0], [0.5, 1.0], [1 / 3, 1 / 3],
    ]  # fmt: skip


def test_each_name_of_a_measure_has_its_own_range(ax):
    """A measure that was requested under two names has two columns, with the same spread."""
    tieaware.evaluate(QRELS, RUNS, ["AP", "map"], spread=True).plot(ax, measure="map")
    assert ax.get_xlabel().startswith("map\n")
    assert len(ax.collections) == 1


def test_a_figure_of_many_runs_leaves_out_their_names(ax):
    many = Results(np.zeros((200, 1, 1)), tuple(map(str, range(200))), ("q",), (tieaware.AP,))
    many.plot(ax)
    assert names(ax) == []
    assert ax.get_ylabel() == "200 runs, the highest first"


def test_a_figure_without_axes_is_as_high_as_its_runs_need():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    with matplotlib.rc_context({"backend": "Agg"}):
        heights = [tieaware.evaluate(QRELS, runs, "RR").plot().figure.get_figheight() for runs in (TWO, RUNS)]
        pyplot.close("all")
    assert heights[1] - heights[0] == pytest.approx(0.27)


TWO = {"a": RUNS["tied"], "b": RUNS["worst"]}


def test_what_cannot_be_drawn_is_an_error(ax):
    results = tieaware.evaluate(QRELS, RUNS, "RR")
    with pytest.raises(KeyError, match="no measure 'AP'; there is 1: RR"):
        results.plot(ax, measure="AP")
    assert message_of(Results(np.zeros((1, 1, 0)), ("a",), ("q",), ()).plot, ax) == "plot: the results have no measure"


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("method", [lambda results: results, lambda results: results.intervals()])
def test_one_run_does_not_squeeze_the_others(method, sign, ax):
    """The axis ends at the others; an arrow and the value of the run stand at its end."""
    values = np.random.default_rng(3).random((7, 30, 1)) / 10 + np.arange(7)[:, None, None] / 50 + 0.4
    near = Results(values, tuple("abcdefg"), tuple(range(30)), (tieaware.DCG,))
    method(near).plot(ax)
    assert len(ax.texts) == 0
    far = values.copy()
    far[2] += sign * 3.0
    ax = method(Results(far, near.runs, near.queries, near.measures)).plot(figure.Figure().subplots())
    low, high = ax.get_xlim()
    others = np.delete(far, 2, 0).mean(axis=1)
    assert low < others.min() < others.max() < high < low + 0.5
    (arrow,) = (line for line in ax.lines if line.get_marker() in "<>")
    assert (arrow.get_marker(), arrow.get_xdata()[0]) == ((">", high) if sign > 0 else ("<", low))
    assert names(ax)[int(arrow.get_ydata()[0])] == "c"
    assert ax.texts[0].get_text() == tieaware.output.tables.significant(far[2].mean())


def test_differences_from_a_baseline_keep_their_zero(ax):
    values = np.random.default_rng(3).random((7, 30, 1)) / 10 + 0.4
    values[0] += 3.0
    Results(values, tuple("abcdefg"), tuple(range(30)), (tieaware.DCG,)).intervals(baseline="a").plot(ax)
    assert ax.get_xlim()[0] < -3 < 0 <= ax.get_xlim()[1]


def test_the_width_is_given_in_inches():
    results = tieaware.evaluate(QRELS, RUNS, "RR")
    matplotlib.use("agg")
    assert results.plot(width=3.3).figure.get_size_inches()[0] == 3.3
    assert message_of(results.plot, width="wide") == "width: expected a number from 1 to 100, found 'wide'"
