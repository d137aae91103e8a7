"""Two-way analysis of variance: Sakai's published example, exact sums of squares, statsmodels' values, the t-test."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tieaware.statistics import anova, paired_test

stats = pytest.importorskip("scipy.stats")

# Table 5.1 of Sakai, T. (2015), a textbook on methods of evaluating information access: three systems, 20 topics.
SAKAI = np.array([
    [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1],
    [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2],
    [0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3],
]) / 10  # fmt: skip


def test_the_published_example():
    """The values that the textbook prints."""
    found = anova(SAKAI)
    assert (found.systems.degrees, found.topics.degrees, found.residual_degrees) == (2, 19, 38)
    assert [found.systems.squares, found.topics.squares, found.residual_squares] == pytest.approx(
        [0.1083, 1.0293, 0.8317], abs=5e-5
    )
    assert [found.systems.mean_square, found.topics.mean_square, found.residual_variance] == pytest.approx(
        [0.0542, 0.0542, 0.0219], abs=5e-5
    )
    assert [*found.systems[2:], *found.topics[2:]] == pytest.approx([2.475, 0.098, 2.475, 0.009], abs=5e-4)


def test_the_values_of_statsmodels():
    """By statsmodels 0.15.0: anova_lm(ols("value ~ C(system) + C(topic)", frame).fit())."""
    found = anova([[0.5, 0.75, 0.25, 1.0], [0.5, 0.5, 0.0, 0.5], [0.25, 0.75, 0.0, 0.75]])
    assert tuple(found.systems) == pytest.approx(
        (0.13541666666666685, 2, 3.5454545454545494, 0.09628182870370351), rel=1e-12
    )
    assert tuple(found.topics) == pytest.approx(
        (0.8072916666666666, 3, 14.090909090909086, 0.003999533615255635), rel=1e-12
    )
    assert (found.residual_squares, found.residual_degrees) == (pytest.approx(0.11458333333333336, rel=1e-12), 6)


@settings(deadline=None)
@given(st.integers(2, 5), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_sums_of_squares_follow_the_definition(m, n, seed):
    values = np.random.default_rng(seed).integers(0, 9, (m, n)) / 8
    found = anova(values)
    rows = [[Fraction(x) for x in row] for row in values]
    of_rows, of_columns = [sum(row) / n for row in rows], [sum(column) / m for column in zip(*rows, strict=True)]
    grand = sum(of_rows) / m
    systems = n * sum((mean - grand) ** 2 for mean in of_rows)
    topics = m * sum((mean - grand) ** 2 for mean in of_columns)
    total = sum((x - grand) ** 2 for row in rows for x in row)
    assert found.systems.squares == pytest.approx(float(systems), rel=1e-12, abs=1e-28)
    assert found.topics.squares == pytest.approx(float(topics), rel=1e-12, abs=1e-28)
    assert found.residual_squares == pytest.approx(float(total - systems - topics), rel=1e-9, abs=1e-14)
    if total > systems + topics:
        statistic = systems / (m - 1) / ((total - systems - topics) / ((m - 1) * (n - 1)))
        assert found.systems.statistic == pytest.approx(float(statistic), rel=1e-9, abs=1e-20)
        assert found.systems.p == pytest.approx(stats.f.sf(float(statistic), m - 1, (m - 1) * (n - 1)), rel=1e-9)


def test_two_systems_are_the_paired_t_test():
    found, test = anova(SAKAI[:2]), paired_test(SAKAI[0], SAKAI[1])
    assert found.systems.statistic == pytest.approx(float(test.statistic) ** 2, rel=1e-12)
    assert found.systems.p == pytest.approx(float(test.p), rel=1e-12)


def test_degenerate_values():
    """Equal systems have no effect, even where means are rounded; constant differences have an infinite F."""
    found = anova(np.full((3, 4), 0.1))
    assert found.systems == found.topics._replace(degrees=2) == (0.0, 2, 0.0, 1.0)
    assert found.residual_variance == 0.0
    shifted = anova(np.array([0.25, 0.5, 0.75]) + np.array([[0.0], [0.5]]))
    assert shifted.systems[2:] == shifted.topics[2:] == (np.inf, 0.0)
