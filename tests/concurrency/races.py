"""A program for the thread sanitizer: kernels that run in several threads. `make concurrency` runs it.

With an argument, two threads write into the same array on purpose: a data race, which the sanitizer must find.
"""

from __future__ import annotations

import io
import random
import sys

import numpy as np
from support import queries
from support.threads import in_threads

import tieaware
from tieaware import retrieval

THREADS = 4


def race():
    labels = np.random.default_rng(1).integers(0, 3, (500, 100))
    evaluator = tieaware.Evaluator(labels, ["AP", "nDCG"])
    scores, out = np.ones((500, 100)), np.empty((500, 2))
    in_threads(*[lambda: [evaluator(scores, out) for _ in range(50)]] * 2)


def kernels():
    some = [queries.random_query(random.Random(3), 9) for _ in range(40)]
    for rule in ("average", "optimistic", "pessimistic", "run_order"):
        evaluator = queries.evaluator(some, ties=rule)
        scores = queries.scores_of(some)
        right = evaluator(scores).tobytes()

        def work(evaluator=evaluator, scores=scores, right=right, rule=rule):
            for _ in range(10):
                assert evaluator(scores).tobytes() == right
                if rule == "average":
                    evaluator.spread(scores)

        in_threads(*[work] * THREADS)


def long_lists():
    rng = np.random.default_rng(2)
    labels = rng.integers(-1, 2, (8, 20_000))
    labels[:4, 50:] = -1
    for dtype in (np.float64, np.float32):
        scores = rng.integers(0, 1000, labels.shape).astype(dtype)
        for threads in (1, 4):
            evaluator = tieaware.Evaluator(labels, ["AP", "nDCG@10", "AUC"], threads=threads)
            right = evaluator(scores).tobytes()

            def work(evaluator=evaluator, scores=scores, right=right):
                for _ in range(3):
                    assert evaluator(scores).tobytes() == right
                    evaluator.many([scores, -scores])

            in_threads(*[work] * THREADS)


def inputs():
    rng = random.Random(7)
    qrels = {f"q{q}": {f"d{d}": rng.randint(0, 2) for d in range(30)} for q in range(100)}
    run = {query: {document: rng.randint(0, 9) / 2 for document in labels} for query, labels in qrels.items()}
    lines = "".join(f"{q} Q0 {d} 0 {score} t\n" for q, scores in run.items() for d, score in scores.items()).encode()
    judgments = tieaware.Qrels.from_dict(qrels)
    right = tieaware.evaluate(judgments, run, ["AP", "nDCG"], threads=1).values.tobytes()

    def work():
        for _ in range(3):
            for given in (run, io.BytesIO(lines)):
                assert tieaware.evaluate(judgments, given, ["AP", "nDCG"], threads=3).values.tobytes() == right

    in_threads(*[work] * THREADS)


def searches():
    """Several threads search by each method, and prepare it at the same time; each search has threads of its own."""
    rng = np.random.default_rng(5)
    n = 3000
    tokens = np.minimum(rng.zipf(1.2, 30 * n) - 1, 799).astype(np.int32), np.arange(0, 30 * n + 1, 30)
    quality, terms = rng.random(n), [str(term) for term in range(800)]
    asked = {q: [str(term) for term in rng.integers(0, 40, 3)] for q in range(24)}
    methods = [
        retrieval.Exact(), retrieval.MaxScore(), retrieval.WAND(), retrieval.BlockMaxWAND(), retrieval.NetScore(),
        retrieval.AtLeast(m=2), retrieval.HighLow(r=50), retrieval.GlobalChampions(r=50), retrieval.Champions(r=50),
        retrieval.Tiers(quantiles=(0.9,)), retrieval.ImpactOrdered(postings=0.1), retrieval.BandSafe(rho=1.5),
        retrieval.ClusterPruning(), retrieval.ImpactOrdered(postings=0.1, weighting="impact:8"),
    ]  # fmt: skip
    for method in methods:
        alone, together = (
            retrieval.Index.from_tokens(tokens, terms, quality=quality, positions=False) for _ in range(2)
        )
        right = method.search(alone, asked, 10, threads=1)

        def work(method=method, index=together, right=right):
            for _ in range(3):
                found = method.search(index, asked, 10, threads=3)
                assert found.documents == right.documents
                assert found.scores.tobytes() == right.scores.tobytes()

        in_threads(*[work] * THREADS)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        race()
    else:
        kernels()
        long_lists()
        inputs()
        searches()
    print("done")
