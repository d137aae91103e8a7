"""Standard deviations that are small differences of large numbers, compared with arithmetic of 60 digits."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from support import oracle
from support.queries import MEASURES

from tieaware import Evaluator
from tieaware.measures import parse_measure

RELATIVE = 1e-9
# Standard deviations below this fraction of the mean are not compared.
LEAST = 1e-12


@pytest.fixture(autouse=True)
def _sixty_digits():
    with mpmath.workdps(60):
        yield


def listed(t, labels):
    """Return scores: t distinct ones in descending order, then one lower score that all documents in `labels` share."""
    return np.concatenate((np.arange(t + 1, 1, -1.0), np.ones(len(labels))))


def assert_std(found, values, case):
    """Compare with the standard deviation of equally likely values."""
    mean = mpmath.fsum(values) / len(values)
    variance = mpmath.fsum((value - mean) ** 2 for value in values) / len(values)
    assert_variance(found, variance, mean, case)


def assert_variance(found, variance, mean, case):
    std = mpmath.sqrt(max(variance, 0))
    if std > LEAST * mean:
        assert found == pytest.approx(float(std), rel=RELATIVE, abs=0), case
    else:
        assert found <= 2 * LEAST * mean, case


@pytest.mark.parametrize(
    ("t", "group"),
    [(90, [1] * 9 + [0]), (90, [0] * 9 + [1]), (80, [2] * 9 + [3]), (60, [1, 1, 1, 0, 0]), (60, [3, 1, 1, 1]),
     (50, [1, 1, 1, -1, -1]), (0, [1] * 15 + [0])],
)  # fmt: skip
def test_every_measure_where_one_or_two_documents_differ(t, group):
    """The standard deviation equals that of the values over all orders of the tied documents."""
    above = [(1 if i % 5 == 0 else 0 if i % 5 < 3 else -1) for i in range(t)]
    deepest = t + len(group)
    notation = [*MEASURES, "IPrec@0.0", "IPrec@0.9", "IAP11", f"AUC@{t + 3}"]
    some = ("P", "AP", "RR", "DCG", "RBP", "Q", "ERR", "Success")
    notation += [f"{name}@{k}" for name in some for k in (t + 2, deepest - 1)]
    labels = above + group
    spread = Evaluator(labels, notation).spread(listed(t, group))
    orders = [above + list(order) for order in placements(group)]
    for i, name in enumerate(notation):
        exact = [oracle.value(parse_measure(name), order, labels) for order in orders]
        assert_std(spread.std[0, i], [mpf(v.numerator) / v.denominator for v in exact], name)


def placements(group):
    """Return all distinct orders of a group, which are equally likely."""
    if not group:
        return [()]
    return [(label, *rest) for label in set(group) for rest in placements(without(group, label))]


def without(group, label):
    rest = list(group)
    rest.remove(label)
    return rest


def gains_at(weights, grade, odd, beta):
    """Return Σ w_x (hits + beta · gain up to place x) over relevant x, for each place of the odd document.

    All other documents of the group have `grade`. If `odd` is 0, the odd document is nonrelevant. No document above the
    group is relevant.
    """
    n, shift = len(weights), beta * (odd - grade) + (0 if odd else -1)
    whole = [w * (x + 1) * (1 + beta * grade) for x, w in enumerate(weights)]
    before = list(accumulate(whole, initial=mpf(0)))
    shifted = [v + w * shift for v, w in zip(whole, weights, strict=True)]
    after = list(accumulate(shifted[::-1], initial=mpf(0)))[::-1]
    return [before[y] + (shifted[y] if odd else 0) + after[y + 1] for y in range(n)]


def reciprocal_ranks_at(t, n, grade, odd):
    """Return the ERR of the group for each place of the odd document, whose grade differs from that of all others."""
    stop, other = (mpf(2**label - 1) / 16 for label in (grade, odd))
    goes_on, before = [mpf(1)], [mpf(0)]
    for x in range(n):
        before.append(before[-1] + goes_on[-1] * stop / (t + 1 + x))
        goes_on.append(goes_on[-1] * (1 - stop))
    after = mpf(0)
    values = [mpf(0)] * n
    for y in range(n - 1, -1, -1):
        # `after` is the contribution of the documents after place y, for a user who reaches the first of them.
        values[y] = before[y] + goes_on[y] * (other / (t + 1 + y) + (1 - other) * after)
        after = stop / (t + 1 + y) + (1 - stop) * after
    return values


@pytest.mark.parametrize("t", [0, 40, 100_000])
@pytest.mark.parametrize(("grade", "odd"), [(1, 0), (2, 1), (1, 4), (4, 3)])
def test_one_document_of_many_differs(t, grade, odd):
    """Graded measures have the exact standard deviation, also with nonrelevant documents above the group."""
    n = 700
    group = [grade] * (n - 1) + [odd]
    labels = [0] * t + group
    notation = ["AP", "Q", "Q(beta=0.1)", "ERR", "DCG", "RBP(p=0.9999)", "Bpref"]
    spread = Evaluator(labels, notation).spread(listed(t, group))
    ideal = list(accumulate(sorted(group, reverse=True)))
    relevant = 1 if odd else 0
    ranks = [mpf(t + 1 + x) for x in range(n)]
    p = mpf(0.9999)
    values = [gains_at([1 / j for j in ranks], 1, relevant, 0)]
    for beta in (mpf(1), mpf(0.1)):
        values.append(gains_at([1 / (j + beta * ideal[min(int(j), n) - 1]) for j in ranks], grade, odd, beta))
    values = [[v / sum(label > 0 for label in group) for v in each] for each in values]
    values += [
        reciprocal_ranks_at(t, n, grade, odd),
        [(odd - grade) / mpmath.log(1 + j, 2) for j in ranks],
        [(relevant - 1) * (1 - p) * p ** (j - 1) for j in ranks],
        # Bpref: each relevant document below the odd, nonrelevant one contributes less by 1/M, but not less than 0.
        [mpf(x) / (t + 1) / (n - 1) if not odd and t + 1 < n else mpf(0) for x in range(n)],
    ]
    for name, found, mean, each in zip(notation, spread.std[0], spread.mean[0], values, strict=True):
        average = mpmath.fsum(each) / n
        assert_variance(found, mpmath.fsum((v - average) ** 2 for v in each) / n, mean, name)


def test_one_nonrelevant_document_of_a_hundred_thousand():
    labels = np.ones(100_000, dtype=int)
    labels[7] = 0
    spread = Evaluator(labels, ["AP"]).spread(np.ones(100_000))
    assert spread.std[0, 0] == pytest.approx(9.993393537696455e-06, rel=1e-12)


def chances(n, r):
    """Return the probabilities that 1, 2, 3 and 4 given slots are relevant when r of n slots are."""
    p = [mpf(1)]
    for i in range(4):
        p.append(p[-1] * max(r - i, 0) / max(n - i, 1))
    return p[1:]


def average_precision(weights, n, r, c):
    """Return mean and variance of Σ w_x X_x (c + N_x), term by term: E[S²] - E[S]²."""
    p1, p2, p3, p4 = chances(n, r)
    mean = square = before = placed = mpf(0)
    for x, w in enumerate(weights):
        mean += w * (p1 * c + p2 * x)
        square += w * w * (p1 * c * c + p2 * (2 * c + 1) * x + p3 * x * (x - 1))
        square += 2 * w * before * (p2 * c * (c + 1) + p3 * c * (x - 1))
        square += 2 * w * placed * (p3 * (c + 2) + p4 * (x - 2))
        before += w
        placed += w * x
    return mean, square - mean * mean


def additive(weights, n, r):
    """Return mean and variance of Σ w_x X_x."""
    first, second = mpmath.fsum(weights), mpmath.fsum(w * w for w in weights)
    return first * r / n, mpf(r) * (n - r) / n / (n - 1) * (second - first * first / n)


def first_relevant(weights, n, r):
    """Return mean and variance of the weight of the first relevant slot, and the probability that there is none."""
    mean, square, none = mpf(0), mpf(0), mpf(1)
    for x, w in enumerate(weights):
        mean += none * r / (n - x) * w
        square += none * r / (n - x) * w * w
        none *= mpf(max(n - r - x, 0)) / (n - x)
    return mean, square - mean * mean, none


PATIENCE = ("0.5", "0.999999", "0.99999999")


@pytest.mark.parametrize(
    ("t", "n", "r"),
    [(0, 2, 1), (0, 3, 2), (0, 400, 399), (0, 400, 2), (0, 400, 390), (9, 90, 45), (3, 26, 25), (900, 60, 59),
     (900, 200, 3), (10**6, 2, 1), (10**6, 300, 297), (10**6, 300, 1), (10**6, 26, 13), (10**6, 5, 2)],
)  # fmt: skip
@pytest.mark.parametrize("some_above", [False, True])
def test_groups_deep_and_shallow(t, n, r, some_above):
    """Standard deviations are exact without a cut-off and with one at the start, middle and end of the group."""
    labels = np.zeros(t + n, dtype=int)
    labels[: t if some_above else 0 : 50] = 1
    above = int(labels.sum())
    labels[t : t + r] = 1
    deep = listed(t, labels[t:])
    for m in sorted({1, n // 2, n - 1, n}):
        names = ["AP", "DCG", "P", "R", *(f"RBP(p={p})" for p in PATIENCE), *(() if above else ("RR", "Success"))]
        measures = [f"{name}@{t + m}" for name in names]
        spread = Evaluator(labels, measures, offsets=[0, t + n]).spread(deep)
        ranks = [mpf(t + 1 + x) for x in range(m)]
        reciprocal = [1 / j for j in ranks]
        rr_mean, rr_variance, none = first_relevant(reciprocal, n, r)
        mean, variance = average_precision(reciprocal, n, r, above + 1)
        exact = [(mean / (above + r), variance / (above + r) ** 2)]
        exact += [additive([1 / mpmath.log(1 + j, 2) for j in ranks], n, r)]
        exact += [additive([mpf(1) / number] * m, n, r) for number in (t + m, above + r)]
        exact += [additive([(1 - mpf(float(p))) * mpf(float(p)) ** (j - 1) for j in ranks], n, r) for p in PATIENCE]
        exact += [(rr_mean, rr_variance), (1 - none, none * (1 - none))]
        for name, found, (mean, variance) in zip(measures, spread.std[0], exact, strict=False):
            if mean > 1e-150:
                assert_variance(found, variance, mean, name)


def mean_of_group(labels, t, k):
    """Return the exact ERR of a group whose documents follow t others, over ranks up to k.

    The mean product of 1 - stop over x documents is e_x / C(n, x), with the elementary symmetric sum e_x.
    """
    n, sums = len(labels), [1]
    for label in labels:
        # Sixteenths, so that the sums are whole numbers.
        goes_on = 16 - (2**label - 1 if label > 0 else 0)
        sums = [a + b * goes_on for a, b in zip([*sums, 0], [0, *sums], strict=True)]
    goes_on = [Fraction(each, math.comb(n, x) * 16**x) for x, each in enumerate(sums)]
    return sum((goes_on[x] - goes_on[x + 1]) / (t + x + 1) for x in range(min(n, k - t)))


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 17, 130, 1000, 1001])
@pytest.mark.parametrize("t", [0, 3, 500])
def test_the_mean_of_err_has_twelve_digits_in_groups_of_any_size(n, t):
    """Small groups, polynomials and groups in which these would overflow have formulas of their own."""
    rng = np.random.default_rng(n)
    for grades in ([0, 1, 2, 3, 4], [0, 4], [1], [0] * 20 + [1, 3]):
        labels = rng.choice(grades, n)
        labels[0] = 1
        for k in (t + 2, t + max(n // 3, 3), t + n):
            found = Evaluator([0] * t + labels.tolist(), f"ERR@{k}", offsets=[0, t + n])(listed(t, labels))
            exact = mean_of_group(labels.tolist(), t, k)
            assert found[0, 0] == pytest.approx(float(exact), rel=1e-12, abs=0)
