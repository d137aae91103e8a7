"""Expected exposure metrics and group exposure, compared with enumeration, with the papers' formulas and by hand."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from support.errors import message_of

from tieaware import exposure, fairness

RNG = np.random.default_rng(30)


def policy(scores, weight):
    """Return the mean exposures over all orders that agree with the scores, and the exposures of each order."""
    orders = [
        order for order in permutations(range(len(scores)))
        if all(scores[a] >= scores[b] for a, b in pairwise(order))
    ]  # fmt: skip
    each = np.zeros((len(orders), len(scores)))
    for i, order in enumerate(orders):
        each[i, list(order)] = [weight(rank) for rank in range(1, len(scores) + 1)]
    return each.mean(axis=0), each


def reciprocal(rank):
    return 1 / rank


def geometric(rank):
    return 0.5**rank


@pytest.mark.parametrize(("weights", "weight"), [("RR", reciprocal), ("RBP(p=0.5)", geometric)])
def test_metrics_are_those_of_the_enumerated_policy(weights, weight):
    for _ in range(30):
        n = int(RNG.integers(1, 6))
        scores, labels = RNG.integers(0, 3, n).astype(float), RNG.integers(-1, 3, n)
        system, each = policy(scores, weight)
        target, _ = policy(np.maximum(labels, 0).astype(float), weight)
        found = fairness.expected_exposure(scores, labels, weights=weights)
        assert found.EED.item() == pytest.approx((system**2).sum(), rel=1e-13)
        assert found.EER.item() == pytest.approx((system * target).sum(), rel=1e-13)
        assert found.EEL.item() == pytest.approx(((system - target) ** 2).sum(), rel=1e-12, abs=1e-15)
        sums = found.EED - 2 * found.EER + (target**2).sum()
        assert found.EEL.item() == pytest.approx(sums.item(), abs=1e-14)
        # Each single order has at least the disparity of the policy, by Jensen's inequality.
        assert (each**2).sum(axis=1).min() >= found.EED.item() - 1e-14


def test_target_of_the_paper():
    """Diaz and others: each of m relevant documents deserves (1 - γ^m) / (m (1 - γ)), the others share the rest."""
    patience, m, n = 0.7, 3, 10
    labels = RNG.permutation([1] * m + [0] * (n - m))
    relevant = (1 - patience**m) / (m * (1 - patience))
    other = (patience**m - patience**n) / ((n - m) * (1 - patience))
    found = fairness.target_exposure(labels, weights=f"RBP(p={patience})") / (1 - patience)
    np.testing.assert_allclose(found, np.where(labels == 1, relevant, other), rtol=1e-13)


def test_real_labels_and_unjudged_documents():
    found = fairness.target_exposure([0.7, 0.2, -1.0, 0.0, 0.7], weights="RR")
    np.testing.assert_allclose(found, [0.75, 1 / 3, 9 / 40, 9 / 40, 0.75], rtol=1e-15)


def by_definition(scores, labels, groups, weights, amortised):
    """Return EED, EER and EEL of groups, from membership matrices, as TREC's track on fair ranking defines them."""
    names = sorted(set(groups.ravel().tolist()))
    system, target = exposure(scores, weights=weights), exposure(np.maximum(labels, 0), weights=weights)
    member = np.stack([groups == name for name in names], axis=2).astype(float)
    own, ideal = np.einsum("qd,qdg->qg", system, member), np.einsum("qd,qdg->qg", target, member)
    if amortised:
        own, ideal = own.mean(axis=0, keepdims=True), ideal.mean(axis=0, keepdims=True)
    return (own**2).sum(axis=1), (own * ideal).sum(axis=1), ((own - ideal) ** 2).sum(axis=1)


@pytest.mark.parametrize("amortised", [False, True])
@pytest.mark.parametrize("names", [["a", "b", "ü"], [7, -2, 100]])
def test_metrics_of_groups(amortised, names):
    scores, labels = RNG.integers(0, 5, (8, 20)).astype(float), RNG.integers(-1, 3, (8, 20))
    groups = RNG.choice(names, (8, 20))
    found = fairness.expected_exposure(scores, labels, weights="DCG@10", groups=groups, amortised=amortised)
    expected = by_definition(scores, labels, groups, "DCG@10", amortised)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
    offsets = np.arange(0, 161, 20)
    flat = fairness.expected_exposure(
        scores.ravel(), labels.ravel(), offsets, "DCG@10", groups=groups.ravel(), amortised=amortised
    )
    np.testing.assert_array_equal(flat, found)


def test_each_document_may_be_a_group():
    scores, labels = RNG.integers(0, 5, 20).astype(float), RNG.integers(0, 3, 20)
    alone = fairness.expected_exposure(scores, labels, groups=[f"d{i:02}" for i in range(20)])
    np.testing.assert_array_equal(alone, fairness.expected_exposure(scores, labels))


def test_repeated_random_orders_approach_the_tied_policy():
    """Rankings in random order, amortised, have the exposures of one ranking in which everything ties."""
    labels = np.tile([1, 1, 0, 0], (4000, 1))
    orders, ids = RNG.random((4000, 4)), np.tile(list("abcd"), (4000, 1))
    amortised = fairness.expected_exposure(orders, labels, weights="RR", groups=ids, amortised=True)
    tied = fairness.expected_exposure(np.zeros(4), labels[0], weights="RR")
    np.testing.assert_allclose(np.ravel(amortised), np.ravel(tied), atol=0.02)


def test_group_sums_by_hand():
    groups = np.array([["x", "y", "x"], ["y", "y", "y"]])
    found = fairness.group_exposure([[1.0, 0.5, 0.25], [1.0, 2.0, 3.0]], groups)
    assert found.groups == ("x", "y")
    assert found.values.tolist() == [[1.25, 0.5], [0.0, 6.0]]
    assert found.sizes.tolist() == [[2, 1], [0, 3]]
    np.testing.assert_array_equal(found.means(), [[0.625, 0.5], [np.nan, 2.0]])
    np.testing.assert_array_equal(found.shares(), [[1.25 / 1.75, 0.5 / 1.75], [0.0, 1.0]])
    assert found.amortised().tolist() == [0.625, 3.25]
    whole = fairness.group_exposure([1.0, 0.5, 0.25, 1.0, 2.0, 3.0], groups.ravel())
    assert whole.values.tolist() == [[1.25, 6.5]]
    objects = fairness.group_exposure([1.0, 2.0], np.array(["p", "q"], object))
    assert (objects.groups, objects.values.tolist()) == (("p", "q"), [[1.0, 2.0]])
    nothing = fairness.group_exposure([], [])
    assert (nothing.groups, nothing.values.shape, nothing.shares().shape) == ((), (1, 0), (1, 0))
    assert np.isnan(fairness.group_exposure([0.0], ["a"]).shares()).all()
    assert np.isnan(fairness.group_exposure(np.empty((0, 2)), np.empty((0, 2), "U1")).amortised()).all()


def test_gini_is_half_the_relative_mean_difference():
    """The definition: the mean absolute difference of two values, divided by twice the mean."""
    for n, zeros in ((1, 0), (2, 0), (10, 0), (50, 30)):
        values = np.concatenate([RNG.random(n), np.zeros(zeros)])
        expected = np.abs(values[:, None] - values).mean() / (2 * values.mean())
        assert fairness.gini(values) == pytest.approx(expected, rel=1e-12, abs=1e-15)
        assert fairness.gini(values[:n], n + zeros) == pytest.approx(expected, rel=1e-12, abs=1e-15)
    assert np.isnan(fairness.gini([]))
    assert np.isnan(fairness.gini([0.0, 0.0]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fairness.expected_exposure([1.0], [[1]]), "labels: must have the shape of the scores, (1,), not"),
        (lambda: fairness.expected_exposure([1.0], [1], amortised=True), "amortised: requires groups: pass the"),
        (lambda: fairness.expected_exposure([1.0], [np.nan]), "labels[0]: expected a number, found NaN"),
        (lambda: fairness.expected_exposure([1.0], [1], amortised="yes", groups=["a"]), "amortised: "),
        (lambda: fairness.target_exposure([[1]], [0, 1]), "offsets: must not be given with two-dimensional labels"),
        (lambda: fairness.group_exposure([1.0], ["a", "b"]), "groups: must have the shape of the documents, (1,), not"),
        (lambda: fairness.group_exposure([1.0], [0.5]), "groups: must be text or integers, not float64"),
        (lambda: fairness.group_exposure([np.nan], ["a"]), "exposures[0]: expected a number, found NaN"),
        (lambda: fairness.gini([1.0, -1.0]), "values[1]: must be at least 0 and finite, not -1.0"),
        (lambda: fairness.gini([1.0, 1.0], 1), "n: "),
    ],
    ids=range(10),
)
def test_bad_input_is_refused(call, message):
    assert message_of(call).startswith(message)


def test_gini_of_exposure_is_that_of_lenskit():
    """ExposureGini of LensKit 2025.8.1, in single precision: 12 items, geometric weights with the patience 0.85."""
    lists = [
        [0, 10, 2, 5, 1, 9], [8, 2, 4, 11, 3, 1], [6, 11, 3, 7, 9, 4], [5, 10, 6, 1, 7, 2], [0, 10, 2, 6, 1, 3],
    ]  # fmt: skip
    exposures = np.zeros(12)
    for items in lists:
        exposures[items] += exposure(np.arange(6, 0, -1.0), weights="RBP(p=0.85)")
    assert fairness.gini(exposures) == pytest.approx(0.19353074526798503, rel=1e-6)
