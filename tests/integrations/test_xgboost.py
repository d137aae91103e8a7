"""Metrics for the installed XGBoost."""

from __future__ import annotations

import gc
import pickle

import numpy as np
import pytest
import xgboost
from booster_data import lists, own_values
from support.errors import message_of

from tieaware import Evaluator, InputError
from tieaware.integrations.xgboost import metric

QUIET = {"objective": "rank:ndcg", "verbosity": 0, "nthread": 1, "max_depth": 2, "base_score": 0}


def data(labels, scores=None):
    """Return a data set of lists of equal length, with two features that depend weakly on the labels."""
    features = np.random.default_rng(1).integers(0, 4, (labels.size, 2)) + labels.reshape(-1, 1)
    queries = np.repeat(np.arange(len(labels)), labels.shape[1])
    margin = None if scores is None else scores.ravel()
    return xgboost.DMatrix(features, labels.ravel(), qid=queries, base_margin=margin)


@pytest.mark.parametrize("row", own_values("XGBoost"), ids=" ".join)
@pytest.mark.parametrize("levels", [3, 25, None])
def test_the_table_of_own_values_is_right(row, levels):
    """The options that the documentation gives for XGBoost's own values are right with many, some and no ties."""
    theirs, ours, undefined, remark = row
    labels, scores = lists(levels)
    if theirs.startswith(("map", "pre")):
        labels = np.minimum(labels, 1)
    params = {**QUIET, "eval_metric": theirs} | ({"ndcg_exp_gain": False} if "ndcg_exp_gain" in remark else {})
    rows = data(labels, scores)
    shown = xgboost.Booster(params, [rows]).eval(rows)
    name, expected = shown.split("\teval-")[1].split(":")
    assert name == theirs
    ((_, found),) = metric(ours, ties="run_order", undefined=float(undefined))(scores.ravel(), rows)
    assert found == pytest.approx(float(expected), rel=1e-14)
    ((_, average),) = metric(ours, undefined=float(undefined))(scores.ravel(), rows)
    assert (average == pytest.approx(float(expected), rel=1e-12)) == (levels is None)


def test_weights_count_as_in_xgboost():
    """Query weights have the same effect. A metric name ending in - gives 0 to a query without a relevant document."""
    labels, scores = lists(3)
    rows = data(np.minimum(labels, 1), scores)
    rows.set_weight(np.random.default_rng(5).random(len(labels)))
    names = {"ndcg@5-": "nDCG@5", "map@100-": "AP@100", "pre@5": "P@5"}
    shown = xgboost.Booster({**QUIET, "eval_metric": list(names)}, [rows]).eval(rows)
    theirs = [float(each.split(":")[1]) for each in shown.split("\t")[1:]]
    found = [value for _, value in metric(list(names.values()), ties="run_order")(scores.ravel(), rows)]
    assert found == pytest.approx(theirs, rel=1e-14)


@pytest.mark.parametrize("with_empty", [False, True])
def test_weights_count_as_in_xgboosts_metrics_without_a_suffix(with_empty):
    """XGBoost's ndcg ignores the weight of a query without a relevant document: the query adds 1 to the sum."""
    labels, scores = lists(3)
    if not with_empty:
        labels, scores = labels[1:], scores[1:]
    rows = data(np.minimum(labels, 1), scores)
    weights = np.random.default_rng(5).integers(2, 9, len(labels))
    rows.set_weight(weights)
    names = {"ndcg@5": "nDCG@5", "map@100": "AP@100"}
    shown = xgboost.Booster({**QUIET, "eval_metric": list(names)}, [rows]).eval(rows)
    theirs = [float(each.split(":")[1]) for each in shown.split("\t")[1:]]
    found = [value for _, value in metric(list(names.values()), ties="run_order", undefined=1)(scores.ravel(), rows)]
    surplus = (weights[0] - 1) / weights.sum() if with_empty else 0
    assert [found[0] - surplus, found[1]] == pytest.approx(theirs, rel=1e-14)
    assert (found[0] == pytest.approx(theirs[0], rel=1e-6)) != with_empty


@pytest.mark.parametrize("maximize", [True, False])
def test_train_calls_it_and_stops_early_by_it(maximize):
    """Early stopping uses the last measure: it keeps the maximum if maximize=True, otherwise the minimum."""
    labels, _ = lists(3)
    training, validation = data(labels), data(labels[::-1].copy())
    record = {}
    model = xgboost.train(
        QUIET, training, 6, evals=[(validation, "v")], evals_result=record, verbose_eval=False,
        custom_metric=metric(["RR", "nDCG@5"]), early_stopping_rounds=6, maximize=maximize or None,
    )  # fmt: skip
    expected = Evaluator(labels[::-1], ["RR", "nDCG@5"])
    for round_ in range(6):
        means = expected.mean(model.predict(validation, iteration_range=(0, round_ + 1)).reshape(labels.shape))
        assert [record["v"][name][round_] for name in ("RR", "nDCG@5")] == pytest.approx(means, abs=6e-7)
    values = record["v"]["nDCG@5"]
    assert values[model.best_iteration] == (max if maximize else min)(values)


@pytest.mark.parametrize("save_best", [True, False])
@pytest.mark.parametrize(
    ("measure", "name", "best"), [("ndcg@5", "nDCG@5", max), (None, "RR", max), ("ESL", "ESL", min)]
)
def test_the_callback_keeps_the_best_round_without_being_told_the_direction(measure, name, best, save_best):
    labels, _ = lists(3)
    training, validation = data(labels[1:]), data(labels[:0:-1].copy())
    measured, record = metric(["nDCG@5", "ESL", "RR"]), {}
    model = xgboost.train(
        QUIET | {"max_depth": 5, "eta": 1, "eval_metric": "ndcg@5"}, training, 40, evals=[(validation, "v")],
        evals_result=record, verbose_eval=False, custom_metric=measured,
        callbacks=[measured.early_stopping(4, measure=measure, save_best=save_best)],
    )  # fmt: skip
    values = record["v"][name]
    assert values[model.best_iteration] == best(values)
    # The training stopped early, and the last round was not the best.
    assert len(values) == model.best_iteration + 5 < 40
    assert model.num_boosted_rounds() == (model.best_iteration + 1 if save_best else len(values))


def test_the_callback_refuses_other_measures():
    measured = metric(["nDCG@5", "RR"])
    with pytest.raises(InputError, match="measure: expected one of nDCG@5, RR, which this metric computes, found AP"):
        measured.early_stopping(10, measure="map")
    assert "rounds: expected a whole number of at least 1, found 0" in message_of(measured.early_stopping, 0)
    with pytest.raises(InputError, match="min_delta: expected a number from 0 to inf, found -1"):
        measured.early_stopping(1, min_delta=-1)


def test_labels_are_prepared_once_and_again_after_a_change(monkeypatch):
    labels, scores = lists(3)
    measured, made = metric("AP"), []
    make = measured._evaluators._make
    monkeypatch.setattr(measured._evaluators, "_make", lambda *each: made.append(1) or make(*each))
    rows = data(labels)

    def value(rows):
        return measured(scores.ravel(), rows)[0][1]

    assert value(rows) == value(rows) == Evaluator(labels, "AP").mean(scores)[0]
    assert len(made) == 1
    rows.set_label(labels[::-1].ravel())
    assert value(rows) == value(rows) == Evaluator(labels[::-1], "AP").mean(scores)[0]
    assert len(made) == 2
    rows.set_group([labels.size])
    assert value(rows) == Evaluator(labels[::-1].ravel(), "AP").mean(scores.ravel())[0]
    del rows
    gc.collect()
    assert not measured._evaluators
    assert not pickle.loads(pickle.dumps(measured))._evaluators


def test_wrong_data_is_an_error():
    labels, scores = lists(3)
    with pytest.raises(InputError, match="data: the DMatrix has no queries; give it qid= or group="):
        metric("AP")(scores.ravel(), xgboost.DMatrix(np.eye(labels.size), labels.ravel()))
    assert "docids: is required by the tie rule" in message_of(metric, "AP", ties="trec_eval")
    queries = np.repeat(np.arange(len(labels)), labels.shape[1])
    ranker = xgboost.XGBRanker(n_estimators=1, eval_metric=metric("AP"))
    with pytest.raises(InputError, match=r"data: must be a DMatrix, not ndarray; use xgboost\.train instead"):
        ranker.fit(
            scores.reshape(-1, 1), labels.ravel(), qid=queries, eval_qid=[queries],
            eval_set=[(scores.reshape(-1, 1), labels.ravel())],
        )  # fmt: skip
