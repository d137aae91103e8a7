"""A precision that depends on the rank: exact scores in the first ranks, and coarse ones below."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np

from tieaware.checks.arguments import whole_number
from tieaware.checks.arrays import Offsets, Scores
from tieaware.errors import InputError
from tieaware.precision.coarsening import Coarsening, NamedCoarsening, coarsened, parse_precision, whole_number_for

_DEEPEST = 2**31 - 1


@dataclass(frozen=True)
class Top(NamedCoarsening):
    """Keep the scores of the first ranks of each list, and tie documents below them by another precision.

    Documents that tie with the last of the first ranks keep their scores, too. The other precision coarsens the whole
    list, so that levels are those of the list; of documents below the first ranks with the same coarse score, all get
    the lowest of their scores. So they never tie with a document of the first ranks.

    Parameters
    ----------
    ranks : int
        The number of first ranks, 1 … 2^31 - 1.
    below : str or Coarsening
        The precision below them, such as "levels:16". Not bands, which group ranks regardless of scores.

    Raises
    ------
    InputError
        If the number of ranks is out of range, or if the precision is unknown or is bands.

    Examples
    --------
    Levels 1 and 0 of the list go from 0.5 to 0.9 and from 0.1 to 0.5; the first two documents are exact:

    >>> scores = np.array([0.9, 0.8, 0.7, 0.6, 0.2, 0.1])
    >>> Top(2, "levels:2").coarsen(scores, np.array([0, 6]))
    array([0.9, 0.8, 0.6, 0.6, 0.1, 0.1])
    """

    ranks: int
    below: Coarsening

    names: ClassVar[tuple[str, ...]] = ("top",)
    number = "K P"
    example = "top:20 levels:16"
    whole_list = True
    rounds = False

    def __init__(self, ranks: int, below: str | Coarsening) -> None:
        object.__setattr__(self, "ranks", whole_number("top", ranks, 1, _DEEPEST))
        object.__setattr__(self, "below", parse_precision(below))
        if getattr(self.below, "groups_ranks", False):
            raise InputError("precision", f"{self.below} groups ranks, so it cannot follow top:{self.ranks}")

    @classmethod
    def from_number(cls, number: str | None) -> Self:
        """Return the coarsening for the ranks and the precision after the colon, which a space separates."""
        ranks, _, below = (number or "").strip().partition(" ")
        if not below.strip():
            problem = f"top needs a number of ranks and the precision below them, as in {cls.example}"
            raise InputError("precision", problem)
        return cls(whole_number_for(cls, ranks), below)

    def __str__(self) -> str:
        return f"top:{self.ranks} {self.below}"

    def coarsen(self, scores: Scores, offsets: Offsets) -> Scores:
        """Keep the scores of the first ranks, and replace each other one by the lowest with the same coarse score.

        Raises
        ------
        InputError
            As the precision below the first ranks, for the whole lists.
        """
        coarse = coarsened(self.below, scores, offsets)
        kept = scores.copy()
        for first, last in pairwise(offsets.tolist()):
            if last - first > self.ranks:
                kept[first:last] = self._list(scores[first:last], coarse[first:last])
        return kept

    def _list(self, scores: Scores, coarse: Scores) -> Scores:
        """Return the scores of one list, which is longer than the first ranks."""
        below = scores < np.partition(scores, -self.ranks)[-self.ranks]
        own = scores[below]
        distinct = np.unique(coarse[below])
        group = np.searchsorted(distinct, coarse[below])
        lowest = np.full(len(distinct), np.inf, scores.dtype)
        np.minimum.at(lowest, group, own)
        kept = scores.copy()
        kept[below] = lowest[group]
        return kept
