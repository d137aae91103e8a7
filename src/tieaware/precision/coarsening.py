"""The coarsenings, and their notation."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import pairwise
from numbers import Number
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from tieaware.checks.arguments import did_you_mean, shown, unexpected, whole_number
from tieaware.checks.arrays import Integers, Offsets, Scores

if TYPE_CHECKING:
    from fractions import Fraction


@runtime_checkable
class Coarsening(Protocol):
    """What coarsens scores. Its ``str()`` is the text that `parse_precision` reads."""

    def coarsen(self, scores: Scores, offsets: Offsets) -> Scores:
        """Coarsen the scores of some lists.

        Parameters
        ----------
        scores : float64[n_docs] or float32[n_docs]
            Without NaN.
        offsets : int64[n_lists + 1]
            Of the lists.

        Returns
        -------
        float64[n_docs] or float32[n_docs]
            Infinities stay; what is too large for a format becomes infinite.
        """


# Of a list; and of a growth factor, as a number and in digits.
_DEEPEST = 2**31 - 1
_GREATEST_RATIO = 2**62
_LONGEST_RATIO = 100
_LONG_EXPONENT = re.compile(r"[eE][+-]?[\d_]{4}")


def _is_too_long(number: str) -> bool:
    return len(number) > _LONGEST_RATIO or _LONG_EXPONENT.search(number) is not None


def _ratio(rho: str | float | Fraction) -> Fraction:
    """Read a growth factor exactly: a float stands for the decimal number that it is written as."""
    # Here, because to import it costs a tenth of the whole package.
    from fractions import Fraction

    wanted = f"a number from 1 to 2^62 of at most {_LONGEST_RATIO} digits, such as '1.5'"
    if isinstance(rho, bool) or not isinstance(rho, str | Number):
        raise unexpected("rho", wanted, shown(rho))
    try:
        written = rho if isinstance(rho, int | Fraction) else repr(float(rho)) if isinstance(rho, float) else str(rho)
        # As a fraction, 1e100000000 would have as many digits.
        if isinstance(written, str) and _is_too_long(written):
            raise ValueError
        exact = Fraction(written)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        raise unexpected("rho", wanted, shown(rho)) from None
    if not 1 <= exact <= _GREATEST_RATIO or exact.denominator.bit_length() > 4 * _LONGEST_RATIO:
        raise unexpected("rho", wanted, shown(rho))
    return exact


def bands(rho: str | float | Fraction, depth: int) -> Integers:
    """Return where the bands of a ranking begin: b_1 = 1, b_{g+1} = ⌈rho b_g⌉.

    Parameters
    ----------
    rho : str, Fraction, int or float
        The growth factor, at least 1, taken as the rational number that it is written as: in doubles ``ceil(1.1 * b)``
        is wrong for 54 of the b up to 1000. With 1 each rank is a band of its own.
    depth : int
        The number of ranks.

    Returns
    -------
    int64[n_bands]
        The first rank of each band that begins within the depth, from 1.

    Raises
    ------
    InputError
        If rho is no number of at least 1, or the depth is negative.

    Examples
    --------
    >>> bands("1.5", 20)
    array([ 1,  2,  3,  5,  8, 12, 18])
    >>> bands(2, 20)
    array([ 1,  2,  4,  8, 16])
    """
    growth = _ratio(rho)
    depth = whole_number("depth", depth, 0, _DEEPEST)
    numerator, denominator = growth.numerator, growth.denominator
    # Up to this rank, ⌈rho b⌉ is b + 1.
    single = depth if growth == 1 else min(depth, math.ceil(1 / (growth - 1)))
    starts = np.arange(1, single + 1, dtype=np.int64)
    later = []
    b = -(-numerator * single // denominator) if growth > 1 and single else depth + 1
    while b <= depth:
        later.append(b)
        b = -(-numerator * b // denominator)
    return np.concatenate((starts, np.array(later, dtype=np.int64)))


@dataclass(frozen=True)
class Bands:
    """The ranks of one band are equal, whatever their scores; the ranks are those of the run order.

    Parameters
    ----------
    rho : str, Fraction, int or float
        The growth of the bands, at least 1, read exactly; see `bands`.

    Raises
    ------
    InputError
        If rho is no number of at least 1.

    Examples
    --------
    >>> import tieaware
    >>> tieaware.Evaluator([0, 1, 0], ["RR"], precision="bands:2")([3.0, 2.0, 1.0])
    array([[0.41666667]])
    """

    rho: Fraction
    whole_list = groups_ranks = True

    def __init__(self, rho: str | float | Fraction) -> None:
        object.__setattr__(self, "rho", _ratio(rho))

    def __str__(self) -> str:
        decimal = f"{float(self.rho)!r}"
        exact = decimal.removesuffix(".0") if _ratio(decimal) == self.rho else str(self.rho)
        return f"bands:{exact}"

    def starts(self, depth: int) -> Integers:
        """Return the first rank of each band.

        Parameters
        ----------
        depth : int
            The number of ranks, at least 0.

        Returns
        -------
        int64[n_bands]
            The first rank of each band that begins within the depth, from 1.

        Raises
        ------
        InputError
            If the depth is negative.

        Examples
        --------
        >>> Bands(2).starts(10)
        array([1, 2, 4, 8])
        """
        return bands(self.rho, depth)

    def coarsen(self, scores: Scores, offsets: Offsets) -> Scores:
        """Give the documents of band g the score 1/g; those with equal scores are taken as they come.

        Parameters
        ----------
        scores : float64[n_docs] or float32[n_docs]
            Without NaN.
        offsets : int64[n_lists + 1]
            Of the lists.

        Returns
        -------
        float64[n_docs]
            Above 0, at most 1.

        Examples
        --------
        >>> Bands(2).coarsen(np.array([9.0, 8.0, 7.0, 6.0]), np.array([0, 4]))
        array([1.        , 0.5       , 0.5       , 0.33333333])
        """
        sizes = np.diff(offsets)
        query = np.repeat(np.arange(len(sizes)), sizes)
        order = np.lexsort((np.arange(len(scores)), -scores, query))
        rank = np.empty(len(scores), dtype=np.int64)
        rank[order] = np.arange(len(scores)) - np.repeat(offsets[:-1], sizes) + 1
        band = np.searchsorted(self.starts(int(sizes.max(initial=0))), rank, side="right")
        coarse: Scores = 1.0 / band
        return coarse


@dataclass(frozen=True)
class Decimals:
    """Scores of so many digits after the decimal point: the double nearest to the decimal nearest to the score.

    Parameters
    ----------
    digits : int
        How many, 0 … 300.

    Raises
    ------
    InputError
        If there are not so many digits.

    Examples
    --------
    >>> import tieaware
    >>> tieaware.Evaluator([0, 1], ["RR"], precision="decimals:1")([0.52, 0.49])
    array([[0.75]])
    """

    digits: int

    def __post_init__(self) -> None:
        whole_number("decimals", self.digits, 0, 300)

    def __str__(self) -> str:
        return f"decimals:{self.digits}"

    def coarsen(self, scores: Scores, offsets: Offsets) -> Scores:
        """Round as Python's round(x, digits) does.

        Parameters
        ----------
        scores : float64[n_docs] or float32[n_docs]
            Without NaN.
        offsets : int64[n_lists + 1]
            Of the lists.

        Returns
        -------
        float64[n_docs]
            Infinities stay.

        Examples
        --------
        >>> Decimals(1).coarsen(np.array([0.52, 0.49]), np.array([0, 2]))
        array([0.5, 0.5])
        """
        wide = scores.astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            # Where doubles lie further apart than the decimals, the nearest decimal is nearest to the score itself.
            inexact = np.isfinite(wide) & (np.spacing(np.abs(wide)) < 2.0 * 10.0**-self.digits)
            scaled = wide * 10.0**self.digits
            whole = np.rint(scaled)
            # The product is off by a rounding: the whole number is sure only far from a half.
            from_half = np.abs(np.abs(scaled - whole) - 0.5)
            sure = (np.abs(scaled) < 2.0**50) & (from_half > 2.0**-48 * np.abs(scaled) + 1e-9)
            quick = inexact & sure & (self.digits <= 22)
            wide[quick] = whole[quick] / 10.0**self.digits
        for i in np.flatnonzero(inexact & ~quick):
            wide[i] = round(float(wide[i]), self.digits)
        return wide


@dataclass(frozen=True)
class Significant:
    """Scores of so many significant decimal digits. Seventeen tell all doubles apart.

    Parameters
    ----------
    digits : int
        How many, 1 … 300.

    Raises
    ------
    InputError
        If there are not so many digits.

    Examples
    --------
    >>> import tieaware
    >>> tieaware.Evaluator([0, 1], ["RR"], precision="significant:1")([12.0, 11.0])
    array([[0.75]])
    """

    digits: int

    def __post_init__(self) -> None:
        whole_number("significant", self.digits, 1, 300)

    def __str__(self) -> str:
        return f"significant:{self.digits}"

    def coarsen(self, scores: Scores, offsets: Offsets) -> Scores:
        """Round the decimal notation.

        Parameters
        ----------
        scores : float64[n_docs] or float32[n_docs]
            Without NaN.
        offsets : int64[n_lists + 1]
            Of the lists.

        Returns
        -------
        float64[n_docs] or float32[n_docs]
            The scores as they are, if 17 digits or more are kept; else float64. Infinities stay.

        Examples
        --------
        >>> Significant(2).coarsen(np.array([1234.0, 0.05678]), np.array([0, 2]))
        array([1.2e+03, 5.7e-02])
        """
        if self.digits >= 17:
            return scores
        distinct, place = np.unique(scores.astype(np.float64), return_inverse=True)
        rounded = np.array([float(f"{x:.{self.digits - 1}e}") for x in distinct.tolist()])
        coarse: Scores = rounded[place.reshape(-1)] if len(scores) else scores
        return coarse


@dataclass(frozen=True)
class Float32:
    """Scores in single precision, of 24 significant bits.

    Examples
    --------
    >>> import tieaware
    >>> tieaware.Evaluator([0, 1], ["RR"], precision="float32")([1.0 + 2.0**-30, 1.0])
    array([[0.75]])
    """

    def __str__(self) -> str:
        return "float32"

    def coarsen(self, scores: Scores, offsets: Offsets) -> Scores:
        """Convert.

        Parameters
        ----------
        scores : float64[n_docs] or float32[n_docs]
            Without NaN.
        offsets : int64[n_lists + 1]
            Of the lists.

        Returns
        -------
        float32[n_docs]
            What is too large becomes infinite.

        Examples
        --------
        >>> Float32().coarsen(np.array([1.0 + 2.0**-30, 1e40]), np.array([0, 2]))
        array([ 1., inf], dtype=float32)
        """
        with np.errstate(over="ignore", under="ignore"):
            return scores.astype(np.float32)


@dataclass(frozen=True)
class Float16:
    """Scores in half precision, of 11 significant bits; what exceeds 65,504 by half a step becomes infinite.

    Examples
    --------
    >>> import tieaware
    >>> tieaware.Evaluator([0, 1], ["RR"], precision="float16")([1.0001, 1.0])
    array([[0.75]])
    """

    def __str__(self) -> str:
        return "float16"

    def coarsen(self, scores: Scores, offsets: Offsets) -> Scores:
        """Convert there and back.

        Parameters
        ----------
        scores : float64[n_docs] or float32[n_docs]
            Without NaN.
        offsets : int64[n_lists + 1]
            Of the lists.

        Returns
        -------
        float32[n_docs]
            What is too large becomes infinite.

        Examples
        --------
        >>> Float16().coarsen(np.array([1.0001, 70000.0]), np.array([0, 2]))
        array([ 1., inf], dtype=float32)
        """
        with np.errstate(over="ignore", under="ignore"):
            return scores.astype(np.float16).astype(np.float32)


@dataclass(frozen=True)
class BFloat16:
    """Scores with the range of single precision and eight significant bits.

    Examples
    --------
    >>> import tieaware
    >>> tieaware.Evaluator([0, 1], ["RR"], precision="bfloat16")([1.001, 1.0])
    array([[0.75]])
    """

    def __str__(self) -> str:
        return "bfloat16"

    def coarsen(self, scores: Scores, offsets: Offsets) -> Scores:
        """Round once: by way of single precision with a sticky last bit.

        Parameters
        ----------
        scores : float64[n_docs] or float32[n_docs]
            Without NaN.
        offsets : int64[n_lists + 1]
            Of the lists.

        Returns
        -------
        float32[n_docs]
            What is too large becomes infinite.

        Examples
        --------
        >>> BFloat16().coarsen(np.array([1.001, 1.01]), np.array([0, 2]))
        array([1.       , 1.0078125], dtype=float32)
        """
        wide = np.abs(scores.astype(np.float64))
        with np.errstate(over="ignore", under="ignore"):
            single = wide.astype(np.float32)
        bits = single.view(np.uint32)
        bits -= single > wide  # toward zero
        bits |= single != wide  # and odd where anything was cut off
        bits += np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
        bits &= np.uint32(0xFFFF0000)
        return np.copysign(single, scores).astype(np.float32)


@dataclass(frozen=True)
class Levels:
    """Scores in so many equal steps between the lowest and the highest finite score of each list.

    Parameters
    ----------
    n : int
        How many steps, 1 … 2^53.

    Raises
    ------
    InputError
        If there are not so many steps.

    Examples
    --------
    >>> import tieaware
    >>> tieaware.Evaluator([0, 1, 0], ["RR"], precision="levels:2")([0.9, 0.8, 0.1])
    array([[0.75]])
    """

    n: int
    whole_list = True

    def __post_init__(self) -> None:
        whole_number("levels", self.n, 1, 2**53)

    def __str__(self) -> str:
        return f"levels:{self.n}"

    def coarsen(self, scores: Scores, offsets: Offsets) -> Scores:
        """Number the step that each score lies in, from 0.

        Parameters
        ----------
        scores : float64[n_docs] or float32[n_docs]
            Without NaN.
        offsets : int64[n_lists + 1]
            Of the lists.

        Returns
        -------
        float64[n_docs]
            Whole numbers below n, of lists apart; infinities stay.

        Examples
        --------
        >>> Levels(2).coarsen(np.array([0.9, 0.8, 0.1, 7.0]), np.array([0, 3, 4]))
        array([1., 1., 0., 0.])
        """
        coarse = scores.astype(np.float64)
        for start, end in pairwise(offsets.tolist()):
            part = coarse[start:end]
            finite = np.isfinite(part)
            if not finite.any():
                continue
            # Halves, so that the range cannot overflow.
            halves = part[finite] / 2.0
            low, high = halves.min(), halves.max()
            share = (halves - low) / (high - low) if high > low else np.zeros(len(halves))
            part[finite] = np.minimum(np.floor(share * self.n), self.n - 1)
        return coarse


_PLAIN: dict[str, type[Float32] | type[Float16] | type[BFloat16]] = {
    "float32": Float32, "fp32": Float32, "f32": Float32,
    "float16": Float16, "fp16": Float16, "f16": Float16,
    "bfloat16": BFloat16, "bf16": BFloat16,
}  # fmt: skip
_WITH_NUMBER: dict[str, type[Decimals] | type[Significant] | type[Levels]] = {
    "decimals": Decimals, "significant": Significant, "levels": Levels,
}  # fmt: skip


def parse_precision(text: str | Coarsening) -> Coarsening:
    """Read a coarsening: "bands:1.5", "decimals:2", "significant:3", "float32", "float16", "bfloat16", "levels:11".

    Parameters
    ----------
    text : str or Coarsening
        A coarsening is returned as it is.

    Returns
    -------
    Coarsening
        Its ``str()`` is read as the same coarsening again.

    Raises
    ------
    InputError
        If there is none of that name (the nearest are named), or its number is out of range.

    Examples
    --------
    >>> str(parse_precision("bf16")), parse_precision("decimals:2")
    ('bfloat16', Decimals(digits=2))
    """
    if not isinstance(text, str):
        if isinstance(text, Coarsening):
            return text
        raise unexpected("precision", "a text such as 'decimals:2', or a coarsening", shown(text))
    name, colon, number = text.strip().partition(":")
    if name == "bands" and colon:
        return Bands(number)
    if name in _PLAIN and not colon:
        return _PLAIN[name]()
    if name in _WITH_NUMBER and number.isdecimal() and len(number) < 18:
        return _WITH_NUMBER[name](int(number))
    if name in _WITH_NUMBER or name == "bands":
        raise unexpected("precision", f"{name} with a number, such as {name}:2", shown(text))
    wanted = "one such as bands:1.5, decimals:2, significant:3, float32, float16, bfloat16 or levels:11"
    known = ["bands", *_PLAIN, *_WITH_NUMBER]
    raise unexpected("precision", wanted, f"{shown(text)}{did_you_mean(name, known)}")
