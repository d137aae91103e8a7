"""The randomised Tukey HSD: exact enumeration, an independent implementation, Sakai's example, reproducibility."""

import itertools

import numpy as np
import pytest
from test_variance_analysis import SAKAI

from tieaware.statistics import paired_test, randomised_tukey_hsd, tukey

stats = pytest.importorskip("scipy.stats")

PAIRS = np.triu_indices(3, 1)


def _share_of_all_assignments(values):
    """Return for each pair of three systems the share of all assignments whose range is at least the difference."""
    sums = np.zeros((1, 3))
    for column in values.T:
        sums = (sums[:, None] + np.array(list(itertools.permutations(column)))).reshape(-1, 3)
    ranges, observed = np.ptp(sums, axis=1), values.sum(axis=1)
    return [(ranges >= abs(observed[a] - observed[b]) - 1e-9).mean() for a, b in zip(*PAIRS, strict=True)]


@pytest.mark.parametrize("seed", range(3))
def test_p_values_approach_those_of_all_assignments(seed):
    """The standard error of a share of 50,000 permutations is at most 0.0023."""
    values = np.random.default_rng(seed).integers(0, 9, (3, 5)) / 8
    test = randomised_tukey_hsd(values, repeats=50_000, seed=seed)
    np.testing.assert_allclose(test.p[PAIRS], _share_of_all_assignments(values), atol=0.009)


def test_the_largest_difference_has_the_p_value_of_scipy():
    """SciPy's permutation test of paired samples, with the range of the means as its statistic."""
    theirs = stats.permutation_test(
        SAKAI, lambda a, b, c, axis: np.ptp(np.stack([each.mean(axis=axis) for each in (a, b, c)]), axis=0),
        permutation_type="samples", vectorized=True, alternative="greater", n_resamples=20_000,
        rng=np.random.default_rng(1),
    )  # fmt: skip
    test = randomised_tukey_hsd(SAKAI, repeats=20_000)
    assert theirs.statistic == pytest.approx(test.statistic.max(), abs=1e-12) == pytest.approx(0.1, abs=1e-12)
    assert test.p[0, 2] == pytest.approx(theirs.pvalue, abs=0.013)


@pytest.mark.parametrize(("a", "b", "theirs"), [(0, 1, 0.2608), (0, 2, 0.1006), (1, 2, 0.8915)])
def test_the_published_figures_of_elinor(a, b, theirs):
    """The README of elinor's command line (Rust): 10,000 permutations of the same table.

    Elinor compares rounded sums without a tolerance, so it misses some ranges that equal the difference: 5% of those of
    the first pair. Four standard errors of two samples of 10,000 lie between 0.012 and 0.025.
    """
    p = randomised_tukey_hsd(SAKAI, repeats=50_000).p[a, b]
    tolerance = 4.0 * np.sqrt(theirs * (1.0 - theirs) * (1 / 10_000 + 1 / 50_000))
    difference = abs(SAKAI[a].mean() - SAKAI[b].mean())
    ranges = tukey.permuted_ranges(SAKAI, 50_000, 0)
    equal = (np.abs(ranges - difference) < 1e-9).mean()
    assert p - equal - tolerance <= theirs <= p + tolerance
    generator, columns = np.random.default_rng(1), np.zeros((50_000, 3))
    for topic in SAKAI.T:
        columns += generator.permuted(np.broadcast_to(topic, columns.shape), axis=1)
    # Elinor adds from left to right.
    means, rounded = columns / 20, SAKAI.cumsum(axis=1)[:, -1] / 20
    without_tolerance = (np.ptp(means, axis=1) >= abs(rounded[a] - rounded[b])).mean()
    assert without_tolerance == pytest.approx(theirs, abs=tolerance)


def test_the_definition_with_the_same_permutations():
    """A plain loop over permutations and topics, with a generator for each topic."""
    generators = [np.random.default_rng([3, topic]) for topic in range(20)]
    ranges = []
    for _ in range(200):
        columns = [each.permuted(column) for each, column in zip(generators, SAKAI.T, strict=True)]
        ranges.append(np.ptp(np.mean(columns, axis=0)))
    test = randomised_tukey_hsd(SAKAI, repeats=200, seed=3)
    means = SAKAI.mean(axis=1)
    for a, b in zip(*PAIRS, strict=True):
        count = sum(each >= abs(means[a] - means[b]) - 1e-9 for each in ranges)
        assert test.p[a, b] == test.p[b, a] == (count + 1) / 201


def test_false_positives_are_limited_for_all_pairs_together():
    """Equal systems with skewed values: some difference is significant in 5% of the cases, up to sampling error."""
    rng = np.random.default_rng(10)
    found = [randomised_tukey_hsd(rng.exponential(size=(5, 12)) ** 2, repeats=199).p.min() <= 0.05 for _ in range(400)]
    assert np.mean(found) == pytest.approx(0.05, abs=0.033)


def test_matrices_are_symmetric_and_signed():
    test = randomised_tukey_hsd(SAKAI, repeats=99)
    assert (np.diagonal(test.p) == 1.0).all()
    np.testing.assert_array_equal(test.p, test.p.T)
    np.testing.assert_array_equal(test.difference, -test.difference.T)
    np.testing.assert_array_equal(test.statistic, np.abs(test.difference))
    assert test.low is test.high is None


def test_chunks_and_constant_topics_do_not_matter(monkeypatch):
    expected = randomised_tukey_hsd(SAKAI, repeats=500, seed=4)
    with_constant = np.column_stack([SAKAI, np.full((3, 5), 0.7)])
    monkeypatch.setattr(tukey, "_CHUNK", 21)
    np.testing.assert_array_equal(randomised_tukey_hsd(SAKAI, repeats=500, seed=4).p, expected.p)
    np.testing.assert_array_equal(randomised_tukey_hsd(with_constant, repeats=500, seed=4).p, expected.p)
    assert (randomised_tukey_hsd(SAKAI, repeats=500, seed=5).p != expected.p).any()


@pytest.mark.parametrize("chunk", [2**22, 200])
def test_changed_values_are_tested_with_the_same_permutations(chunk, monkeypatch):
    """Many changed copies at once have the p values of each copy alone; one topic is constant but for the changes."""
    monkeypatch.setattr(tukey, "_CHANGES", chunk)
    rng = np.random.default_rng(11)
    values = rng.integers(0, 9, (5, 7)) / 8 + np.arange(5)[:, None] / 8
    values[:, 3] = 0.5
    ends = np.stack([values - rng.integers(0, 3, (5, 7)) / 16, values + rng.integers(0, 3, (5, 7)) / 16])
    pairs, kinds = np.array([[0, 1, 2, 2], [3, 4, 4, 0]]), np.array([[0, 1, 1, 0], [1, 0, 1, 1]])
    found = tukey.p_of_changes(values, ends, pairs, kinds, repeats=300, seed=2)
    for p, (a, b), (x, y) in zip(found, pairs.T, kinds.T, strict=True):
        changed = values.copy()
        changed[a], changed[b] = ends[x, a], ends[y, b]
        assert p == randomised_tukey_hsd(changed, repeats=300, seed=2).p[a, b]
    assert len(set(found.tolist())) > 2


def test_the_bits_are_fixed():
    """These ranges are those of the first machine that computed them."""
    ranges = tukey.permuted_ranges(SAKAI, 3, 0)
    assert [each.hex() for each in ranges] == ["0x1.47ae147ae1477p-5", "0x1.0a3d70a3d70a3p-4", "0x1.851eb851eb850p-4"]


def test_two_systems_are_the_paired_permutation_test():
    test, theirs = randomised_tukey_hsd(SAKAI[:2], seed=7), paired_test(SAKAI[0], SAKAI[1], "permutation", seed=7)
    assert (test.p[0, 1], test.difference[0, 1]) == (theirs.p, theirs.difference)


def test_equal_systems_do_not_differ():
    test = randomised_tukey_hsd(np.full((3, 4), 0.1), repeats=9)
    assert (test.p == 1.0).all()
    # Sums in another order differ by rounding, but count as equal.
    values = np.array([[0.1, 0.2, 0.3], [0.3, 0.1, 0.2], [0.2, 0.3, 0.1]])
    assert (randomised_tukey_hsd(values, repeats=99).p == 1.0).all()
