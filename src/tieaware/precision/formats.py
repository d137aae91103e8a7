"""Rounding of scores to numbers of few decimal digits, to binary floating-point formats, or to a few levels.

Floating-point formats round to the nearest number of the format, halfway cases to even, and return float32 scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Self

from tieaware.checks.arguments import whole_number
from tieaware.kernels import _coarsening
from tieaware.precision.coarsening import NamedCoarsening, whole_number_for

_MOST_DIGITS = 300
# Rounding to this number of significant digits changes no double.
_ENOUGH_DIGITS = 17


@lru_cache(maxsize=1024)
def _kernel(name: str, number: int = 0) -> _coarsening.KernelCoarsening:
    return _coarsening.KernelCoarsening(name, number)


class _Numbered(NamedCoarsening):
    """A coarsening whose only field is a whole number, which follows its name; the smaller it is, the coarser.

    Attributes
    ----------
    least, most : int
        The limits of the number.
    """

    number = "N"
    least: ClassVar[int]
    most: ClassVar[int]

    def __post_init__(self) -> None:
        whole_number(self._name, self._n, self.least, self.most)

    @property
    def _name(self) -> str:
        """The name of the class in the notation; a class without one, which a caller derives, has its Python name."""
        return type(self).__name__.lower()

    @property
    def _n(self) -> int:
        """The number."""
        (n,) = vars(self).values()
        return int(n)

    @classmethod
    def from_number(cls, number: str | None) -> Self:
        """Return the coarsening for the number after the colon, such as '3' in 'decimals:3'."""
        return cls(whole_number_for(cls, number))  # type: ignore[call-arg]

    def __str__(self) -> str:
        return f"{self._name}:{self._n}"

    @property
    def rung(self) -> tuple[str, float]:
        """The family of the class; the smaller the number, the coarser."""
        return self._name, -self._n

    def kernel(self) -> _coarsening.KernelCoarsening | None:
        """Return the kernel for this number."""
        return _kernel(self._name, self._n)


@dataclass(frozen=True)
class Decimals(_Numbered):
    """Round scores to a number of digits after the decimal point, as Python's ``round(x, digits)`` does.

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
    example = "decimals:2"
    least: ClassVar[int] = 0
    most: ClassVar[int] = _MOST_DIGITS


@dataclass(frozen=True)
class Significant(_Numbered):
    """Round scores to a number of significant decimal digits. With 17 digits or more, scores stay unchanged.

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
    example = "significant:3"
    least: ClassVar[int] = 1
    most: ClassVar[int] = _MOST_DIGITS

    def kernel(self) -> _coarsening.KernelCoarsening | None:
        """Return the kernel that rounds to this number of digits; None if the scores stay unchanged."""
        return None if self.digits >= _ENOUGH_DIGITS else super().kernel()


class _Float(NamedCoarsening):
    """A binary floating-point format with this number of significant bits."""

    bits: ClassVar[int]

    @property
    def rung(self) -> tuple[str, float]:
        """The family "floats"; the fewer significant bits, the coarser."""
        return "floats", -self.bits

    def kernel(self) -> _coarsening.KernelCoarsening:
        """Return the kernel that rounds to this format."""
        return _kernel(self.names[0])


@dataclass(frozen=True)
class Float32(_Float):
    """Round scores to single precision, which has 24 significant bits.

    Examples
    --------
    >>> import tieaware
    >>> tieaware.Evaluator([0, 1], ["RR"], precision="float32")([1.0 + 2.0**-30, 1.0])
    array([[0.75]])
    """

    names: ClassVar[tuple[str, ...]] = ("float32", "fp32", "f32")
    example = "float32"
    bits = 24


@dataclass(frozen=True)
class Float16(_Float):
    """Round scores to half precision, which has 11 significant bits. Scores of 65,520 or more become infinite.

    Examples
    --------
    >>> import tieaware
    >>> tieaware.Evaluator([0, 1], ["RR"], precision="float16")([1.0001, 1.0])
    array([[0.75]])
    """

    names: ClassVar[tuple[str, ...]] = ("float16", "fp16", "f16")
    example = "float16"
    bits = 11


@dataclass(frozen=True)
class BFloat16(_Float):
    """Round scores to bfloat16, which has the range of single precision and 8 significant bits.

    Each score is rounded as if in one step.

    Examples
    --------
    >>> import tieaware
    >>> tieaware.Evaluator([0, 1], ["RR"], precision="bfloat16")([1.001, 1.0])
    array([[0.75]])
    """

    names: ClassVar[tuple[str, ...]] = ("bfloat16", "bf16")
    example = "bfloat16"
    bits = 8


@dataclass(frozen=True)
class Levels(_Numbered):
    """Divide the range from the lowest to the highest finite score of each list into equal steps.

    Each finite score becomes the number of its step, 0 … n - 1. Infinite scores stay infinite. A list whose scores are
    all infinite has no range, which is an error.

    Parameters
    ----------
    n : int
        The number of steps, 1 … 2^53.

    Raises
    ------
    InputError
        If the number of steps is out of range.

    Examples
    --------
    >>> import tieaware
    >>> tieaware.Evaluator([0, 1, 0], ["RR"], precision="levels:2")([0.9, 0.8, 0.1])
    array([[0.75]])
    """

    n: int

    names: ClassVar[tuple[str, ...]] = ("levels",)
    example = "levels:11"
    whole_list = True
    least: ClassVar[int] = 1
    most: ClassVar[int] = 2**53
