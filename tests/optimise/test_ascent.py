"""Coordinate ascent by exact line searches."""

from __future__ import annotations

import numpy as np
import pytest

import tieaware
from tieaware import Evaluator
from tieaware.experiments import fusion
from tieaware.optimise import coordinate_ascent


def data(seed, n_queries=40, depth=12, n_features=4):
    """Return labels and features, of which the last is noise."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, (n_queries, depth))
    noise = np.array([0.5, 2.0, 4.0, 1.0])[:n_features]
    worth = np.array([1.0, 1.0, 1.0, 0.0])[:n_features]
    features = labels[..., None] * worth + noise * rng.normal(size=(n_queries, depth, n_features))
    return labels, features.reshape(-1, n_features)


@pytest.mark.parametrize("measure", ["nDCG@5", "AP", "ESL"])
def test_no_single_weight_can_be_improved(measure):
    """The result is best along each feature: no value of a grid through one weight is better."""
    labels, features = data(1)
    evaluator = Evaluator(labels, [measure])
    found = coordinate_ascent(evaluator, features)
    sign = -1.0 if measure == "ESL" else 1.0
    assert found.value == evaluator.combinations(features, found.weights[None]).item()
    assert np.abs(found.weights).sum() == pytest.approx(1.0)
    for feature in range(4):
        grid = np.tile(found.weights, (200, 1))
        grid[:, feature] += np.linspace(-3.0, 3.0, 200)
        assert (sign * evaluator.combinations(features, grid) <= sign * found.value + 1e-12).all()


def test_it_is_better_than_random_weights():
    labels, features = data(2)
    evaluator = Evaluator(labels, ["nDCG@5"])
    found = coordinate_ascent(evaluator, features, restarts=2)
    tried = evaluator.combinations(features, np.random.default_rng(0).normal(size=(300, 4)))
    assert found.value >= tried.max()
    assert found.value >= coordinate_ascent(evaluator, features).value


def test_held_out_queries_decide_where_to_stop():
    labels, features = data(3, n_queries=6)
    other_labels, other_features = data(4, n_queries=200)
    evaluator, held_out = Evaluator(labels, ["AP"]), Evaluator(other_labels, ["AP", "RR"])
    plain = coordinate_ascent(evaluator, features, restarts=5)
    chosen = coordinate_ascent(evaluator, features, restarts=5, held_out=(held_out, other_features))
    assert np.isnan(plain.held_out)
    assert chosen.held_out == held_out.combinations(other_features, chosen.weights[None])[0, 0]
    assert chosen.held_out >= held_out.combinations(other_features, plain.weights[None])[0, 0]
    assert chosen.value <= plain.value


def test_the_seed_decides_the_restarts():
    labels, features = data(5)
    evaluator = Evaluator(labels, ["AP"])
    first, again = (coordinate_ascent(evaluator, features, restarts=3, seed=7) for _ in range(2))
    np.testing.assert_array_equal(first.weights, again.weights)
    assert first[1:2] + first[3:] == again[1:2] + again[3:]


def test_a_useless_feature_gets_no_weight_that_harms():
    labels, features = data(6, n_queries=60)
    evaluator = Evaluator(labels, ["AP"])
    alone = evaluator.mean(features[:, 0]).item()
    assert coordinate_ascent(evaluator, features, start=[1.0, 0.0, 0.0, 0.0]).value > alone


def test_weights_can_be_kept_from_being_negative():
    """The second feature is the greater the less relevant a document is, so a negative weight helps."""
    labels, features = data(7, n_features=2)
    features[:, 1] *= -1.0
    evaluator = Evaluator(labels, ["AP"])
    assert coordinate_ascent(evaluator, features).weights[1] < 0.0
    found = coordinate_ascent(evaluator, features, nonnegative=True, restarts=3)
    assert (found.weights >= 0.0).all()
    grid = np.linspace(0.0, 1.0, 101)
    tried = evaluator.combinations(features, np.stack([1.0 - grid, grid], axis=1))
    assert found.value >= tried[1:-1].max() - 1e-12


def test_documents_that_differ_in_one_feature_alone_cross_only_where_it_has_no_weight(monkeypatch):
    """A line from the present weight would have many crossings near 0, to which it would round the one at 0."""
    rng = np.random.default_rng(8)
    features = np.zeros((200, 2))
    features[:100, 0], features[100:, 1] = rng.random(100), rng.random(100)
    evaluator = Evaluator((rng.random((1, 200)) < 0.1).astype(int), ["AP"])
    along, breaks = evaluator.along, []

    def recorded(*arguments):
        line = along(*arguments)
        breaks.extend(line.breaks.tolist())
        return line

    monkeypatch.setattr(evaluator, "along", recorded)
    found = coordinate_ascent(evaluator, features, start=[0.3, 0.7])
    assert found.value == evaluator.combinations(features, found.weights[None]).item()
    assert len(breaks) > 10
    assert not [at for at in breaks if 0.0 < abs(at) < 1e-9]


def complementary(n_queries=60, depth=15):
    """Return labels, and features each of which ranks every second query, but not the others."""
    rng = np.random.default_rng(11)
    labels = rng.integers(0, 2, (n_queries, depth))
    half = (np.arange(n_queries) % 2 == 0)[:, None]
    features = [3.0 * labels * which + rng.normal(size=labels.shape) for which in (half, ~half)]
    return labels, np.stack(features, axis=-1).reshape(-1, 2)


def one_useful():
    """Return labels, and features of which only the first is not noise."""
    labels, features = data(12)
    return labels, np.concatenate((features[:, :1], np.random.default_rng(3).normal(size=(len(features), 2))), axis=1)


def only_noise():
    labels, features = data(13)
    return labels, np.random.default_rng(4).normal(size=features.shape)


def tied():
    labels, features = complementary()
    return labels, features.round()


@pytest.mark.parametrize(
    ("made", "measure", "decision"),
    [
        (complementary, "AP", "Fuse them: x0 0."),
        (complementary, "MeanRank", "Fuse them by RRF: the best weights are noise."),
        (tied, "nDCG@10", "Fuse them: x0 0."),
        (one_useful, "nDCG@10", "Do not fuse them: x0 alone earns as much, and the best weights are noise."),
        (only_noise, "nDCG@5", "Do not fuse them: x"),
    ],
)
def test_a_matrix_has_the_verdict_of_runs(made, measure, decision):
    """With a run for each column, the experiment on fusion says the same; with two columns, it knows more."""
    labels, features = made()
    names = [f"x{i}" for i in range(features.shape[1])]
    evaluator = Evaluator(labels, measure)
    found = coordinate_ascent(evaluator, features, nonnegative=True, folds=10)
    assert found.verdict(names).startswith(decision)
    queries, documents = np.repeat(np.arange(len(labels)), labels.shape[1]), np.arange(labels.size)
    qrels = tieaware.Qrels.from_columns(queries, documents, labels.ravel())
    runs = {name: tieaware.Run.from_columns(queries, documents, features[:, i]) for i, name in enumerate(names)}
    outcome = fusion(qrels, runs, measure, normalise="none")
    np.testing.assert_array_equal(found.trial.others, outcome.trial.others)
    if len(names) > 2:
        np.testing.assert_array_equal(found.trial.held_out.values, outcome.trial.held_out.values)
        assert found.verdict(names) == outcome.verdict()
    else:
        # The weights of two runs are the middle of the best interval, which need not be where a search ends.
        kinds = [each.partition("x0 ")[0].partition(". ")[0] for each in (found.verdict(names), outcome.verdict())]
        assert kinds[0] == kinds[1]


def test_weights_with_the_decimals_of_the_verdict_have_about_its_value():
    labels, features = complementary()
    features *= [1e-3, 1.0]
    evaluator = Evaluator(labels, "AP")
    found = coordinate_ascent(evaluator, features, folds=5)
    shown = found.verdict(["a", "b"]).partition(": a ")[2].partition(". AP")[0].split(", b ")
    value = evaluator.combinations(features, [[float(weight) for weight in shown]]).item()
    error = found.trial.held_out.values.std() / np.sqrt(len(labels))
    assert len(shown[1]) > len("0.00")
    assert abs(value - found.value) <= error / 4
    assert abs(evaluator.combinations(features, found.weights.round(2)[None]).item() - found.value) > error / 4


def test_folds_are_evaluated_with_weights_of_the_others():
    labels, features = data(14)
    evaluator = Evaluator(labels, ["RR", "AP"])
    found = coordinate_ascent(evaluator, features, "AP", folds=4, seed=3, restarts=1)
    plain = coordinate_ascent(evaluator, features, "AP", seed=3, restarts=1)
    assert (found.value, found.sweeps, found.start, plain.trial) == (*plain[1:2], *plain[3:])
    np.testing.assert_array_equal(found.weights, plain.weights)
    fold = np.random.default_rng(3).permutation(len(labels)) % 4
    rows = features.reshape(*labels.shape, -1)
    for i in range(4):
        others = Evaluator(labels[fold != i], "AP")
        weights = coordinate_ascent(others, rows[fold != i].reshape(-1, 4), seed=3, restarts=1).weights
        np.testing.assert_array_equal(found.trial.held_out.weights[i], weights)
        for query in np.flatnonzero(fold == i):
            expected = evaluator.rows(query, query + 1).combinations(rows[query], weights[None])[0, 1]
            assert found.trial.held_out.values[query] == expected


def test_a_feature_that_is_better_if_it_is_smaller_is_compared_in_that_direction():
    labels, features = one_useful()
    evaluator = Evaluator(labels, "AP")
    turned = features * [-1.0, 1.0, 1.0]
    plain, negated = (coordinate_ascent(evaluator, each, folds=5) for each in (features, turned))
    np.testing.assert_array_equal(plain.trial.others, negated.trial.others)
    assert negated.weights[0] < -0.8
    assert negated.trial.gains[1] < 0.01
    nonnegative = coordinate_ascent(evaluator, turned, folds=5, nonnegative=True).trial
    np.testing.assert_array_equal(nonnegative.others[1], evaluator(turned[:, 0])[:, 0])


def test_queries_without_a_value_are_left_out_of_the_verdict():
    labels, features = complementary()
    labels[:5] = 0
    found = [
        coordinate_ascent(Evaluator(labels, "AP", undefined=undefined), features, folds=5).trial
        for undefined in (0.0, float("nan"))
    ]
    assert [len(each.held_out.values) for each in found] == [60, 55]
    np.testing.assert_array_equal(found[0].others[:, 5:], found[1].others)


def test_many_features_are_not_all_listed():
    labels, features = complementary()
    more = np.random.default_rng(5).normal(size=(len(features), 12))
    found = coordinate_ascent(Evaluator(labels, "AP"), np.concatenate((features, more), axis=1), folds=3)
    decision = str(found).partition(". ")[0]
    assert decision.count("feature") == 10
    assert decision.endswith(" and 4 smaller ones")


def test_without_folds_the_text_says_how_to_get_a_verdict():
    labels, features = complementary()
    text = str(coordinate_ascent(Evaluator(labels, "AP"), features))
    assert text.startswith("The weights 0.")
    assert text.endswith(". With folds=10, a verdict says if they are noise.")


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32])
def test_features_of_any_type_have_a_verdict(dtype):
    labels, features = complementary()
    features = (features > 1.0).astype(dtype)
    evaluator = Evaluator(labels, "AP")
    found, expected = (coordinate_ascent(evaluator, each, folds=3) for each in (features, features.astype(float)))
    assert str(found) == str(expected)
    np.testing.assert_array_equal(found.trial.others, expected.trial.others)
