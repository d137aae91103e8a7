"""The best weights of runs, on exact curves, compared with eleven tries by ranx, and with evaluations of the runs."""

from functools import partial

import numpy as np
import pytest

from benchmarks.workloads import as_dicts, distinct_scores, labels
from tieaware import Qrels, Run, WeightedFusion, evaluate
from tieaware.experiments import fusion

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


def test_weights_of_three_runs(compare, small):
    """The experiment of `tieaware fuse`: eleven searches, each with dozens of lines, on lists that differ."""
    pytest.importorskip("scipy.stats")
    n, m = (12, 40) if small else (30, 1_000)
    relevance = labels(n, m, 10)
    rng = np.random.default_rng(35)
    qrels = {f"q{i}": {f"d{j}": 1 for j in np.flatnonzero(row).tolist()} for i, row in enumerate(relevance)}
    runs = {}
    for name, quality in (("a", 0.5), ("b", 0.8), ("c", 1.0)):
        scores = rng.random((n, m)) + quality * rng.random((n, m)) * relevance
        # A third of the documents are those of this run alone.
        own = np.where(rng.random((n, m)) < 1 / 3, name, "d")
        runs[name] = Run.from_dict(
            {f"q{i}": {f"{own[i, j]}{j}": float(scores[i, j]) for j in range(m)} for i in range(n)}
        )
    judged = Qrels.from_dict(qrels)

    def check():
        outcome = fusion(judged, runs, "nDCG@10")
        alone = evaluate(judged, runs, "nDCG@10").mean()[:, 0]
        assert outcome.weights.sum() == pytest.approx(1.0)
        assert outcome.value > alone.max()
        assert evaluate(judged, outcome.run(), "nDCG@10").mean()[0, 0] == pytest.approx(outcome.value, abs=1e-12)

    compare(
        "Weights of fused runs, with folds and tests: nDCG@10", f"three runs, {n} × {m:,}", check=check,
        contender=partial(fusion, judged, runs, "nDCG@10", threads=1), of="the experiment",
        baseline=partial(evaluate, judged, runs, "nDCG@10", threads=1), to="one evaluation of each", at_most=None,
        budget=15.0,
    )  # fmt: skip
