"""Measures that weigh the ranks: cumulative gain, and rank-biased precision."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from tieaware.reference.hits import variance_of_weighted_sum
from tieaware.reference.rankings import Functions, Groups, Label, Ranking, grade_of, is_relevant, ratio, with_ranks

# The gain of a label: the label itself, or 2^label - 1.
Dcg: TypeAlias = Literal["log2", "exp-log2"]
# A table of gains by label, instead of `Dcg`.
Gains: TypeAlias = Mapping[float, float] | None
# The weight of a rank in DCG.
Discount: TypeAlias = Literal["log2", "log", "1/rank"]


def gain(label: Label, dcg: Dcg = "log2", gains: Gains = None) -> float:
    """Return the label (``"log2"``) [4]_, 2^label - 1 (``"exp-log2"``) [5]_ or its gain in a table.

    Examples
    --------
    >>> gain(3), gain(3, "exp-log2"), gain(None), gain(0.5), gain(2, gains={1: 1, 2: 3.5})
    (3, 7, 0, 0.5, 3.5)
    """
    if gains:
        return 0.0 if label is None else gains.get(label, 0.0)
    grade = grade_of(label)
    return 2**grade - 1 if dcg == "exp-log2" else grade


def slot_weight(j: int, discount: Discount = "log2", base: float = 2.0) -> float:
    """Return the weight of rank `j` in DCG: 1/log2(1 + j) [5]_, 1/log_base(j) from rank `base` on [4]_, or 1/j.

    Examples
    --------
    >>> slot_weight(1), slot_weight(3), slot_weight(2, "log"), slot_weight(4, "log"), slot_weight(4, "1/rank")
    (1.0, 0.5, 1.0, 0.5, 0.25)
    """
    if discount == "log2":
        return 1 / math.log2(1 + j)
    if discount == "1/rank":
        return 1 / j
    return 1.0 if j < base else math.log2(base) / math.log2(j)


def ideal_gain(
    judged: Ranking, k: int | None = None, dcg: Dcg = "log2", gains: Gains = None,
    discount: Discount = "log2", base: float = 2.0,
) -> float:  # fmt: skip
    """Return the DCG of the judged documents in their best order.

    The value is a gain of at least 0.

    Examples
    --------
    >>> ideal_gain([0, 2, 3])
    4.2618595071429155
    """
    return discounted_cumulative_gain(
        sorted(judged, key=grade_of, reverse=True), judged, k, dcg, gains, discount, base
    )


def discounted_cumulative_gain(
    ranking: Ranking, judged: Ranking, k: int | None = None, dcg: Dcg = "log2", gains: Gains = None,
    discount: Discount = "log2", base: float = 2.0,
) -> float:  # fmt: skip
    """Return Σ gain_j / log2(1 + j) [4]_, in the form of [5]_, or with another discount.

    Examples
    --------
    >>> discounted_cumulative_gain([3, 0, 2], [3, 0, 2])
    4.0
    >>> discounted_cumulative_gain([3, 0, 2], [3, 0, 2], dcg="exp-log2")
    8.5
    >>> mean_of_discounted_cumulative_gain([[0, 0, 0], [4]], [0, 0, 0, 4], k=3)
    0.0
    >>> mean_of_discounted_cumulative_gain([[2, 0]], [2, 0], k=1)
    1.0
    >>> variance_of_discounted_cumulative_gain([[2, 0]], [2, 0], k=1)
    1.0
    """
    return math.fsum(
        gain(label, dcg, gains) * slot_weight(j, discount, base) for j, label in enumerate(ranking[:k], start=1)
    )


def mean_of_discounted_cumulative_gain(
    groups: Groups, judged: Ranking, k: int | None = None, dcg: Dcg = "log2", gains: Gains = None,
    discount: Discount = "log2", base: float = 2.0,
) -> float:  # fmt: skip
    """Return the mean of `discounted_cumulative_gain`: Σ_groups (mean gain) Σ_j 1/log2(1 + j) [2]_."""
    return math.fsum(
        math.fsum(gain(label, dcg, gains) for label in labels) / len(labels)
        * math.fsum(slot_weight(j, discount, base) for j in ranks)
        for ranks, labels in with_ranks(groups, k)
    )


def variance_of_discounted_cumulative_gain(
    groups: Groups, judged: Ranking, k: int | None = None, dcg: Dcg = "log2", gains: Gains = None,
    discount: Discount = "log2", base: float = 2.0,
) -> float:  # fmt: skip
    """Return the variance of `discounted_cumulative_gain`, a weighted sum over the ranks.

    The value is in units of gain².
    """
    return variance_of_weighted_sum(
        groups, k, lambda label: gain(label, dcg, gains), lambda j: slot_weight(j, discount, base)
    )


def normalised_discounted_cumulative_gain(
    ranking: Ranking, judged: Ranking, k: int | None = None, dcg: Dcg = "log2", gains: Gains = None,
    discount: Discount = "log2", base: float = 2.0,
) -> float:  # fmt: skip
    """Return DCG / the ideal gain, which is the DCG of the judged documents in their best order [4]_.

    Examples
    --------
    >>> normalised_discounted_cumulative_gain([0, 0, 2], [0, 0, 2])
    0.5
    >>> mean_of_normalised_discounted_cumulative_gain([[2, 0]], [2, 0], k=1)
    0.5
    >>> variance_of_normalised_discounted_cumulative_gain([[2, 0]], [2, 0], k=1)
    0.25
    """
    ideal = ideal_gain(judged, k, dcg, gains, discount, base)
    return ratio(discounted_cumulative_gain(ranking, judged, k, dcg, gains, discount, base), ideal)


def mean_of_normalised_discounted_cumulative_gain(
    groups: Groups, judged: Ranking, k: int | None = None, dcg: Dcg = "log2", gains: Gains = None,
    discount: Discount = "log2", base: float = 2.0,
) -> float:  # fmt: skip
    """Return the mean of `normalised_discounted_cumulative_gain`: the mean of DCG / the ideal gain [2]_."""
    ideal = ideal_gain(judged, k, dcg, gains, discount, base)
    return ratio(mean_of_discounted_cumulative_gain(groups, judged, k, dcg, gains, discount, base), ideal)


def variance_of_normalised_discounted_cumulative_gain(
    groups: Groups, judged: Ranking, k: int | None = None, dcg: Dcg = "log2", gains: Gains = None,
    discount: Discount = "log2", base: float = 2.0,
) -> float:  # fmt: skip
    """Return the variance of `normalised_discounted_cumulative_gain`: the variance of DCG / (ideal gain)²."""
    ideal = ideal_gain(judged, k, dcg, gains, discount, base)
    return ratio(variance_of_discounted_cumulative_gain(groups, judged, k, dcg, gains, discount, base), ideal**2)


def rank_biased_precision(
    ranking: Ranking, judged: Ranking, k: int | None = None, p: float = 0.8, rel: float = 1,
    gains: Gains | Literal["label"] = None,
) -> float:  # fmt: skip
    """Return (1-p) Σ p^(j-1), summed over the ranks j of relevant documents [6]_.

    Examples
    --------
    >>> rank_biased_precision([1, 0, 1], [1, 0, 1], p=0.5)
    0.625
    >>> mean_of_rank_biased_precision([[1, 0]], [1, 0], p=0.5)
    0.375
    >>> variance_of_rank_biased_precision([[1, 0]], [1, 0], p=0.5)
    0.015625
    """
    return math.fsum((1 - p) * p ** (j - 1) * _worth(x, rel, gains) for j, x in enumerate(ranking[:k], start=1))


def _worth(label: Label, rel: float, gains: Gains | Literal["label"]) -> float:
    """Return 1 for a relevant document and 0 for another, or its gain."""
    if not gains:
        return float(is_relevant(label, rel))
    return gain(label) if gains == "label" else gain(label, gains=gains)


def mean_of_rank_biased_precision(
    groups: Groups, judged: Ranking, k: int | None = None, p: float = 0.8, rel: float = 1,
    gains: Gains | Literal["label"] = None,
) -> float:  # fmt: skip
    """Return the mean of `rank_biased_precision`: (1-p) Σ_groups (r/n) Σ_j p^(j-1)."""
    return math.fsum(
        math.fsum(_worth(label, rel, gains) for label in labels) / len(labels)
        * math.fsum((1 - p) * p ** (j - 1) for j in ranks)
        for ranks, labels in with_ranks(groups, k)
    )


def variance_of_rank_biased_precision(
    groups: Groups, judged: Ranking, k: int | None = None, p: float = 0.8, rel: float = 1,
    gains: Gains | Literal["label"] = None,
) -> float:  # fmt: skip
    """Return the variance of `rank_biased_precision`, a weighted sum over the ranks."""
    return variance_of_weighted_sum(
        groups, k, lambda label: _worth(label, rel, gains), lambda j: (1 - p) * p ** (j - 1)
    )


def rank_biased_residual(ranking: Ranking, judged: Ranking, p: float = 0.8) -> float:
    """Return 1 - (1-p) Σ p^(j-1), summed over the ranks j of judged documents [6]_.

    This is the most that unjudged documents, and documents below the end of the list, could add to RBP.

    Examples
    --------
    >>> rank_biased_residual([1, None, 0], [1, 0], p=0.5)
    0.375
    >>> mean_of_rank_biased_residual([[1, None]], [1], p=0.5)
    0.625
    >>> variance_of_rank_biased_residual([[1, None]], [1], p=0.5)
    0.015625
    """
    return 1 - rank_biased_precision(ranking, judged, None, p, 0)


def mean_of_rank_biased_residual(groups: Groups, judged: Ranking, p: float = 0.8) -> float:
    """Return the mean of `rank_biased_residual`: 1 - the mean of RBP if every judged document counts as relevant."""
    return 1 - mean_of_rank_biased_precision(groups, judged, None, p, 0)


def variance_of_rank_biased_residual(groups: Groups, judged: Ranking, p: float = 0.8) -> float:
    """Return the variance of `rank_biased_residual`: that of RBP if every judged document counts as relevant."""
    return variance_of_rank_biased_precision(groups, judged, None, p, 0)


def exposures(scores: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Return the mean weight of each document's rank over all orders of tied documents.

    A document of a group that starts after t documents, and holds n documents, has each of the ranks t+1 … t+n with
    equal probability. So its exposure is the mean weight of these ranks (Diaz and others, "Evaluating stochastic
    rankings with expected exposure", CIKM 2020).

    Parameters
    ----------
    scores : sequence of float
        The score of each document.
    weights : sequence of float
        The weight of each rank, from the first: at least as many as there are documents.

    Examples
    --------
    >>> exposures([3.0, 1.0, 1.0], [1, 1/2, 1/3])
    [1.0, 0.41666666666666663, 0.41666666666666663]
    """
    found = []
    for score in scores:
        t = sum(other > score for other in scores)
        n = sum(other == score for other in scores)
        found.append(math.fsum(weights[t : t + n]) / n)
    return found


MEASURES: dict[str, Functions] = {
    "nDCG": (
        normalised_discounted_cumulative_gain,
        mean_of_normalised_discounted_cumulative_gain,
        variance_of_normalised_discounted_cumulative_gain,
    ),
    "MSnDCG": (
        normalised_discounted_cumulative_gain,
        mean_of_normalised_discounted_cumulative_gain,
        variance_of_normalised_discounted_cumulative_gain,
    ),
    "DCG": (
        discounted_cumulative_gain,
        mean_of_discounted_cumulative_gain,
        variance_of_discounted_cumulative_gain,
    ),
    "RBP": (rank_biased_precision, mean_of_rank_biased_precision, variance_of_rank_biased_precision),
    "RBPResidual": (rank_biased_residual, mean_of_rank_biased_residual, variance_of_rank_biased_residual),
}
