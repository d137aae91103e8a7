"""The Bayesian t-test: baycomp's probabilities, its relation to the t-test, simulation, degenerate input."""

import numpy as np
import pytest

from tieaware.statistics import bayesian_comparison, paired_test

stats = pytest.importorskip("scipy.stats")

A, B = np.array([0.5, 0.75, 0.25, 1.0, 0.5]), np.array([0.5, 0.5, 0.0, 0.5, 0.75])


@pytest.mark.parametrize("rope", [0.0, 0.01, 0.1])
def test_probabilities_of_baycomp(rope):
    """The correction for k folds, which baycomp always makes, is a correlation of 1/k."""
    baycomp = pytest.importorskip("baycomp")
    found = bayesian_comparison(A, B, rope, correlation=1 / 5)
    theirs = baycomp.two_on_single(B, A, rope=rope)
    expected = (theirs[0], theirs[-1]) if rope == 0 else theirs
    ours = (found.worse, found.better) if rope == 0 else (found.worse, found.equivalent, found.better)
    assert ours == pytest.approx(expected, rel=1e-12)


def test_recorded_probabilities_of_baycomp():
    """By baycomp 1.0.3: two_on_single(B, A, rope=0.01)."""
    found = bayesian_comparison(A, B, 0.01, correlation=0.2)
    assert (float(found.worse), float(found.equivalent), float(found.better)) == pytest.approx(
        (0.224901990117772, 0.027425790132040384, 0.7476722197501876), rel=1e-12
    )


def test_without_a_region_it_is_the_one_sided_t_test():
    found = bayesian_comparison(A, B)
    for name, alternative in (("better", "less"), ("worse", "greater")):
        assert getattr(found, name) == pytest.approx(float(paired_test(A, B, alternative=alternative).p), rel=1e-12)
    test = paired_test(A, B)
    assert found.equivalent == 0.0
    assert (found.difference, found.low, found.high) == (
        test.difference, pytest.approx(float(test.low), rel=1e-12), pytest.approx(float(test.high), rel=1e-12)
    )  # fmt: skip


def test_the_posterior_by_its_definition():
    """Draw variances from their posterior, and the mean difference from a normal distribution of that variance."""
    rng, n, draws = np.random.default_rng(3), len(A), 400_000
    differences = A - B
    variances = differences.var(ddof=1) * (n - 1) / rng.chisquare(n - 1, draws)
    means = rng.normal(differences.mean(), np.sqrt(variances / n))
    found = bayesian_comparison(A, B, 0.05)
    assert found.better == pytest.approx((means > 0.05).mean(), abs=0.004)
    assert found.equivalent == pytest.approx((np.abs(means) <= 0.05).mean(), abs=0.004)
    assert found.worse == pytest.approx((means < -0.05).mean(), abs=0.004)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(means, (0.025, 0.975))), abs=0.01)


def test_many_pairs_at_once_and_exchanged_systems():
    rng = np.random.default_rng(5)
    a, b = rng.random((3, 8, 2)), rng.random((8, 2))
    found = bayesian_comparison(a, b, 0.1, axis=1, confidence=0.8)
    assert found.better.shape == found.low.shape == (3, 2)
    np.testing.assert_allclose(found.better + found.equivalent + found.worse, 1.0, rtol=1e-14)
    one = bayesian_comparison(a[2, :, 1], b[:, 1], 0.1, confidence=0.8)
    assert [float(each) for each in one] == pytest.approx([each[2, 1] for each in found], rel=1e-12)
    other = bayesian_comparison(b, a, 0.1, axis=-2, confidence=0.8)
    np.testing.assert_allclose((other.worse, other.better), (found.better, found.worse), rtol=1e-12)
    np.testing.assert_allclose((other.low, other.high), (-found.high, -found.low), rtol=1e-12)


@pytest.mark.parametrize(
    ("difference", "rope", "expected"),
    [
        (0.1, 0.0, (1, 0, 0)), (-0.1, 0.0, (0, 0, 1)), (0.0, 0.0, (0.5, 0, 0.5)), (0.0, 0.1, (0, 1, 0)),
        (0.125, 0.125, (0, 1, 0)), (0.25, 0.125, (1, 0, 0)), (-0.25, 0.125, (0, 0, 1)),
    ],
)  # fmt: skip
def test_constant_differences_are_certain(difference, rope, expected):
    found = bayesian_comparison(np.full(7, difference), np.zeros(7), rope)
    assert (found.better, found.equivalent, found.worse) == expected
    assert found.low == found.high == found.difference == difference
