"""LambdaMART's gradients under ties, against the enumeration of all orders and against the readable reference."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.oracle import value

from tieaware import Evaluator, parse_measure
from tieaware.optimise import Lambdas
from tieaware.reference import swaps

ADDITIVE = (
    "nDCG", "nDCG@3", "nDCG(dcg='exp-log2')@2", "nDCG(gains={0: 0, 1: 0.5, 2: 3})@4", "nDCG(discount='1/rank')@3",
    "DCG(discount='log',base=3.0)@4", "DCG", "RBP", "RBP(p=0.3)@3", "RBP(gains='label')", "P@2", "P(rel=2)@3", "R@2",
    "F1@3", "Recall_cap@2", "SDCG(max_rel=2)@3", "INSQ(max_rel=2)",
)  # fmt: skip
OTHERS = ("RR", "RR@2", "RR(rel=2)", "AP", "AP@3", "AP(rel=2)@2")


def orders(scores: list[float]) -> Iterator[tuple[int, ...]]:
    """Yield all orders that the scores allow, as sequences of documents."""
    groups = [[i for i, s in enumerate(scores) if s == score] for score in sorted(set(scores), reverse=True)]
    for parts in product(*map(permutations, groups)):
        yield sum(parts, ())


def expected_changes(measure: str, scores: list[float], labels: list[float], truncation: int) -> np.ndarray:
    """Return the mean of |change of the measure| by a swap, for each pair of documents, over all orders."""
    parsed, n = parse_measure(measure), len(scores)
    changes = [[Fraction(0)] * n for _ in range(n)]
    every = list(orders(scores))

    def worth(order: list[int]) -> Fraction:
        return Fraction(value(parsed, [labels[i] for i in order], labels))

    for order in every:
        before = worth(list(order))
        for x in range(min(n, truncation)):
            for y in range(x + 1, n):
                swapped = list(order)
                swapped[x], swapped[y] = swapped[y], swapped[x]
                changes[order[x]][order[y]] += abs(worth(swapped) - before)
    return np.array([[float((changes[i][j] + changes[j][i]) / len(every)) for j in range(n)] for i in range(n)])


def by_enumeration(measure, scores, labels, truncation, sigma, normalise):
    """Return gradient and hessian by the definition, with changes from the enumeration."""
    parsed = parse_measure(measure)
    gains = parsed.definition.weighting.weigh(parsed, np.array(labels, np.int32))[0]
    changes = expected_changes(measure, scores, labels, truncation)
    if normalise and len(set(scores)) > 1:
        changes /= 0.01 + np.abs(np.subtract.outer(scores, scores))
    gradient, hessian, total = np.zeros(len(scores)), np.zeros(len(scores)), 0.0
    for i, j in product(range(len(scores)), repeat=2):
        if gains[i] > gains[j]:
            right = 1 / (1 + math.exp(-sigma * (scores[i] - scores[j])))
            push = sigma * changes[i, j] * (1 - right)
            gradient[i] -= push
            gradient[j] += push
            hessian[[i, j]] += sigma * push * right
            total += 2 * push
    factor = math.log2(1 + total) / total if normalise and total > 1e-9 else 1.0
    return factor * gradient, factor * hessian


@pytest.mark.parametrize("measure", ADDITIVE + OTHERS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_enumeration(measure, data):
    """Up to six documents, few scores, any parameters of the loss."""
    n = data.draw(st.integers(1, 6), "n")
    labels = data.draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n), "labels")
    scores = data.draw(st.lists(st.sampled_from([0.0, 0.5, 2.0]), min_size=n, max_size=n), "scores")
    truncation = data.draw(st.integers(1, 7), "truncation")
    sigma, normalise = data.draw(st.sampled_from([1.0, 2.5]), "sigma"), data.draw(st.booleans(), "normalise")
    found = Lambdas(labels, measure, truncation=truncation, sigma=sigma, normalise=normalise)(scores)
    expected = by_enumeration(measure, scores, labels, truncation, sigma, normalise)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-14)


def reference_change(measure):
    """Return the function of the reference for a measure, its weights, and what divides it."""
    parsed = parse_measure(measure)
    cutoff = parsed.cutoff or 10**9
    if parsed.name in ("RR", "AP"):
        change = swaps.change_of_reciprocal_rank if parsed.name == "RR" else swaps.change_of_average_precision
        return partial(change, weight=lambda rank: 1 / rank if rank <= cutoff else 0.0)
    weights = {
        "nDCG": lambda rank: 1 / math.log2(1 + rank),
        "P": lambda rank: 1.0,
        "RBP": lambda rank: 0.2 * 0.8 ** (rank - 1),
    }
    weight = weights[parsed.name]
    return partial(swaps.change_of_sum, weight=lambda rank: weight(rank) if rank <= cutoff else 0.0)


def norm_of(measure, labels):
    parsed = parse_measure(measure)
    if parsed.name == "nDCG":
        best = sorted(np.maximum(labels, 0), reverse=True)[: parsed.cutoff]
        return math.fsum(gain / math.log2(2 + i) for i, gain in enumerate(best))
    return {"AP": int(np.sum(np.array(labels) >= 1)), "P": parsed.cutoff}.get(parsed.name, 1)


@pytest.mark.parametrize("measure", ["nDCG@5", "nDCG", "P@7", "RBP", "RR", "RR@5", "AP", "AP@5"])
@pytest.mark.parametrize("levels", [1, 4, None])
@pytest.mark.parametrize(("truncation", "normalise"), [(None, True), (4, False)])
def test_reference(measure, levels, truncation, normalise):
    """Lists of fourteen documents, compared with the readable reference."""
    rng = np.random.default_rng(7)
    labels = rng.integers(-1, 3, 14) * (rng.random(14) < 0.5)
    scores = rng.normal(size=14) if levels is None else rng.integers(0, levels, 14) / 4
    parsed = parse_measure(measure)
    gains = parsed.definition.weighting.weigh(parsed, labels.astype(np.int32))[0]
    norm, change = norm_of(measure, labels), reference_change(measure)

    def normed(groups, a, b, at_most):
        return change(groups, a, b, at_most) / norm

    found = Lambdas(labels, measure, truncation=truncation, sigma=1.5, normalise=normalise)(scores)
    expected = swaps.lambdas(scores.tolist(), gains.tolist(), normed, truncation or 10**9, 1.5, normalise)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-14)


def data(n_queries=30, depth=50, levels=6, seed=3):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, (n_queries, depth)), rng.integers(0, levels, (n_queries, depth)) / 8


@pytest.mark.parametrize("measure", ["nDCG@9", "DCG(gains={0: 0, 1: 0.3, 2: 0.7, 3: 1})", "RBP", "P@5", "RR", "AP@20"])
@pytest.mark.parametrize("levels", [1, 6, 10**9])
def test_rows_in_any_order_have_the_same_bits(measure, levels):
    labels, scores = data(levels=levels)
    order = np.random.default_rng(1).permuted(np.tile(np.arange(50), (30, 1)), axis=1)
    found = Lambdas(labels, measure)(scores)
    shuffled = Lambdas(np.take_along_axis(labels, order, 1), measure)(np.take_along_axis(scores, order, 1))
    for ours, theirs in zip(found, shuffled, strict=True):
        np.testing.assert_array_equal(np.take_along_axis(ours, order, 1), theirs)


@pytest.mark.parametrize("measure", ["nDCG@10", "AP", "RR"])
def test_threads_give_the_same_bits(measure):
    labels, scores = data(300)
    np.testing.assert_array_equal(Lambdas(labels, measure)(scores), Lambdas(labels, measure, threads=3)(scores))


@pytest.mark.parametrize("measure", ["nDCG@10", "AP", "RR", "P@3"])
def test_a_step_against_the_gradient_raises_the_measure(measure):
    """From a list in which everything ties, a small step sorts the documents by label."""
    labels, scores = data()
    gradient, _ = Lambdas(labels, measure, normalise=False)(np.zeros_like(scores))
    evaluator = Evaluator(labels, measure)
    assert evaluator.score(-gradient) > evaluator.score(np.zeros_like(scores)) + 0.05
    assert (gradient[labels == 3] < 0).all()


def test_gradients_of_a_list_add_up_to_nothing():
    labels, scores = data()
    for measure in ("nDCG@10", "AP", "RR"):
        gradient, hessian = Lambdas(labels, measure)(scores)
        np.testing.assert_allclose(gradient.sum(axis=1), 0, atol=1e-13)
        assert (hessian >= 0).all()


@pytest.mark.parametrize("span", [800.0, 3000.0])
def test_scores_far_apart(span):
    """Where exp(σ s) may have no double, each pair has its own exponential."""
    labels = np.array([0, 2, 1, 0, 1, 0, 2, 0])
    scores = np.array([span, 1.5, 1.5, 1.25, 0.0, 1.0, -span, -span])
    change = reference_change("nDCG")

    def normed(groups, a, b, at_most):
        return change(groups, a, b, at_most) / norm_of("nDCG", labels)

    found = Lambdas(labels, "nDCG")(scores)
    expected = swaps.lambdas(scores.tolist(), labels.tolist(), normed, 10**9, 1.0, True)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-200)
    gradient, hessian = Lambdas([1, 0, 0], "DCG", normalise=False)([0.0, 1e308, -1e308])
    assert gradient[1] == pytest.approx(1 - 1 / math.log2(3), rel=1e-14)
    assert hessian.max() < 1e-200


def test_long_lists_and_scores_that_nearly_tie():
    """Lists that are too long for the packed sort, and scores that differ in their last bit."""
    rng = np.random.default_rng(5)
    labels = (rng.random(70_000) < 0.001).astype(int)
    scores = rng.integers(0, 30_000, 70_000) / 64
    order = rng.permutation(70_000)
    found = Lambdas(labels, "AP")(scores)
    shuffled = Lambdas(labels[order], "AP")(scores[order])
    np.testing.assert_array_equal(np.take(found, order, axis=1), shuffled)
    close = np.array([1.0, np.nextafter(1.0, 2.0), 1.0, 1.0])
    enumerated = by_enumeration("nDCG", close.tolist(), [0, 1, 2, 0], 9, 1.0, False)
    np.testing.assert_allclose(Lambdas([0, 1, 2, 0], "nDCG", normalise=False)(close), enumerated, rtol=1e-12)


def test_weights_and_judgments_elsewhere():
    labels, scores = data(4)
    plain = np.array(Lambdas(labels, "nDCG@5")(scores))
    per_query = np.array([1.0, 0.0, 2.0, 0.5])
    of_queries = Lambdas(labels, "nDCG@5", weights=per_query)(scores)
    np.testing.assert_array_equal(of_queries, plain * per_query[:, None])
    of_documents = Lambdas(labels, "nDCG@5", weights=np.arange(200.0))(scores)
    np.testing.assert_array_equal(of_documents, plain * np.arange(200.0).reshape(4, 50))
    # Relevant documents that were not retrieved make the ideal better, and the gradients smaller.
    missed = Lambdas([1, 0], "AP", judgments=([1, 0, 1, 1], [0, 4]), normalise=False)([0.0, 0.0])
    np.testing.assert_allclose(missed, np.array(Lambdas([1, 0], "AP", normalise=False)([0.0, 0.0])) / 3)


def test_real_labels_lists_and_pickles():
    labels, scores = data(6)
    half = Lambdas(labels / 2, "DCG", normalise=False)(scores)
    np.testing.assert_allclose(half, np.array(Lambdas(labels, "DCG", normalise=False)(scores)) / 2, rtol=1e-13)
    one = Lambdas(labels.ravel(), "RR", group=[50] * 6)
    np.testing.assert_array_equal(one(scores.ravel()), np.reshape(Lambdas(labels, "RR")(scores), (2, -1)))
    assert repr(one) == "Lambdas(RR, 6 queries, 300 documents)"
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(one))(scores.ravel()), one(scores.ravel()))
    nothing = Lambdas([], "AP", group=[])
    assert [each.shape for each in nothing([])] == [(0,), (0,)]
    assert not np.any(Lambdas([0, 0, 0], "nDCG")([1.0, 2.0, 3.0]))
