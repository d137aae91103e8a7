"""Rounding to binary formats gives the nearest number of the format."""

import math
import struct
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from support.scores import coarsen_list

from tieaware.precision import BFloat16, Float16, Float32


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
