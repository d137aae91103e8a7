"""Means over queries that are weighted by a count: micro-averages of precision and recall."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from support.errors import message_of

import tieaware
from tieaware import Results, evaluate

# Three queries: one relevant document of one, one of four, and none of two; 4, 2 and 1 retrieved documents.
QRELS = {"q1": {"a": 1}, "q2": {"a": 1, "b": 1, "c": 1, "d": 2}, "q3": {"x": 1, "y": 1, "a": 0}}
RUN = {"q1": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0}, "q2": {"a": 2.0, "z": 1.0}, "q3": {"a": 1.0}}
MEASURES = ["P", "R", "R@1", "NumRel", "NumRet", "GMAP", "infAP"]


@pytest.fixture(scope="module")
def result() -> Results:
    return evaluate(QRELS, {"a": RUN, "b": {"q1": {"a": 1.0}}}, MEASURES, spread=True)


def test_micro_averages_by_hand(result):
    """Retrieved relevant documents of all queries, divided by the relevant, or the retrieved, ones of all queries."""
    by_relevant, by_retrieved = (result.mean(weights=name) for name in ("NumRel", "num_ret"))
    assert by_relevant[0, 1:3].tolist() == pytest.approx([2 / 7, 1.25 / 7])
    assert by_retrieved[0, 0] == pytest.approx(2 / 7)
    # The second run answers one query. The others have the recall 0, and no retrieved documents.
    assert by_relevant[1, 1:3].tolist() == pytest.approx([1 / 7, 1 / 7])
    assert by_retrieved[1, 0] == 1.0
    assert np.isnan(by_relevant[:, 5]).all()


def test_micro_averages_are_those_of_scikit_learn():
    """In scikit-learn, queries are labels that each document may have or not."""
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(2)
    relevant = rng.random((12, 30)) < rng.uniform(0.05, 0.6, (12, 1))
    retrieved = rng.random((12, 30)) < rng.uniform(0.1, 0.9, (12, 1))
    scores = rng.random((12, 30))
    qrels = {f"q{q}": {f"d{d}": int(relevant[q, d]) for d in range(30)} for q in range(12)}
    run = {f"q{q}": {f"d{d}": scores[q, d] for d in np.flatnonzero(retrieved[q])} for q in range(12)}
    result = evaluate(qrels, run, ["P", "R", "NumRet", "NumRel"])
    found = result.mean(weights="NumRet")[0, 0], result.mean(weights="NumRel")[0, 1]
    expected = [
        function(relevant.T, retrieved.T, average="micro")
        for function in (metrics.precision_score, metrics.recall_score)
    ]
    assert found == pytest.approx(expected, rel=1e-14)


def test_the_standard_deviation_of_a_micro_average(result):
    """Only R@1 of the first query varies, between 0 and 1 with probability 1/4; its weight is 1 of 7."""
    std = result.mean_std(weights="NumRel")[0]
    assert std[2] == pytest.approx((3 / 16) ** 0.5 / 7)
    assert std[1] == 0.0
    assert np.isnan(std[5:]).all()


def test_equal_weights_change_nothing(result):
    one = evaluate({q: {"a": 1} for q in RUN}, RUN, ["R@1", "RR", "NumRel"], spread=True)
    np.testing.assert_allclose(one.mean(weights="NumRel"), one.mean(), rtol=1e-15)
    np.testing.assert_allclose(one.mean_std(weights="NumRel"), one.mean_std(), rtol=1e-15)


def test_queries_without_a_value_are_left_out():
    """With queries="both", a run is averaged over the queries that it answers; without weight, the mean is NaN."""
    result = evaluate(QRELS, {"a": RUN, "b": {"q1": {"a": 1.0}}}, ["R", "NumRel"], queries="both", spread=True)
    assert result.mean(weights="NumRel")[:, 0].tolist() == pytest.approx([2 / 7, 1.0])
    assert result.mean_std(weights="NumRel")[1, 0] == 0.0
    nothing = evaluate({"q1": {"a": 0}}, {"q1": {"a": 1.0}}, ["R", "NumRel"], spread=True)
    assert np.isnan(nothing.mean(weights="NumRel")[0]).all()
    assert np.isnan(nothing.mean_std(weights="NumRel")[0]).all()


def test_the_order_of_the_queries_does_not_matter():
    rng = np.random.default_rng(4)
    values = np.stack([rng.random((1, 1000)), np.floor(10.0 ** rng.uniform(0, 6, (1, 1000)))], axis=2)
    order = rng.permutation(1000)
    measures, queries = (tieaware.R, tieaware.NumRel), tuple(range(1000))
    found = [Results(each, ("a",), queries, measures).mean(weights="NumRel") for each in (values, values[:, order])]
    assert found[0].tobytes() == found[1].tobytes()
    exact = sum(Fraction(v) * Fraction(w) for v, w in values[0]) / sum(Fraction(w) for _, w in values[0])
    assert found[0][0, 0] == pytest.approx(float(exact), rel=1e-15)


def test_wrong_weights(result):
    assert message_of(result.mean, weights="P") == "weights: must be a count, such as NumRel or NumRet; P is not"
    with pytest.raises(KeyError, match="NumRelRet"):
        result.mean(weights="NumRelRet")
    assert "must be a count" in message_of(result.mean_std, weights=tieaware.R)


@pytest.fixture
def files(tmp_path):
    """The paths of judgments and of two runs in files."""
    qrels, a, b = (tmp_path / name for name in ("qrels", "a.run", "b.run"))
    qrels.write_text("".join(f"{q} 0 {d} {label}\n" for q, labels in QRELS.items() for d, label in labels.items()))
    tieaware.Run.from_dict(RUN).write(a)
    tieaware.Run.from_dict({"q1": {"a": 1.0}}).write(b)
    return [qrels, a, b]


def test_the_command_weights_the_rows_for_all_queries(result, files, printed):
    """The rows are those of the Results: means, their std, and the means of the extremes. Counts stay sums."""
    options = [each for name in MEASURES for each in ("-m", name)]
    for weights in ("NumRel", "num_ret"):
        found = json.loads(printed("eval", *files, *options, "--weights", weights, "--spread", "--format", "json"))
        assert [(name, list(rows)) for name, rows in found.items()] == [("a", ["all"]), ("b", ["all"])]
        for r, run in enumerate(rows["all"] for rows in found.values()):
            means, deviations = result.mean(weights=weights)[r], result.mean_std(weights=weights)[r]
            for m, name in enumerate(["P", "R", "R@1"]):
                assert [run[name], run[f"{name}_std"]] == pytest.approx([means[m], deviations[m]], abs=1e-15)
            counts = result.values[r, :, 3 if weights == "NumRel" else 4]
            assert run["R@1_min"] == pytest.approx(counts @ result.min[r, :, 2] / counts.sum(), abs=1e-15)
            assert run["R@1_max"] == pytest.approx(counts @ result.max[r, :, 2] / counts.sum(), abs=1e-15)
            assert [run["NumRel"], run["NumRet"]] == result.summary()[r, 3:5].tolist()
            assert np.isnan(run["GMAP"])


@pytest.mark.parametrize("form", ["text", "json", "csv", "markdown"])
def test_weights_that_are_not_named_are_not_shown(files, printed, form):
    """Queries without a value are not shown either, although they have a weight."""
    command = ["eval", files[0], files[1], "-m", "R", "-q", "--format", form, "--undefined", "nan"]
    with open(files[0], "a") as file:
        file.write("q9 0 a 0\n")
    plain, weighted = printed(*command), printed(*command, "--weights", "NumRel")
    assert "NumRel" not in weighted
    assert "q9" not in weighted
    # Only the last number differs, that for all queries.
    differing = [both for both in zip(plain.split(), weighted.split(), strict=True) if both[0] != both[1]]
    numbers = [[float(text.rpartition(",")[2]) for text in both] for both in differing]
    assert numbers == [pytest.approx([(1.0 + 0.25 + 0.0) / 3, 2 / 7], abs=5e-5)]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--weights", "P"], "--weights must be a count, such as NumRel or NumRet; 'P' is not"),
        (["--weights", "Nothing"], "--weights must be a count, such as NumRel or NumRet; 'Nothing' is not"),
        (["--weights", "NumRel", "--table", "text"], "--weights cannot be combined with --table: its tests compare"),
    ],
)
def test_wrong_weights_of_the_command(files, refused, options, problem):
    assert refused("eval", "no such file", files[1], "-m", "R", *options).startswith(problem)
