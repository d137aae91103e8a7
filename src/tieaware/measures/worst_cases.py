"""The most that treating bands of ranks as tied can change a measure, with a ranking that attains this change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tieaware.checks.arguments import flag, whole_number
from tieaware.errors import InputError
from tieaware.measures import DEFINITIONS, Measure, parse_measure
from tieaware.measures.definition import Relevance
from tieaware.precision.rank_bands import bands

if TYPE_CHECKING:
    from fractions import Fraction


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The largest difference between the value of a ranking and its average over the orders inside bands.

    Attributes
    ----------
    value : float
        The difference, at least 0.
    labels : int8[depth]
        The relevance of the ranks 1 … depth of a ranking with this difference, which retrieves all relevant documents.
    """

    value: float
    labels: Relevance

    def __repr__(self) -> str:
        n_ranks = f"{len(self.labels):,} rank{'' if len(self.labels) == 1 else 's'}"
        return f"WorstCase(value={self.value!r}, labels: {n_ranks}, {int(self.labels.sum())} relevant)"


def worst_case(measure: str | Measure, rho: str | float | Fraction, depth: int = 1000, gain: bool = False) -> WorstCase:
    """Find the ranking whose value changes most when all ranks of a band are treated as tied.

    Parameters
    ----------
    measure : str or Measure
        P@k, R@k, Recall_cap@k, F1@k, AP, AP@k, RR, RR@k, nDCG, nDCG@k, MSnDCG, MSnDCG@k, DCG, DCG@k, RBP, RBP@k,
        Success@k, Hits@k, Rprec, Q, Q@k, ERR or ERR@k. A document is either relevant, with the label 1, or not.
    rho : str, Fraction, int or float
        The growth factor of the bands; see `tieaware.precision.bands`.
    depth : int
        The number of ranks, at least 1; for Q at most 2,000.
    gain : bool
        False for the largest loss, the value of the ranking minus its average over the bands. True for the largest
        gain.

    Returns
    -------
    WorstCase

    Raises
    ------
    InputError
        If the worst case of the measure is not known, or if rho or the depth is out of range.

    Notes
    -----
    RR loses most with one relevant document in the first band that has several ranks; it may gain more with several
    relevant documents. RBP and DCG are sums over ranks: they lose most if the ranks that weigh more than the mean of
    their band are relevant, and gain most if the other ranks are relevant. nDCG divides by the ideal sum, so only some
    of these ranks are relevant: those that deviate most. For the measures of hits at k (P, R, Recall_cap, F1 and
    Success) only the band across the cut-off matters, for Rprec the band across the number N of relevant documents. For
    AP, a dynamic program over the number of relevant documents takes O(depth²); for Q it runs for each N, in O(depth³).
    ERR is solved from the last band to the first, because the documents above a band only scale what it adds.

    Examples
    --------
    >>> worst = worst_case("RR", "1.5", depth=7)
    >>> round(worst.value, 6), worst.labels
    (0.041667, array([0, 0, 1, 0, 0, 0, 0], dtype=int8))
    """
    if isinstance(measure, Mapping) or hasattr(measure, "labels"):
        raise InputError("measure", "must come first: the worst case is of any run; write worst_case('AP', rho)")
    parsed = parse_measure(measure)
    formula = parsed.definition.worst_case
    if formula is None or not formula.holds_for(parsed):
        known = ", ".join(measures_with_worst_cases())
        raise InputError("measure", f"the worst case of {parsed} is not known; it is known for {known}")
    depth, gain = whole_number("depth", depth, 1, formula.deepest), flag("gain", gain)
    edges = np.append(bands(rho, depth) - 1, depth)
    return WorstCase(*formula.largest(parsed, edges, gain))


def known_worst_case(measure: Measure, depth: int = 1) -> bool:
    """Return whether the worst case of a measure is known.

    Parameters
    ----------
    measure : Measure
        Any measure.
    depth : int
        The number of ranks.

    Returns
    -------
    bool

    Examples
    --------
    >>> known_worst_case(parse_measure("AP")), known_worst_case(parse_measure("Bpref"))
    (True, False)
    """
    formula = measure.definition.worst_case
    return formula is not None and formula.holds_for(measure) and depth <= formula.deepest


def measures_with_worst_cases() -> list[str]:
    """Return the notations of the measures whose worst case is known, such as AP and P@k.

    Returns
    -------
    list of str

    Examples
    --------
    >>> measures_with_worst_cases()[:6]
    ['P@k', 'R@k', 'Recall_cap@k', 'F1@k', 'AP', 'AP@k']
    """
    return [
        notation
        for name, definition in DEFINITIONS.items()
        if definition.worst_case
        for notation in definition.worst_case.notations(name)
    ]
