"""Judgments, runs and results with known differences, for tests of several experiments."""

import numpy as np

import tieaware


def growing_results(n_runs, n_measures=1, n_queries=12):
    """Return results of runs whose means grow from run to run, with queries of different difficulty."""
    rng = np.random.default_rng(9)
    values = rng.random((n_runs, n_queries, n_measures)) / 2 + np.arange(n_runs)[:, None, None] / 6
    queries = tuple(f"q{i}" for i in range(n_queries))
    return tieaware.Results(
        values, tuple(f"r{i}" for i in range(n_runs)), queries, (tieaware.AP, tieaware.ESL)[:n_measures]
    )


def ranked_by_quality(n_runs):
    """Return judgments, and runs of increasing quality; the first two runs rank the documents in the same order."""
    noise = np.random.default_rng(5).random((3, 60))
    runs = {
        f"run {r}": {
            f"q{q}": {f"d{i}": float(noise[q, i] * n_runs + weight * (i < 20)) for i in range(60)} for q in range(3)
        }
        for r, weight in enumerate((0, *range(n_runs - 1)))
    }
    return {f"q{q}": {f"d{i}": 1 for i in range(20)} for q in range(3)}, runs
