"""Kappa against the textbook and scikit-learn."""

import math

import numpy as np
import pytest

from tieaware.statistics import kappa, kappa_of_table

FIRST = [1] * 320 + [0] * 80
SECOND = [1] * 300 + [0] * 20 + [1] * 10 + [0] * 70


@pytest.mark.parametrize(("marginals", "value"), [("pooled", 0.775910), ("separate", 0.776119), ("uniform", 0.85)])
def test_kappa_has_the_values_of_the_textbook(marginals, value):
    outcome = kappa(FIRST, SECOND, marginals=marginals)
    assert round(outcome.value, 6) == value
    assert outcome.meaning == ("good" if value > 0.8 else "fair")
    of_table = kappa_of_table([[300, 20], [10, 70]], marginals)
    assert (round(of_table.value, 6), of_table.meaning) == (value, outcome.meaning)


@pytest.mark.parametrize("marginals", ["pooled", "separate", "uniform"])
def test_kappa_of_labels_equals_kappa_of_their_table(marginals):
    rng = np.random.default_rng(11)
    first, second = rng.integers(0, 4, (2, 90))
    table = np.zeros((4, 4))
    np.add.at(table, (first, second), 1)
    outcome, of_table = kappa(first, second, marginals=marginals), kappa_of_table(table, marginals)
    assert outcome.value == pytest.approx(of_table.value, rel=1e-12)
    np.testing.assert_allclose(outcome.pairs, of_table.pairs, rtol=1e-12)


def test_kappa_with_separate_marginals_is_cohens_kappa():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(8)
    a, b = rng.integers(0, 3, 60), rng.integers(0, 3, 60)
    b[:30] = a[:30]
    assert kappa(a, b, marginals="separate").value == pytest.approx(metrics.cohen_kappa_score(a, b), rel=1e-12)


def test_kappa_of_several_assessors_is_the_mean_over_pairs():
    third = SECOND[::-1]
    outcome = kappa(FIRST, SECOND, third)
    pairs = [kappa(FIRST, SECOND).value, kappa(FIRST, third).value, kappa(SECOND, third).value]
    assert outcome.value == pytest.approx(math.fsum(pairs) / 3, rel=1e-14)
    np.testing.assert_array_equal(outcome.pairs, outcome.pairs.T)
    assert outcome.pairs[0, 2] == pairs[1]
    assert outcome.meaning == "dubious"


def test_the_meaning_does_not_depend_on_rounding():
    """Kappa is exactly 0.8 here, which is not above 0.8, but its double is."""
    outcome = kappa_of_table([[17, 6], [0, 57]])
    assert (outcome.value > 0.8, round(outcome.value, 12), outcome.meaning) == (True, 0.8, "fair")


def test_kappa_is_undefined_if_all_labels_are_equal():
    for outcome in (kappa(["a", "a"], ["a", "a"]), kappa_of_table([[2, 0], [0, 0]])):
        assert math.isnan(outcome.value)
        assert outcome.meaning == "undefined"
