"""LightGBM and XGBoost as tests see them: data sets, and the values that the tools compute themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import lightgbm
import numpy as np
import xgboost

from tieaware.integrations import lightgbm as for_lightgbm
from tieaware.integrations import xgboost as for_xgboost

OF_LIGHTGBM = {"objective": "lambdarank", "verbosity": -1, "num_threads": 1, "min_data_in_leaf": 2, "num_leaves": 4}
OF_XGBOOST = {"objective": "rank:ndcg", "verbosity": 0, "nthread": 1, "max_depth": 2, "base_score": 0}
PAGE = Path(__file__).parents[2] / "docs" / "tools" / "lightgbm.md"


def lists(levels):
    """Return labels from 0 to 4 and scores of 30 lists of 50 documents. The first list has no relevant document.

    The scores have `levels` distinct values; if `levels` is None, the scores of a list are distinct.
    """
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 5, (30, 50)) * (rng.random((30, 50)) < 0.2)
    labels[0] = 0
    distinct = rng.permuted(np.tile(np.arange(50), (30, 1)), axis=1)
    return labels, (distinct if levels is None else distinct * levels // 50) / 64


def own_values(tool):
    """Return the rows of the documentation's table of the values that a tool computes itself, without backticks."""
    section = PAGE.read_text(encoding="utf-8").partition(f"\n## {tool}'s own values\n")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")]
    assert rows, f"the page has no table of the values of {tool}"
    return [tuple(cell.strip().replace("`", "") for cell in row) for row in rows]


def features(labels):
    """Return two features that depend weakly on the labels."""
    return np.random.default_rng(1).integers(0, 4, (labels.size, 2)) + labels.reshape(-1, 1)


def lightgbm_data(labels, scores=None, weights=None):
    """Return a data set of lists of equal length. The weights are those of the rows."""
    return lightgbm.Dataset(
        features(labels), labels.ravel(), group=np.full(len(labels), labels.shape[1]), params=OF_LIGHTGBM,
        init_score=None if scores is None else scores.ravel(), free_raw_data=False,
        weight=None if weights is None else weights.ravel(),
    )  # fmt: skip


def xgboost_data(labels, scores=None, weights=None):
    """Return a matrix of lists of equal length. The weight of a list is the mean of those of its rows."""
    queries = np.repeat(np.arange(len(labels)), labels.shape[1])
    margin = None if scores is None else scores.ravel()
    rows = xgboost.DMatrix(features(labels), labels.ravel(), qid=queries, base_margin=margin)
    if weights is not None:
        rows.set_weight(weights.mean(axis=1))
    return rows


def by_lightgbm(rows, names, **parameters):
    """Return the values of LightGBM's own metrics, which have the same cut-off."""
    metrics, cutoffs = zip(*(name.split("@") for name in names), strict=True)
    settings = {**OF_LIGHTGBM, **parameters, "metric": ",".join(metrics), "eval_at": [int(cutoffs[0])]}
    return [value for _, _, value, _ in lightgbm.Booster(settings, rows).eval_train()]


def by_xgboost(rows, names, **parameters):
    """Return the values of XGBoost's own metrics."""
    shown = xgboost.Booster({**OF_XGBOOST, **parameters, "eval_metric": list(names)}, [rows]).eval(rows)
    found = dict(each.removeprefix("eval-").split(":") for each in shown.split("\t")[1:])
    return [float(found[name]) for name in names]


class Tool(NamedTuple):
    """A booster: its metric in tieaware, a function that makes data, its own values, and the table of the page.

    A row of the table has the name of an own metric, ours, the value of undefined, and the parameters of the booster.
    `weighted` has own metrics and ours whose values are those with weights.
    """

    metric: Callable[..., Any]
    data: Callable[..., Any]
    own: Callable[..., list[float]]
    table: list[tuple[str, str, float, dict[str, Any]]]
    weighted: dict[str, str]


TOOLS = {
    "LightGBM": Tool(
        for_lightgbm.metric, lambda *given: lightgbm_data(*given).construct(), by_lightgbm,
        [(theirs, ours, 1.0, {"label_gain": [0, 1, 2, 3, 4]} if "label_gain=" in remark else {})
         for theirs, ours, remark in own_values("LightGBM")],
        {"ndcg@100": "nDCG(dcg='exp-log2')@100", "map@100": "AP@100"},
    ),
    "XGBoost": Tool(
        for_xgboost.metric, xgboost_data, by_xgboost,
        [(theirs, ours, float(undefined), {"ndcg_exp_gain": False} if "ndcg_exp_gain" in remark else {})
         for theirs, ours, undefined, remark in own_values("XGBoost")],
        {"ndcg@5": "nDCG@5", "map@100": "AP@100"},
    ),
}  # fmt: skip
