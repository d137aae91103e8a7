"""Runs as dictionaries {query: {document: score}}. Judgments are prepared once, outside the measured time."""

from functools import partial

import numpy as np
import pytest

import tieaware
from benchmarks.workloads import as_dicts, distinct_scores, labels

MEASURES = ("AP", "RR", "nDCG@10", "R@1000")
THEIRS = ("map", "recip_rank", "ndcg_cut_10", "recall_1000")


@pytest.fixture(scope="module")
def dicts(small):
    n_queries = 70 if small else 6_980
    return as_dicts(distinct_scores(n_queries, 1_000), labels(n_queries, 1_000, 1.1))


@pytest.mark.parametrize("threads", [None, 1])
def test_pytrec_eval(compare, dicts, threads):
    qrels, run = dicts
    judgments = tieaware.Qrels.from_dict(qrels)
    pytrec_eval = pytest.importorskip("pytrec_eval")
    peer = pytrec_eval.RelevanceEvaluator(qrels, {"map", "recip_rank", "ndcg_cut.10", "recall.1000"})

    def check() -> None:
        result = tieaware.evaluate(judgments, run, MEASURES, threads=threads)
        values = peer.evaluate(run)
        expected = [[values[query][name] for name in THEIRS] for query in result.queries]
        np.testing.assert_allclose(result.values[0], expected, rtol=0, atol=1e-9)

    compare(
        "Dictionaries", f"{len(run):,} × 1,000, AP + RR + nDCG@10 + R@1000" + ("" if threads is None else ", 1 thread"),
        check=check, contender=partial(tieaware.evaluate, judgments, run, MEASURES, threads=threads),
        baseline=partial(peer.evaluate, run), to="pytrec_eval",
        at_most=0.2 if threads is None else None, budget=10,
    )  # fmt: skip
