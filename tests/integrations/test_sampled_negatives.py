"""Measures of one positive among sampled negatives, compared with enumeration and published formulas."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from support.errors import message_of

from tieaware.integrations.link_prediction import Counts, counts, evaluate, sampled

MEASURES = ("RR", "RR@2", "Hits@1", "Hits@3", "nDCG@3", "nDCG", "AP", "P@2", "AUC", "MeanRank")


def of_all_samples(above, tied, n, m, measures, replacement):
    """Return the mean and the std over all samples of the negatives, and over all orders of the tied ones.

    Each sample has m of the negatives 0 … n-1. If x negatives are above the positive, these are 0 … x-1.
    """
    samples = list(product(range(n), repeat=m) if replacement else combinations(range(n), m))
    values = [
        value_at(1 + sum(each < x for each in sample), m, measures)
        for x in range(above, above + tied + 1) for sample in samples
    ]  # fmt: skip
    means = [sum(column, Fraction(0)) / len(values) for column in zip(*values, strict=True)]
    squares = [sum((v - mean) ** 2 for v in column) / len(values)
               for column, mean in zip(zip(*values, strict=True), means, strict=True)]  # fmt: skip
    return np.array(means, dtype=float), np.sqrt(np.array(squares, dtype=float))


def value_at(rank, m, measures):
    """Return the values of a positive with this rank among m negatives, by the definitions."""
    discount = Fraction(1 / np.log2(1.0 + rank))
    of = {
        "RR": Fraction(1, rank), "RR@2": Fraction(rank <= 2, rank), "Hits@1": Fraction(rank <= 1),
        "Hits@3": Fraction(rank <= 3), "nDCG@3": discount * (rank <= 3), "nDCG": discount, "AP": Fraction(1, rank),
        "P@2": Fraction(rank <= 2, 2), "AUC": 1 - Fraction(rank - 1, m) if m else Fraction(1),
        "MeanRank": Fraction(rank),
    }  # fmt: skip
    return [of[measure] for measure in measures]


@pytest.mark.parametrize("replacement", [False, True])
def test_values_equal_those_over_all_samples(replacement):
    rng = np.random.default_rng(0)
    for _ in range(25):
        n = int(rng.integers(1, 7))
        m = int(rng.integers(0, min(n, 4) + 1))
        above = int(rng.integers(0, n + 1))
        tied = int(rng.integers(0, n - above + 1))
        mean, std = of_all_samples(above, tied, n, m, MEASURES, replacement)
        found = sampled(above, tied, n, m, MEASURES, replacement=replacement)
        np.testing.assert_allclose(found.mean[0], mean, rtol=1e-13)
        np.testing.assert_allclose(found.std[0], std, rtol=1e-12, atol=1e-14)


def test_sample_of_all_negatives_is_the_full_ranking():
    rng = np.random.default_rng(1)
    positive, negatives = rng.integers(0, 5, 30).astype(float), rng.integers(0, 5, (30, 40)).astype(float)
    known = counts(positive, negatives)
    np.testing.assert_allclose(sampled(*known, 40, MEASURES).mean, evaluate(positive, negatives, MEASURES), rtol=1e-13)


def test_many_ties_equal_the_mean_over_their_places():
    """Many ties take another way, in closed form, which the mean over single places confirms."""
    for n, m, above, tied in [(20_000, 100, 50, 15_000), (9_000, 3, 40, 8_000), (6_000, 6_000, 5, 5_000)]:
        single = sampled(np.arange(above, above + tied + 1), 0, n, m, MEASURES)
        found = sampled(above, tied, n, m, MEASURES)
        mean = single.mean.mean(axis=0)
        varied = (single.std**2 + (single.mean - mean) ** 2).mean(axis=0)
        np.testing.assert_allclose(found.mean[0], mean, rtol=1e-11)
        np.testing.assert_allclose(found.std[0], np.sqrt(varied), rtol=1e-9)


def test_formulas_of_krichene_and_rendle():
    """With replacement, the number of sampled negatives above is binomial with q = (rank - 1) / n, their model.

    AUC is unbiased; AP has the mean (1 - (1-q)^(m+1)) / ((m+1) q). Their example has five positives of three
    recommenders among 10,000 items, and 99 sampled negatives.
    """
    n, m = 9_999, 99
    ranks = np.array([100, 40, 8437, 9266, 4482, 212, 2, 743, 5342, 1548])
    mean = sampled(ranks - 1, 0, n, m, ["AUC", "AP", "Hits@1"], replacement=True).mean
    q = (ranks - 1) / n
    np.testing.assert_allclose(mean[:, 0], 1 - q, rtol=1e-12)
    np.testing.assert_allclose(mean[:, 1], (1 - (1 - q) ** (m + 1)) / ((m + 1) * q), rtol=1e-12)
    np.testing.assert_allclose(mean[:, 2], (1 - q) ** m, rtol=1e-10, atol=1e-30)
    # Without replacement, AUC is unbiased too.
    np.testing.assert_allclose(sampled(ranks - 1, 0, n, m, "AUC").mean[:, 0], 1 - q, rtol=1e-12)


def test_large_numbers_are_finite_and_ordered():
    """Neither a catalogue of a million items nor a sample of 10,000 overflows."""
    above = np.array([0, 1, 100, 10_000, 500_000, 999_999])
    found = sampled(above, 0, 10**6, 10**4, ["RR", "Hits@10", "AUC"])
    assert np.isfinite(found.mean).all()
    assert np.isfinite(found.std).all()
    assert (np.diff(found.mean, axis=0) <= 0).all()
    np.testing.assert_allclose(found.mean[:, 2], 1 - above / 10**6, rtol=1e-9)
    # The probability that the first negative is not drawn is 1 - m/n: then the rank stays 1.
    assert found.mean[1, 0] == pytest.approx(0.99 + 0.01 / 2, rel=1e-13)


def test_counts_of_all_forms():
    rng = np.random.default_rng(3)
    positive, row = rng.integers(0, 4, 20).astype(float), rng.integers(0, 4, 30).astype(float)
    matrix, mask = rng.integers(0, 4, (20, 30)).astype(float), rng.random((20, 30)) < 0.3
    for given, exclude in [(row, None), (matrix, None), (matrix, mask), (row, mask)]:
        full = np.broadcast_to(given, (20, 30))
        left = np.ones((20, 30), bool) if exclude is None else ~exclude
        expected = [(full > positive[:, None]) & left, (full == positive[:, None]) & left, left]
        found = counts(positive, given, exclude=exclude)
        assert isinstance(found, Counts)
        np.testing.assert_array_equal(np.array(found), [each.sum(axis=1) for each in expected])
    matrix[mask] = np.nan
    assert counts(positive, matrix, exclude=mask).negatives.tolist() == (~mask).sum(axis=1).tolist()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sampled([3], [0], [2], 1), "positive 0 has 3 negatives above it and 0 tied, but only 2 in all"),
        (lambda: sampled([0, 1], [0], [2, 3, 4], 1), "must have the same length"),
        (lambda: sampled(0, 0, 5, 6), "6 negatives cannot be drawn from the 5 of positive 0"),
        (lambda: sampled(0, 0, 5, 1.5), "sample"),
        (lambda: sampled(0.5, 0, 5, 1), "above: expected whole numbers"),
        (lambda: sampled(-1, 0, 5, 1), "above: expected numbers from 0"),
        (lambda: sampled(0, 0, 2**31, 1), "negatives: expected numbers from 0"),
        (lambda: sampled(0, 0, 5, 1, "Bpref"), "needs judged negatives"),
        (lambda: sampled(0, 0, 5, 1, "Judged"), "needs judged negatives"),
        (lambda: sampled(0, 2**30, 2**30, 10, replacement=True), "take too long with replacement"),
        (lambda: counts([np.nan], [[1.0]]), "NaN"),
        (lambda: counts([1.0, 2.0], [[1.0]]), "shape"),
    ],
)
def test_invalid_arguments(call, message):
    assert message in message_of(call)
