"""Measures of NTCIR's evaluations.

Numbers in brackets, such as [1], refer to the list of references in the docstring of `tieaware.reference`.
"""

from __future__ import annotations

from tieaware.reference.cascade import (
    expected_reciprocal_rank,
    mean_of_expected_reciprocal_rank,
    mean_utility_of_cascade,
    utility_of_cascade,
    variance_of_expected_reciprocal_rank,
    variance_of_utility_of_cascade,
)
from tieaware.reference.gains import MEASURES as MEASURES_OF_GAINS
from tieaware.reference.rankings import Functions, Groups, Ranking, grade_of


def ideal_cascade(judged: Ranking, k: int | None = None, max_rel: int = 4) -> float:
    """Return the ERR of the judged documents in their best order.

    Parameters as for `expected_reciprocal_rank`; the value is 0 … 1.

    Examples
    --------
    >>> ideal_cascade([0, 1, 1], max_rel=1)
    0.625
    """
    return expected_reciprocal_rank(sorted(judged, key=grade_of, reverse=True), judged, k, max_rel)


def normalised_cascade(ranking: Ranking, judged: Ranking, k: int | None = None, max_rel: int = 4) -> float:
    """Return ERR / the ERR of the judged documents in their best order [14]_.

    Parameters as for `expected_reciprocal_rank`; the value is 0 … 1.

    Examples
    --------
    >>> normalised_cascade([0, 1], [0, 1], max_rel=1)
    0.5
    """
    ideal = ideal_cascade(judged, k, max_rel)
    return expected_reciprocal_rank(ranking, judged, k, max_rel) / ideal if ideal else 0.0


def mean_of_normalised_cascade(groups: Groups, judged: Ranking, k: int | None = None, max_rel: int = 4) -> float:
    """Return the mean of `normalised_cascade`: the mean of ERR / the ideal ERR.

    Parameters as for `normalised_cascade`.

    Examples
    --------
    >>> mean_of_normalised_cascade([[0, 1]], [0, 1], max_rel=1)
    0.75
    """
    ideal = ideal_cascade(judged, k, max_rel)
    return mean_of_expected_reciprocal_rank(groups, judged, k, max_rel) / ideal if ideal else 0.0


def variance_of_normalised_cascade(groups: Groups, judged: Ranking, k: int | None = None, max_rel: int = 4) -> float:
    """Return the variance of `normalised_cascade`: the variance of ERR / (ideal ERR)².

    Parameters as for `normalised_cascade`; the value is 0 … 1/4.

    Examples
    --------
    >>> variance_of_normalised_cascade([[0, 1]], [0, 1], max_rel=1)
    0.0625
    """
    ideal = ideal_cascade(judged, k, max_rel)
    return variance_of_expected_reciprocal_rank(groups, judged, k, max_rel) / ideal**2 if ideal else 0.0


def rank_biased_utility(
    ranking: Ranking, judged: Ranking, k: int | None = None, p: float = 0.99, max_rel: int = 4
) -> float:
    """Return Σ_j p^j Π_{i<j} (1 - stop_i) stop_j, the expectation of p^j at the rank j where the user stops [15]_.

    Other parameters as for `expected_reciprocal_rank`; the value is 0 … 1.

    Parameters
    ----------
    p : float
        The share of the utility that is left at the next rank, between 0 and 1.

    Examples
    --------
    >>> rank_biased_utility([0, 1], [0, 1], p=0.5, max_rel=1)
    0.125
    """
    return utility_of_cascade(ranking, k, max_rel, lambda j: p**j)


def mean_of_rank_biased_utility(
    groups: Groups, judged: Ranking, k: int | None = None, p: float = 0.99, max_rel: int = 4
) -> float:
    """Return the mean of `rank_biased_utility`, by the same recurrence as that of ERR.

    Parameters as for `rank_biased_utility`.

    Examples
    --------
    >>> mean_of_rank_biased_utility([[0, 1]], [0, 1], p=0.5, max_rel=1)
    0.1875
    """
    return mean_utility_of_cascade(groups, k, max_rel, lambda j: p**j)


def variance_of_rank_biased_utility(
    groups: Groups, judged: Ranking, k: int | None = None, p: float = 0.99, max_rel: int = 4
) -> float:
    """Return the variance of `rank_biased_utility`, by the same recurrence as that of ERR.

    Parameters as for `rank_biased_utility`; the value is 0 … 1/4.

    Examples
    --------
    >>> variance_of_rank_biased_utility([[0, 1]], [0, 1], p=0.5, max_rel=1)
    0.00390625
    """
    return variance_of_utility_of_cascade(groups, k, max_rel, lambda j: p**j)


MEASURES: dict[str, Functions] = {
    "MSnDCG": MEASURES_OF_GAINS["nDCG"],
    "nERR": (normalised_cascade, mean_of_normalised_cascade, variance_of_normalised_cascade),
    "iRBU": (rank_biased_utility, mean_of_rank_biased_utility, variance_of_rank_biased_utility),
}
