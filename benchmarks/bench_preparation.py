"""New labels at every call, so that the time to prepare them is added to the time of the evaluation."""

import json
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import tieaware
from benchmarks import processes
from benchmarks.ratios import Ratio, summarise
from benchmarks.workloads import Floats, as_dicts, assert_reference, distinct_scores, labels

SECTION = "New labels at every call, one thread"
MEASURES = ("nDCG@10", "AP", "RR")
MOST_MEMORY = 200e6

# A program that prints its peak memory before and after it prepares an Evaluator from labels.
PREPARE = """
import resource, sys
import numpy as np
import tieaware

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

n_lists, length = map(int, sys.argv[1:])
labels = np.zeros((n_lists, length), np.int8)
labels[:, :: length // 10] = 1
tieaware.Evaluator(labels[:1], ["nDCG@10", "AP", "RR"])
before = peak()
tieaware.Evaluator(labels, ["nDCG@10", "AP", "RR"])
print(before, peak())
"""

# A program that prints the seconds of tieaware and of pytrec_eval for each turn. timeit disables garbage collection, so
# the program enables it again, as for users.
TAKE_TURNS = """
import json, sys
from pathlib import Path
from timeit import Timer
import pytrec_eval, tieaware

qrels, run = json.loads(Path(sys.argv[1]).read_text())
calls = int(sys.argv[2])
ours = Timer(lambda: tieaware.evaluate(qrels, run, ["nDCG@10", "AP", "RR"]), "import gc; gc.enable()")
names = {"ndcg_cut.10", "map", "recip_rank"}
theirs = Timer(lambda: pytrec_eval.RelevanceEvaluator(qrels, names).evaluate(run), "import gc; gc.enable()")
for _ in range(20):
    print(ours.timeit(calls) / calls, theirs.timeit(calls) / calls)
"""
PROCESSES = 15


def test_construct_and_call(compare, small):
    n_lists = 100 if small else 1_000
    judged = labels(n_lists, 1_000, 10)
    scores = distinct_scores(n_lists, 1_000)
    evaluator = tieaware.Evaluator(judged, MEASURES)

    def once() -> Floats:
        return tieaware.Evaluator(judged, MEASURES)(scores)

    def check() -> None:
        assert (once() == evaluator(scores)).all()
        assert_reference(once(), scores, judged, MEASURES, lists=range(0, n_lists, 20))

    compare(
        SECTION, f"{n_lists:,} × 1,000, 10 relevant, nDCG@10 + AP + RR, construct + call", check=check,
        contender=once, baseline=partial(evaluator, scores), to="the call alone", at_most=3,
    )  # fmt: skip


def test_one_list(compare):
    ndcg_score = pytest.importorskip("sklearn.metrics").ndcg_score
    judged, scores = labels(1, 10, 2), distinct_scores(1, 10)

    def once() -> Floats:
        return tieaware.Evaluator(judged, MEASURES)(scores)

    def check() -> None:
        assert_reference(once(), scores, judged, MEASURES, lists=[0])
        np.testing.assert_allclose(once()[0, 0], ndcg_score(judged, scores, k=10), rtol=1e-12)

    compare(
        SECTION, "one list of 10, construct + call", check=check, contender=once,
        baseline=partial(ndcg_score, judged, scores), to="scikit-learn ndcg_score", at_most=0.2, calls=50,
    )  # fmt: skip


@pytest.fixture
def shape(small: bool) -> tuple[int, int]:
    return (100, 1_000) if small else (1_000, 100_000)


def test_many_labels(compare, shape):
    judged = labels(*shape, 10).astype(np.int8)
    some = slice(0, shape[0], shape[0] // 10)

    def check() -> None:
        scores = distinct_scores(*judged[some].shape)
        values = tieaware.Evaluator(judged, MEASURES)(np.repeat(scores, shape[0] // 10, axis=0))
        assert_reference(values[some], scores, judged[some], MEASURES, lists=range(10))

    compare(
        SECTION, f"{shape[0]:,} × {shape[1]:,} int8 labels, 10 relevant, construct alone", check=check,
        contender=partial(tieaware.Evaluator, judged, MEASURES),
        baseline=partial(np.count_nonzero, judged), to="np.count_nonzero", at_most=10, budget=5,
    )  # fmt: skip


def test_memory(report, shape, small, tmp_path):
    script = Path(tmp_path, "prepare.py")
    script.write_text(PREPARE)
    before, after = map(int, processes.run(sys.executable, script, *map(str, shape)).output.split())
    assert before >= shape[0] * shape[1]
    beyond = (after - before) / MOST_MEMORY
    report(
        Ratio(SECTION, "the same: peak memory beyond the labels", "tieaware", "200 MB", beyond, beyond,
              None if small else 1.0)
    )  # fmt: skip


@pytest.mark.parametrize(("n_queries", "length", "relevant", "at_most"), [(1, 10, 2, 1.0), (50, 100, 10, 0.2)])
def test_dicts(report, small, tmp_path, n_queries, length, relevant, at_most):
    """Measure calls with new judgments and a new run.

    The time of pytrec_eval depends on Python's hash seed, which is new in every process.
    """
    qrels, run = as_dicts(distinct_scores(n_queries, length), labels(n_queries, length, relevant))
    result = tieaware.evaluate(qrels, run, MEASURES)
    pytrec_eval = pytest.importorskip("pytrec_eval")
    values = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "map", "recip_rank"}).evaluate(run)
    expected = [[values[query][name] for name in ("ndcg_cut_10", "map", "recip_rank")] for query in result.queries]
    np.testing.assert_allclose(result.values[0], expected, rtol=0, atol=1e-9)
    dicts, script = Path(tmp_path, "dicts.json"), Path(tmp_path, "take_turns.py")
    dicts.write_text(json.dumps([qrels, run]))
    script.write_text(TAKE_TURNS)
    command = sys.executable, script, dicts, str(50 if n_queries == 1 else 5)
    turns = [line for _ in range(2 if small else PROCESSES) for line in processes.run(*command).output.splitlines()]
    mine, theirs = zip(*(map(float, line.split()) for line in turns), strict=True)
    queries = "one query" if n_queries == 1 else f"{n_queries} queries"
    report(
        Ratio(SECTION, f"`evaluate` of dicts, {queries} of {length} documents, in {PROCESSES} processes", "tieaware",
              "pytrec_eval with its constructor", *summarise(mine, theirs), at_most=None if small else at_most,
              rounds=len(turns))
    )  # fmt: skip
