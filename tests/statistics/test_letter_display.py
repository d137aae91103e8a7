"""Groups of systems that no test separates, compared with all subsets; letters that say the same."""

from itertools import combinations

import numpy as np
import pytest

from tieaware.statistics import groups, letters


@pytest.mark.parametrize("seed", range(40))
def test_groups_are_the_largest_sets_without_a_separated_pair(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    means, separated = rng.integers(0, 5, n) / 4.0, np.triu(rng.random((n, n)) < rng.random(), 1)
    if seed % 2:
        separated = separated.T

    def holds(members):
        return not any(separated[i, j] or separated[j, i] for i, j in combinations(members, 2))

    sets = [set(members) for size in range(1, n + 1) for members in combinations(range(n), size) if holds(members)]
    largest = [each for each in sets if not any(each < other for other in sets)]
    found = groups(separated, means)
    assert sorted(map(sorted, found)) == sorted(map(sorted, largest))
    assert [means[each[0]] for each in found] == sorted((means[each[0]] for each in found), reverse=True)
    for each in found:
        assert (np.diff(means[list(each)]) <= 0.0).all()
    shown = letters(found, n)
    for i, j in combinations(range(n), 2):
        assert bool(set(shown[i]) & set(shown[j])) == holds((i, j))


def test_many_groups_have_longer_letters():
    n = 30
    separated = np.triu(np.ones((n, n), dtype=bool), 1)
    shown = letters(groups(separated, np.arange(n, 0.0, -1.0)), n)
    assert (shown[0], shown[25], shown[26], shown[29]) == ("a", "z", "aa", "ad")
    assert letters([(0, 1)] * 27, 2)[0].endswith("z,aa")


def test_no_systems_have_no_groups():
    assert groups(np.zeros((0, 0), dtype=bool), []) == []
