"""Concurrent calls give the same bits as calls from one thread: evaluators, files, dicts and nested thread pools."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from support import queries
from support.threads import in_threads

import tieaware

THREADS, CALLS = 8, 1_000_000
RULES = ("average", "optimistic", "run_order")
N_SCORINGS = 16


def scorings(evaluator, rng):
    """Return arrays of scores with many ties, alternately in float64 and float32."""
    drawn = [rng.integers(0, 5, evaluator.n_docs) / 4 for _ in range(N_SCORINGS)]
    return [scores.astype(np.float32) if i % 2 else scores for i, scores in enumerate(drawn)]


@pytest.mark.parametrize("rule", RULES)
def test_one_evaluator_called_a_million_times(rule):
    some = [queries.random_query(random.Random(3), 9) for _ in range(4)]
    evaluator = queries.evaluator(some, ("AP", "nDCG@10", "RR", "Bpref", "ERR"), ties=rule)
    inputs = scorings(evaluator, np.random.default_rng(4))
    right = [evaluator(scores).tobytes() for scores in inputs]

    def work(number):
        out = np.empty((evaluator.n_queries, 5))
        for i in range(CALLS // THREADS // len(RULES) + 1):
            k = (i + number) % N_SCORINGS
            assert evaluator(inputs[k], out).tobytes() == right[k]

    in_threads(*(partial(work, number) for number in range(THREADS)))


def test_concurrent_calls_of_all_methods_of_one_evaluator():
    """The lists are long enough for the kernels to release the global interpreter lock."""
    rng = np.random.default_rng(5)
    labels = rng.integers(-1, 3, (40, 500))
    for threads in (1, 3):
        evaluator = tieaware.Evaluator(labels, ["AP", "nDCG@10", "AUC", "P@20", "RBP"], threads=threads)
        inputs = scorings(evaluator, rng)
        methods = [
            evaluator, evaluator.mean,
            lambda s, e=evaluator: np.stack(e.spread(s)), lambda s, e=evaluator: e.many([s, -s]),
            lambda s, e=evaluator: e.rows(3, 30)(s.reshape(40, 500)[3:30]),
        ]  # fmt: skip
        right = [[method(scores).tobytes() for scores in inputs] for method in methods]

        def work(number, methods=methods, inputs=inputs, right=right):
            order = random.Random(number)
            for _ in range(300):
                m, k = order.randrange(len(methods)), order.randrange(N_SCORINGS)
                assert methods[m](inputs[k]).tobytes() == right[m][k]

        in_threads(*(partial(work, number) for number in range(THREADS)))


def test_lazy_preparation_by_several_threads_at_once():
    """An evaluator prepares its first spread when several threads call `spread` at the same time."""
    labels = np.random.default_rng(6).integers(-1, 3, (20, 100))
    scores = np.arange(2000).reshape(20, 100) % 7 / 2
    for measures in (["AP", "RR"], ["nDCG@10"], ["ERR", "Q", "GMAP"]):
        right = np.stack(tieaware.Evaluator(labels, measures).spread(scores)).tobytes()
        for _ in range(50):
            evaluator = tieaware.Evaluator(labels, measures, threads=2)

            def work(_, evaluator=evaluator, right=right):
                assert np.stack(evaluator.spread(scores)).tobytes() == right

            in_threads(*(partial(work, number) for number in range(THREADS)))


def test_concurrent_reading_of_files_and_dicts(tmp_path):
    rng = random.Random(7)
    qrels = {f"q{q}": {f"d{d}": rng.randint(0, 2) for d in range(30)} for q in range(200)}
    run = {query: {document: rng.randint(0, 9) / 2 for document in labels} for query, labels in qrels.items()}
    lines = (f"{q} Q0 {d} 0 {score} t\n" for q, scores in run.items() for d, score in scores.items())
    (tmp_path / "run").write_text("".join(lines))
    right = tieaware.evaluate(qrels, run, ["AP", "nDCG"], threads=1).values.tobytes()
    judgments = tieaware.Qrels.from_dict(qrels)

    def work(number):
        for i in range(20):
            given = run if (i + number) % 2 else tmp_path / "run"
            threads = 1 + (i + number) % 3
            assert tieaware.evaluate(judgments, given, ["AP", "nDCG"], threads=threads).values.tobytes() == right

    in_threads(*(partial(work, number) for number in range(THREADS)))


def test_a_thread_pool_inside_a_thread_pool():
    labels = np.random.default_rng(8).integers(-1, 3, (100, 200))
    scores = np.arange(20000).reshape(100, 200) % 11 / 2
    right = tieaware.Evaluator(labels, ["AP", "nDCG"])(scores).tobytes()

    def inner(_):
        evaluator = tieaware.Evaluator(labels, ["AP", "nDCG"], threads=4)
        return all(evaluator(scores).tobytes() == right for _ in range(5))

    def outer(_):
        with ThreadPoolExecutor(3) as pool:
            return all(pool.map(inner, range(6)))

    for _ in range(5):
        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(outer, range(8)))
