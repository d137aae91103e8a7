"""Moments of measures of one positive among sampled negatives, from its place among all of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Integers, Values, as_array
from tieaware.errors import InputError
from tieaware.kernels import _sampled

# The most negatives, in all and in a sample: products of two such numbers stay within 64 bits.
MOST_NEGATIVES = 2**31 - 1


def sampled_moments(
    above: npt.ArrayLike, tied: npt.ArrayLike, negatives: npt.ArrayLike, values: Values, replacement: bool
) -> tuple[Values, Values]:
    """Return the mean and the variance of each measure for each positive, over all samples and orders of ties.

    Parameters
    ----------
    above, tied, negatives : int or int64[n]
        For each positive, the number of negatives with a higher score, with the same score, and of all.
    values : float64[n_measures, m + 1]
        The value of each measure if the positive has rank 1, 2 … m + 1 among m sampled negatives.
    replacement : bool
        Whether the same negative may be drawn more than once.

    Returns
    -------
    float64[n, n_measures], float64[n, n_measures]

    Raises
    ------
    InputError
        If numbers are not whole or out of range, or their lengths differ; if m negatives cannot be drawn; or if a group
        of ties is too large for samples with replacement.
    """
    m = values.shape[1] - 1
    given = (_whole_numbers(above, "above"), _whole_numbers(tied, "tied"), _whole_numbers(negatives, "negatives"))
    try:
        g, t, n = (np.ascontiguousarray(each) for each in np.broadcast_arrays(*given))
    except ValueError:
        shapes = ", ".join(str(each.shape) for each in given)
        raise InputError("above, tied, negatives", f"must have the same length; their shapes are {shapes}") from None
    if (wrong := np.flatnonzero(g + t > n)).size:
        i = wrong[0]
        problem = f"positive {i} has {g[i]} negatives above it and {t[i]} tied, but only {n[i]} in all"
        raise InputError("above, tied, negatives", problem)
    if (few := np.flatnonzero(n < (min(m, 1) if replacement else m))).size:
        raise InputError("sample", f"{m} negatives cannot be drawn from the {n[few[0]]} of positive {few[0]}")
    mean, variance, refused = _sampled.moments(g, t, np.maximum(n, 1), m, values, replacement)
    if refused >= 0:
        problem = f"the {t[refused]} ties of positive {refused} take too long with replacement; use replacement=False"
        raise InputError("tied", problem)
    return mean, variance


def _whole_numbers(given: npt.ArrayLike, name: str) -> Integers:
    """Check counts of negatives, and return them as int64[n]; n is 1 for a single number."""
    # A copy: another thread must not change the counts between the checks and the kernel.
    array = np.array(as_array(given, name), ndmin=1)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise unexpected(name, "whole numbers, one for each positive", f"{array.dtype} of shape {array.shape}")
    if array.size and not 0 <= array.min() <= array.max() <= MOST_NEGATIVES:
        raise unexpected(name, f"numbers from 0 to {MOST_NEGATIVES}", f"{array.min()} to {array.max()}")
    return array.astype(np.int64)
