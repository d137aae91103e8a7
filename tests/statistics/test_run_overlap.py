"""Rank-biased overlap over all orders of tied items: enumeration, the papers' variants, and runs."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tieaware import Run
from tieaware.statistics import rbo, rbo_by_query, rbo_spread
from tieaware.statistics.run_overlap import places_of


def orders(ranking):
    """Yield every order of the items that the scores allow."""
    groups = [[x for x in ranking if ranking[x] == score] for score in sorted(set(ranking.values()), reverse=True)]
    for parts in product(*(list(permutations(group)) for group in groups)):
        yield sum(parts, ())


def overlap(x, y, p, depth, extrapolate):
    """Return the overlap of two orders as Webber, Moffat and Zobel define it, truncated or extrapolated."""
    x, y = sorted((x, y), key=len)
    s, last = len(x), len(y) if depth is None else min(depth, len(y))
    shared = [len(set(x[:d]) & set(y[:d])) for d in range(len(y) + 1)]
    unknown = [Fraction(max(d - s, 0) * shared[s], s) * extrapolate for d in range(last + 1)]
    agreement = [(shared[d] + unknown[d]) / d for d in range(1, last + 1)]
    total = (1 - p) / p * sum((p**d * a for d, a in enumerate(agreement, 1)), Fraction(0))
    return total + p**last * agreement[-1] * extrapolate


RANKINGS = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 2), min_size=1, max_size=4)


# Up to 24 · 24 orders in fractions take longer than hypothesis allows by default.
@settings(deadline=None)
@given(RANKINGS, RANKINGS, st.sampled_from([0.5, 0.875]), st.none() | st.integers(1, 6), st.booleans())
def test_spread_equals_that_of_all_orders(a, b, p, depth, extrapolate):
    values = [overlap(x, y, Fraction(p), depth, extrapolate) for x in orders(a) for y in orders(b)]
    mean = sum(values) / len(values)
    variance = float(sum((value - mean) ** 2 for value in values) / len(values))
    found = rbo_spread(a, b, p, depth=depth, extrapolate=extrapolate)
    assert found.mean == pytest.approx(float(mean), rel=1e-13)
    assert (found.min, found.max) == (pytest.approx(float(min(values))), pytest.approx(float(max(values))))
    assert found.std == pytest.approx(math.sqrt(variance), rel=1e-12)
    # No term of the variance is negative, so it is exactly 0 where all orders have one value.
    assert (found.std == 0.0) == (variance == 0.0)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_mean_for_the_same_items_is_variant_a_of_corsi_and_urbano(pairs):
    a, b = zip(*pairs, strict=True)
    found = rbo_spread(a, b)
    assert found.mean == pytest.approx(rbo(a, b, ties="a"), rel=1e-12)
    assert found.min <= found.mean * (1 + 1e-15)
    assert found.mean <= found.max * (1 + 1e-15)


def test_untied_rankings_have_one_value():
    rng = np.random.default_rng(0)
    for n, k in [(50, 50), (80, 30), (1, 20)]:
        a = dict(zip(rng.permutation(100)[:n].tolist(), rng.permutation(n).tolist(), strict=True))
        b = dict(zip(rng.permutation(100)[:k].tolist(), rng.permutation(k).tolist(), strict=True))
        found = rbo_spread(a, b, 0.95)
        assert found.std == 0.0
        assert found.mean == found.min == found.max == pytest.approx(rbo(a, b, 0.95), rel=1e-13)


def test_large_ties_agree_with_simulation():
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 4, 300), rng.integers(0, 6, 300)
    found = rbo_spread(a, b, 0.98)
    drawn = [rbo(np.lexsort((rng.random(300), a)).argsort(), np.lexsort((rng.random(300), b)).argsort(), 0.98)
             for _ in range(600)]  # fmt: skip
    assert np.mean(drawn) == pytest.approx(found.mean, abs=5 * found.std / 600**0.5)
    assert np.std(drawn) == pytest.approx(found.std, rel=0.15)
    assert found.min < min(drawn)
    assert max(drawn) < found.max


def test_deep_ties_keep_their_digits():
    """Below many untied ranks, two tied items still have the exact standard deviation, however small it is."""
    n, p = 400, 0.9
    a, b = np.arange(n, 0, -1.0), np.arange(n, 0, -1.0)
    a[-2] = a[-1]
    found = rbo_spread(a, b, p, depth=n, extrapolate=False)
    # One of two orders loses one common item at the depth n - 1.
    weight = (1 - p) * p ** (n - 2) / (n - 1)
    assert found.std == pytest.approx(weight / 2, rel=1e-12)


def test_runs_have_the_values_of_their_queries():
    rng = np.random.default_rng(2)

    def run(queries):
        return {
            f"q{q}": {f"d{d}": float(rng.integers(0, 5)) for d in rng.permutation(40)[: rng.integers(1, 30)]}
            for q in queries
        }  # fmt: skip

    a, b = run(range(12)), run([5, 3, 14, 9, 0])
    for options in ({}, {"p": 0.7, "depth": 4}, {"extrapolate": False}):
        found = rbo_by_query(a, Run.from_dict(b), **options)
        assert found.queries == ["q0", "q3", "q5", "q9"]
        for i, query in enumerate(found.queries):
            single = rbo_spread(a[query], b[query], **options)
            assert (found.mean[i], found.std[i], found.min[i], found.max[i]) == pytest.approx(tuple(single), rel=1e-13)


def test_documents_in_common_are_not_required():
    found = rbo_by_query({"q": {"x": 1, "y": 1}}, {"q": {"z": 1}})
    assert [each.tolist() for each in found[1:]] == [[0.0]] * 4


@given(st.lists(st.sampled_from([-1.5, -0.0, 0.0, 2.0, math.inf, -math.inf]), min_size=1, max_size=20))
def test_places_count_higher_and_equal_scores(scores):
    starts, sizes = places_of(np.array(scores))
    assert starts.tolist() == [sum(other > score for other in scores) for score in scores]
    assert sizes.tolist() == [sum(other == score for other in scores) for score in scores]
