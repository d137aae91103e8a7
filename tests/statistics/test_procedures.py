"""Multiple comparison procedures: each test and correction by itself, in chunks, and the names of both."""

import numpy as np
import pytest

from tieaware.statistics import bonferroni, paired_test, procedures, randomised_tukey_hsd, tukey_hsd
from tieaware.statistics.procedures import TESTS, Procedure, checked

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


@pytest.mark.parametrize(("test", "of_all"), [("tukey", tukey_hsd), ("randomised-tukey", randomised_tukey_hsd)])
def test_tukey_tests_the_family_of_all_runs(values, test, of_all):
    """The p values of some pairs are those of the table of all pairs."""
    everything, first, second = of_all(values), np.array([0, 3]), np.array([4, 1])
    found = Procedure(test, "none").verdicts(values, first, second, 0.05)
    # On some processors, the last bit of SciPy's values depends on the number of pairs.
    np.testing.assert_allclose(found.adjusted, everything.p[first, second], rtol=1e-12)
    assert found.signs.tolist() == [-1.0, 1.0]
    if test == "tukey":
        np.testing.assert_allclose(found.test.low, everything.low[first, second], rtol=1e-12)
    else:
        assert found.test.low is None


@pytest.mark.parametrize(
    ("test", "correction", "chosen", "described", "p_name"),
    [
        ("t", None, ("t", "holm"), "paired t-test, two-sided, p ≤ 0.01, Holm-corrected for 3 pairs", "Holm's p"),
        ("t", "none", ("t", "none"), "paired t-test, two-sided, p ≤ 0.01, not corrected", "uncorrected p"),
        ("t", "bonferroni", ("t", "bonferroni"),
         "paired t-test, two-sided, p ≤ 0.01, Bonferroni-corrected for 3 pairs", "Bonferroni's p"),
        ("sign", "bh", ("sign", "bh"), "sign test, two-sided, p ≤ 0.01, Benjamini–Hochberg-corrected for 3 pairs",
         "Benjamini–Hochberg's p"),
        *(("tukey", none, ("tukey", "none"), "Tukey's HSD, two-sided, p ≤ 0.01, corrected for 3 runs", "Tukey's p")
          for none in (None, "none")),
        *(("randomised-tukey", none, ("randomised-tukey", "none"),
           "randomised Tukey HSD, two-sided, p ≤ 0.01, corrected for 3 runs", "randomised Tukey's p")
          for none in (None, "none")),
    ],
)  # fmt: skip
def test_names_of_tests_and_corrections(test, correction, chosen, described, p_name):
    procedure = checked(test, correction)
    assert procedure == chosen
    assert procedure.described(0.01, "3 pairs", 3) == described
    assert procedure.p_name == p_name


@pytest.mark.parametrize("test", ["sign", "wilcoxon", "permutation"])
def test_the_least_p_value_that_a_test_can_give_is_attained(test):
    """Its limit is compared with the level after the correction."""
    assert paired_test(np.arange(1.0, 6.0), 0.0, test).p == 2.0**-4
    assert Procedure(test, "none").limit(0.0624, 5, 3).startswith("With 5 queries for 3 pairs, p is at least 0.062: ")
    assert "0.19" in Procedure(test, "holm").limit(0.07, 5, 3)
    assert [Procedure(test, name).limit(level, 5, 3) for name, level in (("none", 0.0625), ("bh", 0.07))] == ["", ""]


@pytest.mark.parametrize(
    ("test", "correction", "level", "queries", "pairs", "beginning"),
    [
        ("t", "holm", 0.05, 2, 1000, None),
        ("tukey", "none", 0.05, 2, 1000, None),
        ("permutation", "bonferroni", 0.05, 40, 861,
         "With 40 queries and 10,000 permutations for 861 pairs, p is at least 0.17: choose another test"),
        ("permutation", "bonferroni", 0.05, 40, 200, None),
        ("permutation", "none", 0.05, 2000, 1, None),
        ("randomised-tukey", "none", 0.05, 2, 2, "With 2 queries for 2 pairs, p is at least 0.17: "),
        ("randomised-tukey", "none", 1e-5, 50, 861,
         "With 50 queries and 10,000 permutations for 861 pairs, p is at "),
        ("randomised-tukey", "none", 0.05, 3, 2, None),
        ("randomised-tukey", "none", 0.05, 10_000, 16_110, None),
    ],
)  # fmt: skip
def test_a_test_that_cannot_be_significant_says_so(test, correction, level, queries, pairs, beginning):
    limit = Procedure(test, correction).limit(level, queries, pairs)
    assert limit.startswith(beginning or "")
    assert bool(limit) == (beginning is not None)


def test_the_least_p_value_of_many_permutations():
    assert paired_test(np.arange(1.0, 41.0), 0.0, "permutation").p == 2 / 10_001


@pytest.mark.parametrize("correction", ["none", "holm", "bh", "bonferroni"])
def test_a_p_value_equal_to_the_level_is_significant(correction):
    """The p value of a sign test of six equal signs is 2 / 64, which is also the level."""
    values = np.array([[0.5] * 6, [0.25] * 6])
    procedure = checked("sign", correction)
    verdicts = procedure.verdicts(values, np.array([0]), np.array([1]), 2 / 64)
    assert (verdicts.test.p.item(), verdicts.signs.item()) == (2 / 64, 1.0)
    assert procedure.verdicts(values, np.array([0]), np.array([1]), np.nextafter(2 / 64, 0)).signs.item() == 0.0
    assert procedure.limit(2 / 64, 6, 1) == ""
