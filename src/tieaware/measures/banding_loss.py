"""The most that each measure can lose or gain when all ranks of a band are treated as tied.

Bands are contiguous ranks. Treating them as tied replaces the value of a list by its average over all orders of the
documents inside the bands. The formulas here return the largest change that this can cause in any list.

A formula takes the measure, the edges of the bands, and a flag: True for the largest gain, False for the largest loss.
The edges are int64[n_bands + 1] and begin with 0: band g holds the ranks edges[g] … edges[g + 1] - 1, counted from 0.
A formula returns the loss or gain, and int8[depth], the relevance of each rank in a list that attains it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tieaware.checks.arrays import Integers, Values
from tieaware.kernels import _worst_case
from tieaware.measures.definition import BandingLoss, Measure, Relevance


def _mark(depth: int, ranks: Sequence[int] | Integers) -> Relevance:
    """Return int8[depth] with 1 at the given ranks, which are counted from 0, and 0 at all other ranks."""
    relevance = np.zeros(depth, dtype=np.int8)
    relevance[ranks] = 1
    return relevance


def _reciprocal_rank(measure: Measure, edges: Integers, gain: bool) -> tuple[float, Relevance]:
    best, ranks = 0.0, range(0)
    for start, end in pairwise(edges.tolist()):
        # No band can lose or gain more than the reciprocal of its first rank, so no later band can exceed `best`.
        if 1.0 / (start + 1) <= best:
            break
        n = end - start
        reciprocals = 1.0 / np.arange(start + 1, end + 1)
        # `first` is, for each rank of the band, the probability that the first of r relevant documents stands there.
        # More relevant documents in the band can increase the gain but not the loss, so r is always 1 for the loss.
        first = np.full(n, 1.0 / n)
        for r in range(1, n + 1 if gain else 2):
            average = float(first @ reciprocals)
            if (average - 1.0 / (end - r + 1) if gain else 1.0 / (start + 1) - average) > best:
                best = average - 1.0 / (end - r + 1) if gain else 1.0 / (start + 1) - average
                ranks = range(end - r, end) if gain else range(start, start + 1)
            # P(first at x | r + 1) = P(first at x | r) (r + 1) (n - x - r + 1) / (r (n - r)), for x = 1 … n.
            if r < n:
                first = first * np.maximum(n - np.arange(1, n + 1) - r + 1, 0) * ((r + 1) / (r * (n - r)))
    return best, _mark(edges[-1], ranks)


def _weights(measure: Measure, depth: int) -> Values:
    """Return the weight of each rank."""
    assert measure.definition.slots is not None
    weights: Values = np.diff(measure.definition.slots(measure, depth)[: depth + 1], axis=0).sum(axis=1)
    return weights


def _deviations(weights: Values, edges: Integers) -> Values:
    """Return the weight of each rank minus the mean weight of its band."""
    sizes = np.diff(edges)
    means = np.array([weights[start:end].mean() for start, end in pairwise(edges.tolist())])
    deviations: Values = np.where(np.repeat(sizes, sizes) == 1, 0.0, weights - np.repeat(means, sizes))
    return deviations


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


def _band_across(cutoff: int, edges: Integers) -> tuple[int, int, int]:
    """Return the start, the number of ranks within the cut-off, and the size of the band that contains rank `cutoff`.

    If the cut-off divides no band, the last two numbers are equal; they are 0 if no band contains the rank.
    """
    band = int(np.searchsorted(edges, cutoff, side="left")) - 1
    if cutoff >= edges[-1]:
        return int(edges[-1]), 0, 0
    start, end = int(edges[band]), int(edges[band + 1])
    return start, cutoff - start, end - start


def _precision(measure: Measure, edges: Integers, gain: bool) -> tuple[float, Relevance]:
    cutoff = measure.cutoff or 0
    start, m, n = _band_across(cutoff, edges)
    if m == n:
        return 0.0, _mark(edges[-1], [])
    ranks = range(start + m, start + n) if gain else range(start, start + m)
    return m * (n - m) / (n * cutoff), _mark(edges[-1], ranks)


def _recall(measure: Measure, edges: Integers, gain: bool) -> tuple[float, Relevance]:
    start, m, n = _band_across(measure.cutoff or 0, edges)
    if m == n:
        return 0.0, _mark(edges[-1], [])
    return (m / n, _mark(edges[-1], [start + n - 1])) if gain else (1.0 - m / n, _mark(edges[-1], [start]))


def _average_precision(measure: Measure, edges: Integers, gain: bool) -> tuple[float, Relevance]:
    return _worst_case.average_precision(edges[:-1] + 1, int(edges[-1]), gain)


LOSS_OF_RR = BandingLoss(_reciprocal_rank, without_cutoff=True)
LOSS_OF_RBP = BandingLoss(_rank_biased_precision, without_cutoff=True)
LOSS_OF_AP = BandingLoss(_average_precision, without_cutoff=True)
LOSS_OF_NDCG = BandingLoss(_normalised_gain, with_cutoff=True, without_cutoff=True)
LOSS_OF_P = BandingLoss(_precision, with_cutoff=True)
LOSS_OF_R = BandingLoss(_recall, with_cutoff=True)
