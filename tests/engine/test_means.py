"""Means over queries have the same bits for every order of the queries and every function that computes them."""

from __future__ import annotations

import decimal
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tieaware
from tieaware import Evaluator
from tieaware.kernels import _means
from tieaware.kernels._means import means

NAN = math.nan


def lists(seed: int, n_queries: int = 37, depth: int = 20):
    """Draw labels and scores; every fourth list has no relevant document."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 3, (n_queries, depth)) * (random.random((n_queries, depth)) < 0.3)
    labels[::4] = 0
    return labels, random.integers(0, 7, (n_queries, depth)).astype(float)


@pytest.mark.parametrize("undefined", [0.0, NAN])
@pytest.mark.parametrize("seed", range(5))
def test_all_functions_give_means_of_the_same_bits(seed, undefined):
    labels, scores = lists(seed)
    names = ["AP", "nDCG@10", "RR"]
    wanted = Evaluator(labels, names, undefined=undefined).mean(scores)
    for more in ({"precision": "decimals:3"}, {"threads": 2}):
        assert Evaluator(labels, names, undefined=undefined, **more).mean(scores).tobytes() == wanted.tobytes()
    # Include GMAP, which has a geometric mean, and IPrec, whose kernel needs working memory.
    for others in (["GMAP"], ["GMAP", "IPrec@0.5"]):
        evaluator = Evaluator(labels, [*names, *others], undefined=undefined)
        assert evaluator.mean(scores)[:3].tobytes() == wanted.tobytes()
        assert evaluator.many(np.stack([scores, scores]))[1, :3].tobytes() == wanted.tobytes()
        assert evaluator.columns(scores[..., None])[0, :3].tobytes() == wanted.tobytes()
    evaluator = Evaluator(labels, [*names, "GMAP"], undefined=undefined)
    one_by_one = Evaluator(labels, [*names, "GMAP", "IAP11"], undefined=undefined)
    assert evaluator.mean(scores).tobytes() == one_by_one.mean(scores)[:4].tobytes()
    values = evaluator(scores)[None]
    results = tieaware.Results(values, ("run",), tuple(map(str, range(len(labels)))), evaluator.measures)
    assert results.mean()[0].tobytes() == evaluator.mean(scores).tobytes()


def test_a_query_that_is_undefined_is_left_out():
    labels, scores = [[1, 0], [0, 0]], [[1.0, 1.0], [1.0, 1.0]]
    for more in ({}, {"precision": "bfloat16"}, {"precision": "decimals:1"}):
        for names in (["AP"], ["AP", "GMAP"], ["AP", "IPrec@0.5"]):
            assert Evaluator(labels, names, undefined=NAN, **more).mean(scores)[0] == 0.75
            assert np.isnan(Evaluator(labels[1:], names, undefined=NAN, **more).mean(scores[1:])).all()


@given(st.lists(st.integers(0, 2**60).map(lambda i: i / 2**60), min_size=1, max_size=50), st.randoms())
def test_the_mean_is_that_of_the_exact_sum_in_any_order(values, random):
    exact = float(sum(map(Fraction, values)) / len(values))
    shuffled = random.sample(values, len(values))
    column = np.array([values, shuffled])[..., None]
    assert means(column, [False]).tolist() == [[exact], [exact]]


@pytest.mark.parametrize("geometric", [False, True])
def test_the_order_of_queries_and_nan_do_not_change_the_mean(geometric):
    random = np.random.default_rng(7)
    values = random.random((3_000, 4)) ** 20 * random.choice([1.0, 1e-3, 1e5], (3_000, 4))
    wanted = means(values, [geometric] * 4)
    for _ in range(20):
        missing = np.full((100, 4), NAN)
        shuffled = random.permutation(np.concatenate([values, missing]), axis=0)
        assert means(shuffled, [geometric] * 4).tobytes() == wanted.tobytes()


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=30))
def test_the_geometric_mean(values):
    with decimal.localcontext(prec=50):
        logarithms = [decimal.Decimal(max(value, 0.00001)).ln() for value in values]
        exact = float((sum(logarithms) / len(values)).exp())
    assert means(np.array(values)[:, None], [True])[0] == pytest.approx(exact, rel=1e-14)


@given(st.floats(0.5, 4.0))
def test_powers_and_logarithms_are_right_to_the_last_bits(x):
    """The geometric mean of a single value x is 2^log2(x), which must be x again."""
    assert abs(means(np.array([[x]]), [True])[0] - x) <= 4 * math.ulp(x)


def test_whole_powers_of_two_are_exact():
    powers = 2.0 ** np.arange(-16, 17)
    assert means(powers[:, None, None], [True])[:, 0].tolist() == powers.tolist()
    assert means(powers[:, None], [True]).tolist() == [1.0]


def test_each_measure_has_its_own_kind_of_mean():
    values = np.array([[0.25, 0.25, NAN], [1.0, 1.0, NAN], [NAN, NAN, NAN]])
    assert means(values, [False, True, False]).tolist()[:2] == [0.625, 0.5]
    assert np.isnan(means(values, [False, True, False])[2])


CUBE = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "values",
    [CUBE, CUBE[0], CUBE[None, ::-1, ::2], CUBE.transpose(2, 1, 0), CUBE[:0], CUBE[..., :0]],
    ids=["three dimensions", "two", "four with gaps", "transposed", "no runs", "no measures"],
)
def test_arrays_of_any_shape_and_strides(values):
    np.testing.assert_array_equal(means(values, np.zeros(values.shape[-1], bool)), values.mean(axis=-2))


def test_no_queries_have_no_mean():
    assert np.isnan(means(np.empty((2, 0, 4)), np.zeros(4, bool))).all()


def test_infinite_and_enormous_values():
    columns = np.array([[math.inf, -math.inf, 1e305], [1.0, 1.0, 1e305]])
    assert means(columns, [False] * 3).tolist() == [math.inf, -math.inf, 1e305]


def test_merged_sums_give_the_same_means():
    """Partial sums of the values are merged, as on several machines. The partition may be any, with empty parts."""
    rng = np.random.default_rng(5)
    values = np.where(rng.random((400, 3)) < 0.1, np.nan, rng.random((400, 3)) * 10.0 ** rng.integers(-9, 9, (400, 3)))
    geometric = np.array([False, True, False])
    wanted = _means.means(values, geometric)
    for n_parts in (1, 7, 500):
        queries = np.array_split(rng.permutation(400), n_parts)
        found = [_means.sums(values[some].ravel(), np.tile(np.arange(3), len(some)), geometric) for some in queries]
        sums, counts = (np.concatenate(each) for each in zip(*found, strict=True))
        merged = _means.merged(sums, counts, np.tile(np.arange(3), n_parts), 3)
        assert merged[1].tolist() == np.count_nonzero(~np.isnan(values), axis=0).tolist()
        assert _means.of_sums(*merged, geometric).tolist() == wanted.tolist()
    assert np.isnan(_means.of_sums(*_means.sums(np.zeros(0), np.zeros(0, np.int64), geometric), geometric)).all()
