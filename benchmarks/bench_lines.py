"""Measures along a line of scores, compared with evaluations and grids, and weighted sums, compared with a loop."""

from functools import partial
from operator import itemgetter

import numpy as np
import pytest

from benchmarks.workloads import labels
from tieaware import Evaluator

SECTION = "Measures along a line of scores: nDCG@10 + AP + RR"
MEASURES = ("nDCG@10", "AP", "RR")


@pytest.mark.parametrize(
    ("n", "m", "relevant", "at_most"), [(500, 100, 10, 600), (1000, 1000, 2, 600), (200, 1000, 10, 800)]
)
def test_line(compare, small, n, m, relevant, at_most):
    """The whole function for weights from 0 to 1."""
    if small:
        n = n // 50
    rng = np.random.default_rng(31)
    a, b = rng.random((n, m)), rng.random((n, m))
    evaluator = Evaluator(labels(n, m, relevant), MEASURES)

    def check():
        line = evaluator.between(a, b)
        for t in (0.25, 0.5, 0.75):
            place = np.searchsorted(line.breaks, t)
            np.testing.assert_allclose(evaluator.mean(a + t * (b - a)), line.values[place], rtol=1e-14)

    compare(
        SECTION, f"{n:,} × {m:,}, {relevant} relevant, between two systems", check=check,
        contender=partial(evaluator.between, a, b), baseline=partial(evaluator, a), to="one evaluation",
        at_most=at_most,
    )  # fmt: skip


def test_two_threads(compare, small):
    n, m = (20, 100) if small else (200, 1000)
    rng = np.random.default_rng(33)
    a, b = rng.random((n, m)), rng.random((n, m))
    one, two = (Evaluator(labels(n, m, 10), MEASURES, threads=threads) for threads in (1, 2))

    def check():
        np.testing.assert_array_equal(one.between(a, b).values, two.between(a, b).values)

    compare(
        SECTION, f"{n:,} × {m:,}, 10 relevant, between two systems", check=check, of="2 threads",
        contender=partial(two.between, a, b), baseline=partial(one.between, a, b), to="1 thread", at_most=0.6,
    )  # fmt: skip


def test_grid(compare, small):
    """The whole function, compared with 101 evaluations by pytrec_eval, without the time to make their dicts."""
    n, m = (10, 20) if small else (100, 100)
    rng = np.random.default_rng(34)
    judged, a, b = labels(n, m, 10), rng.random((n, m)), rng.random((n, m))
    evaluator = Evaluator(judged, ["nDCG@10", "AP", "RR"])

    def dicts(values):
        return {str(q): {str(i): value for i, value in enumerate(row.tolist())} for q, row in enumerate(values)}

    peer = pytest.importorskip("pytrec_eval").RelevanceEvaluator(dicts(judged), {"ndcg_cut.10", "map", "recip_rank"})
    run = dicts(a + 0.37 * (b - a))

    def grid():
        for _ in range(101):
            found = peer.evaluate(run)
        return found

    def check():
        line = evaluator.between(a, b)
        means = line.values[np.searchsorted(line.breaks, 0.37)]
        theirs = [list(map(itemgetter(name), grid().values())) for name in ("ndcg_cut_10", "map", "recip_rank")]
        np.testing.assert_allclose(means, np.mean(theirs, axis=1), rtol=1e-6)

    compare(
        SECTION, f"{n:,} × {m:,}, 10 relevant, between two systems", check=check,
        contender=partial(evaluator.between, a, b), baseline=grid, to="101 evaluations by pytrec_eval", at_most=0.05,
    )  # fmt: skip


def test_combinations(compare, small):
    """Many weighted sums of features, compared with evaluating each sum, computed before."""
    n, m, n_features, n_candidates = (10, 20, 3, 5) if small else (500, 100, 5, 200)
    rng = np.random.default_rng(32)
    features, weights = rng.random((n * m, n_features)), rng.random((n_candidates, n_features))
    evaluator = Evaluator(labels(n, m, 10), MEASURES)

    def loop():
        return np.array([evaluator.mean(features @ weight) for weight in weights])

    compare(
        SECTION, f"{n_candidates} weighted sums of {n_features} features of {n * m:,} documents",
        check=lambda: np.testing.assert_allclose(evaluator.combinations(features, weights), loop(), rtol=1e-12),
        contender=partial(evaluator.combinations, features, weights), baseline=loop, to="a loop", at_most=1.1,
    )  # fmt: skip
