"""The distribution of the studentized range, against published tables and SciPy."""

import numpy as np
import pytest

from tieaware.statistics.tukey import critical_value, survival

stats = pytest.importorskip("scipy.stats")

# Upper 5 % points by numbers of variables and degrees of freedom, from the table of Harter, H. L. (1960). Tables of
# range and studentized range. Annals of Mathematical Statistics 31; textbooks reprint them.
UPPER_5_PERCENT = {
    (3, 2): 8.33, (4, 2): 9.80, (2, 10): 3.15, (3, 10): 3.88, (4, 10): 4.33, (5, 10): 4.65, (10, 10): 5.60,
    (3, 20): 3.58, (5, 20): 4.23, (10, 20): 5.01, (3, 60): 3.40, (5, 60): 3.98, (10, 60): 4.65, (3, 120): 3.36,
    (10, 120): 4.56,
}  # fmt: skip


def test_the_published_table():
    for (k, degrees), expected in UPPER_5_PERCENT.items():
        assert round(critical_value(0.05, k, degrees), 2) == expected


@pytest.mark.parametrize(("k", "degrees"), [(2, 2), (3, 2), (3, 10), (10, 20), (42, 2009), (103, 4998)])
@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")
def test_probabilities_agree_with_scipy(k, degrees):
    q = np.array([0.0, 0.25, 1.0, 3.0, 5.0, 8.0, 20.0])
    np.testing.assert_allclose(survival(q, k, degrees), stats.studentized_range.sf(q, k, degrees), atol=1e-11)
    assert survival(np.array([np.inf]), k, degrees) == [0.0]


def test_small_probabilities_keep_their_digits():
    """For two variables, the studentized range is √2 times the absolute value of Student's t."""
    for t, tolerance in ((0.5, 1e-12), (5.0, 1e-11), (10.0, 1e-8), (20.0, 1e-4)):
        ours = survival(np.array([np.sqrt(2.0) * t]), 2, 30)[0]
        assert ours == pytest.approx(2.0 * stats.t.sf(t, 30), rel=tolerance)


@pytest.mark.parametrize("alpha", [0.5, 0.05, 1e-6])
def test_the_critical_value_is_the_inverse(alpha):
    for k, degrees in ((3, 2), (5, 40), (60, 100_000)):
        assert survival(np.array([critical_value(alpha, k, degrees)]), k, degrees)[0] == pytest.approx(alpha, rel=1e-9)
