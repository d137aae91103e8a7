"""Verdicts on pairs of systems."""

from itertools import combinations

import numpy as np
import pytest

from tieaware.statistics import all_pairs, paired_test

pytest.importorskip("scipy.stats")


def test_all_pairs_gives_the_values_of_single_tests():
    values = np.random.default_rng(3).random((4, 7, 2))
    pairs = all_pairs(values)
    for i, (a, b) in enumerate(combinations(range(4), 2)):
        for m in range(2):
            alone = paired_test(values[a, :, m], values[b, :, m])
            assert pairs.p[m, i] == pytest.approx(float(alone.p), rel=1e-12)
            assert pairs.difference[m, i] == pytest.approx(float(alone.difference), rel=1e-12)
