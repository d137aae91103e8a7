"""Noise of scores: each score is known up to an independent random number of mean or mode 0."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from decimal import Decimal, localcontext
from functools import cache, lru_cache
from math import ceil, factorial, floor, fsum, log

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Values, as_scores, element
from tieaware.kernels._noise import KernelNoise

# The sizes of noise that are possible, besides 0.
_LEAST, _MOST = 2.0**-500, 2.0**500
# The number of cells of a table per size of the noise, and the number of coefficients in each cell.
_PER_SIZE, _N_TERMS = 16, 8
# Ends of windows are rounded outwards to this share of the size, so that they are the same on every machine.
_ROUNDED = 64
# The number of decimal digits of intermediate results, √(2π), and the largest term that a sum leaves out.
_DIGITS = 36
_ROOT = Decimal("2.50662827463100050241576528481104525301")
_HALF, _NEGLIGIBLE = Decimal("0.5"), Decimal("1e-20")

# A function that returns the first terms of the Taylor series of a function at a place.
_Series = Callable[[Decimal], list[float]]


@dataclass(frozen=True, eq=False)
class Noise(ABC):
    """Independent noise on each score. The field of a subclass is the size of the noise.

    Raises
    ------
    InputError
        If a size is neither 0 nor a number from 2^-500 to 2^500.
    """

    def __post_init__(self) -> None:
        name = fields(self)[0].name
        sizes = np.array(as_scores(getattr(self, name), name), np.float64)
        wrong = np.flatnonzero(~((sizes == 0) | ((sizes >= _LEAST) & (sizes <= _MOST))))
        if len(wrong):
            found = f"{sizes.reshape(-1)[wrong[0]]:g}"
            where = element(name, sizes.shape, int(wrong[0]))
            raise unexpected(where, "0, or a number from 2^-500 to 2^500", found, name)
        sizes.setflags(write=False)
        object.__setattr__(self, name, sizes if sizes.ndim else float(sizes))

    @property
    def sizes(self) -> Values:
        """The size of the noise: one number, or one for each document."""
        return np.asarray(getattr(self, fields(self)[0].name))

    @staticmethod
    @abstractmethod
    def _kernel() -> KernelNoise:
        """Return the distribution of the noise of size 1, in the form that the kernel uses."""

    @staticmethod
    @abstractmethod
    def _ends(tail: float) -> tuple[float, float]:
        """Return two ends in sizes of the noise; a document is beyond either with the probability `tail` at most."""


@dataclass(frozen=True, eq=False)
class Gaussian(Noise):
    """Normal noise: the errors of measurements, or of means over several opinions of a grader.

    Parameters
    ----------
    sigma : float, or real numbers in a shape of the scores
        The standard deviation, of all scores or of each.

    Raises
    ------
    InputError
        If a number is neither 0 nor from 2^-500 to 2^500.

    Examples
    --------
    The second document is relevant. It is above the first with the probability Φ(-1/√2) = 0.2398.

    >>> import tieaware
    >>> tieaware.Evaluator([0, 1], "P@1").under_noise([2.0, 1.0], tieaware.precision.Gaussian(1)).round(4)
    array([[0.2398]])
    """

    sigma: npt.ArrayLike

    @staticmethod
    @cache
    def _kernel() -> KernelNoise:
        """Return the table of 1 - Φ from -8.75 to 8.75."""
        return _table(_of_normal, -35, 35, 0.8)

    @staticmethod
    @lru_cache
    def _ends(tail: float) -> tuple[float, float]:
        """Return a symmetric window of at most 8.75 standard deviations."""
        # Import only here: the module takes longer than the rest of this package.
        from statistics import NormalDist

        end = min(ceil(-NormalDist().inv_cdf(tail) * _ROUNDED) / _ROUNDED, 8.75)
        return -end, end


@dataclass(frozen=True, eq=False)
class Gumbel(Noise):
    """Gumbel noise: the order of the documents is that of a Plackett-Luce model, or policy.

    The document at rank 1 is i with a probability proportional to exp(score_i / scale), that at rank 2 is drawn from
    the others in the same way, and so on (Plackett, R. L. 1975; Yellott, J. I. 1977).

    Parameters
    ----------
    scale : float, or real numbers in a shape of the scores
        The scale, called temperature or τ, of all scores or of each.

    Raises
    ------
    InputError
        As for `Gaussian`.

    Examples
    --------
    The second document is relevant; it is the first one with the probability 1/(1 + e) = 0.2689.

    >>> import tieaware
    >>> tieaware.Evaluator([0, 1], "P@1").under_noise([2.0, 1.0], tieaware.precision.Gumbel(1)).round(4)
    array([[0.2689]])
    """

    scale: npt.ArrayLike

    @staticmethod
    @cache
    def _kernel() -> KernelNoise:
        """Return the table of 1 - exp(-exp(-z)) from -3.75 to 42."""
        return _table(_of_extremes, -15, 168, 0.6)

    @staticmethod
    @lru_cache
    def _ends(tail: float) -> tuple[float, float]:
        """Return a window that is much longer above the score, where the density falls only exponentially."""
        high = -log(tail)
        return floor(-log(high) * _ROUNDED) / _ROUNDED, min(ceil(high * _ROUNDED) / _ROUNDED, 42.0)


@dataclass(frozen=True, eq=False)
class Uniform(Noise):
    """Uniform noise: a score lies anywhere in an interval, as after rounding.

    Parameters
    ----------
    half_width : float, or real numbers in a shape of the scores
        Half the width of the interval around each score, of all scores or of each.

    Raises
    ------
    InputError
        As for `Gaussian`.

    Examples
    --------
    The second document is relevant; the two intervals share a half of each.

    >>> import tieaware
    >>> tieaware.Evaluator([0, 1], "P@1").under_noise([2.0, 1.0], tieaware.precision.Uniform(1))
    array([[0.125]])
    """

    half_width: npt.ArrayLike

    @staticmethod
    @cache
    def _kernel() -> KernelNoise:
        """Return the only cell, from -1 to 1, and the one after it."""
        return KernelNoise(np.array([[0.5, -1.0] + [0.0] * (_N_TERMS - 2), [0.0] * _N_TERMS]), -1.0, 2.0, 0.0)

    @staticmethod
    @lru_cache
    def _ends(tail: float) -> tuple[float, float]:
        """Return the interval, beyond which the score never is."""
        return -1.0, 1.0


def _table(series: _Series, first: int, last: int, step: float) -> KernelNoise:
    """Return the table of a function by its Taylor series at the middle of each cell, from first/4 to last/4.

    Functions are computed in decimal arithmetic, which gives the same digits everywhere.
    """
    with localcontext() as context:
        context.prec = _DIGITS
        cells = range(first * _PER_SIZE // 4, last * _PER_SIZE // 4 + 1)
        rows = np.array([series(Decimal(2 * i + 1) / (2 * _PER_SIZE)) for i in cells])
    return KernelNoise(rows / float(_PER_SIZE) ** np.arange(_N_TERMS), first / 4, 1 / _PER_SIZE, step)


def _of_normal(place: Decimal) -> list[float]:
    """Return the first terms of the Taylor series of 1 - Φ at z: Φ(z) = 1/2 + φ(z) (z + z³/3 + z⁵/15 + …)."""
    square = place * place
    density = (-square / 2).exp() / _ROOT
    term, total, i = place, place, 3
    while abs(term) > _NEGLIGIBLE:
        term = term * square / i
        total, i = total + term, i + 2
    # The n-th derivative of φ is (-1)^n He_n φ, with He_n = z He_{n-1} - (n-1) He_{n-2}.
    z = float(place)
    hermite = [1.0, z]
    for n in range(2, _N_TERMS - 1):
        hermite.append(z * hermite[-1] - (n - 1) * hermite[-2])
    derivatives = [-float(density) * (-1) ** n * each for n, each in enumerate(hermite)]
    return [float(_HALF - density * total)] + [each / factorial(n) for n, each in enumerate(derivatives, 1)]


def _of_extremes(place: Decimal) -> list[float]:
    """Return the first terms of the Taylor series of 1 - exp(h), h = -exp(-z), at z: n e_n = Σ_k k h_k e_{n-k}."""
    exponent = -(-place).exp()
    value = exponent.exp()
    h = [float(exponent) * (-1) ** k / factorial(k) for k in range(_N_TERMS)]
    e = [float(value)]
    for n in range(1, _N_TERMS):
        terms = [k * h[k] * e[n - k] for k in range(1, n + 1)]
        e.append(fsum(terms) / n)
    return [float(1 - value)] + [-each for each in e[1:]]
