"""Paired tests against SciPy and exact enumeration."""

import math
import operator
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tieaware.statistics import paired_test, paired_tests

stats = pytest.importorskip("scipy.stats")
ALTERNATIVES = ("two-sided", "greater", "less")


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_t_agrees_with_scipy_for_many_pairs_at_once(alternative):
    rng = np.random.default_rng(1)
    a, b = rng.random((4, 3, 20)), rng.random((3, 20))
    ours, theirs = (
        paired_test(a, b, alternative=alternative),
        stats.ttest_rel(a, b + 0 * a, axis=-1, alternative=alternative),
    )
    interval = theirs.confidence_interval(0.95)
    np.testing.assert_allclose(ours.difference, (a - b).mean(axis=-1), atol=1e-15)
    np.testing.assert_allclose(ours.statistic, theirs.statistic, rtol=1e-12)
    np.testing.assert_allclose(ours.p, theirs.pvalue, rtol=1e-10)
    np.testing.assert_allclose(ours.low, interval.low, rtol=1e-10)
    np.testing.assert_allclose(ours.high, interval.high, rtol=1e-10)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_wilcoxon_agrees_with_scipy(alternative):
    """With zeros or ties, SciPy tries all combinations of the signs of at most 13 differences."""
    rng = np.random.default_rng(2)
    for n, most, repeats in ((15, 9, 3), (14, 3, 3), (13, 9, 1), (9, 30, 3), (5, 9, 3), (4, 2, 3), (2, 3, 3)):
        a, b = (rng.integers(0, most, (repeats, n)) / 8 for _ in range(2))
        ours = paired_test(a, b, "wilcoxon", alternative)
        for i in range(repeats):
            theirs = stats.wilcoxon(a[i], b[i], alternative=alternative)
            assert (ours.statistic[i], ours.p[i]) == (theirs.statistic, theirs.pvalue)


def _exact_wilcoxon(differences, alternative):
    """Return the smaller sum of ranks, or that of the positive differences, and p over all combinations of signs."""
    some = [each for each in differences if each]
    # Twice the mean rank of equal sizes, so that all ranks are whole numbers.
    ranks = np.array([sum((abs(y) < abs(x)) + (abs(y) <= abs(x)) for y in some) + 1 for x in some], dtype=np.int64)
    positive = int(ranks[[each > 0 for each in some]].sum()) if some else 0
    sums = np.zeros(1, np.int64)
    for rank in ranks:
        sums = np.concatenate((sums, sums + rank))
    greater, less = (Fraction(int(n), len(sums)) for n in ((sums >= positive).sum(), (sums <= positive).sum()))
    p = {"two-sided": min(Fraction(1), 2 * min(greater, less)), "greater": greater, "less": less}[alternative]
    return Fraction(min(positive, int(ranks.sum()) - positive) if alternative == "two-sided" else positive, 2), p


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("denominator", [3, 5, 7, 10, 100])
def test_wilcoxon_is_exact_for_all_combinations_of_signs(denominator, alternative):
    """Differences of fifths, tenths or thirds tie although their doubles differ; and tie with 0."""
    rng = np.random.default_rng(11)
    for n in range(2, 13):
        numbers = rng.integers(0, denominator + 1, (2, 12, n))
        a, b = numbers / denominator
        test = paired_test(a, b, "wilcoxon", alternative)
        for i, (first, second) in enumerate(zip(*numbers.tolist(), strict=True)):
            exact = [Fraction(x - y, denominator) for x, y in zip(first, second, strict=True)]
            assert (test.statistic[i], test.p[i]) == _exact_wilcoxon(exact, alternative)


def test_wilcoxon_of_precision_over_25_topics_is_that_of_whole_numbers():
    """Hits are whole numbers, whose differences are exact; with more than 13 topics, SciPy approximates p."""
    hits = np.random.default_rng(12).integers(0, 6, (2, 400, 25))
    ours, exact = paired_test(*hits / 5, "wilcoxon"), paired_test(*hits, "wilcoxon")
    np.testing.assert_array_equal(ours.p, exact.p)
    np.testing.assert_array_equal(ours.statistic, exact.statistic)
    wrong = ~np.isclose(stats.wilcoxon(*hits / 5, axis=1).pvalue, exact.p)
    assert wrong.mean() > 0.9


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_sign_is_the_binomial_test_without_zeros(alternative):
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 3, (5, 12)), rng.integers(0, 3, (5, 12))
    ours = paired_test(a, b, "sign", alternative)
    for i in range(5):
        positive, n = int((a[i] > b[i]).sum()), int((a[i] != b[i]).sum())
        assert ours.statistic[i] == positive
        assert ours.p[i] == pytest.approx(stats.binomtest(positive, n, 0.5, alternative=alternative).pvalue, rel=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize(
    "decimals",
    [
        # SciPy's tolerance for tied means is relative to the observed mean. Here it is too small: the mean is 0 up to
        # rounding.
        "0.1 0.2 -0.3 0.7 -0.7 0.4 -0.4",
        "0.1 0.2 -0.3 0.6 -0.6 0.05 -0.0499",
        "0.3 0.3 -0.1 -0.1 -0.1 0.2 -0.2 0.7",
        "1e10 -1e10 0.1 0.2 -0.3",
    ],
)
def test_permutation_counts_tied_means(decimals, alternative):
    """The p value equals one computed with exact fractions."""
    exact = [Fraction(each) for each in decimals.split()]
    sums = [sum(map(operator.mul, exact, signs)) for signs in product((1, -1), repeat=len(exact))]
    more, less = (
        Fraction(sum(compare(each, sum(exact)) for each in sums), len(sums)) for compare in (operator.ge, operator.le)
    )
    expected = {"two-sided": min(1, 2 * min(more, less)), "greater": more, "less": less}[alternative]
    differences = [float(each) for each in exact]
    assert paired_test(differences, np.zeros(len(exact)), "permutation", alternative).p == float(expected)


@pytest.mark.parametrize("n", [6, 20])
@pytest.mark.parametrize("method", ["wilcoxon", "permutation"])
def test_a_batch_of_samples_gives_the_values_of_single_samples(method, n):
    """Each sample is tested by itself. SciPy chooses one distribution for all, by zeros and ties in any of them."""
    rng = np.random.default_rng(9)
    plain, tied = rng.standard_normal((16, n)), rng.integers(1, 9, (16, n)) * rng.choice([-1.0, 1.0], (16, n))
    with_zeros = np.concatenate((plain[:, :-1], np.zeros((16, 1))), axis=1)
    samples = rng.permutation(np.concatenate((plain, tied, with_zeros, tied * (tied > 1), np.zeros((5, n)))))
    together = paired_test(samples.reshape(3, 23, n), 0.0, method, repeats=99)
    for i, place in enumerate(np.ndindex(3, 23)):
        alone = paired_test(samples[i], 0.0, method, repeats=99)
        assert (together.statistic[place], together.p[place]) == (alone.statistic, alone.p)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("n", [9, 30, 31])
def test_permutation_agrees_with_scipy(alternative, n, monkeypatch):
    """The signs are those that SciPy draws, also if they are drawn in chunks of odd sizes."""
    differences = np.random.default_rng(10).random(n) - 0.4
    theirs = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=199, alternative=alternative,
        rng=np.random.default_rng(5),
    )  # fmt: skip
    for size in (2**20, 7 * n, 1):
        monkeypatch.setattr(paired_tests, "_CHUNK", size)
        assert paired_test(differences, 0.0, "permutation", alternative, repeats=199, seed=5).p == theirs.pvalue


@pytest.mark.parametrize("method", ["t", "wilcoxon", "sign", "permutation"])
def test_thousands_of_pairs_can_be_tested(method):
    """There are more combinations of signs than float64 can represent."""
    differences = np.random.default_rng(6).standard_normal((2, 2000)) + np.array([[0.0], [0.2]])
    low, high = paired_test(differences, 0.0, method, repeats=999).p[::-1]
    assert 0.0 < low < 0.01 < high < 1.0


@pytest.mark.parametrize("method", ["t", "wilcoxon", "sign", "permutation"])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_equal_samples_show_no_difference(method, alternative):
    test = paired_test([[0.1, 0.2, 0.3], [1, 2, 3]], [[0.1, 0.2, 0.3], [0.5, 2, 3.5]], method, alternative)
    assert (test.difference[0], test.statistic[0], test.p[0]) == (0.0, 0.0, 1.0)
    assert np.isfinite(test.p).all()


def test_a_constant_difference_has_p_0():
    test = paired_test([1.1, 1.2, 1.3], [0.1, 0.2, 0.3], axis=0)
    assert (paired_test([1.5, 2.5], [1.0, 2.0]).statistic, paired_test([1.5, 2.5], [1.0, 2.0]).p) == (math.inf, 0.0)
    assert (test.statistic, test.p) == (math.inf, 0.0)
    assert paired_test([1.0, 2.0], [1.5, 2.5], alternative="greater").p == 1.0
