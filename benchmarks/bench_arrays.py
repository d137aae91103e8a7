"""Evaluations of arrays of scores with an Evaluator: as by optimisers, of large collections, and with two threads."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import tieaware
from benchmarks.workloads import WEB_SEARCH, Floats, Labels, assert_reference, distinct_scores, labels

SECTION = "Scores in arrays, one thread, `out=` given"
THREADS = "Two threads"


def test_few_relevant(compare, small):
    n_queries = 70 if small else 6_980
    judged = labels(n_queries, 1_000, 1.1)
    matrix = distinct_scores(n_queries, 1_000)
    scores = matrix.ravel()
    evaluator = tieaware.Evaluator(judged, WEB_SEARCH)
    out = np.empty((n_queries, len(WEB_SEARCH)))
    compare(
        SECTION, f"{n_queries:,} × 1,000, 1.1 relevant, AP + RR@10 + nDCG@10 + R@1000",
        check=lambda: assert_reference(
            evaluator(scores, out), matrix, judged, WEB_SEARCH, lists=range(0, n_queries, n_queries // 70)
        ),
        contender=partial(evaluator, scores, out),
        baseline=partial(np.max, scores), to="np.max", at_most=2.0,
    )  # fmt: skip


def test_many_relevant(compare):
    judged = labels(50, 1_000, 40)
    matrix = distinct_scores(50, 1_000)
    scores = matrix.ravel()
    evaluator = tieaware.Evaluator(judged, WEB_SEARCH)
    out = np.empty((50, len(WEB_SEARCH)))
    compare(
        SECTION, "50 × 1,000, 40 relevant, the same measures",
        check=lambda: assert_reference(evaluator(scores, out), matrix, judged, WEB_SEARCH, lists=range(50)),
        contender=partial(evaluator, scores, out),
        baseline=partial(np.sort, matrix, axis=1), to="np.sort", at_most=1.5,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("measures", "dtype", "at_most"),
    [
        (("nDCG@10", "AP", "RR"), "float64", 3.5),
        (("nDCG@10", "AP", "RR"), "float32", 5.0),
        (("nDCG@10",), "float64", 2.2),
        (("nDCG@10",), "float32", 3.2),
    ],
)
def test_learning_to_rank(compare, measures, dtype, at_most):
    judged = labels(500, 120, 60) * np.random.default_rng(2008).integers(1, 5, (500, 120), dtype=np.int32)
    matrix = distinct_scores(500, 120).astype(dtype)
    scores = matrix.ravel()
    evaluator = tieaware.Evaluator(judged, measures)
    out = np.empty((500, len(measures)))
    compare(
        SECTION, f"500 × 120, half relevant, grades 0–4, {' + '.join(measures)}, {dtype}",
        check=lambda: assert_reference(evaluator(scores, out), matrix, judged, measures, lists=range(0, 500, 10)),
        contender=partial(evaluator, scores, out),
        baseline=partial(np.sort, matrix, axis=1), to="np.sort", at_most=at_most,
    )  # fmt: skip


@pytest.mark.parametrize("third", ["Q(rel=0.1)", "RBP(gains='label')"])
@pytest.mark.parametrize("tied", [False, True])
def test_real_labels(compare, third, tied):
    """Labels that are real numbers, against the same labels multiplied by ten, which are whole."""
    whole = labels(500, 120, 60) * np.random.default_rng(2030).integers(1, 5, (500, 120), dtype=np.int32)
    matrix = distinct_scores(500, 120)
    matrix = np.round(matrix * 10.0 / matrix.max()) if tied else matrix
    scores, measures = matrix.ravel(), ("nDCG@10", "DCG", third)
    of_real, of_whole = tieaware.Evaluator(whole * 0.1, measures), tieaware.Evaluator(whole, measures)
    compare(
        SECTION, f"500 × 120, half relevant, real labels, {' + '.join(measures)}{', tied' if tied else ''}",
        check=lambda: assert_reference(of_real(scores), matrix, whole * 0.1, measures, lists=range(0, 500, 10)),
        contender=partial(of_real, scores),
        baseline=partial(of_whole, scores), to="whole labels", at_most=1.15,
    )  # fmt: skip


class TieOblivious:
    """nDCG@10 + AP + RR of lists of equal length in NumPy, ignoring ties.

    Each operation is on the matrix of all lists, and there is a single sort. The constructor computes everything that
    does not depend on the scores.
    """

    def __init__(self, judged: Labels) -> None:
        relevant = judged > 0
        self.relevance = relevant.astype(np.float64)
        self.ranks = np.arange(1, judged.shape[1] + 1)
        self.discounts = 1 / np.log2(1 + self.ranks[:10])
        self.reciprocals = 1 / self.ranks
        self.totals = relevant.sum(axis=1)
        self.ideal = np.cumsum(self.discounts)[np.minimum(self.totals, 10) - 1]

    def __call__(self, scores: Floats, out: Floats) -> Floats:
        """Write the values of each list to its row of `out`."""
        order = np.argsort(-scores, axis=1)
        ranked = np.take_along_axis(self.relevance, order, axis=1)
        out[:, 0] = ranked[:, :10] @ self.discounts / self.ideal
        out[:, 1] = (ranked * np.cumsum(ranked, axis=1)) @ self.reciprocals / self.totals
        out[:, 2] = self.reciprocals[ranked.argmax(axis=1)]
        return out


def test_inner_loop(compare):
    measures = ("nDCG@10", "AP", "RR")
    judged = labels(500, 100, 10)
    matrix = distinct_scores(500, 100)
    scores = matrix.ravel()
    evaluator = tieaware.Evaluator(judged, measures)
    oblivious = TieOblivious(judged)
    out, theirs = np.empty((500, 3)), np.empty((500, 3))

    def check() -> None:
        assert_reference(evaluator(scores, out), matrix, judged, measures, lists=range(500))
        np.testing.assert_allclose(oblivious(matrix, theirs), out, rtol=1e-12)

    compare(
        SECTION, "500 × 100, 10 relevant, nDCG@10 + AP + RR", check=check,
        contender=partial(evaluator, scores, out), baseline=partial(oblivious, matrix, theirs),
        to="tie-oblivious NumPy", at_most=0.1,
    )  # fmt: skip


def test_one_query(compare):
    measures = ("nDCG@10", "AP", "RR")
    judged = labels(1, 10, 2)
    matrix = distinct_scores(1, 10)
    scores = matrix.ravel()
    evaluator = tieaware.Evaluator(judged, measures)
    out = np.empty((1, 3))
    compare(
        SECTION, "one query of 10 documents, the same measures",
        check=lambda: assert_reference(evaluator(scores, out), matrix, judged, measures, lists=[0]),
        contender=partial(evaluator, scores, out),
        baseline=partial(np.max, scores), to="np.max", at_most=1.0, calls=2_000,
    )  # fmt: skip


def test_rows(compare):
    """Measure two-dimensional scores, which must be as fast as one-dimensional scores."""
    measures = ("nDCG@10", "AP", "RR")
    judged = labels(1, 10, 2)
    matrix = distinct_scores(1, 10)
    evaluator = tieaware.Evaluator(judged, measures)
    compare(
        SECTION, "one query of 10 documents, scores of two dimensions, without `out=`",
        check=lambda: assert_reference(evaluator(matrix), matrix, judged, measures, lists=[0]),
        contender=partial(evaluator, matrix),
        baseline=partial(np.max, matrix), to="np.max", at_most=1.0, calls=2_000,
    )  # fmt: skip


@pytest.mark.parametrize(("length", "at_most"), [(100, 3), (10_000, 2), (100_000, 2), (1_000_000, 2), (10_000_000, 2)])
def test_list_length(compare, small, length, at_most):
    total = 10_000_000
    if small:
        total, length = total // 100, max(10, length // 100)
    base = 10 if small else 1_000
    # Each list has three judged documents, all relevant.
    judged, lists = {}, {}
    for size in (length, base):
        flat = np.full(total, -1, dtype=np.int32)
        rng = np.random.default_rng(size)
        starts = np.arange(0, total, size)
        # Choose one document in each third of the list, so that the three documents are distinct.
        for third in range(3):
            flat[starts + third * (size // 3) + rng.integers(size // 3, size=len(starts))] = 1
        judged[size], lists[size] = flat, np.append(starts, total)
    scores = np.random.default_rng(2008).random(total)
    evaluators = {size: tieaware.Evaluator(judged[size], WEB_SEARCH, offsets=lists[size]) for size in (length, base)}
    outs = {size: np.empty((total // size, len(WEB_SEARCH))) for size in (length, base)}

    def check() -> None:
        for size, evaluator in evaluators.items():
            values = evaluator(scores, outs[size])
            relevant = np.flatnonzero(judged[size][:size] > 0)
            ranks = np.sort([1 + np.count_nonzero(scores[:size] > scores[i]) for i in relevant])
            rr = (1 / ranks[0]) * (ranks[0] <= 10)
            ndcg = (1 / np.log2(1 + ranks[ranks <= 10])).sum() / (1 / np.log2([2, 3, 4])).sum()
            expected = [(np.arange(1, 4) / ranks).mean(), rr, ndcg, (ranks <= 1000).mean()]
            np.testing.assert_allclose(values[0], expected, rtol=1e-12)

    compare(
        "10⁷ documents in lists of different lengths, 3 relevant each: time per document",
        f"lists of {length:,}, AP + RR@10 + nDCG@10 + R@1000", check=check,
        contender=partial(evaluators[length], scores, outs[length]),
        baseline=partial(evaluators[base], scores, outs[base]), to=f"lists of {base:,}", at_most=at_most,
    )  # fmt: skip


@pytest.mark.parametrize("relevant", [1, 3, 10, 1_000])
def test_one_group(compare, small, relevant):
    n = 10_000 if small else 1_000_000
    scores = np.full(n, 0.5)
    judged = np.zeros(n, dtype=np.int32)
    judged[:relevant] = 1
    evaluator = tieaware.Evaluator(judged, ["RR"])
    out = np.empty((1, 1))

    def check() -> None:
        # The expectation of 1/X, where X is the rank of the first of r relevant documents among n in random order:
        # P(X = x) = P(X >= x) r / (n - x + 1).
        x = np.arange(1, n - relevant + 2)
        survival = np.append(1.0, np.cumprod((n - relevant - x[:-1] + 1) / (n - x[:-1] + 1)))
        expected = (survival * relevant / (n - x + 1) / x).sum()
        np.testing.assert_allclose(evaluator(scores, out)[0, 0], expected, rtol=1e-10)

    compare(
        "One group of tied documents, RR without cut-off", f"{n:,} documents, {relevant:,} relevant", check=check,
        contender=partial(evaluator, scores, out),
        baseline=partial(np.sort, scores), to="np.sort", at_most=1.0,
    )  # fmt: skip


def test_threads(compare, small):
    n_candidates = 20 if small else 1_000
    judged = labels(500, 100, 10)
    candidates = np.random.default_rng(2008).random((n_candidates, judged.size), dtype=np.float32)
    measures = ("nDCG@10", "AP", "RR")
    one, two = (tieaware.Evaluator(judged, measures, threads=threads) for threads in (1, 2))

    def check() -> None:
        means = two.many(candidates)
        assert (means == one.many(candidates)).all()
        first = np.array([one(candidates[0]).mean(axis=0)])
        np.testing.assert_allclose(means[:1], first, rtol=1e-12)
        assert_reference(one(candidates[0]), candidates[0].reshape(500, 100), judged, measures, lists=range(0, 500, 50))

    compare(
        THREADS, f"`many`, {n_candidates:,} candidates of 500 × 100 in float32", check=check,
        contender=partial(two.many, candidates), of="2 threads",
        baseline=partial(one.many, candidates), to="1 thread", at_most=0.55, budget=4,
    )  # fmt: skip


def test_free_cores(compare, small):
    """Measure how much two threads can gain at the moment. If other programs use a core, the ratio is near 1."""
    arrays = np.random.default_rng(2008).random((16, 2_000 if small else 200_000))

    def sort(matrix: Floats) -> float:
        return np.sort(matrix)[0]

    def one() -> list[float]:
        return [sort(matrix) for matrix in arrays]

    with ThreadPoolExecutor(2) as pool:

        def two() -> list[float]:
            return list(pool.map(sort, arrays))

        def check() -> None:
            assert two() == one() == arrays.min(axis=1).tolist()

        compare(
            THREADS, "for comparison: `np.sort` of 16 arrays, which shares nothing", check=check,
            contender=two, of="2 threads", baseline=one, to="1 thread", budget=4,
        )  # fmt: skip
