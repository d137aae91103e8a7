"""The contract of the metrics of LightGBM and of XGBoost, with the installed tools."""

from __future__ import annotations

import gc
import pickle

import lightgbm
import numpy as np
import pytest
import xgboost
from booster_data import TOOLS, features, lightgbm_data, lists, xgboost_data
from support.errors import message_of

from tieaware import Evaluator


@pytest.fixture(params=TOOLS)
def tool(request):
    return TOOLS[request.param]


ROWS = [(name, *row) for name, tool in TOOLS.items() for row in tool.table]


@pytest.mark.parametrize(("name", "theirs", "ours", "undefined", "parameters"), ROWS)
@pytest.mark.parametrize("levels", [3, 25, None])
def test_the_table_of_own_values_is_right(name, theirs, ours, undefined, parameters, levels):
    """The options that the documentation gives for a tool's own values are right with many, some and no ties."""
    tool, (labels, scores) = TOOLS[name], lists(levels)
    if name == "XGBoost" and theirs.startswith(("map", "pre")):
        labels = np.minimum(labels, 1)
    rows = tool.data(labels, scores)
    (expected,) = tool.own(rows, [theirs], **parameters)
    ((_, found, *larger),) = tool.metric(ours, ties="run_order", undefined=undefined)(scores.ravel(), rows)
    assert found == pytest.approx(expected, rel=1e-14)
    assert all(larger)
    ((_, average, *_),) = tool.metric(ours, undefined=undefined)(scores.ravel(), rows)
    assert (average == pytest.approx(expected, rel=1e-12)) == (levels is None)


@pytest.mark.parametrize("with_empty", [False, True])
def test_weights_count_as_in_the_tool(tool, with_empty):
    """The weight of a query is that of XGBoost, or the mean weight of its rows in LightGBM.

    Their nDCG ignores the weight of a query without a relevant document: the query adds 1 to the weighted sum.
    """
    labels, scores = (each[not with_empty :] for each in lists(3))
    labels = np.minimum(labels, 1)
    weights = np.random.default_rng(5).integers(2, 9, labels.shape).astype(np.float32)
    of_queries = weights.mean(axis=1, dtype=np.float64)
    rows = tool.data(labels, scores, weights)
    theirs = tool.own(rows, tool.weighted)
    measured = tool.metric(list(tool.weighted.values()), ties="run_order", undefined=1)
    found = [each[1] for each in measured(scores.ravel(), rows)]
    surplus = (of_queries[0] - 1) / of_queries.sum() if with_empty else 0
    assert [found[0] - surplus, found[1]] == pytest.approx(theirs, rel=1e-6)
    assert (found[0] == pytest.approx(theirs[0], rel=1e-6)) != with_empty


def test_labels_are_prepared_once_and_again_after_a_change(tool, monkeypatch):
    labels, scores = lists(3)
    measured, made = tool.metric("AP"), []
    make = measured._make
    monkeypatch.setattr(measured, "_make", lambda *each: made.append(1) or make(*each))

    def value(rows):
        return measured(scores.ravel(), rows)[0][1]

    rows, others = tool.data(labels), tool.data(labels[::-1].copy())
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
    assert not measured._prepared
    for turn in range(20):
        labels = np.roll(labels, turn)
        assert value(tool.data(labels)) == Evaluator(labels, "AP").mean(scores)[0]


def test_a_pickled_metric_has_the_options_only(tool):
    labels, scores = lists(3)
    measured = tool.metric(["map", "ndcg@5"], ties="pessimistic", undefined=float("nan"))
    rows = tool.data(labels)
    values = measured(scores.ravel(), rows)
    assert [each[0] for each in values] == ["AP", "nDCG@5"]
    copied = pickle.loads(pickle.dumps(measured))
    assert not copied._prepared
    assert copied(scores.ravel(), rows) == values


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("LightGBM", xgboost_data, "data: must be a Dataset, not DMatrix; this metric is LightGBM's; XGBoost needs "
         "tieaware.integrations.xgboost.metric"),
        ("XGBoost", lightgbm_data, "data: must be a DMatrix, not Dataset; this metric is XGBoost's; LightGBM needs "
         "tieaware.integrations.lightgbm.metric"),
        ("LightGBM", lambda labels: lightgbm.Dataset(features(labels), labels.ravel()).construct(),
         "group: the data has no groups, so there are no queries; give group= with the data"),
        ("XGBoost", lambda labels: xgboost.DMatrix(features(labels), labels.ravel()),
         "data: the DMatrix has no queries; give it qid= or group="),
    ],
)  # fmt: skip
def test_data_of_the_other_tool_and_data_without_queries_are_refused(name, data, message):
    labels, scores = lists(3)
    assert message_of(TOOLS[name].metric("AP"), scores.ravel(), data(labels)) == message


def test_unusable_options(tool):
    assert "docids: is required by the tie rule" in message_of(tool.metric, "AP", ties="trec_eval")
    assert "measure" in message_of(tool.metric, "nothing")
