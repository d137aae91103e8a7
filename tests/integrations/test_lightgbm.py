"""Metrics for the installed LightGBM."""

from __future__ import annotations

import lightgbm
import numpy as np
import pytest
from booster_data import OF_LIGHTGBM, lightgbm_data, lists

from tieaware import Evaluator, InputError
from tieaware.integrations.lightgbm import metric


def test_weighted_means_of_undefined_and_geometric_values():
    labels, scores = lists(3)
    weights = np.random.default_rng(5).integers(1, 9, labels.shape).astype(np.float32)
    of_queries = weights.mean(axis=1, dtype=np.float64)
    rows = lightgbm_data(labels, scores).set_weight(weights.ravel())
    # The metric is called with arrays, as by LightGBM's scikit-learn interface.
    expected = np.average(Evaluator(labels, "AP", undefined=1)(scores)[:, 0], weights=of_queries)
    sizes = np.full(len(labels), labels.shape[1])
    ((_, found, _),) = metric("AP", undefined=1)(labels.ravel(), scores.ravel(), weights.ravel(), sizes)
    assert found == pytest.approx(expected, rel=1e-14)
    expected = np.average(Evaluator(labels[1:], "AP")(scores[1:])[:, 0], weights=of_queries[1:])
    assert metric("AP", undefined=np.nan)(scores.ravel(), rows)[0][1] == pytest.approx(expected, rel=1e-14)
    with pytest.raises(InputError, match="weight: has no meaning for GMAP, whose mean over queries is geometric"):
        metric(["AP", "GMAP"])(scores.ravel(), rows)


def test_train_rankers_and_cv_call_the_metric_and_train_can_stop_by_it():
    labels, _ = lists(3)
    training, validation = lightgbm_data(labels), lightgbm_data(labels[::-1].copy())
    params = {**OF_LIGHTGBM, "metric": "None"}
    record = {}
    model = lightgbm.train(
        params, training, 6, valid_sets=[validation], valid_names=["v"], feval=metric(["nDCG@5", "ESL"]),
        callbacks=[
            lightgbm.record_evaluation(record),
            lightgbm.early_stopping(6, verbose=False, first_metric_only=True),
        ],
    )  # fmt: skip
    expected = Evaluator(labels[::-1], ["nDCG@5", "ESL"])
    features = validation.get_data()
    for round_ in range(model.num_trees()):
        means = expected.mean(model.predict(features, num_iteration=round_ + 1).reshape(labels.shape))
        assert [record["v"][name][round_] for name in ("nDCG@5", "ESL")] == means.tolist()
    assert model.best_iteration == 1 + int(np.argmax(record["v"]["nDCG@5"]))

    sizes = np.full(len(labels), labels.shape[1])
    options = {"num_leaves": 4, "min_child_samples": 2, "verbosity": -1, "n_jobs": 1}
    ranker = lightgbm.LGBMRanker(n_estimators=model.num_trees(), **options)
    ranker.fit(
        training.get_data(), labels.ravel(), group=sizes, eval_X=features, eval_y=labels[::-1].ravel(),
        eval_group=[sizes], eval_metric=metric(["nDCG@5", "ESL"]),
    )  # fmt: skip
    scores = ranker.predict(features).reshape(labels.shape)
    found = [ranker.evals_result_["valid_0"][name][-1] for name in ("nDCG@5", "ESL")]
    assert found == expected.mean(scores).tolist()

    folds = lightgbm.cv(params, training, 2, nfold=2, feval=metric("nDCG@5"))
    assert 0 < folds["valid nDCG@5-mean"][-1] <= 1
