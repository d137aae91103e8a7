"""Slot weights: how much attention each rank gets, by a measure that is a sum over ranks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tieaware.checks.arrays import Values
from tieaware.engine.weights import NO_CUTOFF
from tieaware.errors import InputError
from tieaware.measures import Measure, parse_measure

# The kernels of the measures whose definitions have the weight of each rank, and of those that weight all ranks alike.
_WEIGHTED = ("discounted", "discounted_to_ideal", "patience", "reciprocal_rank", "inverse_squares")
_UNIFORM = ("hits", "success")


class SlotWeights(NamedTuple):
    """The weights of ranks.

    Attributes
    ----------
    prefix_sums : float64[depth + 1, 2]
        The two numbers of row j add up to the total weight of the first j ranks, plus a constant.
    cutoff : int
        Ranks below this one have the weight 0.
    """

    prefix_sums: Values
    cutoff: int

    @classmethod
    def of(cls, weights: str | Measure, longest: int) -> SlotWeights:
        """Return the slot weights of a measure, for lists of up to `longest` documents.

        Raises
        ------
        InputError
            If the measure does not give each rank a weight.
        """
        measure = _parsed(weights)
        cutoff = NO_CUTOFF if measure.cutoff is None else measure.cutoff
        depth = min(longest, cutoff)
        if measure.judged_only:
            raise InputError("weights", f"{measure} ranks judged documents only; write it without judged_only")
        if measure.definition.kernel in _WEIGHTED and measure.definition.slots is not None:
            return cls(measure.definition.slots(measure, depth), cutoff)
        if measure.definition.kernel not in _UNIFORM:
            raise InputError("weights", f"{measure} gives ranks no weights; write DCG, RBP(p=0.8), RR or P@10")
        if measure.cutoff is None:
            raise InputError("weights", f"{measure} gives every rank the same weight; write a cut-off, as in P@10")
        sums = np.zeros((depth + 1, 2))
        sums[:, 0] = np.arange(depth + 1)
        return cls(sums, cutoff)


def _parsed(weights: str | Measure) -> Measure:
    """Return the measure; an error names the argument `weights`."""
    try:
        return parse_measure(weights)
    except InputError as error:
        raise error.at("weights") from None
