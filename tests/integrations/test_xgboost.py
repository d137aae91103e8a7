"""Metrics for the installed XGBoost."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost
from booster_data import OF_XGBOOST, lists, xgboost_data
from support.errors import message_of

from tieaware import Evaluator, InputError
from tieaware.integrations.xgboost import metric


@pytest.mark.parametrize(("last", "maximize"), [("nDCG@5", True), ("nDCG@5", False), ("ESL", None)])
def test_train_calls_it_and_stops_early_by_it(last, maximize):
    """Early stopping uses the last measure: it keeps the maximum if maximize=True, otherwise the minimum."""
    labels, _ = lists(3)
    training, validation = xgboost_data(labels), xgboost_data(labels[::-1].copy())
    record = {}
    model = xgboost.train(
        OF_XGBOOST, training, 6, evals=[(validation, "v")], evals_result=record, verbose_eval=False,
        custom_metric=metric(["RR", last]), early_stopping_rounds=6, maximize=maximize,
    )  # fmt: skip
    expected = Evaluator(labels[::-1], ["RR", last])
    for round_ in range(6):
        means = expected.mean(model.predict(validation, iteration_range=(0, round_ + 1)).reshape(labels.shape))
        assert [record["v"][name][round_] for name in ("RR", last)] == pytest.approx(means, abs=6e-7)
    values = record["v"][last]
    assert values[model.best_iteration] == (max if maximize else min)(values)


@pytest.mark.parametrize("measures", ["nDCG@5", ["ESL", "RR"]])
@pytest.mark.parametrize("train", [xgboost.train, xgboost.cv])
def test_early_stopping_that_would_keep_the_worst_round_is_refused(train, measures):
    labels, _ = lists(3)
    data = xgboost_data(labels)
    evals = {"evals": [(data, "v")]} if train is xgboost.train else {"nfold": 2}
    measured = metric(measures)
    options = {"verbose_eval": False, "custom_metric": measured, **evals}
    last = measured.measures[-1]
    expected = (
        f"early_stopping_rounds: would keep the round with the lowest {last}, because XGBoost minimises this name; "
        "pass callbacks=[metric.early_stopping(3)] instead, or maximize=True"
    )
    assert message_of(train, OF_XGBOOST, data, 6, **options, early_stopping_rounds=3) == expected
    stopping = xgboost.callback.EarlyStopping
    assert message_of(train, OF_XGBOOST, data, 6, **options, callbacks=[stopping(rounds=3)]) == expected
    # It may watch a metric of XGBoost.
    own = stopping(rounds=3, metric_name="ndcg@5")
    for callback in (own, measured.early_stopping(3), stopping(rounds=3, maximize=True)):
        train({**OF_XGBOOST, "eval_metric": "ndcg@5"}, data, 6, **options, callbacks=[callback])


@pytest.mark.parametrize("save_best", [True, False])
@pytest.mark.parametrize(
    ("measure", "name", "best"), [("ndcg@5", "nDCG@5", max), (None, "RR", max), ("ESL", "ESL", min)]
)
def test_the_callback_keeps_the_best_round_without_being_told_the_direction(measure, name, best, save_best):
    labels, _ = lists(3)
    training, validation = xgboost_data(labels[1:]), xgboost_data(labels[:0:-1].copy())
    measured, record = metric(["nDCG@5", "ESL", "RR"]), {}
    model = xgboost.train(
        OF_XGBOOST | {"max_depth": 5, "eta": 1, "eval_metric": "ndcg@5"}, training, 40, evals=[(validation, "v")],
        evals_result=record, verbose_eval=False, custom_metric=measured,
        callbacks=[measured.early_stopping(4, measure=measure, save_best=save_best)],
    )  # fmt: skip
    values = record["v"][name]
    assert values[model.best_iteration] == best(values)
    # The training stopped early, and the last round was not the best.
    assert len(values) == model.best_iteration + 5 < 40
    assert model.num_boosted_rounds() == (model.best_iteration + 1 if save_best else len(values))


def test_the_callback_refuses_other_measures():
    stopping = metric(["nDCG@5", "RR"]).early_stopping
    for options, message in (
        ({"rounds": 10, "measure": "map"}, "measure: expected one of nDCG@5, RR, which this metric computes, found AP"),
        ({"rounds": 0}, "rounds: expected a whole number of at least 1, found 0"),
        ({"rounds": 1, "min_delta": -1}, "min_delta: expected a number from 0 to inf, found -1"),
    ):
        assert message in message_of(stopping, **options)


def test_a_ranker_cannot_call_the_metric():
    labels, scores = lists(3)
    queries = np.repeat(np.arange(len(labels)), labels.shape[1])
    ranker = xgboost.XGBRanker(n_estimators=1, eval_metric=metric("AP"))
    with pytest.raises(InputError, match=r"data: must be a DMatrix, not ndarray; use xgboost\.train instead"):
        ranker.fit(
            scores.reshape(-1, 1), labels.ravel(), qid=queries, eval_qid=[queries],
            eval_set=[(scores.reshape(-1, 1), labels.ravel())],
        )  # fmt: skip
