"""Objectives for the installed LightGBM and XGBoost."""

from __future__ import annotations

import copy
import pickle

import lightgbm
import numpy as np
import pytest
import xgboost
from support.errors import message_of

from tieaware import Evaluator
from tieaware.integrations.lightgbm import objective
from tieaware.integrations.xgboost import objective as xgboost_objective
from tieaware.optimise import Lambdas

QUIET = {"verbosity": -1, "num_threads": 2, "num_leaves": 15, "learning_rate": 0.1, "min_data_in_leaf": 5}


def lists(n_queries=60, depth=40, seed=3, noise=1.0):
    """Return features with few and with many values, and labels from 0 to 4."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 5, (n_queries, depth)) * (rng.random((n_queries, depth)) < 0.3)
    views = labels[..., None] / 2 + noise * rng.normal(size=(n_queries, depth, 6))
    views[..., :3] = np.rint(views[..., :3])
    return views, labels


def dataset(features, labels, **options):
    rows = features.reshape(labels.size, -1)
    return lightgbm.Dataset(rows, labels.ravel(), group=np.full(len(labels), labels.shape[1]), **options)


def shuffled(*arrays):
    """Return arrays whose documents are in another order, in the same lists, and this order."""
    order = np.random.default_rng(9).permuted(np.tile(np.arange(arrays[1].shape[1]), (len(arrays[1]), 1)), axis=1)
    queries = np.arange(len(order))[:, None]
    return *(each[queries, order] for each in arrays), order


@pytest.mark.parametrize("measure", ["nDCG@9", "AP", "RR", "P@5", "RBP", "DCG(gains={0: 0, 1: 0.1, 2: 1, 3: 1, 4: 3})"])
def test_rows_in_another_order_give_the_same_trees(measure):
    """The models of LightGBM have the same text: all splits, leaf values and gains."""
    features, labels = lists()
    *others, _ = shuffled(features, labels)
    models = [
        lightgbm.train({**QUIET, "objective": objective(measure)}, dataset(*rows), 15).model_to_string()
        for rows in ((features, labels), others)
    ]
    assert models[0] == models[1]
    assert models[0].count("Tree=") == 15


@pytest.mark.parametrize("measure", ["nDCG@10", "AP", "RR"])
def test_rows_in_another_order_give_the_same_trees_of_xgboost(measure):
    """The features have fewer values than XGBoost has bins; otherwise, its bins depend on the order of the rows."""
    features, labels = lists()
    features = np.rint(4 * features) / 4 + 0.0
    *others, _ = shuffled(features, labels)
    models = []
    for views, judged in ((features, labels), others):
        rows = xgboost.DMatrix(views.reshape(judged.size, -1), judged.ravel(), group=np.full(60, 40))
        model = xgboost.train({"max_depth": 4, "nthread": 2}, rows, 10, obj=xgboost_objective(measure))
        models.append(model.get_dump(with_stats=True))
    assert models[0] == models[1]


def own_gradients(scores, labels, **options):
    """Return the gradients and hessians of LightGBM's lambdarank, from a tree for each document, with it in one leaf.

    The output of a leaf is -gradient / (hessian + l2), so trees with two values of l2 give both. LightGBM estimates how
    many documents are in a leaf by their hessians; where it finds none, there is no such tree, and the result is NaN.
    """
    parameters = {
        "objective": "lambdarank", "verbosity": -1, "num_threads": 1, "learning_rate": 1.0, "num_leaves": 2,
        "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 1e-9, **options,
    }  # fmt: skip
    found = np.full((2, labels.size), np.nan)
    for document in range(labels.size):
        indicator = (np.arange(labels.size) == document).astype(float)
        for i, l2 in enumerate((0.01, 0.1)):
            binning = {"min_data_in_bin": 1, "feature_pre_filter": False, "verbosity": -1}
            rows = dataset(indicator, labels, init_score=scores.ravel(), params=binning)
            model = lightgbm.train({**parameters, "lambda_l2": l2}, rows, 1)
            if "num_leaves=2" in model.model_to_string():
                found[i, document] = model.predict([[1.0]], raw_score=True)[0]
    first, second = found
    hessian = (second * 0.1 - first * 0.01) / (first - second)
    return -first * (hessian + 0.01), hessian


@pytest.mark.parametrize("norm", [True, False])
@pytest.mark.parametrize("truncation", [8, 4])
def test_gradients_without_ties_are_those_of_lambdarank(norm, truncation):
    """LightGBM computes in single precision. Its ideal stops at the truncation level, which scales the gradients."""
    rng = np.random.default_rng(4)
    labels, scores = rng.integers(0, 3, (2, 8)), rng.permuted(np.linspace(-1, 1, 8) * np.ones((2, 1)), axis=1)
    ours = Lambdas(labels, "nDCG(dcg='exp-log2')", truncation=truncation, sigma=1.5, normalise=norm)(scores)
    options = {"lambdarank_norm": norm, "lambdarank_truncation_level": truncation, "sigmoid": 1.5}
    gradient, hessian = own_gradients(scores, labels, **options)
    known = np.isfinite(gradient)
    assert known.sum() >= 8
    mine = np.reshape(ours, (2, -1))[:, known]
    np.testing.assert_allclose(gradient[known] / hessian[known], mine[0] / mine[1], rtol=1e-3)
    if truncation == 8:
        np.testing.assert_allclose(np.array([gradient, hessian])[:, known], mine, rtol=1e-3)


def noisy_lists(n_queries, seed):
    """Return features with much noise, half of them rounded, and labels from 0 to 4."""
    rng = np.random.default_rng(seed)
    worth = rng.normal(size=(n_queries, 60))
    labels = np.searchsorted([0.5, 1.2, 1.8, 2.3], worth + 0.3 * rng.normal(size=worth.shape))
    features = worth[..., None] * (np.arange(20) % 4 == 0) + 1.5 * rng.normal(size=(n_queries, 60, 20))
    features[..., ::2] = np.rint(features[..., ::2])
    return features, labels


@pytest.mark.slow
def test_models_are_as_good_as_those_of_lambdarank():
    """Held-out queries of five seeds. By default, lambdarank trains nDCG to rank 30, its truncation level."""
    measure = "nDCG(dcg='exp-log2')"
    differences = []
    for seed in range(10, 15):
        features, labels = noisy_lists(300, seed)
        others, judged = noisy_lists(1000, seed + 100)
        values = []
        for trained in (objective(f"{measure}@30"), "lambdarank"):
            params = {"objective": trained, "num_threads": 1, "verbosity": -1}
            model = lightgbm.train(params, dataset(features, labels), 60)
            values.append(Evaluator(judged, f"{measure}@10").score(model.predict(others.reshape(judged.size, -1))))
        differences.append(values[0] - values[1])
    assert np.mean(differences) >= 0
    assert np.min(differences) > -0.005


def test_weights_of_rows():
    features, labels = lists(5)
    weights = np.random.default_rng(1).integers(1, 4, labels.size).astype(np.float32)
    rows = dataset(features, labels, weight=weights).construct()
    trained = objective("nDCG@10")
    gradient, hessian = trained(np.zeros(labels.size), rows)
    expected = Lambdas(labels, "nDCG@10", weights=weights)(np.zeros(labels.size))
    np.testing.assert_allclose([gradient, hessian], expected, rtol=1e-6)
    same = trained(labels.ravel(), np.zeros(labels.size), weights, np.full(5, 40))
    np.testing.assert_array_equal(same, (gradient, hessian))
    of_queries = np.array([1.0, 2.0, 3.0, 0.0, 1.0])
    matrix = xgboost.DMatrix(features.reshape(labels.size, -1), labels.ravel(), group=np.full(5, 40), weight=of_queries)
    found = xgboost_objective("nDCG@10")(np.zeros(labels.size), matrix)
    expected = Lambdas(labels, "nDCG@10", weights=of_queries)(np.zeros(labels.size))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_sums_of_gradients_are_exact():
    """Sums in any order, and of any part, are the same; the rounding is finer than that to single precision."""
    features, labels = lists(50)
    scores = np.random.default_rng(2).normal(size=labels.size)
    gradient, _ = objective("AP")(scores, dataset(features, labels).construct())
    exact = gradient.astype(np.float64)
    forward, backward = np.cumsum(exact)[-1], np.cumsum(exact[::-1])[-1]
    assert forward == backward == np.cumsum(exact[np.argsort(exact)])[-1]
    assert gradient.dtype == np.float32


def test_scikit_learn_interface_copies_and_pickles():
    features, labels = lists(20)
    rows, sizes = features.reshape(labels.size, -1), np.full(20, 40)
    ranker = lightgbm.LGBMRanker(objective=objective("RR"), n_estimators=5, num_leaves=7, verbosity=-1)
    ranker.fit(rows, labels.ravel(), group=sizes)
    evaluator = Evaluator(labels, "RR")
    assert evaluator.score(ranker.predict(rows)) > evaluator.score(np.zeros(labels.size)) + 0.1
    trained = objective("nDCG@3", truncation=5, sigma=2.0, normalise=False)
    assert repr(trained) == "Objective(nDCG@3)"
    scores, data = np.arange(labels.size) % 7, dataset(features, labels).construct()
    for other in (pickle.loads(pickle.dumps(trained)), copy.deepcopy(trained)):
        np.testing.assert_array_equal(other(scores, data), trained(scores, data))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rows, matrix: objective("ERR@10"), "measure: ERR@10 cannot be trained by swaps of two documents"),
        (lambda rows, matrix: objective("AP", sigma=-1), "sigma: expected a number from 1e-09"),
        (lambda rows, matrix: objective("AP")(np.full(40, np.nan), rows), "scores[0]: expected a finite number"),
        (lambda rows, matrix: objective("AP")(np.zeros(40), matrix), "tieaware.integrations.xgboost.objective"),
        (lambda rows, matrix: xgboost_objective("AP")(np.zeros(40), rows), "tieaware.integrations.lightgbm.objective"),
        (lambda rows, matrix: objective("AP")(np.ones(2), np.ones(2)), "group: the data has no groups"),
    ],
)  # fmt: skip
def test_errors(call, message):
    features, labels = lists(1)
    rows = dataset(features, labels).construct()
    matrix = xgboost.DMatrix(features.reshape(40, -1), labels.ravel(), group=[40])
    assert message in message_of(call, rows, matrix)
