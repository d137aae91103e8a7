"""Measures of the set of retrieved documents, and counts.

The order of the documents does not change their values, so they need no functions for the mean and the variance. They
are trec_eval's set_P, set_recall, set_F, set_map, num_q, num_ret, num_rel and num_rel_ret.
"""

from __future__ import annotations

from collections.abc import Callable

from tieaware.reference.hits import recall
from tieaware.reference.rankings import Ranking, ratio, relevant


def set_precision(ranking: Ranking, judged: Ranking, relative: bool = False, rel: float = 1) -> float:
    """Return hits / retrieved documents; if relative, hits / the most hits that the list could have.

    Examples
    --------
    >>> set_precision([1, 0, 0, 0], [1, 1])
    0.25
    >>> set_precision([1, 0, 0, 0], [1, 1], relative=True)
    0.5
    """
    return ratio(relevant(ranking, rel), min(len(ranking), relevant(judged, rel)) if relative else len(ranking))


def set_recall(ranking: Ranking, judged: Ranking, rel: float = 1) -> float:
    """Return hits / N.

    Examples
    --------
    >>> set_recall([1, 0, 0, 0], [1, 1])
    0.5
    """
    return recall(ranking, judged, None, rel)


def set_f(ranking: Ranking, judged: Ranking, rel: float = 1) -> float:
    """Return 2 P R / (P + R) for set precision P and set recall R.

    Examples
    --------
    >>> set_f([1, 0, 0, 0], [1, 1])
    0.3333333333333333
    """
    P, R = set_precision(ranking, judged, False, rel), set_recall(ranking, judged, rel)
    return 2 * P * R / (P + R) if P and R else 0.0


def set_average_precision(ranking: Ranking, judged: Ranking, rel: float = 1) -> float:
    """Return set precision times set recall.

    Examples
    --------
    >>> set_average_precision([1, 0, 0, 0], [1, 1])
    0.125
    """
    return set_precision(ranking, judged, False, rel) * set_recall(ranking, judged, rel)


def number_of_queries(ranking: Ranking, judged: Ranking) -> float:
    """Return 1: there is one query.

    Examples
    --------
    >>> number_of_queries([1, 0], [1, 1])
    1.0
    """
    return 1.0


def number_retrieved(ranking: Ranking, judged: Ranking) -> float:
    """Count the retrieved documents.

    Examples
    --------
    >>> number_retrieved([1, 0], [1, 1])
    2.0
    """
    return float(len(ranking))


def number_relevant(ranking: Ranking, judged: Ranking, rel: float = 1) -> float:
    """Return N, the number of relevant documents.

    Examples
    --------
    >>> number_relevant([1, 0], [1, 1])
    2.0
    """
    return float(relevant(judged, rel))


def number_relevant_retrieved(ranking: Ranking, judged: Ranking, rel: float = 1) -> float:
    """Count the relevant retrieved documents.

    Examples
    --------
    >>> number_relevant_retrieved([1, 0], [1, 1])
    1.0
    """
    return float(relevant(ranking, rel))


MEASURES: dict[str, Callable[..., float]] = {
    "SetP": set_precision,
    "SetR": set_recall,
    "SetF": set_f,
    "SetAP": set_average_precision,
    "NumQ": number_of_queries,
    "NumRet": number_retrieved,
    "NumRel": number_relevant,
    "NumRelRet": number_relevant_retrieved,
}
