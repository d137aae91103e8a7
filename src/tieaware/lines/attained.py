"""The choice of a t: a number that one can type, inside an interval, at which the evaluator confirms the value.

Scores at t are rounded. They may tie where their lines only pass close to each other, or at a crossing at which the
mean does not change. So a value counts only if a t inside its interval has it, in each form in which scores are
computed.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from itertools import islice

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Values
from tieaware.checks.rounding import ROUNDING
from tieaware.lines.crossings import Runs, best_first

# How many numbers are tried in all; in an interval, how many of the same length, and how many lengths: scores with d
# digits often meet at decimals with d digits.
_IN_ALL, _OF_LENGTH, _LENGTHS = 240, 4, 6


def points(low: float, high: float) -> Iterator[float]:
    """Yield decimals in the middle half of an interval: short ones first, of the same length the most central first.

    If the interval has no end, they are about as far from the other end as that is from 0.

    Examples
    --------
    >>> from itertools import islice
    >>> list(islice(points(0.619, 0.621), 3)), next(points(2.0, float("inf")))
    ([0.62, 0.6199, 0.6201], 4.0)
    """
    least, middle, most = _central(low, high)
    if least <= 0.0 <= most:
        yield 0.0
    power = min(math.floor(math.log10(max(abs(least), abs(most)) or 1.0)) + 1, 308)
    lengths = 0
    while lengths < _LENGTHS and power > -308 and abs(scaled := middle / 10.0**power) < 2.0**53:
        near = round(scaled)
        if abs(near - scaled) * 10.0**power <= middle - least or near == 0:
            around = sorted(range(near - _OF_LENGTH, near + _OF_LENGTH + 1), key=lambda n: abs(n - scaled))
            # A multiple of 10 has been yielded as a shorter number.
            decimals = (float(f"{n}e{power}") for n in around if n % 10)
            found = list(islice((t for t in decimals if least <= t <= most), _OF_LENGTH))
            yield from found
            lengths += bool(found)
        power -= 1
    yield middle


def _central(low: float, high: float) -> tuple[float, float, float]:
    """Return the ends and the middle of the middle half of an interval; of a part of it, if it has no end."""
    if math.isinf(low) and math.isinf(high):
        return -1.0, 0.0, 1.0
    if math.isinf(low):
        least, middle, most = _central(-high, -low)
        return -most, -middle, -least
    if math.isinf(high):
        length = min(max(1.0, abs(low)), 0.4 * (sys.float_info.max - low))
        return low + 0.5 * length, low + length, low + length + length
    return 0.75 * low + 0.25 * high, 0.5 * low + 0.5 * high, 0.25 * low + 0.75 * high


def attempts(found: Runs, sign: float) -> Iterator[tuple[int, float]]:
    """Yield intervals and numbers inside them, from the best intervals on."""
    low, high, _ = found
    best = best_first(found, sign, _IN_ALL).tolist()
    return islice(((i, t) for i in best for t in points(float(low[i]), float(high[i]))), _IN_ALL)


def agrees(values: Values, expected: Values) -> npt.NDArray[np.bool_]:
    """Return whether all forms of scores have the same values, and those of the line; NaN is like NaN.

    Parameters
    ----------
    values : float64[n_forms, n]
    expected : float64[n]

    Returns
    -------
    bool[n]
    """
    # The sums of the line and of the evaluator differ in the last bits.
    near = np.abs(values[0] - expected) <= ROUNDING * np.maximum(1.0, np.abs(expected))
    agreeing: npt.NDArray[np.bool_] = (values == values[0]).all(axis=0) & near | np.isnan(values[0])
    return agreeing


def exceeds(values: npt.ArrayLike, others: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Return whether values are higher than others by more than rounding."""
    higher: npt.NDArray[np.bool_] = np.subtract(values, others) > ROUNDING * np.maximum(1.0, np.abs(others))
    return higher
