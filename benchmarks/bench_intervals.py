"""Intervals of means over topics, compared with the matrix product of the resamples that they need."""

import numpy as np
import pytest

from tieaware.statistics import mean_interval
from tieaware.statistics.intervals import draws

SECTION = "Bootstrap intervals of means, 10,000 resamples, one thread"


@pytest.fixture(autouse=True)
def one_thread():
    """Limit the matrix products of both sides to one thread."""
    with pytest.importorskip("threadpoolctl").threadpool_limits(1):
        yield


@pytest.mark.parametrize(("n_samples", "n", "what"), [(420, 30, "42 runs × 10 measures"), (180, 100, "180 models")])
def test_intervals(compare, small, n_samples, n, what):
    """The percentile interval: the product, and two quantiles of each sample."""
    resamples = 200 if small else 10_000
    values = np.random.default_rng(32).random((n_samples, n))
    counts = np.concatenate(list(draws(n, resamples, 0)))

    def check():
        found = mean_interval(values, "percentile", resamples=resamples)
        expected = np.quantile(values @ counts.T / n, [0.025, 0.975], axis=1)
        np.testing.assert_allclose((found.low, found.high), expected, rtol=1e-12)

    compare(
        SECTION, f"{what}, {n} topics", check=check,
        contender=lambda: mean_interval(values, "percentile", resamples=resamples),
        baseline=lambda: values @ counts.T, to="the matrix product", at_most=3.0,
    )  # fmt: skip
