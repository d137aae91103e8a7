"""Precision at the i-th relevant document (PAtRel) and PRR: large tie groups, cut-offs, enumeration of orders."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from support import oracle
from support.queries import evaluator, random_query, scores_of

from tieaware import Evaluator, reference


@pytest.fixture(scope="module")
def some():
    rng = random.Random(43)
    return [random_query(rng, 7) for _ in range(200)]


def moments(t, n, r, s, i, m):
    """Return mean and variance of i/(t+X) in fractions; X is the place of the s-th of r documents among n."""
    mean = square = Fraction(0)
    for x in range(1, m + 1):
        chance = Fraction(math.comb(x - 1, s - 1) * math.comb(n - x, r - s), math.comb(n, r))
        mean += chance * Fraction(i, t + x)
        square += chance * Fraction(i, t + x) ** 2
    return mean, square - mean * mean


@pytest.mark.parametrize(
    ("t", "n", "r"),
    [(0, 2, 1), (3, 60, 1), (5, 60, 59), (40, 300, 7), (0, 300, 150), (900, 90, 3), (10**6, 40, 20), (10**6, 300, 297)],
)
def test_large_groups(t, n, r):
    """Mean and standard deviation have their digits, deep in the list too, and with a cut-off within the group."""
    labels = np.zeros(t + n, dtype=int)
    labels[t : t + r] = 1
    scores = np.concatenate((np.arange(t + 1, 1, -1.0), np.ones(n)))
    for s in sorted({1, 2, (r + 1) // 2, r - 1, r} & set(range(1, r + 1))):
        for m in sorted({s - 1, s, n // 3, n - 1, n} & set(range(1, n + 1))):
            spread = Evaluator(labels, f"PAtRel(i={s})@{t + m}", offsets=[0, t + n]).spread(scores)
            mean, variance = moments(t, n, r, s, s, m)
            assert spread.mean[0, 0] == pytest.approx(float(mean), rel=1e-12, abs=1e-200), (s, m)
            if variance > mean * mean / 10**24:
                assert spread.std[0, 0] == pytest.approx(math.sqrt(variance), rel=1e-9, abs=1e-150), (s, m)
            else:
                assert spread.std[0, 0] <= 2e-12 * mean


def test_the_first_relevant_document_gives_the_reciprocal_rank():
    """PAtRel(i=1) equals RR in groups of up to a million documents."""
    for n, r in ((1000, 3), (10**6, 2), (10**6, 5000)):
        labels = np.zeros(n, dtype=int)
        labels[:r] = 1
        spread = Evaluator(labels, ["PAtRel", "RR", f"PAtRel@{n // 7}", f"RR@{n // 7}"]).spread(np.zeros(n))
        for each in spread:
            np.testing.assert_allclose(each[0, [0, 2]], each[0, [1, 3]], rtol=1e-11)


def test_prr_is_the_quotient_of_means(some):
    """PRR is i / (i + mean search length); its spread is that of the quotient over the orders."""
    names = ["PRR", "PRR(i=2)", "PRR(i=2,rel=2)", "PRR(i=2,judged_only=True)"]
    lengths = ["ESL", *(name.replace("PRR", "ESL") for name in names[1:])]
    i = np.array([1, 2, 2, 2])
    mean, variance, minimum, maximum = oracle.over_queries(names, some)
    quotient = np.where(maximum > 0.0, i / (i + oracle.over_queries(lengths, some)[0]), 0.0)
    spread = evaluator(some, names).spread(scores_of(some))
    by_reference = [[reference.evaluate(name, *query) for name in names] for query in some]
    variance_by_reference = [[reference.variance(name, *query) for name in names] for query in some]
    for found, expected in (
        (spread.mean, quotient), (by_reference, quotient), (spread.min, minimum), (spread.max, maximum),
    ):  # fmt: skip
        np.testing.assert_allclose(found, expected, rtol=1e-13)
    for found in (spread.std**2, variance_by_reference):
        np.testing.assert_allclose(found, variance, rtol=1e-9, atol=1e-15)
    # By Jensen's inequality, the quotient of means is at most the mean of the quotients.
    assert (quotient <= mean + 1e-15).all()
    assert np.count_nonzero(quotient < mean - 1e-9) > 20


def test_orders_have_the_precision_at_the_document(some):
    for ties in ("run_order", "optimistic", "pessimistic"):
        values = evaluator(some, ["PRR(i=2)", "PAtRel(i=2)"], ties=ties)(scores_of(some))
        np.testing.assert_allclose(values[:, 0], values[:, 1], rtol=1e-15)
