"""Coordinate ascent by exact line searches."""

from __future__ import annotations

import numpy as np
import pytest

from tieaware import Evaluator
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
