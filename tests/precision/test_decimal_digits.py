"""Scores are rounded to decimals as by Python's round(), and to significant digits as by its number formatting."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st
from support.scores import coarsen_list

from tieaware.precision import Decimals, Significant


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
