"""Simultaneous intervals of ranks: their definition, their coverage, and what they say about clear cases."""

import numpy as np
import pytest

from tieaware.statistics import rank_intervals
from tieaware.statistics.intervals import draws


def test_clear_differences_give_single_ranks():
    rng = np.random.default_rng(0)
    values = rng.normal([[3.0], [1.0], [2.0]], 0.1, (3, 40))
    found = rank_intervals(values)
    assert (found.low.tolist(), found.high.tolist()) == ([1, 3, 2], [1, 3, 2])
    assert found.separated.tolist() == [[False, True, True], [False, False, False], [False, True, False]]


def test_constant_differences_are_certain_and_equal_systems_share_ranks():
    base = np.random.default_rng(1).random(10)
    found = rank_intervals([base, base + 0.5, base, base + 0.5])
    assert list(zip(found.low.tolist(), found.high.tolist(), strict=True)) == [(3, 4), (1, 2), (3, 4), (1, 2)]


def test_one_step_is_that_of_the_definition():
    """Pairs beyond the quantile of the largest t of resamples, computed one by one, are separated in the first step."""
    rng = np.random.default_rng(2)
    values = rng.random((4, 15)) + np.array([[0.0], [0.1], [0.3], [0.5]])
    counts = np.concatenate(list(draws(15, 400, 9))).astype(int)
    largest = []
    for row in counts:
        drawn = np.repeat(values, row, axis=1)
        t = []
        for i in range(4):
            for j in range(i):
                each, own = drawn[i] - drawn[j], values[i] - values[j]
                t.append(abs(each.mean() - own.mean()) / (each.std(ddof=1) / np.sqrt(15)))
        largest.append(max(t))
    critical = np.quantile(largest, 0.95, method="higher")
    expected = np.zeros((4, 4), dtype=bool)
    for i in range(4):
        for j in range(4):
            each = values[i] - values[j]
            expected[i, j] = i != j and each.mean() / (each.std(ddof=1) / np.sqrt(15)) > critical
    found = rank_intervals(values, resamples=400, seed=9)
    assert (found.separated >= expected).all()
    assert expected.any()
    assert not expected.all()


@pytest.mark.parametrize("kind", ["normal", "skewed", "binary"])
def test_coverage(kind):
    """Equal systems are all kept together with about the probability that the level says."""
    rng = np.random.default_rng(3)
    kept = 0
    for seed in range(200):
        shape = (6, 40)
        values = {
            "normal": rng.normal(0.0, 1.0, shape), "skewed": rng.beta(0.4, 1.2, shape),
            "binary": rng.integers(0, 2, shape),
        }[kind].astype(float)  # fmt: skip
        kept += not rank_intervals(values, resamples=400, seed=seed).separated.any()
    # The standard error of 0.95 is 0.015.
    assert kept / 200 >= 0.9


def test_topics_with_equal_differences_decide_nothing():
    """Two runs that differ on one topic of thirty are not separated, and do not hide other differences."""
    rng = np.random.default_rng(4)
    base = rng.random(30)
    other = base.copy()
    other[0] += 0.2
    found = rank_intervals([base, other, rng.random(30) + 1.0])
    assert list(zip(found.low.tolist(), found.high.tolist(), strict=True)) == [(2, 3), (2, 3), (1, 1)]
