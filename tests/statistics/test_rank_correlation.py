"""Kendall's τ, AP correlation and rank-biased overlap, compared with definitions and with the authors' values."""

import csv
import math
import re
from fractions import Fraction
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tieaware.statistics import kendall_tau, kendall_taus, rbo, rbo_bounds, tau_ap

pytest.importorskip("scipy.stats")
SCORES = st.lists(st.integers(0, 3), min_size=2, max_size=6)
PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=6).map(
    lambda both: tuple(zip(*both, strict=True))
)


def _orders(scores):
    """Return every order of the items that agrees with the scores, best first."""
    return [
        order for order in permutations(range(len(scores))) if all(scores[i] >= scores[j] for i, j in pairwise(order))
    ]


def _classic_tau_ap(truth, order):
    """Return the AP correlation of two orders without ties, as Yilmaz, Aslam and Robertson define it."""
    place = {item: i for i, item in enumerate(truth)}
    shares = [Fraction(sum(place[above] < place[item] for above in order[:i]), i) for i, item in enumerate(order) if i]
    return 2 * sum(shares) / len(shares) - 1


def _mean_tau_ap(truth, scores):
    values = [_classic_tau_ap(t, o) for t in _orders(truth) for o in _orders(scores)]
    return float(sum(values) / len(values))


@given(st.permutations(range(5)), st.lists(st.integers(0, 2), min_size=5, max_size=5))
def test_tau_ap_a_is_the_mean_over_all_orders(truth, scores):
    assert tau_ap(truth, scores) == pytest.approx(_mean_tau_ap(truth, scores), abs=1e-12)


# Pairs of rankings have few items: six items that all tie in both rankings have half a million pairs of orders.
@given(PAIRS.filter(lambda pair: len(pair[0]) <= 4))
def test_tau_ap_a_is_the_mean_over_all_orders_of_both_rankings(pair):
    assert tau_ap(*pair) == pytest.approx(_mean_tau_ap(*pair), abs=1e-12)


def _tau_ap_b(a, b):
    """Return τ_AP,b in one direction, as Urbano and Marrero define it.

    A pair of items (i, j) adds 1/(p_i - 1) if both rankings have j above i. p_i is the first rank of i's tie group in
    b.
    """
    n = len(a)
    below = [i for i in range(n) if b[i] < max(b)]
    if not below:
        return math.nan
    total = Fraction(0)
    for i in below:
        start = 1 + sum(b[j] > b[i] for j in range(n))
        total += sum(Fraction(1, start - 1) for j in range(n) if b[j] > b[i] and a[j] > a[i])
    return float(2 * total / len(below) - 1)


@given(PAIRS)
def test_tau_ap_b_follows_its_definition_in_both_directions(pair):
    a, b = pair
    expected = (_tau_ap_b(a, b) + _tau_ap_b(b, a)) / 2
    assert tau_ap(a, b, ties="b") == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert tau_ap(b, a, ties="b") == pytest.approx(expected, abs=1e-12, nan_ok=True)


X = np.array([0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94])
Y = np.array([0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94])
TIED_X, TIED_Y = np.round(X * 5) / 5, np.round(Y * 5) / 5


@pytest.mark.parametrize(
    ("correlation", "expected"),
    [
        (lambda: tau_ap(X, Y), 0.7491182),
        (lambda: tau_ap(X, TIED_Y), 0.6074515),
        (lambda: tau_ap(TIED_X, TIED_Y, ties="b"), 0.6269841),
        (lambda: kendall_tau(X, TIED_Y, "a"), 0.7111111),
        (lambda: kendall_tau(TIED_X, TIED_Y), 0.75),
    ],
)
def test_tau_ap_has_the_values_of_its_authors(correlation, expected):
    """The expected values are those of an example in the documentation of the authors' R package."""
    assert round(correlation(), 7) == expected


@given(PAIRS)
def test_kendall_tau_follows_its_definition(pair):
    a, b = pair
    pairs = [(i, j) for i in range(len(a)) for j in range(i)]
    signs = [np.sign(a[i] - a[j]) * np.sign(b[i] - b[j]) for i, j in pairs]
    assert kendall_tau(a, b, "a") == pytest.approx(sum(signs) / len(pairs), abs=1e-12)
    untied = [sum(x[i] != x[j] for i, j in pairs) for x in (a, b)]
    expected = sum(signs) / math.sqrt(untied[0] * untied[1]) if all(untied) else math.nan
    assert kendall_tau(a, b) == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_kendall_taus_gives_the_values_of_kendall_tau():
    rng = np.random.default_rng(2)
    truth, scores = rng.integers(0, 5, 9) / 4, rng.integers(0, 5, (3, 7, 9)) / 4
    scores[1, 2] = 0.5
    ours = kendall_taus(truth, scores)
    for place in np.ndindex(3, 7):
        assert ours[place] == pytest.approx(kendall_tau(truth, scores[place]), abs=1e-12, nan_ok=True)
    assert np.isnan(ours).sum() == 1


def _classic_rbo(a, b, p):
    """Return the extrapolated overlap of two orders of the same length, as Webber, Moffat and Zobel define it."""
    overlaps = [len(set(a[:d]) & set(b[:d])) for d in range(1, len(a) + 1)]
    total = math.fsum(p**d * x / d for d, x in enumerate(overlaps, 1)) * (1 - p) / p
    return total + p ** len(a) * overlaps[-1] / len(a)


RANKINGS = st.dictionaries(st.sampled_from("uvwxyz"), st.integers(0, 3), min_size=4, max_size=4)


@given(RANKINGS, RANKINGS, st.sampled_from([0.5, 0.9]))
def test_rbo_a_is_the_mean_over_all_orders(a, b, p):
    def orders(ranking):
        items = list(ranking)
        return [[items[i] for i in order] for order in _orders([ranking[item] for item in items])]

    values = [_classic_rbo(x, y, p) for x in orders(a) for y in orders(b)]
    assert rbo(a, b, p) == pytest.approx(math.fsum(values) / len(values), abs=1e-12)


def _top(ranking, item):
    return 1 + sum(score > ranking[item] for score in ranking.values())


def _bottom(ranking, item):
    return sum(score >= ranking[item] for score in ranking.values())


@given(RANKINGS, RANKINGS)
def test_rbo_w_and_b_follow_their_definitions(a, b):
    p, w, agreement_b = 0.8, 0.0, 0.0
    for d in range(1, 5):
        sets = [{item for item in r if _top(r, item) <= d} for r in (a, b)]
        shares = [
            {item: min(1, Fraction(d - _top(r, item) + 1, _bottom(r, item) - _top(r, item) + 1)) for item in s}
            for r, s in zip((a, b), sets, strict=True)
        ]
        both = sum(shares[0][item] * shares[1][item] for item in sets[0] & sets[1])
        last_w = 2 * len(sets[0] & sets[1]) / (len(sets[0]) + len(sets[1]))
        last_b = both / math.sqrt(math.prod(sum(x * x for x in share.values()) for share in shares))
        w += p**d * last_w * (1 - p) / p
        agreement_b += p**d * last_b * (1 - p) / p
    assert rbo(a, b, p, "w") == pytest.approx(w + p**4 * last_w, abs=1e-12)
    assert rbo(a, b, p, "b") == pytest.approx(agreement_b + p**4 * last_b, abs=1e-12)
    assert rbo(a, b, p, "b", extrapolate=False) == pytest.approx(agreement_b, abs=1e-12)


def test_rbo_of_long_rankings_stops_where_weights_are_negligible():
    rng = np.random.default_rng(5)
    a, b = rng.random(50_000), rng.random(50_000)
    deep = rbo(a, b, 0.5, depth=100, extrapolate=False)
    assert rbo(a, b, 0.5) == pytest.approx(deep, abs=1e-15)


def _read_ranking(text):
    """Read a ranking such as "red (blue green)", with tied items in brackets."""
    groups = [group.strip("()").split() for group in re.findall(r"\(.*?\)|\S+", text)]
    return {item: -i for i, group in enumerate(groups) for item in group}


PAPER = (Path(__file__).parent / "rbo_of_the_paper.csv").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("row", list(csv.DictReader(PAPER)))
def test_rbo_has_the_values_of_its_authors(row):
    """Each row is a test of https://github.com/julian-urbano/sigir2024-rbo. Most pairs of rankings differ in length."""
    a, b, p = _read_ranking(row["x"]), _read_ranking(row["y"]), float(row["p"])
    for ties in "wab":
        expected = [float(row[f"{ties}.{score}"]) for score in ("ext", "min", "max", "res")]
        for pair in ((a, b), (b, a)):
            bounds = rbo_bounds(*pair, p, ties)
            assert [*bounds, bounds.residual] == pytest.approx(expected, abs=1e-13)
            assert rbo(*pair, p, ties) == bounds.extrapolated


@pytest.mark.parametrize("ties", ["w", "a", "b"])
@pytest.mark.parametrize(("length", "other"), [(3, 3), (2, 5), (1, 1)])
def test_the_bounds_of_rbo_are_attained_by_longer_rankings(ties, length, other):
    """The lower bound is attained without further common items, the upper bound if these come as early as possible."""
    a, b = list("uvw")[:length], list("vxuyz")[:other]
    bounds = rbo_bounds(_untied(a), _untied(b), 0.7, ties)
    rest = range(150)
    least = _untied([*a, *(f"a{i}" for i in rest)]), _untied([*b, *(f"b{i}" for i in rest)])
    assert rbo(*least, 0.7, ties, extrapolate=False) == pytest.approx(bounds.least, abs=1e-12)
    missing_of_a, missing_of_b = [x for x in b if x not in a], [x for x in a if x not in b]
    # For the upper bound, each ranking continues with the items that only the other ranking has. Then both continue
    # with the same items.
    a, b = a + missing_of_a, b + missing_of_b
    greatest = _untied([*a, *map(str, rest)]), _untied([*b, *map(str, rest)])
    assert rbo(*greatest, 0.7, ties, extrapolate=False) == pytest.approx(bounds.greatest, abs=1e-12)


def _untied(items):
    return {item: -i for i, item in enumerate(items)}


def test_rbo_without_extrapolation_is_less_than_the_lower_bound():
    """For equal rankings of one item, the sum to depth 1 is 0.1. The item counts at all depths: the bound is 0.2558."""
    assert rbo([1], [1], 0.9, extrapolate=False) == pytest.approx(0.1, abs=1e-15)
    assert rbo_bounds([1], [1], 0.9).least == pytest.approx(math.log(10) / 9, abs=1e-15)
    assert rbo_bounds([1], [1], 0.9)[::2] == pytest.approx([1, 1], abs=1e-15)


def test_rbo_to_a_depth_ignores_deeper_items():
    a, b = _untied("uvwxyz"), _untied("vuzq")
    for depth in range(1, 8):
        cut = _untied("uvwxyz"[:depth]), _untied("vuzq"[:depth])
        for options in ({}, {"extrapolate": False}):
            assert rbo(a, b, depth=depth, **options) == rbo(*cut, **options)
