"""Every measure in plain Python over lists, written to be read.

A ranking without ties is a list of labels, the first-ranked document's first: ``[1, 0, 2]``. A ranking with
ties is a list of groups, each the labels of the documents that share a score: ``[[1, 0], [2]]`` says that the
first two documents may stand in either order. For every measure there are three functions, whose names follow
from the first's:

``reciprocal_rank``
    takes a ranking, and gives its value.
``mean_of_reciprocal_rank``
    takes groups, and gives the mean of the value over every order of the documents inside their groups, all
    equally likely, without enumerating those orders. (Never a mean over queries: here is one query.)
``variance_of_reciprocal_rank``
    gives the variance of the value over those orders.

When each group holds one document, the first two agree and the third is 0. They stand in one module a family,
and in its table ``MEASURES``; :func:`evaluate` and :func:`variance` take them by the measure's name. The word
"expected" is left to the measure that has it in its name, the expected reciprocal rank of a user who stops (ERR,
``expected_reciprocal_rank``). Measures of what is retrieved in any order are one function each, in ``sets``.

The arguments mean the same everywhere:

``ranking``, ``groups``
    The labels of the retrieved documents, as above. None or a negative label marks an unjudged document,
    which is neither relevant nor a gain.
``judged``
    The labels of all judged documents of the query, retrieved or not. N of them are relevant.
``k``
    The cut-off: only the first k ranks count; None is no cut-off. Where a measure divides by k, it does so
    even if the list is shorter.
``rel``
    The smallest label that is relevant.

The variances are tieaware's own, but for that of AUC [7]_: groups are independent of each other, so those of their
parts add up. A query without relevant judged documents is worth 0. In the formulas a group starts after t documents and
holds n, of which r are relevant; m of its ranks, t+1 … t+m, lie within the cut-off.

References
----------
.. [1] C. D. Manning, P. Raghavan, H. Schütze, *Introduction to Information Retrieval*, 2008, chapter 8.
.. [2] F. McSherry, M. Najork, "Computing information retrieval performance measures efficiently in the
       presence of tied scores", ECIR 2008, pages 414-421.
.. [3] E. M. Voorhees, "The TREC-8 question answering track report", TREC 1999.
.. [4] K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002.
.. [5] C. Burges and others, "Learning to rank using gradient descent", ICML 2005.
.. [6] A. Moffat, J. Zobel, "Rank-biased precision for measurement of retrieval effectiveness", ACM TOIS
       27(1), 2008.
.. [7] J. A. Hanley, B. J. McNeil, "The meaning and use of the area under a receiver operating
       characteristic (ROC) curve", Radiology 143, 1982.
.. [8] W. S. Cooper, "Expected search length", American Documentation 19(1), 1968.
.. [9] C. Buckley, E. M. Voorhees, "Retrieval evaluation with incomplete information", SIGIR 2004.
.. [10] O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan, "Expected reciprocal rank for graded relevance",
       CIKM 2009.
.. [11] E. Yilmaz, J. A. Aslam, "Estimating average precision with incomplete and imperfect judgments", CIKM 2006.
.. [12] T. Sakai, "New performance metrics based on multigrade relevance: their application to question answering",
       NTCIR-4, 2004.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tieaware.checks.arguments import one_of, unexpected
from tieaware.measures import Measure, parse_measure
from tieaware.reference import (
    average_precision,
    cascade,
    first_relevant,
    gains,
    hits,
    interpolated_precision,
    pairs,
    sets,
)
from tieaware.reference.rankings import ORDERS, Functions, Label, group, is_relevant, rank

__all__ = ["MEASURES", "ORDERS", "evaluate", "group", "rank", "variance"]

MEASURES: dict[str, Functions] = {
    **hits.MEASURES,
    **first_relevant.MEASURES,
    **average_precision.MEASURES,
    **interpolated_precision.MEASURES,
    **gains.MEASURES,
    **cascade.MEASURES,
    **pairs.MEASURES,
}


def evaluate(
    measure: str | Measure,
    scores: Sequence[float],
    labels: Sequence[Label],
    judged: Sequence[Label] | None = None,
    ties: str = "average",
    docids: Sequence[str | bytes] | None = None,
) -> float:
    """Evaluate one query.

    Parameters
    ----------
    measure : str or Measure
        What to measure, for example ``"nDCG@10"``.
    scores : sequence of float
        Of the retrieved documents; infinities order as they should, and -0.0 equals 0.0.
    labels : sequence of int or None
        Of the same documents. None or a negative label marks an unjudged one.
    judged : sequence of int or None, optional
        The labels of all judged documents of the query, retrieved or not; by default, of those retrieved.
    ties : str
        ``"average"``: the mean over every order of the documents that tie. The others put them in one order,
        as :func:`rank` does.
    docids : sequence of str or bytes, optional
        The document ids, for the rules that go by them.

    Returns
    -------
    float
        0 for a query without relevant judged documents or without retrieved ones (but counts are counts).

    Raises
    ------
    InputError
        If the lengths disagree, a score is NaN, the tie rule or the measure is unknown, or the document ids
        that the rule needs are missing.

    Examples
    --------
    >>> from tieaware import reference
    >>> scores, labels = [1.0, 1.0, 1.0, 0.5], [1, 0, 0, 2]
    >>> [reference.evaluate("RR", scores, labels, ties=rule) for rule in ("optimistic", "pessimistic")]
    [1.0, 0.3333333333333333]
    >>> round(reference.evaluate("RR", scores, labels), 6)
    0.611111
    """
    measure = parse_measure(measure)
    _check(scores, labels, docids, ties)
    arguments = _arguments(measure)
    judged = labels if judged is None else judged
    if arguments.pop("judged_only", False):
        kept = [d for d, label in enumerate(labels) if is_relevant(label, 0)]
        scores, labels = [scores[d] for d in kept], [labels[d] for d in kept]
        docids = docids if docids is None else [docids[d] for d in kept]
    if measure.name in sets.MEASURES:
        return sets.MEASURES[measure.name](labels, judged, **arguments)
    of_ranking, expected, _ = MEASURES[measure.name]
    if ties == "average":
        return expected(group(scores, labels), judged, **arguments)
    return of_ranking(rank(scores, labels, ties, docids), judged, **arguments)


def variance(
    measure: str | Measure,
    scores: Sequence[float],
    labels: Sequence[Label],
    judged: Sequence[Label] | None = None,
) -> float:
    """Give the variance of a measure for one query, over all orders of the documents that tie.

    Parameters
    ----------
    measure : str or Measure
        What to measure, for example ``"nDCG@10"``.
    scores : sequence of float
        Of the retrieved documents.
    labels : sequence of int or None
        Of the same documents. None or a negative label marks an unjudged one.
    judged : sequence of int or None, optional
        The labels of all judged documents of the query, retrieved or not; by default, of those retrieved.

    Returns
    -------
    float
        At least 0, in the unit of the measure squared. NaN for infAP, whose variance is not known.

    Raises
    ------
    InputError
        If the lengths disagree, a score is NaN, or the measure is unknown.

    Examples
    --------
    >>> variance("RR", [1.0, 1.0, 0.5], [1, 0, 0])
    0.0625
    """
    measure = parse_measure(measure)
    _check(scores, labels)
    arguments = _arguments(measure)
    judged = labels if judged is None else judged
    if arguments.pop("judged_only", False):
        kept = [d for d, label in enumerate(labels) if is_relevant(label, 0)]
        scores, labels = [scores[d] for d in kept], [labels[d] for d in kept]
    if measure.name in sets.MEASURES:
        return 0.0
    return MEASURES[measure.name][2](group(scores, labels), judged, **arguments)


def _check(
    scores: Sequence[float],
    labels: Sequence[Label],
    docids: Sequence[str | bytes] | None = None,
    ties: str = "average",
) -> None:
    for name, values in (("labels", labels), ("docids", docids)):
        if values is not None and len(values) != len(scores):
            raise unexpected(name, f"{len(scores)}, one for each score", f"{len(values)}")
    for i, score in enumerate(scores):
        if math.isnan(score):
            raise unexpected(f"scores[{i}]", "a number", "NaN")
    one_of("ties", ties, ("average", *ORDERS))


def _arguments(measure: Measure) -> dict[str, Any]:
    """Return the measure's parameters as the functions take them."""
    cutoff = {"k": measure.cutoff} if measure.definition.has_cutoff else {}
    return {**measure.parameters, **cutoff}
