"""What trec_eval measures beyond tieaware's notation: expectations over the orders of tied documents.

A ranking is a sequence of groups, of documents whose order is open. Where a tie rule orders all, each is a group of its
own, and the expectation is trec_eval's value. In a group of n documents each stands in each slot with probability 1/n.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from math import comb, log, log2, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Integers, Values

# The labels of documents that are in no judgment, and of those whose judgment is negative: pooled, but not judged.
OUTSIDE, POOLED = -1, -2

# As many steps as G may take in a group: about a second.
_MOST_STEPS = 10_000_000


class Ranking(NamedTuple):
    """One query's list, and what is judged for it.

    Parameters
    ----------
    labels : int64[n]
        Of each document from the first rank on, in any order within a group.
    edges : int64[n_groups + 1]
        Group ``g`` has the ranks ``edges[g]`` to ``edges[g + 1]``, from 0 on.
    judged : int64[n_judged]
        The labels of all judged documents, at least 0.
    level : int
        The smallest relevant label.
    """

    labels: Integers
    edges: Integers
    judged: Integers
    level: int

    @property
    def n_relevant(self) -> int:
        """How many relevant documents the judgments have."""
        return int((self.judged >= self.level).sum())

    def groups(self) -> Iterator[tuple[int, Integers]]:
        """Yield the first rank, from 0, and the labels of each group."""
        for start, end in pairwise(self.edges.tolist()):
            yield start, self.labels[start:end]

    def expected(self, worth: NDArray[np.generic]) -> Values:
        """Return what is expected in each slot: float64[n], the means over the groups of what documents are worth."""
        if len(self.labels) == 0:
            return np.zeros(0)
        sizes = np.diff(self.edges)
        sums: Values = np.add.reduceat(worth.astype(np.float64), self.edges[:-1])
        return np.repeat(sums / sizes, sizes)

    def gains(self, changed: dict[str, float]) -> tuple[Values, Values]:
        """Return the gain of each document of the list, and the positive ones of the judged documents, descending.

        The gain is the label where no pair of `changed` gives another, and 0 for what is not judged.
        """
        table = np.arange(max(self.judged.max(initial=0), self.labels.max(initial=0)) + 1, dtype=np.float64)
        for label, gain in changed.items():
            if label.isdecimal() and int(label) < len(table):
                table[int(label)] = gain
        ideal = np.sort(table[self.judged])[::-1]
        return np.where(self.labels >= 0, table[np.maximum(self.labels, 0)], 0.0), ideal[ideal > 0]


def _discounts(n: int) -> Values:
    discounts: Values = 1.0 / np.log2(np.arange(2.0, n + 2.0))
    return discounts


def precision_at_multiple(ranking: Ranking, multiple: float) -> float:
    """Rprec_mult: the precision at that many times as many documents as are relevant."""
    k = int(multiple * ranking.n_relevant + 0.9)
    return float(ranking.expected(ranking.labels >= ranking.level)[:k].sum()) / k if k > 0 else 0.0


def unjudged(ranking: Ranking, k: int) -> float:
    """unj: the share of unjudged documents among the first k."""
    return float(ranking.expected(ranking.labels < 0)[:k].sum()) / k


def rbp(ranking: Ranking, parameters: dict[str, float]) -> float:
    """rbp: (1-p) Σ gain p^(rank-1), gains brought to the range from 0 to 1 where they are not within it."""
    p = parameters.get("p", 0.9)
    gains, ideal = ranking.gains(parameters)
    highest = ideal.max(initial=0.0)
    expected = ranking.expected(gains) / (highest if highest > 1 else 1.0)
    return (1 - p) * float((expected * p ** np.arange(len(expected))).sum())


def rbp_residual(ranking: Ranking, parameters: dict[str, float]) -> float:
    """rbp_resid: what rbp gains if all that is not judged is relevant; 0 if all retrieved documents are judged."""
    p = parameters.get("p", 0.9)
    missing = ranking.labels < 0
    if not missing.any():
        return 0.0
    n = len(ranking.labels)
    return float(p**n + (1 - p) * (ranking.expected(missing) * p ** np.arange(n)).sum())


def ndcg(ranking: Ranking, parameters: dict[str, float]) -> float:
    """Return ndcg, with the gains of the parameters."""
    gains, ideal = ranking.gains(parameters)
    if len(ideal) == 0:
        return 0.0
    return float((ranking.expected(gains) * _discounts(len(gains))).sum() / (ideal * _discounts(len(ideal))).sum())


def ndcg_at_levels(ranking: Ranking, parameters: dict[str, float]) -> float:
    """Rndcg: the mean of nDCG at the ranks where the ideal gain changes, and of the whole list, if it is longer."""
    gains, ideal = ranking.gains(parameters)
    if ranking.n_relevant == 0 or len(ideal) == 0:
        return 0.0
    n = len(gains)
    found = np.concatenate(([0.0], np.cumsum(ranking.expected(gains) * _discounts(n))))
    best = np.cumsum(ideal * _discounts(len(ideal)))
    ranks = np.flatnonzero(np.append(ideal[1:] != ideal[:-1], True)) + 1
    values = list(found[np.minimum(ranks, n)] / best[ranks - 1])
    if n > len(ideal) + 1:
        values.append(found[-1] / best[-1])
    return float(np.mean(values))


def ndcg_at_relevant(ranking: Ranking, parameters: dict[str, float]) -> float:
    """ndcg_rel: the mean of nDCG at each document with a gain; where one is not retrieved, that of the whole list.

    In a group of n documents, r of them with gains that sum up to s, one with a gain in slot i brings s/n · d_i of its
    own gain, and s (r-1)/(n(n-1)) · d_j of that in each slot j before it.
    """
    gains, ideal = ranking.gains(parameters)
    if len(ideal) == 0:
        return 0.0
    best = np.cumsum(ideal * _discounts(len(ideal)))
    discounts = _discounts(len(gains))
    before = total = 0.0
    for start, end in pairwise(ranking.edges.tolist()):
        group, d = gains[start:end], discounts[start:end]
        n, r, own, s = end - start, np.count_nonzero(group > 0), group[group > 0].sum(), group.sum()
        pairs = (r * s - own) / (n * (n - 1)) if n > 1 else 0.0
        reached = before * r / n + own / n * d + pairs * (np.cumsum(d) - d)
        total += float((reached / best[np.minimum(np.arange(start, end), len(best) - 1)]).sum())
        before += s / n * d.sum()
    missed = len(ideal) - np.count_nonzero(gains > 0)
    return max(float(total + missed * before / best[-1]) / len(ideal), 0.0)


def binary_gain(ranking: Ranking) -> float:
    """binG: the mean over relevant documents of 1/log2(2 + nonrelevant documents before).

    Of the s nonrelevant documents of its group, 0, 1 … s are before a relevant one, equally likely.
    """
    total, above = 0.0, 0
    for _, labels in ranking.groups():
        relevant = int((labels >= ranking.level).sum())
        s = len(labels) - relevant
        total += relevant * float(np.mean(1.0 / np.log2(np.arange(above + 2.0, above + s + 3.0)))) if relevant else 0.0
        above += s
    return total / ranking.n_relevant if ranking.n_relevant else 0.0


def normalised_gain(ranking: Ranking, parameters: dict[str, float]) -> float:
    """G: Σ gain / log2(2 + ideal gain - gain, each to this rank), / the ideal gain; an ideal gain counts at least 1."""
    gains, ideal = ranking.gains(parameters)
    if len(ideal) == 0:
        return 0.0
    cost = np.maximum(np.concatenate((ideal, np.zeros(len(gains))))[: len(gains)], 1.0).cumsum()
    total = found = 0.0
    for start, end in pairwise(ranking.edges.tolist()):
        group = gains[start:end]
        if group.any():
            total += _gain_of_group(group, cost[start:end] - found)
        found += group.sum()
    return float(total / ideal.sum())


def _gain_of_group(group: Values, left: Values) -> float:
    """Return the expectation of Σ gain / log2(2 + left - gain to this slot) over the orders of a group.

    With one document given in slot x, the x before it are any of the others: a of them with gains, which sum up to s
    in so many ways, and the rest without.
    """
    n = len(group)
    if n == 1:
        return float(group[0] / log2(2 + left[0] - group[0]))
    counts = Counter(group[group != 0].tolist())
    zeros, total = n - counts.total(), 0.0
    if n * len(counts) * prod(count + 1 for count in counts.values()) > _MOST_STEPS:
        raise unexpected("G", "smaller tied groups or a rule that orders them", f"{n} documents")
    factorials = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1.0, n)))))
    orders = factorials[n - 1] - factorials - factorials[::-1]  # of log C(n - 1, x)
    for gain, count in counts.items():
        for (a, s), number in _ways(counts - Counter([gain])).items():
            # x = a … a + zeros: the others before are without a gain.
            before = slice(a, a + zeros + 1)
            fill = factorials[zeros] - factorials[: zeros + 1] - factorials[zeros::-1]
            weights = np.exp(log(number) + fill - orders[before])
            total += count / n * gain * float((weights / np.log2(2 + left[before] - s - gain)).sum())
    return total


def _ways(counts: Counter[float]) -> dict[tuple[int, float], int]:
    """Return in how many ways some documents can be taken, by how many they are and the sum of their gains."""
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
    """relstring: the labels of the first documents, a character each; ``?`` where tied ones differ."""
    shown = ""
    for _, labels in ranking.groups():
        if len(shown) >= length:
            break
        characters = {_character(label) for label in labels.tolist()}
        shown += (characters.pop() if len(characters) == 1 else "?") * len(labels)
    return shown[: max(length, 0)]


def _character(label: int) -> str:
    return {OUTSIDE: "-", POOLED: "."}.get(label) or (str(label) if label <= 9 else ">")
