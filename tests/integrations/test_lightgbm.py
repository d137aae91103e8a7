"""Metrics for the installed LightGBM."""

from __future__ import annotations

import gc
import pickle

import lightgbm
import numpy as np
import pytest
from booster_data import lists, own_values
from support.errors import message_of

from tieaware import Evaluator, InputError
from tieaware.integrations.lightgbm import metric

QUIET = {"objective": "lambdarank", "verbosity": -1, "num_threads": 1, "min_data_in_leaf": 2, "num_leaves": 4}


def data(labels, scores=None, **parameters):
    """Return a data set of lists of equal length, with two features that depend weakly on the labels."""
    n_queries, depth = labels.shape
    features = np.random.default_rng(1).integers(0, 4, (labels.size, 2)) + labels.reshape(-1, 1)
    return lightgbm.Dataset(
        features, labels.ravel(), group=np.full(n_queries, depth), params={**QUIET, **parameters},
        init_score=None if scores is None else scores.ravel(), free_raw_data=False,
    )  # fmt: skip


@pytest.mark.parametrize("row", own_values("LightGBM"), ids=" ".join)
@pytest.mark.parametrize("levels", [3, 25, None])
def test_the_table_of_own_values_is_right(row, levels):
    """The options that the documentation gives for LightGBM's own values are right with many, some and no ties."""
    theirs, ours, remark = row
    name, cutoff = theirs.split("@")
    labels, scores = lists(levels)
    gain = {"label_gain": [0, 1, 2, 3, 4]} if "label_gain=" in remark else {}
    rows = data(labels, scores)
    booster = lightgbm.Booster({**QUIET, **gain, "metric": name, "eval_at": [int(cutoff)]}, rows)
    mine = metric(ours, ties="run_order", undefined=1)
    ((_, _, expected, _), (_, _, found, larger)) = booster.eval_train(feval=mine)
    assert found == pytest.approx(expected, rel=1e-14)
    assert larger
    ((_, average, _),) = metric(ours, undefined=1)(scores.ravel(), rows)
    assert (average == pytest.approx(expected, rel=1e-12)) == (levels is None)


@pytest.mark.parametrize("with_empty", [False, True])
def test_weights_count_as_in_lightgbm(with_empty):
    """The weight of a query is the mean weight of its rows.

    LightGBM's ndcg ignores the weight of a query without a relevant document: the query adds 1 to the weighted sum.
    """
    labels, scores = lists(3)
    if not with_empty:
        labels, scores = labels[1:], scores[1:]
    weights = np.random.default_rng(5).integers(2, 9, labels.shape).astype(np.float32)
    of_queries = weights.mean(axis=1, dtype=np.float64)
    rows = data(labels, scores).set_weight(weights.ravel())
    booster = lightgbm.Booster({**QUIET, "metric": "ndcg,map", "eval_at": [100]}, rows)
    measured = metric(["nDCG(dcg='exp-log2')@100", "AP@100"], ties="run_order", undefined=1)
    *theirs, first, second = booster.eval_train(feval=measured)
    surplus = (of_queries[0] - 1) / of_queries.sum() if with_empty else 0
    assert [first[2] - surplus, second[2]] == pytest.approx([each[2] for each in theirs], rel=1e-6)
    assert (first[2] == pytest.approx(theirs[0][2], rel=1e-6)) != with_empty


def test_weighted_means_of_undefined_and_geometric_values():
    labels, scores = lists(3)
    weights = np.random.default_rng(5).integers(1, 9, labels.shape).astype(np.float32)
    of_queries = weights.mean(axis=1, dtype=np.float64)
    rows = data(labels, scores).set_weight(weights.ravel())
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
    training, validation = data(labels), data(labels[::-1].copy())
    params = {**QUIET, "metric": "None"}
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


def test_labels_are_prepared_once_and_again_after_a_change(monkeypatch):
    labels, scores = lists(3)
    measured, made = metric("AP"), []
    make = measured._evaluators._make
    monkeypatch.setattr(measured._evaluators, "_make", lambda *each: made.append(1) or make(*each))

    def value(rows):
        ((_, found, _),) = measured(scores.ravel(), rows)
        return found

    rows, others = data(labels).construct(), data(labels[::-1].copy()).construct()
    first, second = Evaluator(labels, "AP").mean(scores)[0], Evaluator(labels[::-1], "AP").mean(scores)[0]
    assert [value(rows), value(others), value(rows), value(others)] == [first, second, first, second]
    assert len(made) == 2
    rows.set_label(labels[::-1].ravel())
    assert [value(rows), value(rows), len(made)] == [second, second, 3]
    rows.set_group([labels.size])
    assert [value(rows), len(made)] == [Evaluator(labels[::-1].ravel(), "AP").mean(scores.ravel())[0], 4]

    # The cached evaluator of a deleted data set is deleted too, before another data set can get the same id.
    del rows, others
    gc.collect()
    assert not measured._evaluators
    for turn in range(20):
        labels = np.roll(labels, turn)
        assert value(data(labels).construct()) == Evaluator(labels, "AP").mean(scores)[0]


def test_a_pickled_metric_has_the_options_only():
    labels, scores = lists(3)
    measured = metric(["AP", "nDCG@5"], ties="pessimistic", undefined=float("nan"))
    rows = data(labels).construct()
    values = measured(scores.ravel(), rows)
    copied = pickle.loads(pickle.dumps(measured))
    assert not copied._evaluators
    assert copied(scores.ravel(), rows) == values


def test_data_without_groups_and_rules_by_document_are_errors():
    labels, scores = lists(3)
    flat = lightgbm.Dataset(np.eye(labels.size), labels.ravel(), params={"verbosity": -1})
    with pytest.raises(InputError, match="group: the data has no groups, so there are no queries"):
        metric("AP")(scores.ravel(), flat.construct())
    assert "docids: is required by the tie rule" in message_of(metric, "AP", ties="trec_eval")
    assert "measure" in message_of(metric, "nothing")


def test_a_measure_is_reported_under_its_own_name():
    labels, scores = lists(3)
    assert [name for name, _, _ in metric(["ndcg@10", "map"])(scores.ravel(), data(labels))] == ["nDCG@10", "AP"]
