"""Rounding returns the nearest number of a binary format, or with some digits, as Python does."""

import math
import struct
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from support.scores import coarsen_list

from tieaware.precision import BFloat16, Decimals, Float16, Float32, Significant


@given(st.lists(st.floats(allow_nan=False), min_size=1))
@settings(deadline=None)
def test_scores_are_rounded_to_the_nearest_number(values):
    """float16 is compared with the standard library, bfloat16 with fractions. Halfway cases go to the even number."""
    for value, half, brain in zip(
        values, coarsen_list(Float16(), values).tolist(), coarsen_list(BFloat16(), values).tolist(), strict=True
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


def test_float32_scores_stay_float32():
    scores = coarsen_list(Float32(), [1.0, 1.0 + 1e-12, 1e300])
    assert scores.dtype == np.float32
    assert scores.tolist() == [1.0, 1.0, math.inf]


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20), st.integers(0, 25))
@settings(deadline=None)
def test_decimals_round_as_python_does(values, digits):
    """The rounding is exact for every double."""
    assert coarsen_list(Decimals(digits), values).tolist() == [v if math.isinf(v) else round(v, digits) for v in values]


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1), st.integers(1, 6))
def test_decimals_round_halves_as_python_does(values, digits):
    """A number such as 0.15 is slightly below or above the half in binary, and is rounded accordingly."""
    halves = [(v + 0.5) / 10**digits for v in values]
    assert coarsen_list(Decimals(digits), halves).tolist() == [round(v, digits) for v in halves]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1), st.integers(1, 20))
@settings(deadline=None)
def test_significant_digits_are_those_of_the_decimal_notation(values, digits):
    assert coarsen_list(Significant(digits), values).tolist() == [float(f"{v:.{digits - 1}e}") for v in values]
