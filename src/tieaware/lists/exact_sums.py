"""Sums of real gains that do not depend on the order of adding: gains are split into digits, whose sums are exact."""

from __future__ import annotations

import numpy as np

from tieaware.checks.arrays import Integers, Values
from tieaware.kernels import _labels

# A float64 has this many bits.
_BITS = 53


def digits_of(gains: tuple[Values, ...], n_terms: int) -> Values:
    """Split gains into digits: float64[n_digits, n], whose columns add up to the gains.

    A digit is a multiple of a unit, and so small that float64 holds the sum of `n_terms` digits of one row exactly.
    Whole numbers, and numbers such as 0.5, usually have one digit, others two.

    The gains are the sums of one or two arrays, float64[n]; the first is not negative, and the second much smaller.
    `n_terms` is the most gains that are ever added up, below 2^40.
    """
    bits = _BITS - len(gains) - max(int(n_terms), 1).bit_length()
    unit = int(np.frexp(gains[0].max(initial=0.0))[1]) - bits
    digits, rests = [], gains
    while any(rest.any() for rest in rests):
        # Every float64 is a multiple of 2^-1074.
        unit = max(unit, -1074)
        parts = [np.ldexp(np.trunc(np.ldexp(rest, -unit)), unit) for rest in rests]
        digits.append(np.sum(parts, axis=0))
        rests = tuple(rest - part for rest, part in zip(rests, parts, strict=True))
        unit -= bits
    return np.stack(digits) if digits else gains[0][None]


def exact_squares(gains: Values) -> tuple[Values, Values]:
    """Return the squares as two arrays that add up to them exactly (Dekker, 1971), for gains from 2^-480 to 2^500."""
    scaled = 134217729.0 * gains
    high = scaled - (scaled - gains)
    low = gains - high
    squares = gains * gains
    return squares, ((high * high - squares) + 2.0 * (high * low)) + low * low


def cumulative_sums(gains: Values, starts: Integers) -> Values:
    """Return the cumulative sums of each list's gains, rounded once; `starts` is where the list of each gain starts."""
    parts = digits_of((gains,), len(gains))
    running = np.concatenate((np.zeros((len(parts), 1)), np.cumsum(parts, axis=1)), axis=1)
    sums: Values = _labels.rounded_sums(np.ascontiguousarray(running[:, 1:] - running[:, starts]))
    return sums
