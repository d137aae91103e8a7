"""Verdicts on pairs of systems."""

from itertools import combinations

import numpy as np
import pytest

from tieaware import InputError
from tieaware.statistics import all_pairs, paired_test, resolve_ties, shares_of_changes

pytest.importorskip("scipy.stats")


def test_all_pairs_gives_the_values_of_single_tests():
    values = np.random.default_rng(3).random((4, 7, 2))
    pairs = all_pairs(values)
    for i, (a, b) in enumerate(combinations(range(4), 2)):
        for m in range(2):
            alone = paired_test(values[a, :, m], values[b, :, m])
            assert pairs.p[m, i] == pytest.approx(float(alone.p), rel=1e-12)
            assert pairs.difference[m, i] == pytest.approx(float(alone.difference), rel=1e-12)
    with pytest.raises(InputError, match=r"values: must have the axes .* the shape is \(4, 7\)"):
        all_pairs(values[..., 0])
    with pytest.raises(InputError, match=r"after: must test the same pairs as before, \(2, 6\); the shape is \(2, 3\)"):
        shares_of_changes(pairs, all_pairs(values[:3]), 0.05)


def test_resolve_ties_refuses_shapes_that_do_not_match():
    least, greatest = np.zeros((3, 4)), np.ones((3, 4))
    test = paired_test(least[:2], greatest[1:])
    for arguments, message in (
        ((least, greatest[:2], [0, 1], [1, 2]), r"least, greatest: .* the shapes are \(3, 4\) and \(2, 4\)"),
        ((least, greatest, [0], [1]), r"test, first, second: .* the shapes are \(2,\), \(1,\) and \(1,\)"),
        ((least, greatest, [0, 1], [1, 2], 2.0), r"alpha: expected a number between 0 and 1, found 2\.0"),
    ):
        with pytest.raises(InputError, match=message):
            resolve_ties(test, *arguments)
