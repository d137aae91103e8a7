"""Smoothing and standardising of scores."""

import numpy as np
import pytest

from tieaware.statistics import smooth, standardize

stats = pytest.importorskip("scipy.stats")


def test_the_mean_of_smoothed_values_is_a_mixture_of_the_means():
    rng = np.random.default_rng(6)
    now, before = rng.random((5, 8)), rng.random((5, 3)).mean(axis=1)
    for alpha in (0.0, 0.25, 1.0):
        expected = alpha * now.mean(axis=1) + (1 - alpha) * before
        np.testing.assert_allclose(smooth(now, before, alpha).mean(axis=1), expected, rtol=1e-14)


def test_standardised_values_follow_the_normal_distribution():
    rng = np.random.default_rng(7)
    values = rng.random((2, 6, 4))
    values[0, :, 1] = 0.1
    ours = standardize(values)
    z = (values - values.mean(axis=1, keepdims=True)) / values.std(axis=1, ddof=1, keepdims=True)
    expected = stats.norm.cdf(z)
    assert np.isnan(ours[0, :, 1]).all()
    assert np.isnan(ours).sum() == 6
    np.testing.assert_allclose(ours[1], expected[1], rtol=1e-12)
