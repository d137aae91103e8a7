"""The best weight of two runs, on the exact curve, compared with ranx's optimize_fusion, which tries eleven weights."""

import numpy as np
import pytest

from benchmarks.workloads import as_dicts, distinct_scores, labels
from tieaware import Qrels, Run, WeightedFusion

SECTION = "Weights of fused runs, one thread: nDCG@10"
WEIGHTS = [round(0.1 * i, 1) for i in range(11)]


def test_best_weight(compare, small):
    """Runs are aligned, normalised and matched with judgments within the time, in both tools."""
    ranx = pytest.importorskip("ranx")
    n, m = (20, 30) if small else (500, 100)
    relevance = labels(n, m, 10)
    qrels, first = as_dicts(distinct_scores(n, m), relevance)
    rng = np.random.default_rng(33)
    second = {
        query: {d: 0.3 * (d in qrels[query]) + float(rng.random()) for d in documents}
        for query, documents in first.items()
    }
    ours = Qrels.from_dict(qrels), {"a": Run.from_dict(first), "b": Run.from_dict(second)}
    theirs = ranx.Qrels(qrels), [ranx.Run(first), ranx.Run(second)]

    def exact():
        fusion = WeightedFusion(*ours, "nDCG@10")
        return fusion.evaluator.between(*fusion.features.T)

    def eleven():
        return ranx.optimize_fusion(*theirs, norm="min-max", method="wsum", metric="ndcg@10", step=0.1)

    def check():
        fusion = WeightedFusion(*ours, "nDCG@10")
        means = [fusion([1 - weight, weight]).mean() for weight in WEIGHTS]
        found = eleven()["weights"]
        assert found[1] == pytest.approx(WEIGHTS[int(np.argmax(means))])
        assert exact().best().value >= max(means)

    compare(
        SECTION, f"the best of all weights of two runs, {n:,} × {m:,}", check=check,
        contender=lambda: exact().best(), baseline=eleven, to="ranx, optimize_fusion of 11 weights", at_most=0.1,
        budget=10.0,
    )  # fmt: skip
