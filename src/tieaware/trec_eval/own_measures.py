"""Measures of trec_eval that no kernel computes. Their values are expectations over the orders of tied documents.

A kernel sees, for each tie group, its first rank, its size and the sum of its documents' weights. The measures here
need more: the label of each document, or the documents above a document inside its group. The functions work on a
`Ranking`, a sequence of tie groups. If the tie rule orders all documents, each document is a group of its own, and the
expectation is trec_eval's value. Inside a group of n documents, each document stands in each slot with probability 1/n.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from math import comb, log, log2, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arrays import Integers, Values
from tieaware.errors import InputError
from tieaware.lists.judgments import POOLED
from tieaware.trec_eval.kernel_measures import gains_of

# The label of a retrieved document that is not in the judgments.
OUTSIDE = -1

# The measure G raises an error for a tie group that would take more steps than this, which take about a second.
_MOST_STEPS = 10_000_000


class Ranking(NamedTuple):
    """The list of one query, and its judgments.

    Parameters
    ----------
    labels : int64[n], or float64[n] if labels are real numbers
        The label of each document from the first rank on. Inside a tie group, the labels are in any order.
    edges : int64[n_groups + 1]
        Tie group ``g`` has the ranks ``edges[g]`` to ``edges[g + 1] - 1``, counted from 0.
    judged : int64[n_judged] or float64[n_judged]
        The labels of all judged documents, at least 0.
    level : float
        The smallest relevant label.
    """

    labels: NDArray[Any]
    edges: Integers
    judged: NDArray[Any]
    level: float

    @property
    def n_relevant(self) -> int:
        """The number of relevant documents, retrieved or not."""
        return int((self.judged >= self.level).sum())

    def groups(self) -> Iterator[NDArray[Any]]:
        """Yield the labels of each tie group."""
        for start, end in pairwise(self.edges.tolist()):
            yield self.labels[start:end]

    def sums(self, values: NDArray[np.generic]) -> Values:
        """Return the sum over each tie group, float64[n_groups], of a value for each document or slot."""
        found: Values = np.add.reduceat(values.astype(np.float64), self.edges[:-1]) if len(values) else np.zeros(0)
        return found

    def expected(self, worth: NDArray[np.generic]) -> Values:
        """Return the expected worth of the document in each slot, float64[n]: the mean over the slot's tie group."""
        sizes = np.diff(self.edges)
        return np.repeat(self.sums(worth) / sizes, sizes)

    def gains(self, changed: str) -> tuple[Values, Values]:
        """Return the gain of each document of the list, and the positive gains of the judged documents, descending.

        Parameters
        ----------
        changed : str
            The gains of labels whose gain is not the label itself, as in "1=3.0,2=9.0".
        """
        ideal = np.sort(gains_of(self.judged, changed))[::-1]
        return gains_of(self.labels, changed), ideal[ideal > 0]


def _discounts(n: int) -> Values:
    """Return the discounts 1 / log2(1 + rank) of the first n ranks."""
    discounts: Values = 1.0 / np.log2(np.arange(2.0, n + 2.0))
    return discounts


def ndcg_at_levels(ranking: Ranking, gains: str) -> float:
    """Return Rndcg: the mean of nDCG at the ranks where the ideal gain changes, and at the end of a longer list.

    No kernel computes Rndcg, because the cut-offs depend on the gains of the query.
    """
    worth, ideal = ranking.gains(gains)
    if ranking.n_relevant == 0 or len(ideal) == 0:
        return 0.0
    n = len(worth)
    found = np.concatenate(([0.0], np.cumsum(ranking.expected(worth) * _discounts(n))))
    best = np.cumsum(ideal * _discounts(len(ideal)))
    ranks = np.flatnonzero(np.append(ideal[1:] != ideal[:-1], True)) + 1
    values = list(found[np.minimum(ranks, n)] / best[ranks - 1])
    if n > len(ideal) + 1:
        values.append(found[-1] / best[-1])
    return float(np.mean(values))


def ndcg_at_relevant(ranking: Ranking, gains: str) -> float:
    """Return ndcg_rel: the mean of nDCG at the rank of each document with a gain, or at the end if not retrieved.

    In a group of n documents, r documents have gains above 0, with the sum s; d_i is the discount of slot i. A document
    in slot i that has a gain contributes its own gain, in expectation s/n · d_i, and the gain of the document in each
    slot j before it, in expectation s (r-1)/(n(n-1)) · d_j.

    No kernel computes ndcg_rel, because it depends on pairs of documents inside a group.
    """
    worth, ideal = ranking.gains(gains)
    if len(ideal) == 0:
        return 0.0
    best, d = np.cumsum(ideal * _discounts(len(ideal))), _discounts(len(worth))
    n, r, s = np.diff(ranking.edges), ranking.sums(worth > 0), ranking.sums(worth)
    own = ranking.sums(np.maximum(worth, 0))
    earned = np.cumsum(np.append(0.0, s / n * ranking.sums(d)))
    pairs = (r * s - own) / np.maximum(n * (n - 1), 1)
    # The sum of the discounts before each slot; less that at the group's first slot, those of the group.
    sums = np.cumsum(d) - d
    by_group = earned[:-1] * r / n, own / n, pairs, sums[ranking.edges[:-1]]
    before, share, pair, start = (np.repeat(each, n) for each in by_group)
    reached = before + share * d + pair * (sums - start)
    total = (reached / best[np.minimum(np.arange(len(worth)), len(best) - 1)]).sum()
    missed = len(ideal) - np.count_nonzero(worth > 0)
    return max(float(total + missed * earned[-1] / best[-1]) / len(ideal), 0.0)


def binary_gain(ranking: Ranking) -> float:
    """Return binG: the mean over the relevant documents of 1 / log2(2 + nonrelevant documents above).

    If s documents of a group are nonrelevant, then 0, 1 … s of them stand above a relevant document of the group; all
    these numbers are equally likely.

    No kernel computes binG, because the discount depends on the number of nonrelevant documents above, not on the rank.
    """
    relevant = ranking.sums(ranking.labels >= ranking.level).astype(np.int64)
    some = np.flatnonzero(relevant)
    relevant, earlier = relevant[some], np.cumsum(relevant) - relevant
    above, s = ranking.edges[some] - earlier[some], np.diff(ranking.edges)[some] - relevant
    alone = s == 0
    total = float((relevant[alone] / np.log2(above[alone] + 2.0)).sum())
    for first, last, weight in zip(above[~alone], (above + s)[~alone], relevant[~alone], strict=True):
        total += float(weight * np.mean(1.0 / np.log2(np.arange(first + 2.0, last + 3.0))))
    return total / ranking.n_relevant if ranking.n_relevant else 0.0


def normalised_gain(ranking: Ranking, gains: str) -> float:
    """Return G: Σ gain / log2(2 + I - C), divided by the sum of the ideal gains.

    At each rank, I is the sum of the ideal gains and C is the sum of the gains, both from the first rank to this rank.
    In I, each ideal gain counts as at least 1.

    No kernel computes G, because the discount depends on the sum of the gains above, and therefore on the order of tied
    documents.
    """
    worth, ideal = ranking.gains(gains)
    if len(ideal) == 0:
        return 0.0
    cost = np.maximum(np.concatenate((ideal, np.zeros(len(worth))))[: len(worth)], 1.0).cumsum()
    total = found = 0.0
    for g in np.flatnonzero(ranking.sums(worth != 0)):
        start, end = ranking.edges[g : g + 2].tolist()
        total += _gain_of_group(worth[start:end], cost[start:end] - found)
        found += worth[start:end].sum()
    return float(total / ideal.sum())


def _gain_of_group(group: Values, left: Values) -> float:
    """Return the expectation of Σ gain / log2(2 + left - C) over the orders of a group.

    For each slot, `left` is the ideal gain I minus the gains of earlier groups, and C is the sum of the gains of this
    group down to the slot. Given the document in slot x, the x documents before it are chosen from all others. `_ways`
    counts the ways in which `a` of these x documents have gains, with the sum s; the rest of them have no gain.
    """
    n = len(group)
    if n == 1:
        return float(group[0] / log2(2 + left[0] - group[0]))
    counts = Counter(group[group != 0].tolist())
    zeros, total = n - counts.total(), 0.0
    if n * len(counts) * prod(count + 1 for count in counts.values()) > _MOST_STEPS:
        raise InputError("G", f"a group of {n} tied documents takes too long; use a tie rule that orders them")
    factorials = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1.0, n)))))
    orders = factorials[n - 1] - factorials - factorials[::-1]  # log C(n - 1, x) for each x
    for gain, count in counts.items():
        for (a, s), number in _ways(counts - Counter([gain])).items():
            # For x = a … a + zeros, the other x - a documents before slot x have no gain.
            before = slice(a, a + zeros + 1)
            fill = factorials[zeros] - factorials[: zeros + 1] - factorials[zeros::-1]
            weights = np.exp(log(number) + fill - orders[before])
            total += count / n * gain * float((weights / np.log2(2 + left[before] - s - gain)).sum())
    return total


def _ways(counts: Counter[float]) -> dict[tuple[int, float], int]:
    """Count the subsets of documents with gains, by their size and the sum of their gains."""
    ways = {(0, 0.0): 1}
    for gain, count in counts.items():
        more: dict[tuple[int, float], int] = {}
        for (a, s), number in ways.items():
            for taken in range(count + 1):
                key = a + taken, s + taken * gain
                more[key] = more.get(key, 0) + number * comb(count, taken)
        ways = more
    return ways


def relevance_string(ranking: Ranking, length: int) -> str:
    """Return relstring: the labels of the first documents, one character each; ``?`` where tied documents differ.

    No kernel computes relstring, because it is text.
    """
    shown = ""
    for labels in ranking.groups():
        if len(shown) >= length:
            break
        characters = {_character(label) for label in labels.tolist()}
        shown += (characters.pop() if len(characters) == 1 else "?") * len(labels)
    return shown[: max(length, 0)]


def _character(label: float) -> str:
    """Return the character of a label: "-" if it is not in the judgments, "." if it is negative, ">" above 9."""
    if label != int(label):
        raise InputError("relstring", f"has no character for the label {label:g}, which is not a whole number")
    label = int(label)
    return {OUTSIDE: "-", POOLED: "."}.get(label) or (str(label) if label <= 9 else ">")
