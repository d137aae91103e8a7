"""Decisions on samples of the topics: a plain loop, the whole set, smoothing, corrections, expected power."""

from itertools import combinations

import numpy as np
import pytest

from tieaware.statistics import decisions_by_topics, holm, paired_test, power, smooth

pytest.importorskip("scipy.stats")


@pytest.fixture
def values():
    """Return the values of five systems on 30 topics."""
    rng = np.random.default_rng(21)
    return rng.random(30) + rng.normal(np.array([[0.0], [0.05], [0.1], [0.2], [0.3]]), 0.2, (5, 30))


@pytest.mark.parametrize("correction", ["none", "holm"])
@pytest.mark.parametrize("smoothed", [False, True])
def test_the_definition_with_the_same_samples(values, correction, smoothed):
    prior = np.array([0.2, 0.4, 0.6, 0.8, 0.5])
    options = {"prior": prior, "weight": 0.75} if smoothed else {}
    found = decisions_by_topics(values, [8, 4], repeats=30, seed=2, alpha=0.1, correction=correction, **options)
    assert found.sizes == (8, 4)

    def verdicts(some):
        tests = [paired_test(some[a], some[b]) for a, b in combinations(range(5), 2)]
        p = np.array([float(test.p) for test in tests])
        signs = np.sign([float(test.difference) for test in tests])
        return np.where((holm(p) if correction == "holm" else p) <= 0.1, signs, 0.0), signs

    whole, signs = verdicts(values)
    sampled = smooth(values, prior, 0.75) if smoothed else values
    for i, size in enumerate((8, 4)):
        generator = np.random.default_rng([2, size])
        samples = [verdicts(sampled[:, np.sort(generator.permutation(30)[:size])]) for _ in range(30)]
        own, own_signs = (np.array(each) for each in zip(*samples, strict=True))
        assert found.decided[i] == pytest.approx((own != 0).mean(), rel=1e-12)
        assert found.found[i] == pytest.approx((own == whole)[:, whole != 0].mean(), rel=1e-12)
        assert found.confirmed[i] == pytest.approx((own == whole)[own != 0].mean(), rel=1e-12)
        assert found.swapped[i] == pytest.approx((own_signs * signs < 0).mean(), rel=1e-12)
    assert 0 < found.decided[1] < found.decided[0] < 1


def test_all_topics_agree_with_themselves(values):
    found = decisions_by_topics(values, [30])
    first, second = np.triu_indices(5, 1)
    share = (paired_test(values[first], values[second]).p <= 0.05).mean()
    assert [each.item() for each in found[1:]] == [share, 1.0, 1.0, 0.0]


def test_sizes_do_not_depend_on_each_other(values):
    both, one = (decisions_by_topics(values, sizes, repeats=20) for sizes in ([5, 15], [15]))
    assert [each[1] for each in both[1:]] == [each[0] for each in one[1:]]


def test_without_significant_pairs_shares_are_nan():
    found = decisions_by_topics(np.zeros((2, 4)), [2, 4])
    assert found.decided.tolist() == found.swapped.tolist() == [0.0, 0.0]
    assert np.isnan([found.found, found.confirmed]).all()


def test_the_share_of_decisions_is_the_power():
    """Samples of a large population of topics are independent, so the share is the power of the paired t-test."""
    rng = np.random.default_rng(4)
    differences = rng.standard_normal(2000)
    differences = (differences - differences.mean()) / differences.std(ddof=1) * 0.2 + 0.1
    found = decisions_by_topics(np.stack([differences, np.zeros(2000)]), [10, 30], repeats=2000)
    np.testing.assert_allclose(found.decided, power([10, 30], 0.1, 0.04), atol=0.035)
