"""How far banding can move a measure, at worst: exact bounds, each with a ranking that attains it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import flag, sequence, unexpected, whole_number
from tieaware.checks.arrays import Integers, Values
from tieaware.kernels import _worst_case
from tieaware.measures import Measure, parse_measure, parse_measures
from tieaware.output.tables import Cell, Table
from tieaware.precision import bands

if TYPE_CHECKING:
    from fractions import Fraction

Relevance = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The largest difference between a ranking's value and its average over bands.

    Attributes
    ----------
    value : float
        The difference, at least 0.
    labels : int8[depth]
        The relevance of ranks 1 … depth for which it occurs, all relevant documents being retrieved.
    """

    value: float
    labels: Relevance


def worst_case(
    measure: str | Measure, rho: str | float | Fraction, depth: int = 1000, gain: bool = False
) -> WorstCase:
    """Find the ranking that banding misjudges most.

    Parameters
    ----------
    measure : str or Measure
        RR, RBP, AP, nDCG (with or without cut-off), P or R (with a cut-off), of binary relevance.
    rho : str, Fraction, int or float
        The growth of the bands; see `tieaware.precision.bands`.
    depth : int
        The number of ranks, at least 1.
    gain : bool
        False: the largest loss, the ranking's value minus its average over the bands. True: the largest gain.

    Returns
    -------
    WorstCase

    Raises
    ------
    InputError
        For another measure, or a rho or depth that is out of range.

    Notes
    -----
    RR: one relevant document in the first band of several; for the gain, several may do more. RBP and nDCG are sums
    over ranks, so the ranks above (for the gain below) their band's mean weight are relevant; nDCG normalises, so as
    many of the largest as are worth it. P and R: the band across the cut-off. AP: a dynamic program over the number of
    relevant documents, O(depth²).

    Examples
    --------
    >>> worst = worst_case("RR", "1.5", depth=7)
    >>> round(worst.value, 6), worst.labels
    (0.041667, array([0, 0, 1, 0, 0, 0, 0], dtype=int8))
    """
    parsed = parse_measure(measure)
    depth, gain = whole_number("depth", depth, 1, 100_000), flag("gain", gain)
    if not known_worst_case(parsed):
        known = "RR, RBP, AP, nDCG, nDCG@k, P@k or R@k"
        raise unexpected("measure", f"one whose worst case is known, which are {known}", f"{parsed}")
    edges = np.append(bands(rho, depth) - 1, depth)
    return WorstCase(*_CASES[parsed.name](parsed, edges, gain))


def known_worst_case(measure: Measure) -> bool:
    """Tell whether the worst case of a measure is known.

    Parameters
    ----------
    measure : Measure
        Any measure.

    Returns
    -------
    bool

    Examples
    --------
    >>> known_worst_case(parse_measure("AP")), known_worst_case(parse_measure("AP@10"))
    (True, False)
    """
    without_cutoff, with_cutoff = ("RR", "RBP", "AP", "nDCG"), ("P", "R", "nDCG")
    return measure.name in (without_cutoff if measure.cutoff is None else with_cutoff)


def table(
    measures: Sequence[str | Measure], rhos: Sequence[str | float | Fraction], depth: int = 1000, *, gain: bool = False
) -> Table:
    """Tabulate worst cases: a row for each rho, a column for each measure's loss, and with `gain` one for its gain.

    Parameters
    ----------
    measures : sequence of str or Measure
        As in `worst_case`.
    rhos : sequence of str, Fraction, int or float
        The growth of the bands, at least 1.
    depth : int
        The number of ranks, at least 1.
    gain : bool
        Whether to add the largest gains.

    Returns
    -------
    Table
        Its numbers are differences of values, at least 0.

    Raises
    ------
    InputError
        As in `worst_case`.

    Examples
    --------
    >>> print(table(["RR", "P@10"], ["1.5", 2], depth=100))
    Largest loss by banding, depth 100
    <BLANKLINE>
    rho      RR    P@10
    1.5  0.0417  0.0750
    2    0.0833  0.1875
    """
    parsed = parse_measures(measures)
    rhos, gain = sequence("rhos", rhos, "numbers"), flag("gain", gain)
    columns = [(measure, which) for measure in parsed for which in ((False, True) if gain else (False,))]
    names = (f"{measure} gain" if which else f"{measure}" for measure, which in columns)
    rows: list[tuple[Cell, ...]] = [
        (str(rho), *(worst_case(measure, rho, depth, which).value for measure, which in columns)) for rho in rhos
    ]
    title = f"Largest loss{' and gain' if gain else ''} by banding, depth {depth}"
    return Table(title, ("rho", *names), rows)


def _mark(depth: int, ranks: Sequence[int] | Integers) -> Relevance:
    """Relevance of the given ranks, from 0."""
    labels = np.zeros(depth, dtype=np.int8)
    labels[ranks] = 1
    return labels


def _reciprocal_rank(measure: Measure, edges: Integers, gain: bool) -> tuple[float, Relevance]:
    best, ranks = 0.0, range(0)
    for start, end in pairwise(edges.tolist()):
        if 1.0 / (start + 1) <= best:
            break
        n = end - start
        reciprocals = 1.0 / np.arange(start + 1, end + 1)
        # E[1/rank of the first of r relevant ones], r = 1 …; more than one can only help the gain.
        first = np.full(n, 1.0 / n)
        for r in range(1, n + 1 if gain else 2):
            average = float(first @ reciprocals)
            if (average - 1.0 / (end - r + 1) if gain else 1.0 / (start + 1) - average) > best:
                best = average - 1.0 / (end - r + 1) if gain else 1.0 / (start + 1) - average
                ranks = range(end - r, end) if gain else range(start, start + 1)
            # P(first at x | r + 1) = P(first at x | r) (r + 1) (n - x - r + 1) / (r (n - r)), x from 1.
            if r < n:
                first = first * np.maximum(n - np.arange(1, n + 1) - r + 1, 0) * ((r + 1) / (r * (n - r)))
    return best, _mark(edges[-1], ranks)


def _deviations(weights: Values, edges: Integers) -> Values:
    """How much more each rank weighs than the mean of its band."""
    sizes = np.diff(edges)
    means = np.array([weights[start:end].mean() for start, end in pairwise(edges.tolist())])
    deviations: Values = np.where(np.repeat(sizes, sizes) == 1, 0.0, weights - np.repeat(means, sizes))
    return deviations


def _weights(measure: Measure, depth: int) -> Values:
    """What each rank weighs."""
    assert measure.definition.slots is not None
    weights: Values = np.diff(measure.definition.slots(measure, depth)[: depth + 1], axis=0).sum(axis=1)
    return weights


def _rank_biased_precision(measure: Measure, edges: Integers, gain: bool) -> tuple[float, Relevance]:
    deviations = _deviations(_weights(measure, int(edges[-1])), edges) * (-1 if gain else 1)
    ranks = np.flatnonzero(deviations > 0.0)
    return float(deviations[ranks].sum()), _mark(edges[-1], ranks)


def _normalised_gain(measure: Measure, edges: Integers, gain: bool) -> tuple[float, Relevance]:
    depth = int(edges[-1])
    weights = _weights(measure, depth)
    if measure.cutoff is not None:
        weights[measure.cutoff :] = 0.0
    deviations = _deviations(weights, edges) * (-1 if gain else 1)
    order = np.argsort(-deviations, kind="stable")
    order = order[deviations[order] > 0.0]
    if not len(order):
        return 0.0, _mark(depth, [])
    losses = np.cumsum(deviations[order]) / np.cumsum(weights)[: len(order)]
    most = int(np.argmax(losses))
    return float(losses[most]), _mark(depth, order[: most + 1])


def _across(cutoff: int, edges: Integers) -> tuple[int, int, int]:
    """The band across the cut-off: its start, how many of its ranks are within, and its size."""
    band = int(np.searchsorted(edges, cutoff, side="left")) - 1
    if cutoff >= edges[-1]:
        return int(edges[-1]), 0, 0
    start, end = int(edges[band]), int(edges[band + 1])
    return start, cutoff - start, end - start


def _precision(measure: Measure, edges: Integers, gain: bool) -> tuple[float, Relevance]:
    cutoff = measure.cutoff or 0
    start, m, n = _across(cutoff, edges)
    if m == n:
        return 0.0, _mark(edges[-1], [])
    ranks = range(start + m, start + n) if gain else range(start, start + m)
    return m * (n - m) / (n * cutoff), _mark(edges[-1], ranks)


def _recall(measure: Measure, edges: Integers, gain: bool) -> tuple[float, Relevance]:
    start, m, n = _across(measure.cutoff or 0, edges)
    if m == n:
        return 0.0, _mark(edges[-1], [])
    return (m / n, _mark(edges[-1], [start + n - 1])) if gain else (1.0 - m / n, _mark(edges[-1], [start]))


def _average_precision(measure: Measure, edges: Integers, gain: bool) -> tuple[float, Relevance]:
    return _worst_case.average_precision(edges[:-1] + 1, int(edges[-1]), gain)


_CASES: dict[str, Callable[[Measure, Integers, bool], tuple[float, Relevance]]] = {
    "RR": _reciprocal_rank,
    "RBP": _rank_biased_precision,
    "nDCG": _normalised_gain,
    "P": _precision,
    "R": _recall,
    "AP": _average_precision,
}
