"""Groups of systems that no test separates, compared with all subsets; letters that say the same."""

from itertools import combinations

import numpy as np
import pytest

from tieaware import InputError
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


def test_too_many_groups_are_an_error():
    """Thirty pairs of systems, each separated, have 2^30 groups."""
    separated = np.zeros((60, 60), dtype=bool)
    separated[np.arange(30) * 2, np.arange(30) * 2 + 1] = True
    with pytest.raises(InputError, match=r"^groups: there are more than 10,000 sets; compare fewer systems"):
        groups(separated, np.zeros(60))


def test_bad_input():
    with pytest.raises(InputError, match=r"^separated: must be bool\[n, n\] for n means; found int64 of shape"):
        groups(np.zeros((1, 1), dtype=np.int64), [0.0])
    with pytest.raises(InputError, match=r"^means: expected finite numbers, found nan"):
        groups(np.zeros((1, 1), dtype=bool), [np.nan])
    assert groups(np.zeros((0, 0), dtype=bool), []) == []


@pytest.mark.parametrize(
    ("found", "n", "message"),
    [
        ([(0, 1)], 2**31, "n_systems: expected a whole number from 0 to 1,000,000, found 2147483648"),
        ([(0, 1)], 1.5, "n_systems: expected a whole number"),
        ([(0,), (0, 3)], 3, r"found\[1\]\[1\]: expected a whole number from 0 to 2, found 3"),
        ([(0,), 1], 3, r"found\[1\]: expected a sequence of whole numbers, found 1"),
    ],
)
def test_unusable_groups_are_refused(found, n, message):
    with pytest.raises(InputError, match=f"^{message}"):
        letters(found, n)
