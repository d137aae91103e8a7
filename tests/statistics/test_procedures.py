"""Multiple comparison procedures: each test and correction by itself, in chunks, and the names of both."""

import numpy as np
import pytest

from tieaware.statistics import bonferroni, paired_test, procedures, randomised_tukey_hsd, tukey_hsd
from tieaware.statistics.procedures import CORRECTIONS, TESTS, Procedure, checked

pytest.importorskip("scipy.stats")


@pytest.fixture
def values():
    """Return the values of five runs on 12 queries."""
    rng = np.random.default_rng(8)
    return rng.integers(0, 9, (5, 12)) / 8 + np.arange(5)[:, None] / 4


@pytest.mark.parametrize("test", [test for test in TESTS if "tukey" not in test])
def test_chunks_of_pairs_do_not_matter(values, test, monkeypatch):
    first, second = np.triu_indices(5, 1)
    whole = Procedure(test, "bonferroni").verdicts(values, first, second, 0.05)
    expected = paired_test(values[first], values[second], test)
    np.testing.assert_array_equal(whole.test.p, expected.p)
    np.testing.assert_array_equal(whole.adjusted, bonferroni(expected.p))
    monkeypatch.setattr(procedures, "_CHUNK", 36)
    for found, other in zip(
        Procedure(test, "bonferroni").verdicts(values, first, second, 0.05).test, whole.test, strict=True
    ):
        np.testing.assert_array_equal(found, other)
    assert set(whole.signs) == {0.0, -1.0}


def test_tukey_tests_the_family_of_all_runs(values):
    """The p values of some pairs are those of the table of all pairs."""
    everything = tukey_hsd(values)
    first, second = np.array([0, 3]), np.array([4, 1])
    found = Procedure("tukey", "none").verdicts(values, first, second, 0.05)
    # On some processors, the last bit of SciPy's values depends on the number of pairs.
    np.testing.assert_allclose(found.adjusted, everything.p[first, second], rtol=1e-12)
    np.testing.assert_allclose(found.test.low, everything.low[first, second], rtol=1e-12)
    assert found.signs.tolist() == [-1.0, 1.0]


def test_the_randomised_tukey_tests_the_family_of_all_runs(values):
    everything = randomised_tukey_hsd(values)
    first, second = np.array([0, 3]), np.array([4, 1])
    found = Procedure("randomised-tukey", "none").verdicts(values, first, second, 0.05)
    np.testing.assert_array_equal(found.adjusted, everything.p[first, second])
    assert found.test.low is None
    assert found.signs.tolist() == [-1.0, 1.0]


def test_names_of_tests_and_corrections():
    assert checked("t", None) == ("t", "holm")
    assert checked("tukey", None) == checked("tukey", "none") == ("tukey", "none")
    assert checked("sign", "bh").described(0.05, "1 pair", 2) == (
        "sign test, two-sided, p ≤ 0.05, Benjamini–Hochberg-corrected for 1 pair"
    )
    phrase = checked("tukey", None).described(0.01, "3 pairs", 3)
    assert phrase == "Tukey's HSD, two-sided, p ≤ 0.01, corrected for 3 runs"
    randomised = checked("randomised-tukey", None)
    assert randomised == checked("randomised-tukey", "none") == ("randomised-tukey", "none")
    assert randomised.described(0.01, "3 pairs", 3) == (
        "randomised Tukey HSD, two-sided, p ≤ 0.01, corrected for 3 runs"
    )
    assert randomised.p_name == "randomised Tukey's p"
    assert [checked("t", name).p_name for name in CORRECTIONS] == [
        "Holm's p", "Benjamini–Hochberg's p", "Bonferroni's p", "uncorrected p",
    ]  # fmt: skip


def test_a_test_that_cannot_be_significant_says_so(values):
    """The least p value that a test can give is attained, and compared with the level after the correction."""
    few = np.arange(1.0, 6.0)
    for test in ("sign", "wilcoxon", "permutation"):
        assert paired_test(few, 0.0, test).p == 2.0**-4
        assert (
            Procedure(test, "none").limit(0.0624, 5, 3).startswith("With 5 queries for 3 pairs, p is at least 0.062: ")
        )
        assert Procedure(test, "none").limit(0.0625, 5, 3) == ""
        assert Procedure(test, "bh").limit(0.07, 5, 3) == ""
        assert "0.19" in Procedure(test, "holm").limit(0.07, 5, 3)
    assert Procedure("t").limit(0.05, 2, 1000) == Procedure("tukey", "none").limit(0.05, 2, 1000) == ""
    assert paired_test(np.arange(1.0, 41.0), 0.0, "permutation").p == 2 / 10_001
    found = Procedure("permutation", "bonferroni").limit(0.05, 40, 861)
    assert found.startswith(
        "With 40 queries and 10,000 permutations for 861 pairs, p is at least 0.17: choose another test"
    )
    assert Procedure("permutation", "bonferroni").limit(0.05, 40, 200) == ""
    assert Procedure("permutation", "none").limit(0.05, 2000, 1) == ""
    randomised = Procedure("randomised-tukey", "none")
    assert randomised.limit(0.05, 2, 2).startswith("With 2 queries for 2 pairs, p is at least 0.17: ")
    assert randomised.limit(1e-5, 50, 861).startswith("With 50 queries and 10,000 permutations for 861 pairs, p is at ")
    assert randomised.limit(0.05, 3, 2) == randomised.limit(0.05, 10_000, 16_110) == ""


@pytest.mark.parametrize("correction", ["none", "holm", "bh", "bonferroni"])
def test_a_p_value_equal_to_the_level_is_significant(correction):
    """The p value of a sign test of six equal signs is 2 / 64, which is also the level."""
    values = np.array([[0.5] * 6, [0.25] * 6])
    procedure = checked("sign", correction)
    verdicts = procedure.verdicts(values, np.array([0]), np.array([1]), 2 / 64)
    assert (verdicts.test.p.item(), verdicts.signs.item()) == (2 / 64, 1.0)
    assert procedure.verdicts(values, np.array([0]), np.array([1]), np.nextafter(2 / 64, 0)).signs.item() == 0.0
    assert procedure.limit(2 / 64, 6, 1) == ""
