"""The definitions of the measures that trec_eval, ir_measures and most evaluators have.

To add a measure, add its definition here or in the module of its family, and its functions to ``reference/``. If no
kernel fits, add one to ``ext/engine/``. `python -m website.generated` writes the lists that name all measures.
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
from tieaware.measures.definition import Definition, KernelInputs, Measure, register
from tieaware.measures.formulas import (
    GAIN,
    GRADES,
    IDEAL_GRADES,
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
    by_ideal,
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
    ideal_counts,
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
from tieaware.measures.parameters import (
    BINARY,
    GRADED,
    JUDGED_ONLY,
    REL,
    TABLE,
    Flag,
    Gains,
    Number,
    Parameters,
    WholeNumber,
)

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
    formula="h / k",
    where="even if the list is shorter; without $`k`$, $`h / n`$",
    source="Manning, Raghavan and Schütze (2008), section 8.3",
    kernel="hits", weighting=RELEVANCE, total=relevant_documents, norm=by_depth, additive=True,
    worst_case=LOSS_OF_P,
    parameters=BINARY, aliases=("Precision",), trec_name_with_cutoff="P",
))
R: Measure = register(Definition(
    name="R", title="recall",
    formula="h / N",
    source="Manning, Raghavan and Schütze (2008), section 8.3",
    kernel="hits", weighting=RELEVANCE, total=relevant_documents, norm=by_total, additive=True,
    worst_case=LOSS_OF_R,
    parameters=BINARY, aliases=("Recall",), trec_name_with_cutoff="recall",
))
Recall_cap: Measure = register(Definition(
    name="Recall_cap", title="capped recall",
    formula=r"h / \min(k, N)",
    where="without $`k`$, as R",
    source="Thakur and others (2021), as beir and mteb compute it",
    kernel="hits", weighting=RELEVANCE, total=relevant_documents, norm=_by_cutoff_or_total,
    worst_case=LOSS_OF_CAPPED_RECALL,
    parameters=BINARY,
))
F1: Measure = register(Definition(
    name="F1", title="harmonic mean of precision and recall",
    formula="2 h / (k + N)",
    where="without $`k`$, $`n`$ in its place",
    source="Manning, Raghavan and Schütze (2008), equation 8.6",
    kernel="hits", weighting=RELEVANCE, total=relevant_documents, norm=by_mean_of_depth_and_total,
    worst_case=LOSS_OF_F1,
    parameters=BINARY,
))
F: Measure = register(Definition(
    name="F", title="weighted harmonic mean of precision and recall",
    formula=r"\frac{(1 + \beta^2)\, h}{k + \beta^2 N}",
    where=(
        "without $`k`$, $`n`$ in its place. trec_eval and ir_measures do not square their beta: trec_eval's "
        "`set_F.4` is `F(beta=2)` of all retrieved documents"
    ),
    source="Manning, Raghavan and Schütze (2008), equation 8.5",
    kernel="hits", weighting=RELEVANCE, total=relevant_documents, norm=by_f,
    parameters={**_BETA, **BINARY},
))
MaxF: Measure = register(Definition(
    name="MaxF", title="greatest F at any rank",
    formula=r"\max_j \frac{(1 + \beta^2)\, h_j}{j + \beta^2 N}",
    where="with $`k`$, over the first $`k`$ ranks",
    source="Manning, Raghavan and Schütze (2008), equation 8.5",
    kernel="greatest_f", weighting=RELEVANCE, total=relevant_documents, norm=by_total,
    inputs=KernelInputs(measure_number="beta"),
    parameters={**_BETA, **BINARY}, limit=_LIMIT_OF_INTERPOLATED,
))
Accuracy: Measure = register(Definition(
    name="Accuracy", title="share of the collection that is retrieved and relevant, or neither",
    formula=r"\frac{h + (D - N - (d - h))}{D}",
    source="Manning, Raghavan and Schütze (2008), section 8.3",
    kernel="accuracy", weighting=RELEVANCE, total=relevant_documents, norm=by_collection, norm_of_known=True,
    inputs=KernelInputs(query_number=relevant_documents), parameters={**_DOCS, **BINARY},
))
Specificity: Measure = register(Definition(
    name="Specificity", title="share of nonrelevant documents that are not retrieved",
    formula=r"\frac{D - N - (d - h)}{D - N}",
    where="1 if no document is nonrelevant",
    source="Manning, Raghavan and Schütze (2008), section 8.4",
    kernel="specificity", weighting=RELEVANCE, total=relevant_documents, norm=by_nonrelevant, norm_of_known=True,
    parameters={**_DOCS, **BINARY},
))
FallOut: Measure = register(Definition(
    name="FallOut", title="share of nonrelevant documents that are retrieved",
    formula=r"\frac{d - h}{D - N}",
    where="0 if no document is nonrelevant. torchmetrics computes a share for queries without relevant documents, too",
    source="Manning, Raghavan and Schütze (2008), section 8.4",
    kernel="fall_out", weighting=RELEVANCE, total=relevant_documents, norm=by_nonrelevant, norm_of_known=True,
    parameters={**_DOCS, **BINARY}, less_is_better=True,
))
AP: Measure = register(Definition(
    name="AP", title="average precision",
    formula=r"\frac{1}{N} \sum_{j\ \text{relevant}} \frac{h_j}{j}",
    source="Manning, Raghavan and Schütze (2008), section 8.4",
    kernel="average_precision", weighting=RELEVANCE, total=relevant_documents, norm=by_total, additive=True,
    inputs=KernelInputs(slots=reciprocal_slots),
    worst_case=LOSS_OF_AP,
    parameters=BINARY, aliases=("MAP",), trec_name="map", trec_name_with_cutoff="map_cut",
))
AP_cap: Measure = register(Definition(
    name="AP_cap", title="average precision, divided by the most relevant documents that the first k ranks can hold",
    formula=r"\frac{1}{\min(k, N)} \sum_{j\ \text{relevant}} \frac{h_j}{j}",
    where="without $`k`$, as AP",
    source="Kaggle's MAP@k; LightGBM, XGBoost, RecBole and sentence-transformers call it MAP, too",
    kernel="average_precision", weighting=RELEVANCE, total=relevant_documents, norm=_by_cutoff_or_total, additive=True,
    inputs=KernelInputs(slots=reciprocal_slots),
    parameters=BINARY,
))
RR: Measure = register(Definition(
    name="RR", title="reciprocal rank",
    formula="1 / j",
    where="$`j`$ is the rank of the first relevant document; 0 if there is none",
    source="Voorhees (1999)",
    kernel="reciprocal_rank", weighting=RELEVANCE, total=relevant_documents, norm=one, additive=True,
    inputs=KernelInputs(slots=reciprocal_slots),
    first_group=True, worst_case=LOSS_OF_RR,
    parameters=BINARY, aliases=("MRR",), trec_name="recip_rank",
))
nDCG: Measure = register(Definition(  # noqa: N816 - the field's name
    name="nDCG", title="normalised discounted cumulative gain",
    formula=r"\text{DCG} / \text{DCG}^*",
    where=r"$`\text{DCG}^*`$ is that of the judged documents in the best order",
    source="Järvelin and Kekäläinen (2002)",
    kernel="discounted_to_ideal", weighting=GAIN, total=ideal_gain, norm=by_total, additive=True,
    inputs=KernelInputs(slots=discounted_slots, measure_number=base_of_discount),
    worst_case=LOSS_OF_NDCG, linear=True,
    parameters=GRADED, aliases=("NDCG",), trec_name="ndcg", trec_name_with_cutoff="ndcg_cut",
))
DCG: Measure = register(Definition(
    name="DCG", title="discounted cumulative gain",
    formula=r"\sum_j \frac{g_j}{\log_2 (1 + j)}",
    where=(
        r'the gain $`g_j`$ is the label, $`2^\text{label} - 1`$ with `dcg="exp-log2"`, or [what `gains` '
        "says](#labels-and-gains)"
    ),
    source="Järvelin and Kekäläinen (2002), with the discount of Burges and others (2005)", range="≥ 0",
    kernel="discounted", weighting=GAIN, total=gainful_documents, norm=one, additive=True,
    inputs=KernelInputs(slots=discounted_slots, measure_number=base_of_discount),
    worst_case=LOSS_OF_WEIGHTED_SUM, linear=True,
    parameters=GRADED,
))
RBP: Measure = register(Definition(
    name="RBP", title="rank-biased precision",
    formula=r"(1 - p) \sum_{j\ \text{relevant}} p^{j-1}",
    where=r"with `gains`, $`(1 - p) \sum_j g_j\, p^{j-1}`$ over all ranks",
    source="Moffat and Zobel (2008)",
    kernel="patience", weighting=RELEVANCE_OR_GAIN, total=relevant_or_gainful, norm=one, additive=True,
    inputs=KernelInputs(slots=patient_slots),
    worst_case=LOSS_OF_WEIGHTED_SUM, linear=True,
    parameters={**_PATIENCE, **BINARY, **_GAIN_OR_NONE},
))
Success: Measure = register(Definition(
    name="Success", title="success in finding a relevant document",
    formula=r"\min(h, 1)",
    source="trec_eval's success",
    kernel="success", weighting=RELEVANCE, total=relevant_documents, norm=one, first_group=True, additive=True,
    worst_case=LOSS_OF_SUCCESS,
    parameters=BINARY, trec_name_with_cutoff="success",
))
Hits: Measure = register(Definition(
    name="Hits", title="Success, under its name in link prediction and recommendation",
    formula=r"\min(h, 1)",
    source="PyKEEN and others",
    kernel="success", weighting=RELEVANCE, total=relevant_documents, norm=one, first_group=True, additive=True,
    worst_case=LOSS_OF_SUCCESS,
    parameters=BINARY, aliases=("HitRate",),
))
Rprec: Measure = register(Definition(
    name="Rprec", title="precision at N, the number of relevant documents",
    formula="h_N / N",
    source="Manning, Raghavan and Schütze (2008), section 8.4",
    kernel="hits_at_r", weighting=RELEVANCE, total=relevant_documents, norm=by_total,
    worst_case=LOSS_OF_RPREC,
    parameters=BINARY, has_cutoff=False, aliases=("RPrec",), trec_name="Rprec",
))
Bpref: Measure = register(Definition(
    name="Bpref", title="binary preference of relevant over judged nonrelevant documents",
    formula=r"\frac{1}{N} \sum_{j\ \text{relevant}} \Bigl(1 - \frac{\min(x_j, M)}{M}\Bigr)",
    where=(
        "$`x_j`$: the judged nonrelevant documents above rank $`j`$; $`M`$: the number of judged nonrelevant "
        "documents, or $`N`$ if that is less"
    ),
    source="Buckley and Voorhees (2004), as trec_eval computes it",
    kernel="preference", weighting=PREFERRED, total=relevant_documents, norm=by_total,
    inputs=KernelInputs(query_number=nonrelevant_of_relevant), ignores_unjudged=True,
    parameters=BINARY, has_cutoff=False, aliases=("BPref",), trec_name="bpref",
))
infAP: Measure = register(Definition(  # noqa: N816 - the field's name
    name="infAP", title="average precision estimated from a partly judged pool",
    formula=(
        r"\frac{1}{N} \sum_{j\ \text{relevant}} \Bigl(\frac{1}{j} + \frac{c_j}{j} \cdot \frac{r_j + "
        r"\varepsilon}{d_j + 2 \varepsilon}\Bigr)"
    ),
    where=(
        "before rank $`j`$ there are $`c_j`$ documents of the pool, $`d_j`$ judged and $`r_j`$ relevant ones; "
        r"$`\varepsilon`$ = 0.00001"
    ),
    source="Yilmaz and Aslam (2006), as trec_eval computes it",
    kernel="inferred_precision", weighting=POOLED_OR_JUDGED, total=relevant_documents, norm=by_total,
    parameters=BINARY, has_cutoff=False, has_spread=False, needs_pool=always, aliases=("InfAP",), trec_name="infAP",
))
Q: Measure = register(Definition(
    name="Q", title="Q-measure: average precision with cumulated gains",
    formula=r"\frac{1}{N} \sum_{j\ \text{relevant}} \frac{h_j + \beta\, G_j}{j + \beta\, G^*_j}",
    where=(
        "$`G_j`$: the sum of the gains of the relevant documents at ranks 1 to $`j`$; $`G^*_j`$: the same in the "
        r"best order. NTCIREVAL divides by $`\min(N, k)`$"
    ),
    source="Sakai (2004)",
    kernel="q_measure", weighting=RELEVANCE_AND_GAIN, total=relevant_with_gains, norm=by_total,
    inputs=KernelInputs(query_lookup=ideal_gains, measure_number="beta"),
    worst_case=LOSS_OF_Q,
    parameters={**_WEIGHT_OF_GAINS, **BINARY, **TABLE},
))
ERR: Measure = register(Definition(
    name="ERR", title="expected reciprocal rank at which a user stops",
    formula=r"\sum_j \frac{s_j}{j} \prod_{i<j} (1 - s_i)",
    where=r"the user stops with the probability $`s_j = (2^\text{label} - 1) / 2^\text{max\_rel}`$",
    source="Chapelle and others (2009), as gdeval computes it",
    kernel="cascade", weighting=GRADES, total=positive_documents, norm=one, additive=True,
    inputs=KernelInputs(slots=stops, query_lookup=stops_of_grades),
    worst_case=LOSS_OF_ERR, increasing=True,
    parameters={"max_rel": WholeNumber(4, 1, 50, "the highest label"), **JUDGED_ONLY}, limit=_LIMIT_OF_ERR,
))
AUC: Measure = register(Definition(
    name="AUC", title="probability that a relevant document precedes a nonrelevant one",
    formula=r"\frac{1}{N^+ N^-} \sum_{j\ \text{relevant}} x_j",
    where=(
        "$`x_j`$: the nonrelevant documents below rank $`j`$; $`N^+`$ and $`N^-`$: the relevant and the "
        "nonrelevant ones, retrieved and within $`k`$; 1 if all are relevant"
    ),
    source="Hanley and McNeil (1982)",
    kernel="area_under_curve", weighting=RELEVANCE, total=relevant_documents, norm=one,
    parameters=BINARY, own_extremes=has_cutoff,
))
ESL: Measure = register(Definition(
    name="ESL", title="expected search length to the i-th relevant document",
    formula="j_i - i",
    where=(
        "$`j_i`$ is the rank of the $`i`$-th relevant document. If fewer are retrieved, all retrieved nonrelevant "
        "documents count"
    ),
    source="Cooper (1968)", range="≥ 0",
    kernel="search_length", weighting=RELEVANCE, total=relevant_documents, norm=one,
    inputs=KernelInputs(measure_number="i"),
    parameters={**_WANTED, **BINARY}, has_cutoff=False, less_is_better=True,
))
MeanRank: Measure = register(Definition(
    name="MeanRank", title="rank of the i-th relevant document",
    formula="j_i",
    where="$`n + 1`$ if fewer than $`i`$ relevant documents are retrieved, so compare runs of equal depth",
    source="PyKEEN's arithmetic mean rank", range="≥ 1",
    kernel="rank", weighting=RELEVANCE, total=relevant_documents, norm=one, inputs=KernelInputs(measure_number="i"),
    parameters={**_WANTED, **BINARY}, has_cutoff=False, less_is_better=True,
))
PAtRel: Measure = register(Definition(
    name="PAtRel", title="precision at the i-th relevant document",
    formula="i / j_i",
    where="0 if the document is not retrieved; with $`i = 1`$, as RR",
    source="Manning, Raghavan and Schütze (2008), section 8.4",
    kernel="precision_at_relevant", weighting=RELEVANCE, total=relevant_documents, norm=one,
    inputs=KernelInputs(measure_number="i"),
    parameters={**_WANTED, **BINARY},
))
PRR: Measure = register(Definition(
    name="PRR", title="probability that a document is relevant, given that it is retrieved",
    formula=r"\frac{i}{i + \text{ESL}}",
    where=(
        "0 if fewer than $`i`$ relevant documents are retrieved. Without ties, as PAtRel. In ties, the mean of ESL is "
        "in the formula, so PRR is at most PAtRel, and no mean of values"
    ),
    source="Raghavan, Bollmann and Jung (1989)",
    kernel="relevance_when_retrieved", weighting=RELEVANCE, total=relevant_documents, norm=one,
    inputs=KernelInputs(measure_number="i"),
    parameters={**_WANTED, **BINARY}, has_cutoff=False,
))
Judged: Measure = register(Definition(
    name="Judged", title="share of judged documents",
    formula="b / d",
    where=(
        "$`b`$: the documents with a label of 0 or more within $`k`$. ir_measures also counts negative labels in "
        "the judgments, as `Judged(pool=True)` does"
    ),
    source="ir_measures' Judged",
    kernel="hits", weighting=JUDGED_OR_POOLED, total=every_query, norm=by_depth_reached,
    parameters={"pool": Flag(False, "count documents with a negative label in the judgments as judged")},
    needs_pool=with_pool,
))
Hole: Measure = register(Definition(
    name="Hole", title="share of unjudged documents",
    formula="(d - b) / k",
    where=(
        "$`b`$ as in Judged; without $`k`$, $`n`$ in its place. In beir and mteb, a document is judged if it is "
        "for *any* query"
    ),
    source="beir's and mteb's hole",
    kernel="fall_out", weighting=JUDGED, total=every_query, norm=by_depth, less_is_better=True,
))
RBPResidual: Measure = register(Definition(
    name="RBPResidual", title="the most that unjudged documents could add to RBP",
    formula=r"1 - (1 - p) \sum_{j\ \text{judged}} p^{j-1}",
    source="Moffat and Zobel (2008)",
    kernel="residual", weighting=JUDGED, total=every_query, norm=one, inputs=KernelInputs(slots=patient_slots),
    parameters=_PATIENCE, has_cutoff=False, less_is_better=True,
))
SetP: Measure = register(Definition(
    name="SetP", title="precision of all retrieved documents",
    formula="h / n",
    where=r"with `relative`, $`h / \min(n, N)`$",
    source="trec_eval's set_P",
    kernel="hits", weighting=RELEVANCE, total=relevant_documents, norm=by_retrieved_or_total,
    parameters={
        "relative": Flag(False, "divide by the number of relevant documents if there are more retrieved ones"),
        **BINARY,
    },
    has_cutoff=False, trec_name="set_P", trec_names_with_parameters={"set_relative_P": {"relative": True}},
))
SetR: Measure = register(Definition(
    name="SetR", title="recall of all retrieved documents",
    formula="h / N",
    source="trec_eval's set_recall",
    kernel="hits", weighting=RELEVANCE, total=relevant_documents, norm=by_total,
    parameters=BINARY, has_cutoff=False, trec_name="set_recall",
))
SetF: Measure = register(Definition(
    name="SetF", title="harmonic mean of SetP and SetR",
    formula=r"\frac{2\, \text{SetP} \cdot \text{SetR}}{\text{SetP} + \text{SetR}}",
    source="trec_eval's set_F",
    kernel="hits", weighting=RELEVANCE, total=relevant_documents, norm=by_mean_of_depth_and_total,
    parameters=BINARY, has_cutoff=False, trec_name="set_F",
))
SetAP: Measure = register(Definition(
    name="SetAP", title="SetP times SetR",
    formula=r"\text{SetP} \cdot \text{SetR}",
    source="trec_eval's set_map",
    kernel="squared_hits", weighting=RELEVANCE, total=relevant_documents, norm=by_retrieved_times_total,
    parameters=BINARY, has_cutoff=False, trec_name="set_map",
))
GMAP: Measure = register(Definition(
    name="GMAP", title="average precision, with the geometric mean over queries",
    formula=r"\frac{1}{N} \sum_{j\ \text{relevant}} \frac{h_j}{j}",
    where="in the geometric mean, each query counts as at least 0.00001",
    source="trec_eval's gm_map",
    kernel="average_precision", weighting=RELEVANCE, total=relevant_documents, norm=by_total,
    inputs=KernelInputs(slots=reciprocal_slots),
    parameters=BINARY, has_cutoff=False, summary="geometric", summary_only=True, trec_name="gm_map",
))
IPrec: Measure = register(Definition(
    name="IPrec", title="interpolated precision at a recall",
    formula=r"\max_{j:\ h_j \ge \text{recall} \cdot N} \frac{h_j}{j}",
    where=(
        r"0 if the recall is not reached; $`\text{recall} \cdot N`$ is rounded as in trec_eval 10 (trec_eval 9 "
        "adds 0.9 and truncates)"
    ),
    source="Manning, Raghavan and Schütze (2008), section 8.4",
    kernel="interpolated", weighting=RELEVANCE, total=relevant_documents, norm=by_total,
    inputs=KernelInputs(measure_number="recall"),
    parameters={"recall": Number(0.0, 0.0, 1.0, "the recall from which precision counts"), **BINARY},
    has_cutoff=False, at_recall=True, limit=_LIMIT_OF_INTERPOLATED, trec_name_with_cutoff="iprec_at_recall",
))
IAP11: Measure = register(Definition(
    name="IAP11", title="mean of the interpolated precisions at the recalls 0, 0.1 … 1",
    formula=r"\frac{1}{11} \sum_{i=0}^{10} \text{IPrec@}\tfrac{i}{10}",
    source="Manning, Raghavan and Schütze (2008), section 8.4",
    kernel="interpolated_11", weighting=RELEVANCE, total=relevant_documents, norm=by_total,
    parameters=BINARY, has_cutoff=False, limit=_LIMIT_OF_INTERPOLATED, aliases=("IAP",), trec_name="11pt_avg",
))
NumQ: Measure = register(Definition(
    name="NumQ", title="number of queries",
    formula="1",
    where="summed over the queries",
    source="trec_eval's num_q", range="≥ 0",
    kernel="constant", weighting=NOTHING, total=every_query, norm=one,
    has_cutoff=False, summary="sum", summary_only=True, trec_name="num_q",
))
NumRet: Measure = register(Definition(
    name="NumRet", title="number of retrieved documents",
    formula="n",
    where="summed over the queries",
    source="trec_eval's num_ret", range="≥ 0",
    kernel="constant", weighting=NOTHING, total=every_query, norm=by_retrieved,
    has_cutoff=False, summary="sum", trec_name="num_ret",
))
NumRel: Measure = register(Definition(
    name="NumRel", title="number of relevant documents",
    formula="N",
    where="summed over the queries",
    source="trec_eval's num_rel", range="≥ 0",
    kernel="constant", weighting=NOTHING, total=relevant_documents, norm=by_total,
    parameters=REL, has_cutoff=False, summary="sum", trec_name="num_rel",
))
NumRelRet: Measure = register(Definition(
    name="NumRelRet", title="number of relevant documents retrieved",
    formula="h",
    where="summed over the queries",
    source="trec_eval's num_rel_ret", range="≥ 0",
    kernel="hits", weighting=RELEVANCE, total=every_query, norm=one,
    parameters=REL, has_cutoff=False, summary="sum", trec_name="num_rel_ret",
))
Compat: Measure = register(Definition(
    name="Compat", title="compatibility: rank-biased overlap with the best ideal ranking",
    formula=r"\sum_d \frac{p^{d-1}}{d}\, o_d \Big/ \sum_d \frac{p^{d-1}}{d} \min(d, N)",
    where=(
        "$`o_d`$: the documents that the list and its [best ideal ranking](#compatibility), of the $`N`$ "
        r"documents with a label above 0, share down to rank $`d`$; both sums go to $`\max(n, N)`$. Without "
        r"`normalize`, the divisor is $`\sum_d p^{d-1}`$"
    ),
    source="Clarke, Vtyurina and Smucker (2021)",
    kernel="compatibility", weighting=IDEAL_GRADES, total=positive_documents, norm=by_ideal,
    inputs=KernelInputs(query_lookup=ideal_counts, measure_number="p"), increasing=True,
    parameters={
        "p": Number(0.95, 0.0, 1.0, "the probability that the user goes on to the next document", ends=False),
        "normalize": Flag(True, "divide by the overlap of the ideal ranking with itself"),
    },
    has_cutoff=False,
    limit="the exact value or spread of large tie groups takes too long; use another tie rule",
))
# fmt: on
