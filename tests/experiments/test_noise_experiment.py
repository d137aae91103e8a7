"""The experiment on noise: means by noise, how much each run tolerates, and pairs of runs that cross."""

import numpy as np
import pytest
from made_runs import ranked_by_quality

import tieaware
from tieaware.experiments import noise
from tieaware.experiments._noise import UnderNoise
from tieaware.precision import Gumbel

pytest.importorskip("matplotlib")

QRELS = {"q1": {"a": 1, "c": 2}, "q2": {"b": 1}, "q3": {"a": 1}}
RUN = {"q1": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}, "q2": {"a": 1.0, "b": 0.5}, "q9": {"a": 7.0, "b": 1.0}}


def test_means_are_those_of_the_evaluator():
    outcome = noise(QRELS, {"x": RUN}, "nDCG@2", kind="gumbel", sizes=[0, 0.5])
    unit = (np.std([3, 2, 2, 1]) + np.std([1, 0.5])) / 2
    assert outcome.units == pytest.approx([unit])
    lists = [([1, -1, 2, -1], [3.0, 2.0, 2.0, 1.0]), ([-1, 1], [1.0, 0.5])]
    values = [tieaware.Evaluator(labels, "nDCG@2").under_noise(scores, Gumbel(unit / 2)) for labels, scores in lists]
    np.testing.assert_allclose(outcome.means[0, 1], np.sum(values) / 3, rtol=0, atol=1e-9)
    assert outcome.means[0, 0] == pytest.approx(tieaware.evaluate(QRELS, RUN, "nDCG@2").mean()[0, 0], rel=1e-14)


def made(*means, sizes=(0.0, 1.0, 3.0)):
    names = tuple("abcd"[: len(means)])
    return UnderNoise(tieaware.nDCG @ 10, "gaussian", names, np.array(sizes), np.array(means), np.ones(len(means)))


def test_a_run_has_lost_its_share_between_two_sizes():
    outcome = made([1.0, 0.96, 0.92], [0.5, 0.6, 0.49], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0])
    assert outcome.tolerated == pytest.approx([1.5, np.inf, np.inf, 0.05])
    assert outcome.verdict().startswith(
        "Gaussian noise of 0.0500 standard deviations of a list's scores costs d 5 % of its nDCG@10; the best run, a, "
        "loses as much at 1.50."
    )
    assert made([0.5, 0.6, 0.49]).verdict() == (
        "No run loses 5 % of its nDCG@10 by gaussian noise of 3 standard deviations of a list's scores."
    )


def test_pairs_cross_where_their_means_are_equal():
    outcome = made([0.6, 0.5, 0.2], [0.5, 0.5, 0.3], [0.4, 0.4, 0.4], [0.7, 0.6, 0.5])
    found = [(better, worse, round(size, 6)) for better, worse, size in outcome.crossings()]
    assert found == [("a", "b", 1.0), ("a", "c", 1.666667), ("b", "c", 2.0)]
    assert "The noise puts 3 of 6 pairs of runs into the other order, first a and b, at 1." in outcome.verdict()
    assert [row[0] for row in outcome.tables()["crossings"].rows] == ["a", "a", "b"]
    assert "No two runs change their order." in made([0.6, 0.1, 0.1], [0.5, 0.1, 0.1]).verdict()


def test_figure_and_tables_of_several_runs():
    qrels, runs = ranked_by_quality(9)
    outcome = noise(qrels, runs, "AP", kind="uniform", sizes=[0, 0.1, 1])
    assert outcome.means.shape == (9, 3)
    assert outcome.plot().get_xlabel() == "noise, in standard deviations of a list's scores"
    assert str(outcome).startswith(outcome.verdict())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "AP RR"}, "^measure: must be one measure; found 2$"),
        ({"measure": "Bpref"}, "^measures: expected one whose expectation under noise is known"),
        ({"kind": "white"}, "^kind: expected .*gumbel.*found 'white'"),
        ({"sizes": []}, "^sizes: must be numbers that ascend, at least one$"),
        ({"sizes": [0.2, 0.1]}, "^sizes: must be numbers that ascend"),
        ({"sizes": [-1]}, r"^sizes\[0\]: expected a number from 0"),
    ],
)
def test_unusable_arguments(options, message):
    with pytest.raises(tieaware.InputError, match=message):
        noise(QRELS, RUN, **options)
