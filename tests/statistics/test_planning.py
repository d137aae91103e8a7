"""Topic set size design: published sample sizes, SciPy's noncentral t, simulation, and the inverses of each other."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tieaware.statistics import anova, detectable_difference, power, topic_variance, topics_needed

stats = pytest.importorskip("scipy.stats")


@pytest.mark.parametrize(("size", "needed"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_published_sizes_for_the_paired_t_test(size, needed):
    """Sample sizes for Cohen's small, medium and large effects, level 0.05 and power 0.8, as G*Power prints them."""
    assert topics_needed(size, 1.0) == topics_needed(-size * 3, 9.0) == needed


@pytest.mark.parametrize(
    ("n_systems", "size", "needed"),
    [(2, 0.25, 64), (3, 0.25, 53), (4, 0.25, 45), (5, 0.25, 40), (3, 0.1, 323), (3, 0.4, 22)],
)
def test_published_sizes_for_the_analysis_of_variance(n_systems, size, needed):
    """Sizes of each group for Cohen's f, as G*Power prints them. With all but two means equal, f² = δ²/(2 m σ²)."""
    assert topics_needed(size * np.sqrt(2 * n_systems), 1.0, n_systems=n_systems) == needed


@pytest.mark.parametrize(
    ("alpha", "beta", "constant", "slope"),
    [
        (0.01, 0.1, 10.439, 5.213), (0.01, 0.2, 7.736, 4.551), (0.01, 0.3, 6.030, 4.077), (0.01, 0.5, 3.653, 3.302),
        (0.05, 0.1, 7.049, 4.244), (0.05, 0.2, 4.860, 3.584), (0.05, 0.3, 3.522, 3.112), (0.05, 0.5, 1.765, 2.341),
    ],
)  # fmt: skip
def test_the_table_of_topic_set_size_design(alpha, beta, constant, slope):
    """Table 6.4 of Sakai (2018): n δ²/(2σ²) is nearly constant + slope √(m - 1) for many topics and m systems."""
    for m in (10, 20, 50, 100):
        needed = topics_needed(0.01, 1.0, n_systems=m, alpha=alpha, power=1 - beta)
        assert needed * 0.01**2 / 2 == pytest.approx(constant + slope * np.sqrt(m - 1), rel=0.006)


@pytest.mark.parametrize("alpha", [0.01, 0.05])
@pytest.mark.parametrize("target", [0.5, 0.8, 0.95])
def test_the_approximation_of_topic_set_size_design(alpha, target):
    """Sakai's first guess for the paired t-test, from normal quantiles; he then looks for n near it."""
    for size in (0.1, 0.25, 0.5, 1.0):
        quantiles = stats.norm.ppf([1 - alpha / 2, target])
        guess = (quantiles.sum() / size) ** 2 + quantiles[0] ** 2 / 2
        assert topics_needed(size, 1.0, alpha=alpha, power=target) == pytest.approx(guess, abs=1.6)


@settings(deadline=None, max_examples=50)
@given(st.integers(3, 3000), st.floats(0.01, 5.0), st.sampled_from([0.001, 0.05, 0.2]))
def test_the_noncentral_t_distribution(n, shift, alpha):
    """Both tails of the noncentral t, an implementation of SciPy that shares nothing with the noncentral F.

    For some of many degrees of freedom, SciPy's tail is NaN.
    """
    critical = stats.t.isf(alpha / 2, n - 1)
    expected = stats.nct.sf(critical, n - 1, shift) + stats.nct.cdf(-critical, n - 1, shift)
    assume(np.isfinite(expected))
    assert power(n, shift / np.sqrt(n), 1.0, alpha=alpha) == pytest.approx(expected, abs=1e-8)


def test_recorded_powers_of_statsmodels():
    """By statsmodels 0.15.0: FTestAnovaPower().power(f, m n, alpha, m), with f = δ/(σ √(2 m))."""
    for (n, m, difference, alpha), expected in (
        ((20, 3, 0.1, 0.05), 0.26121902880473336),
        ((50, 10, 0.1, 0.05), 0.34705378932123643),
        ((50, 2, 0.1, 0.01), 0.4529915409825427),
        ((7, 40, 0.3, 0.2), 0.4717956538942486),
    ):
        assert power(n, difference, 0.04, n_systems=m, alpha=alpha) == pytest.approx(expected, rel=1e-9)


def test_the_hardest_case_by_simulation():
    """Simulate experiments of four systems, two of which are in the middle: the share of significant F tests."""
    rng, n, variance = np.random.default_rng(7), 12, 0.04
    means = np.array([-0.1, 0.0, 0.0, 0.1])
    samples = rng.normal(means[:, None, None], np.sqrt(variance), (4, n, 4000))
    share = (stats.f_oneway(*samples, axis=0).pvalue <= 0.05).mean()
    assert power(n, 0.2, variance, n_systems=4) == pytest.approx(share, abs=0.03)
    # Means that are further apart are easier to find.
    samples = rng.normal(np.array([-0.1, -0.1, 0.1, 0.1])[:, None, None], np.sqrt(variance), (4, n, 4000))
    assert (stats.f_oneway(*samples, axis=0).pvalue <= 0.05).mean() > share + 0.1


@settings(deadline=None, max_examples=40)
@given(st.floats(0.002, 3.0), st.sampled_from([None, 2, 7, 60]), st.sampled_from([1e-5, 0.05]), st.floats(0.3, 0.99))
def test_the_least_number_of_topics(size, n_systems, alpha, target):
    options = {"n_systems": n_systems, "alpha": alpha}
    needed = topics_needed(size, 1.0, power=target, **options)
    assert power(needed, size, 1.0, **options) >= target
    assert needed == 3 or power(needed - 1, size, 1.0, **options) < target
    least = detectable_difference(needed, 1.0, power=target, **options)
    assert least <= size * (1 + 1e-9)
    assert power(needed, least, 1.0, **options) == pytest.approx(target, abs=1e-6)


def test_powers_of_many_designs_at_once():
    found = power([[10], [20]], [0.1, -0.2, 0.3], 0.04)
    assert found.shape == (2, 3)
    assert found[1, 1] == power(20, 0.2, 0.04)
    assert (np.diff(found, axis=0) > 0).all()


@pytest.mark.parametrize("n_systems", [None, 2, 10**6])
@pytest.mark.parametrize("alpha", [1e-9, 0.05, 0.999])
def test_extreme_designs_have_powers_between_alpha_and_1(n_systems, alpha):
    topics = np.array([3, 4, 50, 10**9])
    for difference, variance in ((1e-150, 1e150), (1e-9, 1.0), (1.0, 1e-9), (1e150, 1e-300)):
        found = power(topics, difference, variance, n_systems=n_systems, alpha=alpha)
        assert ((found >= alpha) & (found <= 1.0)).all()
        assert (np.diff(found) >= -1e-9).all()


def test_the_variance_of_earlier_experiments():
    rng = np.random.default_rng(8)
    first, second = rng.random((4, 20)), rng.random((3, 9)) * 2
    found = topic_variance(first)
    pairs = [np.var(first[i] - first[j], ddof=1) for i in range(4) for j in range(i)]
    assert found.differences == pytest.approx(np.mean(pairs), rel=1e-12)
    assert found.differences == pytest.approx(2 * anova(first).residual_variance, rel=1e-12)
    assert found.systems == pytest.approx(np.var(first, axis=1, ddof=1).mean(), rel=1e-12)
    pooled, other = topic_variance(first, second), topic_variance(second)
    assert pooled.differences == pytest.approx((57 * found.differences + 16 * other.differences) / 73, rel=1e-12)
    assert pooled.systems == pytest.approx((76 * found.systems + 24 * other.systems) / 100, rel=1e-12)
