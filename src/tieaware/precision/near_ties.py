"""Near ties: scores that differ by no more than a tolerance."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from tieaware.checks.arguments import number as checked_number
from tieaware.checks.arrays import Offsets, Scores
from tieaware.errors import InputError
from tieaware.kernels import _coarsening, _numbers
from tieaware.precision.coarsening import NamedCoarsening


@dataclass(frozen=True)
class Gap(NamedCoarsening):
    """Treat near scores of a list as tied: in descending order, neighbours at most ``atol + rtol * |s|`` apart.

    s is the larger of the two scores in absolute value. Each score becomes the highest of its group. Groups chain: the
    first and the last score of a group can be further apart than the tolerance. Equal infinities tie, and an infinity
    never ties with a finite score.

    Parameters
    ----------
    atol : float
        The absolute tolerance, at least 0 and finite.
    rtol : float
        The tolerance relative to the scores, at least 0 and finite.

    Raises
    ------
    InputError
        If a tolerance is negative, infinite or not a number.

    Notes
    -----
    Differences and tolerances are computed in double precision. If the difference of two scores overflows, the two do
    not tie.

    Examples
    --------
    The second and the third score differ by 0.0000001:

    >>> import tieaware
    >>> tieaware.Evaluator([0, 0, 1], ["RR"], precision="gap:1e-6")([0.9, 0.8000001, 0.8])
    array([[0.41666667]])
    """

    atol: float
    rtol: float = 0.0

    names: ClassVar[tuple[str, ...]] = ("gap",)
    # The relative tolerance is optional, so the placeholder omits it.
    number = "ATOL"
    example = "gap:0.2"
    whole_list = True
    rounds = False

    def __post_init__(self) -> None:
        for name in ("atol", "rtol"):
            tolerance = checked_number(name, getattr(self, name), 0.0, sys.float_info.max)
            object.__setattr__(self, name, tolerance)

    @classmethod
    def from_number(cls, number: str | None) -> Self:
        """Return the coarsening with the tolerances that stand after the colon, separated by a comma."""
        written = (number or "").split(",")
        try:
            if len(written) > 2:
                raise ValueError
            tolerances = [_numbers.number(each) for each in written]
        except (ValueError, ArithmeticError):
            problem = "gap needs one or two tolerances, as in gap:1e-6 or gap:1e-6,1e-4"
            raise InputError("precision", problem) from None
        return cls(*tolerances)

    def __str__(self) -> str:
        return f"gap:{self.atol!r},{self.rtol!r}" if self.rtol else f"gap:{self.atol!r}"

    @property
    def rung(self) -> tuple[str, float]:
        """The family of the gaps with this relative tolerance; the greater the absolute one, the coarser."""
        return f"gap:ATOL,{self.rtol!r}", self.atol

    def kernel(self) -> _coarsening.KernelCoarsening:
        """Return the kernel that finds groups of near scores."""
        return _coarsening.KernelCoarsening("gap", atol=self.atol, rtol=self.rtol)

    def widest(self, scores: Scores, offsets: Offsets) -> tuple[float, int]:
        """Return the greatest width of a group, from its highest to its lowest score, and the list that has it.

        A width far above the tolerance means that many near scores chain into one group.

        Parameters
        ----------
        scores : float64[n_docs] or float32[n_docs]
            The scores, without NaN. List i has the scores ``scores[offsets[i]:offsets[i + 1]]``.
        offsets : int64[n_lists + 1]
            The position of the first score of each list, followed by the total number of scores.

        Returns
        -------
        width : float
            In the unit of the scores, at least 0; 0 if there are no scores, and infinite if it overflows.
        list : int
            The position of the first list with a group of this width.

        Examples
        --------
        In the second list, each score is within 0.1 of the next, and the first and the last are 0.24 apart:

        >>> scores, offsets = np.array([0.5, 0.45, 0.9, 0.82, 0.75, 0.66]), np.array([0, 2, 6])
        >>> width, place = Gap(0.1).widest(scores, offsets)
        >>> round(width, 4), place
        (0.24, 1)
        """
        if not len(scores):
            return 0.0, 0
        wide = scores.astype(np.float64)
        widths = np.zeros(len(wide))
        finite = np.isfinite(wide)
        with np.errstate(over="ignore"):
            np.subtract(self.coarsen(scores, offsets).astype(np.float64), wide, out=widths, where=finite)
        document = int(np.argmax(widths))
        return float(widths[document]), int(np.searchsorted(offsets, document, side="right")) - 1
