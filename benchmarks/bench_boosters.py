"""The metric that LightGBM computes after every round: its own nDCG, compared with tieaware's for the same scores."""

from functools import partial

import numpy as np
import pytest

import tieaware
from benchmarks.workloads import distinct_scores, labels
from tieaware.integrations.lightgbm import metric

SECTION = "After a round of LightGBM, one thread"


@pytest.mark.parametrize(("scores", "levels"), [("distinct scores", None), ("16 scores", 16)])
def test_round(compare, small, scores, levels):
    lightgbm = pytest.importorskip("lightgbm")
    n_queries = 10 if small else 1_000
    judged = labels(n_queries, 100, 20) * np.random.default_rng(2008).integers(1, 5, (n_queries, 100), dtype=np.int32)
    matrix = distinct_scores(n_queries, 100)
    predicted = (matrix if levels is None else np.floor(matrix * levels)).ravel()
    # A booster without trees, which predicts its initial scores.
    features = np.random.default_rng(1).random((predicted.size, 1))
    data = lightgbm.Dataset(features, judged.ravel(), group=np.full(n_queries, 100), init_score=predicted)
    params = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [10], "num_threads": 1, "verbosity": -1}
    booster = lightgbm.Booster(params, data)
    measured = metric("nDCG(dcg='exp-log2')@10", undefined=1)

    def check() -> None:
        ((_, _, theirs, _),) = booster.eval_train()
        in_order = tieaware.Evaluator(judged, measured.measures, ties="run_order", undefined=1)
        assert in_order.mean(predicted)[0] == pytest.approx(theirs, rel=1e-13)
        ((_, ours, _),) = measured(predicted, data)
        assert ours == tieaware.Evaluator(judged, measured.measures, undefined=1).mean(predicted)[0]
        assert (ours == pytest.approx(theirs, rel=1e-12)) == (levels is None)

    compare(
        SECTION, f"{n_queries:,} × 100, {scores}, nDCG@10", check=check,
        contender=partial(measured, predicted, data),
        baseline=booster.eval_train, to="LightGBM's ndcg@10", at_most=1.0,
    )  # fmt: skip
