"""Training with LambdaMART's gradients under ties: LightGBM with tieaware's objective, compared with its lambdarank."""

from functools import partial

import numpy as np
import pytest

from tieaware.integrations.lightgbm import objective

lightgbm = pytest.importorskip("lightgbm")

SECTION = "Training LightGBM with gradients under ties, one thread"
MEASURE = "nDCG(dcg='exp-log2')@10"


def lists(n_queries, depth, seed):
    """Return features, some of which have few values, and labels from 0 to 4 that the features tell with much noise."""
    rng = np.random.default_rng(seed)
    worth = rng.normal(size=(n_queries, depth))
    labels = np.searchsorted([0.5, 1.2, 1.8, 2.3], worth + 0.3 * rng.normal(size=worth.shape))
    features = worth[..., None] * (np.arange(20) % 4 == 0) + 1.5 * rng.normal(size=(n_queries, depth, 20))
    features[..., ::2] = np.rint(features[..., ::2])
    return features.reshape(n_queries * depth, -1), labels


def data(features, labels):
    params = {"verbosity": -1}
    return lightgbm.Dataset(features, labels.ravel(), group=np.full(len(labels), labels.shape[1]), params=params)


def train(rows, trained, rounds):
    params = {"objective": trained, "num_threads": 1, "verbosity": -1, "num_leaves": 31, "learning_rate": 0.1}
    return lightgbm.train(params, rows, rounds)


@pytest.mark.parametrize("measure", [MEASURE, "AP", "RR"])
def test_training(compare, small, measure):
    n_queries, depth, rounds = (20, 20, 3) if small else (1_000, 100, 100)
    features, labels = lists(n_queries, depth, 1)
    rows = data(features, labels).construct()

    def check():
        order = np.random.default_rng(2).permuted(np.tile(np.arange(depth), (n_queries, 1)), axis=1)
        places = (np.arange(n_queries)[:, None] * depth + order).ravel()
        shuffled = data(features[places], np.take_along_axis(labels, order, 1))
        models = [train(each, objective(measure), 3) for each in (rows, shuffled)]
        assert models[0].model_to_string() == models[1].model_to_string()

    compare(
        SECTION, f"{n_queries:,} × {depth}, {rounds} rounds for {measure}", check=check,
        contender=partial(train, rows, objective(measure), rounds),
        baseline=partial(train, rows, "lambdarank", rounds), to="lambdarank", at_most=1.5,
    )  # fmt: skip
