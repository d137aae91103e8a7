"""Intervals of means and ratios: SciPy's values, coverage by simulation, the same bits for any order of sums."""

import numpy as np
import pytest
import scipy.stats

from tieaware.statistics import mean_interval, ratio_interval
from tieaware.statistics.intervals import IntervalMethod, draws, resampled_sums, whole_numbers

METHODS: tuple[IntervalMethod, ...] = ("t", "percentile", "bca", "bootstrap-t")


@pytest.fixture(scope="module")
def samples():
    return np.random.default_rng(7).beta(0.5, 1.5, (3, 4, 25))


def test_t_has_the_values_of_scipy(samples):
    found = mean_interval(samples, level=0.9)
    low, high = scipy.stats.t.interval(0.9, 24, samples.mean(axis=-1), scipy.stats.sem(samples, axis=-1))
    expected = samples.mean(axis=-1), low, high, scipy.stats.sem(samples, axis=-1)
    for values, each in zip(found, expected, strict=True):
        np.testing.assert_allclose(values, each, rtol=1e-13)


@pytest.mark.parametrize(("method", "name"), [("percentile", "percentile"), ("bca", "BCa")])
def test_the_bootstrap_has_the_values_of_scipy(samples, method, name):
    """The draws are the same, so the intervals are, up to rounding."""
    found = mean_interval(samples, method, seed=5, resamples=999)
    ratios = ratio_interval(samples[0], samples[1], method, seed=5, resamples=999)
    for at in np.ndindex(3, 4):
        interval = scipy.stats.bootstrap(
            (samples[at],), np.mean, method=name, n_resamples=999, rng=np.random.default_rng(5)
        ).confidence_interval
        assert (found.low[at], found.high[at]) == pytest.approx(tuple(interval), rel=1e-12)
    for i in range(4):
        interval = scipy.stats.bootstrap(
            (samples[0, i], samples[1, i]), lambda a, b, axis: a.mean(axis) / b.mean(axis), paired=True, method=name,
            n_resamples=999, rng=np.random.default_rng(5),
        ).confidence_interval  # fmt: skip
        assert (ratios.low[i], ratios.high[i]) == pytest.approx(tuple(interval), rel=1e-10)


def test_the_bias_of_bca_counts_half_of_the_resamples_that_tie_with_the_mean():
    """The sums of whole numbers tie exactly. Those of tenths of them differ by rounding."""
    numbers = np.random.default_rng(3).integers(0, 6, (20, 9))
    found = mean_interval(numbers / 10, "bca", level=0.9, resamples=500, seed=4)
    counts = np.concatenate(list(draws(9, 500, 4))).astype(np.int64)
    for i, each in enumerate(numbers):
        sums, own = counts @ each, each.sum()
        assert (sums == own).any()
        share = ((sums < own).sum() + (sums == own).sum() / 2) / 500
        deviations = 9 * each - own
        acceleration = (deviations**3).sum() / (6 * (deviations**2).sum() ** 1.5)
        bias, z = scipy.stats.norm.ppf(share), scipy.stats.norm.ppf(share) + scipy.stats.norm.ppf([0.05, 0.95])
        ends = np.quantile(sums / 90, scipy.stats.norm.cdf(bias + z / (1 - acceleration * z)))
        np.testing.assert_allclose((found.low[i], found.high[i]), ends, rtol=1e-12, err_msg=f"{each}")


def test_bootstrap_t_is_that_of_the_definition(samples):
    """Quantiles of the t statistics of resamples, computed one by one."""
    sample = samples[0, 0]
    n = len(sample)
    counts = np.concatenate(list(draws(n, 1000, 3)))
    resamples = [np.repeat(sample, row.astype(int)) for row in counts]
    t = [(each.mean() - sample.mean()) / (each.std(ddof=1) / np.sqrt(n)) for each in resamples]
    low, high = np.quantile(t, [0.025, 0.975])
    error = scipy.stats.sem(sample)
    found = mean_interval(sample, "bootstrap-t", resamples=1000, seed=3)
    expected = sample.mean() - high * error, sample.mean() - low * error
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-10)


@pytest.mark.filterwarnings("error")
def test_bootstrap_t_may_be_unbounded():
    """If many resamples have no variance and another mean, no end of the interval is known."""
    found = mean_interval([0.0] * 9 + [1.0], "bootstrap-t", resamples=1000)
    assert (found.low, found.high) == (pytest.approx(-0.0309, abs=1e-4), np.inf)


def test_fieller_has_the_ratios_that_no_t_test_rejects(samples):
    a, b = samples[0, 0], samples[0, 1]
    found = ratio_interval(a, b)
    for end in (found.low, found.high):
        assert scipy.stats.ttest_rel(a, end * b).pvalue == pytest.approx(0.05, rel=1e-9)
    none = ratio_interval([1.0, 2.0, 3.0], [1.0, -1.0, 0.5])
    assert (none.low, none.high) == (-np.inf, np.inf)


@pytest.mark.parametrize("method", METHODS)
def test_equal_values_have_no_width(method):
    found = mean_interval([[0.1] * 7, [0.0] * 7, [1e-300] * 7], method)
    np.testing.assert_allclose(found.low, [0.1, 0.0, 1e-300], rtol=1e-15)
    np.testing.assert_array_equal(found.low, found.high)
    np.testing.assert_array_equal(found.std_error, 0.0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("skewed", [False, True])
def test_coverage(method, skewed):
    """The interval contains the mean of the population about as often as it says."""
    rng = np.random.default_rng(11)
    values, mean = (rng.beta(0.5, 1.5, (1500, 40)), 0.25) if skewed else (rng.normal(0.0, 1.0, (1500, 40)), 0.0)
    found = mean_interval(values, method, resamples=1000)
    share = ((found.low <= mean) & (mean <= found.high)).mean()
    # The standard error of the share is 0.006.
    assert 0.915 <= share <= 0.97


@pytest.mark.parametrize("method", METHODS)
def test_samples_do_not_depend_on_each_other_or_on_the_axis(samples, method):
    found = mean_interval(samples, method, resamples=500)
    np.testing.assert_array_equal(found.low[1, 2], mean_interval(samples[1, 2], method, resamples=500).low)
    moved = mean_interval(np.moveaxis(samples, -1, 0), method, axis=0, resamples=500)
    np.testing.assert_array_equal(found.low, moved.low)


def test_sums_of_resamples_are_exact(samples):
    """Integers of Python give the same sums, so no order of additions gives others."""
    sample = samples[0] * np.array([[1.0], [1e-200], [1e200], [3e7]])
    numbers, unit = whole_numbers(sample)
    assert (np.abs(numbers * unit - sample) <= np.abs(sample).max(axis=1, keepdims=True) * 1e-14).all()
    counts = np.concatenate(list(draws(25, 300, 1))).astype(int)
    (_, sums), = resampled_sums(numbers, 300, 1)
    exact = [[sum(int(c) * int(x) for c, x in zip(row, each, strict=True)) for row in counts] for each in numbers]
    assert sums.tolist() == exact
    assert (counts.sum(axis=1) == 25).all()
