"""Compatibility: the rank-biased overlap of a ranking with the best of all ideal rankings."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping

from tieaware.reference.rankings import Functions, Groups, Ranking, grade_of, number_of_documents


def compatibility(ranking: Ranking, judged: Ranking, p: float = 0.95, normalize: bool = True) -> float:
    """Return Σ_d p^(d-1)/d o_d, divided by the same sum for the ideal ranking: compatibility [20]_.

    An ideal ranking has the judged documents with a label of at least 1, by descending label. The one
    that orders documents with equal labels as the ranking does agrees best with the ranking. Down to rank d, it shares
    o_d documents with the ranking. The sums end with the longer of the two rankings.

    Examples
    --------
    >>> compatibility([2, 1, 0], [1, 2]), round(compatibility([1, 2, 0], [1, 2], p=0.5), 4)
    (1.0, 0.4)
    >>> round(mean_of_compatibility([[2, 1], [0]], [1, 2], p=0.5), 4)
    0.7
    >>> round(variance_of_compatibility([[2, 1], [0]], [1, 2], p=0.5), 4)
    0.09
    """
    return mean_of_compatibility([[label] for label in ranking], judged, p, normalize)


def mean_of_compatibility(groups: Groups, judged: Ranking, p: float = 0.95, normalize: bool = True) -> float:
    """Return the mean of `compatibility`: Σ_d p^(d-1)/d E o_d."""
    return _moments(groups, judged, p, normalize)[0]


def variance_of_compatibility(groups: Groups, judged: Ranking, p: float = 0.95, normalize: bool = True) -> float:
    """Return the variance of `compatibility`. Its sums over the ranks of each group are independent."""
    return _moments(groups, judged, p, normalize)[1]


# How many documents of each grade are among the first ranks.
_Found = tuple[int, ...]


def _moments(groups: Groups, judged: Ranking, p: float, normalize: bool) -> tuple[float, float]:
    """Return the mean and the variance.

    In a group, the documents found so far, counted by grade, are the states of a Markov chain: the next document is any
    of the others with equal probability. Each state has its probability and the first two moments of the sum so far.
    """
    ideal = Counter(grade_of(label) for label in judged if grade_of(label))
    if not ideal:
        return 0.0, 0.0
    grades, N = sorted(ideal, reverse=True), ideal.total()
    found: _Found = (0,) * len(grades)
    d, mean, variance = 0, 0.0, 0.0
    for labels in groups:
        last = Counter(grade_of(label) for label in labels)
        all_found = tuple(count + last[grade] for count, grade in zip(found, grades, strict=True))
        states = {found: (1.0, 0.0, 0.0)}
        for left in range(len(labels), 0, -1):
            d += 1
            states = _next(states, all_found, left)
            states = {
                state: _with(moments, p ** (d - 1) / d * _overlap(state, grades, ideal, d))
                for state, moments in states.items()
            }
        ((found, (_, first, second)),) = states.items()
        mean += first
        variance += max(second - first**2, 0.0)
    depth = max(number_of_documents(groups), N)
    mean += math.fsum(p ** (x - 1) / x * _overlap(found, grades, ideal, x) for x in range(d + 1, depth + 1))
    norm = math.fsum(p ** (x - 1) / x * (min(x, N) if normalize else x) for x in range(1, depth + 1))
    return mean / norm, variance / norm**2


_Moments = tuple[float, float, float]


def _next(states: Mapping[_Found, _Moments], all_found: _Found, left: int) -> dict[_Found, _Moments]:
    """Return the states after one more document; `left` documents of the group are not found yet."""
    after: dict[_Found, _Moments] = defaultdict(lambda: (0.0, 0.0, 0.0))
    for state, moments in states.items():
        missing = [end - count for end, count in zip(all_found, state, strict=True)]
        steps = [(number, (*state[:i], state[i] + 1, *state[i + 1 :])) for i, number in enumerate(missing)]
        for number, reached in [*steps, (left - sum(missing), state)]:
            if number:
                chance = number / left
                before = after[reached]
                after[reached] = (
                    before[0] + chance * moments[0], before[1] + chance * moments[1], before[2] + chance * moments[2],
                )  # fmt: skip
    return after


def _with(moments: _Moments, value: float) -> _Moments:
    """Return the moments of a sum to which a value is added."""
    chance, first, second = moments
    return chance, first + chance * value, second + 2 * value * first + chance * value * value


def _overlap(found: _Found, grades: list[float], ideal: Mapping[float, int], d: int) -> int:
    """Return o_d: of each grade, the documents found, or those that the first d ideal documents have, if fewer."""
    overlap = above = 0
    for count, grade in zip(found, grades, strict=True):
        overlap += min(count, max(d - above, 0))
        above += ideal[grade]
    return overlap


MEASURES: dict[str, Functions] = {
    "Compat": (compatibility, mean_of_compatibility, variance_of_compatibility),
}
