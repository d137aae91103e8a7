"""The most that each measure can lose or gain when all ranks of a band are treated as tied.

Bands are contiguous ranks. Treating them as tied replaces the value of a list by its average over all orders of the
documents inside the bands. The formulas here return the largest change that this can cause in any list.

A formula takes the measure, the edges of the bands, and a flag: True for the largest gain, False for the largest loss.
The edges are int64[n_bands + 1] and begin with 0: band g holds the ranks edges[g] … edges[g + 1] - 1, counted from 0.
A formula returns the loss or gain, and int8[depth], the relevance of each rank in a list that attains it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import comb

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Values
from tieaware.kernels import _worst_case
from tieaware.measures.definition import BandingLoss, Measure, Relevance


def _mark(depth: int, ranks: Sequence[int] | Integers) -> Relevance:
    """Return int8[depth] with 1 at the given ranks, which are counted from 0, and 0 at all other ranks."""
    relevance = np.zeros(depth, dtype=np.int8)
    relevance[ranks] = 1
    return relevance


def _until_cutoff(measure: Measure, weights: Values) -> Values:
    """Set the weights of the ranks beyond the cut-off to 0, and return them."""
    if measure.cutoff is not None:
        weights[measure.cutoff :] = 0.0
    return weights


def _reciprocals(measure: Measure, depth: int) -> Values:
    """Return 1 / rank for each rank within the cut-off, and 0 for later ranks."""
    return _until_cutoff(measure, 1.0 / np.arange(1, depth + 1))


def _reciprocal_rank(measure: Measure, edges: Integers, gain: bool) -> tuple[float, Relevance]:
    values = _reciprocals(measure, int(edges[-1]))
    best, ranks = 0.0, range(0)
    for start, end in pairwise(edges.tolist()):
        # No band can lose or gain more than the value of its first rank, so no later band can exceed `best`.
        if values[start] <= best:
            break
        n = end - start
        # `first` is, for each rank of the band, the probability that the first of r relevant documents stands there.
        # More relevant documents in the band can increase the gain but not the loss, so r is always 1 for the loss.
        first = np.full(n, 1.0 / n)
        for r in range(1, n + 1 if gain else 2):
            average = float(first @ values[start:end])
            change = average - values[end - r] if gain else values[start] - average
            if change > best:
                best = float(change)
                ranks = range(end - r, end) if gain else range(start, start + 1)
            # P(first at x | r + 1) = P(first at x | r) (r + 1) (n - x - r + 1) / (r (n - r)), for x = 1 … n.
            if r < n:
                first = first * np.maximum(n - np.arange(1, n + 1) - r + 1, 0) * ((r + 1) / (r * (n - r)))
    return best, _mark(edges[-1], ranks)


def _weights(measure: Measure, depth: int) -> Values:
    """Return the weight of each rank: 0 for ranks beyond the cut-off."""
    assert measure.definition.inputs.slots is not None
    weights: Values = np.diff(measure.definition.inputs.slots(measure, depth)[: depth + 1], axis=0).sum(axis=1)
    return _until_cutoff(measure, weights)


def _deviations(weights: Values, edges: Integers) -> Values:
    """Return the weight of each rank minus the mean weight of its band."""
    sizes = np.diff(edges)
    means = np.array([weights[start:end].mean() for start, end in pairwise(edges.tolist())])
    deviations: Values = np.where(np.repeat(sizes, sizes) == 1, 0.0, weights - np.repeat(means, sizes))
    return deviations


def _weighted_sum(measure: Measure, edges: Integers, gain: bool) -> tuple[float, Relevance]:
    deviations = _deviations(_weights(measure, int(edges[-1])), edges) * (-1 if gain else 1)
    ranks = np.flatnonzero(deviations > 0.0)
    return float(deviations[ranks].sum()), _mark(edges[-1], ranks)


def _normalised_gain(measure: Measure, edges: Integers, gain: bool) -> tuple[float, Relevance]:
    depth = int(edges[-1])
    weights = _weights(measure, depth)
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


# The measures of hits at k change only by the band across the cut-off, which has m of its n ranks within the cut-off.
# If r ≤ m of its documents are relevant and come first, the average over the band has r (1 - m/n) hits less. If
# r ≤ n - m of them are relevant and come last, it has r m/n hits more. With more relevant documents than that, the
# difference falls again. The divisor of a measure decides which r is best. No document outside the band is relevant.


def _hits_at_cutoff(
    measure: Measure, edges: Integers, gain: bool, change: Callable[[int, int], float], one: bool
) -> tuple[float, Relevance]:
    """Return the largest change of a measure of the hits at a cut-off.

    `change` takes m and n, and returns the loss if the first m documents of the band are relevant, or the gain if the
    last n - m are. With `one`, only the first or the last document is relevant.
    """
    start, m, n = _band_across(measure.cutoff or 0, edges)
    if m == n:
        return 0.0, _mark(edges[-1], [])
    r = 1 if one else n - m if gain else m
    return change(m, n), _mark(edges[-1], range(start + n - r, start + n) if gain else range(start, start + r))


def _precision(measure: Measure, edges: Integers, gain: bool) -> tuple[float, Relevance]:
    return _hits_at_cutoff(measure, edges, gain, lambda m, n: m * (n - m) / (n * (measure.cutoff or 1)), one=False)


def _recall(measure: Measure, edges: Integers, gain: bool) -> tuple[float, Relevance]:
    return _hits_at_cutoff(measure, edges, gain, lambda m, n: m / n if gain else 1.0 - m / n, one=True)


def _capped_recall(measure: Measure, edges: Integers, gain: bool) -> tuple[float, Relevance]:
    if not gain:
        return _recall(measure, edges, gain)
    return _hits_at_cutoff(
        measure, edges, gain, lambda m, n: m * (n - m) / (n * min(measure.cutoff or 1, n - m)), one=False
    )


def _harmonic_mean(measure: Measure, edges: Integers, gain: bool) -> tuple[float, Relevance]:
    def change(m: int, n: int) -> float:
        return 2.0 * m * (n - m) / (n * ((measure.cutoff or 1) + (n - m if gain else m)))

    return _hits_at_cutoff(measure, edges, gain, change, one=False)


def _success(measure: Measure, edges: Integers, gain: bool) -> tuple[float, Relevance]:
    if not gain:
        return _recall(measure, edges, gain)
    # The average misses only if all documents beyond the cut-off are relevant and no others: one of C(n, m) orders.
    return _hits_at_cutoff(measure, edges, gain, lambda m, n: 1 - 1 / comb(n, m), one=False)


def _precision_at_total(measure: Measure, edges: Integers, gain: bool) -> tuple[float, Relevance]:
    """Return the largest change of the precision at N, over all numbers N of relevant documents."""
    depth = int(edges[-1])
    totals = np.arange(1, depth + 1)
    band = np.searchsorted(edges, totals, side="left") - 1
    start, n = edges[band], np.diff(edges)[band]
    m = totals - start
    # The band across rank N has r of the N relevant documents, and the others are outside of it. For the loss, the
    # r = m documents come first and the others fill the ranks before the band.
    r = np.clip(n - m, np.maximum(0, totals - (depth - n)), np.minimum(n, totals)) if gain else m
    hits = np.maximum(0, r - (n - m)) if gain else m
    changes = (r * m / n - hits if gain else hits - r * m / n) / totals
    most = int(np.argmax(changes))
    if changes[most] <= 0.0:
        return 0.0, _mark(depth, [])
    first, end, r_most = int(start[most]), int(start[most] + n[most]), int(r[most])
    inside = range(end - r_most, end) if gain else range(first, first + r_most)
    outside = [*range(first), *range(end, depth)][: int(totals[most]) - r_most]
    return float(changes[most]), _mark(depth, [*outside, *inside])


def _cascade(measure: Measure, edges: Integers, gain: bool) -> tuple[float, Relevance]:
    """Return the largest change of ERR if all relevant documents have the label 1.

    The user stops at a relevant document with probability g, so R relevant documents above a band scale what the band
    adds by (1 - g)^R. Hence the best loss W of a band and all later ones is the maximum over r of
    L(r) + (1 - g)^r W', where L(r) is the loss of r relevant documents in the band, and W' belongs to the next band.
    """
    assert measure.definition.inputs.slots is not None
    depth = int(edges[-1])
    stop = float(measure.definition.inputs.slots(measure, 1)[0])
    values = _reciprocals(measure, depth)
    chosen, later = [], 0.0
    for start, end in reversed(list(pairwise(edges.tolist()))):
        n = end - start
        goes_on = (1.0 - stop) ** np.arange(n + 1)
        # `average[j - 1]` is the mean value of the rank of the j-th of r relevant documents, over all orders. If a
        # random one of the r documents is removed, the j-th of the others was the j-th or the (j + 1)-th before.
        average = values[start:end].copy()
        losses = np.zeros(n + 1)
        for r in range(n, 0, -1):
            ranked = values[end - r : end] if gain else values[start : start + r]
            losses[r] = stop * float(goes_on[:r] @ (average - ranked if gain else ranked - average)) if r < n else 0.0
            j = np.arange(1, r)
            average = (j * average[1:] + (r - j) * average[:-1]) / r
        total = losses + goes_on * later
        chosen.append(int(np.argmax(total)))
        later = float(total[chosen[-1]])
    ranks = [
        rank
        for (start, end), r in zip(pairwise(edges.tolist()), reversed(chosen), strict=True)
        for rank in (range(end - r, end) if gain else range(start, start + r))
    ]
    return later, _mark(depth, ranks)


def _ranking(choices: npt.NDArray[np.int32], edges: Integers, total: int, gain: bool) -> Relevance:
    """Return the ranking with `total` relevant documents that the choices of the dynamic program lead to."""
    relevance = _mark(int(edges[-1]), [])
    for band in range(len(choices) - 1, -1, -1):
        start, end, r = int(edges[band]), int(edges[band + 1]), int(choices[band, total])
        relevance[range(end - r, end) if gain else range(start, start + r)] = 1
        total -= r
    return relevance


def _average_precision(measure: Measure, edges: Integers, gain: bool) -> tuple[float, Relevance]:
    depth = int(edges[-1])
    sums, choices = _worst_case.largest_sums(edges, _reciprocals(measure, depth), depth, gain)
    changes = sums[1:] / np.arange(1, depth + 1)
    most = int(np.argmax(changes))
    if changes[most] <= 0.0:
        return 0.0, _mark(depth, [])
    return float(changes[most]), _ranking(choices, edges, most + 1, gain)


def _q_measure(measure: Measure, edges: Integers, gain: bool) -> tuple[float, Relevance]:
    """Return the largest change of Q if all relevant documents have the label 1.

    Then Q is a sum like AP, in which rank x divides the hits by (x + beta min(x, N)) / (1 + beta). So the dynamic
    program of AP finds the best ranking for each N.
    """
    depth, beta = int(edges[-1]), float(measure["beta"])
    ranks = np.arange(1, depth + 1)
    best, relevance = 0.0, _mark(depth, [])
    for total in range(1, depth + 1):
        weights = _until_cutoff(measure, (1.0 + beta) / (ranks + beta * np.minimum(ranks, total)))
        sums, choices = _worst_case.largest_sums(edges, weights, total, gain)
        if sums[total] / total > best:
            best, relevance = float(sums[total] / total), _ranking(choices, edges, total, gain)
    return best, relevance


LOSS_OF_RR = BandingLoss(_reciprocal_rank, with_cutoff=True, without_cutoff=True)
LOSS_OF_WEIGHTED_SUM = BandingLoss(_weighted_sum, with_cutoff=True, without_cutoff=True)
LOSS_OF_AP = BandingLoss(_average_precision, with_cutoff=True, without_cutoff=True)
LOSS_OF_NDCG = BandingLoss(_normalised_gain, with_cutoff=True, without_cutoff=True)
LOSS_OF_P = BandingLoss(_precision, with_cutoff=True)
LOSS_OF_R = BandingLoss(_recall, with_cutoff=True)
LOSS_OF_CAPPED_RECALL = BandingLoss(_capped_recall, with_cutoff=True)
LOSS_OF_F1 = BandingLoss(_harmonic_mean, with_cutoff=True)
LOSS_OF_SUCCESS = BandingLoss(_success, with_cutoff=True)
LOSS_OF_RPREC = BandingLoss(_precision_at_total, without_cutoff=True)
LOSS_OF_ERR = BandingLoss(_cascade, with_cutoff=True, without_cutoff=True)
# Q takes a time proportional to depth³.
LOSS_OF_Q = BandingLoss(_q_measure, with_cutoff=True, without_cutoff=True, deepest=2000)
