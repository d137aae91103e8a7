"""Average precision and inferred average precision."""

from __future__ import annotations

import math
from itertools import product

from tieaware.reference.rankings import Functions, Groups, Ranking, is_relevant, relevant, with_ranks


def average_precision(ranking: Ranking, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the sum of the precisions at the ranks of relevant documents, divided by N ([1]_, section 8.4).

    Examples
    --------
    >>> average_precision([1, 0, 0, 1], [1, 0, 0, 1])
    0.75
    >>> mean_of_average_precision([[1, 0], [0, 0]], [1, 0, 0, 0])
    0.75
    >>> variance_of_average_precision([[1, 0]], [1, 0])
    0.0625
    """
    N = relevant(judged, rel)
    if N == 0:
        return 0.0
    found = 0
    precisions = []
    for j, label in enumerate(ranking[:k], start=1):
        if is_relevant(label, rel):
            found += 1
            precisions.append(found / j)
    return math.fsum(precisions) / N


def mean_of_average_precision(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the mean of `average_precision`: (1/N) Σ_groups (r/n) Σ_j (R + 1 + a (j-t-1)) / j [2]_.

    Rank j holds a relevant document with probability r/n. If it does, the relevant documents down to rank j are the R
    of earlier groups, this document, and each of the j-t-1 documents before it in its group with probability a =
    (r-1)/(n-1). In a group of one document a is 0, where the printed formula has 0/0.
    """
    N = relevant(judged, rel)
    if N == 0:
        return 0.0
    R = 0
    terms: list[float] = []
    for ranks, labels in with_ranks(groups, k):
        n, r = len(labels), relevant(labels, rel)
        if r:
            a = (r - 1) / (n - 1) if n > 1 else 0.0
            terms.extend(r / n * (R + 1 + a * (j - ranks.start)) / j for j in ranks)
        R += r
    return math.fsum(terms) / N


def capped_average_precision(ranking: Ranking, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the sum of the precisions at the ranks of relevant documents, divided by min(k, N).

    Examples
    --------
    >>> average_precision([1, 1], [1, 1, 1], k=2), capped_average_precision([1, 1], [1, 1, 1], k=2)
    (0.6666666666666666, 1.0)
    >>> mean_of_capped_average_precision([[1, 0]], [1, 1, 1], k=1)
    0.5
    >>> variance_of_capped_average_precision([[1, 0]], [1, 1, 1], k=1)
    0.25
    """
    return _scale(judged, k, rel) * average_precision(ranking, judged, k, rel)


def mean_of_capped_average_precision(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the mean of `capped_average_precision`."""
    return _scale(judged, k, rel) * mean_of_average_precision(groups, judged, k, rel)


def variance_of_capped_average_precision(
    groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1
) -> float:
    """Return the variance of `capped_average_precision`."""
    return _scale(judged, k, rel) ** 2 * variance_of_average_precision(groups, judged, k, rel)


def _scale(judged: Ranking, k: int | None, rel: float) -> float:
    """Return N / min(k, N)."""
    N = relevant(judged, rel)
    return N / k if k is not None and k < N else 1.0


def chance_of_all(n: int, r: int, i: int) -> float:
    """Return the probability that i given documents are all relevant: r (r-1) … / (n (n-1) …).

    The group has `n` documents, `r` of them relevant.

    Examples
    --------
    >>> chance_of_all(4, 2, 2)
    0.16666666666666666
    """
    return math.prod(max(r - x, 0) / (n - x) for x in range(i)) if i <= n else 0.0


def variance_of_average_precision(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the variance of `average_precision`, from the probabilities that up to four ranks are all relevant.

    Let x be the number of documents before a relevant document in its group, h the number of relevant ones among these
    x, and c the number of relevant documents in earlier groups, plus 1. The document adds (c + h) / its rank to the sum
    of precisions.
    """
    N = relevant(judged, rel)
    c, total = 1, 0.0
    for ranks, labels in with_ranks(groups, k):
        n, r = len(labels), relevant(labels, rel)
        p1, p2, p3, p4 = (chance_of_all(n, r, i) for i in (1, 2, 3, 4))
        if 0 < r < n:
            mean = math.fsum((c * p1 + x * p2) / j for x, j in enumerate(ranks))
            square = math.fsum(
                (c * c * p1 + (2 * c + 1) * x * p2 + x * (x - 1) * p3) / j**2 for x, j in enumerate(ranks)
            )
            square += 2 * math.fsum(
                (c * (c + 1) * p2 + ((c + 2) * y + c * (x - 1)) * p3 + y * (x - 2) * p4) / (i * j)
                for x, j in enumerate(ranks)
                for y, i in enumerate(ranks[:x])
            )
            total += square - mean**2
        c += r
    return total / N**2 if N else 0.0


def inferred_average_precision(ranking: Ranking, judged: Ranking, rel: float = 1) -> float:
    """Estimate average precision where documents of the pool (label -2) are not judged: infAP [11]_, as in trec_eval.

    A relevant document at rank j adds 1/j + u/j · s, and the sum is divided by N. Here u is the number of documents
    before it that are in the pool, judged or not, and s is the share of relevant ones among its judged predecessors.

    Examples
    --------
    >>> round(inferred_average_precision([0, -2, 1], [0, 1]), 4)
    0.3333
    >>> round(mean_of_inferred_average_precision([[1, 0]], [1, 0]), 4)
    0.75
    >>> variance_of_inferred_average_precision([[1, 0]], [1, 0])
    nan
    """
    return mean_of_inferred_average_precision([[label] for label in ranking], judged, rel)


def mean_of_inferred_average_precision(groups: Groups, judged: Ranking, rel: float = 1) -> float:
    """Return the mean of `inferred_average_precision`.

    A relevant document stands at each of the n ranks of its group with probability 1/n. For each rank, the function
    sums over all numbers i, j and v of relevant, judged nonrelevant, and pooled but unjudged documents of the group
    that come before this document, each weighted by its probability in a random order.
    """
    N = relevant(judged, rel)
    epsilon = 0.00001
    t = R = B = U = 0
    total = 0.0
    for labels in groups:
        n, r = len(labels), relevant(labels, rel)
        b, u = relevant(labels, 0) - r, sum(label is not None and label < -1 for label in labels)
        if r:
            for x in range(n):
                value = 0.0
                for i, j, v in product(range(r), range(b + 1), range(u + 1)):
                    rest = x - i - j - v
                    if 0 <= rest <= n - r - b - u:
                        chance = math.comb(r - 1, i) * math.comb(b, j) * math.comb(u, v)
                        chance *= math.comb(n - r - b - u, rest)
                        share = (R + i + epsilon) / (R + i + B + j + 2 * epsilon)
                        value += chance * (1 + (R + i + B + j + U + v) * share)
                total += r / n * value / math.comb(n - 1, x) / (t + x + 1)
        t, R, B, U = t + n, R + r, B + b, U + u
    return total / N if N else 0.0


def variance_of_inferred_average_precision(groups: Groups, judged: Ranking, rel: float = 1) -> float:
    """Return NaN: the variance of `inferred_average_precision` is not known.

    The value is NaN.
    """
    return math.nan


MEASURES: dict[str, Functions] = {
    "AP": (average_precision, mean_of_average_precision, variance_of_average_precision),
    "AP_cap": (
        capped_average_precision, mean_of_capped_average_precision, variance_of_capped_average_precision
    ),
    "GMAP": (average_precision, mean_of_average_precision, variance_of_average_precision),
    "infAP": (inferred_average_precision, mean_of_inferred_average_precision, variance_of_inferred_average_precision),
}
