"""Maxima of h/j over relevant documents, compared with exact fractions: interpolated precision and the greatest F."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tieaware import Evaluator

# A group is a pair: the numbers of its relevant and of its other documents.
Group = tuple[int, int]


def listed(groups: list[Group]) -> tuple[list[int], list[float]]:
    """Return labels and scores of a list with these tie groups."""
    labels = [label for r, others in groups for label in [1] * r + [0] * others]
    return labels, [-float(g) for g, group in enumerate(groups) for _ in range(sum(group))]


def share_within(groups: list[Group], value: Fraction, wanted: int, shift: Fraction, cutoff: int) -> Fraction:
    """Return the share of orders in which h/(j + shift) is at most `value` for all h from `wanted` on and j ≤ cut-off.

    All orders of a group are counted slot by slot, by the number of its relevant documents above the slot.
    """
    share, before, t = Fraction(1), 0, 0
    for r, others in groups:
        ways = [1] + [0] * r
        for x in range(1, r + others + 1):
            for a in range(min(r, x), -1, -1):
                found = ways[a - 1] if a > 0 else 0
                h = before + a
                if h >= wanted and t + x <= cutoff and h > value * (t + x + shift):
                    found = 0
                ways[a] = (ways[a] if x - a <= others and a < x else 0) + found
        share *= Fraction(ways[r], math.comb(r + others, r))
        before, t = before + r, t + r + others
    return share


def moments(groups: list[Group], wanted: int, shift: Fraction, cutoff: int) -> tuple[Fraction, Fraction]:
    """Return the mean and the variance of the greatest h/(j + shift)."""
    values = {Fraction(0)}
    before = t = 0
    for r, others in groups:
        ends = [(before + i, t + i + d) for i in range(1, r + 1) for d in range(others + 1)]
        values |= {h / (j + shift) for h, j in ends if h >= wanted and j <= cutoff}
        before, t = before + r, t + r + others
    ascending = sorted(values)
    shares = [share_within(groups, value, wanted, shift, cutoff) for value in ascending]
    chances = [b - a for a, b in zip([Fraction(0), *shares], shares, strict=False)]
    mean = sum(p * v for p, v in zip(chances, ascending, strict=True))
    return mean, sum(p * (v - mean) ** 2 for p, v in zip(chances, ascending, strict=True))


def assert_exact(groups: list[Group]) -> None:
    labels, scores = listed(groups)
    total = sum(labels)
    beta = 0.5
    cases = {f"IPrec@{recall}": (max(int(recall * total + 0.5), 1), Fraction(0), 10**9) for recall in (0.0, 0.4, 1.0)}
    shift = Fraction(1, 4) * total
    cases |= {f"MaxF(beta={beta})": (1, shift, 10**9), f"MaxF(beta={beta})@3": (1, shift, 3)}
    cases |= {f"MaxF(beta={beta})@{len(labels) // 2 + 1}": (1, shift, len(labels) // 2 + 1)}
    exact = [moments(groups, *case) for case in cases.values()]
    factors = [1 if name.startswith("IPrec") else Fraction(5, 4) for name in cases]
    spread = Evaluator(labels, list(cases)).spread(scores)
    means = [float(factor * mean) for factor, (mean, _) in zip(factors, exact, strict=True)]
    variances = [float(factor**2 * variance) for factor, (_, variance) in zip(factors, exact, strict=True)]
    np.testing.assert_allclose(spread.mean[0], means, rtol=1e-14)
    np.testing.assert_allclose(spread.std[0] ** 2, variances, rtol=1e-11, atol=1e-30)


@pytest.mark.parametrize(
    "groups",
    [
        [(1, 19)], [(3, 9)], [(9, 3)], [(6, 6)], [(12, 1)], [(1, 0), (0, 3), (2, 8)], [(2, 8), (3, 2), (1, 7)],
        [(4, 0), (5, 5)], [(0, 30), (5, 6)], [(1, 4)] * 5, [(7, 2), (1, 9), (4, 4)], [(2, 2), (0, 5), (8, 1), (1, 3)],
    ],
)  # fmt: skip
def test_means_and_variances_are_exact(groups):
    assert_exact(groups)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=4).filter(
        lambda groups: any(r for r, _ in groups)
    )
)
def test_random_groups_are_exact(groups):
    assert_exact(groups)


@pytest.mark.parametrize("groups", [[(2, 8), (3, 2), (1, 7)], [(5, 15), (20, 4)], [(1, 9)] * 6])
def test_the_mean_over_eleven_recalls_is_the_mean_of_the_means(groups):
    labels, scores = listed(groups)
    total = sum(labels)
    at_recalls = [moments(groups, max(int(i / 10 * total + 0.5), 1), Fraction(0), 10**9)[0] for i in range(11)]
    found = Evaluator(labels, ["IAP11"])(scores)[0, 0]
    assert found == pytest.approx(float(sum(at_recalls) / 11), rel=1e-14)


def test_a_group_whose_orders_are_more_than_a_double_can_count():
    """The precision at the last but one of 140 relevant documents of 9,000 is the larger of two quotients.

    If the last but one has place x, the last has each of the places after x equally often, and the larger of the
    quotients (r-1)/x and r/y is r/y for y < x r/(r-1).
    """
    n, r = 9_000, 140
    labels = np.zeros(n, dtype=int)
    labels[:r] = 1
    harmonic = np.append(0.0, np.cumsum(1.0 / np.arange(1, n + 1)))
    x = np.arange(r - 1, n)
    y = np.minimum(x * r // (r - 1), n)
    logarithm = [math.lgamma(a) - math.lgamma(r - 1) - math.lgamma(a - r + 2) for a in x.tolist()]
    total = math.lgamma(n + 1) - math.lgamma(r + 1) - math.lgamma(n - r + 1)
    chances = np.exp(np.array(logarithm) - total)
    exact = (chances * (r * (harmonic[y] - harmonic[x]) + (n - y) * (r - 1) / x)).sum()
    assert chances @ (n - x) == pytest.approx(1.0, rel=1e-9)
    assert Evaluator(labels, ["IPrec@0.993"])(np.ones(n))[0, 0] == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize(
    ("n", "r", "name"),
    [(316, 158, "IPrec@0.0"), (1_000, 60, "IAP11"), (700, 60, "MaxF"), (26_000, 150, "IPrec@1.0"),
     (5_000, 700, "IPrec@1.0"), (20_000, 1_000, "MaxF@20"), (2_000, 1_900, "MaxF@20"),
     (1_300, 1_250, "IPrec@0.99")],
)  # fmt: skip
def test_large_groups_agree_with_random_orders(n, r, name):
    """None of these is refused."""
    labels = np.zeros(n, dtype=int)
    labels[:r] = 1
    mean = Evaluator(labels, [name])(np.ones(n))[0, 0]
    rng = np.random.default_rng(11)
    one_order = Evaluator(labels, [name])
    values = np.array([one_order(rng.random(n))[0, 0] for _ in range(200)])
    assert mean == pytest.approx(values.mean(), abs=5 * values.std() / len(values) ** 0.5)


def test_one_relevant_document_of_a_million():
    """The mean of 1/x over uniform x is a harmonic number divided by n; the variance follows from the mean of 1/x²."""
    n = 1_000_000
    labels = np.zeros(n, dtype=int)
    labels[5] = 1
    spread = Evaluator(labels, ["IPrec@0.0"]).spread(np.ones(n))
    mean = math.fsum(1.0 / x for x in range(1, n + 1)) / n
    assert spread.mean[0, 0] == pytest.approx(mean, rel=1e-14)
    variance = math.fsum(1.0 / x**2 for x in range(1, n + 1)) / n - mean**2
    assert spread.std[0, 0] ** 2 == pytest.approx(variance, rel=1e-9)


def test_a_deep_group_keeps_its_digits():
    """In a group at deep ranks, precision hardly varies. Its small variance is compared with exact fractions."""
    t, n = 100_000, 6
    scores, labels = np.concatenate((np.arange(t + 1, 1, -1.0), np.ones(n))), np.zeros(t + n, dtype=int)
    labels[t:-3] = 1
    values = [
        max(Fraction(h, t + x) for h, x in enumerate(places, 1)) for places in combinations(range(1, n + 1), n - 3)
    ]
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / len(values)
    spread = Evaluator(labels, ["IPrec@0.0"]).spread(scores)
    assert spread.mean[0, 0] == pytest.approx(float(mean), rel=1e-14)
    assert spread.std[0, 0] ** 2 == pytest.approx(float(variance), rel=1e-8, abs=0)
