"""Measures that compare the ranks of relevant documents with those of nonrelevant documents: AUC and Bpref."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from tieaware.reference.rankings import Functions, Groups, Label, Ranking, relevant, with_ranks


def area_under_curve(ranking: Ranking, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the share of pairs (relevant, nonrelevant) of retrieved documents whose relevant one ranks higher.

    With a cut-off, only documents within the cut-off count. The value is 0 without relevant documents. It is 1 if there
    are relevant documents and no nonrelevant ones.

    Examples
    --------
    >>> area_under_curve([0, 1, 0, 0], [0, 1, 0, 0])
    0.6666666666666666
    >>> mean_of_area_under_curve([[1, 0], [0]], [1, 0, 0])
    0.75
    >>> variance_of_area_under_curve([[1, 0]], [1, 0])
    0.25
    """
    return _moments_of_pairs([[label] for label in ranking[:k]], rel)[0]


def mean_of_area_under_curve(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the mean of `area_under_curve`: a tied pair counts half [7]_."""
    return math.fsum(chance * _moments_of_pairs(above, rel)[0] for chance, above in cut(groups, k, rel))


def variance_of_area_under_curve(groups: Groups, judged: Ranking, k: int | None = None, rel: float = 1) -> float:
    """Return the variance of `area_under_curve`: Σ r (n-r) (n+1) / (12 (N⁺ N⁻)²) [7]_.

    N⁺ and N⁻ are the numbers of relevant and of nonrelevant retrieved documents. With a cut-off, the variance of the
    mean between the cases that `cut` yields is added.
    """
    cases = [(chance, *_moments_of_pairs(above, rel)) for chance, above in cut(groups, k, rel)]
    mean = math.fsum(chance * value for chance, value, _ in cases)
    return math.fsum(chance * (variance + (value - mean) ** 2) for chance, value, variance in cases)


def cut(groups: Groups, k: int | None, rel: float = 1) -> Iterator[tuple[float, Groups]]:
    """Yield each possible content of the ranks above the cut-off, as groups, with its probability.

    If the cut-off divides a group, x of its relevant documents are above the cut-off with a hypergeometric probability.
    Their labels are then `rel`, and the others None.

    Examples
    --------
    >>> list(cut([[1], [1, 0, 0]], 2))
    [(0.6666666666666666, [[1], [None]]), (0.3333333333333333, [[1], [1]])]
    """
    whole: list[Sequence[Label]] = []
    for ranks, labels in with_ranks(groups, k):
        m, n, r = len(ranks), len(labels), relevant(labels, rel)
        if 0 < m < n:
            for x in range(max(m - (n - r), 0), min(m, r) + 1):
                chance = math.comb(r, x) * math.comb(n - r, m - x) / math.comb(n, m)
                yield chance, [*whole, [rel] * x + [None] * (m - x)]
            return
        if m:
            whole.append(labels)
    yield 1.0, whole


def _moments_of_pairs(groups: Groups, rel: float) -> tuple[float, float]:
    """Return the mean and the variance of the share of pairs whose relevant document ranks higher [7]_."""
    counts = [(relevant(labels, rel), len(labels)) for labels in groups]
    N = sum(r for r, _ in counts)
    others = sum(n for _, n in counts) - N
    if not N or not others:
        return (1.0 if N else 0.0), 0.0
    below, led, variance = others, 0.0, 0.0
    for r, n in counts:
        below -= n - r
        led += r * (below + (n - r) / 2)
        variance += r * (n - r) * (n + 1) / 12
    return led / (N * others), variance / (N * others) ** 2


def binary_preference(ranking: Ranking, judged: Ranking, rel: float = 1) -> float:
    """Return Σ (1 - min(x, M)/M) / N: bpref [9]_.

    The sum is over the retrieved relevant documents, and x is the number of judged nonrelevant documents above such a
    document. M is the number of judged nonrelevant documents of the query, but at most N.

    Examples
    --------
    >>> binary_preference([0, 1, None, 0, 1], [0, 1, 0, 1])
    0.25
    >>> mean_of_binary_preference([[1, 0]], [1, 0])
    0.5
    >>> variance_of_binary_preference([[1, 0]], [1, 0])
    0.25
    """
    return mean_of_binary_preference([[label] for label in ranking], judged, rel)


def mean_of_binary_preference(groups: Groups, judged: Ranking, rel: float = 1) -> float:
    """Return the mean of `binary_preference`.

    If s documents of a group are judged nonrelevant, then 0, 1 … s of them precede a relevant document of the group;
    all these numbers are equally likely.
    """
    N = relevant(judged, rel)
    if not N:
        return 0.0
    M = min(N, relevant(judged, 0) - N)
    before, total = 0, 0.0
    for labels in groups:
        r = relevant(labels, rel)
        s = relevant(labels, 0) - r
        preferred = [1 - min(before + x, M) / M if M else 1.0 for x in range(s + 1)]
        total += r * math.fsum(preferred) / (s + 1)
        before += s
    return total / N


def variance_of_binary_preference(groups: Groups, judged: Ranking, rel: float = 1) -> float:
    """Return the variance of `binary_preference`.

    If s documents of a group are judged nonrelevant, two relevant documents of the group have a and b ≥ a of them
    above. Each of the C(s+2, 2) pairs (a, b) has the same probability.
    """
    N = relevant(judged, rel)
    M = min(N, relevant(judged, 0) - N)
    before, total = 0, 0.0
    for labels in groups:
        r = relevant(labels, rel)
        s = relevant(labels, 0) - r
        if r and s and M:
            f = [1 - min(before + x, M) / M for x in range(s + 1)]
            both = math.fsum(f[a] * f[b] for b in range(s + 1) for a in range(b + 1)) / math.comb(s + 2, 2)
            mean = math.fsum(f) / (s + 1)
            total += r * math.fsum(x * x for x in f) / (s + 1) + r * (r - 1) * both - (r * mean) ** 2
        before += s
    return total / N**2 if N else 0.0


MEASURES: dict[str, Functions] = {
    "AUC": (area_under_curve, mean_of_area_under_curve, variance_of_area_under_curve),
    "Bpref": (binary_preference, mean_of_binary_preference, variance_of_binary_preference),
}
