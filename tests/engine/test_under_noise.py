"""Expectations under noise, against all orders with their chances, and against the tie average without noise."""

import os
import signal
import threading
import time
from fractions import Fraction
from itertools import pairwise, permutations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from support import oracle

from tieaware import Evaluator, InputError, reference
from tieaware.measures import parse_measure
from tieaware.precision import Gaussian, Gumbel, Uniform

KINDS = (Gaussian, Gumbel, Uniform)
MEASURES = (
    "P@2", "R@3", "F1@2", "Hits@2", "Success@3", "DCG@3", "nDCG", "nDCG@2", "nDCG(dcg='exp-log2')@3", "RBP(p=0.5)",
    "AP", "AP@2", "AP(rel=2)", "RR", "RR@3", "ERR", "ERR@2", "P(judged_only=True)@2",
    "AP(judged_only=True)", "Judged@2",
)  # fmt: skip


def under_noise(scores, labels, noise, measures=MEASURES, **options):
    """Return the values of one list, after checking that the error is at most as promised."""
    found = Evaluator(labels, measures, **options).under_noise_with_error(scores, noise)
    assert (found.error <= 1e-9 * max(1, *labels) * 8).all()
    return found.values[0], found.error[0]


def over_orders(measures, labels, chances):
    """Return the mean of each measure over orders of documents, {order: chance}."""
    means = []
    for measure in map(parse_measure, measures):
        values = ((oracle.value(measure, [labels[d] for d in order], labels), c) for order, c in chances.items())
        means.append(float(sum(value * Fraction(chance) for value, chance in values)))
    return np.array(means)


def plackett_luce(scores, scale):
    """Return the chance of each order: each rank is drawn from the documents that are left, by exp(score / scale)."""
    weights = [Fraction(float(np.exp((s - max(scores)) / scale))) for s in scores]
    chances = {}
    for order in permutations(range(len(scores))):
        chance, left = Fraction(1), sum(weights)
        for d in order:
            chance *= weights[d] / left
            left -= weights[d]
        chances[order] = chance
    return chances


@pytest.mark.parametrize("seed", range(3))
def test_gumbel_noise_is_a_plackett_luce_model(seed):
    rng = np.random.default_rng(seed)
    scores, labels = np.round(rng.normal(size=6) * 2), rng.integers(-1, 3, 6)
    labels[0] = 2
    scale = (0.3, 1.0, 3.0)[seed]
    values, error = under_noise(scores, labels, Gumbel(scale))
    expected = over_orders(MEASURES, labels.tolist(), plackett_luce(scores.tolist(), scale))
    assert (abs(values - expected) <= error).all()


class Polynomial:
    """A function that is a polynomial with fractions as coefficients between breaks."""

    def __init__(self, breaks, pieces):
        self.breaks, self.pieces = breaks, pieces

    def times_density_up_to(self, low, high):
        """Return ∫_-∞^x f(t) p(t) dt, for the uniform density f from low to high."""
        pieces, total = [], Fraction(0)
        for (left, right), piece in zip(pairwise(self.breaks), self.pieces, strict=True):
            inside = low <= left and right <= high
            density = 1 / (high - low) if inside else Fraction(0)
            integral = [Fraction(0)] + [density * c / (n + 1) for n, c in enumerate(piece)]
            at = [sum((c * x**n for n, c in enumerate(integral)), Fraction(0)) for x in (left, right)]
            pieces.append([total - at[0] + integral[0], *integral[1:]])
            total += at[1] - at[0]
        return Polynomial(self.breaks, pieces), total


def uniform_chances(scores, half_widths):
    """Return the exact chance of each order under uniform noise, by nested integrals of polynomials in fractions."""
    ends = [(Fraction(s) - Fraction(h), Fraction(s) + Fraction(h)) for s, h in zip(scores, half_widths, strict=True)]
    breaks = sorted({each for pair in ends for each in pair})
    chances = {}
    for order in permutations(range(len(scores))):
        below, chance = Polynomial(breaks, [[Fraction(1)]] * (len(breaks) - 1)), Fraction(1)
        for d in reversed(order):
            below, chance = below.times_density_up_to(*ends[d])
        chances[order] = chance
    assert sum(chances.values()) == 1
    return chances


@settings(max_examples=20)
@given(st.data())
def test_uniform_noise_is_exact(data):
    n = data.draw(st.integers(1, 4))
    scores = data.draw(st.lists(st.integers(0, 6), min_size=n, max_size=n))
    half_widths = data.draw(st.lists(st.sampled_from([0.25, 1.0, 1.5, 4.0]), min_size=n, max_size=n))
    labels = data.draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n))
    values, _ = under_noise(scores, labels, Uniform(half_widths))
    expected = over_orders(MEASURES, labels, uniform_chances(scores, half_widths))
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sizes", [0.7, (0.3, 0.3, 2.0, 0.01), (5.0, 0.1, 0.1, 1.0)])
def test_values_are_those_of_the_reference(kind, sizes):
    scores, labels = [0.4, 0.4, 0.1, -0.3], [0, 2, 1, -1]
    noise = kind(sizes)
    values, error = under_noise(scores, labels, noise)
    expected = [reference.under_noise(measure, scores, labels, noise) for measure in MEASURES]
    assert (abs(values - expected) <= error).all()


@pytest.mark.parametrize("kind", KINDS)
def test_points_among_noise_tie(kind):
    """Documents without noise are like uniform noise that is too little to reach any other document."""
    scores, labels, sizes = [0.0, 0.0, 0.0, 0.3, 0.3], [1, 0, 2, 1, 0], [0.0, 0.0, 0.0, 0.5, 2.0]
    values, error = under_noise(scores, labels, kind(sizes))
    points = reference.noisy_orders.places([0.0] * 3, Uniform(1e-13))
    others = reference.noisy_orders.places(scores[3:], kind(sizes[3:]))
    chances = dict(reference.noisy_orders.chances_of_orders(points + others))
    assert (abs(values - over_orders(MEASURES, labels, chances)) <= error + 1e-12).all()


def lists_with_ties(seed=0, n_lists=5, depth=60):
    rng = np.random.default_rng(seed)
    return rng.integers(-1, 4, (n_lists, depth)), rng.integers(0, 12, (n_lists, depth)) / 8


@pytest.mark.parametrize("kind", KINDS)
def test_without_noise_the_values_are_those_of_a_call(kind):
    labels, scores = lists_with_ties()
    evaluator = Evaluator(labels, MEASURES)
    found = evaluator.under_noise_with_error(scores, kind(np.zeros(scores.shape)))
    assert found.values.tobytes() == evaluator(scores).tobytes()
    assert not found.error.any()
    assert evaluator.under_noise(scores, kind(0)).tobytes() == evaluator(scores).tobytes()


@pytest.mark.parametrize("offset", [0.0, 1e6, -3e12])
@pytest.mark.parametrize("size", [1e-3, 1e-9, 1e-17, 1e-150])
@pytest.mark.parametrize("kind", KINDS)
def test_ties_are_the_limit_without_noise(kind, size, offset):
    labels, scores = lists_with_ties()
    evaluator = Evaluator(labels, MEASURES)
    found = evaluator.under_noise_with_error(scores + offset, kind(size))
    assert (abs(found.values - evaluator(scores)) <= found.error).all()


def test_infinite_scores_tie_without_noise():
    scores, labels = [np.inf, np.inf, 0.0, -np.inf, -np.inf], [0, 1, 1, 2, 0]
    values, _ = under_noise(scores, labels, Gaussian(1.0))
    np.testing.assert_allclose(values, Evaluator(labels, MEASURES)(scores)[0], rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_two_documents_of_a_million(kind):
    """The others are too far away to be integrated, so it takes hardly longer than sorting."""
    scores = np.arange(1_000_000.0)
    scores[7] = scores[6]
    labels = np.zeros(len(scores), dtype=int)
    labels[7] = 1
    value = Evaluator(labels, "RR").under_noise(scores, kind(0.01))[0, 0]
    assert value == pytest.approx((1 / 999_993 + 1 / 999_994) / 2, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [0.3, 40.0])
def test_the_sum_over_all_documents_is_certain(kind, size):
    """Each rank has a document: the DCG of documents that are all worth the same does not depend on the order."""
    scores = np.random.default_rng(3).normal(size=300)
    labels = np.ones(300, dtype=int)
    noise = kind(size * np.random.default_rng(4).choice([0.5, 1.0, 2.0], 300))
    found = Evaluator(labels, ["DCG", "P@7", "AP", "RR", "RBP"]).under_noise_with_error(scores, noise)
    expected = [(1 / np.log2(np.arange(2, 302))).sum(), 1, 1, 1, 1 - 0.8**300]
    assert (abs(found.values - expected) <= found.error).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_shift_and_a_scale_change_nothing(kind):
    scores, labels = np.random.default_rng(5).normal(size=80), np.arange(80) % 7 % 3
    sizes = np.random.default_rng(6).uniform(0.1, 2.0, 80)
    evaluator = Evaluator(labels, MEASURES)
    a, b = evaluator.under_noise(scores, kind(sizes)), evaluator.under_noise(1000 * scores + 7, kind(1000 * sizes))
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-9)


DRAWS = {
    Gaussian: lambda rng, shape: rng.normal(size=shape),
    Gumbel: lambda rng, shape: rng.gumbel(size=shape),
    Uniform: lambda rng, shape: rng.uniform(-1, 1, shape),
}


@pytest.mark.parametrize("n_draws", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_values_are_those_of_many_draws(kind, n_draws):
    rng = np.random.default_rng(7)
    scores, labels = np.round(rng.normal(size=25), 1), rng.choice([-1, 0, 0, 1, 2, 3], 25)
    sizes = rng.choice([0.1, 0.5, 1.5], 25)
    values, _ = under_noise(scores, labels, kind(sizes))
    sums, squares = np.zeros(len(MEASURES)), np.zeros(len(MEASURES))
    for _ in range(n_draws // 20_000):
        drawn = scores + sizes * DRAWS[kind](rng, (20_000, 25))
        of_draws = Evaluator(np.tile(labels, (20_000, 1)), MEASURES)(drawn)
        sums += of_draws.sum(axis=0)
        squares += (of_draws**2).sum(axis=0)
    means = sums / n_draws
    standard_errors = np.sqrt((squares / n_draws - means**2) / n_draws)
    assert (abs(values - means) <= 4.5 * standard_errors + 1e-9).all()


@pytest.mark.parametrize("kind", KINDS)
def test_threads_and_rows_give_the_same_bits(kind):
    labels, scores = lists_with_ties(8, 23, 70)
    sizes = np.random.default_rng(9).choice([0.0, 0.1, 0.2], scores.shape)
    for noise in (kind(0.15), kind(sizes)):
        expected = Evaluator(labels, MEASURES).under_noise(scores, noise)
        assert Evaluator(labels, MEASURES, threads=3).under_noise(scores, noise).tobytes() == expected.tobytes()
        flat = Evaluator(labels.ravel(), MEASURES, offsets=np.arange(24) * 70)
        assert flat.under_noise(scores.ravel(), kind(noise.sizes.ravel() if noise.sizes.ndim else 0.15)).tobytes() == (
            expected.tobytes()
        )
    rows = Evaluator(labels, MEASURES).rows(4, 9)
    assert rows.under_noise(scores[4:9], kind(sizes[4:9])).tobytes() == expected[4:9].tobytes()
    assert rows.rows(1, 3).under_noise(scores[5:7], kind(sizes[5:7])).tobytes() == expected[5:7].tobytes()


def test_judgments_outside_the_list_and_undefined_queries():
    labels = [[1, 0, -1], [0, -1, 0], [2, 0, 0]]
    judgments = ([1, 0, 1, 1, 0, 0, 2, 0, 0, 3], [0, 4, 6, 10])
    measures, scores = ["R@2", "nDCG", "AP"], [[1.0, 0.9, 0.5]] * 3
    found = Evaluator(labels, measures, judgments=judgments, undefined=np.nan).under_noise(scores, Gaussian(0.1))
    inside = Evaluator(labels, measures).under_noise(scores, Gaussian(0.1))
    assert np.isnan(found[1]).all()
    assert not inside[1].any()
    np.testing.assert_allclose(found[0, ::2], inside[0, ::2] / 3, rtol=1e-12)
    ideal = 3 + 2 / np.log2(3)
    assert found[2, 1] == pytest.approx(inside[2, 1] * 2 / ideal, rel=1e-12)


def test_excluded_items_are_not_ranked_and_scores_may_be_shared():
    relevance = sp.csr_array([[0, 0, 0, 1, 0], [2, 0, 0, 0, 0]])
    seen = sp.csr_array([[1, 0, 1, 0, 0], [0, 0, 0, 0, 1]])
    evaluator = Evaluator.from_sparse(relevance, ["RR", "nDCG@2"], exclude=seen)
    shared, sizes = np.array([0.9, 0.5, 0.7, 0.5, 0.1]), np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    alone = [
        Evaluator([0, 1, 0], ["RR", "nDCG@2"]).under_noise(shared[[1, 3, 4]], Gaussian(sizes[[1, 3, 4]]))[0],
        Evaluator([2, 0, 0, 0], ["RR", "nDCG@2"]).under_noise(shared[:4], Gaussian(sizes[:4]))[0],
    ]
    for scores in (shared, np.tile(shared, (2, 1))):
        for noise in (Gaussian(sizes), Gaussian(np.tile(sizes, (2, 1)))):
            np.testing.assert_allclose(evaluator.under_noise(scores, noise), alone, rtol=0, atol=2e-10)


def test_unjudged_documents_that_fill_the_first_ranks_do_not_end_the_list():
    """Below a hundred unjudged documents, nothing reaches the first ranks, except where only judged ones are ranked."""
    labels = np.concatenate((np.full(100, -1), [1, 0, 1, 1]))
    scores, noise = np.linspace(40.0, 0.0, len(labels)), Gaussian(2.0)
    both = Evaluator(labels, ["P@3", "P(judged_only=True)@3", "nDCG(judged_only=True)@2"]).under_noise(scores, noise)
    judged = Evaluator(labels[100:], ["P@3", "nDCG@2"]).under_noise(scores[100:], noise)
    assert both[0, 0] < 1e-9
    np.testing.assert_allclose(both[0, 1:], judged[0], rtol=0, atol=2e-9)


def test_labels_that_are_real_numbers():
    scores, labels = [0.5, 0.4, 0.3, 0.1], [0.25, 0.0, 3.5, 1.0]
    measures = ["nDCG@2", "DCG", "ERR", "AP(rel=0.5)", "RBP(gains='label')"]
    values, error = under_noise(scores, labels, Gaussian(0.2), measures)
    expected = [reference.under_noise(measure, scores, labels, Gaussian(0.2)) for measure in measures]
    assert (abs(values - expected) <= error).all()


def test_float32_lists_and_empty_lists():
    labels = [1, 0, 2]
    evaluator = Evaluator(labels, MEASURES)
    scores = np.array([0.5, 0.25, 0.125])
    expected = evaluator.under_noise(scores, Gumbel(0.1))
    for same in (scores.astype(np.float32), scores.tolist()):
        assert evaluator.under_noise(same, Gumbel(0.1)).tobytes() == expected.tobytes()
    assert Evaluator([], MEASURES).under_noise([], Gaussian(1.0)).shape == (1, len(MEASURES))
    assert Evaluator(np.zeros((0, 3), int), MEASURES).under_noise(np.zeros((0, 3)), Gaussian(1.0)).size == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "size", [-1.0, np.nan, np.inf, 1e-200, 1e200, "much", None, [0.1, -0.1], [[0.1], [np.nan]], 1j]
)
def test_sizes_that_are_none(kind, size):
    with pytest.raises(InputError, match=r"^(sigma|scale|half_width)(\[.*\])?: expected .*, found .*$"):
        kind(size)


@pytest.mark.parametrize(
    ("options", "scores", "noise", "message"),
    [
        ({}, [1.0, 2.0], Gaussian([0.1, 0.2, 0.3]), "^noise: expected .*2"),
        ({}, [1.0, np.nan], Gaussian(0.1), "^scores: expected numbers, found NaN for document 1 of query 0$"),
        ({}, [1.0, 2.0, 3.0], Gaussian(0.1), "^scores: "),
        ({}, [1.0, 2.0], 0.1, "^noise: expected a noise of tieaware.precision, such as Gaussian"),
        ({"measures": "Bpref"}, [1.0, 2.0], Gaussian(0.1), "^measures: expected .*P, R, .*ERR, found Bpref$"),
        ({"measures": "AUC RR"}, [1.0, 2.0], Gaussian(0.1), "^measures: expected .*, found AUC$"),
        ({"ties": "optimistic"}, [1.0, 2.0], Gaussian(0.1), "^ties: expected 'average'"),
        ({"precision": "float16"}, [1.0, 2.0], Gaussian(0.1), "^precision: expected none"),
        ({}, [1.0, 1.0], Gaussian([1.0, 1e-5]), None),
        ({}, [1.0 + 1e-7, 1.0], Gaussian([1.0, 1e-5]), None),
        # Places are rounded, which such small noise would show.
        ({}, [1.0, 1.0], Gaussian([1.0, 1e-8]), "^noise: the expectation of RR .*: the sizes differ too much"),
    ],
)
def test_what_cannot_be_computed(options, scores, noise, message):
    evaluator = Evaluator([0, 1], **{"measures": "RR", **options})
    if message is None:
        assert evaluator.under_noise(scores, noise) == pytest.approx(0.75, abs=1e-6)
    else:
        with pytest.raises(InputError, match=message):
            evaluator.under_noise(scores, noise)


def test_an_interruption_ends_a_long_call():
    n = 20_000
    evaluator = Evaluator(np.arange(n) % 2, "AP", threads=2)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    began = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        evaluator.under_noise(np.linspace(0, 1, n), Gaussian(1.0))
    assert time.monotonic() - began < 10


def test_noise_is_immutable_and_says_what_it_is():
    sizes = np.array([0.1, 0.2])
    noise = Gaussian(sizes)
    sizes[0] = 9.0
    assert noise.sizes.tolist() == [0.1, 0.2]
    assert repr(Gumbel(0.5)) == "Gumbel(scale=0.5)"
    with pytest.raises(ValueError, match="read-only"):
        noise.sizes[0] = 1.0
