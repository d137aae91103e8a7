"""Rounding of scores to a number of digits after the decimal point, or to a number of significant digits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Self

from tieaware.checks.arguments import whole_number
from tieaware.checks.arrays import Offsets, Scores
from tieaware.kernels import _coarsening
from tieaware.precision.coarsening import NamedCoarsening, whole_number_for

_MOST_DIGITS = 300
# Rounding to this number of significant digits changes no double.
_ENOUGH_DIGITS = 17


@dataclass(frozen=True)
class Decimals(NamedCoarsening):
    """Round scores to a number of digits after the decimal point.

    The result is the double nearest to the decimal number nearest to the score.

    Parameters
    ----------
    digits : int
        The number of digits, 0 … 300.

    Raises
    ------
    InputError
        If the number of digits is out of range.

    Examples
    --------
    >>> import tieaware
    >>> tieaware.Evaluator([0, 1], ["RR"], precision="decimals:1")([0.52, 0.49])
    array([[0.75]])
    """

    digits: int

    names: ClassVar[tuple[str, ...]] = ("decimals",)
    number = "N"
    example = "decimals:2"

    def __post_init__(self) -> None:
        whole_number("decimals", self.digits, 0, _MOST_DIGITS)

    @classmethod
    def from_number(cls, number: str | None) -> Self:
        """Return the coarsening for the number of digits after the colon, such as '3' in 'decimals:3'."""
        return cls(whole_number_for(cls, number))

    def __str__(self) -> str:
        return f"decimals:{self.digits}"

    @property
    def rung(self) -> tuple[str, float]:
        """The family "decimals"; the fewer digits, the coarser."""
        return "decimals", -self.digits

    def coarsen(self, scores: Scores, offsets: Offsets) -> Scores:
        """Round each score as Python's ``round(x, digits)`` does."""
        return self.kernel().coarsen(scores, offsets)

    def kernel(self) -> _coarsening.KernelCoarsening:
        """Return the kernel that rounds to this number of decimals."""
        return _kernel("decimals", self.digits)


@dataclass(frozen=True)
class Significant(NamedCoarsening):
    """Round scores to a number of significant decimal digits. With 17 digits, no two doubles become equal.

    Parameters
    ----------
    digits : int
        The number of digits, 1 … 300.

    Raises
    ------
    InputError
        If the number of digits is out of range.

    Examples
    --------
    >>> import tieaware
    >>> tieaware.Evaluator([0, 1], ["RR"], precision="significant:1")([12.0, 11.0])
    array([[0.75]])
    """

    digits: int

    names: ClassVar[tuple[str, ...]] = ("significant",)
    number = "N"
    example = "significant:3"

    def __post_init__(self) -> None:
        whole_number("significant", self.digits, 1, _MOST_DIGITS)

    @classmethod
    def from_number(cls, number: str | None) -> Self:
        """Return the coarsening for the number of digits after the colon, such as '3' in 'significant:3'."""
        return cls(whole_number_for(cls, number))

    def __str__(self) -> str:
        return f"significant:{self.digits}"

    @property
    def rung(self) -> tuple[str, float]:
        """The family "significant"; the fewer digits, the coarser."""
        return "significant", -self.digits

    def coarsen(self, scores: Scores, offsets: Offsets) -> Scores:
        """Round each score in decimal notation. With 17 digits or more, return the scores unchanged."""
        kernel = self.kernel()
        return scores if kernel is None else kernel.coarsen(scores, offsets)

    def kernel(self) -> _coarsening.KernelCoarsening | None:
        """Return the kernel that rounds to this number of digits; None if the scores stay unchanged."""
        return None if self.digits >= _ENOUGH_DIGITS else _kernel("significant", self.digits)


@cache
def _kernel(name: str, digits: int) -> _coarsening.KernelCoarsening:
    return _coarsening.KernelCoarsening(name, digits)
