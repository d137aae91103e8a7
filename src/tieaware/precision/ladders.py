"""Families of precisions, from fine to coarse, in which a search finds the coarsest that is safe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

from tieaware.precision.coarsening import Coarsening
from tieaware.precision.formats import BFloat16, Decimals, Float16, Float32, Levels, Significant
from tieaware.precision.rank_bands import Bands

FamilyName: TypeAlias = Literal["bands", "decimals", "significant", "levels", "floats"]


class Family(NamedTuple):
    """Precisions of one kind, each made of a whole number.

    Attributes
    ----------
    grid : sequence of int
        The numbers that a search tries, from fine to coarse.
    precision : callable
        Returns the precision for a number, on the grid or between numbers of it.
    """

    grid: Sequence[int]
    precision: Callable[[int], Coarsening]

    def between(self, fine: int, coarse: int) -> list[int]:
        """Return up to nine numbers between two, from fine to coarse; none if the two follow each other.

        Examples
        --------
        >>> FAMILIES["levels"].between(200, 190), FAMILIES["levels"].between(191, 190)
        ([199, 198, 197, 196, 195, 194, 193, 192, 191], [])
        """
        distance = abs(coarse - fine)
        step = 10 ** (len(str(distance - 1)) - 1) if distance > 1 else 1
        return list(range(fine, coarse, step if coarse > fine else -step))[1:]


# The numbers from 1 to 99,000 that have two significant digits.
_TWO_DIGITS = (*range(1, 100), *(d * 10**zeros for zeros in (1, 2, 3) for d in range(10, 100)))
_FLOATS = (Float32(), Float16(), BFloat16())

#: The families by name. The number of bands is their growth factor in ten-thousandths, from 1.0001 to 10.9.
FAMILIES: dict[str, Family] = {
    "bands": Family([10_000 + n for n in _TWO_DIGITS], lambda n: Bands(Fraction(n, 10_000))),
    "decimals": Family(range(15, -1, -1), Decimals),
    "significant": Family(range(15, 0, -1), Significant),
    "levels": Family(_TWO_DIGITS[::-1], Levels),
    "floats": Family(range(len(_FLOATS)), _FLOATS.__getitem__),
}
