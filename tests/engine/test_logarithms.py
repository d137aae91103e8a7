"""Logarithms that have the same bits on every processor."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from tieaware.kernels import _slots

# Numbers near 0, near 1, and of any size.
NUMBERS = np.concatenate((
    2.0 ** np.random.default_rng(8).uniform(-60, 60, 300),
    1 + 2.0 ** np.random.default_rng(9).uniform(-52, 0, 150),
    [5e-324, 0.29, 0.41, 1.0, 1.7e308],
))  # fmt: skip


def log2(x: Decimal) -> Decimal:
    return x.ln() / Decimal(2).ln()


def log1p(x: Decimal) -> Decimal:
    return (1 + x).ln()


@pytest.mark.parametrize(
    ("function", "exact", "numbers"),
    [
        (_slots.binary_logarithms, log2, NUMBERS),
        (_slots.logarithms_of_one_more, log1p, NUMBERS),
        (_slots.logarithms_of_one_more, log1p, -NUMBERS[NUMBERS < 1]),
    ],
)
def test_logarithms_are_correct_to_three_units_in_the_last_place(function, exact, numbers):
    with localcontext() as context:
        context.prec = 400  # 1 + 5e-324 has 324 digits
        for x, found in zip(numbers.tolist(), function(numbers).tolist(), strict=True):
            wanted = exact(Decimal(x))
            assert abs(Decimal(found) - wanted) <= 3 * Decimal(math.ulp(float(wanted))), x


def test_logarithms_at_the_limits():
    limits = np.array([0.0, np.inf, -1.0, -2.0, np.nan])
    np.testing.assert_array_equal(_slots.binary_logarithms(limits), [-np.inf, np.inf, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(_slots.logarithms_of_one_more(limits), [0, np.inf, -np.inf, np.nan, np.nan])


def test_logarithms_have_the_same_bits_on_every_platform():
    numbers = np.array([1e-300, 0.1, 0.9, 1.0, 3.0, 10.0, 1e300])
    assert [x.hex() for x in _slots.binary_logarithms(numbers).tolist()] == [
        "-0x1.f24a09f1a8b89p+9", "-0x1.a934f0979a371p+1", "-0x1.374d65d9e608dp-3", "0x0.0p+0", "0x1.95c01a39fbd69p+0",
        "0x1.a934f0979a371p+1", "0x1.f24a09f1a8b89p+9",
    ]  # fmt: skip
    assert [x.hex() for x in _slots.logarithms_of_one_more(numbers).tolist()] == [
        "0x1.56e1fc2f8f359p-997", "0x1.8663f793c46c5p-4", "0x1.48a11293d785bp-1", "0x1.62e42fefa39efp-1",
        "0x1.62e42fefa39efp+0", "0x1.32ee3b77f374cp+1", "0x1.5963447f87fb5p+9",
    ]  # fmt: skip
