"""The definitions of the measures that trec_eval, ir_measures and most evaluators have.

To add a measure, add its definition here or in the module of its family, its name to `tieaware/__init__.py` and its
functions to ``reference/``. If no kernel fits, add one to ``ext/engine/``.
"""

from __future__ import annotations

import numpy as np

from tieaware.checks.arrays import Integers, Values
from tieaware.measures.banding_loss import (
    LOSS_OF_AP,
    LOSS_OF_CAPPED_RECALL,
    LOSS_OF_ERR,
    LOSS_OF_F1,
    LOSS_OF_NDCG,
    LOSS_OF_P,
    LOSS_OF_Q,
    LOSS_OF_R,
    LOSS_OF_RPREC,
    LOSS_OF_RR,
    LOSS_OF_SUCCESS,
    LOSS_OF_WEIGHTED_SUM,
)
from tieaware.measures.definition import Definition, Measure
from tieaware.measures.formulas import (
    GAIN,
    GRADES,
    JUDGED,
    JUDGED_OR_POOLED,
    NOTHING,
    POOLED_OR_JUDGED,
    PREFERRED,
    RELEVANCE,
    RELEVANCE_AND_GAIN,
    RELEVANCE_OR_GAIN,
    always,
    base_of_discount,
    by_collection,
    by_depth,
    by_depth_reached,
    by_f,
    by_mean_of_depth_and_total,
    by_nonrelevant,
    by_retrieved,
    by_retrieved_or_total,
    by_retrieved_times_total,
    by_total,
    discounted_slots,
    every_query,
    gainful_documents,
    has_cutoff,
    ideal_gain,
    ideal_gains,
    nonrelevant_of_relevant,
    one,
    patient_slots,
    positive_documents,
    reciprocal_slots,
    relevant_documents,
    relevant_or_gainful,
    relevant_with_gains,
    stops,
    stops_of_grades,
    with_pool,
)
from tieaware.measures.parameters import Flag, Gains, Number, WholeNumber
from tieaware.measures.registry import BINARY, GRADED, JUDGED_ONLY, REL, TABLE, Parameters, register

_GAIN_OR_NONE: Parameters = {
    "gains": Gains(("label",), "the gain of each label, or 'label' for the label; without it, 1 if relevant")
}
_PATIENCE: Parameters = {
    "p": Number(0.8, 0.0, 1.0, "the probability that the user goes on to the next document", ends=False)
}
_WEIGHT_OF_GAINS: Parameters = {"beta": Number(1.0, 0.0, 1e9, "the weight of gains against ranks", ends=False)}
_BETA: Parameters = {
    "beta": Number(1.0, 0.0, 1e9, "how many times as important recall is as precision", ends=False)
}
_DOCS: Parameters = {
    "docs": WholeNumber(0, 0, 10**15, "the number of documents in the collection; 0: the retrieved and judged ones")
}
_WANTED: Parameters = {"i": WholeNumber(1, 1, 2**31, "the number of relevant documents to find")}

_LIMIT_OF_INTERPOLATED = "the exact value of large tie groups takes too long; use another tie rule"
_LIMIT_OF_ERR = (
    "the exact value or spread of large tie groups takes too long; use a smaller cut-off or another tie rule"
)


def _by_cutoff_or_total(measure: Measure, total: Values, retrieved: Integers) -> Values:
    """Return min(k, N), the most hits that the first k ranks can hold; without a cut-off, N."""
    return total if measure.cutoff is None else np.minimum(total, measure.cutoff)


# fmt: off
P: Measure = register(Definition(
    name="P", title="precision",
    kernel="hits", weighting=RELEVANCE, total=relevant_documents, norm=by_depth,
    worst_case=LOSS_OF_P,
    parameters=BINARY, aliases=("Precision",), trec_name_with_cutoff="P",
))
R: Measure = register(Definition(
    name="R", title="recall",
    kernel="hits", weighting=RELEVANCE, total=relevant_documents, norm=by_total,
    worst_case=LOSS_OF_R,
    parameters=BINARY, aliases=("Recall",), trec_name_with_cutoff="recall",
))
Recall_cap: Measure = register(Definition(
    name="Recall_cap", title="capped recall",
    kernel="hits", weighting=RELEVANCE, total=relevant_documents, norm=_by_cutoff_or_total,
    worst_case=LOSS_OF_CAPPED_RECALL,
    parameters=BINARY,
))
F1: Measure = register(Definition(
    name="F1", title="harmonic mean of precision and recall",
    kernel="hits", weighting=RELEVANCE, total=relevant_documents, norm=by_mean_of_depth_and_total,
    worst_case=LOSS_OF_F1,
    parameters=BINARY,
))
F: Measure = register(Definition(
    name="F", title="weighted harmonic mean of precision and recall",
    kernel="hits", weighting=RELEVANCE, total=relevant_documents, norm=by_f,
    parameters={**_BETA, **BINARY},
))
MaxF: Measure = register(Definition(
    name="MaxF", title="greatest F at any rank",
    kernel="greatest_f", weighting=RELEVANCE, total=relevant_documents, norm=by_total, measure_number="beta",
    parameters={**_BETA, **BINARY}, limit=_LIMIT_OF_INTERPOLATED,
))
Accuracy: Measure = register(Definition(
    name="Accuracy", title="share of the collection that is retrieved and relevant, or neither",
    kernel="accuracy", weighting=RELEVANCE, total=relevant_documents, norm=by_collection, norm_of_known=True,
    query_number=relevant_documents, parameters={**_DOCS, **BINARY},
))
Specificity: Measure = register(Definition(
    name="Specificity", title="share of nonrelevant documents that are not retrieved",
    kernel="specificity", weighting=RELEVANCE, total=relevant_documents, norm=by_nonrelevant, norm_of_known=True,
    parameters={**_DOCS, **BINARY},
))
FallOut: Measure = register(Definition(
    name="FallOut", title="share of nonrelevant documents that are retrieved",
    kernel="fall_out", weighting=RELEVANCE, total=relevant_documents, norm=by_nonrelevant, norm_of_known=True,
    parameters={**_DOCS, **BINARY}, less_is_better=True,
))
AP: Measure = register(Definition(
    name="AP", title="average precision",
    kernel="average_precision", weighting=RELEVANCE, total=relevant_documents, norm=by_total, slots=reciprocal_slots,
    worst_case=LOSS_OF_AP,
    parameters=BINARY, aliases=("MAP",), trec_name="map", trec_name_with_cutoff="map_cut",
))
RR: Measure = register(Definition(
    name="RR", title="reciprocal rank",
    kernel="reciprocal_rank", weighting=RELEVANCE, total=relevant_documents, norm=one, slots=reciprocal_slots,
    first_group=True, worst_case=LOSS_OF_RR,
    parameters=BINARY, aliases=("MRR",), trec_name="recip_rank",
))
nDCG: Measure = register(Definition(  # noqa: N816 - the field's name
    name="nDCG", title="normalised discounted cumulative gain",
    kernel="discounted_to_ideal", weighting=GAIN, total=ideal_gain, norm=by_total, slots=discounted_slots,
    measure_number=base_of_discount,
    worst_case=LOSS_OF_NDCG,
    parameters=GRADED, aliases=("NDCG",), trec_name="ndcg", trec_name_with_cutoff="ndcg_cut",
))
DCG: Measure = register(Definition(
    name="DCG", title="discounted cumulative gain",
    kernel="discounted", weighting=GAIN, total=gainful_documents, norm=one, slots=discounted_slots,
    measure_number=base_of_discount,
    worst_case=LOSS_OF_WEIGHTED_SUM,
    parameters=GRADED,
))
RBP: Measure = register(Definition(
    name="RBP", title="rank-biased precision",
    kernel="patience", weighting=RELEVANCE_OR_GAIN, total=relevant_or_gainful, norm=one, slots=patient_slots,
    worst_case=LOSS_OF_WEIGHTED_SUM,
    parameters={**_PATIENCE, **BINARY, **_GAIN_OR_NONE},
))
Success: Measure = register(Definition(
    name="Success", title="success in finding a relevant document",
    kernel="success", weighting=RELEVANCE, total=relevant_documents, norm=one, first_group=True,
    worst_case=LOSS_OF_SUCCESS,
    parameters=BINARY, trec_name_with_cutoff="success",
))
Hits: Measure = register(Definition(
    name="Hits", title="Success, under its name in link prediction and recommendation",
    kernel="success", weighting=RELEVANCE, total=relevant_documents, norm=one, first_group=True,
    worst_case=LOSS_OF_SUCCESS,
    parameters=BINARY, aliases=("HitRate",),
))
Rprec: Measure = register(Definition(
    name="Rprec", title="precision at N, the number of relevant documents",
    kernel="hits_at_r", weighting=RELEVANCE, total=relevant_documents, norm=by_total,
    worst_case=LOSS_OF_RPREC,
    parameters=BINARY, has_cutoff=False, aliases=("RPrec",), trec_name="Rprec",
))
Bpref: Measure = register(Definition(
    name="Bpref", title="binary preference of relevant over judged nonrelevant documents",
    kernel="preference", weighting=PREFERRED, total=relevant_documents, norm=by_total,
    query_number=nonrelevant_of_relevant,
    parameters=BINARY, has_cutoff=False, aliases=("BPref",), trec_name="bpref",
))
infAP: Measure = register(Definition(  # noqa: N816 - the field's name
    name="infAP", title="average precision estimated from a partly judged pool",
    kernel="inferred_precision", weighting=POOLED_OR_JUDGED, total=relevant_documents, norm=by_total,
    parameters=BINARY, has_cutoff=False, has_spread=False, needs_pool=always, aliases=("InfAP",), trec_name="infAP",
))
Q: Measure = register(Definition(
    name="Q", title="Q-measure: average precision with cumulated gains",
    kernel="q_measure", weighting=RELEVANCE_AND_GAIN, total=relevant_with_gains, norm=by_total,
    query_lookup=ideal_gains, measure_number="beta",
    worst_case=LOSS_OF_Q,
    parameters={**_WEIGHT_OF_GAINS, **BINARY, **TABLE},
))
ERR: Measure = register(Definition(
    name="ERR", title="expected reciprocal rank at which a user stops",
    kernel="cascade", weighting=GRADES, total=positive_documents, norm=one, slots=stops,
    query_lookup=stops_of_grades,
    worst_case=LOSS_OF_ERR,
    parameters={"max_rel": WholeNumber(4, 1, 50, "the highest label"), **JUDGED_ONLY}, limit=_LIMIT_OF_ERR,
))
AUC: Measure = register(Definition(
    name="AUC", title="probability that a relevant document precedes a nonrelevant one",
    kernel="area_under_curve", weighting=RELEVANCE, total=relevant_documents, norm=one,
    parameters=BINARY, own_extremes=has_cutoff,
))
ESL: Measure = register(Definition(
    name="ESL", title="expected search length to the i-th relevant document",
    kernel="search_length", weighting=RELEVANCE, total=relevant_documents, norm=one, measure_number="i",
    parameters={**_WANTED, **BINARY}, has_cutoff=False, less_is_better=True,
))
MeanRank: Measure = register(Definition(
    name="MeanRank", title="rank of the i-th relevant document",
    kernel="rank", weighting=RELEVANCE, total=relevant_documents, norm=one, measure_number="i",
    parameters={**_WANTED, **BINARY}, has_cutoff=False, less_is_better=True,
))
PAtRel: Measure = register(Definition(
    name="PAtRel", title="precision at the i-th relevant document",
    kernel="precision_at_relevant", weighting=RELEVANCE, total=relevant_documents, norm=one, measure_number="i",
    parameters={**_WANTED, **BINARY},
))
PRR: Measure = register(Definition(
    name="PRR", title="probability that a document is relevant, given that it is retrieved",
    kernel="relevance_when_retrieved", weighting=RELEVANCE, total=relevant_documents, norm=one, measure_number="i",
    parameters={**_WANTED, **BINARY}, has_cutoff=False,
))
Judged: Measure = register(Definition(
    name="Judged", title="share of judged documents",
    kernel="hits", weighting=JUDGED_OR_POOLED, total=every_query, norm=by_depth_reached,
    parameters={"pool": Flag(False, "count documents with a negative label in the judgments as judged")},
    needs_pool=with_pool,
))
Hole: Measure = register(Definition(
    name="Hole", title="share of unjudged documents",
    kernel="fall_out", weighting=JUDGED, total=every_query, norm=by_depth, less_is_better=True,
))
RBPResidual: Measure = register(Definition(
    name="RBPResidual", title="the most that unjudged documents could add to RBP",
    kernel="residual", weighting=JUDGED, total=every_query, norm=one, slots=patient_slots,
    parameters=_PATIENCE, has_cutoff=False, less_is_better=True,
))
SetP: Measure = register(Definition(
    name="SetP", title="precision of all retrieved documents",
    kernel="hits", weighting=RELEVANCE, total=relevant_documents, norm=by_retrieved_or_total,
    parameters={
        "relative": Flag(False, "divide by the number of relevant documents if there are more retrieved ones"),
        **BINARY,
    },
    has_cutoff=False, trec_name="set_P", trec_names_with_parameters={"set_relative_P": {"relative": True}},
))
SetR: Measure = register(Definition(
    name="SetR", title="recall of all retrieved documents",
    kernel="hits", weighting=RELEVANCE, total=relevant_documents, norm=by_total,
    parameters=BINARY, has_cutoff=False, trec_name="set_recall",
))
SetF: Measure = register(Definition(
    name="SetF", title="harmonic mean of SetP and SetR",
    kernel="hits", weighting=RELEVANCE, total=relevant_documents, norm=by_mean_of_depth_and_total,
    parameters=BINARY, has_cutoff=False, trec_name="set_F",
))
SetAP: Measure = register(Definition(
    name="SetAP", title="SetP times SetR",
    kernel="squared_hits", weighting=RELEVANCE, total=relevant_documents, norm=by_retrieved_times_total,
    parameters=BINARY, has_cutoff=False, trec_name="set_map",
))
GMAP: Measure = register(Definition(
    name="GMAP", title="average precision, with the geometric mean over queries",
    kernel="average_precision", weighting=RELEVANCE, total=relevant_documents, norm=by_total, slots=reciprocal_slots,
    parameters=BINARY, has_cutoff=False, summary="geometric", summary_only=True, trec_name="gm_map",
))
IPrec: Measure = register(Definition(
    name="IPrec", title="interpolated precision at a recall",
    kernel="interpolated", weighting=RELEVANCE, total=relevant_documents, norm=by_total, measure_number="recall",
    parameters={"recall": Number(0.0, 0.0, 1.0, "the recall from which precision counts"), **BINARY},
    has_cutoff=False, at_recall=True, limit=_LIMIT_OF_INTERPOLATED, trec_name_with_cutoff="iprec_at_recall",
))
IAP11: Measure = register(Definition(
    name="IAP11", title="mean of the interpolated precisions at the recalls 0, 0.1 … 1",
    kernel="interpolated_11", weighting=RELEVANCE, total=relevant_documents, norm=by_total,
    parameters=BINARY, has_cutoff=False, limit=_LIMIT_OF_INTERPOLATED, aliases=("IAP",), trec_name="11pt_avg",
))
NumQ: Measure = register(Definition(
    name="NumQ", title="number of queries",
    kernel="constant", weighting=NOTHING, total=every_query, norm=one,
    has_cutoff=False, summary="sum", summary_only=True, trec_name="num_q",
))
NumRet: Measure = register(Definition(
    name="NumRet", title="number of retrieved documents",
    kernel="constant", weighting=NOTHING, total=every_query, norm=by_retrieved,
    has_cutoff=False, summary="sum", trec_name="num_ret",
))
NumRel: Measure = register(Definition(
    name="NumRel", title="number of relevant documents",
    kernel="constant", weighting=NOTHING, total=relevant_documents, norm=by_total,
    parameters=REL, has_cutoff=False, summary="sum", trec_name="num_rel",
))
NumRelRet: Measure = register(Definition(
    name="NumRelRet", title="number of relevant documents retrieved",
    kernel="hits", weighting=RELEVANCE, total=every_query, norm=one,
    parameters=REL, has_cutoff=False, summary="sum", trec_name="num_rel_ret",
))
# fmt: on
