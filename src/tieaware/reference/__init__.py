"""Every measure in plain Python over lists, written to be read.

A ranking without ties is a list of labels, that of the first-ranked document first: ``[1, 0, 2]``. A ranking with ties
is a list of groups, each the labels of the documents that share a score: ``[[1, 0], [2]]`` says that the first two
documents may stand in either order. Every measure has three functions, with names such as these:

``reciprocal_rank``
    takes a ranking and returns its value.
``mean_of_reciprocal_rank``
    takes groups and returns the mean of the value over all orders of the documents inside their groups, each order
    equally likely. (There is only one query, so this is never a mean over queries.)
``variance_of_reciprocal_rank``
    takes groups and returns the variance of the value over these orders.

If each group holds one document, the first two functions agree and the third returns 0. Each module has a family of
measures, and a registry ``MEASURES`` in which :func:`evaluate` and :func:`variance` find the functions by the measure's
name. Where no formula gives the mean and the variance, ``rankings.over_orders`` makes both from the value. Measures
that do not depend on the order have one function each, in ``sets``. Among the names of functions, only
``expected_reciprocal_rank`` has the word "expected", because the measure ERR is called so.

All functions share what is said here. A docstring adds a formula, its source, and what is special; the docstring of a
value has the examples of its mean and its variance, too. Parameters:

``ranking``, ``groups``
    The labels of the retrieved documents, as above. None or a negative label marks an unjudged document, which is not
    relevant and has no gain.
``label``, ``labels``
    The label of one document, or the labels of several.
``judged``
    The labels of all judged documents of the query, retrieved or not. N of these documents are relevant.
``k``
    The cut-off, at least 1: only the first k ranks count. None means no cut-off. A measure that divides by k does so
    even if the list is shorter.
``rel``
    The smallest relevant label.
``alpha``, ``base``, ``beta``, ``dcg``, ``discount``, ``docs``, ``gains``, ``i``, ``max_rel``, ``min_rel``
    The other parameters of measures, with ``normalize``, ``p``, ``pool``, ``recall``, ``relative`` and ``T``:
    ``tieaware.measures.DEFINITIONS`` has their meanings and ranges.

Functions return a number, mostly 0 … 1. The mean has the same range as the value, and the variance the squared unit: it
is at most 1/4 for measures in 0 … 1. A query without relevant judged documents has the value 0. The functions of
measures raise no errors. Numbers in brackets, such as [1]_, refer to the list of references below.

The relevant documents within the cut-off are the hits. In the formulas, a group starts after t documents and holds n
documents, r of them relevant; m of its ranks, t+1 … t+m, are within the cut-off. Groups are independent of each other,
so the variances of their contributions add up. The variances are tieaware's own, except that of AUC [7]_.

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
.. [13] V. Raghavan, P. Bollmann, G. S. Jung, "A critical investigation of recall and precision as measures of
       retrieval system performance", ACM TOIS 7(3), 1989.
.. [14] T. Sakai, R. Song, "Evaluating diversified search results using per-intent graded relevance", SIGIR 2011.
.. [15] T. Sakai, Z. Zeng, "Which diversity evaluation measures are 'good'?", SIGIR 2019.
.. [16] A. Moffat, P. Bailey, F. Scholer, P. Thomas, "Incorporating user expectations and behavior into the
       measurement of search effectiveness", ACM TOIS 35(3), 2017.
.. [17] A. Moffat, F. Scholer, P. Thomas, "Models and metrics: IR evaluation as a user process", ADCS 2012.
.. [18] P. Bailey, A. Moffat, F. Scholer, P. Thomas, "User variability and IR system evaluation", SIGIR 2015.
.. [19] F. Zhang and others, "Evaluating web search with a Bejeweled player model", SIGIR 2017.
.. [20] C. L. A. Clarke, A. Vtyurina, M. D. Smucker, "Assessing top-k preferences", ACM TOIS 39(3), 2021.
.. [21] T. Sakai, "On the properties of evaluation metrics for finding one highly relevant document", IPSJ
       Transactions on Databases 48 (SIG 9), 2007.
.. [22] C. L. A. Clarke and others, "Novelty and diversity in information retrieval evaluation", SIGIR 2008.
.. [23] C. L. A. Clarke, N. Craswell, I. Soboroff, A. Ashkan, "A comparative analysis of cascade measures for novelty
       and diversity", WSDM 2011.
.. [24] C. L. A. Clarke, M. Kolla, O. Vechtomova, "An effectiveness measure for ambiguous and underspecified queries",
       ICTIR 2009.
.. [25] R. Agrawal, S. Gollapudi, A. Halverson, S. Ieong, "Diversifying search results", WSDM 2009.
.. [26] C. Zhai, W. W. Cohen, J. Lafferty, "Beyond independent relevance: methods and evaluation metrics for subtopic
       retrieval", SIGIR 2003.
.. [27] L. Azzopardi, J. Mackenzie, A. Moffat, "ERR is not C/W/L: exploring the relationship between expected reciprocal
       rank and other metrics", ICTIR 2021.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tieaware.checks.arguments import one_of, unexpected
from tieaware.errors import InputError
from tieaware.measures import Measure, parse_measure
from tieaware.measures.parameters import Lookup
from tieaware.precision import Noise
from tieaware.reference import (
    accumulated_gain,
    average_precision,
    blended_ratios,
    cascade,
    compatibility,
    confusion,
    cwl,
    first_relevant,
    gains,
    hits,
    intents,
    interpolated_precision,
    novelty,
    pairs,
    sets,
)
from tieaware.reference.gains import exposures
from tieaware.reference.noisy_orders import chances_of_orders, places
from tieaware.reference.rankings import ORDERS, Functions, Label, grade_of, group, is_judged, is_relevant, rank
from tieaware.ties import RULES, TieRuleName

__all__ = ["MEASURES", "ORDERS", "bounds", "evaluate", "exposures", "group", "rank", "under_noise", "variance"]

MEASURES: dict[str, Functions] = {
    **hits.MEASURES,
    **confusion.MEASURES,
    **first_relevant.MEASURES,
    **average_precision.MEASURES,
    **interpolated_precision.MEASURES,
    **gains.MEASURES,
    **cascade.MEASURES,
    **pairs.MEASURES,
    **cwl.MEASURES,
    **accumulated_gain.MEASURES,
    **compatibility.MEASURES,
    **blended_ratios.MEASURES,
    **intents.MEASURES,
    **novelty.MEASURES,
}


def evaluate(
    measure: str | Measure,
    scores: Sequence[float],
    labels: Sequence[Label],
    judged: Sequence[Label] | None = None,
    ties: TieRuleName = "average",
    docids: Sequence[str | bytes] | None = None,
) -> float:
    """Evaluate one query.

    Parameters
    ----------
    measure : str or Measure
        The measure, for example ``"nDCG@10"``.
    scores : sequence of float
        The scores of the retrieved documents; -0.0 equals 0.0.
    labels : sequence of float or None
        The labels of the same documents. None or a negative label marks an unjudged document.
    judged : sequence of float or None, optional
        The labels of all judged documents of the query, retrieved or not. Default: the labels of the retrieved ones.
    ties : str
        ``"average"``: the mean over all orders of tied documents. Each other rule puts tied documents in one order, as
        :func:`rank` does.
    docids : sequence of str or bytes, optional
        The document ids, for the rules that order by them.

    Returns
    -------
    float
        Except for counts, 0 for a query without relevant judged documents or without retrieved ones.

    Raises
    ------
    InputError
        If the lengths differ, a score is NaN, the tie rule or the measure is unknown, or the document ids that the
        rule needs are missing.

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
        kept = [d for d, label in enumerate(labels) if is_judged(label)]
        scores, labels = [scores[d] for d in kept], [labels[d] for d in kept]
        docids = docids if docids is None else [docids[d] for d in kept]
    if measure.name in sets.MEASURES:
        return sets.MEASURES[measure.name](labels, judged, **arguments)
    of_ranking, expected, _ = MEASURES[measure.name]
    if ties == "average":
        return expected(group(scores, labels), judged, **arguments)
    return of_ranking(rank(scores, labels, ties, docids), judged, **arguments)


def bounds(
    measure: str | Measure,
    scores: Sequence[float],
    labels: Sequence[Label],
    error: float | Sequence[float],
    judged: Sequence[Label] | None = None,
) -> tuple[float, float]:
    """Return the least and the greatest value of one query over all orders that are possible for nearly known scores.

    The best possible order puts each relevant document at the highest score that it may have, and each other one at the
    lowest; the worst order does the reverse. If there are several gains, the bounds of the steps from each gain to the
    next add up to bounds that no order need attain; the measure must then be a sum of gains, such as nDCG. Other
    parameters are as for `evaluate`.

    Parameters
    ----------
    error : float or sequence of float
        How far each score may be from the true one, at least 0; infinite if nothing is known.

    Examples
    --------
    >>> bounds("RR", [0.9, 0.75, 0.5], [0, 1, 0], 0.1)
    (0.5, 1.0)
    """
    measure = parse_measure(measure)
    judged = labels if judged is None else judged
    errors = [error] * len(scores) if isinstance(error, int | float) else error
    low = [-math.inf if e == math.inf else score - e for score, e in zip(scores, errors, strict=True)]
    high = [math.inf if e == math.inf else score + e for score, e in zip(scores, errors, strict=True)]
    steps: list[float] = sorted({grade_of(label) for label in labels} - {0})
    if not measure.parameters.get("gains") and "rel" in measure.parameters:
        steps = [float(measure["rel"])]
    least = greatest = below = 0.0
    for step in steps or [math.inf]:
        is_above = [is_relevant(label, step) for label in labels]
        best = [ends[above] for above, *ends in zip(is_above, low, high, strict=True)]
        worst = [ends[not above] for above, *ends in zip(is_above, low, high, strict=True)]
        share, kept = 1.0, labels
        if len(steps) > 1:
            # The gain of a step is that of a list of one document. Documents above the step have it, others none.
            gain = evaluate(measure, [0.0], [step], judged)
            share, below, kept = (gain - below) / gain, gain, [step if above else None for above in is_above]
        of_best = evaluate(measure, best, kept, judged, "optimistic")
        of_worst = evaluate(measure, worst, kept, judged, "pessimistic")
        least, greatest = least + share * min(of_best, of_worst), greatest + share * max(of_best, of_worst)
    return least, greatest


def variance(
    measure: str | Measure,
    scores: Sequence[float],
    labels: Sequence[Label],
    judged: Sequence[Label] | None = None,
) -> float:
    """Return the variance of a measure for one query, over all orders of the documents that tie.

    Parameters as for `evaluate`.

    Returns
    -------
    float
        At least 0, in the squared unit of the measure. NaN for infAP, whose variance is not known.

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
        kept = [d for d, label in enumerate(labels) if is_judged(label)]
        scores, labels = [scores[d] for d in kept], [labels[d] for d in kept]
    if measure.name in sets.MEASURES:
        return 0.0
    return MEASURES[measure.name][2](group(scores, labels), judged, **arguments)


def under_noise(
    measure: str | Measure,
    scores: Sequence[float],
    labels: Sequence[Label],
    noise: Noise,
    judged: Sequence[Label] | None = None,
) -> float:
    """Return the mean of a measure for one query over all orders that noise makes, of at most eight documents or so.

    Parameters
    ----------
    measure, scores, labels, judged
        As for `evaluate`.
    noise : Noise
        Its sizes are above 0.

    Returns
    -------
    float

    Examples
    --------
    >>> from tieaware.precision import Gumbel
    >>> round(under_noise("RR", [2.0, 1.0], [0, 1], Gumbel(1)), 6)
    0.634471
    """
    _check(scores, labels)
    judged = labels if judged is None else judged
    ranks = [-float(j) for j in range(len(scores))]
    return math.fsum(
        chance * evaluate(measure, ranks, [labels[d] for d in order], judged)
        for order, chance in chances_of_orders(places(scores, noise))
    )


def _check(
    scores: Sequence[float],
    labels: Sequence[Label],
    docids: Sequence[str | bytes] | None = None,
    ties: TieRuleName = "average",
) -> None:
    for name, values in (("labels", labels), ("docids", docids)):
        if values is not None and len(values) != len(scores):
            raise InputError(name, f"must be as many as the scores, {len(scores)}; there are {len(values)}")
    for i, score in enumerate(scores):
        if math.isnan(score):
            raise unexpected(f"scores[{i}]", "a number", "NaN")
    one_of("ties", ties, RULES)


def _arguments(measure: Measure) -> dict[str, Any]:
    """Return the cut-off and the parameters of a measure as keyword arguments for its functions."""
    cutoff = {"k": measure.cutoff} if measure.definition.has_cutoff else {}
    parameters: dict[str, Any] = dict(measure.parameters)
    if isinstance(parameters.get("gains"), Lookup):
        parameters["gains"] = parameters["gains"].gains
    return {**parameters, **cutoff}


def __dir__() -> list[str]:
    return __all__
