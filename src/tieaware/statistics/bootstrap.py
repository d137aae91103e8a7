"""Sums over topics that are drawn with replacement: the bootstrap, with the same bits on every machine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.kernels import _resamples

# The most numbers that are drawn at a time, and the most that are kept for other samples; more are drawn anew.
_DRAWN, _KEPT = 2**21, 2**24
# The most sums that are held at a time, unless the draws are not kept.
_SUMS = 2**20


class WholeNumbers(NamedTuple):
    """Samples as whole multiples of a unit, of which n add up to less than 2^53: so sums in any order are exact.

    Attributes
    ----------
    numbers : float64[n_samples, n]
    unit : float64[n_samples, 1]
        A power of two, at most 2^-52 n times the largest magnitude of the sample.
    """

    numbers: Values
    unit: Values


def whole_numbers(samples: Values) -> WholeNumbers:
    """Return the samples, float64[n_samples, n], rounded to multiples of a unit.

    Matrix products add in an order that depends on the processor. If all sums are exact, their bits do not.
    """
    n = samples.shape[1]
    _, exponents = np.frexp(np.abs(samples).max(axis=1, keepdims=True))
    unit = np.ldexp(1.0, np.maximum(exponents + math.ceil(math.log2(n)) - 53, -1000))
    return WholeNumbers(np.rint(samples / unit), unit)


def resampled_sums(numbers: Values, resamples: int, seed: int) -> Iterator[tuple[slice, Values]]:
    """Yield the sums of samples whose topics are drawn with replacement, for some samples at a time.

    Parameters
    ----------
    numbers : float64[n_samples, n]
        All samples are over the same n topics; each resample has the same topics in all samples.
    resamples : int
        How often n topics are drawn.
    seed : int
        The draws are those of ``scipy.stats.bootstrap`` with this seed.

    Yields
    ------
    slice
        Some samples.
    float64[n_some, resamples]
        Their sums, until the next ones are yielded.
    """
    n = numbers.shape[1]
    kept = list(draws(n, resamples, seed)) if n * resamples <= _KEPT else None
    step = min(len(numbers), max(1, (_SUMS if kept else _KEPT) // resamples))
    sums = np.empty((step, resamples))
    for start in range(0, len(numbers), step):
        some = slice(start, min(start + step, len(numbers)))
        at = 0
        for counts in kept or draws(n, resamples, seed):
            np.matmul(numbers[some], counts.T, out=sums[: some.stop - start, at : at + len(counts)])
            at += len(counts)
        yield some, sums[: some.stop - start]


def draws(n: int, resamples: int, seed: int) -> Iterator[Values]:
    """Yield how often each of n topics is in a resample: float64[n_some, n], for some resamples at a time."""
    rng = np.random.default_rng(seed)
    step = max(1, _DRAWN // n)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        counts = np.zeros((size, n))
        _resamples.count_draws(rng.integers(0, n, (size, n)), counts)
        yield counts
