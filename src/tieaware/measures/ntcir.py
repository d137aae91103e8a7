"""The definitions of measures of NTCIR's evaluations (NTCIREVAL)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Integers, Labels, Values
from tieaware.errors import InputError
from tieaware.kernels import _labels, _slots
from tieaware.lists.judgments import Judgments
from tieaware.measures.definition import Definition, KernelInputs, Measure, Weighting, register
from tieaware.measures.definitions import ERR, Q, nDCG
from tieaware.measures.formulas import (
    GRADES,
    RELEVANCE_AND_GAIN,
    always,
    by_total,
    positive_documents,
    slot_weights,
    stops,
    stops_of,
)
from tieaware.measures.parameters import Number, Parameters


def _ideal_cascade(measure: Measure, judgments: Judgments) -> Values:
    """Return the largest possible ERR of each query: that of its judged documents in the best order."""
    depth = judgments.deepest(measure.cutoff)
    highest: float = _labels.highest(judgments.labels)
    probabilities = stops(measure, depth)
    if judgments.grades is not None:
        highest, probabilities = judgments.grades.highest, stops_of(judgments.grades, measure)
    if highest > int(measure["max_rel"]):
        raise unexpected(f"{measure}: labels", f"at most max_rel={measure['max_rel']}", f"{highest:g}")
    return _slots.ideal_cascade(judgments.labels, probabilities, judgments.offsets, depth)


def _utilities(measure: Measure, depth: int) -> Values:
    """Return the utility p^rank of each rank; these are no prefix sums."""
    return -slot_weights(_slots.geometric, depth, float(measure["p"]))[1:, 0]


def _stops_of_labels(measure: Measure, judgments: Judgments) -> tuple[Values, Integers]:
    """Return the probability that a user stops for each grade, or for each label above 0 if labels are real numbers."""
    grades = judgments.grades
    probabilities = stops(measure, 0) if grades is None else stops_of(grades, measure)
    return probabilities, np.zeros(judgments.n_queries, dtype=np.int64)


def _relevance_gain_and_grades(labels: Labels | Values, max_rel: int) -> Values:
    """Return two rows as for Q, then one row for each grade 1 … max_rel, with 1 for documents with that label."""
    return np.vstack([RELEVANCE_AND_GAIN.rows(labels, 1, ()), GRADES.rows(labels, max_rel)])


def _ideal_labels(measure: Measure, judgments: Judgments) -> tuple[Values, Integers]:
    """Return the cumulative sums of the labels above 0, highest first, and each query's first position."""
    if judgments.grades is not None:
        raise InputError(f"{measure}: labels", "must be whole numbers for this measure")
    return judgments.cumulated(np.where(judgments.labels > 0, judgments.labels, -np.inf))


RELEVANCE_GAIN_AND_GRADES = Weighting(_relevance_gain_and_grades, ("max_rel",), squared=1)
_BETA: Parameters = {"beta": Q.definition.parameters["beta"]}

# fmt: off
MSnDCG: Measure = register(replace(
    nDCG.definition, name="MSnDCG", title="nDCG, under its name in NTCIREVAL", aliases=(), trec_name=None,
    formula=r"\text{DCG} / \text{DCG}^*",
    where="as nDCG. What NTCIREVAL calls nDCG, with the base $`b`$, is `nDCG(discount='log',base=b)`",
    source="Burges and others (2005)",
    trec_name_with_cutoff=None,
))
nERR: Measure = register(replace(  # noqa: N816 - the field's name
    ERR.definition, name="nERR", title="ERR, divided by that of the best order",
    formula=r"\text{ERR} / \text{ERR}^*",
    where=(
        r"$`\text{ERR}^*`$ is that of the judged documents in the best order. NTCIREVAL stops with the probability "
        "gain / (highest gain + 1): the same for the gains 1, 3, 7 …"
    ),
    source="Sakai and Song (2011)",
    kernel="cascade_to_ideal", total=_ideal_cascade, norm=by_total, worst_case=None,
))
iRBU: Measure = register(replace(  # noqa: N816 - the field's name
    ERR.definition, name="iRBU", title="expected utility at which a user stops, if it falls geometrically",
    formula=r"\sum_j p^j s_j \prod_{i<j} (1 - s_i)",
    where="$`s_j`$ as in ERR",
    source="Sakai and Zeng (2019)",
    inputs=KernelInputs(slots=_utilities, of_queries=_stops_of_labels, measure_number="p"), worst_case=None,
    parameters={
        "p": Number(0.99, 0.0, 1.0, "the share of the utility that is left at the next rank", ends=False),
        **ERR.definition.parameters,
    },
))
O: Measure = register(replace(  # noqa: E741 - the field's name
    Q.definition, name="O", title="O-measure: blended ratio at the first relevant document",
    formula=r"\frac{1 + \beta\, g_j}{j + \beta\, G^*_j}",
    where="$`j`$ is the rank of the first relevant document and $`g_j`$ its gain; $`G^*_j`$ as in Q",
    source="Sakai (2007)",
    kernel="blended_at_first", worst_case=None,
))
PPlus: Measure = register(Definition(
    name="PPlus", title="P+: mean blended ratio of the relevant documents down to the first of the best ones",
    formula=r"\frac{1}{h_p} \sum_{j \le p\ \text{relevant}} \frac{h_j + \beta\, G_j}{j + \beta\, G^*_j}",
    where=(
        "$`p`$ is the rank of the first document with the highest label of the list; $`G_j`$ and $`G^*_j`$ as in "
        "Q. A better order above rank $`p`$ can lower the value"
    ),
    source="Sakai (2007)",
    kernel="blended_down_to_preferred", weighting=RELEVANCE_GAIN_AND_GRADES, total=positive_documents, norm=by_total,
    inputs=KernelInputs(query_lookup=_ideal_labels, measure_number="beta"), own_extremes=always,
    limit="the exact value of large tie groups takes too long; use another tie rule",
    parameters={**_BETA, **ERR.definition.parameters}, has_cutoff=False,
))
# fmt: on
