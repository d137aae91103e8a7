"""Closed forms of large tie groups against exact sums.

The groups have up to a million documents, and begin after up to ten million others.
"""

from __future__ import annotations

import math
from functools import cache

import mpmath
import numpy as np
import pytest

from tieaware.evaluator import Evaluator

RELATIVE = 1e-12
CASES = [(t, n) for t in (0, 1, 7, 1000, 123_456, 10**7) for n in (2, 3, 10, 1000)]
CASES += [(10**7, 1), (10**7, 10**4)]
CASES += [pytest.param(t, 10**6, marks=pytest.mark.slow) for t in (0, 1000, 10**7)]
PATIENCE = (0.5, 0.8, 0.999)
BITS = 256  # the number of bits after the point in the fixed-point numbers below


@cache
def slot_sums(t: int, m: int) -> tuple[float, float, float]:
    """Return Σ 1/j, Σ (j-t-1)/j and Σ 1/log2(1+j) over the ranks t+1 … t+m.

    Every term is positive and has a few rounding errors; fsum adds no further error.
    """
    x = np.arange(m, dtype=np.float64)
    j = x + (t + 1)
    return math.fsum(1 / j), math.fsum(x / j), math.fsum(1 / np.log2(1 + j))


@cache
def first_relevant(n: int, r: int) -> np.ndarray:
    """Return p_x, the probability that the first of r relevant documents in a group of n is at place x.

    p_1 = r/n and p_{x+1} = p_x (n-x-r+1)/(n-x), in integers scaled by 2^BITS. Negligible values are left out.
    """
    one = 1 << BITS
    p = r * one // n
    least = p >> 100
    chances = []
    for x in range(1, n - r + 2):
        chances.append(p / one)
        if p <= least or x == n:
            break
        p = p * (n - x - r + 1) // (n - x)
    return np.array(chances)


@cache
def success(n: int, r: int, m: int) -> float:
    """Return Σ p_x over the first m places x of the group."""
    return math.fsum(first_relevant(n, r)[:m])


def reciprocal_rank(t: int, n: int, r: int, m: int) -> float:
    """Return Σ p_x/(t+x) over the first m places x of a group that begins after t documents."""
    p = first_relevant(n, r)[:m]
    return math.fsum(p / np.arange(t + 1, t + 1 + len(p), dtype=np.float64))


def relevant_counts(n: int) -> list[int]:
    some = (1, 2, 100, n // 2, n) if n > 1000 else (1, 2, 3, 10, 100, n // 2, n - 1, n)
    return sorted({r for r in some if 1 <= r <= n})


def cutoffs(t: int, n: int) -> list[int]:
    """Choose depths inside a group: its first ranks, its middle, all but its last rank."""
    return sorted({m for m in (1, 2, min(1000, n // 2), n - 1) if 1 <= m < n})


class TiedGroup:
    """One list, long enough for every case, in which some adjacent documents tie.

    One Evaluator serves all cases, so that the lookup arrays of weights are computed once.
    """

    def __init__(self, length: int, notation: list[str]) -> None:
        self.labels = np.full(length, -1, dtype=np.int32)
        self.scores = np.empty(length, dtype=np.float32)
        self.holder = Evaluator(self.labels, notation)

    def values(self, t: int, n: int, r: int, R: int, judged: int, notation: list[str]) -> dict[str, float]:
        """Evaluate n tied documents, r of them relevant, after t documents, R of them relevant."""
        labels, scores = self.labels[: t + n + 5], self.scores[: t + n + 5]
        labels[t - R : t + r] = 1
        scores[: t - R] = 3.0
        scores[t - R : t] = 2.0
        scores[t : t + n] = 1.0
        scores[t + n :] = 0.0
        evaluate = Evaluator(labels, notation, judgments=(np.ones(judged, dtype=np.int32), np.array([0, judged])))
        values = evaluate(scores)[0]
        labels[t - R : t + r] = -1
        return dict(zip(notation, values.tolist(), strict=True))


@pytest.fixture(scope="module")
def long_list() -> TiedGroup:
    return TiedGroup(11_000_000, ["AP", "DCG"])


@pytest.fixture(scope="module")
def short_list() -> TiedGroup:
    return TiedGroup(1_600_005, [f"RBP(p={p})" for p in PATIENCE])


def expectations(t: int, n: int, r: int, R: int, judged: int) -> dict[str, float]:
    """Return the exact values of one case."""
    exact: dict[str, float] = {}
    depths = (*cutoffs(t, n), n)
    # The R relevant documents above the group are at ranks t-R+1 … t, and contribute Σ i/(t-R+i) to AP.
    earlier_precision = math.fsum(i / (t - R + i) for i in range(1, R + 1))
    earlier_gain = math.fsum(1 / math.log2(1 + t - R + i) for i in range(1, R + 1))
    for m in depths:
        at = "" if m == n else f"@{t + m}"
        harmonic, ascending, logarithmic = slot_sums(t, m)
        a = (r - 1) / (n - 1) if n > 1 else 0.0
        exact[f"AP{at}"] = (earlier_precision + r / n * ((R + 1) * harmonic + a * ascending)) / judged
        exact[f"DCG{at}"] = earlier_gain + r / n * logarithmic
        exact[f"R{at}"] = (R + r * m / n) / judged
        if at:
            exact[f"P{at}"] = (R + r * m / n) / (t + m)
        if R == 0:
            exact[f"RR{at}"] = reciprocal_rank(t, n, r, m)
            exact[f"Success{at}"] = success(n, r, m)
    return exact


@pytest.mark.parametrize(("t", "n"), CASES)
def test_large_groups(long_list, t, n):
    """AP, RR, DCG, Success, P and R have a relative error below 1e-12, with and without a cut-off inside the group."""
    for r in relevant_counts(n):
        for R in sorted({0, min(t, 50)} | ({min(t, 1)} if n <= 1000 else set())):
            judged = R + r + 1
            exact = expectations(t, n, r, R, judged)
            values = long_list.values(t, n, r, R, judged, list(exact))
            assert values == pytest.approx(exact, rel=RELATIVE, abs=0.0), (r, R)


@pytest.mark.parametrize("p", PATIENCE)
@pytest.mark.parametrize("n", [2, 3, 1000, pytest.param(10**6, marks=pytest.mark.slow)])
@pytest.mark.parametrize("t", [0, 1, 7, 1000, 100_000, 600_000])
def test_large_groups_of_rbp(short_list, t, n, p):
    """RBP has a relative error below 1e-12, even if the ranks of the group weigh only 1e-280 in total."""
    for r in {1, n // 2, n}:
        notation = [f"RBP(p={p})", *(f"RBP(p={p})@{t + m}" for m in cutoffs(t, n))]
        values = short_list.values(t, n, r, 0, r, notation)
        for name, m in zip(notation, (n, *cutoffs(t, n)), strict=True):
            with mpmath.workdps(50):
                patience = mpmath.mpf(p)
                exact = float(patience**t * (1 - patience**m) * r / n)
            assert values[name] == pytest.approx(exact, rel=RELATIVE, abs=1e-292), (name, r)
