"""The experiment on the weights of fused runs: its numbers against evaluations, and what it says of them."""

import io
import warnings

import numpy as np
import pytest

import tieaware
from tieaware import evaluate, fuse
from tieaware.experiments import fusion
from tieaware.experiments._fusion import Curve, thinned

pytest.importorskip("scipy")


def generated(qualities, n_queries=30, depth=12, seed=0):
    """Return judgments, and runs whose scores are the labels times a quality, plus noise."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, (n_queries, depth))
    qrels = {f"q{q}": {f"d{d}": int(label) for d, label in enumerate(row)} for q, row in enumerate(labels)}
    runs = {}
    for name, quality in qualities.items():
        scores = quality * labels + rng.normal(size=labels.shape)
        runs[name] = {
            f"q{q}": {f"d{d}": float(score) for d, score in enumerate(row) if d != len(name)}
            for q, row in enumerate(scores)
        }
    return qrels, runs


@pytest.mark.parametrize("names", ["ab", "abc"])
@pytest.mark.parametrize("scale", [{}, {"normalise": "theoretical-min-max", "minimum": -9.0}, {"normalise": "z"}])
def test_the_numbers_are_those_of_evaluations(names, scale):
    qrels, runs = generated(dict(zip(names, (1.0, 0.7, 0.4), strict=False)))
    outcome = fusion(qrels, runs, "AP", folds=5, **scale)
    assert outcome.trial.names == tuple(names)
    assert outcome.weights.sum() == pytest.approx(1.0)
    assert (outcome.weights >= 0.0).all()
    fused = fuse(runs, weights=outcome.weights.tolist(), **scale)
    assert outcome.value == evaluate(qrels, fused, "AP").mean()[0, 0]
    assert outcome.run(name="x", depth=5).to_dict() == fuse(runs, weights=outcome.weights, depth=5, **scale).to_dict()
    others = evaluate(qrels, {"RRF": fuse(runs, "rrf"), **runs}, "AP").values[:, :, 0]
    np.testing.assert_array_equal(outcome.trial.others, others)
    np.testing.assert_allclose(outcome.trial.test.difference, (outcome.trial.held_out.values - others).mean(axis=1))
    np.testing.assert_array_equal(outcome.trial.p, tieaware.statistics.holm(outcome.trial.test.p))
    assert outcome.queries == tuple(qrels)


@pytest.mark.parametrize("names", ["ab", "abc"])
def test_each_query_is_evaluated_with_weights_that_it_did_not_choose(names):
    qrels, runs = generated(dict.fromkeys(names, 0.6))
    outcome = fusion(qrels, runs, "nDCG@5", folds=4, seed=3)
    fold = np.random.default_rng(3).permutation(len(qrels)) % 4
    for i, weights in enumerate(outcome.trial.held_out.weights):
        kept = {query: judged for q, (query, judged) in enumerate(qrels.items()) if fold[q] != i}
        here = fusion(kept, runs, "nDCG@5", folds=2, seed=3)
        np.testing.assert_allclose(weights, here.weights, rtol=1e-12)
        values = evaluate(qrels, fuse(runs, weights=weights.tolist()), "nDCG@5").values[0, :, 0]
        np.testing.assert_allclose(outcome.trial.held_out.values[fold == i], values[fold == i], rtol=1e-12)


def test_the_best_weight_of_two_runs_is_that_of_a_fine_grid():
    qrels, runs = generated({"a": 0.8, "b": 0.6})
    outcome = fusion(qrels, runs, "nDCG@10")
    weighted = tieaware.WeightedFusion(qrels, runs, "nDCG@10")
    grid = np.linspace(0.0, 1.0, 2001)
    means = np.array([weighted([1 - t, t]).mean() for t in grid])
    assert outcome.value >= means.max() - 1e-12
    (curve,) = outcome.curves
    assert curve.interval[0] < outcome.weights[1] < curve.interval[1]
    inside = (curve.interval[0] < grid) & (grid < curve.interval[1])
    np.testing.assert_allclose(means[inside], outcome.value, rtol=1e-12)
    # The curve is the mean at every weight that is not an edge.
    for t in (0.1, 0.5, 0.77):
        at = np.searchsorted(curve.edges, t) - 1
        assert curve.means[at] == pytest.approx(weighted([1 - t, t]).mean(), rel=1e-12)
    low, high = curve.plateau
    best = weighted(outcome.weights)[:, 0]
    for t in (low + 1e-9, high - 1e-9):
        assert tieaware.statistics.paired_test(weighted([1 - t, t])[:, 0], best).p > 0.05


def test_three_runs_have_a_curve_each_through_the_chosen_weights():
    qrels, runs = generated({"a": 0.9, "b": 0.7, "c": 0.5})
    outcome = fusion(qrels, runs, "AP", restarts=1)
    assert [curve.run for curve in outcome.curves] == ["a", "b", "c"]
    for curve, weight in zip(outcome.curves, outcome.weights, strict=True):
        assert curve.weight == weight
        assert curve.value == pytest.approx(outcome.value, rel=1e-12)
        assert outcome.value >= curve.means.max() - 1e-12
        assert curve.interval[0] <= weight <= curve.interval[1]
    assert list(outcome.drawings()) == ["curve", "curve-1-a", "curve-2-b", "curve-3-c"]


def test_runs_that_complete_each_other_are_not_called_noise():
    """Each run ranks half of the queries well, and says by its scores which."""
    qrels = {f"q{q}": {"d0": 1} for q in range(40)}
    rng, runs = np.random.default_rng(2), {"a": {}, "b": {}}
    for q, query in enumerate(qrels):
        for i, run in enumerate(runs.values()):
            good = q % 2 == i
            run[query] = {f"d{d}": rng.random() * (0.2 if good else 1.0) + (d == 0) * good * 3 for d in range(8)}
    outcome = fusion(qrels, runs, "RR", normalise="none")
    assert not outcome.is_noise
    assert outcome.trial.gains[1:].min() > 0.2


def test_less_is_better():
    qrels, runs = generated({"a": 0.9, "b": 0.2})
    outcome = fusion(qrels, runs, "MeanRank")
    assert outcome.value <= min(curve.means.min() for curve in outcome.curves) + 1e-12
    assert (outcome.trial.gains == -(outcome.trial.held_out.values.mean() - outcome.trial.others.mean(axis=1))).all()


@pytest.mark.parametrize("names", ["ab", "abc"])
def test_equal_runs_have_a_flat_curve_and_no_warning(names):
    qrels, runs = generated({"a": 1.0})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outcome = fusion(qrels, dict.fromkeys(names, runs["a"]), "AP")
    assert outcome.is_flat
    assert outcome.is_noise
    assert outcome.weights == pytest.approx(np.full(len(names), 1 / len(names)))


def test_figures_of_long_curves_show_averages_over_equal_intervals():
    rng = np.random.default_rng(9)
    edges = np.concatenate(([0.0], np.sort(rng.random(19_999)), [1.0]))
    curve = Curve("b", edges, rng.random(20_000), rng.random(20_000), 0.5, 1.0, (0.4, 0.6), (0.0, 1.0))
    drawn = thinned(curve)
    assert len(drawn.means) == len(drawn.edges) - 1 == 4_000
    assert thinned(drawn) is drawn
    low, high = drawn.edges[100:102]
    widths = np.clip(edges[1:], low, high) - np.clip(edges[:-1], low, high)
    assert drawn.means[100] == pytest.approx((widths * curve.means).sum() / (high - low))
    assert drawn.errors[100] == pytest.approx((widths * curve.errors).sum() / (high - low))


def test_tables():
    qrels, runs = generated({"a": 1.0, "$_b$": 0.5})
    outcome = fusion(qrels, runs, "AP", folds=3)
    tables = outcome.tables()
    assert [row[0] for row in tables["fusion"].rows] == [
        "fused, weights from other queries", "fused, weights from all queries", "RRF", "a alone", "$_b$ alone",
    ]  # fmt: skip
    (first, second) = tables["weights"].rows
    np.testing.assert_allclose(first[1:], [1 - second[1], *(1 - second[i] for i in (3, 2, 5, 4))])
    assert len(tables["folds"].rows) == 3
    assert len(tables["queries"].rows) == 30
    edges = [row[1] for row in tables["curves"].rows] + [tables["curves"].rows[-1][2]]
    np.testing.assert_array_equal(edges, outcome.curves[0].edges)


QRELS, RUNS = generated({"a": 1.0, "b": 0.5}, n_queries=12)


def test_runs_are_read_once():
    """Streams can be read only once."""
    lines = [f"{q} Q0 {d} 1 {score!r} a\n" for q, scores in RUNS["a"].items() for d, score in scores.items()]
    outcome = fusion(QRELS, {"a": io.BytesIO("".join(lines).encode()), "b": RUNS["b"]}, "AP", folds=2)
    expected = fusion(QRELS, RUNS, "AP", folds=2)
    assert outcome.value == expected.value
    np.testing.assert_array_equal(outcome.trial.others, expected.trial.others)
    assert outcome.run().to_dict() == expected.run().to_dict()
