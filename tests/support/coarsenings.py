"""Readable twins of the kernels that coarsen scores: each rounds float64 scores in NumPy and plain Python."""

from __future__ import annotations

import numpy as np

from tieaware.checks.arrays import Scores, Values


def float32(scores: Values) -> Scores:
    with np.errstate(over="ignore", under="ignore"):
        return scores.astype(np.float32)


def float16(scores: Values) -> Scores:
    with np.errstate(over="ignore", under="ignore"):
        return scores.astype(np.float16).astype(np.float32)


def bfloat16(scores: Values) -> Scores:
    wide = np.abs(scores)
    with np.errstate(over="ignore", under="ignore"):
        single = wide.astype(np.float32)
    bits = single.view(np.uint32)
    # Truncate to float32, and set the last bit of each number that lost bits (a sticky bit). A score just above or
    # below the midpoint of two bfloat16 numbers then cannot look like the midpoint, so rounding again is exact.
    bits -= single > wide
    bits |= single != wide
    bits += np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    bits &= np.uint32(0xFFFF0000)
    return np.copysign(single, scores).astype(np.float32)


def decimals(scores: Values, digits: int) -> Values:
    return np.array([x if np.isinf(x) else round(x, digits) for x in scores.tolist()], dtype=np.float64)


def significant(scores: Values, digits: int) -> Values:
    return np.array([float(f"{x:.{digits - 1}e}") for x in scores.tolist()], dtype=np.float64)


def levels(scores: Values, n: int) -> Values:
    """Coarsen the scores of one list."""
    coarse = scores.copy()
    finite = np.isfinite(coarse)
    if finite.any():
        # Halve the scores, so that the difference between two finite scores cannot overflow.
        halves = coarse[finite] / 2.0
        low, high = halves.min(), halves.max()
        share = (halves - low) / (high - low) if high > low else np.zeros(len(halves))
        # Adding 0 makes the negative zero of the lowest level positive.
        coarse[finite] = np.minimum(np.floor(share * n), n - 1) + 0.0
    return coarse
