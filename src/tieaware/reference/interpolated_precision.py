"""Interpolated precision, the largest precision at any rank where a recall is reached; and the largest F."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from tieaware.reference.rankings import Functions, Groups, Ranking, is_relevant, relevant, with_ranks


def wanted_at(recall: float, N: int) -> int:
    """Return how many of `N` documents must be found to reach a `recall`, rounded as in trec_eval 10; at least 1.

    Examples
    --------
    >>> wanted_at(0.5, 5), wanted_at(0.0, 5)
    (3, 1)
    """
    return max(int(recall * N + 0.5), 1)


def interpolated_precision(ranking: Ranking, judged: Ranking, recall: float = 0.0, rel: float = 1) -> float:
    """Return the largest precision at the rank where a recall is reached, or at any deeper rank ([1]_, section 8.4).

    The value is 0 if the recall is never reached.

    Examples
    --------
    >>> interpolated_precision([0, 1, 1], [1, 1], recall=0.5)
    0.6666666666666666
    >>> mean_of_interpolated_precision([[1, 0]], [1, 0])
    0.75
    >>> variance_of_interpolated_precision([[1, 0]], [1, 0])
    0.0625
    """
    wanted = wanted_at(recall, relevant(judged, rel))
    ranks = [j for j, label in enumerate(ranking, start=1) if is_relevant(label, rel)]
    return max((h / j for h, j in enumerate(ranks, start=1) if h >= wanted), default=0.0)


def chance_below(n: int, places: Sequence[int]) -> float:
    """Return the probability that the i-th relevant document of a group stands at ``places[i]`` or later, for all i.

    The group has `n` documents, and `places`, from 1, ascend.

    Examples
    --------
    >>> chance_below(4, [2])
    0.75
    """
    r = len(places)
    # chances[a] is the probability that exactly `a` of the first x documents are relevant, and none of them stands
    # before its first allowed place.
    chances = [1.0] + [0.0] * r
    for x in range(1, n + 1):
        for a in reversed(range(min(r, x))):
            next_is_relevant = chances[a] * (r - a) / (n - x + 1)
            chances[a] -= next_is_relevant
            if x >= places[a]:
                chances[a + 1] += next_is_relevant
    return chances[r]


def mean_of_interpolated_precision(groups: Groups, judged: Ranking, recall: float = 0.0, rel: float = 1) -> float:
    """Return the mean of `interpolated_precision`: Σ v P(max = v).

    The sum is over all possible values v of the measure, and max is the value in a random order. P(max = v) is the
    difference between P(max ≤ v) for v and for the next smaller value. Each P(max ≤ v) is a product over the groups.
    """
    return _moments_of_interpolated_precision(groups, judged, recall, rel)[0]


def variance_of_interpolated_precision(groups: Groups, judged: Ranking, recall: float = 0.0, rel: float = 1) -> float:
    """Return the variance of `interpolated_precision`: E[max²] - E[max]²."""
    return _moments_of_interpolated_precision(groups, judged, recall, rel)[1]


def _moments_of_interpolated_precision(
    groups: Groups, judged: Ranking, recall: float, rel: float
) -> tuple[float, float]:
    """Return the mean and the variance of `interpolated_precision`."""
    wanted = wanted_at(recall, relevant(judged, rel))
    terms, R = [], 0
    values = {Fraction(0)}
    for ranks, labels in with_ranks(groups, None):
        r, n = relevant(labels, rel), len(labels)
        terms.append((ranks[0] - 1, n, r, R))
        for h in range(max(R + 1, wanted), R + r + 1):
            values |= {Fraction(h, j) for j in ranks[h - R - 1 : n - r + h - R]}
        R += r
    mean = square = below = 0.0
    for v in sorted(values):
        # The largest precision is at most v if the h-th relevant document stands at rank h/v or later, for each h that
        # reaches the recall.
        chance = math.prod(
            chance_below(n, [math.ceil(h / v) - t if h >= wanted and v else 1 if h < wanted else n + 1
                             for h in range(R + 1, R + r + 1)])
            for t, n, r, R in terms
        )  # fmt: skip
        mean += float(v) * (chance - below)
        square += float(v) ** 2 * (chance - below)
        below = chance
    return mean, max(square - mean**2, 0.0)


def eleven_point_precision(ranking: Ranking, judged: Ranking, rel: float = 1) -> float:
    """Average `interpolated_precision` over the recalls 0, 0.1 … 1 ([1]_, section 8.4).

    Examples
    --------
    >>> eleven_point_precision([1, 0], [1, 1])
    0.7272727272727273
    >>> mean_of_eleven_point_precision([[1, 0]], [1, 0])
    0.75
    >>> round(variance_of_eleven_point_precision([[1, 0]], [1, 0]), 6)
    0.0625
    """
    return math.fsum(interpolated_precision(ranking, judged, i / 10, rel) for i in range(11)) / 11


def mean_of_eleven_point_precision(groups: Groups, judged: Ranking, rel: float = 1) -> float:
    """Return the mean of `eleven_point_precision`: the average of eleven means of `interpolated_precision`."""
    return math.fsum(mean_of_interpolated_precision(groups, judged, i / 10, rel) for i in range(11)) / 11


def variance_of_eleven_point_precision(groups: Groups, judged: Ranking, rel: float = 1) -> float:
    """Return the variance of `eleven_point_precision`, by enumerating its values; feasible for short lists only.

    The function goes from the last rank up to the first. At a rank where a recall is reached, it adds the largest
    precision seen so far to the sum of the interpolated precisions.
    """
    N = relevant(judged, rel)
    points = [wanted_at(i / 10, N) for i in range(11)]
    h = sum(relevant(labels, rel) for labels in groups)
    # The probability of each state. A state is the number of relevant documents above, the largest precision so far,
    # and the sum so far.
    chances = {(h, Fraction(0), Fraction(0)): 1.0}
    for ranks, labels in reversed(list(with_ranks(groups, None))):
        h -= relevant(labels, rel)
        for j in reversed(ranks):
            before, chances = chances, {}
            for (above, best, points_sum), chance in before.items():
                share = (above - h) / (j - ranks.start + 1)
                higher = max(best, Fraction(above, j))
                for state, added in (
                    ((above, best, points_sum), 1 - share),
                    ((above - 1, higher, points_sum + higher * points.count(above)), share),
                ):
                    if added > 0:
                        chances[state] = chances.get(state, 0.0) + chance * added
    mean = math.fsum(float(value) * chance for (_, _, value), chance in chances.items())
    return math.fsum((float(value) - mean) ** 2 * chance for (_, _, value), chance in chances.items()) / 121


def greatest_f(ranking: Ranking, judged: Ranking, k: int | None = None, beta: float = 1.0, rel: float = 1) -> float:
    """Return the largest (1 + beta²) h / (j + beta² N) at any rank j ≤ k, where h is the number of hits down to rank j.

    This is the largest F, the weighted harmonic mean of precision and recall, that some cut-off gives.

    Examples
    --------
    >>> greatest_f([1, 0, 1, 0, 1], [1, 1, 1])
    0.75
    >>> round(mean_of_greatest_f([[1, 0]], [1, 0]), 6)
    0.833333
    >>> round(variance_of_greatest_f([[1, 0]], [1, 0]), 6)
    0.027778
    """
    chances = _chances_of_greatest_f([[label] for label in ranking], judged, k, beta, rel)
    return (1 + beta**2) * float(next(iter(chances)))


def mean_of_greatest_f(
    groups: Groups, judged: Ranking, k: int | None = None, beta: float = 1.0, rel: float = 1
) -> float:
    """Return the mean of `greatest_f`, by enumerating its values; feasible for short lists only."""
    chances = _chances_of_greatest_f(groups, judged, k, beta, rel)
    return (1 + beta**2) * math.fsum(float(value) * chance for value, chance in chances.items())


def variance_of_greatest_f(
    groups: Groups, judged: Ranking, k: int | None = None, beta: float = 1.0, rel: float = 1
) -> float:
    """Return the variance of `greatest_f`, by enumerating its values; feasible for short lists only."""
    chances = _chances_of_greatest_f(groups, judged, k, beta, rel)
    mean = math.fsum(float(value) * chance for value, chance in chances.items())
    return (1 + beta**2) ** 2 * math.fsum((float(value) - mean) ** 2 * chance for value, chance in chances.items())


def _chances_of_greatest_f(
    groups: Groups, judged: Ranking, k: int | None, beta: float, rel: float
) -> dict[Fraction, float]:
    """Return the probability of each largest h / (j + beta² N), going from the first rank to the last."""
    shift = Fraction(beta) ** 2 * relevant(judged, rel)
    # A state is the number of relevant documents so far, and the largest quotient so far.
    chances = {(0, Fraction(0)): 1.0}
    h = 0
    for ranks, labels in with_ranks(groups, k):
        h += relevant(labels, rel)
        for j in ranks:
            before, chances = chances, {}
            for (above, best), chance in before.items():
                share = (h - above) / (ranks.start + len(labels) - j)
                higher = max(best, (above + 1) / (j + shift))
                for state, added in (((above, best), 1 - share), ((above + 1, higher), share)):
                    if added > 0:
                        chances[state] = chances.get(state, 0.0) + chance * added
        if len(ranks) < len(labels):
            break
    largest: dict[Fraction, float] = {}
    for (_, best), chance in chances.items():
        largest[best] = largest.get(best, 0.0) + chance
    return largest


MEASURES: dict[str, Functions] = {
    "IPrec": (interpolated_precision, mean_of_interpolated_precision, variance_of_interpolated_precision),
    "MaxF": (greatest_f, mean_of_greatest_f, variance_of_greatest_f),
    "IAP11": (eleven_point_precision, mean_of_eleven_point_precision, variance_of_eleven_point_precision),
}
