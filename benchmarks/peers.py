"""The evaluators that are compared. Each gets the data in its own form, converted outside the measured time.

Each computes the means of nDCG@10, AP and RR over the queries in one thread, or of those of the three measures that it
has. The scores of a list are distinct, so all evaluators must agree.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import tieaware
from benchmarks.workloads import Floats, Labels, as_dicts, distinct_scores, labels

MEASURES = ("nDCG@10", "AP", "RR")


@dataclass(frozen=True)
class Collection:
    """Lists of equal length, as arrays and as dictionaries."""

    n_lists: int
    length: int
    relevant: float

    @cached_property
    def scores(self) -> Floats:
        """The scores, distinct within a list: float64[n_lists, length]."""
        return distinct_scores(self.n_lists, self.length)

    @cached_property
    def labels(self) -> Labels:
        """The labels, 0 or 1, in the shape of the scores."""
        return labels(self.n_lists, self.length, self.relevant)

    @cached_property
    def _dicts(self) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
        return as_dicts(self.scores, self.labels)

    @property
    def qrels(self) -> dict[str, dict[str, int]]:
        """The relevant documents of each query."""
        return self._dicts[0]

    @property
    def run(self) -> dict[str, dict[str, float]]:
        """The scores of each query's documents, in descending order."""
        return self._dicts[1]


@dataclass(frozen=True)
class Tool:
    """An evaluator. `prepare` returns the function to be timed, and `means` extracts the means from its result."""

    name: str
    module: str
    prepare: Callable[[Collection], Callable[[], Any]]
    means: Callable[[Any], list[float]]
    measures: tuple[str, ...] = MEASURES

    @property
    def installed(self) -> bool:
        """True if the tool can be imported."""
        return importlib.util.find_spec(self.module) is not None

    def check(self, result: Any, expected: Floats) -> None:
        """Assert that a result has the expected means."""
        wanted = [expected[MEASURES.index(measure)] for measure in self.measures]
        # trec_eval computes some values in single precision.
        np.testing.assert_allclose(self.means(result), wanted, rtol=0, atol=1e-7)


def _arrays(data: Collection) -> Callable[[], Floats]:
    evaluator = tieaware.Evaluator(data.labels, MEASURES)
    scores, out = data.scores.ravel(), np.empty((data.n_lists, len(MEASURES)))
    return lambda: evaluator(scores, out)


def _dicts(data: Collection) -> Callable[[], tieaware.Results]:
    qrels, run = tieaware.Qrels.from_dict(data.qrels), data.run
    return lambda: tieaware.evaluate(qrels, run, MEASURES, threads=1)


def _pytrec_eval(data: Collection) -> Callable[[], dict[str, dict[str, float]]]:
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator(data.qrels, {"ndcg_cut.10", "map", "recip_rank"})
    run = data.run
    return lambda: evaluator.evaluate(run)


def _pytrec_eval_means(values: dict[str, dict[str, float]]) -> list[float]:
    return [float(np.mean([v[name] for v in values.values()])) for name in ("ndcg_cut_10", "map", "recip_rank")]


def _ranx(data: Collection) -> Callable[[], dict[str, float]]:
    import ranx

    qrels, run = ranx.Qrels.from_dict(data.qrels), data.run
    names = ["ndcg@10", "map", "mrr"]
    # ranx sorts a run when it constructs it, so construction is part of evaluating new scores.
    return lambda: ranx.evaluate(qrels, ranx.Run.from_dict(run), names, threads=1, save_results_in_run=False)


def _ir_measures(data: Collection) -> Callable[[], dict[Any, float]]:
    import ir_measures
    from ir_measures import AP, RR, nDCG

    evaluator, run = ir_measures.evaluator([nDCG @ 10, AP, RR], data.qrels), data.run
    return lambda: evaluator.calc_aggregate(run)


def _ir_measures_means(values: dict[Any, float]) -> list[float]:
    named = {str(measure): value for measure, value in values.items()}
    return [named[name] for name in MEASURES]


def _scikit_learn(data: Collection) -> Callable[[], float]:
    from sklearn.metrics import ndcg_score

    return lambda: ndcg_score(data.labels, data.scores, k=10)


def _trm(data: Collection) -> Callable[[], list[float]]:
    import trm

    scores, relevant, n = data.scores.tolist(), (data.labels > 0).tolist(), data.length

    def evaluate() -> list[float]:
        top = trm.evaluate(scores, relevant, ["ndcg"], [10]).metrics
        whole = trm.evaluate(scores, relevant, ["map", "mrr"], [n]).metrics
        return [top["ndcg"][10].expected, whole["map"][n].expected, whole["mrr"][n].expected]

    return evaluate


ARRAYS = Tool("tieaware, arrays", "tieaware", _arrays, lambda out: out.mean(axis=0))
DICTS = Tool("tieaware, dicts", "tieaware", _dicts, lambda results: results.mean()[0])
TAKE_DICTS = (
    Tool("pytrec_eval", "pytrec_eval", _pytrec_eval, _pytrec_eval_means),
    Tool("ranx", "ranx", _ranx, lambda values: [values[name] for name in ("ndcg@10", "map", "mrr")]),
    Tool("ir_measures", "ir_measures", _ir_measures, _ir_measures_means),
)
TAKE_ARRAYS = (
    Tool("scikit-learn", "sklearn", _scikit_learn, lambda value: [value], ("nDCG@10",)),
    Tool("tie-aware-retrieval-metrics", "trm", _trm, lambda values: values),
)
