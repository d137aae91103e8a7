"""The coarsening `Levels`, which divides the range of each list's scores into equal steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from tieaware.checks.arguments import whole_number
from tieaware.checks.arrays import Offsets, Scores
from tieaware.kernels import _coarsening
from tieaware.precision.coarsening import NamedCoarsening, whole_number_for


@dataclass(frozen=True)
class Levels(NamedCoarsening):
    """Divide the range from the lowest to the highest finite score of each list into equal steps.

    Infinite scores stay infinite. A list whose scores are all infinite has no range, which is an error.

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
    number = "N"
    example = "levels:11"
    whole_list = True

    def __post_init__(self) -> None:
        whole_number("levels", self.n, 1, 2**53)

    @classmethod
    def from_number(cls, number: str | None) -> Self:
        """Return the coarsening for the number of steps after the colon, such as '11' in 'levels:11'."""
        return cls(whole_number_for(cls, number))

    def __str__(self) -> str:
        return f"levels:{self.n}"

    @property
    def rung(self) -> tuple[str, float]:
        """The family "levels"; the fewer levels, the coarser."""
        return "levels", -self.n

    def coarsen(self, scores: Scores, offsets: Offsets) -> Scores:
        """Replace each finite score by the number of its step in the list, 0 … n - 1.

        Raises
        ------
        InputError
            If a list has scores, all of which are infinite.
        """
        return self.kernel().coarsen(scores, offsets)

    def kernel(self) -> _coarsening.KernelCoarsening:
        """Return the kernel that divides into this number of levels."""
        return _coarsening.KernelCoarsening("levels", self.n)
