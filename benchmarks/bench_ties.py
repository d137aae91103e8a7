"""The time of exact averages compared with ignoring ties, and of the kernels compared with plain Python."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest

import tieaware
from benchmarks.workloads import assert_reference
from benchmarks.workloads import labels as relevance
from tieaware import reference
from tieaware.samples.discrete import DENSE_SCORES, dense_lists, discrete_lists

MEASURES = ("P", "R", "F1", "AP", "RR", "nDCG")


@pytest.fixture(scope="module")
def discrete(small):
    return discrete_lists(200 if small else 28_043)


@pytest.mark.parametrize("oblivious", ["run_order", "optimistic"])
@pytest.mark.parametrize("measure", MEASURES)
def test_overhead(compare, discrete, measure, oblivious):
    scores, labels, offsets = discrete
    n_queries = len(offsets) - 1
    rules = ("average", oblivious)
    evaluators = {rule: tieaware.Evaluator(labels, [measure], offsets=offsets, ties=rule) for rule in rules}
    outs = {rule: np.empty((n_queries, 1)) for rule in rules}
    sample = range(0, n_queries, n_queries // 100)
    lists = {i: slice(offsets[i], offsets[i + 1]) for i in sample}

    def check() -> None:
        for rule, evaluator in evaluators.items():
            assert_reference(
                evaluator(scores, outs[rule]), {i: scores[s] for i, s in lists.items()},
                {i: labels[s] for i, s in lists.items()}, [measure], lists=sample, ties=rule,
            )  # fmt: skip

    compare(
        f"Exact against tie-oblivious: {n_queries:,} lists with discrete scores", measure, check=check,
        contender=partial(evaluators["average"], scores, outs["average"]), of="average",
        baseline=partial(evaluators[oblivious], scores, outs[oblivious]), to=oblivious,
        at_most=1.05 if oblivious == "run_order" else None,
    )  # fmt: skip


# Lists in which many documents are labelled: the number of lists and of documents, and the documents with a label.
DENSE = {"500 × 120, 60 labelled": (500, 120, 60), "50 × 1,000, 40 labelled": (50, 1_000, 40),
         "50 × 1,000, 96 labelled": (50, 1_000, 96)}  # fmt: skip


def dense(shape: str, kind: str, small: bool) -> tuple[np.ndarray, np.ndarray]:
    n_queries, *sizes = DENSE[shape]
    scores, labels = dense_lists(5 if small else n_queries, *sizes)
    return DENSE_SCORES[kind](scores), labels


@pytest.mark.parametrize(
    ("of", "to", "at_most"),
    [("average", "run_order", 1.0), ("optimistic", "run_order", 1.15), ("pessimistic", "run_order", 1.15)],
)
@pytest.mark.parametrize("kind", DENSE_SCORES)
@pytest.mark.parametrize("shape", DENSE)
def test_dense_lists(compare, small, shape, kind, of, to, at_most):
    scores, labels = dense(shape, kind, small)
    measures = ["nDCG@10", "AP", "RR"]
    evaluators = {ties: tieaware.Evaluator(labels, measures, ties=ties) for ties in (of, to)}
    out = np.empty((len(labels), 3))

    def check() -> None:
        for ties, evaluator in evaluators.items():
            assert_reference(evaluator(scores, out), scores, labels, measures, lists=range(2), ties=ties)

    compare(
        f"Tie rules for dense lists, one thread: {shape}; nDCG@10, AP and RR", kind, check=check,
        contender=partial(evaluators[of], scores, out), of=of,
        baseline=partial(evaluators[to], scores, out), to=to, at_most=at_most,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", DENSE_SCORES)
@pytest.mark.parametrize("shape", DENSE)
def test_dense_lists_and_sorting(compare, small, shape, kind, dtype):
    scores, labels = dense(shape, kind, small)
    scores, measures = scores.astype(dtype), ["nDCG@10", "AP", "RR"]
    evaluator, out = tieaware.Evaluator(labels, measures), np.empty((len(labels), 3))
    compare(
        f"Dense lists against sorting them, one thread: {shape}; nDCG@10, AP and RR", f"{kind}, {dtype}",
        check=lambda: assert_reference(evaluator(scores, out), scores, labels, measures, lists=range(2)),
        contender=partial(evaluator, scores, out), of="average",
        baseline=partial(np.sort, scores, axis=1), to="np.sort", at_most=3.0 if dtype == "float64" else 4.0,
    )  # fmt: skip


@pytest.mark.parametrize("kind", DENSE_SCORES)
def test_err_of_dense_lists(compare, small, kind):
    scores, labels = dense("500 × 120, 60 labelled", kind, small)
    err, ap = (tieaware.Evaluator(labels, [measure]) for measure in ("ERR", "AP"))
    out = np.empty((len(labels), 1))
    compare(
        "ERR in dense lists, one thread: 500 × 120, 60 labelled", kind,
        check=lambda: assert_reference(err(scores, out), scores, labels, ["ERR"], lists=range(2)),
        contender=partial(err, scores, out), of="ERR", baseline=partial(ap, scores, out), to="AP", at_most=2.0,
    )  # fmt: skip


@pytest.mark.parametrize("measure", ["nDCG@10", "AP", "RR"])
@pytest.mark.parametrize("kind", DENSE_SCORES)
def test_spread_of_dense_lists(compare, small, kind, measure):
    scores, labels = dense("500 × 120, 60 labelled", kind, small)
    evaluator, out = tieaware.Evaluator(labels, [measure]), np.empty((len(labels), 1))

    def check() -> None:
        spread = evaluator.spread(scores)
        np.testing.assert_array_equal(spread.mean, evaluator(scores, out))
        expected = [reference.variance(measure, scores[i].tolist(), labels[i].tolist()) for i in range(2)]
        np.testing.assert_allclose(spread.std[:2, 0] ** 2, expected, rtol=1e-8, atol=1e-13)

    compare(
        "The spread of dense lists, one thread: 500 × 120, 60 labelled", f"{measure}, {kind}", check=check,
        contender=partial(evaluator.spread, scores), of="spread",
        baseline=partial(evaluator, scores, out), to="average", at_most=2.5,
    )  # fmt: skip


@pytest.mark.parametrize("measure", [*MEASURES, "DCG", "RBP", "Success@10", "Rprec"])
def test_reference(compare, measure, small):
    n_queries = 20 if small else 200
    scores, labels, offsets = discrete_lists(n_queries, grades=3)
    evaluator = tieaware.Evaluator(labels, [measure], offsets=offsets)
    out = np.empty((n_queries, 1))
    lists = [(scores[a:b].tolist(), labels[a:b].tolist()) for a, b in pairwise(offsets.tolist())]

    def plain() -> list[float]:
        return [reference.evaluate(measure, *scores_and_labels) for scores_and_labels in lists]

    compare(
        f"Kernels against the readable reference in Python: {n_queries} lists with discrete scores", measure,
        check=lambda: np.testing.assert_allclose(evaluator(scores, out)[:, 0], plain(), rtol=1e-11, atol=1e-14),
        contender=partial(evaluator, scores, out), baseline=plain, to="reference", inverse=True, budget=1,
    )  # fmt: skip


def tied_lists(n_queries: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return scores, labels and offsets of lists of 100 documents with five scores, a fifth of them relevant.

    For such lists, the spread takes much longer than the average.
    """
    rng = np.random.default_rng(2008)
    labels = (rng.random(100 * n_queries) < 0.2).astype(int)
    return rng.integers(0, 5, len(labels)).astype(float), labels, np.arange(n_queries + 1) * 100


@pytest.mark.parametrize("measure", [*MEASURES, "RBP", "Bpref", "Q", "AUC", "ERR@20", ",".join(MEASURES)])
@pytest.mark.parametrize("lists", ["discrete scores", "100 documents and 5 scores"])
def test_spread(compare, discrete, small, measure, lists):
    """Compare the time of mean, standard deviation, minimum and maximum together with that of the mean alone."""
    scores, labels, offsets = discrete if lists == "discrete scores" else tied_lists(200 if small else 5_000)
    measures = measure.split(",")
    evaluator = tieaware.Evaluator(labels, measures, offsets=offsets)
    out = np.empty((len(offsets) - 1, len(measures)))
    some = [(scores[a:b].tolist(), labels[a:b].tolist()) for a, b in pairwise(offsets[:31].tolist())]

    def check() -> None:
        spread = evaluator.spread(scores)
        np.testing.assert_array_equal(spread.mean, evaluator(scores, out))
        expected = [[reference.variance(name, *each) for name in measures] for each in some]
        np.testing.assert_allclose(spread.std[:30] ** 2, expected, rtol=1e-8, atol=1e-13)

    compare(
        f"The spread over the orders of ties: {len(offsets) - 1:,} lists with {lists}",
        "all six" if len(measures) > 1 else measure, check=check,
        contender=partial(evaluator.spread, scores), of="spread",
        baseline=partial(evaluator, scores, out), to="average", at_most=3.0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("measure", "relevant", "share", "at_most"),
    [
        ("IPrec@0.1", 10, 1.0, 3.0), ("IAP11", 10, 1.0, 3.0), ("MaxF", 10, 1.0, 3.0), ("Bpref", 10, 1.0, 1.0),
        ("infAP", 10, 1.0, 1.0), ("infAP", 10, 0.5, 1.0), ("infAP", 200, 0.5, 1.0),
    ],
)  # fmt: skip
def test_slow_measures(compare, small, measure, relevant, share, at_most):
    """Measure lists with many ties. Judging all documents is the slowest case for Bpref, and half of them for infAP."""
    n_queries = 20 if small else 1_000
    judged = relevance(n_queries, 1_000, relevant)
    judged[(judged == 0) & (np.random.default_rng(2031).random(judged.shape) >= share)] = -1
    matrix = np.random.default_rng(2008).random((n_queries, 1_000)).round(1)
    scores = matrix.ravel()
    evaluator = tieaware.Evaluator(judged, [measure])
    out = np.empty((n_queries, 1))
    compare(
        f"Tied scores, one thread: {n_queries:,} × 1,000, scores of one decimal, {relevant} relevant",
        measure if share == 1.0 else f"{measure}, half of the documents judged",
        check=lambda: assert_reference(evaluator(scores, out), matrix, judged, [measure], lists=range(2)),
        contender=partial(evaluator, scores, out),
        baseline=partial(np.sort, matrix, axis=1), to="np.sort", at_most=at_most,
    )  # fmt: skip
