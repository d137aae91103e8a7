"""Coarser scores: what each coarsening does, and what it does to the values."""

import math
import pickle
import struct
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tieaware
from tieaware import Evaluator, InputError, precision, reference
from tieaware.precision import (
    Bands,
    BFloat16,
    Decimals,
    Float16,
    Float32,
    Levels,
    Significant,
    bands,
    parse_precision,
)

ALL = ["bands:1.5", "decimals:2", "significant:3", "float32", "float16", "bfloat16", "levels:11"]
ONE_LIST = {n: np.array([0, n]) for n in range(200)}


def coarsen(coarsening, values, dtype=np.float64):
    scores = np.array(values, dtype=dtype)
    return coarsening.coarsen(scores, np.array([0, len(scores)]))


# Bands.


@pytest.mark.parametrize("rho", ["1.1", "1.002", "1.01", "1.05", "1.5", "1.62", "2", "3.7", "10"])
def test_bands_follow_the_recurrence_exactly(rho):
    """b_{g+1} = ⌈rho b_g⌉ in integers."""
    growth, starts = Fraction(rho), [1]
    while math.ceil(growth * starts[-1]) <= 5000:
        starts.append(math.ceil(growth * starts[-1]))
    assert bands(rho, 5000).tolist() == starts
    assert bands(growth, 5000).tolist() == starts
    assert bands(float(rho), 5000).tolist() == starts


def test_the_first_band_of_several_documents_begins_where_the_formula_says():
    """At v = 1 + ⌊1/(rho - 1)⌋ for every rho; v = 1 beyond 2."""
    for rho in (Fraction(n, 500) for n in range(501, 1800)):
        starts = bands(rho, 2000)
        sizes = np.diff(starts)
        v = 1 + math.floor(1 / (rho - 1)) if rho <= 2 else 1
        assert starts[np.argmax(sizes > 1)] == v


def test_the_golden_ratio_departs_from_fibonacci_as_its_decimals_do():
    fibonacci = [1, 2]
    while len(fibonacci) < 30:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    expected = [f - 1 for f in fibonacci[1:]]
    wrong = np.flatnonzero(bands("1.62", 700)[:13] != expected[:13])
    assert (wrong[0] + 1, bands("1.62", 700)[12], expected[12]) == (13, 610, 609)


def test_rho_1_leaves_every_rank_alone_and_no_depth_has_no_band():
    assert bands(1, 5).tolist() == [1, 2, 3, 4, 5]
    assert bands("1.5", 0).tolist() == []
    assert len(bands("1.000001", 10**7)) > 10**6


@pytest.mark.parametrize("rho", [0.99, "-1", "nan", "inf", "x", "1/0", None, True, [], float("nan")])
def test_rho_must_be_a_number_of_at_least_1(rho):
    with pytest.raises(InputError, match=r"rho: expected a number from 1 to"):
        bands(rho, 10)


@pytest.mark.parametrize("depth", [-1, 1.5, True, None])
def test_depth_must_be_a_whole_number(depth):
    with pytest.raises(InputError, match=rf"^depth: expected a whole number from 0 to [\d,]+, found {depth}$"):
        bands("1.5", depth)


# Formats of scores.


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20), st.integers(0, 25))
@settings(deadline=None)
def test_decimals_round_as_python_does(values, digits):
    """Exactly, for every double."""
    assert coarsen(Decimals(digits), values).tolist() == [v if math.isinf(v) else round(v, digits) for v in values]


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1), st.integers(1, 6))
def test_decimals_round_halves_as_python_does(values, digits):
    """Decimal halves are seldom halves in binary."""
    halves = [(v + 0.5) / 10**digits for v in values]
    assert coarsen(Decimals(digits), halves).tolist() == [round(v, digits) for v in halves]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1), st.integers(1, 20))
@settings(deadline=None)
def test_significant_digits_are_those_of_the_decimal_notation(values, digits):
    assert coarsen(Significant(digits), values).tolist() == [float(f"{v:.{digits - 1}e}") for v in values]


@given(st.lists(st.floats(allow_nan=False), min_size=1))
@settings(deadline=None)
def test_binary_formats_are_the_nearest_of_their_numbers(values):
    """Half precision as the standard library packs it; bfloat16 by exact fractions, ties to even."""
    for value, half, brain in zip(
        values, coarsen(Float16(), values).tolist(), coarsen(BFloat16(), values).tolist(), strict=True
    ):
        try:
            expected = struct.unpack("e", struct.pack("e", value))[0]
        except OverflowError:
            expected = math.copysign(math.inf, value)
        assert half == expected
        assert brain == nearest_bfloat16(value)


def nearest_bfloat16(value):
    if math.isinf(value) or value == 0:
        return value
    exponent = max(math.frexp(abs(value))[1], -125)
    step = Fraction(2) ** (exponent - 8)
    rounded = round(Fraction(abs(value)) / step) * step
    return math.copysign(float(rounded) if rounded < 2**128 else math.inf, value)


def test_single_precision_is_read_as_it_is():
    scores = coarsen(Float32(), [1.0, 1.0 + 1e-12, 1e300])
    assert scores.dtype == np.float32
    assert scores.tolist() == [1.0, 1.0, math.inf]


def test_levels_divide_the_range_of_each_list():
    scores = np.array([0.0, 0.49, 0.5, 1.0, 7.0, 7.0, -math.inf, 2.0, 4.0, math.inf])
    coarse = Levels(2).coarsen(scores, np.array([0, 4, 6, 6, 10]))
    assert coarse.tolist() == [0, 0, 1, 1, 0, 0, -math.inf, 0, 1, math.inf]
    assert coarsen(Levels(4), [-1.7e308, 0.0, 1.7e308]).tolist() == [0, 2, 3]


@pytest.mark.parametrize("text", ALL[1:])
@given(st.lists(st.floats(allow_nan=False), min_size=2), st.sampled_from([np.float64, np.float32]))
@settings(deadline=None, max_examples=50)
def test_no_coarsening_puts_a_lower_score_above_a_higher(text, values, dtype):
    with np.errstate(over="ignore"):
        scores = np.sort(np.array(values, dtype=dtype))
    coarse = parse_precision(text).coarsen(scores, ONE_LIST.get(len(scores), np.array([0, len(scores)])))
    assert not np.isnan(coarse).any()
    assert (np.diff(coarse.astype(np.float64)[np.isfinite(coarse)]) >= 0).all()
    assert (np.sort(coarse) == coarse).all()


# Names.


@pytest.mark.parametrize("text", [*ALL, "bands:4/3", "bands:1"])
def test_text_and_coarsening_are_inverses(text):
    coarsening = parse_precision(text)
    assert str(coarsening) == text
    assert parse_precision(coarsening) is coarsening
    assert pickle.loads(pickle.dumps(coarsening)) == coarsening
    assert hash(coarsening) == hash(parse_precision(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("flaot16", "precision: expected one such as bands:1.5, .*, found 'flaot16'; did you mean float16"),
        ("decimals", "expected decimals with a number"),
        ("decimals:x", "expected decimals with a number"),
        ("decimals:301", "decimals: expected a whole number from 0 to 300, found 301"),
        ("levels:0", "levels: expected a whole number .*, found 0"),
        ("significant:0", "significant: expected a whole number .*, found 0"),
        ("bands", "expected bands with a number"),
        ("bands:0.5", "rho: expected a number from 1 to .*, found '0.5'"),
        (3, "precision: expected a text .*, found 3"),
    ],
)
def test_a_name_that_cannot_be_read_is_an_error(text, message):
    with pytest.raises(InputError, match=message):
        parse_precision(text)


# Values.


@pytest.fixture(scope="module")
def lists():
    rng = np.random.default_rng(11)
    sizes = np.array([0, 1, 3, 40, 200, 7, 90])
    labels = rng.integers(-1, 3, sizes.sum())
    return sizes, labels, rng.normal(size=sizes.sum()).round(1) + rng.normal(size=sizes.sum()).round(2)


MEASURES = ["AP", "AP@5", "RR", "P@10", "R@7", "nDCG@10", "nDCG", "RBP", "Success@3", "Rprec", "F1@4", "NumRelRet"]


@pytest.mark.parametrize("rho", ["1", "1.1", "1.5", "2", "5", "1000"])
def test_bands_in_the_kernel_are_the_reference_over_band_scores(lists, rho):
    """Also where a cut-off divides a band."""
    sizes, labels, scores = lists
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    for measures in (MEASURES, ["P@10"], ["AP@5", "nDCG@10"]):
        values = Evaluator(labels, measures, offsets=offsets, precision=Bands(rho))(scores)
        by_scores = Evaluator(labels, measures, offsets=offsets)(Bands(rho).coarsen(scores, offsets))
        np.testing.assert_array_equal(values, by_scores)
        for q, (start, end) in enumerate(pairwise(offsets)):
            ranked = reference.rank(scores[start:end].tolist(), labels[start:end].tolist(), "run_order")
            band = np.searchsorted(bands(rho, max(len(ranked), 1)), np.arange(1, len(ranked) + 1), side="right")
            judged = [label for label in labels[start:end].tolist() if label >= 0]
            expected = [reference.evaluate(m, (-band).tolist(), ranked, judged) for m in measures]
            np.testing.assert_allclose(values[q], expected, atol=1e-12)


@pytest.mark.parametrize("ties", ["average", "run_order", "trec_eval", "optimistic", "pessimistic"])
@pytest.mark.parametrize("text", ALL)
def test_every_tie_rule_sees_the_coarse_scores(lists, ties, text):
    """In calls, candidates, features, files and dicts alike."""
    sizes, labels, scores = lists
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    docids = [f"d{i}" for i in range(len(labels))]
    options = {"ties": ties, "docids": docids}
    coarse = Evaluator(labels, MEASURES, offsets=offsets, precision=text, **options)
    expected = Evaluator(labels, MEASURES, offsets=offsets, **options)(parse_precision(text).coarsen(scores, offsets))
    np.testing.assert_array_equal(coarse(scores), expected)
    np.testing.assert_array_equal(coarse(scores, out=np.empty_like(expected)), expected)
    means = [float(sum(map(Fraction, column)) / len(sizes)) for column in expected.T]
    np.testing.assert_array_equal(coarse.mean(scores), means)
    np.testing.assert_array_equal(coarse.columns(np.stack([scores] * 3, axis=1)), [means] * 3)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(coarse))(scores), expected)

    slices = [slice(a, b) for a, b in pairwise(offsets)]
    qrels = {f"q{i}": dict(zip(docids[s], labels[s].tolist(), strict=True)) for i, s in enumerate(slices)}
    run = {f"q{i}": dict(zip(docids[s], scores[s].tolist(), strict=True)) for i, s in enumerate(slices)}
    result = tieaware.evaluate(qrels, run, MEASURES, ties=ties, precision=text)
    kept = [i for i, s in enumerate(slices) if f"q{i}" in result.queries]
    np.testing.assert_array_equal(result.values[0], expected[kept])


def test_a_rho_of_1_and_seventeen_decimals_change_nothing(lists):
    """Bands of one rank are the run order; scores of common size have no more decimals."""
    sizes, labels, scores = lists
    for text, ties in (("bands:1", "run_order"), ("decimals:17", "average"), ("significant:17", "average")):
        exact = Evaluator(labels, MEASURES, group=sizes, ties=ties)(scores)
        np.testing.assert_array_equal(Evaluator(labels, MEASURES, group=sizes, precision=text)(scores), exact)


@pytest.mark.parametrize("text", ALL)
def test_nan_is_found_before_it_is_rounded(text):
    with pytest.raises(InputError, match=r"^scores: expected numbers, found NaN for document 1 of query 1$"):
        Evaluator([1, 0, 1, 0], ["AP"], group=[2, 2], precision=text)([1.0, 2.0, 3.0, np.nan])


def test_the_module_is_documented_by_its_table():
    for text in ALL:
        assert type(parse_precision(text)).__name__ in precision.__doc__
