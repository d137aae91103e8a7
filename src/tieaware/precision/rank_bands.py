"""Bands: contiguous ranks of a list that are treated as tied."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from numbers import Number
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from tieaware.checks.arguments import shown, unexpected, whole_number
from tieaware.checks.arrays import Integers, Offsets, Scores
from tieaware.errors import InputError
from tieaware.kernels import _coarsening
from tieaware.precision.coarsening import NamedCoarsening

if TYPE_CHECKING:
    from fractions import Fraction

_DEEPEST = 2**31 - 1
# Kernels are kept for lists up to this length. For longer lists, there may be too many bands to keep.
_KEPT_LENGTH = 2**16
_GREATEST_RHO = 2**62
_LONGEST_RHO = 100
_LONG_EXPONENT = re.compile(r"[eE][+-]?[\d_]{4}")


def _exact_growth(rho: str | float | Fraction) -> Fraction:
    """Return a growth factor as an exact fraction; a float stands for the decimal number that Python prints for it."""
    # Import fractions only when needed, because this would lengthen the import of tieaware by a tenth.
    from fractions import Fraction

    wanted = f"a number from 1 to 2^62 of at most {_LONGEST_RHO} digits, such as '1.5'"
    if isinstance(rho, bool) or not isinstance(rho, str | Number):
        raise unexpected("rho", wanted, shown(rho))
    try:
        written = rho if isinstance(rho, int | Fraction) else repr(float(rho)) if isinstance(rho, float) else str(rho)
        if isinstance(written, str):
            # As a fraction, 1e100000000 would have a hundred million digits.
            is_too_long = len(written) > _LONGEST_RHO or _LONG_EXPONENT.search(written)
            # Numbers in files have no underscores and no digits of other scripts.
            if is_too_long or "_" in written or not written.isascii():
                raise ValueError
        exact = Fraction(written)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        raise unexpected("rho", wanted, shown(rho)) from None
    if not 1 <= exact <= _GREATEST_RHO or exact.denominator.bit_length() > 4 * _LONGEST_RHO:
        raise unexpected("rho", wanted, shown(rho))
    return exact


def bands(rho: str | float | Fraction, depth: int) -> Integers:
    """Return the first rank of each band of a ranking: b_1 = 1, b_{g+1} = ⌈rho b_g⌉.

    Parameters
    ----------
    rho : str, Fraction, int or float
        The growth factor, at least 1. It is read as the exact number that is written, because ``ceil(1.1 * b)`` in
        doubles is wrong for 54 of the ranks b up to 1000. With 1, each rank is a band of its own.
    depth : int
        The number of ranks.

    Returns
    -------
    int64[n_bands]
        The first rank, from 1, of each band that begins within the depth.

    Raises
    ------
    InputError
        If rho is not a number of at least 1, or if the depth is negative.

    Examples
    --------
    >>> bands("1.5", 20)
    array([ 1,  2,  3,  5,  8, 12, 18])
    >>> bands(2, 20)
    array([ 1,  2,  4,  8, 16])
    """
    growth = _exact_growth(rho)
    depth = whole_number("depth", depth, 0, _DEEPEST)
    numerator, denominator = growth.numerator, growth.denominator
    # Up to this rank, ⌈rho b⌉ is b + 1, so each band is a single rank.
    single = depth if growth == 1 else min(depth, math.ceil(1 / (growth - 1)))
    starts = np.arange(1, single + 1, dtype=np.int64)
    later = []
    b = -(-numerator * single // denominator) if growth > 1 and single else depth + 1
    while b <= depth:
        later.append(b)
        b = -(-numerator * b // denominator)
    return np.concatenate((starts, np.array(later, dtype=np.int64)))


@dataclass(frozen=True)
class Bands(NamedCoarsening):
    """Treat all ranks of one band as tied, regardless of scores. Documents with equal scores keep the order of the run.

    Parameters
    ----------
    rho : str, Fraction, int or float
        The growth factor of the bands, at least 1, read exactly; see `bands`.

    Raises
    ------
    InputError
        If rho is not a number of at least 1.

    Examples
    --------
    >>> import tieaware
    >>> tieaware.Evaluator([0, 1, 0], ["RR"], precision="bands:2")([3.0, 2.0, 1.0])
    array([[0.41666667]])
    """

    rho: Fraction

    names: ClassVar[tuple[str, ...]] = ("bands",)
    number = "RHO"
    example = "bands:1.5"
    whole_list = True
    rounds = False
    groups_ranks = True

    def __init__(self, rho: str | float | Fraction) -> None:
        object.__setattr__(self, "rho", _exact_growth(rho))

    @classmethod
    def from_number(cls, number: str | None) -> Self:
        """Return the bands for the growth factor after the colon, such as '1.5' in 'bands:1.5'."""
        if number is None:
            raise InputError("precision", f"bands needs a growth factor, as in {cls.example}")
        return cls(number)

    def __str__(self) -> str:
        return f"bands:{_written(self.rho)}"

    @property
    def rung(self) -> tuple[str, float]:
        """The family "bands"; the greater the growth factor, the coarser."""
        return "bands", float(self.rho)

    def starts(self, depth: int) -> Integers:
        """Return the first rank of each band; parameters and errors as for `bands`.

        Examples
        --------
        >>> Bands(2).starts(10)
        array([1, 2, 4, 8])
        """
        return bands(self.rho, depth)

    @property
    def safe_depth(self) -> int | None:
        """The rank down to which no two documents share a band: a measure that looks no deeper keeps its value.

        It is ⌊1 / (rho - 1)⌋, and None for a rho of 1, with which each rank is a band of its own.

        Examples
        --------
        >>> Bands("1.1").safe_depth, Bands("1.5").safe_depth, Bands(2).safe_depth, Bands(3).safe_depth
        (10, 2, 1, 0)
        """
        return None if self.rho == 1 else math.floor(1 / (self.rho - 1))

    def coarsen(self, scores: Scores, offsets: Offsets) -> Scores:
        """Give each document of band g the score 1/g. Documents with equal scores keep their order in the array.

        Examples
        --------
        >>> Bands(2).coarsen(np.array([9.0, 8.0, 7.0, 6.0]), np.array([0, 4]))
        array([1.        , 0.5       , 0.5       , 0.33333333])
        """
        longest = int(np.diff(offsets).max(initial=0))
        kernel = self.kernel()
        if longest > kernel.longest:
            kernel = _coarsening.KernelCoarsening("bands", longest, self.starts(longest))
        return kernel.coarsen(scores, offsets)

    def kernel(self) -> _coarsening.KernelCoarsening:
        """Return the kernel that ranks the documents of lists up to a length of 65,536."""
        return _kernel(self)


@lru_cache(maxsize=32)
def _written(rho: Fraction) -> str:
    """Return a growth factor as a decimal number if that is exact, otherwise as a fraction."""
    decimal = f"{float(rho)!r}"
    return decimal.removesuffix(".0") if _exact_growth(decimal) == rho else str(rho)


@lru_cache(maxsize=32)
def _kernel(precision: Bands) -> _coarsening.KernelCoarsening:
    return _coarsening.KernelCoarsening("bands", _KEPT_LENGTH, precision.starts(_KEPT_LENGTH))
