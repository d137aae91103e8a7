"""Tukey's HSD for paired samples: exact variances, published distributions, the paired t-test, degenerate input."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tieaware.statistics import paired_test, tukey_hsd

stats = pytest.importorskip("scipy.stats")

VALUES = [[0.5, 0.75, 0.25, 1.0], [0.5, 0.5, 0.0, 0.5], [0.25, 0.75, 0.0, 0.75]]
# The residual variance of VALUES and its degrees of freedom by statsmodels 0.15.0, which are those of the model
# ols("value ~ C(system) + C(topic)"): fit.mse_resid, fit.df_resid.
MSE, DEGREES = 0.019097222222222227, 6
MATRICES = st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed).integers(0, 9, (2, 6)) / 8)


def _exact_mse(values):
    """Return the residual variance of a two-way analysis of variance from its definition, as a fraction."""
    rows = [[Fraction(x) for x in row] for row in values]
    m, n = len(rows), len(rows[0])
    of_rows, of_columns = [sum(row) / n for row in rows], [sum(column) / m for column in zip(*rows, strict=True)]
    grand = sum(of_rows) / m
    squares = sum((rows[i][j] - of_rows[i] - of_columns[j] + grand) ** 2 for i in range(m) for j in range(n))
    return squares / ((m - 1) * (n - 1))


def test_an_example_by_hand_and_by_other_programs():
    """The residual variance is 11/576; p values by SciPy's distribution, with statsmodels' variance."""
    assert _exact_mse(VALUES) == Fraction(11, 576)
    assert float(Fraction(11, 576)) == pytest.approx(MSE, rel=1e-14)
    test = tukey_hsd(VALUES)
    q = abs(test.difference) / np.sqrt(MSE / 4)
    np.testing.assert_allclose(test.statistic, q, rtol=1e-12)
    np.testing.assert_allclose(test.p, stats.studentized_range.sf(q, 3, DEGREES), rtol=1e-9)
    # psturng of statsmodels interpolates a table: 0.0944, 0.2133, 0.7913.
    np.testing.assert_allclose(test.p[[0, 0, 1], [1, 2, 2]], [0.0944, 0.2133, 0.7913], atol=0.02)
    # A table of the studentized range has 4.34 for three means and six degrees of freedom (Harter, 1960).
    reach = 4.34 * np.sqrt(MSE / 4)
    assert test.high[0, 1] == pytest.approx(0.25 + reach, abs=5e-4)
    assert (test.low[1, 0], test.high[1, 0]) == (-test.high[0, 1], -test.low[0, 1])


# The first call loads SciPy, which takes longer than the deadline of an example.
@settings(deadline=None)
@given(st.integers(3, 6), st.integers(2, 7), st.integers(0, 2**32 - 1))
def test_statistics_follow_the_definition(m, n, seed):
    values = np.random.default_rng(seed).integers(0, 9, (m, n)) / 8
    test, mse = tukey_hsd(values), _exact_mse(values)
    assert (np.diagonal(test.p) == 1.0).all()
    assert np.array_equal(test.p, test.p.T)
    assert np.array_equal(test.difference, -test.difference.T)
    means = [sum(map(Fraction, row)) / n for row in values]
    for i in range(m):
        for j in range(m):
            squared = (means[i] - means[j]) ** 2
            if mse:
                assert test.statistic[i, j] ** 2 == pytest.approx(float(squared / (mse / n)), rel=1e-9, abs=1e-18)
                # The interval of a difference excludes 0 if and only if the difference is significant.
                excludes = test.low[i, j] > 0.0 or test.high[i, j] < 0.0
                assert excludes == (test.p[i, j] < 0.05) or test.p[i, j] == pytest.approx(0.05, abs=1e-9)
            else:
                assert test.p[i, j] == (0.0 if squared else 1.0)


@given(MATRICES)
def test_for_two_systems_it_is_the_paired_t_test(values):
    test, theirs = tukey_hsd(values), paired_test(values[0], values[1])
    assert (test.p[0, 1], test.low[0, 1], test.high[0, 1]) == (theirs.p, theirs.low, theirs.high)
    assert test.statistic[0, 1] == abs(theirs.statistic) * np.sqrt(2.0)


def test_more_systems_need_larger_differences():
    """The same two systems have a larger p value in a larger family of systems of the same variance."""
    rng = np.random.default_rng(2)
    values = rng.standard_normal((40, 30))
    values -= values.mean(axis=1, keepdims=True)
    values[0] += 0.5
    p = [tukey_hsd(values[:m]).p[0, 1] for m in (3, 10, 40)]
    assert p == sorted(p)
    assert paired_test(values[0], values[1]).p < p[-1]


def test_degenerate_values():
    """Equal systems do not differ. Constant differences have p = 0, even where the means are rounded."""
    assert (tukey_hsd(np.full((3, 4), 0.1)).p == 1.0).all()
    shifted = np.array([0.25, 0.5, 0.75]) + np.array([[0.0], [0.5], [0.5]])
    test = tukey_hsd(shifted)
    assert test.p.tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]
    assert (test.low[1, 0], test.high[1, 0], test.statistic[0, 1]) == (0.5, 0.5, np.inf)
